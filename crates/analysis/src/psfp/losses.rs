//! Stream filters that may discard frames: those for which the opposite is not proven.
//!
//! A meter discards nothing of streams that together keep to its committed bucket and rate, by its clock, whatever its
//! other parameters: then all frames are green, unless they come drop-eligible to a colour-aware meter; nor of those
//! that keep to the excess bucket and rate, if yellow frames pass. A stream gate discards nothing if it never closes
//! and the octets of every interval are enough for the arrivals within it. Arrivals of the streams are those at the
//! end of their line to the bridge.

use tautwire_model::gates::GateClock;
use tautwire_model::network::{Hop, PortIndex, StreamIndex, TimelineAction};
use tautwire_model::psfp::{BridgeFilters, ColourMode, FilterChange, MeterConfig, StreamGateParameters};
use tautwire_model::{HEADER_AND_FCS, Tags, frame_length};
use tautwire_units::Bytes;

use super::passing::{before, profiles};
use crate::analysis::Analysis;
use crate::clock::{Deviation, slack_ps};
use crate::curve::{Line, MICRO, volume};
use crate::frer;
use crate::loss::{Limit, LimitKind, LimitPlace};
use crate::passage::{Brought, NO_REASON, brought};
use crate::plan::Entry;

/// Octets of the EtherType, which an MSDU begins with.
const ETHER_TYPE: u64 = 2;

/// Octets of the largest MSDU that a stream filter behind a reception port takes.
const MAX_SDU: LimitKind =
    LimitKind::new("filter-max-sdu", "octets", "max-sdu-size of the stream filter behind {place}");

/// A stream filter behind a reception port, or its gate or meter, that an event has discard everything.
const SHUT: LimitKind =
    LimitKind::new("filter-shut", "frames", "stream filter behind {place}, which an event shuts");

/// Picoseconds of each cycle in which the stream gate behind a reception port is open.
const STREAM_GATE: LimitKind =
    LimitKind::new("stream-gate", "ps", "stream gate behind {place}, open time a cycle");

/// Octets of MSDUs that an interval of the stream gate behind a reception port takes.
const INTERVAL_OCTETS: LimitKind =
    LimitKind::new("interval-octets", "octets", "interval-octet-max of the stream gate behind {place}");

/// Octets of the committed bucket of the flow meter of a stream at a bridge, by whichever port its frames come.
pub const METER_BURST: LimitKind =
    LimitKind::new("meter-burst", "octets", "committed-burst-size of the flow meter of {stream} at {place}");

/// Octets of the MSDU of a frame, its padding and the tag with its sequence number among them.
fn msdu(frame: Bytes, tagged: Tags) -> u64 {
    let header = HEADER_AND_FCS + Tags { sequence: false, ..tagged }.octets();
    (frame - header).get() + ETHER_TYPE
}

/// The arrivals at a filter's meter or gate, in bits: the curve that holds for the burst, and the one in the long run.
type Coming = Option<[Line; 2]>;

impl Analysis<'_> {
    /// Limits of the filter before an entry that frames may exceed.
    pub(crate) fn filter_limits(&self, entry: &Entry) -> Vec<Limit> {
        let network = self.plan.network;
        let first = self.plan.first_entry[entry.stream as usize];
        let Some((filters, filter)) = before(network, entry, first) else { return Vec::new() };
        let config = &filters.filters[filter].config;
        let at = LimitPlace::Port(PortIndex(entry.reception));
        let mut found = Vec::new();
        if let Some(sdu) = config.max_sdu {
            let sharers = |number: usize| config.blocks_on_oversize || number == entry.stream as usize;
            let needed = self.msdu_max((filters, filter), sharers);
            if needed > u64::from(sdu) {
                found.push(Limit { kind: MAX_SDU, at, limit: u64::from(sdu), needed: Some(needed) });
            }
        }
        if self.is_shut_by_events(filters, filter) {
            found.push(Limit { kind: SHUT, at, limit: 0, needed: None });
        }
        if let Some(gate) = config.gate {
            found.extend(self.gate_limit((filters, entry.stream), gate, at));
        }
        if let Some(meter) = config.meter {
            found.extend(self.meter_limit((filters, entry.stream), meter));
        }
        found
    }

    /// The largest MSDU of the streams that match a filter and that count: larger frames of others block it for all.
    fn msdu_max(&self, (filters, filter): (&BridgeFilters, usize), counts: impl Fn(usize) -> bool) -> u64 {
        let network = self.plan.network;
        let streams = network.streams.iter().enumerate().filter(|(number, _)| counts(*number));
        let msdu = streams.flat_map(|(number, stream)| {
            stream.hops.iter().enumerate().filter_map(move |(place, hop)| {
                let found = network.filter_behind(StreamIndex::at(number), stream, hop);
                found.filter(|(at, own)| at.node == filters.node && *own == filter)?;
                let payload = super::passing::payload_max(network, crate::plan::index(number), stream, place);
                Some(msdu(frame_length(payload, hop.tagged), hop.tagged))
            })
        });
        msdu.max().unwrap_or(0)
    }

    /// Whether management sets a flag of a filter, its gate or its meter that discards all, and whose function is enabled.
    fn is_shut_by_events(&self, filters: &BridgeFilters, filter: usize) -> bool {
        let config = &filters.filters[filter].config;
        self.plan.network.events.iter().any(|event| match &event.action {
            TimelineAction::ChangeFilters(node, change) if *node == filters.node => {
                let concerns = match **change {
                    FilterChange::Blocked(at, so) => at == filter && so,
                    FilterChange::Closed(gate, one, other) => {
                        Some(gate) == config.gate && [one, other].contains(&Some(true))
                    }
                    FilterChange::AllRed(meter, so) => Some(meter) == config.meter && so,
                    FilterChange::List(..) | FilterChange::Meter(..) => false,
                };
                concerns && filters.disabled_flag(change).is_none()
            }
            _ => false,
        })
    }

    /// The arrivals at filters of a bridge with a certain meter or gate; none if they are not known. `octets` is the
    /// counted size of a largest frame; the result is for a given stream.
    #[cfg_attr(
        not(feature = "planted-faults"),
        expect(unused_variables, reason = "a planted fault asks of which stream")
    )]
    fn coming(
        &self,
        (filters, of): (&BridgeFilters, u32),
        leads: impl Fn(usize) -> bool,
        octets: impl Fn(&Entry) -> u64,
    ) -> Coming {
        let network = self.plan.network;
        let mut sum = [Line::default(); 2];
        for (number, stream) in network.streams.iter().enumerate() {
            #[cfg(feature = "planted-faults")]
            if self.plan.fault == Some(crate::PlantedFault::SharedMeterForgotten) && number != of as usize {
                continue;
            }
            let first = self.plan.first_entry[number];
            let comes = |(_, hop): &(u32, &Hop)| {
                let found = network.filter_behind(StreamIndex::at(number), stream, hop);
                found.is_some_and(|(at, filter)| at.node == filters.node && leads(filter))
            };
            let hops = (0_u32..).zip(&stream.hops).filter(comes).map(|(place, _)| first + place);
            for ways in frer::passages_behind(stream, first, hops) {
                let came = self.come_together(&ways)?;
                // The largest frame has the least part of its wire that is not counted.
                let counted = ways.iter().map(|number| {
                    let entry = &self.plan.entries[*number as usize];
                    (octets(entry), entry.frame_max.get() + Bytes::MEDIA_OVERHEAD.get())
                });
                let counted = counted.max_by(|one, other| (one.0 * other.1).cmp(&(other.0 * one.1)));
                let counted = counted.expect("at least one");
                let lines = [came.least_burst()?, came.least_rate()?].map(|line| line.in_bits(counted));
                sum = [sum[0].and(lines[0]), sum[1].and(lines[1])];
            }
        }
        Some(sum)
    }

    /// The arrivals at the far end of ways that are one there.
    fn come_together(&self, ways: &[u32]) -> Option<Brought> {
        let way = |number: &u32| {
            let (entry, passage) = (&self.plan.entries[*number as usize], &self.passages[*number as usize]);
            let shaped = passage.shaped.map(|shaped| (shaped, shaped.way_max));
            let known = passage.reason == NO_REASON;
            frer::Way {
                entry: *number,
                behind: *number,
                most: passage.next_max.filter(|_| known),
                least: entry.next_min,
                shaped,
                alone: brought(&self.plan, entry, passage.next_max, shaped, entry.next_min),
            }
        };
        let all: Vec<frer::Way> = ways.iter().map(way).collect();
        if let [one] = &all[..] {
            return Some(one.alone);
        }
        #[cfg(feature = "planted-faults")]
        let all = match self.plan.fault {
            Some(crate::PlantedFault::MeteredGapForgotten) => frer::without_gap(all),
            _ => all,
        };
        Some(self.together(&all))
    }

    fn meter_limit(&self, (filters, of): (&BridgeFilters, u32), meter: usize) -> Option<Limit> {
        let network = self.plan.network;
        let leads = |filter: usize| filters.filters[filter].config.meter == Some(meter);
        let coming = self.coming((filters, of), leads, |entry| entry.frame_max.get());
        let all = profiles(network, filters, meter);
        let clock = &network.nodes[filters.node.index()].clock;
        let (deviation, slack) = (Deviation::of(clock), 2 * slack_ps(clock));
        let keeps = |rate: fn(&MeterConfig) -> u64, burst: fn(&MeterConfig) -> u32| {
            let rate = all.iter().map(rate).min().unwrap_or(0);
            let burst = all.iter().map(burst).min().unwrap_or(0);
            let is_within = |line: &Line| {
                line.rate <= deviation.shrink(rate)
                    && line.burst + volume(rate, slack) <= u128::from(burst) * 8 * MICRO
            };
            coming.is_some_and(|lines| lines.iter().any(is_within))
        };
        // Earlier nodes that may have marked frames are not searched for.
        let sees_yellow = all.iter().any(|config| config.color_mode == ColourMode::Aware)
            && network
                .stream_filters
                .iter()
                .any(|other| other.node != filters.node && !other.meters.is_empty());
        let is_green = !sees_yellow
            && keeps(
                |config| config.committed_information_rate.as_bps(),
                |config| config.committed_burst_size,
            );
        let is_passed = all.iter().all(|config| !config.drop_on_yellow)
            && keeps(|config| config.excess_information_rate.as_bps(), |config| config.excess_burst_size);
        if is_green || is_passed {
            return None;
        }
        let config = &filters.meters[meter].config;
        let committed = config.committed_information_rate.as_bps();
        let burst = coming.into_iter().flatten().filter(|line| line.rate <= deviation.shrink(committed));
        let needed = burst.map(|line| line.burst + volume(committed, slack)).min();
        let octets = needed.map(|bits| u64::try_from(bits.div_ceil(8 * MICRO)).unwrap_or(u64::MAX));
        let limit = u64::from(config.committed_burst_size);
        let needed = octets.filter(|octets| *octets > limit);
        let at = LimitPlace::StreamAt(StreamIndex(of), filters.node);
        Some(Limit { kind: METER_BURST, at, limit, needed })
    }

    fn gate_limit(&self, (filters, of): (&BridgeFilters, u32), gate: usize, at: LimitPlace) -> Option<Limit> {
        let network = self.plan.network;
        let config = &filters.gates[gate].config;
        let changed = network.events.iter().filter_map(|event| match &event.action {
            TimelineAction::ChangeFilters(node, change) if *node == filters.node => match &**change {
                FilterChange::List(own, list) if *own == gate => Some(list),
                _ => None,
            },
            _ => None,
        });
        let lists: Vec<&StreamGateParameters> = config.parameters.iter().chain(changed).collect();
        let entries = || lists.iter().flat_map(|list| &list.control_list);
        if !config.admin.open || entries().any(|entry| !entry.state.open) {
            let (open, cycle) = lists.first().map_or((0, None), |list| {
                let open = list.control_list.iter().filter(|entry| entry.state.open);
                let open: u64 = open.map(|entry| entry.time_interval.as_ps()).sum();
                let cycle = list.cycle_time.ceil().as_ps();
                (open.min(cycle), (open < cycle).then_some(cycle))
            });
            return Some(Limit { kind: STREAM_GATE, at, limit: open, needed: cycle });
        }
        if entries().all(|entry| entry.octets_max.is_none()) {
            return None;
        }
        let leads = |filter: usize| filters.filters[filter].config.gate == Some(gate);
        let uncounted = if config.counts_ether_type { 0 } else { ETHER_TYPE };
        let sdu = |entry: &Entry| msdu(entry.frame_max, entry.tagged) - uncounted;
        let coming = self.coming((filters, of), leads, sdu);
        let clock = &network.nodes[filters.node.index()].clock;
        let (deviation, slack) = (Deviation::of(clock), 2 * slack_ps(clock));
        let is_free = network.gate_clock() == GateClock::Free;
        let mut worst: Option<Limit> = None;
        for list in &lists {
            let longest = list.cycle_time.ceil().saturating_add(list.cycle_time_extension).as_ps();
            let last = list.control_list.len() - 1;
            for (place, entry) in list.control_list.iter().enumerate() {
                let Some(most) = entry.octets_max else { continue };
                // The last entry stays until the cycle ends, and a tick may lengthen any.
                let interval = entry.time_interval.as_ps().saturating_add(config.tick.as_ps());
                let span = if place == last { longest.max(interval) } else { interval.min(longest) };
                let span = deviation.stretch(span).saturating_add(slack);
                let bits = coming.filter(|_| is_free).map(|lines| {
                    let within = |line: Line| line.burst + volume(line.rate, span);
                    within(lines[0]).min(within(lines[1]))
                });
                let octets = bits.map(|bits| u64::try_from(bits.div_ceil(8 * MICRO)).unwrap_or(u64::MAX));
                if octets.is_none_or(|octets| octets > u64::from(most)) {
                    let limit = Limit { kind: INTERVAL_OCTETS, at, limit: u64::from(most), needed: octets };
                    worst =
                        Some(worst.map_or(
                            limit.clone(),
                            |known| if known.needed.is_none() { known } else { limit },
                        ));
                }
            }
        }
        worst
    }
}
