//! The channel between master and agents: a Unix socket, lines of JSON, and behind a result its record as words.
//!
//! | from | line | meaning |
//! |---|---|---|
//! | master | `run` | a description, its node, seed and length |
//! | agent | `ready` or `refused` | words on its interfaces, or why it cannot |
//! | master | `start` | the reading of the machine's monotonic clock at which the run starts, in nanoseconds |
//! | agent | `progress` | how far it is, ten times a second |
//! | agent | `counted` | what it has counted, about each second, as `status.json` of a run has it |
//! | master | `finish` | no frame is on its way any more |
//! | agent | `result` or `refused` | the number of words that follow, or why there are none |
//!
//! A closed connection is the end of the run for the other side. An agent refuses a second master at once.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tautwire_live::{RECEPTIONS_MAX, monotonic};

/// The form of the messages: both sides must have the same.
pub(super) const CHANNEL: &str = concat!("3 of tautwire ", env!("CARGO_PKG_VERSION"));
/// Longest line, which is a description.
const LINE_MAX: u64 = 64 << 20;
/// Most words of a record.
pub(super) const WORDS_MAX: u64 = 256 << 20;
/// How long the other side may take to read what is sent.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

// The frames that a record may hold, and all else in it.
const _: () = assert!(RECEPTIONS_MAX as u64 * 4 < WORDS_MAX / 10 * 9);

/// What comes: a line, and the words behind it if it states some; or why what came is none. Nothing follows that.
pub(super) type Message = Result<(Value, Vec<u64>), String>;

/// One side of a connection.
pub(super) struct Side {
    stream: UnixStream,
    heard: Arc<Heard>,
}

/// What is known of the other side.
struct Heard {
    is_open: AtomicBool,
    /// When the last of its octets came, in nanoseconds of the machine's monotonic clock.
    at: AtomicU64,
}

/// A connection, for those who do not talk over it.
pub(super) struct Connection {
    stream: UnixStream,
    heard: Arc<Heard>,
}

impl Connection {
    /// Whether the other side has not closed it.
    pub(super) fn is_open(&self) -> bool {
        self.heard.is_open.load(Ordering::Relaxed)
    }

    /// Ends it, whoever reads or writes.
    pub(super) fn close(&self) {
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
    }
}

impl Side {
    /// A side, and what comes from the other; that ends when the connection does.
    pub(super) fn new(stream: UnixStream) -> io::Result<(Self, Receiver<Message>)> {
        stream.set_write_timeout(Some(PATIENCE))?;
        let reading = stream.try_clone()?;
        let (sender, receiver) = channel();
        let heard = Arc::new(Heard { is_open: AtomicBool::new(true), at: AtomicU64::new(monotonic()) });
        let own = Arc::clone(&heard);
        thread::Builder::new().name("channel".to_owned()).spawn(move || {
            let mut lines = BufReader::new(reading);
            while let Some(message) = next(&mut lines, &own.at) {
                let is_last = message.is_err();
                if sender.send(message).is_err() || is_last {
                    break;
                }
            }
            own.is_open.store(false, Ordering::Relaxed);
        })?;
        Ok((Self { stream, heard }, receiver))
    }

    /// The connection.
    pub(super) fn connection(&self) -> io::Result<Connection> {
        Ok(Connection { stream: self.stream.try_clone()?, heard: Arc::clone(&self.heard) })
    }

    /// For how long nothing has come: a long record is no silence.
    pub(super) fn silence(&self) -> Duration {
        Duration::from_nanos(monotonic().saturating_sub(self.heard.at.load(Ordering::Relaxed)))
    }

    /// Sends a line.
    pub(super) fn say(&mut self, key: &str, value: Value) -> io::Result<()> {
        self.stream.write_all(format!("{}\n", json!({ key: value })).as_bytes())
    }

    /// Sends why there is nothing, and whether that is for the description.
    pub(super) fn refuse(&mut self, reasons: &[String], is_input: bool) -> io::Result<()> {
        self.say("refused", json!({"reasons": reasons, "is_input": is_input}))
    }

    /// Sends a result.
    pub(super) fn give(&mut self, words: &[u64], others: &Value) -> io::Result<()> {
        self.say("result", json!({"words": words.len(), "priority": others}))?;
        let mut stream = io::BufWriter::new(&self.stream);
        words.iter().try_for_each(|word| stream.write_all(&word.to_le_bytes()))?;
        stream.flush()
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        // The thread that reads has a descriptor of its own, which would keep the connection.
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
    }
}

/// The words of another process, without what a terminal would obey.
pub(super) fn shown(words: &str) -> String {
    let mut shown = String::with_capacity(words.len());
    for one in words.chars() {
        if one.is_control() {
            shown.extend(one.escape_unicode());
        } else {
            shown.push(one);
        }
    }
    shown
}

/// The next message; none if the connection has ended.
fn next(lines: &mut BufReader<UnixStream>, heard: &AtomicU64) -> Option<Message> {
    let mut line = Vec::new();
    lines.by_ref().take(LINE_MAX).read_until(b'\n', &mut line).ok()?;
    heard.store(monotonic(), Ordering::Relaxed);
    if line.last() != Some(&b'\n') {
        let is_long = line.len() as u64 == LINE_MAX;
        return is_long.then(|| Err(format!("a line is longer than {LINE_MAX} octets")));
    }
    let Ok(value) = serde_json::from_slice::<Value>(&line) else {
        return Some(Err("a line is no JSON".to_owned()));
    };
    let count = value["result"]["words"].as_u64().unwrap_or(0);
    if count > WORDS_MAX {
        return Some(Err(format!("a record of {count} words is longer than {WORDS_MAX}")));
    }
    let (mut words, mut left) = (Vec::new(), count);
    let mut octets = vec![0; 1 << 16];
    while left > 0 {
        let some = left.min(octets.len() as u64 / 8);
        let read = &mut octets[..some as usize * 8];
        lines.read_exact(read).ok()?;
        heard.store(monotonic(), Ordering::Relaxed);
        let word = |octets: &[u8]| u64::from_le_bytes(octets.try_into().expect("eight of them"));
        words.extend(read.chunks_exact(8).map(word));
        left -= some;
    }
    Some(Ok((value, words)))
}
