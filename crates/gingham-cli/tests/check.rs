//! `validate`, `checksum`, `convert`, `conformance`, `demo`.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::{Place, i32s, npy};
use serde_json::{Value, json};

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

#[test]
fn the_checksum_does_not_depend_on_the_layout() {
    let place = Place::new();
    place.file("in.npy", npy("'<i4'", false, "(6, 4)", &i32s(0..24)));
    place.ok("write a.zarr --create --from in.npy --chunks 4,3 --codec none");
    place.ok("write b.zarr --create --from in.npy --chunks '[[1,3,2],2]' --codec gzip:9");
    place.ok("write c.zarr --create --from in.npy --format 2 --order F --dtype '>i4'");
    let sum = |name: &str| lines(&place.ok(&format!("checksum --json {name}"))).remove(0);
    let first = sum("a.zarr");
    assert_eq!(first["path"], "");
    assert_eq!(first["shape"], json!([6, 4]));
    assert_eq!(first["data_type"], "int32");
    assert_eq!(sum("b.zarr")["sha256"], first["sha256"]);
    assert_eq!(sum("c.zarr")["sha256"], first["sha256"]);
    assert_eq!(place.ok("checksum a.zarr"), format!("{}  .\n", first["sha256"].as_str().unwrap()));
}

#[test]
fn what_cannot_be_hashed_is_a_line_and_a_status() {
    let place = Place::new();
    place.file("root/zarr.json", r#"{"zarr_format": 3, "node_type": "group"}"#);
    place.ok("write root/good --create --shape 2 --dtype int8 --value 1");
    place.ok("write root/torn --create --shape 2 --dtype int8 --value 1 --codec none");
    place.file("root/torn/c/0", b"x");
    place.file("root/bad/zarr.json", b"{");
    let ran = place.run("checksum --json root");
    assert_eq!(ran.code, 4, "{}", ran.err);
    let rows = lines(&ran.out);
    let row = |name: &str| rows.iter().find(|r| r["path"] == name).unwrap();
    assert!(row("good")["sha256"].is_string());
    assert!(row("torn")["error"].is_string() && row("bad")["error"].is_string());
    let ran = place.run("checksum root");
    assert_eq!((ran.code, ran.out.lines().count()), (4, 1));
    assert!(ran.err.contains("2 arrays could not be read"), "{}", ran.err);
}

#[test]
fn omez_102_every_finding_is_a_line_and_the_status_says_so() {
    let place = Place::new();
    let make = |name: &str| place.ok(&format!("write {name} --create --shape 4,4 --dtype int16 --chunks 2,2 --codec none --value 3"));
    make("good.zarr");
    let ran = place.run("validate --data good.zarr");
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert_eq!(ran.out, "good.zarr: nothing is wrong (checked: documents, keys and chunks)\n");

    make("short.zarr");
    place.file("short.zarr/c/0/1", b"123");
    let ran = place.run("validate --data short.zarr");
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.out.contains("c/0/1") && ran.out.contains("1 error"), "{}", ran.out);

    place.file("root/zarr.json", r#"{"zarr_format": 3, "node_type": "group"}"#);
    make("root/a");
    place.file("root/b/zarr.json", b"not json");
    let ran = place.run("validate root");
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.out.contains("/b"), "{}", ran.out);

    make("stray.zarr");
    place.file("stray.zarr/c/9/9", b"12345678");
    let ran = place.run("validate stray.zarr");
    assert!(ran.out.starts_with("warning") && ran.out.contains("c/9/9"), "{}", ran.out);
    assert_eq!(ran.code, 0, "a stray file is a warning");
    assert_eq!(place.run("validate --strict stray.zarr").code, 1);

    ome(&place, "image.zarr", r#"["t", "x"]"#);
    let ran = place.run("validate image.zarr --json");
    assert_eq!(ran.code, 1, "{}", ran.out);
    let rows = lines(&ran.out);
    assert!(rows.iter().any(|r| r["rule"] == "ome-dimension-names" && r["severity"] == "error"), "{}", ran.out);
    assert_eq!(rows.last().unwrap()["errors"], 1);
}

fn ome(place: &Place, name: &str, names: &str) {
    let attributes = json!({ "ome": { "version": "0.5", "multiscales": [{
        "name": "n", "type": "mean", "metadata": {},
        "axes": [{ "name": "y", "type": "space" }, { "name": "x", "type": "space" }],
        "datasets": [{ "path": "0", "coordinateTransformations": [{ "type": "scale", "scale": [1, 1] }] }],
    }] } });
    place.file(&format!("{name}/zarr.json"), json!({ "zarr_format": 3, "node_type": "group", "attributes": attributes }).to_string());
    let names: Vec<String> = serde_json::from_str(names).unwrap();
    place.ok(&format!("write {name}/0 --create --shape 4,4 --dtype uint8 --dims {}", names.join(",")));
}

#[test]
fn ome_metadata_is_judged_as_the_suite_asks() {
    let place = Place::new();
    ome(&place, "good.zarr", r#"["y", "x"]"#);
    assert_eq!(place.json("conformance ome good.zarr"), json!({ "valid": true, "message": "" }));
    ome(&place, "bad.zarr", r#"["x", "y"]"#);
    let verdict = place.json("conformance ome bad.zarr");
    assert_eq!(verdict["valid"], false);
    assert!(verdict["message"].as_str().unwrap().contains("dimensions"), "{verdict}");
    assert_eq!(place.json("conformance ome nowhere.zarr")["valid"], false);
    std::fs::remove_dir_all(place.path("good.zarr/0")).unwrap();
    assert!(place.json("conformance ome good.zarr")["message"].as_str().unwrap().contains("is not there"));
}

#[test]
fn conformance_prints_an_element_a_line() {
    let place = Place::new();
    place.ok("write a.zarr --create --shape 2,2 --dtype float32 --fill NaN");
    place.ok("write a.zarr --select 0 --value 1.5");
    assert_eq!(place.ok("conformance zarr --array_path a.zarr"), "1.5\n1.5\n\"NaN\"\n\"NaN\"\n");
}

#[test]
fn a_hierarchy_is_converted_and_reported() {
    let place = Place::new();
    place.file("in.npy", npy("'<i4'", false, "(40, 30)", &i32s(0..1200)));
    place.ok("write old.zarr --create --from in.npy --format 2 --chunks 3,4 --codec blosc:lz4 --dims y,x --attr units=K");
    let text = place.ok("convert old.zarr new.zarr --chunks 10,10 --shards 20,30");
    assert!(text.contains("1 array") && text.contains("before") && text.contains("112"), "{text}");
    let info = place.json("info --json new.zarr");
    assert_eq!(info["format"], 3);
    assert_eq!(info["inner_chunk_shape"], json!([10, 10]));
    assert_eq!(info["dimension_names"], json!(["y", "x"]));
    assert_eq!(info["attributes"]["units"], "K");
    assert_eq!(place.ok("checksum old.zarr"), place.ok("checksum new.zarr"));
    let ran = place.run("convert old.zarr new.zarr");
    assert_eq!(ran.code, 6, "{}", ran.err);
    assert!(ran.err.contains("--overwrite"), "{}", ran.err);
    place.ok("convert new.zarr back.zarr --format 2 --shards none --codec zstd:1");
    assert_eq!(place.ok("checksum old.zarr"), place.ok("checksum back.zarr"));
}

#[test]
fn progress_for_machines_is_json_on_standard_error() {
    let place = Place::new();
    place.ok("write a.zarr --create --shape 40 --dtype int8 --value 2 --chunks 4");
    let ran = place.run("--progress json convert a.zarr b.zarr --json");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let events = lines(&ran.err);
    assert!(events.iter().any(|e| e["event"] == "start") && events.iter().any(|e| e["event"] == "done"), "{}", ran.err);
    assert_eq!(serde_json::from_str::<Value>(&ran.out).unwrap()["arrays"], 1);
    assert_eq!(place.run("convert a.zarr c.zarr").err, "");
}

#[test]
fn the_demo_compares_layouts() {
    let place = Place::new();
    let report = place.json("demo here --json");
    assert_eq!(report["kept"], true);
    let layouts = report["layouts"].as_array().unwrap();
    assert_eq!(layouts.len(), 3);
    assert!(layouts[0]["objects"].as_u64() > layouts[1]["objects"].as_u64());
    let reads = report["reads"].as_array().unwrap();
    assert!(reads.iter().all(|r| r["requests"].as_u64() > Some(0)));
    assert_eq!(place.run("demo here").code, 6);
}
