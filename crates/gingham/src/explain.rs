//! A plan as text and JSON: what `gingham plan` prints.

use std::fmt;

use gingham_core::json::Value;
use serde_json::json;

use crate::read::plan::{Piece, Plan};

impl Plan {
    /// As JSON: shape, cost, and at most `most` pieces with their keys.
    pub fn to_json(&self, most: usize) -> Value {
        let cost = self.cost();
        let pieces: Vec<Value> = self.pieces().take(most).map(|p| piece_json(&p)).collect();
        json!({
            "shape": self.shape(),
            "objects": cost.objects,
            "chunks": cost.chunks,
            "requests": cost.requests,
            "wanted": cost.wanted,
            "decoded": cost.decoded,
            "fetched": cost.fetched,
            "amplification": cost.amplification(),
            "pieces": pieces,
        })
    }
}

fn piece_json(piece: &Piece) -> Value {
    let part: Vec<Value> = piece.part.iter().map(|(start, step, count)| json!({"start": start, "step": step, "count": count})).collect();
    json!({
        "key": piece.key,
        "object": piece.object.as_slice(),
        "inner": piece.inner.as_ref().map(|i| i.to_vec()),
        "part": part,
        "out": piece.out,
        "whole": piece.whole,
    })
}

impl fmt::Display for Piece {
    /// `c/0/1 [0, 3]  0:31, 5:10  -> 0, 40  (part)`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.key)?;
        if let Some(inner) = &self.inner {
            write!(f, " {:?}", inner.as_slice())?;
        }
        let axes: Vec<String> = self.part.iter().map(|&(start, step, count)| axis_text(start, step, count)).collect();
        write!(f, "  [{}] -> {:?}{}", axes.join(", "), self.out, if self.whole { "  whole" } else { "" })
    }
}

fn axis_text(start: u64, step: i64, count: u64) -> String {
    match (step, count) {
        (0, n) => format!("{n} picked from {start}"),
        (_, 1) => start.to_string(),
        (1, n) => format!("{start}:{}", start + n),
        (step, n) => {
            let stop = start as i128 + step as i128 * n as i128;
            if stop < 0 { format!("{start}::{step}") } else { format!("{start}:{stop}:{step}") }
        }
    }
}

/// Pieces that the text form lists before it stops.
const LISTED: usize = 20;

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cost = self.cost();
        writeln!(f, "shape      {:?}", self.shape())?;
        writeln!(f, "touched    {} chunks in {} objects", cost.chunks, cost.objects)?;
        writeln!(f, "wanted     {} bytes", cost.wanted)?;
        match cost.amplification() {
            Some(times) => writeln!(f, "decoded    {} bytes, {times:.2} times what is wanted", cost.decoded)?,
            None => writeln!(f, "decoded    {} bytes", cost.decoded)?,
        }
        match cost.fetched {
            Some(bytes) => writeln!(f, "fetched    {bytes} bytes at most")?,
            None => writeln!(f, "fetched    as many bytes as the chunks are compressed to")?,
        }
        writeln!(f, "requests   {} at most", cost.requests)?;
        for piece in self.pieces().take(LISTED) {
            writeln!(f, "  {piece}")?;
        }
        if cost.chunks > LISTED as u64 {
            writeln!(f, "  … and {} more", cost.chunks - LISTED as u64)?;
        }
        Ok(())
    }
}
