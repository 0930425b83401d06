//! `zarr.json` (format.md 1).

use super::check::check_chain;
use super::model::{Array, Format, MetaError, Problem};
use super::spelling::nearest;
use crate::codec::{ByteOrder, Codec, CodecError, Context, chain_from_v3_in, check_order, unknown_codec};
use crate::dtype::{DataType, Endian, FillValue, parse_v3};
use crate::extension::{Extension, brief};
use crate::grid::grid_from_v3;
use crate::json::{Map, Value, pointer_step};
use crate::key::{self, KeyEncoding};

pub(super) const DOCUMENT: &str = "zarr.json";

const ARRAY_MEMBERS: [&str; 11] = [
    "zarr_format",
    "node_type",
    "shape",
    "data_type",
    "chunk_grid",
    "chunk_key_encoding",
    "fill_value",
    "codecs",
    "attributes",
    "storage_transformers",
    "dimension_names",
];

const GROUP_MEMBERS: [&str; 4] = ["zarr_format", "node_type", "attributes", "consolidated_metadata"];

pub(super) fn error(pointer: impl Into<String>, what: impl Into<String>) -> MetaError {
    MetaError::new(DOCUMENT, pointer, what)
}

fn required<'a>(document: &'a Map<String, Value>, key: &str, noun: &str) -> Result<&'a Value, MetaError> {
    document.get(key).ok_or_else(|| error("", format!("the {noun} has no member \"{key}\"")))
}

/// What the document says that it is: `array` or `group`.
pub(super) fn node_type(document: &Map<String, Value>) -> Result<&str, MetaError> {
    let format = required(document, "zarr_format", "document")?;
    if format.as_u64() != Some(3) {
        let error = error("/zarr_format", format!("zarr_format must be the integer 3 in a zarr.json, not {}", brief(format)));
        return Err(if format.as_u64() == Some(2) { error.hint("v2 documents are .zarray and .zgroup") } else { error });
    }
    match required(document, "node_type", "document")? {
        Value::String(kind) if kind == "array" || kind == "group" => Ok(kind),
        other => Err(error("/node_type", format!("node_type must be \"array\" or \"group\", not {}", brief(other)))),
    }
}

/// Refuses members that are not known, unless they say that they may be ignored.
fn check_members(document: &Map<String, Value>, known: &[&str], warnings: &mut Vec<String>) -> Result<(), MetaError> {
    for (key, value) in document {
        if known.contains(&key.as_str()) {
            continue;
        }
        if value.get("must_understand") == Some(&Value::Bool(false)) {
            warnings.push(format!("the member \"{key}\" is not known and says that it may be ignored"));
            continue;
        }
        let hint = match nearest(key, known) {
            Some(name) => format!("is \"{name}\" meant?"),
            None => "a member that readers may ignore must be an object with \"must_understand\": false".to_string(),
        };
        let error = error(pointer_step(key), format!("the member \"{key}\" is not known, and it does not say that it may be ignored"));
        return Err(error.hint(hint).unsupported());
    }
    Ok(())
}

fn check_attributes(document: &Map<String, Value>, warnings: &mut Vec<String>) -> Result<(), MetaError> {
    match document.get("attributes") {
        None | Some(Value::Object(_)) => Ok(()),
        Some(Value::Null) => {
            warnings.push("the attributes are null; they are read as none".into());
            Ok(())
        }
        Some(other) => Err(error("/attributes", format!("the attributes must be an object, not {}", brief(other)))),
    }
}

/// Checks a group's document; gives what is odd in it.
pub(super) fn check_group(document: &Map<String, Value>) -> Result<Vec<String>, MetaError> {
    let mut warnings = Vec::new();
    if node_type(document)? != "group" {
        return Err(error("/node_type", "node_type must be \"group\" here, not \"array\""));
    }
    check_members(document, &GROUP_MEMBERS, &mut warnings)?;
    check_attributes(document, &mut warnings)?;
    Ok(warnings)
}

/// Reads an array's document.
pub(super) fn read_array(document: Map<String, Value>) -> Result<Array, MetaError> {
    let mut warnings = Vec::new();
    if node_type(&document)? != "array" {
        return Err(error("/node_type", "node_type must be \"array\" here, not \"group\""));
    }
    check_members(&document, &ARRAY_MEMBERS, &mut warnings)?;
    check_attributes(&document, &mut warnings)?;
    check_transformers(document.get("storage_transformers"))?;
    let shape = lengths(DOCUMENT, "shape", required(&document, "shape", "array")?)?;

    let type_json = required(&document, "data_type", "array")?;
    let data_type = parse_v3(type_json).map_err(|e| error(format!("/data_type{}", e.pointer), e.what))?;
    let grid_json = required(&document, "chunk_grid", "array")?;
    let grid = grid_from_v3(grid_json, &shape).map_err(|e| MetaError {
        hint: e.hint,
        unsupported: has_other_name(grid_json, &["regular", "rectilinear"]),
        ..error(format!("/chunk_grid{}", e.pointer), e.what)
    })?;
    let key_json = required(&document, "chunk_key_encoding", "array")?;
    let key_encoding =
        KeyEncoding::from_json(key_json).and_then(|encoding| encoding.check_ndim(shape.len()).map(|()| encoding)).map_err(|e| {
            MetaError {
                hint: e.hint,
                unsupported: has_other_name(key_json, &key::NAMES),
                ..error(format!("/chunk_key_encoding{}", e.pointer), e.what)
            }
        })?;

    let in_codecs = |e: CodecError| MetaError { hint: e.hint, ..error(format!("/codecs{}", e.pointer), e.what) };
    let codecs_json = required(&document, "codecs", "array")?;
    let context = Context { ndim: Some(shape.len()), itemsize: data_type.size().unwrap_or(1) };
    let mut codecs = chain_from_v3_in(codecs_json, &context).map_err(in_codecs)?;
    if is_legacy_struct(type_json) {
        assume_little_endian(&mut codecs, &mut warnings);
    }
    check_order(&codecs).map_err(in_codecs)?;

    let problem = unknown_in(&data_type)
        .map(|name| Problem { what: format!("the data type \"{name}\" is not known"), pointer: "/data_type".into() })
        .or_else(|| unknown_codec(&codecs).map(|(what, pointer)| Problem { what, pointer: format!("/codecs{pointer}") }));
    let type_is_known = unknown_in(&data_type).is_none();
    if type_is_known {
        check_chain(&codecs, &data_type, &grid).map_err(in_codecs)?;
    }
    let fill_json = required(&document, "fill_value", "array")?;
    let fill_value = fill_value(fill_json, &data_type, type_is_known)?;
    warnings.extend(
        missing_field(fill_json, &data_type).map(|name| format!("the fill value lacks the field \"{name}\", which is taken as zero")),
    );
    let dimension_names = dimension_names(document.get("dimension_names"), shape.len(), &mut warnings)?;
    Ok(Array {
        format: Format::V3,
        document,
        attributes_document: None,
        data_type,
        fill_value: Some(fill_value),
        grid,
        key_encoding,
        codecs,
        dimension_names,
        problem,
        warnings,
    })
}

/// True for an extension object that is named, but not by one of the known names.
fn has_other_name(value: &Value, known: &[&str]) -> bool {
    let name = value.as_str().or_else(|| value.get("name").and_then(Value::as_str));
    name.is_some_and(|name| !known.contains(&name))
}

/// A list of lengths at the top of a document (`shape`, v2's `chunks`).
pub(super) fn lengths(document: &'static str, key: &str, value: &Value) -> Result<crate::Shape, MetaError> {
    let Value::Array(list) = value else {
        return Err(MetaError::new(document, pointer_step(key), format!("\"{key}\" must be a list of integers, not {}", brief(value))));
    };
    let read = |(axis, value): (usize, &Value)| {
        value.as_u64().ok_or_else(|| {
            let what = format!("\"{key}\" must have integers from 0 on, but for axis {axis} it has {}", brief(value));
            MetaError::new(document, format!("{}/{axis}", pointer_step(key)), what)
        })
    };
    list.iter().enumerate().map(read).collect()
}

fn check_transformers(value: Option<&Value>) -> Result<(), MetaError> {
    let list = match value {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::Array(list)) => list,
        Some(other) => return Err(error("/storage_transformers", format!("storage_transformers must be a list, not {}", brief(other)))),
    };
    let Some(first) = list.first() else { return Ok(()) };
    let extension =
        Extension::read(first, "storage transformer").map_err(|f| error(format!("/storage_transformers/0{}", f.pointer), f.what))?;
    let what = format!("the storage transformer \"{}\" is not known, so no chunk can be found", extension.name);
    Err(error("/storage_transformers/0", what).unsupported())
}

fn fill_value(value: &Value, data_type: &DataType, type_is_known: bool) -> Result<FillValue, MetaError> {
    if !type_is_known {
        return Ok(FillValue::new(Vec::new()));
    }
    if value.is_null() {
        let is_float = matches!(data_type, DataType::Float(_) | DataType::Complex(_));
        let hint =
            if is_float { "write what missing chunks hold; some writers wrote null for \"NaN\"" } else { "write what missing chunks hold" };
        return Err(error("/fill_value", format!("the fill value is null, but v3 needs one of type {}", data_type.name())).hint(hint));
    }
    FillValue::from_v3(value, data_type).map_err(|e| error(format!("/fill_value{}", e.pointer), e.what))
}

/// The first field of a struct that its fill value does not name.
fn missing_field<'a>(value: &Value, data_type: &'a DataType) -> Option<&'a str> {
    let (Value::Object(object), DataType::Struct(fields)) = (value, data_type) else { return None };
    fields.iter().find_map(|field| match object.get(&field.name) {
        None => Some(field.name.as_str()),
        Some(value) => missing_field(value, &field.data_type),
    })
}

fn dimension_names(value: Option<&Value>, ndim: usize, warnings: &mut Vec<String>) -> Result<Option<Vec<Option<String>>>, MetaError> {
    let list = match value {
        None => return Ok(None),
        Some(Value::Null) => {
            warnings.push("dimension_names is null; it is read as absent".into());
            return Ok(None);
        }
        Some(Value::Array(list)) => list,
        Some(other) => return Err(error("/dimension_names", format!("dimension_names must be a list, not {}", brief(other)))),
    };
    if list.len() != ndim {
        return Err(error("/dimension_names", format!("dimension_names has {} names, but the array has {ndim} axes", list.len())));
    }
    let name = |(axis, value): (usize, &Value)| match value {
        Value::Null => Ok(None),
        Value::String(name) => Ok(Some(name.clone())),
        other => Err(error(
            format!("/dimension_names/{axis}"),
            format!("the name of axis {axis} must be a string or null, not {}", brief(other)),
        )),
    };
    list.iter().enumerate().map(name).collect::<Result<_, _>>().map(Some)
}

/// The first unknown type in a type.
pub(super) fn unknown_in(data_type: &DataType) -> Option<&str> {
    match data_type {
        DataType::Unknown { name, .. } => Some(name),
        DataType::Struct(fields) => fields.iter().find_map(|field| unknown_in(&field.data_type)),
        DataType::FixedArray { item, .. } | DataType::VlenArray(item) => unknown_in(item),
        _ => None,
    }
}

fn is_legacy_struct(data_type: &Value) -> bool {
    data_type.get("name").is_some_and(|name| name == "structured")
}

/// Writers of the legacy type `structured` left the byte order out.
fn assume_little_endian(codecs: &mut [Codec], warnings: &mut Vec<String>) {
    for codec in codecs {
        match codec {
            Codec::Bytes(order @ ByteOrder::None) => {
                *order = ByteOrder::Uniform(Endian::Little);
                warnings.push("the byte order of the legacy type \"structured\" is taken as little".into());
            }
            Codec::Sharding(sharding) => assume_little_endian(&mut sharding.codecs, warnings),
            _ => {}
        }
    }
}
