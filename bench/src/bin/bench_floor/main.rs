//! The floor: what a read or write costs with nothing but the C codec and copies, on two threads, by hand.
//!
//! ```text
//!   two threads:  next piece ──► pread ──► decode (C) ──► copy into huge pages
//! ```
//!
//! It knows only the layouts of the benchmarks. `--alloc small` takes the output from malloc, in pages of 4 KiB, as a plain
//! `Vec` would. `limits` and `codec` measure what the machine gives.

mod codecs;
mod document;
mod limits;
mod memory;
mod pool;
mod read;
mod write;

use std::sync::mpsc::sync_channel;

use document::{Layout, Three};
use gingham_bench::{Arguments, Engine, Failure, Region, operations::count_files, run};
use memory::{Buffer, Pages, Target};
use pool::Pool;
use read::Opened;
use sha2::{Digest, Sha256};
use write::Source;

struct Floor {
    pool: Pool,
    pages: Pages,
}

fn three(numbers: &[u64]) -> Three {
    std::array::from_fn(|axis| numbers[axis] as usize)
}

/// Start and shape of a box, or of everything.
fn extent(layout: &Layout, region: Option<&Region>) -> (Three, Three) {
    region.map_or(([0; 3], layout.shape), |region| (three(&region.start), three(&region.shape)))
}

impl Engine for Floor {
    type Array = Opened;
    type Bytes = Buffer;

    fn open(&self, place: &str) -> Result<Opened, Failure> {
        if place.contains("://") {
            return Err("not offered: remote stores".into());
        }
        Ok(Opened::new(Layout::open(place)?))
    }
    fn shape(&self, array: &Opened) -> Vec<u64> {
        array.layout.shape.iter().map(|&n| n as u64).collect()
    }
    fn item(&self, array: &Opened) -> Result<usize, Failure> {
        Ok(array.layout.item)
    }
    fn read(&self, array: &Opened, region: Option<&Region>) -> Result<Buffer, Failure> {
        let (start, shape) = extent(&array.layout, region);
        let mut out = Buffer::new(shape.iter().product::<usize>() * array.layout.item, self.pages);
        array.read(&self.pool, start, shape, out.target())?;
        Ok(out)
    }
    fn read_into(&self, array: &Opened, out: &mut [u8]) -> Result<(), Failure> {
        if out.len() != array.layout.bytes() {
            return Err("the buffer has another length".into());
        }
        array.read(&self.pool, [0; 3], array.layout.shape, Target(out.as_mut_ptr()))
    }
    fn write(&self, array: &Opened, region: Option<&Region>, bytes: &[u8]) -> Result<(), Failure> {
        let (start, shape) = extent(&array.layout, region);
        write::write(&array.layout, &self.pool, &Source { start, shape, bytes })
    }
    fn list(&self, place: &str) -> Result<usize, Failure> {
        count_files(place.as_ref())
    }
    fn hierarchy(&self, place: &str, consolidated: bool) -> Result<usize, Failure> {
        if consolidated {
            let document = std::fs::read(format!("{place}/zarr.json"))?;
            let document: serde_json::Value = serde_json::from_slice(&document)?;
            return Ok(document["consolidated_metadata"]["metadata"].as_object().map_or(0, |m| m.len()));
        }
        let mut count = 0;
        for entry in std::fs::read_dir(place)?.filter_map(Result::ok).filter(|e| e.path().is_dir()) {
            let document = std::fs::read(entry.path().join("zarr.json"))?;
            let document: serde_json::Value = serde_json::from_slice(&document)?;
            count += usize::from(document["node_type"] == "array");
        }
        Ok(count)
    }
    /// Slabs of about 32 MiB along the first axis, read while the one before is hashed.
    fn sha256(&self, array: &Opened) -> Result<String, Failure> {
        let layout = &array.layout;
        let height = layout.block([0; 3]).stored[0];
        let (give, slabs) = sync_channel::<Buffer>(1);
        std::thread::scope(|scope| {
            let hash = scope.spawn(move || {
                let mut hash = Sha256::new();
                slabs.into_iter().for_each(|slab| hash.update(&*slab));
                hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
            });
            for start in (0..layout.shape[0]).step_by(height) {
                let shape = [height.min(layout.shape[0] - start), layout.shape[1], layout.shape[2]];
                let mut slab = Buffer::new(shape.iter().product::<usize>() * layout.item, self.pages);
                array.read(&self.pool, [start, 0, 0], shape, slab.target())?;
                give.send(slab).map_err(|_| "the hashing thread stopped")?;
            }
            drop(give);
            hash.join().map_err(|_| "a thread panicked".into())
        })
    }
}

fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse()?;
    match arguments.operation.as_str() {
        "limits" => return limits::machine(&arguments),
        "codec" => return limits::codec(&arguments),
        _ => (),
    }
    let pages = if arguments.or("alloc", "huge") == "small" { Pages::Small } else { Pages::Huge };
    let floor = Floor { pool: Pool::new(arguments.threads()?.unwrap_or(2))?, pages };
    floor.pool.enter(|| run(&floor, &arguments))
}
