//! The arrays that are read, and the selections.

use gingham::core::codec::{BloscCompressor, BloscShuffle, ByteOrder, Codec};
use gingham::core::dtype::Endian;
use gingham::{DataType, Region};

use crate::data::Random;

/// What an array holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// float32
    Climate,
    /// uint16
    Micro,
}

impl Field {
    pub fn data_type(self) -> DataType {
        match self {
            Field::Climate => DataType::Float(gingham::core::dtype::Float::F32),
            Field::Micro => DataType::UInt16,
        }
    }
    pub fn name(self) -> &'static str {
        match self {
            Field::Climate => "float32",
            Field::Micro => "uint16",
        }
    }
}

/// One array. Shapes are no multiples of the chunks: edges are what engines get slow at.
pub struct Layout {
    pub name: &'static str,
    pub field: Field,
    pub shape: [u64; 3],
    pub chunks: [u64; 3],
    pub inner: Option<[u64; 3]>,
    pub codecs: Vec<Codec>,
}

pub fn layouts() -> Vec<Layout> {
    use Field::*;
    let zstd = || Codec::Zstd { level: 3, checksum: false };
    let blosc = |typesize| Codec::Blosc { cname: BloscCompressor::Lz4, clevel: 5, shuffle: BloscShuffle::Byte, typesize, blocksize: 0 };
    let gzip = || Codec::Gzip { level: 5 };
    let turned = || Codec::Transpose { order: vec![2, 1, 0] };
    let layout = |name, field, inner: Option<[u64; 3]>, codecs: &[Codec]| {
        let (shape, chunks) = if field == Micro { ([370; 3], [128; 3]) } else { ([250, 370, 370], [64; 3]) };
        let mut all: Vec<Codec> = codecs.iter().filter(|c| matches!(c, Codec::Transpose { .. })).cloned().collect();
        all.push(Codec::Bytes(ByteOrder::Uniform(Endian::Little)));
        all.extend(codecs.iter().filter(|c| !matches!(c, Codec::Transpose { .. })).cloned());
        Layout { name, field, shape, chunks: if inner.is_some() { [256; 3] } else { chunks }, inner, codecs: all }
    };
    vec![
        layout("raw", Micro, None, &[]),
        layout("zstd 3", Micro, None, &[zstd()]),
        layout("gzip 5", Micro, None, &[gzip()]),
        layout("blosc lz4", Micro, None, &[blosc(2)]),
        layout("transposed raw", Micro, None, &[turned()]),
        layout("transposed zstd 3", Micro, None, &[turned(), zstd()]),
        layout("sharded raw", Micro, Some([32; 3]), &[]),
        layout("sharded zstd 3", Micro, Some([32; 3]), &[zstd()]),
        layout("raw", Climate, None, &[]),
        layout("zstd 3", Climate, None, &[zstd()]),
        layout("blosc lz4", Climate, None, &[blosc(4)]),
        layout("transposed raw", Climate, None, &[turned()]),
        Layout { shape: [214; 3], chunks: [8; 3], ..layout("19683 chunks, zstd 3", Micro, None, &[zstd()]) },
    ]
}

/// One way to read an array: the boxes are read one after the other.
pub struct Job {
    pub name: &'static str,
    pub regions: Vec<Region>,
}

pub fn jobs(shape: &[u64; 3]) -> Vec<Job> {
    let region = |start: [u64; 3], len: [u64; 3]| Region { start: start.as_slice().into(), shape: len.as_slice().into() };
    let [nz, ny, nx] = *shape;
    let mut random = Random::new(3);
    let boxes = (0..20).map(|_| region(shape.map(|n| random.below(n - 40)), [40; 3])).collect();
    vec![
        Job { name: "all", regions: vec![Region::whole(shape)] },
        Job { name: "slice [:, :, 100:101]", regions: vec![region([0, 0, 100], [nz, ny, 1])] },
        Job { name: "plane [100:101]", regions: vec![region([100, 0, 0], [1, ny, nx])] },
        Job { name: "20 boxes of 40³", regions: boxes },
    ]
}
