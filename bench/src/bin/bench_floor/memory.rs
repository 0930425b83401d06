//! Memory in pages of the wanted kind, and copies of boxes between arrays.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ops::Deref;

use crate::document::Three;

const HUGE: usize = 2 << 20;
const PAGE: usize = 4096;

/// How output is allocated.
#[derive(Clone, Copy, PartialEq)]
pub enum Pages {
    /// As malloc gives them: 4 KiB each.
    Small,
    /// Aligned to 2 MiB, and huge pages asked for.
    Huge,
}

/// Memory that nobody has written yet.
pub struct Buffer {
    start: *mut u8,
    layout: Layout,
}

// SAFETY: it owns its memory alone.
unsafe impl Send for Buffer {}

impl Buffer {
    pub fn new(len: usize, pages: Pages) -> Self {
        let huge = pages == Pages::Huge && len >= 2 * HUGE;
        let layout = Layout::from_size_align(len.max(1), if huge { HUGE } else { 64 }).expect("sizes of arrays are far below isize::MAX");
        // SAFETY: the layout is not empty.
        let start = unsafe { alloc(layout) };
        if start.is_null() {
            handle_alloc_error(layout);
        }
        if huge {
            // SAFETY: the range was just allocated; the call changes no contents.
            unsafe { libc::madvise(start.cast(), len, libc::MADV_HUGEPAGE) };
        }
        Self { start, layout }
    }
    pub fn target(&mut self) -> Target {
        Target(self.start)
    }
}

impl Deref for Buffer {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        // SAFETY: whoever made it has written all of it by the time it is read.
        unsafe { std::slice::from_raw_parts(self.start, self.layout.size()) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.start, self.layout) };
    }
}

/// Memory that is used again, and begins at a page: the kernel's copy out of the page cache takes three times as long on some
/// processors where the target lies a few bytes further into its page than the source, as every large `Vec` does.
#[derive(Default)]
pub struct Scratch {
    memory: Vec<u8>,
}

impl Scratch {
    /// So much of it, as it was left.
    pub fn room(&mut self, len: usize) -> &mut [u8] {
        if self.memory.len() < len + PAGE {
            self.memory.resize(len + PAGE, 0);
        }
        let begin = self.memory.as_ptr().align_offset(PAGE);
        &mut self.memory[begin..begin + len]
    }
}

/// Where threads write, each its own part.
#[derive(Clone, Copy)]
pub struct Target(pub *mut u8);

impl Target {
    /// So far into it.
    ///
    /// # Safety
    /// Not beyond its end.
    pub unsafe fn at(self, offset: usize) -> *mut u8 {
        // SAFETY: of the caller.
        unsafe { self.0.add(offset) }
    }
}

// SAFETY: the parts that threads write do not overlap.
unsafe impl Send for Target {}
// SAFETY: as above.
unsafe impl Sync for Target {}

/// One side of a copy: an array in C order (or with its axes reversed), and where in it the box begins.
#[derive(Clone, Copy)]
pub struct Side {
    pub start: *mut u8,
    pub shape: Three,
    pub at: Three,
}

impl Side {
    fn offset(&self, z: usize, y: usize) -> usize {
        ((self.at[0] + z) * self.shape[1] + self.at[1] + y) * self.shape[2] + self.at[2]
    }
}

/// Copies a box.
///
/// # Safety
/// The box lies in both sides, which do not overlap, and nobody else uses it.
pub unsafe fn copy(from: Side, to: Side, shape: Three, item: usize) {
    let whole = |side: &Side, axis: usize| side.shape[axis] == shape[axis];
    let rows = if whole(&from, 2) && whole(&to, 2) { shape[1] } else { 1 };
    for z in 0..shape[0] {
        for y in (0..shape[1]).step_by(rows) {
            // SAFETY: of the caller.
            unsafe {
                let (from, to) = (from.start.add(from.offset(z, y) * item), to.start.add(to.offset(z, y) * item));
                std::ptr::copy_nonoverlapping(from, to, rows * shape[2] * item);
            }
        }
    }
}

/// Zeros in a box.
///
/// # Safety
/// As for [`copy`].
pub unsafe fn clear(to: Side, shape: Three, item: usize) {
    for z in 0..shape[0] {
        for y in 0..shape[1] {
            // SAFETY: of the caller.
            unsafe { std::ptr::write_bytes(to.start.add(to.offset(z, y) * item), 0, shape[2] * item) };
        }
    }
}

/// Copies a box between a chunk whose axes are reversed (`chunk.shape` and `chunk.at` are in the array's order) and an array,
/// one way or the other, in tiles of 32 x 32 so that both sides stay in the cache. Plain loops: this floor can be undercut.
///
/// # Safety
/// As for [`copy`], and both sides are aligned to the element.
pub unsafe fn transpose<T: Copy>(chunk: Side, array: Side, shape: Three, into_array: bool) {
    const TILE: usize = 32;
    let (elements, whole) = (chunk.start.cast::<T>(), array.start.cast::<T>());
    for y in 0..shape[1] {
        for x0 in (0..shape[2]).step_by(TILE) {
            for z0 in (0..shape[0]).step_by(TILE) {
                for z in z0..(z0 + TILE).min(shape[0]) {
                    let row = array.offset(z, y);
                    let column = (chunk.at[1] + y) * chunk.shape[0] + chunk.at[0] + z;
                    for x in x0..(x0 + TILE).min(shape[2]) {
                        let at = (chunk.at[2] + x) * chunk.shape[1] * chunk.shape[0] + column;
                        // SAFETY: of the caller.
                        unsafe {
                            if into_array { *whole.add(row + x) = *elements.add(at) } else { *elements.add(at) = *whole.add(row + x) }
                        }
                    }
                }
            }
        }
    }
}
