//! The memory that a read fills.

use std::alloc::{Layout, alloc_zeroed};

use crate::Element;
use crate::error::{Error, Kind, Result};

/// Outputs from this size on ask for huge pages: first touch then runs at 16.5 GiB/s instead of 3.3 (two threads).
const HUGE_FROM: usize = 4 << 20;
/// A huge page, and a cache line.
const HUGE: usize = 2 << 20;
const LINE: usize = 64;

/// Zeroed memory, or an error where there is not so much. Large blocks come fresh from the system, zero without a write, and
/// in huge pages where it has them.
#[allow(unsafe_code)]
pub(crate) fn zeroed<T: Element>(len: usize) -> Result<Vec<T>> {
    if len == 0 {
        return Ok(Vec::new());
    }
    let too_large = || {
        Error::new(
            Kind::OutOfRange,
            format!("the result takes {} bytes, more than there is memory for", len as u128 * size_of::<T>() as u128),
        )
        .with_hint("read it in parts")
    };
    let layout = Layout::array::<T>(len).map_err(|_| too_large())?;
    // SAFETY: the layout is not empty; the pointer is checked and has the layout that the vector frees; zeros are a value of
    // every `Element`.
    let mut buffer: Vec<T> = unsafe {
        let pointer = alloc_zeroed(layout);
        if pointer.is_null() {
            return Err(too_large());
        }
        Vec::from_raw_parts(pointer.cast::<T>(), len, len)
    };
    if layout.size() >= HUGE_FROM {
        advise_huge(bytes_of(&mut buffer));
    }
    Ok(buffer)
}

/// The elements of a read as bytes (C order, little-endian): memory that begins at a cache line, or where it is large at a huge
/// page, so that placing writes whole lines. A vector begins 16 bytes into a page, which costs a read of raw chunks a tenth.
#[derive(Debug)]
pub struct Buffer {
    memory: Vec<u8>,
    from: usize,
    len: usize,
}

impl Buffer {
    /// `len` zeros.
    pub(crate) fn zeroed(len: usize) -> Result<Buffer> {
        let align = if len >= HUGE_FROM { HUGE } else { LINE };
        let memory: Vec<u8> = zeroed(len.saturating_add(align))?;
        let from = memory.as_ptr().align_offset(align).min(align);
        Ok(Buffer { memory, from, len })
    }
}

impl std::ops::Deref for Buffer {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.memory[self.from..self.from + self.len]
    }
}

impl std::ops::DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.from..self.from + self.len]
    }
}

/// How many elements to leave unused at the front of `values`, which has `spare` too many, so that the rest begins at a cache line
/// or a huge page.
pub(crate) fn aligned<T>(values: &[T], spare: usize) -> usize {
    let align = if size_of_val(values) >= HUGE_FROM { HUGE } else { LINE };
    let offset = (values.as_ptr() as usize).next_multiple_of(align) - values.as_ptr() as usize;
    let elements = offset / size_of::<T>().max(1);
    if elements <= spare { elements } else { 0 }
}

/// Elements too many that [`aligned`] wants of a result of `len`.
pub(crate) fn spare<T>(len: usize) -> usize {
    let align = if len.saturating_mul(size_of::<T>()) >= HUGE_FROM { HUGE } else { LINE };
    align / size_of::<T>().max(1)
}

/// The memory of elements.
#[allow(unsafe_code)]
pub(crate) fn bytes_of<T: Element>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: `Element` has no padding and takes every bit pattern; the slice is borrowed exclusively.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast::<u8>(), size_of_val(values)) }
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn advise_huge(buffer: &mut [u8]) {
    let first = buffer.as_mut_ptr() as usize;
    let (from, to) = (first.next_multiple_of(4096), (first + buffer.len()) & !4095);
    if to > from + HUGE {
        // SAFETY: advice over whole pages inside our own allocation; it changes no content, and failure changes nothing.
        unsafe { libc::madvise(from as *mut libc::c_void, to - from, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn advise_huge(_: &mut [u8]) {}
