//! `scale_offset`: (x − offset) · scale and back, in the array's own type (format.md 3.2).
//!
//! A float64 holds twice the digits of every narrower float and two more, so an operation done there and rounded once gives what
//! the narrow type's own arithmetic gives.

use gingham_core::codec::Rounding;
use gingham_core::dtype::{DataType, Elements, FillValue, Float};
use gingham_core::json::Value;

use super::checked::{self, Way};
use super::real::{self, Real, RealType};
use crate::{ArrayToArray, CodecFault, Rep, Result};

const NAME: &str = "scale_offset";

/// `scale_offset` with its scalars as the document has them; their type is known once the array's is.
#[derive(Debug, Clone, PartialEq)]
pub struct ScaleOffset {
    offset: Option<Value>,
    scale: Option<Value>,
}

/// The arithmetic of one type.
enum Arithmetic {
    Integer { range: (i128, i128), offset: i128, scale: i128 },
    Float { float: Float, offset: f64, scale: f64 },
}

impl ScaleOffset {
    /// Scalars in the fill-value encoding of the array's type; absent ones are 0 and 1.
    pub fn new(offset: Option<Value>, scale: Option<Value>) -> Self {
        ScaleOffset { offset, scale }
    }

    fn arithmetic(&self, data_type: &DataType) -> Result<(RealType, Arithmetic)> {
        let real_type = RealType::of(data_type)
            .ok_or_else(|| CodecFault::unsupported(NAME, format!("takes real numbers (integers and floats), not {data_type}")))?;
        let scalar = |value: &Option<Value>, name: &str, default: i128| match value {
            None => Ok(match real_type {
                RealType::Integer { .. } => Real::Integer(default),
                RealType::Float(_) => Real::Float(default as f64),
            }),
            Some(v) => match FillValue::from_v3(v, data_type) {
                Ok(fill) => Ok(real_type.load(fill.as_bytes())),
                Err(e) => Err(CodecFault::unsupported(NAME, format!("{name} {v} is not a {data_type}: {e}"))),
            },
        };
        let arithmetic = match (real_type, scalar(&self.offset, "offset", 0)?, scalar(&self.scale, "scale", 1)?) {
            (RealType::Float(float), Real::Float(offset), Real::Float(scale)) => Arithmetic::Float { float, offset, scale },
            (other, Real::Integer(offset), Real::Integer(scale)) => {
                Arithmetic::Integer { range: other.range().unwrap_or((0, 0)), offset, scale }
            }
            _ => return Err(CodecFault::unsupported(NAME, format!("takes real numbers (integers and floats), not {data_type}"))),
        };
        let zero = match arithmetic {
            Arithmetic::Integer { scale, .. } => scale == 0,
            Arithmetic::Float { scale, .. } => scale == 0.0,
        };
        if zero {
            return Err(CodecFault::unsupported(NAME, "scale is 0: nothing could be decoded"));
        }
        Ok((real_type, arithmetic))
    }

    fn run(&self, data_type: &DataType, way: Way, mut bytes: Vec<u8>) -> Result<Vec<u8>> {
        let (real_type, arithmetic) = self.arithmetic(data_type)?;
        for (i, element) in bytes.chunks_exact_mut(real_type.width()).enumerate() {
            let value = real_type.load(element);
            let pattern = arithmetic.apply(way, value).map_err(|why| way.fault(NAME, format!("element {i}, {value}: {why}")))?;
            real_type.store(pattern, element);
        }
        Ok(bytes)
    }
}

impl Arithmetic {
    fn apply(&self, way: Way, value: Real) -> std::result::Result<u64, String> {
        match (self, value) {
            (Arithmetic::Integer { range, offset, scale }, Real::Integer(x)) => {
                let fits = |r: i128| if (range.0..=range.1).contains(&r) { Ok(r) } else { Err(format!("{r} is out of range")) };
                match way {
                    // Both factors have at most 64 bits, so nothing here reaches the ends of an i128.
                    Way::Encode => Ok(fits(fits(x - offset)? * scale)? as u64),
                    Way::Decode if x % scale != 0 => Err(format!("it does not divide by the scale {scale}")),
                    Way::Decode => Ok(fits(fits(x / scale)? + offset)? as u64),
                }
            }
            (Arithmetic::Float { float, offset, scale }, Real::Float(x)) => {
                let once = |exact: f64, finite: bool| match real::to_float(Real::Float(exact), *float, Rounding::NearestEven) {
                    Ok(bits) if finite && float.to_f64(bits).is_infinite() => Err("the result is out of range".to_string()),
                    Ok(bits) => Ok(float.to_f64(bits)),
                    Err(_) => Err("the result is not a number of the type".to_string()),
                };
                let finite = x.is_finite();
                let result = match way {
                    Way::Encode => once(once(x - offset, finite)? * scale, finite)?,
                    Way::Decode => once(once(x / scale, finite)? + offset, finite)?,
                };
                Ok(float.from_f64(result))
            }
            _ => Err("it is of another type".into()),
        }
    }
}

impl ArrayToArray for ScaleOffset {
    fn encoded(&self, input: &Rep) -> Result<Rep> {
        let fill = self.run(&input.data_type, Way::Encode, input.fill.as_bytes().to_vec()).map_err(|e| CodecFault {
            what: if e.kind == crate::FaultKind::Value { format!("the fill value does not survive: {}", e.what) } else { e.what },
            ..e
        })?;
        Ok(Rep { data_type: input.data_type.clone(), shape: input.shape.clone(), fill: FillValue::new(fill) })
    }
    fn encode(&self, input: &Rep, elements: Elements) -> Result<Elements> {
        let bytes = checked::fixed(NAME, Way::Encode, input, elements)?;
        Ok(Elements::Fixed(self.run(&input.data_type, Way::Encode, bytes)?))
    }
    fn decode(&self, input: &Rep, elements: Elements) -> Result<Elements> {
        let bytes = checked::fixed(NAME, Way::Decode, input, elements)?;
        Ok(Elements::Fixed(self.run(&input.data_type, Way::Decode, bytes)?))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::FaultKind;
    use gingham_core::Shape;
    use proptest::prelude::*;
    use serde_json::json;

    fn rep(data_type: DataType, n: usize, fill: &[u8]) -> Rep {
        Rep { data_type, shape: Shape::from_slice(&[n as u64]), fill: FillValue::new(fill) }
    }

    fn le(v: &[i32]) -> Vec<u8> {
        v.iter().flat_map(|x| x.to_le_bytes()).collect()
    }

    #[test]
    fn integers_exactly() {
        let c = ScaleOffset::new(Some(json!(-3)), Some(json!(2)));
        let r = rep(DataType::Int32, 4, &le(&[0]));
        let stored = c.encode(&r, Elements::Fixed(le(&[0, 1, 2, 3]))).unwrap();
        assert_eq!(stored, Elements::Fixed(le(&[6, 8, 10, 12])));
        assert_eq!(c.decode(&r, stored).unwrap(), Elements::Fixed(le(&[0, 1, 2, 3])));
        assert_eq!(c.encoded(&r).unwrap().fill.as_bytes(), le(&[6]));
    }

    #[test]
    fn what_is_not_representable_is_an_error() {
        let c = ScaleOffset::new(Some(json!(1000)), None);
        let r = rep(DataType::UInt16, 1, &1000u16.to_le_bytes());
        assert!(c.encoded(&r).is_ok());
        assert_eq!(c.encoded(&rep(DataType::UInt16, 1, &[0, 0])).unwrap_err().kind, FaultKind::Value);
        assert_eq!(c.encode(&r, Elements::Fixed(vec![1, 0])).unwrap_err().kind, FaultKind::Value);
        assert_eq!(c.decode(&r, Elements::Fixed(vec![0xff, 0xff])).unwrap_err().kind, FaultKind::Corrupt);
        let c = ScaleOffset::new(None, Some(json!(2)));
        let e = c.decode(&rep(DataType::Int8, 1, &[0]), Elements::Fixed(vec![3])).unwrap_err();
        assert!(e.what.contains("element 0, 3: it does not divide by the scale 2"), "{e}");
        assert!(c.encode(&rep(DataType::Int8, 1, &[0]), Elements::Fixed(vec![64])).is_err());
        assert_eq!(c.encode(&rep(DataType::Int8, 1, &[0]), Elements::Fixed(vec![63])).unwrap(), Elements::Fixed(vec![126]));
        // The intermediate result does not fit, though the final one would.
        let c = ScaleOffset::new(Some(json!(-100)), Some(json!(0)));
        assert_eq!(c.encoded(&rep(DataType::Int8, 1, &[0])).unwrap_err().kind, FaultKind::Unsupported);
        let c = ScaleOffset::new(None, Some(json!(-1)));
        assert!(c.decode(&rep(DataType::Int64, 1, &[0; 8]), Elements::Fixed(i64::MIN.to_le_bytes().to_vec())).is_err());
        assert!(c.encoded(&rep(DataType::Bool, 1, &[0])).is_err());
        assert!(ScaleOffset::new(Some(json!("x")), None).encoded(&rep(DataType::Int8, 1, &[0])).is_err());
    }

    #[test]
    fn floats_in_their_own_width() {
        let c = ScaleOffset::new(Some(json!(0.1)), Some(json!(3.0)));
        let x = 1.7f32;
        let r = rep(DataType::Float(Float::F32), 1, &[0; 4]);
        let stored = c.encode(&r, Elements::Fixed(x.to_le_bytes().to_vec())).unwrap();
        assert_eq!(stored, Elements::Fixed(((x - 0.1f32) * 3.0).to_le_bytes().to_vec()));
        let y = 5.3f32;
        let back = c.decode(&r, Elements::Fixed(y.to_le_bytes().to_vec())).unwrap();
        assert_eq!(back, Elements::Fixed((y / 3.0 + 0.1f32).to_le_bytes().to_vec()));
        assert!(c.encode(&r, Elements::Fixed(f32::MAX.to_le_bytes().to_vec())).is_err());
        let nan = c.encode(&r, Elements::Fixed(f32::NAN.to_le_bytes().to_vec())).unwrap();
        assert!(f32::from_le_bytes(nan.as_fixed().unwrap().try_into().unwrap()).is_nan());
    }

    proptest! {
        #[test]
        fn integers_round_trip(v in prop::collection::vec(-1000i32..1000, 1..20), offset in -1000i32..1000, scale in 1i32..1000) {
            let c = ScaleOffset::new(Some(json!(offset)), Some(json!(scale)));
            let r = rep(DataType::Int32, v.len(), &le(&[0]));
            let stored = c.encode(&r, Elements::Fixed(le(&v))).unwrap();
            prop_assert_eq!(c.decode(&r, stored).unwrap(), Elements::Fixed(le(&v)));
        }
        #[test]
        fn float32_arithmetic_is_the_hardware(x in any::<f32>(), offset in -1e6f32..1e6, scale in 1e-3f32..1e3) {
            let c = ScaleOffset::new(Some(json!(offset)), Some(json!(scale)));
            let r = rep(DataType::Float(Float::F32), 1, &[0; 4]);
            let want = (x - offset) * scale;
            match c.encode(&r, Elements::Fixed(x.to_le_bytes().to_vec())) {
                Ok(got) if !x.is_nan() => prop_assert_eq!(got, Elements::Fixed(want.to_le_bytes().to_vec())),
                Ok(_) => prop_assert!(want.is_nan()),
                Err(_) => prop_assert!(!want.is_finite()),
            }
        }
    }
}
