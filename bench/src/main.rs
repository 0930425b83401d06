//! `versus`: gingham and zarrs read the same arrays, in turns, in one process. Prints a Markdown table, or JSON.
//!
//! ```text
//!   versus [--quick] [--json] [--rounds N] [--only TEXT] [--dir DIR]
//! ```
//!
//! gingham writes the arrays into a directory below DIR (the system's temporary one) and removes it at the end. Before
//! anything is timed, both readers must give the bytes that were written. Files are in the page cache. In each round the
//! two readers take turns, and who begins changes; the medians are printed.

mod data;
mod layouts;
mod measure;
mod readers;

use std::collections::HashMap;
use std::hint::black_box;
use std::path::{Path, PathBuf};

use gingham::core::json::Map;
use gingham::{Array, Grid, NewArray, Region, Store};
use layouts::{Field, Job, Layout};
use measure::Samples;
use serde_json::json;

type Failure = Box<dyn std::error::Error>;

struct Arguments {
    rounds: usize,
    json: bool,
    only: Option<String>,
    dir: PathBuf,
}

/// Rounds of a full run, and of a quick one (which takes about a minute).
const ROUNDS: (usize, usize) = (11, 3);

fn arguments() -> Result<Arguments, Failure> {
    let mut found = Arguments { rounds: ROUNDS.0, json: false, only: None, dir: std::env::temp_dir() };
    let mut given = std::env::args().skip(1);
    while let Some(argument) = given.next() {
        let mut value = || given.next().ok_or_else(|| format!("{argument} takes a value"));
        match argument.as_str() {
            "--quick" => found.rounds = ROUNDS.1,
            "--json" => found.json = true,
            "--rounds" => found.rounds = value()?.parse()?,
            "--only" => found.only = Some(value()?),
            "--dir" => found.dir = value()?.into(),
            other => return Err(format!("{other}: expected --quick, --json, --rounds N, --only TEXT, --dir DIR").into()),
        }
    }
    Ok(found)
}

struct Line {
    layout: String,
    job: &'static str,
    gingham: Samples,
    zarrs: Samples,
}

fn main() -> Result<(), Failure> {
    let arguments = arguments()?;
    let dir = tempfile::tempdir_in(&arguments.dir)?;
    let mut fields: HashMap<(&str, [u64; 3]), Vec<u8>> = HashMap::new();
    let mut lines = Vec::new();
    for (i, layout) in layouts::layouts().iter().enumerate() {
        let name = format!("{} {}", layout.field.name(), layout.name);
        if arguments.only.as_ref().is_some_and(|only| !name.contains(only)) {
            continue;
        }
        let values = fields.entry((layout.field.name(), layout.shape)).or_insert_with(|| match layout.field {
            Field::Climate => data::climate(&layout.shape),
            Field::Micro => data::micro(&layout.shape),
        });
        let path = dir.path().join(i.to_string());
        write(&path, layout, values)?;
        let (gingham, zarrs) = (readers::gingham(&path)?, readers::zarrs(&path)?);
        check(&name, &[&gingham, &zarrs], layout, values)?;
        for job in layouts::jobs(&layout.shape) {
            let line = compare(name.clone(), &job, &gingham, &zarrs, arguments.rounds)?;
            eprintln!("{name}, {}: {:.1} ms, {:.1} ms", job.name, line.gingham.wall(), line.zarrs.wall());
            lines.push(line);
        }
        std::fs::remove_dir_all(&path)?;
    }
    if arguments.json {
        print_json(&lines, arguments.rounds)
    } else {
        print_table(&lines)
    }
    Ok(())
}

fn write(path: &Path, layout: &Layout, values: &[u8]) -> Result<(), Failure> {
    let store = Store::open(&path.to_string_lossy())?;
    let new = NewArray {
        inner_chunks: layout.inner.map(|inner| inner.to_vec()),
        codecs: Some(layout.codecs.clone()),
        attributes: Map::new(),
        ..NewArray::new(layout.field.data_type(), Grid::regular(&layout.shape, &layout.chunks)?)
    };
    Array::create(&store, "", new)?.write_bytes((), values)?;
    Ok(())
}

/// Both readers give what was written: everything, and the boxes of every job.
fn check(name: &str, readers: &[&readers::Read], layout: &Layout, values: &[u8]) -> Result<(), Failure> {
    let item = values.len() / layout.shape.iter().product::<u64>() as usize;
    for job in layouts::jobs(&layout.shape) {
        for region in &job.regions {
            let expected = cut(values, &layout.shape, item, region);
            for (read, reader) in readers.iter().zip(["gingham", "zarrs"]) {
                if read(region)? != expected {
                    return Err(format!("{reader} misread {name}, {}", job.name).into());
                }
            }
        }
    }
    Ok(())
}

/// A box of the values that were written.
fn cut(values: &[u8], shape: &[u64; 3], item: usize, region: &Region) -> Vec<u8> {
    let mut out = Vec::new();
    for z in 0..region.shape[0] {
        for y in 0..region.shape[1] {
            let row = ((region.start[0] + z) * shape[1] + region.start[1] + y) * shape[2] + region.start[2];
            out.extend_from_slice(&values[row as usize * item..(row + region.shape[2]) as usize * item]);
        }
    }
    out
}

fn compare(layout: String, job: &Job, gingham: &readers::Read, zarrs: &readers::Read, rounds: usize) -> Result<Line, Failure> {
    let mut failed = None;
    let mut run = |read: &readers::Read| {
        measure::time(|| {
            for region in &job.regions {
                match read(region) {
                    Ok(bytes) => drop(black_box(bytes)),
                    Err(e) => failed = Some(e),
                }
            }
        })
    };
    run(gingham);
    run(zarrs);
    let mut line = Line { layout, job: job.name, gingham: Samples::default(), zarrs: Samples::default() };
    for round in 0..rounds {
        if round % 2 == 0 {
            line.gingham.push(run(gingham));
            line.zarrs.push(run(zarrs));
        } else {
            line.zarrs.push(run(zarrs));
            line.gingham.push(run(gingham));
        }
    }
    failed.map_or(Ok(line), Err)
}

fn print_table(lines: &[Line]) {
    println!("| array | read | gingham ms | zarrs ms | zarrs / gingham | gingham CPU ms | zarrs CPU ms | zarrs / gingham |");
    println!("|---|---|--:|--:|--:|--:|--:|--:|");
    for line in lines {
        let (g, z) = (&line.gingham, &line.zarrs);
        println!(
            "| {} | {} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} |",
            line.layout,
            line.job,
            g.wall(),
            z.wall(),
            z.wall() / g.wall(),
            g.cpu(),
            z.cpu(),
            z.cpu() / g.cpu(),
        );
    }
}

fn print_json(lines: &[Line], rounds: usize) {
    let of = |s: &Samples| json!({"wall_ms": s.wall(), "best_ms": s.best(), "cpu_ms": s.cpu()});
    let lines: Vec<_> = lines
        .iter()
        .map(|line| {
            json!({
                "array": line.layout,
                "read": line.job,
                "gingham": of(&line.gingham),
                "zarrs": of(&line.zarrs),
                "ratio": line.zarrs.wall() / line.gingham.wall(),
            })
        })
        .collect();
    println!("{:#}", json!({"rounds": rounds, "results": lines}));
}
