//! What holds for every type: names, fill values and printed elements come back as they were.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::*;
use crate::json::Value;

fn unit() -> impl Strategy<Value = (TimeUnit, u32)> {
    let units = vec!["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "generic"];
    (proptest::sample::select(units), 1u32..1000).prop_map(|(name, scale)| (TimeUnit::from_name(name).unwrap(), scale))
}

fn float() -> impl Strategy<Value = Float> {
    proptest::sample::select(Float::ALL.to_vec())
}

/// Types of a fixed size that v3 has; `v2` leaves out those that v2 has not.
fn scalar(v2: bool) -> BoxedStrategy<DataType> {
    use DataType::{Bool, Int2, Int4, Int8, Int16, Int32, Int64, UInt2, UInt4, UInt8, UInt16, UInt32, UInt64};
    let integers = proptest::sample::select(vec![Bool, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64]);
    let narrow = proptest::sample::select(vec![Int2, Int4, UInt2, UInt4]);
    let ieee = proptest::sample::select(vec![Float::F16, Float::F32, Float::F64]);
    let complex = proptest::sample::select(vec![Float::F32, Float::F64]);
    let common = prop_oneof![
        integers,
        ieee.prop_map(DataType::Float),
        complex.prop_map(DataType::Complex),
        (1usize..9).prop_map(DataType::Raw),
        (1usize..9).prop_map(DataType::FixedBytes),
        (1usize..5).prop_map(DataType::FixedUtf32),
        unit().prop_map(|(unit, scale)| DataType::DateTime { unit, scale }),
        unit().prop_map(|(unit, scale)| DataType::TimeDelta { unit, scale }),
    ];
    if v2 {
        common.boxed()
    } else {
        prop_oneof![common, narrow, float().prop_map(DataType::Float), float().prop_map(DataType::Complex)].boxed()
    }
}

fn fields(item: impl Strategy<Value = DataType>) -> impl Strategy<Value = DataType> {
    proptest::collection::vec(item, 1..5).prop_map(|types| {
        let field = |(i, data_type)| Field { name: format!("{i}~/é"), data_type };
        DataType::Struct(types.into_iter().enumerate().map(field).collect())
    })
}

fn data_type(v2: bool) -> impl Strategy<Value = DataType> {
    scalar(v2).prop_recursive(3, 16, 4, move |inner| {
        let arrays = (scalar(v2), proptest::collection::vec(1u64..4, 1..3))
            .prop_map(|(item, shape)| DataType::FixedArray { item: Box::new(item), shape });
        if v2 { fields(prop_oneof![3 => inner, 1 => arrays]).boxed() } else { fields(inner).boxed() }
    })
}

/// A v2 dtype with a byte order for each leaf.
fn typestr() -> impl Strategy<Value = TypeStr> {
    (data_type(true), proptest::collection::vec(any::<bool>(), 64)).prop_map(|(data_type, big)| {
        let endian = |(leaf, big): (&Leaf, &bool)| if leaf.width > 1 && *big { Endian::Big } else { Endian::Little };
        let order = data_type.leaves().iter().zip(big.iter().cycle()).map(endian).collect();
        TypeStr { data_type, order }
    })
}

/// Random bytes made into elements: stray bits cleared, code points that exist.
fn element(data_type: &DataType, random: &[u8]) -> Vec<u8> {
    let size = data_type.size().unwrap();
    let mut bytes: Vec<u8> = random.iter().copied().cycle().take(size).collect();
    fix(data_type, &mut bytes);
    bytes
}

fn fix(data_type: &DataType, bytes: &mut [u8]) {
    data_type.normalize(bytes);
    match data_type {
        DataType::FixedUtf32(_) => {
            bytes.chunks_exact_mut(4).for_each(|unit| unit.copy_from_slice(&[unit[0], unit[1] % 0x80, unit[2] % 0x10, 0]))
        }
        DataType::Struct(fields) => {
            let mut rest = bytes;
            for field in fields {
                let (head, tail) = rest.split_at_mut(field.data_type.size().unwrap());
                fix(&field.data_type, head);
                rest = tail;
            }
        }
        DataType::FixedArray { item, .. } => bytes.chunks_exact_mut(item.size().unwrap()).for_each(|part| fix(item, part)),
        _ => {}
    }
}

/// The text of a document and back: what a reader of the file sees.
fn through_text(value: &Value) -> Value {
    serde_json::from_str(&value.to_string()).unwrap()
}

fn json() -> impl Strategy<Value = Value> {
    let words = proptest::sample::select(vec![
        "",
        "NaN",
        "Infinity",
        "0x7fc00000",
        "0x",
        "NaT",
        "AAEC",
        "int32",
        "r8",
        "r16",
        "struct",
        "numpy.datetime64",
        "raw_bytes",
        "s",
        "<i4",
        ">U3",
        "|S9",
        "<M8[ns]",
        "|O",
        "fields",
        "é日",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (0u64..10).prop_map(Value::from),
        words.prop_map(Value::from),
        "\\PC{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 24, 4, |inner| {
        let keys = proptest::sample::select(vec![
            "name",
            "configuration",
            "data_type",
            "fields",
            "length_bytes",
            "unit",
            "scale_factor",
            "hex",
            "0~/é",
        ]);
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((keys, inner), 0..4)
                .prop_map(|m| Value::Object(m.into_iter().map(|(k, v)| (k.to_string(), v)).collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn types_of_v3_come_back(data_type in data_type(false)) {
        let written = to_v3(&data_type).unwrap();
        prop_assert_eq!(parse_v3(&through_text(&written)).unwrap(), data_type);
    }

    #[test]
    fn fill_values_of_v3_come_back(data_type in data_type(false), random in proptest::collection::vec(any::<u8>(), 31)) {
        let fill = FillValue::new(element(&data_type, &random));
        let written = fill.to_v3(&data_type);
        let again = FillValue::from_v3(&through_text(&written), &data_type).unwrap();
        prop_assert_eq!(again, fill, "{}", written);
    }

    #[test]
    fn types_and_fill_values_of_v2_come_back(typestr in typestr(), random in proptest::collection::vec(any::<u8>(), 31)) {
        prop_assert_eq!(parse_v2(&through_text(&to_v2(&typestr).unwrap())).unwrap(), typestr.clone());
        let fill = FillValue::new(element(&typestr.data_type, &random));
        let written = fill.to_v2(&typestr);
        let again = FillValue::from_v2(&through_text(&written), &typestr).unwrap().unwrap();
        // v2 has one NaN; a number that is NaN comes back as that one.
        let canonical = FillValue::from_v2(&again.to_v2(&typestr), &typestr).unwrap().unwrap();
        prop_assert_eq!(&canonical, &again);
        if !written.to_string().contains("NaN") {
            prop_assert_eq!(again, fill, "{}", written);
        }
    }

    #[test]
    fn printed_elements_come_back(data_type in data_type(true), random in proptest::collection::vec(any::<u8>(), 31)) {
        let bytes = element(&data_type, &random);
        let printed = format_element(&data_type, &bytes, Spelling::Plain);
        if !printed.to_string().contains("NaN") {
            prop_assert_eq!(parse_element(&data_type, &through_text(&printed)).unwrap(), bytes, "{}", printed);
        }
    }

    #[test]
    fn swapping_twice_changes_nothing(typestr in typestr(), random in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut bytes = random.clone();
        typestr.data_type.swap_leaves(&mut bytes, &typestr.order);
        if typestr.uniform() == Some(Endian::Big) {
            let mut all = random.clone();
            typestr.data_type.swap_bytes(&mut all);
            prop_assert_eq!(&all, &bytes);
        }
        typestr.data_type.swap_leaves(&mut bytes, &typestr.order);
        prop_assert_eq!(bytes, random);
    }

    #[test]
    fn float32_decimals_are_the_parsers(value in any::<f64>(), float in float()) {
        let value = if value.is_finite() { value } else { 1.0 };
        prop_assert_eq!(Float::F32.from_f64(value) as u32, (value as f32).to_bits());
        prop_assert_eq!(Float::F32.narrow(value, crate::codec::Rounding::NearestEven).unwrap_or(0) as u32,
            if (value as f32).is_infinite() { 0 } else { (value as f32).to_bits() });
        let bits = float.from_f64(value);
        prop_assert!(float.is_nan(bits) || float.from_f64(float.to_f64(bits)) == bits);
    }

    #[test]
    fn hostile_documents_are_refused_or_read(value in json(), other in json(), data_type in data_type(true), random in proptest::collection::vec(any::<u8>(), 0..40)) {
        if let Ok(data_type) = parse_v3(&value) {
            let _ = FillValue::from_v3(&other, &data_type);
            prop_assert!(data_type.size().is_none_or(|n| n < TOO_LARGE));
        }
        if let Ok(typestr) = parse_v2(&value) {
            let _ = FillValue::from_v2(&other, &typestr);
            prop_assert_eq!(typestr.order.len(), typestr.data_type.leaves().len());
        }
        let typestr = TypeStr::new(data_type.clone(), Endian::Big);
        for read in [FillValue::from_v3(&value, &data_type).ok(), FillValue::from_v2(&value, &typestr).ok().flatten()].into_iter().flatten() {
            prop_assert_eq!(Some(read.as_bytes().len()), data_type.size());
        }
        for spelling in [Spelling::Plain, Spelling::Fill, Spelling::Oracle] {
            let printed = format_element(&data_type, &random, spelling);
            prop_assert!(!oracle_text(&printed).is_empty());
        }
        let _ = FillValue::new(random).to_v2(&typestr);
        let _ = parse_element(&data_type, &value);
    }
}

/// The documents named `name` under a folder that tests share, or none where the folder is absent.
fn shared_documents(folder: &str, names: &[&str]) -> Vec<(std::path::PathBuf, Value)> {
    let root = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")).join(folder);
    let mut found = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if names.iter().any(|name| entry.file_name() == *name)
                && let Ok(document) = serde_json::from_slice(&std::fs::read(&path).unwrap())
            {
                found.push((path, document));
            }
        }
    }
    if found.is_empty() {
        eprintln!("skipped: no documents in {}", root.display());
    }
    found
}

#[test]
fn types_and_fill_values_of_real_documents_are_read_and_written() {
    for folder in ["fixtures", "corpus/zarr"] {
        for (path, document) in shared_documents(folder, &[".zarray", "zarr.json"]) {
            let (Some(fill), place) = (document.get("fill_value"), path.display()) else { continue };
            if let Some(value) = document.get("data_type") {
                let data_type = parse_v3(value).unwrap_or_else(|e| panic!("{place}: {e}"));
                assert_eq!(parse_v3(&to_v3(&data_type).unwrap()).unwrap(), data_type, "{place}");
                let read = FillValue::from_v3(fill, &data_type).unwrap_or_else(|e| panic!("{place}: {e}"));
                assert_eq!(FillValue::from_v3(&read.to_v3(&data_type), &data_type).unwrap(), read, "{place}");
            } else if let Some(value) = document.get("dtype") {
                let typestr = parse_v2(value).unwrap_or_else(|e| panic!("{place}: {e}"));
                assert_eq!(&to_v2(&typestr).unwrap(), value, "{place}");
                if let Some(read) = FillValue::from_v2(fill, &typestr).unwrap_or_else(|e| panic!("{place}: {e}")) {
                    assert_eq!(FillValue::from_v2(&read.to_v2(&typestr), &typestr).unwrap(), Some(read), "{place}");
                }
            }
        }
    }
}

#[test]
fn fill_values_of_the_metadata_test_suite_are_kept() {
    for (path, cases) in shared_documents("fixtures/zarr-metadata", &["fill_values.json"]) {
        let folder = path.parent().unwrap();
        let name = folder.file_name().unwrap().to_str().unwrap();
        let described = std::fs::read(folder.join("data_type.json")).ok().map(|text| serde_json::from_slice(&text).unwrap());
        let data_type = parse_v3(&described.unwrap_or(Value::from(if name == "raw" { "r32" } else { name }))).unwrap();
        for (case, value) in cases.as_object().unwrap() {
            let read = FillValue::from_v3(value, &data_type).unwrap_or_else(|e| panic!("{name} {case}: {e}"));
            assert_eq!(FillValue::from_v3(&read.to_v3(&data_type), &data_type).unwrap(), read, "{name} {case}");
        }
    }
}
