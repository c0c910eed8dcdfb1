//! gPTP over clocks that run wrong: delays and times come out right, faults are noticed, masters are chosen and replaced.

use std::path::Path;

use pcap_file::pcapng::{Block, PcapNgReader};
use tautwire_core::gptp::peer_delay::{answer, answer_follow_up, reading_ps, time_fields};
use tautwire_core::gptp::{BestMaster, PeerDelay, PeerDelayConfig, PortRole, SyncReceived, SystemIdentity};
use tautwire_units::{Duration, Instant};
use tautwire_wire::gptp::{
    ClockIdentity, ClockQuality, FollowUpInformation, PTP_ETHER_TYPE, PortIdentity, PtpBody, PtpHeader,
    PtpMessage, PtpTimestamp, PtpTlv, flags,
};
use tautwire_wire::{EthernetHeader, MacAddress};

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_ms(ms)
}

fn clock(number: u8) -> ClockIdentity {
    ClockIdentity::of(MacAddress([2, 0, 0, 0, 0, number]))
}

fn port(number: u8, port: u16) -> PortIdentity {
    PortIdentity { clock: clock(number), port }
}

fn config(port: PortIdentity) -> PeerDelayConfig {
    let delay_max = Duration::from_us(10);
    PeerDelayConfig { port, domain: 0, log_interval: 0, delay_max, lost_max: 3, asymmetry: 0 }
}

/// A clock that runs fast by parts in 10⁶, began at a time of its own, and stamps in steps.
#[derive(Clone, Copy)]
struct Clock {
    ppm: i64,
    phase: u64,
    quantum: u64,
}

impl Clock {
    /// Its reading at a true time in picoseconds.
    fn read(self, ps: u64) -> Instant {
        let drift = i128::from(ps) * i128::from(self.ppm) / 1_000_000;
        let exact = u64::try_from(i128::from(ps + self.phase) + drift).expect("not before it began");
        Instant::from_ps(exact / self.quantum * self.quantum)
    }
}

/// The ways of a link, in picoseconds: from the neighbour to here, and back.
#[derive(Clone, Copy)]
struct Link {
    to_here: u64,
    to_neighbor: u64,
}

const SECOND: u64 = 1_000_000_000_000;
const TURNAROUND: u64 = 3_000_000_000;

/// Ten exchanges of peer delay, one a second.
fn measure(here: Clock, neighbor: Clock, link: Link, asymmetry: i64) -> PeerDelay {
    let (own, other) = (config(port(1, 1)), config(port(2, 1)));
    let mut delay = PeerDelay::new(PeerDelayConfig { asymmetry, ..own }, here.read(0));
    for second in 1..=10 {
        let sent = second * (SECOND + SECOND / 1_000);
        let request = delay.poll(here.read(sent)).expect("due");
        delay.sent(here.read(sent));
        let came = sent + link.to_neighbor;
        let left = came + TURNAROUND;
        delay.receive(&answer(&other, &request, neighbor.read(came)), here.read(left + link.to_here));
        delay.receive(
            &answer_follow_up(&other, &request, neighbor.read(left)),
            here.read(left + link.to_here + 1),
        );
    }
    delay
}

fn header(source: PortIdentity, sequence: u16, flags: u16, correction: i64) -> PtpHeader {
    PtpHeader {
        major_sdo: 1,
        minor_version: 1,
        domain: 0,
        minor_sdo: 0,
        flags,
        correction,
        specific: 0,
        source,
        sequence,
        control: 0,
        log_interval: -3,
    }
}

fn sync(source: PortIdentity) -> PtpMessage {
    let body = PtpBody::Sync(PtpTimestamp::default());
    PtpMessage { header: header(source, 5, flags::TWO_STEP, 0), body, tlvs: vec![] }
}

fn follow_up(
    source: PortIdentity,
    origin: PtpTimestamp,
    correction: i64,
    information: FollowUpInformation,
) -> PtpMessage {
    let tlvs = vec![PtpTlv::FollowUpInformation(information)];
    PtpMessage { header: header(source, 5, 0, correction), body: PtpBody::FollowUp(origin), tlvs }
}

/// How far a station's idea of the grandmaster's time is off behind a bridge, in picoseconds.
fn error_behind_a_bridge(quantum: u64, links: [Link; 2], asymmetries: [i64; 2]) -> i128 {
    let grandmaster = Clock { ppm: 30, phase: 7 * SECOND, quantum };
    let bridge = Clock { ppm: -60, phase: 3 * SECOND, quantum };
    let station = Clock { ppm: 100, phase: 0, quantum };
    let up = measure(bridge, grandmaster, links[0], asymmetries[0]);
    let down = measure(station, bridge, links[1], asymmetries[1]);
    let sent = 12 * SECOND + 123_456_789;
    let (origin, correction) = time_fields(reading_ps(grandmaster.read(sent)));
    let came = sent + links[0].to_here;
    let first = follow_up(port(9, 1), origin, correction, FollowUpInformation::default());
    let received = SyncReceived::new(&sync(port(9, 1)), &first, bridge.read(came), &up, 0).expect("usable");
    // It stays for ten milliseconds: at 60 ppm without the rates that would be 900 ns.
    let left = came + 10_000_000_000;
    let (origin, correction, information) = received.relayed(bridge.read(left)).expect("room");
    let came = left + links[1].to_here;
    let second = follow_up(port(8, 2), origin, correction, information);
    let received =
        SyncReceived::new(&sync(port(8, 2)), &second, station.read(came), &down, 0).expect("usable");
    assert!((received.grandmaster_rate().as_ppb() - -69_993).abs() < 20, "30 ppm against 100 ppm");
    let now = came + 50_000_000_000;
    let exact = Clock { quantum: 1, ..grandmaster };
    received.grandmaster_time(station.read(now)) - reading_ps(exact.read(now))
}

const EVEN: [Link; 2] =
    [Link { to_here: 500_000, to_neighbor: 500_000 }, Link { to_here: 1_200_000, to_neighbor: 1_200_000 }];

#[test]
fn time_comes_over_a_bridge_though_all_clocks_run_wrong() {
    let exact = error_behind_a_bridge(1, EVEN, [0, 0]);
    assert!(exact.abs() < 1_000, "{exact} ps");
    let coarse = error_behind_a_bridge(8_000, EVEN, [0, 0]);
    assert!(coarse.abs() < 40_000, "{coarse} ps with stamps in steps of 8 ns");
    assert!(coarse.abs() > exact.abs(), "steps cost something");
}

#[test]
fn asymmetry_is_an_error_unless_it_is_configured() {
    let uneven = [Link { to_here: 600_000, to_neighbor: 400_000 }, EVEN[1]];
    let off = error_behind_a_bridge(1, uneven, [0, 0]);
    assert!((off + 100_000).abs() < 1_000, "half the difference of the ways: {off} ps");
    let configured = error_behind_a_bridge(1, uneven, [100_000, 0]);
    assert!(configured.abs() < 1_000, "{configured} ps");
}

#[test]
fn a_delay_is_measured_by_clocks_that_run_wrong() {
    let (here, neighbor) =
        (Clock { ppm: 100, phase: 0, quantum: 1 }, Clock { ppm: -100, phase: SECOND, quantum: 1 });
    let delay = measure(here, neighbor, EVEN[0], 0);
    let measured = delay.delay().expect("measured").as_ps();
    assert!(
        measured.abs_diff(500_000) < 200,
        "{measured} ps; a turn of 3 ms at 200 ppm would make it 300 ns wrong"
    );
    assert!(delay.is_capable());
    assert!((delay.neighbor_rate().expect("measured").as_ppb() - -199_980).abs() < 5);
    let long = measure(here, neighbor, Link { to_here: 11_000_000, to_neighbor: 11_000_000 }, 0);
    assert!(!long.is_capable(), "longer than what gPTP is taken to span");
}

#[test]
fn faults_of_a_link_are_noticed() {
    let clock = Clock { ppm: 0, phase: 0, quantum: 1 };
    let mut delay = measure(clock, clock, EVEN[0], 0);
    assert!(delay.is_capable());
    // Silence: three are put up with.
    let mut now = Duration::from_s(12);
    for asked in 1..=5 {
        delay.poll(Instant::ZERO + now).expect("due");
        assert_eq!(
            delay.is_capable(),
            asked <= 4,
            "request {asked}: the fourth finds three without an answer"
        );
        now += Duration::from_s(1);
    }
    // Its own answer comes back.
    let mut delay = measure(clock, clock, EVEN[0], 0);
    let request = delay.poll(at(12_000)).expect("due");
    delay.receive(&answer(&config(port(1, 2)), &request, at(12_000)), at(12_001));
    assert!(!delay.is_capable(), "a loop");
    // Two neighbours answer.
    let mut delay = measure(clock, clock, EVEN[0], 0);
    let request = delay.poll(at(12_000)).expect("due");
    for neighbor in [2, 3] {
        delay.receive(&answer(&config(port(neighbor, 1)), &request, at(12_000)), at(12_001));
    }
    assert!(!delay.is_capable(), "no link between two");
    // Answers of another domain, and late ones, change nothing.
    let mut delay = measure(clock, clock, EVEN[0], 0);
    let request = delay.poll(at(12_000)).expect("due");
    let before = delay.clone();
    let other = PeerDelayConfig { domain: 5, ..config(port(2, 1)) };
    delay.receive(&answer(&other, &request, at(12_000)), at(12_001));
    let mut late = request.clone();
    late.header.sequence -= 1;
    delay.receive(&answer(&config(port(2, 1)), &late, at(12_000)), at(12_001));
    assert_eq!(delay, before);
    // A sync of another domain, or with another's follow-up, gives no time.
    let (one, two) =
        (sync(port(2, 1)), follow_up(port(2, 1), PtpTimestamp::default(), 0, FollowUpInformation::default()));
    assert!(SyncReceived::new(&one, &two, at(12_000), &delay, 0).is_some());
    assert_eq!(SyncReceived::new(&one, &two, at(12_000), &delay, 1), None);
    let mut wrong = two;
    wrong.header.sequence += 1;
    assert_eq!(SyncReceived::new(&one, &wrong, at(12_000), &delay, 0), None);
}

fn system(number: u8, priority1: u8) -> SystemIdentity {
    let quality = ClockQuality { class: 248, accuracy: 0xfe, variance: 0x436a };
    SystemIdentity { priority1, quality, priority2: 248, identity: clock(number) }
}

/// Three nodes in a ring: port 0 of each leads to port 1 of the next.
struct Ring {
    nodes: Vec<BestMaster>,
    now: u64,
}

impl Ring {
    fn new() -> Self {
        let mut nodes: Vec<_> = (0..3).map(|n| BestMaster::new(system(n + 1, 246 + n), 0, 2)).collect();
        for node in &mut nodes {
            node.set_capable(0, true);
            node.set_capable(1, true);
        }
        Self { nodes, now: 0 }
    }

    /// A second: every node but the silent one announces on its master ports.
    fn second(&mut self, silent: Option<usize>) {
        self.now += 1_000;
        for from in (0..3).filter(|from| Some(*from) != silent) {
            self.nodes[from].advance(at(self.now));
            let (body, path) = self.nodes[from].announce();
            for (out, role) in self.nodes[from].roles().into_iter().enumerate() {
                if role == PortRole::Master {
                    let (to, into) = if out == 0 { ((from + 1) % 3, 1) } else { ((from + 2) % 3, 0) };
                    let number = u8::try_from(from + 1).expect("few");
                    let source = port(number, u16::try_from(out + 1).expect("few"));
                    let header = PtpHeader { log_interval: 0, ..header(source, 1, 0, 0) };
                    let body = PtpBody::Announce(body);
                    let message = PtpMessage { header, body, tlvs: vec![path.clone()] };
                    self.nodes[to].receive(at(self.now), into, &message);
                }
            }
        }
    }

    fn grandmasters(&self) -> Vec<Option<ClockIdentity>> {
        self.nodes.iter().map(|node| node.grandmaster().map(|best| best.identity)).collect()
    }
}

#[test]
fn a_ring_has_one_master_and_one_passive_port() {
    let mut ring = Ring::new();
    for _ in 0..5 {
        ring.second(None);
    }
    assert_eq!(ring.grandmasters(), [Some(clock(1)); 3]);
    let roles: Vec<_> = ring.nodes.iter().map(BestMaster::roles).collect();
    use PortRole::{Master, Passive, Slave};
    assert_eq!(roles, [[Master, Master], [Master, Slave], [Slave, Passive]]);
}

#[test]
fn a_lost_master_is_replaced_and_taken_back() {
    let mut ring = Ring::new();
    for _ in 0..5 {
        ring.second(None);
    }
    // Three intervals of silence, and one to announce: its old announces do not circulate for ever.
    for _ in 0..8 {
        ring.second(Some(0));
    }
    assert_eq!(ring.grandmasters()[1..], [Some(clock(2)); 2]);
    for _ in 0..5 {
        ring.second(None);
    }
    assert_eq!(ring.grandmasters(), [Some(clock(1)); 3]);
    // A link goes down: the time comes the other way round.
    ring.nodes[0].set_capable(0, false);
    ring.nodes[1].set_capable(1, false);
    for _ in 0..8 {
        ring.second(None);
    }
    assert_eq!(ring.grandmasters(), [Some(clock(1)); 3]);
    assert_eq!(ring.nodes[1].roles(), [PortRole::Slave, PortRole::Disabled]);
}

#[test]
fn a_clock_that_cannot_be_master_has_none_alone() {
    let mut node = BestMaster::new(system(1, 255), 0, 1);
    node.set_capable(0, true);
    assert_eq!(node.grandmaster(), None);
    let (body, path) = BestMaster::new(system(2, 254), 0, 1).announce();
    let mut message =
        PtpMessage { header: header(port(2, 1), 1, 0, 0), body: PtpBody::Announce(body), tlvs: vec![path] };
    message.header.domain = 3;
    node.receive(at(0), 0, &message);
    assert_eq!(node.grandmaster(), None, "another domain");
    message.header.domain = 0;
    node.receive(at(0), 0, &message);
    assert_eq!(node.grandmaster().map(|best| best.identity), Some(clock(2)));
}

#[test]
fn we_choose_the_master_that_linuxptp_chose() {
    let path = Path::new("../wire/tests/captures/gptp-two-stations.pcapng");
    let octets = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut reader = PcapNgReader::new(&octets[..]).expect("a section");
    // The second station announces itself until it has received the first one's: its own announces show its identity.
    let mut ours: Option<BestMaster> = None;
    let (mut start, mut announced) = (None, 0);
    while let Some(block) = reader.next_block() {
        let Block::EnhancedPacket(packet) = block.expect("a block") else { continue };
        let (ethernet, body) = EthernetHeader::parse(&packet.data).expect("a header");
        if ethernet.ether_type != PTP_ETHER_TYPE {
            continue;
        }
        let (message, _) = PtpMessage::parse(body).expect("a message");
        let PtpBody::Announce(body) = message.body else { continue };
        let ns = packet.timestamp.as_nanos();
        let now = Instant::ZERO
            + Duration::from_ns(u64::try_from(ns - *start.get_or_insert(ns)).expect("a short capture"));
        if message.header.source.clock == clock(2) && ours.is_none() {
            let own = SystemIdentity {
                priority1: body.priority1,
                quality: body.quality,
                priority2: body.priority2,
                identity: body.grandmaster,
            };
            let mut node = BestMaster::new(own, 0, 1);
            node.set_capable(0, true);
            assert_eq!(node.roles(), [PortRole::Master]);
            ours = Some(node);
        } else if let (Some(node), true) = (&mut ours, message.header.source.clock == clock(1)) {
            node.advance(now);
            node.receive(now, 0, &message);
            announced += 1;
            assert_eq!(node.roles(), [PortRole::Slave]);
            assert_eq!(node.grandmaster().map(|best| best.identity), Some(clock(1)));
        }
    }
    assert!(announced > 10, "{announced}");
}
