//! `plate` and `well`.

use std::collections::HashSet;

use serde_json::Value;

use super::{Findings, Version, list, whole};
use crate::render::short;

const PLATE: &str = "ome-plate";
const WELL: &str = "ome-well";

/// Checks the block `plate`.
pub(super) fn plate(value: &Value, version: Version, findings: &mut Findings) {
    let rows = names(value, "rows", findings);
    let columns = names(value, "columns", findings);
    if version != Version::Old {
        wells(value, &rows, &columns, version, findings);
    }
    match value.get("acquisitions") {
        None => {}
        Some(Value::Array(acquisitions)) => self::acquisitions(acquisitions, findings),
        Some(_) => findings.error(PLATE, "plate/acquisitions is not a list"),
    }
    match value.get("field_count") {
        None => {}
        Some(n) if whole(n, 1) && n.as_u64() != Some(0) => {}
        Some(n) => {
            findings.error(PLATE, format!("plate/field_count is {}; it must be a whole number of at least 1", short(&n.to_string(), 40)))
        }
    }
    if value.get("name").is_none() {
        findings.warning(PLATE, "plate lacks name, which is recommended");
    }
    inner_version(value, "plate", version, findings);
}

fn inner_version(value: &Value, place: &str, version: Version, findings: &mut Findings) {
    if version == Version::V04 {
        match value.get("version") {
            None => findings.warning("ome-version", format!("{place} lacks version, which is recommended")),
            Some(Value::String(v)) if v == "0.4" => {}
            Some(other) => {
                findings.error("ome-version", format!("{place}/version is {}; it must be \"0.4\"", short(&other.to_string(), 40)))
            }
        }
    }
}

/// Names of rows or columns: letters and digits, each once.
fn names<'a>(plate: &'a Value, key: &str, findings: &mut Findings) -> Vec<&'a str> {
    let mut seen = HashSet::new();
    let mut names = Vec::new();
    for (i, entry) in list(plate, key, PLATE, "plate", findings).into_iter().flatten().enumerate() {
        let Some(name) = entry.get("name").and_then(Value::as_str) else {
            findings.error(PLATE, format!("plate/{key}/{i} has no name"));
            names.push("");
            continue;
        };
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric()) {
            findings.error(PLATE, format!("plate/{key}/{i} is named \"{}\"; letters and digits only are allowed", short(name, 40)));
        }
        if !seen.insert(name) {
            findings.error(PLATE, format!("plate/{key} has \"{}\" twice", short(name, 40)));
        }
        names.push(name);
    }
    names
}

fn wells(plate: &Value, rows: &[&str], columns: &[&str], version: Version, findings: &mut Findings) {
    let mut seen = HashSet::new();
    for (i, well) in list(plate, "wells", PLATE, "plate", findings).into_iter().flatten().enumerate() {
        let place = format!("plate/wells/{i}");
        let Some(path) = well.get("path").and_then(Value::as_str) else {
            findings.error(PLATE, format!("{place} has no path"));
            continue;
        };
        if !seen.insert(path) {
            findings.error(PLATE, format!("plate/wells has \"{}\" twice", short(path, 40)));
        }
        let parts: Vec<&str> = path.split('/').collect();
        let &[row, column] = parts.as_slice() else {
            findings.error(PLATE, format!("{place}/path is \"{}\"; it must be a row and a column: A/1", short(path, 40)));
            continue;
        };
        for (key, name, known) in [("rowIndex", row, rows), ("columnIndex", column, columns)] {
            match well.get(key) {
                Some(index) if whole(index, 0) => {
                    let there = index.as_u64().and_then(|n| usize::try_from(n).ok()).and_then(|n| known.get(n));
                    if !known.is_empty() && there != Some(&name) {
                        let what = format!("{place}/{key} is {index}, which is not \"{}\"", short(name, 40));
                        // Every version says so, but the suites of all others have valid plates with rows and columns exchanged.
                        match version {
                            Version::V05 => findings.error(PLATE, what),
                            _ => findings.note(PLATE, what),
                        }
                    }
                }
                _ => findings.error(PLATE, format!("{place} has no whole number as {key}")),
            }
        }
    }
}

fn acquisitions(acquisitions: &[Value], findings: &mut Findings) {
    let mut seen = HashSet::new();
    for (i, acquisition) in acquisitions.iter().enumerate() {
        let place = format!("plate/acquisitions/{i}");
        match acquisition.get("id").filter(|id| whole(id, 0)) {
            Some(id) if !seen.insert(id.to_string()) => findings.error(PLATE, format!("plate/acquisitions has id {id} twice")),
            Some(_) => {}
            None => findings.error(PLATE, format!("{place} has no whole number as id")),
        }
        for (key, least) in [("maximumfieldcount", 1), ("starttime", 0), ("endtime", 0)] {
            if let Some(value) = acquisition.get(key)
                && !(value.is_i64() || value.is_u64()) | (value.as_u64().is_none_or(|n| n < least))
            {
                findings.error(PLATE, format!("{place}/{key} must be a whole number of at least {least}"));
            }
        }
        for key in ["name", "maximumfieldcount"] {
            if acquisition.get(key).is_none() {
                findings.warning(PLATE, format!("{place} lacks {key}, which is recommended"));
            }
        }
    }
}

/// Checks the block `well`.
pub(super) fn well(value: &Value, version: Version, findings: &mut Findings) {
    let mut seen = HashSet::new();
    for (i, image) in list(value, "images", WELL, "well", findings).into_iter().flatten().enumerate() {
        let place = format!("well/images/{i}");
        match image.get("path").and_then(Value::as_str) {
            // From 0.6 on a field may be named as any node.
            Some(path)
                if path.is_empty()
                    || !path.chars().all(|c| c.is_ascii_alphanumeric() || (version == Version::Newer && "-_.".contains(c))) =>
            {
                findings.error(WELL, format!("{place}/path is \"{}\"; letters and digits only are allowed", short(path, 40)));
            }
            Some(path) if !seen.insert(path) => findings.error(WELL, format!("well/images has \"{}\" twice", short(path, 40))),
            Some(_) => {}
            None => findings.error(WELL, format!("{place} has no path")),
        }
        if let Some(id) = image.get("acquisition")
            && !whole(id, i64::MIN)
        {
            findings.error(WELL, format!("{place}/acquisition is not a whole number"));
        }
    }
    inner_version(value, "well", version, findings);
}
