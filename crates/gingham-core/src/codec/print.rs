//! [`Codec`]s as the objects of v3 and v2 documents, in the spelling that every other reader takes (format.md 0).

use super::numcodecs::{BLOSC_COMPRESSORS, LOCATIONS};
use super::{
    BloscCompressor, BloscShuffle, ByteOrder, CastValue, Codec, CodecError, Location, OutOfRange, PackBitsPadding, Pcodec, ReshapeDim,
    Rounding, Sharding, ZfpMode,
};
use crate::dtype::{Endian, TypeStr, to_v2, to_v3};
use crate::extension::Fault;
use crate::json::{Map, Value};
use serde_json::json;

/// A v3 codec object: name and full configuration. [`super::ByteOrder::PerLeaf`] has no v3 form.
pub fn codec_to_v3(codec: &Codec) -> Result<Value, CodecError> {
    let name = codec.name();
    let configuration = match codec {
        Codec::Bytes(ByteOrder::None) | Codec::Crc32c { location: Location::End } => return Ok(json!({"name": name})),
        Codec::Unknown { .. } => return Ok(unknown_to_v3(codec)),
        Codec::Bytes(ByteOrder::PerLeaf(_)) => {
            return Err(Fault::new("", "v3 has one byte order for all fields of a struct, but these fields differ").into());
        }
        Codec::Bytes(ByteOrder::Uniform(Endian::Little)) => json!({"endian": "little"}),
        Codec::Bytes(ByteOrder::Uniform(Endian::Big)) => json!({"endian": "big"}),
        Codec::Transpose { order } => json!({"order": order}),
        Codec::CastValue(cast) => cast_value(cast)?,
        Codec::ScaleOffset { offset, scale } => Value::Object(
            [("offset", offset), ("scale", scale)].into_iter().filter_map(|(k, v)| Some((k.to_string(), v.clone()?))).collect(),
        ),
        Codec::Reshape { shape } => json!({"shape": shape.iter().map(reshape_dim).collect::<Vec<_>>()}),
        Codec::StoredShape { shape } => json!({"shape": shape.as_slice()}),
        Codec::Squeeze => json!({}),
        Codec::PackBits { padding, first_bit, last_bit } => packbits(*padding, *first_bit, *last_bit),
        Codec::Zfp(mode) => zfp(mode),
        Codec::Sharding(sharding) => self::sharding(sharding)?,
        Codec::Zstd { level, checksum } => json!({"level": level, "checksum": checksum}),
        Codec::Blosc { cname, clevel, shuffle, typesize, blocksize } => {
            let shuffle = match shuffle {
                BloscShuffle::None => "noshuffle",
                BloscShuffle::Byte => "shuffle",
                BloscShuffle::Bit => "bitshuffle",
            };
            json!({"cname": cname_text(*cname), "clevel": clevel, "shuffle": shuffle, "typesize": typesize, "blocksize": blocksize})
        }
        // In v3 the numbers that numcodecs' filters see are native; the bytes codec alone says how they are stored.
        _ => Value::Object(numcodecs(codec, Some(Endian::Little))?),
    };
    Ok(json!({"name": name, "configuration": configuration}))
}

/// A v3 `codecs` list.
pub fn chain_to_v3(codecs: &[Codec]) -> Result<Value, CodecError> {
    let print = |(i, codec)| codec_to_v3(codec).map_err(|error| error.below(&format!("/{i}")));
    codecs.iter().enumerate().map(print).collect()
}

/// A v2 filter or compressor object, or the reason why v2 has none.
pub fn codec_to_v2(codec: &Codec) -> Result<Value, CodecError> {
    let mut object = Map::new();
    let id = codec.name().strip_prefix("numcodecs.").unwrap_or(codec.name());
    object.insert("id".into(), id.into());
    let configuration = match codec {
        Codec::Zstd { level, checksum } => {
            let mut configuration = Map::from_iter([("level".to_string(), Value::from(*level))]);
            if *checksum {
                configuration.insert("checksum".into(), true.into());
            }
            configuration
        }
        Codec::Blosc { cname, clevel, shuffle, blocksize, .. } => {
            let shuffle = match shuffle {
                BloscShuffle::None => 0,
                BloscShuffle::Byte => 1,
                BloscShuffle::Bit => 2,
            };
            members(json!({"cname": cname_text(*cname), "clevel": clevel, "shuffle": shuffle, "blocksize": blocksize}))
        }
        Codec::Unknown { configuration, .. } => members(configuration.clone().unwrap_or_default()),
        _ => numcodecs(codec, None)?,
    };
    object.extend(configuration);
    Ok(Value::Object(object))
}

fn unknown_to_v3(codec: &Codec) -> Value {
    let mut object = Map::from_iter([("name".to_string(), Value::from(codec.name()))]);
    if let Codec::Unknown { configuration, ignorable, .. } = codec {
        object.extend(configuration.clone().map(|c| ("configuration".to_string(), c)));
        if *ignorable {
            object.insert("must_understand".into(), false.into());
        }
    }
    Value::Object(object)
}

/// The parameters of the codecs that both formats spell alike. `order` overrides the byte order of type strings.
fn numcodecs(codec: &Codec, order: Option<Endian>) -> Result<Map<String, Value>, CodecError> {
    let typestr = |key: &str, typestr: &TypeStr| type_text(key, typestr, order);
    let with_location = |location: Location, default: Location| {
        let name = LOCATIONS.iter().find(|(_, l)| *l == location).map(|(name, _)| *name);
        if location == default { json!({}) } else { json!({"location": name}) }
    };
    Ok(members(match codec {
        Codec::BitRound { keepbits, .. } => json!({"keepbits": keepbits}),
        Codec::Delta { dtype, astype } => json!({"dtype": typestr("dtype", dtype)?, "astype": typestr("astype", astype)?}),
        Codec::FixedScaleOffset { offset, scale, dtype, astype } => {
            json!({"offset": offset, "scale": scale, "dtype": typestr("dtype", dtype)?, "astype": typestr("astype", astype)?})
        }
        Codec::Quantize { digits, dtype, astype } => {
            json!({"digits": digits, "dtype": typestr("dtype", dtype)?, "astype": typestr("astype", astype)?})
        }
        Codec::AsType { encode_dtype, decode_dtype } => {
            json!({"encode_dtype": typestr("encode_dtype", encode_dtype)?, "decode_dtype": typestr("decode_dtype", decode_dtype)?})
        }
        Codec::Categorize { labels, dtype, astype } => {
            json!({"labels": labels, "dtype": typestr("dtype", dtype)?, "astype": typestr("astype", astype)?})
        }
        Codec::VlenArray { dtype } => json!({"dtype": typestr("dtype", dtype)?}),
        Codec::NumcodecsPackBits | Codec::VlenUtf8 | Codec::VlenBytes | Codec::Fletcher32 | Codec::Base64 => json!({}),
        Codec::Json2(configuration) | Codec::MsgPack2(configuration) => configuration.clone(),
        Codec::Pcodec(pcodec) => self::pcodec(pcodec),
        Codec::Zfpy(mode) => zfpy(mode)?,
        Codec::Gzip { level } | Codec::Zlib { level } => json!({"level": level}),
        Codec::Crc32c { location } => with_location(*location, Location::End),
        Codec::Crc32 { location } | Codec::Adler32 { location } => with_location(*location, Location::Start),
        Codec::JenkinsLookup3 { initval, prefix } => json!({"initval": initval, "prefix": prefix}),
        Codec::Lz4 { acceleration } => json!({"acceleration": acceleration}),
        Codec::Lzma(lzma) => json!({"format": lzma.format, "check": lzma.check, "preset": lzma.preset, "filters": lzma.filters}),
        Codec::Bz2 { level } => json!({"level": level}),
        Codec::Shuffle { elementsize } => json!({"elementsize": elementsize}),
        _ => return Err(Fault::new("", format!("v2 has no codec \"{}\"", codec.name())).into()),
    }))
}

fn members(value: Value) -> Map<String, Value> {
    if let Value::Object(members) = value { members } else { Map::new() }
}

fn type_text(key: &str, typestr: &TypeStr, order: Option<Endian>) -> Result<Value, CodecError> {
    let typestr = match order {
        Some(order) => &TypeStr::new(typestr.data_type.clone(), order),
        None => typestr,
    };
    to_v2(typestr).map_err(|error| Fault::new(format!("/configuration/{key}"), error.what).into())
}

fn cname_text(cname: BloscCompressor) -> &'static str {
    BLOSC_COMPRESSORS.iter().find(|(_, c)| *c == cname).map_or("lz4", |(name, _)| name)
}

fn cast_value(cast: &CastValue) -> Result<Value, CodecError> {
    let data_type = to_v3(&cast.data_type).map_err(|error| Fault::new("/configuration/data_type", error.what))?;
    let mut configuration = Map::from_iter([("data_type".to_string(), data_type)]);
    let rounding = match cast.rounding {
        Rounding::NearestEven => "nearest-even",
        Rounding::TowardsZero => "towards-zero",
        Rounding::TowardsPositive => "towards-positive",
        Rounding::TowardsNegative => "towards-negative",
        Rounding::NearestAway => "nearest-away",
    };
    configuration.insert("rounding".into(), rounding.into());
    match cast.out_of_range {
        OutOfRange::Error => None,
        OutOfRange::Clamp => configuration.insert("out_of_range".into(), "clamp".into()),
        OutOfRange::Wrap => configuration.insert("out_of_range".into(), "wrap".into()),
    };
    let mut scalar_map = Map::new();
    for (key, pairs) in [("encode", &cast.encode_map), ("decode", &cast.decode_map)] {
        if !pairs.is_empty() {
            scalar_map.insert(key.into(), pairs.iter().map(|(from, to)| json!([from, to])).collect());
        }
    }
    if !scalar_map.is_empty() {
        configuration.insert("scalar_map".into(), Value::Object(scalar_map));
    }
    Ok(Value::Object(configuration))
}

fn reshape_dim(dim: &ReshapeDim) -> Value {
    match dim {
        ReshapeDim::Length(length) => Value::from(*length),
        ReshapeDim::Infer => Value::from(-1),
        ReshapeDim::Product(axes) => Value::from(axes.clone()),
    }
}

fn packbits(padding: PackBitsPadding, first_bit: Option<u32>, last_bit: Option<u32>) -> Value {
    let padding = match padding {
        PackBitsPadding::None => "none",
        PackBitsPadding::FirstByte => "first_byte",
        PackBitsPadding::LastByte => "last_byte",
    };
    let mut configuration = Map::from_iter([("padding_encoding".to_string(), Value::from(padding))]);
    configuration.extend(first_bit.map(|bit| ("first_bit".to_string(), Value::from(bit))));
    configuration.extend(last_bit.map(|bit| ("last_bit".to_string(), Value::from(bit))));
    Value::Object(configuration)
}

fn zfp(mode: &ZfpMode) -> Value {
    match mode {
        ZfpMode::Reversible => json!({"mode": "reversible"}),
        ZfpMode::Expert { minbits, maxbits, maxprec, minexp } => {
            json!({"mode": "expert", "minbits": minbits, "maxbits": maxbits, "maxprec": maxprec, "minexp": minexp})
        }
        ZfpMode::FixedAccuracy(tolerance) => json!({"mode": "fixed_accuracy", "tolerance": tolerance}),
        ZfpMode::FixedRate(rate) => json!({"mode": "fixed_rate", "rate": rate}),
        ZfpMode::FixedPrecision(precision) => json!({"mode": "fixed_precision", "precision": precision}),
    }
}

fn zfpy(mode: &ZfpMode) -> Result<Value, CodecError> {
    Ok(match mode {
        ZfpMode::Reversible => json!({"mode": 5}),
        ZfpMode::FixedAccuracy(tolerance) => json!({"mode": 4, "tolerance": tolerance}),
        ZfpMode::FixedRate(rate) => json!({"mode": 2, "rate": rate}),
        ZfpMode::FixedPrecision(precision) => json!({"mode": 3, "precision": precision}),
        ZfpMode::Expert { .. } => return Err(Fault::new("", "numcodecs' zfpy has no expert mode").into()),
    })
}

fn pcodec(pcodec: &Pcodec) -> Value {
    json!({
        "level": pcodec.level,
        "mode_spec": pcodec.mode_spec,
        "delta_spec": pcodec.delta_spec,
        "paging_spec": pcodec.paging_spec,
        "delta_encoding_order": pcodec.delta_encoding_order,
        "equal_pages_up_to": pcodec.equal_pages_up_to,
    })
}

fn sharding(sharding: &Sharding) -> Result<Value, CodecError> {
    let inner = |key: &str, codecs: &[Codec]| chain_to_v3(codecs).map_err(|error| error.below(&format!("/configuration/{key}")));
    let location = if sharding.index_location == Location::Start { "start" } else { "end" };
    Ok(json!({
        "chunk_shape": sharding.chunk_shape.as_slice(),
        "codecs": inner("codecs", &sharding.codecs)?,
        "index_codecs": inner("index_codecs", &sharding.index_codecs)?,
        "index_location": location,
    }))
}
