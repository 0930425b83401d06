//! `info`, `tree`, `plan`, `attrs`: what is said about a store.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::Place;
use serde_json::json;

fn months(place: &Place) {
    place.ok("write era.zarr/t2m --create --shape 366,50,70 --dtype float32 --fill NaN --dims time,lat,lon --chunks '[[31,29,[31,2],30,31,30,[31,2],30,31,30],25,35]' --codec none --attr units=K --value 273.5");
}

#[test]
fn a_rectilinear_grid_is_told_by_its_runs() {
    let place = Place::new();
    months(&place);
    let text = place.ok("info era.zarr/t2m");
    assert!(text.contains("rectilinear, 48 chunks (12 x 2 x 2)"), "{text}");
    assert!(text.contains("31, 29, 31x2, 30, 31, 30, 31x2, 30, 31, 30"), "{text}");
    assert!(text.contains("366 x 50 x 70  (time, lat, lon)"), "{text}");
    assert!(text.contains("units: K") && text.contains("NaN"), "{text}");
    let info = place.json("info --json era.zarr/t2m");
    assert_eq!(info["grid"]["kind"], "rectilinear");
    assert_eq!(info["grid"]["axes"][0]["runs"][2], json!([31, 2]));
    assert_eq!(info["grid"]["axes"][1]["step"], 25);
    assert_eq!(info["document"]["zarr_format"], 3);
    assert_eq!(info["dimension_names"], json!(["time", "lat", "lon"]));
}

#[test]
fn stored_bytes_and_objects_are_counted_when_asked() {
    let place = Place::new();
    place.ok("write a.zarr --create --shape 8 --dtype int32 --chunks 2 --codec none");
    place.ok("write a.zarr --select :4 --value 1");
    let info = place.json("info --json --stored a.zarr");
    assert_eq!(info["stored"], json!({ "objects": 2, "chunks": 2, "bytes": 16, "ratio": 2.0 }));
    let text = place.ok("info --stored a.zarr");
    assert!(text.contains("16 B in 2 of 4 chunks, ratio 2.00x"), "{text}");
}

#[test]
fn an_unknown_codec_is_shown_and_is_no_failure() {
    let place = Place::new();
    place.ok("write a.zarr --create --shape 8 --dtype int32");
    let text = String::from_utf8(place.read("a.zarr/zarr.json")).unwrap();
    let mut document: serde_json::Value = serde_json::from_str(&text).unwrap();
    document["codecs"][1] = json!({ "name": "wavpack", "configuration": { "level": 1 } });
    place.file("a.zarr/zarr.json", document.to_string());
    let text = place.ok("info a.zarr");
    assert!(text.contains("its data cannot be read") && text.contains("wavpack"), "{text}");
    assert!(place.ok("tree a.zarr").contains("wavpack"));
    let ran = place.run("read a.zarr");
    assert_eq!((ran.code, ran.out.as_str()), (4, ""));
    assert!(ran.err.contains("wavpack"), "{}", ran.err);
}

#[test]
fn vz_zarr_nested_groups_are_all_there() {
    let place = Place::new();
    let group = r#"{"zarr_format": 3, "node_type": "group", "attributes": {}}"#;
    for path in ["root", "root/g", "root/g/h", "root/e"] {
        place.file(&format!("{path}/zarr.json"), group);
    }
    for path in ["root/a", "root/g/b", "root/g/h/c"] {
        place.ok(&format!("write {path} --create --shape 2 --dtype int8 --value 3"));
    }
    let text = place.ok("tree root");
    let column = text.find("group").unwrap();
    let names: Vec<String> = text.lines().map(|l| l.chars().take(column).collect::<String>().trim_end().to_string()).collect();
    assert_eq!(names, ["root", "├── a", "├── e", "└── g", "    ├── b", "    └── h", "        └── c"], "{text}");
    assert_eq!(place.ok("tree root --depth 1").lines().count(), 4);
    place.ok("convert root copy");
    let list = place.json("tree copy --json");
    let paths: Vec<&str> = list.as_array().unwrap().iter().map(|e| e["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["", "a", "e", "g", "g/b", "g/h", "g/h/c"]);
    assert_eq!(place.values("copy/g/h/c"), json!([3, 3]));
    let report = place.json("convert root again --json");
    assert_eq!((report["groups"].clone(), report["arrays"].clone()), (json!(4), json!(3)));
}

#[test]
fn a_node_that_cannot_be_opened_is_listed_with_the_reason() {
    let place = Place::new();
    place.file("root/zarr.json", r#"{"zarr_format": 3, "node_type": "group"}"#);
    place.file("root/bad/zarr.json", r#"{"zarr_format": 3, "node_type": "array","#);
    place.ok("write root/good --create --shape 2 --dtype int8");
    let text = place.ok("tree root");
    assert!(text.lines().any(|l| l.contains("bad") && l.contains("cannot be opened: ")), "{text}");
    assert!(text.contains("good"));
    let text = place.ok("info root");
    assert!(text.contains("bad") && text.contains("good"), "{text}");
}

#[test]
fn an_array_is_wanted_but_a_group_is_named() {
    let place = Place::new();
    place.file("root/zarr.json", r#"{"zarr_format": 3, "node_type": "group"}"#);
    place.ok("write root/t2m --create --shape 2 --dtype int8");
    let ran = place.run("read root");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("is a group") && ran.err.contains("t2m"), "{}", ran.err);
}

#[test]
fn a_plan_says_what_is_touched_without_reading() {
    let place = Place::new();
    months(&place);
    let text = place.ok("plan era.zarr/t2m --select '31, :, :' --pieces 2");
    for part in ["result    50 x 70", "4 chunks", "13.7 KiB", "requests", "c/1/0/0", "… and 2 more"] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    let plan = place.json("plan era.zarr/t2m --select '31, :, :' --json --pieces 1");
    assert_eq!(plan["shape"], json!([50, 70]));
    // A chunk that is gone does not matter to a plan.
    std::fs::remove_dir_all(place.path("era.zarr/t2m/c")).unwrap();
    place.ok("plan era.zarr/t2m");
}

#[test]
fn attributes_are_printed_set_and_deleted() {
    let place = Place::new();
    place.ok("write a.zarr --create --shape 2 --dtype int8 --attr units=K");
    assert_eq!(place.ok("attrs a.zarr"), "units: K\n");
    place.ok("attrs a.zarr --set range='[1, 2]' --set name=t --delete units");
    assert_eq!(place.json("attrs a.zarr --json"), json!({ "range": [1, 2], "name": "t" }));
    assert_eq!(place.run("attrs a.zarr --delete units").code, 2);
    place.file("new.json", r#"{"x": {"y": null}}"#);
    place.ok("attrs a.zarr --edit-from new.json");
    assert_eq!(place.json("attrs a.zarr --json"), json!({ "x": { "y": null } }));
    let document: serde_json::Value = serde_json::from_slice(&place.read("a.zarr/zarr.json")).unwrap();
    assert_eq!(document["shape"], json!([2]));
}

#[test]
fn ic_stdout_warnings_do_not_touch_the_result() {
    let place = Place::new();
    place.file(
        "a.zarr/.zarray",
        r#"{"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "<f4", "compressor": null, "fill_value": NaN, "order": "C", "filters": null, "dimension_seperator": "/"}"#,
    );
    let ran = place.run("info --json a.zarr");
    assert_eq!(ran.code, 0, "{}", ran.err);
    serde_json::from_str::<serde_json::Value>(&ran.out).unwrap();
    assert!(!ran.err.is_empty(), "the odd member is not told");
    let ran = place.run("read a.zarr");
    assert_eq!(ran.out, "{\"shape\": [2], \"values\": [\"NaN\", \"NaN\"]}\n");
}

#[test]
fn a_path_may_go_on_inside_an_archive() {
    let place = Place::new();
    let archive = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/corpus/ome/google+neuroglancer/testdata/datasource/zarr/ome_zarr/simple_0.5.zip"
    );
    let Ok(bytes) = std::fs::read(archive) else {
        eprintln!("skipped: {archive} is not there");
        return;
    };
    place.file("a.zip", bytes);
    assert!(place.ok("tree a.zip").contains("scale0"));
    assert_eq!(place.json("info --json a.zip/scale0/image")["path"], "scale0/image");
    assert_eq!(place.run("info a.zip/nothing").code, 3);
}

#[test]
fn the_format_can_be_chosen_where_both_are_there() {
    let place = Place::new();
    place.ok("write a.zarr --create --shape 2 --dtype int8 --value 3");
    place.file("a.zarr/.zarray", r#"{"zarr_format": 2, "shape": [1], "chunks": [1], "dtype": "|u1", "compressor": null, "fill_value": 9, "order": "C", "filters": null}"#);
    assert_eq!(place.values("a.zarr"), json!([3, 3]));
    assert_eq!(place.values("a.zarr --zarr-format 2"), json!([9]));
    assert_eq!(place.run("info a.zarr --zarr-format 4").code, 2);
}
