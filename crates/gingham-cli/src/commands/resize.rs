//! `gingham resize`: another shape.

use std::io::Write;

use clap::Args;
use serde_json::json;

use crate::chunks_text;
use crate::context::Context;
use crate::error::{Failure, Result};
use crate::exit::Exit;
use crate::location;
use crate::render;
use crate::words;

/// What was typed.
#[derive(Debug, Args)]
#[command(after_help = "\
Growing costs nothing: what is new reads as the fill value. Shrinking deletes the chunks that fall away
and clears what is cut off within those that stay, so that it does not come back with later growth.

Examples:
  gingham resize data.zarr/t2m --shape 731,721,1440
  gingham resize data.zarr/t2m --shape 100,721,1440 --shrink
  gingham resize data.zarr/log --shape 0 --shrink --json")]
pub struct Arguments {
    /// Array: path or URL
    location: String,
    /// The new shape, as in 731,721,1440
    #[arg(long, allow_hyphen_values = true)]
    shape: String,
    /// Allow an axis to become shorter: data is deleted
    #[arg(long)]
    shrink: bool,
}

/// Resizes it.
pub fn run(arguments: Arguments, context: &Context) -> Result<Exit> {
    let shape = chunks_text::shape(&arguments.shape)?;
    let mut array = location::changed_array(context, &arguments.location)?;
    let old = array.shape();
    if old.len() != shape.len() {
        return Err(Failure::usage(format!("the array has {} axes ({}), --shape has {}", old.len(), render::shape(&old), shape.len())));
    }
    if let Some(axis) = old.iter().zip(&shape).position(|(o, n)| n < o).filter(|_| !arguments.shrink) {
        let name = words::axis_name(array.meta().dimension_names(), axis);
        return Err(Failure::blocked(format!("{name} would become shorter ({} instead of {}) and lose data", shape[axis], old[axis]))
            .hint("if that is meant, add --shrink"));
    }
    array.resize(&shape).map_err(|e| {
        Failure::from(e).left(|| format!("the array is {} or {}; resize it again to be sure", render::shape(&old), render::shape(&shape)))
    })?;
    let mut out = context.text();
    if context.json {
        writeln!(out, "{}", json!({ "path": array.path(), "shape": array.shape(), "previous_shape": old }))?;
    } else {
        writeln!(out, "{} (was {})", render::shape(&array.shape()), render::shape(&old))?;
    }
    out.flush()?;
    Ok(Exit::Done)
}
