//! Objects in S3, Google Cloud Storage and Azure, through `object_store` on a small runtime of the store's own.
//!
//! Callers block without a runtime of theirs being in the way, and [`Store::get_async`] hands futures of that runtime to any
//! executor. What `object_store` reports is sorted into absent, denied, and broken; a bucket that does not exist is never an
//! absent key.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::path::Path;
use object_store::{
    BackoffConfig, ClientConfigKey, ClientOptions, GetOptions, GetRange, ObjectStore, ObjectStoreExt, PutMode, PutOptions, RetryConfig,
    UpdateVersion,
};
use tokio::runtime::{Builder, Handle, Runtime};

use crate::asynchronous::{block_on, bridge};
use crate::range::{check_key, check_prefix, drop_markers, short};
use crate::*;

/// Requests under way at once: a cloud store answers each in tens of milliseconds, whatever else it is doing.
const CONCURRENCY: usize = 32;
/// A round trip transfers about this much, so that fetching it beats asking again.
const GAP: u64 = 256 << 10;
/// Tries after the first, and the time that they may take together.
const RETRIES: usize = 3;
const RETRY_TIME: Duration = Duration::from_secs(60);
/// How long a request may take altogether: an object of 5 GiB at 50 MiB/s.
const REQUEST_TIME: &str = "120 seconds";

/// A bucket or container, and which service it is in.
pub struct Object {
    shown: String,
    cloud: Cloud,
    client: Arc<dyn ObjectStore>,
    runtime: Arc<Owned>,
    denied_is_absent: bool,
}

/// The services, by what differs between them here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cloud {
    S3,
    Google,
    Azure,
}

impl Object {
    /// The bucket of an `s3://`, `gs://`, `gcs://`, `az://`, `azure://` or `abfs[s]://` URL, and the prefix in it that the URL names.
    pub fn new(url: &str, options: &Options) -> Result<(Self, String), StoreError> {
        let invalid = |what: String| StoreError::new(StoreErrorKind::Invalid, what).at(url, "");
        let (scheme, rest) = url.split_once("://").ok_or_else(|| invalid(format!("{url:?} is not a URL")))?;
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let prefix = prefix.trim_matches('/');
        check_prefix(prefix).map_err(|e| e.at(url, ""))?;
        let cloud = match scheme {
            "s3" | "s3a" => Cloud::S3,
            "gs" | "gcs" => Cloud::Google,
            "az" | "azure" | "abfs" | "abfss" => Cloud::Azure,
            other => return Err(invalid(format!("{other:?} is not the scheme of an object store"))),
        };
        if bucket.is_empty() {
            return Err(invalid(format!("{url:?} names no bucket; it should be {scheme}://bucket/prefix")));
        }
        let client = match cloud {
            Cloud::S3 => s3(bucket, options),
            Cloud::Google => google(bucket, options),
            Cloud::Azure => azure(bucket, options),
        };
        let client = client.map_err(|e| e.at(url, ""))?;
        let runtime = Owned::new().map_err(|e| e.at(url, ""))?;
        let shown = format!("{scheme}://{bucket}");
        let denied_is_absent = options.absent_statuses.contains(&403);
        Ok((Object { shown, cloud, client, runtime: Arc::new(runtime), denied_is_absent }, prefix.into()))
    }

    fn path(&self, key: &str) -> Result<Path, StoreError> {
        check_key(key).map_err(|e| e.at(&self.shown, key))?;
        self.parsed(key)
    }

    fn prefix(&self, prefix: &str) -> Result<Option<Path>, StoreError> {
        let bare = check_prefix(prefix).map_err(|e| e.at(&self.shown, prefix))?;
        if bare.is_empty() { Ok(None) } else { self.parsed(bare).map(Some) }
    }

    fn parsed(&self, key: &str) -> Result<Path, StoreError> {
        Path::parse(key)
            .map_err(|e| StoreError::new(StoreErrorKind::Invalid, format!("{key:?} is not a key: {e}")).at(&self.shown, key).caused_by(e))
    }

    fn view(&self) -> View {
        View { shown: self.shown.clone(), cloud: self.cloud, client: self.client.clone(), denied_is_absent: self.denied_is_absent }
    }

    fn run<T: Send + 'static>(
        &self,
        key: &str,
        work: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> Result<T, StoreError> {
        block_on(self.runtime.handle().spawn(work)).unwrap_or_else(|e| Err(stopped(e).at(&self.shown, key)))
    }
}

/// What a request needs, to be moved to the runtime.
#[derive(Clone)]
struct View {
    shown: String,
    cloud: Cloud,
    client: Arc<dyn ObjectStore>,
    denied_is_absent: bool,
}

impl View {
    async fn get(&self, key: &str, path: &Path, range: Range) -> Got {
        let asked = match range {
            Range::All | Range::From { start: 0 } => None,
            Range::From { start } => Some(GetRange::Offset(start)),
            Range::Bounded { start, length } => match start.checked_add(length) {
                Some(end) if length > 0 => Some(GetRange::Bounded(start..end)),
                _ => return self.by_size(key, path, range).await,
            },
            // Azure has no suffixes, and none of them has an empty one.
            Range::Suffix { length } if length == 0 || self.cloud == Cloud::Azure => return self.by_size(key, path, range).await,
            Range::Suffix { length } => Some(GetRange::Suffix(length)),
        };
        let got = match self.client.get_opts(path, GetOptions::new().with_range(asked.clone())).await {
            Ok(result) => result.bytes().await,
            Err(e) => Err(e),
        };
        match (got, range) {
            (Ok(bytes), Range::Bounded { start, length }) if (bytes.len() as u64) != length => {
                Err(short(start, length, start + bytes.len() as u64).at(&self.shown, key))
            }
            (Ok(bytes), _) => Ok(Some(bytes)),
            (Err(e), _) if self.is_absent(&e) => Ok(None),
            // A range that the object does not have is reported like a broken server; the size tells them apart.
            (Err(e @ object_store::Error::Generic { .. }), _) if asked.is_some() => match self.stat(key, path).await {
                Ok(Some(stat)) => match range.within(stat.size) {
                    Err(short) => Err(short.at(&self.shown, key)),
                    Ok((_, 0)) => Ok(Some(Bytes::new())),
                    Ok((0, length)) if length == stat.size && matches!(range, Range::Suffix { .. }) => {
                        let whole = self.client.get(path).await.map_err(|e| self.failed(e, key))?;
                        whole.bytes().await.map(Some).map_err(|e| self.failed(e, key))
                    }
                    Ok(_) => Err(self.failed(e, key)),
                },
                _ => Err(self.failed(e, key)),
            },
            (Err(e), _) => Err(self.failed(e, key)),
        }
    }

    /// A part that is found from the object's size.
    async fn by_size(&self, key: &str, path: &Path, range: Range) -> Got {
        let Some(stat) = self.stat(key, path).await? else { return Ok(None) };
        let (start, length) = range.within(stat.size).map_err(|e| e.at(&self.shown, key))?;
        if length == 0 {
            return Ok(Some(Bytes::new()));
        }
        match self.client.get_range(path, start..start + length).await {
            Ok(bytes) if bytes.len() as u64 == length => Ok(Some(bytes)),
            Ok(bytes) => Err(short(start, length, start + bytes.len() as u64).at(&self.shown, key)),
            Err(e) if self.is_absent(&e) => Ok(None),
            Err(e) => Err(self.failed(e, key)),
        }
    }

    async fn stat(&self, key: &str, path: &Path) -> Result<Option<Stat>, StoreError> {
        match self.client.head(path).await {
            Ok(meta) => {
                let version = meta.e_tag.or_else(|| Some(format!("{} {}", meta.last_modified.to_rfc3339(), meta.size)));
                Ok(Some(Stat { size: meta.size, version }))
            }
            // The answer to HEAD does not say whether it is the key or the bucket that does not exist; that to GET does.
            Err(e) if self.is_absent(&e) => match self.client.get_range(path, 0..1).await {
                Err(e) if !self.is_absent(&e) && !matches!(e, object_store::Error::Generic { .. }) => Err(self.failed(e, key)),
                _ => Ok(None),
            },
            Err(e) => Err(self.failed(e, key)),
        }
    }

    async fn put(&self, key: &str, path: &Path, bytes: Bytes, condition: Condition) -> Result<(), StoreError> {
        let mode = match &condition {
            Condition::Always => PutMode::Overwrite,
            Condition::Absent => PutMode::Create,
            Condition::Version(tag) => PutMode::Update(UpdateVersion { e_tag: Some(tag.clone()), version: None }),
        };
        let put = self.client.put_opts(path, bytes.into(), PutOptions::from(mode)).await;
        let Err(e) = put else { return Ok(()) };
        use object_store::Error::{AlreadyExists, NotFound, Precondition};
        Err(match (&e, &condition) {
            (AlreadyExists { .. } | Precondition { .. }, Condition::Absent) => {
                StoreError::new(StoreErrorKind::Exists, "the key exists already").at(&self.shown, key).caused_by(e)
            }
            (AlreadyExists { .. } | Precondition { .. }, Condition::Version(tag)) => {
                let what = format!("the object changed: version {tag} was expected, and it is another now");
                StoreError::new(StoreErrorKind::Conflict, what).at(&self.shown, key).caused_by(e)
            }
            // S3 answers 404 where a version is expected of an absent key.
            (NotFound { .. }, Condition::Version(tag)) if !place_is_missing(&e) => {
                let what = format!("version {tag} was expected, and the key is absent");
                StoreError::new(StoreErrorKind::Conflict, what).at(&self.shown, key).caused_by(e)
            }
            _ => self.failed(e, key),
        })
    }

    fn is_absent(&self, e: &object_store::Error) -> bool {
        match e {
            object_store::Error::NotFound { .. } => !place_is_missing(e),
            object_store::Error::PermissionDenied { .. } => self.denied_is_absent && !credentials_are_wrong(e),
            _ => false,
        }
    }

    fn failed(&self, e: object_store::Error, key: &str) -> StoreError {
        use object_store::Error::*;
        let chain = chain(&e);
        let kind = match &e {
            _ if no_credentials(&chain) => StoreErrorKind::Denied,
            // A listing's failures are not sorted by object_store; its text has the status.
            Generic { .. } if ["status code: 401", "status code: 403"].iter().any(|status| chain.contains(status)) => {
                StoreErrorKind::Denied
            }
            Generic { .. } if chain.contains("status code: 404") => StoreErrorKind::NotFound,
            NotFound { .. } => StoreErrorKind::NotFound,
            PermissionDenied { .. } | Unauthenticated { .. } => StoreErrorKind::Denied,
            InvalidPath { .. } => StoreErrorKind::Invalid,
            NotSupported { .. } | NotImplemented { .. } => StoreErrorKind::Unsupported,
            _ => StoreErrorKind::Failed,
        };
        let at = if key.is_empty() { self.shown.clone() } else { format!("{}/{key}", self.shown) };
        let what = match kind {
            StoreErrorKind::NotFound => format!("{} does not exist, or not for the caller", self.shown),
            StoreErrorKind::Denied => format!("{at} is denied"),
            _ => format!("{at}: {chain}"),
        };
        let hint = match kind {
            _ if no_credentials(&chain) => {
                Some("no credentials were given, and this machine has none of its own: give some, or read anonymously")
            }
            StoreErrorKind::Denied if self.cloud == Cloud::S3 => Some(
                "credentials may be missing or wrong (a public bucket is read anonymously); S3 also answers 403 for keys that do \
                 not exist where the bucket may not be listed: name 403 in absent_statuses if that is so",
            ),
            StoreErrorKind::Denied => Some("credentials may be missing or wrong; a public container is read anonymously"),
            _ if chain.contains("redirect without LOCATION") || chain.contains("PermanentRedirect") => {
                Some("the bucket is in another region: set aws_region")
            }
            _ => None,
        };
        let failed = StoreError::new(kind, what).at(&self.shown, key).caused_by(e);
        if let Some(hint) = hint { failed.hint(hint) } else { failed }
    }
}

// Derived, it would print what the settings hold.
impl std::fmt::Debug for Object {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Object").field(&self.shown).finish()
    }
}

impl Storage for Object {
    fn describe(&self) -> String {
        self.shown.clone()
    }
    fn traits(&self) -> Traits {
        Traits { lists: true, writes: true, conditional: true, gap: GAP, concurrency: CONCURRENCY, local: false }
    }
    fn get(&self, key: &str, range: Range) -> Got {
        let (path, view, owned) = (self.path(key)?, self.view(), key.to_owned());
        self.run(key, async move { view.get(&owned, &path, range).await })
    }
    fn get_many(&self, requests: &[Request], deliver: &(dyn Fn(usize, Got) + Sync)) {
        // Answers wait here while the caller decodes; a full channel holds requests back.
        let (send, mut receive) = tokio::sync::mpsc::channel(CONCURRENCY);
        let mut todo = Vec::with_capacity(requests.len());
        let mut answered = vec![false; requests.len()];
        for (i, r) in requests.iter().enumerate() {
            match self.path(&r.key) {
                Ok(path) => todo.push((i, r.clone(), path)),
                Err(e) => {
                    answered[i] = true;
                    deliver(i, Err(e));
                }
            }
        }
        let view = self.view();
        self.runtime.handle().spawn(async move {
            let one = |(i, request, path): (usize, Request, Path)| {
                let view = view.clone();
                let shown = view.shown.clone();
                let key = request.key.clone();
                let task = tokio::spawn(async move { view.get(&request.key, &path, request.range).await });
                async move { (i, task.await.unwrap_or_else(|e| Err(stopped(e).at(&shown, &key)))) }
            };
            let mut answers = futures_util::stream::iter(todo).map(one).buffer_unordered(CONCURRENCY);
            while let Some(answer) = answers.next().await {
                if send.send(answer).await.is_err() {
                    return;
                }
            }
        });
        while let Some((i, got)) = block_on(receive.recv()) {
            answered[i] = true;
            deliver(i, got);
        }
        // Only where the runtime was torn down: each is still delivered once.
        for (i, _) in answered.iter().enumerate().filter(|(_, done)| !**done) {
            let e = StoreError::new(StoreErrorKind::Failed, "the get ended without an answer");
            deliver(i, Err(e.at(&self.shown, &requests[i].key)));
        }
    }
    fn start_get(&self, key: &str, range: Range) -> Option<Pending> {
        let path = match self.path(key) {
            Ok(path) => path,
            Err(e) => return Some(Box::pin(std::future::ready(Err(e)))),
        };
        let (view, owned) = (self.view(), key.to_owned());
        let get = async move { view.get(&owned, &path, range).await };
        Some(bridge(self.runtime.clone(), self.runtime.handle(), self.shown.clone(), key.into(), get))
    }
    fn stat(&self, key: &str) -> Result<Option<Stat>, StoreError> {
        let (path, view, owned) = (self.path(key)?, self.view(), key.to_owned());
        self.run(key, async move { view.stat(&owned, &path).await })
    }
    fn put(&self, key: &str, bytes: Bytes, condition: &Condition) -> Result<(), StoreError> {
        let (path, view, owned, condition) = (self.path(key)?, self.view(), key.to_owned(), condition.clone());
        self.run(key, async move { view.put(&owned, &path, bytes, condition).await })
    }
    fn delete(&self, key: &str) -> Result<(), StoreError> {
        let (path, view, owned) = (self.path(key)?, self.view(), key.to_owned());
        self.run(key, async move {
            match view.client.delete(&path).await {
                Ok(()) => Ok(()),
                Err(e @ object_store::Error::NotFound { .. }) if !place_is_missing(&e) => Ok(()),
                Err(e) => Err(view.failed(e, &owned)),
            }
        })
    }
    /// S3 and Azure delete many keys in one request.
    fn delete_prefix(&self, prefix: &str) -> Result<u64, StoreError> {
        let (path, view, owned) = (self.prefix(prefix)?, self.view(), prefix.to_owned());
        self.run(prefix, async move {
            let keys = view.client.list(path.as_ref()).map_ok(|meta| meta.location).boxed();
            let mut deleted = view.client.delete_stream(keys);
            let mut n = 0;
            while let Some(one) = deleted.next().await {
                match one {
                    Ok(_) => n += 1,
                    Err(e @ object_store::Error::NotFound { .. }) if !place_is_missing(&e) => {}
                    Err(e) => return Err(view.failed(e, &owned)),
                }
            }
            Ok(n)
        })
    }
    fn list(&self, prefix: &str) -> Result<Vec<(String, u64)>, StoreError> {
        let (path, view, owned) = (self.prefix(prefix)?, self.view(), prefix.to_owned());
        self.run(prefix, async move {
            let listed = view.client.list(path.as_ref()).map_ok(|meta| (String::from(meta.location), meta.size));
            let mut out: Vec<(String, u64)> = listed.try_collect().await.map_err(|e| view.failed(e, &owned))?;
            // A marker `a/` is parsed as `a`; listed below `a` it is the prefix itself.
            let bare = owned.trim_end_matches('/');
            out.retain(|(key, _)| !key.is_empty() && range::below(key, bare).is_some());
            out.sort_unstable();
            out.dedup_by(|a, b| a.0 == b.0);
            drop_markers(&mut out);
            Ok(out)
        })
    }
    fn list_dir(&self, prefix: &str) -> Result<Listing, StoreError> {
        let (path, view, owned) = (self.prefix(prefix)?, self.view(), prefix.to_owned());
        self.run(prefix, async move {
            let listed = view.client.list_with_delimiter(path.as_ref()).await.map_err(|e| view.failed(e, &owned))?;
            let bare = owned.trim_end_matches('/');
            let mut prefixes: Vec<String> = listed.common_prefixes.into_iter().map(String::from).collect();
            prefixes.retain(|p| range::below(p, bare).is_some());
            prefixes.sort_unstable();
            let mut keys = Vec::new();
            for meta in listed.objects {
                let key = String::from(meta.location);
                let marker = meta.size == 0 && prefixes.binary_search(&key).is_ok();
                if !marker && !key.is_empty() && range::below(&key, bare).is_some() {
                    keys.push(key);
                }
            }
            keys.sort_unstable();
            keys.dedup();
            Ok(Listing { keys, prefixes })
        })
    }
}

/// A runtime that may be dropped anywhere: tokio's own panics where it is dropped inside another.
#[derive(Debug)]
pub(crate) struct Owned(Option<Runtime>, Handle);

impl Owned {
    fn new() -> Result<Self, StoreError> {
        let threads = std::thread::available_parallelism().map_or(2, |n| n.get().clamp(2, 4));
        let mut builder = Builder::new_multi_thread();
        let runtime = builder.worker_threads(threads).thread_name("gingham-object").enable_all().build();
        let runtime = runtime
            .map_err(|e| StoreError::new(StoreErrorKind::Failed, format!("no thread could be started for requests: {e}")).caused_by(e))?;
        let handle = runtime.handle().clone();
        Ok(Owned(Some(runtime), handle))
    }
    fn handle(&self) -> &Handle {
        &self.1
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

fn stopped(e: tokio::task::JoinError) -> StoreError {
    StoreError::new(StoreErrorKind::Failed, "a request ended without an answer").caused_by(e)
}

/// Whether a "not found" is about the bucket and not the key. Azure says ResourceNotFound of a container that is private, where a
/// key would be BlobNotFound.
fn place_is_missing(e: &object_store::Error) -> bool {
    let chain = chain(e);
    no_credentials(&chain)
        || ["NoSuchBucket", "ContainerNotFound", "ResourceNotFound", "The specified bucket does not exist"]
            .iter()
            .any(|code| chain.contains(code))
}

/// Whether S3 denied the credentials and not the key: that is never an absent key, whatever a 403 is taken for.
fn credentials_are_wrong(e: &object_store::Error) -> bool {
    let chain = chain(e);
    let codes =
        ["SignatureDoesNotMatch", "InvalidAccessKeyId", "ExpiredToken", "InvalidToken", "RequestTimeTooSkewed", "AuthenticationFailed"];
    no_credentials(&chain) || codes.iter().any(|code| chain.contains(code))
}

/// Whether what failed was to ask this machine's own service for credentials, as is done where none are given.
fn no_credentials(chain: &str) -> bool {
    ["169.254.169.254", "169.254.170.2", "metadata.google"].iter().any(|host| chain.contains(host))
}

/// An error with everything that it came from.
fn chain(e: &dyn std::error::Error) -> String {
    let mut out = e.to_string();
    let mut source = e.source();
    while let Some(e) = source {
        let more = e.to_string();
        if !out.contains(&more) {
            out.push_str(": ");
            out.push_str(&more);
        }
        source = e.source();
    }
    out
}

fn retry() -> RetryConfig {
    let backoff = BackoffConfig { init_backoff: Duration::from_millis(100), max_backoff: Duration::from_secs(5), base: 2.0 };
    RetryConfig { backoff, max_retries: RETRIES, retry_timeout: RETRY_TIME }
}

/// Settings for one service: those of the others are passed over, so that one list serves all; what none knows is refused.
fn settings<K: std::str::FromStr>(options: &Options) -> Result<Vec<(K, String)>, StoreError> {
    let mut out = Vec::new();
    for (name, value) in &options.settings {
        let lower = name.to_ascii_lowercase();
        if let Ok(key) = lower.parse::<K>() {
            out.push((key, value.clone()));
            continue;
        }
        let known = lower.parse::<AmazonS3ConfigKey>().is_ok()
            || lower.parse::<GoogleConfigKey>().is_ok()
            || lower.parse::<AzureConfigKey>().is_ok()
            || lower.parse::<ClientConfigKey>().is_ok();
        if !known {
            let what = format!("{name:?} is not a setting of S3, Google Cloud Storage or Azure");
            return Err(StoreError::new(StoreErrorKind::Invalid, what)
                .hint("settings are named as in aws_region, google_service_account, azure_storage_account_name"));
        }
    }
    Ok(out)
}

fn client_options(options: &Options, plain_http: bool) -> ClientOptions {
    let mut client = ClientOptions::new().with_config(ClientConfigKey::Timeout, REQUEST_TIME).with_allow_http(plain_http);
    if let Some(proxy) = &options.proxy {
        client = client.with_proxy_url(proxy);
    }
    client
}

fn unusable(e: object_store::Error) -> StoreError {
    let chain = chain(&e);
    let unusable = StoreError::new(StoreErrorKind::Invalid, format!("the settings of the object store do not work: {chain}"));
    let unusable = if chain.contains("Account must be specified") {
        unusable.hint("set azure_storage_account_name, or write abfs://container@account.dfs.core.windows.net/prefix")
    } else {
        unusable
    };
    unusable.caused_by(e)
}

/// Whether one of the settings with such a name is a URL without TLS: then requests without TLS are what the user wants.
fn is_plain(options: &Options, names: &[&str]) -> bool {
    options.settings.iter().any(|(name, value)| names.contains(&name.to_ascii_lowercase().as_str()) && value.starts_with("http://"))
}

fn s3(bucket: &str, options: &Options) -> Result<Arc<dyn ObjectStore>, StoreError> {
    let plain = is_plain(options, &["aws_endpoint", "aws_endpoint_url", "endpoint", "endpoint_url", "aws_endpoint_url_s3"]);
    let mut builder = AmazonS3Builder::new().with_client_options(client_options(options, plain)).with_retry(retry());
    for (key, value) in settings::<AmazonS3ConfigKey>(options)? {
        builder = builder.with_config(key, value);
    }
    builder = builder.with_bucket_name(bucket);
    if options.anonymous {
        builder = builder.with_skip_signature(true);
    }
    Ok(Arc::new(builder.build().map_err(unusable)?))
}

fn google(bucket: &str, options: &Options) -> Result<Arc<dyn ObjectStore>, StoreError> {
    let plain = is_plain(options, &["google_base_url", "base_url"]);
    let mut builder = GoogleCloudStorageBuilder::new().with_client_options(client_options(options, plain)).with_retry(retry());
    for (key, value) in settings::<GoogleConfigKey>(options)? {
        builder = builder.with_config(key, value);
    }
    builder = builder.with_bucket_name(bucket);
    if options.anonymous {
        builder = builder.with_skip_signature(true);
    }
    Ok(Arc::new(builder.build().map_err(unusable)?))
}

fn azure(container: &str, options: &Options) -> Result<Arc<dyn ObjectStore>, StoreError> {
    let plain = is_plain(options, &["azure_storage_endpoint", "azure_endpoint", "endpoint"])
        || options.settings.iter().any(|(name, value)| name.to_ascii_lowercase().ends_with("use_emulator") && value != "false");
    let mut builder = MicrosoftAzureBuilder::new().with_client_options(client_options(options, plain)).with_retry(retry());
    for (key, value) in settings::<AzureConfigKey>(options)? {
        builder = builder.with_config(key, value);
    }
    // abfs://container@account.dfs.core.windows.net
    let (container, account) = match container.split_once('@') {
        Some((container, host)) => (container, host.split('.').next()),
        None => (container, None),
    };
    builder = builder.with_container_name(container);
    if let Some(account) = account {
        builder = builder.with_account(account);
    }
    if options.anonymous {
        builder = builder.with_skip_signature(true);
    }
    Ok(Arc::new(builder.build().map_err(unusable)?))
}
