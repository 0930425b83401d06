//! What each codec does to the shape and type of a chunk.

use super::{Codec, CodecError};
use crate::Shape;
use crate::dtype::DataType;

/// An array in the middle of a chain: its shape and element type.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Shaped {
    pub shape: Shape,
    pub data_type: DataType,
}

impl Codec {
    /// The shape and type behind an array→array codec; an error where the codec cannot take what it is given.
    pub fn encoded(&self, input: &Shaped) -> Result<Shaped, CodecError> {
        let _ = input;
        todo!()
    }
    /// For a codec that makes a fixed number of bytes from `decoded` bytes (checksums, shuffle): that number.
    /// For array→bytes codecs use [`Codec::encoded_size_of`].
    pub fn encoded_len(&self, decoded: u64) -> Option<u64> {
        let _ = decoded;
        todo!()
    }
    /// For an array→bytes codec with a fixed-size result (bytes, packbits): that size.
    pub fn encoded_size_of(&self, input: &Shaped) -> Option<u64> {
        let _ = input;
        todo!()
    }
}
