//! `harts:`, its masters: trigger messages, `polled:` streams, and `police:` of reservations.

use tautwire_core::harts::{SchedulerPolicy, SynchronousStream, Violator};
use tautwire_core::{Priority, TrafficClass};
use tautwire_units::{BitRate, Bytes, Duration};
use tautwire_wire::MacAddress;

use super::admission::PRIORITY as CONTROL_PRIORITY;
use super::relayed;
use crate::frame::{TAG, frame_length, wire_bits};
use crate::harts::Harts;
use crate::harts::codes;
use crate::harts::polled::{Ftt, Police, PolledStream};
use crate::network::{
    ArrivalCurve, Delay, Distribution, Hop, NodeKind, PortIndex, Stream, StreamIndex, Traffic,
};
use crate::resolve::control_frames::ControlFrames;
use crate::resolve::models::Models;
use crate::resolve::streams::Streams;
use crate::resolve::topology::Topology;
use crate::text::faults::Faults;
use crate::text::tree::Node;

/// Destination of trigger messages: a group address of the project's own, because no address is published for them.
const TRIGGER_ADDRESS: MacAddress = MacAddress([0x03, 0x46, 0x54, 0x54, 0x00, 0x01]);
/// Octets of a trigger message that polls nothing, and of each message that it polls.
const TRIGGER: (u64, u64) = (10, 3);
/// Least payload of a frame without a tag.
const PAYLOAD_MIN: u64 = 46;

/// Reads the masters in `node` (`harts:`). Adds a stream of trigger messages for every port from a bridge to an end station.
pub(crate) fn ftt(
    node: &Node<'_>,
    harts: &Harts,
    topology: &Topology<'_>,
    models: &Models<'_, '_>,
    streams: &mut Streams<'_, '_>,
    faults: &mut Faults,
) -> Ftt {
    let policy = match node.get("scheduler").and_then(Node::text) {
        Some("earliest-deadline-first") => SchedulerPolicy::EarliestDeadlineFirst,
        Some("servers") => SchedulerPolicy::ServerBased,
        _ => SchedulerPolicy::RateMonotonic,
    };
    let mut ftt = Ftt {
        policy,
        windows: vec![None; topology.nodes.len()],
        triggers: vec![None; topology.ports.len()],
        polled: Vec::new(),
        relayed: Vec::new(),
        has_admission: node.get("admission").is_some(),
    };
    for item in node.get("polled").map_or(&[][..], Node::items) {
        if let Some(polled) = polled(item, &ftt, topology, streams, faults) {
            ftt.relayed.extend(relayed::relayed(item, &polled, topology, streams));
            ftt.polled.push(polled);
        }
    }
    for (number, draft) in streams.list.iter().enumerate() {
        let listed = ftt.polled(StreamIndex::at(number)).is_some();
        if draft.stream.traffic == Traffic::Polled && !listed {
            let message = format!("no switch polls `{}`", draft.stream.name);
            faults.error(codes::HARTS_STREAM, draft.name_place, message, "list it under `harts.polled`");
        }
    }
    triggers(node, harts, &mut ftt, topology, streams, faults);
    windows(node, harts, &mut ftt, topology, models, streams, faults);
    promise(harts, &ftt, streams);
    ftt
}

fn polled(
    item: &Node<'_>,
    ftt: &Ftt,
    topology: &Topology<'_>,
    streams: &Streams<'_, '_>,
    faults: &mut Faults,
) -> Option<PolledStream> {
    let named = item.get("stream")?;
    let found = streams.find(named, faults)?;
    let stream = &streams.list[found.index()].stream;
    let switch = stream
        .hops
        .iter()
        .find(|hop| hop.previous == Some(0))
        .map(|hop| topology.ports[hop.port.index()].node);
    let fault = if stream.traffic != Traffic::Polled {
        Some((
            format!("`{}` is polled, and its traffic sends without a poll", stream.name),
            "give it `traffic: {type: polled}`",
        ))
    } else if ftt.polled(found).is_some() {
        Some((format!("`{}` is listed twice under `polled`", stream.name), "remove one of the two"))
    } else if switch.is_none() {
        Some((
            format!("the path of `{}` has no switch", stream.name),
            "connect talker and listeners by a bridge, which polls the stream",
        ))
    } else {
        None
    };
    if let Some((message, help)) = fault {
        faults.error(codes::HARTS_STREAM, named.place, message, help);
        return None;
    }
    let period = item.parsed("every").unwrap_or(1);
    let config = SynchronousStream {
        id: u16::try_from(found.index()).ok()?,
        // Known when the windows are.
        time: Duration::ZERO,
        period,
        offset: item.parsed("offset").unwrap_or(0),
        deadline: item.parsed("within").unwrap_or(period),
        priority: item.parsed("priority").unwrap_or(stream.priority.number()),
        budget: 1,
    };
    Some(PolledStream { stream: found, switch: switch?, config })
}

/// The streams of trigger messages.
fn triggers(
    node: &Node<'_>,
    harts: &Harts,
    ftt: &mut Ftt,
    topology: &Topology<'_>,
    streams: &mut Streams<'_, '_>,
    faults: &mut Faults,
) {
    for (number, port) in topology.ports.iter().enumerate() {
        let is_bridge = matches!(topology.nodes[port.node.index()].kind, NodeKind::Bridge { .. });
        let Some(links) = port.links.filter(|_| is_bridge) else { continue };
        let link = &topology.links[links.egress.index()];
        let far = topology.ports[link.to.index()].node;
        if !matches!(topology.nodes[far.index()].kind, NodeKind::EndStation { .. }) {
            continue;
        }
        let here = ftt.polled.iter().filter(|polled| polled.switch == port.node).count() as u64;
        let most = Bytes::new((TRIGGER.0 + TRIGGER.1 * here).max(PAYLOAD_MIN));
        let frame = wire_bits(most, false);
        let taken = link.rate.duration_ceil(frame);
        let step = topology.nodes[port.node.index()].clock.step();
        if taken.saturating_add(step) > harts.trigger {
            let message = format!(
                "the trigger message takes {taken} at {}, longer than its window of {}{}",
                topology.port_name(PortIndex::at(number)),
                harts.trigger,
                in_steps(step)
            );
            let help = if step.is_zero() {
                "lengthen `trigger`, or poll fewer streams at this switch"
            } else {
                "lengthen `trigger`, or make `granularity` finer: the window may open a step late"
            };
            let place = node.get("trigger").map_or(node.anchor(), |node| node.place);
            faults.error(codes::HARTS_WINDOW, place, message, help);
            return;
        }
        ftt.triggers[number] = Some(StreamIndex::at(streams.list.len() + streams.protocol.len()));
        let rate = BitRate::per_period_ceil(frame, harts.cycle).ok();
        streams.protocol.push(
            ControlFrames {
                protocol: "trigger",
                destination: TRIGGER_ADDRESS,
                priority: Priority::new(7).expect("below eight"),
                payload_min: Bytes::new(PAYLOAD_MIN),
                payload_max: most,
                arrival: rate.map(|rate| ArrivalCurve { rate, burst: frame * 2 }),
            }
            .to_neighbour(topology, PortIndex::at(number)),
        );
    }
}

/// The messages that a switch may poll and relay in a cycle: relayed ones are there when the window begins. All
/// messages of a cycle have left its ports at most `lead` and the sum of their times after the start of the
/// synchronous window: `lead` is the delay of the talker's host, one longer frame in transmission at its port, network
/// control before it, cable and stages, and the longest message once more (it is stored before it is forwarded), and
/// the difference of the clocks in a cycle.
fn windows(
    node: &Node<'_>,
    harts: &Harts,
    ftt: &mut Ftt,
    topology: &Topology<'_>,
    models: &Models<'_, '_>,
    streams: &Streams<'_, '_>,
    faults: &mut Faults,
) {
    let mut leads = vec![Duration::ZERO; topology.nodes.len()];
    for number in 0..ftt.polled.len() {
        let polled = ftt.polled[number];
        let (time, lead) = match lead(&polled, harts, ftt, topology, models, streams) {
            Ok(taken) => taken,
            Err((message, help)) => {
                let draft = &streams.list[polled.stream.index()];
                faults.error(codes::HARTS_STREAM, draft.name_place, message, help);
                continue;
            }
        };
        ftt.polled[number].config.time = time;
        let at = &mut leads[polled.switch.index()];
        *at = (*at).max(lead);
    }
    relayed::times(&mut ftt.relayed, &mut leads, harts, topology, models, streams, faults);
    let window = harts.open - harts.synchronous;
    let here = ftt.polled.iter().map(|polled| (polled.stream, polled.switch, polled.config.time));
    let further = ftt.relayed.iter().map(|relayed| (relayed.stream, relayed.switch, relayed.config.time));
    for (stream, switch, time) in here.chain(further) {
        let left = window.saturating_sub(leads[switch.index()]);
        ftt.windows[switch.index()] = Some(left);
        if time > left {
            let name = &streams.list[stream.index()].stream.name;
            let message = format!(
                "a message of `{name}` takes {time}, and the synchronous window of {window} leaves {left} for messages"
            );
            let help =
                "lengthen `synchronous`: it holds the messages and the time that they take to the switch";
            let place = node.get("synchronous").map_or(node.anchor(), |node| node.place);
            faults.error(codes::HARTS_WINDOW, place, message, help);
        }
    }
}

/// The time of a polled message in the schedule, and what goes before it at most.
fn lead(
    polled: &PolledStream,
    harts: &Harts,
    ftt: &Ftt,
    topology: &Topology<'_>,
    models: &Models<'_, '_>,
    streams: &Streams<'_, '_>,
) -> Result<(Duration, Duration), (String, &'static str)> {
    let stream = &streams.list[polled.stream.index()].stream;
    let rate = |hop: &Hop| {
        let links = topology.ports[hop.port.index()].links.expect("a hop's port has a cable");
        topology.links[links.egress.index()].rate
    };
    let first = &stream.hops[0];
    let here = stream.hops.iter().filter(|hop| topology.ports[hop.port.index()].node == polled.switch);
    let time = here
        .chain([first])
        .map(|hop| rate(hop).duration_ceil(wire_bits(stream.payload_max, true)))
        .max()
        .unwrap_or_default();
    // A clock that is read in steps may hold the line a step longer.
    let time = time.saturating_add(step_max(topology));
    let (NodeKind::EndStation { host }, NodeKind::Bridge { device, .. }) =
        (&topology.nodes[stream.talker.index()].kind, &topology.nodes[polled.switch.index()].kind)
    else {
        return Err((
            format!("the path of `{}` has no switch", stream.name),
            "connect talker and listeners by a bridge, which polls the stream",
        ));
    };
    let (host, device) = (models.host_at(*host), models.device_at(*device));
    if device.stages.iter().any(|stage| stage.occupancy != Delay::default()) {
        let message = format!(
            "`{}` is polled by a switch whose device has stages in which frames may queue",
            stream.name
        );
        return Err((message, "remove `occupancy` from the stages of the device"));
    }
    // Other frames at the talker's port: they must go behind what is polled.
    let uplink = &topology.ports[first.port.index()];
    let egress = &topology.links[uplink.links.expect("a hop's port has a cable").egress.index()];
    let mut blocking = Duration::ZERO;
    for (number, draft) in streams.list.iter().enumerate() {
        let is_polled = ftt.polled(StreamIndex::at(number)).is_some();
        for hop in draft.stream.hops.iter().filter(|hop| hop.port == first.port && !is_polled) {
            if hop.class >= first.class {
                let message = format!(
                    "frames of `{}` may delay those of `{}` at its talker",
                    draft.stream.name, stream.name
                );
                return Err((message, "give polled streams the highest priority at their talker"));
            }
            blocking = blocking.max(egress.rate.duration_ceil(wire_bits(draft.stream.payload_max, true)));
        }
    }
    // One control message of admission, whose class is below theirs.
    if ftt.has_admission {
        let control = Priority::new(CONTROL_PRIORITY).expect("below eight");
        if uplink.class_table.class_of(control, true) >= first.class {
            let message = format!("control messages may delay frames of `{}` at its talker", stream.name);
            return Err((message, "give polled streams priority 7"));
        }
        blocking = blocking.max(egress.rate.duration_ceil(wire_bits(Bytes::new(PAYLOAD_MIN), false)));
    }
    // The trigger message is decoded before the synchronous window begins.
    let trigger = harts.trigger + egress.propagation + egress.phy_delay.max;
    let octets =
        frame_length(Bytes::new(TRIGGER.0 + TRIGGER.1 * ftt.polled.len() as u64).max(Bytes::new(46)), false);
    // A frame waits in a stage for a larger one of its class before it.
    let stages = |octets: Bytes| {
        device
            .stages
            .iter()
            .map(|stage| longest(&stage.latency, octets))
            .fold(Duration::ZERO, |all, one| all + one)
    };
    // It is out of its window a step later at most, and that of the switch begins where the cycle does. In the stages
    // behind the selection it may meet a larger frame of the cycle before.
    let trigger = trigger.saturating_add(step_max(topology));
    let downlink = topology.links[uplink.links.expect("a hop's port has a cable").ingress.index()].from;
    let slowest = stages(largest(streams, downlink, None).max(octets));
    if trigger.saturating_add(slowest).saturating_add(longest(&host.receive, octets)) > harts.synchronous {
        let message = format!(
            "`{}` may still decode the trigger message when the synchronous window begins",
            stream.name
        );
        return Err((message, "lengthen `turn-around` to the longest time that a node takes to receive"));
    }
    let frame = frame_length(stream.payload_max, stream.tagged) + TAG;
    // The host keeps the order of all its frames.
    let at_host =
        streams.list.iter().map(|draft| &draft.stream).filter(|other| other.talker == stream.talker);
    let longest_frame = at_host.map(|other| frame_length(other.payload_max, other.tagged) + TAG).max();
    let lead = longest(&host.transmit, frame.max(longest_frame.unwrap_or_default()))
        + blocking
        + egress.propagation
        + egress.phy_delay.max
        + stages(largest(streams, first.port, Some(first.class)).max(frame))
        + time
        + clocks(harts, topology);
    Ok((time, lead))
}

/// The largest frame that leaves by a port, of all classes or of one.
fn largest(streams: &Streams<'_, '_>, port: PortIndex, class: Option<TrafficClass>) -> Bytes {
    let all = streams.list.iter().flat_map(|draft| draft.stream.hops.iter().map(move |hop| (draft, hop)));
    let here = all.filter(|(_, hop)| hop.port == port && class.is_none_or(|class| hop.class == class));
    let sizes = here.map(|(draft, hop)| frame_length(draft.stream.payload_max, hop.tagged) + TAG);
    sizes.max().unwrap_or_default()
}

/// The longest step of a clock's readings; none of clocks that are exact.
pub(crate) fn step_max(topology: &Topology<'_>) -> Duration {
    topology.nodes.iter().map(|node| node.clock.step()).max().unwrap_or_default()
}

/// The text that a clock is read in steps.
pub(crate) fn in_steps(step: Duration) -> String {
    if step.is_zero() { String::new() } else { format!(", by a clock that is read in steps of {step}") }
}

/// The difference of clocks in a cycle.
pub(crate) fn clocks(harts: &Harts, topology: &Topology<'_>) -> Duration {
    let tolerance = topology.nodes.iter().map(|node| u64::from(node.clock.tolerance_ppb)).max().unwrap_or(0);
    let steps = step_max(topology).as_ps();
    let drift = (u128::from(harts.cycle.as_ps()) * u128::from(tolerance) * 4).div_ceil(1_000_000_000);
    Duration::from_ps(
        u64::try_from(drift).unwrap_or(u64::MAX).saturating_add(steps.saturating_mul(4)).saturating_add(16),
    )
}

/// The longest that a delay can be.
fn longest(delay: &Delay, octets: Bytes) -> Duration {
    let random = match delay.random {
        Distribution::Zero => Duration::ZERO,
        Distribution::Uniform { max, .. } | Distribution::Normal { max, .. } => max,
    };
    (delay.constant + delay.per_octet * octets.get()).saturating_sub(delay.less) + random
}

/// What polled streams promise: a frame each period, two at once where a message waited.
fn promise(harts: &Harts, ftt: &Ftt, streams: &mut Streams<'_, '_>) {
    for polled in &ftt.polled {
        let stream = &mut streams.list[polled.stream.index()].stream;
        let frame = wire_bits(stream.payload_max, true);
        let period = harts.cycle * u64::from(polled.config.period);
        let rate = BitRate::per_period_ceil(frame, period).ok();
        stream.arrival = rate.map(|rate| ArrivalCurve { rate, burst: frame * 2 });
    }
}

/// Reads `police:` of a reservation.
pub(crate) fn police(
    node: &Node<'_>,
    stream: &Stream,
    interval: Duration,
    faults: &mut Faults,
) -> Option<Police> {
    let entered = stream.hops.first().is_some_and(|hop| hop.tagged.vlan);
    // Rounded down to nanoseconds, if it is stated: the unit of a request.
    let stated = node.parsed("distance").map(|stated: Duration| Duration::from_ns(stated.as_ps() / 1_000));
    let distance = stated.unwrap_or(interval);
    if distance.is_zero() {
        let message = format!("the traffic of `{}` has no least distance of frames", stream.name);
        faults.error(codes::HARTS_SERVER, node.anchor(), message, "state `distance`");
        return None;
    }
    let violator = match node.get("early").and_then(Node::text) {
        Some("reshape") => Violator::Reshape,
        _ => Violator::Discard,
    };
    Some(Police {
        frame_max: node.parsed("frame-max").unwrap_or_else(|| frame_length(stream.payload_max, entered)),
        distance,
        violator,
        pool: node.parsed("pool").unwrap_or(1),
        stated: stated.is_some(),
    })
}
