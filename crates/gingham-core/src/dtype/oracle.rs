//! The text that hashes of variable-length data are taken of.

use std::fmt::Write as _;

use crate::json::{Number, Value};

/// JSON as Python's `json.dumps(value, ensure_ascii=False, separators=(",", ":"))` writes it, which differs from others in the
/// exponents of floats: `1e-05`, `1e+16`, and plain digits between 1e-4 and 1e16.
///
/// ```
/// let list = serde_json::json!([1e16, 1.5e-5, "é", 3]);
/// assert_eq!(gingham_core::dtype::oracle_text(&list), "[1e+16,1.5e-05,\"é\",3]");
/// ```
pub fn oracle_text(value: &Value) -> String {
    let mut out = String::new();
    put(value, &mut out);
    out
}

fn put(value: &Value, out: &mut String) {
    match value {
        Value::Number(number) => put_number(number, out),
        Value::String(text) => put_string(text, out),
        Value::Array(list) => {
            out.push('[');
            for (i, item) in list.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                put(item, out);
            }
            out.push(']');
        }
        Value::Object(object) => {
            out.push('{');
            for (i, (key, item)) in object.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                put_string(key, out);
                out.push(':');
                put(item, out);
            }
            out.push('}');
        }
        Value::Null => out.push_str("null"),
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
    }
}

fn put_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

fn put_number(number: &Number, out: &mut String) {
    let float = match number.as_f64() {
        Some(float) if number.is_f64() => float,
        _ => {
            let _ = write!(out, "{number}");
            return;
        }
    };
    let scientific = format!("{float:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    // Rust writes the same shortest digits, and never an exponent in {:?} below 1e16.
    let _ = if (-4..16).contains(&exponent) {
        write!(out, "{float}{}", if float.fract() == 0.0 { ".0" } else { "" })
    } else {
        write!(out, "{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
    };
}
