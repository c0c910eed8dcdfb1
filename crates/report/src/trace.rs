//! Writes the events of a run to a Parquet trace, a capture, or both, while it runs.
//!
//! A failed write is remembered and reported at the end: the run goes on, without trace.

use std::any::Any;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::io;
use std::io::Write;

use tautwire_core::control::Addresses;
use tautwire_core::tdma::Synchronisation;
use tautwire_model::frame_length;
use tautwire_model::network::{Network, PortIndex};
use tautwire_observe::{FrameEvent, FrameRecord};
use tautwire_sim::{Contents, DropReason, Recorder, SentPart, SentVerification, SimTime, Transmission};
use tautwire_units::{Bytes, Duration};
use tautwire_wire::EtherType;

use crate::frame_trace::FrameTraceWriter;
use crate::pcapng::{Known, PcapngWriter};

/// A recorder of [`tautwire_sim::run_with`] that writes traces.
#[derive(Debug)]
pub struct TraceRecorder<'a, W: Write + Send> {
    network: &'a Network,
    frames: Option<FrameTraceWriter<W>>,
    capture: Option<PcapngWriter<'a, W>>,
    /// Transmissions that have been decided and not begun: they are captured in order of time. At
    /// most a few of each port.
    ahead: BinaryHeap<Reverse<Ahead>>,
    order: u64,
    /// Length of the frame that is on its way to a listener: stream, number, listener.
    arriving: HashMap<(u32, u32, u32), Arriving>,
    /// The contents of a protocol's frame whose transmission comes next, and of those in `ahead` by their recording order.
    contents: Option<(EtherType, Vec<u8>, Option<Addresses>)>,
    contents_ahead: HashMap<u64, (EtherType, Vec<u8>, Option<Addresses>)>,
    /// The message of the transmission that comes next, and of those in `ahead`.
    message: Option<Vec<u8>>,
    messages_ahead: HashMap<u64, Vec<u8>>,
    /// Parts of frames in `ahead`; and those of protocols' frames whose contents are not known yet.
    parts_ahead: HashMap<u64, SentPart>,
    /// mPackets of verification in `ahead`.
    verifications_ahead: HashMap<u64, SentVerification>,
    /// Per port, whether its links have mPackets.
    merges: Vec<bool>,
    untold: Vec<SentPart>,
    /// The longest time from the start of a part of a frame to its record.
    lag: Duration,
    error: Option<io::Error>,
}

/// A transmission that has not begun, in order of time, then of recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ahead {
    time: Duration,
    order: u64,
    stream: u32,
    number: u32,
    hop: u32,
    port: u32,
    length: Bytes,
}

#[derive(Clone, Copy, Debug)]
struct Arriving {
    hop: u32,
    port: u32,
    length: Bytes,
}

impl<'a, W: Write + Send> TraceRecorder<'a, W> {
    /// Writes Parquet to `frames` and pcapng to `capture`, to those that are given.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn new(network: &'a Network, frames: Option<W>, capture: Option<W>) -> io::Result<Self> {
        let merges: Vec<bool> =
            (0..network.ports.len()).map(|port| network.merges(PortIndex::at(port))).collect();
        Ok(Self {
            network,
            frames: frames.map(|to| FrameTraceWriter::new(to, network)).transpose()?,
            capture: capture.map(|to| PcapngWriter::new(to, network)).transpose()?,
            ahead: BinaryHeap::new(),
            order: 0,
            arriving: HashMap::new(),
            contents: None,
            contents_ahead: HashMap::new(),
            message: None,
            messages_ahead: HashMap::new(),
            parts_ahead: HashMap::new(),
            verifications_ahead: HashMap::new(),
            lag: lag(network, &merges),
            merges,
            untold: Vec::new(),
            error: None,
        })
    }

    /// Ends the files.
    ///
    /// # Errors
    /// If anything could not be written, now or during the run.
    pub fn finish(mut self) -> io::Result<()> {
        self.capture_until(Duration::MAX);
        if let Some(error) = self.error {
            return Err(error);
        }
        self.frames.map_or(Ok(()), FrameTraceWriter::finish)?;
        self.capture.map_or(Ok(()), PcapngWriter::finish)
    }

    fn attempt(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            self.error.get_or_insert(error);
            (self.frames, self.capture) = (None, None);
        }
    }

    fn record(&mut self, record: &FrameRecord) {
        let result = self.frames.as_mut().map_or(Ok(()), |frames| frames.record(record));
        self.attempt(result);
    }

    /// Captures what has begun by `now`.
    fn capture_until(&mut self, now: Duration) {
        while self.ahead.peek().is_some_and(|Reverse(next)| next.time <= now) {
            let Some(Reverse(next)) = self.ahead.pop() else { break };
            let Ahead { time, stream, number, hop, port, length, .. } = next;
            if let Some(sent) = self.verifications_ahead.remove(&next.order) {
                let result =
                    self.capture.as_mut().map_or(Ok(()), |capture| capture.record_verification(&sent));
                self.attempt(result);
                continue;
            }
            let record =
                FrameRecord { time, stream, number, hop, port, event: FrameEvent::Transmitted, length };
            let contents = self.contents_ahead.remove(&next.order);
            let message = self.messages_ahead.remove(&next.order);
            let part = self.parts_ahead.remove(&next.order);
            let known = match (&contents, &message) {
                (Some((ether_type, octets, addresses)), _) => {
                    Known::Frame(Contents { ether_type: *ether_type, octets, addresses: *addresses })
                }
                (None, Some(octets)) => Known::Message(octets),
                (None, None) => Known::Nothing,
            };
            let result = self
                .capture
                .as_mut()
                .map_or(Ok(()), |capture| capture.record_with(&record, known, part.as_ref()));
            self.attempt(result);
        }
    }
}

impl<W: Write + Send> Recorder for TraceRecorder<'_, W> {
    fn created(&mut self, time: SimTime, stream: u32, number: u32, octets: u32) {
        let of = &self.network.streams[stream as usize];
        let Some(first) = of.hops.first() else { return };
        let length = frame_length(Bytes::new(octets.into()), first.tagged);
        let (time, port) = (time.since_start(), first.port.0);
        self.record(&FrameRecord { time, stream, number, hop: 0, port, event: FrameEvent::Created, length });
    }

    fn noted(&mut self, stream: u32, number: u32, note: &dyn Any) {
        let Some(capture) = &mut self.capture else { return };
        if note.is::<Synchronisation>() {
            capture.synchronised(stream, number);
        } else if let Some(missed) = note.downcast_ref() {
            capture.slot_missed(missed);
        }
    }

    fn contents(&mut self, _stream: u32, _number: u32, contents: Contents<'_>) {
        if self.capture.is_some() {
            let Contents { ether_type, octets, addresses } = contents;
            self.contents = Some((ether_type, octets.to_vec(), addresses));
        }
    }

    fn takes_messages(&self) -> bool {
        self.capture.is_some()
    }

    fn message(&mut self, _stream: u32, _number: u32, octets: &[u8]) {
        self.message = Some(octets.to_vec());
    }

    fn part_sent(&mut self, part: &SentPart) {
        if self.capture.is_none() {
            return;
        }
        self.capture_until(part.start.since_start().saturating_sub(self.lag));
        let is_control = self.network.streams[part.stream as usize].traffic.is_control();
        if is_control && !part.is_last {
            return self.untold.push(*part);
        }
        let is_of_it = |other: &mut SentPart| {
            (other.stream, other.number, other.hop) == (part.stream, part.number, part.hop)
        };
        let contents = self.contents.take();
        let before: Vec<SentPart> = self.untold.extract_if(.., is_of_it).collect();
        for part in before.iter().chain([part]) {
            let length = Bytes::new(part.frame.into());
            let ahead = Ahead {
                time: part.start.since_start(),
                order: self.order,
                stream: part.stream,
                number: part.number,
                hop: part.hop,
                port: part.port,
                length,
            };
            self.ahead.push(Reverse(ahead));
            self.parts_ahead.insert(self.order, *part);
            if let Some(contents) = &contents {
                self.contents_ahead.insert(self.order, contents.clone());
            }
            self.order += 1;
        }
    }

    fn verification_sent(&mut self, sent: &SentVerification) {
        if self.capture.is_none() {
            return;
        }
        let time = sent.start.since_start();
        self.capture_until(time.saturating_sub(self.lag));
        let order = self.order;
        let ahead = Ahead { time, order, stream: 0, number: 0, hop: 0, port: sent.port, length: Bytes::ZERO };
        self.ahead.push(Reverse(ahead));
        self.verifications_ahead.insert(order, *sent);
        self.order += 1;
    }

    fn transmitted(&mut self, sent: &Transmission) {
        let Transmission { stream, number, hop, port, .. } = *sent;
        let length = Bytes::new(sent.octets.into());
        let queued = sent.queued.since_start();
        let start = sent.start.since_start();
        let record =
            FrameRecord { time: queued, stream, number, hop, port, event: FrameEvent::Queued, length };
        self.record(&record);
        self.record(&FrameRecord { time: start, event: FrameEvent::Transmitted, ..record });
        if self.merges[port as usize] {
            // Its parts are recorded already.
            (self.contents, self.message) = (None, None);
        } else if self.capture.is_some() {
            self.capture_until(sent.selected.since_start().saturating_sub(self.lag));
            let ahead = Ahead { time: start, order: self.order, stream, number, hop, port, length };
            self.ahead.push(Reverse(ahead));
            if let Some(contents) = self.contents.take() {
                self.contents_ahead.insert(self.order, contents);
            }
            if let Some(message) = self.message.take() {
                self.messages_ahead.insert(self.order, message);
            }
            self.order += 1;
        }
        if self.frames.is_some() {
            let reached = self.network.streams[stream as usize].hops[hop as usize].listener;
            let links = self.network.ports[port as usize].links;
            if let (Some(listener), Some(links)) = (reached, links) {
                let port = self.network.links[links.egress.index()].to.0;
                self.arriving.insert((stream, number, listener), Arriving { hop, port, length });
            }
        }
    }

    fn delivered(&mut self, time: SimTime, stream: u32, listener: u32, number: u32, _delay: Duration) {
        let Some(Arriving { hop, port, length }) = self.arriving.remove(&(stream, number, listener)) else {
            return;
        };
        let event = FrameEvent::Delivered;
        self.record(&FrameRecord { time: time.since_start(), stream, number, hop, port, event, length });
    }

    fn dropped(&mut self, time: SimTime, stream: u32, number: u32, hop: u32, reason: DropReason) {
        let of = &self.network.streams[stream as usize].hops[hop as usize];
        let arriving = of.listener.and_then(|listener| self.arriving.remove(&(stream, number, listener)));
        let length = arriving.map_or(Bytes::ZERO, |arriving| arriving.length);
        let event = FrameEvent::Dropped { reason: reason.name() };
        let (time, port) = (time.since_start(), of.port.0);
        self.record(&FrameRecord { time, stream, number, hop, port, event, length });
    }
}

/// The longest time from the start of a part of a frame to its record: two frames of the slowest link that has mPackets.
fn lag(network: &Network, merges: &[bool]) -> Duration {
    let cuts = (0..network.ports.len()).filter(|port| merges[*port]).map(PortIndex::at);
    let frame = |port: PortIndex| {
        let settings = &network.ports[port.index()];
        let link = settings.links.map(|links| &network.links[links.egress.index()]);
        let octets = frame_length(settings.mtu, true) + Bytes::MEDIA_OVERHEAD;
        link.map_or(Duration::ZERO, |link| link.rate.duration_ceil(octets.bits()) * 2)
    };
    cuts.map(frame).max().unwrap_or(Duration::ZERO)
}
