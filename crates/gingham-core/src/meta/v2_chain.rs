//! A v2 array's order, filters, compressor and byte order as the v3 chain that they are equal to (format.md 6.3).
//!
//! ```text
//!   order F ── transpose *        every step keeps a note of where it stands in the document,
//!   filters ── numcodecs codecs   so that an error in the chain points into the .zarray
//!   dtype   ── bytes(byte order)
//!   compressor                    * not for json2 and msgpack2, which store objects in C order whatever the order is
//! ```

use super::model::{MetaError, Problem};
use super::v2::error;
use crate::codec::{ByteOrder, Codec, CodecError, CodecKind, codec_from_v2, unknown_codec};
use crate::dtype::{DataType, Endian, TypeStr};
use crate::json::Value;

/// The chain of a v2 array.
pub(super) struct V2Chain {
    pub codecs: Vec<Codec>,
    /// Where each codec comes from, as a JSON pointer into the `.zarray`.
    places: Vec<String>,
    /// The array's type: `|O` is replaced by what the filters say that the objects are.
    pub typestr: TypeStr,
    pub problem: Option<Problem>,
    /// What the next filter is given, while it is an array.
    current: TypeStr,
    is_bytes: bool,
    /// The memory order is F and there is more than one axis.
    is_transposed: bool,
}

impl V2Chain {
    /// Reads the chain. `typestr` is the document's `dtype`.
    pub fn read(
        typestr: TypeStr,
        is_transposed: bool,
        ndim: usize,
        filters: &[Value],
        compressor: Option<&Value>,
    ) -> Result<Self, MetaError> {
        let mut chain = V2Chain {
            codecs: Vec::new(),
            places: Vec::new(),
            current: typestr.clone(),
            typestr,
            problem: None,
            is_bytes: false,
            is_transposed,
        };
        if is_transposed && !filters.iter().chain(compressor).any(keeps_logical_order) {
            chain.push(Codec::Transpose { order: (0..ndim).rev().collect() }, "/order");
        }
        for (i, filter) in filters.iter().enumerate() {
            chain.step(filter, &format!("/filters/{i}"))?;
        }
        if let Some(compressor) = compressor {
            chain.step(compressor, "/compressor")?;
        }
        chain.end_array();
        if let Some((what, pointer)) = unknown_codec(&chain.codecs) {
            chain.has_problem(what, &chain.place(&pointer));
        }
        Ok(chain)
    }

    /// Where in the document a pointer into the list of codecs lies.
    pub fn place(&self, pointer: &str) -> String {
        let mut steps = pointer.splitn(3, '/').skip(1);
        let place = steps.next().and_then(|i| i.parse::<usize>().ok()).and_then(|i| self.places.get(i));
        let Some(place) = place else { return String::new() };
        // v2 keeps the parameters beside the id; those of derived codecs have no place of their own.
        match steps.next().and_then(|rest| rest.strip_prefix("configuration")) {
            Some(rest) if place.starts_with("/filters") || place == "/compressor" => format!("{place}{rest}"),
            _ => place.clone(),
        }
    }

    fn push(&mut self, codec: Codec, place: &str) {
        self.codecs.push(codec);
        self.places.push(place.to_string());
    }

    /// Keeps the first problem.
    fn has_problem(&mut self, what: impl Into<String>, place: &str) {
        self.problem.get_or_insert_with(|| Problem { what: what.into(), pointer: place.to_string() });
    }

    fn step(&mut self, value: &Value, place: &str) -> Result<(), MetaError> {
        let itemsize = if self.is_bytes { 1 } else { self.current.data_type.size().unwrap_or(1) };
        let in_document = |e: CodecError| MetaError { hint: e.hint, ..error(format!("{place}{}", e.pointer), e.what) };
        let codec = codec_from_v2(value, itemsize).map_err(in_document)?;
        let name = codec.name().strip_prefix("numcodecs.").unwrap_or(codec.name()).to_string();
        match codec.kind() {
            None => {
                if name == "pickle" {
                    self.has_problem("the filter \"pickle\" would run code that came with the data, so it is never decoded", place);
                }
                // What an unknown codec gives is not known either; the problem that it is ends the matter.
                self.is_bytes = true;
            }
            Some(CodecKind::BytesToBytes) => self.end_array(),
            Some(_) if self.is_bytes => {
                self.has_problem(
                    format!("\"{name}\" stands behind a codec that gives bytes, where it would have to guess their type"),
                    place,
                );
            }
            Some(CodecKind::ArrayToArray) => self.filter_array(&codec, &name, place),
            Some(CodecKind::ArrayToBytes) => self.encode_array(&codec, &name, place),
        }
        self.push(codec, place);
        Ok(())
    }

    /// Takes an array→array filter: the numbers that it views, and those that it gives.
    fn filter_array(&mut self, codec: &Codec, name: &str, place: &str) {
        let (view, gives) = match codec {
            Codec::Delta { dtype, astype } | Codec::FixedScaleOffset { dtype, astype, .. } | Codec::Quantize { dtype, astype, .. } => {
                (dtype, astype)
            }
            Codec::AsType { encode_dtype, decode_dtype } => (decode_dtype, encode_dtype),
            Codec::Categorize { astype, .. } => {
                if is_object(&self.current.data_type) {
                    self.holds(DataType::String);
                }
                self.current = astype.clone();
                return;
            }
            Codec::NumcodecsPackBits => {
                self.current = TypeStr { data_type: DataType::UInt8, order: vec![Endian::Little] };
                return;
            }
            _ => return,
        };
        if is_object(&self.current.data_type) {
            return self.lacks_object_codec(place);
        }
        if self.current.data_type.needs_endian() && view.data_type.needs_endian() && self.current.uniform() != view.uniform() {
            let what = format!(
                "the filter \"{name}\" reads its numbers in another byte order than the array's, which would compute with swapped bytes"
            );
            self.has_problem(what, place);
        }
        self.current = gives.clone();
    }

    /// Takes an array→bytes codec: one that says what objects are, or a compressor of numbers.
    fn encode_array(&mut self, codec: &Codec, name: &str, place: &str) {
        self.is_bytes = true;
        let objects = match codec {
            Codec::VlenUtf8 => Some(DataType::String),
            Codec::VlenBytes => Some(DataType::Bytes),
            Codec::VlenArray { dtype } => Some(DataType::VlenArray(Box::new(dtype.data_type.clone()))),
            Codec::Json2(_) | Codec::MsgPack2(_) => Some(DataType::Json),
            _ => None,
        };
        match (objects, is_object(&self.current.data_type)) {
            (Some(objects), true) => self.holds(objects),
            (Some(_), false) => self.has_problem(format!("the filter \"{name}\" is for objects (|O), but the elements are not"), place),
            (None, true) => self.lacks_object_codec(place),
            (None, false) => {
                if matches!(codec, Codec::Zfpy(_)) && self.is_transposed {
                    self.has_problem("\"zfpy\" takes arrays in C order only, but the order is F", place);
                }
                if self.current.data_type.needs_endian() && self.current.uniform() != Some(Endian::Little) {
                    self.has_problem(format!("\"{name}\" keeps numbers in no byte order, but the dtype is big-endian"), place);
                }
            }
        }
    }

    /// Says what the array's objects are.
    fn holds(&mut self, data_type: DataType) {
        self.typestr = TypeStr { data_type, order: vec![Endian::Little] };
        self.current = self.typestr.clone();
    }

    fn lacks_object_codec(&mut self, place: &str) {
        let what = "the dtype |O needs a first filter that says what the objects are (vlen-utf8, vlen-bytes, vlen-array, json2, msgpack2, categorize)";
        self.has_problem(what, place);
    }

    /// Where the array ends and bytes begin: the byte order is that of what reaches this point.
    fn end_array(&mut self) {
        if self.is_bytes {
            return;
        }
        self.is_bytes = true;
        if is_object(&self.current.data_type) {
            self.lacks_object_codec("/dtype");
        }
        let order = byte_order(&self.current);
        self.push(Codec::Bytes(order), "/dtype");
    }
}

/// `json2` and `msgpack2` store a nested list or the flattened logical array: C order, also where the memory order is F.
fn keeps_logical_order(codec: &Value) -> bool {
    codec.get("id").and_then(Value::as_str).is_some_and(|id| matches!(id, "json2" | "msgpack2"))
}

fn is_object(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Unknown { name, .. } if name == "object")
}

fn byte_order(typestr: &TypeStr) -> ByteOrder {
    match typestr.uniform() {
        _ if !typestr.data_type.needs_endian() => ByteOrder::None,
        Some(order) => ByteOrder::Uniform(order),
        None => ByteOrder::PerLeaf(typestr.order.clone()),
    }
}
