//! Which parts of an array are read and written together.
//!
//! A block is a box of whole target objects, so that no two tasks write one object. Where memory allows, its edges are
//! multiples of the source's decoded chunks too: then each of those is decoded once in all.
//!
//! ```text
//!   source  |    |    |    |    |    |    |     chunks of 2
//!   target  |       |       |       |           objects of 3
//!   block   |               |               |   2 objects = 3 chunks
//! ```

use gingham::core::grid::{Axis, Grid};
use gingham::core::region::Region;

use super::layout::gcd;

/// Bytes that a block grows to where nothing else asks for it: a task's fixed cost is then below a percent.
const USEFUL: u64 = 16 << 20;

/// The blocks of an array.
#[derive(Debug, Clone)]
pub(super) struct Blocks {
    axes: Vec<Axis>,
    /// Objects per block on each axis.
    per: Vec<u64>,
    /// Blocks on each axis.
    counts: Vec<u64>,
    /// Bytes of the largest block.
    pub bytes: u64,
    /// How often a source chunk is decoded, on average.
    pub decodes: f64,
}

/// One axis while blocks are chosen.
struct Edge {
    source: u64,
    target: u64,
    objects: u64,
    per: u64,
}

impl Edge {
    fn len(&self, per: u64) -> u64 {
        self.target.saturating_mul(per)
    }
    /// How often source chunks are decoded along this axis when a block is `per` objects long: once where blocks begin and
    /// end between chunks, else the chunks at both ends belong to two blocks.
    fn decodes(&self, per: u64) -> f64 {
        if per >= self.objects {
            return 1.0;
        }
        let block = self.len(per);
        let common = gcd(block, self.source);
        (block as f64 - common as f64 + self.source as f64) / block as f64
    }
    /// The lengths worth trying: doublings, the first that ends with a source chunk, and the whole axis.
    fn candidates(&self) -> impl Iterator<Item = u64> + '_ {
        let aligned = self.source / gcd(self.source, self.target).max(1);
        let doublings = (0..63).map(|k| self.per.saturating_mul(2 << k)).take_while(|&per| per < self.objects);
        doublings.chain([aligned, self.objects]).filter(|&per| per > self.per && per <= self.objects)
    }
}

impl Blocks {
    /// Chooses blocks of at most `budget` bytes; where one object is larger than that already, its bytes are the error.
    pub(super) fn plan(source: &[Axis], target: &Grid, element: u64, budget: u64) -> Result<Blocks, u64> {
        let mut edges: Vec<Edge> = source
            .iter()
            .zip(target.axes())
            .map(|(s, t)| Edge { source: s.max_stored().max(1), target: t.max_stored().max(1), objects: t.chunk_count(), per: 1 })
            .collect();
        let bytes = |edges: &[Edge]| edges.iter().fold(element.max(1), |n, e| n.saturating_mul(e.len(e.per)));
        let object = bytes(&edges);
        if object > budget {
            return Err(object);
        }
        // Grow where a byte of memory saves the most decoding, until nothing is saved any more.
        while let Some((axis, per)) = best_growth(&edges, bytes(&edges), budget) {
            edges[axis].per = per;
        }
        // Then along the last axes, whose objects lie side by side.
        for axis in (0..edges.len()).rev() {
            let per = (USEFUL.min(budget) / bytes(&edges)).saturating_mul(edges[axis].per).min(edges[axis].objects);
            let whole = per / edges[axis].per.max(1) * edges[axis].per;
            if whole > edges[axis].per && edges[axis].decodes(whole) <= edges[axis].decodes(edges[axis].per) {
                edges[axis].per = whole;
            }
        }
        Ok(Blocks {
            axes: target.axes().to_vec(),
            bytes: bytes(&edges),
            decodes: edges.iter().map(|e| e.decodes(e.per)).product(),
            counts: edges.iter().map(|e| e.objects.div_ceil(e.per)).collect(),
            per: edges.iter().map(|e| e.per).collect(),
        })
    }

    /// Blocks in all, saturating.
    pub(super) fn count(&self) -> u128 {
        self.counts.iter().fold(1, |n, &c| n.saturating_mul(u128::from(c)))
    }

    /// Target objects in a block, at most; saturating.
    pub(super) fn objects_per_block(&self) -> u64 {
        self.per.iter().fold(1, |n, &per| n.saturating_mul(per))
    }

    /// The box of a block, by its number in C order.
    pub(super) fn region(&self, number: u128) -> Region {
        let mut region = Region::whole(&vec![0; self.axes.len()]);
        let mut rest = number;
        for axis in (0..self.axes.len()).rev() {
            let count = u128::from(self.counts[axis].max(1));
            let block = (rest % count) as u64;
            rest /= count;
            let first = block * self.per[axis];
            let last = (first.saturating_add(self.per[axis]) - 1).min(self.axes[axis].chunk_count().saturating_sub(1));
            let (first, last) = (self.axes[axis].span(first), self.axes[axis].span(last));
            region.start[axis] = first.start;
            region.shape[axis] = last.start + last.logical - first.start;
        }
        region
    }

    /// Adds the numbers of the blocks that share elements with a box; false where they are more than `most`.
    pub(super) fn meeting(&self, region: &Region, most: usize, out: &mut std::collections::BTreeSet<u128>) -> bool {
        if region.is_empty() || self.counts.contains(&0) {
            return true;
        }
        let ranges: Vec<(u64, u64)> = (0..self.axes.len())
            .map(|axis| {
                let touched = self.axes[axis].touched(region.start[axis], region.start[axis] + region.shape[axis]);
                (touched.start / self.per[axis], (touched.end.max(1) - 1) / self.per[axis])
            })
            .collect();
        let mut at: Vec<u64> = ranges.iter().map(|r| r.0).collect();
        loop {
            if out.len() >= most {
                return false;
            }
            out.insert(at.iter().zip(&self.counts).fold(0u128, |n, (&i, &c)| n.wrapping_mul(u128::from(c)).wrapping_add(u128::from(i))));
            let Some(axis) = (0..at.len()).rev().find(|&axis| at[axis] < ranges[axis].1) else { return true };
            at[axis] += 1;
            for (later, range) in at.iter_mut().zip(&ranges).skip(axis + 1) {
                *later = range.0;
            }
        }
    }
}

/// The growth of one axis that saves the most decoding per doubling of the block, if any fits.
fn best_growth(edges: &[Edge], bytes: u64, budget: u64) -> Option<(usize, u64)> {
    let mut best: Option<(f64, usize, u64)> = None;
    for (axis, edge) in edges.iter().enumerate() {
        let now = edge.decodes(edge.per);
        for per in edge.candidates() {
            let fits = u128::from(bytes) * u128::from(per) / u128::from(edge.per) <= u128::from(budget);
            let saved = (now / edge.decodes(per)).ln();
            let score = saved / (per as f64 / edge.per as f64).ln();
            if fits && saved > 1e-9 && best.is_none_or(|(s, ..)| score > s) {
                best = Some((score, axis, per));
            }
        }
    }
    best.map(|(_, axis, per)| (axis, per))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::collections::BTreeSet;

    fn plan(shape: &[u64], source: &[u64], target: &[u64], budget: u64) -> Result<Blocks, u64> {
        let axes: Vec<Axis> = shape.iter().zip(source).map(|(&l, &c)| Axis::step(l, c)).collect();
        Blocks::plan(&axes, &Grid::regular(shape, target).unwrap(), 1, budget)
    }

    #[test]
    fn blocks_are_common_multiples_where_memory_allows() {
        let blocks = plan(&[100, 100], &[2, 100], &[3, 100], 700).unwrap();
        assert_eq!((blocks.per[0], blocks.decodes), (2, 1.0));
        // Source chunks larger than the target's: one block per source chunk.
        let blocks = plan(&[64, 64], &[32, 32], &[4, 8], 1024).unwrap();
        assert_eq!((blocks.bytes, blocks.decodes), (1024, 1.0));
    }

    #[test]
    fn a_tight_budget_decodes_more_often_and_too_tight_a_one_says_what_is_needed() {
        let tight = plan(&[240, 64, 64], &[1, 64, 64], &[240, 4, 4], 16 << 10).unwrap();
        assert!(tight.bytes <= 16 << 10 && tight.decodes > 1.0);
        assert_eq!(plan(&[240, 64, 64], &[1, 64, 64], &[240, 4, 4], 1000).unwrap_err(), 3840);
    }

    #[test]
    fn blocks_cover_the_array_once() {
        for (shape, source, target) in
            [([31u64, 17], [7u64, 5], [5u64, 7]), ([31, 17], [31, 17], [1, 1]), ([31, 17], [1, 17], [40, 1]), ([6, 6], [4, 4], [6, 2])]
        {
            for budget in [40, 100, 1000, 1 << 20] {
                let Ok(blocks) = plan(&shape, &source, &target, budget) else { continue };
                let mut seen = vec![0u8; (shape[0] * shape[1]) as usize];
                for number in 0..blocks.count() {
                    let r = blocks.region(number);
                    for i in r.start[0]..r.start[0] + r.shape[0] {
                        for j in r.start[1]..r.start[1] + r.shape[1] {
                            seen[(i * shape[1] + j) as usize] += 1;
                        }
                    }
                }
                assert!(seen.iter().all(|&n| n == 1), "{shape:?} {source:?} {target:?} {budget}");
            }
        }
    }

    #[test]
    fn a_box_meets_the_blocks_that_share_its_elements() {
        let blocks = plan(&[31, 17], &[7, 5], &[5, 7], 40).unwrap();
        for (start, len) in [([0u64, 0], [1u64, 1]), ([4, 6], [3, 3]), ([30, 16], [1, 1]), ([0, 0], [31, 17])] {
            let region = Region { start: start.as_slice().into(), shape: len.as_slice().into() };
            let mut met = BTreeSet::new();
            assert!(blocks.meeting(&region, 1000, &mut met));
            for number in 0..blocks.count() {
                let r = blocks.region(number);
                let shares = (0..2).all(|a| r.start[a] < start[a] + len[a] && start[a] < r.start[a] + r.shape[a]);
                assert_eq!(met.contains(&number), shares);
            }
        }
        assert!(!blocks.meeting(&Region::whole(&[31, 17]), 2, &mut BTreeSet::new()));
    }

    #[test]
    fn huge_sparse_arrays_are_numbered_without_walking_them() {
        let blocks = plan(&[1_000_000_000_000, 1_000_000_000_000], &[100, 100], &[50, 1000], 1 << 20).unwrap();
        assert!(blocks.count() > u128::from(u64::MAX) / (1 << 30));
        let mut met = BTreeSet::new();
        let region = Region { start: [999_999_999_900, 7].as_slice().into(), shape: [100, 100].as_slice().into() };
        assert!(blocks.meeting(&region, 1000, &mut met));
        assert!(met.len() <= 2);
        let last = blocks.region(*met.last().unwrap());
        assert_eq!(last.start[0] + last.shape[0], 1_000_000_000_000);
    }

    #[test]
    fn scalars_and_empty_arrays() {
        assert_eq!(plan(&[], &[], &[], 100).unwrap().count(), 1);
        assert_eq!(plan(&[0, 17], &[1, 5], &[1, 7], 100).unwrap().count(), 0);
    }
}
