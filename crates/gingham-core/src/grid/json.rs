//! The member `chunk_grid` of a v3 document.

use super::{Grid, GridError};
use crate::json::Value;

/// Reads `regular` and `rectilinear` (format.md 1.5, 3.1; short names, and the pre-release form of `regular` with lists, read).
pub fn grid_from_v3(value: &Value, shape: &[u64]) -> Result<Grid, GridError> {
    let _ = (value, shape);
    todo!()
}

/// Writes it; an axis that was read is written as it stood.
pub fn grid_to_v3(grid: &Grid) -> Value {
    let _ = grid;
    todo!()
}
