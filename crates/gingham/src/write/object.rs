//! Writing one stored object: gather its elements, encode them, put it.

use std::borrow::Cow;
use std::sync::Mutex;

use gingham_codec::chain::Bound;
use gingham_codec::place::{Part, gather, gather_variable};
use gingham_codec::shard::{BoundShard, Index};
use gingham_codec::{CodecFault, Context};
use gingham_core::codec::Location;
use gingham_core::dtype::{Elements, FillValue, Variable};
use gingham_store::{Condition, Range};
use rayon::prelude::*;
use smallvec::SmallVec;

use crate::error::{Error, Kind, Result};
use crate::read::plan::{Object, Plan, Wanted};
use crate::{Array, Kind as ErrorKind};

/// How often a change is tried again when others change the same object.
const TRIES: usize = 100;

/// Where the elements come from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Source<'a> {
    /// Fixed-size elements, C order of the selection.
    Fixed(&'a [u8]),
    /// Variable-length elements, C order of the selection.
    Variable(&'a Variable),
    /// One element everywhere.
    Value(&'a [u8]),
}

/// Writes object `i` of a plan.
pub(crate) fn write(array: &Array, plan: &Plan, i: usize, source: Source<'_>) -> Result<()> {
    let object = plan.object(i);
    let key = plan.key(&object);
    let keep_empty = array.options().write_empty_chunks;
    // Where more than one object is written each has a worker already.
    let workers = if plan.object_count() == 1 && plan.cost().wanted >= SHARED_FROM { array.inner().threads() } else { 1 };
    let writer = Writer { array, object: &object, key: &key, item: plan.item(), source, keep_empty, workers };
    writer.write().map_err(|e| {
        array.inner().forget(&key);
        e.at(|p| {
            p.store = Some(array.store().describe());
            p.node = Some(format!("/{}", array.path()));
            p.key = Some(key.clone());
            p.chunk = Some(object.chunk.to_vec());
        })
    })
}

/// To start a thread takes 20 to 50 µs, in which an encoder takes in about 10 KiB: with less than this it does not pay.
const SHARED_FROM: u64 = 128 << 10;
/// How many runs the chunks of a new shard are encoded in: enough to keep some workers busy, few enough that each is long.
const RUNS: usize = 8;

/// Encoded chunks of a shard, one after the other.
struct Stretch {
    bytes: Vec<u8>,
    /// Of each chunk that is not empty: its place in C order, its length.
    lengths: Vec<(usize, usize)>,
}

#[derive(Clone, Copy)]
struct Writer<'a> {
    array: &'a Array,
    object: &'a Object,
    key: &'a str,
    item: usize,
    source: Source<'a>,
    /// Whether chunks that hold nothing but fill are stored.
    keep_empty: bool,
    /// Threads that share out the chunks of a shard that changes in part.
    workers: usize,
}

/// A part of a chunk, and the points that it stands for.
struct Framed<'a> {
    part: Part,
    points: Option<&'a [(usize, usize)]>,
}

impl<'a> Framed<'a> {
    /// The same part in the stored frame of its chunk.
    fn turned(self, bound: &Bound) -> Framed<'a> {
        match bound.order() {
            Some(order) => Framed { part: self.part.permuted(order), ..self },
            None => self,
        }
    }
}

impl<'a> Writer<'a> {
    fn write(&self) -> Result<()> {
        let inner = self.array.inner();
        let bound = inner.bound(&self.object.stored)?;
        if !self.object.is_whole() {
            return self.change(&bound);
        }
        match bound.open_shard() {
            Some(shard) => self.whole_shard(&bound, shard),
            None => inner.with_context(|context| {
                let bytes = self.encode(&bound, self.framed(), None, context)?;
                self.put(bytes.as_ref().map(|b| vec![&b[..]]), &Condition::Always)?;
                give(bytes, context);
                Ok(())
            }),
        }
    }

    /// Changes an object in part. In this process one writer at a time; against others the put is conditional.
    fn change(&self, bound: &Bound) -> Result<()> {
        let inner = self.array.inner();
        let _alone = inner.lock(self.key);
        let conditional = inner.store.traits().conditional;
        let mut writer = *self;
        for _ in 0..TRIES {
            let stat = inner.store.stat(self.key)?;
            let old = if stat.is_some() { inner.store.get(self.key, Range::All)? } else { None };
            let condition = match (&old, stat.and_then(|s| s.version)) {
                (_, None) if old.is_some() => Condition::Always,
                _ if !conditional => Condition::Always,
                (None, _) => Condition::Absent,
                (Some(_), Some(version)) => Condition::Version(version),
                (Some(_), None) => Condition::Always,
            };
            let pieces = inner.with_context(|context| match bound.open_shard() {
                Some(shard) => writer.part_of_shard(bound, shard, old.as_deref(), context),
                None => {
                    let bytes = writer.encode(bound, writer.framed(), old.as_deref(), context)?;
                    Ok(bytes.map(|b| vec![b]))
                }
            })?;
            if pieces.is_none() && old.is_none() {
                return Ok(());
            }
            match self.put(pieces.as_ref().map(|p| p.iter().map(|piece| &piece[..]).collect()), &condition) {
                // Whoever deletes after comparing may delete what another writer put between: fill is stored instead.
                Ok(false) => writer.keep_empty = true,
                Ok(true) => return Ok(()),
                Err(e) if matches!(e.kind(), Kind::Conflict | Kind::Exists) => continue,
                Err(e) => return Err(e),
            }
        }
        Err(Error::new(ErrorKind::Conflict, format!("other writers changed this object {TRIES} times while it was being changed")))
    }

    /// Puts the object, or deletes it where it would hold nothing but fill. False where the store cannot delete on a condition.
    fn put(&self, pieces: Option<Vec<&[u8]>>, condition: &Condition) -> Result<bool> {
        let store = &self.array.inner().store;
        match (pieces, condition) {
            (Some(pieces), _) => store.put_pieces(self.key, &pieces, condition)?,
            (None, Condition::Version(version)) => {
                if !store.delete_if(self.key, version)? {
                    return Ok(false);
                }
            }
            (None, _) => store.delete(self.key)?,
        }
        self.array.inner().forget(self.key);
        Ok(true)
    }

    /// The parts wanted, in the decoded frame.
    fn framed(&self) -> Vec<Framed<'_>> {
        self.object.parts.iter().map(|w: &Wanted| Framed { part: w.part.clone(), points: w.points.as_deref() }).collect()
    }

    /// Decodes what is there, puts the new elements over it, and encodes. `parts` are in the decoded frame.
    fn encode(&self, bound: &Bound, parts: Vec<Framed<'_>>, old: Option<&[u8]>, context: &mut Context) -> Result<Option<Cow<'a, [u8]>>> {
        let rep = bound.decoded();
        let parts: Vec<Framed<'_>> = parts.into_iter().map(|f| f.turned(bound)).collect();
        if rep.data_type.size().is_none() {
            return Ok(self.encode_variable(bound, &parts, old, context)?.map(Cow::Owned));
        }
        if let Some(frame) = self.in_place(bound, &parts) {
            return Ok(bound.encode_frame_bytes(frame, self.keep_empty, context)?);
        }
        let mut chunk = match (old, parts.as_slice()) {
            (Some(bytes), _) => bound.decode_frame(bytes, context)?.into_owned(),
            // Every element is about to be written.
            (None, [Framed { part, points: None }]) if part.takes.iter().zip(bound.frame()).all(|(take, &len)| take.covers(len)) => {
                context.scratch(self.item * rep.count())
            }
            (None, _) => filled(&rep.fill, rep.count(), context),
        };
        for framed in &parts {
            self.gather(framed, &mut chunk, bound.frame())?;
        }
        Ok(bound.encode_frame(Elements::Fixed(chunk), self.keep_empty, context)?.map(Cow::Owned))
    }

    /// The elements of a whole chunk where they lie in the source as they lie in the chunk's frame.
    fn in_place(&self, bound: &Bound, parts: &[Framed<'_>]) -> Option<&'a [u8]> {
        let (Source::Fixed(bytes), [Framed { part, points: None }]) = (self.source, parts) else { return None };
        let first = part.contiguous(bound.frame(), self.item)?;
        bytes.get(first..first + bound.decoded().byte_len()?)
    }

    fn encode_variable(&self, bound: &Bound, parts: &[Framed<'_>], old: Option<&[u8]>, context: &mut Context) -> Result<Option<Vec<u8>>> {
        let rep = bound.decoded();
        let mut chunk: Vec<Vec<u8>> = match old {
            Some(bytes) => match bound.decode_frame_elements(bytes, context)? {
                Elements::Variable(v) => (0..v.len()).map(|i| v.get(i).to_vec()).collect(),
                Elements::Fixed(_) => {
                    return Err(CodecFault::corrupt("chain", "fixed-size elements where variable ones are expected").into());
                }
            },
            None => vec![rep.fill.as_bytes().to_vec(); rep.count()],
        };
        for framed in parts {
            self.gather_variable(framed, &mut chunk, bound.frame())?;
        }
        let mut out = Variable::new();
        chunk.iter().for_each(|c| out.push(c));
        Ok(bound.encode_frame(Elements::Variable(out), self.keep_empty, context)?)
    }

    /// A shard all of which is new: its chunks are shared out among the workers in a few runs, each of which becomes one
    /// stretch of the shard.
    fn whole_shard(&self, bound: &Bound, shard: &BoundShard) -> Result<()> {
        let Some(framed) = self.framed().into_iter().next().map(|f| f.turned(bound)) else { return Ok(()) };
        let inner = self.array.inner();
        let pieces = shard.pieces(&framed.part);
        let runs = pieces.par_chunks(pieces.len().div_ceil(RUNS).max(1));
        let stretches: Vec<Stretch> =
            runs.map(|run| inner.with_context(|context| self.stretch(shard, run, context))).collect::<Result<_>>()?;
        let mut lengths: Vec<Option<usize>> = vec![None; shard.count()];
        stretches.iter().flat_map(|s| &s.lengths).for_each(|&(i, length)| lengths[i] = Some(length));
        inner.with_context(|context| {
            if !self.keep_empty && lengths.iter().all(Option::is_none) {
                self.put(None, &Condition::Always)?;
            } else {
                let index = shard.index_of_lengths(lengths, context)?;
                let chunks = stretches.iter().map(|s| &s.bytes[..]).collect();
                self.put(Some(shard.with_index(chunks, &index)), &Condition::Always)?;
            }
            stretches.into_iter().for_each(|s| context.give(s.bytes));
            Ok(())
        })
    }

    /// Some of a new shard's chunks, encoded one after the other.
    fn stretch(&self, shard: &BoundShard, pieces: &[(usize, Part)], context: &mut Context) -> Result<Stretch> {
        let mut stretch = Stretch { bytes: context.take(), lengths: Vec::with_capacity(pieces.len()) };
        for (i, part) in pieces {
            let framed = Framed { part: part.clone(), points: None };
            if let Some(bytes) = self.encode(shard.inner(), vec![framed], None, context)? {
                stretch.lengths.push((*i, bytes.len()));
                stretch.bytes.extend_from_slice(&bytes);
                give(Some(bytes), context);
            }
        }
        Ok(stretch)
    }

    /// A shard that changes in part: chunks that are not touched are carried over as they are stored.
    fn part_of_shard<'o>(
        &self,
        bound: &Bound,
        shard: &BoundShard,
        old: Option<&'o [u8]>,
        context: &mut Context,
    ) -> Result<Option<Vec<Cow<'o, [u8]>>>>
    where
        'a: 'o,
    {
        let index = old.map(|bytes| shard.index_of(bytes, context)).transpose()?;
        let parts: Vec<Framed<'_>> = self.framed().into_iter().map(|f| f.turned(bound)).collect();
        let mut touched: Vec<Vec<Framed<'_>>> = (0..shard.count()).map(|_| Vec::new()).collect();
        for framed in &parts {
            for (i, part) in shard.pieces(&framed.part) {
                touched[i].push(Framed { part, points: framed.points });
            }
        }
        let logical: SmallVec<[u64; 4]> = match bound.order() {
            Some(order) => order.iter().map(|&a| self.object.logical[a]).collect(),
            None => self.object.logical.iter().copied().collect(),
        };
        let one = |i: usize, framed: Vec<Framed<'_>>, context: &mut Context| {
            let stored = old_chunk(shard, old, index.as_ref(), i);
            if framed.is_empty() {
                return Ok(stored?.map(Cow::Borrowed));
            }
            let whole = framed.len() == 1 && framed[0].points.is_none() && covers(&framed[0].part, shard, &logical, i);
            let stored = if whole { None } else { stored? };
            self.encode(shard.inner(), framed, stored, context)
        };
        let workers = self.workers.min(touched.iter().filter(|framed| !framed.is_empty()).count());
        let encoded: Vec<Option<Cow<'o, [u8]>>> = if workers < 2 {
            touched.into_iter().enumerate().map(|(i, framed)| one(i, framed, context)).collect::<Result<_>>()?
        } else {
            shared_out(touched, workers, &|i, framed| self.array.inner().with_context(|context| one(i, framed, context)))?
        };
        if !self.keep_empty && encoded.iter().all(Option::is_none) {
            return Ok(None);
        }
        let index = shard.index_of_lengths(encoded.iter().map(|chunk| chunk.as_ref().map(|c| c.len())), context)?;
        let chunks = encoded.into_iter().flatten();
        let index = std::iter::once(Cow::Owned(index));
        Ok(Some(match shard.index_location() {
            Location::Start => index.chain(chunks).collect(),
            Location::End => chunks.chain(index).collect(),
        }))
    }

    fn gather(&self, framed: &Framed<'_>, chunk: &mut [u8], shape: &[u64]) -> Result<()> {
        let item = self.item;
        let fits = match (self.source, framed.points) {
            (Source::Fixed(bytes), None) => gather(bytes, &framed.part, chunk, shape, item),
            (Source::Value(value), points) => {
                // One element, again and again: a source that does not move.
                let still = Part { strides: framed.part.strides.iter().map(|_| 0).collect(), ..framed.part.clone() };
                match points {
                    None => gather(value, &still, chunk, shape, item),
                    Some(points) => return self.points(framed, points, chunk, shape, |_| value),
                }
            }
            (Source::Fixed(bytes), Some(points)) => {
                return self.points(framed, points, chunk, shape, |i| &bytes[i * item..(i + 1) * item]);
            }
            (Source::Variable(_), _) => false,
        };
        fits.then_some(()).ok_or_else(outside)
    }

    /// Points: the box around them is taken out of the chunk, changed, and put back.
    fn points<'v>(
        &self,
        framed: &Framed<'_>,
        points: &[(usize, usize)],
        chunk: &mut [u8],
        shape: &[u64],
        value: impl Fn(usize) -> &'v [u8],
    ) -> Result<()> {
        for &(at, i) in points {
            let Some(offset) = self.offset(&framed.part, at, shape) else { continue };
            let from = offset * self.item;
            chunk.get_mut(from..from + self.item).ok_or_else(outside)?.copy_from_slice(value(i));
        }
        Ok(())
    }

    /// Where element `at` of a part's box lies in its chunk; `None` where this (inner) chunk does not hold it.
    fn offset(&self, part: &Part, at: usize, shape: &[u64]) -> Option<usize> {
        let mut offset = 0usize;
        let mut rest = at * self.item;
        let mut places: SmallVec<[(usize, usize); 4]> = part.strides.iter().copied().enumerate().map(|(a, s)| (s, a)).collect();
        places.sort_by_key(|p| std::cmp::Reverse(p.0));
        let mut index: SmallVec<[u64; 4]> = shape.iter().map(|_| 0).collect();
        for (stride, a) in places {
            let gingham_codec::place::Take::Run { start, count, dst, .. } = part.takes[a] else { return None };
            // An axis of one element has its neighbour's stride: it takes nothing of the offset.
            let along = if count == 1 || stride == 0 { dst as usize } else { rest / stride };
            rest -= along * stride;
            let k = (along as u64).checked_sub(dst).filter(|&k| k < count)?;
            index[a] = start + k;
        }
        for (a, &len) in shape.iter().enumerate() {
            offset = offset * len as usize + index[a] as usize;
        }
        Some(offset)
    }

    fn gather_variable(&self, framed: &Framed<'_>, chunk: &mut [Vec<u8>], shape: &[u64]) -> Result<()> {
        let item = self.item;
        let counted = |part: &Part| Part { strides: part.strides.iter().map(|s| s / item).collect(), ..part.clone() };
        match (self.source, framed.points) {
            (Source::Variable(values), None) => {
                gather_variable(values, &counted(&framed.part), chunk, shape).then_some(()).ok_or_else(outside)
            }
            (Source::Value(value), None) => {
                let mut one = Variable::new();
                one.push(value);
                let still = Part { strides: framed.part.strides.iter().map(|_| 0).collect(), ..framed.part.clone() };
                gather_variable(&one, &still, chunk, shape).then_some(()).ok_or_else(outside)
            }
            (source, Some(points)) => {
                for &(at, i) in points {
                    let Some(offset) = self.offset(&framed.part, at, shape) else { continue };
                    let value = match source {
                        Source::Variable(values) => values.get(i),
                        Source::Value(value) => value,
                        Source::Fixed(_) => return Err(outside()),
                    };
                    *chunk.get_mut(offset).ok_or_else(outside)? = value.to_vec();
                }
                Ok(())
            }
            (Source::Fixed(_), _) => Err(outside()),
        }
    }
}

/// Does all the work on some threads of its own, and gives the results in order. The threads are not the pool's: a worker of the
/// pool that waits takes up other work, which may want the lock that its own work holds.
fn shared_out<T: Send, R: Send>(work: Vec<T>, workers: usize, each: &(dyn Fn(usize, T) -> Result<R> + Sync)) -> Result<Vec<R>> {
    let count = work.len();
    let work = Mutex::new(work.into_iter().enumerate());
    let done: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(count));
    let next = || work.lock().unwrap_or_else(|e| e.into_inner()).next();
    std::thread::scope(|scope| {
        let run = || {
            while let Some((i, item)) = next() {
                let result = each(i, item)?;
                done.lock().unwrap_or_else(|e| e.into_inner()).push((i, result));
            }
            Ok(())
        };
        let others: Vec<_> = (1..workers).map(|_| scope.spawn(run)).collect();
        let mut result = run();
        for other in others {
            let ended = other.join().unwrap_or_else(|_| Err(Error::new(Kind::Interrupted, "a thread ended before its work was done")));
            result = result.and(ended);
        }
        result
    })?;
    let mut done = done.into_inner().unwrap_or_else(|e| e.into_inner());
    done.sort_by_key(|(i, _)| *i);
    Ok(done.into_iter().map(|(_, result)| result).collect())
}

/// Gives a buffer back, if it is one.
fn give(bytes: Option<Cow<'_, [u8]>>, context: &mut Context) {
    if let Some(Cow::Owned(buffer)) = bytes {
        context.give(buffer);
    }
}

fn outside() -> Error {
    Error::new(Kind::OutOfRange, "a part reaches outside its chunk or the given elements")
}

fn old_chunk<'a>(shard: &BoundShard, old: Option<&'a [u8]>, index: Option<&Index>, i: usize) -> Result<Option<&'a [u8]>> {
    match (old, index) {
        (Some(bytes), Some(index)) => Ok(shard.slice(bytes, index, i)?),
        _ => Ok(None),
    }
}

/// True where a part covers all of inner chunk `i` that lies in the array.
fn covers(part: &Part, shard: &BoundShard, logical: &[u64], i: usize) -> bool {
    let shape = &shard.inner().decoded().shape;
    let mut rest = i as u64;
    (0..shape.len()).rev().all(|a| {
        let cell = rest % shard.counts()[a];
        rest /= shard.counts()[a];
        part.takes[a].covers(logical[a].saturating_sub(cell * shape[a]).min(shape[a]))
    })
}

fn filled(fill: &FillValue, count: usize, context: &mut Context) -> Vec<u8> {
    let mut chunk = context.take();
    let unit = fill.as_bytes();
    if unit.iter().all(|b| *b == unit[0]) {
        chunk.resize(count * unit.len(), unit.first().copied().unwrap_or(0));
    } else {
        chunk.reserve(count * unit.len());
        (0..count).for_each(|_| chunk.extend_from_slice(unit));
    }
    chunk
}
