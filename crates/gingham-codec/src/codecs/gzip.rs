//! `gzip` (RFC 1952; format.md 5.5): any number of members, decoded by libdeflate.

use super::deflate::{self, Wrapper};
use crate::{BytesToBytes, Context, Result, Room};

const NAME: &str = "gzip";

/// The codec; `level` is 0 to 9.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gzip {
    level: i32,
}

impl Gzip {
    /// A level of -1 is 6; levels above 9 are 9.
    pub fn new(level: i32) -> Self {
        Gzip { level: deflate::level(level) }
    }
}

impl BytesToBytes for Gzip {
    fn name(&self) -> &'static str {
        NAME
    }
    fn encode(&self, bytes: &[u8], out: &mut Vec<u8>, context: &mut Context) -> Result<()> {
        deflate::deflate(NAME, Wrapper::Gzip, self.level, bytes, out, context)
    }
    fn decode(&self, bytes: &[u8], room: Room, out: &mut Vec<u8>, context: &mut Context) -> Result<()> {
        deflate::inflate(NAME, Wrapper::Gzip, bytes, room, out, context)
    }
    fn decode_into(&self, bytes: &[u8], out: &mut [u8], context: &mut Context) -> Result<()> {
        deflate::inflate_into(NAME, Wrapper::Gzip, bytes, out, context)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn encode(level: i32, plain: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        Gzip::new(level).encode(plain, &mut out, &mut Context::default()).unwrap();
        out
    }

    fn decode(stored: &[u8], room: Room) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        Gzip::new(1).decode(stored, room, &mut out, &mut Context::default())?;
        Ok(out)
    }

    #[test]
    fn members_in_a_row_and_zeros_behind_them() {
        let long: Vec<u8> = (0..200_000u32).map(|i| (i % 253) as u8).collect();
        let mut stored = [encode(1, b"one"), encode(9, &[]), encode(6, &long), encode(0, b"four")].concat();
        let due = [b"one", &long[..], b"four"].concat();
        for padding in [0, 1, 512] {
            stored.extend(vec![0; padding]);
            for room in [Room::Exactly(due.len()), Room::AtMost(due.len()), Room::AtMost(usize::MAX)] {
                assert!(decode(&stored, room).unwrap() == due, "{room:?}");
            }
            let mut out = vec![0; due.len()];
            Gzip::new(1).decode_into(&stored, &mut out, &mut Context::default()).unwrap();
            assert!(out == due);
            assert!(decode(&stored, Room::AtMost(due.len() - 1)).is_err());
            assert!(decode(&stored, Room::Exactly(due.len() + 1)).is_err());
            assert!(Gzip::new(1).decode_into(&stored, &mut out[1..], &mut Context::default()).is_err());
        }
        stored.push(1);
        let fault = decode(&stored, Room::Exactly(due.len())).unwrap_err();
        assert!(fault.what.contains("not zero"), "{fault}");
    }

    #[test]
    fn a_wrong_last_member_length_is_only_a_hint() {
        // The last member is short, so that the first guess of the whole is far too small; then one far too large.
        let zeros = vec![0; 100_000];
        let stored = [encode(9, &zeros), encode(9, b"x")].concat();
        assert_eq!(decode(&stored, Room::AtMost(1 << 30)).unwrap().len(), 100_001);
        let mut claim = encode(9, b"x");
        let len = claim.len();
        claim[len - 4..].copy_from_slice(&u32::MAX.to_le_bytes());
        let mut out = Vec::new();
        assert!(Gzip::new(1).decode(&claim, Room::AtMost(usize::MAX), &mut out, &mut Context::default()).is_err());
        assert!(out.capacity() <= 1032 * len);
    }

    #[test]
    fn a_length_that_so_few_bytes_cannot_hold_allocates_nothing() {
        let mut out = Vec::new();
        let stored = encode(9, b"x");
        assert!(Gzip::new(1).decode(&stored, Room::Exactly(1 << 40), &mut out, &mut Context::default()).is_err());
        assert_eq!(out.capacity(), 0);
    }

    #[test]
    fn the_level_is_held_to_those_that_exist() {
        assert_eq!(Gzip::new(-1), Gzip::new(6));
        assert_eq!(Gzip::new(12), Gzip::new(9));
        let zeros = vec![0; 1000];
        assert!(encode(0, &zeros).len() > 1000);
        assert!(encode(1, &zeros).len() < 100);
    }

    #[test]
    fn optional_header_members_are_read() {
        // Flags: extra field, name, comment; then the body of a plain file.
        let plain = encode(6, b"abc");
        let mut stored = vec![0x1f, 0x8b, 8, 4 | 8 | 16, 0, 0, 0, 0, 0, 255];
        stored.extend([2, 0, 9, 9]);
        stored.extend(b"name\0comment\0");
        stored.extend(&plain[10..]);
        assert_eq!(decode(&stored, Room::Exactly(3)).unwrap(), b"abc");
    }
}
