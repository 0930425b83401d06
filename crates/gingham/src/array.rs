//! An array that is open.

use gingham_core::dtype::{DataType, Elements, FillValue};
use gingham_core::grid::Grid;
use gingham_core::json::{Map, Value};
use gingham_core::meta;
use gingham_core::region::Selection;
use gingham_store::Store;

use crate::read::plan::Plan;
use crate::{Element, NewArray, Options, Result};

/// An open array; cheap to clone, safe to share between threads.
///
/// A selection is anything that is `Into<Selection>`: a [`Selection`], a [`crate::Region`] or NumPy's text (`"0:31, :, 100"`).
#[derive(Debug, Clone)]
pub struct Array {}

impl Array {
    /// Opens the array at `path` (`""` for a lone array).
    pub fn open(store: &Store, path: &str) -> Result<Array> {
        todo!()
    }
    /// The same with options.
    pub fn open_with(store: &Store, path: &str, options: &Options) -> Result<Array> {
        todo!()
    }
    /// Creates an array; an error of kind Exists where a node is there, unless `new.overwrite`.
    pub fn create(store: &Store, path: &str, new: NewArray) -> Result<Array> {
        todo!()
    }
    /// An array from a document that was read already (consolidated metadata, a listing).
    pub fn from_meta(store: &Store, path: &str, meta: meta::Array, options: &Options) -> Result<Array> {
        todo!()
    }

    /// The store.
    pub fn store(&self) -> &Store {
        todo!()
    }
    /// The path in the store, without slashes at either end.
    pub fn path(&self) -> &str {
        todo!()
    }
    /// The document.
    pub fn meta(&self) -> &meta::Array {
        todo!()
    }
    /// The shape.
    pub fn shape(&self) -> Vec<u64> {
        todo!()
    }
    /// What an element is.
    pub fn data_type(&self) -> &DataType {
        todo!()
    }
    /// Where the cuts are: of stored objects (shards, where the array is sharded).
    pub fn grid(&self) -> &Grid {
        todo!()
    }
    /// The shape of the chunks inside a shard (of the innermost sharding), where the array is sharded; in the array's axes.
    pub fn inner_chunk_shape(&self) -> Option<Vec<u64>> {
        todo!()
    }
    /// The options it was opened with.
    pub fn options(&self) -> &Options {
        todo!()
    }

    /// What a read would touch, fetch and decode. Nothing is fetched.
    pub fn plan(&self, selection: impl Into<Selection>) -> Result<Plan> {
        todo!()
    }
    /// Reads a selection: its shape and elements, C order.
    pub fn read_elements(&self, selection: impl Into<Selection>) -> Result<(Vec<u64>, Elements)> {
        todo!()
    }
    /// Reads fixed-size elements into a buffer of exactly their length (C order, little-endian).
    pub fn read_into(&self, selection: impl Into<Selection>, out: &mut [u8]) -> Result<()> {
        todo!()
    }
    /// Reads into an ndarray; the type must be the array's.
    pub fn read<T: Element, D: ndarray::Dimension>(&self, selection: impl Into<Selection>) -> Result<ndarray::Array<T, D>> {
        todo!()
    }
    /// [`Array::read_elements`] for asynchronous programs: fetches await, decoding runs on worker threads.
    pub async fn read_async(&self, selection: Selection) -> Result<(Vec<u64>, Elements)> {
        todo!()
    }

    /// Writes elements (C order, as many as the selection has).
    pub fn write_elements(&self, selection: impl Into<Selection>, elements: &Elements) -> Result<()> {
        todo!()
    }
    /// Writes fixed-size elements from their bytes (C order, little-endian).
    pub fn write_bytes(&self, selection: impl Into<Selection>, bytes: &[u8]) -> Result<()> {
        todo!()
    }
    /// Writes an ndarray (any layout); its shape must be the selection's.
    pub fn write<T: Element, D: ndarray::Dimension>(
        &self,
        selection: impl Into<Selection>,
        values: &ndarray::ArrayRef<T, D>,
    ) -> Result<()> {
        todo!()
    }
    /// Writes one value everywhere in a selection; whole chunks of the fill value are deleted.
    pub fn write_value(&self, selection: impl Into<Selection>, value: &FillValue) -> Result<()> {
        todo!()
    }

    /// Appends along an axis: `shape` is that of the batch, equal to the array's on every other axis. On a rectilinear axis
    /// the batch becomes a chunk of its own length and nothing old is rewritten; on a regular one only the part-filled last
    /// chunks are. Data is written first, the document last.
    pub fn append(&mut self, axis: usize, shape: &[u64], elements: &Elements) -> Result<()> {
        todo!()
    }
    /// Another shape. Shrinking deletes the chunks that fall away and clears what is cut off, so that growing again shows fill.
    pub fn resize(&mut self, shape: &[u64]) -> Result<()> {
        todo!()
    }
    /// Deletes the array: its documents and all its chunks.
    pub fn erase(self) -> Result<()> {
        todo!()
    }
    /// Other attributes; nothing else in the document changes.
    pub fn set_attributes(&mut self, attributes: Map<String, Value>) -> Result<()> {
        todo!()
    }

    /// The stored objects of this array: key (relative to the array), grid index where it is one of the grid's, size in bytes.
    pub fn stored(&self) -> Result<Vec<(String, Option<Vec<u64>>, u64)>> {
        todo!()
    }
    /// The encoded bytes of one stored object, or `None` where it is absent.
    pub fn read_encoded(&self, chunk: &[u64]) -> Result<Option<gingham_store::Bytes>> {
        todo!()
    }
    /// Decodes one stored object whole, at its stored shape (overhang included); `None` where it is absent.
    pub fn read_chunk(&self, chunk: &[u64]) -> Result<Option<Elements>> {
        todo!()
    }
}
