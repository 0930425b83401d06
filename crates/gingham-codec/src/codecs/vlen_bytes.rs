//! `vlen-bytes`: byte strings, each behind its length (format.md 5.6).

use gingham_core::dtype::{DataType, Elements};

use super::checked::{self, Way};
use super::vlen;
use crate::{ArrayToBytes, CodecFault, Context, Rep, Result};

const NAME: &str = "vlen-bytes";

/// `vlen-bytes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VlenBytes;

fn check_type(input: &Rep) -> Result<()> {
    match input.data_type {
        DataType::Bytes => Ok(()),
        _ => Err(CodecFault::unsupported(NAME, format!("takes bytes of variable length, not {}", input.data_type))),
    }
}

impl ArrayToBytes for VlenBytes {
    fn encoded_len(&self, _: &Rep) -> Option<usize> {
        None
    }
    fn encode(&self, input: &Rep, elements: &Elements, out: &mut Vec<u8>, _: &mut Context) -> Result<()> {
        check_type(input)?;
        vlen::write(NAME, checked::variable(NAME, Way::Encode, input, elements)?, out)
    }
    fn decode(&self, input: &Rep, bytes: &[u8], _: &mut Context) -> Result<Elements> {
        check_type(input)?;
        Ok(Elements::Variable(vlen::read(NAME, input.count(), bytes)?))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use gingham_core::Shape;
    use gingham_core::dtype::{FillValue, Variable};

    #[test]
    fn zrs_vlen_two_byte_strings() {
        let rep = Rep { data_type: DataType::Bytes, shape: Shape::from_slice(&[2]), fill: FillValue::new([]) };
        let mut v = Variable::new();
        v.push(b"ab");
        v.push(&[0xff]);
        let stored = [2, 0, 0, 0, 2, 0, 0, 0, 0x61, 0x62, 1, 0, 0, 0, 0xff];
        let mut out = vec![];
        VlenBytes.encode(&rep, &Elements::Variable(v.clone()), &mut out, &mut Context::default()).unwrap();
        assert_eq!(out, stored);
        assert_eq!(VlenBytes.decode(&rep, &stored, &mut Context::default()).unwrap(), Elements::Variable(v));
        let string = Rep { data_type: DataType::String, ..rep };
        assert!(VlenBytes.decode(&string, &stored, &mut Context::default()).is_err());
    }
}
