//! What the machine gives: memory, page cache, and the C codecs, on one thread and on all.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Instant;

use gingham_bench::{Arguments, Failure};
use serde_json::{Map, Value, json};

use crate::document::Layout;
use crate::memory::{Buffer, Pages, Target};
use crate::pool::Pool;

const MIB: usize = 1 << 20;
const ALL: usize = 256 * MIB;

type Facts = Map<String, Value>;

/// Median and best of some runs, as GiB/s.
fn measure(facts: &mut Facts, name: &str, bytes: usize, runs: usize, mut work: impl FnMut() -> Result<(), Failure>) -> Result<(), Failure> {
    let mut speeds = Vec::new();
    for _ in 0..runs {
        let begun = Instant::now();
        work()?;
        speeds.push(bytes as f64 / begun.elapsed().as_secs_f64() / (1u64 << 30) as f64);
    }
    speeds.sort_by(f64::total_cmp);
    facts.insert(name.into(), json!({"gib_s": speeds[runs / 2], "best_gib_s": speeds[runs - 1]}));
    Ok(())
}

/// Memory, and the files of an uncompressed layout.
pub fn machine(arguments: &Arguments) -> Result<(), Failure> {
    let (runs, layout) = (arguments.iterations()?, Layout::open(arguments.get("store")?)?);
    let mut facts = Facts::new();
    for threads in [1, 2] {
        memory(&mut facts, &Pool::new(threads)?, runs)?;
        files(&mut facts, &Pool::new(threads)?, &layout, runs)?;
    }
    println!("{}", Value::Object(facts));
    Ok(())
}

fn memory(facts: &mut Facts, pool: &Pool, runs: usize) -> Result<(), Failure> {
    let threads = pool.threads();
    let source = vec![3u8; ALL];
    // SAFETY (both): each piece is one MiB of its own, and the source is never written.
    let copy = |to: Target| {
        pool.each(ALL / MIB, |n, _| {
            unsafe { std::ptr::copy_nonoverlapping(source.as_ptr().add(n * MIB), to.at(n * MIB), MIB) };
            Ok(())
        })
    };
    let touch = |to: Target| {
        pool.each(ALL / MIB, |n, _| {
            (0..MIB).step_by(4096).for_each(|at| unsafe { to.at(n * MIB + at).write_volatile(1) });
            Ok(())
        })
    };
    let mut warm = Buffer::new(ALL, Pages::Huge);
    copy(warm.target())?;
    measure(facts, &format!("copy into warm memory, {threads}t"), ALL, runs, || copy(warm.target()))?;
    drop(warm);
    for (name, pages) in [("4 KiB", Pages::Small), ("huge", Pages::Huge)] {
        measure(facts, &format!("first touch of fresh {name} pages, {threads}t"), ALL, runs, || touch(Buffer::new(ALL, pages).target()))?;
        measure(facts, &format!("copy into fresh {name} pages, {threads}t"), ALL, runs, || copy(Buffer::new(ALL, pages).target()))?;
    }
    Ok(())
}

fn files(facts: &mut Facts, pool: &Pool, layout: &Layout, runs: usize) -> Result<(), Failure> {
    let paths: Vec<_> = layout.touched([0; 3], layout.shape).into_iter().map(|c| layout.path(&layout.root, c)).collect();
    let bytes = paths.iter().map(|p| p.metadata().map_or(0, |m| m.len() as usize)).sum();
    measure(facts, &format!("page cache, open + fstat + pread, {}t", pool.threads()), bytes, runs, || {
        pool.each(paths.len(), |n, worker| {
            let file = File::open(&paths[n])?;
            Ok(file.read_exact_at(worker.raw.room(file.metadata()?.len() as usize), 0)?)
        })
    })
}

/// The codec of a layout, on its own chunks, from memory to memory; of shards, the first chunks of each.
pub fn codec(arguments: &Arguments) -> Result<(), Failure> {
    let (runs, layout) = (arguments.iterations()?, Layout::open(arguments.get("store")?)?);
    let (encoded, decoded) = sample(&layout)?;
    let bytes = encoded.len() * decoded.len();
    let mut facts = Facts::new();
    for threads in [1, 2] {
        let pool = Pool::new(threads)?;
        measure(&mut facts, &format!("decode, {threads}t"), bytes, runs, || {
            pool.each(encoded.len(), |n, worker| {
                let mut scratch = std::mem::take(&mut worker.scratch);
                worker.decode(&layout.codec, &encoded[n], scratch.room(decoded.len()))?;
                worker.scratch = scratch;
                Ok(())
            })
        })?;
        measure(&mut facts, &format!("encode, {threads}t"), decoded.len() * 8, 1, || {
            pool.each(8, |_, worker| {
                let mut out = std::mem::take(&mut worker.encoded);
                worker.encode(&layout.codec, &decoded, &mut out)?;
                worker.encoded = out;
                Ok(())
            })
        })?;
    }
    println!("{}", Value::Object(facts));
    Ok(())
}

/// Encoded chunks of one size, at most 64 MiB of them, and the values of the middle one.
fn sample(layout: &Layout) -> Result<(Vec<Vec<u8>>, Vec<u8>), Failure> {
    let mut worker = crate::codecs::Worker::default();
    let (mut found, mut held) = (Vec::new(), 0);
    let stored = layout.inner.unwrap_or(layout.block([0; 3]).stored);
    for chunk in layout.touched([0; 3], layout.shape) {
        let Ok(bytes) = std::fs::read(layout.path(&layout.root, chunk)) else { continue };
        let block = layout.block(chunk);
        let Some(inner) = layout.inner else {
            if block.stored == stored {
                held += bytes.len();
                found.push(bytes);
            }
            if held > 64 * MIB { break } else { continue }
        };
        let count: usize = (0..3).map(|a| block.stored[a] / inner[a]).product();
        let index = &bytes[bytes.len() - 4 - count * 16..bytes.len() - 4];
        for [at, len] in index.as_chunks::<8>().0.as_chunks::<2>().0 {
            let (at, len) = (u64::from_le_bytes(*at), u64::from_le_bytes(*len));
            if at != u64::MAX && held < 64 * MIB {
                held += len as usize;
                found.push(bytes[at as usize..(at + len) as usize].to_vec());
            }
        }
    }
    let mut values = vec![0; stored.iter().product::<usize>() * layout.item];
    worker.decode(&layout.codec, found.get(found.len() / 2).ok_or("no chunks")?, &mut values)?;
    Ok((found, values))
}
