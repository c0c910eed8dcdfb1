//! Talkers: their applications begin and stop to send.

use tautwire_model::network::StreamIndex;
use tautwire_units::Instant;

use crate::clock::SimTime;
use crate::control::controls::Deferred;
use crate::engine::Engine;
use crate::recorder::Recorder;

/// The actions of a mechanism on talkers.
pub trait Talkers {
    /// What the clock reads now that the application of a stream's talker follows.
    fn talker_time(&self, stream: StreamIndex) -> Instant;

    /// Whether the application of a stream's talker sends.
    fn is_sending(&self, stream: StreamIndex) -> bool;

    /// A stream begins, as if for the first time; not before its talker's clock reads `not_before`.
    fn start_stream(&mut self, stream: StreamIndex, not_before: Option<Instant>);

    /// A stream stops.
    fn stop_stream(&mut self, stream: StreamIndex);

    /// The application of a stream sends a message, after the calling runner has acted; its delay counts from `since`.
    fn send_message(&mut self, stream: StreamIndex, since: SimTime);
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Talkers for Engine<'_, R, PLUGGED> {
    fn talker_time(&self, stream: StreamIndex) -> Instant {
        Self::talker_time(self, stream)
    }

    fn is_sending(&self, stream: StreamIndex) -> bool {
        self.talkers[stream.index()].running
    }

    fn start_stream(&mut self, stream: StreamIndex, not_before: Option<Instant>) {
        Self::start_stream(self, stream, not_before);
    }

    fn stop_stream(&mut self, stream: StreamIndex) {
        self.talkers[stream.index()].running = false;
    }

    fn send_message(&mut self, stream: StreamIndex, since: SimTime) {
        self.plugged().controls.deferred.push_back(Deferred::Message(stream, since));
    }
}
