//! LLDP in a run: an agent for every node, and the neighbours that were learned, with place and time.

use std::collections::BTreeMap;

use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, PortIndex, StreamIndex};
use tautwire_observe::{Cell, Column, Shown, Table};
use tautwire_sim::{Attached, Attachment, Machines, Observation, Plane, PlugIn};
use tautwire_units::{Duration, Instant};
use tautwire_wire::EtherType;

use crate::Lldp;
use crate::agent::{Agent, PortConfig, Statistics};
use crate::pdu::{ETHER_TYPE, Identifier};
use crate::section::LldpSection;

/// What was observed, per port that takes part, in the order of the network's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LldpObservation {
    /// The ports.
    pub ports: Vec<PortObservation>,
}

/// A port at the end of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortObservation {
    /// The port.
    pub port: PortIndex,
    /// Its node's name.
    pub node: String,
    /// Its own name.
    pub name: String,
    /// What it counted since its node began.
    pub statistics: Statistics,
    /// The neighbours that it knows.
    pub neighbours: Vec<NeighbourObservation>,
}

/// A neighbour that a port knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeighbourObservation {
    /// Its chassis.
    pub chassis: Identifier,
    /// Its port.
    pub port: Identifier,
    /// Its system's name, if it sends one.
    pub system_name: Option<String>,
    /// When its first frame came since it last expired or the node started, true time since the start.
    pub learned: Duration,
    /// Seconds until it is forgotten.
    pub seconds: u16,
}

/// By port, chassis and port of the neighbour: since when it is known.
type Known = BTreeMap<(PortIndex, Identifier, Identifier), Duration>;

struct Run<'n> {
    network: &'n Network,
    section: &'n LldpSection,
    /// Per node.
    known: Vec<Known>,
}

impl PlugIn for Lldp {
    fn section(&self) -> &'static str {
        "lldp"
    }

    fn runs_live(&self) -> bool {
        true
    }

    fn attach<'n>(&self, network: &'n Network) -> Option<Attached<'n>> {
        let section = network.section::<LldpSection>()?;
        Some(Attached::new(
            network,
            "lldp",
            Run { network, section, known: vec![Known::new(); network.nodes.len()] },
        ))
    }
}

impl Run<'_> {
    /// The ports of a node that have cables.
    fn ports_of(&self, node: NodeIndex) -> impl Iterator<Item = PortIndex> + use<'_> {
        let section = self.section;
        let ports = self.network.nodes[node.index()].ports.clone().map(PortIndex);
        ports.filter(|port| section.ports[port.index()].is_some())
    }

    /// What all agents know and have counted.
    fn seen(&self, machines: &Machines<'_, Agent>) -> LldpObservation {
        let mut seen = LldpObservation::default();
        for node in (0..self.network.nodes.len()).map(NodeIndex::at) {
            // A node that is stopped knows nothing.
            let Some(agent) = machines.of(node) else { continue };
            for (number, port) in self.ports_of(node).enumerate() {
                let of = |neighbour: &crate::agent::Neighbour| {
                    let remote = &neighbour.remote;
                    let key = (port, remote.chassis.clone(), remote.port.clone());
                    NeighbourObservation {
                        learned: self.known[node.index()].get(&key).copied().unwrap_or_default(),
                        chassis: key.1,
                        port: key.2,
                        system_name: remote.system_name.clone(),
                        seconds: neighbour.seconds,
                    }
                };
                seen.ports.push(PortObservation {
                    port,
                    node: self.network.nodes[node.index()].name.clone(),
                    name: self.network.ports[port.index()].name.clone(),
                    statistics: agent.statistics(number),
                    neighbours: agent.neighbours(number).iter().map(of).collect(),
                });
            }
        }
        seen
    }
}

impl Attachment for Run<'_> {
    type Machine = Agent;

    fn machine(&mut self, node: NodeIndex, now: Instant, _: bool) -> Option<Agent> {
        let config = |port: PortIndex| Some(self.section.ports[port.index()].as_ref()?.config.clone());
        let ports: Vec<PortConfig> = self.ports_of(node).filter_map(config).collect();
        Some(Agent::new(self.section.settings, ports, now))
    }

    fn ports(&self, node: NodeIndex) -> Vec<PortIndex> {
        self.ports_of(node).collect()
    }

    fn ether_types(&self) -> Vec<EtherType> {
        vec![ETHER_TYPE]
    }

    fn stream(&self, port: PortIndex) -> Option<StreamIndex> {
        self.section.ports[port.index()].as_ref()?.stream
    }

    fn settle(&mut self, node: NodeIndex, machine: &mut Agent, plane: &mut dyn Plane) {
        let now = plane.now().since_start();
        let before = std::mem::take(&mut self.known[node.index()]);
        let mut known = Known::new();
        for (number, port) in self.ports_of(node).enumerate() {
            for neighbour in machine.neighbours(number) {
                let key = (port, neighbour.remote.chassis.clone(), neighbour.remote.port.clone());
                let learned = before.get(&key).copied().unwrap_or(now);
                known.insert(key, learned);
            }
        }
        self.known[node.index()] = known;
    }

    fn stopped(&mut self, node: NodeIndex, _: &mut dyn Plane) {
        self.known[node.index()].clear();
    }

    fn tables(&self, machines: &Machines<'_, Agent>) -> Vec<Table> {
        self.seen(machines).tables()
    }

    fn finish(self, machines: &Machines<'_, Agent>, observation: &mut Observation) {
        observation.mechanisms.add(self.seen(machines));
    }
}

const fn column(name: &'static str, title: &'static str) -> Column {
    Column { name, title }
}

impl Shown for LldpObservation {
    /// That of other nodes.
    fn join(&self, other: &Self) -> Self {
        let mut ports: Vec<_> = self.ports.iter().chain(&other.ports).cloned().collect();
        ports.sort_by_key(|port| port.port);
        Self { ports }
    }

    fn tables(&self) -> Vec<Table> {
        let at = |port: &PortObservation| [Cell::Text(port.node.clone()), Cell::Text(port.name.clone())];
        let neighbours = self.ports.iter().flat_map(|port| {
            port.neighbours.iter().map(move |neighbour| {
                let of = [
                    neighbour.system_name.clone().map_or(Cell::None, Cell::Text),
                    Cell::Text(neighbour.chassis.to_string()),
                    Cell::Text(neighbour.port.to_string()),
                    Cell::Number(neighbour.learned.as_ps()),
                    Cell::Number(neighbour.seconds.into()),
                ];
                at(port).into_iter().chain(of).collect()
            })
        });
        let ports = self.ports.iter().map(|port| {
            let Statistics { sent, received, discarded, aged_out, dropped } = port.statistics;
            let counts = [sent, received, discarded, aged_out, dropped].map(Cell::Number);
            at(port).into_iter().chain(counts).collect()
        });
        vec![
            Table {
                name: "lldp_neighbours",
                title: "Neighbours (LLDP)",
                about: "Whom each port knows at the end of the run.",
                columns: vec![
                    column("node", "node"),
                    column("port", "port"),
                    column("system_name", "neighbour"),
                    column("chassis_id", "chassis"),
                    column("port_id", "its port"),
                    column("learned_ps", "known since"),
                    column("seconds", "forgotten in s"),
                ],
                rows: neighbours.collect(),
            },
            Table {
                name: "lldp_ports",
                title: "Frames of LLDP",
                about: "What each port counted since its node began.",
                columns: vec![
                    column("node", "node"),
                    column("port", "port"),
                    column("sent", "sent"),
                    column("received", "received"),
                    column("discarded", "discarded"),
                    column("aged_out", "aged out"),
                    column("dropped", "dropped"),
                ],
                rows: ports.collect(),
            },
        ]
    }
}
