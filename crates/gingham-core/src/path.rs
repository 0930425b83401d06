//! Node paths and names (Zarr v3 core, "Node names").

/// A node's path in a hierarchy: no leading or trailing slash, `""` for the root.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct NodePath(String);

/// Why a path or name is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{path}\" cannot name a node: {why}")]
pub struct PathError {
    /// The path as given.
    pub path: String,
    /// The rule that it breaks.
    pub why: &'static str,
}

impl NodePath {
    /// The root.
    pub fn root() -> Self {
        NodePath(String::new())
    }
    /// Reads a path as users write it (leading, trailing and repeated slashes are dropped); `.` and `..` are refused.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        let _ = text;
        todo!()
    }
    /// Like [`NodePath::parse`], with the rules for names that may be created: not only periods, no `__` prefix, not `zarr.json`.
    pub fn parse_new(text: &str) -> Result<Self, PathError> {
        let _ = text;
        todo!()
    }
    /// The text, without leading or trailing slash.
    pub fn as_str(&self) -> &str {
        &self.0
    }
    /// True for the root.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }
    /// The last segment, `""` for the root.
    pub fn name(&self) -> &str {
        todo!()
    }
    /// The parent, or `None` for the root.
    pub fn parent(&self) -> Option<NodePath> {
        todo!()
    }
    /// A child by name (the name is taken as it is).
    pub fn join(&self, name: &str) -> NodePath {
        let _ = name;
        todo!()
    }
    /// The store key of `name` in this node: `a/b` + `zarr.json` -> `a/b/zarr.json`.
    pub fn key(&self, name: &str) -> String {
        let _ = name;
        todo!()
    }
}

impl std::fmt::Display for NodePath {
    /// With a leading slash: `/a/b`, `/` for the root.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "/{}", self.0)
    }
}
