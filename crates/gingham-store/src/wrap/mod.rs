//! Stores around stores: each watches or changes one thing.

use crate::*;

/// The part of a store below a prefix, as a store of its own.
#[derive(Debug)]
pub struct Prefix {
    inner: Store,
    prefix: String,
}

impl Prefix {
    /// Keys below `prefix`.
    pub fn new(inner: Store, prefix: &str) -> Self {
        Prefix { inner, prefix: prefix.trim_matches('/').into() }
    }
}

impl Storage for Prefix {
    fn describe(&self) -> String {
        format!("{}/{}", self.inner.describe().trim_end_matches('/'), self.prefix)
    }
    fn traits(&self) -> Traits {
        self.inner.traits()
    }
    fn get(&self, key: &str, range: Range) -> Got {
        let _ = (key, range);
        todo!()
    }
    fn stat(&self, key: &str) -> Result<Option<Stat>, StoreError> {
        let _ = key;
        todo!()
    }
    fn put(&self, key: &str, bytes: Bytes, condition: &Condition) -> Result<(), StoreError> {
        let _ = (key, bytes, condition);
        todo!()
    }
    fn delete(&self, key: &str) -> Result<(), StoreError> {
        let _ = key;
        todo!()
    }
    fn list(&self, prefix: &str) -> Result<Vec<(String, u64)>, StoreError> {
        let _ = prefix;
        todo!()
    }
    fn list_dir(&self, prefix: &str) -> Result<Listing, StoreError> {
        let _ = prefix;
        todo!()
    }
}
