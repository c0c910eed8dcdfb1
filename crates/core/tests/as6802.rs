//! Networks of synchronisation masters, compression masters and clients with drifting clocks and delays that the
//! transparent clock measures: they start, stay together within the precision, and recover from failures.
//!
//! True time is known here alone. A frame goes from a master to every compression master and from there to
//! all, each way with a drawn delay that its transparent clock holds.

use std::collections::BTreeMap;

use tautwire_core::as6802::{
    CompressionConfig, CompressionMaster, MasterConfig, Outcome, PcfType, ProtocolControlFrame,
    SynchronisationMaster, Thresholds, to_transparent_clock,
};
use tautwire_units::{Duration, Instant};

const US: u64 = 1_000_000;
const DELAY_MAX: Duration = Duration::from_us(100);
const WINDOW: Duration = Duration::from_us(5);
const CYCLE: Duration = Duration::from_ms(2);

/// A clock that is off by parts in a million, from an offset.
#[derive(Clone, Copy)]
struct Clock {
    ppm: i64,
    offset: u64,
}

impl Clock {
    fn local(self, time: u64) -> Instant {
        let off = i128::from(time) * i128::from(self.ppm) / 1_000_000;
        let reading = i128::from(time) + off + i128::from(self.offset);
        Instant::from_ps(u64::try_from(reading).expect("not before the start"))
    }

    /// The first true time at which it reads so much, within a picosecond or two, never too early.
    fn true_at(self, reading: Instant) -> u64 {
        let since = i128::from(reading.as_ps().saturating_sub(self.offset));
        let time = since * 1_000_000 / i128::from(1_000_000 + self.ppm);
        let mut time = u64::try_from(time).expect("not before the start");
        while self.local(time) < reading {
            time += 1;
        }
        time
    }
}

/// A frame on its way: to a compression master, or to all others from one.
#[derive(Clone, Copy)]
enum Way {
    Up(usize, ProtocolControlFrame),
    Down(usize, u8, ProtocolControlFrame),
}

struct Cluster {
    clocks: Vec<Clock>,
    masters: Vec<SynchronisationMaster>,
    compressors: Vec<(Clock, CompressionMaster)>,
    on_the_way: BTreeMap<(u64, u64), Way>,
    sent: u64,
    random: u64,
    now: u64,
    /// Masters whose frames are lost, and compression masters that are.
    silent: Vec<usize>,
    dead: Vec<usize>,
    lost: u64,
    /// Greatest difference of two synchronised clocks that was seen.
    apart: u64,
}

impl Cluster {
    fn new(seed: u64, masters: usize, clients: usize, compressors: usize) -> Self {
        let mut cluster = Self {
            clocks: Vec::new(),
            masters: Vec::new(),
            compressors: Vec::new(),
            on_the_way: BTreeMap::new(),
            sent: 0,
            random: seed,
            now: 0,
            silent: Vec::new(),
            dead: Vec::new(),
            lost: 0,
            apart: 0,
        };
        for number in 0..masters + clients {
            let clock = cluster.clock();
            cluster.clocks.push(clock);
            let config = config((number < masters).then_some(1 << number), masters, number);
            cluster.masters.push(SynchronisationMaster::new(config, clock.local(0)));
        }
        for _ in 0..compressors {
            let clock = cluster.clock();
            cluster.compressors.push((clock, CompressionMaster::new(compression())));
        }
        cluster
    }

    fn clock(&mut self) -> Clock {
        let ppm = i64::try_from(self.draw(200)).expect("small") - 100;
        Clock { ppm, offset: self.draw(1_000 * US) }
    }

    /// A number up to `most` (SplitMix64).
    fn draw(&mut self, most: u64) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % (most + 1)
    }

    fn put(&mut self, way: Way) {
        let took = 1 + self.draw(DELAY_MAX.as_ps() - 2);
        let corrected = to_transparent_clock(Duration::from_ps(took));
        let way = match way {
            Way::Up(to, frame) => Way::Up(to, ProtocolControlFrame { transparent_clock: corrected, ..frame }),
            Way::Down(to, by, frame) => {
                Way::Down(to, by, ProtocolControlFrame { transparent_clock: corrected, ..frame })
            }
        };
        self.sent += 1;
        self.on_the_way.insert((self.now + took, self.sent), way);
    }

    /// Collects the reports of all nodes.
    fn listen(&mut self) {
        for number in 0..self.masters.len() {
            while let Some(outcome) = self.masters[number].poll() {
                match outcome {
                    Outcome::Send(frame) if !self.silent.contains(&number) => {
                        (0..self.compressors.len()).for_each(|to| self.put(Way::Up(to, frame)));
                    }
                    Outcome::Lost => self.lost += 1,
                    _ => {}
                }
            }
        }
        for by in 0..self.compressors.len() {
            while let Some(frame) = self.compressors[by].1.poll() {
                if !self.dead.contains(&by) {
                    let channel = u8::try_from(by).expect("few");
                    (0..self.masters.len()).for_each(|to| self.put(Way::Down(to, channel, frame)));
                }
            }
        }
    }

    fn run(&mut self, until_ms: u64) {
        let end = until_ms * 1_000 * US;
        loop {
            let masters = self.masters.iter().zip(&self.clocks);
            let own = masters.map(|(master, clock)| clock.true_at(master.deadline()));
            let compressors = self.compressors.iter();
            let theirs = compressors.filter_map(|(clock, one)| one.deadline().map(|at| clock.true_at(at)));
            let arrival = self.on_the_way.keys().next().map(|(at, _)| *at);
            let next = own.chain(theirs).chain(arrival).min().expect("masters always wait").max(self.now);
            if next > end {
                self.now = end;
                return;
            }
            self.now = next;
            while let Some(entry) = self.on_the_way.first_entry().filter(|entry| entry.key().0 <= next) {
                match entry.remove() {
                    Way::Up(to, frame) if !self.dead.contains(&to) => {
                        let (clock, one) = &mut self.compressors[to];
                        one.receive(clock.local(next), frame.membership_new, frame);
                    }
                    Way::Up(..) => {}
                    Way::Down(to, by, frame) => {
                        self.masters[to].receive(self.clocks[to].local(next), by, frame);
                    }
                }
            }
            for (master, clock) in self.masters.iter_mut().zip(&self.clocks) {
                master.advance(clock.local(next));
            }
            for (clock, one) in &mut self.compressors {
                one.advance(clock.local(next));
            }
            self.listen();
            self.measure();
        }
    }

    /// How far apart the cycle starts of synchronised nodes are, in the same cycle.
    fn measure(&mut self) {
        let mut starts: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for (master, clock) in self.masters.iter().zip(&self.clocks) {
            if let Some((start, cycle)) = master.cycle() {
                starts.entry(cycle).or_default().push(clock.true_at(start));
            }
        }
        for starts in starts.values() {
            let (least, most) = (starts.iter().min(), starts.iter().max());
            self.apart = self.apart.max(most.zip(least).map_or(0, |(most, least)| most - least));
        }
    }

    fn synchronised(&self) -> usize {
        self.masters.iter().filter(|master| master.is_synchronised()).count()
    }
}

fn compression() -> CompressionConfig {
    CompressionConfig {
        domain: 1,
        priority: 1,
        delay_max: DELAY_MAX,
        window: WINDOW,
        faulty: 1,
        integration_cycle: CYCLE,
        cycles: 16,
        members_min: 2,
    }
}

fn config(member: Option<u32>, masters: usize, number: usize) -> MasterConfig {
    let members = u32::try_from(masters).expect("few");
    MasterConfig {
        member,
        domain: 1,
        priority: 1,
        delay_max: DELAY_MAX,
        compression_delay: compression().compression_delay(),
        integration_cycle: CYCLE,
        cycles: 16,
        acceptance: WINDOW * 2,
        listen_timeout: Duration::from_ms(20),
        // No two masters try again at the same time for ever.
        cold_start_timeout: Duration::from_ms(10 + 3 * u64::try_from(number).expect("few")),
        cold_start_offset: Duration::from_ms(2),
        acknowledge_offset: Duration::from_ms(2),
        faulty: 1,
        high_integrity: false,
        thresholds: Thresholds {
            to_sync: members / 2 + 1,
            to_tentative: 1,
            stay: members / 2 + 1,
            stable_cycles: 10,
            unstable_cycles: 3,
        },
    }
}

/// Two clocks drift apart for a cycle and as long as its frames take, twice: until a correction, and in what
/// is corrected by; roundings of transparent clocks and averages, a picosecond each.
fn precision() -> u64 {
    let span = CYCLE.as_ps() + 2 * DELAY_MAX.as_ps() + compression().compression_delay().as_ps();
    2 * (span * 200 / 1_000_000) + 100
}

#[test]
fn a_network_starts_and_stays_together() {
    for seed in 0..40 {
        let compressors = 1 + usize::try_from(seed % 2).expect("few");
        let mut cluster = Cluster::new(seed, 4, 2, compressors);
        cluster.run(200);
        assert_eq!(cluster.synchronised(), 6, "seed {seed}");
        cluster.apart = 0;
        cluster.run(400);
        assert_eq!((cluster.synchronised(), cluster.lost), (6, 0), "seed {seed}");
        assert!(cluster.apart <= precision(), "seed {seed}: {} ps apart", cluster.apart);
        assert!(cluster.apart > precision() / 100, "seed {seed}: clocks do drift");
    }
}

#[test]
fn a_master_that_falls_silent_is_not_missed_and_too_many_are() {
    let mut cluster = Cluster::new(7, 4, 1, 2);
    cluster.run(200);
    cluster.silent = vec![2];
    cluster.apart = 0;
    cluster.run(300);
    assert_eq!((cluster.synchronised(), cluster.lost), (5, 0));
    assert!(cluster.apart <= precision(), "{}", cluster.apart);
    cluster.silent = vec![1, 2, 3];
    cluster.run(320);
    assert_eq!((cluster.synchronised(), cluster.lost), (0, 5), "one of four is no network");
    cluster.silent.clear();
    cluster.run(600);
    assert_eq!(cluster.synchronised(), 5, "it starts again");
}

#[test]
fn a_compression_master_that_stops_is_not_missed_and_both_are() {
    let mut cluster = Cluster::new(11, 4, 2, 2);
    cluster.run(200);
    cluster.dead = vec![0];
    cluster.run(300);
    assert_eq!((cluster.synchronised(), cluster.lost), (6, 0));
    cluster.dead = vec![0, 1];
    cluster.run(330);
    assert_eq!((cluster.synchronised(), cluster.lost), (0, 6));
    cluster.dead.clear();
    cluster.run(700);
    assert_eq!(cluster.synchronised(), 6);
    cluster.apart = 0;
    cluster.run(800);
    assert!(cluster.apart <= precision(), "{}", cluster.apart);
}

#[test]
fn babble_of_other_cycles_and_domains_disturbs_nobody() {
    let mut cluster = Cluster::new(13, 4, 2, 2);
    cluster.run(200);
    cluster.apart = 0;
    for step in 0..400 {
        cluster.run(200 + step / 4);
        let frame = ProtocolControlFrame {
            integration_cycle: u32::try_from(step).expect("small") % 16,
            membership_new: 1 << 3,
            sync_priority: 1,
            sync_domain: 1 + u8::try_from(step % 2).expect("small"),
            kind: [PcfType::Integration, PcfType::ColdStart, PcfType::ColdStartAcknowledge]
                [step as usize % 3],
            transparent_clock: 0,
        };
        for to in 0..2 {
            cluster.put(Way::Up(to, frame));
        }
    }
    cluster.run(400);
    assert_eq!((cluster.synchronised(), cluster.lost), (6, 0));
    // A faulty master counts as one: its early or late frames move an average by half of a window.
    assert!(cluster.apart <= precision() + WINDOW.as_ps() * 2, "{}", cluster.apart);
}
