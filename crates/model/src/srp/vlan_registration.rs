//! Registration of VLANs (MVRP, IEEE Std 802.1Q-2022, clause 11) of a network with stream reservation, resolved: which
//! VLANs are registered, where they are forbidden, and the frames that declare them.
//!
//! The default VLAN is everywhere; the VLANs of reserved streams are where a node declares them.

use tautwire_wire::VlanId;

use crate::network::{Network, PortIndex, StreamIndex};

/// MVRP of a network.
#[derive(Clone, Debug, PartialEq)]
pub struct VlanRegistration {
    /// VLANs that are registered, in order: those of reserved streams, except for the default one.
    pub vlans: Vec<VlanId>,
    /// Per port: the stream of MVRP's MRPDUs that it sends; none without a cable.
    pub pdus: Vec<Option<StreamIndex>>,
    /// Per node: those of these VLANs in which it listens to streams without a reservation; declared from the start on.
    pub always: Vec<Vec<VlanId>>,
    /// Ports of bridges at which nothing is registered, in order (Registration Forbidden).
    pub forbidden: Vec<PortIndex>,
}

impl VlanRegistration {
    /// The VLANs that cannot be registered at a port of a bridge: all where registration is forbidden, and those of
    /// which it is no member where the description lists members.
    pub fn forbidden<'n>(
        &'n self,
        network: &'n Network,
        port: PortIndex,
    ) -> impl Iterator<Item = VlanId> + 'n {
        let all = self.forbidden.binary_search(&port).is_ok();
        self.vlans.iter().copied().filter(move |id| {
            let known = network.vlans.iter().find(|vlan| vlan.id == *id);
            all || known.is_none_or(|vlan| vlan.members.iter().all(|member| member.port != port))
        })
    }
}
