//! numcodecs' `fixedscaleoffset`: round((x − offset) · scale) as another type (format.md 5.7).
//!
//! Arithmetic is numpy's: floats in their own width, integers in float64.

use gingham_core::dtype::{Elements, TypeStr};
use half::f16;

use super::checked::{self, Way};
use super::filter;
use super::numbers::{self, Kind, narrow};
use crate::{ArrayToArray, CodecFault, Rep, Result};

const NAME: &str = "numcodecs.fixedscaleoffset";

/// `fixedscaleoffset` with its configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct FixedScaleOffset {
    offset: f64,
    scale: f64,
    dtype: Kind,
    astype: Kind,
    stored: TypeStr,
}

impl FixedScaleOffset {
    /// Computes in `dtype`, stores as `astype`.
    pub fn new(offset: f64, scale: f64, dtype: &TypeStr, astype: &TypeStr) -> Result<Self> {
        Ok(FixedScaleOffset {
            offset,
            scale,
            dtype: filter::kind_of(NAME, "dtype", dtype)?,
            astype: filter::kind_of(NAME, "astype", astype)?,
            stored: astype.clone(),
        })
    }

    fn forward(&self, bytes: &[u8]) -> std::result::Result<Vec<u8>, usize> {
        let (offset, scale) = (self.offset, self.scale);
        let (work, mut x) = in_floats(bytes, self.dtype);
        map(
            &mut x,
            work,
            offset,
            scale,
            |x, o, s| ((x - o) * s).round_ties_even(),
            |x, o, s| ((x - o) * s).round_ties_even(),
            |x, o, s| f16::from_f32(f32::from((x - o) * s).round_ties_even()),
        );
        numbers::cast(&x, work, self.astype, true)
    }

    fn backward(&self, bytes: &[u8]) -> Vec<u8> {
        let (work, mut x) = in_floats(bytes, self.astype);
        map(&mut x, work, self.offset, self.scale, |x, o, s| x / s + o, |x, o, s| x / s + o, |x, o, s| x / s + o);
        numbers::cast(&x, work, self.dtype, false).unwrap_or_default()
    }
}

/// Numbers as the float type that numpy computes in.
fn in_floats(bytes: &[u8], kind: Kind) -> (Kind, Vec<u8>) {
    let work = if kind.is_float() { kind } else { Kind::F64 };
    (work, numbers::cast(bytes, kind, work, false).unwrap_or_default())
}

/// Applies the function of the float type to every number in place, with both parameters rounded to that type.
fn map(
    bytes: &mut [u8],
    kind: Kind,
    offset: f64,
    scale: f64,
    f64s: impl Fn(f64, f64, f64) -> f64,
    f32s: impl Fn(f32, f32, f32) -> f32,
    f16s: impl Fn(f16, f16, f16) -> f16,
) {
    match kind {
        Kind::F16 => {
            let (o, s) = (narrow(offset), narrow(scale));
            bytes.as_chunks_mut::<2>().0.iter_mut().for_each(|c| *c = f16s(f16::from_le_bytes(*c), o, s).to_le_bytes());
        }
        Kind::F32 => {
            let (o, s) = (offset as f32, scale as f32);
            bytes.as_chunks_mut::<4>().0.iter_mut().for_each(|c| *c = f32s(f32::from_le_bytes(*c), o, s).to_le_bytes());
        }
        _ => bytes.as_chunks_mut::<8>().0.iter_mut().for_each(|c| *c = f64s(f64::from_le_bytes(*c), offset, scale).to_le_bytes()),
    }
}

impl ArrayToArray for FixedScaleOffset {
    fn encoded(&self, input: &Rep) -> Result<Rep> {
        filter::check_view(NAME, &input.data_type, self.dtype)?;
        Ok(filter::behind(input, &self.stored, self.forward(input.fill.as_bytes()).ok()))
    }

    fn encode(&self, input: &Rep, elements: Elements) -> Result<Elements> {
        filter::check_view(NAME, &input.data_type, self.dtype)?;
        let bytes = checked::fixed(NAME, Way::Encode, input, elements)?;
        let out = self.forward(&bytes).map_err(|i| {
            let x = numbers::show(&bytes, self.dtype, i);
            let what = format!("element {i}: ({x} - {}) * {} does not fit {}", self.offset, self.scale, self.stored.data_type);
            CodecFault::value(NAME, what)
        })?;
        Ok(Elements::Fixed(out))
    }

    fn decode(&self, input: &Rep, elements: Elements) -> Result<Elements> {
        let bytes = checked::fixed(NAME, Way::Decode, &self.encoded(input)?, elements)?;
        Ok(Elements::Fixed(self.backward(&bytes)))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::FaultKind;
    use gingham_core::Shape;
    use gingham_core::dtype::{DataType, Endian, FillValue, Float};

    fn typestr(data_type: DataType) -> TypeStr {
        TypeStr { data_type, order: vec![Endian::Little] }
    }

    fn f64_rep(n: u64) -> Rep {
        let fill = FillValue::new(f64::NAN.to_le_bytes());
        Rep { data_type: DataType::Float(Float::F64), shape: Shape::from_slice(&[n]), fill }
    }

    #[test]
    fn tenths_around_a_thousand() {
        let c = FixedScaleOffset::new(1000.0, 10.0, &typestr(DataType::Float(Float::F64)), &typestr(DataType::UInt8)).unwrap();
        let x: Vec<u8> = [1000.0f64, 1000.25, 1000.5, 1000.75, 1001.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        let stored = c.encode(&f64_rep(5), Elements::Fixed(x)).unwrap();
        assert_eq!(stored, Elements::Fixed(vec![0, 2, 5, 8, 10]));
        let back: Vec<u8> = [1000.0f64, 1000.2, 1000.5, 1000.8, 1001.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        assert_eq!(c.decode(&f64_rep(5), stored).unwrap(), Elements::Fixed(back));
        // NaN has no uint8, but is no reason to refuse the array.
        assert_eq!(c.encoded(&f64_rep(5)).unwrap().fill.as_bytes(), [0]);
        let e = c.encode(&f64_rep(1), Elements::Fixed(f64::NAN.to_le_bytes().to_vec())).unwrap_err();
        assert_eq!(e.kind, FaultKind::Value);
        assert!(c.encode(&f64_rep(1), Elements::Fixed(2000f64.to_le_bytes().to_vec())).is_err());
    }

    #[test]
    fn nc_549_an_offset_in_float32() {
        let t = typestr(DataType::Float(Float::F32));
        let c = FixedScaleOffset::new(273.15, 1.0, &t, &t).unwrap();
        let r = Rep { data_type: t.data_type.clone(), shape: Shape::from_slice(&[3]), fill: FillValue::new([0; 4]) };
        let le = |v: &[f32]| Elements::Fixed(v.iter().flat_map(|x| x.to_le_bytes()).collect());
        assert_eq!(c.decode(&r, le(&[-10.0, 0.0, 10.0])).unwrap(), le(&[263.15, 273.15, 283.15]));
        assert_eq!(c.encode(&r, le(&[263.05, 273.15, 283.4])).unwrap(), le(&[-10.0, 0.0, 10.0]));
    }
}
