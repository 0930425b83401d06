//! Node paths and names (Zarr v3 core, "Node names").

/// A node's path in a hierarchy: no leading or trailing slash, `""` for the root.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct NodePath(String);

/// Why a path or name is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path:?} cannot name a node: {why}")]
pub struct PathError {
    /// The path as given.
    pub path: String,
    /// The rule that it breaks.
    pub why: &'static str,
}

/// Names that documents have in a node's folder, and so a child cannot.
const DOCUMENTS: [&str; 5] = ["zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata"];

impl NodePath {
    /// The root.
    pub fn root() -> Self {
        NodePath(String::new())
    }
    /// Reads a path as users write it (leading, trailing and repeated slashes are dropped); `.` and `..` are refused.
    ///
    /// ```
    /// use gingham_core::path::NodePath;
    /// let path = NodePath::parse("/a//b/").unwrap();
    /// assert_eq!(path.as_str(), "a/b");
    /// assert_eq!(path.key("zarr.json"), "a/b/zarr.json");
    /// ```
    pub fn parse(text: &str) -> Result<Self, PathError> {
        let refuse = |why| PathError { path: text.to_string(), why };
        let mut path = String::with_capacity(text.len());
        for segment in text.split('/').filter(|s| !s.is_empty()) {
            if segment == "." || segment == ".." {
                return Err(refuse("the segments \".\" and \"..\" would leave the hierarchy"));
            }
            if segment.contains('\0') {
                return Err(refuse("it holds a NUL character"));
            }
            if !path.is_empty() {
                path.push('/');
            }
            path.push_str(segment);
        }
        Ok(NodePath(path))
    }
    /// Like [`NodePath::parse`], with the rules for names that may be created: not only periods, no `__` prefix, and no
    /// name of a document (`zarr.json`, `.zarray`, …).
    pub fn parse_new(text: &str) -> Result<Self, PathError> {
        let path = NodePath::parse(text)?;
        let refuse = |why| Err(PathError { path: text.to_string(), why });
        for segment in path.segments() {
            if segment.bytes().all(|b| b == b'.') {
                return refuse("a name must not consist of periods only");
            }
            if segment.starts_with("__") {
                return refuse("names that begin with \"__\" are reserved");
            }
            if DOCUMENTS.contains(&segment) {
                return refuse("a name must not be that of a document");
            }
        }
        Ok(path)
    }
    /// The text, without leading or trailing slash.
    pub fn as_str(&self) -> &str {
        &self.0
    }
    /// True for the root.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }
    /// The names from the root down; none for the root.
    pub fn segments(&self) -> impl Iterator<Item = &str> {
        self.0.split('/').filter(|s| !s.is_empty())
    }
    /// The last segment, `""` for the root.
    pub fn name(&self) -> &str {
        self.0.rsplit_once('/').map_or(self.as_str(), |(_, name)| name)
    }
    /// The parent, or `None` for the root.
    pub fn parent(&self) -> Option<NodePath> {
        if self.is_root() {
            return None;
        }
        Some(NodePath(self.0.rsplit_once('/').map_or(String::new(), |(parent, _)| parent.to_string())))
    }
    /// A child by name (the name is taken as it is).
    pub fn join(&self, name: &str) -> NodePath {
        NodePath(self.key(name))
    }
    /// The store key of `name` in this node: `a/b` + `zarr.json` -> `a/b/zarr.json`.
    pub fn key(&self, name: &str) -> String {
        if self.is_root() { name.to_string() } else { format!("{}/{name}", self.0) }
    }
}

impl std::fmt::Display for NodePath {
    /// With a leading slash: `/a/b`, `/` for the root.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "/{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn users_paths() {
        for (text, path) in [("", ""), ("/", ""), ("//a///b/", "a/b"), ("a/b", "a/b"), ("é/…/x y", "é/…/x y"), ("__zarr", "__zarr")] {
            assert_eq!(NodePath::parse(text).unwrap().as_str(), path);
        }
        for text in [".", "..", "a/../b", "a/./b", "/..", "a\0b"] {
            assert!(NodePath::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn names_that_may_be_created() {
        for text in ["...", "a/....", "__x", "a/__zarr", "zarr.json", "a/zarr.json/b", ".zarray", ".."] {
            assert!(NodePath::parse_new(text).is_err(), "{text:?}");
        }
        for text in ["a", "_x", "a.b", ".hidden", "Ω/日本"] {
            assert!(NodePath::parse_new(text).is_ok(), "{text:?}");
        }
        let error = NodePath::parse_new("a/__b").unwrap_err();
        assert_eq!(error.to_string(), "\"a/__b\" cannot name a node: names that begin with \"__\" are reserved");
    }

    #[test]
    fn names_parents_and_keys() {
        let path = NodePath::parse("a/b/c").unwrap();
        assert_eq!(path.name(), "c");
        assert_eq!(path.parent().unwrap().as_str(), "a/b");
        assert_eq!(NodePath::parse("a").unwrap().parent(), Some(NodePath::root()));
        assert_eq!(NodePath::root().parent(), None);
        assert_eq!(NodePath::root().name(), "");
        assert_eq!(NodePath::root().key("zarr.json"), "zarr.json");
        assert_eq!(path.key("c/0"), "a/b/c/c/0");
        assert_eq!(NodePath::root().join("a").join("b").to_string(), "/a/b");
        assert_eq!(NodePath::root().to_string(), "/");
    }
}
