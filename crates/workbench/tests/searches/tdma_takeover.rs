//! The takeover of a TDMA network's standby is stated, and a run is not longer without a cycle; what it costs a frame is stated
//! too, and holds for slots before and behind the standby's watch. So is what links and synchronisation frames cost that are lost:
//! no frame is later than the bound without failures and that.

use tautwire_analysis::{CostRule, Failure, failure_costs, takeover};
use tautwire_generate::{TdmaFailure, random_tdma, seeds};
use tautwire_sim::{DropReason, Observation};
use tautwire_units::Duration;
use tautwire_workbench::{Network, Options, Summary, bounds, simulate, verify};

use crate::common::{described as network, dropped, run_slots};

/// A master that fails at `fails`, and a slave with two slots; the standby watches for so long.
fn failing(watch: &str, fails: u64, offset: u64) -> Network {
    network(&format!(
        "name: takeover\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\ndefaults: {{rate: 100 Mbit/s, clock: {{tolerance: 100 ppm}}}}\nnodes:
  master: {{type: end-station}}\n  standby: {{type: end-station}}\n  a: {{type: end-station}}
  s: {{type: bridge}}\nlinks:\n  - {{between: [master, s]}}\n  - {{between: [standby, s]}}\n  - {{between: [a, s]}}
run: {{duration: 30 ms}}\nevents:\n  - {{at: {fails} us, stop-node: master}}\ntdma:\n  cycle: 1 ms
  synchronisation: opening\n  standby: {{synchronisation: watching, offset: {watch}}}\n  slots:
    - {{owner: a, offset: 250 us, length: 60 us}}\n    - {{owner: a, offset: 330 us, length: 60 us}}
    - {{owner: standby, offset: 410 us, length: 60 us}}\nstreams:
  - {{name: opening, talker: master, listeners: all, payload: 46 B, traffic: {{type: synchronisation}}}}
  - {{name: watching, talker: standby, listeners: all, payload: 46 B, traffic: {{type: synchronisation}}}}
  - {{name: x, talker: a, listeners: standby, payload: 200 B, traffic: {{type: periodic, interval: 1010 us, offset: {offset} us}}}}
"
    ))
}

fn seen(network: &Network) -> Observation {
    simulate(network, &mut Options::default())
}

#[test]
fn the_time_without_a_cycle_is_stated_and_observed() {
    let network = failing("120 us", 10_500, 0);
    let stated = takeover(&network).expect("a standby");
    let silence = stated.silence.expect("proven");
    assert_eq!(silence, stated.cycle + stated.watch + stated.error, "the parts of which it is made");
    assert_eq!((stated.cycle, stated.watch), (Duration::from_us(1_000), Duration::from_us(120)));
    let observed = seen(&network).takeover.expect("the standby takes over");
    assert!(
        observed <= silence && observed.as_ps() * 1_000 > silence.as_ps() * 998,
        "{observed} of {silence}"
    );
    // A run that keeps the master has none.
    let intact = network.altered(|parts| parts.events.clear());
    assert_eq!(seen(&intact).takeover, None);
}

/// A master that stops before the standby has received a cycle leaves no station to open one: nothing is proven, and none does.
#[test]
fn a_master_that_stops_unheard_has_no_takeover() {
    for (fails, is_bounded) in [(0, false), (1_999, false), (2_001, true)] {
        let network = failing("120 us", fails, 0);
        let found = bounds(&network).streams[2].listeners[0].delay.clone();
        assert_eq!(found.is_ok(), is_bounded, "{fails}: {found:?}");
        assert_eq!(takeover(&network).expect("a standby").silence.is_ok(), is_bounded, "{fails}");
    }
    let run = seen(&failing("120 us", 0, 0));
    assert_eq!((run.takeover, run.streams[2].delivered), (None, 0), "nobody opens a cycle");
    assert!(seen(&failing("120 us", 2_001, 0)).takeover.is_some());
}

/// Slots before the standby's frame are lost with the cycle that it opens: two of them, not one.
#[test]
fn a_takeover_costs_all_slots_of_a_cycle_that_begin_before_it() {
    let wait = |watch: &str| {
        let worst = (0..11).map(|step| {
            let network = failing(watch, 10_900, step * 101);
            let (found, run) = (bounds(&network), seen(&network));
            let bound = found.streams[2].listeners[0].delay.clone().expect("a bound");
            let longest = run.streams[2].listeners[0].worst.expect("frames").delay;
            assert!(longest <= bound, "{watch}, {step}: {longest} above {bound}");
            longest
        });
        worst.max().expect("runs")
    };
    let (early, late) = (wait("120 us"), wait("600 us"));
    assert!(early < Duration::from_us(1_100), "its slots are behind the watch: {early}");
    // From the second slot to the first of the cycle after the next one.
    assert!(late > Duration::from_us(1_500), "{late}");
}

#[test]
fn the_bound_with_a_failing_master_is_the_bound_without_and_the_takeover_time() {
    let (mut held, mut observed, mut taken) = (0, 0, 0);
    for seed in seeds(40) {
        let failing = network(&random_tdma(seed, TdmaFailure::MasterStops));
        let stated = takeover(&failing).expect("a standby");
        let intact = failing.clone().altered(|parts| parts.events.clear());
        assert_eq!(takeover(&intact).expect("a standby").added, stated.added, "{seed}: it is stated before");
        let (with, without) = (bounds(&failing), bounds(&intact));
        let run = run_slots(&failing, &with, seed);
        assert!(run.wrong.is_empty(), "TAUTWIRE_SEED={seed}: {:#?}", run.wrong);
        taken += u32::from(run.observation.takeover.is_some());
        for (number, added) in stated.added.iter().enumerate() {
            let Some(added) = added else { continue };
            let listeners = &run.observation.streams[number].listeners;
            for (seen, without) in listeners.iter().zip(&without.streams[number].listeners) {
                let Some(worst) = &seen.worst else { continue };
                let without = without.delay.clone().expect("bounded");
                assert!(
                    worst.delay <= without + *added,
                    "{seed}: {} seen above {without} and {added}",
                    worst.delay
                );
                observed += 1;
            }
            for (with, without) in
                with.streams[number].listeners.iter().zip(&without.streams[number].listeners)
            {
                let (with, without) =
                    (with.delay.clone().expect("bounded"), without.delay.clone().expect("bounded"));
                assert!(with <= without + *added, "{seed}: {with} above {without} and {added}");
                held += 1;
            }
        }
    }
    assert!(held > 0, "there are bounds");
    assert!(observed > 0 && taken > 0, "{observed} observed, {taken} standbys take over");
}

/// Whatever fails in a network with a standby, it opens its first cycle as soon as is stated.
#[test]
fn no_standby_takes_over_later_than_stated() {
    let mut taken = 0;
    for failure in [
        TdmaFailure::MasterStops,
        TdmaFailure::DividedForGood,
        TdmaFailure::ReturnsWithStandby,
        TdmaFailure::BitErrorsWithStandby,
        TdmaFailure::MasterReturns,
    ] {
        for seed in seeds(24) {
            let network = network(&random_tdma(seed, failure));
            let run = run_slots(&network, &bounds(&network), seed);
            assert!(run.wrong.is_empty(), "TAUTWIRE_SEED={seed} ({failure:?}): {:#?}", run.wrong);
            let proven = takeover(&network).expect("a standby").silence.ok();
            if let (Some(most), Some(seen)) = (proven, run.observation.takeover) {
                assert!(seen <= most, "TAUTWIRE_SEED={seed} ({failure:?}): {seen} above {most}");
                taken += 1;
            }
        }
    }
    assert!(taken > 5, "standbys take over: {taken}");
}

#[test]
fn the_summary_states_it_and_a_later_takeover_contradicts() {
    let network = failing("120 us", 10_500, 0);
    let (bounds, mut run) = (bounds(&network), seen(&network));
    let summary = Summary::new(&network, Some(&bounds), Some(&run));
    let stated = summary.takeover.expect("a standby");
    let parts = [stated.cycle_ps, stated.watch_ps, stated.error_ps].into_iter().flatten().sum::<u64>();
    assert_eq!(stated.silence_max_ps, Some(parts));
    assert!(stated.silence_observed_ps <= stated.silence_max_ps && stated.silence_observed_ps.is_some());
    assert_eq!((stated.standby.as_str(), stated.takeover_max_ps.is_some()), ("standby", true));
    run.takeover = Some(Duration::from_ps(parts + 1));
    let wrong = tautwire_workbench::verify(&network, &bounds, &run).contradictions;
    assert!(wrong.len() == 1 && wrong[0].text.contains("takeover by the standby"), "{wrong:?}");
}

/// A master, a slave with one slot and perhaps a standby, with perfect clocks and no hosts; what fails, and what is set of slots.
fn exact(standby: bool, links: &str, tdma: &str, events: &str) -> Network {
    let (node, cable, slot, stream) = if standby {
        (
            "  standby: {type: end-station}\n",
            "  - {between: [standby, s]}\n",
            "  standby: {synchronisation: watching, offset: 100 us, lost-in-a-row: 3}\n",
            "  - {name: watching, talker: standby, listeners: all, payload: 46 B, traffic: {type: synchronisation}}\n",
        )
    } else {
        ("", "", "", "")
    };
    network(&format!(
        "name: exact\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\ndefaults: {{rate: 100 Mbit/s}}\nnodes:
  master: {{type: end-station}}\n{node}  a: {{type: end-station}}\n  s: {{type: bridge}}\nlinks:
  - {{name: to-master, between: [master, s]}}\n{cable}  - {{name: to-a, between: [a, s]{links}}}
tdma:\n  cycle: 1 ms\n  synchronisation: opening\n{slot}{tdma}  slots: [{{owner: a, offset: 300 us, length: 50 us}}]
run: {{duration: 60 ms}}\nstreams:
  - {{name: opening, talker: master, listeners: all, payload: 46 B, traffic: {{type: synchronisation}}}}
{stream}  - {{name: x, talker: a, listeners: master, payload: 46 B, traffic: {{type: periodic, interval: 10 ms}}}}
{events}"
    ))
}

/// The rule for the cost of a kind of failure, and what it adds to the bound of the last stream; picoseconds.
fn cost_of(network: &Network, failure: Failure) -> (CostRule, u64) {
    let costs = failure_costs(network).expect("something fails");
    let cost = costs.kinds.iter().find(|cost| cost.failure == failure).expect("it is described");
    let added = cost.added.last().expect("streams").expect("a bound");
    (cost.rule.clone().expect("proven"), added.as_ps())
}

/// By hand: a cut for good costs the slot of a cycle, and so one cycle of waiting; with failures that are repaired,
/// and lost frames, a frame waits for its lifetime instead of a cycle. Where a standby opens cycles, its frames' path
/// to the master is in the error of a slot, because the master knows no travel time; where both open them, so is the
/// other's frame at each of two ports, for the frames of either.
#[test]
fn what_lost_links_and_lost_frames_add_is_as_by_hand() {
    // All clocks are perfect, and frames tagged: 68 octets, with a preamble, and with a gap.
    let (cycle, way, competing) = (1_000_000_000, 2 * 6_080_000, 2 * 2 * 7_040_000);
    let near = |one: u64, other: u64| one.abs_diff(other) < 1_000;
    let cut = "events:\n  - {at: 20 ms, cut-link: to-master}\n";
    let (rule, added) = cost_of(&exact(true, "", "", cut), Failure::Links);
    assert!(rule == CostRule::Slots && near(added, cycle + way), "{rule:?} {added}");
    let back = format!("{cut}  - {{at: 30 ms, mend-link: to-master}}\n").replace("to-master", "to-a");
    for (standby, lifetime, links, events, failure, error) in [
        (false, 2_500_000_000, "", back.as_str(), Failure::Links, 0),
        (true, 2_500_000_000, "", &back, Failure::Links, 0),
        (false, 3_100_000_000, ", bit-error-rate: 1e-5", "", Failure::Frames, 0),
        (true, 3_100_000_000, ", bit-error-rate: 1e-5", "", Failure::Frames, way + competing),
    ] {
        let set = format!("  lifetime: {} us\n", lifetime / 1_000_000);
        let (rule, added) = cost_of(&exact(standby, links, &set, events), failure);
        assert!(
            rule == CostRule::Lifetime && near(added, lifetime - cycle + error),
            "{standby}, {failure:?}: {added}"
        );
    }
    // Derived: two cycles and the margin of the slot, 50 us without a frame of 88 octets.
    let (_, added) = cost_of(&exact(true, "", "", &back), Failure::Links);
    assert!(near(added, cycle + 50_000_000 - 7_040_000), "{added}");
}

#[test]
fn failures_of_several_kinds_are_stated_alone_and_together() {
    let events = "events:\n  - {at: 20 ms, cut-link: to-a}\n  - {at: 25 ms, mend-link: to-a}\n  - {at: 30 ms, stop-node: master}\n";
    let network = exact(true, ", bit-error-rate: 1e-6", "", events);
    let costs = failure_costs(&network).expect("it fails");
    let kinds: Vec<Failure> = costs.kinds.iter().map(|cost| cost.failure).collect();
    assert_eq!(kinds, [Failure::Stations, Failure::Links, Failure::Frames, Failure::All]);
    let all = costs.kinds[3].added_max().expect("a bound");
    assert!(costs.kinds[..3].iter().all(|cost| cost.added_max().is_some_and(|one| one <= all)));
    // What is stated of a master that stops is what is stated of it before it does.
    assert_eq!(costs.kinds[0].added, takeover(&network).expect("a standby").added);
    assert_eq!(failure_costs(&exact(true, "", "", "")), None, "nothing fails");
    // With a standby without a limit of missed frames nothing is proven, and that is reported.
    let unsaid = network.altered(|parts| {
        let tdma = parts.tdma.as_mut().expect("slots");
        tdma.standby.as_mut().expect("a standby").lost_in_a_row = None;
    });
    let costs = failure_costs(&unsaid).expect("it fails");
    assert!(costs.kinds[2].rule.is_err() && costs.kinds[2].added_max().is_none(), "{:?}", costs.kinds[2]);
    let summary = Summary::new(&unsaid, Some(&bounds(&unsaid)), None);
    assert!(summary.failures[2].unbounded.is_some() && summary.failures[2].rule.is_none());
    assert_eq!(summary.failures[0].rule.as_deref(), Some("slots"));
}

/// Of every failure of the search: no frame is later than the bound of the network in which nothing fails and the stated takeover
/// time. Runs are later than the first alone, so a takeover time of nothing would be found.
#[test]
fn whatever_fails_a_frame_is_no_later_than_the_bound_without_and_the_takeover_time() {
    let mut later = 0;
    for failure in TdmaFailure::ALL {
        let (mut held, mut stated) = (0, 0);
        let seeds = seeds(40);
        for seed in &seeds {
            let network = network(&random_tdma(*seed, failure));
            let Some(costs) = failure_costs(&network) else { continue };
            let cost = costs.kinds.last().expect("a kind");
            let found = bounds(&network);
            let run = run_slots(&network, &found, *seed);
            assert!(run.wrong.is_empty(), "TAUTWIRE_SEED={seed} ({failure:?}): {:#?}", run.wrong);
            stated += u32::from(cost.added_max().is_some());
            for (number, added) in cost.added.iter().enumerate() {
                let Some(added) = added else { continue };
                let pairs =
                    costs.without.streams[number].listeners.iter().zip(&found.streams[number].listeners);
                for ((without, with), seen) in pairs.zip(&run.observation.streams[number].listeners) {
                    let without = without.delay.clone().expect("bounded");
                    let with = with.delay.clone().expect("bounded");
                    assert!(
                        with <= without + *added,
                        "{seed} ({failure:?}): {with} above {without} and {added}"
                    );
                    let Some(worst) = &seen.worst else { continue };
                    assert!(
                        worst.delay <= without + *added,
                        "TAUTWIRE_SEED={seed} ({failure:?}): {} seen above {without} and {added}",
                        worst.delay
                    );
                    later += u32::from(worst.delay > without);
                    held += 1;
                }
            }
            let summary = Summary::new(&network, Some(&found), Some(&run.observation));
            let (last, rest) = summary.failures.split_last().expect("a kind");
            assert!(last.added_observed_ps <= last.added_max_ps, "{seed} ({failure:?})");
            assert!(rest.iter().all(|one| one.added_observed_ps.is_none()), "a run shows all together");
        }
        let fails = failure != TdmaFailure::Nothing;
        assert!(
            !fails || seeds.len() < 20 || stated > 0 && held > 0,
            "{failure:?}: {stated} stated, {held} held"
        );
        assert!(fails || stated == 0, "{failure:?}: nothing is stated where nothing fails");
    }
    assert!(later > 0 || seeds(40).len() < 20, "runs show that failures make frames later: {later}");
}

/// Two cables between the bridges of master and standby; which is cut permanently.
fn over_two_cables(cut: &str) -> Network {
    let stations = "name: two-cables\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\ndefaults: {rate: 100 Mbit/s}\nnodes:
  a: {type: end-station}\n  b: {type: end-station}\n  s: {type: bridge}\n  t: {type: bridge}\nlinks:
  - {between: [a, s]}\n  - {between: [b, t]}\n  - {name: first, between: [s, t]}\n  - {name: second, between: [s, t]}
tdma:\n  cycle: 1 ms\n  synchronisation: opening\n  standby: {synchronisation: watching, offset: 100 us}
  slots: [{owner: b, offset: 300 us, length: 50 us}]\nrun: {duration: 20 ms}\nstreams:
  - {name: opening, talker: a, listeners: all, payload: 46 B, traffic: {type: synchronisation}}
  - {name: watching, talker: b, listeners: all, payload: 46 B, traffic: {type: synchronisation}}
  - {name: x, talker: b, listeners: a, payload: 46 B, traffic: {type: periodic, interval: 10 ms}}\n";
    network(&format!("{stations}events:\n  - {{at: 5 ms, cut-link: {cut}}}\n"))
}

#[test]
fn a_cut_has_a_bound_only_where_the_standby_is_still_reached() {
    let reason = |cut: &str| bounds(&over_two_cables(cut)).streams[2].listeners[0].delay.clone();
    assert!(reason("first").is_err_and(|why| why.name() == "two-rasters"), "{:?}", reason("first"));
    assert!(reason("second").is_ok(), "nobody used it");
    // Both open cycles then, as a run shows.
    let run = seen(&over_two_cables("first"));
    assert!(run.streams[0].created > 15 && run.streams[1].created > 10, "{run:?}");
    assert!(takeover(&over_two_cables("first")).expect("a standby").silence.is_err());
}

/// The failing network with other events, and a lifetime.
fn silent(events: &str, standby: bool) -> Network {
    let text = format!(
        "name: silent\nnetwork-control: none\nvlans:\n  1:\n    tagged: all\ndefaults: {{rate: 100 Mbit/s, clock: {{tolerance: 100 ppm}}}}\nnodes:
  master: {{type: end-station}}\n  standby: {{type: end-station}}\n  a: {{type: end-station}}
  s: {{type: bridge}}\nlinks:\n  - {{between: [master, s]}}\n  - {{between: [standby, s]}}\n  - {{between: [a, s]}}
run: {{duration: 60 ms}}\nevents: [{events}]\ntdma:\n  cycle: 1 ms\n  lifetime: 4 ms
  synchronisation: opening\n  STANDBY\n  slots:
    - {{owner: a, offset: 250 us, length: 60 us}}\nstreams:
  - {{name: opening, talker: master, listeners: all, payload: 46 B, traffic: {{type: synchronisation}}}}
  WATCHING\n  - {{name: x, talker: a, listeners: standby, payload: 200 B, traffic: {{type: periodic, interval: 1010 us}}}}
"
    );
    let (one, other) = match standby {
        true => (
            "standby: {synchronisation: watching, offset: 120 us}",
            "- {name: watching, talker: standby, listeners: all, payload: 46 B, traffic: {type: synchronisation}}",
        ),
        false => ("", ""),
    };
    network(&text.replace("STANDBY", one).replace("WATCHING", other))
}

#[test]
fn a_master_without_a_standby_opens_cycles_again_when_it_is_back() {
    for (back, from) in [(10_003, 12_003), (25_000, 27_000)] {
        let events = format!("{{at: 10 ms, stop-node: master}}, {{at: {back} us, start-node: master}}");
        let network = silent(&events, false);
        let observation = seen(&network);
        let stream = &observation.streams[1];
        assert!(verify(&network, &bounds(&network), &observation).contradictions.is_empty());
        let silence = (from - 10_000) / 1_010;
        assert!(stream.delivered + silence + 2 >= stream.created, "{back}: {stream:?}");
        // What is older than its lifetime is lost, and no more.
        let expired = dropped(stream, DropReason::Expired);
        assert_eq!(expired, u64::from(back == 25_000) * 13, "{:?}", stream.dropped);
    }
}

#[test]
fn where_nobody_opens_cycles_any_more_frames_are_lost_behind_their_lifetime() {
    let gone = "{at: 10 ms, stop-node: standby}, {at: 20 ms, stop-node: master}";
    let flapping = "{at: 10 ms, stop-node: master}, {at: 15 ms, start-node: master}, {at: 20 ms, stop-node: standby}, \
                    {at: 25 ms, start-node: standby}";
    for events in [gone, flapping] {
        let network = silent(events, true);
        let observation = seen(&network);
        let stream = &observation.streams[2];
        let expired = dropped(stream, DropReason::Expired);
        // 40 ms of silence, the last 4 ms of which wait still.
        assert!((34..=37).contains(&expired), "{events}: {:?}", stream.dropped);
        assert!(verify(&network, &bounds(&network), &observation).contradictions.is_empty());
        let without_end =
            network.clone().altered(|parts| parts.tdma.as_mut().expect("it has one").lifetime = None);
        let proven = &bounds(&without_end).streams[2].listeners[0].delay;
        assert!(
            proven.as_ref().is_err_and(|why| why.name() == "synchronisation-lost"),
            "{events}: {proven:?}"
        );
    }
}
