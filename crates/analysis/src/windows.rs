//! Classes that may send in windows alone, in the form of bounds: the time that is taken from them, and the frames
//! that go before them.
//!
//! A class in its window is served as if it had no windows, except for a frame that is in transmission when the window
//! opens and the end of the window, where a frame need not fit. All other time is *taken*: it goes before the class as
//! frames above it do, each part of it as soon as it begins ([`Jumps`]). So all methods of `port.rs` hold: from the
//! instant at which the class has its first frame, its usable time is spent on one lower frame, on frames above and on
//! its own.
//!
//! The interference from above is more than the arrivals from that instant on: a class above may have waited for a
//! window of its own ([`Part::late`]), so its frames are those that came within a time longer by its longest wait. And
//! it is no more than its own windows let into those of the class ([`ClassWindows::above`]). Where a class above may
//! always send, an instant can be chosen at which none of it waits.
//!
//! *Windows that count later* ([`ClassWindows::later`]). A lower frame that is under way when the first frame comes takes usable time as the class's own frames
//! do, which may need several windows; but it is over after its own time, whatever the windows. The same holds for the time before the first cycle, in which
//! higher classes may send. So let the windows count from an instant on that is `s` after the first frame, and at which no lower frame and no frame from
//! before the first cycle is on the line. From there on, with `K(a)` of the class up to the frame, `A(t)` of higher classes and `T(t)` taken in any window, a frame that comes
//! *a* after the first one starts at `s + n` with the least `n = K(a) + A(s + n) + T(n)`. As `n − a` is not above the greatest wait with `A` for that much
//! longer, the wait `s + n − a` is not above that and `s`.
//!
//! *Windows since the run began* ([`SinceRun`]). The first cycle of a port begins once, at an instant of the run: a frame that has waited for that
//! of one port does not wait as long for that of the next. Let no frame from before the cycles be on the line from `F` after the begin of the run
//! on, `l` be the time of the largest lower frame, `X = F + l`, `D` the greatest time from the creation of a frame to its queue here, and `W` the greatest
//! wait by the windows of the cycles alone, with `K` of its class and `A` of those above within a time that is longer by `X`. Then it starts at most
//! `max(X, D + l) + W` after its creation. Proof. It is created at `c >= 0` and comes at `a <= c + D`; let frames of its class wait from `t0` on without
//! a break. If `t0 >= F`, it starts within `l + W` of `a`, as above. Else a lower frame is over by `t0 + l < X`, and from `X` on usable time is spent on what came from `t0` on.
//! With `x = a - t0`, which is not above `a`, the frame starts at `X + n` at the latest, with the least `n = K(x) + A(X + n) + T(n)`. If `x < X`, that is
//! not above the wait of what comes at once, so it starts by `X + W`, and `c >= 0`. If `x = X + y`, then `n - y <= W`: it starts by `x + W`, and `c >= a - D >= x - D`.
//!
//! Credit (`credit_based.rs`) is computed in the time in which it is earned ([`CreditWindows`]). Services make these
//! windows. Not here: how long they are.

use std::sync::Arc;

use crate::clock::Deviation;
use crate::contribution::Offered;
use crate::curve::{Curve, Line, MICRO, scaled, volume};
use crate::passage::NO_REASON;
use crate::port::Above;
use crate::precedence::Precedence;
use crate::unbounded::Unbounded;

/// Time is counted as bits of a line of this rate: a bit is a picosecond.
pub(crate) const TIME: u64 = 1_000_000_000_000;

/// The most time that is taken in a closed window, each part counted as soon as it begins: steps that come again with a period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Jumps {
    /// Time that is taken once in addition, at the begin; the steps come so much later then.
    pub(crate) once: u64,
    pub(crate) later: u64,
    pub(crate) period: u64,
    /// Within the first period, in order, the first at zero.
    pub(crate) steps: Vec<Jump>,
    /// The time that is taken in every period.
    pub(crate) total: u64,
    /// Corrections of the clock: so far apart at least, and so much is taken by each.
    pub(crate) corrections: Option<(u64, u64)>,
}

/// A part that is taken begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Jump {
    pub(crate) at: u64,
    /// The time that is taken from then on.
    pub(crate) taken: u64,
    /// None of the frames starts from then on before this instant; zero where `taken` says so.
    pub(crate) over: u64,
}

impl Jumps {
    /// The same on a clock whose spans deviate.
    fn on_clock(&self, deviation: Deviation) -> Self {
        let steps = self.steps.iter().map(|jump| Jump {
            at: deviation.shrink(jump.at),
            taken: deviation.stretch(jump.taken),
            over: deviation.stretch(jump.over),
        });
        let every = |(every, each)| (deviation.shrink(every), deviation.stretch(each));
        Self {
            once: deviation.stretch(self.once),
            later: deviation.shrink(self.later),
            period: deviation.shrink(self.period),
            steps: steps.collect(),
            total: deviation.stretch(self.total),
            corrections: self.corrections.map(every),
        }
    }

    /// The next step, but for corrections of the clock.
    pub(crate) fn nth(&self, number: usize) -> Option<Jump> {
        if self.once > 0 && number == 0 {
            return Some(Jump { at: 0, taken: self.once, over: 0 });
        }
        if self.steps.is_empty() {
            return None;
        }
        let number = number - usize::from(self.once > 0);
        let (rounds, place) = (number / self.steps.len(), number % self.steps.len());
        let rounds = u64::try_from(rounds).ok()?;
        let jump = self.steps[place];
        let later = rounds.checked_mul(self.period)?.checked_add(self.later)?;
        let taken = rounds.checked_mul(self.total)?.checked_add(jump.taken)?.checked_add(self.once)?;
        let over = if jump.over == 0 { 0 } else { later.checked_add(jump.over)? };
        Some(Jump { at: later.checked_add(jump.at)?, taken, over })
    }

    /// When the clock may be corrected for the time of this number, and how much all of these take.
    pub(crate) fn correction(&self, number: u64) -> Option<(u64, u64)> {
        let (every, each) = self.corrections?;
        Some((every.checked_mul(number)?, each.checked_mul(number.checked_add(1)?)?))
    }
}

/// Time that is not there, as a curve (bits of [`TIME`]) and in steps.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Taken {
    pub(crate) curve: Curve,
    pub(crate) jumps: Option<Arc<Jumps>>,
}

impl Taken {
    /// None of it.
    pub(crate) fn nothing() -> Self {
        Self { curve: Curve::zero(), jumps: None }
    }

    /// The same on a clock whose spans deviate.
    fn on_clock(&self, deviation: Deviation) -> Self {
        let jumps = self.jumps.as_ref().map(|jumps| Arc::new(jumps.on_clock(deviation)));
        Self { curve: curve_on_clock(&self.curve, deviation), jumps }
    }

    /// In bits of a line of so many a second.
    pub(crate) fn bits(&self, rate: u64) -> Curve {
        self.curve.in_bits((rate, TIME))
    }
}

/// When the classes of a port may send.
#[derive(Clone, Debug)]
pub(crate) struct Windows {
    pub(crate) classes: [ClassWindows; 8],
    /// The same by other means, of classes that are not credit-based: bounds with each of them hold.
    pub(crate) again: [Vec<ClassWindows>; 8],
    /// Those of cycles alone, counted since the run began, where the first cycle is ahead.
    pub(crate) since_run: [Option<SinceRun>; 8],
    /// The name of the taken time; the formula and its source.
    pub(crate) name: &'static str,
    pub(crate) formula: &'static str,
    /// That of a credit-based class.
    pub(crate) credit_formula: &'static str,
    /// That of a class that others cut.
    pub(crate) cut_formula: &'static str,
    pub(crate) source: &'static str,
}

/// When one of them may.
#[derive(Clone, Debug)]
pub(crate) struct ClassWindows {
    /// Whether it always may.
    pub(crate) is_open: bool,
    /// How long after its first frame these windows count at the latest. What comes meanwhile counts, and nothing is taken to be sent.
    pub(crate) later: u64,
    /// The time in which none of its frames is guaranteed to start.
    pub(crate) taken: Taken,
    /// Per class above, how much of the rest it can have: bits of [`TIME`]; none: all.
    pub(crate) above: [Option<Curve>; 8],
    /// The largest frame below that may be under way when its frames may start, bits of the wire.
    pub(crate) blocking_bits: u64,
    /// Why there is no bound, whatever comes.
    pub(crate) unbounded: Option<Unbounded>,
    /// Why there is none if more comes than is carried.
    pub(crate) overload: Unbounded,
    /// Of its frames by their last bits, at most so much time of the line.
    pub(crate) sent: Option<Line>,
    /// The windows that count where it is credit-based.
    pub(crate) credit: CreditWindows,
    /// What may keep a frame of it on the line that others cut; none if nothing cuts it.
    pub(crate) pushed: Option<Pushed>,
}

/// The windows of the cycles, by which frames are bounded since the run began: they count `windows.later` after it.
#[derive(Clone, Debug)]
pub(crate) struct SinceRun {
    pub(crate) windows: ClassWindows,
    /// For how long a lower frame may keep the class off in the cycles.
    pub(crate) lower: u64,
}

/// What keeps a frame on the line that has begun: others cut it, and it may not go on in some of the time.
#[derive(Clone, Debug)]
pub(crate) struct Pushed {
    /// Time in which it does not go on: bits of [`TIME`].
    pub(crate) held: Curve,
    /// Per class that cuts it, the most time of the line that it has; none: all.
    pub(crate) by: [Option<Curve>; 8],
}

/// Windows as credit knows them.
#[derive(Clone, Debug)]
pub(crate) struct CreditWindows {
    /// Time in which none is earned.
    pub(crate) unearned: Taken,
    /// Of the time in which it is, what is not usable: a curve over that time.
    pub(crate) blocked: Curve,
    /// Time that passes in addition to so much of that time, at most.
    pub(crate) beside: Line,
    /// The most of that time in a window.
    pub(crate) earning: Curve,
    /// Classes above whose credit is earned in the same time, a bit each.
    pub(crate) same: u8,
    /// How much longer they may be on the line than it is, in so much of it.
    pub(crate) gaps: Line,
    /// Whether its slope may be less at first.
    pub(crate) starts_slower: bool,
}

/// The effect of a class on those below it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Part {
    pub(crate) class: usize,
    /// Its output in any window.
    pub(crate) late: Offered,
    /// The same from an instant on at which nothing of it waits, if such an instant can be chosen.
    pub(crate) prompt: Option<Offered>,
    /// What it sends while so much time passes in which it earns credit.
    pub(crate) credit: Option<Line>,
    /// Its smallest frame, bits of the wire.
    pub(crate) wire_min: u64,
    /// Why it sends more than is known.
    pub(crate) reason: u32,
}

impl Windows {
    /// What keeps a frame of a class on the line that has begun, of what the classes that cut it do; none if nothing cuts it.
    pub(crate) fn pushes(
        &self,
        class: usize,
        parts: &[Part],
        (served, rate): (u64, u64),
        precedence: &Precedence,
    ) -> Option<Above> {
        let pushed = self.classes[class].pushed.as_ref()?;
        let cutting = parts.iter().filter(|part| precedence.cuts(part.class, class));
        let mut all = Above::sent_by(cutting, (&pushed.by, rate, 0), (class, Some(precedence)));
        all.offered = all.offered.plus_curve(&pushed.held.in_bits((served, TIME)));
        Some(all)
    }

    /// What goes before a class as by [`ClassWindows::above`], but a credit-based one, in the time in which that earns credit.
    pub(crate) fn above_credit(
        &self,
        class: usize,
        parts: &[Part],
        (served, rate): (u64, u64),
        precedence: Option<&Precedence>,
    ) -> Above {
        let (windows, credit) = (&self.classes[class], &self.classes[class].credit);
        // What comes within a time comes within this much of the time that counts.
        let passed =
            |curve: &Curve| Curve::least_of(curve.lines().iter().map(|line| stretched(*line, credit.beside)));
        let mut all = Above::nothing();
        for part in parts.iter().filter(|part| goes_before(precedence, part.class, class)) {
            let limit = windows.above[part.class].as_ref().map(|time| passed(&time.in_bits((rate, TIME))));
            let own = part.credit.filter(|_| credit.same & (1 << part.class) != 0);
            let own = own.map(|line| stretched(line, credit.gaps));
            let less = |curve: &Curve| {
                let lines = limit.iter().flat_map(|limit| limit.lines().iter().copied()).chain(own);
                Curve::least_of(passed(curve).lines().iter().copied().chain(lines))
            };
            let sent = Offered::by_curves(less(&part.late.plain), less(&part.late.shaped));
            all.add(&sent, part.reason);
        }
        all.offered = all.offered.plus_curve(&credit.blocked.in_bits((served, TIME)));
        all
    }
}

impl ClassWindows {
    /// What goes before the class under strict priority, of what the classes above it do.
    pub(crate) fn above(
        &self,
        class: usize,
        parts: &[Part],
        (served, rate): (u64, u64),
        precedence: Option<&Precedence>,
    ) -> Above {
        let higher = parts.iter().filter(|part| goes_before(precedence, part.class, class));
        let mut all = Above::sent_by(higher, (&self.above, rate, self.later), (class, precedence));
        let taken = self.taken.bits(served);
        all.offered = all.offered.plus_steps(&taken, self.taken.jumps.as_ref(), served);
        all
    }

    /// The same if corrections of the clock, so far apart, take so much time each, and let the class send for so much longer. Nothing is known of credit.
    pub(crate) fn corrected(self, every: u64, each: u64, longer: u64) -> Self {
        let line = |each: u64| {
            let rate = (u128::from(each) * u128::from(TIME)).div_ceil(u128::from(every));
            Line { burst: u128::from(each) * MICRO, rate: u64::try_from(rate).unwrap_or(u64::MAX) }
        };
        // What is always open is cut by nothing but windows of classes above.
        let is_touched = !self.is_open || self.above.iter().flatten().any(|curve| *curve != Curve::zero());
        let all_time = Line { burst: 0, rate: TIME };
        let taken = if is_touched {
            let sum = self.taken.curve.plus(&Curve::least_of([line(each)]));
            let curve = Curve::least_of(sum.lines().iter().copied().chain([all_time]));
            let jumps = match &self.taken.jumps {
                Some(jumps) => Jumps::clone(jumps),
                None => {
                    Jumps { once: 0, later: 0, period: every, steps: Vec::new(), total: 0, corrections: None }
                }
            };
            Taken { curve, jumps: Some(Arc::new(Jumps { corrections: Some((every, each)), ..jumps })) }
        } else {
            self.taken
        };
        Self {
            taken,
            sent: self.sent.map(|sent| sent.and(line(longer))),
            credit: CreditWindows::unknown(),
            ..self
        }
    }

    /// Of windows that are known in true time, those on a clock whose spans deviate from it.
    pub(crate) fn on_clock(self, deviation: Deviation) -> Self {
        let curves = |all: &[Option<Curve>; 8]| {
            all.each_ref().map(|curve| curve.as_ref().map(|curve| curve_on_clock(curve, deviation)))
        };
        let pushed = self
            .pushed
            .as_ref()
            .map(|pushed| Pushed { held: curve_on_clock(&pushed.held, deviation), by: curves(&pushed.by) });
        let credit = CreditWindows {
            unearned: self.credit.unearned.on_clock(deviation),
            blocked: curve_on_clock(&self.credit.blocked, deviation),
            beside: line_on_clock(self.credit.beside, deviation),
            earning: curve_on_clock(&self.credit.earning, deviation),
            gaps: line_on_clock(self.credit.gaps, deviation),
            ..self.credit
        };
        Self {
            later: deviation.stretch(self.later),
            taken: self.taken.on_clock(deviation),
            above: curves(&self.above),
            sent: self.sent.map(|line| line_on_clock(line, deviation)),
            pushed,
            credit,
            ..self
        }
    }
}

impl CreditWindows {
    /// Of a class that is known not to have a bound if it is credit-based.
    pub(crate) fn unknown() -> Self {
        let all = Curve::least_of([Line { burst: 0, rate: TIME }]);
        Self {
            unearned: Taken { curve: all.clone(), jumps: None },
            blocked: all.clone(),
            beside: Line::default(),
            earning: all,
            same: 0,
            gaps: Line::default(),
            starts_slower: true,
        }
    }

    /// What a class sends within any window that sends so much while credit is earned.
    pub(crate) fn in_time(&self, sent: Line) -> Curve {
        let line = |earning: &Line| {
            let rate = scaled(u128::from(sent.rate), earning.rate, TIME);
            let burst = sent.burst + of_time(sent.rate, earning.burst);
            Line { burst, rate: u64::try_from(rate).unwrap_or(u64::MAX) }
        };
        Curve::least_of(self.earning.lines().iter().map(line))
    }
}

impl Above {
    /// What classes send within the time of the line that each can have, of what comes within so much more than that time, before those of a class.
    fn sent_by<'a>(
        parts: impl Iterator<Item = &'a Part>,
        (limits, rate, later): (&[Option<Curve>; 8], u64, u64),
        own: (usize, Option<&Precedence>),
    ) -> Self {
        let mut all = Self::nothing();
        for part in parts {
            let offered = part.prompt.as_ref().unwrap_or(&part.late);
            let longer = (later > 0).then(|| offered.widened(later));
            let limit = limits[part.class].as_ref().map(|time| time.in_bits((rate, TIME)));
            all.add(&limited(longer.as_ref().unwrap_or(offered), limit, part, own), part.reason);
        }
        all
    }

    /// And what one more class sends.
    pub(crate) fn add(&mut self, more: &Offered, reason: u32) {
        self.offered = self.offered.plus(more);
        if !more.shaped.is_known() && self.reason == NO_REASON {
            self.reason = reason;
        }
    }
}

/// Time in a time, both on a clock whose spans deviate: more, and within less.
fn line_on_clock(line: Line, deviation: Deviation) -> Line {
    let (num, den) = deviation.factor();
    Line { burst: scaled(line.burst, num, den), rate: deviation.stretch(deviation.stretch(line.rate)) }
}

/// The same of a curve, which is never more than all time.
fn curve_on_clock(curve: &Curve, deviation: Deviation) -> Curve {
    let within = |line: &Line| {
        let line = line_on_clock(*line, deviation);
        Line { rate: line.rate.min(TIME), ..line }
    };
    Curve::least_of(curve.lines().iter().map(within))
}

/// Whether frames of a class go before those of another.
fn goes_before(precedence: Option<&Precedence>, other: usize, own: usize) -> bool {
    precedence.is_none_or(|precedence| precedence.goes_before(other, own))
}

/// What a class sends within a limit, with what it costs to cut frames of the class that it goes before.
fn limited(
    offered: &Offered,
    limit: Option<Curve>,
    part: &Part,
    (own, precedence): (usize, Option<&Precedence>),
) -> Offered {
    let cutting = precedence.filter(|precedence| precedence.cuts(part.class, own));
    let with_cuts = cutting.map(|precedence| precedence.with_cuts(offered, part));
    let offered = with_cuts.as_ref().unwrap_or(offered);
    let Some(limit) = limit else { return offered.clone() };
    let limit = cutting.map_or_else(|| limit.clone(), |precedence| limit.in_bits(precedence.cut_ratio(part)));
    offered.within(&limit)
}

/// A line over a time in which so much more passes in addition.
fn stretched(line: Line, beside: Line) -> Line {
    let more = scaled(u128::from(line.rate), beside.rate, TIME);
    let rate = line.rate.saturating_add(u64::try_from(more).unwrap_or(u64::MAX));
    Line { burst: line.burst + of_time(line.rate, beside.burst), rate }
}

/// What passes at a rate in a time that is given in bits of [`TIME`], micro-bits.
fn of_time(rate: u64, micro_bits: u128) -> u128 {
    volume(rate, u64::try_from(micro_bits.div_ceil(crate::curve::MICRO)).unwrap_or(u64::MAX))
}
