//! `harts.admission:`: the ACMaster, the streams of control messages, and the requests.

use tautwire_core::Priority;
use tautwire_units::{BitRate, Bytes, Duration};
use tautwire_wire::MacAddress;

use crate::frame::wire_bits;
use crate::harts::Harts;
use crate::harts::admission::{AdmissionRequest, ConsumerRequest, DecidesBy, HartsAdmission};
use crate::harts::codes;
use crate::harts::request::inexpressible;
use crate::network::{ArrivalCurve, Delay, NodeIndex, NodeKind, PortIndex, Stream, StreamIndex};
use crate::resolve::control_frames::ControlFrames;
use crate::resolve::models::delay;
use crate::resolve::streams::Streams;
use crate::resolve::topology::Topology;
use crate::test_growth::TestGrowth;
use crate::text::faults::Faults;
use crate::text::tree::Node;

/// Destination of control messages: a group address of the project's own, because no address is published for them.
const CONTROL_ADDRESS: MacAddress = MacAddress([0x03, 0x46, 0x54, 0x54, 0x00, 0x02]);
/// Every control message fits the least payload of a frame without a tag.
const PAYLOAD: Bytes = Bytes::new(46);
/// Nodes, and streams, that control messages can name.
const IDENTIFIERS_MAX: usize = 60_000;
/// The class of control messages at end stations.
pub(crate) const PRIORITY: u8 = 6;

/// Reads `admission` of `node` (`harts:`). Adds a stream of control messages for every port with a cable.
pub(crate) fn admission(
    node: &Node<'_>,
    harts: &Harts,
    topology: &Topology<'_>,
    streams: &mut Streams<'_, '_>,
    faults: &mut Faults,
) -> Option<HartsAdmission> {
    let node = node.get("admission")?;
    let mut switch = |key: &str| -> Option<NodeIndex> {
        let named = node.get(key)?;
        let found = topology.node(named.text()?, named.place, faults)?;
        if !matches!(topology.nodes[found.index()].kind, NodeKind::Bridge { .. }) {
            let message = format!("`{}` is no bridge", topology.nodes[found.index()].name);
            faults.error(
                codes::NODE_TYPE,
                named.place,
                message,
                "name a bridge: an ACMaster is part of a switch",
            );
        }
        Some(found)
    };
    let (master, standby) = (switch("master")?, switch("standby"));
    if let Some(named) = node.get("standby").filter(|_| standby == Some(master)) {
        let message = format!(
            "`{}` is the switch of both the ACMaster and its standby",
            topology.nodes[master.index()].name
        );
        let help = "remove `standby`, or name another bridge";
        faults.error(codes::HARTS_STREAM, named.place, message, help);
    }
    if topology.closes_loop(0..topology.links.len() / 2).is_some() {
        let message = "central admission needs a network without loops".to_owned();
        let help = "remove a cable: control messages need a unique path";
        faults.error(codes::HARTS_STREAM, node.anchor(), message, help);
    }
    if topology.nodes.len().max(streams.list.len()) > IDENTIFIERS_MAX {
        let message = format!("central admission supports at most {IDENTIFIERS_MAX} nodes and streams");
        faults.error(
            codes::HARTS_STREAM,
            node.anchor(),
            message,
            "remove some: control messages number them with 16 bits",
        );
    }
    let channel = channel(node, harts, faults);
    let span = |key: &str, otherwise: u64| node.parsed(key).unwrap_or(Duration::from_ms(otherwise));
    let (patience, alive) = (span("patience", 100), span("alive", 50));
    let mut requests: Vec<AdmissionRequest> = Vec::new();
    let mut consumers: Vec<ConsumerRequest> = Vec::new();
    for item in node.get("requests").map_or(&[][..], Node::items) {
        let Some(request) = request(item, harts, streams, faults) else { continue };
        if requests.iter().any(|known| known.stream == request.stream) {
            let message = "a stream is requested twice".to_owned();
            faults.error(codes::HARTS_STREAM, item.anchor(), message, "remove one of the requests");
        }
        streams.list[request.stream.index()].stream.started = false;
        let own = consumers_of(item, &request, topology, streams, faults);
        let first = own.iter().map(|consumer| consumer.at).min().unwrap_or(request.listeners_at);
        requests.push(AdmissionRequest { listeners_at: first, ..request });
        consumers.extend(own);
    }
    let mut taken = |key: &str| node.get(key).map_or(Delay::default(), |node| delay(node, faults));
    let mut admission = HartsAdmission {
        master,
        standby,
        decides_by: match node.get("decide-by").and_then(Node::text) {
            Some("bounds") => DecidesBy::Bounds,
            _ => DecidesBy::ResponseTime,
        },
        patience,
        alive,
        node: taken("node"),
        relay: taken("relay"),
        configure: taken("configure"),
        handling: taken("handling"),
        test: taken("test"),
        test_growth: growth(node, faults),
        channel,
        control: vec![None; topology.ports.len()],
        requests,
        consumers,
    };
    for number in 0..topology.ports.len() {
        if topology.ports[number].links.is_some() {
            let port = &topology.ports[number];
            let is_station = matches!(topology.nodes[port.node.index()].kind, NodeKind::EndStation { .. });
            // A bridge sends them by its servers.
            let priority = Priority::new(PRIORITY).expect("below eight");
            if is_station && topology.shapes(PortIndex::at(number), priority) {
                let message = format!(
                    "the class of control messages of `harts` is shaped at {}",
                    topology.port_name(PortIndex::at(number))
                );
                let help = format!("make the class of priority {PRIORITY} `strict-priority` there");
                faults.error(codes::CONFLICT, node.anchor(), message, help);
                return None;
            }
            admission.control[number] = Some(StreamIndex::at(streams.list.len() + streams.protocol.len()));
            let stream = control(topology, PortIndex::at(number), &admission, streams);
            streams.protocol.push(stream);
        }
    }
    Some(admission)
}

/// How the test grows.
fn growth(node: &Node<'_>, faults: &mut Faults) -> TestGrowth {
    let Some(stated) = node.get("test-by-links") else { return TestGrowth::default() };
    let step = |item: &Node<'_>| Some((item.parsed("links")?, item.parsed("per-mille")?));
    TestGrowth::new(stated.items().iter().filter_map(step).collect()).unwrap_or_else(|| {
        let message = "the steps of the test are not in order of rising `links`".to_owned();
        let help = "sort them by `links`, each once";
        faults.error(codes::HARTS_STREAM, stated.place, message, help);
        TestGrowth::default()
    })
}

/// The server of control messages.
fn channel(node: &Node<'_>, harts: &Harts, faults: &mut Faults) -> Option<u16> {
    let named = node.get("channel")?;
    let name = named.text()?;
    let found = harts.shared.iter().position(|known| known.name == name);
    let holds = wire_bits(PAYLOAD, false).bytes_ceil().get();
    let capacity = found.and_then(|place| harts.shared[place].config.capacity);
    let fault = match found {
        None => Some((format!("there is no server `{name}`"), "name a server under `servers`")),
        Some(_) if capacity.is_some_and(|capacity| u64::from(capacity) < holds) => Some((
            format!(
                "a control message of {holds} B on the wire exceeds the server's capacity and is never sent"
            ),
            "raise `capacity`",
        )),
        Some(place) if holds_streams(harts, place) => Some((
            format!("`{name}` has streams or other servers in it"),
            "name a server that carries control messages alone",
        )),
        Some(_) => None,
    };
    if let Some((message, help)) = fault {
        faults.error(codes::HARTS_SERVER, named.place, message, help);
    }
    found.and_then(|place| u16::try_from(place).ok())
}

/// Whether a shared server is that of streams or of other servers: then it might run out under them.
fn holds_streams(harts: &Harts, place: usize) -> bool {
    let is_it = |parent: Option<u16>| parent.is_some_and(|parent| usize::from(parent) == place);
    harts.reservations.iter().any(|reservation| is_it(reservation.server.parent))
        || harts.shared.iter().any(|shared| is_it(shared.config.parent))
}

fn request(
    item: &Node<'_>,
    harts: &Harts,
    streams: &Streams<'_, '_>,
    faults: &mut Faults,
) -> Option<AdmissionRequest> {
    let named = item.get("stream")?;
    let stream = streams.find(named, faults)?;
    let is_reserved = harts.reservations.iter().any(|reservation| reservation.stream == stream);
    if !is_reserved && harts.ftt.polled(stream).is_none() {
        let name = &streams.list[stream.index()].stream.name;
        let message = format!("`{name}` is requested and has no server that it could get");
        faults.error(
            codes::HARTS_STREAM,
            named.place,
            message,
            "list it under `reserve`, or, if it is synchronous, under `polled`",
        );
    }
    if let Some((what, help)) = inexpressible(harts, stream) {
        let message = format!("`{}` cannot be requested: {what}", streams.list[stream.index()].stream.name);
        faults.error(codes::HARTS_STREAM, named.place, message, help);
    }
    let (at, release_at) = (item.parsed("at").unwrap_or_default(), item.parsed("release-at"));
    given_back(item, at, release_at, "a stream", faults);
    Some(AdmissionRequest { stream, at, listeners_at: item.parsed("listeners-at").unwrap_or(at), release_at })
}

/// A stream is released after its request.
fn given_back(item: &Node<'_>, at: Duration, release_at: Option<Duration>, what: &str, faults: &mut Faults) {
    let Some(release) = release_at.filter(|release| *release <= at) else { return };
    let place = item.get("release-at").map_or(item.anchor(), |node| node.place);
    let message = format!("{what} is requested at {at} and released at {release}, which is not later");
    faults.error(codes::HARTS_STREAM, place, message, "make `release-at` later than `at`");
}

/// The listeners of a requested stream, each with the times of its request and its release.
fn consumers_of(
    item: &Node<'_>,
    request: &AdmissionRequest,
    topology: &Topology<'_>,
    streams: &Streams<'_, '_>,
    faults: &mut Faults,
) -> Vec<ConsumerRequest> {
    let stream = request.stream;
    let described = &streams.list[stream.index()].stream;
    let listener = |node: &NodeIndex| ConsumerRequest {
        stream,
        node: *node,
        at: request.listeners_at,
        release_at: None,
    };
    let mut consumers: Vec<ConsumerRequest> = described.listeners.iter().map(listener).collect();
    let mut named: Vec<NodeIndex> = Vec::new();
    for own in item.get("listeners").map_or(&[][..], Node::items) {
        let Some(name) = own.get("node") else { continue };
        let Some(node) = name.text().and_then(|text| topology.node(text, name.place, faults)) else {
            continue;
        };
        let twice = named.contains(&node);
        named.push(node);
        let Some(consumer) = consumers.iter_mut().find(|known| known.node == node).filter(|_| !twice) else {
            let (listener, stream) = (&topology.nodes[node.index()].name, &described.name);
            let message = if twice {
                format!("`{listener}` requests `{stream}` twice")
            } else {
                format!("`{listener}` is not a listener of `{stream}`")
            };
            let help = "name each listener of the stream once at most";
            faults.error(codes::HARTS_STREAM, name.place, message, help);
            continue;
        };
        consumer.at = own.parsed("at").unwrap_or(request.listeners_at);
        consumer.release_at = own.parsed("release-at");
        given_back(own, consumer.at, consumer.release_at, "a part of a stream", faults);
    }
    consumers
}

/// The control messages of a port: an end station sends each of its requests, and each release, once in its patience.
fn control(
    topology: &Topology<'_>,
    port: PortIndex,
    admission: &HartsAdmission,
    streams: &Streams<'_, '_>,
) -> Stream {
    let described = &topology.ports[port.index()];
    let own = admission.requests.iter().map(|request| {
        let stream = &streams.list[request.stream.index()].stream;
        let talks = stream.talker == described.node;
        // A talker is invited for each of several listeners, and notified to pause when the last one leaves.
        let parts = admission.consumers(request.stream);
        let extra = parts.filter(|part| stream.listeners.len() > 1 || part.release_at.is_some()).count();
        match (talks, stream.listeners.contains(&described.node)) {
            (true, _) => 1 + 2 * extra,
            (false, is_listener) => usize::from(is_listener),
        }
    });
    let is_bridge = matches!(topology.nodes[described.node.index()].kind, NodeKind::Bridge { .. });
    let messages = if is_bridge { None } else { Some(own.sum::<usize>().max(1) as u64 * 2) };
    let frame = wire_bits(PAYLOAD, false);
    let priority = Priority::new(PRIORITY).expect("below eight");
    let arrival = messages.and_then(|messages| {
        let rate = BitRate::per_period_ceil(frame * messages, admission.patience).ok()?;
        Some(ArrivalCurve { rate, burst: frame * (messages * 2) })
    });
    ControlFrames {
        protocol: "control",
        destination: CONTROL_ADDRESS,
        priority,
        payload_min: PAYLOAD,
        payload_max: PAYLOAD,
        arrival,
    }
    .to_neighbour(topology, port)
}
