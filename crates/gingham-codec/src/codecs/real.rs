//! Real numbers of every registered type, exactly: integers as integers, floats as float64 (which holds each of them).
//!
//! Stands between element bytes and the arithmetic of `cast_value` and `scale_offset`, which must never round by accident.

use gingham_core::codec::Rounding;
use gingham_core::dtype::{DataType, Float, Misfit};

/// A number.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Real {
    /// Of an integer type.
    Integer(i128),
    /// Of a float type.
    Float(f64),
}

impl Real {
    /// Equal in value; any NaN equals any other, as keys of a scalar map do.
    pub(crate) fn matches(self, other: Real) -> bool {
        match (self, other) {
            (Real::Integer(a), Real::Integer(b)) => a == b,
            (Real::Float(a), Real::Float(b)) => a == b || a.is_nan() && b.is_nan(),
            _ => false,
        }
    }
}

impl std::fmt::Display for Real {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Real::Integer(i) => write!(f, "{i}"),
            Real::Float(x) => write!(f, "{x}"),
        }
    }
}

/// A type of real numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RealType {
    /// Two's complement or unsigned; sub-byte ones lie sign- or zero-extended in a byte.
    Integer { bits: u32, signed: bool },
    /// A float format.
    Float(Float),
}

impl RealType {
    /// The type of an element type, where that is real.
    pub(crate) fn of(data_type: &DataType) -> Option<Self> {
        let integer = |bits, signed| Some(RealType::Integer { bits, signed });
        match data_type {
            DataType::Int2 => integer(2, true),
            DataType::Int4 => integer(4, true),
            DataType::Int8 => integer(8, true),
            DataType::Int16 => integer(16, true),
            DataType::Int32 => integer(32, true),
            DataType::Int64 => integer(64, true),
            DataType::UInt2 => integer(2, false),
            DataType::UInt4 => integer(4, false),
            DataType::UInt8 => integer(8, false),
            DataType::UInt16 => integer(16, false),
            DataType::UInt32 => integer(32, false),
            DataType::UInt64 => integer(64, false),
            DataType::Float(f) => Some(RealType::Float(*f)),
            _ => None,
        }
    }

    /// Bytes of an element.
    pub(crate) fn width(self) -> usize {
        match self {
            RealType::Integer { bits, .. } => (bits as usize).div_ceil(8),
            RealType::Float(f) => f.size(),
        }
    }

    /// Reads an element from exactly its bytes.
    pub(crate) fn load(self, bytes: &[u8]) -> Real {
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        let raw = u64::from_le_bytes(wide);
        match self {
            RealType::Integer { bits, signed: true } => Real::Integer(i128::from((raw << (64 - bits)) as i64 >> (64 - bits))),
            RealType::Integer { bits, signed: false } => Real::Integer(i128::from(raw << (64 - bits) >> (64 - bits))),
            RealType::Float(f) => Real::Float(f.to_f64(f.read(bytes))),
        }
    }

    /// Writes an integer that [`RealType::range`] holds, or a float's pattern, to exactly an element's bytes.
    pub(crate) fn store(self, pattern: u64, out: &mut [u8]) {
        let n = out.len();
        out.copy_from_slice(&pattern.to_le_bytes()[..n]);
    }

    /// The least and greatest integer; `None` for floats.
    pub(crate) fn range(self) -> Option<(i128, i128)> {
        match self {
            RealType::Integer { bits, signed: true } => Some((-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)),
            RealType::Integer { bits, signed: false } => Some((0, (1i128 << bits) - 1)),
            RealType::Float(_) => None,
        }
    }
}

/// Rounds a finite float64 to an integral one.
pub(crate) fn round(x: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::NearestEven => x.round_ties_even(),
        Rounding::NearestAway => x.round(),
        Rounding::TowardsZero => x.trunc(),
        Rounding::TowardsPositive => x.ceil(),
        Rounding::TowardsNegative => x.floor(),
    }
}

/// The pattern of a real number in a float format, rounded once.
pub(crate) fn to_float(value: Real, float: Float, rounding: Rounding) -> Result<u64, Misfit> {
    match value {
        Real::Float(x) => match float {
            Float::F64 => Ok(x.to_bits()),
            // The hardware's conversion, where it does what is asked.
            Float::F32 if rounding == Rounding::NearestEven && x.abs() <= f64::from(f32::MAX) => Ok(u64::from((x as f32).to_bits())),
            _ => float.narrow(x, rounding),
        },
        Real::Integer(i) => float.narrow_integer(i, rounding),
    }
}
