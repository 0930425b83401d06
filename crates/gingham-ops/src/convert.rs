//! Whole hierarchies into another layout: streaming, one pass, bounded memory.
//!
//! ```text
//!   source ── walk ──► plan ── refuse, or ──► blocks: read ─► write ──► documents, the root's last
//!                      (layout, document, blocks of every array)
//! ```

mod blocks;
mod copy;
mod document;
mod layout;
mod plan;
mod target;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use gingham::core::codec::Codec;
use gingham::core::json::Value;
use gingham::core::meta;
use gingham::{Format, Node, Result, Store};

use copy::Meter;
use plan::{Job, Plan};
use target::{Coming, Counted, Tally};

/// What chunks or shards the target gets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Cut {
    /// As the source has them.
    #[default]
    Keep,
    /// Chosen by gingham: chunks of about 1 MiB (uncompressed, 256 KiB to 4 MiB), shards of at most about 512 MiB.
    Auto,
    /// No shards.
    None,
    /// As text: `64,256,256` or `[[31,29,[31,2],30],25,35]` (`gingham_core::grid::parse_chunks`).
    Text(String),
}

/// How to convert.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Target format; 3 where `None`.
    pub format: Option<Format>,
    /// Chunks (inside shards, where there are shards).
    pub chunks: Cut,
    /// Shards.
    pub shards: Cut,
    /// Bytes→bytes codecs of a chunk; the source's where `None` (those that the target format has).
    pub codecs: Option<Vec<Codec>>,
    /// Bytes of memory for data under way; 512 MiB where `None`.
    pub memory: Option<u64>,
    /// Replace nodes that are there.
    pub overwrite: bool,
    /// Options for reading and writing arrays.
    pub array: gingham::Options,
}

/// What happens; for progress bars.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Event {
    Start { path: String, elements: u64 },
    Elements { path: String, done: u64 },
    Done { path: String },
    Warning { path: String, what: String },
}

/// What was done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Report {
    pub groups: u64,
    pub arrays: u64,
    pub elements: u64,
    pub objects_written: u64,
    pub bytes_written: u64,
    pub warnings: Vec<String>,
}

/// Copies a node and all below it into `target` in another layout. Groups, attributes, dimension names and fill values come
/// along; a node that cannot be converted is an error before anything is written. The root document is written last.
///
/// Every target object is written once, by one task; each source chunk is decoded once where [`Options::memory`] has room
/// for blocks that end between chunks of both. Blocks without stored chunks are not visited where the source can be listed,
/// and objects of nothing but the fill value are not written (unless `options.array.write_empty_chunks`).
///
/// # Errors
/// All nodes that cannot be converted, in one error; a target that is not empty; a target that is the source; too little
/// memory for one object, with the least that works. A failure on the way leaves chunks without the documents of their
/// arrays, never an array that is half there.
///
/// ```
/// use gingham::store::memory::Memory;
/// use gingham::{Array, DataType, Grid, NewArray, Selection, Store};
/// use gingham_ops::convert::{Cut, Options, convert};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (source, target) = (Store::new(Memory::new()), Store::new(Memory::new()));
/// let array = Array::create(&source, "", NewArray::new(DataType::UInt8, Grid::regular(&[6], &[1])?))?;
/// array.write_bytes(Selection::All, &[1, 2, 3, 4, 5, 6])?;
/// let options = Options { chunks: Cut::Text("2".into()), shards: Cut::Text("4".into()), ..Options::default() };
/// let report = convert(&gingham::Node::Array(array), &target, &options, &|_| {})?;
/// assert_eq!((report.arrays, report.objects_written), (1, 2));
/// # Ok(())
/// # }
/// ```
pub fn convert(source: &Node, target: &Store, options: &Options, progress: &(dyn Fn(Event) + Sync)) -> Result<Report> {
    let (store, path) = match source {
        Node::Array(a) => (a.store(), a.path()),
        Node::Group(g) => (g.store(), g.path()),
    };
    target::apart(store, path, target)?;
    let plan = plan::plan(source, options)?;
    let coming: Vec<Coming<'_>> = plan
        .groups
        .iter()
        .map(|(path, _)| Coming { path, is_array: false })
        .chain(plan.jobs.iter().map(|job| Coming { path: &job.path, is_array: true }))
        .collect();
    target::make_room(target, &coming, options.overwrite)?;

    let mut report = summary(&plan);
    for (path, what) in &plan.warnings {
        progress(Event::Warning { path: path.clone(), what: what.clone() });
    }
    let tally = Arc::new(Tally::default());
    let counted = Counted::around(target, &tally);
    write_arrays(&plan, target, &counted, options, progress)?;
    write_groups(&plan, target)?;
    target.finish()?;
    report.objects_written = tally.objects.load(Ordering::Relaxed);
    report.bytes_written = tally.bytes.load(Ordering::Relaxed);
    Ok(report)
}

/// What [`convert`] would do, without writing: nodes, elements and warnings as they will be, objects and bytes as their
/// greatest number (no object empty, nothing compressed). Refuses what [`convert`] refuses of the source.
pub fn estimate(source: &Node, options: &Options) -> Result<Report> {
    let plan = plan::plan(source, options)?;
    let mut report = summary(&plan);
    for job in &plan.jobs {
        let (objects, bytes) = job.most_written();
        report.objects_written = report.objects_written.saturating_add(objects);
        report.bytes_written = report.bytes_written.saturating_add(bytes);
    }
    Ok(report)
}

fn summary(plan: &Plan) -> Report {
    Report {
        groups: plan.groups.len() as u64,
        arrays: plan.jobs.len() as u64,
        elements: plan.jobs.iter().fold(0, |n, job| n.saturating_add(job.elements())),
        warnings: plan.warnings.iter().map(|(path, what)| format!("/{path}: {what}")).collect(),
        ..Report::default()
    }
}

/// Arrays of one block first, side by side; then the others, each by all workers.
fn write_arrays(plan: &Plan, target: &Store, counted: &Store, options: &Options, progress: &(dyn Fn(Event) + Sync)) -> Result<()> {
    let (small, large): (Vec<&Job>, Vec<&Job>) = plan.jobs.iter().filter(|j| !j.path.is_empty()).partition(|j| j.blocks.count() <= 1);
    let next = AtomicUsize::new(0);
    let failure = Mutex::new(None);
    let work = || {
        while let Some(job) = small.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(e) = write_array(job, target, counted, 1, options, progress) {
                next.store(small.len(), Ordering::Relaxed);
                failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(e);
            }
        }
    };
    let workers = small.iter().map(|j| j.workers).min().unwrap_or(0).min(small.len());
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(work);
        }
    });
    if let Some(e) = failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
        return Err(e);
    }
    // A lone array at the root comes last: its document makes the target a node.
    for job in large.into_iter().chain(plan.jobs.iter().filter(|j| j.path.is_empty())) {
        write_array(job, target, counted, job.workers, options, progress)?;
    }
    Ok(())
}

/// An array's chunks, then its document.
fn write_array(
    job: &Job,
    target: &Store,
    counted: &Store,
    workers: usize,
    options: &Options,
    progress: &(dyn Fn(Event) + Sync),
) -> Result<()> {
    let path = || job.path.clone();
    progress(Event::Start { path: path(), elements: job.elements() });
    let array = gingham::Array::from_meta(counted, &job.path, job.meta.clone(), &options.array)?;
    let meter = Meter::default();
    let moved = |n: u64| progress(Event::Elements { path: path(), done: meter.add(n) });
    copy::copy(job, &array, workers, &moved).map_err(|e| {
        e.at(|p| p.node = Some(format!("/{}", job.path)))
            .with_hint("what was written is not an array yet; run it again with overwriting allowed")
    })?;
    target::put_documents(target, &job.path, &job.meta.documents())?;
    progress(Event::Done { path: path() });
    Ok(())
}

/// Groups from the leaves up, so that the root's document is the last thing written.
fn write_groups(plan: &Plan, target: &Store) -> Result<()> {
    let mut groups: Vec<(&str, meta::Group)> = plan
        .groups
        .iter()
        .map(|(path, group)| {
            let attributes = group.as_ref().map(|g| g.meta().attributes().clone()).unwrap_or_default();
            (path.as_str(), meta::Group::create(plan.format, attributes))
        })
        .collect();
    let depth = |path: &str| if path.is_empty() { 0 } else { 1 + path.matches('/').count() };
    groups.sort_by(|(a, _), (b, _)| depth(b).cmp(&depth(a)).then_with(|| a.cmp(b)));
    if plan.consolidate {
        consolidate(plan, &mut groups, target)?;
    }
    for (path, group) in &groups {
        target::put_documents(target, path, &group.documents())?;
    }
    Ok(())
}

/// Consolidated metadata made afresh from what was written; in v3 inside the root's document, in v2 beside it.
fn consolidate(plan: &Plan, groups: &mut [(&str, meta::Group)], target: &Store) -> Result<()> {
    let mut nodes: Vec<(String, meta::Node)> = groups.iter().map(|(p, g)| (p.to_string(), meta::Node::Group(g.clone()))).collect();
    nodes.extend(plan.jobs.iter().map(|j| (j.path.clone(), meta::Node::Array(j.meta.clone()))));
    nodes.sort_by(|(a, _), (b, _)| a.cmp(b));
    match plan.format {
        Format::V2 => target::put_documents(target, "", &[(".zmetadata", meta::consolidate_v2(&nodes))]),
        Format::V3 => {
            nodes.retain(|(path, _)| !path.is_empty());
            if let Some((_, root)) = groups.iter_mut().find(|(path, _)| path.is_empty()) {
                root.set_consolidated(Some(Value::Object(meta::consolidate_v3(&nodes))));
            }
            Ok(())
        }
    }
}
