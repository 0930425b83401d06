//! Elements to bytes and back. CPU only: no I/O, no threads.
//!
//! ```text
//!            encode →
//!   elements ── ArrayToArray* ── ArrayToBytes ── BytesToBytes* ── object
//!            ← decode
//! ```
//!
//! One file per codec, all of one shape (a struct with its parameters, one `impl` of its kind's trait, tests with vectors);
//! [`table`] lists them; [`chain`] strings them together; [`shard`] is the index and the inner chain of `sharding_indexed`.
//!
//! Every decoder is told how long its result may be ([`Room`]) and allocates no more than that, whatever a header claims.

pub mod chain;
pub mod codecs;
pub mod place;
pub mod shard;
pub mod table;

use gingham_core::Shape;
use gingham_core::dtype::{DataType, Elements, FillValue};

/// Why bytes cannot be decoded or elements not encoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{codec}: {what}")]
pub struct CodecFault {
    /// The codec's v3 name.
    pub codec: String,
    /// A sentence with the numbers: expected, got.
    pub what: String,
    /// What is at fault.
    pub kind: FaultKind,
}

/// What is at fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// The stored bytes.
    Corrupt,
    /// The values to be encoded (out of range, not representable).
    Value,
    /// The codec cannot do this (an unknown codec, a type it does not take).
    Unsupported,
}

impl CodecFault {
    /// The stored bytes are at fault.
    pub fn corrupt(codec: &str, what: impl Into<String>) -> Self {
        CodecFault { codec: codec.into(), what: what.into(), kind: FaultKind::Corrupt }
    }
    /// The values are at fault.
    pub fn value(codec: &str, what: impl Into<String>) -> Self {
        CodecFault { codec: codec.into(), what: what.into(), kind: FaultKind::Value }
    }
    /// Not supported.
    pub fn unsupported(codec: &str, what: impl Into<String>) -> Self {
        CodecFault { codec: codec.into(), what: what.into(), kind: FaultKind::Unsupported }
    }
}

/// A codec's result.
pub type Result<T> = std::result::Result<T, CodecFault>;

/// What an array is at one place of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rep {
    /// Its element type.
    pub data_type: DataType,
    /// Its shape.
    pub shape: Shape,
    /// Its fill value (codecs that change values change it too).
    pub fill: FillValue,
}

impl Rep {
    /// Elements in it. Checked at open not to overflow memory.
    pub fn count(&self) -> usize {
        self.shape.iter().product::<u64>() as usize
    }
    /// Its bytes in memory, for fixed-size types.
    pub fn byte_len(&self) -> Option<usize> {
        self.data_type.size().map(|s| s * self.count())
    }
}

/// How long a decoder's result may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// Exactly this many bytes; anything else is an error.
    Exactly(usize),
    /// Any length up to this. Grow as data comes, never by what a header claims.
    AtMost(usize),
}

impl Room {
    /// The longest result allowed.
    pub fn limit(self) -> usize {
        match self {
            Room::Exactly(n) | Room::AtMost(n) => n,
        }
    }
}

/// Compression contexts and scratch that a worker keeps from chunk to chunk. Holds zstd and libdeflate contexts, made at first use.
#[derive(Default)]
pub struct Context {
    /// zstd's decompression context.
    pub zstd_d: Option<zstd::zstd_safe::DCtx<'static>>,
    /// zstd's compression context.
    pub zstd_c: Option<zstd::zstd_safe::CCtx<'static>>,
    /// libdeflate's decompressor.
    pub deflate_d: Option<codecs::deflate::Inflater>,
    /// libdeflate's compressor, and its level.
    pub deflate_c: Option<(i32, libdeflater::Compressor)>,
    /// Buffers that are free for use; taken with [`Context::take`], given back with [`Context::give`].
    free: Vec<Vec<u8>>,
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Context {{ free: {} }}", self.free.len())
    }
}

impl Context {
    /// The free buffer that is best. A buffer that is to be written whole is the longest (what lies beyond its length would be set to
    /// zeros first), a cleared one the shortest, so that the long ones stay long.
    fn free(&mut self, best: impl Fn(&Vec<u8>) -> usize) -> Vec<u8> {
        let at = (0..self.free.len()).max_by_key(|&i| best(&self.free[i]));
        at.map(|i| self.free.swap_remove(i)).unwrap_or_default()
    }
    /// A cleared buffer, with whatever capacity it had. Steady state allocates nothing.
    pub fn take(&mut self) -> Vec<u8> {
        let mut b = self.free(|b| usize::MAX - b.len());
        b.clear();
        b
    }
    /// A buffer of `len` bytes that hold whatever its last user left: for results that are written whole, so that no time
    /// goes into zeros.
    pub fn scratch(&mut self, len: usize) -> Vec<u8> {
        let mut b = self.free(Vec::len);
        b.truncate(len);
        b.resize(len, 0);
        b
    }
    /// The same that begins at a page, for bytes that come from a file.
    /// `None` where there is no memory for so many bytes.
    pub fn page(&mut self, len: usize) -> Option<Page> {
        let mut memory = self.free(Vec::len);
        let all = len.checked_add(PAGE)?;
        memory.try_reserve_exact(all.saturating_sub(memory.len())).ok()?;
        if memory.len() < all {
            memory.resize(all, 0);
        }
        let from = memory.as_ptr().align_offset(PAGE).min(PAGE);
        Some(Page { memory, from, len })
    }
    /// Gives it back.
    pub fn give_page(&mut self, page: Page) {
        self.give(page.memory);
    }
    /// Gives a buffer back for the next use.
    pub fn give(&mut self, buffer: Vec<u8>) {
        if self.free.len() < 8 {
            self.free.push(buffer);
        }
    }
}

/// Bytes of a page of memory.
const PAGE: usize = 4096;

/// A buffer that begins at a page: where a file is read to. A kernel copies with `rep movsb`, which AMD's Zen cores carry out at a
/// third of the speed where the target lies 1 to 31 bytes further into its page than the source (512 files of 1 MiB, two threads:
/// 62 ms at offset 0, 194 ms at offset 16, which is where malloc puts large blocks).
#[derive(Debug)]
pub struct Page {
    memory: Vec<u8>,
    from: usize,
    len: usize,
}

impl std::ops::Deref for Page {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.memory[self.from..self.from + self.len]
    }
}

impl std::ops::DerefMut for Page {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.from..self.from + self.len]
    }
}

/// A codec that maps arrays to arrays. `input` is always the *decoded* side's representation.
pub trait ArrayToArray: Send + Sync + std::fmt::Debug {
    /// The representation behind it; fails where the fill value does not survive.
    fn encoded(&self, input: &Rep) -> Result<Rep>;
    /// Encodes elements.
    fn encode(&self, input: &Rep, elements: Elements) -> Result<Elements>;
    /// Decodes elements.
    fn decode(&self, input: &Rep, elements: Elements) -> Result<Elements>;
    /// For a pure permutation of axes: `order`, so that placing can fold it into its copy.
    fn permutation(&self) -> Option<&[usize]> {
        None
    }
}

/// A codec that maps an array to bytes.
pub trait ArrayToBytes: Send + Sync + std::fmt::Debug {
    /// The encoded length where it is always the same (bytes, packbits), for exact decoding of what lies behind.
    fn encoded_len(&self, input: &Rep) -> Option<usize>;
    /// Encodes, appending to `out`.
    fn encode(&self, input: &Rep, elements: &Elements, out: &mut Vec<u8>, context: &mut Context) -> Result<()>;
    /// Decodes into new elements.
    fn decode(&self, input: &Rep, bytes: &[u8], context: &mut Context) -> Result<Elements>;
    /// Decodes fixed-size elements into a buffer of exactly their length. The default goes through [`ArrayToBytes::decode`].
    fn decode_into(&self, input: &Rep, bytes: &[u8], out: &mut [u8], context: &mut Context) -> Result<()> {
        match self.decode(input, bytes, context)? {
            Elements::Fixed(b) if b.len() == out.len() => {
                out.copy_from_slice(&b);
                Ok(())
            }
            _ => Err(CodecFault::corrupt("chain", "the decoded elements have another length than the chunk")),
        }
    }
    /// True where the encoded bytes *are* the elements as in memory (bytes, little-endian): nothing to decode.
    fn is_identity(&self, input: &Rep) -> bool {
        let _ = input;
        false
    }
}

/// A codec that maps bytes to bytes.
pub trait BytesToBytes: Send + Sync + std::fmt::Debug {
    /// The codec's v3 name, for messages.
    fn name(&self) -> &'static str;
    /// The encoded length of `decoded` bytes where it depends on nothing else (checksums, shuffle).
    fn encoded_len(&self, decoded: usize) -> Option<usize> {
        let _ = decoded;
        None
    }
    /// Encodes, appending to `out` (which is empty).
    fn encode(&self, bytes: &[u8], out: &mut Vec<u8>, context: &mut Context) -> Result<()>;
    /// Decodes into `out` (which is empty), within `room`.
    fn decode(&self, bytes: &[u8], room: Room, out: &mut Vec<u8>, context: &mut Context) -> Result<()>;
    /// Decodes into a buffer of exactly the decoded length: straight to where the elements go.
    fn decode_into(&self, bytes: &[u8], out: &mut [u8], context: &mut Context) -> Result<()> {
        let mut buffer = context.take();
        self.decode(bytes, Room::Exactly(out.len()), &mut buffer, context)?;
        if buffer.len() != out.len() {
            return Err(CodecFault::corrupt(self.name(), format!("decodes to {} bytes, expected {}", buffer.len(), out.len())));
        }
        out.copy_from_slice(&buffer);
        context.give(buffer);
        Ok(())
    }
    /// Decodes at least the bytes `need` of the result, which is `out` as a whole, to their places in it; the rest of `out` may hold
    /// anything then. `Ok(false)`, and `out` is not touched, where the codec cannot or should not decode a part.
    fn decode_part_into(&self, bytes: &[u8], out: &mut [u8], need: std::ops::Range<usize>, context: &mut Context) -> Result<bool> {
        let _ = (bytes, out, need, context);
        Ok(false)
    }
    /// Where decoding is a part of the input without change (checksums): the range that holds the payload, once checked.
    /// Lets a chain skip a copy.
    fn payload(&self, bytes: &[u8]) -> Option<Result<std::ops::Range<usize>>> {
        let _ = bytes;
        None
    }
}
