//! Real stores written by other projects: every array must hash to what the reference readers decoded.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use gingham::core::json::Value;
use gingham::{Array, Node, Options};
use gingham_ops::checksum::Checksum;

fn corpus() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let there = root.join("index.jsonl").is_file();
    if !there {
        eprintln!("skipped: no corpus at {}", root.display());
    }
    there.then_some(root)
}

/// What hashing every array of a store gave.
#[derive(Default)]
struct Rows {
    good: BTreeMap<String, Checksum>,
    bad: BTreeMap<String, String>,
    /// The store as a whole did not open, or could not be walked.
    failed: Option<String>,
}

impl Rows {
    fn errors(&self) -> bool {
        self.failed.is_some() || !self.bad.is_empty()
    }
}

fn hash_all(path: &Path) -> Rows {
    let mut rows = Rows::default();
    let node = match gingham::open_url(&path.to_string_lossy(), &gingham::store::Options::default(), &Options::default()) {
        Ok((_, node)) => node,
        Err(e) => {
            rows.failed = Some(e.to_string());
            return rows;
        }
    };
    let hash = |rows: &mut Rows, name: String, array: &Array| match Checksum::of(array, &|_| {}) {
        Ok(sum) => drop(rows.good.insert(name, sum)),
        Err(e) => drop(rows.bad.insert(name, e.to_string())),
    };
    match &node {
        Node::Array(array) => hash(&mut rows, String::new(), array),
        Node::Group(group) => match group.walk() {
            Err(e) => rows.failed = Some(e.to_string()),
            Ok(entries) => {
                for entry in entries {
                    match &entry.node {
                        Ok(Node::Array(array)) => hash(&mut rows, entry.relative, array),
                        Ok(Node::Group(_)) => {}
                        Err(e) => drop(rows.bad.insert(entry.relative, e.to_string())),
                    }
                }
            }
        },
    }
    rows
}

/// A row by its name, or by its name below the folder that an archive has all its members in.
fn find<'a, T>(rows: &'a BTreeMap<String, T>, name: &str, entry: &Value) -> Option<&'a T> {
    let below = || entry["zip_prefix"].as_str().map(|p| format!("{p}/{name}").trim_matches('/').to_string());
    rows.get(name).or_else(|| rows.get(&below()?))
}

fn wrong_values(entry: &Value, rows: &Rows) -> Vec<String> {
    let oracle = &entry["oracle"];
    let Some(variables) = oracle["variables"].as_object() else { return Vec::new() };
    let mut out = Vec::new();
    for (name, want) in variables.iter().filter(|(name, _)| oracle["errors"].get(name.as_str()).is_none()) {
        let either = |member: &str| if want[member].is_null() { want["patched"][member].clone() } else { want[member].clone() };
        let (sha256, shape) = (either("sha256"), either("shape"));
        let Some(row) = find(&rows.good, name, entry) else {
            if !sha256.is_null() || !want["shape"].is_null() {
                let why = find(&rows.bad, name, entry).cloned().or_else(|| rows.failed.clone()).unwrap_or_else(|| "not listed".into());
                out.push(format!("/{name}: {why}"));
            }
            continue;
        };
        if !shape.is_null() && shape != Value::from(row.shape.clone()) {
            out.push(format!("/{name}: shape {:?} instead of {shape}", row.shape));
        } else if sha256.as_str().is_some_and(|s| s != row.sha256) && want["lossy"].is_null() {
            out.push(format!("/{name}: other values ({}, {})", want["dtype"], want["sha256_of"]));
        }
    }
    out
}

/// A variable that the reference reader could not read, and that we neither reported nor read as another decoder did.
fn silent(entry: &Value, rows: &Rows) -> Option<String> {
    let oracle = &entry["oracle"];
    let unread = oracle["errors"].as_object()?.keys();
    let known = |name: &&String| {
        let other = oracle["variables"][name.as_str()]["patched"]["sha256"].as_str();
        find(&rows.bad, name, entry).is_some() || find(&rows.good, name, entry).is_some_and(|row| Some(row.sha256.as_str()) == other)
    };
    if rows.failed.is_some() { None } else { unread.into_iter().find(|name| !known(name)).cloned() }
}

/// What is wrong, if anything.
fn judge(entry: &Value, root: &Path) -> Option<String> {
    let path = root.join(entry["path"].as_str()?);
    let Ok(rows) = catch_unwind(AssertUnwindSafe(|| hash_all(&path))) else { return Some("panicked".into()) };
    let wrong = wrong_values(entry, &rows);
    let joined = (!wrong.is_empty()).then(|| wrong.join("; "));
    match entry["oracle"]["expect"].as_str().unwrap_or("values") {
        "error" => (!rows.errors()).then(|| "no error was reported".into()),
        "either" | "unsupported" => joined.filter(|_| !rows.errors()),
        "metadata" => None,
        "invalid_ome" if entry["oracle"]["variables"].as_object().is_none_or(|v| v.is_empty()) => None,
        "partial" => joined.or_else(|| silent(entry, &rows).map(|name| format!("/{name} cannot be read, and that was not reported"))),
        _ => joined,
    }
}

#[test]
fn every_array_has_the_values_that_the_reference_readers_decoded() {
    let Some(root) = corpus() else { return };
    let index = std::fs::read_to_string(root.join("index.jsonl")).unwrap();
    let entries: Vec<Value> = index.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let ours: Vec<&Value> = entries.iter().filter(|e| matches!(e["kind"].as_str(), Some("zarr" | "ome"))).collect();
    assert!(!ours.is_empty());
    let failures: Vec<String> = ours
        .iter()
        .filter_map(|e| {
            judge(e, &root)
                .map(|why| format!("{} [{}]: {why}", e["id"].as_str().unwrap_or(""), e["oracle"]["expect"].as_str().unwrap_or("")))
        })
        .collect();
    eprintln!("{} of {} stores hold", ours.len() - failures.len(), ours.len());
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}
