//! The one HTTP server of the command (RFC 9112): `bridge --listen` and `serve` answer by it. It reads and never changes anything: GET and HEAD.
//!
//! Each client has a thread for one request and one answer. Clients are limited in number, requests in length, and both request and
//! answer in time as a whole, however often a slow client sends or takes an octet. A request whose `Host` is a name that others can
//! give to this machine's address is refused (DNS rebinding), so a page of another site cannot read what is served here.
//! No library: those that are kept up bring an asynchronous runtime, and to answer GET takes less than to set one up.
//! Not here: who may read (`serve`'s token).

mod request;

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

pub(crate) use request::{Request, encoded};

/// Longest request, from its first line to the empty line behind its header.
const REQUEST_MAX: usize = 8 << 10;
/// Octets that are handed to the kernel at once.
const PART: usize = 64 << 10;
/// How long to wait where the system has no room for a further client.
const PAUSE: Duration = Duration::from_millis(50);
/// What is still read of a client that was refused before its end, so that it sees the answer.
const REST_MAX: usize = 64 << 10;
const REST_TIME: Duration = Duration::from_millis(500);

/// Limits for clients.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// How many there are at a time.
    pub(crate) clients: usize,
    /// How long one may take for its request.
    pub(crate) request: Duration,
    /// How long one may take to read the answer.
    pub(crate) answer: Duration,
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// Code and words.
    pub(crate) status: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) body: Vec<u8>,
    /// Further fields of the header.
    pub(crate) fields: Vec<(&'static str, String)>,
}

impl Answer {
    pub(crate) fn new(status: &'static str, kind: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { status, kind, body: body.into(), fields: Vec::new() }
    }

    /// A sentence for people.
    pub(crate) fn words(status: &'static str, words: &str) -> Self {
        Self::new(status, "text/plain; charset=utf-8", format!("{words}\n"))
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.fields.push((name, value.into()));
        self
    }
}

/// Begins to listen; the error is a sentence.
pub(crate) fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr), String> {
    let no = |error: io::Error| match error.kind() {
        ErrorKind::AddrInUse => {
            format!("cannot listen on {address}: another process does. Port 0 takes a free one")
        }
        ErrorKind::AddrNotAvailable => {
            format!("cannot listen on {address}: it is no address of this machine (`ip address`)")
        }
        ErrorKind::PermissionDenied => {
            format!("cannot listen on {address}: ports below 1024 are for root")
        }
        _ => format!("cannot listen on {address}: {error}"),
    };
    let listener = TcpListener::bind(address).map_err(no)?;
    let address = listener.local_addr().map_err(no)?;
    Ok((listener, address))
}

/// Answers clients as long as the process is.
pub(crate) fn serve(
    listener: &TcpListener,
    limits: Limits,
    answer: impl Fn(&Request) -> Answer + Send + Sync + 'static,
) {
    let answer = Arc::new(answer);
    let places = Arc::new(());
    for client in listener.incoming() {
        let Ok(client) = client else {
            thread::sleep(PAUSE);
            continue;
        };
        if Arc::strong_count(&places) > limits.clients {
            let full = Answer::words("503 Service Unavailable", "too many clients at once: try again");
            // So few octets find room in the kernel: nobody is waited for.
            let _ = send(&client, &full.with("Retry-After", "1"), false, Instant::now() + PAUSE);
            continue;
        }
        let (place, answer) = (Arc::clone(&places), Arc::clone(&answer));
        let begun = thread::Builder::new().name("http-client".to_owned()).spawn(move || {
            // A client that has gone, or does not take the answer, is no fault.
            let _ = talk(&client, limits, &*answer);
            drop(place);
        });
        if begun.is_err() {
            thread::sleep(PAUSE);
        }
    }
}

/// One request and its answer.
fn talk(client: &TcpStream, limits: Limits, answer: &dyn Fn(&Request) -> Answer) -> io::Result<()> {
    let (found, is_whole) = match read(client, Instant::now() + limits.request) {
        Ok(octets) => (Request::parse(&octets), true),
        Err(None) => return Ok(()),
        Err(Some(refused)) => (Err(refused), false),
    };
    let is_head = found.as_ref().is_ok_and(|request| request.is_head);
    let found = found.and_then(|request| request.check_host().map(|()| request));
    let answered = match found {
        Ok(request) => catch_unwind(AssertUnwindSafe(|| answer(&request))).unwrap_or_else(|_| {
            Answer::words(
                "500 Internal Server Error",
                "a fault of tautwire: its words are where it was started",
            )
        }),
        Err(refused) => refused,
    };
    send(client, &answered, is_head, Instant::now() + limits.answer)?;
    if !is_whole {
        finish(client);
    }
    Ok(())
}

/// The octets of a request up to the empty line; an answer if it is refused before, nothing if the client has gone.
fn read(mut client: &TcpStream, end: Instant) -> Result<Vec<u8>, Option<Answer>> {
    let mut octets = Vec::new();
    let mut part = [0; 1024];
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Some(Answer::words("408 Request Timeout", "the request was not complete in time")));
        }
        client.set_read_timeout(Some(left)).map_err(|_| None)?;
        match client.read(&mut part) {
            Ok(0) => return Err(None),
            Ok(count) => {
                // The end may be in two parts.
                let from = octets.len().saturating_sub(3);
                octets.extend_from_slice(&part[..count]);
                if octets[from..].windows(4).any(|end| end == b"\r\n\r\n") {
                    return Ok(octets);
                }
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return Err(None),
        }
        if octets.len() > REQUEST_MAX {
            let words = "the request is longer than 8 KiB";
            return Err(Some(Answer::words("431 Request Header Fields Too Large", words)));
        }
    }
}

fn send(client: &TcpStream, answer: &Answer, is_head: bool, end: Instant) -> io::Result<()> {
    let Answer { status, kind, body, fields } = answer;
    let length = body.len();
    let mut head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\
         X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n"
    );
    for (name, value) in fields {
        // A value that breaks its line would be a field of its own.
        let value: String = value.chars().filter(|letter| !letter.is_control()).collect();
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    write(client, head.as_bytes(), end)?;
    if is_head { Ok(()) } else { write(client, body, end) }
}

fn write(mut client: &TcpStream, octets: &[u8], end: Instant) -> io::Result<()> {
    for mut part in octets.chunks(PART) {
        while !part.is_empty() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ErrorKind::TimedOut.into());
            }
            client.set_write_timeout(Some(left))?;
            match client.write(part) {
                Ok(count) => part = &part[count..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}

/// Takes the rest of what a refused client sends, within limits: the kernel would discard the answer with it.
fn finish(mut client: &TcpStream) {
    let end = Instant::now() + REST_TIME;
    let (mut taken, mut part) = (0, [0; 4096]);
    let _ = client.shutdown(Shutdown::Write);
    while taken < REST_MAX {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() || client.set_read_timeout(Some(left)).is_err() {
            return;
        }
        match client.read(&mut part) {
            Ok(0) | Err(_) => return,
            Ok(count) => taken += count,
        }
    }
}

#[cfg(test)]
mod tests;
