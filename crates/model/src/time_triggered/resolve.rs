//! Time-triggered virtual links: their settings, and faults of these (SAE AS6802).

use std::collections::HashMap;

use tautwire_core::time_triggered::{EmptySlot, Integration};
use tautwire_units::Duration;
use tautwire_wire::MacAddress;

use crate::network::{
    Network, NodeIndex, NodeKind, PortIndex, StagePosition, Stream, StreamIndex, Switching, Traffic,
    TransmissionSelection,
};
use crate::parse::Draft;
use crate::resolve::models::Models;
use crate::resolve::streams::{StreamDraft, Streams};
use crate::resolve::topology::Topology;
use crate::text::faults::Faults;
use crate::text::tree::{Node, Place};
use crate::time_triggered::codes;
use crate::time_triggered::{Raster, Release, ScheduleFault, TimeTriggered, TimeTriggeredLink, Timing};

/// The first four octets of the destination address of critical traffic.
const CRITICAL_TRAFFIC_MARKER: [u8; 4] = [0x03, 0x04, 0x05, 0x06];

/// A time-triggered stream and the places of what can still turn out to be wrong.
pub(crate) struct Stated {
    place: Place,
    offset: Option<Duration>,
    /// Stated points: node, port if named, offset, place.
    points: Vec<(NodeIndex, Option<PortIndex>, Duration, Place)>,
    window_place: Place,
}

/// Reads `time-triggered:` of a stream; points are read when the topology is known.
pub(crate) fn link(node: &Node<'_>, number: usize, faults: &mut Faults) -> Option<TimeTriggeredLink> {
    let found = node.get("time-triggered")?;
    if let Some(link) = node.get("virtual-link") {
        let message = "`virtual-link` and `time-triggered` exclude each other: a link is rate-constrained or time-triggered".to_owned();
        faults.error(codes::CONFLICT, link.anchor(), message, "remove one of the two keys");
    }
    let period: Duration = found.parsed("period")?;
    Some(TimeTriggeredLink {
        id: found.parsed("id").unwrap_or(u16::try_from(number + 1).unwrap_or(u16::MAX)),
        period,
        release: match found.get("release").and_then(Node::text) {
            Some("locked") => Release::Locked,
            _ => Release::Free,
        },
        redundant: found.get("redundancy").and_then(Node::text) == Some("true"),
        acceptance: found.parsed("acceptance-window"),
        points: Vec::new(),
    })
}

/// The destination address of critical traffic: the marker and the identifier.
pub(crate) fn destination(link: &TimeTriggeredLink) -> MacAddress {
    let [a, b, c, d] = CRITICAL_TRAFFIC_MARKER;
    let [high, low] = link.id.to_be_bytes();
    MacAddress([a, b, c, d, high, low])
}

/// Clocks that no protocol keeps together must begin together.
fn begin_together(topology: &Topology<'_>, precision: Duration, node: &Node<'_>, faults: &mut Faults) {
    let offsets = || topology.nodes.iter().map(|node| node.clock.offset.as_ps());
    let (Some(least), Some(most)) = (offsets().min(), offsets().max()) else { return };
    let apart = Duration::from_ps(u64::try_from(i128::from(most) - i128::from(least)).unwrap_or(u64::MAX));
    if apart > precision && node.get("synchronisation").is_none() {
        let message =
            format!("the clocks differ by {apart} at the start, more than the precision of {precision}");
        let help = "reduce the difference of the clocks' offsets, raise `precision`, or describe the protocol that brings \
            the clocks together: `synchronisation`";
        let place = node.get("precision").map_or(node.anchor(), |precision| precision.place);
        faults.error(codes::TIME_TRIGGERED, place, message, help);
    }
}

/// Reads `time-triggered:` of the network.
pub(crate) fn settings(
    input: &Draft<'_>,
    topology: &Topology<'_>,
    streams: &Streams<'_, '_>,
    faults: &mut Faults,
) -> Option<TimeTriggered> {
    let Some(node) = input.root.get("time-triggered") else {
        for draft in &streams.list {
            if draft.stream.time_triggered.is_some() {
                let message =
                    "the stream is a time-triggered virtual link, and the network has no network time"
                        .to_owned();
                let help = "add `time-triggered: {precision: 1 us}` to the description";
                faults.error(codes::TIME_TRIGGERED, draft.place("time-triggered"), message, help);
            }
        }
        return None;
    };
    for key in ["tdma", "stream-reservation", "gptp"] {
        if let Some(other) = input.root.get(key) {
            let message = format!("`{key}` and time-triggered traffic exclude each other");
            faults.error(codes::CONFLICT, other.anchor(), message, "remove one of the two keys");
        }
    }
    let word = |key: &str| node.get(key).and_then(Node::text);
    let settings = TimeTriggered {
        precision: node.parsed("precision")?,
        integration_cycle: node.parsed("integration-cycle").unwrap_or(Duration::from_ms(10)),
        integration: match word("integration") {
            Some("shuffling") => Integration::Shuffling,
            Some("preemption") => Integration::Preemption,
            _ => Integration::TimelyBlock,
        },
        empty_slot: match word("empty-slot") {
            Some("released") => EmptySlot::Released,
            _ => EmptySlot::Kept,
        },
        raster: node.get("raster").and_then(|raster| {
            Some(Raster { cycle: raster.parsed("cycle")?, window: raster.parsed("window")? })
        }),
    };
    let worst = topology.nodes.iter().map(|node| node.clock.tolerance_ppb).max().unwrap_or(0);
    let step = topology.nodes.iter().map(|node| node.clock.granularity).max().unwrap_or_default();
    // A correction leaves a clock somewhere; from there it drifts until the next one. Rounded up.
    let cycle = u128::from(settings.integration_cycle.as_ps()) + u128::from(settings.precision.as_ps());
    let drift = (cycle * u128::from(worst)).div_ceil(1_000_000_000) + u128::from(step.as_ps());
    if 2 * drift >= u128::from(settings.precision.as_ps()) {
        let drift = Duration::from_ps(u64::try_from(drift).unwrap_or(u64::MAX));
        let message = format!(
            "the clocks drift by {drift} in an integration cycle of {} and cannot keep a precision of {}",
            settings.integration_cycle, settings.precision
        );
        let help = "shorten `integration-cycle`, or make `precision` more than twice as large as the drift";
        let place = node.get("precision").map_or(node.anchor(), |precision| precision.place);
        faults.error(codes::TIME_TRIGGERED, place, message, help);
    }
    begin_together(topology, settings.precision, node, faults);
    if let Some(raster) = settings.raster.filter(|raster| raster.window >= raster.cycle) {
        let message = format!(
            "the window of {} is not shorter than the raster cycle of {}",
            raster.window, raster.cycle
        );
        let place = node.get("raster").map_or(node.anchor(), Node::anchor);
        let help = "shorten `window` below `cycle`; otherwise other traffic is never sent";
        faults.error(codes::TIME_TRIGGERED, place, message, help);
    }
    Some(settings)
}

/// The stated points, and what a link needs of its traffic and its ports; routes are found.
pub(crate) fn drafts(
    topology: &Topology<'_>,
    models: &Models<'_, '_>,
    streams: &Streams<'_, '_>,
    faults: &mut Faults,
) -> Vec<Option<Stated>> {
    let mut known: HashMap<u16, Place> = HashMap::new();
    let classes = classes(topology, streams);
    let draft = |draft: &StreamDraft<'_, '_>| {
        let link = draft.stream.time_triggered.as_ref()?;
        let node = draft.node.get("time-triggered")?;
        let place = node.get("id").map_or(node.anchor(), |id| id.place);
        if let Some(first) = known.insert(link.id, place) {
            let message = format!("another stream already has the virtual link identifier {}", link.id);
            let help = "give every time-triggered virtual link a different `id`";
            faults.error_with(codes::TIME_TRIGGERED_LINK, place, message, help, (first, "first here"));
        }
        suits(topology, models, &classes, draft, link, node.anchor(), faults);
        if let Some(window) = node.get("acceptance-window")
            && link.acceptance.is_some_and(|length| length >= link.period)
        {
            let message = format!(
                "the acceptance window is not shorter than the period of {}, so it is always open",
                link.period
            );
            let help = "shorten it below the period, or remove it";
            faults.error(codes::ACCEPTANCE_WINDOW, window.place, message, help);
        }
        let point = |item: &Node<'_>| {
            let named = item.get("at")?;
            let (node, port) = topology.reference(named, faults)?;
            Some((node, port, item.parsed("offset")?, named.place))
        };
        Some(Stated {
            place: node.get("offset").map_or(node.anchor(), |offset| offset.place),
            offset: node.parsed("offset"),
            points: node.get("points").map_or(&[][..], Node::items).iter().filter_map(point).collect(),
            window_place: node.get("acceptance-window").map_or(node.anchor(), |window| window.place),
        })
    };
    streams.list.iter().map(draft).collect()
}

/// Traffic, route and ports of a link.
fn suits(
    topology: &Topology<'_>,
    models: &Models<'_, '_>,
    classes: &[(u8, u8)],
    draft: &StreamDraft<'_, '_>,
    link: &TimeTriggeredLink,
    place: Place,
    faults: &mut Faults,
) {
    let stream = &draft.stream;
    let mut fault = |message: String, help: &str| {
        faults.error(codes::TIME_TRIGGERED_LINK, place, message, help);
    };
    if link.release == Release::Locked {
        let follows = match &stream.traffic {
            Traffic::Periodic { interval, .. } => interval.as_ps().is_multiple_of(link.period.as_ps()),
            _ => false,
        };
        if !follows {
            let message = format!(
                "the application follows network time, and its traffic does not keep the period of {}",
                link.period
            );
            return fault(message, "use periodic traffic whose interval is a multiple of the period");
        }
    }
    if stream.learned || stream.listeners.is_empty() {
        return fault(
            "a time-triggered link needs a fixed path".to_owned(),
            "name its listeners, and remove `route: learned`",
        );
    }
    for hop in &stream.hops {
        let port = &topology.ports[hop.port.index()];
        if let NodeKind::Bridge { device, .. } = topology.nodes[port.node.index()].kind {
            let device = models.device_at(device);
            let behind = |position| position == StagePosition::Transmission;
            let unfit = device.two_stage
                || matches!(device.switching, Switching::CutThrough { .. })
                || device.stages.iter().any(|stage| behind(stage.position));
            if unfit {
                let message = format!(
                    "`{}` forwards a frame before its end, or has a stage after the transmission selection",
                    topology.nodes[port.node.index()].name
                );
                return fault(message, "give it a store-and-forward device without stages at `transmission`");
            }
        }
        let strict =
            |class: &crate::network::ClassSettings| class.selection == TransmissionSelection::StrictPriority;
        if !port.classes.iter().all(strict) || port.shared_buffer.is_some() {
            let message =
                format!("{} shapes classes, or its classes share a buffer", topology.port_name(hop.port));
            return fault(
                message,
                "use strict priority, and no shared buffer, where time-triggered frames pass",
            );
        }
        let (timed, others) = classes[hop.port.index()];
        if timed != 1 << hop.class.number() || others >> hop.class.number() != 0 {
            let message = format!(
                "class {} of {} must be the highest and carry time-triggered frames alone",
                hop.class,
                topology.port_name(hop.port)
            );
            return fault(
                message,
                "give all time-triggered streams the same priority, the highest, and no other stream",
            );
        }
    }
}

/// Per port, the classes of time-triggered streams and those of others, a bit each.
fn classes(topology: &Topology<'_>, streams: &Streams<'_, '_>) -> Vec<(u8, u8)> {
    let mut classes = vec![(0, 0); topology.ports.len()];
    for stream in streams.list.iter().map(|draft| &draft.stream) {
        for hop in &stream.hops {
            let (timed, others) = &mut classes[hop.port.index()];
            let used = if stream.time_triggered.is_some() { timed } else { others };
            *used |= 1 << hop.class.number();
        }
    }
    classes
}

/// Fills in the dispatch points and holds them against one another.
pub(crate) fn resolve(network: &mut Network, drafts: &[Option<Stated>], faults: &mut Faults) {
    let drafted = || drafts.iter().enumerate().filter_map(|(number, draft)| Some((number, draft.as_ref()?)));
    control_below(network, drafted().next().map(|(_, draft)| draft.place), faults);
    let Some(timing) = Timing::new(network) else { return };
    let mut points = Vec::new();
    for (number, draft) in drafted() {
        let stream = &network.streams[number];
        let Some(offset) = draft.offset else {
            let message = format!("`{}` has no dispatch points, so it is never sent", stream.name);
            let help = "give it an `offset`, or have one found by a synthesis of its schedule";
            faults.warning(codes::UNSCHEDULED, draft.place, message, help);
            continue;
        };
        let offsets = offsets(network, &timing, stream, offset, draft, faults);
        points.push((StreamIndex::at(number), timing.points(stream, &offsets)));
    }
    network.set_points(points);
    for fault in network.schedule_faults() {
        report(network, drafts, fault, faults);
    }
    let Some(timing) = Timing::new(network) else { return };
    for (number, draft) in drafted() {
        let stream = &network.streams[number];
        let Some(link) = &stream.time_triggered else { continue };
        let narrow = link
            .points
            .iter()
            .enumerate()
            .any(|(hop, point)| !timing.is_wide_enough(stream, hop, &point.window));
        if narrow {
            let message =
                format!("frames of `{}` may arrive outside of their acceptance window", stream.name);
            let help = "lengthen or remove `acceptance-window`";
            faults.warning(codes::ACCEPTANCE_WINDOW, draft.window_place, message, help);
        }
    }
}

/// Network control must not share the class of time-triggered frames.
fn control_below(network: &Network, place: Option<Place>, faults: &mut Faults) {
    let (Some(control), Some(place)) = (&network.network_control, place) else { return };
    for port in (0..network.ports.len()).map(PortIndex::at) {
        let table = &network.ports[port.index()].class_table;
        let own = table.class_of(control.priority, true);
        if network.time_triggered_links(port).any(|(stream, hop)| stream.hops[hop].class <= own) {
            let message = "`network-control` has the priority of time-triggered frames".to_owned();
            let help = "write `network-control: none`, or give it a lower `priority`";
            return faults.error(codes::TIME_TRIGGERED_LINK, place, message, help);
        }
    }
}

/// The offset of every hop: as stated, or as early as can be.
fn offsets(
    network: &Network,
    timing: &Timing<'_>,
    stream: &Stream,
    first: Duration,
    draft: &Stated,
    faults: &mut Faults,
) -> Vec<Duration> {
    let node_of = |hop: usize| network.ports[stream.hops[hop].port.index()].node;
    for (node, port, _, place) in &draft.points {
        let here = (0..stream.hops.len())
            .filter(|hop| stream.hops[*hop].previous.is_some() && node_of(*hop) == *node);
        let matching = here.filter(|hop| port.is_none_or(|port| port == stream.hops[*hop].port)).count();
        if matching != 1 {
            let message = format!("`{}` is sent from {matching} ports that this name may mean", stream.name);
            let help = "name a switch that it passes, and the port if it goes several ways from there";
            faults.error(codes::DISPATCH_POINT, *place, message, help);
        }
    }
    let mut offsets: Vec<Duration> = Vec::with_capacity(stream.hops.len());
    for (hop, at) in stream.hops.iter().enumerate() {
        let stated = draft
            .points
            .iter()
            .find(|(node, port, ..)| *node == node_of(hop) && port.is_none_or(|port| port == at.port));
        offsets.push(match (at.previous, stated) {
            (None, _) => first,
            (Some(_), Some((_, _, offset, _))) => *offset,
            (Some(previous), None) => {
                let previous = previous as usize;
                let earliest = offsets[previous] + timing.reach(stream, previous);
                Duration::from_ns(earliest.as_ps().div_ceil(1_000))
            }
        });
    }
    offsets
}

/// A fault of the schedule as a diagnostic.
fn report(network: &Network, drafts: &[Option<Stated>], fault: ScheduleFault, faults: &mut Faults) {
    let message = fault.words(network);
    let place = |stream: StreamIndex| drafts[stream.index()].as_ref().map(|draft| draft.place);
    let (stream, help) = match fault {
        ScheduleFault::Points { stream } => (stream, "give it one for each".to_owned()),
        ScheduleFault::TooLong { stream, .. } => {
            (stream, "lengthen the period, or move the point into the raster's window".to_owned())
        }
        ScheduleFault::TooEarly { stream, earliest, .. } => {
            (stream, format!("raise the offset there to {earliest} at least"))
        }
        ScheduleFault::TooLate { stream, latest, .. } => {
            (stream, format!("lower the offset there to {latest} at most"))
        }
        ScheduleFault::Collision { stream, other, .. } => {
            let (Some(own), Some(first)) = (place(stream), place(other)) else { return };
            let help = "move one of them, or add `points` after its talker";
            return faults.error_with(codes::SLOTS_COLLIDE, own, message, help, (first, "the other"));
        }
    };
    if let Some(place) = place(stream) {
        faults.error(codes::DISPATCH_POINT, place, message, help);
    }
}
