//! What lies at a place: an array, a group, or neither.

use gingham_store::Store;

use crate::{Array, Group, Options, Result};

/// A node that is open.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub enum Node {
    Array(Array),
    Group(Group),
}

/// Opens whatever node is at `path` (`""` for the root). v3 is looked for first. Costs one request for v3, two for v2.
pub fn open(store: &Store, path: &str, options: &Options) -> Result<Node> {
    todo!()
}

/// Opens a path or URL whose end may lie inside a hierarchy: `data.zarr/group/array` finds the store's root itself.
/// `store_options` says how to reach it. Returns the store, opened at the location itself, and the node.
pub fn open_url(location: &str, store_options: &gingham_store::Options, options: &Options) -> Result<(Store, Node)> {
    todo!()
}
