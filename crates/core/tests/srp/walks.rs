//! Seeded walks through larger networks: trees of bridges, several streams that come and go, MRPDUs that are lost,
//! repeated and overtaken at random. When the faults have ended and two leave-alls have passed, the reservations are
//! those that are requested, and no others. `TAUTWIRE_CASES` sets how many walks there are, `TAUTWIRE_SEED` runs one
//! alone.

use std::collections::BTreeSet;

use tautwire_core::srp::SrClass;
use tautwire_core::srp::station::Offer;
use tautwire_units::{Duration, Instant};
use tautwire_wire::srp::{ListenerDeclaration, StreamId};

use crate::network::{Network, Next, at, config, stream, talker};

const STREAMS: u16 = 4;
/// Nothing is lost and no station sends a new request.
const QUIET_FROM: u64 = 12_000;
/// A leave-all timer runs for at most fifteen seconds.
const END: u64 = QUIET_FROM + 2 * 15_000 + 3_000;

/// Numbers by xorshift.
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }

    fn place(&mut self, limit: usize) -> usize {
        usize::try_from(self.below(limit as u64)).expect("a place")
    }
}

/// A tree of bridges with stations, and their offers and requests.
struct Walk {
    network: Network,
    bridges: usize,
    /// Per bridge: the bridge above it, its port to that, and that one's port to it.
    above: Vec<Option<(usize, usize, usize)>>,
    /// Per station: its bridge and the port there.
    at: Vec<(usize, usize)>,
    talkers: Vec<usize>,
    offered: BTreeSet<u16>,
    asked: BTreeSet<(u16, usize)>,
}

impl Walk {
    fn new(draw: &mut Draw) -> Self {
        let bridges = 2 + draw.place(4);
        let stations = 3 + draw.place(4);
        let mut network = Network::new();
        for bridge in 0..bridges {
            network.bridge(config(0xb0 + bridge as u64, 16));
        }
        let mut used = vec![0; bridges];
        let mut port = |bridge: usize| {
            used[bridge] += 1;
            used[bridge] - 1
        };
        let mut above = vec![None];
        for bridge in 1..bridges {
            let parent = draw.place(bridge);
            let (own, far) = (port(bridge), port(parent));
            network.connect((bridge, own), (parent, far));
            above.push(Some((parent, own, far)));
        }
        let mut at = Vec::new();
        for _ in 0..stations {
            let bridge = draw.place(bridges);
            let station = network.station(&[SrClass::a(), SrClass::b()]);
            let own = port(bridge);
            network.connect((station, 0), (bridge, own));
            at.push((bridge, own));
        }
        let talkers = (0..STREAMS).map(|_| draw.place(stations)).collect();
        Self { network, bridges, above, at, talkers, offered: BTreeSet::new(), asked: BTreeSet::new() }
    }

    /// A station offers, withdraws, requests, or ends a request.
    fn act(&mut self, draw: &mut Draw) {
        let now = self.network.now;
        let place = draw.place(usize::from(STREAMS));
        let number = u16::try_from(place).expect("a few streams") + 1;
        let talks = self.talkers[place];
        let station = draw.place(self.at.len());
        let (talker_node, node) = (self.bridges + talks, self.bridges + station);
        if draw.below(3) == 0 {
            if self.offered.remove(&number) {
                self.network.at_station(talker_node).withdraw(now, stream(number));
            } else {
                self.offered.insert(number);
                self.network.at_station(talker_node).advertise(now, talker(number, 100));
            }
        } else if station != talks {
            if self.asked.remove(&(number, station)) {
                self.network.at_station(node).detach(now, stream(number));
            } else {
                self.asked.insert((number, station));
                self.network.at_station(node).attach(now, stream(number), u32::MAX);
            }
        }
    }

    /// The bridges from one up to the root, itself first.
    fn up(&self, bridge: usize) -> Vec<usize> {
        let mut way = vec![bridge];
        while let Some((parent, ..)) = self.above[*way.last().expect("not empty")] {
            way.push(parent);
        }
        way
    }

    /// The egress ports of bridges on the way between two stations.
    fn ports(&self, from: usize, to: usize) -> Vec<(usize, usize)> {
        let (start, end) = (self.at[from].0, self.at[to].0);
        let (up, down) = (self.up(start), self.up(end));
        let meet = *up.iter().find(|bridge| down.contains(bridge)).expect("a tree has a root");
        let mut ports = Vec::new();
        for bridge in up.iter().take_while(|bridge| **bridge != meet) {
            ports.push((*bridge, self.above[*bridge].expect("not the root").1));
        }
        let turned: Vec<usize> = down.iter().copied().take_while(|bridge| *bridge != meet).collect();
        for bridge in turned.into_iter().rev() {
            let (parent, _, far) = self.above[bridge].expect("not the root");
            ports.push((parent, far));
        }
        ports.push(self.at[to]);
        ports
    }

    /// Compares the reservations with the requests.
    fn hold(&mut self, seed: u64) {
        let mut wanted: BTreeSet<(usize, usize, StreamId)> = BTreeSet::new();
        for (number, station) in &self.asked {
            if self.offered.contains(number) {
                let talks = self.talkers[usize::from(*number) - 1];
                let ports = self.ports(talks, *station);
                wanted.extend(ports.into_iter().map(|(bridge, port)| (bridge, port, stream(*number))));
            }
        }
        let held: BTreeSet<(usize, usize, StreamId)> = (0..self.bridges)
            .flat_map(|bridge| {
                let reserved = self.network.at_bridge(bridge).reservations();
                reserved.map(move |(port, stream, _)| (bridge, port, stream)).collect::<Vec<_>>()
            })
            .collect();
        assert_eq!(held, wanted, "TAUTWIRE_SEED={seed}");
        for number in 1..=STREAMS {
            let listens = self.asked.iter().any(|(asked, _)| *asked == number);
            let node = self.bridges + self.talkers[usize::from(number) - 1];
            let ready = self.network.at_station(node).listeners(stream(number));
            let expected = (listens && self.offered.contains(&number)).then_some(ListenerDeclaration::Ready);
            assert_eq!(ready, expected, "TAUTWIRE_SEED={seed}, stream {number}");
        }
        for (number, station) in self.asked.clone() {
            let offer = self.network.at_station(self.bridges + station).offer(stream(number));
            let can = matches!(offer, Offer::Advertised(_));
            assert_eq!(can, self.offered.contains(&number), "TAUTWIRE_SEED={seed}, stream {number}");
        }
    }

    fn go(&mut self, draw: &mut Draw) -> usize {
        let mut faults = 0;
        let mut acts_at: Vec<Instant> = (0..10).map(|_| at(1_000 + draw.below(8_000))).collect();
        acts_at.sort_unstable();
        for until in acts_at.into_iter().chain([at(QUIET_FROM)]) {
            loop {
                match self.network.next(until) {
                    Next::End => break,
                    Next::Timer => {}
                    Next::Arrival(place) => {
                        let mut flying = self.network.flying.remove(place);
                        match draw.below(40) {
                            0 => {}
                            1 => {
                                self.network.deliver(&flying);
                                self.network.deliver(&flying);
                            }
                            2 => {
                                flying.at += Duration::from_us(1 + draw.below(3_000));
                                self.network.flying.push(flying);
                            }
                            _ => {
                                self.network.deliver(&flying);
                                continue;
                            }
                        }
                        faults += 1;
                    }
                }
            }
            if until < at(QUIET_FROM) {
                self.act(draw);
            }
        }
        self.network.run(at(END));
        faults
    }
}

#[test]
fn the_reservations_in_the_end_are_those_asked_for() {
    let number =
        |variable: &str| std::env::var(variable).ok().map(|text| text.parse::<u64>().expect("a number"));
    let seeds = match number("TAUTWIRE_SEED") {
        Some(seed) => vec![seed],
        None => {
            let times = number("TAUTWIRE_TIMES").unwrap_or(1);
            (0..number("TAUTWIRE_CASES").unwrap_or(60 * times)).collect()
        }
    };
    let (mut faults, mut reserved) = (0, 0);
    for seed in &seeds {
        let mut draw = Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut walk = Walk::new(&mut draw);
        faults += walk.go(&mut draw);
        walk.hold(*seed);
        reserved += (0..walk.bridges)
            .map(|bridge| walk.network.at_bridge(bridge).reservations().count())
            .sum::<usize>();
    }
    if seeds.len() >= 60 {
        assert!(faults > 500 && reserved > 60, "{faults} faults, {reserved} reservations");
    }
}
