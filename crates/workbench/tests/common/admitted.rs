//! What a run of central admission of HaRTES promises, and what of it one breaks.

use std::collections::{BTreeMap, BTreeSet};

use tautwire_sim::{AdmissionEvent, AdmissionRung, HartsObservation, Observation, RequestObservation};
use tautwire_workbench::network::NodeKind;
use tautwire_workbench::{Bounds, Network, StreamIndex};

use super::contradictions;

/// Promises that a run breaks, each a sentence: a frame later than its bound or, once admitted, than its deadline; a
/// talker that was told before its switches; a refused stream that left a trace; an answer that was taken back; an
/// acknowledged stream that the ACMaster of the end does not know; one that was given back and is still there.
pub(crate) fn broken_admissions(
    network: &Network,
    bounds: &Bounds,
    observation: &Observation,
) -> Vec<String> {
    let mut found = contradictions(network, bounds, observation);
    let Some(seen) = &observation.harts else { return vec!["no observation".to_owned()] };
    for request in &seen.requests {
        let name = &network.streams[request.stream.index()].name;
        let observed = &observation.streams[request.stream.index()];
        if observed.listeners.iter().any(|listener| listener.late > 0) {
            found.push(format!("{name}: admitted, and late"));
        }
        if request.answers > 1 {
            found.push(format!("{name}: answered {} times", request.answers));
        }
        if request.is_talker && !request.granted && observed.created > 0 {
            found.push(format!("{name}: sent without being granted"));
        }
        let ladder: Vec<&AdmissionRung> =
            seen.ladder.iter().filter(|rung| rung.stream == request.stream).collect();
        if request.is_talker {
            found.extend(told_too_early(network, request, &ladder));
            found.extend(refused_and_there(network, request, &ladder, seen));
        }
    }
    found.extend(not_held(network, seen));
    found
}

/// The switches on the way of a stream.
fn switches(network: &Network, stream: StreamIndex) -> BTreeSet<u32> {
    let hops = network.streams[stream.index()].hops.iter();
    let nodes = hops.map(|hop| network.ports[hop.port.index()].node);
    let is_bridge = |node: &tautwire_workbench::network::NodeIndex| {
        matches!(network.nodes[node.index()].kind, NodeKind::Bridge { .. })
    };
    nodes.filter(is_bridge).map(|node| node.0).collect()
}

fn told_too_early(
    network: &Network,
    request: &RequestObservation,
    ladder: &[&AdmissionRung],
) -> Option<String> {
    let told = ladder
        .iter()
        .position(|rung| rung.event == AdmissionEvent::Acknowledged && rung.node == request.node)?;
    let has = |node: &u32| {
        ladder[..told].iter().any(|rung| rung.event == AdmissionEvent::Configured && rung.node.0 == *node)
    };
    let name = &network.streams[request.stream.index()].name;
    let all = switches(network, request.stream).iter().all(has);
    (!all).then(|| format!("{name}: its talker was told before all switches were"))
}

fn refused_and_there(
    network: &Network,
    request: &RequestObservation,
    ladder: &[&AdmissionRung],
    seen: &HartsObservation,
) -> Option<String> {
    let refused = request.answered_at.is_some() && !request.granted;
    let passed = ladder.iter().any(|rung| rung.event == AdmissionEvent::Tested { passed: true });
    let configured = ladder.iter().any(|rung| rung.event == AdmissionEvent::Configured);
    let stands = seen.acmasters.iter().any(|master| master.standing.contains(&request.stream));
    let name = &network.streams[request.stream.index()].name;
    (refused && !passed && (configured || stands)).then(|| format!("{name}: refused, and there"))
}

/// What was acknowledged and not given back stands at an active ACMaster; what its talker was told is gone does not, and
/// no switch on its way carries it.
fn not_held(network: &Network, seen: &HartsObservation) -> Vec<String> {
    let mut found = Vec::new();
    let mut granted: BTreeMap<StreamIndex, bool> = BTreeMap::new();
    let mut carried: BTreeMap<StreamIndex, BTreeSet<u32>> = BTreeMap::new();
    for rung in &seen.ladder {
        let is_talker =
            network.streams.get(rung.stream.index()).is_some_and(|stream| stream.talker == rung.node);
        match rung.event {
            AdmissionEvent::Acknowledged if is_talker => drop(granted.insert(rung.stream, true)),
            AdmissionEvent::Released if is_talker => drop(granted.remove(&rung.stream)),
            AdmissionEvent::Configured => drop(carried.entry(rung.stream).or_default().insert(rung.node.0)),
            AdmissionEvent::Removed => {
                carried.entry(rung.stream).or_default().remove(&rung.node.0);
            }
            // Confirmed by the ACMaster itself.
            AdmissionEvent::Received { message: "reply gone", .. } if is_talker => {
                if let Some(still) = carried.get(&rung.stream).filter(|still| !still.is_empty()) {
                    let name = &network.streams[rung.stream.index()].name;
                    found.push(format!("{name}: said to be gone, and at {still:?}"));
                }
            }
            _ => {}
        }
    }
    let active: Vec<_> = seen.acmasters.iter().filter(|master| master.active).collect();
    for stream in granted.keys() {
        if !active.is_empty() && !active.iter().any(|master| master.standing.contains(stream)) {
            let name = &network.streams[stream.index()].name;
            found.push(format!("{name}: acknowledged, and not known to the ACMaster"));
        }
    }
    found
}
