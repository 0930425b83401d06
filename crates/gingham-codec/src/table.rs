//! The table of codecs: from a specification to the code.
//!
//! A new codec is a file in `codecs/` and a line here.

use gingham_core::codec::Codec;

use crate::codecs::{
    as_type, bitround, bytes, cast_value, categorize, delta, fixed_scale_offset, json2, msgpack2, numcodecs_packbits, packbits, pcodec,
    quantize, reshape, scale_offset, squeeze, stored_shape, transpose, vlen_array, vlen_bytes, vlen_utf8, zfp, zfpy,
};
use crate::{ArrayToArray, ArrayToBytes, BytesToBytes, CodecFault, Result};

/// The code of an array→array codec.
pub fn array_to_array(codec: &Codec) -> Result<Box<dyn ArrayToArray>> {
    Ok(match codec {
        Codec::Transpose { order } => Box::new(transpose::Transpose::new(order)?),
        Codec::BitRound { keepbits, numcodecs } => Box::new(bitround::BitRound::new(*keepbits, *numcodecs)),
        Codec::CastValue(spec) => Box::new(cast_value::CastValue::new(spec)),
        Codec::ScaleOffset { offset, scale } => Box::new(scale_offset::ScaleOffset::new(offset.clone(), scale.clone())),
        Codec::Reshape { shape } => Box::new(reshape::Reshape::new(shape)),
        Codec::StoredShape { shape } => Box::new(stored_shape::StoredShape::new(shape)),
        Codec::Delta { dtype, astype } => Box::new(delta::Delta::new(dtype, astype)?),
        Codec::FixedScaleOffset { offset, scale, dtype, astype } => {
            Box::new(fixed_scale_offset::FixedScaleOffset::new(*offset, *scale, dtype, astype)?)
        }
        Codec::Quantize { digits, dtype, astype } => Box::new(quantize::Quantize::new(*digits, dtype, astype)?),
        Codec::AsType { encode_dtype, decode_dtype } => Box::new(as_type::AsType::new(encode_dtype, decode_dtype)?),
        Codec::NumcodecsPackBits => Box::new(numcodecs_packbits::NumcodecsPackBits),
        Codec::Categorize { labels, astype, .. } => Box::new(categorize::Categorize::new(labels, astype)?),
        Codec::Squeeze => Box::new(squeeze::Squeeze),
        other => return Err(misplaced(other, "an array→array codec")),
    })
}

/// The code of an array→bytes codec other than `sharding_indexed` (the chain makes that one).
pub fn array_to_bytes(codec: &Codec) -> Result<Box<dyn ArrayToBytes>> {
    Ok(match codec {
        Codec::Bytes(order) => Box::new(bytes::Bytes::new(order.clone())),
        Codec::PackBits { padding, first_bit, last_bit } => Box::new(packbits::PackBits::new(*padding, *first_bit, *last_bit)),
        Codec::VlenUtf8 => Box::new(vlen_utf8::VlenUtf8),
        Codec::VlenBytes => Box::new(vlen_bytes::VlenBytes),
        Codec::VlenArray { dtype } => Box::new(vlen_array::VlenArray::new(dtype)),
        Codec::Json2(configuration) => Box::new(json2::Json2::new(configuration)?),
        Codec::MsgPack2(_) => Box::new(msgpack2::MsgPack2),
        Codec::Pcodec(spec) => Box::new(pcodec::Pcodec::new(spec)?),
        Codec::Zfp(mode) => Box::new(zfp::Zfp::new(*mode)?),
        Codec::Zfpy(mode) => Box::new(zfpy::Zfpy::new(*mode)),
        other => return Err(misplaced(other, "an array→bytes codec")),
    })
}

/// A codec where one of another kind belongs, or one that this build does not know.
fn misplaced(codec: &Codec, place: &str) -> CodecFault {
    let what = match codec {
        Codec::Unknown { .. } => "this codec is not known here".to_string(),
        _ => format!("it is not {place}"),
    };
    CodecFault::unsupported(codec.name(), what)
}

/// The code of a bytes→bytes codec.
pub fn bytes_to_bytes(codec: &Codec) -> Result<Box<dyn BytesToBytes>> {
    let _ = codec;
    todo!()
}
