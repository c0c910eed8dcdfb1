//! Seeded random streams: one per source, one per link, one per clock, each with its own name.
//!
//! Integers only, so a run is the same bit for bit on every machine. A stream is a ChaCha8 key stream:
//! the seed is the key, the name the stream number.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use tautwire_units::Duration;

use tautwire_model::network::{Delay, Distribution};

/// The purpose of a random stream; with an index, its name.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    /// A stream's talker.
    Source = 1,
    /// Stages and errors of a link direction.
    Link = 2,
    /// Drift of a node's clock.
    Clock = 3,
    /// A host's delays.
    Host = 4,
    /// ATS clock deviations of a node.
    Ats = 5,
    /// Needless wake-ups of a test.
    #[cfg_attr(not(test), allow(dead_code, reason = "named here so that no other purpose takes its number"))]
    Spurious = 6,
    /// Time stamps of a stream's talker.
    TalkerStamp = 7,
    /// Time stamps of a listener.
    ListenerStamp = 8,
    /// Waiting times of machines that do not follow from their clocks.
    Driven = 12,
    /// What software of stream reservation takes at a node, and when its timers begin.
    Reservation = 13,
    /// Protocol stacks of a node.
    HostStack = 40,
    /// Stamps and processing of gPTP at a node.
    Gptp = 14,
    /// Processing times of hosts for messages of a start-up.
    StartUp = 49,
    /// Errors of network time.
    NetworkTime = 41,
    /// Decoding times of nodes of HaRTES.
    Ftt = 15,
    /// Processing times of central configuration.
    Central = 42,
    /// What hosts without stacks take from their ports to their applications.
    Reception = 45,
    /// Faults of a test's task.
    TestFault = 44,
    /// The system clock of a test's station.
    TestClock = 43,
}

/// The number of the purpose of a mechanism that is named: the upper half of the numbers is theirs.
pub(crate) fn of_mechanism(name: &str) -> u16 {
    let hash =
        name.bytes().fold(0x811c_9dc5_u32, |hash, octet| (hash ^ u32::from(octet)).wrapping_mul(0x0100_0193));
    0x8000 | (hash >> 17) as u16
}

/// A random stream.
#[derive(Clone, Debug)]
pub(crate) struct Random(ChaCha8Rng);

impl Random {
    pub(crate) fn new(seed: u64, purpose: Purpose, index: usize) -> Self {
        Self::numbered(seed, purpose as u16, index)
    }

    /// That of the number of a purpose.
    pub(crate) fn numbered(seed: u64, purpose: u16, index: usize) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream((u64::from(purpose) << 48) | index as u64);
        Self(generator)
    }

    /// Any number from 0 to `most`, equally likely.
    #[inline]
    pub(crate) fn up_to(&mut self, most: u64) -> u64 {
        let Some(count) = most.checked_add(1) else { return self.0.next_u64() };
        // The high half of draw · count; the few draws that would favour a number are drawn anew.
        let mut product = u128::from(self.0.next_u64()) * u128::from(count);
        if (product as u64) < count {
            let favoured = count.wrapping_neg() % count;
            while (product as u64) < favoured {
                product = u128::from(self.0.next_u64()) * u128::from(count);
            }
        }
        (product >> 64) as u64
    }

    /// An exponentially distributed number of the given mean, rounded down (von Neumann's method:
    /// comparisons alone, no logarithm that differs between machines).
    pub(crate) fn exponential(&mut self, mean: u64) -> u64 {
        let mut integral = 0_u64;
        loop {
            let first = self.0.next_u64();
            let (mut last, mut run) = (first, 1_u32);
            loop {
                let next = self.0.next_u64();
                if next > last {
                    break;
                }
                last = next;
                run += 1;
            }
            if run % 2 == 1 {
                let fraction = ((u128::from(mean) * u128::from(first)) >> 64) as u64;
                return mean.saturating_mul(integral).saturating_add(fraction);
            }
            integral += 1;
        }
    }

    /// A delay for a frame of `octets`.
    #[inline(always)]
    pub(crate) fn delay(&mut self, delay: &Delay, octets: u64) -> Duration {
        let fixed = (delay.constant + delay.per_octet * octets).saturating_sub(delay.less);
        match delay.random {
            Distribution::Zero => fixed,
            Distribution::Uniform { min, max } => fixed + min + self.span_up_to(max - min),
            Distribution::Normal { mean, deviation, min, max } => {
                fixed + self.normal(mean, deviation, min, max)
            }
        }
    }

    /// Any span from none to `most`.
    #[inline]
    pub(crate) fn span_up_to(&mut self, most: Duration) -> Duration {
        Duration::from_ps(if most.is_zero() { 0 } else { self.up_to(most.as_ps()) })
    }

    /// A sum of twelve uniform numbers: mean and deviation of the normal distribution, its shape to
    /// within half a percent, and nothing beyond six deviations; then cut.
    #[cold]
    fn normal(&mut self, mean: Duration, deviation: Duration, min: Duration, max: Duration) -> Duration {
        let sum: u128 = (0..12).map(|_| u128::from(self.0.next_u64())).sum();
        let scaled = (u128::from(deviation.as_ps()) * (sum >> 32)) >> 32;
        let scaled = Duration::from_ps(u64::try_from(scaled).unwrap_or(u64::MAX));
        let drawn = mean.saturating_add(scaled).saturating_sub(deviation * 6);
        drawn.clamp(min, max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random() -> Random {
        Random::new(7, Purpose::Source, 3)
    }

    #[test]
    fn a_stream_is_its_name_and_seed() {
        let draw = |seed, index| Random::new(seed, Purpose::Link, index).up_to(u64::MAX);
        assert_eq!(draw(1, 1), draw(1, 1));
        assert_ne!(draw(1, 1), draw(1, 2));
        assert_ne!(draw(1, 1), draw(2, 1));
    }

    #[test]
    fn an_exponential_has_its_mean_and_deviation() {
        let mut random = random();
        let draws: Vec<u64> = (0..100_000).map(|_| random.exponential(1_000_000)).collect();
        let mean = draws.iter().sum::<u64>() / 100_000;
        assert!((990_000..1_010_000).contains(&mean), "{mean}");
        let above = draws.iter().filter(|draw| **draw > 1_000_000).count();
        assert!((36_000..37_600).contains(&above), "1/e of them are above the mean: {above}");
    }

    #[test]
    fn a_normal_has_its_mean_and_deviation_and_is_cut() {
        let mut random = random();
        let ns = Duration::from_ns;
        let draws: Vec<u64> = (0..50_000)
            .map(|_| random.normal(ns(1_000), ns(100), ns(750), ns(1_300)).as_ps() / 1_000)
            .collect();
        let mean = draws.iter().sum::<u64>() / 50_000;
        assert!((997..1_003).contains(&mean), "{mean}");
        let within = draws.iter().filter(|draw| (900..1_100).contains(*draw)).count();
        assert!((33_500..34_800).contains(&within), "68 % are within a deviation: {within}");
        assert!(draws.iter().all(|draw| (750..=1_300).contains(draw)));
    }

    #[test]
    fn uniform_numbers_reach_both_ends() {
        let mut random = random();
        let draws: Vec<u64> = (0..1_000).map(|_| random.up_to(3)).collect();
        for number in 0..=3 {
            assert!(draws.contains(&number));
        }
        assert!(draws.iter().all(|draw| *draw <= 3));
    }
}
