//! `gingham completions`: a script for a shell.

use std::io::Write;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::args::Cli;
use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;

/// What was typed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  gingham completions bash > ~/.local/share/bash-completion/completions/gingham
  gingham completions zsh > ~/.zfunc/_gingham
  gingham completions fish > ~/.config/fish/completions/gingham.fish")]
pub struct Arguments {
    /// For which shell
    shell: Shell,
}

/// Prints the script.
pub fn run(arguments: Arguments, context: &Context) -> Result<Exit> {
    // Through a buffer of our own: the generator panics where its output is closed.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "gingham", &mut script);
    let mut out = context.bytes();
    out.write_all(&script)?;
    out.flush()?;
    Ok(Exit::Done)
}
