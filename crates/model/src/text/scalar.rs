//! Scalars other than the quantities of `units`: deviations, chances, lengths, signed durations.

use tautwire_core::gates::CycleTime;
use tautwire_units::{ClockOffset, Duration};

/// Why a text is no such value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ScalarFault {
    /// It has no unit.
    NoUnit,
    /// It is nothing of the kind.
    Wrong,
    /// It is too fine or too large for the type.
    OutOfRange,
}

/// `true` and `false`, and YAML's older words for them.
pub(crate) fn flag(text: &str) -> Option<bool> {
    match text {
        "true" | "yes" | "on" => Some(true),
        "false" | "no" | "off" => Some(false),
        _ => None,
    }
}

/// A duration with an optional sign.
pub(crate) fn signed_duration(text: &str) -> Result<ClockOffset, tautwire_units::ParseUnitError> {
    let (negative, rest) = match text.trim().strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.trim().strip_prefix('+').unwrap_or(text.trim())),
    };
    let span: Duration = rest.parse()?;
    let ps = i64::try_from(span.as_ps())
        .ok()
        .filter(|_| span <= Duration::from_s(100 * 86_400))
        .ok_or(tautwire_units::ParseUnitError::TooLarge { name: "a duration" })?;
    Ok(ClockOffset::from_ps(if negative { -ps } else { ps }))
}

/// A duration, or a fraction of one: `500 us`, `1/3 ms`.
pub(crate) fn period(text: &str) -> Result<CycleTime, tautwire_units::ParseUnitError> {
    use tautwire_units::ParseUnitError;
    let too_fine = ParseUnitError::TooFine { name: "a duration" };
    let Some((number, rest)) = text.split_once('/') else {
        let whole: Duration = text.parse()?;
        return CycleTime::new(whole.as_ps(), 1).ok_or(too_fine);
    };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let denominator = rest[..digits].parse().map_err(|_| ParseUnitError::NoNumber)?;
    let span: Duration = format!("{}{}", number.trim(), &rest[digits..]).parse()?;
    CycleTime::new(span.as_ps(), denominator).ok_or(too_fine)
}

/// A decimal number times `10^shift`, exactly; none if it is no number, too fine or too large.
fn decimal(number: &str, shift: i32) -> Result<u64, ScalarFault> {
    let (mantissa, exponent) = match number.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().map_err(|_| ScalarFault::Wrong)?),
        None => (number, 0),
    };
    let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: String = integer.chars().chain(fraction.chars()).collect();
    if integer.is_empty() || digits.len() > 30 || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(ScalarFault::Wrong);
    }
    let mut value: u128 = digits.parse().map_err(|_| ScalarFault::Wrong)?;
    let places = i32::try_from(fraction.len()).map_err(|_| ScalarFault::OutOfRange)?;
    let mut shift = exponent.saturating_add(shift).saturating_sub(places);
    while shift > 0 && value != 0 {
        value = value.checked_mul(10).ok_or(ScalarFault::OutOfRange)?;
        shift -= 1;
    }
    while shift < 0 && value != 0 {
        if !value.is_multiple_of(10) {
            return Err(ScalarFault::OutOfRange);
        }
        value /= 10;
        shift += 1;
    }
    u64::try_from(value).map_err(|_| ScalarFault::OutOfRange)
}

/// A deviation in parts in 10⁹: `100 ppm`, `50 ppb`.
pub(crate) fn deviation(text: &str) -> Result<u32, ScalarFault> {
    let text = text.trim();
    let (number, shift) = if let Some(number) = text.strip_suffix("ppm") {
        (number, 3)
    } else if let Some(number) = text.strip_suffix("ppb") {
        (number, 0)
    } else if decimal(text, 0).is_ok() {
        return Err(ScalarFault::NoUnit);
    } else {
        return Err(ScalarFault::Wrong);
    };
    let ppb = decimal(number.trim_end(), shift)?;
    u32::try_from(ppb).ok().filter(|ppb| *ppb < 100_000_000).ok_or(ScalarFault::OutOfRange)
}

/// A deviation in parts in 10⁹ in the form of a description: in ppm if it is a whole number of these.
pub(crate) fn deviation_text(ppb: i64) -> String {
    if ppb % 1_000 == 0 { format!("{} ppm", ppb / 1_000) } else { format!("{ppb} ppb") }
}

/// A deviation with an optional sign.
pub(crate) fn signed_deviation(text: &str) -> Result<i32, ScalarFault> {
    let text = text.trim();
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let ppb = i32::try_from(deviation(rest)?).map_err(|_| ScalarFault::OutOfRange)?;
    Ok(if negative { -ppb } else { ppb })
}

/// A chance in 10⁻¹⁸, at most one: `1e-12`, `0`.
pub(crate) fn chance(text: &str) -> Result<u64, ScalarFault> {
    let value = decimal(text.trim(), 18)?;
    if value <= 1_000_000_000_000_000_000 { Ok(value) } else { Err(ScalarFault::OutOfRange) }
}

/// The propagation delay of a length of cable at 5 ns a metre (two thirds of the speed of light, that
/// of copper and of fibre): `5 m`, `2.5 km`.
pub(crate) fn length(text: &str) -> Result<Duration, ScalarFault> {
    let text = text.trim();
    let (number, shift) = if let Some(number) = text.strip_suffix("km") {
        (number, 6)
    } else if let Some(number) = text.strip_suffix("cm") {
        (number, 1)
    } else if let Some(number) = text.strip_suffix('m') {
        (number, 3)
    } else if decimal(text, 0).is_ok() {
        return Err(ScalarFault::NoUnit);
    } else {
        return Err(ScalarFault::Wrong);
    };
    let millimetres = decimal(number.trim_end(), shift)?;
    // A million kilometres is more than any cable.
    let span = Some(millimetres).filter(|length| *length <= 1_000_000_000_000).map(|length| length * 5);
    span.map(Duration::from_ps).ok_or(ScalarFault::OutOfRange)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviations_are_exact() {
        assert_eq!(deviation("100 ppm"), Ok(100_000));
        assert_eq!(deviation("0.5ppm"), Ok(500));
        assert_eq!(signed_deviation("-20 ppb"), Ok(-20));
        assert_eq!([-2_000, 0, 1_500].map(deviation_text), ["-2 ppm", "0 ppm", "1500 ppb"]);
        assert_eq!(deviation("100"), Err(ScalarFault::NoUnit));
        assert_eq!(deviation("0.1 ppb"), Err(ScalarFault::OutOfRange));
        assert_eq!(deviation("many ppm"), Err(ScalarFault::Wrong));
    }

    #[test]
    fn chances_are_exact_down_to_a_trillionth_of_a_millionth() {
        assert_eq!(chance("1e-12"), Ok(1_000_000));
        assert_eq!(chance("1"), Ok(1_000_000_000_000_000_000));
        assert_eq!(chance("0"), Ok(0));
        assert_eq!(chance("1e-19"), Err(ScalarFault::OutOfRange));
        assert_eq!(chance("2"), Err(ScalarFault::OutOfRange));
        assert_eq!(chance("1e999999999999"), Err(ScalarFault::Wrong));
        assert_eq!(chance("1e99999"), Err(ScalarFault::OutOfRange));
    }

    #[test]
    fn a_metre_takes_five_nanoseconds() {
        assert_eq!(length("5 m"), Ok(Duration::from_ns(25)));
        assert_eq!(length("0.2 km"), Ok(Duration::from_us(1)));
        assert_eq!(length("5"), Err(ScalarFault::NoUnit));
    }
}
