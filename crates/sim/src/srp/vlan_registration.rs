//! What a run observed of MVRP: where and when a VLAN was registered, and what was not let out there.

use tautwire_model::network::PortIndex;
use tautwire_units::Duration;
use tautwire_wire::VlanId;

/// A VLAN at a port of a bridge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VlanObservation {
    /// The port.
    pub port: PortIndex,
    /// The VLAN.
    pub vlan: VlanId,
    /// When it was registered (true) and left (false), true time since the start, in order.
    pub changes: Vec<(Duration, bool)>,
    /// Copies that would have left there while it was not registered.
    pub filtered: u64,
}

impl VlanObservation {
    pub(crate) fn new(port: PortIndex, vlan: VlanId) -> Self {
        Self { port, vlan, changes: Vec::new(), filtered: 0 }
    }

    /// Whether it is registered after the last change.
    #[must_use]
    pub fn is_registered(&self) -> bool {
        self.changes.last().is_some_and(|(_, registered)| *registered)
    }
}
