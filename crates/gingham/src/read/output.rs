//! The memory that a read fills.

use std::alloc::{Layout, alloc_zeroed};

use crate::Element;
use crate::error::{Error, Kind, Result};

/// Outputs from this size on ask for huge pages: first touch then runs at 16.5 GiB/s instead of 3.3 (two threads).
const HUGE_FROM: usize = 4 << 20;

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

/// The memory of elements.
#[allow(unsafe_code)]
pub(crate) fn bytes_of<T: Element>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: `Element` has no padding and takes every bit pattern; the slice is borrowed exclusively.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast::<u8>(), size_of_val(values)) }
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn advise_huge(buffer: &mut [u8]) {
    const HUGE: usize = 2 << 20;
    let first = buffer.as_mut_ptr() as usize;
    let (from, to) = (first.next_multiple_of(4096), (first + buffer.len()) & !4095);
    if to > from + HUGE {
        // SAFETY: advice over whole pages inside our own allocation; it changes no content, and failure changes nothing.
        unsafe { libc::madvise(from as *mut libc::c_void, to - from, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn advise_huge(_: &mut [u8]) {}
