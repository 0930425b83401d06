//! Reading from a store where a range costs a system call and not a round trip: one worker takes an object from start to end, and
//! reads what it needs of it into its own memory, or straight into the output.

use std::sync::atomic::{AtomicUsize, Ordering};

use gingham_codec::{Context, Page};
use gingham_core::Shape;
use gingham_store::{Opened, Range, Room};
use rayon::prelude::*;

use super::TRIES;
use crate::error::{Error, Kind, Result};
use crate::read::machine::{KeptPiece, Machine, Need, Slab, Task, Windows, Work, index_range};
use crate::read::plan::Wanted;

/// A read of no more bytes than this is done by the thread that asks for it: to wake a worker and be woken takes 10 to 50 µs,
/// in which a decoder makes about as many.
const ALONE: u64 = 64 << 10;
/// To open and read an object takes the time in which about so many bytes are decoded; a part of an uncompressed one is read in many
/// small ranges.
const OPENING: u64 = 4 << 10;
const RANGES: u64 = 8 << 10;

/// So many objects are looked for among what was kept before workers are woken.
const AT_HAND: usize = 64;

/// An object that is longer than any encoding of it by no more than this is read, so that the decoder says what is wrong with it.
const SLACK: usize = 1 << 20;

/// Objects of a local store: each from start to end by one worker, which shares out what is inside a shard.
pub(crate) fn run(machine: &Machine<'_>, count: usize) -> Result<()> {
    let sharded = machine.array.inner_shape.is_some();
    let looked_for = machine.array.kept.is_used() && count <= AT_HAND;
    // What was kept needs no worker; what a shard lacks of it is shared out shard by shard.
    if count == 1 && !sharded || work(machine) <= ALONE || looked_for && sharded {
        return machine.array.with_context(|context| (0..count).try_for_each(|i| one(machine, i, context)));
    }
    if looked_for {
        let rest = at_hand(machine, count)?;
        return in_order(machine, rest.len(), |k, context| unkept(machine, &rest[k], context));
    }
    in_order(machine, count, |i, context| one(machine, i, context))
}

/// Places what was kept of some objects that are no shards, which takes less time than to wake a worker; gives the others.
fn at_hand(machine: &Machine<'_>, count: usize) -> Result<Vec<Task>> {
    machine.array.with_context(|context| {
        let mut rest = Vec::new();
        for i in 0..count {
            let mut task = machine.task(i)?;
            if !kept(machine, &mut task, context)? {
                rest.push(task);
            }
        }
        Ok(rest)
    })
}

/// Workers take things one by one in order, each with one context for all that it takes.
fn in_order(machine: &Machine<'_>, count: usize, each: impl Fn(usize, &mut Context) -> Result<()> + Sync) -> Result<()> {
    let next = AtomicUsize::new(0);
    let worker = |context: &mut Context| {
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= count {
                return Ok(());
            }
            // Whoever fails leaves nothing for the others to take.
            each(i, context).inspect_err(|_| next.store(count, Ordering::Relaxed))?;
        }
    };
    let all = || (0..rayon::current_num_threads().min(count)).into_par_iter().try_for_each(|_| machine.array.with_context(worker));
    machine.array.pool()?.map_or_else(all, |pool| pool.install(all))
}

/// About how much there is to do, in decoded bytes.
fn work(machine: &Machine<'_>) -> u64 {
    let cost = machine.plan.cost();
    let (bytes, each) = if machine.plan.layout.raw { (cost.wanted, RANGES) } else { (cost.decoded, OPENING) };
    bytes.saturating_add(cost.objects.saturating_mul(each))
}

fn one(machine: &Machine<'_>, i: usize, context: &mut Context) -> Result<()> {
    let mut task = machine.task(i)?;
    if task.bound.open_shard().is_some() {
        return shard(machine, &mut task, context);
    }
    if kept(machine, &mut task, context)? {
        return Ok(());
    }
    unkept(machine, &task, context)
}

/// Whether this object's chunk is kept: whole, also where it could be read in part.
fn keeps(machine: &Machine<'_>, task: &Task) -> bool {
    !machine.target.is_variable() && machine.array.kept.takes(task.bound.decoded().byte_len().unwrap_or(0))
}

/// A chunk that is read from the store.
fn unkept(machine: &Machine<'_>, task: &Task, context: &mut Context) -> Result<()> {
    if keeps(machine, task) {
        return whole(machine, task, context);
    }
    if let Some(slab) = machine.slab(task) {
        return part_of_raw(machine, task, &slab, context);
    }
    if straight(machine, task, context)? || in_windows(machine, task, context)? {
        return Ok(());
    }
    whole(machine, task, context)
}

/// A chunk that was decoded before, and is still the same. False where there is none; the task then knows the version that is read
/// next, or one before it.
fn kept(machine: &Machine<'_>, task: &mut Task, context: &mut Context) -> Result<bool> {
    if !keeps(machine, task) {
        return Ok(false);
    }
    let stat = machine.array.store.stat(&task.key).map_err(|e| machine.place_error(e.into(), task))?;
    task.version = stat.and_then(|s| s.version);
    let Some(version) = &task.version else { return Ok(false) };
    let Some(frame) = machine.array.kept.find(&task.key, 0, Some(version)) else { return Ok(false) };
    machine.finish(task, &Work::Kept(vec![KeptPiece { frame, inner: None }]), None, context).map(|()| true)
}

/// Opens an object; where it is absent its place is filled.
fn opened<'m>(machine: &'m Machine<'_>, task: &Task, context: &mut Context) -> Result<Option<Box<dyn Opened + 'm>>> {
    let opened = machine.array.store.open(&task.key).map_err(|e| machine.place_error(e.into(), task))?;
    if opened.is_none() {
        machine.finish(task, &Work::Object, None, context)?;
    }
    Ok(opened)
}

/// A shard; once more where its file was changed between the index and the chunks, as an index says nothing about the chunks
/// of another version.
fn shard(machine: &Machine<'_>, task: &mut Task, context: &mut Context) -> Result<()> {
    for _ in 0..TRIES {
        let Some(opened) = opened(machine, task, context)? else { return Ok(()) };
        task.version = opened.version();
        let result = chunks(machine, task, &*opened, context);
        // Whatever failed may have failed because of the change.
        if opened.unchanged().map_err(|e| machine.place_error(e.into(), task))? {
            return result;
        }
        machine.array.forget(&task.key);
        machine.target.reuse();
    }
    Err(machine.place_error(super::ever_changing(), task))
}

fn chunks(machine: &Machine<'_>, task: &Task, opened: &dyn Opened, context: &mut Context) -> Result<()> {
    let Some(shard) = task.bound.open_shard() else { return Ok(()) };
    let part = |range: Range, context: &mut Context| {
        // An index may name bytes that the file does not have: nothing is allocated for those.
        let (start, length) = range.within(opened.size()).map_err(|e| machine.place_error(e.into(), task))?;
        let mut page = context.page(length as usize).ok_or_else(|| machine.place_error(no_memory(length), task))?;
        opened.read_at(start, &mut page).map_err(|e| machine.place_error(e.into(), task)).map(|()| page)
    };
    let index = match machine.array.known_index(&task.key, task.version.as_deref()) {
        Some(index) => index,
        None => {
            let page = part(index_range(shard), context)?;
            let index = machine.index(task, &page, context);
            context.give_page(page);
            index?
        }
    };
    let read = |need: &Need, context: &mut Context| {
        if !need.work.fetches() {
            return machine.finish(task, &need.work, None, context);
        }
        let page = part(need.range, context)?;
        let result = machine.finish(task, &need.work, Some(&page), context);
        context.give_page(page);
        result
    };
    match machine.with_index(task, &index).as_slice() {
        [need] => read(need, context),
        needs => {
            let all = || needs.par_iter().try_for_each(|need| machine.array.with_context(|context| read(need, context)));
            // The calling thread may be none of the pool that the options ask for.
            match machine.array.pool()?.filter(|_| rayon::current_thread_index().is_none()) {
                Some(pool) => pool.install(all),
                None => all(),
            }
        }
    }
}

/// Part of an uncompressed chunk. It says nothing about the chunk's size, and in one of another size the elements lie elsewhere:
/// the size is looked at first.
fn part_of_raw(machine: &Machine<'_>, task: &Task, slab: &Slab, context: &mut Context) -> Result<()> {
    let Some(opened) = opened(machine, task, context)? else { return Ok(()) };
    check_size(machine, task, opened.size())?;
    let length = slab.end - slab.first;
    let mut page = context.page(length as usize).ok_or_else(|| machine.place_error(no_memory(length), task))?;
    for &(start, length) in &slab.ranges {
        let from = (start - slab.first) as usize;
        let out = &mut page[from..from + length as usize];
        opened.read_at(start, out).map_err(|e| machine.place_error(e.into(), task))?;
    }
    let result = machine.finish(task, &Work::Slab(slab.first), Some(&page), context);
    context.give_page(page);
    result
}

fn no_memory(length: u64) -> Error {
    Error::new(Kind::OutOfRange, format!("there is no memory for {length} bytes of a chunk"))
}

fn check_size(machine: &Machine<'_>, task: &Task, size: u64) -> Result<()> {
    let expected = task.bound.decoded().byte_len().unwrap_or(0) as u64;
    if size == expected {
        return Ok(());
    }
    Err(machine.place_error(Error::new(Kind::Corrupt, format!("the chunk holds {size} bytes, expected {expected}")), task))
}

/// An uncompressed chunk that lies in the output in one piece is read straight into it. False where it does not lie so.
#[allow(unsafe_code)]
fn straight(machine: &Machine<'_>, task: &Task, context: &mut Context) -> Result<bool> {
    let [wanted] = task.object.parts.as_slice() else { return Ok(false) };
    if !task.bound.is_raw() || task.bound.order().is_some() || wanted.points.is_some() || machine.target.is_variable() {
        return Ok(false);
    }
    let len = task.bound.decoded().byte_len().unwrap_or(0);
    let Some(first) = wanted.part.contiguous(task.bound.frame(), machine.target.item()) else { return Ok(false) };
    // SAFETY: the slice is this part's own place in the output.
    let Some(out) = (unsafe { machine.target.slice(first, len) }) else { return Ok(false) };
    let mut room = Exactly { out, asked: 0 };
    let found = machine.array.store.read(&task.key, &mut room).map_err(|e| machine.place_error(e.into(), task))?;
    let asked = room.asked;
    if found {
        check_size(machine, task, asked)?
    } else {
        machine.finish(task, &Work::Object, None, context)?
    }
    Ok(true)
}

/// Memory for an object of one length only.
struct Exactly<'o> {
    out: &'o mut [u8],
    asked: u64,
}

impl Room for Exactly<'_> {
    fn give(&mut self, length: u64) -> Option<&mut [u8]> {
        self.asked = length;
        (length == self.out.len() as u64).then_some(&mut *self.out)
    }
}

/// A large uncompressed chunk is read and placed a window at a time, which stays in a core's second cache. False where it is no such
/// chunk.
fn in_windows(machine: &Machine<'_>, task: &Task, context: &mut Context) -> Result<bool> {
    let [Wanted { part, points: None }] = task.object.parts.as_slice() else { return Ok(false) };
    // A transposed copy wants many rows at once.
    if !task.bound.is_raw() || task.bound.order().is_some() || machine.target.is_variable() {
        return Ok(false);
    }
    let frame = task.bound.frame();
    let Some(Windows { axis, rows, row }) = Windows::of(frame, machine.target.item() as u64) else { return Ok(false) };
    let Some(opened) = opened(machine, task, context)? else { return Ok(true) };
    check_size(machine, task, opened.size())?;
    let mut page = context.page((rows * row) as usize).ok_or_else(|| machine.place_error(no_memory(rows * row), task))?;
    for low in (0..frame[axis]).step_by(rows as usize) {
        let high = frame[axis].min(low + rows);
        let Some(take) = part.takes[axis].within(low, high) else { continue };
        let (mut part, mut shape) = (part.clone(), Shape::from(frame));
        (part.takes[axis], shape[axis]) = (take, high - low);
        let window = &mut page[..((high - low) * row) as usize];
        opened.read_at(low * row, window).map_err(|e| machine.place_error(e.into(), task))?;
        machine.raw(&shape, &part, window).map_err(|e| machine.place_error(e, task))?;
    }
    context.give_page(page);
    Ok(true)
}

/// An object that is decoded as one.
fn whole(machine: &Machine<'_>, task: &Task, context: &mut Context) -> Result<()> {
    let mut room = ObjectRoom { context, limit: task.bound.object_limit().saturating_add(SLACK), asked: 0, page: None };
    let found = machine.array.store.read(&task.key, &mut room).map_err(|e| machine.place_error(e.into(), task))?;
    let ObjectRoom { context, limit, asked, page } = room;
    if found && page.is_none() {
        let what =
            format!("the object holds {asked} bytes; no chunk of this shape has more than {limit}, or there is no memory for so many");
        return Err(machine.place_error(Error::new(Kind::Corrupt, what), task));
    }
    let result = machine.finish(task, &Work::Object, page.as_deref(), context);
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
