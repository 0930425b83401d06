//! numcodecs' `pcodec`: numbers through pco's standalone format (format.md 3.4), flat in C order.

use gingham_core::codec::Pcodec as Spec;
use gingham_core::dtype::{DataType, Elements, Float};
use pco::data_types::Number;
use pco::standalone::{DecompressorItem, FileDecompressor, simple_compress};
use pco::{ChunkConfig, DeltaSpec, ModeSpec, PagingSpec};

use super::checked::{self, Way};
use crate::{ArrayToBytes, CodecFault, Context, Rep, Result};

const NAME: &str = "numcodecs.pcodec";

/// `pcodec` with its configuration.
#[derive(Debug, Clone)]
pub struct Pcodec {
    config: ChunkConfig,
}

impl Pcodec {
    /// Reads the configuration as numcodecs does.
    pub fn new(spec: &Spec) -> Result<Self> {
        let refuse = |what: String| Err(CodecFault::unsupported(NAME, what));
        let mode = match spec.mode_spec.as_str() {
            "auto" => ModeSpec::Auto,
            "classic" => ModeSpec::Classic,
            other => return refuse(format!("mode_spec \"{other}\": \"auto\" and \"classic\" are known")),
        };
        let delta = match (spec.delta_spec.as_str(), spec.delta_encoding_order) {
            // Before there was a delta_spec, the order alone said it.
            ("auto" | "try_consecutive", Some(order)) => DeltaSpec::TryConsecutive(usize::from(order)),
            ("auto", None) => DeltaSpec::Auto,
            ("none" | "no_op", _) => DeltaSpec::NoOp,
            ("try_lookback", _) => DeltaSpec::TryLookback,
            ("try_consecutive", None) => return refuse("delta_spec \"try_consecutive\" needs a delta_encoding_order".into()),
            (other, _) => return refuse(format!("delta_spec \"{other}\": auto, none, no_op, try_consecutive and try_lookback are known")),
        };
        if spec.paging_spec != "equal_pages_up_to" {
            return refuse(format!("paging_spec \"{}\": \"equal_pages_up_to\" is known", spec.paging_spec));
        }
        // pco's own limit of numbers in a page.
        let page = spec.equal_pages_up_to.min(1 << 24) as usize;
        if page == 0 {
            return refuse("equal_pages_up_to is 0, it must be at least 1".into());
        }
        let config = ChunkConfig::default()
            .with_compression_level(usize::from(spec.level))
            .with_mode_spec(mode)
            .with_delta_spec(delta)
            .with_paging_spec(PagingSpec::EqualPagesUpTo(page))
            .with_enable_8_bit(true);
        Ok(Pcodec { config })
    }

    fn compress<T: Element>(&self, bytes: &[u8]) -> Result<Vec<u8>> {
        let numbers: Vec<T> = bytes.chunks_exact(T::WIDTH).map(T::load).collect();
        simple_compress(&numbers, &self.config).map_err(|e| CodecFault::value(NAME, e.message))
    }
}

/// pco's numbers as element bytes.
trait Element: Number {
    const WIDTH: usize;
    const ZERO: Self;
    fn load(bytes: &[u8]) -> Self;
    fn store(self, bytes: &mut [u8]);
}

macro_rules! element {
    ($($t:ty = $zero:expr),*) => {$(
        impl Element for $t {
            const WIDTH: usize = size_of::<$t>();
            const ZERO: Self = $zero;
            fn load(bytes: &[u8]) -> Self {
                let mut b = [0; size_of::<$t>()];
                b.copy_from_slice(bytes);
                <$t>::from_le_bytes(b)
            }
            fn store(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}

element!(u8 = 0, u16 = 0, u32 = 0, u64 = 0, i8 = 0, i16 = 0, i32 = 0, i64 = 0);
element!(half::f16 = half::f16::ZERO, f32 = 0.0, f64 = 0.0);

/// Runs `$body` with `$t` as pco's number type of an element type; components of complex numbers count singly.
macro_rules! with_pco {
    ($data_type:expr, $t:ident => $body:expr) => {{
        use DataType as D;
        macro_rules! run {
            ($rust:ty) => {{
                type $t = $rust;
                $body
            }};
        }
        match $data_type {
            D::UInt8 => run!(u8),
            D::UInt16 => run!(u16),
            D::UInt32 => run!(u32),
            D::UInt64 => run!(u64),
            D::Int8 => run!(i8),
            D::Int16 => run!(i16),
            D::Int32 => run!(i32),
            D::Int64 | D::DateTime { .. } | D::TimeDelta { .. } => run!(i64),
            D::Float(Float::F16) | D::Complex(Float::F16) => run!(half::f16),
            D::Float(Float::F32) | D::Complex(Float::F32) => run!(f32),
            D::Float(Float::F64) | D::Complex(Float::F64) => run!(f64),
            other => Err(CodecFault::unsupported(NAME, format!("takes integers of 8 to 64 bits and float16 to float64, not {other}"))),
        }
    }};
}

/// Numbers that are decompressed at once: a multiple of pco's batch of 256.
const BATCH: usize = 4096;

/// Decompresses into `out`, which is filled exactly. No number of the stream is trusted before it is there.
fn decompress<T: Element>(bytes: &[u8], out: &mut [u8]) -> Result<()> {
    let fault = |e: pco::errors::PcoError| CodecFault::corrupt(NAME, e.message);
    let want = out.len() / T::WIDTH;
    let (file, mut rest) = FileDecompressor::new(bytes).map_err(fault)?;
    let mut batch = vec![T::ZERO; BATCH.min(want.next_multiple_of(256))];
    let mut done = 0;
    while let DecompressorItem::Chunk(mut chunk) = file.chunk_decompressor::<T, _>(rest).map_err(fault)? {
        if chunk.n() > want - done {
            return Err(CodecFault::corrupt(NAME, format!("holds at least {} numbers, expected {want}", done + chunk.n())));
        }
        loop {
            let progress = chunk.read(&mut batch).map_err(fault)?;
            let Some(target) = out.get_mut(done * T::WIDTH..(done + progress.n_processed) * T::WIDTH) else {
                return Err(CodecFault::corrupt(NAME, format!("holds more than {want} numbers")));
            };
            for (number, bytes) in batch.iter().zip(target.chunks_exact_mut(T::WIDTH)) {
                number.store(bytes);
            }
            done += progress.n_processed;
            if progress.finished || progress.n_processed == 0 {
                break;
            }
        }
        rest = chunk.into_src();
    }
    if done != want {
        return Err(CodecFault::corrupt(NAME, format!("holds {done} numbers, expected {want}")));
    }
    Ok(())
}

impl ArrayToBytes for Pcodec {
    fn encoded_len(&self, _: &Rep) -> Option<usize> {
        None
    }

    fn encode(&self, input: &Rep, elements: &Elements, out: &mut Vec<u8>, _: &mut Context) -> Result<()> {
        let bytes = checked::fixed_ref(NAME, Way::Encode, input, elements)?;
        out.extend(with_pco!(&input.data_type, T => self.compress::<T>(bytes))?);
        Ok(())
    }

    fn decode(&self, input: &Rep, bytes: &[u8], context: &mut Context) -> Result<Elements> {
        let size = checked::size_of(NAME, input)?;
        let mut out = vec![0; size * input.count()];
        self.decode_into(input, bytes, &mut out, context)?;
        Ok(Elements::Fixed(out))
    }

    fn decode_into(&self, input: &Rep, bytes: &[u8], out: &mut [u8], _: &mut Context) -> Result<()> {
        checked::check_len(NAME, Way::Decode, input, out.len())?;
        with_pco!(&input.data_type, T => decompress::<T>(bytes, out))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use gingham_core::Shape;
    use gingham_core::dtype::FillValue;
    use proptest::prelude::*;

    fn spec() -> Spec {
        Spec {
            level: 8,
            mode_spec: "auto".into(),
            delta_spec: "auto".into(),
            paging_spec: "equal_pages_up_to".into(),
            delta_encoding_order: None,
            equal_pages_up_to: 262144,
        }
    }

    fn rep(data_type: DataType, n: usize) -> Rep {
        Rep { data_type, shape: Shape::from_slice(&[n as u64]), fill: FillValue::new([]) }
    }

    fn round(c: &Pcodec, r: &Rep, bytes: &[u8]) -> Vec<u8> {
        let mut out = vec![];
        c.encode(r, &Elements::Fixed(bytes.to_vec()), &mut out, &mut Context::default()).unwrap();
        assert_eq!(c.decode(r, &out, &mut Context::default()).unwrap(), Elements::Fixed(bytes.to_vec()), "{r:?}");
        out
    }

    fn types() -> Vec<(DataType, usize)> {
        use DataType as D;
        vec![
            (D::UInt8, 1),
            (D::Int8, 1),
            (D::UInt16, 2),
            (D::Int16, 2),
            (D::UInt32, 4),
            (D::Int32, 4),
            (D::UInt64, 8),
            (D::Int64, 8),
            (D::Float(Float::F16), 2),
            (D::Float(Float::F32), 4),
            (D::Float(Float::F64), 8),
            (D::Complex(Float::F32), 8),
        ]
    }

    #[test]
    fn every_type_and_many_pages() {
        let c = Pcodec::new(&Spec { equal_pages_up_to: 300, ..spec() }).unwrap();
        let bytes: Vec<u8> = (0..1000u32).flat_map(|i| (i * i).to_le_bytes()).collect();
        for (t, w) in types() {
            let stored = round(&c, &rep(t.clone(), bytes.len() / w), &bytes);
            assert!(stored.starts_with(b"pco!"));
            round(&c, &rep(t, 0), &[]);
        }
        assert!(c.encode(&rep(DataType::Bool, 1), &Elements::Fixed(vec![1]), &mut vec![], &mut Context::default()).is_err());
    }

    #[test]
    fn configurations() {
        let bytes: Vec<u8> = (0..500i64).flat_map(|i| (i * 7 - 100).to_le_bytes()).collect();
        for (delta, order) in
            [("auto", None), ("auto", Some(2)), ("none", None), ("no_op", None), ("try_consecutive", Some(1)), ("try_lookback", None)]
        {
            let c = Pcodec::new(&Spec { delta_spec: delta.into(), delta_encoding_order: order, mode_spec: "classic".into(), ..spec() })
                .unwrap();
            round(&c, &rep(DataType::Int64, 500), &bytes);
        }
        assert!(Pcodec::new(&Spec { mode_spec: "x".into(), ..spec() }).is_err());
        assert!(Pcodec::new(&Spec { delta_spec: "x".into(), ..spec() }).is_err());
        assert!(Pcodec::new(&Spec { delta_spec: "try_consecutive".into(), ..spec() }).is_err());
        assert!(Pcodec::new(&Spec { paging_spec: "x".into(), ..spec() }).is_err());
        assert!(Pcodec::new(&Spec { equal_pages_up_to: 0, ..spec() }).is_err());
        let c = Pcodec::new(&Spec { level: 255, ..spec() }).unwrap();
        assert!(c.encode(&rep(DataType::Int64, 500), &Elements::Fixed(bytes), &mut vec![], &mut Context::default()).is_err());
    }

    #[test]
    fn counts_types_and_cuts_that_do_not_fit() {
        let c = Pcodec::new(&spec()).unwrap();
        let bytes: Vec<u8> = (0..300i32).flat_map(|i| (i * 977 % 131).to_le_bytes()).collect();
        let stored = round(&c, &rep(DataType::Int32, 300), &bytes);
        for (t, n) in [(DataType::Int32, 299), (DataType::Int32, 301), (DataType::UInt32, 300), (DataType::Int64, 150)] {
            let e = c.decode(&rep(t, n), &stored, &mut Context::default()).unwrap_err();
            assert_eq!(e.kind, crate::FaultKind::Corrupt);
        }
        for cut in 0..stored.len() {
            assert!(c.decode(&rep(DataType::Int32, 300), &stored[..cut], &mut Context::default()).is_err(), "{cut}");
        }
    }

    proptest! {
        #[test]
        fn flipped_bits_are_decoded_or_refused(at in any::<prop::sample::Index>(), bit in 0u8..8, t in prop::sample::select(types())) {
            let c = Pcodec::new(&Spec { equal_pages_up_to: 100, ..spec() }).unwrap();
            let bytes: Vec<u8> = (0..200u32).flat_map(|i| (i * 977 % 1310).to_le_bytes()).collect();
            let r = rep(t.0, bytes.len() / t.1);
            let mut stored = round(&c, &r, &bytes);
            let i = at.index(stored.len());
            stored[i] ^= 1 << bit;
            if let Ok(Elements::Fixed(b)) = c.decode(&r, &stored, &mut Context::default()) {
                prop_assert_eq!(b.len(), bytes.len());
            }
        }
    }
}
