//! `multiscales` and `omero`.

use std::collections::HashSet;

use serde_json::Value;

use super::{Findings, Version, list};
use crate::render::short;

const AXES: &str = "ome-axes";
const TRANSFORMATIONS: &str = "ome-transformations";
const MULTISCALES: &str = "ome-multiscales";

/// Units of length and time by the names that UDUNITS-2 gives them.
const UNITS: &str = " angstrom attometer centimeter decimeter exameter femtometer foot gigameter hectometer inch kilometer megameter meter \
    micrometer mile millimeter nanometer parsec petameter picometer terameter yard yoctometer yottameter zeptometer zettameter \
    attosecond centisecond day decisecond exasecond femtosecond gigasecond hectosecond hour kilosecond megasecond microsecond \
    millisecond minute nanosecond petasecond picosecond second terasecond yoctosecond yottasecond zeptosecond zettasecond ";

/// Checks the block `multiscales`.
pub(super) fn multiscales(value: &Value, version: Version, findings: &mut Findings) {
    let Some(images) = value.as_array().filter(|l| !l.is_empty()) else {
        return findings.error(MULTISCALES, "multiscales is not a list with something in it");
    };
    for (i, image) in images.iter().enumerate() {
        let place = format!("multiscales/{i}");
        if !image.is_object() {
            findings.error(MULTISCALES, format!("{place} is not an object"));
            continue;
        }
        // 0.3 and before have no axes with types; after 0.5 they lie in coordinate systems, and transformations are of more kinds.
        let known = matches!(version, Version::V04 | Version::V05);
        let ndim = if known { axes(image, &place, findings) } else { None };
        datasets(image, &place, ndim, version, findings);
        if let Some(shared) = image.get("coordinateTransformations").filter(|_| known) {
            transformations(shared, &format!("{place}/coordinateTransformations"), ndim, findings);
        }
        inner_version(image, &place, version, findings);
        for key in ["name", "type", "metadata"] {
            if image.get(key).is_none() {
                findings.warning(MULTISCALES, format!("{place} lacks {key}, which is recommended"));
            }
        }
    }
}

fn inner_version(image: &Value, place: &str, version: Version, findings: &mut Findings) {
    match (image.get("version"), version) {
        (Some(Value::String(v)), Version::V04) if v == "0.4" => {}
        (None, Version::V04) => findings.warning("ome-version", format!("{place} lacks version, which is recommended")),
        (Some(other), Version::V04) => {
            findings.error("ome-version", format!("{place}/version is {}; it must be \"0.4\"", short(&other.to_string(), 40)))
        }
        (Some(_), Version::V05) => {
            findings.warning("ome-version", format!("{place} has a version of its own; in 0.5 it stands in ome/version alone"))
        }
        _ => {}
    }
}

/// Checks axes; how many there are.
fn axes(image: &Value, place: &str, findings: &mut Findings) -> Option<usize> {
    let axes = list(image, "axes", AXES, place, findings)?;
    if !(2..=5).contains(&axes.len()) {
        findings.error(AXES, format!("{place}/axes has {} entries; an image has 2 to 5 axes", axes.len()));
    }
    let mut names = HashSet::new();
    let mut kinds = Vec::new();
    for (i, axis) in axes.iter().enumerate() {
        match axis.get("name").and_then(Value::as_str) {
            Some(name) if !names.insert(name) => findings.error(AXES, format!("{place}/axes has two axes named \"{}\"", short(name, 40))),
            Some(_) => {}
            None => findings.error(AXES, format!("{place}/axes/{i} has no name")),
        }
        kinds.push(match axis.get("type") {
            None | Some(Value::Null) => "",
            Some(Value::String(t)) => t.as_str(),
            Some(_) => {
                findings.error(AXES, format!("{place}/axes/{i}/type is not a text"));
                ""
            }
        });
        if kinds[i].is_empty() {
            findings.warning(AXES, format!("{place}/axes/{i} has no type, which is recommended"));
        }
        unit(axis, kinds[i], &format!("{place}/axes/{i}"), findings);
    }
    order(&kinds, place, findings);
    Some(axes.len())
}

fn unit(axis: &Value, kind: &str, place: &str, findings: &mut Findings) {
    match axis.get("unit") {
        None | Some(Value::Null) => {}
        Some(Value::String(unit)) if matches!(kind, "space" | "time") && !UNITS.contains(&format!(" {unit} ")) => {
            findings.warning(AXES, format!("{place}/unit \"{}\" is not a unit by UDUNITS' long names", short(unit, 40)));
        }
        Some(Value::String(_)) => {}
        Some(_) => findings.error(AXES, format!("{place}/unit is not a text")),
    }
}

/// Time, then channel or another kind, then space.
fn order(kinds: &[&str], place: &str, findings: &mut Findings) {
    let rank = |kind: &str| match kind {
        "time" => 0,
        "space" => 2,
        _ => 1,
    };
    let count = |r: u8| kinds.iter().filter(|k| rank(k) == r).count();
    if !(2..=3).contains(&count(2)) {
        findings.error(AXES, format!("{place}/axes has {} of type space; an image has 2 or 3", count(2)));
    }
    if count(0) > 1 {
        findings.error(AXES, format!("{place}/axes has {} of type time; at most one is allowed", count(0)));
    }
    if count(1) > 1 {
        findings.error(AXES, format!("{place}/axes has {} that are neither time nor space; at most one is allowed", count(1)));
    }
    if !kinds.is_sorted_by_key(|k| rank(k)) {
        findings.error(AXES, format!("{place}/axes are not in the order time, channel, space"));
    }
}

fn datasets(image: &Value, place: &str, ndim: Option<usize>, version: Version, findings: &mut Findings) {
    let Some(datasets) = list(image, "datasets", MULTISCALES, place, findings) else { return };
    for (i, dataset) in datasets.iter().enumerate() {
        let place = format!("{place}/datasets/{i}");
        if !dataset.get("path").is_some_and(Value::is_string) {
            findings.error(MULTISCALES, format!("{place} has no path"));
        }
        match dataset.get("coordinateTransformations") {
            _ if version == Version::Newer => {}
            Some(value) => transformations(value, &format!("{place}/coordinateTransformations"), ndim, findings),
            None if version == Version::Old => {}
            None => findings.error(TRANSFORMATIONS, format!("{place} lacks coordinateTransformations")),
        }
    }
}

/// One scale, then at most one translation, each with a number per axis.
fn transformations(value: &Value, place: &str, ndim: Option<usize>, findings: &mut Findings) {
    let Some(list) = value.as_array().filter(|l| !l.is_empty()) else {
        return findings.error(TRANSFORMATIONS, format!("{place} is not a list with something in it"));
    };
    let kinds: Vec<&str> = list.iter().map(|t| t.get("type").and_then(Value::as_str).unwrap_or("")).collect();
    let known = kinds.iter().all(|k| matches!(*k, "scale" | "translation"));
    match kinds.as_slice() {
        _ if !known => findings.error(TRANSFORMATIONS, format!("{place} may hold scale and translation only")),
        ["scale"] | ["scale", "translation"] => {}
        ["translation", "scale"] => findings.error(TRANSFORMATIONS, format!("{place} has its translation before its scale")),
        _ => findings.error(TRANSFORMATIONS, format!("{place} must be one scale, then at most one translation")),
    }
    for (transformation, kind) in list.iter().zip(&kinds).filter(|(_, k)| matches!(**k, "scale" | "translation")) {
        let numbers = transformation.get(*kind).and_then(Value::as_array);
        let Some(numbers) = numbers.filter(|n| n.iter().all(Value::is_number)) else {
            findings.error(TRANSFORMATIONS, format!("{place} has a {kind} that is not a list of numbers"));
            continue;
        };
        if let Some(ndim) = ndim.filter(|&n| n != numbers.len()) {
            findings.error(TRANSFORMATIONS, format!("{place} has a {kind} of {} numbers for {ndim} axes", numbers.len()));
        }
        if *kind == "scale" && numbers.iter().any(|n| n.as_f64().is_none_or(|f| f <= 0.0)) {
            findings.warning(TRANSFORMATIONS, format!("{place} has a scale that is not positive"));
        }
    }
}

/// Checks the block `omero`.
pub(super) fn omero(value: &Value, findings: &mut Findings) {
    const RULE: &str = "ome-channels";
    let Some(Value::Array(channels)) = value.get("channels") else {
        return findings.error(RULE, "omero lacks channels");
    };
    for (i, channel) in channels.iter().enumerate() {
        match channel.get("color").and_then(Value::as_str) {
            Some(color) if color.len() == 6 && color.chars().all(|c| c.is_ascii_hexdigit()) => {}
            Some(color) => {
                findings.error(RULE, format!("omero/channels/{i}/color is \"{}\"; it must be six hexadecimal digits", short(color, 20)))
            }
            None => findings.error(RULE, format!("omero/channels/{i} has no color")),
        }
        let window = channel.get("window");
        let lacking: Vec<&str> =
            ["min", "max", "start", "end"].into_iter().filter(|k| !window.and_then(|w| w.get(*k)).is_some_and(Value::is_number)).collect();
        match (window, lacking.is_empty()) {
            (None, _) => findings.error(RULE, format!("omero/channels/{i} has no window")),
            (_, false) => findings.error(RULE, format!("omero/channels/{i}/window lacks the number {}", lacking.join(", "))),
            _ => {}
        }
    }
}
