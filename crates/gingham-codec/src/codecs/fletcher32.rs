//! `numcodecs.fletcher32`, v2 `fletcher32` (format.md 5.1): HDF5's variant, over big-endian words of 16 bits.

use gingham_core::codec::Location;

use super::checksum::Checksum;
use crate::{CodecFault, Result};

/// Words between two folds: the most for which both sums stay within 32 bits.
const WORDS: usize = 360;
/// Independent lanes of the inner loop; eight of 32 bits are two or one vector registers.
const LANES: usize = 8;

/// The codec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fletcher32;

/// Brings a sum back to (almost) 16 bits, modulo 65535.
fn fold(s: u32) -> u32 {
    (s & 0xffff) + (s >> 16)
}

/// Adds whole rows of `LANES` words to both sums. Each lane sums its own words, `a`, and the sums so far, `b`; a word of row
/// k and lane l then counts n - (LANES·k + l) times in the second sum, which is LANES·b - l·a lane by lane.
fn add_rows(rows: &[u8], s1: u32, s2: u32) -> (u32, u32) {
    let (mut a, mut b) = ([0u32; LANES], [0u32; LANES]);
    for row in rows.as_chunks::<{ 2 * LANES }>().0 {
        for lane in 0..LANES {
            a[lane] = a[lane].wrapping_add(u32::from(u16::from_be_bytes([row[2 * lane], row[2 * lane + 1]])));
            b[lane] = b[lane].wrapping_add(a[lane]);
        }
    }
    let words = (rows.len() / 2) as u32;
    let (mut t1, mut t2) = (s1, s2.wrapping_add(words.wrapping_mul(s1)));
    for lane in 0..LANES {
        t1 = t1.wrapping_add(a[lane]);
        t2 = t2.wrapping_add((LANES as u32).wrapping_mul(b[lane])).wrapping_sub((lane as u32).wrapping_mul(a[lane]));
    }
    (t1, t2)
}

/// Adds words one by one.
fn add_words(words: &[u8], mut s1: u32, mut s2: u32) -> (u32, u32) {
    for word in words.as_chunks::<2>().0 {
        s1 = s1.wrapping_add(u32::from(u16::from_be_bytes(*word)));
        s2 = s2.wrapping_add(s1);
    }
    (s1, s2)
}

impl Checksum for Fletcher32 {
    const NAME: &'static str = "numcodecs.fletcher32";

    fn location(&self) -> Location {
        Location::End
    }

    fn sum(&self, payload: &[u8]) -> u32 {
        let (mut s1, mut s2) = (0, 0);
        for block in payload[..payload.len() & !1].chunks(2 * WORDS) {
            let (rows, rest) = block.split_at(block.len() / (2 * LANES) * (2 * LANES));
            (s1, s2) = add_rows(rows, s1, s2);
            (s1, s2) = add_words(rest, s1, s2);
            (s1, s2) = (fold(s1), fold(s2));
        }
        if payload.len() % 2 == 1 {
            s1 += u32::from(payload[payload.len() - 1]) << 8;
            s2 += s1;
            (s1, s2) = (fold(s1), fold(s2));
        }
        fold(s2) << 16 | fold(s1)
    }

    fn check_payload(&self, payload: &[u8]) -> Result<()> {
        if payload.is_empty() {
            return Err(CodecFault::value(Self::NAME, "no bytes to sum: other readers refuse the checksum of nothing"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codecs::checksum::tests::{D9, X};

    /// The definition, word by word.
    fn plain(data: &[u8]) -> u32 {
        let (mut s1, mut s2) = (0u32, 0u32);
        for block in data[..data.len() & !1].chunks(720) {
            for w in block.chunks(2) {
                s1 += u32::from(w[0]) << 8 | u32::from(w[1]);
                s2 += s1;
            }
            (s1, s2) = (fold(s1), fold(s2));
        }
        if data.len() % 2 == 1 {
            s1 += u32::from(data[data.len() - 1]) << 8;
            s2 += s1;
            (s1, s2) = (fold(s1), fold(s2));
        }
        fold(s2) << 16 | fold(s1)
    }

    #[test]
    fn vectors() {
        assert_eq!(Fletcher32.sum(D9).to_le_bytes(), [0xd5, 0x09, 0xdf, 0x09]);
        assert_eq!(Fletcher32.sum(X).to_le_bytes(), [0x00, 0x0f, 0x00, 0x23]);
    }

    #[test]
    fn lanes_equal_the_definition_at_every_length() {
        let ones = vec![0xff; 3000];
        let mixed: Vec<u8> = (0..3000u32).map(|i| (i.wrapping_mul(2654435761) >> 13) as u8).collect();
        for data in [&ones, &mixed] {
            for len in 0..data.len() {
                assert_eq!(Fletcher32.sum(&data[..len]), plain(&data[..len]), "{len}");
            }
        }
    }

    #[test]
    fn nothing_is_not_summed() {
        assert!(Fletcher32.check_payload(&[]).is_err());
    }
}
