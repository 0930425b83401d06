//! The asynchronous face of every store: native where the store is asynchronous inside, else a blocking get on another thread.

use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
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

/// Runs a future on a runtime that the store owns and hands its answer over to whichever executor awaits it. `keep` is what the
/// runtime lives by: it is held for as long as the answer is waited for, even where the store was dropped meanwhile.
pub(crate) fn bridge<K: Send + Sync + 'static>(
    keep: Arc<K>,
    runtime: &Handle,
    store: String,
    key: String,
    get: impl Future<Output = Got> + Send + 'static,
) -> Pending {
    let (send, receive) = tokio::sync::oneshot::channel();
    runtime.spawn(async move {
        // The receiver may be gone: then nobody waits for the answer.
        let _ = send.send(get.await);
    });
    Box::pin(async move {
        let answer = receive.await;
        drop(keep);
        answer.unwrap_or_else(|_| Err(StoreError::new(StoreErrorKind::Failed, "the get ended without an answer").at(&store, &key)))
    })
}

/// Runs a future on this thread, with no runtime, and so inside any.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = std::pin::pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::park(),
        }
    }
}
