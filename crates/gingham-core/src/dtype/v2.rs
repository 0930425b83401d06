//! v2 type strings (`<i4`, `|S8`, `<M8[25s]`, lists of members).

use super::scalar::shown;
use super::v3::{Fields, plain};
use super::{DataType, DataTypeError, Endian, Field, Float, MAX_DEPTH, TOO_LARGE, TimeUnit};
use crate::json::Value;

/// The name that `|O` has until a filter says what the objects are.
pub(super) const OBJECT: &str = "object";

/// A v2 dtype: the type, and the byte order of each of its leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeStr {
    /// The type without byte order. `|O` is [`DataType::Unknown`] named "object" until a filter says what it holds.
    pub data_type: DataType,
    /// Byte order, one per leaf component in order for structs (nested members flattened), one entry otherwise.
    /// Leaves of one byte count as little. The leaves are those of [`DataType::leaves`].
    pub order: Vec<Endian>,
}

impl TypeStr {
    /// A type with one byte order all through.
    pub fn new(data_type: DataType, endian: Endian) -> Self {
        let order = data_type.leaves().iter().map(|leaf| if leaf.width > 1 { endian } else { Endian::Little }).collect();
        TypeStr { data_type, order }
    }
    /// The one byte order of all leaves that have one, or `None` where they differ. Little where no leaf has one.
    pub fn uniform(&self) -> Option<Endian> {
        let leaves = self.data_type.leaves();
        let mut wide = leaves.iter().enumerate().filter(|(_, leaf)| leaf.width > 1).map(|(i, _)| self.order_of(i));
        let Some(first) = wide.next() else { return Some(Endian::Little) };
        wide.all(|endian| endian == first).then_some(first)
    }
    fn order_of(&self, leaf: usize) -> Endian {
        self.order.get(leaf).copied().unwrap_or(Endian::Little)
    }
}

/// Reads a v2 `dtype` member. Also takes numpy names (`uint8`, `float32`) as the `numcodecs.*` codecs write them.
///
/// ```
/// use gingham_core::dtype::{DataType, Endian, parse_v2};
/// let typestr = parse_v2(&serde_json::json!([["a", "<i4"], ["b", ">u2"]])).unwrap();
/// assert_eq!(typestr.data_type.size(), Some(6));
/// assert_eq!(typestr.order, [Endian::Little, Endian::Big]);
/// ```
pub fn parse_v2(value: &Value) -> Result<TypeStr, DataTypeError> {
    let mut order = Vec::new();
    let data_type = parse(value, 0, &mut order)?;
    Ok(TypeStr { data_type, order })
}

fn parse(value: &Value, depth: usize, order: &mut Vec<Endian>) -> Result<DataType, DataTypeError> {
    match value {
        Value::String(text) => {
            let (data_type, endian) = scalar(text)?;
            order.push(endian);
            Ok(data_type)
        }
        Value::Array(members) => structure(members, depth, order),
        other => Err(DataTypeError::new(format!(
            "{} is not a dtype: a type string such as \"<f4\" or a list of fields is expected",
            shown(other)
        ))),
    }
}

fn structure(members: &[Value], depth: usize, order: &mut Vec<Endian>) -> Result<DataType, DataTypeError> {
    if depth >= MAX_DEPTH {
        return Err(DataTypeError::new(format!("structs are nested more than {MAX_DEPTH} deep")));
    }
    if members.is_empty() {
        return Err(DataTypeError::new("a structured dtype has at least one field"));
    }
    let mut fields = Fields::default();
    for (i, member) in members.iter().enumerate() {
        let (name, data_type) = field(member, i, depth, order).map_err(|e| e.below(i))?;
        fields.push(name, data_type).map_err(|e| e.below(i))?;
    }
    Ok(DataType::Struct(fields.list))
}

/// `[name, type]` or `[name, type, shape]`. numpy calls a field without a name (the padding of an aligned struct) by its place: f3.
fn field(member: &Value, i: usize, depth: usize, order: &mut Vec<Endian>) -> Result<(String, DataType), DataTypeError> {
    let malformed = || DataTypeError::new("a field of a dtype is a list [name, type] or [name, type, shape]");
    let (name, item, shape) = match member.as_array().map(Vec::as_slice) {
        Some([Value::String(name), item]) => (name, item, None),
        Some([Value::String(name), item, shape]) => (name, item, Some(shape)),
        _ => return Err(malformed()),
    };
    let name = if name.is_empty() { format!("f{i}") } else { name.clone() };
    let item = parse(item, depth + 1, order).map_err(|e| e.below(1))?;
    let shape = match shape {
        Some(shape) => sub_array_shape(shape).map_err(|e| e.below(2))?,
        None => Vec::new(),
    };
    if shape.is_empty() || item.size().is_none() {
        return Ok((name, item));
    }
    let array = DataType::FixedArray { item: Box::new(item), shape };
    match array.size() {
        Some(size) if size < TOO_LARGE => Ok((name, array)),
        _ => Err(DataTypeError::new(format!("the sub-array has too many bytes; fewer than {TOO_LARGE} are possible")).below(2)),
    }
}

/// At most 32 axes, as numpy had; lengths from 1.
fn sub_array_shape(value: &Value) -> Result<Vec<u64>, DataTypeError> {
    let lengths = match value {
        Value::Array(list) => list.as_slice(),
        number => std::slice::from_ref(number),
    };
    if lengths.len() > 32 {
        return Err(DataTypeError::new(format!("a sub-array of {} axes; 32 are possible", lengths.len())));
    }
    let length = |v: &Value| v.as_u64().filter(|&n| n > 0);
    let shape: Option<Vec<u64>> = lengths.iter().map(length).collect();
    shape.ok_or_else(|| DataTypeError::new(format!("{} is not the shape of a sub-array: lengths of 1 and more are expected", shown(value))))
}

/// A type string or a name.
fn scalar(text: &str) -> Result<(DataType, Endian), DataTypeError> {
    let malformed = || {
        let what = format!("{} is not a type string of v2, such as \"<f4\", \"|u1\", \"|S8\" or \"<M8[ns]\"", shown(&Value::from(text)));
        DataTypeError::new(what)
    };
    let (order, rest) = match text.split_at_checked(1) {
        Some(("<", rest)) => (Some(Endian::Little), rest),
        Some((">", rest)) => (Some(Endian::Big), rest),
        Some(("|", rest)) => (None, rest),
        _ => return by_name(text).map(|data_type| (data_type, Endian::Little)).ok_or_else(malformed),
    };
    let kind = rest.chars().next().ok_or_else(malformed)?;
    let rest = &rest[kind.len_utf8()..];
    let data_type = match kind {
        'M' | 'm' => time(kind, rest).map_err(|what| DataTypeError::new(format!("{}: {what}", shown(&Value::from(text)))))?,
        'O' if rest.is_empty() || matches!(rest, "4" | "8") => unknown(OBJECT),
        _ => sized(text, kind, number(rest).ok_or_else(malformed)?).ok_or_else(malformed)??,
    };
    if data_type.needs_endian() && order.is_none() {
        return Err(DataTypeError::new(format!("\"{text}\" says no byte order: \"<\" or \">\" is expected instead of \"|\"")));
    }
    let endian = if data_type.needs_endian() { order.unwrap_or(Endian::Little) } else { Endian::Little };
    Ok((data_type, endian))
}

fn unknown(name: &str) -> DataType {
    DataType::Unknown { name: name.to_string(), configuration: None }
}

/// Decimal digits without sign, not zero.
fn number(digits: &str) -> Option<u64> {
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok().filter(|&n| n > 0)
}

/// A kind with a size; `None` where there is none such.
fn sized(text: &str, kind: char, size: u64) -> Option<Result<DataType, DataTypeError>> {
    let bytes = if kind == 'U' { size.saturating_mul(4) } else { size };
    if bytes >= TOO_LARGE as u64 {
        let what = format!("an element of \"{text}\" has {bytes} bytes; fewer than {TOO_LARGE} are possible");
        return Some(Err(DataTypeError::new(what)));
    }
    Some(Ok(match (kind, size) {
        ('b', 1) => DataType::Bool,
        ('i', 1) => DataType::Int8,
        ('i', 2) => DataType::Int16,
        ('i', 4) => DataType::Int32,
        ('i', 8) => DataType::Int64,
        ('u', 1) => DataType::UInt8,
        ('u', 2) => DataType::UInt16,
        ('u', 4) => DataType::UInt32,
        ('u', 8) => DataType::UInt64,
        ('f', 2) => DataType::Float(Float::F16),
        ('f', 4) => DataType::Float(Float::F32),
        ('f', 8) => DataType::Float(Float::F64),
        ('c', 8) => DataType::Complex(Float::F32),
        ('c', 16) => DataType::Complex(Float::F64),
        ('S', n) => DataType::FixedBytes(n as usize),
        ('U', n) => DataType::FixedUtf32(n as usize),
        ('V', n) => DataType::Raw(n as usize),
        // Long doubles: their bytes depend on the machine that wrote them.
        ('f', 12 | 16) | ('c', 24 | 32) => unknown(text),
        _ => return None,
    }))
}

/// `8`, `8[ns]`, `8[25s]` after the kind.
fn time(kind: char, rest: &str) -> Result<DataType, String> {
    let rest = rest.strip_prefix('8').ok_or("dates and time spans have 8 bytes")?;
    let (unit, scale) = if rest.is_empty() { (TimeUnit::Generic, 1) } else { unit_and_scale(rest)? };
    Ok(if kind == 'M' { DataType::DateTime { unit, scale } } else { DataType::TimeDelta { unit, scale } })
}

fn unit_and_scale(bracketed: &str) -> Result<(TimeUnit, u32), String> {
    let inner = bracketed.strip_prefix('[').and_then(|s| s.strip_suffix(']')).ok_or("a unit in brackets is expected, such as [ns]")?;
    let digits = inner.bytes().take_while(u8::is_ascii_digit).count();
    let (scale, unit) = inner.split_at(digits);
    let scale = match scale {
        "" => 1,
        digits => {
            digits.parse::<u32>().ok().filter(|s| (1..=0x7fff_ffff).contains(s)).ok_or("the multiplier of a unit is 1 to 2147483647")?
        }
    };
    let unit = TimeUnit::from_name(unit).ok_or_else(|| format!("\"{unit}\" is not a unit; the units are {}", TimeUnit::all_names()))?;
    Ok((unit, scale))
}

/// numpy's names, and those of the types that numpy has not: tensorstore names them so in v2 too.
fn by_name(name: &str) -> Option<DataType> {
    let time = [("datetime64", 'M'), ("timedelta64", 'm')]
        .into_iter()
        .find_map(|(prefix, kind)| name.strip_prefix(prefix).map(|rest| self::time(kind, &format!("8{rest}"))));
    match (time, name) {
        (Some(time), _) => time.ok(),
        (None, OBJECT) => Some(unknown(OBJECT)),
        (None, name) => plain(name).filter(|t| t.size().is_some()),
    }
}

/// Writes a v2 `dtype` member, or says why v2 has no such type.
pub fn to_v2(typestr: &TypeStr) -> Result<Value, DataTypeError> {
    print(&typestr.data_type, typestr, &mut 0)
}

fn print(data_type: &DataType, typestr: &TypeStr, leaf: &mut usize) -> Result<Value, DataTypeError> {
    if let DataType::Struct(fields) = data_type {
        let members = fields.iter().enumerate().map(|(i, f)| print_field(f, typestr, leaf).map_err(|e| e.below(i)));
        return members.collect::<Result<_, _>>().map(Value::Array);
    }
    let endian = if data_type.needs_endian() { typestr.order_of(*leaf) } else { Endian::Little };
    *leaf += 1;
    let mark = match (data_type.needs_endian(), endian) {
        (false, _) => '|',
        (true, Endian::Little) => '<',
        (true, Endian::Big) => '>',
    };
    let time = |kind: char, unit: &TimeUnit, scale: &u32| match (unit, scale) {
        (TimeUnit::Generic, 1) => format!("{mark}{kind}8"),
        (unit, 1) => format!("{mark}{kind}8[{}]", unit.name()),
        (unit, scale) => format!("{mark}{kind}8[{scale}{}]", unit.name()),
    };
    let refuse = || Err(DataTypeError::new(format!("v2 has no dtype for {data_type}")));
    let size = data_type.size().unwrap_or(0);
    Ok(Value::String(match data_type {
        DataType::Bool => "|b1".to_string(),
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => format!("{mark}i{size}"),
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => format!("{mark}u{size}"),
        DataType::Float(Float::F16 | Float::F32 | Float::F64) => format!("{mark}f{size}"),
        DataType::Complex(Float::F32 | Float::F64) => format!("{mark}c{size}"),
        DataType::FixedBytes(n) => format!("|S{n}"),
        DataType::FixedUtf32(n) => format!("{mark}U{n}"),
        DataType::Raw(n) => format!("|V{n}"),
        DataType::DateTime { unit, scale } => time('M', unit, scale),
        DataType::TimeDelta { unit, scale } => time('m', unit, scale),
        DataType::String | DataType::Bytes | DataType::VlenArray(_) | DataType::Json => "|O".to_string(),
        DataType::Unknown { name, .. } if name == OBJECT => "|O".to_string(),
        DataType::Unknown { name, .. } if name.starts_with(['<', '>', '|']) => name.clone(),
        DataType::Float(_) | DataType::Int2 | DataType::Int4 | DataType::UInt2 | DataType::UInt4 if endian == Endian::Little => {
            data_type.name()
        }
        _ => return refuse(),
    }))
}

fn print_field(field: &Field, typestr: &TypeStr, leaf: &mut usize) -> Result<Value, DataTypeError> {
    Ok(match &field.data_type {
        DataType::FixedArray { item, shape } => serde_json::json!([field.name, print(item, typestr, leaf)?, shape]),
        other => serde_json::json!([field.name, print(other, typestr, leaf)?]),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    fn ok(value: Value) -> TypeStr {
        parse_v2(&value).unwrap()
    }

    #[test]
    fn type_strings_are_written_as_they_were_read() {
        let strings = [
            "|b1",
            "|i1",
            "<i2",
            ">i4",
            "<i8",
            "|u1",
            ">u2",
            "<u4",
            ">u8",
            "<f2",
            ">f4",
            "<f8",
            "<c8",
            ">c16",
            "|S1",
            "|S400",
            "<U3",
            ">U3",
            "|V3",
            "<M8[25s]",
            ">M8[ns]",
            "<M8",
            "<m8",
            "<m8[D]",
            ">m8[7as]",
            "|O",
            "<f16",
            ">c32",
            "bfloat16",
            "float8_e5m2",
            "int4",
        ];
        for text in strings {
            assert_eq!(to_v2(&ok(json!(text))).unwrap(), json!(text));
        }
        let structs = [
            json!([["a", "<i4"], ["b", ">u2"]]),
            json!([["a", "|u1"], ["in", [["x", ">f8"], ["y", [["z", "<c8"]]]]], ["t", "<M8[25s]"]]),
            json!([["id", "<i4"], ["pos", "<f4", [3]], ["box", [["lo", ">i2"], ["hi", "<i2"]], [2, 2]]]),
        ];
        for value in structs {
            assert_eq!(to_v2(&ok(value.clone())).unwrap(), value);
        }
    }

    #[test]
    fn ncc_2062_one_byte_types_take_any_mark_and_are_written_with_a_bar() {
        for (text, written) in
            [("|u1", "|u1"), ("<u1", "|u1"), (">u1", "|u1"), ("<i1", "|i1"), ("<b1", "|b1"), (">S3", "|S3"), ("<V3", "|V3")]
        {
            let typestr = ok(json!(text));
            assert_eq!(typestr.order, [Endian::Little]);
            assert_eq!(to_v2(&typestr).unwrap(), json!(written));
        }
    }

    #[test]
    fn zp_3583_sub_arrays_count_in_the_size() {
        let typestr = ok(json!([["id", "<i4"], ["pos", "<f4", [3]]]));
        assert_eq!(typestr.data_type.size(), Some(16));
        assert_eq!(typestr.order.len(), 2);
        assert_eq!(typestr.data_type.to_string(), "struct {id: int32, pos: float32[3]}");
        assert_eq!(ok(json!([["a", "<i4", []]])), ok(json!([["a", "<i4"]])));
        assert_eq!(ok(json!([["a", "<i4", 3]])), ok(json!([["a", "<i4", [3]]])));
    }

    #[test]
    fn byte_orders_of_leaves() {
        assert_eq!(ok(json!(">i4")).uniform(), Some(Endian::Big));
        assert_eq!(ok(json!("|S4")).uniform(), Some(Endian::Little));
        assert_eq!(ok(json!([["a", "|u1"], ["b", ">i4"], ["c", [["d", ">f8"]]]])).uniform(), Some(Endian::Big));
        assert_eq!(ok(json!([["a", "<i4"], ["b", ">i4"]])).uniform(), None);
        assert_eq!(TypeStr::new(ok(json!([["a", "|u1"], ["b", "<i4"]])).data_type, Endian::Big).order, [Endian::Little, Endian::Big]);
    }

    #[test]
    fn names_of_numpy_are_read() {
        let names =
            [("uint8", "|u1"), ("float32", "<f4"), ("bool", "|b1"), ("complex64", "<c8"), ("datetime64[ns]", "<M8[ns]"), ("object", "|O")];
        for (name, text) in names {
            assert_eq!(ok(json!(name)), ok(json!(text)));
        }
    }

    #[test]
    fn fields_without_a_name_are_called_by_their_place_as_numpy_does() {
        let typestr = ok(json!([["a", "|i1"], ["", "|V3"], ["b", "<i4"]]));
        assert_eq!(typestr.data_type.to_string(), "struct {a: int8, f1: r24, b: int32}");
    }

    #[test]
    fn bad_dtypes_are_refused_where_they_are_bad() {
        let cases = [
            (json!("|i4"), ""),
            (json!("i4"), ""),
            (json!("=i4"), ""),
            (json!("<i3"), ""),
            (json!("<f5"), ""),
            (json!("|S0"), ""),
            (json!("|U3"), ""),
            (json!("<U0"), ""),
            (json!("<U536870912"), ""),
            (json!("|V2147483648"), ""),
            (json!("|S99999999999999999999999999"), ""),
            (json!("|S+4"), ""),
            (json!("<"), ""),
            (json!(""), ""),
            (json!("<é4"), ""),
            (json!("é4"), ""),
            (json!("<M8[]"), ""),
            (json!("<M8[x]"), ""),
            (json!("<M8[0s]"), ""),
            (json!("<M8[2147483648s]"), ""),
            (json!("<M8[s"), ""),
            (json!("<M4[s]"), ""),
            (json!("|M8[s]"), ""),
            (json!("string"), ""),
            (json!(4), ""),
            (json!(null), ""),
            (json!([]), ""),
            (json!(["<i4"]), "/0"),
            (json!([["a"]]), "/0"),
            (json!([["a", "<i4"], ["a", "<i4"]]), "/1"),
            (json!([["f1", "<i4"], ["", "<i4"]]), "/1"),
            (json!([["a", "<x4"]]), "/0/1"),
            (json!([["a", "|O"]]), "/0"),
            (json!([["a", [["b", "|i4"]]]]), "/0/1/0/1"),
            (json!([["a", "<i4", [0]]]), "/0/2"),
            (json!([["a", "<i4", [-1]]]), "/0/2"),
            (json!([["a", "<i4", "3"]]), "/0/2"),
            (json!([["a", "<i4", [65536, 65536, 65536, 65536, 65536]]]), "/0/2"),
            (json!([["a", "<i4", [536870912]]]), "/0/2"),
            (json!([["a", "|V1073741824"], ["b", "|V1073741824"]]), "/1"),
        ];
        for (value, pointer) in cases {
            let error = parse_v2(&value).unwrap_err();
            assert_eq!(error.pointer, pointer, "{value}: {error}");
        }
        let deep = |depth: usize| (0..depth).fold(json!("<i4"), |inner, _| json!([["a", inner]]));
        assert_eq!(ok(deep(32)).data_type.size(), Some(4));
        assert!(parse_v2(&deep(33)).is_err());
    }

    #[test]
    fn types_of_v3_alone_are_not_written() {
        for data_type in [DataType::Complex(Float::F16), DataType::Unknown { name: "zarrs.optional".into(), configuration: None }] {
            assert!(to_v2(&TypeStr::new(data_type, Endian::Little)).is_err());
        }
        assert!(to_v2(&TypeStr::new(DataType::Float(Float::BFloat16), Endian::Big)).is_err());
    }
}
