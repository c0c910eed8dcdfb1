//! `lldp:` of a description, with the names of the YANG module ieee802-dot1ab-lldp, and the streams of the frames.
//!
//! A port promises a burst of as many frames as it has credits, again whenever its node comes back in the run, and a frame a second.

use std::sync::Arc;

use tautwire_core::Priority;
use tautwire_model::network::{ArrivalCurve, NodeIndex, NodeKind, PortIndex, StreamIndex};
use tautwire_model::section::{ControlFrames, Key, Kind, Moved, Node, Resolving, Section, Shape, Value};
use tautwire_model::wire_bits;
use tautwire_units::{BitRate, Bytes, Duration};

use crate::Lldp;
use crate::agent::{AdminStatus, PortConfig, Settings};
use crate::pdu::{Identifier, Lldpdu, NEAREST_BRIDGE};

const SECOND: Duration = Duration::from_s(1);
/// Least payload of a frame.
const PAYLOAD_MIN: Bytes = Bytes::new(46);

static KEY: Key = Key::optional(
    "lldp",
    Kind::Object(&LLDP),
    "The Link Layer Discovery Protocol (802.1AB) at every port; without this key ports send no LLDP frames.",
);

static LLDP: Shape = Shape {
    name: "LLDP",
    about: "Every port sends its identity to its neighbour and learns the neighbour's. Times are full seconds of the node's clock.",
    keys: &[&[PRIORITY, INTERVAL, HOLD, FAST, FAST_INIT, CREDIT_MAX, STATUS, NODES]],
};

/// A key whose values are a number of seconds that fits its timer.
const fn integral_seconds(name: &'static str, about: &'static str) -> Key {
    Key::optional(name, Kind::Duration, about).at_least("1 s").at_most("3600 s").in_steps_of("1 s")
}

const PRIORITY: Key = Key::optional(
    "priority",
    Kind::Integer(0, 7),
    "Priority of its frames, which determines their traffic class at every port.",
)
.or("7");
const INTERVAL: Key = integral_seconds("message-tx-interval", "Interval of frames.").or("30 s");
const HOLD: Key = Key::optional(
    "message-tx-hold-multiplier",
    Kind::Integer(2, 10),
    "Number of these intervals for which a neighbour is stored, plus a second.",
)
.or("4");
const FAST: Key =
    integral_seconds("message-fast-tx", "Interval of frames while a neighbour is new.").or("1 s");
const FAST_INIT: Key =
    Key::optional("tx-fast-init", Kind::Integer(1, 8), "Number of frames in the short interval.").or("4");
const CREDIT_MAX: Key = Key::optional(
    "tx-credit-max",
    Kind::Integer(1, 10),
    "Number of frames that a port may send at once; credit returns at one frame per second.",
)
.or("5");
const NODES: Key = Key::optional("nodes", OF_NODES, "Settings of single nodes.");
const OF_NODES: Kind = Kind::Names(&Kind::Object(&NODE));

static NODE: Shape = Shape {
    name: "a node in LLDP",
    about: "Settings of a node's ports.",
    keys: &[&[
        OWN_STATUS,
        Key::optional("ports", Kind::Names(&Kind::Object(&PORT)), "Settings of single ports."),
    ]],
};

static PORT: Shape = Shape { name: "a port in LLDP", about: "Settings of a port.", keys: &[&[OWN_STATUS]] };

const STATUS: Key = Key::optional(
    "admin-status",
    Kind::Word(&["tx-and-rx", "tx-only", "rx-only", "disabled"]),
    "Whether a port sends (tx) and receives (rx) LLDP frames.",
)
.or("tx-and-rx");

const OWN_STATUS: Key = Key::optional(
    "admin-status",
    STATUS.kind,
    "The same for this node or port; by default that of the level above.",
);

/// LLDP of a network.
#[derive(Clone, Debug, PartialEq)]
pub struct LldpSection {
    /// Parameters of all ports.
    pub settings: Settings,
    /// Per port of the network; none without a cable.
    pub ports: Vec<Option<LldpPort>>,
}

/// A port with a cable.
#[derive(Clone, Debug, PartialEq)]
pub struct LldpPort {
    /// What its agent begins with.
    pub config: PortConfig,
    /// The stream of its frames, if it sends.
    pub stream: Option<StreamIndex>,
}

impl Moved for LldpSection {
    fn moved(&self, place: &[Option<StreamIndex>]) -> Option<Self> {
        let mut moved = self.clone();
        for port in moved.ports.iter_mut().flatten() {
            if let Some(stream) = &mut port.stream {
                *stream = place[stream.index()]?;
            }
        }
        Some(moved)
    }
}

impl Section for Lldp {
    fn key(&self) -> &'static Key {
        &KEY
    }

    fn resolve(&self, node: &Node<'_>, draft: &mut Resolving<'_, '_, '_>) -> Option<Arc<dyn Value>> {
        let settings = settings(node);
        let statuses = statuses(node, draft);
        let priority = Priority::new(node.read(&PRIORITY)).expect("below eight, by its form");
        let mut ports = Vec::with_capacity(draft.ports().len());
        for (number, status) in statuses.into_iter().enumerate() {
            let port = PortIndex::at(number);
            if draft.ports()[number].links.is_none() {
                ports.push(None);
                continue;
            }
            let config = PortConfig { status, local: local_lldpdu(draft, port, settings) };
            let stream = if status.sends() {
                let frames = frames(draft, port, &config, (settings, priority));
                Some(draft.send_to_neighbour(port, &frames, node.anchor())?)
            } else {
                None
            };
            ports.push(Some(LldpPort { config, stream }));
        }
        if ports.iter().flatten().all(|port| port.config.status == AdminStatus::Disabled) {
            draft.no_effect(
                node.anchor(),
                "LLDP that no port takes part in".to_owned(),
                "give ports with a cable another `admin-status`, or remove `lldp`",
            );
        }
        Some(Arc::new(LldpSection { settings, ports }))
    }

    fn draw(&self, seed: u64) -> String {
        crate::draw::draw(seed)
    }
}

fn settings(node: &Node<'_>) -> Settings {
    let seconds = |key: &Key| {
        let stated: Duration = node.read(key);
        u16::try_from(stated.as_ps() / SECOND.as_ps()).expect("at most 3600, by its form")
    };
    Settings {
        interval: seconds(&INTERVAL),
        fast: seconds(&FAST),
        hold: node.read(&HOLD),
        fast_init: node.read(&FAST_INIT),
        credit_max: node.read(&CREDIT_MAX),
    }
}

/// The status of every port: its own, its node's, or that of all.
fn statuses(node: &Node<'_>, draft: &mut Resolving<'_, '_, '_>) -> Vec<AdminStatus> {
    let status = |node: &Node<'_>| {
        Some(match node.get("admin-status")?.text()? {
            "tx-only" => AdminStatus::TxOnly,
            "rx-only" => AdminStatus::RxOnly,
            "disabled" => AdminStatus::Disabled,
            _ => AdminStatus::TxAndRx,
        })
    };
    let all = status(node).unwrap_or_default();
    let mut statuses = vec![all; draft.ports().len()];
    for (key, own) in node.get("nodes").map_or(&[][..], Node::entries) {
        let Some(number) = draft.node(key) else { continue };
        if let Some(status) = status(own) {
            for port in draft.nodes()[number.index()].ports.clone() {
                statuses[port as usize] = status;
            }
        }
        for (key, own) in own.get("ports").map_or(&[][..], Node::entries) {
            if let (Some(port), Some(status)) = (draft.port(number, key), status(own)) {
                statuses[port.index()] = status;
            }
        }
    }
    statuses
}

/// The information that a port sends.
fn local_lldpdu(draft: &Resolving<'_, '_, '_>, port: PortIndex, settings: Settings) -> Lldpdu {
    let described = &draft.ports()[port.index()];
    let node = &draft.nodes()[described.node.index()];
    let kind = match node.kind {
        NodeKind::Bridge { .. } => Lldpdu::BRIDGE,
        NodeKind::EndStation { .. } => Lldpdu::STATION_ONLY,
    };
    Lldpdu {
        chassis: Identifier::chassis(draft.ports()[node.ports.start as usize].address),
        port: Identifier::interface(&described.name),
        time_to_live: settings.time_to_live(),
        system_name: Some(node.name.clone()),
        capabilities: Some((kind, kind)),
    }
}

/// The frames of a port.
fn frames(
    draft: &Resolving<'_, '_, '_>,
    port: PortIndex,
    config: &PortConfig,
    (settings, priority): (Settings, Priority),
) -> ControlFrames {
    let payload = Bytes::new(config.local.emit().len() as u64).max(PAYLOAD_MIN);
    let frame = wire_bits(payload, false);
    let node: NodeIndex = draft.ports()[port.index()].node;
    let fast = u64::from(draft.nodes()[node.index()].clock.tolerance_ppb);
    let rate = BitRate::per_period_ceil(frame, SECOND).expect("a second is no empty period").fastest(fast);
    // A second more of the clock than of the time that is looked at, and those by which its steps make seconds come together.
    let steps = draft.nodes()[node.index()].clock.granularity.as_ps().div_ceil(SECOND.as_ps());
    let at_once = u64::from(settings.credit_max) * (1 + draft.returns(node)) + 1 + steps;
    ControlFrames {
        protocol: "lldp",
        destination: NEAREST_BRIDGE,
        priority,
        payload_min: PAYLOAD_MIN,
        payload_max: payload,
        arrival: Some(ArrivalCurve { rate, burst: frame * at_once }),
    }
}
