//! HaRTES in a run: masters open elementary cycles with trigger messages, nodes send what is polled, switches police
//! and hold, and the ACMaster admits requested streams.
//!
//! Messages are frames of their port's own stream. `stations.rs` makes the entities of a node, `cycles.rs` runs
//! cycles, `entities.rs` processes their work, `admission.rs` and `configured.rs` carry out its effects. A node that
//! stops keeps its state, except for ACMasters; its cycles continue to count. Not here: the machines (`core`,
//! `harts`), the delivery of messages to them (`control/runner.rs`), policers, pools and servers (`control/plane`).

mod admission;
mod configured;
mod cycles;
mod entities;
mod observed;
mod outcome;
mod stations;

use std::collections::BTreeMap;

use tautwire_core::control::Output;
use tautwire_core::harts::{Happened, Station, SwitchMaster};
use tautwire_model::Network;
use tautwire_model::harts::Harts;
use tautwire_model::network::{NodeIndex, PortIndex, StreamIndex};
use tautwire_units::{Bytes, Duration, Instant};

use crate::clock::SimTime;
use crate::control::{Attached, Attachment, Machines, Plane};
use crate::options::HartsTest;
use crate::random::{Purpose, Random};
use crate::refusal::Refusal;
use crate::result::Observation;

use admission::Asking;
use cycles::AtNode;
use entities::Entities;
use stations::{acmaster, acmasters, short, station};

pub use observed::{
    AdmissionEvent, AdmissionRung, HartsObservation, ListeningObservation, MasterObservation, MasterState,
    RequestObservation, SwitchLink,
};

/// Least octets of a frame behind its type.
const PAYLOAD_MIN: Bytes = Bytes::new(46);

/// HaRTES of a run.
struct Run<'n> {
    network: &'n Network,
    harts: &'n Harts,
    /// The test of an ACMaster.
    harts_test: Option<HartsTest>,
    nodes: Vec<AtNode>,
    /// Machines of nodes that are stopped.
    kept: BTreeMap<NodeIndex, Station>,
    entities: Entities,
    /// How often switches with ACMasters came back, by these.
    lives: BTreeMap<u16, u32>,
    /// What applications do, in order of time, and how much of it is done.
    agenda: Vec<(SimTime, NodeIndex, StreamIndex, Asking)>,
    asked: usize,
    /// Per stream: links of its path; and those of all streams that exist from the start.
    links: Vec<u64>,
    standing_links: u64,
    requests: Vec<RequestObservation>,
    ladder: Vec<AdmissionRung>,
    refusals: Vec<Refusal>,
    /// By ACMaster.
    tests: BTreeMap<u16, u64>,
    receptions: Random,
    admission_delays: Random,
}

/// HaRTES' part in a run; none in a network without it.
pub(crate) fn attach(network: &Network, seed: u64, harts_test: Option<HartsTest>) -> Option<Attached<'_>> {
    let harts = network.harts.as_ref()?;
    let links: Vec<u64> = network.streams.iter().map(|stream| stream.hops.len() as u64).collect();
    let mut run = Run {
        network,
        harts,
        harts_test,
        nodes: (0..network.nodes.len()).map(|node| AtNode::new(NodeIndex::at(node))).collect(),
        kept: BTreeMap::new(),
        entities: Entities::default(),
        lives: BTreeMap::new(),
        agenda: Vec::new(),
        asked: 0,
        standing_links: network.reserved_from_the_start().map(|stream| links[stream.index()]).sum(),
        links,
        requests: Vec::new(),
        ladder: Vec::new(),
        refusals: Vec::new(),
        tests: BTreeMap::new(),
        receptions: Random::new(seed, Purpose::Ftt, 0),
        admission_delays: Random::new(seed, Purpose::Ftt, 1),
    };
    run.read_requests();
    Some(Attached::new(network, "harts", run))
}

impl Run<'_> {
    /// Reads the requests, with their times and nodes.
    fn read_requests(&mut self) {
        let Some(admission) = &self.harts.admission else { return };
        let nodes = (0..self.network.nodes.len()).map(|node| (short(node), NodeIndex::at(node)));
        nodes.chain(acmasters(admission)).for_each(|(id, node)| self.entities.add(id, node.0));
        for request in &admission.requests {
            let talker = self.network.streams[request.stream.index()].talker;
            let mut ask = |node: NodeIndex, at: Duration| {
                self.agenda.push((SimTime::ZERO + at, node, request.stream, Asking::Request));
                self.requests.push(RequestObservation::of(request.stream, node, node == talker));
            };
            ask(talker, request.at);
            let consumers = || admission.consumers(request.stream);
            consumers().for_each(|consumer| ask(consumer.node, consumer.at));
            let parts = consumers().filter_map(|consumer| Some((consumer.release_at?, consumer.node)));
            let releases = request.release_at.map(|at| (at, talker)).into_iter().chain(parts);
            self.agenda.extend(
                releases.map(|(at, node)| (SimTime::ZERO + at, node, request.stream, Asking::Release)),
            );
        }
        self.agenda.sort_by_key(|(at, ..)| *at);
    }

    /// ACMasters begin in a node.
    fn install_acmasters(&self, node: NodeIndex, now: Instant, station: &mut Station) {
        let Some(admission) = &self.harts.admission else { return };
        for (id, _) in acmasters(admission).filter(|(_, at)| *at == node) {
            let life = self.lives.get(&id).copied().unwrap_or(0);
            station.install(id, acmaster(self.network, admission, id, life, now));
        }
    }
}

impl Attachment for Run<'_> {
    type Machine = Station;

    const KEEPS: bool = true;

    fn machine(&mut self, node: NodeIndex, now: Instant, is_back: bool) -> Option<Station> {
        if !is_back {
            let mut station = station(self.network, self.harts, node, now)?;
            self.install_acmasters(node, now, &mut station);
            return Some(station);
        }
        let mut station = self.kept.remove(&node)?;
        station.come_back(now);
        for (id, _) in self.harts.admission.iter().flat_map(acmasters).filter(|(_, at)| *at == node) {
            *self.lives.entry(id).or_default() += 1;
            self.tests.remove(&id);
        }
        self.install_acmasters(node, now, &mut station);
        Some(station)
    }

    fn ports(&self, node: NodeIndex) -> Vec<PortIndex> {
        stations::ports(self.network, node)
    }

    fn streams(&self, node: NodeIndex) -> Vec<StreamIndex> {
        let control = |port: &PortIndex| self.harts.admission.as_ref()?.control.get(port.index()).copied()?;
        let trigger = |port: &PortIndex| self.harts.ftt.triggers.get(port.index()).copied()?;
        let ports = self.ports(node);
        ports.iter().filter_map(trigger).chain(ports.iter().filter_map(control)).collect()
    }

    fn carrier(&self, node: NodeIndex, output: &Output) -> StreamIndex {
        let port = self.ports(node)[output.port].index();
        // Control messages have addresses of their own.
        let stream = match (&self.harts.admission, output.addresses.is_some()) {
            (Some(admission), true) => admission.control[port],
            _ => self.harts.ftt.triggers[port],
        };
        stream.expect("a port of a machine has a stream")
    }

    fn payload(&self, output: &Output) -> Bytes {
        Bytes::new(output.octets.len() as u64).max(PAYLOAD_MIN)
    }

    fn acts_next(&self, node: NodeIndex) -> Option<SimTime> {
        self.nodes[node.index()].next().into_iter().chain(self.entities.next(node.0)).min()
    }

    fn begin(&mut self, plane: &mut dyn Plane) {
        self.prepare(plane);
    }

    fn next_request(&self) -> Option<(SimTime, NodeIndex)> {
        self.agenda.get(self.asked).map(|(at, node, ..)| (*at, *node))
    }

    fn request(&mut self, _: NodeIndex, machine: Option<&mut Station>, plane: &mut dyn Plane) {
        self.ask(machine, plane);
    }

    fn work(&mut self, node: NodeIndex, station: &mut Station, plane: &mut dyn Plane) {
        self.count_held(node, station, plane);
        self.take_arrived(node, station, plane.now());
        self.heed(node, station, plane);
        self.finish_work(node, station, plane);
    }

    fn settle(&mut self, node: NodeIndex, station: &mut Station, plane: &mut dyn Plane) {
        self.heed_events(node, station, plane);
        self.take_arrived(node, station, plane.now());
    }

    fn keep(&mut self, node: NodeIndex, mut station: Station) {
        if let Some(master) = &mut station.cycles {
            master.scheduler.empty_pools();
        }
        self.nodes[node.index()].forget();
        self.entities.forget(node.0);
        self.kept.insert(node, station);
    }

    fn end(&mut self, plane: &dyn Plane) {
        for (node, mut station) in std::mem::take(&mut self.kept) {
            let next = Instant::from_ps(plane.reading(node, plane.now()).as_ps() + 1);
            station.come_back(next);
            while let Some(happened) = station.take_happened() {
                if let Happened::Opened(opened) = happened {
                    self.nodes[node.index()].counted(&opened);
                }
            }
            self.kept.insert(node, station);
        }
        for (number, node) in self.nodes.iter_mut().enumerate() {
            node.master.overflowed = plane.overflowed(NodeIndex::at(number));
        }
    }

    fn finish(self, machines: &Machines<'_, Station>, observation: &mut Observation) {
        let stations = (0..self.network.nodes.len()).map(NodeIndex::at);
        let stations = stations.filter_map(|node| Some((node, machines.of(node).or(self.kept.get(&node))?)));
        let stations: BTreeMap<NodeIndex, &Station> = stations.collect();
        let has_cycles = |node: &NodeIndex| stations.get(node).is_some_and(|own| own.cycles.is_some());
        let listens = |node: &NodeIndex| stations.get(node).is_some_and(|own| own.node.is_some());
        let numbered = || self.nodes.iter().enumerate().map(|(number, node)| (NodeIndex::at(number), node));
        let state = |(id, switch): (u16, NodeIndex)| {
            let machine = stations.get(&switch)?.acmaster(id)?;
            let standing = machine.standing().map(|(stream, _)| StreamIndex(u32::from(stream.id)));
            Some(MasterState {
                switch,
                active: machine.is_active(),
                tests: self.tests.get(&id).copied().unwrap_or(0),
                standing: standing.collect(),
            })
        };
        let links = stations.iter().flat_map(|(node, station)| {
            let of_switch = station.switch.iter().flat_map(SwitchMaster::links);
            of_switch.map(|link| SwitchLink {
                switch: *node,
                neighbour: NodeIndex(u32::from(link.neighbour)),
                up: link.up,
                reserved: link.reserved,
            })
        });
        let seen = HartsObservation {
            masters: numbered().filter(|(node, _)| has_cycles(node)).map(|(_, seen)| seen.master).collect(),
            nodes: numbered().filter(|(node, _)| listens(node)).map(|(_, seen)| seen.listening).collect(),
            acmasters: self.harts.admission.iter().flat_map(acmasters).filter_map(state).collect(),
            links: links.collect(),
            frames: std::mem::take(&mut observation.cycle_frames),
            requests: self.requests,
            ladder: self.ladder,
        };
        observation.harts = Some(Box::new(seen));
        observation.refusals.extend(self.refusals);
    }
}
