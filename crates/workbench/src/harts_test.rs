//! The test of an ACMaster of HaRTES in a run, by the description: equation 3 or the proven bounds.

use std::collections::{BTreeMap, BTreeSet};

use tautwire_admission::{AdmissionTest, HartsResponseTime, RefusalReason, first_lost, missed, wanted};
use tautwire_analysis::{StreamBounds, bounds};
use tautwire_model::Network;
use tautwire_model::harts::admission::DecidesBy;
use tautwire_model::network::StreamIndex;
use tautwire_sim::{Late, StreamPart};

use crate::late::late;

/// What would be late if `new` joined `others`, each on its way to its listeners, if something would.
pub(crate) fn test(network: &Network, new: &StreamPart, others: &[StreamPart]) -> Result<(), Late> {
    let admission = network.harts.as_ref().and_then(|harts| harts.admission.as_ref());
    let parts: Vec<StreamPart> = others.iter().chain([new]).cloned().collect();
    let streams: Vec<StreamIndex> = others.iter().map(|(stream, _)| *stream).collect();
    let decides_by = admission.map(|admission| admission.decides_by);
    let network = network.with_listeners(&parts);
    let refused = match decides_by {
        Some(DecidesBy::Bounds) => proven(&network, new.0, &streams),
        // Equation 3, of the streams with servers; the windows of switches, of synchronous ones.
        _ => {
            let all: Vec<StreamIndex> = streams.into_iter().chain([new.0]).collect();
            HartsResponseTime::of(&network).refuse(&network, &all)
        }
    };
    let asked_by = *new.1.last().expect("a listener asks");
    refused.map_or(Ok(()), |reason| Err(late(&network, &reason, new.0, asked_by)))
}

/// The bounds, together with all streams that are not requested: those share the ports of talkers.
fn proven(network: &Network, new: StreamIndex, others: &[StreamIndex]) -> Option<RefusalReason> {
    let admission = network.harts.as_ref().and_then(|harts| harts.admission.as_ref());
    let asked = |stream: &StreamIndex| admission.is_some_and(|one| one.request(*stream).is_some());
    let runs = |stream: &StreamIndex| *stream == new || others.contains(stream) || !asked(stream);
    let all: Vec<StreamIndex> = (0..network.streams.len()).map(StreamIndex::at).filter(runs).collect();
    let alone = network.with_only(&all);
    let found = bounds(&alone);
    let with: BTreeMap<StreamIndex, &StreamBounds> = all.iter().copied().zip(&found.streams).collect();
    let is_missed = |stream: StreamIndex, without: Option<&StreamBounds>| {
        let described = &network.streams[stream.index()];
        missed(network, described, wanted(described)?, with[&stream], without)
    };
    let mut asking = [new].into_iter().chain(others.iter().copied());
    let Some(late) = asking.find(|one| is_missed(*one, None).is_some()) else {
        let names: BTreeSet<&str> =
            others.iter().chain([&new]).map(|one| network.streams[one.index()].name.as_str()).collect();
        return first_lost(&alone, &found, |stream| names.contains(stream.name.as_str()));
    };
    let before: Vec<StreamIndex> = all.iter().copied().filter(|stream| *stream != new).collect();
    is_missed(late, (late != new).then(|| of(network, &before)).as_ref().map(|without| &without[&late]))
}

/// The bounds of streams where these run alone.
fn of(network: &Network, streams: &[StreamIndex]) -> BTreeMap<StreamIndex, StreamBounds> {
    streams.iter().copied().zip(bounds(&network.with_only(streams)).streams).collect()
}
