//! Documents: what cannot be opened, what is odd, and what consolidated metadata says of them.

use std::collections::BTreeSet;

use gingham::core::path::NodePath;
use gingham::{Error, Format, Node, Result};

use super::{Findings, Opened};

/// All nodes that open, and the paths of those that do not (each a finding).
pub(super) fn walk(node: &Node, findings: &mut Findings<'_>) -> Result<(Vec<Opened>, BTreeSet<String>)> {
    let mut opened = Vec::new();
    let mut broken = BTreeSet::new();
    match node {
        Node::Array(array) => opened.push(Opened { path: array.path().into(), node: node.clone() }),
        Node::Group(group) => {
            for entry in group.walk()? {
                match entry.node {
                    Ok(node) => opened.push(Opened { path: entry.path, node }),
                    Err(e) => {
                        findings.error(&entry.path, "document", e.place().key.clone(), sentence(&e));
                        broken.insert(entry.path);
                    }
                }
            }
        }
    }
    Ok((opened, broken))
}

/// An error with its place in the document and its hint, as one sentence.
pub(super) fn sentence(e: &Error) -> String {
    let pointer = e.place().pointer.as_deref().filter(|p| !p.is_empty()).map(|p| format!(" (at {p})")).unwrap_or_default();
    let hint = e.hint().map(|h| format!("; {h}")).unwrap_or_default();
    format!("{e}{pointer}{hint}")
}

/// The rules for each node alone.
pub(super) fn check(opened: &[Opened], findings: &mut Findings<'_>) {
    for one in opened {
        let path = one.path.as_str();
        if let Err(e) = NodePath::parse_new(path) {
            findings.warning(path, "node-name", None, e.to_string());
        }
        match &one.node {
            Node::Array(array) => {
                findings.summary.arrays += 1;
                let meta = array.meta();
                if let Some(problem) = meta.problem() {
                    findings.error(path, "unsupported", None, format!("{} (at {})", problem.what, problem.pointer));
                }
                for what in meta.warnings() {
                    findings.warning(path, "document", None, what.clone());
                }
            }
            Node::Group(group) => {
                findings.summary.groups += 1;
                for what in group.warnings() {
                    findings.warning(path, "implicit-group", None, what.clone());
                }
                if group.store().traits().lists {
                    consolidated(one, findings);
                }
            }
        }
    }
}

/// Where a consolidated block disagrees with the documents that it stands for.
fn consolidated(one: &Opened, findings: &mut Findings<'_>) {
    let Some(group) = one.group() else { return };
    // Only v3 tells without a request whether there is a block; v2's is looked for at every group.
    if group.meta().format() == Format::V3 && matches!(group.meta().consolidated(), Ok(None)) {
        return;
    }
    match group.stale_consolidated() {
        Ok(stale) => stale.into_iter().for_each(|what| findings.warning(&one.path, "stale-consolidated", None, what)),
        Err(e) => findings.error(&one.path, "document", e.place().key.clone(), sentence(&e)),
    }
}
