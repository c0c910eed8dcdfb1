//! Asynchronous traffic shaping (ieee802-dot1q-ats): a stream filter for each stream, in which its scheduler and the group of that are.
//!
//! Burst sizes are bits here. Schedulers and groups are numbered in the bridge, from zero; what several filters share is in each of them, alike.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use tautwire_model::network::{SchedulerGroupIndex, SchedulerIndex, StreamIndex};

use super::names::ns_ceil;
use super::streams::Identities;
use super::{Bridge, CHARGED};
use crate::Converted;

/// Adds the schedulers of a bridge.
pub(super) fn schedulers(
    bridge: &Bridge<'_>,
    component: &mut Map<String, Value>,
    identities: &mut Identities,
    written: &mut Converted,
) {
    let network = bridge.network;
    let mut numbers = Numbers::default();
    let mut filters: Vec<Value> = Vec::new();
    for (number, stream) in network.streams.iter().enumerate() {
        let mut own: Vec<SchedulerIndex> = Vec::new();
        for hop in stream.hops.iter().filter(|hop| bridge.node.ports.contains(&hop.port.0)) {
            // A talker's own shaper is in no bridge.
            own.extend(hop.scheduler.filter(|scheduler| hop.previous.is_some() && !own.contains(scheduler)));
        }
        let Some(scheduler) = own.first() else { continue };
        if own.len() > 1 {
            written.lacks(format!(
                "bridge {}: schedulers of stream {} but for the first, as its frames have one handle at all ports",
                bridge.node.name, stream.name
            ));
        }
        let handle = identities.handle(StreamIndex::at(number));
        filters.push(filter(bridge, filters.len(), handle, *scheduler, &mut numbers, written));
    }
    if filters.is_empty() {
        return;
    }
    let device = bridge.device;
    if device.ats.charged_overhead != CHARGED {
        written.lacks(format!("device model {}: `charged-overhead` of schedulers", device.name));
    }
    written.lacks(format!(
        "device model {}: scheduler timing characteristics, which are no configuration",
        device.name
    ));
    let module = "ieee802-dot1q-ats-bridge";
    let gate = json!({ "stream-gate-instance-id": 0, "gate-enable": false });
    component.insert(format!("{module}:stream-gates"), json!({ "stream-gate-instance-table": [gate] }));
    component.insert(format!("{module}:stream-filters"), json!({ "stream-filter-instance-table": filters }));
}

/// Numbers of schedulers and groups in the bridge.
#[derive(Default)]
struct Numbers {
    schedulers: BTreeMap<u32, usize>,
    groups: BTreeMap<u32, usize>,
}

impl Numbers {
    fn of(known: &mut BTreeMap<u32, usize>, index: u32) -> usize {
        let next = known.len();
        *known.entry(index).or_insert(next)
    }

    fn scheduler(&mut self, index: SchedulerIndex) -> usize {
        Self::of(&mut self.schedulers, index.0)
    }

    fn group(&mut self, index: SchedulerGroupIndex) -> usize {
        Self::of(&mut self.groups, index.0)
    }
}

fn filter(
    bridge: &Bridge<'_>,
    id: usize,
    handle: u32,
    index: SchedulerIndex,
    numbers: &mut Numbers,
    written: &mut Converted,
) -> Value {
    let of = |what: &str| format!("bridge {}: {what}", bridge.node.name);
    let scheduler = &bridge.network.schedulers[index.index()];
    let group = &bridge.network.scheduler_groups[scheduler.group.index()];
    let burst = u32::try_from(scheduler.committed_burst_size.get()).unwrap_or_else(|_| {
        written.lacks(of("burst sizes of more than 32 bits"));
        u32::MAX
    });
    let residence = match group.max_residence_time.map(ns_ceil) {
        None => {
            written.lacks(of("that residence times have no limit; the greatest value is 4.29 s"));
            u32::MAX
        }
        Some((ns, is_exact)) => {
            if !is_exact {
                written.lacks(of("residence times that are not whole nanoseconds of 32 bits"));
            }
            ns
        }
    };
    let (own, of_group) = (numbers.scheduler(index), numbers.group(scheduler.group));
    json!({
        "stream-filter-instance-id": id,
        "stream-handle": handle,
        "priority-spec": "wildcard",
        "max-sdu-size": 0,
        "stream-gate-ref": 0,
        "schedulers": { "scheduler-instance-table": [{
            "scheduler-instance-id": own,
            "committed-information-rate": scheduler.committed_information_rate.as_bps().to_string(),
            "committed-burst-size": burst,
            "scheduler-group-ref": of_group,
        }] },
        "scheduler-groups": { "scheduler-group-instance-table": [{
            "scheduler-group-instance-id": of_group,
            "max-residence-time": residence,
        }] },
        "scheduler": { "scheduler-ref": own, "scheduler-enable": true },
    })
}
