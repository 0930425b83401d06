//! The commands: one file each, of one shape. `Arguments` is what was typed, `run` does it.

pub mod append;
pub mod attrs;
pub mod checksum;
pub mod completions;
pub mod conformance;
pub mod convert;
pub mod demo;
pub mod info;
pub mod plan;
pub mod read;
pub mod reference;
pub mod resize;
pub mod tree;
pub mod validate;
pub mod write;

use clap::Subcommand;

use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Say what an array or group is, in words
    Info(info::Arguments),
    /// List a hierarchy with types, shapes and chunks
    Tree(tree::Arguments),
    /// Read a selection as JSON, CSV, .npy, raw bytes or a picture
    Read(read::Arguments),
    /// Write into an array, or create one
    Write(write::Arguments),
    /// Append a batch along an axis
    Append(append::Arguments),
    /// Give an array another shape
    Resize(resize::Arguments),
    /// Print or change attributes
    Attrs(attrs::Arguments),
    /// Copy a hierarchy into another format or layout
    Convert(convert::Arguments),
    /// Say what a read would touch, decode and fetch, without reading
    Plan(plan::Arguments),
    /// Check documents, keys and, with --data, every chunk
    Validate(validate::Arguments),
    /// Hash decoded values: the same for every layout of the same data
    Checksum(checksum::Arguments),
    /// See what chunks, shards and cuts do to a data set made on the spot
    Demo(demo::Arguments),
    /// Print a completion script for a shell
    Completions(completions::Arguments),
    /// Answer the protocols of public conformance suites
    Conformance(conformance::Arguments),
    /// Print a page of docs/reference
    #[command(hide = true)]
    Reference(reference::Arguments),
}

/// Runs a command.
pub fn run(command: Command, context: &Context) -> Result<Exit> {
    match command {
        Command::Info(a) => info::run(a, context),
        Command::Tree(a) => tree::run(a, context),
        Command::Read(a) => read::run(a, context),
        Command::Write(a) => write::run(a, context),
        Command::Append(a) => append::run(a, context),
        Command::Resize(a) => resize::run(a, context),
        Command::Attrs(a) => attrs::run(a, context),
        Command::Convert(a) => convert::run(a, context),
        Command::Plan(a) => plan::run(a, context),
        Command::Validate(a) => validate::run(a, context),
        Command::Checksum(a) => checksum::run(a, context),
        Command::Demo(a) => demo::run(a, context),
        Command::Completions(a) => completions::run(a, context),
        Command::Conformance(a) => conformance::run(a, context),
        Command::Reference(a) => reference::run(a, context),
    }
}
