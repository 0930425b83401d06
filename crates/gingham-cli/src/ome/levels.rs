//! What the metadata says about arrays, against the arrays.

use gingham::{Array, DataType, Group, Kind};
use serde_json::Value;

use super::{Block, Findings, Version};
use crate::error::Result;
use crate::render::{self, short};

const RULE: &str = "ome-levels";

/// Checks the levels of every image of a group: they exist, have the axes' rank, one type, and shrink.
pub(super) fn check(group: &Group, block: &Block, findings: &mut Findings) -> Result<()> {
    if block.version == Version::Newer {
        return Ok(());
    }
    let is_label = block.members.contains_key("image-label");
    for image in block.members.get("multiscales").and_then(Value::as_array).into_iter().flatten() {
        let axes: Option<Vec<&str>> = image
            .get("axes")
            .and_then(Value::as_array)
            .map(|a| a.iter().map(|x| x.get("name").and_then(Value::as_str).unwrap_or("")).collect());
        let mut before: Option<Array> = None;
        for dataset in image.get("datasets").and_then(Value::as_array).into_iter().flatten() {
            let Some(path) = dataset.get("path").and_then(Value::as_str) else { continue };
            let Some(level) = open(group, path, findings)? else { continue };
            check_level(path, &level, axes.as_deref(), block.version, findings);
            if is_label && !is_integer(level.data_type()) {
                findings.error(RULE, format!("label \"{}\" is of type {}; labels are whole numbers", short(path, 60), level.data_type()));
            }
            if let Some(before) = &before {
                compare(path, before, &level, findings);
            }
            before = Some(level);
        }
    }
    Ok(())
}

fn open(group: &Group, path: &str, findings: &mut Findings) -> Result<Option<Array>> {
    let full = format!("{}/{path}", group.path());
    match Array::open_with(group.store(), full.trim_matches('/'), &gingham::Options::default()) {
        Ok(array) => Ok(Some(array)),
        Err(e) if e.kind() == Kind::NotFound => {
            findings.error(RULE, format!("dataset \"{}\" is not there", short(path, 60)));
            Ok(None)
        }
        // A store that fails is no finding about the metadata.
        Err(e) if matches!(e.kind(), Kind::Store | Kind::Denied) => Err(e.into()),
        Err(e) => {
            findings.error(RULE, format!("dataset \"{}\" cannot be opened: {e}", short(path, 60)));
            Ok(None)
        }
    }
}

fn check_level(path: &str, level: &Array, axes: Option<&[&str]>, version: Version, findings: &mut Findings) {
    let path = short(path, 60);
    let Some(axes) = axes else { return };
    if version != Version::Old && axes.len() != level.shape().len() {
        findings.error(RULE, format!("dataset \"{path}\" has {} axes, the metadata names {}", level.shape().len(), axes.len()));
        return;
    }
    if version != Version::V05 {
        return;
    }
    match level.meta().dimension_names() {
        Some(names) if names.iter().map(|n| n.as_deref().unwrap_or("")).eq(axes.iter().copied()) => {}
        Some(names) => {
            let names: Vec<&str> = names.iter().map(|n| n.as_deref().unwrap_or("-")).collect();
            findings.error(
                "ome-dimension-names",
                format!(
                    "dataset \"{path}\" names its dimensions {}, the metadata {}",
                    short(&names.join(", "), 80),
                    short(&axes.join(", "), 80)
                ),
            );
        }
        None => findings.error(
            "ome-dimension-names",
            format!("dataset \"{path}\" does not name its dimensions; they must be {}", short(&axes.join(", "), 80)),
        ),
    }
}

fn compare(path: &str, before: &Array, level: &Array, findings: &mut Findings) {
    let path = short(path, 60);
    if before.data_type() != level.data_type() {
        findings
            .warning(RULE, format!("dataset \"{path}\" is of type {}, the level before it of {}", level.data_type(), before.data_type()));
    }
    let (old, new) = (before.shape(), level.shape());
    if old.len() == new.len() && old.iter().zip(&new).any(|(o, n)| n > o) {
        findings.error(
            RULE,
            format!("dataset \"{path}\" is {}, larger than the level before it ({})", render::shape(&new), render::shape(&old)),
        );
    }
}

fn is_integer(data_type: &DataType) -> bool {
    use DataType::*;
    matches!(data_type, Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64)
}
