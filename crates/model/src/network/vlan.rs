//! VLANs, their member ports and active topology.

use tautwire_wire::VlanId;

use super::PortIndex;

/// A VLAN.
#[derive(Clone, Debug, PartialEq)]
pub struct Vlan {
    /// Identifier.
    pub id: VlanId,
    /// Member ports, in order.
    pub members: Vec<VlanMember>,
    /// Cables of its active topology (cable *n* is links 2*n* and 2*n*+1), in order.
    pub active_cables: Vec<u32>,
}

/// A member port of a VLAN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VlanMember {
    /// The port.
    pub port: PortIndex,
    /// Whether frames leave it with a tag.
    pub tagged: bool,
}
