//! Per-stream filtering and policing (IEEE Std 802.1Q-2022, 8.6.5.3 to 8.6.5.5, 8.6.10, 12.31): the functions of a
//! bridge component for each frame before it is queued.
//!
//! In: a frame with the number of its stream filter, and a reading of the node's clock. Out: it passes, perhaps with
//! an internal priority and perhaps drop-eligible, or the reason for which it is discarded. Stages in order: maximum
//! SDU, stream gate, flow meter. Invariants: a frame is processed at one instant; of the counters of a filter,
//! matching = passing SDU + not passing SDU, and passing SDU = passing + not passing the gate. Not here: which filter
//! a frame matches (`tautwire-model`), stream identification (`identification.rs`), the instants of processing
//! (`tautwire-sim`). Page: `docs/mechanisms/filtering-and-policing.md`.

mod meter;
mod stream_gate;

use alloc::vec::Vec;

use tautwire_units::Instant;

use crate::Priority;
use crate::gates::GateTime;

pub use meter::{Colour, ColourMode, FlowMeter, MeterConfig};
pub use stream_gate::{
    GateFlag, GateState, StreamGate, StreamGateConfig, StreamGateEntry, StreamGateParameters,
};

/// A stream filter, with its gate and its meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FilterConfig {
    /// Most octets of an MSDU; none: any.
    pub max_sdu: Option<u32>,
    /// Whether a larger one blocks the filter (StreamBlockedDueToOversizeFrameEnable).
    pub blocks_on_oversize: bool,
    /// Number of its stream gate; none: a gate that is always open.
    pub gate: Option<usize>,
    /// Number of its flow meter.
    pub meter: Option<usize>,
}

/// Counters of a filter (12.31.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FilterCounters {
    /// Frames that matched it.
    pub matching: u64,
    /// Frames that its gate passed.
    pub passing: u64,
    /// Frames that its gate discarded.
    pub not_passing: u64,
    /// Frames no larger than its maximum SDU size.
    pub passing_sdu: u64,
    /// Larger ones, and all while it was blocked because of one.
    pub not_passing_sdu: u64,
    /// Frames that its meter discarded.
    pub red: u64,
}

/// A frame in the form of the stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Octets of the MSDU, which begins with the EtherType.
    pub msdu: u32,
    /// Octets of the frame, destination to FCS, which a meter charges.
    pub octets: u32,
    /// Whether it came drop-eligible: its colour is yellow.
    pub drop_eligible: bool,
}

/// The result for a frame that passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// The priority that selects its traffic class; none: its own.
    pub internal_priority: Option<Priority>,
    /// Whether it is drop-eligible from here on.
    pub drop_eligible: bool,
}

/// Why a frame is discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Discard {
    /// It is larger than the maximum SDU of its filter, or the filter is blocked because of such a frame.
    MaxSdu,
    /// Its stream gate is closed, or acts as if it were.
    GateClosed,
    /// The interval of its stream gate has too few octets left.
    IntervalOctets,
    /// Its flow meter.
    Red,
}

/// The state of a filter.
#[derive(Clone, Debug)]
struct StreamFilter {
    config: FilterConfig,
    is_blocked: bool,
    counters: FilterCounters,
}

/// The stream filters, stream gates and flow meters of a bridge component.
#[derive(Clone, Debug)]
pub struct StreamFilters {
    filters: Vec<StreamFilter>,
    gates: Vec<StreamGate>,
    meters: Vec<FlowMeter>,
}

impl StreamFilters {
    /// Those of a component that starts when its clock reads zero.
    ///
    /// # Panics
    /// If a filter names a gate or a meter that is not there.
    #[must_use]
    pub fn new(filters: &[FilterConfig], gates: Vec<StreamGateConfig>, meters: &[MeterConfig]) -> Self {
        for filter in filters {
            assert!(filter.gate.is_none_or(|gate| gate < gates.len()), "a filter's gate is there");
            assert!(filter.meter.is_none_or(|meter| meter < meters.len()), "a filter's meter is there");
        }
        let filter = |config: &FilterConfig| StreamFilter {
            config: *config,
            is_blocked: false,
            counters: FilterCounters::default(),
        };
        Self {
            filters: filters.iter().map(filter).collect(),
            gates: gates.into_iter().map(StreamGate::new).collect(),
            meters: meters.iter().map(|config| FlowMeter::new(*config)).collect(),
        }
    }

    /// The node starts when its clock reads `now`: flags are cleared, buckets are full, lists start again; counters continue.
    pub fn start(&mut self, now: Instant) {
        self.filters.iter_mut().for_each(|filter| filter.is_blocked = false);
        self.gates.iter_mut().for_each(|gate| gate.start(now));
        self.meters.iter_mut().for_each(|meter| meter.start(now));
    }

    /// The gates follow this time from `now` on.
    pub fn follow(&mut self, now: Instant, time: GateTime) {
        self.gates.iter_mut().for_each(|gate| gate.follow(now, time));
    }

    /// Processes a frame that matched a filter, when the clock reads `now`.
    ///
    /// # Errors
    /// The reason for which it is discarded.
    ///
    /// # Panics
    /// If there is no such filter.
    pub fn judge(&mut self, now: Instant, filter: usize, frame: Frame) -> Result<Passed, Discard> {
        let StreamFilter { config, is_blocked, counters } = &mut self.filters[filter];
        counters.matching += 1;
        let is_larger = config.max_sdu.is_some_and(|most| frame.msdu > most);
        if *is_blocked || is_larger {
            *is_blocked |= is_larger && config.blocks_on_oversize;
            counters.not_passing_sdu += 1;
            return Err(Discard::MaxSdu);
        }
        counters.passing_sdu += 1;
        let mut passed = Passed { internal_priority: None, drop_eligible: frame.drop_eligible };
        if let Some(gate) = config.gate {
            match self.gates[gate].judge(now, frame.msdu) {
                Ok(internal_priority) => passed.internal_priority = internal_priority,
                Err(discard) => {
                    counters.not_passing += 1;
                    return Err(discard);
                }
            }
        }
        counters.passing += 1;
        if let Some(meter) = config.meter {
            match self.meters[meter].judge(now, frame.octets, frame.drop_eligible) {
                Some(Colour::Yellow) => passed.drop_eligible = true,
                Some(_) => {}
                None => {
                    counters.red += 1;
                    return Err(Discard::Red);
                }
            }
        }
        Ok(passed)
    }

    /// Counters of a filter.
    #[must_use]
    pub fn counters(&self, filter: usize) -> FilterCounters {
        self.filters[filter].counters
    }

    /// Whether a filter is blocked for an oversize frame (StreamBlockedDueToOversizeFrame).
    #[must_use]
    pub fn is_blocked(&self, filter: usize) -> bool {
        self.filters[filter].is_blocked
    }

    /// Blocks a filter, if its function is enabled, or unblocks it.
    pub fn set_blocked(&mut self, filter: usize, so: bool) {
        let filter = &mut self.filters[filter];
        filter.is_blocked = so && filter.config.blocks_on_oversize;
    }

    /// The stream gates.
    #[must_use]
    pub fn gates(&self) -> &[StreamGate] {
        &self.gates
    }

    /// A stream gate, to be changed.
    pub fn gate_mut(&mut self, gate: usize) -> &mut StreamGate {
        &mut self.gates[gate]
    }

    /// The flow meters.
    #[must_use]
    pub fn meters(&self) -> &[FlowMeter] {
        &self.meters
    }

    /// A flow meter, to be changed.
    pub fn meter_mut(&mut self, meter: usize) -> &mut FlowMeter {
        &mut self.meters[meter]
    }

    /// Updates all gates to `now`.
    pub fn settle(&mut self, now: Instant) {
        self.gates.iter_mut().for_each(|gate| gate.settle(now));
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
