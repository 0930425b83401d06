//! Data types: what an element is, how wide, how it is spelled in v2 and v3, and its fill value.
//!
//! In memory an element is always **little-endian and packed**; `bytes` swaps on the way to and from a store.
//! Variable-length elements are kept as their content (UTF-8 for strings) beside a list of offsets, see [`Elements`].

mod elements;
mod fill;
mod v2;
mod v3;
mod value;

pub use elements::{Elements, Variable};
pub use fill::FillValue;
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

impl DataType {
    /// Bytes of one element in memory and (uncompressed) in a chunk; `None` for variable-length types and unknown ones.
    /// Sub-byte types take one byte each.
    pub fn size(&self) -> Option<usize> {
        todo!()
    }
    /// True where an element's length varies (string, bytes, vlen-array, json).
    pub fn is_variable(&self) -> bool {
        matches!(self, DataType::String | DataType::Bytes | DataType::VlenArray(_) | DataType::Json)
    }
    /// True where a `bytes` codec must say which byte order it stores (any component wider than a byte).
    pub fn needs_endian(&self) -> bool {
        todo!()
    }
    /// Width in bytes of the number that is swapped as a whole, where it is the same all through the element
    /// (2 for int16, 4 for complex64, 1 for raw bytes); `None` for structs that mix widths and for variable-length types.
    pub fn swap_width(&self) -> Option<usize> {
        todo!()
    }
    /// Reverses the byte order of every component of the elements in `bytes`, in place.
    pub fn swap_bytes(&self, bytes: &mut [u8]) {
        let _ = bytes;
        todo!()
    }
    /// The type's name as v3 writes it (`int32`, `numpy.datetime64`, `r16`, …), for messages and `info`.
    pub fn name(&self) -> String {
        todo!()
    }
    /// The fill value that a new array gets: false, 0, 0.0, "", NaT, zero bytes.
    pub fn default_fill(&self) -> FillValue {
        todo!()
    }
}

impl std::fmt::Display for DataType {
    /// The type in words for `info`: `float32`, `datetime64[ns]`, `struct {a: int32, b: uint16}`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name())
    }
}
