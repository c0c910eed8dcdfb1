//! `gptp:`, and the streams of its messages.

use tautwire_core::Priority;
use tautwire_core::gptp::peer_delay;
use tautwire_units::{BitRate, Bytes, Duration};
use tautwire_wire::gptp::GPTP_ADDRESS;

use crate::frame::wire_bits;
use crate::gptp::codes;
use crate::gptp::{Gptp, GptpServo, GptpSettings};
use crate::network::{ArrivalCurve, Delay, NodeIndex, NodeKind, PortIndex, Stream, StreamIndex};
use crate::parse::Draft;
use crate::resolve::control_frames::ControlFrames;
use crate::resolve::models::delay;
use crate::resolve::streams::Streams;
use crate::resolve::topology::Topology;
use crate::resolve::{layered, priority};
use crate::text::faults::Faults;
use crate::text::scalar;
use crate::text::tree::Node;

/// Octets of a message with its TLVs, except for an announce's path: the follow-up.
const MESSAGE: Bytes = Bytes::new(76);
/// Octets of an announce without its path, and of every system on it.
const ANNOUNCE: (u64, u64) = (68, 8);

/// The first priority of a node that is never grandmaster.
const NEVER: u8 = 255;

/// Reads `gptp:`. Adds a stream of messages for every port with a cable.
pub(crate) fn gptp(
    input: &Draft<'_>,
    topology: &Topology<'_>,
    streams: &mut Streams<'_, '_>,
    faults: &mut Faults,
) -> Option<Gptp> {
    let node = input.root.get("gptp")?;
    if let Some(tdma) = input.root.get("tdma") {
        let message = "gPTP and time division multiple access exclude each other".to_owned();
        faults.error(codes::GPTP, tdma.anchor(), message, "remove one of the two keys");
    }
    let log = |key: &str, default: i8| node.parsed(key).unwrap_or(default);
    let log_sync = log("log-sync-interval", -3);
    let settings = |number: usize| settings(node, NodeIndex::at(number), log_sync, topology, faults);
    let nodes: Vec<GptpSettings> = (0..topology.nodes.len()).map(settings).collect();
    if nodes.iter().map(|node| node.priority1).min() == Some(NEVER) {
        let message = format!("every node has a `priority1` of {NEVER}, so none can be grandmaster");
        faults.error(codes::GPTP, node.anchor(), message, "give a node a `priority1` of at most 254");
    }
    let mut gptp = Gptp {
        priority: priority(node, "priority").unwrap_or(Priority::new(7).expect("below eight")),
        log_sync,
        log_announce: log("log-announce-interval", 0),
        log_pdelay: log("log-pdelay-interval", 0),
        sample_interval: node.parsed("sample-interval").unwrap_or(Duration::from_ms(10)),
        servo: node.get("servo").map(|servo| read_servo(servo, input, faults)),
        nodes,
        messages: vec![None; topology.ports.len()],
        asymmetries: vec![0; topology.ports.len()],
    };
    asymmetries(node, &mut gptp, topology, faults);
    for (number, port) in topology.ports.iter().enumerate() {
        if port.links.is_none() {
            continue;
        }
        if topology.shapes(PortIndex::at(number), gptp.priority) {
            let message = format!(
                "the class of gPTP messages is shaped at {}",
                topology.port_name(PortIndex::at(number))
            );
            let help = "give `gptp` a `priority` whose class is `strict-priority`";
            faults.error(codes::GPTP, node.anchor(), message, help);
            return None;
        }
        gptp.messages[number] = Some(StreamIndex::at(streams.list.len() + streams.protocol.len()));
        streams.protocol.push(messages(topology, PortIndex::at(number), &gptp));
    }
    Some(gptp)
}

/// Parts of a chance that are a thousandth.
const THOUSANDTH: u64 = 1_000_000_000_000_000;

/// How clocks are corrected.
fn read_servo(node: &Node<'_>, input: &Draft<'_>, faults: &mut Faults) -> GptpServo {
    if let Some(timed) = input.root.get("time-triggered") {
        let message =
            "the clocks cannot follow gPTP and the network time of `time-triggered` at once".to_owned();
        faults.error(codes::GPTP, timed.anchor(), message, "remove `servo` or `time-triggered`");
    }
    let share = |key: &str, otherwise: u16| {
        let chance = node.get(key).and_then(|node| scalar::chance(node.text()?).ok());
        chance.map_or(otherwise, |chance| u16::try_from(chance / THOUSANDTH).expect("at most a thousand"))
    };
    let rate_max = node.get("rate-max").and_then(|node| scalar::deviation(node.text()?).ok());
    GptpServo {
        step_min: node.parsed("step-min").unwrap_or(Duration::from_us(20)),
        rate_max_ppb: rate_max.unwrap_or(200_000),
        proportional: share("proportional", 700),
        integral: share("integral", 300),
    }
}

/// What holds for a node: its own, then that of its kind.
fn settings(
    node: &Node<'_>,
    number: NodeIndex,
    log_sync: i8,
    topology: &Topology<'_>,
    faults: &mut Faults,
) -> GptpSettings {
    let described = &topology.nodes[number.index()];
    let kind = match described.kind {
        NodeKind::Bridge { .. } => "bridges",
        NodeKind::EndStation { .. } => "end-stations",
    };
    let own = node.get("nodes").and_then(|nodes| nodes.get(&described.name));
    let layers: Vec<&Node<'_>> = [own, node.get(kind)].into_iter().flatten().collect();
    let text = |key: &str| layered(&layers, key).and_then(Node::text);
    let octet = |key: &str, default: u8| text(key).and_then(|text| text.parse().ok()).unwrap_or(default);
    let span = |key: &str| text(key).and_then(|text| text.parse::<Duration>().ok());
    let stamp_quantum = span("stamp-quantum").unwrap_or_default();
    let sync = peer_delay::interval(log_sync);
    if let Some(stated) = layered(&layers, "stamp-quantum").filter(|_| stamp_quantum > sync) {
        let message =
            format!("time stamps have steps of {stamp_quantum}, longer than the sync interval of {sync}");
        let help = "make `stamp-quantum` at most the sync interval";
        faults.error(codes::GPTP, stated.place, message, help);
    }
    let mut time = |key: &str| layered(&layers, key).map_or(Delay::default(), |node| delay(node, faults));
    GptpSettings {
        domain: octet("domain", 0),
        priority1: octet("priority1", 246),
        priority2: octet("priority2", 248),
        delay_max: span("delay-max").unwrap_or(Duration::from_ns(800)),
        lost_max: octet("lost-max", 9).into(),
        stamp_quantum,
        stamp_error: time("stamp-error"),
        processing: time("processing"),
    }
}

/// The configured asymmetry of nodes' links.
fn asymmetries(node: &Node<'_>, gptp: &mut Gptp, topology: &Topology<'_>, faults: &mut Faults) {
    for (key, own) in node.get("nodes").map_or(&[][..], Node::entries) {
        let Some(number) = topology.node(&key.text, key.place, faults) else { continue };
        for (port, value) in own.get("asymmetries").map_or(&[][..], Node::entries) {
            let asymmetry = value.text().and_then(|text| scalar::signed_duration(text).ok());
            match (topology.port_named(number, &port.text), asymmetry) {
                (Some(port), Some(asymmetry)) => gptp.asymmetries[port.index()] = asymmetry.as_ps(),
                (None, _) => {
                    let message = format!("`{}` has no port `{}`", key.text, port.text);
                    faults.error(codes::UNKNOWN_PORT, port.place, message, "name one of its ports");
                }
                (_, None) => {}
            }
        }
    }
}

/// The messages of a port. Without faults a port sends, in the interval of each, a request, an answer in two messages, a sync in
/// two and an announce; the burst is two of each of both ends and the announces of two changes of master.
fn messages(topology: &Topology<'_>, port: PortIndex, gptp: &Gptp) -> Stream {
    let announce = Bytes::new(ANNOUNCE.0 + ANNOUNCE.1 * topology.nodes.len() as u64);
    let largest = MESSAGE.max(announce).min(Bytes::new(1_500));
    let frame = wire_bits(largest, false);
    let second = peer_delay::interval;
    let each =
        |frames: u64, log: i8| BitRate::per_period_ceil(frame * frames, second(log)).unwrap_or_default();
    let rate = each(3, gptp.log_pdelay)
        .saturating_add(each(2, gptp.log_sync))
        .saturating_add(each(1, gptp.log_announce));
    // Clocks of neighbours and processing: a thousandth more than the nominal rate.
    let rate = rate.saturating_add(BitRate::from_bps(rate.as_bps().div_ceil(1_000)));
    ControlFrames {
        protocol: "gptp",
        destination: GPTP_ADDRESS,
        priority: gptp.priority,
        payload_min: Bytes::new(46),
        payload_max: largest,
        arrival: Some(ArrivalCurve { rate, burst: frame * 14 }),
    }
    .to_neighbour(topology, port)
}
