//! How an element lies in memory: sizes, the numbers that byte order applies to, and swapping them.

use super::{DataType, Endian, FillValue};

/// One scalar of a type's tree: what one entry of [`super::TypeStr::order`] stands for. A complex number or a fixed-length
/// string is one leaf of several units; the item of a sub-array is described once, at its first place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaf {
    /// Bytes from the element's start.
    pub offset: usize,
    /// Bytes that are swapped as a whole; 1 where byte order does not apply.
    pub width: usize,
    /// Units side by side.
    pub units: usize,
}

/// Runs of swap units of one element beyond which a struct is walked instead of listed (arrays of structs in structs).
const MOST_RUNS: usize = 1024;

impl DataType {
    /// Bytes of one element in memory and (uncompressed) in a chunk; `None` for variable-length types and unknown ones.
    /// Sub-byte types take one byte each: integers are kept sign-extended, floats in the low bits.
    pub fn size(&self) -> Option<usize> {
        Some(match self {
            DataType::Bool | DataType::Int2 | DataType::Int4 | DataType::Int8 => 1,
            DataType::UInt2 | DataType::UInt4 | DataType::UInt8 => 1,
            DataType::Int16 | DataType::UInt16 => 2,
            DataType::Int32 | DataType::UInt32 => 4,
            DataType::Int64 | DataType::UInt64 | DataType::DateTime { .. } | DataType::TimeDelta { .. } => 8,
            DataType::Float(float) => float.size(),
            DataType::Complex(float) => 2 * float.size(),
            DataType::Raw(n) | DataType::FixedBytes(n) => *n,
            DataType::FixedUtf32(n) => n.saturating_mul(4),
            DataType::Struct(fields) => {
                let mut sum = 0usize;
                for field in fields {
                    sum = sum.saturating_add(field.data_type.size()?);
                }
                sum
            }
            DataType::FixedArray { item, shape } => item.size()?.saturating_mul(items(shape)),
            DataType::String | DataType::Bytes | DataType::VlenArray(_) | DataType::Json | DataType::Unknown { .. } => return None,
        })
    }

    /// True where an element's length varies (string, bytes, vlen-array, json).
    pub fn is_variable(&self) -> bool {
        matches!(self, DataType::String | DataType::Bytes | DataType::VlenArray(_) | DataType::Json)
    }

    /// True where a `bytes` codec must say which byte order it stores (any component wider than a byte).
    pub fn needs_endian(&self) -> bool {
        match self {
            DataType::Struct(fields) => fields.iter().any(|f| f.data_type.needs_endian()),
            DataType::FixedArray { item, .. } => item.needs_endian(),
            scalar => scalar.unit().is_some_and(|width| width > 1),
        }
    }

    /// Width in bytes of the number that is swapped as a whole, where it is the same all through the element
    /// (2 for int16, 4 for complex64, 1 for raw bytes); `None` for structs that mix widths and for variable-length types.
    pub fn swap_width(&self) -> Option<usize> {
        match self {
            DataType::Struct(fields) => {
                let mut widths = fields.iter().map(|f| f.data_type.swap_width());
                let first = widths.next()??;
                widths.all(|w| w == Some(first)).then_some(first)
            }
            DataType::FixedArray { item, .. } => item.swap_width(),
            scalar => scalar.unit(),
        }
    }

    /// The swap width of a scalar type.
    fn unit(&self) -> Option<usize> {
        match self {
            DataType::Float(float) | DataType::Complex(float) => Some(float.size()),
            DataType::Raw(_) | DataType::FixedBytes(_) => Some(1),
            DataType::FixedUtf32(_) => Some(4),
            DataType::Struct(_) | DataType::FixedArray { .. } => None,
            number => number.size(),
        }
    }

    /// Reverses the byte order of every component of the elements in `bytes`, in place. Bytes after the last whole
    /// element, and elements of variable length, stay as they are.
    pub fn swap_bytes(&self, bytes: &mut [u8]) {
        match self.swap_width() {
            Some(width) => swap_units(bytes, width),
            None => self.swap_each(bytes, None),
        }
    }

    /// Reverses the byte order of those leaves alone that `order` calls big, to or from [`super::TypeStr::order`]'s byte
    /// orders. Leaves beyond its end count as little.
    pub fn swap_leaves(&self, bytes: &mut [u8], order: &[Endian]) {
        if !order.contains(&Endian::Big) {
            return;
        }
        let all_big = self.leaves().iter().enumerate().all(|(i, leaf)| leaf.width == 1 || order.get(i) == Some(&Endian::Big));
        if all_big { self.swap_bytes(bytes) } else { self.swap_each(bytes, Some(order)) }
    }

    /// Swaps element by element: by a list of runs where that is short, else by walking the type.
    fn swap_each(&self, bytes: &mut [u8], order: Option<&[Endian]>) {
        let Some(size) = self.size().filter(|&n| n > 0 && n <= bytes.len()) else { return };
        let mut runs = Vec::new();
        let listed = self.list_runs(0, order, &mut 0, &mut runs);
        for element in bytes.chunks_exact_mut(size) {
            if listed {
                for run in &runs {
                    swap_units(&mut element[run.offset..run.offset + run.width * run.units], run.width);
                }
            } else {
                self.walk(element, order, &mut 0);
            }
        }
    }

    /// The runs of one element that must be swapped; false where there are more than [`MOST_RUNS`].
    fn list_runs(&self, start: usize, order: Option<&[Endian]>, leaf: &mut usize, runs: &mut Vec<Leaf>) -> bool {
        match self {
            DataType::Struct(fields) => {
                let mut offset = start;
                for field in fields {
                    if !field.data_type.list_runs(offset, order, leaf, runs) {
                        return false;
                    }
                    offset += field.data_type.size().unwrap_or(0);
                }
                true
            }
            DataType::FixedArray { item, shape } if item.unit().is_none() => {
                let size = item.size().unwrap_or(0);
                let first = *leaf;
                (0..items(shape)).all(|i| {
                    *leaf = first;
                    item.list_runs(start + i * size, order, leaf, runs)
                })
            }
            _ => {
                let width = self.swap_width().unwrap_or(1);
                let swap = order.is_none_or(|order| order.get(*leaf) == Some(&Endian::Big));
                *leaf += 1;
                if swap && width > 1 {
                    runs.push(Leaf { offset: start, width, units: self.size().unwrap_or(0) / width });
                }
                runs.len() <= MOST_RUNS
            }
        }
    }

    /// Swaps one element by recursion.
    fn walk(&self, element: &mut [u8], order: Option<&[Endian]>, leaf: &mut usize) {
        match self {
            DataType::Struct(fields) => {
                let mut rest = element;
                for field in fields {
                    let (head, tail) = rest.split_at_mut(field.data_type.size().unwrap_or(0).min(rest.len()));
                    field.data_type.walk(head, order, leaf);
                    rest = tail;
                }
            }
            DataType::FixedArray { item, .. } if item.unit().is_none() => {
                let first = *leaf;
                let size = item.size().filter(|&n| n > 0).unwrap_or(usize::MAX);
                for part in element.chunks_exact_mut(size) {
                    *leaf = first;
                    item.walk(part, order, leaf);
                }
            }
            _ => {
                if order.is_none_or(|order| order.get(*leaf) == Some(&Endian::Big)) {
                    swap_units(element, self.swap_width().unwrap_or(1));
                }
                *leaf += 1;
            }
        }
    }

    /// The scalars of the type in order, one for each entry of [`super::TypeStr::order`].
    pub fn leaves(&self) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        self.push_leaves(0, 1, &mut leaves);
        leaves
    }

    fn push_leaves(&self, start: usize, repeat: usize, leaves: &mut Vec<Leaf>) {
        match self {
            DataType::Struct(fields) => {
                let mut offset = start;
                for field in fields {
                    field.data_type.push_leaves(offset, 1, leaves);
                    offset = offset.saturating_add(field.data_type.size().unwrap_or(0));
                }
            }
            DataType::FixedArray { item, shape } => item.push_leaves(start, repeat.saturating_mul(items(shape)), leaves),
            scalar => {
                let width = scalar.unit().unwrap_or(1).max(1);
                let units = (scalar.size().unwrap_or(0) / width).saturating_mul(repeat);
                leaves.push(Leaf { offset: start, width, units });
            }
        }
    }

    /// Brings elements that others wrote into the one form that is compared and printed: bool 0 or 1, sub-byte integers
    /// sign- or zero-extended, bits above a sub-byte float cleared. Other types have nothing to change.
    pub fn normalize(&self, bytes: &mut [u8]) {
        let each: fn(u8) -> u8 = match self {
            DataType::Bool => |b| u8::from(b != 0),
            DataType::Int2 => |b| ((b << 6) as i8 >> 6) as u8,
            DataType::Int4 => |b| ((b << 4) as i8 >> 4) as u8,
            DataType::UInt2 => |b| b & 0x03,
            DataType::UInt4 => |b| b & 0x0f,
            DataType::Float(f) | DataType::Complex(f) if f.bits() == 4 => |b| b & 0x0f,
            DataType::Float(f) | DataType::Complex(f) if f.bits() == 6 => |b| b & 0x3f,
            DataType::Struct(fields) if fields.iter().any(|f| f.data_type.is_normalized_by_byte()) => {
                let Some(size) = self.size().filter(|&n| n > 0) else { return };
                for element in bytes.chunks_exact_mut(size) {
                    let mut rest = element;
                    for field in fields {
                        let (head, tail) = rest.split_at_mut(field.data_type.size().unwrap_or(0).min(rest.len()));
                        field.data_type.normalize(head);
                        rest = tail;
                    }
                }
                return;
            }
            DataType::FixedArray { item, .. } => return item.normalize(bytes),
            _ => return,
        };
        for byte in bytes {
            *byte = each(*byte);
        }
    }

    /// True where [`DataType::normalize`] may change a byte.
    pub fn is_normalized_by_byte(&self) -> bool {
        match self {
            DataType::Bool | DataType::Int2 | DataType::Int4 | DataType::UInt2 | DataType::UInt4 => true,
            DataType::Float(f) | DataType::Complex(f) => f.bits() < 8,
            DataType::Struct(fields) => fields.iter().any(|f| f.data_type.is_normalized_by_byte()),
            DataType::FixedArray { item, .. } => item.is_normalized_by_byte(),
            _ => false,
        }
    }

    /// The fill value that a new array gets: false, 0, 0.0, "", NaT, zero bytes (also for dates in structs, as numpy does),
    /// `null` for json. float8_e8m0fnu has no zero: its zero byte is 2^-127.
    pub fn default_fill(&self) -> FillValue {
        match self {
            DataType::DateTime { .. } | DataType::TimeDelta { .. } => FillValue::new(i64::MIN.to_le_bytes()),
            DataType::Json | DataType::Unknown { .. } => FillValue::new(*b"null"),
            other => FillValue::new(vec![0; other.size().unwrap_or(0)]),
        }
    }
}

/// Items of a fixed array.
pub(super) fn items(shape: &[u64]) -> usize {
    shape.iter().fold(1usize, |n, &len| n.saturating_mul(usize::try_from(len).unwrap_or(usize::MAX)))
}

fn swap_units(bytes: &mut [u8], width: usize) {
    match width {
        0 | 1 => {}
        2 => bytes.as_chunks_mut::<2>().0.iter_mut().for_each(|c| *c = u16::from_ne_bytes(*c).swap_bytes().to_ne_bytes()),
        4 => bytes.as_chunks_mut::<4>().0.iter_mut().for_each(|c| *c = u32::from_ne_bytes(*c).swap_bytes().to_ne_bytes()),
        8 => bytes.as_chunks_mut::<8>().0.iter_mut().for_each(|c| *c = u64::from_ne_bytes(*c).swap_bytes().to_ne_bytes()),
        n => bytes.chunks_exact_mut(n).for_each(<[u8]>::reverse),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::{Float, TypeStr, parse_v2};
    use super::*;
    use serde_json::json;

    fn v2(value: serde_json::Value) -> TypeStr {
        parse_v2(&value).unwrap()
    }

    fn swapped(data_type: &DataType, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        data_type.swap_bytes(&mut bytes);
        bytes
    }

    #[test]
    fn zj_59_and_zjl_181_each_component_is_swapped_alone() {
        assert_eq!(swapped(&DataType::UInt16, &[0xff, 0x00, 1, 2]), [0x00, 0xff, 2, 1]);
        assert_eq!(swapped(&DataType::Int32, &[1, 2, 3, 4]), [4, 3, 2, 1]);
        assert_eq!(swapped(&DataType::Float(Float::F64), &[1, 2, 3, 4, 5, 6, 7, 8]), [8, 7, 6, 5, 4, 3, 2, 1]);
        assert_eq!(swapped(&DataType::Complex(Float::F32), &[1, 2, 3, 4, 5, 6, 7, 8]), [4, 3, 2, 1, 8, 7, 6, 5]);
        assert_eq!(swapped(&DataType::FixedUtf32(2), &[1, 2, 3, 4, 5, 6, 7, 8]), [4, 3, 2, 1, 8, 7, 6, 5]);
        for unmoved in
            [DataType::Bool, DataType::Raw(4), DataType::FixedBytes(4), DataType::Float(Float::E5M2), DataType::String, DataType::Json]
        {
            assert_eq!(swapped(&unmoved, &[1, 2, 3, 4]), [1, 2, 3, 4]);
            assert!(!unmoved.needs_endian());
        }
        assert_eq!(swapped(&DataType::Int32, &[1, 2, 3, 4, 5, 6]), [4, 3, 2, 1, 5, 6], "the rest of an element stays");
    }

    #[test]
    fn struct_vector_of_the_specification_in_big_endian() {
        let data_type = v2(json!([["id", "<i4"], ["flags", "|u1"], ["value", "<f8"]])).data_type;
        let mut bytes = [1i32.to_le_bytes().as_slice(), &[2], 3.5f64.to_le_bytes().as_slice()].concat();
        data_type.swap_bytes(&mut bytes);
        assert_eq!(bytes, [0, 0, 0, 1, 2, 0x40, 0x0c, 0, 0, 0, 0, 0, 0]);
        assert!(data_type.needs_endian());
        assert_eq!(data_type.swap_width(), None);
    }

    #[test]
    fn mixed_byte_orders_swap_the_big_leaves_alone() {
        let typestr = v2(json!([["a", "<i2"], ["b", ">u2"], ["c", [["d", ">c8"], ["e", "|S1"]]]]));
        let mut bytes: Vec<u8> = (0..26).collect();
        typestr.data_type.swap_leaves(&mut bytes, &typestr.order);
        assert_eq!(bytes[..13], [0, 1, 3, 2, 7, 6, 5, 4, 11, 10, 9, 8, 12]);
        assert_eq!(bytes[13..17], [13, 14, 16, 15]);
        typestr.data_type.swap_leaves(&mut bytes, &typestr.order);
        assert_eq!(bytes, (0..26).collect::<Vec<u8>>());
    }

    #[test]
    fn leaves_stand_for_the_entries_of_the_byte_order() {
        let typestr = v2(json!([["a", "|u1"], ["b", "<c8"], ["c", "<i2", [3]], ["d", [["x", "<i4"], ["y", "<U2"]], [2]]]));
        let leaf = |offset, width, units| Leaf { offset, width, units };
        assert_eq!(typestr.data_type.leaves(), [leaf(0, 1, 1), leaf(1, 4, 2), leaf(9, 2, 3), leaf(15, 4, 1), leaf(19, 4, 2)]);
        assert_eq!(typestr.order.len(), 5);
    }

    #[test]
    fn sub_arrays_of_structs_are_walked_where_they_are_too_long_to_list() {
        for length in [3usize, 5000] {
            let typestr = v2(json!([["p", [["x", ">i2"], ["y", "<i2"]], [length]], ["z", ">i2"]]));
            let unit = [1u8, 2, 3, 4].repeat(length);
            let mut bytes = [unit.as_slice(), &[5, 6], unit.as_slice(), &[5, 6]].concat();
            typestr.data_type.swap_leaves(&mut bytes, &typestr.order);
            let want = [2u8, 1, 3, 4].repeat(length);
            assert_eq!(bytes, [want.as_slice(), &[6, 5], want.as_slice(), &[6, 5]].concat());
        }
    }

    #[test]
    fn uniform_widths() {
        assert_eq!(v2(json!([["a", "<i4"], ["b", "<f4", [2]]])).data_type.swap_width(), Some(4));
        assert_eq!(v2(json!([["a", "|u1"], ["b", "|S3"]])).data_type.swap_width(), Some(1));
        assert_eq!(DataType::VlenArray(Box::new(DataType::Int32)).swap_width(), None);
        assert_eq!(DataType::Unknown { name: "x".into(), configuration: None }.swap_width(), None);
    }

    #[test]
    fn stray_bits_are_normalized() {
        let normal = |data_type: DataType, byte: u8| {
            let mut bytes = [byte];
            data_type.normalize(&mut bytes);
            bytes[0]
        };
        assert_eq!(normal(DataType::Bool, 7), 1);
        assert_eq!(normal(DataType::Int4, 0x08), 0xf8);
        assert_eq!(normal(DataType::Int4, 0xf7), 0x07);
        assert_eq!(normal(DataType::Int2, 0x02), 0xfe);
        assert_eq!(normal(DataType::UInt4, 0xff), 0x0f);
        assert_eq!(normal(DataType::Float(Float::E2M3FN), 0xff), 0x3f);
        let mut bytes = [7, 0xff, 0xff, 9, 0xfe, 0xff];
        v2(json!([["a", "|b1"], ["b", "<i2"]])).data_type.normalize(&mut bytes);
        assert_eq!(bytes, [1, 0xff, 0xff, 1, 0xfe, 0xff]);
    }

    #[test]
    fn default_fills() {
        assert_eq!(DataType::Int32.default_fill().as_bytes(), [0; 4]);
        assert_eq!(v2(json!("<M8[s]")).data_type.default_fill().as_bytes(), i64::MIN.to_le_bytes());
        assert_eq!(v2(json!([["a", "<M8[s]"]])).data_type.default_fill().as_bytes(), [0; 8]);
        assert!(DataType::String.default_fill().as_bytes().is_empty());
        assert_eq!(DataType::Json.default_fill().as_bytes(), b"null");
    }
}
