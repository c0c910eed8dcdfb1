//! Central configuration in a run: CUC, CNC and the bridges that they configure, and their messages on the links.
//!
//! Every node takes what it hears one after the other, each for its time; a test of the CNC takes its own behind the message that
//! asked for it. Messages are frames of their channel's stream; they have no format in `wire`, so what they say travels beside them,
//! by its number (`frames.rs`). What a message does is in `roles.rs`, what a stream needs where in `paths.rs`, the CNC's test of
//! bandwidth in `test.rs`.

mod frames;
mod paths;
mod roles;
mod test;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tautwire_core::central::{Channel, Controller, Message, Pair, Segment, UserConfiguration};
use tautwire_model::Network;
use tautwire_model::central::CentralConfiguration;
use tautwire_model::network::StreamIndex;
use tautwire_model::network::{NodeIndex, NodeKind};
use tautwire_units::Instant;
use tautwire_wire::srp::FailureCode;

pub use self::test::AdmissionControl;

use self::test::Test;
use crate::clock::{LocalClock, SimTime};
use crate::plan::index;
use crate::random::{Purpose, Random};
use crate::refusal::Refusal;

/// Central configuration of a run.
pub(super) struct Central {
    nodes: Vec<CentralNode>,
    /// When each node acts next.
    agenda: BTreeSet<(SimTime, u32)>,
    /// The stream of each channel's direction, and the other way round.
    streams: BTreeMap<(u32, u32), StreamIndex>,
    ends: BTreeMap<u32, (u32, u32)>,
    /// Frames on their way, by stream.
    on_line: BTreeMap<u32, VecDeque<(u32, Segment<Message>)>>,
    test: Test,
    refusals: Vec<Refusal>,
}

/// What a node of central configuration is and does.
struct CentralNode {
    channels: BTreeMap<u32, Channel<Message>>,
    inbox: VecDeque<Work>,
    /// What it is at, and until when.
    doing: Option<(SimTime, Work)>,
    controller: Option<Controller>,
    users: Option<UserConfiguration>,
    /// Of a bridge: for whom it holds what, by port and stream, with the class and the bits in a second.
    held: BTreeMap<(usize, u32), (BTreeSet<u32>, usize, u64)>,
    /// Of an end station: what it asks for as soon as it is offered, and what is offered.
    waits_for: BTreeSet<Pair>,
    available: BTreeSet<Pair>,
    random: Random,
    session: u32,
    due: Option<SimTime>,
}

/// What waits for a node's processor.
#[derive(Clone, Debug)]
enum Work {
    Heard(u32, Message, Role),
    Restarted(u32),
    /// The CNC tests a reservation.
    Test(Pair),
}

/// As what a node hears a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Cuc,
    Cnc,
    /// End station or bridge.
    Node,
}

/// The settings of a run that has central configuration.
fn settings(network: &Network) -> &CentralConfiguration {
    let reservation = network.srp.as_ref().expect("stream reservation");
    reservation.central.as_ref().expect("central configuration")
}

impl Central {
    /// None where bridges decide among themselves.
    pub(super) fn new(
        network: &Network,
        clocks: &[LocalClock],
        seed: u64,
        bounds: Option<Box<dyn AdmissionControl>>,
    ) -> Option<Self> {
        let settings = network.srp.as_ref()?.central.as_ref()?;
        let mut central = Self {
            nodes: Vec::new(),
            agenda: BTreeSet::new(),
            streams: settings
                .channels
                .iter()
                .map(|channel| ((channel.from.0, channel.to.0), channel.stream))
                .collect(),
            ends: settings
                .channels
                .iter()
                .map(|channel| (channel.stream.0, (channel.from.0, channel.to.0)))
                .collect(),
            on_line: BTreeMap::new(),
            test: Test::new(network, settings.test, bounds),
            refusals: Vec::new(),
        };
        for (number, clock) in clocks.iter().enumerate() {
            let now = clock.local(SimTime::ZERO);
            central.nodes.push(CentralNode::new(network, number, 0, now, seed));
            central.schedule(number, *clock, SimTime::ZERO);
        }
        Some(central)
    }

    /// What the CNC refused, in order of time.
    pub(super) fn refusals(self) -> Vec<Refusal> {
        self.refusals
    }

    /// When something is to be done next.
    pub(super) fn next(&self) -> Option<SimTime> {
        self.agenda.first().map(|(time, _)| *time)
    }

    /// Puts a node's next instant into the agenda.
    fn schedule(&mut self, number: usize, clock: LocalClock, now: SimTime) {
        let node = &mut self.nodes[number];
        let frames = node.channels.values().filter_map(Channel::deadline).min();
        let frames = frames.map(|at| clock.true_at(at));
        let work = match &node.doing {
            Some((until, _)) => Some(*until),
            None => (!node.inbox.is_empty()).then_some(now),
        };
        let due = frames.into_iter().chain(work).min().map(|due| due.max(now));
        if due != node.due {
            if let Some(before) = node.due.take() {
                self.agenda.remove(&(before, index(number)));
            }
            self.agenda.extend(due.map(|due| (due, index(number))));
            self.nodes[number].due = due;
        }
    }

    /// The reserved stream and the listener of a pair.
    fn listener_of(network: &Network, pair: Pair) -> NodeIndex {
        let reserved = &network.srp.as_ref().expect("stream reservation").streams;
        let stream = &network.streams[reserved[pair.stream as usize].stream.index()];
        stream.listeners[pair.listener as usize]
    }
}

impl CentralNode {
    fn new(network: &Network, number: usize, session: u32, now: Instant, seed: u64) -> Self {
        let settings = settings(network);
        let peers = settings.channels.iter().filter(|channel| channel.from.index() == number);
        let is = |node: NodeIndex| node.index() == number;
        let cuc = settings.cuc.filter(|cuc| is(*cuc));
        Self {
            channels: peers
                .map(|channel| (channel.to.0, Channel::new(settings.timing, session, now)))
                .collect(),
            inbox: VecDeque::new(),
            doing: None,
            controller: is(settings.cnc).then(|| paths::controller(network)),
            users: cuc.map(|_| paths::users(network)),
            held: BTreeMap::new(),
            waits_for: BTreeSet::new(),
            available: BTreeSet::new(),
            random: Random::new(seed, Purpose::Central, number + ((session as usize) << 24)),
            session,
            due: None,
        }
    }

    /// What a message that comes from another node is heard as.
    fn role(&self, message: &Message) -> Role {
        match message {
            Message::Offer(_) | Message::Withdraw(_) | Message::Ask(_) | Message::Detach(_) => {
                if self.users.is_some() { Role::Cuc } else { Role::Cnc }
            }
            Message::Configured { .. } | Message::Cable(..) => Role::Cnc,
            Message::Verdict(..) if self.users.is_some() => Role::Cuc,
            _ => Role::Node,
        }
    }
}

/// Whether a node is a bridge.
fn is_bridge(network: &Network, node: usize) -> bool {
    matches!(network.nodes[node].kind, NodeKind::Bridge { .. })
}

/// The verdict of a CNC whose bounds do not hold: the latency would be too long (802.1Q-2022 Table 46-15).
const MAX_LATENCY_EXCEEDED: FailureCode = FailureCode(21);
/// The verdict of a CNC where a frame could be lost: a bridge has not the resources.
const NO_RESOURCES: FailureCode = FailureCode(2);
