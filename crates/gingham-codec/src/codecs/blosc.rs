//! `blosc` (format.md 5.2): chunks of C-Blosc 1, decoded by C-Blosc after every offset and length in them was checked here.
//!
//! ```text
//!   header 16 ‖ start of each block, i32 ‖ blocks;   block = (length i32 ‖ compressed split)+, then unshuffled
//! ```
//!
//! C-Blosc checks most of what a chunk says, but not that splits cover their block (the rest of the block would be whatever
//! its scratch memory held), nor that blocks share no bytes (so that a small chunk is decoded over and over), and its own
//! BloscLZ decoder overflows on a match length of 2³¹.

use std::ffi::CStr;
use std::ops::Range;

use blosc_src as c;
use gingham_core::codec::{BloscCompressor, BloscShuffle};

use super::growth;
use crate::{BytesToBytes, CodecFault, Context, Result, Room};

const NAME: &str = "blosc";

/// Bytes of the header, and the most that a chunk is longer than its content.
const HEADER: usize = 16;
/// The longest content: the chunk's length is an i32.
const MAX_BYTES: usize = i32::MAX as usize - HEADER;
/// The longest block that C-Blosc takes.
const MAX_BLOCK: usize = c::BLOSC_MAX_BLOCKSIZE as usize;
/// A block is split by byte planes only for elements of so many bytes or fewer,
const MAX_SPLITS: usize = 16;
/// and only into planes of so many bytes or more.
const MIN_SPLIT: usize = 128;
/// More bytes of 255 in a row than make a match length of 2³¹ are an attack on BloscLZ.
const MAX_RUN: usize = 8 << 20;

const FLAG_MEMCPYED: u8 = 0x02;
const FLAG_RESERVED: u8 = 0x08;
const FLAG_NO_SPLIT: u8 = 0x10;

/// Compressors by the number in the flags, with the best ratio of each.
const COMPRESSORS: [(&str, u64); 5] = [("blosclz", 255), ("lz4", 255), ("snappy", 64), ("zlib", 1032), ("zstd", 32768)];

/// The codec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blosc {
    cname: BloscCompressor,
    clevel: u8,
    shuffle: BloscShuffle,
    typesize: usize,
    blocksize: usize,
}

impl Blosc {
    /// All parameters matter for encoding only; a chunk says itself how it is decoded. `typesize` is in bytes, above 255 it
    /// counts as 1; `blocksize` is in bytes, 0 leaves it to C-Blosc.
    pub fn new(cname: BloscCompressor, clevel: u8, shuffle: BloscShuffle, typesize: usize, blocksize: usize) -> Self {
        let typesize = if (1..=255).contains(&typesize) { typesize } else { 1 };
        Blosc { cname, clevel: clevel.min(9), shuffle, typesize, blocksize: blocksize.min(MAX_BLOCK) }
    }

    fn cname(&self) -> &'static CStr {
        match self.cname {
            BloscCompressor::BloscLz => c"blosclz",
            BloscCompressor::Lz4 => c"lz4",
            BloscCompressor::Lz4Hc => c"lz4hc",
            BloscCompressor::Snappy => c"snappy",
            BloscCompressor::Zlib => c"zlib",
            BloscCompressor::Zstd => c"zstd",
        }
    }
}

fn corrupt(what: impl Into<String>) -> CodecFault {
    CodecFault::corrupt(NAME, what)
}

/// A little-endian u32 at a place that was checked to exist.
fn word(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]) as usize
}

/// What a chunk says of itself; lengths in bytes.
#[derive(Debug, Clone, Copy)]
struct Header {
    version: u8,
    flags: u8,
    typesize: usize,
    nbytes: usize,
    blocksize: usize,
}

impl Header {
    /// Reads the header and checks each of its members.
    fn read(bytes: &[u8]) -> Result<Header> {
        if bytes.len() < HEADER {
            return Err(corrupt(format!("{} bytes are fewer than the header of {HEADER}", bytes.len())));
        }
        let header =
            Header { version: bytes[0], flags: bytes[2], typesize: bytes[3].into(), nbytes: word(bytes, 4), blocksize: word(bytes, 8) };
        match header.version {
            1 | 2 => {}
            0 => return Err(corrupt("format version 0; versions are 1 and 2")),
            v => return Err(CodecFault::unsupported(NAME, format!("format version {v} is that of Blosc2; read are chunks of Blosc 1"))),
        }
        let cbytes = word(bytes, 12);
        if cbytes != bytes.len() {
            return Err(corrupt(format!("the header says a chunk of {cbytes} bytes, there are {}", bytes.len())));
        }
        if header.nbytes > MAX_BYTES {
            return Err(corrupt(format!("the header says {} decoded bytes, the most are {MAX_BYTES}", header.nbytes)));
        }
        if header.flags & FLAG_RESERVED != 0 {
            return Err(corrupt(format!("flags {:#04x} have a reserved bit set", header.flags)));
        }
        if (header.memcpyed() || header.nbytes == 0) && header.nbytes + HEADER != cbytes {
            return Err(corrupt(format!("{} bytes as they are do not make a chunk of {cbytes}", header.nbytes)));
        }
        if header.nbytes > 0 && !header.memcpyed() {
            header.check_blocks(bytes)?;
        }
        Ok(header)
    }

    fn memcpyed(self) -> bool {
        self.flags & FLAG_MEMCPYED != 0
    }

    fn compressor(self) -> Result<(&'static str, u64)> {
        let number = self.flags >> 5;
        COMPRESSORS.get(usize::from(number)).copied().ok_or_else(|| corrupt(format!("compressor {number} does not exist")))
    }

    /// Into how many splits a block of so many bytes was cut.
    fn splits(self, block: usize) -> usize {
        let split =
            self.flags & FLAG_NO_SPLIT == 0 && self.typesize <= MAX_SPLITS && block / self.typesize >= MIN_SPLIT && block == self.blocksize;
        if split { self.typesize } else { 1 }
    }

    /// Checks that every block and every split lies in the chunk and that they cover what they should, once.
    fn check_blocks(self, bytes: &[u8]) -> Result<()> {
        let (compressor, ratio) = self.compressor()?;
        if self.typesize == 0 {
            return Err(corrupt("elements of no bytes"));
        }
        if self.blocksize == 0 || self.blocksize > self.nbytes.min(MAX_BLOCK) {
            return Err(corrupt(format!("blocks of {} bytes in a content of {}", self.blocksize, self.nbytes)));
        }
        growth::plausible(NAME, self.nbytes as u64, bytes.len(), ratio)?;
        let blocks = self.nbytes.div_ceil(self.blocksize);
        let table = HEADER + 4 * blocks;
        if table > bytes.len() {
            return Err(corrupt(format!("the starts of {blocks} blocks do not fit into a chunk of {} bytes", bytes.len())));
        }
        let mut total = table;
        for block in 0..blocks {
            let start = word(bytes, HEADER + 4 * block);
            let len = self.blocksize.min(self.nbytes - block * self.blocksize);
            if start < table {
                return Err(corrupt(format!("block {block} starts at byte {start}, before the end of the table at {table}")));
            }
            total += self.check_block(bytes, compressor, block, start, len)?;
            if total > bytes.len() {
                return Err(corrupt(format!("the first {} blocks are longer than the chunk of {} bytes", block + 1, bytes.len())));
            }
        }
        Ok(())
    }

    /// Checks the splits of one block of `len` decoded bytes; gives its stored length.
    fn check_block(self, bytes: &[u8], compressor: &str, block: usize, start: usize, len: usize) -> Result<usize> {
        let splits = self.splits(len);
        if !len.is_multiple_of(splits) {
            return Err(corrupt(format!("block {block} of {len} bytes in {splits} splits")));
        }
        let mut at = start;
        for split in 0..splits {
            let outside = || corrupt(format!("split {split} of block {block} at byte {at} does not end within {} bytes", bytes.len()));
            if at.saturating_add(4) > bytes.len() {
                return Err(outside());
            }
            let stored = word(bytes, at);
            let Some(data) = bytes[at + 4..].get(..stored) else {
                return Err(outside());
            };
            if compressor == "blosclz" && has_long_run(data) {
                return Err(corrupt(format!("split {split} of block {block} holds a match longer than any content")));
            }
            at += 4 + stored;
        }
        Ok(at - start)
    }
}

/// Whether 255 stands more than [`MAX_RUN`] times in a row.
fn has_long_run(data: &[u8]) -> bool {
    data.len() > MAX_RUN && data.split(|&b| b != 255).any(|run| run.len() > MAX_RUN)
}

/// Decodes a compressed chunk that [`Header::read`] has checked, to `nbytes` bytes at `to`.
///
/// # Safety
/// `to` must be valid for writes of `header.nbytes` bytes.
#[allow(unsafe_code)]
unsafe fn decompress(header: Header, bytes: &[u8], to: *mut u8) -> Result<()> {
    // SAFETY: C-Blosc reads the chunk within the length that its header says, which is that of `bytes`; it writes at most
    // `nbytes` bytes, for which the caller vouches. The context is its own and on the stack; one thread starts no others.
    let got = unsafe { c::blosc_decompress_ctx(bytes.as_ptr().cast(), to.cast(), header.nbytes, 1) };
    if usize::try_from(got) != Ok(header.nbytes) {
        let (compressor, _) = header.compressor()?;
        return Err(corrupt(format!("the {compressor} data of {} bytes do not decode to {}", bytes.len(), header.nbytes)));
    }
    Ok(())
}

/// A chunk of version 1, from before Blosc 1.0, with the version that C-Blosc asks for; the layout is the same.
fn as_version_2<'a>(header: Header, bytes: &'a [u8], buffer: &'a mut Vec<u8>) -> &'a [u8] {
    if header.version == 2 {
        return bytes;
    }
    buffer.extend_from_slice(bytes);
    buffer[0] = 2;
    buffer
}

impl BytesToBytes for Blosc {
    fn name(&self) -> &'static str {
        NAME
    }

    #[allow(unsafe_code)]
    fn encode(&self, bytes: &[u8], out: &mut Vec<u8>, _: &mut Context) -> Result<()> {
        if bytes.len() > MAX_BYTES {
            let what = format!("a chunk of {} bytes is longer than Blosc's limit of {MAX_BYTES}: split the chunk", bytes.len());
            return Err(CodecFault::unsupported(NAME, what));
        }
        let shuffle = match self.shuffle {
            BloscShuffle::None => 0,
            BloscShuffle::Byte => 1,
            BloscShuffle::Bit => 2,
        };
        let bound = bytes.len() + HEADER;
        growth::reserve(NAME, out, bound)?;
        let spare = out.spare_capacity_mut();
        // SAFETY: `bytes` is valid for reads of its length, `spare` for writes of `bound` bytes; the name ends with a NUL.
        let got = unsafe {
            c::blosc_compress_ctx(
                self.clevel.into(),
                shuffle,
                self.typesize,
                bytes.len(),
                bytes.as_ptr().cast(),
                spare.as_mut_ptr().cast(),
                bound,
                self.cname().as_ptr(),
                self.blocksize,
                1,
            )
        };
        let len = usize::try_from(got).unwrap_or(0);
        if !(HEADER..=bound).contains(&len) {
            return Err(CodecFault::unsupported(NAME, format!("C-Blosc cannot encode {} bytes: code {got}", bytes.len())));
        }
        // SAFETY: C-Blosc has written `len` ≤ `bound` bytes of the spare capacity.
        unsafe { out.set_len(len) };
        Ok(())
    }

    #[allow(unsafe_code)]
    fn decode(&self, bytes: &[u8], room: Room, out: &mut Vec<u8>, context: &mut Context) -> Result<()> {
        let header = Header::read(bytes)?;
        growth::check(NAME, room, header.nbytes)?;
        growth::reserve(NAME, out, header.nbytes)?;
        if header.memcpyed() || header.nbytes == 0 {
            out.extend_from_slice(&bytes[HEADER..HEADER + header.nbytes]);
            return Ok(());
        }
        let mut buffer = context.take();
        let to = out.spare_capacity_mut().as_mut_ptr().cast();
        // SAFETY: `nbytes` bytes were reserved; all of them are written where `decompress` succeeds.
        let result = unsafe { decompress(header, as_version_2(header, bytes, &mut buffer), to).map(|()| out.set_len(header.nbytes)) };
        context.give(buffer);
        result
    }

    #[allow(unsafe_code)]
    fn decode_into(&self, bytes: &[u8], out: &mut [u8], context: &mut Context) -> Result<()> {
        let header = Header::read(bytes)?;
        growth::check(NAME, Room::Exactly(out.len()), header.nbytes)?;
        if header.memcpyed() || header.nbytes == 0 {
            out.copy_from_slice(&bytes[HEADER..HEADER + header.nbytes]);
            return Ok(());
        }
        let mut buffer = context.take();
        // SAFETY: `out` is `nbytes` long.
        let result = unsafe { decompress(header, as_version_2(header, bytes, &mut buffer), out.as_mut_ptr()) };
        context.give(buffer);
        result
    }

    /// Decodes the blocks that hold what is needed.
    #[allow(unsafe_code)]
    fn decode_part_into(&self, bytes: &[u8], out: &mut [u8], need: Range<usize>, _: &mut Context) -> Result<bool> {
        let header = Header::read(bytes)?;
        growth::check(NAME, Room::Exactly(out.len()), header.nbytes)?;
        let blocks = |range: &Range<usize>| range.end.div_ceil(header.blocksize) - range.start / header.blocksize;
        if header.version != 2 || header.memcpyed() || header.nbytes == 0 || need.end > out.len() {
            return Ok(false);
        }
        // A block's items go through a buffer of their own: not worth it for all of them.
        if need.is_empty() || blocks(&need) * 4 > blocks(&(0..header.nbytes)) * 3 {
            return Ok(false);
        }
        let (first, last) = (need.start / header.typesize, need.end.div_ceil(header.typesize).min(header.nbytes / header.typesize));
        if last * header.typesize < need.end {
            return Ok(false);
        }
        let place = &mut out[first * header.typesize..last * header.typesize];
        // SAFETY: the chunk was checked as for `decompress`; as many items are written as `place` is long.
        let got = unsafe {
            let (start, count) = (first as std::ffi::c_int, (last - first) as std::ffi::c_int);
            c::blosc_getitem(bytes.as_ptr().cast(), start, count, place.as_mut_ptr().cast())
        };
        if usize::try_from(got) != Ok(place.len()) {
            let (compressor, _) = header.compressor()?;
            return Err(corrupt(format!("the {compressor} data of {} bytes do not decode", bytes.len())));
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::FaultKind;

    const ALL: [BloscCompressor; 6] = [
        BloscCompressor::BloscLz,
        BloscCompressor::Lz4,
        BloscCompressor::Lz4Hc,
        BloscCompressor::Snappy,
        BloscCompressor::Zlib,
        BloscCompressor::Zstd,
    ];

    fn any() -> Blosc {
        Blosc::new(BloscCompressor::Lz4, 5, BloscShuffle::Byte, 4, 0)
    }

    fn encode(codec: &Blosc, plain: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        codec.encode(plain, &mut out, &mut Context::default()).unwrap();
        out
    }

    fn decode(stored: &[u8], len: usize) -> Result<Vec<u8>> {
        let mut out = vec![0; len];
        any().decode_into(stored, &mut out, &mut Context::default())?;
        Ok(out)
    }

    fn rising(len: usize) -> Vec<u8> {
        (0..len as u32 / 4).flat_map(|i| (i / 3).to_le_bytes()).collect()
    }

    fn set(bytes: &mut [u8], at: usize, value: u32) {
        bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }

    #[test]
    fn vectors() {
        let empty = [2, 1, 0x33, 1, 0, 0, 0, 0, 1, 0, 0, 0, 16, 0, 0, 0];
        assert_eq!(encode(&Blosc::new(BloscCompressor::Lz4, 5, BloscShuffle::Byte, 1, 0), &[]), empty);
        assert!(decode(&empty, 0).unwrap().is_empty());
        // Shuffled according to its flags, but kept as it is.
        let kept = [2, 1, 0x36, 1, 8, 0, 0, 0, 8, 0, 0, 0, 24, 0, 0, 0, 1, 4, 0, 0, 0, 0, 0, 0];
        assert_eq!(decode(&kept, 8).unwrap(), [1, 4, 0, 0, 0, 0, 0, 0]);
        assert_eq!(encode(&Blosc::new(BloscCompressor::Lz4, 5, BloscShuffle::Bit, 1, 0), &[1, 4, 0, 0, 0, 0, 0, 0]), kept);
    }

    #[test]
    fn every_compressor_shuffle_level_and_size() {
        let plain = rising(70_003);
        for cname in ALL {
            for shuffle in [BloscShuffle::None, BloscShuffle::Byte, BloscShuffle::Bit] {
                for (clevel, typesize, blocksize) in [
                    (0, 4, 0),
                    (1, 1, 256),
                    (5, 4, 0),
                    (5, 3, 1000),
                    (9, 8, 4096),
                    (5, 16, 0),
                    (5, 255, 0),
                    (5, 256, 0),
                    (200, 0, usize::MAX),
                ] {
                    let stored = encode(&Blosc::new(cname, clevel, shuffle, typesize, blocksize), &plain);
                    assert!(decode(&stored, plain.len()).unwrap() == plain, "{cname:?} {shuffle:?} {clevel} {typesize} {blocksize}");
                }
            }
        }
    }

    #[test]
    fn version_1_is_read_and_blosc2_refused_by_name() {
        let plain = rising(10_000);
        let mut stored = encode(&Blosc::new(BloscCompressor::BloscLz, 5, BloscShuffle::Byte, 4, 0), &plain);
        stored[0] = 1;
        assert!(decode(&stored, plain.len()).unwrap() == plain);
        let mut out = Vec::new();
        any().decode(&stored, Room::AtMost(usize::MAX), &mut out, &mut Context::default()).unwrap();
        assert!(out == plain);
        for version in [0, 3, 5, 255] {
            stored[0] = version;
            let fault = decode(&stored, plain.len()).unwrap_err();
            assert_eq!(fault.kind == FaultKind::Unsupported, version > 2);
            assert_eq!(fault.what.contains("Blosc2"), version > 2, "{fault}");
        }
    }

    #[test]
    fn a_header_that_lies_is_an_error() {
        let plain = rising(300_000);
        let good = encode(&Blosc::new(BloscCompressor::Zstd, 5, BloscShuffle::Byte, 4, 65_536), &plain);
        let len = plain.len();
        let (nbytes, blocksize, cbytes, first) = (4, 8, 12, 16);
        assert!(word(&good, first) > 0 && len > 2 * word(&good, blocksize));
        for (at, value) in [
            (nbytes, 0),
            (nbytes, len as u32 + 1),
            (nbytes, u32::MAX),
            (nbytes, i32::MAX as u32 - 16),
            (blocksize, 0),
            (blocksize, 1),
            (blocksize, len as u32 + 1),
            (blocksize, u32::MAX),
            (cbytes, 0),
            (cbytes, good.len() as u32 - 1),
            (cbytes, u32::MAX),
            (first, 0),
            (first, 16),
            (first, good.len() as u32 - 3),
            (first, u32::MAX),
            (first, i32::MAX as u32),
        ] {
            let mut bad = good.clone();
            set(&mut bad, at, value);
            assert!(decode(&bad, len).is_err(), "{at} {value}");
            let mut out = Vec::new();
            assert!(any().decode(&bad, Room::AtMost(usize::MAX), &mut out, &mut Context::default()).is_err(), "{at} {value}");
            assert!(out.capacity() <= len + 1, "{at} {value}");
        }
        for (at, value) in [(2, 0x08), (2, 0xa0), (2, 0x02), (3, 0)] {
            let mut bad = good.clone();
            bad[at] = value;
            assert!(decode(&bad, len).is_err(), "{at} {value}");
        }
        let split = word(&good, first);
        for value in [u32::MAX, good.len() as u32, i32::MAX as u32, 0] {
            let mut bad = good.clone();
            set(&mut bad, split, value);
            assert!(decode(&bad, len).is_err(), "split {value}");
        }
    }

    #[test]
    fn blocks_that_share_bytes_are_refused() {
        let plain = vec![7; 100_000];
        let mut stored = encode(&Blosc::new(BloscCompressor::Zstd, 5, BloscShuffle::None, 1, 1024), &plain);
        let first = word(&stored, 16) as u32;
        let longest = (0..90).map(|b| word(&stored, word(&stored, 16 + 4 * b))).max().unwrap();
        assert!(longest > 0);
        // The first block grows over the others; all the others are that block.
        let all = (stored.len() as u32) - first - 4;
        set(&mut stored, first as usize, all);
        for block in 1..90 {
            set(&mut stored, 16 + 4 * block, first);
        }
        let fault = decode(&stored, plain.len()).unwrap_err();
        assert!(fault.what.contains("longer than the chunk"), "{fault}");
    }

    #[test]
    fn splits_must_cover_their_block() {
        // 16 elements' bytes do not divide a block of 4100; C-Blosc would leave four bytes as they were.
        let plain = rising(8200);
        let mut stored = encode(&Blosc::new(BloscCompressor::BloscLz, 5, BloscShuffle::Byte, 4, 4100), &plain);
        assert_eq!(stored[2] & FLAG_NO_SPLIT, 0);
        stored[3] = 16;
        assert!(decode(&stored, plain.len()).is_err());
    }

    #[test]
    fn a_match_longer_than_any_content_is_refused() {
        assert!(!has_long_run(&[255; 100]));
        let mut run = vec![255; MAX_RUN + 1];
        assert!(has_long_run(&run));
        run[MAX_RUN / 2] = 0;
        assert!(!has_long_run(&run));
    }

    #[test]
    fn a_chunk_beyond_the_limit_is_not_encoded() {
        let long = vec![0; MAX_BYTES + 1];
        let fault = any().encode(&long, &mut Vec::new(), &mut Context::default()).unwrap_err();
        assert!(fault.what.contains("split the chunk"), "{fault}");
    }

    #[test]
    fn flipped_bytes_never_do_harm() {
        let plain = rising(20_000);
        let mut state = 1u64;
        for cname in ALL {
            for (shuffle, typesize, blocksize) in [(BloscShuffle::Byte, 4, 2048), (BloscShuffle::Bit, 2, 4096), (BloscShuffle::None, 1, 0)]
            {
                let good = encode(&Blosc::new(cname, 5, shuffle, typesize, blocksize), &plain);
                for _ in 0..300 {
                    let mut bad = good.clone();
                    for _ in 0..1 + state % 3 {
                        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                        // Past the lengths of the header, which are compared with the truth before anything else.
                        let at = 16 + (state >> 33) as usize % (bad.len() - 16);
                        bad[at] ^= (state >> 24) as u8 | 1;
                    }
                    if let Ok(out) = decode(&bad, plain.len()) {
                        assert_eq!(out.len(), plain.len());
                    }
                }
            }
        }
    }

    #[test]
    fn parts() {
        let plain: Vec<u8> = (0..150_000u32).flat_map(|i| (i / 3).to_le_bytes()).collect();
        for cname in ALL {
            for (shuffle, typesize) in [(BloscShuffle::Byte, 4), (BloscShuffle::Bit, 4), (BloscShuffle::None, 1), (BloscShuffle::Byte, 8)] {
                let stored = encode(&Blosc::new(cname, 5, shuffle, typesize, 16 << 10), &plain);
                let mut decoded = 0;
                for need in [0..1, 3..70_001, 65_535..65_537, 300_000..300_004, 599_999..600_000, 0..600_000] {
                    let mut out = vec![0xaa; plain.len()];
                    if any().decode_part_into(&stored, &mut out, need.clone(), &mut Context::default()).unwrap() {
                        assert_eq!(out[need.clone()], plain[need.clone()], "{cname:?} {shuffle:?} {need:?}");
                        decoded += 1;
                    }
                }
                assert!(decoded >= 3, "{cname:?} {shuffle:?} {typesize}: {decoded}");
                let short = any().decode_part_into(&stored[..stored.len() - 1], &mut vec![0; plain.len()], 0..1, &mut Context::default());
                assert!(short.is_err());
            }
        }
    }
}
