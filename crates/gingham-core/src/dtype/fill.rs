//! Fill values, exact to the bit.

use super::{DataType, DataTypeError, TypeStr};
use crate::json::Value;

/// One element's content: its little-endian bytes where the type has a fixed size, else its content.
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
    /// Reads `fill_value` of a v3 document (format.md 1.4, 3.5): hex strings, NaN, Infinity, base64, lists.
    pub fn from_v3(value: &Value, data_type: &DataType) -> Result<Self, DataTypeError> {
        let _ = (value, data_type);
        todo!()
    }
    /// Writes it for v3: canonical NaN as "NaN", any other NaN as hex of full width, -0.0 kept, 64-bit integers exact.
    pub fn to_v3(&self, data_type: &DataType) -> Value {
        let _ = data_type;
        todo!()
    }
    /// Reads `fill_value` of a v2 document; `null` gives `None` (undefined). Struct bytes are in the type string's own byte orders.
    pub fn from_v2(value: &Value, typestr: &TypeStr) -> Result<Option<Self>, DataTypeError> {
        let _ = (value, typestr);
        todo!()
    }
    /// Writes it for v2 (base64 for S, V and structs).
    pub fn to_v2(&self, typestr: &TypeStr) -> Value {
        let _ = typestr;
        todo!()
    }
}
