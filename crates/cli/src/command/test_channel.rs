//! The channel between master and agents: a Unix socket, lines of JSON, and behind a result its record as words.
//!
//! | from | line | meaning |
//! |---|---|---|
//! | master | `run` | a description, its node, seed and length |
//! | agent | `ready` or `refused` | words on its interfaces, or why it cannot |
//! | master | `start` | the reading of the machine's monotonic clock at which the run starts, in nanoseconds |
//! | agent | `progress` | how far it is, ten times a second |
//! | master | `finish` | no frame is on its way any more |
//! | agent | `result` or `refused` | the number of words that follow, or why there are none |
//!
//! A closed connection is the end of the run for the other side.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// The form of the messages: both sides must have the same.
pub(super) const CHANNEL: &str = concat!("1 of tautwire ", env!("CARGO_PKG_VERSION"));
/// Longest line, which is a description.
const LINE_MAX: u64 = 64 << 20;
/// Most words of a record.
const WORDS_MAX: u64 = 256 << 20;
/// How long the other side may take to read what is sent.
const PATIENCE: Duration = Duration::from_secs(30);

/// What comes: a line, and the words behind it if it states some.
pub(super) type Message = (Value, Vec<u64>);

/// One side of a connection.
pub(super) struct Side {
    stream: UnixStream,
}

impl Side {
    /// A side, and what comes from the other; that ends when the connection does.
    pub(super) fn new(stream: UnixStream) -> io::Result<(Self, Receiver<Message>)> {
        stream.set_write_timeout(Some(PATIENCE))?;
        let reading = stream.try_clone()?;
        let (sender, receiver) = channel();
        thread::Builder::new().name("channel".to_owned()).spawn(move || {
            let mut lines = BufReader::new(reading);
            while let Ok(message) = next(&mut lines) {
                if sender.send(message).is_err() {
                    break;
                }
            }
        })?;
        Ok((Self { stream }, receiver))
    }

    /// Sends a line.
    pub(super) fn say(&mut self, key: &str, value: Value) -> io::Result<()> {
        self.stream.write_all(format!("{}\n", json!({ key: value })).as_bytes())
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

fn next(lines: &mut BufReader<UnixStream>) -> io::Result<Message> {
    let mut line = Vec::new();
    lines.by_ref().take(LINE_MAX).read_until(b'\n', &mut line)?;
    if line.last() != Some(&b'\n') {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let value: Value = serde_json::from_slice(&line)?;
    let count = value["result"]["words"].as_u64().unwrap_or(0);
    if count > WORDS_MAX {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut words = Vec::new();
    for _ in 0..count {
        let mut word = [0; 8];
        lines.read_exact(&mut word)?;
        words.push(u64::from_le_bytes(word));
    }
    Ok((value, words))
}
