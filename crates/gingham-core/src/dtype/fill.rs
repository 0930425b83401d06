//! Fill values, exact to the bit.

use super::element::{self, Dialect};
use super::scalar::{FloatStyle, base64_json, float_json, integer_json};
use super::{DataType, DataTypeError, Spelling, TypeStr};
use crate::json::Value;

/// One element's content: its little-endian bytes where the type has a fixed size, else its content. Of an unknown type, the
/// JSON text of the value, so that it can be shown and written back.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FillValue(Vec<u8>);

impl FillValue {
    /// From an element's content.
    pub fn new(content: impl Into<Vec<u8>>) -> Self {
        FillValue(content.into())
    }
    /// The content.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
    /// Reads `fill_value` of a v3 document (format.md 1.4, 3.5): hex strings, NaN, Infinity, base64, lists. A member that a
    /// struct's value lacks is zero.
    ///
    /// ```
    /// use gingham_core::dtype::{DataType, FillValue, Float};
    /// let fill = FillValue::from_v3(&serde_json::json!("0x7fc00001"), &DataType::Float(Float::F32)).unwrap();
    /// assert_eq!(fill.as_bytes(), 0x7fc00001u32.to_le_bytes());
    /// assert_eq!(fill.to_v3(&DataType::Float(Float::F32)), "0x7fc00001");
    /// ```
    pub fn from_v3(value: &Value, data_type: &DataType) -> Result<Self, DataTypeError> {
        let mut bytes = Vec::new();
        element::read(data_type, value, Dialect::V3, &mut bytes)?;
        Ok(FillValue(bytes))
    }
    /// Writes it for v3: canonical NaN as "NaN", any other NaN as hex of full width, -0.0 kept, 64-bit integers exact.
    pub fn to_v3(&self, data_type: &DataType) -> Value {
        element::write(data_type, &self.0, Spelling::Fill)
    }
    /// Reads `fill_value` of a v2 document (format.md 2.3); `null` gives `None` (undefined). Struct bytes are in the type
    /// string's own byte orders. 0 stands for zero bytes and empty strings, as old writers left it.
    pub fn from_v2(value: &Value, typestr: &TypeStr) -> Result<Option<Self>, DataTypeError> {
        if value.is_null() {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        element::read(&typestr.data_type, value, Dialect::V2, &mut bytes)?;
        if stored_as_bytes(&typestr.data_type) {
            typestr.data_type.swap_leaves(&mut bytes, &typestr.order);
        }
        Ok(Some(FillValue(bytes)))
    }
    /// Writes it for v2 (base64 for S, V and structs). v2 has one NaN only: a payload is not written.
    pub fn to_v2(&self, typestr: &TypeStr) -> Value {
        let data_type = &typestr.data_type;
        if data_type.size().is_some_and(|size| size != self.0.len()) {
            return element::write(data_type, &self.0, Spelling::Fill);
        }
        match data_type {
            DataType::Float(f) => float_json(*f, f.read(&self.0), FloatStyle::AnyNan),
            DataType::Complex(f) => {
                let (re, im) = self.0.split_at(f.size());
                Value::Array([re, im].map(|part| float_json(*f, f.read(part), FloatStyle::AnyNan)).to_vec())
            }
            DataType::Raw(_) | DataType::FixedBytes(_) => base64_json(&self.0),
            DataType::DateTime { .. } | DataType::TimeDelta { .. } => match <[u8; 8]>::try_from(self.0.as_slice()) {
                Ok(bytes) => integer_json(i64::from_le_bytes(bytes).into()),
                Err(_) => Value::from("NaT"),
            },
            other if stored_as_bytes(other) => {
                let mut bytes = self.0.clone();
                other.swap_leaves(&mut bytes, &typestr.order);
                base64_json(&bytes)
            }
            other => element::write(other, &self.0, Spelling::Fill),
        }
    }
}

/// True for the types whose v2 fill value is the base64 of their stored bytes, byte order included.
fn stored_as_bytes(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Struct(_) | DataType::FixedArray { .. })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::{Float, parse_v2, parse_v3};
    use super::*;
    use serde_json::json;

    const F16: DataType = DataType::Float(Float::F16);
    const F32: DataType = DataType::Float(Float::F32);
    const F64: DataType = DataType::Float(Float::F64);

    fn v3(data_type: &DataType, value: Value) -> Vec<u8> {
        FillValue::from_v3(&value, data_type).unwrap().as_bytes().to_vec()
    }

    fn v2(dtype: Value, value: Value) -> Vec<u8> {
        FillValue::from_v2(&value, &parse_v2(&dtype).unwrap()).unwrap().unwrap().as_bytes().to_vec()
    }

    fn again(data_type: &DataType, value: Value) -> Value {
        FillValue::from_v3(&value, data_type).unwrap().to_v3(data_type)
    }

    #[test]
    fn zita_bigint_integers_of_64_bits_are_exact() {
        for (data_type, value) in [
            (DataType::UInt64, json!(18446744073709551615u64)),
            (DataType::Int64, json!(-9223372036854775808i64)),
            (DataType::Int64, json!(9007199254740993i64)),
        ] {
            assert_eq!(again(&data_type, value.clone()).to_string(), value.to_string());
        }
        assert_eq!(v3(&DataType::UInt64, json!(u64::MAX)), [255; 8]);
    }

    #[test]
    fn integers_in_every_spelling() {
        assert_eq!(v3(&DataType::Int16, json!(-2)), [0xfe, 0xff]);
        assert_eq!(v3(&DataType::Int16, json!(1.0)), [1, 0]);
        assert_eq!(v3(&DataType::Int4, json!(-8)), [0xf8]);
        assert_eq!(again(&DataType::Int4, json!(-8)), json!(-8));
        assert_eq!(again(&DataType::UInt2, json!(3)), json!(3));
        let refused = [
            (DataType::Int4, json!(8)),
            (DataType::UInt2, json!(4)),
            (DataType::UInt8, json!(256)),
            (DataType::UInt8, json!(-1)),
            (DataType::Int64, json!(9223372036854775808u64)),
            (DataType::Int64, json!(1e30)),
            (DataType::UInt64, json!(9007199254740994.0)),
            (DataType::Int8, json!(1.5)),
            (DataType::Int8, json!("1")),
            (DataType::Int8, json!(true)),
            (DataType::Int8, json!(null)),
            (DataType::Bool, json!(1)),
            (DataType::Bool, json!("true")),
        ];
        for (data_type, value) in refused {
            assert!(FillValue::from_v3(&value, &data_type).is_err(), "{data_type} {value}");
        }
    }

    #[test]
    fn zs_377_floats_are_rounded_once() {
        for (value, want) in
            [(json!(16777217), 16777216f32), (json!(16777219), 16777220.0), (json!(1.0000000596046448), 1.000_000_1), (json!(1e-46), 0.0)]
        {
            assert_eq!(v3(&F32, value), want.to_le_bytes());
        }
        assert_eq!(v3(&F16, json!(2049)), v3(&F16, json!(2048)));
        assert_eq!(v3(&F32, json!(1e300)), f32::INFINITY.to_le_bytes());
        assert_eq!(v3(&DataType::Float(Float::BFloat16), json!(-1e39)), [0x80, 0xff]);
    }

    #[test]
    fn names_of_special_numbers() {
        assert_eq!(v3(&F16, json!("NaN")), [0x00, 0x7e]);
        assert_eq!(v3(&F32, json!("NaN")), 0x7fc0_0000u32.to_le_bytes());
        assert_eq!(v3(&F64, json!("-Infinity")), f64::NEG_INFINITY.to_le_bytes());
        assert_eq!(v3(&F64, json!("+Infinity")), f64::INFINITY.to_le_bytes());
        assert_eq!(v3(&DataType::Float(Float::E5M2FNUZ), json!("NaN")), [0x80]);
        assert_eq!(v3(&DataType::Float(Float::BFloat16), json!("0x7fc1")), [0xc1, 0x7f]);
        for (float, value) in [
            (Float::F32, json!("0x7fc0")),
            (Float::F32, json!("0x7fc000000")),
            (Float::F32, json!("0x+fc00000")),
            (Float::F32, json!("0X7fc00000")),
            (Float::F32, json!("1.5")),
            (Float::F32, json!("nan")),
            (Float::F32, json!(null)),
            (Float::F32, json!(true)),
            (Float::F32, json!([1])),
            (Float::E2M1FN, json!("NaN")),
            (Float::E2M1FN, json!("0x10")),
            (Float::E2M1FN, json!(7.5)),
            (Float::E3M2FN, json!("Infinity")),
            (Float::E4M3FNUZ, json!("-Infinity")),
            (Float::E4M3FNUZ, json!(1000)),
            (Float::E8M0FNU, json!(0)),
            (Float::E8M0FNU, json!(-1.0)),
        ] {
            assert!(FillValue::from_v3(&value, &DataType::Float(float)).is_err(), "{float:?} {value}");
        }
        let nan_hint = FillValue::from_v3(&json!(null), &F64).unwrap_err();
        assert!(nan_hint.what.contains("\"NaN\""), "{nan_hint}");
    }

    #[test]
    fn floats_are_written_short_and_exact() {
        for (data_type, value, text) in [
            (&F32, json!(0.1), "0.1"),
            (&F16, json!(0.1), "0.1"),
            (&F64, json!(0.1), "0.1"),
            (&F32, json!(-0.0), "-0.0"),
            (&F32, json!(5), "5.0"),
            (&F32, json!("NaN"), "\"NaN\""),
            (&F32, json!("0x7fc00000"), "\"NaN\""),
            (&F32, json!("0xffc00000"), "\"0xffc00000\""),
            (&F64, json!("0x7ff0000000000001"), "\"0x7ff0000000000001\""),
            (&F32, json!("0x7f800000"), "\"Infinity\""),
        ] {
            assert_eq!(again(data_type, value).to_string(), text);
        }
    }

    #[test]
    fn zjl_181_complex_parts_are_floats() {
        let c8 = DataType::Complex(Float::F32);
        assert_eq!(v3(&c8, json!(["NaN", "0x80000000"])), [0, 0, 0xc0, 0x7f, 0, 0, 0, 0x80]);
        assert_eq!(again(&c8, json!(["NaN", "0x80000000"])).to_string(), "[\"NaN\",-0.0]");
        assert_eq!(v2(json!("<c8"), json!(["NaN", 0.0])), [0, 0, 0xc0, 0x7f, 0, 0, 0, 0]);
        assert_eq!(v2(json!(">c16"), json!(1)), [1f64.to_le_bytes(), [0; 8]].concat());
        assert_eq!(v2(json!("<c8"), json!("NaN")), [0, 0, 0xc0, 0x7f, 0, 0, 0, 0]);
        for value in [json!(1), json!([1]), json!([1, 2, 3]), json!("NaN")] {
            assert!(FillValue::from_v3(&value, &c8).is_err());
        }
        assert_eq!(FillValue::from_v3(&json!([1, "x"]), &c8).unwrap_err().pointer, "/1");
    }

    #[test]
    fn bytes_are_lists_or_base64() {
        let (raw, bytes) = (DataType::Raw(3), DataType::FixedBytes(3));
        assert_eq!(v3(&raw, json!([0, 1, 2])), [0, 1, 2]);
        assert_eq!(v3(&raw, json!("AAEC")), [0, 1, 2]);
        assert_eq!(again(&raw, json!([0, 1, 2])), json!("AAEC"));
        assert_eq!(v3(&bytes, json!("YQ==")), *b"a\0\0");
        assert_eq!(v3(&bytes, json!("YQ")), *b"a\0\0", "padding may be left out");
        assert_eq!(again(&bytes, json!("YQ==")), json!("YQ=="));
        assert_eq!(v3(&DataType::Bytes, json!([104, 105])), b"hi");
        assert_eq!(again(&DataType::Bytes, json!([104, 105])), json!("aGk="));
        let refused = [
            (&raw, json!([0, 1]), ""),
            (&raw, json!("AAE="), ""),
            (&raw, json!([0, 1, 256]), "/2"),
            (&raw, json!([0, 1, -1]), "/2"),
            (&raw, json!("%%%%"), ""),
            (&raw, json!(0), ""),
            (&bytes, json!("YWJjZA=="), ""),
            (&DataType::Bytes, json!(0), ""),
        ];
        for (data_type, value, pointer) in refused {
            assert_eq!(FillValue::from_v3(&value, data_type).unwrap_err().pointer, pointer, "{data_type} {value}");
        }
    }

    #[test]
    fn strings() {
        let utf32 = DataType::FixedUtf32(3);
        assert_eq!(v3(&utf32, json!("Hi")), [0x48, 0, 0, 0, 0x69, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(again(&utf32, json!("日本")), json!("日本"));
        assert!(FillValue::from_v3(&json!("abcd"), &utf32).is_err());
        assert_eq!(v3(&DataType::String, json!("é")), "é".as_bytes());
        assert!(FillValue::from_v3(&json!(0), &DataType::String).is_err());
    }

    #[test]
    fn zp_dt_dates() {
        let time = parse_v3(&json!({"name": "numpy.datetime64", "configuration": {"unit": "ns", "scale_factor": 1}})).unwrap();
        assert_eq!(v3(&time, json!("NaT")), i64::MIN.to_le_bytes());
        assert_eq!(again(&time, json!(-9223372036854775808i64)), json!("NaT"));
        assert_eq!(again(&time, json!(-5)), json!(-5));
        assert!(FillValue::from_v3(&json!("1970-01-01"), &time).is_err());
        assert_eq!(v2(json!("<m8[10s]"), json!("NaT")), i64::MIN.to_le_bytes());
        let typestr = parse_v2(&json!(">M8[ns]")).unwrap();
        let fill = FillValue::from_v2(&json!(i64::MIN), &typestr).unwrap().unwrap();
        assert_eq!(fill.to_v2(&typestr), json!(i64::MIN));
        assert_eq!(v2(json!("<M8[s]"), json!(0)), [0; 8]);
    }

    #[test]
    fn structs_of_v3() {
        let data_type = parse_v3(&json!({"name": "struct", "configuration": {"fields": [
            {"name": "id", "data_type": "int16"},
            {"name": "in", "data_type": {"name": "struct", "configuration": {"fields": [{"name": "x/y", "data_type": "float32"}]}}}]}}))
        .unwrap();
        let want = [&[1, 0][..], &2.5f32.to_le_bytes()].concat();
        for value in [json!({"id": 1, "in": {"x/y": 2.5}}), json!([1, [2.5]]), json!({"in": [2.5], "id": 1}), json!("AQAAACBA")] {
            assert_eq!(v3(&data_type, value), want);
        }
        assert_eq!(again(&data_type, json!([1, [2.5]])), json!({"id": 1, "in": {"x/y": 2.5}}));
        assert_eq!(v3(&data_type, json!({"in": {}})), [0; 6], "what is missing is zero");
        let refused = [
            (json!({"id": 1, "no": 2}), "/no"),
            (json!({"id": 1, "in": {"x/y": "x"}}), "/in/x~1y"),
            (json!([1]), ""),
            (json!([1, [true]]), "/1/0"),
            (json!("AQA="), ""),
            (json!(0), ""),
        ];
        for (value, pointer) in refused {
            assert_eq!(FillValue::from_v3(&value, &data_type).unwrap_err().pointer, pointer, "{value}");
        }
    }

    #[test]
    fn zp_4141_struct_bytes_of_v2_are_in_the_fields_own_byte_orders() {
        let dtype = json!([["a", "<i4"], ["b", ">u2"]]);
        assert_eq!(v2(dtype.clone(), json!("AQAAAAAC")), [1, 0, 0, 0, 2, 0]);
        let typestr = parse_v2(&dtype).unwrap();
        assert_eq!(FillValue::new([1, 0, 0, 0, 2, 0]).to_v2(&typestr), json!("AQAAAAAC"));
        for zero in [json!(0), json!("")] {
            assert_eq!(v2(dtype.clone(), zero), [0; 6]);
        }
        assert!(FillValue::from_v2(&json!("AQAA"), &typestr).is_err());
        assert!(FillValue::from_v2(&json!([1, 2]), &typestr).is_err());
    }

    #[test]
    fn zrs_vx_raw_and_text_of_v2() {
        assert_eq!(v2(json!("|V3"), json!("AQID")), [1, 2, 3]);
        assert_eq!(v2(json!("|V3"), json!("AQ==")), [1, 0, 0]);
        assert_eq!(v2(json!("|S4"), json!("YWI=")), *b"ab\0\0");
        for (dtype, size) in [("|V3", 3), ("|S4", 4), ("<U2", 8)] {
            for zero in [json!(0), json!("")] {
                assert_eq!(v2(json!(dtype), zero), vec![0; size], "{dtype}");
            }
            let typestr = parse_v2(&json!(dtype)).unwrap();
            assert_eq!(FillValue::from_v2(&Value::Null, &typestr).unwrap(), None);
            assert!(FillValue::from_v2(&json!(1), &typestr).is_err());
        }
        assert_eq!(FillValue::new(*b"ab\0\0").to_v2(&parse_v2(&json!("|S4")).unwrap()), json!("YWIAAA=="));
        assert!(FillValue::from_v2(&json!("AQIDBA=="), &parse_v2(&json!("|V3")).unwrap()).is_err());
    }

    #[test]
    fn leniencies_of_v2() {
        assert_eq!(v2(json!("|b1"), json!(1)), [1]);
        assert_eq!(v2(json!("|b1"), json!(0)), [0]);
        assert_eq!(v2(json!("<i2"), json!(0.0)), [0, 0]);
        assert_eq!(v2(json!(">f4"), json!("NaN")), 0x7fc0_0000u32.to_le_bytes());
        assert_eq!(FillValue::new(0xffc0_0001u32.to_le_bytes()).to_v2(&parse_v2(&json!("<f4")).unwrap()), json!("NaN"));
    }

    #[test]
    fn zrs_vstr_objects_of_v2() {
        let of = |data_type: DataType, value: Value| {
            let typestr = TypeStr { data_type, order: vec![crate::dtype::Endian::Little] };
            let fill = FillValue::from_v2(&value, &typestr).unwrap().unwrap();
            (fill.as_bytes().to_vec(), fill.to_v2(&typestr))
        };
        assert_eq!(of(DataType::String, json!(0)), (vec![], json!("")));
        assert_eq!(of(DataType::String, json!("")), (vec![], json!("")));
        assert_eq!(of(DataType::String, json!("fv")), (b"fv".to_vec(), json!("fv")));
        assert_eq!(of(DataType::Bytes, json!(0)), (vec![], json!("")));
        assert_eq!(of(DataType::Bytes, json!("/w==")), (vec![255], json!("/w==")));
        assert_eq!(of(DataType::VlenArray(Box::new(DataType::Int16)), json!(0)), (vec![], json!([])));
        assert_eq!(of(DataType::VlenArray(Box::new(DataType::Int16)), json!([1, 2])), (vec![1, 0, 2, 0], json!([1, 2])));
        assert_eq!(of(DataType::Json, json!({"a": [1, "x"]})), (br#"{"a":[1,"x"]}"#.to_vec(), json!({"a": [1, "x"]})));
        let unknown = parse_v2(&json!("|O")).unwrap().data_type;
        assert_eq!(of(unknown, json!(["kept"])), (br#"["kept"]"#.to_vec(), json!(["kept"])));
    }
}
