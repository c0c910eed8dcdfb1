//! Permanence (SAE AS6802): when no frame that was sent earlier can still come.
//!
//! The transparent clock of a frame is the time that it was in transit, in 2⁻¹⁶ ns. It is rounded down where it is
//! written, up where it is read: a frame is never permanent too late by more than that.

use tautwire_units::{Duration, Instant};

/// When a frame is permanent that was received at `received` and took `transparent`; none if it took longer
/// than the greatest transmission delay, and is no frame of this network.
#[must_use]
pub fn permanent_at(received: Instant, transparent: Duration, delay_max: Duration) -> Option<Instant> {
    let rest = delay_max.as_ps().checked_sub(transparent.as_ps())?;
    let rest = if planted!(PermanenceForgotten) { delay_max.as_ps() / 2 } else { rest };
    Some(received.saturating_add(Duration::from_ps(rest)))
}

/// A transparent clock as a time, rounded up.
#[must_use]
pub fn transparent_time(field: u64) -> Duration {
    let ps = (u128::from(field) * 1_000).div_ceil(1 << 16);
    Duration::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
}

/// A time as a transparent clock, rounded down.
#[must_use]
pub fn to_transparent_clock(time: Duration) -> u64 {
    let field = (u128::from(time.as_ps()) << 16) / 1_000;
    u64::try_from(field).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sent_at_one_time_is_permanent_at_one_time() {
        let delay_max = Duration::from_us(100);
        let sent = Instant::ZERO + Duration::from_ms(1);
        let permanent = |took: Duration| permanent_at(sent.saturating_add(took), took, delay_max);
        for took in [0, 1, 40, 100] {
            assert_eq!(permanent(Duration::from_us(took)), Some(sent + delay_max));
        }
        assert_eq!(permanent(Duration::from_us(101)), None);
    }

    #[test]
    fn transparent_clocks_are_read_back_within_a_picosecond() {
        for ps in [0, 1, 15, 16, 1_000, 123_456_789, 1 << 40] {
            let back = transparent_time(to_transparent_clock(Duration::from_ps(ps))).as_ps();
            assert_eq!(back, ps, "the field is finer than a picosecond");
        }
    }
}
