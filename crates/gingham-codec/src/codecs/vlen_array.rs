//! `vlen-array`: arrays of one axis as elements, each behind its length in bytes (format.md 5.6).

use gingham_core::dtype::{DataType, Elements, TypeStr, Variable};

use super::checked::{self, Way};
use super::vlen;
use crate::{ArrayToBytes, CodecFault, Context, Rep, Result};

const NAME: &str = "vlen-array";

/// `vlen-array` with the type of the items as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VlenArray {
    dtype: TypeStr,
}

impl VlenArray {
    /// Items of `dtype`, in its byte order.
    pub fn new(dtype: &TypeStr) -> Self {
        VlenArray { dtype: dtype.clone() }
    }

    /// Bytes of an item of `input`'s elements.
    fn item_size(&self, input: &Rep) -> Result<usize> {
        match (&input.data_type, self.dtype.data_type.size()) {
            (DataType::VlenArray(item), Some(size)) if **item == self.dtype.data_type && size > 0 => Ok(size),
            _ => {
                let what = format!("takes arrays of {}, not {}", self.dtype.data_type, input.data_type);
                Err(CodecFault::unsupported(NAME, what))
            }
        }
    }

    /// Swaps to or from the stored byte order. Elements are whole items, so one pass over all of them will do.
    fn swap(&self, data: &mut [u8]) {
        self.dtype.data_type.swap_leaves(data, &self.dtype.order);
    }

    fn check_whole(&self, way: Way, size: usize, v: &Variable) -> Result<()> {
        match (0..v.len()).find(|&i| !v.get(i).len().is_multiple_of(size)) {
            Some(i) => Err(way.fault(
                NAME,
                format!("element {i} has {} bytes, not a multiple of the {size} of {}", v.get(i).len(), self.dtype.data_type),
            )),
            None => Ok(()),
        }
    }
}

impl ArrayToBytes for VlenArray {
    fn encoded_len(&self, _: &Rep) -> Option<usize> {
        None
    }
    fn encode(&self, input: &Rep, elements: &Elements, out: &mut Vec<u8>, _: &mut Context) -> Result<()> {
        let size = self.item_size(input)?;
        let v = checked::variable(NAME, Way::Encode, input, elements)?;
        self.check_whole(Way::Encode, size, v)?;
        let mut swapped = v.clone();
        self.swap(&mut swapped.data);
        vlen::write(NAME, &swapped, out)
    }
    fn decode(&self, input: &Rep, bytes: &[u8], _: &mut Context) -> Result<Elements> {
        let size = self.item_size(input)?;
        let mut v = vlen::read(NAME, input.count(), bytes)?;
        self.check_whole(Way::Decode, size, &v)?;
        self.swap(&mut v.data);
        self.dtype.data_type.normalize(&mut v.data);
        Ok(Elements::Variable(v))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use gingham_core::Shape;
    use gingham_core::dtype::{Endian, FillValue};

    fn rep(n: u64) -> Rep {
        let data_type = DataType::VlenArray(Box::new(DataType::Int16));
        Rep { data_type, shape: Shape::from_slice(&[n]), fill: FillValue::new([]) }
    }

    #[test]
    fn both_byte_orders() {
        let mut v = Variable::new();
        v.push(&[1, 0, 2, 0]);
        v.push(&[]);
        for (order, stored) in [
            (Endian::Little, [2, 0, 0, 0, 4, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0]),
            (Endian::Big, [2, 0, 0, 0, 4, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0]),
        ] {
            let c = VlenArray::new(&TypeStr { data_type: DataType::Int16, order: vec![order] });
            let mut out = vec![];
            c.encode(&rep(2), &Elements::Variable(v.clone()), &mut out, &mut Context::default()).unwrap();
            assert_eq!(out, stored);
            assert_eq!(c.decode(&rep(2), &stored, &mut Context::default()).unwrap(), Elements::Variable(v.clone()));
        }
    }

    #[test]
    fn half_an_item_is_an_error() {
        let c = VlenArray::new(&TypeStr { data_type: DataType::Int16, order: vec![Endian::Little] });
        let e = c.decode(&rep(1), &[1, 0, 0, 0, 3, 0, 0, 0, 1, 0, 2], &mut Context::default()).unwrap_err();
        assert!(e.what.contains("element 0 has 3 bytes"), "{e}");
        let other = Rep { data_type: DataType::VlenArray(Box::new(DataType::Int8)), ..rep(1) };
        assert!(c.decode(&other, &[0; 4], &mut Context::default()).is_err());
    }
}
