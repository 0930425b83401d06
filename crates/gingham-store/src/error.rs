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
