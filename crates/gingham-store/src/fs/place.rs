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
        let dir = if rel.is_empty() { fs.root.clone() } else { fs.path(rel) };
        if self.known.read().unwrap_or_else(PoisonError::into_inner).contains(rel) {
            return Ok(Some(dir));
        }
        let Some(root) = self.real_root(fs, make).map_err(|e| cannot(fs, key, &fs.root, e))? else { return Ok(None) };
        let real = match fs::canonicalize(&dir) {
            Ok(real) => real,
            Err(e) if is_absent(&e) && !make => return Ok(None),
            Err(e) if is_absent(&e) => {
                self.make(fs, key, &dir, root)?;
                fs::canonicalize(&dir).map_err(|e| cannot(fs, key, &dir, e))?
            }
            Err(e) => return Err(cannot(fs, key, &dir, e)),
        };
        inside(fs, key, root, &real)?;
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= KNOWN {
            known.clear();
        }
        known.insert(rel.into());
        Ok(Some(dir))
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

    /// Makes `dir`, after the nearest directory above it that exists was found to be inside the root.
    fn make(&self, fs: &Fs, key: &str, dir: &Path, root: &Path) -> Result<(), StoreError> {
        let mut missing = Vec::new();
        for above in dir.ancestors() {
            match fs::canonicalize(above) {
                Ok(real) => {
                    inside(fs, key, root, &real)?;
                    break;
                }
                Err(e) if is_absent(&e) => missing.push(above),
                Err(e) => return Err(cannot(fs, key, above, e)),
            }
            if above == fs.root {
                break;
            }
        }
        fs::create_dir_all(dir).map_err(|e| {
            let in_the_way = missing.iter().rev().find(|p| p.symlink_metadata().is_ok_and(|m| !m.is_dir()));
            let file = dir.ancestors().find(|p| p.is_file());
            match in_the_way.copied().or(file) {
                Some(other) => fs.at(
                    StoreError::new(
                        StoreErrorKind::Invalid,
                        format!("{key:?} cannot be put, because {} is not a directory", other.display()),
                    )
                    .caused_by(e),
                    key,
                ),
                None => cannot(fs, key, dir, e),
            }
        })?;
        if fs.fsync {
            for made in missing.iter().filter_map(|made| made.parent()) {
                sync_dir(made).map_err(|e| cannot(fs, key, made, e))?;
            }
        }
        Ok(())
    }
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
