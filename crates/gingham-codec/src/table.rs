//! The table of codecs: from a specification to the code.
//!
//! A new codec is a file in `codecs/` and a line here.

use gingham_core::codec::Codec;

use crate::codecs::{
    adler32::Adler32, base64::Base64, blosc::Blosc, bz2::Bz2, crc32::Crc32, crc32c::Crc32c, fletcher32::Fletcher32, gzip::Gzip,
    jenkins_lookup3::JenkinsLookup3, lz4::Lz4, lzma::Lzma, shuffle::Shuffle, zlib::Zlib, zstd::Zstd,
};
use crate::codecs::{
    as_type::AsType, bitround::BitRound, bytes::Bytes, cast_value::CastValue, categorize::Categorize, delta::Delta,
    fixed_scale_offset::FixedScaleOffset, json2::Json2, msgpack2::MsgPack2, numcodecs_packbits::NumcodecsPackBits, packbits::PackBits,
    pcodec::Pcodec, quantize::Quantize, reshape::Reshape, scale_offset::ScaleOffset, squeeze::Squeeze, stored_shape::StoredShape,
    transpose::Transpose, vlen_array::VlenArray, vlen_bytes::VlenBytes, vlen_utf8::VlenUtf8, zfp::Zfp, zfpy::Zfpy,
};
use crate::{ArrayToArray, ArrayToBytes, BytesToBytes, CodecFault, Result};

/// The code of an array→array codec.
pub fn array_to_array(codec: &Codec) -> Result<Box<dyn ArrayToArray>> {
    Ok(match codec {
        Codec::Transpose { order } => Box::new(Transpose::new(order)?),
        Codec::BitRound { keepbits, numcodecs } => Box::new(BitRound::new(*keepbits, *numcodecs)),
        Codec::CastValue(spec) => Box::new(CastValue::new(spec)),
        Codec::ScaleOffset { offset, scale } => Box::new(ScaleOffset::new(offset.clone(), scale.clone())),
        Codec::Reshape { shape } => Box::new(Reshape::new(shape)),
        Codec::StoredShape { shape } => Box::new(StoredShape::new(shape)),
        Codec::Delta { dtype, astype } => Box::new(Delta::new(dtype, astype)?),
        Codec::FixedScaleOffset { offset, scale, dtype, astype } => Box::new(FixedScaleOffset::new(*offset, *scale, dtype, astype)?),
        Codec::Quantize { digits, dtype, astype } => Box::new(Quantize::new(*digits, dtype, astype)?),
        Codec::AsType { encode_dtype, decode_dtype } => Box::new(AsType::new(encode_dtype, decode_dtype)?),
        Codec::NumcodecsPackBits => Box::new(NumcodecsPackBits),
        Codec::Categorize { labels, astype, .. } => Box::new(Categorize::new(labels, astype)?),
        Codec::Squeeze => Box::new(Squeeze),
        other => return Err(misplaced(other, "an array→array codec")),
    })
}

/// The code of an array→bytes codec other than `sharding_indexed` (the chain makes that one).
pub fn array_to_bytes(codec: &Codec) -> Result<Box<dyn ArrayToBytes>> {
    Ok(match codec {
        Codec::Bytes(order) => Box::new(Bytes::new(order.clone())),
        Codec::PackBits { padding, first_bit, last_bit } => Box::new(PackBits::new(*padding, *first_bit, *last_bit)),
        Codec::VlenUtf8 => Box::new(VlenUtf8),
        Codec::VlenBytes => Box::new(VlenBytes),
        Codec::VlenArray { dtype } => Box::new(VlenArray::new(dtype)),
        Codec::Json2(configuration) => Box::new(Json2::new(configuration)?),
        Codec::MsgPack2(_) => Box::new(MsgPack2),
        Codec::Pcodec(spec) => Box::new(Pcodec::new(spec)?),
        Codec::Zfp(mode) => Box::new(Zfp::new(*mode)?),
        Codec::Zfpy(mode) => Box::new(Zfpy::new(*mode)),
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

/// The code of a bytes→bytes codec. Fails for a codec of another kind, one that this build does not know, and parameters that
/// do not exist.
///
/// ```
/// use gingham_codec::{Context, Room, table::bytes_to_bytes};
/// use gingham_core::codec::Codec;
///
/// let zstd = bytes_to_bytes(&Codec::Zstd { level: 3, checksum: true })?;
/// let mut context = Context::default();
/// let (mut stored, mut back) = (Vec::new(), Vec::new());
/// zstd.encode(&[7; 1000], &mut stored, &mut context)?;
/// zstd.decode(&stored, Room::Exactly(1000), &mut back, &mut context)?;
/// assert_eq!(back, [7; 1000]);
/// # Ok::<(), gingham_codec::CodecFault>(())
/// ```
pub fn bytes_to_bytes(codec: &Codec) -> Result<Box<dyn BytesToBytes>> {
    Ok(match codec {
        Codec::Adler32 { location } => Box::new(Adler32::new(*location)),
        Codec::Base64 => Box::new(Base64),
        Codec::Blosc { cname, clevel, shuffle, typesize, blocksize } => {
            Box::new(Blosc::new(*cname, *clevel, *shuffle, *typesize, *blocksize))
        }
        Codec::Bz2 { level } => Box::new(Bz2::new(*level)),
        Codec::Crc32 { location } => Box::new(Crc32::new(*location)),
        Codec::Crc32c { location } => Box::new(Crc32c::new(*location)),
        Codec::Fletcher32 => Box::new(Fletcher32),
        Codec::Gzip { level } => Box::new(Gzip::new(*level)),
        Codec::JenkinsLookup3 { initval, prefix } => Box::new(JenkinsLookup3::new(*initval, prefix.clone())),
        Codec::Lz4 { .. } => Box::new(Lz4),
        Codec::Lzma(spec) => Box::new(Lzma::new(spec)?),
        Codec::Shuffle { elementsize } => Box::new(Shuffle::new(*elementsize)),
        Codec::Zlib { level } => Box::new(Zlib::new(*level)),
        Codec::Zstd { level, checksum } => Box::new(Zstd::new(*level, *checksum)),
        Codec::Unknown { name, .. } => return Err(CodecFault::unsupported(name, "this build does not know the codec")),
        other => return Err(CodecFault::unsupported(other.name(), "maps arrays, where a codec that maps bytes to bytes is due")),
    })
}
