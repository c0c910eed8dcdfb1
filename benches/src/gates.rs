//! Schedules of gates for 1 000 time-aware streams over 8 bridges and for 10 000 over 200, in a line: how long they take.

use std::fmt::Write as _;

use tautwire_generate::Dice;
use tautwire_model::Network;
use tautwire_synthesis::{GateOptions, Verdict, schedule_gates};

use crate::median_ms;

/// Stations at each bridge.
const STATIONS: u64 = 10;

/// A network of so many bridges and streams that go up to so many bridges far.
fn network(bridges: u64, streams: u64, distance: u64) -> Network {
    let mut dice = Dice::new(1);
    let mut text = "name: gates\nnetwork-control: none\nvlans: {1: {tagged: all}}\n\
         devices: {switch: {stages: [{name: f, position: processing, latency: 2 us}]}}\n\
         defaults: {rate: 1 Gbit/s, device: switch, traffic-class-table: identity}\nnodes:\n"
        .to_owned();
    for bridge in 0..bridges {
        let _ = writeln!(text, "  b{bridge}: {{type: bridge}}");
        for station in 0..STATIONS {
            let _ = writeln!(text, "  e{bridge}-{station}: {{type: end-station}}");
        }
    }
    text.push_str("links:\n");
    for bridge in 0..bridges {
        if bridge > 0 {
            let _ = writeln!(text, "  - {{between: [b{}, b{bridge}], length: 20 m}}", bridge - 1);
        }
        for station in 0..STATIONS {
            let _ = writeln!(text, "  - {{between: [e{bridge}-{station}, b{bridge}], length: 5 m}}");
        }
    }
    text.push_str("streams:\n");
    for number in 0..streams {
        let from = dice.between(0, bridges - 1);
        let to = dice.between(from.saturating_sub(distance), (from + distance).min(bridges - 1));
        let (talker, mut listener) = (dice.between(0, STATIONS - 1), dice.between(0, STATIONS - 1));
        if from == to && talker == listener {
            listener = (talker + 1) % STATIONS;
        }
        let interval = dice.one_of(&[2, 4, 4, 8]);
        let payload = dice.between(46, 300);
        let _ = writeln!(
            text,
            "  - {{name: s{number}, talker: e{from}-{talker}, listeners: e{to}-{listener}, priority: 7, payload: {payload} B, \
             deadline: {interval} ms, traffic: {{type: periodic, interval: {interval} ms}}, time-aware: {{}}}}"
        );
    }
    text.push_str("run: {duration: 10 ms}\n");
    let loaded = tautwire_model::load_text("generated", &text);
    assert!(!loaded.has_errors(), "{:#?}", loaded.diagnostics.first());
    loaded.network.expect("no errors")
}

/// Median CPU time of a schedule of all streams.
pub(crate) fn schedule_ms(bridges: u64, streams: u64, runs: usize) -> f64 {
    let network = network(bridges, streams, 6);
    median_ms(runs, || {
        let found = schedule_gates(&network, &GateOptions::default()).expect("time-aware streams");
        let found = found.expect("its gates can be scheduled");
        assert_eq!(found.verdict, Verdict::Scheduled, "{} are placed", found.schedule.placed());
    })
}
