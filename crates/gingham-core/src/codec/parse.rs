//! Codec objects of v2 and v3 documents into [`Codec`]s: one table of names for v2, v3 and `numcodecs.*`.

use super::{Codec, CodecError};
use crate::json::Value;

/// Reads one entry of a v3 `codecs` list (object, or short-hand string; every alias).
pub fn codec_from_v3(value: &Value) -> Result<Codec, CodecError> {
    let _ = value;
    todo!()
}

/// Reads a v3 `codecs` list.
pub fn chain_from_v3(value: &Value) -> Result<Vec<Codec>, CodecError> {
    let _ = value;
    todo!()
}

/// Reads a v2 compressor or filter object. `itemsize` is the size of the items in the buffer that the codec sees (Blosc's
/// automatic shuffle and typesize).
pub fn codec_from_v2(value: &Value, itemsize: usize) -> Result<Codec, CodecError> {
    let _ = (value, itemsize);
    todo!()
}
