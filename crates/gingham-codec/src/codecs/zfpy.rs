//! numcodecs' `zfpy`: zfp streams behind zfp's own header (format.md 3.4).
//!
//! Reading goes by the header, which must agree with the chunk; the configured mode is for writing.

use gingham_core::codec::ZfpMode;
use gingham_core::dtype::{DataType, Elements, Float};

use super::checked::{self, Way};
use super::zfp::{Described, Field, Scalar, compress_bytes, decompress_bytes};
use crate::{ArrayToBytes, CodecFault, Context, Rep, Result};

const NAME: &str = "numcodecs.zfpy";

/// `zfpy` with its mode.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Zfpy {
    mode: ZfpMode,
}

impl Zfpy {
    /// Writes in this mode. As zfpy itself does, a negative rate or tolerance (numcodecs' default) stands for the reversible mode.
    pub fn new(mode: ZfpMode) -> Self {
        let mode = match mode {
            ZfpMode::FixedRate(x) | ZfpMode::FixedAccuracy(x) if x < 0.0 => ZfpMode::Reversible,
            // numcodecs' -1, as an unsigned number.
            ZfpMode::FixedPrecision(p) if p > i32::MAX as u32 => ZfpMode::Reversible,
            other => other,
        };
        Zfpy { mode }
    }
}

fn field(input: &Rep) -> Result<Field> {
    let scalar = match input.data_type {
        DataType::Int32 => Scalar::I32,
        DataType::Int64 => Scalar::I64,
        DataType::Float(Float::F32) => Scalar::F32,
        DataType::Float(Float::F64) => Scalar::F64,
        _ => return Err(CodecFault::unsupported(NAME, format!("takes int32, int64, float32 and float64, not {}", input.data_type))),
    };
    Field::new(NAME, scalar, &input.shape)
}

impl ArrayToBytes for Zfpy {
    fn encoded_len(&self, _: &Rep) -> Option<usize> {
        None
    }

    fn encode(&self, input: &Rep, elements: &Elements, out: &mut Vec<u8>, _: &mut Context) -> Result<()> {
        let field = field(input)?;
        let bytes = checked::fixed_ref(NAME, Way::Encode, input, elements)?;
        if bytes.is_empty() {
            return Ok(());
        }
        compress_bytes(NAME, &self.mode, &field, bytes, true, out)
    }

    fn decode(&self, input: &Rep, bytes: &[u8], context: &mut Context) -> Result<Elements> {
        let size = checked::size_of(NAME, input)?;
        let mut out = vec![0; size * input.count()];
        self.decode_into(input, bytes, &mut out, context)?;
        Ok(Elements::Fixed(out))
    }

    fn decode_into(&self, input: &Rep, bytes: &[u8], out: &mut [u8], _: &mut Context) -> Result<()> {
        let field = field(input)?;
        checked::check_len(NAME, Way::Decode, input, out.len())?;
        if out.is_empty() {
            return Ok(());
        }
        decompress_bytes(NAME, Described::ByHeader, &field, bytes, out)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use gingham_core::Shape;
    use gingham_core::dtype::FillValue;
    use proptest::prelude::*;

    fn rep(data_type: DataType, shape: &[u64]) -> Rep {
        Rep { data_type, shape: Shape::from_slice(shape), fill: FillValue::new([]) }
    }

    fn f64s(n: usize) -> Vec<u8> {
        (0..n).flat_map(|i| (i as f64 * 0.1).cos().to_le_bytes()).collect()
    }

    fn stored(c: &Zfpy, r: &Rep, bytes: &[u8]) -> Vec<u8> {
        let mut out = vec![];
        c.encode(r, &Elements::Fixed(bytes.to_vec()), &mut out, &mut Context::default()).unwrap();
        out
    }

    #[test]
    fn reversible_by_default() {
        for mode in [ZfpMode::Reversible, ZfpMode::FixedAccuracy(-1.0), ZfpMode::FixedRate(-1.0), ZfpMode::FixedPrecision(u32::MAX)] {
            let c = Zfpy::new(mode);
            for shape in [&[60u64][..], &[6, 10], &[3, 4, 5], &[1, 3, 4, 5], &[]] {
                let r = rep(DataType::Float(Float::F64), shape);
                let bytes = f64s(r.count());
                let out = stored(&c, &r, &bytes);
                assert_eq!(out[..3], *b"zfp");
                assert_eq!(c.decode(&r, &out, &mut Context::default()).unwrap(), Elements::Fixed(bytes));
            }
        }
    }

    #[test]
    fn the_header_must_agree_with_the_chunk() {
        let c = Zfpy::new(ZfpMode::Reversible);
        let r = rep(DataType::Float(Float::F64), &[6, 10]);
        let out = stored(&c, &r, &f64s(60));
        // Another shape of as many elements is the same run of elements.
        let flat = c.decode(&rep(DataType::Float(Float::F64), &[60]), &out, &mut Context::default()).unwrap();
        assert_eq!(flat, Elements::Fixed(f64s(60)));
        for (t, shape) in [(DataType::Float(Float::F64), [6, 11]), (DataType::Int64, [6, 10]), (DataType::Float(Float::F32), [12, 10])] {
            let e = c.decode(&rep(t, &shape), &out, &mut Context::default()).unwrap_err();
            assert!(e.what.contains("the header's"), "{e}");
        }
        // The mode is the header's too.
        let fixed = Zfpy::new(ZfpMode::FixedPrecision(40));
        let out = stored(&fixed, &r, &f64s(60));
        assert!(c.decode(&r, &out, &mut Context::default()).is_ok());
        for cut in 0..out.len() - 8 {
            assert!(c.decode(&r, &out[..cut], &mut Context::default()).is_err(), "{cut}");
        }
        // 24 bits of header for an axis of a chunk with two.
        let wide = rep(DataType::Int32, &[1, 1 << 25]);
        let e = c.encode(&wide, &Elements::Fixed(vec![0; 4 << 25]), &mut vec![], &mut Context::default()).unwrap_err();
        assert!(e.what.contains("header"), "{e}");
    }

    proptest! {
        #[test]
        fn flipped_bits_are_decoded_or_refused(flips in prop::collection::vec((0usize..1000, 0u8..8), 1..4), rank in 1usize..5) {
            let c = Zfpy::new(ZfpMode::FixedAccuracy(0.001));
            let r = rep(DataType::Float(Float::F64), &[2, 3, 2, 5][4 - rank..]);
            let mut out = stored(&c, &r, &f64s(r.count()));
            for (at, bit) in flips {
                let i = at % out.len().min(40);
                out[i] ^= 1 << bit;
            }
            if let Ok(Elements::Fixed(b)) = c.decode(&r, &out, &mut Context::default()) {
                prop_assert_eq!(b.len(), r.byte_len().unwrap());
            }
        }
    }
}
