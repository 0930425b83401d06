//! Single elements as JSON and text.

use super::{DataType, DataTypeError};
use crate::json::Value;

/// How an element is spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// As `read --format json` prints: numbers, "NaN", "Infinity", complex as [re, im], strings, bytes and raw bits as
    /// lower-case hex, structs as lists, dates and time spans as their integers, fixed strings without their padding.
    Plain,
    /// As a v3 fill value.
    Fill,
    /// As the corpus' hash of variable-length data wants it: the rules of a JSON list (bytes that are UTF-8 as text,
    /// others as {"hex": …}; floats through float64; vlen-arrays as lists; structs as lists).
    Oracle,
}

/// One element (its bytes as in memory) as JSON.
pub fn format_element(data_type: &DataType, element: &[u8], spelling: Spelling) -> Value {
    let _ = (data_type, element, spelling);
    todo!()
}

/// Reads an element as [`Spelling::Plain`] or [`Spelling::Fill`] write it (the inverse of both), into its bytes in memory.
pub fn parse_element(data_type: &DataType, value: &Value) -> Result<Vec<u8>, DataTypeError> {
    let _ = (data_type, value);
    todo!()
}
