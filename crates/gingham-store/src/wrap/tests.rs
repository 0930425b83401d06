//! What each wrapper adds; that it loses nothing is the conformance suite's to say.
#![allow(clippy::unwrap_used)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::time::{Duration, Instant};

use super::*;
use crate::memory::Memory;
use crate::*;

fn memory() -> Store {
    Store::new(Memory::new())
}

fn put(store: &Store, key: &str, bytes: &'static [u8]) {
    store.put(key, Bytes::from_static(bytes), &Condition::Always).unwrap();
}

#[test]
fn every_wrapper_conforms() {
    conformance::check(|| Store::new(Prefix::new(memory(), "/a/b/")));
    conformance::check(|| Store::new(Prefix::new(memory(), "")));
    conformance::check(|| Store::new(Count::new(memory())));
    conformance::check(|| Store::new(Log::new(memory())));
    conformance::check(|| Store::new(Cache::new(memory(), 0)));
    conformance::check(|| Store::new(Cache::new(memory(), 4000)));
    conformance::check(|| Store::new(Cache::new(memory(), 1 << 30)));
    conformance::check(|| Store::new(Limit::new(memory(), 1, None)));
    conformance::check(|| Store::new(Limit::new(memory(), 3, Some(1e6))));
    conformance::check(|| Store::new(Fault::new(memory(), |_| None)));
    conformance::check(|| Store::new(Cache::new(Store::new(Count::new(memory().prefixed("x"))), 1 << 20)).prefixed("y"));
    let filled = memory();
    conformance::fill(&filled);
    conformance::check_reading(&Store::new(ReadOnly::new(filled)));
}

/// A store whose gets are futures of its own, as an object store's are.
#[derive(Debug)]
struct Native(Store);

impl Storage for Native {
    fn describe(&self) -> String {
        self.0.describe()
    }
    fn traits(&self) -> Traits {
        Traits { concurrency: 8, ..self.0.traits() }
    }
    fn get(&self, key: &str, range: Range) -> Got {
        self.0.get(key, range)
    }
    fn start_get(&self, key: &str, range: Range) -> Option<Pending> {
        Some(Box::pin(std::future::ready(self.0.get(key, range))))
    }
    fn stat(&self, key: &str) -> Result<Option<Stat>, StoreError> {
        self.0.stat(key)
    }
    fn put(&self, key: &str, bytes: Bytes, condition: &Condition) -> Result<(), StoreError> {
        self.0.put(key, bytes, condition)
    }
    fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.0.delete(key)
    }
    fn list(&self, prefix: &str) -> Result<Vec<(String, u64)>, StoreError> {
        self.0.list(prefix)
    }
    fn list_dir(&self, prefix: &str) -> Result<Listing, StoreError> {
        self.0.list_dir(prefix)
    }
}

#[test]
fn wrappers_keep_a_stores_own_futures_and_its_finish() {
    let native = || Store::new(Native(memory()));
    conformance::check(native);
    conformance::check(|| Store::new(Cache::new(Store::new(Count::new(Store::new(Log::new(native().prefixed("p"))))), 1 << 20)));
    conformance::check(|| Store::new(Limit::new(Store::new(Fault::new(native(), |_| None)), 4, None)));
    assert!(native().prefixed("p").start_get("k", Range::All).is_some());
    assert!(Store::new(ReadOnly::new(native())).start_get("k", Range::All).is_some());
    // Finish reaches the bottom through all of them.
    let log = Log::new(memory());
    let logged = log.logged();
    let store =
        Store::new(Fault::new(Store::new(Limit::new(Store::new(Cache::new(Store::new(Count::new(Store::new(log))), 9)), 1, None)), |_| {
            None
        }));
    store.prefixed("a").finish().unwrap();
    assert_eq!(logged.take(), [Call::Finish]);
}

#[test]
fn counts_are_of_requests_and_bytes() {
    let count = Count::new(memory());
    let counts = count.counts();
    let store = Store::new(count);
    put(&store, "a", b"12345");
    store.get("a", Range::Suffix { length: 2 }).unwrap();
    store.get("b", Range::All).unwrap();
    store.get_into("a", 1, &mut [0; 3]).unwrap();
    assert!(store.get_into("a", 4, &mut [0; 3]).is_err());
    let many = [Request { key: "a".into(), range: Range::All }, Request { key: "b".into(), range: Range::All }];
    store.get_many(&many, &|_, _| {});
    store.stat("a").unwrap();
    store.list("").unwrap();
    store.list_dir("").unwrap();
    store.delete("a").unwrap();
    let tally = Tally { gets: 6, got_bytes: 2 + 3 + 5, stats: 1, puts: 1, put_bytes: 5, deletes: 1, lists: 2 };
    assert_eq!(counts.now(), tally);
    assert_eq!(counts.reset(), tally);
    assert_eq!(counts.now(), Tally::default());
}

#[test]
fn a_log_reads_like_what_was_asked() {
    let log = Log::new(memory());
    let logged = log.logged();
    let store = Store::new(log);
    put(&store, "a", b"12345");
    store.get("a", Range::Suffix { length: 2 }).unwrap();
    store.get_into("a", 1, &mut [0; 3]).unwrap();
    store.get("a", Range::From { start: 1 }).unwrap();
    let _ = store.put("a", Bytes::new(), &Condition::Absent);
    store.delete_prefix("b").unwrap();
    store.finish().unwrap();
    let lines = ["put a 5", "get a -2", "get a 1+3", "get a 1+", "put a 0 if absent", "delete b/", "finish"];
    assert_eq!(logged.lines(), lines);
    assert_eq!(logged.take(), []);
}

#[test]
fn a_cache_answers_again_without_asking_and_forgets_what_is_written() {
    let count = Count::new(memory());
    let counts = count.counts();
    let store = Store::new(Cache::new(Store::new(count), 10_000));
    put(&store, "a", b"12345");
    for _ in 0..3 {
        assert_eq!(store.get("a", Range::All).unwrap().unwrap(), &b"12345"[..]);
        assert_eq!(store.get("a", Range::Suffix { length: 2 }).unwrap().unwrap(), &b"45"[..]);
        let mut out = [0; 2];
        assert!(store.get_into("a", 1, &mut out).unwrap());
        assert_eq!(&out, b"23");
    }
    assert_eq!(counts.reset().gets, 1);
    assert!(store.get("a", Range::Bounded { start: 4, length: 2 }).is_err());
    put(&store, "a", b"67");
    assert_eq!(store.get("a", Range::All).unwrap().unwrap(), &b"67"[..]);
    store.delete_prefix("").unwrap();
    assert_eq!(store.get("a", Range::All).unwrap(), None);
    // Absent is asked for each time: the next writer may be another.
    assert_eq!(store.get("a", Range::All).unwrap(), None);
    assert_eq!(counts.now().gets, 4);
}

#[test]
fn a_cache_keeps_to_its_budget_and_drops_what_was_not_used() {
    let count = Count::new(memory());
    let counts = count.counts();
    let cache = Cache::new(Store::new(count), 10_000);
    let kept = cache.kept.clone();
    let store = Store::new(cache);
    for i in 0..20 {
        store.put(&format!("k{i}"), vec![i; 1000].into(), &Condition::Always).unwrap();
    }
    store.put("large", vec![0; 5000].into(), &Condition::Always).unwrap();
    for i in 0..20 {
        store.get(&format!("k{i}"), Range::All).unwrap();
        store.get("k0", Range::All).unwrap();
        let used = kept.lock().unwrap().used;
        assert!(used <= 10_000, "{used} bytes are kept");
    }
    counts.reset();
    store.get("k0", Range::All).unwrap();
    store.get("k19", Range::All).unwrap();
    assert_eq!(counts.reset().gets, 0, "what was used last is kept");
    store.get("k1", Range::All).unwrap();
    store.get("large", Range::All).unwrap();
    store.get("large", Range::All).unwrap();
    assert_eq!(counts.reset().gets, 3);
    store.delete_prefix("").unwrap();
    let kept = kept.lock().unwrap();
    assert_eq!((kept.used, kept.by_use.len(), kept.answers.len()), (0, 0, 0));
}

/// A get that reads, waits for a put of the same key, and only then answers.
#[test]
fn an_answer_of_before_a_put_is_not_kept() {
    #[derive(Debug)]
    struct Late {
        inner: Store,
        gets: AtomicUsize,
        read: Barrier,
        put: Barrier,
    }
    impl Storage for Late {
        forward!(describe traits stat list list_dir);
        fn get(&self, key: &str, range: Range) -> Got {
            let got = self.inner.get(key, range);
            if self.gets.fetch_add(1, Ordering::Relaxed) == 0 {
                self.read.wait();
                self.put.wait();
            }
            got
        }
        fn put(&self, key: &str, bytes: Bytes, condition: &Condition) -> Result<(), StoreError> {
            self.inner.put(key, bytes, condition)
        }
        fn delete(&self, key: &str) -> Result<(), StoreError> {
            self.inner.delete(key)
        }
    }
    let inner = memory();
    put(&inner, "k", b"old");
    let late = Arc::new(Late { inner, gets: AtomicUsize::new(0), read: Barrier::new(2), put: Barrier::new(2) });
    let store = Store::new(Cache::new(Store(late.clone()), 10_000));
    std::thread::scope(|s| {
        s.spawn(|| assert_eq!(store.get("k", Range::All).unwrap().unwrap(), &b"old"[..]));
        late.read.wait();
        put(&store, "k", b"new");
        late.put.wait();
    });
    assert_eq!(store.get("k", Range::All).unwrap().unwrap(), &b"new"[..]);
}

#[test]
fn a_limit_holds_back_what_is_too_many() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (n, m) = (now.clone(), most.clone());
    let slow = Fault::new(Store::new(Native(memory())), move |_| {
        m.fetch_max(n.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(5));
        n.fetch_sub(1, Ordering::SeqCst);
        None
    });
    let store = Store::new(Limit::new(Store::new(slow), 2, None));
    let requests: Vec<Request> = (0..10).map(|i| Request { key: format!("{i}"), range: Range::All }).collect();
    std::thread::scope(|s| {
        s.spawn(|| store.get_many(&requests, &|_, _| {}));
        s.spawn(|| store.get_many(&requests, &|_, _| {}));
        s.spawn(|| store.list("").unwrap());
    });
    assert_eq!((most.load(Ordering::SeqCst), now.load(Ordering::SeqCst)), (2, 0));
    let store = Store::new(Limit::new(memory(), 8, Some(100.0)));
    let began = Instant::now();
    store.get_many(&requests, &|_, _| {});
    assert!(began.elapsed() >= Duration::from_millis(85), "10 requests at 100 each second took {:?}", began.elapsed());
    for odd in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        Limit::new(memory(), 0, Some(odd)).get("k", Range::All).unwrap();
    }
}

#[test]
fn faults_are_what_was_ordered() {
    let next = Arc::new(Mutex::new(None));
    let order = next.clone();
    let inner = memory();
    put(&inner, "k", b"abcdef");
    let store = Store::new(Fault::new(inner.clone(), move |_| order.lock().unwrap().take()));
    let order = |fault| *next.lock().unwrap() = Some(fault);
    order(Injected::Fail(StoreErrorKind::Denied));
    let e = store.get("k", Range::All).unwrap_err();
    assert_eq!((e.kind, e.to_string().as_str(), e.key.as_deref()), (StoreErrorKind::Denied, "injected: get k", Some("k")));
    order(Injected::Truncate(2));
    assert_eq!(store.get("k", Range::From { start: 1 }).unwrap().unwrap(), &b"bc"[..]);
    order(Injected::Truncate(2));
    assert_eq!(store.get_into("k", 0, &mut [0; 4]).unwrap_err().kind, StoreErrorKind::Short);
    order(Injected::Flip(1));
    assert_eq!(store.get("k", Range::All).unwrap().unwrap(), &b"accdef"[..]);
    order(Injected::Flip(100));
    assert_eq!(store.get("k", Range::All).unwrap().unwrap(), &b"abcdef"[..]);
    order(Injected::Absent);
    assert_eq!(store.get("k", Range::All).unwrap(), None);
    order(Injected::Fail(StoreErrorKind::Failed));
    assert!(store.put("k", Bytes::new(), &Condition::Always).is_err());
    assert_eq!(inner.get("k", Range::All).unwrap().unwrap(), &b"abcdef"[..]);
    order(Injected::FailAfter(StoreErrorKind::Failed));
    assert!(store.put("k", Bytes::from_static(b"new"), &Condition::Always).is_err());
    assert_eq!(inner.get("k", Range::All).unwrap().unwrap(), &b"new"[..]);
    order(Injected::Delay(Duration::from_millis(20)));
    let began = Instant::now();
    store.stat("k").unwrap();
    assert!(began.elapsed() >= Duration::from_millis(20));
}

#[test]
fn read_only_is_denied_and_finishes_nothing() {
    let inner = memory();
    put(&inner, "k", b"1");
    let store = Store::new(ReadOnly::new(inner));
    assert_eq!(store.put("k", Bytes::new(), &Condition::Always).unwrap_err().kind, StoreErrorKind::Denied);
    assert_eq!(store.delete("k").unwrap_err().kind, StoreErrorKind::Denied);
    assert_eq!(store.delete_prefix("").unwrap_err().kind, StoreErrorKind::Denied);
    assert!(!store.traits().writes);
    store.finish().unwrap();
    assert_eq!(store.get("k", Range::All).unwrap().unwrap(), &b"1"[..]);
}

#[test]
fn a_prefix_is_no_way_out() {
    let inner = memory();
    put(&inner, "secret", b"1");
    put(&inner, "a/k", b"2");
    put(&inner, "ab/k", b"3");
    let store = inner.prefixed("a");
    for key in ["../secret", "", "/secret", "."] {
        assert_eq!(store.get(key, Range::All).unwrap_err().kind, StoreErrorKind::Invalid, "{key:?}");
    }
    assert_eq!(store.list("").unwrap(), [("k".to_string(), 1)]);
    assert_eq!(store.list_dir("").unwrap().keys, ["k"]);
    assert_eq!(store.delete_prefix("").unwrap(), 1);
    assert_eq!(inner.list("").unwrap().len(), 2);
    assert_eq!(store.describe(), "memory:/a");
}
