//! numcodecs' `json2`: objects as one JSON list (format.md 2.5). See [`super::objects`] for its form.
//!
//! Python writes NaN and the infinities as bare words; they are read as the strings "NaN", "Infinity" and "-Infinity".

use gingham_core::dtype::Elements;
use gingham_core::json::Value;

use super::objects;
use crate::{ArrayToBytes, CodecFault, Context, Rep, Result};

const NAME: &str = "numcodecs.json2";

/// `json2`. Of its configuration only the encoding matters for reading; what is written is compact UTF-8.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Json2;

impl Json2 {
    /// The configuration's `encoding` must be one that UTF-8 covers.
    pub fn new(configuration: &Value) -> Result<Self> {
        match configuration.get("encoding").and_then(Value::as_str) {
            None => Ok(Json2),
            Some(e) if ["utf-8", "utf8", "ascii", "us-ascii"].contains(&e.to_ascii_lowercase().as_str()) => Ok(Json2),
            Some(other) => Err(CodecFault::unsupported(NAME, format!("encoding \"{other}\": only utf-8 and ascii are read"))),
        }
    }
}

/// The text with Python's bare numbers in quotes.
fn quote_bare_numbers(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + text.len() / 8);
    let mut rest = text;
    let mut in_string = false;
    while let Some(&byte) = rest.first() {
        let word = if in_string { None } else { [&b"NaN"[..], b"Infinity", b"-Infinity"].into_iter().find(|w| rest.starts_with(w)) };
        let taken = match word {
            Some(word) => {
                out.push(b'"');
                out.extend_from_slice(word);
                out.push(b'"');
                word.len()
            }
            None => {
                // An escaped character never ends a string.
                let n = if in_string && byte == b'\\' { 2.min(rest.len()) } else { 1 };
                in_string ^= byte == b'"';
                out.extend_from_slice(&rest[..n]);
                n
            }
        };
        rest = &rest[taken..];
    }
    out
}

impl ArrayToBytes for Json2 {
    fn encoded_len(&self, _: &Rep) -> Option<usize> {
        None
    }
    fn encode(&self, input: &Rep, elements: &Elements, out: &mut Vec<u8>, _: &mut Context) -> Result<()> {
        let list = objects::to_list(NAME, input, elements)?;
        serde_json::to_writer(out, &list).map_err(|e| CodecFault::value(NAME, e.to_string()))
    }
    fn decode(&self, input: &Rep, bytes: &[u8], _: &mut Context) -> Result<Elements> {
        let list = serde_json::from_slice(bytes)
            .or_else(|strict| serde_json::from_slice(&quote_bare_numbers(bytes)).map_err(|_| strict))
            .map_err(|e| CodecFault::corrupt(NAME, format!("not JSON: {e}")))?;
        objects::from_list(NAME, input, list)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use gingham_core::Shape;
    use gingham_core::dtype::{DataType, FillValue, Variable};
    use proptest::prelude::*;
    use serde_json::json;

    fn rep(n: u64) -> Rep {
        Rep { data_type: DataType::Json, shape: Shape::from_slice(&[n]), fill: FillValue::new("null") }
    }

    fn texts(e: Elements) -> Vec<String> {
        let v = e.as_variable().unwrap();
        (0..v.len()).map(|i| String::from_utf8(v.get(i).to_vec()).unwrap()).collect()
    }

    #[test]
    fn two_strings() {
        let stored = br#"["a","b","|O",[2]]"#;
        let e = Json2.decode(&rep(2), stored, &mut Context::default()).unwrap();
        let mut out = vec![];
        Json2.encode(&rep(2), &e, &mut out, &mut Context::default()).unwrap();
        assert_eq!(out, stored);
        assert_eq!(texts(e), ["\"a\"", "\"b\""]);
    }

    #[test]
    fn bare_numbers_outside_of_strings() {
        let stored = br#"[NaN, "a NaN \" -Infinity \\", -Infinity, {"Infinity": Infinity}, "|O", [4]]"#;
        let e = Json2.decode(&rep(4), stored, &mut Context::default()).unwrap();
        assert_eq!(texts(e), ["\"NaN\"", r#""a NaN \" -Infinity \\""#, "\"-Infinity\"", r#"{"Infinity":"Infinity"}"#]);
        assert_eq!(quote_bare_numbers(br#""\"#), br#""\"#);
    }

    #[test]
    fn hostile_text() {
        let stored = br#"["a",{"b":1},"|O",[2]]"#;
        for cut in 0..stored.len() {
            assert!(Json2.decode(&rep(2), &stored[..cut], &mut Context::default()).is_err());
        }
        let deep = vec![b'['; 100_000];
        assert!(Json2.decode(&rep(2), &deep, &mut Context::default()).is_err());
        assert!(Json2.decode(&rep(2), b"[\"\xff\",1,\"|O\",[2]]", &mut Context::default()).is_err());
        let mut v = Variable::new();
        v.push(b"not json");
        assert!(Json2.encode(&rep(1), &Elements::Variable(v), &mut vec![], &mut Context::default()).is_err());
        assert!(Json2::new(&json!({"encoding": "utf-16"})).is_err());
        assert!(Json2::new(&json!({"encoding": "UTF-8", "strict": true})).is_ok());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[\\[\\]{},:\"\\\\0-9NaInfity|O.-]{0,40}") {
            let _ = Json2.decode(&rep(2), text.as_bytes(), &mut Context::default());
            prop_assert!(quote_bare_numbers(text.as_bytes()).len() >= text.len());
        }
    }
}
