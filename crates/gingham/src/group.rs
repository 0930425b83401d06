//! A group that is open, and walking a hierarchy.

use gingham_core::json::{Map, Value};
use gingham_core::meta::{self, Format};
use gingham_store::Store;

use crate::{Error, Node, Options, Result};

/// An open group.
#[derive(Debug, Clone)]
pub struct Group {}

/// One node of a hierarchy as it was found. A node whose document is refused is listed with its error; the walk goes on.
#[derive(Debug)]
pub struct Entry {
    /// Path in the store, without slashes at either end; `""` for the root.
    pub path: String,
    /// Path relative to the group that was walked; `""` for the group itself.
    pub relative: String,
    /// The node, or why it cannot be opened.
    pub node: std::result::Result<Node, Error>,
}

impl Group {
    /// Opens the group at `path`.
    pub fn open(store: &Store, path: &str) -> Result<Group> {
        todo!()
    }
    /// The same with options.
    pub fn open_with(store: &Store, path: &str, options: &Options) -> Result<Group> {
        todo!()
    }
    /// Creates a group, and its parents where they are absent. An existing group is an error of kind Exists.
    pub fn create(store: &Store, path: &str, format: Format, attributes: Map<String, Value>) -> Result<Group> {
        todo!()
    }
    /// The store.
    pub fn store(&self) -> &Store {
        todo!()
    }
    /// The path, without slashes at either end.
    pub fn path(&self) -> &str {
        todo!()
    }
    /// The document.
    pub fn meta(&self) -> &meta::Group {
        todo!()
    }
    /// Every node below, depth first, sorted by name; this group itself first. One listing request per level where the
    /// store lists; the consolidated block where it does not.
    pub fn walk(&self) -> Result<Vec<Entry>> {
        todo!()
    }
    /// The nodes directly below.
    pub fn children(&self) -> Result<Vec<Entry>> {
        todo!()
    }
    /// Other attributes.
    pub fn set_attributes(&mut self, attributes: Map<String, Value>) -> Result<()> {
        todo!()
    }
    /// Writes consolidated metadata for this group and everything below it.
    pub fn consolidate(&mut self) -> Result<()> {
        todo!()
    }
    /// Where the consolidated block disagrees with the hierarchy: nodes that it lacks, nodes that are gone, documents that differ.
    pub fn stale_consolidated(&self) -> Result<Vec<String>> {
        todo!()
    }
    /// What is odd but readable (both formats side by side, nodes only known from the consolidated block, …).
    pub fn warnings(&self) -> &[String] {
        todo!()
    }
}
