//! Blocking requests side by side: a few threads that take the next one until none is left.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{Got, Request};

/// Gets every request with `get`, on at most `width` threads, this one among them, and hands each answer over as it arrives.
pub(crate) fn spread(requests: &[Request], width: usize, get: &(dyn Fn(&Request) -> Got + Sync), deliver: &(dyn Fn(usize, Got) + Sync)) {
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            match requests.get(i) {
                Some(request) => deliver(i, get(request)),
                None => break,
            }
        }
    };
    std::thread::scope(|s| {
        for _ in 1..width.min(requests.len()) {
            // A thread that the system refuses is not needed: those that are there do its share.
            if std::thread::Builder::new().name("gingham-get".into()).spawn_scoped(s, work).is_err() {
                break;
            }
        }
        work();
    });
}
