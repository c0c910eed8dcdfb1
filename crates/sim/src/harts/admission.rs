//! Central admission in a run: requests, the masters of the switches, the ACMaster and its standby, their messages on the links.
//!
//! A control message is a frame of its port's own stream; who wrote it and whom it is for stands beside its octets, as their format has
//! no place for it. A node that it is not for sends it on when its last bit is in. Whom it is for takes its time over it, one message
//! after the other; the ACMaster's test is such work too, and its result is the caller's ([`Options`](crate::Options)).
//! When a switch is told of a stream, frames of it go by the server that its master derives, wait in the memory pool that it
//! derives, and are policed; before, they go by the background server. When it is told that the stream is gone, frames of it go nowhere, those
//! that wait neither. Invariant: a talker sends nothing of a stream that it was not granted.

mod drive;

use std::collections::{BTreeMap, VecDeque};

use tautwire_core::harts::{AcConfig, AcMaster, SwitchMaster, Topology};
use tautwire_model::Network;
use tautwire_model::harts::admission::HartsAdmission;
use tautwire_model::network::{Delay, NodeIndex, NodeKind, StreamIndex};
use tautwire_model::test_growth::TestGrowth;
use tautwire_units::{Duration, Instant};
use tautwire_wire::harts::{FttMessage, FttStream};

use crate::clock::{LocalClock, SimTime};
use crate::control::contents::Beside;
use crate::harts::{
    AdmissionEvent, AdmissionRung, HartsObservation, MasterState, RequestObservation, SwitchLink,
};
use crate::plan::{NONE, index};
use crate::random::{Purpose, Random};
use crate::refusal::Refusal;

/// Identifiers of the ACMaster and its standby; all others have those of their nodes.
const MASTER: u16 = 0xfff0;
const STANDBY: u16 = 0xfff1;

/// Central admission of a run.
pub(crate) struct Admission {
    settings: HartsAdmission,
    /// Who takes messages, by identifier.
    entities: BTreeMap<u16, Entity>,
    switches: Vec<Option<SwitchMaster>>,
    masters: Vec<Master>,
    topology: Topology,
    /// Per node, per node: the port towards it, or [`NONE`].
    towards: Vec<Vec<u32>>,
    /// What applications do, in order of time, and how much of it is done.
    agenda: Vec<(SimTime, u32, StreamIndex, Asking)>,
    asked: usize,
    /// Per stream: links of its way; and those of all that stand from the start.
    links: Vec<u64>,
    standing_links: u64,
    requests: Vec<RequestObservation>,
    ladder: Vec<AdmissionRung>,
    refusals: Vec<Refusal>,
    random: Random,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asking {
    Request,
    Release,
}

struct Entity {
    node: u32,
    inbox: VecDeque<FttMessage>,
    /// Streams that are to be tested, with the consumer that is new.
    tests: VecDeque<(FttStream, u16)>,
    /// What it works at, until then.
    work: Option<(SimTime, Work)>,
}

enum Work {
    Message(FttMessage),
    Test(FttStream, u16),
}

struct Master {
    machine: AcMaster,
    node: u32,
    /// How often its switch came back.
    life: u32,
    tests: u64,
    was_active: bool,
}

impl Admission {
    /// None in a network without central admission.
    pub(crate) fn new(network: &Network, clocks: &[LocalClock], seed: u64) -> Option<Self> {
        let settings = network.harts.as_ref()?.admission.as_ref()?.clone();
        let topology = topology(network, &settings);
        let mut entities = BTreeMap::new();
        let entity = |node: u32| Entity { node, inbox: VecDeque::new(), tests: VecDeque::new(), work: None };
        let mut switches = Vec::new();
        for (number, node) in network.nodes.iter().enumerate() {
            entities.insert(short(number), entity(index(number)));
            let is_bridge = matches!(node.kind, NodeKind::Bridge { .. });
            let config = network.switch_config(NodeIndex::at(number), MASTER).filter(|_| is_bridge);
            switches.push(config.map(SwitchMaster::new));
        }
        let mut masters = Vec::new();
        for (me, at) in [(MASTER, Some(settings.master)), (STANDBY, settings.standby)] {
            let Some(at) = at else { continue };
            entities.insert(me, entity(at.0));
            masters.push(Master::new(
                me,
                at.0,
                &settings,
                &topology,
                clocks[at.index()].local(SimTime::ZERO),
                0,
            ));
        }
        let mut agenda = Vec::new();
        let mut requests = Vec::new();
        for request in &settings.requests {
            let stream = &network.streams[request.stream.index()];
            let mut ask = |node: NodeIndex, at: Duration| {
                agenda.push((SimTime::ZERO + at, node.0, request.stream, Asking::Request));
                requests.push(RequestObservation::of(request.stream, node, node == stream.talker));
            };
            ask(stream.talker, request.at);
            let consumers = || settings.consumers(request.stream);
            consumers().for_each(|consumer| ask(consumer.node, consumer.at));
            let parts = consumers().filter_map(|consumer| Some((consumer.release_at?, consumer.node)));
            let releases = request.release_at.map(|at| (at, stream.talker)).into_iter().chain(parts);
            agenda.extend(
                releases.map(|(at, node)| (SimTime::ZERO + at, node.0, request.stream, Asking::Release)),
            );
        }
        agenda.sort_by_key(|(at, ..)| *at);
        let links: Vec<u64> = network.streams.iter().map(|stream| stream.hops.len() as u64).collect();
        let standing_links = network.standing_from_the_start().map(|stream| links[stream.index()]).sum();
        Some(Self {
            links,
            standing_links,
            towards: (0..network.nodes.len()).map(|node| towards(network, node)).collect(),
            settings,
            entities,
            switches,
            masters,
            topology,
            agenda,
            asked: 0,
            requests,
            ladder: Vec::new(),
            refusals: Vec::new(),
            random: Random::new(seed, Purpose::Ftt, 1),
        })
    }

    /// When something is to be done next; `clock` gives that of a node that is not stopped.
    pub(crate) fn next(&self, clock: impl Fn(usize) -> Option<LocalClock>) -> Option<SimTime> {
        let works = self.entities.values().filter_map(|entity| entity.work.as_ref().map(|(at, _)| *at));
        let asks = self.agenda.get(self.asked).map(|(at, ..)| *at);
        let deadline =
            |master: &Master| Some(clock(master.node as usize)?.true_at(master.machine.deadline()?));
        let of_switch = |(node, switch): (usize, &Option<SwitchMaster>)| {
            Some(clock(node)?.true_at(switch.as_ref()?.deadline()?))
        };
        let switches = self.switches.iter().enumerate().filter_map(of_switch);
        works.chain(asks).chain(self.masters.iter().filter_map(deadline)).chain(switches).min()
    }

    /// What was refused, in order of time, once.
    pub(crate) fn take_refusals(&mut self) -> Vec<Refusal> {
        std::mem::take(&mut self.refusals)
    }

    /// What was observed: requests, what happened in order of time, what each ACMaster holds at the end, and the links.
    pub(crate) fn finish(self, seen: &mut HartsObservation) {
        let state = |master: Master| MasterState {
            switch: NodeIndex(master.node),
            active: master.machine.is_active(),
            tests: master.tests,
            standing: master
                .machine
                .standing()
                .map(|(stream, _)| StreamIndex(u32::from(stream.id)))
                .collect(),
        };
        let links = self.switches.iter().enumerate().flat_map(|(node, switch)| {
            let of_switch = switch.iter().flat_map(SwitchMaster::links);
            of_switch.map(move |link| SwitchLink {
                switch: NodeIndex::at(node),
                neighbour: NodeIndex(u32::from(link.neighbour)),
                up: link.up,
                reserved: link.reserved,
            })
        });
        seen.links = links.collect();
        (seen.requests, seen.ladder) = (self.requests, self.ladder);
        seen.acmasters = self.masters.into_iter().map(state).collect();
    }

    fn rung(&mut self, at: SimTime, node: u32, stream: u16, event: AdmissionEvent) {
        let stream = StreamIndex(u32::from(stream));
        self.ladder.push(AdmissionRung { at: at.since_start(), node: NodeIndex(node), stream, event });
    }

    /// Notes that a message leaves its node, or has come to the one that it is for.
    fn note(&mut self, at: SimTime, Beside { from, to, .. }: Beside, message: &FttMessage, leaves: bool) {
        let Some((stream, message)) = about(message) else { return };
        let Some(to) = self.entity(to).map(|entity| entity.node) else { return };
        if to == from {
            return;
        }
        let (node, event) = if leaves {
            (from, AdmissionEvent::Sent { message, to: NodeIndex(to) })
        } else {
            (to, AdmissionEvent::Received { message, from: NodeIndex(from) })
        };
        self.rung(at, node, stream, event);
    }

    /// Whom a message is for that is addressed so.
    fn entity(&self, to: u32) -> Option<&Entity> {
        self.entities.get(&u16::try_from(to).ok()?)
    }

    /// Begins what an entity has to do next, if it does nothing.
    fn begin(&mut self, id: u16, now: SimTime) {
        let Some(entity) = self.entities.get_mut(&id).filter(|entity| entity.work.is_none()) else { return };
        let settings = &self.settings;
        let mut per_mille = 1_000;
        let (taken, work): (&Delay, Work) = if let Some((stream, consumer)) = entity.tests.pop_front() {
            let links = self.standing_links + looked_at(&self.masters, id, &stream, &self.links);
            per_mille = settings.test_growth.per_mille(links);
            (&settings.test, Work::Test(stream, consumer))
        } else if let Some(message) = entity.inbox.pop_front() {
            let taken = match (id, &message) {
                (MASTER.., _) => &settings.handling,
                (_, FttMessage::Config { .. }) => &settings.configure,
                (id, _) if self.switches[usize::from(id)].is_some() => &settings.relay,
                _ => &settings.node,
            };
            (taken, Work::Message(message))
        } else {
            return;
        };
        let at = now + TestGrowth::scaled(self.random.delay(taken, 64), per_mille);
        entity.work = Some((at, work));
    }

    fn arrive(&mut self, id: u16, message: FttMessage, now: SimTime) {
        if let Some(entity) = self.entities.get_mut(&id) {
            entity.inbox.push_back(message);
        }
        self.begin(id, now);
    }
}

/// Links of the streams that an ACMaster's test looks at: of the new one, and of those that it has admitted.
fn looked_at(masters: &[Master], id: u16, new: &FttStream, links: &[u64]) -> u64 {
    let of = |stream: u16| links.get(usize::from(stream)).copied().unwrap_or(0);
    let admitted = masters.get(usize::from(id - MASTER)).map(|master| master.machine.admitted());
    let others = admitted.into_iter().flatten().map(|(stream, _)| stream).filter(|stream| *stream != new.id);
    of(new.id) + others.map(of).sum::<u64>()
}

/// The stream that a control message is about, and what it says of it.
fn about(message: &FttMessage) -> Option<(u16, &'static str)> {
    let either = |is: &bool, one, other| if *is { one } else { other };
    match message {
        FttMessage::Trigger { .. }
        | FttMessage::Alive { .. }
        | FttMessage::Recall { .. }
        | FttMessage::Survey { .. }
        | FttMessage::Surveyed { .. }
        | FttMessage::Link { .. }
        | FttMessage::Linked { .. }
        | FttMessage::Complete { .. } => None,
        FttMessage::Record { stream, .. } => Some((stream.id, "record")),
        FttMessage::Carries { stream, .. } => Some((stream.id, "carries")),
        FttMessage::Add { stream, .. } => Some((stream.id, "add")),
        FttMessage::Invite { stream } => Some((*stream, "invite")),
        FttMessage::Pause { stream, cut, .. } => Some((*stream, either(&cut.is_some(), "cut off", "pause"))),
        FttMessage::Broken { stream, .. } => Some((stream.id, "broken")),
        FttMessage::Unable { stream, .. } => Some((*stream, "unable")),
        FttMessage::Paused { stream, .. } => Some((*stream, "paused")),
        FttMessage::Remove { stream, .. } => Some((*stream, "remove")),
        FttMessage::Config { stream, between, .. } => {
            Some((stream.id, either(&between.is_some(), "config", "config gone")))
        }
        FttMessage::Reply { stream, installed, .. } => {
            Some((*stream, either(installed, "reply", "reply gone")))
        }
        FttMessage::Ack { stream, granted, .. } => Some((*stream, either(granted, "ack", "refusal"))),
        FttMessage::Replicate { stream, installed, .. } => {
            Some((stream.id, either(installed, "replicate", "replicate gone")))
        }
        FttMessage::Replicated { stream, installed, .. } => {
            Some((*stream, either(installed, "replicated", "replicated gone")))
        }
    }
}

impl Master {
    fn new(
        me: u16,
        node: u32,
        settings: &HartsAdmission,
        topology: &Topology,
        now: Instant,
        life: u32,
    ) -> Self {
        let other = if me == MASTER { STANDBY } else { MASTER };
        let config = AcConfig {
            me,
            other: settings.standby.map(|_| other),
            // One without a standby asks the switches what stands.
            active: me == MASTER && (life == 0 || settings.standby.is_none()),
            life,
            patience: settings.patience,
            alive: settings.alive,
            topology: topology.clone(),
            size_max: 1_542,
        };
        let was_active = config.active;
        Self { machine: AcMaster::new(config, now), node, life, tests: 0, was_active }
    }
}

fn short(node: usize) -> u16 {
    u16::try_from(node).unwrap_or(u16::MAX)
}

/// The ACMaster's picture of the network.
fn topology(network: &Network, settings: &HartsAdmission) -> Topology {
    let mut topology = Topology::default();
    let is_bridge = |node: usize| matches!(network.nodes[node].kind, NodeKind::Bridge { .. });
    for link in network.links.iter().step_by(2) {
        let end = |port: tautwire_model::network::PortIndex| network.ports[port.index()].node.index();
        let (one, other) = (end(link.from), end(link.to));
        match (is_bridge(one), is_bridge(other)) {
            (true, true) => topology.link(short(one), short(other)),
            (true, false) => topology.attach(short(other), short(one)),
            (false, true) => topology.attach(short(one), short(other)),
            (false, false) => {}
        }
    }
    topology.attach(MASTER, short(settings.master.index()));
    if let Some(standby) = settings.standby {
        topology.attach(STANDBY, short(standby.index()));
    }
    topology
}

/// The port of every node towards one of them.
fn towards(network: &Network, to: usize) -> Vec<u32> {
    let mut found = vec![NONE; network.nodes.len()];
    let mut next = VecDeque::from([to]);
    while let Some(here) = next.pop_front() {
        for port in network.nodes[here].ports.clone() {
            let Some(links) = network.ports[port as usize].links else { continue };
            // The port at the other end of the cable leads here.
            let far = network.links[links.egress.index()].to;
            let node = network.ports[far.index()].node.index();
            if node != to && found[node] == NONE {
                found[node] = far.0;
                next.push_back(node);
            }
        }
    }
    found
}
