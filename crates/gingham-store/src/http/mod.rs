//! Objects on a web server: a key is a path below a URL, a range is a `Range` header.
//!
//! Nothing is believed of a server: `answer` holds every response against what was asked. What may pass (5xx, 429, broken
//! connections, bodies that end early) is asked again a few times; then it is an error, never an absent key.

mod answer;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use ureq::http::{HeaderMap, Response};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body};
use url::Url;

use crate::range::{check_key, short};
use crate::spread::spread;
use crate::*;
use answer::{Answer, ContentRange, Failure, judge};

/// Requests under way at once: enough to hide a round trip of 50 ms behind transfers, few enough for a server to bear.
const CONCURRENCY: usize = 16;
/// A round trip transfers about this much, so that fetching it beats asking again.
const GAP: u64 = 256 << 10;
/// How often a request is made before it fails.
const TRIES: u32 = 4;
/// The pause before the second try; each later one is twice as long.
const PAUSE: Duration = Duration::from_millis(200);
/// The longest pause that a server may ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// How long a connection may take, and how long a server may be silent.
const CONNECT: Duration = Duration::from_secs(20);
const SILENCE: Duration = Duration::from_secs(60);

/// A URL that keys are below.
pub struct Http {
    base: Url,
    shown: String,
    agent: Agent,
    headers: Vec<(String, String)>,
    absent: Vec<u16>,
    tries: u32,
    pause: Duration,
    /// The server did not understand a suffix range: sizes are asked for instead.
    no_suffix: AtomicBool,
}

impl Http {
    /// The objects below `url`. Its query is sent with every request (access tokens); a fragment is not.
    pub fn new(url: &str, options: &Options) -> Result<Self, StoreError> {
        let invalid = |what: String| StoreError::new(StoreErrorKind::Invalid, what).at(url, "");
        let mut base = Url::parse(url).map_err(|e| invalid(format!("{url:?} is not a URL: {e}")))?;
        if !matches!(base.scheme(), "http" | "https") || base.host_str().is_none_or(str::is_empty) {
            return Err(invalid(format!("{url:?} is not a URL of http or https with a host")));
        }
        base.set_fragment(None);
        let path = base.path().trim_end_matches('/').to_string();
        base.set_path(&path);
        let proxy = match &options.proxy {
            Some(proxy) => Some(ureq::Proxy::new(proxy).map_err(|e| invalid(format!("{proxy:?} is not the URL of a proxy: {e}")))?),
            None => None,
        };
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .proxy(proxy)
            .accept_encoding("identity")
            .user_agent(concat!("gingham/", env!("CARGO_PKG_VERSION")))
            .redirect_auth_headers(ureq::config::RedirectAuthHeaders::SameHost)
            .tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build())
            .timeout_connect(Some(CONNECT))
            .timeout_recv_response(Some(SILENCE))
            .timeout_per_read(Some(SILENCE))
            .max_idle_connections(2 * CONCURRENCY)
            .max_idle_connections_per_host(CONCURRENCY)
            .build();
        Ok(Http {
            shown: shown(&base),
            base,
            agent: config.new_agent(),
            headers: options.headers.clone(),
            absent: options.absent_statuses.clone(),
            tries: TRIES,
            pause: PAUSE,
            no_suffix: AtomicBool::new(false),
        })
    }

    /// How often a request is made before it fails (at least once), and the pause before the second try, which doubles with each
    /// later one. Default: four times, 200 ms.
    pub fn retries(mut self, tries: u32, pause: Duration) -> Self {
        (self.tries, self.pause) = (tries.max(1), pause);
        self
    }

    /// The URL of a key: the base's path, the key percent-encoded, the base's query.
    fn url(&self, key: &str) -> String {
        let mut url = self.base.clone();
        let query = url.query().map_or(String::new(), |q| format!("?{q}"));
        url.set_query(None);
        format!("{}/{}{query}", url.as_str().trim_end_matches('/'), percent_encoded(key))
    }

    /// The URL of a key as messages show it: without password and query, which may hold secrets.
    fn shown(&self, key: &str) -> String {
        let (path, query) = self.shown.split_once('?').map_or((self.shown.as_str(), ""), |(path, _)| (path, "?…"));
        format!("{}/{}{query}", path.trim_end_matches('/'), percent_encoded(key))
    }

    fn send(&self, key: &str, head: bool, range: Option<&str>) -> Result<Response<Body>, Failure> {
        let url = self.url(key);
        let mut request = if head { self.agent.head(&url) } else { self.agent.get(&url) };
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        if let Some(range) = range {
            request = request.header("Range", range);
        }
        request.call().map_err(|e| transport(e, &self.shown(key)))
    }

    fn retrying<T>(&self, key: &str, mut attempt: impl FnMut() -> Result<T, Failure>) -> Result<T, StoreError> {
        let mut tries = 1;
        loop {
            match attempt() {
                Ok(value) => return Ok(value),
                Err(Failure::Transient(_, wait)) if tries < self.tries => {
                    let pause = self.pause.saturating_mul(1 << (tries - 1).min(16));
                    sleep(wait.unwrap_or(pause + jitter(pause)).min(LONGEST_PAUSE));
                    tries += 1;
                }
                Err(Failure::Transient(mut e, _)) => {
                    e.what = format!("{} ({tries} tries)", e.what);
                    return Err(e.at(&self.shown, key));
                }
                Err(Failure::Final(e)) => return Err(e.at(&self.shown, key)),
            }
        }
    }

    fn fetch(&self, key: &str, range: Range) -> Result<Answer, StoreError> {
        let header = match range {
            Range::All => None,
            // The caller made sure that this is at least one byte and does not overflow.
            Range::Bounded { start, length } => Some(format!("bytes={start}-{}", start.saturating_add(length.saturating_sub(1)))),
            Range::From { start } => Some(format!("bytes={start}-")),
            Range::Suffix { length } => Some(format!("bytes=-{length}")),
        };
        self.retrying(key, || judge(self.send(key, false, header.as_deref())?, range, &self.absent, &self.shown(key)))
    }

    /// Part of an object that no request is needed for, once its size is known.
    fn by_size(&self, key: &str, range: Range) -> Got {
        let Some(stat) = self.stat(key)? else { return Ok(None) };
        match range.within(stat.size).map_err(|e| e.at(&self.shown, key))? {
            (_, 0) => Ok(Some(Bytes::new())),
            (start, length) => self.get(key, Range::Bounded { start, length }),
        }
    }

    /// The range begins where the server has no byte.
    fn unsatisfiable(&self, key: &str, range: Range, size: Option<u64>) -> Got {
        let Some(size) = size else {
            return match range {
                Range::Bounded { start, length } => {
                    let what = format!("{} does not have the {length} bytes from byte {start} on (status 416)", self.shown(key));
                    Err(StoreError::new(StoreErrorKind::Short, what).at(&self.shown, key))
                }
                _ => self.by_size(key, range),
            };
        };
        match range.within(size) {
            Ok((_, 0)) => Ok(Some(Bytes::new())),
            Ok((start, length)) if matches!(range, Range::Suffix { .. }) => self.get(key, Range::Bounded { start, length }),
            Ok((start, length)) => {
                let what = format!(
                    "{} says that it is {size} bytes long and does not give the {length} bytes from byte {start} on",
                    self.shown(key)
                );
                Err(StoreError::new(StoreErrorKind::Failed, what).at(&self.shown, key))
            }
            Err(e) => Err(e.at(&self.shown, key)),
        }
    }

    /// Size by a request for the first byte, for servers that do not answer HEAD.
    fn stat_by_byte(&self, key: &str) -> Result<Option<Stat>, StoreError> {
        self.retrying(key, || {
            let response = self.send(key, false, Some("bytes=0-0"))?;
            let (headers, status) = (response.headers().clone(), response.status().as_u16());
            let length = response.body().content_length();
            let size = match (status, answer::content_range(&headers)) {
                (206, Some(range)) | (416, Some(range @ ContentRange { sent: None, .. })) => range.size,
                (200, _) => length,
                (206 | 416, _) => None,
                _ => {
                    // Absent, denied, or failing: judged as for any get.
                    return match judge(response, Range::All, &self.absent, &self.shown(key))? {
                        Answer::Absent => Ok(None),
                        _ => Err(unsized_object(&self.shown(key), status)),
                    };
                }
            };
            answer::check_encoding(&headers, &self.shown(key))?;
            match size {
                Some(size) => Ok(Some(Stat { size, version: version(&headers, size) })),
                None => Err(unsized_object(&self.shown(key), status)),
            }
        })
    }

    fn unsupported<T>(&self, key: &str, doing: &str) -> Result<T, StoreError> {
        check_key(key).or_else(|e| if key.is_empty() { Ok(()) } else { Err(e.at(&self.shown, key)) })?;
        let what = format!("a web server cannot be {doing}");
        Err(StoreError::new(StoreErrorKind::Unsupported, what).at(&self.shown, key))
    }
}

// Derived, it would print passwords, tokens and headers.
impl std::fmt::Debug for Http {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Http").field(&self.shown).finish()
    }
}

impl Storage for Http {
    fn describe(&self) -> String {
        self.shown.clone()
    }
    fn traits(&self) -> Traits {
        Traits { lists: false, writes: false, conditional: false, gap: GAP, concurrency: CONCURRENCY, local: false }
    }
    fn get(&self, key: &str, range: Range) -> Got {
        check_key(key).map_err(|e| e.at(&self.shown, key))?;
        let range = if range == (Range::From { start: 0 }) { Range::All } else { range };
        match range {
            Range::Bounded { start, length } if length == 0 || start.checked_add(length).is_none() => return self.by_size(key, range),
            Range::Suffix { length } if length == 0 || self.no_suffix.load(Ordering::Relaxed) => return self.by_size(key, range),
            _ => {}
        }
        match self.fetch(key, range)? {
            Answer::Bytes(bytes) => Ok(Some(bytes)),
            Answer::Absent => Ok(None),
            Answer::Unsatisfiable { size } => self.unsatisfiable(key, range, size),
            Answer::Ends { size } => {
                let (start, length) = match range {
                    Range::Bounded { start, length } => (start, length),
                    Range::From { start } => (start, 1),
                    Range::All | Range::Suffix { .. } => (0, 1),
                };
                Err(range.within(size).err().unwrap_or_else(|| short(start, length, size)).at(&self.shown, key))
            }
            Answer::NoSuffix => {
                self.no_suffix.store(true, Ordering::Relaxed);
                self.by_size(key, range)
            }
        }
    }
    fn get_many(&self, requests: &[Request], deliver: &(dyn Fn(usize, Got) + Sync)) {
        spread(requests, CONCURRENCY, &|r| self.get(&r.key, r.range), deliver);
    }
    fn stat(&self, key: &str) -> Result<Option<Stat>, StoreError> {
        check_key(key).map_err(|e| e.at(&self.shown, key))?;
        let sized = self.retrying(key, || {
            let response = self.send(key, true, None)?;
            let status = response.status().as_u16();
            match status {
                200 => {
                    let headers = response.headers();
                    answer::check_encoding(headers, &self.shown(key))?;
                    let size = headers.get("content-length").and_then(|v| v.to_str().ok()?.trim().parse().ok());
                    Ok(size.map(|size| Some(Stat { size, version: version(headers, size) })))
                }
                // HEAD may be forbidden (signed URLs) or unknown where GET is not.
                400 | 403 | 405 | 501 if !self.absent.contains(&status) => Ok(None),
                _ => match judge(response, Range::All, &self.absent, &self.shown(key))? {
                    Answer::Absent => Ok(Some(None)),
                    _ => Ok(None),
                },
            }
        })?;
        match sized {
            Some(stat) => Ok(stat),
            None => self.stat_by_byte(key),
        }
    }
    fn put(&self, key: &str, _: Bytes, _: &Condition) -> Result<(), StoreError> {
        self.unsupported(key, "written to")
    }
    fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.unsupported(key, "written to")
    }
    fn delete_prefix(&self, _: &str) -> Result<u64, StoreError> {
        self.unsupported("", "written to")
    }
    fn list(&self, _: &str) -> Result<Vec<(String, u64)>, StoreError> {
        self.unsupported("", "listed")
    }
    fn list_dir(&self, _: &str) -> Result<Listing, StoreError> {
        self.unsupported("", "listed")
    }
}

/// A URL as messages show it: neither user and password nor query, which may hold secrets.
fn shown(base: &Url) -> String {
    let mut url = base.clone();
    // Fails only for URLs that have no host, which are refused.
    let _ = url.set_username("").and_then(|()| url.set_password(None));
    let query = if url.query().is_some() { "?…" } else { "" };
    url.set_query(None);
    format!("{}{query}", url.as_str().trim_end_matches('/'))
}

/// Everything but letters, digits and `-._~/` encoded: no server can mistake the rest for syntax.
fn percent_encoded(key: &str) -> String {
    let mut out = String::with_capacity(key.len());
    for b in key.bytes() {
        if b.is_ascii_alphanumeric() || b"-._~/".contains(&b) {
            out.push(b as char);
        } else {
            out.push_str(&format!("%{b:02X}"));
        }
    }
    out
}

fn version(headers: &HeaderMap, size: u64) -> Option<String> {
    let text = |name: &str| headers.get(name).and_then(|v| v.to_str().ok());
    text("etag").map(str::to_owned).or_else(|| text("last-modified").map(|at| format!("{at} {size}")))
}

fn unsized_object(url: &str, status: u16) -> Failure {
    Failure::lasting(StoreError::new(StoreErrorKind::Failed, format!("{url} does not say how long it is (status {status})")))
}

/// Up to half the pause, so that requests that failed together are not made again together.
fn jitter(pause: Duration) -> Duration {
    let nanos = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.subsec_nanos());
    pause.mul_f64(f64::from(nanos % 1000) / 2000.0)
}

/// A request that got no response.
fn transport(e: ureq::Error, url: &str) -> Failure {
    let (kind, transient) = match &e {
        ureq::Error::HostNotFound => (StoreErrorKind::NotFound, false),
        ureq::Error::Io(_) | ureq::Error::Timeout(_) | ureq::Error::ConnectionFailed | ureq::Error::Protocol(_) => {
            (StoreErrorKind::Failed, true)
        }
        ureq::Error::BadUri(_) | ureq::Error::Http(_) => (StoreErrorKind::Invalid, false),
        _ => (StoreErrorKind::Failed, false),
    };
    let failed = StoreError::new(kind, format!("{url} could not be reached: {e}")).caused_by(e);
    if transient { Failure::transient(failed, None) } else { Failure::lasting(failed) }
}
