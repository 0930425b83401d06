//! The picked elements of one axis, chunk by chunk: what a plan is made of.

use super::Pick;
use crate::grid::{Axis, Finder, Span};

/// Picked elements of one axis that lie in one chunk, evenly spaced there, and where they go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The chunk.
    pub chunk: u64,
    /// The chunk's place on the axis.
    pub span: Span,
    /// The first picked element, counted from the chunk's start.
    pub within: u64,
    /// From one element to the next (1 where there is one); may be negative, and 0 for one that is repeated.
    pub step: i64,
    /// How many, at least 1.
    pub count: u64,
    /// Where the first goes along the picked axis; the others follow it.
    pub out: u64,
}

impl Pick {
    /// The parts of the chunks of `axis` that hold the picked elements, in the order of the picks. A run meets a chunk once;
    /// an unsorted list may come back to one.
    ///
    /// ```
    /// use gingham_core::{grid::Axis, region::Pick};
    /// let axis = Axis::step(10, 4);
    /// let parts: Vec<_> = Pick::Run { start: 9, step: -3, len: 4 }.parts(&axis).map(|p| (p.chunk, p.within, p.count, p.out)).collect();
    /// assert_eq!(parts, [(2, 1, 1, 0), (1, 2, 1, 1), (0, 3, 2, 2)]);
    /// ```
    pub fn parts<'a>(&'a self, axis: &'a Axis) -> Parts<'a> {
        Parts { pick: self, finder: axis.finder(), done: 0 }
    }
}

/// See [`Pick::parts`].
#[derive(Debug, Clone)]
pub struct Parts<'a> {
    pick: &'a Pick,
    finder: Finder<'a>,
    done: u64,
}

impl Iterator for Parts<'_> {
    type Item = Part;

    fn next(&mut self) -> Option<Part> {
        let out = self.done;
        if out >= self.pick.len() {
            return None;
        }
        let (chunk, within, span, step, count) = match self.pick {
            Pick::Run { start, step, len } => {
                // Modulo 2^64: the index itself is in bounds.
                let first = start.wrapping_add_signed(step.wrapping_mul(out as i64));
                let (chunk, within, span) = self.finder.find(first);
                let room = if *step > 0 { span.logical.saturating_sub(within + 1) } else { within };
                (chunk, within, span, *step, (room / step.unsigned_abs().max(1) + 1).min(len - out))
            }
            Pick::List(list) => {
                let rest = list.get(out as usize..).filter(|rest| !rest.is_empty())?;
                let (chunk, within, span) = self.finder.find(rest[0]);
                let inside = |i: u64| i.checked_sub(span.start).is_some_and(|i| i < span.logical);
                let (step, count) = even_stretch(rest, inside);
                (chunk, within, span, step, count)
            }
        };
        self.done += count;
        Some(Part { chunk, span, within, step: if count == 1 { 1 } else { step }, count, out })
    }
}

/// How many entries from the front are evenly spaced and inside the chunk, and their spacing.
fn even_stretch(list: &[u64], inside: impl Fn(u64) -> bool) -> (i64, u64) {
    let Some(&second) = list.get(1).filter(|&&i| inside(i)) else { return (1, 1) };
    let Ok(step) = i64::try_from(i128::from(second) - i128::from(list[0])) else { return (1, 1) };
    let even = |w: &[u64]| inside(w[1]) && i128::from(w[1]) - i128::from(w[0]) == i128::from(step);
    (step, list.windows(2).take_while(|w| even(w)).count() as u64 + 1)
}
