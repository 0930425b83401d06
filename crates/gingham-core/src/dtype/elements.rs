//! Elements in memory.

use super::{DataType, FillValue};

/// A run of elements in C order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Elements {
    /// Fixed-size elements, packed, little-endian.
    Fixed(Vec<u8>),
    /// Variable-length elements.
    Variable(Variable),
}

/// Variable-length elements: element i is `data[offsets[i]..offsets[i + 1]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// n + 1 offsets, ascending, the first is 0.
    pub offsets: Vec<usize>,
    /// The contents, end to end.
    pub data: Vec<u8>,
}

impl Variable {
    /// No elements.
    pub fn new() -> Self {
        Variable { offsets: vec![0], data: Vec::new() }
    }
    /// How many.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }
    /// True where there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// One element's content. Panics where there is no element `i`, as indexing does.
    pub fn get(&self, i: usize) -> &[u8] {
        &self.data[self.offsets[i]..self.offsets[i + 1]]
    }
    /// Appends one.
    pub fn push(&mut self, content: &[u8]) {
        self.data.extend_from_slice(content);
        self.offsets.push(self.data.len());
    }
}

impl Default for Variable {
    fn default() -> Self {
        Variable::new()
    }
}

impl Elements {
    /// `n` times the fill value. The caller has checked that `n` elements fit in memory.
    pub fn filled(data_type: &DataType, fill: &FillValue, n: usize) -> Elements {
        match data_type.size() {
            Some(_) => {
                let unit = fill.as_bytes();
                if unit.iter().all(|&b| b == 0) {
                    return Elements::Fixed(vec![0; unit.len() * n]);
                }
                Elements::Fixed(unit.repeat(n))
            }
            None => {
                let unit = fill.as_bytes();
                Elements::Variable(Variable { offsets: (0..=n).map(|i| i * unit.len()).collect(), data: unit.repeat(n) })
            }
        }
    }
    /// The bytes of fixed-size elements.
    pub fn as_fixed(&self) -> Option<&[u8]> {
        match self {
            Elements::Fixed(b) => Some(b),
            Elements::Variable(_) => None,
        }
    }
    /// The variable-length elements.
    pub fn as_variable(&self) -> Option<&Variable> {
        match self {
            Elements::Variable(v) => Some(v),
            Elements::Fixed(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn elements_filled_with_zeros_a_pattern_and_text() {
        let filled = |data_type: DataType, content: &[u8]| Elements::filled(&data_type, &FillValue::new(content), 3);
        assert_eq!(filled(DataType::Int16, &[0, 0]).as_fixed().unwrap(), [0; 6]);
        assert_eq!(filled(DataType::Int16, &[1, 2]).as_fixed().unwrap(), [1, 2, 1, 2, 1, 2]);
        let text = filled(DataType::String, b"fv");
        let text = text.as_variable().unwrap();
        assert_eq!((text.len(), text.get(2), text.offsets.as_slice()), (3, b"fv".as_slice(), [0, 2, 4, 6].as_slice()));
        assert_eq!(filled(DataType::String, b"").as_variable().unwrap().offsets, [0; 4]);
    }

    #[test]
    fn variable_elements_are_appended() {
        let mut list = Variable::new();
        assert!(list.is_empty());
        list.push(b"a");
        list.push(b"");
        list.push(b"bcd");
        assert_eq!((list.len(), list.get(0), list.get(1), list.get(2)), (3, b"a".as_slice(), b"".as_slice(), b"bcd".as_slice()));
    }
}
