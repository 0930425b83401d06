//! New documents.

use super::*;
use crate::codec::{Codec, chain_from_v3};
use crate::dtype::{DataType, FillValue, Float};
use crate::grid::{Grid, grid_from_v3};
use crate::key::KeyEncoding;

fn new(format: Format, data_type: DataType, codecs: Value) -> New {
    New {
        format,
        data_type,
        grid: Grid::regular(&[4, 3], &[2, 3]).unwrap(),
        fill_value: None,
        codecs: chain_from_v3(&codecs).unwrap(),
        key_encoding: None,
        dimension_names: None,
        attributes: Map::new(),
    }
}

fn little() -> Value {
    json!({"name": "bytes", "configuration": {"endian": "little"}})
}

fn create_v2(data_type: DataType, codecs: Value) -> Array {
    Array::create(new(Format::V2, data_type, codecs)).unwrap_or_else(|error| panic!("{error:?}"))
}

fn refuse(new: New) -> MetaError {
    Array::create(new).unwrap_err()
}

/// xr-10064: the fill value that was asked for is the one that is written.
#[test]
fn xr_10064_v3_members_in_order() {
    let fill_value = Some(FillValue::new(f32::NAN.to_le_bytes()));
    let named = Some(vec![Some("y".to_string()), None]);
    let array =
        Array::create(New { fill_value, dimension_names: named, ..new(Format::V3, DataType::Float(Float::F32), json!([little()])) })
            .unwrap();
    assert_eq!(array.document()["fill_value"], "NaN");
    let members: Vec<&str> = array.document().keys().map(String::as_str).collect();
    let expected = "shape data_type chunk_grid chunk_key_encoding fill_value codecs attributes dimension_names zarr_format node_type storage_transformers";
    assert_eq!(members.join(" "), expected);
    let text = crate::json::to_text(&array.documents()[0].1);
    assert!(text.starts_with("{\n  \"shape\": [\n    4,\n    3\n  ],\n  \"data_type\": \"float32\","), "{text}");
    let unnamed =
        Array::create(New { dimension_names: Some(vec![None, None]), ..new(Format::V3, DataType::Bool, json!(["bytes"])) }).unwrap();
    assert!(!unnamed.document().contains_key("dimension_names"));
}

#[test]
fn v2_members_in_order() {
    let array = Array::create(New {
        dimension_names: Some(vec![Some("y".into()), Some("x".into())]),
        ..new(Format::V2, DataType::Int16, json!([little(), "zstd"]))
    })
    .unwrap();
    let members: Vec<&str> = array.document().keys().map(String::as_str).collect();
    assert_eq!(members.join(" "), "shape chunks dtype fill_value order filters dimension_separator compressor zarr_format");
    assert_eq!(array.document()["compressor"], json!({"id": "zstd", "level": 0}));
    assert_eq!(array.documents()[1], (".zattrs", json!({"_ARRAY_DIMENSIONS": ["y", "x"]})));
    let partly =
        Array::create(New { dimension_names: Some(vec![Some("y".into()), None]), ..new(Format::V2, DataType::Int16, json!([little()])) })
            .unwrap();
    assert_eq!((partly.documents().len(), partly.warnings().len()), (1, 1));
}

/// zp-2741: NaN and infinities are strings in v2 too.
#[test]
fn zp_2741_v2_fill_values_are_strict() {
    for (value, text) in [(f64::NAN, "NaN"), (f64::INFINITY, "Infinity"), (f64::NEG_INFINITY, "-Infinity")] {
        let fill_value = Some(FillValue::new(value.to_le_bytes()));
        let array = Array::create(New { fill_value, ..new(Format::V2, DataType::Float(Float::F64), json!([little()])) }).unwrap();
        assert_eq!(array.document()["fill_value"], text);
        let bytes = crate::json::to_text(&array.documents()[0].1);
        assert!(parse_object(bytes.as_bytes(), false).is_ok());
        let complex = FillValue::new([value.to_le_bytes(), f64::INFINITY.to_le_bytes()].concat());
        let array =
            Array::create(New { fill_value: Some(complex), ..new(Format::V2, DataType::Complex(Float::F64), json!([little()])) }).unwrap();
        assert_eq!(array.document()["fill_value"], json!([text, "Infinity"]));
    }
}

#[test]
fn v2_chains() {
    let transpose = json!({"name": "transpose", "configuration": {"order": [1, 0]}});
    let big = json!({"name": "bytes", "configuration": {"endian": "big"}});
    let delta = json!({"name": "numcodecs.delta", "configuration": {"dtype": "<i4", "astype": "<i2"}});
    let array = create_v2(DataType::Int32, json!([transpose, delta, big, "crc32c", {"name": "gzip", "configuration": {"level": 1}}]));
    let document = array.document();
    assert_eq!((document["order"].as_str(), document["dtype"].as_str()), (Some("F"), Some(">i4")));
    // The filters carry the byte order in which their numbers are stored.
    assert_eq!(document["filters"], json!([{"id": "delta", "dtype": ">i4", "astype": ">i2"}, {"id": "crc32c"}]));
    assert_eq!(document["compressor"], json!({"id": "gzip", "level": 1}));
    let array = create_v2(DataType::String, json!(["vlen-utf8", {"name": "numcodecs.zlib", "configuration": {"level": 1}}]));
    assert_eq!((&array.document()["dtype"], &array.document()["filters"]), (&json!("|O"), &json!([{"id": "vlen-utf8"}])));
    let array = create_v2(DataType::Int32, json!([little(), "zstd", "crc32c"]));
    assert_eq!((array.document()["filters"].as_array().unwrap().len(), &array.document()["compressor"]), (2, &Value::Null));
    let array = create_v2(DataType::Int32, json!([{"name": "numcodecs.pcodec", "configuration": {}}]));
    assert_eq!((array.codecs().len(), array.document()["compressor"]["id"].as_str()), (1, Some("pcodec")));
    // zrs-filters: no filter is null.
    assert_eq!(create_v2(DataType::UInt8, json!(["bytes"])).document()["filters"], Value::Null);

    for (codecs, word) in [
        (json!([{"name": "transpose", "configuration": {"order": [0, 1]}}, little()]), "reverse the axes"),
        (json!([{"name": "cast_value", "configuration": {"data_type": "int16"}}, little()]), "cast_value"),
        (
            json!([{"name": "sharding_indexed", "configuration": {"chunk_shape": [2, 3], "codecs": [little()], "index_codecs": [little()]}}]),
            "sharding_indexed",
        ),
        (json!([{"name": "numcodecs.pcodec", "configuration": {}}, "crc32c"]), "no place behind it"),
    ] {
        let error = refuse(new(Format::V2, DataType::Int32, codecs.clone()));
        assert!(error.what.contains(word), "{codecs}: {}", error.what);
    }
}

/// zjl-332c: v2 has regular chunks only.
#[test]
fn zjl_332c_rectilinear_in_v2() {
    let json = json!({"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[1, 2, 3], 3]}});
    let grid = grid_from_v3(&json, &[6, 3]).unwrap();
    let error = refuse(New { grid: grid.clone(), ..new(Format::V2, DataType::UInt8, json!(["bytes"])) });
    assert_eq!(error.what, "v2 has regular chunks only, but this grid is rectilinear");
    let mut array = create_v2(DataType::UInt8, json!(["bytes"]));
    assert!(array.set_grid(grid.clone()).is_err());
    // zp-4272: in v3 it stays what it is.
    let array = Array::create(New { grid, ..new(Format::V3, DataType::UInt8, json!(["bytes"])) }).unwrap();
    assert_eq!(array.document()["chunk_grid"], json);
}

#[test]
fn what_cannot_be_created() {
    let error = refuse(new(Format::V3, DataType::Int32, json!(["bytes"])));
    assert_eq!(error.pointer, "/codecs/0/configuration/endian");
    let error = refuse(new(Format::V3, DataType::Int32, json!([little(), "jpegxl"])));
    assert!(error.unsupported && error.what.contains("jpegxl"));
    let error = refuse(new(Format::V2, DataType::Int4, json!(["bytes"])));
    assert_eq!(error.pointer, "/dtype");
    let error =
        refuse(New { key_encoding: Some(KeyEncoding::Default { separator: '/' }), ..new(Format::V2, DataType::UInt8, json!(["bytes"])) });
    assert_eq!(error.pointer, "/dimension_separator");
    let error = refuse(New { dimension_names: Some(vec![Some("x".into())]), ..new(Format::V3, DataType::UInt8, json!(["bytes"])) });
    assert_eq!(error.pointer, "/dimension_names");
    let unknown = DataType::Unknown { name: "optional".into(), configuration: None };
    assert!(Array::create(New { codecs: vec![Codec::Squeeze], ..new(Format::V3, unknown, json!(["bytes"])) }).is_err());
}

#[test]
fn new_groups() {
    let group = Group::create(Format::V3, object(json!({"a": 1})));
    assert_eq!(group.documents(), [("zarr.json", json!({"attributes": {"a": 1}, "zarr_format": 3, "node_type": "group"}))]);
    assert!(Group::from_v3(group.document().clone()).is_ok());
    assert_eq!(Group::create(Format::V2, Map::new()).documents(), [(".zgroup", json!({"zarr_format": 2}))]);
    assert_eq!(Group::create(Format::V2, object(json!({"a": 1}))).documents().len(), 2);
}
