//! What holds for every codec that maps bytes to bytes: there and back at any length, and no harm from hostile bytes.
#![allow(clippy::unwrap_used)]

use gingham_codec::table::bytes_to_bytes;
use gingham_codec::{BytesToBytes, Context, Room};
use gingham_core::codec::{BloscCompressor, BloscShuffle, Codec, Location, Lzma};
use proptest::prelude::*;
use serde_json::json;

const CNAMES: [BloscCompressor; 6] = [
    BloscCompressor::BloscLz,
    BloscCompressor::Lz4,
    BloscCompressor::Lz4Hc,
    BloscCompressor::Snappy,
    BloscCompressor::Zlib,
    BloscCompressor::Zstd,
];

fn blosc(cname: BloscCompressor, clevel: u8, shuffle: BloscShuffle, typesize: usize, blocksize: usize) -> Codec {
    Codec::Blosc { cname, clevel, shuffle, typesize, blocksize }
}

fn lzma(format: u8, filters: Option<serde_json::Value>) -> Codec {
    Codec::Lzma(Lzma { format, check: -1, preset: Some(1), filters })
}

/// One or more specifications of every codec.
fn specs() -> Vec<Codec> {
    let mut all = vec![
        Codec::Base64,
        Codec::Fletcher32,
        Codec::JenkinsLookup3 { initval: 5, prefix: Some(b"prefix".to_vec()) },
        Codec::Lz4 { acceleration: 1 },
        Codec::Shuffle { elementsize: 1 },
        Codec::Bz2 { level: 1 },
        Codec::Bz2 { level: 9 },
        Codec::Zstd { level: 0, checksum: false },
        Codec::Zstd { level: -5, checksum: true },
        Codec::Zstd { level: 3, checksum: true },
        lzma(1, None),
        lzma(2, None),
        lzma(2, Some(json!([{"id": 0x4000_0000_0000_0001_u64, "preset": 1, "lc": 2, "lp": 1, "pb": 1}]))),
        lzma(3, Some(json!([{"id": 3, "dist": 4}, {"id": 33, "preset": 1, "dict_size": 65536}]))),
        lzma(1, Some(json!([{"id": 4}, {"id": 33, "preset": 0, "mode": 1, "mf": 3, "nice_len": 32, "depth": 4}]))),
    ];
    for level in [-1, 0, 1, 9] {
        all.push(Codec::Gzip { level });
        all.push(Codec::Zlib { level });
    }
    for location in [Location::Start, Location::End] {
        all.push(Codec::Crc32c { location });
        all.push(Codec::Crc32 { location });
        all.push(Codec::Adler32 { location });
    }
    for cname in CNAMES {
        all.push(blosc(cname, 5, BloscShuffle::Byte, 4, 0));
        all.push(blosc(cname, 1, BloscShuffle::Bit, 2, 512));
        all.push(blosc(cname, 9, BloscShuffle::None, 1, 0));
    }
    all.push(blosc(BloscCompressor::Lz4, 0, BloscShuffle::Byte, 4, 0));
    all.push(blosc(BloscCompressor::Zstd, 5, BloscShuffle::Byte, 300, 0));
    all.push(blosc(BloscCompressor::BloscLz, 5, BloscShuffle::Byte, 16, 4096));
    all.push(blosc(BloscCompressor::BloscLz, 5, BloscShuffle::Byte, 17, 4096));
    all
}

fn codecs() -> Vec<(Codec, Box<dyn BytesToBytes>)> {
    specs().into_iter().map(|spec| (spec.clone(), bytes_to_bytes(&spec).unwrap())).collect()
}

/// Bytes of one of three kinds: of one value, slowly rising, and noise.
fn content(kind: u8, len: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    (0..len)
        .map(|i| match kind {
            0 => 0,
            1 => (i / 3 % 251) as u8,
            _ => {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 32) as u8
            }
        })
        .collect()
}

/// Encodes, and decodes in every way.
fn there_and_back(codec: &dyn BytesToBytes, spec: &Codec, plain: &[u8], context: &mut Context) {
    let mut stored = Vec::new();
    codec.encode(plain, &mut stored, context).unwrap_or_else(|e| panic!("{spec:?} {}: {e}", plain.len()));
    if let Some(len) = codec.encoded_len(plain.len()) {
        assert_eq!(stored.len(), len, "{spec:?}");
    }
    for room in [Room::Exactly(plain.len()), Room::AtMost(plain.len()), Room::AtMost(usize::MAX)] {
        let mut out = context.take();
        codec.decode(&stored, room, &mut out, context).unwrap_or_else(|e| panic!("{spec:?} {} {room:?}: {e}", plain.len()));
        assert!(out == plain, "{spec:?} {room:?}");
        context.give(out);
    }
    let mut out = vec![0xaa; plain.len()];
    codec.decode_into(&stored, &mut out, context).unwrap();
    assert!(out == plain, "{spec:?}");
    // One byte more or less than there is.
    let more = plain.len() + 1;
    assert!(codec.decode(&stored, Room::Exactly(more), &mut Vec::new(), context).is_err(), "{spec:?}");
    assert!(codec.decode_into(&stored, &mut vec![0; more], context).is_err(), "{spec:?}");
    if let Some(less) = plain.len().checked_sub(1) {
        assert!(codec.decode(&stored, Room::Exactly(less), &mut Vec::new(), context).is_err(), "{spec:?}");
        assert!(codec.decode(&stored, Room::AtMost(less), &mut Vec::new(), context).is_err(), "{spec:?}");
        assert!(codec.decode_into(&stored, &mut vec![0; less], context).is_err(), "{spec:?}");
    }
}

#[test]
fn every_codec_returns_what_it_was_given() {
    let mut context = Context::default();
    for (spec, codec) in codecs() {
        for len in [0, 1, 2, 3, 7, 127, 128, 129, 1000, 4097, 65_537] {
            if len == 0 && matches!(spec, Codec::Fletcher32) {
                continue;
            }
            for kind in 0..3 {
                there_and_back(&*codec, &spec, &content(kind, len), &mut context);
            }
        }
    }
}

#[test]
fn more_than_a_mebibyte_comes_back() {
    let mut context = Context::default();
    for (spec, codec) in codecs() {
        for kind in 1..3 {
            there_and_back(&*codec, &spec, &content(kind, (1 << 20) + 13), &mut context);
        }
    }
}

/// Decodes hostile bytes in every way. Whatever comes is right, as long as it is within the room.
fn survive(codec: &dyn BytesToBytes, stored: &[u8], room: usize, context: &mut Context) {
    for room in [Room::Exactly(room), Room::AtMost(room), Room::AtMost(usize::MAX)] {
        let mut out = Vec::new();
        if codec.decode(stored, room, &mut out, context).is_ok() {
            match room {
                Room::Exactly(n) => assert_eq!(out.len(), n),
                Room::AtMost(n) => assert!(out.len() <= n),
            }
        }
        // A hundred bytes hold no more than 32768 times as much, with some room for bzip2 and lzma, whose ratio has no bound.
        assert!(out.capacity() <= (1 << 20) + stored.len().saturating_mul(1 << 15), "{codec:?} {}", out.capacity());
    }
    let _ = codec.decode_into(stored, &mut vec![0; room], context);
}

#[test]
fn a_chunk_cut_short_is_an_error() {
    let mut context = Context::default();
    for (spec, codec) in codecs() {
        if matches!(spec, Codec::Shuffle { .. }) {
            continue;
        }
        for kind in 0..3 {
            let plain = content(kind, 700);
            let mut stored = Vec::new();
            codec.encode(&plain, &mut stored, &mut context).unwrap();
            for len in 0..stored.len() {
                let cut = &stored[..len];
                survive(&*codec, cut, plain.len(), &mut context);
                let mut out = vec![0; plain.len()];
                assert!(codec.decode_into(cut, &mut out, &mut context).is_err(), "{spec:?} {len} of {}", stored.len());
            }
        }
    }
}

#[test]
fn every_flipped_bit_is_survived() {
    let mut context = Context::default();
    for (spec, codec) in codecs() {
        let plain = content(1, 1400);
        let mut stored = Vec::new();
        codec.encode(&plain, &mut stored, &mut context).unwrap();
        // Headers bit by bit, the rest every few bits.
        for bit in (0..stored.len().min(64) * 8).chain((512..stored.len() * 8).step_by(37)) {
            let mut broken = stored.clone();
            broken[bit / 8] ^= 1 << (bit % 8);
            survive(&*codec, &broken, plain.len(), &mut context);
        }
        let checked = matches!(spec, Codec::Gzip { .. } | Codec::Zlib { .. } | Codec::Bz2 { .. } | Codec::Zstd { checksum: true, .. });
        if checked {
            let middle = stored.len() / 2;
            stored[middle] ^= 0x10;
            assert!(codec.decode_into(&stored, &mut vec![0; plain.len()], &mut context).is_err(), "{spec:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_come_back(plain in prop::collection::vec(any::<u8>(), 1..3000)) {
        let mut context = Context::default();
        for (spec, codec) in codecs() {
            there_and_back(&*codec, &spec, &plain, &mut context);
        }
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..300), room in 0usize..3000) {
        let mut context = Context::default();
        for (_, codec) in codecs() {
            survive(&*codec, &bytes, room, &mut context);
        }
    }

    #[test]
    fn any_change_is_survived(seed in any::<u64>(), kind in 1u8..3, len in 1usize..6000, changes in 1usize..8) {
        let mut context = Context::default();
        let plain = content(kind, len);
        for (_, codec) in codecs() {
            let mut stored = Vec::new();
            codec.encode(&plain, &mut stored, &mut context).unwrap();
            let mut state = seed | 1;
            for _ in 0..changes {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let at = (state >> 33) as usize % stored.len();
                stored[at] = (state >> 20) as u8;
            }
            survive(&*codec, &stored, len, &mut context);
        }
    }
}

#[test]
fn ncc_2484_an_unknown_codec_is_refused_by_name() {
    let unknown = Codec::Unknown { name: "blosk".into(), configuration: None, ignorable: false };
    let fault = bytes_to_bytes(&unknown).unwrap_err();
    assert_eq!(fault.codec, "blosk");
}
