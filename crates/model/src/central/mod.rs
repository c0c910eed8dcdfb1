//! Central configuration of a network's streams (IEEE Std 802.1Q-2022, 46.1.3), resolved: the nodes of CUC and CNC,
//! their processing times, and their channels to users and bridges.
//!
//! Each direction of a channel is a stream of its own: at most one frame in an interval, so it has an arrival curve.

pub(crate) mod language;
pub(crate) mod resolve;

use tautwire_core::central::ChannelTiming;
use tautwire_units::Bytes;

use crate::check::pace::Recurring;
use crate::network::{Delay, NodeIndex, StreamIndex};

/// Central configuration: fully centralised if there is a CUC, else with distributed users.
#[derive(Clone, Debug, PartialEq)]
pub struct CentralConfiguration {
    /// The central network configuration.
    pub cnc: NodeIndex,
    /// The central user configuration; none: users speak MSRP with their edge bridges.
    pub cuc: Option<NodeIndex>,
    /// How the CNC tests.
    pub test: CentralTest,
    /// Processing time of the CNC for a message.
    pub cnc_processing: Delay,
    /// Its time for a test.
    pub computation: Delay,
    /// Processing time of the CUC for a message.
    pub cuc_processing: Delay,
    /// Per node: what a bridge takes to apply a configuration.
    pub configuration: Vec<Delay>,
    /// Payload of a message.
    pub message_size: Bytes,
    /// Pace and repetition.
    pub timing: ChannelTiming,
    /// Channels, each direction by itself.
    pub channels: Vec<ManagementChannel>,
}

impl CentralConfiguration {
    /// The repetitions of its channels.
    pub(crate) const fn recurring(&self, nodes: usize) -> Recurring {
        Recurring::new("a management channel repeats a message", self.timing.retry, nodes)
    }
}

/// How a CNC tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CentralTest {
    /// The bandwidth of every port, as bridges with MSRP do.
    Bandwidth,
    /// The bounds of all deadlines.
    Bounds,
}

/// One direction of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManagementChannel {
    /// The sender.
    pub from: NodeIndex,
    /// The receiver.
    pub to: NodeIndex,
    /// Its frames.
    pub stream: StreamIndex,
}
