//! `gingham plan`: what a read would touch, without reading.

use std::io::Write;

use clap::Args;
use gingham::{Piece, Plan, Selection};

use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::location;
use crate::render::{self, style::DIM};
use crate::table::{Align, Facts, Table};

/// What was typed.
#[derive(Debug, Args)]
#[command(after_help = "\
Only documents are read; no chunk is fetched.

Examples:
  gingham plan data.zarr/t2m --select '0, ...'
  gingham plan data.zarr/t2m --select ':, 100, 200'       one pixel through all of time
  gingham plan data.zarr/t2m --select 'time=31:60, lat=200:420' --pieces 20
  gingham plan --json s3://bucket/data.zarr/t2m --pieces 0")]
pub struct Arguments {
    /// Array: path or URL
    location: String,
    /// What to read, as NumPy writes it, or by dimension names [default: everything]
    #[arg(long, short, value_name = "TEXT", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    select: String,
    /// Pieces to list
    #[arg(long, value_name = "N", default_value_t = 8)]
    pieces: usize,
}

/// Plans a read.
pub fn run(arguments: Arguments, context: &Context) -> Result<Exit> {
    let selection = Selection::parse(&arguments.select).map_err(gingham::Error::from)?;
    let array = location::array(context, &arguments.location)?;
    let plan = array.plan(selection)?;
    let mut out = context.text();
    if context.json {
        let mut json = plan.to_json(arguments.pieces);
        json["requests"] = array.requests(&plan).into();
        writeln!(out, "{}", gingham::core::json::to_text(&json))?;
    } else {
        facts(&plan, array.requests(&plan)).print(&mut out)?;
        pieces(&plan, arguments.pieces, &mut out)?;
    }
    out.flush()?;
    Ok(Exit::Done)
}

fn facts(plan: &Plan, requests: u64) -> Facts {
    let cost = plan.cost();
    let mut facts = Facts::new();
    facts.add("result", render::shape(plan.shape()));
    let within = match cost.objects == cost.chunks {
        true => String::new(),
        false => format!(" in {}", render::plural(cost.objects, "shard", "shards")),
    };
    facts.add("touches", format!("{}{within}", render::plural(cost.chunks, "chunk", "chunks")));
    facts.add("wanted", render::bytes(cost.wanted));
    let times = cost.amplification().map_or(String::new(), |a| format!(", {} what is wanted", render::ratio(a)));
    facts.add("decoded", format!("{}{times}", render::bytes(cost.decoded)));
    facts.add("fetched", cost.fetched.map_or("not known before the fetch (compressed)".into(), render::bytes));
    facts.add("requests", format!("at most {}", render::count(requests)));
    facts
}

fn pieces(plan: &Plan, most: usize, out: &mut dyn Write) -> Result<()> {
    let listed: Vec<Piece> = plan.pieces().take(most).collect();
    if listed.is_empty() {
        return Ok(());
    }
    let sharded = listed.iter().any(|p| p.inner.is_some());
    let chunk: &[(&str, Align)] = if sharded { &[("chunk in it", Align::Left)] } else { &[] };
    let head = [&[("key", Align::Left)], chunk, &[("part", Align::Left), ("goes to", Align::Left), ("", Align::Left)]].concat();
    let mut table = Table::new(&head);
    for piece in &listed {
        table.row(row(piece, sharded));
    }
    writeln!(out)?;
    table.print(out, "")?;
    let left = plan.cost().chunks.saturating_sub(listed.len() as u64);
    if left > 0 {
        writeln!(out, "{DIM}… and {} more (--pieces N lists more){DIM:#}", render::count(left))?;
    }
    Ok(())
}

fn row(piece: &Piece, sharded: bool) -> Vec<String> {
    let part: Vec<String> = piece.part.iter().map(|&(first, step, n)| span(first, step, n)).collect();
    let mut cells = vec![render::short(&piece.key, 80)];
    if sharded {
        cells.push(piece.inner.as_ref().map_or(String::new(), |i| bracket(i)));
    }
    cells.extend([format!("[{}]", part.join(", ")), bracket(&piece.out)]);
    if piece.whole {
        cells.push("whole".into());
    }
    cells
}

fn bracket(index: &[u64]) -> String {
    format!("[{}]", index.iter().map(u64::to_string).collect::<Vec<_>>().join(", "))
}

/// A run as a slice: `3:10`, `3:10:2`, `7:2:-1`; a list by its first element and its length.
fn span(first: u64, step: i64, n: u64) -> String {
    match (n, step) {
        (1, _) => first.to_string(),
        (_, 0) => format!("{first}… ({n} picked)"),
        (_, 1) => format!("{first}:{}", first.saturating_add(n)),
        _ => {
            let last = i128::from(first) + i128::from(step) * (i128::from(n) - 1);
            let stop = last + i128::from(step.signum());
            if stop < 0 { format!("{first}::{step}") } else { format!("{first}:{stop}:{step}") }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_read_as_slices() {
        assert_eq!(span(3, 1, 7), "3:10");
        assert_eq!(span(3, 2, 4), "3:10:2");
        assert_eq!(span(5, 1, 1), "5");
        assert_eq!(span(5, -1, 6), "5::-1");
        assert_eq!(span(7, -2, 2), "7:4:-2");
        assert_eq!(span(7, 0, 3), "7… (3 picked)");
    }
}
