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
