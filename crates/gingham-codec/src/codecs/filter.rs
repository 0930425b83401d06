//! What numcodecs' array filters have in common: they see a flat run of one numeric type and give another.
//!
//! Stands between a [`TypeStr`] of their configuration and the numeric type to compute in. Byte order is left to `bytes`.

use gingham_core::dtype::{DataType, FillValue, TypeStr};

use super::numbers::Kind;
use crate::{CodecFault, Rep, Result};

/// The numeric type of a configured dtype.
pub(crate) fn kind_of(codec: &str, member: &str, typestr: &TypeStr) -> Result<Kind> {
    Kind::of(&typestr.data_type).ok_or_else(|| {
        CodecFault::unsupported(codec, format!("\"{member}\" must be a bool, an integer or a float, not {}", typestr.data_type))
    })
}

/// That the array's elements can be seen as the configured `dtype`, as numpy's `view` does: they have its width.
pub(crate) fn check_view(codec: &str, input: &DataType, dtype: Kind) -> Result<()> {
    match Kind::of(input) {
        Some(kind) if kind.width() == dtype.width() => Ok(()),
        _ => Err(CodecFault::unsupported(codec, format!("the array is {input}, but \"dtype\" is {dtype:?}"))),
    }
}

/// The representation behind a filter. A fill value that has no counterpart becomes the type's own: no filter stores it,
/// since a missing chunk is filled in front of them.
pub(crate) fn behind(input: &Rep, astype: &TypeStr, fill: Option<Vec<u8>>) -> Rep {
    Rep {
        data_type: astype.data_type.clone(),
        shape: input.shape.clone(),
        fill: fill.map_or_else(|| astype.data_type.default_fill(), FillValue::new),
    }
}
