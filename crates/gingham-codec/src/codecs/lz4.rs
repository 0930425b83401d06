//! `numcodecs.lz4`, v2 `lz4` (format.md 2.5): the decoded length as u32 LE, then one LZ4 block (not the frame format).

use super::growth;
use crate::{BytesToBytes, CodecFault, Context, Result, Room};

const NAME: &str = "numcodecs.lz4";

/// Bytes of the length before the block.
const HEADER: usize = 4;
/// The best ratio: every byte that prolongs a match stands for 255.
const BEST_RATIO: u64 = 255;
/// The longest input of the C library, which every other reader uses.
const MAX_INPUT: usize = 0x7e00_0000;

/// The codec. The C library's `acceleration` trades ratio for speed and leaves no trace in the bytes; this encoder has one
/// speed, so there is nothing to keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lz4;

/// Splits off the header and checks what it claims.
fn open(bytes: &[u8], room: Room) -> Result<(usize, &[u8])> {
    let Some((header, block)) = bytes.split_first_chunk::<HEADER>() else {
        return Err(CodecFault::corrupt(NAME, format!("{} bytes are too few for the length of {HEADER} bytes", bytes.len())));
    };
    let claim = u32::from_le_bytes(*header);
    growth::check(NAME, room, claim as usize)?;
    growth::plausible(NAME, claim.into(), block.len(), BEST_RATIO)?;
    Ok((claim as usize, block))
}

fn unpack(block: &[u8], out: &mut [u8]) -> Result<()> {
    let written = lz4_flex::block::decompress_into(block, out)
        .map_err(|e| CodecFault::corrupt(NAME, format!("the block of {} bytes does not decode: {e}", block.len())))?;
    growth::check(NAME, Room::Exactly(out.len()), written)
}

impl BytesToBytes for Lz4 {
    fn name(&self) -> &'static str {
        NAME
    }

    fn encode(&self, bytes: &[u8], out: &mut Vec<u8>, _: &mut Context) -> Result<()> {
        if bytes.len() > MAX_INPUT {
            let what = format!("a chunk of {} bytes is longer than LZ4's limit of {MAX_INPUT}: split the chunk", bytes.len());
            return Err(CodecFault::unsupported(NAME, what));
        }
        let bound = HEADER + lz4_flex::block::get_maximum_output_size(bytes.len());
        growth::reserve(NAME, out, bound)?;
        out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        out.resize(bound, 0);
        let written = lz4_flex::block::compress_into(bytes, &mut out[HEADER..])
            .map_err(|e| CodecFault::unsupported(NAME, format!("{} bytes do not compress: {e}", bytes.len())))?;
        out.truncate(HEADER + written);
        Ok(())
    }

    fn decode(&self, bytes: &[u8], room: Room, out: &mut Vec<u8>, _: &mut Context) -> Result<()> {
        let (len, block) = open(bytes, room)?;
        growth::reserve(NAME, out, len)?;
        out.resize(len, 0);
        unpack(block, out)
    }

    fn decode_into(&self, bytes: &[u8], out: &mut [u8], _: &mut Context) -> Result<()> {
        let (_, block) = open(bytes, Room::Exactly(out.len()))?;
        unpack(block, out)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::codecs::checksum::tests::X;

    #[test]
    fn vector() {
        let stored = [&[0x0a, 0, 0, 0, 0xa0][..], X].concat();
        let mut out = Vec::new();
        Lz4.decode(&stored, Room::Exactly(10), &mut out, &mut Context::default()).unwrap();
        assert_eq!(out, X);
        let mut encoded = Vec::new();
        Lz4.encode(X, &mut encoded, &mut Context::default()).unwrap();
        assert_eq!(encoded, stored);
    }

    #[test]
    fn the_length_in_front_is_not_believed() {
        let mut out = Vec::new();
        let stored = [&[0xff, 0xff, 0xff, 0x7f, 0xa0][..], X].concat();
        assert!(Lz4.decode(&stored, Room::AtMost(usize::MAX), &mut out, &mut Context::default()).is_err());
        assert_eq!(out.capacity(), 0);
    }
}
