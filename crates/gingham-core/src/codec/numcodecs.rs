//! The parameters of numcodecs' codecs: one table for v2's `{"id": …}` and v3's `numcodecs.*` (format.md 2.5, 3.4).

use super::{BloscCompressor, BloscShuffle, Codec, Location, Lzma, Pcodec, ZfpMode};
use crate::dtype::{TypeStr, parse_v2};
use crate::extension::{Config, Fault};
use crate::json::Value;

pub(super) const BLOSC_COMPRESSORS: [(&str, BloscCompressor); 6] = [
    ("blosclz", BloscCompressor::BloscLz),
    ("lz4", BloscCompressor::Lz4),
    ("lz4hc", BloscCompressor::Lz4Hc),
    ("snappy", BloscCompressor::Snappy),
    ("zlib", BloscCompressor::Zlib),
    ("zstd", BloscCompressor::Zstd),
];

pub(super) const LOCATIONS: [(&str, Location); 2] = [("start", Location::Start), ("end", Location::End)];

/// Levels of zlib and gzip; -1 is the library's own choice.
const DEFLATE_LEVELS: std::ops::RangeInclusive<i64> = -1..=9;
/// Levels of zstd as the library has them.
pub(super) const ZSTD_LEVELS: std::ops::RangeInclusive<i64> = -131_072..=22;
pub(super) const U32: std::ops::RangeInclusive<i64> = 0..=u32::MAX as i64;
pub(super) const I32: std::ops::RangeInclusive<i64> = i32::MIN as i64..=i32::MAX as i64;

/// Reads a codec of numcodecs, or `None` for an id that is not one. `config` gives its parameters once it is told which
/// there are; `itemsize` is the size of the items that the codec sees.
pub(super) fn read<'a>(id: &str, config: impl Fn(&[&str]) -> Result<Config<'a>, Fault>, itemsize: usize) -> Result<Option<Codec>, Fault> {
    let bare = |codec: Codec| config(&[]).map(|_| codec);
    let codec = match id {
        "delta" => {
            let (dtype, astype) = types(&config(&["dtype", "astype"])?, None)?;
            Codec::Delta { dtype, astype }
        }
        "fixedscaleoffset" => {
            let config = config(&["offset", "scale", "dtype", "astype"])?;
            let (dtype, astype) = types(&config, None)?;
            Codec::FixedScaleOffset { offset: config.number("offset")?, scale: nonzero(&config, "scale")?, dtype, astype }
        }
        "quantize" => {
            let config = config(&["digits", "dtype", "astype"])?;
            let (dtype, astype) = types(&config, None)?;
            Codec::Quantize { digits: config.integer("digits", -1000..=1000, None)? as i32, dtype, astype }
        }
        "astype" => {
            let config = config(&["encode_dtype", "decode_dtype"])?;
            Codec::AsType { encode_dtype: typestr(&config, "encode_dtype")?, decode_dtype: typestr(&config, "decode_dtype")? }
        }
        "bitround" => Codec::BitRound { keepbits: config(&["keepbits"])?.integer("keepbits", 0..=64, None)? as u32, numcodecs: true },
        "packbits" => bare(Codec::NumcodecsPackBits)?,
        "categorize" => categorize(&config(&["labels", "dtype", "astype"])?)?,
        "vlen-utf8" | "vlen_utf8" => bare(Codec::VlenUtf8)?,
        "vlen-bytes" | "vlen_bytes" => bare(Codec::VlenBytes)?,
        "vlen-array" | "vlen_array" => Codec::VlenArray { dtype: typestr(&config(&["dtype"])?, "dtype")? },
        "json2" => Codec::Json2(config(&JSON2)?.to_value()),
        "msgpack2" => Codec::MsgPack2(config(&["use_single_float", "use_bin_type", "raw"])?.to_value()),
        "pcodec" => Codec::Pcodec(pcodec(&config(&PCODEC)?)?),
        "zfpy" => Codec::Zfpy(zfpy(&config(&["mode", "tolerance", "rate", "precision", "compression_kwargs"])?)?),
        "gzip" => Codec::Gzip { level: config(&["level"])?.integer("level", DEFLATE_LEVELS, Some(1))? as i32 },
        "zlib" => Codec::Zlib { level: config(&["level"])?.integer("level", DEFLATE_LEVELS, Some(1))? as i32 },
        "zstd" => {
            let config = config(&["level", "checksum"])?;
            // numcodecs takes any number and the library clamps it, so levels such as 100 were written.
            let level = config.integer("level", I32, Some(1))?.clamp(*ZSTD_LEVELS.start(), *ZSTD_LEVELS.end());
            Codec::Zstd { level: level as i32, checksum: config.boolean("checksum", false)? }
        }
        "blosc" => blosc(&config(&["cname", "clevel", "shuffle", "blocksize", "typesize"])?, itemsize)?,
        "crc32c" => Codec::Crc32c { location: location(&config(&["location"])?, Location::End)? },
        "crc32" => Codec::Crc32 { location: location(&config(&["location"])?, Location::Start)? },
        "adler32" => Codec::Adler32 { location: location(&config(&["location"])?, Location::Start)? },
        "fletcher32" => bare(Codec::Fletcher32)?,
        "jenkins_lookup3" => {
            let config = config(&["initval", "prefix"])?;
            Codec::JenkinsLookup3 { initval: config.integer("initval", U32, Some(0))? as u32, prefix: byte_list(&config, "prefix")? }
        }
        "lz4" => Codec::Lz4 { acceleration: config(&["acceleration"])?.integer("acceleration", I32, Some(1))? as i32 },
        "lzma" => Codec::Lzma(lzma(&config(&["format", "check", "preset", "filters"])?)?),
        "bz2" => Codec::Bz2 { level: config(&["level"])?.integer("level", 1..=9, Some(1))? as u32 },
        "shuffle" => Codec::Shuffle { elementsize: config(&["elementsize"])?.integer("elementsize", U32, Some(4))? as usize },
        "base64" => bare(Codec::Base64)?,
        _ => return Ok(None),
    };
    Ok(Some(codec))
}

/// json2's parameters: those of Python's JSON encoder and decoder.
const JSON2: [&str; 9] =
    ["encoding", "skipkeys", "ensure_ascii", "check_circular", "allow_nan", "indent", "separators", "sort_keys", "strict"];

const PCODEC: [&str; 6] = ["level", "mode_spec", "delta_spec", "paging_spec", "delta_encoding_order", "equal_pages_up_to"];

/// A type string or numpy name.
pub(super) fn typestr(config: &Config, key: &str) -> Result<TypeStr, Fault> {
    let value = config.required(key)?;
    parse_v2(value).or_else(|error| {
        // numpy also takes type strings without a byte order, or with "=": both mean the machine's.
        let native = value.as_str().map(|text| format!("<{}", text.strip_prefix('=').unwrap_or(text)));
        let native = native.and_then(|text| parse_v2(&Value::from(text)).ok());
        native.ok_or_else(|| Fault::new(format!("{}{}", config.pointer_of(key), error.pointer), error.what))
    })
}

/// `dtype` and `astype`, which is `dtype` (or `default`) where it is absent or null.
fn types(config: &Config, default: Option<&str>) -> Result<(TypeStr, TypeStr), Fault> {
    let dtype = typestr(config, "dtype")?;
    let astype = match (config.present("astype"), default) {
        (Some(_), _) => typestr(config, "astype")?,
        (None, Some(name)) => parse_v2(&Value::from(name)).map_err(|error| config.fault("astype", error.what))?,
        (None, None) => dtype.clone(),
    };
    Ok((dtype, astype))
}

fn nonzero(config: &Config, key: &str) -> Result<f64, Fault> {
    let number = config.number(key)?;
    if number == 0.0 { Err(config.wrong(key, "a number other than 0", &Value::from(0))) } else { Ok(number) }
}

fn location(config: &Config, default: Location) -> Result<Location, Fault> {
    config.choice("location", &LOCATIONS, Some(default))
}

fn categorize(config: &Config) -> Result<Codec, Fault> {
    let (dtype, astype) = types(config, Some("|u1"))?;
    let label = |(i, value): (usize, &Value)| {
        value.as_str().map(str::to_string).ok_or_else(|| {
            let pointer = format!("{}/{i}", config.pointer_of("labels"));
            Fault::new(pointer, format!("label {i} of codec \"categorize\" must be a string, not {}", crate::extension::brief(value)))
        })
    };
    let labels = config.list("labels")?.iter().enumerate().map(label).collect::<Result<_, _>>()?;
    Ok(Codec::Categorize { labels, dtype, astype })
}

fn byte_list(config: &Config, key: &str) -> Result<Option<Vec<u8>>, Fault> {
    let Some(value) = config.present(key) else { return Ok(None) };
    let bytes = value.as_array().and_then(|list| list.iter().map(|n| n.as_u64().and_then(|n| u8::try_from(n).ok())).collect());
    bytes.map(Some).ok_or_else(|| config.wrong(key, "null or a list of integers from 0 to 255", value))
}

/// numcodecs' Blosc: shuffle is a number, -1 chooses by the size of the items.
fn blosc(config: &Config, itemsize: usize) -> Result<Codec, Fault> {
    let typesize = match config.present("typesize") {
        Some(_) => config.integer("typesize", 1..=i64::from(i32::MAX), None)? as usize,
        None => itemsize.max(1),
    };
    let shuffle = match config.integer("shuffle", -1..=2, Some(1))? {
        0 => BloscShuffle::None,
        1 => BloscShuffle::Byte,
        2 => BloscShuffle::Bit,
        _ if itemsize <= 1 => BloscShuffle::Bit,
        _ => BloscShuffle::Byte,
    };
    Ok(Codec::Blosc {
        cname: config.choice("cname", &BLOSC_COMPRESSORS, Some(BloscCompressor::Lz4))?,
        clevel: config.integer("clevel", 0..=9, Some(5))? as u8,
        shuffle,
        typesize,
        blocksize: config.integer("blocksize", 0..=i64::from(i32::MAX), Some(0))? as usize,
    })
}

fn lzma(config: &Config) -> Result<Lzma, Fault> {
    let filters = match config.present("filters") {
        Some(list @ Value::Array(_)) => Some(list.clone()),
        None => None,
        Some(other) => return Err(config.wrong("filters", "null or a list", other)),
    };
    // 9 is the highest preset; bit 31 is lzma's "extreme".
    let preset = config.optional_integer("preset", U32)?.map(|n| n as u32);
    if preset.is_some_and(|p| p & 0x7fff_ffff > 9) {
        return Err(config.wrong("preset", "null or an integer from 0 to 9", &Value::from(preset)));
    }
    Ok(Lzma {
        format: config.integer("format", 1..=3, Some(1))? as u8,
        check: config.integer("check", -1..=15, Some(-1))? as i32,
        preset,
        filters,
    })
}

fn pcodec(config: &Config) -> Result<Pcodec, Fault> {
    let name = |key: &str, names: &[&'static str], default: &'static str| {
        let choices: Vec<(&str, &'static str)> = names.iter().map(|&n| (n, n)).collect();
        let default = if config.present(key).is_none() { return Ok(default.to_string()) } else { None };
        config.choice(key, &choices, default).map(str::to_string)
    };
    Ok(Pcodec {
        level: config.integer("level", 0..=12, Some(8))? as u8,
        mode_spec: name("mode_spec", &["auto", "classic", "try_float_mult", "try_float_quant", "try_int_mult"], "auto")?,
        delta_spec: name("delta_spec", &["auto", "none", "no_op", "try_consecutive", "try_lookback"], "auto")?,
        paging_spec: name("paging_spec", &["equal_pages_up_to"], "equal_pages_up_to")?,
        delta_encoding_order: config.optional_integer("delta_encoding_order", 0..=7)?.map(|n| n as u8),
        equal_pages_up_to: config.integer("equal_pages_up_to", 1..=i64::MAX, Some(262_144))?.unsigned_abs(),
    })
}

/// zfpy's mode numbers are those of the C library. A negative parameter means that it was not given: lossless.
fn zfpy(config: &Config) -> Result<ZfpMode, Fault> {
    let number = |key: &str| if config.present(key).is_some() { config.number(key) } else { Ok(-1.0) };
    let mode = match config.integer("mode", 2..=5, Some(4))? {
        2 => ZfpMode::FixedRate(number("rate")?),
        3 => {
            let precision = config.optional_integer("precision", -1..=I32.end().to_owned())?;
            precision.filter(|&p| p >= 0).map_or(ZfpMode::Reversible, |p| ZfpMode::FixedPrecision(p as u32))
        }
        4 => ZfpMode::FixedAccuracy(number("tolerance")?),
        _ => ZfpMode::Reversible,
    };
    Ok(match mode {
        ZfpMode::FixedRate(x) | ZfpMode::FixedAccuracy(x) if x < 0.0 => ZfpMode::Reversible,
        mode => mode,
    })
}
