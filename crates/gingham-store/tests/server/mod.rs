//! A web server whose misbehaviour is scripted: one thread per connection, a closure that answers each request.
#![allow(clippy::unwrap_used, dead_code)]

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A request as it came.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    pub method: String,
    /// The request target, exactly.
    pub target: String,
    pub headers: Vec<(String, String)>,
}

impl Asked {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str())
    }
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap()
    }
}

/// Bytes to send, and whether the connection stays open after them.
pub struct Reply {
    pub bytes: Vec<u8>,
    pub keep: bool,
}

/// A response with a right Content-Length.
pub fn reply(status: u16, headers: &[(&str, &str)], body: &[u8]) -> Reply {
    let mut headers = headers.to_vec();
    let length = body.len().to_string();
    headers.push(("Content-Length", &length));
    raw(status, &headers, body)
}

/// A response with these headers only, after which the connection is closed.
pub fn raw(status: u16, headers: &[(&str, &str)], body: &[u8]) -> Reply {
    let mut bytes = format!("HTTP/1.1 {status} x\r\n").into_bytes();
    for (name, value) in headers {
        bytes.extend(format!("{name}: {value}\r\n").bytes());
    }
    bytes.extend(b"\r\n");
    bytes.extend(body);
    Reply { bytes, keep: headers.iter().any(|(n, v)| *n == "Content-Length" && *v == body.len().to_string()) }
}

/// What a server that serves ranges rightly says of an object.
pub fn serve(asked: &Asked, object: Option<&[u8]>) -> Reply {
    let Some(object) = object else { return reply(404, &[], b"no") };
    if asked.method == "HEAD" {
        let length = object.len().to_string();
        let mut r = raw(200, &[("Content-Length", &length), ("ETag", &etag(object))], b"");
        r.keep = true;
        return r;
    }
    let size = object.len();
    let Some(range) = asked.header("range").and_then(|r| r.strip_prefix("bytes=")) else {
        return reply(200, &[("ETag", &etag(object))], object);
    };
    let (first, last) = range.split_once('-').unwrap();
    let (start, end) = match (first, last) {
        ("", n) => (size.saturating_sub(n.parse::<u64>().unwrap().min(1 << 40) as usize), size),
        (a, "") => (a.parse::<u64>().unwrap().min(1 << 40) as usize, size),
        (a, b) => (a.parse::<u64>().unwrap().min(1 << 40) as usize, (b.parse::<u64>().unwrap().min(1 << 40) as usize + 1).min(size)),
    };
    if start >= size {
        return reply(416, &[("Content-Range", &format!("bytes */{size}"))], b"");
    }
    reply(206, &[("Content-Range", &format!("bytes {start}-{}/{size}", end - 1))], &object[start..end])
}

fn etag(object: &[u8]) -> String {
    format!("\"{:x}-{}\"", object.iter().fold(7u64, |h, b| h.wrapping_mul(31).wrapping_add(u64::from(*b))), object.len())
}

/// A running server, which ends with the test process.
pub struct Server {
    pub url: String,
    pub asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    pub fn new(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (answer, log) = (Arc::new(answer), asked.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (answer, log) = (answer.clone(), log.clone());
                std::thread::spawn(move || connection(stream.unwrap(), &*answer, &log));
            }
        });
        Server { url, asked }
    }
    pub fn count(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

fn connection(stream: TcpStream, answer: &(dyn Fn(&Asked) -> Reply + Send + Sync), log: &Mutex<Vec<Asked>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut writer = stream;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        let mut words = line.split_whitespace();
        let mut asked = Asked { method: words.next().unwrap().into(), target: words.next().unwrap().into(), headers: vec![] };
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 || line.trim().is_empty() {
                break;
            }
            let (name, value) = line.trim().split_once(':').unwrap();
            asked.headers.push((name.into(), value.trim().into()));
        }
        log.lock().unwrap().push(asked.clone());
        let reply = answer(&asked);
        if writer.write_all(&reply.bytes).is_err() || !reply.keep {
            let _ = writer.shutdown(std::net::Shutdown::Write);
            return;
        }
    }
}
