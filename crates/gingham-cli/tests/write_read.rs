//! `write`, `read`, `append`, `resize`: values in and out.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::{Place, i32s, npy};
use serde_json::{Value, json};

#[test]
fn a_npy_file_goes_in_and_comes_out() {
    let place = Place::new();
    place.file("in.npy", npy("'<i4'", false, "(3, 4)", &i32s(0..12)));
    place.ok("write a.zarr --create --from in.npy --chunks 2,3");
    assert_eq!(place.values("a.zarr"), json!([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]));
    place.ok("read a.zarr -o out.npy");
    let out = place.read("out.npy");
    assert!(out.starts_with(b"\x93NUMPY\x01\x00"));
    let header = String::from_utf8_lossy(&out[10..128]).into_owned();
    assert!(header.starts_with("{'descr': '<i4', 'fortran_order': False, 'shape': (3, 4), }"), "{header}");
    assert_eq!(out.len(), 128 + 48);
    assert_eq!(out[128..], i32s(0..12));
}

#[test]
fn fortran_order_and_big_endian_files_are_understood() {
    let place = Place::new();
    // Columns of [[0, 1, 2], [3, 4, 5]].
    place.file("f.npy", npy("'<i4'", true, "(2, 3)", &i32s([0, 3, 1, 4, 2, 5])));
    place.ok("write f.zarr --create --from f.npy");
    assert_eq!(place.values("f.zarr"), json!([0, 1, 2, 3, 4, 5]));
    let big: Vec<u8> = (0..6i16).flat_map(i16::to_be_bytes).collect();
    place.file("b.npy", npy("'>i2'", false, "(6,)", &big));
    place.ok("write b.zarr --create --from b.npy");
    assert_eq!(place.values("b.zarr"), json!([0, 1, 2, 3, 4, 5]));
}

#[test]
fn struct_types_have_numpys_descr() {
    let place = Place::new();
    let mut data = Vec::new();
    for (a, b) in [(1i32, 0.5f64), (-2, 2.25)] {
        data.extend(a.to_le_bytes());
        data.extend(b.to_le_bytes());
    }
    place.file("s.npy", npy("[('a', '<i4'), ('b', '<f8')]", false, "(2,)", &data));
    place.ok("write s.zarr --create --from s.npy");
    assert_eq!(place.values("s.zarr"), json!([[1, 0.5], [-2, 2.25]]));
    place.ok("read s.zarr -o t.npy");
    let out = place.read("t.npy");
    assert!(String::from_utf8_lossy(&out).contains("'descr': [('a', '<i4'), ('b', '<f8')]"));
    assert!(out.ends_with(&data));
    assert_eq!(place.ok("read s.zarr --format csv"), "a,b\n1,0.5\n-2,2.25\n");
}

#[test]
fn text_goes_in_and_out_as_json() {
    let place = Place::new();
    place.file("v.json", r#"{"shape": [2, 2], "values": ["a,b", "", "日本", "say \"x\""]}"#);
    place.ok("write t.zarr --create --dtype string --from v.json --chunks 1,2");
    assert_eq!(place.values("t.zarr"), json!(["a,b", "", "日本", "say \"x\""]));
    assert_eq!(place.ok("read t.zarr -f csv"), "\"a,b\",\n日本,\"say \"\"x\"\"\"\n");
    let ran = place.run("read t.zarr --format raw");
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert_eq!(place.run("read t.zarr --format npy").code, 2);
}

#[test]
fn bare_bytes_come_from_standard_input() {
    let place = Place::new();
    let ran = place.run_with("write r.zarr --create --shape 2,3 --dtype i4 --from -", &i32s(10..16));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(place.values("r.zarr"), json!([10, 11, 12, 13, 14, 15]));
    let ran = place.run_with("write r.zarr --from - --select '1, :'", &i32s([1, 2, 3]));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(place.values("r.zarr"), json!([10, 11, 12, 1, 2, 3]));
    let short = place.run_with("write r.zarr --from -", &i32s([1, 2, 3]));
    assert_eq!(short.code, 2);
    assert!(short.err.contains("ends early: 12 of 24 bytes"), "{}", short.err);
    assert_eq!(place.run("read r.zarr -f raw").bytes, i32s([10, 11, 12, 1, 2, 3]));
}

#[test]
fn one_value_fills_a_selection() {
    let place = Place::new();
    place.ok("write a.zarr --create --shape 4 --dtype float32 --fill NaN --dims x");
    assert_eq!(place.values("a.zarr"), json!(["NaN", "NaN", "NaN", "NaN"]));
    place.ok("write a.zarr --select 'x=1:3' --value -Infinity");
    place.ok("write a.zarr --select -1 --value 0.1");
    assert_eq!(place.ok("read a.zarr").trim(), r#"{"shape": [4], "values": ["NaN", "-Infinity", "-Infinity", 0.1]}"#);
    assert_eq!(place.run("write a.zarr --value warm").code, 2);
}

#[test]
fn types_and_shapes_must_fit() {
    let place = Place::new();
    place.ok("write a.zarr --create --shape 3 --dtype int8");
    let data: Vec<u8> = [1i64, 2, 300].into_iter().flat_map(i64::to_le_bytes).collect();
    place.file("x.npy", npy("'<i8'", false, "(3,)", &data));
    let ran = place.run("write a.zarr --from x.npy");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("int64") && ran.err.contains("int8") && ran.err.contains("--cast"), "{}", ran.err);
    let ran = place.run("write a.zarr --from x.npy --cast");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("300"), "{}", ran.err);
    assert_eq!(place.values("a.zarr"), json!([0, 0, 0]));
    let data: Vec<u8> = [1i64, 2, -3].into_iter().flat_map(i64::to_le_bytes).collect();
    place.file("y.npy", npy("'<i8'", false, "(3,)", &data));
    place.ok("write a.zarr --from y.npy --cast");
    assert_eq!(place.values("a.zarr"), json!([1, 2, -3]));
    let ran = place.run("write a.zarr --from y.npy --cast --select :2");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("holds 3, the selection is 2"), "{}", ran.err);
}

#[test]
fn an_array_that_is_there_is_not_replaced_by_accident() {
    let place = Place::new();
    place.ok("write a.zarr --create --shape 3 --dtype int8 --value 7");
    let ran = place.run("write a.zarr --create --shape 2 --dtype int16");
    assert_eq!(ran.code, 6, "{}", ran.err);
    assert!(ran.err.contains("--overwrite"), "{}", ran.err);
    assert_eq!(place.values("a.zarr"), json!([7, 7, 7]));
    // What is refused is refused before the old array goes.
    place.file("x.npy", npy("'<i4'", false, "(3,)", &i32s(0..3)));
    for line in ["--dtype int8 --from x.npy", "--shape 2 --from x.npy", "--shape 3 --dtype int8 --value 300", "--from x.npy --select 9"] {
        let ran = place.run(&format!("write a.zarr --create --overwrite {line}"));
        assert_eq!(ran.code, 2, "{line}: {}", ran.err);
        assert_eq!(place.values("a.zarr"), json!([7, 7, 7]), "{line}");
    }
    place.ok("write a.zarr --create --shape 2 --dtype int16 --overwrite");
    assert_eq!(place.values("a.zarr"), json!([0, 0]));
}

#[test]
fn gd_14952_a_fill_value_is_stored_for_every_rank() {
    let place = Place::new();
    place.ok("write a.zarr --create --shape 2,10,10 --dtype uint8 --fill 255");
    let document: serde_json::Value = serde_json::from_slice(&place.read("a.zarr/zarr.json")).unwrap();
    assert_eq!(document["fill_value"], 255);
    assert_eq!(place.values("a.zarr --select '1, 9, 9'"), json!([255]));
    assert_eq!(place.run("write b.zarr --create --shape 2 --dtype uint8 --fill 256").code, 2);
    assert!(!place.path("b.zarr").exists());
}

#[test]
fn format_2_and_its_options_are_written() {
    let place = Place::new();
    place.ok("write a.zarr --create --format 2 --shape 4,6 --dtype '>u2' --chunks 2,3 --codec blosc:lz4:5:shuffle --order F --dims y,x --attr units=K --value 513");
    let document: serde_json::Value = serde_json::from_slice(&place.read("a.zarr/.zarray")).unwrap();
    assert_eq!(document["dtype"], ">u2");
    assert_eq!(document["order"], "F");
    assert_eq!(document["compressor"]["id"], "blosc");
    assert_eq!(document["chunks"], json!([2, 3]));
    let attributes: serde_json::Value = serde_json::from_slice(&place.read("a.zarr/.zattrs")).unwrap();
    assert_eq!(attributes["_ARRAY_DIMENSIONS"], json!(["y", "x"]));
    assert_eq!(place.values("a.zarr --select '3, 5'"), json!([513]));
}

#[test]
fn selections_go_through_to_the_values() {
    let place = Place::new();
    place.file("in.npy", npy("'<i4'", false, "(3, 4)", &i32s(0..12)));
    place.ok("write a.zarr --create --from in.npy --chunks 2,3 --dims y,x");
    assert_eq!(place.json("read a.zarr --select '::-1, 1'"), json!({ "shape": [3], "values": [9, 5, 1] }));
    assert_eq!(place.json("read a.zarr --select '..., None, [3, 0]'")["shape"], json!([3, 1, 2]));
    assert_eq!(place.values("a.zarr --select 'x=2, y=1:'"), json!([6, 10]));
    assert_eq!(place.json("read a.zarr --select '3:3'"), json!({ "shape": [0, 4], "values": [] }));
    let ran = place.run("read a.zarr --select '5'");
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains('5') && ran.err.contains('3'), "{}", ran.err);
}

#[test]
fn more_axes_become_index_columns() {
    let place = Place::new();
    place.ok("write a.zarr --create --shape 1,2,2 --dtype int8 --value 7 --dims t,y,x");
    assert_eq!(place.ok("read a.zarr -f csv"), "t,y,x,value\n0,0,0,7\n0,0,1,7\n0,1,0,7\n0,1,1,7\n");
    assert_eq!(place.ok("read a.zarr -f csv -s 0"), "7,7\n7,7\n");
    assert_eq!(place.ok("read a.zarr -f csv -s '0, 0, 0'"), "7\n");
}

#[test]
fn pictures_are_drawn() {
    let place = Place::new();
    place.file("in.npy", npy("'<i4'", false, "(2, 3)", &i32s(0..6)));
    place.ok("write a.zarr --create --from in.npy");
    place.ok("read a.zarr -o a.png");
    let mut reader = png::Decoder::new(std::io::Cursor::new(place.read("a.png"))).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((frame.width, frame.height), (3, 2));
    assert_eq!(pixels, [0, 51, 102, 153, 204, 255]);
    assert_eq!(place.run("read a.zarr --format json --min 3").code, 2);
}

#[test]
fn types_that_numpy_lacks_are_refused_with_a_hint() {
    let place = Place::new();
    place.ok("write a.zarr --create --shape 2 --dtype bfloat16 --value 1.5");
    let ran = place.run("read a.zarr -o a.npy");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("bfloat16") && ran.err.contains("hint: "), "{}", ran.err);
    assert!(!place.path("a.npy").exists());
    assert_eq!(place.values("a.zarr"), json!([1.5, 1.5]));
}

#[test]
fn sharded_and_rectilinear_arrays_are_created() {
    let place = Place::new();
    place.file("in.npy", npy("'<i4'", false, "(7, 4)", &i32s(0..28)));
    place.ok("write s.zarr --create --from in.npy --chunks 2,2 --shards 4,4");
    place.ok("write r.zarr --create --from in.npy --chunks '[[3,[1,2],2],2]'");
    let all: Vec<i32> = (0..28).collect();
    assert_eq!(place.values("s.zarr"), json!(all));
    assert_eq!(place.values("r.zarr"), json!(all));
    let document: serde_json::Value = serde_json::from_slice(&place.read("r.zarr/zarr.json")).unwrap();
    assert_eq!(document["chunk_grid"]["name"], "rectilinear");
    assert_eq!(place.run("write x.zarr --create --shape 7 --dtype i4 --chunks '[[3,3]]'").code, 2);
}

#[test]
fn batches_are_appended_by_name_and_number() {
    let place = Place::new();
    place.file("in.npy", npy("'<i4'", false, "(2, 3)", &i32s(0..6)));
    place.ok("write a.zarr --create --from in.npy --chunks 2,3 --dims time,x");
    place.file("b.npy", npy("'<i4'", false, "(1, 3)", &i32s(6..9)));
    assert_eq!(place.ok("append a.zarr --axis time --from b.npy"), "3 x 3 (was 2 x 3)\n");
    let ran = place.run_with("append a.zarr --axis 0 --from - --shape 1,3 --json", &i32s(9..12));
    assert_eq!(ran.code, 0, "{}", ran.err);
    let all: Vec<i32> = (0..12).collect();
    assert_eq!(place.json("read a.zarr"), json!({ "shape": [4, 3], "values": all }));
    for (line, part) in [
        ("append a.zarr --axis depth --from b.npy", "its axes are time, x"),
        ("append a.zarr --axis 2 --from b.npy", "no axis \"2\""),
        ("append a.zarr --axis x --from b.npy", "does not fit"),
    ] {
        let ran = place.run(line);
        assert_eq!(ran.code, 2, "{line}");
        assert!(ran.err.contains(part), "{line}: {}", ran.err);
    }
}

#[test]
fn what_an_option_takes_may_begin_with_a_hyphen() {
    let place = Place::new();
    place.ok("write a.zarr --create --shape 2,3 --dtype int16 --fill -7 --dims -,x --attr -k=-1");
    let info = place.json("info --json a.zarr");
    assert_eq!((&info["dimension_names"], &info["attributes"]["-k"]), (&json!([null, "x"]), &json!(-1)));
    place.ok("write a.zarr --select -1 --value -2");
    assert_eq!(place.values("a.zarr --select -1:,-1"), json!([-2]));
    assert_eq!(place.values("a.zarr"), json!([-7, -7, -7, -2, -2, -2]));
    place.file("b.bin", [1, 0, 1, 0]);
    assert!(place.ok("append a.zarr --axis -1 --from b.bin --shape 2,1").contains("2 x 4"));
    place.ok("attrs a.zarr --set -x=1 --delete -k");
    assert_eq!(place.json("attrs a.zarr --json"), json!({"-x": 1}));
    for (line, said) in [
        ("resize a.zarr --shape -1,2", "-1"),
        ("write b.zarr --create --shape -3 --dtype int8", "-3"),
        ("write b.zarr --create --shape 3 --dtype int8 --chunks -1", "-1"),
        ("write b.zarr --create --shape 3 --dtype int8 --shards -1", "-1"),
    ] {
        let ran = place.run(line);
        assert!(ran.code == 2 && ran.err.contains(said) && !ran.err.contains("unexpected argument"), "{line}: {} {}", ran.code, ran.err);
    }
}

#[test]
fn shrinking_must_be_meant() {
    let place = Place::new();
    place.ok("write a.zarr --create --shape 6 --dtype int8 --chunks 4 --value 5");
    assert_eq!(place.ok("resize a.zarr --shape 8"), "8 (was 6)\n");
    assert_eq!(place.values("a.zarr"), json!([5, 5, 5, 5, 5, 5, 0, 0]));
    let ran = place.run("resize a.zarr --shape 2");
    assert_eq!(ran.code, 6);
    assert!(ran.err.contains("--shrink"), "{}", ran.err);
    place.ok("resize a.zarr --shape 2 --shrink");
    place.ok("resize a.zarr --shape 6");
    assert_eq!(place.values("a.zarr"), json!([5, 5, 0, 0, 0, 0]));
    assert_eq!(place.run("resize a.zarr --shape 2,2").code, 2);
}

#[test]
fn an_absent_chunk_can_be_an_error() {
    let place = Place::new();
    place.ok("write a.zarr --create --shape 4 --dtype int8 --chunks 2");
    place.ok("write a.zarr --select :2 --value 1");
    assert_eq!(place.values("a.zarr"), json!([1, 1, 0, 0]));
    let ran = place.run("read a.zarr --require-chunks");
    assert_ne!(ran.code, 0);
    assert!(ran.out.is_empty() && ran.err.contains("[1]"), "{}{}", ran.out, ran.err);
    place.ok("read a.zarr --select :2 --require-chunks");
}

#[test]
fn more_is_said_when_asked_and_never_on_standard_output() {
    let place = Place::new();
    place.ok("write a.zarr --create --shape 4 --dtype int32 --chunks 2 --value 1");
    let ran = place.run("read a.zarr -v --select 0");
    assert_eq!(ran.out, "{\"shape\": [], \"values\": [1]}\n");
    assert!(ran.err.starts_with("4 B out of 1 chunk, 8 B decoded, in "), "{}", ran.err);
}

#[test]
fn sixty_four_bit_integers_are_exact() {
    let place = Place::new();
    place.file("v.json", r#"{"shape": [3], "values": [9223372036854775807, -9223372036854775808, 9007199254740993]}"#);
    place.ok("write a.zarr --create --dtype int64 --from v.json");
    assert_eq!(place.ok("read a.zarr"), "{\"shape\": [3], \"values\": [9223372036854775807, -9223372036854775808, 9007199254740993]}\n");
}

/// A group with a group with an array of four elements in it, and consolidated metadata in `format` of all of it.
fn consolidated(place: &Place, format: u8) {
    place.file("in.npy", npy("'<i4'", false, "(4,)", &i32s(0..4)));
    place.ok(&format!("write z/inner/a --create --from in.npy --chunks 2 --format {format}"));
    let array: Value = serde_json::from_slice(&place.read(if format == 3 { "z/inner/a/zarr.json" } else { "z/inner/a/.zarray" })).unwrap();
    if format == 3 {
        let group = json!({"zarr_format": 3, "node_type": "group", "attributes": {}});
        let block = json!({"kind": "inline", "must_understand": false, "metadata": {"inner": group, "inner/a": array}});
        place.file("z/inner/zarr.json", group.to_string());
        place.file("z/zarr.json", json!({"zarr_format": 3, "node_type": "group", "consolidated_metadata": block}).to_string());
    } else {
        let group = json!({"zarr_format": 2});
        let metadata = json!({".zgroup": group, "inner/.zgroup": group, "inner/a/.zarray": array});
        place.file("z/.zgroup", group.to_string());
        place.file("z/inner/.zgroup", group.to_string());
        place.file("z/.zmetadata", json!({"zarr_consolidated_format": 1, "metadata": metadata}).to_string());
    }
}

fn block(place: &Place, format: u8) -> Value {
    let document: Value = serde_json::from_slice(&place.read(if format == 3 { "z/zarr.json" } else { "z/.zmetadata" })).unwrap();
    if format == 3 { document["consolidated_metadata"]["metadata"].clone() } else { document["metadata"].clone() }
}

#[test]
fn a_change_by_a_path_of_its_own_reaches_the_consolidated_metadata_above() {
    for format in [2, 3] {
        let place = Place::new();
        consolidated(&place, format);
        let (array, attributes) = if format == 3 { ("inner/a", "inner/a") } else { ("inner/a/.zarray", "inner/a/.zattrs") };
        place.ok("resize z/inner/a --shape 6");
        assert_eq!(block(&place, format)[array]["shape"], json!([6]), "{format}");
        place.ok("append z/inner/a --axis 0 --from in.npy");
        assert_eq!(block(&place, format)[array]["shape"], json!([10]), "{format}");
        place.ok("attrs z/inner/a --set units=K");
        let found = block(&place, format)[attributes].clone();
        assert_eq!(if format == 3 { &found["attributes"]["units"] } else { &found["units"] }, "K", "{format}");
        // What is new is in it, too.
        place.ok(&format!("write z/inner/b --create --from in.npy --format {format}"));
        place.ok(&format!("convert z/inner/a z/c --format {format}"));
        let names = block(&place, format).as_object().unwrap().keys().map(String::as_str).collect::<Vec<_>>().join(" ");
        assert!(names.contains("inner/b") && names.split(' ').any(|n| n == "c" || n == "c/.zarray"), "{names}");
        assert!(place.ok("validate z").contains("nothing is wrong"));
        // Elements are no metadata, and a place of the other format is no member.
        let before = block(&place, format);
        place.ok("write z/inner/a --value 7");
        place.ok(&format!("write z/d --create --from in.npy --format {}", 5 - format));
        assert_eq!(block(&place, format), before);
    }
}
