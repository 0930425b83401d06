//! numcodecs' own fixtures for the codecs that map bytes to bytes: what it wrote decodes to what it had, and what is encoded
//! here at the same parameters decodes again.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use gingham_codec::table::bytes_to_bytes;
use gingham_codec::{BytesToBytes, Context, Room};
use gingham_core::codec::{BloscCompressor, BloscShuffle, Codec, Location, Lzma};
use serde_json::Value;

/// The fixtures, or `None` with a word on stderr where they are absent.
fn fixtures() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures/numcodecs/fixture");
    if !path.is_dir() {
        eprintln!("skipped: no fixtures at {}", path.display());
        return None;
    }
    Some(path)
}

/// An array as `numpy.save` wrote it: the type string and the bytes in memory order, which is what a codec is given.
fn read_npy(path: &Path) -> (String, Vec<u8>) {
    let file = fs::read(path).unwrap();
    assert_eq!(&file[..6], b"\x93NUMPY");
    let (len, at) = match file[6] {
        1 => (u16::from_le_bytes([file[8], file[9]]) as usize, 10),
        _ => (u32::from_le_bytes([file[8], file[9], file[10], file[11]]) as usize, 12),
    };
    let header = String::from_utf8_lossy(&file[at..at + len]).into_owned();
    let descr = header.split("'descr': '").nth(1).and_then(|rest| rest.split('\'').next()).unwrap_or("|O").to_owned();
    (descr, file[at + len..].to_vec())
}

fn int(config: &Value, name: &str, default: i64) -> i64 {
    match &config[name] {
        Value::Null => default,
        v => v.as_i64().unwrap(),
    }
}

/// The specification that a configuration of numcodecs stands for. `itemsize` is that of the array, where it matters.
fn spec(config: &Value, itemsize: usize) -> Codec {
    let level = int(config, "level", 1) as i32;
    match config["id"].as_str().unwrap() {
        "adler32" => Codec::Adler32 { location: Location::Start },
        "base64" => Codec::Base64,
        "blosc" => Codec::Blosc {
            cname: match config["cname"].as_str().unwrap() {
                "blosclz" => BloscCompressor::BloscLz,
                "lz4" => BloscCompressor::Lz4,
                "lz4hc" => BloscCompressor::Lz4Hc,
                "snappy" => BloscCompressor::Snappy,
                "zlib" => BloscCompressor::Zlib,
                "zstd" => BloscCompressor::Zstd,
                other => panic!("{other}"),
            },
            clevel: int(config, "clevel", 5) as u8,
            shuffle: match int(config, "shuffle", 1) {
                0 => BloscShuffle::None,
                1 => BloscShuffle::Byte,
                2 => BloscShuffle::Bit,
                -1 if itemsize == 1 => BloscShuffle::Bit,
                _ => BloscShuffle::Byte,
            },
            typesize: itemsize,
            blocksize: int(config, "blocksize", 0) as usize,
        },
        "bz2" => Codec::Bz2 { level: level as u32 },
        "crc32" => Codec::Crc32 { location: Location::Start },
        "crc32c" => Codec::Crc32c { location: Location::End },
        "gzip" => Codec::Gzip { level },
        "lz4" => Codec::Lz4 { acceleration: int(config, "acceleration", 1) as i32 },
        "lzma" => Codec::Lzma(Lzma {
            format: int(config, "format", 1) as u8,
            check: int(config, "check", -1) as i32,
            preset: config["preset"].as_u64().map(|p| p as u32),
            filters: Some(config["filters"].clone()).filter(|f| !f.is_null()),
        }),
        "shuffle" => Codec::Shuffle { elementsize: int(config, "elementsize", 4) as usize },
        "zlib" => Codec::Zlib { level },
        "zstd" => Codec::Zstd { level, checksum: config["checksum"].as_bool().unwrap_or(false) },
        other => panic!("{other}"),
    }
}

/// Decodes in all three ways and compares.
fn check_decode(codec: &dyn BytesToBytes, stored: &[u8], plain: &[u8], place: &str) {
    let mut context = Context::default();
    for room in [Room::Exactly(plain.len()), Room::AtMost(plain.len()), Room::AtMost(usize::MAX)] {
        let mut out = context.take();
        codec.decode(stored, room, &mut out, &mut context).unwrap_or_else(|e| panic!("{place} {room:?}: {e}"));
        assert!(out == plain, "{place} {room:?}");
        context.give(out);
    }
    let mut out = vec![0xaa; plain.len()];
    codec.decode_into(stored, &mut out, &mut context).unwrap_or_else(|e| panic!("{place}: {e}"));
    assert!(out == plain, "{place}");
}

/// Runs every array of one codec's fixtures through every configuration; gives how many there were.
fn run(id: &str) -> Option<usize> {
    let root = fixtures()?.join(id);
    let mut seen = 0;
    for c in 0.. {
        let dir = root.join(format!("codec.{c:02}"));
        let Ok(config) = fs::read(dir.join("config.json")) else { break };
        let config: Value = serde_json::from_slice(&config).unwrap();
        for a in 0.. {
            let array = root.join(format!("array.{a:02}.npy"));
            if !array.is_file() {
                break;
            }
            let (descr, plain) = read_npy(&array);
            if descr.contains('O') {
                continue;
            }
            let stored = fs::read(dir.join(format!("encoded.{a:02}.dat"))).unwrap();
            let itemsize: usize = descr.trim_start_matches(|c: char| !c.is_ascii_digit()).split('[').next().unwrap().parse().unwrap();
            let itemsize = if descr.contains('U') { 4 * itemsize } else { itemsize };
            let codec = bytes_to_bytes(&spec(&config, itemsize)).unwrap();
            let place = format!("{id} {config} array {a}");
            check_decode(&*codec, &stored, &plain, &place);
            let mut again = Vec::new();
            codec.encode(&plain, &mut again, &mut Context::default()).unwrap_or_else(|e| panic!("{place}: {e}"));
            check_decode(&*codec, &again, &plain, &place);
            // These have one right answer.
            if matches!(id, "adler32" | "crc32" | "crc32c" | "shuffle" | "base64" | "bz2") {
                assert!(again == stored, "{place}: encodes otherwise");
            }
            seen += 1;
        }
    }
    Some(seen)
}

macro_rules! fixture {
    ($($id:ident: $count:expr,)*) => {$(
        #[test]
        fn $id() {
            if let Some(seen) = run(stringify!($id)) {
                assert_eq!(seen, $count);
            }
        }
    )*};
}

fixture! {
    adler32: 13,
    base64: 13,
    blosc: 13 * 13,
    bz2: 13 * 4,
    crc32: 13,
    crc32c: 13,
    gzip: 13 * 6,
    lz4: 13 * 7,
    lzma: 13 * 5,
    shuffle: 13 * 4,
    zlib: 13 * 6,
    zstd: 13 * 10,
}
