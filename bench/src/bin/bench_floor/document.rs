//! As much of the two formats as the data of the benchmarks needs: three axes, two data types, a fill value of 0.

use std::path::{Path, PathBuf};

use gingham_bench::Failure;
use serde_json::Value;

use crate::codecs::Codec;

pub type Three = [usize; 3];

/// An array as its document describes it.
pub struct Layout {
    pub root: PathBuf,
    pub shape: Three,
    pub item: usize,
    /// Along each axis, where chunks (shards, where there are) begin, and the end of the last: beyond the shape where it overhangs.
    cuts: [Vec<usize>; 3],
    /// Shape of the chunks in a shard.
    pub inner: Option<Three>,
    /// Elements lie in chunks with the first axis fastest.
    pub reversed: bool,
    pub codec: Codec,
    v2: bool,
}

/// A part of the array that is stored as one object, or as one chunk of a shard.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    pub start: Three,
    /// What its bytes decode to.
    pub stored: Three,
}

impl Layout {
    pub fn open(root: &str) -> Result<Self, Failure> {
        let root = PathBuf::from(root);
        match std::fs::read(root.join("zarr.json")) {
            Ok(text) => Self::v3(root, &serde_json::from_slice(&text)?),
            Err(_) => {
                let document = serde_json::from_slice(&std::fs::read(root.join(".zarray"))?)?;
                Self::v2(root, &document)
            }
        }
    }

    fn v2(root: PathBuf, document: &Value) -> Result<Self, Failure> {
        let (shape, chunk) = (three(&document["shape"])?, three(&document["chunks"])?);
        let item = document["dtype"].as_str().and_then(|d| d.get(2..)).ok_or("a dtype was expected")?.parse()?;
        Ok(Self {
            root,
            shape,
            item,
            cuts: std::array::from_fn(|axis| steps(shape[axis], chunk[axis])),
            inner: None,
            reversed: document["order"] == "F",
            codec: Codec::blosc(&document["compressor"], item)?,
            v2: true,
        })
    }

    fn v3(root: PathBuf, document: &Value) -> Result<Self, Failure> {
        let shape = three(&document["shape"])?;
        let item = match document["data_type"].as_str() {
            Some("float32") => 4,
            Some("uint16") => 2,
            other => return Err(format!("no data type {other:?}").into()),
        };
        let grid = &document["chunk_grid"]["configuration"];
        let mut cuts: [Vec<usize>; 3] = Default::default();
        for (axis, cuts) in cuts.iter_mut().enumerate() {
            *cuts = match &grid["chunk_shape"][axis] {
                Value::Null => listed(shape[axis], &grid["chunk_shapes"][axis])?,
                length => steps(shape[axis], number(length)?),
            };
        }
        let (mut codec, mut inner, mut reversed) = (Codec::Raw, None, false);
        let mut codecs: Vec<&Value> = document["codecs"].as_array().into_iter().flatten().collect();
        while let Some(next) = codecs.pop() {
            let configuration = &next["configuration"];
            match next["name"].as_str() {
                Some("bytes") => (),
                Some("transpose") => reversed = true,
                Some("sharding_indexed") => {
                    inner = Some(three(&configuration["chunk_shape"])?);
                    codecs.extend(configuration["codecs"].as_array().into_iter().flatten());
                }
                Some("zstd") => codec = Codec::Zstd { level: number(&configuration["level"])? as i32 },
                Some("gzip") => codec = Codec::Gzip { level: number(&configuration["level"])? as i32 },
                Some("blosc") => codec = Codec::blosc(configuration, item)?,
                other => return Err(format!("no codec {other:?}").into()),
            }
        }
        Ok(Self { root, shape, item, cuts, inner, reversed, codec, v2: false })
    }

    /// Indices of the chunks, or shards, that a box meets.
    pub fn touched(&self, start: Three, shape: Three) -> Vec<Three> {
        let range = |axis: usize| {
            let cuts = &self.cuts[axis];
            cuts.partition_point(|&c| c <= start[axis]) - 1..cuts.partition_point(|&c| c < start[axis] + shape[axis])
        };
        let mut found = Vec::new();
        for z in range(0) {
            for y in range(1) {
                found.extend(range(2).map(|x| [z, y, x]));
            }
        }
        found
    }

    pub fn block(&self, chunk: Three) -> Block {
        let start = std::array::from_fn(|axis| self.cuts[axis][chunk[axis]]);
        Block { start, stored: std::array::from_fn(|axis| self.cuts[axis][chunk[axis] + 1] - start[axis]) }
    }

    pub fn path(&self, root: &Path, [z, y, x]: Three) -> PathBuf {
        root.join(if self.v2 { format!("{z}.{y}.{x}") } else { format!("c/{z}/{y}/{x}") })
    }

    pub fn bytes(&self) -> usize {
        self.shape.iter().product::<usize>() * self.item
    }
}

fn number(value: &Value) -> Result<usize, Failure> {
    Ok(value.as_u64().ok_or_else(|| format!("{value} where a number was expected"))? as usize)
}

fn three(value: &Value) -> Result<Three, Failure> {
    Ok([number(&value[0])?, number(&value[1])?, number(&value[2])?])
}

fn steps(length: usize, step: usize) -> Vec<usize> {
    (0..=length.div_ceil(step)).map(|n| n * step).collect()
}

/// Lengths of a rectilinear axis: one for all, or a list of lengths and of runs `[length, times]`.
fn listed(length: usize, value: &Value) -> Result<Vec<usize>, Failure> {
    let Some(list) = value.as_array() else { return Ok(steps(length, number(value)?)) };
    let (mut at, mut cuts) = (0, vec![0]);
    for entry in list {
        let (length, times) = if entry.is_array() { (number(&entry[0])?, number(&entry[1])?) } else { (number(entry)?, 1) };
        for _ in 0..times {
            at += length;
            cuts.push(at);
        }
    }
    Ok(cuts)
}
