//! Frames of protocols: what is done with their octets when a copy leaves, and when one is delivered.
//!
//! They are those of a runner (`control/runner.rs`). Not here: where octets are while a frame is on its way (`control/contents.rs`).

use std::sync::Arc;

use tautwire_units::Duration;

use crate::clock::SimTime;
use crate::control::contents::Frame;
use crate::engine::Engine;
use crate::frame::Slot;
use crate::recorder::{Contents, Recorder};

/// A copy of a frame that begins to leave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaving {
    pub(crate) stream: u32,
    pub(crate) number: u32,
    pub(crate) hop: u32,
    /// The link that it goes over.
    pub(crate) link: u32,
    /// When it came to the node; at the talker, when it was made.
    pub(crate) came: SimTime,
    pub(crate) start: SimTime,
    /// From the last bit that left to the last that is received.
    pub(crate) flight: Duration,
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    /// A protocol's frame begins to leave: its observers and the recorder are notified before its transmission is recorded.
    #[cold]
    pub(crate) fn octets_leave(&mut self, leaving: Leaving) {
        let Leaving { stream, number, hop, .. } = leaving;
        let Some(mut frame) = self.plugged().contents.behind(stream, number, hop) else { return };
        frame = self.pass_control_frame(leaving).unwrap_or(frame);
        self.control_frame_leaves(leaving, Arc::clone(&frame));
        if self.recorder.takes_transmissions() {
            let Frame { ether_type, octets, addresses, .. } = &*frame;
            let contents = Contents { ether_type: *ether_type, octets, addresses: *addresses };
            self.recorder.contents(stream, number, contents);
        }
    }

    /// Whether a delivered frame was a protocol's, which has taken it.
    pub(crate) fn take_octets(&mut self, slot: &Slot) -> bool {
        if !self.carries_octets(slot.stream) {
            return false;
        }
        let arrived = self.plugged().contents.take(slot.stream, slot.number, slot.hop);
        let arrived =
            arrived.expect("a stream of a protocol carries nothing else, and octets live as their frame");
        self.take_into_runner(slot.stream, slot.hop, arrived);
        true
    }
}
