//! `gingham demo`: a data set of its own in three layouts, and what each costs to read.

mod data;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use gingham::store::{self, Store, wrap::Count};
use gingham::{Array, Node, Selection};
use gingham_ops::checksum::checksum;
use gingham_ops::convert::{Cut, Options, convert};
use serde_json::json;

use crate::context::Context;
use crate::error::{Failure, Result};
use crate::exit::Exit;
use crate::render::{
    self,
    style::{DIM, GOOD, NAME},
};
use crate::table::{Align, Table};

/// What was typed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  gingham demo
  gingham demo --keep          and look at it afterwards with info, tree and plan
  gingham demo ./demo          makes it there, and keeps it")]
pub struct Arguments {
    /// Folder to make it in [default: a temporary one]
    dir: Option<PathBuf>,
    /// Keep the temporary folder
    #[arg(long)]
    keep: bool,
}

/// One way to cut the data set.
struct Layout {
    /// Its folder.
    file: &'static str,
    /// What it is, in a few words.
    about: &'static str,
    /// How long making it took.
    took: Duration,
    objects: u64,
    bytes: u64,
}

/// A read that people do.
struct Read {
    about: &'static str,
    array: &'static str,
    selection: &'static str,
}

const READS: [Read; 4] = [
    Read { about: "map of one day", array: "temperature", selection: "500, :, :" },
    Read { about: "series of one pixel", array: "temperature", selection: ":, 45, 90" },
    Read { about: "one month, one region", array: "temperature", selection: "546:577, 40:70, 60:120" },
    Read { about: "box of the volume", array: "volume", selection: "40:72, 100:164, 100:164" },
];

/// What a read cost.
struct Cost {
    layout: usize,
    requests: u64,
    bytes: u64,
    decoded: u64,
    took: Duration,
}

/// A folder that is removed at the end, unless it is kept.
struct Folder {
    path: PathBuf,
    keep: bool,
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.keep {
            // What is left of a temporary folder is the system's to remove.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

/// Makes, converts, compares and measures.
pub fn run(arguments: Arguments, context: &Context) -> Result<Exit> {
    let folder = folder(&arguments)?;
    let mut out = context.text();
    if !context.json {
        let fate = if folder.keep { "" } else { ", removed at the end (--keep keeps it)" };
        writeln!(out, "In {}{fate}:\n", folder.path.display())?;
        out.flush()?;
    }
    let layouts = make(&folder.path, context)?;
    if !context.json {
        print_layouts(&layouts, &mut out)?;
    }
    let arrays = compare(&folder.path, &layouts, context)?;
    if !context.json {
        writeln!(out, "{GOOD}Read back, every value of {arrays} arrays is the same in all layouts (SHA-256).{GOOD:#}\n")?;
        out.flush()?;
    }
    let costs: Vec<Vec<Cost>> = READS.iter().map(|r| measure(&folder.path, &layouts, r, context)).collect::<Result<_>>()?;
    if context.json {
        writeln!(out, "{}", to_json(&folder, &layouts, &costs))?;
    } else {
        print_costs(&layouts, &costs, &mut out)?;
        print_next(&folder, &mut out)?;
    }
    out.flush()?;
    Ok(Exit::Done)
}

fn folder(arguments: &Arguments) -> Result<Folder> {
    let (path, keep) = match &arguments.dir {
        Some(dir) => (dir.clone(), true),
        None => (std::env::temp_dir().join(format!("gingham-demo-{}", std::process::id())), arguments.keep),
    };
    let shown = path.display().to_string();
    let used = std::fs::read_dir(&path).is_ok_and(|mut entries| entries.next().is_some());
    if used || path.is_file() {
        return Err(Failure::blocked(format!("{shown} is there and not empty")).hint("name a folder that is empty or not there yet"));
    }
    std::fs::create_dir_all(&path).map_err(|e| Failure::file(&shown, "make", e))?;
    Ok(Folder { path, keep })
}

fn open(dir: &Path, file: &str, context: &Context) -> Result<Store> {
    Ok(store::open_with(&dir.join(file).to_string_lossy(), &context.store)?)
}

fn make(dir: &Path, context: &Context) -> Result<Vec<Layout>> {
    let mut layouts = Vec::new();
    let mut add = |file, about, fill: &dyn Fn(&Store) -> Result<()>| -> Result<()> {
        let store = open(dir, file, context)?;
        let start = Instant::now();
        fill(&store)?;
        let took = start.elapsed();
        let stored = store.list("")?;
        layouts.push(Layout { file, about, took, objects: stored.len() as u64, bytes: stored.iter().map(|(_, size)| size).sum() });
        Ok(())
    };
    add("old.zarr", "format 2, small chunks", &|store| Ok(data::make(store, &context.array)?))?;
    let old = open(dir, "old.zarr", context)?;
    let array = context.array.clone();
    let sharded = Options { chunks: Cut::Auto, shards: Cut::Auto, array: array.clone(), ..Options::default() };
    add("sharded.zarr", "format 3, shards", &|store| {
        convert(&gingham::open(&old, "", &context.array)?, store, &sharded, &|_| {})?;
        Ok(())
    })?;
    let [_, lats, lons] = data::FIELD;
    let months = format!("[{:?},{lats},{lons}]", data::MONTHS);
    let monthly = Options { chunks: Cut::Text(months), shards: Cut::None, array, ..Options::default() };
    add("monthly.zarr", "format 3, cut by month", &|store| {
        let field = gingham::open(&old, "temperature", &context.array)?;
        convert(&field, &store.prefixed("temperature"), &monthly, &|_| {})?;
        Ok(())
    })?;
    Ok(layouts)
}

fn print_layouts(layouts: &[Layout], out: &mut dyn Write) -> Result<()> {
    let mut table = Table::new(&[
        ("layout", Align::Left),
        ("", Align::Left),
        ("objects", Align::Right),
        ("bytes", Align::Right),
        ("made in", Align::Right),
    ]);
    for layout in layouts {
        table.row([
            layout.file.into(),
            layout.about.into(),
            render::count(layout.objects),
            render::bytes(layout.bytes),
            render::duration(layout.took),
        ]);
    }
    table.print(out, "")?;
    writeln!(out, "{DIM}monthly.zarr holds the temperature alone: its chunks are the months, 31, 28, 31, 30, … days long.{DIM:#}\n")?;
    Ok(out.flush()?)
}

/// Compares every array of the other layouts with the first; how many arrays that layout has.
fn compare(dir: &Path, layouts: &[Layout], context: &Context) -> Result<usize> {
    let mut arrays = 0;
    let first = open(dir, layouts[0].file, context)?;
    for entry in crate::location::walk(gingham::open(&first, "", &context.array)?)? {
        let Ok(Node::Array(array)) = entry.node else { continue };
        arrays += 1;
        let sum = checksum(&array, &|_| {})?;
        for layout in &layouts[1..] {
            let other = match Array::open_with(&open(dir, layout.file, context)?, &entry.relative, &context.array) {
                Ok(other) => other,
                // The monthly layout has one array.
                Err(e) if e.kind() == gingham::Kind::NotFound => continue,
                Err(e) => return Err(e.into()),
            };
            if checksum(&other, &|_| {})? != sum {
                return Err(Failure::bad_data(format!("{} of {} has other values than {}", entry.relative, layout.file, layouts[0].file)));
            }
        }
    }
    Ok(arrays)
}

fn measure(dir: &Path, layouts: &[Layout], read: &Read, context: &Context) -> Result<Vec<Cost>> {
    let mut costs = Vec::new();
    for (i, layout) in layouts.iter().enumerate() {
        let count = Count::new(open(dir, layout.file, context)?);
        let (counts, store) = (count.counts(), Store::new(count));
        let selection = Selection::parse(read.selection).map_err(gingham::Error::from)?;
        let array = match Array::open_with(&store, read.array, &context.array) {
            Ok(array) => array,
            Err(e) if e.kind() == gingham::Kind::NotFound => continue,
            Err(e) => return Err(e.into()),
        };
        let decoded = array.plan(selection.clone())?.cost().decoded;
        counts.reset();
        let mut took = Duration::MAX;
        let (mut requests, mut bytes) = (0, 0);
        // The best of three: the first one warms the caches. Its requests count, the shard indexes among them.
        for round in 0..3 {
            let start = Instant::now();
            array.read_elements(selection.clone())?;
            took = took.min(start.elapsed());
            if round == 0 {
                let tally = counts.now();
                (requests, bytes) = (tally.gets + tally.stats, tally.got_bytes);
            }
        }
        costs.push(Cost { layout: i, requests, bytes, decoded, took });
    }
    Ok(costs)
}

fn print_costs(layouts: &[Layout], costs: &[Vec<Cost>], out: &mut dyn Write) -> Result<()> {
    let mut table = Table::new(&[
        ("read", Align::Left),
        ("layout", Align::Left),
        ("requests", Align::Right),
        ("fetched", Align::Right),
        ("decoded", Align::Right),
        ("time", Align::Right),
    ]);
    for (read, costs) in READS.iter().zip(costs) {
        for (i, cost) in costs.iter().enumerate() {
            table.row([
                if i == 0 { read.about.into() } else { String::new() },
                layouts[cost.layout].file.into(),
                render::count(cost.requests),
                render::bytes(cost.bytes),
                render::bytes(cost.decoded),
                render::duration(cost.took),
            ]);
        }
    }
    table.print(out, "")?;
    writeln!(out, "{DIM}A request costs next to nothing on this disk, and some 30 ms on an object store.{DIM:#}\n")?;
    Ok(())
}

fn print_next(folder: &Folder, out: &mut dyn Write) -> Result<()> {
    if folder.keep {
        let at = |file: &str| folder.path.join(file).display().to_string();
        writeln!(out, "Look closer:")?;
        writeln!(out, "  {NAME}gingham tree {}{NAME:#}", at("sharded.zarr"))?;
        writeln!(out, "  {NAME}gingham info --stored {}{NAME:#}", at("monthly.zarr/temperature"))?;
        writeln!(out, "  {NAME}gingham plan {} --select ':, 45, 90'{NAME:#}", at("old.zarr/temperature"))?;
    } else {
        writeln!(out, "Keep it to look closer: {NAME}gingham demo ./demo{NAME:#}")?;
    }
    Ok(())
}

fn to_json(folder: &Folder, layouts: &[Layout], costs: &[Vec<Cost>]) -> serde_json::Value {
    let layouts_json: Vec<_> = layouts
        .iter()
        .map(|l| json!({ "layout": l.file, "objects": l.objects, "bytes": l.bytes, "seconds": l.took.as_secs_f64() }))
        .collect();
    let reads: Vec<_> = READS
        .iter()
        .zip(costs)
        .flat_map(|(read, costs)| {
            costs.iter().map(|c| {
                json!({
                    "read": read.about, "array": read.array, "select": read.selection, "layout": layouts[c.layout].file,
                    "requests": c.requests, "fetched": c.bytes, "decoded": c.decoded, "seconds": c.took.as_secs_f64(),
                })
            })
        })
        .collect();
    json!({ "folder": folder.path, "kept": folder.keep, "layouts": layouts_json, "reads": reads })
}
