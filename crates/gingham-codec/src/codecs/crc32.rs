//! `numcodecs.crc32`, v2 `crc32` (format.md 5.1): the checksum of zlib and gzip.

use gingham_core::codec::Location;

use super::checksum::Checksum;

/// The codec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crc32 {
    location: Location,
}

impl Crc32 {
    /// With the checksum before or behind the payload.
    pub fn new(location: Location) -> Self {
        Crc32 { location }
    }
}

impl Checksum for Crc32 {
    const NAME: &'static str = "numcodecs.crc32";
    fn location(&self) -> Location {
        self.location
    }
    fn sum(&self, payload: &[u8]) -> u32 {
        crc32fast::hash(payload)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codecs::checksum::tests::{D9, X};

    #[test]
    fn vectors() {
        let codec = Crc32::new(Location::Start);
        assert_eq!(codec.sum(D9).to_le_bytes(), [0x26, 0x39, 0xf4, 0xcb]);
        assert_eq!(codec.sum(X).to_le_bytes(), [0x89, 0x15, 0xec, 0x3a]);
    }
}
