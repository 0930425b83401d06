//! Chunks stored under the other separator than the document says: `0/1` where `0.1` is meant, or the other way round.
//! Old writers of nested v2 stores left `dimension_separator` out, and a reader that follows the document finds no chunk.

use gingham::core::key::KeyEncoding;
use gingham::{Array, Error, Format, Kind};

/// A stored object as [`Array::stored`] gives it: key relative to the array, grid index where it has one, size.
pub(crate) type Stored = (String, Option<Vec<u64>>, u64);

/// Keys that only the other separator explains.
pub(crate) struct Misnamed {
    /// Stored objects that the document's separator finds.
    pub named: usize,
    /// Stored objects that the other one would find.
    pub misnamed: usize,
    /// One of these keys.
    pub example: String,
    documented: char,
    other: char,
}

impl Misnamed {
    /// What was found.
    pub(crate) fn sentence(&self) -> String {
        let Misnamed { named, misnamed, example, documented, other } = self;
        let found = if *named == 0 { "no chunk is found".into() } else { format!("{named} chunks are found") };
        format!(
            "{misnamed} stored chunks are named with \"{other}\" (such as {example}), but the document says \"{documented}\", by which {found}"
        )
    }
    /// The error for jobs that would otherwise take the array for empty.
    pub(crate) fn refusal(&self) -> Error {
        Error::new(Kind::Metadata, self.sentence())
            .with_hint(format!("open it with the option separator \"{0}\" (--separator {0}) if the chunks are its data", self.other))
    }
}

/// The encoding by which an array's chunks are looked for: the document's, unless the options overrule v2's separator.
pub(crate) fn effective(array: &Array) -> KeyEncoding {
    match (array.meta().format(), array.options().separator) {
        (Format::V2, Some(separator)) => KeyEncoding::V2 { separator },
        _ => array.meta().key_encoding().clone(),
    }
}

/// The same encoding with the other separator, and both separators.
pub(crate) fn swapped(encoding: &KeyEncoding) -> Option<(KeyEncoding, char, char)> {
    let other = |c: &char| if *c == '/' { '.' } else { '/' };
    match encoding {
        KeyEncoding::Default { separator } => Some((KeyEncoding::Default { separator: other(separator) }, *separator, other(separator))),
        KeyEncoding::V2 { separator } => Some((KeyEncoding::V2 { separator: other(separator) }, *separator, other(separator))),
        _ => None,
    }
}

/// Looks for keys of the other separator among an array's stored objects.
pub(crate) fn misnamed(array: &Array, stored: &[Stored]) -> Option<Misnamed> {
    if array.options().separator.is_some() {
        return None;
    }
    let (encoding, documented, other) = swapped(array.meta().key_encoding())?;
    let ndim = array.shape().len();
    let of_other = |key: &str| encoding.decode(key, ndim).is_some_and(|index| array.grid().contains(&index));
    let mut strays = stored.iter().filter(|(key, index, _)| index.is_none() && of_other(key)).map(|(key, ..)| key);
    let example = strays.next()?.clone();
    let named = stored.iter().filter(|(_, index, _)| index.is_some()).count();
    Some(Misnamed { named, misnamed: 1 + strays.count(), example, documented, other })
}
