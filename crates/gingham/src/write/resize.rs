//! Another shape.

use gingham_core::Shape;
use gingham_core::grid::Grid;
use gingham_core::region::Region;

use crate::Array;
use crate::error::{Error, Kind, Result};

impl Array {
    /// Another shape. Shrinking deletes the chunks that fall away and clears what is cut off, so that growing again shows
    /// fill. Growing clears what an overhanging chunk still holds beyond the old end. The document is written before
    /// anything is deleted: a resize that fails leaves the array as it was.
    pub fn resize(&mut self, shape: &[u64]) -> Result<()> {
        let old = self.shape();
        if shape.len() != old.len() {
            return Err(Error::new(Kind::Invalid, format!("{shape:?} has {} dimensions, the array has {}", shape.len(), old.len())));
        }
        let mut meta = self.meta().clone();
        meta.set_grid(self.grid().resized(shape)?)?;
        let resized = self.with_meta(meta.clone());
        for axis in (0..old.len()).filter(|&a| shape[a] > old[a]) {
            resized.clear_overhang(axis, old[axis], shape)?;
        }
        self.put_documents(&meta)?;
        let before = self.grid().clone();
        *self = resized;
        if shape.iter().zip(&old).any(|(new, old)| new < old) {
            self.delete_outside(&before)?;
            for axis in (0..old.len()).filter(|&a| shape[a] < old[a]) {
                self.clear_cut(axis, shape[axis], &before)?;
            }
        }
        Ok(())
    }

    /// Writes fill from `from` to the end of the chunk that holds it, in chunks that are stored.
    fn clear_overhang(&self, axis: usize, from: u64, shape: &[u64]) -> Result<()> {
        if from == 0 || from >= shape[axis] {
            return Ok(());
        }
        let cuts = &self.grid().axes()[axis];
        let (chunk, offset) = cuts.locate(from);
        if offset == 0 {
            return Ok(());
        }
        let span = cuts.span(chunk);
        self.clear(axis, chunk, from, span.start + span.logical)
    }

    /// After a shrink: writes fill over what the last chunk holds beyond the new end, seen through the grid of before.
    fn clear_cut(&self, axis: usize, end: u64, before: &Grid) -> Result<()> {
        if end == 0 {
            return Ok(());
        }
        let (chunk, _) = before.axes()[axis].locate(end - 1);
        let span = before.axes()[axis].span(chunk);
        if span.start + span.logical <= end {
            return Ok(());
        }
        // The old extent along this axis only: elsewhere nothing beyond the new shape is left.
        let mut shape: Shape = self.grid().shape();
        shape[axis] = before.shape()[axis];
        let mut meta = self.meta().clone();
        meta.set_grid(before.resized(&shape)?)?;
        self.with_meta(meta).clear(axis, chunk, end, span.start + span.logical)
    }

    /// Fill over `from..to` of one axis, all of the others, in the chunks of that row that are stored.
    fn clear(&self, axis: usize, chunk: u64, from: u64, to: u64) -> Result<()> {
        let shape = self.grid().shape();
        let fill = self.meta().fill_value();
        let stored: Option<Vec<Vec<u64>>> = match self.store().traits().lists {
            true => Some(self.stored()?.into_iter().filter_map(|(_, c, _)| c).filter(|c| c[axis] == chunk).collect()),
            false => None,
        };
        let Some(stored) = stored else {
            let mut region = Region::whole(&shape);
            (region.start[axis], region.shape[axis]) = (from, to - from);
            return self.write_value(region, &fill);
        };
        for chunk in stored {
            let mut region = self.grid().chunk_region(&chunk);
            (region.start[axis], region.shape[axis]) = (from, to - from);
            self.write_value(region, &fill)?;
        }
        Ok(())
    }

    /// Deletes stored chunks that the new grid does not have.
    fn delete_outside(&self, before: &Grid) -> Result<()> {
        if self.store().traits().lists {
            for (key, chunk, _) in self.stored()? {
                let old = self.meta().key_encoding().decode(&key, before.ndim()).filter(|c| before.contains(c));
                if let (None, Some(old)) = (chunk, old) {
                    self.store().delete(&self.key(&old))?;
                }
            }
            return Ok(());
        }
        let (old, new) = (before.chunk_counts(), self.grid().chunk_counts());
        let mut chunk: Shape = old.iter().map(|_| 0).collect();
        if old.contains(&0) {
            return Ok(());
        }
        loop {
            if chunk.iter().zip(&new).any(|(c, n)| c >= n) {
                self.store().delete(&self.key(&chunk))?;
            }
            let Some(axis) = (0..chunk.len()).rev().find(|&a| chunk[a] + 1 < old[a]) else { return Ok(()) };
            chunk[axis] += 1;
            chunk[axis + 1..].iter_mut().for_each(|c| *c = 0);
        }
    }
}
