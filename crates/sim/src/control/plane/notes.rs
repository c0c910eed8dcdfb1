//! What a mechanism tells the recorder of a run, in the order of its frames: each note before the frame that it is about.

use tautwire_core::tdma::Synchronisation;
use tautwire_model::network::StreamIndex;

use crate::control::controls::Deferred;
use crate::engine::Engine;
use crate::recorder::{MissedSlot, Recorder};

/// What a mechanism may tell.
pub trait Notes {
    /// The next frame of this stream opens a cycle, and says so much.
    fn opens_cycle(&mut self, stream: StreamIndex, says: Synchronisation);

    /// A frame that leaves its station next, or is given up there next, came too late for a slot that passed without use.
    fn slot_missed(&mut self, missed: MissedSlot);
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Notes for Engine<'_, R, PLUGGED> {
    fn opens_cycle(&mut self, stream: StreamIndex, says: Synchronisation) {
        self.plugged().controls.deferred.push_back(Deferred::OpensCycle(stream, says));
    }

    fn slot_missed(&mut self, missed: MissedSlot) {
        self.plugged().controls.deferred.push_back(Deferred::SlotMissed(missed));
    }
}
