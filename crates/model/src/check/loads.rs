//! Faults that only the resolved network shows: overload, frames too large for a port, deadlines that no frame can meet.

use tautwire_units::{BitRate, Bytes, Duration};

use crate::frame::{frame_length, wire_bits};
use crate::network::{NodeIndex, PortIndex, Stream, TransmissionSelection};
use crate::parse::Draft;
use crate::resolve::arrival;
use crate::resolve::covering::Covering;
use crate::resolve::streams::{StreamDraft, Streams};
use crate::resolve::topology::Topology;
use crate::srp::reserved_class::ReservedClass;
use crate::text::codes;
use crate::text::faults::Faults;
use crate::virtual_link;

/// Checks the network whose routes and shapers are found.
pub(crate) fn check(
    covering: &Covering<'_, '_, '_>,
    streams: &Streams<'_, '_>,
    reserved: &[ReservedClass],
    faults: &mut Faults,
) {
    let topology = covering.topology;
    let mut loads = vec![[0_u128; 8]; topology.ports.len()];
    for draft in &streams.list {
        let stream = &draft.stream;
        let rate = arrival::mean_rate(&stream.traffic, stream.arrival, stream.payload_max, stream.tagged);
        let at_talker = u128::from(wire_bits(stream.payload_max, stream.tagged).get());
        for (_, hop) in stream.hops.iter().enumerate().filter(|(hop, _)| stream.is_own_passage(*hop)) {
            let rate = virtual_link::resolve::rate(stream, hop).map_or(rate, |granted| granted.min(rate));
            let here = u128::from(wire_bits(stream.payload_max, hop.tagged).get());
            loads[hop.port.index()][hop.class.index()] += u128::from(rate.as_bps()) * here / at_talker;
        }
        frame_fits(topology, draft, faults);
        queue_holds(topology, draft, faults);
        deadline(topology, draft, faults);
        shaper_covers(covering, draft, faults);
    }
    for (port, loads) in loads.iter().enumerate() {
        overload(topology, PortIndex::at(port), loads, reserved, faults);
    }
}

fn frame_fits(topology: &Topology<'_>, draft: &StreamDraft<'_, '_>, faults: &mut Faults) {
    let stream = &draft.stream;
    if let Some(port) = port_too_small(topology, stream) {
        let key = if draft.node.get("frame").is_some() { "frame" } else { "payload" };
        let message = format!(
            "frames have {} of MAC client data, and {} takes {} at most",
            stream.payload_max,
            topology.port_name(port),
            topology.ports[port.index()].mtu
        );
        let place = draft.largest_place.unwrap_or_else(|| draft.place(key));
        faults.error(codes::MTU, place, message, "make the frames smaller, or raise `mtu` there");
    }
}

/// The first port on a stream's way that takes no frames as large as its largest.
fn port_too_small(topology: &Topology<'_>, stream: &Stream) -> Option<PortIndex> {
    let receptions = stream.hops.iter().map(|hop| {
        let links = topology.ports[hop.port.index()].links.expect("a hop's port has a cable");
        topology.links[links.egress.index()].to
    });
    let mut ports = stream.hops.iter().map(|hop| hop.port).chain(receptions);
    ports.find(|port| topology.ports[port.index()].mtu < stream.payload_max)
}

/// Frames of protocols fit, too, as large as they may become.
pub(crate) fn control_frames_fit(
    input: &Draft<'_>,
    topology: &Topology<'_>,
    streams: &Streams<'_, '_>,
    faults: &mut Faults,
) {
    for stream in &streams.protocol {
        let Some(port) = port_too_small(topology, stream) else { continue };
        let message = format!(
            "frames of `{}` have up to {} of MAC client data, and {} takes {} at most",
            stream.name,
            stream.payload_max,
            topology.port_name(port),
            topology.ports[port.index()].mtu
        );
        let protocol = stream.name.split(':').next().unwrap_or_default();
        let node = input.root.get(protocol).unwrap_or(&input.root);
        faults.warning(codes::MTU, node.anchor(), message, "raise `mtu` there");
    }
}

/// A queue or buffer that holds no frame of a stream loses all of it; one that holds not all, the large ones.
fn queue_holds(topology: &Topology<'_>, draft: &StreamDraft<'_, '_>, faults: &mut Faults) {
    let stream = &draft.stream;
    for hop in &stream.hops {
        let port = &topology.ports[hop.port.index()];
        let places = &topology.extras[hop.port.index()].places;
        let class = hop.class.index();
        let queue = places.limits[class].map(|place| (port.classes[class].limit_octets, place, "octets"));
        let buffer = port.shared_buffer.as_ref().zip(places.cells).map(|(buffer, place)| {
            // A frame occupies full cells: first those of its own class, then shared ones.
            let others: u64 =
                (0..8).filter(|other| *other != class).map(|other| u64::from(buffer.reserved[other])).sum();
            let cells = u64::from(buffer.cells).saturating_sub(others);
            (Bytes::new(cells.saturating_mul(buffer.cell.get())), place, "cells")
        });
        for (room, place, key) in queue.into_iter().chain(buffer) {
            let [least, most] =
                [stream.payload_min, stream.payload_max].map(|payload| frame_length(payload, hop.tagged));
            if most <= room {
                continue;
            }
            let at = topology.port_name(hop.port);
            let name = &stream.name;
            let help = format!("raise `{key}` so that a frame fits, or remove it");
            if least > room {
                let message = format!(
                    "the {room} for class {class} of {at} hold no frame of `{name}`, which has {least}, so all frames are lost"
                );
                faults.error(codes::QUEUE_LIMIT, place, message, help);
            } else {
                let message = format!(
                    "the {room} for class {class} of {at} do not hold frames of {most} of `{name}`, so these are lost"
                );
                faults.warning(codes::QUEUE_LIMIT, place, message, help);
            }
        }
    }
}

/// A deadline below the transmission times and propagation delays alone cannot be met by any mechanism.
fn deadline(topology: &Topology<'_>, draft: &StreamDraft<'_, '_>, faults: &mut Faults) {
    let stream = &draft.stream;
    let Some(deadline) = stream.deadline else { return };
    for hop in stream.hops.iter().filter(|hop| hop.listener.is_some()) {
        let mut least = Duration::ZERO;
        let (mut at, mut first) = (Some(hop), true);
        while let Some(hop) = at {
            let links = topology.ports[hop.port.index()].links.expect("a hop's port has a cable");
            let link = &topology.links[links.egress.index()];
            let frame = frame_length(stream.payload_max, hop.tagged);
            // A cut-through bridge may send while it receives: only the last link needs the time of the full frame.
            let wire = if first { frame + Bytes::new(8) } else { Bytes::ZERO };
            least += link.propagation + link.phy_delay.min + link.rate.duration_floor(wire.bits());
            first = false;
            at = hop.previous.map(|previous| &stream.hops[previous as usize]);
        }
        if deadline < least {
            let message = format!(
                "transmission and propagation alone take {least}, more than the deadline of {deadline}"
            );
            let help = "raise the deadline, shorten the frame or the cables, or raise the rates";
            faults.error(codes::DEADLINE, draft.place("deadline"), message, help);
            return;
        }
    }
}

/// A shaper below the stream's rate delays it more and more, even if only because its clock is slow; the bounds show
/// where. Here it is a warning, which names the least sufficient rate.
fn shaper_covers(covering: &Covering<'_, '_, '_>, draft: &StreamDraft<'_, '_>, faults: &mut Faults) {
    let stream = &draft.stream;
    let Some(shaper) = stream.shaper.filter(|_| !draft.covering) else { return };
    let stated = shaper.committed_information_rate;
    let Some((least, port)) = covering.least_of_all(stream, stated) else { return };
    if stated >= least {
        return;
    }
    let place = draft.node.get("shaper").and_then(|shaper| shaper.get("committed-information-rate"));
    let place = place.map_or(draft.name_place, |node| node.place);
    if let Some(coarse) = covering.too_coarse(draft) {
        let message = format!(
            "{stated} are not enough at {}, and neither is any other up to the {} of charged bits that its line carries: times are \
             rounded up to {} there (`time-quantum`), and its delay grows without bound",
            covering.topology.port_name(coarse.port),
            coarse.line,
            coarse.tick
        );
        faults.warning(codes::SHAPER_RATE, place, message, coarse.help());
        return;
    }
    let clock = |node: NodeIndex| covering.topology.nodes[node.index()].clock.tolerance_ppb > 0;
    let drifts = clock(stream.talker) || clock(covering.topology.ports[port.index()].node);
    let clocks =
        if drifts { " if its talker's clock is at its fastest and the shaper's at its slowest" } else { "" };
    let message = format!(
        "the shaper's {} bit/s are less than the stream's {} bit/s of charged bits at {}{clocks}, so its delay grows without bound",
        stated.as_bps(),
        least.as_bps(),
        covering.topology.port_name(port),
    );
    let help =
        format!("write `committed-information-rate: {} bit/s` at least, or `covering`", least.as_bps());
    faults.warning(codes::SHAPER_RATE, place, message, help);
}

fn overload(
    topology: &Topology<'_>,
    port: PortIndex,
    loads: &[u128; 8],
    reserved: &[ReservedClass],
    faults: &mut Faults,
) {
    let Some(links) = topology.ports[port.index()].links else { return };
    let link = &topology.links[links.egress.index()];
    let sum: u128 = loads.iter().sum();
    if sum > u128::from(link.rate.as_bps()) {
        let message = format!(
            "traffic of {} leaves {}, whose line carries {}",
            BitRate::from_bps(u64::try_from(sum).unwrap_or(u64::MAX)),
            topology.port_name(port),
            link.rate
        );
        let help = "lower the streams' rates, route some elsewhere, or raise the link's rate; if the overload is intended, write `allow: [port::overload]`";
        faults.error(codes::OVERLOAD, topology.rate_places[links.egress.index() / 2], message, help);
    }
    // A bridge refuses what a class whose idleSlope follows from reservations has no room for.
    let is_reserved =
        |class: usize| reserved.iter().any(|found| (found.port, found.class.index()) == (port, class));
    for (class, load) in loads.iter().enumerate().filter(|(class, _)| !is_reserved(*class)) {
        let TransmissionSelection::CreditBased { idle_slope } =
            topology.ports[port.index()].classes[class].selection
        else {
            continue;
        };
        if *load > u128::from(idle_slope.as_bps()) {
            let place = topology.extras[port.index()].places.idle_slopes[class];
            let message = format!(
                "traffic of {} leaves in class {class} at {}, whose idleSlope is {idle_slope}",
                BitRate::from_bps(u64::try_from(*load).unwrap_or(u64::MAX)),
                topology.port_name(port)
            );
            let help = "raise `idle-slope` of this port, or lower the streams' rates; if the overload is intended, write `allow: [class::overload]`";
            let place = place.unwrap_or(topology.rate_places[links.egress.index() / 2]);
            faults.error(codes::CLASS_OVERLOAD, place, message, help);
        }
    }
}
