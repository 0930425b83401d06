//! What all checksums share: four bytes, little-endian, before or behind a payload that is stored as it is.

use std::ops::Range;

use gingham_core::codec::Location;

use crate::{BytesToBytes, CodecFault, Context, Result, Room};

/// A checksum of 32 bits. Whatever implements it is a bytes→bytes codec.
pub trait Checksum: Send + Sync + std::fmt::Debug {
    /// The codec's v3 name.
    const NAME: &'static str;
    /// Where the checksum stands.
    fn location(&self) -> Location;
    /// The checksum of a payload.
    fn sum(&self, payload: &[u8]) -> u32;
    /// Whether such a payload may be written.
    fn check_payload(&self, payload: &[u8]) -> Result<()> {
        let _ = payload;
        Ok(())
    }
}

/// Bytes of a stored checksum.
const LEN: usize = 4;

/// Verifies and gives the range of the payload.
fn verify<C: Checksum>(codec: &C, bytes: &[u8]) -> Result<Range<usize>> {
    let short = || CodecFault::corrupt(C::NAME, format!("{} bytes are too few for a checksum of {LEN}", bytes.len()));
    let (stored, range) = match codec.location() {
        Location::Start => (bytes.first_chunk::<LEN>().ok_or_else(short)?, LEN..bytes.len()),
        Location::End => (bytes.last_chunk::<LEN>().ok_or_else(short)?, 0..bytes.len() - LEN),
    };
    let stored = u32::from_le_bytes(*stored);
    let actual = codec.sum(&bytes[range.clone()]);
    if stored != actual {
        let len = range.len();
        let what = format!("the checksum is stored as {stored:#010x}, but that of the {len} bytes that are there is {actual:#010x}");
        return Err(CodecFault::corrupt(C::NAME, what));
    }
    Ok(range)
}

impl<C: Checksum> BytesToBytes for C {
    fn name(&self) -> &'static str {
        C::NAME
    }
    fn encoded_len(&self, decoded: usize) -> Option<usize> {
        decoded.checked_add(LEN)
    }
    fn encode(&self, bytes: &[u8], out: &mut Vec<u8>, _: &mut Context) -> Result<()> {
        self.check_payload(bytes)?;
        super::growth::reserve(C::NAME, out, bytes.len().saturating_add(LEN))?;
        let sum = self.sum(bytes).to_le_bytes();
        match self.location() {
            Location::Start => {
                out.extend_from_slice(&sum);
                out.extend_from_slice(bytes);
            }
            Location::End => {
                out.extend_from_slice(bytes);
                out.extend_from_slice(&sum);
            }
        }
        Ok(())
    }
    fn decode(&self, bytes: &[u8], room: Room, out: &mut Vec<u8>, _: &mut Context) -> Result<()> {
        let range = verify(self, bytes)?;
        super::growth::check(C::NAME, room, range.len())?;
        super::growth::reserve(C::NAME, out, range.len())?;
        out.extend_from_slice(&bytes[range]);
        Ok(())
    }
    fn decode_into(&self, bytes: &[u8], out: &mut [u8], _: &mut Context) -> Result<()> {
        let range = verify(self, bytes)?;
        super::growth::check(C::NAME, Room::Exactly(out.len()), range.len())?;
        out.copy_from_slice(&bytes[range]);
        Ok(())
    }
    fn payload(&self, bytes: &[u8]) -> Option<Result<Range<usize>>> {
        Some(verify(self, bytes))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::codecs::{adler32::Adler32, crc32::Crc32, crc32c::Crc32c, fletcher32::Fletcher32, jenkins_lookup3::JenkinsLookup3};

    /// uint16 `[1, 2, 3, 4, 5]`, the vector of format.md 5.
    pub const X: &[u8] = &[1, 0, 2, 0, 3, 0, 4, 0, 5, 0];
    /// "123456789", the usual one.
    pub const D9: &[u8] = b"123456789";

    pub fn all() -> Vec<Box<dyn BytesToBytes>> {
        let mut all: Vec<Box<dyn BytesToBytes>> = vec![
            Box::new(Fletcher32),
            Box::new(JenkinsLookup3::new(0, None)),
            Box::new(JenkinsLookup3::new(7, Some(b"a prefix of 24 bytes....".to_vec()))),
        ];
        for location in [Location::Start, Location::End] {
            all.push(Box::new(Crc32c::new(location)));
            all.push(Box::new(Crc32::new(location)));
            all.push(Box::new(Adler32::new(location)));
        }
        all
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_noticed() {
        let mut context = Context::default();
        let payload: Vec<u8> = (0..101u8).map(|i| i.wrapping_mul(37)).collect();
        for codec in all() {
            let mut stored = Vec::new();
            codec.encode(&payload, &mut stored, &mut context).unwrap();
            assert_eq!(Some(stored.len()), codec.encoded_len(payload.len()));
            let range = codec.payload(&stored).unwrap().unwrap();
            assert_eq!(&stored[range], payload);
            for bit in 0..stored.len() * 8 {
                let mut broken = stored.clone();
                broken[bit / 8] ^= 1 << (bit % 8);
                assert!(codec.payload(&broken).unwrap().is_err(), "{codec:?} bit {bit}");
            }
            for len in 0..stored.len() {
                assert!(codec.payload(&stored[..len]).unwrap().is_err(), "{codec:?} {len}");
            }
        }
    }

    #[test]
    fn a_mismatch_says_both_values() {
        let fault = Crc32c::new(Location::End).payload(b"123456789\x00\x00\x00\x00").unwrap().unwrap_err();
        assert!(fault.what.contains("0x00000000") && fault.what.contains("0xe3069283"), "{fault}");
    }

    #[test]
    fn the_length_is_held_to_the_room() {
        let mut context = Context::default();
        for codec in all() {
            let mut stored = Vec::new();
            codec.encode(D9, &mut stored, &mut context).unwrap();
            assert!(codec.decode(&stored, Room::Exactly(9), &mut Vec::new(), &mut context).is_ok());
            assert!(codec.decode(&stored, Room::Exactly(8), &mut Vec::new(), &mut context).is_err());
            assert!(codec.decode(&stored, Room::AtMost(8), &mut Vec::new(), &mut context).is_err());
            assert!(codec.decode_into(&stored, &mut [0; 10], &mut context).is_err());
        }
    }
}
