//! The only arithmetic of cost: what a read wants, decodes and fetches.
//!
//! Pure arithmetic on cuts and picks: products of sums per axis, no chunk of a product is ever visited, so 796 million chunks
//! cost what one does. The command, the page and the planner all use it.

use std::ops::Range;

use crate::grid::{Axis, Grid, RunLengths};
use crate::region::{Pick, Resolved};

/// What a read costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost {
    /// Chunks that the read touches.
    pub chunks: u64,
    /// Stored objects (chunks, or shards) that it touches.
    pub objects: u64,
    /// Bytes that were asked for: elements times their size.
    pub wanted: u64,
    /// Bytes that must be decoded to get them: whole chunks at their stored shape.
    pub decoded: u64,
    /// Bytes that are fetched, where they are known before the fetch (uncompressed data, shard indexes).
    pub fetched: Option<u64>,
}

impl Cost {
    /// Decoded over wanted: 1.0 where nothing is decoded in vain; `None` where nothing is wanted.
    pub fn amplification(&self) -> Option<f64> {
        (self.wanted > 0).then(|| self.decoded as f64 / self.wanted as f64)
    }

    /// The cost of a read of whole chunks, each an object of its own that is fetched at once. Numbers past 2^64 - 1 stay
    /// there.
    ///
    /// ```
    /// use gingham_core::{cost::Cost, grid::Grid, region::Selection};
    /// // March 2000 of daily values, four bytes each: 31 days of the 60 in two chunks.
    /// let grid = Grid::regular(&[366], &[30])?;
    /// let cost = Cost::of(&grid, &Selection::parse("60:91")?.resolve(&grid, None)?, 4);
    /// assert_eq!((cost.chunks, cost.wanted, cost.decoded), (2, 124, 240));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of(grid: &Grid, read: &Resolved, item_size: u64) -> Cost {
        let (chunks, wanted, decoded) = match read {
            Resolved::Product { picks, .. } => {
                let axes = grid.axes().iter().zip(picks).map(|(axis, pick)| Touched::of(axis, pick));
                let all = axes.fold((1u128, 1u128, 1u128), |(chunks, wanted, decoded), axis| {
                    let times = |a: u128, b: u128| if b == 0 { 0 } else { a.saturating_mul(b) };
                    (times(chunks, axis.chunks.into()), times(wanted, axis.wanted.into()), times(decoded, axis.stored))
                });
                // Saturated before a factor of 0 came: nothing is touched all the same.
                if picks.iter().any(Pick::is_empty) { (0, 0, 0) } else { all }
            }
            Resolved::Points { coordinates, shape } => {
                let (chunks, decoded) = points(grid, coordinates, shape);
                (chunks, crate::region::product(shape).unwrap_or(u64::MAX).into(), decoded)
            }
        };
        let bytes = |elements: u128| u64::try_from(elements.saturating_mul(item_size.into())).unwrap_or(u64::MAX);
        let chunks = u64::try_from(chunks).unwrap_or(u64::MAX);
        Cost { chunks, objects: chunks, wanted: bytes(wanted), decoded: bytes(decoded), fetched: None }
    }
}

/// What a pick touches along one axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touched {
    /// The first chunk that is touched to behind the last; a step or a list may leave out some between.
    pub range: Range<u64>,
    /// Chunks that hold a picked element.
    pub chunks: u64,
    /// Their stored lengths in all. Saturates.
    pub stored: u128,
    /// Picked elements.
    pub wanted: u64,
}

impl Touched {
    /// What `pick` touches on `axis`.
    pub fn of(axis: &Axis, pick: &Pick) -> Touched {
        let Some((low, high)) = pick.bounds() else { return Touched { range: 0..0, chunks: 0, stored: 0, wanted: 0 } };
        let range = axis.touched(low, high.saturating_add(1));
        let (chunks, stored) = match pick {
            Pick::Run { step: 1 | -1, .. } => (range.end - range.start, axis.stored_sum(range.clone())),
            Pick::Run { step, .. } => stepped(axis, low, high, step.unsigned_abs()),
            Pick::List(list) => listed(axis, list),
        };
        Touched { range, chunks, stored, wanted: pick.len() }
    }
}

/// Chunks and stored lengths of `low, low + step, …, high`, run by run: within a run of equal chunks either every chunk from
/// the first to the last pick is met (the step is no longer than a chunk), or every pick meets its own.
fn stepped(axis: &Axis, low: u64, high: u64, step: u64) -> (u64, u128) {
    let (mut chunks, mut stored) = (0u64, 0u128);
    axis.for_runs(low, high, |start, RunLengths { length, stored: each, end }| {
        let first = if start <= low { low } else { low.saturating_add((start - low).div_ceil(step).saturating_mul(step)) };
        let last_inside = high.min(end - 1);
        if first > last_inside {
            return;
        }
        let picks = (last_inside - first) / step + 1;
        let last = first + (picks - 1) * step;
        let met = if step <= length { (last - start) / length - (first - start) / length + 1 } else { picks };
        chunks += met;
        stored = stored.saturating_add(u128::from(each) * u128::from(met));
    });
    (chunks, stored)
}

fn listed(axis: &Axis, list: &[u64]) -> (u64, u128) {
    let mut finder = axis.finder();
    let mut met: Vec<(u64, u64)> = Vec::new();
    for &i in list {
        let (chunk, _, span) = finder.find(i);
        if met.last().is_none_or(|&(last, _)| last != chunk) {
            met.push((chunk, span.stored));
        }
    }
    met.sort_unstable();
    met.dedup();
    (met.len() as u64, met.iter().fold(0, |sum, &(_, stored)| sum + u128::from(stored)))
}

/// Chunks that hold one of the points, and their stored elements.
fn points(grid: &Grid, coordinates: &[Vec<u64>], shape: &[u64]) -> (u128, u128) {
    if grid.ndim() == 0 {
        let any = u128::from(!shape.contains(&0));
        return (any, any);
    }
    let count = coordinates.iter().map(Vec::len).min().unwrap_or(0);
    let chunk_of = |i: usize| grid.axes().iter().zip(coordinates).map(|(axis, list)| axis.locate(list[i]).0).collect();
    let mut met: Vec<crate::Shape> = (0..count).map(chunk_of).collect();
    met.sort_unstable();
    met.dedup();
    let size = |chunk: &crate::Shape| grid.chunk_shape(chunk).iter().fold(1u128, |n, &l| n.saturating_mul(l.into()));
    (met.len() as u128, met.iter().fold(0u128, |sum, chunk| sum.saturating_add(size(chunk))))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::grid::Run;
    use crate::region::Selection;

    fn month_lengths() -> Vec<u64> {
        let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let year = |year| [31, if leap(year) { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        (2000..=2020).flat_map(year).collect()
    }

    #[test]
    fn a_month_in_steps_of_thirty_days_costs_twice_a_month() {
        let months = month_lengths();
        let days: u64 = months.iter().sum();
        assert_eq!((months.len(), days), (252, 7671));
        let steps = Grid::regular(&[days], &[30]).unwrap();
        let runs: Vec<Run> = months.iter().map(|&length| Run { length, count: 1 }).collect();
        let cut = Grid::new(vec![Axis::listed(days, &runs).unwrap()], crate::grid::GridKind::Rectilinear);
        let (mut start, mut two, mut decoded) = (0, 0, 0);
        for &month in &months {
            let read = |grid| Selection::parse(&format!("{start}:{}", start + month)).unwrap().resolve(grid, None).unwrap();
            let cost = Cost::of(&steps, &read(&steps), 4);
            two += u64::from(cost.chunks > 1);
            decoded += cost.decoded;
            let exact = Cost::of(&cut, &read(&cut), 4);
            assert_eq!((exact.chunks, exact.amplification()), (1, Some(1.0)));
            start += month;
        }
        assert_eq!((two, decoded), (248, 15_000 * 4));
        assert!((decoded as f64 / (days * 4) as f64 - 1.955).abs() < 0.001);
    }

    #[test]
    fn a_scalar_is_one_chunk() {
        let grid = Grid::regular(&[], &[]).unwrap();
        let cost = |text: &str| Cost::of(&grid, &Selection::parse(text).unwrap().resolve(&grid, None).unwrap(), 8);
        assert_eq!((cost("").chunks, cost("").wanted, cost("").decoded), (1, 8, 8));
        assert_eq!((cost("vindex[]").chunks, cost("vindex[].reshape(3)").wanted, cost("vindex[].reshape(0)").chunks), (1, 24, 0));
        assert_eq!(Cost::of(&grid, &Selection::All.resolve(&grid, None).unwrap(), 0).amplification(), None);
    }

    #[test]
    fn nothing_stays_nothing_beside_the_longest_axes() {
        let grid = Grid::regular(&[u64::MAX, u64::MAX, u64::MAX, 0], &[1, 1, 1, 1]).unwrap();
        assert_eq!(Cost::of(&grid, &Selection::All.resolve(&grid, None).unwrap(), 8), Cost::default());
    }
}
