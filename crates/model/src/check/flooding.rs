//! Flooding that never ends: streams with learned routes, to an address that a bridge on the path never learns.
//!
//! A bridge learns an address from frames that it receives from there, of the same VLAN. Not here: addresses that age
//! out because their frames are rare, and are flooded again.

use std::collections::{HashMap, HashSet};

use tautwire_wire::{MacAddress, VlanId};

use crate::network::{NodeIndex, NodeKind, Stream};
use crate::resolve::streams::{Route, StreamDraft, Streams};
use crate::resolve::topology::Topology;
use crate::text::codes;
use crate::text::faults::Faults;

/// Reports such streams. Where the route of a stream was not found, which is reported elsewhere, learning is unknown.
pub(crate) fn check(topology: &Topology<'_>, streams: &Streams<'_, '_>, faults: &mut Faults) {
    if streams.list.iter().any(|draft| draft.stream.hops.is_empty()) {
        return;
    }
    let learned = || streams.list.iter().filter(|draft| draft.route == Route::Learned);
    let mut heard: HashMap<(VlanId, MacAddress), HashSet<NodeIndex>> =
        learned().map(|draft| ((draft.stream.vlan, draft.stream.destination), HashSet::new())).collect();
    if heard.is_empty() {
        return;
    }
    for draft in &streams.list {
        if let Some(bridges) = heard.get_mut(&(draft.stream.vlan, draft.stream.source)) {
            bridges.extend(received(topology, &draft.stream));
        }
    }
    for draft in learned() {
        let known = &heard[&(draft.stream.vlan, draft.stream.destination)];
        warn(topology, draft, known, faults);
    }
}

/// Nodes to which a stream's frames come.
fn received<'a>(topology: &'a Topology<'_>, stream: &'a Stream) -> impl Iterator<Item = NodeIndex> + 'a {
    stream.hops.iter().filter_map(|hop| {
        let egress = topology.ports[hop.port.index()].links?.egress;
        Some(topology.ports[topology.links[egress.index()].to.index()].node)
    })
}

fn warn(
    topology: &Topology<'_>,
    draft: &StreamDraft<'_, '_>,
    known: &HashSet<NodeIndex>,
    faults: &mut Faults,
) {
    let stream = &draft.stream;
    let name = |node: NodeIndex| &topology.nodes[node.index()].name;
    if stream.destination.is_group() {
        let message =
            "its frames go to a group address, which no bridge learns, so all are flooded".to_owned();
        let help = "leave out `route: learned`, so that bridges know the ports to its listeners";
        return faults.warning(codes::FLOODING, draft.route_place, message, help);
    }
    let Some(mut place) = stream.hops.iter().position(|hop| hop.listener.is_some()) else { return };
    // From the listener back to the talker: all bridges that have to know where the listener is.
    while let Some(previous) = stream.hops[place].previous {
        let bridge = topology.ports[stream.hops[place].port.index()].node;
        let is_off = matches!(topology.nodes[bridge.index()].kind, NodeKind::Bridge { learning: None, .. });
        if is_off || !known.contains(&bridge) {
            let why = if is_off {
                "does not learn".to_owned()
            } else {
                let listener = stream.listeners.first().map_or("its listener", |listener| name(*listener));
                format!("never receives a frame from `{listener}`")
            };
            let message = format!("its frames are flooded for the whole run: `{}` {why}", name(bridge));
            let help = if is_off {
                "leave out `learning: off`, or `route: learned`, so that bridges know the port to its listener"
            } else {
                "let the listener send a stream of this VLAN that way, or leave out `route: learned`, so that bridges know the port"
            };
            return faults.warning(codes::FLOODING, draft.route_place, message, help);
        }
        place = previous as usize;
    }
}
