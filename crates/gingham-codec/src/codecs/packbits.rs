//! `packbits`: the bits that matter of each element, end to end, least significant first (format.md 3.3).
//!
//! ```text
//!   bit j of the sequence = bit (j mod 8) of byte j / 8; element i has bits i·k .. (i + 1)·k
//! ```

use gingham_core::codec::PackBitsPadding;
use gingham_core::dtype::{DataType, Elements};

use super::checked::{self, Way};
use crate::{ArrayToBytes, CodecFault, Context, Rep, Result};

const NAME: &str = "packbits";

/// `packbits` with its configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackBits {
    padding: PackBitsPadding,
    first_bit: Option<u32>,
    last_bit: Option<u32>,
}

/// Which bits of which components.
#[derive(Debug, Clone, Copy)]
struct Layout {
    /// Bytes of a component in memory.
    width: usize,
    /// Bits of a component that the type has.
    bits: u32,
    first: u32,
    /// Bits that are stored.
    kept: u32,
    signed: bool,
    /// Components in the chunk.
    count: usize,
}

impl PackBits {
    /// `first_bit` and `last_bit` default to the whole component.
    pub fn new(padding: PackBitsPadding, first_bit: Option<u32>, last_bit: Option<u32>) -> Self {
        PackBits { padding, first_bit, last_bit }
    }

    fn layout(&self, input: &Rep) -> Result<Layout> {
        use DataType as T;
        let (width, bits, signed, parts) = match &input.data_type {
            T::Bool => (1, 1, false, 1),
            T::Int2 => (1, 2, true, 1),
            T::UInt2 => (1, 2, false, 1),
            T::Int4 => (1, 4, true, 1),
            T::UInt4 => (1, 4, false, 1),
            T::Int8 => (1, 8, true, 1),
            T::UInt8 => (1, 8, false, 1),
            T::Int16 => (2, 16, true, 1),
            T::UInt16 => (2, 16, false, 1),
            T::Int32 => (4, 32, true, 1),
            T::UInt32 => (4, 32, false, 1),
            T::Int64 | T::DateTime { .. } | T::TimeDelta { .. } => (8, 64, true, 1),
            T::UInt64 => (8, 64, false, 1),
            T::Float(f) => (f.size(), f.bits(), false, 1),
            T::Complex(f) => (f.size(), f.bits(), false, 2),
            other => return Err(CodecFault::unsupported(NAME, format!("takes bools and numbers, not {other}"))),
        };
        let (first, last) = (self.first_bit.unwrap_or(0), self.last_bit.unwrap_or(bits - 1));
        if last < first || last >= bits {
            return Err(CodecFault::unsupported(
                NAME,
                format!("bits {first} to {last} of {}: they must ascend, and the last may be {}", input.data_type, bits - 1),
            ));
        }
        Ok(Layout { width, bits, first, kept: last - first + 1, signed, count: input.count() * parts })
    }
}

impl Layout {
    /// (bytes of packed bits, padding bits in the last of them)
    fn packed(&self) -> (usize, u8) {
        let bits = self.count as u128 * u128::from(self.kept);
        (bits.div_ceil(8) as usize, (bits.wrapping_neg() % 8) as u8)
    }

    fn mask(&self) -> u64 {
        u64::MAX >> (64 - self.kept)
    }

    fn pack(&self, bytes: &[u8], out: &mut Vec<u8>) {
        let (mut window, mut filled) = (0u128, 0u32);
        for component in bytes.chunks_exact(self.width) {
            window |= u128::from(load(component) >> self.first & self.mask()) << filled;
            filled += self.kept;
            while filled >= 8 {
                out.push(window as u8);
                window >>= 8;
                filled -= 8;
            }
        }
        if filled > 0 {
            out.push(window as u8);
        }
    }

    /// `packed` holds at least the bits of all components, `out` exactly their bytes.
    fn unpack(&self, packed: &[u8], out: &mut [u8]) {
        let (mut window, mut filled) = (0u128, 0u32);
        let mut next = packed.iter();
        for component in out.chunks_exact_mut(self.width) {
            while filled < self.kept {
                let byte = next.next().copied().unwrap_or(0);
                window |= u128::from(byte) << filled;
                filled += 8;
            }
            let mut value = (window as u64 & self.mask()) << self.first;
            window >>= self.kept;
            filled -= self.kept;
            let above = 64 - self.first - self.kept;
            if self.signed {
                value = ((value << above) as i64 >> above) as u64;
            }
            component.copy_from_slice(&value.to_le_bytes()[..self.width]);
        }
    }
}

fn load(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |v, &b| v << 8 | u64::from(b))
}

impl ArrayToBytes for PackBits {
    fn encoded_len(&self, input: &Rep) -> Option<usize> {
        let layout = self.layout(input).ok()?;
        // Full-width elements come without the padding byte from some writers: then both lengths are read.
        if self.padding != PackBitsPadding::None && layout.kept == layout.bits && layout.bits.is_multiple_of(8) {
            return None;
        }
        Some(layout.packed().0 + usize::from(self.padding != PackBitsPadding::None))
    }

    fn encode(&self, input: &Rep, elements: &Elements, out: &mut Vec<u8>, _: &mut Context) -> Result<()> {
        let layout = self.layout(input)?;
        let bytes = checked::fixed_ref(NAME, Way::Encode, input, elements)?;
        let (len, padding) = layout.packed();
        out.reserve(len + 1);
        if self.padding == PackBitsPadding::FirstByte {
            out.push(padding);
        }
        layout.pack(bytes, out);
        if self.padding == PackBitsPadding::LastByte {
            out.push(padding);
        }
        Ok(())
    }

    fn decode(&self, input: &Rep, bytes: &[u8], context: &mut Context) -> Result<Elements> {
        let layout = self.layout(input)?;
        // Before anything is allocated for them: the stored bytes must be there.
        let mut out = vec![0; if bytes.len() < layout.packed().0 { 0 } else { layout.count * layout.width }];
        self.decode_into(input, bytes, &mut out, context)?;
        Ok(Elements::Fixed(out))
    }

    fn decode_into(&self, input: &Rep, bytes: &[u8], out: &mut [u8], _: &mut Context) -> Result<()> {
        let layout = self.layout(input)?;
        let (len, padding) = layout.packed();
        let counted = self.padding != PackBitsPadding::None;
        let bare = counted && bytes.len() == len && layout.kept == layout.bits && layout.bits.is_multiple_of(8);
        let want = len + usize::from(counted && !bare);
        if bytes.len() != want {
            return Err(CodecFault::corrupt(NAME, format!("got {} bytes, expected {want} for {} elements", bytes.len(), input.count())));
        }
        let (count, packed) = match self.padding {
            PackBitsPadding::FirstByte if !bare => (bytes[0], &bytes[1..]),
            PackBitsPadding::LastByte if !bare => (bytes[len], &bytes[..len]),
            _ => (padding, bytes),
        };
        if count != padding {
            return Err(CodecFault::corrupt(NAME, format!("{count} padding bits, expected {padding} for {} elements", input.count())));
        }
        if out.len() != layout.count * layout.width {
            return Err(CodecFault::corrupt(
                NAME,
                format!("decodes to {} bytes, the output has {}", layout.count * layout.width, out.len()),
            ));
        }
        layout.unpack(packed, out);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use gingham_core::Shape;
    use gingham_core::dtype::{FillValue, Float};
    use proptest::prelude::*;

    fn rep(data_type: DataType, n: usize) -> Rep {
        Rep { data_type, shape: Shape::from_slice(&[n as u64]), fill: FillValue::new([0]) }
    }

    fn round(c: PackBits, r: &Rep, memory: &[u8], stored: &[u8]) {
        let mut out = vec![];
        c.encode(r, &Elements::Fixed(memory.to_vec()), &mut out, &mut Context::default()).unwrap();
        assert_eq!(out, stored, "{c:?} {r:?}");
        assert_eq!(c.decode(r, stored, &mut Context::default()).unwrap(), Elements::Fixed(memory.to_vec()), "{c:?} {r:?}");
        assert!(c.encoded_len(r).is_none_or(|n| n == stored.len()));
    }

    const NONE: PackBits = PackBits { padding: PackBitsPadding::None, first_bit: None, last_bit: None };

    #[test]
    fn vectors() {
        round(NONE, &rep(DataType::Bool, 8), &[0, 1, 0, 1, 0, 1, 0, 1], &[0xaa]);
        round(NONE, &rep(DataType::Int4, 2), &[0xf8, 0xf9], &[0x98]);
        round(NONE, &rep(DataType::Int2, 4), &[0, 1, 0xfe, 0xff], &[0b11100100]);
        round(NONE, &rep(DataType::UInt16, 2), &[1, 2, 3, 4], &[1, 2, 3, 4]);
        round(NONE, &rep(DataType::Float(Float::E2M3FN), 4), &[0x3f, 0, 0x3f, 0], &[0x3f, 0xf0, 0x03]);
        // real 1, imaginary 2: the real part first.
        round(NONE, &rep(DataType::Complex(Float::E2M1FN), 1), &[1, 2], &[0x21]);
        round(NONE, &rep(DataType::Bool, 0), &[], &[]);
    }

    #[test]
    fn zrs_packbits_ranges_and_padding() {
        let c = PackBits { first_bit: Some(4), last_bit: Some(7), ..NONE };
        round(c, &rep(DataType::UInt8, 4), &[16, 32, 48, 240], &[0x21, 0xf3]);
        let ten = [1, 0, 0, 0, 0, 0, 0, 0, 1, 1];
        round(PackBits { padding: PackBitsPadding::FirstByte, ..NONE }, &rep(DataType::Bool, 10), &ten, &[6, 1, 3]);
        round(PackBits { padding: PackBitsPadding::LastByte, ..NONE }, &rep(DataType::Bool, 10), &ten, &[1, 3, 6]);
    }

    #[test]
    fn full_width_elements_with_and_without_their_padding_byte() {
        let c = PackBits { padding: PackBitsPadding::FirstByte, ..NONE };
        let r = rep(DataType::UInt8, 2);
        round(c, &r, &[5, 6], &[0, 5, 6]);
        assert_eq!(c.decode(&r, &[5, 6], &mut Context::default()).unwrap(), Elements::Fixed(vec![5, 6]));
    }

    #[test]
    fn signed_ranges_are_extended_from_their_last_bit() {
        let c = PackBits { first_bit: Some(1), last_bit: Some(3), ..NONE };
        let mut out = vec![];
        let r = rep(DataType::Int8, 1);
        c.encode(&r, &Elements::Fixed(vec![0b1010]), &mut out, &mut Context::default()).unwrap();
        assert_eq!(out, [0b101]);
        assert_eq!(c.decode(&r, &out, &mut Context::default()).unwrap(), Elements::Fixed(vec![0b11111010]));
    }

    #[test]
    fn hostile_lengths_paddings_and_ranges() {
        let c = PackBits { padding: PackBitsPadding::FirstByte, ..NONE };
        let r = rep(DataType::Bool, 10);
        for bytes in [&[][..], &[6], &[6, 1], &[6, 1, 3, 0], &[5, 1, 3], &[255, 1, 3]] {
            assert_eq!(c.decode(&r, bytes, &mut Context::default()).unwrap_err().kind, crate::FaultKind::Corrupt, "{bytes:?}");
        }
        assert!(NONE.decode(&rep(DataType::UInt8, 1 << 40), &[1], &mut Context::default()).is_err());
        for (first, last) in [(2, 1), (0, 8), (8, 8)] {
            let c = PackBits { first_bit: Some(first), last_bit: Some(last), ..NONE };
            assert!(c.decode(&rep(DataType::UInt8, 1), &[0], &mut Context::default()).is_err());
        }
        assert!(NONE.decode(&rep(DataType::Raw(1), 1), &[0], &mut Context::default()).is_err());
    }

    proptest! {
        #[test]
        fn whole_elements_round_trip(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            for (t, w) in [(DataType::Int16, 2), (DataType::UInt32, 4), (DataType::Float(Float::F64), 8), (DataType::Complex(Float::F32), 8)] {
                let memory = &bytes[..bytes.len() / w * w];
                round(NONE, &rep(t, memory.len() / w), memory, memory);
            }
            let nibbles: Vec<u8> = bytes.iter().map(|b| b & 15).collect();
            let mut out = vec![];
            let r = rep(DataType::UInt4, nibbles.len());
            NONE.encode(&r, &Elements::Fixed(nibbles.clone()), &mut out, &mut Context::default()).unwrap();
            prop_assert_eq!(NONE.decode(&r, &out, &mut Context::default()).unwrap(), Elements::Fixed(nibbles));
        }
        #[test]
        fn the_middle_of_64_bits(v in prop::collection::vec(any::<u64>(), 0..9), first in 0u32..64, more in 0u32..64) {
            let last = (first + more).min(63);
            let c = PackBits { first_bit: Some(first), last_bit: Some(last), ..NONE };
            let keep = (u64::MAX >> (63 - last)) & (u64::MAX << first);
            let bytes = |f: &dyn Fn(&u64) -> u64| Elements::Fixed(v.iter().flat_map(|x| f(x).to_le_bytes()).collect());
            let r = rep(DataType::UInt64, v.len());
            let mut out = vec![];
            c.encode(&r, &bytes(&|x| *x), &mut out, &mut Context::default()).unwrap();
            prop_assert_eq!(c.decode(&r, &out, &mut Context::default()).unwrap(), bytes(&|x| x & keep));
        }
    }
}
