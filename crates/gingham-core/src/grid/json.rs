//! The member `chunk_grid` of a v3 document.

use std::num::NonZeroU64;

use super::axis::Cuts;
use super::listed::{Form, Item, Lengths, runs_of, zip_runs};
use super::{Axis, Grid, GridError, GridKind, Run, check_rank};
use crate::json::{Map, Value};

/// Reads `regular` and `rectilinear` (format.md 1.5, 3.1; the pre-release form of `regular` with lists is read as
/// rectilinear, and the proposal `encoded_chunk_shapes` is understood).
pub fn grid_from_v3(value: &Value, shape: &[u64]) -> Result<Grid, GridError> {
    let (name, configuration) = name_and_configuration(value)?;
    let configuration = match (name, configuration) {
        ("regular" | "rectilinear", Some(configuration)) => configuration,
        ("regular", None) => {
            return Err(GridError::plain("the chunk grid 'regular' has no configuration")
                .hint(r#"write {"name": "regular", "configuration": {"chunk_shape": [...]}}"#));
        }
        ("rectilinear", None) => {
            return Err(GridError::plain("the chunk grid 'rectilinear' has no configuration")
                .hint(r#"write {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [...]}}"#));
        }
        (name, _) => return Err(unknown(name, value)),
    };
    if name == "regular" { regular(configuration, shape) } else { rectilinear(configuration, shape) }
}

/// The members of an extension object that matter, a bare name included.
type NamedConfiguration<'a> = (&'a str, Option<&'a Map<String, Value>>);

fn name_and_configuration(value: &Value) -> Result<NamedConfiguration<'_>, GridError> {
    let object = match value {
        Value::String(name) => return Ok((name, None)),
        Value::Object(object) => object,
        other => return Err(GridError::plain(format!("the chunk grid is {}, not an object", kind_of(other)))),
    };
    let name = match object.get("name") {
        Some(Value::String(name)) => name,
        Some(other) => return Err(GridError::plain(format!("the chunk grid's name is {}, not a string", kind_of(other))).below("/name")),
        None => return Err(GridError::plain("the chunk grid has no name")),
    };
    let configuration = match object.get("configuration") {
        None => None,
        Some(Value::Object(configuration)) => Some(configuration),
        Some(other) => {
            return Err(GridError::plain(format!("the configuration of the chunk grid '{name}' is {}, not an object", kind_of(other)))
                .below("/configuration"));
        }
    };
    for (key, value) in object {
        match key.as_str() {
            "name" | "configuration" => {}
            "must_understand" if value.is_boolean() => {}
            "must_understand" => {
                return Err(GridError::plain("must_understand of the chunk grid is neither true nor false").below("/must_understand"));
            }
            _ if matches!(name.as_str(), "regular" | "rectilinear") => {
                return Err(GridError::plain(format!("the chunk grid '{name}' has a member '{key}', which is not known"))
                    .below(format!("/{}", escape(key))));
            }
            _ => {}
        }
    }
    Ok((name, configuration))
}

/// A grid that this build does not have. It can never be left out: without it no element has a place.
fn unknown(name: &str, value: &Value) -> GridError {
    let mut error = GridError::plain(format!("the chunk grid '{}' is not known", super::error::clipped(name)))
        .below(if value.is_object() { "/name" } else { "" });
    if value.get("must_understand") == Some(&Value::Bool(false)) {
        error.what.push_str("; must_understand does not make it optional");
    }
    error.hint(if name == "rectangular" {
        "'rectangular' is a draft's name: the registered grids are 'regular' and 'rectilinear'"
    } else {
        "the registered grids are 'regular' and 'rectilinear'"
    })
}

fn only_keys(configuration: &Map<String, Value>, name: &str, known: &[&str]) -> Result<(), GridError> {
    match configuration.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(GridError::plain(format!("the configuration of the chunk grid '{name}' has a key '{key}', which is not known"))
            .below(format!("/configuration/{}", escape(key)))
            .hint(format!("known keys: {}; one that is not known may change which bytes belong to which element", known.join(", ")))),
        None => Ok(()),
    }
}

fn list_of<'a>(configuration: &'a Map<String, Value>, name: &str, key: &str, ndim: usize) -> Result<&'a [Value], GridError> {
    let pointer = format!("/configuration/{key}");
    match configuration.get(key) {
        Some(Value::Array(entries)) => check_rank(entries.len(), ndim, &pointer).map(|()| entries.as_slice()),
        Some(other) => Err(GridError::plain(format!("{key} of the chunk grid '{name}' is {}, not a list", kind_of(other))).below(pointer)),
        None => Err(GridError::plain(format!("the chunk grid '{name}' has no {key}")).below("/configuration")),
    }
}

fn regular(configuration: &Map<String, Value>, shape: &[u64]) -> Result<Grid, GridError> {
    only_keys(configuration, "regular", &["chunk_shape"])?;
    let entries = list_of(configuration, "regular", "chunk_shape", shape.len())?;
    let mut axes = Vec::with_capacity(entries.len());
    for (axis, (entry, &len)) in entries.iter().zip(shape).enumerate() {
        let pointer = format!("/configuration/chunk_shape/{axis}");
        axes.push(match entry {
            Value::Array(list) => listed_axis(list, len, axis, &pointer)?,
            Value::Number(n) if n.as_u64() == Some(0) && len == 0 => Axis::step(len, 1),
            _ => Axis::step(len, length(entry, axis, &pointer, Leniency::None)?),
        });
    }
    let kind = if axes.iter().any(Axis::is_listed) { GridKind::Rectilinear } else { GridKind::Regular };
    Ok(Grid::new(axes, kind))
}

fn rectilinear(configuration: &Map<String, Value>, shape: &[u64]) -> Result<Grid, GridError> {
    only_keys(configuration, "rectilinear", &["kind", "chunk_shapes", "encoded_chunk_shapes"])?;
    match configuration.get("kind") {
        Some(Value::String(kind)) if kind == "inline" => {}
        Some(other) => {
            return Err(GridError::plain(format!(
                "the kind of the chunk grid 'rectilinear' is {}",
                super::error::clipped(&other.to_string())
            ))
            .below("/configuration/kind")
            .hint(r#"only "inline" is known"#));
        }
        None => {
            return Err(GridError::plain("the chunk grid 'rectilinear' has no kind")
                .below("/configuration")
                .hint(r#"add "kind": "inline""#));
        }
    }
    let entries = list_of(configuration, "rectilinear", "chunk_shapes", shape.len())?;
    let encoded = match configuration.get("encoded_chunk_shapes") {
        Some(_) => Some(list_of(configuration, "rectilinear", "encoded_chunk_shapes", shape.len())?),
        None => None,
    };
    let mut axes = Vec::with_capacity(entries.len());
    for (axis, (entry, &len)) in entries.iter().zip(shape).enumerate() {
        let pointer = format!("/configuration/chunk_shapes/{axis}");
        let plain = match entry {
            Value::Array(list) => listed_axis(list, len, axis, &pointer)?,
            _ => Axis::step(len, length(entry, axis, &pointer, Leniency::None)?),
        };
        axes.push(match encoded {
            Some(encoded) => padded_axis(plain, &encoded[axis], axis)?,
            None => plain,
        });
    }
    Ok(Grid::new(axes, GridKind::Rectilinear))
}

fn listed_axis(list: &[Value], len: u64, axis: usize, pointer: &str) -> Result<Axis, GridError> {
    let items = items_from_json(list, axis, pointer)?;
    Axis::from_items(len, items).map_err(|sum| GridError::short(Some(axis), sum, len).below(pointer))
}

/// Puts the stored lengths of `encoded_chunk_shapes` on an axis (the proposal's rules: the same forms, as many entries as
/// chunks, each at least the listed length, a bare integer for all of them).
fn padded_axis(plain: Axis, entry: &Value, axis: usize) -> Result<Axis, GridError> {
    let pointer = format!("/configuration/encoded_chunk_shapes/{axis}");
    let encoded = match entry {
        Value::Array(list) => Form::Items(items_from_json(list, axis, &pointer)?),
        _ => Form::Step(length(entry, axis, &pointer, Leniency::None)?),
    };
    let below = |error: GridError| error.on_axis(axis).below(pointer.clone());
    let form = match (&plain.cuts, &encoded) {
        (Cuts::Step { chunk, .. }, Form::Step(stored)) if stored >= chunk => return Ok(Axis::padded_step(plain.len(), *chunk, *stored)),
        (Cuts::Step { chunk, .. }, Form::Step(stored)) => {
            return Err(below(
                GridError::plain(format!("its chunks are {chunk} long but stored as {stored}"))
                    .hint("a stored length is at least the listed one"),
            ));
        }
        (Cuts::Step { chunk, .. }, Form::Items(_)) => Form::Step(*chunk),
        (Cuts::Listed(listed), _) => listed.form.clone(),
    };
    let listed = plain.runs();
    let lengths = match &encoded {
        Form::Step(stored) => listed.iter().map(|r| Lengths { length: r.length, stored: *stored, count: r.count }).collect(),
        Form::Items(items) => zip_runs(&listed, &runs_of(items)).ok_or_else(|| {
            let count = |runs: &[Run]| runs.iter().fold(0u128, |n, r| n + u128::from(r.count));
            let (stored, listed) = (count(&runs_of(items)), count(&listed));
            below(GridError::plain(format!("encoded_chunk_shapes has {stored} chunks, chunk_shapes has {listed}")))
        })?,
    };
    Axis::from_lengths(plain.len(), lengths, form, Some(encoded)).map_err(below)
}

/// The entries of a list: lengths and pairs `[value, count]`.
pub(super) fn items_from_json(list: &[Value], axis: usize, pointer: &str) -> Result<Vec<Item>, GridError> {
    let mut items = Vec::with_capacity(list.len());
    for (i, entry) in list.iter().enumerate() {
        let Value::Array(pair) = entry else {
            let place = || format!("{pointer}/{i}");
            items.push(Item::bare(length_at(entry, axis, place, Leniency::True)?));
            continue;
        };
        let [value, count] = pair.as_slice() else {
            return Err(GridError::at(axis, format!("entry {i} of axis {axis} is a list of {} numbers", pair.len()))
                .below(format!("{pointer}/{i}"))
                .hint("a list in a list is a pair [length, count]"));
        };
        let value = length_at(value, axis, || format!("{pointer}/{i}/0"), Leniency::TrueAndWhole)?;
        let count = match count.as_u64().and_then(NonZeroU64::new) {
            Some(count) => count,
            None => {
                return Err(GridError::at(
                    axis,
                    format!("the count in entry {i} of axis {axis} is {}", super::error::clipped(&count.to_string())),
                )
                .below(format!("{pointer}/{i}/1"))
                .hint("a count is a whole number from 1 to 2^64 - 1"));
            }
        };
        items.push(Item { value, count: Some(count) });
    }
    Ok(items)
}

/// What old writers left in lists: `true` for 1, and `4.0` in pairs. Both can mean one thing only.
#[derive(Clone, Copy, PartialEq)]
enum Leniency {
    None,
    True,
    TrueAndWhole,
}

fn length(value: &Value, axis: usize, pointer: &str, leniency: Leniency) -> Result<u64, GridError> {
    length_at(value, axis, || pointer.to_string(), leniency)
}

fn length_at(value: &Value, axis: usize, pointer: impl Fn() -> String, leniency: Leniency) -> Result<u64, GridError> {
    let number = match value {
        Value::Bool(true) if leniency != Leniency::None => Some(1),
        Value::Number(n) => n.as_u64().or_else(|| {
            // Above 2^53 a float no longer says which whole number was meant.
            let whole = n.as_f64().filter(|f| leniency == Leniency::TrueAndWhole && f.fract() == 0.0 && (1.0..=9e15).contains(f));
            whole.map(|f| f as u64)
        }),
        _ => None,
    };
    match number {
        Some(n) if n > 0 => Ok(n),
        _ => Err(GridError::at(axis, format!("a chunk length of axis {axis} is {}", super::error::clipped(&value.to_string())))
            .below(pointer())
            .hint("a chunk length is a whole number from 1 to 2^64 - 1")),
    }
}

/// Writes it; an axis that was read is written as it stood.
pub fn grid_to_v3(grid: &Grid) -> Value {
    let mut configuration = Map::new();
    let name = match (grid.kind(), grid.regular_chunk_shape()) {
        (GridKind::Regular, Some(chunks)) => {
            configuration.insert("chunk_shape".into(), chunks.iter().copied().collect());
            "regular"
        }
        _ => {
            configuration.insert("kind".into(), "inline".into());
            configuration.insert("chunk_shapes".into(), grid.axes().iter().map(listed_to_json).collect());
            if grid.is_padded() {
                // The only form that says it: leaving it out would move elements.
                configuration.insert("encoded_chunk_shapes".into(), grid.axes().iter().map(stored_to_json).collect());
            }
            "rectilinear"
        }
    };
    let mut object = Map::new();
    object.insert("name".into(), name.into());
    object.insert("configuration".into(), configuration.into());
    object.into()
}

fn listed_to_json(axis: &Axis) -> Value {
    match &axis.cuts {
        Cuts::Step { chunk, .. } => (*chunk).into(),
        Cuts::Listed(listed) => form_to_json(&listed.form),
    }
}

fn stored_to_json(axis: &Axis) -> Value {
    match &axis.cuts {
        Cuts::Step { stored, .. } => (*stored).into(),
        Cuts::Listed(listed) => match &listed.encoded {
            Some(form) => form_to_json(form),
            None if listed.padded() => form_to_json(&Form::from_runs(axis.stored_runs())),
            None => form_to_json(&listed.form),
        },
    }
}

fn form_to_json(form: &Form) -> Value {
    match form {
        Form::Step(n) => (*n).into(),
        Form::Items(items) => items
            .iter()
            .map(|item| match item.count {
                Some(count) => Value::Array(vec![item.value.into(), count.get().into()]),
                None => item.value.into(),
            })
            .collect(),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// A key as a step of a JSON pointer.
fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
