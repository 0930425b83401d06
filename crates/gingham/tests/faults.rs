//! Stores that fail, objects that are damaged, and documents that ask for too much: clear errors, never data, never a panic.
#![allow(clippy::unwrap_used)]

mod common;

use common::*;
use gingham::store::StoreErrorKind;
use gingham::store::wrap::{Call, Fault, Injected};
use gingham::{Array, Elements, Error, FillValue, Group, Kind, Options, Selection, Store};

/// Chains of all ways in which a chunk is fetched.
fn chains() -> [Value; 4] {
    [
        json!([little()]),
        json!([little(), gzip(), "crc32c"]),
        json!([shard(&[1, 2], json!([little(), "crc32c"]), json!([little(), "crc32c"]), "end")]),
        json!([shard(&[1, 2], json!([little(), "crc32c"]), json!([little(), "crc32c"]), "start"), gzip()]),
    ]
}

/// `store`, where what `decide` says goes wrong with requests of chunks.
fn faulty(store: &Store, decide: impl Fn(&Call) -> Option<Injected> + Send + Sync + 'static) -> Store {
    Store::new(Fault::new(store.clone(), move |call| {
        let key = match call {
            Call::Get { key, .. } | Call::Stat { key } | Call::Put { key, .. } => key.as_str(),
            _ => return None,
        };
        if key.contains("/c/") { decide(call) } else { None }
    }))
}

fn assert_placed(error: &Error, node: &str) {
    let place = error.place();
    assert_eq!(place.node.as_deref(), Some(node), "{error:?}");
    assert!(place.key.as_deref().is_some_and(|k| k.starts_with(&node[1..])), "{error:?}");
    assert!(place.chunk.is_some() && place.store.is_some(), "{error:?}");
}

#[test]
fn a_store_that_fails_never_reads_as_fill() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for codecs in chains() {
        let store = memory();
        v3(&store, "a", json!({"codecs": codecs, "fill_value": 7})).write_bytes((), &count_up(16)).unwrap();
        use StoreErrorKind::*;
        for kind in [NotFound, Denied, Failed, Short, Corrupt, Unsupported, Conflict] {
            // zjl-131: only an absent key is fill. Each request fails in turn, stats and gets.
            for failing in 0..3 {
                let count = std::sync::atomic::AtomicUsize::new(0);
                let bad = faulty(&store, move |_| {
                    let n = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    (n == failing).then_some(Injected::Fail(kind))
                });
                let array = Array::open(&bad, "a").unwrap();
                match array.read_elements(select("0:2, 0:2")) {
                    Err(error) => assert_placed(&error, "/a"),
                    Ok((_, elements)) => assert_eq!(elements, Elements::Fixed(vec![0, 1, 4, 5]), "no request failed"),
                }
            }
            let bad = faulty(&store, move |call| matches!(call, Call::Get { .. }).then_some(Injected::Fail(kind)));
            let array = Array::open(&bad, "a").unwrap();
            for text in ["", "0, 0", "1:3, ::-1", "[3, 0], 2"] {
                assert_placed(&array.read_elements(select(text)).unwrap_err(), "/a");
                assert_placed(&runtime.block_on(array.read_async(select(text))).unwrap_err(), "/a");
            }
            let error = array.write_bytes(select("0, 0"), &[9]).unwrap_err();
            assert_placed(&error, "/a");
            assert_eq!(all(&Array::open(&store, "a").unwrap()), count_up(16));
        }
    }
}

#[test]
fn a_document_that_cannot_be_got_is_not_an_absent_one() {
    let store = memory();
    v3(&store, "v3", json!({}));
    put(&store, "v2/.zattrs", "{}");
    v2(&store, "v2", json!({}));
    for (path, name) in [("v3", "zarr.json"), ("v2", "zarr.json"), ("v2", ".zarray"), ("v2", ".zattrs")] {
        let bad = Store::new(Fault::new(store.clone(), move |call| {
            matches!(call, Call::Get { key, .. } if key.ends_with(name)).then_some(Injected::Fail(StoreErrorKind::Failed))
        }));
        let error = Array::open(&bad, path).unwrap_err();
        assert_eq!((error.kind(), error.place().key.as_deref()), (Kind::Store, Some(format!("{path}/{name}").as_str())));
        assert!(error.place().node.as_deref().is_some_and(|n| n.ends_with(path)), "{error:?}");
        let entries = Group::open(&bad, "").map(|g| g.walk().unwrap());
        if let Ok(entries) = entries {
            let entry = entries.iter().find(|e| e.relative == path).unwrap_or_else(|| panic!("{path} is left out"));
            assert!(entry.node.is_err(), "{path} {name}");
        }
    }
}

#[test]
fn answers_that_are_cut_short_or_changed_are_never_data() {
    for codecs in chains() {
        let store = memory();
        let is_raw = codecs.as_array().unwrap().len() == 1 && codecs[0]["name"] == "bytes";
        v3(&store, "a", json!({"shape": [8, 8], "chunk_grid": regular(&[4, 8]), "codecs": codecs, "fill_value": 7}))
            .write_bytes((), &count_up(64))
            .unwrap();
        for text in ["", "5", "1:7:3, ::-2", "2, 3"] {
            let right = Array::open(&store, "a").unwrap().read_elements(select(text)).unwrap();
            for n in [0, 1, 3, 4, 8, 15, 31, 40, 64, 100] {
                let bad = faulty(&store, move |_| Some(Injected::Truncate(n)));
                match Array::open(&bad, "a").unwrap().read_elements(select(text)) {
                    Ok(read) => assert_eq!(read, right, "{codecs} {text}: {n} bytes of each answer"),
                    Err(error) => assert_placed(&error, "/a"),
                }
                if is_raw {
                    continue;
                }
                let bad = faulty(&store, move |_| Some(Injected::Flip(n)));
                match Array::open(&bad, "a").unwrap().read_elements(select(text)) {
                    Ok(read) => assert_eq!(read, right, "{codecs} {text}: byte {n} of each answer"),
                    Err(error) => assert_placed(&error, "/a"),
                }
            }
        }
    }
}

#[test]
fn a_torn_object_is_replaced_whole_and_never_changed_in_part() {
    for codecs in chains() {
        let store = memory();
        let array = v3(&store, "a", json!({"shape": [3, 4], "chunk_grid": regular(&[2, 4]), "codecs": codecs, "fill_value": 7}));
        array.write_bytes((), &count_up(12)).unwrap();
        for key in ["a/c/0/0", "a/c/1/0"] {
            let whole = get(&store, key).unwrap();
            for keep in [0, 1, whole.len() / 2, whole.len() - 1] {
                put(&store, key, &whole[..keep]);
                let at = if key == "a/c/0/0" { "0, 0" } else { "2, 0" };
                let error = array.write_bytes(select(at), &[99]).unwrap_err();
                assert_placed(&error, "/a");
                assert_eq!(error.kind(), Kind::Corrupt, "{error}");
                assert_eq!(get(&store, key).unwrap(), &whole[..keep], "it is left as it is");
                assert!(array.read_elements(select(at)).is_err());
                // The chunk at the edge counts as whole where all of it that lies in the array is written.
                let (rows, data) = if key == "a/c/0/0" { ("0:2", count_up(8)) } else { ("2:", (8..12).collect()) };
                array.write_bytes(select(rows), &data).unwrap();
                assert_eq!(get(&store, key).unwrap(), whole);
                assert_eq!(all(&array), count_up(12));
            }
        }
    }
}

#[test]
fn uncompressed_chunks_of_a_wrong_size() {
    let store = memory();
    let plain = v3(&store, "a", json!({}));
    let turned = v3(&store, "b", json!({"codecs": [{"name": "transpose", "configuration": {"order": [1, 0]}}, little()]}));
    let one = v3(&store, "d", json!({"chunk_grid": regular(&[4, 4])}));
    for (array, key) in [(plain, "a/c/0/0"), (turned, "b/c/0/0"), (one, "d/c/0/0")] {
        let len = if key == "d/c/0/0" { 16 } else { 4 };
        for size in [0, len - 1, len + 1, 2 * len] {
            put(&store, key, vec![1; size]);
            for text in ["", ":2, :2", ":, ::-1"] {
                let error = array.read_elements(select(text)).unwrap_err();
                assert_placed(&error, &format!("/{}", array.path()));
                assert_eq!(error.kind(), Kind::Corrupt, "{error}");
                assert!(error.to_string().contains(&size.to_string()), "{error}");
            }
            assert!(array.write_bytes(select("0, 0"), &[1]).is_err());
        }
    }
}

/// A shard of four chunks of one byte whose index, without checksum and at the end, has these words.
fn shard_with(words: [u64; 8]) -> (Store, Array) {
    let store = memory();
    let sharding = shard(&[1], json!([little()]), json!([little()]), "end");
    let array = v3(&store, "a", json!({"shape": [4], "chunk_grid": regular(&[4]), "codecs": [sharding], "fill_value": 7}));
    let index: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    put(&store, "a/c/0", [&[10, 11, 12, 13][..], &index].concat());
    (store, array)
}

#[test]
fn shard_indexes_that_are_wrong() {
    const NO: u64 = u64::MAX;
    // Chunks that share bytes are odd and legal, as are chunks in any order.
    let (_, array) = shard_with([3, 1, 0, 1, 0, 1, NO, NO]);
    assert_eq!(all(&array), [13, 10, 10, 7]);
    for (words, what) in [
        ([NO - 1, 4, 0, 1, 0, 1, 0, 1], "wraps around"),
        ([1 << 63, 1 << 63, 0, 1, 0, 1, 0, 1], "wraps around exactly"),
        ([NO, 1, 0, 1, 0, 1, 0, 1], "half empty"),
        ([0, NO, 0, 1, 0, 1, 0, 1], "half empty"),
        ([1000, 1, 0, 1, 0, 1, 0, 1], "outside the object"),
        ([0, 1 << 50, 0, 1, 0, 1, 0, 1], "a petabyte"),
        ([67, 2, 0, 1, 0, 1, 0, 1], "past the end by one"),
        ([0, 0, 0, 1, 0, 1, 0, 1], "no bytes at all"),
        ([0, 2, 0, 1, 0, 1, 0, 1], "a byte too many"),
    ] {
        let (store, array) = shard_with(words);
        let before = get(&store, "a/c/0");
        for text in ["", "0", "2::-2"] {
            let error = array.read_elements(select(text)).unwrap_err();
            assert_placed(&error, "/a");
            assert_eq!(error.kind(), Kind::Corrupt, "{what}: {error}");
        }
        assert!(array.read_chunk(&[0]).is_err(), "{what}");
        if what != "no bytes at all" && what != "a byte too many" {
            assert!(array.write_bytes(select("1"), &[5]).is_err(), "{what}: a chunk that cannot be carried over is not lost");
            assert_eq!(get(&store, "a/c/0"), before, "{what}");
        }
        array.write_bytes((), &[1, 2, 3, 4]).unwrap();
        assert_eq!(all(&array), [1, 2, 3, 4], "{what}: replaced whole");
    }
    let (store, array) = shard_with([0; 8]);
    for size in [0, 1, 63] {
        put(&store, "a/c/0", vec![0; size]);
        let error = array.read_elements(()).unwrap_err();
        assert_placed(&error, "/a");
        assert!(error.kind() == Kind::Corrupt && error.to_string().contains("64"), "{error}");
    }
}

#[test]
fn headers_that_claim_a_terabyte() {
    let store = memory();
    // A zstd frame whose header says 2^40 bytes, then an empty last block.
    let zstd = [&[0x28, 0xb5, 0x2f, 0xfd, 0xe0][..], &(1u64 << 40).to_le_bytes(), &[1, 0, 0]].concat();
    // The same, and a block that repeats one byte 128 KiB times, again and again.
    let block = [0x02, 0x00, 0x10, 0x41];
    let bomb = [&zstd[..13], &block.repeat(4096)].concat();
    // Blosc: version 2, flags, typesize 1, nbytes, blocksize and cbytes of 2^31 - 1.
    let blosc = [&[2, 1, 0, 1][..], &[0xff, 0xff, 0xff, 0x7f].repeat(3), &[0; 16]].concat();
    // LZ4 of numcodecs: a length of 2^31 - 1.
    let lz4 = [&[0xff, 0xff, 0xff, 0x7f][..], &[0; 8]].concat();
    for (compressor, object) in [
        (json!({"id": "zstd", "level": 1}), zstd.clone()),
        (json!({"id": "zstd", "level": 1}), bomb),
        (json!({"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 0}), blosc),
        (json!({"id": "lz4", "acceleration": 1}), lz4),
    ] {
        let array = v2(&store, "a", json!({"compressor": compressor}));
        put(&store, "a/0.0", &object);
        let error = array.read_elements(select("0, 0")).unwrap_err();
        assert_eq!(error.kind(), Kind::Corrupt, "{compressor}: {error}");
        // Elements that vary in length declare nothing: what comes is bounded all the same.
        let strings = v2(
            &store,
            "s",
            json!({"shape": [4], "chunks": [4], "dtype": "|O", "fill_value": "", "filters": [{"id": "vlen-utf8"}], "compressor": compressor}),
        );
        put(&store, "s/0", &object);
        assert!(strings.read_elements(()).is_err(), "{compressor}");
    }
    let strings = v2(&store, "s", json!({"shape": [4], "chunks": [4], "dtype": "|O", "fill_value": "", "filters": [{"id": "vlen-utf8"}]}));
    for object in [&[0xff; 4][..], &[4, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f], &[3, 0, 0, 0], &[4, 0, 0, 0, 1, 0, 0, 0]] {
        put(&store, "s/0", object);
        let error = strings.read_elements(()).unwrap_err();
        assert_placed(&error, "/s");
        assert_eq!(error.kind(), Kind::Corrupt, "{error}");
    }
}

#[test]
fn documents_that_ask_for_too_much() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let big = 1u64 << 62;
    let giants = [
        json!({"shape": [big, big], "chunk_grid": regular(&[2, 2])}),
        json!({"shape": [big, big, big], "chunk_grid": regular(&[1, 1, 1]), "data_type": "complex128", "fill_value": [0.0, 0.0]}),
        json!({"shape": [1u64 << 40], "chunk_grid": regular(&[1 << 40])}),
        json!({"shape": [4, 4], "chunk_grid": regular(&[1 << 20, 1 << 20])}),
        json!({"shape": [big], "chunk_grid": regular(&[big]), "data_type": "float64"}),
        json!({"shape": [1u64 << 40], "chunk_grid": regular(&[1 << 40]), "data_type": "string", "fill_value": "", "codecs": ["vlen-utf8"]}),
        json!({"shape": [1u64 << 33], "chunk_grid": regular(&[1 << 33]), "codecs": [plain_shard(&[1])]}),
        json!({"shape": [1u64 << 40], "chunk_grid": regular(&[1 << 40]), "codecs": [plain_shard(&[1 << 10])]}),
        json!({"shape": [big], "chunk_grid": rectilinear(json!([[[1, big]]]))}),
        json!({"shape": [big], "chunk_grid": rectilinear(json!([[[big, 1]]]))}),
        json!({"shape": [6], "chunk_grid": rectilinear(json!([[[2, u64::MAX]]]))}),
        json!({"shape": [6], "chunk_grid": rectilinear(json!([[[u64::MAX, 2]]]))}),
        json!({"shape": vec![big; 60], "chunk_grid": regular(&[1; 60])}),
    ];
    for (i, giant) in giants.into_iter().enumerate() {
        let store = memory();
        put(&store, "a/zarr.json", v3_document(giant.clone()).to_string());
        let options = Options { max_chunk: 1 << 20, ..Options::default() };
        let array = match Array::open_with(&store, "a", &options) {
            Ok(array) => array,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                continue;
            }
        };
        let axes = array.shape().len();
        // An empty object is stored where the first chunk should be.
        put(&store, &array.key(&vec![0; axes]), []);
        let first = Selection::Orthogonal(vec![gingham::Index::Slice { start: Some(0), stop: Some(1), step: None }; axes]);
        let value = FillValue::new(vec![1; array.data_type().size().unwrap_or(1)]);
        let mut errors = vec![array.read_elements(first.clone()).err(), runtime.block_on(array.read_async(first.clone())).err()];
        if array.grid().chunk_shape(&vec![0; axes]).iter().any(|&l| l > 1) {
            errors.push(array.write_value(first, &value).err());
        }
        for error in errors {
            let error = error.unwrap_or_else(|| panic!("giant {i} was read or written"));
            assert!(matches!(error.kind(), Kind::Unsupported | Kind::Corrupt | Kind::OutOfRange | Kind::Invalid), "giant {i}: {error}");
        }
        // Plans and counts of everything are arithmetic: an answer or an error, and no panic.
        if let Ok(plan) = array.plan(()) {
            assert!(plan.object_count() > 0 && !plan.to_string().is_empty());
        }
        if array.shape().iter().try_fold(1u64, |n, &l| n.checked_mul(l)).is_none_or(|n| n > 1 << 45) {
            assert!(array.read_elements(()).is_err(), "giant {i}");
            assert!(runtime.block_on(array.read_async(Selection::All)).is_err(), "giant {i}");
            assert!(array.write_bytes((), &[0; 16]).is_err(), "giant {i}");
        }
    }
}

#[test]
fn a_write_that_fails_is_told_and_leaves_the_old_object() {
    for codecs in chains() {
        let store = memory();
        v3(&store, "a", json!({"codecs": codecs})).write_bytes((), &count_up(16)).unwrap();
        let bad = faulty(&store, |call| matches!(call, Call::Put { .. }).then_some(Injected::Fail(StoreErrorKind::Failed)));
        let array = Array::open(&bad, "a").unwrap();
        for text in ["", "0, 0"] {
            let n = if text.is_empty() { 16 } else { 1 };
            let error = array.write_bytes(select(text), &vec![200; n]).unwrap_err();
            assert_placed(&error, "/a");
            assert_eq!(error.kind(), Kind::Store);
        }
        assert_eq!(all(&Array::open(&store, "a").unwrap()), count_up(16));
        let mut array = Array::open(&bad, "a").unwrap();
        assert!(array.append(0, &[1, 4], &Elements::Fixed(vec![1; 4])).is_err());
        assert_eq!(
            (array.shape(), Array::open(&store, "a").unwrap().shape()),
            (vec![4, 4], vec![4, 4]),
            "an append that fails changes no shape"
        );
    }
}
