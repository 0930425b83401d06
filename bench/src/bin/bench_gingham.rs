//! gingham, called the way its documentation shows.

use gingham::core::dtype::Elements;
use gingham::store::wrap::{Count, Counts};
use gingham::{Array, Buffer, Consolidated, Group, Node, Options, Selection, Store};
use gingham_bench::{Arguments, Engine, Failure, Region, run};
use serde_json::Value;
use std::sync::{Arc, Mutex};

/// What tensorstore's cache pool is given too.
const KEPT: u64 = 256 << 20;

struct Gingham {
    options: Options,
    store: gingham::store::Options,
    /// `--variant count`: every store is watched, and the requests become facts of the report.
    counts: Option<Mutex<Vec<Arc<Counts>>>>,
}

impl Gingham {
    fn new(arguments: &Arguments) -> Result<Self, Failure> {
        let mut store = gingham::store::Options::default();
        if let Ok(endpoint) = arguments.get("endpoint") {
            let settings = [
                ("aws_endpoint", endpoint),
                ("aws_region", "us-east-1"),
                ("aws_access_key_id", "bench"),
                ("aws_secret_access_key", "bench-secret"),
            ];
            store.settings = settings.map(|(name, value)| (name.to_string(), value.to_string())).to_vec();
        }
        Ok(Self {
            options: Options {
                threads: arguments.threads()?,
                kept_chunks: if arguments.is("cache") { KEPT } else { 0 },
                ..Options::default()
            },
            store,
            counts: arguments.is("count").then(Mutex::default),
        })
    }

    fn store(&self, place: &str) -> Result<Store, Failure> {
        let store = gingham::store::open_with(place, &self.store)?;
        let Some(counts) = &self.counts else { return Ok(store) };
        let watched = Count::new(store);
        counts.lock().map_err(|_| "a thread panicked")?.push(watched.counts());
        Ok(Store::new(watched))
    }
}

fn selection(region: Option<&Region>) -> Selection {
    match region {
        None => ().into(),
        Some(Region { start, shape }) => gingham::Region { start: start.as_slice().into(), shape: shape.as_slice().into() }.into(),
    }
}

impl Engine for Gingham {
    type Array = Array;
    type Bytes = Buffer;

    fn open(&self, place: &str) -> Result<Array, Failure> {
        Ok(Array::open_with(&self.store(place)?, "", &self.options)?)
    }
    fn shape(&self, array: &Array) -> Vec<u64> {
        array.shape()
    }
    fn item(&self, array: &Array) -> Result<usize, Failure> {
        Ok(array.data_type().size().ok_or("elements of fixed size were expected")?)
    }
    fn read(&self, array: &Array, region: Option<&Region>) -> Result<Buffer, Failure> {
        Ok(array.read_bytes(selection(region))?.1)
    }
    fn read_any(&self, array: &Array) -> Result<(Buffer, Option<Vec<usize>>), Failure> {
        let (bytes, strides) = array.read_as_stored(&gingham::Region::whole(&array.shape()))?;
        Ok((bytes, Some(strides)))
    }
    fn read_into(&self, array: &Array, out: &mut [u8]) -> Result<(), Failure> {
        Ok(array.read_into((), out)?)
    }
    fn write(&self, array: &Array, region: Option<&Region>, bytes: &[u8]) -> Result<(), Failure> {
        Ok(array.write_bytes(selection(region), bytes)?)
    }
    fn append(&self, array: &mut Array, rows: u64, bytes: Vec<u8>) -> Result<(), Failure> {
        let mut shape = array.shape();
        shape[0] = rows;
        Ok(array.append(0, &shape, &Elements::Fixed(bytes))?)
    }
    fn list(&self, place: &str) -> Result<usize, Failure> {
        Ok(self.store(place)?.keys("")?.len())
    }
    fn hierarchy(&self, place: &str, consolidated: bool) -> Result<usize, Failure> {
        // By itself a store that lists is listed, and the block compared with it: here the block alone is read.
        let consolidated = if consolidated { Consolidated::Require } else { Consolidated::Auto };
        let group = Group::open_with(&self.store(place)?, "", &Options { consolidated, ..self.options.clone() })?;
        let mut arrays = Vec::new();
        for entry in group.children()? {
            if let Node::Array(array) = entry.node? {
                arrays.push(array);
            }
        }
        Ok(arrays.len())
    }
    fn sha256(&self, array: &Array) -> Result<String, Failure> {
        Ok(gingham_ops::checksum::checksum(array, &|_| ())?)
    }
    fn facts(&self) -> Vec<(&'static str, Value)> {
        let Some(Ok(counts)) = self.counts.as_ref().map(|c| c.lock()) else { return Vec::new() };
        let sum = |of: &dyn Fn(&Counts) -> u64| counts.iter().map(|c| of(c)).sum::<u64>();
        vec![
            ("gets", sum(&|c| c.now().gets).into()),
            ("got_bytes", sum(&|c| c.now().got_bytes).into()),
            ("stats", sum(&|c| c.now().stats).into()),
            ("puts", sum(&|c| c.now().puts).into()),
            ("lists", sum(&|c| c.now().lists).into()),
        ]
    }
}

fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse()?;
    run(&Gingham::new(&arguments)?, &arguments)
}
