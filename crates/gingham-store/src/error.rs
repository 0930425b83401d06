//! Why a store could not do what it was asked.

/// What kind of failure it was: what a caller can act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreErrorKind {
    /// The place itself (directory, bucket, archive) does not exist.
    NotFound,
    /// Asked for a part that the object does not have, or the transfer ended early.
    Short,
    /// Permission denied, or not authenticated.
    Denied,
    /// [`crate::Condition::Absent`] and the key exists.
    Exists,
    /// [`crate::Condition::Version`] and the object changed.
    Conflict,
    /// The key or location is not one (escapes the root, NUL, unknown scheme).
    Invalid,
    /// The store cannot do this (write over HTTP, list).
    Unsupported,
    /// The stored container is damaged (zip).
    Corrupt,
    /// The caller's signal to stop was set.
    Interrupted,
    /// Everything else: input/output, network, server.
    Failed,
}

/// A failure, with the place.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct StoreError {
    /// What kind.
    pub kind: StoreErrorKind,
    /// A sentence.
    pub what: String,
    /// The store, as [`crate::Storage::describe`] says.
    pub store: String,
    /// The key, where there is one.
    pub key: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
    /// What it came from.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl StoreError {
    /// A failure of no known place; [`StoreError::at`] adds it.
    pub fn new(kind: StoreErrorKind, what: impl Into<String>) -> Self {
        StoreError { kind, what: what.into(), store: String::new(), key: None, hint: None, source: None }
    }

    /// The place; an empty key is none. What is already known stays.
    pub fn at(mut self, store: &str, key: &str) -> Self {
        if self.store.is_empty() {
            self.store = store.into();
        }
        if self.key.is_none() && !key.is_empty() {
            self.key = Some(key.into());
        }
        self
    }

    /// What to do about it.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// What it came from.
    pub fn caused_by(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }
}
