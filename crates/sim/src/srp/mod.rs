//! Stream reservation in a run: MSRP and MVRP of all nodes, the talkers that they start and stop, the ports that they open and shape.
//!
//! An MRPDU is a frame of its port's own stream. At the receiver it waits for the node's processor, which takes MRPDUs
//! one after the other. Events are written into the ladders of the streams (`ladders.rs`, `reservation.rs`). Where
//! bridges are configured centrally, `../central` uses all of this in addition to its own parts.

mod grants;
mod ladders;
mod node;
mod outcome;
mod requests;
mod reservation;
mod talkers;
mod vlan_registration;
mod vlans;

use tautwire_core::control::Output;
use tautwire_core::srp::{SrpNode, SrpPart};
use tautwire_model::Network;
use tautwire_model::network::{Delay, NodeIndex, PortIndex, StreamIndex};
use tautwire_model::srp::StreamReservation;
use tautwire_observe::{Cell, Column, Table};
use tautwire_units::{Duration, Instant};
use tautwire_wire::EtherType;
use tautwire_wire::srp::{AttributeValue, MrpPdu, MsrpValue, MvrpValue, StreamId};

use crate::clock::SimTime;
use crate::control::{Attached, Attachment, Machines, Plane, Seen};
use crate::result::Observation;

use grants::Grants;
use ladders::{Ladders, declares};
use node::Node;
use vlans::Vlans;

pub(crate) use requests::{Request, Requests};
pub use reservation::{BridgeDelays, Declaration, ReservationObservation, Rung, RungEvent};
pub use vlan_registration::VlanObservation;

/// Stream reservation of a run.
pub(crate) struct Srp<'n> {
    pub(crate) network: &'n Network,
    pub(crate) settings: &'n StreamReservation,
    seed: u64,
    nodes: Vec<Node>,
    pub(crate) requests: Requests,
    ladders: Ladders,
    /// What reservations set at the ports; none: the description shapes.
    grants: Option<Grants>,
    /// Registered VLANs; none: VLANs are where the description has them.
    vlans: Option<Vlans>,
}

/// Stream reservation's part in a run in which bridges decide among themselves; none in others.
pub(crate) fn attach(network: &Network, seed: u64) -> Option<Attached<'_>> {
    let settings = network.srp.as_ref().filter(|settings| settings.central.is_none())?;
    Some(Attached::new(network, "srp", Srp::new(network, settings, seed)))
}

impl<'n> Srp<'n> {
    pub(crate) fn new(network: &'n Network, settings: &'n StreamReservation, seed: u64) -> Self {
        Self {
            network,
            settings,
            seed,
            nodes: (0..network.nodes.len()).map(|number| Node::new(network, number, seed).0).collect(),
            requests: Requests::new(network),
            ladders: Ladders::new(settings),
            grants: Grants::new(network),
            vlans: Vlans::new(network),
        }
    }

    /// The reserved stream of an identifier.
    pub(crate) fn known(&self, stream: StreamId) -> Option<u32> {
        self.ladders.known(stream)
    }

    /// Writes into the ladder of a reserved stream, and notes what it means for the ports.
    pub(crate) fn rung(&mut self, stream: u32, at: SimTime, node: NodeIndex, event: RungEvent) {
        if let Some(grants) = &mut self.grants {
            grants.note(stream, node, event);
        }
        self.ladders.push(stream, at, node, event);
    }

    /// The effects of what a node has received; `changed` if a registration of MSRP may have changed.
    pub(crate) fn follow(
        &mut self,
        node: NodeIndex,
        machine: &mut SrpNode,
        changed: bool,
        plane: &mut dyn Plane,
    ) {
        if changed {
            match machine.part() {
                SrpPart::Bridge(_) => self.note_reserved(node, machine, plane.now()),
                SrpPart::Station(_) => self.heed_listeners(node, machine, plane),
                SrpPart::Edge(_) | SrpPart::None => {}
            }
        }
        if machine.vlans_mut().take_changed() {
            let vlans = machine.vlans_mut();
            self.settle_vlans(node, |place, vlan| vlans.is_registered(place, vlan), plane);
        }
    }

    /// An application makes a request at its node's station.
    fn ask(&mut self, machine: &mut SrpNode, request: Request, local: Instant) {
        let reserved = &self.settings.streams[request.stream as usize];
        let id = reserved.talker.stream;
        let node = &mut self.nodes[request.node.index()];
        let SrpPart::Station(station) = machine.part_mut() else { return };
        match request.event {
            RungEvent::Offered => station.advertise(local, reserved.talker),
            RungEvent::Withdrawn => station.withdraw(local, id),
            RungEvent::Asked if reserved.when_offered => return node.waits_for.push(request.stream),
            RungEvent::Asked => station.attach(local, id, reserved.latency_max_ns),
            RungEvent::Detached => {
                node.waits_for.retain(|stream| *stream != request.stream);
                station.detach(local, id);
            }
            _ => return,
        }
        let talks = matches!(request.event, RungEvent::Offered | RungEvent::Withdrawn);
        let wants = matches!(request.event, RungEvent::Offered | RungEvent::Asked);
        self.want_vlan(machine, local, request.stream, talks, wants);
    }

    /// The machine of a node that starts; `ask_again` makes a restarted one repeat all of its earlier requests.
    pub(crate) fn node(&mut self, node: NodeIndex, now: Instant, is_back: bool) -> SrpNode {
        let (state, drawn) = Node::new(self.network, node.index(), self.seed);
        self.nodes[node.index()] = state;
        let mut machine = node::machine(self.network, node, now, drawn);
        if is_back {
            for request in self.requests.done_at(node) {
                self.ask(&mut machine, request, now);
            }
        }
        machine
    }
}

impl Attachment for Srp<'_> {
    type Machine = SrpNode;

    const FRAMES_FIRST: bool = true;

    fn machine(&mut self, node: NodeIndex, now: Instant, is_back: bool) -> Option<SrpNode> {
        Some(self.node(node, now, is_back))
    }

    fn ports(&self, node: NodeIndex) -> Vec<PortIndex> {
        self.network.srp_ports(node)
    }

    fn ether_types(&self) -> Vec<EtherType> {
        let vlans = self.settings.vlan_registration.as_ref().map(|_| MvrpValue::ETHER_TYPE);
        [MsrpValue::ETHER_TYPE].into_iter().chain(vlans).collect()
    }

    fn streams(&self, node: NodeIndex) -> Vec<StreamIndex> {
        let vlans = self.settings.vlan_registration.as_ref();
        let of = |port: PortIndex| {
            let vlans = vlans.and_then(|vlans| vlans.pdus[port.index()]);
            self.settings.pdus[port.index()].into_iter().chain(vlans)
        };
        self.ports(node).into_iter().flat_map(of).collect()
    }

    fn carrier(&self, node: NodeIndex, output: &Output) -> StreamIndex {
        let port = self.ports(node)[output.port].index();
        let pdus = match &self.settings.vlan_registration {
            Some(vlans) if output.ether_type == MvrpValue::ETHER_TYPE => &vlans.pdus,
            _ => &self.settings.pdus,
        };
        pdus[port].expect("a port that takes part has MRPDUs")
    }

    /// The declarations in an MRPDU are recorded before its node processes it.
    fn processing(
        &mut self,
        came: &Seen<'_>,
        _: &mut dyn FnMut(&Delay, u64) -> Duration,
    ) -> Option<Duration> {
        let node = self.network.ports[came.port.index()].node;
        let settings = &self.settings.nodes[node.index()];
        let octets = came.octets.len() as u64 + 18;
        let streams = match came.ether_type {
            MsrpValue::ETHER_TYPE => MrpPdu::<MsrpValue>::parse(came.octets).ok().map(|(pdu, _)| pdu),
            _ => None,
        };
        let [talkers, listeners] = streams.as_ref().map_or([false; 2], declares);
        if let Some(pdu) = &streams {
            self.ladders.record(pdu, came.at, (node, came.port), false);
        }
        let random = &mut self.nodes[node.index()].random;
        let mut taken = random.delay(&settings.processing, octets);
        if talkers {
            taken += random.delay(&settings.talker_processing, octets);
        }
        if listeners {
            taken += random.delay(&settings.listener_processing, octets);
        }
        Some(taken)
    }

    /// The declarations in an MRPDU are recorded when it begins to leave.
    fn departs(&mut self, leaving: &Seen<'_>) -> bool {
        if leaving.ether_type == MsrpValue::ETHER_TYPE
            && let Ok((pdu, _)) = MrpPdu::parse(leaving.octets)
        {
            let node = self.network.ports[leaving.port.index()].node;
            self.ladders.record(&pdu, leaving.at, (node, leaving.port), true);
        }
        false
    }

    fn begin(&mut self, plane: &mut dyn Plane) {
        if let Some(grants) = &self.grants {
            grants.begin(self.network, plane);
        }
        if let Some(vlans) = &self.vlans {
            vlans.begin(plane);
        }
    }

    fn next_request(&self) -> Option<(SimTime, NodeIndex)> {
        self.requests.next()
    }

    fn request(&mut self, node: NodeIndex, machine: Option<&mut SrpNode>, plane: &mut dyn Plane) {
        let request = self.requests.take();
        let Some(machine) = machine else { return };
        self.rung(request.stream, plane.now(), node, request.event);
        self.ask(machine, request, plane.reading(node, plane.now()));
        self.follow(node, machine, true, plane);
    }

    fn linked(&mut self, port: PortIndex, _: bool, machine: &mut SrpNode, plane: &mut dyn Plane) {
        self.settle(self.network.ports[port.index()].node, machine, plane);
    }

    fn settle(&mut self, node: NodeIndex, machine: &mut SrpNode, plane: &mut dyn Plane) {
        let changed = machine.take_changed();
        self.follow(node, machine, changed, plane);
    }

    fn stopped(&mut self, node: NodeIndex, plane: &mut dyn Plane) {
        for stream in std::mem::take(&mut self.nodes[node.index()].sends) {
            plane.stop_stream(self.settings.streams[stream as usize].stream);
            self.rung(stream, plane.now(), node, RungEvent::Stopped);
        }
        self.ungrant_node(node);
        self.settle_vlans(node, |_, _| false, plane);
    }

    fn carry_out(&mut self, plane: &mut dyn Plane) -> bool {
        self.shape(plane)
    }

    fn end(&mut self, plane: &dyn Plane) {
        if let Some(vlans) = &mut self.vlans {
            vlans.end(plane);
        }
    }

    fn tables(&self, machines: &Machines<'_, SrpNode>) -> Vec<Table> {
        vec![self.reserved(machines)]
    }

    fn forget(&mut self) {
        self.ladders.forget();
        if let Some(vlans) = &mut self.vlans {
            vlans.forget();
        }
    }

    fn finish(self, _: &Machines<'_, SrpNode>, observation: &mut Observation) {
        self.write_to(observation);
    }
}

impl Srp<'_> {
    /// The bandwidth that bridges have reserved now.
    fn reserved(&self, machines: &Machines<'_, SrpNode>) -> Table {
        let mut rows = Vec::new();
        for (number, node) in self.network.nodes.iter().enumerate() {
            let Some(machine) = machines.of(NodeIndex::at(number)) else { continue };
            let SrpPart::Bridge(bridge) = machine.part() else { continue };
            let ports = self.network.srp_ports(NodeIndex::at(number));
            for (port, id, since) in bridge.reservations() {
                let known = self.ladders.known(id).map(|known| self.settings.streams[known as usize].stream);
                let name = known.map(|known| self.network.streams[known.index()].name.clone());
                rows.push(vec![
                    Cell::Text(node.name.clone()),
                    Cell::Text(self.network.ports[ports[port].index()].name.clone()),
                    name.map_or(Cell::None, Cell::Text),
                    Cell::Text(id.to_string()),
                    Cell::Number(since.as_ps()),
                ]);
            }
        }
        let column = |name, title| Column { name, title };
        Table {
            name: "reservations",
            title: "Reservations (MSRP)",
            about: "The streams for which each port has bandwidth reserved now.",
            columns: vec![
                column("node", "node"),
                column("port", "port"),
                column("stream", "stream"),
                column("stream_id", "StreamID"),
                column("since_ps", "since"),
            ],
            rows,
        }
    }

    /// Writes the observations.
    pub(crate) fn write_to(self, observation: &mut Observation) {
        observation.reservations = self.ladders.observations(self.settings);
        observation.vlan_registrations = self.vlans.map_or_else(Vec::new, Vlans::observations);
    }
}
