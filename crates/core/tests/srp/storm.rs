//! A storm: a thousand streams of fifty talkers over ten bridges in a line, with one MRPDU in a hundred lost, through
//! three periods of leave-all. Every reservation is made, and none lapses.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use tautwire_core::srp::mrp::MrpTiming;
use tautwire_core::srp::station::Offer;
use tautwire_core::srp::{
    AddressTable, BridgeConfig, PortConfig, SrClass, SrpBridge, SrpStation, VlanLimits,
};
use tautwire_units::{BitRate, Duration, Instant};
use tautwire_wire::MacAddress;
use tautwire_wire::srp::{ListenerDeclaration, MrpPdu, MsrpValue, Rank, StreamId, TalkerValue};

use crate::network::at;

const FRAME_DELAY: Duration = Duration::from_us(20);

enum Machine {
    Bridge(Box<SrpBridge>),
    Station(Box<SrpStation>),
}

struct Node {
    machine: Machine,
    /// Per port: the node and port at the other end.
    peers: Vec<(usize, usize)>,
    deadline: Instant,
}

/// What to build.
#[derive(Clone, Copy)]
struct Storm {
    bridges: usize,
    stations: usize,
    streams_each: u16,
    /// Distance of a talker's identifiers: with one, they share vectors.
    stride: u16,
    /// Lost out of a thousand, and which ones: not zero.
    loss: u64,
    seed: u64,
}

struct Run {
    storm: Storm,
    nodes: Vec<Node>,
    agenda: BTreeSet<(Instant, usize)>,
    flying: BinaryHeap<Reverse<(Instant, u64, usize, usize)>>,
    pdus: Vec<Option<MrpPdu<MsrpValue>>>,
    random: u64,
    sent: u64,
    lost: u64,
}

fn talker(station: usize, number: u16, stride: u16) -> TalkerValue {
    let station = u8::try_from(station).expect("few stations");
    let unique = number * stride;
    let [high, low] = unique.to_be_bytes();
    TalkerValue {
        stream: StreamId { source: MacAddress([2, 0, 0, 0, 1, station]), unique },
        destination: MacAddress([0x91, 0xe0, 0xf0, station, high, low]),
        vlan: 2,
        frame_size_max: 46,
        interval_frames_max: 1,
        priority: 3,
        rank: Rank::NonEmergency,
        accumulated_latency_ns: 0,
    }
}

impl Run {
    fn new(storm: Storm) -> Self {
        let each = storm.stations / storm.bridges;
        let mut nodes = Vec::new();
        for number in 0..storm.bridges {
            let mut peers: Vec<(usize, usize)> =
                (0..each).map(|own| (storm.bridges + number * each + own, 0)).collect();
            // To the bridges before and behind: ports `each` and `each + 1`, or the only one of them.
            if number > 0 {
                let port = if number == 1 { each } else { each + 1 };
                peers.push((number - 1, port));
            }
            if number + 1 < storm.bridges {
                peers.push((number + 1, each));
            }
            let port = PortConfig {
                rate: BitRate::from_gbps(10),
                frame_size_max: 1_500,
                device: Duration::from_us(5),
            };
            let config = BridgeConfig {
                id: number as u64,
                classes: vec![SrClass::a(), SrClass::b()],
                ports: vec![port; peers.len()],
                timing: MrpTiming::default(),
                streams_max: 65_535,
                reservations_max: 65_535,
                fan_in_max: 65_535,
                vlans: VlanLimits::default(),
                addresses: AddressTable::default(),
            };
            let bridge = SrpBridge::new(config, 1_000 + number as u64, Instant::ZERO);
            nodes.push(Node { machine: Machine::Bridge(Box::new(bridge)), peers, deadline: Instant::ZERO });
        }
        for number in 0..storm.stations {
            let classes = [SrClass::a(), SrClass::b()];
            let mut station =
                SrpStation::new(MrpTiming::default(), 77 + number as u64, &classes, Instant::ZERO);
            let listens_to = (number + storm.stations / 2) % storm.stations;
            for stream in 0..storm.streams_each {
                station.advertise(Instant::ZERO, talker(number, stream, storm.stride));
                station.attach(Instant::ZERO, talker(listens_to, stream, storm.stride).stream, u32::MAX);
            }
            let peers = vec![(number / each, number % each)];
            nodes.push(Node { machine: Machine::Station(Box::new(station)), peers, deadline: Instant::ZERO });
        }
        let agenda = (0..nodes.len()).map(|node| (Instant::ZERO, node)).collect();
        let (flying, pdus) = (BinaryHeap::new(), Vec::new());
        Self { storm, nodes, agenda, flying, pdus, random: storm.seed, sent: 0, lost: 0 }
    }

    /// Goes on to `until`; gives the nodes at which registrations changed to `changed`.
    fn run(&mut self, until: Instant, mut changed: impl FnMut(&mut Self, Instant, usize)) {
        loop {
            let timer = self.agenda.first().map_or(Instant::MAX, |(at, _)| *at);
            let arrival = self.flying.peek().map_or(Instant::MAX, |Reverse((at, ..))| *at);
            if timer.min(arrival) > until {
                return;
            }
            let (now, node, any);
            if arrival <= timer {
                let Reverse((at, place, to, port)) = self.flying.pop().expect("it was seen");
                let pdu = self.pdus[usize::try_from(place).expect("few")].take().expect("it flies once");
                (now, node) = (at, to);
                any = match &mut self.nodes[to].machine {
                    Machine::Bridge(bridge) => bridge.receive(now, port, &pdu),
                    Machine::Station(station) => station.receive(now, &pdu),
                };
            } else {
                (now, node) = *self.agenda.first().expect("it was seen");
                any = match &mut self.nodes[node].machine {
                    Machine::Bridge(bridge) => bridge.advance(now),
                    Machine::Station(station) => station.advance(now),
                };
            }
            if any {
                changed(self, now, node);
            }
            self.transmit(now, node);
        }
    }

    fn transmit(&mut self, now: Instant, number: usize) {
        for port in 0..self.nodes[number].peers.len() {
            loop {
                let node = &mut self.nodes[number];
                let pdu = match &mut node.machine {
                    Machine::Bridge(bridge) => bridge.poll_transmit(now, port),
                    Machine::Station(station) => station.poll_transmit(now),
                };
                let Some(pdu) = pdu else { break };
                let (to, to_port) = node.peers[port];
                self.sent += 1;
                self.random ^= self.random << 13;
                self.random ^= self.random >> 7;
                self.random ^= self.random << 17;
                if self.random % 1_000 < self.storm.loss {
                    self.lost += 1;
                    continue;
                }
                let place = self.pdus.len() as u64;
                self.pdus.push(Some(pdu));
                self.flying.push(Reverse((now + FRAME_DELAY, place, to, to_port)));
            }
        }
        let node = &mut self.nodes[number];
        let deadline = match &node.machine {
            Machine::Bridge(bridge) => bridge.deadline(),
            Machine::Station(station) => station.deadline(),
        };
        let before = std::mem::replace(&mut node.deadline, deadline);
        self.agenda.remove(&(before, number));
        self.agenda.insert((deadline, number));
    }

    /// Streams of a station whose listener is ready.
    fn ready(&self, station: usize) -> usize {
        let Machine::Station(machine) = &self.nodes[self.storm.bridges + station].machine else { return 0 };
        let ready = |stream: &u16| {
            let id = talker(station, *stream, self.storm.stride).stream;
            machine.listeners(id) == Some(ListenerDeclaration::Ready)
        };
        (0..self.storm.streams_each).filter(ready).count()
    }

    fn all_ready(&self) -> usize {
        (0..self.storm.stations).map(|station| self.ready(station)).sum()
    }

    /// Streams that a station listens to and has no advertisement of.
    fn not_offered(&self, station: usize) -> usize {
        let Machine::Station(machine) = &self.nodes[self.storm.bridges + station].machine else { return 0 };
        let listens_to = (station + self.storm.stations / 2) % self.storm.stations;
        let offered = |stream: &u16| {
            let id = talker(listens_to, *stream, self.storm.stride).stream;
            matches!(machine.offer(id), Offer::Advertised(_))
        };
        usize::from(self.storm.streams_each) - (0..self.storm.streams_each).filter(offered).count()
    }

    /// Runs to `until` and counts how often a station finds one of its streams not ready, or one that it listens to not advertised.
    fn lapses(&mut self, until: Instant) -> usize {
        let mut lapses = 0;
        self.run(until, |run, _, node| {
            if node >= run.storm.bridges {
                let station = node - run.storm.bridges;
                lapses += usize::from(run.storm.streams_each) - run.ready(station) + run.not_offered(station);
            }
        });
        lapses
    }
}

#[test]
fn a_thousand_reservations_are_made_and_survive_three_leave_alls() {
    for seed in [0x1234_5678_9abc_def1, 2, 3] {
        let mut run =
            Run::new(Storm { bridges: 10, stations: 50, streams_each: 20, stride: 1, loss: 10, seed });
        run.run(at(9_000), |_, _, _| {});
        assert_eq!(run.all_ready(), 1_000, "before the first leave-all");
        // A leave-all timer runs for at most fifteen seconds.
        let lapses = run.lapses(at(9_000 + 3 * 15_000));
        assert_eq!((lapses, run.all_ready()), (0, 1_000), "{} MRPDUs, {} lost", run.sent, run.lost);
        assert!(run.lost > 20 && run.lost * 1_000 < run.sent * 20, "{} of {} lost", run.lost, run.sent);
    }
}

/// Lapses of the streams of one talker at one bridge over a leave-all period, without losses.
fn lapses_of(streams_each: u16, stride: u16) -> usize {
    let mut run = Run::new(Storm { bridges: 1, stations: 2, streams_each, stride, loss: 0, seed: 1 });
    run.run(at(9_000), |_, _, _| {});
    let registered = |run: &Run| {
        let Machine::Bridge(bridge) = &run.nodes[0].machine else { return 0 };
        let talkers = bridge.port(0).registered();
        talkers.filter(|(value, _)| matches!(value, MsrpValue::TalkerAdvertise(_))).count()
    };
    assert_eq!(registered(&run), usize::from(streams_each), "all come to stand before the first leave-all");
    let mut lapses = 0;
    run.run(at(9_000 + 15_000), |run, _, node| {
        if node == 0 {
            lapses += usize::from(streams_each) - registered(run);
        }
    });
    lapses
}

/// Nine MRPDUs are certain in a LeaveTime of 1 s, and twelve possible: 53 talkers of 28 octets each.
#[test]
fn what_shares_no_vector_fills_mrpdus_to_the_derived_limit() {
    assert_eq!(lapses_of(300, 2), 0, "talkers and listeners in nine MRPDUs");
    assert!(lapses_of(700, 2) > 0, "more than twelve MRPDUs hold");
    assert_eq!(lapses_of(700, 1), 0, "those that share vectors are no burden");
}
