//! `numcodecs.zlib`, v2 `zlib` (RFC 1950; format.md 5.5): one stream, decoded by libdeflate.

use super::deflate::{self, Wrapper};
use crate::{BytesToBytes, Context, Result, Room};

const NAME: &str = "numcodecs.zlib";

/// The codec; `level` is 0 to 9.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zlib {
    level: i32,
}

impl Zlib {
    /// A level of -1 is 6; levels above 9 are 9.
    pub fn new(level: i32) -> Self {
        Zlib { level: deflate::level(level) }
    }
}

impl BytesToBytes for Zlib {
    fn name(&self) -> &'static str {
        NAME
    }
    fn encode(&self, bytes: &[u8], out: &mut Vec<u8>, context: &mut Context) -> Result<()> {
        deflate::deflate(NAME, Wrapper::Zlib, self.level, bytes, out, context)
    }
    fn decode(&self, bytes: &[u8], room: Room, out: &mut Vec<u8>, context: &mut Context) -> Result<()> {
        deflate::inflate(NAME, Wrapper::Zlib, bytes, room, out, context)
    }
    fn decode_into(&self, bytes: &[u8], out: &mut [u8], context: &mut Context) -> Result<()> {
        deflate::inflate_into(NAME, Wrapper::Zlib, bytes, out, context)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::codecs::checksum::tests::X;

    const STORED: &[u8] = &[0x78, 0x01, 0x63, 0x64, 0x60, 0x62, 0x60, 0x66, 0x60, 0x61, 0x60, 0x65, 0, 0, 0, 0x50, 0, 0x10];

    #[test]
    fn vectors() {
        let mut context = Context::default();
        let mut out = Vec::new();
        Zlib::new(1).decode(STORED, Room::Exactly(10), &mut out, &mut context).unwrap();
        assert_eq!(out, X);
        out.clear();
        Zlib::new(1).decode(&[0x78, 1, 3, 0, 0, 0, 0, 1], Room::AtMost(9), &mut out, &mut context).unwrap();
        assert!(out.is_empty());
    }

    #[test]
    fn only_zeros_may_follow() {
        let mut context = Context::default();
        let mut out = [0; 10];
        let padded = [STORED, &[0, 0]].concat();
        Zlib::new(1).decode_into(&padded, &mut out, &mut context).unwrap();
        assert_eq!(out, X);
        let twice = [STORED, STORED].concat();
        assert!(Zlib::new(1).decode_into(&twice, &mut out, &mut context).is_err());
        assert!(Zlib::new(1).decode(&twice, Room::AtMost(99), &mut Vec::new(), &mut context).is_err());
    }
}
