//! Quantities in text: a decimal number, then a unit; never a bare number.
//!
//! The number is taken exactly (`0.1 us` is 100 000 ps); digits beyond the resolution of the type
//! are an error and not a rounding.

use alloc::string::{String, ToString};
use core::fmt;
use core::str::FromStr;

use crate::{BitRate, Bits, Bytes, Duration};

/// A type that is written as a number and a unit.
pub trait Quantity: FromStr<Err = ParseUnitError> + fmt::Display {
    /// Its name in a diagnostic: `a duration`.
    const NAME: &'static str;
    /// The units that are understood, with their worth in the type's own unit.
    const UNITS: &'static [(&'static str, u64)];
    /// A text that is right.
    const EXAMPLE: &'static str;
}

/// Why a text is no quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParseUnitError {
    /// There is no number at the start.
    NoNumber,
    /// The number has no unit.
    NoUnit {
        /// The expected kind.
        name: &'static str,
        /// The units that are understood.
        units: String,
    },
    /// The unit is unknown here.
    UnknownUnit {
        /// The unit as it was written.
        unit: String,
        /// The expected kind.
        name: &'static str,
        /// The units that are understood.
        units: String,
    },
    /// The number has digits below the resolution of the type.
    TooFine {
        /// The expected kind.
        name: &'static str,
    },
    /// The number does not fit the type.
    TooLarge {
        /// The expected kind.
        name: &'static str,
    },
}

impl fmt::Display for ParseUnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoNumber => f.write_str("there is no number at the start"),
            Self::NoUnit { name, units } => write!(f, "{name} needs a unit: one of {units}"),
            Self::UnknownUnit { unit, name, units } => {
                write!(f, "`{unit}` is no unit of {name}: one of {units}")
            }
            Self::TooFine { name } => write!(f, "{name} has no digits that fine"),
            Self::TooLarge { name } => write!(f, "{name} cannot be that large"),
        }
    }
}

impl core::error::Error for ParseUnitError {}

/// Reads a text as a quantity of `Q`, in `Q`'s own unit.
fn parse<Q: Quantity>(text: &str) -> Result<u64, ParseUnitError> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(text.len());
    let (number, unit) = (&text[..end], text[end..].trim_start());
    let (integral, fraction) = number.split_once('.').unwrap_or((number, ""));
    if integral.is_empty() || fraction.contains('.') || (number.contains('.') && fraction.is_empty()) {
        return Err(ParseUnitError::NoNumber);
    }
    let units = || Q::UNITS.iter().map(|(name, _)| *name).collect::<alloc::vec::Vec<_>>().join(", ");
    if unit.is_empty() {
        return Err(ParseUnitError::NoUnit { name: Q::NAME, units: units() });
    }
    // The Greek letter looks like the micro sign.
    let greek = unit.strip_prefix('\u{3bc}');
    let is_unit = |name: &str| name == unit || greek.is_some() && name.strip_prefix('µ') == greek;
    let Some((_, worth)) = Q::UNITS.iter().find(|(name, _)| is_unit(name)) else {
        return Err(ParseUnitError::UnknownUnit { unit: unit.to_string(), name: Q::NAME, units: units() });
    };
    let too_large = ParseUnitError::TooLarge { name: Q::NAME };
    let mut value: u128 = 0;
    let mut scale: u128 = 1;
    for (digits, is_fraction) in [(integral, false), (fraction, true)] {
        for digit in digits.bytes().filter(|byte| *byte != b'_') {
            if value > u128::MAX / 100 || scale > u128::MAX / 100 {
                return Err(too_large);
            }
            value = value * 10 + u128::from(digit - b'0');
            if is_fraction {
                scale *= 10;
            }
        }
    }
    let scaled = value.checked_mul(u128::from(*worth)).ok_or_else(|| too_large.clone())?;
    if !scaled.is_multiple_of(scale) {
        return Err(ParseUnitError::TooFine { name: Q::NAME });
    }
    u64::try_from(scaled / scale).map_err(|_| too_large)
}

macro_rules! quantity {
    ($type:ident, $make:expr, $name:literal, $example:literal, $units:expr) => {
        impl Quantity for $type {
            const NAME: &'static str = $name;
            const UNITS: &'static [(&'static str, u64)] = $units;
            const EXAMPLE: &'static str = $example;
        }
        impl FromStr for $type {
            type Err = ParseUnitError;
            fn from_str(text: &str) -> Result<Self, ParseUnitError> {
                parse::<Self>(text).map($make)
            }
        }
    };
}

quantity!(
    Duration,
    Duration::from_ps,
    "a duration",
    "125 us",
    &[
        ("ps", 1),
        ("ns", 1_000),
        ("us", 1_000_000),
        ("µs", 1_000_000),
        ("ms", 1_000_000_000),
        ("s", 1_000_000_000_000),
        ("min", 60_000_000_000_000),
        ("h", 3_600_000_000_000_000),
    ]
);
quantity!(
    BitRate,
    BitRate::from_bps,
    "a bit rate",
    "100 Mbit/s",
    &[
        ("bit/s", 1),
        ("kbit/s", 1_000),
        ("Mbit/s", 1_000_000),
        ("Gbit/s", 1_000_000_000),
        ("bps", 1),
        ("kbps", 1_000),
        ("Mbps", 1_000_000),
        ("Gbps", 1_000_000_000),
    ]
);
quantity!(
    Bytes,
    Bytes::new,
    "a size in octets",
    "1500 B",
    &[
        ("B", 1),
        ("kB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("KiB", 1_024),
        ("MiB", 1_048_576),
        ("GiB", 1_073_741_824),
    ]
);
quantity!(
    Bits,
    Bits::new,
    "a size in bits",
    "12336 bit",
    &[
        ("bit", 1),
        ("kbit", 1_000),
        ("Mbit", 1_000_000),
        ("B", 8),
        ("kB", 8_000),
        ("KiB", 8_192),
        ("MB", 8_000_000),
        ("MiB", 8_388_608),
    ]
);

/// Writes `value / unit` exactly, without trailing zeros; `unit` is a power of ten.
pub(crate) fn write_decimal(f: &mut fmt::Formatter<'_>, value: u64, unit: u64) -> fmt::Result {
    write!(f, "{}", value / unit)?;
    let (mut rest, mut unit) = (value % unit, unit);
    if rest > 0 {
        f.write_str(".")?;
    }
    while rest > 0 {
        unit /= 10;
        write!(f, "{}", rest / unit)?;
        rest %= unit;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_taken_exactly() {
        assert_eq!("0.1 us".parse(), Ok(Duration::from_ns(100)));
        assert_eq!("125us".parse(), Ok(Duration::from_us(125)));
        // The micro sign, and the Greek letter.
        assert_eq!("125 \u{b5}s".parse(), Ok(Duration::from_us(125)));
        assert_eq!("125 \u{3bc}s".parse(), Ok(Duration::from_us(125)));
        assert!("125 \u{3bc}".parse::<Duration>().is_err());
        assert_eq!("2.5 Gbit/s".parse(), Ok(BitRate::from_mbps(2_500)));
        assert_eq!("1_542 B".parse(), Ok(Bytes::new(1_542)));
        assert_eq!("1542 B".parse(), Ok(Bits::new(12_336)));
    }

    #[test]
    fn every_fault_has_its_own_answer() {
        assert_eq!("us".parse::<Duration>(), Err(ParseUnitError::NoNumber));
        assert_eq!("-3 us".parse::<Duration>(), Err(ParseUnitError::NoNumber));
        assert_eq!("1.2.3 us".parse::<Duration>(), Err(ParseUnitError::NoNumber));
        assert!(matches!("125".parse::<Duration>(), Err(ParseUnitError::NoUnit { .. })));
        assert!(matches!("10 parsecs".parse::<BitRate>(), Err(ParseUnitError::UnknownUnit { .. })));
        assert!(matches!("0.5 ps".parse::<Duration>(), Err(ParseUnitError::TooFine { .. })));
        assert!(matches!("99999999 h".parse::<Duration>(), Err(ParseUnitError::TooLarge { .. })));
        let long = "9".repeat(200) + " s";
        assert!(matches!(long.parse::<Duration>(), Err(ParseUnitError::TooLarge { .. })));
    }

    #[test]
    fn what_is_printed_is_read_back() {
        for ps in [1, 999, 1_000, 12_336_000, 1_500_000_000_001, u64::MAX] {
            let span = Duration::from_ps(ps);
            assert_eq!(span.to_string().parse(), Ok(span));
        }
        for bps in [1, 1_200_000, 1_234_567, 100_000_000_000] {
            let rate = BitRate::from_bps(bps);
            assert_eq!(rate.to_string().parse(), Ok(rate));
        }
    }
}
