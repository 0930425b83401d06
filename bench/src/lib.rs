//! What the programs of the benchmarks share.
//!
//! A program does one thing to one array, some times, in a process of its own, and prints one line of JSON:
//!
//! ```text
//!   PROGRAM OPERATION --store PLACE [--iters N] [--warm N] [--threads N] [--variant WORDS]
//!                     [--sel FILE] [--src FILE] [--dst DIR] [--batch ROWS] [--endpoint URL]
//! ```
//!
//! The programs differ in their [`Engine`] alone: what is timed, and what is not, is written once, in [`operations`].

mod arguments;
pub mod operations;
mod report;
mod sums;

pub use arguments::{Arguments, Region};
pub use operations::{Engine, run};
pub use report::Report;
pub use sums::{Sums, checksum};

/// Whatever stops a benchmark.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;
