//! Cuts that are listed: runs of equal lengths with running sums, so that any question costs a binary search.
//!
//! Stands between an axis' JSON form (kept as it was written) and the arithmetic of [`super::Axis`]. Neighbouring entries
//! of equal length are one run here, however they were written.

use std::num::NonZeroU64;

use super::Run;

/// One entry of an axis as a document writes it: a bare length, or a pair `[value, count]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Item {
    /// Length, at least 1.
    pub value: u64,
    /// `None` for a bare length.
    pub count: Option<NonZeroU64>,
}

impl Item {
    /// A bare length.
    pub fn bare(value: u64) -> Self {
        Item { value, count: None }
    }
    /// How many chunks it stands for.
    pub fn chunks(&self) -> u64 {
        self.count.map_or(1, NonZeroU64::get)
    }
    fn run(&self) -> Run {
        Run { length: self.value, count: self.chunks() }
    }
}

/// An axis as a document writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Form {
    /// A bare integer.
    Step(u64),
    /// A list.
    Items(Vec<Item>),
}

impl Form {
    /// The shortest list for these runs: from three equal neighbours on, a pair takes fewer numbers than the lengths.
    pub fn from_runs(runs: impl IntoIterator<Item = Run>) -> Self {
        let mut items = Vec::new();
        for run in merged(runs) {
            match NonZeroU64::new(run.count) {
                Some(count) if run.count > 2 => items.push(Item { value: run.length, count: Some(count) }),
                _ => (0..run.count).for_each(|_| items.push(Item::bare(run.length))),
            }
        }
        Form::Items(items)
    }
}

/// The runs of a list, equal neighbours joined.
pub(super) fn runs_of(items: &[Item]) -> Vec<Run> {
    merged(items.iter().map(Item::run))
}

fn merged(runs: impl IntoIterator<Item = Run>) -> Vec<Run> {
    let mut out: Vec<Run> = Vec::new();
    for run in runs {
        match out.last_mut() {
            // Counts whose sum is past 2^64 stay two runs: nothing is lost.
            Some(last) if last.length == run.length && last.count.checked_add(run.count).is_some() => last.count += run.count,
            _ => out.push(run),
        }
    }
    out
}

/// Adds one chunk at a list's end, folding equal neighbours into a pair so that a thousand equal batches stay one entry.
pub(super) fn push_item(items: &mut Vec<Item>, value: u64) {
    if let Some(last) = items.last_mut()
        && last.value == value
        && let Some(count) = last.count
        && let Some(more) = count.checked_add(1)
    {
        last.count = Some(more);
        return;
    }
    let equal = items.iter().rev().take_while(|item| item.value == value && item.count.is_none()).count();
    if equal >= 2 {
        items.truncate(items.len() - equal);
        items.push(Item { value, count: NonZeroU64::new(equal as u64 + 1) });
    } else {
        items.push(Item::bare(value));
    }
}

/// Keeps a list's first `chunks` chunks.
pub(super) fn truncate_items(items: &mut Vec<Item>, chunks: u64) {
    let mut left = chunks;
    for (i, item) in items.iter_mut().enumerate() {
        if left == 0 {
            items.truncate(i);
            return;
        }
        let here = item.chunks();
        if here > left {
            item.count = NonZeroU64::new(left).filter(|n| n.get() > 1);
            left = 0;
        } else {
            left -= here;
        }
    }
}

/// A run with its two lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lengths {
    /// Listed length of each chunk.
    pub length: u64,
    /// Stored length of each chunk, at least the listed one.
    pub stored: u64,
    /// How many chunks.
    pub count: u64,
}

/// Listed cuts with their running sums. Sums past 2^64 saturate: such chunks lie past the end of any axis.
#[derive(Debug, Clone)]
pub(super) struct Listed {
    /// Where each run begins. A list of its own so that a search stays within few cache lines.
    starts: Vec<u64>,
    /// The first chunk of each run.
    firsts: Vec<u64>,
    /// Stored elements before each run.
    stored_before: Vec<u128>,
    runs: Vec<Lengths>,
    count: u64,
    sum: u128,
    padded: bool,
    /// As it is written under `chunk_shapes`.
    pub form: Form,
    /// As it was written under `encoded_chunk_shapes`, where it was.
    pub encoded: Option<Form>,
}

/// The cuts, not the way they are written.
impl PartialEq for Listed {
    fn eq(&self, other: &Self) -> bool {
        self.runs == other.runs
    }
}
impl Eq for Listed {}

impl Listed {
    /// Cuts whose stored lengths are the listed ones.
    pub fn from_items(items: Vec<Item>) -> Self {
        let runs = runs_of(&items);
        let lengths = runs.iter().map(|r| Lengths { length: r.length, stored: r.length, count: r.count });
        Self::build(lengths, Form::Items(items), None)
    }

    /// Cuts from runs of both lengths.
    pub fn build(lengths: impl IntoIterator<Item = Lengths>, form: Form, encoded: Option<Form>) -> Self {
        let mut runs: Vec<Lengths> = Vec::new();
        for new in lengths {
            match runs.last_mut() {
                Some(last) if last.length == new.length && last.stored == new.stored && last.count.checked_add(new.count).is_some() => {
                    last.count += new.count;
                }
                _ => runs.push(new),
            }
        }
        let (mut starts, mut firsts, mut stored_before) = (Vec::new(), Vec::new(), Vec::new());
        let (mut sum, mut count, mut stored) = (0u128, 0u64, 0u128);
        for run in &runs {
            starts.push(u64::try_from(sum).unwrap_or(u64::MAX));
            firsts.push(count);
            stored_before.push(stored);
            sum = sum.saturating_add(u128::from(run.length) * u128::from(run.count));
            stored = stored.saturating_add(u128::from(run.stored) * u128::from(run.count));
            count = count.saturating_add(run.count);
        }
        let padded = runs.iter().any(|r| r.stored != r.length);
        Listed { starts, firsts, stored_before, runs, count, sum, padded, form, encoded }
    }

    /// Chunks that are listed.
    pub fn count(&self) -> u64 {
        self.count
    }
    /// Sum of the listed lengths.
    pub fn sum(&self) -> u128 {
        self.sum
    }
    /// True where some chunk is stored longer than it is listed.
    pub fn padded(&self) -> bool {
        self.padded
    }
    /// The runs.
    pub fn runs(&self) -> &[Lengths] {
        &self.runs
    }
    /// Where run `r` begins.
    pub fn start(&self, r: usize) -> u64 {
        self.starts[r]
    }
    /// Where run `r` ends.
    pub fn end(&self, r: usize) -> u64 {
        self.starts.get(r + 1).copied().unwrap_or_else(|| u64::try_from(self.sum).unwrap_or(u64::MAX))
    }
    /// The first chunk of run `r`.
    pub fn first(&self, r: usize) -> u64 {
        self.firsts[r]
    }
    /// The run that holds index `i`; the last for one past the sum. `None` where nothing is listed.
    pub fn run_at(&self, i: u64) -> Option<usize> {
        self.starts.partition_point(|&start| start <= i).checked_sub(1)
    }
    /// The run that holds chunk `c`; the last for one past the list. `None` where nothing is listed.
    pub fn run_of_chunk(&self, c: u64) -> Option<usize> {
        self.firsts.partition_point(|&first| first <= c).checked_sub(1)
    }
    /// Stored elements of the chunks before `c`.
    pub fn stored_before(&self, c: u64) -> u128 {
        self.run_of_chunk(c).map_or(0, |r| {
            let inside = u128::from((c - self.firsts[r]).min(self.runs[r].count));
            self.stored_before[r].saturating_add(u128::from(self.runs[r].stored) * inside)
        })
    }
}

/// Pairs the listed with the stored runs of an axis. `None` where they do not count the same number of chunks.
pub(super) fn zip_runs(listed: &[Run], stored: &[Run]) -> Option<Vec<Lengths>> {
    let mut out = Vec::with_capacity(listed.len().max(stored.len()));
    let (mut a, mut b) = (listed.iter().copied(), stored.iter().copied());
    let (mut x, mut y) = (a.next(), b.next());
    while let (Some(l), Some(s)) = (x, y) {
        let count = l.count.min(s.count);
        out.push(Lengths { length: l.length, stored: s.length, count });
        x = if l.count > count { Some(Run { count: l.count - count, ..l }) } else { a.next() };
        y = if s.count > count { Some(Run { count: s.count - count, ..s }) } else { b.next() };
    }
    (x.is_none() && y.is_none()).then_some(out)
}
