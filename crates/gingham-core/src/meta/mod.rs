//! Documents: `zarr.json`, `.zarray`, `.zgroup`, `.zattrs`, `.zmetadata`, into one model and back.
//!
//! The document stays the JSON that was read, members in order and unknown ones kept; the model is a checked view of it.
//! A change (shape, grid, attributes) edits the document in place and reads the model again.

mod check;
mod consolidated;
mod create;
mod model;
mod spelling;
#[cfg(test)]
mod tests;
mod v2;
mod v2_chain;
mod v2_to_v3;
mod v3;

pub use consolidated::{Consolidated, consolidate_v2, consolidate_v3};
pub use model::{Array, Format, Group, MetaError, New, Node, Problem};
pub use v2_to_v3::{V3Twin, to_v3};
