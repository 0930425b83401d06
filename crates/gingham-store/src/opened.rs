//! An object that stays open while several parts of it are read.

use crate::{Stat, Storage, StoreError, StoreErrorKind};

/// An object of a local store that is open. Where the store can, it stays what it was when it was opened, whatever its key
/// comes to name meanwhile.
pub trait Opened: Send + Sync {
    /// Its size when it was opened.
    fn size(&self) -> u64;
    /// Its version when it was opened (see [`Stat`]).
    fn version(&self) -> Option<String>;
    /// Fills a buffer from byte `start` on. An object that ends before is an error of kind Short.
    fn read_at(&self, start: u64, out: &mut [u8]) -> Result<(), StoreError>;
    /// Whether everything that was read is of the version that was opened.
    fn unchanged(&self) -> Result<bool, StoreError>;
}

/// The object that a key names, asked for anew for each part: for stores that keep nothing open.
pub(crate) struct ByKey<'a, S: ?Sized> {
    store: &'a S,
    key: String,
    stat: Stat,
}

impl<'a, S: Storage + ?Sized> ByKey<'a, S> {
    pub(crate) fn open(store: &'a S, key: &str) -> Result<Option<Self>, StoreError> {
        Ok(store.stat(key)?.map(|stat| ByKey { store, key: key.into(), stat }))
    }
}

impl<S: Storage + ?Sized> Opened for ByKey<'_, S> {
    fn size(&self) -> u64 {
        self.stat.size
    }
    fn version(&self) -> Option<String> {
        self.stat.version.clone()
    }
    fn read_at(&self, start: u64, out: &mut [u8]) -> Result<(), StoreError> {
        if self.store.get_into(&self.key, start, out)? {
            return Ok(());
        }
        Err(StoreError::new(StoreErrorKind::Failed, "the object was deleted while it was read").at(&self.store.describe(), &self.key))
    }
    fn unchanged(&self) -> Result<bool, StoreError> {
        // Without a version nothing tells one state from another: what was read is taken as it is.
        Ok(match &self.stat.version {
            None => true,
            version => self.store.stat(&self.key)?.is_some_and(|now| now.version == *version),
        })
    }
}
