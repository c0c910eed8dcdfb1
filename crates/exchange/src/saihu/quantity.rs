//! Numbers with units: `10us`, `2kB`, `0.5` in a stated unit. They are decimal, and rounded up or down as it is safe.

/// What a number counts: times are picoseconds, sizes bits, rates bits per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Time,
    Data,
    Rate,
}

impl Kind {
    /// A unit as a factor and a power of ten of the own unit.
    fn unit(self, unit: &str) -> Option<(u128, i32)> {
        let (unit, power) = match self {
            Self::Time => (unit, 12),
            Self::Data => (unit, 0),
            Self::Rate => (unit.strip_suffix("ps")?, 0),
        };
        let letters = unit.len() - unit.chars().next_back()?.len_utf8();
        let (prefix, letter) = unit.split_at(letters);
        let factor = match (self, letter) {
            (Self::Time, "s") | (Self::Data | Self::Rate, "b") => 1,
            (Self::Data | Self::Rate, "B") => 8,
            _ => return None,
        };
        let prefixes =
            [("", 0), ("p", -12), ("n", -9), ("u", -6), ("m", -3), ("k", 3), ("M", 6), ("G", 9), ("T", 12)];
        let prefix = prefixes.into_iter().find(|known| known.0 == prefix)?.1;
        Some((factor, power + prefix))
    }

    /// A number with its unit, or in a unit; rounded down and up.
    pub(super) fn read(self, text: &str, default: &str) -> Result<(u64, u64), String> {
        let text = text.trim();
        let wrong = || format!("`{text}` is no {}", self.word());
        let is_number = |letter: char| letter.is_ascii_digit() || letter == '.';
        let mut end = text.find(|letter| !is_number(letter)).unwrap_or(text.len());
        let mut exponent = 0_i32;
        let digits = &text[..end];
        // An exponent, which no unit begins with.
        if let Some(rest) = text[end..].strip_prefix(['e', 'E']) {
            let sign = usize::from(rest.starts_with(['-', '+']));
            let length =
                rest[sign..].find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len() - sign);
            exponent = rest[..sign + length].parse().map_err(|_| wrong())?;
            end += 1 + sign + length;
        }
        let unit = text[end..].trim();
        let (factor, power) = self.unit(if unit.is_empty() { default } else { unit }).ok_or_else(wrong)?;
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        if whole.is_empty() || fraction.contains('.') {
            return Err(wrong());
        }
        let number: u128 = format!("{whole}{fraction}").parse().map_err(|_| wrong())?;
        let places = i32::try_from(fraction.len()).map_err(|_| wrong())?;
        let power =
            exponent.checked_add(power).and_then(|power| power.checked_sub(places)).ok_or_else(wrong)?;
        let ten = |power: i32| 10_u128.checked_pow(power.unsigned_abs());
        let number = number.checked_mul(factor).ok_or_else(wrong)?;
        let (down, up) = if number == 0 {
            (0, 0)
        } else if power >= 0 {
            let scaled = ten(power).and_then(|ten| number.checked_mul(ten)).ok_or_else(wrong)?;
            (scaled, scaled)
        } else {
            // More places than a number of 128 bits has: less than one.
            ten(power).map_or((0, 1), |ten| (number / ten, number.div_ceil(ten)))
        };
        let fits = |number: u128| u64::try_from(number).map_err(|_| wrong());
        Ok((fits(down)?, fits(up)?))
    }

    fn word(self) -> &'static str {
        match self {
            Self::Time => "time, such as 10us",
            Self::Data => "size, such as 100B or 800b",
            Self::Rate => "rate, such as 100Mbps",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_units_and_are_exact() {
        for (kind, text, unit, expected) in [
            (Kind::Time, "10us", "s", Some((10_000_000, 10_000_000))),
            (Kind::Time, "1e-6", "s", Some((1_000_000, 1_000_000))),
            (Kind::Time, "0.5", "us", Some((500_000, 500_000))),
            (Kind::Time, "0.0000000000001s", "s", Some((0, 1))),
            (Kind::Data, "2kB", "b", Some((16_000, 16_000))),
            (Kind::Data, "10.1", "b", Some((10, 11))),
            (Kind::Rate, "0.5", "kbps", Some((500, 500))),
            (Kind::Rate, "12.5MBps", "bps", Some((100_000_000, 100_000_000))),
            (Kind::Rate, "4Mbps", "", Some((4_000_000, 4_000_000))),
            (Kind::Rate, "4Mb", "bps", None),
            (Kind::Time, "-1us", "s", None),
            (Kind::Data, "1.2.3B", "b", None),
            (Kind::Data, "", "b", None),
            (Kind::Time, "1e99s", "s", None),
        ] {
            assert_eq!(kind.read(text, unit).ok(), expected, "{text}");
        }
    }
}
