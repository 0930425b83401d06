//! What a path or URL is, and the store for it.

use std::path::{Path, PathBuf};

use crate::fs::Fs;
use crate::http::Http;
use crate::memory::Memory;
use crate::object::Object;
use crate::{Store, StoreError, StoreErrorKind};

/// How to reach a store. A library reads no environment; the command fills these from it.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// For s3://, gs://, az://: keys of `object_store`'s configuration (`aws_access_key_id`, `aws_endpoint`, `aws_region`, …).
    pub settings: Vec<(String, String)>,
    /// Unsigned requests.
    pub anonymous: bool,
    /// HTTP and object stores: statuses that mean "absent" beside 404 and 410 (servers that answer 403 for absent keys; of object
    /// stores only 403 is taken from here).
    pub absent_statuses: Vec<u16>,
    /// HTTP: headers to send.
    pub headers: Vec<(String, String)>,
    /// HTTP and object stores: URL of a proxy.
    pub proxy: Option<String>,
    /// Files: flush each file to the disk before it is renamed into place.
    pub fsync: bool,
}

/// [`open_with`] and no options.
pub fn open(location: &str) -> Result<Store, StoreError> {
    open_with(location, &Options::default())
}

/// Opens a path or URL. A file that begins as a zip archive is one; a directory is one even where it does not exist yet.
pub fn open_with(location: &str, options: &Options) -> Result<Store, StoreError> {
    match scheme(location) {
        None => open_path(Path::new(location), options),
        Some("memory") => Ok(Store::new(Memory::new())),
        Some("file") => open_path(&file_path(location)?, options),
        Some("http" | "https") => Ok(Store::new(Http::new(location, options)?)),
        Some("s3" | "s3a" | "gs" | "gcs" | "az" | "azure" | "abfs" | "abfss") => {
            let (bucket, prefix) = Object::new(location, options)?;
            Ok(Store::new(bucket).prefixed(&prefix))
        }
        Some(other) => Err(invalid(location, format!("{other:?} is not a scheme that a store has"))),
    }
}

/// The scheme of a URL; `None` for a path. One letter is a drive, and a colon without slashes after it is part of a name.
fn scheme(location: &str) -> Option<&str> {
    let (scheme, rest) = location.split_once(':')?;
    let named = scheme.len() > 1
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    (named && (rest.starts_with("//") || scheme == "memory")).then_some(scheme)
}

fn file_path(location: &str) -> Result<PathBuf, StoreError> {
    let url = url::Url::parse(location).map_err(|e| invalid(location, format!("{location:?} is not a URL: {e}")))?;
    url.to_file_path().map_err(|()| invalid(location, format!("{location:?} does not name a file on this machine")))
}

fn open_path(path: &Path, options: &Options) -> Result<Store, StoreError> {
    Ok(Store::new(Fs::new(path)?.fsync(options.fsync)))
}

fn invalid(location: &str, what: String) -> StoreError {
    StoreError::new(StoreErrorKind::Invalid, what).at(location, "")
}
