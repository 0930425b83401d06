//! Holds requests back.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::forward;
use crate::spread::spread;
use crate::*;

/// At most so many requests at once, and at most so many each second. A request that is too many waits.
#[derive(Debug)]
pub struct Limit {
    inner: Store,
    at_once: usize,
    under_way: Mutex<usize>,
    freed: Condvar,
    /// The time between the beginnings of two requests, and when the next may begin.
    pace: Option<(Duration, Mutex<Instant>)>,
}

impl Limit {
    /// At most `at_once` requests to `inner` at once (at least one), and `per_second` each second where that is positive.
    pub fn new(inner: Store, at_once: usize, per_second: Option<f64>) -> Self {
        let pace = per_second.and_then(|n| Duration::try_from_secs_f64(1.0 / n).ok()).map(|pace| (pace, Mutex::new(Instant::now())));
        Limit { inner, at_once: at_once.max(1), under_way: Mutex::new(0), freed: Condvar::new(), pace }
    }

    fn held<T>(&self, request: impl FnOnce() -> T) -> T {
        let _turn = Turn::take(self);
        if let Some((pace, next)) = &self.pace {
            let begin = {
                let mut next = next.lock().unwrap_or_else(PoisonError::into_inner);
                let begin = (*next).max(Instant::now());
                *next = begin.checked_add(*pace).unwrap_or(begin);
                begin
            };
            std::thread::sleep(begin.saturating_duration_since(Instant::now()));
        }
        request()
    }
}

/// A request's place among those under way; given up when dropped, also by a panic.
struct Turn<'a>(&'a Limit);

impl<'a> Turn<'a> {
    fn take(limit: &'a Limit) -> Self {
        let mut n = limit.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        while *n >= limit.at_once {
            n = limit.freed.wait(n).unwrap_or_else(PoisonError::into_inner);
        }
        *n += 1;
        Turn(limit)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.0.under_way.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.freed.notify_one();
    }
}

impl Storage for Limit {
    forward!(describe);
    fn traits(&self) -> Traits {
        let inner = self.inner.traits();
        Traits { concurrency: inner.concurrency.min(self.at_once), ..inner }
    }
    fn get(&self, key: &str, range: Range) -> Got {
        self.held(|| self.inner.get(key, range))
    }
    fn get_into(&self, key: &str, start: u64, out: &mut [u8]) -> Result<bool, StoreError> {
        self.held(|| self.inner.get_into(key, start, out))
    }
    /// One by one, so that each takes its turn; no answer is delivered while one is held.
    fn get_many(&self, requests: &[Request], deliver: &(dyn Fn(usize, Got) + Sync)) {
        spread(requests, self.traits().concurrency, &|r| self.get(&r.key, r.range), deliver);
    }
    /// A turn is waited for by blocking, which a future must not: gets of an executor run on a thread.
    fn start_get(&self, _: &str, _: Range) -> Option<Pending> {
        None
    }
    fn stat(&self, key: &str) -> Result<Option<Stat>, StoreError> {
        self.held(|| self.inner.stat(key))
    }
    fn put(&self, key: &str, bytes: Bytes, condition: &Condition) -> Result<(), StoreError> {
        self.held(|| self.inner.put(key, bytes, condition))
    }
    fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.held(|| self.inner.delete(key))
    }
    fn delete_if(&self, key: &str, version: &str) -> Result<bool, StoreError> {
        self.held(|| self.inner.delete_if(key, version))
    }
    fn delete_prefix(&self, prefix: &str) -> Result<u64, StoreError> {
        self.held(|| self.inner.delete_prefix(prefix))
    }
    fn list(&self, prefix: &str) -> Result<Vec<(String, u64)>, StoreError> {
        self.held(|| self.inner.list(prefix))
    }
    fn list_dir(&self, prefix: &str) -> Result<Listing, StoreError> {
        self.held(|| self.inner.list_dir(prefix))
    }
    fn finish(&self) -> Result<(), StoreError> {
        self.held(|| self.inner.finish())
    }
}
