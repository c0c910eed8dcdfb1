//! Checks that a test's tasks fit their stations, their streams and one another.
//!
//! Invariant of accepted tasks: every message comes from one task, every route of its path is received by a task of a
//! station that listens, and all routes of a path carry messages of one size. Not here: how tasks are read
//! (`test.rs`).

use tautwire_units::Bytes;
use tautwire_wire::TestMessage;

use crate::network::{NodeIndex, Stream, StreamIndex, Task, TaskKind, Test, TimelineAction, Traffic};
use crate::resolve::events::Event;
use crate::resolve::streams::{Route, StreamDraft, Streams};
use crate::resolve::traffic;
use crate::test_bed::codes;
use crate::text::faults::Faults;
use crate::text::tree::{Node, Place};

/// Least and most octets of a stream's messages with this traffic, header and contents; below none if a frame does not
/// hold the headers before it.
fn message_sizes(stream: &Stream, traffic: &Traffic) -> (i128, i128) {
    if let Some(datagrams) = stream.datagrams {
        return (datagrams.data().into(), datagrams.data().into());
    }
    let octets = |size: Bytes| i128::from(size.get()) - i128::from(Test::HEADERS.get());
    let (least, most) = traffic::sizes(traffic, stream.drawn());
    match traffic {
        Traffic::Response { .. } => (octets(most), octets(most)),
        _ => (octets(least), octets(most)),
    }
}

/// Whether messages of so many octets hold their header.
fn holds_header(least: i128) -> bool {
    least >= TestMessage::OCTETS as i128
}

/// The text for a size of messages.
fn sizes_text((least, most): (i128, i128)) -> String {
    let (least, most) = (least.max(0), most.max(0));
    if least == most { format!("{most} B") } else { format!("{least} B to {most} B") }
}

/// Whether a task suits its station and its stream.
pub(crate) fn check(
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
    let draft = of(route);
    let stream = &draft.stream;
    let injects = matches!(kind, TaskKind::Inject { .. });
    if injects && !matches!(stream.traffic, Traffic::Injected { .. }) {
        let help = "give the stream `traffic: {type: injected, interval: 100 us}`, or remove the task";
        return fault("route", format!("the traffic of `{}` is not injected", stream.name), help);
    }
    if stream.traffic.is_control() {
        let help = "name a stream of an application";
        return fault("route", format!("`{}` is a stream of a protocol", stream.name), help);
    }
    // The listeners of a broadcast are known if its way was found.
    let unknown = draft.route == Route::Broadcast && stream.listeners.is_empty();
    let listens = stream.listeners.contains(&station) || unknown && stream.talker != station;
    if sends && stream.talker != station || !sends && !listens {
        let part = if sends { "talker" } else { "a listener" };
        fault(
            "station",
            format!("this station is not {part} of `{}`", stream.name),
            "name the station that is",
        );
    }
    if let TaskKind::Corrupt { chance: 0, .. } = kind {
        let message = format!("with a chance of 0 no message of `{}` is corrupted", stream.name);
        fault("chance", message, "raise `chance`, or remove the task");
    }
    if let TaskKind::Relay { by, .. } = kind {
        let answer = &of(by).stream;
        let responds = matches!(answer.traffic, Traffic::Response { to, .. } if to == route);
        let sizes = [stream, answer].map(|stream| message_sizes(stream, &stream.traffic));
        if answer.talker != station || !responds {
            let message = format!("`{}` does not answer `{}` from this station", answer.name, stream.name);
            fault("by", message, "name a stream of this station with `traffic: {type: response, to: ...}`");
        } else if sizes[0] != sizes[1] {
            let message = format!(
                "messages of `{}` have {}, and those of `{}`, which relays them, have {}",
                stream.name,
                sizes_text(sizes[0]),
                answer.name,
                sizes_text(sizes[1])
            );
            fault("by", message, "give both streams payloads of one size");
        }
    }
    let is = match (&stream.virtual_link, &stream.time_triggered) {
        (Some(_), _) => "rate-constrained",
        (_, Some(_)) => "time-triggered",
        (None, None) => "best-effort",
    };
    if let Some(stated) = node.get("protocol").and_then(Node::text)
        && stated != is
        && !(stated == "udp" && is == "best-effort")
    {
        fault("protocol", format!("`{}` is {is}", stream.name), "correct `protocol`, or remove it");
    }
    if let TaskKind::Transmit { .. } = kind {
        let sizes = message_sizes(stream, &stream.traffic);
        let stated: Option<Bytes> = node.parsed("payload");
        if !holds_header(sizes.0) {
            let least = sizes.0 + i128::from(Test::HEADERS.get());
            let (text, help) = match (stream.datagrams, &stream.traffic) {
                (Some(datagrams), _) => (
                    format!("datagrams of {} B hold no message", datagrams.data()),
                    "give the stream datagrams of at least 12 B",
                ),
                (None, Traffic::File { .. }) => (
                    format!("the last payload of the file, {least} B, holds no message with its headers"),
                    "choose `octets` so that the last frame has 40 B at least",
                ),
                (None, _) => (
                    format!("a payload of {least} B holds no message with its headers"),
                    "give the stream a payload of at least 40 B",
                ),
            };
            fault("route", text, help);
        } else if let Some(stated) = stated
            && [sizes.0, sizes.1].iter().any(|size| *size != i128::from(stated.get()))
        {
            let text = format!("the messages of `{}` have {}", stream.name, sizes_text(sizes));
            fault("payload", text, "write the stream's payload less 28 B of headers, or remove the key");
        }
    }
}

/// Whether tasks suit one another: messages come from one task and go somewhere, and no task does what another does.
pub(crate) fn check_all(listed: &[Node<'_>], test: &Test, streams: &Streams<'_, '_>, faults: &mut Faults) {
    for (number, (node, task)) in listed.iter().zip(&test.tasks).enumerate() {
        let earlier = || test.tasks[..number].iter().zip(listed);
        let same = earlier().find(|(other, _)| are_same(other, task));
        if let Some((other, first)) = same {
            twice(node, first.anchor(), other, task, streams, faults);
        } else if !task.route().is_some_and(|route| streams.list[route.index()].stream.traffic.is_control()) {
            check_way(node, task, test, streams, faults);
        }
    }
}

/// Whether the second of two tasks does what the first does, in part at least.
fn are_same(first: &Task, second: &Task) -> bool {
    use TaskKind::{Capture, Corrupt, Inject, Receive, Relay, Transmit};
    let here = first.station == second.station;
    match (first.kind, second.kind) {
        (
            Transmit { route: one, .. } | Inject { route: one } | Relay { by: one, .. },
            Transmit { route: other, .. } | Inject { route: other } | Relay { by: other, .. },
        ) if one == other => true,
        (Receive { route: one }, Receive { route: other } | Relay { route: other, .. })
        | (Relay { route: one, .. }, Receive { route: other })
        | (Corrupt { route: one, .. }, Corrupt { route: other, .. }) => here && one == other,
        (Capture { port: one, quantum }, Capture { port: other, quantum: step }) => {
            one == other && quantum == step
        }
        _ => false,
    }
}

/// Two tasks that do the same.
fn twice(
    node: &Node<'_>,
    first: Place,
    other: &Task,
    task: &Task,
    streams: &Streams<'_, '_>,
    faults: &mut Faults,
) {
    let name = |route: StreamIndex| &streams.list[route.index()].stream.name;
    let (message, help) = match (other.kind, task.kind) {
        (TaskKind::Relay { .. }, TaskKind::Receive { route })
        | (TaskKind::Receive { .. }, TaskKind::Relay { route, .. }) => (
            format!("this station relays `{}`, which includes receiving it", name(route)),
            "remove the task of type `receive`",
        ),
        (_, TaskKind::Receive { route }) => {
            (format!("two tasks of this station receive `{}`", name(route)), "remove one of them")
        }
        (_, TaskKind::Corrupt { route, .. }) => (
            format!("two tasks of this station corrupt `{}`", name(route)),
            "remove one of them, and raise the `chance` of the other",
        ),
        (_, TaskKind::Capture { .. }) => {
            ("two taps at this port have the same quantum".to_owned(), "remove one of them")
        }
        (
            _,
            TaskKind::Transmit { route, .. } | TaskKind::Inject { route } | TaskKind::Relay { by: route, .. },
        ) => (format!("two tasks send `{}`", name(route)), "remove one of them"),
    };
    faults.error_with(codes::TEST_MESSAGE, node.anchor(), message, help, (first, "first here"));
}

/// Messages must come from somewhere and go somewhere.
fn check_way(node: &Node<'_>, task: &Task, test: &Test, streams: &Streams<'_, '_>, faults: &mut Faults) {
    let mut fault = |key: &str, message: String, help: &str| {
        let place = node.get(key).map_or(node.anchor(), |node| node.place);
        faults.error(codes::TEST_MESSAGE, place, message, help);
    };
    let name = |route: StreamIndex| streams.list[route.index()].stream.name.clone();
    let is_received = |route: StreamIndex| test.receivers(route).next().is_some();
    if let TaskKind::Transmit { route, .. } = task.kind
        && !is_received(route)
    {
        fault(
            "route",
            format!("no task receives the messages of `{}`", name(route)),
            "add a task of type `receive`",
        );
    }
    if let TaskKind::Relay { by, .. } = task.kind
        && !is_received(by)
    {
        fault(
            "by",
            format!("no task receives the messages of `{}`", name(by)),
            "add a task of type `receive`",
        );
    }
    if let TaskKind::Receive { route } | TaskKind::Relay { route, .. } | TaskKind::Corrupt { route, .. } =
        task.kind
        && !test.messages().any(|(_, first)| test.way(first).contains(&route))
    {
        fault(
            "route",
            format!("no task sends messages by `{}`", name(route)),
            "add a task of type `transmit`",
        );
    }
    if let TaskKind::Corrupt { route, .. } = task.kind {
        let sends = streams.list[route.index()].stream.talker == task.station;
        if !sends && !test.receivers(route).any(|station| station == task.station) {
            let message = format!("no task of this station receives `{}`", name(route));
            fault(
                "station",
                message,
                "name a station with a task of type `receive` or `relay`, or add that task",
            );
        }
    }
}

/// Traffic that a stream takes in the run must make messages of the same kind.
pub(crate) fn check_events(test: &Test, streams: &Streams<'_, '_>, events: &[Event], faults: &mut Faults) {
    for event in events {
        let TimelineAction::ChangeTraffic(route, traffic, _) = &event.timeline.action else { continue };
        if !test.messages().any(|(_, first)| first == *route) {
            continue;
        }
        let stream = &streams.list[route.index()].stream;
        let (usual, then) = (message_sizes(stream, &stream.traffic), message_sizes(stream, traffic));
        let is_relayed = test.way(*route).len() > 1;
        if !holds_header(then.0) || is_relayed && usual != then {
            let message = format!("the messages of `{}` would have {}", stream.name, sizes_text(then));
            let help = "give frames that hold a message of at least 12 B and 28 B of headers, of one size if it is relayed";
            faults.error(codes::TEST_MESSAGE, event.place, message, help);
        }
    }
}

/// Streams of tasks must begin some time.
pub(crate) fn check_started(
    listed: &[Node<'_>],
    test: &Test,
    streams: &Streams<'_, '_>,
    events: &[Event],
    faults: &mut Faults,
) {
    for (node, task) in listed.iter().zip(&test.tasks) {
        let (key, route) = match task.kind {
            TaskKind::Transmit { route, .. } | TaskKind::Inject { route } => ("route", route),
            TaskKind::Relay { by, .. } => ("by", by),
            TaskKind::Receive { .. } | TaskKind::Corrupt { .. } | TaskKind::Capture { .. } => continue,
        };
        let stream = &streams.list[route.index()].stream;
        let starts = |event: &Event| event.timeline.action == TimelineAction::StartStream(route);
        if !stream.started && !events.iter().any(starts) {
            let place = node.get(key).map_or(node.anchor(), |node| node.place);
            let message = format!("`{}` is not started, and no event starts it", stream.name);
            let help = "add an event `start-stream`, or remove `started: false`";
            faults.warning(codes::TEST_MESSAGE, place, message, help);
        }
    }
}
