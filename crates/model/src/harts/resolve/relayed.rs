//! `harts.polled:`, switches after the first: which of them schedule a synchronous stream, and the time of its messages there.
//!
//! A message from another switch waits in a memory pool until a cycle's schedule takes it, so it is at the port when
//! the synchronous window begins: it takes of the window its time on the slowest line out of the switch, and no time
//! for its path. Not here: the first switch (`polled.rs`).

use tautwire_units::Duration;

use super::polled::{clocks, step_max};
use crate::frame::wire_bits;
use crate::harts::Harts;
use crate::harts::codes;
use crate::harts::polled::{PolledStream, RelayedStream};
use crate::network::{Delay, Hop, NodeIndex, NodeKind};
use crate::resolve::models::Models;
use crate::resolve::streams::Streams;
use crate::resolve::topology::Topology;
use crate::text::faults::Faults;
use crate::text::tree::Node;

/// Messages that a pool holds by default.
const POOL: u32 = 4;

/// The further switches of a stream that `item` (of `polled`) describes; none if servers carry it there.
pub(crate) fn relayed(
    item: &Node<'_>,
    polled: &PolledStream,
    topology: &Topology<'_>,
    streams: &Streams<'_, '_>,
) -> Vec<RelayedStream> {
    if item.get("further-switches").and_then(Node::text) == Some("servers") {
        return Vec::new();
    }
    let mut relayed: Vec<RelayedStream> = Vec::new();
    for hop in &streams.list[polled.stream.index()].stream.hops {
        let switch = topology.ports[hop.port.index()].node;
        let is_bridge = matches!(topology.nodes[switch.index()].kind, NodeKind::Bridge { .. });
        let known = switch == polled.switch || relayed.iter().any(|other| other.switch == switch);
        if is_bridge && !known {
            relayed.push(RelayedStream {
                stream: polled.stream,
                switch,
                config: polled.config,
                pool: item.parsed("pool").unwrap_or(POOL),
            });
        }
    }
    relayed
}

/// Finds the times of messages at further switches, and what goes before them in a window at most.
pub(crate) fn times(
    relayed: &mut [RelayedStream],
    leads: &mut [Duration],
    harts: &Harts,
    topology: &Topology<'_>,
    models: &Models<'_, '_>,
    streams: &Streams<'_, '_>,
    faults: &mut Faults,
) {
    for one in relayed {
        let draft = &streams.list[one.stream.index()];
        let stream = &draft.stream;
        let time = |hop: &Hop| {
            let links = topology.ports[hop.port.index()].links.expect("a hop's port has a cable");
            topology.links[links.egress.index()].rate.duration_ceil(wire_bits(stream.payload_max, true))
        };
        let here = stream.hops.iter().filter(|hop| topology.ports[hop.port.index()].node == one.switch);
        one.config.time = here.map(time).max().unwrap_or_default().saturating_add(step_max(topology));
        let lead = &mut leads[one.switch.index()];
        *lead = (*lead).max(clocks(harts, topology));
        if frames_may_queue(one.switch, topology, models) {
            let message = format!(
                "`{}` is relayed by a switch whose device has stages in which frames may queue",
                stream.name
            );
            let help = "remove `occupancy` from the stages of the device";
            faults.error(codes::HARTS_STREAM, draft.name_place, message, help);
        }
    }
}

fn frames_may_queue(switch: NodeIndex, topology: &Topology<'_>, models: &Models<'_, '_>) -> bool {
    let NodeKind::Bridge { device, .. } = &topology.nodes[switch.index()].kind else { return false };
    models.device_at(*device).stages.iter().any(|stage| stage.occupancy != Delay::default())
}
