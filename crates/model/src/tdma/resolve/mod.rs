//! `tdma:`, and the streams whose frames depend on others: synchronisation and responses.

pub(crate) mod start_up;

use tautwire_core::tdma::{Carries, TdmaSlot};
use tautwire_units::{Bytes, Duration};

use super::lifetime::common;
use super::standby::DualMasterCause;
use crate::frame::{frame_length, wire_bits};
use crate::network::{
    ArrivalCurve, Delay, DeviceModel, Distribution, Network, NodeIndex, NodeKind, SelectionAlgorithm,
    StreamIndex, Switching, TimelineAction, Traffic, TransmissionSelection,
};
use crate::parse::Draft;
use crate::resolve::models::Models;
use crate::resolve::streams::{Route, StreamDraft, Streams};
use crate::resolve::topology::Topology;
use crate::tdma::codes;
use crate::tdma::{OwnedSlot, Standby, Tdma};
use crate::text::faults::Faults;
use crate::text::tree::Node;

/// Octets of a frame that opens a cycle: 4 of RTmac, 24 of TDMA (RTnet).
const SYNCHRONISATION_MIN: Bytes = Bytes::new(28);

/// Finds what response streams answer. Needs all streams.
pub(crate) fn responses(streams: &mut Streams<'_, '_>, faults: &mut Faults) {
    for number in 0..streams.list.len() {
        let draft = &streams.list[number];
        let Traffic::Response { turn_around, .. } = draft.stream.traffic else { continue };
        let Some(named) = draft.node.get("traffic").and_then(|traffic| traffic.get("to")) else { continue };
        let Some(to) = streams.find(named, faults) else { continue };
        let request = &streams.list[to.index()].stream;
        let draft = &streams.list[number];
        // The receivers of a broadcast are known when its route is found.
        let broadcast = streams.list[to.index()].route == Route::Broadcast;
        let heard = request.listeners.contains(&draft.stream.talker)
            || broadcast && request.talker != draft.stream.talker;
        // Answers of time-triggered links may be answered in turn: a chain of cycles.
        let timed = |stream: &crate::network::Stream| stream.time_triggered.is_some();
        let chained = timed(request) && timed(&draft.stream) && to.index() < number;
        let made = match request.traffic {
            Traffic::Response { .. } => !chained,
            Traffic::Synchronisation { .. } => true,
            _ => false,
        };
        let (answer, asked) = (&draft.stream.name, &request.name);
        if heard && matches!(request.traffic, Traffic::Response { .. }) && made {
            let message = format!("`{answer}` answers `{asked}`, which is a response itself");
            let help = "name a stream that is not a response: only time-triggered links answer responses, listed in that order";
            faults.error(codes::RESPONSE, named.place, message, help);
        } else if !heard || made {
            let message = format!("the talker of `{answer}` does not receive `{asked}`, which it answers");
            let help = "name a stream that is not a response and that this talker receives";
            faults.error(codes::RESPONSE, named.place, message, help);
        }
        streams.list[number].stream.traffic = Traffic::Response { to, turn_around };
    }
}

/// Checks that senders of responses to broadcasts receive these; routes are found.
pub(crate) fn check_heard(streams: &Streams<'_, '_>, faults: &mut Faults) {
    for draft in &streams.list {
        let Traffic::Response { to, .. } = draft.stream.traffic else { continue };
        let Some(request) = streams.list.get(to.index()) else { continue };
        let is_routed = !request.stream.hops.is_empty();
        if is_routed
            && request.route == Route::Broadcast
            && !request.stream.listeners.contains(&draft.stream.talker)
        {
            let message = format!(
                "the broadcast `{}` does not reach the talker of `{}`, which answers it",
                request.stream.name, draft.stream.name
            );
            let help = "name a stream that its talker receives, or make the talker's port a member of the broadcast's VLAN";
            faults.error(codes::RESPONSE, draft.place("traffic"), message, help);
        }
    }
}

/// Reads `tdma:`; routes are found.
pub(crate) fn tdma(
    input: &Draft<'_>,
    topology: &Topology<'_>,
    models: &Models<'_, '_>,
    streams: &mut Streams<'_, '_>,
    faults: &mut Faults,
) -> Option<Tdma> {
    let Some(node) = input.root.get("tdma") else {
        for draft in &streams.list {
            if matches!(draft.stream.traffic, Traffic::Synchronisation { .. }) {
                let message = "synchronisation frames of no cycle".to_owned();
                faults.error(codes::TDMA_STATION, draft.place("traffic"), message, "add `tdma:`");
            }
        }
        return None;
    };
    let cycle: Duration = node.parsed("cycle")?;
    let synchronisation = synchronisation(node, cycle, streams, faults)?;
    let master = streams.list[synchronisation.index()].stream.talker;
    let mut standby = None;
    if let Some(node) = node.get("standby") {
        let stream = self::synchronisation(node, cycle, streams, faults)?;
        let offset: Duration = node.parsed("offset")?;
        if streams.list[stream.index()].stream.talker == master || offset >= cycle || offset.is_zero() {
            let message = "the standby cannot replace the master: it is the master, or its offset is not within the cycle".to_owned();
            let help = "name another end station, and an offset within the cycle";
            faults.error(codes::TDMA_STATION, node.anchor(), message, help);
        }
        let lost_in_a_row = node.parsed("lost-in-a-row");
        standby = Some(Standby { synchronisation: stream, offset, lost_in_a_row });
    }
    let slots = slots(node, cycle, topology, faults);
    deaf(node, synchronisation, standby.as_ref(), &slots, (topology, streams), faults);
    let start_up = start_up::start_up(node, &slots, topology, streams);
    for draft in streams.list.iter().filter(|draft| draft.stream.virtual_link.is_some()) {
        let message =
            "a virtual link cannot be sent in slots of a TDMA cycle, which its regulator does not know"
                .to_owned();
        let help = "remove `virtual-link` or `tdma`";
        faults.error(codes::CONFLICT, draft.place("virtual-link"), message, help);
    }
    for (number, draft) in streams.list.iter().enumerate() {
        let protocol = [Some(synchronisation), standby.map(|standby| standby.synchronisation)];
        if protocol.contains(&Some(StreamIndex::at(number))) {
            continue;
        }
        station(draft, &slots, topology, faults);
        lifetime(draft, node, cycle, &slots, faults);
    }
    for draft in &streams.list {
        strict_store_and_forward(draft, topology, models, faults);
    }
    let travel: Vec<Duration> = (0..topology.nodes.len())
        .map(|node| travel(NodeIndex::at(node), &streams.list[synchronisation.index()], topology, models))
        .collect();
    if let Some(standby) = standby {
        let way = travel[streams.list[standby.synchronisation.index()].stream.talker.index()];
        if standby.offset <= way {
            let place = node.get("standby").map_or(node.anchor(), Node::anchor);
            let message = format!(
                "the standby takes over after {}, and the master's frame arrives only after {way}",
                standby.offset
            );
            faults.error(codes::TDMA_STATION, place, message, "lengthen `offset`");
        }
    }
    slots_at_the_opening(node, &streams.list[synchronisation.index()], &slots, topology, faults);
    Some(Tdma { cycle, synchronisation, standby, slots, travel, lifetime: node.parsed("lifetime"), start_up })
}

/// Stations with slots, and the standby, receive the frames that open cycles; the master receives those of the
/// standby, which it follows when it is back.
fn deaf(
    node: &Node<'_>,
    synchronisation: StreamIndex,
    standby: Option<&Standby>,
    slots: &[OwnedSlot],
    (topology, streams): (&Topology<'_>, &Streams<'_, '_>),
    faults: &mut Faults,
) {
    let opening: Vec<_> = [Some(synchronisation), standby.map(|standby| standby.synchronisation)]
        .into_iter()
        .flatten()
        .map(|number| &streams.list[number.index()])
        .collect();
    let standby = opening.get(1).map(|draft| draft.stream.talker);
    let mut nodes: Vec<NodeIndex> = slots.iter().map(|slot| slot.owner).chain(standby).collect();
    nodes.sort_unstable_by_key(|node| node.index());
    nodes.dedup();
    for owner in nodes {
        let unheard = |draft: &&StreamDraft<'_, '_>| {
            let stream = &draft.stream;
            draft.route != Route::Broadcast && stream.talker != owner && !stream.listeners.contains(&owner)
        };
        if let Some(StreamDraft { stream, .. }) = opening.iter().copied().find(unheard) {
            let name = &topology.nodes[owner.index()].name;
            let what = if Some(owner) == standby { "replaces the master" } else { "has slots" };
            let message = format!("`{name}` {what} and does not receive `{}`", stream.name);
            let help = format!("make `{name}` a listener of that stream");
            faults.error(codes::TDMA_STATION, node.anchor(), message, help);
        }
    }
}

/// The stream under `synchronisation`, whose promise becomes a frame a cycle.
fn synchronisation(
    node: &Node<'_>,
    cycle: Duration,
    streams: &mut Streams<'_, '_>,
    faults: &mut Faults,
) -> Option<StreamIndex> {
    let named = node.get("synchronisation")?;
    let found = streams.find(named, faults)?;
    let stream = &mut streams.list[found.index()].stream;
    if !matches!(stream.traffic, Traffic::Synchronisation { .. }) {
        let message = format!("`{}` opens cycles, and its traffic is of another type", stream.name);
        let help = "write `traffic: {type: synchronisation}` there";
        faults.error(codes::TDMA_STATION, named.place, message, help);
        return None;
    }
    if stream.payload_min < SYNCHRONISATION_MIN {
        let message = format!("frames of `{}` are too small to open a cycle", stream.name);
        let help = format!(
            "raise its payload to {SYNCHRONISATION_MIN} at least: the RTmac header and the TDMA frame"
        );
        let place = streams.list[found.index()].place("payload");
        faults.error(codes::TDMA_STATION, place, message, help);
        return None;
    }
    stream.traffic = Traffic::Synchronisation { cycle };
    let burst = wire_bits(stream.payload_max, stream.tagged);
    let rate = tautwire_units::BitRate::per_period_ceil(burst, cycle).ok()?;
    stream.arrival = Some(ArrivalCurve { rate, burst });
    Some(found)
}

/// The master's line is taken by the frame that opens the cycle before its slots.
fn slots_at_the_opening(
    node: &Node<'_>,
    opening: &StreamDraft<'_, '_>,
    slots: &[OwnedSlot],
    topology: &Topology<'_>,
    faults: &mut Faults,
) {
    let stream = &opening.stream;
    let line = stream.hops.first().and_then(|hop| topology.ports[hop.port.index()].links);
    let Some(line) = line.map(|links| topology.links[links.egress.index()].rate) else { return };
    let taken = line.duration_ceil(wire_bits(stream.payload_max, stream.tagged));
    let early = |slot: &&OwnedSlot| slot.owner == stream.talker && slot.slot.offset < taken;
    if let Some(slot) = slots.iter().find(early) {
        let place = node.get("slots").map_or(node.anchor(), Node::anchor);
        let message = format!(
            "the master's slot at {} begins while `{}` is sent, which takes {taken}",
            slot.slot.offset, stream.name
        );
        faults.error(codes::TDMA_SLOT, place, message, "move the slot after the end of that frame");
    }
}

fn slots(node: &Node<'_>, cycle: Duration, topology: &Topology<'_>, faults: &mut Faults) -> Vec<OwnedSlot> {
    let mut slots: Vec<(OwnedSlot, &Node<'_>)> = Vec::new();
    for item in node.get("slots").map_or(&[][..], Node::items) {
        let Some(slot) = slot(item, topology, faults) else { continue };
        let fault = if topology.is_bridge(slot.owner) {
            Some("a bridge cannot own a slot".to_owned())
        } else if slot.slot.offset + slot.length > cycle {
            Some(format!("the slot ends after the cycle of {cycle}"))
        } else if slot.slot.phase >= slot.slot.period {
            Some(format!("the phase {} is not below `every` of {}", slot.slot.phase, slot.slot.period))
        } else {
            let meets = |(other, _): &&(OwnedSlot, &Node<'_>)| slot.shares_time_with(other);
            slots
                .iter()
                .find(meets)
                .map(|(other, _)| format!("the slot overlaps the one at {}", other.slot.offset))
        };
        if let Some(message) = fault {
            faults.error(codes::TDMA_SLOT, item.anchor(), message, "move or shorten the slot");
        }
        slots.push((slot, item));
    }
    slots.sort_by_key(|(slot, _)| slot.slot.offset);
    slots.into_iter().map(|(slot, _)| slot).collect()
}

fn slot(item: &Node<'_>, topology: &Topology<'_>, faults: &mut Faults) -> Option<OwnedSlot> {
    let (owner, _) = topology.reference(item.get("owner")?, faults)?;
    let carries = match item.get("carries").and_then(Node::text) {
        Some("real-time") => Carries::RealTime,
        Some("ordinary") => Carries::Ordinary,
        _ => Carries::Both,
    };
    Some(OwnedSlot {
        owner,
        slot: TdmaSlot {
            offset: item.parsed("offset")?,
            period: item.parsed("every").unwrap_or(1),
            phase: item.parsed("phase").unwrap_or(0),
            carries,
        },
        length: item.parsed("length")?,
    })
}

/// A stream needs a slot of its talker that carries it and holds its frame.
fn station(draft: &StreamDraft<'_, '_>, slots: &[OwnedSlot], topology: &Topology<'_>, faults: &mut Faults) {
    let stream = &draft.stream;
    let other = if stream.priority.number() > 0 { Carries::Ordinary } else { Carries::RealTime };
    let own = slots.iter().filter(|slot| slot.owner == stream.talker && slot.slot.carries != other);
    let line = stream.hops.first().and_then(|hop| topology.ports[hop.port.index()].links);
    let Some(line) = line.map(|links| topology.links[links.egress.index()].rate) else { return };
    let wire = line.duration_ceil(wire_bits(stream.payload_max, stream.tagged));
    let (message, help) = match own.min_by_key(|slot| slot.length) {
        None => (
            format!(
                "`{}` owns no slot that carries `{}`",
                topology.nodes[stream.talker.index()].name,
                stream.name
            ),
            "add a slot of its talker that carries this kind of frames",
        ),
        Some(slot) if slot.length < wire => {
            (format!("a frame takes {wire}, longer than its slot of {}", slot.length), "lengthen the slot")
        }
        Some(_) => return,
    };
    faults.error(codes::TDMA_STATION, draft.name_place, message, help);
}

/// A frame should outlive the longest way to a slot of its own.
fn lifetime(
    draft: &StreamDraft<'_, '_>,
    node: &Node<'_>,
    cycle: Duration,
    slots: &[OwnedSlot],
    faults: &mut Faults,
) {
    let Some(lifetime) = node.parsed::<Duration>("lifetime") else { return };
    let stream = &draft.stream;
    let other = if stream.priority.number() > 0 { Carries::Ordinary } else { Carries::RealTime };
    let own: Vec<&OwnedSlot> =
        slots.iter().filter(|slot| slot.owner == stream.talker && slot.slot.carries != other).collect();
    let round = own.iter().fold(1, |all, slot| common(all, u64::from(slot.slot.period))).min(1_000);
    let mut starts: Vec<Duration> = (0..2 * round)
        .flat_map(|number| {
            let used = own
                .iter()
                .filter(move |one| number % u64::from(one.slot.period) == u64::from(one.slot.phase));
            used.map(move |one| cycle * number + one.slot.offset)
        })
        .collect();
    starts.sort_unstable();
    let Some(longest) = starts.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).max() else { return };
    if longest > lifetime {
        let place = node.get("lifetime").map_or(node.anchor(), |node| node.place);
        let message = format!(
            "a frame of `{}` may wait {longest} for a slot and is lost after {lifetime}, even if nothing fails",
            stream.name
        );
        let help =
            "raise `lifetime` to the longest distance of its slots and the time that a failure may take";
        faults.warning(codes::TDMA_STATION, place, message, help);
    }
}

/// Reports that a standby may open cycles simultaneously with its master without end: then nothing is bounded.
pub(crate) fn report_dual_master(network: &Network, input: &Draft<'_>, faults: &mut Faults) {
    let Some(place) = input.root.get("tdma").and_then(|node| node.get("standby")).map(Node::anchor) else {
        return;
    };
    let name = |node: NodeIndex| network.nodes[node.index()].name.as_str();
    let (message, help) = match network.dual_master_cause() {
        Some(DualMasterCause::Errors) => (
            "the standby may miss frames of the living master for bit errors and then opens cycles as well, so nothing has a bound".to_owned(),
            "state with `lost-in-a-row` how many frames in a row it misses at most",
        ),
        Some(DualMasterCause::Cut(action)) => {
            let what = match action {
                TimelineAction::CutCable(cable) => {
                    let [one, other] = network.cable_ends(cable).map(name);
                    format!("the link of {one} and {other}")
                }
                TimelineAction::StopNode(node) => format!("bridge {}", name(node)),
                _ => return,
            };
            let message = format!(
                "{what} fails for good, and another way leads from the master to the standby: both open cycles on it, \
                 and there is no bound"
            );
            (message, "mend it, or remove the other path: a failure that separates the two has a bound")
        }
        None => return,
    };
    faults.warning(codes::TDMA_STATION, place, message, help);
}

/// Conditions of TDMA's bounds: strict priority and store-and-forward.
fn strict_store_and_forward(
    draft: &StreamDraft<'_, '_>,
    topology: &Topology<'_>,
    models: &Models<'_, '_>,
    faults: &mut Faults,
) {
    for hop in &draft.stream.hops {
        let port = &topology.ports[hop.port.index()];
        let selection = port.classes[hop.class.index()].selection;
        let cut_through = device(port.node, topology, models)
            .is_some_and(|device| matches!(device.switching, Switching::CutThrough { .. }));
        if selection != TransmissionSelection::StrictPriority || cut_through || draft.stream.shaped_at_talker
        {
            let message = format!("a port on the path of `{}` shapes it or cuts through", draft.stream.name);
            let help = "with `tdma`, use strict priority and store-and-forward in bridges";
            faults.error(codes::TDMA_STATION, draft.name_place, message, help);
            return;
        }
    }
}

/// The least time from the start of a synchronisation frame to its last bit at `node`.
fn travel(
    node: NodeIndex,
    draft: &StreamDraft<'_, '_>,
    topology: &Topology<'_>,
    models: &Models<'_, '_>,
) -> Duration {
    let stream = &draft.stream;
    let ends_here = |hop: &&crate::network::Hop| {
        let links = topology.ports[hop.port.index()].links.expect("a hop's port has a cable");
        topology.ports[topology.links[links.egress.index()].to.index()].node == node
    };
    let mut next = stream.hops.iter().find(ends_here);
    let mut sum = Duration::ZERO;
    while let Some(hop) = next {
        let port = &topology.ports[hop.port.index()];
        let link = &topology.links[port.links.expect("a hop's port has a cable").egress.index()];
        let octets = frame_length(stream.payload_min, hop.tagged);
        // Preamble and frame; the gap behind it is not waited for.
        sum +=
            link.rate.duration_ceil((octets + Bytes::new(8)).bits()) + link.propagation + link.phy_delay.min;
        if let Some(device) = device(port.node, topology, models) {
            let stages = device
                .stages
                .iter()
                .filter(|stage| stage.only_for.is_none_or(|only| only == SelectionAlgorithm::StrictPriority));
            sum += stages.map(|stage| least(&stage.latency, octets)).sum();
        }
        next = hop.previous.map(|previous| &stream.hops[previous as usize]);
    }
    sum
}

fn device<'m>(
    node: NodeIndex,
    topology: &Topology<'_>,
    models: &'m Models<'_, '_>,
) -> Option<&'m DeviceModel> {
    match topology.nodes[node.index()].kind {
        NodeKind::Bridge { device, .. } => Some(models.device_at(device)),
        NodeKind::EndStation { .. } => None,
    }
}

fn least(delay: &Delay, octets: Bytes) -> Duration {
    let random = match delay.random {
        Distribution::Zero => Duration::ZERO,
        Distribution::Uniform { min, .. } | Distribution::Normal { min, .. } => min,
    };
    (delay.constant + delay.per_octet * octets.get()).saturating_sub(delay.less) + random
}
