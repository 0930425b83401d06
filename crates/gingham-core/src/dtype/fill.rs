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
