//! From a selection to the pieces of chunks that it needs. Pure.

use gingham_core::Shape;
use gingham_core::cost::Cost;
use gingham_core::json::Value;

/// What a read touches: a value that prints.
#[derive(Debug, Clone)]
pub struct Plan {}

/// One chunk's part in a read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Grid index of the stored object.
    pub object: Shape,
    /// Index of the chunk inside its shard (array's axes), where the array is sharded.
    pub inner: Option<Shape>,
    /// The object's key, from the store's root.
    pub key: String,
    /// Part of the chunk: per axis first element, step and count (a list pick gives its first, 0 and its count).
    pub part: Vec<(u64, i64, u64)>,
    /// Where the part begins in the output, per axis.
    pub out: Vec<u64>,
    /// True where all of the chunk that lies in the array is read.
    pub whole: bool,
}

impl Plan {
    /// The result's shape.
    pub fn shape(&self) -> &[u64] {
        todo!()
    }
    /// What it costs.
    pub fn cost(&self) -> Cost {
        todo!()
    }
    /// The pieces, in grid order. A plan of millions is enumerated as it is walked.
    pub fn pieces(&self) -> Box<dyn Iterator<Item = Piece> + '_> {
        todo!()
    }
    /// As JSON: shape, cost, and at most `most` pieces with keys and, where they are known before the fetch, byte ranges.
    pub fn to_json(&self, most: usize) -> Value {
        todo!()
    }
}

impl std::fmt::Display for Plan {
    /// As `gingham plan` prints it: cost in words, then the first pieces.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        todo!()
    }
}
