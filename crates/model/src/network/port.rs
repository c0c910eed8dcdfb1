//! Ports: priorities, classes, transmission selection, buffers.

use tautwire_core::{Priority, TrafficClassTable};
use tautwire_units::{BitRate, Bytes};
use tautwire_wire::{MacAddress, VlanId};

use crate::gates::PortGates;
use crate::preemption::PortPreemption;

use super::{LinkIndex, NodeIndex, SelectionAlgorithm};

/// A port of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct Port {
    /// The node.
    pub node: NodeIndex,
    /// Unique within the node.
    pub name: String,
    /// The link that leaves here and the one that arrives here; none if nothing is connected.
    pub links: Option<PortLinks>,
    /// MAC address.
    pub address: MacAddress,
    /// The network interface on which a bridge in real time runs it.
    pub interface: Option<String>,
    /// Largest MAC client data that is taken; a larger frame is dropped.
    pub mtu: Bytes,
    /// VLAN of an untagged frame.
    pub pvid: VlanId,
    /// Whether a frame of a VLAN that this port is no member of is dropped on reception.
    pub ingress_filtering: bool,
    /// Priority of an untagged frame.
    pub default_priority: Priority,
    /// The regenerated priority of each received priority.
    pub priority_regeneration: [Priority; 8],
    /// Priority to class, at egress.
    pub class_table: TrafficClassTable,
    /// The classes 0 to 7.
    pub classes: [ClassSettings; 8],
    /// Buffer shared by the classes of this port; none: the limits of the queues alone.
    pub shared_buffer: Option<SharedBuffer>,
    /// Its gates, if they are enabled.
    pub gates: Option<Box<PortGates>>,
    /// What is stated of its gates, without a list, if they are not enabled.
    pub gates_off: Option<Box<PortGates>>,
    /// What it states of frame preemption.
    pub preemption: Option<PortPreemption>,
}

/// The two directions of the cable at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortLinks {
    /// From this port.
    pub egress: LinkIndex,
    /// To this port.
    pub ingress: LinkIndex,
}

/// How a traffic class of a port selects and stores its frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassSettings {
    /// Transmission selection algorithm (802.1Q-2022 8.6.8).
    pub selection: TransmissionSelection,
    /// Most frames in the queue of the class.
    pub limit_frames: u32,
    /// Most octets (destination to FCS) in the queue of the class.
    pub limit_octets: Bytes,
    /// Whether a full queue gives up its oldest frames for a new one.
    pub discards_oldest: bool,
}

/// Transmission selection algorithms (802.1Q-2022 Table 8-6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransmissionSelection {
    /// Strict priority (8.6.8.1).
    StrictPriority,
    /// Credit-based shaper (8.6.8.2).
    CreditBased {
        /// idleSlope, in bits of the wire per second.
        idle_slope: BitRate,
    },
    /// Asynchronous traffic shaping (8.6.8.5).
    Ats,
}

impl TransmissionSelection {
    /// Its algorithm, without parameters.
    #[must_use]
    pub const fn algorithm(self) -> SelectionAlgorithm {
        match self {
            Self::StrictPriority => SelectionAlgorithm::StrictPriority,
            Self::CreditBased { .. } => SelectionAlgorithm::CreditBased,
            Self::Ats => SelectionAlgorithm::Ats,
        }
    }
}

/// A port's buffer in cells, shared by its classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedBuffer {
    /// Octets of a cell; a frame occupies full cells.
    pub cell: Bytes,
    /// Cells in all.
    pub cells: u32,
    /// Cells set aside for each class.
    pub reserved: [u32; 8],
}
