//! SHA-256 of decoded values: the same for every layout of the same data.

use gingham::{Array, Result};

/// The hash of one array.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Checksum {
    pub path: String,
    pub shape: Vec<u64>,
    pub data_type: String,
    pub sha256: String,
}

/// Hashes an array in bounded memory: slabs of whole chunks along the first axis, in C order. `progress` is told the elements done.
pub fn checksum(array: &Array, progress: &dyn Fn(u64)) -> Result<String> {
    let _ = (array, progress);
    todo!()
}
