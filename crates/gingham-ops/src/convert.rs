//! Whole hierarchies into another layout: streaming, one pass, bounded memory.

use gingham::core::codec::Codec;
use gingham::{Format, Node, Result, Store};

/// What chunks or shards the target gets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Cut {
    /// As the source has them.
    #[default]
    Keep,
    /// Chosen by gingham: chunks of about 1 MiB (uncompressed, 256 KiB to 4 MiB), shards of at most about 512 MiB.
    Auto,
    /// No shards.
    None,
    /// As text: `64,256,256` or `[[31,29,[31,2],30],25,35]` (`gingham_core::grid::parse_chunks`).
    Text(String),
}

/// How to convert.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Target format; 3 where `None`.
    pub format: Option<Format>,
    /// Chunks (inside shards, where there are shards).
    pub chunks: Cut,
    /// Shards.
    pub shards: Cut,
    /// Bytes→bytes codecs of a chunk; the source's where `None` (those that the target format has).
    pub codecs: Option<Vec<Codec>>,
    /// Bytes of memory for data under way; 512 MiB where `None`.
    pub memory: Option<u64>,
    /// Replace nodes that are there.
    pub overwrite: bool,
    /// Options for reading and writing arrays.
    pub array: gingham::Options,
}

/// What happens; for progress bars.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Event {
    Start { path: String, elements: u64 },
    Elements { path: String, done: u64 },
    Done { path: String },
    Warning { path: String, what: String },
}

/// What was done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Report {
    pub groups: u64,
    pub arrays: u64,
    pub elements: u64,
    pub objects_written: u64,
    pub bytes_written: u64,
    pub warnings: Vec<String>,
}

/// Copies a node and all below it into `target` in another layout. Groups, attributes, dimension names and fill values come
/// along; a node that cannot be converted is an error before anything is written. The root document is written last.
pub fn convert(source: &Node, target: &Store, options: &Options, progress: &(dyn Fn(Event) + Sync)) -> Result<Report> {
    let _ = (source, target, options, progress);
    todo!()
}
