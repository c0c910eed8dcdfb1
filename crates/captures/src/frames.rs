//! Of which stream a captured frame is, and which of its frames: by what it states of itself, or by its contents.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use tautwire_model::Network;
use tautwire_model::capture::Packet;
use tautwire_model::network::{Hop, LinkIndex, Stream, StreamIndex, UdpFlow};
use tautwire_wire::{
    EtherType, EthernetHeader, FrameMark, Ipv4Address, Ipv4Header, LiveMessage, MacAddress, RtmacHeader,
    WireError,
};

use crate::observed::ForeignFrames;
use crate::places::{Place, Side};

/// Data of the smallest frame with a tag: what is shorter is padded on its way.
const DATA_MIN: usize = 46;

/// How a frame is known among those of its stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// It states its number, and, in nanoseconds, when it was created.
    Number(u32, Option<u64>),
    /// By its contents: EtherType and captured octets of its data, and how many it had.
    Contents(u16, Vec<u8>, u64),
}

/// What a captured frame is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Is {
    /// A frame of a stream, at a hop.
    Of {
        stream: u32,
        hop: u32,
        link: LinkIndex,
        side: Side,
        known: Known,
        /// Octets, destination address to FCS.
        octets: u64,
        is_changed: bool,
        /// Not all of it was captured.
        is_cut: bool,
    },
    /// A frame of a stream that does not pass here.
    Astray(u32),
    /// It may be of several streams.
    Undecided,
    /// Too little of it was captured.
    TooShort,
    /// None of the network's.
    Foreign,
}

/// The streams of a network, by the headers of their frames.
pub(crate) struct Frames<'n> {
    network: &'n Network,
    /// Streams whose frames can be known, by destination and source.
    by_addresses: HashMap<(MacAddress, MacAddress), Vec<u32>>,
    /// Hop of a stream, by stream and link.
    hops: HashMap<(u32, LinkIndex), u32>,
    foreign: BTreeMap<(MacAddress, MacAddress, u16), u64>,
}

/// Whether frames of a stream are followed: those of protocols have no numbers, a datagram is several frames, and copies over several
/// ways are one frame.
pub(crate) fn is_followed(stream: &Stream) -> bool {
    let ends = stream.hops.iter().filter(|hop| hop.listener.is_some()).count();
    let has_copies = stream.replication.is_some() || ends > stream.listeners.len();
    !stream.traffic.is_control() && stream.datagrams.is_none() && !has_copies
}

impl<'n> Frames<'n> {
    pub(crate) fn new(network: &'n Network) -> Self {
        let mut by_addresses: HashMap<_, Vec<u32>> = HashMap::new();
        let mut hops = HashMap::new();
        for (number, stream) in network.streams.iter().enumerate().filter(|(_, one)| is_followed(one)) {
            let index = StreamIndex::at(number).0;
            by_addresses.entry((stream.destination, stream.source)).or_default().push(index);
            for (place, hop) in stream.hops.iter().enumerate() {
                let link = network.ports[hop.port.index()].links.expect("a hop's port is connected").egress;
                hops.entry((index, link))
                    .or_insert_with(|| u32::try_from(place).expect("hops are counted in u32"));
            }
        }
        Self { network, by_addresses, hops, foreign: BTreeMap::new() }
    }

    /// Frames that are none of the network's, by destination, source and type.
    pub(crate) fn foreign(&self) -> Vec<ForeignFrames> {
        let one = |((destination, source, kind), frames): (&(MacAddress, MacAddress, u16), &u64)| {
            ForeignFrames { destination: *destination, source: *source, kind: *kind, frames: *frames }
        };
        self.foreign.iter().map(one).collect()
    }

    /// What a frame is that was captured at a place.
    pub(crate) fn identify(&mut self, packet: &Packet<'_>, place: Place) -> Is {
        // An FCS that was captured is none of the data.
        let whole = packet.original.saturating_sub(packet.fcs) as usize;
        let octets = &packet.octets[..packet.octets.len().min(whole)];
        let (header, data) = match EthernetHeader::parse(octets) {
            Ok(parsed) => parsed,
            Err(WireError::Truncated) if octets.len() < whole => return Is::TooShort,
            Err(_) => return self.foreign_frame(octets),
        };
        let is_cut = octets.len() < whole;
        let (kind, data) = behind_tunnel(header.ether_type, data);
        let Some(candidates) = self.by_addresses.get(&(header.destination, header.source)) else {
            return self.foreign_frame(octets);
        };
        let found = Found { network: self.network, kind, data, is_cut, whole };
        let (stream, known, is_changed) = match found.stated(candidates) {
            Some(stated) => stated,
            None => match self.by_contents(&found, &header, candidates, place) {
                Ok((stream, known)) => (stream, known, false),
                Err(is) => return is,
            },
        };
        let at = place.links().find_map(|(link, side)| Some((self.hops.get(&(stream, link))?, link, side)));
        let Some((hop, link, side)) = at else { return Is::Astray(stream) };
        let octets = (whole as u64 + 4).max(64);
        Is::Of { stream, hop: *hop, link, side, known, octets, is_changed, is_cut }
    }

    fn foreign_frame(&mut self, octets: &[u8]) -> Is {
        let address = |at: usize| octets.get(at..at + 6).and_then(|octets| octets.first_chunk().copied());
        let kind = octets
            .get(12..14)
            .map_or(0, |octets| octets.iter().fold(0, |kind, octet| kind << 8 | u16::from(*octet)));
        let [destination, source] = [0, 6].map(|at| MacAddress(address(at).unwrap_or_default()));
        *self.foreign.entry((destination, source, kind)).or_default() += 1;
        Is::Foreign
    }

    /// The stream of a frame by its header, if there is one alone.
    fn by_contents(
        &self,
        found: &Found<'_>,
        header: &EthernetHeader,
        candidates: &[u32],
        place: Place,
    ) -> Result<(u32, Known), Is> {
        let streams = &self.network.streams;
        let flow = flow(found.kind, found.data);
        let mut left: Vec<u32> = candidates
            .iter()
            .copied()
            .filter(|stream| {
                streams[*stream as usize].udp.is_none_or(|udp| flow.is_some_and(|flow| udp.is_alike(flow)))
            })
            .collect();
        // Routers may write the code point, so it counts only between streams that nothing else distinguishes.
        if left.len() > 1 && left.iter().any(|stream| streams[*stream as usize].udp == flow) {
            left.retain(|stream| streams[*stream as usize].udp == flow);
        }
        // A stated flow is nearer than none.
        if left.iter().any(|stream| streams[*stream as usize].udp.is_some()) {
            left.retain(|stream| streams[*stream as usize].udp.is_some());
        }
        if left.len() > 1 {
            left.retain(|stream| self.fits(*stream, header, found, place));
        }
        match left[..] {
            [stream] => {
                let octets = found.whole - header.length();
                Ok((stream, Known::Contents(found.kind.0, found.data.to_vec(), octets as u64)))
            }
            [] => Err(Is::Foreign),
            _ => Err(Is::Undecided),
        }
    }

    /// Whether a frame with this tag and length may be one of the stream at a place.
    fn fits(&self, stream: u32, header: &EthernetHeader, found: &Found<'_>, place: Place) -> bool {
        let described = &self.network.streams[stream as usize];
        let hop = place.links().find_map(|(link, _)| self.hops.get(&(stream, link)));
        let Some(hop) = hop.map(|hop| described.hops[*hop as usize]) else { return false };
        has_tag(header, described, &hop) && {
            let octets = found.whole - header.length();
            let most = usize::try_from(described.payload_max.get()).unwrap_or(usize::MAX).max(DATA_MIN);
            let least = usize::try_from(described.payload_min.get()).unwrap_or(usize::MAX);
            (least..=most).contains(&octets) || octets <= DATA_MIN && least <= DATA_MIN
        }
    }
}

/// Whether a header has the tag of a stream behind a hop.
fn has_tag(header: &EthernetHeader, stream: &Stream, hop: &Hop) -> bool {
    match header.tag {
        Some(tag) => {
            let is_vlan = tag.vlan.is_none_or(|vlan| vlan == stream.vlan);
            is_vlan && tag.priority_code_point() == hop.priority.number()
        }
        // Interfaces may have taken it off.
        None => true,
    }
}

/// The type and the data of a frame behind the header of a tunnel (RTnet).
fn behind_tunnel(kind: EtherType, data: &[u8]) -> (EtherType, &[u8]) {
    if kind == EtherType::RTMAC
        && let Ok((RtmacHeader::Tunnelled(kind), data)) = RtmacHeader::parse(data)
    {
        return (kind, data);
    }
    (kind, data)
}

/// A frame without its header.
struct Found<'f> {
    network: &'f Network,
    kind: EtherType,
    data: &'f [u8],
    is_cut: bool,
    /// Octets of the frame without FCS.
    whole: usize,
}

impl Found<'_> {
    /// What the frame states of itself, if it is of one of these streams: stream, number, and whether its octets were changed.
    fn stated(&self, candidates: &[u32]) -> Option<(u32, Known, bool)> {
        let payload = match self.kind {
            EtherType::IPV4 => udp(self.data)?.1,
            EtherType::LOCAL_EXPERIMENTAL => self.data,
            _ => return None,
        };
        if let Ok(mark) = FrameMark::parse(payload) {
            let is_one = candidates.contains(&mark.stream);
            return is_one.then_some((mark.stream, Known::Number(mark.number, None), false));
        }
        if self.kind != EtherType::LOCAL_EXPERIMENTAL {
            return None;
        }
        let (message, octets) = LiveMessage::header(payload).ok()?;
        let stream = self.network.streams.get(message.stream as usize)?;
        let is_one = candidates.contains(&message.stream)
            && (stream.payload_min.get()..=stream.payload_max.get()).contains(&message.payload.into());
        let is_complete = payload.len() >= octets;
        if !is_one || !is_complete && !self.is_cut {
            return None;
        }
        let is_changed = is_complete && LiveMessage::parse(payload, true).is_err();
        let created = (!is_changed).then_some(message.created);
        Some((message.stream, Known::Number(message.number, created), is_changed))
    }
}

/// Addresses and ports of a datagram, and its payload as far as it was captured; none of a fragment.
fn udp(data: &[u8]) -> Option<(UdpFlow, &[u8])> {
    let fixed: &[u8; 20] = data.first_chunk()?;
    let header = usize::from(fixed[0] & 0x0f) * 4;
    let is_whole = u16::from_be_bytes([fixed[6], fixed[7]]) & 0x3fff == 0;
    if fixed[0] >> 4 != 4 || header < 20 || fixed[9] != Ipv4Header::UDP || !is_whole {
        return None;
    }
    let [a, b, c, d, high, low, _, _] = *data.get(header..)?.first_chunk::<8>()?;
    let address = |at: usize| Ipv4Address::new(fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]);
    let flow = UdpFlow {
        source: address(12),
        destination: address(16),
        source_port: u16::from_be_bytes([a, b]),
        destination_port: u16::from_be_bytes([c, d]),
        dscp: fixed[1] >> 2,
    };
    let octets = usize::from(u16::from_be_bytes([high, low])).saturating_sub(8);
    let payload = &data[header + 8..];
    Some((flow, &payload[..payload.len().min(octets)]))
}

fn flow(kind: EtherType, data: &[u8]) -> Option<UdpFlow> {
    if kind == EtherType::IPV4 { udp(data).map(|(flow, _)| flow) } else { None }
}

/// A hash of contents, of which at most `most` octets count: the same for the same frame, padded or not, wherever it was captured.
pub(crate) fn digest(kind: u16, data: &[u8], octets: u64, most: usize) -> u64 {
    let mut hasher = DefaultHasher::new();
    kind.hash(&mut hasher);
    let data = &data[..data.len().min(most)];
    if octets <= DATA_MIN as u64 {
        let end = data.iter().rposition(|octet| *octet != 0).map_or(0, |last| last + 1);
        data[..end].hash(&mut hasher);
    } else {
        octets.hash(&mut hasher);
        data.hash(&mut hasher);
    }
    hasher.finish()
}
