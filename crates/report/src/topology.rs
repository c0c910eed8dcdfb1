//! `network.json`: what the report shows of a network, and the text of its description.

use serde::{Deserialize, Serialize};
use tautwire_model::network::{Clock, Network, NodeKind, Stream, TimelineAction, Traffic};
use tautwire_model::psfp::{BridgeFilters, FilterChange};
use tautwire_units::{Bytes, Duration};

use crate::name;
use crate::schedule::ScheduleDocument;

/// A network for people: names in place of indices, traffic in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkDocument {
    /// Name.
    pub name: String,
    /// Nodes, in the order of the description.
    pub nodes: Vec<NodeDocument>,
    /// Cables, in the order of the description.
    pub cables: Vec<CableDocument>,
    /// Streams, in the order of the description.
    pub streams: Vec<StreamDocument>,
    /// The run's timeline, in words.
    pub events: Vec<String>,
    /// When who may send, if that is fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<ScheduleDocument>,
    /// The text of the description.
    pub description: String,
}

/// An end station or a bridge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeDocument {
    /// Name.
    pub name: String,
    /// `bridge` or `end-station`.
    pub kind: String,
    /// Name of its device or host model.
    pub model: String,
    /// Its clock, in words.
    pub clock: String,
}

/// A cable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CableDocument {
    /// The node and port at one end.
    pub from: [String; 2],
    /// The node and port at the other.
    pub to: [String; 2],
    /// Rate.
    pub rate_bps: u64,
    /// Delay of the first direction.
    pub propagation_ps: u64,
}

/// A stream's settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamDocument {
    /// Destination address.
    pub destination: String,
    /// VLAN.
    pub vlan: u16,
    /// Priority given by the talker.
    pub priority: u8,
    /// Least MAC client data.
    pub payload_min_octets: u64,
    /// Most MAC client data.
    pub payload_max_octets: u64,
    /// When its frames come, in words.
    pub traffic: String,
    /// What its talker promises, in words.
    pub arrival: Option<String>,
    /// What it is shaped to, in words.
    pub shaper: Option<String>,
    /// IPv4 and UDP addresses.
    pub udp: Option<String>,
}

impl NetworkDocument {
    /// Of a network and the text that it was read from.
    #[must_use]
    pub fn new(network: &Network, description: &str) -> Self {
        Self {
            name: network.name.clone(),
            nodes: (0..network.nodes.len()).map(|index| node(network, index)).collect(),
            cables: network.links.chunks(2).map(|links| cable(network, &links[0])).collect(),
            streams: network.streams.iter().map(stream).collect(),
            events: network
                .events
                .iter()
                .map(|event| format!("at {}: {}", event.at, action(network, &event.action)))
                .collect(),
            schedule: ScheduleDocument::new(network),
            description: description.to_owned(),
        }
    }
}

fn node(network: &Network, index: usize) -> NodeDocument {
    let node = &network.nodes[index];
    let (kind, model) = match &node.kind {
        NodeKind::EndStation { host } => ("end-station", &network.hosts[host.index()].name),
        NodeKind::Bridge { device, .. } => ("bridge", &network.devices[device.index()].name),
    };
    NodeDocument {
        name: node.name.clone(),
        kind: kind.to_owned(),
        model: model.clone(),
        clock: clock(&node.clock),
    }
}

fn clock(clock: &Clock) -> String {
    let ppm = |ppb: u32| format!("{}.{:03}", ppb / 1_000, ppb % 1_000);
    match clock.tolerance_ppb {
        0 => "perfect".to_owned(),
        ppb => format!("±{} ppm", ppm(ppb)),
    }
}

fn cable(network: &Network, link: &tautwire_model::network::Link) -> CableDocument {
    let [from, to] = [link.from, link.to].map(|port| {
        let port = &network.ports[port.index()];
        [name::node(network, port.node).to_owned(), port.name.clone()]
    });
    CableDocument { from, to, rate_bps: link.rate.as_bps(), propagation_ps: link.propagation.as_ps() }
}

fn stream(stream: &Stream) -> StreamDocument {
    StreamDocument {
        destination: stream.destination.to_string(),
        vlan: stream.vlan.number(),
        priority: stream.priority.number(),
        payload_min_octets: stream.payload_min.get(),
        payload_max_octets: stream.payload_max.get(),
        traffic: traffic(&stream.traffic),
        arrival: stream.arrival.map(|arrival| format!("{} and {} at once", arrival.rate, arrival.burst)),
        shaper: stream.shaper.map(|shaper| {
            let at_talker = if stream.shaped_at_talker { ", at the talker too" } else { "" };
            format!(
                "CIR {}, CBS {}{at_talker}",
                shaper.committed_information_rate, shaper.committed_burst_size
            )
        }),
        udp: stream.udp.map(|udp| {
            let dscp = if udp.dscp == 0 { String::new() } else { format!(", DSCP {}", udp.dscp) };
            format!(
                "{}:{} to {}:{}{dscp}",
                udp.source, udp.source_port, udp.destination, udp.destination_port
            )
        }),
    }
}

/// What management writes, `flow meter 2 gets CIR 10 Mbit/s, CBS 3000 B`, up to the node.
fn filter_change(filters: &BridgeFilters, change: &FilterChange) -> String {
    let set = |so: bool| if so { "set" } else { "cleared" };
    match change {
        FilterChange::Blocked(filter, so) => {
            format!("the block of stream filter {} is {}", filters.filters[*filter].id, set(*so))
        }
        FilterChange::List(gate, list) => {
            format!("another list, cycle {}, for stream gate {}", list.cycle_time, filters.gates[*gate].id)
        }
        FilterChange::Closed(gate, one, other) => {
            let so = one.or(*other).unwrap_or(false);
            format!("the flag that closes stream gate {} is {}", filters.gates[*gate].id, set(so))
        }
        FilterChange::Meter(meter, config) => format!(
            "CIR {} and CBS {} B for flow meter {}",
            config.committed_information_rate, config.committed_burst_size, filters.meters[*meter].id
        ),
        FilterChange::AllRed(meter, so) => {
            format!(
                "the flag that makes frames of flow meter {} red is {}",
                filters.meters[*meter].id,
                set(*so)
            )
        }
    }
}

/// `1 frame every 500 us`.
pub(crate) fn traffic(traffic: &Traffic) -> String {
    let from = |offset: &Duration| match offset.is_zero() {
        true => String::new(),
        false => format!(", from {offset}"),
    };
    match traffic {
        Traffic::Periodic { interval, offset, jitter, burst, drawn } => {
            let frames = if *burst == 1 { "1 frame".to_owned() } else { format!("{burst} frames") };
            let jitter = if jitter.is_zero() { String::new() } else { format!(", jitter up to {jitter}") };
            let phase = if *drawn { ", at a drawn phase" } else { "" };
            format!("{frames} every {interval}{jitter}{}{phase}", from(offset))
        }
        Traffic::ConstantRate { rate, offset } => format!("constant {rate}{}", from(offset)),
        Traffic::Poisson { mean_interval } => format!("Poisson, {mean_interval} apart on average"),
        Traffic::OnOff { on, off, interval, offset } => {
            format!("1 frame every {interval}, {on} on and {off} off{}", from(offset))
        }
        Traffic::Greedy { offset } => format!("greedy within its arrival curve{}", from(offset)),
        Traffic::Replay { frames } => format!("replay of {} frames", frames.len()),
        Traffic::Polled => "polled by the trigger message".to_owned(),
        Traffic::Protocol => "frames of a control protocol".to_owned(),
        Traffic::Synchronisation { cycle } => format!("synchronisation every {cycle}"),
        Traffic::Response { turn_around, .. } => format!("responses after {turn_around}"),
        Traffic::Injected { threads, burst, interval, .. } => {
            format!("{threads} threads with bursts of {burst}, {interval} a frame")
        }
        Traffic::File { octets, at } => format!("a file of {octets} at {at}"),
    }
}

fn action(network: &Network, action: &TimelineAction) -> String {
    let cable = |cable: &u32| {
        let link = &network.links[*cable as usize * 2];
        format!("{} to {}", name::port(network, link.from), name::port(network, link.to))
    };
    let stream = |index: &tautwire_model::network::StreamIndex| &network.streams[index.index()].name;
    match action {
        TimelineAction::StartStream(index) => format!("stream {} starts", stream(index)),
        TimelineAction::StopStream(index) => format!("stream {} stops", stream(index)),
        TimelineAction::CutCable(index) => format!("cable {} is cut", cable(index)),
        TimelineAction::MendCable(index) => format!("cable {} is mended", cable(index)),
        TimelineAction::StopNode(node) => format!("node {} stops", name::node(network, *node)),
        TimelineAction::StartNode(node) => format!("node {} returns", name::node(network, *node)),
        TimelineAction::Babble(node, interval) => {
            format!("node {} sends a protocol control frame every {interval}", name::node(network, *node))
        }
        TimelineAction::Mistime(node, by) if by.is_zero() => {
            format!("protocol control frames of node {} are in time again", name::node(network, *node))
        }
        TimelineAction::Mistime(node, by) => {
            format!("protocol control frames of node {} are {by} late", name::node(network, *node))
        }
        TimelineAction::StopBabbling(node) => {
            format!("node {} sends protocol control frames correctly again", name::node(network, *node))
        }
        TimelineAction::RepeatFrame(node, index, interval) => format!(
            "node {} repeats its last frame of stream {} every {interval}",
            name::node(network, *node),
            stream(index)
        ),
        TimelineAction::StopRepeating(node, index) => {
            format!(
                "node {} does not repeat frames of stream {} any more",
                name::node(network, *node),
                stream(index)
            )
        }
        TimelineAction::ChangeTraffic(index, becomes, _) => {
            format!("stream {} becomes {}", stream(index), traffic(becomes))
        }
        TimelineAction::ChangeIdleSlope(port, class, rate) => {
            format!("class {class} of port {} gets idleSlope {rate}", name::port(network, *port))
        }
        TimelineAction::ChangeGates(port, list) => {
            format!(
                "port {} gets another list of its gates, cycle {}",
                name::port(network, *port),
                list.cycle_time
            )
        }
        TimelineAction::ChangeFilters(node, change) => {
            let filters = network.filters_of(*node).expect("an event changes filters that are there");
            format!("{} of node {}", filter_change(filters, change), name::node(network, *node))
        }
        TimelineAction::ChangeShaper(index, shaper) => format!(
            "stream {} is shaped to CIR {}, CBS {}",
            stream(index),
            shaper.committed_information_rate,
            shaper.committed_burst_size
        ),
        TimelineAction::ChangeBitErrorRate(index, rate) => {
            format!("cable {} gets a bit error rate of {rate}e-18", cable(index))
        }
    }
}

/// Octets that are shown of a description; a longer one is cut, with a note.
pub(crate) const DESCRIPTION_MAX: Bytes = Bytes::new(262_144);

/// A description as the page shows it.
pub(crate) fn shown_description(text: &str) -> String {
    let most = usize::try_from(DESCRIPTION_MAX.get()).expect("a small number");
    if text.len() <= most {
        return text.to_owned();
    }
    format!("{}\n… {} more octets", &text[..text.floor_char_boundary(most)], text.len() - most)
}
