//! Rust types that are elements of arrays.

use gingham_core::dtype::{DataType, Float};
use half::{bf16, f16};

/// A Rust type whose memory is that of an element: little-endian machines only, which is all that gingham builds for.
///
/// # Safety
/// Every bit pattern of the type's size is a valid value, and the type has no padding.
#[allow(unsafe_code)]
pub unsafe trait Element: Copy + Send + Sync + 'static {
    /// True where arrays of `data_type` can be read as this type.
    fn is(data_type: &DataType) -> bool;
}

macro_rules! element {
    ($($rust:ty => $pattern:pat),* $(,)?) => {$(
        // SAFETY: plain numbers, every bit pattern is a value.
        #[allow(unsafe_code)]
        unsafe impl Element for $rust {
            fn is(data_type: &DataType) -> bool { matches!(data_type, $pattern) }
        }
    )*};
}

element! {
    u8 => DataType::UInt8 | DataType::Bool | DataType::UInt2 | DataType::UInt4 | DataType::Raw(1),
    i8 => DataType::Int8 | DataType::Int2 | DataType::Int4,
    u16 => DataType::UInt16, i16 => DataType::Int16,
    u32 => DataType::UInt32, i32 => DataType::Int32,
    u64 => DataType::UInt64,
    i64 => DataType::Int64 | DataType::DateTime { .. } | DataType::TimeDelta { .. },
    f16 => DataType::Float(Float::F16), bf16 => DataType::Float(Float::BFloat16),
    f32 => DataType::Float(Float::F32), f64 => DataType::Float(Float::F64),
    [f32; 2] => DataType::Complex(Float::F32), [f64; 2] => DataType::Complex(Float::F64),
}
