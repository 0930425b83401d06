//! The table of codecs: from a specification to the code.
//!
//! A new codec is a file in `codecs/` and a line here.

use gingham_core::codec::Codec;

use crate::{ArrayToArray, ArrayToBytes, BytesToBytes, Result};

/// The code of an array→array codec.
pub fn array_to_array(codec: &Codec) -> Result<Box<dyn ArrayToArray>> {
    let _ = codec;
    todo!()
}

/// The code of an array→bytes codec other than `sharding_indexed` (the chain makes that one).
pub fn array_to_bytes(codec: &Codec) -> Result<Box<dyn ArrayToBytes>> {
    let _ = codec;
    todo!()
}

/// The code of a bytes→bytes codec.
pub fn bytes_to_bytes(codec: &Codec) -> Result<Box<dyn BytesToBytes>> {
    let _ = codec;
    todo!()
}
