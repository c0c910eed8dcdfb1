//! All courses of one reservation over two bridges and three stations with at most one lost, one repeated and one late
//! MRPDU, leave-alls included. States that were seen are not gone through again.

use std::collections::HashSet;
use std::hash::BuildHasher;

use foldhash::quality::FixedState;
use tautwire_core::srp::station::Offer;
use tautwire_core::srp::{SrClass, SrpBridge};
use tautwire_units::{Duration, Instant};
use tautwire_wire::srp::ListenerDeclaration;

use crate::network::{Network, Next, at, config, stream, talker};

/// How late a late MRPDU is: those that were sent behind it at the same time pass it.
const LATE: Duration = Duration::from_ns(1_500);
/// Faults come before this time: the first leave-all of every port lies before it.
const FAULTS_UNTIL: u64 = 15_500;
/// From here on the reservation exists, whatever happened.
const SETTLED_FROM: u64 = 2_000;
const END: u64 = 33_000;

/// What may still happen.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Faults {
    lose: bool,
    repeat: bool,
    delay: bool,
    /// Whether the reservation may lapse until the next leave-all: it may if of two declarations of a listener the older
    /// comes last and the one behind them is lost.
    lapses: bool,
}

struct Exploration {
    seen: HashSet<u64, FixedState>,
    ends: usize,
    courses: usize,
    /// The faults of the course that is gone through.
    faults: Vec<String>,
}

fn is_reserved(network: &mut Network) -> bool {
    let held = |bridge: &SrpBridge, port| bridge.bandwidth(port).held(0) == 34_752_000;
    let listens = |network: &mut Network, node| {
        matches!(network.at_station(node).offer(stream(1)), Offer::Advertised(_))
    };
    let all = [
        network.at_station(2).listeners(stream(1)) == Some(ListenerDeclaration::Ready),
        listens(network, 3),
        listens(network, 4),
        held(network.at_bridge(0), 1),
        held(network.at_bridge(0), 2),
        held(network.at_bridge(1), 1),
        !held(network.at_bridge(0), 0),
    ];
    !all.contains(&false)
}

impl Exploration {
    fn go(&mut self, mut network: Network, faults: Faults) {
        loop {
            if network.now >= at(SETTLED_FROM) && (!faults.lapses || network.now == at(END)) {
                assert!(is_reserved(&mut network), "at {} with {:#?}", network.now, self.faults);
            }
            match network.next(at(END)) {
                Next::End => {
                    assert!(is_reserved(&mut network), "at the end with {:#?}", self.faults);
                    self.ends += 1;
                    return;
                }
                Next::Timer => {}
                Next::Arrival(place) => {
                    if network.now < at(FAULTS_UNTIL) {
                        if !self.seen.insert(digest(&network, faults)) {
                            return;
                        }
                        self.branch(&network, place, faults);
                    }
                    let flying = network.flying.remove(place);
                    network.deliver(&flying);
                }
            }
        }
    }

    fn branch(&mut self, network: &Network, place: usize, faults: Faults) {
        if faults.lose {
            let mut other = network.clone();
            other.flying.remove(place);
            let lapses = !faults.delay;
            self.fault("loses", network, place, other, Faults { lose: false, lapses, ..faults });
        }
        if faults.repeat {
            let mut other = network.clone();
            let flying = other.flying[place].clone();
            other.deliver(&flying);
            self.fault("repeats", network, place, other, Faults { repeat: false, ..faults });
        }
        if faults.delay {
            let mut other = network.clone();
            let mut flying = other.flying.remove(place);
            flying.at += LATE;
            other.flying.push(flying);
            self.fault(
                "delays",
                network,
                place,
                other,
                Faults { delay: false, lapses: faults.lapses || !faults.lose, ..faults },
            );
        }
    }
}

impl Exploration {
    fn fault(&mut self, what: &str, network: &Network, place: usize, other: Network, faults: Faults) {
        self.courses += 1;
        self.faults.push(format!("{what} at {}: {:?}", network.now, network.flying[place]));
        self.go(other, faults);
        self.faults.pop();
    }
}

fn digest(network: &Network, faults: Faults) -> u64 {
    FixedState::default().hash_one((network, faults))
}

fn reservation() -> Network {
    let mut network = Network::new();
    network.bridge(config(0xb0, 3));
    network.bridge(config(0xb1, 2));
    for _ in 0..3 {
        network.station(&[SrClass::a(), SrClass::b()]);
    }
    network.connect((2, 0), (0, 0));
    network.connect((0, 1), (1, 0));
    network.connect((1, 1), (3, 0));
    network.connect((0, 2), (4, 0));
    network.at_station(2).advertise(Instant::ZERO, talker(1, 500));
    for node in [3, 4] {
        network.at_station(node).attach(Instant::ZERO, stream(1), 2_000_000);
    }
    network
}

#[test]
fn one_reservation_survives_every_course_of_faults() {
    let mut exploration = Exploration { seen: HashSet::default(), ends: 0, courses: 0, faults: Vec::new() };
    exploration.go(reservation(), Faults { lose: true, repeat: true, delay: true, lapses: false });
    println!("{} courses, {} states, {} ends", exploration.courses, exploration.seen.len(), exploration.ends);
    assert!(exploration.courses > 1_000);
}

/// Both ends declare the domain: the sender of a leave-all sends its declaration in the same MRPDU, and would stay quiet. It reminds.
#[test]
fn a_lost_leave_all_lets_nothing_lapse() {
    let mut network = reservation();
    let mut lost = None;
    let mut lapsed = false;
    network.run_with(at(END), |network, flying| {
        if lost.is_none() && network.now > at(SETTLED_FROM) && flying.to == (1, 0) && flying.pdu.leaves_all(4)
        {
            lost = Some(network.now);
            return false;
        }
        lapsed |= network.now > at(SETTLED_FROM) && network.at_bridge(0).is_boundary(1, &SrClass::a());
        true
    });
    assert!(lost.is_some() && !lapsed, "lost at {lost:?}");
    assert!(is_reserved(&mut network));
}
