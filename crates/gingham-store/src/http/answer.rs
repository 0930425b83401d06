//! A response held against its request: the bytes that were asked for, or why not (RFC 9110, sections 14 and 15).
//!
//! | status | meaning |
//! |---|---|
//! | 200 | the whole object; a part is cut out here, where it is not too far in |
//! | 206 | accepted only with a `Content-Range` that is what was asked for |
//! | 404, 410, and those the user named | absent |
//! | 416 | the range begins after the end |
//! | 401, 403, 407 | denied |
//! | 408, 425, 429, 5xx | to be tried again |
//! | everything else | an error |

use std::io::Read;
use std::time::Duration;

use ureq::Body;
use ureq::http::{HeaderMap, Response};

use crate::{Bytes, Range, StoreError, StoreErrorKind};

/// Bytes that are read and thrown away for a server that ignores ranges; beyond it the part cannot be had.
const SKIP: u64 = 64 << 20;
/// The same, where the size of the object is known and asking for a range by its start may work.
const SKIP_FOR_SUFFIX: u64 = 1 << 20;
/// What a body without a declared length may be.
const UNDECLARED: u64 = 2 << 30;
/// Memory that is reserved because a header says so; more is taken as bytes arrive.
const RESERVE: u64 = 8 << 20;

/// What a response means.
pub(super) enum Answer {
    /// The bytes asked for.
    Bytes(Bytes),
    /// There is no such object.
    Absent,
    /// The range begins after the end (416), with the size where the server says it.
    Unsatisfiable { size: Option<u64> },
    /// The object ends inside or before the range.
    Ends { size: u64 },
    /// The server does not understand suffixes.
    NoSuffix,
}

/// Why there is no answer.
pub(super) enum Failure {
    /// It may work the next time, after this pause where the server asks for one.
    Transient(Box<StoreError>, Option<Duration>),
    /// It will not.
    Final(Box<StoreError>),
}

impl Failure {
    pub(super) fn transient(e: StoreError, wait: Option<Duration>) -> Self {
        Failure::Transient(Box::new(e), wait)
    }
    pub(super) fn lasting(e: StoreError) -> Self {
        Failure::Final(Box::new(e))
    }
}

/// What a `Content-Range` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ContentRange {
    /// The first byte sent and the one after the last; `None` where the range was not satisfied.
    pub sent: Option<(u64, u64)>,
    /// Bytes of the object, where the server knows.
    pub size: Option<u64>,
}

fn failed(what: String) -> Failure {
    Failure::lasting(StoreError::new(StoreErrorKind::Failed, what))
}

/// The answer that a response is. `absent`: statuses that mean absent beside 404 and 410.
pub(super) fn judge(response: Response<Body>, range: Range, absent: &[u16], url: &str) -> Result<Answer, Failure> {
    let status = response.status().as_u16();
    if matches!(status, 404 | 410) || absent.contains(&status) {
        return Ok(Answer::Absent);
    }
    match status {
        200 => {
            check_encoding(response.headers(), url)?;
            whole(response.into_body(), range, url)
        }
        206 => {
            check_encoding(response.headers(), url)?;
            partial(response, range, url)
        }
        416 if range == Range::All => Err(failed(format!("{url} answered with status 416 to a request without a range"))),
        416 => Ok(Answer::Unsatisfiable { size: content_range(response.headers()).and_then(|r| r.size) }),
        400 | 405 | 501 if matches!(range, Range::Suffix { .. }) => Ok(Answer::NoSuffix),
        401 | 403 | 407 => Err(Failure::lasting(
            StoreError::new(StoreErrorKind::Denied, format!("{url} is denied (status {status})"))
                .hint("if this server answers so for keys that do not exist, name the status in absent_statuses"),
        )),
        408 | 425 | 429 | 500 | 502..=504 | 506..=599 => {
            let what = format!("{url} answered with status {status}");
            Err(Failure::transient(StoreError::new(StoreErrorKind::Failed, what), retry_after(response.headers())))
        }
        _ => Err(failed(format!("{url} answered with status {status}, which is no answer to a request for an object"))),
    }
}

/// The bytes of a `Content-Range`, and the size of the object where it is known.
pub(super) fn content_range(headers: &HeaderMap) -> Option<ContentRange> {
    let text = headers.get("content-range")?.to_str().ok()?.trim();
    let (unit, rest) = text.split_once(' ')?;
    let (range, size) = rest.split_once('/')?;
    let (range, size) = (range.trim(), size.trim());
    if !unit.eq_ignore_ascii_case("bytes") {
        return None;
    }
    let size = if size == "*" { None } else { Some(size.parse().ok()?) };
    if range == "*" {
        return Some(ContentRange { sent: None, size });
    }
    let (first, last) = range.split_once('-')?;
    let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    // The end is one past the last byte, so the last byte of all numbers is not one.
    let sound = first <= last && last < u64::MAX && size.is_none_or(|size| last < size);
    sound.then(|| ContentRange { sent: Some((first, last + 1)), size })
}

/// Refuses bytes that are not the object's own.
pub(super) fn check_encoding(headers: &HeaderMap, url: &str) -> Result<(), Failure> {
    match headers.get("content-encoding").map(|v| v.to_str().unwrap_or("?").trim()) {
        None | Some("") => Ok(()),
        Some(other) if other.eq_ignore_ascii_case("identity") => Ok(()),
        Some(other) => Err(failed(format!(
            "{url} is sent with Content-Encoding {other}, although only identity was asked for: its bytes cannot be told from the object's"
        ))),
    }
}

/// A 200: all of the object, whatever was asked for.
fn whole(body: Body, range: Range, url: &str) -> Result<Answer, Failure> {
    let size = body.content_length();
    let (start, length) = match (range, size) {
        (Range::Suffix { length }, Some(size)) if size.saturating_sub(length) > SKIP_FOR_SUFFIX => return Ok(Answer::NoSuffix),
        (_, Some(size)) => match range.within(size) {
            Ok((start, length)) => (start, Some(length)),
            Err(_) => return Ok(Answer::Ends { size }),
        },
        (Range::Bounded { start, length }, None) => (start, Some(length)),
        (Range::From { start }, None) => (start, None),
        (Range::All | Range::Suffix { .. }, None) => (0, None),
    };
    let far = || {
        failed(format!(
            "{url} does not serve parts of objects (status 200 to a range), and {start} bytes before the part are too many to transfer"
        ))
    };
    if start > SKIP && size.is_some() {
        return Err(far());
    }
    let mut reader = body.into_with_config().limit(u64::MAX).reader();
    let skipped = std::io::copy(&mut reader.by_ref().take(start.min(SKIP)), &mut std::io::sink()).map_err(|e| broken(e, url))?;
    // Of an object of unknown length this is known only now.
    if start > SKIP && skipped == SKIP {
        return Err(far());
    }
    let mut bytes = read(&mut reader, length, url)?;
    let seen = skipped + bytes.len() as u64;
    match (length, size) {
        (Some(length), None) if (bytes.len() as u64) < length => return Ok(Answer::Ends { size: seen }),
        (Some(length), Some(_)) if (bytes.len() as u64) < length => return Err(cut_off(url, length, bytes.len() as u64)),
        _ if skipped < start => return Ok(Answer::Ends { size: seen }),
        _ => {}
    }
    if let (Range::Suffix { length: wanted }, None) = (range, size) {
        let excess = (bytes.len() as u64).saturating_sub(wanted) as usize;
        bytes.drain(..excess);
    }
    Ok(Answer::Bytes(bytes.into()))
}

/// A 206: the part that it says it is must be the part that was asked for.
fn partial(response: Response<Body>, range: Range, url: &str) -> Result<Answer, Failure> {
    let Some(ContentRange { sent: Some((first, end)), size }) = content_range(response.headers()) else {
        return Err(failed(format!("{url} answered with status 206 but no Content-Range that says which bytes it sent")));
    };
    let wrong = |asked: String| failed(format!("{url} sent bytes {first}..{end} although {asked} were asked for"));
    match range {
        Range::All => return Err(wrong("all".into())),
        Range::Bounded { start, length } => {
            // The caller made sure that this does not overflow.
            let asked_end = start.saturating_add(length);
            if first == start && end < asked_end && size == Some(end) {
                return Ok(Answer::Ends { size: end });
            }
            if (first, end) != (start, asked_end) {
                return Err(wrong(format!("{start}..{asked_end}")));
            }
        }
        Range::From { start } if first != start || size.is_some_and(|size| size != end) => return Err(wrong(format!("{start}.."))),
        Range::Suffix { length } if size != Some(end) || end - first != length.min(end) => return Ok(Answer::NoSuffix),
        _ => {}
    }
    let body = response.into_body();
    let expected = end - first;
    if body.content_length().is_some_and(|n| n > expected) {
        return Err(failed(format!("{url} sent more than the {expected} bytes that its Content-Range says")));
    }
    let mut reader = body.into_with_config().limit(u64::MAX).reader();
    let bytes = read(&mut reader, Some(expected), url)?;
    if (bytes.len() as u64) < expected {
        return Err(cut_off(url, expected, bytes.len() as u64));
    }
    if reader.read(&mut [0]).map_err(|e| broken(e, url))? > 0 {
        return Err(failed(format!("{url} sent more than the {expected} bytes that its Content-Range says")));
    }
    Ok(Answer::Bytes(bytes.into()))
}

/// Reads `length` bytes, or to the end. Memory follows what arrives, not what is declared.
fn read(reader: &mut impl Read, length: Option<u64>, url: &str) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::with_capacity(length.unwrap_or(0).min(RESERVE) as usize);
    let limit = length.unwrap_or(UNDECLARED + 1);
    if let Err(e) = reader.by_ref().take(limit).read_to_end(&mut bytes) {
        return Err(match length {
            Some(length) if e.kind() != std::io::ErrorKind::TimedOut => cut_off(url, length, bytes.len() as u64),
            _ => broken(e, url),
        });
    }
    if length.is_none() && bytes.len() as u64 > UNDECLARED {
        return Err(failed(format!("{url} sent more than {UNDECLARED} bytes without saying how many there are")));
    }
    Ok(bytes)
}

fn cut_off(url: &str, expected: u64, got: u64) -> Failure {
    let what = format!("the transfer of {url} ended early: {expected} bytes were expected and {got} came");
    Failure::transient(StoreError::new(StoreErrorKind::Short, what), None)
}

fn broken(e: std::io::Error, url: &str) -> Failure {
    let what = format!("the transfer of {url} broke off: {e}");
    Failure::transient(StoreError::new(StoreErrorKind::Short, what).caused_by(e), None)
}

/// The pause that a server asks for, in seconds; dates are left to the usual pause.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    headers.get("retry-after")?.to_str().ok()?.trim().parse().ok().map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_content_range_is_read_or_refused() {
        let parse = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("content-range", text.parse().unwrap());
            content_range(&headers).map(|r| (r.sent, r.size))
        };
        assert_eq!(parse("bytes 4-7/16"), Some((Some((4, 8)), Some(16))));
        assert_eq!(parse("bytes 4-7/*"), Some((Some((4, 8)), None)));
        assert_eq!(parse("bytes */16"), Some((None, Some(16))));
        for bad in [
            "bytes 7-4/16",
            "bytes 4-16/16",
            "bytes 4-/16",
            "items 4-7/16",
            "bytes 4-7",
            "bytes -4--7/16",
            "4-7/16",
            "bytes 0-18446744073709551615/*",
            "bytes 0-99999999999999999999999/*",
        ] {
            assert_eq!(parse(bad), None, "{bad}");
        }
        assert_eq!(content_range(&HeaderMap::new()), None);
    }
}
