//! Documents, hierarchies and consolidated metadata that other tools got wrong, as reported in public, seen through the engine.
//! A test's name begins with the report's id.
#![allow(clippy::unwrap_used)]

mod common;

use common::*;
use gingham::core::dtype::Float;
use gingham::core::json::Map;
use gingham::{Array, Consolidated, DataType, FillValue, Format, Grid, Group, NewArray, Node, Options, Store};

fn names(group: &Group) -> Vec<String> {
    group.walk().unwrap().into_iter().map(|e| e.relative).collect()
}

fn required() -> Options {
    Options { consolidated: Consolidated::Require, ..Options::default() }
}

fn attributes(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn byte_array(store: &Store, path: &str, format: Format) -> Array {
    let new = NewArray { format, ..NewArray::new(DataType::UInt8, Grid::regular(&[2], &[2]).unwrap()) };
    let array = Array::create(store, path, new).unwrap();
    array.write_bytes((), &[1, 2]).unwrap();
    array
}

#[test]
fn dask_7673_keys_with_slashes_in_v2() {
    let store = memory();
    let array = v2(&store, "a", json!({"dimension_separator": "/"}));
    for (i, chunk) in [[0, 1, 0, 1], [2, 3, 2, 3], [0, 1, 0, 1], [2, 3, 2, 3]].iter().enumerate() {
        put(&store, &format!("a/{}/{}", i / 2, i % 2), chunk);
    }
    assert_eq!(all(&array), [0, 1, 2, 3].repeat(4));
    assert_eq!(array.stored().unwrap().iter().filter_map(|(_, chunk, _)| chunk.clone()).count(), 4);
}

#[test]
fn n5z_14_a_separator_that_the_document_does_not_say() {
    let store = memory();
    v2(&store, "a", json!({}));
    for i in 0..4u8 {
        put(&store, &format!("a/{}/{}", i / 2, i % 2), [i; 4]);
    }
    let array = Array::open(&store, "a").unwrap();
    assert_eq!(all(&array), [0; 16], "the default is the dot");
    let found: Vec<_> = array.stored().unwrap().into_iter().map(|(_, chunk, _)| chunk).collect();
    assert_eq!(found, vec![None; 4], "what lies there is shown to be no chunk");
    let array = Array::open_with(&store, "a", &Options { separator: Some('/'), ..Options::default() }).unwrap();
    assert_eq!(all(&array), [0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3]);
    assert_eq!(array.stored().unwrap().iter().filter(|(_, chunk, _)| chunk.is_some()).count(), 4);
}

#[test]
fn vz_1069_and_zp_2029_spellings_of_the_key_encoding() {
    for (encoding, keys) in [
        (json!({"name": "default", "configuration": {"separator": "."}}), ["c.0.0", "c.0.1", "c.1.0", "c.1.1"]),
        (json!({"name": "default"}), ["c/0/0", "c/0/1", "c/1/0", "c/1/1"]),
        (json!({"name": "v2"}), ["0.0", "0.1", "1.0", "1.1"]),
        (json!({"name": "v2", "configuration": {"separator": "/"}}), ["0/0", "0/1", "1/0", "1/1"]),
        (json!("default"), ["c/0/0", "c/0/1", "c/1/0", "c/1/1"]),
    ] {
        let store = memory();
        let array = v3(&store, "a", json!({"shape": [2, 2], "chunk_grid": regular(&[1, 1]), "chunk_key_encoding": encoding}));
        for (i, key) in keys.iter().enumerate() {
            put(&store, &format!("a/{key}"), [i as u8 + 1]);
        }
        assert_eq!(all(&array), [1, 2, 3, 4], "{encoding}");
        let stored: Vec<String> =
            array.stored().unwrap().into_iter().filter(|(_, chunk, _)| chunk.is_some()).map(|(key, ..)| key).collect();
        assert_eq!(stored, keys, "{encoding}");
    }
}

#[test]
fn vz_834_scalars() {
    let store = memory();
    let v3_scalar =
        |encoding: Value| json!({"shape": [], "chunk_grid": regular(&[]), "data_type": "int64", "chunk_key_encoding": encoding});
    let arrays = [
        (v2(&store, "a", json!({"shape": [], "chunks": [], "dtype": "<i8"})), "a/0"),
        (v3(&store, "b", v3_scalar(json!({"name": "default"}))), "b/c"),
        (v3(&store, "d", v3_scalar(json!({"name": "v2"}))), "d/0"),
    ];
    for (array, key) in arrays {
        assert_eq!(read(&array, ""), (vec![], vec![0; 8]));
        put(&store, key, 42i64.to_le_bytes());
        assert_eq!(read(&array, ""), (vec![], 42i64.to_le_bytes().to_vec()), "{key}");
        let value: ndarray::Array0<i64> = array.read(()).unwrap();
        assert_eq!(value.into_scalar(), 42);
        array.write_bytes((), &7i64.to_le_bytes()).unwrap();
        assert_eq!(get(&store, key).unwrap(), 7i64.to_le_bytes());
        assert_eq!(array.stored().unwrap()[0].1, Some(vec![]));
    }
}

#[test]
fn xr_10064_the_fill_that_was_asked_for() {
    let store = memory();
    let new = NewArray {
        fill_value: Some(FillValue::new(f32::NAN.to_le_bytes())),
        ..NewArray::new(DataType::Float(Float::F32), Grid::regular(&[4, 3], &[2, 3]).unwrap())
    };
    let array = Array::create(&store, "a", new).unwrap();
    array.write(select("0:2"), &ndarray::Array2::from_elem((2, 3), 1f32)).unwrap();
    assert_eq!(document(&store, "a/zarr.json")["fill_value"], "NaN");
    let got: ndarray::Array2<f32> = Array::open(&store, "a").unwrap().read(select("2:4")).unwrap();
    assert!(got.iter().all(|v| v.is_nan()) && got.dim() == (2, 3));
}

#[test]
fn zp_2741_fill_values_that_are_no_numbers_in_v2() {
    let store = memory();
    for (value, text) in [(f64::NAN, "NaN"), (f64::INFINITY, "Infinity"), (f64::NEG_INFINITY, "-Infinity")] {
        let new = |data_type, fill: Vec<u8>| NewArray {
            format: Format::V2,
            fill_value: Some(FillValue::new(fill)),
            overwrite: true,
            codecs: Some(vec![]),
            ..NewArray::new(data_type, Grid::regular(&[3], &[3]).unwrap())
        };
        let bits = value.to_le_bytes().to_vec();
        Array::create(&store, "a", new(DataType::Float(Float::F64), bits.clone())).unwrap();
        assert_eq!(document(&store, "a/.zarray")["fill_value"], text);
        assert_eq!(all(&Array::open(&store, "a").unwrap()), bits.repeat(3));
        let pair = [f64::NAN.to_le_bytes(), value.to_le_bytes()].concat();
        Array::create(&store, "c", new(DataType::Complex(Float::F64), pair.clone())).unwrap();
        assert_eq!(document(&store, "c/.zarray")["fill_value"], json!(["NaN", text]));
        assert_eq!(all(&Array::open(&store, "c").unwrap()), pair.repeat(3));
    }
}

#[test]
fn zjl_146_no_fill_and_missing_chunks() {
    let store = memory();
    let array = v2(&store, "a", json!({"fill_value": null}));
    put(&store, "a/0.0", [1, 2, 3, 4]);
    put(&store, "a/1.1", [5, 6, 7, 8]);
    assert_eq!(all(&array), [1, 2, 0, 0, 3, 4, 0, 0, 0, 0, 5, 6, 0, 0, 7, 8]);
    let strict = Array::open_with(&store, "a", &Options { missing: gingham::Missing::Error, ..Options::default() }).unwrap();
    let error = strict.read_elements(()).unwrap_err();
    assert!(error.to_string().contains("is not stored"), "{error}");
    assert_eq!(read(&strict, ":2, :2").1, [1, 2, 3, 4]);
}

#[test]
fn zp_1533_a_resize_keeps_the_separator() {
    let store = memory();
    let mut array = v2(&store, "a", json!({"dtype": "<f8", "dimension_separator": "/", "fill_value": 0.0}));
    let ones = 1f64.to_le_bytes();
    array.write_bytes((), &ones.repeat(16)).unwrap();
    array.resize(&[4, 8]).unwrap();
    let zarray = document(&store, "a/.zarray");
    assert_eq!((&zarray["dimension_separator"], &zarray["shape"]), (&json!("/"), &json!([4, 8])));
    let array = Array::open(&store, "a").unwrap();
    assert_eq!(read(&array, ":, :4").1, ones.repeat(16));
    assert_eq!(read(&array, ":, 4:").1, vec![0; 128]);
}

#[test]
fn zp_2111_attributes_change_alone() {
    let store = memory();
    let members = json!({
        "shape": [2, 2], "chunk_grid": regular(&[1, 1]), "chunk_key_encoding": {"name": "v2", "configuration": {"separator": "/"}},
        "dimension_names": ["y", null], "extra": {"must_understand": false, "x": 1}
    });
    let mut array = v3(&store, "a", members);
    array.write_bytes((), &[1, 2, 3, 4]).unwrap();
    let mut before = document(&store, "a/zarr.json");
    array.set_attributes(attributes(json!({"k": "v"}))).unwrap();
    before["attributes"] = json!({"k": "v"});
    assert_eq!(document(&store, "a/zarr.json"), before);
    assert_eq!(all(&Array::open(&store, "a").unwrap()), [1, 2, 3, 4]);
}

#[test]
fn zp_3447_what_is_written_carries_integers_for_integers() {
    let store = memory();
    let mut array = v2(&store, "a", json!({"fill_value": 0.0}));
    array.write_bytes((), &count_up(16)).unwrap();
    array.set_attributes(attributes(json!({"k": 1}))).unwrap();
    array.resize(&[4, 5]).unwrap();
    assert_eq!(get(&store, "a/.zarray").map(|t| String::from_utf8(t).unwrap().contains("0.0")), Some(false));
    assert_eq!(document(&store, "a/.zattrs"), json!({"k": 1}));
    assert_eq!(read(&Array::open(&store, "a").unwrap(), ":, :4").1, count_up(16));
}

#[test]
fn zp_412_bare_numbers_in_attributes() {
    let store = memory();
    put(&store, "a/.zattrs", br#"{"att1": NaN, "missing_value": -Infinity}"#);
    let mut array = v2(&store, "a", json!({"shape": [2], "chunks": [2], "dtype": "<i4"}));
    put(&store, "a/0", elements::<4>([7, 8]));
    assert_eq!(numbers::<4>(&all(&array)), [7, 8]);
    let mut attributes = array.meta().attributes().clone();
    attributes.insert("more".into(), json!(1));
    array.set_attributes(attributes).unwrap();
    assert_eq!(document(&store, "a/.zattrs"), json!({"att1": "NaN", "missing_value": "-Infinity", "more": 1}));
}

#[test]
fn ic_962_new_members_are_seen_whatever_a_block_says() {
    for format in [Format::V3, Format::V2] {
        let store = memory();
        let mut root = Group::create(&store, "", format, Map::new()).unwrap();
        byte_array(&store, "a", format);
        root.consolidate().unwrap();
        byte_array(&store, "b", format);
        assert_eq!(names(&Group::open(&store, "").unwrap()), ["", "a", "b"]);
        // The tool's own writers bring the block up to date.
        assert_eq!(names(&Group::open_with(&store, "", &required()).unwrap()), ["", "a", "b"]);
        // What others add is seen by listing, and the disagreement is told.
        let copy = if format == Format::V3 { ["zarr.json", "c/0"] } else { [".zarray", "0"] };
        for name in copy {
            put(&store, &format!("new/{name}"), get(&store, &format!("b/{name}")).unwrap());
        }
        let root = Group::open(&store, "").unwrap();
        assert_eq!(names(&root), ["", "a", "b", "new"]);
        let stale = root.stale_consolidated().unwrap();
        assert!(stale.len() == 1 && stale[0].contains("/new is not in the consolidated metadata"), "{stale:?}");
    }
}

#[test]
fn ic_962_a_new_group_and_new_attributes_are_in_the_block() {
    for format in [Format::V3, Format::V2] {
        let store = memory();
        let mut root = Group::create(&store, "", format, Map::new()).unwrap();
        let mut array = byte_array(&store, "g/a", format);
        root.consolidate().unwrap();
        Group::create(&store, "g/h", format, Map::new()).unwrap();
        array.set_attributes(attributes(json!({"k": 1}))).unwrap();
        array.resize(&[3]).unwrap();
        let root = Group::open_with(&store, "", &required()).unwrap();
        assert_eq!(names(&root), ["", "g", "g/a", "g/h"]);
        assert!(root.stale_consolidated().unwrap().is_empty(), "{:?}", root.stale_consolidated());
        let found = root.walk().unwrap().into_iter().find(|e| e.relative == "g/a").unwrap();
        let Ok(Node::Array(found)) = found.node else { panic!("an array") };
        assert_eq!((found.shape(), &found.meta().attributes()["k"]), (vec![3], &json!(1)));
        array.erase().unwrap();
        let stale = Group::open(&store, "").unwrap().stale_consolidated().unwrap();
        assert!(stale.is_empty() || stale[0].contains("consolidated metadata only"), "{stale:?}");
    }
}

#[test]
fn zp_2921_consolidating_again_trusts_no_block_below() {
    let store = memory();
    let mut root = Group::create(&store, "", Format::V3, Map::new()).unwrap();
    let mut foo = Group::create(&store, "foo", Format::V3, Map::new()).unwrap();
    foo.consolidate().unwrap();
    // Added by someone who does not know of the block.
    put(&store, "foo/bar/zarr.json", json!({"zarr_format": 3, "node_type": "group"}).to_string());
    v3(&store, "foo/bar/spam", json!({}));
    root.consolidate().unwrap();
    assert_eq!(names(&Group::open_with(&store, "", &required()).unwrap()), ["", "foo", "foo/bar", "foo/bar/spam"]);
    assert_eq!(names(&Group::open(&store, "foo").unwrap()), ["", "bar", "bar/spam"]);
}

#[test]
fn zp_2990_a_block_says_what_the_documents_say() {
    let store = memory();
    let mut root = Group::create(&store, "", Format::V2, Map::new()).unwrap();
    v2(&store, "time", json!({"shape": [12], "chunks": [12], "dtype": "<f8", "fill_value": "NaN"}));
    root.consolidate().unwrap();
    assert_eq!(document(&store, ".zmetadata")["metadata"]["time/.zarray"], document(&store, "time/.zarray"));
    let store = memory();
    let mut root = Group::create(&store, "", Format::V3, Map::new()).unwrap();
    v3(&store, "time", json!({"data_type": "float64", "fill_value": "NaN"}));
    root.consolidate().unwrap();
    assert_eq!(document(&store, "zarr.json")["consolidated_metadata"]["metadata"]["time"], document(&store, "time/zarr.json"));
}

#[test]
fn zp_3954_a_group_without_members_in_a_block() {
    let (store, counts) = counted();
    let zmetadata = json!({"zarr_consolidated_format": 1, "metadata": {
        ".zgroup": {"zarr_format": 2}, "g/.zgroup": {"zarr_format": 2}, "a/.zarray": v2_document(json!({}))
    }});
    put(&store, ".zmetadata", zmetadata.to_string());
    put(&store, ".zgroup", json!({"zarr_format": 2}).to_string());
    counts.reset();
    let root = Group::open_with(&store, "", &required()).unwrap();
    assert_eq!(names(&root), ["", "a", "g"]);
    let g = root.walk().unwrap().into_iter().find(|e| e.relative == "g").unwrap();
    assert!(matches!(g.node, Ok(Node::Group(_))));
    assert_eq!(counts.now().lists, 0, "the block is enough");
}

#[test]
fn zrs_cmnull_blocks_that_are_null_or_of_another_kind() {
    let group =
        |block: Value| json!({"zarr_format": 3, "node_type": "group", "attributes": {}, "consolidated_metadata": block}).to_string();
    for block in [
        Value::Null,
        json!({"kind": "inline", "must_understand": false, "metadata": {}}),
        json!({"kind": "other", "must_understand": false}),
    ] {
        let store = memory();
        put(&store, "zarr.json", group(block.clone()));
        v3(&store, "a", json!({}));
        let mut root = Group::open(&store, "").unwrap();
        assert_eq!(names(&root), ["", "a"], "{block}");
        root.set_attributes(attributes(json!({"k": 1}))).unwrap();
        let after = document(&store, "zarr.json");
        assert_eq!(after["attributes"], json!({"k": 1}));
        assert!(!after.as_object().unwrap().get("consolidated_metadata").is_some_and(Value::is_null), "a null is not written again");
    }
}

#[test]
fn zrs_bool_and_zrs_filters_as_they_are_read() {
    let store = memory();
    for (fill, value) in [(json!(true), 1), (json!(1), 1), (json!(false), 0), (json!(0), 0), (Value::Null, 0)] {
        let array = v2(&store, "a", json!({"shape": [2], "chunks": [2], "dtype": "|b1", "fill_value": fill, "filters": []}));
        assert_eq!(all(&array), [value; 2]);
    }
    put(&store, "b/.zarray", v2_document(json!({"shape": [2], "chunks": [2], "dtype": "|b1", "fill_value": "true"})).to_string());
    assert!(Array::open(&store, "b").is_err());
}

#[test]
fn ic_2078_a_grid_that_is_not_known_is_never_ignored() {
    let store = memory();
    for (grid, name) in
        [(json!({"name": "rectangular", "configuration": {}}), "rectangular"), (json!({"name": "foo", "must_understand": false}), "foo")]
    {
        put(&store, "a/zarr.json", v3_document(json!({"chunk_grid": grid})).to_string());
        let error = Array::open(&store, "a").and_then(|a| a.read_elements(())).unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
        assert!(error.place().pointer.as_deref().is_some_and(|p| p.starts_with("/chunk_grid")), "{error:?}");
    }
}
