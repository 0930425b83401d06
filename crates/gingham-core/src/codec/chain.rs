//! A list of codecs as a chain: its order, and whether it fits an element type and a chunk shape.

use super::{Codec, CodecError, CodecKind, Shaped, Sharding};
use crate::Shape;
use crate::dtype::{DataType, TypeStr};
use crate::extension::Fault;

/// A chain whose order was checked: array→array codecs, exactly one array→bytes codec, bytes→bytes codecs.
/// Ignorable unknown codecs are dropped.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub struct Chain {
    pub array_to_array: Vec<Codec>,
    pub array_to_bytes: Codec,
    pub bytes_to_bytes: Vec<Codec>,
}

impl Chain {
    /// Sorts a list of codecs into a chain. The error of an unknown codec names it.
    ///
    /// ```
    /// use gingham_core::codec::{Chain, chain_from_v3};
    /// let codecs = chain_from_v3(&serde_json::json!([{"name": "bytes"}, {"name": "crc32c"}])).unwrap();
    /// assert_eq!(Chain::new(&codecs).unwrap().bytes_to_bytes.len(), 1);
    /// ```
    pub fn new(codecs: &[Codec]) -> Result<Chain, CodecError> {
        if let Some((what, pointer)) = unknown_codec(codecs) {
            return Err(CodecError { what, pointer, hint: None });
        }
        check_order(codecs)?;
        let of_kind = |kind| codecs.iter().filter(move |codec| codec.kind() == Some(kind)).cloned();
        let array_to_bytes = of_kind(CodecKind::ArrayToBytes).next().ok_or_else(no_array_to_bytes)?;
        Ok(Chain {
            array_to_array: of_kind(CodecKind::ArrayToArray).collect(),
            array_to_bytes,
            bytes_to_bytes: of_kind(CodecKind::BytesToBytes).collect(),
        })
    }

    /// Checks the chain against an element type and every chunk shape in `shapes` (the distinct stored shapes of a grid, or
    /// for huge grids one of each combination of edge lengths): codec against type, endian present, transpose a permutation,
    /// sharding divides, index codecs of fixed size, reshape products.
    pub fn check(&self, data_type: &DataType, shape: &[u64]) -> Result<(), CodecError> {
        check_codecs(self.codecs(), data_type, shape)
    }

    /// All codecs in the order of encoding.
    pub fn codecs(&self) -> impl Iterator<Item = &Codec> {
        self.array_to_array.iter().chain(std::iter::once(&self.array_to_bytes)).chain(&self.bytes_to_bytes)
    }
}

fn no_array_to_bytes() -> CodecError {
    Fault::new("", "the codecs have none that turns an array into bytes").hint("add the codec \"bytes\"").into()
}

/// Checks the order of a list, as far as its codecs are known.
pub(crate) fn check_order(codecs: &[Codec]) -> Result<(), CodecError> {
    let mut last: Option<(CodecKind, &str)> = None;
    for (i, codec) in codecs.iter().enumerate() {
        let Some(kind) = codec.kind() else { continue };
        if let Some((before, name)) = last
            && (kind < before || (kind == before && kind == CodecKind::ArrayToBytes))
        {
            let what = if kind == before {
                format!("\"{}\" and \"{name}\" both turn an array into bytes; a chain has one such codec", codec.name())
            } else {
                format!(
                    "\"{}\" ({kind}) stands behind \"{name}\" ({before}); the order is array to array, array to bytes, bytes to bytes",
                    codec.name()
                )
            };
            return Err(Fault::new(format!("/{i}"), what).into());
        }
        last = Some((kind, codec.name()));
    }
    let all_known = codecs.iter().all(|c| !matches!(c, Codec::Unknown { ignorable: false, .. }));
    let complete = codecs.iter().any(|c| c.kind() == Some(CodecKind::ArrayToBytes));
    if all_known && !complete { Err(no_array_to_bytes()) } else { Ok(()) }
}

/// The first codec, or data type in a codec, that this build does not know and may not ignore: a sentence and where it is.
pub(crate) fn unknown_codec(codecs: &[Codec]) -> Option<(String, String)> {
    codecs.iter().enumerate().find_map(|(i, codec)| {
        let (what, pointer) = match codec {
            Codec::Unknown { name, ignorable: false, .. } => (format!("the codec \"{name}\" is not known"), String::new()),
            Codec::Sharding(sharding) => {
                let Sharding { codecs, index_codecs, .. } = &**sharding;
                let inner =
                    |key: &str, codecs| unknown_codec(codecs).map(|(what, pointer)| (what, format!("/configuration/{key}{pointer}")));
                inner("codecs", codecs).or_else(|| inner("index_codecs", index_codecs))?
            }
            _ => unknown_type(codec)?,
        };
        Some((what, format!("/{i}{pointer}")))
    })
}

fn unknown_type(codec: &Codec) -> Option<(String, String)> {
    let one = |key: &str, data_type: &DataType| match data_type {
        // Objects are what filters such as categorize turn into something.
        DataType::Unknown { name, .. } if name != "object" => {
            Some((format!("the data type \"{name}\" of codec \"{}\" is not known", codec.name()), format!("/configuration/{key}")))
        }
        _ => None,
    };
    let two = |keys: [&str; 2], types: [&TypeStr; 2]| one(keys[0], &types[0].data_type).or_else(|| one(keys[1], &types[1].data_type));
    match codec {
        Codec::CastValue(cast) => one("data_type", &cast.data_type),
        Codec::Delta { dtype, astype } | Codec::FixedScaleOffset { dtype, astype, .. } => two(["dtype", "astype"], [dtype, astype]),
        Codec::Quantize { dtype, astype, .. } | Codec::Categorize { dtype, astype, .. } => two(["dtype", "astype"], [dtype, astype]),
        Codec::AsType { encode_dtype, decode_dtype } => two(["encode_dtype", "decode_dtype"], [encode_dtype, decode_dtype]),
        Codec::VlenArray { dtype } => one("dtype", &dtype.data_type),
        _ => None,
    }
}

/// Checks codecs of right order against an element type and a chunk shape; what stands behind an unknown codec is not looked at.
pub(crate) fn check_codecs<'a>(codecs: impl Iterator<Item = &'a Codec>, data_type: &DataType, shape: &[u64]) -> Result<(), CodecError> {
    let mut input = Shaped { shape: shape.into(), data_type: data_type.clone() };
    for (i, codec) in codecs.enumerate() {
        let at = |error: CodecError| error.below(&format!("/{i}"));
        input.byte_count().map_err(|what| Fault::new(format!("/{i}"), what))?;
        match codec.kind() {
            Some(CodecKind::ArrayToArray) => input = codec.encoded(&input).map_err(at)?,
            Some(CodecKind::ArrayToBytes) => return codec.check_input(&input).map_err(at),
            Some(CodecKind::BytesToBytes) => return Ok(()),
            None if matches!(codec, Codec::Unknown { ignorable: true, .. }) => {}
            None => return Ok(()),
        }
    }
    Ok(())
}

/// Checks that a chain of right order can be written: it may be that every chunk is refused on encode though all that is stored
/// can be read. `shuffle` takes whole elements only, and behind a compressor nothing says that there are any.
pub(crate) fn check_written(codecs: &[Codec], data_type: &DataType, shape: &[u64]) -> Result<(), CodecError> {
    let mut input = Shaped { shape: shape.into(), data_type: data_type.clone() };
    let mut length = None;
    for (i, codec) in codecs.iter().enumerate() {
        let at = |error: CodecError| error.below(&format!("/{i}"));
        match codec {
            Codec::Sharding(sharding) => {
                let inner = check_written(&sharding.codecs, &input.data_type, &sharding.chunk_shape);
                inner.map_err(|e| at(e.below("/configuration/codecs")))?;
            }
            Codec::Shuffle { elementsize } if *elementsize > 1 => {
                let size = *elementsize as u64;
                let what = match length {
                    Some(bytes) if bytes % size == 0 => continue,
                    Some(bytes) => format!("the {bytes} bytes of a chunk that it is given are no multiple of them"),
                    None => "what it is given is compressed to any number of bytes".into(),
                };
                let what = format!("\"{}\" moves elements of {size} bytes, but {what}", codec.name());
                let hint = match length {
                    Some(_) => "give it a size that divides the bytes of every chunk",
                    None => "put it before what compresses, with the size of an element",
                };
                return Err(at(Fault::new("", what).hint(hint).into()));
            }
            _ => match codec.kind() {
                Some(CodecKind::ArrayToArray) => input = codec.encoded(&input).map_err(at)?,
                Some(CodecKind::ArrayToBytes) => length = codec.encoded_size_of(&input),
                Some(CodecKind::BytesToBytes) => length = length.and_then(|n| codec.encoded_len(n)),
                None => return Ok(()),
            },
        }
    }
    Ok(())
}

impl Sharding {
    /// Inner chunks on each axis of a shard of this shape, or why they do not divide it.
    pub fn chunks_per_shard(&self, shard: &[u64]) -> Result<Shape, CodecError> {
        if shard.len() != self.chunk_shape.len() {
            let what =
                format!("the inner chunks of \"sharding_indexed\" have {} axes, but its shard has {}", self.chunk_shape.len(), shard.len());
            return Err(Fault::new("/configuration/chunk_shape", what).into());
        }
        let divide = |(axis, (&shard, &chunk)): (usize, (&u64, &u64))| match shard.checked_rem(chunk) {
            Some(0) => Ok(shard / chunk),
            _ => {
                let what = format!("the inner chunk length {chunk} of axis {axis} does not divide the shard length {shard}");
                let hint = format!("choose a divisor of {shard}, or shards of a multiple of {chunk}");
                Err(Fault::new(format!("/configuration/chunk_shape/{axis}"), what).hint(hint).into())
            }
        };
        shard.iter().zip(&self.chunk_shape).enumerate().map(divide).collect()
    }

    /// The bytes of a shard's index, or why its codecs do not give a fixed number.
    pub fn index_len(&self, shard: &[u64]) -> Result<u64, CodecError> {
        let shape: Shape = self.chunks_per_shard(shard)?.into_iter().chain([2]).collect();
        check_order(&self.index_codecs).map_err(|error| error.below("/configuration/index_codecs"))?;
        let mut input = Shaped { shape, data_type: DataType::UInt64 };
        input.byte_count().map_err(|what| Fault::new("/configuration/chunk_shape", format!("the shard's index is too large: {what}")))?;
        let mut len = 0;
        for (i, codec) in self.index_codecs.iter().enumerate() {
            let at = |error: CodecError| error.below(&format!("/configuration/index_codecs/{i}"));
            let fixed = match codec.kind() {
                Some(CodecKind::ArrayToArray) => {
                    input = codec.encoded(&input).map_err(at)?;
                    Some(0)
                }
                Some(CodecKind::ArrayToBytes) => {
                    codec.check_input(&input).map_err(at)?;
                    codec.encoded_size_of(&input)
                }
                Some(CodecKind::BytesToBytes) => codec.encoded_len(len),
                None if matches!(codec, Codec::Unknown { ignorable: true, .. }) => Some(len),
                None => return Ok(len),
            };
            len = fixed.ok_or_else(|| {
                let what = format!("the index of a shard must have a fixed size, which \"{}\" in index_codecs does not give", codec.name());
                CodecError::from(Fault::new("", what).hint("leave compressors out of index_codecs"))
                    .below(&format!("/configuration/index_codecs/{i}"))
            })?;
        }
        Ok(len)
    }

    /// Checks a shard's codecs against what enters it.
    pub(super) fn check(&self, input: &Shaped) -> Result<(), CodecError> {
        self.index_len(&input.shape)?;
        let inner = |error: CodecError| error.below("/configuration/codecs");
        check_order(&self.codecs).map_err(inner)?;
        check_codecs(self.codecs.iter(), &input.data_type, &self.chunk_shape).map_err(inner)
    }
}
