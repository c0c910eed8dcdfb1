//! Requests of nodes and configuration of masters in a network with HaRTES: attributes of streams.
//!
//! A request contains the attributes that cannot be derived: size, period, deadline, priority, place in the tree of
//! servers, policing, and how many messages may come at once; it contains capacity, period of the server, distance,
//! length and pool only where the description states other values than the switches derive (`core`,
//! `harts/resources.rs`). Not here: what a request cannot express (`resolve/admission.rs`).

use std::collections::BTreeMap;

use tautwire_core::harts::servers::ServerKind;
use tautwire_core::harts::{FttLink, RELAYED_MAX, SwitchConfig, Violator};
use tautwire_units::{Bytes, Duration};
use tautwire_wire::harts::{FttFurther, FttPolicing, FttServerKind, FttStream, FttTerms};

use crate::frame::wire_bits;
use crate::harts::{Harts, Reservation, octets_of};
use crate::network::{Network, NodeIndex, Stream, StreamIndex};

impl Network {
    /// A reserved or synchronous stream in the form of control messages; none of another one.
    #[must_use]
    pub fn harts_request(&self, number: StreamIndex) -> Option<FttStream> {
        let harts = self.harts.as_ref()?;
        let stream = &self.streams[number.index()];
        let reservation = harts.reservations.iter().find(|known| known.stream == number);
        let polled = harts.ftt.polled(number).map(|polled| polled.config);
        let interval = reservation.map(|reservation| reservation.interval);
        let wire = match polled {
            Some(_) => u32::try_from(wire_bits(stream.payload_max, true).bytes_ceil().get()).ok()?,
            None => octets_of(stream),
        };
        let police = reservation.and_then(|reservation| reservation.police);
        let distance = police.filter(|police| police.stated).map(|police| police.distance);
        let period = match polled {
            Some(polled) => harts.cycle * u64::from(polled.period),
            None => distance.or(interval)?,
        };
        let deadline = polled.map(|polled| harts.cycle * u64::from(polled.deadline)).or(stream.deadline);
        let priority = match (polled, reservation) {
            (Some(polled), _) => polled.priority,
            (None, reservation) => reservation?.server.priority,
        };
        let mut terms = reservation
            .map_or(FttTerms::NONE, |reservation| terms(reservation, stream, wire, distance.is_some()));
        if polled.is_some() {
            let mut relayed = harts.ftt.relayed.iter().filter(|relayed| relayed.stream == number);
            let pool = relayed.clone().next().map(|relayed| relayed.pool);
            let pool = pool.filter(|pool| *pool != u32::from(RELAYED_MAX));
            terms.pool = pool.and_then(|pool| u16::try_from(pool).ok());
            terms.further = match (relayed.next(), reservation) {
                (Some(_), _) => FttFurther::Synchronous,
                (None, Some(_)) => FttFurther::Servers,
                (None, None) => FttFurther::Background,
            };
            terms.burst = 0;
            let servers = reservation.map(|reservation| reservation.server.priority);
            let servers = servers.filter(|_| terms.further == FttFurther::Servers);
            terms.server_priority = servers.filter(|servers| *servers != priority);
        }
        Some(FttStream {
            id: short(number.index()),
            size: u16::try_from(wire).unwrap_or(u16::MAX),
            period_ns: ns(period).max(1),
            deadline_ns: deadline.map_or(u32::MAX, |deadline| ns(deadline).max(1)),
            priority,
            producer: short(stream.talker.index()),
            offset_ns: polled.map(|polled| ns(harts.cycle * u64::from(polled.offset % polled.period))),
            terms,
        })
    }

    /// What the master of a switch knows of it; requests go to `acmaster`. Cables are named by the nodes at their other ends.
    #[must_use]
    pub fn switch_config(&self, switch: NodeIndex, acmaster: u16) -> Option<SwitchConfig> {
        let harts = self.harts.as_ref()?;
        let (cycle, admission) = (harts.cycle, harts.admission.as_ref());
        // Without requests there are no messages.
        let patience = admission.map_or(Duration::ZERO, |admission| admission.patience);
        let cable = |port: u32| {
            let link = &self.links[self.ports[port as usize].links?.egress.index()];
            let far = self.ports[link.to.index()].node;
            Some((short(far.index()), FttLink { rate: link.rate }))
        };
        let links: BTreeMap<u16, FttLink> =
            self.nodes[switch.index()].ports.clone().filter_map(cable).collect();
        let tolerance_ppb = self.nodes.iter().map(|node| node.clock.tolerance_ppb).max().unwrap_or(0);
        let step = self.nodes.iter().map(|node| node.clock.step()).max().unwrap_or_default();
        let switch = short(switch.index());
        Some(SwitchConfig { switch, acmaster, cycle, tolerance_ppb, step, patience, links })
    }
}

fn terms(reservation: &Reservation, stream: &Stream, wire: u32, exact: bool) -> FttTerms {
    let server = reservation.server;
    let states = reservation.stated || exact || wire != octets_of(stream);
    let burst = stream.arrival.map(|arrival| {
        let frame = Bytes::new(u64::from(wire)).bits().get();
        arrival.burst.get().div_ceil(frame.max(1))
    });
    let mut terms = FttTerms {
        parent: server.parent.and_then(|parent| u8::try_from(parent).ok()),
        kind: match server.kind {
            ServerKind::Deferrable => FttServerKind::Deferrable,
            ServerKind::Polling => FttServerKind::Polling,
            ServerKind::Sporadic => FttServerKind::Sporadic,
        },
        server: server
            .capacity
            .filter(|_| states)
            .map(|capacity| (capacity, u16::try_from(server.period).unwrap_or(u16::MAX))),
        burst: burst.and_then(|burst| u8::try_from(burst).ok()).unwrap_or(0),
        exact,
        ..FttTerms::NONE
    };
    if let Some(police) = reservation.police {
        let frame_max = u16::try_from(police.frame_max.get()).unwrap_or(u16::MAX);
        terms.frame_max = Some(frame_max).filter(|most| u32::from(*most) + 20 != wire);
        terms.policing = match police.violator {
            Violator::Discard => FttPolicing::Discard,
            Violator::Reshape => FttPolicing::Reshape,
        };
        terms.pool = Some(police.pool).filter(|pool| *pool != 1).and_then(|pool| u16::try_from(pool).ok());
    }
    terms
}

/// Why a request cannot express what the description states, if it cannot; and a remedy.
pub(crate) fn inexpressible(harts: &Harts, number: StreamIndex) -> Option<(&'static str, &'static str)> {
    let reservation = harts.reservations.iter().find(|known| known.stream == number);
    let polled = harts.ftt.polled(number).map(|polled| polled.config);
    let cycles = |cycles: u32| harts.cycle * u64::from(cycles);
    let spans = polled.map(|polled| [cycles(polled.period), cycles(polled.deadline)]);
    let interval = reservation.filter(|_| polled.is_none()).map(|reservation| reservation.interval);
    let distance = reservation.and_then(|reservation| reservation.police).map(|police| police.distance);
    let mut spans = spans.into_iter().flatten().chain(interval).chain(distance);
    if spans.any(|span| span.as_ps() / 1_000 > u64::from(u32::MAX)) {
        return Some((
            "its period or deadline is longer than 4.29 s",
            "shorten it: control messages carry it in nanoseconds with 32 bits",
        ));
    }
    let server = reservation.map(|reservation| reservation.server);
    if server.and_then(|server| server.parent).is_some_and(|parent| parent > u16::from(u8::MAX)) {
        return Some((
            "its parent server is behind the 256th of the list",
            "list the server that it is `in` earlier",
        ));
    }
    if reservation.is_some_and(|known| known.server.period > u32::from(u16::MAX)) {
        return Some(("its server is replenished every 65536 cycles or more rarely", "make `every` shorter"));
    }
    if polled.is_some() && reservation.is_some_and(|reservation| reservation.police.is_some()) {
        return Some((
            "it is synchronous, and so cannot be policed",
            "remove `police`: the schedule determines when it is sent",
        ));
    }
    None
}

fn ns(span: Duration) -> u32 {
    u32::try_from(span.as_ps() / 1_000).unwrap_or(u32::MAX)
}

fn short(node: usize) -> u16 {
    u16::try_from(node).unwrap_or(u16::MAX)
}
