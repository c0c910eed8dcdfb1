//! Words and numbers of the modules: priorities, addresses, fractions of a second, times.

use serde_json::{Value, json};
use tautwire_core::Priority;
use tautwire_model::gates::CycleTime;
use tautwire_units::{Duration, Instant};
use tautwire_wire::MacAddress;

/// Most letters of a bridge's name.
pub(super) const NAME_MAX: usize = 32;

const PS_PER_S: u128 = 1_000_000_000_000;

/// A priority in words; none: any, or none, whichever word says that.
pub(super) fn priority(priority: Option<Priority>, otherwise: &'static str) -> &'static str {
    const WORDS: [&str; 8] = ["zero", "one", "two", "three", "four", "five", "six", "seven"];
    priority.map_or(otherwise, |priority| WORDS[priority.index()])
}

/// An address with hyphens.
pub(super) fn address(address: MacAddress) -> String {
    address.to_string().replace(':', "-")
}

/// A fraction of a second, of two numbers of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fraction {
    pub(super) numerator: u32,
    pub(super) denominator: u32,
}

impl Fraction {
    /// No cycle.
    pub(super) const ZERO: Self = Self { numerator: 0, denominator: 1 };

    /// A cycle as a fraction, and whether it is exact; else it is rounded down to the finest decimal part of a second that fits.
    pub(super) fn of(cycle: CycleTime) -> (Self, bool) {
        let (ps, cycles) = (u128::from(cycle.numerator()), u128::from(cycle.denominator()));
        let exact = PS_PER_S * cycles;
        if let Some(fraction) = Self::reduced(ps, exact) {
            return (fraction, true);
        }
        let parts = [1_000_000_000, 1_000_000, 1_000, 1];
        // Rounded down.
        let found = parts.into_iter().find_map(|parts| Self::reduced(ps * parts / exact, parts));
        (found.expect("whole seconds of a time of 64 bits fit"), false)
    }

    fn reduced(numerator: u128, denominator: u128) -> Option<Self> {
        let (mut a, mut b) = (numerator, denominator);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        // Both are whole multiples of their common divisor.
        let part = |number: u128| u32::try_from(number / a).ok();
        Some(Self { numerator: part(numerator)?, denominator: part(denominator)? })
    }

    /// The longer one.
    pub(super) fn max(self, other: Self) -> Self {
        let product = |a: u32, b: u32| u64::from(a) * u64::from(b);
        let is_longer =
            product(self.numerator, other.denominator) > product(other.numerator, self.denominator);
        if is_longer { self } else { other }
    }

    pub(super) fn value(self) -> Value {
        json!({ "numerator": self.numerator, "denominator": self.denominator })
    }
}

/// A time of PTP, rounded down to nanoseconds.
pub(super) fn ptp_time(time: Instant) -> Value {
    let ns = time.as_ps() / 1_000;
    json!({ "seconds": (ns / 1_000_000_000).to_string(), "nanoseconds": ns % 1_000_000_000 })
}

/// Nanoseconds of 32 bits, rounded up, and whether they are the time.
pub(super) fn ns_ceil(time: Duration) -> (u32, bool) {
    let ns = u32::try_from(time.as_ps().div_ceil(1_000)).unwrap_or(u32::MAX);
    (ns, u64::from(ns) * 1_000 == time.as_ps())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_is_a_fraction_of_a_second_rounded_down_if_it_must_be() {
        let of = |ps, cycles| {
            let (fraction, exact) = Fraction::of(CycleTime::new(ps, cycles).expect("a cycle"));
            (fraction.numerator, fraction.denominator, exact)
        };
        assert_eq!(of(500_000_000, 1), (1, 2_000, true));
        assert_eq!(of(1_000_000_000_000, 3_000), (1, 3_000, true));
        assert_eq!(of(1_000_001, 1), (1, 1_000_000, false));
        assert_eq!(of(5_000_000_001_000, 1), (5, 1, false));
        assert_eq!(of(u64::MAX, 1), (18_446_744, 1, false));
    }
}
