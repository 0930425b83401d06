//! Refuses to be written to.

use super::forward;
use crate::*;

/// A store that can be read and not changed.
#[derive(Debug)]
pub struct ReadOnly {
    inner: Store,
}

impl ReadOnly {
    /// `inner`, for reading.
    pub fn new(inner: Store) -> Self {
        ReadOnly { inner }
    }
    fn refuse<T>(&self, key: &str) -> Result<T, StoreError> {
        Err(StoreError::new(StoreErrorKind::Denied, "the store was opened for reading only").at(&self.inner.describe(), key))
    }
}

impl Storage for ReadOnly {
    forward!(describe get get_into read open get_many start_get stat list keys list_dir prefixes);
    fn traits(&self) -> Traits {
        Traits { writes: false, conditional: false, ..self.inner.traits() }
    }
    fn put(&self, key: &str, _: Bytes, _: &Condition) -> Result<(), StoreError> {
        self.refuse(key)
    }
    fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.refuse(key)
    }
    fn delete_if(&self, key: &str, _: &str) -> Result<bool, StoreError> {
        self.refuse(key)
    }
    fn delete_prefix(&self, prefix: &str) -> Result<u64, StoreError> {
        self.refuse(prefix)
    }
    /// Nothing was written, so there is nothing to complete.
    fn finish(&self) -> Result<(), StoreError> {
        Ok(())
    }
}
