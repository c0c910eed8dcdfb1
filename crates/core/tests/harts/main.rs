//! All courses of reservations of HaRTES over two switches and three stations, from the requests to the streams' end,
//! with a standby: at most one lost, one repeated and one late message, and the death of the ACMaster at any message;
//! and with both ACMasters, each of which comes back empty, dying one after the other at any message, the second as
//! soon as it may. Such courses include, too, one refused and one granted consumer, consumers that leave, the last one
//! among them, and come back, a cable that fails, and two streams that exclude one another while their tests take
//! time. States that were visited are not explored again. Larger networks, and more faults, are walked by seed.

mod exploration;
mod network;
mod walk;

use exploration::{Exploration, Faults};
use network::{Network, Verdict};

/// Producer and one consumer at one end, the other consumer at the other.
const STATIONS: [u16; 3] = [0, 1, 0];

/// The last consumer leaves, and the other one, and then one comes back; the producer, whose offer stays valid, sends no new request.
const COME_AND_GO: [(u64, usize, bool); 3] = [(180, 1, false), (181, 2, false), (215, 1, true)];
/// One of two consumers leaves and comes back.
const ONE_GOES: [(u64, usize, bool); 2] = [(180, 2, false), (215, 2, true)];

fn explore(verdict: Verdict, agenda: &[(u64, usize, bool)], faults: Faults) {
    explore_with(Network::new(2, &STATIONS, verdict, agenda, false, None), faults);
}

#[allow(clippy::print_stdout, reason = "a test says how many courses it has seen")]
fn explore_with(network: Network, faults: Faults) {
    let mut exploration = Exploration::new(&STATIONS);
    // Together with a death and a late message these are many.
    if faults.delay && faults.cut && faults.die > 0 {
        exploration.mended = 1;
    }
    exploration.go(network, faults);
    println!("{} courses, {} states, {} ends", exploration.courses, exploration.seen.len(), exploration.ends);
    assert!(exploration.courses > 1_000);
}

const NO_DEATH: Faults = Faults { lose: true, repeat: true, delay: true, die: 0, back: false, cut: false };
const DEATH: Faults = Faults { die: 1, ..NO_DEATH };

#[test]
fn one_reservation_survives_every_course_of_faults() {
    explore(Verdict::Admits, &[], NO_DEATH);
    explore(Verdict::Refuses, &[], NO_DEATH);
}

#[test]
fn a_consumer_is_refused_alone_in_every_course_of_faults() {
    explore(Verdict::RefusesOne(1), &[], NO_DEATH);
    explore(Verdict::RefusesOne(2), &[], NO_DEATH);
}

#[test]
fn consumers_come_and_go_in_every_course_of_faults() {
    explore(Verdict::Admits, &COME_AND_GO, NO_DEATH);
    explore(Verdict::Admits, &ONE_GOES, NO_DEATH);
}

#[test]
fn it_survives_the_death_of_the_acmaster_and_every_course_of_faults() {
    explore(Verdict::Admits, &[], DEATH);
}

/// One of them loses, repeats or delays a message; the ACMaster dies.
#[test]
fn consumers_come_and_go_when_the_acmaster_dies() {
    for (lose, repeat, delay) in [(true, false, false), (false, true, false), (false, false, true)] {
        let faults = Faults { lose, repeat, delay, ..DEATH };
        explore(Verdict::Admits, &COME_AND_GO, faults);
        explore(Verdict::Admits, &ONE_GOES, faults);
    }
}

/// Each of two streams fits alone; whenever the ACMaster dies in their tests, one of them is granted and the other is not.
#[test]
fn two_that_exclude_one_another_are_never_both_granted() {
    explore(Verdict::Excludes, &[], NO_DEATH);
    for (lose, repeat, delay) in [(true, false, false), (false, true, false), (false, false, true)] {
        explore(Verdict::Excludes, &[], Faults { lose, repeat, delay, ..DEATH });
    }
}

/// One of them loses, repeats or delays a message; the active ACMaster dies, comes back, and the other one dies.
#[test]
fn it_survives_two_failures_when_the_first_came_back() {
    for (lose, repeat, delay) in [(true, false, false), (false, true, false), (false, false, true)] {
        explore(Verdict::Admits, &[], Faults { lose, repeat, delay, die: 2, back: true, cut: false });
    }
}

/// An ACMaster without a standby dies at any message and comes back, twice: it surveys the switches, and no grant is
/// lost or duplicated.
#[test]
fn one_that_is_alone_comes_back_and_loses_nothing() {
    for (lose, repeat, delay) in [(true, false, false), (false, true, false), (false, false, true)] {
        for agenda in [&[][..], &COME_AND_GO, &ONE_GOES] {
            let faults = Faults { lose, repeat, delay, die: 2, back: true, cut: false };
            explore_with(Network::new(2, &STATIONS, Verdict::Admits, agenda, true, None), faults);
        }
        let faults = Faults { lose, repeat, delay, die: 1, back: true, cut: false };
        explore_with(Network::new(2, &STATIONS, Verdict::Excludes, &[], true, None), faults);
    }
}

/// Cables that may fail: between the switches, of a consumer at each of them, and of the producer.
const CABLES: [[u16; 2]; 4] = [[100, 101], [101, 1], [100, 2], [100, 0]];
const CUT: Faults = Faults { cut: true, ..NO_DEATH };
/// One of a lost, a repeated and a late message.
const ONE_OF: [Faults; 3] = [
    Faults { repeat: false, delay: false, ..CUT },
    Faults { lose: false, delay: false, ..CUT },
    Faults { lose: false, repeat: false, ..CUT },
];

fn explore_cut(cable: [u16; 2], agenda: &[(u64, usize, bool)], alone: bool, faults: Faults) {
    explore_with(Network::new(2, &STATIONS, Verdict::Admits, agenda, alone, Some(cable)), faults);
}

/// A cable fails at any message, and is back at once, soon, or when all are notified.
#[test]
fn a_cable_that_fails_leaves_nothing_behind() {
    for cable in CABLES {
        for faults in ONE_OF {
            explore_cut(cable, &[], false, faults);
        }
    }
}

/// The same while consumers come and go.
#[test]
fn a_cable_fails_while_consumers_come_and_go() {
    for cable in CABLES {
        for faults in ONE_OF {
            explore_cut(cable, &COME_AND_GO, true, faults);
        }
    }
}

/// The ACMaster dies before or behind the cable, and is not back, or, where it is alone, is.
#[test]
fn a_cable_fails_and_the_acmaster_dies() {
    let none = Faults { lose: false, ..ONE_OF[0] };
    for cable in CABLES {
        explore_cut(cable, &[], false, Faults { die: 1, ..none });
        explore_cut(cable, &[], true, Faults { die: 1, back: true, ..none });
    }
    for faults in ONE_OF {
        explore_cut(CABLES[0], &[], false, Faults { die: 1, ..faults });
        explore_cut(CABLES[0], &[], true, Faults { die: 1, back: true, ..faults });
    }
}

#[test]
fn larger_networks_are_walked() {
    let number =
        |variable: &str| std::env::var(variable).ok().map(|text| text.parse::<u64>().expect("a number"));
    let times = number("TAUTWIRE_TIMES").unwrap_or(1);
    (0..number("TAUTWIRE_CASES").unwrap_or(1_000 * times)).for_each(walk::walk);
}
