//! Clocks, memory, and the line of JSON.

use std::time::Instant;

use serde_json::{Map, Value};

use crate::Sums;

/// What was measured.
#[derive(Default)]
pub struct Report {
    wall: Vec<f64>,
    cpu: Vec<f64>,
    each: Vec<f64>,
    base: u64,
    facts: Map<String, Value>,
}

impl Report {
    /// Begins; memory that is in use now does not count.
    pub fn new() -> Self {
        Self { base: status_kib("VmRSS"), ..Default::default() }
    }
    /// Inputs are in memory: the peak is told apart from them, and begins anew where the system allows it.
    pub fn set_base(&mut self) {
        // 5: reset the high-water mark. Elsewhere the mark is that of the whole process.
        let _ = std::fs::write("/proc/self/clear_refs", "5");
        self.base = status_kib("VmRSS");
    }
    /// Times one iteration.
    pub fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let (cpu, wall) = (cpu_seconds(), Instant::now());
        let result = work();
        self.wall.push(wall.elapsed().as_secs_f64());
        self.cpu.push(cpu_seconds() - cpu);
        result
    }
    /// Forgets the times so far: they were the warm-up's.
    pub fn warmed(&mut self) {
        self.wall.clear();
        self.cpu.clear();
        self.each.clear();
    }
    /// Seconds of one of many parts of an iteration.
    pub fn each(&mut self, seconds: f64) {
        self.each.push(seconds);
    }
    /// Another fact of the run.
    pub fn fact(&mut self, name: &str, value: impl Into<Value>) {
        self.facts.insert(name.into(), value.into());
    }
    /// The sums of what was read. As text: JSON's numbers are too narrow for some readers.
    pub fn sums(&mut self, sums: &Sums) {
        self.fact("checksum", sums.plain().to_string());
        self.fact("order", sums.ordered().to_string());
    }
    /// Prints the line.
    pub fn print(mut self) {
        self.fact("times", self.wall.clone());
        self.fact("cpu", self.cpu.clone());
        self.each.sort_by(f64::total_cmp);
        if let Some(&middle) = self.each.get(self.each.len() / 2) {
            self.fact("each_p50", middle);
            self.fact("each_p95", self.each[(self.each.len() * 95 / 100).min(self.each.len() - 1)]);
        }
        self.fact("rss_base_kib", self.base);
        self.fact("rss_peak_kib", status_kib("VmHWM"));
        println!("{}", Value::Object(self.facts));
    }
}

fn cpu_seconds() -> f64 {
    // SAFETY: a struct of integers, for which zeros are a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is that of a live struct of the right type.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 * 1e-6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// A field of the process's status, in KiB; 0 where the system has none.
fn status_kib(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix(field)).unwrap_or_default();
    line.trim_start_matches(':').trim().trim_end_matches(" kB").parse().unwrap_or(0)
}
