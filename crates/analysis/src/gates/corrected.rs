//! Gates whose clock is corrected to a stated precision, in true time.
//!
//! At every instant network time differs from true time by the precision at most. So each edge of a list happens within so much of its time, whatever is
//! corrected meanwhile: it happens once, when network time is there first. A frame that started because it would end before its gate closes ends before
//! the latest instant at which that gate may close. Windows are computed in true time, in which the line may be slower by the tolerance of its clock, and taken
//! on the node's clock after that (`ClassWindows::on_clock`). Not here: clocks that a protocol corrects, whose precision holds once they are settled.

use tautwire_model::Network;
use tautwire_model::gates::PortGates;
use tautwire_model::network::NodeIndex;

use super::port::Timing;
use super::restarts;
use crate::clock::Deviation;

/// Roundings of a reading of network time, picoseconds.
const ROUNDINGS: u64 = 4;

/// A clock that is corrected.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corrected {
    precision: u64,
}

impl Corrected {
    /// Of a node, if its precision is stated and holds from the start of the run to its end.
    pub(super) fn of(network: &Network, node: NodeIndex) -> Option<Self> {
        let settings = network.time_triggered.as_ref().filter(|_| network.as6802.is_none())?;
        (!restarts(network, node)).then(|| Self { precision: settings.precision.as_ps() })
    }

    /// By how much network time may differ from true time.
    pub(super) fn error(self) -> u64 {
        self.precision + ROUNDINGS
    }

    /// The times of a port in true time, of those on its clock.
    pub(super) fn timing(self, timing: Timing, deviation: Deviation) -> Timing {
        Timing {
            rate: deviation.shrink(timing.rate),
            lost: deviation.stretch(timing.lost),
            error: deviation.stretch(timing.error).saturating_add(self.error()),
            ..timing
        }
    }

    /// How long it may be until the first cycle starts, by network time that begins within the precision of zero.
    pub(super) fn first_cycle(self, gates: &PortGates) -> u64 {
        let parameters = &gates.parameters;
        let base = parameters.base_time.as_ps();
        // Where it may be past when the run begins, it is not determined which of the cycles is the next.
        let next = if base <= self.precision { parameters.cycle_time.ceil().as_ps() } else { 0 };
        base.saturating_add(next).saturating_add(self.precision)
    }
}
