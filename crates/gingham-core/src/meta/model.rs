//! The one model of both formats.

use std::sync::LazyLock;

use super::{consolidated, create, v2, v3};
use crate::codec::Codec;
use crate::dtype::{DataType, Endian, FillValue, TypeStr};
use crate::grid::{Grid, grid_from_v3, grid_to_v3};
use crate::json::{JsonError, Map, Read, Value, read_object};
use crate::key::KeyEncoding;

static NO_ATTRIBUTES: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

/// Zarr format 2 or 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum Format {
    V2,
    V3,
}

/// Why a document is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct MetaError {
    /// A sentence.
    pub what: String,
    /// Which document of the node: `zarr.json`, `.zarray`, `.zattrs`, …
    pub document: &'static str,
    /// JSON pointer into it, `""` for the whole.
    pub pointer: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// True where the document is valid but uses something this build does not have (names it): data cannot be read.
    pub unsupported: bool,
}

impl MetaError {
    pub(super) fn new(document: &'static str, pointer: impl Into<String>, what: impl Into<String>) -> Self {
        MetaError { what: what.into(), document, pointer: pointer.into(), hint: None, unsupported: false }
    }
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
    pub(super) fn unsupported(mut self) -> Self {
        self.unsupported = true;
        self
    }
    fn json(document: &'static str, error: JsonError) -> Self {
        MetaError::new(document, "", error.to_string())
    }
}

/// What keeps an array's data from being read though its document can be shown (an unknown codec or data type).
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Problem {
    pub what: String,
    pub pointer: String,
}

/// A node.
#[derive(Debug, Clone)]
#[allow(missing_docs, clippy::large_enum_variant)]
pub enum Node {
    Array(Array),
    Group(Group),
}

/// A group.
#[derive(Debug, Clone)]
pub struct Group {
    format: Format,
    /// `zarr.json` or `.zgroup`.
    document: Map<String, Value>,
    /// v2: `.zattrs` where it exists. v3: unused.
    attributes_document: Option<Map<String, Value>>,
    warnings: Vec<String>,
}

/// An array.
#[derive(Debug, Clone)]
pub struct Array {
    pub(super) format: Format,
    pub(super) document: Map<String, Value>,
    pub(super) attributes_document: Option<Map<String, Value>>,
    pub(super) data_type: DataType,
    pub(super) fill_value: Option<FillValue>,
    pub(super) grid: Grid,
    pub(super) key_encoding: KeyEncoding,
    pub(super) codecs: Vec<Codec>,
    pub(super) dimension_names: Option<Vec<Option<String>>>,
    pub(super) problem: Option<Problem>,
    pub(super) warnings: Vec<String>,
}

fn is_integer(data_type: &DataType) -> bool {
    use DataType::*;
    matches!(data_type, Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64)
}

impl Array {
    /// Reads a `zarr.json` of node type array. An unknown data type or codec is not an error here but [`Array::problem`].
    pub fn from_v3(document: Map<String, Value>) -> Result<Self, MetaError> {
        v3::read_array(document)
    }
    /// Reads a `.zarray` with the `.zattrs` beside it.
    pub fn from_v2(document: Map<String, Value>, attributes: Option<Map<String, Value>>) -> Result<Self, MetaError> {
        v2::read_array(document, attributes)
    }
    /// Reads the bytes of a `.zarray` and of the `.zattrs` beside it. Bare `NaN` and `Infinity` tokens, which old writers
    /// left, are read and told in [`Array::warnings`].
    pub fn from_v2_bytes(document: &[u8], attributes: Option<&[u8]>) -> Result<Self, MetaError> {
        let (document, attributes, bare) = read_v2(v2::ARRAY, document, attributes)?;
        let mut array = Array::from_v2(document, attributes)?;
        array.warnings.splice(0..0, bare);
        Ok(array)
    }
    /// A new document.
    ///
    /// ```
    /// use gingham_core::{codec::chain_from_v3, dtype::DataType, grid::Grid, json::Map};
    /// use gingham_core::meta::{Array, Format, New};
    /// let array = Array::create(New {
    ///     format: Format::V3,
    ///     data_type: DataType::UInt8,
    ///     grid: Grid::regular(&[10], &[4]).unwrap(),
    ///     fill_value: None,
    ///     codecs: chain_from_v3(&serde_json::json!([{"name": "bytes"}])).unwrap(),
    ///     key_encoding: None,
    ///     dimension_names: None,
    ///     attributes: Map::new(),
    /// }).unwrap();
    /// assert_eq!(array.document()["shape"], serde_json::json!([10]));
    /// ```
    pub fn create(new: New) -> Result<Self, MetaError> {
        create::array(new)
    }

    /// 2 or 3.
    pub fn format(&self) -> Format {
        self.format
    }
    /// The array's shape.
    pub fn shape(&self) -> crate::Shape {
        self.grid.shape()
    }
    /// What an element is.
    pub fn data_type(&self) -> &DataType {
        &self.data_type
    }
    /// The fill value as it is used for missing chunks (v2's `null` counts as the type's zero).
    pub fn fill_value(&self) -> FillValue {
        self.fill_value.clone().unwrap_or_else(|| self.data_type.default_fill())
    }
    /// True where a v2 document leaves the fill value undefined.
    pub fn fill_is_undefined(&self) -> bool {
        self.fill_value.is_none()
    }
    /// Where the cuts are.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }
    /// How chunks are named.
    pub fn key_encoding(&self) -> &KeyEncoding {
        &self.key_encoding
    }
    /// The chain as a list, in v3's terms for both formats.
    pub fn codecs(&self) -> &[Codec] {
        &self.codecs
    }
    /// Names of the dimensions. v2: `_ARRAY_DIMENSIONS` (xarray), or NCZarr's dimrefs, where it fits the rank.
    pub fn dimension_names(&self) -> Option<&[Option<String>]> {
        self.dimension_names.as_deref()
    }
    /// The user's attributes.
    pub fn attributes(&self) -> &Map<String, Value> {
        attributes(self.format, &self.document, self.attributes_document.as_ref())
    }
    /// Why data cannot be read, where that is so.
    pub fn problem(&self) -> Option<&Problem> {
        self.problem.as_ref()
    }
    /// What is odd but readable (a NaN token, fill null, an unknown v2 member that looks like a typing error, …), a sentence each.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
    /// The document (`zarr.json` or `.zarray`) as JSON, members in their order.
    pub fn document(&self) -> &Map<String, Value> {
        &self.document
    }
    /// The documents to write, each with the name it has in its node: `zarr.json`, or `.zarray` and, where there are
    /// attributes or there was one, `.zattrs`.
    pub fn documents(&self) -> Vec<(&'static str, Value)> {
        let name = if self.format == Format::V3 { v3::DOCUMENT } else { v2::ARRAY };
        let mut document = self.document.clone();
        // Old writers left fill values such as 0.0 in arrays of integers; what is written has integers.
        if self.format == Format::V2
            && is_integer(&self.data_type)
            && let Some(fill) = document.get_mut("fill_value").filter(|fill| fill.is_f64())
        {
            *fill = self.fill_value().to_v2(&TypeStr::new(self.data_type.clone(), Endian::Little));
        }
        documents(name, &document, self.attributes_document.as_ref())
    }

    /// Another grid (and so another shape): edits `shape` and `chunk_grid`; v2 refuses a grid that is not regular.
    pub fn set_grid(&mut self, grid: Grid) -> Result<(), MetaError> {
        let mut document = self.document.clone();
        let shape = grid.shape();
        document.insert("shape".into(), Value::from(shape.as_slice()));
        match self.format {
            // The grid's own JSON stays as it stands where it says the same for the new shape.
            Format::V3 if document.get("chunk_grid").and_then(|json| grid_from_v3(json, &shape).ok()).as_ref() == Some(&grid) => {}
            Format::V3 => {
                document.insert("chunk_grid".into(), grid_to_v3(&grid));
            }
            Format::V2 => {
                let chunks = create::v2_chunks(&grid)?;
                let stands = v2::read_grid(&document, &shape, &mut Vec::new()).is_ok_and(|stands| stands == grid);
                if !stands {
                    document.insert("chunks".into(), Value::from(chunks.as_slice()));
                }
            }
        }
        *self = match self.format {
            Format::V3 => Array::from_v3(document)?,
            Format::V2 => Array::from_v2(document, self.attributes_document.clone())?,
        };
        Ok(())
    }
    /// Other attributes.
    pub fn set_attributes(&mut self, attributes: Map<String, Value>) {
        match self.format {
            Format::V3 => {
                self.document.insert("attributes".into(), Value::Object(attributes));
            }
            Format::V2 => {
                let mut warnings = Vec::new();
                self.dimension_names = v2::dimension_names(&self.document, Some(&attributes), self.grid.ndim(), &mut warnings);
                self.warnings.retain(|warning| !v2::is_about_names(warning));
                self.warnings.append(&mut warnings);
                self.attributes_document = Some(attributes);
            }
        }
    }
}

impl Group {
    /// An empty group.
    pub fn create(format: Format, attributes: Map<String, Value>) -> Self {
        create::group(format, attributes)
    }
    pub(super) fn from_parts(format: Format, document: Map<String, Value>, attributes_document: Option<Map<String, Value>>) -> Self {
        Group { format, document, attributes_document, warnings: Vec::new() }
    }
    /// Reads a `zarr.json` of node type group.
    pub fn from_v3(document: Map<String, Value>) -> Result<Self, MetaError> {
        let warnings = v3::check_group(&document)?;
        Ok(Group { format: Format::V3, document, attributes_document: None, warnings })
    }
    /// Reads a `.zgroup` with the `.zattrs` beside it.
    pub fn from_v2(document: Map<String, Value>, attributes: Option<Map<String, Value>>) -> Result<Self, MetaError> {
        v2::check_format(&document, v2::GROUP)?;
        Ok(Group::from_parts(Format::V2, document, attributes))
    }
    /// Reads the bytes of a `.zgroup` and of the `.zattrs` beside it; bare number tokens as in [`Array::from_v2_bytes`].
    pub fn from_v2_bytes(document: &[u8], attributes: Option<&[u8]>) -> Result<Self, MetaError> {
        let (document, attributes, bare) = read_v2(v2::GROUP, document, attributes)?;
        let mut group = Group::from_v2(document, attributes)?;
        group.warnings = bare;
        Ok(group)
    }
    /// 2 or 3.
    pub fn format(&self) -> Format {
        self.format
    }
    /// What is odd but readable, a sentence each.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
    /// The document.
    pub fn document(&self) -> &Map<String, Value> {
        &self.document
    }
    /// The documents to write.
    pub fn documents(&self) -> Vec<(&'static str, Value)> {
        let name = if self.format == Format::V3 { v3::DOCUMENT } else { v2::GROUP };
        documents(name, &self.document, self.attributes_document.as_ref())
    }
    /// The user's attributes.
    pub fn attributes(&self) -> &Map<String, Value> {
        attributes(self.format, &self.document, self.attributes_document.as_ref())
    }
    /// Other attributes.
    pub fn set_attributes(&mut self, attributes: Map<String, Value>) {
        match self.format {
            Format::V3 => {
                self.document.insert("attributes".into(), Value::Object(attributes));
                // zarr-python once wrote null where there is no block; nobody needs it.
                if self.document.get(consolidated::MEMBER).is_some_and(Value::is_null) {
                    self.set_consolidated(None);
                }
            }
            Format::V2 => self.attributes_document = Some(attributes),
        }
    }
    /// The consolidated block of a v3 group, parsed; `None` where there is none (or `null`, or `{}`), or where it is of a
    /// kind that is not known and says that it may be ignored.
    pub fn consolidated(&self) -> Result<Option<super::Consolidated>, MetaError> {
        match self.document.get(consolidated::MEMBER).filter(|_| self.format == Format::V3) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Object(block)) if block.is_empty() => Ok(None),
            Some(block) if consolidated::is_ignorable(block) => Ok(None),
            Some(block) => super::Consolidated::from_v3_block(block).map(Some).map_err(|mut error| {
                error.pointer = format!("/{}{}", consolidated::MEMBER, error.pointer);
                error
            }),
        }
    }
    /// Puts a consolidated block in, or takes it out.
    pub fn set_consolidated(&mut self, block: Option<Value>) {
        match block {
            Some(block) => self.document.insert(consolidated::MEMBER.into(), block),
            // The other members keep their order.
            None => self.document.shift_remove(consolidated::MEMBER),
        };
    }
}

impl Node {
    /// Reads a `zarr.json`'s bytes.
    ///
    /// ```
    /// use gingham_core::meta::Node;
    /// let node = Node::from_v3_bytes(br#"{"zarr_format": 3, "node_type": "group"}"#).unwrap();
    /// assert!(matches!(node, Node::Group(_)));
    /// ```
    pub fn from_v3_bytes(bytes: &[u8]) -> Result<Self, MetaError> {
        let read = read_object(bytes, false).map_err(|error| MetaError::json(v3::DOCUMENT, error))?;
        Node::from_v3(read.object)
    }
    /// Reads a `zarr.json`.
    pub fn from_v3(document: Map<String, Value>) -> Result<Self, MetaError> {
        if v3::node_type(&document)? == "array" {
            Array::from_v3(document).map(Node::Array)
        } else {
            Group::from_v3(document).map(Node::Group)
        }
    }
    /// The documents to write, each with its name.
    pub fn documents(&self) -> Vec<(&'static str, Value)> {
        match self {
            Node::Array(array) => array.documents(),
            Node::Group(group) => group.documents(),
        }
    }
    /// The user's attributes.
    pub fn attributes(&self) -> &Map<String, Value> {
        match self {
            Node::Array(a) => a.attributes(),
            Node::Group(g) => g.attributes(),
        }
    }
    /// 2 or 3.
    pub fn format(&self) -> Format {
        match self {
            Node::Array(a) => a.format(),
            Node::Group(g) => g.format(),
        }
    }
}

fn attributes<'a>(format: Format, document: &'a Map<String, Value>, beside: Option<&'a Map<String, Value>>) -> &'a Map<String, Value> {
    let found = match format {
        Format::V3 => document.get("attributes").and_then(Value::as_object),
        Format::V2 => beside,
    };
    found.unwrap_or(&NO_ATTRIBUTES)
}

fn documents(name: &'static str, document: &Map<String, Value>, attributes: Option<&Map<String, Value>>) -> Vec<(&'static str, Value)> {
    let attributes = attributes.map(|a| (v2::ATTRIBUTES, Value::Object(a.clone())));
    std::iter::once((name, Value::Object(document.clone()))).chain(attributes).collect()
}

type V2Documents = (Map<String, Value>, Option<Map<String, Value>>, Vec<String>);

/// Reads a v2 document and its attributes, and tells the bare number tokens in both.
fn read_v2(name: &'static str, document: &[u8], attributes: Option<&[u8]>) -> Result<V2Documents, MetaError> {
    let read = |name, bytes| read_object(bytes, true).map_err(|error| MetaError::json(name, error));
    let told = |name: &str, read: &Read| -> Vec<String> {
        read.bare_tokens.iter().map(|token| format!("{name} has the bare token {token}, which is not JSON")).collect()
    };
    let document = read(name, document)?;
    let mut warnings = told(name, &document);
    let attributes = attributes.map(|bytes| read(v2::ATTRIBUTES, bytes)).transpose()?;
    warnings.extend(attributes.iter().flat_map(|read| told(v2::ATTRIBUTES, read)));
    Ok((document.object, attributes.map(|read| read.object), warnings))
}

/// What a new array is to be.
#[derive(Debug, Clone)]
pub struct New {
    /// 2 or 3.
    pub format: Format,
    /// What an element is.
    pub data_type: DataType,
    /// Where the cuts are (and so the shape).
    pub grid: Grid,
    /// The fill value; the type's default where `None`.
    pub fill_value: Option<FillValue>,
    /// The chain, in v3's terms. For v2 it must be one that v2 can say: an optional reversing transpose (order F), filters,
    /// bytes, at most one compressor.
    pub codecs: Vec<Codec>,
    /// How chunks are named; v3's `default` with `/` (v2: `.`) where `None`.
    pub key_encoding: Option<KeyEncoding>,
    /// Names of the dimensions. v2 writes them as `_ARRAY_DIMENSIONS`.
    pub dimension_names: Option<Vec<Option<String>>>,
    /// The user's attributes.
    pub attributes: Map<String, Value>,
}
