//! The guaranteed and the greatest output of one scheduler of asynchronous traffic shaping, computing in ticks on its
//! own clock (IEEE Std 802.1Q-2022, 8.6.11.3).
//!
//! Rates and bursts are in charged bits: those that its device counts of a frame. Groups of schedulers are in
//! `regulator.rs`.

use tautwire_units::Duration;

use crate::clock::PS_PER_S;
use crate::curve::{Line, MICRO, span, volume};
use crate::timeline::ShaperRange;

/// Parts per billion in one.
const PPB: u128 = 1_000_000_000;

/// A scheduler as the slowest and coarsest it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slowest {
    /// Rate that it surely passes, charged bits per second.
    pub(crate) rate: u64,
    /// Burst that it surely passes, micro-bits.
    pub(crate) burst: u128,
    /// By how much roundings of its ticks may lengthen a wait, picoseconds.
    pub(crate) late: u64,
}

/// Buckets of which a scheduler surely passes each.
pub(crate) type Choice = [Slowest; 2];

/// The frames of a scheduler's streams, charged octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frames {
    /// Smallest.
    pub(crate) min: u64,
    /// Largest.
    pub(crate) max: u64,
}

/// What a scheduler surely passes: a choice of buckets, any of which it passes.
///
/// One without a tick is exact: only an assigned time is rounded, to the picosecond, and in a complete run the
/// roundings of schedulers of other rates in its group sum to less than another one. For one that computes in ticks:
///
/// Let τ be the rounding of a frame's duration and E the time to fill the bucket, rounded down. If the longest
/// duration exceeds E by δ, every frame may find its bucket short by δ. A machine with durations and E longer by δ is
/// never earlier, and its frames fit its bucket; it passes `(l/(l/CIR + τ + δ), (E + δ)` at that rate`)` for the
/// smallest frame `l`. If all frames have one length, of which the bucket holds `n` exactly, more than the bucket is
/// at least one frame more, so the roundings of `n + 1` durations may be charged to the rate and the full bucket
/// counts.
pub(crate) fn slowest(range: &ShaperRange, tick: Option<Duration>, frames: Frames) -> Choice {
    let deviation = u128::from(range.deviation_ppb);
    let low = (u128::from(range.rate_min) * (PPB - deviation.min(PPB - 1)) / PPB).max(1);
    let burst = u128::from(range.burst_held());
    let Some(tick) = tick else {
        let rate = u64::try_from(low).unwrap_or(u64::MAX);
        return [Slowest { rate, burst: burst * MICRO, late: 2 }; 2];
    };
    let quantum = u128::from(tick.as_ps().max(1));
    let bits_min = u128::from(frames.min * 8);
    let octet_is_exact = (8 * PS_PER_S).is_multiple_of(low * quantum);
    let bucket_is_exact = (burst * PS_PER_S).is_multiple_of(low * quantum);
    // A tick, and 2⁻²⁴ of one for every octet.
    let tau = if octet_is_exact { 0 } else { quantum + ((u128::from(frames.max) * quantum) >> 24) + 1 };
    let fill = burst * PS_PER_S / low / quantum * quantum;
    let longest = (u128::from(frames.max * 8) * PS_PER_S).div_ceil(low) + tau;
    let delta = if deviation == 0 { longest.saturating_sub(fill) } else { tau + quantum };
    let rate = |lost: u128| {
        let time = (bits_min * PS_PER_S).div_ceil(low) + lost;
        if lost == 0 { low } else { bits_min * PS_PER_S / time }
    };
    let passes = |rate: u128, burst: u128| Slowest {
        rate: u64::try_from(rate).unwrap_or(u64::MAX),
        burst,
        late: u64::try_from(2 * quantum).unwrap_or(u64::MAX),
    };
    let full = burst * MICRO;
    if octet_is_exact && bucket_is_exact && delta == 0 {
        return [passes(low, full); 2];
    }
    let slower = rate(tau + delta);
    let filled = (fill + delta) * slower / (PS_PER_S / MICRO);
    let first = passes(slower, filled.min(full));
    let step = delta + if bucket_is_exact { 0 } else { quantum };
    if frames.min == frames.max && burst.is_multiple_of(bits_min) {
        let held = burst / bits_min;
        [first, passes(rate((held + 1) * tau + held * step), full)]
    } else {
        [first; 2]
    }
}

/// What a scheduler lets through at most, in charged bits and on its own clock.
pub(crate) fn lets_through(range: &ShaperRange) -> Line {
    let rate = (u128::from(range.rate_max) * (PPB + u128::from(range.deviation_ppb))).div_ceil(PPB);
    Line::new(range.burst_sum, u64::try_from(rate).unwrap_or(u64::MAX))
}

/// By how many picoseconds the assigned times of frames may be closer than the bucket of their scheduler allows. With
/// ticks every duration is rounded up; without, an assigned time is.
pub(crate) fn closer(range: &ShaperRange, tick: Option<Duration>) -> u64 {
    let is_exact = range.constant
        && range.deviation_ppb == 0
        && PS_PER_S.is_multiple_of(u128::from(range.rate_min.max(1)));
    u64::from(tick.is_none() && !is_exact)
}

/// How long a talker's own shaper holds a stream, on its clock: each stream has a bucket of its own.
pub(crate) fn talker_wait(range: &ShaperRange, charged: Line, frames: Frames) -> Option<u64> {
    let choice = slowest(range, None, frames);
    let waits = choice.iter().filter(|slowest| charged.rate <= slowest.rate).filter_map(|slowest| {
        let excess = charged.burst.saturating_sub(slowest.burst);
        span(excess, slowest.rate)?.checked_add(slowest.late)
    });
    waits.min()
}

/// What a scheduler's stream may send beyond its bucket, because frames may come `late` picoseconds
/// after they are eligible.
pub(crate) fn bunched(line: Line, late: u64) -> Line {
    Line { burst: line.burst + volume(line.rate, late), rate: line.rate }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::fill;

    fn range(rate: u64, burst: u64) -> ShaperRange {
        ShaperRange {
            rate_min: rate,
            rate_max: rate,
            burst_min: burst,
            fill_min: fill(rate, burst),
            burst_sum: burst,
            constant: true,
            deviation_ppb: 0,
        }
    }

    const FRAME: Frames = Frames { min: 1_522, max: 1_522 };

    #[test]
    fn integral_ticks_cost_nothing() {
        let [exact, same] = slowest(&range(100_000_000, 12_176), Some(Duration::from_ps(8_000)), FRAME);
        assert_eq!(exact, Slowest { rate: 100_000_000, burst: 12_176 * MICRO, late: 16_000 });
        assert_eq!(exact, same);
    }

    #[test]
    fn other_ticks_cost_rate_and_burst() {
        let sizes = Frames { min: 64, max: 1_522 };
        let [coarse, _] = slowest(&range(33_000_000, 12_176), Some(Duration::from_ps(8_000)), sizes);
        assert!(coarse.rate < 33_000_000 && coarse.rate > 32_900_000, "{coarse:?}");
        assert!(coarse.burst < 12_176 * MICRO, "{coarse:?}");
        let [fine, _] = slowest(&range(33_000_000, 12_176), Some(Duration::from_ps(1)), sizes);
        let lost = 12_176 * MICRO - fine.burst;
        assert!(0 < lost && lost < 12_176, "a millionth at most: {fine:?}");
        assert!(fine.rate < 33_000_000 && fine.rate > 32_999_980, "{fine:?}");
    }

    #[test]
    fn without_a_tick_nothing_is_lost() {
        let full = Slowest { rate: 33_000_000, burst: 12_176 * MICRO, late: 2 };
        assert_eq!(slowest(&range(33_000_000, 12_176), None, FRAME), [full; 2]);
        let closer = |rate, tick| super::closer(&range(rate, 12_176), tick);
        assert_eq!((closer(33_000_000, None), closer(100_000_000, None)), (1, 0));
        assert_eq!(closer(33_000_000, Some(Duration::from_ps(1))), 0);
    }

    /// A bucket of one frame: the machine's duration of a frame, rounded up, exceeds its time to fill the
    /// bucket, rounded down, and a greedy talker is delayed by both with every frame.
    #[test]
    fn a_bucket_of_one_frame_loses_both_roundings() {
        let (cir, octets, quantum) = (29_431_676, 380, 8_000);
        let frames = Frames { min: octets, max: octets };
        let [first, second] = slowest(&range(cir, octets * 8), Some(Duration::from_ps(quantum)), frames);
        // 12911.26 ticks at the rate; the machine takes 12912 and one more, as its bucket holds 12911.
        let most = octets * 8 * 1_000_000_000_000 / (12_913 * quantum);
        assert!(first.rate <= most && second.rate <= most, "{first:?} {second:?} above {most}");
        assert_eq!(second.burst, u128::from(octets * 8) * MICRO);
    }

    #[test]
    fn a_talker_holds_what_is_above_its_bucket() {
        let two_frames = Line::new(2 * 12_336, 9_000_000);
        let frames = Frames { min: 1_542, max: 1_542 };
        let wait = talker_wait(&range(10_000_000, 12_336), two_frames, frames);
        assert_eq!(wait, Some(1_233_600_000 + 2), "a frame at 10 Mbit/s, and two ticks");
        assert_eq!(talker_wait(&range(8_000_000, 12_336), two_frames, frames), None, "too slow");
    }
}
