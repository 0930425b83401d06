//! `.zarray`, `.zattrs`, and their v3 twins.

use super::*;
use crate::codec::{BloscShuffle, ByteOrder, Codec};
use crate::dtype::{DataType, Endian, FillValue};

fn names(array: &Array) -> Vec<&str> {
    array.codecs().iter().map(Codec::name).collect()
}

fn objects(filters: Value) -> Array {
    v2_array(json!({"dtype": "|O", "fill_value": null, "filters": filters}))
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let cases = [
        (json!({"zarr_format": 3}), "/zarr_format", "must be the integer 2"),
        (json!({"zarr_format": "-"}), "", "\"zarr_format\""),
        (json!({"shape": "-"}), "", "no member \"shape\""),
        (json!({"chunks": "-"}), "", "no member \"chunks\""),
        (json!({"dtype": "-"}), "", "no member \"dtype\""),
        (json!({"order": "-"}), "", "no member \"order\""),
        (json!({"order": "A"}), "/order", "\"C\" or \"F\", not \"A\""),
        (json!({"chunks": [2]}), "/chunks", "1 lengths, but the array has 2 axes"),
        (json!({"chunks": [2, -2]}), "/chunks/1", "axis 1"),
        (json!({"chunks": [2, 0]}), "/chunks/1", ""),
        (json!({"chunks": false}), "/chunks", "a list"),
        (json!({"dtype": "|i4"}), "/dtype", ""),
        (json!({"dtype": 4}), "/dtype", ""),
        (json!({"dimension_separator": "-/"}), "/dimension_separator", "not \"-/\""),
        (json!({"fill_value": "x"}), "/fill_value", ""),
        (json!({"filters": {"id": "delta"}}), "/filters", "null or a list"),
        (json!({"filters": [{"id": "delta"}]}), "/filters/0", "needs \"dtype\""),
        (json!({"filters": [{"id": "delta", "dtype": "<i2"}]}), "/filters/0/dtype", "int16"),
        (json!({"compressor": {"id": "zlib", "level": 99}}), "/compressor/level", "from -1 to 9"),
        (json!({"compressor": {"id": "blosc", "typo": 1}}), "/compressor/typo", "no parameter \"typo\""),
        (json!({"compressor": "zlib"}), "/compressor", "an object with an id"),
        (json!({"compressor": {"id": "zfpy"}, "dtype": "<i2"}), "/compressor", "zfpy"),
    ];
    for (changes, pointer, word) in cases {
        let error = v2_error(changes.clone());
        assert_eq!((error.document, error.pointer.as_str()), (".zarray", pointer), "{changes}: {}", error.what);
        assert!(error.what.contains(word), "{changes}: {}", error.what);
    }
    let error = Array::from_v2_bytes(b"{\"a\":}", None).unwrap_err();
    assert_eq!((error.document, error.pointer.as_str()), (".zarray", ""));
    assert_eq!(Group::from_v2_bytes(b"{}", None).unwrap_err().document, ".zgroup");
}

#[test]
fn chains_of_section_6_3() {
    assert_eq!(names(&v2_array(json!({}))), ["bytes"]);
    let f = v2_array(json!({"order": "F", "compressor": {"id": "zstd", "level": 3}}));
    assert_eq!(f.codecs()[0], Codec::Transpose { order: vec![1, 0] });
    assert_eq!(names(&f), ["transpose", "bytes", "zstd"]);
    let one_axis = v2_array(json!({"order": "F", "shape": [4], "chunks": [2]}));
    assert_eq!(names(&one_axis), ["bytes"]);

    let array = v2_array(
        json!({"filters": [{"id": "delta", "dtype": "<i4"}, {"id": "shuffle", "elementsize": 4}], "compressor": {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": -1, "blocksize": 0}}),
    );
    assert_eq!(names(&array), ["numcodecs.delta", "bytes", "numcodecs.shuffle", "blosc"]);
    // Blosc sees bytes behind a byte filter, so its automatic shuffle is by bit.
    assert!(matches!(array.codecs()[3], Codec::Blosc { shuffle: BloscShuffle::Bit, typesize: 1, .. }));
    let array = v2_array(json!({"compressor": {"id": "blosc", "shuffle": -1}}));
    assert!(matches!(array.codecs()[1], Codec::Blosc { shuffle: BloscShuffle::Byte, typesize: 4, .. }));
    let array = v2_array(
        json!({"dtype": "|b1", "fill_value": false, "filters": [{"id": "packbits"}], "compressor": {"id": "blosc", "shuffle": -1}}),
    );
    assert_eq!(names(&array), ["numcodecs.packbits", "bytes", "blosc"]);
    assert!(matches!(array.codecs()[2], Codec::Blosc { typesize: 1, .. }));
    let array = v2_array(
        json!({"dtype": "<f8", "filters": [{"id": "fixedscaleoffset", "offset": 1000, "scale": 10, "dtype": "<f8", "astype": "|u1"}], "compressor": {"id": "zlib"}}),
    );
    assert_eq!(array.codecs()[1], Codec::Bytes(ByteOrder::None));
    let array = v2_array(json!({"dtype": "<f4", "compressor": {"id": "pcodec"}}));
    assert_eq!(names(&array), ["numcodecs.pcodec"]);
    let array = v2_array(json!({"compressor": {"id": "crc32c"}}));
    assert_eq!(names(&array), ["bytes", "crc32c"]);
}

/// zj-59: the byte order is that of the type that reaches the bytes codec.
#[test]
fn zj_59_byte_orders() {
    let last = |changes: Value| v2_array(changes).codecs().last().unwrap().clone();
    let uniform = |endian| Codec::Bytes(ByteOrder::Uniform(endian));
    for dtype in [">u2", ">i4", ">f8", ">M8[s]"] {
        assert_eq!(last(json!({"dtype": dtype})), uniform(Endian::Big), "{dtype}");
    }
    assert_eq!(last(json!({"dtype": ">U2", "fill_value": ""})), uniform(Endian::Big));
    // zp-3256: astype is stored, in its own byte order.
    let delta = |astype: &str| json!({"dtype": "<i4", "filters": [{"id": "delta", "dtype": "<i4", "astype": astype}]});
    assert_eq!(last(delta("<i2")), uniform(Endian::Little));
    assert_eq!(last(delta(">i2")), uniform(Endian::Big));
    assert_eq!(last(delta("|i1")), Codec::Bytes(ByteOrder::None));
    // A filter that views the other byte order would compute with swapped bytes.
    let swapped = v2_array(json!({"dtype": ">i4", "filters": [{"id": "delta", "dtype": "<i4"}]}));
    assert_eq!(swapped.problem().unwrap().pointer, "/filters/0");
}

/// zp-4141, zp-3583: structs of one byte order have a twin in v3; mixed ones and sub-arrays can only be read.
#[test]
fn zp_4141_structs() {
    let array = v2_array(json!({"dtype": [["flux", ">f4"], ["mask", ">i4"]], "fill_value": null}));
    let twin = to_v3(&array).unwrap().array;
    assert_eq!(twin.document()["codecs"], json!([{"name": "bytes", "configuration": {"endian": "big"}}]));
    let mixed = v2_array(json!({"dtype": [["a", "<i4"], ["b", ">u2"]], "fill_value": "AAAAAAAA"}));
    assert_eq!(mixed.codecs(), [Codec::Bytes(ByteOrder::PerLeaf(vec![Endian::Little, Endian::Big]))]);
    let error = to_v3(&mixed).unwrap_err();
    assert_eq!((error.document, error.pointer.as_str(), error.unsupported), (".zarray", "/dtype", true));
    let sub = v2_array(json!({"dtype": [["id", "<i4"], ["pos", "<f4", [3]]], "fill_value": null}));
    assert_eq!(sub.data_type().size(), Some(16));
    assert!(to_v3(&sub).is_err());
}

#[test]
fn objects_are_what_their_filter_says() {
    for (filter, data_type) in [
        (json!({"id": "vlen-utf8"}), DataType::String),
        (json!({"id": "vlen-bytes"}), DataType::Bytes),
        (json!({"id": "vlen-array", "dtype": "<i2"}), DataType::VlenArray(Box::new(DataType::Int16))),
        (json!({"id": "json2"}), DataType::Json),
        (json!({"id": "msgpack2"}), DataType::Json),
        (json!({"id": "categorize", "labels": ["a", "b"], "dtype": "|O"}), DataType::String),
    ] {
        let array = objects(json!([filter]));
        assert_eq!((array.data_type(), array.problem()), (&data_type, None), "{filter}");
    }
    assert_eq!(
        names(&objects(json!([{"id": "categorize", "labels": [], "dtype": "|O", "astype": "<u2"}, {"id": "zlib"}]))),
        ["numcodecs.categorize", "bytes", "numcodecs.zlib"]
    );
    let pickle = objects(json!([{"id": "pickle", "protocol": 4}]));
    assert!(pickle.problem().unwrap().what.contains("\"pickle\" would run code"), "{:?}", pickle.problem());
    assert_eq!(pickle.problem().unwrap().pointer, "/filters/0");
    let bare = objects(json!(null));
    assert!(bare.problem().unwrap().what.contains("|O needs a first filter"), "{:?}", bare.problem());
    assert_eq!(bare.problem().unwrap().pointer, "/dtype");
    assert!(objects(json!([{"id": "shuffle"}, {"id": "vlen-utf8"}])).problem().is_some());
    assert!(v2_array(json!({"filters": [{"id": "vlen-utf8"}]})).problem().unwrap().what.contains("is for objects"));
    assert!(v2_array(json!({"filters": [{"id": "shuffle"}, {"id": "delta", "dtype": "<i4"}]})).problem().is_some());
}

/// numcodecs' json2 and msgpack2 store the logical array; vlen-utf8 stores the elements as they lie in memory.
#[test]
fn objects_in_order_f_are_transposed_only_where_their_codec_stores_memory_order() {
    let chain = |filter: Value| {
        let array =
            v2_array(json!({"shape": [2, 2], "chunks": [2, 2], "order": "F", "dtype": "|O", "fill_value": null, "filters": [filter]}));
        assert_eq!((array.problem(), array.document()["order"].as_str()), (None, Some("F")));
        names(&array).join(" ")
    };
    assert_eq!(chain(json!({"id": "vlen-utf8"})), "transpose vlen-utf8");
    assert_eq!(chain(json!({"id": "json2"})), "numcodecs.json2");
    assert_eq!(chain(json!({"id": "msgpack2"})), "numcodecs.msgpack2");
}

#[test]
fn what_is_not_known_is_named_and_the_document_opens() {
    let array = v2_array(json!({"compressor": {"id": "imagecodecs_jpegxl", "level": 3}}));
    let problem = array.problem().unwrap();
    assert_eq!((problem.what.as_str(), problem.pointer.as_str()), ("the codec \"imagecodecs_jpegxl\" is not known", "/compressor"));
    let array = v2_array(json!({"dtype": "<f16"}));
    assert_eq!(array.problem().unwrap().pointer, "/dtype");
    assert!(array.data_type().name().contains("f16"));
    assert!(to_v3(&array).unwrap_err().unsupported);
}

/// zrs-bool, zrs-vstr, zrs-vX, zp-3447, zjl-146: fill values as old writers left them.
#[test]
fn odd_fill_values() {
    let fill = |changes: Value| v2_array(changes).fill_value().as_bytes().to_vec();
    for (value, byte) in [(json!(true), 1), (json!(1), 1), (json!(false), 0), (json!(0), 0), (json!(null), 0)] {
        assert_eq!(fill(json!({"dtype": "|b1", "fill_value": value})), [byte], "{value}");
    }
    assert_eq!(v2_error(json!({"dtype": "|b1", "fill_value": "true"})).pointer, "/fill_value");
    for value in [json!(0), json!(null), json!("")] {
        assert!(fill(json!({"dtype": "|O", "fill_value": value, "filters": [{"id": "vlen-utf8"}]})).is_empty());
        assert_eq!(fill(json!({"dtype": "<U2", "fill_value": value})), [0; 8]);
        assert_eq!(fill(json!({"dtype": "|S3", "fill_value": value})), [0; 3]);
    }
    assert_eq!(fill(json!({"dtype": "|V3", "fill_value": "AQID"})), [1, 2, 3]);
    assert_eq!(fill(json!({"dtype": "|u1", "fill_value": 0.0})), [0]);
    assert_eq!(fill(json!({"dtype": "<f4", "fill_value": [1.5]})), 1.5f32.to_le_bytes());
    let undefined = v2_array(json!({"dtype": "|u1", "fill_value": null}));
    assert!(undefined.fill_is_undefined());
    assert_eq!(undefined.fill_value(), FillValue::new([0]));
    let missing = v2_array(json!({"fill_value": "-"}));
    assert!(missing.fill_is_undefined() && missing.warnings()[0].contains("\"fill_value\" is missing"));
    assert!(v2_array(json!({"dtype": "|O", "fill_value": 0, "filters": [{"id": "json2"}]})).problem().is_none());
    // What is written carries the integer.
    let twin = to_v3(&v2_array(json!({"dtype": "|u1", "fill_value": 0.0}))).unwrap();
    assert_eq!(twin.array.document()["fill_value"].to_string(), "0");
}

/// zrs-filters: an empty list of filters is none.
#[test]
fn zrs_filters_empty_list() {
    assert_eq!(names(&v2_array(json!({"filters": []}))), ["bytes"]);
    assert_eq!(names(&v2_array(json!({"filters": "-", "compressor": "-"}))), ["bytes"]);
}

#[test]
fn chunks_of_zero_on_an_axis_without_elements() {
    let array = v2_array(json!({"shape": [0, 4], "chunks": [0, 2]}));
    assert_eq!(array.grid().regular_chunk_shape().unwrap().as_slice(), [1, 2]);
    assert!(array.warnings()[0].contains("read as 1"));
    assert_eq!(array.document()["chunks"], json!([0, 2]));
    let mut longer = array.clone();
    longer.set_grid(array.grid().resized(&[0, 9]).unwrap()).unwrap();
    assert_eq!(longer.document()["chunks"], json!([0, 2]));
    longer.set_grid(array.grid().resized(&[3, 9]).unwrap()).unwrap();
    assert_eq!(longer.document()["chunks"], json!([1, 2]));
    let twin = to_v3(&array).unwrap().array;
    assert_eq!(twin.document()["chunk_grid"]["configuration"]["chunk_shape"], json!([1, 2]));
}

#[test]
fn unknown_members_are_kept_and_typing_errors_told() {
    let array = v2_array(json!({"dimension_separator": "-", "dimension_seperator": "/", "node_type": "array"}));
    assert_eq!(array.warnings(), ["the member \"dimension_seperator\" is ignored; is \"dimension_separator\" meant?"]);
    assert_eq!(array.documents()[0].1["node_type"], "array");
}

/// xr-7572: NCZarr's references to dimensions, new and old, and xarray's names.
#[test]
fn xr_7572_dimension_names() {
    let named = |member: Value, attributes: Option<Value>| {
        let array = Array::from_v2(v2_document(member), attributes.map(object)).unwrap();
        let names = array.dimension_names().map(|names| names.iter().map(|n| n.clone().unwrap()).collect::<Vec<_>>().join(","));
        (names, array)
    };
    let nczarr = json!({"_nczarr_array": {"dimrefs": ["/g/y", "/x"], "storage": "chunked"}});
    let (names, array) = named(json!({}), Some(nczarr.clone()));
    assert_eq!(names.as_deref(), Some("y,x"));
    let twin = to_v3(&array).unwrap().array;
    assert_eq!(twin.document()["dimension_names"], json!(["y", "x"]));
    assert_eq!(twin.document()["attributes"], nczarr);
    assert_eq!(named(json!({"_NCZARR_ARRAY": {"dimrefs": ["/y", "/x"]}}), None).0.as_deref(), Some("y,x"));
    let xarray = json!({"_ARRAY_DIMENSIONS": ["lat", "a/b"], "_nczarr_array": {"dimrefs": ["/y", "/x"]}});
    assert_eq!(named(json!({}), Some(xarray)).0.as_deref(), Some("lat,a/b"));
    for bad in [json!(["lat"]), json!("lat"), json!([1, 2])] {
        let (names, array) = named(json!({}), Some(json!({"_ARRAY_DIMENSIONS": bad})));
        assert_eq!((names, array.warnings().len()), (None, 1));
    }
}

/// zp-1533: a resize keeps the separator, and everything else.
#[test]
fn zp_1533_resize_keeps_the_separator() {
    let mut array = v2_array(json!({"dtype": "<f8", "dimension_separator": "/", "extra": 1}));
    array.set_grid(array.grid().resized(&[4, 8]).unwrap()).unwrap();
    assert_eq!(array.document(), &v2_document(json!({"dtype": "<f8", "dimension_separator": "/", "extra": 1, "shape": [4, 8]})));
    assert_eq!(array.key_encoding().encode(&[1, 3]), "1/3");
    // dask-7673, n5z-14: without the member the separator is a period.
    assert_eq!(v2_array(json!({"dimension_separator": "-"})).key_encoding().encode(&[0, 1]), "0.1");
}

#[test]
fn attributes_live_beside_the_array() {
    let mut array = v2_array(json!({}));
    assert_eq!(array.documents().len(), 1);
    array.set_attributes(object(json!({"_ARRAY_DIMENSIONS": ["y"]})));
    array.set_attributes(object(json!({"_ARRAY_DIMENSIONS": ["y", "x"], "a": 1})));
    assert_eq!(array.documents()[1].0, ".zattrs");
    assert_eq!(array.dimension_names().unwrap().len(), 2);
    assert!(array.warnings().is_empty(), "{:?}", array.warnings());
    array.set_attributes(Map::new());
    assert_eq!((array.documents().len(), array.dimension_names()), (2, None));
    let mut group = Group::from_v2(object(json!({"zarr_format": 2})), None).unwrap();
    assert_eq!(group.documents().len(), 1);
    group.set_attributes(object(json!({"a": 1})));
    assert_eq!(group.documents()[1], (".zattrs", json!({"a": 1})));
}

/// zp-412: bare tokens in the attributes are read, told, and written strictly.
#[test]
fn zp_412_bare_tokens_in_attributes() {
    let document = crate::json::to_text(&Value::Object(v2_document(json!({"fill_value": null})))).replace("null", "NaN");
    let document = document
        .replace("\"filters\": NaN", "\"filters\": null")
        .replace("\"compressor\": NaN", "\"compressor\": null")
        .replace("<i4", "<f4");
    let array = Array::from_v2_bytes(document.as_bytes(), Some(b"{\"att1\": NaN, \"missing_value\": -Infinity}")).unwrap();
    assert_eq!(array.warnings().len(), 3, "{:?}", array.warnings());
    assert!(array.warnings()[1].starts_with(".zattrs has the bare token NaN at line 1 column 10"));
    assert_eq!(array.attributes()["missing_value"], "-Infinity");
    assert_eq!(array.fill_value(), FillValue::new(f32::NAN.to_le_bytes()));
    for (_, document) in array.documents() {
        parse_object(crate::json::to_text(&document).as_bytes(), false).unwrap();
    }
}

/// zp-dt, vz-834: dates, scalars and undefined fill values in their v3 twins.
#[test]
fn zp_dt_twins() {
    let twin = |changes: Value| to_v3(&v2_array(changes)).unwrap();
    let dates = twin(json!({"dtype": "<m8[10s]", "fill_value": "NaT"})).array;
    assert_eq!(dates.document()["data_type"], json!({"name": "numpy.timedelta64", "configuration": {"unit": "s", "scale_factor": 10}}));
    let dates = twin(json!({"dtype": "<M8[ns]", "fill_value": i64::MIN})).array;
    assert_eq!(dates.fill_value(), FillValue::new(i64::MIN.to_le_bytes()));
    let scalar = twin(json!({"shape": [], "chunks": [], "dtype": "<i8"})).array;
    assert_eq!(scalar.key_encoding().encode(&[]), "0");
    let undefined = twin(json!({"dtype": "|V3", "fill_value": null}));
    assert!(undefined.notes[0].contains("undefined"), "{:?}", undefined.notes);
    assert_eq!(undefined.array.document()["data_type"], json!({"name": "raw_bytes", "configuration": {"length_bytes": 3}}));
    let nested = twin(
        json!({"order": "F", "dimension_separator": "/", "filters": [{"id": "delta", "dtype": "<i4", "astype": "<i2"}, {"id": "crc32c"}], "compressor": {"id": "gzip", "level": 2}}),
    );
    assert_eq!(
        nested.array.document()["codecs"],
        json!([
            {"name": "transpose", "configuration": {"order": [1, 0]}},
            {"name": "numcodecs.delta", "configuration": {"dtype": "<i4", "astype": "<i2"}},
            {"name": "bytes", "configuration": {"endian": "little"}},
            {"name": "crc32c"},
            {"name": "gzip", "configuration": {"level": 2}}
        ])
    );
    assert_eq!(nested.array.document()["chunk_key_encoding"], json!({"name": "v2", "configuration": {"separator": "/"}}));
}
