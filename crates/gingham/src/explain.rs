//! A plan as text and JSON, and how many requests it takes at most: what `gingham plan` prints.

use std::fmt;

use gingham_core::json::Value;
use serde_json::json;

use crate::Array;
use crate::read::machine::{RAW_RANGES, WHOLE_SHARD_BYTES, WINDOW_BYTES, Windows};
use crate::read::plan::{Object, Piece, Plan};

/// Objects whose requests are counted one by one; of more, only the most that they could take.
const COUNTED: usize = 1 << 16;

impl Array {
    /// Requests that a read takes at most from this array's own store, as long as nobody writes to it: gets, and the questions for
    /// size and version that a local store is asked beside them. [`Plan::requests`] is the same behind a network.
    ///
    /// ```
    /// use gingham::{Array, DataType, Grid, NewArray, Region, Store};
    /// let store = Store::open("memory:")?;
    /// let a = Array::create(&store, "", NewArray::new(DataType::UInt8, Grid::regular(&[60], &[20])?))?;
    /// let part = Region { start: [10].as_slice().into(), shape: [20].as_slice().into() };
    /// assert_eq!(a.requests(&a.plan(&part)?), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn requests(&self, plan: &Plan) -> u64 {
        if !self.store().traits().local {
            return plan.requests();
        }
        let turned = self.meta().codecs().iter().any(|c| matches!(c, gingham_core::codec::Codec::Transpose { .. }));
        let cost = plan.cost();
        if plan.layout.inner.is_some() {
            // Its version before and after, and its index.
            return cost.objects.saturating_mul(3).saturating_add(cost.chunks);
        }
        if !plan.layout.raw {
            return cost.objects;
        }
        // An edge chunk of which all is wanted that lies in the array is no whole chunk.
        let part = |object: &Object| !(object.is_whole() && object.stored == object.logical);
        let each = |object: &Object| {
            let ranges = if part(object) { raw_requests(object, turned) } else { 1 };
            ranges.max(window_requests(object, plan.layout.item))
        };
        // A window holds more than half of what one should, but for the last.
        let windows = cost.objects.saturating_add(cost.decoded / (WINDOW_BYTES / 2));
        plan.sum(each, cost.objects.saturating_mul(1 + RAW_RANGES as u64).saturating_add(windows))
    }
}

/// Requests of an uncompressed chunk that is read in windows: its size, and each window.
fn window_requests(object: &Object, item: u64) -> u64 {
    Windows::of(&object.stored, item).map_or(1, |Windows { axis, rows, .. }| 1 + object.stored[axis].div_ceil(rows))
}

/// Requests of a part of an uncompressed chunk: its size, and each run of bytes; or the whole chunk.
fn raw_requests(object: &Object, turned: bool) -> u64 {
    let [wanted] = object.parts.as_slice() else { return 1 };
    if wanted.points.is_some() {
        return 1;
    }
    if turned {
        return 1 + RAW_RANGES as u64;
    }
    // From the last axis outwards: as long as an axis is wanted whole, its rows lie together.
    let (mut runs, mut together) = (1u64, true);
    for (take, &length) in wanted.part.takes.iter().zip(&object.stored).rev() {
        let spans = take.bounds().map_or(0, |(low, high)| high - low + 1);
        if !together || spans != take.count() {
            runs = runs.saturating_mul(take.count());
        }
        together &= take.count() == length && spans == length;
    }
    1 + runs.min(RAW_RANGES as u64)
}

impl Plan {
    /// Requests that the read takes at most behind a network, as long as nobody writes there: one for each object, and for a shard
    /// of which only a part is wanted, or that is larger than one request should be, its index and each chunk in it (chunks that
    /// lie together are then fetched together).
    pub fn requests(&self) -> u64 {
        let cost = self.cost();
        if self.layout.inner.is_none() {
            return cost.objects;
        }
        let decoded = |object: &Object| object.stored.iter().fold(self.layout.item, |n, &l| n.saturating_mul(l));
        let whole = |object: &Object| object.stored == object.logical && object.is_whole() && decoded(object) <= WHOLE_SHARD_BYTES;
        // What is fetched whole takes one request instead of one and one for each chunk.
        let saved = |object: &Object| if whole(object) { self.chunks_of(object) } else { 0 };
        cost.objects.saturating_add(cost.chunks).saturating_sub(self.sum(saved, 0))
    }

    /// Chunks inside a shard that is wanted whole.
    fn chunks_of(&self, object: &Object) -> u64 {
        let inner = self.layout.inner.as_deref().unwrap_or_default();
        object.stored.iter().zip(inner).fold(1, |n, (&length, &chunk)| n.saturating_mul(length.div_ceil(chunk.max(1))))
    }

    /// The sum over all objects, or `most` where there are many.
    fn sum(&self, each: impl Fn(&Object) -> u64, most: u64) -> u64 {
        match self.object_count() {
            count if count <= COUNTED => (0..count).map(|i| each(&self.object(i))).fold(0, u64::saturating_add),
            _ => most,
        }
    }

    /// As JSON: shape, cost, and at most `most` pieces with their keys.
    pub fn to_json(&self, most: usize) -> Value {
        let cost = self.cost();
        let pieces: Vec<Value> = self.pieces().take(most).map(|p| piece_json(&p)).collect();
        json!({
            "shape": self.shape(),
            "objects": cost.objects,
            "chunks": cost.chunks,
            "requests": self.requests(),
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
        writeln!(f, "requests   {} at most", self.requests())?;
        for piece in self.pieces().take(LISTED) {
            writeln!(f, "  {piece}")?;
        }
        if cost.chunks > LISTED as u64 {
            writeln!(f, "  … and {} more", cost.chunks - LISTED as u64)?;
        }
        Ok(())
    }
}
