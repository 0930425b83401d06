//! `gingham conformance`: the protocols of public conformance suites.
//!
//! | suite | what it runs | what it wants |
//! |---|---|---|
//! | zarr-conformance-tests | `CLI --array_path PATH` | every element in C order as fill-value JSON, one a line |
//! | ngff-spec, "dingus" | `CLI PATH` | `{"valid": true or false, "message": …}` |

use std::io::Write;

use clap::{Args, Subcommand};
use gingham::Node;
use gingham::core::dtype::{Spelling, format_element};
use serde_json::json;

use crate::commands::read;
use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::location;
use crate::ome::{self, Level};

/// What was typed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  gingham conformance zarr --array_path data/int32.zarr
  gingham conformance ome image.ome.zarr
  ZARR_CLI='gingham conformance zarr' bats tests/")]
pub struct Arguments {
    #[command(subcommand)]
    suite: Suite,
}

#[derive(Debug, Subcommand)]
enum Suite {
    /// Print all elements as fill values, one a line
    Zarr {
        /// Array: path or URL
        #[arg(long = "array_path", alias = "array-path", value_name = "PATH")]
        array_path: String,
    },
    /// Say whether OME-Zarr metadata is valid
    Ome {
        /// Group: path or URL
        location: String,
        /// Recommendations count as rules
        #[arg(long)]
        strict: bool,
    },
}

/// Answers.
pub fn run(arguments: Arguments, context: &Context) -> Result<Exit> {
    match arguments.suite {
        Suite::Zarr { array_path } => elements(&array_path, context),
        Suite::Ome { location, strict } => valid(&location, strict, context),
    }
}

fn elements(location: &str, context: &Context) -> Result<Exit> {
    let array = location::array(context, location)?;
    let mut out = context.text();
    read::each_element(&array, |element| {
        serde_json::to_writer(&mut out, &format_element(array.data_type(), element, Spelling::Fill)).map_err(std::io::Error::from)?;
        Ok(out.write_all(b"\n")?)
    })?;
    out.flush()?;
    Ok(Exit::Done)
}

fn valid(location: &str, strict: bool, context: &Context) -> Result<Exit> {
    let (valid, message) = match location::node(context, location) {
        Ok(Node::Group(group)) => {
            let findings = ome::check_group(&group)?;
            // The suite's cases name the schema that they are for.
            let schema = group.meta().attributes().get("_conformance").and_then(|c| c.pointer("/schema/id")).and_then(|id| id.as_str());
            let least = if strict || schema.is_some_and(|id| id.contains("strict")) { Level::Warning } else { Level::Error };
            let bad: Vec<&str> = findings.iter().filter(|f| f.level >= least).map(|f| f.what.as_str()).collect();
            match (ome::is_ome(&group), bad.is_empty()) {
                (false, true) => (false, "there is no OME-Zarr metadata".to_string()),
                (_, good) => (good, bad.join("; ")),
            }
        }
        Ok(Node::Array(_)) => (false, "this is an array; OME-Zarr metadata belongs to groups".into()),
        Err(failure) => (false, failure.what().to_string()),
    };
    let mut out = context.text();
    writeln!(out, "{}", json!({ "valid": valid, "message": message }))?;
    out.flush()?;
    Ok(Exit::Done)
}
