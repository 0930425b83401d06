//! The buffers that decoders write into: reserved without aborting, grown by the bytes that came and not by what a header claims.

use crate::{CodecFault, Result, Room};

/// Makes room for `total` bytes in all. A length that memory cannot hold is an error, not an abort.
pub(crate) fn reserve(codec: &str, out: &mut Vec<u8>, total: usize) -> Result<()> {
    out.try_reserve_exact(total.saturating_sub(out.len()))
        .map_err(|_| CodecFault::unsupported(codec, format!("cannot allocate {total} bytes for the result")))
}

/// The error of a result longer than it may be.
pub(crate) fn too_long(codec: &str, limit: usize) -> CodecFault {
    CodecFault::corrupt(codec, format!("decodes to more than the {limit} bytes that are due"))
}

/// Checks a claimed or final length against the room.
pub(crate) fn check(codec: &str, room: Room, len: usize) -> Result<()> {
    match room {
        Room::Exactly(due) if len != due => Err(CodecFault::corrupt(codec, format!("decodes to {len} bytes, expected {due}"))),
        Room::AtMost(limit) if len > limit => Err(CodecFault::corrupt(codec, format!("decodes to {len} bytes, allowed are {limit}"))),
        _ => Ok(()),
    }
}

/// Refuses a length that so much input cannot decode to at the codec's best ratio, before anything is allocated for it.
pub(crate) fn plausible(codec: &str, claimed: u64, input: usize, ratio: u64) -> Result<()> {
    if claimed > (input as u64).saturating_mul(ratio) {
        return Err(CodecFault::corrupt(codec, format!("{input} bytes cannot decode to {claimed}")));
    }
    Ok(())
}

/// What one call of a streaming decoder did.
pub(crate) struct Step {
    /// Bytes written.
    pub written: usize,
    /// The stream ended and all input is used.
    pub done: bool,
}

/// Runs a streaming decoder into a buffer that it must fill exactly. `step` writes at least a byte, or is done, or fails.
pub(crate) fn fill(codec: &str, out: &mut [u8], mut step: impl FnMut(&mut [u8]) -> Result<Step>) -> Result<()> {
    let mut at = 0;
    while at < out.len() {
        let s = step(&mut out[at..])?;
        at += s.written;
        if s.done {
            return check(codec, Room::Exactly(out.len()), at);
        }
    }
    end(codec, out.len(), &mut step)
}

/// Runs a streaming decoder into a buffer that grows with what comes: from `first` bytes, doubling, up to the room.
pub(crate) fn grow(
    codec: &str,
    room: Room,
    out: &mut Vec<u8>,
    first: usize,
    mut step: impl FnMut(&mut [u8]) -> Result<Step>,
) -> Result<()> {
    let limit = room.limit();
    let mut at = 0;
    loop {
        if at == limit {
            end(codec, limit, &mut step)?;
            break;
        }
        if at == out.len() {
            let next = at.saturating_mul(2).max(first).max(out.capacity()).clamp(1, limit);
            reserve(codec, out, next)?;
            out.resize(next, 0);
        }
        let s = step(&mut out[at..])?;
        at += s.written;
        if s.done {
            break;
        }
    }
    out.truncate(at);
    check(codec, room, at)
}

/// All bytes that may come have come: the stream must end without another one.
fn end(codec: &str, limit: usize, step: &mut impl FnMut(&mut [u8]) -> Result<Step>) -> Result<()> {
    let mut probe = [0u8; 1];
    let s = step(&mut probe)?;
    if s.written > 0 || !s.done { Err(too_long(codec, limit)) } else { Ok(()) }
}

/// True where nothing but zero padding is left, which is tolerated behind the last stream as gzip(1) does.
pub(crate) fn only_zeros(rest: &[u8]) -> bool {
    rest.iter().all(|&b| b == 0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// A decoder of `total` bytes that hands out at most `piece` at a time.
    fn pieces(total: usize, piece: usize) -> impl FnMut(&mut [u8]) -> Result<Step> {
        let mut left = total;
        move |out: &mut [u8]| {
            let written = out.len().min(piece).min(left);
            out[..written].fill(7);
            left -= written;
            Ok(Step { written, done: left == 0 })
        }
    }

    #[test]
    fn grows_with_what_comes() {
        let mut out = Vec::new();
        grow("t", Room::AtMost(usize::MAX), &mut out, 16, pieces(1000, 7)).unwrap();
        assert_eq!(out, vec![7; 1000]);
        assert!(out.capacity() <= 2048);
    }

    #[test]
    fn holds_to_the_room() {
        for (total, room, ok) in [
            (10, Room::Exactly(10), true),
            (9, Room::Exactly(10), false),
            (11, Room::Exactly(10), false),
            (0, Room::Exactly(0), true),
            (1, Room::Exactly(0), false),
            (0, Room::AtMost(0), true),
            (10, Room::AtMost(10), true),
            (11, Room::AtMost(10), false),
        ] {
            let mut out = Vec::new();
            assert_eq!(grow("t", room, &mut out, 4, pieces(total, 3)).is_ok(), ok, "{total} {room:?}");
            if let Room::Exactly(n) = room {
                assert_eq!(fill("t", &mut vec![0; n], pieces(total, 3)).is_ok(), ok, "{total} {room:?}");
            }
        }
    }

    #[test]
    fn a_length_beyond_memory_is_an_error() {
        assert!(reserve("t", &mut Vec::new(), usize::MAX).is_err());
        assert!(plausible("t", 1 << 40, 17, 32768).is_err());
    }
}
