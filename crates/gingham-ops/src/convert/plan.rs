//! From a hierarchy to the jobs that convert it; everything that can be refused is refused here, before a byte is written.

use std::collections::BTreeSet;

use gingham::core::path::NodePath;
use gingham::{Array, Error, Format, Group, Kind, Node, Result};

use super::blocks::Blocks;
use super::document::converted;
use super::layout::{layout, rank};
use super::{Cut, Options};
use crate::separator::{Stored, misnamed};
use crate::slabs::{VARIABLE_GUESS, decoded_axes};

/// Bytes under way where the caller does not say.
const MEMORY: u64 = 512 << 20;
/// Blocks under way at once, at most: enough that storage and processors both stay busy, since the engine's own threads work
/// on each of them.
const WORKERS: usize = 8;

/// Everything that will be done.
pub(super) struct Plan {
    pub format: Format,
    /// Path in the target, and the group it comes from (`None`: the source has no document for it).
    pub groups: Vec<(String, Option<Group>)>,
    pub jobs: Vec<Job>,
    /// Path and sentence.
    pub warnings: Vec<(String, String)>,
    pub consolidate: bool,
}

/// One array.
pub(super) struct Job {
    pub path: String,
    pub source: Array,
    pub meta: gingham::core::meta::Array,
    pub blocks: Blocks,
    pub wanted: Wanted,
    pub workers: usize,
}

/// Which blocks hold stored data.
pub(super) enum Wanted {
    All,
    Some(Vec<u128>),
}

impl Wanted {
    /// The numbers of the blocks, ascending.
    pub(super) fn iter(&self, count: u128) -> Box<dyn Iterator<Item = u128> + Send + '_> {
        match self {
            Wanted::All => Box::new(0..count),
            Wanted::Some(numbers) => Box::new(numbers.iter().copied()),
        }
    }
}

impl Job {
    /// Elements of the array, saturating.
    pub(super) fn elements(&self) -> u64 {
        self.source.shape().iter().fold(1, |n: u64, &l| n.saturating_mul(l))
    }
    /// Objects and uncompressed bytes of them, at most, saturating.
    pub(super) fn most_written(&self) -> (u64, u64) {
        let element = self.source.data_type().size().map_or(VARIABLE_GUESS, |s| s as u64);
        let object = self.meta.grid().axes().iter().fold(element, |n, a| n.saturating_mul(a.max_stored().max(1)));
        let objects = match &self.wanted {
            Wanted::All => self.meta.grid().chunk_count().unwrap_or(u64::MAX),
            Wanted::Some(numbers) => self.blocks.objects_per_block().saturating_mul(numbers.len() as u64),
        };
        (objects, objects.saturating_mul(object))
    }
}

/// Plans the conversion of a node and all below it. All refusals are one error.
pub(super) fn plan(source: &Node, options: &Options) -> Result<Plan> {
    let format = options.format.unwrap_or(Format::V3);
    let mut plan = Plan { format, groups: Vec::new(), jobs: Vec::new(), warnings: Vec::new(), consolidate: false };
    let mut refused: Vec<(String, Error)> = Vec::new();
    let mut arrays = Vec::new();
    match source {
        Node::Array(array) => arrays.push((String::new(), array.clone())),
        Node::Group(group) => {
            plan.consolidate = has_consolidated(group)?;
            for entry in group.walk()? {
                match entry.node {
                    Ok(Node::Array(array)) => arrays.push((entry.relative, array)),
                    Ok(Node::Group(group)) => plan.groups.push((entry.relative, Some(group))),
                    Err(e) => refused.push((entry.relative, e)),
                }
            }
            if plan.consolidate {
                plan.warnings.extend(group.stale_consolidated()?.into_iter().map(|what| (String::new(), what)));
            }
        }
    }
    check_ranks(&arrays, options)?;
    let lone = arrays.len() == 1;
    for (path, array) in arrays {
        match job(path.clone(), &array, options, format, lone, &mut plan.warnings) {
            Ok(job) => plan.jobs.push(job),
            Err(e) => refused.push((path, e)),
        }
    }
    add_parents(&mut plan);
    if format == Format::V3 {
        let paths = plan.groups.iter().map(|(p, _)| p).chain(plan.jobs.iter().map(|j| &j.path));
        refused.extend(paths.filter(|p| !p.is_empty()).filter_map(|p| unnameable(p)));
    }
    match refusal(source, refused) {
        Some(e) => Err(e),
        None => Ok(plan),
    }
}

/// A name that v2 has and v3 has not.
fn unnameable(path: &str) -> Option<(String, Error)> {
    let error = Error::new(Kind::Unsupported, NodePath::parse_new(path).err()?.to_string());
    Some((path.to_string(), error.with_hint("rename the node in the source, or convert to format 2, which has such names")))
}

/// All refusals in one error.
fn refusal(source: &Node, mut refused: Vec<(String, Error)>) -> Option<Error> {
    let base = match source {
        Node::Array(a) => a.path().to_string(),
        Node::Group(g) => g.path().to_string(),
    };
    let full = |path: &str| format!("/{}", [base.as_str(), path].iter().filter(|p| !p.is_empty()).copied().collect::<Vec<_>>().join("/"));
    if refused.len() == 1 {
        return refused.pop().map(|(path, e)| e.at(|p| p.node = Some(full(&path))));
    }
    let kind = refused.first()?.1.kind();
    let list: Vec<String> = refused.iter().map(|(path, e)| format!("\n  {}: {e}", full(path))).collect();
    let hint = refused.iter().find_map(|(_, e)| e.hint().map(str::to_string));
    let error = Error::new(kind, format!("{} nodes cannot be converted, and nothing was written:{}", refused.len(), list.concat()));
    Some(match hint {
        Some(hint) => error.with_hint(hint),
        None => error,
    })
}

fn has_consolidated(group: &Group) -> Result<bool> {
    Ok(match group.meta().format() {
        Format::V3 => group.meta().consolidated()?.is_some(),
        Format::V2 => group.store().stat(&NodePath::parse(group.path())?.key(".zmetadata"))?.is_some(),
    })
}

/// A text of chunk lengths is for arrays of its rank; one that fits none is an error.
fn check_ranks(arrays: &[(String, Array)], options: &Options) -> Result<()> {
    for cut in [&options.chunks, &options.shards] {
        let Cut::Text(text) = cut else { continue };
        let fits = |n: usize| arrays.iter().any(|(_, a)| a.shape().len() == n);
        if let (Some(n), false) = (rank(text), arrays.is_empty())
            && !fits(n)
        {
            return Err(Error::new(
                Kind::Invalid,
                format!("{text} is for {}, and there is no array of so many", if n == 1 { "one axis".into() } else { format!("{n} axes") }),
            )
            .with_hint("give one chunk length per axis"));
        }
    }
    Ok(())
}

/// The options as they concern one array of several: texts of another rank keep what the source has.
fn for_rank(options: &Options, ndim: usize, lone: bool) -> (Options, bool) {
    let mut own = options.clone();
    let mut kept = false;
    for cut in [&mut own.chunks, &mut own.shards] {
        let other = matches!(&*cut, Cut::Text(text) if rank(text).is_some_and(|n| n != ndim));
        if other && !lone {
            *cut = Cut::Keep;
            kept = true;
        }
    }
    (own, kept)
}

fn job(path: String, source: &Array, options: &Options, format: Format, lone: bool, warnings: &mut Vec<(String, String)>) -> Result<Job> {
    let (options, kept) = for_rank(options, source.shape().len(), lone);
    let mut warn = |what: String| warnings.push((path.clone(), what));
    if kept {
        warn(format!("has {} dimensions: its chunks are kept", source.shape().len()));
    }
    let memory = options.memory.unwrap_or(MEMORY);
    if let Some(problem) = source.meta().problem() {
        return Err(Error::new(Kind::Unsupported, problem.what.clone()).at(|p| p.pointer = Some(problem.pointer.clone())));
    }
    let layout = layout(source, &options, format, memory)?;
    layout.note.iter().for_each(|note| warn((*note).into()));
    let converted = converted(source, &layout, format, &options)?;
    converted.warnings.into_iter().for_each(&mut warn);
    let Sized { blocks, workers, threads } = sized(source, converted.meta.grid(), &options, memory)?;
    if blocks.bytes.saturating_mul(2) > memory {
        warn(format!("one object needs {} bytes under way, more than the {memory} that are usual", blocks.bytes.saturating_mul(2)));
    }
    let stored = if source.store().traits().lists { Some(source.stored()?) } else { None };
    if let Some(stored) = &stored {
        match misnamed(source, stored) {
            Some(found) if found.named == 0 => return Err(found.refusal()),
            Some(found) => warn(found.sentence()),
            None => {}
        }
    }
    let wanted = wanted(source, &blocks, stored)?;
    Ok(Job { path, source: narrowed(source, threads, memory)?, meta: converted.meta, blocks, wanted, workers })
}

struct Sized {
    blocks: Blocks,
    workers: usize,
    /// Threads for reading, where fewer than the source's own are to be used.
    threads: Option<usize>,
}

/// Blocks and workers within the memory: a block is held as elements and as encoded objects (twice its bytes), and every
/// reading thread holds a decoded source chunk.
fn sized(source: &Array, target: &gingham::Grid, options: &Options, memory: u64) -> Result<Sized> {
    let element = source.data_type().size().map_or(VARIABLE_GUESS, |s| s as u64);
    let axes = decoded_axes(source);
    let chunk = axes.iter().fold(element.max(1), |n, a| n.saturating_mul(a.max_stored().max(1)));
    if chunk > source.options().max_chunk {
        let most = source.options().max_chunk;
        return Err(Error::new(Kind::OutOfRange, format!("a chunk decodes to {chunk} bytes, and {most} are allowed")));
    }
    let threads = options.array.threads.or(source.options().threads).unwrap_or_else(cores).max(1);
    let held = |threads: usize| chunk.saturating_mul(threads as u64);
    let mut best: Option<Sized> = None;
    for workers in (1..=threads.min(WORKERS)).rev() {
        let budget = memory.saturating_sub(held(threads)) / (2 * workers as u64);
        if let Ok(blocks) = Blocks::plan(&axes, target, element, budget)
            && best.as_ref().is_none_or(|b| blocks.decodes < b.blocks.decodes * 0.99)
        {
            best = Some(Sized { blocks, workers, threads: None });
        }
    }
    if let Some(best) = best {
        return Ok(best);
    }
    let budget = memory.saturating_sub(chunk) / 2;
    match (Blocks::plan(&axes, target, element, budget), options.memory) {
        (Ok(blocks), _) => Ok(Sized { blocks, workers: 1, threads: Some(1) }),
        // Nobody asked for a limit: one object at a time is the least there is.
        (Err(object), None) => match Blocks::plan(&axes, target, element, object) {
            Ok(blocks) => Ok(Sized { blocks, workers: 1, threads: None }),
            Err(object) => Err(too_large(object, chunk, memory)),
        },
        (Err(object), Some(_)) => Err(too_large(object, chunk, memory)),
    }
}

fn too_large(object: u64, chunk: u64, memory: u64) -> Error {
    let least = object.saturating_mul(2).saturating_add(chunk);
    Error::new(
        Kind::Invalid,
        format!("one object of the target holds {object} bytes and a source chunk {chunk}: that needs {least} bytes of memory, and {memory} are allowed"),
    )
    .with_hint(format!("allow {least} bytes or more, or write smaller chunks or shards"))
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// The source opened again with fewer threads or less memory for encoded chunks, where that is needed.
fn narrowed(source: &Array, threads: Option<usize>, memory: u64) -> Result<Array> {
    if threads.is_none() && source.options().memory <= memory / 2 {
        return Ok(source.clone());
    }
    let mut options = source.options().clone();
    options.threads = threads.or(options.threads);
    options.memory = options.memory.min(memory / 2);
    Array::from_meta(source.store(), source.path(), source.meta().clone(), &options)
}

/// The blocks that share elements with a stored object; all of them where the store does not list.
fn wanted(source: &Array, blocks: &Blocks, stored: Option<Vec<Stored>>) -> Result<Wanted> {
    let count = blocks.count();
    if count == u128::MAX {
        return Err(Error::new(Kind::OutOfRange, "the array has more than 2^128 blocks"));
    }
    let Some(stored) = stored else { return Ok(Wanted::All) };
    let mut numbers = BTreeSet::new();
    // 2^26 numbers are some gigabytes of set; an array with as many blocks that hold data is walked whole.
    let most = usize::try_from(count).unwrap_or(usize::MAX).min(1 << 26);
    for index in stored.into_iter().filter_map(|(_, index, _)| index) {
        if !blocks.meeting(&source.grid().chunk_region(&index), most, &mut numbers) {
            return Ok(Wanted::All);
        }
    }
    if numbers.len() as u128 == count { Ok(Wanted::All) } else { Ok(Wanted::Some(numbers.into_iter().collect())) }
}

/// Groups that the source has no document for, but nodes below.
fn add_parents(plan: &mut Plan) {
    let mut have: BTreeSet<String> = plan.groups.iter().map(|(p, _)| p.clone()).chain(plan.jobs.iter().map(|j| j.path.clone())).collect();
    for path in have.clone() {
        let mut rest = path.as_str();
        while !rest.is_empty() {
            rest = rest.rsplit_once('/').map_or("", |(parent, _)| parent);
            if have.insert(rest.to_string()) {
                plan.groups.push((rest.to_string(), None));
            }
        }
    }
}
