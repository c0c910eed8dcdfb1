//! What is wrong with the stream filters of a run, by a reckoning of every frame that shares no code with the machine: tokens as fractions, lists
//! edge by edge.
//!
//! Of bridges whose clock is true and whose lists do not change, where no node stops and no cable is cut.

use std::collections::BTreeMap;

use tautwire_core::identification::{StreamIdentification, Tagged};
use tautwire_model::frer::Encapsulation;
use tautwire_model::psfp::{BridgeFilters, ColourMode, FilterChange, MeterConfig, StreamGateConfig};
use tautwire_sim::{DropReason, Recorder, SimTime, Transmission};
use tautwire_workbench::network::{Hop, Identity, Layer, NodeIndex, StreamIndex, TimelineAction, Traffic};
use tautwire_workbench::{Network, Options, simulate_with};

/// A frame of a stream.
type Frame = (u32, u32);

/// What filters did in a run.
#[derive(Default)]
struct Seen {
    sent: Vec<Transmission>,
    dropped: BTreeMap<(Frame, u32), DropReason>,
}

impl Recorder for Seen {
    fn transmitted(&mut self, transmission: &Transmission) {
        self.sent.push(*transmission);
    }

    fn dropped(&mut self, _: SimTime, stream: u32, number: u32, hop: u32, reason: DropReason) {
        self.dropped.insert(((stream, number), hop), reason);
    }
}

const BY_FILTERS: [DropReason; 4] =
    [DropReason::FilterMaxSdu, DropReason::StreamGateClosed, DropReason::IntervalOctets, DropReason::Red];

const BEFORE_FILTERS: [DropReason; 3] =
    [DropReason::BitError, DropReason::Eliminated, DropReason::IntegrityCheck];

/// A gate, edge by edge.
struct Gate {
    config: StreamGateConfig,
    /// When an entry begins, on the clock, and which; none before the first cycle.
    edges: Vec<(u64, Option<usize>)>,
    at: usize,
    used: u64,
    invalid_rx: bool,
    exceeded: bool,
}

/// A meter with two buckets, in 8 * 10^12ths of an octet.
struct Meter {
    config: MeterConfig,
    committed: i128,
    excess: i128,
    last: i128,
    all_red: bool,
}

const OCTET: i128 = 8_000_000_000_000;

impl Gate {
    fn new(config: &StreamGateConfig, ahead: u64, end: u64) -> Self {
        let mut edges = vec![(0, None)];
        if let Some(list) = &config.parameters {
            let tick = config.tick.as_ps().max(1);
            let start = |cycle: u64| {
                let (top, bottom) = (list.cycle_time.numerator(), list.cycle_time.denominator());
                let ps = u128::from(cycle) * u128::from(top) / u128::from(bottom);
                list.base_time.as_ps() + u64::try_from(ps).expect("a short run")
            };
            let first = (0..).find(|cycle| start(*cycle) >= ahead).expect("cycles go on");
            for cycle in (first..).take_while(|cycle| start(*cycle) <= ahead + end) {
                let mut at = start(cycle);
                for (entry, described) in list.control_list.iter().enumerate() {
                    if at >= start(cycle + 1) {
                        break;
                    }
                    edges.push((at.div_ceil(tick) * tick, Some(entry)));
                    at += described.time_interval.as_ps();
                }
            }
        }
        Self { config: config.clone(), edges, at: 0, used: 0, invalid_rx: false, exceeded: false }
    }

    /// The internal priority of a frame that passes.
    fn judge(&mut self, now: u64, msdu: u64) -> Result<Option<u8>, DropReason> {
        let at = self.edges.partition_point(|edge| edge.0 <= now) - 1;
        if at != self.at {
            (self.at, self.used) = (at, 0);
        }
        let entry = self.edges[at]
            .1
            .map(|entry| self.config.parameters.as_ref().expect("it has entries").control_list[entry]);
        let (state, most) = entry.map_or((self.config.admin, None), |entry| (entry.state, entry.octets_max));
        if self.invalid_rx || self.exceeded {
            return Err(DropReason::StreamGateClosed);
        }
        if !state.open {
            self.invalid_rx = self.config.closes_on_invalid_rx;
            return Err(DropReason::StreamGateClosed);
        }
        let counted = if self.config.counts_ether_type { msdu } else { msdu - 2 };
        if most.is_some_and(|most| self.used + counted > u64::from(most)) {
            self.exceeded = self.config.closes_on_octets_exceeded;
            return Err(DropReason::IntervalOctets);
        }
        self.used += counted;
        Ok(state.internal_priority.map(|priority| priority.number()))
    }
}

impl Meter {
    fn new(config: MeterConfig) -> Self {
        let full = |octets: u32| i128::from(octets) * OCTET;
        let (committed, excess) = (full(config.committed_burst_size), full(config.excess_burst_size));
        Self { config, committed, excess, last: 0, all_red: false }
    }

    fn earn(&mut self, now: u64) {
        let span = i128::from(now) - self.last;
        self.last = i128::from(now);
        let committed = self.committed + i128::from(self.config.committed_information_rate.as_bps()) * span;
        let over = (committed - i128::from(self.config.committed_burst_size) * OCTET).max(0);
        self.committed = committed - over;
        let more = if self.config.coupling_flag { over } else { 0 };
        let excess = self.excess + i128::from(self.config.excess_information_rate.as_bps()) * span + more;
        self.excess = excess.min(i128::from(self.config.excess_burst_size) * OCTET);
    }

    /// Whether a frame passes, and whether it is yellow then.
    fn judge(&mut self, now: u64, octets: u32, yellow: bool) -> Option<bool> {
        self.earn(now);
        let needed = i128::from(octets) * OCTET;
        let enabled = self.config.mark_all_frames_red_enable;
        if enabled && self.all_red {
            return None;
        }
        let passed = if needed <= self.committed && !(yellow && self.config.color_mode == ColourMode::Aware) {
            self.committed -= needed;
            Some(false)
        } else if needed <= self.excess {
            self.excess -= needed;
            (!self.config.drop_on_yellow).then_some(true)
        } else {
            None
        };
        self.all_red |= enabled && passed.is_none();
        passed
    }
}

/// A bridge, as it is reckoned.
struct Bridge<'n> {
    filters: &'n BridgeFilters,
    ahead: u64,
    blocked: Vec<bool>,
    gates: Vec<Gate>,
    meters: Vec<Meter>,
}

impl<'n> Bridge<'n> {
    fn new(network: &Network, filters: &'n BridgeFilters, end: u64) -> Self {
        let offset = |node: usize| network.nodes[node].clock.offset.as_ps();
        let least = (0..network.nodes.len()).map(offset).min().unwrap_or(0).min(0);
        let ahead = u64::try_from(offset(filters.node.index()) - least).expect("the least is taken off");
        Self {
            filters,
            ahead,
            blocked: vec![false; filters.filters.len()],
            gates: filters.gates.iter().map(|gate| Gate::new(&gate.config, ahead, end)).collect(),
            meters: filters.meters.iter().map(|meter| Meter::new(meter.config)).collect(),
        }
    }

    fn change(&mut self, at: u64, change: &FilterChange) {
        match change {
            FilterChange::Blocked(filter, so) => {
                self.blocked[*filter] = *so && self.filters.filters[*filter].config.blocks_on_oversize;
            }
            FilterChange::Closed(gate, invalid, octets) => {
                let gate = &mut self.gates[*gate];
                gate.invalid_rx =
                    invalid.map_or(gate.invalid_rx, |so| so && gate.config.closes_on_invalid_rx);
                gate.exceeded =
                    octets.map_or(gate.exceeded, |so| so && gate.config.closes_on_octets_exceeded);
            }
            FilterChange::Meter(meter, config) => {
                let meter = &mut self.meters[*meter];
                meter.earn(at + self.ahead);
                meter.config = *config;
                meter.committed = meter.committed.min(i128::from(config.committed_burst_size) * OCTET);
                meter.excess = meter.excess.min(i128::from(config.excess_burst_size) * OCTET);
            }
            FilterChange::AllRed(meter, so) => self.meters[*meter].all_red = *so,
            FilterChange::List(..) => unreachable!("lists that change are left out"),
        }
    }

    /// The internal priority of a frame that passes, and whether it is yellow.
    fn judge(
        &mut self,
        filter: usize,
        sent: &Transmission,
        overhead: u32,
        yellow: bool,
    ) -> Result<(Option<u8>, bool), DropReason> {
        let row = &self.filters.filters[filter].config;
        let (now, msdu) = (sent.received.as_ps() + self.ahead, sent.octets - overhead);
        if self.blocked[filter] || row.max_sdu.is_some_and(|most| msdu > most) {
            self.blocked[filter] |= row.blocks_on_oversize;
            return Err(DropReason::FilterMaxSdu);
        }
        let internal = row.gate.map_or(Ok(None), |gate| self.gates[gate].judge(now, u64::from(msdu)))?;
        let marked = match row.meter {
            Some(meter) => self.meters[meter].judge(now, sent.octets, yellow).ok_or(DropReason::Red)?,
            None => false,
        };
        Ok((internal, yellow || marked))
    }
}

/// Bridges that are reckoned.
fn is_plain(network: &Network, filters: &BridgeFilters) -> bool {
    let changes = network.events.iter().any(|event| match &event.action {
        // Frames under way are lost.
        TimelineAction::StopNode(_) | TimelineAction::CutCable(_) => true,
        TimelineAction::ChangeFilters(node, change) => {
            *node == filters.node && matches!(**change, FilterChange::List(..))
        }
        _ => false,
    });
    !changes && network.gptp.is_none()
}

fn recovers_there(network: &Network, stream: u32, node: NodeIndex) -> bool {
    let replication = network.streams[stream as usize].replication.as_deref();
    replication.is_some_and(|of| of.recoveries.iter().any(|recovery| recovery.node == node))
}

/// The stream of which the bridge behind a hop takes frames of a stream, by fields and not by octets; `recovers`: it has a recovery function.
fn handle(network: &Network, number: StreamIndex, hop: &Hop, recovers: bool) -> Option<StreamIndex> {
    let Some(list) = network.identities(network.far_end(hop).1, Layer::Relay) else { return Some(number) };
    let stream = &network.streams[number.index()];
    let written = hop.written.filter(|_| !recovers);
    let destination = written.and_then(|written| written.destination).unwrap_or(stream.destination);
    let vlan = hop.tagged.vlan.then(|| written.map_or(stream.vlan, |written| written.vlan));
    let is_hidden = hop.tagged.sequence && !recovers;
    let tag = stream.replication.as_deref().map(|of| of.encapsulation).filter(|_| is_hidden);
    let tag = match tag {
        Some(Encapsulation::RTag) => Some([0xf1, 0xc1]),
        Some(Encapsulation::Hsr) => Some([0x89, 0x2f]),
        Some(Encapsulation::Prp) | None => None,
    };
    let udp = stream.udp.filter(|_| tag.is_none());
    let ether_type = tag.unwrap_or(if udp.is_some() { [8, 0] } else { [0x88, 0xb5] });
    // Those octets from the EtherType on at which drawn masks look.
    let octet = |place: usize| match (place, udp) {
        (0 | 1, _) => ether_type[place],
        (3, Some(udp)) => udp.dscp * 4,
        (24 | 25, Some(udp)) => udp.destination_port.to_be_bytes()[place - 24],
        _ => 0,
    };
    let of_tag = |tagged: Tagged, wanted: Option<_>| {
        let is_kind = match tagged {
            Tagged::All => true,
            Tagged::Tagged => vlan.is_some(),
            Tagged::Priority => vlan.is_none(),
        };
        is_kind && wanted.is_none_or(|wanted| vlan == Some(wanted))
    };
    let is_left = |address: [u8; 6], (mask, left): ([u8; 6], [u8; 6])| {
        (0..6).all(|place| address[place] & mask[place] == left[place])
    };
    let matches = |function: &StreamIdentification| match function {
        StreamIdentification::Null { destination: own, tagged, vlan } => {
            destination == *own && of_tag(*tagged, *vlan)
        }
        StreamIdentification::Source { source, tagged, vlan } => {
            stream.source == *source && of_tag(*tagged, *vlan)
        }
        StreamIdentification::Ip {
            destination: own,
            vlan,
            ip_source,
            ip_destination,
            dscp,
            protocol,
            source_port,
            destination_port,
        } => udp.is_some_and(|udp| {
            own.is_none_or(|own| own == destination)
                && of_tag(Tagged::All, *vlan)
                && ip_source.is_none_or(|(own, _)| own == udp.source)
                && ip_destination.is_none_or(|(own, _)| own == udp.destination)
                && dscp.is_none_or(|own| own == udp.dscp)
                && protocol.is_none_or(|own| own == 17)
                && source_port.is_none_or(|own| own == udp.source_port)
                && destination_port.is_none_or(|own| own == udp.destination_port)
        }),
        StreamIdentification::MaskAndMatch { destination: own, source, data } => {
            is_left(destination.0, *own)
                && is_left(stream.source.0, *source)
                && data.iter().enumerate().all(|(place, (mask, left))| octet(place) & mask == *left)
        }
    };
    let is_of = |row: &&Identity| row.function.as_ref().map_or(row.stream == number, matches);
    list.iter().find(is_of).map(|row| row.stream)
}

/// What filters did otherwise than they should, each a sentence; how many frames were judged.
pub(crate) fn misjudged(network: &Network) -> (Vec<String>, usize) {
    let mut seen = Seen::default();
    let _ = simulate_with(network, &mut Options::default(), &mut seen);
    let (mut found, mut looked) = (Vec::new(), 0);
    let is_true = network.nodes.iter().all(|node| node.clock.tolerance_ppb == 0);
    if !is_true || !network.stream_filters.iter().all(|filters| is_plain(network, filters)) {
        return (found, looked);
    }
    let end = network.run.duration.as_ps();
    let mut bridges: BTreeMap<NodeIndex, Bridge<'_>> =
        network.stream_filters.iter().map(|one| (one.node, Bridge::new(network, one, end))).collect();
    let link = |one: &Transmission| network.ports[one.port as usize].links.expect("a cable").egress.index();
    seen.sent.sort_by_key(|one| (one.received, link(one)));
    let sent: BTreeMap<(Frame, u32), &Transmission> =
        seen.sent.iter().map(|one| (((one.stream, one.number), one.hop), one)).collect();
    let mut yellow: BTreeMap<(Frame, u32), bool> = BTreeMap::new();
    let mut events = network.events.iter().peekable();
    for one in seen.sent.iter().filter(|one| one.received.as_ps() <= end) {
        while let Some(event) = events.next_if(|event| event.at.as_ps() <= one.received.as_ps()) {
            if let TimelineAction::ChangeFilters(node, change) = &event.action {
                bridges.get_mut(node).expect("it has filters").change(event.at.as_ps(), change);
            }
        }
        let stream = &network.streams[one.stream as usize];
        let hop = &stream.hops[one.hop as usize];
        let to = &network.ports[network.links[link(one)].to.index()];
        let frame = (one.stream, one.number);
        let before = hop.previous.and_then(|before| yellow.get(&(frame, before)).copied());
        let came_yellow = hop.tagged.vlan && before.unwrap_or(false);
        yellow.insert((frame, one.hop), came_yellow);
        let dropped = seen.dropped.get(&(frame, one.hop));
        // Damaged frames and eliminated copies find no filter.
        if dropped.is_some_and(|reason| BEFORE_FILTERS.contains(reason)) {
            continue;
        }
        let Some(bridge) = bridges.get_mut(&to.node).filter(|_| stream.traffic != Traffic::Protocol) else {
            continue;
        };
        // A node with a recovery function puts the priority of the stream back, before anything else.
        let recovers = hop.written.is_some() && recovers_there(network, one.stream, to.node);
        let priority = match (recovers, hop.tagged.vlan) {
            (true, _) => stream.priority,
            (false, true) => hop.priority,
            (false, false) => to.default_priority,
        };
        let handle =
            handle(network, StreamIndex(one.stream), hop, recovers_there(network, one.stream, to.node));
        let is_of = |filter: &tautwire_model::psfp::StreamFilter| {
            let takes = filter
                .streams
                .as_ref()
                .is_none_or(|streams| handle.is_some_and(|handle| streams.contains(&handle)));
            takes && filter.priority.is_none_or(|own| own == priority)
        };
        let Some(filter) = bridge.filters.filters.iter().position(is_of) else { continue };
        looked += 1;
        let expected = bridge.judge(filter, one, if hop.tagged.vlan { 20 } else { 16 }, came_yellow);
        let dropped = dropped.filter(|reason| BY_FILTERS.contains(reason));
        let name =
            format!("frame {} of {} at {}", one.number, stream.name, network.nodes[to.node.index()].name);
        match (expected, dropped) {
            (Err(expected), Some(dropped)) if expected == *dropped => {}
            (Ok((internal, marked)), None) => {
                yellow.insert((frame, one.hop), marked);
                let behind =
                    stream.hops.iter().enumerate().filter(|(_, next)| next.previous == Some(one.hop));
                for (place, next) in behind {
                    let table = &network.ports[next.port.index()].class_table;
                    let class = internal.map_or(table.of_priority[priority.index()], |own| {
                        table.of_priority[usize::from(own)]
                    });
                    let place = u32::try_from(place).expect("few hops");
                    if let Some(sent) = sent.get(&(frame, place)).filter(|sent| sent.class != class.number())
                    {
                        found.push(format!("{name} leaves by class {} and not by {class}", sent.class));
                    }
                }
            }
            (expected, dropped) => {
                found.push(format!("{name}: {expected:?} was expected, and it was {dropped:?}"))
            }
        }
    }
    (found, looked)
}
