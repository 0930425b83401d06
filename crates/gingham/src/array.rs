//! An array that is open.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, RwLock};

use gingham_codec::chain::{Bound, Chain};
use gingham_codec::place::{HANDLE, Target, resolve};
use gingham_codec::shard::Index;
use gingham_codec::{CodecFault, Context};
use gingham_core::Shape;
use gingham_core::codec::{self as spec, Codec};
use gingham_core::dtype::{DataType, Elements, FillValue};
use gingham_core::grid::Grid;
use gingham_core::json::{Map, Value};
use gingham_core::meta::{self, Format};
use gingham_core::path::NodePath;
use gingham_core::region::{Region, Resolved, Selection};
use gingham_store::{Bytes, Range, Store};

use crate::error::{Error, Kind, Result};
use crate::read::kept::Kept;
use crate::read::machine::Machine;
use crate::read::output::{Buffer, Fresh, zeroed};
use crate::read::plan::{Layout, Plan};
use crate::{Element, NewArray, Node, Options, drive};

/// Decoded shard indexes kept per array, in entries of 16 bytes: 64 MiB.
const INDEX_ENTRIES: usize = 4 << 20;
/// Chains kept bound to a chunk shape; a rectilinear grid may have many shapes.
const BOUND_SHAPES: usize = 1024;

/// An open array; cheap to clone, safe to share between threads.
///
/// A selection is anything that is `Into<Selection>`: a [`Selection`], a [`crate::Region`], or `()` for everything.
///
/// ```
/// use gingham::{Array, DataType, Grid, NewArray, Selection, Store};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = Store::open("memory:")?;
/// let grid = Grid::regular(&[4, 6], &[2, 3])?;
/// let a = Array::create(&store, "a", NewArray::new(DataType::UInt16, grid))?;
/// let values = ndarray::Array2::from_shape_fn((4, 6), |(y, x)| (y * 6 + x) as u16);
/// a.write((), &values)?;
/// let row: ndarray::Array1<u16> = a.read(Selection::parse("1, ::-2")?)?;
/// assert_eq!(row.to_vec(), [11, 9, 7]);
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct Array {
    inner: Arc<Inner>,
}

/// What the clones of an array share.
#[derive(Debug)]
pub(crate) struct Inner {
    pub store: Store,
    pub path: String,
    pub meta: meta::Array,
    pub options: Options,
    pub fill: FillValue,
    /// Shape of inner chunks that can be fetched one by one, in the array's axes.
    pub inner_shape: Option<Shape>,
    layout: Arc<Layout>,
    chain: OnceLock<std::result::Result<Arc<Chain>, CodecFault>>,
    pool: OnceLock<std::result::Result<Option<Arc<rayon::ThreadPool>>, String>>,
    caches: Arc<Caches>,
    /// Decoded chunks. Not shared with an array of another shape or other documents.
    pub kept: Kept,
}

/// A stored object: its key relative to the array, its grid index where it is one of the grid's, and its size in bytes.
pub type Stored = (String, Option<Vec<u64>>, u64);

/// What stays when the shape or the attributes change.
#[derive(Debug, Default)]
struct Caches {
    bounds: RwLock<HashMap<Shape, Arc<Bound>>>,
    contexts: Mutex<Vec<Context>>,
    indexes: Mutex<Indexes>,
    locks: [Mutex<()>; 32],
}

/// Indexes of shards, by key, each with the version of the shard that it belongs to, where the store tells.
#[derive(Debug, Default)]
struct Indexes {
    map: HashMap<String, (Arc<Index>, Option<String>)>,
    /// Of all of them.
    entries: usize,
}

impl Indexes {
    fn insert(&mut self, key: &str, index: (Arc<Index>, Option<String>)) {
        self.remove(key);
        if self.entries > INDEX_ENTRIES {
            *self = Indexes::default();
        }
        self.entries += index.0.entries().len();
        self.map.insert(key.into(), index);
    }
    fn remove(&mut self, key: &str) {
        if let Some((index, _)) = self.map.remove(key) {
            self.entries -= index.entries().len();
        }
    }
}

impl Inner {
    /// The chain, or why data cannot be read.
    pub fn chain(&self) -> Result<&Arc<Chain>> {
        if let Some(problem) = self.meta.problem() {
            return Err(Error::new(Kind::Unsupported, problem.what.clone()).at(|p| {
                p.store = Some(self.store.describe());
                p.node = Some(format!("/{}", self.path));
                p.pointer = Some(problem.pointer.clone());
            }));
        }
        let made = self.chain.get_or_init(|| {
            let chain = spec::Chain::new(self.meta.codecs()).map_err(|e| CodecFault::unsupported("codecs", e.what))?;
            let shape = self.meta.grid().chunk_shape(&vec![0; self.meta.grid().ndim()]);
            Chain::new(&chain, self.meta.data_type(), &self.fill, &shape)
        });
        made.as_ref().map_err(|e| Error::from(e.clone()).at(|p| p.node = Some(format!("/{}", self.path))))
    }

    /// The chain for a chunk shape.
    pub fn bound(&self, shape: &[u64]) -> Result<Arc<Bound>> {
        if let Some(bound) = self.caches.bounds.read().unwrap_or_else(|e| e.into_inner()).get(shape) {
            return Ok(bound.clone());
        }
        let bound = self.chain()?.bind(shape)?;
        let most = self.options.max_chunk;
        if (bound.decoded().count() as u64).saturating_mul(self.item() as u64) > most {
            return Err(Error::new(Kind::Unsupported, format!("a chunk of shape {shape:?} decodes to more than {most} bytes")));
        }
        if let Some(len) = bound.open_shard().map(|s| s.index_len() as u64).filter(|&len| len > most) {
            return Err(Error::new(
                Kind::Unsupported,
                format!("the index of a shard of shape {shape:?} takes {len} bytes, more than {most}"),
            ));
        }
        let mut bounds = self.caches.bounds.write().unwrap_or_else(|e| e.into_inner());
        if bounds.len() >= BOUND_SHAPES {
            bounds.clear();
        }
        bounds.insert(shape.into(), bound.clone());
        Ok(bound)
    }

    /// Lends a worker's context.
    pub fn with_context<T>(&self, work: impl FnOnce(&mut Context) -> T) -> T {
        let lock = || self.caches.contexts.lock().unwrap_or_else(|e| e.into_inner());
        let mut context = lock().pop().unwrap_or_default();
        let result = work(&mut context);
        lock().push(context);
        result
    }

    /// How many threads work on one read or write.
    pub fn threads(&self) -> usize {
        self.options.threads.unwrap_or_else(rayon::current_num_threads)
    }

    /// An own pool where the options ask for a number of threads.
    pub fn pool(&self) -> Result<Option<Arc<rayon::ThreadPool>>> {
        let made = self.pool.get_or_init(|| match self.options.threads {
            None => Ok(None),
            Some(n) => rayon::ThreadPoolBuilder::new().num_threads(n).build().map(|p| Some(Arc::new(p))).map_err(|e| e.to_string()),
        });
        made.clone().map_err(|e| Error::new(Kind::Store, format!("worker threads cannot be started: {e}")))
    }

    /// The index of a shard that was read before, where it belongs to this version of the shard (remote stores tell none).
    pub fn known_index(&self, key: &str, version: Option<&str>) -> Option<Arc<Index>> {
        let indexes = self.caches.indexes.lock().unwrap_or_else(|e| e.into_inner());
        indexes.map.get(key).filter(|(_, of)| of.as_deref() == version).map(|(index, _)| index.clone())
    }

    /// Keeps an index that was read when the shard had this version.
    pub fn cache_index(&self, key: &str, index: &Arc<Index>, version: Option<&str>) {
        // Unknown versions of local stores are not kept: nothing would tell that the shard changed.
        if self.store.traits().local && version.is_none() {
            return;
        }
        self.caches.indexes.lock().unwrap_or_else(|e| e.into_inner()).insert(key, (index.clone(), version.map(Into::into)));
    }

    /// Forgets what is known of an object: it changed, or was not what it should be.
    pub fn forget(&self, key: &str) {
        self.kept.forget(key);
        self.caches.indexes.lock().unwrap_or_else(|e| e.into_inner()).remove(key);
    }

    /// The lock of a key: a read, change and write of an object is alone in this process.
    pub fn lock(&self, key: &str) -> MutexGuard<'_, ()> {
        let hash = key.bytes().fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ b as u64).wrapping_mul(0x100_0000_01b3));
        self.caches.locks[(hash % self.caches.locks.len() as u64) as usize].lock().unwrap_or_else(|e| e.into_inner())
    }

    pub fn resolve(&self, selection: &Selection) -> Result<Resolved> {
        let resolved = selection.resolve(self.meta.grid(), self.meta.dimension_names());
        resolved.map_err(|e| Error::from(e).at(|p| p.node = Some(format!("/{}", self.path))))
    }

    /// Bytes of an element in an output: its size, or that of a handle.
    pub fn item(&self) -> usize {
        self.meta.data_type().size().unwrap_or(HANDLE)
    }

    pub fn plan(&self, resolved: &Resolved) -> Result<Plan> {
        Plan::new(self.meta.grid(), resolved, self.item(), self.layout.clone(), None)
    }
}

impl Array {
    /// Opens the array at `path` (`""` for a lone array).
    pub fn open(store: &Store, path: &str) -> Result<Array> {
        Array::open_with(store, path, &Options::default())
    }
    /// The same with options.
    pub fn open_with(store: &Store, path: &str, options: &Options) -> Result<Array> {
        match crate::open(store, path, options)? {
            Node::Array(array) => Ok(array),
            Node::Group(group) => Err(Error::new(Kind::Invalid, "this is a group, not an array")
                .at(|p| {
                    p.store = Some(store.describe());
                    p.node = Some(format!("/{}", group.path()));
                })
                .with_hint("name one of the arrays in it")),
        }
    }
    /// Creates an array; an error of kind Exists where a node is there, unless `new.overwrite`.
    pub fn create(store: &Store, path: &str, new: NewArray) -> Result<Array> {
        crate::create::create(store, path, new)
    }
    /// An array from a document that was read already (consolidated metadata, a listing).
    pub fn from_meta(store: &Store, path: &str, meta: meta::Array, options: &Options) -> Result<Array> {
        let path = NodePath::parse(path)?.as_str().to_string();
        Ok(Array { inner: Arc::new(Inner::new(store.clone(), path, meta, options.clone(), Arc::default())) })
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.inner.store
    }
    /// The path in the store, without slashes at either end.
    pub fn path(&self) -> &str {
        &self.inner.path
    }
    /// The document.
    pub fn meta(&self) -> &meta::Array {
        &self.inner.meta
    }
    /// The shape.
    pub fn shape(&self) -> Vec<u64> {
        self.inner.meta.shape().to_vec()
    }
    /// What an element is.
    pub fn data_type(&self) -> &DataType {
        self.inner.meta.data_type()
    }
    /// Where the cuts are: of stored objects (shards, where the array is sharded).
    pub fn grid(&self) -> &Grid {
        self.inner.meta.grid()
    }
    /// The shape of the chunks inside a shard (of the innermost sharding), where the array is sharded; in the array's axes.
    pub fn inner_chunk_shape(&self) -> Option<Vec<u64>> {
        innermost(self.inner.meta.codecs(), None).map(|s| s.to_vec())
    }
    /// The options it was opened with.
    pub fn options(&self) -> &Options {
        &self.inner.options
    }
    pub(crate) fn inner(&self) -> &Inner {
        &self.inner
    }

    /// What a read would touch, fetch and decode. Nothing is fetched.
    pub fn plan(&self, selection: impl Into<Selection>) -> Result<Plan> {
        self.inner.plan(&self.inner.resolve(&selection.into())?)
    }

    /// Reads a selection: its shape and elements, C order.
    pub fn read_elements(&self, selection: impl Into<Selection>) -> Result<(Vec<u64>, Elements)> {
        let resolved = self.inner.resolve(&selection.into())?;
        self.inner.chain()?;
        let item = self.inner.item();
        let len = resolved.count().and_then(|n| usize::try_from(n).ok()).and_then(|n| n.checked_mul(item)).unwrap_or(usize::MAX);
        let mut buffer: Vec<u8> = zeroed(len)?;
        let plan = self.inner.plan(&resolved)?;
        let shape = plan.shape().to_vec();
        if self.data_type().size().is_some() {
            self.run(&plan, Target::fixed(&mut buffer, item, true))?;
            return Ok((shape, Elements::Fixed(buffer)));
        }
        let collected = self.run(&plan, Target::variable(&mut buffer, self.inner.fill.as_bytes()))?;
        Ok((shape, Elements::Variable(resolve(&buffer, &collected))))
    }

    fn run(&self, plan: &Plan, target: Target<'_>) -> Result<Vec<gingham_core::dtype::Variable>> {
        drive::blocking::run(&Machine { array: &self.inner, plan, target: &target })?;
        Ok(target.into_collected())
    }

    /// Reads a plan into new memory of `len` elements of `T`: it, and where they begin in it.
    #[allow(unsafe_code)]
    fn fill<T: Element>(&self, plan: &Plan, len: Option<usize>) -> Result<(Vec<T>, usize)> {
        let mut fresh: Fresh<T> = Fresh::new(len.unwrap_or(usize::MAX))?;
        self.run(plan, fresh.target_of(plan.item()))?;
        // SAFETY: the read is done.
        Ok(unsafe { fresh.filled() })
    }

    /// Reads fixed-size elements as bytes (C order, little-endian), into new memory that is as fast to fill as memory is.
    pub fn read_bytes(&self, selection: impl Into<Selection>) -> Result<(Vec<u64>, Buffer)> {
        let resolved = self.inner.resolve(&selection.into())?;
        let item = self.fixed_item()?;
        let len = resolved.count().and_then(|n| usize::try_from(n).ok()).and_then(|n| n.checked_mul(item));
        let plan = self.inner.plan(&resolved)?;
        let (memory, first) = self.fill(&plan, len)?;
        Ok((plan.shape().to_vec(), Buffer { memory, first }))
    }

    /// Reads a box of fixed-size elements with its axes in memory as they are in the stored chunks, which of a transposed array (v2's
    /// order F, v3's `transpose`) costs no transposition: the bytes, and how many of them lie between neighbours along each axis.
    ///
    /// ```
    /// # use gingham::{Array, Region, Store};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let store = Store::open("memory:")?;
    /// # store.put(".zarray", br#"{"zarr_format": 2, "shape": [2, 3], "chunks": [2, 3], "dtype": "|u1", "order": "F", "compressor": null,
    /// #   "filters": null, "fill_value": 0}"#.to_vec().into(), &gingham::store::Condition::Always)?;
    /// let array = Array::open(&store, "")?; // 2 x 3 bytes, order F
    /// array.write_bytes((), &[0, 1, 2, 3, 4, 5])?;
    /// let (bytes, strides) = array.read_as_stored(&Region::whole(&[2, 3]))?;
    /// assert_eq!((&bytes[..], &strides[..]), (&[0, 3, 1, 4, 2, 5][..], &[1, 2][..]));
    /// # Ok(()) }
    /// ```
    pub fn read_as_stored(&self, region: &Region) -> Result<(Buffer, Vec<usize>)> {
        let resolved = self.inner.resolve(&region.into())?;
        let item = self.fixed_item()?;
        let bound = self.inner.bound(&self.grid().chunk_shape(&vec![0; self.grid().ndim()]))?;
        let len = resolved.count().and_then(|n| usize::try_from(n).ok()).and_then(|n| n.checked_mul(item));
        let plan = Plan::new(self.grid(), &resolved, item, self.inner.layout.clone(), bound.order())?;
        let (memory, first) = self.fill(&plan, len)?;
        Ok((Buffer { memory, first }, plan.strides()))
    }

    /// Reads fixed-size elements into a buffer of exactly their length (C order, little-endian).
    pub fn read_into(&self, selection: impl Into<Selection>, out: &mut [u8]) -> Result<()> {
        let resolved = self.inner.resolve(&selection.into())?;
        let item = self.fixed_item()?;
        let expected = resolved.count().and_then(|n| n.checked_mul(item as u64));
        if expected != Some(out.len() as u64) {
            return Err(Error::new(
                Kind::Invalid,
                format!("the buffer holds {} bytes, the selection takes {}", out.len(), expected.unwrap_or(u64::MAX)),
            ));
        }
        self.inner.chain()?;
        let plan = self.inner.plan(&resolved)?;
        self.run(&plan, Target::fixed(out, item, false)).map(|_| ())
    }

    pub(crate) fn fixed_item(&self) -> Result<usize> {
        self.inner.chain()?;
        self.data_type().size().ok_or_else(|| {
            Error::new(Kind::Invalid, format!("elements of type {} vary in length", self.data_type()))
                .with_hint("use read_elements and write_elements")
        })
    }

    /// Reads into an ndarray; the type must be the array's.
    pub fn read<T: Element, D: ndarray::Dimension>(&self, selection: impl Into<Selection>) -> Result<ndarray::Array<T, D>> {
        self.check_element::<T>()?;
        let resolved = self.inner.resolve(&selection.into())?;
        let plan = self.inner.plan(&resolved)?;
        let (values, first) = self.fill::<T>(&plan, resolved.count().and_then(|n| usize::try_from(n).ok()))?;
        let dims: Vec<usize> = plan.shape().iter().map(|&l| l as usize).collect();
        let values = ndarray::Array1::from_vec(values).slice_move(ndarray::s![first..]);
        let array = values.into_shape_with_order(dims).map_err(|e| Error::new(Kind::Invalid, e.to_string()))?;
        let ndim = array.ndim();
        array.into_dimensionality().map_err(|_| {
            Error::new(Kind::Invalid, format!("the selection has {ndim} dimensions, the array that it is read into has another number"))
        })
    }

    pub(crate) fn check_element<T: Element>(&self) -> Result<()> {
        self.inner.chain()?;
        if T::is(self.data_type()) {
            return Ok(());
        }
        let what = format!("elements are of type {}, not {}", self.data_type(), std::any::type_name::<T>());
        Err(Error::new(Kind::Invalid, what).at(|p| p.node = Some(format!("/{}", self.inner.path))))
    }

    /// [`Array::read_elements`] for asynchronous programs: fetches await, decoding runs on worker threads.
    pub async fn read_async(&self, selection: Selection) -> Result<(Vec<u64>, Elements)> {
        let resolved = self.inner.resolve(&selection)?;
        self.inner.chain()?;
        let plan = self.inner.plan(&resolved)?;
        let shape = plan.shape().to_vec();
        Ok((shape, drive::tokio::run(self, plan).await?))
    }

    /// Deletes the array: its documents and all its chunks.
    pub fn erase(self) -> Result<()> {
        self.inner.store.delete_prefix(&self.inner.path)?;
        Ok(())
    }

    /// Other attributes; nothing else in the document changes.
    pub fn set_attributes(&mut self, attributes: Map<String, Value>) -> Result<()> {
        let mut meta = self.inner.meta.clone();
        meta.set_attributes(attributes);
        self.put_documents(&meta)?;
        self.replace_meta(meta);
        Ok(())
    }

    /// Writes an array's documents; `zarr.json` or `.zarray` last, as that is what a reader looks for.
    pub(crate) fn put_documents(&self, meta: &meta::Array) -> Result<()> {
        crate::create::put_documents(&self.inner.store, &self.inner.path, meta.documents())?;
        crate::group::refresh_consolidated(&self.inner.store, &self.inner.path, &meta::Node::Array(meta.clone()))
    }

    /// This array with another document (a new shape, say), not written yet.
    pub(crate) fn with_meta(&self, meta: meta::Array) -> Array {
        let inner =
            Inner::new(self.inner.store.clone(), self.inner.path.clone(), meta, self.inner.options.clone(), self.inner.caches.clone());
        Array { inner: Arc::new(inner) }
    }

    pub(crate) fn replace_meta(&mut self, meta: meta::Array) {
        *self = self.with_meta(meta);
    }

    /// The key of an object, from the store's root.
    pub fn key(&self, chunk: &[u64]) -> String {
        self.inner.layout.key(chunk)
    }

    /// The stored objects of this array: key (relative to the array), grid index where it is one of the grid's, size in bytes.
    pub fn stored(&self) -> Result<Vec<Stored>> {
        if !self.inner.store.traits().lists {
            return Err(Error::new(Kind::Store, "what is stored is not known: the store cannot be listed")
                .at(|p| {
                    p.store = Some(self.inner.store.describe());
                    p.node = Some(format!("/{}", self.inner.path));
                })
                .with_hint("ask where the array's files or its bucket can be listed"));
        }
        let prefix = if self.inner.path.is_empty() { String::new() } else { format!("{}/", self.inner.path) };
        let keys = self.inner.store.list(&self.inner.path)?;
        let relative = keys.into_iter().filter_map(|(key, size)| key.strip_prefix(&prefix).map(|k| (k.to_string(), size)));
        let documents = ["zarr.json", ".zarray", ".zattrs", ".zgroup", ".zmetadata"];
        Ok(relative
            .filter(|(key, _)| !documents.contains(&key.as_str()))
            .map(|(key, size)| {
                let chunk = self.inner.layout.keys.decode(&key, self.grid().ndim()).filter(|c| self.grid().contains(c));
                (key, chunk.map(|c| c.to_vec()), size)
            })
            .collect())
    }

    /// The encoded bytes of one stored object, or `None` where it is absent.
    pub fn read_encoded(&self, chunk: &[u64]) -> Result<Option<Bytes>> {
        self.check_chunk(chunk)?;
        let got = self.inner.store.get(&self.key(chunk), Range::All);
        got.map_err(|e| {
            Error::from(e).at(|p| {
                p.node = Some(format!("/{}", self.inner.path));
                p.chunk = Some(chunk.to_vec());
            })
        })
    }

    /// Decodes one stored object whole, at its stored shape (overhang included); `None` where it is absent.
    pub fn read_chunk(&self, chunk: &[u64]) -> Result<Option<Elements>> {
        let Some(bytes) = self.read_encoded(chunk)? else { return Ok(None) };
        let bound = self.inner.bound(&self.grid().chunk_shape(chunk))?;
        let decoded = self.inner.with_context(|context| bound.decode(&bytes, context));
        decoded.map(Some).map_err(|e| {
            Error::from(e).at(|p| {
                p.store = Some(self.inner.store.describe());
                p.node = Some(format!("/{}", self.inner.path));
                p.key = Some(self.key(chunk));
                p.chunk = Some(chunk.to_vec());
            })
        })
    }

    fn check_chunk(&self, chunk: &[u64]) -> Result<()> {
        if chunk.len() == self.grid().ndim() && self.grid().contains(chunk) {
            return Ok(());
        }
        let counts = self.grid().chunk_counts();
        Err(Error::new(Kind::OutOfRange, format!("there is no chunk {chunk:?}: the grid has {:?} chunks", counts.as_slice())))
    }
}

impl Inner {
    fn new(store: Store, path: String, meta: meta::Array, options: Options, caches: Arc<Caches>) -> Inner {
        let fill = meta.fill_value();
        let inner_shape = open_inner(meta.codecs(), meta.grid().ndim());
        let mut keys = meta.key_encoding().clone();
        if let (Format::V2, Some(separator)) = (meta.format(), options.separator) {
            keys = gingham_core::key::KeyEncoding::V2 { separator };
        }
        let raw = matches!(
            meta.codecs().iter().filter(|c| !matches!(c, Codec::Transpose { .. })).collect::<Vec<_>>().as_slice(),
            [Codec::Bytes(_)]
        );
        let item = meta.data_type().size().unwrap_or(HANDLE) as u64;
        let layout = Arc::new(Layout { prefix: path.clone(), keys, inner: inner_shape.clone(), item, raw });
        let kept = Kept::new(options.kept_chunks);
        Inner { store, path, meta, options, fill, inner_shape, layout, chain: OnceLock::new(), pool: OnceLock::new(), caches, kept }
    }
}

/// The inner chunk shape of a shard whose chunks can be fetched one by one: only transposes before it, nothing behind.
fn open_inner(codecs: &[Codec], ndim: usize) -> Option<Shape> {
    let [before @ .., Codec::Sharding(sharding)] = codecs else { return None };
    let mut shape = sharding.chunk_shape.clone();
    if shape.len() != ndim || shape.contains(&0) {
        return None;
    }
    for codec in before.iter().rev() {
        let Codec::Transpose { order } = codec else { return None };
        shape = untransposed(&shape, order)?;
    }
    Some(shape)
}

/// The chunk shape of the innermost sharding, in the array's axes.
fn innermost(codecs: &[Codec], found: Option<Shape>) -> Option<Shape> {
    let Some(at) = codecs.iter().position(|c| matches!(c, Codec::Sharding(_))) else { return found };
    let Codec::Sharding(sharding) = &codecs[at] else { return found };
    let mut shape = innermost(&sharding.codecs, Some(sharding.chunk_shape.clone()))?;
    for codec in codecs[..at].iter().rev() {
        if let Codec::Transpose { order } = codec {
            shape = untransposed(&shape, order)?;
        }
    }
    Some(shape)
}

fn untransposed(shape: &[u64], order: &[usize]) -> Option<Shape> {
    let mut out: Shape = shape.into();
    for (i, &axis) in order.iter().enumerate() {
        *out.get_mut(axis)? = *shape.get(i)?;
    }
    Some(out)
}
