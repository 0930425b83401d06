//! `zstd` (RFC 8878; format.md 5.4): any number of frames, also skippable ones, decoded in one shot.
//!
//! One-shot decoding uses the result itself as its window, so a frame's window size never allocates anything.

use zstd::zstd_safe::{self, CCtx, CParameter, DCtx, DParameter, ErrorCode, InBuffer, OutBuffer, ResetDirective};

use super::growth;
use crate::{BytesToBytes, CodecFault, Context, Result, Room};

const NAME: &str = "zstd";

/// The best ratio: a block of up to 128 KiB takes a header of three bytes and at least one more.
const BEST_RATIO: u64 = 128 * 1024 / 4;

/// The most that a block decodes to (RFC 8878, 3.1.1.2.4).
const MAX_BLOCK: usize = 128 << 10;

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

/// Where the blocks of the only frame end, if it has no checksum.
fn blocks(bytes: &[u8]) -> Option<Vec<usize>> {
    let descriptor = *bytes.get(4)?;
    if bytes.get(..4)? != [0x28, 0xb5, 0x2f, 0xfd] || descriptor & 4 != 0 {
        return None;
    }
    let single = descriptor & 0x20 != 0;
    let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let content = [usize::from(single), 2, 4, 8][usize::from(descriptor >> 6)];
    let mut at = 5 + usize::from(!single) + dictionary + content;
    let mut ends = Vec::new();
    loop {
        let header = bytes.get(at..at + 3)?;
        let header = u32::from_le_bytes([header[0], header[1], header[2], 0]);
        let (last, kind, size) = (header & 1 != 0, header >> 1 & 3, (header >> 3) as usize);
        // A run-length block stores one byte, whatever it decodes to.
        at += 3 + if kind == 1 { 1 } else { size };
        ends.push(at);
        if last {
            return (at == bytes.len()).then_some(ends);
        }
    }
}

/// Decodes blocks straight into `out` until `enough` bytes are there.
fn decode_blocks(bytes: &[u8], ends: &[usize], out: &mut [u8], enough: usize, decoder: &mut DCtx<'static>) -> Result<()> {
    let fault = |code| fault(code, bytes.len());
    decoder.reset(ResetDirective::SessionOnly).map_err(fault)?;
    decoder.set_parameter(DParameter::StableOutBuffer(true)).map_err(fault)?;
    let mut output = OutBuffer::around(out);
    let mut from = 0;
    for &end in ends {
        let mut input = InBuffer::around(&bytes[from..end]);
        while input.pos() < end - from {
            let before = input.pos();
            decoder.decompress_stream(&mut output, &mut input).map_err(fault)?;
            if input.pos() == before {
                return Err(CodecFault::corrupt(NAME, format!("the block that ends at byte {end} does not fit into its frame")));
            }
        }
        if output.pos() >= enough {
            return Ok(());
        }
        from = end;
    }
    Err(CodecFault::corrupt(NAME, format!("{} bytes end after {} bytes of content", bytes.len(), output.pos())))
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
        if !self.checksum {
            // The plain call knows nothing of checksums, and costs less than the other for small chunks.
            return encoder.compress(out, bytes, self.level).map(|_| ()).map_err(refused);
        }
        encoder.set_parameter(CParameter::CompressionLevel(self.level)).map_err(refused)?;
        encoder.set_parameter(CParameter::ChecksumFlag(true)).map_err(refused)?;
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

    /// Decodes the blocks of a frame up to the end of what is needed. A frame with a checksum is decoded whole, so that it is
    /// verified.
    fn decode_part_into(&self, bytes: &[u8], out: &mut [u8], need: std::ops::Range<usize>, context: &mut Context) -> Result<bool> {
        if need.end > out.len().saturating_sub(MAX_BLOCK) {
            return Ok(false);
        }
        let Some(blocks) = blocks(bytes) else { return Ok(false) };
        if check_claim(bytes, Room::Exactly(out.len()))?.is_none() {
            return Ok(false);
        }
        let result = decode_blocks(bytes, &blocks, out, need.end, decoder(context)?);
        if result.is_err() {
            // It refuses everything after a failure.
            context.zstd_d = None;
        }
        result.map(|()| true)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::codecs::checksum::tests::X;

    fn decode(stored: &[u8], room: Room) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        Zstd::new(0, false).decode(stored, room, &mut out, &mut Context::default())?;
        Ok(out)
    }

    fn encode(level: i32, checksum: bool, plain: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        Zstd::new(level, checksum).encode(plain, &mut out, &mut Context::default()).unwrap();
        out
    }

    /// A frame that does not say how long its content is, as streaming writers leave it.
    fn unsized_frame(plain: &[u8]) -> Vec<u8> {
        let frame = ::zstd::stream::encode_all(plain, 1).unwrap();
        assert_eq!(zstd_safe::get_frame_content_size(&frame).unwrap(), None);
        frame
    }

    #[test]
    fn vectors() {
        let plain = [&[0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x0a, 0x51, 0, 0][..], X].concat();
        assert_eq!(encode(1, false, X), plain);
        let summed = [&[0x28, 0xb5, 0x2f, 0xfd, 0x24, 0x0a, 0x51, 0, 0][..], X, &[0x53, 0x2a, 0xbd, 0x98]].concat();
        assert_eq!(encode(1, true, X), summed);
        assert_eq!(encode(1, false, &[]), [0x28, 0xb5, 0x2f, 0xfd, 0x20, 0, 1, 0, 0]);
        for stored in [plain, summed] {
            assert_eq!(decode(&stored, Room::Exactly(10)).unwrap(), X);
        }
    }

    #[test]
    fn a_frame_of_17_bytes_that_claims_a_tebibyte_allocates_nothing() {
        let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0xc0, 0x58];
        frame.extend((1u64 << 40).to_le_bytes());
        frame.extend([1, 0, 0]);
        assert_eq!(frame.len(), 17);
        for room in [Room::Exactly(1 << 40), Room::AtMost(usize::MAX), Room::AtMost(100)] {
            let mut out = Vec::new();
            let fault = Zstd::new(0, false).decode(&frame, room, &mut out, &mut Context::default()).unwrap_err();
            assert!(fault.what.contains("1099511627776"), "{fault}");
            assert_eq!(out.capacity(), 0);
        }
    }

    #[test]
    fn frames_in_a_row_without_length_and_to_be_skipped() {
        let long: Vec<u8> = (0..300_000u32).map(|i| (i / 1000) as u8).collect();
        let skippable = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 9, 9, 9];
        let sized = [&skippable[..], &encode(3, true, &long), &skippable, &encode(1, false, X), &encode(1, false, &[])].concat();
        let half = [&encode(3, true, &long)[..], &unsized_frame(X), &skippable].concat();
        let none = [&unsized_frame(&long)[..], &unsized_frame(X)].concat();
        let due = [&long[..], X].concat();
        for stored in [sized, half, none] {
            for room in [Room::Exactly(due.len()), Room::AtMost(due.len()), Room::AtMost(usize::MAX)] {
                assert!(decode(&stored, room).unwrap() == due, "{room:?}");
            }
            let mut out = vec![0; due.len()];
            Zstd::new(0, false).decode_into(&stored, &mut out, &mut Context::default()).unwrap();
            assert!(out == due);
            for room in [Room::Exactly(due.len() - 1), Room::Exactly(due.len() + 1), Room::AtMost(due.len() - 1)] {
                assert!(decode(&stored, room).is_err(), "{room:?}");
            }
            assert!(Zstd::new(0, false).decode_into(&stored, &mut out[1..], &mut Context::default()).is_err());
        }
    }

    #[test]
    fn a_window_of_gibibytes_costs_nothing() {
        // Window descriptor 0xa8: 2^31 bytes; one raw block of two bytes.
        let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 0x11, 0, 0, 7, 8];
        assert_eq!(decode(&frame, Room::Exactly(2)).unwrap(), [7, 8]);
        assert_eq!(decode(&frame, Room::AtMost(100)).unwrap(), [7, 8]);
    }

    #[test]
    fn the_checksum_counts_and_a_context_outlives_errors() {
        let mut context = Context::default();
        let codec = Zstd::new(3, true);
        let good = encode(3, true, X);
        let mut bad = good.clone();
        *bad.last_mut().unwrap() ^= 1;
        let mut out = [0; 10];
        for _ in 0..3 {
            assert!(codec.decode_into(&bad, &mut out, &mut context).is_err());
            codec.decode_into(&good, &mut out, &mut context).unwrap();
            assert_eq!(out, X);
        }
    }

    #[test]
    fn levels_are_held_to_those_that_exist() {
        assert_eq!(Zstd::new(0, false), Zstd::new(3, false));
        assert_eq!(Zstd::new(100, false), Zstd::new(22, false));
        assert_eq!(Zstd::new(i32::MIN, false), Zstd::new(-131_072, false));
        for level in [i32::MIN, -1, 22] {
            assert_eq!(decode(&encode(level, false, X), Room::Exactly(10)).unwrap(), X);
        }
    }

    #[test]
    fn no_bytes_are_no_frame() {
        assert!(decode(&[], Room::AtMost(9)).is_err());
        assert!(Zstd::new(0, false).decode_into(&[], &mut [], &mut Context::default()).is_err());
    }

    /// Parts are what the whole has there; where nothing is gained, and where a checksum must be verified, none is decoded.
    #[test]
    fn parts() {
        let plain: Vec<u8> = (0..600_000u32).flat_map(|i| (i.wrapping_mul(i) / 7).to_le_bytes()[..2].to_vec()).collect();
        let stored = encode(3, false, &plain);
        let part = |stored: &[u8], need: std::ops::Range<usize>| {
            let mut out = vec![0xaa; plain.len()];
            let mut context = Context::default();
            // A context that stopped in the middle of a frame begins the next one anew.
            for _ in 0..2 {
                if !Zstd::new(0, false).decode_part_into(stored, &mut out, need.clone(), &mut context)? {
                    return Ok(None);
                }
            }
            let mut whole = vec![0; plain.len()];
            Zstd::new(0, false).decode_into(stored, &mut whole, &mut context)?;
            assert_eq!(whole, plain);
            Ok(Some(out[need].to_vec()))
        };
        for need in [0..1, 5..131_072, 131_071..131_073, 400_000..1_000_000, 7..1_060_000] {
            assert_eq!(part(&stored, need.clone()).unwrap().as_deref(), Some(&plain[need.clone()]), "{need:?}");
        }
        assert_eq!(part(&stored, 0..plain.len()).unwrap(), None);
        assert_eq!(part(&encode(3, true, &plain), 0..1).unwrap(), None);
        assert_eq!(part(&[stored.clone(), encode(3, false, &[])].concat(), 0..1).unwrap(), None);
        // Cut short anywhere, it is never taken for whole.
        for cut in [stored.len() - 1, stored.len() / 2, 20, 5] {
            let result: Result<_> = part(&stored[..cut], 0..1);
            assert!(!matches!(result, Ok(Some(_))), "{cut}");
        }
        let mut broken = stored.clone();
        broken[40..400].iter_mut().for_each(|b| *b ^= 0x5a);
        assert!(part(&broken, 0..200_000).is_err() || part(&broken, 0..200_000).unwrap() != Some(plain[..200_000].to_vec()));
    }
}
