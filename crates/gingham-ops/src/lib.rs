//! Jobs over arrays and hierarchies: one verb per file.
//!
//! ```text
//!   checksum   values ─► SHA-256, the same for every layout
//!   convert    a hierarchy ─► another layout
//!   validate   documents, keys and chunks ─► findings
//! ```

pub mod checksum;
pub mod convert;
mod python_json;
mod separator;
mod slabs;
pub mod validate;
