//! Where the elements of a write come from: a .npy file, bare bytes, or the JSON that `read` prints.

use std::fs::File;
use std::io::{BufReader, Cursor, Read};

use gingham::core::dtype::{Endian, Spelling, TypeStr, format_element, parse_element};
use gingham::{DataType, Elements, Variable};
use serde_json::Value;

use crate::error::{Failure, Result};
use crate::npy;
use crate::render;

/// Elements that arrive in C order.
pub struct Source {
    name: String,
    shape: Option<Vec<u64>>,
    typestr: Option<TypeStr>,
    from: From,
}

enum From {
    Bytes(Box<dyn Read>),
    Json(std::vec::IntoIter<Value>),
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Source {{ {}, shape: {:?}, type: {:?} }}", self.name, self.shape, self.typestr)
    }
}

impl Source {
    /// Opens a file, or standard input for `-`. A .npy file is known by how it begins, JSON by its name; all else is bare
    /// elements: C order, little-endian, of the array's type.
    pub fn open(path: &str) -> Result<Self> {
        let (mut input, name): (Box<dyn Read>, String) = match path {
            "-" => (Box::new(std::io::stdin().lock()), "standard input".into()),
            _ => (Box::new(File::open(path).map_err(|e| Failure::file(path, "read", e))?), path.into()),
        };
        if path.to_ascii_lowercase().ends_with(".json") {
            return Source::json(input, name);
        }
        let mut start = Vec::new();
        input.by_ref().take(6).read_to_end(&mut start).map_err(|e| Failure::file(&name, "read", e))?;
        let is_npy = start == b"\x93NUMPY";
        let mut input: Box<dyn Read> = Box::new(BufReader::with_capacity(1 << 16, Cursor::new(start).chain(input)));
        if !is_npy {
            return Ok(Source { name, shape: None, typestr: None, from: From::Bytes(input) });
        }
        let header = npy::read_header(&mut input, &name)?;
        if header.fortran && header.shape.len() > 1 {
            input = Box::new(Cursor::new(transposed(input, &header, &name)?));
        }
        Ok(Source { name, shape: Some(header.shape), typestr: Some(header.typestr), from: From::Bytes(input) })
    }
    fn json(input: Box<dyn Read>, name: String) -> Result<Self> {
        let wrong = |why: &str| {
            Failure::bad_data(format!("{name} is not the JSON of a read: {why}")).hint("it is {\"shape\": […], \"values\": […]}")
        };
        let mut value: Value = serde_json::from_reader(BufReader::new(input)).map_err(|e| wrong(&e.to_string()))?;
        let shape: Option<Vec<u64>> = match value.get("shape") {
            Some(Value::Array(lengths)) => lengths.iter().map(Value::as_u64).collect(),
            _ => None,
        };
        let shape = shape.ok_or_else(|| wrong("\"shape\" is not a list of lengths"))?;
        let Some(Value::Array(values)) = value.get_mut("values").map(Value::take) else {
            return Err(wrong("\"values\" is not a list"));
        };
        if shape.iter().try_fold(1u64, |n, &l| n.checked_mul(l)) != Some(values.len() as u64) {
            return Err(wrong(&format!("{} values do not fill a shape of {}", values.len(), render::shape(&shape))));
        }
        Ok(Source { name, shape: Some(shape), typestr: None, from: From::Json(values.into_iter()) })
    }
    /// Where it comes from, for messages.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// The shape that it says it has.
    pub fn shape(&self) -> Option<&[u64]> {
        self.shape.as_deref()
    }
    /// The type that it says it has.
    pub fn typestr(&self) -> Option<&TypeStr> {
        self.typestr.as_ref()
    }
    /// Checks that its elements can be written as `data_type`; `cast` allows other types whose values fit.
    pub fn check_type(&self, data_type: &DataType, cast: bool) -> Result<()> {
        match (&self.typestr, &self.from) {
            (None, From::Bytes(_)) if data_type.size().is_none() => {
                Err(Failure::usage(format!("bare bytes cannot be elements of type {data_type}, whose lengths vary"))
                    .hint("give the values as JSON: --from values.json with {\"shape\": […], \"values\": […]}"))
            }
            (Some(typestr), _) if !cast && !same_type(&typestr.data_type, data_type) => {
                Err(Failure::usage(format!("{} holds elements of type {}, the array's are {data_type}", self.name, typestr.data_type))
                    .hint("--cast converts value by value and refuses what does not fit"))
            }
            _ => Ok(()),
        }
    }
    /// The next `count` elements as `data_type`.
    pub fn take(&mut self, count: usize, data_type: &DataType) -> Result<Elements> {
        let name = self.name.clone();
        match &mut self.from {
            From::Json(values) => {
                let refused = |e: gingham::core::dtype::DataTypeError| Failure::usage(format!("{name}: {e}"));
                build(values.take(count).map(|v| parse_element(data_type, &v).map_err(refused)), data_type)
            }
            From::Bytes(input) => {
                let stored = self.typestr.as_ref().map_or(data_type, |t| &t.data_type);
                let mut bytes = exactly(input, stored, count, &name)?;
                if let Some(typestr) = &self.typestr {
                    to_little(typestr, &mut bytes, &name)?;
                }
                if same_type(stored, data_type) { Ok(Elements::Fixed(bytes)) } else { cast(&bytes, stored, data_type, count, &name) }
            }
        }
    }
    /// Everything in it, with its shape.
    pub fn take_all(mut self, shape: &[u64], data_type: &DataType) -> Result<Elements> {
        let count = shape.iter().try_fold(1u64, |n, &l| n.checked_mul(l)).and_then(|n| usize::try_from(n).ok());
        let count = count.ok_or_else(|| Failure::usage(format!("a shape of {} does not fit into memory", render::shape(shape))))?;
        let elements = self.take(count, data_type)?;
        self.end()?;
        Ok(elements)
    }
    /// Checks that nothing follows.
    pub fn end(&mut self) -> Result<()> {
        let From::Bytes(input) = &mut self.from else { return Ok(()) };
        let mut one = [0];
        match input.read(&mut one) {
            Ok(0) => Ok(()),
            Ok(_) => {
                Err(Failure::usage(format!("{} holds more elements than were asked for", self.name)).hint("all that fit have been written"))
            }
            Err(e) => Err(Failure::file(&self.name, "read", e)),
        }
    }
}

/// True where elements of one type are, byte by byte, elements of the other.
fn same_type(a: &DataType, b: &DataType) -> bool {
    use DataType::*;
    match (a, b) {
        (Int8, Int2 | Int4) | (UInt8, UInt2 | UInt4) => false,
        (Raw(n), other) => Some(*n) == other.size() && (a == b || !matches!(other, Struct(_))),
        _ => a == b,
    }
}

fn exactly(input: &mut dyn Read, data_type: &DataType, count: usize, name: &str) -> Result<Vec<u8>> {
    let size = data_type.size().unwrap_or(1);
    let length = (size as u64).checked_mul(count as u64).ok_or_else(|| Failure::usage("more than 2^64 bytes are asked for"))?;
    // Grows as data comes: a count that is a lie costs nothing.
    let mut bytes = Vec::new();
    input.take(length).read_to_end(&mut bytes).map_err(|e| Failure::file(name, "read", e))?;
    if bytes.len() as u64 != length {
        return Err(Failure::usage(format!("{name} ends early: {} of {length} bytes", bytes.len()))
            .hint(format!("{count} elements of type {data_type} take {size} bytes each")));
    }
    Ok(bytes)
}

fn to_little(typestr: &TypeStr, bytes: &mut [u8], name: &str) -> Result<()> {
    match typestr.uniform() {
        Some(Endian::Little) => Ok(()),
        Some(Endian::Big) => {
            typestr.data_type.swap_bytes(bytes);
            Ok(())
        }
        None if typestr.order.iter().all(|o| *o == Endian::Little) => Ok(()),
        None => Err(Failure::bad_data(format!("the members of {name} have different byte orders"))
            .hint("save it with one byte order for all members")),
    }
}

fn cast(bytes: &[u8], from: &DataType, to: &DataType, count: usize, name: &str) -> Result<Elements> {
    let size = from.size().unwrap_or(1).max(1);
    let convert = |element: &[u8]| {
        let value = whole(format_element(from, element, Spelling::Plain), to);
        parse_element(to, &value).map_err(|e| Failure::usage(format!("{name}: {value} does not fit the array: {e}")))
    };
    build(bytes.chunks_exact(size).take(count).map(convert), to)
}

/// A float that is a whole number counts as one where the target holds whole numbers.
fn whole(value: Value, to: &DataType) -> Value {
    use DataType::*;
    let integers = matches!(to, Int2 | Int4 | Int8 | Int16 | Int32 | Int64 | UInt2 | UInt4 | UInt8 | UInt16 | UInt32 | UInt64);
    match value.as_f64() {
        // 2^53: every whole float up to there is exact.
        Some(f) if integers && value.is_f64() && f.fract() == 0.0 && f.abs() <= 9007199254740992.0 => Value::from(f as i64),
        _ => value,
    }
}

fn build(contents: impl Iterator<Item = Result<Vec<u8>>>, data_type: &DataType) -> Result<Elements> {
    if data_type.size().is_some() {
        let mut all = Vec::new();
        for content in contents {
            all.extend_from_slice(&content?);
        }
        return Ok(Elements::Fixed(all));
    }
    let mut all = Variable::new();
    for content in contents {
        all.push(&content?);
    }
    Ok(Elements::Variable(all))
}

/// Reads a whole file in Fortran order into C order.
fn transposed(mut input: Box<dyn Read>, header: &npy::Header, name: &str) -> Result<Vec<u8>> {
    let size = header.typestr.data_type.size().unwrap_or(1);
    let count = header.shape.iter().try_fold(1u64, |n, &l| n.checked_mul(l)).and_then(|n| usize::try_from(n).ok());
    let count = count.ok_or_else(|| Failure::bad_data(format!("{name} says that it has more elements than fit into memory")))?;
    let bytes = exactly(&mut input, &header.typestr.data_type, count, name)?;
    let mut extra = Vec::new();
    input.take(1).read_to_end(&mut extra).map_err(|e| Failure::file(name, "read", e))?;
    let mut out = Vec::with_capacity(bytes.len() + extra.len());
    let mut at = vec![0u64; header.shape.len()];
    for _ in 0..count {
        // The element's place with the first axis fastest.
        let place = at.iter().zip(&header.shape).rev().fold(0u64, |n, (&i, &l)| n * l + i) as usize;
        out.extend_from_slice(&bytes[place * size..(place + 1) * size]);
        for i in (0..at.len()).rev() {
            at[i] += 1;
            if at[i] < header.shape[i] {
                break;
            }
            at[i] = 0;
        }
    }
    out.extend_from_slice(&extra);
    Ok(out)
}
