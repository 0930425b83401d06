//! Boxes and NumPy-like selections: checked once against a shape, valid after.

use crate::Shape;
use crate::grid::Grid;

/// A box of an array: where it begins and how long it is on each axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// First index on each axis.
    pub start: Shape,
    /// Length on each axis; any may be 0.
    pub shape: Shape,
}

impl Region {
    /// The whole of an array.
    pub fn whole(shape: &[u64]) -> Self {
        Region { start: shape.iter().map(|_| 0).collect(), shape: shape.into() }
    }
    /// Elements in the box, or `None` past 2^64.
    pub fn count(&self) -> Option<u64> {
        self.shape.iter().try_fold(1u64, |n, &l| n.checked_mul(l))
    }
    /// True where some axis has length 0.
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }
    /// The part that two boxes share, or `None`.
    pub fn intersect(&self, other: &Region) -> Option<Region> {
        let _ = other;
        todo!()
    }
}

/// One entry of a selection, as NumPy has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Index {
    /// One index; the axis is dropped. Negative counts from the end.
    At(i64),
    /// A slice with NumPy's rules; the step is not 0.
    Slice { start: Option<i64>, stop: Option<i64>, step: Option<i64> },
    /// `...`
    Ellipsis,
    /// `None` / `newaxis`
    NewAxis,
    /// A list of indices (orthogonal); any order, repeats allowed.
    List(Vec<i64>),
    /// A boolean mask of the axis' length.
    Mask(Vec<bool>),
}

/// What a reader asks for, before it is checked against a shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// Everything.
    All,
    /// Entries by position; orthogonal where lists occur.
    Orthogonal(Vec<Index>),
    /// Entries by dimension name; the others whole.
    Named(Vec<(String, Index)>),
    /// Points: one list of coordinates per axis, read together (`vindex`). `shape` is the shape of the lists.
    Points { coordinates: Vec<Vec<i64>>, shape: Shape },
    /// By chunk index instead of element index (`blocks`).
    Blocks(Vec<Index>),
}

/// The picked elements of one axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pick {
    /// `start, start + step, …`, `len` of them; `step` is not 0 and may be negative.
    Run { start: u64, step: i64, len: u64 },
    /// Any indices in any order.
    List(Vec<u64>),
}

/// A selection that was checked against a shape: every index is in bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolved {
    /// The product of one pick per axis; `shape` is the result's shape (integer axes dropped, new axes put in). Its
    /// element count is the product of the picks' lengths.
    Product { picks: Vec<Pick>, shape: Shape },
    /// Points: `coordinates[axis][i]`.
    Points { coordinates: Vec<Vec<u64>>, shape: Shape },
}

/// Why a selection is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct SelectionError {
    /// A sentence with the axis, its length and what was asked for.
    pub what: String,
    /// The axis concerned.
    pub axis: Option<usize>,
    /// Out of bounds (an IndexError), or malformed (a ValueError).
    pub out_of_range: bool,
}

impl Selection {
    /// Reads a selection as NumPy writes it (`0:31, :, 100`, `..., None, [1, 2, 3]`, `::-1`) or by name
    /// (`time=0:31, lat=[1,2]`). The empty text is everything.
    pub fn parse(text: &str) -> Result<Self, SelectionError> {
        let _ = text;
        todo!()
    }
    /// Checks it against an array.
    pub fn resolve(&self, grid: &Grid, names: Option<&[Option<String>]>) -> Result<Resolved, SelectionError> {
        let _ = (grid, names);
        todo!()
    }
}

impl std::fmt::Display for Selection {
    /// As NumPy writes it; `parse(print(x)) == x`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let _ = f;
        todo!()
    }
}

impl Resolved {
    /// The result's shape.
    pub fn shape(&self) -> &[u64] {
        match self {
            Resolved::Product { shape, .. } | Resolved::Points { shape, .. } => shape,
        }
    }
    /// Elements in the result, or `None` past 2^64.
    pub fn count(&self) -> Option<u64> {
        todo!()
    }
    /// The box, where the selection is one: every pick a run of step 1.
    pub fn as_region(&self) -> Option<Region> {
        todo!()
    }
}
