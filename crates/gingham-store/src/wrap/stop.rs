//! Refuses everything once it is told to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::*;

/// A store that works until its signal is set; from then on every request is an error of kind Interrupted, so that whatever is
/// under way ends at its next request and cleans up after itself.
///
/// ```
/// use std::sync::{Arc, atomic::{AtomicBool, Ordering}};
/// use gingham_store::{Range, Store, StoreErrorKind, memory::Memory, wrap::Stop};
/// let signal = Arc::new(AtomicBool::new(false));
/// let store = Store::new(Stop::new(Store::new(Memory::new()), signal.clone()));
/// assert!(store.get("absent", Range::All)?.is_none());
/// signal.store(true, Ordering::Relaxed);
/// assert_eq!(store.get("absent", Range::All).unwrap_err().kind, StoreErrorKind::Interrupted);
/// # Ok::<(), gingham_store::StoreError>(())
/// ```
#[derive(Debug)]
pub struct Stop {
    inner: Store,
    signal: Arc<AtomicBool>,
}

impl Stop {
    /// `inner`, until `signal` is true.
    pub fn new(inner: Store, signal: Arc<AtomicBool>) -> Self {
        Stop { inner, signal }
    }
    fn go_on(&self) -> Result<&Store, StoreError> {
        match self.signal.load(Ordering::Relaxed) {
            false => Ok(&self.inner),
            true => Err(StoreError::new(StoreErrorKind::Interrupted, "interrupted")),
        }
    }
}

impl Storage for Stop {
    fn describe(&self) -> String {
        self.inner.describe()
    }
    fn traits(&self) -> Traits {
        self.inner.traits()
    }
    fn get(&self, key: &str, range: Range) -> Got {
        self.go_on()?.get(key, range)
    }
    fn get_into(&self, key: &str, start: u64, out: &mut [u8]) -> Result<bool, StoreError> {
        self.go_on()?.get_into(key, start, out)
    }
    fn read(&self, key: &str, room: &mut dyn Room) -> Result<bool, StoreError> {
        self.go_on()?.read(key, room)
    }
    fn open(&self, key: &str) -> Result<Option<Box<dyn Opened + '_>>, StoreError> {
        self.go_on()?.open(key)
    }
    fn get_many(&self, requests: &[Request], deliver: &(dyn Fn(usize, Got) + Sync)) {
        // What arrives after the signal is not worth decoding.
        self.inner.get_many(requests, &|i, got| deliver(i, self.go_on().and(got)));
    }
    fn start_get(&self, key: &str, range: Range) -> Option<Pending> {
        self.inner.start_get(key, range)
    }
    fn stat(&self, key: &str) -> Result<Option<Stat>, StoreError> {
        self.go_on()?.stat(key)
    }
    fn put(&self, key: &str, bytes: Bytes, condition: &Condition) -> Result<(), StoreError> {
        self.go_on()?.put(key, bytes, condition)
    }
    fn put_pieces(&self, key: &str, pieces: &[&[u8]], condition: &Condition) -> Result<(), StoreError> {
        self.go_on()?.put_pieces(key, pieces, condition)
    }
    fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.go_on()?.delete(key)
    }
    fn delete_if(&self, key: &str, version: &str) -> Result<bool, StoreError> {
        self.go_on()?.delete_if(key, version)
    }
    fn delete_prefix(&self, prefix: &str) -> Result<u64, StoreError> {
        self.go_on()?.delete_prefix(prefix)
    }
    fn list(&self, prefix: &str) -> Result<Vec<(String, u64)>, StoreError> {
        self.go_on()?.list(prefix)
    }
    fn keys(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        self.go_on()?.keys(prefix)
    }
    fn list_dir(&self, prefix: &str) -> Result<Listing, StoreError> {
        self.go_on()?.list_dir(prefix)
    }
    fn prefixes(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        self.go_on()?.prefixes(prefix)
    }
    fn finish(&self) -> Result<(), StoreError> {
        self.go_on()?.finish()
    }
}
