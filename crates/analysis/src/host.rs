//! Bounds of protocol stacks in hosts: from an application to its port, and from a port to an application.
//!
//! A thread, an occupied part and an interface are servers that take a stack's frames in order. Where every stream of
//! a server promises a token bucket (r, b) on the wire, with frames of at least l bits, at most (b + r t)/l of its
//! frames come in a window t; if the work of these does not exceed the time, no frame waits and is served longer than
//! the work of the bursts, Σ S b/l, and a wake-up (Le Boudec and Thiran, Network Calculus, 2001, 1.4, with a server of
//! one second of work a second). Only whole frames come, so all frames of the busy period are looked at as well, as ports do
//! (`longest_wait`), and the lesser of both counts. Classes of a receiving interface wait for the frame in transfer and for the classes
//! above. The delay of a part increases the burst at the next by r (most − least). A thread serves received and sent
//! frames in one queue: frames from the network delay frames to it, with the burstiness of their path (which depends
//! on this bound in turn: `answers.rs`). A server is unbounded if one of its streams promises nothing, or if its load
//! exceeds its capacity. Buffers that are full lose frames and delay none. Not here: the path from port to port.

use std::collections::BTreeSet;

use tautwire_model::network::{
    Delay, HostInterface, HostStacks, Moderation, NodeIndex, Pace, ReceptionOrder, StackPart, Stream, Tail,
    TimelineAction,
};
use tautwire_model::{Network, frame_length};
use tautwire_units::{Bytes, Duration};

use crate::answers::{Learned, Span};
use crate::clock::{Deviation, PS_PER_S, servo, slack_ps};
use crate::delay::{delay_max, delay_min};
use crate::frer;
use crate::loss::reception_overflows;
use crate::plan::frame::frames_behind;
use crate::result::{Bounds, ListenerBounds};
use crate::timeline::Timeline;
use crate::unbounded::Unbounded;

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

/// A stream on its way through a host.
#[derive(Clone, Debug)]
struct Flow {
    stream: usize,
    listener: usize,
    stack: usize,
    class: u8,
    /// Token bucket over bits of the wire; none: nothing is known.
    bucket: Option<(u64, u64)>,
    least_bits: u64,
    octets: (Bytes, Bytes),
    min: u64,
    max: u64,
    /// Most of its frames that wait for the thread, and octets that wait for the interface that sends them; none: no bound.
    waiting: Option<u64>,
    sending: Option<u64>,
    /// Octets that all which wait with it for the receiving interface take beyond the ring; none: no bound.
    beyond_ring: Option<u64>,
    /// Whether what comes later to a server that is busy is not looked at: a fault.
    #[cfg(feature = "planted-faults")]
    is_hasty: bool,
}

impl Flow {
    /// Octets of so many of its frames.
    fn octets_of(&self, frames: Option<u64>) -> Option<u64> {
        frames.map(|frames| frames.saturating_mul(self.octets.1.get()))
    }
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

/// Times at the ports of all listeners.
pub(crate) fn ports(network: &Network, bounds: &Bounds) -> Vec<Vec<Span>> {
    let span = |(listener, twice): (&ListenerBounds, bool)| {
        let max = listener.delay.as_ref().ok().map(|delay| delay.as_ps());
        Span { min: listener.delay_min.as_ps(), max, twice }
    };
    let pairs = bounds.streams.iter().zip(copies(network, bounds));
    pairs.map(|(stream, twice)| stream.listeners.iter().zip(twice).map(span).collect()).collect()
}

/// Per stream and listener: whether both copies of a frame over two networks may be taken there, because they may come
/// further apart than SkewMax, or the listener may forget the first one between them. Sub-virtual-links have their
/// numbers in common: a late frame of one counts for all.
pub(crate) fn copies(network: &Network, bounds: &Bounds) -> Vec<Vec<bool>> {
    let returns = |node: NodeIndex| {
        let starts = |action: &TimelineAction| *action == TimelineAction::StartNode(node);
        network.events.iter().any(|event| starts(&event.action))
    };
    let is_wide = |stream: usize, listener: usize| {
        let link = network.streams[stream].virtual_link?;
        let skew = bounds.streams[stream].listeners[listener].skew;
        let is_wide = skew.is_none_or(|skew| link.skew_max.is_some_and(|most| skew > most));
        link.skew_max.map(|_| (link.id, is_wide))
    };
    let mut late = BTreeSet::new();
    for (number, stream) in network.streams.iter().enumerate() {
        for (listener, node) in stream.listeners.iter().enumerate() {
            if let Some((link, wide)) = is_wide(number, listener)
                && (wide || returns(*node))
            {
                late.insert((link, node.0));
            }
        }
    }
    let twice = |number: usize, listener: usize| {
        let stream = &network.streams[number];
        let node = stream.listeners[listener];
        stream.virtual_link.is_some_and(|link| late.contains(&(link.id, node.0)))
            || frer::taken_twice(network, bounds, number, listener)
    };
    let of = |(number, stream): (usize, &Stream)| {
        (0..stream.listeners.len()).map(|listener| twice(number, listener)).collect()
    };
    network.streams.iter().enumerate().map(of).collect()
}

/// The nodes that have stacks.
fn nodes(network: &Network) -> impl Iterator<Item = NodeIndex> + '_ {
    (0..network.nodes.len()).map(NodeIndex::at).filter(|node| network.has_stacks(*node))
}

fn flow(network: &Network, timeline: &Timeline, stacks: &HostStacks, number: usize, listener: usize) -> Flow {
    let stream: &Stream = &network.streams[number];
    let clock = &network.nodes[stream.talker.index()].clock;
    let bucket = timeline.arrival(stream, crate::plan::index(number)).map(|curve| {
        // A servo may run the talker's clock faster yet.
        let rate = Deviation::of(clock).fastest(curve.rate.fastest(servo(network)).as_bps());
        (rate, grown(curve.burst.get(), rate, slack_ps(clock)))
    });
    let octets = |payload| frame_length(payload, stream.tagged);
    Flow {
        stream: number,
        listener,
        stack: stacks.stack_of(stream).expect("a host with stacks") as usize,
        class: stream.hops.first().map_or(0, |hop| hop.class.number()),
        bucket,
        least_bits: (octets(stream.payload_min) + Bytes::MEDIA_OVERHEAD).bits().get(),
        octets: (octets(stream.payload_min), octets(stream.payload_max) + tautwire_model::TAG),
        min: 0,
        max: 0,
        waiting: Some(0),
        sending: Some(0),
        beyond_ring: Some(0),
        #[cfg(feature = "planted-faults")]
        is_hasty: false,
    }
}

/// The streams that a node's ports receive, as they come to its interfaces.
fn received(
    network: &Network,
    timeline: &Timeline,
    stacks: &HostStacks,
    (node, responses): (NodeIndex, &[Option<Handed>]),
    ports: &[Vec<Span>],
) -> Vec<Flow> {
    let mut flows = Vec::new();
    for (number, stream) in network.streams.iter().enumerate() {
        for listener in (0..stream.listeners.len()).filter(|listener| stream.listeners[*listener] == node) {
            let at_port = ports[number][listener];
            let mut flow = flow(network, timeline, stacks, number, listener);
            let last =
                stream.hops.iter().find(|hop| hop.listener.is_some_and(|one| one as usize == listener));
            flow.class = last.map_or(0, |hop| hop.class.number());
            // It may come without the tag with which it was sent.
            flow.octets.0 = last.map_or(flow.octets.0, |hop| frames_behind(stream, hop).0);
            // Over two networks the second copy may let a frame through that was lost on the first: as late.
            let copies = 1 + u64::from(at_port.twice);
            let bucket = flow.bucket.or_else(|| bucket_of(responses, number));
            let bucket =
                bucket.map(|(rate, burst)| (rate.saturating_mul(copies), burst.saturating_mul(copies)));
            // The bucket of a response has the spread of its request in it already.
            let known = responses.get(number).copied().flatten();
            let before = known.map_or(0, |handed| handed.since.1 - handed.since.0);
            flow.bucket = at_port.max.zip(bucket).map(|(most, (rate, burst))| {
                let spread = most.saturating_sub(at_port.min).saturating_sub(before);
                (rate, grown(burst, rate, spread))
            });
            flows.push(flow);
        }
    }
    flows
}

/// A burst behind a jitter, rounded up.
fn grown(burst: u64, rate: u64, jitter: u64) -> u64 {
    let earned = (u128::from(rate) * u128::from(jitter)).div_ceil(PS_PER_S);
    burst.saturating_add(u64::try_from(earned).unwrap_or(u64::MAX))
}

fn group(flows: &[Flow], is_in: impl Fn(&Flow) -> bool) -> Vec<usize> {
    (0..flows.len()).filter(|flow| is_in(&flows[*flow])).collect()
}

fn interface_of(stacks: &HostStacks, flow: &Flow) -> Option<usize> {
    stacks.stacks[flow.stack].interface.map(|interface| interface as usize)
}

fn span(time: &Delay, flow: &Flow) -> (u64, u64) {
    (delay_min(time, flow.octets.0), delay_max(time, flow.octets.1))
}

fn tail_max(tail: Option<Tail>, flow: &Flow) -> u64 {
    tail.map_or(0, |tail| span(&tail.delay, flow).1)
}

fn longest(pace: Pace) -> u64 {
    pace.bulk.map_or(pace.interval, |bulk| bulk.interval.max(pace.interval)).as_ps()
}

/// Flows pass something that delays each by a time of its own.
fn delay(flows: &mut [Flow], group: &[usize], time: impl Fn(&Flow) -> (u64, u64)) {
    for number in group {
        let flow = &mut flows[*number];
        let (least, most) = time(flow);
        flow.min += least;
        flow.max = flow.max.saturating_add(most);
        flow.bucket = flow.bucket.map(|(rate, burst)| (rate, grown(burst, rate, most - least)));
    }
}

fn read_clock(stacks: &HostStacks, flows: &mut [Flow]) {
    let all: Vec<usize> = (0..flows.len()).collect();
    delay(flows, &all, |flow| span(&stacks.clock_read, flow));
}

/// Flows pass the threads of their stacks; `others` come to the threads with frames that nothing is known of.
fn threads(stacks: &HostStacks, flows: &mut [Flow], others: &[u32]) {
    for (number, thread) in stacks.threads.iter().enumerate() {
        let is_here =
            |flow: &Flow| stacks.stacks[flow.stack].thread.is_some_and(|one| one as usize == number);
        let here = group(flows, is_here);
        let wake = here
            .iter()
            .map(|flow| span(&thread.wake_up, &flows[*flow]).1 + tail_max(thread.tail, &flows[*flow]));
        let wake = wake.max().unwrap_or(0);
        let takes_time = wake > 0 || here.iter().any(|flow| span(&thread.service, &flows[*flow]).1 > 0);
        if takes_time && others.iter().any(|other| *other as usize == number) {
            here.iter().for_each(|flow| flows[*flow].bucket = None);
        }
        let frames =
            waiting(flows, &here, |flows| serve(flows, &here, |flow| span(&thread.service, flow), wake));
        for (flow, frames) in here.iter().zip(frames) {
            flows[*flow].waiting = frames;
        }
    }
}

/// Most frames of each flow that wait before a part, on which the time of the part depends; none: no bound.
fn waiting(flows: &mut [Flow], group: &[usize], pass: impl FnOnce(&mut [Flow]) -> bool) -> Vec<Option<u64>> {
    let before: Vec<_> = group.iter().map(|flow| (flows[*flow].bucket, flows[*flow].max)).collect();
    let takes_time = pass(flows);
    let of = |flow: &Flow, bucket: Option<(u64, u64)>, max: u64| {
        if !takes_time {
            return Some(1);
        }
        let (rate, burst) = flow.bucket.and(bucket)?;
        Some(grown(burst, rate, flow.max.saturating_sub(max)) / flow.least_bits.max(1))
    };
    group.iter().zip(before).map(|(flow, (bucket, max))| of(&flows[*flow], bucket, max)).collect()
}

/// Frames that wait for a receiving interface beyond its ring: of all, or of those of a class. No more come than the lines carry.
fn beyond_ring(
    network: &Network,
    node: NodeIndex,
    (flows, group): (&mut [Flow], &[usize]),
    frames: &[Option<u64>],
    interface: &HostInterface,
) {
    let stay = |flow: &Flow| span(&interface.receive, flow).1;
    let ports = network.nodes[node.index()].ports.clone();
    let lines = ports.filter_map(|port| network.ports[port as usize].links);
    let rates: Vec<u64> = lines.map(|links| network.links[links.ingress.index()].rate.as_bps()).collect();
    let needs: Vec<Option<u64>> = group
        .iter()
        .map(|own| {
            let apart = interface.reception_order == ReceptionOrder::Classes;
            let with = |other: &usize| !apart || flows[*other].class == flows[*own].class;
            let competing = || group.iter().zip(frames).filter(|(other, _)| with(other));
            let sum = competing().try_fold(0_u64, |sum, (_, frames)| Some(sum.saturating_add((*frames)?)))?;
            let least = competing().map(|(other, _)| flows[*other].least_bits).min().unwrap_or(1).max(1);
            let longest = competing().map(|(other, _)| flows[*other].octets.1.get()).max().unwrap_or(0);
            // While all of these are brought in, one after the other.
            let service = competing().map(|(other, _)| stay(&flows[*other])).max().unwrap_or(0);
            let by_lines = rates.iter().map(|rate| 1 + grown(0, *rate, service.saturating_mul(sum)) / least);
            let most = sum.min(by_lines.sum());
            Some(most.saturating_sub(u64::from(interface.receive_ring)).saturating_mul(longest))
        })
        .collect();
    for (flow, needs) in group.iter().zip(needs) {
        flows[*flow].beyond_ring = needs;
    }
}

/// Flows pass the parts of their stacks.
fn parts<'stacks>(
    stacks: &'stacks HostStacks,
    flows: &mut [Flow],
    list: impl Fn(usize) -> &'stacks Vec<StackPart>,
) {
    for stack in 0..stacks.stacks.len() {
        let here = group(flows, |flow| flow.stack == stack);
        for part in list(stack) {
            serve(flows, &here, |flow| (0, span(&part.occupancy, flow).1), 0);
            // It keeps the order: a small frame may wait for a large one.
            let most = here.iter().map(|flow| span(&part.latency, &flows[*flow]).1).max().unwrap_or(0);
            delay(flows, &here, |flow| (span(&part.latency, flow).0, most));
        }
    }
}

/// The work of the bursts and that of a second, of flows at a server; none if something is not known.
fn work(
    flows: &[Flow],
    group: impl Iterator<Item = usize>,
    service: impl Fn(&Flow) -> u64,
) -> Option<(u128, u128)> {
    let (mut bursts, mut second) = (0_u128, 0_u128);
    for number in group {
        let flow = &flows[number];
        let (rate, burst) = flow.bucket?;
        let time = u128::from(service(flow));
        bursts += (time * u128::from(burst)).div_ceil(u128::from(flow.least_bits));
        second += (time * u128::from(rate)).div_ceil(u128::from(flow.least_bits));
    }
    Some((bursts, second))
}

/// Frames of flows at a server, one after the other in time.
#[derive(Debug)]
struct Coming<'a> {
    flows: &'a [Flow],
    /// Flows, the time that a frame of each takes, and how many have come.
    came: Vec<(usize, u64, u64)>,
    /// The time that all of these take.
    work: u64,
}

impl<'a> Coming<'a> {
    /// All that may come at once; none if something is not known.
    fn of(
        flows: &'a [Flow],
        group: impl Iterator<Item = usize>,
        service: impl Fn(&Flow) -> u64,
    ) -> Option<Self> {
        let mut coming = Self { flows, came: Vec::new(), work: 0 };
        for number in group {
            let flow = &flows[number];
            let (_, burst) = flow.bucket?;
            let frames = burst / flow.least_bits.max(1);
            #[cfg(feature = "planted-faults")]
            let frames = if flow.is_hasty { frames.min(1) } else { frames };
            coming.came.push((number, service(flow), frames));
            coming.work = coming.work.saturating_add(service(flow).saturating_mul(frames));
        }
        Some(coming)
    }

    /// How long after the first of them the next frame of a flow may come, at the earliest; none: never.
    fn next_of(&self, (number, _, frames): (usize, u64, u64)) -> Option<u64> {
        let flow = &self.flows[number];
        let (rate, burst) = flow.bucket?;
        let bits = (u128::from(frames) + 1) * u128::from(flow.least_bits.max(1));
        let missing = bits.saturating_sub(u128::from(burst));
        (rate > 0).then(|| u64::try_from(missing * PS_PER_S / u128::from(rate)).unwrap_or(u64::MAX))
    }

    /// When the next frame may come.
    fn next(&self) -> Option<u64> {
        self.came.iter().filter_map(|flow| self.next_of(*flow)).min()
    }

    /// Lets all frames come that may come up to an instant; none if these are more than are looked at.
    fn take_until(&mut self, now: u64, left: &mut usize) -> Option<()> {
        for place in 0..self.came.len() {
            while self.next_of(self.came[place]).is_some_and(|next| next <= now) {
                *left = left.checked_sub(1)?;
                self.came[place].2 += 1;
                self.work = self.work.saturating_add(self.came[place].1);
            }
        }
        Some(())
    }
}

/// Frames of a busy period that are looked at.
const FRAMES_MAX: usize = 4_096;

/// How long a frame waits and is served at most at a server that takes `own` in their order, `above` before them, and has `first` to do before; none if that is
/// not known, or too much would have to be looked at.
///
/// Of a flow, no more frames come within a time than its token bucket holds whole ones of its least size. Let the server have nothing to do before zero. A frame
/// that comes *a* later is served by the least *w* with `w = first + frames of its flows within a + frames above within w`, and the longest of all `w - a` is at
/// an *a* at which a frame may come, before the server has done all that came.
fn longest_wait(first: u64, mut own: Coming<'_>, mut above: Coming<'_>) -> Option<u64> {
    let (mut at, mut longest, mut left) = (0, 0_u64, FRAMES_MAX);
    loop {
        let done = loop {
            let done = first.saturating_add(own.work).saturating_add(above.work);
            if above.next().is_none_or(|next| next > done) {
                break done;
            }
            above.take_until(done, &mut left)?;
        };
        longest = longest.max(done.saturating_sub(at));
        let Some(next) = own.next().filter(|next| *next <= done) else { return Some(longest) };
        #[cfg(feature = "planted-faults")]
        if own.flows.iter().any(|flow| flow.is_hasty) {
            return Some(longest);
        }
        at = next;
        own.take_until(at, &mut left)?;
    }
}

/// Flows pass a server that takes their frames as they come.
///
/// Whether they take any time.
fn serve(flows: &mut [Flow], group: &[usize], service: impl Fn(&Flow) -> (u64, u64), wake: u64) -> bool {
    if wake == 0 && group.iter().all(|flow| service(&flows[*flow]).1 == 0) {
        return false;
    }
    let most = work(flows, group.iter().copied(), |flow| service(flow).1)
        .filter(|(_, second)| *second <= PS_PER_S)
        .and_then(|(bursts, _)| u64::try_from(bursts).ok()?.checked_add(wake));
    let by_frames = || {
        let own = Coming::of(flows, group.iter().copied(), |flow| service(flow).1)?;
        longest_wait(wake, own, Coming::of(flows, std::iter::empty(), |_| 0)?)
    };
    let most = most.map(|most| by_frames().map_or(most, |wait| most.min(wait)));
    match most {
        Some(most) => delay(flows, group, |flow| (service(flow).0, most.max(service(flow).0))),
        None => group.iter().for_each(|flow| flows[*flow].bucket = None),
    }
    true
}

/// Flows pass a server that takes the highest class first and finishes what it has begun.
///
/// Whether they take any time.
fn serve_classes(flows: &mut [Flow], group: &[usize], time: &Delay) -> bool {
    let service = |flow: &Flow| span(time, flow).1;
    if group.iter().all(|flow| service(&flows[*flow]) == 0) {
        return false;
    }
    let bounds: Vec<Option<u64>> = group
        .iter()
        .map(|number| {
            let class = flows[*number].class;
            let of = |is_in: &dyn Fn(u8) -> bool| {
                let members: Vec<usize> =
                    group.iter().copied().filter(|flow| is_in(flows[*flow].class)).collect();
                members
            };
            let begun = of(&|other| other < class).into_iter().map(|flow| service(&flows[flow])).max();
            let (bursts, second) = work(flows, of(&|other| other >= class).into_iter(), service)?;
            let (_, above) = work(flows, of(&|other| other > class).into_iter(), service)?;
            if second > PS_PER_S || above >= PS_PER_S {
                return None;
            }
            let wait = (bursts + u128::from(begun.unwrap_or(0))) * PS_PER_S;
            let by_curves = u64::try_from(wait.div_ceil(PS_PER_S - above)).ok()?;
            let coming = |is_in: &dyn Fn(u8) -> bool| Coming::of(flows, of(is_in).into_iter(), service);
            let by_frames = longest_wait(
                begun.unwrap_or(0),
                coming(&|other| other == class)?,
                coming(&|other| other > class)?,
            );
            Some(by_frames.map_or(by_curves, |wait| by_curves.min(wait)))
        })
        .collect();
    for (number, most) in group.iter().zip(bounds) {
        match most {
            Some(most) => delay(flows, &[*number], |flow| (span(time, flow).0, most.max(span(time, flow).0))),
            None => flows[*number].bucket = None,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flow with a token bucket, bits a second and bits.
    fn flow(bucket: (u64, u64), least_bits: u64) -> Flow {
        let octets = (Bytes::new(64), Bytes::new(64));
        Flow {
            stream: 0,
            listener: 0,
            stack: 0,
            class: 0,
            bucket: Some(bucket),
            least_bits,
            octets,
            min: 0,
            max: 0,
            waiting: None,
            sending: None,
            beyond_ring: None,
            #[cfg(feature = "planted-faults")]
            is_hasty: false,
        }
    }

    /// The longest wait of all instants, one by one.
    fn enumerated(first: u64, flows: &[Flow], services: &[u64], own: usize) -> u64 {
        let work = |among: std::ops::Range<usize>, at: u64| -> u64 {
            let of = |flow: usize| {
                let (rate, burst) = flows[flow].bucket.unwrap();
                let bits = u128::from(burst) + u128::from(rate) * u128::from(at) / PS_PER_S;
                services[flow] * u64::try_from(bits / u128::from(flows[flow].least_bits)).unwrap()
            };
            among.map(of).sum()
        };
        let mut longest = 0;
        for at in 0.. {
            let fixed = first + work(0..own, at);
            let done = (0..).find(|done| *done >= fixed + work(own..flows.len(), *done)).unwrap();
            longest = longest.max(done.saturating_sub(at));
            if done < at {
                return longest;
            }
        }
        unreachable!("the busy period ends")
    }

    #[test]
    fn waits_are_those_of_whole_frames() {
        let one = |flows: &[Flow], services: &[u64], own: usize, first: u64| {
            let of = |among: std::ops::Range<usize>| {
                Coming::of(flows, among.clone(), |flow| {
                    services[flows.iter().position(|other| std::ptr::eq(other, flow)).unwrap()]
                })
                .unwrap()
            };
            longest_wait(first, of(0..own), of(own..flows.len()))
        };
        // A frame and a third of one at once, 50 ps each: the second comes when the first is done.
        let flows = [flow((100_000_000_000, 13), 10)];
        assert_eq!(one(&flows, &[50], 1, 0), Some(50));
        // Behind a wake-up it comes while the first is still served.
        assert_eq!(one(&flows, &[50], 1, 40), Some(90));
        assert_eq!(one(&flows, &[90], 1, 0), Some(110), "the second waits longer");
        let mut state = 1_u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for case in 0..400 {
            let flows: Vec<Flow> = (0..3)
                .map(|_| flow((20_000_000_000 * (1 + draw(8)), 10 + draw(30)), 10 + draw(10)))
                .collect();
            let services: Vec<u64> = (0..3).map(|_| 1 + draw(25)).collect();
            let load = |(flow, service): (&Flow, &u64)| {
                flow.bucket.unwrap().0 / 1_000_000_000 * service / flow.least_bits
            };
            if flows.iter().zip(&services).map(load).sum::<u64>() > 900 {
                continue;
            }
            let own = 1 + draw(3) as usize;
            let (found, worst) =
                (one(&flows, &services, own, case % 7), enumerated(case % 7, &flows, &services, own));
            let found = found.expect("a short busy period");
            assert!(
                found >= worst && found <= worst + 3 * services.iter().max().unwrap(),
                "{case}: {found}, {worst}"
            );
        }
    }
}
