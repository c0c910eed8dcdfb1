//! Stream identification (IEEE Std 802.1CB-2017 and 802.1CBdb-2021, clause 6): names of the functions, the functions of each reception
//! port, and the octets at which they look.
//!
//! `core` (`identification.rs`) defines the fields that a function uses; which stream the frames of each hop are taken for is determined
//! once, when a description is built (`resolve/identification.rs`). A node looks at a frame twice: as it is on the wire, for the functions of
//! 802.1CB, and as these leave it to the relay, for its stream filters and ATS schedulers.

use tautwire_core::identification::{Header, StreamIdentification};
use tautwire_units::Bytes;
use tautwire_wire::{
    EtherType, EthernetHeader, HsrTag, Ipv4Header, MacAddress, PrpTrailer, RTag, SEQUENCE_TAG, UdpHeader,
    VlanId, VlanTag,
};

use crate::frame::{Tags, frame_length};
use crate::frer::Encapsulation;
use crate::network::{Hop, Network, NodeIndex, PortIndex, Stream, StreamIndex, UdpFlow};

/// A stream identification function, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdentificationFunction {
    /// Null stream identification (6.4): destination address and VLAN.
    NullStream,
    /// Source MAC and VLAN stream identification (6.5).
    SmacVlan,
    /// IP stream identification (6.7).
    Ip,
    /// Mask-and-match stream identification (802.1CBdb 6.8).
    MaskAndMatch,
}

impl IdentificationFunction {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::NullStream, Self::SmacVlan, Self::Ip, Self::MaskAndMatch];

    /// As in the YANG module of 802.1CB.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NullStream => "null-stream-identification",
            Self::SmacVlan => "smac-vlan-stream-identification",
            Self::Ip => "ip-stream-identification",
            Self::MaskAndMatch => "mask-and-match-stream-identification",
        }
    }

    /// The function of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|function| function.name() == name)
    }
}

/// As what a node looks at a frame that it receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// As it is on the wire: for the functions of 802.1CB.
    Wire,
    /// As these functions leave it: without what they take off and put back at this node.
    Relay,
}

/// The stream of which a node takes the frames that come over a hop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Identified {
    /// Their own.
    #[default]
    Own,
    /// Another, whose function they match first.
    Other(StreamIndex),
    /// None.
    Nothing,
}

impl Identified {
    /// The stream handle of frames of a stream; none: no function identifies them.
    #[must_use]
    pub const fn handle(self, own: StreamIndex) -> Option<StreamIndex> {
        match self {
            Self::Own => Some(own),
            Self::Other(stream) => Some(stream),
            Self::Nothing => None,
        }
    }
}

/// A row of a port's functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The stream of which frames are that match.
    pub stream: StreamIndex,
    /// The function; none: the frames of this stream, whatever they contain.
    pub function: Option<StreamIdentification>,
}

/// The functions of a reception port, in their order: a frame is of the first one's stream that it matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortIdentities {
    /// The port.
    pub port: PortIndex,
    /// What they look at.
    pub layer: Layer,
    /// The functions.
    pub list: Vec<Identity>,
}

impl PortIdentities {
    /// In a network in which streams have other indices.
    pub(crate) fn moved(&self, place: &[Option<StreamIndex>]) -> Self {
        let of =
            |row: &Identity| Identity { stream: moved(row.stream, place), function: row.function.clone() };
        Self { list: self.list.iter().map(of).collect(), ..self.clone() }
    }
}

/// The index of a stream in a network with some streams alone. Those that are not in it keep a number that no stream has: their functions are
/// still there.
pub(crate) fn moved(stream: StreamIndex, place: &[Option<StreamIndex>]) -> StreamIndex {
    let is_absent = stream.index() >= place.len();
    if is_absent { stream } else { place[stream.index()].unwrap_or(StreamIndex(u32::MAX - stream.0)) }
}

impl Network {
    /// The functions of a reception port; none: every stream is identified by itself.
    #[must_use]
    pub fn identities(&self, port: PortIndex, layer: Layer) -> Option<&[Identity]> {
        let at = self.identities.binary_search_by_key(&(port, layer), |one| (one.port, one.layer)).ok()?;
        Some(&self.identities[at].list)
    }
}

/// The octets that frames of a stream have where they come in, without FCS: the smallest and the largest; of datagrams of several frames the
/// first and the others. Those that vary from frame to frame are left zero.
#[derive(Clone, Debug)]
pub struct SeenFrames {
    pub(crate) destination: MacAddress,
    pub(crate) source: MacAddress,
    /// VLAN of the tag, if they have one.
    pub(crate) vlan: Option<VlanId>,
    frames: Vec<Vec<u8>>,
    /// Their headers, and the octets before the EtherType.
    read: Vec<Header<'static>>,
    before: usize,
    numbered: Option<Encapsulation>,
    is_udp: bool,
    is_cut: bool,
    has_sizes: bool,
}

impl SeenFrames {
    /// Of a stream that comes to a node by a hop.
    #[must_use]
    pub fn new(stream: &Stream, before: &Hop, node: NodeIndex, layer: Layer) -> Self {
        let is_relay = layer == Layer::Relay;
        let (destination, vlan) = if is_relay {
            stream.received(before, node)
        } else {
            (stream.destination_at(before), stream.vlan_at(before))
        };
        let is_put_back = is_relay && stream.is_put_back(before, node);
        let priority = if is_put_back { stream.priority } else { before.priority };
        let replication = stream.replication.as_deref().filter(|_| before.tagged.sequence);
        let recovers = |of: &&crate::frer::FrameReplication| of.recoveries.iter().any(|one| one.node == node);
        let numbered = replication.filter(|of| !(is_relay && recovers(of))).map(|of| of.encapsulation);
        let cut = stream.datagrams.filter(|cut| cut.fragments() > 1);
        let mut seen = Self {
            destination,
            source: stream.source,
            vlan: before.tagged.vlan.then_some(vlan),
            frames: Vec::new(),
            read: Vec::new(),
            before: 12,
            numbered,
            is_udp: stream.udp.is_some(),
            is_cut: cut.is_some(),
            has_sizes: stream.payload_min != stream.payload_max,
        };
        let tag = VlanTag::new(priority.number(), seen.vlan).filter(|_| seen.vlan.is_some());
        seen.frames = match (stream.udp, cut) {
            (Some(udp), Some(cut)) => [0, 1]
                .into_iter()
                .map(|piece| {
                    let piece = cut.piece(StreamIndex(0), piece);
                    let mut contents = vec![0; usize::try_from(cut.data()).expect("a datagram is short")];
                    contents = udp_datagram(udp, &contents);
                    let [from, length] = [piece.offset, piece.length].map(|octets| octets as usize);
                    let fragment = u16::try_from(piece.offset / 8).expect("a datagram is short");
                    let more = if piece.more { 0x2000 } else { 0 };
                    let data = packet(udp, fragment | more, &contents[from..from + length]);
                    seen.frame(tag, EtherType::IPV4, &data)
                })
                .collect(),
            (Some(udp), None) => sizes(stream)
                .map(|octets| {
                    let contents = udp_datagram(udp, &vec![0; octets.saturating_sub(28)]);
                    seen.frame(tag, EtherType::IPV4, &packet(udp, 0x4000, &contents))
                })
                .into(),
            (None, _) => sizes(stream)
                .map(|octets| seen.frame(tag, EtherType::LOCAL_EXPERIMENTAL, &vec![0; octets]))
                .into(),
        };
        for frame in &seen.frames {
            let header = Header::read(frame).expect("written here");
            seen.before = frame.len() - header.data.len();
            seen.read.push(Header { data: &[], ..header });
        }
        seen
    }

    /// A frame with this MAC client data, padded.
    fn frame(&self, tag: Option<VlanTag>, ether_type: EtherType, data: &[u8]) -> Vec<u8> {
        let mut frame = Vec::new();
        EthernetHeader { destination: self.destination, source: self.source, tag, ether_type }
            .emit(&mut frame);
        let own = frame.split_off(frame.len() - 2);
        match self.numbered {
            Some(Encapsulation::RTag) => RTag { sequence: 0 }.emit(&mut frame),
            Some(Encapsulation::Hsr) => HsrTag { path: 0, size: 0, sequence: 0 }.emit(&mut frame),
            Some(Encapsulation::Prp) | None => {}
        }
        frame.extend(own);
        frame.extend(data);
        let tags = Tags { vlan: tag.is_some(), sequence: self.numbered.is_some() };
        let payload = Bytes::new(data.len() as u64);
        // Without FCS.
        let end = usize::try_from(frame_length(payload, tags).get()).expect("a frame is short") - 4;
        let behind = if self.numbered == Some(Encapsulation::Prp) { SEQUENCE_TAG as usize } else { 0 };
        frame.resize(end - behind, 0);
        if behind > 0 {
            PrpTrailer { sequence: 0, lan: 0, size: 0 }.emit(&mut frame);
        }
        frame
    }

    /// The octets.
    #[must_use]
    pub fn frames(&self) -> &[Vec<u8>] {
        &self.frames
    }

    /// Their headers.
    pub(crate) fn headers(&self) -> impl DoubleEndedIterator<Item = Header<'_>> {
        let both = self.frames.iter().zip(&self.read);
        both.map(|(frame, read)| Header { data: &frame[self.before..], ..*read })
    }

    /// An octet from the EtherType on, of the frames that have it.
    pub(crate) fn octet(&self, octet: usize) -> u8 {
        self.headers().filter_map(|header| header.data.get(octet).copied()).next_back().unwrap_or(0)
    }

    /// Whether an octet from the EtherType on is not the same in all frames.
    pub(crate) fn varies(&self, octet: usize) -> bool {
        let octet = match self.numbered {
            // Sequence number.
            Some(Encapsulation::RTag) if octet < 6 => return octet >= 4,
            // Path, size and sequence number.
            Some(Encapsulation::Hsr) if octet < 6 => return octet >= 2,
            Some(Encapsulation::RTag | Encapsulation::Hsr) => octet - 6,
            Some(Encapsulation::Prp) | None => octet,
        };
        match octet {
            0 | 1 => false,
            _ if !self.is_udp => true,
            // Lengths of the packet and of its datagram.
            4 | 5 | 26 | 27 => self.has_sizes || self.is_cut,
            // IPv4 identification and checksum.
            6 | 7 | 12 | 13 => true,
            // Offset of a fragment, and what only the first one has.
            8 | 9 | 22..=25 => self.is_cut,
            // UDP checksum and data.
            28.. => true,
            _ => false,
        }
    }

    /// Whether they match a function; none if some do and some do not.
    pub(crate) fn matches(&self, function: &StreamIdentification) -> Option<bool> {
        let mut known = function.clone();
        let mut all = true;
        if let StreamIdentification::MaskAndMatch { data, .. } = &mut known {
            for (octet, (mask, left)) in data.iter_mut().enumerate() {
                if *mask != 0 && self.varies(octet) {
                    all = false;
                    (*mask, *left) = (0, 0);
                }
            }
        }
        let (mut some, mut none) = (false, false);
        for header in self.headers() {
            let matches = known.matches(&header);
            (some, none) = (some | matches, none | !matches);
        }
        match (some, none) {
            (false, _) => Some(false),
            (true, false) if all => Some(true),
            _ => None,
        }
    }
}

/// Least and most octets of MAC client data.
fn sizes(stream: &Stream) -> [usize; 2] {
    [stream.payload_min, stream.payload_max]
        .map(|octets| usize::try_from(octets.get()).expect("a frame is short"))
}

/// A datagram with its UDP header.
fn udp_datagram(udp: UdpFlow, data: &[u8]) -> Vec<u8> {
    let mut octets = Vec::new();
    let header = UdpHeader { source_port: udp.source_port, destination_port: udp.destination_port };
    header.emit(udp.source, udp.destination, data, &mut octets);
    octets
}

/// A packet with these contents.
fn packet(udp: UdpFlow, fragment: u16, contents: &[u8]) -> Vec<u8> {
    let mut octets = Vec::new();
    let ip = Ipv4Header {
        traffic_class: udp.dscp << 2,
        payload_length: u16::try_from(contents.len()).expect("a datagram is short"),
        identification: 0,
        fragment,
        time_to_live: 64,
        protocol: Ipv4Header::UDP,
        source: udp.source,
        destination: udp.destination,
    };
    ip.emit(&mut octets);
    octets.extend(contents);
    octets
}
