//! The asynchronous driver: fetches await on whatever executor polls, decoding runs on worker threads.

use std::sync::Arc;

use futures_util::stream::{StreamExt, TryStreamExt, iter};
use gingham_codec::Context;
use gingham_codec::place::{HANDLE, Target, resolve};
use gingham_core::dtype::{Elements, FillValue};
use gingham_store::{Bytes, Range};

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

/// Reads one object; once more where it is a shard that was replaced between its index and its chunks.
async fn object(shared: Arc<Shared>, i: usize) -> Result<()> {
    let object = Arc::new(shared.plan.object(i));
    let key = shared.plan.key(&object);
    for _ in 0..super::TRIES {
        let (needs, version) = {
            let machine = shared.machine();
            let bound = machine.bound(&object)?;
            match machine.first(&object, &bound, &key)? {
                Ok(Need { range, work: Work::Index { version } }) => {
                    (vec![Need { range, work: Work::Index { version: version.clone() } }], version)
                }
                Ok(need) => (vec![need], None),
                Err((index, version)) => (machine.with_index(&object, &bound, &index), version),
            }
        };
        let result = carry_out(&shared, &object, &key, needs).await;
        match version {
            Some(version) if shared.array.inner().has_changed(&key, &version)? => {}
            _ => return result,
        }
    }
    Err(shared.machine().place_error(super::ever_changing(), &object, &key))
}

async fn carry_out(shared: &Arc<Shared>, object: &Arc<Object>, key: &str, needs: Vec<Need>) -> Result<()> {
    for need in needs {
        if let Work::Index { .. } = need.work {
            let got = get(shared, object, key, need.range).await?;
            let (o, k) = (object.clone(), key.to_string());
            let needs = worker(shared.clone(), move |machine, context| {
                let bound = machine.bound(&o)?;
                match got {
                    None => machine.finish(&o, &bound, &k, &Work::Object, None, context).map(|()| Vec::new()),
                    Some(bytes) => {
                        machine.index(&o, &bound, &k, &need.work, &bytes, context).map(|index| machine.with_index(&o, &bound, &index))
                    }
                }
            })
            .await?;
            for need in needs {
                finish(shared, object, key, need).await?;
            }
        } else {
            finish(shared, object, key, need).await?;
        }
    }
    Ok(())
}

async fn get(shared: &Shared, object: &Object, key: &str, range: Range) -> Result<Option<Bytes>> {
    let got = shared.array.store().get_async(key, range).await;
    got.map_err(|e| shared.machine().place_error(e.into(), object, key))
}

async fn finish(shared: &Arc<Shared>, object: &Arc<Object>, key: &str, need: Need) -> Result<()> {
    let got = match &need.work {
        Work::Absent(_) | Work::Missing => None,
        Work::Slab { first, ranges } if ranges.len() > 1 => slab(shared, object, key, *first, ranges).await?,
        _ => get(shared, object, key, need.range).await?,
    };
    let (object, key) = (object.clone(), key.to_string());
    worker(shared.clone(), move |machine, context| {
        let bound = machine.bound(&object)?;
        machine.finish(&object, &bound, &key, &need.work, got.as_deref(), context)
    })
    .await
}

/// Ranges of an uncompressed chunk at their places between its byte `first` and the end of the last of them.
async fn slab(shared: &Shared, object: &Object, key: &str, first: u64, ranges: &[(u64, u64)]) -> Result<Option<Bytes>> {
    let end = ranges.iter().map(|(start, len)| start + len).max().unwrap_or(first);
    let mut buffer = vec![0; (end - first) as usize];
    for &(start, length) in ranges {
        let Some(bytes) = get(shared, object, key, Range::Bounded { start, length }).await? else { return Ok(None) };
        let from = (start - first) as usize;
        match buffer.get_mut(from..from + bytes.len()) {
            Some(place) if bytes.len() as u64 == length => place.copy_from_slice(&bytes),
            _ => {
                let what = format!("the store gave {} bytes from byte {start}, where {length} were asked for", bytes.len());
                return Err(shared.machine().place_error(Error::new(Kind::Corrupt, what), object, key));
            }
        }
    }
    Ok(Some(buffer.into()))
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
