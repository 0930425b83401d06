//! The asynchronous face of every store: native where the store is asynchronous inside, else a blocking get on another thread.

use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};

use crate::{Got, Range, Store, StoreError, StoreErrorKind};

/// A get under way.
pub type Pending = Pin<Box<dyn Future<Output = Got> + Send>>;

/// Threads that blocking gets may take where the caller has no tokio runtime: as many as a store keeps under way.
const THREADS: usize = 32;

impl Store {
    /// Gets a part of an object, from any executor.
    ///
    /// Object stores run it natively, on their own runtime. Other stores block, on a thread of the tokio runtime that this is
    /// awaited in, or of a small pool where there is none. Dropping the future gives up the answer, not the transfer.
    pub async fn get_async(&self, key: &str, range: Range) -> Got {
        if let Some(pending) = self.start_get(key, range) {
            return pending.await;
        }
        let (store, owned) = (self.clone(), key.to_owned());
        let task = match Handle::try_current() {
            Ok(here) => here.spawn_blocking(move || store.get(&owned, range)),
            Err(_) => match pool() {
                Ok(pool) => pool.spawn_blocking(move || store.get(&owned, range)),
                Err(e) => return Err(e.at(&self.describe(), key)),
            },
        };
        match task.await {
            Ok(got) => got,
            Err(e) => {
                let what = if e.is_cancelled() { "the runtime was shut down before the get ran" } else { "the thread of a get panicked" };
                Err(StoreError::new(StoreErrorKind::Failed, what).at(&self.describe(), key).caused_by(e))
            }
        }
    }
}

/// Threads for blocking gets outside any runtime, made when first needed; idle ones end after ten seconds.
fn pool() -> Result<&'static Runtime, StoreError> {
    static POOL: OnceLock<Option<Runtime>> = OnceLock::new();
    let make = || {
        let mut builder = Builder::new_current_thread();
        builder.max_blocking_threads(THREADS).thread_keep_alive(Duration::from_secs(10)).thread_name("gingham-get").build().ok()
    };
    POOL.get_or_init(make)
        .as_ref()
        .ok_or_else(|| StoreError::new(StoreErrorKind::Failed, "no thread could be started for an asynchronous get"))
}

/// Runs a future on a runtime that the store owns and hands its answer over to whichever executor awaits it.
pub(crate) fn bridge(runtime: &Arc<Runtime>, store: String, key: String, get: impl Future<Output = Got> + Send + 'static) -> Pending {
    let (send, receive) = tokio::sync::oneshot::channel();
    runtime.spawn(async move {
        // The receiver may be gone: then nobody waits for the answer.
        let _ = send.send(get.await);
    });
    // The runtime lives as long as the answer is waited for, even where the store was dropped meanwhile.
    Box::pin(Bridge { receive, _runtime: runtime.clone(), store, key })
}

struct Bridge {
    receive: tokio::sync::oneshot::Receiver<Got>,
    _runtime: Arc<Runtime>,
    store: String,
    key: String,
}

impl Future for Bridge {
    type Output = Got;
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Got> {
        Pin::new(&mut self.receive).poll(cx).map(|answer| {
            answer.unwrap_or_else(|_| {
                Err(StoreError::new(StoreErrorKind::Failed, "the get ended without an answer").at(&self.store, &self.key))
            })
        })
    }
}
