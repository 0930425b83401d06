//! The blocking driver: workers of a thread pool fetch, decode and place; from stores with round trips many fetches are under
//! way while workers decode what has arrived.

use std::sync::Arc;
use std::sync::Mutex;

use gingham_codec::Context;
use gingham_codec::chain::Bound;
use gingham_store::{Range, Request};
use rayon::prelude::*;

use super::{Gate, TRIES};
use crate::error::{Error, Result};
use crate::read::machine::{Machine, Need, Work};
use crate::read::plan::Object;

/// Objects that are worked on together: enough to keep every worker busy, few enough that a plan of a hundred million
/// objects is never held as a list.
const WINDOW: usize = 4096;

struct Job {
    object: Arc<Object>,
    bound: Arc<Bound>,
    key: String,
    need: Need,
}

/// Reads everything that the machine's plan wants.
pub(crate) fn run(machine: &Machine<'_>) -> Result<()> {
    let pool = machine.array.pool()?;
    let count = machine.plan.object_count();
    let mut from = 0;
    while from < count {
        let to = count.min(from + WINDOW);
        match &pool {
            Some(pool) => pool.install(|| settled(machine, from..to, TRIES))?,
            None => settled(machine, from..to, TRIES)?,
        }
        from = to;
    }
    Ok(())
}

/// A shard whose index was used: its place in the plan, its key, and its version before.
struct Seen {
    i: usize,
    key: String,
    version: String,
}

/// Reads objects, and those once more that were replaced between their index and their chunks: an index says nothing about
/// the chunks of another version.
fn settled(machine: &Machine<'_>, objects: std::ops::Range<usize>, tries: usize) -> Result<()> {
    let seen: Mutex<Vec<Seen>> = Mutex::new(Vec::new());
    let result = window(machine, objects.clone(), &seen);
    let seen = seen.into_inner().unwrap_or_else(|e| e.into_inner());
    let changed = seen.par_iter().map(|s| Ok(machine.array.has_changed(&s.key, &s.version)?.then_some(s.i))).collect::<Result<Vec<_>>>()?;
    let changed: Vec<usize> = changed.into_iter().flatten().collect();
    if changed.is_empty() {
        return result;
    }
    if tries == 0 {
        let object = machine.plan.object(changed[0]);
        return Err(machine.place_error(super::ever_changing(), &object, &machine.plan.key(&object)));
    }
    // Whatever failed may have failed because of the change.
    let again: Vec<usize> = if result.is_ok() { changed } else { objects.collect() };
    again.into_iter().try_for_each(|i| settled(machine, i..i + 1, tries - 1))
}

fn window(machine: &Machine<'_>, objects: std::ops::Range<usize>, seen: &Mutex<Vec<Seen>>) -> Result<()> {
    let local = machine.array.store.traits().local;
    if local && machine.array.inner_shape.is_none() {
        return objects.into_par_iter().try_for_each(|i| machine.array.with_context(|context| one(machine, i, context)));
    }
    let jobs: Vec<Vec<Job>> = objects.into_par_iter().map(|i| first(machine, i, seen)).collect::<Result<_>>()?;
    let (indexes, mut jobs): (Vec<Job>, Vec<Job>) = jobs.into_iter().flatten().partition(|j| matches!(j.need.work, Work::Index { .. }));
    let more: Mutex<Vec<Job>> = Mutex::new(Vec::new());
    fetch(machine, &indexes, &|job, bytes, context| {
        let Some(bytes) = bytes else { return machine.finish(&job.object, &job.bound, &job.key, &Work::Object, None, context) };
        let index = machine.index(&job.object, &job.bound, &job.key, &job.need.work, bytes, context)?;
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

fn first(machine: &Machine<'_>, i: usize, seen: &Mutex<Vec<Seen>>) -> Result<Vec<Job>> {
    let object = Arc::new(machine.plan.object(i));
    let key = machine.plan.key(&object);
    let bound = machine.bound(&object)?;
    let job = |need| Job { object: object.clone(), bound: bound.clone(), key: key.clone(), need };
    let first = machine.first(&object, &bound, &key)?;
    if let Ok(Need { work: Work::Index { version: Some(version) }, .. }) | Err((_, Some(version))) = &first {
        seen.lock().unwrap_or_else(|e| e.into_inner()).push(Seen { i, key: key.clone(), version: version.clone() });
    }
    Ok(match first {
        Ok(need) => vec![job(need)],
        Err((index, _)) => machine.with_index(&object, &bound, &index).into_iter().map(job).collect(),
    })
}

/// One object of a local store, from start to end by one worker.
fn one(machine: &Machine<'_>, i: usize, context: &mut Context) -> Result<()> {
    let object = machine.plan.object(i);
    let key = machine.plan.key(&object);
    let bound = machine.bound(&object)?;
    let Ok(need) = machine.first(&object, &bound, &key)? else { return Ok(()) };
    if matches!(need.work, Work::Object) && straight(machine, &object, &bound, &key)? {
        return Ok(());
    }
    read(machine, &object, &bound, &key, &need, context)
}

/// An uncompressed chunk that lies in the output in one piece is read straight into it. False where it does not lie so.
#[allow(unsafe_code)]
fn straight(machine: &Machine<'_>, object: &Object, bound: &Bound, key: &str) -> Result<bool> {
    let [wanted] = object.parts.as_slice() else { return Ok(false) };
    if !bound.is_raw() || bound.order().is_some() || wanted.points.is_some() || machine.target.is_variable() {
        return Ok(false);
    }
    let len = bound.decoded().byte_len().unwrap_or(0);
    let Some(first) = wanted.part.contiguous(bound.frame(), machine.target.item()) else { return Ok(false) };
    // SAFETY: the slice is this part's own place in the output.
    let Some(out) = (unsafe { machine.target.slice(first, len) }) else { return Ok(false) };
    match machine.array.store.read_whole(key, out).map_err(|e| machine.place_error(e.into(), object, key))? {
        Some(size) if size == len as u64 => Ok(true),
        Some(size) => {
            let what = format!("the chunk holds {size} bytes, expected {len}");
            Err(machine.place_error(Error::new(crate::Kind::Corrupt, what), object, key))
        }
        None => machine.array.with_context(|context| machine.finish(object, bound, key, &Work::Missing, None, context)).map(|()| true),
    }
}

fn read(machine: &Machine<'_>, object: &Object, bound: &Bound, key: &str, need: &Need, context: &mut Context) -> Result<()> {
    let mut buffer = context.take();
    let found = get(machine, key, need, &mut buffer).map_err(|e| machine.place_error(e, object, key))?;
    let result = machine.finish(object, bound, key, &need.work, found.then_some(&buffer), context);
    context.give(buffer);
    result
}

/// Gets what is needed into a buffer; false where there is nothing to get.
fn get(machine: &Machine<'_>, key: &str, need: &Need, buffer: &mut Vec<u8>) -> Result<bool> {
    let store = &machine.array.store;
    Ok(match &need.work {
        Work::Absent(_) | Work::Missing => false,
        Work::Slab { first, ranges } if ranges.len() > 1 => {
            let Range::Bounded { length, .. } = need.range else { return Ok(false) };
            buffer.resize(length as usize, 0);
            ranges.iter().try_fold(true, |found, &(start, len)| {
                let from = (start - first) as usize;
                store.get_into(key, start, &mut buffer[from..from + len as usize]).map(|f| found && f)
            })?
        }
        _ => store.read(key, need.range, buffer)?,
    })
}

type Finish<'f> = &'f (dyn Fn(&Job, Option<&[u8]>, &mut Context) -> Result<()> + Sync);

/// Fetches for jobs and finishes each as it arrives.
fn fetch(machine: &Machine<'_>, jobs: &[Job], finish: Finish<'_>) -> Result<()> {
    let store = &machine.array.store;
    let traits = store.traits();
    if traits.local {
        return jobs.par_iter().try_for_each(|job| {
            machine.array.with_context(|context| match &job.need.work {
                Work::Index { .. } => {
                    let mut buffer = context.take();
                    let found =
                        get(machine, &job.key, &job.need, &mut buffer).map_err(|e| machine.place_error(e, &job.object, &job.key))?;
                    let result = finish(job, found.then_some(&buffer), context);
                    context.give(buffer);
                    result
                }
                _ => read(machine, &job.object, &job.bound, &job.key, &job.need, context),
            })
        });
    }
    let (absent, jobs): (Vec<&Job>, Vec<&Job>) = jobs.iter().partition(|j| matches!(j.need.work, Work::Absent(_) | Work::Missing));
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
