//! JSON text exactly as Python's `json.dumps(value, ensure_ascii=False, separators=(",", ":"))` writes it.
//!
//! Stands between elements of variable length and their hash: the hash is of this text, so every byte counts. Floats are
//! Python's `repr`: the shortest digits that read back, positional from 1e-4 up to 1e16, else with an exponent of at least
//! two digits. `"`, `\` and the control characters below space are escaped, nothing else.

use std::fmt::Write;

use gingham::core::json::Value;

/// Appends a value's text.
pub(crate) fn write_value(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(n) => match (n.as_i64(), n.as_u64(), n.as_f64()) {
            (Some(i), _, _) => drop(write!(out, "{i}")),
            (_, Some(u), _) => drop(write!(out, "{u}")),
            (_, _, Some(f)) => write_float(out, f),
            _ => drop(write!(out, "{n}")),
        },
        Value::String(s) => write_string(out, s),
        // The document parser bounds the depth (serde_json: 128), so the recursion is bounded too.
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_value(out, item);
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (i, (name, member)) in members.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_string(out, name);
                out.push(':');
                write_value(out, member);
            }
            out.push('}');
        }
    }
}

/// Appends a string with its quotes.
pub(crate) fn write_string(out: &mut String, text: &str) {
    out.push('"');
    let mut plain = 0;
    for (i, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x08 => "\\b",
            0x0c => "\\f",
            0..=0x1f => "",
            _ => continue,
        };
        out.push_str(&text[plain..i]);
        plain = i + 1;
        if escape.is_empty() {
            let _ = write!(out, "\\u{byte:04x}");
        } else {
            out.push_str(escape);
        }
    }
    out.push_str(&text[plain..]);
    out.push('"');
}

/// Appends a float as Python's `repr`; a float that is no number as the token that `json.dumps` writes.
fn write_float(out: &mut String, f: f64) {
    if !f.is_finite() {
        out.push_str(match (f.is_nan(), f > 0.0) {
            (true, _) => "NaN",
            (_, true) => "Infinity",
            _ => "-Infinity",
        });
        return;
    }
    // `{:e}` gives the shortest digits that read back, as Python does: `-1.25e-7`, `1e16`.
    let shortest = format!("{f:e}");
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |m| ("-", m));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    out.push_str(sign);
    match exponent {
        -4..=-1 => {
            out.push_str("0.");
            out.extend(std::iter::repeat_n('0', (-exponent - 1) as usize));
            out.push_str(&digits);
        }
        0..=15 => {
            let point = exponent as usize + 1;
            if digits.len() <= point {
                out.push_str(&digits);
                out.extend(std::iter::repeat_n('0', point - digits.len()));
                out.push_str(".0");
            } else {
                out.push_str(&digits[..point]);
                out.push('.');
                out.push_str(&digits[point..]);
            }
        }
        _ => {
            out.push_str(&digits[..1]);
            if digits.len() > 1 {
                out.push('.');
                out.push_str(&digits[1..]);
            }
            let _ = write!(out, "e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs());
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn text(value: &Value) -> String {
        let mut out = String::new();
        write_value(&mut out, value);
        out
    }

    #[test]
    fn floats_are_spelled_as_python_spells_them() {
        let expected = [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (0.1, "0.1"),
            (100.0, "100.0"),
            (1e-4, "0.0001"),
            (1e-5, "1e-05"),
            (1.5e-7, "1.5e-07"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.234e16, "1.234e+16"),
            (123456789.125, "123456789.125"),
            (9007199254740993.0, "9007199254740992.0"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (-2.5e-10, "-2.5e-10"),
            (f64::from(0.1f32), "0.10000000149011612"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ];
        for (f, want) in expected {
            let mut out = String::new();
            write_float(&mut out, f);
            assert_eq!(out, want);
            if f.is_finite() {
                assert_eq!(out.parse::<f64>().unwrap().to_bits(), f.to_bits());
            }
        }
    }

    #[test]
    fn strings_escape_controls_and_nothing_else() {
        let value = Value::String("a\"\\\n\r\t\u{8}\u{c}\u{1}\u{1f}\u{7f}é🎉/\u{2028}".into());
        assert_eq!(text(&value), "\"a\\\"\\\\\\n\\r\\t\\b\\f\\u0001\\u001f\u{7f}é🎉/\u{2028}\"");
    }

    #[test]
    fn containers_have_no_spaces_and_keep_their_order() {
        let value: Value = serde_json::from_str(r#"{"b": [1, 2.0, null, true], "a": {"hex": "00ff"}, "n": 18446744073709551615}"#).unwrap();
        assert_eq!(text(&value), r#"{"b":[1,2.0,null,true],"a":{"hex":"00ff"},"n":18446744073709551615}"#);
    }
}
