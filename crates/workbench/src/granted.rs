//! Which streams an ACMaster of HaRTES grants: at most, for requests at any time, and in a run.
//!
//! Bounds count what may be sent. With more streams granted a stream's test is harder; so a stream that the ACMaster
//! would refuse together with those that are certainly granted at its request is refused in every run. Certainly
//! granted are streams that are not requested during the run, and those whose request is so much earlier that its
//! admission is over by its bound, that pass together with all that may be there, and that are not released. In a run
//! a stream that was refused each time sent nothing.

use std::collections::BTreeMap;

use tautwire_analysis::{Accuracy, Bounds, admission_bounds, bounds_where_granted};
use tautwire_model::Network;
use tautwire_model::harts::admission::{AdmissionRequest, HartsAdmission};
use tautwire_model::network::{NodeIndex, Stream, StreamIndex};
use tautwire_sim::{HartsObservation, Observation, StreamPart};
use tautwire_units::Duration;

use crate::harts_test;

/// With more requests than this only streams that are refused without any other are left out: each is tested twice.
const REQUESTS_MAX: usize = 64;

/// The bounds of every stream, hop and port of a network: of what may be sent, for requests at any time. Streams that
/// an ACMaster refuses in every run are left out, and have no bound.
#[must_use]
pub fn bounds(network: &Network) -> Bounds {
    bounds_by(network, Accuracy::default())
}

/// The same with this accuracy, where no ACMaster decides.
#[must_use]
pub fn bounds_by(network: &Network, accuracy: Accuracy) -> Bounds {
    let Some(admission) = admission(network) else { return tautwire_analysis::bounds_by(network, accuracy) };
    let all_listeners = |stream| (stream, network.streams[StreamIndex::index(stream)].listeners.clone());
    let reserved: Vec<StreamPart> = network.reserved_from_the_start().map(all_listeners).collect();
    let mut granted: Vec<StreamPart> = requested(admission)
        .map(|stream| {
            let may = |node: &NodeIndex| harts_test::test(network, &(stream, vec![*node]), &reserved).is_ok();
            (stream, network.streams[stream.index()].listeners.iter().copied().filter(may).collect())
        })
        .collect();
    let found = bounds_where_granted(network, &granted);
    let refused = refused_with_others(network, &reserved, &granted, &found);
    if refused.is_empty() {
        return found;
    }
    for (stream, listeners) in &mut granted {
        if refused.contains(stream) {
            listeners.clear();
        }
    }
    bounds_where_granted(network, &granted)
}

/// Streams with one listener that are refused in every run, because of the streams that are certainly granted at their
/// request. `parts` are those that may be granted, `bounds` what is proven if all are.
fn refused_with_others(
    network: &Network,
    reserved: &[StreamPart],
    parts: &[StreamPart],
    bounds: &Bounds,
) -> Vec<StreamIndex> {
    let Some(admission) = admission(network).filter(|one| one.requests.len() <= REQUESTS_MAX) else {
        return Vec::new();
    };
    let bounds = admission_bounds(network, bounds).into_iter();
    let delays: BTreeMap<StreamIndex, Duration> =
        bounds.filter_map(|bound| Some((bound.stream, bound.delay.ok()?))).collect();
    let asked_at = |request: &AdmissionRequest| request.at.max(request.listeners_at);
    let part = |request: &AdmissionRequest| parts.iter().find(|(stream, _)| *stream == request.stream);
    let mut requests: Vec<&AdmissionRequest> = admission.requests.iter().collect();
    requests.sort_by_key(|request| asked_at(request));
    let (mut refused, mut sure): (Vec<StreamIndex>, Vec<(Duration, &AdmissionRequest)>) =
        (Vec::new(), Vec::new());
    for request in &requests {
        let (Some(own), Some(delay)) = (part(request), delays.get(&request.stream)) else { continue };
        let decided = asked_at(request) + *delay;
        if own.1.len() != 1 || network.streams[request.stream.index()].listeners.len() != 1 {
            continue;
        }
        let is_certain = |(done, other): &&(Duration, &AdmissionRequest)| {
            *done < asked_at(request) && other.release_at.is_none_or(|at| at > decided)
        };
        let with = |others: Vec<StreamPart>| reserved.iter().cloned().chain(others).collect::<Vec<_>>();
        let before = sure.iter().filter(is_certain).filter_map(|(_, other)| part(other).cloned()).collect();
        if harts_test::test(network, own, &with(before)).is_err() {
            refused.push(request.stream);
            continue;
        }
        let may = |other: &&&AdmissionRequest| {
            other.stream != request.stream && !refused.contains(&other.stream) && asked_at(other) <= decided
        };
        let possible = requests.iter().filter(may).filter_map(|other| part(other));
        let possible = possible.filter(|(_, listeners)| !listeners.is_empty()).cloned().collect();
        if harts_test::test(network, own, &with(possible)).is_ok() {
            sure.push((decided, request));
        }
    }
    refused
}

/// The same for what was sent in a run: streams that an ACMaster never granted in it are left out, and have no bound.
/// One that was granted first and refused later is counted.
///
/// # Panics
/// If `observation` is not that of `network`.
#[must_use]
pub fn bounds_in_run(network: &Network, observation: &Observation) -> Bounds {
    bounds_in_run_by(network, observation, Accuracy::default())
}

/// The same with this accuracy, where no ACMaster decides.
///
/// # Panics
/// If `observation` is not that of `network`.
#[must_use]
pub fn bounds_in_run_by(network: &Network, observation: &Observation, accuracy: Accuracy) -> Bounds {
    let admission = admission(network).zip(observation.harts.as_deref());
    let Some((admission, seen)) = admission else { return tautwire_analysis::bounds_by(network, accuracy) };
    let granted: Vec<_> = requested(admission)
        .map(|stream| {
            let described = &network.streams[stream.index()];
            (stream, reached(described, stream, seen, observation))
        })
        .collect();
    bounds_where_granted(network, &granted)
}

fn admission(network: &Network) -> Option<&HartsAdmission> {
    network.harts.as_ref()?.admission.as_ref()
}

fn requested(admission: &HartsAdmission) -> impl Iterator<Item = StreamIndex> + '_ {
    admission.requests.iter().map(|request| request.stream)
}

/// Listeners that were granted a stream at any time, and those that a frame of it was on its way to.
fn reached(
    described: &Stream,
    stream: StreamIndex,
    seen: &HartsObservation,
    observation: &Observation,
) -> Vec<NodeIndex> {
    let observed = &observation.streams[stream.index()];
    let passed = |hop: usize| !observed.hops[hop].max.is_zero();
    let was_granted = |place: usize| {
        let answer = seen.outcome(stream, described.listeners[place]);
        answer.is_some_and(|answer| answer.granted) || observed.listeners[place].delivered > 0
    };
    let mut is_reached: Vec<bool> = (0..described.listeners.len()).map(was_granted).collect();
    let mut covered = vec![false; described.hops.len()];
    // Frames on a part of a way alone count as those of whoever is at its end.
    for granted in [true, false] {
        for (place, is_reached) in is_reached.iter_mut().enumerate() {
            let way = way(described, place);
            *is_reached |= !granted && way.iter().any(|hop| passed(*hop) && !covered[*hop]);
            if *is_reached {
                way.iter().for_each(|hop| covered[*hop] = true);
            }
        }
    }
    let reached = described.listeners.iter().zip(is_reached);
    reached.filter(|(_, reached)| *reached).map(|(node, _)| *node).collect()
}

/// The hops to a listener.
fn way(described: &Stream, listener: usize) -> Vec<usize> {
    let last = described.hops.iter().position(|hop| hop.listener.is_some_and(|one| one as usize == listener));
    std::iter::successors(last, |hop| described.hops[*hop].previous.map(|before| before as usize)).collect()
}
