//! numcodecs' `delta`: the first element, then differences (format.md 5.7).

use gingham_core::dtype::{Elements, TypeStr};

use super::checked::{self, Way};
use super::filter;
use super::numbers::{self, Kind, Number, with_number};
use crate::{ArrayToArray, CodecFault, Rep, Result};

const NAME: &str = "numcodecs.delta";

/// `delta` with the type it computes in and the type it stores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delta {
    dtype: Kind,
    astype: Kind,
    stored: TypeStr,
}

impl Delta {
    /// Differences in `dtype`, stored as `astype`.
    pub fn new(dtype: &TypeStr, astype: &TypeStr) -> Result<Self> {
        Ok(Delta {
            dtype: filter::kind_of(NAME, "dtype", dtype)?,
            astype: filter::kind_of(NAME, "astype", astype)?,
            stored: astype.clone(),
        })
    }

    /// Differences as `astype`; the error is the position of one that does not fit.
    ///
    /// Integers fit where the way back gives the same difference, so uint16 may be stored as int16.
    fn differences(&self, mut bytes: Vec<u8>) -> std::result::Result<Vec<u8>, usize> {
        with_number!(self.dtype, T => differences::<T>(&mut bytes));
        let floats = self.dtype.is_float() || self.astype.is_float();
        let out = numbers::cast(&bytes, self.dtype, self.astype, floats)?;
        if self.astype != self.dtype && !floats {
            let back = numbers::cast(&out, self.astype, self.dtype, false)?;
            if let Some(at) = back.iter().zip(&bytes).position(|(a, b)| a != b) {
                return Err(at / self.dtype.width());
            }
        }
        Ok(out)
    }
}

fn differences<T: Number>(bytes: &mut [u8]) {
    let mut before: Option<T> = None;
    for c in bytes.chunks_exact_mut(T::WIDTH) {
        let x = T::load(c);
        if let Some(b) = before {
            x.minus(b).store(c);
        }
        before = Some(x);
    }
}

fn sums<T: Number>(bytes: &mut [u8]) {
    let mut sum: Option<T> = None;
    for c in bytes.chunks_exact_mut(T::WIDTH) {
        let x = T::load(c);
        let s = sum.map_or(x, |s| s.plus(x));
        s.store(c);
        sum = Some(s);
    }
}

impl ArrayToArray for Delta {
    fn encoded(&self, input: &Rep) -> Result<Rep> {
        filter::check_view(NAME, &input.data_type, self.dtype)?;
        Ok(filter::behind(input, &self.stored, self.differences(input.fill.as_bytes().to_vec()).ok()))
    }

    fn encode(&self, input: &Rep, elements: Elements) -> Result<Elements> {
        filter::check_view(NAME, &input.data_type, self.dtype)?;
        let bytes = checked::fixed(NAME, Way::Encode, input, elements)?;
        let shown = bytes.clone();
        let out = self.differences(bytes).map_err(|i| {
            let x = numbers::show(&shown, self.dtype, i);
            let before = if i == 0 { "0".into() } else { numbers::show(&shown, self.dtype, i - 1) };
            CodecFault::value(NAME, format!("the difference of element {i}, {x} - {before}, does not fit {}", self.stored.data_type))
        })?;
        Ok(Elements::Fixed(out))
    }

    fn decode(&self, input: &Rep, elements: Elements) -> Result<Elements> {
        let bytes = checked::fixed(NAME, Way::Decode, &self.encoded(input)?, elements)?;
        let mut out =
            if self.astype == self.dtype { bytes } else { numbers::cast(&bytes, self.astype, self.dtype, false).unwrap_or_default() };
        with_number!(self.dtype, T => sums::<T>(&mut out));
        Ok(Elements::Fixed(out))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::FaultKind;
    use gingham_core::Shape;
    use gingham_core::dtype::{DataType, Endian, FillValue, Float};
    use proptest::prelude::*;

    fn typestr(data_type: DataType) -> TypeStr {
        TypeStr { data_type, order: vec![Endian::Little] }
    }

    fn delta(dtype: DataType, astype: DataType) -> (Delta, impl Fn(usize) -> Rep) {
        let codec = Delta::new(&typestr(dtype.clone()), &typestr(astype)).unwrap();
        (codec, move |n| Rep { data_type: dtype.clone(), shape: Shape::from_slice(&[n as u64]), fill: FillValue::new(vec![0; 8]) })
    }

    #[test]
    fn ones() {
        let (d, rep) = delta(DataType::UInt16, DataType::UInt16);
        let x = Elements::Fixed(vec![1, 0, 2, 0, 3, 0, 4, 0, 5, 0]);
        let r = Rep { fill: FillValue::new([0, 0]), ..rep(5) };
        let stored = d.encode(&r, x.clone()).unwrap();
        assert_eq!(stored, Elements::Fixed(vec![1, 0, 1, 0, 1, 0, 1, 0, 1, 0]));
        assert_eq!(d.decode(&r, stored).unwrap(), x);
    }

    #[test]
    fn zp_3256_a_narrower_stored_type() {
        let (d, rep) = delta(DataType::Int32, DataType::Int16);
        let r = Rep { fill: FillValue::new([0; 4]), ..rep(5) };
        let x: Vec<u8> = [1000i32, 1001, 1003, 1002, 1002].iter().flat_map(|v| v.to_le_bytes()).collect();
        let stored: Vec<u8> = [1000i16, 1, 2, -1, 0].iter().flat_map(|v| v.to_le_bytes()).collect();
        assert_eq!(d.encode(&r, Elements::Fixed(x.clone())).unwrap(), Elements::Fixed(stored.clone()));
        assert_eq!(d.decode(&r, Elements::Fixed(stored)).unwrap(), Elements::Fixed(x));
        assert_eq!(d.encoded(&r).unwrap().data_type, DataType::Int16);
        let r = Rep { fill: FillValue::new([0; 4]), ..rep(2) };
        let far: Vec<u8> = [0i32, 40000].iter().flat_map(|v| v.to_le_bytes()).collect();
        let e = d.encode(&r, Elements::Fixed(far)).unwrap_err();
        assert_eq!(e.kind, FaultKind::Value);
        assert!(e.what.contains("element 1, 40000 - 0"), "{e}");
    }

    #[test]
    fn bools_and_what_is_no_number() {
        let (d, rep) = delta(DataType::Bool, DataType::Bool);
        let r = Rep { fill: FillValue::new([0]), ..rep(4) };
        let stored = d.encode(&r, Elements::Fixed(vec![1, 1, 0, 1])).unwrap();
        assert_eq!(stored, Elements::Fixed(vec![1, 0, 1, 1]));
        assert_eq!(d.decode(&r, stored).unwrap(), Elements::Fixed(vec![1, 1, 0, 1]));
        assert!(Delta::new(&typestr(DataType::Raw(4)), &typestr(DataType::Int8)).is_err());
        assert!(d.encoded(&Rep { data_type: DataType::Int32, ..r }).is_err());
    }

    proptest! {
        #[test]
        fn wrapping_round_trips(v in prop::collection::vec(any::<u16>(), 0..50)) {
            let bytes: Vec<u8> = v.iter().flat_map(|x| x.to_le_bytes()).collect();
            for astype in [DataType::UInt16, DataType::Int16, DataType::Int64] {
                let (d, rep) = delta(DataType::UInt16, astype);
                let r = Rep { fill: FillValue::new([0, 0]), ..rep(v.len()) };
                let stored = d.encode(&r, Elements::Fixed(bytes.clone())).unwrap();
                prop_assert_eq!(d.decode(&r, stored).unwrap(), Elements::Fixed(bytes.clone()));
            }
        }
        #[test]
        fn floats_come_back_near(v in prop::collection::vec(-1e3f64..1e3, 1..50)) {
            let bytes: Vec<u8> = v.iter().flat_map(|x| x.to_le_bytes()).collect();
            let (d, rep) = delta(DataType::Float(Float::F64), DataType::Float(Float::F64));
            let r = rep(v.len());
            let stored = d.encode(&r, Elements::Fixed(bytes)).unwrap();
            let Elements::Fixed(back) = d.decode(&r, stored).unwrap() else { panic!() };
            for (b, x) in back.chunks(8).zip(&v) {
                prop_assert!((f64::from_le_bytes(b.try_into().unwrap()) - x).abs() < 1e-9);
            }
        }
    }
}
