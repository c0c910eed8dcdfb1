//! Time stamps of the stations: a recorder between the run and the caller's recorder.
//!
//! A talker's stamp is made when its frame's first transmission is decided, a listener's when the frame is delivered;
//! both by the station's own clock, later by a drawn jitter, rounded down to the station's quantum. Invariants: a run
//! with stamps observes everything else as without, because the stamps have no effect on the engine; the draws of a
//! stream's stamps are its own, so they do not depend on the order of events of other streams. A network in which no
//! station stamps has none of this: the recorder is chosen once per run.

use std::any::Any;
use std::collections::VecDeque;

use tautwire_core::gptp::DisciplinedClock;
use tautwire_model::Network;
use tautwire_model::network::{Delay, NodeIndex, NodeKind, PortIndex, StampPoint, TimeStamp};
use tautwire_units::Duration;

use crate::clock::{LocalClock, SimTime};
use crate::node::clocks;
use crate::random::{Purpose, Random};
use crate::recorder::{Contents, Recorder, SentPart, Transmission, Watching, Wrap};
use crate::result::{DropReason, Observation, StampedObservation};

/// Most frames of a stream that are kept in mind because they are on their way, or were lost.
const PENDING_MAX: usize = 1 << 16;

/// Octets of preamble and start delimiter (IEEE Std 802.3, 4.4.2).
const PREAMBLE: u64 = 8;
/// Octets of preamble, start delimiter and gap, which a transmission's span has in it.
const OVERHEAD: u64 = 20;

/// A station that stamps, as one stream uses it.
struct Station {
    clock: LocalClock,
    /// The clock as gPTP corrects it, since its first correction.
    disciplined: Option<DisciplinedClock>,
    stamp: TimeStamp,
    /// From the last bit received to the application.
    receive: Delay,
    random: Random,
}

impl Station {
    fn new(network: &Network, clocks: &[LocalClock], node: NodeIndex, random: Random) -> Option<Self> {
        let NodeKind::EndStation { host } = &network.nodes[node.index()].kind else { return None };
        let host = &network.hosts[host.index()];
        let stamp = host.time_stamp?;
        let clock = clocks[node.index()];
        Some(Self { clock, disciplined: None, stamp, receive: host.receive, random })
    }

    /// The station's stamp of the true time `at`, in picoseconds of its clock.
    fn stamp(&mut self, at: SimTime, octets: u64) -> i64 {
        let jitter = self.random.delay(&self.stamp.jitter, octets);
        let local = self.clock.local(at);
        let reading = self.disciplined.map(|clock| u64::try_from(clock.reading(local)).unwrap_or(0));
        let read = reading.unwrap_or(local.as_ps()) + jitter.as_ps();
        let step = self.stamp.quantum.as_ps().max(1);
        i64::try_from(read - read % step).expect("a run of less than 106 days")
    }
}

/// Stamps of a stream at its talker.
struct Sender {
    station: Option<Station>,
    node: NodeIndex,
    /// Created, by number; kept for the software's stamps until the frame is sent.
    created: VecDeque<(u32, SimTime)>,
    /// Stamps by number, of frames that some listener may still receive.
    stamps: VecDeque<(u32, i64)>,
}

/// Stamps of a stream at a listener.
struct Receiver {
    station: Station,
    node: NodeIndex,
    /// Number, octets and start of frame of what is on the last link.
    coming: VecDeque<(u32, u32, SimTime)>,
    /// Number behind the last one received.
    next: u32,
    last: Option<i64>,
    observed: StampedObservation,
}

/// Stamps are made in runs of networks in which a station makes some.
pub(crate) const WRAP: Wrap = Wrap {
    is_wanted: are_wanted,
    around: |network, seed, recorder| Box::new(Stamping::new(network, seed, recorder)),
};

/// The stamps of a run, and the caller's recorder.
struct Stamping<'run> {
    network: &'run Network,
    warm_up: SimTime,
    senders: Vec<Sender>,
    receivers: Vec<Vec<Option<Receiver>>>,
    recorder: &'run mut dyn Recorder,
}

impl<'run> Stamping<'run> {
    /// Before the run.
    fn new(network: &'run Network, seed: u64, recorder: &'run mut dyn Recorder) -> Self {
        let clocks = clocks(network, seed);
        let (mut senders, mut receivers, mut listener) = (Vec::new(), Vec::new(), 0);
        for (number, stream) in network.streams.iter().enumerate() {
            let random = Random::new(seed, Purpose::TalkerStamp, number);
            senders.push(Sender {
                station: Station::new(network, &clocks, stream.talker, random),
                node: stream.talker,
                created: VecDeque::new(),
                stamps: VecDeque::new(),
            });
            let of_stream = stream.listeners.iter().map(|node| {
                let random = Random::new(seed, Purpose::ListenerStamp, listener);
                listener += 1;
                Some(Receiver {
                    station: Station::new(network, &clocks, *node, random)?,
                    node: *node,
                    coming: VecDeque::new(),
                    next: 0,
                    last: None,
                    observed: StampedObservation::default(),
                })
            });
            receivers.push(of_stream.collect());
        }
        Self { network, warm_up: SimTime::ZERO + network.run.warm_up, senders, receivers, recorder }
    }
}

impl Watching for Stamping<'_> {
    fn finish(self: Box<Self>, observation: &mut Observation) {
        for (stream, receivers) in observation.streams.iter_mut().zip(self.receivers) {
            for (listener, receiver) in stream.listeners.iter_mut().zip(receivers) {
                listener.stamped = receiver.map(|receiver| Box::new(receiver.observed));
            }
        }
    }
}

/// Whether any listener of a network stamps.
fn are_wanted(network: &Network) -> bool {
    let stamps = |node: &NodeIndex| match &network.nodes[node.index()].kind {
        NodeKind::EndStation { host } => network.hosts[host.index()].time_stamp.is_some(),
        NodeKind::Bridge { .. } => false,
    };
    network.hosts.iter().any(|host| host.time_stamp.is_some())
        && network.streams.iter().any(|stream| stream.listeners.iter().any(stamps))
}

impl Sender {
    /// The first transmission of a frame is decided.
    fn sent(&mut self, sent: &Transmission) {
        let Some(station) = &mut self.station else { return };
        if self.stamps.back().is_some_and(|(number, _)| *number >= sent.number) {
            // Another copy, by another port of the talker: the first is stamped.
            return;
        }
        let at = match station.stamp.point {
            StampPoint::StartOfFrame => sent.start + share(sent, PREAMBLE),
            StampPoint::EndOfFrame => sent.start + share(sent, PREAMBLE + u64::from(sent.octets)),
            StampPoint::Software => {
                while self.created.front().is_some_and(|(number, _)| *number < sent.number) {
                    self.created.pop_front();
                }
                self.created.pop_front().map_or(sent.queued, |(_, created)| created)
            }
        };
        let stamp = station.stamp(at, u64::from(sent.octets));
        keep(&mut self.stamps, (sent.number, stamp));
    }

    /// The stamp of a frame; `done` is the number below which all listeners have what they will get.
    fn stamp_of(&mut self, number: u32, done: u32) -> Option<i64> {
        let at = self.stamps.binary_search_by_key(&number, |(number, _)| *number).ok();
        let stamp = at.map(|at| self.stamps[at].1);
        while self.stamps.front().is_some_and(|(number, _)| *number < done) {
            self.stamps.pop_front();
        }
        stamp
    }
}

impl Receiver {
    /// The frame's stamp at this listener; none for one that a later one of its stream has overtaken.
    fn received(&mut self, number: u32, time: SimTime) -> Option<i64> {
        while self.coming.front().is_some_and(|(coming, ..)| *coming < number) {
            self.coming.pop_front();
        }
        let (_, octets, start) = self.coming.pop_front_if(|(coming, ..)| *coming == number)?;
        let octets = u64::from(octets);
        let at = match self.station.stamp.point {
            StampPoint::StartOfFrame => start,
            StampPoint::EndOfFrame => time,
            StampPoint::Software => time + self.station.random.delay(&self.station.receive, octets),
        };
        self.next = number + 1;
        Some(self.station.stamp(at, octets))
    }
}

/// Appends to what waits, and gives up the oldest where too much waits: frames that were lost.
fn keep<T>(waiting: &mut VecDeque<T>, item: T) {
    if waiting.len() == PENDING_MAX {
        waiting.pop_front();
    }
    waiting.push_back(item);
}

/// The share of a transmission's span that `octets` take: the span has frame, preamble and gap in it.
fn share(sent: &Transmission, octets: u64) -> Duration {
    let span = u128::from(sent.end.since(sent.start).as_ps());
    let ps = span * u128::from(octets) / u128::from(u64::from(sent.octets) + OVERHEAD);
    Duration::from_ps(u64::try_from(ps).expect("a part of a span"))
}

impl Recorder for Stamping<'_> {
    fn created(&mut self, time: SimTime, stream: u32, number: u32, octets: u32) {
        let sender = &mut self.senders[stream as usize];
        if sender.station.as_ref().is_some_and(|station| station.stamp.point == StampPoint::Software) {
            keep(&mut sender.created, (number, time));
        }
        self.recorder.created(time, stream, number, octets);
    }

    fn noted(&mut self, stream: u32, number: u32, note: &dyn Any) {
        self.recorder.noted(stream, number, note);
    }

    fn contents(&mut self, stream: u32, number: u32, contents: Contents<'_>) {
        self.recorder.contents(stream, number, contents);
    }

    fn disciplined(&mut self, node: u32, clock: DisciplinedClock) {
        let node_index = NodeIndex(node);
        for sender in self.senders.iter_mut().filter(|sender| sender.node == node_index) {
            if let Some(station) = &mut sender.station {
                station.disciplined = Some(clock);
            }
        }
        for receiver in self.receivers.iter_mut().flatten().flatten() {
            if receiver.node == node_index {
                receiver.station.disciplined = Some(clock);
            }
        }
        self.recorder.disciplined(node, clock);
    }

    fn part_sent(&mut self, part: &SentPart) {
        self.recorder.part_sent(part);
    }

    fn transmitted(&mut self, sent: &Transmission) {
        let port = &self.network.ports[PortIndex(sent.port).index()];
        let sender = &mut self.senders[sent.stream as usize];
        if port.node == sender.node {
            sender.sent(sent);
        }
        let end = port.links.map(|links| self.network.links[links.egress.index()].to);
        if let Some(to) = end.map(|to| self.network.ports[to.index()].node) {
            for receiver in self.receivers[sent.stream as usize].iter_mut().flatten() {
                if receiver.node == to {
                    let length = share(sent, u64::from(sent.octets)).as_ps();
                    let start = SimTime::from_ps(sent.received.as_ps() - length);
                    keep(&mut receiver.coming, (sent.number, sent.octets, start));
                }
            }
        }
        self.recorder.transmitted(sent);
    }

    fn delivered(&mut self, time: SimTime, stream: u32, listener: u32, number: u32, delay: Duration) {
        let created = SimTime::from_ps(time.as_ps() - delay.as_ps());
        let receivers = &mut self.receivers[stream as usize];
        let stamp = receivers[listener as usize].as_mut().and_then(|one| one.received(number, time));
        let done = receivers.iter().flatten().map(|receiver| receiver.next).min().unwrap_or(0);
        if let (Some(stamp), Some(receiver)) = (stamp, &mut receivers[listener as usize]) {
            let sent = self.senders[stream as usize].stamp_of(number, done);
            if created >= self.warm_up {
                if let Some(sent) = sent {
                    receiver.observed.latency.add(stamp - sent);
                }
                if let Some(last) = receiver.last.replace(stamp) {
                    receiver.observed.interval.add(stamp - last);
                }
            }
        }
        self.recorder.delivered(time, stream, listener, number, delay);
    }

    fn handed_over(&mut self, time: SimTime, stream: u32, listener: u32, number: u32, delay: Duration) {
        self.recorder.handed_over(time, stream, listener, number, delay);
    }

    fn lost_in_host(&mut self, time: SimTime, stream: u32, listener: u32, number: u32, reason: DropReason) {
        self.recorder.lost_in_host(time, stream, listener, number, reason);
    }

    fn dropped(&mut self, time: SimTime, stream: u32, number: u32, hop: u32, reason: DropReason) {
        self.recorder.dropped(time, stream, number, hop, reason);
    }

    fn reassembled(&mut self, time: SimTime, stream: u32, listener: u32, datagram: u32, delay: Duration) {
        self.recorder.reassembled(time, stream, listener, datagram, delay);
    }

    fn answering(&mut self, stream: u32, request: u32, is_sent: bool) {
        self.recorder.answering(stream, request, is_sent);
    }

    fn in_flight(&mut self, stream: u32, number: u32) {
        self.recorder.in_flight(stream, number);
    }
}
