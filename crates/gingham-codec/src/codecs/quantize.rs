//! numcodecs' `quantize`: floats rounded to so many decimal digits, in steps of a power of two (format.md 5.7).

use gingham_core::dtype::{Elements, TypeStr};
use half::f16;

use super::checked::{self, Way};
use super::filter;
use super::numbers::{self, Kind, narrow};
use crate::{ArrayToArray, CodecFault, Rep, Result};

const NAME: &str = "numcodecs.quantize";

/// `quantize` with its configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantize {
    scale: f64,
    dtype: Kind,
    astype: Kind,
    stored: TypeStr,
}

impl Quantize {
    /// Keeps `digits` decimal digits of floats of `dtype`, stores them as `astype`.
    pub fn new(digits: i32, dtype: &TypeStr, astype: &TypeStr) -> Result<Self> {
        let (kind, stored) = (filter::kind_of(NAME, "dtype", dtype)?, filter::kind_of(NAME, "astype", astype)?);
        if !kind.is_float() || !stored.is_float() {
            return Err(CodecFault::unsupported(NAME, format!("takes floats, not {} stored as {}", dtype.data_type, astype.data_type)));
        }
        // The least power of two that is no coarser than 10^-digits.
        let scale = (f64::from(digits) * std::f64::consts::LOG2_10).ceil().exp2();
        if scale == 0.0 || scale.is_infinite() {
            return Err(CodecFault::unsupported(NAME, format!("{digits} digits are beyond what a float64 counts")));
        }
        Ok(Quantize { scale, dtype: kind, astype: stored, stored: astype.clone() })
    }

    fn round(&self, mut bytes: Vec<u8>) -> std::result::Result<Vec<u8>, usize> {
        let s = self.scale;
        match self.dtype {
            Kind::F16 => {
                let s = f32::from(narrow(s));
                let half = |x: f32| f32::from(f16::from_f32(x));
                bytes.as_chunks_mut::<2>().0.iter_mut().for_each(|c| {
                    let x = f32::from(f16::from_le_bytes(*c));
                    let scaled = half(x * s);
                    let y = if scaled.is_finite() { scaled.round_ties_even() / s } else { x };
                    *c = f16::from_f32(y).to_le_bytes();
                });
            }
            Kind::F32 => {
                let s = s as f32;
                bytes.as_chunks_mut::<4>().0.iter_mut().for_each(|c| {
                    let x = f32::from_le_bytes(*c);
                    *c = (if (x * s).is_finite() { (x * s).round_ties_even() / s } else { x }).to_le_bytes();
                });
            }
            // Where the product overflows, x is a multiple of the step already.
            _ => bytes.as_chunks_mut::<8>().0.iter_mut().for_each(|c| {
                let x = f64::from_le_bytes(*c);
                *c = (if (x * s).is_finite() { (x * s).round_ties_even() / s } else { x }).to_le_bytes();
            }),
        }
        numbers::cast(&bytes, self.dtype, self.astype, true)
    }
}

impl ArrayToArray for Quantize {
    fn encoded(&self, input: &Rep) -> Result<Rep> {
        filter::check_view(NAME, &input.data_type, self.dtype)?;
        Ok(filter::behind(input, &self.stored, self.round(input.fill.as_bytes().to_vec()).ok()))
    }

    fn encode(&self, input: &Rep, elements: Elements) -> Result<Elements> {
        filter::check_view(NAME, &input.data_type, self.dtype)?;
        let bytes = checked::fixed(NAME, Way::Encode, input, elements)?;
        let out = self.round(bytes).map_err(|i| CodecFault::value(NAME, format!("element {i} does not fit {}", self.stored.data_type)))?;
        Ok(Elements::Fixed(out))
    }

    fn decode(&self, input: &Rep, elements: Elements) -> Result<Elements> {
        let bytes = checked::fixed(NAME, Way::Decode, &self.encoded(input)?, elements)?;
        Ok(Elements::Fixed(numbers::cast(&bytes, self.astype, self.dtype, false).unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use gingham_core::Shape;
    use gingham_core::dtype::{DataType, Endian, FillValue, Float};

    fn typestr(data_type: DataType) -> TypeStr {
        TypeStr { data_type, order: vec![Endian::Little] }
    }

    fn rep(f: Float, n: usize) -> Rep {
        Rep { data_type: DataType::Float(f), shape: Shape::from_slice(&[n as u64]), fill: FillValue::new(vec![0; f.size()]) }
    }

    #[test]
    fn two_digits() {
        let t = typestr(DataType::Float(Float::F64));
        let c = Quantize::new(2, &t, &t).unwrap();
        let le = |v: &[f64]| Elements::Fixed(v.iter().flat_map(|x| x.to_le_bytes()).collect());
        let got = c.encode(&rep(Float::F64, 6), le(&[0.1, 0.123, 1.337, -2.5, 101.1234, 1e308])).unwrap();
        assert_eq!(got, le(&[0.1015625, 0.125, 1.3359375, -2.5, 101.125, 1e308]));
        assert_eq!(c.decode(&rep(Float::F64, 6), got.clone()).unwrap(), got);
    }

    #[test]
    fn float16_does_not_overflow() {
        let t = typestr(DataType::Float(Float::F16));
        let c = Quantize::new(1, &t, &t).unwrap();
        let x = f16::from_f32(60000.0).to_le_bytes().to_vec();
        assert_eq!(c.encode(&rep(Float::F16, 1), Elements::Fixed(x.clone())).unwrap(), Elements::Fixed(x));
        assert!(Quantize::new(1000, &t, &t).is_err());
        assert!(Quantize::new(1, &typestr(DataType::Int8), &t).is_err());
    }
}
