//! `tautwire agent`: runs a node of a description for a master, run after run.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};
use tautwire_live::{Cannot, Go, Priority, Progress, RECEPTIONS_MAX, monotonic, run_node};
use tautwire_workbench::network::NodeIndex;

use super::admit_socket::bind;
use super::live_status::counted;
use super::test_channel::{CHANNEL, Connection, Message, PATIENCE, Side, WORDS_MAX, shown};
use super::{message, remark};
use crate::diagnostics;
use crate::exit::Exit;
use crate::signals;

pub(super) const HELP: &str = "\
Examples:
  tautwire agent --listen /run/a.sock
  ip netns exec station-a tautwire agent --listen /run/a.sock

It waits for a master (tautwire master), runs the node that this one names on the interfaces of the
network namespace in which it is started, and gives its record back. If the master goes, the run is
given up and the next one is awaited. It has one master at a time, and refuses others. The socket is
its owner's alone. SIGINT, SIGTERM and SIGHUP end it.

Exit codes: 0 it was stopped, 2 the socket is taken, 3 failure.";

/// How often it looks whether it is stopped, and for a master.
const LOOK: Duration = Duration::from_millis(20);
/// How long a master may take for its first line.
const FIRST: Duration = Duration::from_secs(10);
/// How long it may take to start a run whose node is ready, for others may not be, and to end one whose record it has.
const START: Duration = Duration::from_secs(60);
/// How long a master waits for one before it that is still there: that may be about to go.
const TURN: Duration = Duration::from_millis(500);
/// How often a run's progress is sent.
const TELL: Duration = Duration::from_millis(100);

/// A node for a master.
#[derive(Debug, Args)]
pub(crate) struct Agent {
    /// Unix socket on which it waits for a master
    #[arg(long, value_name = "SOCKET")]
    pub(super) listen: PathBuf,
    /// Do not ask for real-time priority
    #[arg(long)]
    pub(super) ordinary_priority: bool,
}

pub(super) fn run(arguments: &Agent) -> Result<Exit, Exit> {
    let stop = signals::stop();
    let listener = bind(&arguments.listen).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    let listener = listener.map_err(|error| {
        message(&format!("cannot listen on {}: {error}", arguments.listen.display()));
        if error.kind() == io::ErrorKind::AlreadyExists { Exit::WrongInput } else { Exit::Failure }
    })?;
    remark(&format!("waits for a master on {}", arguments.listen.display()));
    thread::scope(|scope| {
        let mut waiting = VecDeque::new();
        let mut serving: Option<(ScopedJoinHandle<'_, ()>, Connection)> = None;
        while !stop.load(Ordering::Relaxed) {
            serving = serving.filter(|(thread, _)| !thread.is_finished());
            if serving.is_none()
                && let Some((side, said, _)) = waiting.pop_front()
            {
                let started = serve_beside(scope, side, said, arguments);
                serving = started.map_err(|error| remark(&format!("cannot serve a master: {error}"))).ok();
            }
            match welcome(&listener) {
                Some((side, said)) => waiting.push_back((side, said, Instant::now())),
                None => thread::sleep(LOOK),
            }
            let is_busy = serving.as_ref().is_some_and(|(_, master)| master.is_open());
            while is_busy
                && let Some((mut side, ..)) = waiting.pop_front_if(|(_, _, since)| since.elapsed() >= TURN)
            {
                remark("another master is sent away");
                let _ = side.refuse(&["the agent is busy with another master".to_owned()], false);
            }
        }
        if let Some((_, master)) = serving {
            // Whatever is waited for there, it ends.
            master.close();
        }
    });
    // It goes with the process; one that is killed leaves it, and the next agent takes its place.
    let _ = std::fs::remove_file(&arguments.listen);
    Ok(Exit::Holds)
}

/// The next master, if there is one.
fn welcome(listener: &UnixListener) -> Option<(Side, Receiver<Message>)> {
    let (client, _) = listener.accept().ok()?;
    client.set_nonblocking(false).and_then(|()| Side::new(client)).ok()
}

/// Serves a master in a thread.
fn serve_beside<'s, 'e>(
    scope: &'s thread::Scope<'s, 'e>,
    side: Side,
    said: Receiver<Message>,
    arguments: &'e Agent,
) -> io::Result<(ScopedJoinHandle<'s, ()>, Connection)> {
    let connection = side.connection()?;
    let thread = thread::Builder::new().name("agent".to_owned()).spawn_scoped(scope, move || {
        let words = serve(side, &said, arguments).unwrap_or_else(|error| unsent(&error));
        remark(&words);
    })?;
    Ok((thread, connection))
}

/// Why nothing can be said to a master.
fn unsent(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            format!("the master has read nothing for {} s", PATIENCE.as_secs())
        }
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => GONE.to_owned(),
        _ => format!("nothing can be said to the master: {error}"),
    }
}

const GONE: &str = "the master has gone";
const NOT_UNDERSTOOD: &str = "what the master says is not understood";

/// The next line of a master, or words why there is none.
fn next(said: &Receiver<Message>, within: Duration) -> Result<Value, String> {
    match said.recv_timeout(within) {
        Ok(Ok((line, _))) => Ok(line),
        Ok(Err(why)) => Err(format!("{NOT_UNDERSTOOD}: {why}")),
        Err(RecvTimeoutError::Timeout) => {
            Err(format!("the master has said nothing for {} s", within.as_secs()))
        }
        Err(RecvTimeoutError::Disconnected) => Err(GONE.to_owned()),
    }
}

/// Serves a master, and gives words on how that ended.
fn serve(mut side: Side, said: &Receiver<Message>, arguments: &Agent) -> io::Result<String> {
    let asked = match next(said, FIRST) {
        Ok(mut first) if first["run"].is_object() => first["run"].take(),
        Ok(_) => {
            side.refuse(&[NOT_UNDERSTOOD.to_owned()], false)?;
            return Ok(NOT_UNDERSTOOD.to_owned());
        }
        Err(why) => {
            // One that has gone does not read it.
            let _ = side.refuse(std::slice::from_ref(&why), false);
            return Ok(why);
        }
    };
    let mut refuse = |reasons: Vec<String>| {
        side.refuse(&reasons, true)?;
        Ok(format!("the run is refused: {}", shown(&reasons.join("; "))))
    };
    if asked["channel"] != CHANNEL {
        let other = match &asked["channel"] {
            Value::Null => "the master states none".to_owned(),
            Value::String(other) => format!("the master {other}"),
            _ => "the master states what is none".to_owned(),
        };
        return refuse(vec![format!("the agent has channel {CHANNEL}, and {other}")]);
    }
    let file = asked["file"].as_str().unwrap_or("description");
    let loaded = tautwire_workbench::load_text(file, asked["text"].as_str().unwrap_or_default());
    if loaded.network.is_none() {
        return refuse(diagnostics::lines(&loaded));
    }
    let Some(mut network) = loaded.network else { return refuse(Vec::new()) };
    network.set_seed(asked["seed"].as_u64().unwrap_or(network.run.seed));
    if let Some(duration) = asked["duration_ps"].as_u64() {
        network.set_duration(tautwire_workbench::Duration::from_ps(duration));
    }
    let name = asked["node"].as_str().unwrap_or_default();
    let Some(node) = network.nodes.iter().position(|node| node.name == name) else {
        return refuse(vec![format!("there is no node `{name}`")]);
    };
    let of = asked["name"].as_str().unwrap_or("a network");
    remark(&format!("runs `{}` of {}", shown(name), shown(of)));
    // Both closures talk to the master, one after the other, and know why the run is given up.
    let (side, why, told) = (RefCell::new(side), RefCell::new(String::new()), Cell::new(Instant::now()));
    let start = |words: &[String]| {
        let begun = side.borrow_mut().say("ready", json!(words)).map_err(|error| unsent(&error));
        let start = begun.and_then(|()| next(said, START)).and_then(|line| {
            let latest = monotonic() + START.as_nanos() as u64;
            line["start"].as_u64().filter(|at| *at <= latest).ok_or_else(|| NOT_UNDERSTOOD.to_owned())
        });
        start.map_err(|words| why.replace(words)).ok()
    };
    let watch = |progress: Progress| {
        let give_up = |words: String| {
            why.replace(words);
            Go::GiveUp
        };
        if told.get().elapsed() >= TELL {
            told.set(Instant::now());
            let value = json!({"done": progress.is_done, "between": progress.between});
            if let Err(error) = side.borrow_mut().say("progress", value) {
                return give_up(unsent(&error));
            }
        }
        if let Some(now) = &progress.counted
            && let Err(error) = side.borrow_mut().say("counted", counted(&network, now))
        {
            return give_up(unsent(&error));
        }
        match said.try_recv() {
            Ok(Ok((line, _))) if line["finish"] == true => Go::Finish,
            Ok(Ok(_)) => give_up(NOT_UNDERSTOOD.to_owned()),
            Ok(Err(words)) => give_up(format!("{NOT_UNDERSTOOD}: {words}")),
            Err(TryRecvError::Disconnected) => give_up(GONE.to_owned()),
            Err(TryRecvError::Empty) => Go::On,
        }
    };
    let is_real_time = !arguments.ordinary_priority;
    let ended = run_node(&network, NodeIndex::at(node), is_real_time, RECEPTIONS_MAX, start, watch);
    let (mut side, why) = (side.into_inner(), why.into_inner());
    let reason = match ended {
        Ok(Some((record, priority))) => {
            let words = record.words();
            if words.len() as u64 <= WORDS_MAX {
                side.give(&words, &json!(priority == Priority::RealTime))?;
                // The master closes the connection when it has all of it.
                let _ = next(said, START);
                return Ok("the run is over".to_owned());
            }
            format!("its record has {} words, and at most {WORDS_MAX} fit: make the run shorter", words.len())
        }
        Ok(None) => {
            let words = format!("{why}: the run is given up");
            // One that has gone does not read it.
            let _ = side.refuse(std::slice::from_ref(&words), false);
            return Ok(words);
        }
        Err(Cannot::Refused(reasons)) => {
            side.refuse(&reasons, true)?;
            return Ok(format!("the run is refused: {}", reasons.join("; ")));
        }
        Err(Cannot::Machine(why)) => why,
    };
    message(&reason);
    side.refuse(&[reason], false)?;
    Ok("the run is given up".to_owned())
}
