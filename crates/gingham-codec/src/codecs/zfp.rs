//! `zfp`: floats and integers in blocks of four along each axis, through LLNL's own C code (format.md 3.3).
//!
//! The registered codec stores a stream without header; [`super::zfpy`] stores one with it. Both share [`compress`] and
//! [`decompress`] here, the only unsafe code of the array codecs.
//!
//! zfp reads and writes its buffer without looking at its end. How far it can go follows from its algorithm: a block of n values of
//! w bits takes at most 32 bits in front, n bits in each of w bit planes, and one more bit per value that turns significant, or its
//! configured minimum; a block of zero bits alone takes at most 70. Buffers to write into are that long for all blocks
//! ([`Field::most`]). Streams to read are followed by zeros for the block that runs over their end and for all blocks there are
//! ([`Field::reach`]), whatever a stream or header says.
#![allow(unsafe_code)]

use gingham_core::codec::ZfpMode;
use gingham_core::dtype::{DataType, Elements, Float};
use half::{bf16, f16};
use smallvec::SmallVec;
use zfp_sys as sys;

use super::checked::{self, Way};
use super::numbers::Number;
use crate::{ArrayToBytes, CodecFault, Context, Rep, Result};

const NAME: &str = "zfp";

/// `zfp` with its mode.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Zfp {
    mode: ZfpMode,
}

impl Zfp {
    /// Compresses in this mode.
    pub fn new(mode: ZfpMode) -> Result<Self> {
        check_mode(NAME, &mode)?;
        Ok(Zfp { mode })
    }
}

/// Refuses parameters that zfp's own arithmetic does not survive.
pub(crate) fn check_mode(codec: &str, mode: &ZfpMode) -> Result<()> {
    let refuse = |what: String| Err(CodecFault::unsupported(codec, what));
    match *mode {
        // zfp's blocks have at most 16658 bits for 256 values; a rate beyond 65 bits per value is padding alone.
        ZfpMode::FixedRate(rate) if !(rate > 0.0 && rate <= 4096.0) => {
            refuse(format!("a rate of {rate} bits per value: above 0, at most 4096"))
        }
        ZfpMode::FixedAccuracy(t) if t.is_nan() => refuse("a tolerance of NaN".into()),
        ZfpMode::Expert { minbits, maxbits, maxprec, .. } if minbits > maxbits.min(1 << 20) || maxprec == 0 || maxprec > 64 => {
            refuse(format!("minbits {minbits}, maxbits {maxbits}, maxprec {maxprec}: minbits <= maxbits, minbits <= 2^20, maxprec 1 to 64"))
        }
        _ => Ok(()),
    }
}

/// The number type that zfp itself works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scalar {
    I32,
    I64,
    F32,
    F64,
}

impl Scalar {
    pub(crate) fn width(self) -> usize {
        match self {
            Scalar::I32 | Scalar::F32 => 4,
            Scalar::I64 | Scalar::F64 => 8,
        }
    }
    fn code(self) -> sys::zfp_type {
        match self {
            Scalar::I32 => sys::zfp_type_zfp_type_int32,
            Scalar::I64 => sys::zfp_type_zfp_type_int64,
            Scalar::F32 => sys::zfp_type_zfp_type_float,
            Scalar::F64 => sys::zfp_type_zfp_type_double,
        }
    }
    fn is_float(self) -> bool {
        matches!(self, Scalar::F32 | Scalar::F64)
    }
}

/// An array as zfp sees it: one to four axes, none of length zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) scalar: Scalar,
    /// In C order, the last varies fastest.
    pub(crate) shape: SmallVec<[usize; 4]>,
}

impl Field {
    /// Scalars count as one axis of length 1.
    pub(crate) fn new(codec: &str, scalar: Scalar, shape: &[u64]) -> Result<Self> {
        if shape.len() > 4 {
            return Err(CodecFault::unsupported(codec, format!("takes at most 4 axes, not {}", shape.len())));
        }
        let shape = if shape.is_empty() { SmallVec::from_slice(&[1]) } else { shape.iter().map(|&n| n as usize).collect() };
        Ok(Field { scalar, shape })
    }

    fn count(&self) -> usize {
        self.shape.iter().product()
    }

    /// Values in a block.
    fn block(&self) -> u128 {
        1 << (2 * self.shape.len())
    }

    fn blocks(&self) -> u128 {
        self.shape.iter().map(|&n| n.div_ceil(4) as u128).product()
    }

    /// Bits of a block at most.
    fn most_of_block(&self, minbits: u32) -> u128 {
        (32 + self.block() * (8 * self.scalar.width() as u128 + 1)).max(u128::from(minbits))
    }

    /// Words of 64 bits that no stream of this field is longer than: header and all blocks.
    fn most(&self, codec: &str, minbits: u32) -> Result<usize> {
        self.words(codec, self.blocks().checked_mul(self.most_of_block(minbits)))
    }

    /// Words that reading a stream of `len` bytes, followed by zeros, reaches at most.
    fn reach(&self, codec: &str, minbits: u32, len: usize) -> Result<usize> {
        let zeros = self.blocks().checked_mul(70 + u128::from(minbits));
        self.words(codec, zeros.map(|z| z.saturating_add(8 * len as u128 + self.most_of_block(minbits))))
    }

    /// Bits as words, with eight more: the header (148 bits), the words at both ends, one read ahead.
    fn words(&self, codec: &str, bits: Option<u128>) -> Result<usize> {
        let words = bits.and_then(|b| usize::try_from(b / 64 + 8).ok());
        words.ok_or_else(|| CodecFault::unsupported(codec, format!("a chunk of shape {:?} is too large", self.shape)))
    }
}

/// Zeroed words. Memory of this size that is never touched costs nothing; where there is none, that is an error and no abort.
fn zeroed(codec: &str, words: usize) -> Result<Vec<u64>> {
    let none = || CodecFault::unsupported(codec, format!("{words} words of memory cannot be had"));
    let layout = std::alloc::Layout::array::<u64>(words).map_err(|_| none())?;
    if words == 0 {
        return Ok(Vec::new());
    }
    // SAFETY: the layout is that of `words` u64 and not empty; zero bytes are a valid u64; a Vec frees with this very layout.
    unsafe {
        let p = std::alloc::alloc_zeroed(layout).cast::<u64>();
        if p.is_null() { Err(none()) } else { Ok(Vec::from_raw_parts(p, words, words)) }
    }
}

/// zfp's three objects, freed together.
struct Session {
    field: *mut sys::zfp_field,
    stream: *mut sys::zfp_stream,
    bits: *mut sys::bitstream,
}

impl Session {
    /// `data` holds the field's values (or is null while only a header is read); `words` is the compressed stream.
    /// Both must outlive the session.
    fn open(codec: &str, data: *mut u8, field: Option<&Field>, words: &mut [u64]) -> Result<Self> {
        let data = data.cast::<std::ffi::c_void>();
        // SAFETY: these only allocate and store the pointers and lengths they are given.
        let session = unsafe {
            let field = match field.map(|f| (f.scalar.code(), &f.shape[..])) {
                None => sys::zfp_field_alloc(),
                Some((t, &[x])) => sys::zfp_field_1d(data, t, x),
                Some((t, &[y, x])) => sys::zfp_field_2d(data, t, x, y),
                Some((t, &[z, y, x])) => sys::zfp_field_3d(data, t, x, y, z),
                Some((t, &[w, z, y, x])) => sys::zfp_field_4d(data, t, x, y, z, w),
                Some(_) => std::ptr::null_mut(),
            };
            let bits = sys::stream_open(words.as_mut_ptr().cast(), size_of_val(words));
            Session { field, stream: sys::zfp_stream_open(bits), bits }
        };
        if session.field.is_null() || session.stream.is_null() || session.bits.is_null() {
            return Err(CodecFault::unsupported(codec, "zfp could not be set up"));
        }
        Ok(session)
    }

    fn set_mode(&mut self, codec: &str, mode: &ZfpMode, field: &Field) -> Result<()> {
        check_mode(codec, mode)?;
        let dims = field.shape.len() as u32;
        // SAFETY: the stream is open (not null, checked in `open`); these set numbers in it. Rates are bounded by `check_mode`,
        // so that their product with a block's values fits an unsigned int.
        let set = unsafe {
            match *mode {
                ZfpMode::Reversible => {
                    sys::zfp_stream_set_reversible(self.stream);
                    true
                }
                ZfpMode::FixedRate(rate) => sys::zfp_stream_set_rate(self.stream, rate, field.scalar.code(), dims, 0) > 0.0,
                ZfpMode::FixedPrecision(precision) => sys::zfp_stream_set_precision(self.stream, precision) > 0,
                ZfpMode::FixedAccuracy(tolerance) => {
                    sys::zfp_stream_set_accuracy(self.stream, tolerance);
                    true
                }
                ZfpMode::Expert { minbits, maxbits, maxprec, minexp } => {
                    sys::zfp_stream_set_params(self.stream, minbits, maxbits, maxprec, minexp) != 0
                }
            }
        };
        if set { Ok(()) } else { Err(CodecFault::unsupported(codec, format!("zfp refuses the mode {mode:?}"))) }
    }

    fn minbits(&self) -> u32 {
        // SAFETY: the stream is open; it is a plain struct.
        unsafe { (*self.stream).minbits }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // SAFETY: each was made by its own constructor, is freed once, and null is checked where free itself would not.
        unsafe {
            if !self.field.is_null() {
                sys::zfp_field_free(self.field);
            }
            if !self.stream.is_null() {
                sys::zfp_stream_close(self.stream);
            }
            if !self.bits.is_null() {
                sys::stream_close(self.bits);
            }
        }
    }
}

/// A value that zfp's type may be made of.
pub(crate) trait Native: Number {}
impl Native for i32 {}
impl Native for i64 {}
impl Native for f32 {}
impl Native for f64 {}

/// Compresses values, appending to `out`; with a full header in front if asked.
pub(crate) fn compress<T: Native>(
    codec: &str,
    mode: &ZfpMode,
    field: &Field,
    values: &mut [T],
    header: bool,
    out: &mut Vec<u8>,
) -> Result<()> {
    if size_of::<T>() != field.scalar.width() || values.len() != field.count() || values.is_empty() {
        return Err(CodecFault::value(codec, format!("got {} values for a chunk of shape {:?}", values.len(), field.shape)));
    }
    let mut probe = Session::open(codec, std::ptr::null_mut(), Some(field), &mut [])?;
    probe.set_mode(codec, mode, field)?;
    let mut words = zeroed(codec, field.most(codec, probe.minbits())?)?;
    drop(probe);
    let mut session = Session::open(codec, values.as_mut_ptr().cast(), Some(field), &mut words)?;
    session.set_mode(codec, mode, field)?;
    // SAFETY: `values` has as many values of the field's type as the field says (checked above) and `words` is as long as any stream
    // of this field and mode (`Field::most`), header included; both outlive the session. The policy is serial by default.
    let (written, size) = unsafe {
        let written = if header { sys::zfp_write_header(session.stream, session.field, sys::ZFP_HEADER_FULL) } else { 1 };
        (written, if written > 0 { sys::zfp_compress(session.stream, session.field) } else { 0 })
    };
    drop(session);
    if written == 0 {
        return Err(CodecFault::unsupported(codec, format!("a chunk of shape {:?} does not fit zfp's header", field.shape)));
    }
    if size == 0 || size > words.len() * 8 {
        return Err(CodecFault::value(codec, "zfp could not compress the chunk"));
    }
    out.extend(words[..size.div_ceil(8)].iter().flat_map(|w| w.to_le_bytes()).take(size));
    Ok(())
}

/// How a stream says what it holds.
pub(crate) enum Described<'a> {
    /// Not at all: the mode is configured.
    By(&'a ZfpMode),
    /// By a full header, which must agree with the field in type and number of values.
    ByHeader,
}

/// Decompresses into values.
pub(crate) fn decompress<T: Native>(codec: &str, described: Described<'_>, field: &Field, bytes: &[u8], values: &mut [T]) -> Result<()> {
    let corrupt = |what: String| Err(CodecFault::corrupt(codec, what));
    if size_of::<T>() != field.scalar.width() || values.len() != field.count() || values.is_empty() {
        return corrupt(format!("{} values for a chunk of shape {:?}", values.len(), field.shape));
    }
    let field = match described {
        Described::By(_) => field.clone(),
        Described::ByHeader => header_field(codec, field, bytes)?,
    };
    // The parameters first: how long the buffer must be depends on the least bits of a block.
    let mut head = [0u64; 8];
    load_words(&bytes[..bytes.len().min(64)], &mut head);
    let mut probe = Session::open(codec, std::ptr::null_mut(), Some(&field), &mut head)?;
    probe.describe(codec, &described, &field)?;
    let minbits = probe.minbits();
    drop(probe);
    let least = field.blocks() * u128::from(minbits) / 8;
    if (bytes.len() as u128) < least {
        return corrupt(format!("got {} bytes, a chunk of shape {:?} has at least {least}", bytes.len(), field.shape));
    }
    let mut words = zeroed(codec, field.reach(codec, minbits, bytes.len())?)?;
    load_words(bytes, &mut words);
    let run = |words: &mut [u64], values: &mut [T]| -> Result<usize> {
        let mut session = Session::open(codec, values.as_mut_ptr().cast(), Some(&field), words)?;
        session.describe(codec, &described, &field)?;
        // SAFETY: the field has exactly the values of `values` (same count and type, checked above and in `header_field`; the second
        // slice has the length of the first), and no stream of this field reads beyond `words` (`Field::reach`); both outlive the
        // session. The policy is serial by default.
        let n = unsafe { sys::zfp_decompress(session.stream, session.field) };
        debug_assert!(n <= size_of_val(words), "zfp read {n} bytes of {}", size_of_val(words));
        Ok(n)
    };
    // zfp ends its streams at a word of 64 bits (builds with smaller words at one of those), so this is the stream's exact length.
    match run(&mut words, values)? {
        0 => return corrupt("zfp could not decompress the chunk".into()),
        n if n > bytes.len().next_multiple_of(8) => {
            return corrupt(format!("the stream of {} bytes is cut off: at least {n} are needed", bytes.len()));
        }
        n if n < bytes.len() => return corrupt(format!("the stream ends after {n} of {} bytes", bytes.len())),
        _ => {}
    }
    let whole = bytes.len() / 8;
    if !bytes.len().is_multiple_of(8) {
        // Whether the last word is cut off shows when what is missing matters: once as zeros, once as ones.
        words[whole] |= u64::MAX << (8 * (bytes.len() % 8));
        let mut again = values.to_vec();
        let n = run(&mut words, &mut again)?;
        let differs = |(a, b): (&T, &T)| store_one(*a) != store_one(*b);
        if n != (whole + 1) * 8 || values.iter().zip(&again).any(differs) {
            return corrupt(format!("the stream of {} bytes is cut off within its last word", bytes.len()));
        }
    }
    Ok(())
}

fn store_one<T: Number>(value: T) -> [u8; 8] {
    let mut b = [0; 8];
    value.store(&mut b[..T::WIDTH]);
    b
}

impl Session {
    /// Sets the mode from what describes the stream, leaving it where the blocks begin.
    fn describe(&mut self, codec: &str, described: &Described<'_>, field: &Field) -> Result<()> {
        match described {
            Described::By(mode) => self.set_mode(codec, mode, field),
            Described::ByHeader => {
                // SAFETY: a header has at most 148 bits, every buffer here has 512. The field it sets has no pointer of its own,
                // and its type and lengths are those of `header_field`, which read the same bits.
                let bits = unsafe { sys::zfp_read_header(self.stream, self.field, sys::ZFP_HEADER_FULL) };
                if bits == 0 { Err(CodecFault::corrupt(codec, "no zfp header of this version")) } else { Ok(()) }
            }
        }
    }
}

/// The field that the header describes, if it is one for `want`: the same type, as many values.
fn header_field(codec: &str, want: &Field, bytes: &[u8]) -> Result<Field> {
    let corrupt = |what: String| Err(CodecFault::corrupt(codec, what));
    if bytes.len() < 12 {
        return corrupt(format!("got {} bytes, a zfp header alone has 12", bytes.len()));
    }
    let mut head = [0u64; 8];
    load_words(&bytes[..bytes.len().min(64)], &mut head);
    let mut session = Session::open(codec, std::ptr::null_mut(), None, &mut head)?;
    session.describe(codec, &Described::ByHeader, want)?;
    // SAFETY: the field is open; it is a plain struct that `zfp_read_header` filled.
    let (code, lengths) = unsafe {
        let f = &*session.field;
        (f.type_, [f.nw, f.nz, f.ny, f.nx])
    };
    let shape: SmallVec<[usize; 4]> = lengths.into_iter().skip_while(|&n| n == 0).collect();
    if code != want.scalar.code() {
        return corrupt(format!("the header's type is {code}, expected {} (1 int32, 2 int64, 3 float32, 4 float64)", want.scalar.code()));
    }
    let count = shape.iter().try_fold(1usize, |p, &n| p.checked_mul(n));
    if shape.is_empty() || shape.contains(&0) || count != Some(want.count()) {
        return corrupt(format!("the header's shape is {shape:?}, expected {:?}", want.shape));
    }
    Ok(Field { scalar: want.scalar, shape })
}

fn load_words(bytes: &[u8], words: &mut [u64]) {
    for (chunk, word) in bytes.chunks(8).zip(words) {
        let mut b = [0; 8];
        b[..chunk.len()].copy_from_slice(chunk);
        *word = u64::from_le_bytes(b);
    }
}

/// How an element type is fed to zfp: its own type, or a wider one with its values at the top.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Promotion {
    None,
    /// value << shift, from a signed type of this many bits
    Signed(u32),
    /// (value - 2^(bits - 1)) << shift
    Unsigned(u32),
    /// The lower half of uint32 or uint64.
    Lower,
    Half,
    BFloat,
}

fn promotion(data_type: &DataType) -> Result<(Scalar, Promotion)> {
    use DataType as T;
    Ok(match data_type {
        T::Int32 => (Scalar::I32, Promotion::None),
        T::Int64 | T::DateTime { .. } | T::TimeDelta { .. } => (Scalar::I64, Promotion::None),
        T::UInt32 => (Scalar::I32, Promotion::Lower),
        T::UInt64 => (Scalar::I64, Promotion::Lower),
        T::Int8 => (Scalar::I32, Promotion::Signed(8)),
        T::Int16 => (Scalar::I32, Promotion::Signed(16)),
        T::UInt8 => (Scalar::I32, Promotion::Unsigned(8)),
        T::UInt16 => (Scalar::I32, Promotion::Unsigned(16)),
        T::Float(Float::F32) => (Scalar::F32, Promotion::None),
        T::Float(Float::F64) => (Scalar::F64, Promotion::None),
        T::Float(Float::F16) => (Scalar::F32, Promotion::Half),
        T::Float(Float::BFloat16) => (Scalar::F32, Promotion::BFloat),
        other => return Err(CodecFault::unsupported(NAME, format!("takes integers of 8 to 64 bits and floats of 16 to 64, not {other}"))),
    })
}

/// That a lossy mode gets no NaN and no infinity, which it would turn into arbitrary numbers.
pub(crate) fn check_finite(codec: &str, mode: &ZfpMode, scalar: Scalar, bytes: &[u8]) -> Result<()> {
    if *mode == ZfpMode::Reversible || !scalar.is_float() {
        return Ok(());
    }
    let bad = match scalar {
        Scalar::F32 => bytes.chunks_exact(4).position(|c| !<f32 as Number>::load(c).is_finite()),
        _ => bytes.chunks_exact(8).position(|c| !<f64 as Number>::load(c).is_finite()),
    };
    match bad {
        Some(i) => Err(CodecFault::value(codec, format!("element {i} is NaN or infinite, which only the reversible mode keeps"))),
        None => Ok(()),
    }
}

/// Packed elements of zfp's own types through [`compress`].
pub(crate) fn compress_bytes(codec: &str, mode: &ZfpMode, field: &Field, bytes: &[u8], header: bool, out: &mut Vec<u8>) -> Result<()> {
    check_finite(codec, mode, field.scalar, bytes)?;
    match field.scalar {
        Scalar::I32 => compress(codec, mode, field, &mut load_all::<i32>(bytes), header, out),
        Scalar::I64 => compress(codec, mode, field, &mut load_all::<i64>(bytes), header, out),
        Scalar::F32 => compress(codec, mode, field, &mut load_all::<f32>(bytes), header, out),
        Scalar::F64 => compress(codec, mode, field, &mut load_all::<f64>(bytes), header, out),
    }
}

/// The reverse of [`compress_bytes`].
pub(crate) fn decompress_bytes(codec: &str, described: Described<'_>, field: &Field, bytes: &[u8], out: &mut [u8]) -> Result<()> {
    fn run<T: Native>(codec: &str, described: Described<'_>, field: &Field, bytes: &[u8], out: &mut [u8]) -> Result<()> {
        let mut values = vec![T::cast(super::numbers::Scalar::Int(0)); out.len() / T::WIDTH];
        decompress(codec, described, field, bytes, &mut values)?;
        values.iter().zip(out.chunks_exact_mut(T::WIDTH)).for_each(|(v, c)| v.store(c));
        Ok(())
    }
    match field.scalar {
        Scalar::I32 => run::<i32>(codec, described, field, bytes, out),
        Scalar::I64 => run::<i64>(codec, described, field, bytes, out),
        Scalar::F32 => run::<f32>(codec, described, field, bytes, out),
        Scalar::F64 => run::<f64>(codec, described, field, bytes, out),
    }
}

fn load_all<T: Number>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(T::WIDTH).map(T::load).collect()
}

/// Element bytes of a narrow type as bytes of zfp's type.
fn promote(promotion: Promotion, bytes: &[u8]) -> Vec<u8> {
    let narrow = |width: usize, f: &dyn Fn(&[u8]) -> [u8; 4]| bytes.chunks_exact(width).flat_map(f).collect();
    match promotion {
        Promotion::None | Promotion::Lower => bytes.to_vec(),
        Promotion::Signed(8) => narrow(1, &|c| (i32::from(c[0] as i8) << 23).to_le_bytes()),
        Promotion::Signed(_) => narrow(2, &|c| (i32::from(<i16 as Number>::load(c)) << 15).to_le_bytes()),
        Promotion::Unsigned(8) => narrow(1, &|c| ((i32::from(c[0]) - (1 << 7)) << 23).to_le_bytes()),
        Promotion::Unsigned(_) => narrow(2, &|c| ((i32::from(<u16 as Number>::load(c)) - (1 << 15)) << 15).to_le_bytes()),
        Promotion::Half => narrow(2, &|c| <f16 as Number>::load(c).to_f32().to_le_bytes()),
        Promotion::BFloat => narrow(2, &|c| bf16::from_bits(<u16 as Number>::load(c)).to_f32().to_le_bytes()),
    }
}

/// Bytes of zfp's type back to element bytes; what lossy compression pushed out of range is clamped.
fn demote(promotion: Promotion, bytes: &[u8], out: &mut [u8]) {
    let wide = bytes.chunks_exact(4);
    match promotion {
        Promotion::None | Promotion::Lower => out.copy_from_slice(bytes),
        Promotion::Signed(8) => wide.zip(out).for_each(|(c, d)| *d = (<i32 as Number>::load(c) >> 23).clamp(-128, 127) as u8),
        Promotion::Signed(_) => wide.zip(out.chunks_exact_mut(2)).for_each(|(c, d)| {
            ((<i32 as Number>::load(c) >> 15).clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16).store(d);
        }),
        Promotion::Unsigned(8) => {
            wide.zip(out).for_each(|(c, d)| *d = ((<i32 as Number>::load(c) >> 23) + (1 << 7)).clamp(0, 255) as u8);
        }
        Promotion::Unsigned(_) => wide.zip(out.chunks_exact_mut(2)).for_each(|(c, d)| {
            (((<i32 as Number>::load(c) >> 15) + (1 << 15)).clamp(0, 65535) as u16).store(d);
        }),
        Promotion::Half => wide.zip(out.chunks_exact_mut(2)).for_each(|(c, d)| f16::from_f32(<f32 as Number>::load(c)).store(d)),
        Promotion::BFloat => {
            wide.zip(out.chunks_exact_mut(2)).for_each(|(c, d)| bf16::from_f32(<f32 as Number>::load(c)).to_bits().store(d));
        }
    }
}

/// The sign bit of little-endian numbers, by position of the first that has it.
fn first_negative(bytes: &[u8], width: usize) -> Option<usize> {
    bytes.chunks_exact(width).position(|c| c[width - 1] & 0x80 != 0)
}

impl ArrayToBytes for Zfp {
    fn encoded_len(&self, _: &Rep) -> Option<usize> {
        None
    }

    fn encode(&self, input: &Rep, elements: &Elements, out: &mut Vec<u8>, _: &mut Context) -> Result<()> {
        let (scalar, how) = promotion(&input.data_type)?;
        let bytes = checked::fixed_ref(NAME, Way::Encode, input, elements)?;
        let field = Field::new(NAME, scalar, &input.shape)?;
        if bytes.is_empty() {
            return Ok(());
        }
        // zfp has no unsigned type of these widths; the upper half has no place in the signed one.
        if how == Promotion::Lower
            && let Some(i) = first_negative(bytes, scalar.width())
        {
            let what = format!("element {i} is above the greatest signed number of its width, which zfp cannot store");
            return Err(CodecFault::value(NAME, what));
        }
        if how == Promotion::None {
            return compress_bytes(NAME, &self.mode, &field, bytes, false, out);
        }
        compress_bytes(NAME, &self.mode, &field, &promote(how, bytes), false, out)
    }

    fn decode(&self, input: &Rep, bytes: &[u8], context: &mut Context) -> Result<Elements> {
        let size = checked::size_of(NAME, input)?;
        let mut out = vec![0; size * input.count()];
        self.decode_into(input, bytes, &mut out, context)?;
        Ok(Elements::Fixed(out))
    }

    fn decode_into(&self, input: &Rep, bytes: &[u8], out: &mut [u8], _: &mut Context) -> Result<()> {
        let (scalar, how) = promotion(&input.data_type)?;
        checked::check_len(NAME, Way::Decode, input, out.len())?;
        let field = Field::new(NAME, scalar, &input.shape)?;
        if out.is_empty() {
            return Ok(());
        }
        if how == Promotion::None {
            return decompress_bytes(NAME, Described::By(&self.mode), &field, bytes, out);
        }
        let mut wide = vec![0; field.count() * scalar.width()];
        decompress_bytes(NAME, Described::By(&self.mode), &field, bytes, &mut wide)?;
        if how == Promotion::Lower {
            // What lossy compression pushed below zero is zero.
            for c in wide.chunks_exact_mut(scalar.width()) {
                if c[scalar.width() - 1] & 0x80 != 0 {
                    c.fill(0);
                }
            }
        }
        demote(how, &wide, out);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use gingham_core::Shape;
    use gingham_core::dtype::FillValue;
    use proptest::prelude::*;

    fn rep(data_type: DataType, shape: &[u64]) -> Rep {
        Rep { data_type, shape: Shape::from_slice(shape), fill: FillValue::new([]) }
    }

    fn stored(c: &Zfp, r: &Rep, bytes: &[u8]) -> Vec<u8> {
        let mut out = vec![];
        c.encode(r, &Elements::Fixed(bytes.to_vec()), &mut out, &mut Context::default()).unwrap();
        out
    }

    fn decoded(c: &Zfp, r: &Rep, bytes: &[u8]) -> Result<Vec<u8>> {
        match c.decode(r, bytes, &mut Context::default())? {
            Elements::Fixed(b) => Ok(b),
            Elements::Variable(_) => unreachable!(),
        }
    }

    fn types() -> Vec<(DataType, usize)> {
        use DataType as D;
        vec![
            (D::Int8, 1),
            (D::UInt8, 1),
            (D::Int16, 2),
            (D::UInt16, 2),
            (D::Int32, 4),
            (D::Int64, 8),
            (D::Float(Float::F16), 2),
            (D::Float(Float::BFloat16), 2),
            (D::Float(Float::F32), 4),
            (D::Float(Float::F64), 8),
        ]
    }

    const MODES: [ZfpMode; 6] = [
        ZfpMode::Reversible,
        ZfpMode::FixedRate(11.5),
        ZfpMode::FixedPrecision(17),
        ZfpMode::FixedAccuracy(0.01),
        ZfpMode::Expert { minbits: 3, maxbits: 70, maxprec: 20, minexp: -100 },
        ZfpMode::Expert { minbits: 1, maxbits: 3, maxprec: 64, minexp: -1075 },
    ];

    fn smooth(n: usize) -> Vec<f32> {
        (0..n).map(|i| (i as f32 * 0.1).sin()).collect()
    }

    #[test]
    fn reversible_keeps_every_bit_of_every_type() {
        let c = Zfp::new(ZfpMode::Reversible).unwrap();
        let bytes: Vec<u8> = (0..240u32).map(|i| (i * 37 % 251) as u8).collect();
        for (t, w) in types() {
            for shape in [&[240 / w as u64][..], &[2, 120 / w as u64], &[2, 3, 40 / w as u64], &[2, 3, 1, 40 / w as u64]] {
                let r = rep(t.clone(), shape);
                assert_eq!(decoded(&c, &r, &stored(&c, &r, &bytes)).unwrap(), bytes, "{r:?}");
            }
        }
        let r = rep(DataType::Float(Float::F64), &[]);
        assert_eq!(decoded(&c, &r, &stored(&c, &r, &7.5f64.to_le_bytes())).unwrap(), 7.5f64.to_le_bytes());
        let r = rep(DataType::Float(Float::F64), &[0, 3]);
        assert_eq!(decoded(&c, &r, &stored(&c, &r, &[])).unwrap(), Vec::<u8>::new());
        let special: Vec<u8> = [f64::NAN, f64::INFINITY, -0.0, 5e-324].iter().flat_map(|x| x.to_le_bytes()).collect();
        let r = rep(DataType::Float(Float::F64), &[4]);
        assert_eq!(decoded(&c, &r, &stored(&c, &r, &special)).unwrap(), special);
    }

    #[test]
    fn unsigned_numbers_of_the_lower_half() {
        let c = Zfp::new(ZfpMode::Reversible).unwrap();
        let r = rep(DataType::UInt32, &[2]);
        let bytes: Vec<u8> = [0u32, i32::MAX as u32].iter().flat_map(|x| x.to_le_bytes()).collect();
        assert_eq!(decoded(&c, &r, &stored(&c, &r, &bytes)).unwrap(), bytes);
        let e = c.encode(&r, &Elements::Fixed(vec![0xff; 8]), &mut vec![], &mut Context::default()).unwrap_err();
        assert_eq!(e.kind, crate::FaultKind::Value);
    }

    #[test]
    fn lossy_modes_come_near() {
        let bytes: Vec<u8> = smooth(100).iter().flat_map(|x| x.to_le_bytes()).collect();
        let r = rep(DataType::Float(Float::F32), &[10, 10]);
        for mode in &MODES[..4] {
            let c = Zfp::new(*mode).unwrap();
            let got = decoded(&c, &r, &stored(&c, &r, &bytes)).unwrap();
            for (g, x) in got.chunks(4).zip(smooth(100)) {
                assert!((f32::from_le_bytes(g.try_into().unwrap()) - x).abs() < 0.05, "{mode:?}");
            }
        }
        let nan = Elements::Fixed(f32::NAN.to_le_bytes().to_vec());
        let one = rep(DataType::Float(Float::F32), &[1]);
        let c = Zfp::new(ZfpMode::FixedRate(8.0)).unwrap();
        assert!(c.encode(&one, &nan, &mut vec![], &mut Context::default()).is_err());
    }

    #[test]
    fn every_cut_is_an_error_in_every_mode() {
        let bytes: Vec<u8> = smooth(125).iter().flat_map(|x| x.to_le_bytes()).collect();
        let r = rep(DataType::Float(Float::F32), &[5, 25]);
        for mode in MODES {
            let c = Zfp::new(mode).unwrap();
            let full = stored(&c, &r, &bytes);
            let want = decoded(&c, &r, &full).unwrap();
            for cut in 0..full.len() {
                // The bytes behind the last bit are zeros that nobody misses.
                if let Ok(got) = decoded(&c, &r, &full[..cut]) {
                    assert!(got == want && full[cut..].iter().all(|&b| b == 0) && full.len() - cut < 8, "{mode:?} {cut}");
                }
            }
            assert!(decoded(&c, &r, &[&full[..], &[0; 8]].concat()).is_err(), "{mode:?}");
        }
    }

    #[test]
    fn what_zfp_cannot_do_is_refused() {
        for mode in [
            ZfpMode::FixedRate(-1.0),
            ZfpMode::FixedRate(f64::NAN),
            ZfpMode::FixedRate(1e9),
            ZfpMode::FixedAccuracy(f64::NAN),
            ZfpMode::Expert { minbits: 9, maxbits: 8, maxprec: 64, minexp: 0 },
            ZfpMode::Expert { minbits: 1, maxbits: 8, maxprec: 0, minexp: 0 },
        ] {
            assert!(Zfp::new(mode).is_err(), "{mode:?}");
        }
        let c = Zfp::new(ZfpMode::Reversible).unwrap();
        assert!(decoded(&c, &rep(DataType::Float(Float::F32), &[1, 1, 1, 1, 1]), &[0; 8]).is_err());
        assert!(decoded(&c, &rep(DataType::Bool, &[1]), &[0; 8]).is_err());
    }

    proptest! {
        #[test]
        fn random_bytes_are_decoded_or_refused(
            mut bytes in prop::collection::vec(any::<u8>(), 0..300), ones in any::<bool>(),
            mode in prop::sample::select(MODES.to_vec()), t in prop::sample::select(types()), rank in 1usize..5,
        ) {
            if ones {
                bytes.iter_mut().for_each(|b| *b |= 0xee);
            }
            let r = rep(t.0, &[[3u64, 5, 2, 6], [1, 1, 1, 9]][usize::from(ones)][..rank]);
            if let Ok(b) = decoded(&Zfp::new(mode).unwrap(), &r, &bytes) {
                prop_assert_eq!(b.len(), r.byte_len().unwrap());
            }
        }
    }
}
