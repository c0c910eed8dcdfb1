//! From the keys of bridges to their stream filters, stream gates and flow meters; and management's changes of them.
//!
//! Not here: faults that only the resolved network shows (`check.rs`).

use tautwire_core::Priority;
use tautwire_core::psfp::GateState;
use tautwire_units::{BitRate, Bytes, Duration, Instant};

use super::{
    BridgeFilters, ColourMode, ETHER_TYPE, FilterChange, FilterConfig, FlowMeter, Internal, MeterConfig,
    StreamFilter, StreamGate, StreamGateConfig, StreamGateEntry, StreamGateParameters, received_priority,
};
use crate::check::without_effect::key_place;
use crate::gates::{CycleTime, GateLimits};
use crate::network::{Hop, NodeIndex, Stream, StreamIndex, TimelineAction, TimelineEvent, Traffic};
use crate::psfp::codes;
use crate::resolve::streams::Streams;
use crate::resolve::topology::Topology;
use crate::text::faults::Faults;
use crate::text::scalar;
use crate::text::tree::{Node, Place, Value};

/// The filters, gates and meters of bridges, and their places in the text.
#[derive(Default)]
pub(crate) struct Drafts {
    pub(crate) bridges: Vec<BridgeFilters>,
    pub(crate) places: Vec<Places>,
}

/// The places of the parts of a bridge's filters, each in the order of its table.
pub(crate) struct Places {
    pub(crate) node: Place,
    pub(crate) filters: Vec<Place>,
    pub(crate) gates: Vec<Place>,
    pub(crate) meters: Vec<Place>,
    limits: GateLimits,
    tick: Duration,
}

impl Drafts {
    /// Adds what a bridge filters, all at one place.
    pub(crate) fn add(&mut self, bridge: BridgeFilters, place: Place) {
        let mut places = Places::of(place);
        places.filters = vec![place; bridge.filters.len()];
        places.gates = vec![place; bridge.gates.len()];
        self.bridges.push(bridge);
        self.places.push(places);
    }

    /// The index of a bridge in the list.
    fn find(&self, node: NodeIndex) -> Option<usize> {
        self.bridges.iter().position(|filters| filters.node == node)
    }

    /// The priority that always selects the class of frames with this handle at a bridge, if it is not their own.
    pub(crate) fn fixed(
        &self,
        node: NodeIndex,
        handle: Option<StreamIndex>,
        priority: Priority,
    ) -> Option<Priority> {
        let bridge = &self.bridges[self.find(node)?];
        match bridge.filters[bridge.filter_of(handle, priority)?].internal {
            Internal::Fixed(priority) => Some(priority),
            Internal::Own | Internal::Varies(_) => None,
        }
    }

    /// The filter that frames of a stream match after a hop: the indices of its bridge and of the filter. Frames of
    /// protocols match none.
    pub(crate) fn behind(
        &self,
        topology: &Topology<'_>,
        (number, stream): (StreamIndex, &Stream),
        hop: &Hop,
    ) -> Option<(usize, usize)> {
        if self.bridges.is_empty() || stream.traffic == Traffic::Protocol {
            return None;
        }
        let links = topology.ports[hop.port.index()].links?;
        let port = &topology.ports[topology.links[links.egress.index()].to.index()];
        let bridge = self.find(port.node)?;
        let handle = hop.identified.handle(number);
        let filter = self.bridges[bridge].filter_of(handle, received_priority(stream, hop, port))?;
        Some((bridge, filter))
    }

    /// Finds the internal priorities of all filters, with the lists that their gates get.
    pub(crate) fn settle<'e>(&mut self, events: impl Iterator<Item = &'e TimelineEvent> + Clone) {
        for bridge in &mut self.bridges {
            let node = bridge.node;
            let internal = |filter: &StreamFilter| {
                let Some(gate) = filter.config.gate else { return Internal::Own };
                let list = |event: &'e TimelineEvent| match &event.action {
                    TimelineAction::ChangeFilters(at, change) if *at == node => match &**change {
                        FilterChange::List(own, list) if *own == gate => Some(list),
                        _ => None,
                    },
                    _ => None,
                };
                bridge.internal(gate, events.clone().filter_map(list))
            };
            let all: Vec<Internal> = bridge.filters.iter().map(internal).collect();
            for (filter, internal) in bridge.filters.iter_mut().zip(all) {
                filter.internal = internal;
            }
        }
    }
}

/// The filters, gates and meters of the bridges of a network.
pub(crate) fn drafts(
    root: &Node<'_>,
    topology: &Topology<'_>,
    streams: &Streams<'_, '_>,
    faults: &mut Faults,
) -> Drafts {
    let mut drafts = Drafts::default();
    for (key, node) in root.get("nodes").map_or(&[][..], Node::entries) {
        let parts = ["stream-filters", "stream-gates", "flow-meters"].map(|part| node.get(part));
        let [filters, gates, meters] = parts;
        let (Some(any), Some(at)) = (parts.into_iter().flatten().next(), topology.node_named(&key.text))
        else {
            continue;
        };
        if !topology.is_bridge(at) {
            let message = "an end station has no stream filters".to_owned();
            faults.error(codes::NODE_TYPE, any.anchor(), message, "remove the key, or correct `type`");
            continue;
        }
        let mut places = Places::of(any.anchor());
        let gates = gates.map_or(Vec::new(), |gates| places.gates(gates, faults));
        let meters = meters.map_or(Vec::new(), |meters| places.meters(meters, faults));
        let mut bridge = BridgeFilters { node: at, filters: Vec::new(), gates, meters };
        if let Some(filters) = filters {
            bridge.filters = places.filters(filters, &bridge, streams, faults);
        }
        drafts.bridges.push(bridge);
        drafts.places.push(places);
    }
    drafts
}

/// Octets of an MSDU that `sdu` does not count.
fn beside(of: Option<&Node<'_>>) -> u64 {
    let is_payload = of.and_then(|of| of.get("sdu")).and_then(Node::text) == Some("payload");
    if is_payload { ETHER_TYPE } else { 0 }
}

/// The rows of a table in the order of their numbers, up to the limit of the device.
fn rows<'t, 'a>(
    part: &'a Node<'t>,
    (table, most): (&str, &str),
    faults: &mut Faults,
) -> Vec<(u32, &'a Node<'t>, Place)> {
    let entries = part.get(table).map_or(&[][..], Node::entries);
    let row = |(key, node): &'a (crate::text::tree::Key<'t>, Node<'t>)| {
        Some((key.text.parse().ok()?, node, key.place))
    };
    let mut rows: Vec<(u32, &Node<'_>, Place)> = entries.iter().filter_map(row).collect();
    rows.sort_by_key(|(number, ..)| *number);
    if let Some(limit) = part.get(most)
        && limit.text().and_then(|text| text.parse::<u64>().ok()).is_some_and(|most| rows.len() as u64 > most)
    {
        let message = format!("`{table}` has {} rows, more than `{most}`", rows.len());
        faults.error(codes::STREAM_FILTERS, limit.place, message, "remove rows, or correct the limit");
    }
    rows
}

/// A flag, false if it is not there.
fn flag(node: &Node<'_>, key: &str) -> bool {
    node.get(key).and_then(Node::text).and_then(scalar::flag).unwrap_or(false)
}

/// An internal priority value; none for `none`.
fn ipv(node: &Node<'_>, key: &str) -> Option<Priority> {
    node.parsed::<u8>(key).and_then(Priority::new)
}

fn octets(bytes: Bytes) -> u32 {
    u32::try_from(bytes.get()).unwrap_or(u32::MAX)
}

impl Places {
    const fn of(node: Place) -> Self {
        let limits = GateLimits { list: None, interval: None, cycle: None };
        Self {
            node,
            filters: Vec::new(),
            gates: Vec::new(),
            meters: Vec::new(),
            limits,
            tick: Duration::ZERO,
        }
    }

    fn filters(
        &mut self,
        part: &Node<'_>,
        bridge: &BridgeFilters,
        streams: &Streams<'_, '_>,
        faults: &mut Faults,
    ) -> Vec<StreamFilter> {
        let table = ("stream-filter-instance-table", "max-stream-filter-instances");
        let beside = beside(Some(part));
        let mut filters = Vec::new();
        for (id, node, place) in rows(part, table, faults) {
            let handle = node.get("stream-handle");
            let streams = handle.map(|handle| {
                handle.items_or_self().iter().filter_map(|name| streams.find(name, faults)).collect()
            });
            let mut refers = |key: &str, known: Vec<u32>, table: &str| {
                let named = node.get(key)?;
                let id: u32 = named.text()?.parse().ok()?;
                let found = known.iter().position(|one| *one == id);
                if found.is_none() {
                    let message = format!("there is no row {id} in `{table}` of this bridge");
                    faults.error(codes::STREAM_FILTERS, named.place, message, "name a row that is there");
                }
                found
            };
            let gate = refers(
                "stream-gate-ref",
                bridge.gates.iter().map(|gate| gate.id).collect(),
                "stream-gate-instance-table",
            );
            let meter = refers(
                "flow-meter-ref",
                bridge.meters.iter().map(|meter| meter.id).collect(),
                "flow-meter-instance-table",
            );
            let meters = node.get("flow-meter-enable").and_then(Node::text).and_then(scalar::flag);
            let max_sdu = node.parsed::<Bytes>("max-sdu-size").filter(|most| *most > Bytes::ZERO);
            filters.push(StreamFilter {
                id,
                streams,
                priority: node.parsed::<u8>("priority-spec").and_then(Priority::new),
                config: FilterConfig {
                    max_sdu: max_sdu.map(|most| octets(most + Bytes::new(beside))),
                    blocks_on_oversize: flag(node, "stream-blocked-due-to-oversize-frame-enabled"),
                    gate,
                    meter: meter.filter(|_| meters.unwrap_or(true)),
                },
                internal: Internal::Own,
            });
            self.filters.push(place);
        }
        filters
    }

    fn gates(&mut self, part: &Node<'_>, faults: &mut Faults) -> Vec<StreamGate> {
        self.tick =
            part.parsed("tick-granularity").filter(|tick: &Duration| tick.as_ps() > 1).unwrap_or_default();
        self.limits = GateLimits::of(&[part]);
        let mut gates = Vec::new();
        for (id, node, place) in
            rows(part, ("stream-gate-instance-table", "max-stream-gate-instances"), faults)
        {
            let enabled = flag(node, "gate-enable");
            let list = node.get("admin-control-list");
            if enabled && list.is_none() {
                let message = "a stream gate that is enabled needs a list".to_owned();
                faults.error(codes::STREAM_FILTERS, place, message, "add `admin-control-list`");
            }
            if node.get("gate-enable").is_none()
                && let Some(place) = key_place(node, "admin-control-list")
            {
                let message =
                    "`admin-control-list` has no effect where the stream gate is not enabled".to_owned();
                faults.warning(
                    codes::NO_EFFECT,
                    place,
                    message,
                    "add `gate-enable: true`, or remove the key",
                );
            }
            let parameters = list.filter(|_| enabled).and_then(|_| self.parameters(node, faults));
            gates.push(StreamGate {
                id,
                config: StreamGateConfig {
                    admin: GateState {
                        open: node.get("admin-gate-states").and_then(Node::text) != Some("closed"),
                        internal_priority: ipv(node, "admin-ipv"),
                    },
                    parameters,
                    tick: self.tick,
                    closes_on_invalid_rx: flag(node, "gate-closed-due-to-invalid-rx-enable"),
                    closes_on_octets_exceeded: flag(node, "gate-closed-due-octets-exceeded-enable"),
                    counts_ether_type: beside(Some(part)) == 0,
                },
            });
            self.gates.push(place);
        }
        gates
    }

    fn meters(&mut self, part: &Node<'_>, faults: &mut Faults) -> Vec<FlowMeter> {
        let rows = rows(part, ("flow-meter-instance-table", "max-flow-meter-instances"), faults);
        self.meters = rows.iter().map(|(.., place)| *place).collect();
        let meter = |(id, node, _): (u32, &Node<'_>, Place)| {
            let blind = MeterConfig {
                committed_information_rate: BitRate::ZERO,
                committed_burst_size: 0,
                excess_information_rate: BitRate::ZERO,
                excess_burst_size: 0,
                coupling_flag: node.get("coupling-flag").and_then(Node::text) == Some("one"),
                color_mode: match node.get("color-mode").and_then(Node::text) {
                    Some("color-aware") => ColourMode::Aware,
                    _ => ColourMode::Blind,
                },
                drop_on_yellow: flag(node, "drop-on-yellow"),
                mark_all_frames_red_enable: flag(node, "mark-all-frames-red-enable"),
            };
            FlowMeter { id, config: profile(node, blind) }
        };
        rows.into_iter().map(meter).collect()
    }

    /// A list, and all that is set with it.
    fn parameters(&self, node: &Node<'_>, faults: &mut Faults) -> Option<StreamGateParameters> {
        let list = node.get("admin-control-list")?;
        let least = self.tick.max(Duration::from_ns(1));
        let entry = |item: &Node<'_>| {
            let interval: Duration = item.parsed("time-interval")?;
            let octets_max = item.parsed::<Bytes>("interval-octet-max");
            Some(StreamGateEntry {
                state: GateState {
                    open: item.get("gate-state")?.text() == Some("open"),
                    internal_priority: ipv(item, "ipv-spec"),
                },
                time_interval: if interval.is_zero() { least } else { interval },
                octets_max: octets_max.map(octets),
            })
        };
        let control_list: Vec<StreamGateEntry> = list.items().iter().filter_map(entry).collect();
        let sum = control_list.iter().fold(Duration::ZERO, |sum, one| sum.saturating_add(one.time_interval));
        let cycle_time = match node.get("admin-cycle-time") {
            Some(stated) => scalar::period(stated.text()?).ok()?,
            None => CycleTime::new(sum.as_ps(), 1)?,
        };
        let intervals: Vec<Duration> = control_list.iter().map(|entry| entry.time_interval).collect();
        self.limits.check((&intervals, cycle_time), (codes::STREAM_FILTERS, list.anchor()), faults);
        if cycle_time.floor() < self.tick.max(Duration::from_us(1)) {
            let message = format!("a cycle of {cycle_time} is shorter than a microsecond, or than a tick");
            faults.error(codes::STREAM_FILTERS, list.anchor(), message, "lengthen the intervals of the list");
            return None;
        }
        Some(StreamGateParameters {
            control_list,
            base_time: Instant::ZERO + node.parsed("admin-base-time").unwrap_or_default(),
            cycle_time,
            cycle_time_extension: node.parsed("admin-cycle-time-extension").unwrap_or_default(),
        })
    }
}

/// With the stated rates and bursts.
fn profile(node: &Node<'_>, before: MeterConfig) -> MeterConfig {
    let rate = |key: &str, before| node.parsed::<BitRate>(key).unwrap_or(before);
    let burst = |key: &str, before| node.parsed::<Bytes>(key).map_or(before, octets);
    MeterConfig {
        committed_information_rate: rate("committed-information-rate", before.committed_information_rate),
        committed_burst_size: burst("committed-burst-size", before.committed_burst_size),
        excess_information_rate: rate("excess-information-rate", before.excess_information_rate),
        excess_burst_size: burst("excess-burst-size", before.excess_burst_size),
        ..before
    }
}

/// The changes that an event makes, each one of which is carried out.
pub(crate) fn change(
    key: &str,
    value: &Node<'_>,
    topology: &Topology<'_>,
    faults: &mut Faults,
) -> Option<TimelineAction> {
    let named = value.get("node")?;
    let node = topology.node(named.text()?, named.place, faults)?;
    let found = topology.filters.find(node);
    let Some(place) = found else {
        let message = format!("`{}` has no stream filters", topology.nodes[node.index()].name);
        faults.error(codes::EVENT, named.place, message, "give it `stream-filters`");
        return None;
    };
    let (bridge, places) = (&topology.filters.bridges[place], &topology.filters.places[place]);
    let (id, known): (&str, Vec<u32>) = match key {
        "change-stream-filter" => {
            ("stream-filter-instance-id", bridge.filters.iter().map(|one| one.id).collect())
        }
        "change-stream-gate" => ("stream-gate-instance-id", bridge.gates.iter().map(|one| one.id).collect()),
        _ => ("flow-meter-instance-id", bridge.meters.iter().map(|one| one.id).collect()),
    };
    let stated = value.get(id)?;
    let number: u32 = stated.text()?.parse().ok()?;
    let Some(at) = known.iter().position(|one| *one == number) else {
        let message =
            format!("there is no row {number} in this table of `{}`", topology.nodes[node.index()].name);
        faults.error(codes::EVENT, stated.place, message, "name a row that is there");
        return None;
    };
    let flag = |key: &str| value.get(key).and_then(Node::text).and_then(scalar::flag);
    let has_list = value.get("admin-control-list").is_some();
    let change = match key {
        "change-stream-filter" => FilterChange::Blocked(at, flag("stream-blocked-due-to-oversize-frame")?),
        "change-stream-gate" if has_list => {
            if bridge.gates[at].config.parameters.is_none() {
                let message = "the list of this stream gate does not run".to_owned();
                faults.error(
                    codes::EVENT,
                    stated.place,
                    message,
                    "give the gate `gate-enable: true` and a list",
                );
                return None;
            }
            FilterChange::List(at, places.parameters(value, faults)?)
        }
        "change-stream-gate" => {
            let flags = [flag("gate-closed-due-to-invalid-rx"), flag("gate-closed-due-octets-exceeded")];
            FilterChange::Closed(at, flags[0], flags[1])
        }
        _ => match flag("mark-all-frames-red") {
            Some(so) => FilterChange::AllRed(at, so),
            None => FilterChange::Meter(at, profile(value, bridge.meters[at].config)),
        },
    };
    if let Some(enabling) = bridge.disabled_flag(&change) {
        let message = format!("this flag does nothing without `{enabling}`");
        let help = "enable the function where the table has its row, or remove the event";
        faults.warning(codes::NO_EFFECT, value.anchor(), message, help);
    }
    says_one_thing(key, value, faults).then_some(TimelineAction::ChangeFilters(node, Box::new(change)))
}

/// A flag and a list, or a flag and rates, are two changes; and nothing is none.
fn says_one_thing(key: &str, value: &Node<'_>, faults: &mut Faults) -> bool {
    let Value::Map(entries) = &value.value else { return false };
    let is_flag = |name: &str| name.starts_with("gate-closed") || name == "mark-all-frames-red";
    let said =
        entries.iter().map(|(key, _)| &*key.text).filter(|name| !name.ends_with("-id") && *name != "node");
    let (flags, others): (Vec<&str>, Vec<&str>) = said.partition(|name| is_flag(name));
    let is_one = match key {
        "change-stream-filter" => true,
        "change-stream-gate" => {
            flags.is_empty() == others.contains(&"admin-control-list")
                && flags.is_empty() != others.is_empty()
        }
        _ => flags.is_empty() != others.is_empty(),
    };
    if !is_one {
        let message = "this event changes nothing, or flags and parameters at once".to_owned();
        let help = "state flags, or parameters (of a stream gate: a list); write an event for each";
        faults.error(codes::EVENT, value.anchor(), message, help);
    }
    is_one
}
