//! Values that a person would write: numbers with few digits before their zeros.
//!
//! They are numbered in order, so that halving between two numbers takes a few steps however far the values are apart.

/// The number of the greatest such value that is at most `value`.
pub(super) fn rank(value: u64, digits: u32) -> u64 {
    let Some(base) = 10_u64.checked_pow(digits) else { return value };
    let (mut first, mut zeros) = (value, 0);
    while first >= base {
        first /= 10;
        zeros += 1;
    }
    if zeros == 0 { value } else { base + (zeros - 1) * (base / 10 * 9) + (first - base / 10) }
}

/// The value of a number.
pub(super) fn value(rank: u64, digits: u32) -> u64 {
    let base = 10_u64.checked_pow(digits).filter(|base| rank >= *base);
    let Some(base) = base else { return rank };
    let each = base / 10 * 9;
    let zeros = u32::try_from((rank - base) / each + 1).unwrap_or(u32::MAX);
    ((rank - base) % each + base / 10).saturating_mul(10_u64.saturating_pow(zeros))
}

/// The greatest such value that is at most `least`.
pub(super) fn floor(least: u64, digits: u32) -> u64 {
    value(rank(least, digits), digits)
}

/// The least such value that is at least `most`.
pub(super) fn ceil(most: u64, digits: u32) -> u64 {
    let below = rank(most, digits);
    if value(below, digits) == most { most } else { value(below + 1, digits) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_numbered_in_order() {
        let values: Vec<u64> = (0..2_800).map(|rank| value(rank, 3)).collect();
        assert!(values.windows(2).all(|two| two[0] < two[1]), "in order, each once");
        assert!(values[..1_001].iter().copied().eq(0..=1_000));
        assert_eq!(&values[999..1_003], [999, 1_000, 1_010, 1_020]);
        for (number, value) in (0..).zip(&values) {
            assert_eq!(rank(*value, 3), number);
        }
    }

    #[test]
    fn roundings_keep_their_sides() {
        assert_eq!((floor(12_345_678, 3), ceil(12_345_678, 3)), (12_300_000, 12_400_000));
        assert_eq!((floor(12_400_000, 3), ceil(12_400_000, 3)), (12_400_000, 12_400_000));
        assert_eq!((floor(1_542, 4), ceil(99_995, 4)), (1_542, 100_000));
        assert_eq!((rank(7, 20), value(7, 20)), (7, 7));
    }
}
