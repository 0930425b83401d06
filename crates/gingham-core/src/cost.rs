//! The only arithmetic of cost: what a read wants, decodes and fetches.

/// What a read costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost {
    /// Chunks that the read touches.
    pub chunks: u64,
    /// Stored objects (chunks, or shards) that it touches.
    pub objects: u64,
    /// Bytes that were asked for: elements times their size.
    pub wanted: u64,
    /// Bytes that must be decoded to get them: whole chunks at their stored shape.
    pub decoded: u64,
    /// Bytes that are fetched, where they are known before the fetch (uncompressed data, shard indexes).
    pub fetched: Option<u64>,
    /// Requests, at most.
    pub requests: u64,
}

impl Cost {
    /// Decoded over wanted: 1.0 where nothing is decoded in vain; `None` where nothing is wanted.
    pub fn amplification(&self) -> Option<f64> {
        (self.wanted > 0).then(|| self.decoded as f64 / self.wanted as f64)
    }
}
