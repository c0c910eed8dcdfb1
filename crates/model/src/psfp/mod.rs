//! Per-stream filtering and policing of bridges, resolved (IEEE Std 802.1Q-2022, 8.6.5.3 to 8.6.5.5, 8.6.10, 12.31).
//!
//! The machine and its parameters are `core`'s (`psfp/`); here are those of each bridge, and the filter that the
//! frames of a stream match: the first one with their handle and regenerated priority. A stream is its own handle
//! unless its frames match the identification of another one first ([`Hop::identified`](crate::network::Hop::identified)). An internal priority that is the same whenever a gate is open determines the class of
//! a hop ([`Hop::class`](crate::network::Hop::class)); one that changes does so in a run ([`Internal::Varies`]). Not
//! here: bounds.

pub(crate) mod check;
pub(crate) mod codes;
pub(crate) mod language;
pub(crate) mod resolve;

use std::collections::BTreeSet;

use tautwire_core::Priority;
pub use tautwire_core::psfp::{
    ColourMode, FilterConfig, MeterConfig, StreamGateConfig, StreamGateEntry, StreamGateParameters,
};
use tautwire_core::psfp::{GateState, StreamFilters};

use crate::blocks::Block;
use crate::frame::Tags;
use crate::identification;
use crate::network::{
    Hop, Network, NodeIndex, Port, PortIndex, Stream, StreamIndex, TimelineAction, Traffic,
};

/// Octets of the EtherType, which an MSDU begins with.
const ETHER_TYPE: u64 = 2;

/// What the description's stages know of it.
pub(crate) static BLOCK: Block = Block {
    name: "stream filters, gates and meters of bridges",
    is_in: |network| !network.stream_filters.is_empty(),
    port_keys: &[],
    words: &[
        "stream-filters",
        "stream-gates",
        "flow-meters",
        "psfp",
        "policing",
        "per-stream-filtering",
        "stream-filter",
        "stream-filter-instance-table",
        "stream-gate",
        "stream-gate-instance-table",
        "flow-meter",
        "flow-meter-instance-table",
    ],
    place: "per-stream filtering and policing is under `stream-filters`, `stream-gates` and `flow-meters` of a bridge",
    check: check::check,
};

/// A filter of a bridge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamFilter {
    /// Its number in the description.
    pub id: u32,
    /// The streams whose frames it takes; none: all.
    pub streams: Option<BTreeSet<StreamIndex>>,
    /// The priority of the frames that it takes; none: any.
    pub priority: Option<Priority>,
    /// The functions that frames must pass; gate and meter by their indices in the lists of the bridge.
    pub config: FilterConfig,
    /// The priority that selects the class of those that pass.
    pub internal: Internal,
}

/// A gate of a bridge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamGate {
    /// Its number in the description.
    pub id: u32,
    /// Its parameters; octets are of MSDUs.
    pub config: StreamGateConfig,
}

/// A meter of a bridge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowMeter {
    /// Its number in the description.
    pub id: u32,
    /// Its parameters.
    pub config: MeterConfig,
}

/// The filters, gates and meters of a bridge, by their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BridgeFilters {
    /// The bridge.
    pub node: NodeIndex,
    /// In the order in which they are matched.
    pub filters: Vec<StreamFilter>,
    /// Stream gates.
    pub gates: Vec<StreamGate>,
    /// Flow meters.
    pub meters: Vec<FlowMeter>,
}

/// Changes by management in a run; filters, gates and meters by their indices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilterChange {
    /// A filter is blocked, or is no longer.
    Blocked(usize, bool),
    /// A gate gets another list.
    List(usize, StreamGateParameters),
    /// A gate is closed by flags, or is no longer: for invalid reception, for octets exceeded.
    Closed(usize, Option<bool>, Option<bool>),
    /// A meter gets other parameters.
    Meter(usize, MeterConfig),
    /// All frames of a meter are red, or are no longer.
    AllRed(usize, bool),
}

/// The priority that selects the class of a stream's frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Internal {
    /// Their own.
    Own,
    /// This one.
    Fixed(Priority),
    /// These, one after the other; none: their own.
    Varies(BTreeSet<Option<Priority>>),
}

impl BridgeFilters {
    /// The filter that frames with this stream handle and priority match, by its index; without a handle a filter of all streams.
    #[must_use]
    pub fn filter_of(&self, handle: Option<StreamIndex>, priority: Priority) -> Option<usize> {
        self.filters.iter().position(|filter| {
            let takes = |streams: &BTreeSet<_>| handle.is_some_and(|handle| streams.contains(&handle));
            filter.streams.as_ref().is_none_or(takes) && filter.priority.is_none_or(|own| own == priority)
        })
    }

    /// The priority that selects the class of frames that pass a gate; `lists` are those that it gets in a run.
    pub(crate) fn internal<'l>(
        &'l self,
        gate: usize,
        lists: impl Iterator<Item = &'l StreamGateParameters>,
    ) -> Internal {
        let config = &self.gates[gate].config;
        let entries = config.parameters.iter().chain(lists).flat_map(|list| &list.control_list);
        let states = entries.map(|entry| entry.state).chain([config.admin]);
        let all: BTreeSet<Option<Priority>> =
            states.filter(|state: &GateState| state.open).map(|state| state.internal_priority).collect();
        match (all.len(), all.first()) {
            (0, _) | (1, Some(None)) => Internal::Own,
            (1, Some(Some(one))) => Internal::Fixed(*one),
            _ => Internal::Varies(all),
        }
    }

    /// The key without which the flags that a change writes do nothing.
    #[must_use]
    pub fn disabled_flag(&self, change: &FilterChange) -> Option<&'static str> {
        // The functions of the flags that are written, and whether each is enabled.
        let (first, second) = match *change {
            FilterChange::Blocked(filter, _) => {
                let is_enabled = self.filters[filter].config.blocks_on_oversize;
                (Some(("stream-blocked-due-to-oversize-frame-enabled", is_enabled)), None)
            }
            FilterChange::Closed(gate, invalid, exceeded) => {
                let config = &self.gates[gate].config;
                let of = |key, is_enabled| move |_: bool| (key, is_enabled);
                let invalid =
                    invalid.map(of("gate-closed-due-to-invalid-rx-enable", config.closes_on_invalid_rx));
                let exceeded = exceeded
                    .map(of("gate-closed-due-octets-exceeded-enable", config.closes_on_octets_exceeded));
                (invalid, exceeded)
            }
            FilterChange::AllRed(meter, _) => {
                let is_enabled = self.meters[meter].config.mark_all_frames_red_enable;
                (Some(("mark-all-frames-red-enable", is_enabled)), None)
            }
            FilterChange::List(..) | FilterChange::Meter(..) => (None, None),
        };
        let written = || first.into_iter().chain(second);
        if written().any(|(_, is_enabled)| is_enabled) { None } else { written().next().map(|(key, _)| key) }
    }

    /// In a network in which streams have other indices.
    pub(crate) fn moved(&self, place: &[Option<StreamIndex>]) -> Self {
        let mut filters = self.clone();
        for filter in &mut filters.filters {
            // Those that are not in it stay, since frames of others may be taken for theirs.
            let moved = |streams: &BTreeSet<StreamIndex>| {
                streams.iter().map(|stream| identification::moved(*stream, place)).collect()
            };
            filter.streams = filter.streams.as_ref().map(moved);
        }
        filters
    }

    /// Its machine.
    #[must_use]
    pub fn machine(&self) -> StreamFilters {
        let filters: Vec<FilterConfig> = self.filters.iter().map(|filter| filter.config).collect();
        let meters: Vec<MeterConfig> = self.meters.iter().map(|meter| meter.config).collect();
        StreamFilters::new(&filters, self.gates.iter().map(|gate| gate.config.clone()).collect(), &meters)
    }
}

/// Octets of the MSDU of a frame that came over a hop in addition to its MAC client data: the EtherType, and the tag with its sequence number.
#[must_use]
pub fn beside_client_data(hop: &Hop) -> u64 {
    ETHER_TYPE + Tags { vlan: false, ..hop.tagged }.octets().get()
}

/// The priority of a stream's frames after a hop, at the port where they come in.
pub(crate) fn received_priority(stream: &Stream, hop: &Hop, reception: &Port) -> Priority {
    let is_its_own = stream.virtual_link.is_some() || stream.time_triggered.is_some();
    if is_its_own || stream.is_put_back(hop, reception.node) {
        stream.priority
    } else if hop.tagged.vlan {
        reception.priority_regeneration[hop.priority.index()]
    } else {
        reception.default_priority
    }
}

impl Network {
    /// The filters, gates and meters of a bridge, if it has any.
    #[must_use]
    pub fn filters_of(&self, node: NodeIndex) -> Option<&BridgeFilters> {
        self.stream_filters.iter().find(|filters| filters.node == node)
    }

    /// The node at the far end of a hop.
    #[must_use]
    pub fn far_end(&self, hop: &Hop) -> (NodeIndex, PortIndex) {
        let links = self.ports[hop.port.index()].links.expect("a hop's port is connected");
        let to = self.links[links.egress.index()].to;
        (self.ports[to.index()].node, to)
    }

    /// The regenerated priority of a stream's frames after a hop, where they come in.
    #[must_use]
    pub fn received_priority(&self, stream: &Stream, hop: &Hop) -> Priority {
        received_priority(stream, hop, &self.ports[self.far_end(hop).1.index()])
    }

    /// The filter that frames of a stream match after a hop: its bridge, and its index. Frames of protocols, which are
    /// for the port itself, match none.
    #[must_use]
    pub fn filter_behind(
        &self,
        number: StreamIndex,
        stream: &Stream,
        hop: &Hop,
    ) -> Option<(&BridgeFilters, usize)> {
        if self.stream_filters.is_empty() || stream.traffic == Traffic::Protocol {
            return None;
        }
        let (node, port) = self.far_end(hop);
        let filters = self.filters_of(node)?;
        let handle = hop.identified.handle(number);
        Some((filters, filters.filter_of(handle, received_priority(stream, hop, &self.ports[port.index()]))?))
    }

    /// The lists that a gate gets in a run.
    #[must_use]
    pub fn lists_to_come(&self, node: NodeIndex, gate: usize) -> Vec<&StreamGateParameters> {
        let list = |action| match action {
            &TimelineAction::ChangeFilters(at, ref change) if at == node => match &**change {
                FilterChange::List(own, list) if *own == gate => Some(list),
                _ => None,
            },
            _ => None,
        };
        self.events.iter().filter_map(|event| list(&event.action)).collect()
    }

    /// The priority that selects the class of a stream's frames after a hop.
    #[must_use]
    pub fn internal_behind(&self, number: StreamIndex, stream: &Stream, hop: &Hop) -> Internal {
        let found = self.filter_behind(number, stream, hop);
        found.map_or(Internal::Own, |(filters, filter)| filters.filters[filter].internal.clone())
    }
}
