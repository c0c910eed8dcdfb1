//! Notes of a mechanism for the recorder of a run, in the order of its frames: each note comes before the frame that
//! it is about. A note has a type of the mechanism's, which its readers know.

use std::any::Any;

use tautwire_model::network::StreamIndex;

use crate::control::controls::Deferred;
use crate::engine::Engine;
use crate::recorder::Recorder;

/// Notes of a mechanism.
pub trait Notes {
    /// Adds a note about a frame of a stream with this number; about its next one if no number is given.
    fn note(&mut self, stream: StreamIndex, number: Option<u32>, note: Box<dyn Any>);
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Notes for Engine<'_, R, PLUGGED> {
    fn note(&mut self, stream: StreamIndex, number: Option<u32>, note: Box<dyn Any>) {
        self.plugged().controls.deferred.push_back(Deferred::Note(stream, number, note));
    }
}
