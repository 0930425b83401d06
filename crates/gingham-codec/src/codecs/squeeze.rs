//! `zarrs.squeeze`: axes of length 1 dropped. The elements stay as they are.

use gingham_core::dtype::Elements;

use crate::{ArrayToArray, Rep, Result};

/// `zarrs.squeeze`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Squeeze;

impl ArrayToArray for Squeeze {
    fn encoded(&self, input: &Rep) -> Result<Rep> {
        Ok(Rep {
            data_type: input.data_type.clone(),
            shape: input.shape.iter().copied().filter(|&n| n != 1).collect(),
            fill: input.fill.clone(),
        })
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
    use gingham_core::Shape;
    use gingham_core::dtype::{DataType, FillValue};

    #[test]
    fn axes_of_length_one_go() {
        let r = Rep { data_type: DataType::UInt8, shape: Shape::from_slice(&[1, 4, 1, 0]), fill: FillValue::new([0]) };
        assert_eq!(Squeeze.encoded(&r).unwrap().shape.as_slice(), [4, 0]);
        assert_eq!(Squeeze.encode(&r, Elements::Fixed(vec![])).unwrap(), Elements::Fixed(vec![]));
    }
}
