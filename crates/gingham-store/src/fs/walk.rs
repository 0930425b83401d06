//! Directory trees as keys: listing and deleting, without recursion, whatever the depth.

use std::fs::{self, DirEntry, FileType};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::{is_absent, is_temp};
use crate::Listing;

/// A failure and the key at which it happened.
type Failed = (String, io::Error);

/// Links to directories that a listing follows one inside the other: enough for any arrangement that people make, few enough
/// that directories full of links to one another end.
const LINKS: usize = 4;

/// The real directories that were left through a link on the way to here: a link back to one of them is a loop.
struct Trail {
    left: PathBuf,
    before: Option<Rc<Trail>>,
}

/// All files below a directory with their sizes, sorted by key; nothing where there is no directory.
pub(super) fn list(dir: &Path, prefix: &str) -> Result<Vec<(String, u64)>, Failed> {
    let mut out = Vec::new();
    walk(dir, prefix, true, |key, size| out.push((key, size)))?;
    // Nearly sorted already, which this sort makes use of.
    out.sort();
    Ok(out)
}

/// The same without sizes, which would take a system call for each file.
pub(super) fn keys(dir: &Path, prefix: &str) -> Result<Vec<String>, Failed> {
    let mut out = Vec::new();
    walk(dir, prefix, false, |key, _| out.push(key))?;
    out.sort();
    Ok(out)
}

/// Gives every file below a directory to `file`, directory by directory in the order of their names; sizes are 0 where they are
/// not wanted.
fn walk(dir: &Path, prefix: &str, sizes: bool, mut file: impl FnMut(String, u64)) -> Result<(), Failed> {
    let mut todo: Vec<(PathBuf, String, Option<Rc<Trail>>)> = vec![(dir.into(), prefix.into(), None)];
    while let Some((dir, prefix, trail)) = todo.pop() {
        let mut here = entries(&dir, &prefix)?;
        here.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let first = todo.len();
        for (name, entry, kind) in here {
            let key = join(&prefix, &name);
            if kind.is_dir() {
                todo.push((entry.path(), key, trail.clone()));
                continue;
            }
            if kind.is_file() && !sizes {
                file(key, 0);
                continue;
            }
            // A file is asked for by its name in the directory that is open, which spares the walk of its path.
            let meta = if kind.is_file() { entry.metadata() } else { fs::metadata(entry.path()) };
            // A file that is deleted meanwhile, and a link to nothing, are absent.
            let meta = match meta {
                Ok(meta) => meta,
                Err(e) if is_absent(&e) || leads_nowhere(&e) => continue,
                Err(e) => return Err((key, e)),
            };
            if meta.is_file() {
                file(key, meta.len());
            } else if meta.is_dir()
                && let Some(trail) = follow(&dir, &entry.path(), &trail)
            {
                todo.push((entry.path(), key, Some(trail)));
            }
        }
        // The last is taken first.
        todo[first..].reverse();
    }
    Ok(())
}

/// Files and directories directly in a directory; directories that hold no file at any depth are left out.
pub(super) fn list_dir(dir: &Path, prefix: &str) -> Result<Listing, Failed> {
    let mut out = level(dir, prefix)?;
    let mut held = Vec::with_capacity(out.prefixes.len());
    for key in out.prefixes {
        let name = key.rsplit_once('/').map_or(&key[..], |(_, name)| name);
        if holds_a_file(dir.join(name), &key)? {
            held.push(key);
        }
    }
    out.prefixes = held;
    Ok(out)
}

/// The same with directories that hold nothing.
pub(super) fn level(dir: &Path, prefix: &str) -> Result<Listing, Failed> {
    let mut out = Listing::default();
    for (name, entry, kind) in entries(dir, prefix)? {
        let (is_file, is_dir) = if kind.is_file() || kind.is_dir() {
            (kind.is_file(), kind.is_dir())
        } else {
            fs::metadata(entry.path()).map_or((false, false), |m| (m.is_file(), m.is_dir()))
        };
        if is_file {
            out.keys.push(join(prefix, &name));
        } else if is_dir {
            out.prefixes.push(join(prefix, &name));
        }
    }
    out.keys.sort_unstable();
    out.prefixes.sort_unstable();
    Ok(out)
}

/// Deletes every file below a directory, then the directories; the first one stays where `keep` says so. Returns how many
/// files and links. Directories that another writer filled meanwhile stay.
pub(super) fn delete_below(dir: &Path, keep: bool) -> Result<u64, Failed> {
    let failed = |path: &Path, e| (path.display().to_string(), e);
    match dir.symlink_metadata() {
        Ok(meta) if meta.is_symlink() && dir.is_dir() && !keep => {
            return fs::remove_file(dir).map(|()| 1).map_err(|e| failed(dir, e));
        }
        Ok(_) if dir.is_dir() => {}
        Ok(_) => return Ok(0),
        Err(e) if is_absent(&e) => return Ok(0),
        Err(e) => return Err(failed(dir, e)),
    }
    let (mut n, mut at, mut dirs) = (0, 0, vec![dir.to_path_buf()]);
    while at < dirs.len() {
        let dir = dirs[at].clone();
        at += 1;
        let listing = match fs::read_dir(&dir) {
            Ok(listing) => listing,
            Err(e) if is_absent(&e) => continue,
            Err(e) => return Err(failed(&dir, e)),
        };
        for entry in listing {
            let entry = entry.map_err(|e| failed(&dir, e))?;
            let path = entry.path();
            if entry.file_type().map_err(|e| failed(&path, e))?.is_dir() {
                dirs.push(path);
                continue;
            }
            match fs::remove_file(&path) {
                Ok(()) => n += u64::from(!entry.file_name().to_str().is_some_and(is_temp)),
                Err(e) if is_absent(&e) => {}
                Err(e) => return Err(failed(&path, e)),
            }
        }
    }
    for dir in dirs.iter().skip(usize::from(keep)).rev() {
        match fs::remove_dir(dir) {
            Err(e) if !is_absent(&e) && e.kind() != io::ErrorKind::DirectoryNotEmpty => return Err(failed(dir, e)),
            _ => {}
        }
    }
    Ok(n)
}

/// Removes a tree of directories that holds nothing else; false, with some of it perhaps gone, where it holds something.
pub(super) fn remove_empty(dir: &Path) -> bool {
    let (mut at, mut dirs) = (0, vec![dir.to_path_buf()]);
    while at < dirs.len() {
        let Ok(listing) = fs::read_dir(&dirs[at]) else { return false };
        at += 1;
        for entry in listing {
            match entry.and_then(|e| Ok((e.path(), e.file_type()?))) {
                Ok((path, kind)) if kind.is_dir() => dirs.push(path),
                _ => return false,
            }
        }
    }
    dirs.iter().rev().all(|dir| fs::remove_dir(dir).is_ok())
}

fn holds_a_file(dir: PathBuf, key: &str) -> Result<bool, Failed> {
    let mut todo = vec![dir];
    while let Some(dir) = todo.pop() {
        for (_, entry, kind) in entries(&dir, key)? {
            match kind.is_dir() {
                true => todo.push(entry.path()),
                false if kind.is_file() || entry.path().exists() => return Ok(true),
                false => {}
            }
        }
    }
    Ok(false)
}

/// What a directory holds, without temporary files and names that are not UTF-8 (they are no keys). Nothing where there is none.
fn entries(dir: &Path, prefix: &str) -> Result<Vec<(String, DirEntry, FileType)>, Failed> {
    let failed = |e| (prefix.to_owned(), e);
    let listing = match fs::read_dir(dir) {
        Ok(listing) => listing,
        Err(e) if is_absent(&e) => return Ok(Vec::new()),
        Err(e) => return Err(failed(e)),
    };
    let mut out = Vec::new();
    for entry in listing {
        let entry = entry.map_err(failed)?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if !is_temp(&name) {
            let kind = entry.file_type().map_err(failed)?;
            out.push((name, entry, kind));
        }
    }
    Ok(out)
}

/// The trail beyond the link at `path` to a directory; `None` where it leads back to where the listing is, or too far.
fn follow(dir: &Path, path: &Path, trail: &Option<Rc<Trail>>) -> Option<Rc<Trail>> {
    let here = fs::canonicalize(dir).ok()?;
    let there = fs::canonicalize(path).ok()?;
    let mut links = 0;
    let mut step = trail.as_ref();
    while let Some(t) = step {
        if t.left.starts_with(&there) {
            return None;
        }
        links += 1;
        step = t.before.as_ref();
    }
    (links < LINKS && !here.starts_with(&there)).then(|| Rc::new(Trail { left: here, before: trail.clone() }))
}

/// A link that leads to itself, perhaps through others.
fn leads_nowhere(e: &io::Error) -> bool {
    #[cfg(unix)]
    let looped = e.raw_os_error() == Some(libc::ELOOP);
    #[cfg(not(unix))]
    let looped = false;
    looped
}

fn join(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.into() } else { format!("{prefix}/{name}") }
}
