//! Clocks that are read in steps, for generated networks.
//!
//! Half of the networks have exact readings. In the others every clock that the text describes draws a step of its own, or none,
//! from a generator that nothing else draws from: all else of a seed's network stays as it is.

use crate::Dice;

/// What begins the description of a clock.
const CLOCK: &str = "clock: {";

/// The same network, of which some clocks are read in steps of one of these many nanoseconds.
pub(crate) fn drawn(text: &str, seed: u64, steps: &[u64]) -> String {
    let mut dice = Dice::new(seed ^ 0x6772_6169_6e73);
    if dice.chance(50) {
        return text.to_owned();
    }
    let mut parts = text.split(CLOCK);
    let mut grained = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        grained.push_str(CLOCK);
        // Some have a step already.
        let has_step = part.split('}').next().is_some_and(|clock| clock.contains("granularity"));
        if dice.chance(75) && !has_step {
            let step = dice.one_of(steps);
            grained.push_str(&format!("granularity: {step} ns, "));
        }
        grained.push_str(part);
    }
    grained
}

/// Steps of common timers: fine compared with everything that is timed by them.
pub(crate) const FINE: [u64; 4] = [8, 20, 40, 100];
/// Steps that are felt.
pub(crate) const COARSE: [u64; 5] = [8, 40, 100, 333, 1_000];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_read_in_steps_and_all_else_stays() {
        let text = "defaults: {clock: {tolerance: 1 ppm}}\nnodes: {a: {clock: {drift: 1 ppm}}}\n";
        let all: Vec<String> = (0..40).map(|seed| drawn(text, seed, &FINE)).collect();
        assert!(all.iter().any(|one| one == text), "exact");
        assert!(all.iter().any(|one| one.matches("granularity").count() == 2), "steps of their own");
        for one in all {
            let mut bare = one;
            for step in FINE {
                bare = bare.replace(&format!("granularity: {step} ns, "), "");
            }
            assert_eq!(bare, text);
        }
    }
}
