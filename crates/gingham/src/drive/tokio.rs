//! The asynchronous driver: fetches await on whatever executor polls, decoding runs on worker threads.

use std::sync::Arc;

use futures_util::stream::{StreamExt, TryStreamExt, iter};
use gingham_codec::Context;
use gingham_codec::place::{HANDLE, Target, resolve};
use gingham_core::dtype::{Elements, FillValue};
use gingham_store::{Bytes, Range};

use crate::array::Array;
use crate::error::{Error, Kind, Result};
use crate::read::machine::{First, Machine, Need, Task, Work};
use crate::read::output::zeroed;
use crate::read::plan::Plan;

/// A read in progress: its output lives as long as any worker that may still write to it.
struct Shared {
    array: Array,
    plan: Plan,
    /// Before `buffer`: dropped first, as it points into it.
    target: Target<'static>,
    buffer: Vec<u8>,
}

impl Shared {
    fn machine(&self) -> Machine<'_> {
        Machine { array: self.array.inner(), plan: &self.plan, target: &self.target }
    }
}

/// Reads a plan: its elements in C order.
pub(crate) async fn run(array: &Array, plan: Plan) -> Result<Elements> {
    let item = array.data_type().size();
    let count = if plan.shape().contains(&0) { Some(0) } else { plan.shape().iter().try_fold(1u64, |n, &l| n.checked_mul(l)) };
    let len = count.and_then(|n| usize::try_from(n).ok()).and_then(|n| n.checked_mul(item.unwrap_or(HANDLE)));
    let mut buffer: Vec<u8> = zeroed(len.unwrap_or(usize::MAX))?;
    // SAFETY: the vector's memory does not move with it, is not touched before every worker is done, and outlives them in `Shared`.
    #[allow(unsafe_code)]
    let memory: &'static mut [u8] = unsafe { std::slice::from_raw_parts_mut(buffer.as_mut_ptr(), buffer.len()) };
    let fill: FillValue = array.inner().fill.clone();
    let target = match item {
        Some(item) => Target::fixed(memory, item, true),
        None => Target::variable(memory, fill.as_bytes()),
    };
    let traits = array.store().traits();
    let shared = Arc::new(Shared { array: array.clone(), plan, target, buffer });
    if traits.local {
        // Nothing to await: a worker does what a blocking read does.
        worker(shared.clone(), |machine, _| super::blocking::run(machine)).await?;
    } else {
        let objects = iter(0..shared.plan.object_count()).map(|i| object(shared.clone(), i));
        objects.buffer_unordered(traits.concurrency.max(1)).try_collect::<Vec<()>>().await?;
    }
    let shared = Arc::into_inner(shared).ok_or_else(|| Error::new(Kind::Interrupted, "a worker still holds the output"))?;
    let collected = shared.target.into_collected();
    Ok(match item {
        Some(_) => Elements::Fixed(shared.buffer),
        None => Elements::Variable(resolve(&shared.buffer, &collected)),
    })
}

/// Reads one object.
async fn object(shared: Arc<Shared>, i: usize) -> Result<()> {
    let (task, first) = {
        let machine = shared.machine();
        let task = Arc::new(machine.task(i)?);
        let first = match machine.first(&task) {
            First::Need(need) => vec![need],
            First::Index(index) => machine.with_index(&task, &index),
        };
        (task, first)
    };
    for need in first {
        if !matches!(need.work, Work::Index) {
            finish(&shared, &task, need).await?;
            continue;
        }
        for need in with_index(&shared, &task, need.range).await? {
            finish(&shared, &task, need).await?;
        }
    }
    Ok(())
}

/// Fetches a shard's index, and gives what is needed of the shard; where it is absent its place is filled.
async fn with_index(shared: &Arc<Shared>, task: &Arc<Task>, range: Range) -> Result<Vec<Need>> {
    let got = get(shared, task, range).await?;
    let task = task.clone();
    worker(shared.clone(), move |machine, context| match got {
        None => machine.finish(&task, &Work::Object, None, context).map(|()| Vec::new()),
        Some(bytes) => {
            let index = machine.index(&task, &bytes, context)?;
            Ok(machine.with_index(&task, &index))
        }
    })
    .await
}

async fn get(shared: &Shared, task: &Task, range: Range) -> Result<Option<Bytes>> {
    let got = shared.array.store().get_async(&task.key, range).await;
    got.map_err(|e| shared.machine().place_error(e.into(), task))
}

async fn finish(shared: &Arc<Shared>, task: &Arc<Task>, need: Need) -> Result<()> {
    let got = if need.work.fetches() { get(shared, task, need.range).await? } else { None };
    let task = task.clone();
    worker(shared.clone(), move |machine, context| machine.finish(&task, &need.work, got.as_deref(), context)).await
}

/// Runs CPU work on a worker thread.
async fn worker<T: Send + 'static>(
    shared: Arc<Shared>,
    work: impl FnOnce(&Machine<'_>, &mut Context) -> Result<T> + Send + 'static,
) -> Result<T> {
    let (send, receive) = tokio::sync::oneshot::channel();
    let job = move || {
        let result = shared.array.inner().with_context(|context| work(&shared.machine(), context));
        drop(shared);
        // The reader may be gone; nobody is left to tell.
        let _ = send.send(result);
    };
    rayon::spawn(job);
    receive.await.map_err(|_| Error::new(Kind::Interrupted, "a worker thread ended before its work was done"))?
}
