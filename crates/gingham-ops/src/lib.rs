//! Jobs over arrays and hierarchies: one verb per file.

pub mod checksum;
pub mod convert;
pub mod validate;
