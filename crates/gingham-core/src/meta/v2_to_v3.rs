//! The exact, loss-free v3 twin of a v2 document (format.md 6.3): same chunk bytes, same keys.

use super::{Array, MetaError};

/// A v3 document that reads the very chunks of a v2 array.
#[derive(Debug, Clone)]
pub struct V3Twin {
    /// The v3 array.
    pub array: Array,
    /// What had to be decided (an undefined fill value, …), a sentence each.
    pub notes: Vec<String>,
}

/// The v3 twin of a v2 array, or why v3 cannot say it (mixed byte orders, sub-arrays, objects).
pub fn to_v3(array: &Array) -> Result<V3Twin, MetaError> {
    let _ = array;
    todo!()
}
