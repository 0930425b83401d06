//! Two sums over what was read, the same in every program and language.

/// The wrapping sum of the 64-bit words; bytes after the last whole word do not count.
pub fn checksum(bytes: &[u8]) -> u64 {
    bytes.as_chunks::<8>().0.iter().fold(0, |sum: u64, word| sum.wrapping_add(u64::from_le_bytes(*word)))
}

/// The sums over many reads.
#[derive(Default)]
pub struct Sums {
    count: u64,
    plain: u64,
    ordered: u64,
}

impl Sums {
    /// Adds one read.
    pub fn add(&mut self, bytes: &[u8]) {
        let weight = 2 * self.count + 1;
        self.count += 1;
        self.plain = self.plain.wrapping_add(checksum(bytes));
        self.ordered = self.ordered.wrapping_add(ordered(bytes).wrapping_mul(weight));
    }
    /// The wrapping sum of the words: fast, but blind to their order.
    pub fn plain(&self) -> u64 {
        self.plain
    }
    /// Each word times its place (odd, so that no bit is lost), each read times its own: two chunks that changed places show.
    pub fn ordered(&self) -> u64 {
        self.ordered
    }
}

fn ordered(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let words = words.iter().chain(std::iter::once(&last));
    words.zip((1u64..).step_by(2)).fold(0, |sum: u64, (word, weight)| sum.wrapping_add(u64::from_le_bytes(*word).wrapping_mul(weight)))
}
