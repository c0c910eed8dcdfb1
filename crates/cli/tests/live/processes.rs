//! Processes in namespaces, interfaces between these, and frames on them.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tautwire_linux::{Clock, End, FramePort as _, Namespace, PacketSocket, Waiter, add_pair};

use crate::common::command;

/// A namespace; none, which is said aloud, if it cannot be made here.
pub(crate) fn namespace() -> Option<Namespace> {
    let made = Namespace::new();
    if made.is_err() {
        // The harness keeps what a passing test prints, but not what it writes to stderr.
        std::io::stderr().write_all(b"SKIPPED: a network namespace cannot be made\n").unwrap();
    }
    made.ok()
}

/// A pair of interfaces between the bridge's namespace and one of a station, whose socket it gives.
pub(crate) fn station(bridge: &Namespace, name: &str, number: u8) -> PacketSocket {
    // The socket keeps the namespace.
    attached(bridge, name, number).inside(|| PacketSocket::open("e0")).unwrap()
}

/// The same; it gives the namespace.
pub(crate) fn attached(bridge: &Namespace, name: &str, number: u8) -> Namespace {
    let own = Namespace::new().unwrap();
    let end = |namespace, name: &str, last| End {
        namespace,
        name: name.to_owned(),
        address: [2, 0xaa, 0, 0, 0, last],
        mtu: 1504,
    };
    add_pair(&end(bridge, name, 0x10 + number), &end(&own, "e0", number)).unwrap();
    own
}

/// The next frame that a station receives.
pub(crate) fn received(socket: &PacketSocket, clock: Clock) -> Vec<u8> {
    let mut buffer = [0; 2048];
    let mut waiter = Waiter::new([socket.descriptor()]);
    let until = clock.now() + 20_000_000_000;
    while clock.now() < until {
        waiter.wait(clock, until).unwrap();
        if let Some(received) = socket.receive(&mut buffer).unwrap() {
            return received.octets.to_vec();
        }
    }
    panic!("no frame in 20 s");
}

/// A frame with 46 octets of data.
pub(crate) fn frame(destination: [u8; 6], source: u8, tag: u16, mark: u8) -> Vec<u8> {
    let mut frame = destination.to_vec();
    frame.extend([
        2,
        0xaa,
        0,
        0,
        0,
        source,
        0x81,
        0,
        tag.to_be_bytes()[0],
        tag.to_be_bytes()[1],
        0x08,
        0,
        mark,
    ]);
    frame.resize(64, 0);
    frame
}

pub(crate) type Lines = std::io::Lines<BufReader<std::process::ChildStderr>>;

/// A process that ends with the test, however that ends.
pub(crate) struct Running(pub(crate) Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl std::ops::Deref for Running {
    type Target = Child;

    fn deref(&self) -> &Child {
        &self.0
    }
}

impl std::ops::DerefMut for Running {
    fn deref_mut(&mut self) -> &mut Child {
        &mut self.0
    }
}

/// Starts a command in a namespace, and reads what it says up to a line with `until`; what it says later follows.
pub(crate) fn started(
    within: &Namespace,
    folder: &Path,
    arguments: &[&str],
    until: &str,
) -> (Running, Vec<String>, Lines) {
    let mut started = command(folder, arguments);
    started.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = Running(within.inside(|| started.spawn()).unwrap());
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let words = said(&mut lines, until);
    (child, words, lines)
}

/// The lines before one with `until`.
pub(crate) fn said(lines: &mut Lines, until: &str) -> Vec<String> {
    let mut words = Vec::new();
    for line in lines {
        let line = line.unwrap();
        if line.contains(until) {
            return words;
        }
        words.push(line);
    }
    panic!("it ended without `{until}`: {words:?}");
}

/// Ends a process as a service manager does.
pub(crate) fn terminate(child: &Child) {
    send_signal(child, "TERM");
}

pub(crate) fn send_signal(child: &Child, signal: &str) {
    let arguments = [format!("-{signal}"), child.id().to_string()];
    assert!(Command::new("kill").args(arguments).status().unwrap().success());
}

/// What a bridge shows of itself in a folder, once it is as wanted.
pub(crate) fn status_of(folder: &Path, wanted: impl Fn(&Value) -> bool) -> Value {
    for _ in 0..600 {
        let text = fs::read_to_string(folder.join("status.json")).unwrap_or_default();
        let shown = serde_json::from_str::<Value>(&text).unwrap_or_default();
        if wanted(&shown) {
            return shown;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("never in 30 s");
}
