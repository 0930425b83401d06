//! `gingham append`: a batch at the end of an axis.

use std::io::Write;

use clap::Args;
use gingham::Array;
use serde_json::json;

use crate::chunks_text;
use crate::context::Context;
use crate::error::{Failure, Result};
use crate::exit::Exit;
use crate::location;
use crate::render;
use crate::source::Source;
use crate::words;

/// What was typed.
#[derive(Debug, Args)]
#[command(after_help = "\
On a rectilinear axis the batch becomes a chunk of its own length and nothing old is rewritten; on a
regular one only the part-filled last chunks are. Data is written first, the document last.

Examples:
  gingham append data.zarr/t2m --axis time --from january.npy
  gingham append data.zarr/t2m --axis 0 --from batch.bin --shape 31,721,1440
  cat batch.npy | gingham append data.zarr/t2m --axis time --from -")]
pub struct Arguments {
    /// Array: path or URL
    location: String,
    /// Axis: its name or number
    #[arg(long, allow_hyphen_values = true)]
    axis: String,
    /// The batch: a .npy file, bare little-endian elements, values.json as read prints it, or - for standard input
    #[arg(long, value_name = "FILE")]
    from: String,
    /// Shape of a batch of bare elements
    #[arg(long, allow_hyphen_values = true)]
    shape: Option<String>,
    /// Convert elements of another type, refusing values that do not fit
    #[arg(long)]
    cast: bool,
}

/// Appends it.
pub fn run(arguments: Arguments, context: &Context) -> Result<Exit> {
    let given = arguments.shape.as_deref().map(chunks_text::shape).transpose()?;
    let mut array = location::changed_array(context, &arguments.location)?;
    let axis = find_axis(&array, &arguments.axis)?;
    let source = Source::open(&arguments.from)?;
    source.check_type(array.data_type(), arguments.cast)?;
    let shape = match (given, source.shape()) {
        (Some(given), Some(own)) if given != own => {
            return Err(Failure::usage(format!(
                "{} has the shape {}, --shape says {}",
                source.name(),
                render::shape(own),
                render::shape(&given)
            )));
        }
        (Some(given), _) => given,
        (None, Some(own)) => own.to_vec(),
        (None, None) => {
            return Err(Failure::usage(format!("{} is bare bytes; their shape is not known", source.name())).hint("add --shape"));
        }
    };
    let old = array.shape();
    let fits = old.len() == shape.len() && old.iter().zip(&shape).enumerate().all(|(i, (o, n))| i == axis || o == n);
    if !fits {
        let name = words::axis_name(array.meta().dimension_names(), axis);
        return Err(Failure::usage(format!(
            "a batch of {} does not fit an array of {} along {name}",
            render::shape(&shape),
            render::shape(&old)
        ))
        .hint("it must have the array's length on every other axis"));
    }
    let elements = source.take_all(&shape, array.data_type())?;
    array.append(axis, &shape, &elements).map_err(|e| {
        // The document is written last.
        Failure::from(e).left(|| format!("the array is {} as before; append the batch again", render::shape(&old)))
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

/// An axis by its name or number.
fn find_axis(array: &Array, text: &str) -> Result<usize> {
    let names = array.meta().dimension_names().unwrap_or_default();
    let ndim = array.shape().len();
    let number = || {
        text.parse::<i64>()
            .ok()
            .map(|n| if n < 0 { n + ndim as i64 } else { n })
            .filter(|n| (0..ndim as i64).contains(n))
            .map(|n| n as usize)
    };
    names.iter().position(|n| n.as_deref() == Some(text)).or_else(number).ok_or_else(|| {
        let known: Vec<String> = names.iter().flatten().cloned().collect();
        let failure = Failure::usage(format!("the array has no axis \"{text}\""));
        match words::some_of(&known, 12) {
            Some(list) => failure.hint(format!("its axes are {list}")),
            None => failure.hint(format!("it has {}, counted from 0", render::plural(ndim as u64, "axis", "axes"))),
        }
    })
}
