//! Which frame leaves in which window of which elementary cycle: the chart of the report, compared with the windows of
//! the description.

use std::collections::BTreeMap;

use crate::common::{described, run};
use tautwire_sim::CYCLES;
use tautwire_workbench::Network;
use tautwire_workbench::network::{NodeKind, PortIndex};

fn scenario(name: &str) -> Network {
    let path = format!("../../scenarios/{name}.yaml");
    described(&std::fs::read_to_string(path).expect("a scenario"))
}

fn is_switch(network: &Network, port: PortIndex) -> bool {
    let node = network.ports[port.index()].node;
    matches!(network.nodes[node.index()].kind, NodeKind::Bridge { .. })
}

/// A switch sends every frame within the window of its kind; nothing leaves it in turn-around and guard.
#[test]
fn every_frame_of_a_switch_is_in_its_window() {
    for name in ["harts", "harts-synchronous"] {
        let network = scenario(name);
        let harts = network.harts.as_ref().expect("HaRTES");
        let seen = run(&network).harts.expect("masters");
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        for frame in &seen.frames {
            assert!(
                frame.cycle < CYCLES && frame.begin < harts.cycle && frame.begin < frame.end,
                "{frame:?}"
            );
            if !is_switch(&network, frame.port) {
                continue;
            }
            let node = network.ports[frame.port.index()].node;
            let polled = harts.ftt.is_synchronous_at(frame.stream, node);
            let (kind, from, to) = if harts.ftt.is_trigger(frame.stream, frame.port) {
                ("trigger", tautwire_workbench::Duration::ZERO, harts.trigger)
            } else if polled {
                ("synchronous", harts.synchronous, harts.open)
            } else {
                ("asynchronous", harts.open, harts.close)
            };
            assert!(from <= frame.begin && frame.end <= to, "{name}: {kind} {frame:?}");
            *counts.entry(kind).or_default() += 1;
        }
        assert!(counts["trigger"] > 30 && counts["asynchronous"] > 10, "{name}: {counts:?}");
        assert_eq!(counts.contains_key("synchronous"), name == "harts-synchronous", "{counts:?}");
    }
}

/// The page's chart has a row for both ends of every cable, with the windows one after the other, and each frame names its window.
#[test]
fn the_report_draws_windows_and_frames() {
    let network = scenario("harts-synchronous");
    let bounds = tautwire_workbench::bounds(&network);
    let seen = run(&network);
    let summary = tautwire_report::Summary::new(&network, Some(&bounds), Some(&seen));
    let harts = summary.harts.expect("HaRTES");
    let document = tautwire_report::ScheduleDocument::new(&network).expect("a chart");
    assert_eq!((document.kind.as_str(), document.rows.len()), ("harts", network.links.len()));
    for row in &document.rows {
        let mut end = 0;
        for slot in &row.slots {
            assert_eq!(slot.offset_ps, end, "{row:?}");
            end += slot.length_ps;
        }
        assert_eq!(end, document.basic_cycle_ps);
    }
    for frame in &harts.frames {
        let row = document.rows.iter().find(|row| row.name == frame.port).expect("a row");
        let inside = |slot: &&tautwire_report::ScheduleSlot| {
            (slot.offset_ps..slot.offset_ps + slot.length_ps).contains(&frame.begin_ps)
        };
        assert_eq!(row.slots.iter().find(inside).map(|slot| slot.kind.as_str()), Some(frame.window.as_str()));
    }
    assert!(harts.frames.iter().any(|frame| frame.window == "synchronous"));
}
