//! What an ACMaster of HaRTES tests with in a run: what the description says, equation 3 or the proven bounds.

use tautwire_admission::{AdmissionTest, HartsResponseTime, RefusalReason};
use tautwire_analysis::bounds;
use tautwire_model::Network;
use tautwire_model::harts_admission::DecidesBy;
use tautwire_model::network::{StreamIndex, Traffic};
use tautwire_sim::StreamPart;
use tautwire_units::Duration;

/// Which stream would be late if `new` joined `others`, each on its way to its listeners, if one would.
pub(crate) fn test(network: &Network, new: &StreamPart, others: &[StreamPart]) -> Result<(), StreamIndex> {
    let admission = network.harts.as_ref().and_then(|harts| harts.admission.as_ref());
    let parts: Vec<StreamPart> = others.iter().chain([new]).cloned().collect();
    let streams: Vec<StreamIndex> = others.iter().map(|(stream, _)| *stream).collect();
    let decides_by = admission.map(|admission| admission.decides_by);
    let network = network.with_listeners(&parts);
    match decides_by {
        Some(DecidesBy::Bounds) => proven(&network, new.0, &streams),
        _ => response_time(&network, new.0, &streams),
    }
}

/// Equation 3, of the streams with servers; the windows of switches, of synchronous ones.
fn response_time(network: &Network, new: StreamIndex, others: &[StreamIndex]) -> Result<(), StreamIndex> {
    let streams: Vec<StreamIndex> = others.iter().copied().chain([new]).collect();
    let late = match HartsResponseTime::of(network).refuse(network, &streams) {
        None => return Ok(()),
        Some(RefusalReason::Deadline { stream, .. } | RefusalReason::Unbounded { stream, .. }) => stream,
        Some(_) => return Err(new),
    };
    Err(streams.into_iter().find(|index| network.streams[index.index()].name == late).unwrap_or(new))
}

/// The bounds, beside all that nobody asks for: that shares the ports of talkers.
fn proven(network: &Network, new: StreamIndex, others: &[StreamIndex]) -> Result<(), StreamIndex> {
    let admission = network.harts.as_ref().and_then(|harts| harts.admission.as_ref());
    let asked = |stream: &StreamIndex| admission.is_some_and(|one| one.request(*stream).is_some());
    let runs = |stream: &StreamIndex| *stream == new || others.contains(stream) || !asked(stream);
    let all: Vec<StreamIndex> = (0..network.streams.len()).map(StreamIndex::at).filter(runs).collect();
    let part = network.with_only(&all);
    let proven = bounds(&part);
    let is_late = |stream: &StreamIndex| {
        let place = all.iter().position(|one| one == stream).expect("it runs");
        let mut listeners = proven.streams[place].listeners.iter();
        // A message of a synchronous stream that has no bound may be lost.
        let is_polled = part.streams[place].traffic == Traffic::Polled;
        let wanted = part.streams[place].deadline.or(is_polled.then_some(Duration::from_ps(u64::MAX)));
        wanted.is_some_and(|deadline| {
            !listeners.all(|listener| listener.delay.as_ref().is_ok_and(|bound| *bound <= deadline))
        })
    };
    [new].iter().chain(others).find(|stream| is_late(stream)).map_or(Ok(()), |late| Err(*late))
}
