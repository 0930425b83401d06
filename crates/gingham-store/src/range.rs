//! Which bytes of an object a range is, and keys that are keys: the checks that every store makes in the same way.

use crate::{Range, StoreError, StoreErrorKind};

impl Range {
    /// First byte and length of this range in an object of `size` bytes.
    ///
    /// A suffix longer than the object is all of it. A range that reaches past the end is an error of kind Short, never a
    /// shorter answer; one that begins exactly at the end and has no length is empty.
    pub fn within(self, size: u64) -> Result<(u64, u64), StoreError> {
        match self {
            Range::All => Ok((0, size)),
            Range::Suffix { length } => Ok((size - length.min(size), length.min(size))),
            Range::From { start } if start <= size => Ok((start, size - start)),
            Range::From { start } => Err(StoreError::new(
                StoreErrorKind::Short,
                format!("bytes from {start} on were asked for, but the object ends at byte {size}"),
            )),
            Range::Bounded { start, length } => match start.checked_add(length) {
                Some(end) if end <= size => Ok((start, length)),
                _ => Err(short(start, length, size)),
            },
        }
    }
}

/// The object is shorter than a range asked for.
pub(crate) fn short(start: u64, length: u64, size: u64) -> StoreError {
    StoreError::new(
        StoreErrorKind::Short,
        format!("{length} bytes from byte {start} on were asked for, but the object is {size} bytes long"),
    )
}

/// Memory for `length` bytes that something outside this process declared: refused, not aborted on, where there is none.
pub(crate) fn buffer(length: u64) -> Result<Vec<u8>, StoreError> {
    let mut v = Vec::new();
    let fits = usize::try_from(length).is_ok_and(|n| v.try_reserve_exact(n).is_ok());
    if fits { Ok(v) } else { Err(StoreError::new(StoreErrorKind::Failed, format!("there is no memory for {length} bytes"))) }
}

/// A key is one or more non-empty segments between single slashes; none of them is `.` or `..`, none holds a NUL.
pub(crate) fn check_key(key: &str) -> Result<(), StoreError> {
    let refuse = |why: &str| Err(StoreError::new(StoreErrorKind::Invalid, format!("{key:?} is not a key: {why}")));
    if key.is_empty() {
        return refuse("it is empty");
    }
    if key.contains('\0') {
        return refuse("it holds a NUL");
    }
    for segment in key.split('/') {
        match segment {
            "" => return refuse("it begins or ends with a slash, or has two together"),
            "." | ".." => return refuse("a segment is \".\" or \"..\", which could leave the store"),
            _ if cfg!(windows) && segment.contains(['\\', ':']) => return refuse("it holds a backslash or a colon"),
            _ => {}
        }
    }
    Ok(())
}

/// A prefix is empty or a key; one slash after it is allowed. Returns it without.
pub(crate) fn check_prefix(prefix: &str) -> Result<&str, StoreError> {
    let bare = prefix.strip_suffix('/').unwrap_or(prefix);
    if !prefix.is_empty() {
        check_key(bare)?;
    }
    Ok(bare)
}

/// Whether `key` lies below `prefix` (which has no slash at its end): `foo/a` below `foo`, not `foobar/a`. Returns the rest.
pub(crate) fn below<'a>(key: &'a str, prefix: &str) -> Option<&'a str> {
    if prefix.is_empty() {
        return Some(key);
    }
    key.strip_prefix(prefix)?.strip_prefix('/')
}

/// Leaves out directory markers of a sorted listing: empty objects that other keys lie below.
pub(crate) fn drop_markers(list: &mut Vec<(String, u64)>) {
    let is_marker = |(key, size): &(String, u64)| {
        let dir = format!("{key}/");
        *size == 0 && list.get(list.partition_point(|(k, _)| *k < dir)).is_some_and(|(k, _)| k.starts_with(&dir))
    };
    if list.iter().any(|(_, size)| *size == 0) {
        let keep: Vec<bool> = list.iter().map(|e| !is_marker(e)).collect();
        let mut keep = keep.into_iter();
        list.retain(|_| keep.next().unwrap_or(true));
    }
}

/// One level of sorted keys that all lie below `prefix`.
pub(crate) fn level<'a>(keys: impl Iterator<Item = &'a str>, prefix: &str) -> crate::Listing {
    let mut out = crate::Listing::default();
    for key in keys {
        let Some(rest) = below(key, prefix) else { continue };
        match rest.find('/') {
            None => out.keys.push(key.into()),
            Some(at) => {
                let dir = &key[..key.len() - rest.len() + at];
                if out.prefixes.last().is_none_or(|last| last != dir) {
                    out.prefixes.push(dir.into());
                }
            }
        }
    }
    // "a-b/x" sorts before "a/x" but the prefix "a-b" after "a".
    out.prefixes.sort();
    out.prefixes.dedup();
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn ranges_are_exact_or_short() {
        let r = |x: Range, size| x.within(size).map_err(|e| e.kind);
        assert_eq!(r(Range::All, 3), Ok((0, 3)));
        assert_eq!(r(Range::Suffix { length: 10 }, 3), Ok((0, 3)));
        assert_eq!(r(Range::Suffix { length: 0 }, 3), Ok((3, 0)));
        assert_eq!(r(Range::From { start: 3 }, 3), Ok((3, 0)));
        assert_eq!(r(Range::From { start: 4 }, 3), Err(StoreErrorKind::Short));
        assert_eq!(r(Range::Bounded { start: 1, length: 2 }, 3), Ok((1, 2)));
        assert_eq!(r(Range::Bounded { start: 1, length: 99 }, 3), Err(StoreErrorKind::Short));
        assert_eq!(r(Range::Bounded { start: u64::MAX, length: u64::MAX }, 3), Err(StoreErrorKind::Short));
        let said = Range::Bounded { start: 3, length: 1 }.within(3).unwrap_err().to_string();
        assert_eq!(said, "1 bytes from byte 3 on were asked for, but the object is 3 bytes long");
    }

    #[test]
    fn keys_that_are_not_keys_are_refused() {
        for bad in ["", "/a", "a/", "a//b", ".", "..", "a/../b", "a/./b", "a\0b", "../../etc/passwd", "/"] {
            assert_eq!(check_key(bad).unwrap_err().kind, StoreErrorKind::Invalid, "{bad:?}");
        }
        for good in ["a", "zarr.json", "c/0/0", "...", "é/ü", "a b", "a..b"] {
            check_key(good).unwrap();
        }
        assert_eq!(check_prefix("").unwrap(), "");
        assert_eq!(check_prefix("a/").unwrap(), "a");
        assert!(check_prefix("/").is_err());
        assert!(check_prefix("a//").is_err());
    }

    #[test]
    fn a_prefix_ends_at_a_slash() {
        assert_eq!(below("foo/a", "foo"), Some("a"));
        assert_eq!(below("foobar/a", "foo"), None);
        assert_eq!(below("foo", "foo"), None);
        assert_eq!(below("foo", ""), Some("foo"));
    }

    #[test]
    fn vz_marker_only_empty_parents_are_markers() {
        let mut list: Vec<(String, u64)> =
            [("air/c", 0), ("air/c-x", 0), ("air/c/0", 0), ("air/c/0/0", 0), ("air/full", 1), ("air/full/x", 1)]
                .map(|(k, n)| (k.into(), n))
                .into();
        drop_markers(&mut list);
        let keys: Vec<&str> = list.iter().map(|(k, _)| k.as_str()).collect();
        assert_eq!(keys, ["air/c-x", "air/c/0/0", "air/full", "air/full/x"]);
    }

    #[test]
    fn one_level_is_sorted_and_has_no_twins() {
        let l = level(["a", "a-b/x", "a/x", "a/y/z", "b"].into_iter(), "");
        assert_eq!(l.keys, ["a", "b"]);
        assert_eq!(l.prefixes, ["a", "a-b"]);
        let l = level(["a/x", "a/y/z", "ab/q"].into_iter(), "a");
        assert_eq!((l.keys, l.prefixes), (vec!["a/x".to_string()], vec!["a/y".to_string()]));
    }

    #[test]
    fn absurd_sizes_are_refused() {
        assert!(buffer(u64::MAX).is_err());
        assert!(buffer(10).unwrap().capacity() >= 10);
    }
}
