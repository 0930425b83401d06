//! What a new array is to be, with defaults that other readers take.

use gingham_core::codec::{ByteOrder, Codec, CodecKind, Location, Sharding};
use gingham_core::dtype::{DataType, Endian, FillValue};
use gingham_core::grid::Grid;
use gingham_core::json::{Map, Value, to_text};
use gingham_core::key::KeyEncoding;
use gingham_core::meta::{self, Format, New};
use gingham_core::path::NodePath;
use gingham_store::{Condition, Store};

use crate::error::{Error, Kind, Result};
use crate::{Array, Options, group};

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

/// zstd's level where none is asked for: the knee of its curve, and what other writers use.
const ZSTD_LEVEL: i32 = 3;

impl NewArray {
    /// The whole chain: what was asked for, with the array→bytes codec that the type takes, inside shards where there are any.
    fn chain(&self) -> Result<Vec<Codec>> {
        let mut codecs = self.codecs.clone().unwrap_or_else(|| vec![Codec::Zstd { level: ZSTD_LEVEL, checksum: false }]);
        if !codecs.iter().any(|c| c.kind() == Some(CodecKind::ArrayToBytes)) {
            let at = codecs.iter().position(|c| c.kind() == Some(CodecKind::BytesToBytes)).unwrap_or(codecs.len());
            codecs.insert(at, serializer(&self.data_type)?);
        }
        let Some(inner) = &self.inner_chunks else { return Ok(codecs) };
        if self.format == Format::V2 {
            return Err(Error::new(Kind::Unsupported, "v2 has no shards").with_hint("write format 3, or leave the shards out"));
        }
        Ok(vec![Codec::Sharding(Box::new(Sharding {
            chunk_shape: inner.as_slice().into(),
            codecs,
            index_codecs: vec![Codec::Bytes(ByteOrder::Uniform(Endian::Little)), Codec::Crc32c { location: Location::End }],
            index_location: Location::End,
        }))])
    }

    fn meta(&self) -> Result<meta::Array> {
        Ok(meta::Array::create(New {
            format: self.format,
            data_type: self.data_type.clone(),
            grid: self.grid.clone(),
            fill_value: self.fill_value.clone(),
            codecs: self.chain()?,
            key_encoding: self.key_encoding.clone(),
            dimension_names: self.dimension_names.clone(),
            attributes: self.attributes.clone(),
        })?)
    }
}

/// The array→bytes codec of a type.
fn serializer(data_type: &DataType) -> Result<Codec> {
    Ok(match data_type {
        DataType::String => Codec::VlenUtf8,
        DataType::Bytes => Codec::VlenBytes,
        DataType::VlenArray(_) | DataType::Json | DataType::Unknown { .. } => {
            return Err(Error::new(Kind::Unsupported, format!("no codec writes elements of type {data_type}")));
        }
        fixed if fixed.needs_endian() => Codec::Bytes(ByteOrder::Uniform(Endian::Little)),
        _ => Codec::Bytes(ByteOrder::None),
    })
}

pub(crate) fn create(store: &Store, path: &str, new: NewArray) -> Result<Array> {
    let at = NodePath::parse_new(path)?;
    let meta = new.meta().map_err(|e| e.at(|p| p.node = Some(at.to_string())))?;
    let array = Array::from_meta(store, at.as_str(), meta, &new.options)?;
    array.inner().chain()?;
    prepare(store, &at, new.format, new.overwrite)?;
    array.put_documents(array.meta())?;
    Ok(array)
}

/// Makes room for a node: refuses one that is there (or deletes it), and sees to the groups above.
pub(crate) fn prepare(store: &Store, at: &NodePath, format: Format, overwrite: bool) -> Result<()> {
    for name in ["zarr.json", ".zarray", ".zgroup"] {
        if store.stat(&at.key(name))?.is_some() {
            if overwrite {
                store.delete_prefix(at.as_str())?;
                break;
            }
            return Err(Error::new(Kind::Exists, "there is a node already")
                .at(|p| {
                    p.store = Some(store.describe());
                    p.node = Some(at.to_string());
                    p.key = Some(at.key(name));
                })
                .with_hint("ask for it to be overwritten, or name another path"));
        }
    }
    match at.parent() {
        Some(parent) => group::ensure(store, &parent, format),
        None => Ok(()),
    }
}

/// Writes a node's documents, the one that a reader looks for last.
pub(crate) fn put_documents(store: &Store, path: &str, mut documents: Vec<(&'static str, Value)>) -> Result<()> {
    documents.sort_by_key(|(name, _)| !matches!(*name, ".zattrs"));
    for (name, value) in documents {
        let key = if path.is_empty() { name.to_string() } else { format!("{path}/{name}") };
        let text = to_text(&value).into_bytes();
        store.put(&key, text.into(), &Condition::Always)?;
    }
    Ok(())
}
