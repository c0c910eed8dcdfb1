//! The run's timeline.
//!
//! The promise of a stream holds for the full run: an arrival curve covers all traffic that the stream ever has, and
//! one burst more for every further start; its sizes are those of all its frames.

use tautwire_core::TrafficClass;
use tautwire_units::{BitRate, Bits, Duration};

use super::streams::{StreamDraft, Streams};
use super::topology::Topology;
use super::{streams, traffic};
use crate::network::{
    ArrivalCurve, Stream, StreamIndex, TimelineAction, TimelineEvent, Traffic, TransmissionSelection,
};
use crate::parse::Draft;
use crate::text::codes;
use crate::text::faults::Faults;
use crate::text::scalar;
use crate::text::tree::{Node, Place};
use crate::{frer, gates, psfp};

/// A step of the timeline, and its place in the text.
pub(crate) struct Event {
    pub(crate) timeline: TimelineEvent,
    pub(crate) place: Place,
}

/// The timeline of a run.
pub(crate) struct Events {
    pub(crate) list: Vec<Event>,
    /// Whether no event is left out for its faults.
    pub(crate) is_complete: bool,
}

/// Reads `events:`, in order of time; equal times keep the order of the text, behind cables that are cut at the start, each
/// with its place.
pub(crate) fn events(
    input: &Draft<'_>,
    topology: &Topology<'_>,
    cut_at_start: &[(u32, Place)],
    streams: &mut Streams<'_, '_>,
    faults: &mut Faults,
) -> Events {
    let cut = |(cable, place): &(u32, Place)| Event {
        timeline: TimelineEvent { at: Duration::ZERO, action: TimelineAction::CutCable(*cable) },
        place: *place,
    };
    let mut events: Vec<Event> = cut_at_start.iter().map(cut).collect();
    let stated = input.root.get("events").map_or(&[][..], Node::items);
    let all = events.len() + stated.len();
    for node in stated {
        let at: Option<Duration> = node.parsed("at");
        let actions: Vec<&(crate::text::tree::Key<'_>, Node<'_>)> =
            node.entries().iter().filter(|(key, _)| key.text != "at").collect();
        match actions[..] {
            [(key, value)] => {
                let action = action(&key.text, value, input, topology, streams, faults);
                if let (Some(at), Some(action)) = (at, action) {
                    events.push(Event { timeline: TimelineEvent { at, action }, place: value.anchor() });
                }
            }
            [] => {
                let message = "this event has a time and no action".to_owned();
                faults.error(
                    codes::EVENT,
                    node.anchor(),
                    message,
                    "add an action, such as `stop-stream: name`",
                );
            }
            [_, (second, _), ..] => {
                let message = "this event has more than one action".to_owned();
                faults.error(
                    codes::EVENT,
                    second.place,
                    message,
                    "write a separate event for each action, with the same `at`",
                );
            }
        }
    }
    events.sort_by_key(|event| event.timeline.at);
    promises(&events, streams);
    Events { is_complete: events.len() == all, list: events }
}

fn action(
    key: &str,
    value: &Node<'_>,
    input: &Draft<'_>,
    topology: &Topology<'_>,
    streams: &Streams<'_, '_>,
    faults: &mut Faults,
) -> Option<TimelineAction> {
    let stream_of = |faults: &mut Faults| streams.find(value.get("stream")?, faults);
    Some(match key {
        "start-stream" => TimelineAction::StartStream(streams.find(value, faults)?),
        "stop-stream" => TimelineAction::StopStream(streams.find(value, faults)?),
        "cut-link" => TimelineAction::CutCable(topology.cable(value, faults)?),
        "mend-link" => TimelineAction::MendCable(topology.cable(value, faults)?),
        "stop-node" => TimelineAction::StopNode(topology.node(value.text()?, value.place, faults)?),
        "start-node" => TimelineAction::StartNode(topology.node(value.text()?, value.place, faults)?),
        "babble" => {
            let named = value.get("node")?;
            let node = topology.node(named.text()?, named.place, faults)?;
            TimelineAction::Babble(node, value.parsed("interval")?)
        }
        "mistime" => {
            let named = value.get("node")?;
            let node = topology.node(named.text()?, named.place, faults)?;
            TimelineAction::Mistime(node, value.parsed("by")?)
        }
        "stop-babbling" => TimelineAction::StopBabbling(topology.node(value.text()?, value.place, faults)?),
        "repeat-frame" => {
            let (node, stream) = frer::repeats::named(value, topology, streams, faults)?;
            TimelineAction::RepeatFrame(node, stream, value.parsed("interval")?)
        }
        "stop-repeating" => {
            let (node, stream) = frer::repeats::named(value, topology, streams, faults)?;
            TimelineAction::StopRepeating(node, stream)
        }
        "change-traffic" => change_traffic(value, stream_of(faults)?, input, streams, faults)?,
        "change-idle-slope" => change_idle_slope(value, topology, faults)?,
        "change-gates" => gates::resolve::change(value, topology, faults)?,
        "change-stream-filter" | "change-stream-gate" | "change-flow-meter" => {
            psfp::resolve::change(key, value, topology, faults)?
        }
        "change-shaper" => change_shaper(value, stream_of(faults)?, streams, faults)?,
        "change-bit-error-rate" => TimelineAction::ChangeBitErrorRate(
            topology.cable(value.get("link")?, faults)?,
            scalar::chance(value.get("bit-error-rate")?.text()?).ok()?,
        ),
        _ => return None,
    })
}

fn change_traffic(
    value: &Node<'_>,
    index: StreamIndex,
    input: &Draft<'_>,
    streams: &Streams<'_, '_>,
    faults: &mut Faults,
) -> Option<TimelineAction> {
    let stream = &streams.list[index.index()].stream;
    if let Some(take) = value.get("traffic").and_then(|traffic| traffic.get("take")) {
        let message =
            format!("`{}` keeps its addresses, VLAN and priority when its traffic changes", stream.name);
        let help = "remove `take`, or describe the trace as another stream that starts here";
        faults.error(codes::CONFLICT, take.anchor(), message, help);
    }
    let mut traffic = traffic::traffic(value.get("traffic")?, input.directory, faults)?;
    if let Some(datagrams) = stream.datagrams {
        let place = value.get("traffic").map_or(value.anchor(), Node::anchor);
        traffic = super::datagrams::of_fragments(traffic, datagrams.fragments(), place, faults);
    }
    let place = value.get("traffic").map_or(value.anchor(), Node::anchor);
    let fault = no_change(stream, &traffic);
    if let Some((what, help)) = fault {
        faults.error(codes::EVENT, place, format!("`{}` {what}", stream.name), help);
        return None;
    }
    traffic::check_sizes(&traffic, stream.drawn(), stream.udp.is_some(), place, faults);
    let curve = traffic::promise(value, &traffic, (stream.drawn(), stream.tagged), faults);
    Some(TimelineAction::ChangeTraffic(index, traffic, curve))
}

/// Why traffic cannot change, as the text after the stream's name, and the remedy. Only the description makes frames
/// that answer received ones, or that a protocol makes.
fn no_change(stream: &Stream, new: &Traffic) -> Option<(&'static str, &'static str)> {
    Some(match (&stream.traffic, new) {
        (Traffic::Response { .. }, _) => (
            "is a response, whose frames follow the stream that it answers",
            "change the traffic of the stream that it answers, or describe the new traffic as another stream",
        ),
        (Traffic::Synchronisation { .. }, _) => (
            "opens the cycles of `tdma`, so its frames come once a cycle",
            "remove the event; `stop-node` silences the master",
        ),
        (_, Traffic::Response { .. }) => (
            "is not a response, and cannot become one in a run",
            "describe the response as another stream with `started: false`, which an event starts",
        ),
        (_, Traffic::Synchronisation { .. }) => (
            "does not open the cycles of `tdma`, so it cannot have synchronisation traffic",
            "give it another type of traffic; `tdma.standby` names the station that replaces the master",
        ),
        (Traffic::Polled, Traffic::Polled) => ("is already polled", "remove the event"),
        _ => return None,
    })
}

fn change_idle_slope(
    value: &Node<'_>,
    topology: &Topology<'_>,
    faults: &mut Faults,
) -> Option<TimelineAction> {
    let named = value.get("port")?;
    let (node, port) = topology.reference(named, faults)?;
    let port = port.or_else(|| {
        let mut ports = topology.ports_of(node);
        ports.next().filter(|_| ports.next().is_none())
    });
    let Some(port) = port else {
        let message = format!("`{}` has several ports", topology.nodes[node.index()].name);
        faults.error(codes::UNKNOWN_PORT, named.place, message, "write `node:port`");
        return None;
    };
    let class = TrafficClass::new(value.parsed("class")?)?;
    let settings = &topology.ports[port.index()].classes[class.index()];
    if !matches!(settings.selection, TransmissionSelection::CreditBased { .. }) {
        let message =
            format!("class {class} of {} is not credit-based and has no idleSlope", topology.port_name(port));
        faults.error(codes::EVENT, named.place, message, "name a credit-based class");
        return None;
    }
    let idle_slope: BitRate = value.parsed("idle-slope")?;
    let line = topology.ports[port.index()].links.map(|links| topology.links[links.egress.index()].rate);
    if line.is_none_or(|line| idle_slope > line) {
        let place = value.get("idle-slope").map_or(value.anchor(), |node| node.place);
        let message = format!(
            "an idleSlope of {idle_slope} is more than the line of {} carries",
            topology.port_name(port)
        );
        faults.error(codes::IDLE_SLOPE, place, message, "give it a share of the line of a connected port");
        return None;
    }
    Some(TimelineAction::ChangeIdleSlope(port, class, idle_slope))
}

fn change_shaper(
    value: &Node<'_>,
    index: StreamIndex,
    streams: &Streams<'_, '_>,
    faults: &mut Faults,
) -> Option<TimelineAction> {
    let draft = &streams.list[index.index()];
    let settings = streams::shaper_settings(value, faults)?;
    if draft.node.get("shaper").is_none() {
        let place = value.get("stream").map_or(value.anchor(), |node| node.place);
        let message = format!("`{}` has no shaper whose parameters could change", draft.stream.name);
        faults.error(codes::EVENT, place, message, "give the stream a `shaper` first");
        return None;
    }
    let frame = streams::largest_frame(&draft.stream).bits();
    if settings.committed_burst_size < frame {
        let place = value.get("committed-burst-size").map_or(value.anchor(), |node| node.place);
        let message = format!(
            "a burst of {} is less than the stream's largest frame, {frame}, so that frame is never eligible",
            settings.committed_burst_size
        );
        faults.error(codes::BURST_SIZE, place, message, "raise `committed-burst-size`");
    }
    Some(TimelineAction::ChangeShaper(index, settings))
}

/// Widens arrival curves to the traffic with the timeline's events.
fn promises(events: &[Event], streams: &mut Streams<'_, '_>) {
    let mut starts: Vec<u64> = streams.list.iter().map(|draft| u64::from(draft.stream.started)).collect();
    for event in events {
        match &event.timeline.action {
            TimelineAction::StartStream(stream) => starts[stream.index()] += 1,
            TimelineAction::StartNode(node) => {
                for (draft, starts) in streams.list.iter().zip(&mut starts) {
                    *starts += u64::from(draft.stream.talker == *node);
                }
            }
            TimelineAction::ChangeTraffic(stream, traffic, curve) => {
                let draft = &mut streams.list[stream.index()];
                take_sizes(draft, traffic, event.place);
                let arrival = &mut draft.stream.arrival;
                *arrival = arrival.zip(*curve).map(|(before, after)| ArrivalCurve {
                    rate: before.rate.max(after.rate),
                    burst: before.burst.saturating_add(after.burst),
                });
            }
            _ => {}
        }
    }
    for (draft, starts) in streams.list.iter_mut().zip(starts) {
        if let Some(arrival) = draft.stream.arrival.as_mut().filter(|_| starts > 1) {
            let bits = u128::from(arrival.burst.get()) * u128::from(starts);
            arrival.burst = Bits::new(u64::try_from(bits).unwrap_or(u64::MAX));
        }
    }
}

/// A stream has the frames of all traffic that it ever has; those that events draw are as large as stated.
fn take_sizes(draft: &mut StreamDraft<'_, '_>, traffic: &Traffic, place: Place) {
    let stream = &mut draft.stream;
    let drawn = stream.drawn();
    let (min, max) = traffic::sizes(traffic, drawn);
    if max > stream.payload_max {
        draft.largest_place = Some(place);
    }
    stream.payload_min = stream.payload_min.min(min);
    stream.payload_max = stream.payload_max.max(max);
    stream.payload_drawn = (drawn != (stream.payload_min, stream.payload_max)).then_some(drawn);
}
