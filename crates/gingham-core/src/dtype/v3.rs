//! v3 data types: names, extension objects, aliases.

use super::{DataType, DataTypeError};
use crate::json::Value;

/// Reads a v3 `data_type` member (string or extension object, every alias of format.md 1.4 and 3.5).
/// A name that is well formed but not known gives [`DataType::Unknown`]; a bad configuration of a known one is an error.
pub fn parse_v3(value: &Value) -> Result<DataType, DataTypeError> {
    let _ = value;
    todo!()
}

/// Writes a v3 `data_type` member, or says why v3 has no such type.
pub fn to_v3(data_type: &DataType) -> Result<Value, DataTypeError> {
    let _ = data_type;
    todo!()
}
