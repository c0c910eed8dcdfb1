//! Every transmission of chosen streams, as columns: a row for each frame and hop.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt32Array, UInt64Array};
use tautwire_model::Network;
use tautwire_sim::{DropReason, Recorder, SimTime, Transmission};
use tautwire_units::Duration;

/// Collects the transmissions of chosen streams.
pub(crate) struct Frames {
    chosen: Vec<bool>,
    seen: Vec<Transmission>,
    messages: Vec<Message>,
}

/// What became of a frame at an application behind a protocol stack.
struct Message {
    time: SimTime,
    stream: u32,
    listener: u32,
    number: u32,
    fate: Result<Duration, DropReason>,
}

impl Frames {
    /// A collector for the streams that `chosen` marks, in the network's order.
    pub(crate) const fn new(chosen: Vec<bool>) -> Self {
        Self { chosen, seen: Vec::new(), messages: Vec::new() }
    }

    /// What was collected, in the order in which transmissions were decided.
    pub(crate) fn batch(&self, network: &Network) -> RecordBatch {
        let text = |cell: &dyn Fn(&Transmission) -> String| -> ArrayRef {
            Arc::new(self.seen.iter().map(|one| Some(cell(one))).collect::<StringArray>())
        };
        let small = |cell: fn(&Transmission) -> u32| -> ArrayRef {
            Arc::new(self.seen.iter().map(cell).map(Some).collect::<UInt32Array>())
        };
        let time = |cell: fn(&Transmission) -> u64| -> ArrayRef {
            Arc::new(self.seen.iter().map(cell).map(Some).collect::<UInt64Array>())
        };
        let name = |one: &Transmission| network.streams[one.stream as usize].name.clone();
        let columns = [
            ("stream", text(&name)),
            ("number", small(|one| one.number)),
            ("hop", small(|one| one.hop)),
            ("octets", small(|one| one.octets)),
            ("queued_ps", time(|one| one.queued.as_ps())),
            ("selected_ps", time(|one| one.selected.as_ps())),
            ("held_ps", time(|one| one.parts.shaping.as_ps())),
            ("start_ps", time(|one| one.start.as_ps())),
            ("end_ps", time(|one| one.end.as_ps())),
            ("received_ps", time(|one| one.received.as_ps())),
        ];
        RecordBatch::try_from_iter(columns).expect("all columns have a cell for each row")
    }
}

impl Frames {
    /// What applications received and what their hosts lost, in order.
    pub(crate) fn messages(&self, network: &Network) -> RecordBatch {
        let text = |cell: &dyn Fn(&Message) -> Option<String>| -> ArrayRef {
            Arc::new(self.messages.iter().map(cell).collect::<StringArray>())
        };
        let time = |cell: fn(&Message) -> Option<u64>| -> ArrayRef {
            Arc::new(self.messages.iter().map(cell).collect::<UInt64Array>())
        };
        let stream = |one: &Message| Some(network.streams[one.stream as usize].name.clone());
        let listener = |one: &Message| {
            let node = network.streams[one.stream as usize].listeners[one.listener as usize];
            Some(network.nodes[node.index()].name.clone())
        };
        let lost = |one: &Message| one.fate.err().map(|reason| reason.name().to_owned());
        let numbers: UInt32Array = self.messages.iter().map(|one| Some(one.number)).collect();
        let columns = [
            ("stream", text(&stream)),
            ("listener", text(&listener)),
            ("number", Arc::new(numbers) as ArrayRef),
            ("time_ps", time(|one| Some(one.time.as_ps()))),
            ("delay_ps", time(|one| one.fate.ok().map(Duration::as_ps))),
            ("lost", text(&lost)),
        ];
        RecordBatch::try_from_iter(columns).expect("all columns have a cell for each row")
    }

    fn keep(&mut self, message: Message) {
        if self.chosen[message.stream as usize] {
            self.messages.push(message);
        }
    }
}

impl Recorder for Frames {
    fn handed_over(&mut self, time: SimTime, stream: u32, listener: u32, number: u32, delay: Duration) {
        self.keep(Message { time, stream, listener, number, fate: Ok(delay) });
    }

    fn lost_in_host(&mut self, time: SimTime, stream: u32, listener: u32, number: u32, reason: DropReason) {
        self.keep(Message { time, stream, listener, number, fate: Err(reason) });
    }

    #[inline]
    fn transmitted(&mut self, transmission: &Transmission) {
        if self.chosen[transmission.stream as usize] {
            self.seen.push(*transmission);
        }
    }
}
