//! `shaping: reserved`: idleSlopes and ATS parameters that follow from reservations.
//!
//! Every class in which a reserved stream leaves a port is credit-based, unless the description states ATS. No other
//! stream may use it: a bridge regenerates another priority for frames with an SR class's priority that come from
//! outside the domain (6.9.4), and a station inside sends none that it did not reserve.

use std::collections::BTreeMap;

use tautwire_core::TrafficClass;
use tautwire_core::srp::idle_slope;
use tautwire_units::{BitRate, Bytes};

use crate::frame::wire_bits;
use crate::network::{NodeKind, PortIndex, ShaperSettings, StreamIndex, TransmissionSelection};
use crate::parse::Draft;
use crate::resolve::streams::Streams;
use crate::resolve::topology::Topology;
use crate::srp::codes;
use crate::srp::reserved_class::ReservedClass;
use crate::srp::{ReservedStream, StreamReservation};
use crate::text::faults::Faults;
use crate::text::tree::Node;

/// Whether reservations set what shapes their streams.
fn is_asked(input: &Draft<'_>) -> bool {
    let node = input.root.get("stream-reservation").and_then(|node| node.get("shaping"));
    node.and_then(Node::text) == Some("reserved")
}

/// Bits in a second that a stream needs of a port, and its place among the SR classes.
fn need(reservation: &StreamReservation, reserved: &ReservedStream) -> (BitRate, usize) {
    let same = |priority: u8| priority == reserved.talker.priority;
    let class = reservation.classes.iter().position(|class| same(class.domain.priority));
    let class = class.expect("a reserved stream has a class");
    (BitRate::from_bps(idle_slope(&reserved.talker, &reservation.classes[class])), class)
}

/// Gives reserved streams without a shaper of their own the ATS parameters of their reservation: the rate that
/// is reserved, and the frames of an interval as the burst.
pub(crate) fn shapers(
    input: &Draft<'_>,
    reservation: Option<&StreamReservation>,
    streams: &mut Streams<'_, '_>,
) {
    let Some(reservation) = reservation.filter(|_| is_asked(input)) else { return };
    for reserved in &reservation.streams {
        let draft = &mut streams.list[reserved.stream.index()];
        let frames = u64::from(reserved.talker.interval_frames_max);
        let burst = wire_bits(Bytes::new(u64::from(reserved.talker.frame_size_max)), true) * frames;
        draft.stream.shaper.get_or_insert(ShaperSettings {
            committed_information_rate: need(reservation, reserved).0,
            committed_burst_size: burst,
        });
    }
}

/// Finds the classes, makes them credit-based, and reports faults.
pub(crate) fn resolve(
    input: &Draft<'_>,
    topology: &mut Topology<'_>,
    streams: &Streams<'_, '_>,
    reservation: Option<&StreamReservation>,
    faults: &mut Faults,
) -> Vec<ReservedClass> {
    let Some(reservation) = reservation.filter(|_| is_asked(input)) else { return Vec::new() };
    let mut found: BTreeMap<(PortIndex, TrafficClass), (ReservedClass, usize)> = BTreeMap::new();
    for reserved in &reservation.streams {
        let (slope, class) = need(reservation, reserved);
        for hop in &streams.list[reserved.stream.index()].stream.hops {
            let none =
                ReservedClass { port: hop.port, class: hop.class, idle_slope_max: None, streams: Vec::new() };
            let (known, last) = found.entry((hop.port, hop.class)).or_insert((none, class));
            *last = class.max(*last);
            if known.streams.last().is_none_or(|(stream, _)| *stream != reserved.stream) {
                known.streams.push((reserved.stream, slope));
            }
        }
    }
    let mut classes = Vec::with_capacity(found.len());
    for (mut reserved, last) in found.into_values() {
        strangers(&reserved, topology, streams, faults);
        let place = topology.extras[reserved.port.index()].places.idle_slopes[reserved.class.index()];
        if let Some(place) = place {
            let message = format!(
                "class {} of {} has a stated idleSlope or selection, and the reservations set both",
                reserved.class.index(),
                topology.port_name(reserved.port)
            );
            let help = "remove the class's `idle-slope` and `transmission-selection`, or `shaping: reserved`";
            faults.error(codes::RESERVATION, place, message, help);
        }
        let port = &mut topology.ports[reserved.port.index()];
        let selection = &mut port.classes[reserved.class.index()].selection;
        if *selection != TransmissionSelection::Ats {
            let rate = topology.links[port.links.expect("a hop's port has a cable").egress.index()].rate;
            let percent: u64 =
                reservation.classes[..=last].iter().map(|class| u64::from(class.delta_percent)).sum();
            // A talker tests nothing at its own port.
            let is_bridge = matches!(topology.nodes[port.node.index()].kind, NodeKind::Bridge { .. });
            let percent = if is_bridge { percent.min(100) } else { 100 };
            let share = u128::from(rate.as_bps()) * u128::from(percent) / 100;
            let sum: u128 = reserved.streams.iter().map(|(_, slope)| u128::from(slope.as_bps())).sum();
            let most = u64::try_from(sum.min(share).max(1)).expect("a share of a rate");
            let most = BitRate::from_bps(most);
            *selection = TransmissionSelection::CreditBased { idle_slope: most };
            reserved.idle_slope_max = Some(most);
        }
        classes.push(reserved);
    }
    classes
}

/// Reports streams that share the class without a reservation.
fn strangers(
    reserved: &ReservedClass,
    topology: &Topology<'_>,
    streams: &Streams<'_, '_>,
    faults: &mut Faults,
) {
    let is_known = |number: usize| {
        reserved.streams.binary_search_by_key(&StreamIndex::at(number), |(stream, _)| *stream).is_ok()
    };
    let others = streams.list.iter().enumerate().filter(|(number, _)| !is_known(*number));
    for draft in others.map(|(_, draft)| draft) {
        let shares =
            draft.stream.hops.iter().any(|hop| (hop.port, hop.class) == (reserved.port, reserved.class));
        if shares {
            let message = format!(
                "`{}` is not reserved and shares class {} of {} with reserved streams",
                draft.stream.name,
                reserved.class.index(),
                topology.port_name(reserved.port)
            );
            let help = "reserve it, or give it a priority of no SR class";
            faults.error(codes::RESERVED_STREAM, draft.name_place, message, help);
        }
    }
}
