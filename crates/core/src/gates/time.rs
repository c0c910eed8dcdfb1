//! Whose time gates follow: how readings of the node's clock become times of the list.

use tautwire_units::Instant;

use crate::gptp::DisciplinedClock;

/// The time of the gates, as a map of the node's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GateTime {
    /// The clock itself.
    #[default]
    Own,
    /// It is so many picoseconds ahead of the clock.
    Ahead(i64),
    /// The clock as gPTP corrects it.
    Corrected(DisciplinedClock),
}

impl GateTime {
    /// The time when the clock reads `now`, rounded down.
    #[must_use]
    pub fn at(&self, now: Instant) -> Instant {
        match self {
            Self::Own => now,
            Self::Ahead(by) => Instant::from_ps(now.as_ps().saturating_add_signed(*by)),
            Self::Corrected(clock) => {
                let ps = clock.reading(now).max(0);
                Instant::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
            }
        }
    }

    /// The first reading of the clock at which it is at least `time`; never, if that is beyond all readings.
    #[must_use]
    pub fn first(&self, time: Instant) -> Instant {
        if time == Instant::MAX {
            return Instant::MAX;
        }
        match self {
            Self::Own => time,
            Self::Ahead(by) => Instant::from_ps(time.as_ps().saturating_add_signed(by.saturating_neg())),
            Self::Corrected(clock) => clock.first_at(time),
        }
    }
}
