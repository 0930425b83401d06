//! `.zarray`, `.zgroup`, `.zattrs` (format.md 2).

use super::check::check_chain;
use super::model::{Array, Format, MetaError, Problem};
use super::spelling::nearest;
use super::v2_chain::V2Chain;
use super::v3::{lengths, unknown_in};
use crate::dtype::{DataType, FillValue, TypeStr, parse_v2};
use crate::extension::brief;
use crate::grid::Grid;
use crate::json::{Map, Value};
use crate::key::KeyEncoding;

pub(super) const ARRAY: &str = ".zarray";
pub(super) const GROUP: &str = ".zgroup";
pub(super) const ATTRIBUTES: &str = ".zattrs";

/// xarray's attribute for the names of the dimensions.
pub(super) const XARRAY_DIMENSIONS: &str = "_ARRAY_DIMENSIONS";

/// How warnings call NCZarr's references to dimensions.
const NCZARR_DIMENSIONS: &str = "NCZarr's dimrefs";

const MEMBERS: [&str; 9] =
    ["zarr_format", "shape", "chunks", "dtype", "compressor", "fill_value", "order", "filters", "dimension_separator"];

pub(super) fn error(pointer: impl Into<String>, what: impl Into<String>) -> MetaError {
    MetaError::new(ARRAY, pointer, what)
}

fn required<'a>(document: &'a Map<String, Value>, key: &str) -> Result<&'a Value, MetaError> {
    document.get(key).ok_or_else(|| error("", format!("the array has no member \"{key}\"")))
}

/// Checks `zarr_format` of a v2 document.
pub(super) fn check_format(document: &Map<String, Value>, name: &'static str) -> Result<(), MetaError> {
    match document.get("zarr_format") {
        Some(format) if format.as_u64() == Some(2) => Ok(()),
        Some(other) => {
            let what = format!("zarr_format must be the integer 2 in a {name}, not {}", brief(other));
            Err(MetaError::new(name, "/zarr_format", what))
        }
        None => Err(MetaError::new(name, "", "the document has no member \"zarr_format\"")),
    }
}

/// Reads an array's documents.
pub(super) fn read_array(document: Map<String, Value>, attributes: Option<Map<String, Value>>) -> Result<Array, MetaError> {
    let mut warnings = Vec::new();
    check_format(&document, ARRAY)?;
    for key in document.keys().filter(|key| !MEMBERS.contains(&key.as_str())) {
        if let Some(name) = nearest(key, &MEMBERS).filter(|name| !document.contains_key(*name)) {
            warnings.push(format!("the member \"{key}\" is ignored; is \"{name}\" meant?"));
        }
    }
    let shape = lengths(ARRAY, "shape", required(&document, "shape")?)?;
    let grid = read_grid(&document, &shape, &mut warnings)?;
    let key_encoding = KeyEncoding::V2 { separator: separator(&document)? };

    let (typestr, type_problem) = read_type(required(&document, "dtype")?)?;
    let order_is_f = match required(&document, "order")? {
        Value::String(order) if order == "C" || order == "F" => order == "F",
        other => return Err(error("/order", format!("the order must be \"C\" or \"F\", not {}", brief(other)))),
    };
    let filters = match document.get("filters") {
        None | Some(Value::Null) => &[],
        Some(Value::Array(filters)) => filters.as_slice(),
        Some(other) => return Err(error("/filters", format!("the filters must be null or a list, not {}", brief(other)))),
    };
    let compressor = document.get("compressor").filter(|c| !c.is_null());
    let chain = V2Chain::read(typestr, order_is_f && shape.len() > 1, shape.len(), filters, compressor)?;
    let problem = type_problem.or_else(|| chain.problem.clone());
    let data_type = chain.typestr.data_type.clone();
    if problem.is_none() {
        check_chain(&chain.codecs, &data_type, &grid).map_err(|e| MetaError { hint: e.hint, ..error(chain.place(&e.pointer), e.what) })?;
    }
    let fill_value = read_fill(document.get("fill_value"), &chain.typestr, &mut warnings)?;
    let dimension_names = dimension_names(&document, attributes.as_ref(), shape.len(), &mut warnings);
    Ok(Array {
        format: Format::V2,
        document,
        attributes_document: attributes,
        data_type,
        fill_value,
        grid,
        key_encoding,
        codecs: chain.codecs,
        dimension_names,
        problem,
        warnings,
    })
}

pub(super) fn read_grid(document: &Map<String, Value>, shape: &[u64], warnings: &mut Vec<String>) -> Result<Grid, MetaError> {
    let chunks = lengths(ARRAY, "chunks", required(document, "chunks")?)?;
    if chunks.len() != shape.len() {
        return Err(error("/chunks", format!("\"chunks\" has {} lengths, but the array has {} axes", chunks.len(), shape.len())));
    }
    let grid = Grid::regular(shape, &chunks).map_err(|e| {
        let pointer = e.axis.map_or("/chunks".to_string(), |axis| format!("/chunks/{axis}"));
        MetaError { hint: e.hint, ..error(pointer, e.what) }
    })?;
    if chunks.contains(&0) {
        warnings.push("a chunk length of 0 on an axis without elements is read as 1".into());
    }
    Ok(grid)
}

fn separator(document: &Map<String, Value>) -> Result<char, MetaError> {
    match document.get("dimension_separator") {
        None | Some(Value::Null) => Ok('.'),
        Some(Value::String(text)) if text == "." => Ok('.'),
        Some(Value::String(text)) if text == "/" => Ok('/'),
        Some(other) => Err(error("/dimension_separator", format!("the dimension_separator must be \".\" or \"/\", not {}", brief(other)))),
    }
}

/// The type; one of numpy's that is well formed but not known keeps the document readable.
fn read_type(value: &Value) -> Result<(TypeStr, Option<Problem>), MetaError> {
    let problem =
        |name: &str, pointer: &str| Problem { what: format!("the data type \"{name}\" is not known"), pointer: format!("/dtype{pointer}") };
    match parse_v2(value) {
        Ok(typestr) => {
            let unknown = unknown_in(&typestr.data_type).filter(|name| *name != "object").map(|name| problem(name, ""));
            Ok((typestr, unknown))
        }
        Err(e) => match value.as_str().filter(|text| is_numpy_number(text)) {
            Some(name) => {
                let data_type = DataType::Unknown { name: name.to_string(), configuration: None };
                Ok((TypeStr { data_type, order: vec![crate::dtype::Endian::Little] }, Some(problem(name, &e.pointer))))
            }
            None => Err(error(format!("/dtype{}", e.pointer), e.what)),
        },
    }
}

/// numpy's numbers that have no registered twin: floats and complex numbers of extended precision.
fn is_numpy_number(text: &str) -> bool {
    let Some(kind) = text.strip_prefix(['<', '>']) else { return false };
    matches!(kind, "f10" | "f12" | "f16" | "c20" | "c24" | "c32")
}

fn read_fill(value: Option<&Value>, typestr: &TypeStr, warnings: &mut Vec<String>) -> Result<Option<FillValue>, MetaError> {
    let Some(value) = value else {
        warnings.push("the member \"fill_value\" is missing; it is read as null (undefined)".into());
        return Ok(None);
    };
    if value.is_null() || unknown_in(&typestr.data_type).is_some() {
        return Ok(None);
    }
    let error = match FillValue::from_v2(value, typestr) {
        Ok(fill) => return Ok(fill),
        Err(e) => error(format!("/fill_value{}", e.pointer), e.what),
    };
    // NCZarr once wrote the fill value as a list of one.
    if let Value::Array(list) = value
        && let [single] = list.as_slice()
        && let Ok(fill) = FillValue::from_v2(single, typestr)
    {
        warnings.push("the fill value is a list of one, which is read as its item".into());
        return Ok(fill);
    }
    if matches!(typestr.data_type, DataType::VlenArray(_) | DataType::Json) {
        warnings.push(format!("the fill value {} of objects is read as null (undefined)", brief(value)));
        return Ok(None);
    }
    Err(error)
}

/// Names of the dimensions where they are written down: xarray's attribute, or NCZarr's references to dimensions, which
/// stand in an attribute or (older) in the `.zarray`.
pub(super) fn dimension_names(
    document: &Map<String, Value>,
    attributes: Option<&Map<String, Value>>,
    ndim: usize,
    warnings: &mut Vec<String>,
) -> Option<Vec<Option<String>>> {
    let xarray = attributes.and_then(|a| a.get(XARRAY_DIMENSIONS)).map(|names| (names, XARRAY_DIMENSIONS));
    let nczarr = || {
        let places = attributes.into_iter().chain([document]);
        let blocks = places.flat_map(|m| ["_nczarr_array", "_NCZARR_ARRAY"].iter().filter_map(|key| m.get(*key)));
        blocks.filter_map(|block| block.get("dimrefs")).map(|refs| (refs, NCZARR_DIMENSIONS)).next()
    };
    let (list, whose) = xarray.or_else(nczarr)?;
    // NCZarr puts the dimension's groups in front of its name.
    let name = |text: &str| if whose == XARRAY_DIMENSIONS { text.to_string() } else { text.rsplit('/').next().unwrap_or(text).to_string() };
    let names = list.as_array().map(|list| list.iter().map(|text| text.as_str().map(name)).collect::<Option<Vec<_>>>());
    match names.flatten() {
        Some(names) if names.len() == ndim => Some(names.into_iter().map(Some).collect()),
        Some(names) => {
            warnings.push(format!("{whose} has {} names, but the array has {ndim} axes; they are left out", names.len()));
            None
        }
        None => {
            warnings.push(format!("{whose} is no list of names; it is left out"));
            None
        }
    }
}

/// True for a warning of [`dimension_names`].
pub(super) fn is_about_names(warning: &str) -> bool {
    [XARRAY_DIMENSIONS, NCZARR_DIMENSIONS].iter().any(|whose| warning.starts_with(whose))
}
