//! Ctrl-C and SIGTERM: what is under way ends at its next request to a store and cleans up after itself; what does not end soon is
//! ended. Objects are put whole or not at all, so that neither leaves half of one.
//!
//! ```text
//!   signal ──► flag ──► every store refuses ──► the command fails as any failing command ──► 130 (143 for SIGTERM)
//!                  └──► GRACE later, or at a second signal ────────────────────────────────► the same, at once
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit::Exit;

/// True once a signal came.
static STOP: std::sync::LazyLock<Arc<AtomicBool>> = std::sync::LazyLock::new(Arc::default);
/// The signal was SIGTERM.
static TERMINATED: AtomicBool = AtomicBool::new(false);

/// What stores are to look at.
pub fn flag() -> Arc<AtomicBool> {
    STOP.clone()
}

/// The status of a command that a signal stopped.
pub fn status() -> Exit {
    if TERMINATED.load(Ordering::Relaxed) { Exit::Terminated } else { Exit::Interrupted }
}

/// Waits for signals from now on. Where that cannot be done, signals do what they do to any process.
#[cfg(unix)]
pub fn listen() {
    use signal_hook::consts::{SIGINT, SIGTERM};
    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM]) else { return };
    std::thread::spawn(move || {
        let mut first = true;
        for signal in signals.forever() {
            TERMINATED.store(signal == SIGTERM, Ordering::Relaxed);
            STOP.store(true, Ordering::Relaxed);
            if !std::mem::replace(&mut first, false) {
                end();
            }
            std::thread::spawn(|| {
                std::thread::sleep(GRACE);
                end();
            });
        }
    });
}

/// Time for what is under way to end by itself: longer than a chunk takes, short enough not to be taken for hanging.
#[cfg(unix)]
const GRACE: std::time::Duration = std::time::Duration::from_secs(2);

#[cfg(unix)]
fn end() {
    use std::io::Write;
    // Nothing can be told where standard error is closed.
    let _ = writeln!(std::io::stderr(), "error: interrupted; what was written whole stays, and what was being written is not there");
    std::process::exit(status().code().into());
}

/// Signals do what they do to any process.
#[cfg(not(unix))]
pub fn listen() {}
