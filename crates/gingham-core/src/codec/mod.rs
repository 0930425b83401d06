//! Codec *specifications*: what a chain is made of and what each codec does to shape and type.
//!
//! One list for both formats: a v2 array's order, filters, compressor and byte order are read as the v3 chain that they
//! are equal to (format.md 6.3), so that the engine knows one kind of chain only. How bytes are made is `gingham-codec`'s.
//!
//! ```text
//!   elements ─ array→array* ─ array→bytes ─ bytes→bytes* ─ object
//! ```

mod chain;
mod effect;
mod numcodecs;
mod parse;
mod print;
#[cfg(test)]
mod tests;

pub use chain::Chain;
pub(crate) use chain::{check_codecs, check_order, check_written, unknown_codec};
pub use effect::Shaped;
pub use parse::{Context, chain_from_v3, chain_from_v3_in, codec_from_v2, codec_from_v3};
pub use print::{chain_to_v3, codec_to_v2, codec_to_v3};

use crate::Shape;
use crate::dtype::{DataType, Endian, TypeStr};
use crate::extension::Fault;
use crate::json::Value;

/// Where a checksum stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Location {
    Start,
    End,
}

/// The byte order in which `bytes` stores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ByteOrder {
    /// Not written down: one-byte and opaque types.
    None,
    /// One order for all components.
    Uniform(Endian),
    /// One per leaf component of a v2 struct; v3 cannot say it.
    PerLeaf(Vec<Endian>),
}

/// Blosc's inner compressor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BloscCompressor {
    BloscLz,
    Lz4,
    Lz4Hc,
    Snappy,
    Zlib,
    Zstd,
}

/// Blosc's shuffle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BloscShuffle {
    None,
    Byte,
    Bit,
}

/// Rounding of `cast_value`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Rounding {
    NearestEven,
    TowardsZero,
    TowardsPositive,
    TowardsNegative,
    NearestAway,
}

/// What `cast_value` does with values that do not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum OutOfRange {
    Error,
    Clamp,
    Wrap,
}

/// `cast_value` (format.md 3.2). Scalars are element bytes (little-endian) of the types they belong to; they can only be
/// read once the incoming type is known, so the JSON is kept.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub struct CastValue {
    pub data_type: DataType,
    pub rounding: Rounding,
    pub out_of_range: OutOfRange,
    /// Pairs (in, out) for encoding.
    pub encode_map: Vec<(Value, Value)>,
    /// Pairs (in, out) for decoding.
    pub decode_map: Vec<(Value, Value)>,
}

/// One entry of `reshape`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReshapeDim {
    /// A length.
    Length(u64),
    /// -1: what is left.
    Infer,
    /// The product of these input dimensions.
    Product(Vec<usize>),
}

/// Padding byte of the registered `packbits`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum PackBitsPadding {
    None,
    FirstByte,
    LastByte,
}

/// zfp's compression mode.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)]
pub enum ZfpMode {
    Reversible,
    Expert { minbits: u32, maxbits: u32, maxprec: u32, minexp: i32 },
    FixedAccuracy(f64),
    FixedRate(f64),
    FixedPrecision(u32),
}

/// pcodec's configuration as numcodecs writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Pcodec {
    pub level: u8,
    pub mode_spec: String,
    pub delta_spec: String,
    pub paging_spec: String,
    pub delta_encoding_order: Option<u8>,
    pub equal_pages_up_to: u64,
}

/// lzma's configuration as numcodecs writes it (Python's `lzma` module).
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub struct Lzma {
    /** 1 XZ, 2 .lzma, 3 raw */
    pub format: u8,
    pub check: i32,
    pub preset: Option<u32>,
    pub filters: Option<Value>,
}

/// `sharding_indexed` (format.md 4).
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub struct Sharding {
    pub chunk_shape: Shape,
    pub codecs: Vec<Codec>,
    pub index_codecs: Vec<Codec>,
    pub index_location: Location,
}

/// A codec with its configuration. Names in comments are v3's / v2's.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)] // the names are the registered ones, the parameters those of format.md 2.5 and 3
pub enum Codec {
    // array -> array
    Transpose {
        order: Vec<usize>,
    },
    BitRound {
        keepbits: u32,
        numcodecs: bool,
    },
    CastValue(Box<CastValue>),
    ScaleOffset {
        offset: Option<Value>,
        scale: Option<Value>,
    },
    Reshape {
        shape: Vec<ReshapeDim>,
    },
    /// `gingham.stored_shape` (files.md 7.3)
    StoredShape {
        shape: Shape,
    },
    Delta {
        dtype: TypeStr,
        astype: TypeStr,
    },
    FixedScaleOffset {
        offset: f64,
        scale: f64,
        dtype: TypeStr,
        astype: TypeStr,
    },
    Quantize {
        digits: i32,
        dtype: TypeStr,
        astype: TypeStr,
    },
    AsType {
        encode_dtype: TypeStr,
        decode_dtype: TypeStr,
    },
    /// numcodecs' packbits: bool -> 1-D uint8, most significant bit first.
    NumcodecsPackBits,
    Categorize {
        labels: Vec<String>,
        dtype: TypeStr,
        astype: TypeStr,
    },
    /// `zarrs.squeeze`
    Squeeze,
    // array -> bytes
    Bytes(ByteOrder),
    PackBits {
        padding: PackBitsPadding,
        first_bit: Option<u32>,
        last_bit: Option<u32>,
    },
    VlenUtf8,
    VlenBytes,
    VlenArray {
        dtype: TypeStr,
    },
    /// numcodecs' json2; the configuration is kept for writing.
    Json2(Value),
    MsgPack2(Value),
    Pcodec(Pcodec),
    /// The registered `zfp`: a stream without header.
    Zfp(ZfpMode),
    /// numcodecs' zfpy: a stream with header.
    Zfpy(ZfpMode),
    Sharding(Box<Sharding>),
    // bytes -> bytes
    Gzip {
        level: i32,
    },
    Zlib {
        level: i32,
    },
    Zstd {
        level: i32,
        checksum: bool,
    },
    Blosc {
        cname: BloscCompressor,
        clevel: u8,
        shuffle: BloscShuffle,
        typesize: usize,
        blocksize: usize,
    },
    Crc32c {
        location: Location,
    },
    Crc32 {
        location: Location,
    },
    Adler32 {
        location: Location,
    },
    Fletcher32,
    JenkinsLookup3 {
        initval: u32,
        prefix: Option<Vec<u8>>,
    },
    Lz4 {
        acceleration: i32,
    },
    Lzma(Lzma),
    Bz2 {
        level: u32,
    },
    Shuffle {
        elementsize: usize,
    },
    Base64,
    /// A codec this build does not know. `ignorable` where the document says `must_understand: false`: skipped.
    Unknown {
        name: String,
        configuration: Option<Value>,
        ignorable: bool,
    },
}

/// Which of the three kinds a codec is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum CodecKind {
    ArrayToArray,
    ArrayToBytes,
    BytesToBytes,
}

/// Why a codec or a chain is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct CodecError {
    /// A sentence that names the codec.
    pub what: String,
    /// JSON pointer below the value that was read (a codec, or the list of them), `""` for the whole.
    pub pointer: String,
    /// What to do about it, where that is known.
    pub hint: Option<String>,
}

impl CodecError {
    /// The same error seen from a value that holds this one at `pointer`.
    pub(crate) fn below(mut self, pointer: &str) -> Self {
        self.pointer.insert_str(0, pointer);
        self
    }
}

impl From<Fault> for CodecError {
    fn from(fault: Fault) -> Self {
        CodecError { what: fault.what, pointer: fault.pointer, hint: fault.hint }
    }
}

impl std::fmt::Display for CodecKind {
    /// `array to bytes`, for messages.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            CodecKind::ArrayToArray => "array to array",
            CodecKind::ArrayToBytes => "array to bytes",
            CodecKind::BytesToBytes => "bytes to bytes",
        })
    }
}

impl Codec {
    /// Its kind, or `None` for an unknown codec.
    pub fn kind(&self) -> Option<CodecKind> {
        use Codec::*;
        Some(match self {
            Transpose { .. } | BitRound { .. } | CastValue(_) | ScaleOffset { .. } | Reshape { .. } | StoredShape { .. } => {
                CodecKind::ArrayToArray
            }
            Delta { .. } | FixedScaleOffset { .. } | Quantize { .. } | AsType { .. } | NumcodecsPackBits | Categorize { .. } | Squeeze => {
                CodecKind::ArrayToArray
            }
            Bytes(_) | PackBits { .. } | VlenUtf8 | VlenBytes | VlenArray { .. } | Json2(_) | MsgPack2(_) => CodecKind::ArrayToBytes,
            Pcodec(_) | Zfp(_) | Zfpy(_) | Sharding(_) => CodecKind::ArrayToBytes,
            Gzip { .. } | Zlib { .. } | Zstd { .. } | Blosc { .. } | Lz4 { .. } | Lzma(_) | Bz2 { .. } => CodecKind::BytesToBytes,
            Crc32c { .. } | Crc32 { .. } | Adler32 { .. } | Fletcher32 | JenkinsLookup3 { .. } => CodecKind::BytesToBytes,
            Shuffle { .. } | Base64 => CodecKind::BytesToBytes,
            Unknown { .. } => return None,
        })
    }
    /// Its name as v3 writes it (`zstd`, `numcodecs.delta`, …).
    pub fn name(&self) -> &str {
        match self {
            Codec::Transpose { .. } => "transpose",
            Codec::BitRound { numcodecs: false, .. } => "bitround",
            Codec::BitRound { numcodecs: true, .. } => "numcodecs.bitround",
            Codec::CastValue(_) => "cast_value",
            Codec::ScaleOffset { .. } => "scale_offset",
            Codec::Reshape { .. } => "reshape",
            Codec::StoredShape { .. } => "gingham.stored_shape",
            Codec::Delta { .. } => "numcodecs.delta",
            Codec::FixedScaleOffset { .. } => "numcodecs.fixedscaleoffset",
            Codec::Quantize { .. } => "numcodecs.quantize",
            Codec::AsType { .. } => "numcodecs.astype",
            Codec::NumcodecsPackBits => "numcodecs.packbits",
            Codec::Categorize { .. } => "numcodecs.categorize",
            Codec::Squeeze => "zarrs.squeeze",
            Codec::Bytes(_) => "bytes",
            Codec::PackBits { .. } => "packbits",
            Codec::VlenUtf8 => "vlen-utf8",
            Codec::VlenBytes => "vlen-bytes",
            Codec::VlenArray { .. } => "numcodecs.vlen-array",
            Codec::Json2(_) => "numcodecs.json2",
            Codec::MsgPack2(_) => "numcodecs.msgpack2",
            Codec::Pcodec(_) => "numcodecs.pcodec",
            Codec::Zfp(_) => "zfp",
            Codec::Zfpy(_) => "numcodecs.zfpy",
            Codec::Sharding(_) => "sharding_indexed",
            // The registered gzip has no level -1.
            Codec::Gzip { level } if *level < 0 => "numcodecs.gzip",
            Codec::Gzip { .. } => "gzip",
            Codec::Zlib { .. } => "numcodecs.zlib",
            Codec::Zstd { .. } => "zstd",
            Codec::Blosc { .. } => "blosc",
            Codec::Crc32c { location: Location::End } => "crc32c",
            Codec::Crc32c { location: Location::Start } => "numcodecs.crc32c",
            Codec::Crc32 { .. } => "numcodecs.crc32",
            Codec::Adler32 { .. } => "numcodecs.adler32",
            Codec::Fletcher32 => "numcodecs.fletcher32",
            Codec::JenkinsLookup3 { .. } => "numcodecs.jenkins_lookup3",
            Codec::Lz4 { .. } => "numcodecs.lz4",
            Codec::Lzma(_) => "numcodecs.lzma",
            Codec::Bz2 { .. } => "numcodecs.bz2",
            Codec::Shuffle { .. } => "numcodecs.shuffle",
            Codec::Base64 => "numcodecs.base64",
            Codec::Unknown { name, .. } => name,
        }
    }
}
