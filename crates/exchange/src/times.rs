//! Lists of gates in whole nanoseconds of 32 bits, as Linux and management take them: entries that fill the cycle exactly.

use tautwire_model::gates::CycleTime;
use tautwire_units::Duration;

/// Longest interval of an entry, nanoseconds: they are 32 bits.
const INTERVAL_MAX: u64 = u32::MAX as u64;

/// A list in whole nanoseconds.
pub(crate) struct List<S> {
    /// States, and how long; together a cycle.
    pub(crate) entries: Vec<(S, u64)>,
    /// The cycle.
    pub(crate) cycle: u64,
    /// Whether a time of the description is not a whole number of nanoseconds.
    pub(crate) is_rounded: bool,
}

/// The entries of a cycle: what is beyond its end is cut off, the last state stays until it ends, equal neighbours are one. Times are
/// rounded down to nanoseconds, places and not intervals, so that errors do not add up.
pub(crate) fn list<S: Copy + PartialEq>(
    entries: impl IntoIterator<Item = (S, Duration)>,
    cycle: CycleTime,
) -> List<S> {
    let is_whole = |ps: u64| ps.is_multiple_of(1_000);
    let end = cycle.floor().as_ps();
    let mut is_rounded = cycle.denominator() != 1 || !is_whole(end);
    let mut found: Vec<(S, u64)> = Vec::new();
    // Picoseconds into the cycle.
    let mut at = 0_u64;
    let mut last = None;
    for (state, interval) in entries {
        if at >= end {
            break;
        }
        let next = at.saturating_add(interval.as_ps()).min(end);
        is_rounded |= !is_whole(next);
        add(&mut found, state, next / 1_000 - at / 1_000);
        (at, last) = (next, Some(state));
    }
    if let Some(state) = last {
        add(&mut found, state, end / 1_000 - at / 1_000);
    }
    let split = found.into_iter().flat_map(|(state, ns)| parts(ns).map(move |part| (state, part)));
    List { entries: split.collect(), cycle: end / 1_000, is_rounded }
}

/// Adds a state that lasts for a time.
fn add<S: PartialEq>(found: &mut Vec<(S, u64)>, state: S, ns: u64) {
    match found.last_mut() {
        _ if ns == 0 => {}
        Some((before, interval)) if *before == state => *interval += ns,
        _ => found.push((state, ns)),
    }
}

/// An interval in parts that an entry can have.
fn parts(ns: u64) -> impl Iterator<Item = u64> {
    let (full, rest) = (ns / INTERVAL_MAX, ns % INTERVAL_MAX);
    let full = std::iter::repeat_n(INTERVAL_MAX, usize::try_from(full).unwrap_or(usize::MAX));
    full.chain(Some(rest).filter(|rest| *rest > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(entries: &[(u8, u64)], cycle_ps: u64) -> List<u8> {
        let entries = entries.iter().map(|(state, ps)| (*state, Duration::from_ps(*ps)));
        list(entries, CycleTime::new(cycle_ps, 1).expect("a cycle"))
    }

    #[test]
    fn entries_fill_the_cycle() {
        let found = of(&[(1, 300_000), (2, 300_000)], 1_000_000);
        assert_eq!((found.entries, found.cycle), (vec![(1, 300), (2, 700)], 1_000));
        let found = of(&[(1, 300_000), (1, 100_000), (2, 900_000), (3, 1)], 1_000_000);
        assert_eq!(found.entries, [(1, 400), (2, 600)]);
        assert!(!found.is_rounded);
    }

    #[test]
    fn rounding_does_not_add_up_and_is_known() {
        let found = of(&[(1, 333_333), (2, 333_333), (3, 333_334)], 1_000_000);
        assert_eq!(found.entries, [(1, 333), (2, 333), (3, 334)]);
        assert!(found.is_rounded);
        // Less than a nanosecond is nothing.
        assert_eq!(of(&[(1, 500), (2, 999_500)], 1_000_000).entries, [(2, 1_000)]);
    }

    #[test]
    fn long_intervals_are_several_entries() {
        let found = of(&[(1, 10_000_000_000_000)], 10_000_000_000_000);
        assert_eq!(found.entries.iter().map(|(_, ns)| ns).sum::<u64>(), 10_000_000_000);
        assert!(found.entries.iter().all(|(state, ns)| *state == 1 && *ns <= INTERVAL_MAX));
    }
}
