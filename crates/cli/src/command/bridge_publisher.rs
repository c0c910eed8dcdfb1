//! Where what a bridge has counted is shown: files that are always whole, and answers to HTTP.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tautwire_live::BridgeStatus;

use super::bridge_metrics::metrics;
use super::bridge_status::Named;

/// How long a client of HTTP may take for its request, and for the answer.
const PATIENCE: Duration = Duration::from_secs(1);
/// Longest request that is read.
const REQUEST_MAX: usize = 4096;

/// The last texts: metrics, and JSON.
type Texts = Arc<Mutex<[String; 2]>>;

/// Where it is shown.
pub(super) struct Publisher {
    folder: Option<PathBuf>,
    address: Option<SocketAddr>,
    texts: Texts,
}

impl Publisher {
    /// In a folder and on an address, if they are given; the error is a sentence.
    pub(super) fn new(folder: Option<&Path>, listen: Option<SocketAddr>) -> Result<Self, String> {
        if let Some(folder) = folder {
            fs::create_dir_all(folder).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => format!("{} is no folder", folder.display()),
                _ => format!("cannot make {}: {error}", folder.display()),
            })?;
        }
        let texts = Texts::default();
        let mut address = None;
        if let Some(listen) = listen {
            let no = |error: io::Error| format!("cannot listen on {listen}: {error}");
            let listener = TcpListener::bind(listen).map_err(no)?;
            address = Some(listener.local_addr().map_err(no)?);
            let texts = Arc::clone(&texts);
            thread::Builder::new()
                .name("http".to_owned())
                .spawn(move || serve(&listener, &texts))
                .map_err(no)?;
        }
        Ok(Self { folder: folder.map(Path::to_owned), address, texts })
    }

    pub(super) fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Shows what was counted.
    pub(super) fn publish(&self, named: Named<'_>, status: &BridgeStatus) -> io::Result<()> {
        if self.folder.is_none() && self.address.is_none() {
            return Ok(());
        }
        let texts = [metrics(named, status), named.json(status)];
        let written = match &self.folder {
            Some(folder) => replace(folder, "metrics.prom", &texts[0])
                .and_then(|()| replace(folder, "status.json", &texts[1])),
            None => Ok(()),
        };
        *self.texts.lock().unwrap_or_else(PoisonError::into_inner) = texts;
        written
    }
}

/// Replaces a file by a whole one.
fn replace(folder: &Path, name: &str, text: &str) -> io::Result<()> {
    let (temporary, place) = (folder.join(format!(".{name}.new")), folder.join(name));
    fs::write(&temporary, text)
        .and_then(|()| fs::rename(&temporary, &place))
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", place.display())))
}

/// Answers one client after the other: one that is slow delays the others by twice [`PATIENCE`] at most.
fn serve(listener: &TcpListener, texts: &Texts) {
    for client in listener.incoming() {
        match client {
            Ok(client) => {
                // A client that has gone is no fault.
                let _ = answer(client, texts);
            }
            Err(_) => thread::sleep(PATIENCE),
        }
    }
}

fn answer(mut client: TcpStream, texts: &Texts) -> io::Result<()> {
    let end = Instant::now() + PATIENCE;
    client.set_write_timeout(Some(PATIENCE))?;
    let mut request = Vec::new();
    let mut part = [0; 512];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") && request.len() < REQUEST_MAX {
        let left = end.saturating_duration_since(Instant::now());
        client.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
        if left.is_zero() {
            break;
        }
        match client.read(&mut part)? {
            0 => break,
            read => request.extend_from_slice(&part[..read]),
        }
    }
    let line = String::from_utf8_lossy(&request);
    let line = line.lines().next().unwrap_or_default();
    let [metrics, document] = texts.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let (status, kind, body) = match line.split(' ').collect::<Vec<_>>()[..] {
        ["GET", "/metrics" | "/status.json", _] if document.is_empty() => {
            ("503 Service Unavailable", "text/plain", "the bridge has not started yet\n".to_owned())
        }
        ["GET", "/metrics", _] => ("200 OK", "text/plain; version=0.0.4; charset=utf-8", metrics),
        ["GET", "/status.json", _] => ("200 OK", "application/json", document),
        ["GET", ..] => ("404 Not Found", "text/plain", "/metrics and /status.json are there\n".to_owned()),
        _ => ("405 Method Not Allowed", "text/plain", "only GET is answered\n".to_owned()),
    };
    let length = body.len();
    write!(
        client,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is answered to a request.
    fn asked(address: SocketAddr, request: &str) -> String {
        let mut client = TcpStream::connect(address).expect("it listens");
        client.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        client.read_to_string(&mut answer).expect("it ends");
        answer
    }

    #[test]
    fn http_has_two_documents_for_those_that_ask_properly() {
        let any = "127.0.0.1:0".parse().expect("an address");
        let publisher = Publisher::new(None, Some(any)).expect("a port is free");
        let address = publisher.address().expect("it listens");
        assert!(asked(address, "GET /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 503 "));
        *publisher.texts.lock().expect("no panic") = ["metrics\n".to_owned(), "{}\n".to_owned()];
        let metrics = asked(address, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
        assert!(
            metrics.starts_with("HTTP/1.1 200 OK\r\n") && metrics.ends_with("\r\n\r\nmetrics\n"),
            "{metrics}"
        );
        assert!(asked(address, "GET /status.json HTTP/1.1\r\n\r\n").ends_with("\r\n\r\n{}\n"));
        assert!(asked(address, "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
        assert!(asked(address, "POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
        // A slow one is left when its time is over, however often it sends.
        let mut slow = TcpStream::connect(address).expect("it listens");
        let sends = thread::spawn(move || {
            for _ in 0..100 {
                thread::sleep(PATIENCE / 20);
                if slow.write_all(b"x").is_err() {
                    return true;
                }
            }
            false
        });
        assert!(asked(address, "GET /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200 "));
        assert!(sends.join().expect("no panic"), "its connection is closed");
        // One that sends too much, or half and goes, is no harm to the next.
        let _ = TcpStream::connect(address).and_then(|mut client| client.write_all(b"GET /met"));
        let _ = TcpStream::connect(address).and_then(|mut client| client.write_all(&[b'x'; 2 * REQUEST_MAX]));
        assert!(asked(address, "GET /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 200 "));
    }
}
