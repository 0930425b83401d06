//! Chunk grids: where the cuts are.
//!
//! A [`Grid`] is one [`Axis`] per dimension and nothing else: every cut runs the whole way across. A regular axis is
//! a division, a rectilinear one a search of running sums over *runs* (value, count); a count of 10^18 takes the room of one run.

mod axis;
mod json;

pub use axis::{Axis, Run, Span};
pub use json::{grid_from_v3, grid_to_v3};

use crate::Shape;
use crate::region::Region;

/// Why a grid is refused. Every variant names the axis.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct GridError {
    /// A sentence: which axis, which element, what would be right.
    pub what: String,
    /// JSON pointer below the grid's own value, `""` for the whole.
    pub pointer: String,
    /// The axis concerned.
    pub axis: Option<usize>,
    /// What to do about it, where that is known.
    pub hint: Option<String>,
}

/// Under which name the grid is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GridKind {
    /// `regular` (and every v2 array)
    Regular,
    /// `rectilinear`
    Rectilinear,
}

/// Where an array is cut: the product of its axes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    axes: Vec<Axis>,
    kind: GridKind,
}

impl Grid {
    /// A regular grid. A chunk length of 0 is taken as 1 on an axis of length 0 (old writers) and refused elsewhere.
    pub fn regular(shape: &[u64], chunks: &[u64]) -> Result<Self, GridError> {
        let _ = (shape, chunks);
        todo!()
    }
    /// A grid from its axes.
    pub fn new(axes: Vec<Axis>, kind: GridKind) -> Self {
        Grid { axes, kind }
    }
    /// The axes.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }
    /// Under which name it is written.
    pub fn kind(&self) -> GridKind {
        self.kind
    }
    /// How many axes.
    pub fn ndim(&self) -> usize {
        self.axes.len()
    }
    /// The array's shape.
    pub fn shape(&self) -> Shape {
        todo!()
    }
    /// Chunks per axis: those that overlap the array (a chunk wholly past the end is not counted).
    pub fn chunk_counts(&self) -> Shape {
        todo!()
    }
    /// Chunks in all, or `None` past 2^64.
    pub fn chunk_count(&self) -> Option<u64> {
        todo!()
    }
    /// True where `chunk` is an index of this grid.
    pub fn contains(&self, chunk: &[u64]) -> bool {
        let _ = chunk;
        todo!()
    }
    /// The part of the array that a chunk holds (logical lengths, clipped to the array).
    pub fn chunk_region(&self, chunk: &[u64]) -> Region {
        let _ = chunk;
        todo!()
    }
    /// The shape that a chunk's bytes decode to (stored lengths).
    pub fn chunk_shape(&self, chunk: &[u64]) -> Shape {
        let _ = chunk;
        todo!()
    }
    /// For a regular grid the chunk shape, else `None`.
    pub fn regular_chunk_shape(&self) -> Option<Shape> {
        todo!()
    }
    /// The grid of the same array after `resize` to another shape. A regular axis keeps its chunk length. A rectilinear
    /// one keeps its cuts and, growing past their sum, gets one chunk for the gap (format.md 3.1); shrinking keeps all cuts.
    pub fn resized(&self, shape: &[u64]) -> Result<Grid, GridError> {
        let _ = shape;
        todo!()
    }
    /// The grid after appending `n` along `axis`: on a rectilinear axis given as a list a chunk of its own length
    /// (after any overhang is trimmed: the last listed chunk that overhangs keeps its stored length, so a batch first fills
    /// the overhang), on a regular one or a bare integer only the length changes.
    pub fn appended(&self, axis: usize, n: u64) -> Result<Grid, GridError> {
        let _ = (axis, n);
        todo!()
    }
}
