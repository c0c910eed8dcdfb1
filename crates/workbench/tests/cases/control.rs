//! Machines of mechanisms and what a run does for them.

use tautwire_core::central::ControlFrame;
use tautwire_sim::{Contents, Driver, Recorder};
use tautwire_workbench::mechanism_tables::{self, TableCell};
use tautwire_workbench::table::TableOptions;
use tautwire_workbench::{Options, Summary, simulate, simulate_with};

use super::{answer, codes, network, text};

/// A class whose idleSlope changed chose its frame at once, before what comes at the same instant.
#[test]
fn a_port_whose_slope_changes_chooses_when_all_of_the_instant_is_there() {
    let network = network(&text("cbs-changed-slope.yaml"));
    for driver in [Driver::Eliding, Driver::Plain, Driver::Spurious] {
        let seen = simulate(&network, &mut Options { driver, ..Options::default() });
        let first =
            |stream: usize| seen.streams[stream].listeners[0].delay.max().expect("frames came").as_ps();
        // 1000 octets and a preamble; `low` waits for `high`, which waits for no other.
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

/// LLDP took the class of time-triggered frames: its frames waited in a queue that is never served, and a full one
/// discarded frames that it did not have.
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

/// The rows of a table of results, cells as text.
fn rows(text: &str, table: &str) -> Vec<Vec<String>> {
    let (network, bounds, seen, _) = answer(text);
    let summary = Summary::new(&network, Some(&bounds), Some(&seen));
    assert!(summary.to_json().contains(&format!("\"name\": \"{table}\"")), "summary.json has it");
    let found = summary.mechanisms.iter().find(|one| one.name == table).expect("a table");
    let printed = mechanism_tables::tables(&summary, TableOptions::default());
    assert!(printed.contains(&format!("{}: ", found.title)), "{printed}");
    assert!(!printed.contains('…'), "nothing is cut short: {printed}");
    let cell = |cell: &TableCell| match cell {
        TableCell::Number(number) => number.to_string(),
        TableCell::Text(text) => text.clone(),
        TableCell::None(()) => String::new(),
    };
    found.rows.iter().map(|row| row.iter().map(cell).collect()).collect()
}

#[test]
fn lost_frames_of_protocols_have_rows() {
    let text = "name: lossy\ngptp: {}\ndefaults: {rate: 100 Mbit/s}\n\
        nodes: {a: {type: end-station}, w: {type: bridge}, z: {type: end-station}}\n\
        links: [{between: [a, w], bit-error-rate: 1e-4}, {between: [w, z]}]\n\
        run: {duration: 8 s}\n";
    let found = rows(text, "control_losses");
    let row = |place: &str, reason: &str| {
        let is_it = |row: &&Vec<String>| row[2] == place && row[3] == reason;
        found.iter().find(is_it).unwrap_or_else(|| panic!("no row of {reason} at {place}: {found:?}"))
    };
    for place in ["a.p1", "w.p1"] {
        assert_eq!(row(place, "bit-error")[..2], ["gptp".to_owned(), format!("gptp:{place}")]);
        assert_eq!(row(place, "bit-error")[4], "failure");
    }
    // Each copy that was lost is in one row.
    let (_, _, seen, _) = answer(text);
    let dropped: u64 = seen.streams.iter().flat_map(|stream| &stream.dropped).map(|(_, count)| count).sum();
    let counted: u64 = found.iter().map(|row| row[5].parse::<u64>().expect("a number")).sum();
    assert!(dropped > 5, "{dropped}");
    assert_eq!(counted, dropped);
    // Without losses there is no table.
    let (network, _, seen, _) = answer(&text.replace(", bit-error-rate: 1e-4", ""));
    let summary = Summary::new(&network, None, Some(&seen));
    assert!(summary.mechanisms.iter().all(|table| table.name != "control_losses"));
}

#[test]
fn requests_that_central_configuration_refuses_have_rows() {
    let found = rows(include_str!("../../../../scenarios/central-requests.yaml"), "refused_requests");
    let [row] = &found[..] else { panic!("one is refused: {found:?}") };
    assert_eq!(row[1], "stroke");
    assert!(row[4].contains("deadline 450.000 us, most of it at "), "{row:?}");
    assert!(row[0].parse::<u64>().is_ok_and(|ps| ps > 0) && !row[2].is_empty() && !row[3].is_empty());
}
