//! A 2-D slice as a picture: grey by value, or RGB(A) where the last axis has 3 or 4 entries.

use std::io::Write;

use gingham::core::dtype::{Float, Spelling, format_element};
use gingham::{DataType, Elements};

use crate::error::{Failure, Result};
use crate::render;
use crate::values;

/// More pixels than this are not drawn: no viewer shows them, and a step in the selection is what was meant.
const MOST_PIXELS: u64 = 1 << 28;

/// What is drawn: width, height and bytes of a pixel's channels in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame {
    width: u32,
    height: u32,
    channels: usize,
}

/// The picture that a result of this shape makes, before anything is read.
pub fn frame(shape: &[u64]) -> Result<Frame> {
    let colour = shape.last().filter(|&&n| shape.len() > 2 && (n == 3 || n == 4)).map_or(1, |&n| n as usize);
    let plane = if colour > 1 { &shape[..shape.len() - 1] } else { shape };
    let mut axes: Vec<u64> = plane.iter().copied().filter(|&l| l != 1).collect();
    while axes.len() < 2 {
        axes.insert(0, 1);
    }
    let refuse = |what: String| Failure::usage(what).hint("select a plane, with a step where it is large: --select '0, ::4, ::4'");
    let &[height, width] = axes.as_slice() else {
        return Err(refuse(format!(
            "a picture has 2 axes (3 where the last holds RGB or RGBA); the selection is {}",
            render::shape(shape)
        )));
    };
    if width == 0 || height == 0 || width.checked_mul(height).is_none_or(|n| n > MOST_PIXELS) || width.max(height) > 1 << 24 {
        return Err(refuse(format!("a picture of {width} x {height} pixels cannot be drawn")));
    }
    Ok(Frame { width: width as u32, height: height as u32, channels: colour })
}

/// Draws elements. The darkest value is `min`, the lightest `max`; where absent, those of the data. NaN is transparent.
pub fn draw(out: impl Write, frame: Frame, data_type: &DataType, elements: &Elements, range: (Option<f64>, Option<f64>)) -> Result<()> {
    let count = frame.width as usize * frame.height as usize * frame.channels;
    let (color, pixels) = match (frame.channels, data_type, elements, range) {
        (3, DataType::UInt8, Elements::Fixed(bytes), (None, None)) => (png::ColorType::Rgb, bytes.clone()),
        (4, DataType::UInt8, Elements::Fixed(bytes), (None, None)) => (png::ColorType::Rgba, bytes.clone()),
        _ => scaled(frame, &numbers(data_type, elements, count)?, range),
    };
    let failed = |e: png::EncodingError| match e {
        png::EncodingError::IoError(e) => Failure::from(e),
        other => Failure::bad_data("the picture could not be written").because(other.to_string()),
    };
    let mut encoder = png::Encoder::new(out, frame.width, frame.height);
    encoder.set_color(color);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(failed)?;
    writer.write_image_data(&pixels).map_err(failed)?;
    writer.finish().map_err(failed)
}

fn scaled(frame: Frame, numbers: &[f64], range: (Option<f64>, Option<f64>)) -> (png::ColorType, Vec<u8>) {
    let finite = || numbers.iter().copied().filter(|v| v.is_finite());
    let min = range.0.unwrap_or_else(|| finite().fold(f64::INFINITY, f64::min));
    let max = range.1.unwrap_or_else(|| finite().fold(f64::NEG_INFINITY, f64::max));
    let level = |v: f64| {
        let part = if max > min { (v - min) / (max - min) } else { 0.0 };
        // Also for infinities: they are the darkest and the lightest.
        (part.clamp(0.0, 1.0) * 255.0).round() as u8
    };
    if frame.channels > 1 {
        let color = if frame.channels == 3 { png::ColorType::Rgb } else { png::ColorType::Rgba };
        return (color, numbers.iter().map(|&v| if v.is_nan() { 0 } else { level(v) }).collect());
    }
    if numbers.iter().any(|v| v.is_nan()) {
        let pixel = |&v: &f64| if v.is_nan() { [0, 0] } else { [level(v), 255] };
        return (png::ColorType::GrayscaleAlpha, numbers.iter().flat_map(pixel).collect());
    }
    (png::ColorType::Grayscale, numbers.iter().map(|&v| level(v)).collect())
}

/// Elements as numbers, NaN where one is none.
fn numbers(data_type: &DataType, elements: &Elements, count: usize) -> Result<Vec<f64>> {
    let Elements::Fixed(bytes) = elements else { return Err(no_picture(data_type)) };
    macro_rules! of {
        ($type:ty) => {
            bytes.chunks_exact(size_of::<$type>()).map(|b| <$type>::from_le_bytes(fixed(b)) as f64).collect()
        };
    }
    Ok(match data_type {
        DataType::Bool | DataType::UInt8 | DataType::UInt2 | DataType::UInt4 => bytes.iter().map(|&b| b.into()).collect(),
        DataType::Int8 | DataType::Int2 | DataType::Int4 => bytes.iter().map(|&b| (b as i8).into()).collect(),
        DataType::UInt16 => of!(u16),
        DataType::Int16 => of!(i16),
        DataType::UInt32 => of!(u32),
        DataType::Int32 => of!(i32),
        DataType::UInt64 => of!(u64),
        DataType::Int64 | DataType::DateTime { .. } | DataType::TimeDelta { .. } => of!(i64),
        DataType::Float(Float::F32) => of!(f32),
        DataType::Float(Float::F64) => of!(f64),
        DataType::Float(_) => {
            let mut out = Vec::with_capacity(count);
            values::each(elements, data_type, count, |element| {
                let value = format_element(data_type, element, Spelling::Plain);
                out.push(match value.as_str() {
                    Some("Infinity") => f64::INFINITY,
                    Some("-Infinity") => f64::NEG_INFINITY,
                    _ => value.as_f64().unwrap_or(f64::NAN),
                });
                Ok(())
            })?;
            out
        }
        _ => return Err(no_picture(data_type)),
    })
}

fn fixed<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(bytes);
    out
}

fn no_picture(data_type: &DataType) -> Failure {
    Failure::usage(format!("elements of type {data_type} cannot be drawn")).hint("pictures are drawn of numbers")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_shape_decides_what_is_drawn() {
        assert_eq!(frame(&[20, 30]).unwrap(), Frame { width: 30, height: 20, channels: 1 });
        assert_eq!(frame(&[1, 20, 1, 30]).unwrap(), Frame { width: 30, height: 20, channels: 1 });
        assert_eq!(frame(&[20, 30, 3]).unwrap().channels, 3);
        assert_eq!(frame(&[20, 3]).unwrap(), Frame { width: 3, height: 20, channels: 1 });
        assert_eq!(frame(&[]).unwrap(), Frame { width: 1, height: 1, channels: 1 });
        assert!(frame(&[5, 20, 30]).is_err());
        assert!(frame(&[0, 30]).is_err());
        assert!(frame(&[u64::MAX, u64::MAX]).is_err());
    }

    #[test]
    fn values_are_scaled_and_nan_is_transparent() {
        let frame = Frame { width: 3, height: 1, channels: 1 };
        assert_eq!(scaled(frame, &[0.0, 5.0, 10.0], (None, None)), (png::ColorType::Grayscale, vec![0, 128, 255]));
        assert_eq!(scaled(frame, &[0.0, f64::NAN, 10.0], (None, None)).1, [0, 255, 0, 0, 255, 255]);
        assert_eq!(scaled(frame, &[-5.0, f64::INFINITY, 1.0], (Some(0.0), Some(2.0))).1, [0, 255, 128]);
        assert_eq!(scaled(frame, &[7.0, 7.0, 7.0], (None, None)).1, [0, 0, 0]);
    }

    #[test]
    fn a_drawn_picture_is_read_back() {
        let mut out = Vec::new();
        let frame = frame(&[2, 2]).unwrap();
        draw(&mut out, frame, &DataType::UInt8, &Elements::Fixed(vec![0, 1, 2, 4]), (None, Some(4.0))).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(out)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        assert_eq!(pixels, [0, 64, 128, 255]);
    }
}
