//! VLANs that end stations declare and bridges register in a run (MVRP, IEEE Std 802.1Q-2022, clause 11 and 35.1.2.2).
//!
//! A station declares the VLAN of a stream from its offer to its withdrawal, or from its request to its end. A bridge
//! propagates its registrations, and a frame of such a VLAN leaves a bridge only by ports that have it registered
//! (8.6.4), and is accepted only from these where ingress filtering is on (8.6.2). MVRP's times and its processor are
//! those of MSRP's node.

use std::collections::BTreeMap;

use tautwire_core::srp::SrpNode;
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, PortIndex, Stream, StreamIndex, Traffic};
use tautwire_units::Instant;
use tautwire_wire::VlanId;
use tautwire_wire::srp::MvrpValue;

use super::Srp;
use super::vlan_registration::VlanObservation;
use crate::control::{Plane, Shut};

/// A VLAN at a port, and a hop of a stream.
type Key = (PortIndex, VlanId);
type StreamHop = (StreamIndex, usize);

/// Registered VLANs of a run and what they let pass.
pub(super) struct Vlans {
    /// Hops that leave a bridge's port, by port and VLAN; and those that come in where ingress filtering is on.
    leave: BTreeMap<Key, Vec<StreamHop>>,
    enter: BTreeMap<Key, Vec<StreamHop>>,
    seen: BTreeMap<Key, VlanObservation>,
}

impl Vlans {
    /// None in a run without MVRP.
    pub(super) fn new(network: &Network) -> Option<Self> {
        network.srp.as_ref()?.vlan_registration.as_ref()?;
        let mut vlans = Self { leave: BTreeMap::new(), enter: BTreeMap::new(), seen: BTreeMap::new() };
        for (number, stream) in network.streams.iter().enumerate() {
            for (place, hop) in stream.hops.iter().enumerate() {
                let at = (StreamIndex::at(number), place);
                if leaves(network, stream, hop.port) {
                    vlans.leave.entry((hop.port, stream.vlan)).or_default().push(at);
                }
                if let Some(port) = enters(network, stream, hop.port) {
                    vlans.enter.entry((port, stream.vlan)).or_default().push(at);
                }
            }
        }
        Some(vlans)
    }

    /// No VLAN is registered.
    pub(super) fn begin(&self, plane: &mut dyn Plane) {
        for (stream, hop) in self.leave.values().flatten() {
            plane.shut(*stream, *hop, Shut::NotRegistered, true);
        }
        for (stream, hop) in self.enter.values().flatten() {
            plane.shut_far_end(*stream, *hop, true);
        }
    }

    /// Counts what was not let out.
    pub(super) fn end(&mut self, plane: &dyn Plane) {
        for (key, hops) in &self.leave {
            let counts = hops.iter().map(|(stream, hop)| plane.filtered(*stream, *hop, Shut::NotRegistered));
            let filtered: u64 = counts.sum();
            if filtered > 0 {
                let seen = self.seen.entry(*key).or_insert_with(|| VlanObservation::new(key.0, key.1));
                seen.filtered = filtered;
            }
        }
    }

    /// Forgets all changes but the last ones.
    pub(super) fn forget(&mut self) {
        for seen in self.seen.values_mut() {
            let last = seen.changes.pop();
            seen.changes.clear();
            seen.changes.extend(last);
        }
    }

    /// The observations, by port and VLAN.
    pub(super) fn observations(self) -> Vec<VlanObservation> {
        self.seen.into_values().collect()
    }
}

/// Whether frames of a stream leave a port only where their VLAN is registered.
fn leaves(network: &Network, stream: &Stream, port: PortIndex) -> bool {
    let is_bridge = network.device(network.ports[port.index()].node).is_some();
    is_bridge && is_dynamic(network, stream)
}

/// The port behind `port` if frames of a stream come in there only where their VLAN is registered.
fn enters(network: &Network, stream: &Stream, port: PortIndex) -> Option<PortIndex> {
    let links = network.ports[port.index()].links.expect("a hop's port is connected");
    let to = network.links[links.egress.index()].to;
    let is_bridge = network.device(network.ports[to.index()].node).is_some();
    (is_bridge && network.ports[to.index()].ingress_filtering && is_dynamic(network, stream)).then_some(to)
}

fn is_dynamic(network: &Network, stream: &Stream) -> bool {
    let vlans = network.srp.as_ref().and_then(|reservation| reservation.vlan_registration.as_ref());
    stream.traffic != Traffic::Protocol && vlans.is_some_and(|vlans| vlans.vlans.contains(&stream.vlan))
}

impl Srp<'_> {
    /// A station offers a stream or requests it, or does so no more.
    pub(super) fn want_vlan(
        &self,
        machine: &mut SrpNode,
        local: Instant,
        stream: u32,
        talks: bool,
        wants: bool,
    ) {
        let vlan = self.network.streams[self.settings.streams[stream as usize].stream.index()].vlan;
        let dynamic = self.settings.vlan_registration.as_ref();
        if dynamic.is_some_and(|vlans| vlans.vlans.contains(&vlan)) {
            machine.vlans_mut().want(local, MvrpValue(vlan.number()), Some((stream, talks)), wants);
        }
    }

    /// Looks at what a bridge has registered, after it changed.
    pub(super) fn settle_vlans(
        &mut self,
        node: NodeIndex,
        is_registered: impl Fn(usize, MvrpValue) -> bool,
        plane: &mut dyn Plane,
    ) {
        let Some(settings) = &self.settings.vlan_registration else { return };
        let vlans = self.vlans.as_mut().expect("MVRP is there");
        if self.network.device(node).is_none() {
            return;
        }
        for (place, port) in self.network.srp_ports(node).into_iter().enumerate() {
            for vlan in &settings.vlans {
                let (key, registered) = ((port, *vlan), is_registered(place, MvrpValue(vlan.number())));
                let seen = vlans.seen.entry(key).or_insert_with(|| VlanObservation::new(port, *vlan));
                if registered == seen.is_registered() {
                    continue;
                }
                seen.changes.push((plane.now().since_start(), registered));
                for (stream, hop) in vlans.leave.get(&key).into_iter().flatten() {
                    plane.shut(*stream, *hop, Shut::NotRegistered, !registered);
                }
                for (stream, hop) in vlans.enter.get(&key).into_iter().flatten() {
                    plane.shut_far_end(*stream, *hop, !registered);
                }
            }
        }
    }
}
