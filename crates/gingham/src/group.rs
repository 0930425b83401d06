//! A group that is open, and walking a hierarchy.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use gingham_core::json::{Map, Value, to_text};
use gingham_core::meta::{self, Format};
use gingham_core::path::NodePath;
use gingham_store::{Condition, Range, Request, Store};
use rayon::prelude::*;

use crate::error::{Error, Kind, Result};
use crate::open::{self, located};
use crate::options::Consolidated;
use crate::{Array, Node, Options, create};

/// Documents that one worker reads at a time.
const SOME: usize = 32;

/// Deepest hierarchy that is walked; links that lead back up would else never end.
const MAX_DEPTH: usize = 64;

/// An open group.
#[derive(Debug, Clone)]
pub struct Group {
    store: Store,
    path: NodePath,
    meta: meta::Group,
    options: Options,
    warnings: Vec<String>,
    /// The group has no document of its own.
    implicit: bool,
    block: Option<Arc<meta::Consolidated>>,
}

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
        Group::open_with(store, path, &Options::default())
    }
    /// The same with options.
    pub fn open_with(store: &Store, path: &str, options: &Options) -> Result<Group> {
        match open::open(store, path, options)? {
            Node::Group(group) => Ok(group),
            Node::Array(array) => Err(Error::new(Kind::Invalid, "this is an array, not a group").at(|p| {
                p.store = Some(store.describe());
                p.node = Some(format!("/{}", array.path()));
            })),
        }
    }
    /// Creates a group, and its parents where they are absent. An existing node is an error of kind Exists.
    pub fn create(store: &Store, path: &str, format: Format, attributes: Map<String, Value>) -> Result<Group> {
        let at = NodePath::parse_new(path)?;
        create::prepare(store, &at, format, false)?;
        let meta = meta::Group::create(format, attributes);
        create::put_documents(store, at.as_str(), meta.documents())?;
        refresh_consolidated(store, at.as_str(), &meta::Node::Group(meta.clone()))?;
        Ok(Group::from_meta(store, &at, meta, &Options::default()))
    }
    pub(crate) fn from_meta(store: &Store, path: &NodePath, meta: meta::Group, options: &Options) -> Group {
        Group {
            store: store.clone(),
            path: path.clone(),
            meta,
            options: options.clone(),
            warnings: Vec::new(),
            implicit: false,
            block: None,
        }
    }
    /// A folder that holds nodes but no document.
    pub(crate) fn implicit(store: &Store, at: &NodePath, options: &Options) -> Result<Option<Group>> {
        let format = options.format.unwrap_or(Format::V3);
        let mut group = Group::from_meta(store, at, meta::Group::create(format, Map::new()), options);
        group.implicit = true;
        group.warnings.push("no group document here: the nodes below were found by listing".into());
        let found = group.children()?;
        Ok((!found.is_empty()).then_some(group))
    }
    /// A v2 root of which only `.zmetadata` is there.
    pub(crate) fn from_consolidated_only(store: &Store, at: &NodePath, options: &Options) -> Result<Option<Group>> {
        if options.consolidated == Consolidated::Never || options.format == Some(Format::V3) {
            return Ok(None);
        }
        let Some(block) = zmetadata(store, at)? else { return Ok(None) };
        let meta = match block.get("") {
            Some(Ok(meta::Node::Group(group))) => group.clone(),
            _ => meta::Group::create(Format::V2, Map::new()),
        };
        let mut group = Group::from_meta(store, at, meta, options);
        group.warnings.push("known from .zmetadata only".into());
        group.block = Some(Arc::new(block));
        Ok(Some(group))
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.store
    }
    /// The path, without slashes at either end.
    pub fn path(&self) -> &str {
        self.path.as_str()
    }
    /// The document.
    pub fn meta(&self) -> &meta::Group {
        &self.meta
    }
    /// What is odd but readable (no document of its own, nodes only known from the consolidated block, …).
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The consolidated block, where the options want one and there is one.
    fn block(&self) -> Result<Option<Arc<meta::Consolidated>>> {
        if self.options.consolidated == Consolidated::Never {
            return Ok(None);
        }
        if let Some(block) = &self.block {
            return Ok(Some(block.clone()));
        }
        let block = match self.meta.format() {
            Format::V3 => self.meta.consolidated().map_err(|e| located(e.into(), &self.store, &self.path))?,
            Format::V2 => zmetadata(&self.store, &self.path)?,
        };
        if block.is_none() && self.options.consolidated == Consolidated::Require {
            return Err(Error::new(Kind::NotFound, "this group has no consolidated metadata")
                .at(|p| {
                    p.store = Some(self.store.describe());
                    p.node = Some(self.path.to_string());
                })
                .with_hint("consolidate it, or let the hierarchy be listed"));
        }
        Ok(block.map(Arc::new))
    }

    /// Every node below, depth first, sorted by name; this group itself first. Where the store lists, the hierarchy is
    /// listed level by level and what only the consolidated block knows is added; where it cannot, the block is all there is.
    pub fn walk(&self) -> Result<Vec<Entry>> {
        let mut entries = self.below(MAX_DEPTH)?;
        entries.insert(0, Entry { path: self.path.as_str().into(), relative: String::new(), node: Ok(Node::Group(self.clone())) });
        Ok(entries)
    }
    /// The nodes directly below.
    pub fn children(&self) -> Result<Vec<Entry>> {
        self.below(1)
    }

    fn below(&self, depth: usize) -> Result<Vec<Entry>> {
        let mut found: BTreeMap<String, std::result::Result<Node, Error>> = BTreeMap::new();
        let block = self.block()?;
        let required = self.options.consolidated == Consolidated::Require;
        if self.store.traits().lists && !required {
            self.list_into(&mut found, depth)?;
        } else if block.is_none() {
            return Err(Error::new(
                Kind::Store,
                "what is in this group is not known: the store cannot be listed, and the group has no consolidated metadata",
            )
            .at(|p| {
                p.store = Some(self.store.describe());
                p.node = Some(self.path.to_string());
            })
            .with_hint("name an array by its own path, or consolidate the metadata where the hierarchy was written"));
        }
        // The block's documents are taken where nobody else has them: copies of 500 take as long as reading them.
        let nodes = block.map(|b| Arc::try_unwrap(b).map_or_else(|shared| shared.nodes.clone(), |block| block.nodes));
        for (path, node) in nodes.into_iter().flatten() {
            if path.is_empty() || path.split('/').count() > depth || found.contains_key(&path) {
                continue;
            }
            let Ok(at) = NodePath::parse(&format!("{}/{path}", self.path.as_str())) else { continue };
            let node = node.map_err(|e| located(e.into(), &self.store, &at));
            found.insert(path, node.and_then(|n| Node::from_meta(&self.store, &at, n, &self.options)));
        }
        let mut entries: Vec<Entry> = found
            .into_iter()
            .map(|(relative, node)| Entry {
                path: NodePath::parse(&format!("{}/{relative}", self.path.as_str())).unwrap_or_default().as_str().into(),
                relative,
                node,
            })
            .collect();
        entries.sort_by(|a, b| a.relative.split('/').cmp(b.relative.split('/')));
        Ok(entries)
    }

    /// Lists level by level; the documents of one level are fetched together.
    fn list_into(&self, found: &mut BTreeMap<String, std::result::Result<Node, Error>>, depth: usize) -> Result<()> {
        let mut level = vec![self.path.clone()];
        for _ in 0..depth {
            let mut candidates = Vec::new();
            for at in &level {
                candidates.extend(self.store.prefixes(at.as_str())?.into_iter().filter_map(|p| NodePath::parse(&p).ok()));
            }
            // v3 reserves names that start with two underscores; in v2 they are names like any other.
            let reserved = |name: &str| name.starts_with('.') || (self.meta.format() == Format::V3 && name.starts_with("__"));
            candidates.retain(|c| !reserved(c.name()));
            let documents = self.documents(&candidates);
            level.clear();
            for (at, node) in candidates.into_iter().zip(documents) {
                let relative = relative(&self.path, &at);
                match node {
                    Ok(None) => level.push(at),
                    Ok(Some(meta::Node::Array(array))) => {
                        found.insert(relative, Array::from_meta(&self.store, at.as_str(), array, &self.options).map(Node::Array));
                    }
                    Ok(Some(meta::Node::Group(group))) => {
                        found.insert(relative, Ok(Node::Group(Group::from_meta(&self.store, &at, group, &self.options))));
                        level.push(at);
                    }
                    Err(e) => {
                        found.insert(relative, Err(e));
                    }
                }
            }
            if level.is_empty() {
                break;
            }
        }
        Ok(())
    }

    /// The documents at many paths. Local ones are read and parsed by all workers; behind a network all are asked for at once.
    fn documents(&self, at: &[NodePath]) -> Vec<Result<Option<meta::Node>>> {
        if self.store.traits().local {
            at.par_chunks(SOME).flat_map_iter(|some| self.documents_of(some)).collect()
        } else {
            self.documents_of(at)
        }
    }

    /// First those of the format that the group has, then those of the other.
    fn documents_of(&self, at: &[NodePath]) -> Vec<Result<Option<meta::Node>>> {
        let mut order = vec!["zarr.json", ".zarray", ".zgroup"];
        if self.meta.format() == Format::V2 {
            order.rotate_left(1);
        }
        let mut out: Vec<Result<Option<meta::Node>>> = at.iter().map(|_| Ok(None)).collect();
        for name in order {
            let open: Vec<usize> = (0..at.len()).filter(|&i| matches!(out[i], Ok(None))).collect();
            let keys: Vec<String> = open.iter().map(|&i| at[i].key(name)).collect();
            let got = get_all(&self.store, keys);
            let with_attributes: Vec<usize> = (0..open.len()).filter(|&k| name != "zarr.json" && matches!(got[k], Ok(Some(_)))).collect();
            let attributes = get_all(&self.store, with_attributes.iter().map(|&k| at[open[k]].key(".zattrs")).collect());
            let mut attributes: BTreeMap<usize, _> = with_attributes.into_iter().zip(attributes).collect();
            for (k, bytes) in got.into_iter().enumerate() {
                let i = open[k];
                let node = bytes.and_then(|bytes| match bytes.filter(|b| !open::is_html(b)) {
                    None => Ok(None),
                    Some(bytes) if name == "zarr.json" => meta::Node::from_v3_bytes(&bytes).map(Some).map_err(Error::from),
                    Some(bytes) => {
                        let attributes = attributes.remove(&k).transpose()?.flatten();
                        open::v2_node(name, &bytes, attributes.as_deref()).map(Some)
                    }
                });
                out[i] = node.map_err(|e| located(e, &self.store, &at[i]));
            }
        }
        out
    }

    /// Other attributes.
    pub fn set_attributes(&mut self, attributes: Map<String, Value>) -> Result<()> {
        let mut meta = self.meta.clone();
        meta.set_attributes(attributes);
        create::put_documents(&self.store, self.path.as_str(), meta.documents())?;
        refresh_consolidated(&self.store, self.path.as_str(), &meta::Node::Group(meta.clone()))?;
        self.meta = meta;
        Ok(())
    }

    /// Writes consolidated metadata for this group and everything below it.
    pub fn consolidate(&mut self) -> Result<()> {
        let listed = Group { options: Options { consolidated: Consolidated::Never, ..self.options.clone() }, ..self.clone() };
        let mut nodes = Vec::new();
        for entry in listed.walk()? {
            let node = match entry.node? {
                Node::Array(array) => meta::Node::Array(array.meta().clone()),
                Node::Group(group) => meta::Node::Group(group.meta.clone()),
            };
            nodes.push((entry.relative, node));
        }
        match self.meta.format() {
            Format::V2 => {
                let text = to_text(&meta::consolidate_v2(&nodes));
                self.store.put(&self.path.key(".zmetadata"), text.into_bytes().into(), &Condition::Always)?;
            }
            Format::V3 => {
                nodes.retain(|(path, _)| !path.is_empty());
                self.meta.set_consolidated(Some(Value::Object(meta::consolidate_v3(&nodes))));
                create::put_documents(&self.store, self.path.as_str(), self.meta.documents())?;
            }
        }
        Ok(())
    }

    /// Where the consolidated block disagrees with the hierarchy: nodes that it lacks, nodes that are gone, documents that
    /// differ. A sentence each; empty where there is no block.
    pub fn stale_consolidated(&self) -> Result<Vec<String>> {
        let Some(block) = self.block()? else { return Ok(Vec::new()) };
        let listed = Group { options: Options { consolidated: Consolidated::Never, ..self.options.clone() }, block: None, ..self.clone() };
        let mut out = Vec::new();
        let mut seen = BTreeSet::new();
        for entry in listed.walk()?.into_iter().filter(|e| !e.relative.is_empty()) {
            seen.insert(entry.relative.clone());
            match (block.get(&entry.relative), &entry.node) {
                (None, _) => out.push(format!("/{} is not in the consolidated metadata", entry.relative)),
                (Some(Ok(meta::Node::Array(old))), Ok(Node::Array(new))) if old.document() != new.meta().document() => {
                    out.push(format!("/{} has another document than the consolidated metadata says", entry.relative));
                }
                (Some(Ok(meta::Node::Array(_))), Ok(Node::Group(_))) | (Some(Ok(meta::Node::Group(_))), Ok(Node::Array(_))) => {
                    out.push(format!("/{} is another kind of node than the consolidated metadata says", entry.relative));
                }
                _ => {}
            }
        }
        let gone = block.nodes.iter().filter(|(path, _)| !path.is_empty() && !seen.contains(path));
        out.extend(gone.map(|(path, _)| format!("/{path} is in the consolidated metadata only")));
        Ok(out)
    }
}

fn relative(root: &NodePath, at: &NodePath) -> String {
    at.as_str().strip_prefix(root.as_str()).unwrap_or(at.as_str()).trim_start_matches('/').to_string()
}

pub(crate) fn zmetadata(store: &Store, at: &NodePath) -> Result<Option<meta::Consolidated>> {
    let Some(bytes) = store.get(&at.key(".zmetadata"), Range::All)?.filter(|b| !open::is_html(b)) else { return Ok(None) };
    meta::Consolidated::from_zmetadata(&bytes).map(Some).map_err(|e| located(e.into(), store, at))
}

/// An object, where there is one.
type Document = Result<Option<Vec<u8>>>;

fn get_all(store: &Store, keys: Vec<String>) -> Vec<Document> {
    let requests: Vec<Request> = keys.into_iter().map(|key| Request { key, range: Range::All }).collect();
    let out: Vec<Mutex<Option<Document>>> = requests.iter().map(|_| Mutex::new(None)).collect();
    store.get_many(&requests, &|i, got| {
        if let Some(slot) = out.get(i) {
            *slot.lock().unwrap_or_else(|e| e.into_inner()) = Some(got.map(|b| b.map(|b| b.to_vec())).map_err(Error::from));
        }
    });
    out.into_iter()
        .map(|slot| slot.into_inner().unwrap_or_else(|e| e.into_inner()))
        .map(|got| got.unwrap_or_else(|| Err(Error::new(Kind::Store, "the store did not answer a request"))))
        .collect()
}

/// Sees to it that a group is at `at`, and at everything above it.
pub(crate) fn ensure(store: &Store, at: &NodePath, format: Format) -> Result<()> {
    let (document, other) = match format {
        Format::V3 => ("zarr.json", ".zgroup"),
        Format::V2 => (".zgroup", "zarr.json"),
    };
    if let Some(parent) = at.parent() {
        ensure(store, &parent, format)?;
    }
    if store.stat(&at.key(document))?.is_some() {
        let options = Options { format: Some(format), ..Options::default() };
        if let Some(meta::Node::Array(_)) = open::document(store, at, &options)? {
            return Err(Error::new(Kind::Invalid, "an array cannot hold other nodes").at(|p| {
                p.store = Some(store.describe());
                p.node = Some(at.to_string());
            }));
        }
        return Ok(());
    }
    if format == Format::V2 && store.stat(&at.key(".zarray"))?.is_some() {
        return Err(Error::new(Kind::Invalid, "an array cannot hold other nodes").at(|p| p.node = Some(at.to_string())));
    }
    if store.stat(&at.key(other))?.is_some() {
        return Err(Error::new(Kind::Invalid, "the group here is of the other format; formats are not mixed in one hierarchy").at(|p| {
            p.store = Some(store.describe());
            p.node = Some(at.to_string());
        }));
    }
    create::put_documents(store, at.as_str(), meta::Group::create(format, Map::new()).documents())
}

/// A node's document changed: consolidated blocks above that know the hierarchy are brought up to date, so that no reader
/// is shown the old one.
pub(crate) fn refresh_consolidated(store: &Store, path: &str, node: &meta::Node) -> Result<()> {
    let Ok(at) = NodePath::parse(path) else { return Ok(()) };
    let mut above = at.parent();
    while let Some(parent) = above {
        above = parent.parent();
        let has_block = match node.format() {
            Format::V2 => store.stat(&parent.key(".zmetadata"))?.is_some(),
            Format::V3 => {
                let options = Options { format: Some(Format::V3), ..Options::default() };
                match open::document(store, &parent, &options)? {
                    Some(meta::Node::Group(group)) => matches!(group.consolidated(), Ok(Some(_))),
                    _ => false,
                }
            }
        };
        if has_block && store.traits().lists {
            Group::open_with(
                store,
                parent.as_str(),
                &Options { format: Some(node.format()), consolidated: Consolidated::Never, ..Options::default() },
            )?
            .consolidate()?;
        }
    }
    Ok(())
}
