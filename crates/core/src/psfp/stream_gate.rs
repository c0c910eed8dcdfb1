//! Stream gates (IEEE Std 802.1Q-2022, 8.6.5.4, 8.6.10): open or closed by a list, with an internal priority and a maximum of octets for
//! each interval.
//!
//! Lists run by the machine of the gates of ports (`gates/machine.rs`), which only gets whether an entry opens the
//! gate. Invariants: a frame passes if neither flag closes the gate, the gate is open and the interval has enough
//! octets left, which the frame then takes; a discarded frame takes none. An interval has all its octets again when
//! its entry is executed.

use alloc::boxed::Box;
use alloc::vec::Vec;

use tautwire_units::{Duration, Instant};

use super::Discard;
use crate::Priority;
use crate::gates::{CycleTime, Entry, GateParameters, GateTime, Gates, Operation};

/// The state of a gate for frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GateState {
    /// Whether frames pass.
    pub open: bool,
    /// The priority that selects the class of those that pass (IPV); none: their own.
    pub internal_priority: Option<Priority>,
}

/// An entry of a list (set-gate-and-ipv).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamGateEntry {
    /// The state of the gate.
    pub state: GateState,
    /// How long, above zero.
    pub time_interval: Duration,
    /// Most octets of service data units that pass (IntervalOctetMax); none: no limit.
    pub octets_max: Option<u32>,
}

/// A list as management sets it, or the operative one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StreamGateParameters {
    /// The list, one entry at least. Entries after the end of the cycle are cut off; the last entry stays until the cycle ends.
    pub control_list: Vec<StreamGateEntry>,
    /// When a cycle begins.
    pub base_time: Instant,
    /// How long one is.
    pub cycle_time: CycleTime,
    /// By how much the last cycle before a change may be longer.
    pub cycle_time_extension: Duration,
}

/// The parameters of a stream gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamGateConfig {
    /// The state before a cycle begins, or without a list.
    pub admin: GateState,
    /// Its list, if the gate is enabled.
    pub parameters: Option<StreamGateParameters>,
    /// The device's tick; zero for none.
    pub tick: Duration,
    /// Whether a frame that comes while it is closed closes it permanently (GateClosedDueToInvalidRxEnable).
    pub closes_on_invalid_rx: bool,
    /// Whether a frame that finds too few octets does (GateClosedDueToOctetsExceededEnable).
    pub closes_on_octets_exceeded: bool,
    /// Whether the octets of an interval are those of MSDUs, with the EtherType, as in the standard; else of the data behind it.
    pub counts_ether_type: bool,
}

/// The flags that close a gate until management clears them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GateFlag {
    /// GateClosedDueToInvalidRx.
    InvalidRx,
    /// GateClosedDueToOctetsExceeded.
    OctetsExceeded,
}

/// Octets of the EtherType, which an MSDU begins with.
const ETHER_TYPE: u32 = 2;

/// The priority and the octets of an entry.
type Beside = (Option<Priority>, Option<u32>);

/// A stream gate.
#[derive(Clone, Debug)]
pub struct StreamGate {
    config: StreamGateConfig,
    list: Option<Box<Listed>>,
    /// GateClosedDueToInvalidRx, GateClosedDueToOctetsExceeded.
    flags: [bool; 2],
}

/// The list of a gate.
#[derive(Clone, Debug)]
struct Listed {
    gates: Gates,
    /// Of the operative list, and of the next one.
    oper: Vec<Beside>,
    pending: Option<Vec<Beside>>,
    /// IntervalOctetsLeft.
    left: Option<u32>,
}

impl StreamGateParameters {
    /// In the form of the machine of gates: class 0 represents the frames that pass.
    fn as_gates(&self) -> GateParameters {
        let entry = |entry: &StreamGateEntry| Entry {
            operation: Operation::SetGateStates,
            gate_states: u8::from(entry.state.open),
            time_interval: entry.time_interval,
        };
        GateParameters {
            control_list: self.control_list.iter().map(entry).collect(),
            base_time: self.base_time,
            cycle_time: self.cycle_time,
            cycle_time_extension: self.cycle_time_extension,
        }
    }

    fn beside(&self) -> Vec<Beside> {
        self.control_list.iter().map(|entry| (entry.state.internal_priority, entry.octets_max)).collect()
    }
}

impl Listed {
    fn new(config: &StreamGateConfig, parameters: &StreamGateParameters) -> Self {
        Self {
            gates: Gates::new(u8::from(config.admin.open), parameters.as_gates(), config.tick),
            oper: Vec::new(),
            pending: Some(parameters.beside()),
            left: None,
        }
    }

    /// Crosses all edges up to `now`.
    fn settle(&mut self, now: Instant) {
        self.gates.skip_to(now);
        while self.gates.edge() <= now {
            if self.gates.cross() {
                self.oper = self.pending.take().unwrap_or_default();
            }
            self.fill();
        }
    }

    /// An entry starts.
    fn fill(&mut self) {
        if !planted!(OctetsNotGivenBack) || self.left.is_none() {
            self.left = self.beside().and_then(|(_, most)| most);
        }
    }

    /// The entry that is executed; none before the first cycle.
    fn beside(&self) -> Option<Beside> {
        self.gates.entry().and_then(|(_, entry)| self.oper.get(entry).copied())
    }
}

impl StreamGate {
    /// A gate whose list is set when the clock reads zero.
    ///
    /// # Panics
    /// If the list has no entry, or its cycle is shorter than a tick.
    #[must_use]
    pub fn new(config: StreamGateConfig) -> Self {
        let list = config.parameters.as_ref().map(|parameters| Box::new(Listed::new(&config, parameters)));
        Self { config, list, flags: [false; 2] }
    }

    /// The node starts when its clock reads `now`.
    pub fn start(&mut self, now: Instant) {
        self.flags = [false; 2];
        if let Some(list) = &mut self.list {
            let last = list.pending.take().unwrap_or_else(|| core::mem::take(&mut list.oper));
            (list.pending, list.left) = (Some(last), None);
            list.gates.start(now);
            list.settle(now);
        }
    }

    /// It follows this time from `now` on.
    pub fn follow(&mut self, now: Instant, time: GateTime) {
        let Some(list) = &mut self.list else { return };
        list.settle(now);
        let before = list.gates.entry();
        list.gates.follow(now, time);
        if list.gates.oper().is_none() && list.pending.is_none() {
            list.pending = Some(core::mem::take(&mut list.oper));
        }
        if list.gates.entry() != before {
            list.fill();
        }
    }

    /// Sets a new list at `now`; a gate without one starts to have one.
    ///
    /// # Panics
    /// If the list has no entry, or its cycle is shorter than a tick.
    pub fn change(&mut self, now: Instant, parameters: &StreamGateParameters) {
        let Some(list) = &mut self.list else {
            let mut list = Listed::new(&self.config, parameters);
            list.gates.start(now);
            list.settle(now);
            self.list = Some(Box::new(list));
            return;
        };
        list.settle(now);
        list.pending = Some(parameters.beside());
        list.gates.change(now, parameters.as_gates());
    }

    /// Updates it to `now`.
    pub fn settle(&mut self, now: Instant) {
        if let Some(list) = &mut self.list {
            list.settle(now);
        }
    }

    /// Processes a frame with so many octets in its MSDU, at `now`: the priority that selects its class, if it passes.
    pub(super) fn judge(&mut self, now: Instant, msdu: u32) -> Result<Option<Priority>, Discard> {
        self.settle(now);
        if self.flags.contains(&true) {
            return Err(Discard::GateClosed);
        }
        let state = self.state();
        if !state.open && !planted!(ClosedGatePasses) {
            self.flags[GateFlag::InvalidRx as usize] = self.config.closes_on_invalid_rx;
            return Err(Discard::GateClosed);
        }
        let counted = if self.config.counts_ether_type { msdu } else { msdu.saturating_sub(ETHER_TYPE) };
        if let Some(left) = self.list.as_mut().and_then(|list| list.left.as_mut()) {
            let Some(rest) = left.checked_sub(counted) else {
                self.flags[GateFlag::OctetsExceeded as usize] = self.config.closes_on_octets_exceeded;
                return Err(Discard::IntervalOctets);
            };
            *left = rest;
        }
        Ok(state.internal_priority)
    }

    /// Its state at the last update; flags may close it in addition.
    #[must_use]
    pub fn state(&self) -> GateState {
        let Some(list) = &self.list else { return self.config.admin };
        match list.beside() {
            Some((internal_priority, _)) => GateState { open: list.gates.is_open(0), internal_priority },
            None => self.config.admin,
        }
    }

    /// Whether a flag closes it.
    #[must_use]
    pub const fn is_closed_for(&self, flag: GateFlag) -> bool {
        self.flags[flag as usize]
    }

    /// Sets a flag, if its function is enabled, or clears it.
    pub const fn set_closed_for(&mut self, flag: GateFlag, so: bool) {
        let is_enabled = match flag {
            GateFlag::InvalidRx => self.config.closes_on_invalid_rx,
            GateFlag::OctetsExceeded => self.config.closes_on_octets_exceeded,
        };
        self.flags[flag as usize] = so && is_enabled;
    }

    /// The machine of its list, if it has one.
    #[must_use]
    pub fn gates(&self) -> Option<&Gates> {
        self.list.as_ref().map(|list| &list.gates)
    }

    /// Octets of service data units that still pass in the interval, at the last update; none: no limit.
    #[must_use]
    pub fn octets_left(&self) -> Option<u32> {
        self.list.as_ref().and_then(|list| list.left)
    }
}
