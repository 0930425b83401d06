//! Random arrays, grids, shards, chains and selections: what is read is what indexing says.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use gingham::core::codec::{ByteOrder, Codec, Location};
use gingham::core::dtype::Endian;
use gingham::core::region::{Index, Pick, Resolved};
use gingham::{Array, DataType, Elements, FillValue, Format, Grid, NewArray, Selection, Store, Variable};
use proptest::prelude::*;

/// The elements of a resolved selection, by plain indexing.
fn indices(resolved: &Resolved, shape: &[u64]) -> Vec<usize> {
    match resolved {
        Resolved::Product { picks, .. } => {
            let mut out = vec![0usize];
            for (pick, &len) in picks.iter().zip(shape) {
                let along: Vec<u64> = match pick {
                    Pick::Run { start, step, len } => (0..*len).map(|k| start.wrapping_add_signed(step * k as i64)).collect(),
                    Pick::List(list) => list.clone(),
                };
                out = out.iter().flat_map(|o| along.iter().map(move |i| o * len as usize + *i as usize)).collect();
            }
            out
        }
        Resolved::Points { coordinates, .. } => {
            let n = coordinates.first().map_or(1, Vec::len);
            (0..n).map(|i| coordinates.iter().zip(shape).fold(0, |o, (c, &len)| o * len as usize + c[i] as usize)).collect()
        }
    }
}

#[derive(Debug, Clone)]
struct Case {
    shape: Vec<u64>,
    grid: Grid,
    inner: Option<Vec<u64>>,
    codecs: Vec<Codec>,
    width: usize,
    format: Format,
}

fn axis(len: u64, sharded: bool) -> impl Strategy<Value = (serde_json::Value, u64)> {
    // Inner chunk length first; every edge is a multiple of it where the array is sharded.
    (1u64..4).prop_flat_map(move |inner| {
        let unit = if sharded { inner } else { 1 };
        let step = (1u64..5).prop_map(move |k| serde_json::json!(k * unit));
        let list = proptest::collection::vec((1u64..4, 1u64..3), 1..5).prop_map(move |runs| {
            let mut entries: Vec<serde_json::Value> =
                runs.iter().map(|&(v, n)| if n == 1 { serde_json::json!(v * unit) } else { serde_json::json!([v * unit, n]) }).collect();
            let sum: u64 = runs.iter().map(|&(v, n)| v * unit * n).sum();
            if sum < len {
                entries.push(serde_json::json!((len - sum).next_multiple_of(unit)));
            }
            serde_json::Value::Array(entries)
        });
        (prop_oneof![step, list], Just(inner))
    })
}

fn case() -> impl Strategy<Value = Case> {
    (proptest::collection::vec(0u64..12, 0..4), any::<bool>(), 0usize..4, 0usize..6, any::<bool>())
        .prop_flat_map(|(shape, sharded, width, chain, big)| {
            let sharded = sharded && !shape.is_empty();
            let axes: Vec<_> = shape.iter().map(|&len| axis(len, sharded)).collect();
            let order = Just((0..shape.len()).collect::<Vec<usize>>()).prop_shuffle();
            (axes, order, Just((shape, sharded, [1, 2, 4, 8][width], chain, big)))
        })
        .prop_map(|(axes, order, (shape, sharded, width, chain, big))| {
            let lists: Vec<_> = axes.iter().map(|a| a.0.clone()).collect();
            let grid = serde_json::json!({"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": lists}});
            let grid = gingham::core::grid::grid_from_v3(&grid, &shape).unwrap();
            let endian = if big { Endian::Big } else { Endian::Little };
            let bytes = Codec::Bytes(if width == 1 { ByteOrder::None } else { ByteOrder::Uniform(endian) });
            let transpose = Codec::Transpose { order: order.clone() };
            let mut codecs = match chain {
                0 => vec![bytes],
                1 => vec![bytes, Codec::Zstd { level: 1, checksum: true }],
                2 => vec![transpose.clone(), bytes, Codec::Gzip { level: 1 }],
                3 => vec![transpose.clone(), bytes],
                4 => vec![bytes, Codec::Crc32c { location: Location::End }],
                _ => vec![transpose.clone(), bytes, Codec::Zstd { level: 1, checksum: false }, Codec::Crc32c { location: Location::End }],
            };
            let mut inner = sharded.then(|| axes.iter().map(|a| a.1).collect::<Vec<_>>());
            if let Some(shape) = inner.as_mut().filter(|_| chain == 5) {
                // Transpose outside the shard: the inner shape is in the turned axes.
                let turned: Vec<u64> = order.iter().map(|&a| shape[a]).collect();
                codecs.remove(0);
                let sharding = gingham::core::codec::Sharding {
                    chunk_shape: turned.as_slice().into(),
                    codecs,
                    index_codecs: vec![Codec::Bytes(ByteOrder::Uniform(Endian::Big))],
                    index_location: Location::Start,
                };
                codecs = vec![transpose, Codec::Sharding(Box::new(sharding))];
                inner = None;
            }
            Case { shape, grid, inner, codecs, width, format: Format::V3 }
        })
}

fn data_type(width: usize) -> DataType {
    match width {
        1 => DataType::UInt8,
        2 => DataType::UInt16,
        4 => DataType::UInt32,
        _ => DataType::UInt64,
    }
}

fn entry(len: u64) -> impl Strategy<Value = Index> {
    let n = len as i64;
    let bound = proptest::option::of(-n - 2..n + 3);
    let step = prop_oneof![Just(None), (1i64..4).prop_map(Some), (-3i64..0).prop_map(Some)];
    let slice = (bound.clone(), bound, step).prop_map(|(start, stop, step)| Index::Slice { start, stop, step });
    if len == 0 {
        return slice.boxed();
    }
    prop_oneof![4 => slice, 1 => (-n..n).prop_map(Index::At), 2 => proptest::collection::vec(-n..n, 0..6).prop_map(Index::List)].boxed()
}

fn create(case: &Case, fill: u64) -> (Store, Array) {
    let store = Store::open("memory:").unwrap();
    let new = NewArray {
        inner_chunks: case.inner.clone(),
        codecs: Some(case.codecs.clone()),
        fill_value: Some(FillValue::new(fill.to_le_bytes()[..case.width].to_vec())),
        format: case.format,
        ..NewArray::new(data_type(case.width), case.grid.clone())
    };
    let array = Array::create(&store, "a", new).unwrap();
    (store, array)
}

fn value(i: usize, width: usize) -> Vec<u8> {
    (i as u64 + 1).wrapping_mul(0x0123_4567_89ab_cdef).to_le_bytes()[..width].to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, max_shrink_iters: 2000, ..ProptestConfig::default() })]

    #[test]
    fn reads_equal_plain_indexing((case, entries) in case().prop_flat_map(|c| {
        let entries: Vec<_> = c.shape.iter().map(|&l| entry(l)).collect();
        (Just(c), entries)
    })) {
        let (store, array) = create(&case, 7);
        let n: u64 = case.shape.iter().product();
        let all: Vec<u8> = (0..n as usize).flat_map(|i| value(i, case.width)).collect();
        array.write_bytes((), &all).unwrap();
        let reopened = Array::open(&store, "a").unwrap();
        let (shape, read) = reopened.read_elements(()).unwrap();
        prop_assert_eq!(&shape, &case.shape);
        prop_assert_eq!(read.as_fixed().unwrap(), &all[..]);
        let selection = Selection::Orthogonal(entries);
        let resolved = selection.resolve(array.grid(), None).unwrap();
        let expected: Vec<u8> = indices(&resolved, &case.shape).into_iter().flat_map(|i| all[i * case.width..(i + 1) * case.width].to_vec()).collect();
        let (shape, part) = reopened.read_elements(selection.clone()).unwrap();
        prop_assert_eq!(&shape[..], resolved.shape());
        prop_assert_eq!(part.as_fixed().unwrap(), &expected[..]);
        let plan = reopened.plan(selection).unwrap();
        let covered: u64 = plan.pieces().map(|p| p.part.iter().map(|x| x.2).product::<u64>()).sum();
        prop_assert_eq!(covered, resolved.count().unwrap(), "the pieces cover the selection once");
    }

    #[test]
    fn writes_equal_plain_indexing((case, entries) in case().prop_flat_map(|c| {
        let entries: Vec<_> = c.shape.iter().map(|&l| proptest::collection::vec(entry(l), 3)).collect();
        (Just(c), entries)
    })) {
        let (_, array) = create(&case, 3);
        let n: u64 = case.shape.iter().product();
        let mut model: Vec<u8> = 3u64.to_le_bytes()[..case.width].repeat(n as usize);
        for k in 0..3 {
            let selection = Selection::Orthogonal(entries.iter().map(|e| e[k].clone()).collect());
            let resolved = selection.resolve(array.grid(), None).unwrap();
            let places = indices(&resolved, &case.shape);
            let values: Vec<u8> = (0..places.len()).flat_map(|i| value(i + 1000 * k, case.width)).collect();
            let distinct = { let mut p = places.clone(); p.sort_unstable(); p.dedup(); p.len() == places.len() };
            if !distinct { continue }
            array.write_bytes(selection, &values).unwrap();
            for (i, at) in places.iter().enumerate() {
                model[at * case.width..(at + 1) * case.width].copy_from_slice(&values[i * case.width..(i + 1) * case.width]);
            }
        }
        let (_, read) = array.read_elements(()).unwrap();
        prop_assert_eq!(read.as_fixed().unwrap(), &model[..]);
    }

    #[test]
    fn points_equal_plain_indexing((case, picks) in case().prop_filter("has elements", |c| !c.shape.is_empty() && !c.shape.contains(&0)).prop_flat_map(|c| {
        let axes: Vec<_> = c.shape.iter().map(|&l| proptest::collection::vec(-(l as i64)..l as i64, 9)).collect();
        (Just(c), axes)
    })) {
        let (_, array) = create(&case, 0);
        let n: u64 = case.shape.iter().product();
        let mut all: Vec<u8> = (0..n as usize).flat_map(|i| value(i, case.width)).collect();
        array.write_bytes((), &all).unwrap();
        let points = Selection::Points { coordinates: picks, shape: [3u64, 3].as_slice().into() };
        let places = indices(&points.resolve(array.grid(), None).unwrap(), &case.shape);
        let (shape, read) = array.read_elements(points.clone()).unwrap();
        prop_assert_eq!(shape, vec![3, 3]);
        let expected: Vec<u8> = places.iter().flat_map(|&i| all[i * case.width..(i + 1) * case.width].to_vec()).collect();
        prop_assert_eq!(read.as_fixed().unwrap(), &expected[..]);
        let one = value(77, case.width);
        array.write_value(points, &FillValue::new(one.clone())).unwrap();
        places.iter().for_each(|&i| all[i * case.width..(i + 1) * case.width].copy_from_slice(&one));
        let (_, read) = array.read_elements(()).unwrap();
        prop_assert_eq!(read.as_fixed().unwrap(), &all[..]);
    }
}

#[test]
fn strings_are_read_and_written_in_shards_and_parts() {
    let store = Store::open("memory:").unwrap();
    let grid = Grid::regular(&[5, 6], &[4, 4]).unwrap();
    for inner in [None, Some(vec![2, 2])] {
        let new = NewArray {
            inner_chunks: inner,
            overwrite: true,
            fill_value: Some(FillValue::new(*b"-")),
            ..NewArray::new(DataType::String, grid.clone())
        };
        let array = Array::create(&store, "s", new).unwrap();
        let mut model: Vec<String> = vec!["-".into(); 30];
        let mut values = Variable::new();
        for (k, y, x) in (0..2).flat_map(|y| (0..3).map(move |x| (y * 3 + x, y, x))) {
            values.push(format!("é{k}").as_bytes());
            model[(y * 2 + 1) * 6 + (5 - x * 2)] = format!("é{k}");
        }
        array.write_elements(Selection::parse("1:4:2, ::-2").unwrap(), &Elements::Variable(values)).unwrap();
        let (shape, read) = array.read_elements(()).unwrap();
        assert_eq!(shape, [5, 6]);
        let read = read.as_variable().unwrap().clone();
        let read: Vec<String> = (0..read.len()).map(|i| String::from_utf8(read.get(i).to_vec()).unwrap()).collect();
        assert_eq!(read, model);
        let (_, row) = array.read_elements(Selection::parse("3, [5, 0]").unwrap()).unwrap();
        assert_eq!(row.as_variable().unwrap().get(0), model[23].as_bytes());
        assert_eq!(row.as_variable().unwrap().get(1), model[18].as_bytes());
        let points = Selection::Points { coordinates: vec![vec![3, 0], vec![5, 5]], shape: [2u64].as_slice().into() };
        let (_, points) = array.read_elements(points).unwrap();
        assert_eq!(points.as_variable().unwrap().get(0), model[23].as_bytes());
        assert_eq!(points.as_variable().unwrap().get(1), b"-");
    }
}

#[test]
fn the_asynchronous_reader_gives_the_same() {
    let store = Store::open("memory:").unwrap();
    let new = NewArray { inner_chunks: Some(vec![2, 3]), ..NewArray::new(DataType::UInt16, Grid::regular(&[9, 10], &[4, 6]).unwrap()) };
    let array = Array::create(&store, "", new).unwrap();
    let values = ndarray::Array2::from_shape_fn((9, 10), |(y, x)| (y * 10 + x) as u16);
    array.write((), &values).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for text in ["", "1:8:3, ::-1", "[0, 8, 0], 4"] {
        let selection = Selection::parse(text).unwrap();
        let (shape, awaited) = runtime.block_on(array.read_async(selection.clone())).unwrap();
        assert_eq!((shape, awaited), array.read_elements(selection).unwrap(), "{text}");
    }
}
