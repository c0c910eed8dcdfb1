//! Frames that a node's software hands down: a mechanism may take them instead of the port, and release them later.
//!
//! Invariant: a frame that was handed down is handed on once, discarded once, or reported as held at the end. Not
//! here: what decides (the runners of mechanisms).

use tautwire_model::network::StreamIndex;
use tautwire_units::Bytes;

use crate::clock::SimTime;
use crate::control::contents::Frame;
use crate::control::controls::Deferred;
use crate::engine::Engine;
use crate::frame::Aim;
use crate::recorder::Recorder;
use crate::result::DropReason;

/// A frame that a mechanism has instead of its port.
#[derive(Clone, Copy, Debug)]
pub struct HandedDown {
    /// Its stream.
    pub stream: StreamIndex,
    /// Its number in it.
    pub number: u32,
    /// When it was created: since when its delay counts.
    pub created: SimTime,
    place: u32,
    aim: Aim,
}

impl HandedDown {
    /// One of a node on real interfaces, whose caller knows the frame by a number.
    pub(crate) const fn outside((stream, number): (StreamIndex, u32), created: SimTime, place: u32) -> Self {
        Self { stream, number, created, place, aim: Aim::DELIVERY }
    }

    /// The place of the frame in the slab.
    pub(crate) const fn place(&self) -> u32 {
        self.place
    }
}

/// What a mechanism may do with frames that were handed down to it.
pub trait HandingDown {
    /// The frame goes to its port, after the calling runner has acted.
    fn hand_on(&mut self, frame: HandedDown);

    /// The frame is lost at its talker, after the calling runner has acted.
    fn give_up(&mut self, frame: HandedDown, reason: DropReason);

    /// Makes the next frame of a stream of the mechanism's own, with this payload, as if it had been handed down now;
    /// none if its stream has no route, where the frame is lost.
    fn make_handed_down(&mut self, stream: StreamIndex, frame: Frame, payload: Bytes) -> Option<HandedDown>;
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> HandingDown for Engine<'_, R, PLUGGED> {
    fn hand_on(&mut self, frame: HandedDown) {
        self.plugged().controls.deferred.push_back(Deferred::HandOn(frame));
    }

    fn give_up(&mut self, frame: HandedDown, reason: DropReason) {
        self.plugged().controls.deferred.push_back(Deferred::GiveUp(frame, reason));
    }

    fn make_handed_down(&mut self, stream: StreamIndex, frame: Frame, payload: Bytes) -> Option<HandedDown> {
        let (place, aim) = self.make_frame(stream.0, frame, payload);
        if aim.is_none() {
            self.drop_at_talker(place, DropReason::NoRoute);
        }
        Some(self.handed_down(place, aim?, self.now))
    }
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    /// A frame in the form of a mechanism that takes it at `ready`.
    pub(in crate::control) fn handed_down(&mut self, place: u32, aim: Aim, ready: SimTime) -> HandedDown {
        let slot = self.slab.get_mut(place);
        slot.queued = ready;
        HandedDown {
            stream: StreamIndex(slot.stream),
            number: slot.number,
            created: slot.created,
            place,
            aim,
        }
    }

    /// A frame that was held goes to its port now.
    pub(in crate::control) fn put_handed_down(&mut self, HandedDown { place, aim, .. }: HandedDown) {
        let now = self.now;
        let slot = self.slab.get_mut(place);
        slot.held_before += now.saturating_since(slot.queued);
        self.take_aim(place, aim);
    }
}
