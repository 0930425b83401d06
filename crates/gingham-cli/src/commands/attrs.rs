//! `gingham attrs`: print or change attributes.

use std::io::Write;

use clap::Args;
use gingham::Node;
use serde_json::{Map, Value};

use crate::context::Context;
use crate::error::{Failure, Result};
use crate::exit::Exit;
use crate::location;
use crate::words;

/// What was typed.
#[derive(Debug, Args)]
#[command(after_help = "\
Values are JSON; what is not JSON is taken as text.

Examples:
  gingham attrs data.zarr/t2m
  gingham attrs data.zarr/t2m --set units=K --set valid_range='[180, 330]'
  gingham attrs data.zarr/t2m --set 'version=\"2\"' --delete history
  gingham attrs data.zarr --json > a.json      edit it, then
  gingham attrs data.zarr --edit-from a.json")]
pub struct Arguments {
    /// Array or group: path or URL
    location: String,
    /// Set an attribute; the value is JSON, else text (may be repeated)
    #[arg(long, value_name = "KEY=VALUE", allow_hyphen_values = true)]
    set: Vec<String>,
    /// Delete an attribute (may be repeated)
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    delete: Vec<String>,
    /// Replace all attributes by those of a JSON file, - for standard input
    #[arg(long, value_name = "FILE")]
    edit_from: Option<String>,
}

/// Prints or changes them.
pub fn run(arguments: Arguments, context: &Context) -> Result<Exit> {
    let changes = arguments.edit_from.is_some() || !arguments.set.is_empty() || !arguments.delete.is_empty();
    let set = arguments.set.iter().map(|s| assignment(s)).collect::<Result<Vec<_>>>()?;
    let replaced = arguments.edit_from.as_deref().map(from_file).transpose()?;
    let node = match changes {
        true => location::changed_node(context, &arguments.location)?,
        false => location::node(context, &arguments.location)?,
    };
    let old = match &node {
        Node::Array(array) => array.meta().attributes(),
        Node::Group(group) => group.meta().attributes(),
    };
    if !changes {
        return print(old, context);
    }
    let mut attributes = replaced.unwrap_or_else(|| old.clone());
    for key in &arguments.delete {
        if attributes.shift_remove(key).is_none() {
            return Err(Failure::usage(format!("there is no attribute \"{key}\"")).at(arguments.location));
        }
    }
    attributes.extend(set);
    match node {
        Node::Array(mut array) => array.set_attributes(attributes.clone())?,
        Node::Group(mut group) => group.set_attributes(attributes.clone())?,
    }
    context.say("the attributes were written");
    if context.json { print(&attributes, context) } else { Ok(Exit::Done) }
}

fn print(attributes: &Map<String, Value>, context: &Context) -> Result<Exit> {
    let mut out = context.text();
    if context.json {
        writeln!(out, "{}", gingham::core::json::to_text(&Value::Object(attributes.clone())))?;
    } else {
        for (key, value) in attributes {
            writeln!(out, "{}", words::attribute(key, value))?;
        }
    }
    out.flush()?;
    Ok(Exit::Done)
}

/// `key=value`: the value is JSON, else text.
pub fn assignment(text: &str) -> Result<(String, Value)> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => {
            Ok((key.to_string(), serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_string()))))
        }
        _ => Err(Failure::usage(format!("\"{text}\" does not set anything")).hint("write it as --set key=value")),
    }
}

fn from_file(path: &str) -> Result<Map<String, Value>> {
    let text = match path {
        "-" => std::io::read_to_string(std::io::stdin().lock()),
        _ => std::fs::read_to_string(path),
    }
    .map_err(|e| Failure::file(path, "read", e))?;
    gingham::core::json::parse_object(text.as_bytes(), false).map_err(|e| Failure::usage(format!("{path}: {e}")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn values_are_json_or_else_text() {
        assert_eq!(assignment("units=K").unwrap(), ("units".into(), "K".into()));
        assert_eq!(assignment("n=3").unwrap().1, 3);
        assert_eq!(assignment("v=\"3\"").unwrap().1, "3");
        assert_eq!(assignment("eq=a=b").unwrap().1, "a=b");
        assert_eq!(assignment("empty=").unwrap().1, "");
        assert!(assignment("units").is_err());
        assert!(assignment("=3").is_err());
    }
}
