//! Stages of devices: latency and occupancy, computed when a frame comes, never events.
//!
//! A stage lets a frame in when the frame before (of the same port) has left it free, and out not
//! before the frame before of the same class. Frames that are cut through and frames that are stored
//! first pass side by side: copies of one frame may do both.

use tautwire_units::Duration;

use crate::clock::SimTime;
use crate::plan::StagePlan;
use crate::random::Random;

/// State of the stages of one port.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stages {
    state: Box<[StageState]>,
}

#[derive(Clone, Copy, Debug, Default)]
struct StageState {
    free_at: SimTime,
    /// When the last frame of each class came out.
    last_out: [SimTime; 8],
}

/// How a frame passes the stages of a port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passage {
    pub(crate) octets: u64,
    pub(crate) class: u8,
    /// Whether it is cut through.
    pub(crate) cut_through: bool,
}

impl Stages {
    pub(crate) fn new(count: u32) -> Self {
        Self { state: vec![StageState::default(); 2 * count as usize].into() }
    }

    /// When a frame that comes at `time` has passed `stages`.
    #[inline(always)]
    pub(crate) fn pass(
        &mut self,
        stages: &[StagePlan],
        mut time: SimTime,
        frame: Passage,
        random: &mut Random,
    ) -> SimTime {
        for stage in stages {
            let state = &mut self.state[2 * stage.number as usize + usize::from(frame.cut_through)];
            let start = time.max(state.free_at);
            let latency: Duration = random.delay(&stage.latency, frame.octets);
            state.free_at = match &stage.occupancy {
                Some(occupancy) => start + random.delay(occupancy, frame.octets),
                None => start,
            };
            time = (start + latency).max(state.last_out[usize::from(frame.class)]);
            state.last_out[usize::from(frame.class)] = time;
        }
        time
    }
}
