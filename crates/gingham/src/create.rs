//! What a new array is to be, with defaults that other readers take.

use gingham_core::codec::Codec;
use gingham_core::dtype::{DataType, FillValue};
use gingham_core::grid::Grid;
use gingham_core::json::{Map, Value};
use gingham_core::key::KeyEncoding;
use gingham_core::meta::Format;

use crate::Options;

/// A new array. `NewArray::new(data_type, grid)` is a complete one: v3, little-endian, zstd 3, fill zero.
#[derive(Debug, Clone)]
pub struct NewArray {
    /// 2 or 3.
    pub format: Format,
    /// What an element is.
    pub data_type: DataType,
    /// Where the cuts are: of shards where `shards_of` is given, else of chunks.
    pub grid: Grid,
    /// With sharding: the shape of the chunks inside each shard. Must divide every edge of `grid`.
    pub inner_chunks: Option<Vec<u64>>,
    /// Codecs of a chunk: array→array, array→bytes (added where absent), bytes→bytes. `None`: the default for the type.
    pub codecs: Option<Vec<Codec>>,
    /// The fill value; the type's zero where `None`.
    pub fill_value: Option<FillValue>,
    /// How chunks are named.
    pub key_encoding: Option<KeyEncoding>,
    /// Names of the dimensions.
    pub dimension_names: Option<Vec<Option<String>>>,
    /// The user's attributes.
    pub attributes: Map<String, Value>,
    /// Replace a node that is there.
    pub overwrite: bool,
    /// Options of the opened array.
    pub options: Options,
}

impl NewArray {
    /// A v3 array with defaults.
    pub fn new(data_type: DataType, grid: Grid) -> Self {
        NewArray {
            format: Format::V3,
            data_type,
            grid,
            inner_chunks: None,
            codecs: None,
            fill_value: None,
            key_encoding: None,
            dimension_names: None,
            attributes: Map::new(),
            overwrite: false,
            options: Options::default(),
        }
    }
}
