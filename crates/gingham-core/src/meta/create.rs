//! New documents, members in the order in which zarr-python writes them (format.md 1.2).

use super::check::check_new_chain;
use super::model::{Array, Format, Group, MetaError, New};
use super::{v2, v3};
use crate::Shape;
use crate::codec::{ByteOrder, Codec, CodecError, CodecKind, chain_to_v3, codec_to_v2};
use crate::dtype::{DataType, Endian, TypeStr, to_v2, to_v3};
use crate::grid::{Grid, GridKind, grid_to_v3};
use crate::json::{Map, Value};
use crate::key::KeyEncoding;
use serde_json::json;

/// A new array.
pub(super) fn array(new: New) -> Result<Array, MetaError> {
    let document = if new.format == Format::V3 { v3::DOCUMENT } else { v2::ARRAY };
    check_new_chain(&new.codecs, &new.data_type, &new.grid).map_err(|e| {
        let error = MetaError::new(document, format!("/codecs{}", e.pointer), e.what).unsupported();
        MetaError { hint: e.hint, ..error }
    })?;
    let array = match new.format {
        Format::V3 => Array::from_v3(v3_document(new)?)?,
        Format::V2 => v2_array(new)?,
    };
    match array.problem() {
        None => Ok(array),
        Some(problem) => Err(MetaError::new(document, problem.pointer.clone(), problem.what.clone()).unsupported()),
    }
}

/// A new group.
pub(super) fn group(format: Format, attributes: Map<String, Value>) -> Group {
    match format {
        Format::V3 => {
            let members = [("attributes", Value::Object(attributes)), ("zarr_format", json!(3)), ("node_type", json!("group"))];
            Group::from_parts(format, members.map(|(k, v)| (k.to_string(), v)).into_iter().collect(), None)
        }
        Format::V2 => {
            let document = Map::from_iter([("zarr_format".to_string(), json!(2))]);
            Group::from_parts(format, document, (!attributes.is_empty()).then_some(attributes))
        }
    }
}

fn v3_document(new: New) -> Result<Map<String, Value>, MetaError> {
    let data_type = to_v3(&new.data_type).map_err(|e| v3::error(format!("/data_type{}", e.pointer), e.what))?;
    let codecs = chain_to_v3(&new.codecs).map_err(|e| MetaError { hint: e.hint, ..v3::error(format!("/codecs{}", e.pointer), e.what) })?;
    let key_encoding = new.key_encoding.unwrap_or(KeyEncoding::Default { separator: '/' });
    let fill_value = new.fill_value.unwrap_or_else(|| new.data_type.default_fill());
    let mut document = Map::new();
    let mut member = |key: &str, value: Value| document.insert(key.to_string(), value);
    member("shape", Value::from(new.grid.shape().as_slice()));
    member("data_type", data_type);
    member("chunk_grid", grid_to_v3(&new.grid));
    member("chunk_key_encoding", key_encoding.to_json());
    member("fill_value", fill_value.to_v3(&new.data_type));
    member("codecs", codecs);
    member("attributes", Value::Object(new.attributes));
    if let Some(names) = new.dimension_names.filter(|names| names.iter().any(Option::is_some)) {
        member("dimension_names", json!(names));
    }
    member("zarr_format", json!(3));
    member("node_type", json!("array"));
    member("storage_transformers", json!([]));
    Ok(document)
}

/// The chunk lengths of a grid that v2 can say.
pub(super) fn v2_chunks(grid: &Grid) -> Result<Shape, MetaError> {
    let chunks = grid.regular_chunk_shape().filter(|_| grid.kind() == GridKind::Regular);
    chunks.ok_or_else(|| {
        v2::error("/chunks", "v2 has regular chunks only, but this grid is rectilinear")
            .hint("write v3, or choose one chunk length per axis")
    })
}

fn v2_array(new: New) -> Result<Array, MetaError> {
    let chunks = v2_chunks(&new.grid)?;
    let shape = new.grid.shape();
    let separator = match new.key_encoding {
        None => '.',
        Some(KeyEncoding::V2 { separator }) => separator,
        Some(_) => return Err(v2::error("/dimension_separator", "v2 has the chunk key encoding \"v2\" only")),
    };
    let chain = V2Parts::of(&new.codecs, &new.data_type, shape.len())?;
    let dtype = match &new.data_type {
        DataType::String | DataType::Bytes | DataType::VlenArray(_) | DataType::Json => json!("|O"),
        _ => to_v2(&chain.typestr).map_err(|e| v2::error(format!("/dtype{}", e.pointer), e.what))?,
    };
    if !is_typestr(&dtype) {
        return Err(v2::error("/dtype", format!("v2 has no data type {}", new.data_type.name())));
    }
    let fill_value = new.fill_value.unwrap_or_else(|| new.data_type.default_fill());
    let mut document = Map::new();
    let mut member = |key: &str, value: Value| document.insert(key.to_string(), value);
    member("shape", Value::from(shape.as_slice()));
    member("chunks", Value::from(chunks.as_slice()));
    member("dtype", dtype);
    member("fill_value", fill_value.to_v2(&chain.typestr));
    member("order", json!(if chain.order_is_f { "F" } else { "C" }));
    member("filters", if chain.filters.is_empty() { Value::Null } else { Value::Array(chain.filters) });
    member("dimension_separator", Value::from(separator.to_string()));
    member("compressor", chain.compressor.unwrap_or_default());
    member("zarr_format", json!(2));

    let mut attributes = new.attributes;
    let named = new.dimension_names.filter(|names| names.iter().any(Option::is_some));
    let all: Option<Vec<String>> = named.as_ref().and_then(|names| names.iter().cloned().collect());
    if let Some(names) = &all {
        attributes.insert(v2::XARRAY_DIMENSIONS.into(), json!(names));
    }
    let mut array = Array::from_v2(document, (!attributes.is_empty()).then_some(attributes))?;
    if named.is_some() && all.is_none() {
        array.warnings.push("v2 names all dimensions or none, so the names of this array are left out".into());
    }
    Ok(array)
}

/// True for what v2 documents hold, false for names such as `int4`, which only numcodecs' filters of v3 know.
fn is_typestr(dtype: &Value) -> bool {
    match dtype {
        Value::String(text) => text.starts_with(['<', '>', '|']),
        Value::Array(fields) => fields.iter().filter_map(|field| field.get(1)).all(is_typestr),
        _ => false,
    }
}

/// A chain in v2's terms.
struct V2Parts {
    order_is_f: bool,
    filters: Vec<Value>,
    compressor: Option<Value>,
    /// The array's type with the byte order in which the chain stores.
    typestr: TypeStr,
}

impl V2Parts {
    fn of(codecs: &[Codec], data_type: &DataType, ndim: usize) -> Result<Self, MetaError> {
        let refuse = |i: usize, what: String| v2::error(format!("/filters/{i}"), what);
        let mut parts =
            V2Parts { order_is_f: false, filters: Vec::new(), compressor: None, typestr: TypeStr::new(data_type.clone(), Endian::Little) };
        let last = codecs.len().saturating_sub(1);
        for (i, codec) in codecs.iter().enumerate() {
            let spell = |codec: &Codec| codec_to_v2(codec).map_err(|e: CodecError| refuse(i, e.what));
            match codec {
                Codec::Transpose { order } if i == 0 && order.iter().rev().copied().eq(0..ndim) => parts.order_is_f = ndim > 1,
                Codec::Json2(_) | Codec::MsgPack2(_) if parts.order_is_f => {
                    return Err(v2::error(
                        "/order",
                        format!("\"{}\" stores objects in C order, so a transpose before it cannot be said in v2", codec.name()),
                    ));
                }
                Codec::Transpose { .. } => {
                    return Err(v2::error("/order", "v2 can reverse the axes (order F) before all else, and no other transpose"));
                }
                Codec::Bytes(ByteOrder::None) => {}
                Codec::Bytes(ByteOrder::Uniform(order)) => parts.typestr = TypeStr::new(data_type.clone(), *order),
                Codec::Bytes(ByteOrder::PerLeaf(orders)) => parts.typestr.order = orders.clone(),
                Codec::Pcodec(_) | Codec::Zfpy(_) => parts.compressor = Some(spell(codec)?),
                _ if i == last && is_compressor(codec) && parts.compressor.is_none() => parts.compressor = Some(spell(codec)?),
                _ if parts.compressor.is_some() => {
                    return Err(refuse(
                        i,
                        format!("v2 has one compressor at the end of its chain, so \"{}\" has no place behind it", codec.name()),
                    ));
                }
                _ => parts.filters.push(spell(&in_order(codec, stored_order(codecs)))?),
            }
        }
        Ok(parts)
    }
}

fn is_compressor(codec: &Codec) -> bool {
    use Codec::*;
    matches!(codec, Gzip { .. } | Zlib { .. } | Zstd { .. } | Blosc { .. } | Lz4 { .. } | Lzma(_) | Bz2 { .. } | Unknown { .. })
}

/// The byte order in which the chain stores numbers.
fn stored_order(codecs: &[Codec]) -> Endian {
    let order = codecs.iter().filter(|codec| codec.kind() == Some(CodecKind::ArrayToBytes)).find_map(|codec| match codec {
        Codec::Bytes(ByteOrder::Uniform(order)) => Some(*order),
        _ => None,
    });
    order.unwrap_or(Endian::Little)
}

/// A filter whose numbers are all in one byte order: in v2 the filters, not a codec behind them, say how they are stored.
fn in_order(codec: &Codec, order: Endian) -> Codec {
    let mut codec = codec.clone();
    let typestrs: &mut [&mut TypeStr] = match &mut codec {
        Codec::Delta { dtype, astype } | Codec::FixedScaleOffset { dtype, astype, .. } => &mut [dtype, astype],
        Codec::Quantize { dtype, astype, .. } => &mut [dtype, astype],
        Codec::Categorize { astype, .. } => &mut [astype],
        Codec::AsType { encode_dtype, decode_dtype } => &mut [encode_dtype, decode_dtype],
        _ => &mut [],
    };
    for typestr in typestrs {
        **typestr = TypeStr::new(typestr.data_type.clone(), order);
    }
    codec
}
