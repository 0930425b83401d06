//! Documents against the specification, stored keys against the grid, chunks against their codecs. All findings, not the first.
//!
//! ```text
//!   walk ──► documents of every node          (nodes)
//!   list ──► keys: whose, and inside its grid? (keys)
//!            objects: long enough, and do they decode?  (objects)
//! ```

mod keys;
mod nodes;
mod objects;

use gingham::{Array, Group, Node, Result};

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
    /// The rule's short name: `document`, `unsupported`, `node-name`, `both-kinds`, `both-formats`, `stale-consolidated`,
    /// `unreachable-node`, `node-in-array`, `implicit-group`, `duplicate-key`, `other-separator`, `orphan-key`, `foreign-key`,
    /// `chunk-size`, `torn-shard`, `shard-overlap`, `shard-slack`, `checksum`, `decode`, `store`, `not-listed`.
    pub rule: &'static str,
    /// Error or warning.
    pub severity: Severity,
    /// A sentence.
    pub what: String,
    /// The key concerned.
    pub key: Option<String>,
}

/// What was looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    /// Groups that could be opened.
    pub groups: u64,
    /// Arrays that could be opened.
    pub arrays: u64,
    /// Stored objects (chunks or shards) inside the arrays' grids.
    pub stored: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Objects of the grids that are not stored (they hold the fill value); saturating.
    pub missing: u64,
    /// Findings that are errors.
    pub errors: u64,
    /// Findings that are warnings.
    pub warnings: u64,
}

/// Takes findings in and counts them.
pub(crate) struct Findings<'a> {
    found: &'a mut dyn FnMut(Finding),
    summary: Summary,
}

impl Findings<'_> {
    fn add(&mut self, finding: Finding) {
        match finding.severity {
            Severity::Error => self.summary.errors += 1,
            Severity::Warning => self.summary.warnings += 1,
        }
        (self.found)(finding);
    }
    fn error(&mut self, path: &str, rule: &'static str, key: Option<String>, what: impl Into<String>) {
        self.add(Finding { path: path.into(), rule, severity: Severity::Error, what: what.into(), key });
    }
    fn warning(&mut self, path: &str, rule: &'static str, key: Option<String>, what: impl Into<String>) {
        self.add(Finding { path: path.into(), rule, severity: Severity::Warning, what: what.into(), key });
    }
}

/// A node that could be opened.
struct Opened {
    path: String,
    node: Node,
}

impl Opened {
    fn array(&self) -> Option<&Array> {
        match &self.node {
            Node::Array(a) => Some(a),
            Node::Group(_) => None,
        }
    }
    fn group(&self) -> Option<&Group> {
        match &self.node {
            Node::Group(g) => Some(g),
            Node::Array(_) => None,
        }
    }
}

/// Checks a node and all below it. `data` also decodes every chunk. `found` is called for each finding as it turns up.
///
/// # Errors
/// Only where the hierarchy cannot be looked at at all (it cannot be listed); everything else is a finding.
///
/// ```
/// use gingham::{Array, DataType, Grid, NewArray, Node, Store, store::memory::Memory};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let array = Array::create(&Store::new(Memory::new()), "", NewArray::new(DataType::UInt8, Grid::regular(&[3], &[2])?))?;
/// let summary = gingham_ops::validate::validate(&Node::Array(array), true, &mut |finding| println!("{}", finding.what))?;
/// assert_eq!((summary.errors, summary.missing), (0, 2));
/// # Ok(())
/// # }
/// ```
pub fn validate(node: &Node, data: bool, found: &mut dyn FnMut(Finding)) -> Result<Summary> {
    let mut findings = Findings { found, summary: Summary::default() };
    let store = match node {
        Node::Array(a) => a.store().clone(),
        Node::Group(g) => g.store().clone(),
    };
    let (opened, broken) = nodes::walk(node, &mut findings)?;
    nodes::check(&opened, &mut findings);
    if store.traits().lists {
        let root = opened.first().map_or("", |o| o.path.as_str());
        let objects = keys::check(&store, root, &opened, &broken, &mut findings)?;
        for (array, stored) in objects {
            objects::check(array, &stored, data, &mut findings);
        }
    } else {
        for array in opened.iter().filter_map(Opened::array) {
            objects::check_unlisted(array, data, &mut findings);
        }
    }
    Ok(findings.summary)
}
