//! Faults of stream filters that only the resolved network shows: unsupported combinations, and filters that certainly discard.
//!
//! Each filter is reported once for each kind of fault.

use std::collections::BTreeSet;

use tautwire_core::Priority;
use tautwire_units::{BitRate, Bytes};

use super::resolve::Places;
use super::{BridgeFilters, FilterConfig, Internal, MeterConfig, beside_client_data};
use crate::frame::frame_length;
use crate::gates::check::{fits_cycle, schedule_of_all};
use crate::network::{Hop, NodeKind, Stream, StreamIndex, Switching, TransmissionSelection};
use crate::psfp::codes;
use crate::resolve::Resolved;
use crate::text::faults::Faults;
use crate::text::tree::Place;

/// Reports impossible or useless filters of a network.
pub(crate) fn check(of: &Resolved<'_, '_>, faults: &mut Faults) {
    let drafts = &of.topology.filters;
    if drafts.bridges.is_empty() {
        return;
    }
    for (bridge, places) in drafts.bridges.iter().zip(&drafts.places) {
        if !is_cyclic(of, bridge) {
            beside_others(of, bridge, places.node, faults);
            lists(bridge, &places.gates, faults);
            without_filter(bridge, places, faults);
        }
    }
    let mut found = Found::default();
    for (number, draft) in of.streams.list.iter().enumerate() {
        let stream = (StreamIndex::at(number), &draft.stream);
        for (place, hop) in draft.stream.hops.iter().enumerate() {
            if let Some((bridge, filter)) = drafts.behind(&of.topology, stream, hop) {
                found.take(of, (bridge, filter), (&draft.stream, place), faults);
            }
        }
    }
    if of.is_routed {
        found.without_use(of, faults);
    }
}

/// Whether a bridge has its filters for its cycles.
fn is_cyclic(of: &Resolved<'_, '_>, bridge: &BridgeFilters) -> bool {
    of.mechanisms.cyclic.as_ref().is_some_and(|cyclic| cyclic.bridges.contains(&bridge.node))
}

/// Mechanisms with which filters are not supported.
fn beside_others(of: &Resolved<'_, '_>, bridge: &BridgeFilters, place: Place, faults: &mut Faults) {
    let root = &of.draft.root;
    let node = &of.topology.nodes[bridge.node.index()];
    let NodeKind::Bridge { device, .. } = node.kind else { return };
    let is_cut_through = matches!(of.models.device_at(device).switching, Switching::CutThrough { .. });
    let drafts = || of.streams.list.iter().map(|draft| &draft.stream);
    let whole = schedule_of_all(root);
    let what = if let Some(key) = whole {
        format!("`{key}`")
    } else if is_cut_through {
        "cut-through switching of its device".to_owned()
    } else if drafts().any(|stream| stream.virtual_link.is_some() || stream.time_triggered.is_some()) {
        "virtual links".to_owned()
    } else {
        return;
    };
    let message = format!("`{}` has stream filters and {what}, which do not go together", node.name);
    faults.error(codes::STREAM_FILTERS, place, message, "remove one of them");
}

/// Entries that are cut off.
fn lists(bridge: &BridgeFilters, places: &[Place], faults: &mut Faults) {
    for (gate, place) in bridge.gates.iter().zip(places) {
        let Some(parameters) = &gate.config.parameters else { continue };
        let intervals = parameters.control_list.iter().map(|entry| entry.time_interval);
        let list = format!("the list of stream gate {}", gate.id);
        fits_cycle(&list, (intervals, parameters.cycle_time), *place, faults);
    }
}

/// Stream gates and flow meters to which no filter leads.
fn without_filter(bridge: &BridgeFilters, places: &Places, faults: &mut Faults) {
    let help = "name it in a stream filter, or remove it";
    for (number, (gate, place)) in bridge.gates.iter().zip(&places.gates).enumerate() {
        if bridge.filters.iter().all(|filter| filter.config.gate != Some(number)) {
            let message = format!("no stream filter leads to stream gate {}", gate.id);
            faults.warning(codes::NO_EFFECT, *place, message, help);
        }
    }
    for (number, (meter, place)) in bridge.meters.iter().zip(&places.meters).enumerate() {
        if bridge.filters.iter().all(|filter| filter.config.meter != Some(number)) {
            let message = format!("no stream filter leads to flow meter {}", meter.id);
            faults.warning(codes::NO_EFFECT, *place, message, help);
        }
    }
}

/// The results for filters, by the indices of bridge and filter.
#[derive(Default)]
struct Found {
    used: BTreeSet<(usize, usize)>,
    reported: BTreeSet<(usize, usize, &'static str)>,
}

impl Found {
    /// Frames of a stream match a filter after one of its hops.
    fn take(
        &mut self,
        of: &Resolved<'_, '_>,
        (bridge, filter): (usize, usize),
        (stream, place): (&Stream, usize),
        faults: &mut Faults,
    ) {
        self.used.insert((bridge, filter));
        let drafts = &of.topology.filters;
        let row = &drafts.bridges[bridge].filters[filter];
        let (at, id) = (drafts.places[bridge].filters[filter], row.id);
        let hop = &stream.hops[place];
        let mut once = |what: &'static str| self.reported.insert((bridge, filter, what));
        if let Some((most, least)) = too_large(&row.config, stream, hop)
            && once("sdu")
        {
            let all = if least { "all frames" } else { "frames" };
            let message = format!(
                "stream filter {id} discards {all} of `{}` with more than {most} B of MAC client data",
                stream.name
            );
            faults.warning(
                codes::FILTER_SDU,
                at,
                message,
                "raise `max-sdu-size`, or make the frames smaller",
            );
        }
        let meter = row.config.meter.map(|meter| &drafts.bridges[bridge].meters[meter].config);
        if let Some((why, help)) = meter.and_then(|meter| discarded_by(meter, stream, hop))
            && once("meter")
        {
            let message = format!(
                "the flow meter of stream filter {id} discards the largest frames of `{}`, {why}",
                stream.name
            );
            faults.warning(codes::FILTER_BURST, at, message, help);
        }
        let behind = |hop: &Hop| hop.previous.is_some_and(|before| before as usize == place);
        if matches!(row.internal, Internal::Varies(_))
            && !is_cyclic(of, &drafts.bridges[bridge])
            && stream.hops.iter().any(behind)
            && once("bound")
        {
            let message = format!(
                "no bound is known for streams at ports behind stream filter {id}: the internal priorities of its stream gate change"
            );
            faults.warning(
                codes::NO_BOUND,
                at,
                message,
                "give all entries of the gate the same internal priority",
            );
        }
        if let Internal::Varies(priorities) = &row.internal
            && let Some(message) = several_selections(of, stream, place, priorities)
            && once("selection")
        {
            let help =
                "give the classes of its internal priorities the same transmission selection, without ATS";
            faults.error(codes::STREAM_FILTERS, at, format!("stream filter {id}: {message}"), help);
        }
    }

    /// Filters that no frame matches.
    fn without_use(&self, of: &Resolved<'_, '_>, faults: &mut Faults) {
        let drafts = &of.topology.filters;
        for (number, (bridge, places)) in drafts.bridges.iter().zip(&drafts.places).enumerate() {
            // Those of cycles are there for all bridges.
            if is_cyclic(of, bridge) {
                continue;
            }
            for (filter, (row, place)) in bridge.filters.iter().zip(&places.filters).enumerate() {
                if !self.used.contains(&(number, filter)) {
                    let message = format!("no frame of any stream finds stream filter {}", row.id);
                    let help = "name a stream that comes to this bridge, or remove the filter";
                    faults.warning(codes::NO_EFFECT, *place, message, help);
                }
            }
        }
    }
}

/// The most MAC client data of a filter that discards frames of a stream, and whether it discards all.
fn too_large(config: &FilterConfig, stream: &Stream, hop: &Hop) -> Option<(u64, bool)> {
    let most = u64::from(config.max_sdu?).saturating_sub(beside_client_data(hop));
    let is_larger = |payload: Bytes| payload.get() > most;
    is_larger(stream.payload_max).then(|| (most, is_larger(stream.payload_min)))
}

/// Why the largest frames of a stream are discarded, all or all but some, and what would help.
fn discarded_by(meter: &MeterConfig, stream: &Stream, hop: &Hop) -> Option<(&'static str, &'static str)> {
    let octets = frame_length(stream.payload_max, hop.tagged).get();
    let fits = |burst: u32| octets <= u64::from(burst);
    let (green, yellow) = (fits(meter.committed_burst_size), fits(meter.excess_burst_size));
    let is_earned = |rate: BitRate| rate > BitRate::ZERO;
    // Committed tokens are earned by either bucket with the coupling flag.
    let committed = is_earned(meter.committed_information_rate);
    let excess = is_earned(meter.excess_information_rate) || meter.coupling_flag && committed;
    if !green && !yellow {
        Some(("which fit into no bucket", "raise `committed-burst-size`"))
    } else if !green && meter.drop_on_yellow {
        let help = "raise `committed-burst-size`, or remove `drop-on-yellow`";
        Some(("which are yellow, for they do not fit into the committed bucket", help))
    } else if !(green && committed || yellow && excess && !meter.drop_on_yellow) {
        let help = "raise `committed-information-rate`";
        Some(("once the bucket into which they fit is empty, for nothing fills it", help))
    } else {
        None
    }
}

/// Why frames of a stream cannot have internal priorities that change, at one of the ports after a hop.
fn several_selections(
    of: &Resolved<'_, '_>,
    stream: &Stream,
    place: usize,
    priorities: &BTreeSet<Option<Priority>>,
) -> Option<String> {
    let behind = stream.hops.iter().filter(|hop| hop.previous.is_some_and(|before| before as usize == place));
    behind.into_iter().find_map(|hop| {
        let port = &of.topology.ports[hop.port.index()];
        let class = |priority: &Option<Priority>| priority.map_or(hop.class, |own| port.class_table.of_priority[own.index()]);
        let classes: BTreeSet<_> = priorities.iter().map(class).chain([hop.class]).collect();
        let of_class = |class: &tautwire_core::TrafficClass| port.classes[class.index()].selection.algorithm() as usize;
        let algorithms: BTreeSet<usize> = classes.iter().map(of_class).collect();
        let is_ats = classes.iter().any(|class| port.classes[class.index()].selection == TransmissionSelection::Ats);
        (is_ats || algorithms.len() > 1).then(|| {
            format!(
                "its internal priorities lead frames of `{}` to classes of {} with ATS or different selections, which is not supported",
                stream.name,
                of.topology.port_name(hop.port)
            )
        })
    })
}
