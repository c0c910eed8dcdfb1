//! How far a clock can be off that a servo makes follow its grandmaster ([gPTP](../../../docs/mechanisms/gptp.md)).
//!
//! Once in an interval of sync τ, or a little later, the servo receives the offset `x + e` of its clock: `x` is the
//! true offset, and `e` the error of the node's time of the grandmaster, which is bounded
//! ([`clock_precision`](crate::clock_precision())). Let `y`, in picoseconds in an interval, be how far the servo's
//! integral is above the difference of rate that it should compensate. The next sample finds
//!
//! ```text
//! y' = y + I b (x + e)            x' = x - a (P b (x + e) + y')
//! ```
//!
//! where `a` is the time to this next sample and `1/b` that from the one before, in intervals. Both change from sample
//! to sample. The map is bilinear in `a` and `b`, so the image of a convex set lies in the hull of its images at the
//! four corners. Sets are polygons with fixed directions: the extent of each in a direction is bounded by the extents
//! of the set before in the two adjacent directions. Repeated from all possible initial states of the servo, until the
//! set lies in itself, that is a bound at any later time.
//!
//! Between samples a clock's offset lies between those of two samples. A lost sync makes one time to the next sample
//! longer; a set for each number of samples since then separates such cases. Every division is rounded to the greater
//! bound.

use tautwire_model::network::{Network, NodeIndex};
use tautwire_units::Duration;

use crate::clock_precision::{interval, precision_and_passage, steps};
use crate::result::Bounds;

/// Directions: the integer points on the edge of a square, this far from its middle.
const REACH: i128 = 8;
const DIRECTIONS: usize = 64;
/// Parts of a time in intervals.
const PARTS: i128 = 1 << 20;
const PPB: i128 = 1_000_000_000;
/// Samples after which a set that does not lie in itself is given up.
const SAMPLES_MAX: u128 = 2_000;

/// Which syncs may be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncLosses {
    /// None.
    None,
    /// At most one of so many consecutive ones.
    OneOf(u32),
}

/// The most by which `node`'s corrected clock is off, either way, in samples after the warm-up: if the same
/// grandmaster is followed since the middle of the
/// warm-up and the servo neither steps its clock nor meets its greatest rate since then. None if the servo need not settle, if what
/// it settles to could be stepped or meet the greatest rate, where links and nodes come and go, and if the node's time has no bound.
#[must_use]
pub fn corrected_precision(
    network: &Network,
    bounds: &Bounds,
    grandmaster: NodeIndex,
    node: NodeIndex,
    losses: SyncLosses,
) -> Option<Duration> {
    let gptp = network.gptp.as_ref()?;
    let servo = gptp.servo?;
    if !network.events.is_empty() {
        return None;
    }
    let (off, passage) = precision_and_passage(network, bounds, grandmaster, node)?;
    let tau = i128::try_from(interval(gptp.log_sync)).ok()?;
    let (one, other) = (&network.nodes[grandmaster.index()].clock, &network.nodes[node.index()].clock);
    // Readings of both clocks are rounded.
    let granularity = other.granularity.as_ps() + one.granularity.as_ps();
    let error = i128::try_from(off).ok()? + i128::from(granularity) + 4;
    // A sync comes at most this long behind the one before it, by the node's clock, in parts of an interval.
    let gap = |intervals: i128| {
        let late = passage + (u128::try_from(intervals).ok()? + 1) * steps(network);
        let latest = intervals * tau + intervals * tau / 500 + i128::try_from(late).ok()? * 1_001 / 1_000;
        Some((latest * PARTS + tau - 1) / tau + 1)
    };
    // Nine tenths of an interval are one: a sample is taken with the first message behind them.
    let least = PARTS * 9 / 10 - PARTS / 500;
    let usual = PARTS * 9 / 10 + PARTS / 500 + gap(1)?;
    let (longest, quiet) = match losses {
        SyncLosses::None => (usual, None),
        // A sample comes at the latest behind two syncs.
        SyncLosses::OneOf(many) => (PARTS * 9 / 10 + PARTS / 500 + gap(2)?, Some((many as usize / 2).max(1))),
    };
    let step_min = i128::from(servo.step_min.as_ps());
    let rate_max = div_up(i128::from(servo.rate_max_ppb) * tau, PPB);
    let drift = div_up(i128::from(one.tolerance_ppb + other.tolerance_ppb) * 1_001 / 1_000 * tau, PPB) + 1;
    let map = Map {
        weights: (i128::from(servo.proportional), i128::from(servo.integral)),
        least,
        usual,
        longest,
        error,
        // Rates are rounded down to parts in 10¹², twice each.
        rounding: (
            div_up(4 * longest * tau / PARTS, 1_000_000_000_000) + 3,
            div_up(2 * tau, 1_000_000_000_000) + 1,
        ),
    };
    let samples =
        u128::from(network.run.warm_up.as_ps()) / 2 * PARTS.unsigned_abs() / (longest * tau).unsigned_abs();
    let sets = map.settled(step_min + error, rate_max + drift, quiet, samples)?;
    let reach = |direction: usize| sets.iter().map(|set| div_up(set.0[direction], REACH)).max();
    let (x, y) = (reach(0)?, reach(DIRECTIONS / 4)?);
    let steered = div_up(map.weights.0 * (x + error), 1_000) + y + div_up(map.weights.1 * (x + error), 1_000);
    if x + error >= step_min || steered + drift > rate_max {
        return None;
    }
    u64::try_from(x + i128::from(granularity) + 2).ok().map(Duration::from_ps)
}

fn div_up(number: i128, by: i128) -> i128 {
    -(-number).div_euclid(by)
}

/// A direction, by its place around the square.
fn direction(place: usize) -> (i128, i128) {
    let step = i128::try_from(place % (DIRECTIONS / 4)).expect("small");
    let (x, y) = if step <= REACH { (REACH, step) } else { (2 * REACH - step, REACH) };
    // A quarter of a turn for each fourth of the places.
    match place / (DIRECTIONS / 4) % 4 {
        0 => (x, y),
        1 => (-y, x),
        2 => (-x, -y),
        _ => (y, -x),
    }
}

fn cross(one: (i128, i128), other: (i128, i128)) -> i128 {
    one.0 * other.1 - one.1 * other.0
}

/// A set of pairs (x, y): how far it reaches in each direction at most, as a product with the direction.
#[derive(Clone, PartialEq)]
struct Set([i128; DIRECTIONS]);

impl Set {
    /// All up to `x` and `y` either way.
    fn rectangle(x: i128, y: i128) -> Self {
        Self(core::array::from_fn(|place| {
            let (dx, dy) = direction(place);
            dx.abs() * x + dy.abs() * y
        }))
    }

    /// How far it reaches in any direction at most: as a sum of the two next to it.
    fn reach(&self, towards: (i128, i128)) -> i128 {
        if towards == (0, 0) {
            return 0;
        }
        let between = |place: &usize| {
            let (one, other) = (direction(*place), direction(place + 1));
            cross(one, towards) >= 0
                && cross(towards, other) >= 0
                && one.0 * towards.0 + one.1 * towards.1 > 0
        };
        let place = (0..DIRECTIONS).find(between).expect("directions are all around");
        let (one, other) = (direction(place), direction(place + 1));
        let (of_one, of_other) = (cross(towards, other), cross(one, towards));
        let next = self.0[(place + 1) % DIRECTIONS];
        div_up(of_one * self.0[place] + of_other * next, cross(one, other))
    }

    fn within(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(own, other)| own <= other)
    }

    fn join(&mut self, other: &Self) {
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            *own = (*own).max(*other);
        }
    }
}

/// The effect of a sample on an offset and a rate.
struct Map {
    /// Proportional and integral, in thousandths.
    weights: (i128, i128),
    /// Times to the next sample, in parts of an interval: the shortest, the longest without a loss, and with one.
    least: i128,
    usual: i128,
    longest: i128,
    /// Of the node's time.
    error: i128,
    /// Of an offset and of a rate.
    rounding: (i128, i128),
}

impl Map {
    /// Where a set comes to with the next sample, which is `to` parts of an interval later at most, and that before was `from` at most.
    fn image(&self, set: &Set, from: i128, to: i128) -> Set {
        let shortest = (PARTS * PARTS).div_euclid(from.max(PARTS));
        let (proportional, integral) = self.weights;
        Set(core::array::from_fn(|place| {
            let (dx, dy) = direction(place);
            let corners = [(self.least, shortest), (self.least, PARTS), (to, shortest), (to, PARTS)];
            let scale_squared = PARTS * PARTS * 1_000;
            let reach = corners.map(|(a, b)| {
                let correction = -dx * a * b * (proportional + integral) + dy * b * PARTS * integral;
                let towards = (dx * scale_squared + correction, (dy * PARTS - dx * a) * PARTS * 1_000);
                // Parts of a direction that do not matter are rounded away, to the greater reach.
                let (scale, slack) = (1 << 20, set.0[0].max(set.0[DIRECTIONS / 4]));
                let towards = (towards.0 / scale, towards.1 / scale);
                let reach = set.reach(towards) + div_up(correction.abs() * self.error, scale) + 2 * slack;
                div_up(reach, scale_squared / scale)
            });
            let rounding = dx.abs() * self.rounding.0 + dy.abs() * self.rounding.1;
            reach.into_iter().max().expect("four corners") + rounding
        }))
    }

    /// Sets, by samples since a sync was lost, of all times from `samples` samples on. None if there are none.
    fn settled(&self, x: i128, y: i128, quiet: Option<usize>, samples: u128) -> Option<Vec<Set>> {
        let states = quiet.map_or(1, |quiet| quiet + 1);
        let mut sets = vec![Set::rectangle(x, y); states];
        for sample in 0..SAMPLES_MAX {
            let next = self.step(&sets);
            let inside = next.iter().zip(&sets).all(|(next, set)| next.within(set));
            if sample >= samples && inside {
                return Some(sets);
            }
            if sample < samples {
                sets = next;
            } else {
                sets.iter_mut().zip(&next).for_each(|(set, next)| set.join(next));
            }
            if sets[0].0[0] > 1 << 60 {
                return None;
            }
        }
        None
    }

    fn step(&self, sets: &[Set]) -> Vec<Set> {
        let last = sets.len() - 1;
        let mut next: Vec<Option<Set>> = vec![None; sets.len()];
        let mut add = |state: usize, set: Set| match &mut next[state] {
            Some(known) => known.join(&set),
            empty => *empty = Some(set),
        };
        for (state, set) in sets.iter().enumerate() {
            // The set of state 0 has just had the longest time, if there are more.
            let from = if state == 0 && last > 0 { self.longest } else { self.usual };
            add((state + 1).min(last), self.image(set, from, self.usual));
            if state == last && last > 0 {
                add(0, self.image(set, from, self.longest));
            }
        }
        next.into_iter().map(|set| set.expect("every state is reached")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(usual: i128, longest: i128) -> Map {
        Map {
            weights: (700, 300),
            least: PARTS * 9 / 10,
            usual: PARTS * usual / 100,
            longest: PARTS * longest / 100,
            error: 1_000_000,
            rounding: (4, 2),
        }
    }

    /// Offsets in picoseconds of the worst of many courses of samples and errors at random.
    fn worst(map: &Map, quiet: Option<u64>) -> i128 {
        let mut state = 1_u64;
        let mut draw = |most: i128| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            i128::from(state >> 33) % (most + 1)
        };
        let mut worst = 0;
        for _ in 0..200 {
            let (mut x, mut y, mut before, mut since) = (0_i128, 0_i128, PARTS, 0_u64);
            for _ in 0..100 {
                // The errors that do most harm, mostly.
                let error =
                    if draw(9) == 0 { draw(2_000_000) - 1_000_000 } else { draw(1) * 2_000_000 - 1_000_000 };
                let lost = quiet.is_some_and(|quiet| since >= quiet) && draw(2) == 0;
                since = if lost { 0 } else { since + 1 };
                let (least, most) = if lost { (map.usual, map.longest) } else { (map.least, map.usual) };
                let to = if draw(1) == 0 { most } else { least + draw(most - least) };
                let correction = (x + error) * PARTS / before.max(PARTS);
                y += correction * 3 / 10;
                x -= (correction * 7 / 10 + y) * to / PARTS;
                before = to;
                worst = worst.max(x.abs());
            }
        }
        worst
    }

    #[test]
    fn random_courses_stay_within_the_set_and_come_near() {
        for (usual, longest, quiet) in
            [(100, 100, None), (150, 150, None), (190, 190, None), (190, 290, Some(8))]
        {
            let map = map(usual, longest);
            let sets = map.settled(50_000_000, 50_000_000, quiet, 300).expect("it settles");
            let bound = sets.iter().map(|set| set.0[0] / REACH).max().expect("a set");
            let worst = worst(&map, quiet.map(|quiet| quiet as u64));
            assert!(worst <= bound && bound < worst * 4, "{usual}: {worst} of {bound}");
        }
    }

    #[test]
    fn a_servo_that_need_not_settle_has_no_set() {
        // Every second sync is lost.
        assert!(map(190, 290).settled(1_000_000, 1_000_000, Some(1), 0).is_none());
        // More at once than there is.
        assert!(Map { weights: (1_900, 900), ..map(110, 110) }.settled(1, 1, None, 0).is_none());
    }

    #[test]
    fn directions_are_all_around() {
        for place in 0..DIRECTIONS {
            assert_eq!(cross(direction(place), direction(place + 1)), REACH, "{place}");
        }
        let set = Set::rectangle(3, 5);
        assert_eq!(set.reach((2, 0)), 6);
        assert_eq!(set.reach((0, -7)), 35);
        assert_eq!(set.reach((-1_000, 999)), 3_000 + 4_995);
    }
}
