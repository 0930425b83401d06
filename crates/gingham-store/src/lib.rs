//! Where a Zarr's bytes lie: bytes by key and range.
//!
//! A [`Store`] is a cheap handle on one [`Storage`]. Keys are UTF-8, separated by `/`, never starting or ending with one.
//! Missing is not broken: an absent key is `Ok(None)`, every failure is a [`StoreError`] and never becomes a fill value.
//!
//! ```text
//!   Store ── open(url | path) ──► fs · memory · http · object (s3, gs, az) · zip
//!     │                             ▲
//!     └── wrap: count log fault cache prefix limit read-only stop   (each is a Storage around a Store)
//! ```

mod asynchronous;
mod coalesce;
pub mod conformance;
mod error;
pub mod fs;
pub mod http;
pub mod memory;
pub mod object;
mod open;
mod opened;
mod range;
mod spread;
pub mod wrap;
pub mod zip;

use std::sync::Arc;

pub use asynchronous::Pending;
pub use bytes::Bytes;
pub use coalesce::{Fetch, MAX_MERGED, coalesce};
pub use error::{StoreError, StoreErrorKind};
pub use open::{Options, above, create_with, locate, open, open_with};
pub use opened::Opened;

/// Part of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Range {
    /// All of it.
    All,
    /// `length` bytes from `start`. An object that ends before is an error of kind Short.
    Bounded {
        /// The first byte.
        start: u64,
        /// How many.
        length: u64,
    },
    /// From `start` to the end. A start past the end is an error of kind Short.
    From {
        /// The first byte.
        start: u64,
    },
    /// The last `length` bytes, or the whole of a shorter object.
    Suffix {
        /// How many.
        length: u64,
    },
}

/// One part to get.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Request {
    /// The object.
    pub key: String,
    /// Which part.
    pub range: Range,
}

/// An object's size and version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// Its size in bytes.
    pub size: u64,
    /// Something that changes whenever the object does: an ETag, or size with modification time; `None` where unknown.
    pub version: Option<String>,
}

/// When a put may happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// Always.
    Always,
    /// Only where the key is absent; else an error of kind Exists.
    Absent,
    /// Only where the object still has this version; else an error of kind Conflict.
    Version(String),
}

/// One level of a listing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// Keys directly below the prefix (whole keys), sorted.
    pub keys: Vec<String>,
    /// Prefixes directly below (whole, without trailing slash), sorted.
    pub prefixes: Vec<String>,
}

/// What a store can do, and what suits it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traits {
    /// Keys can be listed.
    pub lists: bool,
    /// Keys can be put and deleted.
    pub writes: bool,
    /// [`Condition::Absent`] and [`Condition::Version`] are kept against every other writer, those of other processes too.
    pub conditional: bool,
    /// Two ranges with no more than this many bytes between them are fetched as one.
    pub gap: u64,
    /// Requests that are worth having under way at once.
    pub concurrency: usize,
    /// True where a range costs a system call and not a round trip (files, memory): small reads are cheap.
    pub local: bool,
}

/// The result of a get: `None` where the key is absent.
pub type Got = Result<Option<Bytes>, StoreError>;

/// Memory for what is about to be read.
pub trait Room {
    /// Exactly `length` bytes, whatever they hold; `None` where there is no room for so many.
    fn give(&mut self, length: u64) -> Option<&mut [u8]>;
}

/// What every store implements. Blocking; stores that are asynchronous inside run their own runtime.
pub trait Storage: Send + Sync + std::fmt::Debug {
    /// What it is and where, as a URL or path, for messages.
    fn describe(&self) -> String;
    /// What it can do.
    fn traits(&self) -> Traits;
    /// Gets a part of an object.
    fn get(&self, key: &str, range: Range) -> Got;
    /// Gets a bounded part straight into a buffer; `Ok(false)` where the key is absent. Files read without another copy.
    fn get_into(&self, key: &str, start: u64, out: &mut [u8]) -> Result<bool, StoreError> {
        match self.get(key, Range::Bounded { start, length: out.len() as u64 })? {
            Some(bytes) if bytes.len() == out.len() => {
                out.copy_from_slice(&bytes);
                Ok(true)
            }
            Some(bytes) => Err(range::short(start, out.len() as u64, start.saturating_add(bytes.len() as u64)).at(&self.describe(), key)),
            None => Ok(false),
        }
    }
    /// Gets a whole object into memory that `room` gives for its length; nothing is read where that gives none. `Ok(false)` where
    /// the key is absent. Files are read without another copy.
    fn read(&self, key: &str, room: &mut dyn Room) -> Result<bool, StoreError> {
        let Some(bytes) = self.get(key, Range::All)? else { return Ok(false) };
        if let Some(out) = room.give(bytes.len() as u64) {
            out.copy_from_slice(&bytes);
        }
        Ok(true)
    }
    /// Opens an object of which several parts are to be read; `Ok(None)` where the key is absent. Files are looked up once for
    /// all of them.
    fn open(&self, key: &str) -> Result<Option<Box<dyn Opened + '_>>, StoreError> {
        Ok(opened::ByKey::open(self, key)?.map(|o| Box::new(o) as Box<dyn Opened>))
    }
    /// Gets many parts, each handed to `deliver` as it arrives, in any order, from any thread. Stores with round trips keep
    /// [`Traits::concurrency`] of them under way. Returns when all were delivered.
    fn get_many(&self, requests: &[Request], deliver: &(dyn Fn(usize, Got) + Sync)) {
        for (i, r) in requests.iter().enumerate() {
            deliver(i, self.get(&r.key, r.range));
        }
    }
    /// A get that is already under way where the store is asynchronous inside, to await on any executor; `None` where a get
    /// blocks. [`Store::get_async`] is the face of it.
    fn start_get(&self, key: &str, range: Range) -> Option<Pending> {
        let _ = (key, range);
        None
    }
    /// Size and version, `None` where the key is absent.
    fn stat(&self, key: &str) -> Result<Option<Stat>, StoreError>;
    /// Puts an object whole: a reader sees the old bytes or the new, never a part.
    fn put(&self, key: &str, bytes: Bytes, condition: &Condition) -> Result<(), StoreError>;
    /// Puts an object that lies in pieces, as [`Storage::put`] does; files are written from the pieces as they are.
    fn put_pieces(&self, key: &str, pieces: &[&[u8]], condition: &Condition) -> Result<(), StoreError> {
        self.put(key, Bytes::from(pieces.concat()), condition)
    }
    /// Deletes an object; an absent key is not an error.
    fn delete(&self, key: &str) -> Result<(), StoreError>;
    /// Deletes an object only where it still has this version, in one step: a version that changed is an error of kind
    /// Conflict. `Ok(false)`, and nothing is deleted, where the store cannot compare and delete in one step.
    fn delete_if(&self, key: &str, version: &str) -> Result<bool, StoreError> {
        let _ = (key, version);
        Ok(false)
    }
    /// Deletes everything below `prefix` (`foo` does not touch `foobar`; `""` is everything). Returns how many objects.
    fn delete_prefix(&self, prefix: &str) -> Result<u64, StoreError> {
        let bare = range::check_prefix(prefix).map_err(|e| e.at(&self.describe(), prefix))?;
        let mut n = 0;
        for key in self.keys(bare)? {
            if range::below(&key, bare).is_some() {
                self.delete(&key)?;
                n += 1;
            }
        }
        Ok(n)
    }
    /// All keys below `prefix` with their sizes, sorted. Directory markers (empty objects whose key ends in `/`) and
    /// temporary files are left out.
    fn list(&self, prefix: &str) -> Result<Vec<(String, u64)>, StoreError>;
    /// The same without sizes, which some stores are not told by a listing.
    fn keys(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        Ok(self.list(prefix)?.into_iter().map(|(key, _)| key).collect())
    }
    /// One level below `prefix`. A prefix that holds no key is not listed.
    fn list_dir(&self, prefix: &str) -> Result<Listing, StoreError>;
    /// The prefixes directly below one, sorted, perhaps also some that hold no key: what is enough for one who looks into each of
    /// them anyway.
    fn prefixes(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        Ok(self.list_dir(prefix)?.prefixes)
    }
    /// Completes what was put, where a store needs it (an archive is put in place). Writers call it at their end; after it the
    /// store may refuse to be written.
    fn finish(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

/// A handle on a store; cheap to clone.
#[derive(Debug, Clone)]
pub struct Store(Arc<dyn Storage>);

impl Store {
    /// A handle on a storage.
    pub fn new(storage: impl Storage + 'static) -> Self {
        Store(Arc::new(storage))
    }
    /// Opens a path or URL: a directory, a zip file, `http(s)://`, `s3://`, `gs://`, `az://`, `memory:`, `file://`.
    pub fn open(location: &str) -> Result<Self, StoreError> {
        open(location)
    }
    /// The same store seen from below `prefix`.
    pub fn prefixed(&self, prefix: &str) -> Store {
        if prefix.is_empty() { self.clone() } else { Store::new(wrap::Prefix::new(self.clone(), prefix)) }
    }
}

impl std::ops::Deref for Store {
    type Target = dyn Storage;
    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}
