//! `tdma: {start-up: ...}`, and the streams of its messages.

use tautwire_core::Priority;
use tautwire_core::tdma::Carries;
use tautwire_units::{Bytes, Duration};
use tautwire_wire::MacAddress;

use crate::network::{NodeIndex, Stream, StreamIndex, Traffic};
use crate::parse::Draft;
use crate::resolve::datagrams::room_of;
use crate::resolve::streams::{Route, StreamDraft, Streams};
use crate::resolve::topology::Topology;
use crate::tdma::OwnedSlot;
use crate::tdma::codes;
use crate::tdma::start_up::{StartUp, StartUpStation};
use crate::text::faults::Faults;
use crate::text::tree::Node;

/// Shortest frame's and longest frame's MAC client data.
const PAYLOAD: (Bytes, Bytes) = (Bytes::new(46), Bytes::new(1_500));

/// Adds the streams of a start-up behind those of the description, before their routes are found.
pub(crate) fn drafts<'t, 'a>(
    input: &'a Draft<'t>,
    topology: &Topology<'_>,
    streams: &mut Streams<'t, 'a>,
    faults: &mut Faults,
) {
    let Some((tdma, node)) = input.root.get("tdma").and_then(|tdma| Some((tdma, tdma.get("start-up")?)))
    else {
        return;
    };
    // Faults of names are reported where `tdma` itself is read.
    let mut unreported = Faults::default();
    let Some(opens) = tdma.get("synchronisation").and_then(|named| streams.find(named, &mut unreported))
    else {
        return;
    };
    let like = &streams.list[opens.index()];
    let (vlan, vlan_id, master) = (like.vlan, like.vlan_id, like.stream.talker);
    let mut owners = vec![master];
    for slot in tdma.get("slots").map_or(&[][..], Node::items) {
        let real_time = slot.get("carries").and_then(Node::text) != Some("ordinary");
        let owner = slot.get("owner").and_then(|owner| topology.reference(owner, &mut unreported));
        if let Some((owner, _)) = owner.filter(|(owner, _)| real_time && !owners.contains(owner))
            && !topology.is_bridge(owner)
        {
            owners.push(owner);
        }
    }
    let name = |node: NodeIndex| &topology.nodes[node.index()].name;
    let mut add = |name: String, talker: NodeIndex, listeners: Vec<NodeIndex>, route: Route| {
        let broadcast = route == Route::Broadcast;
        let [a, b, c, d] = StreamIndex::at(streams.list.len()).0.to_be_bytes();
        let own = MacAddress([0x03, 0, a, b, c, d]);
        streams.list.push(StreamDraft {
            stream: Stream {
                name,
                talker,
                listeners,
                destination: if broadcast { MacAddress::BROADCAST } else { own },
                source: MacAddress::default(),
                vlan: vlan_id,
                tagged: false,
                priority: Priority::new(7).expect("below eight"),
                udp: None,
                payload_min: PAYLOAD.0,
                payload_max: PAYLOAD.1,
                payload_drawn: None,
                traffic: Traffic::Protocol,
                open_phase: false,
                arrival: None,
                deadline: None,
                count_late: Vec::new(),
                shaper: None,
                shaped_at_talker: false,
                started: true,
                hops: Vec::new(),
                learned: false,
                virtual_link: None,
                time_triggered: None,
                replication: None,
                stack: None,
                time_aware: None,
                datagrams: None,
            },
            node,
            name_place: node.anchor(),
            route,
            route_place: node.anchor(),
            vlan,
            vlan_id,
            talker_port: None,
            destination: None,
            rate_step_ppb: 0,
            covering: false,
            largest_place: None,
        });
    };
    for owner in &owners {
        add(format!("start-up:{}", name(*owner)), *owner, Vec::new(), Route::Broadcast);
    }
    for owner in &owners[1..] {
        add(format!("start-up:{}>{}", name(*owner), name(master)), *owner, vec![master], Route::Shortest);
        add(format!("start-up:{}>{}", name(master), name(*owner)), master, vec![*owner], Route::Shortest);
    }
    if owners.len() < 2 {
        let message = "a start-up needs two stations at least".to_owned();
        let help = "give another end station a slot that carries real-time frames, or remove `start-up`";
        faults.error(codes::TDMA_STATION, node.anchor(), message, help);
    }
}

/// Reads `start-up:`; slots are read, routes are found. Its frames are as long as the slots that carry them.
pub(crate) fn start_up(
    tdma: &Node<'_>,
    slots: &[OwnedSlot],
    topology: &Topology<'_>,
    streams: &mut Streams<'_, '_>,
) -> Option<StartUp> {
    let node = tdma.get("start-up")?;
    let of_start_up = |draft: &StreamDraft<'_, '_>| draft.stream.traffic == Traffic::Protocol;
    let first = streams.list.iter().position(of_start_up)?;
    for draft in &mut streams.list[first..] {
        draft.stream.payload_max = payload_max(&draft.stream, slots, topology);
    }
    let broadcasts = streams.list[first..].iter().take_while(|draft| draft.route == Route::Broadcast).count();
    let station = |number: usize| {
        let pair = first + broadcasts + 2 * number.saturating_sub(1);
        StartUpStation {
            node: streams.list[first + number].stream.talker,
            to_all: StreamIndex::at(first + number),
            with_master: (number > 0).then(|| (StreamIndex::at(pair), StreamIndex::at(pair + 1))),
        }
    };
    Some(StartUp {
        interval: node.parsed("interval").unwrap_or(Duration::from_ms(100)),
        configuration: node.parsed("configuration").unwrap_or(Bytes::ZERO),
        burst: node.parsed("burst").unwrap_or(4),
        heartbeat: node.parsed("heartbeat"),
        silent_heartbeats: node.parsed("silent-heartbeats").unwrap_or(2),
        calibrations: node.parsed("calibrations").unwrap_or(100),
        stations: (0..broadcasts).map(station).collect(),
    })
}

/// The most that every slot which carries a stream holds; the shortest frame's, if that is less.
fn payload_max(stream: &Stream, slots: &[OwnedSlot], topology: &Topology<'_>) -> Bytes {
    let own =
        slots.iter().filter(|slot| slot.owner == stream.talker && slot.slot.carries != Carries::Ordinary);
    let line = stream.hops.first().and_then(|hop| topology.ports[hop.port.index()].links);
    let (Some(length), Some(links)) = (own.map(|slot| slot.length).min(), line) else { return PAYLOAD.0 };
    let rate = topology.links[links.egress.index()].rate;
    room_of(rate, length, false).clamp(PAYLOAD.0, PAYLOAD.1)
}
