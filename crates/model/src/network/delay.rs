//! Delays: constant, by length, random.

use tautwire_units::Duration;

/// A delay: a constant, a term per octet of the frame (destination to FCS), and a random part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delay {
    /// Constant part.
    pub constant: Duration,
    /// Taken off the constant and per-octet parts, to write `per_octet · (length − n)`.
    pub less: Duration,
    /// Per octet of the frame.
    pub per_octet: Duration,
    /// Random part.
    pub random: Distribution,
}

/// The random part of a delay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Distribution {
    /// None.
    #[default]
    Zero,
    /// Any value between, equally likely.
    Uniform {
        /// Least.
        min: Duration,
        /// Most.
        max: Duration,
    },
    /// Normal, cut at least and most.
    Normal {
        /// Mean.
        mean: Duration,
        /// Standard deviation.
        deviation: Duration,
        /// Least.
        min: Duration,
        /// Most.
        max: Duration,
    },
}

impl Delay {
    /// The longest that a frame of so many octets takes.
    #[must_use]
    pub fn longest(&self, octets: u64) -> Duration {
        let by_length = self.per_octet.as_ps().saturating_mul(octets);
        let random = match self.random {
            Distribution::Zero => Duration::ZERO,
            Distribution::Uniform { max, .. } | Distribution::Normal { max, .. } => max,
        };
        self.constant
            .saturating_add(Duration::from_ps(by_length))
            .saturating_sub(self.less)
            .saturating_add(random)
    }
}
