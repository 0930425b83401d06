//! Stored objects: their sizes where these are known without reading, and on demand their content.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};

use gingham::codec::chain::{Bound, Chain};
use gingham::codec::shard::{BoundShard, Index};
use gingham::codec::{CodecFault, Context, FaultKind};
use gingham::core::Shape;
use gingham::core::codec::{Chain as ChainSpec, Location};
use gingham::{Array, Error};

use super::keys::Object;
use super::nodes::sentence;
use super::{Finding, Findings, Severity};

/// Objects of an array that cannot be listed which are asked for one by one, at most.
const ASKED: u64 = 1 << 20;

/// Codecs whose only word on damage is that a checksum differs.
const CHECKSUMS: [&str; 6] =
    ["crc32c", "numcodecs.crc32c", "numcodecs.crc32", "numcodecs.adler32", "numcodecs.fletcher32", "numcodecs.jenkins_lookup3"];

/// Chains bound to the chunk shapes that occur. Rectilinear grids have many; they are kept, as each is a few hundred bytes.
struct Bounds<'a> {
    array: &'a Array,
    chain: Arc<Chain>,
    bound: HashMap<Shape, Result<Arc<Bound>, String>>,
}

impl<'a> Bounds<'a> {
    fn new(array: &'a Array) -> Result<Self, Error> {
        let meta = array.meta();
        let spec = ChainSpec::new(meta.codecs())?;
        let first = array.grid().chunk_shape(&vec![0; array.grid().ndim()]);
        let chain = Chain::new(&spec, meta.data_type(), &meta.fill_value(), &first)?;
        Ok(Bounds { array, chain, bound: HashMap::new() })
    }

    fn of(&mut self, chunk: &[u64]) -> Result<Arc<Bound>, String> {
        let shape = self.array.grid().chunk_shape(chunk);
        let most = self.array.options().max_chunk;
        let chain = &self.chain;
        let bind = |shape: &Shape| {
            let bound = chain.bind(shape).map_err(|e| e.to_string())?;
            match bound.decoded().byte_len() {
                Some(n) if n as u64 > most => {
                    Err(format!("a chunk of shape {:?} decodes to {n} bytes, and {most} are allowed", &shape[..]))
                }
                _ => Ok(bound),
            }
        };
        self.bound.entry(shape).or_insert_with_key(bind).clone()
    }
}

/// Checks the objects of one array.
pub(super) fn check(array: &Array, stored: &[Object], data: bool, findings: &mut Findings<'_>) {
    // Unknown codecs and types are findings of the document.
    if array.meta().problem().is_some() || stored.is_empty() {
        return;
    }
    let mut bounds = match Bounds::new(array) {
        Ok(bounds) => bounds,
        Err(e) => return findings.error(array.path(), "document", None, sentence(&e)),
    };
    let mut readable = Vec::new();
    for object in stored {
        match bounds.of(&object.chunk) {
            Err(what) => findings.error(array.path(), "chunk-size", Some(object.key.clone()), what),
            Ok(bound) => match wrong_size(&bound, object.size) {
                Some((rule, what)) => findings.error(array.path(), rule, Some(object.key.clone()), what),
                None => readable.push((object, bound)),
            },
        }
    }
    if data {
        let keyed: Vec<_> = readable.iter().map(|(object, bound)| (object.chunk.as_slice(), object.key.as_str(), bound)).collect();
        decode_all(array, &keyed, findings);
    }
}

/// Checks the objects of an array whose store does not list: each is asked for, where they are few enough.
pub(super) fn check_unlisted(array: &Array, data: bool, findings: &mut Findings<'_>) {
    if !data || array.meta().problem().is_some() {
        return;
    }
    let counts = array.grid().chunk_counts();
    let Some(count) = array.grid().chunk_count().filter(|&n| n <= ASKED) else {
        return findings.warning(
            array.path(),
            "not-listed",
            None,
            format!("the store cannot be listed, and more than {ASKED} chunks are not asked for one by one"),
        );
    };
    let mut stored = Vec::new();
    for number in 0..count {
        let mut rest = number;
        let mut chunk = vec![0; counts.len()];
        for (at, n) in chunk.iter_mut().zip(&counts).rev() {
            *at = rest % n;
            rest /= n;
        }
        let key = array.key(&chunk);
        match array.store().stat(&key) {
            Ok(Some(stat)) => stored.push(Object { chunk, key, size: stat.size }),
            Ok(None) => findings.summary.missing += 1,
            Err(e) => findings.error(array.path(), "store", Some(key), e.to_string()),
        }
    }
    findings.summary.stored += stored.len() as u64;
    findings.summary.bytes = stored.iter().fold(findings.summary.bytes, |n, o| n.saturating_add(o.size));
    check(array, &stored, true, findings);
}

/// What a size alone gives away.
fn wrong_size(bound: &Bound, size: u64) -> Option<(&'static str, String)> {
    if let Some(shard) = bound.open_shard()
        && size < shard.index_len() as u64
    {
        return Some(("torn-shard", format!("the shard has {size} bytes, fewer than its index of {}: it is cut short", shard.index_len())));
    }
    match bound.object_len() {
        Some(want) if want as u64 != size => Some(("chunk-size", format!("the object has {size} bytes instead of {want}"))),
        None if size == 0 => Some(("chunk-size", "the object is empty; an absent chunk is not stored at all".into())),
        _ => None,
    }
}

/// Decodes objects on every core; findings come out as they turn up.
fn decode_all(array: &Array, objects: &[(&[u64], &str, &Arc<Bound>)], findings: &mut Findings<'_>) {
    let next = AtomicUsize::new(0);
    let threads = array.options().threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get));
    std::thread::scope(|scope| {
        let (send, receive) = channel();
        for _ in 0..threads.clamp(1, objects.len().max(1)) {
            let send = send.clone();
            scope.spawn({
                let next = &next;
                move || {
                    let mut context = Context::default();
                    while let Some((chunk, key, bound)) = objects.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let mut decoding = Decoding { path: array.path(), key, send: &send };
                        match array.read_encoded(chunk) {
                            Ok(Some(bytes)) => decoding.object(bound, &bytes, &mut context),
                            Ok(None) => decoding.say("store", Severity::Error, "the object was listed, and is gone".into()),
                            Err(e) => decoding.say("store", Severity::Error, sentence(&e)),
                        }
                    }
                }
            });
        }
        drop(send);
        for finding in receive {
            findings.add(finding);
        }
    });
}

/// The decoding of one object, and where its findings go.
struct Decoding<'a> {
    path: &'a str,
    key: &'a str,
    send: &'a Sender<Finding>,
}

impl Decoding<'_> {
    fn say(&mut self, rule: &'static str, severity: Severity, what: String) {
        // The receiver outlives the workers.
        let _ = self.send.send(Finding { path: self.path.into(), rule, severity, what, key: Some(self.key.into()) });
    }

    fn fault(&mut self, fault: &CodecFault, where_: &str) {
        let rule = match fault.kind {
            FaultKind::Unsupported => "unsupported",
            _ if CHECKSUMS.iter().any(|name| fault.codec.ends_with(name)) => "checksum",
            _ => "decode",
        };
        self.say(rule, Severity::Error, format!("{where_}{fault}"));
    }

    fn object(&mut self, bound: &Bound, bytes: &[u8], context: &mut Context) {
        match bound.open_shard() {
            Some(shard) => self.shard(shard, bytes, context),
            None => {
                if let Err(fault) = bound.decode(bytes, context) {
                    self.fault(&fault, "");
                }
            }
        }
    }

    /// A shard's chunks one by one: all that are damaged, and no more than one decoded at a time.
    fn shard(&mut self, shard: &BoundShard, bytes: &[u8], context: &mut Context) {
        let index = match shard.index_of(bytes, context) {
            Ok(index) => index,
            Err(fault) => return self.fault(&fault, ""),
        };
        self.layout(shard, &index, bytes.len() as u64);
        for i in 0..shard.count() {
            let decoded = shard.slice(bytes, &index, i).and_then(|slice| slice.map(|s| shard.inner().decode(s, context)).transpose());
            if let Err(fault) = decoded {
                self.fault(&fault, &format!("chunk {i} of the shard: "));
            }
        }
    }

    /// Chunks of a shard that share bytes, and bytes that belong to none. Both are allowed, and both are worth a word.
    fn layout(&mut self, shard: &BoundShard, index: &Index, size: u64) {
        let index_len = shard.index_len() as u64;
        let index_at = if shard.index_location() == Location::Start { 0 } else { size.saturating_sub(index_len) };
        let mut spans: Vec<(u64, u64)> =
            index.entries().iter().flatten().map(|&(offset, len)| (offset, offset.saturating_add(len))).collect();
        spans.retain(|&(from, to)| from < to && to <= size);
        spans.push((index_at, index_at + index_len));
        spans.sort_unstable();
        let (mut shared, mut covered, mut end) = (0u64, 0u64, 0u64);
        for (from, to) in spans {
            shared += to.min(end).saturating_sub(from);
            covered += to.saturating_sub(from.max(end));
            end = end.max(to);
        }
        if shared > 0 {
            self.say(
                "shard-overlap",
                Severity::Warning,
                format!("{shared} bytes of the shard belong to more than one chunk, or to a chunk and the index"),
            );
        }
        if covered < size {
            let slack = size - covered;
            self.say(
                "shard-slack",
                Severity::Warning,
                format!("{slack} of the shard's {size} bytes belong to no chunk; writing it anew frees them"),
            );
        }
    }
}
