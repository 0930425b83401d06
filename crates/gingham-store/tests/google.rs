//! The Google Cloud Storage store against a server that speaks as much of its XML API as reading takes.
#![allow(clippy::unwrap_used)]

mod server;

use std::collections::{BTreeMap, BTreeSet};

use gingham_store::{Options, Range, StoreErrorKind as Kind, conformance, open_with};
use server::{Asked, Reply, Server, reply, serve};

fn decoded(text: &str) -> String {
    let mut url = url::Url::parse("http://h").unwrap();
    url.set_query(Some(&format!("k={}", text.replace('+', "%2B"))));
    url.query_pairs().next().unwrap().1.into_owned()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The headers that every object has.
fn stamped(reply: Reply) -> Reply {
    let text = b"ETag: \"1\"\r\nLast-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\n";
    let at = reply.bytes.windows(2).position(|w| w == b"\r\n").unwrap() + 2;
    let bytes = [&reply.bytes[..at], text, &reply.bytes[at..]].concat();
    Reply { bytes, ..reply }
}

fn listing(objects: &BTreeMap<String, Vec<u8>>, asked: &Asked) -> Reply {
    let query = asked.target.split_once('?').unwrap().1;
    let named = |name: &str| query.split('&').find_map(|p| p.strip_prefix(name)?.strip_prefix('=')).map(decoded).unwrap_or_default();
    let (prefix, delimiter) = (named("prefix"), named("delimiter"));
    let (mut body, mut common) = (String::new(), BTreeSet::new());
    for (key, bytes) in objects.iter().filter(|(key, _)| key.starts_with(&prefix)) {
        match key[prefix.len()..].find('/') {
            Some(at) if !delimiter.is_empty() => drop(common.insert(key[..prefix.len() + at + 1].to_string())),
            _ => {
                body += &format!(
                    "<Contents><Key>{}</Key><Size>{}</Size><LastModified>2024-01-01T00:00:00.000Z</LastModified><ETag>1</ETag></Contents>",
                    escaped(key),
                    bytes.len()
                )
            }
        }
    }
    for prefix in common {
        body += &format!("<CommonPrefixes><Prefix>{}</Prefix></CommonPrefixes>", escaped(&prefix));
    }
    reply(200, &[], format!("<ListBucketResult>{body}</ListBucketResult>").as_bytes())
}

#[test]
fn google_conforms_in_reading_and_a_bucket_that_is_not_there_is_no_absent_key() {
    let objects: BTreeMap<String, Vec<u8>> = conformance::objects().into_iter().collect();
    let server = Server::new(move |asked| match asked.path().strip_prefix("/bucket/") {
        _ if asked.path() == "/bucket" || asked.path() == "/bucket/" => listing(&objects, asked),
        Some(key) => match objects.get(&decoded(key)) {
            Some(object) => stamped(serve(asked, Some(object))),
            None => reply(404, &[], b"<Error><Code>NoSuchKey</Code></Error>"),
        },
        None if asked.path().starts_with("/denied") => reply(403, &[], b"<Error><Code>AccessDenied</Code></Error>"),
        None => reply(404, &[], b"<Error><Code>NoSuchBucket</Code></Error>"),
    });
    let settings = vec![("google_base_url".to_string(), server.url.clone())];
    let options = Options { settings, anonymous: true, ..Options::default() };
    conformance::check_reading(&open_with("gs://bucket", &options).unwrap());
    let missing = open_with("gcs://other", &options).unwrap();
    assert_eq!(missing.get("k", Range::All).unwrap_err().kind, Kind::NotFound);
    assert_eq!(missing.stat("k").unwrap_err().kind, Kind::NotFound);
    assert_eq!(missing.list("").unwrap_err().kind, Kind::NotFound);
    let denied = open_with("gs://denied", &options).unwrap();
    assert_eq!(denied.get("k", Range::All).unwrap_err().kind, Kind::Denied);
    assert_eq!(denied.list("").unwrap_err().kind, Kind::Denied);
}
