//! A run by ports is a run by instants: for networks of every kind and all scenarios, whatever the windows are. Faults in the
//! order of frames and ports, planted here, are found by that comparison.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tautwire_generate::{Backbone, KINDS, Topology, cases};
use tautwire_model::Network;
use tautwire_units::Duration;

use super::{ByPorts, Input, order};
use crate::clock::SimTime;
use crate::engine::Engine;
use crate::options::{Driver, Options};
use crate::recorder::{NoRecorder, Recorder};
use crate::result::Observation;
use crate::run::is_plain;

/// A deliberate fault of a run by ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// Frames that reach a port at one instant come in the opposite order of their rings.
    RingsReversed,
    /// Frames are taken in the order in which the ports before have sent them.
    NotSorted,
    /// What a port waits for is forgotten at the end of a window.
    WakeForgotten,
    /// Ports come before those whose frames they take.
    PortsReversed,
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    /// Does what a planted fault does to the inputs of a port's window.
    pub(super) fn spoil(&mut self, inputs: &mut [Input], wake: &mut SimTime) {
        match self.by_ports().fault {
            Some(Fault::RingsReversed) => {
                inputs.sort_by_key(|input| (input.due, std::cmp::Reverse(input.ring)));
            }
            Some(Fault::NotSorted) => inputs.sort_by_key(|input| (input.ring, input.due)),
            Some(Fault::WakeForgotten) => *wake = SimTime::MAX,
            Some(Fault::PortsReversed) | None => {}
        }
    }
}

fn by_instants(network: &Network) -> Observation {
    crate::run(network, &mut Options { driver: Driver::Eliding, ..Options::default() })
}

fn by_ports(network: &Network, window_frames: u64, fault: Option<Fault>) -> Option<Observation> {
    let mut order = order(network)?;
    if fault == Some(Fault::PortsReversed) {
        order.reverse();
    }
    let (mut options, mut nothing) = (Options::default(), NoRecorder);
    let engine = Engine::<_, false>::new(network, &mut options, &mut nothing);
    let mut by_ports = ByPorts::new(network, order);
    (by_ports.window_frames, by_ports.fault) = (window_frames, fault);
    Some(engine.run_by_ports(by_ports))
}

/// Compares the runs of a network that may run by ports; whether it may.
fn hold_together(name: &str, network: &Network) -> bool {
    if !is_plain(network) || order(network).is_none() {
        return false;
    }
    let expected = by_instants(network);
    assert_eq!(crate::run(network, &mut Options::default()), expected, "{name}");
    for window_frames in [2, 100] {
        assert_eq!(by_ports(network, window_frames, None).as_ref(), Some(&expected), "{name}, small windows");
    }
    true
}

fn drawn(draw: fn(u64) -> String, seed: u64) -> Option<Network> {
    tautwire_model::load_text("drawn", &draw(seed)).network
}

#[test]
fn networks_of_every_kind_run_the_same() {
    let mut held = std::collections::BTreeMap::new();
    for (name, draw) in KINDS {
        for seed in 0..cases(if name == "network" { 250 } else { 12 }) {
            let Some(network) = drawn(draw, seed) else { continue };
            *held.entry(name).or_insert(0) += u64::from(hold_together(&format!("{name} {seed}"), &network));
        }
    }
    assert!(held["network"] >= cases(40), "{held:?}");
}

#[test]
fn lines_meshes_and_trees_run_the_same() {
    let topologies = [Topology::Line, Topology::Mesh { width: 4 }, Topology::Tree { branching: 3 }];
    let mut held = 0;
    for (topology, seed) in topologies.into_iter().flat_map(|topology| [(topology, 1), (topology, 2)]) {
        let backbone =
            Backbone { topology, bridges: 12, streams: 120, duration_ms: 5, seed, ..Backbone::LINE_20 };
        let network = tautwire_model::load_text("backbone", &backbone.describe()).network.expect("a network");
        held += u64::from(hold_together(&format!("{backbone:?}"), &network));
    }
    assert!(held >= 4, "{held}");
}

#[test]
fn scenarios_run_the_same() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
    let mut held = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the scenarios") {
        let path = entry.expect("a file").path();
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        let name = path.display().to_string();
        let Some(mut network) = tautwire_model::load(&path).expect("readable").network else { continue };
        network.set_duration(network.run.duration.min(Duration::from_ms(100)));
        if hold_together(&name, &network) {
            held.push(name);
        }
    }
    assert!(held.len() >= 12, "{held:?}");
}

#[test]
fn faults_in_the_order_are_found() {
    for fault in [Fault::RingsReversed, Fault::NotSorted, Fault::WakeForgotten, Fault::PortsReversed] {
        let found = (0..200).any(|seed| {
            let Some(network) = drawn(tautwire_generate::random_network, seed) else { return false };
            if !is_plain(&network) || order(&network).is_none() {
                return false;
            }
            // Disorder may break an invariant of a machine before it shows in the results.
            let spoiled = catch_unwind(AssertUnwindSafe(|| by_ports(&network, 100, Some(fault))));
            spoiled.is_err() || spoiled.ok().flatten() != Some(by_instants(&network))
        });
        assert!(found, "{fault:?}");
    }
}
