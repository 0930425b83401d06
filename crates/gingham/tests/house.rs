//! The arrows between rooms: what each crate may know of the others.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::process::Command;

/// Room -> rooms that it may import. A new arrow is a decision, made in ARCHITECTURE.md first.
const ARROWS: &[(&str, &[&str])] = &[
    ("gingham-core", &[]),
    ("gingham-codec", &["gingham-core"]),
    ("gingham-store", &[]),
    ("gingham", &["gingham-core", "gingham-codec", "gingham-store"]),
    ("gingham-ops", &["gingham"]),
    ("gingham-cli", &["gingham", "gingham-ops"]),
];

#[test]
fn rooms_import_only_what_lies_below() {
    let output = Command::new(env!("CARGO")).args(["metadata", "--no-deps", "--format-version", "1"]).output().unwrap();
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let allowed: BTreeMap<&str, &[&str]> = ARROWS.iter().copied().collect();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() >= 6, "the workspace has its rooms");
    for package in packages {
        let name = package["name"].as_str().unwrap();
        let allowed = allowed.get(name).unwrap_or_else(|| panic!("{name} is a room that ARCHITECTURE.md does not know"));
        for dependency in package["dependencies"].as_array().unwrap() {
            let on = dependency["name"].as_str().unwrap();
            assert!(!on.starts_with("gingham") || allowed.contains(&on), "{name} imports {on}, which it may not");
        }
    }
}

#[test]
fn core_knows_no_input_output_and_no_threads() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../gingham-core/src");
    let mut files = vec![root.clone()];
    let mut read = 0;
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(std::fs::read_dir(path).unwrap().map(|e| e.unwrap().path()));
            continue;
        }
        let below = path.strip_prefix(&root).unwrap();
        if below.components().any(|c| matches!(c.as_os_str().to_str(), Some("tests.rs" | "tests"))) {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        read += 1;
        for word in ["std::fs", "std::net", "std::thread", "std::env", "unsafe {", "unsafe fn"] {
            assert!(!code.contains(word), "{} uses {word}", path.display());
        }
    }
    assert!(read > 10);
}
