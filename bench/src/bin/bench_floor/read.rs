//! Reading: every piece of work is `pread, decode, copy`, and two threads take the next.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex};

use gingham_bench::Failure;

use crate::codecs::Worker;
use crate::document::{Block, Layout, Three};
use crate::memory::{Side, Target, clear, copy, transpose};
use crate::pool::Pool;

/// A shard's file and index: offset and length of each chunk.
pub struct Shard {
    file: File,
    index: Vec<(u64, u64)>,
    per: Three,
}

/// Bytes that are read and copied at a time where nothing is decoded.
const WINDOW: usize = 256 << 10;

/// What an opened array keeps: as an engine may, the shards that it has met.
pub struct Opened {
    pub layout: Layout,
    shards: Mutex<HashMap<Three, Option<Arc<Shard>>>>,
}

/// Chunks of one object that lie side by side in it, and are read at once.
enum Piece {
    Object(Three),
    Chunks { shard: Arc<Shard>, start: u64, len: u64, chunks: Vec<(Block, u64, u64)> },
    Missing(Block),
}

/// The box that is read, and its memory.
struct Wanted {
    start: Three,
    shape: Three,
    to: Target,
}

impl Wanted {
    /// Where a block meets the box: from where in the block, to where in the box, how much.
    fn part(&self, block: &Block) -> (Three, Three, Three) {
        let low: Three = std::array::from_fn(|a| self.start[a].max(block.start[a]));
        let high: Three = std::array::from_fn(|a| (self.start[a] + self.shape[a]).min(block.start[a] + block.stored[a]));
        let from = std::array::from_fn(|a| low[a] - block.start[a]);
        (from, std::array::from_fn(|a| low[a] - self.start[a]), std::array::from_fn(|a| high[a] - low[a]))
    }
    fn side(&self, at: Three) -> Side {
        Side { start: self.to.0, shape: self.shape, at }
    }
}

impl Opened {
    pub fn new(layout: Layout) -> Self {
        Self { layout, shards: Mutex::default() }
    }

    /// Reads a box that lies in the array.
    pub fn read(&self, pool: &Pool, start: Three, shape: Three, to: Target) -> Result<(), Failure> {
        let wanted = Wanted { start, shape, to };
        let touched = self.layout.touched(start, shape);
        let pieces = match self.layout.inner {
            None => touched.into_iter().map(Piece::Object).collect(),
            Some(inner) => self.chunks_of_shards(pool, &wanted, touched, inner)?,
        };
        pool.each(pieces.len(), |n, worker| self.piece(&pieces[n], &wanted, worker))
    }

    fn shard(&self, chunk: Three, inner: Three) -> Result<Option<Arc<Shard>>, Failure> {
        if let Some(known) = self.shards.lock().map_err(|_| "a thread panicked")?.get(&chunk) {
            return Ok(known.clone());
        }
        let opened = match File::open(self.layout.path(&self.layout.root, chunk)) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => None,
            file => {
                let (file, block) = (file?, self.layout.block(chunk));
                let per: Three = std::array::from_fn(|a| block.stored[a] / inner[a]);
                let mut bytes = vec![0; per.iter().product::<usize>() * 16];
                // The index lies at the end, and its CRC-32C after it.
                let at = file.metadata()?.len().checked_sub(bytes.len() as u64 + 4).ok_or("a shard is short")?;
                file.read_exact_at(&mut bytes, at)?;
                let word = |w: &[u8; 8]| u64::from_le_bytes(*w);
                let index = bytes.as_chunks::<8>().0.as_chunks::<2>().0.iter().map(|[at, len]| (word(at), word(len))).collect();
                Some(Arc::new(Shard { file, index, per }))
            }
        };
        self.shards.lock().map_err(|_| "a thread panicked")?.insert(chunk, opened.clone());
        Ok(opened)
    }

    fn chunks_of_shards(&self, pool: &Pool, wanted: &Wanted, touched: Vec<Three>, inner: Three) -> Result<Vec<Piece>, Failure> {
        let pieces = Mutex::new(Vec::new());
        pool.each(touched.len(), |n, _| {
            let block = self.layout.block(touched[n]);
            let (from, _, shape) = wanted.part(&block);
            let Some(shard) = self.shard(touched[n], inner)? else {
                pieces.lock().map_err(|_| "a thread panicked")?.push(Piece::Missing(block));
                return Ok(());
            };
            let range = |a: usize| from[a] / inner[a]..(from[a] + shape[a]).div_ceil(inner[a]);
            let mut chunks = Vec::new();
            for z in range(0) {
                for y in range(1) {
                    for x in range(2) {
                        let (at, len) = shard.index[(z * shard.per[1] + y) * shard.per[2] + x];
                        let start = std::array::from_fn(|a| block.start[a] + [z, y, x][a] * inner[a]);
                        chunks.push((Block { start, stored: inner }, at, len));
                    }
                }
            }
            let found = neighbours(&shard, chunks, if self.layout.codec.is_raw() { WINDOW as u64 } else { 1 << 20 });
            pieces.lock().map_err(|_| "a thread panicked")?.extend(found);
            Ok(())
        })?;
        Ok(pieces.into_inner().map_err(|_| "a thread panicked")?)
    }

    fn piece(&self, piece: &Piece, wanted: &Wanted, worker: &mut Worker) -> Result<(), Failure> {
        match piece {
            Piece::Missing(block) => {
                let (_, to, shape) = wanted.part(block);
                // SAFETY: the parts of different blocks do not overlap.
                unsafe { clear(wanted.side(to), shape, self.layout.item) };
                Ok(())
            }
            Piece::Object(chunk) => {
                let block = self.layout.block(*chunk);
                let file = match File::open(self.layout.path(&self.layout.root, *chunk)) {
                    Err(e) if e.kind() == std::io::ErrorKind::NotFound => return self.piece(&Piece::Missing(block), wanted, worker),
                    file => file?,
                };
                if self.layout.codec.is_raw() && !self.layout.reversed {
                    return self.spans(&file, 0, &block, wanted, worker);
                }
                let mut raw = std::mem::take(&mut worker.raw);
                let bytes = raw.room(file.metadata()?.len() as usize);
                file.read_exact_at(bytes, 0)?;
                let done = self.place(bytes, &block, wanted, worker);
                worker.raw = raw;
                done
            }
            Piece::Chunks { shard, start, len, chunks } => {
                if let (true, [(block, at, _)]) = (self.layout.codec.is_raw(), &chunks[..]) {
                    return self.spans(&shard.file, *at, block, wanted, worker);
                }
                let mut raw = std::mem::take(&mut worker.raw);
                let bytes = raw.room(*len as usize);
                shard.file.read_exact_at(bytes, *start)?;
                let done = chunks.iter().try_for_each(|(block, at, len)| {
                    let at = (at - start) as usize;
                    self.place(&bytes[at..at + *len as usize], block, wanted, worker)
                });
                worker.raw = raw;
                done
            }
        }
    }

    /// Decodes a block and copies what is wanted of it.
    fn place(&self, raw: &[u8], block: &Block, wanted: &Wanted, worker: &mut Worker) -> Result<(), Failure> {
        let (from, to, shape) = wanted.part(block);
        let mut scratch = std::mem::take(&mut worker.scratch);
        let start = if self.layout.codec.is_raw() {
            raw.as_ptr().cast_mut()
        } else {
            let decoded = scratch.room(block.stored.iter().product::<usize>() * self.layout.item);
            worker.decode(&self.layout.codec, raw, decoded)?;
            decoded.as_mut_ptr()
        };
        let side = Side { start, shape: block.stored, at: from };
        // SAFETY: the part lies in both, and parts of different blocks do not overlap; allocations are aligned to elements.
        unsafe {
            match (self.layout.reversed, self.layout.item) {
                (false, item) => copy(side, wanted.side(to), shape, item),
                (true, 2) => transpose::<u16>(side, wanted.side(to), shape, true),
                (true, _) => transpose::<u32>(side, wanted.side(to), shape, true),
            }
        }
        worker.scratch = scratch;
        Ok(())
    }

    /// A chunk that is not compressed: by wanted rows, by the wanted part of each plane, or by whole planes, whatever is cheapest.
    /// A pread costs about 0.5 us, and the page cache gives 7 bytes a nanosecond.
    fn spans(&self, file: &File, base: u64, block: &Block, wanted: &Wanted, worker: &mut Worker) -> Result<(), Failure> {
        let (from, to, shape) = wanted.part(block);
        let (item, stored) = (self.layout.item, block.stored);
        let (whole, part) = (stored[1] * stored[2] * item, ((shape[1] - 1) * stored[2] + shape[2]) * item);
        // As many planes at once as a cache holds beside what they are copied to.
        let window = (WINDOW / whole).clamp(1, shape[0]);
        let nanoseconds = |reads: usize, bytes: usize| reads * 500 + bytes / 7;
        let rows = nanoseconds(shape[0] * shape[1], shape.iter().product::<usize>() * item);
        let parts = nanoseconds(shape[0], shape[0] * part);
        let windows = nanoseconds(shape[0].div_ceil(window), shape[0] * whole);
        let offset = |z: usize, y: usize, x: usize| base + (((from[0] + z) * stored[1] + y) * stored[2] + x) as u64 * item as u64;
        if rows < parts.min(windows) {
            for (z, y) in (0..shape[0]).flat_map(|z| (0..shape[1]).map(move |y| (z, y))) {
                let at = ((to[0] + z) * wanted.shape[1] + to[1] + y) * wanted.shape[2] + to[2];
                // SAFETY: a row of the part, which nobody else writes; the kernel writes it before anyone reads.
                let row = unsafe { std::slice::from_raw_parts_mut(wanted.to.at(at * item), shape[2] * item) };
                file.read_exact_at(row, offset(z, from[1] + y, from[2]))?;
            }
            return Ok(());
        }
        let by_part = parts < windows;
        let step = if by_part { 1 } else { window };
        for z in (0..shape[0]).step_by(step) {
            let planes = step.min(shape[0] - z);
            let bytes = worker.raw.room(if by_part { part } else { planes * whole });
            let (first, at) = if by_part { (offset(z, from[1], from[2]), [0; 3]) } else { (offset(z, 0, 0), [0, from[1], from[2]]) };
            file.read_exact_at(bytes, first)?;
            // Of a part, the last row ends with what is wanted: its copy stays in the buffer.
            let side = Side { start: bytes.as_mut_ptr(), shape: [planes, stored[1], stored[2]], at };
            // SAFETY: as in `place`.
            unsafe { copy(side, wanted.side([to[0] + z, to[1], to[2]]), [planes, shape[1], shape[2]], item) };
        }
        Ok(())
    }
}

/// Chunks that lie side by side are read at once, up to `most` bytes; a few chunks stay apart, so that both threads have some.
fn neighbours(shard: &Arc<Shard>, mut chunks: Vec<(Block, u64, u64)>, most: u64) -> Vec<Piece> {
    let most = if chunks.len() < 64 { 0 } else { most };
    chunks.sort_by_key(|&(_, at, _)| at);
    let mut pieces = Vec::new();
    for (block, at, len) in chunks {
        if at == u64::MAX {
            pieces.push(Piece::Missing(block));
            continue;
        }
        match pieces.last_mut() {
            Some(Piece::Chunks { start, len: so_far, chunks, .. }) if *start + *so_far == at && *so_far + len <= most => {
                *so_far += len;
                chunks.push((block, at, len));
            }
            _ => pieces.push(Piece::Chunks { shard: shard.clone(), start: at, len, chunks: vec![(block, at, len)] }),
        }
    }
    pieces
}
