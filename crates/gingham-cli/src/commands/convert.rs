//! `gingham convert`: a hierarchy into another format or layout.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use gingham::{Entry, Node};
use gingham_ops::convert::{Cut, Event, Options, Report, convert};
use serde_json::json;

use crate::args::FormatArg;
use crate::codec_text;
use crate::context::Context;
use crate::error::{Failure, Result};
use crate::exit::Exit;
use crate::location;
use crate::progress::Progress;
use crate::render;
use crate::table::{Align, Table};

/// What was typed.
#[derive(Debug, Args)]
#[command(after_help = "\
Groups, attributes, dimension names and fill values come along. What cannot be converted is an error
before anything is written; the root document is written last.

Examples:
  gingham convert old.zarr new.zarr                                the same layout in format 3
  gingham convert old.zarr new.zarr --chunks auto --shards auto    fewer, larger objects
  gingham convert old.zarr new.zarr --chunks 31,180,360 --codec blosc:zstd:5
  gingham convert old.zarr s3://bucket/new.zarr --chunks '[[31,28,31,30],180,360]' --shards none
  gingham convert new.zarr old.zarr --format 2 --shards none")]
pub struct Arguments {
    /// Source: path or URL of an array or group
    source: String,
    /// Target: path or URL
    target: String,
    /// Format of the target
    #[arg(long, value_name = "2|3", default_value = "3", hide_possible_values = true)]
    format: FormatArg,
    /// Chunks: keep, auto, or as in 64,256,256 or lists of lengths
    #[arg(long, value_name = "GRID", default_value = "keep", allow_hyphen_values = true)]
    chunks: String,
    /// Shards: keep, auto, none, or as in 512,1024,1024 or lists of lengths
    #[arg(long, value_name = "GRID", default_value = "keep", allow_hyphen_values = true)]
    shards: String,
    /// Codecs of a chunk, as in zstd:3 or blosc:lz4:5:shuffle [default: the source's]
    #[arg(long, value_name = "CODECS")]
    codec: Option<String>,
    /// Memory for data under way
    #[arg(long, value_name = "SIZE", default_value = "512MiB", value_parser = render::parse_bytes)]
    memory: u64,
    /// Replace what is at the target
    #[arg(long)]
    overwrite: bool,
}

impl Arguments {
    fn options(&self, context: &Context) -> Result<Options> {
        let chunks = cut(&self.chunks);
        if chunks == Cut::None {
            return Err(Failure::usage("there are always chunks; --chunks cannot be none"));
        }
        Ok(Options {
            format: Some(self.format.into()),
            chunks,
            shards: cut(&self.shards),
            codecs: self.codec.as_deref().map(|text| codec_text::parse(text, None)).transpose()?,
            memory: Some(self.memory),
            overwrite: self.overwrite,
            array: context.array.clone(),
        })
    }
}

fn cut(text: &str) -> Cut {
    match text.trim().to_ascii_lowercase().as_str() {
        "keep" => Cut::Keep,
        "auto" => Cut::Auto,
        "none" => Cut::None,
        _ => Cut::Text(text.trim().into()),
    }
}

/// What the source held.
#[derive(Debug, Default)]
struct Before {
    objects: u64,
    bytes: u64,
}

/// Converts it.
pub fn run(arguments: Arguments, context: &Context) -> Result<Exit> {
    let options = arguments.options(context)?;
    let source = location::node(context, &arguments.source)?;
    let target = location::conversion_target(context, &arguments.target, arguments.overwrite)?;
    let entries = location::walk(source.clone())?;
    let before = before(&entries);
    let elements = |node: &Node| match node {
        Node::Array(a) => a.shape().iter().fold(1u64, |n, &l| n.saturating_mul(l)),
        Node::Group(_) => 0,
    };
    let total = entries.iter().flat_map(|e| &e.node).map(elements).fold(0, u64::saturating_add);
    let progress = Progress::new(context, "converting", total);
    let begun = AtomicBool::new(false);
    let start = Instant::now();
    let done = convert(&source, &target, &options, &|event| {
        begun.fetch_or(matches!(event, Event::Start { .. }), Ordering::Relaxed);
        if let Event::Warning { path, what } = &event
            && !context.json
        {
            progress.suspend(|| context.warn(&format!("/{path}: {what}")));
        }
        progress.event(&event);
    });
    progress.finish();
    let report = done.map_err(|e| failed(e, begun.load(Ordering::Relaxed), &arguments))?;
    location::consolidate_above(context, &arguments.target, arguments.format.into())?;
    print(&arguments, &report, before.as_ref(), start.elapsed(), context)
}

fn failed(error: gingham::Error, begun: bool, arguments: &Arguments) -> Failure {
    let exists = error.kind() == gingham::Kind::Exists;
    let failure = Failure::from(error);
    if exists {
        return failure.instead_hint("--overwrite replaces it");
    }
    // An archive takes its place when it is complete.
    let archive = [".zip", ".ozx"].iter().any(|end| arguments.target.to_ascii_lowercase().ends_with(end));
    let left = match (begun, archive) {
        (false, _) => "nothing was written".to_string(),
        (true, true) => format!("{} is as it was before", arguments.target),
        (true, false) => format!("{} is not complete; run it again with --overwrite", arguments.target),
    };
    let failure = failure.left(|| left.clone());
    if begun { failure.hint(left) } else { failure.before_writing() }
}

/// Objects and bytes of the source's arrays, where the store can list them.
fn before(entries: &[Entry]) -> Option<Before> {
    let mut sum = Before::default();
    for entry in entries {
        if let Ok(Node::Array(array)) = &entry.node {
            for (_, chunk, size) in array.stored().ok()? {
                if chunk.is_some() {
                    sum.objects += 1;
                    sum.bytes += size;
                }
            }
        }
    }
    Some(sum)
}

fn print(arguments: &Arguments, report: &Report, before: Option<&Before>, took: Duration, context: &Context) -> Result<Exit> {
    let mut out = context.text();
    if context.json {
        let line = json!({
            "source": arguments.source,
            "target": arguments.target,
            "groups": report.groups,
            "arrays": report.arrays,
            "elements": report.elements,
            "objects_before": before.map(|b| b.objects),
            "bytes_before": before.map(|b| b.bytes),
            "objects_written": report.objects_written,
            "bytes_written": report.bytes_written,
            "seconds": took.as_secs_f64(),
            "warnings": report.warnings,
        });
        writeln!(out, "{line}")?;
        out.flush()?;
        return Ok(Exit::Done);
    }
    let groups = match report.groups {
        0 => String::new(),
        n => format!("{}, ", render::plural(n, "group", "groups")),
    };
    let arrays = render::plural(report.arrays, "array", "arrays");
    let elements = render::plural(report.elements, "element", "elements");
    writeln!(out, "{}: {groups}{arrays}, {elements} in {}", arguments.target, render::duration(took))?;
    let mut table = Table::new(&[("", Align::Left), ("objects", Align::Right), ("bytes", Align::Right)]);
    if let Some(before) = before {
        table.row(["before".into(), render::count(before.objects), render::bytes(before.bytes)]);
    }
    table.row(["after".into(), render::count(report.objects_written), render::bytes(report.bytes_written)]);
    table.print(&mut out, "  ")?;
    out.flush()?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_are_words_or_text() {
        assert_eq!(cut("KEEP"), Cut::Keep);
        assert_eq!(cut("auto"), Cut::Auto);
        assert_eq!(cut("none"), Cut::None);
        assert_eq!(cut(" 64,256 "), Cut::Text("64,256".into()));
    }
}
