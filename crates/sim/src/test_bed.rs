//! A test bed in a run: tasks send, receive and relay messages, and log them.
//!
//! A message is made in octets when it is sent, and read from them when it is received: with the bits that a
//! corrupt task has turned, between the frame's check and the task, as a card's memory might. What the frame
//! check sequence finds on the way is lost before, and never corrupted. A log's times are true times, or those
//! of the station's system clock (`test_bed/clock.rs`). What became of every message is found from the logs
//! (`test_bed/track.rs`). Not here: the message itself (`wire`).

mod clock;
mod track;

use std::collections::{BTreeMap, VecDeque};

use tautwire_core::gptp::DisciplinedClock;
use tautwire_core::tdma::Synchronisation;
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, PortIndex, StreamIndex, TaskKind, Test};
use tautwire_observe::Moments;
use tautwire_units::Duration;
use tautwire_wire::{EtherType, PayloadType, TestMessage, WireError};

use crate::clock::SimTime;
use crate::random::{Purpose, Random};
use crate::recorder::{MissedSlot, Recorder, Transmission};
use crate::result::{DropReason, Observation};
use clock::SystemClock;
pub use track::{
    CaptureObservation, ClockOffsets, LinkObservation, LogEntry, MessageObservation, TestObservation, track,
};

/// A chance of one.
const CERTAIN: u64 = 1_000_000_000_000_000_000;

/// Why a message is lost that fails its CRC.
const CORRUPTED: &str = "corrupted";

/// Wrong bits in the octets of a message: places and masks.
type WrongBits = Vec<(u16, u8)>;

/// What a frame carries.
#[derive(Clone, Debug)]
struct Carried {
    message: TestMessage,
    wrong: WrongBits,
}

/// The recorder of a run with a test: logs, and tells all to another.
pub(crate) struct TestBed<'run, R> {
    network: &'run Network,
    test: &'run Test,
    /// Per stream: identifier of its messages, and where in their way it stands; none if it has none.
    carries: Vec<Option<(u32, usize)>>,
    /// Per task: what its messages hold, and their octets; none of tasks that send none.
    contents: Vec<Option<(PayloadType, usize)>>,
    /// Per stream: what its frames carry, by number, and what those that answer will.
    carried: Vec<BTreeMap<u32, Carried>>,
    to_answer: Vec<VecDeque<Carried>>,
    /// Per task: faults of a corrupt task.
    faults: Vec<Random>,
    /// Per node, the clock of its log.
    clocks: Vec<Option<SystemClock>>,
    octets: Vec<u8>,
    log: Vec<LogEntry>,
    reasons: BTreeMap<TestMessage, &'static str>,
    captures: BTreeMap<(u32, StreamIndex), (u64, Option<u64>, Moments)>,
    recorder: &'run mut R,
}

impl<'run, R: Recorder> TestBed<'run, R> {
    pub(crate) fn new(network: &'run Network, test: &'run Test, seed: u64, recorder: &'run mut R) -> Self {
        let mut carries = vec![None; network.streams.len()];
        for (id, route) in test.messages() {
            for (place, route) in test.way(route).into_iter().enumerate() {
                carries[route.index()] = Some((id, place));
            }
        }
        let count = network.streams.len();
        let contents = test.tasks.iter().map(|task| match task.kind {
            TaskKind::Transmit { route, payload_type } => {
                let payload = network.streams[route.index()].payload_max.get() - Test::HEADERS.get();
                Some((payload_type, usize::try_from(payload).expect("a frame is short")))
            }
            _ => None,
        });
        let contents = contents.collect();
        Self {
            network,
            test,
            carries,
            contents,
            carried: vec![BTreeMap::new(); count],
            to_answer: vec![VecDeque::new(); count],
            faults: (0..test.tasks.len()).map(|task| Random::new(seed, Purpose::TestFault, task)).collect(),
            clocks: (0..network.nodes.len())
                .map(|node| {
                    let discipline = test.clocks.as_ref()?;
                    let any = test.tasks.iter().any(|task| task.station.index() == node);
                    any.then(|| SystemClock::new(discipline, Random::new(seed, Purpose::TestClock, node)))
                })
                .collect(),
            octets: Vec::new(),
            log: Vec::new(),
            reasons: BTreeMap::new(),
            captures: BTreeMap::new(),
            recorder,
        }
    }

    /// Puts what the test observed to the rest.
    pub(crate) fn finish(self, observation: &mut Observation) {
        let talker = |stream: StreamIndex| self.network.streams[stream.index()].talker;
        let messages = track(self.test, talker, &self.log, &self.reasons);
        let captures = self
            .captures
            .into_iter()
            .map(|((task, stream), (frames, _, period))| CaptureObservation { task, stream, frames, period });
        let clocks = self.clocks.into_iter().enumerate().filter_map(|(node, clock)| {
            Some(ClockOffsets { station: NodeIndex::at(node), offset: clock?.offsets })
        });
        let (captures, clocks) = (captures.collect(), clocks.collect());
        observation.test = Some(Box::new(TestObservation { messages, captures, clocks }));
    }

    /// What a frame carries; none if its stream has no messages.
    fn carried(&self, stream: u32, number: u32) -> Option<&Carried> {
        self.carried[stream as usize].get(&number)
    }

    /// A line of a station's log: the octets as they are there, read.
    fn enter(&mut self, time: SimTime, station: NodeIndex, stream: u32, sent: bool, carried: &Carried) {
        let route = StreamIndex(stream);
        let header = self.read(carried);
        let time = match &mut self.clocks[station.index()] {
            Some(clock) => clock.reading(time),
            None => time.since_start(),
        };
        self.log.push(LogEntry { time, station, route, sent, header });
    }

    /// Reads a message as its receiver does: all octets, with what went wrong in them.
    fn read(&mut self, carried: &Carried) -> Result<TestMessage, WireError> {
        self.write(carried);
        TestMessage::parse(&self.octets).map(|(message, _)| message)
    }

    /// Makes the octets of a message, with what went wrong in them.
    fn write(&mut self, carried: &Carried) {
        let (kind, length) =
            self.contents[carried.message.id as usize].expect("the number of a transmit task");
        self.octets.clear();
        carried.message.emit(kind, length, &mut self.octets);
        for (place, mask) in &carried.wrong {
            self.octets[usize::from(*place)] ^= mask;
        }
    }

    /// What a station's corrupt tasks make of a message.
    fn corrupt(&mut self, station: NodeIndex, stream: u32, carried: &mut Carried) {
        let (_, length) = self.contents[carried.message.id as usize].expect("the number of a transmit task");
        for (task, random) in self.test.tasks.iter().zip(&mut self.faults) {
            let TaskKind::Corrupt { route, chance } = task.kind else { continue };
            if (task.station, route) == (station, StreamIndex(stream)) && random.up_to(CERTAIN - 1) < chance {
                let bit = random.up_to(8 * length as u64 - 1);
                let place = u16::try_from(bit / 8).expect("a frame is short");
                carried.wrong.push((place, 1 << (bit % 8)));
            }
        }
    }

    /// A task has received a frame.
    fn receive(&mut self, time: SimTime, stream: u32, listener: u32, number: u32) {
        let station = self.network.streams[stream as usize].listeners[listener as usize];
        let Some(mut carried) = self.carried(stream, number).cloned() else { return };
        self.corrupt(station, stream, &mut carried);
        self.enter(time, station, stream, false, &carried);
        if !carried.wrong.is_empty() {
            self.reasons.insert(carried.message, CORRUPTED);
        }
        for task in &self.test.tasks {
            if let TaskKind::Relay { route, by } = task.kind
                && (route, task.station) == (StreamIndex(stream), station)
            {
                self.to_answer[by.index()].push_back(carried.clone());
            }
        }
    }

    fn lose(&mut self, stream: u32, number: u32, reason: DropReason) {
        if let Some(carried) = self.carried(stream, number) {
            self.reasons.insert(carried.message, reason.name());
        }
    }

    fn receives_behind_port(&self, stream: u32, listener: u32) -> bool {
        self.network.receives_behind_port(self.network.streams[stream as usize].listeners[listener as usize])
    }

    /// What the taps see of a transmission.
    fn capture(&mut self, sent: &Transmission) {
        let egress = PortIndex(sent.port);
        let link = self.network.ports[egress.index()].links.map(|links| links.egress);
        let ingress = link.map(|link| self.network.links[link.index()].to);
        for (task, number) in self.test.tasks.iter().zip(0_u32..) {
            let TaskKind::Capture { port, quantum } = task.kind else { continue };
            let at = match () {
                () if port == egress => sent.start,
                () if Some(port) == ingress => sent.received,
                () => continue,
            };
            let stamp = at.as_ps() - at.as_ps() % quantum.as_ps().max(1);
            let (frames, last, period) = self.captures.entry((number, StreamIndex(sent.stream))).or_default();
            *frames += 1;
            if let Some(last) = last.replace(stamp) {
                period.add(Duration::from_ps(stamp.saturating_sub(last)));
            }
        }
    }
}

impl<R: Recorder> Recorder for TestBed<'_, R> {
    const DRIVES_MACHINES: bool = R::DRIVES_MACHINES;

    fn created(&mut self, time: SimTime, stream: u32, number: u32, octets: u32) {
        if let Some((id, place)) = self.carries[stream as usize] {
            let carried = match place {
                0 => Some(Carried { message: TestMessage { id, sequence: number }, wrong: WrongBits::new() }),
                _ => self.to_answer[stream as usize].pop_front(),
            };
            if let Some(mut carried) = carried {
                let talker = self.network.streams[stream as usize].talker;
                self.enter(time, talker, stream, true, &carried);
                self.corrupt(talker, stream, &mut carried);
                self.carried[stream as usize].insert(number, carried);
            }
        }
        self.recorder.created(time, stream, number, octets);
    }

    fn disciplined(&mut self, node: u32, clock: DisciplinedClock) {
        self.recorder.disciplined(node, clock);
    }

    fn synchronised(&mut self, stream: u32, number: u32, says: Synchronisation) {
        self.recorder.synchronised(stream, number, says);
    }

    fn slot_missed(&mut self, missed: &MissedSlot) {
        self.recorder.slot_missed(missed);
    }

    fn contents(&mut self, stream: u32, number: u32, ether_type: EtherType, octets: &[u8]) {
        self.recorder.contents(stream, number, ether_type, octets);
    }

    fn reassembled(&mut self, time: SimTime, stream: u32, listener: u32, datagram: u32, delay: Duration) {
        self.recorder.reassembled(time, stream, listener, datagram, delay);
    }

    fn transmitted(&mut self, sent: &Transmission) {
        self.capture(sent);
        if self.recorder.takes_messages()
            && let Some(carried) = self.carried(sent.stream, sent.number).cloned()
        {
            self.write(&carried);
            self.recorder.message(sent.stream, sent.number, &self.octets);
        }
        self.recorder.transmitted(sent);
    }

    fn delivered(&mut self, time: SimTime, stream: u32, listener: u32, number: u32, delay: Duration) {
        if !self.receives_behind_port(stream, listener) {
            self.receive(time, stream, listener, number);
        }
        self.recorder.delivered(time, stream, listener, number, delay);
    }

    fn handed_over(&mut self, time: SimTime, stream: u32, listener: u32, number: u32, delay: Duration) {
        self.receive(time, stream, listener, number);
        self.recorder.handed_over(time, stream, listener, number, delay);
    }

    fn lost_in_host(&mut self, time: SimTime, stream: u32, listener: u32, number: u32, reason: DropReason) {
        self.lose(stream, number, reason);
        self.recorder.lost_in_host(time, stream, listener, number, reason);
    }

    fn dropped(&mut self, time: SimTime, stream: u32, number: u32, hop: u32, reason: DropReason) {
        self.lose(stream, number, reason);
        self.recorder.dropped(time, stream, number, hop, reason);
    }
}
