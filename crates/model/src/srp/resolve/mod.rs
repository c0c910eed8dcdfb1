//! `stream-reservation:`, `reservation` of streams, and the streams of MRPDUs.

pub(crate) mod reserved_class;
mod vlan_registration;

use tautwire_core::Priority;
use tautwire_core::srp::mrp::{JoinRule, MrpTiming};
use tautwire_core::srp::{AddressTable, SrClass};
use tautwire_units::{BitRate, Bytes, Duration};
use tautwire_wire::MacAddress;
use tautwire_wire::srp::{DomainValue, Rank, StreamId, TalkerValue};

use super::pace;
use super::{ReservedStream, SrpNode, StreamReservation, Tick};
use crate::central;
use crate::frame::wire_bits;
use crate::network::{ArrivalCurve, Delay, NodeIndex, NodeKind, Port, PortIndex, Stream, StreamIndex};
use crate::parse::Draft;
use crate::resolve::control_frames::ControlFrames;
use crate::resolve::models::delay;
use crate::resolve::streams::{StreamDraft, Streams};
use crate::resolve::topology::Topology;
use crate::resolve::{layered, priority};
use crate::srp::codes;
use crate::text::faults::Faults;
use crate::text::scalar;
use crate::text::tree::Node;

/// Destination of MSRP's MRPDUs: the group address of nearest bridges.
const MSRP_ADDRESS: MacAddress = MacAddress([0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e]);
/// Most octets of an MRPDU.
const PDU_MAX: Bytes = Bytes::new(1_500);
/// Least payload of a frame without a tag.
const PAYLOAD_MIN: Bytes = Bytes::new(46);

/// The default destination of a reserved stream: a group address for streams (IEEE Std 1722), such that consecutive
/// streams have consecutive addresses.
pub(crate) fn destination(number: usize) -> MacAddress {
    let [_, _, a, b] = StreamIndex::at(number).0.to_be_bytes();
    MacAddress([0x91, 0xe0, 0xf0, 0, a, b])
}

/// Reads `stream-reservation:` and the streams' reservations; routes are found. Adds a stream of MRPDUs for every port with a cable.
pub(crate) fn reservation(
    input: &Draft<'_>,
    topology: &Topology<'_>,
    streams: &mut Streams<'_, '_>,
    faults: &mut Faults,
) -> Option<StreamReservation> {
    let Some(node) = input.root.get("stream-reservation") else {
        for draft in streams.list.iter().filter(|draft| draft.node.get("reservation").is_some()) {
            let message =
                "the stream has a reservation, and the network has no `stream-reservation`".to_owned();
            let help = "add `stream-reservation: {}` to the description";
            faults.error(codes::RESERVED_STREAM, draft.place("reservation"), message, help);
        }
        return None;
    };
    if let Some(tdma) = input.root.get("tdma") {
        let message = "stream reservation and time division multiple access exclude each other".to_owned();
        faults.error(codes::RESERVATION, tdma.anchor(), message, "remove one of the two keys");
    }
    loops(node, topology, faults);
    let classes = classes(node, faults);
    order(node, &classes, topology, faults);
    let nodes: Vec<SrpNode> = (0..topology.nodes.len())
        .map(|number| settings(node, NodeIndex::at(number), topology, faults))
        .collect();
    unknown_nodes(node, topology, faults);
    let priority = priority(node, "priority").unwrap_or(Priority::new(7).expect("below eight"));
    strict(node, priority, topology, faults);
    let reserved = reserved(&classes, streams, faults);
    let ends: Vec<(usize, Vec<usize>)> = reserved
        .iter()
        .map(|reserved| &streams.list[reserved.stream.index()].stream)
        .map(|stream| (stream.talker.index(), stream.listeners.iter().map(|node| node.index()).collect()))
        .collect();
    let model = central::resolve::Model::of(node);
    if model != central::resolve::Model::FullyCentralized {
        pace::check(node, topology, &nodes, &reserved, &ends, faults);
    }
    let mut pdus = vec![None; topology.ports.len()];
    for (number, port) in topology.ports.iter().enumerate() {
        if port.links.is_some() && model.speaks_msrp(topology, PortIndex::at(number)) {
            let stream = pdu_stream(topology, PortIndex::at(number), priority, &nodes[port.node.index()]);
            pdus[number] = Some(StreamIndex::at(streams.list.len() + streams.protocol.len()));
            streams.protocol.push(stream);
        }
    }
    let vlan_registration =
        vlan_registration::read(node, topology, streams, &reserved, &nodes, priority, faults);
    if let Some(section) = node.get("mvrp").filter(|_| model == central::resolve::Model::FullyCentralized) {
        let message = "end stations send no MVRP where a CUC acts for them".to_owned();
        faults.error(
            codes::VLAN_REGISTRATION,
            section.anchor(),
            message,
            "remove `mvrp`, or choose another `model`",
        );
    }
    let central = central::resolve::central(node, model, topology, streams, &ends, priority, faults);
    Some(StreamReservation { classes, priority, nodes, pdus, vlan_registration, streams: reserved, central })
}

/// MSRP follows an active topology without loops; here that is the complete topology.
fn loops(node: &Node<'_>, topology: &Topology<'_>, faults: &mut Faults) {
    if let Some(cable) = topology.closes_loop(0..topology.links.len() / 2) {
        let place = topology.port_name(topology.links[2 * cable].from);
        let message = format!(
            "the cable at {place} closes a loop, in which MRP would propagate registrations without end"
        );
        let help = "with `stream-reservation`, describe a topology without loops";
        faults.error(codes::RESERVATION, node.anchor(), message, help);
    }
}

fn classes(node: &Node<'_>, faults: &mut Faults) -> Vec<SrClass> {
    let Some(list) = node.get("classes") else { return vec![SrClass::a(), SrClass::b()] };
    let mut classes: Vec<SrClass> = Vec::new();
    for item in list.items() {
        let letter = item.get("class").and_then(Node::text).and_then(|text| text.bytes().next());
        let (Some(letter), Some(priority), Some(interval)) =
            (letter, item.parsed::<u8>("priority"), item.parsed::<Duration>("interval"))
        else {
            continue;
        };
        // Table 35-7: A is 6, B is 5.
        let domain = DomainValue {
            class: (b'A' + 6).saturating_sub(letter),
            priority,
            vlan: item.parsed("vlan").unwrap_or(2),
        };
        let delta_percent = item.parsed("delta-bandwidth").unwrap_or(0);
        let class = SrClass { domain, interval, delta_percent };
        let same = |other: &SrClass| other.domain.class == domain.class || other.domain.priority == priority;
        let sum: u32 = classes.iter().chain([&class]).map(|class| u32::from(class.delta_percent)).sum();
        let fault = if classes.iter().any(same) {
            Some((
                "two SR classes have the same letter or priority".to_owned(),
                "give every class a different letter and priority",
            ))
        } else if sum > 100 {
            Some((
                format!("the SR classes may use {sum} % of a port, more than all of it"),
                "lower `delta-bandwidth`",
            ))
        } else {
            None
        };
        if let Some((message, help)) = fault {
            faults.error(codes::RESERVATION, item.anchor(), message, help);
        } else if sum == 0 {
            let message = format!(
                "class {} may use nothing of a port, so every request for it is refused: its `delta-bandwidth` and that of the classes before it is 0 %",
                char::from(letter)
            );
            let help = "give it a `delta-bandwidth`, such as 75 to the first class";
            faults.warning(codes::RESERVATION_EMPTY, item.anchor(), message, help);
        }
        classes.push(class);
    }
    classes
}

/// A class may use what those before it leave: at every port it is behind them.
fn order(node: &Node<'_>, classes: &[SrClass], topology: &Topology<'_>, faults: &mut Faults) {
    let of = |port: &Port, class: &SrClass| {
        let priority = Priority::new(class.domain.priority).expect("below eight");
        port.class_table.class_of(priority, true)
    };
    let cabled = || topology.ports.iter().enumerate().filter(|(_, port)| port.links.is_some());
    for (pair, number) in classes.windows(2).zip(1..) {
        let behind = |port: &Port| of(port, &pair[1]) <= of(port, &pair[0]);
        let Some((port, described)) = cabled().find(|(_, port)| !behind(port)) else { continue };
        let place = node.get("classes").and_then(|list| list.items().get(number));
        let message = format!(
            "at {} the SR class of priority {} has traffic class {}, not below that of the class before it, which has priority {} and traffic class {}",
            topology.port_name(PortIndex::at(port)),
            pair[1].domain.priority,
            of(described, &pair[1]).number(),
            pair[0].domain.priority,
            of(described, &pair[0]).number(),
        );
        let help = "list SR classes from the highest traffic class to the lowest";
        faults.error(codes::RESERVATION, place.map_or(node.anchor(), Node::anchor), message, help);
    }
}

/// What holds for a node: its own, then that of its kind.
fn settings(node: &Node<'_>, number: NodeIndex, topology: &Topology<'_>, faults: &mut Faults) -> SrpNode {
    let described = &topology.nodes[number.index()];
    let kind = match described.kind {
        NodeKind::Bridge { .. } => "bridges",
        NodeKind::EndStation { .. } => "end-stations",
    };
    let own = node.get("nodes").and_then(|nodes| nodes.get(&described.name));
    let layers: Vec<&Node<'_>> = [own, node.get(kind)].into_iter().flatten().collect();
    let span =
        |key: &str| layered(&layers, key).and_then(Node::text).and_then(|text| text.parse::<Duration>().ok());
    let count = |key: &str| {
        layered(&layers, key).and_then(Node::text).and_then(|text| text.parse().ok()).unwrap_or(65_535_u32)
    };
    let default = MrpTiming::default();
    let timing = MrpTiming {
        join: span("join-time").unwrap_or(default.join),
        leave: span("leave-time").unwrap_or(default.leave),
        leave_all: span("leave-all-time").unwrap_or(default.leave_all),
        periodic: span("periodic-time"),
        rule: span("join-delay").map_or(JoinRule::AtOnce, JoinRule::After),
        repeat: span("repeat-time").unwrap_or(default.repeat),
    };
    if timing.leave <= timing.join * 2 || timing.leave_all <= timing.leave {
        let message = format!(
            "`{}` has a JoinTime of {}, a LeaveTime of {} and a LeaveAllTime of {}, which do not fit together",
            described.name, timing.join, timing.leave, timing.leave_all
        );
        let help = "make LeaveTime more than two JoinTimes, and LeaveAllTime longer than LeaveTime";
        let place = layers.first().map_or(node.anchor(), |layer| layer.anchor());
        faults.error(codes::RESERVATION, place, message, help);
    } else if timing.repeat >= timing.leave {
        // A declaration that is sent once may be lost: it would lapse before it is repeated.
        let message = format!(
            "`{}` repeats its declarations after {}, not before the LeaveTime of {} ends",
            described.name, timing.repeat, timing.leave
        );
        let place = layered(&layers, "repeat-time").map_or(node.anchor(), Node::anchor);
        faults.error(codes::RESERVATION, place, message, "make `repeat-time` shorter than `leave-time`");
    }
    let mut time = |key: &str| layered(&layers, key).map_or(Delay::default(), |node| delay(node, faults));
    SrpNode {
        timing,
        tick: span("tick").map(|period| Tick {
            period,
            restarts: layered(&layers, "tick-restarts")
                .and_then(Node::text)
                .and_then(scalar::flag)
                .unwrap_or(false),
        }),
        processing: time("processing"),
        talker_processing: time("talker-processing"),
        listener_processing: time("listener-processing"),
        streams_max: count("streams-max"),
        reservations_max: count("reservations-max"),
        fan_in_max: count("fan-in-max"),
        addresses: AddressTable {
            addresses_max: count("addresses-max") as usize,
            buckets: layered(&layers, "address-buckets")
                .and_then(Node::text)
                .and_then(|text| text.parse().ok())
                .unwrap_or(1),
            depth: count("address-depth") as usize,
        },
        device_latency: span("device-latency").unwrap_or_default(),
    }
}

fn unknown_nodes(node: &Node<'_>, topology: &Topology<'_>, faults: &mut Faults) {
    for (key, _) in node.get("nodes").map_or(&[][..], Node::entries) {
        // Only for its fault.
        let _ = topology.node(&key.text, key.place, faults);
    }
}

/// MRPDUs are never shaped.
fn strict(node: &Node<'_>, priority: Priority, topology: &Topology<'_>, faults: &mut Faults) {
    for (number, _) in topology.ports.iter().enumerate().filter(|(_, port)| port.links.is_some()) {
        let port = PortIndex::at(number);
        if topology.shapes(port, priority) {
            let message = format!("the class of MRPDUs is shaped at {}", topology.port_name(port));
            let help = "give `stream-reservation` a `priority` whose class is `strict-priority`";
            faults.error(codes::RESERVATION, node.anchor(), message, help);
            return;
        }
    }
}

/// The streams with a reservation. Those of a talker have identifiers that follow each other.
fn reserved(classes: &[SrClass], streams: &mut Streams<'_, '_>, faults: &mut Faults) -> Vec<ReservedStream> {
    let mut reserved: Vec<ReservedStream> = Vec::new();
    let mut counts: std::collections::BTreeMap<NodeIndex, u16> = std::collections::BTreeMap::new();
    for (number, draft) in streams.list.iter_mut().enumerate() {
        let Some(node) = draft.node.get("reservation") else { continue };
        draft.stream.started = false;
        let unique = counts.entry(draft.stream.talker).or_insert(0);
        *unique = unique.wrapping_add(1);
        if let Some(value) = talker_value(draft, node, classes, *unique, faults) {
            reserved.push(requests(StreamIndex::at(number), draft, node, value, faults));
        }
    }
    reserved
}

fn talker_value(
    draft: &StreamDraft<'_, '_>,
    node: &Node<'_>,
    classes: &[SrClass],
    unique: u16,
    faults: &mut Faults,
) -> Option<TalkerValue> {
    let stream = &draft.stream;
    let mut fault = |key: &str, message: String, help: &str| {
        faults.error(codes::RESERVED_STREAM, draft.place(key), message, help);
    };
    let class = classes.iter().find(|class| class.domain.priority == stream.priority.number());
    let Some(class) = class else {
        let message =
            format!("the stream is reserved, and no SR class has its priority {}", stream.priority.number());
        fault("priority", message, "give the stream the priority of an SR class, such as 3 for class A");
        return None;
    };
    if !stream.tagged || stream.learned || stream.virtual_link.is_some() {
        let message = "a reserved stream must be tagged, and cannot be a virtual link or use a learned route"
            .to_owned();
        fault("reservation", message, "remove `tagged: false`, `virtual-link` and `route: learned`");
        return None;
    }
    let by_traffic = || stream.interval_frames(class.interval).and_then(|frames| u16::try_from(frames).ok());
    let frames = node.parsed("frames-per-interval").or_else(by_traffic);
    let Some(interval_frames_max) = frames else {
        let message = "MaxIntervalFrames does not follow from this type of traffic".to_owned();
        fault("reservation", message, "add `frames-per-interval`");
        return None;
    };
    let rank = node.get("rank").and_then(Node::text);
    Some(TalkerValue {
        stream: StreamId { source: stream.source, unique },
        destination: stream.destination,
        vlan: stream.vlan.number(),
        frame_size_max: u16::try_from(stream.payload_max.get()).unwrap_or(u16::MAX),
        interval_frames_max,
        priority: stream.priority.number(),
        rank: if rank == Some("emergency") { Rank::Emergency } else { Rank::NonEmergency },
        accumulated_latency_ns: 0,
    })
}

fn requests(
    stream: StreamIndex,
    draft: &StreamDraft<'_, '_>,
    node: &Node<'_>,
    talker: TalkerValue,
    faults: &mut Faults,
) -> ReservedStream {
    let listeners = draft.stream.listeners.len();
    // Of each listener; `never` is none.
    let mut times = |key: &str, otherwise: Option<Duration>| -> Vec<Option<Duration>> {
        let stated = node.get(key).map_or(&[][..], Node::items_or_self);
        let time = |item: &Node<'_>| item.text().and_then(|text| text.parse().ok());
        match stated {
            [] => vec![otherwise; listeners],
            [all] => vec![time(all); listeners],
            _ => {
                if stated.len() != listeners {
                    let message = format!("{} times are stated for {listeners} listeners", stated.len());
                    let help = "state one time for all listeners, or one for each";
                    faults.error(codes::RESERVED_STREAM, draft.place("reservation"), message, help);
                }
                stated.iter().map(time).chain(core::iter::repeat(otherwise)).take(listeners).collect()
            }
        }
    };
    let attach_at: Vec<Duration> =
        times("attach-at", Some(Duration::ZERO)).into_iter().map(Option::unwrap_or_default).collect();
    let detach_at = times("detach-at", None);
    let latency_max: Option<Duration> = node.parsed("latency-max");
    let advertise_at = node.parsed("advertise-at").unwrap_or_default();
    let withdraw_at: Option<Duration> = node.parsed("withdraw-at");
    let offered = [("advertise-at", advertise_at, "withdraw-at", withdraw_at)];
    let asked = attach_at.iter().zip(&detach_at).map(|(at, until)| ("attach-at", *at, "detach-at", *until));
    let wrong = |(.., at, _, until): &(&str, Duration, &str, Option<Duration>)| {
        until.is_some_and(|until| until <= *at)
    };
    // One fault of each kind.
    for (from, at, to, until) in offered.into_iter().filter(wrong).chain(asked.clone().find(wrong)) {
        let place = node.get(to).map_or(node.anchor(), |node| node.place);
        let message = format!("`{to}` of {} is not later than `{from}` of {at}", until.unwrap_or_default());
        faults.error(codes::RESERVED_STREAM, place, message, format!("make `{to}` later than `{from}`"));
    }
    ReservedStream {
        stream,
        talker,
        latency_max_ns: latency_max
            .map_or(u32::MAX, |latency| u32::try_from(latency.as_ps() / 1_000).unwrap_or(u32::MAX)),
        advertise_at,
        withdraw_at,
        attach_at,
        detach_at,
        when_offered: node.get("ask").and_then(Node::text) == Some("when-offered"),
    }
}

/// The MRPDUs of a port: at most three in one and a half join times.
fn pdu_stream(topology: &Topology<'_>, port: PortIndex, priority: Priority, settings: &SrpNode) -> Stream {
    let burst = wire_bits(PDU_MAX, false) * 3;
    // Rounded down: the rate becomes the greater.
    let window = Duration::from_ps((settings.timing.join.as_ps() / 2).saturating_mul(3).max(1));
    ControlFrames {
        protocol: "msrp",
        destination: MSRP_ADDRESS,
        priority,
        payload_min: PAYLOAD_MIN,
        payload_max: PDU_MAX,
        arrival: BitRate::per_period_ceil(burst, window).ok().map(|rate| ArrivalCurve { rate, burst }),
    }
    .to_neighbour(topology, port)
}
