//! A chain: codecs strung together, bound to an element type and a fill value at open, and to a chunk shape at use.
//!
//! ```text
//!   decoded frame ─ leading transposes ─► stored frame ─ other array→array ─► array→bytes ─► bytes→bytes* ─► object
//!                   (never carried out: placing takes
//!                    the axes in another order)
//! ```
//!
//! [`Chain`] is what the document says; [`Bound`] is the chain for one chunk shape, with every length worked out once, so
//! that decoding a chunk allocates nothing in the steady state and each decoder knows exactly how long its result must be.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use gingham_core::codec::{self as spec, Codec};
use gingham_core::dtype::{DataType, Elements, FillValue};

use crate::place::{Part, Target};
use crate::shard::{BoundShard, Shard};
use crate::{ArrayToArray, ArrayToBytes, BytesToBytes, CodecFault, Context, Rep, Result, Room, table};

/// Longest result of a decoder whose length nothing declares (variable-length elements): it grows as data comes.
const UNDECLARED: usize = 4 << 30;

/// Deepest nesting of shards; four is one more than anyone was seen to use.
const MAX_NESTING: usize = 8;

/// What makes bytes of elements.
#[derive(Debug)]
pub(crate) enum Serializer {
    Plain(Box<dyn ArrayToBytes>),
    Shard(Shard),
}

/// A chain, bound to an element type and a fill value.
#[derive(Debug)]
pub struct Chain {
    /// Composition of the leading transposes: axis i of the stored frame is axis `order[i]` of the decoded one.
    order: Option<Vec<usize>>,
    /// How many array→array codecs `order` stands for.
    leading: usize,
    array_to_array: Vec<Box<dyn ArrayToArray>>,
    pub(crate) serializer: Serializer,
    bytes_to_bytes: Vec<Box<dyn BytesToBytes>>,
    data_type: DataType,
    fill: FillValue,
}

impl Chain {
    /// Strings a chain together. `shape` is any chunk shape of the grid: fill values are carried through at it.
    pub fn new(chain: &spec::Chain, data_type: &DataType, fill: &FillValue, shape: &[u64]) -> Result<Arc<Chain>> {
        Chain::nested(chain, Rep { data_type: data_type.clone(), shape: shape.into(), fill: fill.clone() }, 0)
    }

    pub(crate) fn nested(chain: &spec::Chain, decoded: Rep, depth: usize) -> Result<Arc<Chain>> {
        if depth > MAX_NESTING {
            return Err(CodecFault::unsupported("sharding_indexed", format!("shards are nested more than {MAX_NESTING} deep")));
        }
        let array_to_array = chain.array_to_array.iter().map(table::array_to_array).collect::<Result<Vec<_>>>()?;
        let mut order: Option<Vec<usize>> = None;
        let mut leading = 0;
        for codec in &array_to_array {
            let Some(next) = codec.permutation() else { break };
            order = Some(order.map_or_else(|| next.to_vec(), |o| next.iter().map(|&i| o[i]).collect()));
            leading += 1;
        }
        let stored = array_to_array.iter().try_fold(decoded.clone(), |rep, codec| codec.encoded(&rep))?;
        let serializer = match &chain.array_to_bytes {
            Codec::Sharding(sharding) => Serializer::Shard(Shard::new(sharding, &stored, depth)?),
            codec => Serializer::Plain(table::array_to_bytes(codec)?),
        };
        let bytes_to_bytes = chain.bytes_to_bytes.iter().map(table::bytes_to_bytes).collect::<Result<Vec<_>>>()?;
        let order = order.filter(|o| o.iter().enumerate().any(|(i, &a)| i != a));
        Ok(Arc::new(Chain { order, leading, array_to_array, serializer, bytes_to_bytes, data_type: decoded.data_type, fill: decoded.fill }))
    }

    /// Binds the chain to a chunk shape.
    pub fn bind(self: &Arc<Self>, shape: &[u64]) -> Result<Arc<Bound>> {
        let decoded = Rep { data_type: self.data_type.clone(), shape: shape.into(), fill: self.fill.clone() };
        let elements = shape.iter().try_fold(1u64, |n, &l| n.checked_mul(l));
        let bytes = elements.and_then(|n| n.checked_mul(decoded.data_type.size().unwrap_or(1).max(1) as u64));
        if bytes.is_none_or(|b| b > (isize::MAX as u64) / 4) {
            return Err(CodecFault::unsupported("chunk", format!("a chunk of shape {shape:?} does not fit into memory")));
        }
        let mut reps = vec![decoded];
        for codec in &self.array_to_array {
            let next = codec.encoded(&reps[reps.len() - 1])?;
            reps.push(next);
        }
        let stored = &reps[reps.len() - 1];
        let (shard, first) = match &self.serializer {
            Serializer::Plain(codec) => (None, codec.encoded_len(stored)),
            Serializer::Shard(shard) => (Some(shard.bind(&stored.shape)?), None),
        };
        let mut lens = vec![first];
        let mut limits = vec![first.or_else(|| stored.byte_len().map(|n| n.saturating_mul(2).saturating_add(1 << 20)))];
        for codec in &self.bytes_to_bytes {
            let k = lens.len() - 1;
            let len = lens[k].and_then(|n| codec.encoded_len(n));
            // No compressor in use makes its input more than twice as long, but for a small header.
            limits.push(len.or_else(|| limits[k].map(|n| n.saturating_mul(2).saturating_add(1 << 16))));
            lens.push(len);
        }
        let rooms = lens.iter().zip(&limits).map(|(len, limit)| len.map_or(Room::AtMost(limit.unwrap_or(UNDECLARED)), Room::Exactly));
        let rooms = rooms.collect();
        let identity = matches!(&self.serializer, Serializer::Plain(codec) if codec.is_identity(&reps[reps.len() - 1]));
        Ok(Arc::new(Bound { chain: self.clone(), reps, rooms, identity, shard }))
    }

    /// The fill value at the array's side.
    pub fn fill(&self) -> &FillValue {
        &self.fill
    }

    /// The shard whose chunks can be fetched one by one: nothing but transposes before it, no bytes→bytes codec behind.
    pub fn open_shard(&self) -> bool {
        matches!(self.serializer, Serializer::Shard(_)) && self.leading == self.array_to_array.len() && self.bytes_to_bytes.is_empty()
    }
}

/// A chain for one chunk shape.
#[derive(Debug)]
pub struct Bound {
    chain: Arc<Chain>,
    /// `reps[k]` goes into array→array codec k; the last goes into the serializer.
    reps: Vec<Rep>,
    /// `rooms[k]`: the length of what bytes→bytes codec k decodes to; the last is the object.
    rooms: Vec<Room>,
    /// The serializer's bytes are the elements.
    identity: bool,
    shard: Option<BoundShard>,
}

impl Bound {
    /// The decoded array.
    pub fn decoded(&self) -> &Rep {
        &self.reps[0]
    }
    /// Axis i of the stored frame is axis `order[i]` of the decoded one; `None` where they are the same.
    pub fn order(&self) -> Option<&[usize]> {
        self.chain.order.as_deref()
    }
    /// The shape in the stored frame (behind the leading transposes).
    pub fn frame(&self) -> &[u64] {
        &self.reps[self.chain.leading].shape
    }
    /// The shard's inner side, where its chunks can be fetched one by one (see [`Chain::open_shard`]).
    pub fn open_shard(&self) -> Option<&BoundShard> {
        self.shard.as_ref().filter(|_| self.chain.open_shard())
    }
    /// Length of the stored object where it is always the same.
    pub fn object_len(&self) -> Option<usize> {
        self.rooms.last().and_then(|r| if let Room::Exactly(n) = r { Some(*n) } else { None })
    }
    /// The longest that the stored object can be.
    pub fn object_limit(&self) -> usize {
        self.rooms.last().map_or(UNDECLARED, |r| r.limit())
    }
    /// True where the object is the elements in the stored frame, byte for byte: any part of it can be fetched alone.
    pub fn is_raw(&self) -> bool {
        self.identity && self.chain.bytes_to_bytes.is_empty() && self.chain.leading == self.chain.array_to_array.len()
    }

    /// Undoes the bytes→bytes codecs; `keep` of them (counted from the array's side) are left to the caller.
    fn unwrapped<'a>(&self, object: &'a [u8], keep: usize, context: &mut Context) -> Result<Cow<'a, [u8]>> {
        let mut bytes = Cow::Borrowed(object);
        for (k, codec) in self.chain.bytes_to_bytes.iter().enumerate().skip(keep).rev() {
            if let Some(payload) = codec.payload(&bytes) {
                let range = payload?;
                bytes = match bytes {
                    Cow::Borrowed(b) => Cow::Borrowed(&b[range]),
                    Cow::Owned(mut b) => {
                        b.truncate(range.end);
                        b.drain(..range.start);
                        Cow::Owned(b)
                    }
                };
                continue;
            }
            let mut out = context.take();
            codec.decode(&bytes, self.rooms[k], &mut out, context)?;
            if let Room::Exactly(n) = self.rooms[k]
                && out.len() != n
            {
                return Err(CodecFault::corrupt(codec.name(), format!("decodes to {} bytes, expected {n}", out.len())));
            }
            if let Cow::Owned(old) = std::mem::replace(&mut bytes, Cow::Owned(out)) {
                context.give(old);
            }
        }
        Ok(bytes)
    }

    /// Decodes a whole object.
    pub fn decode(&self, object: &[u8], context: &mut Context) -> Result<Elements> {
        let bytes = self.unwrapped(object, 0, context)?;
        let stored = &self.reps[self.reps.len() - 1];
        let mut elements = match (&self.chain.serializer, &self.shard) {
            (Serializer::Shard(_), Some(shard)) => shard.decode(&bytes, stored, context)?,
            (Serializer::Plain(codec), _) => codec.decode(stored, &bytes, context)?,
            (Serializer::Shard(_), None) => return Err(CodecFault::unsupported("sharding_indexed", "the shard is not bound")),
        };
        if let Cow::Owned(buffer) = bytes {
            context.give(buffer);
        }
        for (codec, rep) in self.chain.array_to_array.iter().zip(&self.reps).rev() {
            elements = codec.decode(rep, elements)?;
        }
        self.check_count(&elements)?;
        Ok(elements)
    }

    fn check_count(&self, elements: &Elements) -> Result<()> {
        let rep = self.decoded();
        let (got, expected) = match (elements, rep.byte_len()) {
            (Elements::Fixed(b), Some(n)) => (b.len(), n),
            (Elements::Variable(v), _) => (v.len(), rep.count()),
            (Elements::Fixed(b), None) => (b.len(), 0),
        };
        if got != expected {
            return Err(CodecFault::corrupt("chain", format!("the chunk decodes to {got} bytes or elements, expected {expected}")));
        }
        Ok(())
    }

    /// Decodes fixed-size elements into the stored frame: lent out of the object where nothing has to be done.
    pub fn decode_frame<'a>(&self, object: &'a [u8], context: &mut Context) -> Result<Cow<'a, [u8]>> {
        if self.chain.leading < self.chain.array_to_array.len() || self.shard.is_some() {
            return self.decode_frame_slowly(object, context).map(Cow::Owned);
        }
        if self.identity {
            let bytes = self.unwrapped(object, 0, context)?;
            let expected = self.byte_len()?;
            if bytes.len() != expected {
                return Err(CodecFault::corrupt("bytes", format!("the chunk holds {} bytes, expected {expected}", bytes.len())));
            }
            return Ok(bytes);
        }
        let mut out = context.scratch(self.byte_len()?);
        self.decode_frame_into(object, &mut out, context)?;
        Ok(Cow::Owned(out))
    }

    /// Decodes fixed-size elements into a buffer for the stored frame, of which only the bytes `need` are right; `None` where
    /// all of it is needed, or has to be decoded.
    fn decode_part(&self, object: &[u8], need: Range<usize>, context: &mut Context) -> Result<Option<Vec<u8>>> {
        let len = self.byte_len()?;
        let plain = self.identity && self.chain.leading == self.chain.array_to_array.len();
        let Some(last) = self.chain.bytes_to_bytes.first().filter(|_| plain && need.len() < len / 4 * 3) else { return Ok(None) };
        let bytes = self.unwrapped(object, 1, context)?;
        let mut out = context.scratch(len);
        let decoded = last.decode_part_into(&bytes, &mut out, need, context)?;
        if let Cow::Owned(buffer) = bytes {
            context.give(buffer);
        }
        if decoded {
            return Ok(Some(out));
        }
        context.give(out);
        Ok(None)
    }

    fn byte_len(&self) -> Result<usize> {
        self.decoded().byte_len().ok_or_else(|| CodecFault::unsupported("chain", "elements of variable length have no fixed size"))
    }

    /// Decodes fixed-size elements into a buffer of exactly their length, in the stored frame.
    pub fn decode_frame_into(&self, object: &[u8], out: &mut [u8], context: &mut Context) -> Result<()> {
        if self.chain.leading < self.chain.array_to_array.len() || self.shard.is_some() {
            let bytes = self.decode_frame_slowly(object, context)?;
            return copy_exactly(&bytes, out);
        }
        let Serializer::Plain(codec) = &self.chain.serializer else {
            return Err(CodecFault::unsupported("sharding_indexed", "the shard is not bound"));
        };
        // The last decoder writes straight to where the elements go.
        if let Some(last) = self.chain.bytes_to_bytes.first().filter(|_| self.identity) {
            let bytes = self.unwrapped(object, 1, context)?;
            match last.payload(&bytes) {
                Some(range) => copy_exactly(&bytes[range?], out)?,
                None => last.decode_into(&bytes, out, context)?,
            }
            if let Cow::Owned(buffer) = bytes {
                context.give(buffer);
            }
            return Ok(());
        }
        let bytes = self.unwrapped(object, 0, context)?;
        codec.decode_into(&self.reps[self.reps.len() - 1], &bytes, out, context)?;
        if let Cow::Owned(buffer) = bytes {
            context.give(buffer);
        }
        Ok(())
    }

    /// Through every codec but the leading transposes, as elements.
    fn decode_frame_slowly(&self, object: &[u8], context: &mut Context) -> Result<Vec<u8>> {
        match self.decode_frame_elements(object, context)? {
            Elements::Fixed(bytes) if bytes.len() == self.byte_len()? => Ok(bytes),
            _ => Err(CodecFault::corrupt("chain", "the decoded elements have another length than the chunk")),
        }
    }

    /// Decodes elements of any size into the stored frame.
    pub fn decode_frame_elements(&self, object: &[u8], context: &mut Context) -> Result<Elements> {
        let bytes = self.unwrapped(object, 0, context)?;
        let stored = &self.reps[self.reps.len() - 1];
        let mut elements = match (&self.chain.serializer, &self.shard) {
            (Serializer::Plain(codec), _) => codec.decode(stored, &bytes, context)?,
            (_, Some(shard)) => shard.decode(&bytes, stored, context)?,
            _ => return Err(CodecFault::unsupported("sharding_indexed", "the shard is not bound")),
        };
        for (codec, rep) in self.chain.array_to_array.iter().zip(&self.reps).skip(self.chain.leading).rev() {
            elements = codec.decode(rep, elements)?;
        }
        Ok(elements)
    }

    /// Decodes a part of an object and puts it into its place. `part` is in the decoded frame.
    ///
    /// # Safety
    /// No other thread may touch the part's elements of the output meanwhile.
    #[allow(unsafe_code)]
    pub unsafe fn place(&self, object: &[u8], part: &Part, target: &Target<'_>, context: &mut Context) -> Result<()> {
        let turned = self.chain.order.as_deref().map(|order| part.permuted(order));
        let part = turned.as_ref().unwrap_or(part);
        if let Some(shard) = self.shard.as_ref().filter(|_| self.chain.leading == self.chain.array_to_array.len()) {
            let bytes = self.unwrapped(object, 0, context)?;
            let index = shard.index_of(&bytes, context)?;
            // SAFETY: the caller's promise, handed on.
            return unsafe { shard.place(&bytes, &index, part, target, context) };
        }
        if target.is_variable() {
            let Elements::Variable(elements) = self.decode_frame_elements(object, context)? else {
                return Err(CodecFault::corrupt("chain", "decoded elements of fixed size where variable ones are expected"));
            };
            if elements.len() as u64 != self.frame().iter().product::<u64>() {
                return Err(CodecFault::corrupt(
                    "chain",
                    format!("the chunk holds {} elements of a chunk of shape {:?}", elements.len(), self.frame()),
                ));
            }
            let handles = target.collect(elements);
            // SAFETY: the caller's promise, handed on.
            return placed(unsafe { target.place(&handles, self.frame(), part) });
        }
        let (item, len) = (target.item(), self.byte_len()?);
        // SAFETY: the slice is the part's own place in the output.
        if let Some(out) = part.contiguous(self.frame(), item).and_then(|first| unsafe { target.slice(first, len) }) {
            return self.decode_frame_into(object, out, context);
        }
        let bytes = match self.decode_part(object, part.extent(self.frame(), item), context)? {
            Some(bytes) => Cow::Owned(bytes),
            None => self.decode_frame(object, context)?,
        };
        // SAFETY: the caller's promise, handed on.
        placed(unsafe { target.place(&bytes, self.frame(), part) })?;
        if let Cow::Owned(buffer) = bytes {
            context.give(buffer);
        }
        Ok(())
    }

    /// Encodes elements given in the decoded frame (C order). `None` where all are the fill value and `keep_empty` is false.
    pub fn encode(&self, elements: &Elements, keep_empty: bool, context: &mut Context) -> Result<Option<Vec<u8>>> {
        self.check_count(elements)?;
        if !keep_empty && is_fill(elements, &self.decoded().fill) {
            return Ok(None);
        }
        let mut current = Cow::Borrowed(elements);
        for (codec, rep) in self.chain.array_to_array.iter().zip(&self.reps) {
            current = Cow::Owned(codec.encode(rep, current.into_owned())?);
        }
        self.encode_stored(current, keep_empty, context)
    }

    /// Encodes elements given in the stored frame (behind the leading transposes).
    pub fn encode_frame(&self, elements: Elements, keep_empty: bool, context: &mut Context) -> Result<Option<Vec<u8>>> {
        if !keep_empty && is_fill(&elements, &self.decoded().fill) {
            return Ok(None);
        }
        let mut current = elements;
        for (codec, rep) in self.chain.array_to_array.iter().zip(&self.reps).skip(self.chain.leading) {
            current = codec.encode(rep, current)?;
        }
        self.encode_stored(Cow::Owned(current), keep_empty, context)
    }

    /// Encodes fixed-size elements given as the bytes of the stored frame: lent where nothing has to be done. The caller's memory is
    /// read in place where the elements are their own bytes.
    pub fn encode_frame_bytes<'a>(&self, frame: &'a [u8], keep_empty: bool, context: &mut Context) -> Result<Option<Cow<'a, [u8]>>> {
        if !self.identity || self.chain.leading < self.chain.array_to_array.len() {
            let mut copy = context.take();
            copy.extend_from_slice(frame);
            return Ok(self.encode_frame(Elements::Fixed(copy), keep_empty, context)?.map(Cow::Owned));
        }
        if !keep_empty && is_fill_bytes(frame, self.decoded().fill.as_bytes()) {
            return Ok(None);
        }
        let Some((first, rest)) = self.chain.bytes_to_bytes.split_first() else { return Ok(Some(Cow::Borrowed(frame))) };
        let mut bytes = context.take();
        first.encode(frame, &mut bytes, context)?;
        wrap(rest, bytes, context).map(|bytes| Some(Cow::Owned(bytes)))
    }

    fn encode_stored(&self, elements: Cow<'_, Elements>, keep_empty: bool, context: &mut Context) -> Result<Option<Vec<u8>>> {
        let stored = &self.reps[self.reps.len() - 1];
        let bytes = match (&self.chain.serializer, &self.shard, elements) {
            // The elements are the bytes: nothing is copied.
            (Serializer::Plain(_), _, Cow::Owned(Elements::Fixed(bytes))) if self.identity => bytes,
            (Serializer::Plain(codec), _, elements) => {
                let mut bytes = context.take();
                codec.encode(stored, &elements, &mut bytes, context)?;
                if let Cow::Owned(Elements::Fixed(buffer)) = elements {
                    context.give(buffer);
                }
                bytes
            }
            (_, Some(shard), elements) => match shard.encode(&elements, stored, keep_empty, context)? {
                Some(shard) => shard,
                None => return Ok(None),
            },
            _ => return Err(CodecFault::unsupported("sharding_indexed", "the shard is not bound")),
        };
        wrap(&self.chain.bytes_to_bytes, bytes, context).map(Some)
    }
}

/// Puts bytes→bytes codecs around bytes.
fn wrap(codecs: &[Box<dyn BytesToBytes>], mut bytes: Vec<u8>, context: &mut Context) -> Result<Vec<u8>> {
    for codec in codecs {
        let mut out = context.take();
        codec.encode(&bytes, &mut out, context)?;
        context.give(std::mem::replace(&mut bytes, out));
    }
    Ok(bytes)
}

fn copy_exactly(bytes: &[u8], out: &mut [u8]) -> Result<()> {
    if bytes.len() != out.len() {
        return Err(CodecFault::corrupt("bytes", format!("the chunk holds {} bytes, expected {}", bytes.len(), out.len())));
    }
    out.copy_from_slice(bytes);
    Ok(())
}

/// A part that does not fit its buffers is a fault of ours, but one that must never write.
pub fn placed(fits: bool) -> Result<()> {
    fits.then_some(()).ok_or_else(|| CodecFault::unsupported("place", "a part reaches outside its chunk or its output"))
}

/// True where every element is the fill value, bit for bit (-0.0 is not 0.0).
pub fn is_fill(elements: &Elements, fill: &FillValue) -> bool {
    match elements {
        Elements::Fixed(bytes) => is_fill_bytes(bytes, fill.as_bytes()),
        Elements::Variable(v) => (0..v.len()).all(|i| v.get(i) == fill.as_bytes()),
    }
}

fn is_fill_bytes(bytes: &[u8], unit: &[u8]) -> bool {
    if unit.is_empty() {
        return bytes.is_empty();
    }
    let Some(first) = bytes.get(..unit.len()) else { return bytes.is_empty() };
    // Equal to itself moved by one element: one pass of memcmp.
    first == unit && bytes[unit.len()..] == bytes[..bytes.len() - unit.len()]
}
