//! Each stage of a read alone, then all of them: `locate → plan → coalesce → shard index → decode → place`; of a write, `gather`.
//! From memory, one thread but for the last group.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use gingham::codec::Context;
use gingham::codec::chain::{Bound, Chain};
use gingham::codec::place::{Part, Take, Target};
use gingham::core::codec::{self as spec, BloscCompressor, BloscShuffle, ByteOrder, Codec, Location, Sharding};
use gingham::core::dtype::{Elements, Endian, FillValue};
use gingham::core::grid::Run;
use gingham::{Array, Axis, DataType, Grid, NewArray, Region, Store};
use std::sync::Arc;

fn main() {
    divan::main();
}

/// Where is element i? Over an axis of a million elements, at steps that no predictor learns.
mod locate {
    use super::*;

    fn over(bencher: Bencher, axis: &Axis) {
        let mut i = 0u64;
        bencher.bench_local(|| {
            i = (i.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407)) >> 1;
            axis.locate(black_box(i % axis.len()))
        });
    }

    #[divan::bench]
    fn regular(bencher: Bencher) {
        over(bencher, &Axis::step(1_000_000, 64));
    }

    #[divan::bench]
    fn twelve_cuts(bencher: Bencher) {
        let months = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].map(|length| Run { length, count: 1 });
        over(bencher, &Axis::listed(365, &months).unwrap());
    }

    #[divan::bench]
    fn a_million_cuts(bencher: Bencher) {
        let runs: Vec<Run> = (0..1_000_000).map(|i| Run { length: 1 + i % 3, count: 1 }).collect();
        let len = runs.iter().map(|r| r.length).sum();
        over(bencher, &Axis::listed(len, &runs).unwrap());
    }
}

mod plan {
    use super::*;

    fn array() -> Array {
        let grid = Grid::regular(&[500, 5000, 5000], &[10, 50, 50]).unwrap();
        Array::create(&Store::open("memory:").unwrap(), "", NewArray::new(DataType::UInt16, grid)).unwrap()
    }

    fn region() -> Region {
        Region { start: [5, 20, 20].as_slice().into(), shape: [100, 4960, 4960].as_slice().into() }
    }

    /// The plan of a box over 110,000 chunks.
    #[divan::bench]
    fn a_box(bencher: Bencher) {
        let (array, region) = (array(), region());
        assert_eq!(array.plan(&region).unwrap().object_count(), 110_000);
        bencher.bench_local(|| array.plan(black_box(&region)).unwrap());
    }

    /// The same, and every piece of it.
    #[divan::bench(sample_count = 10)]
    fn a_box_walked(bencher: Bencher) {
        let (array, region) = (array(), region());
        bencher.bench_local(|| array.plan(black_box(&region)).unwrap().pieces().count());
    }
}

/// Ranges of the chunks of a shard, nearly in order, every third left out.
#[divan::bench(args = [64, 4096])]
fn coalesce(bencher: Bencher, n: u64) {
    let ranges: Vec<(u64, u64)> = (0..n).filter(|i| i % 3 != 0).map(|i| ((i ^ 5) * 40_000, 39_000)).collect();
    bencher.bench_local(|| gingham::store::coalesce(black_box(&ranges), 8 << 10));
}

/// One chunk of 1 MiB (uint16, 12 bits with noise) into a buffer that is warm.
mod decode {
    use super::*;

    const SHAPE: [u64; 3] = [64, 64, 128];

    fn values() -> Vec<u8> {
        let mut state = 1u64;
        let noise = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 59) as u16
        });
        let n = SHAPE.iter().product::<u64>() as usize;
        noise.take(n).enumerate().flat_map(|(i, noise)| (110 + (i / 300 % 200) as u16 + noise).to_le_bytes()).collect()
    }

    fn bound(codec: Option<Codec>) -> Arc<Bound> {
        let codecs: Vec<Codec> = [Codec::Bytes(ByteOrder::Uniform(Endian::Little))].into_iter().chain(codec).collect();
        let fill = FillValue::new(vec![0, 0]);
        Chain::new(&spec::Chain::new(&codecs).unwrap(), &DataType::UInt16, &fill, &SHAPE).unwrap().bind(&SHAPE).unwrap()
    }

    fn run(bencher: Bencher, codec: Option<Codec>) {
        let (bound, values, mut context) = (bound(codec), values(), Context::default());
        let object = bound.encode(&Elements::Fixed(values.clone()), true, &mut context).unwrap().unwrap();
        let mut out = vec![0u8; values.len()];
        bound.decode_frame_into(&object, &mut out, &mut context).unwrap();
        assert!(out == values);
        bencher
            .counter(BytesCount::new(out.len()))
            .bench_local(|| bound.decode_frame_into(black_box(&object), &mut out, &mut context).unwrap());
    }

    #[divan::bench]
    fn raw(bencher: Bencher) {
        run(bencher, None);
    }
    #[divan::bench]
    fn zstd(bencher: Bencher) {
        run(bencher, Some(Codec::Zstd { level: 3, checksum: false }));
    }
    #[divan::bench]
    fn blosc_lz4(bencher: Bencher) {
        let (cname, shuffle) = (BloscCompressor::Lz4, BloscShuffle::Byte);
        run(bencher, Some(Codec::Blosc { cname, clevel: 5, shuffle, typesize: 2, blocksize: 0 }));
    }
    #[divan::bench]
    fn blosc_zstd(bencher: Bencher) {
        let (cname, shuffle) = (BloscCompressor::Zstd, BloscShuffle::Byte);
        run(bencher, Some(Codec::Blosc { cname, clevel: 3, shuffle, typesize: 2, blocksize: 0 }));
    }
    #[divan::bench]
    fn gzip(bencher: Bencher) {
        run(bencher, Some(Codec::Gzip { level: 5 }));
    }
}

/// One chunk of 128³ into the middle of an output of 300³.
mod place {
    use super::*;

    const CHUNK: [u64; 3] = [128; 3];
    const OUT: usize = 300;

    #[derive(Clone, Copy)]
    enum Frame {
        /// The chunk is a block of whole planes of an output as wide as itself: one copy.
        Contiguous,
        /// Rows go to rows.
        Strided,
        /// The chunk's axes are reversed.
        Transposed,
    }

    fn run(bencher: Bencher, item: usize, frame: Frame) {
        let row = if matches!(frame, Frame::Contiguous) { 128 } else { OUT };
        let part = Part {
            takes: CHUNK.iter().map(|&len| Take::span(0, len, if row == OUT { 100 } else { 0 })).collect(),
            strides: [item * row * row, item * row, item].into_iter().collect(),
        };
        let part = if matches!(frame, Frame::Transposed) { part.permuted(&[2, 1, 0]) } else { part };
        let chunk = vec![1u8; CHUNK.iter().product::<u64>() as usize * item];
        let mut out = vec![1u8; row * row * row * item];
        let target = Target::fixed(&mut out, item, false);
        bencher.counter(BytesCount::new(chunk.len())).bench_local(|| {
            // SAFETY: one thread.
            assert!(unsafe { target.place(black_box(&chunk), &CHUNK, &part) });
        });
    }

    #[divan::bench(args = [2])]
    fn contiguous(bencher: Bencher, item: usize) {
        run(bencher, item, Frame::Contiguous);
    }
    #[divan::bench(args = [2, 4, 8])]
    fn strided(bencher: Bencher, item: usize) {
        run(bencher, item, Frame::Strided);
    }
    #[divan::bench(args = [1, 2, 4, 8])]
    fn transposed(bencher: Bencher, item: usize) {
        run(bencher, item, Frame::Transposed);
    }
}

/// A chunk of 128³ out of the middle of values of 300³: what a write does before it encodes.
mod gather {
    use super::*;

    fn run(bencher: Bencher, item: usize, order: &[usize]) {
        let takes = [Take::span(0, 128, 100), Take::span(0, 128, 100), Take::span(0, 128, 100)].into_iter().collect();
        let strides = [item * 300 * 300, item * 300, item].into_iter().collect();
        let (part, values) = (Part { takes, strides }.permuted(order), vec![1u8; 300 * 300 * 300 * item]);
        let mut chunk = vec![0u8; 128 * 128 * 128 * item];
        bencher.counter(BytesCount::new(chunk.len())).bench_local(|| {
            assert!(gingham::codec::place::gather(black_box(&values), &part, &mut chunk, &[128; 3], item));
        });
    }

    #[divan::bench(args = [2, 4, 8])]
    fn strided(bencher: Bencher, item: usize) {
        run(bencher, item, &[0, 1, 2]);
    }
    #[divan::bench(args = [2, 4, 8])]
    fn transposed(bencher: Bencher, item: usize) {
        run(bencher, item, &[2, 1, 0]);
    }
}

/// The index of a shard of so many chunks: checked, and turned into offsets and lengths.
#[divan::bench(args = [64, 4096])]
fn shard_index(bencher: Bencher, chunks: u64) {
    let bytes = Codec::Bytes(ByteOrder::Uniform(Endian::Little));
    let sharding = Sharding {
        chunk_shape: [4].as_slice().into(),
        codecs: vec![bytes.clone()],
        index_codecs: vec![bytes, Codec::Crc32c { location: Location::End }],
        index_location: Location::End,
    };
    let chain = spec::Chain::new(&[Codec::Sharding(Box::new(sharding))]).unwrap();
    let shape = [4 * chunks];
    let bound = Chain::new(&chain, &DataType::UInt16, &FillValue::new(vec![0, 0]), &shape).unwrap().bind(&shape).unwrap();
    let mut context = Context::default();
    let object = bound.encode(&Elements::Fixed(vec![7; 8 * chunks as usize]), true, &mut context).unwrap().unwrap();
    let shard = bound.open_shard().unwrap();
    let index = &object[object.len() - shard.index_len()..];
    bencher.bench_local(|| shard.parse_index(black_box(index), &mut context).unwrap());
}

/// All stages, all threads: 250³ of uint16 in chunks of 64³, from memory and from files.
mod end_to_end {
    use super::*;

    fn run(bencher: Bencher, store: &Store) {
        let grid = Grid::regular(&[250; 3], &[64; 3]).unwrap();
        let array = Array::create(store, "", NewArray::new(DataType::UInt16, grid)).unwrap();
        let values: Vec<u8> = (0..250u32.pow(3)).flat_map(|i| ((i.wrapping_mul(2_654_435_761) >> 26) as u16).to_le_bytes()).collect();
        array.write_bytes((), &values).unwrap();
        let mut out = vec![0u8; values.len()];
        array.read_into((), &mut out).unwrap();
        assert!(out == values);
        bencher.counter(BytesCount::new(out.len())).bench_local(|| array.read_into((), &mut out).unwrap());
    }

    #[divan::bench(sample_count = 20)]
    fn memory(bencher: Bencher) {
        run(bencher, &Store::open("memory:").unwrap());
    }
    #[divan::bench(sample_count = 20)]
    fn files(bencher: Bencher) {
        let dir = tempfile::tempdir().unwrap();
        run(bencher, &Store::open(&dir.path().to_string_lossy()).unwrap());
    }
}
