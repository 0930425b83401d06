//! Writing: the mirror of reading.
//!
//! ```text
//!   selection ─► plan ─► per object:  whole?  ── yes ──────────────────► gather ─► encode ─► put
//!                                        └─ no ─► get old ─► decode ─┘              (conditional)
//! ```
//!
//! An object all of whose elements in the array are covered is never read first, not even at the array's edge, so that a
//! torn old object does not block its own replacement. One that is changed in part is put only where it is still the object
//! that was read; another writer's change makes the step run again.

mod append;
mod object;
mod resize;

use gingham_core::dtype::{Elements, FillValue};
use gingham_core::region::Selection;
use rayon::prelude::*;

use crate::error::{Error, Kind, Result};
use crate::{Array, Element};
use object::Source;

impl Array {
    /// Writes elements (C order, as many as the selection has).
    pub fn write_elements(&self, selection: impl Into<Selection>, elements: &Elements) -> Result<()> {
        match (elements, self.data_type().size()) {
            (Elements::Fixed(bytes), Some(_)) => self.write_bytes(selection, bytes),
            (Elements::Variable(values), None) => self.write_from(&selection.into(), Source::Variable(values), values.len() as u64),
            _ => Err(Error::new(Kind::Invalid, format!("elements of type {} were expected", self.data_type()))),
        }
    }

    /// Writes fixed-size elements from their bytes (C order, little-endian).
    pub fn write_bytes(&self, selection: impl Into<Selection>, bytes: &[u8]) -> Result<()> {
        let item = self.fixed_item()?;
        if item == 0 || !bytes.len().is_multiple_of(item) {
            return Err(Error::new(Kind::Invalid, format!("{} bytes are no whole number of elements of {item} bytes", bytes.len())));
        }
        self.write_from(&selection.into(), Source::Fixed(bytes), (bytes.len() / item) as u64)
    }

    /// Writes an ndarray (any layout); its shape must be the selection's.
    pub fn write<T: Element, D: ndarray::Dimension>(
        &self,
        selection: impl Into<Selection>,
        values: &ndarray::ArrayRef<T, D>,
    ) -> Result<()> {
        self.check_element::<T>()?;
        let selection = selection.into();
        let resolved = self.inner().resolve(&selection)?;
        let shape: Vec<u64> = values.shape().iter().map(|&l| l as u64).collect();
        if resolved.shape() != shape {
            return Err(Error::new(Kind::Invalid, format!("the values have shape {shape:?}, the selection {:?}", resolved.shape())));
        }
        let standard = values.as_standard_layout();
        let slice = standard.as_slice().unwrap_or_default();
        self.write_bytes(selection, bytes_of(slice))
    }

    /// Writes one value everywhere in a selection; whole chunks of the fill value are deleted.
    pub fn write_value(&self, selection: impl Into<Selection>, value: &FillValue) -> Result<()> {
        if self.data_type().size().is_some_and(|s| s != value.as_bytes().len()) {
            return Err(Error::new(Kind::Invalid, format!("the value is no element of type {}", self.data_type())));
        }
        let selection = selection.into();
        let count = self.inner().resolve(&selection)?.count().unwrap_or(u64::MAX);
        self.write_from(&selection, Source::Value(value.as_bytes()), count)
    }

    fn write_from(&self, selection: &Selection, source: Source<'_>, given: u64) -> Result<()> {
        let inner = self.inner();
        let resolved = inner.resolve(selection)?;
        inner.chain()?;
        if !inner.store.traits().writes {
            return Err(Error::new(Kind::Unsupported, "this store cannot be written to").at(|p| p.store = Some(inner.store.describe())));
        }
        let count = resolved.count();
        if count != Some(given) {
            let what =
                format!("{given} elements were given for a selection of {}", count.map_or("more than 2^64".to_string(), |n| n.to_string()));
            return Err(Error::new(Kind::Invalid, what));
        }
        let plan = inner.plan(&resolved)?;
        let count = plan.object_count();
        let write = |i: usize| object::write(self, &plan, i, source);
        if count == 1 && inner.inner_shape.is_none() {
            return write(0);
        }
        // With fewer objects than workers the chunks inside a shard are shared out instead.
        match inner.pool()? {
            Some(pool) => pool.install(|| (0..count).into_par_iter().try_for_each(write)),
            None => (0..count).into_par_iter().try_for_each(write),
        }
    }
}

/// The memory of elements, to read from.
#[allow(unsafe_code)]
fn bytes_of<T: Element>(values: &[T]) -> &[u8] {
    // SAFETY: `Element` promises that the type has no padding.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values)) }
}
