//! How a run is made.

use tautwire_units::Duration;

/// How a run is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunSettings {
    /// Simulated true time.
    pub duration: Duration,
    /// Frames created before it are checked but left out of statistics.
    pub warm_up: Duration,
    /// End after this many delivered frames, if earlier.
    pub stop_after_frames: Option<u64>,
    /// Seed of every random stream.
    pub seed: u64,
}
