//! pcapng captures of a run, readable by Wireshark (draft-ietf-opsawg-pcapng).
//!
//! Every link direction is an interface with its name and speed; time stamps are nanoseconds (rounded down) since the
//! start of the run, of the first bit of the preamble. Frames are rebuilt: real headers of the stream, and a payload
//! that starts with `tautwire`, the index of the stream and the number of the frame (32 bits each, big endian). No
//! FCS. The links of a port that may cut frames, or verifies or responds, have mPackets instead, with preamble, delimiter and check
//! (IEEE Std 802.3-2022, 99.3; `mpackets.rs`). With TDMA, synchronisation frames are those of RTnet, with the stamps of their sender's clock, and ordinary
//! frames are tunnelled: four octets of their payload are the header of RTmac. Messages of a test bed have their own
//! octets after headers of IPv4 and UDP, with addresses of our choice if the description states none.
//!
//! Frames are built straight into the block; the crate that reads captures elsewhere checks them in
//! the tests.

use std::collections::BTreeMap;
use std::io;
use std::io::{BufWriter, Write};

use tautwire_core::control::Addresses;
use tautwire_model::Network;
use tautwire_model::network::{Link, NodeIndex, PortIndex, Stream, StreamIndex, UdpFlow};
use tautwire_observe::{FrameEvent, FrameRecord};
use tautwire_sim::{Contents, MissedSlot, SentPart, SentVerification};
use tautwire_units::Duration;
use tautwire_wire::{
    EtherType, EthernetHeader, FrameMark, Ipv4Address, Ipv4Header, RtmacHeader, UdpHeader, VlanTag,
};

use crate::frer::Numbered;
use crate::mpackets::{mpacket, verification};
use crate::name;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
const LINK_TYPE_ETHERNET: u16 = 1;
/// Ethernet mPackets, from their preambles to their checks: of ports that may cut frames.
const LINK_TYPE_MPACKET: u16 = 274;
/// Option codes.
const END_OF_OPTIONS: u16 = 0;
const COMMENT: u16 = 1;
const APPLICATION: u16 = 4;
const INTERFACE_NAME: u16 = 2;
const INTERFACE_SPEED: u16 = 8;
const TIME_STAMP_RESOLUTION: u16 = 9;
/// Synchronisation frames of a stream that may be on their way at a time.
const OPENINGS: u32 = 64;
/// The first of the ports without an owner: for messages whose description states none.
const DYNAMIC: u16 = 49_152;
/// FCS, which captures leave out.
const FCS: u64 = 4;

/// Information about a frame in addition to its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known<'a> {
    /// None: its octets identify the frame.
    Nothing,
    /// The octets of the message that it carries, behind the headers.
    Message(&'a [u8]),
    /// Its type, all behind that, and its addresses.
    Frame(Contents<'a>),
}

/// Writes transmissions as they come.
#[derive(Debug)]
pub struct PcapngWriter<'a, W: Write> {
    to: BufWriter<W>,
    network: &'a Network,
    block: Vec<u8>,
    frame: Vec<u8>,
    /// Slots that frames missed, each a sentence, by stream and number.
    missed: BTreeMap<(u32, u32), Vec<String>>,
    /// Slots that frames missed which never left: the packets of the next synchronisation frame have a comment about them.
    given_up: Vec<String>,
    /// Interfaces of ports, in a capture of a live run.
    interfaces: Vec<u32>,
}

impl<'a, W: Write> PcapngWriter<'a, W> {
    /// Begins a file: its section and an interface for each link direction, in the network's order.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(to: W, network: &'a Network) -> io::Result<Self> {
        let mut capture = Self::begun(to, network, "tautwire")?;
        for link in &network.links {
            capture.interface(link)?;
        }
        Ok(capture)
    }

    /// Begins a capture of a live run: an interface for each port, with the frames that it received and the instants at which it did.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn of_live_run(to: W, network: &'a Network) -> io::Result<Self> {
        let mut capture = Self::begun(to, network, tautwire_captures::LIVE_RUN)?;
        let mut next = 0;
        for (number, port) in network.ports.iter().enumerate() {
            capture.interfaces.push(next);
            let Some(links) = port.links else { continue };
            let rate = network.links[links.ingress.index()].rate.as_bps();
            capture.describe(&name::port(network, PortIndex::at(number)), LINK_TYPE_ETHERNET, rate)?;
            next += 1;
        }
        Ok(capture)
    }

    /// Writes a frame that a port received in a live run, without FCS, so many nanoseconds since the start.
    ///
    /// # Errors
    /// If the file cannot be written.
    ///
    /// # Panics
    /// If the capture is of a simulated run.
    pub fn received(&mut self, port: PortIndex, ns: u64, frame: &[u8]) -> io::Result<()> {
        let octets = u32::try_from(frame.len()).expect("a frame is short");
        self.begin(ENHANCED_PACKET);
        for word in [self.interfaces[port.index()], high(ns), low(ns), octets, octets] {
            self.block.extend_from_slice(&word.to_le_bytes());
        }
        self.block.extend_from_slice(frame);
        self.pad();
        self.end()
    }

    /// A file with its section.
    fn begun(to: W, network: &'a Network, application: &str) -> io::Result<Self> {
        let mut capture = Self {
            to: BufWriter::new(to),
            network,
            block: Vec::new(),
            frame: Vec::new(),
            missed: BTreeMap::new(),
            given_up: Vec::new(),
            interfaces: Vec::new(),
        };
        capture.begin(SECTION_HEADER);
        capture.block.extend_from_slice(&BYTE_ORDER_MAGIC.to_le_bytes());
        capture.block.extend_from_slice(&1_u16.to_le_bytes());
        capture.block.extend_from_slice(&0_u16.to_le_bytes());
        capture.block.extend_from_slice(&u64::MAX.to_le_bytes());
        capture.option(APPLICATION, application.as_bytes());
        capture.option(END_OF_OPTIONS, &[]);
        capture.end()?;
        Ok(capture)
    }

    /// Takes the number of a synchronisation frame, before its first transmission.
    pub fn synchronised(&mut self, stream: u32, number: u32) {
        for text in std::mem::take(&mut self.given_up) {
            self.comment(stream, number, text);
        }
    }

    /// Takes a slot that a frame missed, before its first transmission: the comments of its packets state it, or, if
    /// it never leaves, those of the next synchronisation frame.
    pub fn slot_missed(&mut self, missed: &MissedSlot) {
        let Some(tdma) = &self.network.tdma else { return };
        let owned = &tdma.slots[missed.slot];
        let owner = name::node(self.network, owned.owner);
        let text = format!("missed the slot of {owner} at {} of cycle {}", owned.slot.offset, missed.cycle);
        if missed.is_sent {
            return self.comment(missed.stream, missed.number, text);
        }
        let (stream, number) = (&self.network.streams[missed.stream as usize].name, missed.number);
        self.given_up.push(format!("frame {number} of {stream}, never sent, {text}"));
    }

    /// Adds a comment to the packets of a frame.
    fn comment(&mut self, stream: u32, number: u32, text: String) {
        self.missed.retain(|(other, past), _| *other != stream || *past + OPENINGS > number);
        self.missed.entry((stream, number)).or_default().push(text);
    }

    /// Writes a transmission; other records are skipped.
    ///
    /// # Errors
    /// If the file cannot be written.
    ///
    /// # Panics
    /// If the record is of another network.
    pub fn record(&mut self, record: &FrameRecord) -> io::Result<()> {
        self.record_with(record, Known::Nothing, None)
    }

    /// The same for a frame with further information.
    ///
    /// # Errors
    /// If the file cannot be written.
    ///
    /// # Panics
    /// If the record is of another network.
    pub fn record_with(
        &mut self,
        record: &FrameRecord,
        known: Known<'_>,
        part: Option<&SentPart>,
    ) -> io::Result<()> {
        if record.event != FrameEvent::Transmitted {
            return Ok(());
        }
        let stream = &self.network.streams[record.stream as usize];
        let hop = &stream.hops[record.hop as usize];
        let links = self.network.ports[record.port as usize].links.expect("what sends is connected");
        let mut frame = std::mem::take(&mut self.frame);
        frame.clear();
        let is_tunnelled =
            self.network.tdma.is_some() && !self.network.is_real_time(StreamIndex(record.stream));
        match known {
            Known::Frame(Contents { ether_type, octets, addresses }) => {
                let tag = VlanTag::new(hop.priority.number(), Some(stream.vlan_at(hop)))
                    .filter(|_| hop.tagged.vlan);
                let own = Addresses { destination: stream.destination_at(hop), source: stream.source };
                let Addresses { destination, source } = addresses.unwrap_or(own);
                EthernetHeader { destination, source, tag, ether_type }.emit(&mut frame);
                frame.extend_from_slice(octets);
                let end = usize::try_from(record.length.get().saturating_sub(FCS)).expect("a frame is short");
                frame.resize(end.max(frame.len()), 0);
            }
            Known::Message(octets) => build(&mut frame, self.network, record, (is_tunnelled, Some(octets))),
            Known::Nothing => build(&mut frame, self.network, record, (is_tunnelled, None)),
        }
        if let Some(part) = part {
            frame = mpacket(&frame, part);
        }
        self.packet(links.egress.0, record.time, &frame);
        self.frame = frame;
        if let Some(missed) = self.missed.get(&(record.stream, record.number)) {
            let text = missed.join("; ");
            self.option(COMMENT, text.as_bytes());
            self.option(END_OF_OPTIONS, &[]);
        }
        self.end()
    }

    /// Writes an mPacket of verification.
    ///
    /// # Errors
    /// If the file cannot be written.
    ///
    /// # Panics
    /// If it is of another network.
    pub fn record_verification(&mut self, sent: &SentVerification) -> io::Result<()> {
        let links = self.network.ports[sent.port as usize].links.expect("what sends is connected");
        self.packet(links.egress.0, sent.start.since_start(), &verification(sent.mpacket));
        self.end()
    }

    /// Begins the block of a packet.
    fn packet(&mut self, link: u32, time: Duration, frame: &[u8]) {
        let octets = u32::try_from(frame.len()).expect("a frame is short");
        // Rounded down: the stamp is not later than the event.
        let ns = time.as_ps() / 1_000;
        self.begin(ENHANCED_PACKET);
        for word in [link, high(ns), low(ns), octets, octets] {
            self.block.extend_from_slice(&word.to_le_bytes());
        }
        self.block.extend_from_slice(frame);
        self.pad();
    }

    /// Ends the file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.to.flush()
    }

    fn interface(&mut self, link: &Link) -> io::Result<()> {
        let ends = format!("{} > {}", name::port(self.network, link.from), name::port(self.network, link.to));
        let merges = self.network.merges(link.from);
        self.describe(&ends, if merges { LINK_TYPE_MPACKET } else { LINK_TYPE_ETHERNET }, link.rate.as_bps())
    }

    fn describe(&mut self, name: &str, link_type: u16, bits_per_second: u64) -> io::Result<()> {
        self.begin(INTERFACE_DESCRIPTION);
        self.block.extend_from_slice(&link_type.to_le_bytes());
        self.block.extend_from_slice(&0_u16.to_le_bytes());
        self.block.extend_from_slice(&0_u32.to_le_bytes());
        self.option(INTERFACE_NAME, name.as_bytes());
        self.option(INTERFACE_SPEED, &bits_per_second.to_le_bytes());
        self.option(TIME_STAMP_RESOLUTION, &[9]);
        self.option(END_OF_OPTIONS, &[]);
        self.end()
    }

    fn begin(&mut self, block_type: u32) {
        self.block.clear();
        self.block.extend_from_slice(&block_type.to_le_bytes());
        self.block.extend_from_slice(&[0; 4]);
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        let length = u16::try_from(value.len()).expect("a short option");
        self.block.extend_from_slice(&code.to_le_bytes());
        self.block.extend_from_slice(&length.to_le_bytes());
        self.block.extend_from_slice(value);
        self.pad();
    }

    fn pad(&mut self) {
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    /// Writes the block with its length before and behind.
    fn end(&mut self) -> io::Result<()> {
        let length = u32::try_from(self.block.len() + 4).expect("a short block").to_le_bytes();
        self.block[4..8].copy_from_slice(&length);
        self.block.extend_from_slice(&length);
        self.to.write_all(&self.block)
    }
}

fn high(value: u64) -> u32 {
    u32::try_from(value >> 32).expect("32 bits are left")
}

fn low(value: u64) -> u32 {
    u32::try_from(value & 0xffff_ffff).expect("32 bits are left")
}

/// The frame of an application as it is on the wire behind this hop, without FCS; an ordinary one of TDMA is tunnelled by RTmac.
fn build(
    frame: &mut Vec<u8>,
    network: &Network,
    record: &FrameRecord,
    (is_tunnelled, message): (bool, Option<&[u8]>),
) {
    let stream = &network.streams[record.stream as usize];
    let hop = &stream.hops[record.hop as usize];
    let tag = VlanTag::new(hop.priority.number(), Some(stream.vlan_at(hop))).filter(|_| hop.tagged.vlan);
    let assumed = message.map(|_| assumed_flow(stream));
    let udp = stream.udp.as_ref().or(assumed.as_ref());
    let ether_type = if udp.is_some() { EtherType::IPV4 } else { EtherType::LOCAL_EXPERIMENTAL };
    let outer = if is_tunnelled { EtherType::RTMAC } else { ether_type };
    let (destination, source) = (stream.destination_at(hop), stream.source);
    EthernetHeader { destination, source, tag, ether_type: outer }.emit(frame);
    let whole = usize::try_from(record.length.get().saturating_sub(FCS)).expect("a frame is short");
    let numbered = Numbered::of(network, record.stream, record.hop as usize, record.number);
    let header = frame.len();
    numbered.iter().for_each(|numbered| numbered.before(frame, whole));
    let end = whole - numbered.map_or(0, Numbered::behind);
    let room = end.saturating_sub(frame.len());
    let client_data = room.min(usize::try_from(stream.payload_max.get()).expect("a frame is short"));
    let client_data = if is_tunnelled {
        RtmacHeader::Tunnelled(ether_type).emit(frame);
        client_data.saturating_sub(RtmacHeader::OCTETS)
    } else {
        client_data
    };
    match udp {
        Some(udp) if stream.datagrams.is_some() => {
            let cut = stream.datagrams.expect("looked at");
            let piece = cut.piece(StreamIndex(record.stream), record.number);
            let data = usize::try_from(cut.data()).expect("a datagram is short");
            let first = FrameRecord { number: piece.datagram * cut.fragments(), ..*record };
            let mut datagram = Vec::new();
            let header = UdpHeader { source_port: udp.source_port, destination_port: udp.destination_port };
            let contents = message.map_or_else(|| payload(&first, data), <[u8]>::to_vec);
            header.emit(udp.source, udp.destination, &contents, &mut datagram);
            let more = if piece.more { 0x2000 } else { 0 };
            let ip = Ipv4Header {
                traffic_class: udp.dscp << 2,
                payload_length: u16::try_from(piece.length).expect("a frame is short"),
                identification: u16::try_from(piece.datagram & 0xffff).expect("16 bits are left"),
                fragment: u16::try_from(piece.offset / 8).expect("a datagram is short") | more,
                time_to_live: 64,
                protocol: Ipv4Header::UDP,
                source: udp.source,
                destination: udp.destination,
            };
            ip.emit(frame);
            let [from, length] = [piece.offset, piece.length]
                .map(|octets| usize::try_from(octets).expect("a datagram is short"));
            frame.extend_from_slice(&datagram[from..from + length]);
        }
        Some(udp) => {
            let headers = Ipv4Header::OCTETS + UdpHeader::OCTETS;
            let room = client_data.saturating_sub(headers);
            let payload = match message {
                Some(octets) => octets[..octets.len().min(room)].to_vec(),
                None => payload(record, room),
            };
            let length = u16::try_from(payload.len() + UdpHeader::OCTETS).expect("a frame is short");
            let ip = Ipv4Header {
                traffic_class: udp.dscp << 2,
                payload_length: length,
                identification: u16::try_from(record.number & 0xffff).expect("16 bits are left"),
                fragment: 0x4000,
                time_to_live: 64,
                protocol: Ipv4Header::UDP,
                source: udp.source,
                destination: udp.destination,
            };
            ip.emit(frame);
            let header = UdpHeader { source_port: udp.source_port, destination_port: udp.destination_port };
            header.emit(udp.source, udp.destination, &payload, frame);
        }
        None => frame.extend_from_slice(&payload(record, client_data)),
    }
    if frame.len() < end {
        frame.resize(end, 0);
    }
    numbered.iter().for_each(|numbered| numbered.after(frame, header));
}

/// Addresses of a message whose description states none: stations by their numbers, a virtual link's group by its
/// identifier, as in ARINC 664 part 7.
fn assumed_flow(stream: &Stream) -> UdpFlow {
    let station = |node: NodeIndex| {
        let [.., high, low] = node.0.to_be_bytes();
        Ipv4Address::from([10, 0, high, low])
    };
    let destination = match (&stream.virtual_link, &stream.listeners[..]) {
        (Some(link), _) => {
            let [high, low] = link.id.to_be_bytes();
            Ipv4Address::from([224, 224, high, low])
        }
        (None, [listener, ..]) => station(*listener),
        (None, []) => Ipv4Address::BROADCAST,
    };
    UdpFlow {
        source: station(stream.talker),
        destination,
        source_port: DYNAMIC,
        destination_port: DYNAMIC,
        dscp: 0,
    }
}

/// The mark, the stream and the number, then octets that count up; cut to `length`.
fn payload(record: &FrameRecord, length: usize) -> Vec<u8> {
    let mut payload = Vec::with_capacity(length.max(FrameMark::OCTETS));
    FrameMark { stream: record.stream, number: record.number }.emit(&mut payload);
    payload.extend((0..=u8::MAX).cycle().take(length.saturating_sub(payload.len())));
    payload.truncate(length);
    payload
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use pcap_file::pcapng::{Block, PcapNgReader};
    use tautwire_units::Bytes;

    fn record(network: &Network, stream: u32, hop: u32, length: u64, time: Duration) -> FrameRecord {
        let port = network.streams[stream as usize].hops[hop as usize].port.0;
        let event = FrameEvent::Transmitted;
        FrameRecord { time, stream, number: 7, hop, port, event, length: Bytes::new(length) }
    }

    /// Interface, time stamp in ns and octets.
    type Packet = (u32, u64, Vec<u8>);

    /// Names of the interfaces, and the packets.
    fn read(octets: &[u8]) -> (Vec<String>, Vec<Packet>) {
        let (mut names, mut packets) = (Vec::new(), Vec::new());
        let mut reader = PcapNgReader::new(octets).expect("a section");
        while let Some(block) = reader.next_block() {
            match block.expect("a block") {
                Block::InterfaceDescription(interface) => {
                    let resolution = interface.options.iter().find_map(|option| match option {
                        pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionOption::IfTsResol(
                            resolution,
                        ) => Some(*resolution),
                        _ => None,
                    });
                    assert_eq!(resolution, Some(9));
                    names.extend(interface.options.iter().find_map(|option| {
                        match option {
                        pcap_file::pcapng::blocks::interface_description::InterfaceDescriptionOption::IfName(
                            name,
                        ) => Some(name.to_string()),
                        _ => None,
                    }
                    }));
                }
                Block::EnhancedPacket(packet) => {
                    let ns = u64::try_from(packet.timestamp.as_nanos()).expect("a short run");
                    packets.push((packet.interface_id, ns, packet.data.to_vec()));
                }
                other => panic!("{other:?}"),
            }
        }
        (names, packets)
    }

    #[test]
    fn a_capture_is_read_back_by_another() {
        let (network, _, _) = fixture::line();
        let network = network.altered(|parts| parts.streams[1].udp = None);
        let mut octets = Vec::new();
        let mut capture = PcapngWriter::new(&mut octets, &network).expect("begun");
        let late = Duration::from_s(5) + Duration::from_ps(1_999);
        let records = [
            record(&network, 2, 0, 1_422, Duration::from_ns(12_345)),
            record(&network, 1, 1, 150, Duration::from_us(20)),
            record(&network, 0, 0, 86, late),
        ];
        for record in &records {
            capture.record(record).expect("written");
        }
        capture.record(&FrameRecord { event: FrameEvent::Queued, ..records[0] }).expect("passed over");
        capture.finish().expect("ended");
        let (names, packets) = read(&octets);
        assert_eq!(names.len(), network.links.len());
        assert_eq!(names[0], "camera.p1 > front.p1");
        assert_eq!(packets.len(), 3);
        assert_eq!(packets[0].1, 12_345);
        assert_eq!(packets[2].1, 5_000_000_001, "rounded down");
        for ((interface, _, frame), record) in packets.iter().zip(&records) {
            assert_eq!(frame.len() as u64, record.length.get() - FCS);
            assert_eq!(network.links[*interface as usize].from.0, record.port);
            let stream = &network.streams[record.stream as usize];
            let (header, rest) = EthernetHeader::parse(frame).expect("a header");
            assert_eq!((header.destination, header.source), (stream.destination, stream.source));
            assert_eq!(header.tag.map(|tag| tag.priority_code_point()), Some(stream.priority.number()));
            let payload = match &stream.udp {
                Some(udp) => {
                    let (ip, rest) = Ipv4Header::parse(rest).expect("IPv4");
                    assert_eq!(u64::from(ip.payload_length) + 20, stream.payload_max.get());
                    let (header, payload) = UdpHeader::parse(rest, ip.source, ip.destination).expect("UDP");
                    assert_eq!(header.destination_port, udp.destination_port);
                    payload
                }
                None => {
                    assert_eq!(header.ether_type, EtherType::LOCAL_EXPERIMENTAL);
                    rest
                }
            };
            assert_eq!(&payload[..8], b"tautwire");
            assert_eq!(FrameMark::parse(payload), Ok(FrameMark { stream: record.stream, number: 7 }));
        }
    }
}
