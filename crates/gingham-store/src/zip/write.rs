//! Writing a new archive: entries are appended to a temporary file beside the target, which takes the target's place at the end.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;

use super::directory::{print_central, print_end, print_local};
use crate::fs::{read_at, sync_dir, temp_in};
use crate::memory::check_condition;
use crate::range::{below, buffer, check_key, check_prefix, drop_markers, level};
use crate::*;

/// The most bytes that a name has.
const LONGEST_NAME: usize = 0xffff;

/// Up to here a copy costs less than a second write.
const ONE_WRITE: u64 = 16 << 10;

/// A new zip archive of stored entries.
///
/// Until [`Storage::finish`] the target is as it was; dropped before, nothing of the new archive is left. Of two puts of one key
/// the last counts, and the other takes no space in the end. After it, puts and deletes are refused; gets go on.
#[derive(Debug)]
pub struct ZipWriter {
    target: PathBuf,
    shown: String,
    fsync: bool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: Place,
    /// Where the next entry goes.
    end: u64,
    /// Bytes of entries that were replaced or deleted.
    dead: u64,
    entries: BTreeMap<String, Written>,
}

#[derive(Debug)]
enum Place {
    Open(NamedTempFile),
    Finished(File),
}

#[derive(Debug, Clone, Copy)]
struct Written {
    header: u64,
    data: u64,
    size: u64,
    crc: u32,
}

impl ZipWriter {
    /// A new archive that will be at `target`, in place of what may be there. The directories of `target` are made.
    pub fn create(target: impl AsRef<Path>) -> Result<Self, StoreError> {
        let shown = target.as_ref().display().to_string();
        let failed = |e: io::Error| {
            let what = format!("{shown} cannot be written: {e}");
            StoreError::new(StoreErrorKind::Failed, what).at(&shown, "").caused_by(e)
        };
        let target = std::path::absolute(target.as_ref()).map_err(failed)?;
        if target.is_dir() {
            let what = format!("{shown} is a directory and cannot become a zip archive");
            return Err(StoreError::new(StoreErrorKind::Invalid, what).at(&shown, ""));
        }
        let dir = target.parent().unwrap_or(&target);
        std::fs::create_dir_all(dir).map_err(failed)?;
        let file = Place::Open(temp_in(dir).map_err(failed)?);
        let state = Mutex::new(State { file, end: 0, dead: 0, entries: BTreeMap::new() });
        Ok(ZipWriter { target, shown, fsync: false, state })
    }

    /// Whether the archive is flushed to the disk before it takes its place. Default: no.
    pub fn fsync(mut self, fsync: bool) -> Self {
        self.fsync = fsync;
        self
    }

    // What a panic leaves half written lies behind `end` and is written over.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn checked(&self, key: &str) -> Result<(), StoreError> {
        check_key(key).map_err(|e| e.at(&self.shown, key))?;
        let what = match key {
            _ if key.len() > LONGEST_NAME => {
                format!("a key of {} bytes is too long for a zip archive, which has {LONGEST_NAME}", key.len())
            }
            _ if key.contains('\\') => format!("{key:?} holds a backslash, which zip archives take for a separator"),
            _ => return Ok(()),
        };
        Err(StoreError::new(StoreErrorKind::Invalid, what).at(&self.shown, key))
    }

    fn failed(&self, key: &str, e: io::Error) -> StoreError {
        let what = format!("{} could not be written: {e}", self.shown);
        StoreError::new(StoreErrorKind::Failed, what).at(&self.shown, key).caused_by(e)
    }

    fn finished(&self, key: &str) -> StoreError {
        StoreError::new(StoreErrorKind::Unsupported, "the zip archive is finished and cannot be changed").at(&self.shown, key)
    }

    fn read(&self, state: &State, key: &str, range: Range) -> Got {
        let Some(w) = state.entries.get(key) else { return Ok(None) };
        let (start, length) = range.within(w.size).map_err(|e| e.at(&self.shown, key))?;
        let mut bytes = buffer(length).map_err(|e| e.at(&self.shown, key))?;
        bytes.resize(length as usize, 0);
        read_whole(state.file(), &mut bytes, w.data + start).map_err(|e| self.failed(key, e))?;
        Ok(Some(bytes.into()))
    }
}

impl State {
    fn file(&self) -> &File {
        match &self.file {
            Place::Open(temp) => temp.as_file(),
            Place::Finished(file) => file,
        }
    }

    fn forget(&mut self, key: &str) {
        if let Some(old) = self.entries.remove(key) {
            self.dead += old.data - old.header + old.size;
        }
    }

    /// Copies what counts to another file, so that what was replaced takes no space.
    fn compacted(&self, dir: &Path) -> io::Result<(NamedTempFile, BTreeMap<String, Written>, u64)> {
        let (mut to, mut from, mut end) = (temp_in(dir)?, self.file(), 0);
        let mut entries = self.entries.clone();
        let mut order: Vec<&mut Written> = entries.values_mut().collect();
        order.sort_by_key(|w| w.header);
        for w in order {
            let length = w.data - w.header + w.size;
            from.seek(SeekFrom::Start(w.header))?;
            if io::copy(&mut from.take(length), &mut to)? < length {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            (w.data, w.header) = (end + (w.data - w.header), end);
            end += length;
        }
        Ok((to, entries, end))
    }
}

impl Storage for ZipWriter {
    fn describe(&self) -> String {
        self.shown.clone()
    }
    fn traits(&self) -> Traits {
        Traits { lists: true, writes: true, conditional: true, gap: 8 << 10, concurrency: 1, local: true }
    }
    fn get(&self, key: &str, range: Range) -> Got {
        self.checked(key)?;
        self.read(&self.state(), key, range)
    }
    fn stat(&self, key: &str) -> Result<Option<Stat>, StoreError> {
        self.checked(key)?;
        Ok(self.state().entries.get(key).map(|w| Stat { size: w.size, version: Some(version(w)) }))
    }
    fn put(&self, key: &str, bytes: Bytes, condition: &Condition) -> Result<(), StoreError> {
        self.checked(key)?;
        let (size, crc) = (bytes.len() as u64, crc32fast::hash(&bytes));
        let head = print_local(key, size, crc);
        let mut state = self.state();
        let now = state.entries.get(key).map(version);
        check_condition(condition, now.as_deref()).map_err(|e| e.at(&self.shown, key))?;
        let header = state.end;
        let Place::Open(temp) = &mut state.file else { return Err(self.finished(key)) };
        let data = header + head.len() as u64;
        // A put that failed may have left bytes behind the end.
        let mut write = |head: &[u8], bytes: &[u8]| {
            temp.seek(SeekFrom::Start(header))?;
            temp.write_all(head)?;
            temp.write_all(bytes)
        };
        let written = if size <= ONE_WRITE { write(&[&head[..], &bytes].concat(), &[]) } else { write(&head, &bytes) };
        written.map_err(|e| self.failed(key, e))?;
        state.end = data + size;
        state.forget(key);
        state.entries.insert(key.into(), Written { header, data, size, crc });
        Ok(())
    }
    fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.checked(key)?;
        let mut state = self.state();
        if matches!(state.file, Place::Finished(_)) {
            return Err(self.finished(key));
        }
        state.forget(key);
        Ok(())
    }
    fn delete_prefix(&self, prefix: &str) -> Result<u64, StoreError> {
        let bare = check_prefix(prefix).map_err(|e| e.at(&self.shown, prefix))?;
        let mut state = self.state();
        if matches!(state.file, Place::Finished(_)) {
            return Err(self.finished(prefix));
        }
        let keys: Vec<String> = state.entries.keys().filter(|key| below(key, bare).is_some()).cloned().collect();
        keys.iter().for_each(|key| state.forget(key));
        Ok(keys.len() as u64)
    }
    fn list(&self, prefix: &str) -> Result<Vec<(String, u64)>, StoreError> {
        let bare = check_prefix(prefix).map_err(|e| e.at(&self.shown, prefix))?;
        let state = self.state();
        let mut out = state.entries.iter().filter(|(key, _)| below(key, bare).is_some()).map(|(key, w)| (key.clone(), w.size)).collect();
        drop_markers(&mut out);
        Ok(out)
    }
    fn list_dir(&self, prefix: &str) -> Result<Listing, StoreError> {
        let keys = self.list(prefix)?;
        Ok(level(keys.iter().map(|(key, _)| key.as_str()), prefix.trim_end_matches('/')))
    }
    /// Writes the directory and puts the archive in its place. A second call does nothing.
    fn finish(&self) -> Result<(), StoreError> {
        let failed = |e| self.failed("", e);
        let mut state = self.state();
        if matches!(state.file, Place::Finished(_)) {
            return Ok(());
        }
        let dir = self.target.parent().unwrap_or(&self.target);
        if state.dead > 0 {
            let (file, entries, end) = state.compacted(dir).map_err(failed)?;
            *state = State { file: Place::Open(file), end, dead: 0, entries };
        }
        let mut directory = Vec::new();
        for (key, w) in &state.entries {
            print_central(&mut directory, key, w.size, w.crc, w.header);
        }
        let (entries, size, end) = (state.entries.len() as u64, directory.len() as u64, state.end);
        print_end(&mut directory, entries, size, end);
        let Place::Open(temp) = &mut state.file else { return Ok(()) };
        temp.seek(SeekFrom::Start(end)).and_then(|_| temp.write_all(&directory)).map_err(failed)?;
        let length = end + directory.len() as u64;
        temp.as_file().set_len(length).map_err(failed)?;
        if self.fsync {
            temp.as_file().sync_all().map_err(failed)?;
        }
        // The handle stays for gets; where the rename fails, the archive stays open and finish may be called again.
        let kept = temp.as_file().try_clone().map_err(failed)?;
        let Place::Open(temp) = std::mem::replace(&mut state.file, Place::Finished(kept)) else { return Ok(()) };
        if let Err(e) = temp.persist(&self.target) {
            state.file = Place::Open(e.file);
            return Err(failed(e.error));
        }
        if self.fsync {
            sync_dir(dir).map_err(failed)?;
        }
        Ok(())
    }
}

/// Each put has a place of its own.
fn version(w: &Written) -> String {
    format!("{:x}-{:08x}", w.header, w.crc)
}

fn read_whole(file: &File, mut out: &mut [u8], mut at: u64) -> io::Result<()> {
    while !out.is_empty() {
        match read_at(file, out, at) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(n) => (out, at) = (&mut out[n..], at + n as u64),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}
