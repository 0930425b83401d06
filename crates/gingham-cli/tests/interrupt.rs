//! Ctrl-C and SIGTERM: the status, the sentence, and what is left.
#![cfg(unix)]
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{Place, command};

/// Starts it, signals it when `ready` is true, and waits: status and standard error.
fn stopped(place: &Place, line: &str, signal: &str, ready: impl Fn() -> bool) -> (i32, String) {
    let mut command = command(&place.path(""));
    // One worker: the work takes as long as it can.
    command.args(line.split(' ')).args(["-j", "1"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let stdin = child.stdin.take();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !ready() {
        assert!(Instant::now() < deadline && child.try_wait().unwrap().is_none(), "{line}: nothing to stop");
        std::thread::sleep(Duration::from_millis(2));
    }
    kill(&child, signal);
    let out = child.wait_with_output().unwrap();
    drop(stdin);
    (out.status.code().unwrap_or(-1), String::from_utf8(out.stderr).unwrap())
}

fn kill(child: &Child, signal: &str) {
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
}

fn files(place: &Place, name: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![place.path(name)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path => found.push(path.strip_prefix(place.path("")).unwrap().display().to_string()),
            }
        }
    }
    found
}

/// Enough chunks that a conversion is under way for seconds.
fn large(place: &Place) {
    let bytes: Vec<u8> = (0..4_000_000u32).map(|i| (i.wrapping_mul(2654435761) >> 13) as u8).collect();
    place.file("in.bin", bytes);
    place.ok("write a --create --shape 4000,1000 --dtype uint8 --chunks 40,1000 --codec none --from in.bin");
}

#[test]
fn an_interrupted_conversion_leaves_nothing_half_written() {
    let place = Place::new();
    large(&place);
    let started = || files(&place, "b").len() > 3;
    let (code, err) = stopped(&place, "convert a b --chunks 10,10 --memory 1MiB", "-INT", started);
    assert_eq!(code, 130, "{err}");
    assert!(err.starts_with("error: interrupted\n") && err.contains("hint: b is not complete; run it again with --overwrite"), "{err}");
    assert!(files(&place, "b").iter().all(|f| f.starts_with("b/c/") && !f.contains("tmp")), "{:?}", files(&place, "b"));
    assert_eq!(place.run("info b").code, 3, "what is not complete is no array");
    place.ok("convert a b --overwrite");
    assert_eq!(place.ok("read a --format raw -o a.raw"), place.ok("read b --format raw -o b.raw"));
    assert_eq!(place.read("a.raw"), place.read("b.raw"));
}

#[test]
fn an_archive_that_is_not_complete_does_not_take_its_place() {
    let place = Place::new();
    large(&place);
    let hidden = || std::fs::read_dir(place.path("")).unwrap().count() > 2;
    let (code, err) = stopped(&place, "convert a b.zip --chunks 10,10 --memory 1MiB", "-TERM", hidden);
    assert_eq!(code, 143, "{err}");
    assert!(err.contains("b.zip is as it was before") || err.contains("nothing was written"), "{err}");
    let mut names: Vec<_> = std::fs::read_dir(place.path("")).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a", "in.bin"], "the temporary file is gone");
}

#[test]
fn what_waits_for_its_input_is_ended_all_the_same() {
    let place = Place::new();
    place.ok("write a --create --shape 8 --dtype uint8 --value 3");
    let before = place.read("a/zarr.json");
    for (signal, status) in [("-INT", 130), ("-TERM", 143)] {
        let start = Instant::now();
        // Time to start listening to signals; nothing of the command can be seen from outside.
        let begun = || start.elapsed() > Duration::from_millis(1500);
        let (code, err) = stopped(&place, "append a --axis 0 --shape 8 --from -", signal, begun);
        assert_eq!(code, status, "{err}");
        assert!(err.contains("error: interrupted; what was written whole stays"), "{err}");
        assert_eq!(place.read("a/zarr.json"), before);
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let place = Place::new();
    for i in 0..200 {
        place.file(&format!("z/{i}/zarr.json"), r#"{"zarr_format": 3, "node_type": "group"}"#);
    }
    place.file("z/zarr.json", r#"{"zarr_format": 3, "node_type": "group"}"#);
    place.ok("write a --create --shape 200000 --dtype int32 --value 3");
    for line in ["tree z", "info --json z", "read a", "read a --format csv", "--help", "completions bash"] {
        let mut child = command(&place.path("")).args(line.split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let out = child.wait_with_output().unwrap();
        assert_eq!((out.status.code(), String::from_utf8_lossy(&out.stderr).as_ref()), (Some(0), ""), "{line}");
    }
}
