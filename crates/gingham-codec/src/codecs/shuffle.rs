//! `numcodecs.shuffle`, v2 `shuffle` (format.md 5.7): the first bytes of all elements, then the second ones, and so on.
//!
//! ```text
//!   elements   a0 a1 a2 a3  b0 b1 b2 b3  c0 c1 c2 c3  t
//!   shuffled   a0 b0 c0  a1 b1 c1  a2 b2 c2  a3 b3 c3  t
//! ```
//!
//! A tail that is no whole element stays where it is, as HDF5 writes it; numcodecs has no tails.

use super::growth;
use crate::{BytesToBytes, CodecFault, Context, Result, Room};

const NAME: &str = "numcodecs.shuffle";

/// Elements that are moved at a time: a vector register of bytes from each plane.
const RUN: usize = 16;

/// The codec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shuffle {
    size: usize,
}

impl Shuffle {
    /// Elements of 0 or 1 bytes are left alone.
    pub fn new(elementsize: usize) -> Self {
        Shuffle { size: elementsize.max(1) }
    }
}

/// Elements to planes. `out` is as long as `input`.
pub fn shuffle(size: usize, input: &[u8], out: &mut [u8]) {
    let body = whole(size, input.len());
    out[body..].copy_from_slice(&input[body..]);
    let (input, out) = (&input[..body], &mut out[..body]);
    match size {
        0 | 1 => out.copy_from_slice(input),
        2 => split::<2>(input, out),
        4 => split::<4>(input, out),
        8 => split::<8>(input, out),
        _ => {
            let count = body / size;
            for (j, plane) in out.chunks_exact_mut(count.max(1)).enumerate() {
                for (to, element) in plane.iter_mut().zip(input.chunks_exact(size)) {
                    *to = element[j];
                }
            }
        }
    }
}

/// Planes to elements. `out` is as long as `input`.
pub fn unshuffle(size: usize, input: &[u8], out: &mut [u8]) {
    let body = whole(size, input.len());
    out[body..].copy_from_slice(&input[body..]);
    let (input, out) = (&input[..body], &mut out[..body]);
    match size {
        0 | 1 => out.copy_from_slice(input),
        2 => join::<2>(input, out),
        4 => join::<4>(input, out),
        8 => join::<8>(input, out),
        _ => {
            let count = body / size;
            for (j, plane) in input.chunks_exact(count.max(1)).enumerate() {
                for (from, element) in plane.iter().zip(out.chunks_exact_mut(size)) {
                    element[j] = *from;
                }
            }
        }
    }
}

/// Bytes of `len` that are whole elements.
fn whole(size: usize, len: usize) -> usize {
    if size <= 1 { len } else { len - len % size }
}

/// Elements of `N` bytes to planes, in runs whose loops have constant bounds, so that they become vector code.
fn split<const N: usize>(input: &[u8], out: &mut [u8]) {
    let count = input.len() / N;
    let mut at = 0;
    while at + RUN <= count {
        let elements = &input[at * N..(at + RUN) * N];
        for j in 0..N {
            let plane = &mut out[j * count + at..][..RUN];
            for i in 0..RUN {
                plane[i] = elements[i * N + j];
            }
        }
        at += RUN;
    }
    for i in at..count {
        for j in 0..N {
            out[j * count + i] = input[i * N + j];
        }
    }
}

/// Planes to elements of `N` bytes.
fn join<const N: usize>(input: &[u8], out: &mut [u8]) {
    let count = input.len() / N;
    let mut at = 0;
    while at + RUN <= count {
        let elements = &mut out[at * N..(at + RUN) * N];
        let planes: [&[u8]; N] = std::array::from_fn(|j| &input[j * count + at..][..RUN]);
        for i in 0..RUN {
            for j in 0..N {
                elements[i * N + j] = planes[j][i];
            }
        }
        at += RUN;
    }
    for i in at..count {
        for j in 0..N {
            out[i * N + j] = input[j * count + i];
        }
    }
}

impl BytesToBytes for Shuffle {
    fn name(&self) -> &'static str {
        NAME
    }

    fn encoded_len(&self, decoded: usize) -> Option<usize> {
        Some(decoded)
    }

    fn encode(&self, bytes: &[u8], out: &mut Vec<u8>, _: &mut Context) -> Result<()> {
        if !bytes.len().is_multiple_of(self.size) {
            let what = format!("{} bytes are no multiple of the element size {}: other readers refuse that", bytes.len(), self.size);
            return Err(CodecFault::value(NAME, what));
        }
        growth::reserve(NAME, out, bytes.len())?;
        out.resize(bytes.len(), 0);
        shuffle(self.size, bytes, out);
        Ok(())
    }

    fn decode(&self, bytes: &[u8], room: Room, out: &mut Vec<u8>, _: &mut Context) -> Result<()> {
        growth::check(NAME, room, bytes.len())?;
        growth::reserve(NAME, out, bytes.len())?;
        out.resize(bytes.len(), 0);
        unshuffle(self.size, bytes, out);
        Ok(())
    }

    fn decode_into(&self, bytes: &[u8], out: &mut [u8], _: &mut Context) -> Result<()> {
        growth::check(NAME, Room::Exactly(out.len()), bytes.len())?;
        unshuffle(self.size, bytes, out);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::codecs::checksum::tests::X;

    #[test]
    fn vector() {
        let mut out = Vec::new();
        Shuffle::new(2).encode(X, &mut out, &mut Context::default()).unwrap();
        assert_eq!(out, [1, 2, 3, 4, 5, 0, 0, 0, 0, 0]);
    }

    /// zjl-172: HDF5 shuffles what fletcher32 has made longer by four bytes.
    #[test]
    fn zjl_172_a_tail_is_copied() {
        let mut out = [0; 10];
        Shuffle::new(4).decode_into(&[0, 4, 1, 5, 2, 6, 3, 7, 8, 9], &mut out, &mut Context::default()).unwrap();
        assert_eq!(out, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        let fault = Shuffle::new(4).encode(&out, &mut Vec::new(), &mut Context::default()).unwrap_err();
        assert!(fault.what.contains("10 bytes"), "{fault}");
    }

    #[test]
    fn every_size_and_length_comes_back() {
        let data: Vec<u8> = (0..400u32).map(|i| (i.wrapping_mul(2654435761) >> 11) as u8).collect();
        for size in 0..20 {
            for len in (0..data.len()).step_by(7) {
                let (mut there, mut back) = (vec![0; len], vec![0; len]);
                shuffle(size, &data[..len], &mut there);
                unshuffle(size, &there, &mut back);
                assert_eq!(back, &data[..len], "{size} {len}");
                let count = if size > 1 { len / size } else { 0 };
                for i in 0..count {
                    assert!((0..size).all(|j| there[j * count + i] == data[i * size + j]), "{size} {len}");
                }
            }
        }
    }
}
