//! Drivers: the only place where reading meets waiting. Both run the same machine.

pub(crate) mod blocking;
mod local;
pub(crate) mod tokio;

use std::sync::{Condvar, Mutex};

use crate::error::{Error, Kind};

/// How often a shard is read again that was replaced between its index and its chunks.
const TRIES: usize = 100;

fn ever_changing() -> Error {
    Error::new(Kind::Conflict, format!("the shard was replaced {TRIES} times while it was read"))
        .with_hint("read again when its writers are done")
}

/// Bytes that were fetched and wait for a worker: fetching stops where there are too many.
pub(crate) struct Gate {
    held: Mutex<u64>,
    freed: Condvar,
    limit: u64,
}

impl Gate {
    pub fn new(limit: u64) -> Self {
        Gate { held: Mutex::new(0), freed: Condvar::new(), limit }
    }
    /// Waits until `n` more bytes fit; a single larger one passes alone. A worker of the pool helps out instead of sleeping,
    /// as it may be the one that has to free them.
    pub fn enter(&self, n: u64) {
        let mut held = self.held.lock().unwrap_or_else(|e| e.into_inner());
        while *held > 0 && *held + n > self.limit {
            if rayon::current_thread_index().is_some() {
                drop(held);
                if rayon::yield_now() != Some(rayon::Yield::Executed) {
                    std::thread::yield_now();
                }
                held = self.held.lock().unwrap_or_else(|e| e.into_inner());
            } else {
                held = self.freed.wait(held).unwrap_or_else(|e| e.into_inner());
            }
        }
        *held += n;
    }
    pub fn leave(&self, n: u64) {
        *self.held.lock().unwrap_or_else(|e| e.into_inner()) -= n;
        self.freed.notify_all();
    }
}
