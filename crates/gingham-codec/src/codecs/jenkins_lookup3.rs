//! `numcodecs.jenkins_lookup3`, v2 `jenkins_lookup3` (format.md 5.1): Bob Jenkins' hashlittle over prefix and payload.

use gingham_core::codec::Location;

use super::checksum::Checksum;

/// Bytes that are mixed at a time.
const BLOCK: usize = 12;

/// The codec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JenkinsLookup3 {
    initval: u32,
    prefix: Vec<u8>,
}

impl JenkinsLookup3 {
    /// `prefix` is hashed before the payload and not stored.
    pub fn new(initval: u32, prefix: Option<Vec<u8>>) -> Self {
        JenkinsLookup3 { initval, prefix: prefix.unwrap_or_default() }
    }
}

/// The three words of the state.
struct State(u32, u32, u32);

impl State {
    /// Adds a block of at most twelve bytes, padded with zeros.
    fn add(&mut self, block: &[u8]) {
        let mut words = [0u8; BLOCK];
        words[..block.len()].copy_from_slice(block);
        let word = |i: usize| u32::from_le_bytes([words[i], words[i + 1], words[i + 2], words[i + 3]]);
        self.0 = self.0.wrapping_add(word(0));
        self.1 = self.1.wrapping_add(word(4));
        self.2 = self.2.wrapping_add(word(8));
    }

    fn mix(&mut self) {
        let State(mut a, mut b, mut c) = *self;
        a = a.wrapping_sub(c) ^ c.rotate_left(4);
        c = c.wrapping_add(b);
        b = b.wrapping_sub(a) ^ a.rotate_left(6);
        a = a.wrapping_add(c);
        c = c.wrapping_sub(b) ^ b.rotate_left(8);
        b = b.wrapping_add(a);
        a = a.wrapping_sub(c) ^ c.rotate_left(16);
        c = c.wrapping_add(b);
        b = b.wrapping_sub(a) ^ a.rotate_left(19);
        a = a.wrapping_add(c);
        c = c.wrapping_sub(b) ^ b.rotate_left(4);
        b = b.wrapping_add(a);
        *self = State(a, b, c);
    }

    fn finish(self) -> u32 {
        let State(mut a, mut b, mut c) = self;
        c = (c ^ b).wrapping_sub(b.rotate_left(14));
        a = (a ^ c).wrapping_sub(c.rotate_left(11));
        b = (b ^ a).wrapping_sub(a.rotate_left(25));
        c = (c ^ b).wrapping_sub(b.rotate_left(16));
        a = (a ^ c).wrapping_sub(c.rotate_left(4));
        b = (b ^ a).wrapping_sub(a.rotate_left(14));
        (c ^ b).wrapping_sub(b.rotate_left(24))
    }
}

impl Checksum for JenkinsLookup3 {
    const NAME: &'static str = "numcodecs.jenkins_lookup3";

    fn location(&self) -> Location {
        Location::End
    }

    fn sum(&self, payload: &[u8]) -> u32 {
        let mut left = self.prefix.len() + payload.len();
        // The length enters modulo 2³², as in the C code, where it is a size_t cut to 32 bits.
        let start = 0xdead_beef_u32.wrapping_add(left as u32).wrapping_add(self.initval);
        let mut state = State(start, start, start);
        if left == 0 {
            return start;
        }
        // The prefix is filled up to whole blocks with the payload's first bytes, so that the rest is hashed where it lies.
        let borrowed =
            if self.prefix.is_empty() { 0 } else { (self.prefix.len().next_multiple_of(BLOCK) - self.prefix.len()).min(payload.len()) };
        let mut head = self.prefix.clone();
        head.extend_from_slice(&payload[..borrowed]);
        for block in head.chunks(BLOCK).chain(payload[borrowed..].chunks(BLOCK)) {
            state.add(block);
            if left > BLOCK {
                state.mix();
                left -= BLOCK;
            }
        }
        state.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codecs::checksum::tests::{D9, X};

    #[test]
    fn vectors() {
        let codec = JenkinsLookup3::new(0, None);
        assert_eq!(codec.sum(D9).to_le_bytes(), [0x96, 0x9a, 0x5d, 0x84]);
        assert_eq!(codec.sum(X).to_le_bytes(), [0x41, 0xc0, 0x46, 0xdd]);
        assert_eq!(codec.sum(&[]), 0xdead_beef);
        assert_eq!(JenkinsLookup3::new(1, None).sum(&[]), 0xdead_bef0);
    }

    #[test]
    fn a_prefix_is_hashed_as_if_it_stood_there() {
        let data: Vec<u8> = (0..60).collect();
        for prefix in 0..30 {
            for end in prefix..60 {
                let joined = JenkinsLookup3::new(3, None).sum(&data[..end]);
                let split = JenkinsLookup3::new(3, Some(data[..prefix].to_vec())).sum(&data[prefix..end]);
                assert_eq!(joined, split, "{prefix} of {end}");
            }
        }
    }
}
