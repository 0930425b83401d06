//! The S3 store against a real server: SeaweedFS's `weed`, named by GINGHAM_TEST_WEED or found on PATH.
#![allow(clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use gingham_store::{Bytes, Condition, Options, Range, Store, StoreErrorKind as Kind, conformance, create_with, open_with};

const IDENTITIES: &str = r#"{"identities": [
    {"name": "writer", "credentials": [{"accessKey": "writer", "secretKey": "writer-secret"}], "actions": ["Admin", "Read", "List", "Write"]},
    {"name": "anonymous", "actions": ["Read:open", "List:open", "Write:open"]}
]}"#;

/// A server in a directory of its own, stopped when dropped.
struct Weed {
    process: Child,
    endpoint: String,
    address: String,
    _dir: tempfile::TempDir,
}

impl Drop for Weed {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn weed() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("GINGHAM_TEST_WEED") {
        return Some(named.into());
    }
    std::env::split_paths(&std::env::var_os("PATH")?).map(|dir| dir.join("weed")).find(|path| path.is_file())
}

impl Weed {
    /// `None` where there is no such server on this machine.
    fn start() -> Option<Weed> {
        let program = weed()?;
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("s3.json");
        std::fs::write(&config, IDENTITIES).unwrap();
        // All are held until all are chosen, so that they differ.
        let held: Vec<TcpListener> = (0..8).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let ports: Vec<u16> = held.iter().map(|l| l.local_addr().unwrap().port()).collect();
        drop(held);
        let mut command = Command::new(program);
        command.current_dir(dir.path()).args(["server", "-s3", "-filer", "-ip=127.0.0.1", "-ip.bind=127.0.0.1"]);
        command.args(["-master.telemetry=false", "-master.volumeSizeLimitMB=64", "-volume.max=20"]);
        command.args(["-s3.port.iceberg=0", "-s3.port.lance=0"]);
        command.arg(format!("-dir={}", dir.path().display())).arg(format!("-s3.config={}", config.display()));
        command.arg(format!("-filer.localSocket={}", dir.path().join("filer.sock").display()));
        let names = [
            "master.port",
            "master.port.grpc",
            "volume.port",
            "volume.port.grpc",
            "filer.port",
            "filer.port.grpc",
            "s3.port",
            "s3.port.grpc",
        ];
        for (name, port) in names.iter().zip(&ports) {
            command.arg(format!("-{name}={port}"));
        }
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let address = format!("127.0.0.1:{}", ports[6]);
        let weed = Weed { process, endpoint: format!("http://{address}"), address, _dir: dir };
        let began = Instant::now();
        loop {
            let ready = weed.store("open/ready").put("now", Bytes::from_static(b"1"), &Condition::Always);
            match ready {
                Ok(()) => return Some(weed),
                Err(e) if began.elapsed() > Duration::from_secs(60) => panic!("the server did not start in a minute: {e}"),
                Err(_) => std::thread::sleep(Duration::from_millis(300)),
            }
        }
    }

    fn options(&self, key: Option<(&str, &str)>) -> Options {
        let mut settings = vec![("aws_endpoint".to_string(), self.endpoint.clone()), ("aws_region".into(), "us-east-1".into())];
        if let Some((id, secret)) = key {
            settings.push(("aws_access_key_id".into(), id.into()));
            settings.push(("aws_secret_access_key".into(), secret.into()));
        }
        Options { settings, anonymous: key.is_none(), ..Options::default() }
    }

    fn store(&self, place: &str) -> Store {
        open_with(&format!("s3://{place}"), &self.options(Some(("writer", "writer-secret")))).unwrap()
    }

    fn anonymous(&self, place: &str) -> Store {
        open_with(&format!("s3://{place}"), &self.options(None)).unwrap()
    }

    /// An unsigned PUT of any key, also of those that no store would make.
    fn put_raw(&self, path: &str, body: &[u8]) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let head = format!("PUT {path} HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", self.address, body.len());
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "PUT {path}: {answer}");
    }
}

#[test]
fn s3_conforms_and_tells_absent_from_denied_and_broken() {
    let Some(weed) = Weed::start() else {
        eprintln!("skipped: no weed (SeaweedFS) in GINGHAM_TEST_WEED or on PATH");
        return;
    };
    let n = AtomicUsize::new(0);
    conformance::check(|| weed.store(&format!("private/{}", n.fetch_add(1, Ordering::Relaxed))));

    // Anonymous: what is open is read, what is private is denied, not absent.
    weed.store("private").put("k", Bytes::from_static(b"1"), &Condition::Always).unwrap();
    assert_eq!(weed.anonymous("open").get("ready/now", Range::All).unwrap().unwrap(), &b"1"[..]);
    let e = weed.anonymous("private").get("k", Range::All).unwrap_err();
    assert_eq!(e.kind, Kind::Denied, "{e}");
    assert!(e.hint.as_ref().unwrap().contains("absent_statuses"), "{e:?}");
    let e = weed.anonymous("private").list("").unwrap_err();
    assert_eq!(e.kind, Kind::Denied, "{e}");
    let options = Options { absent_statuses: vec![403], ..weed.options(None) };
    assert_eq!(open_with("s3://private", &options).unwrap().get("k", Range::All).unwrap(), None);
    let wrong = open_with("s3://private", &weed.options(Some(("writer", "hush-hush")))).unwrap();
    assert_eq!(wrong.get("k", Range::All).unwrap_err().kind, Kind::Denied);
    let options = Options { absent_statuses: vec![403], ..weed.options(Some(("writer", "hush-hush"))) };
    let lenient = open_with("s3://private", &options).unwrap();
    assert_eq!(lenient.get("k", Range::All).unwrap_err().kind, Kind::Denied, "wrong credentials are no absent key");
    assert_eq!(lenient.stat("k").unwrap_err().kind, Kind::Denied);
    let said = format!("{wrong:?} {:?}", wrong.get("k", Range::All));
    assert!(!said.contains("hush-hush"), "a secret is shown: {said}");

    // A bucket that is not there is no absent key.
    let e = weed.store("no-such-bucket").get("k", Range::All).unwrap_err();
    assert_eq!(e.kind, Kind::NotFound, "{e}");
    assert!(e.to_string().contains("s3://no-such-bucket does not exist"), "{e}");
    assert_eq!(weed.store("no-such-bucket").list("").unwrap_err().kind, Kind::NotFound);
    assert_eq!(weed.store("no-such-bucket").stat("k").unwrap_err().kind, Kind::NotFound);

    // vz-marker: directory markers are not keys.
    weed.put_raw("/open/air/", b"");
    weed.put_raw("/open/air/c/", b"");
    weed.put_raw("/open/air/zarr.json", b"{}");
    weed.put_raw("/open/air/c/0/0", b"");
    let open = weed.store("open");
    assert_eq!(open.list("air").unwrap(), [("air/c/0/0".to_string(), 0), ("air/zarr.json".to_string(), 2)]);
    let level = open.list_dir("air").unwrap();
    assert_eq!((level.keys, level.prefixes), (vec!["air/zarr.json".to_string()], vec!["air/c".to_string()]));
    assert_eq!(open.get("air/c/0/0", Range::All).unwrap().unwrap(), Bytes::new());

    // An archive in a bucket, read by its ranges.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.zip");
    let written = create_with(path.to_str().unwrap(), &Options::default()).unwrap();
    conformance::fill(&written);
    written.finish().unwrap();
    open.put("archives/x.zip", std::fs::read(&path).unwrap().into(), &Condition::Always).unwrap();
    let archive = weed.anonymous("open/archives/x.zip");
    assert!(!archive.traits().writes);
    conformance::check_reading(&archive);

    // Inside somebody's tokio runtime, blocking and awaiting, and dropping the store there.
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let store = weed.store("open");
        assert_eq!(store.get("ready/now", Range::All).unwrap().unwrap(), &b"1"[..]);
        let got = store.get_async("ready/now", Range::Suffix { length: 1 }).await;
        assert_eq!(got.unwrap().unwrap(), &b"1"[..]);
    });

    // A server that went away is broken, not absent.
    drop(weed);
    let e = open.get("ready/now", Range::All).unwrap_err();
    assert_eq!(e.kind, Kind::Failed, "{e}");
}
