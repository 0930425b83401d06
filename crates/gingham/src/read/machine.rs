//! The machine: which bytes a plan needs, and what is done with them. It never waits and never fetches.
//!
//! ```text
//!   object ──► first() ──► whole object or a range ───────────────► finish()
//!                     └──► shard index ──► with_index() ──► ranges ► finish()
//! ```
//!
//! (From a local store, where a range costs no round trip, an object is opened once and read range by range; the steps are
//! the same: [`Machine::slab`], [`index_range`], [`Machine::with_index`], [`Machine::finish`].)
//!
//! Drivers differ in how they wait; what they ask for and what happens to the bytes is decided here, once.

use std::sync::Arc;

use gingham_codec::chain::{Bound, placed};
use gingham_codec::place::{Part, Take, Target};
use gingham_codec::shard::{BoundShard, Index, inside};
use gingham_codec::{CodecFault, Context};
use gingham_core::codec::Location;
use gingham_store::{Range, coalesce};

use super::plan::{Object, Plan, Wanted};
use crate::array::Inner;
use crate::error::{Error, Kind, Result};
use crate::options::Missing;

/// Where a store is remote, a shard of which at least this share of chunks is wanted is fetched whole, in one request.
const WHOLE_SHARD_SHARE: f64 = 0.6;
/// No shard larger than this (decoded) is fetched whole: its chunks arrive in several fetches that overlap with decoding.
pub(crate) const WHOLE_SHARD_BYTES: u64 = 32 << 20;
/// An uncompressed chunk is fetched in part where the part spans at most this share of it ...
const RAW_SHARE: f64 = 0.5;
/// ... and in at most this many ranges; a thin slice never becomes thousands of reads.
pub(crate) const RAW_RANGES: usize = 64;

/// A local store is read from about so many bytes at a time, half a second cache of the smallest cores in use: what was read is
/// still there when it is decoded or placed, and workers share one shard.
pub(crate) const WINDOW_BYTES: u64 = 256 << 10;
/// Bytes that are read in the time of one more system call.
const RANGE_COST: u64 = 8 << 10;

/// The range of a need that fetches nothing.
const NOTHING: Range = Range::Bounded { start: 0, length: 0 };

/// One request of an object, and what its bytes are for.
#[derive(Debug)]
pub(crate) struct Need {
    pub range: Range,
    pub work: Work,
}

#[derive(Debug)]
pub(crate) enum Work {
    /// The whole object.
    Object,
    /// The index of its shard.
    Index,
    /// Part of an uncompressed chunk: its bytes from this one on.
    Slab(u64),
    /// Inner chunks of a shard: index in C order, offset in the fetched bytes, length, part, which of the wanted parts.
    Inner(Vec<InnerPiece>),
    /// Nothing to fetch: these inner chunks are absent.
    Absent(Vec<(Part, usize)>),
    /// Nothing to fetch: these chunks were decoded before.
    Kept(Vec<KeptPiece>),
}

impl Work {
    /// False where there is nothing to fetch.
    pub fn fetches(&self) -> bool {
        !matches!(self, Work::Absent(_) | Work::Kept(_))
    }
}

/// A chunk that was decoded before.
#[derive(Debug)]
pub(crate) struct KeptPiece {
    pub frame: Arc<Vec<u8>>,
    /// Inside a shard: the part (in the frame), which of the wanted parts. Else all wanted parts are of this chunk.
    pub inner: Option<(Part, usize)>,
}

#[derive(Debug)]
pub(crate) struct InnerPiece {
    pub inner: usize,
    pub offset: u64,
    pub len: u64,
    /// Where an uncompressed chunk is fetched in part: how many of its bytes come before what is fetched.
    pub window: Option<u64>,
    pub part: Part,
    pub wanted: usize,
}

/// What a machine begins an object with.
pub(crate) enum First {
    /// Something to fetch.
    Need(Need),
    /// Nothing: the shard's index is known.
    Index(Arc<Index>),
}

/// The bytes of an uncompressed chunk that a part needs: sorted ranges (start, length), all within `first..end`.
pub(crate) struct Slab {
    pub first: u64,
    pub end: u64,
    pub ranges: Vec<(u64, u64)>,
}

/// How a large uncompressed chunk of a local store is read: some rows of its first axis that has any at a time.
pub(crate) struct Windows {
    pub axis: usize,
    /// How many rows.
    pub rows: u64,
    /// Bytes of one.
    pub row: u64,
}

impl Windows {
    /// Those of a chunk of this shape; `None` where it is read at once.
    pub fn of(shape: &[u64], item: u64) -> Option<Windows> {
        let all = shape.iter().fold(item, |n, &len| n.saturating_mul(len));
        let axis = shape.iter().position(|&len| len > 1).filter(|_| all >= 2 * WINDOW_BYTES)?;
        let row = all / shape[axis];
        Some(Windows { axis, rows: (WINDOW_BYTES / row).max(1), row })
    }
}

/// An object that is being read.
#[derive(Debug)]
pub(crate) struct Task {
    pub object: Object,
    pub key: String,
    /// The chain for the object's shape.
    pub bound: Arc<Bound>,
    /// The version that is read, where the store tells and somebody wants to know.
    pub version: Option<String>,
}

/// The machine of one read.
pub(crate) struct Machine<'a> {
    pub array: &'a Inner,
    pub plan: &'a Plan,
    pub target: &'a Target<'a>,
}

impl Machine<'_> {
    /// Begins with object `i` of the plan.
    pub fn task(&self, i: usize) -> Result<Task> {
        let object = self.plan.object(i);
        let key = self.plan.key(&object);
        let bound = self.array.bound(&object.stored).map_err(|e| self.at(e, &object, &key))?;
        Ok(Task { object, key, bound, version: None })
    }

    /// What is needed first of an object behind a network.
    pub fn first(&self, task: &Task) -> First {
        let bound = &task.bound;
        let Some(shard) = bound.open_shard() else {
            if let Some(frame) = self.array.kept.find(&task.key, 0, None) {
                return First::Need(Need { range: NOTHING, work: Work::Kept(vec![KeptPiece { frame, inner: None }]) });
            }
            return First::Need(match self.slab(task) {
                Some(slab) => {
                    Need { range: Range::Bounded { start: slab.first, length: slab.end - slab.first }, work: Work::Slab(slab.first) }
                }
                None => Need { range: Range::All, work: Work::Object },
            });
        };
        let decoded = bound.decoded().byte_len().unwrap_or(0) as u64;
        if self.share(&task.object) >= WHOLE_SHARD_SHARE && decoded <= WHOLE_SHARD_BYTES {
            return First::Need(Need { range: Range::All, work: Work::Object });
        }
        match self.array.known_index(&task.key, None) {
            Some(index) => First::Index(index),
            None => First::Need(Need { range: index_range(shard), work: Work::Index }),
        }
    }

    /// Ranges of an uncompressed chunk that hold the wanted part, where that is clearly less than all of it.
    pub fn slab(&self, task: &Task) -> Option<Slab> {
        let (object, bound) = (&task.object, &task.bound);
        let [Wanted { part, points: None }] = object.parts.as_slice() else { return None };
        if !bound.is_raw() || self.target.is_variable() {
            return None;
        }
        let part = bound.order().map_or_else(|| part.clone(), |o| part.permuted(o));
        let ranges = raw_ranges(&part, bound.frame(), self.target.item() as u64)?;
        let traits = self.array.store.traits();
        // Writers that cut chunks off at the array's edge are known: behind a network those are fetched whole, to see their size.
        if !traits.local && object.stored != object.logical {
            return None;
        }
        let fetches = coalesce(&ranges, traits.gap);
        let total: u64 = fetches.iter().map(|f| f.length).sum();
        let all = bound.decoded().byte_len()? as u64;
        // Over a network each range costs a round trip: only one that holds everything is worth it.
        let most = if traits.local { RAW_RANGES } else { 1 };
        if fetches.len() > most || total as f64 > all as f64 * RAW_SHARE {
            return None;
        }
        let first = fetches.iter().map(|f| f.start).min()?;
        let end = fetches.iter().map(|f| f.start + f.length).max()?;
        Some(Slab { first, end, ranges: fetches.iter().map(|f| (f.start, f.length)).collect() })
    }

    fn share(&self, object: &Object) -> f64 {
        let wanted: f64 = object
            .parts
            .iter()
            .map(|w| {
                w.part
                    .takes
                    .iter()
                    .zip(&object.stored)
                    .map(|(t, &s)| {
                        let (low, high) = t.bounds().unwrap_or((0, 0));
                        (high - low + 1) as f64 / s.max(1) as f64
                    })
                    .product::<f64>()
            })
            .sum();
        wanted.min(1.0)
    }

    /// Keeps an index that arrived, of the task's version of its shard.
    pub fn index(&self, task: &Task, bytes: &[u8], context: &mut Context) -> Result<Arc<Index>> {
        let shard = task.bound.open_shard().ok_or_else(|| Error::new(Kind::Corrupt, "an index of something that is no shard"))?;
        let index = Arc::new(shard.parse_index(bytes, context).map_err(|e| self.place_error(e.into(), task))?);
        self.array.cache_index(&task.key, &index, task.version.as_deref());
        Ok(index)
    }

    /// What is needed of a shard whose index is known.
    pub fn with_index(&self, task: &Task, index: &Index) -> Vec<Need> {
        let Some(shard) = task.bound.open_shard() else { return Vec::new() };
        let traits = self.array.store.traits();
        let (mut pieces, mut absent, mut kept) = (Vec::new(), Vec::new(), Vec::new());
        for (w, wanted) in task.object.parts.iter().enumerate() {
            let turned = task.bound.order().map(|o| wanted.part.permuted(o));
            for (inner, part) in shard.pieces(turned.as_ref().unwrap_or(&wanted.part)) {
                let Some((offset, len)) = index.entry(inner) else {
                    absent.push((part, w));
                    continue;
                };
                if let Some(frame) = self.array.kept.find(&task.key, inner, task.version.as_deref()) {
                    kept.push(KeptPiece { frame, inner: Some((part, w)) });
                    continue;
                }
                let piece = InnerPiece { inner, offset, len, window: None, part, wanted: w };
                pieces.push(if traits.local { self.narrowed(shard.inner(), piece) } else { piece });
            }
        }
        let ranges: Vec<(u64, u64)> = pieces.iter().map(|p| (p.offset, p.len)).collect();
        let mut pieces: Vec<Option<InnerPiece>> = pieces.into_iter().map(Some).collect();
        let mut needs = Vec::new();
        if !absent.is_empty() {
            needs.push(Need { range: NOTHING, work: Work::Absent(absent) });
        }
        if !kept.is_empty() {
            needs.push(Need { range: NOTHING, work: Work::Kept(kept) });
        }
        for fetch in coalesce(&ranges, traits.gap) {
            let mut group: Vec<InnerPiece> = Vec::new();
            let (mut start, mut end) = (0, 0);
            let mut flush = |group: &mut Vec<InnerPiece>, start: u64, end: u64| {
                if !group.is_empty() {
                    let range = Range::Bounded { start, length: end - start };
                    needs.push(Need { range, work: Work::Inner(std::mem::take(group)) });
                }
            };
            for (i, offset) in fetch.serves {
                let Some(piece) = pieces.get_mut(i).and_then(Option::take) else { continue };
                let (from, to) = (fetch.start + offset, fetch.start + offset + piece.len);
                if !group.is_empty() && traits.local && to.saturating_sub(start) > WINDOW_BYTES {
                    flush(&mut group, start, end);
                }
                if group.is_empty() {
                    (start, end) = (from, to);
                }
                end = end.max(to);
                group.push(InnerPiece { offset: from - start, ..piece });
            }
            flush(&mut group, start, end);
        }
        needs
    }

    /// An uncompressed inner chunk of which only the bytes around a part are fetched, where they are clearly fewer than all.
    fn narrowed(&self, inner: &Bound, piece: InnerPiece) -> InnerPiece {
        let all = inner.decoded().byte_len().unwrap_or(0);
        let kept = self.array.kept.takes(all);
        if kept || !inner.is_raw() || inner.order().is_some() || self.target.is_variable() || piece.len != all as u64 {
            return piece;
        }
        let need = piece.part.extent(inner.frame(), self.target.item());
        // Neighbours that are no longer adjacent are no longer one range.
        let worth = (all - need.len().min(all)) as u64 > self.array.store.traits().gap.max(RANGE_COST);
        if need.is_empty() || need.end > all || need.len() as f64 > all as f64 * RAW_SHARE || !worth {
            return piece;
        }
        InnerPiece { offset: piece.offset + need.start as u64, len: need.len() as u64, window: Some(need.start as u64), ..piece }
    }

    /// Decodes and places what arrived; `None`: the object is absent.
    pub fn finish(&self, task: &Task, work: &Work, bytes: Option<&[u8]>, context: &mut Context) -> Result<()> {
        let result = match (work, bytes) {
            (Work::Absent(parts), _) => self.fill_inner(&task.object, &task.bound, parts),
            (Work::Kept(pieces), _) => pieces.iter().try_for_each(|piece| self.again(task, piece)),
            (_, None) => self.missing(&task.object, &task.key),
            (Work::Object, Some(bytes)) => self.whole(task, bytes, context),
            (Work::Slab(first), Some(bytes)) => self.window(&task.object, &task.bound, *first, bytes),
            (Work::Inner(pieces), Some(bytes)) => self.inner(task, pieces, bytes, context),
            (Work::Index, Some(_)) => Ok(()),
        };
        result.map_err(|e| {
            self.array.forget(&task.key);
            self.place_error(e, task)
        })
    }

    /// Says where an error happened.
    pub fn place_error(&self, error: Error, task: &Task) -> Error {
        self.at(error, &task.object, &task.key)
    }

    fn at(&self, error: Error, object: &Object, key: &str) -> Error {
        error.at(|p| {
            p.store = Some(self.array.store.describe());
            p.node = Some(format!("/{}", self.array.path));
            p.key = Some(key.to_string());
            p.chunk = Some(object.chunk.to_vec());
        })
    }

    #[allow(unsafe_code)]
    fn whole(&self, task: &Task, bytes: &[u8], context: &mut Context) -> Result<()> {
        if let Some(frame) = self.keep(task, &task.bound, 0, bytes, context)? {
            return self.again(task, &KeptPiece { frame, inner: None });
        }
        for wanted in &task.object.parts {
            self.with_target(wanted, |target| {
                // SAFETY: the parts of a plan cover the output once; this part is this worker's.
                unsafe { task.bound.place(bytes, &wanted.part, target, context) }.map_err(Error::from)
            })?;
        }
        Ok(())
    }

    /// Decodes a chunk into memory that is kept for later reads, where chunks are kept.
    fn keep(&self, task: &Task, bound: &Bound, inner: usize, bytes: &[u8], context: &mut Context) -> Result<Option<Arc<Vec<u8>>>> {
        let unknown = self.array.store.traits().local && task.version.is_none();
        let len = bound.decoded().byte_len().filter(|&len| self.array.kept.takes(len));
        if unknown || bound.open_shard().is_some() || self.target.is_variable() || len.is_none() {
            return Ok(None);
        }
        let frame = Arc::new(bound.decode_frame(bytes, context)?.into_owned());
        self.array.kept.put(&task.key, inner, task.version.as_deref(), &frame);
        Ok(Some(frame))
    }

    /// Places a chunk that was decoded before.
    #[allow(unsafe_code)]
    fn again(&self, task: &Task, piece: &KeptPiece) -> Result<()> {
        let place = |bound: &Bound, part: &Part, wanted: &Wanted| {
            // SAFETY: as in `whole`.
            self.with_target(wanted, |target| placed(unsafe { target.place(&piece.frame, bound.frame(), part) }).map_err(Error::from))
        };
        if let (Some((part, wanted)), Some(shard)) = (&piece.inner, task.bound.open_shard()) {
            let turned = shard.inner().order().map(|o| part.permuted(o));
            return place(shard.inner(), turned.as_ref().unwrap_or(part), &task.object.parts[*wanted]);
        }
        task.object.parts.iter().try_for_each(|wanted| {
            let turned = task.bound.order().map(|o| wanted.part.permuted(o));
            place(&task.bound, turned.as_ref().unwrap_or(&wanted.part), wanted)
        })
    }

    #[allow(unsafe_code)]
    fn inner(&self, task: &Task, pieces: &[InnerPiece], bytes: &[u8], context: &mut Context) -> Result<()> {
        let Some(shard) = task.bound.open_shard() else { return Ok(()) };
        for piece in pieces {
            let encoded = bytes.get(piece.offset as usize..(piece.offset + piece.len) as usize);
            let encoded =
                encoded.ok_or_else(|| CodecFault::corrupt("sharding_indexed", format!("inner chunk {} is cut short", piece.inner)))?;
            if let Some(frame) = self.keep(task, shard.inner(), piece.inner, encoded, context)? {
                self.again(task, &KeptPiece { frame, inner: Some((piece.part.clone(), piece.wanted)) })?;
                continue;
            }
            self.with_target(&task.object.parts[piece.wanted], |target| {
                // SAFETY (both): as in `whole`; inner pieces of one part are disjoint.
                let result = match piece.window {
                    Some(first) => placed(unsafe { target.place_window(encoded, first as usize, shard.inner().frame(), &piece.part) }),
                    None => unsafe { shard.inner().place(encoded, &piece.part, target, context) },
                };
                result.map_err(|e| inside(e, piece.inner).into())
            })?;
        }
        Ok(())
    }

    #[allow(unsafe_code)]
    fn fill_inner(&self, object: &Object, bound: &Bound, parts: &[(Part, usize)]) -> Result<()> {
        let Some(shard) = bound.open_shard() else { return Ok(()) };
        for (part, wanted) in parts {
            // SAFETY: as in `inner`.
            self.with_target(&object.parts[*wanted], |target| unsafe { shard.fill(part, target) }.map_err(Error::from))?;
        }
        Ok(())
    }

    #[allow(unsafe_code)]
    fn missing(&self, object: &Object, key: &str) -> Result<()> {
        if self.array.options.missing == Missing::Error {
            return Err(Error::new(Kind::NotFound, format!("chunk {:?} is not stored", object.chunk.as_slice()))
                .with_hint(format!("{key} is absent; without the option that asks for this error it reads as the fill value")));
        }
        for wanted in &object.parts {
            // SAFETY: as in `whole`.
            self.with_target(wanted, |target| match unsafe { target.fill(&wanted.part, self.array.fill.as_bytes()) } {
                true => Ok(()),
                false => Err(Error::new(Kind::OutOfRange, "a part reaches outside the output")),
            })?;
        }
        Ok(())
    }

    /// A window of an uncompressed chunk: rows are taken out of it as if the bytes before it were there.
    #[allow(unsafe_code)]
    fn window(&self, object: &Object, bound: &Bound, first: u64, bytes: &[u8]) -> Result<()> {
        let [Wanted { part, .. }] = object.parts.as_slice() else { return Ok(()) };
        let part = bound.order().map_or_else(|| part.clone(), |o| part.permuted(o));
        // SAFETY: as in `whole`.
        let fits = unsafe { self.target.place_window(bytes, first as usize, bound.frame(), &part) };
        fits.then_some(()).ok_or_else(|| {
            Error::new(
                Kind::Corrupt,
                format!("the store gave {} bytes from byte {first} of the chunk, fewer than were asked for", bytes.len()),
            )
        })
    }

    /// Places a part of uncompressed elements of this shape.
    #[allow(unsafe_code)]
    pub fn raw(&self, shape: &[u64], part: &Part, bytes: &[u8]) -> Result<()> {
        // SAFETY: as in `whole`.
        let fits = unsafe { self.target.place(bytes, shape, part) };
        fits.then_some(()).ok_or_else(|| Error::new(Kind::Corrupt, "a part reaches outside its chunk or the output"))
    }

    /// Gives the target of a wanted part: the output itself, or for points a box that is then picked from.
    #[allow(unsafe_code)]
    fn with_target(&self, wanted: &Wanted, place: impl FnOnce(&Target<'_>) -> Result<()>) -> Result<()> {
        let Some(points) = &wanted.points else { return place(self.target) };
        let item = self.target.item();
        let mut buffer = vec![0u8; wanted.part.count() as usize * item];
        let target = if self.target.is_variable() {
            Target::variable(&mut buffer, self.array.fill.as_bytes())
        } else {
            Target::fixed(&mut buffer, item, true)
        };
        // Inner chunks of one box arrive together only because points are grouped by inner chunk.
        place(&target)?;
        let collected = target.into_collected();
        if self.target.is_variable() {
            buffer = self.target.collect(gingham_codec::place::resolve(&buffer, &collected));
        }
        for &(from, to) in points {
            // SAFETY: every point has its own element of the output.
            if let Some(out) = unsafe { self.target.slice(to * item, item) } {
                out.copy_from_slice(&buffer[from * item..(from + 1) * item]);
            }
        }
        Ok(())
    }
}

/// Where a shard's index lies.
pub(crate) fn index_range(shard: &BoundShard) -> Range {
    let length = shard.index_len() as u64;
    match shard.index_location() {
        Location::Start => Range::Bounded { start: 0, length },
        Location::End => Range::Suffix { length },
    }
}

/// The byte ranges of a part of an uncompressed chunk, one for each run of rows that lie together; `None` where there are
/// more than a few thousand (the whole chunk is then the better read).
fn raw_ranges(part: &Part, shape: &[u64], item: u64) -> Option<Vec<(u64, u64)>> {
    const MOST: usize = 4096;
    let mut strides = vec![item; shape.len()];
    for a in (0..shape.len().saturating_sub(1)).rev() {
        strides[a] = strides[a + 1].checked_mul(shape[a + 1])?;
    }
    // From the last axis outwards: how far one run of bytes reaches, then every start of such a run.
    let mut run = item;
    let mut axis = shape.len();
    while axis > 0 && run == strides[axis - 1] {
        let (low, high) = part.takes[axis - 1].bounds()?;
        if !matches!(part.takes[axis - 1], Take::Run { step: 1 | -1, .. }) && high > low {
            break;
        }
        run = (high - low + 1) * strides[axis - 1];
        axis -= 1;
        if high - low + 1 != shape[axis] {
            break;
        }
    }
    let mut starts = vec![0u64];
    for (a, (take, stride)) in part.takes.iter().zip(strides).enumerate() {
        let at: Vec<u64> = match take {
            take if a >= axis => vec![take.bounds()?.0],
            Take::Run { start, step, count, .. } => {
                if starts.len().saturating_mul(*count as usize) > MOST {
                    return None;
                }
                (0..*count as i64).map(|k| start.wrapping_add_signed(step * k)).collect()
            }
            Take::List(pairs) => pairs.iter().map(|p| p.0).collect(),
        };
        if starts.len().saturating_mul(at.len()) > MOST {
            return None;
        }
        starts = starts.iter().flat_map(|s| at.iter().map(move |i| s + i * stride)).collect();
    }
    Some(starts.into_iter().map(|s| (s, run)).collect())
}
