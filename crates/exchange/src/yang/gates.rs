//! Gates of a port (ieee802-dot1q-sched). Of each port the module demands what it supports at most: what the device states, or what the list needs.

use serde_json::{Map, Value, json};
use tautwire_model::gates::{CycleTime, GateLimits, GatedCredit, GuardPolicy, Operation, PortGates};
use tautwire_model::network::{Port, PortIndex};

use super::names::{Fraction, ns_ceil, ptp_time};
use super::{Bridge, ports};
use crate::{Converted, times};

/// Octets of the EtherType, with which a service data unit begins.
const ETHER_TYPE: u64 = 2;

/// The table of a port.
pub(super) fn table(bridge: &Bridge<'_>, number: PortIndex, port: &Port, written: &mut Converted) -> Value {
    let gates = bridge.network.stated_gates(number);
    let mut table = Map::new();
    let sizes: Vec<Value> = (gates.payload_max.iter().enumerate())
        .filter_map(|(class, most)| {
            let octets = u32::try_from(most.as_ref()?.get() + ETHER_TYPE).unwrap_or(u32::MAX);
            Some(json!({ "traffic-class": class, "queue-max-sdu": octets }))
        })
        .collect();
    if !sizes.is_empty() {
        table.insert("queue-max-sdu-table".into(), sizes.into());
    }
    let is_enabled = port.gates.is_some();
    table.insert("gate-enabled".into(), is_enabled.into());
    table.insert("admin-gate-states".into(), gates.admin_gate_states.into());
    let mut needed = Supported::default();
    if is_enabled {
        let place = bridge.place(port);
        list(&gates, &place, &mut table, &mut needed, written);
        lacks(&gates, port, &place, written);
    } else {
        table.insert("admin-cycle-time".into(), Fraction::ZERO.value());
    }
    needed.with(&gates.limits);
    table.insert("supported-list-max".into(), needed.list.into());
    table.insert("supported-cycle-max".into(), needed.cycle.value());
    table.insert("supported-interval-max".into(), needed.interval.into());
    table.into()
}

/// What a device supports at most.
pub(super) struct Supported {
    pub(super) list: u32,
    pub(super) interval: u32,
    pub(super) cycle: Fraction,
}

impl Default for Supported {
    fn default() -> Self {
        Self { list: 0, interval: 0, cycle: Fraction::ZERO }
    }
}

impl Supported {
    /// At least what a list needs.
    pub(super) fn needs(&mut self, entries: usize, interval: u64, cycle: Fraction) {
        self.list = self.list.max(u32::try_from(entries).unwrap_or(u32::MAX));
        self.interval = self.interval.max(u32::try_from(interval).unwrap_or(u32::MAX));
        self.cycle = self.cycle.max(cycle);
    }

    /// And what is stated.
    fn with(&mut self, limits: &GateLimits) {
        let list = limits.list.and_then(|most| usize::try_from(most).ok()).unwrap_or(0);
        let interval = limits.interval.map_or(0, |most| u64::from(ns_ceil(most).0));
        let cycle = limits.cycle.map_or(Fraction::ZERO, |most| Fraction::of(most).0);
        self.needs(list, interval, cycle);
    }
}

/// A cycle, and what is rounded of it.
pub(super) fn cycle(cycle: CycleTime, is_rounded: bool, of: &str, written: &mut Converted) -> Fraction {
    let (fraction, is_exact) = Fraction::of(cycle);
    // A cycle that is a fraction may be exact where its intervals are not.
    if is_rounded || !is_exact {
        written.lacks(format!("{of}: times below a nanosecond, or a cycle that is no fraction of 32 bits"));
    }
    fraction
}

fn list(
    gates: &PortGates,
    place: &str,
    table: &mut Map<String, Value>,
    needed: &mut Supported,
    written: &mut Converted,
) {
    let parameters = &gates.parameters;
    let entries = parameters
        .control_list
        .iter()
        .map(|entry| ((entry.operation, entry.gate_states), entry.time_interval));
    let list = times::list(entries, parameters.cycle_time);
    let (extension, is_whole) = ns_ceil(parameters.cycle_time_extension);
    let is_rounded = list.is_rounded || !is_whole || !parameters.base_time.as_ps().is_multiple_of(1_000);
    let cycle = cycle(parameters.cycle_time, is_rounded, place, written);
    needed.needs(list.entries.len(), list.entries.iter().map(|(_, ns)| *ns).max().unwrap_or(0), cycle);
    let entries: Vec<Value> = (list.entries.iter().enumerate())
        .map(|(index, ((operation, states), ns))| {
            let operation = match operation {
                Operation::SetGateStates => "set-gate-states",
                Operation::SetAndHoldMac => "set-and-hold-mac",
                Operation::SetAndReleaseMac => "set-and-release-mac",
            };
            json!({
                "index": index,
                "operation-name": format!("ieee802-dot1q-sched:{operation}"),
                "time-interval-value": ns,
                "gate-states-value": states,
            })
        })
        .collect();
    table.insert("admin-control-list".into(), json!({ "gate-control-entry": entries }));
    table.insert("admin-cycle-time".into(), cycle.value());
    table.insert("admin-cycle-time-extension".into(), extension.into());
    table.insert("admin-base-time".into(), ptp_time(parameters.base_time));
    table.insert("config-change".into(), true.into());
}

/// What the module has no leaf for.
fn lacks(gates: &PortGates, port: &Port, place: &str, written: &mut Converted) {
    if gates.guard != GuardPolicy::LookAhead {
        written.lacks(format!("{place}: guard bands other than looking ahead"));
    }
    if !gates.tick.is_zero() {
        written.lacks(format!("{place}: `tick-granularity`, which is no configuration"));
    }
    if ports::is_credit_based(port) && gates.credit != GatedCredit::STANDARD {
        written.lacks(format!("{place}: what closed gates do to credit"));
    }
}
