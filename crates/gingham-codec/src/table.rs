//! The table of codecs: from a specification to the code.
//!
//! A new codec is a file in `codecs/` and a line here.

use gingham_core::codec::Codec;

use crate::codecs::{
    adler32::Adler32, base64::Base64, blosc::Blosc, bz2::Bz2, crc32::Crc32, crc32c::Crc32c, fletcher32::Fletcher32, gzip::Gzip,
    jenkins_lookup3::JenkinsLookup3, lz4::Lz4, lzma::Lzma, shuffle::Shuffle, zlib::Zlib, zstd::Zstd,
};
use crate::{ArrayToArray, ArrayToBytes, BytesToBytes, CodecFault, Result};

/// The code of an array→array codec.
pub fn array_to_array(codec: &Codec) -> Result<Box<dyn ArrayToArray>> {
    let _ = codec;
    todo!()
}

/// The code of an array→bytes codec other than `sharding_indexed` (the chain makes that one).
pub fn array_to_bytes(codec: &Codec) -> Result<Box<dyn ArrayToBytes>> {
    let _ = codec;
    todo!()
}

/// The code of a bytes→bytes codec.
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
