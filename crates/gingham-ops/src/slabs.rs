//! An array cut into boxes that lie one behind the other in C order: what streams in bounded memory.
//!
//! A slab is one index on each of the first axes, a range of the next (its *leading* axis), and all of the rest; so its
//! elements are contiguous in C order. Ranges are whole rows of chunks where memory allows, so that each chunk is decoded once.

use gingham::core::grid::Axis;
use gingham::core::region::{Index, Region, Selection};
use gingham::{Array, Error, Kind, Result};

/// Bytes that small rows of chunks are gathered up to: enough that a slab's fixed cost (planning, waking workers, some
/// 100 µs) is nothing beside its decoding (about 30 ms at 2 GB/s).
const GATHERED: u64 = 64 << 20;

/// Bytes that a slab never exceeds. A row of chunks that is larger is cut, and its chunks are decoded once per part.
const MOST: u64 = 512 << 20;

/// What one element of variable length is taken to need: two machine words of bookkeeping and a short content.
pub(crate) const VARIABLE_GUESS: u64 = 32;

/// The slabs of an array.
pub(crate) struct Slabs {
    shape: Vec<u64>,
    axis: Axis,
    leading: usize,
    /// Elements of the leading axis that fit [`GATHERED`] and [`MOST`].
    gathered: u64,
    most: u64,
    /// Where the next slab begins: indices of the axes before the leading one, then of the leading one.
    next: Option<Vec<u64>>,
}

impl Slabs {
    /// The slabs of `array`.
    pub(crate) fn new(array: &Array) -> Self {
        Self::with_budget(array, GATHERED, MOST)
    }

    fn with_budget(array: &Array, gathered: u64, most: u64) -> Self {
        let element = array.data_type().size().map_or(VARIABLE_GUESS, |s| s as u64);
        let axes = decoded_axes(array);
        Self::of(&array.shape(), &axes, element, gathered, most)
    }

    fn of(shape: &[u64], axes: &[Axis], element: u64, gathered: u64, most: u64) -> Self {
        let row = |axis: usize| shape[axis + 1..].iter().fold(element.max(1), |n, &l| n.saturating_mul(l));
        let last = shape.len().saturating_sub(1);
        let leading = (0..last).find(|&axis| row(axis) <= most).unwrap_or(last);
        let bytes = if shape.is_empty() { element.max(1) } else { row(leading).max(1) };
        let empty = shape.contains(&0);
        Slabs {
            axis: axes.get(leading).cloned().unwrap_or_else(|| Axis::step(1, 1)),
            leading,
            gathered: (gathered / bytes).max(1),
            most: (most / bytes).max(1),
            next: (!empty).then(|| vec![0; leading + 1]),
            shape: shape.to_vec(),
        }
    }

    /// Where a slab that begins at `start` of the leading axis ends: as many whole chunks as are gathered, at least one.
    fn end(&self, start: u64) -> u64 {
        let len = self.axis.len();
        let last = len.min(start.saturating_add(self.gathered)) - 1;
        // The last chunk that fits whole, or the one that `start` lies in.
        let (chunk, _) = self.axis.locate(last);
        let span = self.axis.span(chunk);
        let whole = if span.start + span.logical == last + 1 || span.start <= start { span.start + span.logical } else { span.start };
        whole.min(start.saturating_add(self.most)).min(len)
    }
}

impl Iterator for Slabs {
    type Item = Region;

    fn next(&mut self) -> Option<Region> {
        let at = self.next.take()?;
        if self.shape.is_empty() {
            return Some(Region::whole(&[]));
        }
        let start = at[self.leading];
        let end = self.end(start);
        let mut region = Region::whole(&self.shape);
        for (axis, &index) in at.iter().enumerate() {
            region.start[axis] = index;
            region.shape[axis] = 1;
        }
        region.shape[self.leading] = end - start;

        let mut after = at;
        after[self.leading] = end;
        for axis in (0..=self.leading).rev() {
            if after[axis] < self.shape[axis] {
                self.next = Some(after);
                break;
            }
            after[axis] = 0;
            if axis > 0 {
                after[axis - 1] += 1;
            }
        }
        Some(region)
    }
}

/// The cuts between units that are decoded on their own: of the chunks inside shards, where the array is sharded and the
/// shards are not compressed as a whole.
pub(crate) fn decoded_axes(array: &Array) -> Vec<Axis> {
    let grid = array.grid();
    match array.inner_chunk_shape() {
        Some(inner) if !wraps_shards(array) => grid.axes().iter().zip(inner).map(|(a, c)| Axis::step(a.len(), c.max(1))).collect(),
        _ => grid.axes().to_vec(),
    }
}

/// True where codecs follow the sharding codec, so that a shard is only decoded whole.
fn wraps_shards(array: &Array) -> bool {
    use gingham::core::codec::{Codec, CodecKind};
    let codecs = array.meta().codecs();
    codecs.iter().any(|c| matches!(c, Codec::Sharding(_))) && codecs.iter().any(|c| c.kind() == Some(CodecKind::BytesToBytes))
}

/// A box as a selection.
pub(crate) fn select(region: &Region) -> Result<Selection> {
    let signed = |n: u64| i64::try_from(n).map_err(|_| Error::new(Kind::OutOfRange, format!("the index {n} is beyond 2^63")));
    let mut entries = Vec::with_capacity(region.start.len());
    for (&start, &len) in region.start.iter().zip(&region.shape) {
        entries.push(Index::Slice { start: Some(signed(start)?), stop: Some(signed(start.saturating_add(len))?), step: None });
    }
    Ok(Selection::Orthogonal(entries))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn slabs(shape: &[u64], chunks: &[u64], gathered: u64, most: u64) -> Vec<(Vec<u64>, Vec<u64>)> {
        let axes: Vec<Axis> = shape.iter().zip(chunks).map(|(&l, &c)| Axis::step(l, c)).collect();
        Slabs::of(shape, &axes, 1, gathered, most).map(|r| (r.start.to_vec(), r.shape.to_vec())).collect()
    }

    #[test]
    fn slabs_are_whole_rows_of_chunks() {
        assert_eq!(
            slabs(&[10, 4], &[3, 2], 12, 100),
            [(vec![0, 0], vec![3, 4]), (vec![3, 0], vec![3, 4]), (vec![6, 0], vec![3, 4]), (vec![9, 0], vec![1, 4])]
        );
        assert_eq!(slabs(&[10, 4], &[3, 2], 30, 100), [(vec![0, 0], vec![6, 4]), (vec![6, 0], vec![4, 4])]);
        // A row that exceeds what is gathered but not what is allowed stays whole.
        assert_eq!(slabs(&[6, 4], &[3, 2], 4, 100), [(vec![0, 0], vec![3, 4]), (vec![3, 0], vec![3, 4])]);
    }

    #[test]
    fn rows_too_large_for_memory_are_cut() {
        assert_eq!(slabs(&[6, 4], &[6, 2], 8, 8), [(vec![0, 0], vec![2, 4]), (vec![2, 0], vec![2, 4]), (vec![4, 0], vec![2, 4])]);
        assert_eq!(
            slabs(&[2, 4], &[2, 4], 2, 2),
            [(vec![0, 0], vec![1, 2]), (vec![0, 2], vec![1, 2]), (vec![1, 0], vec![1, 2]), (vec![1, 2], vec![1, 2])]
        );
    }

    #[test]
    fn nothing_and_a_single_element() {
        assert!(slabs(&[0, 4], &[1, 4], 8, 8).is_empty());
        assert_eq!(slabs(&[], &[], 8, 8), [(vec![], vec![])]);
    }

    #[test]
    fn slabs_cover_every_element_once_in_order() {
        for (shape, chunks) in [([5u64, 7, 3], [2u64, 3, 2]), ([1, 9, 2], [1, 4, 1]), ([4, 1, 8], [8, 1, 3])] {
            for gathered in [1, 5, 16, 40, 1000] {
                for most in [1, 7, 20, 1000] {
                    let mut seen = 0;
                    for (start, len) in slabs(&shape, &chunks, gathered, most) {
                        let at = (start[0] * shape[1] + start[1]) * shape[2] + start[2];
                        assert_eq!(at, seen, "{shape:?} {chunks:?} {gathered} {most}");
                        let n: u64 = len.iter().product();
                        assert!(n <= most.max(1));
                        seen += n;
                    }
                    assert_eq!(seen, shape.iter().product::<u64>());
                }
            }
        }
    }
}
