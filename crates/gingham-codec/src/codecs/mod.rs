//! One file per codec.

// array -> array and array -> bytes, and what several of them share
pub mod as_type;
pub mod bitround;
pub mod bytes;
pub mod cast_value;
pub mod categorize;
mod checked;
pub mod delta;
mod filter;
pub mod fixed_scale_offset;
pub mod json2;
pub mod msgpack2;
mod numbers;
pub mod numcodecs_packbits;
mod objects;
pub mod packbits;
pub mod pcodec;
pub mod quantize;
mod real;
pub mod reshape;
pub mod scale_offset;
pub mod squeeze;
pub mod stored_shape;
pub mod transpose;
mod vlen;
pub mod vlen_array;
pub mod vlen_bytes;
pub mod vlen_utf8;
pub mod zfp;
pub mod zfpy;

// bytes -> bytes
pub mod adler32;
pub mod base64;
pub mod blosc;
pub mod bz2;
pub mod checksum;
pub mod crc32;
pub mod crc32c;
pub mod deflate;
pub mod fletcher32;
mod growth;
pub mod gzip;
pub mod jenkins_lookup3;
pub mod lz4;
pub mod lzma;
pub mod shuffle;
pub mod zlib;
pub mod zstd;
