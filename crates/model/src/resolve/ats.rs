//! ATS scheduler groups and instances of every bridge (IEEE Std 802.1Q-2022, 8.6.5.6).
//!
//! A group is defined by the reception port and, depending on the device, the class that the frames had at the port
//! before or have at this bridge. Within a group every stream that its stream filter identifies (`identification.rs`)
//! has an instance of its own, shared by all egress ports to which the bridge copies it. Streams that match one filter
//! share an instance; so do those that match none, and those beyond the instances of the device: a default one, the
//! first of the group. A shared instance has the sum of the parameters of its streams.

use std::collections::{HashMap, HashSet};

use tautwire_core::TrafficClass;
use tautwire_units::{BitRate, Bits, Bytes};
use tautwire_wire::SEQUENCE_TAG;

use super::covering::Covering;
use super::identification::{Filters, filters};
use super::models::Models;
use super::streams::{StreamDraft, Streams, largest_frame};
use super::topology::Topology;
use crate::network::{
    Grouping, Hop, NodeKind, PortIndex, Scheduler, SchedulerGroup, SchedulerGroupIndex, SchedulerIndex,
    ShaperSettings, TransmissionSelection,
};
use crate::text::codes;
use crate::text::faults::Faults;

/// All instances and groups.
#[derive(Default)]
pub(crate) struct Assigned {
    pub(crate) schedulers: Vec<Scheduler>,
    pub(crate) groups: Vec<SchedulerGroup>,
}

/// A stream's use of a group: its hops there, and its parameters, which are those of the first hop's place
/// in the row of its schedulers.
struct Use {
    stream: usize,
    shaper: Option<ShaperSettings>,
    /// Its hop before the reception port.
    before: Hop,
    hops: Vec<usize>,
}

/// Assigns an instance to every hop of an ATS class at a bridge.
pub(crate) fn assign(
    covering: &Covering<'_, '_, '_>,
    streams: &mut Streams<'_, '_>,
    faults: &mut Faults,
) -> Assigned {
    let (topology, models) = (covering.topology, covering.models);
    let mut assigned = Assigned::default();
    let mut index: HashMap<(PortIndex, TrafficClass), usize> = HashMap::new();
    let mut uses: Vec<Vec<Use>> = Vec::new();
    for (number, draft) in streams.list.iter().enumerate() {
        for (hop_number, hop) in draft.stream.hops.iter().enumerate() {
            let settings = &topology.ports[hop.port.index()].classes[hop.class.index()];
            let (TransmissionSelection::Ats, Some(previous)) = (settings.selection, hop.previous) else {
                continue;
            };
            let before = &draft.stream.hops[previous as usize];
            let links = topology.ports[before.port.index()].links.expect("a hop's port has a cable");
            let reception = topology.links[links.egress.index()].to;
            let device = device(topology, models, reception);
            let class = match device.ats.grouping {
                Grouping::UpstreamClass => before.class,
                Grouping::OwnClass => hop.class,
            };
            let numbered = if before.tagged.sequence { Bytes::new(SEQUENCE_TAG) } else { Bytes::ZERO };
            check_shaper(topology, draft, hop.port, device.ats.charged_overhead + numbered, faults);
            let group = *index.entry((reception, class)).or_insert_with(|| {
                assigned.groups.push(SchedulerGroup {
                    reception_port: reception,
                    class,
                    max_residence_time: topology.extras[reception.index()].max_residence_time,
                });
                uses.push(Vec::new());
                uses.len() - 1
            });
            match uses[group].last_mut().filter(|last| last.stream == number) {
                Some(last) => last.hops.push(hop_number),
                None => {
                    let shaper = if draft.covering {
                        covering.settings(draft, hop_number)
                    } else {
                        stepped(topology, draft, hop_number)
                    };
                    uses[group].push(Use { stream: number, shaper, before: *before, hops: vec![hop_number] });
                }
            }
        }
    }
    let mut reported = HashSet::new();
    for (group, uses) in uses.iter().enumerate() {
        let device = device(topology, models, assigned.groups[group].reception_port);
        let members: Vec<(usize, Hop)> = uses.iter().map(|of| (of.stream, of.before)).collect();
        let filters = filters(&members, device, topology, streams, &mut reported, faults);
        let group = SchedulerGroupIndex::at(group);
        report_shared(topology, &assigned.groups[group.index()], uses, &filters, streams, faults);
        let reception = assigned.groups[group.index()].reception_port;
        let first = topology.nodes[topology.ports[reception.index()].node.index()].ports.start;
        let deviation = |transmission: PortIndex| {
            device.clock_rate_deviation_max_ppb(reception.0 - first, transmission.0 - first)
        };
        instances(group, uses, &filters, &deviation, streams, &mut assigned.schedulers);
    }
    assigned
}

/// The stream's parameters at a hop: its rate raised by a step for every scheduler before it, rounded up,
/// and then its burst by an octet.
fn stepped(topology: &Topology<'_>, draft: &StreamDraft<'_, '_>, hop: usize) -> Option<ShaperSettings> {
    let mut shaper = draft.stream.shaper?;
    let mut before = draft.stream.hops[hop].previous;
    while let Some(hop) = before.map(|number| &draft.stream.hops[number as usize]) {
        let selection = topology.ports[hop.port.index()].classes[hop.class.index()].selection;
        if hop.previous.is_some() && selection == TransmissionSelection::Ats {
            let rate = shaper.committed_information_rate.fastest(u64::from(draft.rate_step_ppb));
            shaper.committed_information_rate = rate;
            if draft.rate_step_ppb > 0 {
                shaper.committed_burst_size += Bytes::new(1).bits();
            }
        }
        before = hop.previous;
    }
    Some(shaper)
}

fn device<'m>(
    topology: &Topology<'_>,
    models: &'m Models<'_, '_>,
    port: PortIndex,
) -> &'m crate::network::DeviceModel {
    match topology.nodes[topology.ports[port.index()].node.index()].kind {
        NodeKind::Bridge { device, .. } => models.device_at(device),
        NodeKind::EndStation { .. } => unreachable!("only bridges forward"),
    }
}

/// The instances of one group: the default one first, if it is needed, then one for each filter in use.
fn instances(
    group: SchedulerGroupIndex,
    uses: &[Use],
    filters: &Filters,
    deviation: &dyn Fn(PortIndex) -> u32,
    streams: &mut Streams<'_, '_>,
    schedulers: &mut Vec<Scheduler>,
) {
    let nothing = Scheduler {
        group,
        committed_information_rate: BitRate::ZERO,
        committed_burst_size: Bits::ZERO,
        transmission_port: PortIndex(u32::MAX),
        clock_rate_deviation_max_ppb: 0,
    };
    let mut instance_of: Vec<Option<SchedulerIndex>> = vec![None; filters.len() + 1];
    let default = filters.len();
    let first = filters.found.iter().any(Option::is_none).then_some(default);
    for filter in first.into_iter().chain(filters.found.iter().flatten().copied()) {
        if instance_of[filter].is_none() {
            instance_of[filter] = Some(SchedulerIndex::at(schedulers.len()));
            schedulers.push(nothing);
        }
    }
    for (of, filter) in uses.iter().zip(&filters.found) {
        let Some(shaper) = of.shaper else { continue };
        let scheduler = instance_of[filter.unwrap_or(default)].expect("made above");
        let sum = &mut schedulers[scheduler.index()];
        let rate = sum.committed_information_rate.saturating_add(shaper.committed_information_rate);
        sum.committed_information_rate = rate;
        sum.committed_burst_size = sum.committed_burst_size.saturating_add(shaper.committed_burst_size);
        for hop in &of.hops {
            let hop = &mut streams.list[of.stream].stream.hops[*hop];
            hop.scheduler = Some(scheduler);
            sum.transmission_port = sum.transmission_port.min(hop.port);
            sum.clock_rate_deviation_max_ppb = sum.clock_rate_deviation_max_ppb.max(deviation(hop.port));
        }
    }
}

/// Warns of streams of a group that have no instance of their own.
fn report_shared(
    topology: &Topology<'_>,
    group: &SchedulerGroup,
    uses: &[Use],
    filters: &Filters,
    streams: &Streams<'_, '_>,
    faults: &mut Faults,
) {
    let draft = |number: usize| &streams.list[uses[number].stream];
    let at = topology.port_name(group.reception_port);
    let mut taken: Vec<Option<usize>> = vec![None; filters.len()];
    for (number, filter) in filters.found.iter().enumerate() {
        let Some(filter) = *filter else { continue };
        let Some(first) = taken[filter] else {
            taken[filter] = Some(number);
            continue;
        };
        let message = format!(
            "at {at} its frames match the stream filter of `{}`, so both share one ATS scheduler",
            draft(first).stream.name
        );
        let help = "the scheduler has the sum of their parameters; separate them by another address, VLAN or \
                    `identification`";
        let other = (draft(first).name_place, "the other stream");
        faults.warning_with(codes::SHARED_FILTER, draft(number).name_place, message, help, other);
    }
    if let Some(number) = (0..uses.len()).find(|number| filters.unknown[*number]) {
        let message = format!(
            "at {at} none of the bridge's stream identification functions matches it, so its frames use the default scheduler"
        );
        let help = "give it the addresses that the bridge matches, with `udp:`";
        faults.warning(codes::SHARED_FILTER, draft(number).name_place, message, help);
    }
    let beyond = |number: &usize| filters.found[*number].is_none() && !filters.unknown[*number];
    if let Some(number) = (0..uses.len()).find(beyond) {
        let message = format!(
            "{} streams share a group of {} schedulers, so from this stream on they use the default scheduler",
            uses.len(),
            filters.len()
        );
        let help =
            "that scheduler has the sum of their parameters; use more priorities or ports, or another device";
        faults.warning(codes::SCHEDULERS, draft(number).name_place, message, help);
    }
}

fn check_shaper(
    topology: &Topology<'_>,
    draft: &StreamDraft<'_, '_>,
    port: PortIndex,
    charged_overhead: tautwire_units::Bytes,
    faults: &mut Faults,
) {
    let Some(shaper) = draft.stream.shaper else {
        if draft.node.get("shaper").is_none() {
            let message =
                format!("its class is ATS at {}, and the stream has no `shaper`", topology.port_name(port));
            let help = "add `shaper: {committed-information-rate: 10 Mbit/s, committed-burst-size: 1542 B}`";
            faults.error(codes::NO_SHAPER, draft.name_place, message, help);
        }
        return;
    };
    let place = |key: &str| {
        draft
            .node
            .get("shaper")
            .and_then(|shaper| shaper.get(key))
            .map_or(draft.name_place, |node| node.place)
    };
    let charged = (largest_frame(&draft.stream) + charged_overhead).bits();
    if shaper.committed_burst_size < charged {
        let message = format!(
            "a burst of {} is less than the {charged} that its largest frame is charged at {}, so that frame is never eligible",
            shaper.committed_burst_size,
            topology.port_name(port)
        );
        let help = format!("write `{} B` at least", charged.get() / 8);
        faults.error(codes::BURST_SIZE, place("committed-burst-size"), message, help);
    }
}
