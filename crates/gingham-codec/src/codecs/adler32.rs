//! `numcodecs.adler32`, v2 `adler32` (format.md 5.1).

use gingham_core::codec::Location;

use super::checksum::Checksum;

/// The codec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adler32 {
    location: Location,
}

impl Adler32 {
    /// With the checksum before or behind the payload.
    pub fn new(location: Location) -> Self {
        Adler32 { location }
    }
}

impl Checksum for Adler32 {
    const NAME: &'static str = "numcodecs.adler32";
    fn location(&self) -> Location {
        self.location
    }
    fn sum(&self, payload: &[u8]) -> u32 {
        simd_adler32::adler32(&payload)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codecs::checksum::tests::{D9, X};

    #[test]
    fn vectors() {
        let codec = Adler32::new(Location::Start);
        assert_eq!(codec.sum(D9).to_le_bytes(), [0xde, 0x01, 0x1e, 0x09]);
        assert_eq!(codec.sum(X).to_le_bytes(), [0x10, 0x00, 0x50, 0x00]);
    }
}
