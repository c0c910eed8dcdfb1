//! Waits under strict priority by what a class and those above it receive together, link by link.
//!
//! Other bounds let each class use the full rate of a link (`strict_priority.rs`, `response_time.rs`). But the frames of all classes that one
//! link brings follow one another on it. Let τ be the last instant before a frame at which the line was idle or took up a lower frame: at
//! τ no frame of its class or above was waiting. The frame comes *a* after τ. Until it starts, *w* later, the line carries that one lower
//! frame, frames of the class that came up to *a*, and frames above it that came up to *a + w*. So it starts at the least *w* with
//!
//! `R·(a + w) >= L_low − own + Σ N(a, w)`,
//!
//! where `N(a, w)` are, of one link, bits of the class within *a* and of higher classes within *a + w*. Each of these is a limit of it:
//!
//! - what the streams promise: `K(a) + A(a + w)`, of the class and above it;
//! - what the link carries, whatever the class: `L_max + C·(a + w)`;
//! - of the frame's own link: what comes up to the frame, `J(a)`, the lesser of both with *w = 0*, and what comes behind it. That follows on
//!   the link, so within *w* it is the whole frames of `C·w`, none as long as `C·w` is less than a frame.
//!
//! Delays between the line and the queue that differ by *j* add `C·j` to what a link carries within a time. What came before the frame on
//! its own link is in its queue before it as long as `C·j` is less than the frame; where it is not, the third limit does not count.
//! Higher classes that hold frames back (credit-based ones, and ATS) count by what they send at most since τ.
//!
//! Which *a* matter: between two instants at which frames of the class (of any link) or above it by the frame's own link may come, only
//! what the link has carried up to *a* grows. There `J(a) − R·a` is at most what it is at either end of its growth, and all else at most
//! what it is at the later end. Beyond that growth a later frame waits less. A start is never later than the end of the busy period, so a
//! larger frame starts sooner at least by the time that it is longer.
//!
//! How it is searched: with *J(a)* for all that comes by the frame's own link, starts never fall from one *a* to the next, for everything
//! else grows with both *a* and *a + w*. So one walk over all *a* gives an instant for each before which its frame does not start, and the
//! search for its least *w* begins there. Another bound of the class names the frame that it holds longest; that is looked at first,
//! and where it waits as long here, nothing is gained and the search ends.
//!
//! Not for classes with windows, preemption or services, nor ATS classes, nor several queues of a class, nor ports that depend on themselves
//! over others, whose bounds might then not come to rest; there the other bounds hold.
//! Sources: the busy period of Specht and Samii, ECRTS 2016, and line shaping as in `line_shaping.rs`, over the classes together.

use std::cell::{Cell, RefCell};

use crate::contribution::Contribution;
use crate::curve::{Curve, Line, MICRO, span, volume, volume_floor};
use crate::line_shaping::shaped_by_line;
use crate::plan::OWN_LANE;
use crate::port_plan::PortPlan;
use crate::queue_bound::QueueBound;
use crate::response_time::{JUMPS_MAX, end_of};
use crate::stairs::{Frames, Stairs};

/// Bits of the smallest frame of Ethernet on the wire.
const FRAME_MIN: u64 = 84 * 8;
/// How often sums of all links are looked at for one class.
const LOOKS_MAX: usize = 4_096;

/// A class, and what goes before it: each class above by its lanes, or by a curve of all that classes send which hold frames back.
pub(crate) struct Classes<'a> {
    pub(crate) own: &'a [Contribution],
    pub(crate) above: Vec<&'a [Contribution]>,
    pub(crate) held: &'a Curve,
    /// All that goes before the class, by curves.
    pub(crate) higher: &'a Curve,
    /// The largest frame below, micro-bits.
    pub(crate) blocking: u128,
    /// Other bounds of the class.
    pub(crate) known: &'a [QueueBound],
}

/// The bounds of frames by each lane of the class, where they are less than other ones; none where no link brings two of the classes, or
/// where too much would have to be looked at.
pub(crate) fn waits(port: &PortPlan, classes: &Classes<'_>) -> Option<Vec<(u16, Vec<QueueBound>)>> {
    let lanes = lanes_of(port, classes);
    if lanes.iter().all(|lane| lane.link.is_none() || lane.members().count() < 2) {
        return None;
    }
    let mut own = Curve::zero();
    for one in classes.own {
        own = own.plus(&one.curve(port));
    }
    // The busy period is over by then, whatever is found frame by frame.
    let until = end_of(classes.blocking, port.rate_served, classes.higher, &own);
    if until == u64::MAX || !classes.held.is_known() {
        return None;
    }
    let mut stairs: Vec<_> = lanes.iter().map(|lane| lane.in_frames(port)).collect();
    if *classes.held != Curve::zero() {
        stairs.push((Stairs::nothing(), Stairs::in_steps(classes.held, FRAME_MIN)?));
    }
    let jumps = Cell::new(JUMPS_MAX);
    let in_steps = |(own, above)| (Jumps::of(own, until, &jumps), Jumps::of(above, until, &jumps));
    let mut known = Vec::with_capacity(stairs.len());
    for (place, (own, above)) in stairs.iter().enumerate() {
        known.push(Examined::of(lanes.get(place), in_steps((own, above)), port));
    }
    let search = Search {
        rate: port.rate_served,
        latency: classes.blocking,
        until,
        lanes: known,
        known: classes.known,
    };
    let mut looks = LOOKS_MAX;
    let end = search.end(&mut looks)?;
    let mut times: Vec<u64> = search.lanes.iter().flat_map(|lane| lane.own.times(end)).collect();
    let of_lane = |one: &Contribution| search.lanes.iter().position(|lane| lane.number == Some(one.lane));
    let mut all = Vec::with_capacity(classes.own.len());
    let mut without_order: Option<Vec<QueueBound>> = None;
    times.sort_unstable();
    times.dedup();
    for one in classes.own {
        let place = of_lane(one).filter(|place| search.lanes[*place].behind.is_some());
        let bounds = match (place, &without_order) {
            (None, Some(known)) => known.clone(),
            (None, None) => {
                let sizes = sizes(classes.own.iter());
                let bounds = search.bounds(None, &times, end, &sizes, port.slack, &mut looks)?;
                without_order.insert(bounds).clone()
            }
            (Some(place), _) => {
                let mut times = times.clone();
                times.extend(search.lanes[place].above.times(end));
                times.extend(search.between(place, end));
                times.sort_unstable();
                times.dedup();
                let sizes = sizes([one].into_iter());
                search.bounds(Some(place), &times, end, &sizes, port.slack, &mut looks)?
            }
        };
        all.push((one.lane, bounds));
    }
    (jumps.get() > 0).then_some(all)
}

/// Frame sizes that get a bound each: the least and the largest.
fn sizes<'a>(of: impl Iterator<Item = &'a Contribution>) -> Vec<u64> {
    let of_one = |one: &'a Contribution| one.steps.iter().map(|step| step.bits).chain([one.wire_min]);
    let mut sizes: Vec<u64> = of.flat_map(of_one).collect();
    sizes.sort_unstable();
    sizes.dedup();
    if sizes.len() > 2 {
        sizes = vec![sizes[0], sizes[sizes.len() - 1]];
    }
    sizes
}

/// What comes by one lane: of the class, and of those above it.
struct Lane<'a> {
    number: u16,
    own: Option<&'a Contribution>,
    above: Vec<&'a Contribution>,
    link: Option<Link>,
}

/// What a link brings, on the clock of the port, in bits of the frames as they leave.
#[derive(Clone, Copy)]
struct Link {
    /// Whole frames within a time, if one of the largest has begun before.
    whole: Line,
    /// Within a time behind a frame.
    behind: Line,
    /// Whether frames come to their queues in the order in which it brings them, behind those of the class.
    is_in_order: bool,
}

fn lanes_of<'a>(port: &PortPlan, classes: &Classes<'a>) -> Vec<Lane<'a>> {
    let mut lanes: Vec<Lane<'_>> = Vec::new();
    let of_above = classes.above.iter().flat_map(|class| class.iter()).map(|one| (false, one));
    for (is_own, one) in classes.own.iter().map(|one| (true, one)).chain(of_above) {
        let place = lanes.iter().position(|lane| lane.number == one.lane).unwrap_or_else(|| {
            lanes.push(Lane { number: one.lane, own: None, above: Vec::new(), link: None });
            lanes.len() - 1
        });
        if is_own {
            lanes[place].own = Some(one);
        } else {
            lanes[place].above.push(one);
        }
    }
    for lane in &mut lanes {
        lane.link = lane.by_link(port);
    }
    lanes
}

impl<'a> Lane<'a> {
    fn members(&self) -> impl Iterator<Item = &'a Contribution> {
        self.own.into_iter().chain(self.above.iter().copied())
    }

    /// The link by which all of it comes, whole; none if there is not one.
    fn by_link(&self, port: &PortPlan) -> Option<Link> {
        let (mut least, mut most, mut jitter, mut rate) = (i64::MAX, i64::MIN, 0, 0);
        let (mut smallest, mut largest, mut added) = (u64::MAX, 0, 0);
        for one in self.members() {
            let is_whole = one.way_of_headers.is_none() && !one.overlaps && one.line_rate > 0;
            let (latest, earliest) = one.way.filter(|_| is_whole && one.lane != OWN_LANE)?;
            (least, most) = (least.min(earliest), most.max(latest));
            (jitter, rate) = (one.reception_jitter.max(jitter), one.line_rate.max(rate));
            (smallest, largest) = (one.wire_min.min(smallest), one.wire_max.max(largest));
            added = one.tag_added.max(added);
        }
        let jitter = jitter.checked_add(u64::try_from(most.checked_sub(least)?).ok()?)?;
        // Tags that a frame gets here were not on the link.
        let ratio = (smallest, smallest.checked_sub(added).filter(|bits| *bits > 0)?);
        let local = |line: Line| {
            let line = line.in_bits(ratio);
            Line { rate: port.deviation.fastest(line.rate), ..line }
        };
        #[cfg(feature = "planted-faults")]
        let largest = match port.fault {
            Some(crate::PlantedFault::LineShapingFluid | crate::PlantedFault::ClassesOfLinkFluid) => 0,
            _ => largest,
        };
        let own = self.own.map_or(0, |own| u128::from(own.wire_min.saturating_sub(added)) * MICRO);
        Some(Link {
            whole: local(shaped_by_line(largest, rate, jitter)),
            behind: local(Line { burst: volume(rate, jitter), rate }),
            is_in_order: volume(rate, jitter) < own,
        })
    }

    /// Of the class and of those above it, frame by frame.
    fn in_frames(&self, port: &PortPlan) -> (Stairs, Stairs) {
        let own = self.own.iter().map(|one| one.in_frames(port, true)).collect();
        // The link limits those above by all that it brings.
        let above = self.above.iter().map(|one| one.in_frames(port, self.link.is_none())).collect();
        let of = |lanes| Stairs { lanes, ..Stairs::nothing() };
        (of(own), of(above))
    }

    /// What comes behind a frame of the class, where it comes in order.
    #[cfg_attr(not(feature = "planted-faults"), expect(unused_variables, reason = "a fault of the port"))]
    fn behind(&self, port: &PortPlan) -> Option<Behind> {
        let link = self.link.filter(|link| link.is_in_order)?;
        let sizes = || self.above.iter().map(|one| (one.wire_min, one.wire_max));
        let least = sizes().map(|(least, _)| least).min().unwrap_or(0);
        let largest = sizes().map(|(_, largest)| largest).max().unwrap_or(0);
        Some(Behind {
            line: link.behind,
            least: u128::from(least) * MICRO,
            is_one_size: least == largest,
            #[cfg(feature = "planted-faults")]
            is_forgotten: port.fault == Some(crate::PlantedFault::FramesBehindForgotten),
        })
    }
}

/// Bits that have come by instants, in micro-bits, the first at 0. Frames come as they are asked for.
struct Jumps<'a> {
    known: RefCell<Known<'a>>,
    /// What was found last, as the next is near.
    last: Cell<Found>,
}

struct Known<'a> {
    frames: Frames<'a>,
    all: Vec<(u64, u128)>,
    /// How many more jumps of all links are looked at.
    left: &'a Cell<usize>,
}

/// Micro-bits that have come from an instant on, until before another.
#[derive(Clone, Copy)]
struct Found {
    from: u64,
    until: u64,
    bits: u128,
    place: usize,
}

impl Known<'_> {
    fn until(&mut self, ps: u64) {
        while let Some(at) = self.frames.peek().filter(|at| *at <= ps) {
            let Some(left) = self.left.get().checked_sub(1) else { return };
            self.left.set(left);
            self.frames.take_until(at);
            self.all.push((at, self.frames.all()));
        }
    }

    fn found(&self, place: usize) -> Found {
        let (from, bits) = self.all[place];
        let next = self.all.get(place + 1).map(|(at, _)| *at);
        let until = next.or_else(|| self.frames.peek()).unwrap_or(u64::MAX);
        Found { from, until, bits, place }
    }
}

impl<'a> Jumps<'a> {
    fn of(stairs: &'a Stairs, until: u64, left: &'a Cell<usize>) -> Self {
        let frames = Frames::of(stairs, until);
        let known = Known { all: vec![(0, frames.all())], frames, left };
        let last = Cell::new(known.found(0));
        Self { known: RefCell::new(known), last }
    }

    /// Within a closed window of `ps`.
    fn at(&self, ps: u64) -> u128 {
        let last = self.last.get();
        if last.from <= ps && ps < last.until {
            return last.bits;
        }
        let mut known = self.known.borrow_mut();
        known.until(ps);
        let mut place = last.place;
        while known.all[place].0 > ps {
            place -= 1;
        }
        while known.all.get(place + 1).is_some_and(|(at, _)| *at <= ps) {
            place += 1;
        }
        let found = known.found(place);
        self.last.set(found);
        found.bits
    }

    /// The same, far from what was looked at last.
    fn at_any(&self, ps: u64) -> u128 {
        let last = self.last.get();
        if last.from <= ps && ps < last.until {
            return last.bits;
        }
        let mut known = self.known.borrow_mut();
        known.until(ps);
        known.all[known.all.partition_point(|(at, _)| *at <= ps) - 1].1
    }

    /// When they come, before `end`.
    fn times(&self, end: u64) -> Vec<u64> {
        let mut known = self.known.borrow_mut();
        known.until(end);
        known.all.iter().map(|(at, _)| *at).filter(|at| *at < end).collect()
    }
}

/// What comes behind a frame by its own link.
#[derive(Clone, Copy)]
struct Behind {
    line: Line,
    /// The smallest frame, micro-bits.
    least: u128,
    is_one_size: bool,
    #[cfg(feature = "planted-faults")]
    is_forgotten: bool,
}

impl Behind {
    /// Whole frames within `ps`, micro-bits.
    fn within(&self, ps: u64) -> u128 {
        #[cfg(feature = "planted-faults")]
        if self.is_forgotten {
            return 0;
        }
        let bits = self.line.burst + volume(self.line.rate, ps);
        match bits < self.least || self.least == 0 {
            true => 0,
            false if self.is_one_size => bits - remainder(bits, self.least),
            false => bits,
        }
    }
}

/// A lane, frame by frame.
struct Examined<'a> {
    /// None of the classes that hold frames back.
    number: Option<u16>,
    own: Jumps<'a>,
    above: Jumps<'a>,
    link: Option<Line>,
    behind: Option<Behind>,
    /// So much the link may have brought by an instant.
    carried: Cell<(u64, u128)>,
}

impl<'a> Examined<'a> {
    /// A lane, or what of higher classes is held back.
    fn of(lane: Option<&Lane<'_>>, (own, above): (Jumps<'a>, Jumps<'a>), port: &PortPlan) -> Self {
        let link = lane.and_then(|lane| lane.link).map(|link| link.whole);
        Self {
            number: lane.map(|lane| lane.number),
            own,
            above,
            link,
            behind: lane.and_then(|lane| lane.behind(port)),
            carried: Cell::new((0, link.map_or(0, |line| line.burst))),
        }
    }

    /// Of the class `own` micro-bits, and those above within `ps`; and how long that may grow with the link, at what rate.
    fn come(&self, own: u128, ps: u64) -> (u128, Option<(u64, u64)>) {
        let promised = own + self.above.at(ps);
        let Some(line) = self.link else { return (promised, None) };
        let (by, known) = self.carried.get();
        if by <= ps && known >= promised {
            return (promised, None);
        }
        let carried = line.burst + volume(line.rate, ps);
        self.carried.set((ps, carried));
        if carried >= promised {
            return (promised, None);
        }
        (carried, span(promised - carried, line.rate).map(|time| (time, line.rate)))
    }
}

/// A frame that comes between `from` and `at`, and all that comes before it.
struct Coming<'a> {
    /// Of the class, lane by lane, micro-bits.
    own: &'a [u128],
    from: u64,
    at: u64,
    /// Its lane, and what has come by its link up to it, with what the line sends between `from` and `at` less.
    ahead: Option<(usize, i128)>,
    /// What its link has surely brought by `from`.
    least: u128,
    /// The line has sent so much by `from`.
    sent: i128,
}

/// The longest wait of frames of one size.
struct Sought {
    /// Micro-bits.
    bits: u128,
    /// From here on another bound is less; 0: one wait is as long.
    limit: u64,
    /// No frame from the last one on starts before this instant.
    start: u64,
    worst: Option<Worst>,
}

/// A wait, of which frame, that comes when, with so many micro-bits of its class.
struct Worst {
    wait: u64,
    number: usize,
    at: u64,
    same: u128,
}

impl Sought {
    /// Of equal waits that of the first frame counts.
    fn take(&mut self, wait: u64, number: usize, coming: &Coming<'_>) {
        if wait >= self.limit {
            (self.worst, self.limit) = (None, 0);
        } else if self.worst.as_ref().is_none_or(|worst| (worst.wait, number) < (wait, worst.number)) {
            self.worst = Some(Worst { wait, number, at: coming.at, same: coming.own.iter().sum() });
        }
    }
}

struct Search<'a> {
    rate: u64,
    latency: u128,
    until: u64,
    lanes: Vec<Examined<'a>>,
    known: &'a [QueueBound],
}

impl Search<'_> {
    /// The end of the busy period.
    fn end(&self, looks: &mut usize) -> Option<u64> {
        let mut now = 0;
        loop {
            *looks = looks.checked_sub(1)?;
            let (mut came, mut growth) = (self.latency, Growth::default());
            for lane in &self.lanes {
                let (bits, grows) = lane.come(lane.own.at(now), now);
                came += bits;
                growth.add(grows);
            }
            let next = span(came, self.rate)?;
            if next <= now || now >= self.until {
                return Some(now.min(self.until));
            }
            now = next.max(growth.next(now, signed(came), self.rate));
        }
    }

    /// What is still to be sent when a frame of `bits` has waited for `wait`, beyond what the line has sent meanwhile.
    fn left(&self, coming: &Coming<'_>, bits: u128, wait: u64) -> (i128, Growth) {
        let now = coming.at.saturating_add(wait);
        let (mut left, mut growth) = (signed(self.latency) - signed(bits) - coming.sent, Growth::default());
        for (place, lane) in self.lanes.iter().enumerate() {
            let (bits, grows) = lane.come(coming.own[place], now);
            let mut bits = signed(bits);
            match (coming.ahead, &lane.behind) {
                (Some((own, by_now)), Some(behind)) if own == place => {
                    // The same on its own link, as far as that has brought it.
                    let by_link = match behind.within(wait) {
                        0 => by_now,
                        _ if by_now > bits => by_now,
                        after => by_now + signed(after.min(lane.above.at_any(wait))),
                    };
                    if by_link <= bits {
                        bits = by_link;
                    } else if let Some((time, rate)) = grows {
                        let until = span(u128::try_from(by_link - bits).unwrap_or(0), rate);
                        growth.add(Some((until.map_or(time, |until| until.min(time)), rate)));
                    }
                }
                _ => growth.add(grows),
            }
            left += bits;
        }
        (left, growth)
    }

    /// How long it waits, or that this is no less than `limit`. It does not start before `start`. What comes after the greatest end of a
    /// busy period need not be known: the frame has started then.
    fn wait(&self, coming: &Coming<'_>, sought: &Sought, looks: &mut usize) -> Option<u64> {
        let mut wait = sought.start.saturating_sub(coming.from);
        loop {
            *looks = looks.checked_sub(1)?;
            let (left, growth) = self.left(coming, sought.bits, wait);
            let next = span(u128::try_from(left).unwrap_or(0), self.rate)?;
            if next <= wait {
                return Some(wait);
            }
            wait = next.max(growth.next(wait, left, self.rate));
            if wait >= sought.limit {
                return Some(wait);
            }
        }
    }

    /// When no frame of `bits` has started yet that comes with these or later, if none does before `start`: of its own link counts what
    /// has surely come before it. That falls for no later frame, so each search begins where the one before has ended, and all of them look
    /// but once at a jump.
    fn start(&self, coming: &Coming<'_>, sought: &Sought) -> Option<u64> {
        let mut now = sought.start.max(coming.from);
        loop {
            let (mut left, mut growth) = (signed(self.latency) - signed(sought.bits), Growth::default());
            for (place, lane) in self.lanes.iter().enumerate() {
                if coming.ahead.is_some_and(|(own, _)| own == place) {
                    left += signed(coming.least);
                } else {
                    let (bits, grows) = lane.come(coming.own[place], now);
                    left += signed(bits);
                    growth.add(grows);
                }
            }
            let next = span(u128::try_from(left).unwrap_or(0), self.rate)?;
            if next <= now {
                return Some(now);
            }
            now = next.max(growth.next(now, left, self.rate));
            if now.saturating_sub(coming.from) >= sought.limit {
                return Some(now);
            }
        }
    }

    /// A frame by the lane at `place`, if its order counts, or by any, that comes at `times[number]` or later, but before the next of them.
    fn coming<'b>(
        &self,
        place: Option<usize>,
        (times, number): (&[u64], usize),
        end: u64,
        own: &'b mut [u128],
    ) -> Coming<'b> {
        let from = times[number];
        let next = times.get(number + 1).copied().unwrap_or(end).min(end);
        for (own, lane) in own.iter_mut().zip(&self.lanes) {
            *own = lane.own.at(from);
        }
        let sent = signed(volume_floor(self.rate, from));
        let (at, least, ahead) = match place {
            Some(place) => {
                let (at, least, ahead) = self.ahead(place, own[place], (from, next));
                (at, least, Some((place, ahead + sent)))
            }
            None => (from, 0, None),
        };
        Coming { own, from, at, ahead, least, sent }
    }

    /// The bounds of frames of these sizes, which come by one lane in its order, or by any.
    fn bounds(
        &self,
        place: Option<usize>,
        times: &[u64],
        end: u64,
        sizes: &[u64],
        slack: u64,
        looks: &mut usize,
    ) -> Option<Vec<QueueBound>> {
        let times = &times[..times.partition_point(|from| *from < end)];
        let mut own = vec![0; self.lanes.len()];
        let mut all = Vec::with_capacity(sizes.len());
        for bits in sizes {
            let known = self.known.iter().filter_map(|bound| Some((bound.start_max(*bits)?, bound.lead)));
            let known = known.min();
            let limit = known.map_or(u64::MAX, |(wait, _)| wait);
            let mut sought = Sought { bits: u128::from(*bits) * MICRO, limit, start: 0, worst: None };
            // Most often no frame waits longer than that which does by the other bound: either the search ends with it, or others are compared with it.
            let first = known.map_or(0, |(_, lead)| times.partition_point(|from| *from <= lead));
            if let Some(number) = first.checked_sub(1).filter(|_| limit > 0) {
                let coming = self.coming(place, (times, number), end, &mut own);
                sought.take(self.wait(&coming, &sought, looks)?, number, &coming);
            }
            all.push(sought);
        }
        for number in 0..times.len() {
            if all.iter().all(|sought| sought.limit == 0) {
                break;
            }
            let coming = self.coming(place, (times, number), end, &mut own);
            for sought in all.iter_mut().filter(|sought| sought.limit > 0) {
                sought.start = self.start(&coming, sought)?;
                sought.take(self.wait(&coming, sought, looks)?, number, &coming);
            }
        }
        let bound = |(bits, sought): (&u64, Sought)| {
            let Worst { wait, at, same, .. } = sought.worst?;
            let own = sought.bits;
            let served = volume(self.rate, at.checked_add(wait)?);
            Some(QueueBound {
                before: served + own,
                rate: self.rate,
                lead: at,
                weight: (1, 1),
                slack,
                bits_min: *bits,
                latency: self.latency,
                higher: Line { burst: (served + own).saturating_sub(self.latency + same), rate: 0 },
                own: Line { burst: same, rate: 0 },
                is_by_links: true,
            })
        };
        Some(sizes.iter().zip(all).filter_map(bound).collect())
    }

    /// Instants between which a link slower than the line brings no more than a smallest frame: what comes before a frame at the one and
    /// what comes meanwhile at the other are counted together.
    fn between(&self, place: usize, end: u64) -> impl Iterator<Item = u64> + use<> {
        let slower = self.lanes[place].link.filter(|line| line.rate < self.rate);
        let step =
            slower.and_then(|line| span(u128::from(FRAME_MIN) * MICRO, line.rate)).filter(|step| *step > 0);
        step.into_iter().flat_map(move |step| (1..=end / step).map(move |number| number * step))
    }

    /// When the frames that a link may have brought between two instants have come at the latest, how many at least, and the most of them
    /// in excess of what the line sends meanwhile.
    fn ahead(&self, place: usize, own: u128, (from, next): (u64, u64)) -> (u64, u128, i128) {
        let lane = &self.lanes[place];
        let promised = own + lane.above.at_any(from);
        let beyond = |bits: u128, at: u64| signed(bits) - signed(volume_floor(self.rate, at));
        let Some(line) = lane.link else { return (from, promised, beyond(promised, from)) };
        let carried = |at: u64| (line.burst + volume(line.rate, at)).min(promised);
        let first = carried(from);
        if first >= promised {
            return (from, first, beyond(promised, from));
        }
        let grown =
            span(promised - first, line.rate).map_or(next, |time| from.saturating_add(time)).min(next);
        // The instant is rounded up, what the line has sent by then down.
        let last = beyond(carried(grown), grown.saturating_sub(1).max(from));
        (grown, first, last.max(beyond(first, from)))
    }
}

/// How what has come grows by links that are the limit, at least.
#[derive(Default)]
struct Growth {
    rate: u64,
    time: Option<u64>,
    /// Micro-bits to which what has come was rounded up.
    rounded: i128,
}

impl Growth {
    fn add(&mut self, grows: Option<(u64, u64)>) {
        let Some((time, rate)) = grows else { return };
        self.rounded += 1;
        self.rate = self.rate.saturating_add(rate);
        self.time = Some(self.time.map_or(time, |known| known.min(time)));
    }

    /// The next instant to be looked at, when `left` is to be sent at `rate` by `now`: what comes until then is at least this growth.
    fn next(&self, now: u64, left: i128, rate: u64) -> u64 {
        let Some(time) = self.time else { return now };
        let missing = left - signed(volume_floor(rate, now)) - 1 - self.rounded;
        let missing = u128::try_from(missing).unwrap_or(0);
        let caught =
            rate.checked_sub(self.rate).filter(|rest| *rest > 0).and_then(|rest| span(missing, rest));
        now.saturating_add(caught.map_or(time, |caught| caught.min(time)))
    }
}

/// What is left of a division; of two numbers of 64 bits it is far cheaper.
fn remainder(one: u128, by: u128) -> u128 {
    match (u64::try_from(one), u64::try_from(by)) {
        (Ok(one), Ok(by)) => u128::from(one % by),
        _ => one % by,
    }
}

fn signed(micro_bits: u128) -> i128 {
    i128::try_from(micro_bits).unwrap_or(i128::MAX / 4)
}
