//! `zstd` (RFC 8878; format.md 5.4): any number of frames, also skippable ones, decoded in one shot.
//!
//! One-shot decoding uses the result itself as its window, so a frame's window size never allocates anything.

use zstd::zstd_safe::{self, CCtx, CParameter, DCtx, ErrorCode};

use super::growth;
use crate::{BytesToBytes, CodecFault, Context, Result, Room};

const NAME: &str = "zstd";

/// The best ratio: a block of up to 128 KiB takes a header of three bytes and at least one more.
const BEST_RATIO: u64 = 128 * 1024 / 4;

/// `ZSTD_error_dstSize_tooSmall`; the library pins its numbers. Codes are negative numbers as `size_t`.
const TOO_SMALL: ErrorCode = 70usize.wrapping_neg();

/// The codec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zstd {
    level: i32,
    checksum: bool,
}

impl Zstd {
    /// Levels beyond the library's (-131072 to 22) are the nearest one; 0 is its default, 3.
    pub fn new(level: i32, checksum: bool) -> Self {
        let level = if level == 0 { 3 } else { level.clamp(zstd_safe::min_c_level(), zstd_safe::max_c_level()) };
        Zstd { level, checksum }
    }
}

fn fault(code: ErrorCode, len: usize) -> CodecFault {
    CodecFault::corrupt(NAME, format!("{len} bytes do not decode: {}", zstd_safe::get_error_name(code)))
}

/// The length that the frames together claim, or `None` where one of them does not say.
fn claimed(bytes: &[u8]) -> Result<Option<u64>> {
    if bytes.is_empty() {
        return Err(CodecFault::corrupt(NAME, "no bytes, expected a frame"));
    }
    let (mut at, mut total) = (0, Some(0u64));
    while at < bytes.len() {
        let rest = &bytes[at..];
        let size = zstd_safe::get_frame_content_size(rest)
            .map_err(|_| CodecFault::corrupt(NAME, format!("at byte {at} of {} is no frame header", bytes.len())))?;
        total = total.zip(size).and_then(|(a, b)| a.checked_add(b));
        let len = zstd_safe::find_frame_compressed_size(rest).map_err(|code| {
            let why = zstd_safe::get_error_name(code);
            CodecFault::corrupt(NAME, format!("the frame at byte {at} of {} is cut short or broken: {why}", bytes.len()))
        })?;
        at += len.max(1);
    }
    Ok(total)
}

/// The worker's context, made at first use.
fn decoder(context: &mut Context) -> Result<&mut DCtx<'static>> {
    if context.zstd_d.is_none() {
        context.zstd_d = DCtx::try_create();
    }
    context.zstd_d.as_mut().ok_or_else(|| CodecFault::unsupported(NAME, "cannot allocate a decompressor"))
}

/// The worker's context, made at first use.
fn encoder(context: &mut Context) -> Result<&mut CCtx<'static>> {
    if context.zstd_c.is_none() {
        context.zstd_c = CCtx::try_create();
    }
    context.zstd_c.as_mut().ok_or_else(|| CodecFault::unsupported(NAME, "cannot allocate a compressor"))
}

/// Checks what the frames claim against the room and against what so many bytes can hold.
fn check_claim(bytes: &[u8], room: Room) -> Result<Option<usize>> {
    let Some(claim) = claimed(bytes)? else { return Ok(None) };
    growth::plausible(NAME, claim, bytes.len(), BEST_RATIO)?;
    let claim = usize::try_from(claim).map_err(|_| growth::too_long(NAME, room.limit()))?;
    growth::check(NAME, room, claim)?;
    Ok(Some(claim))
}

/// Decodes frames of unknown length into a buffer that doubles until they fit.
fn decode_unknown(bytes: &[u8], room: Room, out: &mut Vec<u8>, context: &mut Context) -> Result<()> {
    let most = room.limit().min(usize::try_from((bytes.len() as u64).saturating_mul(BEST_RATIO)).unwrap_or(usize::MAX));
    let mut next = match room {
        Room::Exactly(due) => due,
        Room::AtMost(_) => bytes.len().saturating_mul(4).max(64 * 1024),
    };
    growth::plausible(NAME, if matches!(room, Room::Exactly(_)) { next as u64 } else { 0 }, bytes.len(), BEST_RATIO)?;
    loop {
        growth::reserve(NAME, out, next.min(most))?;
        match decoder(context)?.decompress(out, bytes) {
            Ok(len) => return growth::check(NAME, room, len),
            Err(TOO_SMALL) if out.capacity() < most => next = out.capacity().saturating_mul(2),
            Err(TOO_SMALL) => return Err(growth::too_long(NAME, room.limit())),
            Err(code) => return Err(fault(code, bytes.len())),
        }
        out.clear();
    }
}

impl BytesToBytes for Zstd {
    fn name(&self) -> &'static str {
        NAME
    }

    fn encode(&self, bytes: &[u8], out: &mut Vec<u8>, context: &mut Context) -> Result<()> {
        growth::reserve(NAME, out, zstd_safe::compress_bound(bytes.len()))?;
        let encoder = encoder(context)?;
        let refused = |code| CodecFault::unsupported(NAME, format!("cannot encode: {}", zstd_safe::get_error_name(code)));
        encoder.set_parameter(CParameter::CompressionLevel(self.level)).map_err(refused)?;
        encoder.set_parameter(CParameter::ChecksumFlag(self.checksum)).map_err(refused)?;
        encoder.compress2(out, bytes).map_err(refused)?;
        Ok(())
    }

    fn decode(&self, bytes: &[u8], room: Room, out: &mut Vec<u8>, context: &mut Context) -> Result<()> {
        let Some(len) = check_claim(bytes, room)? else {
            return decode_unknown(bytes, room, out, context);
        };
        growth::reserve(NAME, out, len)?;
        let written = decoder(context)?.decompress(out, bytes).map_err(|code| fault(code, bytes.len()))?;
        growth::check(NAME, Room::Exactly(len), written)
    }

    fn decode_into(&self, bytes: &[u8], out: &mut [u8], context: &mut Context) -> Result<()> {
        check_claim(bytes, Room::Exactly(out.len()))?;
        let written = decoder(context)?.decompress(out, bytes).map_err(|code| match code {
            TOO_SMALL => growth::too_long(NAME, out.len()),
            code => fault(code, bytes.len()),
        })?;
        growth::check(NAME, Room::Exactly(out.len()), written)
    }
}
