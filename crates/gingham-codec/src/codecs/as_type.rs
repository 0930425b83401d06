//! numcodecs' `astype`: numpy's cast to another numeric type (format.md 5.7).

use gingham_core::dtype::{Elements, TypeStr};

use super::checked::{self, Way};
use super::filter;
use super::numbers::{self, Kind};
use crate::{ArrayToArray, CodecFault, Rep, Result};

const NAME: &str = "numcodecs.astype";

/// `astype` with the stored and the decoded type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AsType {
    encode: Kind,
    decode: Kind,
    stored: TypeStr,
}

impl AsType {
    /// Stored as `encode_dtype`, read as `decode_dtype`.
    pub fn new(encode_dtype: &TypeStr, decode_dtype: &TypeStr) -> Result<Self> {
        Ok(AsType {
            encode: filter::kind_of(NAME, "encode_dtype", encode_dtype)?,
            decode: filter::kind_of(NAME, "decode_dtype", decode_dtype)?,
            stored: encode_dtype.clone(),
        })
    }
}

impl ArrayToArray for AsType {
    fn encoded(&self, input: &Rep) -> Result<Rep> {
        filter::check_view(NAME, &input.data_type, self.decode)?;
        Ok(filter::behind(input, &self.stored, numbers::cast(input.fill.as_bytes(), self.decode, self.encode, true).ok()))
    }

    /// Fractions and digits are lost as asked; a number outside the stored type's range is an error, where numpy would store another one.
    fn encode(&self, input: &Rep, elements: Elements) -> Result<Elements> {
        filter::check_view(NAME, &input.data_type, self.decode)?;
        let bytes = checked::fixed(NAME, Way::Encode, input, elements)?;
        let out = numbers::cast(&bytes, self.decode, self.encode, true).map_err(|i| {
            let x = numbers::show(&bytes, self.decode, i);
            CodecFault::value(NAME, format!("element {i}, {x}, is out of range of {}", self.stored.data_type))
        })?;
        Ok(Elements::Fixed(out))
    }

    fn decode(&self, input: &Rep, elements: Elements) -> Result<Elements> {
        let bytes = checked::fixed(NAME, Way::Decode, &self.encoded(input)?, elements)?;
        Ok(Elements::Fixed(numbers::cast(&bytes, self.encode, self.decode, false).unwrap_or_default()))
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

    #[test]
    fn floats_narrow_and_integers_stay_in_range() {
        let f = |f| DataType::Float(f);
        let c = AsType::new(&typestr(f(Float::F32)), &typestr(f(Float::F64))).unwrap();
        let r = Rep { data_type: f(Float::F64), shape: Shape::from_slice(&[1]), fill: FillValue::new(f64::NAN.to_le_bytes()) };
        let stored = c.encode(&r, Elements::Fixed(0.1f64.to_le_bytes().to_vec())).unwrap();
        assert_eq!(stored, Elements::Fixed(0.1f32.to_le_bytes().to_vec()));
        assert_eq!(c.decode(&r, stored).unwrap(), Elements::Fixed(f64::from(0.1f32).to_le_bytes().to_vec()));
        assert!(f32::from_le_bytes(c.encoded(&r).unwrap().fill.as_bytes().try_into().unwrap()).is_nan());

        let c = AsType::new(&typestr(DataType::Int16), &typestr(DataType::Int32)).unwrap();
        let r = Rep { data_type: DataType::Int32, shape: Shape::from_slice(&[1]), fill: FillValue::new(70000i32.to_le_bytes()) };
        assert_eq!(c.encode(&r, Elements::Fixed((-5i32).to_le_bytes().to_vec())).unwrap(), Elements::Fixed(vec![0xfb, 0xff]));
        let e = c.encode(&r, Elements::Fixed(70000i32.to_le_bytes().to_vec())).unwrap_err();
        assert!(e.what.contains("element 0, 70000"), "{e}");
        // A fill value that is out of range is never stored, so it is no reason to refuse the array.
        assert_eq!(c.encoded(&r).unwrap().fill.as_bytes(), [0, 0]);
        assert!(c.decode(&r, Elements::Fixed(vec![0; 3])).is_err());
    }
}
