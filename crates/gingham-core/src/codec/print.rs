//! [`Codec`]s as the objects of v3 and v2 documents, in the spelling that every other reader takes (format.md 0).

use super::{Codec, CodecError};
use crate::json::Value;

/// A v3 codec object: name and full configuration. [`super::ByteOrder::PerLeaf`] has no v3 form.
pub fn codec_to_v3(codec: &Codec) -> Result<Value, CodecError> {
    let _ = codec;
    todo!()
}

/// A v3 `codecs` list.
pub fn chain_to_v3(codecs: &[Codec]) -> Result<Value, CodecError> {
    let _ = codecs;
    todo!()
}

/// A v2 filter or compressor object, or the reason why v2 has none.
pub fn codec_to_v2(codec: &Codec) -> Result<Value, CodecError> {
    let _ = codec;
    todo!()
}
