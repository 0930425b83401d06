//! `image-label` and `labels`.

use std::collections::HashSet;

use serde_json::Value;

use super::{Block, Findings, Version, whole};

const RULE: &str = "ome-label";

/// Checks the block `image-label`.
pub(super) fn image_label(value: &Value, block: &Block, findings: &mut Findings) {
    if !value.is_object() {
        return findings.error(RULE, "image-label is not an object");
    }
    if block.version == Version::V04 {
        match value.get("version").and_then(Value::as_str) {
            Some("0.4") => {}
            None => findings.warning("ome-version", "image-label lacks version, which is recommended"),
            Some(_) => findings.error("ome-version", "image-label/version must be \"0.4\""),
        }
    }
    match value.get("colors") {
        None => findings.warning(RULE, "image-label lacks colors, which are recommended"),
        Some(Value::Array(colors)) if !colors.is_empty() => self::colors(colors, findings),
        Some(_) => findings.error(RULE, "image-label/colors is not a list with something in it"),
    }
    match value.get("properties") {
        None => {}
        Some(Value::Array(properties)) if !properties.is_empty() => {
            for (i, property) in properties.iter().enumerate() {
                if !property.get("label-value").is_some_and(|v| whole(v, i64::MIN)) {
                    findings.error(RULE, format!("image-label/properties/{i} has no whole number as label-value"));
                }
            }
        }
        Some(_) => findings.error(RULE, "image-label/properties is not a list with something in it"),
    }
}

fn colors(colors: &[Value], findings: &mut Findings) {
    let mut seen = HashSet::new();
    for (i, color) in colors.iter().enumerate() {
        match color.get("label-value") {
            Some(Value::Number(n)) if !seen.insert(n.to_string()) => {
                findings.error(RULE, format!("image-label/colors has label-value {n} twice"));
            }
            Some(Value::Number(_)) => {}
            _ => findings.error(RULE, format!("image-label/colors/{i} has no number as label-value")),
        }
        if let Some(rgba) = color.get("rgba") {
            let good = rgba.as_array().is_some_and(|c| c.len() == 4 && c.iter().all(|v| v.as_u64().is_some_and(|n| n <= 255)));
            if !good {
                findings.error(RULE, format!("image-label/colors/{i}/rgba is not four whole numbers from 0 to 255"));
            }
        }
    }
}

/// Checks the block `labels`.
pub(super) fn labels(value: &Value, findings: &mut Findings) {
    if !value.as_array().is_some_and(|l| l.iter().all(Value::is_string)) {
        findings.error(RULE, "labels is not a list of paths");
    }
}
