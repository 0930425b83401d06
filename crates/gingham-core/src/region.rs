//! Boxes and NumPy-like selections: checked once against a shape, valid after.
//!
//! ```text
//!   text ── text.rs ──> Selection ── resolve.rs, against a grid ──> Resolved ── parts.rs, per axis ──> chunks and parts of them
//! ```

mod parts;
mod resolve;
mod text;

pub use parts::{Part, Parts};

use crate::Shape;

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
        product(&self.shape)
    }
    /// True where some axis has length 0.
    pub fn is_empty(&self) -> bool {
        self.shape.contains(&0)
    }
    /// The part that two boxes share, or `None` where they share no element (or differ in rank).
    ///
    /// ```
    /// use gingham_core::region::Region;
    /// let a = Region { start: [0, 2].as_slice().into(), shape: [4, 4].as_slice().into() };
    /// let b = Region { start: [3, 0].as_slice().into(), shape: [9, 3].as_slice().into() };
    /// assert_eq!(a.intersect(&b), Some(Region { start: [3, 2].as_slice().into(), shape: [1, 1].as_slice().into() }));
    /// ```
    pub fn intersect(&self, other: &Region) -> Option<Region> {
        if self.start.len() != other.start.len() {
            return None;
        }
        let mut shared = Region { start: Shape::new(), shape: Shape::new() };
        let sides = |r: &Region| r.start.iter().copied().zip(r.shape.iter().copied()).collect::<smallvec::SmallVec<[(u64, u64); 8]>>();
        for ((a, a_len), (b, b_len)) in sides(self).into_iter().zip(sides(other)) {
            let start = a.max(b);
            let end = a.saturating_add(a_len).min(b.saturating_add(b_len));
            shared.shape.push(end.checked_sub(start).filter(|&len| len > 0)?);
            shared.start.push(start);
        }
        Some(shared)
    }
}

/// The product of lengths, or `None` past 2^64; 0 where one of them is 0, however long the others are.
pub(crate) fn product(lengths: &[u64]) -> Option<u64> {
    if lengths.contains(&0) {
        return Some(0);
    }
    lengths.iter().try_fold(1u64, |n, &l| n.checked_mul(l))
}

/// One entry of a selection, as NumPy has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Index {
    /// One index; the axis is dropped. Negative counts from the end.
    At(i64),
    /// A slice with NumPy's rules; the step is not 0.
    Slice {
        /// Where it begins; negative counts from the end.
        start: Option<i64>,
        /// Where it ends, not included.
        stop: Option<i64>,
        /// From one index to the next; 1 where `None`.
        step: Option<i64>,
    },
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
///
/// ```
/// use gingham_core::{grid::Grid, region::Selection};
/// let grid = Grid::regular(&[365, 720, 1440], &[30, 100, 100])?;
/// let read = Selection::parse("31:60, ::-1, [7, 3]")?.resolve(&grid, None)?;
/// assert_eq!(read.shape(), [29, 720, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// Everything.
    All,
    /// Entries by position; orthogonal where lists occur: each list picks along its own axis, which stays where it is.
    /// (NumPy pairs several lists with each other; that is [`Selection::Points`].)
    Orthogonal(Vec<Index>),
    /// Entries by dimension name; the others whole.
    Named(Vec<(String, Index)>),
    /// Points: one list of coordinates per axis, read together (`vindex`). `shape` is the shape of the lists.
    Points {
        /// `coordinates[axis][i]`; negative counts from the end.
        coordinates: Vec<Vec<i64>>,
        /// The shape of the lists, and so of the result.
        shape: Shape,
    },
    /// By chunk index instead of element index (`blocks`): indices and slices of step 1. No axis is dropped.
    Blocks(Vec<Index>),
}

/// The picked elements of one axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pick {
    /// `start, start + step, …`, `len` of them; `step` is not 0 and may be negative (1 where `len` is below 2).
    Run {
        /// The first.
        start: u64,
        /// From one to the next.
        step: i64,
        /// How many.
        len: u64,
    },
    /// Any indices in any order (one that is a run is a `Run`).
    List(Vec<u64>),
}

impl Pick {
    /// How many elements.
    pub fn len(&self) -> u64 {
        match self {
            Pick::Run { len, .. } => *len,
            Pick::List(list) => list.len() as u64,
        }
    }
    /// True where nothing is picked.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The lowest and the highest index, or `None` where nothing is picked.
    pub fn bounds(&self) -> Option<(u64, u64)> {
        match self {
            Pick::Run { len: 0, .. } => None,
            Pick::Run { start, step, len } => {
                let reach = step.unsigned_abs().saturating_mul(len - 1);
                Some(if *step < 0 { (start.saturating_sub(reach), *start) } else { (*start, start.saturating_add(reach)) })
            }
            Pick::List(list) => Some((*list.iter().min()?, *list.iter().max()?)),
        }
    }
}

/// A selection that was checked against a shape: every index is in bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolved {
    /// The product of one pick per axis; `shape` is the result's shape (integer axes dropped, new axes put in). Its
    /// element count is the product of the picks' lengths.
    Product {
        /// One per axis of the array.
        picks: Vec<Pick>,
        /// The result's shape.
        shape: Shape,
    },
    /// Points: `coordinates[axis][i]`.
    Points {
        /// In bounds.
        coordinates: Vec<Vec<u64>>,
        /// The result's shape.
        shape: Shape,
    },
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

impl Resolved {
    /// The result's shape.
    pub fn shape(&self) -> &[u64] {
        match self {
            Resolved::Product { shape, .. } | Resolved::Points { shape, .. } => shape,
        }
    }
    /// Elements in the result, or `None` past 2^64.
    pub fn count(&self) -> Option<u64> {
        product(self.shape())
    }
    /// The box, where the selection is one: every pick a run of step 1.
    pub fn as_region(&self) -> Option<Region> {
        let Resolved::Product { picks, .. } = self else { return None };
        let mut region = Region { start: Shape::new(), shape: Shape::new() };
        for pick in picks {
            let Pick::Run { start, step: 1, len } = pick else { return None };
            region.start.push(*start);
            region.shape.push(*len);
        }
        Some(region)
    }
}

impl From<Region> for Selection {
    fn from(region: Region) -> Self {
        let along = |(&start, &len): (&u64, &u64)| Index::Slice {
            start: Some(start as i64),
            stop: Some(start.saturating_add(len) as i64),
            step: None,
        };
        Selection::Orthogonal(region.start.iter().zip(&region.shape).map(along).collect())
    }
}

impl From<&Region> for Selection {
    fn from(region: &Region) -> Self {
        region.clone().into()
    }
}

impl From<()> for Selection {
    /// Everything.
    fn from((): ()) -> Self {
        Selection::All
    }
}

impl From<Vec<Index>> for Selection {
    fn from(entries: Vec<Index>) -> Self {
        Selection::Orthogonal(entries)
    }
}

#[cfg(test)]
mod tests;
