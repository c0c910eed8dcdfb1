//! What a run of central admission of HaRTES promises, and what of it one breaks.

use std::collections::{BTreeMap, BTreeSet};

use tautwire_core::harts::Violator;
use tautwire_sim::{
    AdmissionEvent, AdmissionRung, DropReason, HartsObservation, Observation, RequestObservation,
    StreamObservation,
};
use tautwire_workbench::network::{NodeIndex, NodeKind, PortIndex};
use tautwire_workbench::{Bounds, Duration, Network, StreamIndex};

use super::contradictions;

/// Guarantees that a run breaks, each a sentence: a frame later than its bound or, once admitted, than its deadline; a
/// talker that was notified before its switches; a refused stream that left a trace; a frame lost of a full memory
/// pool; an answer that was revoked, except because of a failed link; an acknowledged stream that the ACMaster of the
/// end does not know; one that was released and is still there.
pub(crate) fn broken_admissions(
    network: &Network,
    bounds: &Bounds,
    observation: &Observation,
) -> Vec<String> {
    let mut found = contradictions(network, bounds, observation);
    let Some(seen) = &observation.harts else { return vec!["no observation".to_owned()] };
    for request in &seen.requests {
        let described = &network.streams[request.stream.index()];
        let name = &described.name;
        let observed = &observation.streams[request.stream.index()];
        if observed.listeners.iter().any(|listener| listener.late > 0) {
            found.push(format!("{name}: admitted, and late"));
        }
        found.extend(lost_of_full_pools(network, request, observed));
        let own = |rung: &&AdmissionRung| rung.stream == request.stream && rung.node == request.node;
        // A node that is notified of a failed link requests again, and is answered once more.
        let cut_off = seen.ladder.iter().filter(own).filter(|rung| rung.event == AdmissionEvent::CutOff);
        let once = 1 + 2 * u32::try_from(cut_off.count()).expect("few");
        // A producer is answered again when a consumer requests again: another one after a refusal, or the same,
        // because the refusal was lost.
        let adds = seen.ladder.iter().filter(|rung| {
            rung.stream == request.stream
                && rung.node != request.node
                && matches!(rung.event, AdmissionEvent::Sent { message: "add", .. })
                && network.streams[request.stream.index()].listeners.contains(&rung.node)
        });
        let adds = if request.is_talker { u32::try_from(adds.count()).expect("few") } else { 0 };
        if request.answers > once + adds {
            found.push(format!("{name}: answered {} times", request.answers));
        }
        // One that was granted and paused may be refused when another consumer requests the stream.
        let was_granted =
            seen.ladder.iter().filter(own).any(|rung| rung.event == AdmissionEvent::Acknowledged);
        if request.is_talker && !was_granted && observed.created > 0 {
            found.push(format!("{name}: sent without being granted"));
        }
        let place = described.listeners.iter().position(|node| *node == request.node);
        let taken = place.map_or(0, |place| observed.listeners[place].delay.count());
        if request.answers == 1 && request.subject.is_some() && taken > 0 {
            found.push(format!("{name}: refused to {place:?}, who received {taken} frames"));
        }
        let ladder: Vec<&AdmissionRung> =
            seen.ladder.iter().filter(|rung| rung.stream == request.stream).collect();
        found.extend(informed_too_early(network, request, &ladder));
        if request.is_talker {
            found.extend(refused_and_there(network, request, &ladder, seen));
        }
    }
    found.extend(not_held(network, seen));
    found.extend(not_ended(network, observation, seen));
    found
}

/// The memory pools that switches derive hold what comes of a stream that keeps its deadline.
fn lost_of_full_pools(
    network: &Network,
    request: &RequestObservation,
    observed: &StreamObservation,
) -> Option<String> {
    let described = &network.streams[request.stream.index()];
    let harts = network.harts.as_ref()?;
    let reservation = harts.reservations.iter().find(|known| known.stream == request.stream)?;
    // Those of frames that a policer keeps at their distance are as large as described.
    let reshapes = reservation.police.is_some_and(|police| police.violator == Violator::Reshape);
    let has_pools = described.deadline.is_some() && harts.ftt.polled(request.stream).is_none() && !reshapes;
    let of_pools = observed.dropped.iter().filter(|(reason, _)| *reason == DropReason::QueueFull);
    let lost: u64 = of_pools.map(|(_, count)| count).sum();
    (has_pools && lost > 0).then(|| format!("{}: {lost} frames lost of full pools", described.name))
}

/// Links that failed, the lower node first: when last, and when it was back, if it is.
fn failed_links(seen: &HartsObservation) -> BTreeMap<[NodeIndex; 2], (Duration, Option<Duration>)> {
    let mut links = BTreeMap::new();
    for rung in &seen.ladder {
        if let AdmissionEvent::Link { up, to } = rung.event {
            let ends = [rung.node.min(to), rung.node.max(to)];
            let (_, back) = links.entry(ends).or_insert((rung.at, None));
            if up {
                *back = Some(rung.at);
            } else {
                links.insert(ends, (rung.at, None));
            }
        }
    }
    links
}

/// Whether a way of a stream goes over the link between two nodes.
fn goes_over(network: &Network, stream: StreamIndex, ends: [NodeIndex; 2]) -> bool {
    network.streams[stream.index()].hops.iter().any(|hop| {
        let links = network.ports[hop.port.index()].links.expect("a way goes over links");
        let peer = network.links[links.egress.index()].to;
        let [from, to] = [hop.port, peer].map(|port| network.ports[port.index()].node);
        ends == [from.min(to), from.max(to)]
    })
}

/// For one cable that failed long ago, so that all lost messages were repeated, while one ACMaster decided: streams
/// with one listener that are granted over it although it is not back, and those that some switch carries although it
/// is back and they are not granted.
fn not_ended(network: &Network, observation: &Observation, seen: &HartsObservation) -> Vec<String> {
    let is_long_ago = |at: Duration| observation.end.saturating_sub(at) > Duration::from_ms(25);
    let links = failed_links(seen);
    let took_over = seen.ladder.iter().any(|rung| rung.event == AdmissionEvent::TookOver);
    let active: Vec<_> = seen.acmasters.iter().filter(|master| master.active && !took_over).collect();
    let (Some((ends, (down, back))), 1, [master]) = (links.first_key_value(), links.len(), &active[..])
    else {
        return Vec::new();
    };
    let streams = seen.requests.iter().filter(|request| request.is_talker).map(|request| request.stream);
    let carried_long = |stream: &StreamIndex| {
        let mut carried = BTreeMap::new();
        for rung in seen.ladder.iter().filter(|rung| rung.stream == *stream) {
            match rung.event {
                AdmissionEvent::Configured => drop(carried.insert(rung.node, rung.at)),
                AdmissionEvent::Removed => drop(carried.remove(&rung.node)),
                _ => {}
            }
        }
        carried.into_values().any(is_long_ago)
    };
    let wrong = streams.filter(|stream| {
        let is_granted = master.standing.contains(stream);
        let has_one = network.streams[stream.index()].listeners.len() == 1;
        match back {
            None => is_long_ago(*down) && has_one && is_granted && goes_over(network, *stream, *ends),
            Some(back) => is_long_ago(*back) && !is_granted && carried_long(stream),
        }
    });
    let describe = |stream: StreamIndex| {
        format!("{}: not ended when a link had failed", network.streams[stream.index()].name)
    };
    wrong.map(describe).collect()
}

/// The switches on the way of a stream to one of its listeners.
fn switches(network: &Network, stream: StreamIndex, listener: usize) -> BTreeSet<u32> {
    let hops = &network.streams[stream.index()].hops;
    let mut next = hops.iter().position(|hop| hop.listener.is_some_and(|of| of as usize == listener));
    let mut found = BTreeSet::new();
    while let Some(place) = next {
        let node = network.ports[hops[place].port.index()].node;
        if let NodeKind::Bridge { .. } = network.nodes[node.index()].kind {
            found.insert(node.0);
        }
        next = hops[place].previous.map(|before| before as usize);
    }
    found
}

/// The nodes that are reached from a node over links that are not among these.
fn reached(network: &Network, from: NodeIndex, cut: &BTreeSet<[u32; 2]>) -> BTreeSet<u32> {
    let node_of = |port: PortIndex| network.ports[port.index()].node.0;
    let (mut found, mut next) = (BTreeSet::from([from.0]), vec![from.0]);
    while let Some(here) = next.pop() {
        for link in network.links.iter().filter(|link| node_of(link.from) == here) {
            let to = node_of(link.to);
            let is_cut = cut.contains(&[here, to]) || cut.contains(&[to, here]);
            if !is_cut && found.insert(to) {
                next.push(to);
            }
        }
    }
    found
}

fn informed_too_early(
    network: &Network,
    request: &RequestObservation,
    ladder: &[&AdmissionRung],
) -> Option<String> {
    let informed = ladder
        .iter()
        .position(|rung| rung.event == AdmissionEvent::Acknowledged && rung.node == request.node)?;
    let has = |node: &u32| {
        ladder[..informed].iter().any(|rung| rung.event == AdmissionEvent::Configured && rung.node.0 == *node)
    };
    let described = &network.streams[request.stream.index()];
    let mut listeners = (0..described.listeners.len())
        .filter(|place| request.is_talker || described.listeners[*place] == request.node);
    // A talker is notified when one of its listeners may be.
    let all = listeners.any(|listener| switches(network, request.stream, listener).iter().all(has));
    let (name, node) = (&described.name, &network.nodes[request.node.index()].name);
    (!all).then(|| format!("{name}: {node} was told before all switches on its way were"))
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
    let is_granted = seen.acmasters.iter().any(|master| master.standing.contains(&request.stream));
    let name = &network.streams[request.stream.index()].name;
    (refused && !passed && (configured || is_granted)).then(|| format!("{name}: refused, and there"))
}

/// An acknowledged stream that was not released is granted at an active ACMaster; one whose talker was notified of its
/// end is not, and no switch on its path carries it except at a link that is down, or behind it.
fn not_held(network: &Network, seen: &HartsObservation) -> Vec<String> {
    // The report that a link is back has arrived by then, even if it is lost twice.
    let heard = Duration::from_ms(15);
    let mut found = Vec::new();
    let mut granted: BTreeMap<StreamIndex, bool> = BTreeMap::new();
    let mut consumers = BTreeSet::new();
    let mut carried: BTreeMap<StreamIndex, BTreeSet<u32>> = BTreeMap::new();
    // A switch at a failed link keeps the streams that it carried over it until the consumer has been notified; none
    // behind it receives anything.
    let mut failed: BTreeMap<[u32; 2], Option<Duration>> = BTreeMap::new();
    for rung in &seen.ladder {
        let is_talker =
            network.streams.get(rung.stream.index()).is_some_and(|stream| stream.talker == rung.node);
        match rung.event {
            AdmissionEvent::Acknowledged if is_talker => drop(granted.insert(rung.stream, true)),
            AdmissionEvent::Released
            | AdmissionEvent::Paused
            | AdmissionEvent::Refused
            | AdmissionEvent::CutOff
                if is_talker =>
            {
                granted.remove(&rung.stream);
            }
            AdmissionEvent::Acknowledged => drop(consumers.insert((rung.stream, rung.node))),
            AdmissionEvent::Released | AdmissionEvent::CutOff => {
                consumers.remove(&(rung.stream, rung.node));
            }
            AdmissionEvent::Configured => drop(carried.entry(rung.stream).or_default().insert(rung.node.0)),
            AdmissionEvent::Removed => {
                carried.entry(rung.stream).or_default().remove(&rung.node.0);
            }
            // Confirmed by the ACMaster itself.
            AdmissionEvent::Received { message: "reply gone", .. } if is_talker => {
                let still = carried.get(&rung.stream).into_iter().flatten();
                let is_down = |back: &Option<Duration>| back.is_none_or(|back| rung.at - back < heard);
                let cut: BTreeSet<[u32; 2]> =
                    failed.iter().filter_map(|(ends, back)| is_down(back).then_some(*ends)).collect();
                let reached = reached(network, rung.node, &cut);
                let is_informed =
                    |node: &u32| reached.contains(node) && !cut.iter().any(|ends| ends.contains(node));
                let still: Vec<u32> = still.copied().filter(is_informed).collect();
                if !still.is_empty() {
                    let name = &network.streams[rung.stream.index()].name;
                    found.push(format!("{name}: said to be gone, and at {still:?}"));
                }
            }
            AdmissionEvent::Link { up, to } => {
                failed.insert([rung.node.0, to.0], up.then_some(rung.at));
            }
            _ => {}
        }
    }
    let active: Vec<_> = seen.acmasters.iter().filter(|master| master.active).collect();
    // A stream whose last consumer leaves has no grant, and its talker is notified.
    for stream in granted.keys().filter(|stream| consumers.iter().any(|(of, _)| of == *stream)) {
        if !active.is_empty() && !active.iter().any(|master| master.standing.contains(stream)) {
            let name = &network.streams[stream.index()].name;
            found.push(format!("{name}: acknowledged, and not known to the ACMaster"));
        }
    }
    found
}
