//! `gingham tree`: a hierarchy with types, shapes and chunks.

use std::io::Write;

use clap::Args;
use gingham::{Array, Entry, Format, Node};
use serde_json::{Value, json};

use crate::commands::info::format_number;
use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::location;
use crate::render;
use crate::table::{Align, Table};
use crate::words;

/// Runs of an axis' cuts that are printed on a line.
const RUNS: usize = 5;

/// What was typed.
#[derive(Debug, Args)]
#[command(after_help = "\
A node that cannot be opened is listed with the reason, and the walk goes on.

Examples:
  gingham tree data.zarr
  gingham tree --depth 1 s3://bucket/data.zarr
  gingham tree --json data.zarr | jq -r '.[] | select(.node == \"array\") | .path'")]
pub struct Arguments {
    /// Group or array: path or URL
    location: String,
    /// Levels below the root that are listed
    #[arg(long, value_name = "N")]
    depth: Option<usize>,
}

/// Lists it.
pub fn run(arguments: Arguments, context: &Context) -> Result<Exit> {
    let root = location::node(context, &arguments.location)?;
    if let Node::Group(group) = &root {
        location::warn_of(context, group);
    }
    let mut entries = match (&root, arguments.depth) {
        // One level costs one listing.
        (Node::Group(group), Some(1)) => {
            let path = group.path().to_string();
            let itself = Entry { path, relative: String::new(), node: Ok(root.clone()) };
            std::iter::once(itself).chain(group.children()?).collect()
        }
        _ => location::walk(root)?,
    };
    let most = arguments.depth.unwrap_or(usize::MAX);
    entries.retain(|e| level(&e.relative) <= most);
    let mut out = context.text();
    if context.json {
        let list: Vec<Value> = entries.iter().map(|e| entry_json(&e.relative, e)).collect();
        writeln!(out, "{}", gingham::core::json::to_text(&Value::Array(list)))?;
    } else {
        let names = branches(&entries.iter().map(|e| e.relative.as_str()).collect::<Vec<_>>(), &arguments.location);
        table(names.into_iter().zip(&entries), None).print(&mut out, "")?;
    }
    out.flush()?;
    Ok(Exit::Done)
}

/// Levels below the root.
fn level(path: &str) -> usize {
    if path.is_empty() { 0 } else { path.split('/').count() }
}

/// Names with the branches that lead to them. Paths come depth first; a parent that is not listed is not drawn.
fn branches(paths: &[&str], root: &str) -> Vec<String> {
    let depths: Vec<usize> = paths.iter().map(|p| level(p)).collect();
    let mut open = Vec::new();
    let mut lines = vec![String::new(); paths.len()];
    // From the last to the first: a level is open where a later sibling hangs on it.
    for i in (0..paths.len()).rev() {
        let depth = depths[i];
        if depth == 0 {
            // Of a hierarchy's root the last part of its path is name enough.
            let path = root.trim_end_matches('/');
            let name = if paths.len() > 1 { path.rsplit('/').next().unwrap_or(path) } else { path };
            lines[i] = render::short(if name.is_empty() { "/" } else { name }, 100);
            continue;
        }
        open.resize(depth + 1, false);
        let mut line: String = (1..depth).map(|d| if open[d] { "│   " } else { "    " }).collect();
        line.push_str(if open[depth] { "├── " } else { "└── " });
        line.push_str(&render::short(paths[i].rsplit('/').next().unwrap_or_default(), 100));
        lines[i] = line;
        open[depth] = true;
    }
    lines
}

/// Nodes with their names as lines of a table. The format is told where it is not that of the group before: `format`, if any.
pub fn table<'a>(entries: impl Iterator<Item = (String, &'a Entry)>, mut format: Option<Format>) -> Table {
    let mut table = Table::new(&[("", Align::Left), ("", Align::Left), ("", Align::Left), ("", Align::Left), ("", Align::Left)]);
    for (name, entry) in entries {
        match &entry.node {
            Ok(Node::Group(group)) => {
                let own = group.meta().format();
                let same = format.replace(own) == Some(own);
                table.row([name, if same { "group".into() } else { format!("group, {}", words::format(own)) }])
            }
            Ok(Node::Array(array)) => {
                let mut cells = vec![name, render::short(&array.data_type().to_string(), 32), render::shape(&array.shape())];
                cells.extend(cuts(array));
                if let Some(problem) = array.meta().problem() {
                    cells.push(format!("cannot be read: {}", render::short(&problem.what, 120)));
                }
                table.row(cells)
            }
            Err(error) => table.row([name, format!("cannot be opened: {}", render::short(&error.to_string(), 160))]),
        };
    }
    table
}

/// `64 x 256 in shards 512 x 1024`, and how many.
fn cuts(array: &Array) -> [String; 1] {
    let grid = words::grid_line(array.grid(), RUNS);
    let many = |n: Option<u64>, one: &str, many: &str| n.map_or(format!("more than 2^64 {many}"), |n| render::plural(n, one, many));
    [match array.inner_chunk_shape() {
        Some(inner) => {
            format!("{} of {grid}, chunks {}", many(array.grid().chunk_count(), "shard", "shards"), render::shape(&inner))
        }
        None => format!("{} of {grid}", many(array.grid().chunk_count(), "chunk", "chunks")),
    }]
}

/// A node for --json.
pub fn entry_json(path: &str, entry: &Entry) -> Value {
    match &entry.node {
        Ok(Node::Group(group)) => json!({ "path": path, "node": "group", "format": format_number(group.meta().format()) }),
        Ok(Node::Array(array)) => {
            let chunks: Vec<Value> = array
                .grid()
                .axes()
                .iter()
                .map(|a| match a.as_step() {
                    Some(step) => step.into(),
                    None => a.runs().iter().map(|r| Value::from(vec![r.length, r.count])).collect(),
                })
                .collect();
            json!({
                "path": path,
                "node": "array",
                "format": format_number(array.meta().format()),
                "data_type": array.data_type().name(),
                "shape": array.shape(),
                "dimension_names": array.meta().dimension_names(),
                "chunks": chunks,
                "chunk_count": array.grid().chunk_count(),
                "inner_chunk_shape": array.inner_chunk_shape(),
                "problem": array.meta().problem().map(|p| p.what.clone()),
            })
        }
        Err(error) => json!({ "path": path, "node": null, "error": error.to_string(), "at": error.place().to_string() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_follow_the_paths() {
        let paths = ["", "a", "g", "g/b", "g/h", "g/h/c", "z"];
        assert_eq!(branches(&paths, "/a/data.zarr/"), ["data.zarr", "├── a", "├── g", "│   ├── b", "│   └── h", "│       └── c", "└── z"]);
        assert_eq!(branches(&[""], "a/x"), ["a/x"]);
        assert_eq!(branches(&["", "a"], "/"), ["/", "└── a"]);
    }
}
