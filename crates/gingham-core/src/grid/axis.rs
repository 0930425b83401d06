//! The cuts of one axis: the only place that knows whether finding a chunk is a division or a search.

use std::ops::Range;
use std::sync::Arc;

use super::GridError;
use super::listed::{Form, Item, Lengths, Listed, push_item, truncate_items, zip_runs};

/// `count` chunks of the same listed length, one behind the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Listed length of each, at least 1.
    pub length: u64,
    /// How many, at least 1.
    pub count: u64,
}

/// One chunk's place on an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Where it begins.
    pub start: u64,
    /// What it contributes to the array: its listed length, clipped to the array's end.
    pub logical: u64,
    /// What its bytes decode to: the listed length, or longer where the block is padded.
    pub stored: u64,
}

/// The cuts of one axis.
///
/// ```
/// use gingham_core::grid::{Axis, Run};
/// let months = Axis::listed(90, &[Run { length: 31, count: 1 }, Run { length: 28, count: 1 }, Run { length: 31, count: 1 }])?;
/// assert_eq!(months.locate(58), (1, 27));
/// assert_eq!(months.touched(30, 60), 0..3);
/// # Ok::<(), gingham_core::grid::GridError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    len: u64,
    pub(super) cuts: Cuts,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cuts {
    /// A regular step (regular grids, and bare integers of rectilinear ones) and what each chunk is stored as.
    Step { chunk: u64, stored: u64 },
    /// Listed lengths. Shared: a grid is cloned per array handle, a list may have a million runs.
    Listed(Arc<Listed>),
}

impl Axis {
    /// Equal steps. `chunk` is at least 1 (0 counts as 1).
    pub fn step(len: u64, chunk: u64) -> Self {
        Self::padded_step(len, chunk, chunk)
    }
    /// Equal steps whose chunks are stored at `stored` elements each (at least `chunk`).
    pub fn padded_step(len: u64, chunk: u64, stored: u64) -> Self {
        let chunk = chunk.max(1);
        Axis { len, cuts: Cuts::Step { chunk, stored: stored.max(chunk) } }
    }
    /// Listed lengths. Refused where a length or a count is 0 or the lengths add up to less than `len`.
    pub fn listed(len: u64, runs: &[Run]) -> Result<Self, GridError> {
        check_runs(runs)?;
        let Form::Items(items) = Form::from_runs(runs.iter().copied()) else { return Ok(Self::step(len, 1)) };
        Self::from_items(len, items).map_err(|sum| GridError::short(None, sum, len))
    }
    /// Listed lengths with the lengths that the chunks' bytes decode to, one for one. Refused where they do not count the
    /// same number of chunks, a stored length is below its listed one, or the listed ones add up to less than `len`.
    pub fn padded(len: u64, listed: &[Run], stored: &[Run]) -> Result<Self, GridError> {
        check_runs(listed)?;
        check_runs(stored)?;
        let lengths = zip_runs(listed, stored)
            .ok_or_else(|| GridError::plain("the listed and the stored chunk lengths of an axis are not equally many"))?;
        let form = Form::from_runs(listed.iter().copied());
        Self::from_lengths(len, lengths, form, None)
    }

    /// Listed lengths as a document has them; the sum where it is below `len`.
    pub(super) fn from_items(len: u64, items: Vec<Item>) -> Result<Self, u128> {
        let listed = Listed::from_items(items);
        if listed.sum() < u128::from(len) {
            return Err(listed.sum());
        }
        Ok(Axis { len, cuts: Cuts::Listed(Arc::new(listed)) })
    }
    /// Both lengths as a document has them.
    pub(super) fn from_lengths(len: u64, lengths: Vec<Lengths>, form: Form, encoded: Option<Form>) -> Result<Self, GridError> {
        let mut chunk = 0u64;
        for run in &lengths {
            if run.stored < run.length {
                return Err(GridError::plain(format!("chunk {chunk} is {} long but stored as {}", run.length, run.stored))
                    .hint("a stored length is at least the listed one"));
            }
            chunk = chunk.saturating_add(run.count);
        }
        let listed = Listed::build(lengths, form, encoded);
        if listed.sum() < u128::from(len) {
            return Err(GridError::short(None, listed.sum(), len));
        }
        Ok(Axis { len, cuts: Cuts::Listed(Arc::new(listed)) })
    }

    /// The array's length along this axis.
    pub fn len(&self) -> u64 {
        self.len
    }
    /// True where the axis has no element.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// Chunks that overlap the array.
    pub fn chunk_count(&self) -> u64 {
        if self.len == 0 { 0 } else { self.locate(self.len - 1).0 + 1 }
    }
    /// Chunks that are listed, those wholly past the end included (equal to `chunk_count` on a regular step). Saturates at
    /// 2^64 - 1.
    pub fn listed_count(&self) -> u64 {
        match &self.cuts {
            Cuts::Step { chunk, .. } => self.len.div_ceil(*chunk),
            Cuts::Listed(listed) => listed.count(),
        }
    }
    /// Sum of the listed lengths: at least `len`.
    pub fn listed_sum(&self) -> u128 {
        match &self.cuts {
            Cuts::Step { chunk, .. } => u128::from(self.len.div_ceil(*chunk)) * u128::from(*chunk),
            Cuts::Listed(listed) => listed.sum(),
        }
    }
    /// True where some chunk is stored longer than it is listed.
    pub fn is_padded(&self) -> bool {
        match &self.cuts {
            Cuts::Step { chunk, stored } => stored != chunk,
            Cuts::Listed(listed) => listed.padded(),
        }
    }
    /// True for a list, false for a step.
    pub fn is_listed(&self) -> bool {
        matches!(&self.cuts, Cuts::Listed(_))
    }
    /// The same cuts with every stored length equal to the listed one.
    pub fn without_padding(&self) -> Axis {
        let cuts = match &self.cuts {
            Cuts::Step { chunk, .. } => Cuts::Step { chunk: *chunk, stored: *chunk },
            Cuts::Listed(listed) => match &listed.form {
                Form::Step(chunk) => Cuts::Step { chunk: *chunk, stored: *chunk },
                Form::Items(items) => Cuts::Listed(Arc::new(Listed::from_items(items.clone()))),
            },
        };
        Axis { len: self.len, cuts }
    }

    /// The chunk that holds index `i` (`i < len`) and the index's place in it.
    pub fn locate(&self, i: u64) -> (u64, u64) {
        match &self.cuts {
            Cuts::Step { chunk, .. } => (i / chunk, i % chunk),
            Cuts::Listed(listed) => listed.run_at(i).map_or((0, 0), |r| place_in_run(listed, r, i)),
        }
    }
    /// Where chunk `c` lies. Valid for every listed chunk; one past the end has `logical` 0.
    pub fn span(&self, c: u64) -> Span {
        match &self.cuts {
            Cuts::Step { chunk, stored } => self.clip(c.saturating_mul(*chunk), *chunk, *stored),
            Cuts::Listed(listed) => match listed.run_of_chunk(c) {
                Some(r) if c < listed.count() => self.span_in_run(listed, r, c),
                _ => Span { start: self.len, logical: 0, stored: 0 },
            },
        }
    }
    fn span_in_run(&self, listed: &Listed, r: usize, c: u64) -> Span {
        let run = &listed.runs()[r];
        let start = listed.start(r).saturating_add((c - listed.first(r)).saturating_mul(run.length));
        self.clip(start, run.length, run.stored)
    }
    fn clip(&self, start: u64, length: u64, stored: u64) -> Span {
        Span { start, logical: length.min(self.len.saturating_sub(start)), stored }
    }
    /// The chunks that meet `start..end` (`start < end <= len`); none where `start >= end`.
    pub fn touched(&self, start: u64, end: u64) -> Range<u64> {
        if start >= end {
            return 0..0;
        }
        self.locate(start).0..self.locate(end - 1).0 + 1
    }
    /// The chunks of `range` with their places, in order; one search for the first, none for the others. Ends at the last
    /// listed chunk.
    pub fn spans(&self, range: Range<u64>) -> Spans<'_> {
        let run = match &self.cuts {
            Cuts::Step { .. } => 0,
            Cuts::Listed(listed) => listed.run_of_chunk(range.start).unwrap_or(0),
        };
        Spans { axis: self, run, next: range.start, end: range.end.min(self.listed_count()) }
    }
    /// Finds the chunks of indices that follow each other closely, without a search for each.
    pub fn finder(&self) -> Finder<'_> {
        Finder { axis: self, run: 0 }
    }
    /// Stored elements of the chunks of `range` in all.
    pub fn stored_sum(&self, range: Range<u64>) -> u128 {
        if range.start >= range.end {
            return 0;
        }
        match &self.cuts {
            Cuts::Step { stored, .. } => u128::from(*stored) * u128::from(range.end - range.start),
            Cuts::Listed(listed) => listed.stored_before(range.end).saturating_sub(listed.stored_before(range.start)),
        }
    }

    /// The listed lengths as runs (one run for a regular step, none where there is no chunk).
    pub fn runs(&self) -> Vec<Run> {
        self.lengths().iter().map(|r| Run { length: r.length, count: r.count }).collect()
    }
    /// The stored lengths as runs, cut where the listed lengths are.
    pub fn stored_runs(&self) -> Vec<Run> {
        self.lengths().iter().map(|r| Run { length: r.stored, count: r.count }).collect()
    }
    /// Every stored length that occurs, each once, ascending; those of chunks past the end included, and a step's even where
    /// the axis is empty (a codec must fit them all).
    pub fn distinct_stored(&self) -> Vec<u64> {
        let mut all: Vec<u64> = match &self.cuts {
            Cuts::Step { stored, .. } => vec![*stored],
            Cuts::Listed(listed) => listed.runs().iter().map(|r| r.stored).collect(),
        };
        all.sort_unstable();
        all.dedup();
        all
    }
    /// Both lengths as runs.
    fn lengths(&self) -> Vec<Lengths> {
        match &self.cuts {
            Cuts::Listed(listed) => listed.runs().to_vec(),
            Cuts::Step { .. } if self.len == 0 => Vec::new(),
            Cuts::Step { chunk, stored } => {
                vec![Lengths { length: *chunk, stored: *stored, count: self.len.div_ceil(*chunk) }]
            }
        }
    }
    /// Calls `see` with each run that meets `low..=high` (`low <= high < len`): where it begins and its lengths.
    pub(crate) fn for_runs(&self, low: u64, high: u64, mut see: impl FnMut(u64, RunLengths)) {
        match &self.cuts {
            Cuts::Step { chunk, stored } => see(0, RunLengths { length: *chunk, stored: *stored, end: u64::MAX }),
            Cuts::Listed(listed) => {
                let Some(first) = listed.run_at(low) else { return };
                for r in first..listed.runs().len() {
                    if listed.start(r) > high {
                        return;
                    }
                    let run = &listed.runs()[r];
                    see(listed.start(r), RunLengths { length: run.length, stored: run.stored, end: listed.end(r) });
                }
            }
        }
    }
    /// The step, where it is one number (regular, or a bare integer) and no chunk is padded.
    pub fn as_step(&self) -> Option<u64> {
        match &self.cuts {
            Cuts::Step { chunk, stored } if chunk == stored => Some(*chunk),
            _ => None,
        }
    }
    /// The longest stored length among the chunks that overlap the array (0 on an empty axis).
    pub fn max_stored(&self) -> u64 {
        match &self.cuts {
            _ if self.len == 0 => 0,
            Cuts::Step { stored, .. } => *stored,
            Cuts::Listed(listed) => {
                let last = listed.run_at(self.len - 1).map_or(0, |r| r + 1);
                listed.runs()[..last].iter().map(|r| r.stored).max().unwrap_or(0)
            }
        }
    }

    /// The axis at another length (see [`super::Grid::resized`]). `None` where chunks would have to be added to padded ones.
    pub(super) fn resized(&self, len: u64) -> Option<Axis> {
        let Cuts::Listed(listed) = &self.cuts else { return Some(Axis { len, cuts: self.cuts.clone() }) };
        match &listed.form {
            Form::Step(chunk) => (len.div_ceil(*chunk) == listed.count()).then(|| Axis { len, cuts: self.cuts.clone() }),
            _ if u128::from(len) <= listed.sum() => Some(Axis { len, cuts: self.cuts.clone() }),
            Form::Items(items) => self.extended(len, items.clone()),
        }
    }
    /// The axis with `n` more elements (see [`super::Grid::appended`]). The caller checked `len + n`.
    pub(super) fn appended(&self, n: u64) -> Option<Axis> {
        let len = self.len + n;
        let Cuts::Listed(listed) = &self.cuts else { return self.resized(len) };
        match &listed.form {
            Form::Items(items) if u128::from(len) > listed.sum() => {
                let mut items = items.clone();
                truncate_items(&mut items, self.chunk_count());
                self.extended(len, items)
            }
            _ => self.resized(len),
        }
    }
    /// These cuts and one more that reaches `len`.
    fn extended(&self, len: u64, mut items: Vec<Item>) -> Option<Axis> {
        if self.is_padded() {
            return None;
        }
        let sum = items.iter().fold(0u128, |sum, i| sum.saturating_add(u128::from(i.value) * u128::from(i.chunks())));
        let gap = u64::try_from(u128::from(len).saturating_sub(sum)).ok()?;
        if gap > 0 {
            push_item(&mut items, gap);
        }
        Axis::from_items(len, items).ok()
    }
}

/// The lengths of a run's chunks and where the run ends.
pub(crate) struct RunLengths {
    pub length: u64,
    pub stored: u64,
    pub end: u64,
}

fn check_runs(runs: &[Run]) -> Result<(), GridError> {
    match runs.iter().position(|r| r.length == 0 || r.count == 0) {
        Some(i) => {
            Err(GridError::plain(format!("run {i} is {} chunks of length {}", runs[i].count, runs[i].length)).hint("both are at least 1"))
        }
        None => Ok(()),
    }
}

/// The chunk and the place in it of an index of run `r`.
fn place_in_run(listed: &Listed, r: usize, i: u64) -> (u64, u64) {
    let (run, inside) = (&listed.runs()[r], i - listed.start(r));
    // Most runs of a real list are one chunk: no division.
    if inside < run.length {
        return (listed.first(r), inside);
    }
    (listed.first(r).saturating_add(inside / run.length), inside % run.length)
}

/// The chunks of a range, in order. Made by [`Axis::spans`].
#[derive(Debug, Clone)]
pub struct Spans<'a> {
    axis: &'a Axis,
    run: usize,
    next: u64,
    end: u64,
}

impl Iterator for Spans<'_> {
    type Item = (u64, Span);

    fn next(&mut self) -> Option<(u64, Span)> {
        if self.next >= self.end {
            return None;
        }
        let c = self.next;
        self.next += 1;
        match &self.axis.cuts {
            Cuts::Step { .. } => Some((c, self.axis.span(c))),
            Cuts::Listed(listed) => {
                if c - listed.first(self.run) >= listed.runs()[self.run].count {
                    self.run += 1;
                }
                Some((c, self.axis.span_in_run(listed, self.run, c)))
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.end.saturating_sub(self.next);
        (usize::try_from(left).unwrap_or(usize::MAX), usize::try_from(left).ok())
    }
}

/// Finds chunks near the last one that was found. Made by [`Axis::finder`].
#[derive(Debug, Clone)]
pub struct Finder<'a> {
    axis: &'a Axis,
    run: usize,
}

impl Finder<'_> {
    /// The chunk that holds index `i` (`i < len`), the index's place in it, and the chunk's own place.
    pub fn find(&mut self, i: u64) -> (u64, u64, Span) {
        let axis = self.axis;
        let Cuts::Listed(listed) = &axis.cuts else {
            let (c, within) = axis.locate(i);
            return (c, within, axis.span(c));
        };
        if listed.runs().is_empty() {
            return (0, 0, axis.span(0));
        }
        let holds = |r: usize| listed.start(r) <= i && i < listed.end(r);
        if !holds(self.run) {
            let next = self.run + 1;
            self.run = if next < listed.runs().len() && holds(next) { next } else { listed.run_at(i).unwrap_or(0) };
        }
        let (c, within) = place_in_run(listed, self.run, i);
        (c, within, axis.span_in_run(listed, self.run, c))
    }
}
