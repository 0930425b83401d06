//! What lies at a place: an array, a group, or neither.

use gingham_core::json::{Map, Value, parse_object};
use gingham_core::meta::{self, Format};
use gingham_core::path::NodePath;
use gingham_store::{Range, Store};

use crate::error::{Error, Kind, Result};
use crate::options::Consolidated;
use crate::{Array, Group, Options};

/// A node that is open.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub enum Node {
    Array(Array),
    Group(Group),
}

impl Node {
    /// The node's path in its store, without slashes at either end.
    pub fn path(&self) -> &str {
        match self {
            Node::Array(array) => array.path(),
            Node::Group(group) => group.path(),
        }
    }
    /// The store it lies in.
    pub fn store(&self) -> &Store {
        match self {
            Node::Array(array) => array.store(),
            Node::Group(group) => group.store(),
        }
    }
    pub(crate) fn from_meta(store: &Store, path: &NodePath, node: meta::Node, options: &Options) -> Result<Node> {
        Ok(match node {
            meta::Node::Array(array) => Node::Array(Array::from_meta(store, path.as_str(), array, options)?),
            meta::Node::Group(group) => Node::Group(Group::from_meta(store, path, group, options)),
        })
    }
}

/// Opens whatever node is at `path` (`""` for the root). v3 is looked for first. Costs one request for v3, and two for v2
/// where [`Options::format`] says so (else one more, for the v3 document that is not there).
pub fn open(store: &Store, path: &str, options: &Options) -> Result<Node> {
    let at = NodePath::parse(path)?;
    match document(store, &at, options)? {
        Some(node) => Node::from_meta(store, &at, node, options),
        None => match implicit(store, &at, options)? {
            Some(group) => Ok(Node::Group(group)),
            None => Err(nothing(store, &at, options)),
        },
    }
}

fn nothing(store: &Store, at: &NodePath, options: &Options) -> Error {
    let names = match options.format {
        None => "zarr.json, .zarray and .zgroup",
        Some(Format::V3) => "zarr.json",
        Some(Format::V2) => ".zarray and .zgroup",
    };
    Error::new(Kind::NotFound, "there is no Zarr array or group here")
        .at(|p| {
            p.store = Some(store.describe());
            p.node = Some(at.to_string());
        })
        .with_hint(format!("looked for {names}"))
}

/// The node's document, where it has one.
pub(crate) fn document(store: &Store, at: &NodePath, options: &Options) -> Result<Option<meta::Node>> {
    if options.format != Some(Format::V2)
        && let Some(bytes) = get(store, at, "zarr.json")?
        && !is_html(&bytes)
    {
        return meta::Node::from_v3_bytes(&bytes).map(Some).map_err(|e| located(e.into(), store, at));
    }
    if options.format == Some(Format::V3) {
        return Ok(None);
    }
    for name in [".zarray", ".zgroup"] {
        let Some(bytes) = get(store, at, name)?.filter(|b| !is_html(b)) else { continue };
        let attributes = get(store, at, ".zattrs")?.filter(|b| !is_html(b));
        return v2_node(name, &bytes, attributes.as_deref()).map(Some).map_err(|e| located(e, store, at));
    }
    Ok(None)
}

/// Reads a v2 node from its documents.
pub(crate) fn v2_node(name: &'static str, bytes: &[u8], attributes: Option<&[u8]>) -> Result<meta::Node> {
    let object = |bytes: &[u8], name: &str| -> Result<Map<String, Value>> {
        parse_object(bytes, true).map_err(|e| Error::new(Kind::Metadata, e.to_string()).at(|p| p.key = Some(name.to_string())))
    };
    let document = object(bytes, name)?;
    let attributes = attributes.map(|b| object(b, ".zattrs")).transpose()?;
    Ok(match name {
        ".zarray" => meta::Node::Array(meta::Array::from_v2(document, attributes)?),
        _ => meta::Node::Group(meta::Group::from_v2(document, attributes)?),
    })
}

/// Some servers answer absent keys with a page that says so.
pub(crate) fn is_html(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().first() == Some(&b'<')
}

/// Turns the document's name into a key of the store.
pub(crate) fn located(error: Error, store: &Store, at: &NodePath) -> Error {
    let name = error.place().key.clone();
    error.rekey(name.map(|n| at.key(&n))).at(|p| {
        p.store = Some(store.describe());
        p.node = Some(at.to_string());
    })
}

fn get(store: &Store, at: &NodePath, name: &str) -> Result<Option<Vec<u8>>> {
    let got = store.get(&at.key(name), Range::All);
    Ok(got.map_err(|e| Error::from(e).at(|p| p.node = Some(at.to_string())))?.map(|b| b.to_vec()))
}

/// A folder without a document of its own that holds nodes is shown as a group, with a word about it.
fn implicit(store: &Store, at: &NodePath, options: &Options) -> Result<Option<Group>> {
    if let Some(group) = Group::from_consolidated_only(store, at, options)? {
        return Ok(Some(group));
    }
    if !store.traits().lists || options.consolidated == Consolidated::Require {
        return Ok(None);
    }
    Group::implicit(store, at, options)
}

/// Opens a path or URL whose end may lie inside a hierarchy: `data.zarr/group/array`. `store_options` says how to reach it.
/// Returns the store, opened at the location itself, and the node.
pub fn open_url(location: &str, store_options: &gingham_store::Options, options: &Options) -> Result<(Store, Node)> {
    let store = gingham_store::open_with(location, store_options)?;
    let node = open(&store, "", options)?;
    Ok((store, node))
}
