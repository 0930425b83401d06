//! Data types as people type them: v3's names, numpy's names and type strings, or the JSON of either format.

use gingham::DataType;
use gingham::core::dtype::{Endian, TypeStr, parse_v2, parse_v3};
use serde_json::Value;

use crate::error::{Failure, Result};

/// Reads a data type, and the byte order where the text says one that is not little.
pub fn parse(text: &str) -> Result<TypeStr> {
    let text = text.trim();
    let plain = |data_type: DataType| TypeStr { data_type, order: vec![Endian::Little] };
    if text.starts_with(['{', '[', '"']) {
        let value: Value = serde_json::from_str(text).map_err(|e| Failure::usage(format!("the data type is not JSON: {e}")))?;
        return match &value {
            Value::Array(_) => parse_v2(&value).map_err(|e| refused(text, &e.what)),
            _ => parse_v3(&value).map_err(|e| refused(text, &e.what)).and_then(|t| known(text, t)).map(plain),
        };
    }
    if text == "str" {
        return Ok(plain(DataType::String));
    }
    if text.starts_with(['<', '>', '|', '=']) {
        let typestr = parse_v2(&Value::String(text.into())).map_err(|e| refused(text, &e.what))?;
        return known(text, typestr.data_type.clone()).map(|_| typestr);
    }
    if let Some(typestr) = numpy_name(text) {
        return parse_v2(&Value::String(typestr)).map_err(|e| refused(text, &e.what));
    }
    match parse_v3(&Value::String(text.into())) {
        Ok(DataType::Unknown { .. }) => {}
        Ok(data_type) => return Ok(plain(data_type)),
        // A known name that needs a configuration.
        Err(e) => return Err(refused(text, &e.what)),
    }
    known(text, DataType::Unknown { name: text.into(), configuration: None }).map(plain)
}

/// `datetime64[ns]`, `timedelta64[10s]`, `U12`, `S4`, `V16` as numpy's type strings.
fn numpy_name(text: &str) -> Option<String> {
    let bare = text.strip_prefix("numpy.").unwrap_or(text);
    for (name, letter) in [("datetime64", "M"), ("timedelta64", "m")] {
        if let Some(unit) = bare.strip_prefix(name)
            && unit.starts_with('[')
        {
            return Some(format!("<{letter}8{unit}"));
        }
    }
    let (letter, rest) = (text.chars().next()?, text.get(1..)?);
    let digits = !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit());
    match letter {
        'U' if digits => Some(format!("<U{rest}")),
        'S' | 'V' if digits => Some(format!("|{text}")),
        'i' | 'u' | 'f' | 'c' if digits && rest != "1" => Some(format!("<{text}")),
        'i' | 'u' if digits => Some(format!("|{text}")),
        _ => None,
    }
}

fn known(text: &str, data_type: DataType) -> Result<DataType> {
    match data_type {
        DataType::Unknown { .. } => Err(Failure::usage(format!("\"{}\" is not a data type", crate::render::short(text, 60)))
            .hint("write it as v3 or numpy do: float32, uint16, complex64, string, r16, <i4, S8, U12, datetime64[ns], [[\"a\",\"<i4\"],[\"b\",\"<f8\"]]")),
        known => Ok(known),
    }
}

fn refused(text: &str, why: &str) -> Failure {
    Failure::usage(format!("the data type {} is refused: {why}", crate::render::short(text, 60)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_usual_spelling_is_understood() {
        let of = |text: &str| parse(text).unwrap();
        assert_eq!(of("float32").data_type, of("<f4").data_type);
        assert_eq!(of(">i4").order, [Endian::Big]);
        assert_eq!(of("str").data_type, DataType::String);
        assert_eq!(of("r16").data_type, DataType::Raw(2));
        assert_eq!(of("U3").data_type, DataType::FixedUtf32(3));
        assert!(matches!(of("datetime64[ns]").data_type, DataType::DateTime { .. }));
        assert!(matches!(of(r#"[["a","<i4"],["b","<f8"]]"#).data_type, DataType::Struct(_)));
        for bad in ["", "int99", "<q9", "|O", "U99999999999999999999", "[1", "{}", "datetime64[parsec]"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn numpy_names_become_type_strings() {
        for (name, typestr) in [
            ("datetime64[ns]", "<M8[ns]"),
            ("timedelta64[10s]", "<m8[10s]"),
            ("U12", "<U12"),
            ("S4", "|S4"),
            ("V16", "|V16"),
            ("f4", "<f4"),
            ("u1", "|u1"),
        ] {
            assert_eq!(numpy_name(name).as_deref(), Some(typestr), "{name}");
        }
        for other in ["float32", "", "日本", "U", "int8", "Sx", "string"] {
            assert_eq!(numpy_name(other), None, "{other}");
        }
    }
}
