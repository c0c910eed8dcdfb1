//! The catalogue of faults of time-triggered virtual links.

pub(crate) use crate::text::codes::*;

codes! {
    /// A time-triggered network whose clocks cannot keep its precision, or links without their network.
    TIME_TRIGGERED = "time-triggered::network";
    /// A time-triggered virtual link that does not fit its traffic, its ports or another link.
    TIME_TRIGGERED_LINK = "time-triggered::link";
    /// An impossible dispatch point: at no port of the link, or before its frame has arrived.
    DISPATCH_POINT = "time-triggered::point";
    /// Time-triggered frames that would occupy one line at the same time.
    SLOTS_COLLIDE = "time-triggered::collision";
    /// An acceptance window that some of the link's frames may miss.
    ACCEPTANCE_WINDOW = "time-triggered::window";
    /// A time-triggered virtual link without dispatch points: it is never sent.
    UNSCHEDULED = "time-triggered::unscheduled";
}
