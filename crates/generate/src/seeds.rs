//! How many cases a search tries, and which: the environment's word over the test's own number.

/// A number that an environment variable may set.
///
/// # Panics
/// If it is set to something else than a number.
#[must_use]
pub fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

/// How many cases to try: the value of `TAUTWIRE_CASES`, or the test's own number `TAUTWIRE_TIMES` times.
///
/// # Panics
/// If one of them is set to something else than a number.
#[must_use]
pub fn cases(otherwise: u64) -> u64 {
    let times = || number("TAUTWIRE_TIMES").unwrap_or(1);
    number("TAUTWIRE_CASES").unwrap_or_else(|| otherwise * times())
}

/// The seeds to try: the one in `TAUTWIRE_SEED`, or as many as [`cases`] gives.
///
/// # Panics
/// If one of them is set to something else than a number.
#[must_use]
pub fn seeds(otherwise: u64) -> Vec<u64> {
    match number("TAUTWIRE_SEED") {
        Some(seed) => vec![seed],
        None => (0..cases(otherwise)).collect(),
    }
}
