//! `bitround`: low mantissa bits rounded away so that what lies behind compresses better (format.md 3.2). Decoding changes nothing.

use gingham_core::dtype::{DataType, Elements, FillValue, Float};

use super::checked::{self, Way};
use crate::{ArrayToArray, CodecFault, Rep, Result};

const NAME: &str = "bitround";

/// `bitround` with the bits to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BitRound {
    keepbits: u32,
    /// numcodecs' form: floats only, though integers of other writers are read (nothing is to be done for that).
    numcodecs: bool,
}

/// What a component is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Component {
    /// Width in bytes, mantissa bits.
    Float(usize, u32),
    /// Width in bytes, signed.
    Integer(usize, bool),
}

impl BitRound {
    /// Keeps `keepbits` bits of the mantissa, or of an integer from its highest set bit.
    pub fn new(keepbits: u32, numcodecs: bool) -> Self {
        BitRound { keepbits, numcodecs }
    }

    fn component(data_type: &DataType) -> Result<Component> {
        use DataType as T;
        Ok(match data_type {
            T::Float(f) | T::Complex(f) if matches!(f, Float::F16 | Float::BFloat16) => Component::Float(2, f.mantissa_bits()),
            T::Float(Float::F32) | T::Complex(Float::F32) => Component::Float(4, 23),
            T::Float(Float::F64) | T::Complex(Float::F64) => Component::Float(8, 52),
            T::Int8 => Component::Integer(1, true),
            T::Int16 => Component::Integer(2, true),
            T::Int32 => Component::Integer(4, true),
            T::Int64 | T::DateTime { .. } | T::TimeDelta { .. } => Component::Integer(8, true),
            T::UInt8 => Component::Integer(1, false),
            T::UInt16 => Component::Integer(2, false),
            T::UInt32 => Component::Integer(4, false),
            T::UInt64 => Component::Integer(8, false),
            _ => return Err(CodecFault::unsupported(NAME, format!("takes floats and integers of 8 to 64 bits, not {data_type}"))),
        })
    }

    fn round(&self, component: Component, bytes: &mut [u8]) {
        match component {
            Component::Float(_, mantissa) if self.keepbits >= mantissa => {}
            Component::Float(2, m) => each::<2>(bytes, |b| self.round_float(b, m, 16)),
            Component::Float(4, m) => each::<4>(bytes, |b| self.round_float(b, m, 32)),
            Component::Float(_, m) => each::<8>(bytes, |b| self.round_float(b, m, 64)),
            Component::Integer(1, s) => each::<1>(bytes, |b| self.round_integer(b, 8, s)),
            Component::Integer(2, s) => each::<2>(bytes, |b| self.round_integer(b, 16, s)),
            Component::Integer(4, s) => each::<4>(bytes, |b| self.round_integer(b, 32, s)),
            Component::Integer(_, s) => each::<8>(bytes, |b| self.round_integer(b, 64, s)),
        }
    }

    /// Round half to even. NaN and the infinities stay: carrying into their exponent would make other numbers of them.
    fn round_float(&self, b: u64, mantissa: u32, width: u32) -> u64 {
        let exponent = ((1u64 << (width - 1 - mantissa)) - 1) << mantissa;
        if b & exponent == exponent {
            return b;
        }
        let drop = mantissa - self.keepbits;
        (b + ((b >> drop) & 1) + ((1 << (drop - 1)) - 1)) & (u64::MAX << drop)
    }

    /// The same on the unsigned bit pattern, counted from its highest set bit, saturating at the type's width.
    fn round_integer(&self, b: u64, width: u32, signed: bool) -> u64 {
        let used = 64 - b.leading_zeros();
        if self.keepbits >= used {
            return b;
        }
        let drop = used - self.keepbits;
        let mask = u64::MAX.checked_shl(drop).unwrap_or(0);
        let add = (b.checked_shr(drop).unwrap_or(0) & 1) + ((1u64 << (drop - 1)) - 1);
        let limit = u64::MAX >> (64 - width);
        let up = b.saturating_add(add).min(limit) & mask;
        let sign = 1u64 << (width - 1);
        // A positive number must not become the most negative one.
        if signed && b & sign == 0 && up & sign != 0 { b & mask } else { up }
    }
}

fn each<const N: usize>(bytes: &mut [u8], round: impl Fn(u64) -> u64) {
    for c in bytes.as_chunks_mut::<N>().0 {
        let mut wide = [0; 8];
        wide[..N].copy_from_slice(c);
        c.copy_from_slice(&round(u64::from_le_bytes(wide)).to_le_bytes()[..N]);
    }
}

impl ArrayToArray for BitRound {
    fn encoded(&self, input: &Rep) -> Result<Rep> {
        let component = Self::component(&input.data_type)?;
        let mut fill = input.fill.as_bytes().to_vec();
        self.round(component, &mut fill);
        let spec = gingham_core::codec::Codec::BitRound { keepbits: self.keepbits, numcodecs: self.numcodecs };
        Ok(Rep { data_type: spec.rounded_type(&input.data_type), shape: input.shape.clone(), fill: FillValue::new(fill) })
    }

    fn encode(&self, input: &Rep, elements: Elements) -> Result<Elements> {
        let component = Self::component(&input.data_type)?;
        if self.numcodecs && matches!(component, Component::Integer(..)) {
            return Err(CodecFault::unsupported("numcodecs.bitround", format!("rounds floats, not {}", input.data_type)));
        }
        let mut bytes = checked::fixed(NAME, Way::Encode, input, elements)?;
        self.round(component, &mut bytes);
        Ok(Elements::Fixed(bytes))
    }

    fn decode(&self, input: &Rep, elements: Elements) -> Result<Elements> {
        Self::component(&input.data_type)?;
        Ok(elements)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use gingham_core::Shape;

    fn rounded(keepbits: u32, data_type: DataType, size: usize, bytes: Vec<u8>) -> Vec<u8> {
        let n = (bytes.len() / size) as u64;
        let rep = Rep { data_type, shape: Shape::from_slice(&[n]), fill: FillValue::new(vec![0; size]) };
        let Elements::Fixed(b) = BitRound::new(keepbits, false).encode(&rep, Elements::Fixed(bytes)).unwrap() else { panic!() };
        b
    }

    fn f32s(keepbits: u32, v: &[f32]) -> Vec<f32> {
        let bytes = rounded(keepbits, DataType::Float(Float::F32), 4, v.iter().flat_map(|x| x.to_le_bytes()).collect());
        bytes.chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
    }

    #[test]
    fn float32_vectors() {
        assert_eq!(f32s(3, &[0.0, 0.1, 1.2, 12.3, 123.4, 1234.5]), [0.0, 0.1015625, 1.25, 12.0, 120.0, 1280.0]);
        assert_eq!(f32s(3, &[1.3, 9.9, 123.0]), [1.25, 10.0, 120.0]);
        assert_eq!(f32s(3, &[f32::INFINITY, f32::NEG_INFINITY]), [f32::INFINITY, f32::NEG_INFINITY]);
        // Nothing of the mantissa kept: the tie goes to the even exponent, whose bit stands above the mantissa.
        assert_eq!(f32s(0, &[1.4, 1.6, 1.5, -3.0]), [1.0, 2.0, 2.0, -2.0]);
        assert_eq!(f32s(1, &[f32::MAX]), [f32::INFINITY]);
        assert_eq!(f32s(23, &[0.1]), [0.1]);
        assert_eq!(f32s(99, &[0.1]), [0.1]);
        let all_ones = f32::from_bits(0x7fffffff);
        assert_eq!(f32s(1, &[all_ones])[0].to_bits(), 0x7fffffff);
    }

    #[test]
    fn integer_vectors() {
        let u8s = rounded(3, DataType::UInt8, 1, vec![0, 1, 10, 11, 100, 123, 200, 208, 209, 255]);
        assert_eq!(u8s, [0, 1, 10, 12, 96, 128, 192, 192, 224, 224]);
        assert_eq!(rounded(3, DataType::Int8, 1, vec![127, 0x80, 0xff]), [112, 0x80, 0xe0]);
        assert_eq!(rounded(0, DataType::UInt64, 8, u64::MAX.to_le_bytes().to_vec()), [0; 8]);
    }

    #[test]
    fn the_fill_value_is_rounded_alike_and_other_types_refused() {
        let rep = |data_type, fill: &[u8]| Rep { data_type, shape: Shape::new(), fill: FillValue::new(fill) };
        let behind = BitRound::new(3, false).encoded(&rep(DataType::UInt8, &[11])).unwrap();
        assert_eq!(behind.fill.as_bytes(), [12]);
        assert!(BitRound::new(3, false).encoded(&rep(DataType::Bool, &[0])).is_err());
        let theirs = BitRound::new(3, true);
        assert!(theirs.encode(&rep(DataType::UInt8, &[0]), Elements::Fixed(vec![9])).is_err());
        assert_eq!(theirs.decode(&rep(DataType::UInt8, &[0]), Elements::Fixed(vec![9])).unwrap(), Elements::Fixed(vec![9]));
        let behind = |keepbits| BitRound::new(keepbits, true).encoded(&rep(DataType::Float(Float::F32), &[0; 4])).unwrap().data_type;
        assert_eq!((behind(22), behind(23)), (DataType::Int32, DataType::Float(Float::F32)), "as numcodecs hands it on");
    }
}
