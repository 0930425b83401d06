//! The part of a store below a prefix.

use crate::range::{check_key, check_prefix};
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

    // The key is checked before it is joined: "" or "/a" would become another key of the inner store.
    fn key(&self, key: &str) -> Result<String, StoreError> {
        check_key(key).map_err(|e| e.at(&self.describe(), key))?;
        Ok(self.join(key))
    }
    fn below(&self, prefix: &str) -> Result<String, StoreError> {
        let bare = check_prefix(prefix).map_err(|e| e.at(&self.describe(), prefix))?;
        Ok(if bare.is_empty() { self.prefix.clone() } else { self.join(bare) })
    }
    fn join(&self, key: &str) -> String {
        if self.prefix.is_empty() { key.into() } else { format!("{}/{key}", self.prefix) }
    }
    fn strip(&self, mut key: String) -> String {
        if !self.prefix.is_empty() {
            key.drain(..(self.prefix.len() + 1).min(key.len()));
        }
        key
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
        self.inner.get(&self.key(key)?, range)
    }
    fn get_into(&self, key: &str, start: u64, out: &mut [u8]) -> Result<bool, StoreError> {
        self.inner.get_into(&self.key(key)?, start, out)
    }
    fn read(&self, key: &str, room: &mut dyn Room) -> Result<bool, StoreError> {
        self.inner.read(&self.key(key)?, room)
    }
    fn open(&self, key: &str) -> Result<Option<Box<dyn Opened + '_>>, StoreError> {
        self.inner.open(&self.key(key)?)
    }
    fn get_many(&self, requests: &[Request], deliver: &(dyn Fn(usize, Got) + Sync)) {
        let mut inner = Vec::with_capacity(requests.len());
        let mut index = Vec::with_capacity(requests.len());
        for (i, r) in requests.iter().enumerate() {
            match self.key(&r.key) {
                Ok(key) => {
                    inner.push(Request { key, range: r.range });
                    index.push(i);
                }
                Err(e) => deliver(i, Err(e)),
            }
        }
        self.inner.get_many(&inner, &|i, got| deliver(index[i], got));
    }
    fn start_get(&self, key: &str, range: Range) -> Option<Pending> {
        match self.key(key) {
            Ok(key) => self.inner.start_get(&key, range),
            Err(e) => Some(Box::pin(std::future::ready(Err(e)))),
        }
    }
    fn stat(&self, key: &str) -> Result<Option<Stat>, StoreError> {
        self.inner.stat(&self.key(key)?)
    }
    fn put(&self, key: &str, bytes: Bytes, condition: &Condition) -> Result<(), StoreError> {
        self.inner.put(&self.key(key)?, bytes, condition)
    }
    fn put_pieces(&self, key: &str, pieces: &[&[u8]], condition: &Condition) -> Result<(), StoreError> {
        self.inner.put_pieces(&self.key(key)?, pieces, condition)
    }
    fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.inner.delete(&self.key(key)?)
    }
    fn delete_if(&self, key: &str, version: &str) -> Result<bool, StoreError> {
        self.inner.delete_if(&self.key(key)?, version)
    }
    fn delete_prefix(&self, prefix: &str) -> Result<u64, StoreError> {
        self.inner.delete_prefix(&self.below(prefix)?)
    }
    fn list(&self, prefix: &str) -> Result<Vec<(String, u64)>, StoreError> {
        let list = self.inner.list(&self.below(prefix)?)?;
        Ok(list.into_iter().map(|(key, size)| (self.strip(key), size)).collect())
    }
    fn prefixes(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        Ok(self.inner.prefixes(&self.below(prefix)?)?.into_iter().map(|p| self.strip(p)).collect())
    }
    fn keys(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        Ok(self.inner.keys(&self.below(prefix)?)?.into_iter().map(|key| self.strip(key)).collect())
    }
    fn list_dir(&self, prefix: &str) -> Result<Listing, StoreError> {
        let Listing { keys, prefixes } = self.inner.list_dir(&self.below(prefix)?)?;
        let strip = |keys: Vec<String>| keys.into_iter().map(|k| self.strip(k)).collect();
        Ok(Listing { keys: strip(keys), prefixes: strip(prefixes) })
    }
    fn finish(&self) -> Result<(), StoreError> {
        self.inner.finish()
    }
}
