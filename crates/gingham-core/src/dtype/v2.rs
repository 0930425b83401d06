//! v2 type strings (`<i4`, `|S8`, `<M8[25s]`, lists of members).

use super::{DataType, DataTypeError, Endian};
use crate::json::Value;

/// A v2 dtype: the type, and the byte order of each of its leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeStr {
    /// The type without byte order. `|O` is [`DataType::Unknown`] named "object" until a filter says what it holds.
    pub data_type: DataType,
    /// Byte order, one per leaf component in order for structs (nested members flattened), one entry otherwise.
    /// Leaves of one byte count as little.
    pub order: Vec<Endian>,
}

impl TypeStr {
    /// The one byte order of all leaves that have one, or `None` where they differ.
    pub fn uniform(&self) -> Option<Endian> {
        todo!()
    }
}

/// Reads a v2 `dtype` member. Also takes numpy names (`uint8`, `float32`) as the `numcodecs.*` codecs write them.
pub fn parse_v2(value: &Value) -> Result<TypeStr, DataTypeError> {
    let _ = value;
    todo!()
}

/// Writes a v2 `dtype` member, or says why v2 has no such type.
pub fn to_v2(typestr: &TypeStr) -> Result<Value, DataTypeError> {
    let _ = typestr;
    todo!()
}
