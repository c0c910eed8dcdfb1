//! Every course of faults, and what holds in each of them.

use std::collections::{BTreeSet, HashSet};
use std::hash::BuildHasher;

use foldhash::quality::FixedState;
use tautwire_core::harts::{AcMaster, RequestState};

use crate::network::{BACK, DECIDED, FAULTS, LATE, MENDED, Network, Next, RIVAL, STREAM, Verdict, at};

/// What may still happen.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Faults {
    pub(crate) lose: bool,
    pub(crate) repeat: bool,
    pub(crate) delay: bool,
    /// How often the active ACMaster dies.
    pub(crate) die: u8,
    /// Whether it comes back.
    pub(crate) back: bool,
    /// The cable fails, and comes back.
    pub(crate) cut: bool,
}

pub(crate) struct Exploration {
    pub(crate) seen: HashSet<u64, FixedState>,
    pub(crate) courses: usize,
    pub(crate) ends: usize,
    /// Switches of the stream's ways, by station.
    pub(crate) ways: Vec<BTreeSet<usize>>,
    /// The faults of the course that is gone through.
    pub(crate) faults: Vec<String>,
    /// Whether a standby knows, too, what was acknowledged: so few messages are lost that it is never given up.
    pub(crate) strict: bool,
    /// How many of the times after which a cable is back are gone through.
    pub(crate) mended: usize,
}

impl Exploration {
    pub(crate) fn new(stations: &[u16]) -> Self {
        let producer = stations[0];
        let way =
            |station: &u16| (producer.min(*station)..=producer.max(*station)).map(usize::from).collect();
        let ways = stations.iter().map(way).collect();
        Self {
            seen: HashSet::default(),
            courses: 0,
            ends: 0,
            ways,
            faults: Vec::new(),
            strict: true,
            mended: MENDED.len(),
        }
    }

    /// Invariants at any time: for a node that was notified, all switches of its path carry the stream, or one of them
    /// reports a failed link; an ACMaster that lives has every acknowledged grant; no node was notified of both of two
    /// streams that exclude one another.
    pub(crate) fn check(&self, network: &Network) {
        if network.given_back {
            return self.check_gone(network);
        }
        let mut served = BTreeSet::new();
        for stream in network.streams() {
            for (node, way) in (0..).zip(&self.ways).skip(1) {
                if network.nodes[usize::from(node)].state(*stream) != Some(RequestState::Granted) {
                    continue;
                }
                served.insert(*stream);
                // A switch remembers that it is to end, until it is notified.
                if network.is_broken(*stream, node) {
                    continue;
                }
                let carried = |switch: &usize| network.carried(*stream, *switch).contains(&node);
                assert!(way.iter().all(carried), "told before the switches with {:#?}", self.faults);
                let knows = |master: &AcMaster| {
                    let mut standing = master.standing();
                    // One without a standby that is back surveys the switches.
                    let decides = master.is_active() && (network.masters.len() > 1 || master.is_in_step());
                    !(decides || self.strict && master.is_in_step())
                        || standing.any(|(known, consumers)| known.id == *stream && consumers.contains(&node))
                        || master.admitted().get(stream).is_some_and(|consumers| consumers.contains(&node))
                };
                assert!(
                    network.living().all(knows),
                    "acknowledged to {node} and not known at {} with {:#?}",
                    network.now,
                    self.faults
                );
            }
        }
        assert!(served.len() < 2, "two that exclude one another at {} with {:#?}", network.now, self.faults);
    }

    /// A producer that was notified that its stream is gone: no switch carries it, unless a failed link is reported.
    fn check_gone(&self, network: &Network) {
        for stream in network.streams().iter().filter(|stream| !network.nodes[0].is_releasing(**stream)) {
            for switch in 0..network.switches.len() {
                let mut carried = network.carried(*stream, switch).into_iter();
                assert!(
                    carried.all(|consumer| network.is_broken(*stream, consumer)),
                    "said to be gone, and at switch {switch} at {} with {:#?}",
                    network.now,
                    self.faults
                );
            }
        }
    }

    /// The requests at the start are decided, for each consumer by the result of its test.
    pub(crate) fn decided(&self, network: &Network) {
        let context = || format!("at {} with {:#?}", network.now, self.faults);
        let refused = RequestState::Refused(4);
        let mut wanted: BTreeSet<u16> = BTreeSet::new();
        let mut winner = STREAM.id;
        match network.verdict {
            Verdict::Excludes => {
                let granted = |stream: &&u16| network.nodes[0].state(**stream) == Some(RequestState::Granted);
                let granted: Vec<&u16> = network.streams().iter().filter(granted).collect();
                assert_eq!(granted.len(), 1, "one of two is granted {}", context());
                winner = *granted[0];
                let other = if winner == STREAM.id { RIVAL.id } else { STREAM.id };
                for (number, node) in (0..).zip(&network.nodes) {
                    // A consumer that missed a refusal of an ACMaster that died repeats its request, if no other consumer is left.
                    let served = node.state(other) == Some(RequestState::Refused(winner))
                        || number == 0 && node.state(other) == Some(RequestState::Asked);
                    assert!(served, "{number}: {:?} {}", node.state(other), context());
                }
                wanted.extend((0..).zip(&network.nodes).skip(1).map(|(number, _): (u16, _)| number));
            }
            Verdict::Refuses => {}
            _ => {
                for (number, node) in (0..).zip(&network.nodes).skip(1) {
                    let is_refused = network.verdict == Verdict::RefusesOne(number);
                    if !is_refused && node.state(STREAM.id).is_some() {
                        wanted.insert(number);
                    }
                }
            }
        }
        for (number, node) in (0..).zip(&network.nodes) {
            let state = node.state(winner);
            let expected = match number {
                0 if !wanted.is_empty() => Some(RequestState::Granted),
                0 if network.verdict != Verdict::Refuses => Some(RequestState::Offered),
                number if wanted.contains(&number) => Some(RequestState::Granted),
                _ => Some(refused).filter(|_| state.is_some()),
            };
            assert_eq!(state, expected, "{number} {}", context());
        }
        let holds = |master: &AcMaster| {
            let all: BTreeSet<(u16, u16)> = master
                .standing()
                .flat_map(|(stream, consumers)| consumers.into_iter().map(|consumer| (stream.id, consumer)))
                .collect();
            all == wanted.iter().map(|consumer| (winner, *consumer)).collect()
        };
        let active: Vec<&AcMaster> = network.living().filter(|master| master.is_active()).collect();
        assert!(active.len() == 1 && holds(active[0]), "{}", context());
        let all = network.living().all(|master| master.is_in_step() && holds(master));
        assert!(all || !self.strict, "not in step {}", context());
        for switch in 0..network.switches.len() {
            let own = (0..).zip(&self.ways).skip(1).filter(|(_, way)| way.contains(&switch));
            let own: BTreeSet<u16> =
                own.map(|(number, _)| number).filter(|number| wanted.contains(number)).collect();
            assert_eq!(network.carried(winner, switch), own, "switch {switch} {}", context());
        }
    }

    pub(crate) fn gone(&mut self, network: &Network) {
        let empty = network.switches.iter().all(|switch| switch.streams().is_empty());
        let asks = |stream: &u16| network.nodes.iter().any(|node| node.is_releasing(*stream));
        let asks = network.streams().iter().any(asks);
        let left = network.living().any(|master| master.standing().count() > 0);
        let ends = network.living().map(AcMaster::ending).sum::<usize>() > 0
            || network.switches.iter().any(|switch| switch.deadline().is_some());
        assert!(!ends, "something is not told at the end with {:#?}", self.faults);
        assert!(empty && !asks && !left, "{empty} {asks} {left} at the end with {:#?}", self.faults);
        self.ends += 1;
    }

    pub(crate) fn go(&mut self, mut network: Network, faults: Faults) {
        loop {
            let next = network.next();
            self.check(&network);
            match next {
                Next::End => return self.gone(&network),
                Next::Timer => {}
                Next::Arrival(place) => {
                    let fails = |(from, to): &(u64, u64)| (at(*from)..at(*to)).contains(&network.now);
                    if FAULTS.iter().any(fails) {
                        if !self.seen.insert(digest(&network, faults)) {
                            return;
                        }
                        self.branch(&network, place, faults);
                    }
                    let flying = network.flying.remove(place);
                    network.deliver(&flying);
                }
            }
            if !network.given_back && network.now < at(DECIDED) && network.now >= at(DECIDED - 30) {
                self.decided(&network);
            }
        }
    }

    pub(crate) fn branch(&mut self, network: &Network, place: usize, faults: Faults) {
        if faults.lose {
            let mut other = network.clone();
            other.flying.remove(place);
            self.fault("loses", network, place, other, Faults { lose: false, ..faults });
        }
        if faults.repeat {
            let mut other = network.clone();
            let flying = other.flying[place].clone();
            other.deliver(&flying);
            self.fault("repeats", network, place, other, Faults { repeat: false, ..faults });
        }
        if faults.delay {
            for late in LATE {
                let mut other = network.clone();
                let mut flying = other.flying.remove(place);
                flying.at += late;
                other.flying.push(flying);
                self.fault("delays", network, place, other, Faults { delay: false, ..faults });
            }
        }
        if faults.cut && network.may_fail() {
            for back in MENDED.into_iter().take(self.mended) {
                let mut other = network.clone();
                other.sever(back);
                let what = format!("is cut for {back} before");
                self.fault(&what, network, place, other, Faults { cut: false, ..faults });
            }
        }
        let Some(active) = network.may_die().filter(|_| faults.die > 0) else { return };
        let back = if faults.back { BACK.map(Some).to_vec() } else { vec![None] };
        for back in back {
            let mut other = network.clone();
            other.kill(active, back);
            self.fault("dies before", network, place, other, Faults { die: faults.die - 1, ..faults });
        }
    }

    pub(crate) fn fault(
        &mut self,
        what: &str,
        network: &Network,
        place: usize,
        other: Network,
        faults: Faults,
    ) {
        self.courses += 1;
        let flying = &network.flying[place];
        self.faults.push(format!("{what} at {}: to {} {:?}", network.now, flying.to, flying.message));
        self.go(other, faults);
        self.faults.pop();
    }
}

pub(crate) fn digest(network: &Network, faults: Faults) -> u64 {
    FixedState::default().hash_one((network, faults))
}
