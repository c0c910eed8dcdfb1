//! Stages of devices: latency and occupancy, computed when a frame comes, never events.
//!
//! A stage lets a frame in when the frame before (of the same port) has left it free, and out not
//! before the frame before of the same class.

use tautwire_units::Duration;

use crate::clock::SimTime;
use crate::plan::StagePlan;
use crate::random::Random;

/// State of the stages of one port.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stages {
    state: Vec<StageState>,
}

#[derive(Clone, Copy, Debug, Default)]
struct StageState {
    free_at: SimTime,
    /// When the last frame of each class came out.
    last_out: [SimTime; 8],
}

impl Stages {
    pub(crate) fn new(count: u32) -> Self {
        Self { state: vec![StageState::default(); count as usize] }
    }

    /// When a frame that comes at `time` has passed `stages`.
    #[inline]
    pub(crate) fn pass(
        &mut self,
        stages: &[StagePlan],
        mut time: SimTime,
        octets: u64,
        class: u8,
        random: &mut Random,
    ) -> SimTime {
        for stage in stages {
            let state = &mut self.state[stage.number as usize];
            let start = time.max(state.free_at);
            let latency: Duration = random.delay(&stage.latency, octets);
            state.free_at = start + random.delay(&stage.occupancy, octets);
            time = (start + latency).max(state.last_out[usize::from(class)]);
            state.last_out[usize::from(class)] = time;
        }
        time
    }
}
