//! What a path or URL is, and the store for it.

use crate::{Store, StoreError};

/// How to reach a store. A library reads no environment; the command fills these from it.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// For s3://, gs://, az://: keys of `object_store`'s configuration (`aws_access_key_id`, `aws_endpoint`, `aws_region`, …).
    pub settings: Vec<(String, String)>,
    /// Unsigned requests.
    pub anonymous: bool,
    /// HTTP: statuses that mean "absent" beside 404 and 410 (servers that answer 403 for absent keys).
    pub absent_statuses: Vec<u16>,
    /// HTTP: headers to send.
    pub headers: Vec<(String, String)>,
    /// Files: flush each file to the disk before it is renamed into place.
    pub fsync: bool,
}

/// [`open_with`] and no options.
pub fn open(location: &str) -> Result<Store, StoreError> {
    open_with(location, &Options::default())
}

/// Opens a path or URL. A file that begins as a zip archive is one; a directory is one even where it does not exist yet.
pub fn open_with(location: &str, options: &Options) -> Result<Store, StoreError> {
    let _ = (location, options);
    todo!()
}
