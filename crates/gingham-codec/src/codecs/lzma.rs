//! `numcodecs.lzma`, v2 `lzma` (format.md 2.5): what Python's `lzma` module writes, as .xz, .lzma or a raw chain of filters.

use gingham_core::codec as spec;
use gingham_core::json::Value;
use liblzma::stream::{Action, CONCATENATED, Check, Error, Filters, LzmaOptions, MatchFinder, Mode, Status, Stream};

use super::growth::{self, Step};
use crate::{BytesToBytes, CodecFault, Context, Result, Room};

const NAME: &str = "numcodecs.lzma";

/// The most memory that a stored stream may ask for. The largest preset asks for 65 MiB.
const MEMORY: u64 = 256 << 20;
/// Python's default preset.
const PRESET: u32 = 6;
/// The smallest dictionary of the library.
const SMALLEST_DICT: u32 = 4096;

/// The container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    /// Either of the next two; for decoding only.
    Auto,
    Xz,
    Alone,
    Raw,
}

/// Parameters of an LZMA1 or LZMA2 filter; what is not given is the preset's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Options {
    preset: Option<u32>,
    dict_size: Option<u32>,
    lc: Option<u32>,
    lp: Option<u32>,
    pb: Option<u32>,
    mode: Option<u32>,
    nice_len: Option<u32>,
    mf: Option<u32>,
    depth: Option<u32>,
}

/// One filter of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Filter {
    Lzma1(Options),
    Lzma2(Options),
    /// The distance in bytes, less one.
    Delta(u8),
    /// The filter's number and the offset at which the code starts.
    Branch(u64, u32),
}

/// The codec.
#[derive(Debug, Clone)]
pub struct Lzma {
    format: Format,
    check: Check,
    preset: u32,
    filters: Option<Vec<Filter>>,
}

fn unsupported(what: impl Into<String>) -> CodecFault {
    CodecFault::unsupported(NAME, what)
}

impl Lzma {
    /// Reads the configuration; refuses formats, checks and filters that do not exist.
    pub fn new(spec: &spec::Lzma) -> Result<Self> {
        let format = match spec.format {
            0 => Format::Auto,
            1 => Format::Xz,
            2 => Format::Alone,
            3 => Format::Raw,
            n => return Err(unsupported(format!("format {n} is none of 1 (xz), 2 (lzma) and 3 (raw)"))),
        };
        let check = match spec.check {
            -1 | 4 => Check::Crc64,
            0 => Check::None,
            1 => Check::Crc32,
            10 => Check::Sha256,
            n => return Err(unsupported(format!("check {n} is none of -1, 0 (none), 1 (crc32), 4 (crc64) and 10 (sha256)"))),
        };
        let filters = match &spec.filters {
            None | Some(Value::Null) => None,
            Some(Value::Array(list)) => Some(list.iter().map(filter).collect::<Result<Vec<_>>>()?),
            Some(other) => return Err(unsupported(format!("filters are a list of objects, not {other}"))),
        };
        if format == Format::Raw && filters.is_none() {
            return Err(unsupported("format 3 (raw) needs filters"));
        }
        Ok(Lzma { format, check, preset: spec.preset.unwrap_or(PRESET), filters })
    }

    fn encoder(&self) -> Result<Stream> {
        let stream = match (self.format, &self.filters) {
            (Format::Auto, _) => return Err(unsupported("format 0 (any) is for decoding only; write 1 (xz)")),
            (Format::Xz, None) => Stream::new_easy_encoder(self.preset, self.check),
            (Format::Xz, Some(list)) => Stream::new_stream_encoder(&chain(list, None)?, self.check),
            (Format::Raw, list) => Stream::new_raw_encoder(&chain(list.as_deref().unwrap_or_default(), None)?),
            (Format::Alone, None) => Stream::new_lzma_encoder(&Options { preset: Some(self.preset), ..Options::default() }.build(None)?),
            (Format::Alone, Some(list)) => match &list[..] {
                [Filter::Lzma1(options)] => Stream::new_lzma_encoder(&options.build(None)?),
                _ => return Err(unsupported("format 2 (lzma) takes the one filter LZMA1")),
            },
        };
        stream.map_err(|e| unsupported(format!("the parameters do not go together: {e}")))
    }

    /// A decoder for a result of at most `limit` bytes.
    fn decoder(&self, limit: usize) -> Result<Stream> {
        let stream = match self.format {
            Format::Auto => Stream::new_auto_decoder(MEMORY, CONCATENATED),
            Format::Xz => Stream::new_stream_decoder(MEMORY, CONCATENATED),
            Format::Alone => Stream::new_lzma_decoder(MEMORY),
            Format::Raw => {
                // No distance is longer than the result, so no dictionary need be.
                let dict = u32::try_from(limit).unwrap_or(u32::MAX).clamp(SMALLEST_DICT, MEMORY as u32);
                Stream::new_raw_decoder(&chain(self.filters.as_deref().unwrap_or_default(), Some(dict))?)
            }
        };
        stream.map_err(|e| unsupported(format!("the parameters do not go together: {e}")))
    }
}

/// Reads one filter as Python's `lzma` module takes it.
fn filter(value: &Value) -> Result<Filter> {
    let number = |name: &str| -> Result<Option<u64>> {
        match value.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(v) => v.as_u64().map(Some).ok_or_else(|| unsupported(format!("{name} of a filter is a number, not {v}"))),
        }
    };
    let small = |name: &str| -> Result<Option<u32>> {
        let beyond = |n: u64| unsupported(format!("{name} {n} of a filter does not fit 32 bits"));
        number(name)?.map(|n| u32::try_from(n).map_err(|_| beyond(n))).transpose()
    };
    let options = || -> Result<Options> {
        Ok(Options {
            preset: small("preset")?,
            dict_size: small("dict_size")?,
            lc: small("lc")?,
            lp: small("lp")?,
            pb: small("pb")?,
            mode: small("mode")?,
            nice_len: small("nice_len")?,
            mf: small("mf")?,
            depth: small("depth")?,
        })
    };
    match number("id")?.ok_or_else(|| unsupported(format!("a filter without id: {value}")))? {
        0x4000_0000_0000_0001 => Ok(Filter::Lzma1(options()?)),
        0x21 => Ok(Filter::Lzma2(options()?)),
        0x03 => match small("dist")?.unwrap_or(1) {
            dist @ 1..=256 => Ok(Filter::Delta((dist - 1) as u8)),
            dist => Err(unsupported(format!("the delta filter's distance {dist} is not 1 to 256"))),
        },
        id @ 0x04..=0x09 => Ok(Filter::Branch(id, small("start_offset")?.unwrap_or(0))),
        id => Err(unsupported(format!("there is no filter {id}"))),
    }
}

impl Options {
    /// For the library, with a dictionary of at most `dict` bytes where it is given.
    fn build(&self, dict: Option<u32>) -> Result<LzmaOptions> {
        let preset = self.preset.unwrap_or(PRESET);
        let mut o = LzmaOptions::new_preset(preset).map_err(|_| unsupported(format!("there is no preset {preset}")))?;
        if let Some(size) = self.dict_size {
            o.dict_size(size);
        }
        if let Some(dict) = dict {
            o.dict_size(dict);
        }
        if let Some(lc) = self.lc {
            o.literal_context_bits(lc);
        }
        if let Some(lp) = self.lp {
            o.literal_position_bits(lp);
        }
        if let Some(pb) = self.pb {
            o.position_bits(pb);
        }
        if let Some(n) = self.nice_len {
            o.nice_len(n);
        }
        if let Some(d) = self.depth {
            o.depth(d);
        }
        match self.mode {
            None => {}
            Some(1) => drop(o.mode(Mode::Fast)),
            Some(2) => drop(o.mode(Mode::Normal)),
            Some(n) => return Err(unsupported(format!("mode {n} is neither 1 (fast) nor 2 (normal)"))),
        }
        match self.mf {
            None => {}
            Some(0x03) => drop(o.match_finder(MatchFinder::HashChain3)),
            Some(0x04) => drop(o.match_finder(MatchFinder::HashChain4)),
            Some(0x12) => drop(o.match_finder(MatchFinder::BinaryTree2)),
            Some(0x13) => drop(o.match_finder(MatchFinder::BinaryTree3)),
            Some(0x14) => drop(o.match_finder(MatchFinder::BinaryTree4)),
            Some(n) => return Err(unsupported(format!("there is no match finder {n}"))),
        }
        Ok(o)
    }
}

/// The filters for the library.
fn chain(list: &[Filter], dict: Option<u32>) -> Result<Filters> {
    // The library's own limit is four; more would be read past its array.
    if list.is_empty() || list.len() > 4 {
        return Err(unsupported(format!("a chain of {} filters; there are one to four", list.len())));
    }
    let mut filters = Filters::new();
    for filter in list {
        match filter {
            Filter::Lzma1(o) => drop(filters.lzma1(&o.build(dict)?)),
            Filter::Lzma2(o) => drop(filters.lzma2(&o.build(dict)?)),
            Filter::Delta(dist) => drop(filters.delta_properties(&[*dist]).map_err(|e| unsupported(e.to_string()))?),
            Filter::Branch(id, start) => branch(&mut filters, *id, &start.to_le_bytes()).map_err(|e| unsupported(e.to_string()))?,
        }
    }
    Ok(filters)
}

/// A filter for machine code, by Python's number.
fn branch(filters: &mut Filters, id: u64, start: &[u8]) -> std::result::Result<(), Error> {
    match id {
        0x04 => filters.x86_properties(start),
        0x05 => filters.powerpc_properties(start),
        0x06 => filters.ia64_properties(start),
        0x07 => filters.arm_properties(start),
        0x08 => filters.arm_thumb_properties(start),
        _ => filters.sparc_properties(start),
    }
    .map(|_| ())
}

/// A stream that is being decoded.
struct Reader<'a> {
    all: usize,
    rest: &'a [u8],
    stream: Stream,
}

impl<'a> Reader<'a> {
    fn new(codec: &Lzma, bytes: &'a [u8], limit: usize) -> Result<Self> {
        Ok(Reader { all: bytes.len(), rest: bytes, stream: codec.decoder(limit)? })
    }

    fn fault(&self, what: &str) -> CodecFault {
        CodecFault::corrupt(NAME, format!("{what} at byte {} of {}", self.all - self.rest.len(), self.all))
    }

    /// Decodes on, until at least a byte is written or the stream has ended.
    fn step(&mut self, out: &mut [u8]) -> Result<Step> {
        loop {
            let (read, wrote) = (self.stream.total_in(), self.stream.total_out());
            let status = self.stream.process(self.rest, out, Action::Finish).map_err(|e| match e {
                Error::MemLimit => unsupported(format!("the stream asks for more than {} MiB of memory", MEMORY >> 20)),
                Error::Mem => unsupported("cannot allocate a decompressor"),
                Error::Format => self.fault("no such stream"),
                other => self.fault(&format!("broken data ({other})")),
            })?;
            self.rest = &self.rest[(self.stream.total_in() - read) as usize..];
            let written = (self.stream.total_out() - wrote) as usize;
            match status {
                Status::StreamEnd if growth::only_zeros(self.rest) => return Ok(Step { written, done: true }),
                Status::StreamEnd => return Err(self.fault("the stream is followed by bytes that are not zero")),
                // The library's word for a call that could do nothing: there is room, so it wants input.
                Status::MemNeeded => return Err(self.fault("the stream is cut short")),
                _ if written > 0 => return Ok(Step { written, done: false }),
                _ => {}
            }
        }
    }
}

impl BytesToBytes for Lzma {
    fn name(&self) -> &'static str {
        NAME
    }

    fn encode(&self, bytes: &[u8], out: &mut Vec<u8>, _: &mut Context) -> Result<()> {
        let mut stream = self.encoder()?;
        growth::reserve(NAME, out, bytes.len() / 2 + 256)?;
        let mut rest = bytes;
        loop {
            if out.len() == out.capacity() {
                growth::reserve(NAME, out, out.len() * 2)?;
            }
            let read = stream.total_in();
            let status = stream
                .process_vec(rest, out, Action::Finish)
                .map_err(|e| unsupported(format!("{} bytes do not compress: {e}", bytes.len())))?;
            rest = &rest[(stream.total_in() - read) as usize..];
            if status == Status::StreamEnd {
                return Ok(());
            }
        }
    }

    fn decode(&self, bytes: &[u8], room: Room, out: &mut Vec<u8>, _: &mut Context) -> Result<()> {
        let mut reader = Reader::new(self, bytes, room.limit())?;
        growth::grow(NAME, room, out, bytes.len().saturating_mul(4), |piece| reader.step(piece))
    }

    fn decode_into(&self, bytes: &[u8], out: &mut [u8], _: &mut Context) -> Result<()> {
        let mut reader = Reader::new(self, bytes, out.len())?;
        growth::fill(NAME, out, |piece| reader.step(piece))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    fn codec(format: u8, filters: Option<Value>) -> Result<Lzma> {
        Lzma::new(&spec::Lzma { format, check: -1, preset: None, filters })
    }

    #[test]
    fn what_does_not_exist_is_refused_at_once() {
        for (format, filters) in [
            (4, None),
            (3, None),
            (3, Some(json!({"id": 33}))),
            (3, Some(json!([{"preset": 1}]))),
            (3, Some(json!([{"id": 99}]))),
            (3, Some(json!([{"id": "33"}]))),
            (3, Some(json!([{"id": 3, "dist": 0}]))),
            (3, Some(json!([{"id": 3, "dist": 257}]))),
            (3, Some(json!([{"id": 33, "dict_size": 1u64 << 40}]))),
        ] {
            assert!(codec(format, filters.clone()).is_err(), "{format} {filters:?}");
        }
        assert!(Lzma::new(&spec::Lzma { format: 1, check: 7, preset: None, filters: None }).is_err());
    }

    #[test]
    fn parameters_that_do_not_go_together_are_errors() {
        let mut context = Context::default();
        for (format, filters) in [
            (2, json!([{"id": 33}])),
            (3, json!([])),
            (3, json!([{"id": 3}])),
            (3, json!([{"id": 33, "preset": 77}])),
            (3, json!([{"id": 33, "lc": 4, "lp": 4}])),
            (3, json!([{"id": 33, "mode": 3}])),
            (3, json!([{"id": 33, "mf": 1}])),
            (3, json!([{"id": 3}, {"id": 3}, {"id": 3}, {"id": 3}, {"id": 33}])),
        ] {
            let codec = codec(format, Some(filters.clone())).unwrap();
            assert!(codec.encode(b"abc", &mut Vec::new(), &mut context).is_err(), "{filters}");
        }
        assert!(codec(0, None).unwrap().encode(b"abc", &mut Vec::new(), &mut context).is_err());
    }

    #[test]
    fn streams_in_a_row_are_read_and_the_container_may_be_found_out() {
        let mut context = Context::default();
        let mut stored = Vec::new();
        for part in [&b"one"[..], b"two"] {
            let mut stream = Vec::new();
            codec(1, None).unwrap().encode(part, &mut stream, &mut context).unwrap();
            stored.extend(stream);
        }
        for format in [0, 1] {
            let mut out = [0; 6];
            codec(format, None).unwrap().decode_into(&stored, &mut out, &mut context).unwrap();
            assert_eq!(&out, b"onetwo");
        }
        let mut alone = Vec::new();
        codec(2, None).unwrap().encode(b"three", &mut alone, &mut context).unwrap();
        let mut out = [0; 5];
        codec(0, None).unwrap().decode_into(&alone, &mut out, &mut context).unwrap();
        assert_eq!(&out, b"three");
    }

    #[test]
    fn filters_for_machine_code_and_distances() {
        let mut context = Context::default();
        let plain: Vec<u8> = (0..5000u32).flat_map(|i| [0xe8, (i % 7) as u8, 0, 0]).collect();
        for id in 4..=9 {
            let chain = json!([{"id": id, "start_offset": 16}, {"id": 3, "dist": 4}, {"id": 33, "preset": 1}]);
            for format in [1, 3] {
                let codec = codec(format, Some(chain.clone())).unwrap();
                let mut stored = Vec::new();
                codec.encode(&plain, &mut stored, &mut context).unwrap();
                let mut out = vec![0; plain.len()];
                codec.decode_into(&stored, &mut out, &mut context).unwrap();
                assert!(out == plain, "{id}");
            }
        }
    }

    #[test]
    fn a_stream_that_asks_for_gibibytes_is_refused() {
        // A .lzma header: properties, dictionary of 3 GiB, unknown length.
        let mut stored = vec![0x5d];
        stored.extend((3u32 << 30).to_le_bytes());
        stored.extend([0xff; 8]);
        stored.extend([0; 20]);
        let fault = codec(2, None).unwrap().decode_into(&stored, &mut [0; 9], &mut Context::default()).unwrap_err();
        assert!(fault.what.contains("256 MiB"), "{fault}");
    }
}
