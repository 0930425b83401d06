//! Options travel as values: every handle carries its own.

use gingham_core::meta::Format;

/// How consolidated metadata is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Consolidated {
    /// Used to list a hierarchy where it is there and the store cannot list; a store that lists is listed, and a block
    /// that disagrees is noticed.
    #[default]
    Auto,
    /// Never looked at.
    Never,
    /// Used, and an error where it is absent.
    Require,
}

/// What an absent chunk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Missing {
    /// The fill value, as the formats say.
    #[default]
    Fill,
    /// An error that names the chunk.
    Error,
}

/// How arrays are read and written.
#[derive(Debug, Clone)]
pub struct Options {
    /// Worker threads; one per core where `None`.
    pub threads: Option<usize>,
    /// Bytes of encoded chunks that may wait for a worker.
    pub memory: u64,
    /// Bytes of decoded chunks that an array keeps for reads that come back to them; 0: none. On a local store a kept chunk
    /// counts only while its file is the same; behind a network it is taken as it was.
    pub kept_chunks: u64,
    /// Consolidated metadata.
    pub consolidated: Consolidated,
    /// Absent chunks.
    pub missing: Missing,
    /// Also store chunks that hold nothing but the fill value.
    pub write_empty_chunks: bool,
    /// The format to look for; both where `None` (one more request for v2, whose documents are looked for second).
    pub format: Option<Format>,
    /// v2: another separator of chunk keys than the document says (old nested stores do not say it).
    pub separator: Option<char>,
    /// Refuse chunk keys, shapes and allocations larger than this many bytes for one decoded chunk.
    pub max_chunk: u64,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            threads: None,
            memory: 256 << 20,
            kept_chunks: 0,
            consolidated: Consolidated::Auto,
            missing: Missing::Fill,
            write_empty_chunks: false,
            format: None,
            separator: None,
            // 16 GiB: no codec in use makes more, and a document that declares more is damaged or hostile.
            max_chunk: 16 << 30,
        }
    }
}
