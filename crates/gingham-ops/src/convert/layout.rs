//! Which chunks and shards a converted array gets.
//!
//! Automatic chunks are about 1 MiB uncompressed, because one request for them then takes about as long to begin as to
//! transfer (30 ms and 90 MB/s, usual for an object store: 128 KiB uses 5 % of the line, 1 MiB 27 %, 4 MiB 60 %), while a read
//! of a few elements does not decode more than a millisecond's worth. Their edges are as equal as the array allows: a chunk
//! of 64×64×64 float32 serves a map, a series and a box about equally (a map of 1024² decodes 64 times what it asks for, as
//! does a series), where 1×512×512 serves a map alone and a series 262144 times worse.
//!
//! Automatic shards double along their shortest edge until the next doubling would exceed 512 MiB uncompressed (an object
//! store's single put ends at 5 GiB, a task holds a whole shard in memory) or 4096 chunks (an index of 64 KiB, one request).

use gingham::core::grid::{Axis, GridKind, parse_chunks};
use gingham::core::json::Value;
use gingham::{Array, Error, Format, Grid, Kind, Result};

use super::{Cut, Options};
use crate::slabs::VARIABLE_GUESS;

/// Uncompressed bytes of an automatic chunk.
const CHUNK: u64 = 1 << 20;
/// Uncompressed bytes of an automatic shard, at most.
const SHARD: u64 = 512 << 20;
/// Chunks of an automatic shard, at most.
const SHARD_CHUNKS: u64 = 4096;

/// Where a converted array is cut.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layout {
    /// Of stored objects.
    pub grid: Grid,
    /// Chunks inside shards, where there are shards.
    pub inner: Option<Vec<u64>>,
    /// Why automatic shards were not made.
    pub note: Option<&'static str>,
}

/// The layout that `options` ask for. `memory` bounds automatic shards: a quarter of it, so that a shard can be read and
/// written while the next is under way.
pub(super) fn layout(source: &Array, options: &Options, format: Format, memory: u64) -> Result<Layout> {
    let shape = source.shape();
    let element = source.data_type().size().map_or(VARIABLE_GUESS, |s| s as u64);
    let sharded = source.inner_chunk_shape();
    let chunks = match &options.chunks {
        Cut::Keep => match &sharded {
            Some(inner) => Grid::regular(&shape, inner)?,
            None => plain(source.grid()),
        },
        Cut::Auto => match (&options.shards, &sharded) {
            (Cut::Keep, Some(_)) => Grid::regular(&shape, &dividing(&auto_chunks(&shape, element), source.grid().axes()))?,
            _ => Grid::regular(&shape, &auto_chunks(&shape, element))?,
        },
        Cut::Text(text) => parse_chunks(text, &shape)?,
        Cut::None => return Err(Error::new(Kind::Invalid, "an array cannot be without chunks")),
    };
    let rectilinear = chunks.regular_chunk_shape().is_none();
    let shards = match &options.shards {
        Cut::Auto if rectilinear => {
            let note = Some("the chunks are rectilinear, which those inside a shard cannot be: no shards are made");
            return checked(Layout { grid: chunks, inner: None, note }, format);
        }
        Cut::None => None,
        Cut::Keep => sharded.is_some().then(|| plain(source.grid())),
        Cut::Auto => {
            let most = SHARD.min(memory / 4);
            auto_shards(&shape, &inner_of(&chunks)?, element, most).map(|s| Grid::regular(&shape, &s)).transpose()?
        }
        Cut::Text(text) => Some(parse_chunks(text, &shape)?),
    };
    let layout = match shards {
        None => Layout { grid: chunks, inner: None, note: None },
        Some(grid) => {
            let inner = inner_of(&chunks)?;
            divides(&inner, &grid)?;
            Layout { grid, inner: Some(inner), note: None }
        }
    };
    checked(layout, format)
}

fn checked(layout: Layout, format: Format) -> Result<Layout> {
    if format == Format::V2 {
        refuse_v2(&layout)?;
    }
    Ok(layout)
}

/// The number of axes that a text of chunk lengths speaks of.
pub(super) fn rank(text: &str) -> Option<usize> {
    let list = |text: &str| match serde_json::from_str::<Value>(text) {
        Ok(Value::Array(entries)) => Some(entries.len()),
        _ => None,
    };
    list(text).or_else(|| list(&format!("[{text}]")))
}

/// A grid of one chunk shape is written as a regular one, whatever it was called.
fn plain(grid: &Grid) -> Grid {
    match grid.regular_chunk_shape() {
        Some(chunks) => Grid::regular(&grid.shape(), &chunks).unwrap_or_else(|_| grid.clone()),
        None => grid.clone(),
    }
}

/// The chunk shape inside shards: one shape for all.
fn inner_of(chunks: &Grid) -> Result<Vec<u64>> {
    chunks.regular_chunk_shape().map(|s| s.to_vec()).ok_or_else(|| {
        Error::new(Kind::Invalid, "the chunks inside shards are all of one shape, and these chunks are rectilinear")
            .with_hint("give one chunk length per axis, and the list of lengths as shards; or write no shards")
    })
}

fn refuse_v2(layout: &Layout) -> Result<()> {
    let what = match (&layout.inner, layout.grid.regular_chunk_shape()) {
        (Some(_), _) => "v2 has regular chunks only, and this layout has shards",
        (None, None) => "v2 has regular chunks only, and this grid is rectilinear",
        _ => return Ok(()),
    };
    Err(Error::new(Kind::Unsupported, what).with_hint("ask for no shards and one chunk length per axis, or write format 3"))
}

/// Every edge of the shards must be a multiple of the chunk's.
fn divides(inner: &[u64], shards: &Grid) -> Result<()> {
    for (axis, (cuts, &chunk)) in shards.axes().iter().zip(inner).enumerate() {
        let odd = cuts.runs().iter().map(|r| r.length).find(|length| chunk == 0 || length % chunk != 0);
        if let Some(length) = odd {
            let right = length.div_ceil(chunk.max(1)).saturating_mul(chunk.max(1));
            let hint = match shards.kind() {
                GridKind::Regular => format!("the nearest shard length is {right}"),
                GridKind::Rectilinear => format!("the nearest shard length is {right}; only the last one may pass the end of the axis"),
            };
            return Err(Error::new(
                Kind::Invalid,
                format!("a shard length of {length} on axis {axis} is not a multiple of the chunk length {chunk}"),
            )
            .at(|p| p.axis = Some(axis))
            .with_hint(hint));
        }
    }
    Ok(())
}

/// Chunks of about 1 MiB: whole short axes, powers of two on the others, edges as equal as that allows.
pub(super) fn auto_chunks(shape: &[u64], element: u64) -> Vec<u64> {
    let mut left = (CHUNK / element.max(1)).max(1);
    let mut order: Vec<usize> = (0..shape.len()).collect();
    order.sort_by_key(|&axis| shape[axis]);
    let mut chunks = vec![1; shape.len()];
    for (k, &axis) in order.iter().enumerate() {
        let ideal = root(left, (shape.len() - k) as u32);
        // An axis that is a little longer than its share is taken whole rather than with a sliver behind it.
        let whole = shape[axis] <= ideal.saturating_add(ideal / 4);
        chunks[axis] = if whole { shape[axis].max(1) } else { 1 << ideal.ilog2() };
        left = (left / chunks[axis]).max(1);
    }
    chunks
}

/// The largest whole number whose `n`th power is at most `x` (`x`, `n` at least 1).
fn root(x: u64, n: u32) -> u64 {
    let fits = |r: u64| r.checked_pow(n).is_some_and(|p| p <= x);
    let mut r = (x as f64).powf(1.0 / f64::from(n)) as u64;
    while r > 1 && !fits(r) {
        r -= 1;
    }
    while fits(r.saturating_add(1)) && r < x {
        r += 1;
    }
    r.max(1)
}

/// Shards of whole chunks, or `None` where a shard would hold one chunk only.
pub(super) fn auto_shards(shape: &[u64], chunks: &[u64], element: u64, most: u64) -> Option<Vec<u64>> {
    let limits: Vec<u64> = shape.iter().zip(chunks).map(|(&l, &c)| l.div_ceil(c.max(1)).max(1)).collect();
    let mut counts = vec![1u64; shape.len()];
    let product = |n: &[u64]| n.iter().fold(1u64, |p, &x| p.saturating_mul(x));
    let chunk_bytes = product(chunks).saturating_mul(element.max(1));
    let mut open: Vec<usize> = (0..shape.len()).filter(|&a| limits[a] > 1).collect();
    // The shortest edge first; among equals the last axis, whose chunks lie side by side in most reads.
    while let Some(&axis) = open.iter().min_by_key(|&&a| (counts[a].saturating_mul(chunks[a]), std::cmp::Reverse(a))) {
        let before = counts[axis];
        counts[axis] = before.saturating_mul(2).min(limits[axis]);
        let n = product(&counts);
        if n > SHARD_CHUNKS || n.saturating_mul(chunk_bytes) > most {
            counts[axis] = before;
            open.retain(|&a| a != axis);
        } else if counts[axis] == limits[axis] {
            open.retain(|&a| a != axis);
        }
    }
    (product(&counts) > 1).then(|| counts.iter().zip(chunks).map(|(&n, &c)| n.saturating_mul(c)).collect())
}

/// For each axis the largest length up to the ideal one that divides every edge.
fn dividing(ideal: &[u64], axes: &[Axis]) -> Vec<u64> {
    let divisor = |(&ideal, axis): (&u64, &Axis)| {
        let edge = axis.runs().iter().fold(0, |g, run| gcd(g, run.length)).max(1);
        largest_divisor(edge, ideal)
    };
    ideal.iter().zip(axes).map(divisor).collect()
}

fn largest_divisor(n: u64, most: u64) -> u64 {
    if n <= most {
        return n;
    }
    // `n / k` for ascending `k` finds large divisors first; 2^20 steps bound the search (a prime has only 1).
    (2..=n.min(1 << 20)).map(|k| (k, n / k)).find(|&(k, d)| n.is_multiple_of(k) && d <= most).map_or(1, |(_, d)| d)
}

/// The greatest common divisor; `gcd(0, b)` is `b`.
pub(super) fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while a != 0 {
        (a, b) = (b % a, a);
    }
    b
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn bytes(chunks: &[u64], element: u64) -> u64 {
        chunks.iter().product::<u64>() * element
    }

    #[test]
    fn automatic_chunks_are_about_a_mebibyte_and_balanced() {
        assert_eq!(auto_chunks(&[1000, 2000, 3000], 4), [64, 64, 64]);
        assert_eq!(auto_chunks(&[1000, 2000, 3000], 8), [32, 64, 64]);
        assert_eq!(auto_chunks(&[30000, 30000], 2), [512, 1024]);
        assert_eq!(auto_chunks(&[3, 30000, 30000], 1), [3, 512, 512]);
        assert_eq!(auto_chunks(&[10_000_000], 8), [131072]);
        assert_eq!(auto_chunks(&[1_000_000_000_000, 2], 8), [65536, 2]);
        for shape in [vec![320_095, 7], vec![1, 1, 5, 20_000, 20_000], vec![100; 6], vec![8760, 721, 1440]] {
            for element in [1, 2, 4, 8, 16] {
                let chunks = auto_chunks(&shape, element);
                let n = bytes(&chunks, element);
                assert!((256 << 10..=4 << 20).contains(&n), "{shape:?} {element}: {chunks:?} of {n} bytes");
                assert!(chunks.iter().zip(&shape).all(|(c, l)| c <= l));
            }
        }
    }

    #[test]
    fn small_and_empty_arrays_are_one_chunk() {
        assert_eq!(auto_chunks(&[10, 20], 8), [10, 20]);
        assert_eq!(auto_chunks(&[0, 20], 8), [1, 20]);
        assert!(auto_chunks(&[], 8).is_empty());
        assert_eq!(auto_chunks(&[5, 5], 100 << 20), [1, 1]);
    }

    #[test]
    fn automatic_shards_are_multiples_within_their_bounds() {
        assert_eq!(auto_shards(&[1000, 2000, 3000], &[64, 64, 64], 4, 512 << 20), Some(vec![512, 512, 512]));
        assert_eq!(auto_shards(&[10, 20], &[10, 20], 8, 512 << 20), None);
        assert_eq!(auto_shards(&[], &[], 8, 512 << 20), None);
        // An axis is covered by the smallest multiple, not by the array's own length.
        assert_eq!(auto_shards(&[100, 3000], &[64, 64], 4, 512 << 20), Some(vec![128, 3008]));
        for (shape, chunks) in [([320_095u64, 7], [2048u64, 7]), ([10, 1_000_000], [10, 1]), ([5000, 5000], [1, 1])] {
            let shards = auto_shards(&shape, &chunks, 4, 128 << 20).unwrap();
            let n: u64 = shards.iter().zip(&chunks).map(|(s, c)| s / c).product();
            assert!(shards.iter().zip(&chunks).all(|(s, c)| s % c == 0));
            assert!(n <= SHARD_CHUNKS && bytes(&shards, 4) <= 128 << 20, "{shards:?}");
        }
    }

    #[test]
    fn roots_are_exact() {
        assert_eq!(
            (root(262_144, 3), root(262_143, 3), root(1, 7), root(u64::MAX, 1), root(u64::MAX, 2)),
            (64, 63, 1, u64::MAX, 4_294_967_295)
        );
    }

    #[test]
    fn chunks_inside_kept_shards_divide_them() {
        assert_eq!(largest_divisor(1000, 64), 50);
        assert_eq!(largest_divisor(997, 64), 1);
        assert_eq!(largest_divisor(u64::MAX, 3), 1);
        assert_eq!(dividing(&[64, 64], &[Axis::step(4000, 1000), Axis::step(4000, 128)]), [50, 64]);
    }

    #[test]
    fn a_text_tells_its_rank() {
        assert_eq!((rank("64,256"), rank("[[31,29,[31,2]],25]"), rank("[1,2,3]"), rank("x")), (Some(2), Some(2), Some(3), None));
    }
}
