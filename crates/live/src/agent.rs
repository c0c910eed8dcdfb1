//! One node of the description on interfaces of this process's network namespace, as a part of a run whose other nodes are elsewhere; and the
//! observation of a run of which each node's record was gathered.

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time;

use tautwire_linux::{Clock, Priority};
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, PortIndex};
use tautwire_observe::SignedMoments;
use tautwire_sim::DropReason;

use crate::bridge_run::{Interface, Sockets, connected, interface, without_interfaces};
use crate::floor;
use crate::gptp::PrecisionTime;
use crate::node::Node;
use crate::plan::Plan;
use crate::record::NodeRecord;
use crate::run::{Cannot, LiveRun, observed};
use crate::support;
use crate::watch::{Asked, LiveStatus, Looking};
use crate::worker::{Shared, Station, Turn, work};

/// How often a run is watched.
const WATCH: time::Duration = time::Duration::from_millis(20);

/// Sets it when it goes.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// How far a node is.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Whether the run's time is over and it has nothing to send any more.
    pub is_done: bool,
    /// Frames that it has sent less those that it has received.
    pub between: i64,
    /// What it has counted, about each second.
    pub counted: Option<LiveStatus>,
}

/// How a node goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    /// It goes on.
    On,
    /// The run is over.
    Finish,
    /// Nobody wants its record any more.
    GiveUp,
}

/// Runs a node. When it is ready, `start` gets words on its interfaces and gives the reading of [`tautwire_linux::monotonic`] at
/// which the run starts; `watch` says how it goes on, up to the end of the run and behind it. The record is none if either gives up.
/// It holds at most `receptions_max` frames (see [`crate::RECEPTIONS_MAX`]).
///
/// # Errors
/// If the description asks for what it does not have, an interface, a right or a rate is missing, the start was missed, listeners
/// received more frames than the record holds, or a system call fails. An interface that goes down is no error.
pub fn run_node(
    network: &Network,
    node: NodeIndex,
    is_real_time: bool,
    receptions_max: usize,
    start: impl FnOnce(&[String]) -> Option<u64>,
    mut watch: impl FnMut(Progress) -> Go,
) -> Result<Option<(NodeRecord, Priority)>, Cannot> {
    let mut refusals = support::refusals(network);
    refusals.extend(without_interfaces(network, node));
    if !refusals.is_empty() {
        return Err(Cannot::Refused(refusals));
    }
    let plan = Plan::new(network);
    let mut words = Vec::new();
    let ports: Vec<PortIndex> = connected(network, node).collect();
    let interfaces = ports
        .iter()
        .map(|port| interface(network, *port, Sockets::Packet, &mut words))
        .collect::<Result<Vec<Interface>, Cannot>>()?;
    let rates = interfaces.iter().map(|interface| interface.rate).collect();
    let mut made = Node::new(network, &plan, node, network.run.seed).on_cables(rates);
    (made.counters.receptions, made.counters.receptions_max) = (Some(Vec::new()), receptions_max);
    // An interface puts its offloads back when it goes, at the end of this function.
    let sockets = ports
        .iter()
        .zip(&interfaces)
        .map(|(port, interface)| Ok((*port, interface.another()?)))
        .collect::<io::Result<Vec<_>>>()?;
    let precision = PrecisionTime::open(network, node)?;
    let Some(start) = start(&words) else { return Ok(None) };
    if tautwire_linux::monotonic() > start {
        return Err(Cannot::Machine("the start of the run was missed: this machine is too busy".to_owned()));
    }
    let mut stations = [Station { node: made, ports: sockets, device: None, capture: None }];
    let shared = Shared { is_part: true, asked: vec![Asked::default()], ..Shared::default() };
    let room = Mutex::new(None);
    let turn = Turn {
        clock: Clock::starting_at(start),
        end: network.run.duration.as_ps().div_ceil(1000),
        number: node.index(),
        threads: 1,
        is_real_time,
    };
    let (is_wanted, is_over) = (AtomicBool::new(true), AtomicBool::new(false));
    let (priority, kept) = std::thread::scope(|scope| {
        let (shared, stations, is_over, room) = (&shared, &mut stations, &is_over, &room);
        let keeping = precision.map(|precision| {
            std::thread::Builder::new()
                .name("gptp".to_owned())
                .spawn_scoped(scope, move || precision.observe(turn.clock, is_over, Some(room)))
        });
        let keeping = keeping.transpose()?;
        // However the node ends, its gPTP ends with it.
        let _ends = Ends(is_over);
        let thread = std::thread::Builder::new()
            .name("node".to_owned())
            .spawn_scoped(scope, move || work(stations, turn, shared))?;
        let mut looking = Looking::new(&shared.asked[0], turn.clock, room);
        while !thread.is_finished() {
            let progress = Progress {
                counted: looking.look(),
                is_done: shared.done.load(Ordering::Relaxed) == 1,
                between: shared.between.load(Ordering::Relaxed),
            };
            let go = watch(progress);
            is_wanted.store(go != Go::GiveUp, Ordering::Relaxed);
            if go != Go::On {
                shared.over.store(true, Ordering::Relaxed);
                break;
            }
            std::thread::sleep(WATCH);
        }
        let panicked = || io::Error::other("a thread of the node panicked");
        let priority = thread.join().unwrap_or_else(|_| Err(panicked()))?;
        is_over.store(true, Ordering::Relaxed);
        let kept = keeping.map(|thread| thread.join().unwrap_or_else(|_| Err(panicked())));
        Ok::<_, io::Error>((priority, kept.transpose()?))
    })?;
    if !is_wanted.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let [station] = stations;
    Ok(Some((NodeRecord { clock: kept, ..NodeRecord::of(station)? }, priority)))
}

/// The observation of a run of which these nodes have records. Other nodes are bridges that nobody asked: what they lost is not known.
///
/// # Errors
/// If this machine's floor cannot be measured.
pub fn gathered(
    network: &Network,
    mut records: Vec<(NodeIndex, NodeRecord)>,
    priority: Priority,
) -> Result<LiveRun, Cannot> {
    let mut floor = floor::measure(None)?;
    (floor.threads, floor.priority) = (records.len(), priority);
    let is_whole = records.len() == network.nodes.len();
    if !is_whole {
        // Each of a stream's listeners gets a copy, wherever it is made.
        for (_, record) in &mut records {
            for (stream, created) in &record.counters.created {
                let copies = network.streams[*stream as usize].listeners.len().saturating_sub(1) as u64;
                let own = record.counters.replicated.entry(*stream).or_default();
                *own = created * copies;
            }
        }
    }
    let observed_nodes: Vec<NodeIndex> = records.iter().map(|(node, _)| *node).collect();
    for clock in records.iter_mut().filter_map(|(_, record)| record.clock.as_mut()) {
        // What the clock of another grandmaster reads is not known.
        if clock.grandmaster.is_some_and(|node| !observed_nodes.contains(&node)) {
            clock.offset = SignedMoments::default();
        }
    }
    // What is sent to an interface that is down is lost on the way, without a word to the sender.
    let was_down = records.iter().any(|(_, record)| record.was_down());
    let between = if is_whole && !was_down { DropReason::SocketBufferFull } else { DropReason::Unknown };
    Ok(observed(network, records.into_iter().map(|(_, record)| record).collect(), floor, between))
}
