//! Stored keys: each belongs to a node and is a document or an object of its grid, or is a finding.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use gingham::core::key::KeyEncoding;
use gingham::core::path::NodePath;
use gingham::store::zip::Zip;
use gingham::{Array, Result, Store};

use super::{Findings, Opened};
use crate::separator::{Stored, effective, misnamed};

/// The documents that make a place a node.
const NODE_DOCUMENTS: [&str; 3] = ["zarr.json", ".zarray", ".zgroup"];
/// The documents beside them.
const BESIDE: [&str; 2] = [".zattrs", ".zmetadata"];

/// A stored object of an array's grid.
pub(super) struct Object {
    pub chunk: Vec<u64>,
    pub key: String,
    pub size: u64,
}

/// Keys below an array: relative to it, with their sizes.
type Keys = Vec<(String, u64)>;

/// Checks all keys below `root`; gives the objects of each array.
pub(super) fn check<'a>(
    store: &Store,
    root: &str,
    opened: &'a [Opened],
    broken: &BTreeSet<String>,
    findings: &mut Findings<'_>,
) -> Result<Vec<(&'a Array, Vec<Object>)>> {
    let keys = store.list(root)?;
    archive(store, findings);
    let documents = documents(&keys);
    let nodes: BTreeMap<&str, &Opened> = opened.iter().map(|o| (o.path.as_str(), o)).collect();
    let strays = strays(&documents, &nodes, broken, findings);
    side_by_side(&documents, findings);

    let mut of_array: BTreeMap<&str, Keys> = opened.iter().filter(|o| o.array().is_some()).map(|o| (o.path.as_str(), Vec::new())).collect();
    for (key, size) in keys {
        let (folder, name) = key.rsplit_once('/').unwrap_or(("", &key));
        let is_document = |d: &[&str]| documents.contains_key(folder) && d.contains(&name);
        if is_document(&NODE_DOCUMENTS) || is_document(&BESIDE) {
            continue;
        }
        let Some(owner) = ancestors(folder).find(|p| nodes.contains_key(p) || strays.contains(*p) || broken.contains(*p)) else {
            findings.warning(root, "foreign-key", Some(key.clone()), format!("{key} belongs to no node"));
            continue;
        };
        if let Some(list) = of_array.get_mut(owner) {
            let relative = if owner.is_empty() { key.as_str() } else { &key[owner.len() + 1..] };
            list.push((relative.to_string(), size));
        } else if nodes.contains_key(owner) && !name.is_empty() {
            findings.warning(owner, "foreign-key", Some(key.clone()), format!("{key} is neither a document nor part of an array"));
        }
    }
    Ok(opened
        .iter()
        .filter_map(|o| o.array().map(|array| (array, o.path.as_str())))
        .map(|(array, path)| (array, objects(array, path, of_array.remove(path).unwrap_or_default(), findings)))
        .collect())
}

/// A folder and those above it, the root last.
fn ancestors(folder: &str) -> impl Iterator<Item = &str> {
    let mut next = Some(folder);
    std::iter::from_fn(move || {
        let at = next?;
        next = (!at.is_empty()).then(|| at.rsplit_once('/').map_or("", |(parent, _)| parent));
        Some(at)
    })
}

/// What an archive's directory holds beside keys: names that occur twice, of which readers take one or the other, and names
/// that are no keys. Only an archive in a local file is looked into, since a store does not tell.
fn archive(store: &Store, findings: &mut Findings<'_>) {
    let place = store.describe();
    let path = Path::new(place.strip_prefix("file://").unwrap_or(&place));
    let (true, Some(folder), Some(name)) = (path.is_file(), path.parent(), path.file_name()) else { return };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let Ok(zip) = Store::open(&folder.to_string_lossy()).and_then(|folder| Zip::open(folder, &name.to_string_lossy())) else { return };
    for key in zip.duplicates() {
        findings.warning(
            "",
            "duplicate-key",
            Some(key.clone()),
            format!("the archive holds {key} more than once; the last counts here, other readers may differ"),
        );
    }
    for name in zip.ignored() {
        findings.warning("", "foreign-key", Some(name.clone()), format!("the archive holds {name:?}, which is no key and is passed over"));
    }
}

/// The node documents of each folder.
fn documents(keys: &[(String, u64)]) -> BTreeMap<String, BTreeSet<String>> {
    let mut out: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (key, _) in keys {
        let (folder, name) = key.rsplit_once('/').unwrap_or(("", key));
        if NODE_DOCUMENTS.contains(&name) {
            out.entry(folder.to_string()).or_default().insert(name.to_string());
        }
    }
    out
}

/// Folders with documents that the walk did not reach.
fn strays(
    documents: &BTreeMap<String, BTreeSet<String>>,
    nodes: &BTreeMap<&str, &Opened>,
    broken: &BTreeSet<String>,
    findings: &mut Findings<'_>,
) -> BTreeSet<String> {
    let mut strays = BTreeSet::new();
    for (folder, names) in documents {
        if nodes.contains_key(folder.as_str()) || broken.contains(folder) {
            continue;
        }
        strays.insert(folder.clone());
        let key = names.first().and_then(|name| NodePath::parse(folder).ok().map(|p| p.key(name)));
        if ancestors(folder).skip(1).any(|p| strays.contains(p) || broken.contains(p)) {
            continue;
        }
        match ancestors(folder).skip(1).find_map(|p| nodes.get(p)) {
            Some(above) if above.array().is_some() => {
                let what = format!("the node /{folder} lies in the array /{}; arrays have no nodes below them", above.path);
                findings.error(folder, "node-in-array", key, what);
            }
            _ => findings.warning(
                folder,
                "unreachable-node",
                key,
                format!("/{folder} has a document, but listing from the root does not reach it"),
            ),
        }
    }
    strays
}

/// Documents that contradict each other at one place.
fn side_by_side(documents: &BTreeMap<String, BTreeSet<String>>, findings: &mut Findings<'_>) {
    for (folder, names) in documents {
        let has = |name: &str| names.contains(name);
        if has(".zarray") && has(".zgroup") {
            findings.error(
                folder,
                "both-kinds",
                None,
                format!("/{folder} has both .zarray and .zgroup: it cannot be an array and a group"),
            );
        }
        if has("zarr.json") && (has(".zarray") || has(".zgroup")) {
            findings.warning(
                folder,
                "both-formats",
                None,
                format!("/{folder} has documents of format 2 and of format 3; readers of each see their own"),
            );
        }
    }
}

/// Sorts an array's keys into objects of its grid and findings.
fn objects(array: &Array, path: &str, keys: Keys, findings: &mut Findings<'_>) -> Vec<Object> {
    let encoding = effective(array);
    let ndim = array.shape().len();
    let full = |relative: &str| if path.is_empty() { relative.to_string() } else { format!("{path}/{relative}") };
    let mut objects = Vec::new();
    let mut others = Vec::new();
    for (relative, size) in keys {
        match encoding.decode(&relative, ndim) {
            Some(chunk) if array.grid().contains(&chunk) => objects.push(Object { chunk: chunk.to_vec(), key: full(&relative), size }),
            Some(chunk) => {
                let counts = array.grid().chunk_counts();
                let what = format!("{relative} is chunk {:?}, outside the grid of {:?} chunks; it is never read", &chunk[..], &counts[..]);
                findings.warning(path, "orphan-key", Some(full(&relative)), what);
            }
            None => others.push((relative, size)),
        }
    }
    report_others(array, path, &encoding, &objects, others, findings);
    findings.summary.stored += objects.len() as u64;
    findings.summary.bytes = objects.iter().fold(findings.summary.bytes, |n, o| n.saturating_add(o.size));
    let missing = array.grid().chunk_count().unwrap_or(u64::MAX).saturating_sub(objects.len() as u64);
    findings.summary.missing = findings.summary.missing.saturating_add(missing);
    objects
}

/// Keys that the document's encoding never writes: chunks under the other separator, or files of another kind.
fn report_others(array: &Array, path: &str, encoding: &KeyEncoding, objects: &[Object], others: Keys, findings: &mut Findings<'_>) {
    let mut stored: Vec<Stored> = objects.iter().map(|o| (o.key.clone(), Some(o.chunk.clone()), o.size)).collect();
    stored.extend(others.iter().map(|(key, size)| (key.clone(), None, *size)));
    let found = misnamed(array, &stored);
    if let Some(found) = &found {
        let key = Some(if path.is_empty() { found.example.clone() } else { format!("{path}/{}", found.example) });
        let hint = if found.named == 0 { "; readers that follow the document see nothing but the fill value" } else { "" };
        let what = format!("{}{hint}", found.sentence());
        match found.named {
            0 => findings.error(path, "other-separator", key, what),
            _ => findings.warning(path, "other-separator", key, what),
        }
    }
    let swapped = crate::separator::swapped(encoding).filter(|_| found.is_some());
    for (relative, _) in others {
        let explained = swapped.as_ref().is_some_and(|(e, ..)| e.decode(&relative, array.shape().len()).is_some());
        if !explained {
            let key = if path.is_empty() { relative.clone() } else { format!("{path}/{relative}") };
            findings.warning(path, "foreign-key", Some(key), format!("{relative} is neither a document nor a chunk of this array"));
        }
    }
}
