//! Single codec objects: aliases, defaults, refusals, and back.

use super::*;
use proptest::prelude::*;

#[test]
fn aliases_are_read_and_registered_names_written() {
    let little = json!({"endian": "little"});
    let cases = [
        (json!({"name": "endian", "configuration": little}), "bytes"),
        (json!("bytes"), "bytes"),
        (json!("crc32c"), "crc32c"),
        (json!({"name": "numcodecs.crc32c", "configuration": {}}), "crc32c"),
        (json!({"name": "numcodecs.gzip", "configuration": {"level": 3}}), "gzip"),
        (json!({"name": "numcodecs.zstd", "configuration": {"level": 3}}), "zstd"),
        (json!({"name": "numcodecs.blosc", "configuration": {"cname": "zstd", "clevel": 5, "shuffle": 1, "blocksize": 0}}), "blosc"),
        (json!({"name": "fletcher32"}), "numcodecs.fletcher32"),
        (json!({"name": "bz2", "configuration": {"level": 9}}), "numcodecs.bz2"),
        (json!({"name": "https://codec.zarrs.dev/bytes_to_bytes/bz2", "configuration": {"level": 9}}), "numcodecs.bz2"),
        (json!({"name": "https://codec.zarrs.dev/array_to_array/bitround", "configuration": {"keepbits": 9}}), "bitround"),
        (json!({"name": "https://codec.zarrs.dev/bytes_to_bytes/fletcher32"}), "numcodecs.fletcher32"),
        (json!({"name": "vlen_utf8"}), "vlen-utf8"),
        (json!({"name": "numcodecs.vlen-bytes", "configuration": {}}), "vlen-bytes"),
        (json!({"name": "squeeze"}), "zarrs.squeeze"),
        (json!({"name": "numcodecs.packbits", "configuration": {}}), "numcodecs.packbits"),
        (json!({"name": "packbits"}), "packbits"),
        (json!({"name": "bytes", "configuration": little, "must_understand": true}), "bytes"),
    ];
    for (value, name) in cases {
        assert_eq!(v3(value.clone()).name(), name, "{value}");
    }
    // In v3 Blosc behind numcodecs' name sees bytes, so -1 means bits.
    let auto = v3(json!({"name": "numcodecs.blosc", "configuration": {"shuffle": -1}}));
    assert!(matches!(auto, Codec::Blosc { shuffle: BloscShuffle::Bit, typesize: 1, cname: BloscCompressor::Lz4, clevel: 5, .. }));
}

#[test]
fn defaults() {
    assert_eq!(v3(json!({"name": "zstd"})), Codec::Zstd { level: 0, checksum: false });
    assert_eq!(v3(json!({"name": "zstd", "configuration": {"level": 3}})), Codec::Zstd { level: 3, checksum: false });
    assert_eq!(v2(json!({"id": "zstd"})), Codec::Zstd { level: 1, checksum: false });
    assert_eq!(v2(json!({"id": "gzip"})), Codec::Gzip { level: 1 });
    assert_eq!(v2(json!({"id": "shuffle"})), Codec::Shuffle { elementsize: 4 });
    assert_eq!(v2(json!({"id": "crc32"})), Codec::Crc32 { location: Location::Start });
    assert_eq!(v2(json!({"id": "crc32c"})), Codec::Crc32c { location: Location::End });
    assert_eq!(v2(json!({"id": "adler32", "location": "end"})), Codec::Adler32 { location: Location::End });
    assert_eq!(v2(json!({"id": "lz4"})), Codec::Lz4 { acceleration: 1 });
    assert_eq!(v2(json!({"id": "jenkins_lookup3"})), Codec::JenkinsLookup3 { initval: 0, prefix: None });
    assert_eq!(v2(json!({"id": "lzma"})), Codec::Lzma(Lzma { format: 1, check: -1, preset: None, filters: None }));
    let delta = Codec::Delta { dtype: typestr("<i4"), astype: typestr("<i4") };
    assert_eq!(v2(json!({"id": "delta", "dtype": "<i4"})), delta);
    assert_eq!(v2(json!({"id": "delta", "dtype": "i4", "astype": null})), delta);
    assert_eq!(v3(json!({"name": "numcodecs.delta", "configuration": {"dtype": "int32"}})), delta);
    let Codec::Categorize { astype, .. } = v2(json!({"id": "categorize", "labels": ["a"], "dtype": "|O"})) else { panic!() };
    assert_eq!(astype, typestr("|u1"));
    let Codec::Pcodec(pcodec) = v2(json!({"id": "pcodec", "delta_encoding_order": null})) else { panic!() };
    assert_eq!((pcodec.level, pcodec.equal_pages_up_to, pcodec.delta_spec.as_str()), (8, 262_144, "auto"));
}

#[test]
fn blosc_chooses_its_shuffle_by_the_items_that_it_sees() {
    let shuffle = |shuffle: i32, itemsize| match codec_from_v2(&json!({"id": "blosc", "shuffle": shuffle}), itemsize) {
        Ok(Codec::Blosc { shuffle, typesize, .. }) => (shuffle, typesize),
        other => panic!("{other:?}"),
    };
    assert_eq!(shuffle(-1, 1), (BloscShuffle::Bit, 1));
    assert_eq!(shuffle(-1, 8), (BloscShuffle::Byte, 8));
    assert_eq!(shuffle(2, 4), (BloscShuffle::Bit, 4));
    assert_eq!(shuffle(0, 0), (BloscShuffle::None, 1));
}

/// zrs-zstdstr: old writers quoted the level in v2; in v3 the error names it.
#[test]
fn zrs_zstdstr_quoted_levels() {
    assert_eq!(v2(json!({"id": "zstd", "level": "3"})), Codec::Zstd { level: 3, checksum: false });
    let error = codec_from_v3(&json!({"name": "zstd", "configuration": {"level": "3", "checksum": false}})).unwrap_err();
    assert_eq!(error.pointer, "/configuration/level");
    assert_eq!(error.what, "\"level\" of codec \"zstd\" must be an integer from -131072 to 22, not \"3\"");
    assert!(error.hint.is_some());
}

#[test]
fn wrong_objects_are_refused_where_they_are_wrong() {
    let cases = [
        (json!({"name": "gzip"}), "/configuration"),
        (json!({"name": "gzip", "configuration": {"level": 12}}), "/configuration/level"),
        (json!({"name": "gzip", "configuration": {"level": 5, "lvl": 1}}), "/configuration/lvl"),
        (json!({"name": "gzip", "level": 5}), "/level"),
        (json!({"name": "zstd", "configuration": {"level": 23}}), "/configuration/level"),
        (json!({"name": "zstd", "configuration": {"level": 1.5}}), "/configuration/level"),
        (json!({"name": "bytes", "configuration": {"endian": "native"}}), "/configuration/endian"),
        (json!({"name": "crc32c", "configuration": {"location": "start"}}), "/configuration/location"),
        (json!({"name": "blosc", "configuration": {"clevel": 5, "shuffle": "shuffle", "blocksize": 0}}), "/configuration"),
        (json!({"name": "blosc", "configuration": {"cname": "lzo", "clevel": 5}}), "/configuration/cname"),
        (json!({"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5, "shuffle": 1}}), "/configuration/shuffle"),
        (json!({"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5, "typesize": 0}}), "/configuration/typesize"),
        (json!({"name": "transpose", "configuration": {"order": [0, 0]}}), "/configuration/order"),
        (json!({"name": "transpose", "configuration": {"order": [0, 18446744073709551615u64]}}), "/configuration/order"),
        (json!({"name": "transpose", "configuration": {"order": [1, -1]}}), "/configuration/order/1"),
        (json!({"name": "transpose", "configuration": {"order": "C"}}), "/configuration/order"),
        (json!({"name": "transpose"}), "/configuration"),
        (json!({"name": "reshape", "configuration": {"shape": [-1, -1]}}), "/configuration/shape"),
        (json!({"name": "reshape", "configuration": {"shape": [[1], [0]]}}), "/configuration/shape"),
        (json!({"name": "reshape", "configuration": {"shape": [0]}}), "/configuration/shape"),
        (json!({"name": "packbits", "configuration": {"first_bit": 4, "last_bit": 3}}), "/configuration/last_bit"),
        (json!({"name": "packbits", "configuration": {"padding_encoding": "both"}}), "/configuration/padding_encoding"),
        (json!({"name": "cast_value", "configuration": {}}), "/configuration"),
        (json!({"name": "cast_value", "configuration": {"data_type": "int8", "out_of_range": "error"}}), "/configuration/out_of_range"),
        (
            json!({"name": "cast_value", "configuration": {"data_type": "int8", "scalar_map": {"encode": [[1]]}}}),
            "/configuration/scalar_map/encode/0",
        ),
        (json!({"name": "zfp", "configuration": {"mode": "fixed_rate"}}), "/configuration"),
        (json!({"name": "zfp", "configuration": {"mode": "fixed_rate", "rate": -1}}), "/configuration/rate"),
        (json!({"name": "zfp", "configuration": {"mode": "reversible", "rate": 4}}), "/configuration/rate"),
        (json!({"name": "numcodecs.delta", "configuration": {"dtype": "zz"}}), "/configuration/dtype"),
        (json!({"name": "numcodecs.fixedscaleoffset", "configuration": {"offset": 0, "scale": 0, "dtype": "<f4"}}), "/configuration/scale"),
        (json!({"name": "numcodecs.lzma", "configuration": {"preset": 10}}), "/configuration/preset"),
        (json!({"name": "numcodecs.jenkins_lookup3", "configuration": {"prefix": [256]}}), "/configuration/prefix"),
        (
            json!({"name": "sharding_indexed", "configuration": {"chunk_shape": [0], "codecs": [], "index_codecs": []}}),
            "/configuration/chunk_shape/0",
        ),
        (
            json!({"name": "sharding_indexed", "configuration": {"chunk_shape": [2], "codecs": ["bytes", {"name": "gzip"}], "index_codecs": []}}),
            "/configuration/codecs/1/configuration",
        ),
        (
            json!({"name": "sharding_indexed", "configuration": {"chunk_shape": [2], "codecs": ["bytes"], "index_codecs": [], "index_location": "middle"}}),
            "/configuration/index_location",
        ),
        (json!({"name": "gingham.stored_shape", "configuration": {"shape": [0]}}), "/configuration/shape/0"),
        (json!(7), ""),
        (json!({"configuration": {}}), ""),
    ];
    for (value, pointer) in cases {
        let error = codec_from_v3(&value).expect_err(&value.to_string());
        assert_eq!(error.pointer, pointer, "{value}: {}", error.what);
    }
    let missing =
        codec_from_v3(&json!({"name": "sharding_indexed", "configuration": {"chunk_shape": [2], "codecs": ["bytes"]}})).unwrap_err();
    assert_eq!(missing.what, "codec \"sharding_indexed\" needs \"index_codecs\"");
    assert!(missing.hint.unwrap().contains("crc32c"));
    for (value, pointer) in [
        (json!({"id": "zlib", "level": 10}), "/level"),
        (json!({"id": "zlib", "lvl": 1}), "/lvl"),
        (json!({"level": 1}), ""),
        (json!("zlib"), ""),
        (json!({"id": 1}), "/id"),
    ] {
        assert_eq!(codec_from_v2(&value, 1).unwrap_err().pointer, pointer, "{value}");
    }
}

#[test]
fn unknown_codecs_keep_what_they_say() {
    let value = json!({"name": "jpegxl", "configuration": {"effort": 7}});
    assert_eq!(codec_to_v3(&v3(value.clone())).unwrap(), value);
    let ignorable = json!({"name": "note", "must_understand": false});
    assert_eq!(v3(ignorable.clone()), Codec::Unknown { name: "note".into(), configuration: None, ignorable: true });
    assert_eq!(codec_to_v3(&v3(ignorable.clone())).unwrap(), ignorable);
    assert!(matches!(v3(json!("numcodecs.nothing")), Codec::Unknown { name, .. } if name == "numcodecs.nothing"));
    let value = json!({"id": "imagecodecs_tiff", "x": 1});
    assert_eq!(codec_to_v2(&v2(value.clone())).unwrap(), value);
}

#[test]
fn objects_are_written_for_every_reader() {
    let cases = [
        (json!("bytes"), json!({"name": "bytes"})),
        (json!({"name": "endian", "configuration": {"endian": "big"}}), json!({"name": "bytes", "configuration": {"endian": "big"}})),
        (json!("crc32c"), json!({"name": "crc32c"})),
        (json!("zstd"), json!({"name": "zstd", "configuration": {"level": 0, "checksum": false}})),
        (
            json!({"name": "blosc", "configuration": {"cname": "lz4", "clevel": 1, "shuffle": "noshuffle", "blocksize": 0}}),
            json!({"name": "blosc", "configuration": {"cname": "lz4", "clevel": 1, "shuffle": "noshuffle", "typesize": 1, "blocksize": 0}}),
        ),
        (
            json!({"name": "sharding_indexed", "configuration": {"chunk_shape": [2], "codecs": ["bytes"], "index_codecs": ["bytes", "crc32c"]}}),
            json!({"name": "sharding_indexed", "configuration": {"chunk_shape": [2], "codecs": [{"name": "bytes"}],
                "index_codecs": [{"name": "bytes"}, {"name": "crc32c"}], "index_location": "end"}}),
        ),
        (
            json!({"name": "numcodecs.delta", "configuration": {"dtype": ">i4", "astype": ">i2"}}),
            json!({"name": "numcodecs.delta", "configuration": {"dtype": "<i4", "astype": "<i2"}}),
        ),
        (
            json!({"name": "packbits", "configuration": {"padding_encoding": "start_byte", "start_bit": 4, "end_bit": null}}),
            json!({"name": "packbits", "configuration": {"padding_encoding": "first_byte", "first_bit": 4}}),
        ),
        (
            json!({"name": "numcodecs.gzip", "configuration": {"level": -1}}),
            json!({"name": "numcodecs.gzip", "configuration": {"level": -1}}),
        ),
        (json!({"name": "scale_offset"}), json!({"name": "scale_offset", "configuration": {}})),
    ];
    for (read, written) in cases {
        assert_eq!(codec_to_v3(&v3(read)).unwrap(), written);
    }
}

#[test]
fn v2_objects_and_what_v2_has_not() {
    let same = [
        json!({"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}),
        json!({"id": "zstd", "level": 3}),
        json!({"id": "zstd", "level": 3, "checksum": true}),
        json!({"id": "delta", "dtype": ">i4", "astype": ">i2"}),
        json!({"id": "vlen-utf8"}),
        json!({"id": "crc32"}),
        json!({"id": "crc32", "location": "end"}),
        json!({"id": "shuffle", "elementsize": 8}),
        json!({"id": "vlen-array", "dtype": "<i2"}),
        json!({"id": "json2", "strict": true, "separators": [",", ":"]}),
        json!({"id": "categorize", "labels": ["a", "b"], "dtype": "|O", "astype": "|u1"}),
        json!({"id": "zfpy", "mode": 4, "tolerance": 0.5}),
        json!({"id": "bitround", "keepbits": 3}),
    ];
    for value in same {
        assert_eq!(codec_to_v2(&v2(value.clone())).unwrap(), value);
    }
    for codec in [Codec::Squeeze, Codec::Bytes(ByteOrder::None), Codec::Transpose { order: vec![1, 0] }, Codec::Zfp(ZfpMode::Reversible)] {
        assert!(codec_to_v2(&codec).unwrap_err().what.contains(codec.name()));
    }
    assert!(codec_to_v3(&Codec::Bytes(ByteOrder::PerLeaf(vec![Endian::Little, Endian::Big]))).is_err());
}

#[test]
fn zfpy_parameters_that_were_not_given_mean_lossless() {
    assert_eq!(v2(json!({"id": "zfpy", "mode": 2, "rate": -1, "compression_kwargs": {"rate": -1}})), Codec::Zfpy(ZfpMode::Reversible));
    assert_eq!(v2(json!({"id": "zfpy", "mode": 3, "precision": 20})), Codec::Zfpy(ZfpMode::FixedPrecision(20)));
    assert_eq!(v2(json!({"id": "zfpy"})), Codec::Zfpy(ZfpMode::Reversible));
}

#[test]
fn published_examples_are_read() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/fixtures/");
    let Ok(codecs) = std::fs::read_dir(format!("{root}zarr-metadata/packages/zarr-metadata/tests/v3/codec")) else {
        return eprintln!("skipped: no {root}");
    };
    let mut count = 0;
    for folder in codecs.flatten() {
        let cases: Value = serde_json::from_slice(&std::fs::read(folder.path().join("cases.json")).unwrap()).unwrap();
        for (case, value) in cases.as_object().unwrap() {
            let codec = v3(value.clone());
            assert_eq!(codec.name(), folder.file_name().to_str().unwrap(), "{case}");
            assert_eq!(v3(codec_to_v3(&codec).unwrap()), codec, "{case}");
            count += 1;
        }
    }
    for example in std::fs::read_dir(format!("{root}zarr-extensions/codecs/zfp/examples")).unwrap().flatten() {
        let value: Value = serde_json::from_slice(&std::fs::read(example.path()).unwrap()).unwrap();
        let codec = v3(value.clone());
        assert_eq!(codec_to_v3(&codec).unwrap(), value);
        count += 1;
    }
    for folder in std::fs::read_dir(format!("{root}numcodecs/fixture")).unwrap().flatten() {
        for config in std::fs::read_dir(folder.path()).unwrap().flatten().map(|e| e.path().join("config.json")).filter(|p| p.exists()) {
            let value: Value = serde_json::from_slice(&std::fs::read(&config).unwrap()).unwrap();
            let codec = codec_from_v2(&value, 1).unwrap_or_else(|error| panic!("{}: {error:?}", config.display()));
            // The legacy codec "json" keeps no shape; it is another codec than json2.
            assert_eq!(codec.kind().is_none(), value["id"] == "json", "{}", config.display());
            assert_eq!(codec_from_v2(&codec_to_v2(&codec).unwrap(), 1).unwrap(), codec, "{}", config.display());
            count += 1;
        }
    }
    assert!(count > 100, "{count}");
}

fn any_codec() -> impl Strategy<Value = Codec> {
    let number = || prop_oneof![Just("<i4"), Just("<u2"), Just("|i1"), Just("<f8")].prop_map(typestr);
    let location = || prop_oneof![Just(Location::Start), Just(Location::End)];
    let level = -1i32..=9;
    prop_oneof![
        (2u32..9, any::<bool>()).prop_map(|(keepbits, numcodecs)| Codec::BitRound { keepbits, numcodecs }),
        (number(), number()).prop_map(|(dtype, astype)| Codec::Delta { dtype, astype }),
        (any::<f32>().prop_filter("finite", |x| x.is_finite()), 1u32..99, number(), number()).prop_map(|(offset, scale, dtype, astype)| {
            Codec::FixedScaleOffset { offset: offset.into(), scale: f64::from(scale) / 7.0, dtype, astype }
        }),
        (-3i32..9, number()).prop_map(|(digits, dtype)| Codec::Quantize { digits, astype: dtype.clone(), dtype }),
        (number(), number()).prop_map(|(encode_dtype, decode_dtype)| Codec::AsType { encode_dtype, decode_dtype }),
        prop::collection::vec(".{0,3}", 0..4).prop_map(|labels| Codec::Categorize { labels, dtype: typestr("|O"), astype: typestr("|u1") }),
        number().prop_map(|dtype| Codec::VlenArray { dtype }),
        level.clone().prop_map(|level| Codec::Gzip { level }),
        level.prop_map(|level| Codec::Zlib { level }),
        (-131_072i32..=22, any::<bool>()).prop_map(|(level, checksum)| Codec::Zstd { level, checksum }),
        location().prop_map(|location| Codec::Crc32c { location }),
        location().prop_map(|location| Codec::Crc32 { location }),
        location().prop_map(|location| Codec::Adler32 { location }),
        (any::<u32>(), prop::option::of(prop::collection::vec(any::<u8>(), 0..5)))
            .prop_map(|(initval, prefix)| Codec::JenkinsLookup3 { initval, prefix }),
        (1u8..=3, prop::option::of(0u32..=9)).prop_map(|(format, preset)| Codec::Lzma(Lzma { format, check: -1, preset, filters: None })),
        (0usize..99).prop_map(|elementsize| Codec::Shuffle { elementsize }),
        Just(Codec::Base64),
        Just(Codec::NumcodecsPackBits),
    ]
}

fn v3_only() -> impl Strategy<Value = Codec> {
    let dim = prop_oneof![(1u64..9).prop_map(ReshapeDim::Length), Just(ReshapeDim::Product(vec![])), Just(ReshapeDim::Product(vec![0, 2]))];
    prop_oneof![
        Just(Codec::Transpose { order: vec![2, 0, 1] }),
        prop::collection::vec(1u64..9, 0..4).prop_map(|shape| Codec::StoredShape { shape: shape.into() }),
        dim.prop_map(|dim| Codec::Reshape { shape: vec![dim, ReshapeDim::Infer] }),
        (prop::option::of(0u32..4), prop::option::of(4u32..8)).prop_map(|(first_bit, last_bit)| Codec::PackBits {
            padding: PackBitsPadding::LastByte,
            first_bit,
            last_bit
        }),
        (any::<bool>(), 1u64..5).prop_map(|(start, length)| {
            Codec::Sharding(Box::new(Sharding {
                chunk_shape: Shape::from_slice(&[length]),
                codecs: vec![Codec::Bytes(ByteOrder::None), Codec::Gzip { level: 1 }],
                index_codecs: vec![Codec::Bytes(ByteOrder::Uniform(Endian::Big))],
                index_location: if start { Location::Start } else { Location::End },
            }))
        }),
        Just(Codec::CastValue(Box::new(CastValue {
            data_type: DataType::Float(Float::F32),
            rounding: Rounding::NearestAway,
            out_of_range: OutOfRange::Clamp,
            encode_map: vec![(json!("NaN"), json!(0))],
            decode_map: vec![],
        }))),
    ]
}

proptest! {
    #[test]
    fn v3_round_trip(codec in prop_oneof![any_codec(), v3_only()]) {
        prop_assert_eq!(codec_from_v3(&codec_to_v3(&codec).unwrap()).unwrap(), codec);
    }

    #[test]
    fn v2_round_trip(codec in any_codec()) {
        let read = codec_from_v2(&codec_to_v2(&codec).unwrap(), 1).unwrap();
        match (&codec, &read) {
            (Codec::BitRound { keepbits, .. }, Codec::BitRound { keepbits: again, .. }) => prop_assert_eq!(keepbits, again),
            _ => prop_assert_eq!(codec, read),
        }
    }
}
