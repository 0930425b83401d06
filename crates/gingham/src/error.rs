//! One error at the border: a kind to act on, a place, a hint.

use std::fmt;

use gingham_codec::{CodecFault, FaultKind};
use gingham_core::codec::CodecError;
use gingham_core::dtype::DataTypeError;
use gingham_core::grid::GridError;
use gingham_core::meta::MetaError;
use gingham_core::path::PathError;
use gingham_core::region::SelectionError;
use gingham_store::{StoreError, StoreErrorKind};

/// A result with gingham's error.
pub type Result<T> = std::result::Result<T, Error>;

/// What kind of failure it is: what a caller can act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// No such node, store or key.
    NotFound,
    /// It is there already.
    Exists,
    /// A document is not valid.
    Metadata,
    /// Valid, but this build does not have what it takes; the message names it.
    Unsupported,
    /// An index, selection or shape outside the array.
    OutOfRange,
    /// Stored bytes are damaged.
    Corrupt,
    /// Permission denied.
    Denied,
    /// Someone else changed it meanwhile.
    Conflict,
    /// A store failed.
    Store,
    /// The request itself makes no sense (a malformed selection, data of another type or shape).
    Invalid,
    /// Stopped by the user; can be resumed.
    Interrupted,
}

/// Where it happened; every part only where it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The store's URL or path.
    pub store: Option<String>,
    /// The node's path, `/a/b`.
    pub node: Option<String>,
    /// The key in the store.
    pub key: Option<String>,
    /// The chunk's grid index.
    pub chunk: Option<Vec<u64>>,
    /// The axis.
    pub axis: Option<usize>,
    /// JSON pointer into the document.
    pub pointer: Option<String>,
}

impl fmt::Display for Place {
    /// `s3://bucket/era5.zarr/t2m/zarr.json  /chunk_grid/configuration`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<String> = Vec::new();
        let store = self.store.as_deref().unwrap_or("").trim_end_matches('/');
        match (&self.key, &self.node) {
            (Some(key), _) if store.is_empty() => parts.push(key.clone()),
            (Some(key), _) => parts.push(format!("{store}/{key}")),
            (None, Some(node)) if node != "/" => parts.push(format!("{store}{node}")),
            _ if !store.is_empty() => parts.push(store.to_string()),
            _ => {}
        }
        if let Some(chunk) = &self.chunk {
            parts.push(format!("chunk {chunk:?}"));
        }
        if let Some(pointer) = self.pointer.as_deref().filter(|p| !p.is_empty()) {
            parts.push(pointer.to_string());
        }
        f.write_str(&parts.join("  "))
    }
}

#[derive(Debug)]
struct Inner {
    kind: Kind,
    what: String,
    place: Place,
    hint: Option<String>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// Why gingham could not do what it was asked.
#[derive(Debug)]
pub struct Error(Box<Inner>);

impl Error {
    /// A failure in one sentence.
    pub fn new(kind: Kind, what: impl Into<String>) -> Self {
        Error(Box::new(Inner { kind, what: what.into(), place: Place::default(), hint: None, source: None }))
    }
    /// What kind of failure it is.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }
    /// Where it happened.
    pub fn place(&self) -> &Place {
        &self.0.place
    }
    /// What to do about it.
    pub fn hint(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }
    /// Adds a hint where there is none.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint.get_or_insert(hint.into());
        self
    }
    /// Fills in what is not known yet about the place.
    pub fn at(mut self, fill: impl FnOnce(&mut Place)) -> Self {
        let mut place = Place::default();
        fill(&mut place);
        let old = &mut self.0.place;
        old.store = old.store.take().or(place.store);
        old.node = old.node.take().or(place.node);
        old.key = old.key.take().or(place.key);
        old.chunk = old.chunk.take().or(place.chunk);
        old.axis = old.axis.take().or(place.axis);
        old.pointer = old.pointer.take().or(place.pointer);
        self
    }
    /// Replaces the key (a document's name becomes a key of the store).
    pub(crate) fn rekey(mut self, key: Option<String>) -> Self {
        self.0.place.key = key;
        self
    }
    fn with_source(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.0.source = Some(Box::new(source));
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.what)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|e| e as _)
    }
}

impl From<StoreError> for Error {
    fn from(e: StoreError) -> Self {
        let kind = match e.kind {
            StoreErrorKind::NotFound => Kind::NotFound,
            StoreErrorKind::Short | StoreErrorKind::Corrupt => Kind::Corrupt,
            StoreErrorKind::Denied => Kind::Denied,
            StoreErrorKind::Exists => Kind::Exists,
            StoreErrorKind::Conflict => Kind::Conflict,
            StoreErrorKind::Invalid => Kind::Invalid,
            StoreErrorKind::Unsupported => Kind::Unsupported,
            StoreErrorKind::Interrupted => Kind::Interrupted,
            StoreErrorKind::Failed => Kind::Store,
        };
        let mut error = Error::new(kind, e.what.clone()).at(|p| {
            p.store = Some(e.store.clone());
            p.key = e.key.clone();
        });
        error.0.hint = e.hint.clone();
        match e.source {
            Some(source) => {
                error.0.source = Some(source);
                error
            }
            None => error,
        }
    }
}

impl From<MetaError> for Error {
    fn from(e: MetaError) -> Self {
        let kind = if e.unsupported { Kind::Unsupported } else { Kind::Metadata };
        let mut error = Error::new(kind, e.what.clone()).at(|p| {
            p.key = (!e.document.is_empty()).then(|| e.document.to_string());
            p.pointer = Some(e.pointer.clone());
        });
        error.0.hint = e.hint;
        error
    }
}

impl From<CodecFault> for Error {
    fn from(e: CodecFault) -> Self {
        let kind = match e.kind {
            FaultKind::Corrupt => Kind::Corrupt,
            FaultKind::Value => Kind::Invalid,
            FaultKind::Unsupported => Kind::Unsupported,
        };
        Error::new(kind, e.to_string())
    }
}

impl From<CodecError> for Error {
    fn from(e: CodecError) -> Self {
        Error::new(Kind::Metadata, e.what.clone()).at(|p| p.pointer = Some(e.pointer.clone())).with_source(e)
    }
}

impl From<DataTypeError> for Error {
    fn from(e: DataTypeError) -> Self {
        Error::new(Kind::Metadata, e.what.clone()).at(|p| p.pointer = Some(e.pointer.clone()))
    }
}

impl From<GridError> for Error {
    fn from(e: GridError) -> Self {
        let mut error = Error::new(Kind::Metadata, e.what.clone()).at(|p| {
            p.pointer = Some(e.pointer.clone());
            p.axis = e.axis;
        });
        error.0.hint = e.hint;
        error
    }
}

impl From<PathError> for Error {
    fn from(e: PathError) -> Self {
        Error::new(Kind::Invalid, e.to_string())
    }
}

impl From<SelectionError> for Error {
    fn from(e: SelectionError) -> Self {
        let kind = if e.out_of_range { Kind::OutOfRange } else { Kind::Invalid };
        Error::new(kind, e.what.clone()).at(|p| p.axis = e.axis)
    }
}
