//! The blocking driver: workers of a thread pool fetch, decode and place; from stores with round trips many fetches are under
//! way while workers decode what has arrived.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use gingham_codec::chain::Bound;
use gingham_codec::{Context, Page};
use gingham_core::Shape;
use gingham_store::{Opened, Range, Request, Room};
use rayon::prelude::*;

use super::{Gate, TRIES};
use crate::error::{Error, Kind, Result};
use crate::read::machine::{First, Machine, Need, Slab, Work, index_range};
use crate::read::plan::{Object, Wanted};

/// Objects that are worked on together: enough to keep every worker busy, few enough that a plan of a hundred million
/// objects is never held as a list.
const WINDOW: usize = 4096;

/// A read of no more bytes than this is done by the thread that asks for it: to wake a worker and be woken takes 10 to 50 µs,
/// in which a decoder makes about as many.
const ALONE: u64 = 64 << 10;
/// To open and read an object takes the time in which about so many bytes are decoded; a part of an uncompressed one is read in many
/// small ranges.
const OPENING: u64 = 4 << 10;
const RANGES: u64 = 16 << 10;

/// Half a second cache of the smallest cores in use.
const WINDOW_BYTES: usize = 256 << 10;

/// An object that is longer than any encoding of it by no more than this is read, so that the decoder says what is wrong with it.
const SLACK: usize = 1 << 20;

struct Job {
    object: Arc<Object>,
    bound: Arc<Bound>,
    key: String,
    need: Need,
}

/// Reads everything that the machine's plan wants.
pub(crate) fn run(machine: &Machine<'_>) -> Result<()> {
    let count = machine.plan.object_count();
    if machine.array.store.traits().local {
        return local(machine, count);
    }
    let pool = machine.array.pool()?;
    let mut from = 0;
    while from < count {
        let to = count.min(from + WINDOW);
        match &pool {
            Some(pool) => pool.install(|| window(machine, from..to))?,
            None => window(machine, from..to)?,
        }
        from = to;
    }
    Ok(())
}

/// Objects of a local store: each from start to end by one worker, which shares out what is inside a shard.
fn local(machine: &Machine<'_>, count: usize) -> Result<()> {
    if count == 1 && machine.array.inner_shape.is_none() || work(machine) <= ALONE {
        return machine.array.with_context(|context| (0..count).try_for_each(|i| one(machine, i, context)));
    }
    let all = || in_order(machine, count);
    machine.array.pool()?.map_or_else(all, |pool| pool.install(all))
}

/// Workers take the objects one by one in grid order, so that neighbours are worked on at the same time: they share pages of the
/// output, whose first touch costs as much as the copy into them.
fn in_order(machine: &Machine<'_>, count: usize) -> Result<()> {
    let next = AtomicUsize::new(0);
    (0..rayon::current_num_threads().min(count)).into_par_iter().try_for_each(|_| {
        machine.array.with_context(|context| {
            loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                if i >= count {
                    return Ok(());
                }
                // Whoever fails leaves nothing for the others to take.
                one(machine, i, context).inspect_err(|_| next.store(count, Ordering::Relaxed))?;
            }
        })
    })
}

/// About how much there is to do, in decoded bytes.
fn work(machine: &Machine<'_>) -> u64 {
    let cost = machine.plan.cost();
    let (bytes, each) = if machine.plan.layout.raw { (cost.wanted, RANGES) } else { (cost.decoded, OPENING) };
    bytes.saturating_add(cost.objects.saturating_mul(each))
}

fn one(machine: &Machine<'_>, i: usize, context: &mut Context) -> Result<()> {
    let object = machine.plan.object(i);
    let key = machine.plan.key(&object);
    let bound = machine.bound(&object)?;
    if bound.open_shard().is_some() {
        return shard(machine, &object, &bound, &key, context);
    }
    match machine.slab(&object, &bound) {
        Some(slab) => part_of_raw(machine, &object, &bound, &key, &slab, context),
        None if straight(machine, &object, &bound, &key, context)? => Ok(()),
        None if in_windows(machine, &object, &bound, &key, context)? => Ok(()),
        None => whole(machine, &object, &bound, &key, context),
    }
}

/// Opens an object; where it is absent its place is filled.
fn opened<'m>(
    machine: &'m Machine<'_>,
    object: &Object,
    bound: &Bound,
    key: &str,
    context: &mut Context,
) -> Result<Option<Box<dyn Opened + 'm>>> {
    let opened = machine.array.store.open(key).map_err(|e| machine.place_error(e.into(), object, key))?;
    if opened.is_none() {
        machine.finish(object, bound, key, &Work::Object, None, context)?;
    }
    Ok(opened)
}

/// A shard; once more where its file was changed between the index and the chunks, as an index says nothing about the chunks
/// of another version.
fn shard(machine: &Machine<'_>, object: &Object, bound: &Bound, key: &str, context: &mut Context) -> Result<()> {
    for _ in 0..TRIES {
        let Some(opened) = opened(machine, object, bound, key, context)? else { return Ok(()) };
        let result = chunks(machine, object, bound, key, &*opened, context);
        // Whatever failed may have failed because of the change.
        if opened.unchanged().map_err(|e| machine.place_error(e.into(), object, key))? {
            return result;
        }
        machine.target.reuse();
    }
    Err(machine.place_error(super::ever_changing(), object, key))
}

fn chunks(machine: &Machine<'_>, object: &Object, bound: &Bound, key: &str, opened: &dyn Opened, context: &mut Context) -> Result<()> {
    let Some(shard) = bound.open_shard() else { return Ok(()) };
    let version = opened.version();
    let part = |range: Range, context: &mut Context| {
        // An index may name bytes that the file does not have: nothing is allocated for those.
        let (start, length) = range.within(opened.size()).map_err(|e| machine.place_error(e.into(), object, key))?;
        let mut page = context.page(length as usize).ok_or_else(|| machine.place_error(no_memory(length), object, key))?;
        opened.read_at(start, &mut page).map_err(|e| machine.place_error(e.into(), object, key)).map(|()| page)
    };
    let index = match machine.array.known_index(key, version.as_deref()) {
        Some(index) => index,
        None => {
            let page = part(index_range(shard), context)?;
            let index = machine.index(object, bound, key, version.as_deref(), &page, context);
            context.give_page(page);
            index?
        }
    };
    let read = |need: &Need, context: &mut Context| {
        let page = match &need.work {
            Work::Inner(_) => part(need.range, context)?,
            _ => return machine.finish(object, bound, key, &need.work, None, context),
        };
        let result = machine.finish(object, bound, key, &need.work, Some(&page), context);
        context.give_page(page);
        result
    };
    match machine.with_index(object, bound, &index).as_slice() {
        [need] => read(need, context),
        needs => needs.par_iter().try_for_each(|need| machine.array.with_context(|context| read(need, context))),
    }
}

/// Part of an uncompressed chunk. It says nothing about the chunk's size, and in one of another size the elements lie elsewhere:
/// the size is looked at first.
fn part_of_raw(machine: &Machine<'_>, object: &Object, bound: &Bound, key: &str, slab: &Slab, context: &mut Context) -> Result<()> {
    let Some(opened) = opened(machine, object, bound, key, context)? else { return Ok(()) };
    check_size(machine, object, bound, key, opened.size())?;
    let length = slab.end - slab.first;
    let mut page = context.page(length as usize).ok_or_else(|| machine.place_error(no_memory(length), object, key))?;
    for &(start, length) in &slab.ranges {
        let from = (start - slab.first) as usize;
        let out = &mut page[from..from + length as usize];
        opened.read_at(start, out).map_err(|e| machine.place_error(e.into(), object, key))?;
    }
    let result = machine.finish(object, bound, key, &Work::Slab(slab.first), Some(&page), context);
    context.give_page(page);
    result
}

fn no_memory(length: u64) -> Error {
    Error::new(Kind::OutOfRange, format!("there is no memory for {length} bytes of a chunk"))
}

fn check_size(machine: &Machine<'_>, object: &Object, bound: &Bound, key: &str, size: u64) -> Result<()> {
    let expected = bound.decoded().byte_len().unwrap_or(0) as u64;
    if size == expected {
        return Ok(());
    }
    Err(machine.place_error(Error::new(Kind::Corrupt, format!("the chunk holds {size} bytes, expected {expected}")), object, key))
}

/// An uncompressed chunk that lies in the output in one piece is read straight into it. False where it does not lie so.
#[allow(unsafe_code)]
fn straight(machine: &Machine<'_>, object: &Object, bound: &Bound, key: &str, context: &mut Context) -> Result<bool> {
    let [wanted] = object.parts.as_slice() else { return Ok(false) };
    if !bound.is_raw() || bound.order().is_some() || wanted.points.is_some() || machine.target.is_variable() {
        return Ok(false);
    }
    let len = bound.decoded().byte_len().unwrap_or(0);
    let Some(first) = wanted.part.contiguous(bound.frame(), machine.target.item()) else { return Ok(false) };
    // SAFETY: the slice is this part's own place in the output.
    let Some(out) = (unsafe { machine.target.slice(first, len) }) else { return Ok(false) };
    match machine.array.store.read_whole(key, out).map_err(|e| machine.place_error(e.into(), object, key))? {
        Some(size) => check_size(machine, object, bound, key, size).map(|()| true),
        None => machine.finish(object, bound, key, &Work::Object, None, context).map(|()| true),
    }
}

/// A large uncompressed chunk is read and placed a window at a time, which stays in a core's second cache. False where it is no such
/// chunk.
fn in_windows(machine: &Machine<'_>, object: &Object, bound: &Bound, key: &str, context: &mut Context) -> Result<bool> {
    let [Wanted { part, points: None }] = object.parts.as_slice() else { return Ok(false) };
    let all = bound.decoded().byte_len().unwrap_or(0);
    // A transposed copy wants many rows at once.
    if !bound.is_raw() || bound.order().is_some() || machine.target.is_variable() || all < 2 * WINDOW_BYTES {
        return Ok(false);
    }
    let frame = bound.frame();
    let Some(axis) = frame.iter().position(|&len| len > 1) else { return Ok(false) };
    let Some(opened) = opened(machine, object, bound, key, context)? else { return Ok(true) };
    check_size(machine, object, bound, key, opened.size())?;
    let row = all as u64 / frame[axis];
    let rows = (WINDOW_BYTES as u64 / row).max(1);
    let mut page = context.page((rows * row) as usize).ok_or_else(|| machine.place_error(no_memory(rows * row), object, key))?;
    for low in (0..frame[axis]).step_by(rows as usize) {
        let high = frame[axis].min(low + rows);
        let Some(take) = part.takes[axis].within(low, high) else { continue };
        let (mut part, mut shape) = (part.clone(), Shape::from(frame));
        (part.takes[axis], shape[axis]) = (take, high - low);
        let window = &mut page[..((high - low) * row) as usize];
        opened.read_at(low * row, window).map_err(|e| machine.place_error(e.into(), object, key))?;
        machine.raw(&shape, &part, window).map_err(|e| machine.place_error(e, object, key))?;
    }
    context.give_page(page);
    Ok(true)
}

/// An object that is decoded as one.
fn whole(machine: &Machine<'_>, object: &Object, bound: &Bound, key: &str, context: &mut Context) -> Result<()> {
    let mut room = ObjectRoom { context, limit: bound.object_limit().saturating_add(SLACK), asked: 0, page: None };
    let found = machine.array.store.read(key, Range::All, &mut room).map_err(|e| machine.place_error(e.into(), object, key))?;
    let ObjectRoom { context, limit, asked, page } = room;
    if found && page.is_none() {
        let what =
            format!("the object holds {asked} bytes; no chunk of this shape has more than {limit}, or there is no memory for so many");
        return Err(machine.place_error(Error::new(Kind::Corrupt, what), object, key));
    }
    let result = machine.finish(object, bound, key, &Work::Object, page.as_deref(), context);
    page.into_iter().for_each(|page| context.give_page(page));
    result
}

/// Memory for an object, no more than one can take.
struct ObjectRoom<'c> {
    context: &'c mut Context,
    limit: usize,
    asked: u64,
    page: Option<Page>,
}

impl Room for ObjectRoom<'_> {
    fn give(&mut self, length: u64) -> Option<&mut [u8]> {
        self.asked = length;
        let length = usize::try_from(length).ok().filter(|&n| n <= self.limit)?;
        self.page = self.context.page(length);
        self.page.as_deref_mut()
    }
}

/// Objects behind a network: what is needed first of all of them, then what their indexes say.
fn window(machine: &Machine<'_>, objects: std::ops::Range<usize>) -> Result<()> {
    let jobs: Vec<Vec<Job>> = objects.into_par_iter().map(|i| first(machine, i)).collect::<Result<_>>()?;
    let (indexes, mut jobs): (Vec<Job>, Vec<Job>) = jobs.into_iter().flatten().partition(|j| matches!(j.need.work, Work::Index));
    let more: Mutex<Vec<Job>> = Mutex::new(Vec::new());
    fetch(machine, &indexes, &|job, bytes, context| {
        let Some(bytes) = bytes else { return machine.finish(&job.object, &job.bound, &job.key, &Work::Object, None, context) };
        let index = machine.index(&job.object, &job.bound, &job.key, None, bytes, context)?;
        let needs = machine.with_index(&job.object, &job.bound, &index);
        more.lock().unwrap_or_else(|e| e.into_inner()).extend(needs.into_iter().map(|need| job.with(need)));
        Ok(())
    })?;
    jobs.extend(more.into_inner().unwrap_or_else(|e| e.into_inner()));
    fetch(machine, &jobs, &|job, bytes, context| machine.finish(&job.object, &job.bound, &job.key, &job.need.work, bytes, context))
}

impl Job {
    fn with(&self, need: Need) -> Job {
        Job { object: self.object.clone(), bound: self.bound.clone(), key: self.key.clone(), need }
    }
}

fn first(machine: &Machine<'_>, i: usize) -> Result<Vec<Job>> {
    let object = Arc::new(machine.plan.object(i));
    let key = machine.plan.key(&object);
    let bound = machine.bound(&object)?;
    let job = |need| Job { object: object.clone(), bound: bound.clone(), key: key.clone(), need };
    Ok(match machine.first(&object, &bound, &key) {
        First::Need(need) => vec![job(need)],
        First::Index(index) => machine.with_index(&object, &bound, &index).into_iter().map(job).collect(),
    })
}

type Finish<'f> = &'f (dyn Fn(&Job, Option<&[u8]>, &mut Context) -> Result<()> + Sync);

/// Fetches for jobs and finishes each as it arrives.
fn fetch(machine: &Machine<'_>, jobs: &[Job], finish: Finish<'_>) -> Result<()> {
    let store = &machine.array.store;
    let (absent, jobs): (Vec<&Job>, Vec<&Job>) = jobs.iter().partition(|j| matches!(j.need.work, Work::Absent(_)));
    absent.into_par_iter().try_for_each(|job| machine.array.with_context(|context| finish(job, None, context)))?;
    let requests: Vec<Request> = jobs.iter().map(|j| Request { key: j.key.clone(), range: j.need.range }).collect();
    let gate = Gate::new(machine.array.options.memory);
    let failed: Mutex<Option<Error>> = Mutex::new(None);
    let fail = |e: Error| {
        failed.lock().unwrap_or_else(|e| e.into_inner()).get_or_insert(e);
    };
    rayon::in_place_scope(|scope| {
        store.get_many(&requests, &|i, got| {
            let Some(&job) = jobs.get(i) else { return };
            match got {
                Err(e) => fail(machine.place_error(e.into(), &job.object, &job.key)),
                Ok(bytes) => {
                    let n = bytes.as_ref().map_or(0, |b| b.len() as u64);
                    gate.enter(n);
                    let (gate, fail) = (&gate, &fail);
                    scope.spawn(move |_| {
                        if let Err(e) = machine.array.with_context(|context| finish(job, bytes.as_deref(), context)) {
                            fail(e);
                        }
                        gate.leave(n);
                    });
                }
            }
        });
    });
    failed.into_inner().unwrap_or_else(|e| e.into_inner()).map_or(Ok(()), Err)
}
