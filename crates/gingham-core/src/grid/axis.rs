//! The cuts of one axis: the only place that knows whether finding a chunk is a division or a search.

/// `count` chunks of the same listed length, one behind the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Listed length of each, at least 1.
    pub length: u64,
    /// How many, at least 1.
    pub count: u64,
}

/// One chunk's place on an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Where it begins.
    pub start: u64,
    /// What it contributes to the array: its listed length, clipped to the array's end.
    pub logical: u64,
    /// What its bytes decode to: the listed length, or longer where the block is padded.
    pub stored: u64,
}

/// The cuts of one axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    len: u64,
    cuts: Cuts,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Cuts {
    /// A regular step (regular grids, and bare integers of rectilinear ones).
    Step(u64),
    // Helpers of this module add the listed form: runs with their running sums (u128 or saturating), the JSON form verbatim,
    // and the stored lengths as a second list of runs where they differ.
}

impl Axis {
    /// Equal steps. `chunk` is at least 1.
    pub fn step(len: u64, chunk: u64) -> Self {
        Axis { len, cuts: Cuts::Step(chunk) }
    }
    /// The array's length along this axis.
    pub fn len(&self) -> u64 {
        self.len
    }
    /// True where the axis has no element.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// Chunks that overlap the array.
    pub fn chunk_count(&self) -> u64 {
        todo!()
    }
    /// Chunks that are listed, those wholly past the end included (equal to `chunk_count` on a regular step).
    pub fn listed_count(&self) -> u64 {
        todo!()
    }
    /// The chunk that holds index `i` (`i < len`) and the index's place in it.
    pub fn locate(&self, i: u64) -> (u64, u64) {
        let _ = i;
        todo!()
    }
    /// Where chunk `c` lies. Valid for every listed chunk; one past the end has `logical` 0.
    pub fn span(&self, c: u64) -> Span {
        let _ = c;
        todo!()
    }
    /// The chunks that meet `start..end` (`start < end <= len`).
    pub fn touched(&self, start: u64, end: u64) -> std::ops::Range<u64> {
        let _ = (start, end);
        todo!()
    }
    /// The listed lengths as runs (one run for a regular step).
    pub fn runs(&self) -> Vec<Run> {
        todo!()
    }
    /// The step, where it is one number (regular, or a bare integer).
    pub fn as_step(&self) -> Option<u64> {
        todo!()
    }
    /// The longest stored length among the chunks that overlap the array (0 on an empty axis).
    pub fn max_stored(&self) -> u64 {
        todo!()
    }
}
