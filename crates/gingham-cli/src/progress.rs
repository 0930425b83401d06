//! How far a job is, on standard error: a bar per array and one for all, or JSON a line for machines.

use std::collections::HashMap;
use std::io::{IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use gingham_ops::convert::Event;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use serde_json::json;

use crate::args::ProgressMode;
use crate::context::Context;

/// JSON lines of one array are no closer than this.
const PACE: Duration = Duration::from_millis(200);

/// Bars on screen at most, beside the one for all.
const MOST_BARS: usize = 4;

/// Shows how far a job is.
pub struct Progress(Shown);

enum Shown {
    Bars(Bars),
    Json(Mutex<HashMap<String, Instant>>),
    Nothing,
}

struct Bars {
    screen: MultiProgress,
    total: ProgressBar,
    arrays: Mutex<HashMap<String, (Option<ProgressBar>, u64)>>,
}

impl Progress {
    /// For a job over `elements` elements, called `verb`.
    pub fn new(context: &Context, verb: &str, elements: u64) -> Self {
        let bars = match context.progress {
            ProgressMode::Bar => true,
            ProgressMode::Auto => std::io::stderr().is_terminal(),
            ProgressMode::Json => return Progress(Shown::Json(Mutex::default())),
            ProgressMode::None => false,
        };
        if !bars {
            return Progress(Shown::Nothing);
        }
        let screen = MultiProgress::new();
        let total = screen.add(ProgressBar::new(elements).with_style(style("{msg:24!}")).with_message(verb.to_string()));
        Progress(Shown::Bars(Bars { screen, total, arrays: Mutex::default() }))
    }
    /// Takes note of what happened. Warnings are the caller's to print.
    pub fn event(&self, event: &Event) {
        match &self.0 {
            Shown::Nothing => {}
            Shown::Json(last) => json_line(&mut lock(last), event),
            Shown::Bars(bars) => bars.event(event),
        }
    }
    /// Runs `print` with the bars out of the way.
    pub fn suspend(&self, print: impl FnOnce()) {
        match &self.0 {
            Shown::Bars(bars) => bars.screen.suspend(print),
            _ => print(),
        }
    }
    /// Takes the bars away.
    pub fn finish(&self) {
        if let Shown::Bars(bars) = &self.0 {
            bars.total.finish_and_clear();
            // The terminal may be gone.
            let _ = bars.screen.clear();
        }
    }
}

impl Bars {
    fn event(&self, event: &Event) {
        let mut arrays = lock(&self.arrays);
        match event {
            Event::Start { path, elements } => {
                let visible = arrays.values().filter(|(bar, _)| bar.is_some()).count();
                let name = if path.is_empty() { "array" } else { path };
                let bar = (visible < MOST_BARS).then(|| {
                    let bar = ProgressBar::new(*elements).with_style(style("  {msg:22!}")).with_message(crate::render::short(name, 22));
                    self.screen.insert_before(&self.total, bar)
                });
                arrays.insert(path.clone(), (bar, 0));
            }
            Event::Elements { path, done } => {
                if let Some((bar, before)) = arrays.get_mut(path) {
                    self.total.inc(done.saturating_sub(*before));
                    *before = (*before).max(*done);
                    if let Some(bar) = bar {
                        bar.set_position(*done);
                    }
                }
            }
            Event::Done { path } => {
                if let Some((Some(bar), _)) = arrays.remove(path) {
                    bar.finish_and_clear();
                }
            }
            Event::Warning { .. } => {}
        }
    }
}

fn style(name: &str) -> ProgressStyle {
    let template = format!("{name} {{wide_bar}} {{percent:>3}} %  {{elapsed_precise}}  {{eta:>4}} left");
    // The template is a constant of this file; a bar of the library's own look is shown where it is refused.
    ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

fn json_line(last: &mut HashMap<String, Instant>, event: &Event) {
    let line = match event {
        Event::Start { path, elements } => json!({ "event": "start", "path": path, "elements": elements }),
        Event::Elements { path, done } => {
            let now = Instant::now();
            if last.get(path).is_some_and(|&t| now.duration_since(t) < PACE) {
                return;
            }
            last.insert(path.clone(), now);
            json!({ "event": "elements", "path": path, "done": done })
        }
        Event::Done { path } => {
            last.remove(path);
            json!({ "event": "done", "path": path })
        }
        Event::Warning { path, what } => json!({ "event": "warning", "path": path, "what": what }),
    };
    // Nothing can be told where standard error is closed.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// A lock that a panic elsewhere does not poison: what is behind it is only how far a bar is.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
