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
