//! Bounds of protocol stacks in hosts: from an application to its port, and from a port to an application.
//!
//! A thread, an occupied part and an interface are servers that take a stack's frames in order (`server.rs`). Streams pass them as flows (`flow.rs`), stage by
//! stage (`stages.rs`). A thread serves received and sent frames in one queue: frames from the network delay frames to it, with the burstiness of their path
//! (which depends on this bound in turn: `answers.rs`). A server is unbounded if one of its streams promises nothing, or if its load exceeds its capacity. Buffers
//! that are full lose frames and delay none. Not here: the path from port to port.

mod copies;
mod flow;
mod server;
mod stages;

use tautwire_model::network::{HostStacks, Moderation, NodeIndex, ReceptionOrder, Stream};
use tautwire_model::{Network, frame_length};
use tautwire_units::Duration;

use self::flow::{Flow, delay, flow, group, interface_of, received, span, tail_max};
use self::server::{serve, serve_classes};
use self::stages::{beyond_ring, longest, parts, read_clock, threads, waiting};
use crate::answers::{Learned, Span};
use crate::clock::{Deviation, slack_ps};
use crate::delay::{delay_max, delay_min};
use crate::loss::reception_overflows;
use crate::result::Bounds;
use crate::timeline::Timeline;
use crate::unbounded::Unbounded;

pub(crate) use self::copies::{copies, ports};

/// From the application to the port, picoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sending {
    pub(crate) min: u64,
    /// None: no bound.
    pub(crate) max: Option<u64>,
    /// Most frames that wait for the thread, and octets that wait for the interface; none: no bound.
    pub(crate) task_frames: Option<u64>,
    pub(crate) socket_octets: Option<u64>,
}

/// A response as its application hands it over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handed {
    /// Bits of the wire a second, and at once.
    pub(crate) bucket: (u64, u64),
    /// Least and greatest time from what its delay counts from.
    pub(crate) since: (u64, u64),
}

/// Per node: the longest time of an application's frame from its host to the port, where the host has no stacks: it
/// keeps the order of all its frames, so a small one may wait for a large one.
pub(crate) fn slowest(network: &Network) -> Vec<u64> {
    let mut slowest = vec![0; network.nodes.len()];
    for stream in network.streams.iter().filter(|stream| is_handed_over(stream)) {
        if let Some(host) = network.host(stream.talker) {
            let time = delay_max(&host.transmit, frame_length(stream.payload_max, stream.tagged));
            let known: &mut u64 = &mut slowest[stream.talker.index()];
            *known = time.max(*known);
        }
    }
    slowest
}

/// From the application to the port of every stream whose talker has stacks; frames of control protocols are made at
/// the interface. Of responses a token bucket may be known; of
/// what its threads receive, too, nothing is if the times at its ports are not.
pub(crate) fn sending(network: &Network, timeline: &Timeline, learned: &Learned) -> Vec<Option<Sending>> {
    let responses = learned.handed();
    let mut all = vec![None; network.streams.len()];
    for node in nodes(network) {
        let stacks = &network.host(node).expect("a host with stacks").stacks;
        let mut flows: Vec<Flow> = network
            .streams
            .iter()
            .enumerate()
            .filter(|(_, stream)| stream.talker == node && is_handed_over(stream))
            .map(|(number, _)| {
                let known = flow(network, timeline, stacks, number, 0);
                let bucket = known.bucket.or_else(|| bucket_of(&responses, number));
                Flow { bucket, ..known }
            })
            .collect();
        read_clock(stacks, &mut flows);
        let count = flows.len();
        if let Some(ports) = learned.ports.as_ref().filter(|_| !learned.deaf) {
            flows.extend(at_threads(network, timeline, stacks, (node, &responses), ports));
        }
        #[cfg(feature = "planted-faults")]
        flows.iter_mut().for_each(|flow| flow.is_hasty = learned.hasty);
        let unknown = if learned.ports.is_none() { received_by(network, stacks, node) } else { Vec::new() };
        threads(stacks, &mut flows, &unknown);
        flows.truncate(count);
        parts(stacks, &mut flows, |stack| &stacks.stacks[stack].transmit);
        for (number, interface) in stacks.interfaces.iter().enumerate() {
            let here = group(&flows, |flow| interface_of(stacks, flow) == Some(number));
            let frames = waiting(&mut flows, &here, |flows| {
                serve(flows, &here, |flow| span(&interface.transmit, flow), 0)
            });
            for (flow, frames) in here.iter().zip(frames) {
                flows[*flow].sending = flows[*flow].octets_of(frames);
            }
        }
        for flow in flows {
            let max = flow.bucket.map(|_| flow.max);
            let (task_frames, socket_octets) = (flow.waiting, flow.sending);
            all[flow.stream] = Some(Sending { min: flow.min, max, task_frames, socket_octets });
        }
    }
    all
}

/// Adds the bounds at the applications to those of the network.
///
/// `responses`: what is known of these.
pub(crate) fn add_receiving(network: &Network, bounds: &mut Bounds, responses: &[Option<Handed>]) {
    if nodes(network).next().is_none() {
        return;
    }
    let timeline = Timeline::of(network);
    let ports = ports(network, bounds);
    for node in nodes(network) {
        let stacks = &network.host(node).expect("a host with stacks").stacks;
        let mut flows = at_threads(network, &timeline, stacks, (node, responses), &ports);
        let count = flows.len();
        let mut sent: Vec<Flow> = network
            .streams
            .iter()
            .enumerate()
            .filter(|(_, stream)| stream.talker == node && is_handed_over(stream))
            .map(|(number, _)| {
                let known = flow(network, &timeline, stacks, number, 0);
                let bucket = known.bucket.or_else(|| bucket_of(responses, number));
                Flow { bucket, ..known }
            })
            .collect();
        read_clock(stacks, &mut sent);
        flows.append(&mut sent);
        threads(stacks, &mut flows, &[]);
        flows.truncate(count);
        read_clock(stacks, &mut flows);
        for flow in flows {
            let port = network.streams[flow.stream].hops.first().map(|hop| hop.port);
            let of_listener = &mut bounds.streams[flow.stream].listeners[flow.listener];
            let max = match (&of_listener.delay, flow.bucket, port) {
                (Ok(delay), Some(_), _) => Ok(*delay + Duration::from_ps(flow.max)),
                (Err(reason), ..) => Err(reason.clone()),
                (Ok(_), None, Some(port)) => Err(Unbounded::Host { port }),
                (Ok(delay), None, None) => Ok(*delay),
            };
            of_listener.application = Some((of_listener.delay_min + Duration::from_ps(flow.min), max));
            let octets = flow.octets_of(flow.waiting);
            let (place, needs) = ((flow.stream, flow.listener), (flow.beyond_ring, octets));
            reception_overflows(network, (node, place), needs, &mut bounds.overflows);
        }
    }
}

/// The bounds at the application of a listener without stacks, by those at its port; none if its host takes no time.
pub(crate) fn behind_port(
    network: &Network,
    stream: &Stream,
    listener: usize,
    (least, most): (Duration, &Result<Duration, Unbounded>),
) -> Option<(Duration, Result<Duration, Unbounded>)> {
    let receive = network.reception(stream.listeners[listener]).filter(|_| is_handed_over(stream))?;
    let min = Duration::from_ps(delay_min(receive, frame_length(stream.payload_min, false)));
    let max = Duration::from_ps(delay_max(receive, frame_length(stream.payload_max, true)));
    Some((least + min, most.clone().map(|most| most + max)))
}

/// The streams that a node receives, as they come to its threads; those that are taken at the interface do not.
fn at_threads(
    network: &Network,
    timeline: &Timeline,
    stacks: &HostStacks,
    (node, responses): (NodeIndex, &[Option<Handed>]),
    ports: &[Vec<Span>],
) -> Vec<Flow> {
    let clock = &network.nodes[node.index()].clock;
    let mut flows = received(network, timeline, stacks, (node, responses), ports);
    for (number, interface) in stacks.interfaces.iter().enumerate() {
        let here = group(&flows, |flow| interface_of(stacks, flow) == Some(number));
        let frames = waiting(&mut flows, &here, |flows| match interface.reception_order {
            ReceptionOrder::Fifo => serve(flows, &here, |flow| span(&interface.receive, flow), 0),
            ReceptionOrder::Classes => serve_classes(flows, &here, &interface.receive),
        });
        beyond_ring(network, node, (&mut flows, &here), &frames, interface);
        let wait = match interface.moderation {
            Moderation::None => 0,
            Moderation::Delayed(pace) | Moderation::Throttled(pace) => longest(pace),
            Moderation::Drawn { interval } => interval.as_ps(),
            Moderation::Polled { interval } => {
                Deviation::of(clock).stretch(interval.as_ps()) + slack_ps(clock)
            }
        };
        let most = wait + here.iter().map(|flow| tail_max(interface.tail, &flows[*flow])).max().unwrap_or(0);
        delay(&mut flows, &here, |_| (0, most));
    }
    parts(stacks, &mut flows, |stack| &stacks.stacks[stack].receive);
    // Frames of control protocols are taken at the interface.
    flows.retain(|flow| is_handed_over(&network.streams[flow.stream]));
    flows
}

/// Whether a stream's frames come from applications, and go to them.
fn is_handed_over(stream: &Stream) -> bool {
    !stream.traffic.is_control()
}

/// Whether a thread of a node serves what it receives and what it sends.
pub(crate) fn serves_both_ways(network: &Network, node: NodeIndex) -> bool {
    let Some(host) = network.host(node).filter(|_| network.has_stacks(node)) else { return false };
    let received = received_by(network, &host.stacks, node);
    let sent = network.streams.iter().filter(|stream| stream.talker == node && is_handed_over(stream));
    sent.filter_map(|stream| thread_of(&host.stacks, stream)).any(|thread| received.contains(&thread))
}

/// The threads that take what a node receives.
fn received_by(network: &Network, stacks: &HostStacks, node: NodeIndex) -> Vec<u32> {
    let received = network.streams.iter();
    let received = received.filter(|stream| stream.listeners.contains(&node) && is_handed_over(stream));
    received.filter_map(|stream| thread_of(stacks, stream)).collect()
}

fn thread_of(stacks: &HostStacks, stream: &Stream) -> Option<u32> {
    stacks.stacks[stacks.stack_of(stream)? as usize].thread
}

fn bucket_of(responses: &[Option<Handed>], stream: usize) -> Option<(u64, u64)> {
    responses.get(stream).copied().flatten().map(|handed| handed.bucket)
}

/// The nodes that have stacks.
fn nodes(network: &Network) -> impl Iterator<Item = NodeIndex> + '_ {
    (0..network.nodes.len()).map(NodeIndex::at).filter(|node| network.has_stacks(*node))
}
