//! What a converted array's document says: the source's, in the target's format.

use gingham::core::codec::{ByteOrder, Codec, CodecKind, ZfpMode, codec_to_v2, codec_to_v3};
use gingham::core::dtype::{DataType, Endian, TypeStr, to_v2, to_v3};
use gingham::core::json::{Map, Value};
use gingham::{Array, Error, Format, Kind, NewArray, Result, Store};

use super::Options;
use super::layout::Layout;

/// xarray's attribute of dimension names in v2.
const DIMENSIONS: &str = "_ARRAY_DIMENSIONS";

/// A document that can be written, and what had to be decided for it.
pub(super) struct Converted {
    pub meta: gingham::core::meta::Array,
    pub warnings: Vec<String>,
}

/// The document of `source` in the target's format and layout, made and checked as if it were created, but nowhere.
pub(super) fn converted(source: &Array, layout: &Layout, format: Format, options: &Options) -> Result<Converted> {
    let meta = source.meta();
    if let Some(problem) = meta.problem() {
        return Err(Error::new(Kind::Unsupported, problem.what.clone()).at(|p| p.pointer = Some(problem.pointer.clone())));
    }
    speakable(source, format)?;
    let mut warnings = Vec::new();
    let mut new = NewArray::new(source.data_type().clone(), layout.grid.clone());
    new.format = format;
    new.inner_chunks = layout.inner.clone();
    new.codecs = Some(match &options.codecs {
        Some(codecs) => codecs.clone(),
        None => carried_codecs(source, format, &mut warnings),
    });
    new.fill_value = Some(meta.fill_value());
    if meta.fill_is_undefined() {
        warnings.push(format!("fill_value is null (undefined); {} is written", meta.fill_value().to_v3(source.data_type())));
    }
    new.key_encoding = (meta.format() == format).then(|| meta.key_encoding().clone());
    (new.dimension_names, new.attributes) = names_and_attributes(source, format, &mut warnings);
    new.options = options.array.clone();
    let meta = match create_nowhere(new.clone()) {
        Err(error) if options.codecs.is_none() => unshuffled(new, error, &mut warnings)?,
        made => made?,
    };
    Ok(Converted { meta: spelled_as(source, meta)?, warnings })
}

fn create_nowhere(new: NewArray) -> Result<gingham::core::meta::Array> {
    let nowhere = Store::new(gingham::store::memory::Memory::new());
    Ok(Array::create(&nowhere, "", new)?.meta().clone())
}

/// A shuffle of the source that the target's chunks do not fit is left out: it only helps what stands behind it.
fn unshuffled(mut new: NewArray, error: Error, warnings: &mut Vec<String>) -> Result<gingham::core::meta::Array> {
    let shuffles = |c: &Codec| matches!(c, Codec::Shuffle { .. });
    match &mut new.codecs {
        Some(codecs) if codecs.iter().any(shuffles) => codecs.retain(|c| !shuffles(c)),
        _ => return Err(error),
    }
    let meta = create_nowhere(new).map_err(|_| error)?;
    warnings.push("the codec numcodecs.shuffle is not carried over: the chunks are no whole number of its elements".into());
    Ok(meta)
}

/// Opaque bytes have two names in v3, `r<bits>` and `raw_bytes`, which different readers know: those of the source read the
/// target, too, where the name stays.
fn spelled_as(source: &Array, meta: gingham::core::meta::Array) -> Result<gingham::core::meta::Array> {
    let own = source.meta().document().get("data_type");
    let (DataType::Raw(_), Format::V3, Format::V3, Some(Value::String(name))) =
        (meta.data_type(), source.meta().format(), meta.format(), own)
    else {
        return Ok(meta);
    };
    let mut document = meta.document().clone();
    document.insert("data_type".into(), name.as_str().into());
    // Those that know this name take a list, and not all of them base64.
    document.insert("fill_value".into(), meta.fill_value().as_bytes().to_vec().into());
    Ok(gingham::core::meta::Array::from_v3(document)?)
}

/// Refuses data types that the target format has no word for, by name.
fn speakable(source: &Array, format: Format) -> Result<()> {
    let data_type = source.data_type();
    let refused = match format {
        Format::V3 => to_v3(data_type).err(),
        Format::V2 if data_type.is_variable() => None,
        Format::V2 => to_v2(&TypeStr { data_type: data_type.clone(), order: vec![Endian::Little; leaves(data_type)] }).err(),
    };
    let Some(why) = refused else { return Ok(()) };
    let encoded = leaf_codecs(source.meta().codecs()).into_iter().find_map(|c| match c {
        Codec::Json2(_) => Some("objects encoded by json2"),
        Codec::MsgPack2(_) => Some("objects encoded by msgpack2"),
        Codec::VlenArray { .. } => Some("arrays of varying length encoded by vlen-array"),
        _ => None,
    });
    let what = encoded.map_or(why.what, |what| format!("format {} has no data type for {what}", if format == Format::V3 { 3 } else { 2 }));
    Err(Error::new(Kind::Unsupported, what).with_hint("convert to the source's format, or convert the other nodes without this one"))
}

fn leaves(data_type: &DataType) -> usize {
    match data_type {
        DataType::Struct(fields) => fields.iter().map(|f| leaves(&f.data_type)).sum(),
        DataType::FixedArray { item, .. } => leaves(item),
        _ => 1,
    }
}

/// The codecs that a single chunk goes through, those of shards opened up.
fn leaf_codecs(codecs: &[Codec]) -> Vec<&Codec> {
    let mut out = Vec::new();
    for codec in codecs {
        match codec {
            Codec::Sharding(sharding) => out.extend(leaf_codecs(&sharding.codecs)),
            other => out.push(other),
        }
    }
    out
}

/// The source's codecs as far as the target can have them without a value changing. Layout within a chunk (order F, byte
/// order, reshaping) is not carried: chunks are written in C order, little-endian.
fn carried_codecs(source: &Array, format: Format, warnings: &mut Vec<String>) -> Vec<Codec> {
    let data_type = source.data_type();
    let mut carried = Vec::new();
    let mut items_changed = false;
    for codec in leaf_codecs(source.meta().codecs()) {
        let fate = match codec.kind() {
            Some(CodecKind::ArrayToArray) => array_to_array(codec, data_type),
            Some(CodecKind::ArrayToBytes) => array_to_bytes(codec, format),
            _ => Fate::Kept,
        };
        let kept = match fate {
            Fate::Kept => codec.clone(),
            Fate::KeptAs(other) => *other,
            Fate::Layout => continue,
            Fate::Dropped(why) => {
                items_changed |= codec.kind() == Some(CodecKind::ArrayToArray);
                warnings.push(format!("the codec {} is not carried over: {why}", codec.name()));
                continue;
            }
        };
        let printed = if format == Format::V3 { codec_to_v3(&kept) } else { codec_to_v2(&kept) };
        match printed {
            Ok(_) => carried.push(kept),
            Err(why) => warnings.push(format!("the codec {} is not carried over: {}", codec.name(), why.what)),
        }
    }
    if items_changed {
        for codec in &mut carried {
            if let (Codec::Blosc { typesize, .. }, Some(size)) = (codec, data_type.size()) {
                *typesize = size.clamp(1, 255);
            }
        }
    }
    carried
}

/// What becomes of a codec that is not bytes→bytes.
enum Fate {
    Kept,
    /// The same in the target's byte order.
    KeptAs(Box<Codec>),
    /// Says how elements lie in a chunk, not what they are.
    Layout,
    Dropped(&'static str),
}

fn array_to_array(codec: &Codec, data_type: &DataType) -> Fate {
    match codec {
        Codec::Transpose { .. } | Codec::Squeeze | Codec::Reshape { .. } | Codec::StoredShape { .. } => Fate::Layout,
        Codec::NumcodecsPackBits if *data_type == DataType::Bool => Fate::Kept,
        // Differences of whole numbers wrap around and add up again exactly; those of floats do not.
        Codec::Delta { dtype, astype }
            if is_integer(&dtype.data_type) && dtype.data_type == *data_type && astype.data_type == *data_type =>
        {
            let little = TypeStr { data_type: data_type.clone(), order: vec![Endian::Little] };
            Fate::KeptAs(Box::new(Codec::Delta { dtype: little.clone(), astype: little }))
        }
        Codec::Categorize { .. } => Fate::Dropped("the labels themselves are stored, as strings"),
        Codec::BitRound { .. } | Codec::Quantize { .. } => {
            Fate::Dropped("values stay as it rounded them, values written later are not rounded")
        }
        _ => Fate::Dropped("the decoded values are stored, since encoding them again need not give the same ones"),
    }
}

fn is_integer(data_type: &DataType) -> bool {
    use DataType::*;
    matches!(data_type, Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64)
}

fn array_to_bytes(codec: &Codec, format: Format) -> Fate {
    match codec {
        Codec::Bytes(ByteOrder::None | ByteOrder::Uniform(_) | ByteOrder::PerLeaf(_)) => Fate::Layout,
        Codec::VlenUtf8 | Codec::VlenBytes => Fate::Layout,
        Codec::PackBits { .. } if format == Format::V2 => Fate::Dropped("format 2 does not have it"),
        Codec::Zfp(mode) | Codec::Zfpy(mode) if *mode != ZfpMode::Reversible => {
            Fate::Dropped("it is lossy, and its values stay as they are")
        }
        _ => Fate::Kept,
    }
}

type Names = Option<Vec<Option<String>>>;

/// Dimension names as the target has them: a member of v3's documents, an attribute in v2's.
fn names_and_attributes(source: &Array, format: Format, warnings: &mut Vec<String>) -> (Names, Map<String, Value>) {
    let mut attributes = source.meta().attributes().clone();
    let names = source.meta().dimension_names().map(<[_]>::to_vec);
    let said = attributes.get(DIMENSIONS).map(|v| names.as_ref().is_some_and(|n| is_list_of(v, n)));
    match (format, said) {
        (Format::V3, Some(true)) => {
            attributes.shift_remove(DIMENSIONS);
        }
        (Format::V3, Some(false)) => {
            warnings
                .push(format!("the attribute {DIMENSIONS} does not name the {} dimensions, and stays an attribute", source.shape().len()));
        }
        _ => {}
    }
    let unnamed = names.as_ref().is_some_and(|n| n.iter().any(Option::is_none));
    if format == Format::V2 && unnamed {
        warnings.push("format 2 names all dimensions or none: the names are dropped".into());
        return (None, attributes);
    }
    (names, attributes)
}

fn is_list_of(value: &Value, names: &[Option<String>]) -> bool {
    value.as_array().is_some_and(|list| list.len() == names.len() && list.iter().zip(names).all(|(v, n)| v.as_str() == n.as_deref()))
}
