//! What can be typed: the command, and the options that every command takes.

use clap::{ArgAction, Args, Parser, ValueEnum};

use crate::commands::Command;

/// Look at, read, write, check and convert Zarr arrays of format 2 and 3.
#[derive(Debug, Parser)]
#[command(name = "gingham", version, about = "Zarr, cut to fit.", max_term_width = 110)]
#[command(after_help = "\
A location is a path or a URL, and may lie inside a hierarchy:
  data.zarr   data.zarr/group/array   archive.zip   https://host/x.zarr   s3://… gs://… az://…

Start with:
  gingham demo                              see what chunks, shards and cuts do
  gingham tree data.zarr                    what is in a hierarchy
  gingham info data.zarr/t2m                one array, in words
  gingham read data.zarr/t2m --select '0, 10:20, ...'

Exit status: 0 done, 1 differences or findings, 2 usage, 3 not found, 4 bad data, 5 store failed,
6 blocked before anything was written, 130 interrupted (143 by SIGTERM).")]
pub struct Cli {
    /// Options of every command.
    #[command(flatten)]
    pub globals: Globals,
    /// Which command.
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
#[derive(Debug, Clone, Args)]
pub struct Globals {
    /// Print the result as JSON (errors too, on standard error)
    #[arg(long, global = true, help_heading = "Output")]
    pub json: bool,
    /// Say more on standard error
    #[arg(short, long, global = true, action = ArgAction::Count, help_heading = "Output")]
    pub verbose: u8,
    /// When to use colours: auto, always or never
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_possible_values = true, help_heading = "Output")]
    pub color: Color,
    /// Progress on standard error: auto, bar, json (an object a line) or none [env: GINGHAM_PROGRESS]
    #[arg(long, global = true, value_name = "HOW", hide_possible_values = true, help_heading = "Output")]
    pub progress: Option<ProgressMode>,
    /// Worker threads [default: one per core] [env: GINGHAM_JOBS]
    #[arg(long, short = 'j', global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096), help_heading = "Reading and stores")]
    pub jobs: Option<u16>,
    /// Send unsigned requests to object stores
    #[arg(long, global = true, help_heading = "Reading and stores")]
    pub anonymous: bool,
    /// Object store endpoint, as in http://localhost:9000
    #[arg(long, global = true, value_name = "URL", help_heading = "Reading and stores")]
    pub endpoint: Option<String>,
    /// HTTP header, as in 'Authorization: Bearer …' (may be repeated)
    #[arg(long, global = true, value_name = "NAME:VALUE", help_heading = "Reading and stores")]
    pub header: Vec<String>,
    /// Proxy for HTTP and object stores [env: HTTPS_PROXY, NO_PROXY]
    #[arg(long, global = true, value_name = "URL", help_heading = "Reading and stores")]
    pub proxy: Option<String>,
    /// HTTP status that means "absent", as in 403 (may be repeated)
    #[arg(long, global = true, value_name = "STATUS", value_parser = clap::value_parser!(u16).range(400..=599), help_heading = "Reading and stores")]
    pub absent_status: Vec<u16>,
    /// Look for nodes of this format only, 2 or 3
    #[arg(long, global = true, value_name = "2|3", hide_possible_values = true, help_heading = "Reading and stores")]
    pub zarr_format: Option<FormatArg>,
    /// Format 2: the true separator of chunk keys
    #[arg(long, global = true, value_name = "CHAR", help_heading = "Reading and stores")]
    pub separator: Option<Separator>,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    // On a terminal, unless NO_COLOR is set.
    Auto,
    // Always.
    Always,
    // Never.
    Never,
}

/// How progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProgressMode {
    // A bar where standard error is a terminal.
    Auto,
    // A bar.
    Bar,
    // One JSON object a line.
    Json,
    // Nothing.
    None,
}

/// Separator of chunk keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Separator {
    // A slash.
    #[value(name = "/")]
    Slash,
    // A period.
    #[value(name = ".")]
    Period,
}

/// Zarr format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormatArg {
    // Format 2.
    #[value(name = "2")]
    V2,
    // Format 3.
    #[value(name = "3")]
    V3,
}

impl From<FormatArg> for gingham::Format {
    fn from(f: FormatArg) -> Self {
        match f {
            FormatArg::V2 => gingham::Format::V2,
            FormatArg::V3 => gingham::Format::V3,
        }
    }
}
