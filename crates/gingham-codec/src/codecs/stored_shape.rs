//! `gingham.stored_shape`: a chunk stored larger than it counts (files.md 7.3).
//!
//! ```text
//!   decoded: shape s ── encode: put into the leading corner of an array of the fill value ──▶ encoded: `shape`
//!                    ◀─ decode: cut the leading corner ─────────────────────────────────────
//! ```

use gingham_core::Shape;
use gingham_core::dtype::{Elements, Variable};
use smallvec::SmallVec;

use super::checked::{self, Way};
use crate::{ArrayToArray, CodecFault, Rep, Result};

const NAME: &str = "gingham.stored_shape";

/// `gingham.stored_shape` with the shape that is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredShape {
    shape: Shape,
}

impl StoredShape {
    /// What is stored, however short the chunk.
    pub fn new(shape: &[u64]) -> Self {
        StoredShape { shape: Shape::from_slice(shape) }
    }

    fn check(&self, input: &Rep) -> Result<()> {
        if self.shape.len() != input.shape.len() {
            return Err(CodecFault::unsupported(
                NAME,
                format!("the stored shape {:?} has {} axes, the chunk has {}", &self.shape[..], self.shape.len(), input.shape.len()),
            ));
        }
        let bytes = self.shape.iter().try_fold(input.data_type.size().unwrap_or(8) as u64, |p, &n| p.checked_mul(n));
        if bytes.is_none_or(|b| b > isize::MAX as u64) {
            return Err(CodecFault::unsupported(NAME, format!("the stored shape {:?} exceeds memory", &self.shape[..])));
        }
        match (0..self.shape.len()).find(|&i| self.shape[i] < input.shape[i]) {
            Some(i) => Err(CodecFault::unsupported(
                NAME,
                format!("the stored length {} of axis {i} is less than the chunk's length {}", self.shape[i], input.shape[i]),
            )),
            None => Ok(()),
        }
    }

    /// Calls with (start in the chunk, start in the stored array, length) of each row of the chunk, in elements.
    fn rows(&self, small: &[u64], mut visit: impl FnMut(usize, usize, usize)) {
        let Some((&last, outer)) = small.split_last() else { return visit(0, 0, 1) };
        let row = last as usize;
        let rows = outer.iter().product::<u64>() as usize;
        if row == 0 {
            return;
        }
        let mut index = SmallVec::<[u64; 8]>::from_elem(0, outer.len());
        for r in 0..rows {
            let at = index.iter().zip(&self.shape).fold(0u64, |at, (&i, &n)| at * n + i);
            visit(r * row, (at * self.shape[outer.len()]) as usize, row);
            for axis in (0..outer.len()).rev() {
                index[axis] += 1;
                if index[axis] < outer[axis] {
                    break;
                }
                index[axis] = 0;
            }
        }
    }
}

impl ArrayToArray for StoredShape {
    fn encoded(&self, input: &Rep) -> Result<Rep> {
        self.check(input)?;
        Ok(Rep { data_type: input.data_type.clone(), shape: self.shape.clone(), fill: input.fill.clone() })
    }

    fn encode(&self, input: &Rep, elements: Elements) -> Result<Elements> {
        let behind = self.encoded(input)?;
        if behind.shape == input.shape {
            return Ok(elements);
        }
        match &elements {
            Elements::Fixed(bytes) => {
                checked::check_len(NAME, Way::Encode, input, bytes.len())?;
                let size = checked::size_of(NAME, input)?;
                let Elements::Fixed(mut out) = Elements::filled(&input.data_type, &input.fill, behind.count()) else {
                    return Err(CodecFault::unsupported(NAME, format!("no fill value of type {}", input.data_type)));
                };
                checked::check_len(NAME, Way::Encode, &behind, out.len())?;
                self.rows(&input.shape, |from, to, n| {
                    out[to * size..][..n * size].copy_from_slice(&bytes[from * size..][..n * size]);
                });
                Ok(Elements::Fixed(out))
            }
            Elements::Variable(_) => {
                let v = checked::variable(NAME, Way::Encode, input, &elements)?;
                let mut source = vec![None; behind.count()];
                self.rows(&input.shape, |from, to, n| (0..n).for_each(|i| source[to + i] = Some(from + i)));
                let mut out = Variable::new();
                for s in source {
                    out.push(s.map_or(input.fill.as_bytes(), |i| v.get(i)));
                }
                Ok(Elements::Variable(out))
            }
        }
    }

    fn decode(&self, input: &Rep, elements: Elements) -> Result<Elements> {
        let behind = self.encoded(input)?;
        if behind.shape == input.shape {
            return Ok(elements);
        }
        match &elements {
            Elements::Fixed(bytes) => {
                checked::check_len(NAME, Way::Decode, &behind, bytes.len())?;
                let size = checked::size_of(NAME, input)?;
                let mut out = Vec::with_capacity(input.count() * size);
                self.rows(&input.shape, |_, to, n| out.extend_from_slice(&bytes[to * size..][..n * size]));
                Ok(Elements::Fixed(out))
            }
            Elements::Variable(_) => {
                let v = checked::variable(NAME, Way::Decode, &behind, &elements)?;
                let mut out = Variable::new();
                self.rows(&input.shape, |_, to, n| (to..to + n).for_each(|i| out.push(v.get(i))));
                Ok(Elements::Variable(out))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use gingham_core::dtype::{DataType, FillValue};

    fn rep(shape: &[u64]) -> Rep {
        Rep { data_type: DataType::UInt16, shape: Shape::from_slice(shape), fill: FillValue::new([9, 0]) }
    }

    fn u16s(v: impl IntoIterator<Item = u16>) -> Elements {
        Elements::Fixed(v.into_iter().flat_map(u16::to_le_bytes).collect())
    }

    #[test]
    fn the_leading_corner_is_the_chunk() {
        let s = StoredShape::new(&[3, 4]);
        let r = rep(&[2, 3]);
        assert_eq!(s.encoded(&r).unwrap().shape.as_slice(), [3, 4]);
        let stored = s.encode(&r, u16s([1, 2, 3, 4, 5, 6])).unwrap();
        assert_eq!(stored, u16s([1, 2, 3, 9, 4, 5, 6, 9, 9, 9, 9, 9]));
        assert_eq!(s.decode(&r, stored).unwrap(), u16s([1, 2, 3, 4, 5, 6]));
    }

    #[test]
    fn scalars_full_chunks_and_strings() {
        assert_eq!(StoredShape::new(&[]).decode(&rep(&[]), u16s([7])).unwrap(), u16s([7]));
        assert_eq!(StoredShape::new(&[2]).decode(&rep(&[2]), u16s([7, 8])).unwrap(), u16s([7, 8]));
        assert_eq!(StoredShape::new(&[2, 2]).decode(&rep(&[0, 2]), u16s([1, 2, 3, 4])).unwrap(), u16s([]));
        let r = Rep { data_type: DataType::String, shape: Shape::from_slice(&[1, 1]), fill: FillValue::new("f") };
        let mut v = Variable::new();
        v.push(b"ab");
        let s = StoredShape::new(&[2, 2]);
        let stored = s.encode(&r, Elements::Variable(v.clone())).unwrap();
        assert_eq!(stored.as_variable().unwrap().data, b"abfff");
        assert_eq!(s.decode(&r, stored).unwrap(), Elements::Variable(v));
    }

    #[test]
    fn what_is_stored_is_at_least_the_chunk() {
        assert!(StoredShape::new(&[1]).encoded(&rep(&[2])).is_err());
        assert!(StoredShape::new(&[2, 2]).encoded(&rep(&[2])).is_err());
        assert!(StoredShape::new(&[1 << 40, 1 << 40]).encoded(&rep(&[2, 2])).is_err());
        assert!(StoredShape::new(&[3]).decode(&rep(&[2]), u16s([1, 2])).is_err());
    }
}
