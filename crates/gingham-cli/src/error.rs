//! Failures as users see them: one sentence, then where, because, hint.

use std::error::Error as _;
use std::io::{self, Write};
use std::process::ExitCode;

use gingham::{Error, Kind};
use serde_json::{Map, Value};

use crate::exit::Exit;
use crate::render::style;

/// A command's result.
pub type Result<T> = std::result::Result<T, Failure>;

/// Why a command ended early.
#[derive(Debug)]
pub enum Failure {
    /// Whoever read standard output has gone away (`gingham … | head`): nothing is wrong.
    BrokenPipe,
    /// Something to tell.
    Told(Box<Told>),
}

/// What is told.
#[derive(Debug)]
pub struct Told {
    exit: Exit,
    kind: &'static str,
    what: String,
    at: Option<String>,
    because: Vec<String>,
    hint: Option<String>,
}

impl Failure {
    fn told(exit: Exit, kind: &'static str, what: impl Into<String>) -> Self {
        Failure::Told(Box::new(Told { exit, kind, what: what.into(), at: None, because: Vec::new(), hint: None }))
    }
    /// The command line makes no sense.
    pub fn usage(what: impl Into<String>) -> Self {
        Failure::told(Exit::Usage, "usage", what)
    }
    /// What was read is damaged or not of the kind that is needed.
    pub fn bad_data(what: impl Into<String>) -> Self {
        Failure::told(Exit::BadData, "bad-data", what)
    }
    /// Refused before anything was written.
    pub fn blocked(what: impl Into<String>) -> Self {
        Failure::told(Exit::Blocked, "blocked", what)
    }
    /// A file beside the store could not be read or written.
    pub fn file(path: &str, doing: &str, error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Failure::BrokenPipe;
        }
        let (exit, kind) = match error.kind() {
            io::ErrorKind::NotFound => (Exit::NotFound, "not-found"),
            io::ErrorKind::PermissionDenied => (Exit::StoreFailed, "denied"),
            _ => (Exit::StoreFailed, "store"),
        };
        Failure::told(exit, kind, format!("cannot {doing} {path}")).because(error.to_string())
    }
    /// Adds a hint where there is none.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        if let Failure::Told(told) = &mut self {
            told.hint.get_or_insert(hint.into());
        }
        self
    }
    /// Another hint: the option to type, where the library speaks of what to ask for.
    pub fn instead_hint(mut self, hint: impl Into<String>) -> Self {
        if let Failure::Told(told) = &mut self {
            told.hint = Some(hint.into());
        }
        self
    }
    /// Adds the place where there is none.
    pub fn at(mut self, place: impl Into<String>) -> Self {
        if let Failure::Told(told) = &mut self {
            told.at.get_or_insert(place.into());
        }
        self
    }
    /// Adds a cause.
    pub fn because(mut self, cause: impl Into<String>) -> Self {
        if let Failure::Told(told) = &mut self {
            told.because.push(cause.into());
        }
        self
    }
    /// The same with status 6: nothing was written yet. A failing store or a place that is not there stays what it is.
    pub fn before_writing(mut self) -> Self {
        if let Failure::Told(told) = &mut self
            && matches!(told.exit, Exit::BadData)
        {
            told.exit = Exit::Blocked;
        }
        self
    }
    /// What is there now, where a signal ended it.
    pub fn left(mut self, what: impl FnOnce() -> String) -> Self {
        if let Failure::Told(told) = &mut self
            && matches!(told.exit, Exit::Interrupted | Exit::Terminated)
        {
            told.hint = Some(what());
        }
        self
    }
    /// The sentence.
    pub fn what(&self) -> &str {
        match self {
            Failure::BrokenPipe => "the output was closed",
            Failure::Told(told) => &told.what,
        }
    }
    /// Tells it on standard error; the status to exit with.
    pub fn report(&self, json: bool) -> ExitCode {
        let Failure::Told(told) = self else { return Exit::Done.into() };
        let mut err = anstream::stderr().lock();
        // Nothing can be told where standard error is closed.
        let _ = if json { writeln!(err, "{}", told.json()) } else { told.print(&mut err) };
        told.exit.into()
    }
}

impl Told {
    fn json(&self) -> Value {
        let mut o = Map::new();
        o.insert("error".into(), self.what.clone().into());
        o.insert("kind".into(), self.kind.into());
        o.insert("at".into(), self.at.clone().into());
        o.insert("because".into(), self.because.clone().into());
        o.insert("hint".into(), self.hint.clone().into());
        o.insert("status".into(), self.exit.code().into());
        Value::Object(o)
    }
    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        use style::{BAD, DIM, GOOD};
        writeln!(out, "{BAD}error:{BAD:#} {}", self.what)?;
        if let Some(at) = &self.at {
            writeln!(out, "   {DIM}at:{DIM:#} {at}")?;
        }
        for cause in &self.because {
            writeln!(out, "{DIM}because:{DIM:#} {cause}")?;
        }
        if let Some(hint) = &self.hint {
            writeln!(out, " {GOOD}hint:{GOOD:#} {hint}")?;
        }
        Ok(())
    }
}

fn kind_of(kind: Kind) -> (Exit, &'static str) {
    match kind {
        Kind::NotFound => (Exit::NotFound, "not-found"),
        Kind::Exists => (Exit::Blocked, "exists"),
        Kind::Metadata => (Exit::BadData, "metadata"),
        Kind::Unsupported => (Exit::BadData, "unsupported"),
        Kind::Corrupt => (Exit::BadData, "corrupt"),
        Kind::OutOfRange => (Exit::Usage, "out-of-range"),
        Kind::Invalid => (Exit::Usage, "invalid"),
        Kind::Denied => (Exit::StoreFailed, "denied"),
        Kind::Conflict => (Exit::StoreFailed, "conflict"),
        Kind::Store => (Exit::StoreFailed, "store"),
        Kind::Interrupted => (crate::interrupt::status(), "interrupted"),
        _ => (Exit::StoreFailed, "other"),
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let (exit, kind) = kind_of(error.kind());
        let place = error.place().to_string();
        let what = error.to_string();
        let mut because = Vec::new();
        let mut source = error.source();
        // A chain of errors may be a loop in principle; eight causes tell all that a user can use.
        while let Some(cause) = source.filter(|_| because.len() < 8) {
            let text = cause.to_string();
            // A cause that was told already says nothing new.
            if !what.contains(&text) && because.last() != Some(&text) {
                because.push(text);
            }
            source = cause.source();
        }
        Failure::Told(Box::new(Told {
            exit,
            kind,
            what,
            at: (!place.is_empty()).then_some(place),
            because,
            hint: error.hint().map(str::to_string),
        }))
    }
}

impl From<gingham::store::StoreError> for Failure {
    fn from(error: gingham::store::StoreError) -> Self {
        Error::from(error).into()
    }
}

/// Writing to standard output failed.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::file("the output", "write", error)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_failure_prints_as_four_aligned_lines() {
        let error = Error::new(Kind::Metadata, "the chunk lengths of axis 0 (time) add up to 366, but the axis is 400 long")
            .at(|p| {
                p.store = Some("s3://bucket/era5.zarr".into());
                p.key = Some("t2m/zarr.json".into());
                p.pointer = Some("/chunk_grid/configuration/chunk_shapes/0".into());
            })
            .with_hint("add a last chunk of at least 34");
        let failure = Failure::from(error).because("a cause");
        let Failure::Told(told) = &failure else { panic!() };
        let mut out = anstream::StripStream::new(Vec::new());
        told.print(&mut out).unwrap();
        let text = String::from_utf8(out.into_inner()).unwrap();
        assert_eq!(
            text,
            "error: the chunk lengths of axis 0 (time) add up to 366, but the axis is 400 long\n   \
             at: s3://bucket/era5.zarr/t2m/zarr.json  /chunk_grid/configuration/chunk_shapes/0\n\
             because: a cause\n hint: add a last chunk of at least 34\n"
        );
        assert_eq!(told.exit, Exit::BadData);
        assert_eq!(told.json()["kind"], "metadata");
        assert_eq!(told.json()["status"], 4);
    }

    #[test]
    fn a_closed_pipe_is_quiet() {
        let failure = Failure::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert!(matches!(failure, Failure::BrokenPipe));
    }
}
