//! `gingham validate`: everything that is wrong, not only the first.

use std::io::{self, Write};

use clap::Args;
use gingham::Node;
use gingham_ops::validate::{Finding, Severity, validate};
use serde_json::json;

use crate::context::Context;
use crate::error::{Failure, Result};
use crate::exit::Exit;
use crate::location;
use crate::ome::{self, Level};
use crate::render::{self, style};

/// What was typed.
#[derive(Debug, Args)]
#[command(after_help = "\
One line a finding as it turns up: severity, node, rule, sentence, key. The last line counts them.
OME-Zarr metadata is checked where there is any. Status 1 where anything is wrong.

Examples:
  gingham validate data.zarr
  gingham validate --data data.zarr          decodes every chunk
  gingham validate --strict data.zarr        warnings count too
  gingham validate --json data.zarr | jq -r 'select(.rule == \"chunk-size\") | .key'")]
pub struct Arguments {
    /// Array or group: path or URL
    location: String,
    /// Decode every chunk
    #[arg(long)]
    data: bool,
    /// Status 1 for warnings too
    #[arg(long)]
    strict: bool,
}

/// Findings as they are printed.
struct Printer<W: Write> {
    out: W,
    json: bool,
    errors: u64,
    warnings: u64,
    /// Why printing failed; what is found after that is only counted.
    failed: Option<io::Error>,
}

/// Checks it.
pub fn run(arguments: Arguments, context: &Context) -> Result<Exit> {
    let root = location::node(context, &arguments.location)?;
    let mut printer = Printer { out: context.text(), json: context.json, errors: 0, warnings: 0, failed: None };
    let lists = root.store().traits().lists;
    validate(&root, arguments.data, &mut |finding| printer.finding(&finding))?;
    for entry in location::walk(root)? {
        if let Ok(Node::Group(group)) = &entry.node {
            for finding in ome::check_group(group)? {
                let severity = match finding.level {
                    Level::Error => Severity::Error,
                    Level::Warning => Severity::Warning,
                    Level::Note => continue,
                };
                printer.finding(&Finding { path: entry.relative.clone(), rule: finding.rule, severity, what: finding.what, key: None });
            }
        }
    }
    if let Some(error) = printer.failed.take() {
        return Err(Failure::from(error));
    }
    printer.summary(&arguments.location, lists, arguments.data)?;
    let bad = printer.errors > 0 || (arguments.strict && printer.warnings > 0);
    Ok(if bad { Exit::Findings } else { Exit::Done })
}

impl<W: Write> Printer<W> {
    fn finding(&mut self, finding: &Finding) {
        match finding.severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
        }
        if self.failed.is_none() {
            self.failed = self.print(finding).err();
        }
    }
    fn print(&mut self, finding: &Finding) -> io::Result<()> {
        let (word, style) = match finding.severity {
            Severity::Error => ("error", style::BAD),
            Severity::Warning => ("warning", style::WARN),
        };
        if self.json {
            let line = json!({ "severity": word, "path": finding.path, "rule": finding.rule, "what": finding.what, "key": finding.key });
            writeln!(self.out, "{line}")?;
        } else {
            let key = finding.key.as_deref().map_or(String::new(), |k| format!("  ({})", render::short(k, 120)));
            let gap = " ".repeat(7 - word.len());
            let what = render::short(&finding.what, 400);
            writeln!(self.out, "{style}{word}{style:#}{gap}  /{}  {}  {what}{key}", render::short(&finding.path, 120), finding.rule)?;
        }
        // Each line is out as soon as it is known.
        self.out.flush()
    }
    fn summary(&mut self, location: &str, keys: bool, data: bool) -> io::Result<()> {
        if self.json {
            writeln!(
                self.out,
                "{}",
                json!({ "errors": self.errors, "warnings": self.warnings, "keys_checked": keys, "data_checked": data })
            )?;
        } else {
            let checked = match (keys, data) {
                (true, true) => "documents, keys and chunks",
                (true, false) => "documents and keys",
                (false, true) => "documents and chunks, no keys: the store cannot be listed",
                (false, false) => "documents alone: the store cannot be listed",
            };
            let found = match (self.errors, self.warnings) {
                (0, 0) => "nothing is wrong".into(),
                (e, w) => format!("{}, {}", render::plural(e, "error", "errors"), render::plural(w, "warning", "warnings")),
            };
            writeln!(self.out, "{location}: {found} (checked: {checked})")?;
        }
        self.out.flush()
    }
}
