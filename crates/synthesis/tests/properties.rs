//! Schedules of small random problems: what is found passes the checker, what is called impossible is.
//!
//! Brute force tries every instant of every hop, slot by slot, with code of its own. Planted faults make sure that
//! the checker can find something.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngSeed, TestRunner};
use tautwire_model::network::DelayRange;
use tautwire_synthesis::{
    Fault, Flow, Hop, InQueue, Kept, Link, Outcome, Placement, Problem, Room, check, exact, exact_with,
    first_fit, first_fit_with,
};
use tautwire_units::Duration;

/// Common multiple of all periods and cycles drawn.
const COMMON: u64 = 24;

fn ps(ps: u64) -> Duration {
    Duration::from_ps(ps)
}

/// Two or three links, up to four flows of one to three hops, some of them trees.
fn problems() -> impl Strategy<Value = Problem> {
    let room = prop_oneof![3 => Just(None), 1 => (prop::sample::select(vec![4_u64, 6, 12]), 1..=2_u64).prop_map(Some)];
    let links = prop::collection::vec(room, 3);
    let hop = (0..3_usize, 1..=3_u64, 0..=2_u64, 0..=3_u64, prop::bool::ANY, 0..=2_u64, 1..=2_u64);
    let period = prop::sample::select(vec![4_u64, 6, 8, 12, 24]);
    let range = prop_oneof![3 => Just(None), 1 => (0..=5_u64, 0..=4_u64).prop_map(Some)];
    let flow = (period, prop::option::of(2..=30_u64), range, prop::collection::vec(hop, 1..=3));
    // Of some links the queues hold one frame.
    let queues = prop_oneof![Just(0_usize), Just(1), Just(3)];
    (links, prop::collection::vec(flow, 1..=4), 0..=1_u64, queues).prop_map(
        |(rooms, flows, precision, queues)| {
            let links = rooms.into_iter().enumerate().map(|(index, room)| Link {
                name: format!("l{index}"),
                room: room.map(|(cycle, length)| Room { cycle: ps(cycle), length: ps(length) }),
            });
            let flows = flows.into_iter().enumerate().map(|(index, (period, deadline, range, drawn))| {
                let mut hops: Vec<Hop> = Vec::new();
                for (link, window, travel, forwarding, forks, before, late) in drawn {
                    if hops.iter().any(|hop| hop.link == link) {
                        continue;
                    }
                    let previous = if forks && hops.len() > 1 { Some(0) } else { hops.len().checked_sub(1) };
                    let arrival = DelayRange { min: ps(window), max: ps(window + travel) };
                    let ready = previous.map_or(DelayRange::default(), |previous: usize| {
                        let (min, max) = (hops[previous].arrival.min, hops[previous].arrival.max);
                        DelayRange { min: min + ps(forwarding / 2), max: max + ps(forwarding) }
                    });
                    let queue = Some(InQueue { queue: link, before: ps(before), until: ps(late) })
                        .filter(|_| link < queues);
                    hops.push(Hop { link, previous, window: ps(window), arrival, ready, queue });
                }
                let (least, span) = range.unwrap_or((0, period - 1));
                let start = DelayRange { min: ps(least), max: ps(least + std::cmp::min(span, period - 1)) };
                Flow {
                    name: format!("f{index}"),
                    period: ps(period),
                    deadline: deadline.map(ps),
                    start,
                    hops,
                }
            });
            Problem { precision: ps(precision), links: links.collect(), queues, flows: flows.collect() }
        },
    )
}

/// Slots of a link, taken or not, over the common period.
type Slots = [bool; COMMON as usize];

/// Whether there is a schedule: every hop of every flow at every instant that the hop before leaves.
fn brute(problem: &Problem) -> bool {
    let mut links = vec![[false; COMMON as usize]; problem.links.len()];
    for (link, slots) in problem.links.iter().zip(&mut links) {
        if let Some(room) = link.room {
            let (cycle, length) = (room.cycle.as_ps(), room.length.as_ps());
            for slot in (0..COMMON).filter(|slot| slot % cycle >= cycle - length) {
                slots[slot as usize] = true;
            }
        }
    }
    let hops: Vec<(usize, usize)> = problem
        .flows
        .iter()
        .enumerate()
        .flat_map(|(flow, described)| (0..described.hops.len()).map(move |hop| (flow, hop)))
        .collect();
    let mut at = vec![vec![0; 3]; problem.flows.len()];
    // Queues behind the links.
    links.resize(problem.links.len() + problem.queues, [false; COMMON as usize]);
    place(problem, &hops, &mut links, &mut at)
}

/// Takes slots from an instant on, in every turn of a period; false if one is taken.
fn take(slots: &mut Slots, from: u64, length: u64, period: u64) -> bool {
    let mut clear = true;
    for turn in 0..COMMON / period {
        for slot in 0..length {
            let taken = &mut slots[((from + turn * period + slot) % COMMON) as usize];
            clear &= !*taken;
            *taken = true;
        }
    }
    clear
}

fn place(problem: &Problem, hops: &[(usize, usize)], links: &mut [Slots], at: &mut [Vec<u64>]) -> bool {
    let Some(((flow_index, hop_index), rest)) = hops.split_first() else { return true };
    let flow = &problem.flows[*flow_index];
    let hop = &flow.hops[*hop_index];
    let period = flow.period.as_ps();
    let range = (flow.start.min.as_ps(), flow.start.max.as_ps() + 1);
    let late = hop.queue.map_or(0, |queue| queue.until.as_ps());
    let (first, behind) = hop.previous.map_or(range, |previous| {
        let before = at[*flow_index][previous];
        let next = before + period + hop.ready.min.as_ps() - problem.precision.as_ps();
        (before + (hop.ready.max + problem.precision).as_ps(), (next + 1).saturating_sub(late))
    });
    for instant in first..behind {
        let clocks = if hop.previous.is_some() { problem.precision.as_ps() } else { 0 };
        at[*flow_index][*hop_index] = instant;
        let latency = instant - at[*flow_index][0] + hop.arrival.max.as_ps() + clocks;
        if flow.deadline.is_some_and(|deadline| latency > deadline.as_ps()) {
            continue;
        }
        let mut tried = links.to_vec();
        let mut clear = take(&mut tried[hop.link], instant, hop.window.as_ps(), period);
        if let Some(queue) = hop.queue {
            let comes = match hop.previous {
                Some(previous) => {
                    at[*flow_index][previous] + hop.ready.min.as_ps() + COMMON - problem.precision.as_ps()
                }
                None => instant + COMMON - queue.before.as_ps(),
            };
            let slots = &mut tried[problem.links.len() + queue.queue];
            clear &= take(slots, comes, instant + COMMON + queue.until.as_ps() - comes, period);
        }
        if !clear {
            continue;
        }
        let found = place(problem, rest, &mut tried, at);
        if found {
            return true;
        }
    }
    false
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    })]

    /// The search finds a schedule exactly where brute force does, and the checker takes it.
    #[test]
    fn the_complete_search_agrees_with_brute_force(problem in problems()) {
        match exact(&problem, u64::MAX) {
            Outcome::Found(schedule) => {
                prop_assert_eq!(schedule.placed(), problem.flows.len());
                prop_assert_eq!(check(&problem, &schedule), vec![]);
            }
            Outcome::Impossible => prop_assert!(!brute(&problem)),
            Outcome::Undecided => prop_assert!(false, "steps are unlimited"),
        }
    }

    /// What first fit places is a schedule; if it places all, the complete search agrees.
    #[test]
    fn first_fit_passes_the_checker(problem in problems()) {
        let Placement { schedule, left_out } = first_fit(&problem);
        prop_assert_eq!(check(&problem, &schedule), vec![]);
        prop_assert_eq!(schedule.placed() + left_out.len(), problem.flows.len());
        if left_out.is_empty() {
            prop_assert!(matches!(exact(&problem, u64::MAX), Outcome::Found(_)));
        }
    }

    /// Flows that stay where they are leave a schedule that there is, and no search moves them.
    #[test]
    fn flows_that_are_kept_stay(problem in problems(), choice in 0..8_usize) {
        let Outcome::Found(schedule) = exact(&problem, u64::MAX) else { return Ok(()) };
        let dispatch = schedule.dispatch.iter().cloned().enumerate();
        let kept: Kept = dispatch.filter(|(flow, _)| choice >> flow & 1 == 1).filter_map(|(flow, at)| Some((flow, at?))).collect();
        let Outcome::Found(again) = exact_with(&problem, &kept, u64::MAX) else {
            return Err(TestCaseError::fail("the schedule itself keeps them"));
        };
        let quick = first_fit_with(&problem, &kept).schedule;
        for found in [again, quick] {
            prop_assert_eq!(check(&problem, &found), vec![]);
            prop_assert!(kept.iter().all(|(flow, at)| found.dispatch[*flow].as_ref() == Some(at)));
        }
    }

    /// A dispatch moved by a slot makes a fault, or the schedule is still one by brute force too.
    #[test]
    fn the_checker_finds_a_dispatch_out_of_place(problem in problems(), choice in 0..100_usize, later in 0..2_u64) {
        let Outcome::Found(mut schedule) = exact(&problem, u64::MAX) else { return Ok(()) };
        let flow = choice % problem.flows.len();
        let dispatch = schedule.dispatch[flow].as_mut().unwrap();
        let hop = choice % dispatch.len();
        dispatch[hop] = if later == 1 { dispatch[hop] + ps(1) } else { dispatch[hop].saturating_sub(ps(1)) };
        let found = check(&problem, &schedule);
        prop_assert_eq!(found.is_empty(), holds(&problem, &schedule.dispatch), "{:?}", found);
    }
}

/// Whether these very instants are a schedule, in slots.
fn holds(problem: &Problem, dispatch: &[Option<Vec<Duration>>]) -> bool {
    let mut links = vec![[0_u8; COMMON as usize]; problem.links.len() + problem.queues];
    for (flow, at) in problem.flows.iter().zip(dispatch) {
        let at: Vec<u64> = at.as_ref().unwrap().iter().map(|at| at.as_ps()).collect();
        let period = flow.period.as_ps();
        let mut count = |place: usize, from: u64, length: u64| {
            for slot in
                (0..COMMON / period).flat_map(|turn| (0..length).map(move |slot| turn * period + slot))
            {
                links[place][((from + slot) % COMMON) as usize] += 1;
            }
        };
        for (hop, instant) in flow.hops.iter().zip(&at) {
            count(hop.link, *instant, hop.window.as_ps());
            let comes = hop.previous.map(|previous| at[previous] + hop.ready.min.as_ps());
            let mut late = 0;
            if let Some(queue) = hop.queue {
                late = queue.until.as_ps();
                let comes = match comes {
                    Some(comes) => comes + COMMON - problem.precision.as_ps(),
                    None => instant + COMMON - queue.before.as_ps(),
                };
                let leaves = instant + COMMON + late;
                count(problem.links.len() + queue.queue, comes, leaves.saturating_sub(comes));
            }
            let range = (flow.start.min.as_ps(), flow.start.max.as_ps() + 1);
            let (ready, behind) = hop.previous.map_or(range, |previous| {
                let next = at[previous] + (flow.period + hop.ready.min - problem.precision).as_ps();
                (at[previous] + (hop.ready.max + problem.precision).as_ps(), (next + 1).saturating_sub(late))
            });
            let clocks = if hop.previous.is_some() { problem.precision } else { Duration::ZERO };
            let latency = instant.saturating_sub(at[0]) + (hop.arrival.max + clocks).as_ps();
            if *instant < ready
                || *instant >= behind
                || flow.deadline.is_some_and(|deadline| latency > deadline.as_ps())
            {
                return false;
            }
        }
    }
    let alone = |slots: &[u8; COMMON as usize]| slots.iter().all(|taken| *taken <= 1);
    let (links, queues) = links.split_at(problem.links.len());
    queues.iter().all(alone)
        && links.iter().zip(&problem.links).all(|(slots, link)| {
            slots.iter().zip(0..COMMON).all(|(taken, slot)| {
                let kept = link.room.is_some_and(|room| {
                    slot % room.cycle.as_ps() >= room.cycle.as_ps() - room.length.as_ps()
                });
                *taken <= u8::from(!kept)
            })
        })
}

#[test]
fn the_problems_drawn_have_every_outcome() {
    let config = ProptestConfig { rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() };
    let mut runner = TestRunner::new(config);
    let (mut found, mut impossible, mut missed) = (0, 0, 0);
    for _ in 0..1_000 {
        let problem = problems().new_tree(&mut runner).unwrap().current();
        match exact(&problem, u64::MAX) {
            Outcome::Found(_) => {
                found += 1;
                missed += usize::from(!first_fit(&problem).left_out.is_empty());
            }
            Outcome::Impossible => impossible += 1,
            Outcome::Undecided => panic!("steps are unlimited"),
        }
    }
    println!("{found} found, of them {missed} not by first fit; {impossible} impossible");
    assert!(found > 100 && impossible > 100 && missed * 20 < found);
}

/// One link without room, one flow a link long.
fn one_link(flows: Vec<Flow>) -> Problem {
    Problem {
        precision: Duration::ZERO,
        links: vec![Link { name: "l".into(), room: None }],
        queues: 0,
        flows,
    }
}

fn flow(period: u64, window: u64) -> Flow {
    let arrival = DelayRange { min: ps(window), max: ps(window) };
    let ready = DelayRange::default();
    let hop = Hop { link: 0, previous: None, window: ps(window), arrival, ready, queue: None };
    let start = DelayRange { min: Duration::ZERO, max: ps(period - 1) };
    Flow { name: format!("every {period}"), period: ps(period), deadline: None, start, hops: vec![hop] }
}

#[test]
fn a_full_link_is_scheduled_and_a_fuller_one_proven_impossible() {
    let full = one_link(vec![flow(4, 2), flow(8, 2), flow(8, 2)]);
    assert!(matches!(exact(&full, 1_000), Outcome::Found(_)));
    assert!(first_fit(&full).left_out.is_empty());
    let over = one_link(vec![flow(4, 2), flow(8, 2), flow(8, 2), flow(24, 1)]);
    assert_eq!(exact(&over, 0), Outcome::Impossible, "by its load alone");
    assert_eq!(first_fit(&over).left_out, [3]);
}

#[test]
fn periods_without_a_common_divisor_cannot_share_a_link() {
    let problem = one_link(vec![flow(5, 1), flow(7, 1)]);
    assert_eq!(exact(&problem, 1_000), Outcome::Impossible);
    assert_eq!(first_fit(&problem).left_out.len(), 1);
}

#[test]
fn the_room_is_kept() {
    let mut problem = one_link(vec![flow(8, 2), flow(8, 2)]);
    problem.links[0].room = Some(Room { cycle: ps(4), length: ps(2) });
    let Outcome::Found(schedule) = exact(&problem, 1_000) else { panic!("two places are free") };
    assert_eq!(check(&problem, &schedule), []);
    let mut wrong = schedule.clone();
    wrong.dispatch[0] = Some(vec![ps(1)]);
    assert!(check(&problem, &wrong).contains(&Fault::InRoom { link: 0, flow: 0, at: ps(1) }));
    problem.flows.push(flow(8, 2));
    assert_eq!(exact(&problem, 1_000), Outcome::Impossible);
}

#[test]
fn no_steps_decide_nothing() {
    let problem = one_link(vec![flow(8, 1), flow(8, 1), flow(8, 1)]);
    assert_eq!(exact(&problem, 0), Outcome::Undecided);
}
