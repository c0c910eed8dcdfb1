//! `test:`: the tasks of end systems, held against the streams that they name.

use tautwire_units::{Bytes, Duration};
use tautwire_wire::{PayloadType, TestMessage};

use super::Input;
use super::models::delay;
use super::streams::{StreamDraft, Streams};
use super::topology::Topology;
use crate::network::{
    Delay, Distribution, NodeIndex, PortIndex, StreamIndex, Task, TaskKind, Test, TestClocks, Traffic,
};
use crate::text::faults::Faults;
use crate::text::tree::Node;
use crate::text::{codes, scalar};

/// A thousandth of a chance.
const THOUSANDTH: u64 = 1_000_000_000_000_000;

/// Reads `test:`; the streams are known.
pub(crate) fn test(
    input: &Input<'_, '_>,
    topology: &Topology<'_>,
    streams: &Streams<'_, '_>,
    faults: &mut Faults,
) -> Option<Test> {
    let node = input.root.get("test")?;
    let outliers_above: Option<Duration> = node.parsed("outliers-above");
    let listed = node.get("tasks").map_or(&[][..], Node::items);
    let tasks = listed.iter().filter_map(|node| task(node, topology, streams, faults)).collect::<Vec<_>>();
    let clocks = node.get("clocks").map(|clocks| discipline(clocks, faults));
    let test = Test { tasks, outliers_above, clocks };
    if test.tasks.len() == listed.len() {
        for (place, task) in listed.iter().zip(&test.tasks) {
            check_way(place, task, &test, streams, faults);
        }
    }
    Some(test)
}

/// How system clocks are disciplined: phc2sys as the MAPS test bed sets it, unless it is said otherwise.
fn discipline(node: &Node<'_>, faults: &mut Faults) -> TestClocks {
    let share = |key: &str, otherwise: u16| {
        let chance = node.get(key).and_then(|node| scalar::chance(node.text()?).ok());
        chance.map_or(otherwise, |chance| u16::try_from(chance / THOUSANDTH).expect("at most a thousand"))
    };
    let reading = Distribution::Uniform { min: Duration::from_us(4), max: Duration::from_us(5) };
    TestClocks {
        tolerance_ppb: node
            .get("tolerance")
            .and_then(|node| scalar::deviation(node.text()?).ok())
            .unwrap_or(50_000),
        interval: node
            .parsed("interval")
            .filter(|span: &Duration| !span.is_zero())
            .unwrap_or(Duration::from_s(1)),
        proportional: share("proportional", 350),
        integral: share("integral", 150),
        readings: node.parsed("readings").unwrap_or(5),
        reading: match node.get("reading") {
            Some(node) => delay(node, faults),
            None => Delay { random: reading, ..Delay::default() },
        },
    }
}

fn task(
    node: &Node<'_>,
    topology: &Topology<'_>,
    streams: &Streams<'_, '_>,
    faults: &mut Faults,
) -> Option<Task> {
    let named = node.get("station")?;
    let (station, port) = topology.reference(named, faults)?;
    let mut stream = |key: &str| streams.find(node.get(key)?, faults);
    let kind = match node.get("type")?.text()? {
        "transmit" => TaskKind::Transmit {
            route: stream("route")?,
            payload_type: match node.get("payload-type").and_then(Node::text) {
                Some("random") => PayloadType::Random,
                _ => PayloadType::Sequential,
            },
        },
        "receive" => TaskKind::Receive { route: stream("route")? },
        "relay" => TaskKind::Relay { route: stream("route")?, by: stream("by")? },
        "inject" => TaskKind::Inject { route: stream("route")? },
        "corrupt" => TaskKind::Corrupt {
            route: stream("route")?,
            chance: node.get("chance").and_then(|node| scalar::chance(node.text()?).ok())?,
        },
        _ => TaskKind::Capture {
            port: port.unwrap_or(PortIndex(topology.nodes[station.index()].ports.start)),
            quantum: node.parsed("quantum").unwrap_or(Duration::ZERO),
        },
    };
    if topology.is_bridge(station) {
        let message = format!("`{}` is a bridge and has no tasks", topology.nodes[station.index()].name);
        faults.error(codes::NODE_TYPE, named.place, message, "name an end station");
        return None;
    }
    check(node, station, kind, streams, faults);
    Some(Task { station, kind })
}

/// Whether a task suits its station and its stream.
fn check(
    node: &Node<'_>,
    station: NodeIndex,
    kind: TaskKind,
    streams: &Streams<'_, '_>,
    faults: &mut Faults,
) {
    let of = |route: StreamIndex| -> &StreamDraft<'_, '_> { &streams.list[route.index()] };
    let mut fault = |key: &str, message: String, help: &str| {
        let place = node.get(key).map_or(node.anchor(), |node| node.place);
        faults.error(codes::TASK, place, message, help);
    };
    let (route, sends) = match kind {
        TaskKind::Transmit { route, .. } | TaskKind::Inject { route } => (route, true),
        TaskKind::Receive { route } | TaskKind::Relay { route, .. } => (route, false),
        TaskKind::Corrupt { route, .. } => (route, of(route).stream.talker == station),
        TaskKind::Capture { .. } => return,
    };
    let stream = &of(route).stream;
    if sends && stream.talker != station || !sends && !stream.listeners.contains(&station) {
        let part = if sends { "talker" } else { "a listener" };
        fault(
            "station",
            format!("this station is not {part} of `{}`", stream.name),
            "name the station that is",
        );
    }
    if let TaskKind::Relay { by, .. } = kind {
        let answer = &of(by).stream;
        let responds = matches!(answer.traffic, Traffic::Response { to, .. } if to == route);
        if answer.talker != station || !responds {
            let message = format!("`{}` does not answer `{}` from this station", answer.name, stream.name);
            fault("by", message, "name a stream of this station with `traffic: {type: response, to: ...}`");
        }
    }
    let is = match (&stream.virtual_link, &stream.time_triggered) {
        (Some(_), _) => "rate-constrained",
        (_, Some(_)) => "time-triggered",
        (None, None) => "best-effort",
    };
    if let Some(stated) = node.get("protocol").and_then(Node::text)
        && stated != is
    {
        fault("protocol", format!("`{}` is {is}", stream.name), "state what the stream is, or leave it out");
    }
    if let TaskKind::Transmit { .. } = kind {
        let message = stream.payload_min.get().checked_sub(Test::HEADERS.get()).map(Bytes::new);
        let stated: Option<Bytes> = node.parsed("payload");
        if message.is_none_or(|message| message.get() < TestMessage::OCTETS as u64) {
            let text =
                format!("its smallest payload, {}, holds no message with its headers", stream.payload_min);
            fault("route", text, "give all its frames a payload of at least 40 B");
        } else if let (Some(stated), Some(message)) = (stated, message)
            && (stated != message || stream.payload_min != stream.payload_max)
        {
            let text = format!("the messages of `{}` have {message}", stream.name);
            fault("payload", text, "state the stream's payload less 28 B of headers, or leave it out");
        }
    }
}

/// Messages must come from somewhere and go somewhere.
fn check_way(node: &Node<'_>, task: &Task, test: &Test, streams: &Streams<'_, '_>, faults: &mut Faults) {
    let mut fault = |message: String, help: &str| {
        faults.error(
            codes::TEST_MESSAGE,
            node.get("route").map_or(node.anchor(), |node| node.place),
            message,
            help,
        );
    };
    let name = |route: StreamIndex| streams.list[route.index()].stream.name.clone();
    match task.kind {
        TaskKind::Transmit { route, .. } => {
            let last = test.way(route).last().copied().unwrap_or(route);
            if test.receivers(last).next().is_none() {
                fault(format!("nobody receives `{}`", name(last)), "add a task of type `receive`");
            }
            if test.messages().filter(|(_, other)| *other == route).count() > 1 {
                fault(format!("two tasks transmit `{}`", name(route)), "leave one of them out");
            }
        }
        TaskKind::Receive { route } | TaskKind::Relay { route, .. } | TaskKind::Corrupt { route, .. } => {
            if !test.messages().any(|(_, first)| test.way(first).contains(&route)) {
                fault(format!("nobody sends messages by `{}`", name(route)), "add a task of type `transmit`");
            }
        }
        TaskKind::Inject { .. } | TaskKind::Capture { .. } => {}
    }
}
