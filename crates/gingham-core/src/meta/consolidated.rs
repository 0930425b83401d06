//! Consolidated metadata of both formats (format.md 1.9 and 2.1).

use super::{MetaError, Node};
use crate::json::{Map, Value};

/// The nodes below a group, read from its consolidated block. Paths are relative to that group, without slashes at either end.
#[derive(Debug, Clone, Default)]
pub struct Consolidated {
    /// Path -> node, or why its document is refused; sorted by path.
    pub nodes: Vec<(String, Result<Node, MetaError>)>,
    /// What is odd (keys with a leading slash, a missing must_understand, …).
    pub warnings: Vec<String>,
}

impl Consolidated {
    /// Reads v2's `.zmetadata`.
    pub fn from_zmetadata(bytes: &[u8]) -> Result<Self, MetaError> {
        let _ = bytes;
        todo!()
    }
    /// Reads v3's inline block (the value of `consolidated_metadata`).
    pub fn from_v3_block(block: &Value) -> Result<Self, MetaError> {
        let _ = block;
        todo!()
    }
    /// The node at a path.
    pub fn get(&self, path: &str) -> Option<&Result<Node, MetaError>> {
        self.nodes.binary_search_by(|(p, _)| p.as_str().cmp(path)).ok().map(|i| &self.nodes[i].1)
    }
}

/// Makes `.zmetadata` from nodes (path relative to the group, `""` for the group itself).
pub fn consolidate_v2(nodes: &[(String, Node)]) -> Value {
    let _ = nodes;
    todo!()
}

/// Makes the inline block from the nodes below a group: flat, sorted by depth then name.
pub fn consolidate_v3(nodes: &[(String, Node)]) -> Map<String, Value> {
    let _ = nodes;
    todo!()
}
