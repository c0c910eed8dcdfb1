//! What MVRP guarantees in any network: a search through random ones for a counterexample.
//!
//! `TAUTWIRE_CASES` sets the number of networks, `TAUTWIRE_SEED` draws one. A VLAN is registered at a port of a bridge
//! soon after a station behind it declares it, stays so while one does, and ends soon after none does. Which stations
//! are behind a port comes from the links alone. No frame and no MRPDU is later than its bound, where cables are lost
//! as well.

use tautwire_generate::{random_vlan_registration, seeds};
use tautwire_model::network::{NodeIndex, NodeKind, PortIndex};
use tautwire_sim::VlanObservation;
use tautwire_units::Duration;

use tautwire_workbench::{Network, Observation, Options, bounds, simulate};

use crate::common::{contradictions, described};

/// A network of a seed that loses no cable: what is registered follows from what is wanted alone.
fn drawn(seed: u64) -> (Network, String) {
    let text = random_vlan_registration(seed);
    let lines = text.lines().filter(|line| !line.contains("-link:") && !line.starts_with("events:"));
    let text: String = lines.flat_map(|line| [line, "\n"]).collect();
    (described(&text), text)
}

/// The node at the other end of a port's cable.
fn neighbour(network: &Network, port: PortIndex) -> NodeIndex {
    let links = network.ports[port.index()].links.expect("it has a cable");
    network.ports[network.links[links.egress.index()].to.index()].node
}

/// All nodes behind a port.
fn behind(network: &Network, port: PortIndex) -> Vec<NodeIndex> {
    let mut found = vec![network.ports[port.index()].node, neighbour(network, port)];
    let mut next = 1;
    while next < found.len() {
        for port in network.srp_ports(found[next]) {
            let node = neighbour(network, port);
            if !found.contains(&node) {
                found.push(node);
            }
        }
        next += 1;
    }
    found.split_off(1)
}

/// When stations behind a port want a VLAN, from the first instant on to that at which none does, in order and apart.
fn wanted(network: &Network, seen: &VlanObservation, end: Duration) -> Vec<(Duration, Duration)> {
    let behind = behind(network, seen.port);
    let reservation = network.srp.as_ref().expect("stream reservation");
    let mut spans = Vec::new();
    for reserved in &reservation.streams {
        let stream = &network.streams[reserved.stream.index()];
        if stream.vlan != seen.vlan {
            continue;
        }
        if behind.contains(&stream.talker) {
            spans.push((reserved.advertise_at, reserved.withdraw_at.unwrap_or(end)));
        }
        let times = reserved.attach_at.iter().zip(&reserved.detach_at);
        for (listener, (from, until)) in stream.listeners.iter().zip(times) {
            if behind.contains(listener) {
                spans.push((*from, until.unwrap_or(end)));
            }
        }
    }
    spans.retain(|(from, to)| from < to);
    spans.sort_unstable();
    let mut joined: Vec<(Duration, Duration)> = Vec::new();
    for (from, to) in spans {
        match joined.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => joined.push((from, to)),
        }
    }
    joined
}

/// What is wrong with the registrations of a network of a seed, and how many there were.
fn wrong_registrations(seed: u64) -> (Option<String>, usize) {
    let (network, text) = drawn(seed);
    let seen: Observation = simulate(&network, &mut Options { seed: Some(seed), ..Options::default() });
    let bridges = network.nodes.iter().filter(|node| matches!(node.kind, NodeKind::Bridge { .. })).count();
    // A LeaveTime a bridge, the limit of MRPDUs, and the time of the processors; clocks are off by up to 2 ms.
    let soon = Duration::from_ms(5) * bridges as u64 + Duration::from_ms(20);
    let mut count = 0;
    for port in &seen.vlan_registrations {
        let wanted = wanted(&network, port, seen.end);
        let mut held: Vec<(Duration, Duration)> = Vec::new();
        for (at, begins) in &port.changes {
            match held.last_mut() {
                _ if *begins => held.push((*at, seen.end)),
                Some(last) => last.1 = *at,
                None => {
                    return (
                        Some(format!("TAUTWIRE_SEED={seed}: left before it was registered\n{text}")),
                        count,
                    );
                }
            }
        }
        count += held.len();
        let node = &network.nodes[network.ports[port.port.index()].node.index()].name;
        let fault = |what: &str, from: Duration, to: Duration| {
            format!(
                "TAUTWIRE_SEED={seed}: VLAN {} at port {} of {node} is {what} from {from} to {to}: wanted {wanted:?}, registered {held:?}\n{text}",
                port.vlan, port.port.0
            )
        };
        // Wanted, and not registered.
        for (from, to) in &wanted {
            let begin = *from + soon;
            if begin < *to && !held.iter().any(|(since, until)| *since <= begin && until >= to) {
                return (Some(fault("not registered", begin, *to)), count);
            }
        }
        // Registered, and wanted by none since long; clocks may be early by 2 ms.
        for (from, to) in &held {
            let covers = |(since, until): &(Duration, Duration)| {
                *since <= *from + Duration::from_ms(2) && *until + soon >= *to
            };
            let runs = merged(&wanted, soon);
            if !runs.iter().any(covers) {
                return (Some(fault("registered", *from, *to)), count);
            }
        }
    }
    (None, count)
}

/// Spans with less than `gap` between them as one.
fn merged(spans: &[(Duration, Duration)], gap: Duration) -> Vec<(Duration, Duration)> {
    let mut joined: Vec<(Duration, Duration)> = Vec::new();
    for (from, to) in spans {
        match joined.last_mut() {
            Some(last) if *from <= last.1 + gap => last.1 = last.1.max(*to),
            _ => joined.push((*from, *to)),
        }
    }
    joined
}

#[test]
fn a_vlan_is_registered_where_it_is_wanted_and_nowhere_else() {
    let seeds = seeds(40);
    let mut registered = 0;
    for &seed in &seeds {
        let (wrong, count) = wrong_registrations(seed);
        assert_eq!(wrong, None);
        registered += count;
    }
    assert!(seeds.len() < 40 || registered > 200, "there is something to hold: {registered}");
}

#[test]
fn no_frame_is_later_than_its_bound_while_vlans_come_and_go() {
    let seeds = seeds(20);
    let (mut mrpdus, mut filtered) = (0, 0);
    for &seed in &seeds {
        let network = described(&random_vlan_registration(seed));
        let seen = simulate(&network, &mut Options { seed: Some(seed), ..Options::default() });
        let wrong = contradictions(&network, &bounds(&network), &seen);
        assert!(wrong.is_empty(), "TAUTWIRE_SEED={seed}: {wrong:?}\n{}", random_vlan_registration(seed));
        for (stream, observed) in network.streams.iter().zip(&seen.streams) {
            mrpdus += if stream.name.starts_with("mvrp:") { observed.delivered } else { 0 };
        }
        filtered += seen.vlan_registrations.iter().map(|port| port.filtered).sum::<u64>();
    }
    assert!(
        seeds.len() < 20 || (mrpdus > 1_000 && filtered > 0),
        "{mrpdus} MRPDUs, {filtered} frames held back"
    );
}

/// Faults planted in what a bridge passes on: the search finds both.
#[test]
fn every_fault_of_vlan_registration_is_found() {
    use tautwire_core::fault::{PlantedFault, plant};
    let cases = tautwire_generate::cases(400);
    let others = [PlantedFault::LeaveAllNotAnswered, PlantedFault::LeaveNotHeard];
    for planted in PlantedFault::OF_VLANS.into_iter().chain(others) {
        plant(Some(planted));
        let found = (0..cases).find(|seed| wrong_registrations(*seed).0.is_some());
        plant(None);
        assert!(found.is_some(), "{planted:?} is not found in {cases} networks");
        println!("{planted:?}: seed {}", found.unwrap_or_default());
    }
}
