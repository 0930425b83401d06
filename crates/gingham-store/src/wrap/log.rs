//! Keeps every request, for tests that compare what was asked.

use std::sync::{Arc, Mutex, PoisonError};

use super::{Call, forward};
use crate::*;

/// Keeps every request that goes through it, in the order in which they began; those of one `get_many` as they were given.
#[derive(Debug)]
pub struct Log {
    inner: Store,
    logged: Logged,
}

/// The requests that a [`Log`] kept; clones share them.
#[derive(Debug, Clone, Default)]
pub struct Logged(Arc<Mutex<Vec<Call>>>);

impl Logged {
    /// What was kept so far; it is then kept no longer.
    pub fn take(&self) -> Vec<Call> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
    /// The same as lines of text.
    pub fn lines(&self) -> Vec<String> {
        self.take().iter().map(Call::to_string).collect()
    }
    fn add(&self, calls: impl IntoIterator<Item = Call>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(calls);
    }
}

impl Log {
    /// Keeps what goes to `inner`.
    pub fn new(inner: Store) -> Self {
        Log { inner, logged: Logged::default() }
    }
    /// The requests, to keep where the store itself is given away.
    pub fn logged(&self) -> Logged {
        self.logged.clone()
    }
}

impl Storage for Log {
    forward!(describe traits);
    fn get(&self, key: &str, range: Range) -> Got {
        self.logged.add([Call::get(key, range)]);
        self.inner.get(key, range)
    }
    fn get_into(&self, key: &str, start: u64, out: &mut [u8]) -> Result<bool, StoreError> {
        self.logged.add([Call::get(key, Range::Bounded { start, length: out.len() as u64 })]);
        self.inner.get_into(key, start, out)
    }
    fn get_many(&self, requests: &[Request], deliver: &(dyn Fn(usize, Got) + Sync)) {
        self.logged.add(requests.iter().map(|r| Call::get(&r.key, r.range)));
        self.inner.get_many(requests, deliver);
    }
    fn start_get(&self, key: &str, range: Range) -> Option<Pending> {
        let pending = self.inner.start_get(key, range)?;
        self.logged.add([Call::get(key, range)]);
        Some(pending)
    }
    fn stat(&self, key: &str) -> Result<Option<Stat>, StoreError> {
        self.logged.add([Call::Stat { key: key.into() }]);
        self.inner.stat(key)
    }
    fn put(&self, key: &str, bytes: Bytes, condition: &Condition) -> Result<(), StoreError> {
        self.logged.add([Call::put(key, bytes.len(), condition)]);
        self.inner.put(key, bytes, condition)
    }
    fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.logged.add([Call::Delete { key: key.into() }]);
        self.inner.delete(key)
    }
    fn delete_if(&self, key: &str, version: &str) -> Result<bool, StoreError> {
        self.logged.add([Call::DeleteIf { key: key.into(), version: version.into() }]);
        self.inner.delete_if(key, version)
    }
    fn delete_prefix(&self, prefix: &str) -> Result<u64, StoreError> {
        self.logged.add([Call::DeletePrefix { prefix: prefix.into() }]);
        self.inner.delete_prefix(prefix)
    }
    fn list(&self, prefix: &str) -> Result<Vec<(String, u64)>, StoreError> {
        self.logged.add([Call::List { prefix: prefix.into() }]);
        self.inner.list(prefix)
    }
    fn list_dir(&self, prefix: &str) -> Result<Listing, StoreError> {
        self.logged.add([Call::ListDir { prefix: prefix.into() }]);
        self.inner.list_dir(prefix)
    }
    fn finish(&self) -> Result<(), StoreError> {
        self.logged.add([Call::Finish]);
        self.inner.finish()
    }
}
