//! `crc32c` (format.md 5.1): Castagnoli's checksum, with the SSE 4.2 or ARMv8 instructions where there are.

use gingham_core::codec::Location;

use super::checksum::Checksum;

/// The codec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crc32c {
    location: Location,
}

impl Crc32c {
    /// With the checksum before or behind the payload.
    pub fn new(location: Location) -> Self {
        Crc32c { location }
    }
}

impl Checksum for Crc32c {
    const NAME: &'static str = "crc32c";
    fn location(&self) -> Location {
        self.location
    }
    fn sum(&self, payload: &[u8]) -> u32 {
        ::crc32c::crc32c(payload)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codecs::checksum::tests::{D9, X};

    #[test]
    fn vectors() {
        let codec = Crc32c::new(Location::End);
        assert_eq!(codec.sum(D9).to_le_bytes(), [0x83, 0x92, 0x06, 0xe3]);
        assert_eq!(codec.sum(X).to_le_bytes(), [0x02, 0x72, 0x45, 0xa8]);
    }
}
