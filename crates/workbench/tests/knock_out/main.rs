//! Every mechanism earns its place: with it a scenario keeps its deadlines, without it a frame is late.
//!
//! Where the bounds know the mechanism, both answers are held to: they prove the deadlines with it and
//! not without, and the simulation misses one without. Else the simulation alone answers.

mod cqf;
mod device;
mod forwarding;
mod gates;
mod preemption;
mod psfp;
mod replication;
mod shapers;
mod storage;
mod time_triggered;
mod virtual_links;

use tautwire_workbench::{Network, Options, load_text, simulate, verify};

/// Whether every deadline is proven, and whether every deadline was kept.
fn answers(text: &str) -> (bool, bool) {
    let loaded = load_text("knock-out", text);
    assert!(!loaded.has_errors(), "{:#?}\n{text}", loaded.diagnostics);
    let network: Network = loaded.network.expect("no errors");
    let bounds = tautwire_analysis::bounds(&network);
    let observation = simulate(&network, &mut Options::default());
    assert_eq!(verify(&network, &bounds, &observation).contradictions, []);
    let (mut proven, mut kept) = (true, true);
    for (index, stream) in network.streams.iter().enumerate() {
        let Some(deadline) = stream.deadline else { continue };
        for listener in &bounds.streams[index].listeners {
            proven &= listener.delay.as_ref().is_ok_and(|delay| *delay <= deadline);
        }
        let observed = &observation.streams[index];
        kept &= observed.listeners.iter().all(|listener| listener.late == 0);
        kept &= observed.delivered + observed.in_flight == observed.created;
    }
    (proven, kept)
}

/// With the mechanism all is proven and kept; with `instead` in its place nothing is.
fn hold(text: &str, mechanism: &str, instead: &str) {
    assert_eq!(answers(text), (true, true), "with its mechanism");
    assert!(text.contains(mechanism));
    let (proven, kept) = answers(&text.replace(mechanism, instead));
    assert!(!proven, "nothing is proven without `{mechanism}`");
    assert!(!kept, "a frame is late without `{mechanism}`");
}

/// As [`hold`], of the simulation alone: the bounds hold with and without, and are the same.
fn hold_observed(text: &str, mechanism: &str, instead: &str) {
    assert!(answers(text).1, "kept with its mechanism");
    assert!(text.contains(mechanism));
    assert!(!answers(&text.replace(mechanism, instead)).1, "a frame is late without `{mechanism}`");
}

/// Two talkers, one bridge, one line for both.
fn two_talkers(classes: &str, first: &str, second: &str) -> String {
    format!(
        "name: knock-out
network-control: none
vlans:
  1:
    tagged: all
defaults: {{rate: 100 Mbit/s, traffic-class-table: identity}}
nodes:
  one: {{type: end-station}}
  two: {{type: end-station}}
  bridge: {{type: bridge, {classes}}}
  sink: {{type: end-station}}
links:
  - {{between: [one, bridge]}}
  - {{between: [two, bridge]}}
  - {{between: [bridge, sink]}}
streams:
  - {{name: first, talker: one, listeners: sink, {first}}}
  - {{name: second, talker: two, listeners: sink, {second}}}
run: {{duration: 100 ms}}
"
    )
}
