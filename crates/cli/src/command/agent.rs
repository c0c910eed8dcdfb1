//! `tautwire agent`: runs a node of a description for a master, run after run.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};
use tautwire_live::{Cannot, Go, Priority, Progress, RECEPTIONS_MAX, run_node};
use tautwire_workbench::network::NodeIndex;

use super::admit_socket::bind;
use super::test_channel::{CHANNEL, Message, Side};
use super::{message, remark};
use crate::exit::Exit;
use crate::signals;

pub(super) const HELP: &str = "\
Examples:
  tautwire agent --listen /run/a.sock
  ip netns exec station-a tautwire agent --listen /run/a.sock

It waits for a master (tautwire master), runs the node that this one names on the interfaces of the
network namespace in which it is started, and gives its record back. If the master goes, the run is given
up and the next one is awaited. The socket is its owner's alone. SIGINT, SIGTERM and SIGHUP end it.

Exit codes: 0 it was stopped, 2 the socket is taken, 3 failure.";

/// How often it looks whether it is stopped.
const LOOK: Duration = Duration::from_millis(20);
/// How long a master may take for its first line.
const FIRST: Duration = Duration::from_secs(10);
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
    while !stop.load(Ordering::Relaxed) {
        match listener.accept() {
            Ok((client, _)) => {
                if let Err(error) =
                    client.set_nonblocking(false).and_then(|()| serve(client, arguments, &stop))
                {
                    remark(&format!("the master has gone: {error}"));
                }
            }
            Err(_) => thread::sleep(LOOK),
        }
    }
    // It goes with the process; one that is killed leaves it, and the next agent takes its place.
    let _ = std::fs::remove_file(&arguments.listen);
    Ok(Exit::Holds)
}

/// Serves a master.
fn serve(client: UnixStream, arguments: &Agent, stop: &AtomicBool) -> io::Result<()> {
    let (mut side, said) = Side::new(client)?;
    let Ok((first, _)) = said.recv_timeout(FIRST) else { return Err(io::ErrorKind::TimedOut.into()) };
    let asked = &first["run"];
    let refused = |reasons: Vec<String>| json!({"reasons": reasons, "is_input": true});
    if asked["channel"] != CHANNEL {
        let why = format!("the agent has channel {CHANNEL}, and the master {}", asked["channel"]);
        return side.say("refused", refused(vec![why]));
    }
    let loaded = tautwire_workbench::load_text("description", asked["text"].as_str().unwrap_or_default());
    let reasons: Vec<String> = loaded.diagnostics.iter().map(|fault| fault.message.clone()).collect();
    let Some(mut network) = loaded.network else { return side.say("refused", refused(reasons)) };
    network.set_seed(asked["seed"].as_u64().unwrap_or(network.run.seed));
    if let Some(duration) = asked["duration_ps"].as_u64() {
        network.set_duration(tautwire_workbench::Duration::from_ps(duration));
    }
    let name = asked["node"].as_str().unwrap_or_default();
    let Some(node) = network.nodes.iter().position(|node| node.name == name) else {
        return side.say("refused", refused(vec![format!("there is no node `{name}`")]));
    };
    remark(&format!("runs `{name}` of {}", asked["name"].as_str().unwrap_or("a network")));
    let mut told = Instant::now();
    // Both closures talk to the master, one after the other.
    let side = std::cell::RefCell::new(side);
    let start = |words: &[String]| {
        side.borrow_mut().say("ready", json!(words)).ok()?;
        wait(&said, stop, |line| line["start"].as_u64())
    };
    let watch = |progress: Progress| {
        if told.elapsed() >= TELL {
            told = Instant::now();
            let value = json!({"done": progress.is_done, "between": progress.between});
            if side.borrow_mut().say("progress", value).is_err() {
                return Go::GiveUp;
            }
        }
        match said.try_recv() {
            Ok((line, _)) if line["finish"] == true => Go::Finish,
            Err(TryRecvError::Disconnected) => Go::GiveUp,
            _ if stop.load(Ordering::Relaxed) => Go::GiveUp,
            _ => Go::On,
        }
    };
    let is_real_time = !arguments.ordinary_priority;
    let ended = run_node(&network, NodeIndex::at(node), is_real_time, RECEPTIONS_MAX, start, watch);
    let mut side = side.into_inner();
    match ended {
        Ok(Some((record, priority))) => {
            side.give(&record.words(), &json!(priority == Priority::RealTime))?;
            // The master closes the connection when it has all of it.
            let _ = wait(&said, stop, |_| None::<()>);
            remark("the run is over");
            Ok(())
        }
        Ok(None) => {
            remark("the run is given up");
            Ok(())
        }
        Err(Cannot::Refused(reasons)) => side.say("refused", refused(reasons)),
        Err(Cannot::Machine(why)) => {
            message(&why);
            side.say("refused", json!({"reasons": [why], "is_input": false}))
        }
    }
}

/// Waits for a line that is wanted; none if the master goes, or the agent is stopped.
fn wait<T>(said: &Receiver<Message>, stop: &AtomicBool, wanted: impl Fn(&Value) -> Option<T>) -> Option<T> {
    while !stop.load(Ordering::Relaxed) {
        match said.recv_timeout(LOOK) {
            Ok((line, _)) => {
                if let Some(found) = wanted(&line) {
                    return Some(found);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
    None
}
