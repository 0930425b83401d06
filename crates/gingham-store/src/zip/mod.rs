//! Zip archives as stores: read from an object of any store, written as a new file.
//!
//! [`Zip`] reads the central directory of an archive once and then each entry by its range, whether the archive is a local file
//! or lies behind a URL. [`ZipWriter`] appends stored entries to a new archive, which [`Storage::finish`](crate::Storage::finish)
//! puts in place.

mod directory;
mod read;
mod write;

pub use read::Zip;
pub use write::ZipWriter;

#[cfg(test)]
mod tests;
