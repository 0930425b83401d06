//! One element as JSON, both ways, for every type and every spelling.
//!
//! ```text
//!   fill_value of v2 ─┐                        ┌─ fill_value of v2 (through fill.rs)
//!   fill_value of v3 ─┼─ read ─> bytes ─ write ┼─ fill_value of v3
//!   printed elements ─┘                        ├─ printed elements
//!                                              └─ the oracle's elements
//! ```

use super::layout::items;
use super::scalar::{
    FloatStyle, Length, base64_bytes, base64_json, byte_list, float, float_json, hex_bytes, hex_object, hex_text, integer, integer_json,
    shown,
};
use super::{DataType, DataTypeError, Field, Float, Spelling};
use crate::json::{Map, Value};

/// What a JSON element is written for; decides what text stands for and which leniencies hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// `fill_value` of a v2 document: base64, 0 for anything, scalars for complex numbers.
    V2,
    /// `fill_value` of a v3 document: base64 and lists of bytes.
    V3,
    /// As [`Spelling::Plain`]: hex and text.
    Plain,
}

type Read = Result<(), DataTypeError>;

fn refuse(what: String) -> Read {
    Err(DataTypeError::new(what))
}

/// The smallest and largest value of an integer type.
fn integer_range(data_type: &DataType) -> Option<(i128, i128)> {
    let (bits, signed) = match data_type {
        DataType::Int2 => (2, true),
        DataType::Int4 => (4, true),
        DataType::Int8 => (8, true),
        DataType::Int16 => (16, true),
        DataType::Int32 => (32, true),
        DataType::Int64 | DataType::DateTime { .. } | DataType::TimeDelta { .. } => (64, true),
        DataType::UInt2 => (2, false),
        DataType::UInt4 => (4, false),
        DataType::UInt8 => (8, false),
        DataType::UInt16 => (16, false),
        DataType::UInt32 => (32, false),
        DataType::UInt64 => (64, false),
        _ => return None,
    };
    Some(if signed { (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1) } else { (0, (1i128 << bits) - 1) })
}

/// Appends the bytes of the element that `value` spells.
pub(super) fn read(data_type: &DataType, value: &Value, dialect: Dialect, out: &mut Vec<u8>) -> Read {
    let name = || data_type.name();
    let zero = dialect == Dialect::V2 && value.as_f64() == Some(0.0);
    match data_type {
        DataType::Bool => match value {
            Value::Bool(b) => out.push(u8::from(*b)),
            Value::Number(n) if dialect != Dialect::V3 && matches!(n.as_f64(), Some(0.0 | 1.0)) => out.push(u8::from(!is_zero(value))),
            other => return refuse(format!("{} is not a value of bool: true or false is expected", shown(other))),
        },
        DataType::DateTime { .. } | DataType::TimeDelta { .. } if value.as_str() == Some("NaT") => {
            out.extend_from_slice(&i64::MIN.to_le_bytes());
        }
        DataType::Float(f) => f.write(float(value, *f)?, out),
        DataType::Complex(f) => return complex(*f, value, dialect, out),
        DataType::Raw(_) | DataType::FixedBytes(_) | DataType::Bytes if zero => {
            out.resize(out.len() + data_type.size().unwrap_or(0), 0);
        }
        DataType::Raw(n) => return bytes(value, raw_length(*n, dialect), dialect, out, &name()),
        DataType::FixedBytes(n) => return bytes_or_text(value, *n, dialect, out, &name()),
        DataType::Bytes => return bytes(value, Length::Any, dialect, out, &name()),
        DataType::FixedUtf32(n) => match value {
            Value::String(text) => {
                let points: Vec<u8> = text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
                let length = Length::UpTo(n.saturating_mul(4));
                if points.len() / 4 > *n {
                    return refuse(format!("{} has {} code points, an element has room for {n}", shown(value), points.len() / 4));
                }
                length.put(&points, out, &name())?;
            }
            Value::Object(object) if dialect == Dialect::Plain => {
                return from_hex_object(object, Length::Exact(n.saturating_mul(4)), out, &name());
            }
            _ if zero => out.resize(out.len() + n.saturating_mul(4), 0),
            other => return refuse(format!("{} is not a value of {}: a string is expected", shown(other), name())),
        },
        DataType::String => match value {
            Value::String(text) => out.extend_from_slice(text.as_bytes()),
            Value::Object(object) if dialect == Dialect::Plain => return from_hex_object(object, Length::Any, out, "string"),
            _ if zero => {}
            other => return refuse(format!("{} is not a value of string: a string is expected", shown(other))),
        },
        DataType::Struct(fields) => return structure(data_type, fields, value, dialect, out),
        DataType::FixedArray { item, shape } => return array(data_type, item, shape, value, dialect, out),
        DataType::VlenArray(item) => match value {
            Value::Array(list) => {
                for (i, part) in list.iter().enumerate() {
                    read(item, part, dialect, out).map_err(|e| e.below(i))?;
                }
            }
            Value::Object(object) if dialect == Dialect::Plain => return from_hex_object(object, Length::Any, out, "vlen-array"),
            Value::String(text) if dialect == Dialect::V2 && text.is_empty() => {}
            _ if zero => {}
            other => return refuse(format!("{} is not a value of vlen-array: a list is expected", shown(other))),
        },
        DataType::Json | DataType::Unknown { .. } => out.extend_from_slice(value.to_string().as_bytes()),
        number => {
            let (min, max) = integer_range(number).unwrap_or((0, 0));
            let integer = integer(value, min, max, &name())?;
            out.extend_from_slice(&integer.to_le_bytes()[..number.size().unwrap_or(0).min(16)]);
        }
    }
    Ok(())
}

fn is_zero(value: &Value) -> bool {
    value.as_f64() == Some(0.0)
}

fn raw_length(n: usize, dialect: Dialect) -> Length {
    if dialect == Dialect::V2 { Length::UpTo(n) } else { Length::Exact(n) }
}

fn complex(f: Float, value: &Value, dialect: Dialect, out: &mut Vec<u8>) -> Read {
    match value {
        Value::Array(parts) if parts.len() == 2 => {
            for (i, part) in parts.iter().enumerate() {
                f.write(float(part, f).map_err(|e| e.below(i))?, out);
            }
        }
        Value::Number(_) | Value::String(_) if dialect == Dialect::V2 => {
            f.write(float(value, f)?, out);
            out.resize(out.len() + f.size(), 0);
        }
        other => return refuse(format!("{} is not a complex value: a list [real, imaginary] is expected", shown(other))),
    }
    Ok(())
}

/// A list of integers, or text that spells bytes in the dialect's way.
fn bytes(value: &Value, length: Length, dialect: Dialect, out: &mut Vec<u8>, type_name: &str) -> Read {
    let content = match value {
        Value::Array(list) => byte_list(list, type_name)?,
        Value::String(text) if dialect == Dialect::Plain => hex_bytes(text)?,
        Value::String(text) => base64_bytes(text)?,
        Value::Object(object) if dialect == Dialect::Plain => return from_hex_object(object, length, out, type_name),
        other => {
            let text = if dialect == Dialect::Plain { "hex" } else { "base64" };
            return refuse(format!("{} is not a value of {type_name}: {text} text or a list of bytes is expected", shown(other)));
        }
    };
    length.put(&content, out, type_name)
}

fn bytes_or_text(value: &Value, n: usize, dialect: Dialect, out: &mut Vec<u8>, type_name: &str) -> Read {
    match value {
        Value::String(text) if dialect == Dialect::Plain => Length::UpTo(n).put(text.as_bytes(), out, type_name),
        other => bytes(other, Length::UpTo(n), dialect, out, type_name),
    }
}

fn from_hex_object(object: &Map<String, Value>, length: Length, out: &mut Vec<u8>, type_name: &str) -> Read {
    match (object.len(), object.get("hex")) {
        (1, Some(Value::String(text))) => length.put(&hex_bytes(text)?, out, type_name),
        _ => refuse(format!("an object is not a value of {type_name}, unless it is {{\"hex\": \"…\"}}")),
    }
}

fn structure(data_type: &DataType, fields: &[Field], value: &Value, dialect: Dialect, out: &mut Vec<u8>) -> Read {
    let size = data_type.size().unwrap_or(0);
    match value {
        // An object is a v3 fill value wherever it stands; a member that it lacks is zero.
        Value::Object(object) if dialect != Dialect::V2 => {
            if let Some(stranger) = object.keys().find(|key| fields.iter().all(|f| f.name != **key)) {
                let error = DataTypeError::new(format!("the struct has no field \"{stranger}\""));
                return Err(error.below(stranger));
            }
            for field in fields {
                match object.get(&field.name) {
                    Some(part) => read(&field.data_type, part, Dialect::V3, out).map_err(|e| e.below(&field.name))?,
                    None => out.resize(out.len() + field.data_type.size().unwrap_or(0), 0),
                }
            }
            Ok(())
        }
        Value::Array(parts) if dialect != Dialect::V2 => {
            if parts.len() != fields.len() {
                return refuse(format!("a list of {} is not a value of a struct of {} fields", parts.len(), fields.len()));
            }
            for (i, (field, part)) in fields.iter().zip(parts).enumerate() {
                read(&field.data_type, part, dialect, out).map_err(|e| e.below(i))?;
            }
            Ok(())
        }
        Value::String(text) if dialect != Dialect::Plain => {
            let length = if text.is_empty() && dialect == Dialect::V2 { Length::UpTo(size) } else { Length::Exact(size) };
            length.put(&base64_bytes(text)?, out, "the struct")
        }
        _ if dialect == Dialect::V2 && is_zero(value) => {
            out.resize(out.len() + size, 0);
            Ok(())
        }
        other => {
            let want = match dialect {
                Dialect::V2 => "base64 text",
                Dialect::V3 => "an object with a member for each field",
                Dialect::Plain => "a list with an item for each field",
            };
            refuse(format!("{} is not a value of a struct: {want} is expected", shown(other)))
        }
    }
}

fn array(data_type: &DataType, item: &DataType, shape: &[u64], value: &Value, dialect: Dialect, out: &mut Vec<u8>) -> Read {
    if dialect == Dialect::V2 {
        // Sub-arrays stand in structs, whose fill value is base64 as a whole.
        return bytes(value, Length::UpTo(data_type.size().unwrap_or(0)), dialect, out, "the sub-array");
    }
    let Some((&length, rest)) = shape.split_first() else { return read(item, value, dialect, out) };
    match value {
        Value::Array(list) if list.len() as u64 == length => {
            for (i, part) in list.iter().enumerate() {
                array(data_type, item, rest, part, dialect, out).map_err(|e| e.below(i))?;
            }
            Ok(())
        }
        other => refuse(format!("{} is not a value of a sub-array: a list of {length} is expected", shown(other))),
    }
}

/// The element as JSON. Bytes that are not an element of the type (a length that does not fit, text that is not UTF-8, code
/// points that do not exist) are `{"hex": …}`, so that nothing is lost.
pub(super) fn write(data_type: &DataType, element: &[u8], spelling: Spelling) -> Value {
    let size = data_type.size();
    if size.is_some_and(|size| size != element.len()) {
        return hex_object(element);
    }
    let style = match spelling {
        Spelling::Plain => FloatStyle::Plain,
        Spelling::Fill => FloatStyle::Exact,
        Spelling::Oracle => FloatStyle::Float64,
    };
    match data_type {
        DataType::Bool => Value::Bool(element.first().is_some_and(|&b| b != 0)),
        DataType::DateTime { .. } | DataType::TimeDelta { .. } => match little_integer(element, 64, true) {
            value if value == i128::from(i64::MIN) && spelling == Spelling::Fill => Value::from("NaT"),
            value => integer_json(value),
        },
        DataType::Float(f) => float_json(*f, f.read(element), style),
        DataType::Complex(f) => {
            let (re, im) = element.split_at(f.size());
            Value::Array(vec![float_json(*f, f.read(re), style), float_json(*f, f.read(im), style)])
        }
        DataType::Raw(_) => match spelling {
            Spelling::Plain => Value::String(hex_text(element)),
            Spelling::Fill => base64_json(element),
            Spelling::Oracle => hex_object(element),
        },
        DataType::FixedBytes(_) if spelling == Spelling::Fill => base64_json(trim(element)),
        DataType::FixedBytes(_) => text_or_hex(trim(element)),
        DataType::FixedUtf32(_) => utf32(element).map_or_else(|| hex_object(element), Value::String),
        DataType::String => text_or_hex(element),
        DataType::Bytes => match spelling {
            Spelling::Plain => Value::String(hex_text(element)),
            Spelling::Fill => base64_json(element),
            Spelling::Oracle => text_or_hex(element),
        },
        DataType::Struct(fields) => {
            let mut rest = element;
            let parts = fields.iter().map(|field| {
                let (head, tail) = rest.split_at(field.data_type.size().unwrap_or(0).min(rest.len()));
                rest = tail;
                (field.name.clone(), write(&field.data_type, head, spelling))
            });
            match spelling {
                Spelling::Fill => Value::Object(parts.collect()),
                Spelling::Plain | Spelling::Oracle => Value::Array(parts.map(|(_, value)| value).collect()),
            }
        }
        DataType::FixedArray { item, shape } => nested(item, shape, element, spelling),
        DataType::VlenArray(item) => match item.size() {
            Some(size) if size > 0 && element.len().is_multiple_of(size) => {
                Value::Array(element.chunks_exact(size).map(|part| write(item, part, spelling)).collect())
            }
            _ => hex_object(element),
        },
        DataType::Json | DataType::Unknown { .. } => serde_json::from_slice(element).unwrap_or_else(|_| text_or_hex(element)),
        number => {
            let (min, max) = integer_range(number).unwrap_or((0, 0));
            integer_json(little_integer(element, 128 - (max - min).leading_zeros(), min < 0))
        }
    }
}

/// Text where the bytes are UTF-8.
fn text_or_hex(bytes: &[u8]) -> Value {
    std::str::from_utf8(bytes).map_or_else(|_| hex_object(bytes), Value::from)
}

/// The low `bits` bits of a little-endian integer of at most eight bytes.
fn little_integer(bytes: &[u8], bits: u32, signed: bool) -> i128 {
    let raw = bytes.iter().take(8).rev().fold(0u64, |acc, &b| (acc << 8) | u64::from(b));
    let top = u64::BITS - bits.clamp(1, 64);
    if signed { i128::from((raw << top) as i64 >> top) } else { i128::from(raw << top >> top) }
}

/// Without the NUL at the end.
fn trim(bytes: &[u8]) -> &[u8] {
    let length = bytes.iter().rposition(|&b| b != 0).map_or(0, |last| last + 1);
    &bytes[..length]
}

/// UTF-32 without the NUL at the end, where every unit is a code point.
fn utf32(bytes: &[u8]) -> Option<String> {
    let units = bytes.as_chunks::<4>().0;
    let length = units.iter().rposition(|unit| *unit != [0; 4]).map_or(0, |last| last + 1);
    units[..length].iter().map(|unit| char::from_u32(u32::from_le_bytes(*unit))).collect()
}

fn nested(item: &DataType, shape: &[u64], bytes: &[u8], spelling: Spelling) -> Value {
    let Some((_, rest)) = shape.split_first() else { return write(item, bytes, spelling) };
    let part = items(rest).saturating_mul(item.size().unwrap_or(0)).max(1);
    Value::Array(bytes.chunks_exact(part).map(|bytes| nested(item, rest, bytes, spelling)).collect())
}
