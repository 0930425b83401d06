//! Chunk grids: where the cuts are.
//!
//! A [`Grid`] is one [`Axis`] per dimension and nothing else: every cut runs the whole way across. A regular axis is
//! a division, a rectilinear one a search of running sums over *runs* (value, count); a count of 10^18 takes the room of one run.

mod axis;
mod error;
mod json;
mod listed;
mod parse;

pub(crate) use axis::RunLengths;
pub use axis::{Axis, Finder, Run, Span, Spans};
pub use error::GridError;
pub(crate) use error::clipped;
pub use json::{grid_from_v3, grid_to_v3};
pub use parse::parse_chunks;

use std::ops::Range;

use crate::Shape;
use crate::region::Region;

/// Under which name the grid is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GridKind {
    /// `regular` (and every v2 array)
    Regular,
    /// `rectilinear`
    Rectilinear,
}

/// How one axis of a new grid is to be cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AxisSpec {
    /// Equal steps.
    Step(u64),
    /// Listed lengths.
    List(Vec<Run>),
}

/// Where an array is cut: the product of its axes.
///
/// ```
/// use gingham_core::grid::Grid;
/// let grid = Grid::regular(&[7, 4], &[3, 4])?;
/// assert_eq!(grid.chunk_counts().as_slice(), [3, 1]);
/// assert_eq!(grid.chunk_region(&[2, 0]).shape.as_slice(), [1, 4]);
/// assert_eq!(grid.chunk_shape(&[2, 0]).as_slice(), [3, 4]);
/// # Ok::<(), gingham_core::grid::GridError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    axes: Vec<Axis>,
    kind: GridKind,
}

impl Grid {
    /// A regular grid. A chunk length of 0 is taken as 1 on an axis of length 0 (old writers) and refused elsewhere.
    pub fn regular(shape: &[u64], chunks: &[u64]) -> Result<Self, GridError> {
        check_rank(chunks.len(), shape.len(), "/configuration/chunk_shape")?;
        let axes = shape.iter().zip(chunks).enumerate().map(|(axis, (&len, &chunk))| {
            if chunk == 0 && len > 0 {
                return Err(GridError::at(axis, format!("the chunk length of axis {axis} is 0, but the axis is {len} long"))
                    .below(format!("/configuration/chunk_shape/{axis}"))
                    .hint("a chunk length is at least 1"));
            }
            Ok(Axis::step(len, chunk))
        });
        Ok(Grid { axes: axes.collect::<Result<_, _>>()?, kind: GridKind::Regular })
    }
    /// A grid from its axes.
    pub fn new(axes: Vec<Axis>, kind: GridKind) -> Self {
        Grid { axes, kind }
    }
    /// A new grid as a user describes it: steps alone make a regular grid, any list a rectilinear one.
    pub fn from_chunk_lists(specs: &[AxisSpec], shape: &[u64]) -> Result<Self, GridError> {
        if specs.iter().all(|spec| matches!(spec, AxisSpec::Step(_))) {
            let steps: Vec<u64> = specs.iter().map(|s| if let AxisSpec::Step(n) = s { *n } else { 1 }).collect();
            return Self::regular(shape, &steps);
        }
        check_rank(specs.len(), shape.len(), "/configuration/chunk_shapes")?;
        let axes = specs.iter().zip(shape).enumerate().map(|(axis, (spec, &len))| match spec {
            AxisSpec::Step(0) if len > 0 => {
                Err(GridError::at(axis, format!("the chunk length of axis {axis} is 0")).hint("a chunk length is at least 1"))
            }
            AxisSpec::Step(n) => Ok(Axis::step(len, *n)),
            AxisSpec::List(runs) => Axis::listed(len, runs).map_err(|e| e.on_axis(axis)),
        });
        Ok(Grid { axes: axes.collect::<Result<_, _>>()?, kind: GridKind::Rectilinear })
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
        self.axes.iter().map(Axis::len).collect()
    }
    /// Chunks per axis: those that overlap the array (a chunk wholly past the end is not counted).
    pub fn chunk_counts(&self) -> Shape {
        self.axes.iter().map(Axis::chunk_count).collect()
    }
    /// Chunks in all, or `None` past 2^64.
    pub fn chunk_count(&self) -> Option<u64> {
        crate::region::product(&self.chunk_counts())
    }
    /// True where `chunk` is an index of this grid.
    pub fn contains(&self, chunk: &[u64]) -> bool {
        chunk.len() == self.ndim() && self.axes.iter().zip(chunk).all(|(axis, &c)| c < axis.chunk_count())
    }
    /// The part of the array that a chunk holds (logical lengths, clipped to the array).
    pub fn chunk_region(&self, chunk: &[u64]) -> Region {
        let (start, shape) = self.axes.iter().zip(chunk).map(|(axis, &c)| axis.span(c)).map(|s| (s.start, s.logical)).unzip();
        Region { start, shape }
    }
    /// The shape that a chunk's bytes decode to (stored lengths).
    pub fn chunk_shape(&self, chunk: &[u64]) -> Shape {
        self.axes.iter().zip(chunk).map(|(axis, &c)| axis.span(c).stored).collect()
    }
    /// The chunks that meet a box, as one range per axis; their product is what a read of the box touches.
    pub fn touched(&self, region: &Region) -> smallvec::SmallVec<[Range<u64>; 8]> {
        let boxes = region.start.iter().zip(&region.shape);
        self.axes.iter().zip(boxes).map(|(axis, (&start, &len))| axis.touched(start, start.saturating_add(len))).collect()
    }
    /// The chunk shape, where every chunk has the same (regular, or bare integers alone, and nothing padded), else `None`.
    pub fn regular_chunk_shape(&self) -> Option<Shape> {
        self.axes.iter().map(Axis::as_step).collect()
    }
    /// True where some chunk is stored longer than it is listed (`encoded_chunk_shapes`: read, and never created).
    pub fn is_padded(&self) -> bool {
        self.axes.iter().any(Axis::is_padded)
    }
    /// The same cuts with every stored length equal to the listed one.
    pub fn without_padding(&self) -> Grid {
        Grid { axes: self.axes.iter().map(Axis::without_padding).collect(), kind: self.kind }
    }
    /// The grid of the same array after `resize` to another shape. A regular axis keeps its chunk length. A rectilinear
    /// one keeps its cuts and, growing past their sum, gets one chunk for the gap (format.md 3.1); shrinking keeps all cuts.
    pub fn resized(&self, shape: &[u64]) -> Result<Grid, GridError> {
        if shape.len() != self.ndim() {
            return Err(GridError::plain(format!("the new shape has {} axes, the array has {}", shape.len(), self.ndim())));
        }
        let axes = self.axes.iter().zip(shape).enumerate();
        let axes = axes.map(|(n, (axis, &len))| axis.resized(len).ok_or_else(|| padded_cannot_grow(n, len)));
        Ok(Grid { axes: axes.collect::<Result<_, _>>()?, kind: self.kind })
    }
    /// The grid after appending `n` along `axis`. On a regular axis or a bare integer only the length changes. On a list,
    /// so that no chunk that holds data moves or changes its length:
    ///
    /// 1. Where the batch fits below the sum of the listed lengths, the cuts stay: it fills the last chunk's overhang and
    ///    the chunks that were listed ahead (`[31, 28, 31]`, length 31, `n` = 28 stays `[31, 28, 31]`).
    /// 2. Otherwise chunks listed wholly past the end, which hold nothing, are dropped; the batch fills the overhang of the
    ///    last chunk, and what is left becomes one chunk (`[10, 10, 4]`, length 24, `n` = 5: `[10, 10, 4, 5]`;
    ///    `[1, 2, 3]`, length 3, `n` = 5: `[1, 2, 5]`; `[5, 10, 10]`, length 14, `n` = 20: `[5, 10, 19]`).
    pub fn appended(&self, axis: usize, n: u64) -> Result<Grid, GridError> {
        let Some(old) = self.axes.get(axis) else {
            return Err(GridError::plain(format!("there is no axis {axis}: the array has {}", self.ndim())));
        };
        let Some(len) = old.len().checked_add(n) else {
            return Err(GridError::at(axis, format!("axis {axis} is {} long: {n} more are past 2^64", old.len())));
        };
        let mut grid = self.clone();
        grid.axes[axis] = old.appended(n).ok_or_else(|| padded_cannot_grow(axis, len))?;
        Ok(grid)
    }
}

fn check_rank(given: usize, ndim: usize, pointer: &str) -> Result<(), GridError> {
    if given == ndim {
        return Ok(());
    }
    let (entries, axes) = (if given == 1 { "entry" } else { "entries" }, if ndim == 1 { "axis" } else { "axes" });
    Err(GridError::plain(format!("the chunk grid has {given} {entries}, but the array has {ndim} {axes}")).below(pointer.to_string()))
}

fn padded_cannot_grow(axis: usize, len: u64) -> GridError {
    GridError::at(axis, format!("axis {axis} has stored chunk lengths of its own (encoded_chunk_shapes): it cannot become {len} long"))
        .below(format!("/configuration/encoded_chunk_shapes/{axis}"))
        .hint("that proposal is read but not written: copy the array first")
}

#[cfg(test)]
mod tests;
