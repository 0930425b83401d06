//! Runs `cases/*.json`: grids, selections, costs and refusals that every language of the project must agree on.
//! The format is described in `cases/README.md`.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use gingham_core::cost::{Cost, Touched};
use gingham_core::grid::{Grid, GridError, grid_from_v3, grid_to_v3};
use gingham_core::json::{Map, Value};
use gingham_core::region::{Part, Pick, Resolved, Selection, SelectionError};
use serde_json::json;

#[test]
fn every_case_holds() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases");
    let (mut ran, mut failed) = (0, Vec::new());
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|e| e == "json")) {
        let document: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        for case in document["cases"].as_array().unwrap() {
            ran += 1;
            if let Err(why) = run(case.as_object().unwrap()) {
                failed.push(format!("{} / {}: {why}", file.file_name().unwrap().to_string_lossy(), case["name"]));
            }
        }
    }
    assert!(ran > 100, "{ran} cases in {}", folder.display());
    assert!(failed.is_empty(), "{} of {ran} cases fail:\n{}", failed.len(), failed.join("\n"));
}

const CASE_KEYS: [&str; 11] =
    ["name", "report", "about", "shape", "chunk_grid", "dimension_names", "item_size", "select", "look_at", "change", "expect"];

fn run(case: &Map<String, Value>) -> Result<(), String> {
    if let Some(key) = case.keys().find(|key| !CASE_KEYS.contains(&key.as_str())) {
        return Err(format!("the case has an unknown key {key}"));
    }
    let expect = case["expect"].as_object().unwrap();
    match (outcome(case), expect.get("error")) {
        (Ok(found), None) => expect.iter().try_for_each(|(key, value)| match found.get(key) {
            Some(found) => same(key, found, value),
            None => Err(format!("nothing known as '{key}' was computed")),
        }),
        (Err(found), Some(expected)) => refused_as(&found, expected),
        (Ok(_), Some(error)) => Err(format!("accepted, but expected {error}")),
        (Err(found), None) => Err(format!("refused: {found}")),
    }
}

fn same(key: &str, found: &Value, expected: &Value) -> Result<(), String> {
    if plain(found) == plain(expected) { Ok(()) } else { Err(format!("{key} is {found}, expected {expected}")) }
}

/// Numbers past 2^53 stand in strings; both forms compare equal.
fn plain(value: &Value) -> Value {
    match value {
        Value::String(s) => s.parse::<u64>().map_or_else(|_| value.clone(), Value::from),
        Value::Array(list) => list.iter().map(plain).collect(),
        Value::Object(map) => Value::Object(map.iter().map(|(k, v)| (k.clone(), plain(v))).collect()),
        _ => value.clone(),
    }
}

/// An error has the axis and pointer of the case, and its text has every word of `says`.
fn refused_as(found: &Value, expected: &Value) -> Result<(), String> {
    for (key, value) in expected.as_object().unwrap() {
        if key == "says" {
            let text = found["what"].as_str().unwrap();
            let missing = value.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).find(|word| !text.contains(word));
            if let Some(word) = missing {
                return Err(format!("the error does not say '{word}': {text}"));
            }
        } else if found[key] != *value {
            return Err(format!("{key} of the error is {}, expected {value}: {}", found[key], found["what"]));
        }
    }
    Ok(())
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|n| plain(n).as_u64().unwrap()).collect()
}

/// Everything that a case may expect, or the error.
fn outcome(case: &Map<String, Value>) -> Result<Map<String, Value>, Value> {
    let document = match &case["chunk_grid"] {
        Value::String(text) => serde_json::from_str(text).unwrap(),
        value => value.clone(),
    };
    let names: Option<Vec<Option<String>>> = case.get("dimension_names").map(|names| serde_json::from_value(names.clone()).unwrap());
    let grid = grid_from_v3(&document, &numbers(&case["shape"])).map_err(grid_error)?;
    assert_eq!(grid_from_v3(&grid_to_v3(&grid), &grid.shape()), Ok(grid.clone()), "a printed grid is read as the same");

    let mut out = Map::new();
    out.insert("printed".into(), grid_to_v3(&grid));
    if case["expect"].get("printed").is_none() {
        assert_eq!(grid_to_v3(&grid), document, "a grid is printed as it was read: {}", case["name"]);
    }
    out.insert("chunk_counts".into(), json!(grid.chunk_counts().as_slice()));
    out.insert("chunk_count".into(), json!(grid.chunk_count()));
    out.insert("listed_counts".into(), grid.axes().iter().map(|axis| axis.listed_count()).collect());
    if let Some(chunks) = case.get("look_at") {
        out.insert("looked_at".into(), chunks.as_array().unwrap().iter().map(|chunk| look_at(&grid, &numbers(chunk))).collect());
    }
    if let Some(change) = case.get("change") {
        let after = changed(&grid, change).map_err(grid_error)?;
        out.insert("after".into(), json!({"shape": after.shape().as_slice(), "chunk_grid": grid_to_v3(&after)}));
    }
    if let Some(text) = case.get("select") {
        let selection = Selection::parse(text.as_str().unwrap()).map_err(selection_error)?;
        assert_eq!(Selection::parse(&selection.to_string()), Ok(selection.clone()), "a printed selection is read as the same");
        let read = selection.resolve(&grid, names.as_deref()).map_err(selection_error)?;
        let cost = Cost::of(&grid, &read, case.get("item_size").map_or(1, |n| n.as_u64().unwrap()));
        out.insert("shape".into(), json!(read.shape()));
        out.insert("chunks".into(), json!(cost.chunks));
        out.insert("wanted".into(), json!(cost.wanted));
        out.insert("decoded".into(), json!(cost.decoded));
        if let Resolved::Product { picks, .. } = &read {
            let touched: Vec<Touched> = grid.axes().iter().zip(picks).map(|(axis, pick)| Touched::of(axis, pick)).collect();
            out.insert("touched".into(), touched.iter().map(|t| json!([t.range.start, t.range.end])).collect());
            out.insert("touched_chunks".into(), touched.iter().map(|t| t.chunks).collect());
            if case["expect"].get("pieces").is_some() {
                out.insert("pieces".into(), pieces(&grid, picks));
            }
        }
    }
    Ok(out)
}

fn look_at(grid: &Grid, chunk: &[u64]) -> Value {
    let region = grid.chunk_region(chunk);
    json!({"start": region.start.as_slice(), "logical": region.shape.as_slice(), "stored": grid.chunk_shape(chunk).as_slice()})
}

fn changed(grid: &Grid, change: &Value) -> Result<Grid, GridError> {
    match change.get("append") {
        Some(append) => grid.appended(append["axis"].as_u64().unwrap() as usize, append["count"].as_u64().unwrap()),
        None => grid.resized(&numbers(&change["resize"])),
    }
}

/// The product of the axes' parts, the last axis fastest.
fn pieces(grid: &Grid, picks: &[Pick]) -> Value {
    let mut all: Vec<Vec<Part>> = vec![Vec::new()];
    for (axis, pick) in grid.axes().iter().zip(picks) {
        let parts: Vec<Part> = pick.parts(axis).collect();
        all = all.iter().flat_map(|before| parts.iter().map(|part| [before.as_slice(), &[*part]].concat())).collect();
    }
    let piece = |parts: &Vec<Part>| {
        let each = |get: fn(&Part) -> Value| parts.iter().map(get).collect::<Value>();
        json!({
            "chunk": each(|p| p.chunk.into()), "from": each(|p| p.within.into()), "step": each(|p| p.step.into()),
            "count": each(|p| p.count.into()), "to": each(|p| p.out.into()),
        })
    };
    all.iter().map(piece).collect()
}

fn grid_error(error: GridError) -> Value {
    json!({"what": error.what, "axis": error.axis, "pointer": error.pointer})
}

fn selection_error(error: SelectionError) -> Value {
    json!({"what": error.what, "axis": error.axis, "out_of_range": error.out_of_range})
}
