//! The arrivals of the classes of a port: per class and lane, the sum of its streams' promises or shapers' outputs,
//! limited by the link and by the class before it.

use std::sync::Arc;

use tautwire_model::Tags;
use tautwire_units::Bytes;

use crate::curve::{Curve, Line};
use crate::line_shaping::shaped_by_line;
use crate::passage::{Brought, NO_REASON, Shaped};
use crate::plan::{Entry, NONE, OWN_LANE, wire};
use crate::port_plan::PortPlan;
use crate::reserved::Granted;
use crate::shared_link::{Share, SharedLink, Sum};
use crate::stairs::{ByLine, LaneStairs, Stairs, Step};
use crate::windows::Jumps;

/// An entry as it reaches its queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arriving {
    /// Number of the entry.
    pub(crate) entry: u32,
    pub(crate) brought: Brought,
    /// From the application to the queue, greatest.
    pub(crate) ready_max: Option<u64>,
    /// The part of that by which bursts have grown, if it is known.
    pub(crate) spread_max: Option<u64>,
    /// From the last bit here to the queue, greatest: of a frame that is cut through it may be below zero.
    pub(crate) queue_max: Option<i64>,
    /// Least time from the last bit here to the queue, which determines the order of frames from one link.
    pub(crate) queue_min: i64,
    /// How much later than its eligibility time it may come.
    pub(crate) tardy: u64,
    /// Whether its frames have eligibility times.
    pub(crate) scheduled: bool,
    /// Whether it is for all streams of its scheduler.
    pub(crate) is_shared: bool,
    /// Whether another entry represents its scheduler.
    pub(crate) is_represented: bool,
    /// Whether it represents frames that come by other links, too.
    pub(crate) comes_by_others: bool,
    /// Why its arrivals have no known bound.
    pub(crate) reason: u32,
    /// The limit by a policer that may discard frames of it.
    pub(crate) policed: Option<Shaped>,
    /// Of a virtual link: its part of the limit of the virtual link.
    pub(crate) share: Option<Share>,
}

/// The arrivals of one lane in one class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Contribution {
    pub(crate) class: usize,
    pub(crate) lane: u16,
    /// The arrivals of its streams, except those of virtual links.
    pub(crate) sum: Sum,
    /// Of these, streams whose frames are all of one size; and the rest.
    pub(crate) steps: Vec<Step>,
    pub(crate) rest: Sum,
    /// Of the rest, streams whose frames are of several sizes, each frame as the largest; and what is left then.
    pub(crate) slots: Vec<Step>,
    beside_slots: Sum,
    /// The greatest ratio of a slot to the smallest frame in it.
    slot_ratio: (u64, u64),
    /// The arrivals of its virtual links.
    pub(crate) links: Vec<SharedLink>,
    /// Why there are none.
    pub(crate) unknown: u32,
    pub(crate) wire_min: u64,
    pub(crate) wire_max: u64,
    pub(crate) frame_min: Bytes,
    pub(crate) frame_max: Bytes,
    /// Greatest and least time to the queue, of frames from a link; none where that is no limit.
    pub(crate) way: Option<(i64, i64)>,
    /// The same from the header on, where all is cut through.
    pub(crate) way_of_headers: Option<(u64, u64)>,
    /// The rounding of a run in the time at which a header is complete.
    pub(crate) header_rounding: u64,
    /// Rate of the link, true time, and how many bits tags add to a frame at most.
    pub(crate) line_rate: u64,
    pub(crate) reception_jitter: u64,
    pub(crate) tag_added: u64,
    /// What the class before lets onto the link, if all come from one class: true time.
    pub(crate) before: Before,
    /// Whether frames of two classes may have been on the line at a time.
    pub(crate) overlaps: bool,
    /// The arrivals of its streams and the slopes that these add, where reservations shape the class.
    pub(crate) granted: Vec<Granted>,
    /// Whether something comes that is not reserved there.
    pub(crate) has_strangers: bool,
    /// The least slope that one of its streams adds; none without a reserved one.
    pub(crate) slope_min: Option<u64>,
}

/// The class from which a lane's frames come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    Unknown,
    /// Class, and what a credit-based one sends at most.
    One(u8, Option<Line>),
    Several,
}

/// The passage of an entry at the port before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Upstream {
    /// Rate of the line, true time, as fast as it may be.
    pub(crate) line_rate: u64,
    /// By how much less two frames may lie apart at reception than on the line.
    pub(crate) jitter: u64,
    pub(crate) tagged: Tags,
    pub(crate) class: u8,
    /// What the class sends at most, if it is credit-based: true time.
    pub(crate) output: Option<Line>,
    /// Whether frames of two of its classes may be on the line at a time.
    pub(crate) overlaps: bool,
}

/// The arrivals of a class, without and with line shaping, and frame by frame.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Offered {
    pub(crate) plain: Curve,
    pub(crate) shaped: Curve,
    pub(crate) stairs: Stairs,
    /// The same with each frame of a stream with several sizes as its largest, if there are such: never less.
    pub(crate) slots: Option<Stairs>,
}

impl Offered {
    /// Nothing.
    pub(crate) fn nothing() -> Self {
        Self { plain: Curve::zero(), shaped: Curve::zero(), stairs: Stairs::nothing(), slots: None }
    }

    /// Arrivals that are known by curves alone.
    pub(crate) fn by_curves(plain: Curve, shaped: Curve) -> Self {
        Self { stairs: Stairs::by_curve(shaped.clone()), plain, shaped, slots: None }
    }

    /// With what comes of something else.
    pub(crate) fn plus_curve(&self, other: &Curve) -> Self {
        let other_stairs = Stairs::by_curve(other.clone());
        let [stairs, slots] = self.both(|stairs| stairs.plus(&other_stairs));
        Self {
            plain: self.plain.plus(other),
            shaped: self.shaped.plus(other),
            stairs: stairs.expect("always"),
            slots,
        }
    }

    /// Plus what is taken of the line in steps, which this curve is above.
    pub(crate) fn plus_steps(&self, taken: &Curve, jumps: Option<&Arc<Jumps>>, rate: u64) -> Self {
        let Some(jumps) = jumps else { return self.plus_curve(taken) };
        let [stairs, slots] =
            self.both(|stairs| Stairs { taken: Some((Arc::clone(jumps), rate)), ..stairs.clone() });
        Self {
            plain: self.plain.plus(taken),
            shaped: self.shaped.plus(taken),
            stairs: stairs.expect("always"),
            slots,
        }
    }

    /// Limits the arrivals by a curve.
    pub(crate) fn within(&self, limit: &Curve) -> Self {
        let less = |curve: &Curve| Curve::least_of(curve.lines().iter().chain(limit.lines()).copied());
        let shaped = less(&self.shaped);
        let is_limited = |rate: u64| limit.rate().is_some_and(|limit| limit < rate);
        // Arrivals remain frame by frame where these are the limit in the long run.
        let (stairs, slots) = match self.shaped.rate() {
            Some(rate) if !is_limited(rate) => (self.stairs.clone(), self.slots.clone()),
            _ => (Stairs::by_curve(shaped.clone()), None),
        };
        Self { plain: less(&self.plain), shaped, stairs, slots }
    }

    /// After a delay of at most `ps`.
    pub(crate) fn widened(&self, ps: u64) -> Self {
        let (plain, shaped) = (self.plain.widened(ps), self.shaped.widened(ps));
        let slots = self.slots.as_ref().map(|slots| slots.widened(ps));
        Self { plain, shaped, stairs: self.stairs.widened(ps), slots }
    }

    /// Both together.
    pub(crate) fn plus(&self, other: &Self) -> Self {
        Self {
            plain: self.plain.plus(&other.plain),
            shaped: self.shaped.plus(&other.shaped),
            stairs: self.stairs.plus(&other.stairs),
            slots: (self.slots.is_some() || other.slots.is_some())
                .then(|| self.in_slots().plus(other.in_slots())),
        }
    }

    /// Frame by frame, each frame of a stream with several sizes as its largest.
    pub(crate) fn in_slots(&self) -> &Stairs {
        self.slots.as_ref().unwrap_or(&self.stairs)
    }

    /// Both forms, changed alike.
    fn both(&self, change: impl Fn(&Stairs) -> Stairs) -> [Option<Stairs>; 2] {
        [Some(&self.stairs), self.slots.as_ref()].map(|stairs| stairs.map(&change))
    }
}

/// Adds up what comes to a class, lane by lane: to `all`, which is empty. `entries` are its entries in
/// their order.
pub(crate) fn contributions<'a>(
    port: &PortPlan,
    class: usize,
    entries: &[u32],
    of: impl Fn(u32) -> (&'a Entry, &'a Arriving),
    upstream: impl Fn(&Entry) -> Upstream,
    all: &mut Vec<Contribution>,
) {
    debug_assert!(all.is_empty(), "nothing is added twice");
    for number in entries {
        let (entry, arriving) = of(*number);
        let place = all.iter().position(|known| known.lane == entry.lane);
        let place = place.unwrap_or_else(|| {
            all.push(Contribution::empty(class, entry.lane));
            all.len() - 1
        });
        all[place].add(port, entry, arriving, &upstream);
    }
    if let Some((_, line, bits)) = port.control.filter(|(control, ..)| *control == class) {
        let mut own = Contribution::empty(class, OWN_LANE);
        (own.sum, own.rest, own.beside_slots) = (Sum::of(line), Sum::of(line), Sum::of(line));
        (own.way, own.way_of_headers) = (None, None);
        own.has_strangers = true;
        (own.wire_min, own.wire_max) = (wire(Bytes::new(64)), bits);
        (own.frame_min, own.frame_max) = (Bytes::new(64), Bytes::new(bits / 8) - Bytes::MEDIA_OVERHEAD);
        all.push(own);
    }
}

impl Contribution {
    /// Adds an entry.
    fn add(
        &mut self,
        port: &PortPlan,
        entry: &Entry,
        arriving: &Arriving,
        upstream: &impl Fn(&Entry) -> Upstream,
    ) {
        self.frame_min = self.frame_min.min(entry.frame_min);
        self.frame_max = self.frame_max.max(entry.frame_max);
        self.wire_min = self.wire_min.min(entry.wire_min());
        self.wire_max = self.wire_max.max(entry.wire_max());
        let reserved = port.reserved.iter().find(|reserved| reserved.class == self.class);
        let slope = reserved.and_then(|reserved| reserved.slope(entry.stream));
        self.slope_min = self.slope_min.into_iter().chain(slope).min();
        if !arriving.is_represented {
            match (arriving.brought.least_burst(), arriving.brought.least_rate()) {
                (Some(burst), Some(rate)) => {
                    let local = |line: Line| Line { rate: port.deviation.fastest(line.rate), ..line };
                    let (steep, flat) = (local(burst), local(rate));
                    self.grant(port, entry, flat);
                    match arriving.share {
                        Some(share) => SharedLink::add(&mut self.links, share, steep, flat),
                        None => {
                            self.sum.add(steep, flat);
                            self.add_in_frames(entry, arriving, [steep, flat]);
                        }
                    }
                }
                _ if self.unknown == NO_REASON => self.unknown = arriving.reason,
                _ => {}
            }
        }
        let held = arriving.scheduled || entry.reception == NONE || arriving.comes_by_others;
        match (arriving.queue_max.filter(|_| !held), self.way) {
            (Some(most), Some((known_max, known_min))) => {
                self.way = Some((known_max.max(most), known_min.min(arriving.queue_min)));
                let of_header = entry.since_header(most).zip(entry.cut);
                self.way_of_headers =
                    self.way_of_headers.zip(of_header).map(|((known, least), (most, cut))| {
                        self.header_rounding = self.header_rounding.max(cut.rounding);
                        (known.max(most), least.min(cut.latency_min))
                    });
                let upstream = upstream(entry);
                self.line_rate = upstream.line_rate;
                self.reception_jitter = upstream.jitter;
                self.overlaps |= upstream.overlaps;
                let added = |tags: Tags| tags.octets().bits().get();
                let more = added(entry.tagged).saturating_sub(added(upstream.tagged));
                self.tag_added = self.tag_added.max(more);
                self.before = match self.before {
                    Before::Unknown => Before::One(upstream.class, upstream.output),
                    Before::One(class, _) if class != upstream.class => Before::Several,
                    same => same,
                };
            }
            _ => (self.way, self.way_of_headers) = (None, None),
        }
    }

    /// Records the slope that a stream adds to a class that reservations shape.
    fn grant(&mut self, port: &PortPlan, entry: &Entry, line: Line) {
        let Some(reserved) = port.reserved.iter().find(|reserved| reserved.class == self.class) else {
            return;
        };
        match reserved.slope(entry.stream) {
            Some(slope) => self.granted.push(Granted { line, slope, frame_min: entry.frame_min }),
            None => self.has_strangers = true,
        }
    }

    fn empty(class: usize, lane: u16) -> Self {
        Self {
            class,
            lane,
            sum: Sum::default(),
            steps: Vec::new(),
            rest: Sum::default(),
            slots: Vec::new(),
            beside_slots: Sum::default(),
            slot_ratio: (1, 1),
            links: Vec::new(),
            unknown: NO_REASON,
            wire_min: u64::MAX,
            wire_max: 0,
            frame_min: Bytes::new(u64::MAX),
            frame_max: Bytes::ZERO,
            way: Some((i64::MIN, i64::MAX)),
            way_of_headers: Some((0, u64::MAX)),
            header_rounding: 0,
            line_rate: 0,
            reception_jitter: 0,
            tag_added: 0,
            before: Before::Unknown,
            overlaps: false,
            granted: Vec::new(),
            has_strangers: false,
            slope_min: None,
        }
    }

    /// What its streams promise, or their last shapers let through: the sum of the lesser of each.
    fn promises(&self, port: &PortPlan) -> Curve {
        if self.unknown != NO_REASON {
            return Curve::default();
        }
        self.links.iter().fold(self.sum.curve(), |sum, link| sum.plus(&link.curve(port)))
    }

    /// Of these, what is not known frame by frame.
    fn rest_curve(&self, port: &PortPlan) -> Curve {
        self.links.iter().fold(self.rest.curve(), |sum, link| sum.plus(&link.curve(port)))
    }

    /// All of it frame by frame: streams with frames of several sizes in steps, of which one more counts. Its link limits it if `by_link`.
    pub(crate) fn in_frames(&self, port: &PortPlan, by_link: bool) -> LaneStairs {
        let mut steps = self.steps.clone();
        let rest = self.rest_curve(port);
        if rest != Curve::zero() {
            // Of one size always: with more of anything there are never fewer.
            let in_steps =
                Stairs::in_steps(&rest, wire(Bytes::new(64))).into_iter().flat_map(|stairs| stairs.lanes);
            steps.extend(in_steps.flat_map(|lane| lane.steps));
        }
        let is_limited = by_link || matches!(self.before, Before::One(_, Some(_)));
        let lines = is_limited.then(|| self.by_line(port));
        LaneStairs { steps, line: ByLine::of(lines.into_iter().flatten(), (self.wire_min, self.wire_max)) }
    }

    /// The same frame by frame, of streams with frames of one size.
    fn stairs(&self, port: &PortPlan) -> Stairs {
        if self.unknown != NO_REASON {
            return Stairs::by_curve(Curve::default());
        }
        let rest = self.rest_curve(port);
        let sizes = || self.steps.iter().map(|step| step.bits);
        let Some(sizes) = sizes().min().zip(sizes().max()) else { return Stairs::by_curve(rest) };
        let line = ByLine::of(self.by_line(port), sizes);
        Stairs { lanes: vec![LaneStairs { steps: self.steps.clone(), line }], rest, taken: None }
    }

    /// The same with streams of several sizes, each frame as the largest; none without such streams.
    fn in_slots(&self, port: &PortPlan) -> Option<Stairs> {
        if self.unknown != NO_REASON || self.slots.is_empty() {
            return None;
        }
        let rest = self.links.iter().fold(self.beside_slots.curve(), |sum, link| sum.plus(&link.curve(port)));
        let steps: Vec<Step> = self.steps.iter().chain(&self.slots).copied().collect();
        let sizes = || steps.iter().map(|step| step.bits);
        let sizes = sizes().min().zip(sizes().max()).expect("there are slots");
        let line = ByLine::of(self.by_line(port).map(|line| line.in_bits(self.slot_ratio)), sizes);
        Some(Stairs { lanes: vec![LaneStairs { steps, line }], rest, taken: None })
    }

    /// Adds the arrivals of an entry frame by frame, as far as they are known so.
    fn add_in_frames(&mut self, entry: &Entry, arriving: &Arriving, [steep, flat]: [Line; 2]) {
        let (least, largest) = (entry.wire_min(), entry.wire_max());
        match () {
            // Of a scheduler several streams may make use, with frames of several sizes.
            () if arriving.is_shared => {
                self.rest.add(steep, flat);
                self.beside_slots.add(steep, flat);
            }
            () if least == largest => self.steps.push(Step { bits: largest, lines: [steep, flat] }),
            () => {
                self.rest.add(steep, flat);
                let ratio = (largest, least);
                self.slots.push(Step { bits: largest, lines: [steep, flat].map(|line| line.in_bits(ratio)) });
                let is_more = |(num, den): (u64, u64)| {
                    u128::from(largest) * u128::from(den) > u128::from(num) * u128::from(least)
                };
                if is_more(self.slot_ratio) {
                    self.slot_ratio = ratio;
                }
            }
        }
    }

    /// What its link, and a credit-based class before it, let through, on the clock of the port.
    pub(crate) fn by_line(&self, port: &PortPlan) -> impl Iterator<Item = Line> {
        let way = self.way.filter(|_| self.line_rate > 0);
        let jitter =
            way.map(|(most, least)| u64::try_from(most - least).unwrap_or(0) + self.reception_jitter);
        let of_headers = way
            .and(self.way_of_headers)
            .map(|(most, least)| most.saturating_sub(least) + self.reception_jitter + self.header_rounding);
        // One frame that has begun before a time, and one of another class that has, too.
        let is_one = !self.overlaps || !matches!(self.before, Before::Several);
        let largest = if is_one { self.wire_max } else { 2 * self.wire_max };
        #[cfg(feature = "planted-faults")]
        let largest = if port.fault == Some(crate::PlantedFault::LineShapingFluid) { 0 } else { largest };
        let by_link = of_headers.or(jitter).map(|jitter| shaped_by_line(largest, self.line_rate, jitter));
        let by_credit = jitter.and_then(|jitter| match self.before {
            Before::One(_, output) => output.map(|line| line.after_jitter(line.rate, jitter)),
            Before::Unknown | Before::Several => None,
        });
        let ratio = if self.tag_added > 0 { (self.wire_min, self.wire_min - self.tag_added) } else { (1, 1) };
        let local = move |line: Line| {
            let line = line.in_bits(ratio);
            Line { rate: port.deviation.fastest(line.rate), ..line }
        };
        by_link.into_iter().chain(by_credit).map(local)
    }

    pub(crate) fn curve(&self, port: &PortPlan) -> Curve {
        self.shaped(port, &self.promises(port))
    }

    fn shaped(&self, port: &PortPlan, promises: &Curve) -> Curve {
        Curve::least_of(promises.lines().iter().copied().chain(self.by_line(port)))
    }
}

/// The total arrivals of a class; frame by frame only if requested.
pub(crate) fn offered(port: &PortPlan, members: &[Contribution], by_frames: bool) -> Offered {
    let mut sum = Offered::nothing();
    for member in members {
        let promises = member.promises(port);
        sum.shaped = sum.shaped.plus(&member.shaped(port, &promises));
        sum.plain = sum.plain.plus(&promises);
        if by_frames {
            let stairs = member.stairs(port);
            let slots = member.in_slots(port);
            if slots.is_some() || sum.slots.is_some() {
                sum.slots = Some(sum.in_slots().plus(slots.as_ref().unwrap_or(&stairs)));
            }
            sum.stairs = sum.stairs.plus(&stairs);
        }
    }
    if by_frames { sum } else { Offered::by_curves(sum.plain, sum.shaped) }
}
