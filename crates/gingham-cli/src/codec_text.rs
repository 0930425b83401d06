//! Codecs as people type them: `zstd:3`, `blosc:lz4:5:shuffle`, `bitround:10,zstd:5`, `none`, or the JSON of a document.

use gingham::core::codec::{BloscCompressor, BloscShuffle, Codec, Location, Pcodec, chain_from_v3};

use crate::error::{Failure, Result};

/// The names that are understood, for messages.
const KNOWN: &str = "none, zstd[:LEVEL], gzip[:LEVEL], zlib[:LEVEL], blosc[:CNAME[:LEVEL[:SHUFFLE]]], lz4[:ACCELERATION], \
                     bz2[:LEVEL], shuffle[:SIZE], crc32c, crc32, adler32, fletcher32, bitround:BITS, packbits, pcodec[:LEVEL]";

/// Reads a list of codecs, separated by `,` or `+`, in the order of encoding. `itemsize` is that of an element, which Blosc
/// and shuffle need; `None` where it differs from array to array, and the job puts Blosc's in. `none` is the empty list.
pub fn parse(text: &str, itemsize: Option<usize>) -> Result<Vec<Codec>> {
    let text = text.trim();
    if text.starts_with(['{', '[']) {
        return from_json(text);
    }
    if text.eq_ignore_ascii_case("none") {
        return Ok(Vec::new());
    }
    text.split([',', '+']).map(|part| one(part.trim(), itemsize)).collect()
}

fn from_json(text: &str) -> Result<Vec<Codec>> {
    let value: serde_json::Value = serde_json::from_str(text).map_err(|e| Failure::usage(format!("the codecs are not JSON: {e}")))?;
    let list = if value.is_array() { value } else { serde_json::Value::Array(vec![value]) };
    chain_from_v3(&list).map_err(|e| Failure::usage(format!("the codecs are refused: {e}")))
}

fn one(text: &str, itemsize: Option<usize>) -> Result<Codec> {
    let mut parts = text.split(':');
    let name = parts.next().unwrap_or("").to_ascii_lowercase();
    let mut parameters = Parameters { text, parts: parts.collect(), next: 0 };
    let codec = match name.as_str() {
        "zstd" => Codec::Zstd { level: parameters.number("level", 3, -131072..=22)? as i32, checksum: false },
        "gzip" => Codec::Gzip { level: parameters.number("level", 5, 0..=9)? as i32 },
        "zlib" => Codec::Zlib { level: parameters.number("level", 5, 0..=9)? as i32 },
        "bz2" => Codec::Bz2 { level: parameters.number("level", 5, 1..=9)? as u32 },
        "lz4" => Codec::Lz4 { acceleration: parameters.number("acceleration", 1, 1..=65537)? as i32 },
        "blosc" => blosc(&mut parameters, itemsize)?,
        "shuffle" => Codec::Shuffle {
            elementsize: match itemsize {
                Some(size) => parameters.number("size", size as i64, 1..=65536)? as usize,
                None => parameters.required("size of an element", 4, 1..=65536)? as usize,
            },
        },
        "crc32c" => Codec::Crc32c { location: Location::End },
        "crc32" => Codec::Crc32 { location: Location::Start },
        "adler32" => Codec::Adler32 { location: Location::Start },
        "fletcher32" => Codec::Fletcher32,
        "bitround" => {
            Codec::BitRound { keepbits: parameters.required("number of mantissa bits to keep", 10, 0..=52)? as u32, numcodecs: false }
        }
        "packbits" => Codec::PackBits { padding: gingham::core::codec::PackBitsPadding::None, first_bit: None, last_bit: None },
        "pcodec" => Codec::Pcodec(Pcodec {
            level: parameters.number("level", 8, 0..=12)? as u8,
            mode_spec: "auto".into(),
            delta_spec: "auto".into(),
            paging_spec: "equal_pages_up_to".into(),
            delta_encoding_order: None,
            equal_pages_up_to: 262_144,
        }),
        "" => return Err(Failure::usage("a codec of the list has no name").hint(format!("known: {KNOWN}"))),
        "none" => return Err(Failure::usage("\"none\" stands alone; it cannot be part of a list of codecs")),
        _ => {
            return Err(Failure::usage(format!("\"{name}\" is not a codec that can be named in short"))
                .hint(format!("known: {KNOWN}; or the JSON of a document's \"codecs\"")));
        }
    };
    parameters.end()?;
    Ok(codec)
}

fn blosc(parameters: &mut Parameters, itemsize: Option<usize>) -> Result<Codec> {
    let cname = match parameters.word() {
        None | Some("zstd") => BloscCompressor::Zstd,
        Some("lz4") => BloscCompressor::Lz4,
        Some("lz4hc") => BloscCompressor::Lz4Hc,
        Some("blosclz") => BloscCompressor::BloscLz,
        Some("snappy") => BloscCompressor::Snappy,
        Some("zlib") => BloscCompressor::Zlib,
        Some(other) => {
            return Err(
                Failure::usage(format!("Blosc has no compressor \"{other}\"")).hint("it has lz4, lz4hc, blosclz, zstd, zlib and snappy")
            );
        }
    };
    let clevel = parameters.number("level", 5, 0..=9)? as u8;
    // Blosc's own rule for "automatic": bits for one-byte elements, bytes for all others.
    let shuffle = match parameters.word() {
        None if itemsize == Some(1) => BloscShuffle::Bit,
        None | Some("shuffle" | "byte" | "byteshuffle") => BloscShuffle::Byte,
        Some("bitshuffle" | "bit") => BloscShuffle::Bit,
        Some("noshuffle" | "none") => BloscShuffle::None,
        Some(other) => {
            return Err(Failure::usage(format!("Blosc has no shuffle \"{other}\"")).hint("it has shuffle, bitshuffle and noshuffle"));
        }
    };
    // Blosc keeps the size of an item in one byte; longer items are shuffled as single bytes.
    let typesize = itemsize.filter(|&n| n <= 255).unwrap_or(1);
    Ok(Codec::Blosc { cname, clevel, shuffle, typesize, blocksize: 0 })
}

struct Parameters<'a> {
    text: &'a str,
    parts: Vec<&'a str>,
    next: usize,
}

impl<'a> Parameters<'a> {
    fn word(&mut self) -> Option<&'a str> {
        let part = self.parts.get(self.next).copied()?;
        self.next += 1;
        Some(part.trim())
    }
    fn number(&mut self, what: &str, default: i64, range: std::ops::RangeInclusive<i64>) -> Result<i64> {
        match self.word() {
            None => Ok(default),
            Some(text) => self.check(what, text, range),
        }
    }
    fn required(&mut self, what: &str, example: i64, range: std::ops::RangeInclusive<i64>) -> Result<i64> {
        match self.word() {
            None => Err(Failure::usage(format!("\"{}\" lacks its {what}", self.text)).hint(format!("write it as {}:{example}", self.text))),
            Some(text) => self.check(what, text, range),
        }
    }
    fn check(&self, what: &str, text: &str, range: std::ops::RangeInclusive<i64>) -> Result<i64> {
        text.parse().ok().filter(|n| range.contains(n)).ok_or_else(|| {
            Failure::usage(format!("\"{}\": the {what} is \"{text}\"; it goes from {} to {}", self.text, range.start(), range.end()))
        })
    }
    fn end(&self) -> Result<()> {
        match self.parts.get(self.next) {
            None => Ok(()),
            Some(extra) => Err(Failure::usage(format!("\"{}\": nothing is known about \"{extra}\"", self.text))),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn short_names_become_codecs() {
        assert_eq!(parse("zstd:3", Some(4)).unwrap(), [Codec::Zstd { level: 3, checksum: false }]);
        assert_eq!(parse("zstd:-7", Some(4)).unwrap(), [Codec::Zstd { level: -7, checksum: false }]);
        assert_eq!(parse("gzip", Some(4)).unwrap(), [Codec::Gzip { level: 5 }]);
        assert_eq!(parse("none", Some(4)).unwrap(), []);
        let blosc = Codec::Blosc { cname: BloscCompressor::Lz4, clevel: 5, shuffle: BloscShuffle::Byte, typesize: 4, blocksize: 0 };
        assert_eq!(parse("blosc:lz4:5:shuffle", Some(4)).unwrap(), std::slice::from_ref(&blosc));
        assert_eq!(parse("blosc:lz4", Some(4)).unwrap(), [blosc]);
        assert_eq!(
            parse("bitround:10 , zstd:5+crc32c", Some(4)).unwrap(),
            [
                Codec::BitRound { keepbits: 10, numcodecs: false },
                Codec::Zstd { level: 5, checksum: false },
                Codec::Crc32c { location: Location::End }
            ]
        );
    }

    #[test]
    fn bloscs_automatic_shuffle_follows_the_item_size() {
        let shuffle = |size| match parse("blosc", Some(size)).unwrap().remove(0) {
            Codec::Blosc { shuffle, typesize, .. } => (shuffle, typesize),
            _ => panic!(),
        };
        assert_eq!(shuffle(1), (BloscShuffle::Bit, 1));
        assert_eq!(shuffle(8), (BloscShuffle::Byte, 8));
        assert_eq!(shuffle(300), (BloscShuffle::Byte, 1));
        assert!(parse("shuffle", None).unwrap_err().what().contains("size of an element"));
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            ("zstd:99", "from -131072 to 22"),
            ("zstd:x", "the level is \"x\""),
            ("zstd:3:4", "nothing is known about \"4\""),
            ("bitround", "lacks its number"),
            ("blosc:lzo", "no compressor \"lzo\""),
            ("blosc:lz4:5:twist", "no shuffle \"twist\""),
            ("snap", "is not a codec"),
            ("none,zstd", "stands alone"),
            ("", "has no name"),
            ("zstd,,gzip", "has no name"),
            ("{", "not JSON"),
        ] {
            let error = parse(text, Some(4)).unwrap_err();
            assert!(error.what().contains(part), "{text}: {}", error.what());
        }
    }
}
