//! gPTP of a network (IEEE Std 802.1AS-2020), resolved: the nodes that take part, their intervals, stamps and priorities.
//!
//! Every port with a cable sends its messages as frames of a stream of its own.

pub(crate) mod codes;
pub(crate) mod language;
pub(crate) mod resolve;

use tautwire_core::Priority;
use tautwire_core::gptp::node::GptpConfig;
use tautwire_core::gptp::{SystemIdentity, peer_delay};
use tautwire_units::Duration;
use tautwire_wire::MacAddress;
use tautwire_wire::gptp::{ClockIdentity, ClockQuality};

use crate::check::pace::Recurring;
use crate::network::{Delay, Network, NodeIndex, PortIndex, StreamIndex};

/// gPTP of a network: every node takes part.
#[derive(Clone, Debug, PartialEq)]
pub struct Gptp {
    /// Priority that determines the traffic class of the messages at every port; they have no tag.
    pub priority: Priority,
    /// Logarithm to the base 2 of the interval of syncs in seconds.
    pub log_sync: i8,
    /// The same of announces.
    pub log_announce: i8,
    /// The same of peer delay.
    pub log_pdelay: i8,
    /// How often a run looks how far the nodes' times are off, true time.
    pub sample_interval: Duration,
    /// How the clocks that end stations' applications see are corrected; none: they see their own oscillators.
    pub servo: Option<GptpServo>,
    /// Per node.
    pub nodes: Vec<GptpSettings>,
    /// Per port: the stream of the messages that it sends; none without a cable.
    pub messages: Vec<Option<StreamIndex>>,
    /// Per port: its configured delay asymmetry, in picoseconds.
    pub asymmetries: Vec<i64>,
}

impl Gptp {
    /// Its recurring events in a run.
    pub(crate) fn recurring(&self, nodes: usize, ports: usize) -> Vec<Recurring> {
        let sent = |log| Recurring::new("a port sends a message of `gptp`", peer_delay::interval(log), ports);
        let mut all: Vec<_> = [self.log_sync, self.log_announce, self.log_pdelay].map(sent).into();
        all.push(Recurring::new("a run samples the offsets of `gptp`", self.sample_interval, nodes));
        all
    }
}

/// How a clock is made to follow the grandmaster's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GptpServo {
    /// From here on an offset is stepped.
    pub step_min: Duration,
    /// By how many parts in 10⁹ the clock is run faster or slower than its oscillator, at most.
    pub rate_max_ppb: u32,
    /// Share of an offset per interval that changes the rate at once, in thousandths.
    pub proportional: u16,
    /// The share that changes it permanently.
    pub integral: u16,
}

/// The parameters of a node in gPTP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GptpSettings {
    /// Domain.
    pub domain: u8,
    /// First priority: less is better; 255 is never grandmaster.
    pub priority1: u8,
    /// Second priority.
    pub priority2: u8,
    /// Longest mean link delay of a capable port.
    pub delay_max: Duration,
    /// Most requests without an answer that leave a port capable.
    pub lost_max: u32,
    /// Step of its stamps, which are rounded down; zero for none.
    pub stamp_quantum: Duration,
    /// By how much a stamp is late.
    pub stamp_error: Delay,
    /// How long it takes for a message, one after the other: the residence time of a bridge.
    pub processing: Delay,
}

impl Network {
    /// The machines' settings of a node, ports with cables in order.
    ///
    /// # Panics
    /// If the network has no gPTP.
    #[must_use]
    pub fn gptp_node(&self, node: NodeIndex) -> GptpConfig {
        let gptp = self.gptp.as_ref().expect("a network with gPTP");
        let settings = &gptp.nodes[node.index()];
        GptpConfig {
            system: SystemIdentity {
                priority1: settings.priority1,
                quality: ClockQuality { class: 248, accuracy: 0xfe, variance: 0x436a },
                priority2: settings.priority2,
                identity: self.gptp_identity(node),
            },
            domain: settings.domain,
            log_pdelay: gptp.log_pdelay,
            log_sync: gptp.log_sync,
            log_announce: gptp.log_announce,
            delay_max: settings.delay_max,
            lost_max: settings.lost_max,
            asymmetries: self.gptp_ports(node).iter().map(|port| gptp.asymmetries[port.index()]).collect(),
        }
    }

    /// The clock identity of a node, from the address of its first port.
    #[must_use]
    pub fn gptp_identity(&self, node: NodeIndex) -> ClockIdentity {
        let first = self.nodes[node.index()].ports.start as usize;
        ClockIdentity::of(self.ports.get(first).map_or(MacAddress::default(), |port| port.address))
    }

    /// The ports of a node that have cables.
    #[must_use]
    pub fn gptp_ports(&self, node: NodeIndex) -> Vec<PortIndex> {
        let ports = self.nodes[node.index()].ports.clone().map(PortIndex);
        ports.filter(|port| self.ports[port.index()].links.is_some()).collect()
    }
}
