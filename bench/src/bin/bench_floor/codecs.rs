//! The C codecs, one call each, with contexts and buffers that are used again.

use std::ffi::CString;

use gingham_bench::Failure;
use serde_json::Value;

use crate::memory::Scratch;

pub enum Codec {
    Raw,
    Zstd { level: i32 },
    Gzip { level: i32 },
    Blosc { name: CString, level: i32, item: usize },
}

impl Codec {
    pub fn blosc(configuration: &Value, item: usize) -> Result<Self, Failure> {
        let name = configuration["cname"].as_str().ok_or("blosc was expected")?;
        let level = configuration["clevel"].as_i64().ok_or("a level was expected")?;
        Ok(Self::Blosc { name: CString::new(name)?, level: level as i32, item })
    }
    pub fn is_raw(&self) -> bool {
        matches!(self, Self::Raw)
    }
}

/// What one thread keeps.
pub struct Worker {
    zstd: zstd_safe::DCtx<'static>,
    zstd_out: zstd_safe::CCtx<'static>,
    deflate: libdeflater::Decompressor,
    /// Encoded bytes as they were read, and decoded ones.
    pub raw: Scratch,
    pub scratch: Scratch,
    /// Encoded bytes to write.
    pub encoded: Vec<u8>,
}

impl Default for Worker {
    fn default() -> Self {
        Self {
            zstd: zstd_safe::DCtx::create(),
            zstd_out: zstd_safe::CCtx::create(),
            deflate: libdeflater::Decompressor::new(),
            raw: Scratch::default(),
            scratch: Scratch::default(),
            encoded: Vec::new(),
        }
    }
}

impl Worker {
    pub fn decode(&mut self, codec: &Codec, from: &[u8], to: &mut [u8]) -> Result<(), Failure> {
        let len = match codec {
            Codec::Raw => {
                to.copy_from_slice(from.get(..to.len()).ok_or("a chunk is short")?);
                to.len()
            }
            Codec::Zstd { .. } => self.zstd.decompress(to, from).map_err(zstd_safe::get_error_name)?,
            Codec::Gzip { .. } => self.deflate.gzip_decompress(from, to)?,
            // SAFETY: the lengths are those of the slices; C-Blosc checks its header against both.
            Codec::Blosc { .. } => unsafe {
                blosc_src::blosc_decompress_ctx(from.as_ptr().cast(), to.as_mut_ptr().cast(), to.len(), 1) as usize
            },
        };
        if len == to.len() { Ok(()) } else { Err("a chunk decodes to another length".into()) }
    }

    /// Encodes into `to`, which keeps its memory.
    pub fn encode(&mut self, codec: &Codec, from: &[u8], to: &mut Vec<u8>) -> Result<(), Failure> {
        // Every codec's worst case is below this; the bytes are written before they are read.
        to.resize(from.len() + from.len() / 8 + 1024, 0);
        let len = match codec {
            Codec::Raw => {
                to[..from.len()].copy_from_slice(from);
                from.len()
            }
            Codec::Zstd { level } => self.zstd_out.compress(&mut to[..], from, *level).map_err(zstd_safe::get_error_name)?,
            Codec::Gzip { level } => {
                let level = libdeflater::CompressionLvl::new(*level).map_err(|_| "no such level")?;
                libdeflater::Compressor::new(level).gzip_compress(from, to)?
            }
            // SAFETY: the lengths are those of the slices, the name is a C string, and byte shuffling is 1.
            Codec::Blosc { name, level, item } => unsafe {
                let (source, target) = (from.as_ptr().cast(), to.as_mut_ptr().cast());
                blosc_src::blosc_compress_ctx(*level, 1, *item, from.len(), source, target, to.len(), name.as_ptr(), 0, 1) as usize
            },
        };
        to.truncate(len);
        Ok(())
    }
}
