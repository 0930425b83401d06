//! libdeflate under gzip and zlib: streams decoded in one shot, straight into buffers of known size.
//!
//! ```text
//!   gzip:  header ‖ deflate ‖ crc32 ‖ length, any number of these, then perhaps zeros
//!   zlib:  header ‖ deflate ‖ adler32,                             then perhaps zeros
//! ```
//!
//! A result of unknown length is decoded into a guess; a guess that is too small is doubled and the member decoded again,
//! so that the work is at most twice that of the right guess.

use std::mem::MaybeUninit;
use std::ptr::NonNull;

use libdeflate_sys as sys;
use libdeflater::{CompressionLvl, Compressor};

use super::growth;
use crate::{CodecFault, Context, Result, Room};

/// Deflate's best ratio: 258 bytes for a length symbol and a distance symbol of one bit each.
const BEST_RATIO: usize = 1032;

/// What is wrapped around deflate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrapper {
    Gzip,
    Zlib,
}

/// Why a member was not decoded.
enum Stop {
    /// The data are broken or cut short.
    Bad,
    /// The buffer is too small.
    Full,
}

/// A libdeflate decompressor that also says how much of its input it used.
pub struct Inflater(NonNull<sys::libdeflate_decompressor>);

#[allow(unsafe_code)]
// SAFETY: a decompressor is a plain allocation that belongs to its owner; libdeflate keeps no thread-local state.
unsafe impl Send for Inflater {}

#[allow(unsafe_code)]
impl Drop for Inflater {
    fn drop(&mut self) {
        // SAFETY: the pointer came from libdeflate_alloc_decompressor and is freed once.
        unsafe { sys::libdeflate_free_decompressor(self.0.as_ptr()) }
    }
}

#[allow(unsafe_code)]
impl Inflater {
    /// A new one; `None` where memory is out.
    pub fn new() -> Option<Self> {
        // SAFETY: no preconditions; null is handled.
        NonNull::new(unsafe { sys::libdeflate_alloc_decompressor() }).map(Inflater)
    }

    /// Decodes one member; gives the bytes used and the bytes written, of which all are initialised.
    fn member(&mut self, wrapper: Wrapper, input: &[u8], out: &mut [MaybeUninit<u8>]) -> std::result::Result<(usize, usize), Stop> {
        let run = match wrapper {
            Wrapper::Gzip => sys::libdeflate_gzip_decompress_ex,
            Wrapper::Zlib => sys::libdeflate_zlib_decompress_ex,
        };
        let (mut used, mut written) = (0, 0);
        // SAFETY: both slices are valid for their lengths, `out` for writing; the decompressor is exclusively ours.
        let result = unsafe {
            run(self.0.as_ptr(), input.as_ptr().cast(), input.len(), out.as_mut_ptr().cast(), out.len(), &mut used, &mut written)
        };
        match result {
            sys::libdeflate_result_LIBDEFLATE_SUCCESS if used <= input.len() && written <= out.len() => Ok((used, written)),
            sys::libdeflate_result_LIBDEFLATE_INSUFFICIENT_SPACE => Err(Stop::Full),
            _ => Err(Stop::Bad),
        }
    }

    /// Decodes one member into a slice.
    fn member_into(&mut self, wrapper: Wrapper, input: &[u8], out: &mut [u8]) -> std::result::Result<(usize, usize), Stop> {
        // SAFETY: u8 and MaybeUninit<u8> have one layout, and `member` only ever writes initialised bytes.
        let out = unsafe { std::slice::from_raw_parts_mut(out.as_mut_ptr().cast::<MaybeUninit<u8>>(), out.len()) };
        self.member(wrapper, input, out)
    }

    /// Decodes one member behind what `out` holds, in the capacity that it has but to no more than `limit` bytes in all.
    fn member_append(&mut self, wrapper: Wrapper, input: &[u8], out: &mut Vec<u8>, limit: usize) -> std::result::Result<usize, Stop> {
        let len = out.len();
        let spare = out.spare_capacity_mut();
        let most = spare.len().min(limit.saturating_sub(len));
        let (used, written) = self.member(wrapper, input, &mut spare[..most])?;
        // SAFETY: `written` ≤ the spare capacity, and libdeflate has written these bytes.
        unsafe { out.set_len(len + written) };
        Ok(used)
    }
}

/// The worker's decompressor, made at first use.
fn inflater<'a>(codec: &str, context: &'a mut Context) -> Result<&'a mut Inflater> {
    if context.deflate_d.is_none() {
        context.deflate_d = Inflater::new();
    }
    context.deflate_d.as_mut().ok_or_else(|| CodecFault::unsupported(codec, "cannot allocate a decompressor"))
}

fn bad(codec: &str, at: usize, len: usize) -> CodecFault {
    CodecFault::corrupt(codec, format!("the stream that begins at byte {at} of {len} is broken, cut short or fails its checksum"))
}

fn trailing(codec: &str, at: usize, len: usize) -> CodecFault {
    CodecFault::corrupt(codec, format!("the stream ends at byte {at} of {len} and is followed by bytes that are not zero"))
}

/// Whether there is another member at `at`; an error where something else than zeros follows the last one.
fn another(codec: &str, wrapper: Wrapper, bytes: &[u8], at: usize) -> Result<bool> {
    match bytes.get(at) {
        Some(0x1f) if wrapper == Wrapper::Gzip => Ok(true),
        Some(_) if !growth::only_zeros(&bytes[at..]) => Err(trailing(codec, at, bytes.len())),
        _ => Ok(false),
    }
}

/// Decodes into a buffer of exactly the decoded length.
pub(crate) fn inflate_into(codec: &str, wrapper: Wrapper, bytes: &[u8], out: &mut [u8], context: &mut Context) -> Result<()> {
    let inflater = inflater(codec, context)?;
    let (mut at, mut written) = (0, 0);
    loop {
        let (used, wrote) = inflater.member_into(wrapper, &bytes[at..], &mut out[written..]).map_err(|stop| match stop {
            Stop::Bad => bad(codec, at, bytes.len()),
            Stop::Full => growth::too_long(codec, out.len()),
        })?;
        at += used;
        written += wrote;
        if !another(codec, wrapper, bytes, at)? {
            return growth::check(codec, Room::Exactly(out.len()), written);
        }
    }
}

/// The first guess of how long the result is. gzip's last four bytes are the length of the last member modulo 2³²: a hint
/// that is right for almost every file, and worth no more than what so much input can hold.
fn guess(wrapper: Wrapper, bytes: &[u8]) -> usize {
    match (wrapper, bytes.last_chunk::<4>()) {
        (Wrapper::Gzip, Some(tail)) => (u32::from_le_bytes(*tail) as usize).max(bytes.len()),
        _ => bytes.len().saturating_mul(4),
    }
}

/// Decodes into a buffer that grows within the room.
pub(crate) fn inflate(codec: &str, wrapper: Wrapper, bytes: &[u8], room: Room, out: &mut Vec<u8>, context: &mut Context) -> Result<()> {
    let most = room.limit().min(bytes.len().saturating_mul(BEST_RATIO));
    if let Room::Exactly(due) = room {
        growth::plausible(codec, due as u64, bytes.len(), BEST_RATIO as u64)?;
        growth::reserve(codec, out, due)?;
    } else {
        growth::reserve(codec, out, guess(wrapper, bytes).min(most))?;
    }
    let inflater = inflater(codec, context)?;
    let mut at = 0;
    loop {
        match inflater.member_append(wrapper, &bytes[at..], out, most) {
            Ok(used) => {
                at += used;
                if !another(codec, wrapper, bytes, at)? {
                    return growth::check(codec, room, out.len());
                }
            }
            Err(Stop::Full) if out.capacity() < most => {
                let next = out.capacity().saturating_mul(2).clamp(64, most.max(64));
                growth::reserve(codec, out, next)?;
            }
            Err(Stop::Full) => return Err(growth::too_long(codec, most)),
            Err(Stop::Bad) => return Err(bad(codec, at, bytes.len())),
        }
    }
}

/// zlib's levels: -1 is 6, and there is none above 9.
pub(crate) fn level(level: i32) -> i32 {
    if level < 0 { 6 } else { level.min(9) }
}

/// Encodes at one of zlib's levels.
pub(crate) fn deflate(codec: &str, wrapper: Wrapper, level: i32, bytes: &[u8], out: &mut Vec<u8>, context: &mut Context) -> Result<()> {
    if context.deflate_c.as_ref().is_none_or(|(made_for, _)| *made_for != level) {
        let checked =
            CompressionLvl::new(level).map_err(|_| CodecFault::unsupported(codec, format!("level {level} is not one of 0 to 9")))?;
        context.deflate_c = Some((level, Compressor::new(checked)));
    }
    let Some((_, compressor)) = context.deflate_c.as_mut() else {
        return Err(CodecFault::unsupported(codec, "no compressor"));
    };
    let bound = match wrapper {
        Wrapper::Gzip => compressor.gzip_compress_bound(bytes.len()),
        Wrapper::Zlib => compressor.zlib_compress_bound(bytes.len()),
    };
    growth::reserve(codec, out, bound)?;
    out.resize(bound, 0);
    let written = match wrapper {
        Wrapper::Gzip => compressor.gzip_compress(bytes, out),
        Wrapper::Zlib => compressor.zlib_compress(bytes, out),
    }
    .map_err(|e| CodecFault::unsupported(codec, format!("{} bytes do not compress into {bound}: {e}", bytes.len())))?;
    out.truncate(written);
    Ok(())
}
