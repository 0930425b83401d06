//! v3 data types: names, extension objects, aliases.

use super::scalar::shown;
use super::{DataType, DataTypeError, Field, Float, MAX_DEPTH, TOO_LARGE, TimeUnit};
use crate::json::{Map, Value};

/// Reads a v3 `data_type` member (string or extension object, every alias of format.md 1.4 and 3.5).
/// A name that is well formed but not known gives [`DataType::Unknown`]; a bad configuration of a known one is an error.
///
/// ```
/// use gingham_core::dtype::{DataType, parse_v3};
/// assert_eq!(parse_v3(&serde_json::json!("r24")).unwrap(), DataType::Raw(3));
/// assert_eq!(parse_v3(&serde_json::json!({"name": "int32"})).unwrap(), DataType::Int32);
/// ```
pub fn parse_v3(value: &Value) -> Result<DataType, DataTypeError> {
    parse(value, 0)
}

fn parse(value: &Value, depth: usize) -> Result<DataType, DataTypeError> {
    match value {
        Value::String(name) => named(name, None, depth),
        Value::Object(object) => {
            let Some(Value::String(name)) = object.get("name") else {
                return Err(DataTypeError::new("a data type has a \"name\", which is a string"));
            };
            for (key, member) in object {
                match (key.as_str(), member) {
                    ("name", _) | ("configuration", Value::Object(_)) | ("must_understand", Value::Bool(_)) => {}
                    ("configuration", _) => return Err(DataTypeError::new("a configuration is an object").below(key)),
                    ("must_understand", _) => return Err(DataTypeError::new("must_understand is true or false").below(key)),
                    _ => {
                        let what = format!("a data type has no member \"{key}\"; it has name, configuration and must_understand");
                        return Err(DataTypeError::new(what).below(key));
                    }
                }
            }
            let configuration = object.get("configuration").and_then(Value::as_object);
            named(name, configuration, depth)
        }
        other => Err(DataTypeError::new(format!("{} is not a data type: a name or an object with a name is expected", shown(other)))),
    }
}

/// The types that are a name and nothing else.
pub(super) fn plain(name: &str) -> Option<DataType> {
    Some(match name {
        "bool" => DataType::Bool,
        "int2" => DataType::Int2,
        "int4" => DataType::Int4,
        "int8" => DataType::Int8,
        "int16" => DataType::Int16,
        "int32" => DataType::Int32,
        "int64" => DataType::Int64,
        "uint2" => DataType::UInt2,
        "uint4" => DataType::UInt4,
        "uint8" => DataType::UInt8,
        "uint16" => DataType::UInt16,
        "uint32" => DataType::UInt32,
        "uint64" => DataType::UInt64,
        "complex64" => DataType::Complex(Float::F32),
        "complex128" => DataType::Complex(Float::F64),
        "string" => DataType::String,
        "bytes" | "variable_length_bytes" | "binary" => DataType::Bytes,
        other => match other.strip_prefix("complex_") {
            Some(part) => DataType::Complex(Float::from_name(part)?),
            None => DataType::Float(Float::from_name(other)?),
        },
    })
}

fn named(name: &str, configuration: Option<&Map<String, Value>>, depth: usize) -> Result<DataType, DataTypeError> {
    let unknown = || DataType::Unknown { name: name.to_string(), configuration: configuration.cloned().map(Value::Object) };
    if let Some(data_type) = plain(name) {
        return Configuration::new(name, configuration, &[]).map(|_| data_type);
    }
    match name {
        "null_terminated_bytes" => Ok(DataType::FixedBytes(length_bytes(name, configuration, 1)?)),
        "raw_bytes" => Ok(DataType::Raw(length_bytes(name, configuration, 1)?)),
        "fixed_length_utf32" => Ok(DataType::FixedUtf32(length_bytes(name, configuration, 4)? / 4)),
        "numpy.datetime64" => time(name, configuration).map(|(unit, scale)| DataType::DateTime { unit, scale }),
        "numpy.timedelta64" => time(name, configuration).map(|(unit, scale)| DataType::TimeDelta { unit, scale }),
        "struct" | "structured" => Ok(structure(name, configuration, depth)?.map_or_else(unknown, DataType::Struct)),
        _ => match name.strip_prefix('r').filter(|bits| !bits.is_empty() && bits.bytes().all(|b| b.is_ascii_digit())) {
            Some(bits) => {
                Configuration::new(name, configuration, &[])?;
                raw_bits(name, bits).map(DataType::Raw)
            }
            None if is_name(name) => Ok(unknown()),
            None => {
                let text = shown(&Value::from(name));
                let hint =
                    if name.starts_with(['<', '>', '|']) { "; type strings such as \"<f4\" belong to v2, v3 says \"float32\"" } else { "" };
                Err(DataTypeError::new(format!("{text} is not the name of a data type{hint}")))
            }
        },
    }
}

/// Registered names begin with a lower-case letter; older documents name extensions by URI.
fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.len() > 1 && name.bytes().all(|b| b.is_ascii_graphic())
}

fn raw_bits(name: &str, digits: &str) -> Result<usize, DataTypeError> {
    let bits = digits.parse::<u64>().ok().filter(|bits| *bits > 0 && bits % 8 == 0 && !digits.starts_with('0'));
    match bits.map(|bits| bits / 8) {
        Some(bytes) if bytes < TOO_LARGE as u64 => Ok(bytes as usize),
        Some(bytes) => Err(DataTypeError::new(format!("an element of {name} has {bytes} bytes; fewer than {TOO_LARGE} are possible"))),
        None => Err(DataTypeError::new(format!(
            "{} is not a raw type: r is followed by a multiple of 8, such as r16",
            shown(&Value::from(name))
        ))),
    }
}

/// A configuration whose members were compared with what the type has.
struct Configuration<'a> {
    type_name: &'a str,
    members: Option<&'a Map<String, Value>>,
}

impl<'a> Configuration<'a> {
    fn new(type_name: &'a str, members: Option<&'a Map<String, Value>>, known: &[&str]) -> Result<Self, DataTypeError> {
        match members.and_then(|m| m.keys().find(|key| !known.contains(&key.as_str()))) {
            Some(stranger) => {
                let has = if known.is_empty() { "has none".to_string() } else { format!("has {}", known.join(", ")) };
                let error = DataTypeError::new(format!("\"{stranger}\" is not part of the configuration of {type_name}, which {has}"));
                Err(error.below(stranger).below("configuration"))
            }
            None => Ok(Configuration { type_name, members }),
        }
    }
    fn get(&self, key: &str) -> Result<&'a Value, DataTypeError> {
        let name = self.type_name;
        let missing = || DataTypeError::new(format!("{name} needs the member \"{key}\" in its configuration"));
        self.members.and_then(|m| m.get(key)).ok_or_else(missing)
    }
    fn refuse(&self, key: &str, what: String) -> DataTypeError {
        DataTypeError::new(what).below(key).below("configuration")
    }
}

fn length_bytes(name: &str, configuration: Option<&Map<String, Value>>, unit: u64) -> Result<usize, DataTypeError> {
    const KEY: &str = "length_bytes";
    let configuration = Configuration::new(name, configuration, &[KEY])?;
    let value = configuration.get(KEY)?;
    match value.as_u64() {
        Some(n) if n > 0 && n % unit == 0 && n < TOO_LARGE as u64 => Ok(n as usize),
        Some(n) if n >= TOO_LARGE as u64 => {
            Err(configuration.refuse(KEY, format!("an element of {name} has {n} bytes; fewer than {TOO_LARGE} are possible")))
        }
        _ => {
            let want = if unit == 1 { "an integer of 1 or more".to_string() } else { format!("a positive multiple of {unit}") };
            Err(configuration.refuse(KEY, format!("length_bytes of {name} is {}; {want} is expected", shown(value))))
        }
    }
}

fn time(name: &str, configuration: Option<&Map<String, Value>>) -> Result<(TimeUnit, u32), DataTypeError> {
    let configuration = Configuration::new(name, configuration, &["unit", "scale_factor"])?;
    let (unit, scale) = (configuration.get("unit")?, configuration.get("scale_factor")?);
    let unit = unit.as_str().and_then(TimeUnit::from_name).ok_or_else(|| {
        let what = format!("{} is not a unit of {name}; the units are {}", shown(unit), TimeUnit::all_names());
        configuration.refuse("unit", what)
    })?;
    let scale = scale.as_u64().filter(|s| (1..=0x7fff_ffff).contains(s)).ok_or_else(|| {
        let what = format!("scale_factor of {name} is {}; an integer from 1 to 2147483647 is expected", shown(scale));
        configuration.refuse("scale_factor", what)
    })?;
    Ok((unit, scale as u32))
}

/// The fields, or `None` where the type of one is not known. Takes both forms of a field, `{"name", "data_type"}` and the
/// older `[name, data_type]`.
fn structure(name: &str, configuration: Option<&Map<String, Value>>, depth: usize) -> Result<Option<Vec<Field>>, DataTypeError> {
    const KEY: &str = "fields";
    if depth >= MAX_DEPTH {
        return Err(DataTypeError::new(format!("structs are nested more than {MAX_DEPTH} deep")));
    }
    let configuration = Configuration::new(name, configuration, &[KEY])?;
    let value = configuration.get(KEY)?;
    let Some(list) = value.as_array().filter(|list| !list.is_empty()) else {
        return Err(configuration.refuse(KEY, format!("fields of {name} is {}; a list of at least one field is expected", shown(value))));
    };
    let within = |error: DataTypeError, i: usize| error.below(i).below(KEY).below("configuration");
    let mut fields = Fields::default();
    let mut all_known = true;
    for (i, item) in list.iter().enumerate() {
        let (field_name, type_value, token) = field_parts(item).map_err(|e| within(e, i))?;
        if field_name.is_empty() {
            return Err(within(DataTypeError::new("the name of a field is empty"), i));
        }
        let data_type = parse(type_value, depth + 1).map_err(|e| within(e.below(token), i))?;
        all_known &= !matches!(data_type, DataType::Unknown { .. });
        if all_known {
            fields.push(field_name.to_string(), data_type).map_err(|e| within(e, i))?;
        }
    }
    Ok(all_known.then_some(fields.list))
}

fn field_parts(item: &Value) -> Result<(&str, &Value, &'static str), DataTypeError> {
    let object = |key: &str| item.as_object().filter(|members| members.len() == 2).and_then(|members| members.get(key));
    if let (Some(Value::String(name)), Some(data_type)) = (object("name"), object("data_type")) {
        return Ok((name, data_type, "data_type"));
    }
    if let Some([Value::String(name), data_type]) = item.as_array().map(Vec::as_slice) {
        return Ok((name, data_type, "1"));
    }
    Err(DataTypeError::new("a field of a struct is an object with the members name and data_type"))
}

/// Fields of a struct as they are read: names unique, sizes fixed, their sum bounded.
#[derive(Default)]
pub(super) struct Fields {
    pub(super) list: Vec<Field>,
    names: std::collections::HashSet<String>,
    size: usize,
}

impl Fields {
    pub(super) fn push(&mut self, name: String, data_type: DataType) -> Result<(), DataTypeError> {
        let Some(size) = data_type.size() else {
            let what = format!("the field \"{name}\" is of type {data_type}; fields of a struct have a known, fixed size");
            return Err(DataTypeError::new(what));
        };
        self.size = self.size.saturating_add(size);
        if self.size >= TOO_LARGE {
            let what = format!("the fields of the struct have {} bytes and more; fewer than {TOO_LARGE} are possible", self.size);
            return Err(DataTypeError::new(what));
        }
        if !self.names.insert(name.clone()) {
            return Err(DataTypeError::new(format!("two fields of the struct have the name \"{name}\"")));
        }
        self.list.push(Field { name, data_type });
        Ok(())
    }
}

/// Writes a v3 `data_type` member, or says why v3 has no such type.
pub fn to_v3(data_type: &DataType) -> Result<Value, DataTypeError> {
    let object = |configuration: Value| serde_json::json!({ "name": data_type.name(), "configuration": configuration });
    let time = |unit: &TimeUnit, scale: &u32| object(serde_json::json!({ "unit": unit.name(), "scale_factor": scale }));
    Ok(match data_type {
        DataType::FixedBytes(n) => object(serde_json::json!({ "length_bytes": n })),
        // The core's r<bits> is what zarr-python cannot open (format.md 8); this is what it writes.
        DataType::Raw(n) => serde_json::json!({ "name": "raw_bytes", "configuration": { "length_bytes": n } }),
        DataType::FixedUtf32(n) => object(serde_json::json!({ "length_bytes": n.saturating_mul(4) })),
        DataType::DateTime { unit, scale } | DataType::TimeDelta { unit, scale } => time(unit, scale),
        DataType::Struct(fields) => {
            let mut list = Vec::with_capacity(fields.len());
            for (i, field) in fields.iter().enumerate() {
                let member = to_v3(&field.data_type).map_err(|e| e.below("data_type").below(i).below("fields").below("configuration"))?;
                list.push(serde_json::json!({ "name": field.name, "data_type": member }));
            }
            object(serde_json::json!({ "fields": list }))
        }
        DataType::FixedArray { .. } | DataType::VlenArray(_) | DataType::Json => {
            return Err(DataTypeError::new(format!("v3 has no data type for {data_type} ({})", data_type.name())));
        }
        DataType::Unknown { name, .. } if !is_name(name) || name == super::v2::OBJECT => {
            return Err(DataTypeError::new(format!("v3 has no data type for {name} of v2")));
        }
        DataType::Unknown { name, configuration: Some(configuration) } => {
            serde_json::json!({ "name": name, "configuration": configuration })
        }
        other => Value::String(other.name()),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    #[test]
    fn every_plain_name_is_written_as_it_was_read() {
        let mut names: Vec<String> = ["bool", "complex64", "complex128", "string", "bytes"].map(String::from).to_vec();
        names.extend([2, 4, 8, 16, 32, 64].iter().flat_map(|n| [format!("int{n}"), format!("uint{n}")]));
        names.extend(Float::ALL.iter().map(|f| f.name().to_string()));
        names.extend(Float::ALL[..13].iter().map(|f| format!("complex_{}", f.name())));
        for name in names {
            for spelled in [json!(name), json!({"name": name}), json!({"name": name, "configuration": {}, "must_understand": true})] {
                let data_type = parse_v3(&spelled).unwrap();
                assert!(!matches!(data_type, DataType::Unknown { .. }), "{name}");
                assert_eq!(to_v3(&data_type).unwrap(), json!(name));
            }
        }
    }

    #[test]
    fn aliases_are_read_and_the_common_name_written() {
        let aliases = [
            (json!("variable_length_bytes"), json!("bytes")),
            (json!("binary"), json!("bytes")),
            (json!("complex_float32"), json!("complex64")),
            (json!("complex_float64"), json!("complex128")),
            (json!("r24"), json!({"name": "raw_bytes", "configuration": {"length_bytes": 3}})),
            (
                json!({"name": "numpy.datetime64", "configuration": {"unit": "μs", "scale_factor": 10}}),
                json!({"name": "numpy.datetime64", "configuration": {"unit": "us", "scale_factor": 10}}),
            ),
            (
                json!({"name": "structured", "configuration": {"fields": [["x", "float32"], ["y", {"name": "int8"}]]}}),
                json!({"name": "struct", "configuration": {"fields": [{"name": "x", "data_type": "float32"}, {"name": "y", "data_type": "int8"}]}}),
            ),
        ];
        for (read, written) in aliases {
            assert_eq!(to_v3(&parse_v3(&read).unwrap()).unwrap(), written);
            assert_eq!(to_v3(&parse_v3(&written).unwrap()).unwrap(), written);
        }
    }

    #[test]
    fn sizes_and_words() {
        let cases = [
            (json!("r16"), Some(2), "r16"),
            (json!({"name": "fixed_length_utf32", "configuration": {"length_bytes": 12}}), Some(12), "utf32[3]"),
            (json!({"name": "null_terminated_bytes", "configuration": {"length_bytes": 5}}), Some(5), "bytes[5]"),
            (json!({"name": "numpy.timedelta64", "configuration": {"unit": "ns", "scale_factor": 1}}), Some(8), "timedelta64[ns]"),
            (
                json!({"name": "struct", "configuration": {"fields": [
                    {"name": "id", "data_type": "int32"}, {"name": "flags", "data_type": "uint8"}, {"name": "value", "data_type": "float64"}]}}),
                Some(13),
                "struct {id: int32, flags: uint8, value: float64}",
            ),
            (json!("string"), None, "string"),
        ];
        for (value, size, words) in cases {
            let data_type = parse_v3(&value).unwrap();
            assert_eq!((data_type.size(), data_type.to_string().as_str()), (size, words));
        }
    }

    #[test]
    fn unknown_types_are_kept_with_their_configuration() {
        for value in [json!("zarrs.optional"), json!("raw"), json!({"name": "fixed_size_list", "configuration": {"list_size": 3}})] {
            let data_type = parse_v3(&value).unwrap();
            assert!(matches!(data_type, DataType::Unknown { .. }));
            assert_eq!(to_v3(&data_type).unwrap(), value);
        }
        let with_unknown = json!({"name": "struct", "configuration": {"fields": [{"name": "a", "data_type": "float128"}]}});
        assert!(matches!(parse_v3(&with_unknown).unwrap(), DataType::Unknown { .. }));
        assert_eq!(to_v3(&parse_v3(&with_unknown).unwrap()).unwrap(), with_unknown);
    }

    #[test]
    fn bad_types_are_refused_where_they_are_bad() {
        let time = |unit: Value, scale: Value| json!({"name": "numpy.datetime64", "configuration": {"unit": unit, "scale_factor": scale}});
        let fields = |list: Value| json!({"name": "struct", "configuration": {"fields": list}});
        let cases = [
            (json!("r0"), ""),
            (json!("r12"), ""),
            (json!("r08"), ""),
            (json!("r99999999999999999999999"), ""),
            (json!("r17179869184"), ""),
            (json!(""), ""),
            (json!("<f4"), ""),
            (json!("int 32"), ""),
            (json!(3), ""),
            (json!(null), ""),
            (json!(["int32"]), ""),
            (json!({"configuration": {}}), ""),
            (json!({"name": "int32", "extra": 1}), "/extra"),
            (json!({"name": "int32", "configuration": 1}), "/configuration"),
            (json!({"name": "int32", "configuration": {"endian": "little"}}), "/configuration/endian"),
            (json!({"name": "int32", "must_understand": 1}), "/must_understand"),
            (json!("raw_bytes"), ""),
            (json!({"name": "raw_bytes", "configuration": {"length_bytes": 0}}), "/configuration/length_bytes"),
            (json!({"name": "raw_bytes", "configuration": {"length_bytes": 2147483648u64}}), "/configuration/length_bytes"),
            (json!({"name": "raw_bytes", "configuration": {"length_bytes": -1}}), "/configuration/length_bytes"),
            (json!({"name": "fixed_length_utf32", "configuration": {"length_bytes": 6}}), "/configuration/length_bytes"),
            (json!({"name": "null_terminated_bytes", "configuration": {"length_bytes": 1, "x/y": 2}}), "/configuration/x~1y"),
            (json!("numpy.datetime64"), ""),
            (json!({"name": "numpy.datetime64", "configuration": {"unit": "s"}}), ""),
            (time(json!("sec"), json!(1)), "/configuration/unit"),
            (time(json!("s"), json!(0)), "/configuration/scale_factor"),
            (time(json!("s"), json!(2147483648u64)), "/configuration/scale_factor"),
            (time(json!("s"), json!("1")), "/configuration/scale_factor"),
            (fields(json!([])), "/configuration/fields"),
            (fields(json!({})), "/configuration/fields"),
            (fields(json!([{"name": "a"}])), "/configuration/fields/0"),
            (fields(json!([{"name": "", "data_type": "int8"}])), "/configuration/fields/0"),
            (fields(json!([{"name": "a", "data_type": "int8"}, {"name": "a", "data_type": "int8"}])), "/configuration/fields/1"),
            (fields(json!([{"name": "a", "data_type": "string"}])), "/configuration/fields/0"),
            (fields(json!([{"name": "a", "data_type": "r3"}])), "/configuration/fields/0/data_type"),
            (fields(json!([["a", "r3"]])), "/configuration/fields/0/1"),
        ];
        for (value, pointer) in cases {
            let error = parse_v3(&value).unwrap_err();
            assert_eq!(error.pointer, pointer, "{value}: {error}");
        }
        let half = json!({"name": "raw_bytes", "configuration": {"length_bytes": 1u64 << 30}});
        let both = fields(json!([{"name": "a", "data_type": half}, {"name": "b", "data_type": half}]));
        assert_eq!(parse_v3(&both).unwrap_err().pointer, "/configuration/fields/1");
    }

    #[test]
    fn structs_are_nested_up_to_thirty_two_deep() {
        let nest = |depth: usize| {
            (0..depth)
                .fold(json!("int8"), |inner, _| json!({"name": "struct", "configuration": {"fields": [{"name": "a", "data_type": inner}]}}))
        };
        assert_eq!(parse_v3(&nest(32)).unwrap().size(), Some(1));
        assert!(parse_v3(&nest(33)).unwrap_err().what.contains("32 deep"));
    }

    #[test]
    fn types_of_v2_alone_are_not_written() {
        let array = DataType::FixedArray { item: Box::new(DataType::Int8), shape: vec![2] };
        let field = DataType::Struct(vec![Field { name: "a".into(), data_type: array.clone() }]);
        for data_type in
            [array, DataType::VlenArray(Box::new(DataType::Int8)), DataType::Json, crate::dtype::parse_v2(&json!("|O")).unwrap().data_type]
        {
            assert!(to_v3(&data_type).is_err());
        }
        assert_eq!(to_v3(&field).unwrap_err().pointer, "/configuration/fields/0/data_type");
    }
}
