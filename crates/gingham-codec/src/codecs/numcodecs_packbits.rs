//! numcodecs' `packbits`: bools as bits, most significant first, behind a byte that counts the padding (format.md 5.7).
//! Not to be confused with the registered [`super::packbits`], which starts at the least significant bit.

use gingham_core::Shape;
use gingham_core::dtype::{DataType, Elements, FillValue};

use super::checked::{self, Way};
use crate::{ArrayToArray, CodecFault, Rep, Result};

const NAME: &str = "numcodecs.packbits";

/// numcodecs' `packbits`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumcodecsPackBits;

impl ArrayToArray for NumcodecsPackBits {
    fn encoded(&self, input: &Rep) -> Result<Rep> {
        if input.data_type != DataType::Bool {
            return Err(CodecFault::unsupported(NAME, format!("takes bool, not {}", input.data_type)));
        }
        let len = 1 + input.count().div_ceil(8) as u64;
        Ok(Rep { data_type: DataType::UInt8, shape: Shape::from_slice(&[len]), fill: FillValue::new([0]) })
    }

    fn encode(&self, input: &Rep, elements: Elements) -> Result<Elements> {
        self.encoded(input)?;
        let bools = checked::fixed(NAME, Way::Encode, input, elements)?;
        let mut out = Vec::with_capacity(1 + bools.len().div_ceil(8));
        out.push((bools.len().wrapping_neg() % 8) as u8);
        out.extend(bools.chunks(8).map(|eight| eight.iter().enumerate().fold(0, |byte, (i, &b)| byte | u8::from(b != 0) << (7 - i))));
        Ok(Elements::Fixed(out))
    }

    fn decode(&self, input: &Rep, elements: Elements) -> Result<Elements> {
        let bytes = checked::fixed(NAME, Way::Decode, &self.encoded(input)?, elements)?;
        let n = input.count();
        let Some((&padding, packed)) = bytes.split_first() else {
            return Err(CodecFault::corrupt(NAME, "the byte that counts the padding is missing"));
        };
        if usize::from(padding) != n.wrapping_neg() % 8 {
            return Err(CodecFault::corrupt(NAME, format!("{padding} padding bits, expected {} for {n} elements", n.wrapping_neg() % 8)));
        }
        Ok(Elements::Fixed((0..n).map(|i| packed[i / 8] >> (7 - i % 8) & 1).collect()))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    fn rep(n: u64) -> Rep {
        Rep { data_type: DataType::Bool, shape: Shape::from_slice(&[n]), fill: FillValue::new([0]) }
    }

    #[test]
    fn nine_bools() {
        let x = Elements::Fixed(vec![1, 0, 1, 1, 0, 0, 0, 0, 1]);
        let stored = NumcodecsPackBits.encode(&rep(9), x.clone()).unwrap();
        assert_eq!(stored, Elements::Fixed(vec![7, 0xb0, 0x80]));
        assert_eq!(NumcodecsPackBits.encoded(&rep(9)).unwrap().shape.as_slice(), [3]);
        assert_eq!(NumcodecsPackBits.decode(&rep(9), stored).unwrap(), x);
    }

    #[test]
    fn padding_and_length_must_fit() {
        assert!(NumcodecsPackBits.decode(&rep(9), Elements::Fixed(vec![6, 0, 0])).is_err());
        assert!(NumcodecsPackBits.decode(&rep(9), Elements::Fixed(vec![7, 0])).is_err());
        assert!(NumcodecsPackBits.decode(&rep(9), Elements::Fixed(vec![])).is_err());
        assert!(NumcodecsPackBits.encoded(&Rep { data_type: DataType::UInt8, ..rep(1) }).is_err());
        assert_eq!(NumcodecsPackBits.decode(&rep(0), Elements::Fixed(vec![0])).unwrap(), Elements::Fixed(vec![]));
    }

    proptest! {
        #[test]
        fn round_trips(bools in prop::collection::vec(0u8..2, 0..70)) {
            let r = rep(bools.len() as u64);
            let stored = NumcodecsPackBits.encode(&r, Elements::Fixed(bools.clone())).unwrap();
            prop_assert_eq!(NumcodecsPackBits.decode(&r, stored).unwrap(), Elements::Fixed(bools));
        }
    }
}
