//! NumPy's file format (NEP 1): a magic word, a header that is a Python literal, the elements.
//!
//! ```text
//!   \x93NUMPY  major minor  length (u16, from 2.0 on u32)  {'descr': …, 'fortran_order': …, 'shape': (…), }\n   elements
//! ```

use std::io::{Read, Write};

use gingham::DataType;
use gingham::core::dtype::{Endian, Float, TypeStr, parse_v2, to_v2};
use serde_json::{Map, Value};

use crate::error::{Failure, Result};

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Headers longer than this are not read; numpy itself stops at 10,000 bytes unless told otherwise.
const LONGEST_HEADER: usize = 1 << 20;

/// What a file says about its elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Data type and byte order.
    pub typestr: TypeStr,
    /// True where the first axis runs fastest.
    pub fortran: bool,
    /// The shape.
    pub shape: Vec<u64>,
}

/// The type's description in a header, or why NumPy has none.
fn descr(data_type: &DataType) -> Result<Value> {
    let refuse = || {
        Failure::usage(format!("a .npy file cannot hold elements of type {data_type}"))
            .hint("read it with --format json, or as bytes with --format raw")
    };
    let data_type = match data_type {
        // One byte each in memory.
        DataType::Int2 | DataType::Int4 => &DataType::Int8,
        DataType::UInt2 | DataType::UInt4 => &DataType::UInt8,
        other => other,
    };
    if data_type.size().is_none() || !numpy_knows(data_type) {
        return Err(refuse());
    }
    to_v2(&TypeStr { data_type: data_type.clone(), order: vec![Endian::Little; leaves(data_type)] }).map_err(|_| refuse())
}

/// True where every number in a type is of a kind that NumPy itself has.
fn numpy_knows(data_type: &DataType) -> bool {
    match data_type {
        DataType::Float(f) => matches!(f, Float::F16 | Float::F32 | Float::F64),
        DataType::Complex(f) => matches!(f, Float::F32 | Float::F64),
        DataType::Struct(fields) => fields.iter().all(|f| numpy_knows(&f.data_type)),
        DataType::FixedArray { item, .. } => numpy_knows(item),
        _ => true,
    }
}

/// Leaf components of a type, nested members flattened.
fn leaves(data_type: &DataType) -> usize {
    match data_type {
        DataType::Struct(fields) => fields.iter().map(|f| leaves(&f.data_type)).sum(),
        DataType::FixedArray { item, .. } => leaves(item),
        _ => 1,
    }
}

/// Writes a header for elements in C order.
pub fn write_header(out: &mut dyn Write, data_type: &DataType, shape: &[u64]) -> Result<()> {
    let lengths = shape.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let comma = if shape.len() == 1 { "," } else { "" };
    let mut text = format!("{{'descr': {}, 'fortran_order': False, 'shape': ({lengths}{comma}), }}", python(&descr(data_type)?));
    // Names outside Latin-1 need version 3 (UTF-8), long headers version 2 (a length of four bytes).
    let utf8 = !text.is_ascii();
    let long = text.len() + 11 > usize::from(u16::MAX) - 64;
    let version: u8 = if utf8 { 3 } else { 1 + u8::from(long) };
    let prefix = if version == 1 { 10 } else { 12 };
    // Elements begin at a multiple of 64 bytes, so that a mapped file is aligned.
    let padded = (prefix + text.len() + 1).next_multiple_of(64);
    text.extend(std::iter::repeat_n(' ', padded - prefix - text.len() - 1));
    text.push('\n');
    out.write_all(MAGIC)?;
    out.write_all(&[version, 0])?;
    match version {
        1 => out.write_all(&(text.len() as u16).to_le_bytes())?,
        _ => out.write_all(&(text.len() as u32).to_le_bytes())?,
    }
    Ok(out.write_all(text.as_bytes())?)
}

/// A type description as Python writes it: lists of members hold tuples.
fn python(descr: &Value) -> String {
    match descr {
        Value::String(s) => literal(s),
        Value::Array(members) => format!("[{}]", members.iter().map(member).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

fn member(member: &Value) -> String {
    let parts = member.as_array().map(Vec::as_slice).unwrap_or_default();
    let shape = |v: &Value| {
        let lengths: Vec<String> = v.as_array().into_iter().flatten().map(Value::to_string).collect();
        format!("({},)", lengths.join(", "))
    };
    match parts {
        [name, rest] => format!("({}, {})", python(name), python(rest)),
        [name, rest, lengths] => format!("({}, {}, {})", python(name), python(rest), shape(lengths)),
        _ => python(member),
    }
}

fn literal(text: &str) -> String {
    let mut out = String::from("'");
    for c in text.chars() {
        match c {
            '\'' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push_str(&format!("\\U{:08x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('\'');
    out
}

/// Reads a header; `input` then stands at the first element.
pub fn read_header(input: &mut dyn Read, name: &str) -> Result<Header> {
    let wrong = |why: &str| Failure::bad_data(format!("{name} is not a .npy file that can be read: {why}"));
    let mut take = |n: usize| {
        let mut bytes = vec![0; n];
        input.read_exact(&mut bytes).map(|()| bytes).map_err(|_| wrong("it ends within its header"))
    };
    let start = take(8)?;
    if start[..6] != MAGIC[..] {
        return Err(wrong("it does not begin as one"));
    }
    let length = match start[6] {
        1 => usize::from(u16::from_le_bytes(to_array(&take(2)?))),
        2 | 3 => u32::from_le_bytes(to_array(&take(4)?)) as usize,
        other => return Err(wrong(&format!("its version is {other}; 1, 2 and 3 are known"))),
    };
    if length > LONGEST_HEADER {
        return Err(wrong(&format!("its header is {length} bytes long; more than {LONGEST_HEADER} are not read")));
    }
    let bytes = take(length)?;
    let text = match start[6] {
        3 => String::from_utf8(bytes).map_err(|_| wrong("its header is not UTF-8"))?,
        _ => bytes.iter().map(|&b| b as char).collect(),
    };
    header(&text).map_err(|why| wrong(&why))
}

fn to_array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&bytes[..N]);
    out
}

fn header(text: &str) -> std::result::Result<Header, String> {
    let mut parser = Literal { rest: text.trim() };
    let value = parser.value(0)?;
    if !parser.rest.trim().is_empty() {
        return Err("something follows its header's dictionary".into());
    }
    let dict = value.as_object().ok_or("its header is not a dictionary")?;
    let descr = dict.get("descr").ok_or("its header lacks 'descr'")?;
    let typestr = parse_v2(descr).map_err(|e| format!("its type {descr} is refused: {}", e.what))?;
    if typestr.data_type.size().is_none() {
        return Err(format!("its type {descr} is not a fixed number of bytes"));
    }
    let fortran = dict.get("fortran_order").and_then(Value::as_bool).ok_or("its header lacks 'fortran_order'")?;
    let lengths = dict.get("shape").and_then(Value::as_array).ok_or("its header lacks 'shape'")?;
    let shape = lengths.iter().map(|l| l.as_u64().ok_or_else(|| format!("its shape holds {l}"))).collect::<std::result::Result<_, _>>()?;
    Ok(Header { typestr, fortran, shape })
}

/// The literals that headers are made of: dictionaries, tuples and lists, strings, numbers, True, False, None.
struct Literal<'a> {
    rest: &'a str,
}

impl Literal<'_> {
    fn value(&mut self, depth: usize) -> std::result::Result<Value, String> {
        if depth > 32 {
            return Err("its header is nested too deeply".into());
        }
        self.rest = self.rest.trim_start();
        match self.rest.chars().next() {
            Some('{') => self.dict(depth),
            Some('(') => self.list(')', depth),
            Some('[') => self.list(']', depth),
            Some('\'' | '"') => self.string().map(Value::String),
            Some(c) if c.is_ascii_digit() || c == '-' => self.number(),
            _ => self.word(),
        }
    }
    fn eat(&mut self, c: char) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }
    fn list(&mut self, close: char, depth: usize) -> std::result::Result<Value, String> {
        self.rest = &self.rest[1..];
        let mut items = Vec::new();
        while !self.eat(close) {
            items.push(self.value(depth + 1)?);
            if !self.eat(',') && !self.rest.trim_start().starts_with(close) {
                return Err("a list in its header is not closed".into());
            }
        }
        Ok(Value::Array(items))
    }
    fn dict(&mut self, depth: usize) -> std::result::Result<Value, String> {
        self.rest = &self.rest[1..];
        let mut members = Map::new();
        while !self.eat('}') {
            self.rest = self.rest.trim_start();
            let key = self.string()?;
            if !self.eat(':') {
                return Err("its header's dictionary lacks a colon".into());
            }
            members.insert(key, self.value(depth + 1)?);
            if !self.eat(',') && !self.rest.trim_start().starts_with('}') {
                return Err("its header's dictionary is not closed".into());
            }
        }
        Ok(Value::Object(members))
    }
    fn string(&mut self) -> std::result::Result<String, String> {
        let quote = self.rest.chars().next().filter(|c| matches!(c, '\'' | '"')).ok_or("its header lacks a string")?;
        let mut out = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((i, c)) = chars.next() {
            if c == quote {
                self.rest = &self.rest[i + 1..];
                return Ok(out);
            }
            if c != '\\' {
                out.push(c);
                continue;
            }
            let (_, escape) = chars.next().ok_or("a string in its header is not closed")?;
            let digits = match escape {
                'x' => 2,
                'u' => 4,
                'U' => 8,
                'n' => {
                    out.push('\n');
                    continue;
                }
                't' => {
                    out.push('\t');
                    continue;
                }
                other => {
                    out.push(other);
                    continue;
                }
            };
            let hex: String = chars.by_ref().take(digits).map(|(_, c)| c).collect();
            let code = u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32).ok_or("an escape in its header is no character")?;
            out.push(code);
        }
        Err("a string in its header is not closed".into())
    }
    fn number(&mut self) -> std::result::Result<Value, String> {
        let end = self.rest.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        // Python 2 wrote long numbers with an L.
        self.rest = rest.strip_prefix('L').unwrap_or(rest);
        digits
            .parse::<i128>()
            .ok()
            .and_then(|n| if n < 0 { i64::try_from(n).ok().map(Value::from) } else { u64::try_from(n).ok().map(Value::from) })
            .ok_or_else(|| format!("its header holds the number {digits}"))
    }
    fn word(&mut self) -> std::result::Result<Value, String> {
        for (word, value) in [("True", Value::Bool(true)), ("False", Value::Bool(false)), ("None", Value::Null)] {
            if let Some(rest) = self.rest.strip_prefix(word) {
                self.rest = rest;
                return Ok(value);
            }
        }
        Err("its header is not a Python literal".into())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn parse(text: &str) -> std::result::Result<Value, String> {
        Literal { rest: text }.value(0)
    }

    #[test]
    fn python_literals_are_read() {
        assert_eq!(
            parse("{'descr': [('a', '<i4'), (\"b\", '>f8', (2, 3))], 'shape': (10L,), 'x': None, }").unwrap(),
            serde_json::json!({"descr": [["a", "<i4"], ["b", ">f8", [2, 3]]], "shape": [10], "x": null})
        );
        assert_eq!(parse("'\\xe9\\u65e5\\\\\\''").unwrap(), serde_json::json!("é日\\'"));
        assert_eq!(parse("()").unwrap(), serde_json::json!([]));
    }

    #[test]
    fn hostile_literals_are_refused() {
        for text in ["", "{", "('a'", "{'a' 1}", "'abc", "'\\", "'\\U00110000'", "99999999999999999999", "lambda: 1", "[1 2]", "{1: 2}"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse(&"[".repeat(100_000)).unwrap_err().contains("too deeply"));
    }

    #[test]
    fn headers_are_read_back_and_aligned() {
        use gingham::core::dtype::TimeUnit;
        let field = |name: &str, data_type| gingham::core::dtype::Field { name: name.into(), data_type };
        let nested = DataType::Struct(vec![field("é", DataType::Int16), field("z", DataType::FixedUtf32(3))]);
        for data_type in [
            DataType::Bool,
            DataType::Int8,
            DataType::UInt64,
            DataType::Float(Float::F16),
            DataType::Complex(Float::F64),
            DataType::Raw(5),
            DataType::FixedBytes(4),
            DataType::DateTime { unit: TimeUnit::Micro, scale: 10 },
            DataType::Struct(vec![field("a", DataType::UInt8), field("n", nested)]),
        ] {
            for shape in [vec![], vec![7], vec![2, 0, 3]] {
                let mut bytes = Vec::new();
                write_header(&mut bytes, &data_type, &shape).unwrap();
                assert_eq!(bytes.len() % 64, 0);
                let header = read_header(&mut bytes.as_slice(), "x").unwrap();
                assert_eq!((header.typestr.data_type, header.shape, header.fortran), (data_type.clone(), shape, false));
            }
        }
        for refused in [DataType::Float(Float::BFloat16), DataType::Float(Float::E4M3), DataType::String, DataType::Complex(Float::F16)] {
            assert!(write_header(&mut Vec::new(), &refused, &[1]).unwrap_err().what().contains(".npy"));
        }
    }

    #[test]
    fn members_are_written_as_tuples() {
        let descr = serde_json::json!([["a", "<i4"], ["it's", "<f8", [3]], ["n", [["x", "|u1"]]]]);
        assert_eq!(python(&descr), "[('a', '<i4'), ('it\\'s', '<f8', (3,)), ('n', [('x', '|u1')])]");
        assert_eq!(python(&serde_json::json!("<M8[ns]")), "'<M8[ns]'");
    }

    #[test]
    fn headers_that_lie_are_refused_without_allocating() {
        for bytes in [
            &b""[..],
            b"\x93NUMPY",
            b"not a npy file at all",
            b"\x93NUMPY\x09\x00\x10\x00",
            b"\x93NUMPY\x01\x00\xff\xff{'descr'",
            b"\x93NUMPY\x02\x00\xff\xff\xff\xff{",
        ] {
            assert!(read_header(&mut &bytes[..], "x.npy").is_err());
        }
    }
}
