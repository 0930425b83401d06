//! `cast_value`: numbers as another numeric type, never changed silently (format.md 3.2).
//!
//! One procedure per number, the same for both directions: the scalar map (first match wins), then the value itself where the
//! target holds it, then rounding and the range.

use gingham_core::codec::{CastValue as Spec, OutOfRange, Rounding};
use gingham_core::dtype::{DataType, Elements, FillValue, Misfit};
use gingham_core::json::Value;

use super::checked::{self, Way};
use super::real::{self, Real, RealType};
use crate::{ArrayToArray, CodecFault, Rep, Result};

const NAME: &str = "cast_value";

/// `cast_value` with its configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct CastValue {
    spec: Spec,
}

/// One direction, with the scalar map read.
struct Cast {
    from: RealType,
    to: RealType,
    rounding: Rounding,
    out_of_range: OutOfRange,
    /// (key, the target's element bytes as a pattern)
    map: Vec<(Real, u64)>,
}

impl CastValue {
    /// As the document says.
    pub fn new(spec: &Spec) -> Self {
        CastValue { spec: spec.clone() }
    }

    fn cast(&self, input: &DataType, way: Way) -> Result<Cast> {
        let target = &self.spec.data_type;
        let (from, to, map) = match way {
            Way::Encode => (input, target, &self.spec.encode_map),
            Way::Decode => (target, input, &self.spec.decode_map),
        };
        let map =
            map.iter().map(|(k, v)| Ok((real_type(from)?.load(&scalar(from, k)?), pattern(&scalar(to, v)?)))).collect::<Result<_>>()?;
        let (from, to) = (real_type(from)?, real_type(to)?);
        // A document may wrap on the way to an integer type alone; the way back to floats has no range to wrap in.
        if self.spec.out_of_range == OutOfRange::Wrap && way == Way::Encode && matches!(to, RealType::Float(_)) {
            return Err(CodecFault::unsupported(NAME, format!("\"wrap\" is for integer types, the target is {target}")));
        }
        Ok(Cast { from, to, rounding: self.spec.rounding, out_of_range: self.spec.out_of_range, map })
    }

    fn run(&self, input: &Rep, way: Way, bytes: &[u8]) -> Result<Vec<u8>> {
        let cast = self.cast(&input.data_type, way)?;
        cast.all(bytes).map_err(|(i, value, why)| {
            let target = if way == Way::Encode { &self.spec.data_type } else { &input.data_type };
            way.fault(NAME, format!("element {i}, {value}, has no counterpart in {target}: {why}"))
        })
    }
}

fn real_type(data_type: &DataType) -> Result<RealType> {
    RealType::of(data_type)
        .ok_or_else(|| CodecFault::unsupported(NAME, format!("takes real numbers (integers and floats), not {data_type}")))
}

/// The element bytes of a scalar of the map.
fn scalar(data_type: &DataType, value: &Value) -> Result<Vec<u8>> {
    match FillValue::from_v3(value, data_type) {
        Ok(fill) => Ok(fill.as_bytes().to_vec()),
        Err(e) => Err(CodecFault::unsupported(NAME, format!("{value} in scalar_map is not a {data_type}: {e}"))),
    }
}

fn pattern(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |p, &b| (p << 8) | u64::from(b))
}

impl Cast {
    /// Casts packed elements; the error names the first that has no counterpart.
    fn all(&self, bytes: &[u8]) -> std::result::Result<Vec<u8>, (usize, Real, &'static str)> {
        let (w, v) = (self.from.width(), self.to.width());
        let mut out = vec![0; bytes.len() / w * v];
        for (i, (s, d)) in bytes.chunks_exact(w).zip(out.chunks_exact_mut(v)).enumerate() {
            let value = self.from.load(s);
            self.to.store(self.one(value).map_err(|why| (i, value, why))?, d);
        }
        Ok(out)
    }

    fn one(&self, value: Real) -> std::result::Result<u64, &'static str> {
        if let Some((_, out)) = self.map.iter().find(|(key, _)| key.matches(value)) {
            return Ok(*out);
        }
        match self.to {
            RealType::Integer { .. } => self.to_integer(value),
            RealType::Float(float) => match real::to_float(value, float, self.rounding) {
                Ok(pattern) => Ok(pattern),
                Err(Misfit::TooLarge { negative }) => match self.out_of_range {
                    OutOfRange::Clamp => Ok(float.infinity(negative).unwrap_or_else(|| {
                        let most = float.max_finite();
                        float.from_f64(if negative { -most } else { most })
                    })),
                    _ => Err("it is out of range"),
                },
                Err(Misfit::NoInfinity { .. }) => Err("the type has no infinity"),
                Err(Misfit::NoNan) => Err("the type has no NaN"),
                Err(Misfit::NotPositive) => Err("the type has no zero and no negative numbers"),
            },
        }
    }

    fn to_integer(&self, value: Real) -> std::result::Result<u64, &'static str> {
        let whole = match value {
            Real::Integer(i) => i,
            Real::Float(x) if x.is_nan() => return Err("the type has no NaN"),
            Real::Float(x) if x.is_infinite() => return Err("the type has no infinity"),
            Real::Float(x) => {
                let r = real::round(x, self.rounding);
                // From 2^120 on a float64 is a multiple of 2^68: out of range, and zero modulo 2^64.
                match () {
                    () if r.abs() < 2f64.powi(120) => r as i128,
                    () if self.out_of_range == OutOfRange::Wrap => 0,
                    () if r < 0.0 => i128::MIN,
                    () => i128::MAX,
                }
            }
        };
        let (least, most) = self.to.range().unwrap_or((0, 0));
        if (least..=most).contains(&whole) {
            return Ok(whole as u64);
        }
        match self.out_of_range {
            OutOfRange::Error => Err("it is out of range"),
            OutOfRange::Clamp => Ok(whole.clamp(least, most) as u64),
            OutOfRange::Wrap => {
                let span = most - least + 1;
                Ok(((whole - least).rem_euclid(span) + least) as u64)
            }
        }
    }
}

impl ArrayToArray for CastValue {
    fn encoded(&self, input: &Rep) -> Result<Rep> {
        let fault = |what: String| {
            CodecFault::value(
                NAME,
                format!("the fill value does not survive the cast from {} to {}: {what}", input.data_type, self.spec.data_type),
            )
        };
        let there = self.cast(&input.data_type, Way::Encode)?;
        let fill = there.all(input.fill.as_bytes()).map_err(|(_, v, why)| fault(format!("{v} has no counterpart, {why}")))?;
        let back = self.cast(&input.data_type, Way::Decode)?;
        let again = back.all(&fill).map_err(|(_, v, why)| fault(format!("{v} has no way back, {why}")))?;
        let (was, is) = (there.from.load(input.fill.as_bytes()), there.from.load(&again));
        let both_nan = matches!((was, is), (Real::Float(a), Real::Float(b)) if a.is_nan() && b.is_nan());
        if again != input.fill.as_bytes() && !both_nan {
            return Err(fault(format!("{was} comes back as {is}")));
        }
        Ok(Rep { data_type: self.spec.data_type.clone(), shape: input.shape.clone(), fill: FillValue::new(fill) })
    }

    fn encode(&self, input: &Rep, elements: Elements) -> Result<Elements> {
        let bytes = checked::fixed(NAME, Way::Encode, input, elements)?;
        Ok(Elements::Fixed(self.run(input, Way::Encode, &bytes)?))
    }

    fn decode(&self, input: &Rep, elements: Elements) -> Result<Elements> {
        let behind = Rep { data_type: self.spec.data_type.clone(), ..input.clone() };
        let bytes = checked::fixed(NAME, Way::Decode, &behind, elements)?;
        Ok(Elements::Fixed(self.run(input, Way::Decode, &bytes)?))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::FaultKind;
    use gingham_core::Shape;
    use gingham_core::dtype::Float;
    use proptest::prelude::*;
    use serde_json::json;

    const F64: DataType = DataType::Float(Float::F64);
    const F32: DataType = DataType::Float(Float::F32);

    fn codec(data_type: DataType, rounding: Rounding, out_of_range: OutOfRange) -> CastValue {
        CastValue::new(&Spec { data_type, rounding, out_of_range, encode_map: vec![], decode_map: vec![] })
    }

    fn rep(data_type: DataType, n: usize, fill: &[u8]) -> Rep {
        Rep { data_type, shape: Shape::from_slice(&[n as u64]), fill: FillValue::new(fill) }
    }

    fn from_f64(c: &CastValue, v: &[f64]) -> Result<Vec<u8>> {
        let bytes = v.iter().flat_map(|x| x.to_le_bytes()).collect();
        match c.encode(&rep(F64, v.len(), &[0; 8]), Elements::Fixed(bytes))? {
            Elements::Fixed(b) => Ok(b),
            Elements::Variable(_) => unreachable!(),
        }
    }

    #[test]
    fn rounding_modes() {
        let v = [0.5, 1.5, 2.5, 254.5];
        let to = |r| from_f64(&codec(DataType::UInt8, r, OutOfRange::Error), &v);
        assert_eq!(to(Rounding::NearestEven).unwrap(), [0, 2, 2, 254]);
        assert_eq!(to(Rounding::NearestAway).unwrap(), [1, 2, 3, 255]);
        assert_eq!(to(Rounding::TowardsZero).unwrap(), [0, 1, 2, 254]);
        assert_eq!(to(Rounding::TowardsPositive).unwrap(), [1, 2, 3, 255]);
        assert_eq!(to(Rounding::TowardsNegative).unwrap(), [0, 1, 2, 254]);
        assert_eq!(from_f64(&codec(DataType::UInt8, Rounding::NearestEven, OutOfRange::Error), &[-0.5]).unwrap(), [0]);
    }

    #[test]
    fn what_is_out_of_range() {
        let to = |o, x| from_f64(&codec(DataType::Int8, Rounding::NearestEven, o), &[x]).map(|b| b[0] as i8);
        assert_eq!(to(OutOfRange::Error, 128.0).unwrap_err().kind, FaultKind::Value);
        assert_eq!(to(OutOfRange::Error, 127.4).unwrap(), 127);
        assert_eq!(to(OutOfRange::Clamp, 128.0).unwrap(), 127);
        assert_eq!(to(OutOfRange::Clamp, -1e300).unwrap(), -128);
        assert_eq!(to(OutOfRange::Wrap, 128.0).unwrap(), -128);
        assert_eq!(to(OutOfRange::Wrap, 1e300).unwrap(), 0);
        for o in [OutOfRange::Error, OutOfRange::Clamp, OutOfRange::Wrap] {
            assert!(to(o, f64::NAN).is_err());
            assert!(to(o, f64::INFINITY).is_err());
        }
        let wrap = codec(DataType::Int16, Rounding::NearestEven, OutOfRange::Wrap);
        let got = from_f64(&wrap, &[32768.0, 32769.0, -32769.0]).unwrap();
        assert_eq!(got, [-32768i16, -32767, 32767].iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>());
    }

    #[test]
    fn clamping_to_floats_goes_to_infinity_where_there_is_one() {
        let bits = |f, o, x: f64| from_f64(&codec(DataType::Float(f), Rounding::NearestEven, o), &[x]);
        assert_eq!(bits(Float::F32, OutOfRange::Clamp, 1e39).unwrap(), f32::INFINITY.to_le_bytes());
        assert!(bits(Float::F32, OutOfRange::Error, 1e39).is_err());
        assert_eq!(bits(Float::F32, OutOfRange::Error, f64::NEG_INFINITY).unwrap(), f32::NEG_INFINITY.to_le_bytes());
        assert_eq!(bits(Float::E2M1FN, OutOfRange::Clamp, -100.0).unwrap(), [0x0f]);
        assert!(bits(Float::E2M1FN, OutOfRange::Clamp, f64::INFINITY).is_err());
        assert_eq!(bits(Float::F16, OutOfRange::Error, -0.0).unwrap(), [0, 0x80]);
        assert!(from_f64(&codec(F32, Rounding::NearestEven, OutOfRange::Wrap), &[1.0]).is_err());
    }

    #[test]
    fn integers_to_floats_round_once() {
        let c = codec(F32, Rounding::NearestEven, OutOfRange::Error);
        // A tie of float32 plus one: through float64 it would become the tie.
        let x = (1i64 << 62) + (1i64 << 38) + 1;
        let Elements::Fixed(b) = c.encode(&rep(DataType::Int64, 1, &[0; 8]), Elements::Fixed(x.to_le_bytes().to_vec())).unwrap() else {
            panic!()
        };
        assert_eq!(b, (x as f32).to_le_bytes());
        assert_eq!(f32::from_le_bytes(b.try_into().unwrap()) as i64, (1 << 62) + (1 << 39));
    }

    #[test]
    fn the_first_entry_of_the_map_wins_and_nan_matches_nan() {
        let mut spec = Spec {
            data_type: DataType::UInt8,
            rounding: Rounding::NearestEven,
            out_of_range: OutOfRange::Error,
            encode_map: vec![(json!("NaN"), json!(255)), (json!("NaN"), json!(1)), (json!("Infinity"), json!(254)), (json!(7.0), json!(0))],
            decode_map: vec![(json!(255), json!("NaN")), (json!(254), json!("Infinity"))],
        };
        let c = CastValue::new(&spec);
        let odd_nan = f64::from_bits(0xfff0000000000001);
        assert_eq!(from_f64(&c, &[f64::NAN, odd_nan, f64::INFINITY, 7.0, 8.0]).unwrap(), [255, 255, 254, 0, 8]);
        let r = rep(F64, 2, &f64::NAN.to_le_bytes());
        assert_eq!(c.encoded(&r).unwrap().fill.as_bytes(), [255]);
        let Elements::Fixed(b) = c.decode(&r, Elements::Fixed(vec![255, 254])).unwrap() else { panic!() };
        assert!(f64::from_le_bytes(b[..8].try_into().unwrap()).is_nan());
        assert_eq!(b[8..], f64::INFINITY.to_le_bytes());
        spec.encode_map[0].1 = json!(256);
        assert_eq!(CastValue::new(&spec).encoded(&r).unwrap_err().kind, FaultKind::Unsupported);
    }

    #[test]
    fn zp_3937_widening_integers() {
        let c = codec(DataType::Int16, Rounding::NearestEven, OutOfRange::Error);
        let r = rep(DataType::Int8, 4, &[0]);
        assert_eq!(c.decode(&r, Elements::Fixed(vec![0, 0, 1, 0, 2, 0, 3, 0])).unwrap(), Elements::Fixed(vec![0, 1, 2, 3]));
        let e = c.decode(&r, Elements::Fixed(vec![0, 0, 1, 0, 2, 1, 3, 0])).unwrap_err();
        assert_eq!(e.kind, FaultKind::Corrupt);
        assert!(e.what.contains("element 2, 258"), "{e}");
    }

    #[test]
    fn a_fill_value_that_does_not_survive_is_refused() {
        let c = codec(DataType::UInt8, Rounding::NearestEven, OutOfRange::Clamp);
        assert_eq!(c.encoded(&rep(F64, 1, &3f64.to_le_bytes())).unwrap().fill.as_bytes(), [3]);
        assert!(c.encoded(&rep(F64, 1, &3.5f64.to_le_bytes())).unwrap_err().what.contains("3.5 comes back as 4"));
        assert!(c.encoded(&rep(F64, 1, &f64::NAN.to_le_bytes())).is_err());
        assert!(c.encoded(&rep(F64, 1, &(-0f64).to_le_bytes())).is_err());
        let nan = codec(F32, Rounding::NearestEven, OutOfRange::Error);
        assert!(nan.encoded(&rep(F64, 1, &0x7ff8000000000001u64.to_le_bytes())).is_ok());
        assert_eq!(c.encoded(&rep(DataType::Bool, 1, &[0])).unwrap_err().kind, FaultKind::Unsupported);
        assert!(c.decode(&rep(F64, 2, &[0; 8]), Elements::Fixed(vec![1])).is_err());
    }

    proptest! {
        #[test]
        fn float32_in_float64_round_trips(bits in prop::collection::vec(any::<u32>(), 1..20)) {
            let v: Vec<f32> = bits.iter().map(|b| f32::from_bits(*b)).filter(|x| !x.is_nan()).collect();
            let bytes: Vec<u8> = v.iter().flat_map(|x| x.to_le_bytes()).collect();
            let r = rep(F32, v.len(), &[0; 4]);
            let c = codec(F64, Rounding::NearestEven, OutOfRange::Error);
            let there = c.encode(&r, Elements::Fixed(bytes.clone())).unwrap();
            prop_assert_eq!(c.decode(&r, there).unwrap(), Elements::Fixed(bytes));
        }
        #[test]
        fn nearest_even_is_the_hardware(x in any::<f64>()) {
            let c = codec(F32, Rounding::NearestEven, OutOfRange::Clamp);
            prop_assume!(!x.is_nan());
            prop_assert_eq!(from_f64(&c, &[x]).unwrap(), (x as f32).to_le_bytes());
        }
    }
}
