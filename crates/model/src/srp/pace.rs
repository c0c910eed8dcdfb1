//! Whether MRP can send everything in time: after a leave-all every declaration must be repeated within a LeaveTime.
//!
//! A port sends three MRPDUs in one and a half JoinTimes, so in a LeaveTime L at least `3 · ⌊L / 1.5 J⌋`, if three
//! were just sent. Streams of one talker that follow each other in identifier and address, and are equal otherwise,
//! share a vector; others cost 28 octets of a talker and 12 of a listener each. Above the capacity of these MRPDUs,
//! registrations lapse at every leave-all.

use tautwire_wire::srp::{AttributeValue, MsrpValue};

use super::{ReservedStream, SrpNode};
use crate::network::PortIndex;
use crate::resolve::topology::Topology;
use crate::srp::codes;
use crate::text::faults::Faults;
use crate::text::tree::Node;

/// Octets of an MRPDU that attributes have for certain: without version, end mark, four messages' headers and ends, the domains,
/// and what a vector leaves that found no room.
const ROOM: u64 = 1_500 - 3 - 4 * 6 - 9 - 28;

/// Warns of the port with the most declarations, if it has too many. `ends` are talker and listeners of each reserved stream.
pub(crate) fn check(
    node: &Node<'_>,
    topology: &Topology<'_>,
    settings: &[SrpNode],
    reserved: &[ReservedStream],
    ends: &[(usize, Vec<usize>)],
    faults: &mut Faults,
) {
    let least = settings.iter().map(room).min().unwrap_or(u64::MAX);
    let talker = |reserved: &ReservedStream| MsrpValue::TalkerAdvertise(reserved.talker);
    let listener = |reserved: &ReservedStream| MsrpValue::Listener(reserved.talker.stream);
    // No port sends more than the sum of all declarations.
    if octets(reserved.iter().map(talker)) + octets(reserved.iter().map(listener)) <= least {
        return;
    }
    let mut worst: Option<(u64, PortIndex, u64)> = None;
    for (number, port) in topology.ports.iter().enumerate() {
        let Some(links) = port.links else { continue };
        let far = topology.ports[topology.links[links.egress.index()].to.index()].node.index();
        let behind = side(topology, far, port.node.index());
        // A port declares every talker that is not behind it.
        let talkers = reserved.iter().zip(ends).filter(|(_, (talker, _))| !behind[*talker]);
        let listeners = reserved.iter().zip(ends).filter(|(_, (talker, listeners))| {
            behind[*talker] && listeners.iter().any(|listener| !behind[*listener])
        });
        let need = octets(talkers.map(|(reserved, _)| talker(reserved)))
            + octets(listeners.map(|(reserved, _)| listener(reserved)));
        let room = room(&settings[port.node.index()]);
        if need > room && worst.is_none_or(|(most, ..)| need > most) {
            worst = Some((need, PortIndex::at(number), room));
        }
    }
    if let Some((need, port, room)) = worst {
        let message = format!(
            "{} declares its talkers and listeners in {need} octets, and in a LeaveTime MRP has room for {room} for \
             certain: registrations may lapse at every leave-all",
            topology.port_name(port)
        );
        let help = "put the streams of a talker one behind the other and make them alike, so that they share vectors; \
                    or give bridges and end stations a longer `leave-time`, or a shorter `join-time`";
        faults.warning(codes::RESERVATION_PACE, node.anchor(), message, help);
    }
}

/// Octets that a port certainly can send in a LeaveTime.
fn room(settings: &SrpNode) -> u64 {
    let (join, leave) = (settings.timing.join.as_ps(), settings.timing.leave.as_ps());
    // Rounded up: the window of three MRPDUs; down: how many windows there are for certain.
    let windows = leave / (join * 3).div_ceil(2).max(1);
    windows * 3 * ROOM
}

/// Octets of these values of one type in vectors, as they follow each other.
fn octets(values: impl Iterator<Item = MsrpValue>) -> u64 {
    let mut sum = 0;
    let mut run: u64 = 0;
    let mut before: Option<MsrpValue> = None;
    for value in values {
        if before.is_some_and(|before| before.next() == Some(value)) {
            run += 1;
        } else {
            sum += before.map_or(0, |before| vector(&before, run));
            run = 1;
        }
        before = Some(value);
    }
    sum + before.map_or(0, |before| vector(&before, run))
}

/// Octets of a vector of so many values: header, first value, three events in an octet, four declarations of listeners in one.
fn vector(first: &MsrpValue, values: u64) -> u64 {
    let length = MsrpValue::length(first.attribute_type()).map_or(0, u64::from);
    let declarations =
        if MsrpValue::has_declarations(first.attribute_type()) { values.div_ceil(4) } else { 0 };
    2 + length + values.div_ceil(3) + declarations
}

/// The nodes that are reached from `from` without passing `without`.
fn side(topology: &Topology<'_>, from: usize, without: usize) -> Vec<bool> {
    let mut reached = vec![false; topology.nodes.len()];
    let mut open = vec![from];
    reached[from] = true;
    while let Some(node) = open.pop() {
        for port in topology.nodes[node].ports.clone() {
            let Some(links) = topology.ports[port as usize].links else { continue };
            let next = topology.ports[topology.links[links.egress.index()].to.index()].node.index();
            if next != without && !std::mem::replace(&mut reached[next], true) {
                open.push(next);
            }
        }
    }
    reached
}
