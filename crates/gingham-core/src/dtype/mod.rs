//! Data types: what an element is, how wide, how it is spelled in v2 and v3, and its fill value.
//!
//! In memory an element is always **little-endian and packed**; `bytes` swaps on the way to and from a store.
//! Variable-length elements are kept as their content (UTF-8 for strings) beside a list of offsets, see [`Elements`].

mod element;
mod elements;
mod fill;
mod float;
mod layout;
mod oracle;
mod scalar;
mod time;
mod v2;
mod v3;
mod value;

#[cfg(test)]
mod tests;

pub use elements::{Elements, Variable};
pub use fill::FillValue;
pub use float::Misfit;
pub use layout::Leaf;
pub use oracle::oracle_text;
pub use v2::{TypeStr, parse_v2, to_v2};
pub use v3::{parse_v3, to_v3};
pub use value::{Spelling, format_element, parse_element};

/// A real floating-point format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the registered names say all there is
pub enum Float {
    E2M1FN,
    E2M3FN,
    E3M2FN,
    E3M4,
    E4M3,
    /// Not registered; tensorstore writes it to v2 arrays, by this name.
    E4M3FN,
    E4M3B11FNUZ,
    E4M3FNUZ,
    E5M2,
    E5M2FNUZ,
    E8M0FNU,
    BFloat16,
    F16,
    F32,
    F64,
}

/// A unit of numpy's dates and time spans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // Y M W D h m s ms us ns ps fs as generic
pub enum TimeUnit {
    Year,
    Month,
    Week,
    Day,
    Hour,
    Minute,
    Second,
    Milli,
    Micro,
    Nano,
    Pico,
    Femto,
    Atto,
    Generic,
}

/// Byte order of stored numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Endian {
    Little,
    Big,
}

/// A member of a [`DataType::Struct`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Field {
    /// The member's name.
    pub name: String,
    /// Its type; fixed size.
    pub data_type: DataType,
}

/// What an element is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // variants carry the registered names
pub enum DataType {
    Bool,
    Int2,
    Int4,
    Int8,
    Int16,
    Int32,
    Int64,
    UInt2,
    UInt4,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    Float(Float),
    /// Real part first. `complex64` is `Complex(F32)`.
    Complex(Float),
    /// `r<8N>`, `raw_bytes`, v2 `|V<N>`: N opaque bytes.
    Raw(usize),
    /// v2 `|S<N>`, `null_terminated_bytes`: N bytes, padded with NUL.
    FixedBytes(usize),
    /// v2 `<U<n>`, `fixed_length_utf32`: n code points of four bytes each, padded with NUL. The number is of code points.
    FixedUtf32(usize),
    /// numpy.datetime64: int64, NaT = i64::MIN. `scale` is the multiplier of the unit.
    DateTime {
        unit: TimeUnit,
        scale: u32,
    },
    /// numpy.timedelta64.
    TimeDelta {
        unit: TimeUnit,
        scale: u32,
    },
    /// Packed, in order.
    Struct(Vec<Field>),
    /// A fixed-length list of one type in C order: v2's sub-array members only.
    FixedArray {
        item: Box<DataType>,
        shape: Vec<u64>,
    },
    /// Variable-length UTF-8.
    String,
    /// Variable-length bytes.
    Bytes,
    /// v2 `vlen-array`: 1-D arrays of a fixed-size type; an element's content is their little-endian bytes.
    VlenArray(Box<DataType>),
    /// v2 objects through `json2` or `msgpack2`: an element's content is compact JSON text.
    Json,
    /// A type this build does not know, by its name; documents with it can be shown but not read.
    Unknown {
        name: String,
        configuration: Option<serde_json::Value>,
    },
}

/// Why a data type or a fill value is refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{what}")]
pub struct DataTypeError {
    /// A sentence: what is wrong and what would be right.
    pub what: String,
    /// JSON pointer below the value that was read, `""` for the whole.
    pub pointer: String,
}

impl DataTypeError {
    pub(super) fn new(what: impl Into<String>) -> Self {
        DataTypeError { what: what.into(), pointer: String::new() }
    }
    /// The same error seen from the value above: `token` is the member's name or the item's index.
    pub(super) fn below(mut self, token: impl std::fmt::Display) -> Self {
        let token = token.to_string().replace('~', "~0").replace('/', "~1");
        self.pointer.insert_str(0, &format!("/{token}"));
        self
    }
}

/// An element of this many bytes is refused when a type is read: sizes of elements fit an `i32`, as in numpy.
pub(super) const TOO_LARGE: usize = 1 << 31;

/// Structs within structs that are read.
pub(super) const MAX_DEPTH: usize = 32;

impl DataType {
    /// The type's name as v3 writes it (`int32`, `numpy.datetime64`, `r16`, …), for messages and `info`. Types that v3 has
    /// not are called by what they are: `fixed_array`, `vlen-array`, `json`.
    pub fn name(&self) -> String {
        let name = match self {
            DataType::Bool => "bool",
            DataType::Int2 => "int2",
            DataType::Int4 => "int4",
            DataType::Int8 => "int8",
            DataType::Int16 => "int16",
            DataType::Int32 => "int32",
            DataType::Int64 => "int64",
            DataType::UInt2 => "uint2",
            DataType::UInt4 => "uint4",
            DataType::UInt8 => "uint8",
            DataType::UInt16 => "uint16",
            DataType::UInt32 => "uint32",
            DataType::UInt64 => "uint64",
            DataType::Float(float) => float.name(),
            DataType::Complex(Float::F32) => "complex64",
            DataType::Complex(Float::F64) => "complex128",
            DataType::Complex(float) => return format!("complex_{}", float.name()),
            DataType::Raw(n) => return format!("r{}", (*n as u64).saturating_mul(8)),
            DataType::FixedBytes(_) => "null_terminated_bytes",
            DataType::FixedUtf32(_) => "fixed_length_utf32",
            DataType::DateTime { .. } => "numpy.datetime64",
            DataType::TimeDelta { .. } => "numpy.timedelta64",
            DataType::Struct(_) => "struct",
            DataType::FixedArray { .. } => "fixed_array",
            DataType::String => "string",
            DataType::Bytes => "bytes",
            DataType::VlenArray(_) => "vlen-array",
            DataType::Json => "json",
            DataType::Unknown { name, .. } => name,
        };
        name.to_string()
    }
}

impl std::fmt::Display for DataType {
    /// The type in words for `info`: `float32`, `datetime64[ns]`, `struct {a: int32, b: uint16}`, `float32[3, 2]`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let time = |f: &mut std::fmt::Formatter<'_>, kind: &str, unit: &TimeUnit, scale: &u32| match (unit, scale) {
            (TimeUnit::Generic, 1) => f.write_str(kind),
            (unit, 1) => write!(f, "{kind}[{}]", unit.name()),
            (unit, scale) => write!(f, "{kind}[{scale}{}]", unit.name()),
        };
        match self {
            DataType::DateTime { unit, scale } => time(f, "datetime64", unit, scale),
            DataType::TimeDelta { unit, scale } => time(f, "timedelta64", unit, scale),
            DataType::FixedBytes(n) => write!(f, "bytes[{n}]"),
            DataType::FixedUtf32(n) => write!(f, "utf32[{n}]"),
            DataType::FixedArray { item, shape } => {
                let shape: Vec<String> = shape.iter().map(u64::to_string).collect();
                write!(f, "{item}[{}]", shape.join(", "))
            }
            DataType::VlenArray(item) => write!(f, "{item}[*]"),
            DataType::Struct(fields) => {
                f.write_str("struct {")?;
                for (i, field) in fields.iter().enumerate() {
                    write!(f, "{}{}: {}", if i == 0 { "" } else { ", " }, field.name, field.data_type)?;
                }
                f.write_str("}")
            }
            other => f.write_str(&other.name()),
        }
    }
}
