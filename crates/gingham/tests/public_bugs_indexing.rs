//! Selections, zero-length axes and changes of shape that other readers got wrong, as reported in public. A test's name begins
//! with the report's id.
#![allow(clippy::unwrap_used)]

mod common;

use common::*;
use gingham::{Array, Elements, FillValue, Index, Kind, Selection};
use proptest::prelude::*;

/// Runs a test on a plain array, a compressed one and a sharded one of the same elements.
fn three_ways(shape: &[u64], chunk: &[u64], inner: &[u64], data_type: &str, data: &[u8], test: impl Fn(&Array)) {
    let codecs = [
        json!([little()]),
        json!([little(), {"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0}}]),
        json!([plain_shard(inner)]),
    ];
    for codecs in codecs {
        let store = memory();
        let array = v3(&store, "a", json!({"shape": shape, "chunk_grid": regular(chunk), "data_type": data_type, "codecs": codecs}));
        array.write_bytes((), data).unwrap();
        test(&array);
    }
}

#[test]
fn xr_8252_negative_steps() {
    let data = elements::<4>(0..10);
    three_ways(&[10], &[4], &[2], "int32", &data, |array| {
        for (text, expected) in
            [("::-1", (0..10).rev().collect::<Vec<i64>>()), ("7:2:-2", vec![7, 5, 3]), ("::-3", vec![9, 6, 3, 0]), ("2:7:-1", vec![])]
        {
            let (shape, bytes) = read(array, text);
            assert_eq!((shape, numbers::<4>(&bytes)), (vec![expected.len() as u64], expected), "{text}");
        }
    });
    three_ways(&[5, 4], &[2, 4], &[1, 2], "int32", &elements::<4>(0..20), |array| {
        let (shape, bytes) = read(array, "::-1, ::2");
        assert_eq!((shape, numbers::<4>(&bytes)), (vec![5, 2], vec![16, 18, 12, 14, 8, 10, 4, 6, 0, 2]));
    });
}

#[test]
fn zjava_1_first_and_last_chunk_are_read_and_none_outside() {
    let store = memory();
    let array = v3(&store, "a", json!({"shape": [1, 1, 1, 4, 4], "chunk_grid": regular(&[1, 1, 1, 2, 2])}));
    array.write_bytes((), &(1..=16).collect::<Vec<u8>>()).unwrap();
    assert_eq!(read(&array, "0, 0, 0, 0:2, 0:2").1, [1, 2, 5, 6]);
    assert_eq!(read(&array, "0, 0, 0, 2:4, 2:4").1, [11, 12, 15, 16]);
    assert_eq!(array.read_chunk(&[0, 0, 0, 1, 1]).unwrap().unwrap(), Elements::Fixed(vec![11, 12, 15, 16]));
    for outside in [&[0, 0, 0, 2, 0][..], &[1, 0, 0, 0, 0], &[0, 0]] {
        assert_eq!(array.read_chunk(outside).unwrap_err().kind(), Kind::OutOfRange, "{outside:?}");
    }
    assert_eq!(array.read_elements(select("0, 0, 0, 4, 0")).unwrap_err().kind(), Kind::OutOfRange);
}

#[test]
fn zjl_256_a_chunk_larger_than_the_array() {
    let store = memory();
    let array = v2(&store, "a", json!({"shape": [5], "chunks": [100], "dtype": "<i4"}));
    put(&store, "a/0", elements::<4>(0..100));
    assert_eq!(array.grid().chunk_counts().to_vec(), [1]);
    assert_eq!(numbers::<4>(&all(&array)), [0, 1, 2, 3, 4]);
    assert_eq!(numbers::<4>(&read(&array, "::-2").1), [4, 2, 0]);
}

#[test]
fn zp_1977_zero_length_axes() {
    let (store, counts) = counted();
    let arrays = [
        v3(&store, "v3", json!({"shape": [3, 0], "chunk_grid": regular(&[2, 1]), "data_type": "float64", "fill_value": 0.0})),
        v2(&store, "v2", json!({"shape": [3, 0], "chunks": [3, 1], "dtype": "<f8", "fill_value": 0.0})),
        v3(
            &store,
            "s",
            json!({"shape": [3, 0], "chunk_grid": regular(&[2, 2]), "data_type": "float64", "fill_value": 0.0, "codecs": [plain_shard(&[1, 2])]}),
        ),
        v3(&store, "r", json!({"shape": [3, 0], "chunk_grid": rectilinear(json!([[1, 2], 4])), "data_type": "float64", "fill_value": 0.0})),
    ];
    for mut array in arrays {
        counts.reset();
        assert_eq!(read(&array, ""), (vec![3, 0], vec![]));
        assert_eq!(read(&array, "1"), (vec![0], vec![]));
        array.write_value((), &FillValue::new(1f64.to_le_bytes())).unwrap();
        array.write_bytes((), &[]).unwrap();
        assert_eq!(counts.now(), Default::default(), "nothing is asked of the store");
        let ones = 1f64.to_le_bytes().repeat(6);
        array.append(1, &[3, 2], &Elements::Fixed(ones.clone())).unwrap();
        assert_eq!(read(&array, ""), (vec![3, 2], ones.clone()));
        assert_eq!(Array::open(&store, array.path()).unwrap().shape(), [3, 2]);
        array.append(1, &[3, 0], &Elements::Fixed(vec![])).unwrap();
        assert_eq!(read(&array, ""), (vec![3, 2], ones));
        array.resize(&[0, 2]).unwrap();
        assert_eq!(read(&array, ""), (vec![0, 2], vec![]));
        assert!(array.stored().unwrap().is_empty(), "{:?}", array.stored());
    }
}

#[test]
fn zp_2817_integers_and_lists_together() {
    three_ways(&[6, 4], &[6, 4], &[2, 2], "int32", &elements::<4>(0..24), |array| {
        assert_eq!(read(array, "5, [0, 1]"), (vec![2], elements::<4>([20, 21])));
        assert_eq!(read(array, "[0, 2], 1"), (vec![2], elements::<4>([1, 9])));
        let columns = (0..6).flat_map(|r| [r * 4 + 3, r * 4]);
        assert_eq!(read(array, ":, [3, 0]"), (vec![6, 2], elements::<4>(columns)));
        // Lists pick along their own axes; NumPy pairs them, which is what points do.
        assert_eq!(read(array, "[0, 5], [3, 0]"), (vec![2, 2], elements::<4>([3, 0, 23, 20])));
        let points = Selection::Points { coordinates: vec![vec![0, 5], vec![3, 0]], shape: [2u64].as_slice().into() };
        assert_eq!(array.read_elements(points).unwrap(), (vec![2], Elements::Fixed(elements::<4>([3, 20]))));
    });
    three_ways(&[2, 3, 2], &[2, 2, 2], &[1, 2, 1], "int32", &elements::<4>(0..12), |array| {
        assert_eq!(read(array, "0, :, [1, 0]"), (vec![3, 2], elements::<4>([1, 0, 3, 2, 5, 4])));
    });
}

#[test]
fn zp_2849_values_written_after_a_resize_come_back() {
    let store = memory();
    let mut array = v3(&store, "a", json!({"shape": [5], "chunk_grid": regular(&[4]), "data_type": "int64"}));
    array.write_bytes((), &elements::<8>(1..6)).unwrap();
    array.resize(&[9]).unwrap();
    array.write_bytes(select("5:9"), &elements::<8>(6..10)).unwrap();
    assert_eq!(numbers::<8>(&all(&array)), (1..10).collect::<Vec<_>>());
    assert_eq!(numbers::<8>(&all(&Array::open(&store, "a").unwrap())), (1..10).collect::<Vec<_>>());
}

#[test]
fn zp_2849_what_lies_in_the_overhang_is_cleared_when_the_array_grows() {
    let store = memory();
    for (path, codecs) in [("plain", json!([little()])), ("shard", json!([plain_shard(&[2])]))] {
        let mut array = v3(&store, path, json!({"shape": [8], "chunk_grid": regular(&[4]), "data_type": "int64", "codecs": codecs}));
        array.write_bytes((), &elements::<8>([1, 2, 3, 4, 5, 99, 99, 99])).unwrap();
        let document = v3_document(json!({"shape": [5], "chunk_grid": regular(&[4]), "data_type": "int64", "codecs": codecs}));
        put(&store, &format!("{path}/zarr.json"), document.to_string());
        let mut array =
            Array::open(&store, path).map(|a| std::mem::replace(&mut array, a)).and_then(|_| Array::open(&store, path)).unwrap();
        array.resize(&[9]).unwrap();
        assert_eq!(numbers::<8>(&all(&array)), [1, 2, 3, 4, 5, 0, 0, 0, 0], "{path}");
        array.resize(&[3]).unwrap();
        array.resize(&[9]).unwrap();
        assert_eq!(numbers::<8>(&all(&array)), [1, 2, 3, 0, 0, 0, 0, 0, 0], "{path}");
    }
}

#[test]
fn zp_4203_permuted_and_repeated_rows() {
    three_ways(&[3, 2], &[3, 2], &[1, 2], "uint8", &count_up(6), |array| {
        assert_eq!(read(array, "[2, 0, 1]"), (vec![3, 2], vec![4, 5, 0, 1, 2, 3]));
        assert_eq!(read(array, "[0, 0, 1]"), (vec![3, 2], vec![0, 1, 0, 1, 2, 3]));
        assert_eq!(read(array, "[2, -1, 0], [1, 0, 1]"), (vec![3, 3], vec![5, 4, 5, 5, 4, 5, 1, 0, 1]));
    });
}

#[test]
fn zrs_empty_selections_ask_for_nothing() {
    for codecs in [json!([little()]), json!([little(), "zstd"]), json!([plain_shard(&[1, 1])])] {
        let (store, counts) = counted();
        let array = v3(&store, "a", json!({"codecs": codecs}));
        array.write_bytes((), &count_up(16)).unwrap();
        counts.reset();
        for (text, shape) in [("2:2, :", [0, 4]), (":, 4:4", [4, 0]), ("3:1, ::-1", [0, 4])] {
            assert_eq!(read(&array, text), (shape.to_vec(), vec![]), "{text}");
            array.write_bytes(select(text), &[]).unwrap();
            array.write_value(select(text), &FillValue::new([9])).unwrap();
        }
        let list = Selection::Orthogonal(vec![Index::List(vec![]), Index::Slice { start: None, stop: None, step: None }]);
        assert_eq!(array.read_elements(list).unwrap().0, [0, 4]);
        let mask = Selection::Orthogonal(vec![Index::Mask(vec![false; 4]), Index::At(0)]);
        assert_eq!(array.read_elements(mask).unwrap().0, [0]);
        let points = Selection::Points { coordinates: vec![vec![], vec![]], shape: [0u64].as_slice().into() };
        assert_eq!(array.read_elements(points.clone()).unwrap(), (vec![0], Elements::Fixed(vec![])));
        array.write_bytes(points, &[]).unwrap();
        assert_eq!(counts.now(), Default::default());
    }
}

#[derive(Debug, Clone)]
enum Step {
    Resize(Vec<u64>),
    Write(Vec<u64>, u8),
    Append(usize, u64, u8),
}

fn step() -> impl Strategy<Value = Step> {
    let shape = || proptest::collection::vec(0u64..9, 2);
    prop_oneof![
        3 => shape().prop_map(Step::Resize),
        3 => (shape(), 1u8..).prop_map(|(from, value)| Step::Write(from, value)),
        1 => (0usize..2, 0u64..4, 1u8..).prop_map(|(axis, n, value)| Step::Append(axis, n, value)),
    ]
}

/// The model of an array whose shape changes: what is cut off is gone, what is new is fill.
fn reshaped(old: &[u8], from: &[u64], to: &[u64]) -> Vec<u8> {
    let at = |y: u64, x: u64| if y < from[0] && x < from[1] { old[(y * from[1] + x) as usize] } else { 0 };
    (0..to[0]).flat_map(|y| (0..to[1]).map(move |x| (y, x))).map(|(y, x)| at(y, x)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// zp-2849, zp-2849p, zjl-332b: whatever is resized, written and appended, what is read is what a plain array would hold.
    #[test]
    fn zp_2849_any_order_of_resizes_writes_and_appends(kind in 0usize..4, steps in proptest::collection::vec(step(), 1..9)) {
        let store = memory();
        let (grid, codecs) = match kind {
            0 => (regular(&[3, 2]), json!([little()])),
            1 => (regular(&[4, 4]), json!([plain_shard(&[2, 2])])),
            2 => (rectilinear(json!([[1, 2, 3], 3])), json!([{"name": "transpose", "configuration": {"order": [1, 0]}}, little()])),
            _ => (regular(&[4, 6]), json!([plain_shard(&[4, 3]), gzip()])),
        };
        let mut array = v3(&store, "a", json!({"shape": [6, 5], "chunk_grid": grid, "codecs": codecs}));
        let (mut shape, mut model) = (vec![6u64, 5], vec![0u8; 30]);
        for step in steps {
            match step {
                Step::Resize(to) => {
                    array.resize(&to).unwrap();
                    model = reshaped(&model, &shape, &to);
                    shape = to;
                }
                Step::Write(from, value) => {
                    let (y, x) = (from[0].min(shape[0]), from[1].min(shape[1]));
                    array.write_value(select(&format!("{y}:, {x}:")), &FillValue::new([value])).unwrap();
                    for (i, v) in model.iter_mut().enumerate() {
                        let i = i as u64;
                        if i / shape[1] >= y && i % shape[1] >= x {
                            *v = value;
                        }
                    }
                }
                Step::Append(axis, n, value) => {
                    let (old, mut batch) = (shape.clone(), shape.clone());
                    batch[axis] = n;
                    shape[axis] += n;
                    let count = (batch[0] * batch[1]) as usize;
                    array.append(axis, &batch, &Elements::Fixed(vec![value; count])).unwrap();
                    model = reshaped(&model, &old, &shape);
                    for (i, v) in model.iter_mut().enumerate() {
                        let i = i as u64;
                        if [i / shape[1], i % shape[1]][axis] >= old[axis] {
                            *v = value;
                        }
                    }
                }
            }
            prop_assert_eq!(read(&array, ""), (shape.clone(), model.clone()));
        }
        let reopened = Array::open(&store, "a").unwrap();
        prop_assert_eq!(read(&reopened, ""), (shape, model));
    }
}
