//! The events of a run for a recorder, which is chosen once per run as a type.

use std::any::Any;

use tautwire_core::control::Addresses;
use tautwire_core::gptp::DisciplinedClock;
use tautwire_core::preemption::MPacket;
use tautwire_model::Network;
use tautwire_observe::DelayParts;
use tautwire_units::Duration;
use tautwire_wire::EtherType;

use crate::SimTime;
use crate::result::{DropReason, Observation};

/// A frame's transmission over one link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// When the frame, or this copy of it, reached the queue of the port.
    pub queued: SimTime,
    /// When its ATS scheduler, its slot or its BAG let it go to those that wait for the line; else `queued`.
    pub released: SimTime,
    /// When it was selected.
    pub selected: SimTime,
    /// The parts of its delay at this hop.
    pub parts: DelayParts,
    /// When the first bit of the preamble left.
    pub start: SimTime,
    /// When the line was free for the next frame.
    pub end: SimTime,
    /// When the last bit was received at the far end.
    pub received: SimTime,
    /// Sending port.
    pub port: u32,
    /// Traffic class.
    pub class: u8,
    /// Stream.
    pub stream: u32,
    /// Number of the frame within its stream.
    pub number: u32,
    /// Hop within its stream.
    pub hop: u32,
    /// Octets, destination to FCS.
    pub octets: u32,
}

/// An mPacket: a frame, or a part of one, as a port sends it that may cut frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentPart {
    /// When the first bit of its preamble left.
    pub start: SimTime,
    /// When the line was free for the next one.
    pub end: SimTime,
    /// Sending port.
    pub port: u32,
    /// Stream.
    pub stream: u32,
    /// Number of the frame within its stream.
    pub number: u32,
    /// Hop within its stream.
    pub hop: u32,
    /// How it begins.
    pub mpacket: MPacket,
    /// Octets of the frame before it.
    pub offset: u32,
    /// Octets of the frame in it.
    pub octets: u32,
    /// Octets of the frame, destination to FCS.
    pub frame: u32,
    /// Whether the frame ends with it.
    pub is_last: bool,
}

/// An mPacket that verifies or responds, as a port sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentVerification {
    /// When the first bit of its preamble left.
    pub start: SimTime,
    /// When the line was free for the next one.
    pub end: SimTime,
    /// Sending port.
    pub port: u32,
    /// What it is.
    pub mpacket: MPacket,
}

/// The contents of a protocol's frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contents<'a> {
    /// Its type.
    pub ether_type: EtherType,
    /// All behind the type, without padding.
    pub octets: &'a [u8],
    /// Its addresses, if they are not its stream's.
    pub addresses: Option<Addresses>,
}

/// Receives the events of a run. Every method does nothing by default.
pub trait Recorder {
    /// Whether it takes transmissions: if not, they are not composed.
    fn takes_transmissions(&self) -> bool {
        true
    }

    /// An application created a frame of `octets` of payload.
    fn created(&mut self, time: SimTime, stream: u32, number: u32, octets: u32) {
        let _ = (time, stream, number, octets);
    }

    /// A mechanism's note about a frame, before its transmission is recorded: a value of a type of the mechanism's.
    fn noted(&mut self, stream: u32, number: u32, note: &dyn Any) {
        let _ = (stream, number, note);
    }

    /// The contents of a protocol's frame: before each of its transmissions is recorded, as they leave.
    fn contents(&mut self, stream: u32, number: u32, contents: Contents<'_>) {
        let _ = (stream, number, contents);
    }

    /// An application is about to answer a request, which became complete with this frame of the stream that the other
    /// answers; or it does not, because it is stopped.
    fn answering(&mut self, stream: u32, request: u32, is_sent: bool) {
        let _ = (stream, request, is_sent);
    }

    /// Whether it takes the octets of messages; they are not made if not.
    fn takes_messages(&self) -> bool {
        false
    }

    /// The octets of the message that a frame carries, before its transmission is recorded (`test_bed/`).
    fn message(&mut self, stream: u32, number: u32, octets: &[u8]) {
        let _ = (stream, number, octets);
    }

    /// gPTP has corrected the clock that a node's applications see.
    fn disciplined(&mut self, node: u32, clock: DisciplinedClock) {
        let _ = (node, clock);
    }

    /// An mPacket of a port that may cut frames, when its end is known: the last of a frame before its transmission is recorded.
    fn part_sent(&mut self, part: &SentPart) {
        let _ = part;
    }

    /// An mPacket of verification began.
    fn verification_sent(&mut self, sent: &SentVerification) {
        let _ = sent;
    }

    /// A transmission was decided; recorded at its start, with its complete future.
    fn transmitted(&mut self, transmission: &Transmission) {
        let _ = transmission;
    }

    /// A listener received a frame.
    fn delivered(&mut self, time: SimTime, stream: u32, listener: u32, number: u32, delay: Duration) {
        let _ = (time, stream, listener, number, delay);
    }

    /// The application at the end of a protocol stack received a frame, `delay` after its creation.
    fn handed_over(&mut self, time: SimTime, stream: u32, listener: u32, number: u32, delay: Duration) {
        let _ = (time, stream, listener, number, delay);
    }

    /// A listener has put a datagram together, `delay` after its creation.
    fn reassembled(&mut self, time: SimTime, stream: u32, listener: u32, datagram: u32, delay: Duration) {
        let _ = (time, stream, listener, datagram, delay);
    }

    /// A frame was lost between a listener's port and its application.
    fn lost_in_host(&mut self, time: SimTime, stream: u32, listener: u32, number: u32, reason: DropReason) {
        let _ = (time, stream, listener, number, reason);
    }

    /// A frame, or a copy of it, was lost. `hop` is the hop that it had passed or was about to pass.
    fn dropped(&mut self, time: SimTime, stream: u32, number: u32, hop: u32, reason: DropReason) {
        let _ = (time, stream, number, hop, reason);
    }

    /// A copy of a frame is on its way to a listener's port at the end of the run.
    fn in_flight(&mut self, stream: u32, number: u32) {
        let _ = (stream, number);
    }
}

/// Takes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoRecorder;

impl Recorder for NoRecorder {
    fn takes_transmissions(&self) -> bool {
        false
    }
}

/// A recorder around another one that puts what it saw to the rest when the run is over.
pub(crate) trait Watching: Recorder {
    /// Puts what it saw to the rest.
    fn finish(self: Box<Self>, observation: &mut Observation);
}

/// How a run is watched from within.
#[derive(Clone, Copy)]
pub(crate) struct Wrap {
    /// Whether runs of a network are.
    pub(crate) is_wanted: fn(&Network) -> bool,
    /// The recorder around another one, in a run of such a network with this seed.
    pub(crate) around: for<'r> fn(&'r Network, u64, &'r mut dyn Recorder) -> Box<dyn Watching + 'r>,
}
