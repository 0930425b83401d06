//! `gingham checksum`: SHA-256 of decoded values, the same for every layout of the same data.

use std::io::Write;

use clap::Args;
use gingham::{Array, Node};
use gingham_ops::convert::Event;
use serde_json::{Value, json};

use crate::context::Context;
use crate::error::{Failure, Result};
use crate::exit::Exit;
use crate::location;
use crate::progress::Progress;
use crate::render;

/// What was typed.
#[derive(Debug, Args)]
#[command(after_help = "\
The hash is of the elements in C order, little-endian, whatever their chunks, codecs and byte order;
text and other elements of varying length are hashed as the JSON list of their values.

Examples:
  gingham checksum data.zarr
  diff <(gingham checksum old.zarr) <(gingham checksum new.zarr) && echo the same
  gingham checksum --json s3://bucket/data.zarr/t2m")]
pub struct Arguments {
    /// Array or group: path or URL
    location: String,
}

/// Hashes every array.
pub fn run(arguments: Arguments, context: &Context) -> Result<Exit> {
    let root = location::node(context, &arguments.location)?;
    if let Node::Group(group) = &root {
        location::warn_of(context, group);
    }
    let entries = location::walk(root)?;
    let elements = |node: &Node| match node {
        Node::Array(a) => a.shape().iter().fold(1u64, |n, &l| n.saturating_mul(l)),
        Node::Group(_) => 0,
    };
    let total = entries.iter().flat_map(|e| &e.node).map(elements).fold(0, u64::saturating_add);
    let progress = Progress::new(context, "hashing", total);
    let mut out = context.text();
    let mut failed = 0u64;
    for entry in entries {
        let path = entry.relative;
        let line = match entry.node {
            Ok(Node::Group(_)) => continue,
            Ok(Node::Array(array)) => one(&array, &path, &progress),
            Err(error) => Err(error),
        };
        failed += u64::from(line.is_err());
        let text = match line {
            Ok(row) if context.json => row.to_string(),
            Ok(row) => format!("{}  {}", row["sha256"].as_str().unwrap_or_default(), name(&path)),
            Err(error) if context.json => json!({ "path": path, "error": sentence(&error) }).to_string(),
            Err(error) => {
                progress.suspend(|| context.warn(&format!("{}: {}", name(&path), sentence(&error))));
                continue;
            }
        };
        // Each line is out before the next array is begun.
        writeln!(out, "{text}")?;
        out.flush()?;
    }
    progress.finish();
    match failed {
        0 => Ok(Exit::Done),
        n => Err(Failure::bad_data(format!("{} could not be read", render::plural(n, "array", "arrays"))).at(arguments.location)),
    }
}

fn one(array: &Array, path: &str, progress: &Progress) -> gingham::Result<Value> {
    let elements = array.shape().iter().fold(1u64, |n, &l| n.saturating_mul(l));
    progress.event(&Event::Start { path: path.into(), elements });
    let hash = gingham_ops::checksum::checksum(array, &|done| progress.event(&Event::Elements { path: path.into(), done }));
    progress.event(&Event::Done { path: path.into() });
    Ok(json!({ "path": path, "shape": array.shape(), "data_type": array.data_type().name(), "sha256": hash? }))
}

fn name(path: &str) -> &str {
    if path.is_empty() { "." } else { path }
}

/// The error and where it is, on one line.
fn sentence(error: &gingham::Error) -> String {
    let place = error.place().to_string();
    if place.is_empty() { error.to_string() } else { format!("{error} (at {place})") }
}
