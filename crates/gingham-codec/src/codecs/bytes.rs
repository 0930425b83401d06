//! `bytes`: elements end to end, each component in one byte order (format.md 3.3, 5.3).
//!
//! Memory is little-endian, so for little-endian data this is a copy, and mostly not even that ([`ArrayToBytes::is_identity`]).

use gingham_core::codec::ByteOrder;
use gingham_core::dtype::{DataType, Elements, Endian};

use super::checked::{self, Way};
use crate::{ArrayToBytes, CodecFault, Context, Rep, Result};

const NAME: &str = "bytes";

/// `bytes` with the byte order that it stores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bytes {
    order: ByteOrder,
}

impl Bytes {
    /// Elements in this byte order.
    pub fn new(order: ByteOrder) -> Self {
        Bytes { order }
    }

    /// The type must have a fixed size, and its byte order be known.
    fn check(&self, data_type: &DataType) -> Result<()> {
        if data_type.size().is_none() {
            return Err(CodecFault::unsupported(
                NAME,
                format!("{data_type} elements have no fixed size; use vlen-utf8 for strings, vlen-bytes for bytes"),
            ));
        }
        if self.order == ByteOrder::None && data_type.needs_endian() {
            return Err(CodecFault::unsupported(NAME, format!("\"endian\" is missing, and {data_type} has components of several bytes")));
        }
        Ok(())
    }

    /// Copies elements from one side to the other; the swap is its own inverse.
    fn copy(&self, data_type: &DataType, from: &[u8], to: &mut [u8]) {
        match &self.order {
            ByteOrder::Uniform(Endian::Big) => match data_type.swap_width() {
                Some(2) => swap_copy(from, to, |b| u16::from_be_bytes(b).to_le_bytes()),
                Some(4) => swap_copy(from, to, |b| u32::from_be_bytes(b).to_le_bytes()),
                Some(8) => swap_copy(from, to, |b| u64::from_be_bytes(b).to_le_bytes()),
                _ => {
                    to.copy_from_slice(from);
                    data_type.swap_bytes(to);
                }
            },
            ByteOrder::PerLeaf(order) => {
                to.copy_from_slice(from);
                data_type.swap_leaves(to, order);
            }
            ByteOrder::None | ByteOrder::Uniform(Endian::Little) => to.copy_from_slice(from),
        }
    }
}

/// One pass over groups of `N` bytes; compiles to vector shuffles.
fn swap_copy<const N: usize>(from: &[u8], to: &mut [u8], swap: impl Fn([u8; N]) -> [u8; N]) {
    for (d, s) in to.as_chunks_mut::<N>().0.iter_mut().zip(from.as_chunks::<N>().0) {
        *d = swap(*s);
    }
}

impl ArrayToBytes for Bytes {
    fn encoded_len(&self, input: &Rep) -> Option<usize> {
        input.byte_len()
    }

    fn encode(&self, input: &Rep, elements: &Elements, out: &mut Vec<u8>, _: &mut Context) -> Result<()> {
        self.check(&input.data_type)?;
        let bytes = checked::fixed_ref(NAME, Way::Encode, input, elements)?;
        let start = out.len();
        out.resize(start + bytes.len(), 0);
        self.copy(&input.data_type, bytes, &mut out[start..]);
        Ok(())
    }

    fn decode(&self, input: &Rep, bytes: &[u8], context: &mut Context) -> Result<Elements> {
        self.check(&input.data_type)?;
        checked::check_len(NAME, Way::Decode, input, bytes.len())?;
        let mut out = vec![0; bytes.len()];
        self.decode_into(input, bytes, &mut out, context)?;
        Ok(Elements::Fixed(out))
    }

    fn decode_into(&self, input: &Rep, bytes: &[u8], out: &mut [u8], _: &mut Context) -> Result<()> {
        self.check(&input.data_type)?;
        checked::check_len(NAME, Way::Decode, input, bytes.len())?;
        if out.len() != bytes.len() {
            return Err(CodecFault::corrupt(NAME, format!("decodes to {} bytes, the output has {}", bytes.len(), out.len())));
        }
        self.copy(&input.data_type, bytes, out);
        // Others may have stored any non-zero byte for true, and anything above the low bits of sub-byte numbers.
        if input.data_type.is_normalized_by_byte() {
            input.data_type.normalize(out);
        }
        Ok(())
    }

    fn is_identity(&self, input: &Rep) -> bool {
        let data_type = &input.data_type;
        if self.check(data_type).is_err() || data_type.is_normalized_by_byte() {
            return false;
        }
        match &self.order {
            ByteOrder::None | ByteOrder::Uniform(Endian::Little) => true,
            ByteOrder::Uniform(Endian::Big) => !data_type.needs_endian(),
            ByteOrder::PerLeaf(order) => order.iter().all(|&e| e == Endian::Little),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use gingham_core::Shape;
    use gingham_core::dtype::{Field, FillValue, Float};
    use proptest::prelude::*;

    fn rep(data_type: DataType, n: u64) -> Rep {
        Rep { data_type, shape: Shape::from_slice(&[n]), fill: FillValue::new([]) }
    }

    fn big() -> Bytes {
        Bytes::new(ByteOrder::Uniform(Endian::Big))
    }

    fn little() -> Bytes {
        Bytes::new(ByteOrder::Uniform(Endian::Little))
    }

    fn round(codec: &Bytes, rep: &Rep, memory: &[u8], stored: &[u8]) {
        let mut c = Context::default();
        let mut out = vec![];
        codec.encode(rep, &Elements::Fixed(memory.to_vec()), &mut out, &mut c).unwrap();
        assert_eq!(out, stored, "{rep:?}");
        assert_eq!(codec.decode(rep, stored, &mut c).unwrap(), Elements::Fixed(memory.to_vec()), "{rep:?}");
    }

    #[test]
    fn zj_59_big_endian_of_every_kind() {
        round(&big(), &rep(DataType::UInt16, 1), &65280u16.to_le_bytes(), &[0xff, 0]);
        round(&big(), &rep(DataType::Int32, 1), &(-2i32).to_le_bytes(), &[0xff, 0xff, 0xff, 0xfe]);
        round(&big(), &rep(DataType::Float(Float::F64), 1), &1f64.to_le_bytes(), &1f64.to_be_bytes());
        let complex: Vec<u8> = [1f32, 2f32].iter().flat_map(|x| x.to_le_bytes()).collect();
        let stored: Vec<u8> = [1f32, 2f32].iter().flat_map(|x| x.to_be_bytes()).collect();
        round(&big(), &rep(DataType::Complex(Float::F32), 1), &complex, &stored);
        round(&big(), &rep(DataType::FixedUtf32(2), 1), &[b'a', 0, 0, 0, 0, 0, 0, 0], &[0, 0, 0, b'a', 0, 0, 0, 0]);
        let time = DataType::DateTime { unit: gingham_core::dtype::TimeUnit::Second, scale: 1 };
        round(&big(), &rep(time, 1), &7i64.to_le_bytes(), &7i64.to_be_bytes());
        round(&big(), &rep(DataType::Raw(3), 1), &[1, 2, 3], &[1, 2, 3]);
    }

    #[test]
    fn struct_with_one_order() {
        let field = |name: &str, data_type| Field { name: name.into(), data_type };
        let s = DataType::Struct(vec![
            field("id", DataType::Int32),
            field("flags", DataType::UInt8),
            field("value", DataType::Float(Float::F64)),
        ]);
        let memory: Vec<u8> = [&1i32.to_le_bytes()[..], &[2], &3.5f64.to_le_bytes()].concat();
        let stored = [0, 0, 0, 1, 2, 0x40, 0x0c, 0, 0, 0, 0, 0, 0];
        round(&big(), &rep(s, 1), &memory, &stored);
    }

    #[test]
    fn zp_4141_struct_with_an_order_per_leaf() {
        let field = |name: &str, data_type| Field { name: name.into(), data_type };
        let s = DataType::Struct(vec![field("a", DataType::Int32), field("b", DataType::UInt16)]);
        let codec = Bytes::new(ByteOrder::PerLeaf(vec![Endian::Little, Endian::Big]));
        round(&codec, &rep(s.clone(), 2), &[1, 0, 0, 0, 2, 0, 3, 0, 0, 0, 4, 0], &[1, 0, 0, 0, 0, 2, 3, 0, 0, 0, 0, 4]);
        assert!(!codec.is_identity(&rep(s, 2)));
    }

    #[test]
    fn zp_3583_members_that_are_arrays() {
        let item = Box::new(DataType::Float(Float::F32));
        let s = DataType::Struct(vec![
            Field { name: "id".into(), data_type: DataType::Int32 },
            Field { name: "pos".into(), data_type: DataType::FixedArray { item, shape: vec![3] } },
        ]);
        let le: Vec<u8> = [&1i32.to_le_bytes()[..], &1f32.to_le_bytes(), &2f32.to_le_bytes(), &3f32.to_le_bytes()].concat();
        let be: Vec<u8> = [&1i32.to_be_bytes()[..], &1f32.to_be_bytes(), &2f32.to_be_bytes(), &3f32.to_be_bytes()].concat();
        round(&big(), &rep(s.clone(), 1), &le, &be);
        round(&little(), &rep(s.clone(), 1), &le, &le);
        assert!(little().is_identity(&rep(s, 1)));
    }

    #[test]
    fn foreign_bools_and_sub_byte_numbers_are_cleaned() {
        let mut c = Context::default();
        let codec = Bytes::new(ByteOrder::None);
        let r = rep(DataType::Bool, 4);
        assert_eq!(codec.decode(&r, &[0, 1, 2, 255], &mut c).unwrap(), Elements::Fixed(vec![0, 1, 1, 1]));
        assert!(!codec.is_identity(&r));
        let r = rep(DataType::Int4, 3);
        assert_eq!(codec.decode(&r, &[0x0f, 0xa7, 0xf8], &mut c).unwrap(), Elements::Fixed(vec![0xff, 7, 0xf8]));
        let r = rep(DataType::UInt2, 2);
        assert_eq!(codec.decode(&r, &[0xff, 0x02], &mut c).unwrap(), Elements::Fixed(vec![3, 2]));
    }

    #[test]
    fn zp_3937_a_missing_byte_order() {
        let codec = Bytes::new(ByteOrder::None);
        let mut c = Context::default();
        assert!(codec.is_identity(&rep(DataType::Int8, 1)));
        assert!(codec.decode(&rep(DataType::Int8, 1), &[5], &mut c).is_ok());
        let e = codec.decode(&rep(DataType::Int16, 1), &[5, 0], &mut c).unwrap_err();
        assert_eq!(e.kind, crate::FaultKind::Unsupported);
        assert!(e.what.contains("endian"));
        assert!(!codec.is_identity(&rep(DataType::Int16, 1)));
    }

    #[test]
    fn only_the_exact_length_will_do() {
        let mut c = Context::default();
        for n in [0, 1, 3, 5, 8] {
            let e = little().decode(&rep(DataType::Int16, 2), &vec![0; n], &mut c).unwrap_err();
            assert!(e.what.contains(&format!("got {n} bytes, expected 4")), "{e}");
            assert_eq!(e.kind, crate::FaultKind::Corrupt);
        }
        assert!(little().decode(&rep(DataType::String, 1), &[], &mut c).is_err());
        assert!(little().encode(&rep(DataType::Int16, 2), &Elements::Fixed(vec![0; 3]), &mut vec![], &mut c).is_err());
    }

    proptest! {
        #[test]
        fn round_trips(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let mut c = Context::default();
            for (t, w) in [(DataType::Int16, 2), (DataType::UInt32, 4), (DataType::Float(Float::F64), 8), (DataType::Complex(Float::F64), 16)] {
                let memory = &bytes[..bytes.len() / w * w];
                let r = rep(t, (memory.len() / w) as u64);
                let mut out = vec![];
                big().encode(&r, &Elements::Fixed(memory.to_vec()), &mut out, &mut c).unwrap();
                prop_assert_eq!(big().decode(&r, &out, &mut c).unwrap(), Elements::Fixed(memory.to_vec()));
            }
        }
    }
}
