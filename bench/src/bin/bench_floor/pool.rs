//! Threads that take the next piece of work until there is none.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use gingham_bench::Failure;

use crate::codecs::Worker;

pub struct Pool {
    threads: rayon::ThreadPool,
    workers: Vec<Mutex<Worker>>,
}

impl Pool {
    pub fn new(threads: usize) -> Result<Self, Failure> {
        let workers = (0..threads).map(|_| Mutex::default()).collect();
        Ok(Self { threads: rayon::ThreadPoolBuilder::new().num_threads(threads).build()?, workers })
    }
    pub fn threads(&self) -> usize {
        self.workers.len()
    }
    /// Runs on one of the threads, so that work which follows need not wake it.
    pub fn enter<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.threads.install(work)
    }
    /// Does pieces 0 to `count`; the first failure ends it.
    pub fn each(&self, count: usize, work: impl Fn(usize, &mut Worker) -> Result<(), Failure> + Sync) -> Result<(), Failure> {
        let next = AtomicUsize::new(0);
        let until_done = |worker: usize| -> Result<(), Failure> {
            let mut worker = self.workers[worker].lock().map_err(|_| "a thread panicked")?;
            loop {
                match next.fetch_add(1, Relaxed) {
                    n if n < count => work(n, &mut worker)?,
                    _ => return Ok(()),
                }
            }
        };
        if count < 2 || self.threads() < 2 {
            return until_done(0);
        }
        self.threads.broadcast(|context| until_done(context.index())).into_iter().collect()
    }
}
