//! Placing: strided copies between a chunk and the array that it is part of.
//!
//! ```text
//!   chunk (C order in its stored frame)            output (any strides)
//!   ┌──────────┐   Take per axis: which elements    ┌───────────────┐
//!   │  ▒▒▒     │ ─────────────────────────────────► │        ▒▒▒    │
//!   └──────────┘   and where each one goes          └───────────────┘
//! ```
//!
//! A transposition is nothing but another order of the axes here, so `transpose` costs no pass of its own. Gathering for a
//! write is the same copy with the two sides exchanged. Every copy checks its extent against both buffers once, before the
//! unchecked loops begin.

mod tile;

use std::cmp::Reverse;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use gingham_core::dtype::Variable;
use smallvec::SmallVec;

/// Which elements of one axis are taken, and where they go.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // the variants' own sentences name their members
pub enum Take {
    /// Elements `start, start + step, …` (`count` of them) go to `dst, dst + 1, …`.
    Run { start: u64, step: i64, count: u64, dst: u64 },
    /// Pairs (element, where it goes).
    List(Vec<(u64, u64)>),
}

impl Take {
    /// `count` elements from `start` on, to `dst` and on.
    pub fn span(start: u64, count: u64, dst: u64) -> Take {
        Take::Run { start, step: 1, count, dst }
    }
    /// How many elements.
    pub fn count(&self) -> u64 {
        match self {
            Take::Run { count, .. } => *count,
            Take::List(pairs) => pairs.len() as u64,
        }
    }
    /// Smallest and largest element taken; `None` where there is none.
    pub fn bounds(&self) -> Option<(u64, u64)> {
        match self {
            Take::Run { count: 0, .. } => None,
            Take::Run { start, step, count, .. } => {
                let last = start.wrapping_add_signed(step.wrapping_mul(*count as i64 - 1));
                Some(((*start).min(last), (*start).max(last)))
            }
            Take::List(pairs) => Some((pairs.iter().map(|p| p.0).min()?, pairs.iter().map(|p| p.0).max()?)),
        }
    }
    /// The elements within `low..high`, counted from `low`; `None` where there is none.
    pub fn within(&self, low: u64, high: u64) -> Option<Take> {
        match self {
            Take::Run { start, step, count, dst } => {
                let (start, step, count) = (*start as i128, *step as i128, *count as i128);
                let (low, high) = (low as i128, high as i128);
                // first and last k with low <= start + k * step < high
                let (first, last) = if step > 0 {
                    ((low - start + step - 1).div_euclid(step), (high - 1 - start).div_euclid(step))
                } else {
                    ((start - (high - 1) - step - 1).div_euclid(-step), (start - low).div_euclid(-step))
                };
                let (first, last) = (first.max(0), last.min(count - 1));
                (first <= last).then(|| Take::Run {
                    start: (start + first * step - low) as u64,
                    step: step as i64,
                    count: (last - first + 1) as u64,
                    dst: dst + first as u64,
                })
            }
            Take::List(pairs) => {
                let inside: Vec<_> = pairs.iter().filter(|p| (low..high).contains(&p.0)).map(|p| (p.0 - low, p.1)).collect();
                (!inside.is_empty()).then_some(Take::List(inside))
            }
        }
    }
    /// True where every element of `0..len` is taken.
    pub fn covers(&self, len: u64) -> bool {
        match self {
            Take::Run { start, step, count, .. } => {
                (*count == len && ((*step == 1 && *start == 0) || (*step == -1 && *start + 1 == len)))
                    || (len == 1 && *count >= 1 && *start == 0)
            }
            Take::List(pairs) => {
                let mut seen = vec![false; len as usize];
                pairs.iter().for_each(|p| {
                    if let Some(s) = seen.get_mut(p.0 as usize) {
                        *s = true;
                    }
                });
                seen.into_iter().all(|s| s)
            }
        }
    }
}

/// A part of a chunk and its place in the output: one take per axis of the chunk, and the output's strides in the same
/// axes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// One take per axis.
    pub takes: SmallVec<[Take; 4]>,
    /// Bytes between neighbours along each axis in the output.
    pub strides: SmallVec<[usize; 4]>,
}

impl Part {
    /// The same part of a chunk whose axes are in another order: axis i of the result is axis `order[i]`.
    pub fn permuted(&self, order: &[usize]) -> Part {
        Part { takes: order.iter().map(|&a| self.takes[a].clone()).collect(), strides: order.iter().map(|&a| self.strides[a]).collect() }
    }
    /// Elements in the part.
    pub fn count(&self) -> u64 {
        self.takes.iter().map(Take::count).product()
    }
    /// The bytes of a chunk of this shape (C order) from the part's first element to its last.
    pub fn extent(&self, shape: &[u64], item: usize) -> Range<usize> {
        let (mut stride, mut first, mut last) = (item, 0usize, 0usize);
        for (take, &len) in self.takes.iter().zip(shape).rev() {
            let Some((low, high)) = take.bounds() else { return 0..0 };
            first = first.saturating_add(stride.saturating_mul(low as usize));
            last = last.saturating_add(stride.saturating_mul(high as usize));
            stride = stride.saturating_mul(len as usize);
        }
        first..last.saturating_add(item)
    }
    /// Where the part is all of a chunk of this shape and lies in the output without a gap and in order: the first byte.
    pub fn contiguous(&self, shape: &[u64], item: usize) -> Option<usize> {
        let (mut expected, mut first) = (item, 0);
        for ((take, &stride), &len) in self.takes.iter().zip(&self.strides).zip(shape).rev() {
            let Take::Run { start: 0, step, count, dst } = take else { return None };
            if *count != len || (len > 1 && (*step != 1 || stride != expected)) {
                return None;
            }
            first += *dst as usize * stride;
            expected = expected.checked_mul(len as usize)?;
        }
        Some(first)
    }
}

/// The output of a read: where pieces are placed, from many threads, each its own elements.
///
/// Variable-length elements are placed as handles of eight bytes (which [`Variable`] of the collector, and which of its
/// elements) and resolved at the end.
#[derive(Debug)]
pub struct Target<'a> {
    pointer: *mut u8,
    len: usize,
    item: usize,
    collector: Option<Mutex<Vec<Variable>>>,
    zeroed: AtomicBool,
    _buffer: std::marker::PhantomData<&'a mut [u8]>,
}

// SAFETY: writes through the pointer are unsafe functions whose callers promise that parts do not overlap between threads.
#[allow(unsafe_code)]
unsafe impl Send for Target<'_> {}
// SAFETY: as above.
#[allow(unsafe_code)]
unsafe impl Sync for Target<'_> {}

impl<'a> Target<'a> {
    /// A buffer of fixed-size elements. `zeroed`: it holds zeros already, so a fill of zeros need not be written.
    pub fn fixed(buffer: &'a mut [u8], item: usize, zeroed: bool) -> Self {
        let zeroed = AtomicBool::new(zeroed);
        Target { pointer: buffer.as_mut_ptr(), len: buffer.len(), item, collector: None, zeroed, _buffer: std::marker::PhantomData }
    }
    /// Memory for fixed-size elements that is not set yet.
    pub fn unset(buffer: &'a mut [MaybeUninit<u8>], item: usize) -> Self {
        let (pointer, len) = (buffer.as_mut_ptr().cast::<u8>(), buffer.len());
        Target { pointer, len, item, collector: None, zeroed: AtomicBool::new(false), _buffer: std::marker::PhantomData }
    }
    /// Parts of it are about to be written once more: from now on a fill of zeros is written too.
    pub fn reuse(&self) {
        self.zeroed.store(false, Relaxed);
    }
    /// Handles of variable-length elements, eight bytes each; element 0 of collector entry 0 is the fill value.
    pub fn variable(handles: &'a mut [u8], fill: &[u8]) -> Self {
        let mut first = Variable::new();
        first.push(fill);
        Target { collector: Some(Mutex::new(vec![first])), ..Target::fixed(handles, HANDLE, true) }
    }
    /// Bytes of one element (or handle) in the output.
    pub fn item(&self) -> usize {
        self.item
    }
    /// True where elements vary in length.
    pub fn is_variable(&self) -> bool {
        self.collector.is_some()
    }
    /// The collected variable-length contents, at the end.
    pub fn into_collected(self) -> Vec<Variable> {
        self.collector.map(|c| c.into_inner().unwrap_or_else(|e| e.into_inner())).unwrap_or_default()
    }
    /// Keeps a chunk's variable-length elements and gives their handles.
    pub fn collect(&self, elements: Variable) -> Vec<u8> {
        let n = elements.len();
        let Some(collector) = &self.collector else { return Vec::new() };
        let mut all = collector.lock().unwrap_or_else(|e| e.into_inner());
        all.push(elements);
        let entry = (all.len() - 1) as u32;
        drop(all);
        (0..n as u32).flat_map(|i| [entry.to_le_bytes(), i.to_le_bytes()]).flatten().collect()
    }

    /// The bytes `first..first + len` of the output.
    ///
    /// # Safety
    /// No other thread may touch them while the slice lives, and nothing is read from it that was not written to it before.
    #[allow(unsafe_code, clippy::mut_from_ref)]
    pub unsafe fn slice(&self, first: usize, len: usize) -> Option<&mut [u8]> {
        // SAFETY: in bounds by the check; exclusive by the caller's promise.
        first
            .checked_add(len)
            .filter(|&end| end <= self.len)
            .map(|_| unsafe { std::slice::from_raw_parts_mut(self.pointer.add(first), len) })
    }

    /// Copies a part of a decoded chunk (C order, `shape`) to its place.
    ///
    /// # Safety
    /// No other thread may touch the part's elements of the output meanwhile.
    #[allow(unsafe_code)]
    pub unsafe fn place(&self, chunk: &[u8], shape: &[u64], part: &Part) -> bool {
        let walks = walks(part, shape, self.item);
        // SAFETY: `copy` checks both extents; exclusivity is the caller's promise.
        unsafe { copy(walks, (chunk.as_ptr(), chunk.len()), (self.pointer, self.len), self.item) }
    }

    /// The same from a window of the chunk: `window` holds its bytes from `first` on, and all of the part's.
    ///
    /// # Safety
    /// As for [`Target::place`].
    #[allow(unsafe_code)]
    pub unsafe fn place_window(&self, window: &[u8], first: usize, shape: &[u64], part: &Part) -> bool {
        let mut walks = walks(part, shape, self.item);
        match walks.first_mut() {
            Some(walk) => walk.shift_source(-(first as isize)),
            None if first != 0 => return false,
            None => {}
        }
        // SAFETY: `copy` checks both extents; exclusivity is the caller's promise.
        unsafe { copy(walks, (window.as_ptr(), window.len()), (self.pointer, self.len), self.item) }
    }

    /// Writes the fill value over a part.
    ///
    /// # Safety
    /// No other thread may touch the part's elements of the output meanwhile.
    #[allow(unsafe_code)]
    pub unsafe fn fill(&self, part: &Part, fill: &[u8]) -> bool {
        // A handle of zeros is the fill element.
        let fill = if self.is_variable() { &[0; HANDLE] } else { fill };
        if self.zeroed.load(Relaxed) && fill.iter().all(|&b| b == 0) {
            return true;
        }
        let mut walks = walks(part, &vec![0; part.takes.len()], self.item);
        // One row of fill values is the source of every row: the source does not move along outer axes.
        walks.sort_by_key(|w| Reverse(w.dst_stride()));
        let row = walks.last().map_or(1, Walk::count);
        let source = fill.repeat(row);
        let last = walks.len().saturating_sub(1);
        for (i, walk) in walks.iter_mut().enumerate() {
            walk.set_source(if i == last { self.item as isize } else { 0 });
        }
        // SAFETY: as in `place`.
        unsafe { copy(walks, (source.as_ptr(), source.len()), (self.pointer, self.len), self.item) }
    }
}

/// Bytes of a handle.
pub const HANDLE: usize = 8;

/// Resolves handles into variable-length elements.
pub fn resolve(handles: &[u8], collected: &[Variable]) -> Variable {
    let content = |h: &[u8]| {
        let entry = u32::from_le_bytes([h[0], h[1], h[2], h[3]]) as usize;
        let element = u32::from_le_bytes([h[4], h[5], h[6], h[7]]) as usize;
        collected[entry].get(element)
    };
    let total = handles.chunks_exact(HANDLE).map(|h| content(h).len()).sum();
    let mut out = Variable { offsets: Vec::with_capacity(handles.len() / HANDLE + 1), data: Vec::with_capacity(total) };
    out.offsets.push(0);
    handles.chunks_exact(HANDLE).for_each(|h| out.push(content(h)));
    out
}

/// Gathers the part of `source` (strides of `part`) into a chunk buffer (C order, `shape`): the mirror of placing.
/// False where the part reaches outside either buffer.
pub fn gather(source: &[u8], part: &Part, chunk: &mut [u8], shape: &[u64], item: usize) -> bool {
    let mut walks = walks(part, shape, item);
    walks.iter_mut().for_each(Walk::exchange);
    let len = chunk.len();
    // SAFETY: `copy` checks both extents; both borrows are ours.
    #[allow(unsafe_code)]
    unsafe {
        copy(walks, (source.as_ptr(), source.len()), (chunk.as_mut_ptr(), len), item)
    }
}

/// Gathers variable-length elements: the chunk's elements at the part's places are replaced by those of `source`.
pub fn gather_variable(source: &Variable, part: &Part, chunk: &mut [Vec<u8>], shape: &[u64]) -> bool {
    // Strides of a variable source count elements.
    let (indices, positions) = (index_pairs(part, shape), chunk.len());
    for (from, to) in indices {
        if from >= source.len() || to >= positions {
            return false;
        }
        chunk[to] = source.get(from).to_vec();
    }
    true
}

fn index_pairs(part: &Part, shape: &[u64]) -> Vec<(usize, usize)> {
    let mut pairs = vec![(0usize, 0usize)];
    let mut stride = 1usize;
    let mut strides: SmallVec<[usize; 4]> = shape.iter().map(|_| 0).collect();
    for a in (0..shape.len()).rev() {
        strides[a] = stride;
        stride *= shape[a] as usize;
    }
    for (a, take) in part.takes.iter().enumerate() {
        let along: Vec<(usize, usize)> = match take {
            Take::Run { start, step, count, dst } => (0..*count)
                .map(|k| ((*dst + k) as usize * part.strides[a], start.wrapping_add_signed(step * k as i64) as usize * strides[a]))
                .collect(),
            Take::List(list) => list.iter().map(|&(e, d)| (d as usize * part.strides[a], e as usize * strides[a])).collect(),
        };
        pairs = pairs.iter().flat_map(|p| along.iter().map(move |q| (p.0 + q.0, p.1 + q.1))).collect();
    }
    pairs
}

/// One axis of a copy, in bytes.
#[derive(Debug, Clone)]
enum Walk {
    Run { count: usize, src: isize, dst: isize, src0: isize, dst0: isize },
    List(Vec<(isize, isize)>),
}

impl Walk {
    fn count(&self) -> usize {
        match self {
            Walk::Run { count, .. } => *count,
            Walk::List(pairs) => pairs.len(),
        }
    }
    fn dst_stride(&self) -> usize {
        match self {
            Walk::Run { dst, .. } => dst.unsigned_abs(),
            Walk::List(_) => usize::MAX,
        }
    }
    fn set_source(&mut self, stride: isize) {
        match self {
            Walk::Run { src, src0, .. } => (*src, *src0) = (stride, 0),
            Walk::List(pairs) => pairs.iter_mut().enumerate().for_each(|(i, p)| p.0 = stride * i as isize),
        }
    }
    fn shift_source(&mut self, by: isize) {
        match self {
            Walk::Run { src0, .. } => *src0 += by,
            Walk::List(pairs) => pairs.iter_mut().for_each(|p| p.0 += by),
        }
    }
    fn exchange(&mut self) {
        match self {
            Walk::Run { src, dst, src0, dst0, .. } => {
                std::mem::swap(src, dst);
                std::mem::swap(src0, dst0);
            }
            Walk::List(pairs) => pairs.iter_mut().for_each(|p| *p = (p.1, p.0)),
        }
    }
    /// Lowest and highest offset on each side.
    fn extent(&self) -> ((i128, i128), (i128, i128)) {
        match self {
            Walk::Run { count, src, dst, src0, dst0 } => {
                let ends = |first: isize, stride: isize| {
                    let last = first as i128 + stride as i128 * (*count as i128 - 1);
                    ((first as i128).min(last), (first as i128).max(last))
                };
                (ends(*src0, *src), ends(*dst0, *dst))
            }
            Walk::List(pairs) => pairs.iter().fold(((i128::MAX, i128::MIN), (i128::MAX, i128::MIN)), |(s, d), p| {
                let (a, b) = (p.0 as i128, p.1 as i128);
                ((s.0.min(a), s.1.max(a)), (d.0.min(b), d.1.max(b)))
            }),
        }
    }
}

fn walks(part: &Part, shape: &[u64], item: usize) -> SmallVec<[Walk; 4]> {
    let mut stride = item as isize;
    let mut walks: SmallVec<[Walk; 4]> = SmallVec::new();
    for a in (0..part.takes.len()).rev() {
        let out = part.strides[a] as isize;
        walks.push(match &part.takes[a] {
            Take::Run { start, step, count, dst } => Walk::Run {
                count: *count as usize,
                src: stride.wrapping_mul(*step as isize),
                dst: out,
                src0: stride.wrapping_mul(*start as isize),
                dst0: out.wrapping_mul(*dst as isize),
            },
            Take::List(pairs) => {
                Walk::List(pairs.iter().map(|&(e, d)| (stride.wrapping_mul(e as isize), out.wrapping_mul(d as isize))).collect())
            }
        });
        stride = stride.wrapping_mul(shape[a] as isize);
    }
    walks.reverse();
    walks
}

/// Copies `item` bytes for every element of the product of `walks`. False, and nothing is copied, where either side would
/// be left.
///
/// # Safety
/// `dst` is valid for writes of its length where the walks go, and does not overlap `src`.
#[allow(unsafe_code)]
unsafe fn copy(walks: SmallVec<[Walk; 4]>, src: (*const u8, usize), dst: (*mut u8, usize), item: usize) -> bool {
    if walks.iter().any(|w| w.count() == 0) {
        return true;
    }
    let (mut low, mut high) = ((0i128, 0i128), (item as i128, item as i128));
    for walk in &walks {
        let (s, d) = walk.extent();
        (low.0, low.1) = (low.0 + s.0, low.1 + d.0);
        (high.0, high.1) = (high.0 + s.1, high.1 + d.1);
    }
    if low.0 < 0 || low.1 < 0 || high.0 > src.1 as i128 || high.1 > dst.1 as i128 {
        return false;
    }
    let (mut first_src, mut first_dst) = (0isize, 0isize);
    let mut runs: SmallVec<[(usize, isize, isize); 4]> = SmallVec::new();
    let mut lists: SmallVec<[Vec<(isize, isize)>; 2]> = SmallVec::new();
    for walk in walks {
        match walk {
            Walk::Run { count, src, dst, src0, dst0 } => {
                (first_src, first_dst) = (first_src + src0, first_dst + dst0);
                if count > 1 {
                    runs.push((count, src, dst));
                }
            }
            Walk::List(pairs) => lists.push(pairs),
        }
    }
    let runs = merged(runs);
    // SAFETY: the extents were checked above; merging and reordering visit the same elements.
    unsafe {
        over_lists(&lists, src.0.offset(first_src), dst.0.offset(first_dst), &mut |s, d| over_runs(&runs, s, d, item));
    }
    true
}

/// Sorts axes by falling output stride and merges neighbours that are one run on both sides.
fn merged(mut runs: SmallVec<[(usize, isize, isize); 4]>) -> SmallVec<[(usize, isize, isize); 4]> {
    runs.sort_by_key(|r| Reverse((r.2.unsigned_abs(), r.1.unsigned_abs())));
    let mut out: SmallVec<[(usize, isize, isize); 4]> = SmallVec::new();
    for run in runs {
        match out.last_mut() {
            Some(outer) if outer.1 == run.1 * run.0 as isize && outer.2 == run.2 * run.0 as isize => {
                *outer = (outer.0 * run.0, run.1, run.2);
            }
            _ => out.push(run),
        }
    }
    // The axis that is dense in the source comes next to the one that is dense in the output: they form tiles.
    let n = out.len();
    if let Some(dense) = (0..n).min_by_key(|&i| out[i].1.unsigned_abs()).filter(|&i| n > 2 && i + 2 < n) {
        let run = out.remove(dense);
        out.insert(n - 2, run);
    }
    out
}

#[allow(unsafe_code)]
unsafe fn over_lists(lists: &[Vec<(isize, isize)>], src: *const u8, dst: *mut u8, each: &mut dyn FnMut(*const u8, *mut u8)) {
    match lists.split_first() {
        None => each(src, dst),
        Some((list, rest)) => {
            for &(s, d) in list {
                // SAFETY: within the extents that `copy` checked.
                unsafe { over_lists(rest, src.offset(s), dst.offset(d), each) };
            }
        }
    }
}

#[allow(unsafe_code)]
unsafe fn over_runs(runs: &[(usize, isize, isize)], src: *const u8, dst: *mut u8, item: usize) {
    // SAFETY (all blocks): within the extents that `copy` checked.
    match runs {
        [] => unsafe { std::ptr::copy_nonoverlapping(src, dst, item) },
        [(count, s, d)] if *s == item as isize && *d == item as isize => unsafe { std::ptr::copy_nonoverlapping(src, dst, count * item) },
        [run] => unsafe { row(*run, src, dst, item) },
        [outer, (count, s, d)] if *s == item as isize && *d == item as isize => unsafe { rows(*outer, count * item, src, dst) },
        [outer, inner] if outer.1.unsigned_abs() < inner.1.unsigned_abs() => unsafe { tile::tile(*outer, *inner, src, dst, item) },
        [outer, rest @ ..] => {
            for k in 0..outer.0 as isize {
                unsafe { over_runs(rest, src.offset(k * outer.1), dst.offset(k * outer.2), item) };
            }
        }
    }
}

/// Rows of `len` bytes each.
#[allow(unsafe_code)]
unsafe fn rows((count, s, d): (usize, isize, isize), len: usize, mut src: *const u8, mut dst: *mut u8) {
    for k in 0..count {
        // SAFETY: within the extents that `copy` checked; the pointers move on only where another row follows.
        unsafe {
            std::ptr::copy_nonoverlapping(src, dst, len);
            if k + 1 < count {
                (src, dst) = (src.offset(s), dst.offset(d));
            }
        }
    }
}

/// One strided row, as numbers of the item's width where it has one.
#[allow(unsafe_code)]
unsafe fn row((count, s, d): (usize, isize, isize), src: *const u8, dst: *mut u8, item: usize) {
    macro_rules! typed {
        ($t:ty) => {
            for k in 0..count as isize {
                // SAFETY: within the checked extents; unaligned access is asked for.
                unsafe { dst.offset(k * d).cast::<$t>().write_unaligned(src.offset(k * s).cast::<$t>().read_unaligned()) }
            }
        };
    }
    match item {
        1 => typed!(u8),
        2 => typed!(u16),
        4 => typed!(u32),
        8 => typed!(u64),
        16 => typed!(u128),
        _ => {
            for k in 0..count as isize {
                // SAFETY: within the checked extents.
                unsafe { std::ptr::copy_nonoverlapping(src.offset(k * s), dst.offset(k * d), item) }
            }
        }
    }
}

#[cfg(test)]
mod tests;
