//! What is timed, and what is not: the same for every engine.

use std::hint::black_box;
use std::ops::Deref;
use std::path::Path;
use std::time::Instant;

use serde_json::Value;

use crate::{Arguments, Failure, Region, Report, Sums};

/// A way to read and write Zarr. What an engine does not offer stays as it is here and fails with a word.
pub trait Engine {
    /// An opened array.
    type Array;
    /// What a read returns.
    type Bytes: Deref<Target = [u8]>;

    /// Opens the array at a path or URL.
    fn open(&self, place: &str) -> Result<Self::Array, Failure>;
    /// The array's shape.
    fn shape(&self, array: &Self::Array) -> Vec<u64>;
    /// Bytes of an element.
    fn item(&self, array: &Self::Array) -> Result<usize, Failure>;
    /// Reads a box, or everything, into new memory, in C order.
    fn read(&self, array: &Self::Array, region: Option<&Region>) -> Result<Self::Bytes, Failure>;
    /// Reads everything, its axes in memory in whatever order is cheapest: the bytes, and how many of them lie between neighbours
    /// along each axis where that is not C order.
    fn read_any(&self, array: &Self::Array) -> Result<(Self::Bytes, Option<Vec<usize>>), Failure> {
        Ok((self.read(array, None)?, None))
    }
    /// Reads everything into memory that is there.
    fn read_into(&self, _: &Self::Array, _: &mut [u8]) -> Result<(), Failure> {
        absent("reading into a given buffer")
    }
    /// Writes a box, or everything.
    fn write(&self, _: &Self::Array, _: Option<&Region>, _: &[u8]) -> Result<(), Failure> {
        absent("writing a part")
    }
    /// Appends rows along the first axis, the document's shape included.
    fn append(&self, _: &mut Self::Array, _rows: u64, _: Vec<u8>) -> Result<(), Failure> {
        absent("appending")
    }
    /// The number of keys in a store.
    fn list(&self, _place: &str) -> Result<usize, Failure> {
        absent("listing a store")
    }
    /// Opens every array of a group; how many there are.
    fn hierarchy(&self, _place: &str, _consolidated: bool) -> Result<usize, Failure> {
        absent("opening a hierarchy")
    }
    /// SHA-256 of the values in C order, as text.
    fn sha256(&self, _: &Self::Array) -> Result<String, Failure> {
        absent("a checksum of values")
    }
    /// Facts at the end of a run.
    fn facts(&self) -> Vec<(&'static str, Value)> {
        Vec::new()
    }
}

fn absent<T>(what: &str) -> Result<T, Failure> {
    Err(format!("not offered: {what}").into())
}

/// Does what the command line says and prints the report.
pub fn run<E: Engine>(engine: &E, arguments: &Arguments) -> Result<(), Failure> {
    let place = arguments.get("store")?;
    let mut job = Job { engine, arguments, place, report: Report::new() };
    match arguments.operation.as_str() {
        "open" => job.repeat(|job| {
            let array = job.report.time(|| job.engine.open(place))?;
            black_box(job.engine.shape(&array));
            Ok(())
        }),
        "read_full" => job.read_full(),
        "read_into" => job.read_into(),
        "read_sel" => job.read_boxes(),
        "write_full" => job.write_full(false),
        "overwrite" => job.write_full(true),
        "write_sel" => job.write_boxes(),
        "append" => job.append(),
        "chunk_rt" => job.write_and_read_chunks(),
        "checksum" => job.checksum(),
        "list" => job.repeat(|job| {
            let keys = job.report.time(|| job.engine.list(place))?;
            job.report.fact("count", keys);
            Ok(())
        }),
        "hier" | "hier_cons" => job.repeat(|job| {
            let consolidated = job.arguments.operation == "hier_cons";
            let arrays = job.report.time(|| job.engine.hierarchy(place, consolidated))?;
            job.report.fact("count", arrays);
            Ok(())
        }),
        other => Err(format!("there is no operation {other}").into()),
    }?;
    for (name, value) in engine.facts() {
        job.report.fact(name, value);
    }
    job.report.print();
    Ok(())
}

struct Job<'a, E: Engine> {
    engine: &'a E,
    arguments: &'a Arguments,
    place: &'a str,
    report: Report,
}

impl<E: Engine> Job<'_, E> {
    /// The warm-up, then what counts.
    fn repeat(&mut self, mut once: impl FnMut(&mut Self) -> Result<(), Failure>) -> Result<(), Failure> {
        for _ in 0..self.arguments.warm_up()? {
            once(self)?;
        }
        self.report.warmed();
        (0..self.arguments.iterations()?).try_for_each(|_| once(self))
    }

    fn len(&self, array: &E::Array) -> Result<usize, Failure> {
        Ok(self.engine.shape(array).iter().product::<u64>() as usize * self.engine.item(array)?)
    }

    fn read_full(&mut self) -> Result<(), Failure> {
        let array = self.engine.open(self.place)?;
        let any = self.arguments.is("any");
        self.report.set_base();
        let mut summed = false;
        self.repeat(|job| {
            let engine = job.engine;
            let (bytes, strides) = match any {
                true => job.report.time(|| engine.read_any(&array))?,
                false => (job.report.time(|| engine.read(&array, None))?, None),
            };
            if !std::mem::replace(&mut summed, true) {
                let mut sums = Sums::default();
                match strides {
                    None => sums.add(&bytes),
                    Some(strides) => sums.add(&in_c_order(&bytes, &engine.shape(&array), &strides, engine.item(&array)?)),
                }
                job.report.sums(&sums);
            }
            Ok(())
        })
    }

    fn read_into(&mut self) -> Result<(), Failure> {
        let array = self.engine.open(self.place)?;
        // Not zeros: those would be pages that nobody has touched yet.
        let mut out = vec![1u8; self.len(&array)?];
        self.report.set_base();
        self.repeat(|job| job.report.time(|| job.engine.read_into(&array, &mut out)))?;
        let mut sums = Sums::default();
        sums.add(&out);
        self.report.sums(&sums);
        Ok(())
    }

    /// One box after the other. The array is opened anew before every pass (outside the clock), so that nothing an engine
    /// keeps by itself outlives a pass; `kept` leaves it open, which is what the rows with caches are about.
    fn read_boxes(&mut self) -> Result<(), Failure> {
        let regions = self.arguments.selections()?;
        let kept = if self.arguments.is("kept") { Some(self.engine.open(self.place)?) } else { None };
        self.report.set_base();
        let mut summed = false;
        self.repeat(|job| {
            let opened = if kept.is_none() { Some(job.engine.open(job.place)?) } else { None };
            let array = kept.as_ref().or(opened.as_ref()).ok_or("no array")?;
            if !std::mem::replace(&mut summed, true) {
                let mut sums = Sums::default();
                for region in &regions {
                    sums.add(&job.engine.read(array, Some(region))?);
                }
                job.report.sums(&sums);
                if job.arguments.warm_up()? > 0 {
                    return Ok(());
                }
            }
            let mut each = Vec::with_capacity(regions.len());
            job.report.time(|| {
                regions.iter().try_for_each(|region| {
                    let begun = Instant::now();
                    black_box(&*job.engine.read(array, Some(region))?);
                    each.push(begun.elapsed().as_secs_f64());
                    Ok::<(), Failure>(())
                })
            })?;
            each.into_iter().for_each(|seconds| job.report.each(seconds));
            Ok(())
        })
    }

    /// Everything, into an empty place, or over what is there.
    fn write_full(&mut self, over: bool) -> Result<(), Failure> {
        let data = std::fs::read(self.arguments.get("src")?)?;
        let target = self.arguments.get("dst")?;
        if over {
            lay_documents(self.place, target)?;
            self.engine.write(&self.engine.open(target)?, None, &data)?;
        }
        self.report.set_base();
        self.repeat(|job| {
            if !over {
                lay_documents(job.place, target)?;
            }
            job.report.time(|| job.engine.write(&job.engine.open(target)?, None, &data))
        })?;
        self.report.fact("count", count_files(Path::new(target))?);
        Ok(())
    }

    /// Boxes that cut chunks, into a copy of the array.
    fn write_boxes(&mut self) -> Result<(), Failure> {
        let target = self.arguments.get("dst")?;
        copy_tree(Path::new(self.place), Path::new(target))?;
        let regions = self.arguments.selections()?;
        let item = self.engine.item(&self.engine.open(target)?)?;
        let blocks: Vec<_> = regions.iter().enumerate().map(|(n, r)| block(r.count() * item, n)).collect();
        self.report.set_base();
        self.repeat(|job| {
            let array = job.engine.open(target)?;
            let mut each = Vec::with_capacity(regions.len());
            job.report.time(|| {
                regions.iter().zip(&blocks).try_for_each(|(region, block)| {
                    let begun = Instant::now();
                    job.engine.write(&array, Some(region), block)?;
                    each.push(begun.elapsed().as_secs_f64());
                    Ok::<(), Failure>(())
                })
            })?;
            each.into_iter().for_each(|seconds| job.report.each(seconds));
            Ok(())
        })
    }

    /// The whole array, grown from nothing, some rows at a time.
    fn append(&mut self) -> Result<(), Failure> {
        let data = std::fs::read(self.arguments.get("src")?)?;
        let target = self.arguments.get("dst")?;
        let rows: u64 = self.arguments.get("batch")?.parse()?;
        let array = self.engine.open(self.place)?;
        let height = self.engine.shape(&array)[0];
        let row = data.len() / height as usize;
        self.report.set_base();
        self.repeat(|job| {
            lay_documents(job.place, target)?;
            cut_to_nothing(target)?;
            let mut array = job.engine.open(target)?;
            let mut batches = Vec::new();
            for at in (0..height).step_by(rows as usize) {
                let rows = rows.min(height - at);
                batches.push((rows, data[at as usize * row..(at + rows) as usize * row].to_vec()));
            }
            let mut each = Vec::new();
            job.report.time(|| {
                batches.into_iter().try_for_each(|(rows, batch)| {
                    let begun = Instant::now();
                    job.engine.append(&mut array, rows, batch)?;
                    each.push(begun.elapsed().as_secs_f64());
                    Ok::<(), Failure>(())
                })
            })?;
            each.into_iter().for_each(|seconds| job.report.each(seconds));
            Ok(())
        })
    }

    /// Whole chunks, each written and read back.
    fn write_and_read_chunks(&mut self) -> Result<(), Failure> {
        let target = self.arguments.get("dst")?;
        let regions = self.arguments.selections()?;
        let mut written = Vec::new();
        self.repeat(|job| {
            lay_documents(job.place, target)?;
            let array = job.engine.open(target)?;
            let item = job.engine.item(&array)?;
            let block = block(regions.first().map_or(0, |r| r.count() * item), 0);
            let mut each = Vec::new();
            written.clear();
            job.report.time(|| {
                for region in &regions {
                    let begun = Instant::now();
                    job.engine.write(&array, Some(region), &block)?;
                    written.push(begun.elapsed().as_secs_f64());
                    let begun = Instant::now();
                    let bytes = job.engine.read(&array, Some(region))?;
                    each.push(begun.elapsed().as_secs_f64());
                    if *bytes != block[..] {
                        return Err("what was written is not what is read".into());
                    }
                }
                Ok::<(), Failure>(())
            })?;
            each.into_iter().for_each(|seconds| job.report.each(seconds));
            Ok(())
        })?;
        written.sort_by(f64::total_cmp);
        self.report.fact("write_p50", written.get(written.len() / 2).copied());
        Ok(())
    }

    fn checksum(&mut self) -> Result<(), Failure> {
        let array = self.engine.open(self.place)?;
        self.report.set_base();
        self.repeat(|job| {
            let hash = job.report.time(|| job.engine.sha256(&array))?;
            job.report.fact("sha256", hash);
            Ok(())
        })
    }
}

/// Elements that lie `strides` bytes apart, one after the other in C order: sums are formed of these.
fn in_c_order(bytes: &[u8], shape: &[u64], strides: &[usize], item: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = vec![0; shape.len()];
    for _ in 0..bytes.len() / item {
        let from: usize = at.iter().zip(strides).map(|(&i, stride)| i as usize * stride).sum();
        out.extend_from_slice(&bytes[from..from + item]);
        for (i, &len) in at.iter_mut().zip(shape).rev() {
            *i += 1;
            if *i < len {
                break;
            }
            *i = 0;
        }
    }
    out
}

/// Bytes that compress as little as real ones do, and differ from block to block.
fn block(len: usize, seed: usize) -> Vec<u8> {
    (0..len).map(|i| ((i * 7 + seed) % 251) as u8).collect()
}

/// Lays the documents of one array where another is to be written; whatever was there is gone.
fn lay_documents(from: &str, to: &str) -> Result<(), Failure> {
    if Path::new(to).exists() {
        std::fs::remove_dir_all(to)?;
    }
    std::fs::create_dir_all(to)?;
    for name in ["zarr.json", ".zarray", ".zattrs"] {
        let document = Path::new(from).join(name);
        if document.exists() {
            std::fs::copy(document, Path::new(to).join(name))?;
        }
    }
    Ok(())
}

/// The first axis of the array whose document lies there gets the length 0.
fn cut_to_nothing(target: &str) -> Result<(), Failure> {
    for name in ["zarr.json", ".zarray"] {
        let path = Path::new(target).join(name);
        if path.exists() {
            let mut document: Value = serde_json::from_slice(&std::fs::read(&path)?)?;
            document["shape"][0] = 0.into();
            std::fs::write(&path, serde_json::to_vec(&document)?)?;
        }
    }
    Ok(())
}

fn copy_tree(from: &Path, to: &Path) -> Result<(), Failure> {
    if to.exists() {
        std::fs::remove_dir_all(to)?;
    }
    std::fs::create_dir_all(to)?;
    let mut folders = vec![from.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let target = to.join(entry.path().strip_prefix(from)?);
            if entry.file_type()?.is_dir() {
                std::fs::create_dir(target)?;
                folders.push(entry.path());
            } else {
                std::fs::copy(entry.path(), target)?;
            }
        }
    }
    Ok(())
}

/// Files below a directory.
pub fn count_files(root: &Path) -> Result<usize, Failure> {
    let (mut count, mut folders) = (0, vec![root.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() { folders.push(entry.path()) } else { count += 1 }
        }
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::in_c_order;
    use crate::Sums;

    #[test]
    fn elements_of_a_reversed_array_come_in_c_order() {
        // 2 x 3 elements of two bytes, first axis fastest.
        let stored = [0, 0, 3, 3, 1, 1, 4, 4, 2, 2, 5, 5];
        assert_eq!(in_c_order(&stored, &[2, 3], &[2, 4], 2), [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]);
    }

    #[test]
    fn sums_tell_order_and_the_last_bytes() {
        let sums = |parts: &[&[u8]]| {
            let mut sums = Sums::default();
            parts.iter().for_each(|part| sums.add(part));
            (sums.plain(), sums.ordered())
        };
        let (a, b) = (&[1, 0, 0, 0, 0, 0, 0, 0][..], &[2, 0, 0, 0, 0, 0, 0, 0][..]);
        assert_eq!((sums(&[&[a, b].concat()]), sums(&[&[b, a].concat()])), ((3, 7), (3, 5)));
        assert_eq!((sums(&[a, b]), sums(&[b, a])), ((3, 7), (3, 5)));
        assert_eq!(sums(&[&[7, 1]]), (0, 263));
    }
}
