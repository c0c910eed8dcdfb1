//! Virtual links: their streams' settings, and faults of these (ARINC 664 part 7).

use std::collections::HashMap;

use tautwire_core::policing::Account;
use tautwire_core::virtual_link::LinkBuffer;
use tautwire_units::{BitRate, Bytes, Duration};
use tautwire_wire::MacAddress;

use crate::frame::{frame_length, wire_bits};
use crate::network::{Hop, NodeKind, PortIndex, Stream, Switching};
use crate::resolve::models::Models;
use crate::resolve::streams::{StreamDraft, Streams};
use crate::resolve::topology::Topology;
use crate::text::faults::Faults;
use crate::text::scalar;
use crate::text::tree::Node;
use crate::virtual_link::codes;
use crate::virtual_link::{JITTER_LIMIT, JITTER_OF_STATION, Policing, VirtualLink, bandwidth};

/// Reads `virtual-link:` of a stream.
pub(crate) fn virtual_link(node: &Node<'_>, faults: &mut Faults) -> Option<VirtualLink> {
    let node = node.get("virtual-link")?;
    let word = |key: &str| node.get(key).and_then(Node::text);
    let flag = |key: &str, default| word(key).and_then(scalar::flag).unwrap_or(default);
    let span = |key: &str| node.parsed::<Duration>(key);
    let link = VirtualLink {
        id: node.parsed("id")?,
        bag: span("bag")?,
        sub_link: node.parsed("sub-link").unwrap_or(1),
        frames: (Bytes::ZERO, Bytes::ZERO),
        buffer: match word("buffer") {
            Some("overwriting") => LinkBuffer::Overwriting,
            _ => LinkBuffer::Queueing(node.parsed("buffer-frames").unwrap_or(64).max(1)),
        },
        regulated: flag("regulated", true),
        policing: (word("policing") != Some("none")).then(|| Policing {
            account: if word("policing") == Some("octets") { Account::Octets } else { Account::Frames },
            jitter: span("policing-jitter").unwrap_or(JITTER_LIMIT),
            jitter_step: span("policing-jitter-step").unwrap_or(JITTER_LIMIT),
        }),
        skew_max: flag("redundancy", false).then(|| span("skew-max").unwrap_or(JITTER_LIMIT)),
    };
    let ms = link.bag.as_ps() / Duration::from_ms(1).as_ps();
    let is_integral = link.bag == Duration::from_ms(ms);
    let (fits, help) = match word("profile") {
        Some("development-switch") => {
            (is_integral && (1..=255).contains(&ms), "write 1 to 255 ms in steps of 1 ms")
        }
        _ => (
            is_integral && ms.is_power_of_two() && ms <= 128,
            "write 1, 2, 4, 8, 16, 32, 64 or 128 ms, or `profile: development-switch`",
        ),
    };
    if !fits {
        let place = node.get("bag").map_or(node.anchor(), |bag| bag.place);
        faults.error(codes::BAG, place, format!("a virtual link cannot have a BAG of {}", link.bag), help);
        return None;
    }
    Some(link)
}

/// The destination address of a virtual link: 03:00:00:00 and its identifier.
pub(crate) fn destination(link: &VirtualLink) -> MacAddress {
    let [high, low] = link.id.to_be_bytes();
    MacAddress([0x03, 0, 0, 0, high, low])
}

/// Gives every link the lengths of its frames.
pub(crate) fn measure(streams: &mut Streams<'_, '_>) {
    let mut ranges: HashMap<u16, (Bytes, Bytes)> = HashMap::new();
    for stream in streams.list.iter().map(|draft| &draft.stream) {
        let Some(link) = stream.virtual_link else { continue };
        let min = frame_length(stream.payload_min, stream.tagged);
        let max = frame_length(stream.payload_max, stream.tagged);
        let range = ranges.entry(link.id).or_insert((min, max));
        *range = (range.0.min(min), range.1.max(max));
    }
    for draft in &mut streams.list {
        if let Some(link) = &mut draft.stream.virtual_link {
            link.frames = ranges[&link.id];
        }
    }
}

/// Checks the streams of every link against one another, before routes are searched.
pub(crate) fn check_alike(streams: &Streams<'_, '_>, faults: &mut Faults) {
    let mut first: HashMap<u16, Vec<&StreamDraft<'_, '_>>> = HashMap::new();
    for draft in &streams.list {
        let Some(link) = draft.stream.virtual_link else { continue };
        let known = first.entry(link.id).or_default();
        let Some(leader) = known.first() else {
            known.push(draft);
            continue;
        };
        let place = draft
            .node
            .get("virtual-link")
            .map_or(draft.name_place, |link| link.get("id").map_or(link.anchor(), |id| id.place));
        let other = (leader.place("virtual-link"), "first here");
        let doubled = leader.stream.talker != draft.stream.talker
            || known.iter().any(|one| one.stream.virtual_link.map(|one| one.sub_link) == Some(link.sub_link));
        if doubled {
            let message = format!("another stream already has the virtual link identifier {}", link.id);
            let help = "give it a different `id`, or make it another `sub-link` of the same talker";
            faults.error_with(codes::LINK_DOUBLED, place, message, help, other);
        } else if !alike(&leader.stream, &draft.stream) || profile(leader) != profile(draft) {
            let message = format!(
                "the sub-virtual-links of virtual link {} differ in more than their traffic",
                link.id
            );
            let help = "give them the same listeners, priority, route, profile, BAG, buffer, policing and redundancy";
            faults.error_with(codes::LINK_DIFFERS, place, message, help, other);
        }
        known.push(draft);
    }
}

/// The profile that a stream's virtual link is of.
fn profile<'a>(draft: &'a StreamDraft<'_, '_>) -> &'a str {
    let stated = draft.node.get("virtual-link").and_then(|link| link.get("profile")?.text());
    stated.unwrap_or("arinc-664")
}

/// Whether two streams may be sub-virtual-links of one link.
fn alike(one: &Stream, other: &Stream) -> bool {
    let link = |stream: &Stream| stream.virtual_link.map(|link| VirtualLink { sub_link: 1, ..link });
    link(one) == link(other)
        && one.listeners == other.listeners
        && one.priority == other.priority
        && one.vlan == other.vlan
        && one.destination == other.destination
}

/// Checks what the routes have to do with it: end systems and switches.
pub(crate) fn check_routed(
    topology: &Topology<'_>,
    models: &Models<'_, '_>,
    streams: &Streams<'_, '_>,
    faults: &mut Faults,
) {
    let mut stations: Vec<Vec<usize>> = vec![Vec::new(); topology.ports.len()];
    for (number, draft) in streams.list.iter().enumerate() {
        let Some(link) = draft.stream.virtual_link else { continue };
        for hop in draft.stream.hops.iter().filter(|hop| hop.previous.is_none()) {
            let links = &mut stations[hop.port.index()];
            let known = |other: &usize| streams.list[*other].stream.virtual_link.map(|link| link.id);
            if !links.iter().any(|other| known(other) == Some(link.id)) {
                links.push(number);
            }
        }
        policed_with_the_frame(topology, models, draft, faults);
    }
    upside_down(streams, faults);
    too_many_priorities(streams, faults);
    for (port, links) in stations.iter().enumerate() {
        let drafts: Vec<_> = links.iter().map(|number| &streams.list[*number]).collect();
        end_system(topology, PortIndex::at(port), &drafts, faults);
    }
}

/// Priority 1 is below 0 in the tables of IEEE Std 802.1Q (table 8-5); with two levels, 1 is seldom meant to be the lower.
fn upside_down(streams: &Streams<'_, '_>, faults: &mut Faults) {
    let links = || streams.list.iter().filter(|draft| draft.stream.virtual_link.is_some());
    let hops = |priority: u8| {
        let of = links().filter(move |draft| draft.stream.priority.number() == priority);
        of.flat_map(|draft| draft.stream.hops.iter().map(move |hop| (draft, hop)))
    };
    let above = |(_, low): &(&StreamDraft<'_, '_>, &Hop)| {
        hops(0).any(|(_, other)| other.port == low.port && other.class > low.class)
    };
    if let Some((draft, _)) = hops(1).find(above) {
        let message = format!(
            "`{}` has priority 1, whose traffic class is below that of priority 0",
            draft.stream.name
        );
        let help = "write 2 for a class above priority 0, or give the ports another `traffic-class-table`";
        faults.warning(codes::LINK_PRIORITY, draft.place("priority"), message, help);
    }
}

/// A switch of ARINC 664 part 7 has two priorities, high and low; further ones are those of another one.
fn too_many_priorities(streams: &Streams<'_, '_>, faults: &mut Faults) {
    let of_switch = |draft: &&StreamDraft<'_, '_>| {
        draft.stream.virtual_link.is_some()
            && profile(draft) == "arinc-664"
            && draft.stream.time_triggered.is_none()
    };
    let mut known: Vec<u8> = Vec::new();
    for draft in streams.list.iter().filter(of_switch) {
        let priority = draft.stream.priority.number();
        if known.contains(&priority) {
            continue;
        }
        known.push(priority);
        if known.len() == 3 {
            let message = format!(
                "the virtual links have more than two priorities: {}, {} and {}",
                known[0], known[1], known[2]
            );
            let help = "give the links two priorities: switches of ARINC 664 part 7 have high and low";
            faults.warning(codes::LINK_PRIORITY, draft.place("priority"), message, help);
            return;
        }
    }
}

/// Jitter and bandwidth of an end system's port, from which these links go.
fn end_system(
    topology: &Topology<'_>,
    port: PortIndex,
    drafts: &[&StreamDraft<'_, '_>],
    faults: &mut Faults,
) {
    let (Some(last), Some(cable)) = (drafts.last(), topology.ports[port.index()].links) else { return };
    let rate = topology.links[cable.egress.index()].rate;
    let links = || drafts.iter().filter_map(|draft| draft.stream.virtual_link.as_ref()).map(bandwidth);
    let at = topology.port_name(port);
    let granted: u128 = links().map(|(_, rate)| u128::from(rate.as_bps())).sum();
    if granted > u128::from(rate.as_bps()) {
        let message =
            format!("the BAGs grant the virtual links of {at} {granted} bit/s, more than its line of {rate}");
        let help = "lengthen the BAGs, or shorten the frames";
        faults.error(codes::LINK_BANDWIDTH, last.place("virtual-link"), message, help);
        return;
    }
    let jitter = JITTER_OF_STATION + rate.duration_ceil(links().map(|(bits, _)| bits).sum());
    if jitter > JITTER_LIMIT {
        let message =
            format!("with this virtual link the jitter of {at} is {jitter}, more than {JITTER_LIMIT}");
        let help = "spread the links over more end systems, or shorten their frames";
        faults.warning(codes::LINK_JITTER, last.place("virtual-link"), message, help);
    }
}

/// A switch that polices must receive the full frame.
fn policed_with_the_frame(
    topology: &Topology<'_>,
    models: &Models<'_, '_>,
    draft: &StreamDraft<'_, '_>,
    faults: &mut Faults,
) {
    if draft.stream.virtual_link.is_none_or(|link| link.policing.is_none()) {
        return;
    }
    for hop in draft.stream.hops.iter().filter(|hop| hop.previous.is_some()) {
        let node = &topology.nodes[topology.ports[hop.port.index()].node.index()];
        let NodeKind::Bridge { device, .. } = node.kind else { continue };
        if matches!(models.device_at(device).switching, Switching::CutThrough { .. }) {
            let message = format!("`{}` forwards frames before it can police them", node.name);
            let help = "give it a store-and-forward device, or write `policing: none`";
            faults.error(codes::LINK_POLICING, draft.place("virtual-link"), message, help);
            return;
        }
    }
}

/// The greatest rate of a virtual link at a hop, a frame a BAG: its end system enforces it, or the switches do.
pub(crate) fn rate(stream: &Stream, hop: &Hop) -> Option<BitRate> {
    let link = stream.virtual_link?;
    let held = link.regulated || (link.policing.is_some() && hop.previous.is_some());
    held.then(|| BitRate::per_period_ceil(wire_bits(stream.payload_max, stream.tagged), link.bag).ok())?
}
