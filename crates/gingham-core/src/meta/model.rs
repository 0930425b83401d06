//! The one model of both formats.

use crate::codec::Codec;
use crate::dtype::{DataType, FillValue};
use crate::grid::Grid;
use crate::json::{Map, Value};
use crate::key::KeyEncoding;

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

impl Array {
    /// Reads a `zarr.json` of node type array. An unknown data type or codec is not an error here but [`Array::problem`].
    pub fn from_v3(document: Map<String, Value>) -> Result<Self, MetaError> {
        let _ = document;
        todo!()
    }
    /// Reads a `.zarray` with the `.zattrs` beside it.
    pub fn from_v2(document: Map<String, Value>, attributes: Option<Map<String, Value>>) -> Result<Self, MetaError> {
        let _ = (document, attributes);
        todo!()
    }
    /// A new document.
    pub fn create(new: New) -> Result<Self, MetaError> {
        let _ = new;
        todo!()
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
        todo!()
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
        todo!()
    }

    /// Another grid (and so another shape): edits `shape` and `chunk_grid`; v2 refuses a grid that is not regular.
    pub fn set_grid(&mut self, grid: Grid) -> Result<(), MetaError> {
        let _ = grid;
        todo!()
    }
    /// Other attributes.
    pub fn set_attributes(&mut self, attributes: Map<String, Value>) {
        let _ = attributes;
        todo!()
    }
}

impl Group {
    /// An empty group.
    pub fn create(format: Format, attributes: Map<String, Value>) -> Self {
        let _ = (format, attributes);
        todo!()
    }
    /// Reads a `zarr.json` of node type group.
    pub fn from_v3(document: Map<String, Value>) -> Result<Self, MetaError> {
        let _ = document;
        todo!()
    }
    /// Reads a `.zgroup` with the `.zattrs` beside it.
    pub fn from_v2(document: Map<String, Value>, attributes: Option<Map<String, Value>>) -> Result<Self, MetaError> {
        let _ = (document, attributes);
        todo!()
    }
    /// 2 or 3.
    pub fn format(&self) -> Format {
        self.format
    }
    /// The document.
    pub fn document(&self) -> &Map<String, Value> {
        &self.document
    }
    /// The documents to write.
    pub fn documents(&self) -> Vec<(&'static str, Value)> {
        todo!()
    }
    /// The user's attributes.
    pub fn attributes(&self) -> &Map<String, Value> {
        let _ = &self.attributes_document;
        todo!()
    }
    /// Other attributes.
    pub fn set_attributes(&mut self, attributes: Map<String, Value>) {
        let _ = attributes;
        todo!()
    }
    /// The consolidated block of a v3 group, parsed; `None` where there is none (or `null`, or `{}`).
    pub fn consolidated(&self) -> Result<Option<super::Consolidated>, MetaError> {
        todo!()
    }
    /// Puts a consolidated block in, or takes it out.
    pub fn set_consolidated(&mut self, block: Option<Value>) {
        let _ = block;
        todo!()
    }
}

impl Node {
    /// Reads a `zarr.json`'s bytes.
    pub fn from_v3_bytes(bytes: &[u8]) -> Result<Self, MetaError> {
        let _ = bytes;
        todo!()
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
