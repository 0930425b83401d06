//! The place that is written to: what is there already, and what gets there.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use gingham::core::json::{Value, to_text};
use gingham::core::key::KeyEncoding;
use gingham::core::path::NodePath;
use gingham::store::{
    Bytes, Condition, Got, Listing, Opened, Pending, Range, Request, Room, Stat, Storage, StoreError, StoreErrorKind, Traits,
};
use gingham::{Error, Kind, Result, Store};

/// The documents that make a place a node.
const DOCUMENTS: [&str; 3] = ["zarr.json", ".zarray", ".zgroup"];

/// What was put through a [`Counted`] store.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub objects: AtomicU64,
    pub bytes: AtomicU64,
}

/// A store that counts what is put into it.
#[derive(Debug)]
pub(super) struct Counted {
    inner: Store,
    tally: Arc<Tally>,
}

impl Counted {
    pub(super) fn around(inner: &Store, tally: &Arc<Tally>) -> Store {
        Store::new(Counted { inner: inner.clone(), tally: tally.clone() })
    }
}

impl Storage for Counted {
    fn describe(&self) -> String {
        self.inner.describe()
    }
    fn traits(&self) -> Traits {
        self.inner.traits()
    }
    fn get(&self, key: &str, range: Range) -> Got {
        self.inner.get(key, range)
    }
    fn get_into(&self, key: &str, start: u64, out: &mut [u8]) -> std::result::Result<bool, StoreError> {
        self.inner.get_into(key, start, out)
    }
    fn read(&self, key: &str, room: &mut dyn Room) -> std::result::Result<bool, StoreError> {
        self.inner.read(key, room)
    }
    fn open(&self, key: &str) -> std::result::Result<Option<Box<dyn Opened + '_>>, StoreError> {
        self.inner.open(key)
    }
    fn start_get(&self, key: &str, range: Range) -> Option<Pending> {
        self.inner.start_get(key, range)
    }
    fn finish(&self) -> std::result::Result<(), StoreError> {
        self.inner.finish()
    }
    fn get_many(&self, requests: &[Request], deliver: &(dyn Fn(usize, Got) + Sync)) {
        self.inner.get_many(requests, deliver);
    }
    fn stat(&self, key: &str) -> std::result::Result<Option<Stat>, StoreError> {
        self.inner.stat(key)
    }
    fn put(&self, key: &str, bytes: Bytes, condition: &Condition) -> std::result::Result<(), StoreError> {
        self.put_pieces(key, &[&bytes], condition)
    }
    fn put_pieces(&self, key: &str, pieces: &[&[u8]], condition: &Condition) -> std::result::Result<(), StoreError> {
        let size = pieces.iter().map(|p| p.len() as u64).sum();
        self.inner.put_pieces(key, pieces, condition)?;
        self.tally.objects.fetch_add(1, Ordering::Relaxed);
        self.tally.bytes.fetch_add(size, Ordering::Relaxed);
        Ok(())
    }
    fn delete(&self, key: &str) -> std::result::Result<(), StoreError> {
        self.inner.delete(key)
    }
    fn delete_prefix(&self, prefix: &str) -> std::result::Result<u64, StoreError> {
        self.inner.delete_prefix(prefix)
    }
    fn list(&self, prefix: &str) -> std::result::Result<Vec<(String, u64)>, StoreError> {
        self.inner.list(prefix)
    }
    fn list_dir(&self, prefix: &str) -> std::result::Result<Listing, StoreError> {
        self.inner.list_dir(prefix)
    }
}

/// Refuses a target that is the source, lies in it or holds it.
pub(super) fn apart(source: &Store, path: &str, target: &Store) -> Result<()> {
    let (from, to) = (source.describe(), target.describe());
    let same = if from.starts_with("memory:") || to.starts_with("memory:") {
        // All stores in memory are called alike: the same only where they are the same object.
        std::ptr::addr_eq(std::ptr::from_ref(&**source), std::ptr::from_ref(&**target))
    } else {
        let from = location(&format!("{}/{path}", from.trim_end_matches('/')));
        let to = location(&to);
        let within = |inner: &str, outer: &str| inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        within(&from, &to) || within(&to, &from)
    };
    if !same {
        return Ok(());
    }
    Err(Error::new(Kind::Invalid, format!("the target {to} and the source {from} are the same place, or one lies in the other"))
        .with_hint("write to a place of its own, and move it afterwards"))
}

/// A place in one spelling: paths absolute, links followed as far as the path exists, no slash at the end.
fn location(text: &str) -> String {
    let path = text.strip_prefix("file://").unwrap_or(text);
    if path.contains("://") {
        return path.trim_end_matches('/').to_string();
    }
    let mut there = std::path::PathBuf::from(path.trim_end_matches('/'));
    let mut below = Vec::new();
    loop {
        if let Ok(real) = there.canonicalize() {
            let mut out = real;
            out.extend(below.iter().rev());
            return out.to_string_lossy().trim_end_matches('/').to_string();
        }
        match (there.file_name().map(std::ffi::OsStr::to_os_string), there.parent().map(std::path::Path::to_path_buf)) {
            (Some(name), Some(parent)) => {
                below.push(name);
                there = if parent.as_os_str().is_empty() { std::path::PathBuf::from(".") } else { parent };
            }
            _ => return path.trim_end_matches('/').to_string(),
        }
    }
}

/// A node that will be written.
pub(super) struct Coming<'a> {
    pub path: &'a str,
    pub is_array: bool,
}

/// Sees to it that the target is free: an error where something is there, unless it may be replaced.
pub(super) fn make_room(target: &Store, nodes: &[Coming<'_>], overwrite: bool) -> Result<()> {
    let root_documents = documents_at(target, "")?;
    let first = if target.traits().lists { first_key(target)? } else { None };
    if root_documents.is_empty() && first.is_none() {
        return Ok(());
    }
    if !overwrite {
        let place = target.describe();
        let what = match (root_documents.first(), first) {
            (None, Some(key)) => format!("{place} is not empty: it holds {key}, without being an array or a group"),
            _ => format!("{place} is a node already"),
        };
        return Err(Error::new(Kind::Exists, what).with_hint("choose another place, or allow overwriting"));
    }
    // Documents go first: a reader never sees an array of which half is gone.
    for key in &root_documents {
        target.delete(key)?;
    }
    if !root_documents.is_empty() {
        target.delete_prefix("")?;
        return Ok(());
    }
    for node in nodes {
        for key in documents_at(target, node.path)? {
            target.delete(&key)?;
        }
        if node.is_array && node.path.is_empty() {
            delete_chunks(target)?;
        } else if node.is_array {
            target.delete_prefix(node.path)?;
        }
    }
    Ok(())
}

fn documents_at(target: &Store, path: &str) -> Result<Vec<String>> {
    let node = NodePath::parse(path)?;
    let mut found = Vec::new();
    for key in DOCUMENTS.map(|name| node.key(name)) {
        if target.stat(&key)?.is_some() {
            found.push(key);
        }
    }
    Ok(found)
}

/// Some key of the target, `None` where there is none or the place itself does not exist yet.
fn first_key(target: &Store) -> Result<Option<String>> {
    match target.list_dir("") {
        Ok(listing) => Ok(listing.keys.into_iter().next().or_else(|| listing.prefixes.into_iter().next())),
        Err(e) if e.kind == StoreErrorKind::NotFound => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// Deletes what an interrupted conversion of a lone array left at the root: keys that chunks have, and nothing else.
fn delete_chunks(target: &Store) -> Result<()> {
    let spellings = ['/', '.'].map(|separator| [KeyEncoding::Default { separator }, KeyEncoding::V2 { separator }]);
    for (key, _) in target.list("")? {
        let axes = key.split(['/', '.']).count();
        if spellings.iter().flatten().any(|e| e.decode(&key, axes).is_some() || e.decode(&key, axes - 1).is_some()) {
            target.delete(&key)?;
        }
    }
    Ok(())
}

/// Puts a node's documents, the one that makes it a node last.
pub(super) fn put_documents(target: &Store, path: &str, documents: &[(&'static str, Value)]) -> Result<()> {
    let node = NodePath::parse(path)?;
    let (main, beside): (Vec<_>, Vec<_>) = documents.iter().partition(|(name, _)| DOCUMENTS.contains(name));
    for (name, value) in beside.into_iter().chain(main) {
        target.put(&node.key(name), Bytes::from(to_text(value)), &Condition::Always)?;
    }
    Ok(())
}
