//! Faults of stream filters that only the resolved network shows: unsupported combinations, and filters that certainly discard.
//!
//! Each filter is reported once for each kind of fault.

use std::collections::BTreeSet;

use tautwire_core::Priority;
use tautwire_units::{BitRate, Bytes};

use super::{BridgeFilters, FilterConfig, Internal, MeterConfig};
use crate::frame::frame_length;
use crate::network::{Hop, NodeKind, Stream, StreamIndex, Switching, TransmissionSelection};
use crate::resolve::Resolved;
use crate::text::codes;
use crate::text::faults::Faults;
use crate::text::tree::Place;

/// Octets of the EtherType, which an MSDU begins with.
const ETHER_TYPE: u64 = 2;

/// Reports impossible or useless filters of a network.
pub(crate) fn check(of: &Resolved<'_, '_>, faults: &mut Faults) {
    let drafts = &of.topology.filters;
    if drafts.bridges.is_empty() {
        return;
    }
    for (bridge, places) in drafts.bridges.iter().zip(&drafts.places) {
        beside_others(of, bridge, places.node, faults);
        lists(bridge, &places.gates, faults);
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

/// Mechanisms with which filters are not supported.
fn beside_others(of: &Resolved<'_, '_>, bridge: &BridgeFilters, place: Place, faults: &mut Faults) {
    let root = &of.draft.root;
    let node = &of.topology.nodes[bridge.node.index()];
    let NodeKind::Bridge { device, .. } = node.kind else { return };
    let is_cut_through = matches!(of.models.device_at(device).switching, Switching::CutThrough { .. });
    let drafts = || of.streams.list.iter().map(|draft| &draft.stream);
    let whole = ["tdma", "harts", "stream-reservation"].into_iter().find(|key| root.get(key).is_some());
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
        let intervals = parameters.control_list.iter().map(|entry| u128::from(entry.time_interval.as_ps()));
        if intervals.sum::<u128>() > u128::from(parameters.cycle_time.ceil().as_ps()) {
            let message = format!(
                "the intervals of the list of stream gate {} are longer together than the cycle of {}: what is beyond it is cut off",
                gate.id, parameters.cycle_time
            );
            faults.warning(codes::GATE_LIST, *place, message, "lengthen the cycle, or shorten entries");
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
        if let Some((most, least)) = too_large(&row.config, stream)
            && once("sdu")
        {
            let all = if least { "all frames" } else { "frames" };
            let message = format!(
                "stream filter {id} discards {all} of `{}` that are larger than {most} B",
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
        if meter.is_some_and(|meter| is_always_red(meter, stream, hop)) && once("meter") {
            let message = format!(
                "the flow meter of stream filter {id} discards the largest frames of `{}`, which fit into no bucket",
                stream.name
            );
            faults.warning(codes::FILTER_BURST, at, message, "raise `committed-burst-size`");
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
            if of.mechanisms.cyclic.as_ref().is_some_and(|cyclic| cyclic.bridges.contains(&bridge.node)) {
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

/// The maximum SDU size of a filter that discards frames of a stream, and whether it discards all.
fn too_large(config: &FilterConfig, stream: &Stream) -> Option<(u32, bool)> {
    let most = config.max_sdu?;
    let is_larger = |payload: Bytes| payload.get() + ETHER_TYPE > u64::from(most);
    is_larger(stream.payload_max).then(|| (most, is_larger(stream.payload_min)))
}

/// Whether the largest frames of a stream fit into neither bucket.
fn is_always_red(meter: &MeterConfig, stream: &Stream, hop: &Hop) -> bool {
    let octets = frame_length(stream.payload_max, hop.tagged).get();
    let burst = meter.committed_burst_size.max(meter.excess_burst_size);
    let earns = [meter.committed_information_rate, meter.excess_information_rate];
    octets > u64::from(burst) || earns == [BitRate::ZERO; 2]
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
