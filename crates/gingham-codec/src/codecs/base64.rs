//! `numcodecs.base64`, v2 `base64` (format.md 5.7): the standard alphabet with padding.

use ::base64::Engine;
use ::base64::engine::general_purpose::STANDARD;

use super::growth;
use crate::{BytesToBytes, CodecFault, Context, Result, Room};

const NAME: &str = "numcodecs.base64";

/// The codec.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base64;

/// The decoded length of a text with its padding.
fn decoded_len(text: &[u8]) -> Result<usize> {
    if !text.len().is_multiple_of(4) {
        return Err(CodecFault::corrupt(NAME, format!("{} characters are no multiple of four", text.len())));
    }
    let padding = text.iter().rev().take(2).take_while(|&&c| c == b'=').count();
    Ok(text.len() / 4 * 3 - padding)
}

fn unpack(text: &[u8], out: &mut [u8]) -> Result<()> {
    let written = STANDARD.decode_slice(text, out).map_err(|e| CodecFault::corrupt(NAME, e.to_string()))?;
    growth::check(NAME, Room::Exactly(out.len()), written)
}

impl BytesToBytes for Base64 {
    fn name(&self) -> &'static str {
        NAME
    }

    fn encoded_len(&self, decoded: usize) -> Option<usize> {
        decoded.div_ceil(3).checked_mul(4)
    }

    fn encode(&self, bytes: &[u8], out: &mut Vec<u8>, _: &mut Context) -> Result<()> {
        let len = self.encoded_len(bytes.len()).unwrap_or(usize::MAX);
        growth::reserve(NAME, out, len)?;
        out.resize(len, 0);
        STANDARD.encode_slice(bytes, out).map_err(|e| CodecFault::unsupported(NAME, e.to_string()))?;
        Ok(())
    }

    fn decode(&self, bytes: &[u8], room: Room, out: &mut Vec<u8>, _: &mut Context) -> Result<()> {
        let len = decoded_len(bytes)?;
        growth::check(NAME, room, len)?;
        growth::reserve(NAME, out, len)?;
        out.resize(len, 0);
        unpack(bytes, out)
    }

    fn decode_into(&self, bytes: &[u8], out: &mut [u8], _: &mut Context) -> Result<()> {
        growth::check(NAME, Room::Exactly(out.len()), decoded_len(bytes)?)?;
        unpack(bytes, out)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn vectors() {
        for (plain, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")] {
            let (mut there, mut back) = (Vec::new(), vec![0; plain.len()]);
            Base64.encode(plain.as_bytes(), &mut there, &mut Context::default()).unwrap();
            assert_eq!(there, text.as_bytes());
            Base64.decode_into(&there, &mut back, &mut Context::default()).unwrap();
            assert_eq!(back, plain.as_bytes());
        }
    }

    #[test]
    fn other_characters_and_lengths_are_refused() {
        for text in ["Zg=", "Zg", "Zm9*", "=m9v", "Z===", "====", "Zm9v\n"] {
            assert!(Base64.decode(text.as_bytes(), Room::AtMost(99), &mut Vec::new(), &mut Context::default()).is_err(), "{text}");
        }
    }
}
