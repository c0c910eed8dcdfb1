//! How long a CNC takes to admit a stream, with a CUC or with users that speak MSRP (IEEE Std 802.1Q-2022, 46.1.3).
//!
//! A request goes from entity to entity; each processes received messages one after the other, each for its time. A
//! channel between two nodes carries one message at a time: the next leaves when the one before is acknowledged, which
//! takes both directions' frames and a pace at each end. With distributed users, the legs between end station and edge
//! bridge are those of MSRP.

use tautwire_model::central::CentralConfiguration;
use tautwire_model::network::{NodeIndex, NodeKind, PortIndex, StreamIndex};
use tautwire_units::{Bytes, Duration};

use super::msrp::Msrp;
use super::totals::{Item, Load, Message, consistent, load};
use super::{AdmissionBound, Context, NoAdmissionBound};
use crate::delay::delay_max;

/// With more requests and releases, all of them are assumed to occur at any time.
const ITEMS_MAX: usize = 64;

/// A leg of a request's path: the receiving node, the sending one, and the processing time; or MSRP's own.
#[derive(Clone, Copy, Debug)]
enum Leg {
    Message(Message<u32>),
    Msrp(PortIndex),
}

/// A listener of a stream, and the nodes that have to do with it.
struct Pair {
    talker: u32,
    listener: u32,
    /// The entity that acts for them: the CUC, or their edge bridges.
    for_talker: u32,
    for_listener: u32,
    bridges: Vec<u32>,
    /// The first and the last port of the way, of MSRP's legs.
    ends: Option<(PortIndex, PortIndex)>,
}

struct Central<'a> {
    context: &'a Context<'a>,
    msrp: &'a Msrp<'a>,
    settings: &'a CentralConfiguration,
}

/// The bounds of all reserved streams.
pub(super) fn bounds(
    context: &Context<'_>,
    msrp: &Msrp<'_>,
    settings: &CentralConfiguration,
) -> Vec<AdmissionBound> {
    let central = Central { context, msrp, settings };
    let reservation = context.network.srp.as_ref().expect("stream reservation");
    let all = central.all();
    let bound = |stream: StreamIndex, at: u64| match &all {
        Ok((items, longest)) => central.bound(stream, at, items, *longest),
        Err(reason) => Err(*reason),
    };
    let ready = msrp.ready().unwrap_or(0);
    let requests = reservation.streams.iter().map(|reserved| {
        let asked = reserved.attach_at.iter().min().copied().unwrap_or_default();
        (reserved.stream, asked.max(reserved.advertise_at).as_ps())
    });
    let made = requests.map(|(stream, at)| AdmissionBound {
        stream,
        delay: bound(stream, at.max(ready)).map(Duration::from_ps),
        ready: Duration::from_ps(ready),
    });
    made.collect()
}

impl Central<'_> {
    /// All requests and releases, and the longest time that any of them takes.
    fn all(&self) -> Result<(Vec<Item<u32>>, u64), NoAdmissionBound> {
        let reservation = self.context.network.srp.as_ref().expect("stream reservation");
        let ready = self.msrp.ready()?;
        let mut items = Vec::new();
        let mut retests: Vec<Message<u32>> = Vec::new();
        for reserved in &reservation.streams {
            for pair in self.pairs(reserved.stream) {
                retests.extend(self.decided(&pair));
            }
        }
        for reserved in &reservation.streams {
            let causes = reserved.attach_at.iter().chain([&reserved.advertise_at]);
            let (first, last) = span(causes);
            let pairs = self.pairs(reserved.stream);
            let messages = pairs.iter().flat_map(|pair| self.asked(pair));
            // Messages that were received before all neighbours had found each other may count from then.
            items.push(Item { first, last: last.max(ready), messages: messages.collect() });
            let ends = reserved.detach_at.iter().flatten().chain(reserved.withdraw_at.iter());
            if ends.clone().next().is_some() {
                let (first, last) = span(ends);
                let mut messages: Vec<Message<u32>> =
                    pairs.iter().flat_map(|pair| self.given_back(pair)).collect();
                // Every listener that is served no more has all refused ones tested again.
                let times = pairs.len() as u64 * 2;
                let again =
                    retests.iter().map(|message| Message { count: message.count * times, ..*message });
                messages.extend(again);
                items.push(Item { first, last, messages });
            }
        }
        let streams: Vec<StreamIndex> = reservation.streams.iter().map(|reserved| reserved.stream).collect();
        let ends = items.iter().flat_map(|item| [item.first, item.last]);
        let asked = reservation.streams.iter().flat_map(|reserved| &reserved.attach_at);
        let mut instants: Vec<u64> = ends.chain(asked.map(|at| at.as_ps())).chain([ready]).collect();
        instants.sort_unstable();
        instants.dedup();
        let everything = items.len() > ITEMS_MAX;
        if everything {
            instants.truncate(1);
        }
        let longest = consistent(|assumed| {
            let mut most = 0;
            for at in &instants {
                let load = load(&items, *at, if everything { u64::MAX } else { assumed });
                for pair in streams.iter().flat_map(|stream| self.pairs(*stream)) {
                    // Released, and requested again by waiting listeners; bridge after bridge, which is to the safe side.
                    let mut legs = self.legs(&pair, &pair.bridges, &pair.bridges);
                    legs.extend(self.legs(&pair, &pair.bridges, &pair.bridges));
                    legs.extend(self.given_back(&pair).into_iter().map(Leg::Message));
                    most = most.max(self.time(&legs, &load)?);
                }
            }
            Ok(most)
        })?;
        let longest = longest.ok_or(NoAdmissionBound::Processor(self.settings.cnc))?;
        Ok((items, longest))
    }

    fn bound(
        &self,
        stream: StreamIndex,
        at: u64,
        items: &[Item<u32>],
        longest: u64,
    ) -> Result<u64, NoAdmissionBound> {
        let load = load(items, at, if items.len() > ITEMS_MAX { u64::MAX } else { longest });
        let mut most = 0;
        for pair in &self.pairs(stream) {
            // Bridges are configured in parallel: the slowest counts, once for the removal and once for the reservation.
            for made in &pair.bridges {
                let takes: &[u32] =
                    if self.settings.cuc.is_some() { &pair.bridges[..1] } else { &pair.bridges };
                for taken in takes {
                    most = most.max(self.time(&self.legs(pair, &[*taken], &[*made]), &load)?);
                }
            }
            if pair.bridges.is_empty() {
                most = most.max(self.time(&self.legs(pair, &[], &[]), &load)?);
            }
        }
        Ok(most)
    }

    /// Upper bound of the time that a path takes under a load.
    fn time(&self, legs: &[Leg], load: &Load<u32>) -> Result<u64, NoAdmissionBound> {
        let mut sum = 0_u64;
        let mut directions = std::collections::BTreeSet::new();
        let mut takers = Vec::new();
        for leg in legs {
            match leg {
                Leg::Msrp(port) => sum = sum.saturating_add(self.msrp.pass(*port)?),
                Leg::Message(message) => {
                    takers.push(message.taker);
                    if message.from != message.to {
                        directions.insert((message.from, message.to));
                        sum = sum
                            .saturating_add(self.frame(message.from, message.to)?)
                            .saturating_add(self.pace());
                    }
                }
            }
        }
        for (from, to) in directions {
            let messages = load.messages.get(&(from, to)).copied().unwrap_or(0);
            let retried =
                self.frame(from, to)?.saturating_add(self.frame(to, from)?).saturating_add(self.pace());
            let retry = self.context.deviation.shrink(self.settings.timing.retry.as_ps());
            if retried >= retry {
                return Err(NoAdmissionBound::Repeated(self.settings.timing.retry));
            }
            sum = sum.saturating_add(retried.saturating_add(self.pace()).saturating_mul(messages));
        }
        Ok(sum.saturating_add(load.work_of(takers.into_iter())))
    }

    fn pace(&self) -> u64 {
        self.context.late(self.settings.timing.pace.as_ps())
    }

    fn frame(&self, from: u32, to: u32) -> Result<u64, NoAdmissionBound> {
        let channels = &self.settings.channels;
        let found = channels.iter().find(|channel| channel.from.0 == from && channel.to.0 == to);
        self.context.frame(found.expect("a channel between them").stream)
    }

    fn pairs(&self, stream: StreamIndex) -> Vec<Pair> {
        let network = self.context.network;
        let described = &network.streams[stream.index()];
        let is_bridge = |node: NodeIndex| matches!(network.nodes[node.index()].kind, NodeKind::Bridge { .. });
        let pair = |listener: usize| {
            let way = self.msrp.way(stream, listener);
            let nodes = way.iter().map(|port| network.ports[port.index()].node);
            let bridges: Vec<u32> = nodes.filter(|node| is_bridge(*node)).map(|node| node.0).collect();
            let edge = |found: Option<&u32>| found.copied().unwrap_or(self.settings.cnc.0);
            let (first, last) = (edge(bridges.first()), edge(bridges.last()));
            let cuc = self.settings.cuc.map(|cuc| cuc.0);
            Pair {
                talker: described.talker.0,
                listener: described.listeners[listener].0,
                for_talker: cuc.unwrap_or(first),
                for_listener: cuc.unwrap_or(last),
                bridges,
                ends: way.first().copied().zip(way.last().copied()),
            }
        };
        (0..described.listeners.len()).map(pair).collect()
    }

    /// A message, by its receiver and the processing time there.
    fn message(&self, from: u32, to: u32, takes: &tautwire_model::network::Delay) -> Message<u32> {
        let octets = Bytes::new(self.settings.message_size.get() + 22);
        Message { from, to, taker: to, work: delay_max(takes, octets), count: 1 }
    }

    fn to_node(&self, from: u32, to: u32) -> Message<u32> {
        let reservation = self.context.network.srp.as_ref().expect("stream reservation");
        self.message(from, to, &reservation.nodes[to as usize].processing)
    }

    fn to_cnc(&self, from: u32) -> Message<u32> {
        self.message(from, self.settings.cnc.0, &self.settings.cnc_processing)
    }

    /// The test is work of the CNC, caused by no other node's message.
    fn test(&self) -> Message<u32> {
        let cnc = self.settings.cnc.0;
        self.message(cnc, cnc, &self.settings.computation)
    }

    fn configure(&self, bridge: u32) -> [Message<u32>; 2] {
        let cnc = self.settings.cnc.0;
        [self.message(cnc, bridge, &self.settings.configuration[bridge as usize]), self.to_cnc(bridge)]
    }

    /// The test of a pair, its configuration, and the notices to its users.
    fn decided(&self, pair: &Pair) -> Vec<Message<u32>> {
        let cnc = self.settings.cnc.0;
        let mut messages = vec![self.test()];
        messages.extend(pair.bridges.iter().flat_map(|bridge| self.configure(*bridge)));
        match self.settings.cuc {
            Some(cuc) => {
                // A refusal and, later, a verdict; the listener receives both, the talker the change.
                messages.push(self.message(cnc, cuc.0, &self.settings.cuc_processing));
                messages.push(self.to_node(cuc.0, pair.listener));
                messages.push(self.to_node(cuc.0, pair.talker));
            }
            None => {
                messages.push(self.to_node(cnc, pair.for_listener));
                messages.push(self.to_node(cnc, pair.for_talker));
            }
        }
        messages
    }

    /// All messages that follow from an offer and a listener's request.
    fn asked(&self, pair: &Pair) -> Vec<Message<u32>> {
        let cnc = self.settings.cnc.0;
        let mut messages = Vec::new();
        match self.settings.cuc {
            Some(cuc) => {
                messages.push(self.message(pair.talker, cuc.0, &self.settings.cuc_processing));
                messages.push(self.to_node(cuc.0, pair.listener));
                messages.push(self.message(pair.listener, cuc.0, &self.settings.cuc_processing));
                messages.extend([self.to_cnc(cuc.0), self.to_cnc(cuc.0)]);
                messages.extend(self.decided(pair));
            }
            None => {
                messages.push(self.to_cnc(pair.for_talker));
                messages.push(self.to_node(cnc, pair.for_listener));
                // A listener that sent its request before it received the offer declares that, withdraws it, and requests again.
                messages.extend([self.to_cnc(pair.for_listener); 3]);
                messages.extend(self.decided(pair));
                messages.extend(self.decided(pair));
                messages.extend(self.given_back(pair));
            }
        }
        messages
    }

    /// All messages that follow from a talker or a listener that releases.
    fn given_back(&self, pair: &Pair) -> Vec<Message<u32>> {
        let cnc = self.settings.cnc.0;
        let mut messages: Vec<Message<u32>> =
            pair.bridges.iter().flat_map(|bridge| self.configure(*bridge)).collect();
        match self.settings.cuc {
            Some(cuc) => {
                let at_cuc = &self.settings.cuc_processing;
                messages.extend([
                    self.message(pair.talker, cuc.0, at_cuc),
                    self.message(pair.listener, cuc.0, at_cuc),
                ]);
                messages.extend([self.to_cnc(cuc.0), self.to_cnc(cuc.0), self.message(cnc, cuc.0, at_cuc)]);
                messages.extend([self.to_node(cuc.0, pair.listener), self.to_node(cuc.0, pair.listener)]);
                messages.push(self.to_node(cuc.0, pair.talker));
            }
            None => {
                messages.extend([self.to_cnc(pair.for_talker), self.to_cnc(pair.for_listener)]);
                messages.extend([self.to_node(cnc, pair.for_listener), self.to_node(cnc, pair.for_talker)]);
            }
        }
        messages
    }

    /// The path of a request: one entity after the other, over one of the bridges that are configured in parallel;
    /// `taken` are those where the reservation is removed first, if a listener had requested the stream before it
    /// received the offer.
    fn legs(&self, pair: &Pair, taken: &[u32], made: &[u32]) -> Vec<Leg> {
        let cnc = self.settings.cnc.0;
        let of = |bridges: &[u32]| -> Vec<Leg> {
            bridges.iter().flat_map(|bridge| self.configure(*bridge)).map(Leg::Message).collect()
        };
        let talker_port = pair.ends.map(|(first, _)| first);
        let listener_port = pair.ends.map(|(_, last)| last);
        let mut legs = Vec::new();
        if let Some(cuc) = self.settings.cuc {
            let at_cuc = &self.settings.cuc_processing;
            let ask = [
                self.message(pair.talker, cuc.0, at_cuc),
                self.to_node(cuc.0, pair.listener),
                self.message(pair.listener, cuc.0, at_cuc),
                self.to_cnc(cuc.0),
                self.test(),
            ];
            legs.extend(ask.map(Leg::Message));
            legs.extend(of(made));
            let answer = [self.message(cnc, cuc.0, at_cuc), self.to_node(cuc.0, pair.talker)];
            legs.extend(answer.map(Leg::Message));
            return legs;
        }
        legs.extend(talker_port.map(Leg::Msrp));
        let offered = [self.to_cnc(pair.for_talker), self.to_node(cnc, pair.for_listener)];
        legs.extend(offered.map(Leg::Message));
        legs.extend(listener_port.map(Leg::Msrp));
        legs.extend(listener_port.map(|port| Leg::Msrp(self.context.far(port))));
        legs.push(Leg::Message(self.to_cnc(pair.for_listener)));
        legs.extend(of(taken));
        legs.push(Leg::Message(self.test()));
        legs.extend(of(made));
        legs.push(Leg::Message(self.to_node(cnc, pair.for_talker)));
        legs.extend(talker_port.map(|port| Leg::Msrp(self.context.far(port))));
        legs
    }
}

/// The first and the last of some instants.
fn span<'t>(instants: impl Iterator<Item = &'t Duration> + Clone) -> (u64, u64) {
    let first = instants.clone().min().copied().unwrap_or_default().as_ps();
    (first, instants.max().copied().unwrap_or_default().as_ps())
}
