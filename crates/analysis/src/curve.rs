//! Arrival curves: concave, piecewise linear, exact.
//!
//! A [`Line`] limits the bits within any closed window of *t* to `burst + rate·t`, where each frame counts with its
//! full length (a token bucket). A [`Curve`] is the least of several lines. Bursts are in micro-bits, so that a rate
//! in bit/s times a span in picoseconds keeps its fraction; every rounding is up. Invariant: every line of a curve is
//! itself a valid bound, so a badly chosen line costs tightness and never soundness.

use crate::clock::PS_PER_S;

/// Micro-bits in a bit.
pub(crate) const MICRO: u128 = 1_000_000;
/// Micro-bits per bit/s and picosecond: `rate · ps / this`.
const PER_MICRO_BIT: u128 = PS_PER_S / MICRO;
/// The same.
const PER_MICRO_BIT_64: u64 = 1_000_000;

/// A token bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    /// Micro-bits.
    pub(crate) burst: u128,
    /// Bits per second.
    pub(crate) rate: u64,
}

/// The bits that come within `ps` at `bps`, micro-bits rounded up.
pub(crate) fn volume(bps: u64, ps: u64) -> u128 {
    // The quotient of two numbers of 64 bits is far cheaper, and nearly always that is enough.
    match bps.checked_mul(ps) {
        Some(product) => u128::from(product.div_ceil(PER_MICRO_BIT_64)),
        None => (u128::from(bps) * u128::from(ps)).div_ceil(PER_MICRO_BIT),
    }
}

/// The same rounded down.
pub(crate) fn volume_floor(bps: u64, ps: u64) -> u128 {
    match bps.checked_mul(ps) {
        Some(product) => u128::from(product / PER_MICRO_BIT_64),
        None => u128::from(bps) * u128::from(ps) / PER_MICRO_BIT,
    }
}

/// How long `micro_bits` last at `bps`, picoseconds rounded up; none if they never pass.
pub(crate) fn span(micro_bits: u128, bps: u64) -> Option<u64> {
    if bps == 0 {
        return (micro_bits == 0).then_some(0);
    }
    if let Some(product) = u64::try_from(micro_bits).ok().and_then(|bits| bits.checked_mul(PER_MICRO_BIT_64))
    {
        return Some(product.div_ceil(bps));
    }
    u64::try_from((micro_bits * PER_MICRO_BIT).div_ceil(u128::from(bps))).ok()
}

/// The same rounded down.
pub(crate) fn span_floor(micro_bits: u128, bps: u64) -> u64 {
    assert!(bps > 0, "a rate");
    if let Some(product) = u64::try_from(micro_bits).ok().and_then(|bits| bits.checked_mul(PER_MICRO_BIT_64))
    {
        return product / bps;
    }
    u64::try_from(micro_bits * PER_MICRO_BIT / u128::from(bps)).unwrap_or(u64::MAX)
}

/// `value · num / den`, rounded up.
pub(crate) fn scaled(value: u128, num: u64, den: u64) -> u128 {
    if num == den {
        return value;
    }
    match u64::try_from(value).ok().and_then(|value| value.checked_mul(num)) {
        Some(product) => u128::from(product.div_ceil(den)),
        None => (value * u128::from(num)).div_ceil(u128::from(den)),
    }
}

impl Line {
    /// `bits` bits at once, and `rate`.
    pub(crate) fn new(bits: u64, rate: u64) -> Self {
        Self { burst: u128::from(bits) * MICRO, rate }
    }

    /// After a delay that varies by `ps`: the burst grows.
    pub(crate) fn after_jitter(self, rate_true: u64, ps: u64) -> Self {
        Self { burst: self.burst + volume(rate_true, ps), rate: self.rate }
    }

    /// Both together.
    pub(crate) fn and(self, other: Self) -> Self {
        Self { burst: self.burst + other.burst, rate: self.rate.saturating_add(other.rate) }
    }

    /// In other bits, of which there are at most `num/den` to one.
    pub(crate) fn in_bits(self, (num, den): (u64, u64)) -> Self {
        let rate = u64::try_from(scaled(u128::from(self.rate), num, den)).unwrap_or(u64::MAX);
        Self { burst: scaled(self.burst, num, den), rate }
    }
}

/// Lines that a curve holds without memory of its own.
const FEW: usize = 3;

/// The least of its lines: rates fall, bursts grow. No line at all: nothing is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Curve {
    /// How many of `few` count, where `more` is empty.
    count: usize,
    few: [Line; FEW],
    /// All of them, where there are more than few.
    more: Vec<Line>,
}

impl PartialEq for Curve {
    fn eq(&self, other: &Self) -> bool {
        self.lines() == other.lines()
    }
}

impl Curve {
    /// No arrivals.
    pub(crate) fn zero() -> Self {
        Self { count: 1, ..Self::default() }
    }

    /// The least of these lines; lines that another one undercuts everywhere are dropped.
    pub(crate) fn least_of(lines: impl IntoIterator<Item = Line>) -> Self {
        let mut curve = Self::of(lines);
        if curve.lines().len() > 1 {
            curve.prune();
        }
        curve
    }

    /// These lines as they are.
    fn of(lines: impl IntoIterator<Item = Line>) -> Self {
        let mut curve = Self::default();
        for line in lines {
            curve.push(line);
        }
        curve
    }

    fn push(&mut self, line: Line) {
        if self.more.is_empty() && self.count < FEW {
            self.few[self.count] = line;
            self.count += 1;
            return;
        }
        if self.more.is_empty() {
            self.more.extend(self.few);
        }
        self.more.push(line);
    }

    fn prune(&mut self) {
        let lines = if self.more.is_empty() { &mut self.few[..self.count] } else { &mut self.more[..] };
        lines.sort_unstable_by_key(|line| (line.burst, line.rate));
        let mut kept = 0;
        for index in 0..lines.len() {
            let line = lines[index];
            if kept > 0 && lines[kept - 1].rate <= line.rate {
                continue;
            }
            // A line that is nowhere the least: its neighbours cross before they cross it.
            while kept > 1 && crossing(lines[kept - 2], line) <= crossing(lines[kept - 2], lines[kept - 1]) {
                kept -= 1;
            }
            lines[kept] = line;
            kept += 1;
        }
        if self.more.is_empty() {
            self.count = kept;
        } else {
            self.more.truncate(kept);
        }
    }

    /// Steepest first.
    pub(crate) fn lines(&self) -> &[Line] {
        if self.more.is_empty() { &self.few[..self.count] } else { &self.more }
    }

    /// Whether anything is known.
    pub(crate) fn is_known(&self) -> bool {
        self.count > 0
    }

    /// The rate in the long run.
    pub(crate) fn rate(&self) -> Option<u64> {
        self.lines().last().map(|line| line.rate)
    }

    /// The most that comes within a window of `ps`.
    #[cfg(test)]
    pub(crate) fn at(&self, ps: u64) -> Option<u128> {
        self.lines().iter().map(|line| line.burst + volume(line.rate, ps)).min()
    }

    /// Both together: at every length the sum of the lines that are least there.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        let (ours, theirs) = (self.lines(), other.lines());
        let (Some(mut left), Some(mut right)) = (ours.first(), theirs.first()) else {
            return Self::default();
        };
        let (mut i, mut j) = (0, 0);
        let mut sum = Self::default();
        loop {
            sum.push(left.and(*right));
            let next_left = ours.get(i + 1).map(|next| (crossing(*left, *next), next));
            let next_right = theirs.get(j + 1).map(|next| (crossing(*right, *next), next));
            match (next_left, next_right) {
                (None, None) => return sum,
                (Some((at, next)), other_next) if other_next.is_none_or(|(later, _)| at <= later) => {
                    left = next;
                    i += 1;
                }
                (_, Some((_, next))) => {
                    right = next;
                    j += 1;
                }
                (Some((_, next)), None) => {
                    left = next;
                    i += 1;
                }
            }
        }
    }

    /// As seen through a delay of at most `ps`: what left within a window came within one longer by it.
    pub(crate) fn widened(&self, ps: u64) -> Self {
        Self::of(self.lines().iter().map(|line| line.after_jitter(line.rate, ps)))
    }

    /// Whether another curve stays below this one by its lines alone.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        let covered = |line: &Line| {
            other.lines().iter().any(|other| other.burst <= line.burst && other.rate <= line.rate)
        };
        self.is_known() == other.is_known() && self.lines().iter().all(covered)
    }

    /// With larger bursts and higher rates, by `2^-shift` of each; of the rates no more than that part of what
    /// they leave of `rate`.
    pub(crate) fn grown(&self, shift: u32, rate: u64) -> Self {
        let left = self.rate().map_or(0, |flat| rate.saturating_sub(flat)) >> shift;
        let more = |line: &Line| Line {
            burst: line.burst + (line.burst >> shift),
            rate: line.rate.saturating_add((line.rate >> shift).min(left)),
        };
        Self::of(self.lines().iter().map(more))
    }

    /// As if nothing came but the bursts.
    #[cfg(feature = "planted-faults")]
    pub(crate) fn without_rate(&self) -> Self {
        Self::least_of(self.lines().iter().map(|line| Line { rate: 0, ..*line }))
    }

    /// As if bursts were at most so large.
    #[cfg(feature = "planted-faults")]
    pub(crate) fn with_burst(&self, most: u128) -> Self {
        Self::least_of(self.lines().iter().map(|line| Line { burst: line.burst.min(most), ..*line }))
    }

    /// In other bits, of which there are at most `num/den` to one.
    pub(crate) fn in_bits(&self, ratio: (u64, u64)) -> Self {
        Self::of(self.lines().iter().map(|line| line.in_bits(ratio)))
    }
}

/// Where two lines of a curve cross, picoseconds rounded down; only the choice of lines hangs on it.
pub(crate) fn crossing(steep: Line, flat: Line) -> u64 {
    if steep.rate <= flat.rate {
        return 0;
    }
    span_floor(flat.burst.saturating_sub(steep.burst), steep.rate - flat.rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(bits: u64, rate: u64) -> Line {
        Line::new(bits, rate)
    }

    #[test]
    fn volumes_and_spans_round_up() {
        assert_eq!(volume(1, 1), 1, "10^-12 bit is a micro-bit");
        assert_eq!(volume(1_000_000_000, 12_336_000), 12_336 * MICRO);
        assert_eq!(span(12_336 * MICRO, 1_000_000_000), Some(12_336_000));
        assert_eq!(span(1, 3), Some(333_334));
        assert_eq!((span(1, 0), span(0, 0)), (None, Some(0)));
    }

    #[test]
    fn lines_that_never_matter_are_dropped() {
        let curve = Curve::least_of([line(10, 5), line(20, 7), line(30, 1), line(10, 9)]);
        assert_eq!(curve.lines(), [line(10, 5), line(30, 1)]);
        assert!(!Curve::least_of([]).is_known());
    }

    #[test]
    fn a_sum_of_curves_is_the_sum_of_their_values() {
        let a = Curve::least_of([line(1_000, 1_000_000), line(5_000, 100_000)]);
        let b = Curve::least_of([line(2_000, 800_000), line(2_500, 10_000), line(9_000, 0)]);
        let sum = a.plus(&b);
        for ps in [0, 100_000, 625_000_000, 632_911_000, 4_444_444_444, 10_000_000_000, 900_000_000_000] {
            let apart = a.at(ps).unwrap_or(0) + b.at(ps).unwrap_or(0);
            let together = sum.at(ps).unwrap_or(0);
            assert!(together >= apart && together <= apart + 2, "at {ps}: {together} and {apart}");
        }
        assert!(!a.plus(&Curve::default()).is_known(), "what is unknown stays so");
    }
}
