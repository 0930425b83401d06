//! `gingham info`: an array or group in words.

use std::io::Write;

use clap::Args;
use gingham::core::codec::{Codec, Sharding};
use gingham::core::dtype::{Spelling, format_element};
use gingham::{Array, DataType, Entry, Group, Node};
use serde_json::{Map, Value, json};

use crate::commands::tree;
use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::location;
use crate::render::{self, style::NAME};
use crate::table::Facts;
use crate::words;

/// Runs of an axis' cuts that are printed.
const RUNS: usize = 24;
/// Attributes that are printed.
const ATTRIBUTES: usize = 12;

/// What was typed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  gingham info data.zarr
  gingham info data.zarr/t2m
  gingham info --stored s3://bucket/data.zarr/t2m      also what is stored, by listing it
  gingham info --json archive.zip/temperature | jq .grid")]
pub struct Arguments {
    /// Array or group: path or URL
    location: String,
    /// Also count the stored objects and their bytes (lists the store)
    #[arg(long)]
    stored: bool,
}

/// What lies in the store.
#[derive(Debug, Default)]
struct Stored {
    objects: u64,
    chunks: u64,
    bytes: u64,
}

/// Describes it.
pub fn run(arguments: Arguments, context: &Context) -> Result<Exit> {
    match location::node(context, &arguments.location)? {
        Node::Array(array) => {
            let stored = if arguments.stored { Some(stored(&array)?) } else { None };
            for warning in array.meta().warnings() {
                context.warn(warning);
            }
            if context.json {
                print_json(&array_json(&arguments.location, &array, stored.as_ref()), context)
            } else {
                print_array(&arguments.location, &array, stored.as_ref(), context)
            }
        }
        Node::Group(group) => {
            location::warn_of(context, &group);
            let children = match group.children() {
                Ok(children) => Some(children),
                // The group itself is there to be described.
                Err(error) if !arguments.stored && !group.store().traits().lists => {
                    context.warn(&error.to_string());
                    None
                }
                Err(error) => return Err(error.into()),
            };
            let stored = if arguments.stored { Some(stored_below(&group)?) } else { None };
            if context.json {
                print_json(&group_json(&arguments.location, &group, children.as_deref(), stored.as_ref()), context)
            } else {
                print_group(&arguments.location, &group, children.as_deref(), stored.as_ref(), context)
            }
        }
    }
}

fn print_json(value: &Value, context: &Context) -> Result<Exit> {
    let mut out = context.text();
    writeln!(out, "{}", gingham::core::json::to_text(value))?;
    out.flush()?;
    Ok(Exit::Done)
}

fn stored(array: &Array) -> Result<Stored> {
    let mut sum = Stored::default();
    for (_, chunk, size) in array.stored()? {
        sum.objects += 1;
        sum.chunks += u64::from(chunk.is_some());
        sum.bytes += size;
    }
    Ok(sum)
}

fn stored_below(group: &Group) -> Result<Stored> {
    let mut sum = Stored::default();
    for (_, size) in group.store().list(group.path())? {
        sum.objects += 1;
        sum.bytes += size;
    }
    Ok(sum)
}

/// Bytes of all elements in memory; `None` where their length varies or the product is past 2^64.
fn data_bytes(array: &Array) -> Option<u64> {
    let size = array.data_type().size()? as u64;
    array.shape().iter().try_fold(size, |n, &l| n.checked_mul(l))
}

fn print_array(location: &str, array: &Array, stored: Option<&Stored>, context: &Context) -> Result<Exit> {
    let meta = array.meta();
    let mut out = context.text();
    writeln!(out, "{NAME}{location}{NAME:#}  array, {}", words::format(meta.format()))?;
    if let Some(problem) = meta.problem() {
        use render::style::WARN;
        writeln!(out, "{WARN}its data cannot be read:{WARN:#} {}", problem.what)?;
    }
    writeln!(out)?;
    let mut facts = Facts::new();
    let shape = array.shape();
    let names = meta.dimension_names();
    facts.add("data type", array.data_type().to_string());
    facts.add("shape", shape_words(&shape, names));
    let elements = shape.iter().try_fold(1u64, |n, &l| n.checked_mul(l));
    let elements = elements.map_or("more than 2^64 elements".into(), |n| render::plural(n, "element", "elements"));
    match data_bytes(array) {
        Some(n) => facts.add("data", format!("{} in {elements}", render::bytes(n))),
        None => facts.add("data", elements),
    };
    grid_facts(&mut facts, array);
    facts.add("codecs", codec_words(meta.codecs()));
    facts.add("fill value", words::fill(meta));
    facts.add("first key", words::keys(meta.key_encoding(), shape.len()));
    if let Some(stored) = stored {
        stored_facts(&mut facts, array, stored);
    }
    if !meta.attributes().is_empty() {
        facts.add("attributes", words::attributes(meta.attributes(), ATTRIBUTES));
    }
    facts.print(&mut out)?;
    out.flush()?;
    Ok(Exit::Done)
}

/// `366 x 721 x 1440  (time, lat, lon)`.
fn shape_words(shape: &[u64], names: Option<&[Option<String>]>) -> String {
    let text = render::shape(shape);
    match names {
        Some(names) if names.iter().any(Option::is_some) => {
            let list: Vec<String> = names.iter().map(|n| n.as_deref().map_or("-".into(), |n| render::short(n, 24))).collect();
            format!("{text}  ({})", list.join(", "))
        }
        _ => text,
    }
}

fn grid_facts(facts: &mut Facts, array: &Array) {
    let grid = array.grid();
    let inner = array.inner_chunk_shape();
    let (label, one, many) = if inner.is_some() { ("shards", "shard", "shards") } else { ("chunks", "chunk", "chunks") };
    let counts = grid.chunk_counts();
    let total = grid.chunk_count().map_or("more than 2^64".into(), |n| render::plural(n, one, many));
    let by_axis = if counts.len() > 1 && grid.chunk_count() != Some(1) { format!(" ({})", render::shape(&counts)) } else { String::new() };
    let mut text = if words::is_stepped(grid) {
        format!("{}, {total}{by_axis}", words::grid_line(grid, RUNS))
    } else {
        format!("rectilinear, {total}{by_axis}")
    };
    if !words::is_stepped(grid) {
        let names: Vec<String> = (0..grid.ndim()).map(|i| words::axis_name(array.meta().dimension_names(), i)).collect();
        let width = names.iter().map(|n| n.chars().count()).max().unwrap_or(0);
        for (axis, name) in grid.axes().iter().zip(&names) {
            let gap = " ".repeat(width - name.chars().count());
            text.push_str(&format!("\n{name}{gap}  {}", words::axis(axis, RUNS)));
        }
    }
    if inner.is_none()
        && let Some(size) = largest(array)
    {
        let upto = if words::is_stepped(grid) { "" } else { "up to " };
        text.push_str(&format!("{}{upto}{} each", if words::is_stepped(grid) { ", " } else { "\n" }, render::bytes(size)));
    }
    facts.add(label, text);
    if let Some(inner) = inner {
        let size = array.data_type().size().and_then(|s| inner.iter().try_fold(s as u64, |n, &l| n.checked_mul(l)));
        let each = size.map_or(String::new(), |s| format!(", {} each", render::bytes(s)));
        let within = per_shard(array, &inner).map_or(String::new(), |n| format!(", {} to a shard", render::count(n)));
        facts.add("inner chunks", format!("{}{within}{each}", render::shape(&inner)));
    }
}

/// Bytes of the largest chunk.
fn largest(array: &Array) -> Option<u64> {
    let size = array.data_type().size()? as u64;
    array.grid().axes().iter().try_fold(size, |n, a| n.checked_mul(a.max_stored()))
}

/// Inner chunks of a shard, where every shard has as many.
fn per_shard(array: &Array, inner: &[u64]) -> Option<u64> {
    let shard = array.grid().regular_chunk_shape()?;
    shard.iter().zip(inner).try_fold(1u64, |n, (&s, &i)| n.checked_mul(s.checked_div(i)?))
}

/// The chain; of shards the inner one, each codec beside the other.
fn codec_words(chain: &[Codec]) -> String {
    match innermost(chain) {
        Some(sharding) => {
            let outer: Vec<Codec> = chain.iter().filter(|c| !matches!(c, Codec::Sharding(_))).cloned().collect();
            let place = match sharding.index_location {
                gingham::core::codec::Location::Start => "start",
                gingham::core::codec::Location::End => "end",
            };
            let mut text = format!(
                "{}\nin shards with their index at the {place} ({})",
                words::codecs(&sharding.codecs),
                words::codecs(&sharding.index_codecs)
            );
            if !outer.is_empty() {
                text.push_str(&format!("\naround the shard: {}", words::codecs(&outer)));
            }
            text
        }
        None => words::codecs(chain),
    }
}

fn innermost(chain: &[Codec]) -> Option<&Sharding> {
    let sharding = chain.iter().find_map(|c| match c {
        Codec::Sharding(s) => Some(&**s),
        _ => None,
    })?;
    Some(innermost(&sharding.codecs).unwrap_or(sharding))
}

fn stored_facts(facts: &mut Facts, array: &Array, stored: &Stored) {
    let of = array.grid().chunk_count().filter(|&n| n != stored.chunks);
    let present = of.map_or(String::new(), |n| format!(" of {}", render::count(n)));
    let ratio = data_bytes(array).filter(|_| stored.bytes > 0).map(|n| n as f64 / stored.bytes as f64);
    let ratio = ratio.map_or(String::new(), |r| format!(", ratio {}", render::ratio(r)));
    let noun = match (array.inner_chunk_shape().is_some(), of.unwrap_or(stored.chunks)) {
        (true, 1) => "shard",
        (true, _) => "shards",
        (false, 1) => "chunk",
        (false, _) => "chunks",
    };
    facts.add("stored", format!("{} in {}{present} {noun}{ratio}", render::bytes(stored.bytes), render::count(stored.chunks)));
    if stored.objects > stored.chunks {
        facts.add("", format!("and {} that are not chunks", render::plural(stored.objects - stored.chunks, "object", "objects")));
    }
}

fn print_group(location: &str, group: &Group, children: Option<&[Entry]>, stored: Option<&Stored>, context: &Context) -> Result<Exit> {
    let mut out = context.text();
    let meta = group.meta();
    writeln!(out, "{NAME}{location}{NAME:#}  group, {}", words::format(meta.format()))?;
    writeln!(out)?;
    let mut facts = Facts::new();
    if let Some(stored) = stored {
        facts.add("stored", format!("{} in {}", render::bytes(stored.bytes), render::plural(stored.objects, "object", "objects")));
    }
    match meta.consolidated() {
        Ok(Some(block)) => {
            facts.add("consolidated", render::plural(block.nodes.len() as u64, "node", "nodes"));
        }
        Ok(None) => {}
        Err(error) => {
            facts.add("consolidated", format!("not valid: {error}"));
        }
    }
    if !meta.attributes().is_empty() {
        facts.add("attributes", words::attributes(meta.attributes(), ATTRIBUTES));
    }
    facts.print(&mut out)?;
    if stored.is_some() || !meta.attributes().is_empty() || matches!(meta.consolidated(), Ok(Some(_)) | Err(_)) {
        writeln!(out)?;
    }
    match children {
        Some([]) => writeln!(out, "nothing in it")?,
        Some(children) => tree::table(children.iter().map(|e| (e.relative.clone(), e)), Some(meta.format())).print(&mut out, "")?,
        None => {}
    }
    out.flush()?;
    Ok(Exit::Done)
}

/// Everything that is known about an array without reading its data.
fn array_json(location: &str, array: &Array, stored: Option<&Stored>) -> Value {
    let meta = array.meta();
    let grid = array.grid();
    let axes: Vec<Value> = grid
        .axes()
        .iter()
        .map(|a| {
            let runs: Vec<[u64; 2]> = a.runs().iter().map(|r| [r.length, r.count]).collect();
            json!({ "length": a.len(), "chunks": a.chunk_count(), "step": a.as_step(), "runs": runs })
        })
        .collect();
    let fill = match array.data_type() {
        DataType::Unknown { .. } => Value::Null,
        known => format_element(known, meta.fill_value().as_bytes(), Spelling::Plain),
    };
    let kind = match grid.kind() {
        gingham::core::grid::GridKind::Regular => "regular",
        gingham::core::grid::GridKind::Rectilinear => "rectilinear",
    };
    let mut o = Map::new();
    let mut put = |key: &str, value: Value| o.insert(key.into(), value);
    put("location", location.into());
    put("path", array.path().into());
    put("node", "array".into());
    put("format", format_number(meta.format()).into());
    put("shape", array.shape().into());
    put("dimension_names", json!(meta.dimension_names()));
    put("data_type", array.data_type().name().into());
    put("item_bytes", json!(array.data_type().size()));
    put("data_bytes", json!(data_bytes(array)));
    put("fill_value", fill);
    put("fill_is_undefined", meta.fill_is_undefined().into());
    put("grid", json!({ "kind": kind, "chunks": grid.chunk_count(), "axes": axes }));
    put("sharded", array.inner_chunk_shape().is_some().into());
    put("inner_chunk_shape", json!(array.inner_chunk_shape()));
    put("codecs", meta.codecs().iter().map(|c| Value::from(words::codec(c))).collect());
    put("first_key", words::first_key(meta.key_encoding(), grid.ndim()).into());
    put("attributes", Value::Object(meta.attributes().clone()));
    put("warnings", meta.warnings().to_vec().into());
    put("problem", meta.problem().map_or(Value::Null, |p| json!({ "what": p.what, "pointer": p.pointer })));
    if let Some(stored) = stored {
        let ratio = data_bytes(array).filter(|_| stored.bytes > 0).map(|n| n as f64 / stored.bytes as f64);
        put("stored", json!({ "objects": stored.objects, "chunks": stored.chunks, "bytes": stored.bytes, "ratio": ratio }));
    }
    put("document", Value::Object(meta.document().clone()));
    Value::Object(o)
}

fn group_json(location: &str, group: &Group, children: Option<&[Entry]>, stored: Option<&Stored>) -> Value {
    let meta = group.meta();
    let mut value = json!({
        "location": location,
        "path": group.path(),
        "node": "group",
        "format": format_number(meta.format()),
        "attributes": meta.attributes(),
        "warnings": group.warnings(),
        "children": children.map(|c| c.iter().map(|e| tree::entry_json(&e.relative, e)).collect::<Vec<_>>()),
    });
    if let Some(stored) = stored {
        value["stored"] = json!({ "objects": stored.objects, "bytes": stored.bytes });
    }
    value["document"] = Value::Object(meta.document().clone());
    value
}

/// 2 or 3.
pub fn format_number(format: gingham::Format) -> u8 {
    match format {
        gingham::Format::V2 => 2,
        gingham::Format::V3 => 3,
    }
}
