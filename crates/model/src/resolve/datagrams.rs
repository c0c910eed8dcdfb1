//! `datagram:` of streams: frames that carry pieces of larger datagrams.
//!
//! A frame takes 1 500 octets, or the payload of the smallest slot that may carry it. The result is traffic of several
//! frames at once, so later steps need not know of datagrams, except for the reassembly.

use tautwire_units::{BitRate, Bytes, Duration};

use super::arrival;
use super::streams::{StreamDraft, Streams};
use super::topology::Topology;
use crate::datagram::{Datagrams, UDP_HEADER};
use crate::frame::{HEADER_AND_FCS, TAG, wire_bits};
use crate::network::{NodeIndex, Traffic};
use crate::parse::Draft;
use crate::text::codes;
use crate::text::faults::Faults;
use crate::text::tree::{Node, Place};

/// IPv4 header without options, and the header of a tunnelled frame (RTmac).
const IP: u32 = 20;
const RTMAC: u32 = 4;
/// Most MAC client data of a frame.
const PAYLOAD_MAX: Bytes = Bytes::new(1_500);

/// A slot as far as frames must fit it.
struct Room {
    owner: NodeIndex,
    carries_real_time: bool,
    carries_ordinary: bool,
    length: Duration,
}

/// Cuts the datagrams of all streams. Needs no routes.
pub(crate) fn cut(
    input: &Draft<'_>,
    topology: &Topology<'_>,
    streams: &mut Streams<'_, '_>,
    faults: &mut Faults,
) {
    let rooms = input.root.get("tdma").map(|tdma| rooms(tdma, topology));
    for draft in &mut streams.list {
        let Some(named) = draft.node.get("datagram") else { continue };
        let Some(datagrams) = datagrams(draft, named, rooms.as_deref(), topology, faults) else { continue };
        let stream = &mut draft.stream;
        stream.datagrams = Some(datagrams);
        (stream.payload_min, stream.payload_max) = datagrams.payloads();
        stream.payload_drawn = None;
        let place = draft.node.get("traffic").map_or(draft.name_place, Node::anchor);
        stream.traffic = of_fragments(stream.traffic.clone(), datagrams.fragments(), place, faults);
        stream.arrival = arrival::curve(&stream.traffic, stream.payload_max, stream.tagged);
    }
}

/// Traffic of datagrams as traffic of their frames.
pub(crate) fn of_fragments(traffic: Traffic, count: u32, place: Place, faults: &mut Faults) -> Traffic {
    match traffic {
        Traffic::Periodic { interval, offset, jitter, burst, drawn } => {
            Traffic::Periodic { interval, offset, jitter, burst: burst.saturating_mul(count), drawn }
        }
        Traffic::Response { .. } => traffic,
        other => {
            let message = "a stream of datagrams of several frames needs periodic traffic".to_owned();
            let help =
                "make the traffic periodic or a response, or state the size of single frames with `payload`";
            faults.error(codes::TRAFFIC, place, message, help);
            other
        }
    }
}

fn datagrams(
    draft: &StreamDraft<'_, '_>,
    named: &Node<'_>,
    rooms: Option<&[Room]>,
    topology: &Topology<'_>,
    faults: &mut Faults,
) -> Option<Datagrams> {
    for other in ["payload", "frame", "arrival-curve", "virtual-link", "time-triggered", "reservation"] {
        if let Some(excluded) = draft.node.get(other) {
            let message = format!("`{other}` and `datagram` exclude each other");
            let help = format!("remove one of `datagram` and `{other}`");
            let excluded = (excluded.anchor(), "and here");
            faults.error_with(codes::CONFLICT, named.place, message, &help, excluded);
            return None;
        }
    }
    let data: Bytes = draft.node.parsed("datagram")?;
    let data = u32::try_from(data.get()).expect("at most 65507, by its form");
    let ordinary = draft.stream.priority.number() == 0;
    let tunnelled = ordinary && rooms.is_some();
    let headers = if tunnelled { IP + RTMAC } else { IP };
    let payload = match rooms {
        Some(rooms) => payload_max(draft, ordinary, rooms, topology),
        None => PAYLOAD_MAX,
    };
    let most = u32::try_from(payload.get()).ok()?.saturating_sub(headers);
    if most < 8 {
        let message = format!(
            "a slot of the talker holds {payload} of a frame's data, and the headers alone have {headers} B"
        );
        faults.error(
            crate::tdma::codes::TDMA_STATION,
            named.place,
            message,
            "lengthen the slots of the talker",
        );
        return None;
    }
    let contents = data + UDP_HEADER;
    Some(Datagrams { contents, most, headers })
}

fn rooms(tdma: &Node<'_>, topology: &Topology<'_>) -> Vec<Room> {
    // Faults of names are reported where `tdma` itself is read.
    let mut unreported = Faults::default();
    let room = |slot: &Node<'_>| {
        let carries = slot.get("carries").and_then(Node::text);
        Some(Room {
            owner: topology.reference(slot.get("owner")?, &mut unreported)?.0,
            carries_real_time: carries != Some("ordinary"),
            carries_ordinary: carries != Some("real-time"),
            length: slot.parsed("length")?,
        })
    };
    tdma.get("slots").map_or(&[][..], Node::items).iter().filter_map(room).collect()
}

/// The most that every slot which may carry the stream holds.
fn payload_max(
    draft: &StreamDraft<'_, '_>,
    ordinary: bool,
    rooms: &[Room],
    topology: &Topology<'_>,
) -> Bytes {
    let stream = &draft.stream;
    let carried = |room: &&Room| {
        room.owner == stream.talker && if ordinary { room.carries_ordinary } else { room.carries_real_time }
    };
    let rates = topology.ports_of(stream.talker).filter_map(|port| {
        let links = topology.ports[port.index()].links?;
        Some(topology.links[links.egress.index()].rate)
    });
    let (Some(length), Some(rate)) =
        (rooms.iter().filter(carried).map(|room| room.length).min(), rates.min())
    else {
        return PAYLOAD_MAX;
    };
    room_of(rate, length, stream.tagged).min(PAYLOAD_MAX)
}

/// MAC client data of the longest frame that a slot holds; none of a slot that holds no header.
pub(crate) fn room_of(rate: BitRate, length: Duration, tagged: bool) -> Bytes {
    let overhead = HEADER_AND_FCS + Bytes::MEDIA_OVERHEAD + if tagged { TAG } else { Bytes::ZERO };
    let payload = Bytes::new((rate.bits_ceil(length).get() / 8).saturating_sub(overhead.get()));
    // The capacity of the slot was rounded up.
    let fits = rate.duration_ceil(wire_bits(payload, tagged)) <= length;
    if fits { payload } else { Bytes::new(payload.get().saturating_sub(1)) }
}
