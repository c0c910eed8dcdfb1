//! `harts:`: the elementary cycle, shared servers, and the servers of reserved streams.

mod admission;
mod polled;
mod relayed;

use tautwire_core::harts::Violator;
use tautwire_core::harts::servers::{ServerConfig, ServerKind, ServerWindow};
use tautwire_units::{Bytes, Duration};

use super::polled::{Ftt, Police};
use crate::frame::wire_bits;
use crate::harts::codes;
use crate::harts::{Harts, Reservation, ResponseTimeTest, SharedServer, octets_of};
use crate::network::{
    Distribution, NodeKind, Stream, StreamIndex, Switching, Traffic, TransmissionSelection,
};
use crate::parse::Draft;
use crate::resolve::models::Models;
use crate::resolve::streams::{StreamDraft, Streams};
use crate::resolve::topology::Topology;
use crate::text::faults::Faults;
use crate::text::tree::Node;

/// Reads `harts:`; routes are found.
pub(crate) fn harts(
    input: &Draft<'_>,
    topology: &Topology<'_>,
    models: &Models<'_, '_>,
    streams: &mut Streams<'_, '_>,
    faults: &mut Faults,
) -> Option<Harts> {
    let node = input.root.get("harts")?;
    let cycle: Duration = node.parsed("elementary-cycle")?;
    let window = |key: &str| node.parsed::<Duration>(key).unwrap_or(Duration::ZERO);
    let before = [window("trigger"), window("turn-around"), window("synchronous"), window("guard")];
    let taken = before.iter().copied().fold(Duration::ZERO, Duration::saturating_add);
    if taken >= cycle {
        let message =
            format!("the windows take {taken} and leave nothing of the elementary cycle of {cycle}");
        let help = "shorten the windows, or lengthen the cycle";
        faults.error(codes::HARTS_WINDOW, node.anchor(), message, help);
        return None;
    }
    let open = before[0] + before[1] + before[2];
    let shared = shared(node, faults);
    let mut harts = Harts {
        cycle,
        trigger: before[0],
        synchronous: before[0] + before[1],
        open,
        close: cycle - before[3],
        reservations: Vec::new(),
        background: node.get("background").and_then(|node| Some((octets(node)?, every(node).unwrap_or(1)))),
        shared,
        ftt: Ftt {
            policy: tautwire_core::harts::SchedulerPolicy::RateMonotonic,
            windows: Vec::new(),
            triggers: Vec::new(),
            polled: Vec::new(),
            relayed: Vec::new(),
            has_admission: false,
        },
        admission: None,
        response_time: node.get("response-time").map(response_time).unwrap_or_default(),
    };
    if let Some(guard) = harts.response_time.guard.filter(|guard| *guard >= cycle.saturating_sub(open)) {
        let stated = node.get("response-time").and_then(|test| test.get("guard"));
        let message =
            format!("the guard window of {guard} leaves nothing of the elementary cycle of {cycle}");
        let place = stated.map_or(node.anchor(), |stated| stated.place);
        faults.error(codes::HARTS_WINDOW, place, message, "shorten or remove it");
    }
    for item in node.get("reserve").map_or(&[][..], Node::items) {
        if let Some(reservation) = reservation(node, item, &harts, (topology, models), streams, faults) {
            harts.reservations.push(reservation);
        }
    }
    if ["tdma", "time-triggered", "stream-reservation", "gptp"]
        .iter()
        .any(|key| input.root.get(key).is_some())
    {
        let help = "remove `harts`, or `tdma`, `time-triggered`, `stream-reservation` and `gptp`";
        faults.error(
            codes::HARTS_STREAM,
            node.anchor(),
            "`harts` excludes every other mechanism that schedules the lines".to_owned(),
            help,
        );
    }
    if faults.errors() == 0 {
        harts.ftt = polled::ftt(node, &harts, topology, models, streams, faults);
        harts.admission = admission::admission(node, &harts, topology, streams, faults);
    }
    for (number, draft) in streams.list.iter().enumerate() {
        fits(StreamIndex::at(number), draft, &harts, topology, models, faults);
    }
    Some(harts)
}

fn shared(node: &Node<'_>, faults: &mut Faults) -> Vec<SharedServer> {
    let mut shared: Vec<SharedServer> = Vec::new();
    for item in node.get("servers").map_or(&[][..], Node::items) {
        let (Some(name), Some(capacity), Some(priority)) =
            (item.get("name").and_then(Node::text), octets(item), item.parsed("priority"))
        else {
            continue;
        };
        if shared.iter().any(|known| known.name == name) {
            let message = format!("two servers are named `{name}`");
            faults.error(codes::HARTS_SERVER, item.anchor(), message, "give every server a different name");
        }
        let config = ServerConfig {
            parent: parent(item, &shared, faults),
            kind: kind(item),
            capacity: Some(capacity),
            period: every(item).unwrap_or(1),
            priority,
            window: ServerWindow::Asynchronous,
        };
        shared.push(SharedServer { name: name.to_owned(), config });
    }
    shared
}

fn reservation(
    root: &Node<'_>,
    item: &Node<'_>,
    harts: &Harts,
    (topology, models): (&Topology<'_>, &Models<'_, '_>),
    streams: &Streams<'_, '_>,
    faults: &mut Faults,
) -> Option<Reservation> {
    let named = item.get("stream")?;
    let found = streams.find(named, faults)?;
    let stream = &streams.list[found.index()].stream;
    if harts.reservations.iter().any(|known| known.stream == found) {
        let message = format!("`{}` is reserved twice", stream.name);
        faults.error(codes::HARTS_SERVER, named.place, message, "remove one of the reservations");
    }
    let wire = octets_of(stream);
    let tolerance = topology.nodes.iter().map(|node| u64::from(node.clock.tolerance_ppb)).max().unwrap_or(0);
    let interval = match polled_every(root, &stream.name) {
        Some(period) => harts.cycle * u64::from(period),
        None => interval(stream, wire),
    };
    let promises = !interval.is_zero();
    // In the units of a request; rounded down, so the server is never too small.
    let interval = Duration::from_ns((interval.as_ps() / 1_000).max(1));
    let (cycles, frames) = own_server(interval, tolerance, harts.cycle);
    let police = item.get("police").and_then(|node| {
        // The talker's clock may be fast, and the switch's slow.
        let lost = tautwire_core::harts::apart_by(interval, tolerance);
        // Both read their clocks in steps.
        let lost = lost.saturating_add(polled::step_max(topology)).saturating_add(polled::step_max(topology));
        let distance = if promises { interval.saturating_sub(lost) } else { Duration::ZERO };
        let police = polled::police(node, stream, distance, faults)?;
        early(node, stream, (&police, interval.saturating_sub(lost)), (topology, models), streams, faults);
        Some(police)
    });
    let capacity = octets(item).unwrap_or(wire.saturating_mul(frames));
    if capacity < wire {
        let message = format!(
            "a frame of {wire} B on the wire exceeds the server's capacity of {capacity} B and is never sent"
        );
        faults.error(
            codes::HARTS_SERVER,
            item.anchor(),
            message,
            "raise `capacity` to the largest frame at least",
        );
    }
    let period = every(item).unwrap_or(cycles);
    let server = ServerConfig {
        parent: parent(item, &harts.shared, faults),
        kind: kind(item),
        capacity: Some(capacity),
        period,
        priority: item.parsed("priority").unwrap_or(stream.priority.number()),
        window: ServerWindow::Asynchronous,
    };
    let stated = item.get("capacity").is_some() || item.get("every").is_some();
    Some(Reservation { stream: found, server, stated, interval, police })
}

/// Warns of a talker that keeps its promise and of which frames are discarded: by its jitter, by its host's delay, and
/// by others that wait at
/// its port, they come to the switch closer together than they are made.
fn early(
    node: &Node<'_>,
    stream: &Stream,
    (police, made): (&Police, Duration),
    (topology, models): (&Topology<'_>, &Models<'_, '_>),
    streams: &Streams<'_, '_>,
    faults: &mut Faults,
) {
    let NodeKind::EndStation { host } = topology.nodes[stream.talker.index()].kind else { return };
    let Some(port) = stream.hops.first().map(|hop| hop.port) else { return };
    let Some(links) = topology.ports[port.index()].links else { return };
    let rate = topology.links[links.egress.index()].rate;
    let others = streams.list.iter().map(|draft| &draft.stream).filter(|other| other.name != stream.name);
    let sharing = others.filter(|other| other.hops.iter().any(|hop| hop.port == port));
    let waits = sharing.map(|other| rate.duration_ceil(wire_bits(other.payload_max, other.tagged))).max();
    let (least, most) = match models.host_at(host).transmit.random {
        Distribution::Zero => Default::default(),
        Distribution::Uniform { min, max } | Distribution::Normal { min, max, .. } => (min, max),
    };
    let drawn = match stream.traffic {
        Traffic::Periodic { jitter, .. } => jitter,
        _ => Duration::ZERO,
    };
    let closer = drawn + most.saturating_sub(least) + waits.unwrap_or_default();
    let comes = made.saturating_sub(closer);
    if police.violator == Violator::Discard && comes < police.distance {
        let message = format!(
            "frames of `{}` are sent {made} apart and may arrive {comes} apart, less than the distance of {}, so some are discarded",
            stream.name, police.distance
        );
        let help = format!("write `early: reshape`, or a `distance` of at most {comes}");
        faults.warning(codes::HARTS_POLICING, node.anchor(), message, help);
    }
}

/// The stated parameters of the test by equation 3.
fn response_time(node: &Node<'_>) -> ResponseTimeTest {
    let usual = ResponseTimeTest::default();
    ResponseTimeTest {
        deadline_periods: node.parsed("deadline-periods"),
        switch_delay: node.parsed("switch-delay").unwrap_or(usual.switch_delay),
        guard: node.parsed("guard"),
        counts_unreserved: node.get("unreserved").and_then(Node::text) != Some("left-out"),
    }
}

/// How often a synchronous stream is polled, in cycles.
fn polled_every(root: &Node<'_>, name: &str) -> Option<u32> {
    let mut items = root.get("polled").map_or(&[][..], Node::items).iter();
    let item = items.find(|item| item.get("stream").and_then(Node::text) == Some(name))?;
    Some(item.parsed("every").unwrap_or(1))
}

/// The least distance of a stream's longest frames; zero if it promises nothing.
fn interval(stream: &Stream, wire: u32) -> Duration {
    match stream.traffic {
        Traffic::Periodic { interval, burst, .. } => {
            Duration::from_ps(interval.as_ps() / u64::from(burst.max(1)))
        }
        _ => match stream.arrival {
            Some(curve) if curve.rate.as_bps() > 0 => {
                curve.rate.duration_floor(Bytes::new(u64::from(wire)).bits())
            }
            _ => Duration::ZERO,
        },
    }
}

/// Period in cycles and frames of the server of a stream: the number of cycles that fit into its interval, by the
/// fastest clock of a talker and the slowest of a bridge, and the frames that come in them.
fn own_server(interval: Duration, tolerance_ppb: u64, cycle: Duration) -> (u32, u32) {
    let lost = (u128::from(interval.as_ps()) * u128::from(tolerance_ppb) * 2).div_ceil(1_000_000_000);
    let interval = interval.as_ps().saturating_sub(u64::try_from(lost).unwrap_or(u64::MAX)).max(1);
    let cycles = (interval / cycle.as_ps()).max(1);
    let frames = (u128::from(cycles) * u128::from(cycle.as_ps())).div_ceil(u128::from(interval));
    (u32::try_from(cycles).unwrap_or(u32::MAX), u32::try_from(frames).unwrap_or(u32::MAX))
}

/// The server under `in`.
fn parent(item: &Node<'_>, shared: &[SharedServer], faults: &mut Faults) -> Option<u16> {
    let named = item.get("in")?;
    let name = named.text()?;
    let found = shared.iter().position(|known| known.name == name);
    if found.is_none() {
        let message = format!("no server `{name}` is listed before this one");
        faults.error(
            codes::HARTS_SERVER,
            named.place,
            message,
            "list that server under `servers` before this one",
        );
    }
    found.and_then(|place| u16::try_from(place).ok())
}

fn kind(item: &Node<'_>) -> ServerKind {
    match item.get("kind").and_then(Node::text) {
        Some("polling") => ServerKind::Polling,
        Some("sporadic") => ServerKind::Sporadic,
        _ => ServerKind::Deferrable,
    }
}

fn octets(item: &Node<'_>) -> Option<u32> {
    u32::try_from(item.parsed::<Bytes>("capacity")?.get()).ok()
}

fn every(item: &Node<'_>) -> Option<u32> {
    item.parsed("every")
}

/// A stream must fit the window of every bridge on its way, which stores and forwards by servers alone.
fn fits(
    number: StreamIndex,
    draft: &StreamDraft<'_, '_>,
    harts: &Harts,
    topology: &Topology<'_>,
    models: &Models<'_, '_>,
    faults: &mut Faults,
) {
    let stream = &draft.stream;
    for hop in &stream.hops {
        let port = &topology.ports[hop.port.index()];
        let NodeKind::Bridge { device, .. } = topology.nodes[port.node.index()].kind else { continue };
        let in_synchronous = harts.ftt.is_synchronous_at(number, port.node);
        let strict = port.classes[hop.class.index()].selection == TransmissionSelection::StrictPriority;
        let device = models.device_at(device);
        let stores = matches!(device.switching, Switching::StoreAndForward) && !device.two_stage;
        let links = port.links.expect("a hop's port has a cable");
        let rate = topology.links[links.egress.index()].rate;
        let wire = rate.duration_ceil(wire_bits(stream.payload_max, hop.tagged));
        let step = topology.nodes[port.node.index()].clock.step();
        let talker = &topology.nodes[stream.talker.index()].kind;
        let has_stacks = matches!(talker, NodeKind::EndStation { host }
            if !models.host_at(*host).stacks.stacks.is_empty());
        let otherwise = stream.shaped_at_talker || stream.virtual_link.is_some() || has_stacks;
        let (message, help) = if !strict || !stores || otherwise {
            let message = format!("a port on the path of `{}` shapes it or cuts through", stream.name);
            (
                message,
                "with `harts`, use strict priority and store-and-forward in bridges, and talkers without shapers and protocol stacks",
            )
        } else if wire.saturating_add(step) > harts.close - harts.open && !in_synchronous {
            let window = harts.close - harts.open;
            let message =
                format!("a frame takes {wire}, longer than the window of {window}{}", polled::in_steps(step));
            (message, "lengthen the elementary cycle, or shorten the frame")
        } else {
            continue;
        };
        faults.error(codes::HARTS_STREAM, draft.name_place, message, help);
        return;
    }
}
