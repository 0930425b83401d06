//! Conversions between layouts and formats: equal values, right documents, and refusals before anything is written.
#![allow(clippy::unwrap_used)]

use std::sync::Mutex;

use gingham::core::codec::{BloscCompressor, BloscShuffle, Codec};
use gingham::core::json::Value;
use gingham::core::region::Region;
use gingham::store::memory::Memory;
use gingham::store::{Bytes, Condition, Range};
use gingham::{Array, DataType, Elements, FillValue, Format, Grid, Group, Kind, NewArray, Node, Selection, Store};
use gingham_ops::checksum::checksum;
use gingham_ops::convert::{Cut, Event, Options, Report, convert, estimate};

fn part(text: &str) -> Selection {
    Selection::parse(text).unwrap()
}

fn memory() -> Store {
    Store::new(Memory::new())
}

fn put(store: &Store, key: &str, bytes: impl Into<Vec<u8>>) {
    store.put(key, Bytes::from(bytes.into()), &Condition::Always).unwrap();
}

fn json(store: &Store, key: &str) -> Value {
    serde_json::from_slice(&store.get(key, Range::All).unwrap().unwrap()).unwrap()
}

fn keys(store: &Store) -> Vec<String> {
    store.list("").unwrap().into_iter().map(|(k, _)| k).collect()
}

fn open(store: &Store) -> Node {
    gingham::open(store, "", &gingham::Options::default()).unwrap()
}

fn run(source: &Store, options: &Options) -> (Store, Report) {
    let target = memory();
    let report = convert(&open(source), &target, options, &|_| {}).unwrap();
    (target, report)
}

/// 0, 1, 2, … as little-endian int32.
fn counting(n: usize) -> Vec<u8> {
    (0..n as i32).flat_map(i32::to_le_bytes).collect()
}

fn counted(shape: &[u64], chunks: &[u64]) -> Store {
    let store = memory();
    let array = Array::create(&store, "", NewArray::new(DataType::Int32, Grid::regular(shape, chunks).unwrap())).unwrap();
    let n: u64 = shape.iter().product();
    if n > 0 {
        array.write_elements(Selection::All, &Elements::Fixed(counting(n as usize))).unwrap();
    }
    store
}

fn values(store: &Store, path: &str) -> Elements {
    Array::open(store, path).unwrap().read_elements(Selection::All).unwrap().1
}

fn text(text: &str) -> Cut {
    Cut::Text(text.into())
}

#[test]
fn dask_12583_targets_that_do_not_align_with_the_source_get_every_value() {
    let source = counted(&[10, 10], &[2, 2]);
    let layouts =
        [(text("4,4"), Cut::None), (text("2,2"), text("4,4")), (text("3,7"), Cut::None), (text("[[3,7],[1,[4,2],1]]"), Cut::None)];
    for (chunks, shards) in layouts {
        let options = Options { chunks, shards, array: gingham::Options { threads: Some(8), ..Default::default() }, ..Default::default() };
        for _ in 0..5 {
            let (target, report) = run(&source, &options);
            assert_eq!(values(&target, ""), Elements::Fixed(counting(100)), "{options:?}");
            assert_eq!((report.arrays, report.elements), (1, 100));
            assert_eq!(report.objects_written, keys(&target).len() as u64 - 1);
        }
    }
}

#[test]
fn reck_edge_odd_and_oversized_chunks() {
    for (from, to) in [([7, 5], "5,7"), ([31, 17], "1,1"), ([1, 17], "40,1")] {
        let source = counted(&[31, 17], &from);
        for threads in [1, 3, 8] {
            let array = gingham::Options { threads: Some(threads), ..Default::default() };
            let (target, _) = run(&source, &Options { chunks: text(to), array, ..Default::default() });
            assert_eq!(values(&target, ""), values(&source, ""), "{from:?} -> {to}");
        }
    }
    let (empty, report) = run(&counted(&[0, 17], &[1, 5]), &Options { chunks: text("3,4"), ..Default::default() });
    assert_eq!((Array::open(&empty, "").unwrap().shape(), report.objects_written), (vec![0, 17], 0));
    let (scalar, _) = run(&counted(&[], &[]), &Options { chunks: Cut::Auto, shards: Cut::Auto, ..Default::default() });
    assert_eq!(values(&scalar, ""), Elements::Fixed(counting(1)));
}

#[test]
fn reck_edge_missing_chunks_stay_missing() {
    let source = memory();
    let mut new = NewArray::new(DataType::Int32, Grid::regular(&[31, 17], &[7, 5]).unwrap());
    new.fill_value = Some(FillValue::new(9i32.to_le_bytes()));
    let array = Array::create(&source, "", new).unwrap();
    array.write_bytes(part("0:7, 0:5"), &counting(35)).unwrap();
    let (target, report) = run(&source, &Options { chunks: text("5,7"), ..Default::default() });
    assert_eq!(values(&target, ""), values(&source, ""));
    assert_eq!(report.objects_written, 2);
    assert_eq!(json(&target, "zarr.json")["fill_value"], 9);
}

#[test]
fn reck_115_too_little_memory_is_refused_with_the_least_that_works() {
    let source = memory();
    let mut new = NewArray::new(DataType::Int32, Grid::regular(&[240, 64, 64], &[1, 64, 64]).unwrap());
    new.codecs = Some(Vec::new());
    let array = Array::create(&source, "", new).unwrap();
    array.write_bytes(Selection::All, &counting(240 * 64 * 64)).unwrap();
    let options = |memory| Options { chunks: text("240,4,4"), memory: Some(memory), ..Default::default() };
    let (target, _) = run(&source, &options(256 << 10));
    assert_eq!(checksum(&Array::open(&target, "").unwrap(), &|_| {}).unwrap(), checksum(&array, &|_| {}).unwrap());
    let refused = convert(&open(&source), &memory(), &options(40 << 10), &|_| {}).unwrap_err();
    // One object of 240·4·4·4 bytes twice, and one source chunk.
    assert!(refused.to_string().contains("47104"), "{refused}");
    run(&source, &options(47104));
}

#[test]
fn huge_sparse_arrays_convert_in_time_of_what_is_stored() {
    let source = memory();
    let mut new = NewArray::new(DataType::UInt8, Grid::regular(&[1_000_000_000_000, 1_000_000], &[100, 100]).unwrap());
    new.inner_chunks = Some(vec![10, 10]);
    let array = Array::create(&source, "", new).unwrap();
    for start in [0u64, 500_000_000_050, 999_999_999_990] {
        let region = Region { start: [start, 999_990].as_slice().into(), shape: [10, 10].as_slice().into() };
        array.write_bytes(region, &[7; 100]).unwrap();
    }
    let (target, report) = run(&source, &Options { chunks: text("64,64"), shards: Cut::None, ..Default::default() });
    assert!((3..=12).contains(&report.objects_written), "{}", report.objects_written);
    let back = Array::open(&target, "").unwrap().read_elements(part("999999999990:, 999990:")).unwrap().1;
    assert_eq!(back, Elements::Fixed(vec![7; 100]));
}

const V2: &str = r#"{"zarr_format":2,"shape":[SHAPE],"chunks":[CHUNKS],"dtype":"DTYPE","compressor":null,"fill_value":FILL,"order":"ORDER","filters":null}"#;

fn v2(shape: &str, chunks: &str, dtype: &str, fill: &str, order: &str) -> String {
    V2.replace("SHAPE", shape).replace("CHUNKS", chunks).replace("DTYPE", dtype).replace("FILL", fill).replace("ORDER", order)
}

#[test]
fn mig_endian_big_endian_and_column_order_come_out_equal() {
    let source = memory();
    put(&source, ".zarray", v2("2,2", "2,2", ">u2", "0", "F"));
    put(&source, "0.0", [1, 0, 0, 3, 0, 2, 0, 4]);
    let (target, _) = run(&source, &Options::default());
    assert_eq!(values(&target, ""), Elements::Fixed(vec![0, 1, 2, 0, 3, 0, 4, 0]));
    let document = json(&target, "zarr.json");
    assert_eq!(document["codecs"], serde_json::json!([{"name": "bytes", "configuration": {"endian": "little"}}]));
    assert_eq!(document["chunk_key_encoding"]["name"], "default");
}

#[test]
fn xr_attrs_dimension_names_move_into_the_document_and_back() {
    let source = memory();
    put(&source, ".zarray", v2("2,3", "2,3", "<i2", "-999", "C"));
    put(&source, ".zattrs", r#"{"_ARRAY_DIMENSIONS":["y","x"],"units":"m","_FillValue":-999,"scale_factor":0.1}"#);
    put(&source, "0.0", [1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0]);
    let (target, _) = run(&source, &Options::default());
    let document = json(&target, "zarr.json");
    assert_eq!(document["dimension_names"], serde_json::json!(["y", "x"]));
    assert_eq!(document["attributes"], serde_json::json!({"units": "m", "_FillValue": -999, "scale_factor": 0.1}));
    assert_eq!((&document["data_type"], &document["fill_value"]), (&Value::from("int16"), &Value::from(-999)));
    let (back, _) = run(&target, &Options { format: Some(Format::V2), ..Default::default() });
    assert_eq!(json(&back, ".zattrs")["_ARRAY_DIMENSIONS"], serde_json::json!(["y", "x"]));
    assert_eq!(json(&back, ".zarray")["fill_value"], -999);
    assert_eq!(values(&back, ""), values(&source, ""));
}

#[test]
fn n5z_14_nested_keys_of_an_undeclared_separator_are_never_taken_for_nothing() {
    let source = memory();
    put(&source, ".zarray", v2("4,4", "2,2", "<i2", "0", "C"));
    for (i, key) in ["0/0", "0/1", "1/0", "1/1"].into_iter().enumerate() {
        put(&source, key, [i as u8 + 1, 0, 2, 0, 3, 0, 4, 0]);
    }
    let target = memory();
    let refused = convert(&open(&source), &target, &Options::default(), &|_| {}).unwrap_err();
    assert!(refused.to_string().contains("4 stored chunks") && refused.hint().unwrap().contains("separator"), "{refused}");
    assert!(keys(&target).is_empty());
    let nested = gingham::Options { separator: Some('/'), ..Default::default() };
    let node = gingham::open(&source, "", &nested).unwrap();
    let report = convert(&node, &target, &Options::default(), &|_| {}).unwrap();
    assert_eq!(report.objects_written, 4);
    assert_eq!(values(&target, "").as_fixed().unwrap()[..2], [1, 0]);
}

#[test]
fn zjl_146_an_undefined_fill_value_becomes_zero_with_a_warning() {
    let source = memory();
    put(&source, ".zarray", v2("4,4", "2,2", "|u1", "null", "C"));
    put(&source, "0.0", [1, 2, 3, 4]);
    put(&source, "1.1", [5, 6, 7, 8]);
    let (target, report) = run(&source, &Options::default());
    assert_eq!(json(&target, "zarr.json")["fill_value"], 0);
    assert!(report.warnings.iter().any(|w| w.contains("fill_value is null")), "{:?}", report.warnings);
    assert_eq!(report.objects_written, 2);
    assert_eq!(values(&target, ""), Elements::Fixed(vec![1, 2, 0, 0, 3, 4, 0, 0, 0, 0, 5, 6, 0, 0, 7, 8]));
}

#[test]
fn zrs_tools8_blosc_is_spelled_out_in_v3() {
    for (dtype, shuffle, want, typesize) in
        [("<u2", 1, "shuffle", 2), ("|u1", -1, "bitshuffle", 1), ("<f8", 2, "bitshuffle", 8), ("<i4", 0, "noshuffle", 4)]
    {
        let source = memory();
        let blosc = format!(r#"{{"id":"blosc","cname":"lz4","clevel":5,"shuffle":{shuffle},"blocksize":0}}"#);
        put(&source, ".zarray", v2("8", "4", dtype, "0", "C").replace(r#""compressor":null"#, &format!(r#""compressor":{blosc}"#)));
        let array = Array::open(&source, "").unwrap();
        array.write_bytes(Selection::All, &[3; 64][..8 * array.data_type().size().unwrap()]).unwrap();
        let (target, _) = run(&source, &Options { chunks: text("8"), ..Default::default() });
        let codecs = json(&target, "zarr.json")["codecs"].clone();
        let configuration = &codecs[1]["configuration"];
        assert_eq!((configuration["shuffle"].as_str(), configuration["typesize"].as_u64()), (Some(want), Some(typesize)), "{codecs}");
        assert_eq!(values(&target, ""), values(&source, ""));
    }
}

#[test]
fn vz_834_scalars_find_their_chunk_under_each_naming() {
    let source = memory();
    put(&source, ".zarray", v2("", "", "<i8", "0", "C"));
    put(&source, "0", 42i64.to_le_bytes());
    let (target, _) = run(&source, &Options::default());
    assert_eq!(keys(&target), ["c", "zarr.json"]);
    assert_eq!(values(&target, ""), Elements::Fixed(42i64.to_le_bytes().to_vec()));
}

fn hierarchy() -> Store {
    let store = memory();
    put(&store, ".zgroup", r#"{"zarr_format":2}"#);
    put(&store, ".zattrs", r#"{"title":"t","n":1.0}"#);
    put(&store, "sub/.zgroup", r#"{"zarr_format":2}"#);
    for path in ["a", "sub/b"] {
        put(&store, &format!("{path}/.zarray"), v2("4", "2", "<i4", "0", "C"));
        Array::open(&store, path).unwrap().write_bytes(Selection::All, &counting(4)).unwrap();
    }
    store
}

#[test]
fn zp_3466_consolidated_sources_give_consolidated_targets_without_phantoms() {
    let source = hierarchy();
    Group::open(&source, "").unwrap().consolidate().unwrap();
    source.delete_prefix("sub/b").unwrap();
    let (target, report) = run(&source, &Options::default());
    // What only the block knows has no chunks; it must not be invented as an array of zeros without a word.
    assert!(report.warnings.iter().any(|w| w.contains("sub/b")), "{:?}", report.warnings);
    let root = json(&target, "zarr.json");
    assert_eq!(root["attributes"], serde_json::json!({"title": "t", "n": 1.0}));
    let listed: Vec<&String> = root["consolidated_metadata"]["metadata"].as_object().unwrap().keys().collect();
    assert!(listed.contains(&&"a".to_string()) && listed.contains(&&"sub".to_string()), "{listed:?}");
    assert!(Group::open(&target, "").unwrap().stale_consolidated().unwrap().is_empty());
}

#[test]
fn hierarchies_go_to_v3_and_back() {
    let source = hierarchy();
    let events = Mutex::new(Vec::new());
    let target = memory();
    let report = convert(&open(&source), &target, &Options::default(), &|e| events.lock().unwrap().push(e)).unwrap();
    assert_eq!((report.groups, report.arrays, report.elements, report.objects_written), (2, 2, 8, 4));
    assert_eq!(report.bytes_written, 32);
    let done: Vec<Event> = events.into_inner().unwrap().into_iter().filter(|e| matches!(e, Event::Done { .. })).collect();
    assert_eq!(done.len(), 2);
    let (back, _) = run(&target, &Options { format: Some(Format::V2), ..Default::default() });
    for path in ["a", "sub/b"] {
        assert_eq!(values(&target, path), Elements::Fixed(counting(4)));
        assert_eq!(values(&back, path), Elements::Fixed(counting(4)));
    }
    assert_eq!(json(&back, ".zattrs"), serde_json::json!({"title": "t", "n": 1.0}));
    let planned = estimate(&open(&source), &Options::default()).unwrap();
    assert_eq!((planned.arrays, planned.objects_written, planned.bytes_written), (2, 4, 32));
}

#[test]
fn a_target_that_is_there_is_refused_unless_it_may_be_replaced() {
    let (source, target) = (hierarchy(), counted(&[4], &[1]));
    put(&target, "left/over", [0]);
    let refused = convert(&open(&source), &target, &Options::default(), &|_| {}).unwrap_err();
    assert_eq!(refused.kind(), Kind::Exists);
    let options = Options { overwrite: true, ..Default::default() };
    convert(&open(&source), &target, &options, &|_| {}).unwrap();
    assert!(!keys(&target).iter().any(|k| k.starts_with("left") || k.starts_with("c/")), "{:?}", keys(&target));
    assert_eq!(convert(&open(&source), &source, &options, &|_| {}).unwrap_err().kind(), Kind::Invalid);
    assert_eq!(values(&source, "a"), Elements::Fixed(counting(4)));
}

#[test]
fn what_an_interrupted_run_left_is_no_data_of_the_next() {
    let target = memory();
    put(&target, "c/0", [9; 16]);
    put(&target, "notes.txt", *b"mine");
    let source = counted(&[4], &[2]);
    assert_eq!(convert(&open(&source), &target, &Options::default(), &|_| {}).unwrap_err().kind(), Kind::Exists);
    convert(&open(&source), &target, &Options { overwrite: true, ..Default::default() }, &|_| {}).unwrap();
    assert_eq!(values(&target, ""), Elements::Fixed(counting(4)));
    assert!(keys(&target).contains(&"notes.txt".to_string()));
}

#[test]
fn places_inside_each_other_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| Store::open(folder.path().join(name).to_str().unwrap()).unwrap();
    let source = at("data.zarr");
    Array::create(&source, "a", NewArray::new(DataType::UInt8, Grid::regular(&[2], &[2]).unwrap())).unwrap();
    let node = gingham::open(&source, "", &gingham::Options::default()).unwrap();
    for name in ["data.zarr", "data.zarr/new", "./data.zarr/../data.zarr"] {
        assert_eq!(convert(&node, &at(name), &Options::default(), &|_| {}).unwrap_err().kind(), Kind::Invalid, "{name}");
    }
    convert(&node, &at("data.zarr2"), &Options::default(), &|_| {}).unwrap();
}

#[test]
fn everything_that_cannot_be_converted_is_named_at_once() {
    let source = hierarchy();
    for (name, filter) in [("x", r#"{"id":"json2","encoding":"utf-8"}"#), ("y", r#"{"id":"nonesuch"}"#)] {
        let document = v2("2", "2", if name == "x" { "|O" } else { "<i4" }, "null", "C")
            .replace(r#""filters":null"#, &format!(r#""filters":[{filter}]"#));
        put(&source, &format!("{name}/.zarray"), document);
    }
    let target = memory();
    let refused = convert(&open(&source), &target, &Options::default(), &|_| {}).unwrap_err().to_string();
    assert!(refused.contains("/x:") && refused.contains("json2") && refused.contains("/y:") && refused.contains("nonesuch"), "{refused}");
    assert!(keys(&target).is_empty());
}

#[test]
fn v2_has_neither_shards_nor_rectilinear_chunks() {
    let sharded = run(&counted(&[8], &[2]), &Options { shards: text("4"), ..Default::default() }).0;
    let rectilinear = run(&counted(&[8], &[2]), &Options { chunks: text("[[3,5]]"), ..Default::default() }).0;
    for source in [&sharded, &rectilinear] {
        let options = Options { format: Some(Format::V2), ..Default::default() };
        let refused = convert(&open(source), &memory(), &options, &|_| {}).unwrap_err();
        assert!(refused.to_string().contains("v2 has regular chunks only"), "{refused}");
        let (target, _) = run(source, &Options { chunks: text("4"), shards: Cut::None, ..options });
        assert_eq!(values(&target, ""), Elements::Fixed(counting(8)));
    }
}

#[test]
fn shards_must_be_multiples_of_chunks() {
    let source = counted(&[12, 12], &[3, 4]);
    let refused = convert(&open(&source), &memory(), &Options { shards: text("6,6"), ..Default::default() }, &|_| {}).unwrap_err();
    assert!(refused.to_string().contains("axis 1") && refused.hint().unwrap().contains('8'), "{refused} {:?}", refused.hint());
    let (target, _) = run(&source, &Options { shards: text("[[3,9],[8,4]]"), ..Default::default() });
    assert_eq!(values(&target, ""), Elements::Fixed(counting(144)));
    // Kept shards, other chunks inside, and shards taken off again.
    let (other, _) = run(&target, &Options { chunks: text("1,2"), ..Default::default() });
    let (plain, _) = run(&other, &Options { shards: Cut::None, ..Default::default() });
    assert_eq!(Array::open(&plain, "").unwrap().grid().regular_chunk_shape().unwrap().as_slice(), [1, 2]);
    assert_eq!(values(&plain, ""), Elements::Fixed(counting(144)));
}

#[test]
fn strings_nan_fills_and_other_codecs() {
    let source = memory();
    let strings = Array::create(&source, "s", NewArray::new(DataType::String, Grid::regular(&[5], &[2]).unwrap())).unwrap();
    let mut content = gingham::Variable::new();
    ["a", "", "größe", "日本", "e"].iter().for_each(|s| content.push(s.as_bytes()));
    strings.write_elements(Selection::All, &Elements::Variable(content.clone())).unwrap();
    let mut new = NewArray::new(DataType::Float(gingham::core::dtype::Float::F32), Grid::regular(&[4], &[2]).unwrap());
    let odd_nan = 0x7fc0_0001u32.to_le_bytes();
    new.fill_value = Some(FillValue::new(odd_nan));
    Array::create(&source, "f", new).unwrap().write_bytes(part("0:1"), &1f32.to_le_bytes()).unwrap();
    let blosc = Codec::Blosc { cname: BloscCompressor::Zstd, clevel: 5, shuffle: BloscShuffle::Byte, typesize: 4, blocksize: 0 };
    for format in [Format::V3, Format::V2] {
        let options = Options { chunks: text("3"), codecs: Some(vec![blosc.clone()]), format: Some(format), ..Default::default() };
        if format == Format::V2 {
            // v2 has no word for other NaNs than the usual one; the strings alone are converted.
            source.delete_prefix("f").unwrap();
        }
        let (target, _) = run(&source, &options);
        assert_eq!(values(&target, "s"), Elements::Variable(content.clone()));
        if format == Format::V3 {
            assert_eq!(json(&target, "f/zarr.json")["fill_value"], "0x7fc00001");
            assert_eq!(values(&target, "f").as_fixed().unwrap()[4..8], odd_nan);
            assert_eq!(keys(&target).iter().filter(|k| k.starts_with("f/c")).count(), 1);
        }
    }
}

#[test]
fn a_text_of_another_rank_leaves_small_arrays_as_they_are() {
    let source = memory();
    Array::create(&source, "x", NewArray::new(DataType::Int32, Grid::regular(&[9], &[3]).unwrap())).unwrap();
    Array::create(&source, "field", NewArray::new(DataType::Int32, Grid::regular(&[9, 9], &[3, 3]).unwrap())).unwrap();
    let (target, report) = run(&source, &Options { chunks: text("9,1"), ..Default::default() });
    assert_eq!(Array::open(&target, "x").unwrap().grid().regular_chunk_shape().unwrap().as_slice(), [3]);
    assert_eq!(Array::open(&target, "field").unwrap().grid().regular_chunk_shape().unwrap().as_slice(), [9, 1]);
    assert_eq!(report.warnings.len(), 1);
    let none = convert(&open(&source), &memory(), &Options { chunks: text("1,2,3"), ..Default::default() }, &|_| {}).unwrap_err();
    assert!(none.to_string().contains("3 axes"), "{none}");
}

#[test]
fn automatic_layouts_keep_values() {
    let source = counted(&[300, 700], &[300, 1]);
    let (target, _) = run(&source, &Options { chunks: Cut::Auto, shards: Cut::Auto, ..Default::default() });
    assert_eq!(values(&target, ""), values(&source, ""));
    // 840 kB are one chunk, and a shard of one chunk is none.
    let array = Array::open(&target, "").unwrap();
    assert_eq!((array.grid().regular_chunk_shape().unwrap().to_vec(), array.inner_chunk_shape()), (vec![300, 700], None));
    let (sharded, _) = run(&source, &Options { shards: Cut::Auto, ..Default::default() });
    let array = Array::open(&sharded, "").unwrap();
    assert_eq!(array.inner_chunk_shape().unwrap(), [300, 1]);
    assert_eq!(values(&sharded, ""), values(&source, ""));
}

#[test]
fn damaged_sources_leave_no_array_behind() {
    let source = counted(&[4], &[2]);
    put(&source, "c/1", [1, 2, 3]);
    let target = memory();
    assert!(convert(&open(&source), &target, &Options::default(), &|_| {}).is_err());
    assert!(!keys(&target).contains(&"zarr.json".to_string()));
}

#[test]
fn rectilinear_chunks_stay_without_automatic_shards() {
    let source = run(&counted(&[8], &[2]), &Options { chunks: text("[[3,5]]"), ..Default::default() }).0;
    let (target, report) = run(&source, &Options { shards: Cut::Auto, ..Default::default() });
    assert_eq!((values(&target, ""), report.warnings.len()), (Elements::Fixed(counting(8)), 1));
    assert!(convert(&open(&source), &memory(), &Options { shards: text("8"), ..Default::default() }, &|_| {}).is_err());
}

#[test]
fn a_new_archive_is_a_target() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("new.zip");
    let target = gingham::store::create_with(place.to_str().unwrap(), &gingham::store::Options::default()).unwrap();
    convert(&open(&hierarchy()), &target, &Options::default(), &|_| {}).unwrap();
    let back = Store::open(place.to_str().unwrap()).unwrap();
    assert_eq!(values(&back, "sub/b"), Elements::Fixed(counting(4)));
}

/// The hash of every array that can be read.
fn hashes(node: &Node) -> std::collections::BTreeMap<String, String> {
    let all = match node {
        Node::Array(array) => vec![(String::new(), array.clone())],
        Node::Group(group) => group
            .walk()
            .unwrap()
            .into_iter()
            .filter_map(|e| match e.node {
                Ok(Node::Array(array)) => Some((e.relative, array)),
                _ => None,
            })
            .collect(),
    };
    all.into_iter().filter_map(|(path, array)| checksum(&array, &|_| {}).ok().map(|sum| (path, sum))).collect()
}

#[test]
fn every_fixture_keeps_its_values_in_other_layouts() {
    let shared = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let mut places: Vec<_> =
        std::fs::read_dir(shared.join("fixtures/generated")).into_iter().flatten().flatten().map(|e| e.path()).collect();
    let index = std::fs::read_to_string(shared.join("corpus/index.jsonl")).unwrap_or_default();
    let entries = index.lines().filter_map(|l| serde_json::from_str::<Value>(l).ok());
    places.extend(entries.filter(|e| e["kind"] == "zarr").filter_map(|e| e["path"].as_str().map(|p| shared.join("corpus").join(p))));
    if places.is_empty() {
        eprintln!("skipped: no fixtures at {}", shared.display());
        return;
    }
    let (mut converted, mut refused) = (0, Vec::new());
    for place in places {
        let location = place.to_string_lossy().into_owned();
        let Ok((_, node)) = gingham::open_url(&location, &gingham::store::Options::default(), &gingham::Options::default()) else {
            continue;
        };
        let before = hashes(&node);
        for (format, chunks, shards) in
            [(Format::V3, Cut::Auto, Cut::Auto), (Format::V3, Cut::Keep, Cut::Auto), (Format::V2, Cut::Auto, Cut::None)]
        {
            let target = memory();
            let options = Options { format: Some(format), chunks, shards, ..Default::default() };
            match convert(&node, &target, &options, &|_| {}) {
                Ok(_) => {
                    assert_eq!(hashes(&open(&target)), before, "{location} {options:?}");
                    converted += 1;
                }
                Err(e) => {
                    assert!(!keys(&target).iter().any(|k| !k.contains('/') && k.ends_with("zarr.json")), "{location}: {e}");
                    refused.push(format!("{location} {format:?}: {e}"));
                }
            }
        }
    }
    eprintln!("{converted} conversions, {} refused:\n{}", refused.len(), refused.join("\n"));
    assert!(converted > 150, "{converted}");
}

#[test]
fn vz_1069_default_keys_with_periods_are_found() {
    let source = memory();
    let mut new = NewArray::new(DataType::UInt8, Grid::regular(&[2, 2], &[1, 1]).unwrap());
    new.key_encoding = Some(gingham::core::key::KeyEncoding::Default { separator: '.' });
    Array::create(&source, "", new).unwrap().write_bytes(Selection::All, &[1, 2, 3, 4]).unwrap();
    assert!(keys(&source).contains(&"c.0.1".to_string()));
    let (target, report) = run(&source, &Options { chunks: text("2,1"), ..Default::default() });
    assert_eq!((values(&target, ""), report.objects_written), (Elements::Fixed(vec![1, 2, 3, 4]), 2));
}

#[test]
fn zp_3447_a_float_fill_of_integers_is_written_as_an_integer() {
    let source = memory();
    put(&source, ".zarray", v2("2", "2", "|u1", "0.0", "C"));
    let (target, _) = run(&source, &Options::default());
    assert_eq!(json(&target, "zarr.json")["fill_value"].to_string(), "0");
}

#[test]
fn zp_412_bare_nan_in_attributes_becomes_strict_json() {
    let source = memory();
    put(&source, ".zarray", v2("2", "2", "<i4", "0", "C"));
    put(&source, ".zattrs", *b"{\"att1\": NaN, \"missing_value\": -Infinity}");
    put(&source, "0", counting(2));
    let (target, _) = run(&source, &Options::default());
    assert_eq!(json(&target, "zarr.json")["attributes"], serde_json::json!({"att1": "NaN", "missing_value": "-Infinity"}));
    assert_eq!(values(&target, ""), Elements::Fixed(counting(2)));
}

#[test]
fn xr_7572_dimension_names_of_nczarr() {
    let source = memory();
    put(&source, ".zarray", v2("2,3", "2,3", "|u1", "0", "C"));
    put(&source, ".zattrs", *br#"{"_nczarr_array":{"dimrefs":["/y","/x"],"storage":"chunked"}}"#);
    let (target, _) = run(&source, &Options::default());
    let document = json(&target, "zarr.json");
    assert_eq!(document["dimension_names"], serde_json::json!(["y", "x"]));
    assert_eq!(document["attributes"]["_nczarr_array"]["storage"], "chunked");
}
