//! Counts requests and bytes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::forward;
use crate::*;

/// Counts what goes through it, at the cost of an addition each.
///
/// ```
/// use gingham_store::{Range, Store, memory::Memory, wrap::Count};
/// let count = Count::new(Store::new(Memory::new()));
/// let counts = count.counts();
/// let store = Store::new(count);
/// store.get("absent", Range::All)?;
/// assert_eq!(counts.now().gets, 1);
/// # Ok::<(), gingham_store::StoreError>(())
/// ```
#[derive(Debug)]
pub struct Count {
    inner: Store,
    counts: Arc<Counts>,
}

/// Counters that are being counted up.
#[derive(Debug, Default)]
pub struct Counts {
    gets: AtomicU64,
    got: AtomicU64,
    stats: AtomicU64,
    puts: AtomicU64,
    put: AtomicU64,
    deletes: AtomicU64,
    lists: AtomicU64,
}

/// What was counted until some moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Gets of objects or parts, absent ones too.
    pub gets: u64,
    /// Bytes that gets returned.
    pub got_bytes: u64,
    /// Requests for size and version.
    pub stats: u64,
    /// Puts, failed ones too.
    pub puts: u64,
    /// Bytes that puts were given.
    pub put_bytes: u64,
    /// Deletes of keys or prefixes.
    pub deletes: u64,
    /// Listings.
    pub lists: u64,
}

impl Counts {
    /// The counters now; each of them for itself, where requests are under way.
    pub fn now(&self) -> Tally {
        Tally {
            gets: self.gets.load(Relaxed),
            got_bytes: self.got.load(Relaxed),
            stats: self.stats.load(Relaxed),
            puts: self.puts.load(Relaxed),
            put_bytes: self.put.load(Relaxed),
            deletes: self.deletes.load(Relaxed),
            lists: self.lists.load(Relaxed),
        }
    }
    /// Begins again at zero and returns what was counted.
    pub fn reset(&self) -> Tally {
        Tally {
            gets: self.gets.swap(0, Relaxed),
            got_bytes: self.got.swap(0, Relaxed),
            stats: self.stats.swap(0, Relaxed),
            puts: self.puts.swap(0, Relaxed),
            put_bytes: self.put.swap(0, Relaxed),
            deletes: self.deletes.swap(0, Relaxed),
            lists: self.lists.swap(0, Relaxed),
        }
    }
    fn one_got(&self, bytes: usize) {
        self.gets.fetch_add(1, Relaxed);
        self.got.fetch_add(bytes as u64, Relaxed);
    }
    fn one_get(&self, got: Got) -> Got {
        self.one_got(got.as_ref().map_or(0, |bytes| bytes.as_ref().map_or(0, |b| b.len())));
        got
    }
}

impl Count {
    /// Counts what goes to `inner`.
    pub fn new(inner: Store) -> Self {
        Count { inner, counts: Arc::default() }
    }
    /// The counters, to keep where the store itself is given away.
    pub fn counts(&self) -> Arc<Counts> {
        self.counts.clone()
    }
}

impl Storage for Count {
    forward!(describe traits finish);
    fn get(&self, key: &str, range: Range) -> Got {
        self.counts.one_get(self.inner.get(key, range))
    }
    fn get_into(&self, key: &str, start: u64, out: &mut [u8]) -> Result<bool, StoreError> {
        let got = self.inner.get_into(key, start, out);
        self.counts.one_got(if matches!(got, Ok(true)) { out.len() } else { 0 });
        got
    }
    fn get_many(&self, requests: &[Request], deliver: &(dyn Fn(usize, Got) + Sync)) {
        self.inner.get_many(requests, &|i, got| deliver(i, self.counts.one_get(got)));
    }
    fn start_get(&self, key: &str, range: Range) -> Option<Pending> {
        let (pending, counts) = (self.inner.start_get(key, range)?, self.counts.clone());
        Some(Box::pin(async move { counts.one_get(pending.await) }))
    }
    fn stat(&self, key: &str) -> Result<Option<Stat>, StoreError> {
        self.counts.stats.fetch_add(1, Relaxed);
        self.inner.stat(key)
    }
    fn put(&self, key: &str, bytes: Bytes, condition: &Condition) -> Result<(), StoreError> {
        self.counts.puts.fetch_add(1, Relaxed);
        self.counts.put.fetch_add(bytes.len() as u64, Relaxed);
        self.inner.put(key, bytes, condition)
    }
    fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.counts.deletes.fetch_add(1, Relaxed);
        self.inner.delete(key)
    }
    fn delete_if(&self, key: &str, version: &str) -> Result<bool, StoreError> {
        self.counts.deletes.fetch_add(1, Relaxed);
        self.inner.delete_if(key, version)
    }
    fn delete_prefix(&self, prefix: &str) -> Result<u64, StoreError> {
        self.counts.deletes.fetch_add(1, Relaxed);
        self.inner.delete_prefix(prefix)
    }
    fn list(&self, prefix: &str) -> Result<Vec<(String, u64)>, StoreError> {
        self.counts.lists.fetch_add(1, Relaxed);
        self.inner.list(prefix)
    }
    fn list_dir(&self, prefix: &str) -> Result<Listing, StoreError> {
        self.counts.lists.fetch_add(1, Relaxed);
        self.inner.list_dir(prefix)
    }
}
