//! One suite that every store and wrapper passes: what a [`Storage`] promises, as checks that panic with a sentence.
//!
//! [`check`] is for stores that can be written. [`fill`] and [`check_reading`] are its halves for stores that are filled by other
//! means (an archive, a web server).
//!
//! ```
//! use gingham_store::{Store, conformance, memory::Memory};
//! conformance::check(|| Store::new(Memory::new()));
//! ```

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::asynchronous::block_on;
use crate::*;

/// Threads that put one key against each other.
const WRITERS: usize = 4;
/// How often each of them does.
const ROUNDS: usize = 8;

/// The objects that [`fill`] puts: key and bytes.
pub fn objects() -> Vec<(String, Vec<u8>)> {
    let pattern = |n: usize| (0..n).map(|i| (i * 31 % 251) as u8).collect::<Vec<u8>>();
    let mut out = vec![
        ("zarr.json".to_string(), br#"{"zarr_format":3,"node_type":"group"}"#.to_vec()),
        ("three".into(), vec![1, 2, 3]),
        ("empty".into(), vec![]),
        ("foo/zarr.json".into(), pattern(17)),
        ("foo/c/0/0".into(), pattern(1000)),
        ("foo/c/0/1".into(), pattern(1001)),
        ("foo/c-0".into(), pattern(2)),
        ("foobar/zarr.json".into(), pattern(4)),
        ("FOO/zarr.json".into(), pattern(5)),
        ("big".into(), pattern(300_000)),
        ("é ü/日本/x".into(), pattern(9)),
        ("odd names/a+b&c=d#f%41;~!@$'(),[]".into(), pattern(8)),
    ];
    if cfg!(any(windows, target_os = "macos")) {
        // File names that these systems cannot tell apart, or do not have.
        out.retain(|(key, _)| !key.starts_with("FOO") && !key.starts_with('é'));
    }
    out
}

/// Puts [`objects`].
pub fn fill(store: &Store) {
    for (key, bytes) in objects() {
        ok(store.put(&key, bytes.into(), &Condition::Always), "put", &key);
    }
}

/// Everything that a store promises. `make` gives an empty store each time; where it gives one place again, that place must be
/// empty after `delete_prefix("")`.
pub fn check(make: impl Fn() -> Store) {
    let store = make();
    fill(&store);
    check_reading(&store);
    check_writing(&store);
    let deleted = ok(store.delete_prefix(""), "delete_prefix", "");
    assert!(deleted > 0, "delete_prefix(\"\") says that it deleted nothing");
    assert_eq!(ok(store.list(""), "list", ""), [], "keys are left after delete_prefix(\"\")");
    let level = ok(store.list_dir(""), "list_dir", "");
    assert!(level.keys.is_empty(), "an empty store lists {:?}", level.keys);
    assert!(level.prefixes.is_empty() || !store.traits().local, "an empty store lists {:?}", level.prefixes);
    check_conditions(&make());
    check_never_torn(&make());
}

/// What holds for a store that has [`objects`] and no other key.
pub fn check_reading(store: &Store) {
    check_ranges(store);
    check_absent(store);
    check_many(store);
    check_async(store);
    if store.traits().lists {
        check_lists(store);
    }
}

fn check_ranges(store: &Store) {
    for (key, bytes) in objects() {
        let size = bytes.len() as u64;
        for range in ranges(size) {
            let got = store.get(&key, range);
            match range.within(size) {
                Ok((start, length)) => {
                    let got = ok(got, "get", &key).unwrap_or_else(|| panic!("{key} {range:?}: absent"));
                    assert!(got == bytes[start as usize..(start + length) as usize], "{key} {range:?}: other bytes than were put");
                }
                Err(_) => assert_eq!(kind(got), Some(StoreErrorKind::Short), "{key} {range:?} of {size} bytes must be Short"),
            }
        }
        for (start, length) in [(0, size), (0, size + 1), (size / 2, size / 4), (size, 0), (size, 1), (size + 1, 0), (u64::MAX, 2)] {
            let mut out = vec![0xee; length as usize];
            let got = store.get_into(&key, start, &mut out);
            match (Range::Bounded { start, length }).within(size) {
                Ok(_) => {
                    assert!(ok(got, "get_into", &key), "{key}: absent");
                    assert!(out == bytes[start as usize..(start + length) as usize], "{key} get_into {start}+{length}: other bytes");
                }
                Err(_) => assert_eq!(kind(got), Some(StoreErrorKind::Short), "{key} get_into {start}+{length} of {size} must be Short"),
            }
        }
        let stat = ok(store.stat(&key), "stat", &key).unwrap_or_else(|| panic!("{key}: stat says absent"));
        assert_eq!(stat.size, size, "{key}: stat has another size");
    }
}

fn ranges(size: u64) -> Vec<Range> {
    let mut out = vec![Range::All];
    for length in [0, 1, size / 2, size, size + 7, u64::MAX] {
        out.push(Range::Suffix { length });
    }
    for start in [0, size / 2, size.saturating_sub(1), size, size + 1, u64::MAX] {
        out.push(Range::From { start });
        for length in [0, 1, size / 3, size, 1 << 40, u64::MAX] {
            out.push(Range::Bounded { start, length });
        }
    }
    out
}

fn check_absent(store: &Store) {
    // Below an object, a directory, beside a key, and with another case is absent, not broken.
    for key in ["absent", "foo", "foo/c", "foo/c/0", "three/x", "three/x/y", "fo", "foob", "no/such/dir/key", "foo/c/0/00"] {
        for range in [Range::All, Range::Bounded { start: 0, length: 0 }, Range::From { start: 9 }, Range::Suffix { length: 3 }] {
            assert_eq!(ok(store.get(key, range), "get", key), None, "{key} {range:?} must be absent");
        }
        assert!(!ok(store.get_into(key, 0, &mut [0; 4]), "get_into", key), "{key} must be absent");
        assert!(!ok(store.get_into(key, 0, &mut []), "get_into", key), "{key} must be absent");
        assert_eq!(ok(store.stat(key), "stat", key), None, "{key} must be absent");
    }
    for key in ["", "/three", "three/", "foo//zarr.json", "../three", "foo/../three", "./three", "thr\0ee", "foo/.", ".."] {
        assert_eq!(kind(store.get(key, Range::All)), Some(StoreErrorKind::Invalid), "{key:?} is not a key");
        assert_eq!(kind(store.get_into(key, 0, &mut [0; 1])), Some(StoreErrorKind::Invalid), "{key:?} is not a key");
        assert_eq!(kind(store.stat(key)), Some(StoreErrorKind::Invalid), "{key:?} is not a key");
    }
}

fn check_many(store: &Store) {
    let mut requests = Vec::new();
    let mut expected = Vec::new();
    for (key, bytes) in objects() {
        for range in [Range::All, Range::Suffix { length: 5 }, Range::Bounded { start: 1, length: 2 }, Range::From { start: 1 }] {
            let slice = range.within(bytes.len() as u64).map(|(a, n)| Some(bytes[a as usize..(a + n) as usize].to_vec()));
            requests.push(Request { key: key.clone(), range });
            expected.push(slice.map_err(|e| e.kind));
        }
        requests.push(Request { key: format!("{key}-absent"), range: Range::All });
        expected.push(Ok(None));
    }
    requests.push(Request { key: "../three".into(), range: Range::All });
    expected.push(Err(StoreErrorKind::Invalid));
    let counts: Vec<AtomicUsize> = requests.iter().map(|_| AtomicUsize::new(0)).collect();
    let wrong = Mutex::new(Vec::new());
    store.get_many(&requests, &|i, got| {
        counts[i].fetch_add(1, Ordering::Relaxed);
        if got.map(|b| b.map(|b| b.to_vec())).map_err(|e| e.kind) != expected[i] {
            wrong.lock().unwrap_or_else(PoisonError::into_inner).push(requests[i].clone());
        }
    });
    for (request, count) in requests.iter().zip(&counts) {
        assert_eq!(count.load(Ordering::Relaxed), 1, "get_many must deliver {request:?} exactly once");
    }
    let wrong = wrong.into_inner().unwrap_or_else(PoisonError::into_inner);
    assert!(wrong.is_empty(), "get_many delivered something else than get for {wrong:?}");
    store.get_many(&[], &|_, _| panic!("get_many delivered what was not asked for"));
}

fn check_async(store: &Store) {
    let both = async {
        let three = store.get_async("three", Range::From { start: 1 }).await;
        let absent = store.get_async("absent", Range::All).await;
        let short = store.get_async("three", Range::Bounded { start: 2, length: 9 }).await;
        (three, absent, kind(short), kind(store.get_async("../three", Range::All).await))
    };
    let (three, absent, short, invalid) = block_on(both);
    assert_eq!(ok(three, "get_async", "three").as_deref(), Some(&[2, 3][..]));
    assert_eq!(ok(absent, "get_async", "absent"), None);
    assert_eq!((short, invalid), (Some(StoreErrorKind::Short), Some(StoreErrorKind::Invalid)));
}

fn check_lists(store: &Store) {
    let all: Vec<(String, u64)> = objects().into_iter().map(|(k, b)| (k, b.len() as u64)).collect();
    for prefix in ["", "foo", "foo/", "foo/c", "foo/c/0", "foobar", "fo", "three", "absent", "absent/x"] {
        let bare = prefix.trim_end_matches('/');
        let mut want: Vec<_> = all.iter().filter(|(k, _)| range::below(k, bare).is_some()).cloned().collect();
        want.sort();
        assert_eq!(ok(store.list(prefix), "list", prefix), want, "list({prefix:?})");
        let keys: Vec<String> = want.iter().map(|(key, _)| key.clone()).collect();
        assert_eq!(ok(store.keys(prefix), "keys", prefix), keys, "keys({prefix:?})");
        let want = range::level(want.iter().map(|(k, _)| k.as_str()), bare);
        assert_eq!(ok(store.list_dir(prefix), "list_dir", prefix), want, "list_dir({prefix:?})");
        let prefixes = ok(store.prefixes(prefix), "prefixes", prefix);
        assert!(want.prefixes.iter().all(|p| prefixes.contains(p)), "prefixes({prefix:?}): {prefixes:?}");
    }
    for prefix in ["/", "foo//", "..", "foo/../foobar"] {
        assert_eq!(kind(store.list(prefix)), Some(StoreErrorKind::Invalid), "list({prefix:?})");
        assert_eq!(kind(store.list_dir(prefix)), Some(StoreErrorKind::Invalid), "list_dir({prefix:?})");
    }
}

fn check_writing(store: &Store) {
    let all = Range::All;
    let put = |key: &str, bytes: &[u8]| ok(store.put(key, Bytes::copy_from_slice(bytes), &Condition::Always), "put", key);
    let get = |key: &str| ok(store.get(key, all), "get", key).map(|b| b.to_vec());
    // zrs-trunc: a shorter value leaves no tail of the longer one.
    put("w/value", &[7; 1000]);
    let before = ok(store.stat("w/value"), "stat", "w/value").and_then(|s| s.version);
    put("w/value", &[8; 3]);
    assert_eq!(get("w/value"), Some(vec![8; 3]));
    let after = ok(store.stat("w/value"), "stat", "w/value");
    assert_eq!(after.as_ref().map(|s| s.size), Some(3));
    let after = after.and_then(|s| s.version);
    assert!(before.is_none() || before != after, "a put did not change the version {before:?}");
    put("w/value", &[]);
    assert_eq!(get("w/value"), Some(vec![]));
    for key in ["", "/w", "w/", "../w", "w/../../x", "w//x", "w\0"] {
        let refused = store.put(key, Bytes::new(), &Condition::Always);
        assert_eq!(kind(refused), Some(StoreErrorKind::Invalid), "put({key:?})");
        assert_eq!(kind(store.delete(key)), Some(StoreErrorKind::Invalid), "delete({key:?})");
    }
    ok(store.delete("w/value"), "delete", "w/value");
    ok(store.delete("w/value"), "delete", "w/value, which is absent");
    ok(store.delete("w/no/such"), "delete", "w/no/such");
    assert_eq!(get("w/value"), None);
    // Object stores that keep directories inside clear an empty one away in their own time.
    if store.traits().local {
        let level = ok(store.list_dir(""), "list_dir", "");
        assert!(!level.prefixes.contains(&"w".to_string()), "a prefix without keys is listed");
    }
    // What was a prefix may become a key once nothing lies below.
    put("w", b"key");
    assert_eq!(get("w"), Some(b"key".to_vec()));
    ok(store.delete("w"), "delete", "w");
    // zrs-eraseprefix: foo is not foobar.
    for bad in ["/", "..", "foo//", "foo/.."] {
        assert_eq!(kind(store.delete_prefix(bad)), Some(StoreErrorKind::Invalid), "delete_prefix({bad:?})");
    }
    assert_eq!(ok(store.delete_prefix("fo"), "delete_prefix", "fo"), 0);
    assert_eq!(ok(store.delete_prefix("three"), "delete_prefix", "three, which is a key"), 0);
    assert_eq!(ok(store.delete_prefix("foo"), "delete_prefix", "foo"), 4);
    assert_eq!(get("foo/c/0/0"), None);
    assert!(get("foobar/zarr.json").is_some() && get("three").is_some(), "delete_prefix(\"foo\") touched foobar");
    assert_eq!(ok(store.list("foo"), "list", "foo"), []);
    assert_eq!(ok(store.delete_prefix("foo/"), "delete_prefix", "foo/"), 0);
}

fn check_conditions(store: &Store) {
    let key = "cond/key";
    let put = |bytes: &[u8], condition: &Condition| store.put(key, Bytes::copy_from_slice(bytes), condition);
    match put(b"one", &Condition::Absent) {
        Err(e) if e.kind == StoreErrorKind::Unsupported && !store.traits().conditional => return,
        other => ok(other, "put where absent", key),
    }
    assert_eq!(kind(put(b"two", &Condition::Absent)), Some(StoreErrorKind::Exists));
    assert_eq!(ok(store.get(key, Range::All), "get", key).as_deref(), Some(&b"one"[..]));
    if let Some(version) = ok(store.stat(key), "stat", key).and_then(|s| s.version) {
        match put(b"longer", &Condition::Version(version.clone())) {
            Err(e) if e.kind == StoreErrorKind::Unsupported && !store.traits().conditional => {}
            other => {
                ok(other, "put over its version", key);
                assert_eq!(kind(put(b"lost", &Condition::Version(version.clone()))), Some(StoreErrorKind::Conflict));
                assert_eq!(ok(store.get(key, Range::All), "get", key).as_deref(), Some(&b"longer"[..]));
                ok(store.delete(key), "delete", key);
                assert_eq!(kind(put(b"lost", &Condition::Version(version))), Some(StoreErrorKind::Conflict));
                assert_eq!(ok(store.get(key, Range::All), "get", key), None);
            }
        }
    }
    // A version is deleted only while it is there.
    ok(put(b"old", &Condition::Always), "put", key);
    if let Some(version) = ok(store.stat(key), "stat", key).and_then(|s| s.version) {
        ok(put(b"new", &Condition::Always), "put", key);
        match store.delete_if(key, &version) {
            Ok(deleted) => assert!(!deleted, "delete_if: a version that is gone was deleted"),
            Err(e) => {
                assert_eq!(e.kind, StoreErrorKind::Conflict, "{e}");
                let version = ok(store.stat(key), "stat", key).and_then(|s| s.version).unwrap_or_default();
                assert!(ok(store.delete_if(key, &version), "delete_if", key));
                assert_eq!(kind(store.delete_if(key, &version)), Some(StoreErrorKind::Conflict));
            }
        }
    }
    ok(store.delete(key), "delete", key);
    check_counting(store);
    // Of many that create one key, one does.
    let wins = AtomicUsize::new(0);
    std::thread::scope(|s| {
        for w in 0..WRITERS {
            let wins = &wins;
            s.spawn(move || match store.put("cond/race", Bytes::from(vec![w as u8; 50]), &Condition::Absent) {
                Ok(()) => drop(wins.fetch_add(1, Ordering::Relaxed)),
                Err(e) => assert_eq!(e.kind, StoreErrorKind::Exists, "{e}"),
            });
        }
    });
    assert_eq!(wins.into_inner(), 1, "puts of an absent key that succeeded");
    ok(store.delete_prefix("cond"), "delete_prefix", "cond");
}

/// Writers that read, change and put where nothing changed meanwhile lose nothing.
fn check_counting(store: &Store) {
    if !store.traits().conditional {
        return;
    }
    let key = "cond/count";
    ok(store.put(key, Bytes::from_static(b"000000"), &Condition::Absent), "put", key);
    std::thread::scope(|s| {
        for _ in 0..WRITERS {
            s.spawn(|| {
                let mut left = ROUNDS;
                while left > 0 {
                    let Some(version) = ok(store.stat(key), "stat", key).and_then(|s| s.version) else { return };
                    let bytes = ok(store.get(key, Range::All), "get", key).unwrap_or_default();
                    let n: usize = std::str::from_utf8(&bytes).ok().and_then(|t| t.parse().ok()).unwrap_or_else(|| panic!("{bytes:?}"));
                    match store.put(key, format!("{:06}", n + 1).into(), &Condition::Version(version)) {
                        Ok(()) => left -= 1,
                        Err(e) => assert_eq!(e.kind, StoreErrorKind::Conflict, "{e}"),
                    }
                }
            });
        }
    });
    if ok(store.stat(key), "stat", key).is_some_and(|s| s.version.is_some()) {
        let end = ok(store.get(key, Range::All), "get", key).unwrap_or_default();
        assert_eq!(end, format!("{:06}", WRITERS * ROUNDS), "updates were lost");
    }
}

/// Every get sees one put whole, whatever else is being put.
fn check_never_torn(store: &Store) {
    let key = "torn/dir/key";
    let value = |w: usize| vec![w as u8; 1000 + 5000 * w];
    ok(store.put(key, value(0).into(), &Condition::Always), "put", key);
    std::thread::scope(|s| {
        for w in 0..WRITERS {
            s.spawn(move || (0..ROUNDS).for_each(|_| ok(store.put(key, value(w).into(), &Condition::Always), "put", key)));
        }
        s.spawn(|| {
            for _ in 0..2 * ROUNDS {
                let got = ok(store.get(key, Range::All), "get", key).unwrap_or_else(|| panic!("{key}: absent while it is put"));
                let writer = got.first().map_or(WRITERS, |&w| w as usize);
                assert!(got == value(writer), "{key}: a get saw {} bytes that no put wrote", got.len());
            }
        });
    });
    assert_eq!(ok(store.list("torn"), "list", "torn").len(), 1, "something was left beside the key");
    ok(store.delete_prefix("torn"), "delete_prefix", "torn");
}

fn kind<T>(got: Result<T, StoreError>) -> Option<StoreErrorKind> {
    got.err().map(|e| e.kind)
}

#[track_caller]
fn ok<T>(got: Result<T, StoreError>, doing: &str, what: &str) -> T {
    got.unwrap_or_else(|e| panic!("{doing} {what}: {:?}: {e}{}", e.kind, e.source.as_ref().map_or(String::new(), |s| format!(" ({s})"))))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;

    use super::*;
    use crate::fs::Fs;
    use crate::memory::Memory;
    use crate::zip::ZipWriter;

    #[test]
    fn memory_conforms() {
        check(|| Store::new(Memory::new()));
    }

    #[test]
    fn files_conform() {
        let dir = tempfile::tempdir().unwrap();
        let n = AtomicUsize::new(0);
        for fsync in [true, false] {
            check(|| {
                let root = dir.path().join(n.fetch_add(1, Ordering::Relaxed).to_string());
                Store::new(Fs::new(root).unwrap().fsync(fsync))
            });
        }
    }

    #[test]
    fn futures_run_on_a_runtime_that_is_there() {
        let store = Store::new(Memory::new());
        fill(&store);
        for mut builder in [tokio::runtime::Builder::new_current_thread(), tokio::runtime::Builder::new_multi_thread()] {
            let got = builder.build().unwrap().block_on(store.get_async("three", Range::All));
            assert_eq!(got.unwrap().unwrap(), &[1, 2, 3][..]);
        }
    }

    #[test]
    fn a_panic_of_a_get_is_an_error_of_its_future() {
        let store = Store::new(wrap::Fault::new(Store::new(Memory::new()), |_| panic!("on purpose")));
        let e = block_on(store.get_async("k", Range::All)).unwrap_err();
        assert_eq!((e.kind, e.key.as_deref()), (StoreErrorKind::Failed, Some("k")));
    }

    #[derive(Debug, Clone)]
    enum Step {
        Put(usize, Vec<u8>),
        PutAbsent(usize, Vec<u8>),
        Get(usize, Range),
        Delete(usize),
        DeletePrefix(usize),
    }

    // No key lies below another, which files cannot have.
    const KEYS: [&str; 6] = ["a", "b/c", "b/d/e", "b/d/f", "bc/d", "b-/x"];
    const PREFIXES: [&str; 6] = ["", "b", "b/d", "bc", "a", "x/y"];

    fn step() -> impl Strategy<Value = Step> {
        let bytes = || proptest::collection::vec(any::<u8>(), 0..9);
        let range = prop_oneof![
            Just(Range::All),
            (0u64..12, 0u64..12).prop_map(|(start, length)| Range::Bounded { start, length }),
            (0u64..12).prop_map(|start| Range::From { start }),
            (0u64..12).prop_map(|length| Range::Suffix { length }),
        ];
        prop_oneof![
            4 => (0..KEYS.len(), bytes()).prop_map(|(k, b)| Step::Put(k, b)),
            1 => (0..KEYS.len(), bytes()).prop_map(|(k, b)| Step::PutAbsent(k, b)),
            6 => (0..KEYS.len(), range).prop_map(|(k, r)| Step::Get(k, r)),
            1 => (0..KEYS.len()).prop_map(Step::Delete),
            1 => (0..PREFIXES.len()).prop_map(Step::DeletePrefix),
        ]
    }

    /// What a store answers to the steps, in words.
    fn answers(store: &Store, steps: &[Step]) -> Vec<String> {
        let words = |step: &Step| match step {
            Step::Put(k, b) => format!("{:?}", store.put(KEYS[*k], b.clone().into(), &Condition::Always).map_err(|e| e.kind)),
            Step::PutAbsent(k, b) => format!("{:?}", store.put(KEYS[*k], b.clone().into(), &Condition::Absent).map_err(|e| e.kind)),
            Step::Get(k, r) => format!("{:?}", store.get(KEYS[*k], *r).map_err(|e| e.kind)),
            Step::Delete(k) => format!("{:?}", store.delete(KEYS[*k]).map_err(|e| e.kind)),
            Step::DeletePrefix(p) => format!("{:?}", store.delete_prefix(PREFIXES[*p]).map_err(|e| e.kind)),
        };
        let mut out: Vec<String> = steps.iter().map(words).collect();
        for prefix in PREFIXES {
            out.push(format!("{:?} {:?}", store.list(prefix).unwrap(), store.list_dir(prefix).unwrap()));
        }
        out
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn all_stores_answer_alike(steps in proptest::collection::vec(step(), 0..40)) {
            let dir = tempfile::tempdir().unwrap();
            let memory = || Store::new(Memory::new());
            let right = answers(&memory(), &steps);
            let others = [
                Store::new(Fs::new(dir.path().join("fs")).unwrap()),
                Store::new(ZipWriter::create(dir.path().join("x.zip")).unwrap()),
                memory().prefixed("p/q"),
                Store::new(wrap::Cache::new(memory(), 2000)),
            ];
            for other in &others {
                prop_assert_eq!(&answers(other, &steps), &right, "{}", other.describe());
            }
            others[1].finish().unwrap();
            let read = open(dir.path().join("x.zip").to_str().unwrap()).unwrap();
            let reads: Vec<Step> = (0..KEYS.len()).map(|k| Step::Get(k, Range::All)).collect();
            prop_assert_eq!(answers(&read, &reads), answers(&others[0], &reads));
        }
    }
}
