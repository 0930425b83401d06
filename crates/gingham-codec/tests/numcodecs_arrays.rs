//! The array codecs against what numcodecs stored: its own fixtures, one folder per codec with arrays, configurations and
//! encoded chunks; and small arrays of other writers.
#![allow(missing_docs, clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use gingham_codec::{ArrayToArray, ArrayToBytes, Context, Rep, table};
use gingham_core::Shape;
use gingham_core::codec::{ByteOrder, Codec, Pcodec, ZfpMode};
use gingham_core::dtype::{DataType, Elements, Endian, Float, TypeStr, parse_v2};
use serde_json::Value;

/// A folder of the shared fixtures, or `None` (with a word) where they are not at hand.
fn fixtures(path: &str) -> Option<PathBuf> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/fixtures")).join(path);
    if !root.is_dir() {
        eprintln!("skipped: {} is absent", root.display());
        return None;
    }
    Some(root)
}

/// An array of an `.npy` file. Objects are pickled, so they have no data here.
struct Npy {
    typestr: TypeStr,
    shape: Vec<u64>,
    /// In memory order, little-endian.
    data: Vec<u8>,
}

fn npy(path: &Path) -> Npy {
    let file = std::fs::read(path).unwrap();
    assert_eq!(&file[..6], b"\x93NUMPY");
    let len = u16::from_le_bytes([file[8], file[9]]) as usize;
    let header = std::str::from_utf8(&file[10..10 + len]).unwrap();
    let value = |key: &str| header.split_once(key).unwrap().1.trim_start_matches(['\'', ':', ' ']);
    let descr = value("descr").split('\'').next().unwrap();
    let shape = value("shape").trim_start_matches('(').split(')').next().unwrap();
    let mut shape: Vec<u64> = shape.split(',').filter_map(|n| n.trim().parse().ok()).collect();
    // Memory order is what filters see: a Fortran array is a C array with its axes reversed.
    if value("fortran_order").starts_with("True") {
        shape.reverse();
    }
    let typestr = parse_v2(&Value::from(descr)).unwrap();
    let mut data = file[10 + len..].to_vec();
    if descr == "|O" {
        data.clear();
    } else {
        typestr.data_type.swap_leaves(&mut data, &typestr.order);
    }
    Npy { typestr, shape, data }
}

/// The chunk `encoded.NN.dat` of every array and configuration of a folder: (configuration, array, stored bytes).
fn cases(folder: &str) -> Vec<(Value, Npy, Vec<u8>)> {
    let Some(root) = fixtures(&format!("numcodecs/fixture/{folder}")) else { return vec![] };
    let mut out = vec![];
    let mut entries: Vec<_> = std::fs::read_dir(&root).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for codec in entries.iter().filter(|p| p.is_dir()) {
        let config: Value = serde_json::from_slice(&std::fs::read(codec.join("config.json")).unwrap()).unwrap();
        for array in entries.iter().filter(|p| p.is_file()) {
            let number = array.file_stem().unwrap().to_str().unwrap().replace("array.", "");
            if let Ok(stored) = std::fs::read(codec.join(format!("encoded.{number}.dat"))) {
                out.push((config.clone(), npy(array), stored));
            }
        }
    }
    assert!(!out.is_empty(), "{folder} has no cases");
    out
}

fn typestr(config: &Value, key: &str) -> TypeStr {
    parse_v2(config.get(key).filter(|v| !v.is_null()).unwrap_or_else(|| &config["dtype"])).unwrap()
}

fn rep(data_type: DataType, shape: &[u64]) -> Rep {
    let fill = data_type.default_fill();
    Rep { data_type, shape: Shape::from_slice(shape), fill }
}

fn filter(codec: &Codec) -> Box<dyn ArrayToArray> {
    table::array_to_array(codec).unwrap()
}

fn decoder(codec: &Codec) -> Box<dyn ArrayToBytes> {
    table::array_to_bytes(codec).unwrap()
}

/// What a filter stores, in memory order; and that `stored` decodes to `back`, or to what `near` takes for it.
fn check_filter(codec: &Codec, array: &Npy, stored: &[u8], near: impl Fn(&[u8], &[u8]) -> bool) {
    let f = filter(codec);
    let input = rep(array.typestr.data_type.clone(), &array.shape);
    let behind = f.encoded(&input).unwrap();
    let bytes = decoder(&Codec::Bytes(ByteOrder::Uniform(Endian::Little)));
    let mut out = vec![];
    let encoded = f.encode(&input, Elements::Fixed(array.data.clone())).unwrap();
    bytes.encode(&behind, &encoded, &mut out, &mut Context::default()).unwrap();
    assert!(out == stored, "{codec:?} stores other bytes");
    let elements = bytes.decode(&behind, stored, &mut Context::default()).unwrap();
    let Elements::Fixed(back) = f.decode(&input, elements).unwrap() else { panic!("{codec:?}") };
    assert!(near(&back, &array.data), "{codec:?} decodes to other values");
}

fn f64s(bytes: &[u8]) -> Vec<f64> {
    bytes.chunks(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
}

fn within(tolerance: f64) -> impl Fn(&[u8], &[u8]) -> bool {
    move |a, b| a.len() == b.len() && f64s(a).iter().zip(f64s(b)).all(|(x, y)| (x - y).abs() <= tolerance)
}

#[test]
fn delta() {
    for kind in ["bool", "int32", "uint16", "float32", "float64"] {
        for (config, array, stored) in cases(&format!("delta/{kind}")) {
            let codec = Codec::Delta { dtype: typestr(&config, "dtype"), astype: typestr(&config, "astype") };
            check_filter(&codec, &array, &stored, |a, b| a == b);
        }
    }
}

#[test]
fn astype() {
    for kind in ["i", "f"] {
        for (config, array, stored) in cases(&format!("astype/{kind}")) {
            let codec = Codec::AsType { encode_dtype: typestr(&config, "encode_dtype"), decode_dtype: typestr(&config, "decode_dtype") };
            check_filter(&codec, &array, &stored, |a, b| if kind == "i" { a == b } else { within(1e-4)(a, b) });
        }
    }
}

#[test]
fn fixedscaleoffset() {
    for (config, array, stored) in cases("fixedscaleoffset") {
        let scale = config["scale"].as_f64().unwrap();
        let codec = Codec::FixedScaleOffset {
            offset: config["offset"].as_f64().unwrap(),
            scale,
            dtype: typestr(&config, "dtype"),
            astype: typestr(&config, "astype"),
        };
        check_filter(&codec, &array, &stored, within(1.0 / scale));
    }
}

#[test]
fn quantize() {
    for (config, array, stored) in cases("quantize") {
        let digits = config["digits"].as_i64().unwrap() as i32;
        let codec = Codec::Quantize { digits, dtype: typestr(&config, "dtype"), astype: typestr(&config, "astype") };
        let tolerance = if digits < 5 { 10f64.powi(-digits) } else { 1e-4 };
        check_filter(&codec, &array, &stored, within(tolerance));
    }
}

#[test]
fn packbits() {
    for (_, array, stored) in cases("packbits") {
        check_filter(&Codec::NumcodecsPackBits, &array, &stored, |a, b| a == b);
    }
}

#[test]
fn categorize() {
    for kind in ["U", "O"] {
        for (config, array, stored) in cases(&format!("categorize/{kind}")) {
            let labels = config["labels"].as_array().unwrap().iter().map(|l| l.as_str().unwrap().to_string()).collect();
            let codec = Codec::Categorize { labels, dtype: typestr(&config, "dtype"), astype: typestr(&config, "astype") };
            if kind == "U" {
                check_filter(&codec, &array, &stored, |a, b| a == b);
                continue;
            }
            let input = rep(DataType::String, &array.shape);
            let f = filter(&codec);
            let texts = f.decode(&input, Elements::Fixed(stored.clone())).unwrap();
            assert_eq!(f.encode(&input, texts).unwrap(), Elements::Fixed(stored));
        }
    }
}

/// Decodes a chunk of variable-length elements; encoding gives the same bytes again, and no truncation passes.
fn check_variable(codec: &Codec, data_type: DataType, shape: &[u64], stored: &[u8], exact: bool) -> Vec<String> {
    let d = decoder(codec);
    let input = rep(data_type, shape);
    let elements = d.decode(&input, stored, &mut Context::default()).unwrap();
    let mut out = vec![];
    d.encode(&input, &elements, &mut out, &mut Context::default()).unwrap();
    if exact {
        assert!(out == stored, "{codec:?} stores other bytes");
    }
    assert_eq!(d.decode(&input, &out, &mut Context::default()).unwrap(), elements);
    for cut in (0..stored.len()).step_by(stored.len() / 200 + 1) {
        assert!(d.decode(&input, &stored[..cut], &mut Context::default()).is_err(), "{codec:?} cut at {cut}");
    }
    let v = elements.as_variable().unwrap();
    (0..v.len()).map(|i| String::from_utf8_lossy(v.get(i)).into_owned()).collect()
}

#[test]
fn vlen() {
    for (_, array, stored) in cases("vlen-utf8") {
        check_variable(&Codec::VlenUtf8, DataType::String, &array.shape, &stored, true);
    }
    for (_, array, stored) in cases("vlen-bytes") {
        check_variable(&Codec::VlenBytes, DataType::Bytes, &array.shape, &stored, true);
    }
    for (config, array, stored) in cases("vlen-array") {
        let dtype = typestr(&config, "dtype");
        let data_type = DataType::VlenArray(Box::new(dtype.data_type.clone()));
        check_variable(&Codec::VlenArray { dtype }, data_type, &array.shape, &stored, true);
    }
}

#[test]
fn json2_and_msgpack2_hold_the_same_objects() {
    let mut texts = vec![];
    for (config, array, stored) in cases("json2") {
        let text = check_variable(&Codec::Json2(config.clone()), DataType::Json, &array.shape, &stored, false);
        assert!(text.iter().all(|t| serde_json::from_str::<Value>(t).is_ok()));
        texts.push(text);
        // Arrays of fixed-size types come back as those.
        if array.typestr.data_type == DataType::Int32 {
            let input = rep(DataType::Int32, &array.shape);
            let got = decoder(&Codec::Json2(config)).decode(&input, &stored, &mut Context::default()).unwrap();
            assert_eq!(got, Elements::Fixed(array.data));
        } else if let DataType::FixedUtf32(_) = array.typestr.data_type {
            let input = rep(array.typestr.data_type.clone(), &array.shape);
            let got = decoder(&Codec::Json2(config)).decode(&input, &stored, &mut Context::default()).unwrap();
            assert_eq!(got, Elements::Fixed(array.data));
        }
    }
    for (config, array, stored) in cases("msgpack2") {
        let text = check_variable(&Codec::MsgPack2(config), DataType::Json, &array.shape, &stored, false);
        if text.iter().all(|t| !t.contains("hex")) {
            assert!(texts.contains(&text), "{:?} is in no json2 chunk", &text[..4]);
        }
    }
}

fn pco(config: &Value) -> Codec {
    let text = |key: &str, default: &str| config[key].as_str().unwrap_or(default).to_string();
    Codec::Pcodec(Pcodec {
        level: config["level"].as_u64().unwrap() as u8,
        mode_spec: text("mode_spec", "auto"),
        delta_spec: text("delta_spec", "auto"),
        paging_spec: text("paging_spec", "equal_pages_up_to"),
        delta_encoding_order: config["delta_encoding_order"].as_u64().map(|n| n as u8),
        equal_pages_up_to: config["equal_pages_up_to"].as_u64().unwrap(),
    })
}

/// That `stored` decodes to the array, and that what is encoded decodes to it as well.
fn check_lossless(codec: &Codec, array: &Npy, stored: &[u8]) {
    let d = decoder(codec);
    let input = rep(array.typestr.data_type.clone(), &array.shape);
    assert!(d.decode(&input, stored, &mut Context::default()).unwrap() == Elements::Fixed(array.data.clone()), "{codec:?} decode");
    let mut out = vec![];
    d.encode(&input, &Elements::Fixed(array.data.clone()), &mut out, &mut Context::default()).unwrap();
    assert!(d.decode(&input, &out, &mut Context::default()).unwrap() == Elements::Fixed(array.data.clone()), "{codec:?} encode");
}

#[test]
fn pcodec() {
    for (config, array, stored) in cases("pcodec") {
        check_lossless(&pco(&config), &array, &stored);
    }
}

#[test]
fn zfpy() {
    for (config, array, stored) in cases("zfpy") {
        let mode = match config["mode"].as_u64().unwrap() {
            2 => ZfpMode::FixedRate(config["rate"].as_f64().unwrap()),
            3 => ZfpMode::FixedPrecision(config["precision"].as_i64().unwrap() as u32),
            _ => ZfpMode::FixedAccuracy(config["tolerance"].as_f64().unwrap()),
        };
        check_lossless(&Codec::Zfpy(mode), &array, &stored);
    }
}

#[test]
fn other_writers_zfpy_and_pcodec_chunks() {
    let Some(root) = fixtures("zarrs/zarrs/tests/data") else { return };
    let chunk = |path: &str| std::fs::read(root.join(path)).unwrap();
    let input = rep(DataType::Float(Float::F32), &[5, 5]);
    let values = |e: Elements| -> Vec<f32> { e.as_fixed().unwrap().chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect() };
    // All of these arrays hold 0, 1, 2, … in C order.
    let want = |i: usize, j: usize| (i * 10 + j) as f32;
    let pco = pco(&serde_json::json!({"level": 8, "equal_pages_up_to": 262144}));
    for (codec, path, tolerance) in [
        (&Codec::Zfpy(ZfpMode::FixedAccuracy(0.01)), "v2/array_zfpy_C.zarr/0.0", 0.01),
        (&Codec::Zfpy(ZfpMode::FixedAccuracy(0.01)), "v3_zarr_python/array_zfpy.zarr/c/0/0", 0.01),
        (&pco, "v2/array_pcodec_C.zarr/0.0", 0.0),
    ] {
        let got = values(decoder(codec).decode(&input, &chunk(path), &mut Context::default()).unwrap());
        for i in 0..5 {
            for j in 0..5 {
                assert!((got[i * 5 + j] - want(i, j)).abs() <= tolerance, "{path} {i},{j}: {}", got[i * 5 + j]);
            }
        }
    }
}

#[test]
fn bitround_sample_arrays() {
    let Some(root) = fixtures("zarr-extensions/codecs/bitround/sample_data") else { return };
    let codec = Codec::BitRound { keepbits: 3, numcodecs: false };
    let check = |data_type: DataType, original: Vec<u8>, path: &str| {
        let stored = std::fs::read(root.join(path)).unwrap();
        let input = rep(data_type.clone(), &[(original.len() / data_type.size().unwrap()) as u64]);
        assert_eq!(filter(&codec).encode(&input, Elements::Fixed(original)).unwrap(), Elements::Fixed(stored), "{path}");
    };
    let floats = [0.0f32, 0.1, 1.2, 12.3, 123.4, 1234.5, f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
    let floats = floats.iter().flat_map(|x| x.to_le_bytes()).collect();
    check(DataType::Float(Float::F32), floats, "bitround_float32.zarr/c/0");
    check(DataType::UInt8, vec![0, 1, 10, 11, 100, 123, 200, 208, 209, 255], "bitround_uint8.zarr/c/0");
}

#[test]
fn nc_852_a_filter_behind_a_reversed_order() {
    // v2, order F: the transposed array is what the filter sees.
    let input = rep(DataType::Float(Float::F32), &[2, 3]);
    let u2 = TypeStr { data_type: DataType::UInt16, order: vec![Endian::Little] };
    let f4 = TypeStr { data_type: DataType::Float(Float::F32), order: vec![Endian::Little] };
    let t = filter(&Codec::Transpose { order: vec![1, 0] });
    let f = filter(&Codec::FixedScaleOffset { offset: 0.0, scale: 1.0, dtype: f4, astype: u2 });
    let stored: Vec<u8> = [0u16, 3, 1, 4, 2, 5].iter().flat_map(|x| x.to_le_bytes()).collect();
    let behind = t.encoded(&input).unwrap();
    let values: Vec<u8> = (0..6).flat_map(|i| (i as f32).to_le_bytes()).collect();
    let encoded = f.encode(&behind, t.encode(&input, Elements::Fixed(values.clone())).unwrap()).unwrap();
    assert_eq!(encoded, Elements::Fixed(stored.clone()));
    let decoded = t.decode(&input, f.decode(&behind, Elements::Fixed(stored)).unwrap()).unwrap();
    assert_eq!(decoded, Elements::Fixed(values));
}

#[test]
fn zj_59_v2_types_in_big_endian() {
    let value = |text: &str, stored: &[u8]| {
        let t = parse_v2(&Value::from(text)).unwrap();
        let d = decoder(&Codec::Bytes(ByteOrder::PerLeaf(t.order.clone())));
        d.decode(&rep(t.data_type, &[1]), stored, &mut Context::default()).unwrap()
    };
    assert_eq!(value(">u2", &[0xff, 0]), Elements::Fixed(65280u16.to_le_bytes().to_vec()));
    assert_eq!(value(">i4", &[0xff, 0xff, 0xff, 0xfe]), Elements::Fixed((-2i32).to_le_bytes().to_vec()));
    assert_eq!(value(">f8", &1.5f64.to_be_bytes()), Elements::Fixed(1.5f64.to_le_bytes().to_vec()));
    assert_eq!(value(">M8[s]", &7i64.to_be_bytes()), Elements::Fixed(7i64.to_le_bytes().to_vec()));
    assert_eq!(value(">U2", &[0, 0, 0, b'a', 0, 0, 0, 0]), Elements::Fixed(vec![b'a', 0, 0, 0, 0, 0, 0, 0]));
    let (re, im) = (1.5f32, -2f32);
    assert_eq!(
        value(">c8", &[re.to_be_bytes(), im.to_be_bytes()].concat()),
        Elements::Fixed([re.to_le_bytes(), im.to_le_bytes()].concat())
    );
}

#[test]
fn ncc_2062_one_byte_integers_in_any_order() {
    for (text, stored) in [("|u1", 0xfeu8), ("<u1", 0xfe), (">u1", 0xfe), ("|i1", 0xfe)] {
        let t = parse_v2(&Value::from(text)).unwrap();
        let d = decoder(&Codec::Bytes(ByteOrder::None));
        let input = rep(t.data_type.clone(), &[1]);
        assert!(d.is_identity(&input), "{text}");
        assert_eq!(d.decode(&input, &[stored], &mut Context::default()).unwrap(), Elements::Fixed(vec![stored]));
    }
}

#[test]
fn unknown_and_misplaced_codecs_are_named() {
    let unknown = Codec::Unknown { name: "blosk".into(), configuration: None, ignorable: false };
    assert!(table::array_to_bytes(&unknown).unwrap_err().what.contains("not known"));
    assert!(table::array_to_array(&Codec::VlenUtf8).is_err());
    assert!(table::array_to_bytes(&Codec::Squeeze).is_err());
}
