//! Local files: a key is a path below the root directory.
//!
//! Reads are one open and one positioned read, into the caller's buffer where there is one. Writes go to a temporary file
//! beside the target (`.gingham-….tmp`, which is no key) and are renamed into place, so that a reader sees the old bytes or
//! the new. Writers of one key take turns, on Unix those of other processes too. Symbolic links are followed by reads; writes and deletes refuse a directory that lies outside the root.

mod place;
mod walk;

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, IoSlice, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::SystemTime;

use crate::memory::check_condition;
use crate::range::{buffer, check_key, check_prefix, short};
use crate::*;
use place::Places;

/// What a temporary file's name begins and ends with; between them are random characters.
const TEMP: (&str, &str) = (".gingham-", ".tmp");

/// How often a put is begun again because its directory was deleted under it.
const TRIES: usize = 8;

/// One system call costs about a microsecond, in which memory copies about this many bytes.
const GAP: u64 = 8 << 10;

/// A directory of files.
#[derive(Debug)]
pub struct Fs {
    root: PathBuf,
    fsync: bool,
    places: Places,
}

impl Fs {
    /// The directory at `root`, which need not exist: the first put creates it. A relative path is taken from the current
    /// directory of now.
    pub fn new(root: impl AsRef<Path>) -> Result<Self, StoreError> {
        let root = root.as_ref();
        let at = root.display().to_string();
        let root = std::path::absolute(root)
            .map_err(|e| StoreError::new(StoreErrorKind::Invalid, format!("{at:?} is not a path: {e}")).at(&at, ""))?;
        Ok(Fs { root, fsync: false, places: Places::default() })
    }

    /// Whether each file, and the directory that names it, is flushed to the disk before a put returns. Default: no.
    pub fn fsync(mut self, fsync: bool) -> Self {
        self.fsync = fsync;
        self
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn path(&self, key: &str) -> PathBuf {
        if cfg!(windows) { key.split('/').fold(self.root.clone(), |path, s| path.join(s)) } else { self.root.join(key) }
    }

    fn checked(&self, key: &str) -> Result<PathBuf, StoreError> {
        check_key(key).map_err(|e| self.at(e, key))?;
        if key.split('/').any(is_temp) {
            let what = format!("{key:?} is not a key: names like {}…{} are temporary files", TEMP.0, TEMP.1);
            return Err(self.at(StoreError::new(StoreErrorKind::Invalid, what), key));
        }
        Ok(self.path(key))
    }

    fn prefix<'a>(&self, prefix: &'a str) -> Result<&'a str, StoreError> {
        let bare = check_prefix(prefix).map_err(|e| self.at(e, prefix))?;
        if bare.split('/').any(is_temp) {
            self.checked(bare)?;
        }
        Ok(bare)
    }

    fn at(&self, e: StoreError, key: &str) -> StoreError {
        e.at(&self.describe(), key)
    }

    fn failed(&self, key: &str, doing: &str, e: io::Error) -> StoreError {
        let kind = match e.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => StoreErrorKind::Denied,
            io::ErrorKind::InvalidFilename => StoreErrorKind::Invalid,
            _ => StoreErrorKind::Failed,
        };
        let what = format!("{} could not be {doing}: {e}", self.path(key).display());
        self.at(StoreError::new(kind, what).caused_by(e), key)
    }

    /// The open file; `None` where nothing, or a directory, is there.
    fn file(&self, key: &str) -> Result<Option<File>, StoreError> {
        let path = self.checked(key)?;
        match open_for_reading(&path) {
            Ok(file) => Ok(Some(file)),
            Err(e) if is_absent(&e) => Ok(None),
            // Windows denies opening a directory.
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied && cfg!(windows) && path.is_dir() => Ok(None),
            Err(e) => Err(self.failed(key, "opened", e)),
        }
    }

    fn regular(&self, key: &str, meta: &Metadata) -> Result<bool, StoreError> {
        if meta.is_file() || meta.is_dir() {
            return Ok(meta.is_file());
        }
        let what = format!("{} is neither a file nor a directory", self.path(key).display());
        Err(self.at(StoreError::new(StoreErrorKind::Invalid, what), key))
    }

    fn read_new(&self, key: &str, file: &File, range: Range) -> Got {
        let Some((start, length)) = self.extent(key, file, range)? else { return Ok(None) };
        let mut bytes = buffer(length).map_err(|e| self.at(e, key))?;
        bytes.resize(length as usize, 0);
        Ok(self.read_into(key, file, start, &mut bytes)?.then(|| bytes.into()))
    }

    /// First byte and length of a range of a file; `None` where a directory is there.
    fn extent(&self, key: &str, file: &File, range: Range) -> Result<Option<(u64, u64)>, StoreError> {
        let meta = file.metadata().map_err(|e| self.failed(key, "examined", e))?;
        if !self.regular(key, &meta)? {
            return Ok(None);
        }
        range.within(meta.len()).map(Some).map_err(|e| self.at(e, key))
    }

    fn read_into(&self, key: &str, file: &File, start: u64, out: &mut [u8]) -> Result<bool, StoreError> {
        let mut done = 0;
        while done < out.len() {
            let at = start.checked_add(done as u64);
            match at.map(|at| read_at(file, &mut out[done..], at)) {
                Some(Ok(n)) if n > 0 => done += n,
                Some(Err(e)) if e.kind() == io::ErrorKind::Interrupted => {}
                Some(Err(e)) if e.kind() == io::ErrorKind::IsADirectory => return Ok(false),
                Some(Err(e)) if e.kind() != io::ErrorKind::InvalidInput => return Err(self.failed(key, "read", e)),
                // The end came early, or the offset is one that no file has.
                _ => {
                    let meta = file.metadata().map_err(|e| self.failed(key, "examined", e))?;
                    return if self.regular(key, &meta)? {
                        Err(self.at(short(start, out.len() as u64, meta.len()), key))
                    } else {
                        Ok(false)
                    };
                }
            }
        }
        Ok(true)
    }

    fn put_once(&self, key: &str, path: &Path, pieces: &[&[u8]], condition: &Condition) -> Result<Put, StoreError> {
        let dir = self.places.parent(self, key, true)?.unwrap_or_else(|| self.root.clone());
        let mut temp = match temp_in(&dir) {
            Ok(temp) => temp,
            Err(e) if is_absent(&e) => return Ok(Put::DirectoryGone),
            Err(e) => return Err(self.failed(key, "written", e)),
        };
        write_pieces(temp.as_file_mut(), pieces).map_err(|e| self.failed(key, "written", e))?;
        if self.fsync {
            temp.as_file().sync_all().map_err(|e| self.failed(key, "flushed to the disk", e))?;
        }
        let _held = hold(path, Some(&dir));
        // Kernels stamp files by their tick of some milliseconds, in which an inode can come back with another file of this
        // size; the clock's own nanoseconds, taken while no other writer is at it, make each put's version its own.
        temp.as_file().set_modified(SystemTime::now()).map_err(|e| self.failed(key, "written (its time could not be set)", e))?;
        if let Condition::Version(_) = condition {
            let now = self.stat(key)?.and_then(|s| s.version);
            check_condition(condition, now.as_deref()).map_err(|e| self.at(e, key))?;
        }
        let put = match condition {
            Condition::Absent => temp.persist_noclobber(path),
            _ => temp.persist(path),
        };
        match put {
            Ok(_) => {}
            Err(e) if *condition == Condition::Absent && e.error.kind() == io::ErrorKind::AlreadyExists => {
                return if path.is_dir() { Ok(Put::DirectoryThere) } else { Err(self.exists(key)) };
            }
            Err(e) if is_absent(&e.error) => return Ok(Put::DirectoryGone),
            Err(_) if path.symlink_metadata().is_ok_and(|m| m.is_dir()) => return Ok(Put::DirectoryThere),
            Err(e) => return Err(self.failed(key, "written", e.error)),
        }
        if self.fsync {
            sync_dir(&dir).map_err(|e| self.failed(key, "flushed to the disk (its directory)", e))?;
        }
        Ok(Put::Done)
    }

    fn remove(&self, key: &str, path: &Path) -> Result<(), StoreError> {
        match fs::remove_file(path) {
            Ok(()) => Ok(()),
            Err(e) if is_absent(&e) => Ok(()),
            Err(_) if path.symlink_metadata().is_ok_and(|m| m.is_dir()) => Ok(()),
            Err(e) => Err(self.failed(key, "deleted", e)),
        }
    }

    fn exists(&self, key: &str) -> StoreError {
        self.at(StoreError::new(StoreErrorKind::Exists, "the key exists already"), key)
    }
}

/// A file that is open: a put of its key replaces it by another file, which does not change this one.
struct OpenFile<'a> {
    fs: &'a Fs,
    key: String,
    file: File,
    meta: Metadata,
}

impl Opened for OpenFile<'_> {
    fn size(&self) -> u64 {
        self.meta.len()
    }
    fn version(&self) -> Option<String> {
        version(&self.meta)
    }
    fn read_at(&self, start: u64, out: &mut [u8]) -> Result<(), StoreError> {
        self.fs.read_into(&self.key, &self.file, start, out).map(|_| ())
    }
    /// Other programs may write into the file itself.
    fn unchanged(&self) -> Result<bool, StoreError> {
        let meta = self.file.metadata().map_err(|e| self.fs.failed(&self.key, "examined", e))?;
        Ok(version(&meta) == self.version())
    }
}

enum Put {
    Done,
    DirectoryGone,
    DirectoryThere,
}

impl Storage for Fs {
    fn describe(&self) -> String {
        self.root.display().to_string()
    }
    fn traits(&self) -> Traits {
        Traits { lists: true, writes: true, conditional: cfg!(unix), gap: GAP, concurrency: cores(), local: true }
    }
    fn get(&self, key: &str, range: Range) -> Got {
        match self.file(key)? {
            Some(file) => self.read_new(key, &file, range),
            None => Ok(None),
        }
    }
    fn read(&self, key: &str, room: &mut dyn Room) -> Result<bool, StoreError> {
        let Some(file) = self.file(key)? else { return Ok(false) };
        let Some((start, length)) = self.extent(key, &file, Range::All)? else { return Ok(false) };
        match room.give(length) {
            Some(out) => self.read_into(key, &file, start, out),
            None => Ok(true),
        }
    }
    fn get_into(&self, key: &str, start: u64, out: &mut [u8]) -> Result<bool, StoreError> {
        if out.is_empty() {
            return Ok(self.get(key, Range::Bounded { start, length: 0 })?.is_some());
        }
        match self.file(key)? {
            Some(file) => self.read_into(key, &file, start, out),
            None => Ok(false),
        }
    }
    fn open(&self, key: &str) -> Result<Option<Box<dyn Opened + '_>>, StoreError> {
        let Some(file) = self.file(key)? else { return Ok(None) };
        let meta = file.metadata().map_err(|e| self.failed(key, "examined", e))?;
        if !self.regular(key, &meta)? {
            return Ok(None);
        }
        Ok(Some(Box::new(OpenFile { fs: self, key: key.into(), file, meta })))
    }
    /// Neighbours of one key share one open file.
    fn get_many(&self, requests: &[Request], deliver: &(dyn Fn(usize, Got) + Sync)) {
        let mut opened: Option<(&str, File)> = None;
        for (i, r) in requests.iter().enumerate() {
            if opened.as_ref().is_none_or(|(key, _)| *key != r.key) {
                opened = match self.file(&r.key) {
                    Ok(Some(file)) => Some((&r.key, file)),
                    Ok(None) => {
                        opened = None;
                        deliver(i, Ok(None));
                        continue;
                    }
                    Err(e) => {
                        opened = None;
                        deliver(i, Err(e));
                        continue;
                    }
                };
            }
            if let Some((key, file)) = &opened {
                deliver(i, self.read_new(key, file, r.range));
            }
        }
    }
    fn stat(&self, key: &str) -> Result<Option<Stat>, StoreError> {
        let path = self.checked(key)?;
        match fs::metadata(&path) {
            Ok(meta) if self.regular(key, &meta)? => Ok(Some(Stat { size: meta.len(), version: version(&meta) })),
            Ok(_) => Ok(None),
            Err(e) if is_absent(&e) => Ok(None),
            Err(e) => Err(self.failed(key, "examined", e)),
        }
    }
    fn put(&self, key: &str, bytes: Bytes, condition: &Condition) -> Result<(), StoreError> {
        self.put_pieces(key, &[&bytes], condition)
    }
    fn put_pieces(&self, key: &str, pieces: &[&[u8]], condition: &Condition) -> Result<(), StoreError> {
        let path = self.checked(key)?;
        if *condition == Condition::Absent && path.symlink_metadata().is_ok_and(|m| !m.is_dir()) {
            return Err(self.exists(key));
        }
        for _ in 0..TRIES {
            match self.put_once(key, &path, pieces, condition)? {
                Put::Done => return Ok(()),
                Put::DirectoryGone => self.places.forget(),
                // Directories that hold nothing are no keys and must not be in the way of one.
                Put::DirectoryThere if walk::remove_empty(&path) => self.places.forget(),
                Put::DirectoryThere => {
                    let what = format!("{} is a directory with keys in it, so it cannot be a key itself", path.display());
                    return Err(self.at(StoreError::new(StoreErrorKind::Invalid, what), key));
                }
            }
        }
        let what = format!("the directory of {} was deleted {TRIES} times while it was written", path.display());
        Err(self.at(StoreError::new(StoreErrorKind::Failed, what), key))
    }
    fn delete(&self, key: &str) -> Result<(), StoreError> {
        let path = self.checked(key)?;
        let Some(dir) = self.places.parent(self, key, false)? else { return Ok(()) };
        let _held = hold(&path, Some(&dir));
        self.remove(key, &path)
    }
    fn delete_if(&self, key: &str, version: &str) -> Result<bool, StoreError> {
        let path = self.checked(key)?;
        let dir = self.places.parent(self, key, false)?;
        let _held = hold(&path, dir.as_deref());
        let now = self.stat(key)?.and_then(|s| s.version);
        check_condition(&Condition::Version(version.into()), now.as_deref()).map_err(|e| self.at(e, key))?;
        self.remove(key, &path).map(|()| true)
    }
    /// Links are removed, never followed, and count as one.
    fn delete_prefix(&self, prefix: &str) -> Result<u64, StoreError> {
        let prefix = self.prefix(prefix)?;
        if !prefix.is_empty() && self.places.parent(self, prefix, false)?.is_none() {
            return Ok(0);
        }
        let deleted = walk::delete_below(&self.path(prefix), prefix.is_empty());
        self.places.forget();
        deleted.map_err(|(path, e)| self.failed(&path, "deleted", e))
    }
    fn list(&self, prefix: &str) -> Result<Vec<(String, u64)>, StoreError> {
        let prefix = self.prefix(prefix)?;
        walk::list(&self.path(prefix), prefix).map_err(|(key, e)| self.failed(&key, "listed", e))
    }
    fn prefixes(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let prefix = self.prefix(prefix)?;
        let level = walk::level(&self.path(prefix), prefix).map_err(|(key, e)| self.failed(&key, "listed", e))?;
        Ok(level.prefixes)
    }
    fn keys(&self, prefix: &str) -> Result<Vec<String>, StoreError> {
        let prefix = self.prefix(prefix)?;
        walk::keys(&self.path(prefix), prefix).map_err(|(key, e)| self.failed(&key, "listed", e))
    }
    fn list_dir(&self, prefix: &str) -> Result<Listing, StoreError> {
        let prefix = self.prefix(prefix)?;
        walk::list_dir(&self.path(prefix), prefix).map_err(|(key, e)| self.failed(&key, "listed", e))
    }
}

/// Writes pieces one after the other, many with one system call.
fn write_pieces(file: &mut File, pieces: &[&[u8]]) -> io::Result<()> {
    // More than 1024 at once are refused on Linux.
    for some in pieces.chunks(1024) {
        let mut slices: Vec<IoSlice<'_>> = some.iter().map(|piece| IoSlice::new(piece)).collect();
        let mut left = &mut slices[..];
        IoSlice::advance_slices(&mut left, 0);
        while !left.is_empty() {
            match file.write_vectored(left) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => IoSlice::advance_slices(&mut left, n),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }
    Ok(())
}

/// Asked once: on Linux the answer takes reading several files below /proc and /sys, and a driver asks for every chunk.
fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, |n| n.get()))
}

/// Whether a directory entry is a temporary file of this store, finished or forgotten.
fn is_temp(name: &str) -> bool {
    name.len() >= TEMP.0.len() + TEMP.1.len() && name.starts_with(TEMP.0) && name.ends_with(TEMP.1)
}

/// Nothing there, or a file where a directory would have to be.
fn is_absent(e: &io::Error) -> bool {
    matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

pub(crate) fn temp_in(dir: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMP.0).suffix(TEMP.1).rand_bytes(12);
    // Temporary files are private by default; these become ordinary ones, as the umask allows.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(dir)
}

/// What a writer of one path holds while it compares and replaces.
struct Held {
    _process: MutexGuard<'static, ()>,
    /// The directory, locked against other processes until it is closed.
    _directory: Option<File>,
}

/// Makes writers of one path take turns, so that a version is compared and replaced in one step: a lock of this process, and an
/// advisory lock (`flock`) on the directory `dir` against other processes. That one leaves no file behind, and ends with its
/// holder whatever becomes of it. Where a directory cannot be locked (some network file systems), only writers of one process
/// take turns.
fn hold(path: &Path, dir: Option<&Path>) -> Held {
    Held { _process: lock(path), _directory: dir.and_then(lock_dir) }
}

#[cfg(unix)]
fn lock_dir(dir: &Path) -> Option<File> {
    let file = File::open(dir).ok()?;
    loop {
        match file.lock() {
            Ok(()) => return Some(file),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}
#[cfg(not(unix))]
fn lock_dir(_: &Path) -> Option<File> {
    None
}

/// A put and a delete of one path take turns within this process.
fn lock(path: &Path) -> MutexGuard<'static, ()> {
    use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
    static LOCKS: [Mutex<()>; 64] = [const { Mutex::new(()) }; 64];
    let hash = BuildHasherDefault::<DefaultHasher>::new().hash_one(path);
    LOCKS[hash as usize % LOCKS.len()].lock().unwrap_or_else(PoisonError::into_inner)
}

/// Size, time of change and, where there is one, the inode: every put makes a new file with a time of its own.
fn version(meta: &Metadata) -> Option<String> {
    let changed = meta.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    #[cfg(unix)]
    let inode = std::os::unix::fs::MetadataExt::ino(meta);
    #[cfg(not(unix))]
    let inode = 0;
    Some(format!("{:x}-{:x}-{inode:x}", meta.len(), changed.as_nanos()))
}

fn open_for_reading(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    // Opening a pipe waits for a writer, which may never come; with this flag it does not, and regular files do not mind.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    options.open(path)
}

#[cfg(unix)]
pub(crate) fn read_at(file: &File, out: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, out, at)
}
#[cfg(windows)]
pub(crate) fn read_at(file: &File, out: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, out, at)
}

/// Makes the names in a directory durable. Windows has no such thing to ask for.
pub(crate) fn sync_dir(dir: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(dir)?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests;
