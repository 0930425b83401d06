//! numcodecs' `msgpack2`: objects as one MessagePack list (format.md 2.5). See [`super::objects`] for its form.
//!
//! Elements are JSON text, so what JSON lacks is read as near as it gets: byte strings as text where they are UTF-8, else as
//! `{"hex": …}`; NaN and the infinities as the strings of that name; keys that are no text as their JSON text.

use gingham_core::dtype::Elements;
use gingham_core::json::{Map, Number, Value};
use rmpv::Value as Pack;

use super::objects;
use crate::{ArrayToBytes, CodecFault, Context, Rep, Result};

const NAME: &str = "numcodecs.msgpack2";

/// Lists within lists that are followed. Python's own limit is 1024; JSON text of more than 128 could not be read back.
const DEPTH: usize = 100;

/// `msgpack2`. Its configuration says how Python objects are packed, and both ways are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MsgPack2;

fn to_json(pack: Pack) -> Result<Value> {
    Ok(match pack {
        Pack::Nil => Value::Null,
        Pack::Boolean(b) => Value::Bool(b),
        Pack::Integer(i) => match (i.as_u64(), i.as_i64()) {
            (Some(u), _) => Value::from(u),
            (None, Some(i)) => Value::from(i),
            (None, None) => return Err(CodecFault::corrupt(NAME, "an integer of more than 64 bits")),
        },
        Pack::F32(x) => float(f64::from(x)),
        Pack::F64(x) => float(x),
        Pack::String(s) => text_or_hex(&s.into_bytes()),
        Pack::Binary(b) => text_or_hex(&b),
        Pack::Array(items) => Value::Array(items.into_iter().map(to_json).collect::<Result<_>>()?),
        Pack::Map(pairs) => {
            let mut map = Map::new();
            for (key, value) in pairs {
                let key = match to_json(key)? {
                    Value::String(text) => text,
                    other => other.to_string(),
                };
                map.insert(key, to_json(value)?);
            }
            Value::Object(map)
        }
        Pack::Ext(kind, _) => return Err(CodecFault::unsupported(NAME, format!("an extension object of type {kind}"))),
    })
}

fn float(x: f64) -> Value {
    match Number::from_f64(x) {
        Some(n) => Value::Number(n),
        None if x.is_nan() => Value::from("NaN"),
        None => Value::from(if x > 0.0 { "Infinity" } else { "-Infinity" }),
    }
}

fn text_or_hex(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => Value::from(text),
        Err(_) => {
            let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
            Value::Object(Map::from_iter([("hex".to_string(), Value::from(hex))]))
        }
    }
}

fn from_json(value: Value) -> Result<Pack> {
    Ok(match value {
        Value::Null => Pack::Nil,
        Value::Bool(b) => Pack::Boolean(b),
        Value::Number(n) => match (n.as_u64(), n.as_i64(), n.as_f64()) {
            (Some(u), ..) => Pack::from(u),
            (_, Some(i), _) => Pack::from(i),
            (.., Some(x)) if x.is_finite() && n.to_string().contains(['.', 'e', 'E']) => Pack::F64(x),
            _ => return Err(CodecFault::value(NAME, format!("{n} is neither an integer of 64 bits nor a float64"))),
        },
        Value::String(s) => Pack::from(s),
        Value::Array(items) => Pack::Array(items.into_iter().map(from_json).collect::<Result<_>>()?),
        Value::Object(map) => Pack::Map(map.into_iter().map(|(k, v)| Ok((Pack::from(k), from_json(v)?))).collect::<Result<_>>()?),
    })
}

impl ArrayToBytes for MsgPack2 {
    fn encoded_len(&self, _: &Rep) -> Option<usize> {
        None
    }
    fn encode(&self, input: &Rep, elements: &Elements, out: &mut Vec<u8>, _: &mut Context) -> Result<()> {
        let list = from_json(objects::to_list(NAME, input, elements)?)?;
        rmpv::encode::write_value(out, &list).map_err(|e| CodecFault::value(NAME, e.to_string()))
    }
    fn decode(&self, input: &Rep, bytes: &[u8], _: &mut Context) -> Result<Elements> {
        let mut rest = bytes;
        let pack = rmpv::decode::read_value_with_max_depth(&mut rest, DEPTH)
            .map_err(|e| CodecFault::corrupt(NAME, format!("not MessagePack: {e}")))?;
        if !rest.is_empty() {
            return Err(CodecFault::corrupt(NAME, format!("{} bytes follow the list", rest.len())));
        }
        objects::from_list(NAME, input, to_json(pack)?)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use gingham_core::Shape;
    use gingham_core::dtype::{DataType, FillValue};
    use proptest::prelude::*;

    fn rep(n: u64) -> Rep {
        Rep { data_type: DataType::Json, shape: Shape::from_slice(&[n]), fill: FillValue::new("null") }
    }

    fn texts(e: Elements) -> Vec<String> {
        let v = e.as_variable().unwrap();
        (0..v.len()).map(|i| String::from_utf8(v.get(i).to_vec()).unwrap()).collect()
    }

    #[test]
    fn two_strings_are_the_bytes_of_python() {
        let stored = b"\x94\xa1a\xa1b\xa2|O\x91\x02";
        let e = MsgPack2.decode(&rep(2), stored, &mut Context::default()).unwrap();
        let mut out = vec![];
        MsgPack2.encode(&rep(2), &e, &mut out, &mut Context::default()).unwrap();
        assert_eq!(out, stored);
        assert_eq!(texts(e), ["\"a\"", "\"b\""]);
    }

    #[test]
    fn what_json_lacks() {
        let list = Pack::Array(vec![
            Pack::F64(f64::NAN),
            Pack::Binary(vec![0xff, 0]),
            Pack::Binary(b"ab".to_vec()),
            Pack::Map(vec![(Pack::from(1), Pack::from(-2))]),
            Pack::F64(1.0),
            Pack::from("|O"),
            Pack::Array(vec![Pack::from(5)]),
        ]);
        let mut stored = vec![];
        rmpv::encode::write_value(&mut stored, &list).unwrap();
        let e = MsgPack2.decode(&rep(5), &stored, &mut Context::default()).unwrap();
        assert_eq!(texts(e), ["\"NaN\"", "{\"hex\":\"ff00\"}", "\"ab\"", "{\"1\":-2}", "1.0"]);
    }

    #[test]
    fn numbers_that_do_not_fit_are_refused() {
        for text in ["18446744073709551616", "1e400"] {
            // Where JSON numbers do not keep their digits, the parser has made a float of the first already.
            if serde_json::from_str::<Value>(text).map(|v| v.to_string()).is_ok_and(|printed| printed != text) {
                continue;
            }
            let mut v = gingham_core::dtype::Variable::new();
            v.push(text.as_bytes());
            let e = MsgPack2.encode(&rep(1), &Elements::Variable(v), &mut vec![], &mut Context::default()).unwrap_err();
            assert_eq!(e.kind, crate::FaultKind::Value, "{text}");
        }
    }

    #[test]
    fn hostile_bytes() {
        let stored = b"\x94\xa1a\xa1b\xa2|O\x91\x02";
        for cut in 0..stored.len() {
            assert!(MsgPack2.decode(&rep(2), &stored[..cut], &mut Context::default()).is_err());
        }
        assert!(MsgPack2.decode(&rep(2), b"\x94\xa1a\xa1b\xa2|O\x91\x02\x00", &mut Context::default()).is_err());
        assert!(MsgPack2.decode(&rep(2), &[0x91; 100_000], &mut Context::default()).is_err());
        assert!(MsgPack2.decode(&rep(2), &[0xdd, 0xff, 0xff, 0xff, 0xff], &mut Context::default()).is_err());
        assert!(MsgPack2.decode(&rep(1), &[0x93, 0xd4, 0x01, 0x00, 0xa2, b'|', b'O', 0x91, 0x01], &mut Context::default()).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let refused = MsgPack2.decode(&rep(2), &bytes, &mut Context::default()).is_err();
            prop_assert!(refused || !bytes.is_empty());
        }
    }
}
