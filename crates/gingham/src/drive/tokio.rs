//! The asynchronous driver: fetches await on whatever executor polls, decoding runs on worker threads.

use std::sync::Arc;

use futures_util::stream::{StreamExt, TryStreamExt, iter};
use gingham_codec::Context;
use gingham_codec::place::{HANDLE, Target, resolve};
use gingham_core::dtype::{Elements, FillValue};
use gingham_store::Bytes;

use crate::array::Array;
use crate::error::{Error, Kind, Result};
use crate::read::machine::{Machine, Need, Work};
use crate::read::output::zeroed;
use crate::read::plan::{Object, Plan};

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
    let count: u64 = plan.shape().iter().product();
    let len = usize::try_from(count).ok().and_then(|n| n.checked_mul(item.unwrap_or(HANDLE)));
    let mut buffer: Vec<u8> = zeroed(len.unwrap_or(usize::MAX))?;
    // SAFETY: the vector's memory does not move with it, is not touched before every worker is done, and outlives them in `Shared`.
    #[allow(unsafe_code)]
    let memory: &'static mut [u8] = unsafe { std::slice::from_raw_parts_mut(buffer.as_mut_ptr(), buffer.len()) };
    let fill: FillValue = array.inner().fill.clone();
    let target = match item {
        Some(item) => Target::fixed(memory, item, true),
        None => Target::variable(memory, fill.as_bytes()),
    };
    let shared = Arc::new(Shared { array: array.clone(), plan, target, buffer });
    let concurrency = array.store().traits().concurrency.max(1);
    iter(0..shared.plan.object_count()).map(|i| object(shared.clone(), i)).buffer_unordered(concurrency).try_collect::<Vec<()>>().await?;
    let shared = Arc::into_inner(shared).ok_or_else(|| Error::new(Kind::Interrupted, "a worker still holds the output"))?;
    let collected = shared.target.into_collected();
    Ok(match item {
        Some(_) => Elements::Fixed(shared.buffer),
        None => Elements::Variable(resolve(&shared.buffer, &collected)),
    })
}

async fn object(shared: Arc<Shared>, i: usize) -> Result<()> {
    let (object, key, needs) = {
        let machine = shared.machine();
        let object = Arc::new(shared.plan.object(i));
        let key = shared.plan.key(&object);
        let bound = machine.bound(&object)?;
        let needs = match machine.first(&object, &bound, &key)? {
            Ok(need) => vec![need],
            Err(index) => machine.with_index(&object, &bound, &index),
        };
        (object, key, needs)
    };
    for need in needs {
        if let Work::Index = need.work {
            let got = get(&shared, &object, &key, &need).await?;
            let (o, k) = (object.clone(), key.clone());
            let needs = worker(shared.clone(), move |machine, context| {
                let bound = machine.bound(&o)?;
                match got {
                    None => machine.finish(&o, &bound, &k, &Work::Object, None, context).map(|()| Vec::new()),
                    Some(bytes) => machine.index(&o, &bound, &k, &bytes, context).map(|index| machine.with_index(&o, &bound, &index)),
                }
            })
            .await?;
            for need in needs {
                finish(&shared, &object, &key, need).await?;
            }
        } else {
            finish(&shared, &object, &key, need).await?;
        }
    }
    Ok(())
}

async fn get(shared: &Shared, object: &Object, key: &str, need: &Need) -> Result<Option<Bytes>> {
    let got = shared.array.store().get_async(key, need.range).await;
    got.map_err(|e| shared.machine().place_error(e.into(), object, key))
}

async fn finish(shared: &Arc<Shared>, object: &Arc<Object>, key: &str, need: Need) -> Result<()> {
    let got = if matches!(need.work, Work::Absent(_)) { None } else { get(shared, object, key, &need).await? };
    let (object, key) = (object.clone(), key.to_string());
    worker(shared.clone(), move |machine, context| {
        let bound = machine.bound(&object)?;
        machine.finish(&object, &bound, &key, &need.work, got.as_deref(), context)
    })
    .await
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
