//! `gingham read`: a selection's values, in slabs so that memory stays bounded.

use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueEnum};
use gingham::core::region::{Pick, Resolved};
use gingham::{Array, Elements, Missing, Selection};

use crate::context::Context;
use crate::error::{Failure, Result};
use crate::exit::Exit;
use crate::location;
use crate::npy;
use crate::picture;
use crate::render;
use crate::sheet::Sheet;
use crate::slabs::{self, Slabs};
use crate::values::{self, JsonValues};
use crate::words;

/// How a result is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    // {"shape": […], "values": […]}, values flat in C order
    Json,
    // NumPy's file format
    Npy,
    // Rows of text
    Csv,
    // Bare elements, C order, little-endian
    Raw,
    // A 2-D slice as a picture
    Png,
}

/// What was typed.
#[derive(Debug, Args)]
#[command(after_help = "\
Selections are written as NumPy writes them, or by dimension name:
  '0, 10:20, ...'   '::-1, [1, 5, 9]'   'time=0:31, lat=100'

Examples:
  gingham read data.zarr/t2m --select '0, 10:12, 20:24'
  gingham read data.zarr/t2m --select ':, 100, 200' -o series.csv
  gingham read data.zarr/t2m -o t2m.npy
  gingham read data.zarr/t2m --select '0, ...' -o map.png --min 220 --max 320
  gingham read data.zarr/t2m --format raw | sha256sum")]
pub struct Arguments {
    /// Array: path or URL
    location: String,
    /// What to read [default: everything]
    #[arg(long, short, value_name = "TEXT", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    select: String,
    /// How to write it; raw is bare elements, png a picture [default: by the extension of -o, else json]
    #[arg(long, short, value_name = "FORMAT")]
    format: Option<Format>,
    /// Write to a file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Pictures: the value that is darkest [default: the data's least]
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    min: Option<f64>,
    /// Pictures: the value that is lightest [default: the data's greatest]
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    max: Option<f64>,
    /// Fail where a chunk is absent instead of taking the fill value
    #[arg(long)]
    require_chunks: bool,
}

/// What it means.
struct Options {
    selection: Selection,
    format: Format,
    range: (Option<f64>, Option<f64>),
}

impl Arguments {
    fn options(&self) -> Result<Options> {
        let by_name = || self.output.as_deref().and_then(format_of);
        let format = self.format.or_else(by_name).unwrap_or(Format::Json);
        if (self.min.is_some() || self.max.is_some()) && format != Format::Png {
            return Err(Failure::usage("--min and --max are for pictures").hint("add --format png, or name a file that ends in .png"));
        }
        if self.output.is_none() && matches!(format, Format::Npy | Format::Raw | Format::Png) && io::stdout().is_terminal() {
            return Err(Failure::usage("this would print bytes on a terminal").hint("write to a file with -o FILE, or into a pipe"));
        }
        let selection = Selection::parse(&self.select).map_err(gingham::Error::from)?;
        Ok(Options { selection, format, range: (self.min, self.max) })
    }
}

fn format_of(path: &Path) -> Option<Format> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "json" => Some(Format::Json),
        "npy" => Some(Format::Npy),
        "csv" => Some(Format::Csv),
        "raw" | "bin" => Some(Format::Raw),
        "png" => Some(Format::Png),
        _ => None,
    }
}

/// Reads it.
pub fn run(arguments: Arguments, context: &Context) -> Result<Exit> {
    let options = arguments.options()?;
    let array = open(&arguments, context)?;
    let resolved = options.selection.resolve(array.grid(), array.meta().dimension_names()).map_err(gingham::Error::from)?;
    let start = Instant::now();
    match &arguments.output {
        None => {
            let mut out = context.bytes();
            write(&array, &resolved, &options, &mut out)?;
            out.flush()?;
        }
        Some(path) => to_file(path, |out| write(&array, &resolved, &options, out))?,
    }
    if context.verbose > 0 {
        let cost = array.plan(options.selection)?.cost();
        let (chunks, took) = (render::plural(cost.chunks, "chunk", "chunks"), render::duration(start.elapsed()));
        context.say(&format!("{} out of {chunks}, {} decoded, in {took}", render::bytes(cost.wanted), render::bytes(cost.decoded)));
    }
    Ok(Exit::Done)
}

fn open(arguments: &Arguments, context: &Context) -> Result<Array> {
    let array = location::array(context, &arguments.location)?;
    for warning in array.meta().warnings() {
        context.warn(warning);
    }
    if !arguments.require_chunks {
        return Ok(array);
    }
    let options = gingham::Options { missing: Missing::Error, ..array.options().clone() };
    Ok(Array::from_meta(array.store(), array.path(), array.meta().clone(), &options)?)
}

/// Writes a file whole: under another name until it is complete, so that a failure leaves nothing half written.
fn to_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let shown = path.display().to_string();
    let Some(name) = path.file_name() else { return Err(Failure::usage(format!("{shown} is not the name of a file"))) };
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.partial", std::process::id()));
    let partial = path.with_file_name(hidden);
    let failed = |e| Failure::file(&shown, "write", e);
    let file = File::create(&partial).map_err(failed)?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    let done = write(&mut out).and_then(|()| out.flush().map_err(failed)).and_then(|()| fs::rename(&partial, path).map_err(failed));
    if done.is_err() {
        // What is left of a file that could not be written is of no use to anyone.
        let _ = fs::remove_file(&partial);
    }
    done
}

fn write(array: &Array, resolved: &Resolved, options: &Options, out: &mut dyn Write) -> Result<()> {
    let data_type = array.data_type();
    let shape = resolved.shape();
    match options.format {
        Format::Png => {
            let frame = picture::frame(shape)?;
            let (_, elements) = array.read_elements(options.selection.clone())?;
            picture::draw(out, frame, data_type, &elements, options.range)
        }
        Format::Npy => {
            // A type that the format does not have is refused before anything is read.
            let mut header = Vec::new();
            npy::write_header(&mut header, data_type, shape)?;
            let mut header = Some(header);
            parts(array, resolved, options, |elements, _| {
                if let Some(header) = header.take() {
                    out.write_all(&header)?;
                }
                Ok(out.write_all(fixed(elements)?)?)
            })?;
            header.map_or(Ok(()), |h| Ok(out.write_all(&h)?))
        }
        Format::Raw => {
            if data_type.size().is_none() {
                return Err(Failure::usage(format!("elements of type {data_type} are not a fixed number of bytes"))
                    .hint("read them with --format json"));
            }
            parts(array, resolved, options, |elements, _| Ok(out.write_all(fixed(elements)?)?))
        }
        Format::Json => {
            let mut first = Some(out);
            let mut json = None;
            parts(array, resolved, options, |elements, count| {
                // Nothing is printed before the first part was read: an error leaves the output empty.
                if let Some(out) = first.take() {
                    json = Some(JsonValues::begin(out, shape)?);
                }
                json.as_mut().map_or(Ok(()), |j| j.add(elements, data_type, count))
            })?;
            match (json, first) {
                (Some(json), _) => json.end(),
                (None, Some(out)) => JsonValues::begin(out, shape)?.end(),
                (None, None) => Ok(()),
            }
        }
        Format::Csv => {
            let names = axis_names(array, resolved);
            let mut first = Some(out);
            let mut sheet = None;
            parts(array, resolved, options, |elements, count| {
                if let Some(out) = first.take() {
                    sheet = Some(Sheet::begin(out, shape, &names, data_type)?);
                }
                sheet.as_mut().map_or(Ok(()), |s| s.add(elements, data_type, count))
            })?;
            match (sheet, first) {
                (Some(sheet), _) => sheet.end(),
                (None, Some(out)) => Sheet::begin(out, shape, &names, data_type)?.end(),
                (None, None) => Ok(()),
            }
        }
    }
}

/// Reads part by part in C order. A selection that is one part is read as it stands.
fn parts(array: &Array, resolved: &Resolved, options: &Options, mut each: impl FnMut(&Elements, usize) -> Result<()>) -> Result<()> {
    let itemsize = array.data_type().size().unwrap_or(64);
    let whole = resolved.count().is_some_and(|n| n.saturating_mul(itemsize as u64) <= slabs::BUDGET);
    if whole {
        let (_, elements) = array.read_elements(options.selection.clone())?;
        let count = resolved.count().and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
        return each(&elements, count);
    }
    for slab in Slabs::new(array.grid(), resolved, itemsize, slabs::BUDGET)? {
        let (_, elements) = array.read_elements(slab.selection)?;
        each(&elements, slab.count)?;
    }
    Ok(())
}

fn fixed(elements: &Elements) -> Result<&[u8]> {
    elements.as_fixed().ok_or_else(|| Failure::bad_data("the elements are not of a fixed size"))
}

/// Titles of the result's axes: the dimension's name where the axis is kept, else its number.
fn axis_names(array: &Array, resolved: &Resolved) -> Vec<String> {
    let ndim = resolved.shape().len();
    let names = array.meta().dimension_names();
    let kept = matches!(resolved, Resolved::Product { picks, .. } if picks.len() == ndim && picks.iter().zip(resolved.shape()).all(|(p, &n)| len(p) == n));
    (0..ndim).map(|i| words::axis_name(names.filter(|_| kept), i)).collect()
}

fn len(pick: &Pick) -> u64 {
    slabs::pick_len(pick)
}

/// All elements of an array, one by one, for the conformance protocol.
pub fn each_element(array: &Array, mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let resolved = Selection::All.resolve(array.grid(), None).map_err(gingham::Error::from)?;
    let options = Options { selection: Selection::All, format: Format::Json, range: (None, None) };
    parts(array, &resolved, &options, |elements, count| values::each(elements, array.data_type(), count, &mut each))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_extension_names_the_format() {
        assert_eq!(format_of(Path::new("a/b.NPY")), Some(Format::Npy));
        assert_eq!(format_of(Path::new("x.bin")), Some(Format::Raw));
        assert_eq!(format_of(Path::new("x")), None);
        assert_eq!(format_of(Path::new("x.txt")), None);
    }

    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.json");
        to_file(&path, |out| Ok(out.write_all(b"{}")?)).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"{}");
        let failed = to_file(&path, |out| {
            out.write_all(b"half")?;
            Err(Failure::bad_data("no"))
        });
        assert!(failed.is_err());
        assert_eq!(fs::read(&path).unwrap(), b"{}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
