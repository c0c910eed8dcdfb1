//! Planned slots keep what they must, and no table of the class that is searched has a lesser worst round trip.
//!
//! The search knows nothing of the planner: it puts slots on every step of the cycle and looks at what every
//! port sees over two cycles. `TAUTWIRE_CASES` sets the number of problems, `TAUTWIRE_SEED` draws one.

use tautwire_core::tdma::Carries;
use tautwire_generate::{Dice, seeds};
use tautwire_synthesis::tdma_slots::{
    Alone, Opening, Pair, Rounds, SlotFault, SlotPassage, SlotPlan, SlotProblem, Transfer, plan, plan_as,
};
use tautwire_units::Duration;

fn us(number: u64) -> Duration {
    Duration::from_us(number)
}

/// A time in microseconds, rounded down.
fn steps(time: Duration) -> u64 {
    time.as_ps() / 1_000_000
}

fn passage(port: u32, from: u64, until: u64) -> SlotPassage {
    SlotPassage { port, from: us(from), until: us(until) }
}

/// A master and its slaves on one switch; ports 0 and 1 are the master's line, 2 and 3 that of the first slave.
fn problem(dice: &mut Dice, slaves: u32) -> SlotProblem {
    let line = |port, size: u64, far: u32, delay| {
        vec![passage(port, 0, size), passage(far, size + delay, 2 * size + delay)]
    };
    let (size, delay) = (1 + dice.between(0, 1), dice.between(0, 1));
    let mut asked = line(0, size, 3, delay);
    asked.extend((1..slaves).map(|slave| passage(3 + 2 * slave, size + delay, 2 * size + delay)));
    let master =
        Transfer { owner: 0, carries: Carries::RealTime, length: us(size), heard: us(0), passages: asked };
    let mut transfers = vec![master];
    let mut pairs = Vec::new();
    let heard = 2 + dice.between(0, 1);
    for slave in 0..slaves {
        let (size, processing) = (1 + dice.between(0, 2), dice.between(0, 3));
        let passages = line(2 + 2 * slave, size, 1, delay);
        let own = Transfer {
            owner: slave + 1,
            carries: Carries::RealTime,
            length: us(size),
            heard: us(heard),
            passages,
        };
        transfers.push(own);
        let ready = us(2 * steps(transfers[0].length) + delay + processing);
        let (response, way) = (slave as usize + 1, us(2 * size + delay));
        pairs.push(Pair { request: 0, response, ready, way, within: None });
    }
    let mut opening = vec![passage(0, 0, 1)];
    opening.extend((0..slaves).map(|slave| passage(3 + 2 * slave, 1, 2)));
    let openings = vec![Opening { start: us(0), passages: opening }];
    SlotProblem {
        quantum: us(1),
        error: us(dice.between(0, 1)),
        openings,
        transfers,
        pairs,
        alone: Vec::new(),
    }
}

/// Slots as (transfer, offset) in microseconds.
type Table = [(usize, u64)];

/// Whether no two frames meet, over two cycles: the earlier slot's frame is gone from a port before the other comes.
fn is_valid(problem: &SlotProblem, cycle: u64, table: &Table) -> bool {
    let mut events: Vec<(u64, Option<usize>, &[SlotPassage], u64)> = Vec::new();
    for turn in [0, cycle] {
        for opening in &problem.openings {
            events.push((turn + steps(opening.start), None, &opening.passages, 0));
        }
        for (transfer, offset) in table {
            let own = &problem.transfers[*transfer];
            if *offset < steps(own.heard) || offset + steps(own.length) > cycle {
                return false;
            }
            events.push((turn + offset, Some(*transfer), &own.passages, steps(own.length)));
        }
    }
    events.sort_by_key(|(start, ..)| *start);
    for (place, (start, _, passages, length)) in events.iter().enumerate() {
        for (later, transfer, others, _) in &events[place + 1..] {
            if transfer.is_some() && start + length > *later {
                return false;
            }
            for (one, other) in passages.iter().flat_map(|one| others.iter().map(move |other| (one, other))) {
                let until = start + steps(one.until) + steps(problem.error);
                if one.port == other.port && until > later + steps(other.from) {
                    return false;
                }
            }
        }
    }
    true
}

/// The worst round trip of a table; none if a response is not in the cycle of its request.
fn worst(problem: &SlotProblem, cycle: u64, table: &Table) -> Option<u64> {
    round_trips(problem, cycle, table)?.into_iter().max()
}

/// The same for each pair.
fn round_trips(problem: &SlotProblem, cycle: u64, table: &Table) -> Option<Vec<u64>> {
    let mut requests: Vec<u64> =
        table.iter().filter(|(one, _)| *one == 0).map(|(_, offset)| *offset).collect();
    requests.sort_unstable();
    let count = problem.pairs.len();
    let nth = |from: usize| {
        let place = from + count;
        requests[place % requests.len()] + cycle * (place / requests.len()) as u64 - requests[from]
    };
    let wait = (0..requests.len()).map(nth).max()?;
    let mut all = Vec::new();
    for pair in &problem.pairs {
        let mut most = 0;
        let mut responses: Vec<u64> =
            table.iter().filter(|(one, _)| *one == pair.response).map(|(_, offset)| *offset).collect();
        responses.sort_unstable();
        for request in &requests {
            let slot = responses.iter().find(|slot| **slot >= request + steps(pair.ready))?;
            most = most.max(slot - request + steps(pair.way));
        }
        all.push(wait + most);
    }
    Some(all)
}

/// How many round trips are behind their deadlines, and the worst of all: what a table costs.
fn cost(problem: &SlotProblem, found: &[u64]) -> (usize, u64) {
    let is_late = |(pair, found): &(&Pair, &u64)| pair.within.is_some_and(|within| **found > steps(within));
    let late = problem.pairs.iter().zip(found).filter(is_late).count();
    (late, found.iter().copied().max().unwrap_or(0))
}

/// All tables of these transfers in this order of the list, on every step.
fn search(
    problem: &SlotProblem,
    cycle: u64,
    of: &[usize],
    table: &mut Vec<(usize, u64)>,
    best: &mut Option<(usize, u64)>,
) {
    let Some((first, rest)) = of.split_first() else {
        if let Some(found) = round_trips(problem, cycle, table)
            .map(|found| cost(problem, &found))
            .filter(|found| best.is_none_or(|least| *found < least))
            && is_valid(problem, cycle, table)
        {
            *best = Some(found);
        }
        return;
    };
    // Two slots of one station: the second behind the first, so that no table is seen twice.
    let from = table.iter().filter(|(one, _)| one == first).map(|(_, offset)| offset + 1).max().unwrap_or(0);
    for offset in from..cycle {
        table.push((*first, offset));
        search(problem, cycle, rest, table, best);
        table.pop();
    }
}

/// The plan as a table, checked; its worst round trip.
fn planned(problem: &SlotProblem, cycle: Option<u64>, seed: u64) -> Result<(u64, u64), SlotFault> {
    let plan = plan(problem, cycle.map(us))?;
    Ok(checked(problem, &plan, seed))
}

/// Checks a plan: no two frames overlap, and round trips are as stated in it, or better if rounds interleave.
fn checked(problem: &SlotProblem, plan: &SlotPlan, seed: u64) -> (u64, u64) {
    let place = |owner: u32| problem.transfers.iter().position(|one| one.owner == owner).expect("an owner");
    let table: Vec<(usize, u64)> =
        plan.slots.iter().map(|slot| (place(slot.owner), steps(slot.offset))).collect();
    let cycle_steps = steps(plan.cycle);
    assert!(
        is_valid(problem, cycle_steps, &table),
        "TAUTWIRE_SEED={seed}: {table:?} in {cycle_steps}\n{problem:?}"
    );
    let found = worst(problem, cycle_steps, &table).expect("all are answered in their cycle");
    assert!(found <= steps(plan.round_trip), "TAUTWIRE_SEED={seed}: {found} {table:?}");
    let exact = problem.pairs.len() == 1 || plan.rounds == 1;
    assert!(!exact || found == steps(plan.round_trip), "TAUTWIRE_SEED={seed}: {found} {table:?}");
    for answer in &plan.answers {
        assert!(answer.ready <= answer.response && answer.response < plan.cycle, "TAUTWIRE_SEED={seed}");
    }
    (cycle_steps, steps(plan.round_trip))
}

fn least(problem: &SlotProblem, cycle: u64, of: &[usize]) -> Option<u64> {
    cheapest(problem, cycle, of).map(|(_, round_trip)| round_trip)
}

fn cheapest(problem: &SlotProblem, cycle: u64, of: &[usize]) -> Option<(usize, u64)> {
    let mut best = None;
    search(problem, cycle, of, &mut Vec::new(), &mut best);
    best
}

#[test]
fn no_table_with_one_round_is_better_in_the_shortest_cycle() {
    for seed in seeds(60) {
        let problem = problem(&mut Dice::new(seed), 1);
        let (cycle, found) = planned(&problem, None, seed).expect("a cycle as long as need be");
        for shorter in 1..cycle {
            let better = least(&problem, shorter, &[0, 1]);
            assert!(
                better.is_none_or(|better| better >= found),
                "TAUTWIRE_SEED={seed}: {better:?} in {shorter}"
            );
        }
        assert_eq!(least(&problem, cycle, &[0, 1]), Some(found), "TAUTWIRE_SEED={seed}");
    }
}

#[test]
fn no_table_is_better_with_two_slaves() {
    for seed in seeds(60).into_iter().take(200) {
        let problem = problem(&mut Dice::new(seed), 2);
        let (cycle, found) = planned(&problem, None, seed).expect("a cycle as long as need be");
        assert_eq!(least(&problem, cycle, &[0, 0, 1, 2]), Some(found), "TAUTWIRE_SEED={seed}: {problem:?}");
        let shorter = least(&problem, cycle - 1, &[0, 0, 1, 2]);
        assert!(shorter.is_none_or(|better| better >= found), "TAUTWIRE_SEED={seed}: {shorter:?}");
    }
}

#[test]
fn deadlines_of_round_trips_come_before_the_worst_and_no_table_keeps_more_of_them() {
    let (mut kept, mut dearer) = (0, 0);
    for seed in seeds(60).into_iter().take(200) {
        let mut dice = Dice::new(seed);
        let mut problem = problem(&mut dice, 2);
        let free = plan(&problem, None).expect("a cycle as long as need be");
        // A deadline between what a pair has as the only one in a hurry, and what it has now.
        let hurried = usize::from(free.round_trips[1] > free.round_trips[0]);
        let now = steps(free.round_trips[hurried]);
        problem.pairs[hurried].within = Some(us(now.saturating_sub(dice.between(1, 4))));
        let cycle = steps(free.cycle) + dice.between(0, 2);
        let planned = plan_as(&problem, Some(us(cycle)), Rounds::Apart, false).expect("room");
        checked(&problem, &planned, seed);
        let found: Vec<u64> = planned.round_trips.iter().copied().map(steps).collect();
        let own = cost(&problem, &found);
        let best = cheapest(&problem, cycle, &[0, 0, 1, 2]).expect("a table");
        assert_eq!(own, best, "TAUTWIRE_SEED={seed}: {planned:?} {problem:?}");
        kept += u32::from(own.0 == 0);
        problem.pairs[hurried].within = None;
        let free = plan_as(&problem, Some(us(cycle)), Rounds::Apart, false).expect("room");
        dearer += u32::from(own.0 == 0 && steps(free.round_trip) < own.1);
    }
    assert!(seeds(60).len() == 1 || kept > 0, "a deadline is kept by another order at times");
    assert!(seeds(60).len() == 1 || dearer > 0, "at the price of the worst round trip: {dearer} of {kept}");
}

#[test]
fn no_table_with_at_most_two_rounds_is_better_in_a_kept_cycle() {
    let mut twice = 0;
    for seed in seeds(60).into_iter().take(200) {
        let problem = problem(&mut Dice::new(seed), 1);
        let (needed, _) = planned(&problem, None, seed).expect("a cycle as long as need be");
        let cycle = needed + 6 + seed % 4;
        let apart = plan_as(&problem, Some(us(cycle)), Rounds::Apart, false).expect("room");
        let (_, found) = checked(&problem, &apart, seed);
        let once = least(&problem, cycle, &[0, 1]).expect("room for a round");
        // Rounds of which the second begins behind the first one's end.
        let both = alike(&problem, cycle, |first, apart, second| first + apart < second);
        twice += u32::from(both.is_some_and(|both| both < once));
        assert!(
            found <= once && both.is_none_or(|both| found <= both),
            "TAUTWIRE_SEED={seed}: {found} {both:?}"
        );
    }
    assert!(twice > 0, "two rounds are better at times");
}

/// The least of all tables with two equal rounds in this arrangement.
fn alike(problem: &SlotProblem, cycle: u64, allowed: impl Fn(u64, u64, u64) -> bool) -> Option<u64> {
    let mut best: Option<u64> = None;
    for apart in 1..cycle {
        for first in 0..cycle.saturating_sub(apart) {
            for second in first + 1..cycle.saturating_sub(apart) {
                if !allowed(first, apart, second) {
                    continue;
                }
                let table = [(0, first), (1, first + apart), (0, second), (1, second + apart)];
                let Some(found) = worst(problem, cycle, &table) else { continue };
                if best.is_none_or(|least| found < least) && is_valid(problem, cycle, &table) {
                    best = Some(found);
                }
            }
        }
    }
    best
}

#[test]
fn no_table_of_two_rounds_is_better_even_if_they_interleave() {
    let (mut interleaved, mut more) = (0, 0);
    for seed in seeds(60).into_iter().take(200) {
        let problem = problem(&mut Dice::new(seed), 1);
        let (needed, _) = planned(&problem, None, seed).expect("a cycle as long as need be");
        let cycle = needed + 3 + seed % 6;
        let (_, found) = planned(&problem, Some(cycle), seed).expect("room");
        let any = alike(&problem, cycle, |_, _, _| true);
        assert!(any.is_none_or(|any| found <= any), "TAUTWIRE_SEED={seed}: {found} {any:?} in {cycle}");
        let apart = plan_as(&problem, Some(us(cycle)), Rounds::Apart, false).expect("room");
        interleaved += u32::from(found < steps(apart.round_trip));
        more += u32::from(any.is_some_and(|any| any < steps(apart.round_trip)));
    }
    assert!(
        seeds(60).len() == 1 || interleaved > 0 && more > 0,
        "interleaved rounds are better at times: {interleaved} {more}"
    );
}

#[test]
fn plans_of_several_slaves_with_rounds_that_interleave_are_valid_and_no_worse() {
    let mut better = 0;
    for seed in seeds(60).into_iter().take(400) {
        let mut problem = problem(&mut Dice::new(seed), 2 + u32::try_from(seed % 3).expect("small"));
        // Slaves that take long: others may use the time.
        for pair in &mut problem.pairs {
            pair.ready += us(10 + seed % 20);
        }
        let (needed, _) = planned(&problem, None, seed).expect("a cycle as long as need be");
        // Room for more than one round, and often not for two of them behind each other.
        let cycle = needed * (5 + seed % 8) / 4;
        let (_, found) = planned(&problem, Some(cycle), seed).expect("room");
        let apart = plan_as(&problem, Some(us(cycle)), Rounds::Apart, false).expect("room");
        let (_, apart) = checked(&problem, &apart, seed);
        assert!(found <= apart, "TAUTWIRE_SEED={seed}: {found} {apart}");
        better += u32::from(found < apart);
    }
    assert!(better > 0 || seeds(60).len() == 1, "interleaved rounds are better at times");
}

/// The pair of a problem and slaves that report with a deadline: each needs a slot in every so many cycles.
fn with_reports(dice: &mut Dice, reports: u32, cycle: u64) -> SlotProblem {
    let mut problem = problem(dice, 1);
    for report in 0..reports {
        let size = 1 + dice.between(0, 2);
        let passages = vec![passage(20 + report, 0, size), passage(1, size, 2 * size)];
        let owner = 10 + report;
        problem.transfers.push(Transfer {
            owner,
            carries: Carries::RealTime,
            length: us(size),
            heard: us(2),
            passages,
        });
        let apart_max = dice.chance(80).then(|| us(cycle * dice.between(1, 9)));
        problem.alone.push(Alone { transfer: problem.transfers.len() - 1, apart_max });
    }
    problem
}

#[test]
fn streams_that_take_turns_in_a_slot_keep_their_distances_and_make_room() {
    let mut better = 0;
    for seed in seeds(60).into_iter().take(400) {
        let mut dice = Dice::new(seed);
        let reports = u32::try_from(dice.between(2, 5)).expect("small");
        let cycle = 60 + dice.between(0, 20);
        let problem = with_reports(&mut dice, reports, cycle);
        let plan = plan_as(&problem, Some(us(cycle)), Rounds::Interleaved, true).expect("room");
        let never = plan_as(&problem, Some(us(cycle)), Rounds::Interleaved, false).expect("room");
        assert!(plan.round_trip <= never.round_trip, "TAUTWIRE_SEED={seed}");
        better += u32::from(plan.round_trip < never.round_trip);
        for alone in &problem.alone {
            let own = problem.transfers[alone.transfer].owner;
            let slot = plan.slots.iter().find(|slot| slot.owner == own).expect("everybody has a slot");
            assert!(slot.phase < slot.every, "TAUTWIRE_SEED={seed}");
            let apart = us(cycle) * u64::from(slot.every);
            assert!(
                alone.apart_max.map_or(slot.every == 1, |most| apart <= most || slot.every == 1),
                "TAUTWIRE_SEED={seed}: {slot:?} {alone:?}"
            );
        }
        // In every cycle that occurs those of its slots that are used keep apart.
        let place =
            |owner: u32| problem.transfers.iter().position(|one| one.owner == owner).expect("an owner");
        for number in 0..64 {
            let used = plan.slots.iter().filter(|slot| number % slot.every == slot.phase);
            let table: Vec<(usize, u64)> = used.map(|slot| (place(slot.owner), steps(slot.offset))).collect();
            assert!(is_valid(&problem, cycle, &table), "TAUTWIRE_SEED={seed}: {table:?}");
        }
    }
    assert!(better > 0 || seeds(60).len() == 1, "turns make room at times");
}

#[test]
fn a_cycle_without_room_is_refused_with_what_it_needs() {
    let problem = problem(&mut Dice::new(1), 2);
    let (needed, _) = planned(&problem, None, 1).expect("a cycle as long as need be");
    assert_eq!(plan(&problem, Some(us(needed - 1))), Err(SlotFault::TooShort { needed: us(needed) }));
    assert!(planned(&problem, Some(needed), 1).is_ok());
    assert_eq!(plan(&SlotProblem { pairs: Vec::new(), ..problem }, None), Err(SlotFault::NoPairs));
}
