//! The memory that a read fills.

use std::alloc::{Layout, alloc_zeroed};
use std::mem::MaybeUninit;

use gingham_codec::place::Target;

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
    let too_large = || too_large(len.saturating_mul(size_of::<T>()));
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

/// Outputs below this size come from memory that was used before (glibc maps none of them freshly once one was freed), so that
/// zeros would cost a pass over it.
const REUSED_BELOW: usize = 32 << 20;

/// Memory that a read is about to fill, from `first` on: its elements begin at a cache line, or where they are many at a huge page,
/// so that placing writes whole lines. (A vector begins 16 bytes into a page, which costs a read of raw chunks a tenth.)
pub(crate) struct Fresh<T> {
    /// With room for `first + len` elements.
    memory: Vec<T>,
    first: usize,
    len: usize,
    zeroed: bool,
}

impl<T: Element> Fresh<T> {
    #[allow(unsafe_code)]
    pub fn new(len: usize) -> Result<Self> {
        let zeroed = len.saturating_mul(size_of::<T>()) >= REUSED_BELOW;
        let align = if zeroed { HUGE } else { LINE };
        let all = len.saturating_add(align / size_of::<T>());
        let mut memory: Vec<T> = if zeroed { self::zeroed(all)? } else { room(all)? };
        let address = memory.as_ptr() as usize;
        let first = ((address.next_multiple_of(align) - address) / size_of::<T>()).min(all - len);
        if !zeroed {
            // SAFETY: zeros are a value of every `Element`.
            memory.resize(first, unsafe { std::mem::zeroed() });
        }
        Ok(Fresh { memory, first, len, zeroed })
    }

    /// Where a read of elements of `item` bytes goes.
    #[allow(unsafe_code)]
    pub fn target_of(&mut self, item: usize) -> Target<'_> {
        if self.zeroed {
            let bytes = bytes_of(&mut self.memory[self.first..self.first + self.len]);
            return Target::fixed(bytes, item, true);
        }
        let room = &mut self.memory.spare_capacity_mut()[..self.len];
        // SAFETY: the same memory as bytes, none of which has to be set.
        let bytes = unsafe { std::slice::from_raw_parts_mut(room.as_mut_ptr().cast::<MaybeUninit<u8>>(), self.len * size_of::<T>()) };
        Target::unset(bytes, item)
    }

    /// The vector, and where the elements begin in it.
    ///
    /// # Safety
    /// A read has filled the target: the parts of a plan cover the output.
    #[allow(unsafe_code)]
    pub unsafe fn filled(mut self) -> (Vec<T>, usize) {
        // SAFETY: so many elements are reserved; those before `first` are set, the others by the caller's promise.
        unsafe { self.memory.set_len(self.first + self.len) };
        (self.memory, self.first)
    }
}

/// An empty vector with room for so many elements.
fn room<T: Element>(len: usize) -> Result<Vec<T>> {
    let mut memory = Vec::new();
    memory.try_reserve_exact(len).map_err(|_| too_large(len * size_of::<T>()))?;
    Ok(memory)
}

/// The elements of a read as bytes (C order, little-endian). They begin at a cache line.
#[derive(Debug)]
pub struct Buffer {
    pub(crate) memory: Vec<u8>,
    pub(crate) first: usize,
}

impl std::ops::Deref for Buffer {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.memory[self.first..]
    }
}

impl std::ops::DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.first..]
    }
}

fn too_large(bytes: usize) -> Error {
    Error::new(Kind::OutOfRange, format!("the result takes {bytes} bytes, more than there is memory for")).with_hint("read it in parts")
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
