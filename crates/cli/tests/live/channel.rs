//! What `tautwire agent` and `tautwire master` say of another side that is none, hangs up, is silent or is of another version.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::{Ended, command, folder, tautwire};
use crate::processes::{Running, said, terminate};

const TWO: &str = "\
name: two
defaults: {rate: 100 Mbit/s}
nodes:
  a: {type: end-station}
  x: {type: end-station}
links: [{between: [a, x]}]
streams:
  - {name: one, talker: a, listeners: x, payload: 100 B, traffic: {type: periodic, interval: 1 ms}}
run: {duration: 10 ms}
";

const MASTER: [&str; 8] =
    ["master", "net.yaml", "--agent", "a=a.sock", "--agent", "x=x.sock", "--out", "run"];

/// A run of a master whose agents say this, and then nothing, for as long as it goes on.
fn with_agents(folder: &Path, says: [&[u8]; 2]) -> Ended {
    let agents = ["a.sock", "x.sock"].map(|socket| {
        let _ = fs::remove_file(folder.join(socket));
        UnixListener::bind(folder.join(socket)).unwrap()
    });
    std::thread::scope(|scope| {
        for (agent, says) in agents.iter().zip(says) {
            scope.spawn(move || {
                let mut lines = BufReader::new(agent.accept().unwrap().0);
                let mut line = String::new();
                lines.read_line(&mut line).unwrap();
                assert!(line.starts_with("{\"run\":{"), "{line}");
                // Nobody reads the last of what is too much.
                let _ = lines.get_mut().write_all(says);
                while lines.read_line(&mut line).is_ok_and(|count| count > 0) {}
            });
        }
        tautwire(folder, &MASTER)
    })
}

#[test]
fn a_master_names_the_agent_that_it_does_not_understand() {
    let folder = folder("channel-master");
    fs::write(folder.join("net.yaml"), TWO).unwrap();
    let ready = b"{\"ready\":[\"here\"]}\n".as_slice();
    for (says, code, words) in [
        ("{\"x\":1}\n", 3, "`a`: what it says is not understood"),
        ("5\n", 3, "`a`: what it says is not understood"),
        ("{\"refused\":{}}\n", 3, "`a`: what it says is not understood"),
        ("hello\n", 3, "`a`: what it says is not understood: a line is no JSON"),
        ("{\"result\":{\"words\":999999999}}\n", 3, "understood: a record of 999999999 words is longer than"),
        (
            "{\"refused\":{\"reasons\":[\"no\\u001b[2J\\u0007\"],\"is_input\":true}}\n",
            2,
            "`a`: no\\u{1b}[2J\\u{7}",
        ),
        ("{\"ready\":[\"\\u001b[2J\"]}\n5\n", 3, "`a`: \\u{1b}[2J"),
    ] {
        let ended = with_agents(&folder, [says.as_bytes(), ready]);
        assert_eq!((ended.code, ended.stderr.contains(words)), (code, true), "{says}{}", ended.stderr);
        assert!(!ended.stderr.contains(['\u{1b}', '\u{7}']), "{}", ended.stderr);
    }
    // Frames between nodes that no sum of 64 bits holds, and counts that are none of a run.
    let mut says = ready.to_vec();
    for _ in 0..3 {
        writeln!(says, "{}", json!({"progress": {"done": true, "between": i64::MAX}})).unwrap();
    }
    let words = [1, 0, u64::MAX, 0, 0, 0, 0, 0, u64::MAX, u64::MAX, 0, 0, 0, 0, 0, 0, 0];
    writeln!(says, "{}", json!({"result": {"words": words.len(), "priority": true}})).unwrap();
    words.iter().for_each(|word| says.extend(word.to_le_bytes()));
    let ended = with_agents(&folder, [&says, &says]);
    assert_eq!(ended.code, 3);
    assert!(ended.stderr.contains("the record of `a` is none of this network"), "{}", ended.stderr);
    assert!(!folder.join("run").exists());
}

/// As one that is stopped by SIGSTOP, shortly before the end of the run.
#[test]
fn a_silent_agent_is_named_after_ten_seconds() {
    let folder = folder("channel-silent");
    fs::write(folder.join("net.yaml"), TWO).unwrap();
    let ready = b"{\"ready\":[]}\n".as_slice();
    let before = Instant::now();
    let ended = with_agents(&folder, [ready, ready]);
    assert_eq!(ended.code, 3);
    assert!(ended.stderr.contains("the agent of `a` has said nothing for 10 s"), "{}", ended.stderr);
    // A second until the start, a second behind the end, and what this machine takes.
    assert!(before.elapsed() < Duration::from_secs(25), "{:?}", before.elapsed());
}

#[test]
fn an_agent_tells_masters_apart_and_has_one_at_a_time() {
    let folder = folder("channel-agent");
    let mut started = command(&folder, &["agent", "--listen", "a.sock", "--ordinary-priority"]);
    let mut agent = Running(started.stderr(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(agent.stderr.take().unwrap()).lines();
    said(&mut lines, "waits for a master");
    let connect = || {
        let client = UnixStream::connect(folder.join("a.sock")).unwrap();
        client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        client
    };
    let refused = |client: UnixStream| {
        let mut line = String::new();
        BufReader::new(client).read_line(&mut line).unwrap();
        let line: Value = serde_json::from_str(&line).unwrap();
        line["refused"]["reasons"][0].as_str().unwrap().to_owned()
    };
    let says = |text: &str| {
        let mut client = connect();
        client.write_all(text.as_bytes()).unwrap();
        client
    };
    let channel = concat!("3 of tautwire ", env!("CARGO_PKG_VERSION"));
    let run = |run: Value| format!("{}\n", json!({ "run": run }));
    let faulty = TWO.replace("talker: a", "talker: b");
    // A master that is none, that goes, and that is of another version.
    drop(connect());
    said(&mut lines, "the master has gone");
    let not_understood = "what the master says is not understood";
    assert_eq!(refused(says("hello\n")), format!("{not_understood}: a line is no JSON"));
    said(&mut lines, not_understood);
    assert_eq!(refused(says("5\n")), not_understood);
    said(&mut lines, not_understood);
    for (asked, words) in [
        (json!({}), format!("the agent has channel {channel}, and the master states none")),
        (json!({"channel": "0"}), format!("the agent has channel {channel}, and the master 0")),
        (json!({"channel": channel, "text": TWO, "node": "b"}), "there is no node `b`".to_owned()),
    ] {
        assert_eq!(refused(says(&run(asked))), words);
        said(&mut lines, &words);
    }
    let asked = json!({"channel": channel, "text": faulty, "file": "net.yaml", "node": "a"});
    let words = refused(says(&run(asked)));
    assert!(words.starts_with("net.yaml:8:25: ") && words.contains("`b`"), "{words}");
    // One that says nothing keeps another waiting for a moment, and the agent from its end for none.
    let silent = connect();
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(refused(says(&run(json!({})))), "the agent is busy with another master");
    let before = Instant::now();
    terminate(&agent);
    assert_eq!(agent.wait().unwrap().code(), Some(0));
    assert!(before.elapsed() < Duration::from_secs(5), "{:?}", before.elapsed());
    assert!(!folder.join("a.sock").exists());
    drop(silent);
}
