//! From a selection to the parts of chunks that it needs. Pure: nothing is fetched, and nothing is enumerated that can be
//! counted: a plan holds a list per axis, not their product.

use std::collections::BTreeMap;
use std::sync::Arc;

use gingham_codec::place::{Part, Take};
use gingham_core::Shape;
use gingham_core::cost::Cost;
use gingham_core::grid::{Axis, Grid, Span};
use gingham_core::region::{Pick, Resolved};
use smallvec::SmallVec;

use crate::error::{Error, Kind, Result};

/// What a read (or a write) touches: a value that prints (see [`crate::Array::plan`]).
#[derive(Debug, Clone)]
pub struct Plan {
    shape: Shape,
    parts: Parts,
    item: usize,
    pub(crate) layout: Arc<Layout>,
    cost: Cost,
}

/// What a plan must know of an array beside its grid.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub prefix: String,
    pub keys: gingham_core::key::KeyEncoding,
    /// Shape of the chunks inside each shard, in the array's axes, where they can be fetched one by one.
    pub inner: Option<Shape>,
    /// Bytes of an element in memory, for costs.
    pub item: u64,
    /// Chunks are stored as they are: parts can be fetched alone.
    pub raw: bool,
}

impl Layout {
    pub(crate) fn key(&self, chunk: &[u64]) -> String {
        let key = self.keys.encode(chunk);
        if self.prefix.is_empty() { key } else { format!("{}/{key}", self.prefix) }
    }
}

#[derive(Debug, Clone)]
enum Parts {
    Product { axes: Vec<Vec<AxisPart>>, strides: SmallVec<[usize; 4]> },
    Points(Vec<Object>),
}

/// The part of one chunk along one axis.
#[derive(Debug, Clone)]
struct AxisPart {
    chunk: u64,
    span: Span,
    take: Take,
}

/// What a plan wants of one stored object.
#[derive(Debug, Clone)]
pub struct Object {
    /// Grid index.
    pub chunk: Shape,
    /// Shape of what it decodes to.
    pub stored: Shape,
    /// Shape of what it contributes to the array.
    pub logical: Shape,
    /// The parts wanted: one for a product; for points one box for each inner chunk.
    pub parts: SmallVec<[Wanted; 1]>,
}

/// A part of an object, and where it goes.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The part. For points its place is a box of its own.
    pub part: Part,
    /// Points: (element of the box, element of the output).
    pub points: Option<Vec<(usize, usize)>>,
}

impl Object {
    /// True where every element that lies in the array is wanted: a write need not read.
    pub fn is_whole(&self) -> bool {
        match self.parts.as_slice() {
            [Wanted { part, points: None }] => part.takes.iter().zip(&self.logical).all(|(take, &len)| take.covers(len)),
            _ => false,
        }
    }
}

/// One chunk's part in a read, for printing and tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Grid index of the stored object.
    pub object: Shape,
    /// Index of the chunk inside its shard (array's axes), where the array is sharded.
    pub inner: Option<Shape>,
    /// The object's key, from the store's root.
    pub key: String,
    /// Part of the chunk: per axis first element, step and count (a list pick gives its first, 0 and its count).
    pub part: Vec<(u64, i64, u64)>,
    /// Where the part begins in the output, per axis.
    pub out: Vec<u64>,
    /// True where all of the chunk that lies in the array is read.
    pub whole: bool,
}

impl Plan {
    /// `order`: the axes of the output from the slowest to the fastest; C order where there is none.
    pub(crate) fn new(grid: &Grid, resolved: &Resolved, item: usize, layout: Arc<Layout>, order: Option<&[usize]>) -> Result<Plan> {
        let cost = cost(grid, resolved, &layout);
        let parts = match resolved {
            Resolved::Product { picks, .. } => {
                let mut stride = item;
                let mut strides: SmallVec<[usize; 4]> = picks.iter().map(|_| 0).collect();
                for k in (0..picks.len()).rev() {
                    let axis = order.map_or(k, |order| order[k]);
                    strides[axis] = stride;
                    stride = stride.saturating_mul(pick_len(&picks[axis]) as usize);
                }
                let axes =
                    picks.iter().zip(grid.axes()).enumerate().map(|(a, (pick, axis))| along(axis, pick, a)).collect::<Result<_>>()?;
                Parts::Product { axes, strides }
            }
            Resolved::Points { coordinates, .. } => Parts::Points(points(grid, coordinates, item, layout.inner.as_deref())),
        };
        Ok(Plan { shape: resolved.shape().into(), parts, item, layout, cost })
    }

    /// The result's shape.
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }
    /// Bytes of one element (or handle) in the output.
    pub(crate) fn item(&self) -> usize {
        self.item
    }
    /// Bytes between neighbours along each axis of the output of a product.
    pub(crate) fn strides(&self) -> Vec<usize> {
        match &self.parts {
            Parts::Product { strides, .. } => strides.to_vec(),
            Parts::Points(_) => Vec::new(),
        }
    }
    /// What it costs.
    pub fn cost(&self) -> Cost {
        self.cost
    }
    /// How many stored objects it touches.
    pub fn object_count(&self) -> usize {
        match &self.parts {
            Parts::Product { axes, .. } => axes.iter().map(Vec::len).fold(1, usize::saturating_mul),
            Parts::Points(objects) => objects.len(),
        }
    }
    /// Object `i` of them, in grid order.
    pub(crate) fn object(&self, i: usize) -> Object {
        match &self.parts {
            Parts::Points(objects) => objects[i].clone(),
            Parts::Product { axes, strides } => {
                let mut rest = i;
                let mut at: SmallVec<[&AxisPart; 4]> = SmallVec::new();
                for axis in axes.iter().rev() {
                    at.push(&axis[rest % axis.len()]);
                    rest /= axis.len();
                }
                at.reverse();
                let part = Part { takes: at.iter().map(|p| p.take.clone()).collect(), strides: strides.clone() };
                Object {
                    chunk: at.iter().map(|p| p.chunk).collect(),
                    stored: at.iter().map(|p| p.span.stored).collect(),
                    logical: at.iter().map(|p| p.span.logical).collect(),
                    parts: SmallVec::from_iter([Wanted { part, points: None }]),
                }
            }
        }
    }
    /// The key of an object.
    pub(crate) fn key(&self, object: &Object) -> String {
        self.layout.key(&object.chunk)
    }
    /// The pieces, in grid order; enumerated as they are walked.
    pub fn pieces(&self) -> impl Iterator<Item = Piece> + '_ {
        (0..self.object_count()).flat_map(move |i| {
            let object = self.object(i);
            let key = self.key(&object);
            let parts: Vec<Part> = object.parts.iter().map(|w| w.part.clone()).collect();
            parts.into_iter().flat_map(move |part| self.pieces_of(object.clone(), key.clone(), part))
        })
    }

    /// The pieces of one part of an object: one for each inner chunk that it meets. A shard may have billions of them, so that
    /// each is worked out when it is its turn.
    fn pieces_of(&self, object: Object, key: String, part: Part) -> impl Iterator<Item = Piece> + '_ {
        let inner = self.layout.inner.as_deref().unwrap_or(&[]);
        // First cell and how many, for each axis.
        let cells: SmallVec<[(u64, u64); 4]> = inner
            .iter()
            .zip(&part.takes)
            .map(|(len, take)| take.bounds().map_or((0, 0), |(low, high)| (low / len, high / len - low / len + 1)))
            .collect();
        let count = cells.iter().map(|c| c.1).fold(1, u64::saturating_mul);
        (0..count).filter_map(move |mut rest| {
            if self.layout.inner.is_none() {
                return Some(piece(&object, None, &key, &part.takes, &object.logical));
            }
            let mut cell: Shape = cells.iter().map(|c| c.0).collect();
            for (at, (_, count)) in cell.iter_mut().zip(&cells).rev() {
                *at += rest % count;
                rest /= count;
            }
            let takes = part.takes.iter().zip(&cell).zip(inner).map(|((take, c), len)| take.within(c * len, (c + 1) * len));
            let takes = takes.collect::<Option<SmallVec<[Take; 4]>>>()?;
            let logical = object.logical.iter().zip(&cell).zip(inner).map(|((l, c), len)| l.saturating_sub(c * len).min(*len));
            let logical: Shape = logical.collect();
            Some(piece(&object, Some(cell), &key, &takes, &logical))
        })
    }
}

fn piece(object: &Object, inner: Option<Shape>, key: &str, takes: &[Take], logical: &[u64]) -> Piece {
    Piece {
        object: object.chunk.clone(),
        inner,
        key: key.to_string(),
        part: takes.iter().map(summary).collect(),
        out: takes.iter().map(first_out).collect(),
        whole: takes.iter().zip(logical).all(|(t, &l)| t.covers(l)),
    }
}

fn summary(take: &Take) -> (u64, i64, u64) {
    match take {
        Take::Run { start, step, count, .. } => (*start, *step, *count),
        Take::List(pairs) => (pairs.first().map_or(0, |p| p.0), 0, pairs.len() as u64),
    }
}

fn first_out(take: &Take) -> u64 {
    match take {
        Take::Run { dst, .. } => *dst,
        Take::List(pairs) => pairs.first().map_or(0, |p| p.1),
    }
}

fn pick_len(pick: &Pick) -> u64 {
    match pick {
        Pick::Run { len, .. } => *len,
        Pick::List(list) => list.len() as u64,
    }
}

/// Chunks along one axis that one plan holds: 64 Mi of them are 6 GiB of plan, and no array in use has so many.
const MOST_CHUNKS: u64 = 64 << 20;

/// The chunks of one axis that a pick meets, each with its part. A run is walked chunk by chunk; a list is sorted into
/// chunks.
fn along(axis: &Axis, pick: &Pick, number: usize) -> Result<Vec<AxisPart>> {
    Ok(match pick {
        Pick::Run { len: 0, .. } => Vec::new(),
        Pick::Run { start, step, len } => {
            let run = Take::Run { start: *start, step: *step, count: *len, dst: 0 };
            let Some((low, high)) = run.bounds() else { return Ok(Vec::new()) };
            let (first, last) = (axis.locate(low).0, axis.locate(high).0);
            if last - first >= MOST_CHUNKS {
                let what = format!(
                    "the selection meets {} chunks along axis {number}; at most {MOST_CHUNKS} can be planned at once",
                    last - first + 1
                );
                return Err(Error::new(Kind::OutOfRange, what).at(|p| p.axis = Some(number)).with_hint("select less of that axis"));
            }
            axis.spans(first..last + 1)
                .filter_map(|(chunk, span)| run.within(span.start, span.start + span.logical).map(|take| AxisPart { chunk, span, take }))
                .collect()
        }
        Pick::List(list) => {
            let mut chunks: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
            for (dst, &i) in list.iter().enumerate() {
                let (chunk, offset) = axis.locate(i);
                chunks.entry(chunk).or_default().push((offset, dst as u64));
            }
            chunks.into_iter().map(|(chunk, pairs)| AxisPart { chunk, span: axis.span(chunk), take: Take::List(pairs) }).collect()
        }
    })
}

/// Points, sorted into objects and, inside a shard, into its chunks: each such group is fetched as the box around its points.
fn points(grid: &Grid, coordinates: &[Vec<u64>], item: usize, inner: Option<&[u64]>) -> Vec<Object> {
    let n = coordinates.first().map_or(1, Vec::len);
    let mut groups: BTreeMap<(Shape, Shape), Vec<(Shape, usize)>> = BTreeMap::new();
    for i in 0..n {
        let (mut chunk, mut cell, mut offset) = (Shape::new(), Shape::new(), Shape::new());
        for (a, (axis, along)) in grid.axes().iter().zip(coordinates).enumerate() {
            let (c, o) = axis.locate(along[i]);
            chunk.push(c);
            offset.push(o);
            cell.push(inner.map_or(0, |l| o / l[a]));
        }
        groups.entry((chunk, cell)).or_default().push((offset, i));
    }
    let mut objects: Vec<Object> = Vec::new();
    for ((chunk, _), points) in groups {
        let wanted = boxed(&points, grid.ndim(), item);
        match objects.last_mut().filter(|o| o.chunk == chunk) {
            Some(object) => object.parts.push(wanted),
            None => objects.push(Object {
                stored: grid.chunk_shape(&chunk),
                logical: grid.chunk_region(&chunk).shape,
                chunk,
                parts: SmallVec::from_iter([wanted]),
            }),
        }
    }
    objects
}

fn boxed(points: &[(Shape, usize)], ndim: usize, item: usize) -> Wanted {
    let low: Shape = (0..ndim).map(|a| points.iter().map(|p| p.0[a]).min().unwrap_or(0)).collect();
    let len: Shape = (0..ndim).map(|a| points.iter().map(|p| p.0[a]).max().unwrap_or(0) - low[a] + 1).collect();
    let mut strides: SmallVec<[usize; 4]> = len.iter().map(|_| 0).collect();
    let mut stride = item;
    for a in (0..ndim).rev() {
        strides[a] = stride;
        stride *= len[a] as usize;
    }
    let at = |p: &Shape| (0..ndim).map(|a| (p[a] - low[a]) as usize * strides[a] / item).sum();
    Wanted {
        points: Some(points.iter().map(|(p, i)| (at(p), *i)).collect()),
        part: Part { takes: (0..ndim).map(|a| Take::span(low[a], len[a], 0)).collect(), strides },
    }
}

/// The cost of a selection: the shared arithmetic over the unit that is decoded, with what storage adds.
fn cost(grid: &Grid, resolved: &Resolved, layout: &Layout) -> Cost {
    let objects = Cost::of(grid, resolved, layout.item);
    let Some(inner) = &layout.inner else {
        let fetched = layout.raw.then_some(objects.decoded);
        return Cost { fetched, ..objects };
    };
    // Inside shards the unit is the inner chunk: the same arithmetic over a regular grid of them. Shard edges are multiples of
    // it, so that grid cuts the array in the same places.
    let Ok(chunks) = Grid::regular(&grid.shape(), inner) else { return objects };
    let fine = Cost::of(&chunks, resolved, layout.item);
    Cost { objects: objects.objects, ..fine }
}
