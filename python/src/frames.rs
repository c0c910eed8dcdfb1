//! Every transmission of chosen streams, as columns: a row for each frame and hop.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt32Array, UInt64Array};
use tautwire_model::Network;
use tautwire_sim::{Recorder, Transmission};

/// Collects the transmissions of chosen streams.
pub(crate) struct Frames {
    chosen: Vec<bool>,
    seen: Vec<Transmission>,
}

impl Frames {
    /// A collector for the streams that `chosen` marks, in the network's order.
    pub(crate) const fn new(chosen: Vec<bool>) -> Self {
        Self { chosen, seen: Vec::new() }
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
            ("held_ps", time(|one| one.held.as_ps())),
            ("start_ps", time(|one| one.start.as_ps())),
            ("end_ps", time(|one| one.end.as_ps())),
            ("received_ps", time(|one| one.received.as_ps())),
        ];
        RecordBatch::try_from_iter(columns).expect("all columns have a cell for each row")
    }
}

impl Recorder for Frames {
    #[inline]
    fn transmitted(&mut self, transmission: &Transmission) {
        if self.chosen[transmission.stream as usize] {
            self.seen.push(*transmission);
        }
    }
}
