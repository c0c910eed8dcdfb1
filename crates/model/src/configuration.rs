//! From the resolved network to the configuration of `core`'s machines.
//!
//! Every driver (simulation, live bridge, hardware bench) and every test builds its machines through
//! these functions, so that one description means one configuration.

use tautwire_core::TrafficClass;
use tautwire_core::buffer::{QueueLimit, SharedBuffer};
use tautwire_core::port::{ClassConfig, PortConfig};
use tautwire_core::queue::LaneOrder;
use tautwire_core::time_triggered::EmptySlot;
use tautwire_core::time_triggered::dispatcher::{DispatcherConfig, Slot};
use tautwire_units::{BitRate, Bytes, Duration};

use crate::frame::frame_length;
use crate::network::{
    AtsOrganisation, DeviceModel, Grouping, Network, NodeIndex, NodeKind, PortIndex, Stream, TieRule,
    TransmissionSelection,
};

impl Network {
    /// The device model of a bridge; none for an end station.
    #[must_use]
    pub fn device(&self, node: NodeIndex) -> Option<&DeviceModel> {
        match &self.nodes[node.index()].kind {
            NodeKind::Bridge { device, .. } => Some(&self.devices[device.index()]),
            NodeKind::EndStation { .. } => None,
        }
    }

    /// The number of a port within its node.
    #[must_use]
    pub fn port_number(&self, port: PortIndex) -> u32 {
        port.0 - self.nodes[self.ports[port.index()].node.index()].ports.start
    }

    /// How the egress side of a connected port is built; none if nothing is connected to it.
    #[must_use]
    pub fn port_config(&self, index: PortIndex) -> Option<PortConfig> {
        let port = &self.ports[index.index()];
        let rate = self.links[port.links?.egress.index()].rate;
        let node = &self.nodes[port.node.index()];
        let (device, host) = match &node.kind {
            NodeKind::Bridge { device, .. } => (Some(&self.devices[device.index()]), None),
            NodeKind::EndStation { host } => (None, Some(&self.hosts[host.index()])),
        };
        let lanes = usize::try_from(node.ports.end - node.ports.start).expect("ports are counted in u32");
        let classes = port.classes.map(|class| {
            let (order, groups) = lane_order(device, class.selection);
            let idle_slope = match class.selection {
                TransmissionSelection::CreditBased { idle_slope } => Some(idle_slope),
                TransmissionSelection::StrictPriority | TransmissionSelection::Ats => None,
            };
            let limit = QueueLimit { frames: class.limit_frames, octets: class.limit_octets.get() };
            // It is one of the queues that reception ports have: where one holds the frames of all, there are none.
            let has_one = matches!(order, LaneOrder::Arrival | LaneOrder::Eligibility);
            let lane_limit = device.and_then(|device| device.lane_limit).filter(|_| !has_one);
            let lane_limit = lane_limit.unwrap_or(u32::MAX);
            let discards_oldest = class.discards_oldest;
            ClassConfig { idle_slope, order, lanes: lanes * groups, limit, lane_limit, discards_oldest }
        });
        let credit_charged_overhead = device
            .map(|device| device.credit_charged_overhead)
            .or(host.map(|host| host.credit_charged_overhead))
            .unwrap_or(Bytes::MEDIA_OVERHEAD);
        let buffer = port.shared_buffer.as_ref().map(|buffer| {
            let cell = u32::try_from(buffer.cell.get()).expect("a checked cell size");
            SharedBuffer::new(cell, buffer.cells, buffer.reserved).expect("a checked buffer")
        });
        let two_stage = device.is_some_and(|device| device.two_stage);
        let dispatcher = self.dispatcher_config(index, rate);
        let servers = self.port_servers(index);
        let gates = self.gates_config(index);
        let preemption = self.merge_config(index);
        Some(PortConfig {
            rate,
            classes,
            buffer,
            two_stage,
            credit_charged_overhead,
            dispatcher,
            servers,
            gates,
            preemption,
        })
    }

    /// The slots of a port: of the scheduled links that are sent from it, in order, and of the raster.
    fn dispatcher_config(&self, index: PortIndex, rate: BitRate) -> Option<DispatcherConfig> {
        let settings = self.time_triggered.as_ref()?;
        let class = self.time_triggered_class(index)?;
        let slot = |(stream, hop): (&Stream, usize)| {
            let link = stream.time_triggered.as_ref()?;
            let frame = frame_length(stream.payload_max, stream.hops[hop].tagged);
            Some(Slot {
                period: link.period,
                offset: link.points.get(hop)?.offset,
                length: rate.duration_ceil((frame + Bytes::MEDIA_OVERHEAD).bits()),
                empty: settings.empty_slot,
            })
        };
        let raster = settings.raster.map(|raster| Slot {
            period: raster.cycle,
            offset: Duration::ZERO,
            length: raster.window,
            empty: EmptySlot::Kept,
        });
        let slots = self.time_triggered_links(index).filter_map(slot).chain(raster).collect();
        Some(DispatcherConfig { class, integration: settings.integration, slots })
    }

    /// The lane in which a stream waits at one of its hops: see [`ClassConfig::lanes`].
    #[must_use]
    pub fn lane(&self, stream: &Stream, hop: usize) -> u16 {
        let this = &stream.hops[hop];
        let port = &self.ports[this.port.index()];
        let (Some(_), Some(previous)) = (self.device(port.node), this.previous) else { return 0 };
        let upstream = &stream.hops[previous as usize];
        let link = self.ports[upstream.port.index()].links.expect("a hop's port is connected").egress;
        let reception = self.port_number(self.links[link.index()].to);
        self.lane_from(this.port, this.class, reception, upstream.class)
    }

    /// The lane of a bridge's port in which frames wait that came by its reception port of this number, from a queue of class `upstream`.
    #[must_use]
    pub fn lane_from(
        &self,
        port: PortIndex,
        class: TrafficClass,
        reception: u32,
        upstream: TrafficClass,
    ) -> u16 {
        let port = &self.ports[port.index()];
        let lane = match lane_order(self.device(port.node), port.classes[class.index()].selection) {
            (_, 1) => reception,
            (_, _) => reception * 8 + u32::from(upstream.number()),
        };
        u16::try_from(lane).expect("a bridge has fewer than 8192 ports")
    }
}

/// The order of a class's lanes, and how many lanes a reception port has.
fn lane_order(device: Option<&DeviceModel>, selection: TransmissionSelection) -> (LaneOrder, usize) {
    let Some(device) = device else { return (LaneOrder::Arrival, 1) };
    if selection != TransmissionSelection::Ats {
        let order = match device.tie_rule {
            TieRule::ArrivalOrder => LaneOrder::Arrival,
            TieRule::RoundRobin => LaneOrder::RoundRobin,
            TieRule::LowestPort => LaneOrder::LowestLane,
        };
        return (order, 1);
    }
    if device.ats.organisation == AtsOrganisation::EligibilityOrdered {
        return (LaneOrder::Eligibility, 1);
    }
    let order = match device.tie_rule {
        TieRule::ArrivalOrder => LaneOrder::EligibilityOfHeads,
        TieRule::RoundRobin => LaneOrder::RoundRobin,
        TieRule::LowestPort => LaneOrder::LowestLane,
    };
    let groups = match device.ats.grouping {
        Grouping::OwnClass => 1,
        Grouping::UpstreamClass => 8,
    };
    (order, groups)
}
