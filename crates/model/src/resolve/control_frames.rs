//! Frames of a protocol that a port sends to the node behind its cable and no further, as a stream.

use tautwire_core::Priority;
use tautwire_units::Bytes;
use tautwire_wire::{MacAddress, VlanId};

use super::topology::Topology;
use crate::network::{ArrivalCurve, Hop, Identified, PortIndex, Stream, Traffic};

/// Parameters of the frames that a port sends of a protocol.
#[derive(Clone, Debug)]
pub struct ControlFrames {
    /// The protocol; names the stream, with the port.
    pub protocol: &'static str,
    /// Destination, of a group that bridges do not forward to.
    pub destination: MacAddress,
    /// Priority whose traffic class they take.
    pub priority: Priority,
    /// Least MAC client data, padding in it.
    pub payload_min: Bytes,
    /// Most MAC client data.
    pub payload_max: Bytes,
    /// The arrival curve of these frames; none if it is unknown.
    pub arrival: Option<ArrivalCurve>,
}

impl ControlFrames {
    /// The stream, untagged, over one hop.
    ///
    /// # Panics
    /// If the port has no cable.
    pub(crate) fn to_neighbour(&self, topology: &Topology<'_>, port: PortIndex) -> Stream {
        let described = &topology.ports[port.index()];
        let links = described.links.expect("it has a cable");
        let far = topology.ports[topology.links[links.egress.index()].to.index()].node;
        Stream {
            name: format!(
                "{}:{}.{}",
                self.protocol,
                topology.nodes[described.node.index()].name,
                described.name
            ),
            talker: described.node,
            listeners: vec![far],
            destination: self.destination,
            source: described.address,
            vlan: VlanId::DEFAULT,
            tagged: false,
            priority: self.priority,
            udp: None,
            payload_min: self.payload_min,
            payload_max: self.payload_max,
            payload_drawn: None,
            traffic: Traffic::Protocol,
            open_phase: false,
            arrival: self.arrival,
            deadline: None,
            count_late: Vec::new(),
            shaper: None,
            shaped_at_talker: false,
            started: true,
            hops: vec![Hop {
                port,
                previous: None,
                class: described.class_table.class_of(self.priority, true),
                priority: self.priority,
                tagged: false.into(),
                listener: Some(0),
                written: None,
                scheduler: None,
                identified: Identified::Own,
            }],
            learned: false,
            virtual_link: None,
            time_triggered: None,
            replication: None,
            stack: None,
            time_aware: None,
            datagrams: None,
        }
    }
}
