//! Chains: their order, and whether they fit a type and a shape.

use super::*;

fn check(codecs: Value, data_type: &DataType, shape: &[u64]) -> Result<(), CodecError> {
    Chain::new(&chain(codecs))?.check(data_type, shape)
}

fn refusal(codecs: Value, data_type: &DataType, shape: &[u64]) -> CodecError {
    check(codecs.clone(), data_type, shape).expect_err(&codecs.to_string())
}

fn little() -> Value {
    json!({"name": "bytes", "configuration": {"endian": "little"}})
}

fn sharding(chunk_shape: Value, codecs: Value, index_codecs: Value) -> Value {
    json!({"name": "sharding_indexed", "configuration": {"chunk_shape": chunk_shape, "codecs": codecs, "index_codecs": index_codecs}})
}

fn reshape(shape: Value) -> Value {
    json!({"name": "reshape", "configuration": {"shape": shape}})
}

#[test]
fn order() {
    let sorted = Chain::new(&chain(json!([{"name": "transpose", "configuration": {"order": [1, 0]}}, "bytes", "crc32c", {"name": "gzip", "configuration": {"level": 1}}]))).unwrap();
    assert_eq!((sorted.array_to_array.len(), sorted.bytes_to_bytes.len()), (1, 2));
    assert_eq!(sorted.codecs().count(), 4);
    let error = Chain::new(&chain(json!(["bytes", {"name": "transpose", "configuration": {"order": [0]}}]))).unwrap_err();
    assert_eq!(error.pointer, "/1");
    assert_eq!(
        error.what,
        "\"transpose\" (array to array) stands behind \"bytes\" (array to bytes); the order is array to array, array to bytes, bytes to bytes"
    );
    let error = Chain::new(&chain(json!(["bytes", "vlen-utf8"]))).unwrap_err();
    assert_eq!(error.what, "\"vlen-utf8\" and \"bytes\" both turn an array into bytes; a chain has one such codec");
    assert_eq!(Chain::new(&chain(json!(["crc32c", "bytes"]))).unwrap_err().pointer, "/1");
    for codecs in [json!([]), json!(["crc32c"]), json!([{"name": "note", "must_understand": false}])] {
        let error = Chain::new(&chain(codecs)).unwrap_err();
        assert_eq!((error.pointer.as_str(), error.hint.as_deref()), ("", Some("add the codec \"bytes\"")));
    }
}

#[test]
fn unknown_codecs() {
    let error = Chain::new(&chain(json!(["bytes", "jpegxl"]))).unwrap_err();
    assert_eq!((error.what.as_str(), error.pointer.as_str()), ("the codec \"jpegxl\" is not known", "/1"));
    let error = Chain::new(&chain(json!([sharding(json!([2]), json!(["bytes", "jpegxl"]), json!([little()]))]))).unwrap_err();
    assert_eq!(error.pointer, "/0/configuration/codecs/1");
    let error = Chain::new(&chain(json!([{"name": "cast_value", "configuration": {"data_type": "int7"}}, "bytes"]))).unwrap_err();
    assert_eq!(error.pointer, "/0/configuration/data_type");
    let skipped = chain(json!([{"name": "note", "must_understand": false}, "bytes", {"name": "seal", "must_understand": false}]));
    let sorted = Chain::new(&skipped).unwrap();
    assert!(sorted.array_to_array.is_empty() && sorted.bytes_to_bytes.is_empty());
    sorted.check(&DataType::UInt8, &[3]).unwrap();
}

/// zp-3937: a byte order is needed for the type that enters the bytes codec, not for the array's.
#[test]
fn zp_3937_byte_order_is_needed_where_bytes_are_made() {
    let cast = |to: &str| json!({"name": "cast_value", "configuration": {"data_type": to}});
    check(json!([cast("int16"), little()]), &DataType::Int8, &[4]).unwrap();
    check(json!([cast("int8"), "bytes"]), &DataType::Int16, &[4]).unwrap();
    check(json!(["bytes"]), &DataType::Int8, &[4]).unwrap();
    for (codecs, data_type) in [(json!(["bytes"]), DataType::Int16), (json!([cast("int16"), "bytes"]), DataType::Int8)] {
        let error = refusal(codecs, &data_type, &[4]);
        assert!(error.pointer.ends_with("/configuration/endian"));
        assert_eq!(error.what, "\"bytes\" must say in which byte order int16 is stored");
    }
}

#[test]
fn codecs_against_types() {
    let i4 = json!({"dtype": "<i4"});
    let refused = [
        (json!(["vlen-utf8"]), DataType::Bytes, "/0"),
        (json!(["vlen-bytes"]), DataType::String, "/0"),
        (json!([little()]), DataType::String, "/0"),
        (json!(["packbits"]), DataType::Raw(3), "/0"),
        (json!([{"name": "packbits", "configuration": {"last_bit": 8}}]), DataType::UInt8, "/0/configuration"),
        (json!([{"name": "bitround", "configuration": {"keepbits": 3}}, "bytes"]), DataType::Bool, "/0"),
        (json!([{"name": "numcodecs.delta", "configuration": i4}, little()]), DataType::Bool, "/0/configuration/dtype"),
        (json!([{"name": "numcodecs.delta", "configuration": i4}, little()]), DataType::Int16, "/0/configuration/dtype"),
        (json!([{"name": "numcodecs.delta", "configuration": {"dtype": "|b1"}}, "bytes"]), DataType::Bool, "/0/configuration/dtype"),
        (
            json!([{"name": "numcodecs.quantize", "configuration": {"digits": 1, "dtype": "<i4"}}, little()]),
            DataType::Int32,
            "/0/configuration/dtype",
        ),
        (json!([{"name": "numcodecs.packbits", "configuration": {}}, "bytes"]), DataType::UInt8, "/0"),
        (json!([{"name": "scale_offset", "configuration": {"scale": 2}}, little()]), DataType::Complex(Float::F32), "/0"),
        (json!([{"name": "scale_offset", "configuration": {"scale": 0}}, little()]), DataType::Int32, "/0/configuration/scale"),
        (json!([{"name": "scale_offset", "configuration": {"offset": 1.5}}, little()]), DataType::Int32, "/0/configuration/offset"),
        (
            json!([{"name": "cast_value", "configuration": {"data_type": "complex64"}}, little()]),
            DataType::Int32,
            "/0/configuration/data_type",
        ),
        (json!([{"name": "cast_value", "configuration": {"data_type": "uint8"}}, "bytes"]), DataType::Bool, "/0"),
        (
            json!([{"name": "cast_value", "configuration": {"data_type": "uint8", "scalar_map": {"encode": [["NaN", 256]]}}}, "bytes"]),
            DataType::Float(Float::F32),
            "/0/configuration/scalar_map/encode/0/1",
        ),
        (json!([{"name": "zfp", "configuration": {"mode": "reversible"}}]), DataType::Bool, "/0"),
        (json!([{"name": "numcodecs.pcodec", "configuration": {}}]), DataType::Bool, "/0"),
    ];
    for (codecs, data_type, pointer) in refused {
        let error = refusal(codecs.clone(), &data_type, &[4]);
        assert_eq!(error.pointer, pointer, "{codecs}: {}", error.what);
    }
    let taken = [
        (json!(["vlen-utf8"]), DataType::String),
        (json!([{"name": "packbits", "configuration": {"first_bit": 4, "last_bit": 7}}]), DataType::UInt8),
        (json!(["packbits"]), DataType::Complex(Float::F32)),
        (
            json!([{"name": "numcodecs.delta", "configuration": {"dtype": "<i8"}}, little()]),
            DataType::DateTime { unit: crate::dtype::TimeUnit::Nano, scale: 1 },
        ),
        (
            json!([{"name": "cast_value", "configuration": {"data_type": "uint8", "scalar_map": {"encode": [["NaN", 0], ["+Infinity", 0]]}}}, "bytes"]),
            DataType::Float(Float::F64),
        ),
        (json!([{"name": "numcodecs.packbits", "configuration": {}}, "bytes"]), DataType::Bool),
        (json!([{"name": "zfp", "configuration": {"mode": "reversible"}}]), DataType::UInt8),
    ];
    for (codecs, data_type) in taken {
        check(codecs.clone(), &data_type, &[4]).unwrap_or_else(|error| panic!("{codecs}: {error}"));
    }
    let error = refusal(json!([{"name": "zfp", "configuration": {"mode": "reversible"}}]), &DataType::Float(Float::F32), &[1; 5]);
    assert!(error.what.contains("at most 4 axes (this chunk has 5)"), "{}", error.what);
}

/// zs-241: behind a transpose the inner chunks lie in the permuted shard.
#[test]
fn zs_241_inner_chunks_divide_the_permuted_shard() {
    let codecs = |inner: Value| json!([{"name": "transpose", "configuration": {"order": [1, 0]}}, sharding(inner, json!([little()]), json!([little(), "crc32c"]))]);
    check(codecs(json!([3, 2])), &DataType::UInt16, &[4, 6]).unwrap();
    let error = refusal(codecs(json!([2, 3])), &DataType::UInt16, &[4, 6]);
    assert_eq!(error.pointer, "/1/configuration/chunk_shape/1");
    assert_eq!(error.what, "the inner chunk length 3 of axis 1 does not divide the shard length 4");
}

/// zp-2030: a compressor in the codecs of an index.
#[test]
fn zp_2030_index_codecs_have_a_fixed_size() {
    let gzip = json!({"name": "gzip", "configuration": {"level": 1}});
    let error = refusal(json!([sharding(json!([4, 4]), json!([little()]), json!([little(), gzip]))]), &DataType::UInt16, &[8, 8]);
    assert_eq!(error.pointer, "/0/configuration/index_codecs/1");
    assert_eq!(error.what, "the index of a shard must have a fixed size, which \"gzip\" in index_codecs does not give");
}

/// zita-424, zp-3655: the size of an index follows from its codecs, and shards nest.
#[test]
fn zita_424_index_sizes() {
    let index_len = |index: Value, shard: &[u64]| match v3(sharding(json!([2, 2]), json!(["bytes"]), index)) {
        Codec::Sharding(sharding) => sharding.index_len(shard),
        other => panic!("{other:?}"),
    };
    assert_eq!(index_len(json!([little()]), &[4, 4]).unwrap(), 64);
    assert_eq!(index_len(json!([little(), "crc32c"]), &[4, 4]).unwrap(), 68);
    assert_eq!(index_len(json!([little(), "crc32c"]), &[8, 4]).unwrap(), 132);
    assert_eq!(index_len(json!([{"name": "transpose", "configuration": {"order": [2, 0, 1]}}, little()]), &[4, 4]).unwrap(), 64);
    assert_eq!(index_len(json!(["bytes"]), &[4, 4]).unwrap_err().pointer, "/configuration/index_codecs/0/configuration/endian");
    assert_eq!(index_len(json!([]), &[4, 4]).unwrap_err().pointer, "/configuration/index_codecs");
    assert!(index_len(json!([little()]), &[u64::MAX - 1, u64::MAX - 1]).is_err());

    let inner = sharding(json!([2, 2]), json!(["bytes"]), json!([little(), "crc32c"]));
    check(json!([sharding(json!([4, 4]), json!([inner]), json!([little(), "crc32c"]))]), &DataType::UInt8, &[8, 8]).unwrap();
    let inner = sharding(json!([3, 2]), json!(["bytes"]), json!([little()]));
    let error = refusal(json!([sharding(json!([4, 4]), json!([inner]), json!([little()]))]), &DataType::UInt8, &[8, 8]);
    assert_eq!(error.pointer, "/0/configuration/codecs/0/configuration/chunk_shape/0");
    let error = refusal(json!([sharding(json!([4]), json!(["bytes"]), json!([little()]))]), &DataType::UInt8, &[8, 8]);
    assert_eq!(error.what, "the inner chunks of \"sharding_indexed\" have 1 axes, but its shard has 2");
}

#[test]
fn shapes_behind_codecs() {
    let shaped = |codec: Value, data_type: DataType, shape: &[u64]| {
        v3(codec).encoded(&Shaped { shape: shape.into(), data_type }).map(|s| (s.shape.to_vec(), s.data_type))
    };
    let u1 = DataType::UInt8;
    // zrs-transpose: not an involution.
    assert_eq!(shaped(json!({"name": "transpose", "configuration": {"order": [2, 0, 1]}}), u1.clone(), &[2, 3, 4]).unwrap().0, [4, 2, 3]);
    assert!(shaped(json!({"name": "transpose", "configuration": {"order": [1, 0]}}), u1.clone(), &[2, 3, 4]).is_err());
    assert_eq!(shaped(json!("squeeze"), u1.clone(), &[1, 3, 1]).unwrap().0, [3]);
    assert_eq!(shaped(reshape(json!([6, -1])), u1.clone(), &[2, 3, 4]).unwrap().0, [6, 4]);
    assert_eq!(shaped(reshape(json!([[0, 1], [2]])), u1.clone(), &[2, 3, 4]).unwrap().0, [6, 4]);
    assert_eq!(shaped(reshape(json!([2, [1, 2]])), u1.clone(), &[2, 3, 4]).unwrap().0, [2, 12]);
    assert_eq!(shaped(reshape(json!([-1])), u1.clone(), &[]).unwrap().0, [1]);
    assert_eq!(shaped(reshape(json!([1, []])), u1.clone(), &[]).unwrap().0, [1, 1]);
    for (shape, input) in [
        (json!([5, -1]), &[2u64, 3][..]),
        (json!([7]), &[2, 3]),
        (json!([[5]]), &[2]),
        (json!([[1], -1]), &[2, 3]),
        (json!([-1]), &[u64::MAX, 2]),
    ] {
        assert!(shaped(reshape(shape.clone()), u1.clone(), input).is_err(), "{shape} {input:?}");
    }
    let stored =
        |shape: &[u64]| shaped(json!({"name": "gingham.stored_shape", "configuration": {"shape": [30, 7]}}), DataType::UInt8, shape);
    assert_eq!(stored(&[12, 7]).unwrap().0, [30, 7]);
    assert!(stored(&[31, 7]).is_err() && stored(&[30]).is_err());
    let (shape, data_type) = shaped(json!("numcodecs.packbits"), DataType::Bool, &[3, 3]).unwrap();
    assert_eq!((shape, data_type), (vec![3], DataType::UInt8));
    let (_, data_type) = shaped(
        json!({"name": "numcodecs.astype", "configuration": {"encode_dtype": "<f4", "decode_dtype": "<f8"}}),
        DataType::Float(Float::F64),
        &[2],
    )
    .unwrap();
    assert_eq!(data_type, DataType::Float(Float::F32));
    assert!(shaped(json!("crc32c"), u1, &[2]).is_err());
}

#[test]
fn fixed_sizes() {
    assert_eq!(v3(json!("crc32c")).encoded_len(10), Some(14));
    assert_eq!(v3(json!("fletcher32")).encoded_len(u64::MAX), None);
    assert_eq!(v3(json!({"name": "numcodecs.base64"})).encoded_len(10), Some(16));
    assert_eq!(v3(json!("zstd")).encoded_len(10), None);
    let size = |codec: Value, data_type: DataType, shape: &[u64]| v3(codec).encoded_size_of(&Shaped { shape: shape.into(), data_type });
    assert_eq!(size(little(), DataType::Int16, &[3, 5]), Some(30));
    assert_eq!(size(little(), DataType::Int16, &[u64::MAX]), None);
    assert_eq!(size(json!("packbits"), DataType::Bool, &[10]), Some(2));
    // zrs-packbits: 4 bits of each element, and 10 bools with a byte that counts the padding.
    assert_eq!(size(json!({"name": "packbits", "configuration": {"first_bit": 4, "last_bit": 7}}), DataType::UInt8, &[4]), Some(2));
    assert_eq!(size(json!({"name": "packbits", "configuration": {"padding_encoding": "start_byte"}}), DataType::Bool, &[10]), Some(3));
    assert_eq!(size(json!("vlen-utf8"), DataType::String, &[4]), None);
}

#[test]
fn chunks_that_cannot_be_counted_are_refused() {
    let error = refusal(json!([little()]), &DataType::Int64, &[u64::MAX / 2]);
    assert!(error.what.contains("more than 2^64 bytes"), "{}", error.what);
    assert!(check(json!(["vlen-utf8"]), &DataType::String, &[u64::MAX, 2]).is_err());
}
