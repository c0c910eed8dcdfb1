//! Strict priority, FIFO in the class, non-preemptive (IEEE Std 802.1Q-2022, 8.6.8.1).
//!
//! A frame waits for at most one lower frame that has started, for the arrivals of the higher classes until it starts,
//! and for the earlier arrivals of its class:
//!
//! `wait = (L_low + Σ_hp b + Σ_sp b − l) / (R − Σ_hp r)`, then itself at the rate of the line.
//!
//! Why the last lower frame is enough: let τ be the last instant before the frame at which the line
//! was idle or took up a lower frame. At τ no eligible frame of its class or above was waiting, and
//! from τ on the line serves nothing but that lower frame and frames of its class and above. A
//! credit-based class above may hold frames back at τ, but then its credit is not positive: from τ on
//! it sends what its shaper allows, which `credit_based.rs` gives as a curve like any other.
//! Source: Specht and Samii, Urgency-based scheduler, ECRTS 2016, eq. 9; the same as Eq. (1) of the
//! published switch. Bursts are those at this port (jitter included) in bits of the wire.

use crate::curve::Curve;
use crate::queue_bound::{QueueBound, queue_bound};

/// The wait in a FIFO class under strict priority. `blocking`: the largest lower frame, micro-bits.
pub(crate) fn fifo(
    blocking: u128,
    rate: u64,
    higher: &Curve,
    own: &Curve,
    bits_min: u64,
) -> Option<QueueBound> {
    queue_bound(blocking, rate, higher, own, bits_min)
}
