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

/// Elements that are moved at a time, so that they stay in the first cache while plane after plane comes.
const TILE: usize = 512;

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
        2 => split::<2>(input, out, |element, j| (u16::from_le_bytes(*element) >> (8 * j)) as u8),
        4 => split::<4>(input, out, |element, j| (u32::from_le_bytes(*element) >> (8 * j)) as u8),
        8 => split::<8>(input, out, |element, j| (u64::from_le_bytes(*element) >> (8 * j)) as u8),
        _ => split_any(size, input, out),
    }
}

/// Planes to elements. `out` is as long as `input`.
pub fn unshuffle(size: usize, input: &[u8], out: &mut [u8]) {
    let body = whole(size, input.len());
    out[body..].copy_from_slice(&input[body..]);
    let (input, out) = (&input[..body], &mut out[..body]);
    match size {
        0 | 1 => out.copy_from_slice(input),
        2 => join::<2>(input, out, weave_2),
        4 => join::<4>(input, out, weave_4),
        8 => join::<8>(input, out, weave_8),
        16 => join::<16>(input, out, weave_16),
        _ => join_any(size, input, out),
    }
}

/// Bytes of `len` that are whole elements.
fn whole(size: usize, len: usize) -> usize {
    if size <= 1 { len } else { len - len % size }
}

/// Elements of `N` bytes to planes; `pick` takes byte j of an element by arithmetic, which becomes vector code where a move
/// of single bytes does not.
fn split<const N: usize>(input: &[u8], out: &mut [u8], pick: impl Fn(&[u8; N], usize) -> u8) {
    let count = input.len() / N;
    for (tile, elements) in input.chunks(N * TILE).enumerate() {
        for j in 0..N {
            let plane = &mut out[j * count + tile * TILE..][..elements.len() / N];
            for (to, element) in plane.iter_mut().zip(elements.as_chunks::<N>().0) {
                *to = pick(element, j);
            }
        }
    }
}

/// Planes to elements of `N` bytes, a tile at a time.
fn join<const N: usize>(input: &[u8], out: &mut [u8], weave: impl Fn(&[&[u8]], &mut [u8])) {
    let count = input.len() / N;
    for (tile, elements) in out.chunks_mut(N * TILE).enumerate() {
        let planes: [&[u8]; N] = std::array::from_fn(|j| &input[j * count + tile * TILE..][..elements.len() / N]);
        weave(&planes, elements);
    }
}

/// Interleaves pieces of `W` bytes into pieces of `W2`, twice as long: the vector instruction "unpack".
fn weave<const W: usize, const W2: usize>(a: &[u8], b: &[u8], out: &mut [u8]) {
    let pieces = a.as_chunks::<W>().0.iter().zip(b.as_chunks::<W>().0);
    for (to, (a, b)) in out.as_chunks_mut::<W2>().0.iter_mut().zip(pieces) {
        to[..W].copy_from_slice(a);
        to[W..].copy_from_slice(b);
    }
}

/// A tile of two planes to elements.
fn weave_2(planes: &[&[u8]], out: &mut [u8]) {
    weave::<1, 2>(planes[0], planes[1], out);
}

/// A tile of four planes to elements: two and two planes to pairs, then pairs to fours.
fn weave_4(planes: &[&[u8]], out: &mut [u8]) {
    let (mut low, mut high) = ([0; 2 * TILE], [0; 2 * TILE]);
    let (low, high) = (&mut low[..out.len() / 2], &mut high[..out.len() / 2]);
    weave_2(&planes[..2], low);
    weave_2(&planes[2..], high);
    weave::<2, 4>(low, high, out);
}

/// A tile of eight planes to elements.
fn weave_8(planes: &[&[u8]], out: &mut [u8]) {
    let (mut low, mut high) = ([0; 4 * TILE], [0; 4 * TILE]);
    let (low, high) = (&mut low[..out.len() / 2], &mut high[..out.len() / 2]);
    weave_4(&planes[..4], low);
    weave_4(&planes[4..], high);
    weave::<4, 8>(low, high, out);
}

/// A tile of sixteen planes to elements.
fn weave_16(planes: &[&[u8]], out: &mut [u8]) {
    let (mut low, mut high) = ([0; 8 * TILE], [0; 8 * TILE]);
    let (low, high) = (&mut low[..out.len() / 2], &mut high[..out.len() / 2]);
    weave_8(&planes[..8], low);
    weave_8(&planes[8..], high);
    weave::<8, 16>(low, high, out);
}

/// Elements of any size to planes.
fn split_any(size: usize, input: &[u8], out: &mut [u8]) {
    let count = input.len() / size;
    for start in (0..count).step_by(TILE) {
        let end = count.min(start + TILE);
        for j in 0..size {
            let elements = input[start * size..end * size].chunks_exact(size);
            for (to, element) in out[j * count..][start..end].iter_mut().zip(elements) {
                *to = element[j];
            }
        }
    }
}

/// Planes to elements of any size.
fn join_any(size: usize, input: &[u8], out: &mut [u8]) {
    let count = input.len() / size;
    for start in (0..count).step_by(TILE) {
        let end = count.min(start + TILE);
        for j in 0..size {
            let elements = out[start * size..end * size].chunks_exact_mut(size);
            for (from, element) in input[j * count..][start..end].iter().zip(elements) {
                element[j] = *from;
            }
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
        let data: Vec<u8> = (0..9000u32).map(|i| (i.wrapping_mul(2654435761) >> 11) as u8).collect();
        for size in (0..20).chain([24, 32, 100]) {
            for len in (0..400).step_by(7).chain([4095, 4096, 8192, 8999]) {
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
