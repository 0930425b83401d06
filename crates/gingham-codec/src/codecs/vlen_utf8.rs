//! `vlen-utf8`: strings, each behind its length (format.md 5.6).

use gingham_core::dtype::{DataType, Elements};

use super::checked::{self, Way};
use super::vlen;
use crate::{ArrayToBytes, CodecFault, Context, Rep, Result};

const NAME: &str = "vlen-utf8";

/// `vlen-utf8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VlenUtf8;

fn check_type(input: &Rep) -> Result<()> {
    match input.data_type {
        DataType::String => Ok(()),
        _ => Err(CodecFault::unsupported(NAME, format!("takes strings, not {}", input.data_type))),
    }
}

impl ArrayToBytes for VlenUtf8 {
    fn encoded_len(&self, _: &Rep) -> Option<usize> {
        None
    }
    fn encode(&self, input: &Rep, elements: &Elements, out: &mut Vec<u8>, _: &mut Context) -> Result<()> {
        check_type(input)?;
        let v = checked::variable(NAME, Way::Encode, input, elements)?;
        if let Some(i) = (0..v.len()).find(|&i| std::str::from_utf8(v.get(i)).is_err()) {
            return Err(CodecFault::value(NAME, format!("element {i} is not UTF-8")));
        }
        vlen::write(NAME, v, out)
    }
    fn decode(&self, input: &Rep, bytes: &[u8], _: &mut Context) -> Result<Elements> {
        check_type(input)?;
        let v = vlen::read(NAME, input.count(), bytes)?;
        for i in 0..v.len() {
            if let Err(e) = std::str::from_utf8(v.get(i)) {
                return Err(CodecFault::corrupt(NAME, format!("element {i} is not UTF-8 at its byte {}", e.valid_up_to())));
            }
        }
        Ok(Elements::Variable(v))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use gingham_core::Shape;
    use gingham_core::dtype::{FillValue, Variable};

    fn rep(n: u64) -> Rep {
        Rep { data_type: DataType::String, shape: Shape::from_slice(&[n]), fill: FillValue::new("") }
    }

    #[test]
    fn three_strings() {
        let mut v = Variable::new();
        ["a", "", "héé"].iter().for_each(|s| v.push(s.as_bytes()));
        let stored = [3, 0, 0, 0, 1, 0, 0, 0, 0x61, 0, 0, 0, 0, 5, 0, 0, 0, 0x68, 0xc3, 0xa9, 0xc3, 0xa9];
        let mut out = vec![];
        VlenUtf8.encode(&rep(3), &Elements::Variable(v.clone()), &mut out, &mut Context::default()).unwrap();
        assert_eq!(out, stored);
        assert_eq!(VlenUtf8.decode(&rep(3), &stored, &mut Context::default()).unwrap(), Elements::Variable(v));
        assert_eq!(VlenUtf8.decode(&rep(0), &[0; 4], &mut Context::default()).unwrap(), Elements::Variable(Variable::new()));
    }

    #[test]
    fn zrs_vlen_wrong_counts_lengths_and_text() {
        let mut c = Context::default();
        let e = VlenUtf8.decode(&rep(2), &[3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &mut c).unwrap_err();
        assert!(e.what.contains("holds 3 elements, expected 2"), "{e}");
        assert!(VlenUtf8.decode(&rep(1), &[1, 0, 0, 0, 9, 0, 0, 0, 0x61], &mut c).is_err());
        // A character cut in two by the boundary of its elements is valid as a whole only.
        let e = VlenUtf8.decode(&rep(2), &[2, 0, 0, 0, 1, 0, 0, 0, 0xc3, 1, 0, 0, 0, 0xa9], &mut c).unwrap_err();
        assert!(e.what.contains("element 0 is not UTF-8"), "{e}");
        let r = Rep { data_type: DataType::Int8, ..rep(0) };
        assert!(VlenUtf8.decode(&r, &[0; 4], &mut c).is_err());
    }
}
