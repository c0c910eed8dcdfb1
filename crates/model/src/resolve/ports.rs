//! Settings of ports: from the port, its node, its device and the defaults, in this order.

use tautwire_core::{Priority, TrafficClass, TrafficClassTable};
use tautwire_units::{BitRate, Bytes, Duration};
use tautwire_wire::VlanId;

use super::layered;
use crate::blocks::BLOCKS;
use crate::gates::{self, PortGates};
use crate::network::{ClassSettings, SharedBuffer, TransmissionSelection};
use crate::preemption::{self, PortPreemption};
use crate::text::faults::Faults;
use crate::text::tree::{Node, Place};
use crate::text::{codes, scalar};

/// Settings of a port, and the places of those that later steps may find wrong.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) mtu: Bytes,
    pub(crate) pvid: VlanId,
    pub(crate) ingress_filtering: bool,
    pub(crate) default_priority: Priority,
    pub(crate) priority_regeneration: [Priority; 8],
    pub(crate) class_table: TrafficClassTable,
    pub(crate) classes: [ClassSettings; 8],
    pub(crate) shared_buffer: Option<SharedBuffer>,
    pub(crate) max_residence_time: Option<Duration>,
    pub(crate) gates: Option<Box<PortGates>>,
    pub(crate) gates_off: Option<Box<PortGates>>,
    pub(crate) preemption: Option<PortPreemption>,
    pub(crate) places: Places,
}

/// Places of a port's settings in the text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Places {
    /// The idleSlope of each class.
    pub(crate) idle_slopes: [Option<Place>; 8],
    /// The frames that the queue of each class holds.
    pub(crate) frames: [Option<Place>; 8],
    /// The octets that the queue of each class holds.
    pub(crate) limits: [Option<Place>; 8],
    /// The cells of the shared buffer.
    pub(crate) cells: Option<Place>,
    /// The list of its gates.
    pub(crate) gates: Option<Place>,
    /// Its frame preemption.
    pub(crate) preemption: Option<Place>,
}

/// Whether a node or port has settings of ports.
pub(crate) fn has_settings(node: &Node<'_>) -> bool {
    const KEYS: [&str; 11] = [
        "mtu",
        "pvid",
        "ingress-filtering",
        "default-priority",
        "priority-regeneration",
        "traffic-class-table",
        "untagged-class",
        "classes",
        "queue-limit",
        "shared-buffer",
        "max-residence-time",
    ];
    let keys = || KEYS.iter().chain(BLOCKS.iter().flat_map(|block| block.port_keys));
    node.entries().iter().any(|(key, _)| keys().any(|known| *known == key.text))
}

/// The settings that `layers` make.
pub(crate) fn settings(layers: &[&Node<'_>], faults: &mut Faults) -> Settings {
    let word = |key: &str| layered(layers, key).and_then(Node::text);
    let of_eight = |key: &str| word(key).and_then(|text| text.parse().ok());
    let priorities: [Priority; 8] =
        std::array::from_fn(|index| Priority::all().nth(index).unwrap_or_default());
    let (classes, places) = classes(layers, faults);
    let buffer = layered(layers, "shared-buffer");
    let gates = gates::resolve::gates(layers, faults);
    let preemption = preemption::resolve::preemption(layers);
    let places = Places {
        cells: buffer.and_then(|buffer| Some(buffer.get("cells")?.place)),
        gates: gates.as_ref().map(|(_, place)| *place),
        preemption: preemption.map(|(_, place)| place),
        ..places
    };
    Settings {
        mtu: word("mtu").and_then(|text| text.parse().ok()).unwrap_or(Bytes::new(1_500)),
        pvid: word("pvid")
            .and_then(|text| text.parse().ok())
            .and_then(VlanId::new)
            .unwrap_or(VlanId::DEFAULT),
        ingress_filtering: word("ingress-filtering").and_then(scalar::flag).unwrap_or(false),
        default_priority: of_eight("default-priority").and_then(Priority::new).unwrap_or_default(),
        priority_regeneration: layered(layers, "priority-regeneration")
            .and_then(numbers)
            .map_or(priorities, |numbers| numbers.map(|n| Priority::new(n).unwrap_or_default())),
        class_table: TrafficClassTable {
            of_untagged: of_eight("untagged-class").and_then(TrafficClass::new),
            ..layered(layers, "traffic-class-table").map_or(TrafficClassTable::RECOMMENDED, class_table)
        },
        classes,
        shared_buffer: buffer.and_then(|node| shared_buffer(node, faults)),
        max_residence_time: word("max-residence-time").and_then(|text| text.parse().ok()),
        gates_off: if gates.is_some() { None } else { gates::resolve::gates_off(layers).map(Box::new) },
        gates: gates.map(|(gates, _)| Box::new(gates)),
        preemption: preemption.map(|(stated, _)| stated),
        places,
    }
}

/// A list of eight numbers from 0 to 7.
fn numbers(node: &Node<'_>) -> Option<[u8; 8]> {
    let numbers: Vec<u8> = node.items().iter().filter_map(|item| item.text()?.parse().ok()).collect();
    <[u8; 8]>::try_from(numbers).ok().filter(|numbers| numbers.iter().all(|number| *number < 8))
}

fn class_table(node: &Node<'_>) -> TrafficClassTable {
    match node.text() {
        Some("stream-reservation") => TrafficClassTable::STREAM_RESERVATION,
        Some("identity") => TrafficClassTable::IDENTITY,
        _ => numbers(node).map_or(TrafficClassTable::RECOMMENDED, TrafficClassTable::from_numbers),
    }
}

fn classes(layers: &[&Node<'_>], faults: &mut Faults) -> ([ClassSettings; 8], Places) {
    let sections: Vec<&Node<'_>> = layers.iter().filter_map(|layer| layer.get("classes")).collect();
    let limits: Vec<&Node<'_>> = layers.iter().filter_map(|layer| layer.get("queue-limit")).collect();
    let mut places = Places::default();
    let classes = std::array::from_fn(|number| {
        let name = ["0", "1", "2", "3", "4", "5", "6", "7"][number];
        let entries: Vec<&Node<'_>> = sections.iter().filter_map(|section| section.get(name)).collect();
        let own: Vec<&Node<'_>> = entries.iter().filter_map(|entry| entry.get("queue-limit")).collect();
        let limit = |key: &str| layered(&own, key).or_else(|| layered(&limits, key));
        let octets = limit("octets");
        places.limits[number] = octets.map(|node| node.place);
        places.frames[number] = limit("frames").map(|node| node.place);
        let limit = |key: &str| limit(key).and_then(Node::text);
        let slope = layered(&entries, "idle-slope");
        places.idle_slopes[number] = slope.map(|node| node.place);
        let stated = layered(&entries, "transmission-selection");
        let word = stated.and_then(Node::text);
        let selection = match word {
            Some("credit-based") => credit_based(slope, &entries, faults),
            Some("ats") => TransmissionSelection::Ats,
            _ => TransmissionSelection::StrictPriority,
        };
        let is_readable = stated.is_none() || word.is_some();
        if let (Some(slope), Some("ats" | "strict-priority") | None) = (slope, word)
            && is_readable
        {
            let message = format!("class {number} is not credit-based and has no idleSlope");
            let help = "add `transmission-selection: credit-based`, or remove `idle-slope`";
            faults.error(codes::CONFLICT, slope.place, message, help);
        }
        ClassSettings {
            selection,
            limit_frames: limit("frames").and_then(|text| text.parse().ok()).unwrap_or(1_024),
            discards_oldest: limit("discard") == Some("oldest"),
            limit_octets: octets
                .and_then(Node::text)
                .and_then(|text| text.parse().ok())
                .unwrap_or(Bytes::new(2 << 20)),
        }
    });
    (classes, places)
}

fn credit_based(
    slope: Option<&Node<'_>>,
    entries: &[&Node<'_>],
    faults: &mut Faults,
) -> TransmissionSelection {
    let place = layered(entries, "transmission-selection").map(|node| node.place);
    let rate: Option<BitRate> = slope.and_then(|node| node.text()?.parse().ok());
    if let (None, Some(place)) = (slope, place) {
        let message = "a credit-based class needs its idleSlope".to_owned();
        faults.error(codes::NO_IDLE_SLOPE, place, message, "add `idle-slope: 40 Mbit/s`");
    }
    TransmissionSelection::CreditBased { idle_slope: rate.unwrap_or(BitRate::from_bps(1)) }
}

fn shared_buffer(node: &Node<'_>, faults: &mut Faults) -> Option<SharedBuffer> {
    let mut reserved = [0; 8];
    for (key, value) in node.get("reserved").map_or(&[][..], Node::entries) {
        let class: Option<usize> = key.text.parse().ok();
        if let (Some(class @ 0..=7), Some(cells)) = (class, value.text().and_then(|text| text.parse().ok())) {
            reserved[class] = cells;
        }
    }
    let buffer = SharedBuffer { cell: node.parsed("cell")?, cells: node.parsed("cells")?, reserved };
    let set_aside: u64 = buffer.reserved.iter().map(|cells| u64::from(*cells)).sum();
    if set_aside > u64::from(buffer.cells) {
        let place = node.get("reserved").map_or(node.anchor(), Node::anchor);
        let message = format!(
            "{set_aside} cells are reserved for classes, more than the {} of the buffer",
            buffer.cells
        );
        faults.error(codes::BUFFER, place, message, "raise `cells`, or reserve fewer");
    }
    Some(buffer)
}
