//! Interfaces of a bridge: priorities, classes, transmission selection, the credit-based shaper, frame preemption.

use serde_json::{Map, Value, json};
use tautwire_core::Priority;
use tautwire_model::network::{ClassSettings, Port, PortIndex, TransmissionSelection};
use tautwire_model::preemption::PortPreemption;

use super::{Bridge, component::COMPONENT, gates, interface};
use crate::Converted;

/// MAC client data of a frame by IEEE Std 802.3.
const MTU: u64 = 1_500;

/// All interfaces.
pub(super) fn interfaces(bridge: &Bridge<'_>, written: &mut Converted) -> Vec<Value> {
    // The module of gates demands its data of all ports or of none.
    let has_gates = bridge.ports().any(|(_, port)| port.gates.is_some() || port.gates_off.is_some());
    bridge
        .ports()
        .map(|(number, port)| {
            let mut settings = settings(bridge, port, written);
            if has_gates {
                let table = gates::table(bridge, number, port, written);
                settings.insert("ieee802-dot1q-sched-bridge:gate-parameter-table".into(), table);
            }
            lacks(bridge, number, port, written);
            json!({
                "name": interface(port),
                "type": "iana-if-type:ethernetCsmacd",
                "ieee802-dot1q-bridge:bridge-port": settings,
            })
        })
        .collect()
}

/// Whether a class of a port is credit-based.
pub(super) fn is_credit_based(port: &Port) -> bool {
    port.classes.iter().any(|class| matches!(class.selection, TransmissionSelection::CreditBased { .. }))
}

/// A value for each priority, as leaves.
fn by_priority(value: impl Fn(Priority) -> Value) -> Map<String, Value> {
    Priority::all().map(|priority| (format!("priority{}", priority.number()), value(priority))).collect()
}

fn settings(bridge: &Bridge<'_>, port: &Port, written: &mut Converted) -> Map<String, Value> {
    let mut classes = Map::new();
    classes.insert("number-of-traffic-classes".into(), json!(port.classes.len()));
    classes.extend(by_priority(|priority| json!(port.class_table.of_priority[priority.index()].number())));
    let selection: Vec<Value> = (port.classes.iter().enumerate())
        .map(|(class, settings)| {
            let algorithm = match settings.selection {
                TransmissionSelection::StrictPriority => "strict-priority",
                TransmissionSelection::CreditBased { .. } => "credit-based-shaper",
                TransmissionSelection::Ats => "asynchronous-traffic-shaping",
            };
            json!({
                "traffic-class": class,
                "transmission-selection-algorithm": format!("ieee802-dot1q-types:{algorithm}"),
            })
        })
        .collect();
    let regeneration = by_priority(|received| json!(port.priority_regeneration[received.index()].number()));
    let mut settings = Map::new();
    let mut add = |name: &str, value: Value| settings.insert(name.into(), value);
    add("bridge-name", bridge.name.as_str().into());
    add("component-name", COMPONENT.into());
    add("pvid", port.pvid.number().into());
    add("default-priority", port.default_priority.number().into());
    add("priority-regeneration", regeneration.into());
    add("traffic-class", json!({ "traffic-class-table": classes }));
    add(
        "transmission-selection-algorithm-table",
        json!({ "transmission-selection-algorithm-map": selection }),
    );
    add("enable-ingress-filtering", port.ingress_filtering.into());
    let slopes = slopes(&port.classes);
    if !slopes.is_empty() {
        add("ieee802-dot1q-cbsa-bridge:cbsa", json!({ "cbsa-parameter-table": slopes }));
    }
    if let Some(stated) = &port.preemption {
        let place = bridge.place(port);
        if let Some(status) = preemption(stated, &place, written) {
            add(
                "ieee802-dot1q-preemption-bridge:frame-preemption-parameters",
                json!({ "frame-preemption-status-table": status }),
            );
        }
    }
    settings
}

/// The idle slopes, in bits of the wire per second, as clause 34.4 derives them.
fn slopes(classes: &[ClassSettings]) -> Vec<Value> {
    let slope = |(class, settings): (usize, &ClassSettings)| match settings.selection {
        TransmissionSelection::CreditBased { idle_slope } => {
            Some(json!({ "traffic-class": class, "admin-idle-slope": idle_slope.as_bps().to_string() }))
        }
        TransmissionSelection::StrictPriority | TransmissionSelection::Ats => None,
    };
    classes.iter().enumerate().filter_map(slope).collect()
}

/// The status of each priority, if the port is to preempt.
fn preemption(stated: &PortPreemption, place: &str, written: &mut Converted) -> Option<Map<String, Value>> {
    written.lacks(format!("{place}: fragment sizes and verification, which are of IEEE Std 802.3"));
    if stated.hold_advance.is_some() || !stated.release_advance.is_zero() {
        written.lacks(format!("{place}: hold and release advance, which are no configuration"));
    }
    if !stated.enabled || !stated.supported {
        written.lacks(format!("{place}: preemptable priorities, as it does not preempt"));
        return None;
    }
    let is_preemptable = |priority: Priority| stated.priorities >> priority.number() & 1 == 1;
    Some(by_priority(|priority| if is_preemptable(priority) { "preemptable" } else { "express" }.into()))
}

/// What an interface has no leaf for.
fn lacks(bridge: &Bridge<'_>, number: PortIndex, port: &Port, written: &mut Converted) {
    let place = bridge.place(port);
    let is_limited = |class: &ClassSettings| {
        class.limit_frames != u32::MAX || class.limit_octets.get() != u64::MAX || class.discards_oldest
    };
    if port.classes.iter().any(is_limited) {
        written.lacks(format!("{place}: limits of its queues"));
    }
    if port.shared_buffer.is_some() {
        written.lacks(format!("{place}: its shared buffer"));
    }
    if port.mtu.get() != MTU {
        written.lacks(format!("{place}: its MTU"));
    }
    if port.class_table.of_untagged.is_some() {
        written.lacks(format!("{place}: the class of untagged frames"));
    }
    if port.links.is_none() {
        written.lacks(format!("{place}: that it has no cable"));
    }
    let is_reserved = |class: &tautwire_model::srp::reserved_class::ReservedClass| class.port == number;
    if bridge.network.reserved_classes.iter().any(is_reserved) {
        written.lacks(format!("{place}: classes that reservations shape"));
    }
}
