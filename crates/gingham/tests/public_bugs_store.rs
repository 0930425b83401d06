//! Objects, appends, codecs and byte orders that other readers and writers got wrong, as reported in public. A test's name
//! begins with the report's id.
#![allow(clippy::unwrap_used, clippy::reversed_empty_ranges, non_contiguous_range_endpoints)]

mod common;

use common::*;
use gingham::core::dtype::Float;
use gingham::store::{Condition, Range, StoreErrorKind};
use gingham::{Array, DataType, Elements, FillValue, Grid, Group, Kind, NewArray, Node, Options, Store};

#[test]
fn vz_marker_folders_that_are_objects() {
    let store = memory();
    let array = v3(&store, "air", json!({}));
    array.write_bytes((), &count_up(16)).unwrap();
    put(&store, "zarr.json", json!({"zarr_format": 3, "node_type": "group"}).to_string());
    let stored = array.stored().unwrap().len();
    // An empty object where a chunk should be is no folder.
    put(&store, "air/c/0/0", []);
    let error = array.read_elements(()).unwrap_err();
    assert_eq!((error.kind(), error.place().key.as_deref()), (Kind::Corrupt, Some("air/c/0/0")), "{error}");
    assert_eq!(array.stored().unwrap().len(), stored);
    assert_eq!(read(&array, "2:").1, count_up(16)[8..], "other chunks are read");
    array.write_bytes((), &count_up(16)).unwrap();
    assert_eq!(all(&array), count_up(16));
}

#[test]
fn xr_8882_appends_whose_cuts_are_others_than_the_chunks() {
    for chunk in [[5u64, 5, 1], [10, 10, 4]] {
        let store = memory();
        let one = 1f64.to_le_bytes();
        let mut array =
            v3(&store, "a", json!({"shape": [10, 10, 0], "chunk_grid": regular(&chunk), "data_type": "float64", "fill_value": 0.0}));
        for t in 0..4 {
            array.append(2, &[10, 10, 1], &Elements::Fixed(vec![0; 800])).unwrap();
            let array = &array;
            // Blocks of 2 x 2, by eight threads that share chunks.
            std::thread::scope(|s| {
                for w in 0..8 {
                    s.spawn(move || {
                        for block in (w..25).step_by(8) {
                            let (y, x) = (block / 5 * 2, block % 5 * 2);
                            let place = select(&format!("{y}:{}, {x}:{}, {t}", y + 2, x + 2));
                            array.write_bytes(place, &one.repeat(4)).unwrap();
                        }
                    });
                }
            });
        }
        let sum: f64 = all(&array).chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).sum();
        assert_eq!(sum, 400.0, "{chunk:?}");
    }
}

#[test]
fn xr_9767_append_to_a_length_that_is_no_multiple_of_the_chunk() {
    let store = memory();
    for (path, codecs) in [("plain", json!([little()])), ("shard", json!([plain_shard(&[2])])), ("zipped", json!([little(), gzip()]))] {
        let mut array = v3(&store, path, json!({"shape": [5], "chunk_grid": regular(&[4]), "data_type": "int32", "codecs": codecs}));
        array.write_bytes((), &elements::<4>(0..5)).unwrap();
        array.append(0, &[6], &Elements::Fixed(elements::<4>(5..11))).unwrap();
        let reopened = Array::open(&store, path).unwrap();
        assert_eq!((reopened.shape(), numbers::<4>(&all(&reopened))), (vec![11], (0..11).collect()), "{path}");
        assert_eq!(document(&store, &format!("{path}/zarr.json"))["chunk_grid"], regular(&[4]));
        assert!(array.append(0, &[2], &Elements::Fixed(elements::<4>(0..3))).is_err());
        assert_eq!(array.shape(), [11]);
    }
}

#[test]
fn zp_2849p_shrinking_deletes_chunks_and_clears_what_is_cut_off() {
    let store = memory();
    for (path, fill) in [("v3", 0u8), ("filled", 9)] {
        let mut array = v3(&store, path, json!({"shape": [8], "chunk_grid": regular(&[2]), "data_type": "int8", "fill_value": fill}));
        array.write_bytes((), &(1..=8).collect::<Vec<u8>>()).unwrap();
        array.resize(&[3]).unwrap();
        let stored: Vec<String> = array.stored().unwrap().into_iter().map(|(key, ..)| key).collect();
        assert_eq!(stored, ["c/0", "c/1"]);
        array.resize(&[8]).unwrap();
        assert_eq!(all(&array), [1, 2, 3, fill, fill, fill, fill, fill]);
    }
}

#[test]
fn zp_suffix_ranges_past_the_end_of_an_object() {
    let dir = tempfile::tempdir().unwrap();
    let zip = dir.path().join("z.zip");
    let written = gingham::store::create_with(zip.to_str().unwrap(), &Default::default()).unwrap();
    put(&written, "k", [1, 2, 3]);
    written.finish().unwrap();
    let files = Store::open(dir.path().join("files").to_str().unwrap()).unwrap();
    let stores = [memory(), files, Store::open(zip.to_str().unwrap()).unwrap()];
    for store in &stores[..2] {
        put(store, "k", [1, 2, 3]);
    }
    for store in &stores {
        let get = |range| store.get("k", range).map(|b| b.unwrap().to_vec()).map_err(|e| e.kind);
        let bounded = |start, length| get(Range::Bounded { start, length });
        assert_eq!(get(Range::Suffix { length: 10 }), Ok(vec![1, 2, 3]), "{}", store.describe());
        assert_eq!(get(Range::Suffix { length: 0 }), Ok(vec![]));
        assert_eq!(bounded(1, 99), Err(StoreErrorKind::Short), "{}", store.describe());
        assert_eq!(bounded(3, 1), Err(StoreErrorKind::Short));
        assert_eq!(bounded(5, 1), Err(StoreErrorKind::Short));
        assert_eq!(bounded(1, 2), Ok(vec![2, 3]));
        assert_eq!(get(Range::From { start: 4 }), Err(StoreErrorKind::Short));
    }
}

#[test]
fn zrs_eraseprefix_erasing_foo_leaves_foobar() {
    let store = memory();
    for path in ["foo", "foobar"] {
        v3(&store, path, json!({"shape": [4], "chunk_grid": regular(&[4])})).write_bytes((), &[1, 2, 3, 4]).unwrap();
    }
    Array::open(&store, "foo").unwrap().erase().unwrap();
    assert_eq!(keys(&store), ["foobar/c/0", "foobar/zarr.json"]);
    assert_eq!(all(&Array::open(&store, "foobar").unwrap()), [1, 2, 3, 4]);
}

#[test]
fn zrs_fe_only_chunks_that_are_fill_bit_for_bit_are_left_out() {
    let (plain, other) = (f32::NAN.to_bits(), f32::NAN.to_bits() | 1);
    let nans = |bits: [u32; 2]| bits.iter().flat_map(|b| b.to_le_bytes()).collect::<Vec<u8>>();
    let cases: Vec<(DataType, Vec<u8>, Vec<u8>, bool)> = vec![
        (DataType::Float(Float::F64), 0f64.to_le_bytes().to_vec(), (-0f64).to_le_bytes().repeat(2), true),
        (DataType::Float(Float::F64), 0f64.to_le_bytes().to_vec(), 0f64.to_le_bytes().repeat(2), false),
        (DataType::Float(Float::F64), (-0f64).to_le_bytes().to_vec(), 0f64.to_le_bytes().repeat(2), true),
        (DataType::Float(Float::F64), (-0f64).to_le_bytes().to_vec(), (-0f64).to_le_bytes().repeat(2), false),
        (DataType::Float(Float::F32), plain.to_le_bytes().to_vec(), nans([plain, plain]), false),
        (DataType::Float(Float::F32), plain.to_le_bytes().to_vec(), nans([plain, other]), true),
        (DataType::Raw(3), vec![0; 3], vec![0; 6], false),
        (DataType::Raw(3), vec![0; 3], vec![0, 0, 0, 0, 0, 1], true),
        (DataType::FixedBytes(5), vec![0; 5], vec![0; 10], false),
        (DataType::FixedBytes(5), vec![0; 5], b"\0\0\0\0\0a\0\0\0\0".to_vec(), true),
    ];
    for (data_type, fill, data, is_stored) in cases {
        for inner in [None, Some(vec![1])] {
            let store = memory();
            let new = NewArray {
                fill_value: Some(FillValue::new(fill.clone())),
                inner_chunks: inner,
                ..NewArray::new(data_type.clone(), Grid::regular(&[2], &[2]).unwrap())
            };
            let array = Array::create(&store, "a", new).unwrap();
            array.write_bytes((), &data).unwrap();
            assert_eq!(get(&store, "a/c/0").is_some(), is_stored, "{data_type} {fill:?} {data:?}");
            assert_eq!(all(&Array::open(&store, "a").unwrap()), data, "{data_type} {fill:?}");
        }
    }
}

#[test]
fn zrs_fe_empty_chunks_are_kept_where_that_is_asked_for() {
    let store = memory();
    for codecs in [json!([little()]), json!([plain_shard(&[1, 1])])] {
        v3(&store, "a", json!({"codecs": codecs}));
        let keep = Options { write_empty_chunks: true, ..Options::default() };
        let array = Array::open_with(&store, "a", &keep).unwrap();
        array.write_value((), &FillValue::new([0])).unwrap();
        assert_eq!(array.stored().unwrap().len(), 4);
        let array = Array::open(&store, "a").unwrap();
        array.write_value(select("0, 0"), &FillValue::new([0])).unwrap();
        array.write_value(select("2:, 2:"), &FillValue::new([0])).unwrap();
        let left: Vec<String> = array.stored().unwrap().into_iter().map(|(key, ..)| key).collect();
        assert!(!left.contains(&"c/1/1".to_string()), "{left:?}");
        assert_eq!(all(&array), [0; 16]);
    }
}

#[test]
fn zrs_trunc_objects_are_exactly_as_long_as_what_was_written() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().to_str().unwrap()).unwrap();
    let array = v3(&store, "a", json!({"shape": [1000], "chunk_grid": regular(&[1000]), "codecs": [little(), gzip()], "fill_value": 9}));
    let noise: Vec<u8> = (0..1000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    array.write_bytes((), &noise).unwrap();
    let long = std::fs::metadata(dir.path().join("a/c/0")).unwrap().len();
    array.write_bytes((), &[0; 1000]).unwrap();
    let object = std::fs::read(dir.path().join("a/c/0")).unwrap();
    assert!((object.len() as u64) < long / 4, "{} of {long} bytes", object.len());
    let mut fresh = memory();
    let other = v3(&fresh, "a", json!({"shape": [1000], "chunk_grid": regular(&[1000]), "codecs": [little(), gzip()], "fill_value": 9}));
    other.write_bytes((), &[0; 1000]).unwrap();
    assert_eq!(get(&fresh, "a/c/0").unwrap(), object, "nothing is left of the longer object");
    // Shards that are written in parts, in any order.
    fresh = memory();
    let sharding = shard(&[100], json!([little(), gzip()]), json!([little(), "crc32c"]), "end");
    let array = v3(&fresh, "s", json!({"shape": [1000], "chunk_grid": regular(&[1000]), "codecs": [sharding]}));
    for i in [3, 9, 0, 1, 8, 2, 7, 4, 6, 5, 3] {
        array.write_bytes(select(&format!("{}:{}", i * 100, i * 100 + 100)), &noise[i * 100..i * 100 + 100]).unwrap();
    }
    let parts = get(&fresh, "s/c/0").unwrap();
    assert_eq!(all(&array), noise);
    array.write_bytes((), &noise).unwrap();
    assert_eq!(get(&fresh, "s/c/0").unwrap().len(), parts.len(), "what is replaced takes no space");
}

#[test]
fn zs_57_names_that_differ_in_case_only() {
    let dir = tempfile::tempdir().unwrap();
    for store in [memory(), Store::open(dir.path().to_str().unwrap()).unwrap()] {
        let mut root = Group::create(&store, "", gingham::Format::V3, Default::default()).unwrap();
        put(&store, "probe", [1]);
        if store.stat("PROBE").unwrap().is_some() {
            eprintln!("skipped: this file system takes upper and lower case for the same");
            continue;
        }
        for (path, value) in [("foo/a", 1), ("FOO/a", 2)] {
            let new = NewArray::new(DataType::UInt8, Grid::regular(&[2], &[2]).unwrap());
            Array::create(&store, path, new).unwrap().write_bytes((), &[value; 2]).unwrap();
        }
        root.consolidate().unwrap();
        let required = Options { consolidated: gingham::Consolidated::Require, ..Options::default() };
        let root = Group::open_with(&store, "", &required).unwrap();
        let found: Vec<(String, Vec<u8>)> = root
            .walk()
            .unwrap()
            .into_iter()
            .filter_map(|e| match e.node.unwrap() {
                Node::Array(array) => Some((e.relative, all(&array))),
                Node::Group(_) => None,
            })
            .collect();
        assert_eq!(found, [("FOO/a".to_string(), vec![2, 2]), ("foo/a".to_string(), vec![1, 1])]);
    }
}

#[test]
fn gd_11019_rows_one_after_another_through_every_compressor() {
    let compressors = [
        json!({"id": "zlib", "level": 1}),
        json!({"id": "gzip", "level": 1}),
        json!({"id": "zstd", "level": 1}),
        json!({"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1}),
        json!({"id": "lz4", "acceleration": 1}),
        json!({"id": "bz2", "level": 1}),
        json!({"id": "lzma", "format": 1, "check": -1, "preset": null, "filters": null}),
        Value::Null,
    ];
    for compressor in compressors {
        let store = memory();
        let array = v2(&store, "a", json!({"chunks": [4, 4], "compressor": compressor}));
        for row in 0..4u8 {
            array.write_bytes(select(&row.to_string()), &[row * 4, row * 4 + 1, row * 4 + 2, row * 4 + 3]).unwrap();
        }
        assert_eq!(all(&Array::open(&store, "a").unwrap()), count_up(16), "{compressor}");
    }
}

#[test]
fn zp_1279_order_f_with_and_without_a_compressor() {
    let data = elements::<2>(0..120);
    for compressor in [Value::Null, json!({"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1})] {
        let store = memory();
        let array =
            v2(&store, "a", json!({"shape": [3, 5, 4, 2], "chunks": [3, 3, 3, 2], "dtype": "<u2", "order": "F", "compressor": compressor}));
        array.write_bytes((), &data).unwrap();
        let array = Array::open(&store, "a").unwrap();
        assert_eq!(all(&array), data);
        let expected: Vec<i64> = (0..3).flat_map(|a| (0..2).map(move |d| a * 40 + 4 * 8 + 3 * 2 + d)).collect();
        assert_eq!(numbers::<2>(&read(&array, ":, 4, 3").1), expected);
        if compressor.is_null() {
            // The first axis varies fastest.
            assert_eq!(numbers::<2>(&get(&store, "a/0.0.0.0").unwrap()[..8]), [0, 40, 80, 8]);
        }
        array.write_bytes(select("1, 2:4, ::-1, 0"), &elements::<2>(500..508)).unwrap();
        assert_eq!(numbers::<2>(&read(&array, "1, 2:4, :, 0").1), [503, 502, 501, 500, 507, 506, 505, 504]);
    }
}

#[test]
fn zp_2501_values_that_do_not_lie_in_one_piece() {
    let store = memory();
    let array = v2(&store, "a", json!({"shape": [10, 8], "chunks": [3, 3], "dtype": "<f8", "fill_value": 0.0}));
    let values = ndarray::Array2::from_shape_fn((10, 8), |(y, x)| (y * 8 + x) as f64 + 1.0);
    array.write(select("6:9, 3:6"), &values.slice(ndarray::s![6..9, 3..6])).unwrap();
    array.write(select("0:2, 0:3"), &values.t().slice(ndarray::s![..3, ..2])).unwrap_err();
    array.write(select("0:8, 7"), &values.slice(ndarray::s![..8;-1, 7])).unwrap();
    let got: ndarray::Array2<f64> = array.read(()).unwrap();
    for ((y, x), v) in got.indexed_iter() {
        let expected = match (y, x) {
            (6..=8, 3..=5) => values[(y, x)],
            (0..=7, 7) => values[(7 - y, 7)],
            _ => 0.0,
        };
        assert_eq!(*v, expected, "{y}, {x}");
    }
}

#[test]
fn nc_852_filters_keep_order_f() {
    let store = memory();
    let filter = json!({"id": "fixedscaleoffset", "offset": 0, "scale": 1, "dtype": "<f4", "astype": "<u2"});
    let array = v2(&store, "a", json!({"shape": [2, 3], "chunks": [2, 3], "dtype": "<f4", "order": "F", "filters": [filter]}));
    put(&store, "a/0.0", elements::<2>([0, 3, 1, 4, 2, 5]));
    let got: ndarray::Array2<f32> = array.read(()).unwrap();
    assert_eq!(got, ndarray::arr2(&[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]));
    let before = get(&store, "a/0.0");
    array.write((), &got).unwrap();
    assert_eq!(get(&store, "a/0.0"), before);
}

#[test]
fn ncc_2484_a_codec_that_is_not_known_gives_no_values() {
    let store = memory();
    let array = v2(&store, "a", json!({"compressor": {"id": "blosk"}}));
    put(&store, "a/0.0", [1, 2, 3, 4]);
    let error = array.read_elements(()).unwrap_err();
    assert_eq!(error.kind(), Kind::Unsupported);
    assert!(error.to_string().contains("blosk"), "{error}");
    assert!(array.write_bytes((), &count_up(16)).is_err());
    assert_eq!(get(&store, "a/0.0").unwrap(), [1, 2, 3, 4]);
}

#[test]
fn zp_3256_delta_with_another_stored_type() {
    let store = memory();
    let delta = json!({"id": "delta", "dtype": "<i4", "astype": "<i2"});
    let array = v2(&store, "a", json!({"shape": [5], "chunks": [5], "dtype": "<i4", "filters": [delta]}));
    put(&store, "a/0", elements::<2>([1000, 1, 2, -1, 0]));
    assert_eq!(numbers::<4>(&all(&array)), [1000, 1001, 1003, 1002, 1002]);
    assert_eq!(numbers::<4>(&read(&array, "::-2").1), [1002, 1003, 1000]);
    assert_eq!(array.write_bytes((), &elements::<4>([0, 40_000, 0, 0, 0])).unwrap_err().kind(), Kind::Invalid);
    assert_eq!(numbers::<4>(&all(&array)), [1000, 1001, 1003, 1002, 1002], "a write that failed changed nothing");
}

#[test]
fn zrs_transpose_parts_of_transposed_chunks() {
    let store = memory();
    let transpose = |order: &[usize]| json!({"name": "transpose", "configuration": {"order": order}});
    let array = v3(
        &store,
        "a",
        json!({"shape": [4, 6], "chunk_grid": regular(&[4, 6]), "data_type": "uint16", "codecs": [transpose(&[1, 0]), little()]}),
    );
    array.write_bytes((), &elements::<2>(0..24)).unwrap();
    assert_eq!(numbers::<2>(&read(&array, "1:3, 2:5").1), [8, 9, 10, 14, 15, 16]);
    let array = v3(
        &store,
        "b",
        json!({"shape": [2, 3, 4], "chunk_grid": regular(&[2, 3, 4]), "data_type": "uint16", "codecs": [transpose(&[2, 0, 1]), little()]}),
    );
    array.write_bytes((), &elements::<2>(0..24)).unwrap();
    assert_eq!(numbers::<2>(&read(&array, "1, :, 2").1), [14, 18, 22]);
    // Stored axes are the array's third, first and second.
    let stored: Vec<i64> = (0..4).flat_map(|k| (0..2).flat_map(move |i| (0..3).map(move |j| i * 12 + j * 4 + k))).collect();
    assert_eq!(numbers::<2>(&get(&store, "b/c/0/0/0").unwrap()), stored);
    let array = v3(
        &store,
        "s",
        json!({"shape": [2, 3], "chunk_grid": regular(&[2, 3]), "data_type": "string", "fill_value": "", "codecs": [transpose(&[1, 0]), "vlen-utf8"]}),
    );
    let mut values = gingham::Variable::new();
    ["a", "bb", "", "ccc", "d", "é"].iter().for_each(|t| values.push(t.as_bytes()));
    array.write_elements((), &Elements::Variable(values)).unwrap();
    assert_eq!(texts(&array.read_elements(()).unwrap().1), ["a", "bb", "", "ccc", "d", "é"]);
    assert_eq!(texts(&array.read_elements(select("1, ::-1")).unwrap().1), ["é", "d", "ccc"]);
}

#[test]
fn zrs_packbits_parts() {
    let store = memory();
    let bits = json!({"name": "packbits", "configuration": {"padding_encoding": "none", "first_bit": 4, "last_bit": 7}});
    let array = v3(&store, "a", json!({"shape": [4], "chunk_grid": regular(&[4]), "codecs": [bits]}));
    array.write_bytes((), &[16, 32, 48, 240]).unwrap();
    assert_eq!((all(&array), get(&store, "a/c/0").unwrap().len()), (vec![16, 32, 48, 240], 2));
    let bits = json!({"name": "packbits", "configuration": {"padding_encoding": "start_byte"}});
    let array =
        v3(&store, "b", json!({"shape": [15], "chunk_grid": regular(&[10]), "data_type": "bool", "fill_value": false, "codecs": [bits]}));
    let data: Vec<u8> = (0..15).map(|i| u8::from(i % 3 == 0)).collect();
    array.write_bytes((), &data).unwrap();
    let object = get(&store, "b/c/0").unwrap();
    assert_eq!((all(&array), object.len(), object[0]), (data.clone(), 3, 6));
    array.write_bytes(select("9:11"), &[0, 1]).unwrap();
    assert_eq!(read(&array, "8:12").1, [data[8], 0, 1, data[11]]);
}

#[test]
fn zj_59_big_endian_numbers() {
    let store = memory();
    let open = |dtype: &str| v2(&store, "a", json!({"shape": [1, 1], "chunks": [1, 1], "dtype": dtype, "fill_value": null}));
    for (dtype, stored, expected) in [
        (">u2", vec![0xff, 0], vec![0, 0xff]),
        (">i4", vec![1, 2, 3, 4], vec![4, 3, 2, 1]),
        (">f8", 1.5f64.to_be_bytes().to_vec(), 1.5f64.to_le_bytes().to_vec()),
        (">c8", [1f32.to_be_bytes(), 2f32.to_be_bytes()].concat(), [1f32.to_le_bytes(), 2f32.to_le_bytes()].concat()),
        (">U2", vec![0, 0, 0, 65, 0, 0, 0, 66], vec![65, 0, 0, 0, 66, 0, 0, 0]),
        (">M8[s]", 9i64.to_be_bytes().to_vec(), 9i64.to_le_bytes().to_vec()),
    ] {
        let array = open(dtype);
        put(&store, "a/0.0", &stored);
        assert_eq!(all(&array), expected, "{dtype}");
        array.write_bytes((), &expected).unwrap();
        assert_eq!(get(&store, "a/0.0").unwrap(), stored, "{dtype}");
    }
    let array = v2(&store, "b", json!({"shape": [4, 6], "chunks": [3, 4], "dtype": ">i4"}));
    array.write_bytes((), &elements::<4>(0..24)).unwrap();
    array.write_bytes(select("2:, 3:5"), &elements::<4>(100..104)).unwrap();
    assert_eq!(numbers::<4>(&read(&array, "2:, ::-1").1), [17, 101, 100, 14, 13, 12, 23, 103, 102, 20, 19, 18]);
}

#[test]
fn zjl_181_complex_numbers_and_their_fill() {
    let store = memory();
    let complex = |re: f32, im: f32| [re.to_le_bytes(), im.to_le_bytes()].concat();
    let array = v2(&store, "a", json!({"shape": [4], "chunks": [2], "dtype": "<c8", "fill_value": ["NaN", 0.0]}));
    put(&store, "a/0", [complex(1.0, 2.0), complex(3.0, -4.0)].concat());
    assert_eq!(all(&array), [complex(1.0, 2.0), complex(3.0, -4.0), complex(f32::NAN, 0.0), complex(f32::NAN, 0.0)].concat());
    let array = v3(
        &store,
        "b",
        json!({"shape": [2], "chunk_grid": regular(&[2]), "data_type": "complex64", "fill_value": ["NaN", "0x80000000"], "codecs": [big()]}),
    );
    assert_eq!(all(&array), complex(f32::NAN, -0.0).repeat(2));
    array.write_bytes((), &[complex(1.0, 2.0), complex(3.0, -4.0)].concat()).unwrap();
    assert_eq!(get(&store, "b/c/0").unwrap()[..8], [1f32.to_be_bytes(), 2f32.to_be_bytes()].concat());
    assert_eq!(all(&array), [complex(1.0, 2.0), complex(3.0, -4.0)].concat());
}

#[test]
fn zp_dt_not_a_time_where_nothing_is_stored() {
    let store = memory();
    let array = v2(&store, "a", json!({"shape": [2], "chunks": [1], "dtype": "<M8[ns]", "fill_value": -9_223_372_036_854_775_808i64}));
    put(&store, "a/0", 1_577_836_800_000_000_000i64.to_le_bytes());
    assert_eq!(numbers::<8>(&all(&array)), [1_577_836_800_000_000_000, i64::MIN]);
    let array = v2(&store, "b", json!({"shape": [1], "chunks": [1], "dtype": "<m8[10s]", "fill_value": "NaT"}));
    assert_eq!(numbers::<8>(&all(&array)), [i64::MIN]);
}

#[test]
fn zrs_vx_and_zrs_vstr_missing_chunks_of_bytes_and_strings() {
    let store = memory();
    for (fill, absent) in [(Value::Null, [0, 0, 0]), (json!("AQID"), [1, 2, 3])] {
        let array = v2(&store, "a", json!({"shape": [2], "chunks": [1], "dtype": "|V3", "fill_value": fill}));
        put(&store, "a/0", [9, 8, 7]);
        assert_eq!(all(&array), [&[9, 8, 7], &absent[..]].concat());
    }
    for fill in [json!(0), Value::Null, json!("")] {
        let array =
            v2(&store, "s", json!({"shape": [3], "chunks": [2], "dtype": "|O", "fill_value": fill, "filters": [{"id": "vlen-utf8"}]}));
        put(&store, "s/0", [&[2, 0, 0, 0, 2, 0, 0, 0][..], "é".as_bytes(), &[0, 0, 0, 0]].concat());
        assert_eq!(texts(&array.read_elements(()).unwrap().1), ["é", "", ""], "{fill}");
    }
}

#[test]
fn zp_3583_and_zp_4141_records() {
    let store = memory();
    let array = v2(&store, "a", json!({"shape": [2], "chunks": [2], "dtype": [["id", "<i4"], ["pos", "<f4", [3]]], "fill_value": null}));
    let row = |id: i32, pos: [f32; 3]| [id.to_le_bytes().to_vec(), pos.iter().flat_map(|p| p.to_le_bytes()).collect()].concat();
    let rows = [row(1, [1.0, 2.0, 3.0]), row(2, [4.0, 5.0, 6.0])].concat();
    put(&store, "a/0", &rows);
    assert_eq!((array.data_type().size(), all(&array)), (Some(16), rows));
    let array = v2(&store, "b", json!({"shape": [2], "chunks": [2], "dtype": [["flux", ">f4"], ["mask", "<i4"]], "fill_value": null}));
    put(&store, "b/0", [&1f32.to_be_bytes()[..], &1i32.to_le_bytes(), &2f32.to_be_bytes(), &2i32.to_le_bytes()].concat());
    let expected = [&1f32.to_le_bytes()[..], &1i32.to_le_bytes(), &2f32.to_le_bytes(), &2i32.to_le_bytes()].concat();
    assert_eq!(all(&array), expected);
}

#[test]
fn objects_of_order_f_in_json_are_in_logical_order() {
    let store = memory();
    for (path, filter) in [("j", json!({"id": "json2"})), ("m", json!({"id": "msgpack2"}))] {
        let array = v2(
            &store,
            path,
            json!({"shape": [2, 2], "chunks": [2, 2], "dtype": "|O", "fill_value": null, "order": "F", "filters": [filter]}),
        );
        let mut values = gingham::Variable::new();
        ["1", "2", "3", "4"].iter().for_each(|t| values.push(t.as_bytes()));
        array.write_elements((), &Elements::Variable(values)).unwrap();
        assert_eq!(texts(&array.read_elements(()).unwrap().1), ["1", "2", "3", "4"]);
        assert_eq!(texts(&array.read_elements(select("0, ::-1")).unwrap().1), ["2", "1"]);
        assert_eq!(document(&store, &format!("{path}/.zarray"))["order"], "F");
    }
    assert_eq!(get(&store, "j/0.0").unwrap(), br#"[[1,2],[3,4],"|O",[2,2]]"#);
    put(&store, "j/0.0", br#"[["a","b"],["c","d"],"|O",[2,2]]"#);
    let array = Array::open(&store, "j").unwrap();
    assert_eq!(texts(&array.read_elements(()).unwrap().1), [r#""a""#, r#""b""#, r#""c""#, r#""d""#]);
}

#[test]
fn http_spa_a_page_in_place_of_a_chunk_is_no_data() {
    let store = memory();
    let page = b"<!doctype html><title>app</title>";
    for key in ["zarr.json", ".zattrs", "0.1"] {
        put(&store, &format!("a/{key}"), page);
    }
    put(&store, "a/.zarray", v2_document(json!({})).to_string());
    put(&store, "a/0.0", [1, 2, 3, 4]);
    let array = Array::open(&store, "a").unwrap();
    assert_eq!(read(&array, ":2, :2").1, [1, 2, 3, 4]);
    let error = array.read_elements(()).unwrap_err();
    assert_eq!((error.kind(), error.place().key.as_deref()), (Kind::Corrupt, Some("a/0.1")), "{error}");
}

#[test]
fn a_put_on_a_condition_is_kept() {
    let store = memory();
    put(&store, "k", [1]);
    let error = store.put("k", vec![2].into(), &Condition::Absent).unwrap_err();
    assert_eq!(error.kind, StoreErrorKind::Exists);
}
