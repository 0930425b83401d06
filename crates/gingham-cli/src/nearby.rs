//! What a path that leads to nothing could have meant: a name that is spelled alike, the node that it goes on behind, or a store that
//! lies further below.

use std::fs;
use std::path::{Path, PathBuf};

/// Directories that are looked into for a store further below.
const LOOKED_INTO: usize = 200;
/// Levels below that are looked at.
const LEVELS: usize = 5;
/// Names of one directory that are compared.
const NAMES: usize = 10_000;

/// A hint for a local path where no node is; `None` where there is nothing to say.
pub fn hint(location: &str) -> Option<String> {
    let path = Path::new(location.strip_prefix("file://").unwrap_or(location));
    if location.contains("://") && !location.starts_with("file://") {
        return None;
    }
    if path.is_dir() {
        return below(path).map(|found| format!("there is one at {}", found.display()));
    }
    let there = path.ancestors().skip(1).find(|p| p.is_dir() || p.as_os_str().is_empty())?;
    // The first name on the way that is not there.
    let missing = path.strip_prefix(there).ok()?.components().next()?.as_os_str().to_str()?;
    let here = kind(there);
    if here == Some("array") {
        // The directories in it hold chunks.
        return Some(format!("{} is an array, and nothing lies in it", there.display()));
    }
    match alike(there, missing) {
        Some(name) => Some(format!("did you mean {}?", there.join(name).display())),
        None => here.map(|_| format!("see what is in the group with: gingham tree {}", there.display())),
    }
}

/// What a directory is by the documents in it.
fn kind(dir: &Path) -> Option<&'static str> {
    let v3 = || fs::read_to_string(dir.join("zarr.json")).ok().filter(|text| text.contains("\"array\""));
    match () {
        () if dir.join(".zarray").is_file() || v3().is_some() => Some("array"),
        () if [".zgroup", ".zmetadata", "zarr.json"].iter().any(|name| dir.join(name).is_file()) => Some("group"),
        () => None,
    }
}

/// The name in a directory that is closest to one that is not there.
fn alike(dir: &Path, name: &str) -> Option<String> {
    let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    let names = fs::read_dir(dir).ok()?.take(NAMES).filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let near = names.filter(|n| !n.starts_with('.')).map(|n| (distance(name, &n), n));
    // A third of the letters may differ; of short names one.
    near.filter(|(d, n)| *d <= (n.chars().count() / 3).clamp(1, 3)).min().map(|(_, n)| n)
}

/// Insertions, deletions and replacements from one name to another, without regard to case.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.to_lowercase().chars().collect(), b.to_lowercase().chars().collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// The first node below a directory, level by level.
fn below(dir: &Path) -> Option<PathBuf> {
    let mut level = vec![dir.to_path_buf()];
    let mut left = LOOKED_INTO;
    for _ in 0..LEVELS {
        let mut next: Vec<PathBuf> = Vec::new();
        for dir in level {
            left = left.checked_sub(1)?;
            let entries = fs::read_dir(dir).into_iter().flatten().take(NAMES).flatten();
            next.extend(entries.filter(|e| e.file_type().is_ok_and(|t| t.is_dir())).map(|e| e.path()));
        }
        next.sort();
        if let Some(found) = next.iter().find(|dir| kind(dir).is_some()) {
            return Some(found.clone());
        }
        level = next;
    }
    None
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn distances_are_letters() {
        assert_eq!((distance("d.zar", "d.zarr"), distance("T2m", "t2m"), distance("", "ab"), distance("kitten", "sitting")), (1, 0, 2, 3));
    }

    #[test]
    fn a_path_to_nothing_has_a_hint() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("deep/data.zarr");
        fs::create_dir_all(root.join("t2m/c")).unwrap();
        fs::write(root.join(".zgroup"), "{}").unwrap();
        fs::write(root.join("t2m/.zarray"), "{}").unwrap();
        let of = |path: &str| hint(&dir.path().join(path).display().to_string());
        let full = |path: &str| dir.path().join(path).display().to_string();
        assert_eq!(of("deep/data.zar"), Some(format!("did you mean {}?", full("deep/data.zarr"))));
        assert_eq!(of("deep/dta.zarr/t2m"), Some(format!("did you mean {}?", full("deep/data.zarr"))));
        assert_eq!(of("deep/data.zarr/t2"), Some(format!("did you mean {}?", full("deep/data.zarr/t2m"))));
        assert_eq!(of("deep/data.zarr/t2m/x"), Some(format!("{} is an array, and nothing lies in it", full("deep/data.zarr/t2m"))));
        assert_eq!(of("deep/data.zarr/other"), Some(format!("see what is in the group with: gingham tree {}", full("deep/data.zarr"))));
        assert_eq!(of(""), Some(format!("there is one at {}", full("deep/data.zarr"))));
        assert_eq!(of("unheard-of"), None);
        assert_eq!(hint("s3://bucket/x"), None);
    }
}
