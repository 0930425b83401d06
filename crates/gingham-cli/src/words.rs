//! Documents in words: grids by their runs, codecs by what they do, attributes cut short.

use gingham::core::codec::{BloscCompressor, BloscShuffle, ByteOrder, Codec, Location, Sharding, codec_to_v3};
use gingham::core::dtype::{Endian, Spelling, format_element};
use gingham::core::grid::{Axis, Run};
use gingham::core::key::KeyEncoding;
use gingham::core::meta;
use gingham::{DataType, Format, Grid};
use serde_json::{Map, Value};

use crate::render;

/// `Zarr v3`.
pub fn format(format: Format) -> &'static str {
    match format {
        Format::V2 => "Zarr v2",
        Format::V3 => "Zarr v3",
    }
}

/// `a, b, c and 4 more`; `None` for no names.
pub fn some_of(names: &[String], most: usize) -> Option<String> {
    if names.is_empty() {
        return None;
    }
    let mut text = names.iter().take(most).map(|n| render::short(n, 60)).collect::<Vec<_>>().join(", ");
    if names.len() > most {
        text.push_str(", …");
    }
    Some(text)
}

/// The listed lengths of one axis as runs: `31, 29, 31x2, 30`. Long lists are cut after `most` runs, and say so.
pub fn runs(runs: &[Run], most: usize) -> String {
    let mut text = runs
        .iter()
        .take(most)
        .map(|r| if r.count == 1 { r.length.to_string() } else { format!("{}x{}", r.length, r.count) })
        .collect::<Vec<_>>()
        .join(", ");
    if runs.len() > most {
        text.push_str(&format!(", … ({} more runs)", runs.len() - most));
    }
    text
}

/// The cuts of one axis: a step (`64`) or its runs.
pub fn axis(axis: &Axis, most: usize) -> String {
    match axis.as_step() {
        Some(step) => step.to_string(),
        None => runs(&axis.runs(), most),
    }
}

/// The grid on one line: `64 x 256 x 256`, or `[31, 29, 31x2, 30] x 25 x 35` where an axis has several lengths.
pub fn grid_line(grid: &Grid, most: usize) -> String {
    if grid.ndim() == 0 {
        return "one element".into();
    }
    let part = |a: &Axis| match a.as_step() {
        Some(step) => step.to_string(),
        None => format!("[{}]", runs(&a.runs(), most)),
    };
    grid.axes().iter().map(part).collect::<Vec<_>>().join(" x ")
}

/// True where every axis is one number.
pub fn is_stepped(grid: &Grid) -> bool {
    grid.axes().iter().all(|a| a.as_step().is_some())
}

/// How an axis is called in words: its name, or `axis 2`.
pub fn axis_name(names: Option<&[Option<String>]>, i: usize) -> String {
    match names.and_then(|n| n.get(i)) {
        Some(Some(name)) if !name.is_empty() => render::short(name, 24),
        _ => format!("axis {i}"),
    }
}

/// A codec by what it does, with its parameters: `zstd level 3`, `blosc lz4 level 5 shuffle`.
pub fn codec(codec: &Codec) -> String {
    match codec {
        Codec::Transpose { order } => format!("transpose ({})", order.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
        Codec::BitRound { keepbits, .. } => format!("bitround to {keepbits} mantissa bits"),
        Codec::Bytes(ByteOrder::None) => "bytes".into(),
        Codec::Bytes(ByteOrder::Uniform(Endian::Little)) => "bytes little-endian".into(),
        Codec::Bytes(ByteOrder::Uniform(Endian::Big)) => "bytes big-endian".into(),
        Codec::Bytes(ByteOrder::PerLeaf(_)) => "bytes with an order per member".into(),
        Codec::Sharding(sharding) => shards(sharding),
        Codec::Gzip { level } => format!("gzip level {level}"),
        Codec::Zlib { level } => format!("zlib level {level}"),
        Codec::Zstd { level, checksum } => format!("zstd level {level}{}", if *checksum { " with checksum" } else { "" }),
        Codec::Blosc { cname, clevel, shuffle, .. } => format!("blosc {} level {clevel}{}", blosc_name(*cname), blosc_shuffle(*shuffle)),
        Codec::Crc32c { location: Location::End } => "crc32c".into(),
        Codec::Crc32c { location: Location::Start } => "crc32c at the start".into(),
        Codec::Lz4 { acceleration } => format!("lz4 acceleration {acceleration}"),
        Codec::Bz2 { level } => format!("bz2 level {level}"),
        Codec::Shuffle { elementsize } => format!("shuffle of {elementsize} bytes"),
        Codec::Unknown { name, ignorable, .. } => {
            format!("{} ({})", render::short(name, 60), if *ignorable { "unknown, may be ignored" } else { "unknown" })
        }
        other => named(other),
    }
}

/// The codecs of a chain in words, in the order of encoding.
pub fn codecs(chain: &[Codec]) -> String {
    chain.iter().map(codec).collect::<Vec<_>>().join(", ")
}

fn shards(sharding: &Sharding) -> String {
    let place = match sharding.index_location {
        Location::Start => "start",
        Location::End => "end",
    };
    format!("shards of {} chunks ({}), index at the {place}", render::shape(&sharding.chunk_shape), codecs(&sharding.codecs))
}

/// A codec's name and its configuration as compact JSON.
fn named(codec: &Codec) -> String {
    let name = codec.name().to_string();
    let configuration = codec_to_v3(codec).ok().and_then(|v| v.get("configuration").cloned());
    match configuration {
        Some(Value::Object(o)) if !o.is_empty() => format!("{name} {}", render::short(&parameters(&o), 80)),
        _ => name,
    }
}

fn parameters(o: &Map<String, Value>) -> String {
    let one = |v: &Value| v.as_str().map_or_else(|| v.to_string(), str::to_string);
    o.iter().map(|(k, v)| format!("{k}={}", one(v))).collect::<Vec<_>>().join(" ")
}

fn blosc_name(cname: BloscCompressor) -> &'static str {
    match cname {
        BloscCompressor::BloscLz => "blosclz",
        BloscCompressor::Lz4 => "lz4",
        BloscCompressor::Lz4Hc => "lz4hc",
        BloscCompressor::Snappy => "snappy",
        BloscCompressor::Zlib => "zlib",
        BloscCompressor::Zstd => "zstd",
    }
}

fn blosc_shuffle(shuffle: BloscShuffle) -> &'static str {
    match shuffle {
        BloscShuffle::None => "",
        BloscShuffle::Byte => " shuffle",
        BloscShuffle::Bit => " bitshuffle",
    }
}

/// The key of the first chunk, relative to its array; `None` where the encoding cannot name chunks of so many axes.
pub fn first_key(encoding: &KeyEncoding, ndim: usize) -> Option<String> {
    encoding.check_ndim(ndim).ok().map(|()| encoding.encode(&vec![0; ndim]))
}

/// How chunks are named: the key of the first one, and the encoding's name.
pub fn keys(encoding: &KeyEncoding, ndim: usize) -> String {
    let name = match encoding {
        KeyEncoding::Default { .. } => "default",
        KeyEncoding::V2 { .. } => "v2",
        KeyEncoding::Suffix { .. } => "suffix",
        KeyEncoding::Prefix { .. } => "prefix",
        KeyEncoding::Fanout { .. } => "fanout",
        KeyEncoding::Template { .. } => "template",
    };
    first_key(encoding, ndim).map_or_else(|| name.into(), |key| format!("{} ({name})", render::short(&key, 60)))
}

/// The fill value, and whether it was left open.
pub fn fill(array: &meta::Array) -> String {
    if matches!(array.data_type(), DataType::Unknown { .. }) {
        return array.document().get("fill_value").map_or("none".into(), |v| render::short(&v.to_string(), 60));
    }
    let value = format_element(array.data_type(), array.fill_value().as_bytes(), Spelling::Plain);
    let text = render::short(&plain(&value), 60);
    if array.fill_is_undefined() { format!("undefined (read as {text})") } else { text }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(s) if s.is_empty() => "\"\"".into(),
        Value::String(s) => s.clone(),
        other => other.to_string(),
    }
}

/// Attributes, one a line, each cut short; at most `most` of them.
pub fn attributes(attributes: &Map<String, Value>, most: usize) -> String {
    let mut lines: Vec<String> = attributes.iter().take(most).map(|(k, v)| attribute(k, v)).collect();
    if attributes.len() > most {
        lines.push(format!("… and {} more (--json shows all)", attributes.len() - most));
    }
    lines.join("\n")
}

/// `units: K`.
pub fn attribute(key: &str, value: &Value) -> String {
    format!("{}: {}", render::short(key, 40), render::short(&plain(value), 100))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn runs_are_written_as_lengths_and_counts() {
        let r = |length, count| Run { length, count };
        assert_eq!(runs(&[r(31, 1), r(29, 1), r(31, 2), r(30, 1)], 9), "31, 29, 31x2, 30");
        assert_eq!(runs(&[r(1, 1_000_000_000_000)], 9), "1x1000000000000");
        assert_eq!(runs(&[r(1, 1), r(2, 1), r(3, 1)], 2), "1, 2, … (1 more runs)");
    }

    #[test]
    fn codecs_are_told_by_what_they_do() {
        let blosc = Codec::Blosc { cname: BloscCompressor::Lz4, clevel: 5, shuffle: BloscShuffle::Byte, typesize: 4, blocksize: 0 };
        let list = [Codec::Bytes(ByteOrder::Uniform(Endian::Little)), blosc, Codec::Crc32c { location: Location::End }];
        assert_eq!(codecs(&list), "bytes little-endian, blosc lz4 level 5 shuffle, crc32c");
        let unknown = Codec::Unknown { name: "wavpack\u{7}".into(), configuration: None, ignorable: false };
        assert_eq!(codec(&unknown), "wavpack\\u{7} (unknown)");
    }

    #[test]
    fn lists_of_names_are_cut() {
        let names: Vec<String> = ["a", "b", "c"].map(String::from).to_vec();
        assert_eq!(some_of(&names, 2).unwrap(), "a, b, …");
        assert_eq!(some_of(&names, 3).unwrap(), "a, b, c");
        assert_eq!(some_of(&[], 3), None);
    }
}
