//! `zarr.json`.

use super::*;
use crate::codec::{BloscShuffle, Codec};
use crate::dtype::{DataType, FillValue};
use proptest::prelude::*;

fn sharding(chunk_shape: Value) -> Value {
    let little = json!({"name": "bytes", "configuration": {"endian": "little"}});
    json!([{"name": "sharding_indexed", "configuration": {"chunk_shape": chunk_shape, "codecs": [little], "index_codecs": [little, "crc32c"]}}])
}

#[test]
fn published_documents() {
    let Some(root) = shared("fixtures/zarr-metadata/packages/zarr-metadata/tests") else { return };
    let read = |path: &std::path::Path| parse_object(&std::fs::read(path).unwrap(), false).unwrap();
    let mut count = 0;
    for (folder, is_v3) in [("v3/array", true), ("v3/group", true), ("v2/array", false), ("v2/group", false)] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap().flatten() {
            let document = read(&entry.path());
            let node = match (is_v3, folder.ends_with("array")) {
                (true, _) => Node::from_v3(document.clone()),
                (false, true) => Array::from_v2(document.clone(), None).map(Node::Array),
                (false, false) => Group::from_v2(document.clone(), None).map(Node::Group),
            };
            let node = node.unwrap_or_else(|error| panic!("{}: {error:?}", entry.path().display()));
            assert_eq!(node.documents()[0].1, Value::Object(document), "{}", entry.path().display());
            count += 1;
        }
    }
    assert!(count > 15, "{count}");
    for encoding in ["default", "v2"] {
        for (_, value) in read(&root.join(format!("v3/chunk_key_encoding/{encoding}/cases.json"))) {
            v3_array(json!({"chunk_key_encoding": value}));
        }
    }
    let mut fills = 0;
    for entry in std::fs::read_dir(root.join("v3/data_type")).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let json = |file: &str| std::fs::read(entry.path().join(file)).ok().map(|bytes| serde_json::from_slice::<Value>(&bytes).unwrap());
        // `raw` has no document of its own: its fill value has one item per byte.
        let data_type = json("data_type.json").unwrap_or_else(|| json!(name));
        for (case, fill) in json("fill_values.json").unwrap().as_object().unwrap() {
            let data_type = if name == "raw" { json!(format!("r{}", 8 * fill.as_array().unwrap().len())) } else { data_type.clone() };
            let codecs = match name.as_str() {
                "string" => json!(["vlen-utf8"]),
                "bytes" => json!(["vlen-bytes"]),
                _ => json!([{"name": "bytes", "configuration": {"endian": "little"}}]),
            };
            if let Err(error) = Array::from_v3(v3_document(json!({"data_type": data_type, "fill_value": fill, "codecs": codecs}))) {
                panic!("{name} {case} {fill}: {error:?}");
            }
            fills += 1;
        }
    }
    assert!(fills > 50, "{fills}");
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let cases = [
        (json!({"zarr_format": "3"}), "/zarr_format", "must be the integer 3"),
        (json!({"zarr_format": 2}), "/zarr_format", "not 2"),
        (json!({"zarr_format": 3.0}), "/zarr_format", "not 3.0"),
        (json!({"zarr_format": "-"}), "", "\"zarr_format\""),
        (json!({"node_type": "dataset"}), "/node_type", "\"dataset\""),
        (json!({"node_type": "group"}), "/node_type", "not \"group\""),
        (json!({"shape": "-"}), "", "no member \"shape\""),
        (json!({"data_type": "-"}), "", "no member \"data_type\""),
        (json!({"chunk_grid": "-"}), "", "no member \"chunk_grid\""),
        (json!({"chunk_key_encoding": "-"}), "", "no member \"chunk_key_encoding\""),
        (json!({"fill_value": "-"}), "", "no member \"fill_value\""),
        (json!({"codecs": "-"}), "", "no member \"codecs\""),
        (json!({"shape": [-1]}), "/shape/0", "axis 0"),
        (json!({"shape": [8.0]}), "/shape/0", "8.0"),
        (json!({"shape": 8}), "/shape", "a list"),
        (json!({"shape": [8, 8]}), "/chunk_grid/configuration/chunk_shape", ""),
        (json!({"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [0]}}}), "/chunk_grid/configuration/chunk_shape/0", ""),
        (
            json!({"chunk_key_encoding": {"name": "default", "configuration": {"separator": "_"}}}),
            "/chunk_key_encoding/configuration/separator",
            "\"_\"",
        ),
        (json!({"fill_value": "1"}), "/fill_value", ""),
        (json!({"fill_value": 2147483648u32}), "/fill_value", ""),
        (json!({"codecs": []}), "/codecs", "none that turns an array into bytes"),
        (json!({"codecs": {}}), "/codecs", "must be a list"),
        (json!({"codecs": ["bytes"]}), "/codecs/0/configuration/endian", "byte order"),
        (json!({"codecs": ["crc32c", "bytes"]}), "/codecs/1", "stands behind"),
        (
            json!({"codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "gzip", "configuration": {"level": 11}}]}),
            "/codecs/1/configuration/level",
            "from 0 to 9",
        ),
        (
            json!({"codecs": [{"name": "transpose", "configuration": {"order": [1, 0]}}, {"name": "bytes", "configuration": {"endian": "little"}}]}),
            "/codecs/0/configuration/order",
            "no permutation of the 1 axes",
        ),
        (json!({"attributes": []}), "/attributes", "an object"),
        (json!({"storage_transformers": [{"name": "chunk-manifest-json"}]}), "/storage_transformers/0", "\"chunk-manifest-json\""),
        (json!({"storage_transformers": {}}), "/storage_transformers", "a list"),
        (json!({"dimension_names": ["x", "y"]}), "/dimension_names", "2 names, but the array has 1"),
        (json!({"dimension_names": [1]}), "/dimension_names/0", "not 1"),
        (json!({"dimension_names": "x"}), "/dimension_names", "a list"),
        (json!({"extra/member": 1}), "/extra~1member", "\"extra/member\""),
        (json!({"extra": {"must_understand": true}}), "/extra", "\"extra\""),
    ];
    for (changes, pointer, word) in cases {
        let error = v3_error(changes.clone());
        assert_eq!((error.document, error.pointer.as_str()), ("zarr.json", pointer), "{changes}: {}", error.what);
        assert!(error.what.contains(word), "{changes}: {}", error.what);
        assert!(error.what.len() < 300 && !error.what.is_empty());
    }
    let error = v3_error(json!({"dimension_name": ["x"]}));
    assert_eq!(error.hint.as_deref(), Some("is \"dimension_names\" meant?"));
    assert!(v3_error(json!({"storage_transformers": ["x"]})).unsupported);
    assert!(v3_error(json!({"chunk_key_encoding": "hilbert"})).unsupported);
    assert!(!v3_error(json!({"chunk_key_encoding": 1})).unsupported);
    let error = v3_error(json!({"data_type": "float32", "fill_value": null}));
    assert!(error.what.contains("the fill value is null") && error.hint.unwrap().contains("NaN"));
}

#[test]
fn what_may_be_left_out_or_null() {
    let array =
        v3_array(json!({"attributes": null, "storage_transformers": null, "dimension_names": null, "note": {"must_understand": false}}));
    assert!(array.attributes().is_empty());
    assert_eq!(array.dimension_names(), None);
    assert_eq!(array.warnings().len(), 3, "{:?}", array.warnings());
    let array = v3_array(json!({"attributes": "-", "dimension_names": ["x"], "storage_transformers": []}));
    assert_eq!(array.dimension_names(), Some(&[Some("x".to_string())][..]));
    assert!(array.warnings().is_empty());
    let array = v3_array(
        json!({"shape": [8, 8], "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 4]}}, "dimension_names": ["", ""]}),
    );
    assert_eq!(array.dimension_names().unwrap().len(), 2);
}

#[test]
fn short_hand_names_and_aliases() {
    let array = v3_array(json!({"data_type": {"name": "uint8"}, "chunk_key_encoding": "v2", "codecs": ["bytes", "crc32c"]}));
    assert_eq!(array.data_type(), &DataType::UInt8);
    assert_eq!(array.key_encoding().encode(&[1]), "1");
    let old = json!({"codecs": [{"name": "transpose", "configuration": {"order": "F"}}, {"name": "endian", "configuration": {"endian": "big"}}],
        "shape": [8, 8], "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 2]}}});
    assert_eq!(v3_array(old).codecs()[0], Codec::Transpose { order: vec![1, 0] });
    // Blosc without a typesize takes the elements' size for new chunks.
    let blosc = json!({"codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "blocksize": 0}}]});
    assert!(matches!(v3_array(blosc).codecs()[1], Codec::Blosc { typesize: 4, shuffle: BloscShuffle::Byte, .. }));
}

#[test]
fn unknown_types_and_codecs_do_not_keep_a_document_shut() {
    let array =
        v3_array(json!({"data_type": {"name": "optional", "configuration": {"name": "uint8", "configuration": {}}}, "fill_value": [null],
        "codecs": [{"name": "optional", "configuration": {"mask_codecs": ["packbits"], "data_codecs": ["bytes"]}}]}));
    let problem = array.problem().unwrap();
    assert_eq!((problem.what.as_str(), problem.pointer.as_str()), ("the data type \"optional\" is not known", "/data_type"));
    assert_eq!(array.shape().as_slice(), [8]);

    let array = v3_array(json!({"codecs": [{"name": "n5_default", "configuration": {"codecs": []}}]}));
    let problem = array.problem().unwrap();
    assert_eq!((problem.what.as_str(), problem.pointer.as_str()), ("the codec \"n5_default\" is not known", "/codecs/0"));

    // ncc-2484: a misspelt codec is named, never skipped.
    let array =
        v3_array(json!({"codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "blosk", "configuration": {}}]}));
    assert_eq!(array.problem().unwrap().what, "the codec \"blosk\" is not known");
    // What stands before it is checked all the same.
    let error = v3_error(json!({"codecs": ["bytes", "blosk"]}));
    assert_eq!(error.pointer, "/codecs/0/configuration/endian");

    let array =
        v3_array(json!({"codecs": [{"name": "note", "must_understand": false}, {"name": "bytes", "configuration": {"endian": "little"}}]}));
    assert!(array.problem().is_none());
}

/// ic-2078: a grid can never be left out.
#[test]
fn ic_2078_unknown_grids_are_named() {
    for grid in [
        json!({"name": "rectangular", "configuration": {"chunk_shape": [[4, 4]]}}),
        json!({"name": "foo"}),
        json!({"name": "foo", "must_understand": false}),
    ] {
        let error = v3_error(json!({"chunk_grid": grid}));
        assert!(error.pointer.starts_with("/chunk_grid") && error.unsupported, "{}", error.pointer);
        assert!(error.what.contains(grid["name"].as_str().unwrap()), "{}", error.what);
    }
}

/// zx-spec: edges may add up to more than the length, never to less, and counts are not expanded.
#[test]
fn zx_spec_sums_of_edges() {
    let grid = |edges: Value| json!({"shape": [6], "chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [edges]}}});
    let error = v3_error(grid(json!([3, 2])));
    assert!(error.pointer.starts_with("/chunk_grid/configuration/chunk_shapes/0"), "{}", error.pointer);
    for edges in [json!([3, 3]), json!([3, 5]), json!([3, 3, 4]), json!([[2, i64::MAX]])] {
        v3_array(grid(edges));
    }
}

#[test]
fn inner_chunks_divide_every_listed_edge() {
    let with = |edges: Value, inner: u64| {
        Array::from_v3(v3_document(
            json!({"chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [edges]}}, "codecs": sharding(json!([inner]))}),
        ))
    };
    with(json!([4, 2, 6]), 2).unwrap();
    let error = with(json!([4, 4, 3]), 2).unwrap_err();
    assert_eq!(error.pointer, "/codecs/0/configuration/chunk_shape/0");
    assert_eq!(error.what, "the inner chunk length 2 of axis 0 does not divide the shard length 3");
    assert!(with(json!(3), 2).is_err());
    assert!(with(json!([[4, 2], [3, 1_000_000_000_000u64]]), 2).is_err());
}

/// A transposed rectilinear array: the edges are permuted before the inner chunks must divide them.
#[test]
fn inner_chunks_divide_in_the_permuted_frame() {
    let with = |inner: Value| {
        let mut codecs = sharding(inner);
        codecs.as_array_mut().unwrap().insert(0, json!({"name": "transpose", "configuration": {"order": [1, 0]}}));
        let grid = json!({"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[2, 4], [3, 9]]}});
        Array::from_v3(v3_document(json!({"shape": [6, 12], "chunk_grid": grid, "codecs": codecs})))
    };
    with(json!([3, 2])).unwrap();
    assert_eq!(with(json!([2, 3])).unwrap_err().pointer, "/codecs/1/configuration/chunk_shape/0");
}

#[test]
fn many_distinct_edges_are_checked_axis_by_axis() {
    // 3 axes of 100 lengths are a million combinations.
    let edges: Vec<u64> = (1..=100).map(|i| 2 * i).collect();
    let total: u64 = edges.iter().sum();
    let mut odd = edges.clone();
    odd[57] += 1;
    let with = |last: &[u64]| {
        let grid = json!({"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [edges, edges, last]}});
        Array::from_v3(v3_document(json!({"shape": [total, total, total], "chunk_grid": grid, "codecs": sharding(json!([2, 2, 2]))})))
    };
    with(&edges).unwrap();
    assert_eq!(with(&odd).unwrap_err().pointer, "/codecs/0/configuration/chunk_shape/2");
}

/// zp-2111: only the attributes change.
#[test]
fn zp_2111_attributes_alone_change() {
    let document = v3_document(json!({
        "shape": [2, 2], "data_type": "uint8", "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1, 1]}},
        "chunk_key_encoding": {"name": "v2", "configuration": {"separator": "/"}}, "codecs": ["bytes"],
        "x_note": {"must_understand": false, "a": [1.0, 2]}, "dimension_names": ["y", null]
    }));
    let mut array = Array::from_v3(document.clone()).unwrap();
    array.set_attributes(object(json!({"k": "v"})));
    let mut expected = document;
    expected.insert("attributes".into(), json!({"k": "v"}));
    assert_eq!(array.document(), &expected);
    assert_eq!(array.document().keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    assert_eq!(array.attributes()["k"], "v");
}

#[test]
fn another_grid_edits_shape_and_grid_only() {
    let mut array = v3_array(json!({"note": {"must_understand": false}}));
    let before = array.document().clone();
    array.set_grid(array.grid().resized(&[20]).unwrap()).unwrap();
    let mut expected = before;
    expected.insert("shape".into(), json!([20]));
    assert_eq!(array.document(), &expected);
    assert_eq!(array.shape().as_slice(), [20]);

    // zjl-332b: a rectilinear axis gets an edge for the gap, and keeps its edges when it shrinks.
    let mut array = v3_array(
        json!({"shape": [6], "chunk_grid": {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[1, 2, 3]]}}}),
    );
    array.set_grid(array.grid().resized(&[10]).unwrap()).unwrap();
    assert_eq!(array.document()["chunk_grid"]["configuration"]["chunk_shapes"], json!([[1, 2, 3, 4]]));
    array.set_grid(array.grid().resized(&[4]).unwrap()).unwrap();
    assert_eq!((array.document()["shape"].clone(), array.shape()[0]), (json!([4]), 4));

    // A grid that the chain cannot take leaves the array as it was.
    let mut array = v3_array(json!({"codecs": sharding(json!([2]))}));
    let before = array.document().clone();
    assert!(array.set_grid(crate::grid::Grid::regular(&[9], &[3]).unwrap()).is_err());
    assert_eq!(array.document(), &before);
}

#[test]
fn groups() {
    let group = Group::from_v3(object(json!({"zarr_format": 3, "node_type": "group"}))).unwrap();
    assert!(group.attributes().is_empty() && group.consolidated().unwrap().is_none());
    for (document, pointer) in [
        (json!({"zarr_format": 3, "node_type": "group", "shape": []}), "/shape"),
        (json!({"zarr_format": 3, "node_type": "group", "attributes": 1}), "/attributes"),
        (json!({"zarr_format": 3}), ""),
        (json!({"node_type": "group"}), ""),
    ] {
        assert_eq!(Node::from_v3(object(document.clone())).unwrap_err().pointer, pointer, "{document}");
    }
    for bytes in [&b"[]"[..], b"", b"\xff", b"{\"zarr_format\":3,\"zarr_format\":3}"] {
        assert_eq!(Node::from_v3_bytes(bytes).unwrap_err().document, "zarr.json");
    }
}

/// zita-bigint: 64-bit fill values are exact from bytes to bytes.
#[test]
fn zita_bigint_fill_values() {
    for (data_type, number) in [("uint64", "18446744073709551615"), ("int64", "-9223372036854775808"), ("int64", "9007199254740993")] {
        let document = v3_document(json!({"data_type": data_type, "fill_value": 0}));
        let text = crate::json::to_text(&Value::Object(document)).replace("\"fill_value\": 0", &format!("\"fill_value\": {number}"));
        let Node::Array(array) = Node::from_v3_bytes(text.as_bytes()).unwrap() else { panic!() };
        assert_eq!(array.fill_value().to_v3(array.data_type()).to_string(), number);
        assert!(crate::json::to_text(&array.documents()[0].1).contains(number));
    }
    let array = v3_array(json!({"data_type": "float32", "fill_value": -0.0}));
    assert_eq!(array.fill_value(), FillValue::new((-0.0f32).to_le_bytes()));
}

/// zs-377: decimal fill values are rounded once, from their text.
#[test]
fn zs_377_fill_values_are_rounded_once() {
    let bits = |data_type: &str, number: &str| {
        let document = v3_document(json!({"data_type": data_type, "fill_value": 0}));
        let text = crate::json::to_text(&Value::Object(document)).replace("\"fill_value\": 0", &format!("\"fill_value\": {number}"));
        let Node::Array(array) = Node::from_v3_bytes(text.as_bytes()).unwrap() else { panic!() };
        array.fill_value().as_bytes().to_vec()
    };
    for (number, value) in [("16777217", 16_777_216.0f32), ("16777219", 16_777_220.0), ("1.0000000596046448", 1.000_000_1), ("1e-46", 0.0)]
    {
        assert_eq!(bits("float32", number), value.to_le_bytes(), "{number}");
    }
    assert_eq!(bits("float16", "2049"), 0x6800u16.to_le_bytes());
    // Exponents and digits that no float has are no work.
    assert_eq!(bits("float32", "1e-999999999999999999999"), 0.0f32.to_le_bytes());
    assert_eq!(bits("float64", &format!("0.{}1", "0".repeat(1_000_000))), 0.0f64.to_le_bytes());
}

/// zp-3586: junk strings are no floats.
#[test]
fn zp_3586_junk_fill_values() {
    for fill in [json!("nan"), json!("inf"), json!("abc"), json!(""), json!("1.0"), json!(true), json!(null), json!([])] {
        let error = v3_error(json!({"data_type": "float32", "fill_value": fill}));
        assert!(error.pointer.starts_with("/fill_value"), "{fill}: {}", error.pointer);
    }
}

#[test]
fn struct_fill_that_lacks_a_field_is_told() {
    let data_type =
        json!({"name": "struct", "configuration": {"fields": [{"name": "a", "data_type": "int32"}, {"name": "b", "data_type": "uint8"}]}});
    let array = v3_array(json!({"data_type": data_type, "fill_value": {"a": 1}}));
    assert!(array.warnings()[0].contains("lacks the field \"b\""), "{:?}", array.warnings());
    let legacy = json!({"name": "structured", "configuration": {"fields": [["x", "float32"], ["y", "int16"]]}});
    let array = v3_array(json!({"data_type": legacy, "fill_value": "AAAAAAAA", "codecs": ["bytes"]}));
    assert!(array.warnings()[0].contains("taken as little"), "{:?}", array.warnings());
    assert!(array.problem().is_none());
}

#[test]
fn nesting_is_bounded() {
    let mut codecs = json!([{"name": "bytes", "configuration": {"endian": "little"}}]);
    for _ in 0..30 {
        codecs = json!([{"name": "sharding_indexed", "configuration": {"chunk_shape": [4], "codecs": codecs, "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}]}}]);
    }
    let text = crate::json::to_text(&Value::Object(v3_document(json!({"codecs": codecs}))));
    assert!(Node::from_v3_bytes(text.as_bytes()).is_ok());
    let mut encoding = json!("v2");
    for _ in 0..70 {
        encoding = json!({"name": "prefix", "configuration": {"prefix": "a/", "base_encoding": encoding}});
    }
    let text = crate::json::to_text(&Value::Object(v3_document(json!({"chunk_key_encoding": encoding}))));
    assert!(Node::from_v3_bytes(text.as_bytes()).unwrap_err().what.contains("nest"));
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        Just(json!(true)),
        any::<i32>().prop_map(Value::from),
        Just(json!(u64::MAX)),
        Just(json!(0)),
        Just(json!(1.5)),
        prop_oneof![Just("bytes"), Just("int32"), Just("regular"), Just("NaN"), Just("c"), Just("sharding_indexed"), Just("")]
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let key = prop_oneof![
            Just("name"),
            Just("configuration"),
            Just("chunk_shape"),
            Just("endian"),
            Just("kind"),
            Just("codecs"),
            Just("id"),
            Just("dtype")
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            prop::collection::vec((key.prop_map(String::from), inner), 0..3).prop_map(|m| Value::Object(m.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_member_may_be_anything(
        key in prop_oneof![Just("shape"), Just("data_type"), Just("chunk_grid"), Just("chunk_key_encoding"), Just("fill_value"), Just("codecs"), Just("attributes"), Just("dimension_names"), Just("storage_transformers"), Just("zarr_format"), Just("node_type")],
        value in any_value(),
    ) {
        let mut document = v3_document(json!({}));
        document.insert(key.into(), value);
        if let Err(error) = Array::from_v3(document) {
            prop_assert!(!error.what.is_empty());
        }
    }

    #[test]
    fn any_v2_member_may_be_anything(
        key in prop_oneof![Just("shape"), Just("chunks"), Just("dtype"), Just("fill_value"), Just("order"), Just("filters"), Just("compressor"), Just("dimension_separator")],
        value in any_value(),
    ) {
        let mut document = v2_document(json!({}));
        document.insert(key.into(), value);
        if let Err(error) = Array::from_v2(document, None) {
            prop_assert!(!error.what.is_empty());
        }
    }
}
