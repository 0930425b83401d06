//! `numcodecs.bz2`, v2 `bz2`: bzip2 streams, one or several in a row.

use bzip2::Compression;
use bzip2::{Action, Compress, Decompress, Error, Status};

use super::growth::{self, Step};
use crate::{BytesToBytes, CodecFault, Context, Result, Room};

const NAME: &str = "numcodecs.bz2";

/// The codec; `level` is 1 to 9, the block size in units of 100 kB.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bz2 {
    level: u32,
}

impl Bz2 {
    /// Levels outside 1 to 9 are the nearest one.
    pub fn new(level: u32) -> Self {
        Bz2 { level: level.clamp(1, 9) }
    }
}

/// A reader of streams in a row.
struct Streams<'a> {
    all: usize,
    rest: &'a [u8],
    stream: Decompress,
}

impl<'a> Streams<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Streams { all: bytes.len(), rest: bytes, stream: Decompress::new(false) }
    }

    fn fault(&self, what: &str) -> CodecFault {
        CodecFault::corrupt(NAME, format!("{what} at byte {} of {}", self.all - self.rest.len(), self.all))
    }

    /// Decodes on, until at least a byte is written or all streams have ended.
    fn step(&mut self, out: &mut [u8]) -> Result<Step> {
        loop {
            let (read, wrote) = (self.stream.total_in(), self.stream.total_out());
            let status = self.stream.decompress(self.rest, out).map_err(|e| match e {
                Error::DataMagic => self.fault("no bzip2 stream"),
                _ => self.fault("broken data"),
            })?;
            let used = (self.stream.total_in() - read) as usize;
            let written = (self.stream.total_out() - wrote) as usize;
            self.rest = &self.rest[used..];
            match status {
                Status::StreamEnd if growth::only_zeros(self.rest) => return Ok(Step { written, done: true }),
                Status::StreamEnd => self.stream = Decompress::new(false),
                Status::MemNeeded => return Err(CodecFault::unsupported(NAME, "cannot allocate a decompressor")),
                _ if used == 0 && written == 0 => return Err(self.fault("the stream is cut short")),
                _ => {}
            }
            if written > 0 {
                return Ok(Step { written, done: false });
            }
        }
    }
}

impl BytesToBytes for Bz2 {
    fn name(&self) -> &'static str {
        NAME
    }

    fn encode(&self, bytes: &[u8], out: &mut Vec<u8>, _: &mut Context) -> Result<()> {
        let mut stream = Compress::new(Compression::new(self.level), 0);
        // The format's bound: 1 % and 600 bytes more than the input.
        growth::reserve(NAME, out, bytes.len() + bytes.len() / 100 + 600)?;
        let refused = |e: Error| CodecFault::unsupported(NAME, format!("{} bytes do not compress: {e}", bytes.len()));
        let mut rest = bytes;
        loop {
            if out.len() == out.capacity() {
                growth::reserve(NAME, out, out.len() * 2)?;
            }
            let read = stream.total_in();
            // The library takes at most 4 GiB at a time; it must not be told to finish before the last of them.
            let last = rest.len() <= u32::MAX as usize;
            let status = stream.compress_vec(rest, out, if last { Action::Finish } else { Action::Run }).map_err(refused)?;
            rest = &rest[(stream.total_in() - read) as usize..];
            if status == Status::StreamEnd {
                return Ok(());
            }
        }
    }

    fn decode(&self, bytes: &[u8], room: Room, out: &mut Vec<u8>, _: &mut Context) -> Result<()> {
        let mut streams = Streams::new(bytes);
        growth::grow(NAME, room, out, bytes.len().saturating_mul(4), |piece| streams.step(piece))
    }

    fn decode_into(&self, bytes: &[u8], out: &mut [u8], _: &mut Context) -> Result<()> {
        let mut streams = Streams::new(bytes);
        growth::fill(NAME, out, |piece| streams.step(piece))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn streams_in_a_row_and_zeros_behind_them() {
        let mut context = Context::default();
        let codec = Bz2::new(1);
        let mut stored = Vec::new();
        for part in [&b"one"[..], b"", b"two"] {
            let mut stream = Vec::new();
            codec.encode(part, &mut stream, &mut context).unwrap();
            stored.extend(stream);
        }
        let mut out = [0; 6];
        codec.decode_into(&stored, &mut out, &mut context).unwrap();
        assert_eq!(&out, b"onetwo");
        stored.extend([0; 9]);
        codec.decode_into(&stored, &mut out, &mut context).unwrap();
        stored.push(1);
        assert!(codec.decode_into(&stored, &mut out, &mut context).is_err());
    }
}
