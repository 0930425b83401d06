//! What each codec does to the shape and type of a chunk, and what it can take.

use super::{ByteOrder, CastValue, Codec, CodecError, CodecKind, PackBitsPadding, ReshapeDim};
use crate::Shape;
use crate::dtype::{DataType, FillValue, Float, TypeStr};
use crate::extension::Fault;
use crate::json::Value;

/// An array in the middle of a chain: its shape and element type.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Shaped {
    pub shape: Shape,
    pub data_type: DataType,
}

impl Shaped {
    /// Elements, or `None` past 2^64.
    pub fn element_count(&self) -> Option<u64> {
        product(&self.shape)
    }

    /// Bytes of the elements (`None` where their size varies), or why there are more than can be counted.
    pub(super) fn byte_count(&self) -> Result<Option<u64>, String> {
        let count = self.element_count();
        let bytes = match self.data_type.size() {
            Some(size) => count.and_then(|n| n.checked_mul(size as u64)).map(Some),
            None => count.map(|_| None),
        };
        bytes.ok_or_else(|| {
            format!("a chunk of shape {:?} and type {} has more than 2^64 bytes", self.shape.as_slice(), self.data_type.name())
        })
    }
}

fn product(lengths: &[u64]) -> Option<u64> {
    lengths.iter().try_fold(1u64, |n, &length| n.checked_mul(length))
}

impl Codec {
    /// The shape and type behind an array→array codec; an error where the codec cannot take what it is given.
    pub fn encoded(&self, input: &Shaped) -> Result<Shaped, CodecError> {
        let of_type = |data_type: &DataType| Shaped { shape: input.shape.clone(), data_type: data_type.clone() };
        let of_shape = |shape: Shape| Shaped { shape, data_type: input.data_type.clone() };
        let takes = |can: bool, what: &str| if can { Ok(()) } else { Err(CodecError::from(self.refuses(&input.data_type, what))) };
        let data_type = &input.data_type;
        Ok(match self {
            Codec::Transpose { order } => of_shape(transposed(&input.shape, order)?),
            // numcodecs' rounds floats only, but decoding is the identity, and others wrote it for integers.
            Codec::BitRound { .. } => {
                takes(can_round_bits(data_type), "integers, floats of at least 16 bits, complex numbers of those, dates and time spans")?;
                of_type(&self.rounded_type(data_type))
            }
            Codec::CastValue(cast) => {
                takes(is_real(data_type), "integers and floats")?;
                if !is_real(&cast.data_type) {
                    let what = format!("\"cast_value\" casts to integers and floats, not to {}", cast.data_type.name());
                    return Err(Fault::new("/configuration/data_type", what).into());
                }
                cast.check_scalars(data_type)?;
                of_type(&cast.data_type)
            }
            Codec::ScaleOffset { offset, scale } => {
                takes(is_real(data_type), "integers and floats")?;
                check_scale_offset(offset.as_ref(), scale.as_ref(), data_type)?;
                input.clone()
            }
            Codec::Reshape { shape } => of_shape(reshaped(&input.shape, shape)?),
            Codec::StoredShape { shape } => {
                if shape.len() != input.shape.len() || shape.iter().zip(&input.shape).any(|(stored, chunk)| stored < chunk) {
                    let what =
                        format!("the stored shape {:?} does not hold a chunk of shape {:?}", shape.as_slice(), input.shape.as_slice());
                    return Err(Fault::new("/configuration/shape", what).into());
                }
                of_shape(shape.clone())
            }
            Codec::Squeeze => of_shape(input.shape.iter().copied().filter(|&length| length != 1).collect()),
            Codec::Delta { dtype, astype } | Codec::FixedScaleOffset { dtype, astype, .. } => {
                self.check_view(data_type, "dtype", dtype, is_numpy_number)?;
                takes(is_numpy_number(&astype.data_type), "numbers")?;
                of_type(&astype.data_type)
            }
            Codec::Quantize { dtype, astype, .. } => {
                let is_float = |t: &DataType| matches!(t, DataType::Float(f) if is_ieee(*f));
                self.check_view(data_type, "dtype", dtype, is_float)?;
                takes(is_float(&astype.data_type), "float16, float32 and float64")?;
                of_type(&astype.data_type)
            }
            Codec::AsType { encode_dtype, decode_dtype } => {
                let castable = |t: &DataType| is_numpy_number(t) || *t == DataType::Bool;
                self.check_view(data_type, "decode_dtype", decode_dtype, castable)?;
                takes(castable(&encode_dtype.data_type), "numbers")?;
                of_type(&encode_dtype.data_type)
            }
            Codec::NumcodecsPackBits => {
                takes(*data_type == DataType::Bool, "bool")?;
                let count = input.element_count().unwrap_or(u64::MAX);
                Shaped { shape: Shape::from_slice(&[1 + count.div_ceil(8)]), data_type: DataType::UInt8 }
            }
            Codec::Categorize { astype, .. } => {
                takes(matches!(data_type, DataType::String | DataType::FixedUtf32(_)), "text")?;
                takes(is_integer(&astype.data_type), "text (and gives integers)")?;
                of_type(&astype.data_type)
            }
            _ => return Err(Fault::new("", format!("\"{}\" is no array to array codec", self.name())).into()),
        })
    }

    /// The type behind `bitround`. numcodecs' hands on what it rounded as integers with the floats' bits, and what keeps all bits
    /// as it came; what stands behind it, such as pcodec, stores those.
    pub fn rounded_type(&self, data_type: &DataType) -> DataType {
        match (self, data_type) {
            (Codec::BitRound { keepbits, numcodecs: true }, DataType::Float(float)) if *keepbits < float.mantissa_bits() => match float {
                Float::F16 => DataType::Int16,
                Float::F32 => DataType::Int32,
                Float::F64 => DataType::Int64,
                _ => data_type.clone(),
            },
            _ => data_type.clone(),
        }
    }

    /// For a codec that makes a fixed number of bytes from `decoded` bytes (checksums, shuffle): that number.
    /// For array→bytes codecs use [`Codec::encoded_size_of`].
    pub fn encoded_len(&self, decoded: u64) -> Option<u64> {
        match self {
            Codec::Crc32c { .. } | Codec::Crc32 { .. } | Codec::Adler32 { .. } => decoded.checked_add(4),
            Codec::Fletcher32 | Codec::JenkinsLookup3 { .. } => decoded.checked_add(4),
            Codec::Shuffle { .. } => Some(decoded),
            Codec::Base64 => decoded.div_ceil(3).checked_mul(4),
            _ => None,
        }
    }

    /// For an array→bytes codec with a fixed-size result (bytes, packbits): that size.
    pub fn encoded_size_of(&self, input: &Shaped) -> Option<u64> {
        match self {
            Codec::Bytes(_) => input.byte_count().ok().flatten(),
            Codec::PackBits { padding, first_bit, last_bit } => {
                let (bits, components) = component_bits(&input.data_type)?;
                let kept = u64::from(last_bit.unwrap_or(bits - 1).checked_sub(first_bit.unwrap_or(0))?) + 1;
                let all = input.element_count()?.checked_mul(kept)?.checked_mul(components)?;
                all.div_ceil(8).checked_add(u64::from(*padding != PackBitsPadding::None))
            }
            _ => None,
        }
    }

    /// Checks what enters an array→bytes codec.
    pub(super) fn check_input(&self, input: &Shaped) -> Result<(), CodecError> {
        let data_type = &input.data_type;
        let takes = |can: bool, what: &str| if can { Ok(()) } else { Err(CodecError::from(self.refuses(data_type, what))) };
        match self {
            Codec::Bytes(order) => {
                takes(data_type.size().is_some(), "types of a fixed size")?;
                if data_type.needs_endian() && *order == ByteOrder::None {
                    let what = format!("\"bytes\" must say in which byte order {} is stored", data_type.name());
                    return Err(Fault::new("/configuration/endian", what).hint("add \"endian\": \"little\" or \"big\"").into());
                }
                Ok(())
            }
            Codec::PackBits { first_bit, last_bit, .. } => {
                let (bits, _) =
                    component_bits(data_type).ok_or_else(|| self.refuses(data_type, "bool, integers, floats and complex numbers"))?;
                let (first, last) = (first_bit.unwrap_or(0), last_bit.unwrap_or(bits - 1));
                if last >= bits || first > last {
                    let what =
                        format!("\"packbits\" keeps the bits {first} to {last}, but {} has the bits 0 to {}", data_type.name(), bits - 1);
                    return Err(Fault::new("/configuration", what).into());
                }
                Ok(())
            }
            Codec::VlenUtf8 => takes(*data_type == DataType::String, "string"),
            Codec::VlenBytes => takes(*data_type == DataType::Bytes, "bytes"),
            Codec::VlenArray { dtype } => {
                takes(matches!(data_type, DataType::VlenArray(item) if **item == dtype.data_type), "lists of its own item type")
            }
            Codec::Json2(_) | Codec::MsgPack2(_) => takes(matches!(data_type, DataType::Json | DataType::String), "objects"),
            Codec::Pcodec(_) => takes(can_pcodec(data_type), "integers, float16, float32 and float64"),
            Codec::Zfp(_) | Codec::Zfpy(_) => {
                let native = matches!(data_type, DataType::Int32 | DataType::Int64 | DataType::Float(Float::F32 | Float::F64));
                match self {
                    Codec::Zfpy(_) => takes(native, "int32, int64, float32 and float64")?,
                    _ => takes(native || can_promote_to_zfp(data_type), "integers of 8 to 64 bits and floats of 16 to 64 bits")?,
                }
                takes(input.shape.len() <= 4, &format!("at most 4 axes (this chunk has {})", input.shape.len()))
            }
            Codec::Sharding(sharding) => sharding.check(input),
            _ => Err(Fault::new("", format!("\"{}\" is no {} codec", self.name(), CodecKind::ArrayToBytes)).into()),
        }
    }

    fn refuses(&self, data_type: &DataType, what: &str) -> Fault {
        Fault::new("", format!("\"{}\" takes {what}, not {}", self.name(), data_type.name()))
    }

    /// numcodecs' filters view the bytes that they are given as their own type, which must be as wide.
    fn check_view(&self, data_type: &DataType, key: &str, view: &TypeStr, can: impl Fn(&DataType) -> bool) -> Result<(), CodecError> {
        if !can(&view.data_type) {
            return Err(Fault::new(format!("/configuration/{key}"), self.refuses(&view.data_type, "numbers").what).into());
        }
        if data_type.size().is_none() || data_type.size() != view.data_type.size() {
            let what =
                format!("\"{}\" is for {}, but the elements that reach it are {}", self.name(), view.data_type.name(), data_type.name());
            return Err(Fault::new(format!("/configuration/{key}"), what).into());
        }
        Ok(())
    }
}

impl CastValue {
    fn check_scalars(&self, decoded: &DataType) -> Result<(), CodecError> {
        let maps = [("encode", &self.encode_map, decoded, &self.data_type), ("decode", &self.decode_map, &self.data_type, decoded)];
        for (key, pairs, from, to) in maps {
            for (i, (a, b)) in pairs.iter().enumerate() {
                for (side, (value, data_type)) in [(a, from), (b, to)].into_iter().enumerate() {
                    check_scalar(value, data_type, &format!("/configuration/scalar_map/{key}/{i}/{side}"))?;
                }
            }
        }
        Ok(())
    }
}

fn check_scalar(value: &Value, data_type: &DataType, pointer: &str) -> Result<(), CodecError> {
    let read = FillValue::from_v3(value, data_type);
    read.map(|_| ()).map_err(|error| Fault::new(format!("{pointer}{}", error.pointer), error.what).into())
}

fn check_scale_offset(offset: Option<&Value>, scale: Option<&Value>, data_type: &DataType) -> Result<(), CodecError> {
    if let Some(offset) = offset {
        check_scalar(offset, data_type, "/configuration/offset")?;
    }
    let Some(scale) = scale else { return Ok(()) };
    check_scalar(scale, data_type, "/configuration/scale")?;
    if scale.as_f64() == Some(0.0) {
        return Err(Fault::new("/configuration/scale", "the scale of \"scale_offset\" must not be 0: every element would be lost").into());
    }
    Ok(())
}

fn transposed(shape: &[u64], order: &[usize]) -> Result<Shape, CodecError> {
    let mut seen = vec![false; shape.len()];
    let distinct = order.iter().all(|&axis| seen.get_mut(axis).is_some_and(|seen| !std::mem::replace(seen, true)));
    if order.len() != shape.len() || !distinct {
        let what = format!("\"transpose\" has the order {order:?}, which is no permutation of the {} axes that it is given", shape.len());
        return Err(Fault::new("/configuration/order", what).into());
    }
    Ok(order.iter().map(|&axis| shape[axis]).collect())
}

fn reshaped(input: &[u64], entries: &[ReshapeDim]) -> Result<Shape, CodecError> {
    let at = |i: usize, what: String| CodecError::from(Fault::new(format!("/configuration/shape/{i}"), what));
    let total = product(input).ok_or_else(|| at(0, "the chunk has more than 2^64 elements".into()))?;
    let mut shape = Shape::new();
    for (i, entry) in entries.iter().enumerate() {
        shape.push(match entry {
            ReshapeDim::Length(length) => *length,
            ReshapeDim::Infer => 1,
            ReshapeDim::Product(axes) => {
                let lengths = axes.iter().map(|&axis| input.get(axis).copied()).collect::<Option<Shape>>();
                let lengths =
                    lengths.ok_or_else(|| at(i, format!("\"reshape\" names the axes {axes:?}, but its input has {}", input.len())))?;
                product(&lengths).unwrap_or(total)
            }
        });
    }
    let known = product(&shape).filter(|&known| known > 0);
    if let Some(i) = entries.iter().position(|entry| *entry == ReshapeDim::Infer)
        && let Some(known) = known
    {
        shape[i] = total / known;
    }
    if product(&shape) != Some(total) {
        let what = format!("\"reshape\" makes the shape {:?} of a chunk of shape {input:?}, which has {total} elements", shape.as_slice());
        return Err(Fault::new("/configuration/shape", what).into());
    }
    for (i, entry) in entries.iter().enumerate() {
        let ReshapeDim::Product(axes) = entry else { continue };
        let (Some(&first), Some(&last)) = (axes.first(), axes.last()) else { continue };
        if product(&shape[..i]) != product(&input[..first]) || product(&shape[i + 1..]) != product(&input[last + 1..]) {
            return Err(at(i, format!("\"reshape\" would tear the axes {axes:?} apart: other axes do not keep their place around them")));
        }
    }
    Ok(shape)
}

fn is_integer(data_type: &DataType) -> bool {
    use DataType::*;
    matches!(data_type, Int2 | Int4 | Int8 | Int16 | Int32 | Int64 | UInt2 | UInt4 | UInt8 | UInt16 | UInt32 | UInt64)
}

fn is_real(data_type: &DataType) -> bool {
    is_integer(data_type) || matches!(data_type, DataType::Float(_))
}

/// The floats that numpy has.
fn is_ieee(float: Float) -> bool {
    matches!(float, Float::F16 | Float::F32 | Float::F64)
}

fn is_wide(float: Float) -> bool {
    is_ieee(float) || float == Float::BFloat16
}

/// What numcodecs' arithmetic filters can view: numpy's integers and floats, and dates as the integers that they are.
fn is_numpy_number(data_type: &DataType) -> bool {
    let narrow = matches!(data_type, DataType::Int2 | DataType::Int4 | DataType::UInt2 | DataType::UInt4);
    match data_type {
        DataType::Float(float) => is_ieee(*float),
        DataType::DateTime { .. } | DataType::TimeDelta { .. } => true,
        _ => is_integer(data_type) && !narrow,
    }
}

fn can_round_bits(data_type: &DataType) -> bool {
    match data_type {
        DataType::Float(float) | DataType::Complex(float) => is_wide(*float),
        DataType::DateTime { .. } | DataType::TimeDelta { .. } => true,
        _ => is_integer(data_type),
    }
}

fn can_pcodec(data_type: &DataType) -> bool {
    let is_number = !matches!(data_type, DataType::DateTime { .. } | DataType::TimeDelta { .. });
    is_number && is_numpy_number(data_type)
}

fn can_promote_to_zfp(data_type: &DataType) -> bool {
    use DataType::*;
    matches!(data_type, Int8 | Int16 | UInt8 | UInt16 | UInt32 | UInt64) || matches!(data_type, Float(float) if is_wide(*float))
}

/// Bits of one component, and components of one element, for types whose bits may be packed.
fn component_bits(data_type: &DataType) -> Option<(u32, u64)> {
    use DataType::*;
    let float_bits = |float: &crate::dtype::Float| match float {
        crate::dtype::Float::E2M1FN => 4,
        crate::dtype::Float::E2M3FN | crate::dtype::Float::E3M2FN => 6,
        crate::dtype::Float::BFloat16 | crate::dtype::Float::F16 => 16,
        crate::dtype::Float::F32 => 32,
        crate::dtype::Float::F64 => 64,
        _ => 8,
    };
    Some(match data_type {
        Bool => (1, 1),
        Int2 | UInt2 => (2, 1),
        Int4 | UInt4 => (4, 1),
        Int8 | UInt8 => (8, 1),
        Int16 | UInt16 => (16, 1),
        Int32 | UInt32 => (32, 1),
        Int64 | UInt64 | DateTime { .. } | TimeDelta { .. } => (64, 1),
        DataType::Float(float) => (float_bits(float), 1),
        Complex(float) => (float_bits(float), 2),
        _ => return None,
    })
}
