//! Programs of a station: of which stream a packet is, when it may be sent by what the stream promises, and what is counted.
//!
//! A program sends when it likes, and bounds and simulation hold for what the description promises. So a packet waits until its frame is
//! one that the talker of the description could create. Not here: devices and namespaces (`attach.rs`), the way of the frame (`node.rs`).

use std::collections::{BTreeMap, VecDeque};

use tautwire_model::Network;
use tautwire_model::network::{ArrivalCurve, NodeIndex, Stream, StreamIndex, Traffic, UdpFlow, wire_bits};
use tautwire_sim::DropReason;
use tautwire_units::{BitRate, Bits, Bytes, Duration, Instant};
use tautwire_wire::{Ipv4Header, LiveMessage};

/// Most packets of a stream that wait.
const WAITING_MAX: usize = 256;

/// What a run counts of the packets of a stream that programs send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramStream {
    /// The stream.
    pub stream: StreamIndex,
    /// Packets that came from programs.
    pub packets: u64,
    /// Those that waited for what the stream promises, and how long at most.
    pub waited: u64,
    /// The longest wait.
    pub wait_max: Duration,
    /// Those that had waited in vain when the run ended.
    pub unsent: u64,
    /// Those that were discarded, for they were longer than the stream promises.
    pub too_long: u64,
    /// Those that were discarded, for too many waited.
    pub too_many: u64,
}

/// What a run counts of the programs of a station.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StationPrograms {
    /// The station.
    pub node: NodeIndex,
    /// Streams that its programs feed.
    pub streams: Vec<ProgramStream>,
    /// Packets from its programs that are of none of these streams.
    pub unmatched: u64,
    /// Packets that its programs' device took.
    pub given: u64,
    /// Packets that the device did not take.
    pub not_given: u64,
}

/// What a stream promises of when its frames come.
#[derive(Clone, Debug)]
pub(crate) enum Pace {
    /// A packet takes the place of a frame that the described talker creates.
    Places,
    /// At most so many frames in an interval: the instants of the last ones.
    Apart { burst: usize, interval: Duration, last: VecDeque<Instant> },
    /// A token bucket, and when it is full again.
    Bucket { curve: ArrivalCurve, full: Instant },
    /// Nothing.
    Free,
}

impl Pace {
    pub(crate) fn new(stream: &Stream) -> Self {
        match (&stream.traffic, stream.arrival) {
            (Traffic::Periodic { interval, burst, .. }, _) if stream.open_phase => {
                Self::Apart { burst: *burst as usize, interval: *interval, last: VecDeque::new() }
            }
            (Traffic::Poisson { .. }, None) => Self::Free,
            (Traffic::Greedy { .. } | Traffic::Poisson { .. }, Some(curve)) if curve.rate > BitRate::ZERO => {
                Self::Bucket { curve, full: Instant::ZERO }
            }
            _ => Self::Places,
        }
    }

    /// Whether a frame of so many bits on the wire can ever come.
    fn takes(&self, bits: Bits) -> bool {
        match self {
            Self::Bucket { curve, .. } => bits <= curve.burst,
            _ => true,
        }
    }

    /// When a frame may come, not before `now`; none if only with one of the described talker.
    pub(crate) fn earliest(&self, now: Instant, bits: Bits) -> Option<Instant> {
        Some(match self {
            Self::Places => return None,
            Self::Free => now,
            Self::Apart { burst, interval, last } => match last.front() {
                Some(first) if last.len() == *burst => now.max(*first + *interval),
                _ => now,
            },
            Self::Bucket { curve, full } => {
                // How long before it is full it holds enough, in ps, rounded down.
                let spare = u128::from(curve.burst.saturating_sub(bits).get()) * 1_000_000_000_000;
                let spare = u64::try_from(spare / u128::from(curve.rate.as_bps())).unwrap_or(u64::MAX);
                now.max(Instant::from_ps(full.as_ps().saturating_sub(spare)))
            }
        })
    }

    /// A frame comes.
    pub(crate) fn sent(&mut self, at: Instant, bits: Bits) {
        match self {
            Self::Places | Self::Free => {}
            Self::Apart { burst, last, .. } => {
                if last.len() == *burst {
                    last.pop_front();
                }
                last.push_back(at);
            }
            Self::Bucket { curve, full } => *full = at.max(*full) + curve.rate.duration_ceil(bits),
        }
    }
}

/// A packet that waits.
#[derive(Debug)]
struct Packet {
    came: Instant,
    octets: Vec<u8>,
}

/// A stream that programs feed.
#[derive(Debug)]
pub(crate) struct Feed {
    flow: UdpFlow,
    payload_min: usize,
    payload_max: usize,
    is_tagged: bool,
    pub(crate) pace: Pace,
    waiting: VecDeque<Packet>,
    /// Whether its next packet is among the events of the node.
    pub(crate) is_put: bool,
    seen: ProgramStream,
}

impl Feed {
    /// MAC client data of the frame of a packet, which is padded to the least that is described; and its bits on the wire.
    fn frame(&self, packet: &[u8]) -> (usize, Bits) {
        let payload = packet.len().max(self.payload_min);
        (payload, wire_bits(Bytes::new(payload as u64), self.is_tagged))
    }

    /// When the next packet may be sent, not before `now`; none if none waits, or it waits for the described talker.
    pub(crate) fn next(&self, now: Instant) -> Option<Instant> {
        let packet = self.waiting.front()?;
        self.pace.earliest(packet.came.max(now), self.frame(&packet.octets).1)
    }

    /// Takes the next packet out, to be sent now: the data of its frame, and its length.
    pub(crate) fn take(&mut self, now: Instant) -> Option<(Vec<u8>, u16)> {
        let Packet { came, octets } = self.waiting.pop_front()?;
        let (payload, bits) = self.frame(&octets);
        self.pace.sent(now, bits);
        let wait = now.saturating_since(came);
        self.seen.waited += u64::from(!wait.is_zero());
        self.seen.wait_max = self.seen.wait_max.max(wait);
        Some((octets, u16::try_from(payload).expect("a checked length")))
    }
}

/// Programs of a station.
#[derive(Debug)]
pub(crate) struct Programs {
    node: NodeIndex,
    pub(crate) feeds: BTreeMap<u32, Feed>,
    unmatched: u64,
    /// Stream of the last datagram whose first fragment came, by its identification: the others have no ports.
    fragmented: Option<(u16, u32)>,
    /// Packets for them.
    pub(crate) given: Vec<Vec<u8>>,
}

impl Programs {
    /// Those of a station: they feed its streams that have addresses.
    pub(crate) fn new(network: &Network, node: NodeIndex) -> Self {
        let mut feeds = BTreeMap::new();
        for (number, stream) in network.streams.iter().enumerate() {
            let Some(flow) = stream.udp.filter(|_| stream.talker == node) else { continue };
            let number = StreamIndex::at(number);
            let octets = |size: Bytes| usize::try_from(size.get()).unwrap_or(usize::MAX);
            let feed = Feed {
                flow,
                payload_min: octets(stream.payload_min),
                payload_max: octets(stream.payload_max),
                is_tagged: stream.tagged,
                pace: Pace::new(stream),
                waiting: VecDeque::new(),
                is_put: false,
                seen: ProgramStream {
                    stream: number,
                    packets: 0,
                    waited: 0,
                    wait_max: Duration::ZERO,
                    unsent: 0,
                    too_long: 0,
                    too_many: 0,
                },
            };
            feeds.insert(number.0, feed);
        }
        Self { node, feeds, unmatched: 0, fragmented: None, given: Vec::new() }
    }

    /// Takes a packet that a program has sent; gives its stream, and why it is discarded, if it is.
    pub(crate) fn take(&mut self, now: Instant, packet: &[u8]) -> Option<(u32, Option<DropReason>)> {
        let Some(stream) = self.stream_of(packet) else {
            self.unmatched += 1;
            return None;
        };
        let feed = self.feeds.get_mut(&stream).expect("it was just found");
        feed.seen.packets += 1;
        let (payload, bits) = feed.frame(packet);
        let reason = if payload > feed.payload_max || !feed.pace.takes(bits) {
            feed.seen.too_long += 1;
            Some(DropReason::PolicedLength)
        } else if feed.waiting.len() == WAITING_MAX {
            feed.seen.too_many += 1;
            Some(DropReason::PolicedRate)
        } else {
            feed.waiting.push_back(Packet { came: now, octets: packet.to_vec() });
            None
        };
        Some((stream, reason))
    }

    /// Of its streams with the addresses of a packet: one with its ports, else one with its code point, else the first.
    fn stream_of(&mut self, packet: &[u8]) -> Option<u32> {
        let (header, data) = Ipv4Header::parse(packet).ok()?;
        let is_fragment = header.fragment & 0x3fff != 0;
        let is_first = header.fragment & 0x1fff == 0;
        if let Some((_, stream)) = self.fragmented.filter(|(of, _)| !is_first && *of == header.identification)
        {
            return Some(stream);
        }
        let ports = match data {
            [a, b, c, d, ..] if header.protocol == Ipv4Header::UDP && is_first => {
                Some((u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d])))
            }
            _ => None,
        };
        let fits = |flow: &UdpFlow| {
            let has_ports = ports == Some((flow.source_port, flow.destination_port));
            (has_ports, flow.dscp == header.traffic_class >> 2)
        };
        let alike = |flow: &UdpFlow| (flow.source, flow.destination) == (header.source, header.destination);
        let own = self.feeds.iter().filter(|(_, feed)| alike(&feed.flow));
        // Of equal ones the last has the greatest value: so from the last to the first.
        let (stream, _) = own.rev().max_by_key(|(_, feed)| fits(&feed.flow))?;
        self.fragmented =
            (is_fragment && is_first).then_some((header.identification, *stream)).or(self.fragmented);
        Some(*stream)
    }

    /// Gives the packet of a frame to programs.
    pub(crate) fn give(&mut self, data: &[u8]) {
        let Some(packet) = data.get(LiveMessage::OCTETS..) else { return };
        let length = packet.get(2..4).map_or(0, |two| usize::from(u16::from_be_bytes([two[0], two[1]])));
        self.given.extend(packet.get(..length).map(<[u8]>::to_vec));
    }

    /// What was counted.
    pub(crate) fn seen(&self) -> StationPrograms {
        let streams = self.feeds.values();
        let streams = streams.map(|feed| ProgramStream { unsent: feed.waiting.len() as u64, ..feed.seen });
        let (node, unmatched) = (self.node, self.unmatched);
        StationPrograms { node, streams: streams.collect(), unmatched, given: 0, not_given: 0 }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const TEXT: &str = "\
name: addressed
nodes: {a: {type: end-station}, x: {type: end-station}}
links: [{between: [a, x], rate: 100 Mbit/s}]
streams:
  - {name: one, talker: a, listeners: x, payload: 128 B, traffic: {type: periodic, interval: 1 ms, burst: 2},
     udp: {source: 10.0.0.1, destination: 10.0.0.2, source-port: 1, destination-port: 2, dscp: 46}}
  - {name: two, talker: a, listeners: x, payload: {min: 46 B, max: 300 B}, traffic: {type: periodic, interval: 1 ms, offset: 0 s},
     udp: {source: 10.0.0.1, destination: 10.0.0.2, source-port: 3, destination-port: 4, dscp: 34}}
  - {name: three, talker: a, listeners: x, payload: 100 B, traffic: {type: periodic, interval: 1 ms},
     udp: {source: 10.0.0.1, destination: 10.0.0.3, source-port: 1, destination-port: 2}}
  - {name: other, talker: x, listeners: a, payload: 100 B, traffic: {type: periodic, interval: 1 ms},
     udp: {source: 10.0.0.2, destination: 10.0.0.1, source-port: 1, destination-port: 2}}
run: {duration: 10 ms}
";

    fn network() -> Network {
        let loaded = tautwire_workbench::load_text("addressed.yaml", TEXT);
        loaded.network.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
    }

    /// A packet from 10.0.0.1.
    fn packet(to: u8, protocol: u8, dscp: u8, fragment: u16, data: &[u8]) -> Vec<u8> {
        let mut octets = Vec::new();
        Ipv4Header {
            traffic_class: dscp << 2,
            payload_length: data.len() as u16,
            identification: 7,
            fragment,
            time_to_live: 64,
            protocol,
            source: Ipv4Addr::new(10, 0, 0, 1),
            destination: Ipv4Addr::new(10, 0, 0, to),
        }
        .emit(&mut octets);
        octets.extend_from_slice(data);
        octets
    }

    #[test]
    fn a_packet_is_of_the_stream_with_its_addresses_ports_and_code_point() {
        let mut programs = Programs::new(&network(), NodeIndex(0));
        assert_eq!(programs.feeds.keys().copied().collect::<Vec<_>>(), [0, 1, 2]);
        let ports = |from: u8, to: u8| [0, from, 0, to, 0, 8, 0, 0];
        for (octets, expected) in [
            (packet(2, 17, 0, 0, &ports(1, 2)), Some(0)),
            (packet(2, 17, 46, 0, &ports(3, 4)), Some(1)),
            (packet(3, 17, 46, 0, &ports(3, 4)), Some(2)),
            // Not its ports: by its code point, then the first.
            (packet(2, 17, 34, 0, &ports(9, 9)), Some(1)),
            (packet(2, 1, 34, 0, &ports(1, 2)), Some(1)),
            (packet(2, 17, 0, 0, &ports(9, 9)), Some(0)),
            (packet(2, 6, 0, 0, &[]), Some(0)),
            // A datagram in three fragments, and the rest of another.
            (packet(2, 17, 0, 0x2000, &ports(3, 4)), Some(1)),
            (packet(2, 17, 0, 0x2001, &[9; 8]), Some(1)),
            (packet(2, 17, 0, 0x0002, &[9; 8]), Some(1)),
            (packet(4, 17, 0, 0, &ports(1, 2)), None),
            (vec![0x60; 40], None),
            (vec![0x45; 10], None),
            (Vec::new(), None),
        ] {
            let found = programs.take(Instant::ZERO, &octets);
            assert_eq!(found, expected.map(|stream| (stream, None)), "{octets:02x?}");
        }
        assert_eq!(programs.seen().unmatched, 4);
        let packets: Vec<_> = programs.seen().streams.iter().map(|own| own.packets).collect();
        assert_eq!(packets, [3, 6, 1]);
    }

    #[test]
    fn a_packet_that_is_too_long_or_one_too_many_is_discarded() {
        let mut programs = Programs::new(&network(), NodeIndex(0));
        let of = |length: usize| packet(3, 17, 0, 0, &vec![0; length - 20]);
        assert_eq!(programs.take(Instant::ZERO, &of(101)), Some((2, Some(DropReason::PolicedLength))));
        for number in 0..=WAITING_MAX {
            let expected = (number == WAITING_MAX).then_some(DropReason::PolicedRate);
            assert_eq!(programs.take(Instant::ZERO, &of(100)), Some((2, expected)));
        }
        let seen = programs.seen().streams[2];
        assert_eq!((seen.too_long, seen.too_many, seen.unsent), (1, 1, WAITING_MAX as u64));
        // A short one is padded to what is described.
        let feed = programs.feeds.get_mut(&2).expect("a stream");
        assert_eq!(feed.frame(&[0; 28]), (100, wire_bits(Bytes::new(100), true)));
        assert_eq!(
            feed.take(Instant::ZERO).map(|(octets, payload)| (octets.len(), payload)),
            Some((100, 100))
        );
    }

    #[test]
    fn what_comes_for_programs_is_given_without_padding() {
        let mut programs = Programs::new(&network(), NodeIndex(0));
        let sent = packet(2, 17, 0, 0, &[5; 30]);
        let mut data = Vec::new();
        let message = LiveMessage { stream: 0, number: 0, created: 0, payload: 128, is_of_program: true };
        message.emit(&sent, &mut data);
        programs.give(&data);
        // A length that is longer than the frame, and no packet at all.
        data[LiveMessage::OCTETS + 2] = 9;
        programs.give(&data);
        programs.give(&data[..LiveMessage::OCTETS + 3]);
        programs.give(&[]);
        assert_eq!(programs.given, [sent, Vec::new()]);
    }

    /// Frames as early as a pace lets them come, of packets that are always there.
    fn earliest(pace: &mut Pace, sizes: &[u64]) -> Vec<(Instant, Bits)> {
        let mut now = Instant::ZERO;
        sizes
            .iter()
            .map(|size| {
                let bits = Bits::new(*size);
                now = pace.earliest(now, bits).expect("no places");
                pace.sent(now, bits);
                (now, bits)
            })
            .collect()
    }

    #[test]
    fn frames_are_as_far_apart_as_promised_and_no_farther() {
        let network = network();
        assert!(matches!(Pace::new(&network.streams[1]), Pace::Places));
        let mut pace = Pace::new(&network.streams[0]);
        let ms = |at: u64| Instant::ZERO + Duration::from_ms(at);
        let times: Vec<_> = earliest(&mut pace, &[800; 5]).into_iter().map(|(at, _)| at).collect();
        assert_eq!(times, [ms(0), ms(0), ms(1), ms(1), ms(2)]);
        // Behind a pause two may come at once again.
        assert_eq!(pace.earliest(ms(9), Bits::new(800)), Some(ms(9)));
    }

    #[test]
    fn a_bucket_holds_every_stretch_and_wastes_nothing() {
        let curve = ArrivalCurve { rate: BitRate::from_bps(1_000_003), burst: Bits::new(5_000) };
        let mut pace = Pace::Bucket { curve, full: Instant::ZERO };
        assert!(pace.takes(Bits::new(5_000)) && !pace.takes(Bits::new(5_001)));
        let sizes: Vec<u64> = (0..200).map(|number| 700 + number * 7919 % 4_300).collect();
        let frames = earliest(&mut pace, &sizes);
        for (first, (from, _)) in frames.iter().enumerate() {
            let mut sum = Bits::ZERO;
            for (to, bits) in &frames[first..] {
                sum += *bits;
                assert!(sum <= curve.burst + curve.rate.bits_ceil(to.since(*from)), "from frame {first}");
            }
        }
        // At the rate, but for the burst and a picosecond for each frame.
        let all: u64 = sizes.iter().sum();
        let end = frames.last().expect("some").0.since(Instant::ZERO);
        let least = curve.rate.duration_floor(Bits::new(all - 5_000));
        assert!(end >= least && end <= least + Duration::from_ps(200), "{end:?} {least:?}");
    }
}
