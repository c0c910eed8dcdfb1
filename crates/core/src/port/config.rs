//! How an egress port and its classes are built.

use tautwire_units::{BitRate, Bytes};

use crate::buffer::{QueueLimit, SharedBuffer};
use crate::gates::GatesConfig;
use crate::harts::servers::ServersConfig;
use crate::preemption::PreemptionConfig;
use crate::queue::LaneOrder;
use crate::time_triggered::dispatcher::DispatcherConfig;

/// How a class is built.
#[derive(Clone, Debug)]
pub struct ClassConfig {
    /// Its shaper; none: strict priority, or ATS, whose frames have eligibility times.
    pub idle_slope: Option<BitRate>,
    /// Order between frames of several lanes.
    pub order: LaneOrder,
    /// Lanes (reception ports, or scheduler groups).
    pub lanes: usize,
    /// Limits.
    pub limit: QueueLimit,
    /// Most frames of one lane, of a class with several.
    pub lane_limit: u32,
    /// Whether a full queue gives up its oldest frame for a new one (`EgressPort::enqueue_over`).
    pub discards_oldest: bool,
}

impl ClassConfig {
    /// Whether frames are in several lanes.
    pub(super) const fn has_several_lanes(&self) -> bool {
        self.order.has_lanes() && self.lanes > 1
    }
}

impl Default for ClassConfig {
    fn default() -> Self {
        Self {
            idle_slope: None,
            order: LaneOrder::Arrival,
            lanes: 1,
            limit: QueueLimit::NONE,
            lane_limit: u32::MAX,
            discards_oldest: false,
        }
    }
}

/// How a port is built.
#[derive(Clone, Debug)]
pub struct PortConfig {
    /// Bits of the wire per second.
    pub rate: BitRate,
    /// The classes 0 to 7.
    pub classes: [ClassConfig; 8],
    /// Buffer shared by the classes.
    pub buffer: Option<SharedBuffer>,
    /// Whether a class commits one frame before the classes compete.
    pub two_stage: bool,
    /// Octets that credit-based shapers charge in addition to the frame.
    pub credit_charged_overhead: Bytes,
    /// Time-triggered traffic, if any is sent here. Then no class is shaped, and frames are not committed
    /// before the classes compete.
    pub dispatcher: Option<DispatcherConfig>,
    /// Servers in place of queues and selection of the classes; a frame's lane is the number of its server.
    pub servers: Option<ServersConfig>,
    /// Gates of its classes. Then there are neither time-triggered traffic nor servers, and frames are not committed
    /// before the classes compete.
    pub gates: Option<GatesConfig>,
    /// Its MAC merge sublayer, if it preempts frames. What is said of gates holds of it.
    pub preemption: Option<PreemptionConfig>,
}

impl PortConfig {
    /// A port of a rate with eight classes by strict priority, without limits and anything else.
    #[must_use]
    pub fn plain(rate: BitRate) -> Self {
        Self {
            rate,
            classes: core::array::from_fn(|_| ClassConfig::default()),
            buffer: None,
            two_stage: false,
            credit_charged_overhead: Bytes::MEDIA_OVERHEAD,
            dispatcher: None,
            servers: None,
            gates: None,
            preemption: None,
        }
    }
}
