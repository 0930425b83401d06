//! Codec objects of v2 and v3 documents into [`Codec`]s: the registered codecs and the aliases of all.

use super::numcodecs::{self, BLOSC_COMPRESSORS, I32, LOCATIONS, U32, ZSTD_LEVELS};
use super::{
    BloscShuffle, ByteOrder, CastValue, Codec, CodecError, Location, OutOfRange, PackBitsPadding, ReshapeDim, Rounding, Sharding, ZfpMode,
};
use crate::dtype::{Endian, parse_v3};
use crate::extension::{Config, Extension, Fault, brief};
use crate::json::Value;

const NOUN: &str = "codec";
/// Prefixes under which codecs went before they were registered.
const URI_PREFIX: &str = "https://codec.zarrs.dev/";

/// What is known of the array that a chain is for, where a codec's object leaves something to it.
#[derive(Debug, Clone, Copy)]
pub struct Context {
    /// The number of axes (`transpose` with the old order "C" or "F").
    pub ndim: Option<usize>,
    /// Bytes of one element (`blosc` without `typesize`).
    pub itemsize: usize,
}

impl Default for Context {
    /// Nothing is known.
    fn default() -> Self {
        Context { ndim: None, itemsize: 1 }
    }
}

/// Reads one entry of a v3 `codecs` list (object, or short-hand string; every alias).
///
/// ```
/// use gingham_core::codec::{Codec, codec_from_v3};
/// let codec = codec_from_v3(&serde_json::json!({"name": "gzip", "configuration": {"level": 5}})).unwrap();
/// assert_eq!(codec, Codec::Gzip { level: 5 });
/// ```
pub fn codec_from_v3(value: &Value) -> Result<Codec, CodecError> {
    Ok(read_v3(value, &Context::default())?)
}

/// Reads a v3 `codecs` list.
pub fn chain_from_v3(value: &Value) -> Result<Vec<Codec>, CodecError> {
    chain_from_v3_in(value, &Context::default())
}

/// Reads a v3 `codecs` list of an array of which something is known.
pub fn chain_from_v3_in(value: &Value, context: &Context) -> Result<Vec<Codec>, CodecError> {
    Ok(read_list(value, context)?)
}

/// Reads a v2 compressor or filter object. `itemsize` is the size of the items in the buffer that the codec sees (Blosc's
/// automatic shuffle and typesize).
pub fn codec_from_v2(value: &Value, itemsize: usize) -> Result<Codec, CodecError> {
    let Value::Object(object) = value else {
        return Err(Fault::new("", format!("a compressor or filter must be an object with an id, not {}", brief(value))).into());
    };
    let id = match object.get("id") {
        Some(Value::String(id)) if !id.is_empty() => id,
        Some(other) => {
            return Err(Fault::new("/id", format!("the id of a compressor or filter must be a string, not {}", brief(other))).into());
        }
        None => return Err(Fault::new("", "a compressor or filter must have an id").into()),
    };
    let codec = numcodecs::read(id, |known| Config::of_v2(id, object, known), itemsize)?;
    Ok(codec.unwrap_or_else(|| {
        let configuration = object.iter().filter(|(key, _)| *key != "id").map(|(k, v)| (k.clone(), v.clone())).collect();
        Codec::Unknown { name: id.clone(), configuration: Some(Value::Object(configuration)), ignorable: false }
    }))
}

fn read_list(value: &Value, context: &Context) -> Result<Vec<Codec>, Fault> {
    let Value::Array(list) = value else {
        return Err(Fault::new("", format!("the codecs must be a list, not {}", brief(value))));
    };
    let read = |(i, value)| {
        read_v3(value, context).map_err(|mut fault| {
            fault.pointer = format!("/{i}{}", fault.pointer);
            fault
        })
    };
    list.iter().enumerate().map(read).collect()
}

fn read_v3(value: &Value, context: &Context) -> Result<Codec, Fault> {
    let extension = Extension::read(value, NOUN)?;
    let config = |known: &[&str]| Config::of(&extension, NOUN, known);
    // zarrs' first names were URIs whose last step is the name; a registered name never has a slash.
    let name = match extension.name.strip_prefix(URI_PREFIX) {
        Some(path) => path.rsplit('/').next().unwrap_or(path),
        None => extension.name,
    };
    let (id, prefixed) = name.strip_prefix("numcodecs.").map_or((name, false), |id| (id, true));
    if !prefixed && let Some(codec) = registered(name, &config, context)? {
        return Ok(codec);
    }
    // numcodecs' codecs without their prefix are what zarrs wrote before 0.20. Behind a bytes codec Blosc sees bytes.
    let known = numcodecs::read(id, config, 1)?;
    Ok(known.unwrap_or_else(|| Codec::Unknown {
        name: extension.name.to_string(),
        configuration: extension.configuration.cloned().map(Value::Object),
        ignorable: !extension.must_understand,
    }))
}

/// The codecs of the core and of the registry, and our own.
fn registered<'a>(name: &str, config: &impl Fn(&[&str]) -> Result<Config<'a>, Fault>, context: &Context) -> Result<Option<Codec>, Fault> {
    let codec = match name {
        "transpose" => transpose(&config(&["order"])?, context)?,
        "bitround" => Codec::BitRound { keepbits: config(&["keepbits"])?.integer("keepbits", 0..=64, None)? as u32, numcodecs: false },
        "cast_value" => cast_value(&config(&["data_type", "rounding", "out_of_range", "scalar_map"])?)?,
        "scale_offset" => {
            let config = config(&["offset", "scale"])?;
            Codec::ScaleOffset { offset: config.get("offset").cloned(), scale: config.get("scale").cloned() }
        }
        "reshape" => reshape(&config(&["shape"])?)?,
        "gingham.stored_shape" => Codec::StoredShape { shape: config(&["shape"])?.lengths("shape", 1)? },
        "squeeze" | "zarrs.squeeze" => config(&[]).map(|_| Codec::Squeeze)?,
        "bytes" | "endian" => bytes(&config(&["endian"])?)?,
        "packbits" => packbits(&config(&["padding_encoding", "first_bit", "last_bit", "start_bit", "end_bit"])?)?,
        "vlen-utf8" | "vlen_utf8" => config(&[]).map(|_| Codec::VlenUtf8)?,
        "vlen-bytes" | "vlen_bytes" => config(&[]).map(|_| Codec::VlenBytes)?,
        "zfp" => Codec::Zfp(zfp(config)?),
        "sharding_indexed" => sharding(&config(&["chunk_shape", "codecs", "index_codecs", "index_location"])?, context)?,
        "gzip" => Codec::Gzip { level: config(&["level"])?.integer("level", 0..=9, None)? as i32 },
        "zstd" => {
            let config = config(&["level", "checksum"])?;
            Codec::Zstd { level: config.integer("level", ZSTD_LEVELS, Some(0))? as i32, checksum: config.boolean("checksum", false)? }
        }
        "blosc" => blosc(&config(&["cname", "clevel", "shuffle", "typesize", "blocksize"])?, context)?,
        "crc32c" => config(&[]).map(|_| Codec::Crc32c { location: Location::End })?,
        _ => return Ok(None),
    };
    Ok(Some(codec))
}

fn transpose(config: &Config, context: &Context) -> Result<Codec, Fault> {
    let order = config.required("order")?;
    let order = match (order.as_str(), context.ndim) {
        (Some("C"), Some(ndim)) => (0..ndim).collect(),
        (Some("F"), Some(ndim)) => (0..ndim).rev().collect(),
        (Some("C" | "F"), None) => return Err(config.wrong("order", "a list of axes where the array's rank is not known", order)),
        (Some(_), _) => return Err(config.wrong("order", "a list of axes", order)),
        (None, _) => {
            let order: Vec<usize> = config.lengths("order", 0)?.iter().map(|&axis| usize::try_from(axis).unwrap_or(usize::MAX)).collect();
            let mut sorted = order.clone();
            sorted.sort_unstable();
            if sorted.iter().enumerate().any(|(i, &axis)| i != axis) {
                return Err(config.wrong(
                    "order",
                    &format!("a permutation of the axes 0 to {}", order.len().saturating_sub(1)),
                    config.required("order")?,
                ));
            }
            order
        }
    };
    Ok(Codec::Transpose { order })
}

fn bytes(config: &Config) -> Result<Codec, Fault> {
    let choices = [("little", ByteOrderName::Little), ("big", ByteOrderName::Big)];
    if config.present("endian").is_none() {
        return Ok(Codec::Bytes(ByteOrder::None));
    }
    Ok(Codec::Bytes(ByteOrder::Uniform(match config.choice("endian", &choices, None)? {
        ByteOrderName::Little => Endian::Little,
        ByteOrderName::Big => Endian::Big,
    })))
}

#[derive(Clone, Copy)]
enum ByteOrderName {
    Little,
    Big,
}

fn blosc(config: &Config, context: &Context) -> Result<Codec, Fault> {
    let shuffles = [("noshuffle", BloscShuffle::None), ("shuffle", BloscShuffle::Byte), ("bitshuffle", BloscShuffle::Bit)];
    // The header of a stored chunk is authoritative, so a missing typesize only chooses how new chunks are made.
    let typesize = match config.present("typesize") {
        Some(_) => config.integer("typesize", 1..=i64::from(i32::MAX), None)? as usize,
        None => context.itemsize.max(1),
    };
    Ok(Codec::Blosc {
        cname: config.choice("cname", &BLOSC_COMPRESSORS, None)?,
        clevel: config.integer("clevel", 0..=9, None)? as u8,
        shuffle: config.choice("shuffle", &shuffles, Some(BloscShuffle::None))?,
        typesize,
        blocksize: config.integer("blocksize", 0..=i64::from(i32::MAX), Some(0))? as usize,
    })
}

fn cast_value(config: &Config) -> Result<Codec, Fault> {
    let roundings = [
        ("nearest-even", Rounding::NearestEven),
        ("towards-zero", Rounding::TowardsZero),
        ("towards-positive", Rounding::TowardsPositive),
        ("towards-negative", Rounding::TowardsNegative),
        ("nearest-away", Rounding::NearestAway),
    ];
    let data_type = parse_v3(config.required("data_type")?)
        .map_err(|error| Fault::new(format!("{}{}", config.pointer_of("data_type"), error.pointer), error.what))?;
    Ok(Codec::CastValue(Box::new(CastValue {
        data_type,
        rounding: config.choice("rounding", &roundings, Some(Rounding::NearestEven))?,
        out_of_range: config.choice(
            "out_of_range",
            &[("clamp", OutOfRange::Clamp), ("wrap", OutOfRange::Wrap)],
            Some(OutOfRange::Error),
        )?,
        encode_map: scalar_map(config, "encode")?,
        decode_map: scalar_map(config, "decode")?,
    })))
}

fn scalar_map(config: &Config, direction: &str) -> Result<Vec<(Value, Value)>, Fault> {
    let Some(value) = config.get("scalar_map") else { return Ok(Vec::new()) };
    let object = value.as_object().ok_or_else(|| config.wrong("scalar_map", "an object", value))?;
    if object.keys().any(|key| key != "encode" && key != "decode") {
        return Err(config.wrong("scalar_map", "an object with encode and decode only", value));
    }
    let Some(pairs) = object.get(direction) else { return Ok(Vec::new()) };
    let pointer = format!("{}/{direction}", config.pointer_of("scalar_map"));
    let list =
        pairs.as_array().ok_or_else(|| Fault::new(pointer.clone(), format!("\"{direction}\" of scalar_map must be a list of pairs")))?;
    let pair = |(i, value): (usize, &Value)| match value.as_array().map(Vec::as_slice) {
        Some([from, to]) => Ok((from.clone(), to.clone())),
        _ => Err(Fault::new(
            format!("{pointer}/{i}"),
            format!("entry {i} of \"{direction}\" must be a pair [in, out], not {}", brief(value)),
        )),
    };
    list.iter().enumerate().map(pair).collect()
}

fn reshape(config: &Config) -> Result<Codec, Fault> {
    let right = "a list of lengths, -1 (at most once) or lists of increasing input axes";
    let list = config.list("shape")?;
    let wrong = || config.wrong("shape", right, &Value::Array(list.to_vec()));
    let dim = |value: &Value| match value {
        Value::Array(axes) => {
            let axes = axes.iter().map(|axis| axis.as_u64().and_then(|axis| usize::try_from(axis).ok())).collect::<Option<_>>();
            axes.map(ReshapeDim::Product).ok_or_else(wrong)
        }
        _ if value.as_i64() == Some(-1) => Ok(ReshapeDim::Infer),
        _ => value.as_u64().filter(|&n| n > 0).map(ReshapeDim::Length).ok_or_else(wrong),
    };
    let shape = list.iter().map(dim).collect::<Result<Vec<_>, _>>()?;
    let axes: Vec<usize> =
        shape.iter().flat_map(|dim| if let ReshapeDim::Product(axes) = dim { axes.as_slice() } else { &[] }).copied().collect();
    let increasing = axes.windows(2).all(|pair| pair[0] < pair[1]);
    if !increasing || shape.iter().filter(|dim| **dim == ReshapeDim::Infer).count() > 1 {
        return Err(wrong());
    }
    Ok(Codec::Reshape { shape })
}

/// The names of the registry's README; its schema has others, which are read too.
fn packbits(config: &Config) -> Result<Codec, Fault> {
    let paddings = [
        ("none", PackBitsPadding::None),
        ("first_byte", PackBitsPadding::FirstByte),
        ("last_byte", PackBitsPadding::LastByte),
        ("start_byte", PackBitsPadding::FirstByte),
        ("end_byte", PackBitsPadding::LastByte),
    ];
    let bit = |name: &str, alias: &str| {
        let key = if config.get(alias).is_some() { alias } else { name };
        config.optional_integer(key, 0..=127).map(|bit| bit.map(|n| n as u32))
    };
    let (first_bit, last_bit) = (bit("first_bit", "start_bit")?, bit("last_bit", "end_bit")?);
    if let (Some(first), Some(last)) = (first_bit, last_bit)
        && last < first
    {
        return Err(config.wrong("last_bit", &format!("at least the first bit, {first}"), &Value::from(last)));
    }
    Ok(Codec::PackBits { padding: config.choice("padding_encoding", &paddings, Some(PackBitsPadding::None))?, first_bit, last_bit })
}

fn zfp<'a>(config: &impl Fn(&[&str]) -> Result<Config<'a>, Fault>) -> Result<ZfpMode, Fault> {
    const PARAMETERS: [&str; 8] = ["mode", "minbits", "maxbits", "maxprec", "minexp", "tolerance", "rate", "precision"];
    let modes = [("reversible", 0), ("expert", 1), ("fixed_accuracy", 2), ("fixed_rate", 3), ("fixed_precision", 4)];
    let positive = |config: &Config, key: &str| {
        let number = config.number(key)?;
        if number > 0.0 { Ok(number) } else { Err(config.wrong(key, "a number above 0", &Value::from(number))) }
    };
    Ok(match config(&PARAMETERS)?.choice("mode", &modes, None)? {
        0 => config(&["mode"]).map(|_| ZfpMode::Reversible)?,
        1 => {
            let config = config(&["mode", "minbits", "maxbits", "maxprec", "minexp"])?;
            let unsigned = |key| config.integer(key, U32, None).map(|n| n as u32);
            ZfpMode::Expert {
                minbits: unsigned("minbits")?,
                maxbits: unsigned("maxbits")?,
                maxprec: unsigned("maxprec")?,
                minexp: config.integer("minexp", I32, None)? as i32,
            }
        }
        2 => ZfpMode::FixedAccuracy(positive(&config(&["mode", "tolerance"])?, "tolerance")?),
        3 => ZfpMode::FixedRate(positive(&config(&["mode", "rate"])?, "rate")?),
        _ => ZfpMode::FixedPrecision(config(&["mode", "precision"])?.integer("precision", 1..=U32.end().to_owned(), None)? as u32),
    })
}

fn sharding(config: &Config, context: &Context) -> Result<Codec, Fault> {
    let chunk_shape = config.lengths("chunk_shape", 1)?;
    let inner = |key: &str, ndim: usize, itemsize: usize, usual: &str| {
        let value = config.get(key).ok_or_else(|| config.missing(key).hint(format!("the usual value is {usual}")))?;
        read_list(value, &Context { ndim: Some(ndim), itemsize }).map_err(|mut fault| {
            fault.pointer = format!("{}{}", config.pointer_of(key), fault.pointer);
            fault
        })
    };
    let codecs = inner("codecs", chunk_shape.len(), context.itemsize, r#"[{"name": "bytes", "configuration": {"endian": "little"}}]"#)?;
    let index_usual = r#"[{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]"#;
    let index_codecs = inner("index_codecs", chunk_shape.len() + 1, 8, index_usual)?;
    let index_location = config.choice("index_location", &LOCATIONS, Some(Location::End))?;
    Ok(Codec::Sharding(Box::new(Sharding { chunk_shape, codecs, index_codecs, index_location })))
}
