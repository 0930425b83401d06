//! The crate zarrs, called the way its documentation shows.
//!
//! Variants: `index` keeps the shard indexes of an array (`ArrayShardedReadableExtCache`), `cache` decoded chunks, 256 MiB of
//! them (`ChunkCacheDecodedLruSizeLimit`); neither is on by default.

use std::borrow::Cow;
use std::future::Future;
use std::sync::Arc;

use gingham_bench::{Arguments, Engine, Failure, Region, run};
use unsafe_cell_slice::UnsafeCellSlice;
use zarrs::array::chunk_cache::{ChunkCache, ChunkCacheDecodedLruSizeLimit};
use zarrs::array::{
    Array, ArrayBytes, ArrayBytesDecodeIntoTarget, ArrayBytesFixedDisjointView, ArrayShardedReadableExt, ArrayShardedReadableExtCache,
    ArraySubset, CodecOptions,
};
use zarrs::filesystem::FilesystemStore;
use zarrs::group::Group;
use zarrs::storage::storage_adapter::async_to_sync::{AsyncToSyncBlockOn, AsyncToSyncStorageAdapter};
use zarrs::storage::{ListableStorageTraits, ReadableWritableListableStorage, ReadableWritableListableStorageTraits};
use zarrs_object_store::{AsyncObjectStore, object_store};

const CACHE: u64 = 256 << 20;

type Stored = Array<dyn ReadableWritableListableStorageTraits>;

struct Opened {
    array: Stored,
    index: Option<ArrayShardedReadableExtCache>,
    cache: Option<ChunkCacheDecodedLruSizeLimit>,
}

struct Zarrs {
    index: bool,
    cache: bool,
    endpoint: Option<String>,
}

struct Runtime(tokio::runtime::Runtime);

impl AsyncToSyncBlockOn for Runtime {
    fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.0.block_on(future)
    }
}

fn remote(store: impl object_store::ObjectStore) -> Result<ReadableWritableListableStorage, Failure> {
    let store = Arc::new(AsyncObjectStore::new(store));
    Ok(Arc::new(AsyncToSyncStorageAdapter::new(store, Runtime(tokio::runtime::Runtime::new()?))))
}

impl Zarrs {
    /// The store, and the path of the node in it.
    fn store(&self, place: &str) -> Result<(ReadableWritableListableStorage, String), Failure> {
        let clients = object_store::ClientOptions::new().with_allow_http(true);
        if place.starts_with("http://") {
            let store = object_store::http::HttpBuilder::new().with_url(place).with_client_options(clients).build()?;
            return Ok((remote(store)?, "/".into()));
        }
        if let Some(place) = place.strip_prefix("s3://") {
            let (bucket, key) = place.split_once('/').ok_or("s3://bucket/key")?;
            let endpoint = self.endpoint.as_deref().ok_or("--endpoint is missing")?;
            let store = object_store::aws::AmazonS3Builder::new().with_bucket_name(bucket).with_endpoint(endpoint);
            let store = store.with_region("us-east-1").with_access_key_id("bench").with_secret_access_key("bench-secret");
            return Ok((remote(store.with_client_options(clients).build()?)?, format!("/{key}")));
        }
        Ok((Arc::new(FilesystemStore::new(place)?), "/".into()))
    }
}

fn subset(array: &Stored, region: Option<&Region>) -> Result<ArraySubset, Failure> {
    Ok(match region {
        None => array.subset_all(),
        Some(region) => ArraySubset::new_with_start_shape(region.start.clone(), region.shape.clone())?,
    })
}

impl Engine for Zarrs {
    type Array = Opened;
    type Bytes = Cow<'static, [u8]>;

    fn open(&self, place: &str) -> Result<Opened, Failure> {
        let (store, path) = self.store(place)?;
        let array = Array::open(store, &path)?;
        let index = self.index.then(|| ArrayShardedReadableExtCache::new(&array));
        let cache = self.cache.then(|| ChunkCacheDecodedLruSizeLimit::new(Arc::new(array.readable()), CACHE));
        Ok(Opened { array, index, cache })
    }
    fn shape(&self, opened: &Opened) -> Vec<u64> {
        opened.array.shape().to_vec()
    }
    fn item(&self, opened: &Opened) -> Result<usize, Failure> {
        Ok(opened.array.data_type().fixed_size().ok_or("elements of fixed size were expected")?)
    }
    fn read(&self, opened: &Opened, region: Option<&Region>) -> Result<Cow<'static, [u8]>, Failure> {
        let subset = subset(&opened.array, region)?;
        let options = CodecOptions::default();
        let bytes: ArrayBytes<'static> = match (&opened.index, &opened.cache) {
            (Some(index), _) => opened.array.retrieve_array_subset_sharded_opt(index, &subset, &options)?,
            (_, Some(cache)) => cache.retrieve_array_subset(&subset, &options)?,
            _ => opened.array.retrieve_array_subset(&subset)?,
        };
        Ok(bytes.into_fixed()?)
    }
    fn read_into(&self, opened: &Opened, out: &mut [u8]) -> Result<(), Failure> {
        let subset = opened.array.subset_all();
        let shape = opened.array.shape();
        // SAFETY: one view alone holds this memory.
        let mut view = unsafe { ArrayBytesFixedDisjointView::new(UnsafeCellSlice::new(out), self.item(opened)?, shape, subset.clone())? };
        Ok(opened.array.retrieve_array_subset_into(&subset, ArrayBytesDecodeIntoTarget::Fixed(&mut view))?)
    }
    fn write(&self, opened: &Opened, region: Option<&Region>, bytes: &[u8]) -> Result<(), Failure> {
        Ok(opened.array.store_array_subset(&subset(&opened.array, region)?, ArrayBytes::new_flen(bytes))?)
    }
    fn append(&self, opened: &mut Opened, rows: u64, bytes: Vec<u8>) -> Result<(), Failure> {
        let mut region = Region { start: vec![0; opened.array.shape().len()], shape: opened.array.shape().to_vec() };
        region.start[0] = std::mem::replace(&mut region.shape[0], rows);
        let mut shape = region.shape.clone();
        shape[0] += region.start[0];
        opened.array.set_shape(shape)?;
        opened.array.store_metadata()?;
        self.write(opened, Some(&region), &bytes)
    }
    fn list(&self, place: &str) -> Result<usize, Failure> {
        Ok(self.store(place)?.0.list()?.len())
    }
    fn hierarchy(&self, place: &str, _: bool) -> Result<usize, Failure> {
        let (store, path) = self.store(place)?;
        Ok(Group::open(store, &path)?.child_arrays()?.len())
    }
}

fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse()?;
    if let Some(threads) = arguments.threads()? {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    }
    let endpoint = arguments.get("endpoint").ok().map(String::from);
    run(&Zarrs { index: arguments.is("index"), cache: arguments.is("cache"), endpoint }, &arguments)
}
