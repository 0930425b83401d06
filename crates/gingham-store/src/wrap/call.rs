//! A request as a value.

use std::fmt;

use crate::{Condition, Range};

/// One request to a store, as it came in: what a log keeps and a fault is decided by.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Call {
    /// A get, whichever method it came by.
    Get { key: String, range: Range },
    /// Size and version.
    Stat { key: String },
    /// A put of so many bytes.
    Put { key: String, length: u64, condition: Condition },
    /// A delete.
    Delete { key: String },
    /// A delete of one version.
    DeleteIf { key: String, version: String },
    /// A delete of all that is below.
    DeletePrefix { prefix: String },
    /// A listing of all levels.
    List { prefix: String },
    /// A listing of one level.
    ListDir { prefix: String },
    /// The end of writing.
    Finish,
}

/// One line: `get c/0 100+20` (20 bytes from byte 100), `get c/0 -20` (the last 20), `put c/0 35 if absent`.
impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Call::Get { key, range: Range::All } => write!(f, "get {key}"),
            Call::Get { key, range: Range::Bounded { start, length } } => write!(f, "get {key} {start}+{length}"),
            Call::Get { key, range: Range::From { start } } => write!(f, "get {key} {start}+"),
            Call::Get { key, range: Range::Suffix { length } } => write!(f, "get {key} -{length}"),
            Call::Stat { key } => write!(f, "stat {key}"),
            Call::Put { key, length, condition: Condition::Always } => write!(f, "put {key} {length}"),
            Call::Put { key, length, condition: Condition::Absent } => write!(f, "put {key} {length} if absent"),
            Call::Put { key, length, condition: Condition::Version(v) } => write!(f, "put {key} {length} if {v}"),
            Call::Delete { key } => write!(f, "delete {key}"),
            Call::DeleteIf { key, version } => write!(f, "delete {key} if {version}"),
            Call::DeletePrefix { prefix } => write!(f, "delete {prefix}/"),
            Call::List { prefix } => write!(f, "list {prefix}/"),
            Call::ListDir { prefix } => write!(f, "list {prefix}/ (one level)"),
            Call::Finish => write!(f, "finish"),
        }
    }
}

impl Call {
    pub(crate) fn get(key: &str, range: Range) -> Self {
        Call::Get { key: key.into(), range }
    }
    pub(crate) fn put(key: &str, length: usize, condition: &Condition) -> Self {
        Call::Put { key: key.into(), length: length as u64, condition: condition.clone() }
    }
}
