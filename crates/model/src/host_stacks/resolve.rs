//! Protocol stacks of host models, and the streams that name them.

use tautwire_units::Bytes;

use crate::frame::{Tags, frame_length};
use crate::host_stacks::codes;
use crate::network::{
    BulkPace, Delay, HostInterface, HostStacks, Moderation, NodeIndex, NodeKind, Pace, ProtocolStack,
    ReceptionOrder, ServicingThread, StackPart, Stream, Tail, Traffic,
};
use crate::resolve::layered;
use crate::resolve::models::{Models, delay};
use crate::resolve::streams::{StreamDraft, Streams};
use crate::resolve::topology::Topology;
use crate::text::faults::{Faults, did_you_mean};
use crate::text::scalar;
use crate::text::tree::Node;

/// Octets of a socket's buffer, unless stated.
const SOCKET_BUFFER: Bytes = Bytes::new(8_000_000);
/// Frames of a task's queue, unless stated.
const TASK_QUEUE: u32 = 4_096;

/// The stacks that a chain of host models makes.
pub(crate) fn stacks(chain: &[&Node<'_>], faults: &mut Faults) -> HostStacks {
    let named = |key: &str| layered(chain, key).map_or(&[][..], Node::entries);
    let threads: Vec<ServicingThread> =
        named("threads").iter().map(|(name, node)| thread(&name.text, node, faults)).collect();
    let interfaces: Vec<HostInterface> =
        named("interfaces").iter().map(|(name, node)| interface(&name.text, node, faults)).collect();
    let thread_names: Vec<&str> = threads.iter().map(|thread| thread.name.as_str()).collect();
    let interface_names: Vec<&str> = interfaces.iter().map(|interface| interface.name.as_str()).collect();
    let stacks = named("stacks")
        .iter()
        .map(|(name, node)| ProtocolStack {
            name: name.text.to_string(),
            interface: place(node.get("interface"), "an interface", &interface_names, faults),
            thread: place(node.get("thread"), "a servicing thread", &thread_names, faults),
            transmit: parts(node.get("transmit"), faults),
            receive: parts(node.get("receive"), faults),
            task_queue: node.parsed("task-queue").unwrap_or(TASK_QUEUE),
            socket_buffer: node.parsed("socket-buffer").unwrap_or(SOCKET_BUFFER),
        })
        .collect();
    HostStacks { clock_read: time(layered(chain, "clock-read"), faults), threads, interfaces, stacks }
}

/// The streams that name a stack must find it at a station of theirs.
pub(crate) fn check_streams(
    topology: &Topology<'_>,
    models: &Models<'_, '_>,
    streams: &Streams<'_, '_>,
    faults: &mut Faults,
) {
    for draft in &streams.list {
        let stream = &draft.stream;
        let Some(name) = &stream.stack else { continue };
        let at = |node: &NodeIndex| match &topology.nodes[node.index()].kind {
            NodeKind::EndStation { host } => Some(models.host_at(*host)),
            NodeKind::Bridge { .. } => None,
        };
        let hosts = stream.listeners.iter().chain([&stream.talker]).filter_map(at);
        let known: Vec<&str> =
            hosts.flat_map(|host| host.stacks.stacks.iter().map(|stack| stack.name.as_str())).collect();
        if !known.contains(&name.as_str()) {
            let message = format!("no host of the stations of `{}` has a stack `{name}`", stream.name);
            let help = did_you_mean(name, "a stack", known.iter().copied());
            faults.error(codes::UNKNOWN_STACK, draft.place("stack"), message, help);
        }
    }
}

/// A socket's buffer must hold a message of every stream that waits in it: the talker's for the interface, a listener's for
/// the thread. Needs routes.
pub(crate) fn check_buffers(
    topology: &Topology<'_>,
    models: &Models<'_, '_>,
    streams: &Streams<'_, '_>,
    faults: &mut Faults,
) {
    for StreamDraft { stream, .. } in &streams.list {
        if stream.traffic == Traffic::Protocol {
            continue;
        }
        let mut held = |node: NodeIndex, tagged: Tags, waits: fn(&ProtocolStack) -> bool| {
            let NodeKind::EndStation { host } = topology.nodes[node.index()].kind else { return };
            let stacks = &models.host_at(host).stacks;
            let Some(stack) = stacks.stack_of(stream).map(|stack| &stacks.stacks[stack as usize]) else {
                return;
            };
            let octets = message(stream, tagged);
            if !waits(stack) || octets <= stack.socket_buffer {
                return;
            }
            let node = layered(models.host_layers(host), "stacks").and_then(|stacks| stacks.get(&stack.name));
            let Some(buffer) = node.and_then(|stack| stack.get("socket-buffer")) else { return };
            let message = format!(
                "a message of `{}` has {octets}, more than the buffer of {} holds",
                stream.name, stack.socket_buffer
            );
            let help = format!("raise it to {octets} at least: a message that does not fit is lost");
            faults.error(codes::SOCKET_BUFFER, buffer.place, message, help);
        };
        held(stream.talker, stream.tagged.into(), |stack| stack.interface.is_some());
        for hop in stream.hops.iter().filter(|_| !stream.traffic.is_control()) {
            if let Some(listener) = hop.listener {
                held(stream.listeners[listener as usize], hop.tagged, |stack| stack.thread.is_some());
            }
        }
    }
}

/// Octets of the longest message, in its frames.
fn message(stream: &Stream, tagged: Tags) -> Bytes {
    let Some(datagrams) = stream.datagrams else { return frame_length(stream.payload_max, tagged) };
    let frames =
        (0..datagrams.fragments()).map(|number| frame_length(datagrams.payload(number), tagged).get());
    Bytes::new(frames.sum())
}

fn time(node: Option<&Node<'_>>, faults: &mut Faults) -> Delay {
    node.map_or(Delay::default(), |node| delay(node, faults))
}

fn thread(name: &str, node: &Node<'_>, faults: &mut Faults) -> ServicingThread {
    ServicingThread {
        name: name.to_owned(),
        service: time(node.get("service"), faults),
        wake_up: time(node.get("wake-up"), faults),
        tail: node.get("tail").and_then(|tail| self::tail(tail, faults)),
    }
}

fn tail(node: &Node<'_>, faults: &mut Faults) -> Option<Tail> {
    let chance = scalar::chance(node.get("chance")?.text()?).ok()?;
    let delay = delay(node.get("delay")?, faults);
    (chance > 0).then_some(Tail { chance, delay })
}

fn interface(name: &str, node: &Node<'_>, faults: &mut Faults) -> HostInterface {
    HostInterface {
        name: name.to_owned(),
        transmit: time(node.get("transmit"), faults),
        receive: time(node.get("receive"), faults),
        reception_order: match node.get("reception-order").and_then(Node::text) {
            Some("class-queues") => ReceptionOrder::Classes,
            _ => ReceptionOrder::Fifo,
        },
        receive_ring: node.parsed("receive-ring").unwrap_or(u32::MAX),
        receive_fifo: node.parsed("receive-fifo").unwrap_or(Bytes::ZERO),
        moderation: node.get("moderation").map_or(Moderation::None, |node| moderation(node, faults)),
        tail: node.get("tail").and_then(|tail| self::tail(tail, faults)),
    }
}

fn moderation(node: &Node<'_>, faults: &mut Faults) -> Moderation {
    let kind = node.get("type").and_then(Node::text);
    let Some(interval) = node.parsed("interval") else { return Moderation::None };
    let bulk = node.get("bulk").and_then(|bulk| {
        let (above, below): (Bytes, Bytes) = (bulk.parsed("above")?, bulk.parsed("below")?);
        if below > above {
            let message =
                "the same traffic would begin and end the bulk interval, as `below` is greater than `above`"
                    .to_owned();
            faults.error(codes::CONFLICT, bulk.anchor(), message, "make `below` at most `above`");
        }
        Some(BulkPace { interval: bulk.parsed("interval")?, above, below })
    });
    match kind {
        Some("delayed") => Moderation::Delayed(Pace { interval, bulk }),
        Some("throttled") => Moderation::Throttled(Pace { interval, bulk }),
        Some("polled") => Moderation::Polled { interval },
        Some("drawn") => Moderation::Drawn { interval },
        _ => Moderation::None,
    }
}

fn parts(list: Option<&Node<'_>>, faults: &mut Faults) -> Vec<StackPart> {
    let mut parts: Vec<StackPart> = Vec::new();
    for node in list.map_or(&[][..], Node::items) {
        let Some((name, place)) = node.get("name").and_then(|name| Some((name.text()?, name.place))) else {
            continue;
        };
        if parts.iter().any(|part| part.name == name) {
            let message = format!("another part has the name `{name}`");
            faults.error(codes::DUPLICATE_NAME, place, message, "give every part a different name");
        }
        let (latency, occupancy) = (time(node.get("latency"), faults), time(node.get("occupancy"), faults));
        parts.push(StackPart { name: name.to_owned(), latency, occupancy });
    }
    parts
}

/// The place of what `node` names.
fn place(node: Option<&Node<'_>>, what: &str, known: &[&str], faults: &mut Faults) -> Option<u32> {
    let node = node?;
    let name = node.text()?;
    let found = known.iter().position(|other| *other == name);
    if found.is_none() {
        let help = did_you_mean(name, what, known.iter().copied());
        let message = format!("`{name}` is not {what} of this host model");
        faults.error(codes::UNKNOWN_STACK, node.place, message, help);
    }
    found.and_then(|place| u32::try_from(place).ok())
}
