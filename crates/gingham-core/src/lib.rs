//! What a Zarr array is, without a byte of it being read.
//!
//! An array is four things; three of them live here as values, the fourth is where bytes come from:
//!
//! ```text
//!   document  ── meta ──┬─ dtype   what an element is, and the fill value
//!                       ├─ grid    where the cuts are
//!                       ├─ codec   how a chunk's elements become bytes (specifications only)
//!                       └─ key     which key a chunk has in the store
//!   region ── what a reader asks for;  cost ── what that touches, decodes and fetches
//! ```
//!
//! No I/O, no threads, no C: the crate also builds for wasm32, where the page uses the same arithmetic.
#![forbid(unsafe_code)]

pub mod codec;
pub mod cost;
pub mod dtype;
mod extension;
pub mod grid;
pub mod json;
pub mod key;
pub mod meta;
pub mod path;
pub mod region;

/// One number per axis (lengths, offsets, indices). Eight axes fit without an allocation.
pub type Shape = smallvec::SmallVec<[u64; 8]>;
