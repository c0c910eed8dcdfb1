//! The machine of gates: changes, clocks that are set, and drawn lists against an enumeration of their entries.

use alloc::vec::Vec;

use super::*;
use crate::gates::{CycleTime, Entry, Operation};

fn us(us: u64) -> Instant {
    Instant::ZERO + Duration::from_us(us)
}

/// Cycle, list of open classes and microseconds, base and extension in microseconds.
fn parameters(cycle: CycleTime, list: &[(u8, u64)], base: u64, extension: u64) -> GateParameters {
    let entry = |&(gate_states, ps): &(u8, u64)| Entry {
        operation: Operation::SetGateStates,
        gate_states,
        time_interval: Duration::from_ps(ps),
    };
    GateParameters {
        control_list: list.iter().map(entry).collect(),
        base_time: Instant::from_ps(base),
        cycle_time: cycle,
        cycle_time_extension: Duration::from_ps(extension),
    }
}

const US: u64 = 1_000_000;

fn settle(gates: &mut Gates, now: Instant) {
    while gates.edge() <= now {
        gates.cross();
    }
}

/// The states at an instant, with the edges before crossed one by one.
fn states(gates: &mut Gates, now: Instant) -> u8 {
    settle(gates, now);
    gates.states()
}

/// Case O3 of the standard's rules: the last cycle of a list is extended or cut.
#[test]
fn a_change_extends_or_cuts_the_last_cycle() {
    let millisecond = CycleTime::new(1_000 * US, 1).expect("a cycle");
    let old = |extension| {
        let list = [(0x80, 600 * US), (0x01, 400 * US)];
        Gates::new(0xff, parameters(millisecond, &list, 0, extension * US), Duration::ZERO)
    };
    let new = |base: u64| parameters(millisecond, &[(0x0f, 1_000 * US)], base * US, 0);
    // Extension, new base, instants and the states there.
    type Case = (u64, u64, &'static [(u64, u8)]);
    let cases: [Case; 3] = [
        (300, 14_250, &[(13_599, 0x80), (13_600, 1), (14_000, 1), (14_249, 1), (14_250, 0x0f)]),
        (300, 14_350, &[(13_999, 1), (14_000, 0x80), (14_349, 0x80), (14_350, 0x0f)]),
        (0, 14_250, &[(13_999, 1), (14_000, 0x80), (14_249, 0x80), (14_250, 0x0f)]),
    ];
    for (extension, base, seen) in cases {
        let mut gates = old(extension);
        settle(&mut gates, us(10_400));
        gates.change(us(10_400), new(base));
        assert!(gates.is_pending());
        for (at, expected) in seen {
            assert_eq!(states(&mut gates, us(*at)), *expected, "{extension} {base} at {at} us");
        }
        assert_eq!((gates.is_pending(), gates.change_errors()), (false, 0));
        assert_eq!(gates.change_time(), Some(us(base)));
    }
}

#[test]
fn a_base_time_that_is_past_counts_an_error_where_a_list_runs() {
    let cycle = CycleTime::new(400 * US, 1).expect("a cycle");
    let mut gates = Gates::new(0x55, parameters(cycle, &[(1, 400 * US)], 1_000 * US, 0), Duration::ZERO);
    assert_eq!((states(&mut gates, us(999)), states(&mut gates, us(1_000))), (0x55, 1));
    gates.change(us(1_000), parameters(cycle, &[(2, 400 * US)], 100 * US, 0));
    assert_eq!(gates.change_errors(), 1);
    assert_eq!((states(&mut gates, us(1_299)), states(&mut gates, us(1_300))), (1, 2));
    assert_eq!(gates.change_time(), Some(us(1_300)));
    // The node comes back: no list runs, so it is no error.
    gates.start(us(5_000));
    assert_eq!(gates.states(), 0x55);
    assert_eq!((states(&mut gates, us(5_299)), states(&mut gates, us(5_300))), (0x55, 2));
    assert_eq!(gates.change_errors(), 1);
}

#[test]
fn a_clock_that_is_set_back_does_not_begin_a_cycle_twice() {
    let cycle = CycleTime::new(100 * US, 1).expect("a cycle");
    let list = [(1, 50 * US), (2, 50 * US)];
    let mut gates = Gates::new(0xff, parameters(cycle, &list, 0, 0), Duration::ZERO);
    assert_eq!(states(&mut gates, us(310)), 1);
    // 20 us back, before the start of the cycle.
    gates.follow(us(310), GateTime::Ahead(-20_000_000));
    assert_eq!(
        (states(&mut gates, us(315)), states(&mut gates, us(369)), states(&mut gates, us(370))),
        (1, 1, 2)
    );
    // Forward over the rest of it.
    gates.follow(us(371), GateTime::Ahead(60_000_000));
    assert_eq!(states(&mut gates, us(371)), 1, "431 us is in the first half");
    // Far back.
    gates.follow(us(372), GateTime::Ahead(-300_000_000));
    assert_eq!(states(&mut gates, us(372)), 2, "72 us is in the second half");
    gates.follow(us(373), GateTime::Ahead(0));
    gates.skip_to(us(9_010));
    assert_eq!(states(&mut gates, us(9_010)), 1);
}

/// A generator of numbers (SplitMix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % most
    }

    /// Small numbers, so that edges meet.
    fn parameters(&mut self) -> GateParameters {
        let count = 1 + self.below(5);
        let states = [0x01, 0x03, 0x80, 0x00, 0xff];
        let list: Vec<(u8, u64)> =
            (0..count).map(|_| (states[self.below(5) as usize], 1 + self.below(12))).collect();
        let denominator = 1 + self.below(3);
        let cycle = CycleTime::new(denominator * (4 + self.below(30)) + self.below(denominator), denominator);
        parameters(cycle.expect("a cycle"), &list, self.below(60), self.below(20))
    }
}

/// The edges of all entries one by one, by the state machines of the standard, up to `end`.
fn enumerate(
    first: &GateParameters,
    change: Option<(u64, &GateParameters)>,
    tick: u64,
    end: u64,
) -> Vec<(u64, u8)> {
    let start_of = |list: &GateParameters, number: u64| {
        let cycle = list.cycle_time;
        let ps = u128::from(cycle.numerator()) * u128::from(number) / u128::from(cycle.denominator());
        list.base_time.as_ps() + u64::try_from(ps).expect("small")
    };
    let first_from =
        |list: &GateParameters, now: u64| (0..).find(|n| start_of(list, *n) >= now).expect("a cycle");
    let mut edges = [(0, 0x55)].to_vec();
    let ticked = |at: u64| at.div_ceil(tick) * tick;
    let mut lists = [(first, 0), (first, 0)];
    let begin = start_of(first, 0);
    let mut switch = None;
    if let Some((now, other)) = change {
        let number = first_from(other, now);
        lists[1] = (other, number);
        switch = Some((now, start_of(other, number)));
    }
    // The second list may take the place of the first before that begins.
    let mut which = 0;
    let mut at = begin;
    if let Some((now, at_change)) = switch.filter(|(now, _)| ticked(begin) > *now) {
        let _ = now;
        (which, at) = (1, at_change);
        switch = None;
    }
    let mut number = lists[which].1;
    while at < end {
        let (list, _) = lists[which];
        let natural = start_of(list, number + 1);
        let mut next = natural;
        if let Some((now, at_change)) = switch.filter(|_| which == 0) {
            let known = now < at || ticked(at) > now;
            let extended = natural + list.cycle_time_extension.as_ps();
            if known && at_change <= extended || !known && at_change <= natural {
                next = at_change;
            }
        }
        let mut begins = at;
        for entry in &list.control_list {
            if begins >= next {
                break;
            }
            edges.push((ticked(begins), entry.gate_states));
            begins += entry.time_interval.as_ps();
        }
        if switch.is_some_and(|(_, at_change)| which == 0 && next == at_change) {
            (which, number) = (1, lists[1].1);
        } else {
            number += 1;
        }
        at = next;
    }
    edges
}

fn states_at(edges: &[(u64, u8)], at: u64) -> u8 {
    edges.iter().rev().find(|(from, _)| *from <= at).expect("the first is at zero").1
}

/// Against every picosecond of an enumeration of all entries: drawn lists, fractions of cycles, ticks, a change.
#[test]
fn drawn_lists_equal_an_enumeration_of_their_entries() {
    for seed in 0..600 {
        let mut dice = Dice(seed);
        let tick = if dice.below(3) == 0 { 1 + dice.below(4) } else { 1 };
        let (first, second) = (dice.parameters(), dice.parameters());
        let change = (dice.below(2) == 0).then(|| (dice.below(150), &second));
        let edges = enumerate(&first, change, tick, 700);
        let mut gates = Gates::new(0x55, first.clone(), Duration::from_ps(tick));
        let mut asked = change;
        for now in 0..400_u64 {
            let local = Instant::from_ps(now);
            // Called late now and then.
            if dice.below(4) == 0 && asked.is_none_or(|(at, _)| at != now) {
                continue;
            }
            if asked.is_some_and(|(at, _)| at < now) {
                let (at, list) = asked.take().expect("a change");
                settle(&mut gates, Instant::from_ps(at));
                gates.change(Instant::from_ps(at), list.clone());
            }
            if asked.is_none() && dice.below(3) == 0 {
                gates.skip_to(local);
            }
            settle(&mut gates, local);
            if asked.is_some_and(|(at, _)| at == now) {
                gates.change(local, asked.take().expect("a change").1.clone());
                settle(&mut gates, local);
            }
            assert_eq!(gates.states(), states_at(&edges, now), "seed {seed} at {now}: {edges:?}");
            if asked.is_some() {
                continue;
            }
            for class in [0, 1, 7] {
                let need = dice.below(20);
                let fits =
                    |from: u64| (from..from + need.max(1)).all(|at| states_at(&edges, at) >> class & 1 == 1);
                match gates.fit(class, local, Duration::from_ps(need)) {
                    Fit::Now => assert!(fits(now), "seed {seed}, class {class}, {need} at {now}: {edges:?}"),
                    Fit::At(at) => {
                        let at = at.as_ps();
                        assert!(at > now, "seed {seed}");
                        let before = (now..at.min(450)).find(|from| fits(*from));
                        assert_eq!(
                            before, None,
                            "seed {seed}, class {class}, {need} at {now}, {at}: {edges:?}"
                        );
                    }
                    Fit::Never => {
                        let ever = (now..500).find(|from| fits(*from));
                        assert_eq!(ever, None, "seed {seed}, class {class}, {need} at {now}: {edges:?}");
                    }
                }
            }
        }
    }
}
