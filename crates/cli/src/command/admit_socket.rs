//! `tautwire admit --listen`: requests from any number of clients of a Unix socket, decided one by one.
//!
//! Each client has a thread that reads its lines and writes their answers; all lines go to the one thread
//! that decides, in the order in which they come. The socket is its owner's alone. Clients are limited in number, and one that
//! does not finish its request in time, or does not read its answer, is sent away.

use std::fs::Permissions;
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{self, Instant};

use serde_json::json;
use tautwire_workbench::admission::{AdmissionServer, Channel, Decision, Request, RequestError};
use tautwire_workbench::{Duration, Network};

use super::message;
use crate::exit::Exit;
use crate::signals;

/// A longer line is no request; its client is sent away.
const LINE_MAX: usize = 1 << 20;
/// How long to wait where the system has no room for a further client.
const PAUSE: time::Duration = time::Duration::from_millis(50);

/// Limits for clients.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// How many there are at a time.
    pub(super) connections: u32,
    /// How long one takes for a request, or for its answer.
    pub(super) idle: Duration,
}

/// A line and where its answer goes.
type Asked = (String, Sender<String>);

/// Answers until a decision cannot be kept.
pub(super) fn serve(socket: &Path, server: AdmissionServer, limits: Limits) -> Result<Exit, Exit> {
    let listener = bind(socket).map_err(|error| {
        message(&format!("cannot listen on {}: {error}", socket.display()));
        if error.kind() == ErrorKind::AlreadyExists { Exit::WrongInput } else { Exit::Failure }
    })?;
    signals::remove_on_kill(socket);
    let (sender, asked) = channel::<Asked>();
    thread::spawn(move || welcome(&listener, &sender, limits));
    server.serve(&mut Clients { asked, reply: None })?;
    Ok(Exit::Holds)
}

/// Gives each client a thread, as long as there are not too many.
fn welcome(listener: &UnixListener, sender: &Sender<Asked>, limits: Limits) {
    let idle = time::Duration::from_nanos(limits.idle.as_ps().div_ceil(1_000));
    let places = Arc::new(());
    for client in listener.incoming() {
        let Ok(client) = client else {
            thread::sleep(PAUSE);
            continue;
        };
        // A client that does not read its answer delays only itself.
        let _ = client.set_write_timeout(Some(idle));
        if Arc::strong_count(&places) > limits.connections as usize {
            let error =
                format!("{} clients are connected, which is the limit: try again later", limits.connections);
            let _ = writeln!(&client, "{}", json!({"outcome": "wrong", "error": error}));
            continue;
        }
        let (place, sender) = (Arc::clone(&places), sender.clone());
        let talking = thread::Builder::new().spawn(move || {
            talk(&client, &sender, idle);
            drop(place);
        });
        if talking.is_err() {
            thread::sleep(PAUSE);
        }
    }
}

/// Lines of all clients.
struct Clients {
    asked: Receiver<Asked>,
    /// Where the answer to the last line goes.
    reply: Option<Sender<String>>,
}

impl Channel for Clients {
    type Error = Exit;

    fn next(&mut self) -> Result<Option<Result<Request, RequestError>>, Exit> {
        let Ok((line, reply)) = self.asked.recv() else { return Ok(None) };
        self.reply = Some(reply);
        Ok(Some(Request::parse(&line)))
    }

    fn reply(&mut self, _network: &Network, decision: Decision) -> Result<(), Exit> {
        // A client that has gone is no fault: its request is decided and logged.
        let _ = self.reply.take().map(|reply| reply.send(decision.to_json() + "\n"));
        Ok(())
    }
}

/// The socket, in the place of one that a killed process left. Nothing else is ever taken away.
pub(super) fn bind(socket: &Path) -> io::Result<UnixListener> {
    let taken = |what: &str| io::Error::new(ErrorKind::AlreadyExists, what.to_owned());
    let listener = match std::fs::symlink_metadata(socket) {
        Err(error) if error.kind() == ErrorKind::NotFound => UnixListener::bind(socket)?,
        Err(error) => return Err(error),
        Ok(there) if !there.file_type().is_socket() => {
            return Err(taken("the path is a file and not a socket"));
        }
        Ok(_) => match UnixStream::connect(socket) {
            Ok(_) => return Err(taken("another process listens on it")),
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                std::fs::remove_file(socket)?;
                UnixListener::bind(socket)?
            }
            Err(error) => return Err(error),
        },
    };
    std::fs::set_permissions(socket, Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// One client, until it goes or is sent away.
fn talk(client: &UnixStream, decisions: &Sender<Asked>, idle: time::Duration) {
    let (mut lines, mut answers) = (BufReader::new(client), client);
    while let Some(line) = line(client, &mut lines, idle) {
        let line = String::from_utf8_lossy(&line);
        if line.trim().is_empty() {
            continue;
        }
        let (reply, answer) = channel();
        if decisions.send((line.trim().to_owned(), reply)).is_err() {
            return;
        }
        let Ok(answer) = answer.recv() else { return };
        if answers.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

/// The next line; none if the client is gone, sends too much, or has not sent all of it within `idle`.
fn line(client: &UnixStream, lines: &mut BufReader<&UnixStream>, idle: time::Duration) -> Option<Vec<u8>> {
    let begin = Instant::now();
    let mut line = Vec::new();
    loop {
        let left = idle.checked_sub(begin.elapsed()).filter(|left| !left.is_zero())?;
        client.set_read_timeout(Some(left)).ok()?;
        let octets = match lines.fill_buf() {
            Ok([]) => return Some(line).filter(|line| !line.is_empty()),
            Ok(octets) => octets,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => return None,
        };
        let end = octets.iter().position(|octet| *octet == b'\n');
        let taken = end.map_or(octets.len(), |end| end + 1);
        line.extend_from_slice(&octets[..taken]);
        lines.consume(taken);
        if line.len() >= LINE_MAX {
            return None;
        }
        if end.is_some() {
            return Some(line);
        }
    }
}
