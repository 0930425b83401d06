//! Numbers and bytes as JSON: the pieces that fill values and printed elements are made of.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::{DataTypeError, Float, Misfit};
use crate::json::{Number, Value};

/// Standard alphabet, padding written and not required.
const BASE64: GeneralPurpose =
    GeneralPurpose::new(&alphabet::STANDARD, GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent));

/// A JSON value in a message: its text, cut after 60 characters.
pub(super) fn shown(value: &Value) -> String {
    let text = match value {
        Value::Array(list) => return format!("a list of {}", list.len()),
        Value::Object(_) => return "an object".to_string(),
        other => other.to_string(),
    };
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn refuse<T>(what: String) -> Result<T, DataTypeError> {
    Err(DataTypeError::new(what))
}

/// An integer in `min..=max`. `1.0` counts where a float64 still tells every integer from the next.
pub(super) fn integer(value: &Value, min: i128, max: i128, type_name: &str) -> Result<i128, DataTypeError> {
    const EXACT: f64 = 9_007_199_254_740_992.0; // 2^53
    let Value::Number(number) = value else {
        return refuse(format!("{} is not a value of {type_name}: an integer from {min} to {max} is expected", shown(value)));
    };
    let integer = match (number.as_i64(), number.as_u64(), number.as_f64()) {
        (Some(i), _, _) => i128::from(i),
        (_, Some(u), _) => i128::from(u),
        (_, _, Some(f)) if f.fract() == 0.0 && f.abs() < EXACT => f as i128,
        (_, _, Some(f)) if f.fract() == 0.0 && (f > max as f64 || f < min as f64) => {
            return refuse(format!("{number} is out of range: a value of {type_name} lies between {min} and {max}"));
        }
        (_, _, Some(f)) if f.fract() == 0.0 => {
            return refuse(format!("{number} may have lost digits: integers of 2^53 and more are written without fraction and exponent"));
        }
        _ => return refuse(format!("{number} is not an integer, but the type is {type_name}")),
    };
    if integer < min || integer > max {
        return refuse(format!("{integer} is out of range: a value of {type_name} lies between {min} and {max}"));
    }
    Ok(integer)
}

/// An integer as a JSON number; wider than 64 bits does not occur.
pub(super) fn integer_json(value: i128) -> Value {
    match (i64::try_from(value), u64::try_from(value)) {
        (Ok(i), _) => Value::from(i),
        (_, Ok(u)) => Value::from(u),
        _ => Value::String(value.to_string()),
    }
}

/// The pattern of a float: a number, "NaN", "Infinity", "+Infinity", "-Infinity" or the pattern in hex.
pub(super) fn float(value: &Value, float: Float) -> Result<u64, DataTypeError> {
    let name = float.name();
    match value {
        Value::Number(number) => match float.round_decimal(&number.to_string()) {
            Ok(bits) => Ok(bits),
            Err(Misfit::NotPositive) => refuse(format!("{number} is not a value of {name}, which holds powers of two only")),
            Err(Misfit::TooLarge { negative }) => match float.infinity(negative) {
                Some(bits) => Ok(bits),
                None => refuse(format!("{number} is out of range: the largest {name} is {}", float.max_finite())),
            },
            Err(_) => refuse(format!("{number} is not a value of {name}")),
        },
        Value::String(text) => {
            let special = match text.as_str() {
                "NaN" => float.nan(),
                "Infinity" | "+Infinity" => float.infinity(false),
                "-Infinity" => float.infinity(true),
                hex if hex.starts_with("0x") => return hex_pattern(hex, float),
                _ => {
                    return refuse(format!(
                        "{} is not a value of {name}: a number, \"NaN\", \"Infinity\", \"-Infinity\" or \"0x\" and {} hex digits is expected",
                        shown(value),
                        2 * float.size()
                    ));
                }
            };
            special.ok_or_else(|| DataTypeError::new(format!("{name} has no {}", text.trim_start_matches(['+', '-']))))
        }
        Value::Null => refuse(format!("null is not a value of {name}; a missing value of floating point is written \"NaN\"")),
        other => refuse(format!("{} is not a value of {name}: a number or a string is expected", shown(other))),
    }
}

fn hex_pattern(text: &str, float: Float) -> Result<u64, DataTypeError> {
    let digits = &text[2..];
    let want = 2 * float.size();
    if !digits.bytes().all(|b| b.is_ascii_hexdigit()) || digits.len() != want {
        let what = shown(&Value::String(text.to_string()));
        return refuse(format!("{what} is not a bit pattern of {}: \"0x\" and exactly {want} hex digits are expected", float.name()));
    }
    let bits = u64::from_str_radix(digits, 16).map_err(|e| DataTypeError::new(e.to_string()))?;
    if float.bits() < 8 && bits >> float.bits() != 0 {
        return refuse(format!("\"{text}\" is not a bit pattern of {}, which has {} bits", float.name(), float.bits()));
    }
    Ok(bits)
}

/// How a float is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FloatStyle {
    /// The shortest decimal that gives the pattern back; NaN that is not canonical in hex.
    Exact,
    /// The same, but any NaN is "NaN" (v2 has no hex).
    AnyNan,
    /// float32 and float64 as the shortest decimal, narrower ones as their exact value; any NaN is "NaN".
    Plain,
    /// The exact value as a float64; any NaN is "NaN".
    Float64,
}

/// A float as JSON.
pub(super) fn float_json(float: Float, bits: u64, style: FloatStyle) -> Value {
    if float.is_nan(bits) {
        return Value::String(match style {
            FloatStyle::Exact if Some(bits) != float.nan() => format!("0x{bits:0digits$x}", digits = 2 * float.size()),
            _ => "NaN".to_string(),
        });
    }
    let exact = float.to_f64(bits);
    if exact.is_infinite() {
        return Value::from(if exact > 0.0 { "Infinity" } else { "-Infinity" });
    }
    let number = match style {
        FloatStyle::Exact | FloatStyle::AnyNan => float.shortest(bits),
        FloatStyle::Plain if float == Float::F32 => float.shortest(bits),
        FloatStyle::Plain | FloatStyle::Float64 => exact,
    };
    Number::from_f64(number).map_or_else(|| Value::from("NaN"), Value::Number)
}

/// How many bytes a text or list may stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Length {
    /// Exactly so many.
    Exact(usize),
    /// So many, or fewer and NUL after them.
    UpTo(usize),
    /// Any number.
    Any,
}

impl Length {
    /// Appends `bytes` to `out`, padded, or says why there are too few or too many.
    pub(super) fn put(self, bytes: &[u8], out: &mut Vec<u8>, type_name: &str) -> Result<(), DataTypeError> {
        let (bad, padding) = match self {
            Length::Exact(n) => (bytes.len() != n, 0),
            Length::UpTo(n) => (bytes.len() > n, n.saturating_sub(bytes.len())),
            Length::Any => (false, 0),
        };
        if bad {
            let (Length::Exact(n) | Length::UpTo(n)) = self else { return Ok(()) };
            return refuse(format!("{} bytes do not fit {type_name}, an element of which has {n}", bytes.len()));
        }
        out.extend_from_slice(bytes);
        out.resize(out.len() + padding, 0);
        Ok(())
    }
}

/// Bytes in base64.
pub(super) fn base64_bytes(text: &str) -> Result<Vec<u8>, DataTypeError> {
    BASE64.decode(text).map_err(|e| DataTypeError::new(format!("{} is not base64: {e}", shown(&Value::from(text)))))
}

/// Bytes as base64 text.
pub(super) fn base64_json(bytes: &[u8]) -> Value {
    Value::String(BASE64.encode(bytes))
}

/// A list of integers from 0 to 255.
pub(super) fn byte_list(list: &[Value], type_name: &str) -> Result<Vec<u8>, DataTypeError> {
    list.iter().enumerate().map(|(i, v)| integer(v, 0, 255, type_name).map(|b| b as u8).map_err(|e| e.below(i))).collect()
}

/// Bytes in hex, two digits each.
pub(super) fn hex_bytes(text: &str) -> Result<Vec<u8>, DataTypeError> {
    let digit = |b: &u8| char::from(*b).to_digit(16).map(|d| d as u8);
    let pair = |pair: &[u8]| Some(digit(pair.first()?)? << 4 | digit(pair.get(1)?)?);
    let bytes: Option<Vec<u8>> = text.as_bytes().chunks(2).map(pair).collect();
    bytes.ok_or_else(|| DataTypeError::new(format!("{} is not hex: two digits a byte are expected", shown(&Value::from(text)))))
}

/// Bytes as lower-case hex.
pub(super) fn hex_text(bytes: &[u8]) -> String {
    const DIGITS: [u8; 16] = *b"0123456789abcdef";
    bytes.iter().flat_map(|b| [b >> 4, b & 15]).map(|d| char::from(DIGITS[usize::from(d)])).collect()
}

/// Bytes that have no other spelling: `{"hex": "…"}`.
pub(super) fn hex_object(bytes: &[u8]) -> Value {
    serde_json::json!({ "hex": hex_text(bytes) })
}
