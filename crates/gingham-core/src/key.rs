//! Chunk key encodings: which key a chunk has below its array (Zarr v3 core, and the registered extensions).

use crate::json::Value;

/// How a chunk's grid index becomes its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyEncoding {
    /// `c/0/1`; the separator is `/` or `.`.
    Default { separator: char },
    /// `0.1`; the separator is `.` or `/`. A 0-d array's key is `0`.
    V2 { separator: char },
    /// `zarrs.default_suffix` and `suffix`: another encoding's key with text behind it.
    Suffix { base: Box<KeyEncoding>, suffix: String, name: SuffixName },
    /// `prefix`: another encoding's key with text before it.
    Prefix { base: Box<KeyEncoding>, prefix: String },
    /// `fanout`: groups of digits as folders, at most `max_children` each.
    Fanout { max_children: u64 },
    /// `template`: a pattern of `{0}`, `{-1}`, `{*}`, each with an optional zero-padded width.
    Template { template: String, separator: Option<String> },
}

/// Under which of its two names a suffix encoding was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SuffixName {
    /// `suffix`
    Suffix,
    /// `zarrs.default_suffix`
    ZarrsDefaultSuffix,
}

/// Why a key encoding is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct KeyEncodingError {
    /// A sentence.
    pub what: String,
    /// JSON pointer below the encoding's own value, `""` for the whole.
    pub pointer: String,
}

impl KeyEncoding {
    /// Reads the member `chunk_key_encoding` of a v3 document.
    pub fn from_json(value: &Value) -> Result<Self, KeyEncodingError> {
        let _ = value;
        todo!()
    }
    /// Writes it as an object with name and configuration.
    pub fn to_json(&self) -> Value {
        todo!()
    }
    /// The key of a chunk, relative to its array.
    pub fn encode(&self, chunk: &[u64]) -> String {
        let _ = chunk;
        todo!()
    }
    /// The chunk of a key, or `None` for a key that this encoding never writes (leading zeros, signs, other arity).
    pub fn decode(&self, key: &str, ndim: usize) -> Option<crate::Shape> {
        let _ = (key, ndim);
        todo!()
    }
    /// Checks that the encoding can name chunks of an array with this many axes (templates).
    pub fn check_ndim(&self, ndim: usize) -> Result<(), KeyEncodingError> {
        let _ = ndim;
        todo!()
    }
}
