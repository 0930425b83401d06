//! OME-Zarr metadata against its rules (0.4 and 0.5, and of newer ones what has stayed the same).
//!
//! ```text
//!   attributes ── block ──► version, where the blocks lie (0.4: top level, 0.5: below "ome")
//!                 image ──► axes, datasets, transformations, channels      plate ──► plates and wells
//!                 label ──► colours, properties                            levels ──► the arrays that are named
//! ```
//!
//! An error breaks a MUST; a warning is a SHOULD, which strict suites count too.

mod image;
mod label;
mod levels;
mod plate;

use gingham::{Format, Group};
use serde_json::{Map, Value};

use crate::error::Result;

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub level: Level,
    /// The rule's short name.
    pub rule: &'static str,
    /// A sentence.
    pub what: String,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Breaks no rule: something was not checked.
    Note,
    /// Breaks a recommendation.
    Warning,
    /// Breaks a rule.
    Error,
}

/// What was found so far.
#[derive(Debug, Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn error(&mut self, rule: &'static str, what: impl Into<String>) {
        self.0.push(Finding { level: Level::Error, rule, what: what.into() });
    }
    fn warning(&mut self, rule: &'static str, what: impl Into<String>) {
        self.0.push(Finding { level: Level::Warning, rule, what: what.into() });
    }
    fn note(&mut self, rule: &'static str, what: impl Into<String>) {
        self.0.push(Finding { level: Level::Note, rule, what: what.into() });
    }
}

/// Keys of the blocks; any of them makes a group of format 2 an OME-Zarr one.
const BLOCKS: [&str; 7] = ["multiscales", "omero", "labels", "image-label", "plate", "well", "bioformats2raw.layout"];

/// Where a group's blocks lie, and which rules they follow.
#[derive(Debug)]
struct Block<'a> {
    members: &'a Map<String, Value>,
    version: Version,
}

/// Which rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    /// 0.1 to 0.3: axes are absent or names only.
    Old,
    V04,
    V05,
    /// Newer than what is known here.
    Newer,
}

/// True where a group carries OME-Zarr metadata.
pub fn is_ome(group: &Group) -> bool {
    let attributes = group.meta().attributes();
    attributes.contains_key("ome") || BLOCKS.iter().any(|b| attributes.contains_key(*b))
}

/// Checks a group's metadata, and the arrays that it names.
pub fn check_group(group: &Group) -> Result<Vec<Finding>> {
    let mut findings = Findings::default();
    let attributes = group.meta().attributes();
    if let Some(block) = block(attributes, group.meta().format(), &mut findings) {
        check_block(&block, &mut findings);
        levels::check(group, &block, &mut findings)?;
    }
    Ok(findings.0)
}

/// Checks attributes alone.
#[cfg(test)]
fn check(attributes: &Map<String, Value>, format: Format) -> Vec<Finding> {
    let mut findings = Findings::default();
    if let Some(block) = block(attributes, format, &mut findings) {
        check_block(&block, &mut findings);
    }
    findings.0
}

fn check_block(block: &Block, findings: &mut Findings) {
    if block.version == Version::Newer {
        findings.note("ome-version", "the metadata is of a newer OME-Zarr version than 0.5; only what has stayed the same is checked");
    }
    if let Some(multiscales) = block.members.get("multiscales") {
        image::multiscales(multiscales, block.version, findings);
    }
    if let Some(omero) = block.members.get("omero") {
        image::omero(omero, findings);
    }
    if let Some(label) = block.members.get("image-label") {
        label::image_label(label, block, findings);
    }
    if let Some(labels) = block.members.get("labels") {
        label::labels(labels, findings);
    }
    if let Some(plate) = block.members.get("plate") {
        plate::plate(plate, block.version, findings);
    }
    if let Some(well) = block.members.get("well") {
        plate::well(well, block.version, findings);
    }
    if let Some(layout) = block.members.get("bioformats2raw.layout")
        && layout.as_u64() != Some(3)
    {
        findings.error("ome-layout", format!("bioformats2raw.layout is {layout}; it is always 3"));
    }
}

fn block<'a>(attributes: &'a Map<String, Value>, format: Format, findings: &mut Findings) -> Option<Block<'a>> {
    let (old, new) = (BLOCKS.iter().any(|b| attributes.contains_key(*b)), attributes.get("ome"));
    let Some(new) = new else {
        if !old {
            return None;
        }
        if format == Format::V3 && BLOCKS[..2].iter().chain(&BLOCKS[4..]).any(|b| attributes.contains_key(*b)) {
            findings
                .error("ome-place", "a group of format 3 keeps OME-Zarr metadata below \"ome\"; here it lies at the top of the attributes");
        }
        return Some(Block { members: attributes, version: old_version(attributes) });
    };
    let Some(members) = new.as_object() else {
        findings.error("ome-place", "\"ome\" is not an object");
        return None;
    };
    if format == Format::V2 {
        findings.error("ome-place", "\"ome\" belongs to OME-Zarr 0.5, which uses format 3; this group is of format 2");
    }
    let version = match members.get("version") {
        Some(Value::String(v)) if v == "0.5" => Version::V05,
        Some(Value::String(v)) if is_newer(v) => Version::Newer,
        Some(Value::String(v)) => {
            findings.error("ome-version", format!("ome/version is \"{}\"; it must be \"0.5\"", crate::render::short(v, 20)));
            Version::V05
        }
        Some(other) => {
            findings.error(
                "ome-version",
                format!("ome/version is {}; it must be the text \"0.5\"", crate::render::short(&other.to_string(), 40)),
            );
            Version::V05
        }
        None => {
            findings.error("ome-version", "ome/version is missing; it must be \"0.5\"");
            Version::V05
        }
    };
    Some(Block { members, version })
}

/// `0.6`, `0.6.dev1`, `1.0`: later than 0.5. `0.5.2` is not: the only legal text of 0.5 is `0.5`.
fn is_newer(version: &str) -> bool {
    let mut parts = version.split(['.', '-']).map(|p| {
        p.trim_end_matches(|c: char| !c.is_ascii_digit()).split(|c: char| !c.is_ascii_digit()).next().and_then(|d| d.parse::<u32>().ok())
    });
    match (parts.next().flatten(), parts.next().flatten()) {
        (Some(major), Some(minor)) => (major, minor) > (0, 5),
        _ => false,
    }
}

fn old_version(attributes: &Map<String, Value>) -> Version {
    let inner = |key: &str| match attributes.get(key)? {
        Value::Array(list) => list.first()?.get("version"),
        other => other.get("version"),
    };
    let version = BLOCKS.iter().find_map(|b| inner(b)).and_then(Value::as_str);
    match version {
        Some("0.1" | "0.2" | "0.3") => Version::Old,
        _ => Version::V04,
    }
}

/// A member that must be a list with something in it.
fn list<'a>(of: &'a Value, key: &str, rule: &'static str, place: &str, findings: &mut Findings) -> Option<&'a Vec<Value>> {
    match of.get(key) {
        Some(Value::Array(list)) if !list.is_empty() => return Some(list),
        Some(Value::Array(_)) => findings.error(rule, format!("{place}/{key} is empty")),
        Some(_) => findings.error(rule, format!("{place}/{key} is not a list")),
        None => findings.error(rule, format!("{place} lacks {key}")),
    }
    None
}

/// A whole number of at least `least`; a number that is written as 1.0 is not one.
fn whole(value: &Value, least: i64) -> bool {
    value.as_i64().is_some_and(|n| n >= least) || value.as_u64().is_some()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Runs one of the specification's own suites: cases with `data` (attributes) and `valid`.
    fn suite(version: &str, name: &str, strict: bool) {
        let path = format!("{}/../../../shared/fixtures/ome/{version}/tests/{name}_suite.json", env!("CARGO_MANIFEST_DIR"));
        let Ok(text) = std::fs::read_to_string(&path) else {
            eprintln!("skipped: {path} is not there");
            return;
        };
        let suite: Value = serde_json::from_str(&text).unwrap();
        let format = if version == "0.4" { Format::V2 } else { Format::V3 };
        let mut wrong = Vec::new();
        for case in suite["tests"].as_array().unwrap() {
            let findings = check(case["data"].as_object().unwrap(), format);
            let valid = !findings.iter().any(|f| f.level == Level::Error || (strict && f.level == Level::Warning));
            // Two cases of the schemas, not of the rules: a scale that is short of numbers, and 0.3's version, which 0.3 may have.
            let schema_only = matches!(case["formerly"].as_str(), Some("valid/mismatch_axes_units.json" | "invalid/invalid_version.json"));
            if valid != case["valid"].as_bool().unwrap() && !(version == "0.4" && schema_only) {
                wrong.push(format!("{}: {findings:?}", case["formerly"]));
            }
        }
        assert!(wrong.is_empty(), "{version} {name}:\n{}", wrong.join("\n"));
    }

    #[test]
    fn the_suites_of_the_specification_hold() {
        for version in ["0.4", "0.5"] {
            for name in ["image", "label", "plate", "well"] {
                suite(version, name, false);
            }
            for name in ["strict_image", "strict_label", "strict_plate", "strict_well"] {
                suite(version, name, true);
            }
        }
    }

    #[test]
    fn versions_later_than_0_5_are_told_apart() {
        for newer in ["0.6", "0.6.dev1", "0.6rc0", "0.10", "1.0", "0.9dev1"] {
            assert!(is_newer(newer), "{newer}");
        }
        for not in ["0.5", "0.5.2", "0.4", "", "x", "."] {
            assert!(!is_newer(not), "{not}");
        }
    }

    fn image(axes: Value, transformations: Value) -> Vec<&'static str> {
        let attributes = serde_json::json!({ "ome": { "version": "0.5", "multiscales": [{
            "name": "n", "type": "t", "metadata": {}, "axes": axes,
            "datasets": [{ "path": "0", "coordinateTransformations": transformations }],
        }] } });
        check(attributes.as_object().unwrap(), Format::V3).iter().filter(|f| f.level == Level::Error).map(|f| f.rule).collect()
    }

    #[test]
    fn rules_that_no_schema_can_say_are_checked() {
        let yx = serde_json::json!([{ "name": "y", "type": "space" }, { "name": "x", "type": "space" }]);
        let scale = serde_json::json!([{ "type": "scale", "scale": [1, 1] }]);
        assert!(image(yx.clone(), scale.clone()).is_empty());
        let space_first =
            serde_json::json!([{ "name": "y", "type": "space" }, { "name": "x", "type": "space" }, { "name": "t", "type": "time" }]);
        assert_eq!(image(space_first, serde_json::json!([{ "type": "scale", "scale": [1, 1, 1] }])), ["ome-axes"]);
        let twice = serde_json::json!([{ "name": "y", "type": "space" }, { "name": "y", "type": "space" }]);
        assert_eq!(image(twice, scale), ["ome-axes"]);
        assert_eq!(image(yx.clone(), serde_json::json!([{ "type": "scale", "scale": [1, 1, 1] }])), ["ome-transformations"]);
        let backwards = serde_json::json!([{ "type": "translation", "translation": [0, 0] }, { "type": "scale", "scale": [1, 1] }]);
        assert_eq!(image(yx, backwards), ["ome-transformations"]);
    }

    #[test]
    fn hostile_metadata_is_only_wrong() {
        for text in [
            r#"{"ome": 3}"#,
            r#"{"ome": {"version": 5, "multiscales": 3}}"#,
            r#"{"ome": {"version": "0.5", "multiscales": [3, null, []]}}"#,
            r#"{"multiscales": [{"axes": [null], "datasets": [7]}], "plate": [], "well": "x", "omero": [], "image-label": 1, "labels": 9}"#,
            r#"{"plate": {"rows": [1], "columns": [{}], "wells": [null], "acquisitions": [[]]}}"#,
        ] {
            let value: Value = serde_json::from_str(text).unwrap();
            assert!(check(value.as_object().unwrap(), Format::V3).iter().any(|f| f.level == Level::Error), "{text}");
        }
    }
}
