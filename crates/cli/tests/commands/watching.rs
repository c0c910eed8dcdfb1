//! A description that is verified again when it changes.

use std::fs;
use std::io::{BufRead as _, BufReader, Read};
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::common::{command, folder, tautwire};
use crate::small;

/// A process that is ended with the test.
struct Ending(std::process::Child);

impl Drop for Ending {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The lines of what a process writes, as they come.
fn lines(from: impl Read + Send + 'static) -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// The next line that contains `part`.
fn await_line(lines: &mpsc::Receiver<String>, part: &str) -> String {
    loop {
        let line =
            lines.recv_timeout(Duration::from_secs(120)).unwrap_or_else(|_| panic!("no line with {part}"));
        if line.contains(part) {
            return line;
        }
    }
}

#[test]
fn a_watched_description_is_verified_again_when_it_changes() {
    let folder = folder("watch");
    let text = fs::read_to_string(small(&folder, "500 us")).unwrap();
    let with_table = text.replace("streams:\n", "stream-tables: [more.csv]\nstreams:\n");
    fs::write(folder.join("small.yaml"), &with_table).unwrap();
    let heading = "name,talker,listeners,payload,traffic.type,traffic.interval,deadline\n";
    fs::write(folder.join("more.csv"), heading.to_owned() + "row,sensor,control,60 B,periodic,1 ms,5 ms\n")
        .unwrap();
    let mut process = command(&folder, &["verify", "small.yaml", "--watch"]);
    let mut process = Ending(process.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    let stdout = lines(process.0.stdout.take().unwrap());
    let stderr = lines(process.0.stderr.take().unwrap());
    await_line(&stderr, "watching 2 files");
    assert!(await_line(&stdout, "row").ends_with("proven"));
    // A file that the description names changes.
    fs::write(folder.join("more.csv"), heading.to_owned() + "row,sensor,control,60 B,periodic,1 ms,12 us\n")
        .unwrap();
    await_line(&stderr, "watching 2 files");
    assert!(await_line(&stdout, "row").ends_with("missed"));
    // A fault is shown, and the command goes on.
    fs::write(folder.join("small.yaml"), with_table.replace("rate: 100 Mbit/s", "speed: 100 Mbit/s"))
        .unwrap();
    await_line(&stderr, "did you mean `rate`?");
    await_line(&stderr, "watching");
    // An editor may put a new file in the place of the old one.
    fs::write(folder.join("new.yaml"), text.replace("500 us", "60 us")).unwrap();
    fs::rename(folder.join("new.yaml"), folder.join("small.yaml")).unwrap();
    await_line(&stderr, "watching 1 file");
    assert!(await_line(&stdout, "loop").ends_with("not proven"));
}

#[test]
fn stdin_cannot_be_watched() {
    let ended = tautwire(&folder("watch-stdin"), &["check", "-", "--watch"]);
    assert_eq!((ended.code, &*ended.stderr), (2, "tautwire: --watch needs a file: stdin does not change\n"));
}
