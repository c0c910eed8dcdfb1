//! Streams as the description and its tables list them, before their routes are found.

use std::collections::HashMap;

use tautwire_core::Priority;
use tautwire_units::{BitRate, Bytes, Duration};
use tautwire_wire::{MacAddress, VlanId};

use super::topology::Topology;
use super::traffic;
use super::vlans::Vlans;
use crate::frame::{HEADER_AND_FCS, PAYLOAD_MAX, TAG, frame_length};
use crate::network::{NodeIndex, PortIndex, ShaperSettings, Stream, StreamIndex, Traffic, UdpFlow};
use crate::parse::Draft;
use crate::text::faults::{Faults, did_you_mean};
use crate::text::language::COVERING;
use crate::text::tree::{Node, Place};
use crate::text::{codes, scalar};
use crate::{gates, srp, time_triggered, virtual_link};

/// IPv4 header without options, and UDP header.
pub(crate) const UDP_HEADERS: Bytes = Bytes::new(28);

/// All streams.
pub(crate) struct Streams<'t, 'a> {
    pub(crate) list: Vec<StreamDraft<'t, 'a>>,
    /// Frames of control protocols, behind those of the description.
    pub(crate) protocol: Vec<Stream>,
    /// By name; none if it is left out for its faults.
    index: HashMap<String, Option<StreamIndex>>,
}

/// A stream and the places of what can still turn out to be wrong.
pub(crate) struct StreamDraft<'t, 'a> {
    pub(crate) stream: Stream,
    pub(crate) node: &'a Node<'t>,
    pub(crate) name_place: Place,
    pub(crate) route: Route,
    pub(crate) route_place: Place,
    pub(crate) vlan: usize,
    pub(crate) vlan_id: VlanId,
    pub(crate) talker_port: Option<PortIndex>,
    pub(crate) destination: Option<MacAddress>,
    /// By how much the rate of each further scheduler is above the one before, in parts in 10⁹.
    pub(crate) rate_step_ppb: u32,
    /// Whether the rates of its schedulers are chosen here (`covering.rs`).
    pub(crate) covering: bool,
    /// What makes its largest frame, where that is not its description: an event.
    pub(crate) largest_place: Option<Place>,
}

/// How a stream's way is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// Fewest links.
    Shortest,
    /// The VLAN flooded, narrowed by learning in a run.
    Learned,
    /// To all end stations, over the active topology.
    Broadcast,
    /// Over these cables, and over those between these nodes.
    Over(Vec<u32>, Vec<NodeIndex>),
}

impl Route {
    /// Whether frames follow the active topology of their VLAN.
    pub(crate) fn is_flooded(&self) -> bool {
        matches!(self, Self::Learned | Self::Broadcast)
    }
}

impl StreamDraft<'_, '_> {
    /// The listeners and where each is named.
    pub(crate) fn listeners_with_places(&self) -> impl Iterator<Item = (NodeIndex, Place)> {
        let named = self.node.get("listeners").map_or(&[][..], Node::items_or_self);
        let place = move |position: usize| named.get(position).map_or(self.name_place, |node| node.place);
        self.stream.listeners.iter().enumerate().map(move |(position, node)| (*node, place(position)))
    }

    /// The place of `key`, or of the stream's name.
    pub(crate) fn place(&self, key: &str) -> Place {
        self.node.get(key).map_or(self.name_place, Node::anchor)
    }
}

impl Streams<'_, '_> {
    /// The stream that a node names; one that is not there is a fault, unless it has faults of its own.
    pub(crate) fn find(&self, node: &Node<'_>, faults: &mut Faults) -> Option<StreamIndex> {
        let name = node.text()?;
        let found = self.index.get(name);
        if found.is_none() {
            let mut known: Vec<&str> = self.index.keys().map(String::as_str).collect();
            known.sort_unstable();
            let help = did_you_mean(name, "a stream", known.into_iter());
            faults.error(codes::UNKNOWN_STREAM, node.place, format!("there is no stream `{name}`"), help);
        }
        found.copied().flatten()
    }

    /// As the network holds them.
    pub(crate) fn finish(self) -> Vec<Stream> {
        self.list.into_iter().map(|draft| draft.stream).chain(self.protocol).collect()
    }
}

/// Reads `streams:` and the rows of the stream tables.
pub(crate) fn streams<'t, 'a>(
    input: &'a Draft<'t>,
    topology: &Topology<'_>,
    vlans: &Vlans,
    faults: &mut Faults,
) -> Streams<'t, 'a> {
    let listed = input.root.get("streams").map_or(&[][..], Node::items);
    let mut streams = Streams {
        list: Vec::with_capacity(listed.len() + input.rows.len()),
        protocol: Vec::new(),
        index: HashMap::new(),
    };
    let mut places: HashMap<&'a str, Place> = HashMap::new();
    for node in listed.iter().chain(&input.rows) {
        let Some((name, place)) = node.get("name").and_then(|name| Some((name.text()?, name.place))) else {
            continue;
        };
        if let Some(first) = places.insert(name, place) {
            let message = format!("another stream has the name `{name}`");
            let help = "give every stream a different name";
            faults.error_with(codes::DUPLICATE_NAME, place, message, help, (first, "first here"));
            continue;
        }
        let number = streams.list.len();
        let draft = draft(node, name, place, number, input, topology, vlans, faults);
        streams.index.insert(name.to_owned(), draft.as_ref().map(|_| StreamIndex::at(number)));
        streams.list.extend(draft);
    }
    streams
}

#[expect(clippy::too_many_arguments, reason = "the parts of one stream's description, read once")]
fn draft<'t, 'a>(
    node: &'a Node<'t>,
    name: &str,
    name_place: Place,
    number: usize,
    input: &'a Draft<'t>,
    topology: &Topology<'_>,
    vlans: &Vlans,
    faults: &mut Faults,
) -> Option<StreamDraft<'t, 'a>> {
    let talker = talker(node, topology, faults);
    let (listeners, broadcast) = listeners(node, talker.map(|(talker, _)| talker), topology, faults);
    let virtual_link = virtual_link::resolve::virtual_link(node, faults);
    let time_triggered = time_triggered::resolve::link(node, number, faults);
    // The frames of a virtual link have no tag.
    let untagged = node.get("virtual-link").is_some() || node.get("time-triggered").is_some();
    let tagged = node.get("tagged").and_then(Node::text).and_then(scalar::flag).unwrap_or(!untagged);
    if tagged && untagged {
        let place = node.get("tagged").map_or(name_place, |tagged| tagged.place);
        let message = "frames of a virtual link are untagged".to_owned();
        faults.error(
            codes::CONFLICT,
            place,
            message,
            "remove `tagged`; switches take its priority from their configuration",
        );
    }
    let payload = payload(node, tagged, name_place, faults);
    let vlan_id = match node.get("vlan") {
        Some(vlan) => vlan.text()?.parse().ok().and_then(VlanId::new)?,
        None => VlanId::DEFAULT,
    };
    let vlan = vlans.find(vlan_id, node.get("vlan").map_or(name_place, |node| node.place), faults);
    let traffic = traffic_of(node, name_place, input, faults);
    let stated = payload.unwrap_or((Bytes::new(46), Bytes::new(46)));
    let sizes = traffic.as_ref().map_or(stated, |traffic| traffic::sizes(traffic, stated));
    // Traffic that follows a trace without stated sizes has those of the trace.
    let drawn = payload.unwrap_or(sizes);
    if let Some(traffic) = &traffic {
        let udp = node.get("udp").is_some();
        traffic::check_sizes(
            traffic,
            drawn,
            udp,
            node.get("traffic").map_or(name_place, Node::anchor),
            faults,
        );
    }
    let arrival =
        traffic.as_ref().and_then(|traffic| traffic::promise(node, traffic, (drawn, tagged), faults));
    let shaper = node.get("shaper");
    let route = route(node, broadcast, topology, faults);
    let destination: Option<MacAddress> = node
        .parsed("destination")
        .or(virtual_link.as_ref().map(virtual_link::resolve::destination))
        .or(time_triggered.as_ref().map(time_triggered::resolve::destination))
        .or(node.get("reservation").map(|_| srp::resolve::destination(number)));
    let stream = Stream {
        name: name.to_owned(),
        talker: talker?.0,
        destination: destination.unwrap_or_else(|| default_destination(broadcast, number)),
        listeners: listeners?,
        source: MacAddress::default(),
        vlan: vlan_id,
        tagged,
        priority: super::priority(node, "priority")
            .or(time_triggered.as_ref().and_then(|_| Priority::new(7)))
            .unwrap_or_default(),
        udp: node.get("udp").and_then(udp),
        payload_min: sizes.0,
        payload_max: sizes.1,
        payload_drawn: (drawn != sizes).then_some(drawn),
        open_phase: traffic.as_ref().is_some_and(|traffic| {
            traffic::opens_phase(node.get("traffic"), traffic, node.get("time-triggered").is_some())
        }),
        time_aware: traffic
            .as_ref()
            .and_then(|traffic| gates::resolve::time_aware(node, traffic, name_place, faults)),
        traffic: traffic?,
        arrival,
        deadline: node.parsed::<Duration>("deadline"),
        count_late: count_late(node),
        shaper: shaper.and_then(|shaper| shaper_settings(shaper, faults)),
        shaped_at_talker: shaper
            .and_then(|shaper| shaper.get("shape-at-talker"))
            .and_then(Node::text)
            .and_then(scalar::flag)
            .unwrap_or(false),
        started: node.get("started").and_then(Node::text).and_then(scalar::flag).unwrap_or(true),
        hops: Vec::new(),
        learned: route == Some(Route::Learned),
        virtual_link,
        time_triggered,
        replication: None,
        stack: node.get("stack").and_then(Node::text).map(str::to_owned),
        datagrams: None,
    };
    Some(StreamDraft {
        stream,
        node,
        name_place,
        route: route?,
        route_place: node.get("route").map_or(name_place, Node::anchor),
        vlan: vlan?,
        vlan_id,
        talker_port: talker?.1,
        destination,
        rate_step_ppb: shaper
            .and_then(|shaper| scalar::deviation(shaper.get("rate-step")?.text()?).ok())
            .unwrap_or(0),
        covering: shaper.is_some_and(is_covering),
        largest_place: None,
    })
}

/// A group address of one's own range, made from the stream's number, until the route gives that of the
/// only listener.
fn default_destination(broadcast: bool, number: usize) -> MacAddress {
    if broadcast {
        return MacAddress::BROADCAST;
    }
    let [a, b, c, d] = StreamIndex::at(number).0.to_be_bytes();
    MacAddress([0x03, 0, a, b, c, d])
}

fn talker(
    node: &Node<'_>,
    topology: &Topology<'_>,
    faults: &mut Faults,
) -> Option<(NodeIndex, Option<PortIndex>)> {
    let named = node.get("talker")?;
    let (talker, port) = topology.reference(named, faults)?;
    if topology.is_bridge(talker) {
        let message = format!("`{}` is a bridge and cannot be a talker", topology.nodes[talker.index()].name);
        faults.error(codes::NODE_TYPE, named.place, message, "name an end station");
        return None;
    }
    Some((talker, port))
}

/// The listeners, and whether they are all end stations.
fn listeners(
    node: &Node<'_>,
    talker: Option<NodeIndex>,
    topology: &Topology<'_>,
    faults: &mut Faults,
) -> (Option<Vec<NodeIndex>>, bool) {
    let Some(named) = node.get("listeners") else { return (None, false) };
    if named.text() == Some("all") && topology.node_named("all").is_none() {
        return (Some(Vec::new()), true);
    }
    let mut listeners = Vec::new();
    let mut good = true;
    for item in named.items_or_self() {
        let Some((listener, _)) = topology.reference(item, faults) else {
            good = false;
            continue;
        };
        let name = &topology.nodes[listener.index()].name;
        if topology.is_bridge(listener) {
            let message = format!("`{name}` is a bridge and cannot be a listener");
            faults.error(codes::NODE_TYPE, item.place, message, "name an end station");
            good = false;
        } else if Some(listener) == talker {
            let message = format!("`{name}` is the talker");
            faults.error(codes::LISTENERS, item.place, message, "name another end station");
            good = false;
        } else if listeners.contains(&listener) {
            let message = format!("`{name}` is listed twice");
            faults.error(codes::LISTENERS, item.place, message, "list every listener once");
            good = false;
        } else {
            listeners.push(listener);
        }
    }
    (good.then_some(listeners), false)
}

/// Least and most MAC client data; none if it is wrong or missing.
fn payload(node: &Node<'_>, tagged: bool, name_place: Place, faults: &mut Faults) -> Option<(Bytes, Bytes)> {
    let overhead = if tagged { HEADER_AND_FCS + TAG } else { HEADER_AND_FCS };
    let sizes = match (node.get("payload"), node.get("frame")) {
        (Some(payload), Some(frame)) => {
            let message =
                "`payload` and `frame` exclude each other: both state the size of a frame".to_owned();
            let other = (payload.place, "and here");
            faults.error_with(codes::CONFLICT, frame.place, message, "remove one of them", other);
            return None;
        }
        (None, None) => {
            // A trace has its own sizes.
            let replayed = node.get("traffic").and_then(|traffic| traffic.get("type")).and_then(Node::text)
                == Some("replay");
            if !replayed && node.get("datagram").is_none() {
                let message = "a stream needs the size of its frames".to_owned();
                let help = "add `payload: 1400 B` (MAC client data) or `frame: 1422 B` (destination to FCS)";
                faults.error(codes::MISSING_KEY, name_place, message, help);
            }
            return None;
        }
        (Some(payload), None) => match payload.text() {
            Some(text) => text.parse().ok().map(|size| (size, size)),
            None => Some((payload.parsed("min")?, payload.parsed("max")?)),
        },
        (None, Some(frame)) => {
            let size: Bytes = frame.text()?.parse().ok()?;
            Some((size - overhead, size - overhead))
        }
    };
    let (min, max) = sizes?;
    let place = node.get("payload").or(node.get("frame")).map_or(name_place, Node::anchor);
    if min > max {
        let message = format!("`min` of {min} is above `max` of {max}");
        faults.error(codes::FRAME_SIZE, place, message, "make `min` at most `max`");
        return None;
    }
    if max > PAYLOAD_MAX {
        let message = format!("no frame carries {max}");
        faults.error(
            codes::FRAME_SIZE,
            place,
            message,
            "a frame carries up to 1500 B, and a jumbo frame up to 65513 B",
        );
        return None;
    }
    if node.get("udp").is_some() && min < UDP_HEADERS {
        let message = format!("a payload of {min} does not hold an IPv4 and a UDP header");
        faults.error(
            codes::FRAME_SIZE,
            place,
            message,
            "the two headers are part of the payload: at least 28 B",
        );
    }
    Some((min, max))
}

fn traffic_of(node: &Node<'_>, name_place: Place, input: &Draft<'_>, faults: &mut Faults) -> Option<Traffic> {
    let Some(found) = node.get("traffic") else {
        let message = "a stream needs its traffic".to_owned();
        let help = "add `traffic: {type: periodic, interval: 1 ms}`";
        faults.error(codes::MISSING_KEY, name_place, message, help);
        return None;
    };
    traffic::traffic(found, input.directory, faults)
}

fn udp(node: &Node<'_>) -> Option<UdpFlow> {
    Some(UdpFlow {
        source: node.parsed("source")?,
        destination: node.parsed("destination")?,
        source_port: node.parsed("source-port")?,
        destination_port: node.parsed("destination-port")?,
        dscp: node.parsed("dscp").unwrap_or(0),
    })
}

/// Spans of `count-late`, each once, the least first.
fn count_late(node: &Node<'_>) -> Vec<Duration> {
    let listed = node.get("count-late").map_or(&[][..], Node::items).iter();
    let mut spans: Vec<Duration> = listed.filter_map(|span| span.text()?.parse().ok()).collect();
    spans.sort_unstable();
    spans.dedup();
    spans
}

/// Whether a shaper leaves its rate to `covering.rs`.
fn is_covering(shaper: &Node<'_>) -> bool {
    shaper.get("committed-information-rate").and_then(Node::text) == Some(COVERING)
}

/// Reads `committed-…` keys.
pub(crate) fn shaper_settings(node: &Node<'_>, faults: &mut Faults) -> Option<ShaperSettings> {
    if is_covering(node) {
        // Chosen when its way is known.
        let committed_information_rate = BitRate::from_bps(1);
        return Some(ShaperSettings {
            committed_information_rate,
            committed_burst_size: node.parsed("committed-burst-size")?,
        });
    }
    let settings = ShaperSettings {
        committed_information_rate: node.parsed("committed-information-rate")?,
        committed_burst_size: node.parsed("committed-burst-size")?,
    };
    let place = node.get("committed-information-rate").map_or(node.anchor(), |node| node.place);
    let rate = u128::from(settings.committed_information_rate.as_bps());
    if u128::from(settings.committed_burst_size.get()) > rate * 3_600 {
        let message = format!(
            "the rate of {} fills a bucket of {} in more than an hour",
            settings.committed_information_rate, settings.committed_burst_size
        );
        let help = "raise the rate to the stream's at least, or lower the burst to a few frames";
        faults.error(codes::SHAPER_RATE, place, message, help);
        return None;
    }
    Some(settings)
}

fn route(node: &Node<'_>, broadcast: bool, topology: &Topology<'_>, faults: &mut Faults) -> Option<Route> {
    let stated = node.get("route");
    if broadcast {
        if let Some(route) = stated {
            let message = "a broadcast floods its VLAN, so it has no stated route".to_owned();
            faults.error(codes::ROUTE, route.anchor(), message, "remove `route`");
        }
        return Some(Route::Broadcast);
    }
    let Some(stated) = stated else { return Some(Route::Shortest) };
    match stated.text() {
        Some("learned") => return Some(Route::Learned),
        Some("shortest") => return Some(Route::Shortest),
        _ => {}
    }
    let (mut cables, mut nodes, mut good) = (Vec::new(), Vec::new(), true);
    for item in stated.items() {
        let Some(text) = item.text() else { continue };
        if let Some(node) = topology.node_named(text) {
            nodes.push(node);
        } else if let Some(cable) = topology.cable(item, faults) {
            cables.push(cable);
        } else {
            good = false;
        }
    }
    good.then_some(Route::Over(cables, nodes))
}

/// The largest frame of a stream as its talker sends it.
pub(crate) fn largest_frame(stream: &Stream) -> Bytes {
    frame_length(stream.payload_max, stream.tagged)
}
