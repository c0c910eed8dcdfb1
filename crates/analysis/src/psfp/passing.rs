//! The output of stream filters before the queues of a bridge.
//!
//! A flow meter passes at most the contents of its buckets and what they earn meanwhile, by its own clock: the
//! committed bucket alone if yellow frames are dropped, else both. Coupled buckets earn no more together. The
//! parameters of a run are the largest that it has, and every start of its node fills the buckets again. Of streams
//! that share a meter each has no more than that.

use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, Stream, StreamIndex, TimelineAction};
use tautwire_model::psfp::{BridgeFilters, FilterChange, MeterConfig, beside_client_data};
use tautwire_units::Bytes;

use crate::analysis::Analysis;
use crate::clock::{Deviation, slack_ps};
use crate::curve::{Line, MICRO};
use crate::passage::Shaped;
use crate::plan::Entry;
use crate::shaper::bunched;

/// The filters of a bridge before an entry: all of them, and the index of the one that the frames match.
pub(super) fn before<'n>(
    network: &'n Network,
    entry: &Entry,
    first_entry: u32,
) -> Option<(&'n BridgeFilters, usize)> {
    if network.stream_filters.is_empty() {
        return None;
    }
    let stream = &network.streams[entry.stream as usize];
    let hop = stream.hops.get(entry.previous.checked_sub(first_entry)? as usize)?;
    network.filter_behind(StreamIndex(entry.stream), stream, hop)
}

/// The largest MAC client data of a stream that passes all filters before one of its hops.
pub(crate) fn payload_max(network: &Network, number: u32, stream: &Stream, position: usize) -> Bytes {
    let mut most = stream.payload_max;
    if network.stream_filters.is_empty() {
        return most;
    }
    let mut at = stream.hops[position].previous;
    while let Some(before) = at {
        let hop = &stream.hops[before as usize];
        if let Some((filters, filter)) = network.filter_behind(StreamIndex(number), stream, hop)
            && let Some(sdu) = filters.filters[filter].config.max_sdu
        {
            most = most.min(Bytes::new(u64::from(sdu).saturating_sub(beside_client_data(hop))));
        }
        at = hop.previous;
    }
    most.max(stream.payload_min)
}

/// The parameters that a meter has in a run, the first ones too.
pub(super) fn profiles(network: &Network, filters: &BridgeFilters, meter: usize) -> Vec<MeterConfig> {
    let changed = network.events.iter().filter_map(|event| match &event.action {
        TimelineAction::ChangeFilters(node, change) if *node == filters.node => match **change {
            FilterChange::Meter(own, config) if own == meter => Some(config),
            _ => None,
        },
        _ => None,
    });
    [filters.meters[meter].config].into_iter().chain(changed).collect()
}

/// How often a node starts in a run, the first time too.
pub(super) fn starts(network: &Network, node: NodeIndex) -> u64 {
    let again = network.events.iter().filter(|event| event.action == TimelineAction::StartNode(node));
    1 + again.count() as u64
}

/// Upper bound of a meter's output, in bits of frames by its clock.
fn profile(network: &Network, filters: &BridgeFilters, meter: usize) -> Line {
    let all = profiles(network, filters, meter);
    let excess = all.iter().any(|config| !config.drop_on_yellow);
    let rate = |config: &MeterConfig| {
        let committed = config.committed_information_rate.as_bps();
        let more = if excess { config.excess_information_rate.as_bps() } else { 0 };
        committed.saturating_add(more)
    };
    let most = |burst: fn(&MeterConfig) -> u32| all.iter().map(burst).max().unwrap_or(0);
    let committed = most(|config| config.committed_burst_size);
    let more = if excess { most(|config| config.excess_burst_size) } else { 0 };
    let octets = u128::from(committed) + u128::from(more);
    let burst = octets * 8 * MICRO * u128::from(starts(network, filters.node));
    Line { burst, rate: all.iter().map(rate).max().unwrap_or(0) }
}

impl Analysis<'_> {
    /// The limit of a meter before an entry for its stream, if that is less than its known arrivals.
    pub(crate) fn metered(&self, entry: &Entry) -> Option<Shaped> {
        let network = self.plan.network;
        let (filters, filter) = before(network, entry, self.plan.first_entry[entry.stream as usize])?;
        let line = profile(network, filters, filters.filters[filter].config.meter?);
        #[cfg(feature = "planted-faults")]
        let line = match self.plan.fault {
            Some(crate::PlantedFault::MeterWithoutExcess) => {
                let config = filters.meters[filters.filters[filter].config.meter?].config;
                Line::new(
                    u64::from(config.committed_burst_size) * 8,
                    config.committed_information_rate.as_bps(),
                )
            }
            Some(crate::PlantedFault::MeterBurstForgotten) => Line { burst: 0, ..line },
            _ => line,
        };
        let clock = &network.nodes[filters.node.index()].clock;
        let came = &self.plan.entries[entry.previous as usize];
        let least = came.frame_min.get();
        let wire = line.in_bits((least + Bytes::MEDIA_OVERHEAD.get(), least));
        let line =
            Line { rate: Deviation::of(clock).fastest(wire.rate), ..bunched(wire, 2 * slack_ps(clock)) };
        let known = self.passages[entry.previous as usize].shaped;
        if known.is_some_and(|known| known.line.rate <= line.rate) {
            return None;
        }
        let (tagged, origin_min, meter) = (came.tagged, entry.here_min, entry.previous);
        Some(Shaped { line, tagged, way_max: 0, spread: 0, origin_min, of_link: false, meter })
    }
}
