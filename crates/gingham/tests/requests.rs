//! What is asked of a store: every request of a read or a write, counted and compared.
#![allow(clippy::unwrap_used)]

mod common;

use common::*;
use gingham::store::wrap::{Log, Logged};
use gingham::store::{Bytes, Condition, Got, Listing, Range, Stat, Storage, StoreError, Traits};
use gingham::{Array, Elements, FillValue, Format, Options, Store};

/// Memory that has the ways of a store behind a network.
#[derive(Debug)]
struct Remote {
    inner: Store,
    gap: u64,
}

impl Storage for Remote {
    fn describe(&self) -> String {
        "remote:".into()
    }
    fn traits(&self) -> Traits {
        Traits { local: false, gap: self.gap, concurrency: 4, ..self.inner.traits() }
    }
    fn get(&self, key: &str, range: Range) -> Got {
        self.inner.get(key, range)
    }
    fn stat(&self, key: &str) -> Result<Option<Stat>, StoreError> {
        self.inner.stat(key)
    }
    fn put(&self, key: &str, bytes: Bytes, condition: &Condition) -> Result<(), StoreError> {
        self.inner.put(key, bytes, condition)
    }
    fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.inner.delete(key)
    }
    fn list(&self, prefix: &str) -> Result<Vec<(String, u64)>, StoreError> {
        self.inner.list(prefix)
    }
    fn list_dir(&self, prefix: &str) -> Result<Listing, StoreError> {
        self.inner.list_dir(prefix)
    }
}

fn logged(inner: Store) -> (Store, Logged) {
    let log = Log::new(inner);
    let logged = log.logged();
    (Store::new(log), logged)
}

fn local() -> (Store, Logged) {
    logged(memory())
}

fn remote(gap: u64) -> (Store, Logged) {
    logged(Store::new(Remote { inner: memory(), gap }))
}

/// The requests since the last look, sorted: workers ask in any order.
fn asked(log: &Logged) -> Vec<String> {
    let mut lines = log.lines();
    lines.sort();
    lines
}

fn none() -> Vec<String> {
    Vec::new()
}

/// 10 x 12 bytes in shards of 6 x 8, of chunks of 3 x 4: shards at both edges, and one at the corner.
fn sharded(store: &Store) -> Array {
    let array = v3(store, "a", json!({"shape": [10, 12], "chunk_grid": regular(&[6, 8]), "codecs": [plain_shard(&[3, 4])]}));
    array.write_bytes((), &count_up(120)).unwrap();
    array
}

#[test]
fn opening_v3_takes_one_request_and_v2_two() {
    let (store, log) = local();
    v3(&store, "a", json!({}));
    v2(&store, "b", json!({}));
    asked(&log);
    Array::open(&store, "a").unwrap();
    assert_eq!(asked(&log), ["get a/zarr.json"]);
    Array::open_with(&store, "b", &Options { format: Some(Format::V2), ..Options::default() }).unwrap();
    assert_eq!(asked(&log), ["get b/.zarray", "get b/.zattrs"]);
    Array::open(&store, "b").unwrap();
    assert_eq!(asked(&log), ["get b/.zarray", "get b/.zattrs", "get b/zarr.json"]);
}

#[test]
fn a_plan_asks_for_nothing() {
    let (store, log) = local();
    let array = sharded(&store);
    asked(&log);
    assert_eq!(array.plan(()).unwrap().pieces().count(), 12);
    assert_eq!(asked(&log), none());
}

#[test]
fn every_shard_takes_two_requests_at_most_also_at_the_edge() {
    for (store, log) in [local(), remote(1 << 20)] {
        sharded(&store);
        let array = Array::open(&store, "a").unwrap();
        asked(&log);
        assert_eq!(all(&array), count_up(120));
        let asked = asked(&log);
        for key in ["a/c/0/0", "a/c/0/1", "a/c/1/0", "a/c/1/1"] {
            let gets = asked.iter().filter(|l| l.starts_with(&format!("get {key}"))).count();
            assert!((1..=2).contains(&gets), "{key}: {asked:?}");
        }
        assert!(asked.iter().all(|l| l.starts_with("get a/c/") || l.starts_with("stat a/c/")), "{asked:?}");
    }
}

#[test]
fn an_inner_chunk_takes_two_requests_and_one_the_next_time() {
    let (store, log) = local();
    sharded(&store);
    let array = Array::open(&store, "a").unwrap();
    asked(&log);
    assert_eq!(read(&array, "3:6, 0:4").1, [36, 37, 38, 39, 48, 49, 50, 51, 60, 61, 62, 63]);
    // An index of four entries and its checksum, then the chunk. The version tells whether the index still holds.
    // It is looked at again in the end: an index says nothing about a shard that was replaced meanwhile.
    assert_eq!(asked(&log), ["get a/c/0/0 24+12", "get a/c/0/0 48+68", "stat a/c/0/0", "stat a/c/0/0"]);
    read(&array, "3:6, 0:4");
    assert_eq!(asked(&log), ["get a/c/0/0 24+12", "stat a/c/0/0", "stat a/c/0/0"]);
    // Another handle replaces the shard: the index is read again.
    Array::open(&store, "a").unwrap().write_value(select("0, 0"), &FillValue::new([99])).unwrap();
    asked(&log);
    assert_eq!(read(&array, "0, 0:2").1, [99, 1]);
    assert_eq!(asked(&log), ["get a/c/0/0 0+12", "get a/c/0/0 48+68", "stat a/c/0/0", "stat a/c/0/0"]);

    let (store, log) = remote(0);
    sharded(&store);
    let array = Array::open(&store, "a").unwrap();
    asked(&log);
    read(&array, "3:6, 0:4");
    assert_eq!(asked(&log), ["get a/c/0/0 -68", "get a/c/0/0 24+12"]);
    read(&array, "3:6, 0:4");
    assert_eq!(asked(&log), ["get a/c/0/0 24+12"]);
}

#[test]
fn what_is_overwritten_whole_is_not_read() {
    let (store, log) = local();
    let arrays = [
        v3(&store, "plain", json!({"shape": [3, 5]})),
        v3(&store, "zipped", json!({"shape": [3, 5], "codecs": [little(), gzip()]})),
        v3(&store, "shards", json!({"shape": [3, 5], "codecs": [plain_shard(&[1, 2])]})),
        v3(&store, "edges", json!({"shape": [3, 5], "chunk_grid": rectilinear(json!([[1, 4], 3]))})),
    ];
    for array in arrays {
        for _ in 0..2 {
            asked(&log);
            array.write_bytes((), &(1..16).collect::<Vec<u8>>()).unwrap();
            let asked = asked(&log);
            assert!(asked.len() == array.plan(()).unwrap().object_count() && asked.iter().all(|l| l.starts_with("put ")), "{asked:?}");
        }
        // The chunk at both edges, as far as it lies in the array.
        let rows = if array.path() == "edges" { "1:" } else { "2:" };
        let from = if array.path() == "edges" { 3 } else { 4 };
        array.write_value(select(&format!("{rows}, {from}:")), &FillValue::new([8])).unwrap();
        let asked = asked(&log);
        assert!(asked.len() == 1 && asked[0].starts_with("put "), "{}: {asked:?}", array.path());
    }
}

#[test]
fn a_change_in_part_reads_the_old_object_once() {
    let (store, log) = local();
    for (path, codecs) in [("a", json!([little()])), ("b", json!([plain_shard(&[1, 1])]))] {
        let array = v3(&store, path, json!({"codecs": codecs}));
        array.write_bytes((), &(1..17).collect::<Vec<u8>>()).unwrap();
        asked(&log);
        array.write_bytes(select("0, 0"), &[9]).unwrap();
        let lines = asked(&log);
        assert_eq!(
            lines.iter().map(|l| l.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect::<Vec<_>>(),
            [format!("get {path}/c/0/0"), format!("put {path}/c/0/0"), format!("stat {path}/c/0/0")]
        );
        assert!(lines[1].contains(" if "), "the put is on a condition: {lines:?}");
    }
}

#[test]
fn writing_fill_where_nothing_is_stored_puts_and_deletes_nothing() {
    let (store, log) = local();
    let array = v3(&store, "a", json!({"codecs": [plain_shard(&[1, 1])]}));
    asked(&log);
    array.write_value(select("0, 0"), &FillValue::new([0])).unwrap();
    assert_eq!(asked(&log), ["stat a/c/0/0"]);
    // The last element that is not fill goes: so does the object, if it is still the one that was read.
    array.write_bytes(select("0, 0"), &[5]).unwrap();
    asked(&log);
    array.write_value(select("0, 0"), &FillValue::new([0])).unwrap();
    let lines = asked(&log);
    assert!(lines[0].starts_with("delete a/c/0/0 if ") && lines.len() == 3, "{lines:?}");
    assert!(array.stored().unwrap().is_empty());
}

#[test]
fn parts_of_uncompressed_chunks() {
    let (store, log) = local();
    let array = v3(&store, "a", json!({"shape": [8, 16, 128], "chunk_grid": regular(&[8, 16, 128])}));
    let data: Vec<u8> = (0..16384u32).map(|i| (i % 251) as u8).collect();
    array.write_bytes((), &data).unwrap();
    asked(&log);
    assert_eq!(read(&array, "3").1, data[6144..8192]);
    // A file of another size would hold the elements elsewhere, so that it is asked for its size.
    assert_eq!(asked(&log), ["get a/c/0/0/0 6144+2048", "stat a/c/0/0/0"]);
    assert_eq!(read(&array, "3, 4:6, ::-1").1, data[6656..6912].chunks(128).flat_map(|r| r.iter().rev().copied()).collect::<Vec<_>>());
    assert_eq!(asked(&log), ["get a/c/0/0/0 6656+256", "stat a/c/0/0/0"]);
    // A thin slice lies in 128 places: the chunk is read once.
    assert_eq!(read(&array, ":, :, 3").1, data.iter().copied().skip(3).step_by(128).collect::<Vec<_>>());
    assert_eq!(asked(&log), ["get a/c/0/0/0"]);
    // Nearly everything is read as everything.
    read(&array, "1:");
    assert_eq!(asked(&log), ["get a/c/0/0/0"]);
    // A few rows far apart are a few reads of memory or a file ...
    assert_eq!(read(&array, ":, 3").1.len(), 1024);
    assert_eq!(asked(&log).iter().filter(|l| l.starts_with("get")).count(), 8);

    // ... and the whole chunk, or one range, behind a network.
    let (store, log) = remote(1 << 20);
    let array = v3(&store, "a", json!({"shape": [8, 16, 128], "chunk_grid": regular(&[8, 16, 128])}));
    array.write_bytes((), &data).unwrap();
    asked(&log);
    assert_eq!(read(&array, "3").1, data[6144..8192]);
    assert_eq!(asked(&log), ["get a/c/0/0/0 6144+2048"]);
    assert_eq!(read(&array, ":, 3, 5").1, data.iter().copied().skip(3 * 128 + 5).step_by(2048).collect::<Vec<_>>());
    assert_eq!(asked(&log), ["get a/c/0/0/0"]);
}

#[test]
fn absent_objects_are_asked_for_once() {
    for (codecs, request) in [(json!([little()]), "get"), (json!([little(), gzip()]), "get"), (json!([plain_shard(&[1, 1])]), "stat")] {
        let (store, log) = local();
        let array = v3(&store, "a", json!({"fill_value": 5, "codecs": codecs}));
        asked(&log);
        assert_eq!(all(&array), [5; 16]);
        let keys = ["a/c/0/0", "a/c/0/1", "a/c/1/0", "a/c/1/1"].map(|k| format!("{request} {k}"));
        assert_eq!(asked(&log), keys, "{codecs}");
    }
    let (store, log) = local();
    let array = v3(&store, "a", json!({"shape": [4], "chunk_grid": regular(&[4]), "fill_value": 5}));
    asked(&log);
    assert_eq!(all(&array), [5; 4]);
    assert_eq!(asked(&log), ["get a/c/0"], "also where a chunk is read straight into the output");
    // A chunk that is absent from a shard costs no request of its own.
    let array = sharded(&store);
    array.write_value(select(":3, :4"), &FillValue::new([0])).unwrap();
    asked(&log);
    assert_eq!(read(&array, ":3, :4").1, [0; 12]);
    assert_eq!(asked(&log), ["get a/c/0/0 36+68", "stat a/c/0/0", "stat a/c/0/0"]);
}

#[test]
fn a_store_behind_a_network_merges_ranges_over_its_gap() {
    for (gap, ranges) in [(0, vec!["0+16", "32+16"]), (16, vec!["0+48"])] {
        let (store, log) = remote(gap);
        // One row of eight chunks of 16 bytes.
        v3(&store, "a", json!({"shape": [8, 16], "chunk_grid": regular(&[8, 16]), "codecs": [plain_shard(&[1, 16])]}))
            .write_bytes((), &(1..129).collect::<Vec<u8>>())
            .unwrap();
        let array = Array::open(&store, "a").unwrap();
        asked(&log);
        assert_eq!(read(&array, "0:3:2").1, (1..17).chain(33..49).collect::<Vec<u8>>());
        let data: Vec<String> = asked(&log).into_iter().filter(|l| !l.ends_with("-132")).collect();
        assert_eq!(data, ranges.iter().map(|r| format!("get a/c/0/0 {r}")).collect::<Vec<_>>(), "gap {gap}");
    }
}

#[test]
fn a_shard_of_which_most_is_wanted_is_one_request_behind_a_network() {
    let (store, log) = remote(0);
    sharded(&store);
    let array = Array::open(&store, "a").unwrap();
    asked(&log);
    assert_eq!(read(&array, ":6, :8").1.len(), 48);
    assert_eq!(asked(&log), ["get a/c/0/0"]);
    read(&array, ":6, :5");
    assert_eq!(asked(&log), ["get a/c/0/0"]);
    read(&array, ":3, :8");
    assert_eq!(asked(&log), ["get a/c/0/0 -68", "get a/c/0/0 0+24"]);
}

#[test]
fn both_drivers_ask_for_the_same() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for make in [local, || remote(0), || remote(1 << 16)] {
        let (store, log) = make();
        let raw = v3(&store, "raw", json!({"shape": [8, 16, 128], "chunk_grid": regular(&[4, 16, 128])}));
        raw.write_bytes(select("2:"), &vec![3; 6 * 16 * 128]).unwrap();
        v3(&store, "zip", json!({"shape": [8, 16, 128], "chunk_grid": regular(&[4, 16, 100]), "codecs": [little(), gzip()]}))
            .write_bytes(select(":2"), &vec![3; 2 * 16 * 128])
            .unwrap();
        v3(&store, "cut", json!({"shape": [8, 16, 128], "chunk_grid": regular(&[4, 16, 128]), "codecs": [plain_shard(&[2, 4, 32])]}))
            .write_bytes(select("0:3, :, 30:"), &vec![3; 3 * 16 * 98])
            .unwrap();
        for path in ["raw", "zip", "cut"] {
            for text in ["", "3", ":, 3", "1:7:3, ::5, 7", "2:6, 0:1, ::-1", "[7, 0, 1], :, [5, 90]", "0:0", ":, :, 3"] {
                let array = || Array::open(&store, path).unwrap();
                let (blocking, awaited) = (array(), array());
                asked(&log);
                let one = blocking.read_elements(select(text)).unwrap();
                let by_one = asked(&log);
                let other = runtime.block_on(awaited.read_async(select(text))).unwrap();
                let by_other = asked(&log);
                assert_eq!(one, other, "{path} {text}");
                assert_eq!(by_one, by_other, "{path} {text}");
            }
        }
    }
}

#[test]
fn appending_touches_the_last_chunks_only() {
    let (store, log) = local();
    let mut array = v3(&store, "a", json!({"shape": [9], "chunk_grid": regular(&[4])}));
    array.write_bytes((), &(1..10).collect::<Vec<u8>>()).unwrap();
    asked(&log);
    array.append(0, &[4], &Elements::Fixed(vec![7; 4])).unwrap();
    let chunks: Vec<String> = asked(&log).into_iter().filter(|l| l.contains("a/c/") && !l.starts_with("stat")).collect();
    assert!(
        chunks.len() == 3 && chunks[0] == "get a/c/2" && chunks[1].starts_with("put a/c/2") && chunks[2].starts_with("put a/c/3"),
        "{chunks:?}"
    );
}

#[test]
fn a_plan_says_how_many_requests_there_will_be_at_most() {
    let selections = [
        "",
        "3",
        ":, 3",
        "1:7:3, ::5",
        "2:6, 0:1",
        "::-1, ::-1",
        "[7, 0, 1], :",
        "vindex[[0, 9, 3], [11, 0, 5]]",
        "0:0",
        "1:9, 1:11",
        ":, 1:2",
    ];
    let transposed = json!({"name": "transpose", "configuration": {"order": [1, 0]}});
    let chains = [
        ("raw", json!([little()]), 0),
        ("turned", json!([transposed, little()]), 0),
        ("zip", json!([little(), gzip()]), 0),
        ("shards", json!([plain_shard(&[3, 4])]), 0),
        ("fine", json!([plain_shard(&[1, 1])]), 0),
        ("turned-shards", json!([transposed, plain_shard(&[4, 3])]), 0),
        ("absent", json!([plain_shard(&[1, 1])]), 120),
    ];
    let mut exact = 0;
    for make in [local, || remote(0), || remote(1 << 16)] {
        let (store, log) = make();
        for (path, codecs, first) in &chains {
            let array = v3(&store, path, json!({"shape": [10, 12], "chunk_grid": regular(&[6, 8]), "codecs": codecs}));
            if *first == 0 {
                array.write_bytes((), &count_up(120)).unwrap();
            }
            for text in selections {
                // Opened anew: an index that is known already costs nothing.
                let array = Array::open(&store, path).unwrap();
                let plan = array.plan(select(text)).unwrap();
                asked(&log);
                array.read_elements(select(text)).unwrap();
                let took = asked(&log);
                let most = array.requests(&plan);
                assert!(took.len() as u64 <= most, "{path} {text}: at most {most}, {took:?}");
                exact += usize::from(took.len() as u64 == most);
            }
        }
    }
    assert!(exact > 100, "the bound is met by {exact} of 231 reads: it says little");
}

#[test]
fn the_most_requests_of_a_plan_are_those_of_its_parts() {
    let (store, _) = remote(0);
    let array = sharded(&store);
    let most = |text: &str| array.requests(&array.plan(select(text)).unwrap());
    // A shard that is wanted whole; its index and two chunks; two shards, four chunks in one and two in the other.
    assert_eq!((most(":6, :8"), most(":3, :8"), most(":6, :12")), (1, 3, 1 + 1 + 2));
    let (store, _) = local();
    let array = sharded(&store);
    let plan = array.plan(select(":3, :8")).unwrap();
    assert_eq!((array.requests(&plan), plan.requests()), (3 + 2, 3));
    assert_eq!(plan.to_json(0)["requests"], 3);
    assert!(plan.to_string().contains("requests   3 at most"));
    // Rows of an uncompressed chunk lie together where they are wanted whole.
    let array = v3(&store, "raw", json!({"shape": [8, 16, 128], "chunk_grid": regular(&[8, 16, 128])}));
    let most = |text: &str| array.requests(&array.plan(select(text)).unwrap());
    assert_eq!((most("3"), most("3, 4:6, 5:9"), most(":, 3"), most(""), most(":, :, 3")), (2, 3, 9, 1, 65));
}

#[test]
fn large_uncompressed_chunks_take_no_more_requests_than_their_plan_says() {
    let (store, log) = local();
    let array = v3(&store, "a", json!({"shape": [2, 1024, 1024], "chunk_grid": regular(&[1, 1024, 512])}));
    array.write_bytes((), &vec![7; 2 << 20]).unwrap();
    for text in ["", "0", ":, 1:, :", ":, 1000:", ":, ::2, ::3"] {
        let plan = array.plan(select(text)).unwrap();
        asked(&log);
        array.read_elements(select(text)).unwrap();
        let took = asked(&log).len() as u64;
        assert!(took <= array.requests(&plan), "{text}: at most {}, {took}", array.requests(&plan));
    }
}

#[test]
fn kept_chunks_are_decoded_once_as_long_as_they_are_the_same() {
    let options = Options { kept_chunks: 1 << 20, ..Options::default() };
    let (store, log) = local();
    v3(
        &store,
        "a",
        json!({"shape": [6], "chunk_grid": regular(&[4]), "codecs": [{"name": "bytes"}, {"name": "gzip", "configuration": {"level": 1}}]}),
    )
    .write_bytes((), &[1, 2, 3, 4, 5, 6])
    .unwrap();
    let mut shard = plain_shard(&[3, 4]);
    shard["configuration"]["codecs"] = json!([{"name": "bytes"}, {"name": "crc32c"}]);
    let array = v3(&store, "s", json!({"shape": [10, 12], "chunk_grid": regular(&[6, 8]), "codecs": [shard]}));
    array.write_bytes((), &count_up(120)).unwrap();
    for (path, first) in
        [("a", vec!["get a/c/0", "stat a/c/0"]), ("s", vec!["get s/c/0/0 32+16", "get s/c/0/0 64+68", "stat s/c/0/0", "stat s/c/0/0"])]
    {
        let array = Array::open_with(&store, path, &options).unwrap();
        let all = select(if path == "a" { "1:3" } else { "3:6, 0:4" });
        asked(&log);
        let values = array.read_elements(all.clone()).unwrap();
        assert_eq!(asked(&log), first);
        for _ in 0..2 {
            assert_eq!(array.read_elements(all.clone()).unwrap(), values);
            assert!(asked(&log).iter().all(|l| l.starts_with("stat ")), "{path}");
        }
        // Another handle changes it: what is kept is of another version.
        Array::open(&store, path).unwrap().write_value(all.clone(), &FillValue::new([99])).unwrap();
        let changed = array.read_elements(all).unwrap();
        assert_ne!(changed, values, "{path}");
        assert_eq!(changed.1.as_fixed().unwrap(), vec![99; changed.1.as_fixed().unwrap().len()]);
    }
}
