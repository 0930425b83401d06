//! Native numbers in element bytes, and numpy's casts between them.
//!
//! Stands between packed little-endian elements and the arithmetic of numcodecs' filters, which is numpy's: wrapping for
//! integers, IEEE in the array's own width for floats.

use gingham_core::dtype::{DataType, Float};
use half::f16;

/// The numeric types of numpy that filters compute in. Dates and time spans count as int64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub(crate) enum Kind {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
}

impl Kind {
    /// The numeric type of an element type, where it has one.
    pub(crate) fn of(data_type: &DataType) -> Option<Kind> {
        Some(match data_type {
            DataType::Bool => Kind::Bool,
            DataType::Int8 => Kind::I8,
            DataType::Int16 => Kind::I16,
            DataType::Int32 => Kind::I32,
            DataType::Int64 | DataType::DateTime { .. } | DataType::TimeDelta { .. } => Kind::I64,
            DataType::UInt8 => Kind::U8,
            DataType::UInt16 => Kind::U16,
            DataType::UInt32 => Kind::U32,
            DataType::UInt64 => Kind::U64,
            DataType::Float(Float::F16) => Kind::F16,
            DataType::Float(Float::F32) => Kind::F32,
            DataType::Float(Float::F64) => Kind::F64,
            _ => return None,
        })
    }
    /// Bytes of one number.
    pub(crate) fn width(self) -> usize {
        match self {
            Kind::Bool | Kind::I8 | Kind::U8 => 1,
            Kind::I16 | Kind::U16 | Kind::F16 => 2,
            Kind::I32 | Kind::U32 | Kind::F32 => 4,
            Kind::I64 | Kind::U64 | Kind::F64 => 8,
        }
    }
    /// True for float16, float32, float64.
    pub(crate) fn is_float(self) -> bool {
        matches!(self, Kind::F16 | Kind::F32 | Kind::F64)
    }
}

/// A number without its width: the middle of every cast.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Scalar {
    /// Signed, or unsigned below 2^63.
    Int(i64),
    /// Unsigned of 64 bits.
    UInt(u64),
    /// Every float16 and float32 is one.
    Float(f64),
}

/// A native number.
pub(crate) trait Number: Copy + PartialEq {
    /// Its bytes.
    const WIDTH: usize;
    /// Reads it from exactly its bytes.
    fn load(bytes: &[u8]) -> Self;
    /// Writes it to exactly its bytes.
    fn store(self, bytes: &mut [u8]);
    /// Widens it.
    fn scalar(self) -> Scalar;
    /// numpy's cast: integers wrap, floats are truncated towards zero, and floats outside the integers' range give what
    /// x86-64 gives.
    fn cast(scalar: Scalar) -> Self;
    /// True where a cast to this type keeps the value's magnitude (rounding aside): in range, finite stays finite.
    fn holds(scalar: Scalar) -> bool;
    /// numpy's difference: wrapping, exclusive or for bool.
    fn minus(self, other: Self) -> Self;
    /// numpy's sum: wrapping, exclusive or for bool (the inverse of [`Number::minus`]).
    fn plus(self, other: Self) -> Self;
}

/// A bool in a byte; any non-zero byte is true.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Flag(bool);

impl Number for Flag {
    const WIDTH: usize = 1;
    fn load(bytes: &[u8]) -> Self {
        Flag(bytes[0] != 0)
    }
    fn store(self, bytes: &mut [u8]) {
        bytes[0] = self.0.into();
    }
    fn scalar(self) -> Scalar {
        Scalar::Int(self.0.into())
    }
    fn cast(scalar: Scalar) -> Self {
        Flag(match scalar {
            Scalar::Int(i) => i != 0,
            Scalar::UInt(u) => u != 0,
            Scalar::Float(f) => f != 0.0,
        })
    }
    fn holds(_: Scalar) -> bool {
        true
    }
    fn minus(self, other: Self) -> Self {
        Flag(self.0 != other.0)
    }
    fn plus(self, other: Self) -> Self {
        Flag(self.0 != other.0)
    }
}

macro_rules! integer {
    ($t:ty, $variant:ident as $wide:ty, $float:expr) => {
        impl Number for $t {
            const WIDTH: usize = size_of::<$t>();
            #[inline]
            fn load(bytes: &[u8]) -> Self {
                let mut b = [0; size_of::<$t>()];
                b.copy_from_slice(bytes);
                <$t>::from_le_bytes(b)
            }
            #[inline]
            fn store(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }
            #[inline]
            fn scalar(self) -> Scalar {
                Scalar::$variant(self as $wide)
            }
            #[inline]
            fn cast(scalar: Scalar) -> Self {
                match scalar {
                    Scalar::Int(i) => i as $t,
                    Scalar::UInt(u) => u as $t,
                    Scalar::Float(f) => $float(f) as $t,
                }
            }
            fn holds(scalar: Scalar) -> bool {
                match scalar {
                    Scalar::Int(i) => <$t>::try_from(i).is_ok(),
                    Scalar::UInt(u) => <$t>::try_from(u).is_ok(),
                    // MAX + 1 is a power of two (exact), MIN too; what is truncated lies strictly between MIN - 1 and MAX + 1.
                    // MIN - 1 is not exact for 64 bits, where it rounds to MIN itself: then MIN must be let in by hand.
                    Scalar::Float(f) => {
                        let (low, high) = (<$t>::MIN as f64, <$t>::MAX as f64 + if <$t>::BITS < 64 { 1.0 } else { 0.0 });
                        f < high && (f >= low || (<$t>::BITS < 64 && f > low - 1.0) || (low == 0.0 && f > -1.0))
                    }
                }
            }
            #[inline]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
        }
    };
}

integer!(i8, Int as i64, to_i32);
integer!(i16, Int as i64, to_i32);
integer!(i32, Int as i64, to_i32);
integer!(i64, Int as i64, to_i64);
integer!(u8, Int as i64, to_i32);
integer!(u16, Int as i64, to_i32);
integer!(u32, Int as i64, to_i64);
integer!(u64, UInt as u64, to_u64);

/// x86-64's conversion to int32: what does not fit is the most negative number.
fn to_i32(f: f64) -> i32 {
    if f > -2147483649.0 && f < 2147483648.0 { f as i32 } else { i32::MIN }
}

/// x86-64's conversion to int64.
fn to_i64(f: f64) -> i64 {
    if (-9223372036854775808.0..9223372036854775808.0).contains(&f) { f as i64 } else { i64::MIN }
}

/// x86-64's conversion to uint64, as compilers build it from the one to int64.
fn to_u64(f: f64) -> u64 {
    if f < 9223372036854775808.0 { to_i64(f) as u64 } else { (to_i64(f - 9223372036854775808.0) as u64) ^ (1 << 63) }
}

macro_rules! float {
    ($t:ty, $from_f64:expr, $to_f64:expr, $from_i64:expr, $from_u64:expr) => {
        impl Number for $t {
            const WIDTH: usize = size_of::<$t>();
            #[inline]
            fn load(bytes: &[u8]) -> Self {
                let mut b = [0; size_of::<$t>()];
                b.copy_from_slice(bytes);
                <$t>::from_le_bytes(b)
            }
            #[inline]
            fn store(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }
            #[inline]
            fn scalar(self) -> Scalar {
                Scalar::Float($to_f64(self))
            }
            #[inline]
            fn cast(scalar: Scalar) -> Self {
                match scalar {
                    Scalar::Int(i) => $from_i64(i),
                    Scalar::UInt(u) => $from_u64(u),
                    Scalar::Float(f) => $from_f64(f),
                }
            }
            fn holds(scalar: Scalar) -> bool {
                match scalar {
                    Scalar::Float(f) if !f.is_finite() => true,
                    other => Self::cast(other).is_finite(),
                }
            }
            #[inline]
            fn minus(self, other: Self) -> Self {
                self - other
            }
            #[inline]
            fn plus(self, other: Self) -> Self {
                self + other
            }
        }
    };
}

float!(f64, |f: f64| f, |f: f64| f, |i: i64| i as f64, |u: u64| u as f64);
float!(f32, |f: f64| f as f32, f64::from, |i: i64| i as f32, |u: u64| u as f32);
// Integers beyond 2^24 are beyond float16 as well, so the way through float32 rounds once.
float!(f16, narrow, f64::from, |i: i64| f16::from_f32(i as f32), |u: u64| f16::from_f32(u as f32));

/// float64 to float16, rounded once: float32 in between is rounded to odd, which keeps the side and the ties.
pub(crate) fn narrow(f: f64) -> f16 {
    let near = f as f32;
    let back = f64::from(near);
    if back == f || f.is_nan() {
        return f16::from_f32(near);
    }
    let towards_zero = if back.abs() > f.abs() { near.to_bits() - 1 } else { near.to_bits() };
    f16::from_f32(f32::from_bits(towards_zero | 1))
}

/// Runs `$body` with `$t` as the Rust type of a [`Kind`].
macro_rules! with_number {
    ($kind:expr, $t:ident => $body:expr) => {
        match $kind {
            $crate::codecs::numbers::Kind::Bool => {
                type $t = $crate::codecs::numbers::Flag;
                $body
            }
            $crate::codecs::numbers::Kind::I8 => {
                type $t = i8;
                $body
            }
            $crate::codecs::numbers::Kind::I16 => {
                type $t = i16;
                $body
            }
            $crate::codecs::numbers::Kind::I32 => {
                type $t = i32;
                $body
            }
            $crate::codecs::numbers::Kind::I64 => {
                type $t = i64;
                $body
            }
            $crate::codecs::numbers::Kind::U8 => {
                type $t = u8;
                $body
            }
            $crate::codecs::numbers::Kind::U16 => {
                type $t = u16;
                $body
            }
            $crate::codecs::numbers::Kind::U32 => {
                type $t = u32;
                $body
            }
            $crate::codecs::numbers::Kind::U64 => {
                type $t = u64;
                $body
            }
            $crate::codecs::numbers::Kind::F16 => {
                type $t = half::f16;
                $body
            }
            $crate::codecs::numbers::Kind::F32 => {
                type $t = f32;
                $body
            }
            $crate::codecs::numbers::Kind::F64 => {
                type $t = f64;
                $body
            }
        }
    };
}
pub(crate) use with_number;

/// Casts packed numbers as numpy does. With `strict`, the position of the first number that the target cannot hold is the error.
pub(crate) fn cast(bytes: &[u8], from: Kind, to: Kind, strict: bool) -> Result<Vec<u8>, usize> {
    if from == to {
        return Ok(bytes.to_vec());
    }
    let mut out = vec![0; bytes.len() / from.width() * to.width()];
    with_number!(from, A => with_number!(to, B => cast_typed::<A, B>(bytes, &mut out, strict)))?;
    Ok(out)
}

fn cast_typed<A: Number, B: Number>(bytes: &[u8], out: &mut [u8], strict: bool) -> Result<(), usize> {
    for (i, (s, d)) in bytes.chunks_exact(A::WIDTH).zip(out.chunks_exact_mut(B::WIDTH)).enumerate() {
        let scalar = A::load(s).scalar();
        if strict && !B::holds(scalar) {
            return Err(i);
        }
        B::cast(scalar).store(d);
    }
    Ok(())
}

/// The number at position `i`, for messages.
pub(crate) fn show(bytes: &[u8], kind: Kind, i: usize) -> String {
    let w = kind.width();
    let Some(b) = bytes.get(i * w..(i + 1) * w) else { return "?".into() };
    match with_number!(kind, T => <T as Number>::load(b).scalar()) {
        Scalar::Int(i) => i.to_string(),
        Scalar::UInt(u) => u.to_string(),
        Scalar::Float(f) => f.to_string(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn f64s(v: &[f64]) -> Vec<u8> {
        v.iter().flat_map(|x| x.to_le_bytes()).collect()
    }

    #[test]
    fn float_to_integer_truncates_and_checks() {
        let x = f64s(&[1.9, -1.9, 127.9, -128.9]);
        assert_eq!(cast(&x, Kind::F64, Kind::I8, true).unwrap(), [1i8, -1, 127, -128].map(|v| v as u8));
        assert_eq!(cast(&f64s(&[0.0, 128.0]), Kind::F64, Kind::I8, true), Err(1));
        assert_eq!(cast(&f64s(&[f64::NAN]), Kind::F64, Kind::I8, true), Err(0));
        assert_eq!(cast(&f64s(&[-0.5]), Kind::F64, Kind::U64, true).unwrap(), [0; 8]);
        assert_eq!(cast(&f64s(&[-1.0]), Kind::F64, Kind::U64, true), Err(0));
        assert_eq!(cast(&f64s(&[18446744073709551616.0]), Kind::F64, Kind::U64, true), Err(0));
        assert_eq!(cast(&f64s(&[-9223372036854775808.0]), Kind::F64, Kind::I64, true).unwrap(), i64::MIN.to_le_bytes());
        assert_eq!(cast(&f64s(&[9223372036854775808.0]), Kind::F64, Kind::I64, true), Err(0));
    }

    #[test]
    fn integers_wrap() {
        assert_eq!(cast(&300i16.to_le_bytes(), Kind::I16, Kind::U8, false).unwrap(), [44]);
        assert_eq!(cast(&300i16.to_le_bytes(), Kind::I16, Kind::U8, true), Err(0));
        assert_eq!(cast(&u64::MAX.to_le_bytes(), Kind::U64, Kind::I64, false).unwrap(), (-1i64).to_le_bytes());
        assert_eq!(cast(&(u64::MAX).to_le_bytes(), Kind::U64, Kind::F32, true).unwrap(), (u64::MAX as f32).to_le_bytes());
    }

    #[test]
    fn halves_are_rounded_once() {
        // 1 + 2^-11 is a tie of float16; the tiny excess decides it, and float32 cannot hold the excess.
        let just_above = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
        assert_eq!(narrow(just_above).to_bits(), 0x3c01);
        assert_eq!(narrow(1.0 + 2f64.powi(-11)).to_bits(), 0x3c00);
        assert_eq!(narrow(-just_above).to_bits(), 0xbc01);
        assert_eq!(narrow(1e300), f16::INFINITY);
        assert_eq!(narrow(-1e-300).to_bits(), 0x8000);
        assert!(narrow(f64::NAN).is_nan());
        assert_eq!(cast(&f64s(&[1e6]), Kind::F64, Kind::F16, true), Err(0));
    }
}
