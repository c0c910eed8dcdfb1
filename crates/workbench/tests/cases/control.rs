//! Machines of mechanisms and what a run does for them.

use tautwire_core::central::ControlFrame;
use tautwire_sim::{Contents, Driver, Recorder};
use tautwire_workbench::{Options, simulate, simulate_with};

use super::{answer, codes, network, text};

/// A class whose idleSlope changed chose its frame at once, before what comes at the same instant.
#[test]
fn a_port_whose_slope_changes_chooses_when_all_of_the_instant_is_there() {
    let network = network(&text("cbs-changed-slope.yaml"));
    for driver in [Driver::Eliding, Driver::Plain, Driver::Spurious] {
        let seen = simulate(&network, &mut Options { driver, ..Options::default() });
        let first =
            |stream: usize| seen.streams[stream].listeners[0].delay.max().expect("frames came").as_ps();
        // 1000 octets and a preamble; `low` waits for `high`, which nobody precedes.
        assert_eq!(first(1), 1_008 * 80_000, "{driver:?}");
        assert_eq!(first(0), 163_200_000 + (1_020 + 1_008) * 80_000, "{driver:?}");
    }
}

/// The greatest number of a session in the frames of each node.
#[derive(Default)]
struct Sessions(Vec<u16>);

impl Recorder for Sessions {
    fn contents(&mut self, _: u32, _: u32, contents: Contents<'_>) {
        if contents.ether_type == ControlFrame::ETHER_TYPE {
            let (frame, _) = ControlFrame::parse(contents.octets).expect("what a node wrote");
            let from = frame.from as usize;
            self.0.resize(self.0.len().max(from + 1), 0);
            self.0[from] = self.0[from].max(frame.session);
        }
    }
}

/// A node that stopped began two sessions when it was back, and drew its delays of the second.
#[test]
fn a_node_that_was_stopped_begins_one_session() {
    let text = include_str!("../../../../scenarios/central-configuration.yaml");
    let events = "events:\n  - {at: 1100 ms, stop-node: Sw2}\n  - {at: 1200 ms, start-node: Sw2}\n";
    let text = text.replace("run: {duration: 8 s, seed: 1}", &format!("{events}run: {{duration: 1300 ms}}"));
    let network = network(&text);
    let mut sessions = Sessions::default();
    let _ = simulate_with(&network, &mut Options::default(), &mut sessions);
    let stopped = network.nodes.iter().position(|node| node.name == "Sw2").expect("a bridge");
    let expected = (0..network.nodes.len()).map(|node| u16::from(node == stopped));
    assert_eq!(sessions.0, expected.collect::<Vec<_>>());
}

/// LLDP took the class of time-triggered frames: its frames stood in a queue that is never served, and a full one gave up frames
/// that it had not.
#[test]
fn a_protocol_sends_in_no_class_that_a_mechanism_keeps() {
    let timed = text("control-in-the-timed-class.yaml");
    assert!(codes(&timed).contains(&"form::conflict"), "{:?}", codes(&timed));
    let full = timed.replace(
        "defaults: {rate: 100 Mbit/s}",
        "defaults: {rate: 100 Mbit/s, classes: {7: {queue-limit: {frames: 2, discard: oldest}}}}",
    );
    assert!(codes(&full).contains(&"form::conflict"));
    let below = timed.replace("lldp: {}", "lldp: {priority: 6}\nrun: {duration: 3 s}");
    let (_, _, seen, found) = answer(&below);
    assert!(found.contradictions.is_empty(), "{:#?}", found.contradictions);
    assert!(seen.streams.iter().all(|stream| stream.created > 0), "all are sent");
    // A port where none of them passes keeps nothing.
    let elsewhere = timed.replace(
        "lldp: {}",
        "lldp: {admin-status: disabled, nodes: {controller: {admin-status: tx-and-rx}}}",
    );
    assert!(!codes(&elsewhere).contains(&"form::conflict"), "{:?}", codes(&elsewhere));
    for (key, all) in [("tdma", text("tag-added-tdma.yaml")), ("harts", text("tag-added-harts.yaml"))] {
        assert!(!codes(&all).contains(&"form::conflict"), "{key}");
        assert!(codes(&(all + "lldp: {}\n")).contains(&"form::conflict"), "{key}");
    }
}
