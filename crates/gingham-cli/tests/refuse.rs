//! What is refused: before anything is written, in one sentence, with a hint.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use std::io::{Read, Write};
use std::net::TcpListener;

use common::{Place, i32s, npy};
use serde_json::{Value, json};

#[test]
fn a_value_that_does_not_fit_is_named_as_it_was_typed() {
    let place = Place::new();
    for (options, said) in [
        ("--dtype int32 --fill 1.5", "1.5 is not an integer"),
        ("--dtype bool --fill 2", "2 is not a value of bool"),
        ("--dtype int32 --fill abc", "\"abc\" is not a value of int32"),
        ("--dtype float32 --fill '[1]'", "a list of 1 is not a value of float32"),
    ] {
        let ran = place.run(&format!("write a --create --shape 3 {options}"));
        assert!(ran.code == 2 && ran.err.starts_with(&format!("error: --fill: {said}")), "{options}: {}", ran.err);
    }
    place.ok("write a --create --shape 1 --dtype string --fill 5 --write-empty-chunks");
    assert_eq!(place.values("a"), json!(["5"]));
}

#[test]
fn shuffling_what_is_compressed_is_refused_before_anything_is_written() {
    let place = Place::new();
    place.file("in.npy", npy("'<i4'", false, "(6,)", &i32s(0..6)));
    place.ok("write a --create --from in.npy --chunks 3");
    for line in [
        "write b --create --from in.npy --codec zstd,shuffle:4",
        "write b --create --from in.npy --codec zstd,shuffle:4 --chunks 1 --shards 6",
        "write b --create --from in.npy --chunks 3 --codec shuffle:5",
        "convert a b --codec zstd,shuffle:4",
        "convert a b --codec shuffle:8 --chunks '[[2,4]]' --format 2",
    ] {
        let ran = place.run(line);
        assert_eq!(ran.code, 6, "{line}: {}", ran.err);
        assert!(ran.err.contains("hint: ") && !place.path("b").exists(), "{line}: {}", ran.err);
    }
    // What has whole elements is written: behind a checksum, too, where they fit.
    for (i, codec) in ["shuffle:4,zstd", "shuffle:4,crc32c", "crc32c,shuffle:2", "zstd,shuffle:1"].into_iter().enumerate() {
        place.ok(&format!("convert a ok{i} --codec {codec}"));
        assert_eq!(place.values(&format!("ok{i}")), json!([0, 1, 2, 3, 4, 5]), "{codec}");
    }
}

#[test]
fn a_shuffle_of_the_source_that_new_chunks_do_not_fit_is_left_out() {
    let place = Place::new();
    place.file("in.npy", npy("'<i4'", false, "(6,)", &i32s(0..6)));
    place.ok("write a --create --from in.npy --chunks 2 --codec shuffle:8,zstd");
    let ran = place.run("convert a b --chunks 3");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("warning: /: the codec numcodecs.shuffle is not carried over"), "{}", ran.err);
    assert_eq!(place.values("b"), json!([0, 1, 2, 3, 4, 5]));
    assert!(!String::from_utf8(place.read("b/zarr.json")).unwrap().contains("shuffle"));
}

#[test]
fn names_that_format_3_reserves_stop_a_conversion_before_it_begins() {
    let place = Place::new();
    place.file("z/.zgroup", r#"{"zarr_format": 2}"#);
    place.ok("write z/__x --create --shape 3 --dtype int8 --format 2 --value 1");
    let ran = place.run("convert z new");
    assert_eq!(ran.code, 6, "{}", ran.err);
    assert!(ran.err.contains("__x") && ran.err.contains("at: /__x") && ran.err.contains("hint: rename the node"), "{}", ran.err);
    assert!(!place.path("new").exists());
    place.ok("convert z new --format 2");
    assert_eq!(place.values("new/__x"), json!([1, 1, 1]));
}

#[test]
fn opaque_bytes_keep_their_name() {
    let place = Place::new();
    let name = |path: &str| -> (Value, Value) {
        let document: Value = serde_json::from_slice(&place.read(&format!("{path}/zarr.json"))).unwrap();
        (document["data_type"].clone(), document["fill_value"].clone())
    };
    let raw_bytes = json!({"name": "raw_bytes", "configuration": {"length_bytes": 2}});
    place.ok("write new --create --shape 2 --dtype r16");
    assert_eq!(name("new"), (raw_bytes.clone(), json!("AAA=")));
    place.ok("convert new same");
    assert_eq!(name("same"), (raw_bytes.clone(), json!("AAA=")));
    let bits = String::from_utf8(place.read("new/zarr.json")).unwrap();
    let mut bits: Value = serde_json::from_str(&bits).unwrap();
    bits["data_type"] = json!("r16");
    bits["fill_value"] = json!([1, 2]);
    place.file("bits/zarr.json", bits.to_string());
    place.ok("convert bits again --chunks 1");
    assert_eq!(name("again"), (json!("r16"), json!([1, 2])));
    place.ok("convert bits old --format 2");
    place.ok("convert old young");
    assert_eq!(name("young"), (raw_bytes, json!("AQI=")));
    assert_eq!(place.values("young"), json!(["0102", "0102"]));
}

/// Serves a folder's files as a plain web server does, which lists nothing; the port.
fn serve(root: std::path::PathBuf) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, mut request) = (stream.unwrap(), Vec::new());
            let mut buffer = [0; 4096];
            while !request.ends_with(b"\r\n\r\n") {
                let n = stream.read(&mut buffer).unwrap_or(0);
                if n == 0 {
                    break;
                }
                request.extend_from_slice(&buffer[..n]);
            }
            let line = String::from_utf8_lossy(&request).into_owned();
            let path = line.split(' ').nth(1).unwrap_or("/").trim_start_matches('/').to_string();
            let (status, body) = std::fs::read(root.join(path)).map_or(("404 Not Found", Vec::new()), |b| ("200 OK", b));
            let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            // A client that has gone away is no matter.
            let _ = stream.write_all(head.as_bytes());
            if !line.starts_with("HEAD") {
                let _ = stream.write_all(&body);
            }
        }
    });
    port
}

#[test]
fn what_a_web_server_cannot_list_is_said_with_a_hint() {
    let place = Place::new();
    place.file("z/zarr.json", r#"{"zarr_format": 3, "node_type": "group"}"#);
    place.ok("write z/a --create --shape 3 --dtype int8 --value 1");
    let at = format!("http://127.0.0.1:{}/z", serve(place.path("")));
    for line in [format!("tree {at}"), format!("info --stored {at}"), format!("info --stored {at}/a"), format!("convert {at} new")] {
        let ran = place.run(&line);
        assert_eq!(ran.code, 5, "{line}: {}", ran.err);
        assert!(ran.err.contains("cannot be listed") && ran.err.contains("hint: ") && ran.err.contains(&at), "{line}: {}", ran.err);
    }
    // The group itself can be described, and an array read.
    let ran = place.run(&format!("info {at}"));
    assert!(ran.code == 0 && ran.err.contains("warning: what is in this group is not known"), "{}", ran.err);
    assert_eq!(place.values(&format!("{at}/a")), json!([1, 1, 1]));
}
