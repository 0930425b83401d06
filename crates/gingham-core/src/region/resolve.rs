//! A selection against an array: every index in bounds, or an error that names the axis.

use super::{Index, Pick, Resolved, Selection, SelectionError};
use crate::Shape;
use crate::grid::{Axis, Grid};

impl SelectionError {
    pub(super) fn malformed(what: impl Into<String>) -> Self {
        SelectionError { what: what.into(), axis: None, out_of_range: false }
    }
    fn out_of_range(axis: Option<usize>, what: impl Into<String>) -> Self {
        SelectionError { what: what.into(), axis, out_of_range: true }
    }
}

impl Selection {
    /// Checks it against an array. `names` are its dimension names, for selections by name and for errors.
    pub fn resolve(&self, grid: &Grid, names: Option<&[Option<String>]>) -> Result<Resolved, SelectionError> {
        let array = Array { grid, names };
        match self {
            Selection::All => array.product(&[]),
            Selection::Orthogonal(entries) => array.product(entries),
            Selection::Named(entries) => array.named(entries),
            Selection::Points { coordinates, shape } => array.points(coordinates, shape),
            Selection::Blocks(entries) => array.blocks(entries),
        }
    }
}

struct Array<'a> {
    grid: &'a Grid,
    names: Option<&'a [Option<String>]>,
}

impl Array<'_> {
    fn axis(&self, axis: usize) -> &Axis {
        &self.grid.axes()[axis]
    }
    fn len(&self, axis: usize) -> u64 {
        self.axis(axis).len()
    }
    fn name(&self, axis: usize) -> Option<&str> {
        self.names.and_then(|names| names.get(axis)).and_then(Option::as_deref)
    }
    /// `axis 0 (time)`
    fn label(&self, axis: usize) -> String {
        match self.name(axis) {
            Some(name) => format!("axis {axis} ({name})"),
            None => format!("axis {axis}"),
        }
    }

    /// One entry per axis, in the axes' order with the new axes between them; the ellipsis (or the end) is filled with whole axes.
    fn spread<'e>(&self, entries: &'e [Index]) -> Result<Vec<&'e Index>, SelectionError> {
        const WHOLE: &Index = &Index::Slice { start: None, stop: None, step: None };
        let ndim = self.grid.ndim();
        let given = entries.iter().filter(|e| !matches!(e, Index::Ellipsis | Index::NewAxis)).count();
        if given > ndim {
            let (indices, axes) = (if given == 1 { "index" } else { "indices" }, if ndim == 1 { "axis" } else { "axes" });
            return Err(SelectionError::out_of_range(None, format!("{given} {indices} for an array of {ndim} {axes}")));
        }
        let ellipses = entries.iter().filter(|e| matches!(e, Index::Ellipsis)).count();
        if ellipses > 1 {
            return Err(SelectionError::malformed(format!("a selection has at most one '...', this one has {ellipses}")));
        }
        let whole = std::iter::repeat_n(WHOLE, ndim - given);
        let mut out = Vec::with_capacity(entries.len() + whole.len());
        for entry in entries {
            if matches!(entry, Index::Ellipsis) { out.extend(whole.clone()) } else { out.push(entry) }
        }
        if ellipses == 0 {
            out.extend(whole);
        }
        Ok(out)
    }

    fn product(&self, entries: &[Index]) -> Result<Resolved, SelectionError> {
        let (mut picks, mut shape) = (Vec::with_capacity(self.grid.ndim()), Shape::new());
        for entry in self.spread(entries)? {
            if matches!(entry, Index::NewAxis) {
                shape.push(1);
                continue;
            }
            let pick = self.pick(picks.len(), entry)?;
            if !matches!(entry, Index::At(_)) {
                shape.push(pick.len());
            }
            picks.push(pick);
        }
        Ok(Resolved::Product { picks, shape })
    }

    fn named(&self, entries: &[(String, Index)]) -> Result<Resolved, SelectionError> {
        let mut by_axis: Vec<Index> = vec![Index::Slice { start: None, stop: None, step: None }; self.grid.ndim()];
        let mut taken = vec![false; self.grid.ndim()];
        for (name, index) in entries {
            let axis = self.axis_named(name)?;
            if std::mem::replace(&mut taken[axis], true) {
                return Err(SelectionError::malformed(format!("the dimension '{}' is selected twice", crate::grid::clipped(name))));
            }
            if matches!(index, Index::Ellipsis | Index::NewAxis) {
                return Err(SelectionError::malformed(format!(
                    "'...' and None stand between axes: they cannot be the selection of '{}'",
                    crate::grid::clipped(name)
                )));
            }
            by_axis[axis] = index.clone();
        }
        self.product(&by_axis)
    }

    fn axis_named(&self, name: &str) -> Result<usize, SelectionError> {
        let mut found = (0..self.grid.ndim()).filter(|&axis| self.name(axis) == Some(name));
        let shown = crate::grid::clipped(name);
        match (found.next(), found.next()) {
            (Some(axis), None) => Ok(axis),
            (Some(a), Some(b)) => Err(SelectionError::malformed(format!("axes {a} and {b} are both named '{shown}': select by position"))),
            (None, _) => {
                let known: Vec<&str> = (0..self.grid.ndim()).filter_map(|axis| self.name(axis)).collect();
                let known = if known.is_empty() { "its axes have no names".to_string() } else { format!("it has {}", known.join(", ")) };
                Err(SelectionError::malformed(format!("the array has no dimension '{shown}': {known}")))
            }
        }
    }

    /// An index that may count from the end, checked. `entry` is its place in a list.
    fn index(&self, axis: usize, index: i64, entry: Option<usize>) -> Result<u64, SelectionError> {
        let len = self.len(axis);
        let found = if index < 0 { len.checked_sub(index.unsigned_abs()) } else { Some(index.unsigned_abs()).filter(|&i| i < len) };
        found.ok_or_else(|| {
            let entry = entry.map_or(String::new(), |i| format!(" (entry {i} of the list)"));
            SelectionError::out_of_range(
                Some(axis),
                format!("index {index}{entry} is out of bounds for {}, which is {len} long", self.label(axis)),
            )
        })
    }

    fn pick(&self, axis: usize, entry: &Index) -> Result<Pick, SelectionError> {
        match entry {
            Index::At(i) => Ok(Pick::Run { start: self.index(axis, *i, None)?, step: 1, len: 1 }),
            Index::Slice { start, stop, step } => {
                let step = step.unwrap_or(1);
                if step == 0 {
                    return Err(SelectionError {
                        axis: Some(axis),
                        ..SelectionError::malformed(format!("the step of the slice of {} is 0", self.label(axis)))
                    });
                }
                Ok(slice(*start, *stop, step, self.len(axis)))
            }
            Index::List(list) => {
                let indices = list.iter().enumerate().map(|(entry, &i)| self.index(axis, i, Some(entry)));
                Ok(run_or_list(indices.collect::<Result<_, _>>()?))
            }
            Index::Mask(mask) if mask.len() as u64 == self.len(axis) => {
                Ok(run_or_list((0u64..).zip(mask).filter(|(_, take)| **take).map(|(i, _)| i).collect()))
            }
            Index::Mask(mask) => Err(SelectionError::out_of_range(
                Some(axis),
                format!("the mask of {} has {} entries, but the axis is {} long", self.label(axis), mask.len(), self.len(axis)),
            )),
            Index::Ellipsis | Index::NewAxis => Err(SelectionError::malformed("'...' and None select no axis")),
        }
    }

    fn points(&self, coordinates: &[Vec<i64>], shape: &Shape) -> Result<Resolved, SelectionError> {
        let ndim = self.grid.ndim();
        if coordinates.len() != ndim {
            return Err(SelectionError::malformed(format!("points have {} coordinates, but the array has {ndim} axes", coordinates.len())));
        }
        let count = super::product(shape);
        let mut out = Vec::with_capacity(ndim);
        for (axis, list) in coordinates.iter().enumerate() {
            if count != Some(list.len() as u64) {
                return Err(SelectionError::malformed(format!(
                    "{} has {} coordinates, but points of shape {:?} need {}",
                    self.label(axis),
                    list.len(),
                    shape.as_slice(),
                    count.map_or("more than 2^64".to_string(), |n| n.to_string()),
                )));
            }
            let entry = |i: usize| if shape.is_empty() { None } else { Some(i) };
            out.push(list.iter().enumerate().map(|(i, &index)| self.index(axis, index, entry(i))).collect::<Result<Vec<_>, _>>()?);
        }
        Ok(Resolved::Points { coordinates: out, shape: shape.clone() })
    }

    fn blocks(&self, entries: &[Index]) -> Result<Resolved, SelectionError> {
        let (mut picks, mut shape) = (Vec::with_capacity(self.grid.ndim()), Shape::new());
        for entry in self.spread(entries)? {
            let axis = picks.len();
            let chunks = self.axis(axis).chunk_count();
            let (first, count) = match entry {
                Index::At(i) => (self.block(axis, *i, chunks)?, 1),
                Index::Slice { start, stop, step: None | Some(1) } => match slice(*start, *stop, 1, chunks) {
                    Pick::Run { start, len, .. } => (start, len),
                    Pick::List(_) => (0, 0),
                },
                _ => {
                    return Err(SelectionError::malformed(format!(
                        "blocks are selected by indices and slices of step 1; {} has neither",
                        self.label(axis.min(self.grid.ndim().saturating_sub(1)))
                    )));
                }
            };
            let (start, len) = self.chunk_elements(axis, first, count);
            picks.push(Pick::Run { start, step: 1, len });
            shape.push(len);
        }
        Ok(Resolved::Product { picks, shape })
    }
    fn block(&self, axis: usize, index: i64, chunks: u64) -> Result<u64, SelectionError> {
        let found = if index < 0 { chunks.checked_sub(index.unsigned_abs()) } else { Some(index.unsigned_abs()).filter(|&i| i < chunks) };
        found.ok_or_else(|| {
            let what = format!("chunk {index} is out of bounds for {}, which has {chunks} chunks", self.label(axis));
            SelectionError::out_of_range(Some(axis), what)
        })
    }
    /// Where `count` chunks from `first` begin and how many elements they hold.
    fn chunk_elements(&self, axis: usize, first: u64, count: u64) -> (u64, u64) {
        let start = self.axis(axis).span(first).start.min(self.len(axis));
        if count == 0 {
            return (start, 0);
        }
        let last = self.axis(axis).span(first + count - 1);
        (start, last.start + last.logical - start)
    }
}

/// A slice of an axis, by Python's rules. `step` is not 0.
fn slice(start: Option<i64>, stop: Option<i64>, step: i64, len: u64) -> Pick {
    let n = i128::from(len);
    let (lowest, highest) = if step > 0 { (0, n) } else { (-1, n - 1) };
    let place = |bound: i64| {
        let bound = i128::from(bound);
        (if bound < 0 { bound + n } else { bound }).clamp(lowest, highest)
    };
    let (first, end) = if step > 0 { (lowest, highest) } else { (highest, lowest) };
    let (first, end) = (start.map_or(first, place), stop.map_or(end, place));
    let way = if step > 0 { end - first } else { first - end };
    let stride = i128::from(step).abs();
    let count = if way > 0 { (way + stride - 1) / stride } else { 0 };
    let in_u64 = |n: i128| u64::try_from(n.max(0)).unwrap_or(u64::MAX);
    Pick::Run { start: in_u64(first), step: if count < 2 { 1 } else { step }, len: in_u64(count) }
}

/// The run that a list is, where it is one: boxes are read faster than lists.
fn run_or_list(list: Vec<u64>) -> Pick {
    let step = match list.as_slice() {
        [] => return Pick::Run { start: 0, step: 1, len: 0 },
        [only] => return Pick::Run { start: *only, step: 1, len: 1 },
        [a, b, ..] => i64::try_from(i128::from(*b) - i128::from(*a)).ok().filter(|&step| step != 0),
    };
    let Some(step) = step else { return Pick::List(list) };
    let even = list.windows(2).all(|w| i128::from(w[1]) - i128::from(w[0]) == i128::from(step));
    if even { Pick::Run { start: list[0], step, len: list.len() as u64 } } else { Pick::List(list) }
}
