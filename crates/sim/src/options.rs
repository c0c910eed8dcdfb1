//! Options of a run in addition to the description.

use core::fmt;

use crate::central::AdmissionControl;
use crate::control::PlugIn;
use crate::refusal::Late;

use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, StreamIndex};
use tautwire_units::Duration;

/// The progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// True time since the start.
    pub now: Duration,
    /// True time at the end.
    pub end: Duration,
    /// Transmissions so far.
    pub frame_hops: u64,
}

/// How the event loop is built. All give the same observation; tests hold them against each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Driver {
    /// No event loop: port by port, where the description allows it (`ports/order.rs`) and nothing is recorded. Else as eliding.
    #[default]
    ByPorts,
    /// Leaves out events that cannot change anything.
    Eliding,
    /// Leaves out nothing: every selection is an event, and so is the end of every transmission.
    Plain,
    /// As plain, with additional needless wake-ups, and checks of the control machines' contract.
    Spurious,
}

impl Driver {
    /// The event loop of this driver.
    pub(crate) fn of_instants(self) -> Self {
        if self == Self::ByPorts { Self::Eliding } else { self }
    }
}

/// A stream to some of its listeners.
pub type StreamPart = (StreamIndex, Vec<NodeIndex>);

/// The test of an ACMaster of HaRTES: whether a stream may go to these listeners in addition to the granted streams,
/// and if not, what would be late. The last of its listeners is the new one.
pub type HartsTest = fn(&Network, &StreamPart, &[StreamPart]) -> Result<(), Late>;

/// Options of a run; the description's own settings by default.
#[derive(Default)]
pub struct Options<'a> {
    /// Seed instead of the description's.
    pub seed: Option<u64>,
    /// Duration instead of the description's.
    pub duration: Option<Duration>,
    /// Whether to keep histograms; by default up to 100 000 streams.
    pub histograms: Option<bool>,
    /// How the event loop is built.
    pub driver: Driver,
    /// Processors that a run by ports may use, one if zero. The result does not depend on them.
    pub processors: usize,
    /// Decides for a CNC that tests bounds whether they hold; a description with such a CNC cannot be run without it.
    pub admission: Option<Box<dyn AdmissionControl>>,
    /// What an ACMaster of HaRTES tests with; without it everything is admitted.
    pub harts_test: Option<HartsTest>,
    /// Mechanisms that are plug-ins, in the order in which they act at one instant; those of the network must be among them.
    pub mechanisms: &'static [&'static dyn PlugIn],
    /// Is called now and then with the progress of the run.
    pub progress: Option<&'a mut dyn FnMut(Progress)>,
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("seed", &self.seed)
            .field("duration", &self.duration)
            .field("histograms", &self.histograms)
            .field("driver", &self.driver)
            .field("processors", &self.processors)
            .field("admission", &self.admission.is_some())
            .field("harts_test", &self.harts_test.is_some())
            .field("mechanisms", &self.mechanisms.len())
            .field("progress", &self.progress.is_some())
            .finish()
    }
}
