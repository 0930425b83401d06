//! `reshape`: the same elements in C order, seen with another shape (format.md 3.2).

use gingham_core::Shape;
use gingham_core::codec::ReshapeDim;
use gingham_core::dtype::Elements;

use crate::{ArrayToArray, CodecFault, Rep, Result};

const NAME: &str = "reshape";

/// `reshape` with its `shape`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reshape {
    dims: Vec<ReshapeDim>,
}

impl Reshape {
    /// The entries of `shape`.
    pub fn new(dims: &[ReshapeDim]) -> Self {
        Reshape { dims: dims.to_vec() }
    }

    /// The shape behind an input shape; evaluated per chunk, so that it follows a rectilinear grid.
    fn shape_behind(&self, input: &[u64]) -> Result<Shape> {
        let refuse = |what: String| Err(CodecFault::unsupported(NAME, what));
        let mut shape = Shape::new();
        let mut inferred = None;
        for (i, dim) in self.dims.iter().enumerate() {
            shape.push(match dim {
                ReshapeDim::Length(0) => return refuse(format!("length 0 at position {i}: lengths are at least 1")),
                ReshapeDim::Length(n) => *n,
                ReshapeDim::Infer if inferred.replace(i).is_some() => return refuse("-1 stands more than once".into()),
                ReshapeDim::Infer => 1,
                ReshapeDim::Product(axes) => {
                    let mut n = 1u64;
                    for &a in axes {
                        let Some(&len) = input.get(a) else {
                            return refuse(format!("position {i} names axis {a}, the array has {} axes", input.len()));
                        };
                        n = n.checked_mul(len).ok_or_else(|| CodecFault::unsupported(NAME, "a length exceeds 2^64"))?;
                    }
                    n
                }
            });
        }
        let (total, known) = (product(input)?, product(&shape)?);
        if let Some(i) = inferred {
            if known == 0 || total % known != 0 {
                return refuse(format!("-1 cannot be inferred: {total} elements do not divide by {known}"));
            }
            shape[i] = total / known;
        }
        if product(&shape)? != total {
            return refuse(format!("shape {:?} has {} elements, the chunk of shape {input:?} has {total}", &shape[..], product(&shape)?));
        }
        self.check_axes(input, &shape)?;
        Ok(shape)
    }

    /// Lists of input axes must be increasing and stand where those axes lie in the C order.
    fn check_axes(&self, input: &[u64], shape: &[u64]) -> Result<()> {
        let mut next = 0;
        for (i, dim) in self.dims.iter().enumerate() {
            let ReshapeDim::Product(axes) = dim else { continue };
            let (Some(&first), Some(&last)) = (axes.first(), axes.last()) else { continue };
            for &a in axes {
                if a < next {
                    return Err(CodecFault::unsupported(NAME, format!("axis {a} at position {i} is not in increasing order")));
                }
                next = a + 1;
            }
            if product(&shape[..i])? != product(&input[..first])? || product(&shape[i + 1..])? != product(&input[last + 1..])? {
                return Err(CodecFault::unsupported(
                    NAME,
                    format!("axes {axes:?} at position {i} do not lie there: what stands before or after has another length"),
                ));
            }
        }
        Ok(())
    }
}

fn product(lengths: &[u64]) -> Result<u64> {
    let total = lengths.iter().try_fold(1u64, |p, &n| p.checked_mul(n));
    total.ok_or_else(|| CodecFault::unsupported(NAME, "the shape has more than 2^64 elements"))
}

impl ArrayToArray for Reshape {
    fn encoded(&self, input: &Rep) -> Result<Rep> {
        Ok(Rep { data_type: input.data_type.clone(), shape: self.shape_behind(&input.shape)?, fill: input.fill.clone() })
    }
    fn encode(&self, _: &Rep, elements: Elements) -> Result<Elements> {
        Ok(elements)
    }
    fn decode(&self, _: &Rep, elements: Elements) -> Result<Elements> {
        Ok(elements)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use ReshapeDim::{Infer, Length, Product};

    fn behind(dims: &[ReshapeDim], input: &[u64]) -> Option<Vec<u64>> {
        Reshape::new(dims).shape_behind(input).ok().map(|s| s.to_vec())
    }

    #[test]
    fn lengths_products_and_what_is_left() {
        assert_eq!(behind(&[Length(6), Infer], &[2, 3, 4]), Some(vec![6, 4]));
        assert_eq!(behind(&[Product(vec![0, 1]), Product(vec![2])], &[2, 3, 4]), Some(vec![6, 4]));
        assert_eq!(behind(&[Product(vec![0]), Infer], &[2, 3, 4]), Some(vec![2, 12]));
        assert_eq!(behind(&[Infer, Product(vec![2])], &[2, 3, 4]), Some(vec![6, 4]));
        assert_eq!(behind(&[], &[1, 1]), Some(vec![]));
        assert_eq!(behind(&[Product(vec![0]), Length(1), Product(vec![1])], &[2, 3]), Some(vec![2, 1, 3]));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert_eq!(behind(&[Length(5)], &[2, 3]), None);
        assert_eq!(behind(&[Infer, Infer], &[2, 3]), None);
        assert_eq!(behind(&[Length(4), Infer], &[2, 3]), None);
        assert_eq!(behind(&[Product(vec![1]), Product(vec![0])], &[2, 3]), None);
        assert_eq!(behind(&[Product(vec![1]), Infer], &[2, 3]), None);
        assert_eq!(behind(&[Product(vec![2]), Infer], &[2, 3]), None);
        assert_eq!(behind(&[Length(0)], &[0]), None);
        assert_eq!(behind(&[Length(u64::MAX), Length(2)], &[2]), None);
        assert_eq!(behind(&[Infer], &[u64::MAX, 2]), None);
    }
}
