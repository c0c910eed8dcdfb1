//! `tautwire master`: a run of a description whose nodes are agents, next to bound and simulation.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration as Span, Instant};

use clap::Args;
use serde_json::{Value, json};
use tautwire_live::{NodeRecord, Priority, gathered, monotonic, refusals};
use tautwire_workbench::network::NodeIndex;
use tautwire_workbench::{Duration, Network, RunFolderWriter, Scenario};

use super::live::{cannot, conclude};
use super::live_status::{StatusFile, together};
use super::run::{not_written, with_length};
use super::test_channel::{CHANNEL, Message, Side, shown};
use super::{message, remark, scenario};
use crate::args::{Input, duration};
use crate::exit::Exit;
use crate::signals;

pub(super) const HELP: &str = "\
Examples:
  tautwire master network.yaml --agent a=/run/a.sock --agent b=/run/b.sock
  tautwire master network.yaml --agent a=/run/a.sock --agent b=/run/b.sock --duration 10s --out runs/test

Each end station that talks or listens needs an agent (tautwire agent) on this machine; bridges may
have one, or run by themselves (tautwire bridge, or a device). Agents start at one reading of the
machine's clock. Table and results are those of tautwire live. No verdict rests on delays.

Exit codes: 0 every frame arrived once and in order, 1 at least one did not, 2 wrong input, or a
part of the description that is not run live, 3 failure: an agent does not answer, or goes.";

/// How long an agent may take until it is ready.
const READY: Span = Span::from_secs(30);
/// How long it may be silent in the run and behind it.
const SILENCE: Span = Span::from_secs(10);
/// Distance of two writings of what was counted.
const EVERY: Span = Span::from_millis(900);
/// How long before its start all know it.
const AHEAD: u64 = 1_000_000_000;
/// How long frames may be on their way behind the end.
const DRAIN: u64 = 1_000_000_000;

/// A run whose nodes are agents.
#[derive(Debug, Args)]
pub(crate) struct Master {
    #[command(flatten)]
    pub(super) input: Input,
    /// A node and the socket of its agent
    #[arg(long = "agent", value_name = "NODE=SOCKET", value_parser = agent, required = true)]
    pub(super) agents: Vec<(String, PathBuf)>,
    /// Seed of the random numbers, instead of the description's
    #[arg(long, value_name = "NUMBER")]
    pub(super) seed: Option<u64>,
    /// Time of the run, with its unit (250ms, 10s), instead of the description's
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub(super) duration: Option<Duration>,
    /// Folder for the results [default: runs/<scenario>-<seed>]
    #[arg(long, value_name = "FOLDER")]
    pub(super) out: Option<PathBuf>,
}

fn agent(text: &str) -> Result<(String, PathBuf), String> {
    let (node, socket) = text.split_once('=').ok_or("a node and a socket are needed, as a=/run/a.sock")?;
    Ok((node.to_owned(), PathBuf::from(socket)))
}

pub(super) fn run(arguments: &Master) -> Result<Exit, Exit> {
    let scenario = with_length(scenario(&arguments.input.path)?, arguments.seed, arguments.duration)?;
    let network = &scenario.network;
    let nodes = nodes(network, &arguments.agents)?;
    let (place, _) = match &arguments.out {
        Some(place) => (place.clone(), None),
        None => scenario.run_folder(Path::new("")),
    };
    let writer = RunFolderWriter::create(&place).map_err(|error| not_written(&place, &error))?;
    signals::remove_on_kill(writer.temporary());
    let status = StatusFile::new(&scenario, writer.temporary().to_owned())
        .map_err(|error| not_written(&place, &error))?;
    let mut agents = Agents::connect(&scenario, &nodes, &arguments.agents)?;
    agents.ready()?;
    agents.run(&status)?;
    status.end();
    let (records, priority) = agents.records(network)?;
    drop(agents);
    let mut differences = tautwire_live::differences(network);
    for (node, _) in records.iter().filter(|(_, record)| record.was_down()) {
        let name = &network.nodes[node.index()].name;
        differences.push(format!(
            "an interface of `{name}` was down for a time; what was lost behind it has no reason"
        ));
    }
    if network.gptp.is_some() && records.len() < network.nodes.len() {
        differences.push("offsets from a grandmaster without an agent are not known".to_owned());
    }
    let lived = gathered(network, records, priority).map_err(|error| cannot(&error))?;
    let others = network.nodes.iter().enumerate().filter(|(node, _)| !nodes.contains(&NodeIndex::at(*node)));
    let others: Vec<String> = others.map(|(_, node)| format!("`{}`", node.name)).collect();
    if !others.is_empty() {
        let others = others.join(", ");
        differences
            .push(format!("without an agent, and not observed: {others}; what is lost there has no reason"));
    }
    conclude(&scenario, ("master", arguments.input.json), &lived, differences, (writer, &place), false)
}

/// The nodes of agents, each once; those that talk or listen have one.
fn nodes(network: &Network, agents: &[(String, PathBuf)]) -> Result<Vec<NodeIndex>, Exit> {
    let mut faults = refusals(network);
    let mut nodes = Vec::new();
    for (name, _) in agents {
        match network.nodes.iter().position(|node| node.name == *name).map(NodeIndex::at) {
            None => faults.push(format!("there is no node `{name}`")),
            Some(node) if nodes.contains(&node) => faults.push(format!("`{name}` has two agents")),
            Some(node) => nodes.push(node),
        }
    }
    for (number, node) in network.nodes.iter().enumerate() {
        let number = NodeIndex::at(number);
        let has_part = |stream: &tautwire_workbench::network::Stream| {
            // Frames of gPTP are the concern of no agent.
            let is_message = stream.traffic.is_control();
            !is_message && (stream.talker == number || stream.listeners.contains(&number))
        };
        if !nodes.contains(&number) && network.streams.iter().any(has_part) {
            faults.push(format!("`{}` talks or listens, and has no agent: --agent {0}=SOCKET", node.name));
        }
    }
    if faults.is_empty() {
        return Ok(nodes);
    }
    faults.iter().for_each(|fault| message(fault));
    Err(Exit::WrongInput)
}

/// An agent.
struct Agent {
    name: String,
    node: NodeIndex,
    side: Side,
    is_ready: bool,
    /// Its last two reports: whether it is done, and frames sent less those received.
    reports: [Option<(bool, i64)>; 2],
    last: Instant,
    result: Option<(Value, Vec<u64>)>,
    /// What it has counted, last.
    counted: Value,
}

/// The agents of a run.
struct Agents {
    all: Vec<Agent>,
    /// By number of the agent; nothing if it has gone.
    said: Receiver<(usize, Option<Message>)>,
    /// Whether every node has an agent.
    is_whole: bool,
    /// Nanoseconds of the run.
    length: u64,
    /// Whether an agent has counted more than what was written last.
    is_news: bool,
}

impl Agents {
    fn connect(
        scenario: &Scenario,
        nodes: &[NodeIndex],
        sockets: &[(String, PathBuf)],
    ) -> Result<Self, Exit> {
        let network = &scenario.network;
        let (sender, said) = channel();
        let mut all = Vec::new();
        for (number, (node, (name, socket))) in nodes.iter().zip(sockets).enumerate() {
            let no = |error: std::io::Error| {
                message(&format!("the agent of `{name}` does not answer on {}: {error}", socket.display()));
                Exit::Failure
            };
            let (mut side, lines) = UnixStream::connect(socket).and_then(Side::new).map_err(no)?;
            let run = json!({
                "channel": CHANNEL,
                "name": network.name,
                "file": scenario.file,
                "node": name,
                "text": scenario.text,
                "seed": network.run.seed,
                "duration_ps": network.run.duration.as_ps(),
            });
            side.say("run", run).map_err(no)?;
            pass_on(number, lines, sender.clone()).map_err(no)?;
            all.push(Agent {
                name: name.clone(),
                node: *node,
                side,
                is_ready: false,
                reports: [None; 2],
                last: Instant::now(),
                result: None,
                counted: Value::Null,
            });
        }
        let length = network.run.duration.as_ps().div_ceil(1000);
        Ok(Self { is_whole: all.len() == network.nodes.len(), all, said, length, is_news: false })
    }

    /// Takes what comes within a moment. An agent that goes, refuses or is silent ends the run.
    fn look(&mut self, silence: Span) -> Result<(), Exit> {
        if let Ok((number, said)) = self.said.recv_timeout(Span::from_millis(20)) {
            let agent = &mut self.all[number];
            agent.last = Instant::now();
            let Some(said) = said else {
                if agent.result.is_some() {
                    return Ok(());
                }
                message(&format!("the agent of `{}` has gone: the run is given up", agent.name));
                return Err(Exit::Failure);
            };
            let not_understood = |why: &str| {
                message(&format!("`{}`: what it says is not understood{why}", agent.name));
                Exit::Failure
            };
            let (mut line, words) = said.map_err(|why| not_understood(&format!(": {why}")))?;
            if let Some(ready) = line["ready"].as_array() {
                agent.is_ready = true;
                ready.iter().filter_map(|word| word.as_str()).for_each(|word| {
                    remark(&format!("`{}`: {}", agent.name, shown(word)));
                });
            } else if line["progress"].is_object() {
                let progress = &line["progress"];
                let report = (progress["done"] == true, progress["between"].as_i64().unwrap_or(0));
                agent.reports = [agent.reports[1], Some(report)];
            } else if line["counted"].is_object() {
                agent.counted = line["counted"].take();
                self.is_news = true;
            } else if line["result"].is_object() {
                agent.result = Some((line, words));
            } else {
                let refused = &line["refused"];
                let reasons: Vec<&str> = refused["reasons"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(|one| one.as_str())
                    .collect();
                if reasons.is_empty() {
                    return Err(not_understood(""));
                }
                for reason in reasons {
                    message(&format!("`{}`: {}", agent.name, shown(reason)));
                }
                return Err(if refused["is_input"] == true { Exit::WrongInput } else { Exit::Failure });
            }
        }
        let is_silent = |agent: &&Agent| {
            agent.result.is_none() && agent.last.elapsed() > silence && agent.side.silence() > silence
        };
        match self.all.iter().find(is_silent) {
            Some(agent) => {
                let silence = silence.as_secs();
                message(&format!(
                    "the agent of `{}` has said nothing for {silence} s: the run is given up",
                    agent.name
                ));
                Err(Exit::Failure)
            }
            None => Ok(()),
        }
    }

    fn say(&mut self, key: &str, value: &Value) -> Result<(), Exit> {
        for agent in &mut self.all {
            agent.side.say(key, value.clone()).map_err(|error| {
                message(&format!("the agent of `{}` has gone: {error}", agent.name));
                Exit::Failure
            })?;
        }
        Ok(())
    }

    fn ready(&mut self) -> Result<(), Exit> {
        while !self.all.iter().all(|agent| agent.is_ready) {
            // One that is ready says nothing more until all are.
            self.all.iter_mut().filter(|agent| agent.is_ready).for_each(|agent| agent.last = Instant::now());
            self.look(READY)?;
        }
        Ok(())
    }

    /// Starts all at one instant, and ends when no frame is on its way any more.
    fn run(&mut self, status: &StatusFile) -> Result<(), Exit> {
        let start = monotonic() + AHEAD;
        self.all.iter_mut().for_each(|agent| agent.last = Instant::now());
        self.say("start", &json!(start))?;
        let end = start + self.length;
        let mut written = Instant::now();
        while monotonic() < end + DRAIN && !(self.is_whole && self.nothing_is_between()) {
            self.look(SILENCE)?;
            if self.is_news && written.elapsed() >= EVERY {
                (self.is_news, written) = (false, Instant::now());
                status.write(together(self.all.iter().map(|agent| &agent.counted)));
            }
        }
        self.say("finish", &json!(true))
    }

    /// Whether all are done and as many frames were received as were sent, by two reports of each, between which nothing changed.
    fn nothing_is_between(&self) -> bool {
        let is_still = |agent: &Agent| {
            let [before, last] = agent.reports;
            last.is_some_and(|(is_done, _)| is_done) && before == last
        };
        let between = |agent: &Agent| agent.reports[1].map_or(0, |(_, between)| i128::from(between));
        self.all.iter().all(is_still) && self.all.iter().map(between).sum::<i128>() == 0
    }

    /// The records of all, and the least priority.
    fn records(&mut self, network: &Network) -> Result<(Vec<(NodeIndex, NodeRecord)>, Priority), Exit> {
        while !self.all.iter().all(|agent| agent.result.is_some()) {
            self.look(SILENCE)?;
        }
        let mut priority = Priority::RealTime;
        let mut records = Vec::new();
        for agent in &self.all {
            let (line, words) = agent.result.as_ref().expect("all have one");
            let Some(record) = NodeRecord::read(words, network, agent.node) else {
                message(&format!("the record of `{}` is none of this network", agent.name));
                return Err(Exit::Failure);
            };
            if line["result"]["priority"] != true {
                priority = Priority::Ordinary;
            }
            records.push((agent.node, record));
        }
        Ok((records, priority))
    }
}

/// Passes on what an agent says, with its number, and that it has gone.
fn pass_on(
    number: usize,
    lines: Receiver<Message>,
    to: Sender<(usize, Option<Message>)>,
) -> std::io::Result<()> {
    thread::Builder::new().name("agent".to_owned()).spawn(move || {
        for line in lines {
            if to.send((number, Some(line))).is_err() {
                return;
            }
        }
        let _ = to.send((number, None));
    })?;
    Ok(())
}
