//! Stream reservation of a network (IEEE Std 802.1Q-2022, clauses 10, 34, 35), resolved: the nodes that take part,
//! their times and limits, and the times of requests.
//!
//! Every port with a cable sends MRPDUs as frames of a stream of its own; [`Traffic::Protocol`] limits them.
//!
//! [`Traffic::Protocol`]: crate::network::Traffic::Protocol

pub(crate) mod avb_profile;
pub(crate) mod codes;
pub(crate) mod language;
mod pace;
pub mod reserved_class;
pub(crate) mod resolve;
pub mod vlan_registration;

use tautwire_core::Priority;
use tautwire_core::srp::mrp::MrpTiming;
use tautwire_core::srp::{AddressTable, BridgeConfig, PortConfig, SrClass, VlanLimits};
use tautwire_units::Duration;
use tautwire_wire::srp::TalkerValue;

use crate::central::CentralConfiguration;
use crate::check::pace::Recurring;
use crate::network::{Delay, Network, NodeIndex, PortIndex, StreamIndex};
use crate::srp::vlan_registration::VlanRegistration;

/// Stream reservation of a network: every node takes part.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamReservation {
    /// Classes, highest first.
    pub classes: Vec<SrClass>,
    /// Priority that determines the traffic class of MRPDUs at every port; they have no tag.
    pub priority: Priority,
    /// Per node.
    pub nodes: Vec<SrpNode>,
    /// Per port: the stream of the MRPDUs that it sends; none without a cable, or without MSRP.
    pub pdus: Vec<Option<StreamIndex>>,
    /// Registration of VLANs; none: they are where the description has them.
    pub vlan_registration: Option<VlanRegistration>,
    /// Reserved streams, in file order.
    pub streams: Vec<ReservedStream>,
    /// Central configuration; none: bridges decide among themselves.
    pub central: Option<CentralConfiguration>,
}

impl StreamReservation {
    /// Its recurring events in a run.
    pub(crate) fn recurring(&self, nodes: usize) -> Vec<Recurring> {
        let mut all = Vec::new();
        for node in &self.nodes {
            all.extend(node.tick.map(|tick| Recurring::new("a node checks its timers", tick.period, 1)));
            all.push(Recurring::new("a port may send an MRPDU", node.timing.join, 1));
            all.push(Recurring::new("a port sends LeaveAll", node.timing.leave_all, 1));
            let periodic = |period| Recurring::new("a port repeats its declarations", period, 1);
            all.extend(node.timing.periodic.map(periodic));
        }
        all.extend(self.central.as_ref().map(|central| central.recurring(nodes)));
        all
    }
}

/// Times and limits of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SrpNode {
    /// Times of MRP.
    pub timing: MrpTiming,
    /// Step in which its software looks at its timers; none: at once.
    pub tick: Option<Tick>,
    /// How long it takes for an MRPDU, one after the other.
    pub processing: Delay,
    /// In addition, for an MRPDU that declares talkers.
    pub talker_processing: Delay,
    /// In addition, for an MRPDU that declares listeners.
    pub listener_processing: Delay,
    /// Most streams in the table of talkers, of a bridge.
    pub streams_max: u32,
    /// Most reservations, counted per egress port, of a bridge.
    pub reservations_max: u32,
    /// Most ports on which streams are registered, of a bridge.
    pub fan_in_max: u32,
    /// Where it stores destinations of streams, of a bridge.
    pub addresses: AddressTable,
    /// Latency that a bridge declares for itself, in addition to waiting and transmission.
    pub device_latency: Duration,
}

/// A step of timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tick {
    /// Its length, on the node's clock.
    pub period: Duration,
    /// Whether steps count from the last MRPDU that was received; else from an instant drawn by the seed.
    pub restarts: bool,
}

/// A stream that is reserved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReservedStream {
    /// Its frames, sent while listeners are ready.
    pub stream: StreamIndex,
    /// The talker's declaration.
    pub talker: TalkerValue,
    /// Latest that listeners take, in nanoseconds of accumulated latency.
    pub latency_max_ns: u32,
    /// When the talker offers it, true time since the start.
    pub advertise_at: Duration,
    /// When it withdraws it.
    pub withdraw_at: Option<Duration>,
    /// When each listener requests it, in the order of the stream's listeners.
    pub attach_at: Vec<Duration>,
    /// When each listener ends its request, in the order of the stream's listeners.
    pub detach_at: Vec<Option<Duration>>,
    /// Whether a listener requests it only after it has received the talker's declaration.
    pub when_offered: bool,
}

impl Network {
    /// The settings of a bridge of MSRP and its ports with cables, in the order of the settings'.
    ///
    /// # Panics
    /// If the network has no stream reservation.
    #[must_use]
    pub fn srp_bridge(&self, node: NodeIndex) -> (BridgeConfig, Vec<PortIndex>) {
        let reservation = self.srp.as_ref().expect("a network with stream reservation");
        let settings = &reservation.nodes[node.index()];
        let ports = self.srp_ports(node);
        let port = |port: &PortIndex| {
            let port = &self.ports[port.index()];
            let link = port.links.expect("a port of MSRP has a cable").egress;
            PortConfig {
                rate: self.links[link.index()].rate,
                frame_size_max: u16::try_from(port.mtu.get()).unwrap_or(u16::MAX),
                device: settings.device_latency,
            }
        };
        let address = ports.first().map_or([0; 6], |port| self.ports[port.index()].address.0);
        let [a, b, c, d, e, f] = address;
        let config = BridgeConfig {
            id: u64::from_be_bytes([0x80, 0, a, b, c, d, e, f]),
            classes: reservation.classes.clone(),
            ports: ports.iter().map(port).collect(),
            timing: settings.timing,
            streams_max: settings.streams_max as usize,
            reservations_max: settings.reservations_max as usize,
            fan_in_max: settings.fan_in_max as usize,
            vlans: self.vlan_limits(&ports),
            addresses: settings.addresses,
        };
        (config, ports)
    }

    /// Where streams of a VLAN cannot leave these ports: it may not be registered there, or leaves without a tag.
    fn vlan_limits(&self, ports: &[PortIndex]) -> VlanLimits {
        let mut limits = VlanLimits::default();
        let registration = self.srp.as_ref().and_then(|known| known.vlan_registration.as_ref());
        for (place, port) in ports.iter().enumerate() {
            let forbidden = registration.into_iter().flat_map(|vlans| vlans.forbidden(self, *port));
            limits.forbidden.extend(forbidden.map(|vlan| (place, vlan.number())));
            for vlan in &self.vlans {
                let own = vlan.members.iter().find(|member| member.port == *port);
                if own.is_some_and(|member| !member.tagged) {
                    limits.untagged.insert((place, vlan.id.number()));
                }
            }
        }
        limits
    }

    /// The ports of a node that have cables.
    #[must_use]
    pub fn srp_ports(&self, node: NodeIndex) -> Vec<PortIndex> {
        let ports = self.nodes[node.index()].ports.clone().map(PortIndex);
        ports.filter(|port| self.ports[port.index()].links.is_some()).collect()
    }
}
