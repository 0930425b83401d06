//! gingham — Zarr, cut to fit.
//!
//! Opens, reads and writes Zarr arrays of format 2 and 3, on regular and rectilinear grids, sharded or not, wherever
//! their bytes lie.
//!
//! ```text
//!   region + grid + chain ──► plan ──► fetch ──► decode ──► place
//!                            (pure)  (a driver)  (workers)  (strided copy)
//! ```
//!
//! A plan is a value: it prints, tests compare it, and nothing was fetched yet. Only the driver waits.

mod array;
mod create;
pub mod drive;
mod element;
mod error;
mod explain;
mod group;
mod hierarchy;
mod open;
mod options;
pub mod read;
pub mod write;

pub use array::{Array, Stored};
pub use create::NewArray;
pub use element::Element;
pub use error::{Error, Kind, Place, Result};
pub use group::{Entry, Group};
pub use hierarchy::{Above, consolidated_above};
pub use open::{Node, open, open_url};
pub use options::{Consolidated, Missing, Options};
pub use read::output::Buffer;
pub use read::plan::{Piece, Plan};

pub use gingham_codec as codec;
pub use gingham_core as core;
pub use gingham_core::dtype::{DataType, Elements, FillValue, Variable};
pub use gingham_core::grid::{Axis, Grid};
pub use gingham_core::meta::Format;
pub use gingham_core::region::{Index, Region, Selection};
pub use gingham_store as store;
pub use gingham_store::Store;
