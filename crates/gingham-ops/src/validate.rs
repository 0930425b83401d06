//! Documents against the specification, stored keys against the grid, chunks against their codecs. All findings, not the first.

use gingham::{Node, Result};

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Severity {
    Warning,
    Error,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Node path, `""` for the root.
    pub path: String,
    /// The rule's short name: `orphan-key`, `other-separator`, `chunk-size`, `torn-shard`, `document`, `duplicate-key`, `stale-consolidated`, …
    pub rule: &'static str,
    /// Error or warning.
    pub severity: Severity,
    /// A sentence.
    pub what: String,
    /// The key concerned.
    pub key: Option<String>,
}

/// Checks a node and all below it. `data` also decodes every chunk. `found` is called for each finding as it turns up.
pub fn validate(node: &Node, data: bool, found: &mut dyn FnMut(Finding)) -> Result<()> {
    let _ = (node, data, found);
    todo!()
}
