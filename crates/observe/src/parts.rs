//! The parts of a frame's delay at one hop.

use std::ops::AddAssign;

use tautwire_units::Duration;

/// Names of the parts, in the order in which they are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// In the stages of the device or host before the queue and behind the selection.
    Processing,
    /// Held by its own shaping: an ATS scheduler until the frame's eligibility time, whatever waits before it; a
    /// shaper or gate at the head of its queue with the line free for its class; a slot of TDMA; the BAG of a virtual
    /// link.
    Shaping,
    /// The rest of the waiting for transmission.
    Queueing,
    /// On its way onto the wire, first bit to last.
    Transmission,
    /// On the wire and in the PHYs.
    Propagation,
}

impl Part {
    /// All parts.
    pub const ALL: [Self; 5] =
        [Self::Processing, Self::Shaping, Self::Queueing, Self::Transmission, Self::Propagation];

    /// Its name in tables and results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Processing => "processing",
            Self::Shaping => "shaping",
            Self::Queueing => "queueing",
            Self::Transmission => "transmission",
            Self::Propagation => "propagation",
        }
    }
}

/// A delay in parts that add up exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DelayParts {
    /// [`Part::Processing`].
    pub processing: Duration,
    /// [`Part::Shaping`].
    pub shaping: Duration,
    /// [`Part::Queueing`].
    pub queueing: Duration,
    /// [`Part::Transmission`].
    pub transmission: Duration,
    /// [`Part::Propagation`].
    pub propagation: Duration,
}

impl DelayParts {
    /// One part.
    #[must_use]
    pub const fn part(&self, part: Part) -> Duration {
        match part {
            Part::Processing => self.processing,
            Part::Shaping => self.shaping,
            Part::Queueing => self.queueing,
            Part::Transmission => self.transmission,
            Part::Propagation => self.propagation,
        }
    }

    /// Their sum.
    #[must_use]
    pub fn total(&self) -> Duration {
        Part::ALL.into_iter().map(|part| self.part(part)).sum()
    }
}

impl AddAssign<&Self> for DelayParts {
    #[inline]
    fn add_assign(&mut self, other: &Self) {
        self.processing += other.processing;
        self.shaping += other.shaping;
        self.queueing += other.queueing;
        self.transmission += other.transmission;
        self.propagation += other.propagation;
    }
}
