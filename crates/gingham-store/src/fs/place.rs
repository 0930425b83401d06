//! Directories that may be written to: made where they are missing, and known to lie inside the root.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{OnceLock, PoisonError, RwLock};

use super::{Fs, is_absent, sync_dir};
use crate::{StoreError, StoreErrorKind};

/// Directories that are remembered; beyond it all are forgotten and found again, at one system call each.
const KNOWN: usize = 4096;

/// How often a directory is looked for again that others delete.
const TRIES: usize = 8;

/// Where the root really is, and the directories below it that were found to be inside.
#[derive(Debug, Default)]
pub(super) struct Places {
    root: OnceLock<PathBuf>,
    known: RwLock<HashSet<String>>,
}

impl Places {
    /// The directory that holds `key`: checked once, then remembered, so that a put makes no call for it. `None` where it does
    /// not exist and is not to be made.
    pub(super) fn parent(&self, fs: &Fs, key: &str, make: bool) -> Result<Option<PathBuf>, StoreError> {
        let rel = key.rsplit_once('/').map_or("", |(dir, _)| dir);
        for _ in 0..TRIES {
            match self.find(fs, key, rel, make)? {
                Found::There => return Ok(Some(if rel.is_empty() { fs.root.clone() } else { fs.path(rel) })),
                Found::Missing => return Ok(None),
                // Another process deleted what was known.
                Found::Gone => self.forget(),
            }
        }
        let what = format!("the directory of {key:?} was deleted {TRIES} times while it was made");
        Err(fs.at(StoreError::new(StoreErrorKind::Failed, what), key))
    }

    /// Sees to one directory after those above it: in one that is known to be inside the root, a directory that is no link is
    /// inside too.
    fn find(&self, fs: &Fs, key: &str, rel: &str, make: bool) -> Result<Found, StoreError> {
        if self.known.read().unwrap_or_else(PoisonError::into_inner).contains(rel) {
            return Ok(Found::There);
        }
        let Some(root) = self.real_root(fs, make).map_err(|e| cannot(fs, key, &fs.root, e))? else { return Ok(Found::Missing) };
        if let Some(above) = (!rel.is_empty()).then(|| rel.rsplit_once('/').map_or("", |(dir, _)| dir)) {
            match self.find(fs, key, above, make)? {
                Found::There => {}
                other => return Ok(other),
            }
            match self.child(fs, key, rel, root, make)? {
                Found::There => {}
                other => return Ok(other),
            }
        } else if !fs.root.is_dir() {
            if !make {
                return Ok(Found::Missing);
            }
            fs::create_dir_all(&fs.root).map_err(|e| cannot(fs, key, &fs.root, e))?;
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= KNOWN {
            known.clear();
        }
        known.insert(rel.into());
        Ok(Found::There)
    }

    /// A directory whose parent is known.
    fn child(&self, fs: &Fs, key: &str, rel: &str, root: &Path, make: bool) -> Result<Found, StoreError> {
        let dir = fs.path(rel);
        for _ in 0..TRIES {
            match dir.symlink_metadata() {
                Ok(meta) if meta.is_dir() => return Ok(Found::There),
                Ok(meta) if meta.is_symlink() && dir.is_dir() => {
                    let real = fs::canonicalize(&dir).map_err(|e| cannot(fs, key, &dir, e))?;
                    return inside(fs, key, root, &real).map(|()| Found::There);
                }
                Ok(_) if make => {
                    let what = format!("{key:?} cannot be put, because {} is not a directory", dir.display());
                    return Err(fs.at(StoreError::new(StoreErrorKind::Invalid, what), key));
                }
                Ok(_) => return Ok(Found::Missing),
                Err(e) if is_absent(&e) && !make => return Ok(Found::Missing),
                Err(e) if !is_absent(&e) => return Err(cannot(fs, key, &dir, e)),
                Err(_) => {}
            }
            match fs::create_dir(&dir) {
                Ok(()) if fs.fsync => {
                    let above = dir.parent().unwrap_or(&dir);
                    return sync_dir(above).map(|()| Found::There).map_err(|e| cannot(fs, key, above, e));
                }
                Ok(()) => return Ok(Found::There),
                // Another writer was first.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) if is_absent(&e) => return Ok(Found::Gone),
                Err(e) => return Err(cannot(fs, key, &dir, e)),
            }
        }
        Ok(Found::Gone)
    }

    /// Directories were removed: each is looked at again before it is written to.
    pub(super) fn forget(&self) {
        self.known.write().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn real_root(&self, fs: &Fs, make: bool) -> io::Result<Option<&Path>> {
        if let Some(root) = self.root.get() {
            return Ok(Some(root));
        }
        let real = match fs::canonicalize(&fs.root) {
            Err(e) if is_absent(&e) && !make => return Ok(None),
            Err(e) if is_absent(&e) => {
                fs::create_dir_all(&fs.root)?;
                fs::canonicalize(&fs.root)?
            }
            other => other?,
        };
        Ok(Some(self.root.get_or_init(|| real)))
    }
}

/// What became of a directory.
enum Found {
    There,
    /// It does not exist, and is not to be made.
    Missing,
    /// One above it that was known does not exist any more.
    Gone,
}

fn inside(fs: &Fs, key: &str, root: &Path, real: &Path) -> Result<(), StoreError> {
    if real.starts_with(root) {
        return Ok(());
    }
    let what = format!("{key:?} leads out of the store through a link, to {}; it is not written to", real.display());
    Err(fs.at(StoreError::new(StoreErrorKind::Invalid, what), key))
}

fn cannot(fs: &Fs, key: &str, dir: &Path, e: io::Error) -> StoreError {
    let kind = match e.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => StoreErrorKind::Denied,
        io::ErrorKind::InvalidFilename | io::ErrorKind::NotADirectory => StoreErrorKind::Invalid,
        _ => StoreErrorKind::Failed,
    };
    let what = format!("the directory {} cannot be written to: {e}", dir.display());
    fs.at(StoreError::new(kind, what).caused_by(e), key)
}
