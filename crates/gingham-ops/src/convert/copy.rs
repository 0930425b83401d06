//! The data of one array: blocks are read from the source and written to the target by a few workers.
//!
//! ```text
//!   next block ──► worker: read (engine's threads decode) ──► write (engine's threads encode) ──► next block
//!              ──► worker: …                                  a worker waits for storage while another computes
//! ```

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use gingham::core::region::Region;
use gingham::{Array, Error, Kind, Result};

use super::plan::Job;
use crate::slabs::select;

/// Copies all blocks of a job. `moved` is told the elements of each block when it is written.
pub(super) fn copy(job: &Job, target: &Array, workers: usize, moved: &(dyn Fn(u64) + Sync)) -> Result<()> {
    let next = Mutex::new(job.wanted.iter(job.blocks.count()));
    let failed = AtomicBool::new(false);
    let first_error = Mutex::new(None);
    let work = || {
        let mut buffer = Vec::new();
        while !failed.load(Ordering::Relaxed) {
            let Some(number) = lock(&next).next() else { return };
            let region = job.blocks.region(number);
            match copy_block(&job.source, target, &region, &mut buffer) {
                Ok(()) => moved(region.count().unwrap_or(u64::MAX)),
                Err(e) => {
                    failed.store(true, Ordering::Relaxed);
                    lock(&first_error).get_or_insert(e);
                }
            }
        }
    };
    if workers <= 1 {
        work();
    } else {
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(work);
            }
        });
    }
    match lock(&first_error).take() {
        Some(e) => Err(e),
        None => Ok(()),
    }
}

/// A panic in another worker cannot leave an iterator or an option half changed.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn copy_block(source: &Array, target: &Array, region: &Region, buffer: &mut Vec<u8>) -> Result<()> {
    let selection = select(region)?;
    let Some(size) = source.data_type().size() else {
        let (_, elements) = source.read_elements(selection.clone())?;
        return target.write_elements(selection, &elements);
    };
    let bytes = region.count().and_then(|n| n.checked_mul(size as u64)).and_then(|n| usize::try_from(n).ok());
    let bytes = bytes.ok_or_else(|| Error::new(Kind::OutOfRange, "a block does not fit this machine's memory"))?;
    buffer.resize(bytes, 0);
    source.read_into(selection.clone(), buffer)?;
    target.write_bytes(selection, buffer)
}

/// Counts elements done, saturating.
#[derive(Default)]
pub(super) struct Meter(AtomicU64);

impl Meter {
    /// Adds and returns the sum.
    pub(super) fn add(&self, n: u64) -> u64 {
        self.0.fetch_add(n, Ordering::Relaxed).saturating_add(n)
    }
}
