//! `profile: avb`: whether a network fulfils the requirements of IEEE Std 802.1BA, as far as a description shows it.
//!
//! Every port on the path of a reserved stream is capable (asCapable: gPTP at both ends, in one domain, over a link
//! that is short enough) and so within the domain of its class; class A is measured in 125 us and class B in 250 us; a
//! stream passes at most seven links, and the latency that MSRP accumulates to its listener is at most 2 ms of class A
//! and 50 ms of class B. The latency of MSRP is an estimate: a network without a warning here is no proof
//! (`docs/mechanisms/stream-reservation.md`).

use std::collections::BTreeSet;

use tautwire_core::srp::hop_latency_ns;
use tautwire_units::{BitRate, Duration};

use super::{ReservedStream, StreamReservation};
use crate::gptp::Gptp;
use crate::network::{NodeKind, PortIndex, Stream};
use crate::parse::Draft;
use crate::resolve::streams::Streams;
use crate::resolve::topology::Topology;
use crate::srp::codes;
use crate::text::faults::Faults;
use crate::text::tree::Node;

/// Most links of a way.
const LINKS_MAX: usize = 7;
/// Slowest link.
const RATE_MIN: BitRate = BitRate::from_mbps(100);
/// Class, its measurement interval, and the latency of its streams, nanoseconds.
const CLASSES: [(u8, Duration, u32); 2] =
    [(6, Duration::from_us(125), 2_000_000), (5, Duration::from_us(250), 50_000_000)];

/// Warns of deviations from the profile, if the description requests it.
pub(crate) fn check(
    input: &Draft<'_>,
    topology: &Topology<'_>,
    streams: &Streams<'_, '_>,
    reservation: Option<&StreamReservation>,
    gptp: Option<&Gptp>,
    faults: &mut Faults,
) {
    let Some(node) = input.root.get("stream-reservation") else { return };
    let asked = node.get("profile").and_then(Node::text) == Some("avb");
    let Some(reservation) = reservation.filter(|_| asked) else { return };
    let mut error = |message: String, help: &str| {
        faults.warning(codes::AVB_PROFILE, node.anchor(), message, help);
    };
    for class in &reservation.classes {
        let known = CLASSES.iter().find(|(letter, ..)| *letter == class.domain.class);
        if let Some((_, interval, _)) = known.filter(|(_, interval, _)| *interval != class.interval) {
            let message = format!("an SR class has a measurement interval of {}", class.interval);
            error(message, &format!("the profile requires {interval}"));
        }
    }
    let used: BTreeSet<PortIndex> = reservation
        .streams
        .iter()
        .flat_map(|reserved| &streams.list[reserved.stream.index()].stream.hops)
        .map(|hop| hop.port)
        .collect();
    for port in used {
        if let Some(why) = incapable(topology, gptp, port) {
            let message = format!("{} is at the boundary of the AVB domain: {why}", topology.port_name(port));
            error(message, "make both ends capable of gPTP, or route the streams elsewhere");
        }
    }
    for reserved in &reservation.streams {
        let stream = &streams.list[reserved.stream.index()].stream;
        let (links, latency) = farthest(topology, reservation, reserved, stream);
        let class =
            reservation.classes.iter().find(|class| class.domain.priority == reserved.talker.priority);
        let limit = CLASSES.iter().find(|(letter, ..)| class.is_some_and(|own| own.domain.class == *letter));
        if links > LINKS_MAX {
            error(
                format!("the path of `{}` has {links} links", stream.name),
                "shorten it: the profile allows seven links at most",
            );
        }
        if let Some((.., limit)) = limit.filter(|(.., limit)| latency > *limit) {
            let message = format!(
                "the accumulated latency of `{}` at a listener is {latency} ns, more than {limit} ns",
                stream.name
            );
            error(message, "route it over fewer or faster links, or use another class");
        }
    }
}

/// Why a port is not capable.
fn incapable(topology: &Topology<'_>, gptp: Option<&Gptp>, port: PortIndex) -> Option<String> {
    let Some(gptp) = gptp else { return Some("there is no gPTP".to_owned()) };
    let links = topology.ports[port.index()].links.expect("a hop's port has a cable");
    let (there, back) = (&topology.links[links.egress.index()], &topology.links[links.ingress.index()]);
    if there.rate < RATE_MIN {
        return Some(format!("its link has {}", there.rate));
    }
    let node = |port: PortIndex| topology.ports[port.index()].node.index();
    let (own, far) = (&gptp.nodes[node(port)], &gptp.nodes[node(there.to)]);
    if own.domain != far.domain {
        return Some(format!("its ends are in the gPTP domains {} and {}", own.domain, far.domain));
    }
    let way = |link: &crate::network::Link| link.propagation + link.phy_delay.max;
    let mean = Duration::from_ps((way(there) + way(back)).as_ps() / 2);
    let most = own.delay_max.min(far.delay_max);
    (mean > most).then(|| format!("its link takes up to {mean}, more than {most}"))
}

/// Of the listener with the greatest latency: links on the path to the farthest one, and the latency of MSRP, nanoseconds.
fn farthest(
    topology: &Topology<'_>,
    reservation: &StreamReservation,
    reserved: &ReservedStream,
    stream: &Stream,
) -> (usize, u32) {
    let class = reservation.classes.iter().position(|own| own.domain.priority == reserved.talker.priority);
    let class = class.expect("a reserved stream has a class");
    let percent: u64 = reservation.classes[..=class].iter().map(|own| u64::from(own.delta_percent)).sum();
    let (mut links_max, mut latency_max) = (0, 0);
    for last in stream.hops.iter().filter(|hop| hop.listener.is_some()) {
        let (mut links, mut latency) = (0, 0_u32);
        let mut next = Some(last);
        while let Some(hop) = next {
            links += 1;
            let port = &topology.ports[hop.port.index()];
            if let NodeKind::Bridge { .. } = topology.nodes[port.node.index()].kind {
                let rate = topology.links[port.links.expect("a hop's port has a cable").egress.index()].rate;
                let device = reservation.nodes[port.node.index()].device_latency;
                let sr_class = &reservation.classes[class];
                latency = latency.saturating_add(hop_latency_ns(
                    device,
                    rate,
                    sr_class,
                    percent.min(100),
                    &reserved.talker,
                ));
            }
            next = hop.previous.map(|previous| &stream.hops[previous as usize]);
        }
        (links_max, latency_max) = (links_max.max(links), latency_max.max(latency));
    }
    (links_max, latency_max)
}
