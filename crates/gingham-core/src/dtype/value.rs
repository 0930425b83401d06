//! Single elements as JSON and text.

use super::element::{self, Dialect};
use super::{DataType, DataTypeError};
use crate::json::Value;

/// How an element is spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// As `read --format json` prints: numbers (float32 shortest, narrower floats exact), any NaN as "NaN", "Infinity", complex
    /// as [re, im], strings, bytes and raw bits as lower-case hex, structs and sub-arrays as lists, dates and time spans as their
    /// integers, fixed strings (null_terminated_bytes too) as text without their padding. Text that is not UTF-8 is {"hex": …}.
    Plain,
    /// As a v3 fill value.
    Fill,
    /// As the corpus' hash of variable-length data wants it: the rules of a JSON list (bytes that are UTF-8 as text,
    /// others as {"hex": …}; floats through float64; vlen-arrays as lists; structs as lists). See [`super::oracle_text`].
    Oracle,
}

/// One element (its bytes as in memory) as JSON.
///
/// ```
/// use gingham_core::dtype::{DataType, Float, Spelling, format_element};
/// let element = 0.1f32.to_le_bytes();
/// assert_eq!(format_element(&DataType::Float(Float::F32), &element, Spelling::Plain).to_string(), "0.1");
/// assert_eq!(format_element(&DataType::Float(Float::F32), &element, Spelling::Oracle).to_string(), "0.10000000149011612");
/// ```
pub fn format_element(data_type: &DataType, element: &[u8], spelling: Spelling) -> Value {
    element::write(data_type, element, spelling)
}

/// Reads an element as [`Spelling::Plain`] or [`Spelling::Fill`] write it, into its bytes in memory. The two differ for text
/// that stands for bytes, where "00ff" may be hex or base64: here it is read as `Plain` writes it (hex for raw bits and bytes,
/// text for null_terminated_bytes), except within an object, which only a fill value of a struct can be.
/// [`super::FillValue::from_v3`] reads fill values, base64 included.
pub fn parse_element(data_type: &DataType, value: &Value) -> Result<Vec<u8>, DataTypeError> {
    let mut out = Vec::new();
    element::read(data_type, value, Dialect::Plain, &mut out)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::{Float, oracle_text, parse_v2};
    use super::*;
    use serde_json::json;

    /// The element, and how the three spellings write it: plain, fill, oracle.
    fn spelled(data_type: &DataType, element: &[u8], plain: Value, fill: Value, oracle: Value) {
        assert_eq!(format_element(data_type, element, Spelling::Plain), plain, "{data_type}");
        assert_eq!(format_element(data_type, element, Spelling::Fill), fill, "{data_type}");
        assert_eq!(format_element(data_type, element, Spelling::Oracle), oracle, "{data_type}");
        assert_eq!(parse_element(data_type, &plain).unwrap(), element, "{data_type}");
        assert_eq!(super::super::FillValue::from_v3(&fill, data_type).unwrap().as_bytes(), element, "{data_type}");
    }

    #[test]
    fn elements_in_the_three_spellings() {
        let f16 = DataType::Float(Float::F16);
        spelled(&DataType::Bool, &[1], json!(true), json!(true), json!(true));
        spelled(&DataType::UInt64, &[255; 8], json!(u64::MAX), json!(u64::MAX), json!(u64::MAX));
        spelled(&f16, &[0x66, 0x2e], json!(0.0999755859375), json!(0.1), json!(0.0999755859375));
        spelled(&DataType::Float(Float::F32), &0.1f32.to_le_bytes(), json!(0.1), json!(0.1), json!(0.10000000149011612));
        spelled(&f16, &[0, 0x7c], json!("Infinity"), json!("Infinity"), json!("Infinity"));
        let complex = [1.5f32.to_le_bytes(), f32::NAN.to_le_bytes()].concat();
        spelled(&DataType::Complex(Float::F32), &complex, json!([1.5, "NaN"]), json!([1.5, "NaN"]), json!([1.5, "NaN"]));
        spelled(&DataType::Raw(2), &[0, 0xff], json!("00ff"), json!("AP8="), json!({"hex": "00ff"}));
        spelled(&DataType::FixedBytes(4), b"ab\0\0", json!("ab"), json!("YWI="), json!("ab"));
        spelled(&DataType::FixedBytes(2), &[0xff, 0], json!({"hex": "ff"}), json!("/w=="), json!({"hex": "ff"}));
        spelled(&DataType::FixedUtf32(2), &[0xe9, 0, 0, 0, 0, 0, 0, 0], json!("é"), json!("é"), json!("é"));
        spelled(&DataType::String, "é".as_bytes(), json!("é"), json!("é"), json!("é"));
        spelled(&DataType::Bytes, b"a", json!("61"), json!("YQ=="), json!("a"));
        spelled(&DataType::Bytes, &[0, 255], json!("00ff"), json!("AP8="), json!({"hex": "00ff"}));
        spelled(&DataType::VlenArray(Box::new(DataType::Int16)), &[1, 0, 2, 0], json!([1, 2]), json!([1, 2]), json!([1, 2]));
        spelled(
            &DataType::Json,
            br#"{"b":1,"a":null}"#,
            json!({"b": 1, "a": null}),
            json!({"b": 1, "a": null}),
            json!({"b": 1, "a": null}),
        );
        let time = parse_v2(&json!("<M8[s]")).unwrap().data_type;
        spelled(&time, &i64::MIN.to_le_bytes(), json!(i64::MIN), json!("NaT"), json!(i64::MIN));
        let record = parse_v2(&json!([["a", "|u1"], ["p", "<i2", [2, 1]], ["s", "|S2"]])).unwrap().data_type;
        let fill = json!({"a": 9, "p": [[1], [2]], "s": "eA=="});
        spelled(&record, &[9, 1, 0, 2, 0, b'x', 0], json!([9, [[1], [2]], "x"]), fill.clone(), json!([9, [[1], [2]], "x"]));
        assert_eq!(parse_element(&record, &fill).unwrap(), [9, 1, 0, 2, 0, b'x', 0], "an object is a fill value");
    }

    #[test]
    fn any_nan_is_printed_by_name_and_kept_in_fill_values() {
        let negative = 0xffc0_0000u32.to_le_bytes();
        let f32 = DataType::Float(Float::F32);
        assert_eq!(format_element(&f32, &negative, Spelling::Plain), json!("NaN"));
        assert_eq!(format_element(&f32, &negative, Spelling::Oracle), json!("NaN"));
        assert_eq!(format_element(&f32, &negative, Spelling::Fill), json!("0xffc00000"));
        assert_eq!(parse_element(&f32, &json!("0xffc00000")).unwrap(), negative);
    }

    #[test]
    fn bytes_that_are_no_element_are_shown_and_come_back() {
        assert_eq!(format_element(&DataType::Int32, &[1, 2], Spelling::Plain), json!({"hex": "0102"}));
        assert_eq!(format_element(&DataType::Int32, &[], Spelling::Fill), json!({"hex": ""}));
        let surrogate = [0x00, 0xd8, 0, 0];
        let shown = format_element(&DataType::FixedUtf32(1), &surrogate, Spelling::Plain);
        assert_eq!(parse_element(&DataType::FixedUtf32(1), &shown).unwrap(), surrogate);
        let shown = format_element(&DataType::String, &[0xff], Spelling::Plain);
        assert_eq!(parse_element(&DataType::String, &shown).unwrap(), [0xff]);
        assert_eq!(format_element(&DataType::VlenArray(Box::new(DataType::Int16)), &[1], Spelling::Plain), json!({"hex": "01"}));
        assert_eq!(format_element(&DataType::Json, b"not json", Spelling::Plain), json!("not json"));
        for bad in [json!({"hex": "0"}), json!({"hex": "zz"}), json!({"hex": 1}), json!({"hex": "00", "x": 1}), json!({})] {
            assert!(parse_element(&DataType::Bytes, &bad).is_err());
        }
        assert!(parse_element(&DataType::Bytes, &json!("0g")).is_err());
        assert!(parse_element(&DataType::Bytes, &json!("é")).is_err());
    }

    #[test]
    fn oracle_text_is_pythons() {
        let list = json!([0.1, 1e15, 1e16, 1.5e300, 1e-4, 1e-5, 1.25e-7, -0.0, 5e-324, 123456.75, 3, "a\"\\\n\u{1}\u{7f}é", null, true, {"k": []}]);
        let want = "[0.1,1000000000000000.0,1e+16,1.5e+300,0.0001,1e-05,1.25e-07,-0.0,5e-324,123456.75,3,\"a\\\"\\\\\\n\\u0001\u{7f}é\",null,true,{\"k\":[]}]";
        assert_eq!(oracle_text(&list), want);
    }
}
