//! Elements checked against the representation that they claim to be.
//!
//! Stands in front of every codec's own code, which may then index without a doubt.

use gingham_core::dtype::{Elements, Variable};

use crate::{CodecFault, Rep, Result};

/// Which way elements pass through a codec: decides who is to blame for elements that do not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// From the user to the store.
    Encode,
    /// From the store to the user.
    Decode,
}

impl Way {
    /// The fault of this direction.
    pub(crate) fn fault(self, codec: &str, what: impl Into<String>) -> CodecFault {
        match self {
            Way::Encode => CodecFault::value(codec, what),
            Way::Decode => CodecFault::corrupt(codec, what),
        }
    }
}

/// The bytes of fixed-size elements, exactly as many as `rep` has.
pub(crate) fn fixed(codec: &str, way: Way, rep: &Rep, elements: Elements) -> Result<Vec<u8>> {
    match elements {
        Elements::Fixed(bytes) => {
            check_len(codec, way, rep, bytes.len())?;
            Ok(bytes)
        }
        Elements::Variable(_) => Err(way.fault(codec, format!("variable-length elements where {} was expected", rep.data_type))),
    }
}

/// As [`fixed`], borrowed.
pub(crate) fn fixed_ref<'a>(codec: &str, way: Way, rep: &Rep, elements: &'a Elements) -> Result<&'a [u8]> {
    match elements {
        Elements::Fixed(bytes) => {
            check_len(codec, way, rep, bytes.len())?;
            Ok(bytes)
        }
        Elements::Variable(_) => Err(way.fault(codec, format!("variable-length elements where {} was expected", rep.data_type))),
    }
}

/// Variable-length elements, exactly as many as `rep` has.
pub(crate) fn variable<'a>(codec: &str, way: Way, rep: &Rep, elements: &'a Elements) -> Result<&'a Variable> {
    match elements {
        Elements::Variable(v) if v.len() == rep.count() => Ok(v),
        Elements::Variable(v) => Err(way.fault(codec, format!("got {} elements, expected {}", v.len(), rep.count()))),
        Elements::Fixed(_) => Err(way.fault(codec, format!("fixed-size elements where {} was expected", rep.data_type))),
    }
}

/// That `got` bytes are all elements of `rep`.
pub(crate) fn check_len(codec: &str, way: Way, rep: &Rep, got: usize) -> Result<()> {
    let size = size_of(codec, rep)?;
    let want = rep.count().checked_mul(size);
    if want == Some(got) {
        return Ok(());
    }
    let want = want.map_or("more than memory holds".to_string(), |w| w.to_string());
    Err(way.fault(codec, format!("got {got} bytes, expected {want} ({} elements of {}, {size} bytes each)", rep.count(), rep.data_type)))
}

/// Bytes of one element of a fixed-size type; anything else is not supported by `codec`.
pub(crate) fn size_of(codec: &str, rep: &Rep) -> Result<usize> {
    rep.data_type.size().ok_or_else(|| CodecFault::unsupported(codec, format!("takes fixed-size elements, not {}", rep.data_type)))
}
