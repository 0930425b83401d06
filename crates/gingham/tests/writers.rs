//! Many writers of one object: no update is lost.
#![allow(clippy::unwrap_used)]

mod common;

use common::*;
use gingham::{Array, FillValue, Store};

const WRITERS: usize = 8;
const ROUNDS: u8 = 50;

fn create(store: &Store) -> Array {
    v3(store, "a", json!({"shape": [4, 4, 4], "chunk_grid": regular(&[4, 4, 4]), "codecs": [plain_shard(&[2, 2, 2])]}))
}

/// Inner chunk `w` as a selection.
fn place(w: usize) -> gingham::Selection {
    let along = |i: usize| format!("{}:{}", i * 2, i * 2 + 2);
    select(&[along(w >> 2), along(w >> 1 & 1), along(w & 1)].join(", "))
}

/// One writer's rounds: its chunk gets another value in each, sometimes the fill value.
fn rounds(array: &Array, w: usize) {
    for round in 0..ROUNDS {
        let value = if round % 5 == 3 { 0 } else { round + 1 };
        array.write_value(place(w), &FillValue::new([value])).unwrap();
        let (_, read) = array.read_elements(place(w)).unwrap();
        assert_eq!(read.as_fixed().unwrap(), [value; 8], "writer {w}, round {round}: what was written is read");
    }
}

fn check(store: &Store) {
    let array = Array::open(store, "a").unwrap();
    for w in 0..WRITERS {
        let (_, read) = array.read_elements(place(w)).unwrap();
        assert_eq!(read.as_fixed().unwrap(), [ROUNDS; 8], "the chunk of writer {w}");
    }
}

/// zp-3682: eight threads, each with its own chunk of one shard.
fn race(store: &Store, handles: impl Fn(usize) -> Array + Sync) {
    std::thread::scope(|s| {
        for w in 0..WRITERS {
            let handles = &handles;
            s.spawn(move || rounds(&handles(w), w));
        }
    });
    check(store);
}

#[test]
fn zp_3682_threads_that_share_a_handle_in_memory() {
    let store = memory();
    let array = create(&store);
    race(&store, |_| array.clone());
}

#[test]
fn zp_3682_threads_that_share_a_handle_on_files() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().to_str().unwrap()).unwrap();
    let array = create(&store);
    race(&store, |_| array.clone());
}

#[test]
fn zp_3682_threads_with_handles_of_their_own_in_memory() {
    let store = memory();
    create(&store);
    race(&store, |_| Array::open(&store, "a").unwrap());
}

#[test]
fn zp_3682_threads_with_handles_and_stores_of_their_own_on_files() {
    let dir = tempfile::tempdir().unwrap();
    let open = || Store::open(dir.path().to_str().unwrap()).unwrap();
    create(&open());
    race(&open(), |_| Array::open(&open(), "a").unwrap());
    let left: Vec<_> = std::fs::read_dir(dir.path().join("a/c/0/0")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["0"], "no lock and no temporary file is left");
}

/// The variable by which this test starts itself in other processes.
const DIRECTORY: &str = "GINGHAM_TEST_WRITERS";

#[cfg(unix)]
#[test]
fn zp_3682_processes() {
    if let Ok(job) = std::env::var(DIRECTORY) {
        let (w, dir) = job.split_once(' ').unwrap();
        let store = Store::open(dir).unwrap();
        return rounds(&Array::open(&store, "a").unwrap(), w.parse().unwrap());
    }
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().to_str().unwrap()).unwrap();
    create(&store);
    let start = |w: usize| {
        std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "zp_3682_processes"])
            .env(DIRECTORY, format!("{w} {}", dir.path().display()))
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap()
    };
    let children: Vec<_> = (0..WRITERS).map(start).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    check(&store);
}

#[test]
fn elements_of_one_compressed_chunk() {
    let dir = tempfile::tempdir().unwrap();
    let files = || Store::open(dir.path().to_str().unwrap()).unwrap();
    let shared = memory();
    let in_memory = || shared.clone();
    let stores: [&(dyn Fn() -> Store + Sync); 2] = [&in_memory, &files];
    for open in stores {
        v3(&open(), "z", json!({"shape": [8], "chunk_grid": regular(&[8]), "codecs": [little(), gzip()]}));
        std::thread::scope(|s| {
            for w in 0..WRITERS {
                s.spawn(move || {
                    let array = Array::open(&open(), "z").unwrap();
                    for round in 1..=ROUNDS {
                        array.write_value(select(&w.to_string()), &FillValue::new([round % 7])).unwrap();
                    }
                });
            }
        });
        assert_eq!(all(&Array::open(&open(), "z").unwrap()), [ROUNDS % 7; 8]);
    }
}

/// A whole overwrite beside changes in part: the end is one of the orders in which they may have happened.
#[test]
fn whole_and_partial_writers_of_one_shard() {
    let dir = tempfile::tempdir().unwrap();
    let open = || Store::open(dir.path().to_str().unwrap()).unwrap();
    create(&open());
    for round in 1..=20u8 {
        std::thread::scope(|s| {
            s.spawn(|| Array::open(&open(), "a").unwrap().write_value((), &FillValue::new([round])).unwrap());
            s.spawn(|| Array::open(&open(), "a").unwrap().write_value(place(3), &FillValue::new([round + 100])).unwrap());
        });
        let array = Array::open(&open(), "a").unwrap();
        for w in 0..WRITERS {
            let (_, read) = array.read_elements(place(w)).unwrap();
            let value = read.as_fixed().unwrap()[0];
            assert!(value == round || (w == 3 && value == round + 100), "round {round}, chunk {w}: {value}");
        }
    }
}
