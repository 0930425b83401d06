//! The HTTP store against a server that is right, and against servers that are not.
#![allow(clippy::unwrap_used)]

mod server;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use gingham_store::http::Http;
use gingham_store::{Options, Range, Request, Storage, StoreErrorKind as Kind, conformance};
use server::{Asked, Reply, Server, raw, reply, serve};

fn store_with(url: &str, options: &Options) -> gingham_store::Store {
    gingham_store::Store::new(Http::new(url, options).unwrap().retries(3, Duration::from_millis(1)))
}

fn store(url: &str) -> gingham_store::Store {
    store_with(url, &Options::default())
}

const SIXTEEN: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
const PART: Range = Range::Bounded { start: 4, length: 4 };

type Had = Result<Option<Vec<u8>>, (Kind, String)>;

/// A server that answers every request so, and what a get of bytes 4 to 7 of its object then is.
fn part_of(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> (Server, Had) {
    let server = Server::new(answer);
    let got = store(&server.url).get("f.bin", PART);
    (server, got.map(|b| b.map(|b| b.to_vec())).map_err(|e| (e.kind, e.to_string())))
}

fn decoded(path: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let [b, more @ ..] = rest {
        if *b == b'%' {
            bytes.push(u8::from_str_radix(std::str::from_utf8(&more[..2]).unwrap(), 16).unwrap());
            rest = &more[2..];
        } else {
            bytes.push(*b);
            rest = more;
        }
    }
    String::from_utf8(bytes).unwrap()
}

fn objects_below(root: &'static str) -> impl Fn(&Asked) -> Option<Vec<u8>> {
    let objects: HashMap<String, Vec<u8>> = conformance::objects().into_iter().collect();
    move |asked| objects.get(decoded(asked.path()).strip_prefix(root)?.trim_start_matches('/')).cloned()
}

#[test]
fn a_right_server_conforms() {
    let objects = objects_below("/data/x.zarr");
    let server = Server::new(move |asked| serve(asked, objects(asked).as_deref()));
    conformance::check_reading(&store(&format!("{}/data/x.zarr/", server.url)));
}

#[test]
fn a_server_without_ranges_conforms() {
    let objects = objects_below("/");
    let server = Server::new(move |asked| {
        let mut plain = asked.clone();
        plain.headers.clear();
        serve(&plain, objects(asked).as_deref())
    });
    conformance::check_reading(&store(&server.url));
}

#[test]
fn a_server_without_suffixes_conforms() {
    for wrong in [0, 1, 2] {
        let objects = objects_below("/");
        let server = Server::new(move |asked| {
            let object = objects(asked);
            match (asked.header("range").and_then(|r| r.strip_prefix("bytes=-")), &object, wrong) {
                (Some(_), Some(_), 0) => reply(501, &[], b""),
                (Some(_), Some(_), 1) => reply(416, &[], b""),
                // Takes "-n" for "0-n".
                (Some(n), Some(object), _) if !object.is_empty() => {
                    let asked = Asked { headers: vec![("Range".into(), format!("bytes=0-{n}"))], ..asked.clone() };
                    serve(&asked, Some(object))
                }
                _ => serve(asked, object.as_deref()),
            }
        });
        conformance::check_reading(&store(&server.url));
    }
}

#[test]
fn a_server_without_head_or_lengths_conforms() {
    for wrong in [0, 1] {
        let objects = objects_below("/");
        let server = Server::new(move |asked| match (asked.method.as_str(), wrong) {
            ("HEAD", 0) => reply(405, &[], b""),
            ("HEAD", _) => raw(objects(asked).map_or(404, |_| 200), &[], b""),
            _ => serve(asked, objects(asked).as_deref()),
        });
        conformance::check_reading(&store(&server.url));
    }
}

#[test]
fn chunked_bodies_of_unknown_length_conform() {
    let objects = objects_below("/");
    let server = Server::new(move |asked| match objects(asked) {
        Some(object) if asked.method == "GET" && asked.header("range") != Some("bytes=0-0") => {
            let mut body = Vec::new();
            for chunk in object.chunks(1000) {
                body.extend(format!("{:x}\r\n", chunk.len()).bytes());
                body.extend(chunk);
                body.extend(b"\r\n");
            }
            body.extend(b"0\r\n\r\n");
            raw(200, &[("Transfer-Encoding", "chunked")], &body)
        }
        object => serve(asked, object.as_deref()),
    });
    conformance::check_reading(&store(&server.url));
}

#[test]
fn http_200_ranges_are_held_against_what_was_asked() {
    let range = |v: &str| ("Content-Range".to_string(), v.to_string());
    let part = |status: u16, headers: Vec<(String, String)>, body: Vec<u8>| {
        part_of(move |_| {
            let headers: Vec<(&str, &str)> = headers.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
            reply(status, &headers, &body)
        })
    };
    let right = Ok(Some(vec![4, 5, 6, 7]));
    // (a) the whole object, (b) the part
    assert_eq!(part(200, vec![], SIXTEEN.to_vec()).1, right);
    assert_eq!(part(206, vec![range("bytes 4-7/16")], vec![4, 5, 6, 7]).1, right);
    assert_eq!(part(206, vec![range("bytes 4-7/*")], vec![4, 5, 6, 7]).1, right);
    // (c) another part
    let (server, got) = part(206, vec![range("bytes 0-3/16")], vec![0, 1, 2, 3]);
    let (kind, what) = got.unwrap_err();
    assert_eq!(kind, Kind::Failed);
    assert!(what.contains("sent bytes 0..4 although 4..8 were asked for") && what.contains("/f.bin"), "{what}");
    assert_eq!(server.count(), 1, "not tried again");
    // (d) compressed
    let (_, got) = part(206, vec![range("bytes 4-7/16"), ("Content-Encoding".into(), "gzip".into())], vec![4, 5, 6, 7]);
    assert!(got.unwrap_err().1.contains("Content-Encoding gzip"));
    // (e) fewer bytes than it says
    let (server, got) = part(206, vec![range("bytes 4-7/16")], vec![4, 5, 6]);
    let (kind, what) = got.unwrap_err();
    assert_eq!(kind, Kind::Short);
    assert!(what.contains("4 bytes were expected and 3 came"), "{what}");
    assert_eq!(server.count(), 3, "tried again");
    // more bytes than it says
    let (_, got) = part(206, vec![range("bytes 4-7/16")], vec![4, 5, 6, 7, 8]);
    assert!(got.unwrap_err().1.contains("more than the 4 bytes"));
    // (f) a range past the end
    assert_eq!(part(416, vec![range("bytes */3")], vec![]).1.unwrap_err().0, Kind::Short);
    assert_eq!(part(416, vec![], vec![]).1.unwrap_err().0, Kind::Short);
    assert_eq!(part(416, vec![range("bytes */16")], vec![]).1.unwrap_err().0, Kind::Failed);
    // an object that ends in the part
    assert_eq!(part(206, vec![range("bytes 4-5/6")], vec![4, 5]).1.unwrap_err().0, Kind::Short);
    assert_eq!(part(200, vec![], vec![0, 1, 2, 3, 4, 5]).1.unwrap_err().0, Kind::Short);
    // fewer bytes than asked although there are more
    assert_eq!(part(206, vec![range("bytes 4-5/16")], vec![4, 5]).1.unwrap_err().0, Kind::Failed);
    // (g) no content, (h) no Content-Range, several parts, a range that is none
    assert_eq!(part(204, vec![], vec![]).1.unwrap_err().0, Kind::Failed);
    assert_eq!(part(206, vec![], vec![4, 5, 6, 7]).1.unwrap_err().0, Kind::Failed);
    let (_, got) = part(206, vec![("Content-Type".into(), "multipart/byteranges; boundary=x".into())], b"--x--".to_vec());
    assert_eq!(got.unwrap_err().0, Kind::Failed);
    assert_eq!(part(206, vec![range("bytes 7-4/16")], vec![4, 5, 6, 7]).1.unwrap_err().0, Kind::Failed);
}

#[test]
fn identity_is_asked_for() {
    let server = Server::new(|asked| serve(asked, Some(&SIXTEEN)));
    store(&server.url).get("f", Range::All).unwrap();
    assert_eq!(server.asked.lock().unwrap()[0].header("accept-encoding"), Some("identity"));
    let (_, got) = part_of(|_| reply(200, &[("Content-Encoding", "br")], &SIXTEEN));
    assert_eq!(got.unwrap_err().0, Kind::Failed);
    let (_, got) = part_of(|_| reply(200, &[("Content-Encoding", "identity")], &SIXTEEN));
    assert_eq!(got.unwrap(), Some(vec![4, 5, 6, 7]));
}

#[test]
fn a_part_far_into_an_object_is_not_had_by_transferring_all_before_it() {
    let server = Server::new(|_| raw(200, &[("Content-Length", "99999999999")], &SIXTEEN));
    let e = store(&server.url).get("f", Range::Bounded { start: 1 << 30, length: 4 }).unwrap_err();
    assert!(e.to_string().contains("does not serve parts"), "{e}");
    assert_eq!(server.count(), 1);
    // A declared size is not believed: memory follows what arrives.
    let e = store(&server.url).get("f", Range::All).unwrap_err();
    assert_eq!(e.kind, Kind::Short);
    assert!(e.to_string().contains("99999999999 bytes were expected and 16 came"), "{e}");
}

#[test]
fn zjl_131_statuses_are_absent_denied_or_broken() {
    let cases = [
        (404, None, 1),
        (410, None, 1),
        (403, Some(Kind::Denied), 1),
        (401, Some(Kind::Denied), 1),
        (400, Some(Kind::Failed), 1),
        (500, Some(Kind::Failed), 3),
        (503, Some(Kind::Failed), 3),
        (429, Some(Kind::Failed), 3),
        (418, Some(Kind::Failed), 1),
        (304, Some(Kind::Failed), 1),
    ];
    for (status, kind, tries) in cases {
        let server = Server::new(move |_| reply(status, &[], b"<html>"));
        let got = store(&server.url).get("0", Range::All);
        assert_eq!(server.count(), tries, "status {status}");
        match kind {
            None => assert_eq!(got.unwrap(), None, "status {status}"),
            Some(kind) => {
                let e = got.unwrap_err();
                assert_eq!(e.kind, kind, "status {status}");
                assert!(e.to_string().contains(&format!("{}/0", server.url)), "{e}");
                assert_eq!(e.key.as_deref(), Some("0"));
                assert_eq!(e.hint.is_some_and(|h| h.contains("absent_statuses")), kind == Kind::Denied);
            }
        }
        let stat = store(&server.url).stat("0");
        assert_eq!(stat.as_ref().err().map(|e| e.kind), kind, "stat with status {status}: {stat:?}");
    }
    let server = Server::new(|_| reply(403, &[], b"<Error>AccessDenied</Error>"));
    let options = Options { absent_statuses: vec![403], ..Options::default() };
    assert_eq!(store_with(&server.url, &options).get("0", Range::All).unwrap(), None);
    assert_eq!(store_with(&server.url, &options).stat("0").unwrap(), None);
}

#[test]
fn nc_810_bodies_that_end_early_are_errors_after_retries() {
    let server = Server::new(|_| raw(200, &[("Content-Length", "100")], &[7; 60]));
    let e = store(&server.url).get("c/0", Range::All).unwrap_err();
    assert_eq!((e.kind, server.count()), (Kind::Short, 3));
    assert!(e.to_string().contains("100 bytes were expected and 60 came"), "{e}");
    let server = Server::new(|_| raw(206, &[("Content-Range", "bytes 0-99/1000")], &[7; 60]));
    let e = store(&server.url).get("c/0", Range::Bounded { start: 0, length: 100 }).unwrap_err();
    assert_eq!((e.kind, server.count()), (Kind::Short, 3));
    // A chunked body without its last chunk.
    let server = Server::new(|_| raw(200, &[("Transfer-Encoding", "chunked")], b"4\r\nabcd\r\n"));
    let e = store(&server.url).get("c/0", Range::All).unwrap_err();
    assert_eq!((e.kind, server.count()), (Kind::Short, 3));
}

#[test]
fn what_passes_is_tried_again_and_then_right() {
    let n = AtomicUsize::new(0);
    let server = Server::new(move |asked| match n.fetch_add(1, Ordering::Relaxed) {
        0 => reply(503, &[("Retry-After", "0")], b""),
        1 => Reply { bytes: vec![], keep: false },
        _ => serve(asked, Some(&SIXTEEN)),
    });
    assert_eq!(store(&server.url).get("f", PART).unwrap().unwrap(), &[4, 5, 6, 7][..]);
    let n = AtomicUsize::new(0);
    let server = Server::new(move |asked| match n.fetch_add(1, Ordering::Relaxed) {
        0 => Reply { bytes: b"garbage that is not HTTP\r\n\r\n".to_vec(), keep: false },
        1 => raw(200, &[("Content-Length", "16")], &SIXTEEN[..3]),
        _ => serve(asked, Some(&SIXTEEN)),
    });
    assert_eq!(store(&server.url).get("f", Range::All).unwrap().unwrap(), &SIXTEEN[..]);
}

#[test]
fn a_server_that_is_not_there_is_an_error() {
    // Port 1: nothing listens there, and no other test's server is ever given it.
    let e = store("http://127.0.0.1:1").get("f", Range::All).unwrap_err();
    assert_eq!(e.kind, Kind::Failed);
    assert!(e.to_string().contains("could not be reached") && e.to_string().contains("3 tries"), "{e}");
}

#[test]
fn ic_2223_port_and_query_are_kept_and_secrets_are_not_shown() {
    let server = Server::new(|asked| serve(asked, (asked.target == "/f.bin?token=a%2Fb").then_some(&SIXTEEN)));
    let url = format!("{}/?token=a%2Fb#part", server.url);
    assert_eq!(store(&url).get("f.bin", PART).unwrap().unwrap(), &[4, 5, 6, 7][..]);
    let asked = server.asked.lock().unwrap()[0].clone();
    assert_eq!((asked.target.as_str(), asked.header("range")), ("/f.bin?token=a%2Fb", Some("bytes=4-7")));
    let server = Server::new(|_| reply(403, &[], b""));
    let url = server.url.replace("http://", "http://me:secret@") + "/a?sig=hush";
    let e = store(&url).get("k", Range::All).unwrap_err();
    let said = format!("{e:?} {}", store(&url).describe());
    assert!(!said.contains("secret") && !said.contains("hush"), "{said}");
    assert!(said.contains("/a/k?…"), "{said}");
    let asked = server.asked.lock().unwrap()[0].clone();
    assert_eq!(asked.header("authorization"), Some("Basic bWU6c2VjcmV0"));
}

#[test]
fn keys_are_percent_encoded_and_headers_sent() {
    let server = Server::new(|asked| serve(asked, Some(&SIXTEEN)));
    let options = Options { headers: vec![("X-Key".into(), "v".into())], ..Options::default() };
    store_with(&format!("{}/a%20b", server.url), &options).get("c d/é?#%/+", Range::All).unwrap();
    let asked = server.asked.lock().unwrap()[0].clone();
    assert_eq!(asked.target, "/a%20b/c%20d/%C3%A9%3F%23%25/%2B");
    assert_eq!(asked.header("x-key"), Some("v"));
}

#[test]
fn redirects_are_followed_with_the_range_and_end() {
    let server = Server::new(|asked| match asked.path() {
        "/old/f" => reply(302, &[("Location", "/new/f")], b""),
        "/new/f" => serve(asked, Some(&SIXTEEN)),
        _ => reply(302, &[("Location", "/ring")], b""),
    });
    assert_eq!(store(&format!("{}/old", server.url)).get("f", PART).unwrap().unwrap(), &[4, 5, 6, 7][..]);
    assert_eq!(store(&server.url).get("ring", Range::All).unwrap_err().kind, Kind::Failed);
}

#[test]
fn http_spa_a_page_for_every_path_is_passed_on_and_not_invented() {
    // The store cannot know what an object should look like; its readers can. It must not turn it into something else.
    let page = b"<!doctype html><html></html>";
    let server = Server::new(move |_| reply(200, &[("Content-Type", "text/html")], page));
    assert_eq!(store(&server.url).get("zarr.json", Range::All).unwrap().unwrap(), &page[..]);
    let e = store(&server.url).get("c/1", Range::Bounded { start: 0, length: 100 }).unwrap_err();
    assert_eq!(e.kind, Kind::Short);
}

#[test]
fn many_gets_are_under_way_at_once() {
    let server = Server::new(|asked| {
        std::thread::sleep(Duration::from_millis(50));
        serve(asked, Some(&SIXTEEN))
    });
    let requests: Vec<Request> = (0..32).map(|i| Request { key: format!("{i}"), range: PART }).collect();
    let began = Instant::now();
    let n = AtomicUsize::new(0);
    store(&server.url).get_many(&requests, &|_, got| {
        assert_eq!(got.unwrap().unwrap(), &[4, 5, 6, 7][..]);
        n.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!(n.into_inner(), 32);
    assert!(began.elapsed() < Duration::from_millis(32 * 50 / 2), "{:?}", began.elapsed());
}

#[test]
fn an_archive_is_read_behind_a_url() {
    use std::io::Write;
    let mut w = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (key, bytes) in conformance::objects() {
        w.start_file(key, zip::write::SimpleFileOptions::default()).unwrap();
        w.write_all(&bytes).unwrap();
    }
    let archive = w.finish().unwrap().into_inner();
    let server = Server::new(move |asked| match asked.target.as_str() {
        "/d/x%20y.zip?t=1" => serve(asked, Some(&archive)),
        "/d/page.zip" => reply(200, &[], b"<!doctype html>"),
        _ => serve(asked, None),
    });
    let store = gingham_store::open(&format!("{}/d/x%20y.zip?t=1", server.url)).unwrap();
    conformance::check_reading(&store);
    assert!(store.describe().ends_with("/d?…/x y.zip"), "{}", store.describe());
    // Where there is no archive the URL is a prefix like any other.
    for other in ["page.zip", "none.zip"] {
        let store = gingham_store::open(&format!("{}/d/{other}", server.url)).unwrap();
        assert_eq!(store.get("zarr.json", Range::All).unwrap(), None);
        assert!(!store.traits().lists);
    }
}

#[test]
fn urls_and_writes_are_refused_with_words() {
    for url in ["http://", "ftp://host/x", "http://[::1", "not a url"] {
        assert_eq!(Http::new(url, &Options::default()).unwrap_err().kind, Kind::Invalid, "{url}");
    }
    let http = Http::new("http://localhost:1/x", &Options::default()).unwrap();
    assert_eq!(http.put("k", vec![].into(), &gingham_store::Condition::Always).unwrap_err().kind, Kind::Unsupported);
    assert_eq!(http.delete("k").unwrap_err().kind, Kind::Unsupported);
    assert_eq!(http.delete_prefix("").unwrap_err().kind, Kind::Unsupported);
    assert_eq!(http.list("").unwrap_err().kind, Kind::Unsupported);
    assert_eq!(http.list_dir("").unwrap_err().kind, Kind::Unsupported);
}
