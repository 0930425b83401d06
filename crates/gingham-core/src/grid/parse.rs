//! Chunks as a user writes them on a command line.

use super::json::items_from_json;
use super::{Axis, Grid, GridError, GridKind, check_rank};
use crate::json::Value;

/// Reads the chunks of a new array: `64,256,256` (a regular grid), or with lists of lengths for some axes
/// `[[31,29,[31,2],30],25,35]`, where `[31,2]` stands for two chunks of 31 (a rectilinear grid). The outer brackets may be
/// left out where more than one axis is given.
///
/// ```
/// use gingham_core::grid::{GridKind, parse_chunks};
/// assert_eq!(parse_chunks("64,256", &[100, 512])?.kind(), GridKind::Regular);
/// let grid = parse_chunks("[[31,29,[31,2]],25]", &[122, 100])?;
/// assert_eq!(grid.chunk_counts().as_slice(), [4, 4]);
/// # Ok::<(), gingham_core::grid::GridError>(())
/// ```
pub fn parse_chunks(text: &str, shape: &[u64]) -> Result<Grid, GridError> {
    let entries = match serde_json::from_str::<Value>(text) {
        Ok(Value::Array(entries)) => entries,
        _ => match serde_json::from_str::<Value>(&format!("[{text}]")) {
            Ok(Value::Array(entries)) => entries,
            _ => {
                return Err(GridError::plain(format!("'{}' is not a list of chunk lengths", super::error::clipped(text)))
                    .hint("write one length per axis, such as 64,256,256, or lists, such as [[31,29,[31,2]],25,35]"));
            }
        },
    };
    check_rank(entries.len(), shape.len(), "")?;
    let mut axes = Vec::with_capacity(entries.len());
    for (axis, (entry, &len)) in entries.iter().zip(shape).enumerate() {
        axes.push(match entry {
            Value::Array(list) => Axis::from_items(len, items_from_json(list, axis, "")?).map_err(|sum| {
                GridError::short(Some(axis), sum, len).hint(format!("add a last chunk of at least {}", u128::from(len) - sum))
            })?,
            _ => match entry.as_u64() {
                Some(0) if len > 0 => {
                    return Err(GridError::at(axis, format!("the chunk length of axis {axis} is 0")).hint("a chunk length is at least 1"));
                }
                Some(n) => Axis::step(len, n),
                None => {
                    return Err(GridError::at(axis, format!("the chunk length of axis {axis} is {entry}"))
                        .hint("a chunk length is a whole number, at least 1"));
                }
            },
        });
    }
    let kind = if axes.iter().any(Axis::is_listed) { GridKind::Rectilinear } else { GridKind::Regular };
    Ok(Grid::new(axes, kind))
}
