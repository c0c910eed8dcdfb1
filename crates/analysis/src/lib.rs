//! Worst-case bounds per port and end to end, of every mechanism that `core` has a machine for.
//!
//! ```text
//!  Network ─► plan.rs ─► ports in order ─► port.rs ─► passage of every stream ─► Bounds
//!             (tables)   (order.rs,        classes     (passage.rs)               (outcome.rs,
//!                         analysis.rs)     from the                                result.rs)
//!                                          highest
//!  feedback: answers.rs assumes the times of responses and of hosts (host_stacks), until they converge
//!  streams that come and go: session.rs keeps all of this and evaluates what a step affects,
//!                             with slack (slack.rs) no further than its own ports
//!  per port:  arrival.rs      paths through hosts, devices and ATS schedulers (delay.rs, regulator.rs, shaper.rs)
//!             contribution.rs arrivals, per class and lane (curve.rs, line_shaping.rs)
//!             port.rs         queueing delay (strict_priority.rs, busy_period.rs, credit_based.rs,
//!                             all in the form of queue_bound.rs)
//! ```
//!
//! Everything is integers; every rounding is to the side on which a bound stays a bound. Bits are
//! those of the wire (frame, preamble, gap) unless a name says charged. A bound is from the talker's
//! application to the last bit at the listener's MAC, in true time.

mod accuracy;
mod admission;
mod all_classes;
mod analysis;
mod answers;
mod arrival;
mod busy_period;
mod clock;
mod clock_precision;
mod contention;
mod contribution;
mod corrected_precision;
mod cqf;
mod credit_based;
mod credit_earning;
mod curve;
mod delay;
mod explain;
#[cfg(feature = "planted-faults")]
mod fault;
mod frer;
mod gates;
mod granted;
mod graph;
mod harts;
mod host_stacks;
mod line_shaping;
mod loss;
mod order;
mod outcome;
mod passage;
mod paths;
mod plan;
mod port;
mod port_plan;
mod port_state;
mod precedence;
mod preemption;
mod psfp;
mod queue_bound;
mod reasons;
mod regulator;
mod reserved;
mod response_time;
mod result;
mod service;
mod services;
mod session;
mod shaper;
mod shared_link;
mod slack;
mod stairs;
mod strict_priority;
mod tdma;
mod time_triggered;
mod timeline;
mod unbounded;
mod virtual_link;
mod windows;

pub use accuracy::Accuracy;
pub use admission::{AdmissionBound, NoAdmissionBound, admission_bounds};
pub use clock_precision::clock_precision;
pub use contention::contention_max;
pub use corrected_precision::{SyncLosses, corrected_precision};
pub use explain::{Explanation, HopExplanation, Part, explain};
#[cfg(feature = "planted-faults")]
pub use fault::{PlantedFault, bounds_with_fault};
pub use frer::RecoveryBounds;
pub use granted::bounds_where_granted;
pub use loss::{Limit, LimitKind, LimitPlace, Losses, Overflow, StatedFailure, losses, stated_failures};
pub use result::{Bounds, ClassBounds, HopBounds, ListenerBounds, Method, StreamBounds};
pub use session::Session;
pub use tdma::{
    AnswerDemand, CYCLES, CostRule, Failure, FailureCost, FailureCosts, SlotDemand, StreamDemand, Takeover,
    failure_costs, slot_demand, takeover,
};

pub use time_triggered::{late_control_frames, proven_precision};
pub use unbounded::{Unbounded, Why};

use tautwire_model::Network;

/// Kinds of limits that others compare with; each mechanism has its own.
pub mod limits {
    pub use crate::frer::HISTORY;
    pub use crate::loss::NEWEST_MESSAGE;
    pub use crate::psfp::METER_BURST;
    pub use crate::tdma::LIFETIME;
}

/// Per stream and listener: whether both copies of a frame over two networks may be taken there, because copies of its
/// virtual link, whose sub-virtual-links have their numbers in common, may come further apart than SkewMax, or the
/// listener restarts between them.
///
/// # Panics
/// If `bounds` are not those of `network`.
#[must_use]
pub fn taken_twice(network: &Network, bounds: &Bounds) -> Vec<Vec<bool>> {
    host_stacks::copies(network, bounds)
}

/// The bounds of every stream, hop and port of a network.
///
/// Times are in true time and hold for every run of the network, whatever the seed: greatest delays are rounded up,
/// least ones down. A value without a bound has a reason.
#[must_use]
pub fn bounds(network: &Network) -> Bounds {
    bounds_by(network, Accuracy::default())
}

/// The same, with this accuracy.
#[must_use]
pub fn bounds_by(network: &Network, accuracy: Accuracy) -> Bounds {
    answers::settle(network, answers::Asked::by(accuracy)).1
}
