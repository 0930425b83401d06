//! What a path or URL is, and the store for it.
//!
//! | location | store |
//! |---|---|
//! | `dir`, `C:\dir`, `file:///dir` | [`crate::fs::Fs`], existing or not; a file only where it is a zip archive |
//! | `memory:` | [`crate::memory::Memory`], a new one |
//! | `http://…`, `https://…` | [`crate::http::Http`] |
//! | `s3://bucket/prefix`, `gs://…`, `gcs://…`, `az://…`, `azure://…`, `abfs[s]://…` | [`crate::object::Object`] |
//! | a URL of these that ends in `.zip` or `.ozx` | [`crate::zip::Zip`], where such an archive is there |

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use url::Url;

use crate::fs::Fs;
use crate::http::Http;
use crate::memory::Memory;
use crate::object::Object;
use crate::wrap::Stop;
use crate::zip::{Zip, ZipWriter};
use crate::{Range, Store, StoreError, StoreErrorKind};

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
    /// Once this is true every request of the store is refused, see [`crate::wrap::Stop`].
    pub stop: Option<Arc<AtomicBool>>,
}

impl Options {
    fn stoppable(&self, store: Store) -> Store {
        match &self.stop {
            Some(signal) => Store::new(Stop::new(store, signal.clone())),
            None => store,
        }
    }
}

/// [`open_with`] and no options.
pub fn open(location: &str) -> Result<Store, StoreError> {
    open_with(location, &Options::default())
}

/// Opens a path or URL. A file that begins as a zip archive is one; a directory is one even where it does not exist yet.
pub fn open_with(location: &str, options: &Options) -> Result<Store, StoreError> {
    Ok(options.stoppable(open_any(location, options)?))
}

fn open_any(location: &str, options: &Options) -> Result<Store, StoreError> {
    match scheme(location) {
        None => open_path(Path::new(location), options),
        Some("memory") => Ok(Store::new(Memory::new())),
        Some("file") => open_path(&file_path(location)?, options),
        Some(_) => match remote_zip(location, options)? {
            Some(store) => Ok(store),
            None => remote(location, options),
        },
    }
}

/// A place to write to: what [`open_with`] opens, but a path that ends in `.zip` or `.ozx` is a new archive, which
/// [`crate::Storage::finish`] puts in place of what was there.
pub fn create_with(location: &str, options: &Options) -> Result<Store, StoreError> {
    Ok(options.stoppable(create_any(location, options)?))
}

fn create_any(location: &str, options: &Options) -> Result<Store, StoreError> {
    let path = match scheme(location) {
        None => PathBuf::from(location),
        Some("file") => file_path(location)?,
        Some(_) => return remote(location, options),
    };
    if is_archive_name(location) && !path.is_dir() {
        return Ok(Store::new(ZipWriter::create(path)?.fsync(options.fsync)));
    }
    open_path(&path, options)
}

/// The store that holds one object, and the object's key in it: the directory of a path, the URL without its last segment
/// (a query stays with it), the bucket.
pub fn locate(location: &str, options: &Options) -> Result<(Store, String), StoreError> {
    let nameless = || invalid(location, format!("{location:?} does not name one object"));
    let path = match scheme(location) {
        None => PathBuf::from(location),
        Some("file") => file_path(location)?,
        Some("http" | "https") => {
            let mut url = Url::parse(location).map_err(|e| invalid(location, format!("{location:?} is not a URL: {e}")))?;
            let path = url.path().to_owned();
            let (above, name) = path.rsplit_once('/').ok_or_else(nameless)?;
            let key = percent_decoded(name).filter(|key| !key.is_empty() && !key.contains('/')).ok_or_else(nameless)?;
            url.set_path(above);
            return Ok((Store::new(Http::new(url.as_str(), options)?), key));
        }
        Some("memory") => return Err(nameless()),
        Some(_) => {
            let (bucket, key) = bucket(location, options)?;
            return if key.is_empty() { Err(nameless()) } else { Ok((Store::new(bucket), key)) };
        }
    };
    let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(nameless)?;
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok((Store::new(Fs::new(dir)?.fsync(options.fsync)), name.into()))
}

/// The places above a location, the nearest first, each with the location's path in it. Those of a path are directories; those
/// of an object store lie in its bucket. A web server has none, as nothing is written there.
pub fn above(location: &str, options: &Options) -> Result<Box<dyn Iterator<Item = (Store, String)>>, StoreError> {
    let path = match scheme(location) {
        None => PathBuf::from(location),
        Some("file") => file_path(location)?,
        Some("http" | "https" | "memory") => return Ok(Box::new(std::iter::empty())),
        Some(_) => {
            let (bucket, key) = bucket(location, options)?;
            let bucket = options.stoppable(Store::new(bucket));
            let cuts: Vec<usize> = key.rmatch_indices('/').map(|(i, _)| i).chain((!key.is_empty()).then_some(0)).collect();
            return Ok(Box::new(cuts.into_iter().map(move |i| (bucket.prefixed(&key[..i]), key[i..].trim_start_matches('/').to_string()))));
        }
    };
    // Where a path goes up by "..", only the file system knows what lies above; else it is what the path says, so that a link is
    // a member of the directory that holds it.
    let goes_up = path.components().any(|c| c == std::path::Component::ParentDir);
    let real =
        || path.canonicalize().or_else(|_| Ok(path.parent().unwrap_or(&path).canonicalize()?.join(path.file_name().unwrap_or_default())));
    let full = if goes_up { real() } else { std::path::absolute(&path) };
    // What does not exist yet has nothing above it that could hold it.
    let Ok(full): std::io::Result<PathBuf> = full else { return Ok(Box::new(std::iter::empty())) };
    let (mut dir, mut below, options) = (full, String::new(), options.clone());
    Ok(Box::new(std::iter::from_fn(move || {
        let name = dir.file_name()?.to_str()?;
        below = if below.is_empty() { name.to_string() } else { format!("{name}/{below}") };
        dir = dir.parent()?.to_path_buf();
        Some((options.stoppable(Store::new(Fs::new(&dir).ok()?.fsync(options.fsync))), below.clone()))
    })))
}

/// The scheme of a URL; `None` for a path. One letter is a drive, and a colon without slashes after it is part of a name.
fn scheme(location: &str) -> Option<&str> {
    let (scheme, rest) = location.split_once(':')?;
    let named = scheme.len() > 1
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    (named && (rest.starts_with("//") || scheme == "memory")).then_some(scheme)
}

fn remote(location: &str, options: &Options) -> Result<Store, StoreError> {
    match scheme(location) {
        Some("http" | "https") => Ok(Store::new(Http::new(location, options)?)),
        Some("memory") => Ok(Store::new(Memory::new())),
        _ => {
            let (bucket, prefix) = bucket(location, options)?;
            Ok(Store::new(bucket).prefixed(&prefix))
        }
    }
}

fn bucket(location: &str, options: &Options) -> Result<(Object, String), StoreError> {
    match scheme(location) {
        Some("s3" | "s3a" | "gs" | "gcs" | "az" | "azure" | "abfs" | "abfss") => Object::new(location, options),
        other => {
            let what = format!("{:?} is not a scheme that a store has", other.unwrap_or_default());
            Err(invalid(location, what).hint("a path, or file, memory, http, https, s3, gs, az or abfs"))
        }
    }
}

/// The archive at a URL whose path ends like one. Nothing there, or something else: then the URL is a prefix like any.
fn remote_zip(location: &str, options: &Options) -> Result<Option<Store>, StoreError> {
    if !is_archive_name(location.split(['?', '#']).next().unwrap_or(location)) {
        return Ok(None);
    }
    let (store, key) = locate(location, options)?;
    match store.get(&key, Range::Bounded { start: 0, length: 4 }) {
        Ok(Some(bytes)) if is_zip(&bytes) => Ok(Some(Store::new(Zip::open(store, &key)?))),
        Err(e) if e.kind != StoreErrorKind::Short => Err(e),
        _ => Ok(None),
    }
}

fn is_archive_name(location: &str) -> bool {
    let ends = |suffix: &str| {
        location.len() > suffix.len() && location.as_bytes()[location.len() - suffix.len()..].eq_ignore_ascii_case(suffix.as_bytes())
    };
    ends(".zip") || ends(".ozx")
}

/// The beginning of an archive: of its first entry, or of the end where it has none.
fn is_zip(head: &[u8]) -> bool {
    head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06")
}

fn open_path(path: &Path, options: &Options) -> Result<Store, StoreError> {
    let shown = path.display().to_string();
    if shown.is_empty() {
        return Err(invalid("", "an empty path names no place".into()));
    }
    match path.metadata() {
        Ok(meta) if meta.is_file() => {}
        Ok(meta) if meta.is_dir() => return Ok(Store::new(Fs::new(path)?.fsync(options.fsync))),
        Ok(_) => return Err(invalid(&shown, format!("{shown} is neither a directory nor a file"))),
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Store::new(Fs::new(path)?.fsync(options.fsync))),
        Err(e) => return Err(unreadable(&shown, e)),
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(512).read_to_end(&mut head));
    read.map_err(|e| unreadable(&shown, e))?;
    // An archive with bytes before it, such as one that unpacks itself, has only its name to be known by.
    if is_zip(&head) || is_archive_name(&shown) {
        let (store, key) = locate(&shown, options)?;
        return Ok(Store::new(Zip::open(store, &key)?));
    }
    let what = format!("{shown} is a file ({}); a store is a directory, a zip archive or a URL", looks_like(&head));
    Err(StoreError::new(StoreErrorKind::Unsupported, what).at(&shown, ""))
}

/// What a file is, by its first bytes.
fn looks_like(head: &[u8]) -> &'static str {
    let text = head.iter().find(|b| !b.is_ascii_whitespace());
    match head {
        [] => "an empty one",
        [0x89, b'H', b'D', b'F', ..] => "it looks like HDF5 or netCDF-4",
        [b'C', b'D', b'F', 1 | 2 | 5, ..] => "it looks like classic netCDF",
        [b'I', b'I', 42 | 43, 0, ..] | [b'M', b'M', 0, 42 | 43, ..] => "it looks like TIFF",
        [b'P', b'A', b'R', b'1', ..] => "it looks like Parquet",
        [b'G', b'R', b'I', b'B', ..] => "it looks like GRIB",
        [0x1f, 0x8b, ..] => "it looks like gzip",
        [0x28, 0xb5, 0x2f, 0xfd, ..] => "it looks like Zstandard",
        _ if head.get(257..262) == Some(b"ustar") => "it looks like tar",
        _ if matches!(text, Some(b'{' | b'[')) => "it looks like JSON",
        _ if matches!(text, Some(b'<')) => "it looks like HTML or XML",
        _ => "of a kind that is not known",
    }
}

fn file_path(location: &str) -> Result<PathBuf, StoreError> {
    let url = Url::parse(location).map_err(|e| invalid(location, format!("{location:?} is not a URL: {e}")))?;
    if url.query().is_some() || url.fragment().is_some() {
        let what = format!("{location:?} has a \"?\" or \"#\", which no file URL has");
        return Err(invalid(location, what).hint("in a file's name they are written %3F and %23"));
    }
    url.to_file_path().map_err(|()| invalid(location, format!("{location:?} does not name a file on this machine")))
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [b, more @ ..] = rest {
        let digit = |d: u8| (d as char).to_digit(16).map(|d| d as u8);
        let encoded = match more {
            [high, low, ..] if *b == b'%' => digit(*high).zip(digit(*low)).map(|(high, low)| high << 4 | low),
            _ => None,
        };
        bytes.push(encoded.unwrap_or(*b));
        rest = if encoded.is_some() { &more[2..] } else { more };
    }
    String::from_utf8(bytes).ok()
}

fn unreadable(shown: &str, e: std::io::Error) -> StoreError {
    let kind = match e.kind() {
        ErrorKind::PermissionDenied => StoreErrorKind::Denied,
        ErrorKind::NotADirectory => StoreErrorKind::NotFound,
        _ => StoreErrorKind::Failed,
    };
    StoreError::new(kind, format!("{shown} cannot be opened: {e}")).at(shown, "").caused_by(e)
}

fn invalid(location: &str, what: String) -> StoreError {
    StoreError::new(StoreErrorKind::Invalid, what).at(location, "")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::{Bytes, Condition};

    #[test]
    fn what_lies_above_is_walked_to_the_root() {
        let paths = |location: &str| -> Vec<(String, String)> {
            let all = above(location, &Options { anonymous: true, ..Options::default() }).unwrap();
            all.map(|(store, path)| (store.describe(), path)).collect()
        };
        let dir = tempfile::tempdir().unwrap();
        let full = dir.path().canonicalize().unwrap().display().to_string();
        std::fs::create_dir(dir.path().join("a")).unwrap();
        for spelling in [format!("{full}/a/b/"), format!("file://{full}/a/b"), format!("{full}/a/../a/b")] {
            let found = paths(&spelling);
            assert!(found[0].0.ends_with(&format!("{full}/a")) && found[1].0.ends_with(&full), "{found:?}");
            assert_eq!((found[0].1.as_str(), found[1].1.as_str()), ("b", "a/b"));
        }
        let object = |path: &str| (format!("s3://bucket/{path}").trim_end_matches('/').to_string(), ());
        let found: Vec<_> = paths("s3://bucket/x/y/z").into_iter().map(|(s, p)| (s.trim_end_matches('/').to_string(), p)).collect();
        assert_eq!(found.iter().map(|f| f.1.as_str()).collect::<Vec<_>>(), ["z", "y/z", "x/y/z"]);
        assert_eq!(found.iter().map(|f| (f.0.clone(), ())).collect::<Vec<_>>(), [object("x/y"), object("x"), object("")]);
        assert!(paths("s3://bucket").is_empty() && paths("https://host/a/b").is_empty() && paths("memory:").is_empty());
    }

    #[test]
    fn schemes_and_drives() {
        assert_eq!(scheme("s3://b/k"), Some("s3"));
        assert_eq!(scheme("memory:"), Some("memory"));
        assert_eq!(scheme("file:///x"), Some("file"));
        for path in ["C:\\x", "C:/x", "c:", "a:b", "dir/with:colon", "./s3:x", "/abs", "x", "", "1a://b", "era5:v2.zarr"] {
            assert_eq!(scheme(path), None, "{path}");
        }
    }

    #[test]
    fn locations_are_told_apart() {
        let describe = |location: &str| open(location).map(|s| s.describe()).map_err(|e| (e.kind, e.to_string()));
        assert_eq!(describe("memory:").unwrap(), "memory:");
        assert_eq!(describe("http://h:8/a/?q=1").unwrap(), "http://h:8/a?…");
        assert_eq!(describe("s3://bucket/a/b/").unwrap(), "s3://bucket/a/b");
        assert_eq!(describe("gcs://bucket").unwrap(), "gcs://bucket");
        assert!(describe("file:///no/such/dir").unwrap().ends_with("dir"));
        for (location, says) in [
            ("ftp://h/x", "\"ftp\" is not a scheme"),
            ("s3://", "names no bucket"),
            ("s3://b/a/../c", "is not a key"),
            ("file://host/x?y", "\"?\" or \"#\""),
            ("", "empty path"),
        ] {
            let (kind, what) = describe(location).unwrap_err();
            assert_eq!(kind, StoreErrorKind::Invalid, "{location}");
            assert!(what.contains(says), "{location}: {what}");
        }
        let options = Options { settings: vec![("aws_regoin".into(), "x".into())], ..Options::default() };
        assert!(open_with("s3://b", &options).unwrap_err().to_string().contains("\"aws_regoin\" is not a setting"));
        let options = Options { settings: vec![("azure_storage_account_name".into(), "x".into())], ..Options::default() };
        assert!(open_with("s3://b", &options).is_ok(), "settings of another cloud are passed over");
    }

    #[test]
    fn a_file_that_is_no_store_says_what_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        for (bytes, says) in [
            (&b"\x89HDF\r\n\x1a\n"[..], "HDF5"),
            (b"CDF\x02", "classic netCDF"),
            (b"II*\0", "TIFF"),
            (b"MM\0+", "TIFF"),
            (b" \n{\"version\":1}", "JSON"),
            (b"", "empty"),
            (b"hello", "not known"),
        ] {
            std::fs::write(&path, bytes).unwrap();
            let e = open(path.to_str().unwrap()).unwrap_err();
            assert_eq!(e.kind, StoreErrorKind::Unsupported);
            assert!(e.to_string().contains(says), "{e}");
        }
        let e = open(path.join("below").to_str().unwrap()).unwrap_err();
        assert_eq!(e.kind, StoreErrorKind::NotFound, "{e}");
    }

    #[test]
    fn an_archive_is_created_and_opened_by_path_and_url() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x y.ZIP");
        let path = path.to_str().unwrap();
        let store = create_with(path, &Options::default()).unwrap();
        store.put("k", Bytes::from_static(b"1"), &Condition::Always).unwrap();
        store.finish().unwrap();
        assert_eq!(open(path).unwrap().get("k", Range::All).unwrap().unwrap(), &b"1"[..]);
        let url = Url::from_file_path(path).unwrap();
        assert_eq!(open(url.as_str()).unwrap().get("k", Range::All).unwrap().unwrap(), &b"1"[..]);
        // A directory may be called so, and a directory that does not exist yet is created as one by open.
        let named = dir.path().join("dir.zip");
        open(named.to_str().unwrap()).unwrap().put("k", Bytes::new(), &Condition::Always).unwrap();
        assert!(named.is_dir());
        assert!(open(named.to_str().unwrap()).unwrap().traits().writes);
        std::fs::write(dir.path().join("bad.zip"), b"not one").unwrap();
        assert_eq!(open(dir.path().join("bad.zip").to_str().unwrap()).unwrap_err().kind, StoreErrorKind::Corrupt);
    }

    #[test]
    fn one_object_is_found_in_its_store() {
        let options = Options::default();
        let (store, key) = locate("http://h:81/a/f%20g.bin?t=a%2Fb", &options).unwrap();
        assert_eq!((store.describe().as_str(), key.as_str()), ("http://h:81/a?…", "f g.bin"));
        let (store, key) = locate("s3://b/x/y.nc", &options).unwrap();
        assert_eq!((store.describe().as_str(), key.as_str()), ("s3://b", "x/y.nc"));
        let (store, key) = locate("dir/y.nc", &options).unwrap();
        assert!(store.describe().ends_with("dir"));
        assert_eq!(key, "y.nc");
        for bad in ["http://h/", "http://h/a%2Fb", "s3://b", "memory:", "/", ".."] {
            assert_eq!(locate(bad, &options).unwrap_err().kind, StoreErrorKind::Invalid, "{bad}");
        }
        assert_eq!(percent_decoded("a%2fb%zz%4").unwrap(), "a/b%zz%4");
        assert_eq!(percent_decoded("%ff"), None);
    }
}
