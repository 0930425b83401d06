//! What every command is given: how to reach stores, how to read, and where to write what.

use std::io::{self, BufWriter, Write};

use anstream::ColorChoice;

use crate::args::{Color, Globals, ProgressMode, Separator};
use crate::env::{self, Environment};
use crate::error::{Failure, Result};
use crate::interrupt;
use crate::render::style;

/// What every command is given.
#[derive(Debug)]
pub struct Context {
    /// Results as JSON.
    pub json: bool,
    /// How much is said beside the result.
    pub verbose: u8,
    /// How progress is shown.
    pub progress: ProgressMode,
    /// How stores are reached, but for the proxy; see [`Context::store_options`].
    pub store: gingham::store::Options,
    environment: Environment,
    /// How arrays are read and written.
    pub array: gingham::Options,
}

impl Context {
    /// From the options that every command takes, and the environment.
    pub fn new(globals: &Globals) -> Result<Self> {
        match globals.color {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        }
        .write_global();
        let environment = env::read()?;
        let mut settings = environment.settings.clone();
        if let Some(endpoint) = &globals.endpoint {
            // Later settings win over those of the environment.
            settings.push(("aws_endpoint".into(), endpoint.clone()));
            settings.push(("azure_storage_endpoint".into(), endpoint.clone()));
            settings.push(("google_base_url".into(), endpoint.clone()));
            if endpoint.starts_with("http://") {
                settings.push(("aws_allow_http".into(), "true".into()));
                settings.push(("azure_allow_http".into(), "true".into()));
            }
        }
        let jobs = globals.jobs.or(environment.jobs);
        Ok(Context {
            json: globals.json,
            verbose: globals.verbose,
            progress: globals.progress.or(environment.progress).unwrap_or(ProgressMode::Auto),
            store: gingham::store::Options {
                settings,
                anonymous: globals.anonymous,
                absent_statuses: globals.absent_status.clone(),
                headers: globals.header.iter().map(|h| header(h)).collect::<Result<_>>()?,
                proxy: globals.proxy.clone(),
                fsync: false,
                stop: Some(interrupt::flag()),
            },
            environment,
            array: gingham::Options {
                threads: jobs.map(usize::from),
                format: globals.zarr_format.map(Into::into),
                separator: globals.separator.map(|s| match s {
                    Separator::Slash => '/',
                    Separator::Period => '.',
                }),
                ..Default::default()
            },
        })
    }
    /// How the store of a location is reached. A proxy of the environment is not for every host.
    pub fn store_options(&self, location: &str) -> gingham::store::Options {
        let mut options = self.store.clone();
        if let (None, Some((_, rest))) = (&options.proxy, location.split_once("://")) {
            let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
            let host = authority.rsplit('@').next().unwrap_or_default();
            let host = host.rsplit_once(':').map_or(host, |(h, port)| if port.parse::<u16>().is_ok() { h } else { host });
            options.proxy = self.environment.proxy_for(host).map(str::to_string);
        }
        options
    }
    /// Standard output for text: colours where it is a terminal. Flush it at the end.
    pub fn text(&self) -> impl Write {
        BufWriter::new(anstream::stdout().lock())
    }
    /// Standard output for bytes, as they are. Flush it at the end.
    pub fn bytes(&self) -> impl Write {
        BufWriter::with_capacity(1 << 16, io::stdout().lock())
    }
    /// Says on standard error that something is odd.
    pub fn warn(&self, what: &str) {
        use style::WARN;
        let mut err = anstream::stderr().lock();
        // Nothing can be told where standard error is closed.
        let _ = if self.json {
            writeln!(err, "{}", serde_json::json!({ "warning": what }))
        } else {
            writeln!(err, "{WARN}warning:{WARN:#} {what}")
        };
    }
    /// Says on standard error what is done, with -v.
    pub fn say(&self, what: &str) {
        if self.verbose > 0 {
            let _ = writeln!(anstream::stderr().lock(), "{what}");
        }
    }
}

fn header(text: &str) -> Result<(String, String)> {
    let (name, value) = text.split_once(':').unwrap_or((text, ""));
    let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if name.is_empty() || value.is_empty() || !name.chars().all(token) || value.contains(['\r', '\n', '\0']) {
        return Err(Failure::usage(format!("\"{text}\" is not an HTTP header")).hint("write it as --header 'Name: value'"));
    }
    Ok((name.to_string(), value.trim().to_string()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn headers_are_a_name_and_a_value() {
        assert_eq!(header("Authorization: Bearer x:y").unwrap(), ("Authorization".into(), "Bearer x:y".into()));
        for bad in ["", "x", ": v", "a b: c", "x: a\r\nEvil: b", "x:"] {
            assert!(header(bad).is_err(), "{bad:?}");
        }
    }
}
