//! `tautwire admit --listen`: requests from any number of clients of a Unix socket, decided one by one.
//!
//! Each client has a thread that reads its lines and writes their answers; all lines go to the one thread
//! that decides, in the order in which they come. The socket is its owner's alone.

use std::fs::Permissions;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use tautwire_workbench::Network;
use tautwire_workbench::admission::{Asker, Decision, Desk, Request, RequestError};

use super::say;
use crate::exit::Exit;

/// A longer line is no request; its client is sent away.
const LINE_MAX: u64 = 1 << 20;

/// A line and where its answer goes.
type Asked = (String, Sender<String>);

/// Answers until a decision cannot be kept.
pub(super) fn serve(socket: &Path, desk: Desk) -> Result<Exit, Exit> {
    let listener = bind(socket).map_err(|error| {
        say(&format!("cannot listen on {}: {error}", socket.display()));
        Exit::Failure
    })?;
    let (sender, asked) = channel::<Asked>();
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let sender = sender.clone();
            thread::spawn(move || talk(&client, &sender));
        }
    });
    desk.serve(&mut Clients { asked, reply: None })?;
    Ok(Exit::Holds)
}

/// Lines of all clients.
struct Clients {
    asked: Receiver<Asked>,
    /// Where the answer to the last line goes.
    reply: Option<Sender<String>>,
}

impl Asker for Clients {
    type Error = Exit;

    fn next(&mut self) -> Result<Option<Result<Request, RequestError>>, Exit> {
        let Ok((line, reply)) = self.asked.recv() else { return Ok(None) };
        self.reply = Some(reply);
        Ok(Some(Request::parse(&line)))
    }

    fn told(&mut self, _network: &Network, decision: Decision) -> Result<(), Exit> {
        // A client that has gone is no fault: what it asked for is decided and kept.
        let _ = self.reply.take().map(|reply| reply.send(decision.to_json() + "\n"));
        Ok(())
    }
}

/// The socket, in the place of one that a killed process left.
fn bind(socket: &Path) -> std::io::Result<UnixListener> {
    let listener = match UnixListener::bind(socket) {
        Err(error) if error.kind() == ErrorKind::AddrInUse && UnixStream::connect(socket).is_err() => {
            std::fs::remove_file(socket)?;
            UnixListener::bind(socket)?
        }
        bound => bound?,
    };
    std::fs::set_permissions(socket, Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// One client, until it goes.
fn talk(client: &UnixStream, decisions: &Sender<Asked>) {
    let (mut lines, mut answers) = (BufReader::new(client), client);
    loop {
        let mut line = Vec::new();
        let Ok(octets) = (&mut lines).take(LINE_MAX).read_until(b'\n', &mut line) else { return };
        if octets == 0 || octets as u64 == LINE_MAX {
            return;
        }
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
