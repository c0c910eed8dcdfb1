//! Where what a bridge has counted is shown: files that are always whole, and answers to HTTP.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tautwire_live::BridgeStatus;

use super::bridge_metrics::metrics;
use super::bridge_status::Named;
use crate::http::{self, Answer, Limits, Request};

/// Few clients, which are quick: nothing else of the machine waits for them.
const LIMITS: Limits = Limits { clients: 8, request: Duration::from_secs(1), answer: Duration::from_secs(2) };

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
            let (listener, bound) = http::listen(listen)?;
            address = Some(bound);
            let texts = Arc::clone(&texts);
            thread::Builder::new()
                .name("http".to_owned())
                .spawn(move || http::serve(&listener, LIMITS, move |request| answer(request, &texts)))
                .map_err(|error| format!("cannot listen on {listen}: {error}"))?;
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
pub(super) fn replace(folder: &Path, name: &str, text: &str) -> io::Result<()> {
    let (temporary, place) = (folder.join(format!(".{name}.new")), folder.join(name));
    fs::write(&temporary, text)
        .and_then(|()| fs::rename(&temporary, &place))
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", place.display())))
}

fn answer(request: &Request, texts: &Texts) -> Answer {
    let [metrics, document] = texts.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let path: Vec<&str> = request.path.iter().map(String::as_str).collect();
    match path[..] {
        ["metrics" | "status.json"] if document.is_empty() => {
            Answer::words("503 Service Unavailable", "the bridge has not started yet")
        }
        ["metrics"] => Answer::new("200 OK", "text/plain; version=0.0.4; charset=utf-8", metrics),
        ["status.json"] => Answer::new("200 OK", "application/json", document),
        _ => Answer::words("404 Not Found", "/metrics and /status.json are there"),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpStream;

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
        let get =
            |path: &str, host: &str| asked(address, &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        assert!(get("/metrics", "localhost").starts_with("HTTP/1.1 503 "));
        *publisher.texts.lock().expect("no panic") = ["metrics\n".to_owned(), "{}\n".to_owned()];
        let metrics = get("/metrics", "127.0.0.1:9100");
        assert!(
            metrics.starts_with("HTTP/1.1 200 OK\r\n") && metrics.ends_with("\r\n\r\nmetrics\n"),
            "{metrics}"
        );
        assert!(get("/status.json", "localhost").ends_with("\r\n\r\n{}\n"));
        assert!(asked(address, "GET /status.json HTTP/1.0\r\n\r\n").ends_with("\r\n\r\n{}\n"));
        assert!(get("/", "localhost").starts_with("HTTP/1.1 404 "));
        assert!(get("/metrics", "other.example").starts_with("HTTP/1.1 421 "));
        assert!(asked(address, "POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
    }
}
