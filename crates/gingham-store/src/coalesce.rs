//! Which ranges are fetched together: one pure function.

/// One fetch that serves several ranges of one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetch {
    /// First byte.
    pub start: u64,
    /// How many.
    pub length: u64,
    /// The ranges served: their index in the list that was given, and where they begin in the fetched bytes.
    pub serves: Vec<(usize, u64)>,
}

/// Longest merged fetch: beyond it one request's time is all transfer, and parts can arrive side by side.
pub const MAX_MERGED: u64 = 16 << 20;

/// Merges ranges (start, length) of one object over gaps of at most `gap` bytes; no fetch grows past [`MAX_MERGED`] by merging.
pub fn coalesce(ranges: &[(u64, u64)], gap: u64) -> Vec<Fetch> {
    let _ = (ranges, gap);
    todo!()
}
