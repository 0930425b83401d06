//! Appending along an axis.

use gingham_core::dtype::Elements;
use gingham_core::region::Region;

use crate::Array;
use crate::error::{Error, Kind, Result};

impl Array {
    /// Appends along an axis: `shape` is that of the batch, equal to the array's on every other axis. On a rectilinear axis
    /// the batch becomes a chunk of its own length and nothing old is rewritten; on a regular one only the part-filled last
    /// chunks are. Data is written first, the document last: a reader sees the old array or the new one.
    pub fn append(&mut self, axis: usize, shape: &[u64], elements: &Elements) -> Result<()> {
        let old = self.shape();
        let fits = axis < old.len() && shape.len() == old.len() && (0..old.len()).all(|a| a == axis || shape[a] == old[a]);
        if !fits {
            let what = format!("a batch of shape {shape:?} cannot be appended to an array of shape {old:?} along axis {axis}");
            return Err(Error::new(Kind::Invalid, what)
                .at(|p| p.axis = Some(axis))
                .with_hint("every other axis must have the array's length"));
        }
        let mut meta = self.meta().clone();
        meta.set_grid(self.grid().appended(axis, shape[axis])?)?;
        let grown = self.with_meta(meta.clone());
        let mut region = Region { start: old.iter().map(|_| 0).collect(), shape: shape.into() };
        region.start[axis] = old[axis];
        grown.write_elements(region, elements)?;
        self.put_documents(&meta)?;
        *self = grown;
        Ok(())
    }
}
