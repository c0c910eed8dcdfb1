//! Schedules of complete networks: found, taken by the network, written into the description and read back.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use tautwire_generate::TimeTriggeredNetwork;
use tautwire_workbench::{Network, ScheduleVerdict, Scheduled, load_text, with_dispatch_points};

fn network(text: &str) -> Network {
    let loaded = load_text("schedule.yaml", text);
    assert!(!loaded.has_errors(), "{:#?}\n{text}", loaded.diagnostics);
    loaded.network.unwrap()
}

fn scheduled(network: &Network) -> Scheduled {
    Scheduled::find(network).expect("time-triggered links").unwrap()
}

/// A smaller sister of the network that the bench schedules.
fn small(seed: u64) -> TimeTriggeredNetwork {
    TimeTriggeredNetwork {
        switches: 5,
        stations: 2,
        links: 80,
        others: 6,
        load: 50,
        rate_mbps: 100,
        duration_ms: 300,
        seed,
    }
}

#[test]
fn generated_networks_are_scheduled_completely_and_written_back() {
    for seed in 0..8 {
        let text = small(seed).describe();
        let network = network(&text);
        let found = scheduled(&network);
        assert_eq!(found.verdict, ScheduleVerdict::Scheduled, "seed {seed}");
        assert_eq!(found.links.len(), 80);
        assert_eq!(found.network.schedule_faults(), []);
        let busiest = found.loads.iter().map(|(_, ppm)| *ppm).max().unwrap();
        assert!(busiest >= 500_000, "seed {seed}: the busiest line is {busiest} ppm full");
        let written = with_dispatch_points("schedule.yaml", &text, &found.network).unwrap();
        let read = load_text("schedule.yaml", &written);
        assert_eq!(read.diagnostics.len(), 0, "{:?}", read.diagnostics);
        assert_eq!(read.network.unwrap(), found.network, "seed {seed}");
        // Offsets that are stated are not looked at, and written anew.
        let again = scheduled(&self::network(&written));
        assert_eq!(again.network, found.network);
        assert_eq!(with_dispatch_points("schedule.yaml", &written, &again.network).unwrap(), written);
    }
}

const FULL: &str = "name: full
network-control: none
vlans:
  1:
    tagged: all
time-triggered: {precision: 2 us, integration-cycle: 2 ms}
defaults: {rate: 10 Mbit/s, traffic-class-table: identity}
nodes: {a: {type: end-station}, b: {type: end-station}, s: {type: bridge}, t: {type: end-station}}
links: [{between: [a, s]}, {between: [b, s]}, {between: [s, t]}]
streams:
  - {name: one, talker: a, listeners: t, payload: 400 B, traffic: {type: periodic, interval: 1 ms},
     time-triggered: {id: 1, period: 1 ms}}
  - {name: two, talker: b, listeners: t, payload: 500 B, traffic: {type: periodic, interval: 1 ms},
     time-triggered: {id: 2, period: 1 ms}}
run: {duration: 10 ms}
";

#[test]
fn a_small_set_is_scheduled_or_proven_impossible() {
    // Frames of 438 and 538 octets: 350.4 us and 430.4 us of the line from the switch.
    let fits = scheduled(&network(FULL));
    assert_eq!(fits.verdict, ScheduleVerdict::Scheduled);
    let text = FULL.replace("payload: 500 B", "payload: 770 B");
    let over = scheduled(&network(&text));
    assert_eq!(
        over.verdict,
        ScheduleVerdict::Impossible,
        "996.8 us of frames in every millisecond leave no room for the margins of two"
    );
    assert_eq!(over.links.iter().filter(|link| link.offsets.is_some()).count(), 1);
}

#[test]
fn a_link_in_a_list_of_lines_is_rewritten_and_the_rest_is_as_it_was() {
    let text = FULL.replace(
        "time-triggered: {id: 1, period: 1 ms}}",
        "time-triggered: {id: 1, # a remark\n     period: 1 ms, release: free}}",
    );
    let found = scheduled(&network(&text));
    let written = with_dispatch_points("schedule.yaml", &text, &found.network).unwrap();
    assert!(
        written.contains("{id: 1, period: 1 ms, release: free, offset: 0 s, points: [{at: \"s:"),
        "{written}"
    );
    assert!(written.starts_with(&text[..text.find("time-triggered: {id: 1").unwrap()]));
    assert!(written.ends_with("run: {duration: 10 ms}\n"));
}

#[test]
fn the_deadline_of_a_free_application_counts_its_wait() {
    // The way takes about 0.8 ms; an application that runs free waits up to a period more.
    let text =
        FULL.replace("{id: 1, period: 1 ms}", "{id: 1, period: 1 ms, release: RELEASE}, deadline: 1 ms");
    let free = scheduled(&network(&text.replace("RELEASE", "free")));
    assert_eq!(free.verdict, ScheduleVerdict::Impossible);
    let locked = scheduled(&network(&text.replace("RELEASE", "locked")));
    assert_eq!(locked.verdict, ScheduleVerdict::Scheduled);
}
