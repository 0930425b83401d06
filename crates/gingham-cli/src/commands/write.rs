//! `gingham write`: values into an array, which `--create` makes first.

use std::io::Write;

use clap::{Args, ValueEnum};
use gingham::core::codec::{ByteOrder, Codec};
use gingham::core::dtype::{Endian, TypeStr, parse_element};
use gingham::core::region::Resolved;
use gingham::{Array, DataType, FillValue, Format, Grid, NewArray, Selection};
use serde_json::{Map, Value, json};

use crate::args::FormatArg;
use crate::chunks_text;
use crate::codec_text;
use crate::context::Context;
use crate::dtype_text;
use crate::error::{Failure, Result};
use crate::exit::Exit;
use crate::location;
use crate::render;
use crate::slabs::{self, Slabs};
use crate::source::Source;
use crate::words;

/// What was typed.
#[derive(Debug, Args)]
#[command(after_help = "\
Values come from a .npy file, from bare elements (C order, little-endian), or from the JSON of read.
Codecs: none, zstd:3, gzip:5, blosc:lz4:5:shuffle, bitround:10,zstd:5, …, or a document's JSON.
A chunk grid with cuts of its own: --chunks '[[31,28,[31,2],30],25,35]' ([31,2] is 31 twice).

Examples:
  gingham write data.zarr/t2m --select '0, ...' --from map.npy
  gingham write data.zarr/mask --select '10:20, :' --value 1
  gingham write new.zarr --create --from data.npy --chunks 64,256,256 --codec blosc:zstd:5
  gingham write new.zarr --create --shape 365,721,1440 --dtype f4 --chunks 1,240,240 --dims t,y,x
  gingham write new.zarr --create --shape 4096,4096 --dtype u2 --chunks 64,64 --shards 1024,1024
  cat bytes | gingham write new.zarr --create --shape 1000 --dtype i4 --from -")]
pub struct Arguments {
    /// Array: path or URL
    location: String,
    /// Where to write [default: everywhere]
    #[arg(long, short, value_name = "TEXT", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    select: String,
    /// The values: a .npy file, bare elements, values.json, or - for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "value")]
    from: Option<String>,
    /// One value for all of the selection, as JSON or text
    #[arg(long, value_name = "X", allow_hyphen_values = true)]
    value: Option<String>,
    /// Convert elements of another type, refusing values that do not fit
    #[arg(long)]
    cast: bool,
    /// Also store chunks that hold nothing but the fill value
    #[arg(long)]
    write_empty_chunks: bool,
    /// Create the array
    #[arg(long, help_heading = "Creating")]
    create: bool,
    /// Replace what is there
    #[arg(long, requires = "create", help_heading = "Creating")]
    overwrite: bool,
    /// Shape [default: that of --from]
    #[arg(long, help_heading = "Creating", allow_hyphen_values = true)]
    shape: Option<String>,
    /// Data type, by v3's or numpy's name [default: that of --from]
    #[arg(long, value_name = "TYPE", help_heading = "Creating", requires = "create")]
    dtype: Option<String>,
    /// Chunks, as in 64,256,256, or lists of lengths [default: about 1 MiB]
    #[arg(long, value_name = "GRID", help_heading = "Creating", requires = "create", allow_hyphen_values = true)]
    chunks: Option<String>,
    /// Shards that hold the chunks, as a shape or lists of lengths
    #[arg(long, value_name = "GRID", help_heading = "Creating", requires = "create", allow_hyphen_values = true)]
    shards: Option<String>,
    /// Codecs of a chunk [default: zstd:3]
    #[arg(long, value_name = "CODECS", help_heading = "Creating", requires = "create")]
    codec: Option<String>,
    /// Fill value, as JSON or text [default: the type's zero]
    #[arg(long, value_name = "X", help_heading = "Creating", requires = "create", allow_hyphen_values = true)]
    fill: Option<String>,
    /// Names of the dimensions, as in time,lat,lon
    #[arg(long, value_name = "NAMES", help_heading = "Creating", requires = "create", allow_hyphen_values = true)]
    dims: Option<String>,
    /// Attribute; the value is JSON, else text (may be repeated)
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Creating", requires = "create", allow_hyphen_values = true)]
    attr: Vec<String>,
    /// Zarr format
    #[arg(long, value_name = "2|3", default_value = "3", hide_possible_values = true, help_heading = "Creating", requires = "create")]
    format: FormatArg,
    /// Order of a chunk's elements: C (last axis fastest) or F
    #[arg(
        long,
        value_name = "C|F",
        default_value = "C",
        hide_possible_values = true,
        help_heading = "Creating",
        requires = "create",
        ignore_case = true
    )]
    order: Order,
}

/// Order of a chunk's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Order {
    // Last axis fastest.
    #[value(name = "C")]
    C,
    // First axis fastest.
    #[value(name = "F")]
    F,
}

/// Writes, and creates where that is asked for.
pub fn run(arguments: Arguments, context: &Context) -> Result<Exit> {
    let selection = Selection::parse(&arguments.select).map_err(gingham::Error::from)?;
    let mut source = arguments.from.as_deref().map(Source::open).transpose()?;
    if source.is_none() && arguments.value.is_none() && !arguments.create {
        return Err(Failure::usage("there is nothing to write").hint("add --from FILE (or - for standard input) or --value X"));
    }
    let target = match arguments.create {
        true => Target::New(Box::new(new_array(&arguments, source.as_ref(), &selection, context)?)),
        false => Target::Old(open(&arguments, context)?),
    };
    // All that can be refused is refused before an array is created or replaced.
    let resolved = target.resolve(&selection)?;
    if let Some(source) = &source {
        check_shape(&arguments, source, &resolved)?;
        source.check_type(target.data_type(), arguments.cast)?;
    }
    let value = arguments.value.as_deref().map(|text| value(text, target.data_type(), "--value")).transpose()?;
    let array = target.array(&arguments, context)?;
    let done = match (&mut source, &value) {
        (Some(source), _) => fill_from(&array, selection, &resolved, source),
        (None, Some(value)) => array.write_value(selection, value).map_err(Failure::from),
        (None, None) => Ok(()),
    };
    done.map_err(|failure| failure.left(|| "the array is there, and some of its chunks have the new values; write them again".into()))?;
    let written = if source.is_some() || value.is_some() { resolved.count().unwrap_or(u64::MAX) } else { 0 };
    let mut out = context.text();
    if context.json {
        writeln!(
            out,
            "{}",
            json!({ "path": array.path(), "shape": array.shape(), "created": arguments.create, "elements_written": written })
        )?;
    } else if arguments.create {
        writeln!(out, "{}: {} of {}, {}", arguments.location, array.data_type(), render::shape(&array.shape()), grid_words(&array))?;
    }
    out.flush()?;
    context.say(&format!("{} written", render::plural(written, "element", "elements")));
    Ok(Exit::Done)
}

/// Where values go.
enum Target {
    Old(Array),
    /// Described, not created yet.
    New(Box<NewArray>),
}

impl Target {
    fn data_type(&self) -> &DataType {
        match self {
            Target::Old(array) => array.data_type(),
            Target::New(new) => &new.data_type,
        }
    }
    fn resolve(&self, selection: &Selection) -> Result<Resolved> {
        let (grid, names) = match self {
            Target::Old(array) => (array.grid(), array.meta().dimension_names()),
            Target::New(new) => (&new.grid, new.dimension_names.as_deref()),
        };
        Ok(selection.resolve(grid, names).map_err(gingham::Error::from)?)
    }
    fn array(self, arguments: &Arguments, context: &Context) -> Result<Array> {
        match self {
            Target::Old(array) => Ok(array),
            Target::New(new) => create(arguments, *new, context),
        }
    }
}

fn grid_words(array: &Array) -> String {
    let grid = words::grid_line(array.grid(), 6);
    match array.inner_chunk_shape() {
        Some(inner) => format!("chunks {} in shards {grid}", render::shape(&inner)),
        None => format!("chunks {grid}"),
    }
}

fn open(arguments: &Arguments, context: &Context) -> Result<Array> {
    let array = location::array(context, &arguments.location)?;
    if !arguments.write_empty_chunks {
        return Ok(array);
    }
    let options = gingham::Options { write_empty_chunks: true, ..array.options().clone() };
    Ok(Array::from_meta(array.store(), array.path(), array.meta().clone(), &options)?)
}

/// The data must have the selection's shape; axes of length 1 may be missing or extra.
fn check_shape(arguments: &Arguments, source: &Source, resolved: &Resolved) -> Result<()> {
    let given = arguments.shape.as_deref().filter(|_| !arguments.create).map(chunks_text::shape).transpose()?;
    let Some(shape) = given.as_deref().or(source.shape()) else { return Ok(()) };
    if source.shape().is_some_and(|own| own != shape) {
        return Err(Failure::usage(format!("{} has another shape than --shape says", source.name())));
    }
    let without_ones = |s: &[u64]| s.iter().copied().filter(|&l| l != 1).collect::<Vec<_>>();
    if without_ones(shape) == without_ones(resolved.shape()) {
        return Ok(());
    }
    Err(Failure::usage(format!("{} holds {}, the selection is {}", source.name(), render::shape(shape), render::shape(resolved.shape())))
        .hint("choose the part to write with --select"))
}

/// Streams the source into the selection, whole chunks at a time.
fn fill_from(array: &Array, selection: Selection, resolved: &Resolved, source: &mut Source) -> Result<()> {
    let data_type = array.data_type();
    let itemsize = data_type.size().unwrap_or(64);
    let mut slabs: Vec<_> = Slabs::new(array.grid(), resolved, itemsize, slabs::BUDGET)?.take(2).collect();
    if slabs.len() < 2 {
        let count = slabs.pop().map_or(0, |s| s.count);
        let elements = source.take(count, data_type)?;
        source.end()?;
        return Ok(array.write_elements(selection, &elements)?);
    }
    for slab in Slabs::new(array.grid(), resolved, itemsize, slabs::BUDGET)? {
        let elements = source.take(slab.count, data_type)?;
        array.write_elements(slab.selection, &elements)?;
    }
    source.end()
}

/// An element as JSON, or as text where it is not JSON (or the type is text).
fn value(text: &str, data_type: &DataType, option: &str) -> Result<FillValue> {
    let as_text = || parse_element(data_type, &Value::String(text.into()));
    let content = match serde_json::from_str::<Value>(text) {
        // The error is about what was typed, not about the text that it could also have been.
        Ok(value) => parse_element(data_type, &value).or_else(|e| as_text().map_err(|_| e)),
        Err(_) => as_text(),
    };
    content.map(FillValue::new).map_err(|e| Failure::usage(format!("{option}: {e}")))
}

fn create(arguments: &Arguments, new: NewArray, context: &Context) -> Result<Array> {
    let (store, path) = location::target(context, &arguments.location, new.format)?;
    Array::create(&store, &path, new).map_err(|e| {
        let exists = e.kind() == gingham::Kind::Exists;
        let failure = Failure::from(e).before_writing();
        if exists { failure.instead_hint("--overwrite replaces it") } else { failure }
    })
}

fn new_array(arguments: &Arguments, source: Option<&Source>, selection: &Selection, context: &Context) -> Result<NewArray> {
    let own_shape = source.and_then(Source::shape).filter(|_| *selection == Selection::All);
    let shape = match (arguments.shape.as_deref().map(chunks_text::shape).transpose()?, own_shape) {
        (Some(shape), _) => shape,
        (None, Some(own)) => own.to_vec(),
        (None, None) => return Err(Failure::usage("the new array's shape is not known").hint("add --shape 365,721,1440")),
    };
    let typestr = match (&arguments.dtype, source.and_then(Source::typestr)) {
        (Some(text), _) => dtype_text::parse(text)?,
        (None, Some(own)) => TypeStr { data_type: own.data_type.clone(), order: vec![Endian::Little; own.order.len()] },
        (None, None) => return Err(Failure::usage("the new array's data type is not known").hint("add --dtype float32")),
    };
    let (grid, inner_chunks) = grid(arguments, &shape, typestr.data_type.size().unwrap_or(16))?;
    let mut new = NewArray::new(typestr.data_type.clone(), grid);
    new.inner_chunks = inner_chunks;
    new.format = Format::from(arguments.format);
    new.codecs = codecs(arguments, &typestr, shape.len())?;
    new.fill_value = arguments.fill.as_deref().map(|text| value(text, &typestr.data_type, "--fill")).transpose()?;
    new.dimension_names = arguments.dims.as_deref().map(|text| dimension_names(text, shape.len())).transpose()?;
    new.attributes = arguments.attr.iter().map(|a| super::attrs::assignment(a)).collect::<Result<Map<_, _>>>()?;
    new.overwrite = arguments.overwrite;
    new.options = gingham::Options { write_empty_chunks: arguments.write_empty_chunks, ..context.array.clone() };
    Ok(new)
}

/// The grid of stored objects, and the chunks inside each where there are shards.
fn grid(arguments: &Arguments, shape: &[u64], itemsize: usize) -> Result<(Grid, Option<Vec<u64>>)> {
    let chunks = match &arguments.chunks {
        Some(text) => chunks_text::grid(text, shape, "--chunks")?,
        None => Grid::regular(shape, &chunks_text::default_chunks(shape, itemsize)).map_err(gingham::Error::from)?,
    };
    let Some(text) = &arguments.shards else { return Ok((chunks, None)) };
    let Some(inner) = chunks.regular_chunk_shape() else {
        return Err(
            Failure::usage("chunks inside shards all have one shape; --chunks lists several lengths").hint("give the lists to --shards")
        );
    };
    Ok((chunks_text::grid(text, shape, "--shards")?, Some(inner.to_vec())))
}

fn codecs(arguments: &Arguments, typestr: &TypeStr, ndim: usize) -> Result<Option<Vec<Codec>>> {
    let big = typestr.uniform() == Some(Endian::Big) && typestr.data_type.needs_endian();
    if arguments.codec.is_none() && !big && arguments.order == Order::C {
        return Ok(None);
    }
    let itemsize = typestr.data_type.size().unwrap_or(1);
    let named = codec_text::parse(arguments.codec.as_deref().unwrap_or("zstd:3"), Some(itemsize))?;
    let mut list = Vec::new();
    if arguments.order == Order::F && ndim > 1 {
        list.push(Codec::Transpose { order: (0..ndim).rev().collect() });
    }
    let bytes = big.then_some(Codec::Bytes(ByteOrder::Uniform(Endian::Big)));
    let split = named.iter().position(|c| c.kind() == Some(gingham::core::codec::CodecKind::BytesToBytes)).unwrap_or(named.len());
    let has_bytes = named.iter().any(|c| c.kind() == Some(gingham::core::codec::CodecKind::ArrayToBytes));
    list.extend(named[..split].iter().cloned());
    list.extend(bytes.filter(|_| !has_bytes));
    list.extend(named[split..].iter().cloned());
    Ok(Some(list))
}

fn dimension_names(text: &str, ndim: usize) -> Result<Vec<Option<String>>> {
    let names: Vec<Option<String>> =
        text.split(',').map(|n| n.trim()).map(|n| (!n.is_empty() && n != "-").then(|| n.to_string())).collect();
    match names.len() == ndim {
        true => Ok(names),
        false => Err(Failure::usage(format!("--dims names {}, the array has {ndim}", render::plural(names.len() as u64, "axis", "axes")))
            .hint("write - for an axis without a name: time,-,lon")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn dimensions_may_be_without_a_name() {
        assert_eq!(dimension_names("time,-,lon", 3).unwrap(), [Some("time".into()), None, Some("lon".into())]);
        assert!(dimension_names("time,lat", 3).unwrap_err().what().contains("names 2 axes, the array has 3"));
    }
}
