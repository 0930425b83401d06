//! Shards and rectilinear grids that other readers got wrong, as reported in public. A test's name begins with the report's id.
#![allow(clippy::unwrap_used)]

mod common;

use common::*;
use gingham::core::meta::Format;
use gingham::store::wrap::ReadOnly;
use gingham::{Array, DataType, Elements, FillValue, Grid, Kind, NewArray, Store};

/// Offsets and lengths of a plain shard's index (little-endian, at the end, `tail` bytes of checksum behind).
fn entries(shard: &[u8], count: usize, tail: usize) -> Vec<(u64, u64)> {
    let index = &shard[shard.len() - tail - 16 * count..shard.len() - tail];
    let word = |b: &[u8]| u64::from_le_bytes(b.try_into().unwrap());
    index.chunks_exact(16).map(|e| (word(&e[..8]), word(&e[8..]))).collect()
}

#[test]
fn insb_56_the_stored_object_is_the_shard() {
    let store = memory();
    let array =
        v3(&store, "a", json!({"shape": [10, 12], "chunk_grid": regular(&[6, 8]), "data_type": "int16", "codecs": [plain_shard(&[3, 4])]}));
    let data = elements::<2>(1..121);
    array.write_bytes((), &data).unwrap();
    let stored: Vec<String> = array.stored().unwrap().into_iter().map(|(key, ..)| key).collect();
    assert_eq!(stored, ["c/0/0", "c/0/1", "c/1/0", "c/1/1"]);
    assert_eq!(array.grid().chunk_counts().to_vec(), [2, 2]);
    assert_eq!(array.inner_chunk_shape(), Some(vec![3, 4]));
    // 4 rows and 3 columns of inner chunks.
    assert_eq!(array.plan(()).unwrap().pieces().count(), 12);
    let copy = memory();
    for key in keys(&store) {
        put(&copy, &key, get(&store, &key).unwrap());
    }
    assert_eq!(all(&Array::open(&copy, "a").unwrap()), data);
}

#[test]
fn zita_424_the_index_is_as_long_as_its_codecs_make_it() {
    let chunks: Vec<u8> = vec![0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15];
    let index = |from: u64, little: bool| -> Vec<u8> {
        (0..4).flat_map(|i| [from + 4 * i, 4]).flat_map(|n: u64| if little { n.to_le_bytes() } else { n.to_be_bytes() }).collect()
    };
    for (codecs, location, object) in [
        (json!([little()]), "end", [chunks.clone(), index(0, true)].concat()),
        (json!([big()]), "end", [chunks.clone(), index(0, false)].concat()),
        (json!([little()]), "start", [index(64, true), chunks.clone()].concat()),
        (json!([big()]), "start", [index(64, false), chunks.clone()].concat()),
    ] {
        let store = memory();
        let sharding = shard(&[2, 2], json!([little()]), codecs.clone(), location);
        let array = v3(&store, "a", json!({"chunk_grid": regular(&[4, 4]), "codecs": [sharding]}));
        assert_eq!(object.len(), 80);
        put(&store, "a/c/0/0", &object);
        assert_eq!(all(&array), count_up(16), "{codecs} at the {location}");
        assert_eq!(read(&array, "2, 1:3").1, [9, 10]);
        array.write_bytes((), &count_up(16)).unwrap();
        assert_eq!(get(&store, "a/c/0/0").unwrap(), object, "written as it was read");
    }
}

#[test]
fn zita_427_transpose_inside_a_shard() {
    let transpose = |order: &[usize]| json!({"name": "transpose", "configuration": {"order": order}});
    for (inner, order) in [([2, 2, 2], [2, 1, 0]), ([2, 4, 1], [1, 2, 0]), ([1, 2, 4], [2, 0, 1])] {
        let store = memory();
        let sharding = shard(&inner, json!([transpose(&order), little(), "zstd"]), json!([little(), "crc32c"]), "end");
        let array =
            v3(&store, "a", json!({"shape": [4, 4, 4], "chunk_grid": regular(&[4, 4, 4]), "data_type": "uint16", "codecs": [sharding]}));
        array.write_bytes((), &elements::<2>(0..64)).unwrap();
        assert_eq!(numbers::<2>(&all(&array)), (0..64).collect::<Vec<_>>());
        assert_eq!(numbers::<2>(&read(&array, "1, :, 3").1), [19, 23, 27, 31]);
        array.write_bytes(select("1, :, 3"), &elements::<2>([100, 101, 102, 103])).unwrap();
        assert_eq!(numbers::<2>(&read(&array, "1, ::-1, 2:").1), [30, 103, 26, 102, 22, 101, 18, 100]);
        assert_eq!(array.read_chunk(&[0, 0, 0]).unwrap().unwrap().as_fixed().unwrap(), all(&array));
    }
}

#[test]
fn zjava_61_shards_that_many_threads_encode() {
    let store = memory();
    let sharding = shard(&[4, 4], json!([little(), gzip()]), json!([little(), "crc32c"]), "end");
    v3(&store, "a", json!({"shape": [64, 64], "chunk_grid": regular(&[64, 64]), "data_type": "uint32", "codecs": [sharding]}));
    let options = gingham::Options { threads: Some(16), ..Default::default() };
    let array = Array::open_with(&store, "a", &options).unwrap();
    for round in 0..20i64 {
        let data = elements::<4>((0..4096i64).map(|i| (i * 2_654_435_761 + round * 97) % 4_294_967_291));
        array.write_bytes((), &data).unwrap();
        assert_eq!(all(&array), data);
        let object = get(&store, "a/c/0/0").unwrap();
        let mut entries = entries(&object, 256, 4);
        entries.sort_unstable();
        let mut end = 0;
        for (offset, len) in entries {
            assert_eq!(offset, end, "entries follow one another");
            end = offset + len;
        }
        assert_eq!(end as usize, object.len() - 256 * 16 - 4, "they cover all of the data");
    }
}

#[test]
fn zp_2030_index_codecs_that_compress_are_refused() {
    let store = memory();
    let sharding = shard(&[4, 4], json!([little()]), json!([little(), {"name": "gzip", "configuration": {"level": 1}}]), "end");
    let document = v3_document(json!({"shape": [8, 8], "chunk_grid": regular(&[8, 8]), "data_type": "uint16", "codecs": [sharding]}));
    put(&store, "a/zarr.json", document.to_string());
    let error = Array::open(&store, "a").and_then(|a| a.read_elements(())).unwrap_err();
    assert!(
        error.to_string().contains("gzip") || error.place().pointer.as_deref().is_some_and(|p| p.contains("index_codecs")),
        "{error:?}"
    );
}

#[test]
fn zp_3479_every_part_of_every_shard_is_written() {
    let data: Vec<u8> = (0..16).flat_map(|i| (i as f64).to_le_bytes()).collect();
    for grid in [[4, 2], [2, 4], [4, 4]] {
        let store = memory();
        let new = NewArray {
            inner_chunks: Some(vec![2, 2]),
            fill_value: Some(FillValue::new(f64::NAN.to_le_bytes())),
            ..NewArray::new(DataType::Float(gingham::core::dtype::Float::F64), Grid::regular(&[4, 4], &grid).unwrap())
        };
        let array = Array::create(&store, "a", new).unwrap();
        array.write_bytes((), &data).unwrap();
        assert_eq!(all(&Array::open(&store, "a").unwrap()), data, "{grid:?}");
    }
}

#[test]
fn zp_3655_shards_in_shards() {
    for (within, outside) in [("start", "end"), ("end", "start"), ("start", "start")] {
        let store = memory();
        let index = || json!([little(), "crc32c"]);
        let sharding = shard(&[4, 4], json!([shard(&[2, 2], json!([little()]), index(), within)]), index(), outside);
        let array = v3(&store, "a", json!({"shape": [8, 8], "chunk_grid": regular(&[8, 8]), "fill_value": 7, "codecs": [sharding]}));
        let mut model = count_up(64);
        array.write_bytes((), &model).unwrap();
        assert_eq!(array.inner_chunk_shape(), Some(vec![2, 2]));
        let window = |model: &[u8], y: std::ops::Range<usize>, x: std::ops::Range<usize>| -> Vec<u8> {
            y.flat_map(|y| x.clone().map(move |x| (y, x))).map(|(y, x)| model[y * 8 + x]).collect()
        };
        for (y0, y1, x0, x1) in [(0, 8, 0, 8), (1, 7, 3, 5), (4, 8, 0, 4), (3, 4, 2, 8)] {
            assert_eq!(read(&array, &format!("{y0}:{y1}, {x0}:{x1}")).1, window(&model, y0..y1, x0..x1));
        }
        // An inner shard that goes missing, and one of whose chunks one goes.
        array.write_value(select("4:, :4"), &FillValue::new([7])).unwrap();
        array.write_value(select("0:2, 6:"), &FillValue::new([7])).unwrap();
        for y in 0..8 {
            for x in 0..8 {
                if (y >= 4 && x < 4) || (y < 2 && x >= 6) {
                    model[y * 8 + x] = 7;
                }
            }
        }
        assert_eq!(all(&array), model);
        assert_eq!(all(&Array::open(&store, "a").unwrap()), model);
    }
}

#[test]
fn zp_4202_codecs_around_a_shard() {
    let store = memory();
    let zipped = v3(&store, "z", json!({"chunk_grid": regular(&[4, 4]), "codecs": [plain_shard(&[2, 2]), gzip()]}));
    let turned = v3(
        &store,
        "t",
        json!({"chunk_grid": regular(&[4, 4]), "codecs": [{"name": "transpose", "configuration": {"order": [1, 0]}}, plain_shard(&[2, 2])]}),
    );
    for array in [zipped, turned] {
        array.write_bytes((), &count_up(16)).unwrap();
        assert_eq!(read(&array, "1:3, 1:3").1, [5, 6, 9, 10]);
        array.write_bytes(select("2:, :2"), &[80, 90, 120, 130]).unwrap();
        assert_eq!(all(&Array::open(&store, array.path()).unwrap()), [0, 1, 2, 3, 4, 5, 6, 7, 80, 90, 10, 11, 120, 130, 14, 15]);
    }
    assert_eq!(get(&store, "z/c/0/0").unwrap()[..2], [0x1f, 0x8b]);
}

#[test]
fn zs_241_sharding_behind_a_transpose() {
    let store = memory();
    let codecs = |inner: &[u64]| json!([{"name": "transpose", "configuration": {"order": [1, 0]}}, plain_shard(inner)]);
    let array = v3(&store, "a", json!({"shape": [4, 6], "chunk_grid": regular(&[4, 6]), "data_type": "uint16", "codecs": codecs(&[3, 2])}));
    array.write_bytes((), &elements::<2>(0..24)).unwrap();
    assert_eq!(numbers::<2>(&all(&array)), (0..24).collect::<Vec<_>>());
    assert_eq!(array.inner_chunk_shape(), Some(vec![2, 3]));
    let object = get(&store, "a/c/0/0").unwrap();
    assert_eq!(entries(&object, 4, 4), [(0, 12), (12, 12), (24, 12), (36, 12)]);
    // Stored rows 0 to 2 and columns 0 to 1 are the array's columns 0 to 2 and rows 0 to 1.
    assert_eq!(numbers::<2>(&object[..12]), [0, 6, 1, 7, 2, 8]);
    let document = v3_document(json!({"shape": [4, 6], "chunk_grid": regular(&[4, 6]), "data_type": "uint16", "codecs": codecs(&[2, 3])}));
    put(&store, "b/zarr.json", document.to_string());
    assert!(Array::open(&store, "b").and_then(|a| a.read_elements(())).is_err(), "3 does not divide 4");
}

#[test]
fn zjl_332_a_repeated_edge_has_its_full_size_at_the_end() {
    let store = memory();
    let array = v3(&store, "a", json!({"shape": [5, 5], "chunk_grid": rectilinear(json!([2, [2, 3]]))}));
    put(&store, "a/c/2/0", [1, 2, 9, 9]);
    put(&store, "a/c/2/1", [3, 4, 5, 9, 9, 9]);
    assert_eq!(read(&array, "4").1, [1, 2, 3, 4, 5]);
    put(&store, "a/c/2/1", [3, 4, 5]);
    let error = array.read_elements(select("4")).unwrap_err();
    assert_eq!((error.kind(), error.place().key.as_deref()), (Kind::Corrupt, Some("a/c/2/1")), "{error}");
    array.write_bytes((), &count_up(25)).unwrap();
    let sizes: Vec<u64> = array.stored().unwrap().into_iter().map(|(_, _, size)| size).collect();
    assert_eq!(sizes, [4, 6, 4, 6, 4, 6]);
    assert_eq!(all(&array), count_up(25));
}

#[test]
fn zjl_332b_an_irregular_axis_grows_and_shrinks() {
    let store = memory();
    let mut array = v3(&store, "a", json!({"shape": [6], "chunk_grid": rectilinear(json!([[1, 2, 3]])), "fill_value": 99}));
    array.write_bytes((), &count_up(6)).unwrap();
    let edges = |array: &Array| -> Vec<u64> { (0..array.grid().chunk_counts()[0]).map(|i| array.grid().chunk_shape(&[i])[0]).collect() };
    array.resize(&[10]).unwrap();
    assert_eq!((edges(&array), all(&array)), (vec![1, 2, 3, 4], vec![0, 1, 2, 3, 4, 5, 99, 99, 99, 99]));
    array.resize(&[4]).unwrap();
    assert_eq!(all(&array), [0, 1, 2, 3]);
    array.resize(&[0]).unwrap();
    assert!(all(&array).is_empty() && array.stored().unwrap().is_empty());
    array.resize(&[5]).unwrap();
    assert_eq!(all(&Array::open(&store, "a").unwrap()), [99; 5]);
    array.write_bytes((), &count_up(5)).unwrap();

    let before = get(&store, "a/zarr.json");
    let sealed = Store::new(ReadOnly::new(store.clone()));
    for shape in [[9], [2]] {
        let mut array = Array::open(&sealed, "a").unwrap();
        assert!(array.resize(&shape).is_err());
        assert_eq!((array.shape(), all(&array)), (vec![5], count_up(5)), "a resize that failed changed nothing");
    }
    assert_eq!(get(&store, "a/zarr.json"), before);
}

#[test]
fn zjl_332c_irregular_chunks_are_not_written_in_v2() {
    let store = memory();
    let grid = gingham::core::grid::grid_from_v3(&rectilinear(json!([[1, 2, 3]])), &[6]).unwrap();
    let error = Array::create(&store, "a", NewArray { format: Format::V2, ..NewArray::new(DataType::UInt8, grid) }).unwrap_err();
    assert!(error.to_string().contains("v2 has regular chunks only"), "{error}");
    assert!(keys(&store).is_empty(), "nothing was written");
}

#[test]
fn zp_4218_edges_beyond_the_end() {
    let store = memory();
    let mut array = v3(&store, "a", json!({"shape": [25], "chunk_grid": rectilinear(json!([[5, 10, 10]]))}));
    array.write_bytes((), &count_up(25)).unwrap();
    for (path, length, edges) in [("b", 18u8, json!([[5, 10, 10]])), ("c", 14, json!([[5, 10, 10]])), ("d", 18, json!([[5, [10, 2]]]))] {
        let copy = v3(&store, path, json!({"shape": [length], "chunk_grid": rectilinear(edges)}));
        for i in 0..3 {
            put(&store, &format!("{path}/c/{i}"), get(&store, &format!("a/c/{i}")).unwrap());
        }
        assert_eq!(all(&copy), count_up(length), "{path}");
        assert_eq!(read(&copy, &format!("{}::-5", length - 1)).1, (0..length).rev().step_by(5).collect::<Vec<_>>());
    }
    array.resize(&[18]).unwrap();
    assert_eq!(all(&Array::open(&store, "a").unwrap()), count_up(18));
    assert_eq!(get(&store, "a/c/2").unwrap().len() as u64, array.grid().chunk_shape(&[2])[0], "a stored chunk is as long as its edge");
    let short = v3_document(json!({"shape": [26], "chunk_grid": rectilinear(json!([[5, 10, 10]]))}));
    put(&store, "e/zarr.json", short.to_string());
    assert!(Array::open(&store, "e").is_err());
}

#[test]
fn zp_4272_a_rectilinear_grid_stays_one_and_appending_rewrites_nothing() {
    let store = memory();
    let grid = gingham::core::grid::grid_from_v3(&rectilinear(json!([[10, 10, 4]])), &[24]).unwrap();
    let mut array = Array::create(&store, "a", NewArray::new(DataType::UInt8, grid)).unwrap();
    array.write_bytes((), &count_up(24)).unwrap();
    assert_eq!(document(&store, "a/zarr.json")["chunk_grid"]["name"], "rectilinear");
    let before: Vec<_> = (0..3).map(|i| get(&store, &format!("a/c/{i}"))).collect();
    array.append(0, &[5], &Elements::Fixed((24..29).collect())).unwrap();
    let reopened = Array::open(&store, "a").unwrap();
    let edges: Vec<u64> = (0..4).map(|i| reopened.grid().chunk_shape(&[i])[0]).collect();
    assert_eq!((edges, all(&reopened)), (vec![10, 10, 4, 5], count_up(29)));
    assert_eq!((0..3).map(|i| get(&store, &format!("a/c/{i}"))).collect::<Vec<_>>(), before);
}

#[test]
fn zx_spec_sums_of_edges_below_at_and_above_the_length() {
    let store = memory();
    let open = |path: &str, edges: Value| {
        put(&store, &format!("{path}/zarr.json"), v3_document(json!({"shape": [6], "chunk_grid": rectilinear(edges)})).to_string());
        Array::open(&store, path)
    };
    assert!(open("low", json!([[3, 2]])).is_err());
    for (path, edges, objects) in [
        ("equal", json!([[3, 3]]), vec![vec![0, 1, 2], vec![3, 4, 5]]),
        ("over", json!([[3, 5]]), vec![vec![0, 1, 2], vec![3, 4, 5, 8, 8]]),
        ("outside", json!([[3, 3, 4]]), vec![vec![0, 1, 2], vec![3, 4, 5], vec![8; 4]]),
    ] {
        let array = open(path, edges).unwrap();
        for (i, object) in objects.iter().enumerate() {
            put(&store, &format!("{path}/c/{i}"), object);
        }
        assert_eq!(all(&array), count_up(6), "{path}");
        array.write_bytes((), &count_up(6)).unwrap();
        assert_eq!(all(&array), count_up(6), "{path}");
    }
    // Run counts and edges of 2^63 are never expanded.
    for edges in [
        json!([[[2, 9_223_372_036_854_775_807u64]]]),
        json!([[[9_223_372_036_854_775_807u64, 2]]]),
        json!([[2, 9_223_372_036_854_775_807u64]]),
    ] {
        if let Ok(array) = open("giant", edges.clone()) {
            let read = array.read_elements(());
            assert!(read.is_err() || read.unwrap().1 == Elements::Fixed(vec![0; 6]), "{edges}");
        }
    }
}
