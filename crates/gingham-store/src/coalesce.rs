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
///
/// Every range is served by exactly one fetch, which holds all of it. Fetches are sorted by their start. A range whose end does
/// not fit 64 bits stays alone, for the store to refuse.
///
/// ```
/// let fetches = gingham_store::coalesce(&[(100, 10), (0, 10), (12, 4)], 2);
/// assert_eq!(fetches.len(), 2);
/// assert_eq!((fetches[0].start, fetches[0].length), (0, 16));
/// assert_eq!(fetches[0].serves, [(1, 0), (2, 12)]);
/// ```
pub fn coalesce(ranges: &[(u64, u64)], gap: u64) -> Vec<Fetch> {
    let mut order: Vec<usize> = (0..ranges.len()).collect();
    order.sort_by_key(|&i| ranges[i]);
    let mut out: Vec<Fetch> = Vec::new();
    for i in order {
        let (start, length) = ranges[i];
        if let Some(last) = out.last_mut()
            && let Some(end) = start.checked_add(length)
            && let Some(last_end) = last.start.checked_add(last.length)
        {
            let grown = end.max(last_end) - last.start;
            if start <= last_end.saturating_add(gap) && (grown <= MAX_MERGED || grown == last.length) {
                last.serves.push((i, start - last.start));
                last.length = grown;
                continue;
            }
        }
        out.push(Fetch { start, length, serves: vec![(i, 0)] });
    }
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_gap_is_bridged_and_a_wider_one_is_not() {
        assert_eq!(coalesce(&[(0, 4), (8, 4)], 4).len(), 1);
        assert_eq!(coalesce(&[(0, 4), (8, 4)], 3).len(), 2);
        assert_eq!(coalesce(&[], 4), []);
    }

    #[test]
    fn merging_stops_at_the_limit_but_a_contained_range_is_served() {
        let big = MAX_MERGED;
        assert_eq!(coalesce(&[(0, big), (big, 1)], 0).len(), 2);
        assert_eq!(coalesce(&[(0, 3 * big), (big, big)], 0).len(), 1);
        assert_eq!(coalesce(&[(0, big - 1), (big - 1, 1)], 0).len(), 1);
    }

    #[test]
    fn ranges_past_all_numbers_stay_alone() {
        let out = coalesce(&[(u64::MAX, 2), (u64::MAX - 1, 1), (u64::MAX, 3)], u64::MAX);
        assert_eq!(out.iter().map(|f| f.serves.len()).sum::<usize>(), 3);
        assert!(out.iter().any(|f| (f.start, f.length) == (u64::MAX, 2)));
    }

    proptest! {
        #[test]
        fn every_range_is_served_once_and_whole(
            ranges in proptest::collection::vec((0u64..200, 0u64..40), 0..30), gap in 0u64..20
        ) {
            let out = coalesce(&ranges, gap);
            let mut seen = vec![0; ranges.len()];
            for f in &out {
                for &(i, at) in &f.serves {
                    seen[i] += 1;
                    prop_assert_eq!(f.start + at, ranges[i].0);
                    prop_assert!(at + ranges[i].1 <= f.length);
                }
            }
            prop_assert!(seen.iter().all(|&n| n == 1));
            for pair in out.windows(2) {
                prop_assert!(pair[1].start > pair[0].start + pair[0].length + gap);
            }
        }
    }
}
