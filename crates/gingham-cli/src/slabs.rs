//! A selection in slabs: parts of the result that follow each other in C order, each of bounded size and cut where
//! chunks are cut, so that a read or write of any size takes bounded memory and touches a chunk once.

use gingham::core::region::{Pick, Resolved};
use gingham::{Grid, Index, Selection};

use crate::error::{Failure, Result};

/// Bytes of one slab. Large enough that a slab holds hundreds of usual chunks to decode side by side.
pub const BUDGET: u64 = 128 << 20;

/// A slab is let grow to this many budgets where that saves decoding its chunks again.
const STRETCH: u64 = 4;

/// A part of a selection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slab {
    /// The part, as a selection of the array.
    pub selection: Selection,
    /// Its elements.
    pub count: usize,
}

/// The slabs of a selection, in C order of the result.
#[derive(Debug)]
pub struct Slabs<'a> {
    grid: &'a Grid,
    resolved: &'a Resolved,
    /// The axis that is cut into runs; those before it are walked one by one.
    axis: usize,
    /// Elements of a slab per element of `axis`.
    row: u64,
    /// Elements of `axis` in a slab, and the most that it may be stretched to.
    rows: (u64, u64),
    /// Where the next slab begins: an index on each axis up to and with `axis`; `None` when all are out.
    next: Option<Vec<u64>>,
}

impl<'a> Slabs<'a> {
    /// Cuts a selection. `itemsize` is an element's size (a guess where it varies).
    pub fn new(grid: &'a Grid, resolved: &'a Resolved, itemsize: usize, budget: u64) -> Result<Self> {
        let too_large = || Failure::usage("the selection has more than 2^64 elements").hint("select less of it");
        let count = resolved.count().ok_or_else(too_large)?;
        let item = (itemsize as u64).max(1);
        let lengths: Vec<u64> = match resolved {
            Resolved::Product { picks, .. } => picks.iter().map(pick_len).collect(),
            Resolved::Points { .. } => vec![count],
        };
        let mut axis = 0;
        let mut row = lengths.iter().skip(1).product::<u64>().max(1);
        while axis + 1 < lengths.len() && row.saturating_mul(item) > budget {
            axis += 1;
            row /= lengths[axis].max(1);
        }
        let fit = |bytes: u64| (bytes / row.saturating_mul(item)).max(1);
        let next = (count > 0).then(|| vec![0; lengths.len().min(axis + 1)]);
        Ok(Slabs { grid, resolved, axis, row, rows: (fit(budget), fit(budget.saturating_mul(STRETCH))), next })
    }
    fn product(&mut self, picks: &[Pick], at: Vec<u64>) -> Slab {
        let Some(&first) = at.last() else {
            // No axes: one element.
            return Slab { selection: Selection::Orthogonal(Vec::new()), count: 1 };
        };
        let n = self.run(&picks[self.axis], first);
        let mut entries = Vec::with_capacity(picks.len());
        for (i, pick) in picks.iter().enumerate() {
            entries.push(match i {
                _ if i < self.axis => part(pick, at[i], 1),
                _ if i == self.axis => part(pick, first, n),
                _ => part(pick, 0, pick_len(pick)),
            });
        }
        self.next = advance(at, n, picks);
        // A slab is within a few budgets, or one element of the leading axis: it was checked to fit a u64, and memory is asked for below.
        Slab { selection: Selection::Orthogonal(entries), count: usize::try_from(n.saturating_mul(self.row)).unwrap_or(usize::MAX) }
    }
    /// How many elements of the cut axis the slab that begins at `first` takes: up to a cut of the grid if there is one near.
    fn run(&self, pick: &Pick, first: u64) -> u64 {
        let left = pick_len(pick) - first;
        let (usual, most) = self.rows;
        if left <= usual {
            return left;
        }
        cut_before(self.grid, self.axis, pick, first, first + usual).unwrap_or_else(|| {
            // The chunk is longer than the budget: take all of it where that is not too much.
            let chunk = chunk_left(self.grid, self.axis, pick, first).min(left);
            if chunk <= most { chunk } else { usual }
        })
    }
}

impl Iterator for Slabs<'_> {
    type Item = Slab;

    fn next(&mut self) -> Option<Slab> {
        let at = self.next.take()?;
        match self.resolved {
            Resolved::Product { picks, .. } => Some(self.product(picks, at)),
            Resolved::Points { coordinates, .. } => {
                let total = coordinates.first().map_or(0, Vec::len);
                let first = *at.first()? as usize;
                let last = total.min(first.saturating_add(self.rows.0 as usize));
                self.next = (last < total).then(|| vec![last as u64]);
                let coordinates = coordinates.iter().map(|c| c[first..last].iter().map(|&i| i as i64).collect()).collect();
                let count = last - first;
                Some(Slab { selection: Selection::Points { coordinates, shape: std::iter::once(count as u64).collect() }, count })
            }
        }
    }
}

/// The next place after `n` elements of the last axis of `at`, odometer-wise.
fn advance(mut at: Vec<u64>, n: u64, picks: &[Pick]) -> Option<Vec<u64>> {
    let mut step = n;
    for i in (0..at.len()).rev() {
        at[i] += step;
        if at[i] < pick_len(&picks[i]) {
            return Some(at);
        }
        at[i] = 0;
        step = 1;
    }
    None
}

/// How many elements of a pick.
pub fn pick_len(pick: &Pick) -> u64 {
    match pick {
        Pick::Run { len, .. } => *len,
        Pick::List(list) => list.len() as u64,
    }
}

fn pick_at(pick: &Pick, i: u64) -> u64 {
    match pick {
        // In bounds: a resolved selection's indices fit the axis.
        Pick::Run { start, step, .. } => start.wrapping_add_signed(step.wrapping_mul(i as i64)),
        Pick::List(list) => list[i as usize],
    }
}

/// Elements from `first` up to the last place at or before `end` where another chunk begins; `None` where there is none.
fn cut_before(grid: &Grid, axis: usize, pick: &Pick, first: u64, end: u64) -> Option<u64> {
    let cuts = grid.axes().get(axis)?;
    if end >= pick_len(pick) {
        return Some(pick_len(pick) - first);
    }
    let (chunk, _) = cuts.locate(pick_at(pick, end));
    let span = cuts.span(chunk);
    let at = match pick {
        Pick::Run { start, step, .. } if *step > 0 => span.start.saturating_sub(*start).div_ceil(step.unsigned_abs()),
        Pick::Run { start, step, .. } => {
            let past = (span.start + span.logical).min(*start + 1);
            (start + 1 - past).div_ceil(step.unsigned_abs())
        }
        Pick::List(list) => (first..end).rev().find(|&i| cuts.locate(list[i as usize]).0 != chunk).map_or(first, |i| i + 1),
    };
    (at > first).then(|| at - first)
}

/// Elements from `first` that lie in the same chunk as it.
fn chunk_left(grid: &Grid, axis: usize, pick: &Pick, first: u64) -> u64 {
    let Some(cuts) = grid.axes().get(axis) else { return 1 };
    let at = pick_at(pick, first);
    let (chunk, _) = cuts.locate(at);
    let span = cuts.span(chunk);
    match pick {
        Pick::Run { step, .. } if *step > 0 => (span.start + span.logical - at).div_ceil(step.unsigned_abs()),
        Pick::Run { step, .. } => (at - span.start) / step.unsigned_abs() + 1,
        Pick::List(list) => list[first as usize..].iter().take_while(|&&i| cuts.locate(i).0 == chunk).count() as u64,
    }
}

/// `n` elements of a pick from its `first`, as an entry that keeps its axis.
fn part(pick: &Pick, first: u64, n: u64) -> Index {
    match pick {
        Pick::Run { step, .. } => {
            let start = pick_at(pick, first) as i64;
            if n == 0 {
                return Index::Slice { start: Some(0), stop: Some(0), step: None };
            }
            let last = pick_at(pick, first + n - 1) as i64;
            let stop = if *step > 0 { Some(last + 1) } else { (last > 0).then(|| last - 1) };
            Index::Slice { start: Some(start), stop, step: Some(*step) }
        }
        Pick::List(list) => Index::List(list[first as usize..(first + n) as usize].iter().map(|&i| i as i64).collect()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// The flat indices that a selection picks, in C order of its result.
    fn picked(grid: &Grid, selection: &Selection) -> Vec<u64> {
        let shape = grid.shape();
        let flat = |at: &[u64]| at.iter().zip(&shape).fold(0, |n, (&i, &l)| n * l + i);
        match selection.resolve(grid, None).unwrap() {
            Resolved::Product { picks, .. } => {
                let mut all = vec![Vec::new()];
                for pick in &picks {
                    all = all.iter().flat_map(|a| (0..pick_len(pick)).map(|i| [a.as_slice(), &[pick_at(pick, i)]].concat())).collect();
                }
                all.iter().map(|a| flat(a)).collect()
            }
            Resolved::Points { coordinates, .. } => {
                (0..coordinates[0].len()).map(|i| flat(&coordinates.iter().map(|c| c[i]).collect::<Vec<_>>())).collect()
            }
        }
    }

    fn check(grid: &Grid, text: &str, budget: u64) -> Vec<usize> {
        let selection = Selection::parse(text).unwrap();
        let resolved = selection.resolve(grid, None).unwrap();
        let slabs: Vec<Slab> = Slabs::new(grid, &resolved, 1, budget).unwrap().collect();
        let parts: Vec<u64> = slabs
            .iter()
            .flat_map(|s| {
                let part = picked(grid, &s.selection);
                assert_eq!(part.len(), s.count, "{text} {budget}");
                part
            })
            .collect();
        assert_eq!(parts, picked(grid, &selection), "{text} with a budget of {budget}");
        slabs.iter().map(|s| s.count).collect()
    }

    #[test]
    fn slabs_follow_each_other_in_c_order() {
        let grid = Grid::regular(&[7, 5, 6], &[3, 2, 4]).unwrap();
        for text in
            ["", "1:6", "::-1", "5:1:-2", "::2, ::-1", "3", ":, 2, :", "..., None, [5, 0, 5]", "[6, 0, 3], 1:4", "2:2", "::3, ::2, ::-3"]
        {
            for budget in [1, 2, 7, 30, 31, 95, 1000] {
                check(&grid, text, budget);
            }
        }
    }

    #[test]
    fn slabs_end_where_chunks_end() {
        let grid = Grid::regular(&[100, 10], &[8, 10]).unwrap();
        // 25 rows fit; 24 is the last cut before.
        assert_eq!(check(&grid, "", 250), [240, 240, 240, 240, 40]);
        // From 3 on, the next cut within 25 rows is 24.
        assert_eq!(check(&grid, "3:", 250), [210, 240, 240, 240, 40]);
        // A chunk is longer than the budget, but not by much: it is taken whole.
        assert_eq!(check(&grid, ":16", 50), [80, 80]);
        // Far too long: cut where it must be, until what is left of the chunk is not too much.
        assert_eq!(check(&grid, ":8", 10), [10, 10, 10, 10, 40]);
        // Backwards, cuts are at the chunks' ends: 99..96, then whole chunks.
        assert_eq!(check(&grid, "::-1", 250), [200, 240, 240, 240, 80]);
    }

    #[test]
    fn scalars_points_and_nothing() {
        let scalar = Grid::regular(&[], &[]).unwrap();
        assert_eq!(check(&scalar, "", 1), [1]);
        let grid = Grid::regular(&[10], &[4]).unwrap();
        assert!(check(&grid, "3:3", 1).is_empty());
        let points = Selection::Points { coordinates: vec![vec![9, 0, 5]], shape: [3].into_iter().collect() };
        let resolved = points.resolve(&grid, None).unwrap();
        let counts: Vec<usize> = Slabs::new(&grid, &resolved, 1, 2).unwrap().map(|s| s.count).collect();
        assert_eq!(counts, [2, 1]);
    }

    #[test]
    fn a_monstrous_array_is_walked_lazily() {
        let grid = Grid::regular(&[1 << 40, 1 << 20], &[1 << 20, 1 << 20]).unwrap();
        let resolved = Selection::All.resolve(&grid, None).unwrap();
        let mut slabs = Slabs::new(&grid, &resolved, 8, BUDGET).unwrap();
        assert_eq!(slabs.next().unwrap().count, 16 << 20);
        let huge = Grid::regular(&[1 << 60, 1 << 60], &[1, 1]).unwrap();
        let resolved = Selection::All.resolve(&huge, None).unwrap();
        assert!(Slabs::new(&huge, &resolved, 8, BUDGET).unwrap_err().what().contains("2^64"));
    }
}
