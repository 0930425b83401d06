//! The blocking driver: workers of a thread pool fetch, decode and place; from stores with round trips many fetches are under
//! way while workers decode what has arrived.

use std::sync::{Arc, Mutex};

use gingham_codec::Context;
use gingham_store::Request;
use rayon::prelude::*;

use super::{Gate, local};
use crate::error::{Error, Result};
use crate::read::machine::{First, Machine, Need, Task, Work};

/// Objects that are worked on together: enough to keep every worker busy, few enough that a plan of a hundred million
/// objects is never held as a list.
const WINDOW: usize = 4096;

struct Job {
    task: Arc<Task>,
    need: Need,
}

/// Reads everything that the machine's plan wants.
pub(crate) fn run(machine: &Machine<'_>) -> Result<()> {
    let count = machine.plan.object_count();
    if machine.array.store.traits().local {
        return local::run(machine, count);
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

/// Objects behind a network: what is needed first of all of them, then what their indexes say.
fn window(machine: &Machine<'_>, objects: std::ops::Range<usize>) -> Result<()> {
    let jobs: Vec<Vec<Job>> = objects.into_par_iter().map(|i| first(machine, i)).collect::<Result<_>>()?;
    let (indexes, mut jobs): (Vec<Job>, Vec<Job>) = jobs.into_iter().flatten().partition(|j| matches!(j.need.work, Work::Index));
    let more: Mutex<Vec<Job>> = Mutex::new(Vec::new());
    fetch(machine, &indexes, &|job, bytes, context| {
        let Some(bytes) = bytes else { return machine.finish(&job.task, &Work::Object, None, context) };
        let index = machine.index(&job.task, bytes, context)?;
        let needs = machine.with_index(&job.task, &index).into_iter();
        more.lock().unwrap_or_else(|e| e.into_inner()).extend(needs.map(|need| Job { task: job.task.clone(), need }));
        Ok(())
    })?;
    jobs.extend(more.into_inner().unwrap_or_else(|e| e.into_inner()));
    fetch(machine, &jobs, &|job, bytes, context| machine.finish(&job.task, &job.need.work, bytes, context))
}

fn first(machine: &Machine<'_>, i: usize) -> Result<Vec<Job>> {
    let task = Arc::new(machine.task(i)?);
    let needs = match machine.first(&task) {
        First::Need(need) => vec![need],
        First::Index(index) => machine.with_index(&task, &index),
    };
    Ok(needs.into_iter().map(|need| Job { task: task.clone(), need }).collect())
}

type Finish<'f> = &'f (dyn Fn(&Job, Option<&[u8]>, &mut Context) -> Result<()> + Sync);

/// Fetches for jobs and finishes each as it arrives.
fn fetch(machine: &Machine<'_>, jobs: &[Job], finish: Finish<'_>) -> Result<()> {
    let store = &machine.array.store;
    let (jobs, at_hand): (Vec<&Job>, Vec<&Job>) = jobs.iter().partition(|j| j.need.work.fetches());
    at_hand.into_par_iter().try_for_each(|job| machine.array.with_context(|context| finish(job, None, context)))?;
    let requests: Vec<Request> = jobs.iter().map(|j| Request { key: j.task.key.clone(), range: j.need.range }).collect();
    let gate = Gate::new(machine.array.options.memory);
    let failed: Mutex<Option<Error>> = Mutex::new(None);
    let fail = |e: Error| {
        failed.lock().unwrap_or_else(|e| e.into_inner()).get_or_insert(e);
    };
    rayon::in_place_scope(|scope| {
        store.get_many(&requests, &|i, got| {
            let Some(&job) = jobs.get(i) else { return };
            match got {
                Err(e) => fail(machine.place_error(e.into(), &job.task)),
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
