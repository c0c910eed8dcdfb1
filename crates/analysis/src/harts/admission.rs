//! How long the ACMaster takes to admit a stream, or to refuse it: from the last of the producer's and a consumer's request to the
//! producer's answer.
//!
//! ```text
//!  node ─Add─► switch ─► ACMaster: test ─Config─► switch ─Reply─► ACMaster ─Replicate─► standby ─► ACMaster ─Ack─► node
//! ```
//!
//! On its path a request waits for every message at an entity, and every frame of the channel at a port, at most once
//! (`totals.rs`). At a port the channel's server gives the same guarantee as that of a stream (`port.rs`). While
//! nothing is lost and the bound is below the patience, the result of a test is sent to all once; a node whose request
//! is not complete yet repeats it, once in a patience.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tautwire_model::harts::admission::{AdmissionRequest, HartsAdmission};
use tautwire_model::network::{Delay, NodeIndex, NodeKind, PortIndex, StreamIndex};
use tautwire_model::test_growth::TestGrowth;
use tautwire_units::{Bytes, Duration};

use super::port::Port;
use super::relayed::Schedule;
use super::ways::largest_frames;
use super::{Servers, wire_octets};
use crate::admission::totals::{Item, Load, Message, consistent, load};
use crate::admission::{AdmissionBound, Context, NoAdmissionBound, loses};
use crate::delay::delay_max;

/// Octets of a control message's frame.
const FRAME: Bytes = Bytes::new(64);
/// With more requests and releases, all of them are assumed to occur at any time.
const ITEMS_MAX: usize = 64;
/// How often a message may come that is repeated within twice a bound that is below the patience.
const REPEATED: u64 = 3;

/// The receiver of a message: it processes one after the other, each for its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Entity {
    Node(u32),
    Master,
    Standby,
}

/// The guaranteed service of a port's server for control messages.
#[derive(Clone, Copy, Debug)]
struct Channel {
    period: u64,
    through: u64,
    frames: u64,
    line: u64,
}

struct Admissions<'a> {
    context: &'a Context<'a>,
    settings: &'a HartsAdmission,
    /// Per node, per node: the ports from the one to the other.
    towards: Vec<Vec<Option<PortIndex>>>,
    channels: BTreeMap<PortIndex, Result<Channel, NoAdmissionBound>>,
}

/// The admission bounds of all requested streams.
pub(crate) fn bounds(context: &Context<'_>) -> Vec<AdmissionBound> {
    let harts = context.network.harts.as_ref().expect("a network with HaRTES");
    let settings = harts.admission.as_ref().expect("central admission");
    let none = |reason| {
        settings.requests.iter().map(|request| AdmissionBound::none(request.stream, reason)).collect()
    };
    if loses(context.network) {
        return none(NoAdmissionBound::Losses);
    }
    let admissions = Admissions::new(context, settings);
    let (items, longest) = match admissions.all() {
        Ok(all) => all,
        Err(reason) => return none(reason),
    };
    let bound = |request: &AdmissionRequest| {
        let at = request.at.max(request.listeners_at).as_ps();
        let load = admissions.load(&items, at, longest);
        let delay = admissions.request(request, &load).map(Duration::from_ps);
        AdmissionBound { stream: request.stream, delay, ready: Duration::ZERO }
    };
    settings.requests.iter().map(bound).collect()
}

impl<'a> Admissions<'a> {
    fn new(context: &'a Context<'a>, settings: &'a HartsAdmission) -> Self {
        let network = context.network;
        let towards = (0..network.nodes.len()).map(|to| towards(network, to)).collect();
        let mut admissions = Self { context, settings, towards, channels: BTreeMap::new() };
        for (number, stream) in settings.control.iter().enumerate() {
            if let Some(stream) = stream {
                let port = PortIndex::at(number);
                admissions.channels.insert(port, admissions.channel(port, *stream));
            }
        }
        admissions
    }

    /// A control message at a port: a bridge's server, or the bound of an end station's frames.
    fn channel(&self, port: PortIndex, stream: StreamIndex) -> Result<Channel, NoAdmissionBound> {
        let network = self.context.network;
        let node = network.ports[port.index()].node;
        if !matches!(network.nodes[node.index()].kind, NodeKind::Bridge { .. }) {
            let line = self.context.frame(stream)?;
            return Ok(Channel { period: 0, through: 0, frames: 1, line });
        }
        let none = NoAdmissionBound::Frames(stream);
        let port_servers = Port::of(network, port, self.context.slack).ok_or(none)?;
        let lane = network.server_of(stream, port).ok_or(none)?;
        let described = &network.streams[stream.index()];
        let wire = wire_octets(described, described.hops[0].tagged);
        let (period, through, frames) = port_servers.guarantee(lane, wire).map_err(|_| none)?;
        let schedule = Schedule::default();
        let servers = Servers {
            network,
            deviation: self.context.deviation,
            slack: self.context.slack,
            schedule,
            slowest: Vec::new(),
            largest: largest_frames(network),
        };
        Ok(Channel { period, through, frames, line: servers.line(described, 0).max })
    }

    /// All requests and releases, and the longest time that any of them takes.
    fn all(&self) -> Result<(Vec<Item<Entity>>, u64), NoAdmissionBound> {
        let mut items = Vec::new();
        for request in &self.settings.requests {
            let (first, last) = (request.at.min(request.listeners_at), request.at.max(request.listeners_at));
            // Several consumers may send requests at any time, each with all that follows.
            let several = self.context.network.streams[request.stream.index()].listeners.len() > 1;
            let last = if several { u64::MAX } else { last.as_ps() };
            items.push(Item { first: first.as_ps(), last, messages: self.asked(request) });
            for consumer in self.settings.consumers(request.stream) {
                let Some(at) = consumer.release_at else { continue };
                let last = self.context.late((at + self.settings.patience).as_ps());
                let messages = self.part_given_back(request.stream, consumer.node.0);
                items.push(Item { first: at.as_ps(), last, messages });
            }
            if let Some(at) = request.release_at {
                // A stream that is released during its decision is released again.
                let last = self.context.late((at + self.settings.patience).as_ps());
                items.push(Item { first: at.as_ps(), last, messages: self.given_back(request) });
            }
        }
        let ends = items.iter().flat_map(|item| [item.first, item.last]);
        let complete =
            self.settings.requests.iter().map(|request| request.at.max(request.listeners_at).as_ps());
        let mut instants: Vec<u64> = ends.filter(|at| *at < u64::MAX).chain(complete).collect();
        instants.sort_unstable();
        instants.dedup();
        if items.len() > ITEMS_MAX {
            instants.truncate(1);
        }
        let longest = consistent(|assumed| {
            let mut most = 0;
            for at in &instants {
                let load = self.load(&items, *at, assumed);
                for request in &self.settings.requests {
                    most = most.max(self.all_consumers(request, &load)?);
                    if request.release_at.is_some() {
                        most = most.max(self.way(&self.release_legs(request), &load)?);
                    }
                    for consumer in self.settings.consumers(request.stream) {
                        if consumer.release_at.is_some() {
                            let mut legs = self.part_given_back(request.stream, consumer.node.0);
                            legs.dedup_by_key(|leg| (leg.from, leg.to, leg.taker));
                            most = most.max(self.way(&legs, &load)?);
                        }
                    }
                }
            }
            Ok(most)
        })?;
        let longest = longest.ok_or(NoAdmissionBound::Processor(self.settings.master))?;
        let patience = self.context.deviation.shrink(self.settings.patience.as_ps());
        if longest >= patience {
            return Err(NoAdmissionBound::Repeated(self.settings.patience));
        }
        self.stays_active(&items, &instants, longest)?;
        Ok((items, longest))
    }

    /// The standby receives the keep-alive messages of the active one before it takes over.
    fn stays_active(
        &self,
        items: &[Item<Entity>],
        instants: &[u64],
        longest: u64,
    ) -> Result<(), NoAdmissionBound> {
        let Some(standby) = self.settings.standby else { return Ok(()) };
        let alive = self.context.deviation.shrink(self.settings.alive.as_ps() * 3);
        let notice = self.leg(self.settings.master.0, standby.0, Entity::Standby, &self.settings.handling);
        for at in instants {
            let load = self.load(items, *at, longest);
            let late = self.context.late(self.settings.alive.as_ps());
            if self.way(&[notice], &load)?.saturating_add(late) >= alive {
                return Err(NoAdmissionBound::Repeated(self.settings.alive));
            }
        }
        Ok(())
    }

    /// The messages that may delay a request, and the keep-alive messages of that time.
    fn load(&self, items: &[Item<Entity>], at: u64, longest: u64) -> Load<Entity> {
        let window = if items.len() > ITEMS_MAX { u64::MAX } else { longest };
        let mut load = load(items, at, window);
        if let Some(standby) = self.settings.standby {
            let alive = self.context.deviation.shrink(self.settings.alive.as_ps()).saturating_sub(2).max(1);
            let count = longest.saturating_mul(2) / alive + 2;
            let (master, handling) = (self.settings.master.0, &self.settings.handling);
            let mut notice = vec![self.leg(master, standby.0, Entity::Standby, handling)];
            notice.extend(
                self.switches()
                    .map(|switch| self.leg(master, switch, Entity::Node(switch), &self.settings.relay)),
            );
            notice.iter().for_each(|message| load.add(&Message { count, ..*message }));
        }
        load
    }

    fn switches(&self) -> impl Iterator<Item = u32> + '_ {
        let nodes = self.context.network.nodes.iter().zip(0..);
        nodes.filter(|(node, _)| matches!(node.kind, NodeKind::Bridge { .. })).map(|(_, number)| number)
    }

    fn leg(&self, from: u32, to: u32, taker: Entity, takes: &Delay) -> Message<Entity> {
        Message { from, to, taker, work: delay_max(takes, FRAME), count: 1 }
    }

    fn to_master(&self, from: u32) -> Message<Entity> {
        self.leg(from, self.settings.master.0, Entity::Master, &self.settings.handling)
    }

    fn to_node(&self, node: u32) -> Message<Entity> {
        self.leg(self.settings.master.0, node, Entity::Node(node), &self.settings.node)
    }

    /// From a node to its switch, and on.
    fn relayed(&self, node: u32) -> [Message<Entity>; 2] {
        let switch = self.switch_of(node);
        let relay = self.leg(node, switch, Entity::Node(switch), &self.settings.relay);
        [relay, self.to_master(switch)]
    }

    fn configured(&self, switch: u32) -> [Message<Entity>; 2] {
        let notice = self.leg(self.settings.master.0, switch, Entity::Node(switch), &self.settings.configure);
        [notice, self.to_master(switch)]
    }

    fn test(&self) -> Message<Entity> {
        let (master, settings) = (self.settings.master.0, self.settings);
        let leg = self.leg(master, master, Entity::Master, &settings.test);
        let longest = TestGrowth::scaled(Duration::from_ps(leg.work), settings.test_growth.per_mille_max());
        Message { work: longest.as_ps(), ..leg }
    }

    fn replicated(&self) -> Vec<Message<Entity>> {
        let notice = |standby: NodeIndex| {
            let out = self.leg(self.settings.master.0, standby.0, Entity::Standby, &self.settings.handling);
            [out, self.to_master(standby.0)]
        };
        self.settings.standby.into_iter().flat_map(notice).collect()
    }

    fn switch_of(&self, node: u32) -> u32 {
        let network = self.context.network;
        let ports = network.nodes[node as usize].ports.clone().map(PortIndex);
        let found = ports.into_iter().find(|port| network.ports[port.index()].links.is_some());
        let port = found.expect("who asks has a cable");
        network.ports[self.context.far(port).index()].node.0
    }

    /// Nodes on the way of a stream to a listener that are switches.
    fn way_switches(&self, talker: u32, listener: u32) -> Vec<u32> {
        let mut found = Vec::new();
        let mut here = talker;
        while let Some(port) = self.towards[listener as usize][here as usize] {
            here = self.context.network.ports[self.context.far(port).index()].node.0;
            if here != listener {
                found.push(here);
            }
        }
        found
    }

    /// All messages that follow from a stream's requests.
    fn asked(&self, request: &AdmissionRequest) -> Vec<Message<Entity>> {
        let stream = &self.context.network.streams[request.stream.index()];
        let askers = || [stream.talker].into_iter().chain(stream.listeners.iter().copied());
        let apart = request.at.max(request.listeners_at) - request.at.min(request.listeners_at);
        // With one consumer whose request comes with the producer's, all is answered before any request is repeated.
        let count = if stream.listeners.len() == 1 && apart.is_zero() { 1 } else { REPEATED };
        let mut messages = Vec::new();
        for asker in askers() {
            let added = self.relayed(asker.0).into_iter().chain([self.to_node(asker.0)]);
            messages.extend(added.map(|message| Message { count, ..message }));
        }
        for listener in &stream.listeners {
            let mut decided = vec![self.test()];
            decided.extend(
                self.way_switches(stream.talker.0, listener.0).iter().flat_map(|at| self.configured(*at)),
            );
            decided.extend(self.replicated());
            decided.extend(askers().map(|asker| self.to_node(asker.0)));
            // A refused producer is invited by the next consumer's request, and repeats its own.
            if stream.listeners.len() > 1 {
                decided.push(self.to_node(stream.talker.0));
                decided.extend(self.relayed(stream.talker.0));
            }
            messages.extend(decided.into_iter().map(|message| Message { count, ..message }));
        }
        messages
    }

    /// All messages that follow from the release of a stream; the talker may have to repeat it.
    fn given_back(&self, request: &AdmissionRequest) -> Vec<Message<Entity>> {
        let stream = &self.context.network.streams[request.stream.index()];
        let mut messages: Vec<Message<Entity>> = self.relayed(stream.talker.0).to_vec();
        messages.push(self.to_node(stream.talker.0));
        for message in &mut messages {
            message.count = REPEATED;
        }
        for listener in &stream.listeners {
            messages.extend(
                self.way_switches(stream.talker.0, listener.0).iter().flat_map(|at| self.configured(*at)),
            );
        }
        messages.extend(self.replicated());
        messages
    }

    /// All messages that follow from a consumer's part that is released; if it is the last one, its producer pauses first.
    fn part_given_back(&self, stream: StreamIndex, consumer: u32) -> Vec<Message<Entity>> {
        let talker = self.context.network.streams[stream.index()].talker.0;
        let mut messages: Vec<Message<Entity>> = self.relayed(consumer).to_vec();
        messages.push(self.to_node(talker));
        messages.extend(self.relayed(talker));
        messages.push(self.to_node(consumer));
        for message in &mut messages {
            message.count = REPEATED;
        }
        messages.extend(self.way_switches(talker, consumer).iter().flat_map(|at| self.configured(*at)));
        messages.extend(self.replicated());
        messages
    }

    fn release_legs(&self, request: &AdmissionRequest) -> Vec<Message<Entity>> {
        let mut legs = self.given_back(request);
        legs.dedup_by_key(|leg| (leg.from, leg.to, leg.taker));
        legs
    }

    /// Greatest time to a talker's first answer under a load: the maximum over the last request and the slowest
    /// switch, for whichever consumer comes first; if those before it are refused, it comes later, since all requests
    /// are part of the load.
    fn request(&self, request: &AdmissionRequest, load: &Load<Entity>) -> Result<u64, NoAdmissionBound> {
        let stream = &self.context.network.streams[request.stream.index()];
        let mut most = 0;
        let way = |listener: &NodeIndex| self.way_switches(stream.talker.0, listener.0);
        let switches: BTreeSet<u32> = stream.listeners.iter().flat_map(way).collect();
        for asker in [stream.talker].iter().chain(&stream.listeners) {
            for switch in &switches {
                let mut legs = self.relayed(asker.0).to_vec();
                legs.push(self.test());
                legs.extend(self.configured(*switch));
                legs.extend(self.replicated());
                legs.push(self.to_node(stream.talker.0));
                most = most.max(self.way(&legs, load)?);
            }
        }
        Ok(most)
    }

    /// The same until the last consumer is answered, one after the other.
    fn all_consumers(
        &self,
        request: &AdmissionRequest,
        load: &Load<Entity>,
    ) -> Result<u64, NoAdmissionBound> {
        let stream = &self.context.network.streams[request.stream.index()];
        let mut legs = Vec::new();
        for listener in &stream.listeners {
            legs.extend(self.relayed(stream.talker.0).into_iter().chain(self.relayed(listener.0)));
            legs.push(self.test());
            for switch in self.way_switches(stream.talker.0, listener.0) {
                legs.extend(self.configured(switch));
            }
            legs.extend(self.replicated());
            legs.extend([self.to_node(listener.0), self.to_node(stream.talker.0)]);
        }
        self.way(&legs, load)
    }

    /// Greatest time over some legs: the work of the entities on it, each counted once, and at every port all its
    /// frames once and a period of its server for each time that the path crosses it.
    fn way(&self, legs: &[Message<Entity>], load: &Load<Entity>) -> Result<u64, NoAdmissionBound> {
        let mut crossings: BTreeMap<PortIndex, u64> = BTreeMap::new();
        for leg in legs {
            for port in self.ports(leg.from, leg.to) {
                *crossings.entry(port).or_default() += 1;
            }
        }
        let mut frames: BTreeMap<PortIndex, u64> = BTreeMap::new();
        for ((from, to), count) in &load.messages {
            for port in self.ports(*from, *to) {
                *frames.entry(port).or_default() += count;
            }
        }
        let mut sum = load.work_of(legs.iter().map(|leg| leg.taker).collect::<BTreeSet<_>>().into_iter());
        for (port, times) in crossings {
            let channel = self.channels[&port]?;
            let met = frames.get(&port).copied().unwrap_or(0).saturating_add(times);
            let periods = met / channel.frames + times;
            let served = channel.period.saturating_mul(periods).saturating_add(channel.through * times);
            // Once for each crossing: what a clock may be wrong by beyond its rate.
            let served = self.context.late(served).saturating_add(self.context.late(0) * times);
            sum = sum.saturating_add(served).saturating_add(channel.line.saturating_mul(times));
        }
        Ok(sum)
    }

    fn ports(&self, from: u32, to: u32) -> Vec<PortIndex> {
        let mut found = Vec::new();
        let mut here = from;
        while let Some(port) = self.towards[to as usize][here as usize] {
            found.push(port);
            here = self.context.network.ports[self.context.far(port).index()].node.0;
        }
        found
    }
}

/// The port of every node towards one of them; none at that one.
fn towards(network: &tautwire_model::Network, to: usize) -> Vec<Option<PortIndex>> {
    let mut found = vec![None; network.nodes.len()];
    let mut next = VecDeque::from([to]);
    while let Some(here) = next.pop_front() {
        for port in network.nodes[here].ports.clone() {
            let Some(links) = network.ports[port as usize].links else { continue };
            let far = network.links[links.egress.index()].to;
            let node = network.ports[far.index()].node.index();
            if node != to && found[node].is_none() {
                found[node] = Some(far);
                next.push_back(node);
            }
        }
    }
    found
}
