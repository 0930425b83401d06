//! The exact, loss-free v3 twin of a v2 document (format.md 6.3): same chunk bytes, same keys.

use super::model::{Array, Format, MetaError, New};
use super::v2;
use crate::codec::{ByteOrder, Codec};
use crate::dtype;

/// A v3 document that reads the very chunks of a v2 array.
#[derive(Debug, Clone)]
pub struct V3Twin {
    /// The v3 array.
    pub array: Array,
    /// What had to be decided (an undefined fill value, …), a sentence each.
    pub notes: Vec<String>,
}

/// The v3 twin of a v2 array, or why v3 cannot say it (mixed byte orders, sub-arrays, objects).
///
/// The chain needs no translation: it was read in v3's terms. Attributes stay as they are, `_ARRAY_DIMENSIONS` included,
/// and give the dimension names too. A v3 array is its own twin.
pub fn to_v3(array: &Array) -> Result<V3Twin, MetaError> {
    let mut notes = Vec::new();
    if array.format() == Format::V3 {
        return Ok(V3Twin { array: array.clone(), notes });
    }
    if let Some(problem) = array.problem() {
        return Err(MetaError::new(v2::ARRAY, problem.pointer.clone(), problem.what.clone()).unsupported());
    }
    if array.codecs().iter().any(|codec| matches!(codec, Codec::Bytes(ByteOrder::PerLeaf(_)))) {
        let what = "the fields of this type have different byte orders, but v3 has one for all";
        return Err(v2::error("/dtype", what).hint("rewrite the chunks with one byte order").unsupported());
    }
    if let Err(error) = dtype::to_v3(array.data_type()) {
        return Err(v2::error("/dtype", error.what).hint("rewrite the data with another type").unsupported());
    }
    if array.fill_is_undefined() {
        let zero = array.fill_value().to_v3(array.data_type());
        notes.push(format!("v2 leaves the fill value undefined; in v3 missing chunks are {zero}"));
    }
    if array.dimension_names().is_some() {
        notes.push("the names of the dimensions are taken from the attributes, which keep theirs".into());
    }
    let twin = Array::create(New {
        format: Format::V3,
        data_type: array.data_type().clone(),
        grid: array.grid().clone(),
        fill_value: Some(array.fill_value()),
        codecs: array.codecs().to_vec(),
        key_encoding: Some(array.key_encoding().clone()),
        dimension_names: array.dimension_names().map(<[_]>::to_vec),
        attributes: array.attributes().clone(),
    })?;
    Ok(V3Twin { array: twin, notes })
}
