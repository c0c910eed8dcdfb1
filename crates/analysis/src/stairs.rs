//! Arrivals frame by frame: of each lane the frames of its streams, limited by the rate of its line.
//!
//! A stream whose frames are all of one size has, of `b + r·t` bits, only complete frames ([`Step`]). Arrivals by one
//! line are at most what that line carries, again in complete frames ([`ByLine`]). So the arrivals of a lane are the
//! lesser of the two, and jump at instants that [`Frames`] gives one after the other.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use tautwire_units::Bytes;

use crate::curve::{Curve, Line, MICRO, scaled, span_floor, volume};
use crate::windows::Jumps;

/// The number of frame sizes of a class up to which each gets a response time; of more, the least and the largest do.
const SIZES_MAX: usize = 8;

/// The arrivals of one stream, whose frames are all of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// Bits of a frame, on the wire.
    pub(crate) bits: u64,
    /// Token buckets that hold for it.
    pub(crate) lines: [Line; 2],
}

impl Step {
    /// How long after the first of them `count` frames may have come, at the earliest; none: never.
    pub(crate) fn time_of(&self, count: u64) -> Option<u64> {
        let bits = u128::from(count) * u128::from(self.bits) * MICRO;
        let by = |line: &Line| match bits.checked_sub(line.burst) {
            None | Some(0) => Some(0),
            Some(_) if line.rate == 0 => None,
            Some(missing) => Some(span_floor(missing, line.rate)),
        };
        let [one, other] = &self.lines;
        if one == other {
            return by(one);
        }
        Some(by(one)?.max(by(other)?))
    }

    /// How many may have come within a closed window of `ps`.
    pub(crate) fn count(&self, ps: u64) -> u64 {
        let frame = u128::from(self.bits) * MICRO;
        let by = |line: &Line| (line.burst + volume(line.rate, ps)) / frame;
        let [one, other] = self.lines.each_ref().map(by);
        u64::try_from(one.min(other)).unwrap_or(u64::MAX)
    }
}

/// The limit of a lane's line, in steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ByLine {
    pub(crate) step: Step,
    /// Bits in addition to complete steps: where frames have several sizes, a frame that has begun counts as a step.
    pub(crate) more: u64,
}

impl ByLine {
    /// Bits of frames of these sizes, least and largest, within `lines`; none where the line has no known bound.
    pub(crate) fn of(lines: impl IntoIterator<Item = Line>, (least, largest): (u64, u64)) -> Option<Self> {
        let mut lines = lines.into_iter();
        let one = lines.next()?;
        let step = Step { bits: least, lines: [one, lines.next().unwrap_or(one)] };
        Some(Self { step, more: if least == largest { 0 } else { least } })
    }

    fn bits(&self, count: u64) -> u64 {
        count.saturating_mul(self.step.bits).saturating_add(self.more)
    }
}

/// The arrivals by one lane, frame by frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LaneStairs {
    pub(crate) steps: Vec<Step>,
    pub(crate) line: Option<ByLine>,
}

/// The arrivals of a class, or of all above it: lanes frame by frame, and the rest.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stairs {
    pub(crate) lanes: Vec<LaneStairs>,
    pub(crate) rest: Curve,
    /// What windows take of a line of so many bits a second, in steps.
    pub(crate) taken: Option<(Arc<Jumps>, u64)>,
}

impl Stairs {
    /// Nothing.
    pub(crate) fn nothing() -> Self {
        Self::by_curve(Curve::zero())
    }

    /// All by its curve.
    pub(crate) fn by_curve(rest: Curve) -> Self {
        Self { lanes: Vec::new(), rest, taken: None }
    }

    /// With nothing but what windows take.
    pub(crate) fn of_taken(jumps: Option<&Arc<Jumps>>, curve: &Curve, rate: u64) -> Self {
        match jumps {
            Some(jumps) => Self { taken: Some((Arc::clone(jumps), rate)), ..Self::nothing() },
            None => Self::by_curve(curve.clone()),
        }
    }

    /// A curve in steps of so many bits: one step more, so that the steps are never below it.
    pub(crate) fn in_steps(curve: &Curve, bits: u64) -> Option<Self> {
        let (steep, flat) = (*curve.lines().first()?, *curve.lines().last()?);
        let more = |line: Line| Line { burst: line.burst + u128::from(bits) * MICRO, ..line };
        let lines = [more(steep), more(flat)];
        let lane = LaneStairs { steps: vec![Step { bits, lines }], line: None };
        Some(Self { lanes: vec![lane], ..Self::nothing() })
    }

    /// After a delay of at most `ps`.
    pub(crate) fn widened(&self, ps: u64) -> Self {
        let late =
            |step: &Step| Step { lines: step.lines.map(|line| line.after_jitter(line.rate, ps)), ..*step };
        let lane = |lane: &LaneStairs| LaneStairs {
            steps: lane.steps.iter().map(late).collect(),
            line: lane.line.map(|line| ByLine { step: late(&line.step), ..line }),
        };
        let lanes = self.lanes.iter().map(lane).collect();
        Self { lanes, rest: self.rest.widened(ps), taken: self.taken.clone() }
    }

    /// Both together.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        Self {
            lanes: self.lanes.iter().chain(&other.lanes).cloned().collect(),
            rest: self.rest.plus(&other.rest),
            taken: self.taken.clone().or_else(|| other.taken.clone()),
        }
    }

    /// As if no frame came after the first ones.
    #[cfg(feature = "planted-faults")]
    pub(crate) fn first_frames(&self) -> Self {
        let mut first = self.clone();
        let steps = first.lanes.iter_mut().flat_map(|lane| &mut lane.steps);
        steps.flat_map(|step| &mut step.lines).for_each(|line| line.rate = 0);
        first
    }

    fn steps(&self) -> impl Iterator<Item = &Step> {
        self.lanes.iter().flat_map(|lane| &lane.steps)
    }

    /// Whether all arrivals are frame by frame.
    pub(crate) fn is_integral(&self) -> bool {
        self.rest == Curve::zero()
    }

    /// Frame sizes, in bits, that each get a response time, the least first.
    pub(crate) fn sizes(&self) -> Vec<u64> {
        let mut sizes: Vec<u64> = Vec::new();
        for step in self.steps() {
            if !sizes.contains(&step.bits) {
                sizes.push(step.bits);
            }
        }
        sizes.sort_unstable();
        if sizes.len() > SIZES_MAX {
            sizes = vec![sizes[0], sizes[sizes.len() - 1]];
        }
        sizes
    }

    /// In charged bits, with so many octets in addition to each frame, at most `ratio` charged bits per bit on the
    /// wire; none of the rest.
    pub(crate) fn charged(&self, overhead: u64, ratio: (u64, u64)) -> Self {
        let bits = |wire: u64| wire - Bytes::MEDIA_OVERHEAD.bits().get() + overhead * 8;
        let charged = |step: &Step| {
            let lines = step.lines.map(|line| line.in_bits((bits(step.bits), step.bits)));
            Step { bits: bits(step.bits), lines }
        };
        let line = |line: &ByLine| match line.more {
            0 => ByLine { step: charged(&line.step), more: 0 },
            _ => {
                let most =
                    u64::try_from(scaled(u128::from(line.step.bits), ratio.0, ratio.1)).unwrap_or(u64::MAX);
                let lines = line.step.lines.map(|line| line.in_bits(ratio));
                ByLine { step: Step { bits: most, lines }, more: most }
            }
        };
        let lane = |lane: &LaneStairs| LaneStairs {
            steps: lane.steps.iter().map(charged).collect(),
            line: lane.line.as_ref().map(line),
        };
        Self { lanes: self.lanes.iter().map(lane).collect(), rest: self.rest.clone(), taken: None }
    }
}

/// Where the steps of a lane have come to, in bits.
#[derive(Clone, Copy)]
struct Reached {
    by_steps: u64,
    by_line: u64,
    /// Whether the line is looked at again only when more has come than it lets through.
    line_rests: bool,
}

impl Reached {
    fn bits(self) -> u64 {
        self.by_steps.min(self.by_line)
    }
}

/// The place of a line among the steps of a lane.
const LINE: u32 = u32::MAX;

/// Bits of complete frames, jump by jump in order of time.
pub(crate) struct Frames<'a> {
    lanes: &'a [LaneStairs],
    reached: Vec<Reached>,
    /// Time, lane, step of it or line, and how many of that step will have come.
    next: BinaryHeap<Reverse<(u64, u32, u32, u64)>>,
    until: u64,
    /// Bits that have come.
    pub(crate) came: u64,
    /// What windows take, how many of its steps have come and of the corrections of its clock, and micro-bits of both.
    windows: Option<(&'a Jumps, u64)>,
    steps_taken: usize,
    corrections: u64,
    taken: (u128, u128),
    /// Nothing starts before this instant, by the parts of windows that have begun.
    over: u64,
}

impl<'a> Frames<'a> {
    /// The start of a window, when all frames have come that may come at once; frames later than `until` are not given.
    pub(crate) fn of(stairs: &'a Stairs, until: u64) -> Self {
        let lanes = &stairs.lanes[..];
        let mut frames = Self {
            lanes,
            reached: Vec::with_capacity(lanes.len()),
            next: BinaryHeap::new(),
            until,
            came: 0,
            windows: stairs.taken.as_ref().map(|(jumps, rate)| (&**jumps, *rate)),
            steps_taken: 0,
            corrections: 0,
            taken: (0, 0),
            over: 0,
        };
        while frames.next_step() == Some(0) {
            frames.take_step();
        }
        for (number, lane) in lanes.iter().enumerate() {
            let number = u32::try_from(number).expect("lanes are few");
            let mut by_steps = 0_u64;
            for (place, step) in lane.steps.iter().enumerate() {
                let count = step.count(0);
                by_steps = by_steps.saturating_add(count.saturating_mul(step.bits));
                frames.expect(step, (number, u32::try_from(place).expect("streams are few")), count + 1);
            }
            let by_line = lane.line.as_ref().map_or(u64::MAX, |line| line.bits(line.step.count(0)));
            let reached = Reached { by_steps, by_line, line_rests: true };
            frames.came += reached.bits();
            frames.reached.push(reached);
            frames.wake(number, 0);
        }
        frames
    }

    fn expect(&mut self, step: &Step, (lane, place): (u32, u32), count: u64) {
        if let Some(time) = step.time_of(count).filter(|time| *time <= self.until) {
            self.next.push(Reverse((time, lane, place, count)));
        }
    }

    /// Looks at the line of a lane that rests, where more has come than it let through when it was last looked at.
    fn wake(&mut self, lane: u32, now: u64) {
        let reached = &mut self.reached[lane as usize];
        let Some(line) = &self.lanes[lane as usize].line else { return };
        if reached.line_rests && reached.by_line < reached.by_steps {
            let count = line.step.count(now);
            reached.by_line = line.bits(count);
            reached.line_rests = reached.by_line >= reached.by_steps;
            if !reached.line_rests {
                self.expect(&line.step, (lane, LINE), count + 1);
            }
        }
    }

    /// When the next may come.
    pub(crate) fn peek(&self) -> Option<u64> {
        let frame = self.next.peek().map(|Reverse((time, ..))| *time);
        match self.next_step() {
            None => frame,
            Some(step) => Some(frame.map_or(step, |frame| frame.min(step))),
        }
    }

    /// All that has come, micro-bits: frames, and what windows take.
    pub(crate) fn all(&self) -> u128 {
        u128::from(self.came) * MICRO + self.taken.0 + self.taken.1
    }

    /// When the part of windows is over that has begun last.
    pub(crate) fn over(&self) -> u64 {
        self.over
    }

    /// When windows take more.
    fn next_step(&self) -> Option<u64> {
        let (jumps, _) = self.windows?;
        let step = jumps.nth(self.steps_taken).map(|jump| jump.at);
        let correction = jumps.correction(self.corrections).map(|(at, _)| at);
        step.into_iter().chain(correction).min().filter(|at| *at <= self.until)
    }

    fn take_step(&mut self) {
        let Some((jumps, rate)) = self.windows else { return };
        let step = jumps.nth(self.steps_taken);
        if let Some((at, taken)) = jumps.correction(self.corrections)
            && step.is_none_or(|step| at < step.at)
        {
            self.taken.1 = volume(rate, taken);
            self.corrections += 1;
        } else if let Some(step) = step {
            self.taken.0 = volume(rate, step.taken);
            // What is taken by a correction may lie behind that.
            self.over = self.over.max(step.over);
            self.steps_taken += 1;
        }
    }

    /// Lets come what comes next.
    pub(crate) fn take(&mut self) {
        let frame = self.next.peek().map_or(u64::MAX, |Reverse((time, ..))| *time);
        if self.next_step().is_some_and(|step| step <= frame) {
            return self.take_step();
        }
        let Some(Reverse((time, lane, place, count))) = self.next.pop() else { return };
        let before = self.reached[lane as usize].bits();
        let of = &self.lanes[lane as usize];
        if place == LINE {
            let line = of.line.as_ref().expect("it was waited for");
            let reached = &mut self.reached[lane as usize];
            reached.by_line = line.bits(count);
            reached.line_rests = reached.by_line >= reached.by_steps;
            if !reached.line_rests {
                self.expect(&line.step, (lane, LINE), count + 1);
            }
        } else {
            let step = &of.steps[place as usize];
            self.reached[lane as usize].by_steps += step.bits;
            self.expect(step, (lane, place), count + 1);
            self.wake(lane, time);
        }
        self.came += self.reached[lane as usize].bits() - before;
    }

    /// Lets come what comes up to an instant; how often something did.
    pub(crate) fn take_until(&mut self, now: u64) -> usize {
        let mut taken = 0;
        while self.peek().is_some_and(|next| next <= now) {
            self.take();
            taken += 1;
        }
        taken
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// A bit in a picosecond.
    pub(crate) const RATE: u64 = 1_000_000_000_000;

    /// Frames of so many bits, so far apart, that may be late by so much.
    fn periodic((bits, period, jitter): (u64, u64, u64)) -> Step {
        let rate = (bits * RATE).div_ceil(period);
        let line = Line { burst: u128::from(bits) * MICRO + volume(rate, jitter), rate };
        Step { bits, lines: [line; 2] }
    }

    /// Each by a line of its own.
    pub(crate) fn stairs(of: &[(u64, u64, u64)]) -> Stairs {
        let lane = |one: &(u64, u64, u64)| LaneStairs { steps: vec![periodic(*one)], line: None };
        Stairs { lanes: of.iter().map(lane).collect(), ..Stairs::nothing() }
    }
}
