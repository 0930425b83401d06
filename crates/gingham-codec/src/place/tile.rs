//! Rows and columns exchanged: what a transposed chunk costs when it is placed.
//!
//! Along one axis the source is dense, along the other the output is. A tile is one cache line (64 bytes) of each, so that
//! every line is read once and written once: strides of transposed chunks are often powers of two, whose lines all fall into
//! one set of the cache, and a line that is left half used is fetched again.

/// One axis: how many elements, and bytes between neighbours in the source and in the output.
pub(super) type Run = (usize, isize, isize);

/// A cache line.
const LINE: usize = 64;

/// Copies every element of `outer` x `inner`.
///
/// # Safety
/// `src` is valid for reads and `dst` for writes of `item` bytes wherever the two runs go.
#[allow(unsafe_code)]
pub(super) unsafe fn tile(outer: Run, inner: Run, src: *const u8, dst: *mut u8, item: usize) {
    let dense = outer.1 == item as isize && inner.2 == item as isize;
    // SAFETY (all): the caller's promise, handed on.
    match item {
        1 if dense => unsafe { exchange::<u8>(outer, inner, src, dst) },
        2 if dense => unsafe { exchange::<u16>(outer, inner, src, dst) },
        4 if dense => unsafe { exchange::<u32>(outer, inner, src, dst) },
        8 if dense => unsafe { exchange::<u64>(outer, inner, src, dst) },
        _ => unsafe { strided(outer, inner, src, dst, item) },
    }
}

/// Neither side is dense, or the elements are of another size: row by row, in tiles of 32 x 32.
#[allow(unsafe_code)]
unsafe fn strided(outer: Run, inner: Run, src: *const u8, dst: *mut u8, item: usize) {
    const TILE: usize = 32;
    for o in (0..outer.0).step_by(TILE) {
        let os = TILE.min(outer.0 - o);
        for i in (0..inner.0).step_by(TILE) {
            let is = TILE.min(inner.0 - i);
            for k in o..o + os {
                // SAFETY: within the runs.
                unsafe {
                    let s = src.offset(k as isize * outer.1 + i as isize * inner.1);
                    let d = dst.offset(k as isize * outer.2 + i as isize * inner.2);
                    super::row((is, inner.1, inner.2), s, d, item);
                }
            }
        }
    }
}

/// A tile at a time: its rows are brought into a buffer, a line each, and leave it as columns.
#[allow(unsafe_code)]
unsafe fn exchange<T: Number>(outer: Run, inner: Run, src: *const u8, dst: *mut u8) {
    let item = size_of::<T>();
    let edge = LINE / item;
    let mut buffer = Buffer([0; LINE * LINE]);
    let lines = buffer.0.as_mut_ptr();
    for o in (0..outer.0).step_by(edge) {
        let os = edge.min(outer.0 - o);
        for i in (0..inner.0).step_by(edge) {
            let is = edge.min(inner.0 - i);
            // SAFETY: `is` rows of `os` elements of the source and `os` rows of `is` of the output, within the runs; the
            // buffer has `edge <= LINE` lines.
            unsafe {
                let from = src.add(o * item);
                for k in 0..is {
                    let row = from.offset((i + k) as isize * inner.1);
                    if os == edge {
                        std::ptr::copy_nonoverlapping(row, lines.add(k * LINE), LINE);
                    } else {
                        std::ptr::copy_nonoverlapping(row, lines.add(k * LINE), os * item);
                    }
                }
                columns::<T>(lines, (os, is), dst.offset(o as isize * outer.2).add(i * item), outer.2);
            }
        }
    }
}

/// Aligned, so that a line of the buffer is one of the cache.
#[repr(align(64))]
struct Buffer([u8; LINE * LINE]);

/// Writes the columns of a buffer of lines as rows: `os` rows of `is` elements.
#[allow(unsafe_code)]
unsafe fn columns<T: Number>(lines: *const u8, (os, is): (usize, usize), dst: *mut u8, stride: isize) {
    let item = size_of::<T>();
    for o in (0..os).step_by(T::BLOCK) {
        for i in (0..is).step_by(T::BLOCK) {
            // SAFETY: blocks are whole or clipped to what the caller vouches for.
            unsafe {
                let from = lines.add(i * LINE + o * item);
                let to = dst.offset(o as isize * stride).add(i * item);
                if o + T::BLOCK <= os && i + T::BLOCK <= is {
                    T::block(from, to, stride);
                    continue;
                }
                for a in 0..T::BLOCK.min(os - o) {
                    for b in 0..T::BLOCK.min(is - i) {
                        let value = from.add(b * LINE + a * item).cast::<T>().read();
                        to.offset(a as isize * stride).cast::<T>().add(b).write_unaligned(value);
                    }
                }
            }
        }
    }
}

/// Elements of one width, and how a block of them is exchanged in registers.
trait Number: Copy {
    /// Rows and columns of a block.
    const BLOCK: usize;
    /// Exchanges rows and columns of a block: from lines of the buffer to rows `stride` bytes apart.
    ///
    /// # Safety
    /// A block's rows are valid on both sides.
    #[allow(unsafe_code)]
    unsafe fn block(lines: *const u8, dst: *mut u8, stride: isize);
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    //! SSE2, which every x86-64 has.
    #![allow(unsafe_code)]

    use super::{LINE, Number};
    use std::arch::x86_64::*;

    /// Interleaves the low and the high halves of pairs of rows that lie `N / 2` apart; log2(N) such steps exchange rows and columns.
    macro_rules! step {
        ($rows:ident, $low:ident, $high:ident) => {{
            let half = $rows.len() / 2;
            let mut next = $rows;
            for k in 0..half {
                next[2 * k] = $low($rows[k], $rows[k + half]);
                next[2 * k + 1] = $high($rows[k], $rows[k + half]);
            }
            next
        }};
    }

    impl Number for u8 {
        const BLOCK: usize = 16;
        unsafe fn block(lines: *const u8, dst: *mut u8, stride: isize) {
            // SAFETY: sixteen rows of sixteen bytes on both sides, by the caller's promise.
            unsafe {
                let mut rows: [__m128i; 16] = std::array::from_fn(|k| _mm_loadu_si128(lines.add(k * LINE).cast()));
                for _ in 0..4 {
                    rows = step!(rows, _mm_unpacklo_epi8, _mm_unpackhi_epi8);
                }
                rows.iter().enumerate().for_each(|(k, row)| _mm_storeu_si128(dst.offset(k as isize * stride).cast(), *row));
            }
        }
    }

    impl Number for u16 {
        const BLOCK: usize = 8;
        unsafe fn block(lines: *const u8, dst: *mut u8, stride: isize) {
            // SAFETY: eight rows of eight elements on both sides, by the caller's promise.
            unsafe {
                let mut rows: [__m128i; 8] = std::array::from_fn(|k| _mm_loadu_si128(lines.add(k * LINE).cast()));
                for _ in 0..3 {
                    rows = step!(rows, _mm_unpacklo_epi16, _mm_unpackhi_epi16);
                }
                rows.iter().enumerate().for_each(|(k, row)| _mm_storeu_si128(dst.offset(k as isize * stride).cast(), *row));
            }
        }
    }

    impl Number for u32 {
        const BLOCK: usize = 4;
        unsafe fn block(lines: *const u8, dst: *mut u8, stride: isize) {
            // SAFETY: four rows of four elements on both sides, by the caller's promise.
            unsafe {
                let mut rows: [__m128i; 4] = std::array::from_fn(|k| _mm_loadu_si128(lines.add(k * LINE).cast()));
                for _ in 0..2 {
                    rows = step!(rows, _mm_unpacklo_epi32, _mm_unpackhi_epi32);
                }
                rows.iter().enumerate().for_each(|(k, row)| _mm_storeu_si128(dst.offset(k as isize * stride).cast(), *row));
            }
        }
    }

    impl Number for u64 {
        const BLOCK: usize = 2;
        unsafe fn block(lines: *const u8, dst: *mut u8, stride: isize) {
            // SAFETY: two rows of two elements on both sides, by the caller's promise.
            unsafe {
                let (a, b) = (_mm_loadu_si128(lines.cast()), _mm_loadu_si128(lines.add(LINE).cast()));
                _mm_storeu_si128(dst.cast(), _mm_unpacklo_epi64(a, b));
                _mm_storeu_si128(dst.offset(stride).cast(), _mm_unpackhi_epi64(a, b));
            }
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod plain {
    //! One element at a time, from the buffer.
    #![allow(unsafe_code)]

    use super::{LINE, Number};

    macro_rules! number {
        ($($t:ty)*) => {$(
            impl Number for $t {
                const BLOCK: usize = 8;
                unsafe fn block(lines: *const u8, dst: *mut u8, stride: isize) {
                    for a in 0..Self::BLOCK {
                        for b in 0..Self::BLOCK {
                            // SAFETY: within the block, by the caller's promise.
                            unsafe {
                                let value = lines.add(b * LINE).cast::<$t>().add(a).read();
                                dst.offset(a as isize * stride).cast::<$t>().add(b).write_unaligned(value);
                            }
                        }
                    }
                }
            }
        )*};
    }
    number!(u8 u16 u32 u64);
}
