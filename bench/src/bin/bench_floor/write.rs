//! Writing: gather, encode, write the file. No temporary file, no flush: a floor for engines that do more.

use std::collections::HashSet;
use std::path::Path;

use gingham_bench::Failure;

use crate::codecs::Worker;
use crate::document::{Block, Layout, Three};
use crate::memory::{Side, copy, transpose};
use crate::pool::Pool;

/// A box of values.
pub struct Source<'a> {
    pub start: Three,
    pub shape: Three,
    pub bytes: &'a [u8],
}

pub fn write(layout: &Layout, pool: &Pool, source: &Source) -> Result<(), Failure> {
    let touched = layout.touched(source.start, source.shape);
    let folders: HashSet<_> = touched.iter().filter_map(|&c| layout.path(&layout.root, c).parent().map(Path::to_path_buf)).collect();
    folders.into_iter().try_for_each(std::fs::create_dir_all)?;
    pool.each(touched.len(), |n, worker| {
        let (block, path) = (layout.block(touched[n]), layout.path(&layout.root, touched[n]));
        match layout.inner {
            None => chunk(layout, source, &block, &path, worker),
            Some(inner) => shard(layout, source, &block, inner, &path, worker),
        }
    })
}

/// Where a block meets the box, and whether that is all of the block that lies in the array.
fn part(layout: &Layout, source: &Source, block: &Block) -> (Three, Three, Three, bool) {
    let low: Three = std::array::from_fn(|a| source.start[a].max(block.start[a]));
    let high: Three = std::array::from_fn(|a| (source.start[a] + source.shape[a]).min(block.start[a] + block.stored[a]));
    let whole = (0..3).all(|a| low[a] == block.start[a] && high[a] == (block.start[a] + block.stored[a]).min(layout.shape[a]));
    let to = std::array::from_fn(|a| low[a] - block.start[a]);
    (std::array::from_fn(|a| low[a] - source.start[a]), to, std::array::from_fn(|a| high[a].saturating_sub(low[a])), whole)
}

/// Copies the source's part into the decoded block.
fn gather(layout: &Layout, source: &Source, block: &Block, into: &mut [u8]) {
    let (from, to, shape, _) = part(layout, source, block);
    let values = Side { start: source.bytes.as_ptr().cast_mut(), shape: source.shape, at: from };
    let chunk = Side { start: into.as_mut_ptr(), shape: block.stored, at: to };
    // SAFETY: the part lies in both; values are only read; allocations are aligned to elements.
    unsafe {
        match (layout.reversed, layout.item) {
            (false, item) => copy(values, chunk, shape, item),
            (true, 2) => transpose::<u16>(chunk, values, shape, false),
            (true, _) => transpose::<u32>(chunk, values, shape, false),
        }
    }
}

fn chunk(layout: &Layout, source: &Source, block: &Block, path: &Path, worker: &mut Worker) -> Result<(), Failure> {
    let (_, _, shape, whole) = part(layout, source, block);
    let mut scratch = std::mem::take(&mut worker.scratch);
    let values = scratch.room(block.stored.iter().product::<usize>() * layout.item);
    if !whole && path.exists() {
        worker.decode(&layout.codec, &std::fs::read(path)?, values)?;
    } else if shape != block.stored {
        values.fill(0);
    }
    gather(layout, source, block, values);
    let done = store(layout, values, path, worker);
    worker.scratch = scratch;
    done
}

fn store(layout: &Layout, values: &[u8], path: &Path, worker: &mut Worker) -> Result<(), Failure> {
    if is_zero(values) {
        return Ok(());
    }
    if layout.codec.is_raw() {
        return Ok(std::fs::write(path, values)?);
    }
    let mut encoded = std::mem::take(&mut worker.encoded);
    worker.encode(&layout.codec, values, &mut encoded)?;
    std::fs::write(path, &encoded)?;
    worker.encoded = encoded;
    Ok(())
}

fn shard(layout: &Layout, source: &Source, block: &Block, inner: Three, path: &Path, worker: &mut Worker) -> Result<(), Failure> {
    if !part(layout, source, block).3 {
        return Err("not offered: writing a part of a shard".into());
    }
    let per: Three = std::array::from_fn(|a| block.stored[a] / inner[a]);
    let (mut file, mut index) = (Vec::new(), Vec::new());
    let (mut scratch, mut encoded) = (std::mem::take(&mut worker.scratch), std::mem::take(&mut worker.encoded));
    let values = scratch.room(inner.iter().product::<usize>() * layout.item);
    for n in 0..per.iter().product::<usize>() {
        let at = [n / (per[1] * per[2]), n / per[2] % per[1], n % per[2]];
        let chunk = Block { start: std::array::from_fn(|a| block.start[a] + at[a] * inner[a]), stored: inner };
        let outside = (0..3).any(|a| chunk.start[a] >= layout.shape[a]);
        if !outside {
            if part(layout, source, &chunk).2 != inner {
                values.fill(0);
            }
            gather(layout, source, &chunk, values);
        }
        if outside || is_zero(values) {
            index.extend([u64::MAX; 2]);
            continue;
        }
        index.push(file.len() as u64);
        if layout.codec.is_raw() {
            file.extend_from_slice(values);
        } else {
            worker.encode(&layout.codec, values, &mut encoded)?;
            file.extend_from_slice(&encoded);
        }
        index.push(file.len() as u64 - index[index.len() - 1]);
    }
    (worker.scratch, worker.encoded) = (scratch, encoded);
    if file.is_empty() {
        return Ok(());
    }
    let index: Vec<u8> = index.into_iter().flat_map(u64::to_le_bytes).collect();
    file.extend_from_slice(&index);
    file.extend_from_slice(&crc32c::crc32c(&index).to_le_bytes());
    Ok(std::fs::write(path, &file)?)
}

/// Chunks of nothing but the fill value are not stored.
fn is_zero(values: &[u8]) -> bool {
    values.chunks(4096).all(|page| page.iter().fold(0, |all, byte| all | byte) == 0)
}
