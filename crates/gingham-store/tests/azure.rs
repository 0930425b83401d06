//! The Azure store against Azurite, Microsoft's emulator: its `azurite-blob`, named by GINGHAM_TEST_AZURITE.
#![allow(clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use gingham_store::{Bytes, Condition, Options, Range, Store, StoreErrorKind as Kind, conformance, open_with};

/// The account that every Azurite has; both are public.
const ACCOUNT: &str = "devstoreaccount1";
const KEY: &str = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

struct Azurite {
    process: Child,
    address: String,
}

impl Drop for Azurite {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Azurite {
    /// `None` where there is no such server on this machine.
    fn start() -> Option<Azurite> {
        let program = std::env::var_os("GINGHAM_TEST_AZURITE")?;
        let held = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = held.local_addr().unwrap().to_string();
        let port = held.local_addr().unwrap().port().to_string();
        drop(held);
        let mut command = Command::new(program);
        command.args(["--inMemoryPersistence", "--silent", "--disableTelemetry", "--skipApiVersionCheck", "--blobPort", &port]);
        let process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let azurite = Azurite { process, address };
        let began = Instant::now();
        while TcpStream::connect(&azurite.address).is_err() {
            assert!(began.elapsed() < Duration::from_secs(60), "the server did not start in a minute");
            std::thread::sleep(Duration::from_millis(100));
        }
        Some(azurite)
    }

    fn send(&self, method: &str, target: &str, headers: &[(&str, &str)]) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let mut head = format!("{method} {target} HTTP/1.1\r\nHost: {}\r\nContent-Length: 0\r\nConnection: close\r\n", self.address);
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        stream.write_all((head + "\r\n").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Creates a container, which a store cannot; with public access where everybody may read it.
    fn create(&self, container: &str, public: bool) {
        let path = format!("/{ACCOUNT}/{container}");
        // The server says what time it is.
        let answer = self.send("GET", &path, &[]);
        let date = answer.lines().find_map(|l| l.to_ascii_lowercase().starts_with("date:").then(|| l[5..].trim().to_string())).unwrap();
        let mut headers = vec![("x-ms-date", date.as_str()), ("x-ms-version", "2021-08-06")];
        if public {
            headers.insert(0, ("x-ms-blob-public-access", "container"));
        }
        let named: String = headers.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();
        let signed = format!("PUT{}{named}/{ACCOUNT}{path}\nrestype:container", "\n".repeat(12));
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &BASE64_STANDARD.decode(KEY).unwrap());
        let signature = BASE64_STANDARD.encode(ring::hmac::sign(&key, signed.as_bytes()));
        let authorization = format!("SharedKey {ACCOUNT}:{signature}");
        headers.push(("Authorization", &authorization));
        let answer = self.send("PUT", &format!("{path}?restype=container"), &headers);
        assert!(answer.starts_with("HTTP/1.1 201"), "creating {container}: {answer}");
    }

    fn options(&self, key: Option<&str>) -> Options {
        let mut settings = vec![
            ("azure_storage_account_name".to_string(), ACCOUNT.to_string()),
            ("azure_storage_endpoint".into(), format!("http://{}/{ACCOUNT}", self.address)),
        ];
        if let Some(key) = key {
            settings.push(("azure_storage_account_key".into(), key.into()));
        }
        Options { settings, anonymous: key.is_none(), ..Options::default() }
    }

    fn store(&self, place: &str) -> Store {
        open_with(&format!("az://{place}"), &self.options(Some(KEY))).unwrap()
    }
}

#[test]
fn azure_conforms_and_tells_absent_from_denied_and_broken() {
    let Some(azurite) = Azurite::start() else {
        eprintln!("skipped: no azurite-blob in GINGHAM_TEST_AZURITE");
        return;
    };
    azurite.create("private", false);
    azurite.create("public", true);
    let n = AtomicUsize::new(0);
    conformance::check(|| azurite.store(&format!("private/{}", n.fetch_add(1, Ordering::Relaxed))));

    azurite.store("public").put("a/k", Bytes::from_static(b"123"), &Condition::Always).unwrap();
    azurite.store("private").put("k", Bytes::from_static(b"1"), &Condition::Always).unwrap();
    let public = open_with("abfs://public/a", &azurite.options(None)).unwrap();
    assert_eq!(public.get("k", Range::Suffix { length: 2 }).unwrap().unwrap(), &b"23"[..]);
    let private = open_with("az://private", &azurite.options(None)).unwrap();
    for range in [Range::All, Range::Suffix { length: 1 }] {
        let e = private.get("k", range).unwrap_err();
        assert!(matches!(e.kind, Kind::NotFound | Kind::Denied), "private is not absent: {e:?}");
    }
    assert!(private.stat("k").is_err());
    let wrong = BASE64_STANDARD.encode("not the key");
    let wrong = open_with("az://private", &azurite.options(Some(&wrong))).unwrap();
    assert_eq!(wrong.get("k", Range::All).unwrap_err().kind, Kind::Denied);
    let e = azurite.store("no-such-container").get("k", Range::All).unwrap_err();
    assert_eq!(e.kind, Kind::NotFound, "{e}");
    assert_eq!(azurite.store("no-such-container").list("").unwrap_err().kind, Kind::NotFound);
    assert_eq!(azurite.store("no-such-container").stat("k").unwrap_err().kind, Kind::NotFound);
    let suffix = Range::Suffix { length: 9 };
    assert_eq!(azurite.store("no-such-container").get("k", suffix).unwrap_err().kind, Kind::NotFound);

    let store = azurite.store("public");
    drop(azurite);
    assert_eq!(store.get("a/k", Range::All).unwrap_err().kind, Kind::Failed);
}
