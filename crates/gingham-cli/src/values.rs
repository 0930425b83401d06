//! Elements one by one, and the JSON of a read.

use std::io::Write;

use gingham::core::dtype::{Spelling, format_element};
use gingham::{DataType, Elements};
use serde_json::Value;

use crate::error::Result;

/// Calls `each` for every element's content.
pub fn each(elements: &Elements, data_type: &DataType, count: usize, mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    match elements {
        Elements::Fixed(bytes) => match data_type.size() {
            Some(size) if size > 0 => bytes.chunks_exact(size).try_for_each(each),
            // Elements of no bytes at all.
            _ => (0..count).try_for_each(|_| each(&[])),
        },
        Elements::Variable(variable) => (0..variable.len()).try_for_each(|i| each(variable.get(i))),
    }
}

/// Writes `{"shape": […], "values": […]}` piece by piece.
pub struct JsonValues<W: Write> {
    out: W,
    first: bool,
}

impl<W: Write> JsonValues<W> {
    /// Begins with the shape.
    pub fn begin(mut out: W, shape: &[u64]) -> Result<Self> {
        write!(out, "{{\"shape\": {}, \"values\": [", Value::from(shape.to_vec()))?;
        Ok(JsonValues { out, first: true })
    }
    /// Adds elements.
    pub fn add(&mut self, elements: &Elements, data_type: &DataType, count: usize) -> Result<()> {
        each(elements, data_type, count, |element| {
            if !std::mem::take(&mut self.first) {
                self.out.write_all(b", ")?;
            }
            let value = format_element(data_type, element, Spelling::Plain);
            Ok(serde_json::to_writer(&mut self.out, &value).map_err(std::io::Error::from)?)
        })
    }
    /// Ends it.
    pub fn end(mut self) -> Result<()> {
        self.out.write_all(b"]}\n")?;
        Ok(self.out.flush()?)
    }
}
