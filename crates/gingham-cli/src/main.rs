//! The gingham command.
//!
//! ```text
//!   what was typed ── args ──► options ──► commands::* ──► standard output: the result, nothing else
//!                      env ──►                        └──► standard error: warnings, progress, the error
//! ```
//!
//! Every command is one file in `commands/`: its arguments, what they mean, and one function that does it.

mod args;
mod chunks_text;
mod codec_text;
mod commands;
mod context;
mod dtype_text;
mod env;
mod error;
mod exit;
mod interrupt;
mod location;
mod nearby;
mod npy;
mod ome;
mod picture;
mod progress;
mod render;
mod sheet;
mod slabs;
mod source;
mod table;
mod values;
mod words;

use std::process::ExitCode;

use clap::Parser;

use crate::args::Cli;
use crate::context::Context;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return exit::usage(&error),
    };
    let context = match Context::new(&cli.globals) {
        Ok(context) => context,
        Err(failure) => return failure.report(cli.globals.json),
    };
    interrupt::listen();
    match commands::run(cli.command, &context) {
        Ok(exit) => exit.into(),
        Err(failure) => failure.report(context.json),
    }
}
