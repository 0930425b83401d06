//! Consolidated metadata of both formats (format.md 1.9 and 2.1).

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::model::{Array, Format, Group, MetaError, Node};
use super::{v2, v3};
use crate::extension::brief;
use crate::json::{Map, Value, pointer_step, read_object};
use crate::path::NodePath;
use serde_json::json;

/// The member of a v3 group that holds the block.
pub(super) const MEMBER: &str = "consolidated_metadata";
const ZMETADATA: &str = ".zmetadata";

/// The nodes below a group, read from its consolidated block. Paths are relative to that group, without slashes at either end.
#[derive(Debug, Clone, Default)]
pub struct Consolidated {
    /// Path -> node, or why its document is refused; sorted by path. v2 lists the group itself too, under `""`.
    pub nodes: Vec<(String, Result<Node, MetaError>)>,
    /// What is odd (keys with a leading slash, a missing must_understand, …).
    pub warnings: Vec<String>,
}

/// The documents of one v2 node.
#[derive(Default)]
struct V2Node {
    array: Option<Value>,
    group: Option<Value>,
    attributes: Option<Value>,
}

impl Consolidated {
    /// Reads v2's `.zmetadata`.
    pub fn from_zmetadata(bytes: &[u8]) -> Result<Self, MetaError> {
        let error = |pointer: &str, what: String| MetaError::new(ZMETADATA, pointer, what);
        let read = read_object(bytes, true).map_err(|e| error("", e.to_string()))?;
        let mut warnings: Vec<String> =
            read.bare_tokens.iter().map(|token| format!("{ZMETADATA} has the bare token {token}, which is not JSON")).collect();
        let mut document = read.object;
        match document.get("zarr_consolidated_format") {
            Some(format) if format.as_u64() == Some(1) => {}
            Some(other) => {
                return Err(error("/zarr_consolidated_format", format!("zarr_consolidated_format must be 1, not {}", brief(other))));
            }
            // kerchunk's reference sets leave it out.
            None => warnings.push(format!("{ZMETADATA} lacks \"zarr_consolidated_format\": 1")),
        }
        let metadata = match document.remove("metadata") {
            Some(Value::Object(metadata)) => metadata,
            Some(other) => return Err(error("/metadata", format!("metadata must be an object, not {}", brief(&other)))),
            None => return Err(error("", "the document has no member \"metadata\"".into())),
        };
        let mut nodes: BTreeMap<String, V2Node> = BTreeMap::new();
        for (key, value) in metadata {
            let (path, name) = key.rsplit_once('/').unwrap_or(("", &key));
            if ![v2::ARRAY, v2::GROUP, v2::ATTRIBUTES].contains(&name) {
                warnings.push(format!("the entry {} names no document and is ignored", quoted(&key)));
                continue;
            }
            let Some(path) = relative(path, &key, &mut warnings) else { continue };
            let node = nodes.entry(path).or_default();
            let slot = match name {
                v2::ARRAY => &mut node.array,
                v2::GROUP => &mut node.group,
                _ => &mut node.attributes,
            };
            if slot.is_some() {
                warnings.push(format!("the entry {} stands twice; the first is taken", quoted(&key)));
            } else {
                *slot = Some(value);
            }
        }
        let nodes = nodes.into_iter().filter_map(|(path, node)| {
            let Some(read) = node.read() else {
                warnings.push(format!("{} has attributes, but neither array nor group, and is ignored", quoted(&path)));
                return None;
            };
            Some((path, read))
        });
        Ok(Consolidated { nodes: nodes.collect(), warnings })
    }

    /// Reads v3's inline block (the value of `consolidated_metadata`).
    pub fn from_v3_block(block: &Value) -> Result<Self, MetaError> {
        let mut warnings = Vec::new();
        let Value::Object(members) = block else {
            return Err(v3::error("", format!("{MEMBER} must be an object, not {}", brief(block))));
        };
        match members.get("kind") {
            Some(Value::String(kind)) if kind == "inline" => {}
            Some(other) => {
                return Err(v3::error("/kind", format!("the kind of {MEMBER} must be \"inline\", not {}", brief(other))).unsupported());
            }
            None => return Err(v3::error("", format!("{MEMBER} has no member \"kind\""))),
        }
        match members.get("must_understand") {
            Some(Value::Bool(false)) => {}
            None => warnings.push(format!("{MEMBER} lacks \"must_understand\": false")),
            Some(other) => {
                return Err(v3::error("/must_understand", format!("must_understand of {MEMBER} must be false, not {}", brief(other))));
            }
        }
        let metadata = match members.get("metadata") {
            Some(Value::Object(metadata)) => metadata,
            Some(other) => return Err(v3::error("/metadata", format!("metadata must be an object, not {}", brief(other)))),
            None => return Err(v3::error("", format!("{MEMBER} has no member \"metadata\""))),
        };
        let mut nodes = BTreeMap::new();
        for (key, value) in metadata {
            let Some(path) = relative(key, key, &mut warnings) else { continue };
            if path.is_empty() {
                warnings.push("the group's own document stands in its consolidated block and is ignored".into());
                continue;
            }
            match nodes.entry(path) {
                Entry::Occupied(_) => warnings.push(format!("the entry {} stands twice; the first is taken", quoted(key))),
                Entry::Vacant(vacant) => {
                    let pointer = format!("/metadata{}", pointer_step(key));
                    let node = inline_node(value, &mut warnings, vacant.key());
                    vacant.insert(node.map_err(|e| MetaError { pointer: format!("{pointer}{}", e.pointer), ..e }));
                }
            }
        }
        Ok(Consolidated { nodes: nodes.into_iter().collect(), warnings })
    }

    /// The node at a path.
    pub fn get(&self, path: &str) -> Option<&Result<Node, MetaError>> {
        self.nodes.binary_search_by(|(p, _)| p.as_str().cmp(path)).ok().map(|i| &self.nodes[i].1)
    }
}

fn quoted(text: &str) -> String {
    brief(&Value::from(text))
}

/// True for a block of a kind that is not known and that says that it may be ignored.
pub(super) fn is_ignorable(block: &Value) -> bool {
    let is_inline = block.get("kind").is_some_and(|kind| kind == "inline");
    block.is_object() && !is_inline && block.get("must_understand") == Some(&Value::Bool(false))
}

/// A node's path from a key, which some writers begin with a slash; `None` for one that cannot be a path.
fn relative(path: &str, key: &str, warnings: &mut Vec<String>) -> Option<String> {
    match NodePath::parse(path) {
        Ok(parsed) => {
            if parsed.as_str() != path || (path.is_empty() && key.starts_with('/')) {
                warnings.push(format!("the key {} has slashes that do not belong there", quoted(key)));
            }
            Some(parsed.as_str().to_string())
        }
        Err(error) => {
            warnings.push(format!("an entry is ignored: {error}"));
            None
        }
    }
}

impl V2Node {
    /// The node, or `None` where there are only attributes.
    fn read(self) -> Option<Result<Node, MetaError>> {
        let object = |value: Value, name: &'static str| match value {
            Value::Object(object) => Ok(object),
            other => Err(MetaError::new(name, "", format!("the document must be an object, not {}", brief(&other)))),
        };
        let attributes = self.attributes.map(|a| object(a, v2::ATTRIBUTES)).transpose();
        Some(match (self.array, self.group) {
            (None, None) => return None,
            (Some(_), Some(_)) => Err(MetaError::new(v2::ARRAY, "", "both an array and a group have this path")),
            (Some(array), None) => attributes.and_then(|attributes| Array::from_v2(object(array, v2::ARRAY)?, attributes)).map(Node::Array),
            (None, Some(group)) => attributes.and_then(|attributes| Group::from_v2(object(group, v2::GROUP)?, attributes)).map(Node::Group),
        })
    }
}

/// A complete document of a v3 block: v3's, or zarr-python's form of a v2 one with the attributes in it.
fn inline_node(value: &Value, warnings: &mut Vec<String>, path: &str) -> Result<Node, MetaError> {
    let Value::Object(document) = value else {
        return Err(v3::error("", format!("a document must be an object, not {}", brief(value))));
    };
    let mut document = document.clone();
    // The summary that a child had of its own is taken out: it is empty, or older than the one that it stands in.
    let nested = document.shift_remove(MEMBER);
    if nested.as_ref().and_then(|block| block.get("metadata")).and_then(Value::as_object).is_some_and(|m| !m.is_empty()) {
        warnings.push(format!("{} has a consolidated block of its own, which is ignored", quoted(path)));
    }
    if document.get("zarr_format").and_then(Value::as_u64) != Some(2) {
        return Node::from_v3(document);
    }
    let attributes = match document.shift_remove("attributes") {
        Some(Value::Object(attributes)) => Some(attributes),
        None | Some(Value::Null) => None,
        Some(other) => return Err(v3::error("/attributes", format!("the attributes must be an object, not {}", brief(&other)))),
    };
    if document.contains_key("shape") {
        Array::from_v2(document, attributes).map(Node::Array)
    } else {
        Group::from_v2(document, attributes).map(Node::Group)
    }
}

/// Makes `.zmetadata` from nodes (path relative to the group, `""` for the group itself). v3 nodes are left out.
pub fn consolidate_v2(nodes: &[(String, Node)]) -> Value {
    let mut metadata = BTreeMap::new();
    for (path, node) in nodes.iter().filter(|(_, node)| node.format() == Format::V2) {
        for (name, document) in node.documents() {
            let key = if path.is_empty() { name.to_string() } else { format!("{path}/{name}") };
            metadata.insert(key, document);
        }
    }
    json!({"metadata": metadata.into_iter().collect::<Map<_, _>>(), "zarr_consolidated_format": 1})
}

/// Makes the inline block from the nodes below a group: flat, sorted by depth then name.
pub fn consolidate_v3(nodes: &[(String, Node)]) -> Map<String, Value> {
    let mut below: Vec<&(String, Node)> = nodes.iter().filter(|(path, _)| !path.is_empty()).collect();
    below.sort_by_key(|(path, _)| (path.matches('/').count(), path.as_str()));
    let metadata: Map<String, Value> = below.into_iter().map(|(path, node)| (path.clone(), inline_document(node))).collect();
    [("kind", json!("inline")), ("must_understand", json!(false)), ("metadata", Value::Object(metadata))]
        .map(|(key, value)| (key.to_string(), value))
        .into_iter()
        .collect()
}

/// A node's complete document: without a summary of its own, and for v2 with the attributes in it.
fn inline_document(node: &Node) -> Value {
    let mut document = match node {
        Node::Array(array) => array.document().clone(),
        Node::Group(group) => group.document().clone(),
    };
    document.shift_remove(MEMBER);
    if node.format() == Format::V2 {
        document.insert("attributes".into(), Value::Object(node.attributes().clone()));
    }
    Value::Object(document)
}
