//! The framing of `vlen-utf8`, `vlen-bytes` and `vlen-array` (format.md 5.6).
//!
//! ```text
//!   u32 LE count │ u32 LE length, content │ u32 LE length, content │ …
//! ```

use gingham_core::dtype::Variable;

use crate::{CodecFault, Result};

/// Reads `count` items; bytes behind the last are ignored.
pub(crate) fn read(codec: &str, count: usize, bytes: &[u8]) -> Result<Variable> {
    let mut rest = bytes;
    let length = |rest: &mut &[u8], what: &dyn Fn() -> String| match rest.split_first_chunk::<4>() {
        Some((head, tail)) => {
            *rest = tail;
            Ok(u32::from_le_bytes(*head) as usize)
        }
        None => Err(CodecFault::corrupt(codec, format!("the chunk of {} bytes ends within {}", bytes.len(), what()))),
    };
    let stored = length(&mut rest, &|| "the count of elements".into())?;
    if stored != count {
        return Err(CodecFault::corrupt(codec, format!("holds {stored} elements, expected {count}")));
    }
    // Every item has four bytes of length at least, so the offsets cannot outgrow the input.
    if count > rest.len() / 4 {
        return Err(CodecFault::corrupt(codec, format!("{} bytes are too few for {count} elements", bytes.len())));
    }
    let mut out = Variable { offsets: Vec::with_capacity(count + 1), data: Vec::with_capacity(rest.len() - 4 * count) };
    out.offsets.push(0);
    for i in 0..count {
        let n = length(&mut rest, &|| format!("the length of element {i}"))?;
        let Some((content, tail)) = rest.split_at_checked(n) else {
            let what = format!("element {i} has {n} bytes, {} are left in the chunk of {} bytes", rest.len(), bytes.len());
            return Err(CodecFault::corrupt(codec, what));
        };
        out.push(content);
        rest = tail;
    }
    Ok(out)
}

/// Appends the framing of all items.
pub(crate) fn write(codec: &str, elements: &Variable, out: &mut Vec<u8>) -> Result<()> {
    let number = |n: usize, what: &str| {
        u32::try_from(n)
            .map(u32::to_le_bytes)
            .map_err(|_| CodecFault::value(codec, format!("{what} is {n}, at most 2^32 - 1 can be stored")))
    };
    out.reserve(4 + 4 * elements.len() + elements.data.len());
    out.extend(number(elements.len(), "the count of elements")?);
    for i in 0..elements.len() {
        let content = elements.get(i);
        out.extend(number(content.len(), "the length of an element")?);
        out.extend_from_slice(content);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn round_trips_and_every_cut_is_an_error(items in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..6), 0..8)) {
            let mut v = Variable::new();
            items.iter().for_each(|i| v.push(i));
            let mut out = vec![];
            write("x", &v, &mut out).unwrap();
            prop_assert_eq!(read("x", items.len(), &out).unwrap(), v.clone());
            for cut in 0..out.len() {
                prop_assert!(read("x", items.len(), &out[..cut]).is_err());
            }
            out.push(7);
            prop_assert_eq!(read("x", items.len(), &out).unwrap(), v);
            prop_assert!(read("x", items.len() + 1, &out).is_err());
        }
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..40), n in 0usize..4) {
            if let Ok(v) = read("x", n, &bytes) {
                prop_assert_eq!(v.len(), n);
            }
        }
    }

    #[test]
    fn a_count_that_is_a_lie_allocates_nothing() {
        let e = read("x", u32::MAX as usize, &[255, 255, 255, 255, 0, 0, 0, 0]).unwrap_err();
        assert!(e.what.contains("too few"), "{e}");
    }
}
