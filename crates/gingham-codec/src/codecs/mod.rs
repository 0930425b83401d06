//! One file per codec.

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
