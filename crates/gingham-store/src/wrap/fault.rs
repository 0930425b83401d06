//! Makes a store fail on purpose, for tests of what is above it.

use std::fmt;
use std::time::Duration;

use super::{Call, forward};
use crate::spread::spread;
use crate::*;

/// What goes wrong with a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Injected {
    /// It fails and was not made.
    Fail(StoreErrorKind),
    /// It is made, and its success is reported as this failure: a lost answer.
    FailAfter(StoreErrorKind),
    /// A get returns only so many of its bytes. Of a get into a buffer, the failure that a short object is.
    Truncate(usize),
    /// The lowest bit of this byte of what a get returns is turned over.
    Flip(usize),
    /// A get says that the key is absent.
    Absent,
    /// It is made after a while.
    Delay(Duration),
}

type Decide = dyn Fn(&Call) -> Option<Injected> + Send + Sync;

/// Lets a closure decide of every request whether something goes wrong with it.
pub struct Fault {
    inner: Store,
    decide: Box<Decide>,
}

impl Fault {
    /// `inner`, with what `decide` says of each request.
    pub fn new(inner: Store, decide: impl Fn(&Call) -> Option<Injected> + Send + Sync + 'static) -> Self {
        Fault { inner, decide: Box::new(decide) }
    }

    fn error(&self, kind: StoreErrorKind, call: &Call) -> StoreError {
        let key = match call {
            Call::Get { key, .. } | Call::Stat { key } | Call::Put { key, .. } | Call::Delete { key } | Call::DeleteIf { key, .. } => {
                key.as_str()
            }
            _ => "",
        };
        StoreError::new(kind, format!("injected: {call}")).at(&self.inner.describe(), key)
    }

    fn with<T>(&self, call: Call, request: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
        match (self.decide)(&call) {
            Some(Injected::Fail(kind)) => Err(self.error(kind, &call)),
            Some(Injected::FailAfter(kind)) => request().and_then(|_| Err(self.error(kind, &call))),
            Some(Injected::Delay(time)) => {
                std::thread::sleep(time);
                request()
            }
            // These are about what a get returns.
            Some(Injected::Truncate(_) | Injected::Flip(_) | Injected::Absent) | None => request(),
        }
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fault").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl Storage for Fault {
    forward!(describe traits);
    fn get(&self, key: &str, range: Range) -> Got {
        let call = Call::get(key, range);
        match (self.decide)(&call) {
            None => self.inner.get(key, range),
            Some(Injected::Fail(kind)) => Err(self.error(kind, &call)),
            Some(Injected::FailAfter(kind)) => self.inner.get(key, range).and_then(|_| Err(self.error(kind, &call))),
            Some(Injected::Truncate(n)) => Ok(self.inner.get(key, range)?.map(|b| b.slice(..n.min(b.len())))),
            Some(Injected::Flip(at)) => {
                let Some(bytes) = self.inner.get(key, range)? else { return Ok(None) };
                let mut bytes = bytes.to_vec();
                bytes.get_mut(at).into_iter().for_each(|b| *b ^= 1);
                Ok(Some(bytes.into()))
            }
            Some(Injected::Absent) => Ok(None),
            Some(Injected::Delay(time)) => {
                std::thread::sleep(time);
                self.inner.get(key, range)
            }
        }
    }
    fn get_into(&self, key: &str, start: u64, out: &mut [u8]) -> Result<bool, StoreError> {
        let range = Range::Bounded { start, length: out.len() as u64 };
        match self.get(key, range)? {
            Some(bytes) if bytes.len() == out.len() => {
                out.copy_from_slice(&bytes);
                Ok(true)
            }
            Some(_) => Err(self.error(StoreErrorKind::Short, &Call::get(key, range))),
            None => Ok(false),
        }
    }
    fn get_many(&self, requests: &[Request], deliver: &(dyn Fn(usize, Got) + Sync)) {
        spread(requests, self.traits().concurrency, &|r| self.get(&r.key, r.range), deliver);
    }
    /// Gets of an executor run on a thread, where a delay may block.
    fn start_get(&self, _: &str, _: Range) -> Option<Pending> {
        None
    }
    fn stat(&self, key: &str) -> Result<Option<Stat>, StoreError> {
        self.with(Call::Stat { key: key.into() }, || self.inner.stat(key))
    }
    fn put(&self, key: &str, bytes: Bytes, condition: &Condition) -> Result<(), StoreError> {
        self.with(Call::put(key, bytes.len(), condition), || self.inner.put(key, bytes, condition))
    }
    fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.with(Call::Delete { key: key.into() }, || self.inner.delete(key))
    }
    fn delete_if(&self, key: &str, version: &str) -> Result<bool, StoreError> {
        self.with(Call::DeleteIf { key: key.into(), version: version.into() }, || self.inner.delete_if(key, version))
    }
    fn delete_prefix(&self, prefix: &str) -> Result<u64, StoreError> {
        self.with(Call::DeletePrefix { prefix: prefix.into() }, || self.inner.delete_prefix(prefix))
    }
    fn list(&self, prefix: &str) -> Result<Vec<(String, u64)>, StoreError> {
        self.with(Call::List { prefix: prefix.into() }, || self.inner.list(prefix))
    }
    fn list_dir(&self, prefix: &str) -> Result<Listing, StoreError> {
        self.with(Call::ListDir { prefix: prefix.into() }, || self.inner.list_dir(prefix))
    }
    fn finish(&self) -> Result<(), StoreError> {
        self.with(Call::Finish, || self.inner.finish())
    }
}
