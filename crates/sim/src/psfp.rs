//! Per-stream filtering and policing in a run (IEEE Std 802.1Q-2022, 8.6.5): the filter that each frame matches, and the counters.
//!
//! The machine of a bridge is `core`'s ([`NodeFilters`]); it is called when the last bit of a frame is in (`reception.rs`), by the clock
//! of the bridge, or, for its stream gates, by the time that gPTP or network time gives. Nodes in real time have the same.

use tautwire_core::Priority;
use tautwire_core::gates::GateTime;
use tautwire_core::psfp::{Discard, FilterCounters, Frame, GateFlag, Passed, StreamFilters};
use tautwire_model::Network;
use tautwire_model::network::{Hop, Layer, NodeIndex, StreamIndex, TimelineAction, Traffic};
use tautwire_model::psfp::{BridgeFilters, FilterChange, Internal, beside_client_data};
use tautwire_observe::{Cell, Column, Shown, Table};
use tautwire_units::Instant;

use crate::identification;
use crate::plan::{NONE, index};
use crate::reception::{Arrived, AtReception};
use crate::result::{DropReason, Observation};

/// Observations of the stream filters of all bridges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamFiltersObservation {
    /// In the order of the network.
    pub bridges: Vec<BridgeFiltersObservation>,
}

/// Observations of those of a bridge, each list in the order of its table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BridgeFiltersObservation {
    /// The bridge.
    pub node: NodeIndex,
    name: String,
    /// Number and counters of each filter, and whether it is blocked for an oversize frame at the end.
    pub filters: Vec<(u32, FilterCounters, bool)>,
    /// Each gate.
    pub gates: Vec<StreamGateObservation>,
    /// Number of each meter, octets in its two buckets at the end, and whether all frames are red then.
    pub meters: Vec<(u32, (u32, u32), bool)>,
}

/// Observations of a stream gate, at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamGateObservation {
    /// Its number.
    pub id: u32,
    /// Whether its list has it open (OperGateStates).
    pub open: bool,
    /// The internal priority that it gives (OperIPV).
    pub internal_priority: Option<u8>,
    /// GateClosedDueToInvalidRx, GateClosedDueToOctetsExceeded.
    pub closed_for: [bool; 2],
    /// ConfigChangeTime: when the list that runs began, on the clock that the gate follows.
    pub config_change_time: Option<Instant>,
    /// ConfigPending.
    pub config_pending: bool,
    /// ConfigChangeError.
    pub config_change_error: u64,
}

/// The filters, gates and meters of a bridge, driven by the readings of its clock.
#[derive(Clone, Debug)]
pub struct NodeFilters {
    filters: BridgeFilters,
    name: String,
    machine: StreamFilters,
}

impl NodeFilters {
    /// Those of a node that starts when its clock reads zero; none if it has none.
    #[must_use]
    pub fn new(network: &Network, node: NodeIndex) -> Option<Self> {
        let filters = network.filters_of(node)?;
        let name = network.nodes[node.index()].name.clone();
        Some(Self { filters: filters.clone(), name, machine: filters.machine() })
    }

    /// The filter that frames with this stream handle and priority find.
    #[must_use]
    pub fn filter_of(&self, handle: Option<StreamIndex>, priority: Priority) -> Option<usize> {
        self.filters.filter_of(handle, priority)
    }

    /// A frame that finds a filter is in when the clock reads `now`.
    ///
    /// # Errors
    /// Why it is discarded.
    pub fn judge(&mut self, now: Instant, filter: usize, frame: Frame) -> Result<Passed, DropReason> {
        self.machine.judge(now, filter, frame).map_err(|discard| match discard {
            Discard::MaxSdu => DropReason::FilterMaxSdu,
            Discard::GateClosed => DropReason::StreamGateClosed,
            Discard::IntervalOctets => DropReason::IntervalOctets,
            Discard::Red => DropReason::Red,
        })
    }

    /// What is observed of them when the clock reads `now`.
    #[must_use]
    pub fn observed(&self, now: Instant) -> BridgeFiltersObservation {
        let mut machine = self.machine.clone();
        machine.settle(now);
        observed(&self.filters, &self.name, &machine, now)
    }
}

/// The filter that frames of a stream find behind a hop, and octets of their MSDU besides MAC client data; none: no filter.
#[must_use]
pub fn filter_behind(network: &Network, number: StreamIndex, hop: &Hop) -> Option<(usize, u32)> {
    let stream = &network.streams[number.index()];
    let filters =
        network.filters_of(network.far_end(hop).0).filter(|_| stream.traffic != Traffic::Protocol)?;
    let handle = identification::handle(network, number, hop, Layer::Relay);
    let filter = filters.filter_of(handle, network.received_priority(stream, hop))?;
    Some((filter, u32::try_from(beside_client_data(hop)).expect("few octets")))
}

/// The filters of all bridges in a run.
struct Filtering {
    bridges: Vec<NodeFilters>,
    /// Per node, its place among the bridges, or [`NONE`].
    of_node: Vec<u32>,
    /// Per hop of the plan, the filter that frames match after it, or [`NONE`]; and octets of their MSDU besides MAC client data.
    behind: Vec<(u32, u32)>,
}

/// The filters of a network at its receptions, if bridges have any.
pub(crate) fn at_reception(network: &Network) -> Option<Box<dyn AtReception>> {
    if network.stream_filters.is_empty() {
        return None;
    }
    let mut of_node = vec![NONE; network.nodes.len()];
    for (place, filters) in network.stream_filters.iter().enumerate() {
        of_node[filters.node.index()] = index(place);
    }
    let mut behind = Vec::new();
    for (number, stream) in network.streams.iter().enumerate() {
        for hop in &stream.hops {
            let found = filter_behind(network, StreamIndex::at(number), hop);
            behind.push(found.map_or((NONE, 0), |(filter, beside)| (index(filter), beside)));
        }
    }
    let bridges = network.stream_filters.iter().filter_map(|filters| NodeFilters::new(network, filters.node));
    Some(Box::new(Filtering { bridges: bridges.collect(), of_node, behind }))
}

impl Filtering {
    fn machine(&mut self, node: NodeIndex) -> Option<&mut StreamFilters> {
        let place = self.of_node[node.index()];
        self.bridges.get_mut(place as usize).map(|own| &mut own.machine)
    }
}

impl AtReception for Filtering {
    fn is_at(&self, node: NodeIndex) -> bool {
        self.of_node[node.index()] != NONE
    }

    fn marks(&self, network: &Network, stream: StreamIndex, hop: &Hop) -> bool {
        let described = &network.streams[stream.index()];
        let before = hop.previous.map(|before| &described.hops[before as usize]);
        let is_internal =
            before.is_some_and(|before| network.internal_behind(stream, described, before) != Internal::Own);
        // Only a tag carries the mark of a meter.
        is_internal || !hop.tagged.vlan && self.bridges.iter().any(|own| !own.filters.meters.is_empty())
    }

    fn judge(&mut self, frame: &mut Arrived<'_>) -> Result<(), DropReason> {
        let (filter, beside) = self.behind[frame.slot.hop as usize];
        if filter == NONE {
            return Ok(());
        }
        let seen = Frame {
            msdu: frame.client_data + beside,
            octets: frame.octets,
            drop_eligible: frame.slot.marks.is_drop_eligible(),
        };
        let (node, now) = (frame.node, frame.now);
        let place = self.of_node[node.index()];
        let own = self.bridges.get_mut(place as usize).expect("a bridge whose filter a frame finds");
        let passed = own.judge(now, filter as usize, seen)?;
        frame.slot.marks.set_internal_priority(passed.internal_priority);
        frame.slot.marks.set_drop_eligible(passed.drop_eligible);
        Ok(())
    }

    fn start(&mut self, node: NodeIndex, now: Instant) {
        if let Some(machine) = self.machine(node) {
            machine.start(now);
        }
    }

    fn follow(&mut self, node: NodeIndex, now: Instant, time: GateTime) {
        if let Some(machine) = self.machine(node) {
            machine.follow(now, time);
        }
    }

    fn act(&mut self, action: &TimelineAction, clocks: &dyn Fn(NodeIndex) -> Instant) {
        let TimelineAction::ChangeFilters(node, change) = action else { return };
        let now = clocks(*node);
        let Some(machine) = self.machine(*node) else { return };
        match &**change {
            FilterChange::Blocked(filter, so) => machine.set_blocked(*filter, *so),
            FilterChange::List(gate, list) => machine.gate_mut(*gate).change(now, list),
            FilterChange::Closed(gate, invalid_rx, octets) => {
                let gate = machine.gate_mut(*gate);
                for (flag, so) in [(GateFlag::InvalidRx, invalid_rx), (GateFlag::OctetsExceeded, octets)] {
                    if let Some(so) = so {
                        gate.set_closed_for(flag, *so);
                    }
                }
            }
            FilterChange::Meter(meter, config) => machine.meter_mut(*meter).change(now, *config),
            FilterChange::AllRed(meter, so) => machine.meter_mut(*meter).set_all_red(*so),
        }
    }

    fn finish(self: Box<Self>, clocks: &dyn Fn(NodeIndex) -> Instant, observation: &mut Observation) {
        let bridges = self.bridges.iter().map(|own| own.observed(clocks(own.filters.node)));
        observation.mechanisms.add(StreamFiltersObservation { bridges: bridges.collect() });
    }
}

/// The observed state of a bridge's machine.
fn observed(
    filters: &BridgeFilters,
    name: &str,
    machine: &StreamFilters,
    now: Instant,
) -> BridgeFiltersObservation {
    let filter = |(place, row): (usize, &tautwire_model::psfp::StreamFilter)| {
        (row.id, machine.counters(place), machine.is_blocked(place))
    };
    let gate = |(row, gate): (&tautwire_model::psfp::StreamGate, &tautwire_core::psfp::StreamGate)| {
        let (state, gates) = (gate.state(), gate.gates());
        StreamGateObservation {
            id: row.id,
            open: state.open,
            internal_priority: state.internal_priority.map(Priority::number),
            closed_for: [GateFlag::InvalidRx, GateFlag::OctetsExceeded].map(|flag| gate.is_closed_for(flag)),
            config_change_time: gates.and_then(|gates| gates.change_time()),
            config_pending: gates.is_some_and(|gates| gates.is_pending()),
            config_change_error: gates.map_or(0, |gates| gates.change_errors()),
        }
    };
    let meters = filters.meters.iter().zip(machine.meters());
    BridgeFiltersObservation {
        node: filters.node,
        name: name.to_owned(),
        filters: filters.filters.iter().enumerate().map(filter).collect(),
        gates: filters.gates.iter().zip(machine.gates()).map(gate).collect(),
        meters: meters.map(|(row, meter)| (row.id, meter.octets_left(now), meter.is_all_red())).collect(),
    }
}

const fn column(name: &'static str, title: &'static str) -> Column {
    Column { name, title }
}

fn yes(so: bool) -> Cell {
    Cell::Text(if so { "yes" } else { "no" }.to_owned())
}

impl StreamFiltersObservation {
    /// Rows of a table, each with its bridge.
    fn rows<'a, T: 'a>(
        &'a self,
        of: impl Fn(&'a BridgeFiltersObservation) -> &'a [T],
        cells: impl Fn(&'a T) -> Vec<Cell>,
    ) -> Vec<Vec<Cell>> {
        let each = |bridge: &'a BridgeFiltersObservation| {
            let row =
                |part: &'a T| [Cell::Text(bridge.name.clone())].into_iter().chain(cells(part)).collect();
            of(bridge).iter().map(row).collect::<Vec<_>>()
        };
        self.bridges.iter().flat_map(each).collect()
    }

    fn filters(&self) -> Table {
        Table {
            name: "stream_filters",
            title: "Stream filters",
            about: "What each stream filter of a bridge has counted: frames that found it, those within its maximum SDU size, those that passed its stream gate, and those that its flow meter discarded.",
            columns: vec![
                column("node", "node"),
                column("stream_filter", "filter"),
                column("matching_frames_count", "matching"),
                column("passing_sdu_count", "passing SDU"),
                column("not_passing_sdu_count", "not passing SDU"),
                column("passing_frames_count", "passing gate"),
                column("not_passing_frames_count", "not passing gate"),
                column("red_frames_count", "red"),
                column("stream_blocked_due_to_oversize_frame", "blocked"),
            ],
            rows: self.rows(
                |bridge| &bridge.filters,
                |(id, counters, is_blocked)| {
                    let counts = [
                        u64::from(*id),
                        counters.matching,
                        counters.passing_sdu,
                        counters.not_passing_sdu,
                        counters.passing,
                        counters.not_passing,
                        counters.red,
                    ];
                    counts.map(Cell::Number).into_iter().chain([yes(*is_blocked)]).collect()
                },
            ),
        }
    }

    fn gates(&self) -> Table {
        Table {
            name: "stream_gates",
            title: "Stream gates",
            about: "The stream gates of each bridge at the end of the run; a list began at a time of the clock that they follow.",
            columns: vec![
                column("node", "node"),
                column("stream_gate", "gate"),
                column("oper_gate_state", "state"),
                column("oper_ipv", "IPV"),
                column("gate_closed_due_to_invalid_rx", "closed: invalid reception"),
                column("gate_closed_due_octets_exceeded", "closed: octets exceeded"),
                column("config_change_time_ps", "list since"),
                column("config_pending", "change pending"),
                column("config_change_error", "change errors"),
            ],
            rows: self.rows(
                |bridge| &bridge.gates,
                |gate| {
                    let time = gate.config_change_time.map(|time| time.since(Instant::ZERO).as_ps());
                    vec![
                        Cell::Number(u64::from(gate.id)),
                        Cell::Text(if gate.open { "open" } else { "closed" }.to_owned()),
                        gate.internal_priority.map_or(Cell::None, |ipv| Cell::Number(u64::from(ipv))),
                        yes(gate.closed_for[0]),
                        yes(gate.closed_for[1]),
                        time.map_or(Cell::None, Cell::Number),
                        yes(gate.config_pending),
                        Cell::Number(gate.config_change_error),
                    ]
                },
            ),
        }
    }

    fn meters(&self) -> Table {
        Table {
            name: "flow_meters",
            title: "Flow meters",
            about: "The flow meters of each bridge at the end of the run, with the octets in their two buckets.",
            columns: vec![
                column("node", "node"),
                column("flow_meter", "meter"),
                column("committed_octets", "committed octets"),
                column("excess_octets", "excess octets"),
                column("mark_all_frames_red", "all red"),
            ],
            rows: self.rows(
                |bridge| &bridge.meters,
                |(id, (committed, excess), all_red)| {
                    let counts = [*id, *committed, *excess];
                    counts
                        .map(|count| Cell::Number(u64::from(count)))
                        .into_iter()
                        .chain([yes(*all_red)])
                        .collect()
                },
            ),
        }
    }
}

impl Shown for StreamFiltersObservation {
    fn join(&self, other: &Self) -> Self {
        let mut bridges: Vec<_> = self.bridges.iter().chain(&other.bridges).cloned().collect();
        bridges.sort_by_key(|bridge| bridge.node);
        Self { bridges }
    }

    fn tables(&self) -> Vec<Table> {
        let tables = [self.filters(), self.gates(), self.meters()];
        tables.into_iter().filter(|table| !table.rows.is_empty()).collect()
    }
}
