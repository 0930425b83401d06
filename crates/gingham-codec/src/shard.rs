//! `sharding_indexed`: the index, and the chunks inside (format.md 4).
//!
//! ```text
//!   object = chunk | chunk | … | index      (or the index first)
//!   index  = (offset, nbytes) per inner chunk, C order, in the frame that the codec sees; all ones where the chunk is absent
//! ```
//!
//! The engine fetches the index, then the ranges it needs. What it has in memory whole (nested shards, shards behind a
//! compressor) is taken apart by the same code here.

use std::collections::BTreeMap;
use std::sync::Arc;

use gingham_core::Shape;
use gingham_core::codec::{self as spec, Location, Sharding};
use gingham_core::dtype::{DataType, Elements, FillValue, Variable};
use smallvec::SmallVec;

use crate::chain::{Bound, Chain, is_fill, placed};
use crate::place::{Part, Take, Target, gather, gather_variable};
use crate::{CodecFault, Context, Rep, Result};

const NAME: &str = "sharding_indexed";

/// The codec, bound to an element type.
#[derive(Debug)]
pub(crate) struct Shard {
    chunk_shape: Shape,
    inner: Arc<Chain>,
    index: Arc<Chain>,
    location: Location,
}

impl Shard {
    pub(crate) fn new(sharding: &Sharding, stored: &Rep, depth: usize) -> Result<Shard> {
        let chain = |codecs: &[spec::Codec]| spec::Chain::new(codecs).map_err(|e| CodecFault::unsupported(NAME, e.what));
        let inner_rep = Rep { shape: sharding.chunk_shape.clone(), ..stored.clone() };
        let inner = Chain::nested(&chain(&sharding.codecs)?, inner_rep, depth + 1)?;
        let absent = FillValue::new(u64::MAX.to_le_bytes().to_vec());
        let index_rep =
            Rep { data_type: DataType::UInt64, shape: sharding.chunk_shape.iter().map(|_| 1).chain([2]).collect(), fill: absent };
        let index = Chain::nested(&chain(&sharding.index_codecs)?, index_rep, depth + 1)?;
        Ok(Shard { chunk_shape: sharding.chunk_shape.clone(), inner, index, location: sharding.index_location })
    }

    pub(crate) fn bind(&self, shape: &[u64]) -> Result<BoundShard> {
        if shape.len() != self.chunk_shape.len() || shape.iter().zip(&self.chunk_shape).any(|(s, c)| *c == 0 || s % c != 0) {
            return Err(CodecFault::unsupported(
                NAME,
                format!("inner chunks of shape {:?} do not divide a shard of shape {shape:?}", self.chunk_shape.as_slice()),
            ));
        }
        let counts: Shape = shape.iter().zip(&self.chunk_shape).map(|(s, c)| s / c).collect();
        let index = self.index.bind(&counts.iter().copied().chain([2]).collect::<Shape>())?;
        let Some(index_len) = index.object_len() else {
            return Err(CodecFault::unsupported(
                NAME,
                "the index codecs make results of varying length; only bytes and checksums can be used",
            ));
        };
        Ok(BoundShard { counts, inner: self.inner.bind(&self.chunk_shape)?, index, index_len, location: self.location })
    }
}

/// Where one inner chunk lies in its shard: offset and length.
pub type Entry = Option<(u64, u64)>;

/// A shard's index, checked: every entry is whole and its end does not overflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Index {
    entries: Vec<Entry>,
}

impl Index {
    /// The entry of an inner chunk by its place in C order of the stored frame.
    pub fn entry(&self, i: usize) -> Entry {
        self.entries.get(i).copied().flatten()
    }
    /// All entries, C order of the stored frame.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }
}

/// The codec for one shard shape. Everything here is in the frame that the codec sees (behind leading transposes).
#[derive(Debug)]
pub struct BoundShard {
    counts: Shape,
    inner: Arc<Bound>,
    index: Arc<Bound>,
    index_len: usize,
    location: Location,
}

impl BoundShard {
    /// Inner chunks per axis.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }
    /// Inner chunks in all.
    pub fn count(&self) -> usize {
        self.counts.iter().product::<u64>() as usize
    }
    /// The chain of an inner chunk.
    pub fn inner(&self) -> &Arc<Bound> {
        &self.inner
    }
    /// Bytes of the encoded index.
    pub fn index_len(&self) -> usize {
        self.index_len
    }
    /// Which end of the object the index is at.
    pub fn index_location(&self) -> Location {
        self.location
    }

    /// Reads an encoded index.
    pub fn parse_index(&self, encoded: &[u8], context: &mut Context) -> Result<Index> {
        if encoded.len() != self.index_len {
            return Err(CodecFault::corrupt(
                NAME,
                format!("the shard has {} bytes where its index of {} bytes should be: it is cut short", encoded.len(), self.index_len),
            ));
        }
        let decoded =
            self.index.decode(encoded, context).map_err(|e| CodecFault { codec: format!("{NAME} (shard index): {}", e.codec), ..e })?;
        let words: Vec<u64> =
            decoded.as_fixed().unwrap_or_default().chunks_exact(8).map(|b| u64::from_le_bytes(b.try_into().unwrap_or([0; 8]))).collect();
        let entries = words.chunks_exact(2).enumerate().map(|(i, pair)| match (pair[0], pair[1]) {
            (u64::MAX, u64::MAX) => Ok(None),
            (offset, len) if offset == u64::MAX || len == u64::MAX || offset.checked_add(len).is_none() => Err(CodecFault::corrupt(
                NAME,
                format!("the shard index has the impossible entry (offset {offset}, {len} bytes) for inner chunk {i}"),
            )),
            pair => Ok(Some(pair)),
        });
        Ok(Index { entries: entries.collect::<Result<_>>()? })
    }

    /// Reads the index of a shard that is in memory, and checks it against the shard's length.
    pub fn index_of(&self, shard: &[u8], context: &mut Context) -> Result<Index> {
        let Some(slack) = shard.len().checked_sub(self.index_len) else {
            return Err(CodecFault::corrupt(
                NAME,
                format!("the shard holds {} bytes, its index alone takes {}: it is cut short", shard.len(), self.index_len),
            ));
        };
        let encoded = match self.location {
            Location::Start => &shard[..self.index_len],
            Location::End => &shard[slack..],
        };
        self.parse_index(encoded, context)
    }

    /// One inner chunk's bytes in a shard that is in memory.
    pub fn slice<'a>(&self, shard: &'a [u8], index: &Index, i: usize) -> Result<Option<&'a [u8]>> {
        let Some((offset, len)) = index.entry(i) else { return Ok(None) };
        let bytes = usize::try_from(offset).ok().zip(usize::try_from(offset + len).ok()).and_then(|(from, to)| shard.get(from..to));
        bytes.map(Some).ok_or_else(|| {
            CodecFault::corrupt(
                NAME,
                format!("inner chunk {i} should lie at {offset}..{}, but the shard holds {} bytes", offset + len, shard.len()),
            )
        })
    }

    /// The inner chunks that a part meets, each with its place in C order and its own part.
    pub fn pieces(&self, part: &Part) -> Vec<(usize, Part)> {
        let chunk = self.inner.decoded().shape.clone();
        let along: Vec<Vec<(u64, Take)>> = part.takes.iter().zip(&chunk).map(|(take, &len)| split(take, len)).collect();
        let mut out: Vec<(usize, SmallVec<[Take; 4]>)> = vec![(0, SmallVec::new())];
        for (cells, &count) in along.iter().zip(&self.counts) {
            out = out
                .into_iter()
                .flat_map(|(i, takes)| {
                    cells.iter().map(move |(c, take)| {
                        let mut takes = takes.clone();
                        takes.push(take.clone());
                        (i * count as usize + *c as usize, takes)
                    })
                })
                .collect();
        }
        out.into_iter().map(|(i, takes)| (i, Part { takes, strides: part.strides.clone() })).collect()
    }

    /// Decodes a part of a shard that is in memory. `part` is in the codec's frame.
    ///
    /// # Safety
    /// No other thread may touch the part's elements of the output meanwhile.
    #[allow(unsafe_code)]
    pub unsafe fn place(&self, shard: &[u8], index: &Index, part: &Part, target: &Target<'_>, context: &mut Context) -> Result<()> {
        for (i, piece) in self.pieces(part) {
            // SAFETY: pieces of one part are disjoint, and the part is the caller's.
            unsafe {
                match self.slice(shard, index, i)? {
                    Some(bytes) => self.inner.place(bytes, &piece, target, context).map_err(|e| inside(e, i))?,
                    None => self.fill(&piece, target)?,
                }
            }
        }
        Ok(())
    }

    /// Fills a part of an absent inner chunk.
    ///
    /// # Safety
    /// As for [`BoundShard::place`].
    #[allow(unsafe_code)]
    pub unsafe fn fill(&self, part: &Part, target: &Target<'_>) -> Result<()> {
        let rep = self.inner.decoded();
        // SAFETY: the caller's promise, handed on.
        placed(unsafe { target.fill(part, rep.fill.as_bytes()) })
    }

    /// Decodes all of a shard into its stored frame.
    pub(crate) fn decode(&self, shard: &[u8], stored: &Rep, context: &mut Context) -> Result<Elements> {
        let index = self.index_of(shard, context)?;
        let item = stored.data_type.size();
        let width = item.unwrap_or(crate::place::HANDLE);
        let mut buffer = vec![0u8; width * stored.count()];
        let part = whole(&stored.shape, width);
        let target = match item {
            Some(item) => Target::fixed(&mut buffer, item, true),
            None => Target::variable(&mut buffer, stored.fill.as_bytes()),
        };
        // SAFETY: the target is this function's own.
        #[allow(unsafe_code)]
        unsafe {
            self.place(shard, &index, &part, &target, context)?;
        }
        let collected = target.into_collected();
        Ok(match item {
            Some(_) => Elements::Fixed(buffer),
            None => Elements::Variable(crate::place::resolve(&buffer, &collected)),
        })
    }

    /// Encodes all of a shard from its stored frame. `None` where every inner chunk is empty and `keep_empty` is false.
    pub(crate) fn encode(&self, elements: &Elements, stored: &Rep, keep_empty: bool, context: &mut Context) -> Result<Option<Vec<u8>>> {
        let n = self.count();
        let mut inner = Vec::with_capacity(n);
        for i in 0..n {
            inner.push(self.encode_inner(elements, stored, i, keep_empty, context)?);
        }
        if !keep_empty && inner.iter().all(Option::is_none) {
            return Ok(None);
        }
        let index = self.index_of_lengths(inner.iter().map(|chunk| chunk.as_ref().map(Vec::len)), context)?;
        let chunks = inner.iter().flatten().map(|chunk| &chunk[..]).collect();
        Ok(Some(self.with_index(chunks, &index).concat()))
    }

    fn encode_inner(
        &self,
        elements: &Elements,
        stored: &Rep,
        i: usize,
        keep_empty: bool,
        context: &mut Context,
    ) -> Result<Option<Vec<u8>>> {
        let rep = self.inner.decoded();
        let width = stored.data_type.size().unwrap_or(1);
        let mut part = whole(&stored.shape, width);
        let mut rest = i as u64;
        for a in (0..self.counts.len()).rev() {
            let (cell, len) = (rest % self.counts[a], rep.shape[a]);
            rest /= self.counts[a];
            part.takes[a] = Take::Run { start: 0, step: 1, count: len, dst: cell * len };
        }
        let chunk = match elements {
            Elements::Fixed(bytes) => {
                let mut chunk = vec![0; width * rep.count()];
                placed(gather(bytes, &part, &mut chunk, &rep.shape, width))?;
                Elements::Fixed(chunk)
            }
            Elements::Variable(all) => {
                let mut chunk = vec![Vec::new(); rep.count()];
                placed(gather_variable(all, &part, &mut chunk, &rep.shape))?;
                let mut out = Variable::new();
                chunk.iter().for_each(|c| out.push(c));
                Elements::Variable(out)
            }
        };
        if !keep_empty && is_fill(&chunk, &rep.fill) {
            return Ok(None);
        }
        self.inner.encode(&chunk, keep_empty, context)
    }

    /// The encoded index of inner chunks that are stored one after the other, by their lengths (C order of the codec's frame;
    /// `None`: absent).
    pub fn index_of_lengths(&self, lengths: impl IntoIterator<Item = Option<usize>>, context: &mut Context) -> Result<Vec<u8>> {
        let mut offset = if self.location == Location::Start { self.index_len as u64 } else { 0 };
        let mut words = Vec::with_capacity(self.count() * 16);
        for length in lengths {
            match length {
                Some(length) => {
                    words.extend_from_slice(&offset.to_le_bytes());
                    words.extend_from_slice(&(length as u64).to_le_bytes());
                    offset += length as u64;
                }
                None => words.extend_from_slice(&[0xff; 16]),
            }
        }
        let index = self.index.encode(&Elements::Fixed(words), true, context)?.unwrap_or_default();
        if index.len() != self.index_len {
            return Err(CodecFault::unsupported(NAME, "the index codecs made another length than they declare"));
        }
        Ok(index)
    }

    /// Puts an index to its end of the chunks.
    pub fn with_index<'a>(&self, mut chunks: Vec<&'a [u8]>, index: &'a [u8]) -> Vec<&'a [u8]> {
        match self.location {
            Location::Start => chunks.insert(0, index),
            Location::End => chunks.push(index),
        }
        chunks
    }
}

/// Names the inner chunk in a fault.
pub fn inside(fault: CodecFault, i: usize) -> CodecFault {
    CodecFault { what: format!("{} (inner chunk {i} of the shard)", fault.what), ..fault }
}

/// The cells of length `len` that a take meets, each with its own take.
fn split(take: &Take, len: u64) -> Vec<(u64, Take)> {
    if let Take::List(pairs) = take {
        let mut cells: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
        pairs.iter().for_each(|&(e, d)| cells.entry(e / len).or_default().push((e % len, d)));
        return cells.into_iter().map(|(c, pairs)| (c, Take::List(pairs))).collect();
    }
    let Some((low, high)) = take.bounds() else { return Vec::new() };
    (low / len..=high / len).filter_map(|c| take.within(c * len, (c + 1) * len).map(|t| (c, t))).collect()
}

/// All of an array of this shape, placed in C order with `width` bytes an element.
pub fn whole(shape: &[u64], width: usize) -> Part {
    let mut strides: SmallVec<[usize; 4]> = shape.iter().map(|_| 0).collect();
    let mut stride = width;
    for a in (0..shape.len()).rev() {
        strides[a] = stride;
        stride *= shape[a] as usize;
    }
    Part { takes: shape.iter().map(|&len| Take::span(0, len, 0)).collect(), strides }
}
