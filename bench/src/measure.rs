//! Time: wall, and of the processor in all threads (user and system), which other work on the machine disturbs less.

use std::time::Instant;

/// One run, in milliseconds.
#[derive(Clone, Copy)]
pub struct Sample {
    pub wall: f64,
    pub cpu: f64,
}

/// Medians of the runs of one reader.
#[derive(Default)]
pub struct Samples(Vec<Sample>);

impl Samples {
    pub fn push(&mut self, sample: Sample) {
        self.0.push(sample);
    }
    pub fn wall(&self) -> f64 {
        median(self.0.iter().map(|s| s.wall).collect())
    }
    pub fn cpu(&self) -> f64 {
        median(self.0.iter().map(|s| s.cpu).collect())
    }
    /// The fastest run.
    pub fn best(&self) -> f64 {
        self.0.iter().map(|s| s.wall).fold(f64::INFINITY, f64::min)
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    match n {
        0 => f64::NAN,
        _ if n % 2 == 1 => values[n / 2],
        _ => (values[n / 2 - 1] + values[n / 2]) / 2.0,
    }
}

pub fn time(work: impl FnOnce()) -> Sample {
    let (cpu, wall) = (cpu_ms(), Instant::now());
    work();
    Sample { wall: wall.elapsed().as_secs_f64() * 1e3, cpu: cpu_ms() - cpu }
}

fn cpu_ms() -> f64 {
    // SAFETY: a struct of integers, for which zeros are a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is that of a live struct of the right type.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
    let ms = |t: libc::timeval| t.tv_sec as f64 * 1e3 + t.tv_usec as f64 / 1e3;
    ms(usage.ru_utime) + ms(usage.ru_stime)
}
