//! The input of a schedule's search: links, flows with their routes, and the margins between two hops.
//!
//! Invariants are those of [`Problem::assert_sound`]. Not here: where the figures come from.

use tautwire_model::network::DelayRange;
use tautwire_units::Duration;

/// Time-triggered flows over links. A frame of a flow leaves each port of its way at a fixed instant of
/// every period, by the clock of the port's node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// Most difference between the readings of two synchronised clocks at one instant.
    pub precision: Duration,
    /// Links, one direction each.
    pub links: Vec<Link>,
    /// Number of queues that hold one flow's frame at a time.
    pub queues: usize,
    /// Flows.
    pub flows: Vec<Flow>,
}

/// One direction of a cable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its name, for people.
    pub name: String,
    /// The time that is kept for other traffic.
    pub room: Option<Room>,
}

/// The end of every cycle of a link, in which no time-triggered frame is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// The cycle; the first begins at zero.
    pub cycle: Duration,
    /// How much of its end is kept free.
    pub length: Duration,
}

/// One time-triggered flow: a frame every period, from one talker over a tree of hops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Its name, for people.
    pub name: String,
    /// Period.
    pub period: Duration,
    /// Most time from the dispatch at the talker to the last bit at each listener; none: no requirement.
    pub deadline: Option<Duration>,
    /// Least and greatest dispatch instant at the talker, less than a period apart.
    pub start: DelayRange,
    /// Its tree; a hop comes after the hop before it. No two hops are of one link.
    pub hops: Vec<Hop>,
}

/// The use of a queue by a hop: from the earliest instant at which the frame may come to it until it, or another one in its place, could start last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InQueue {
    /// The queue, below [`Problem::queues`].
    pub queue: usize,
    /// How long before the dispatch the frame may come, at the talker; behind it, that follows from the hop before.
    pub before: Duration,
    /// How long after the dispatch no other frame may come, above zero: until its gate closes, or it starts at the latest.
    pub until: Duration,
}

/// The passage of a flow through one link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The link, as an index of [`Problem::links`].
    pub link: usize,
    /// The hop before, as an index of the flow's hops; none at the talker.
    pub previous: Option<usize>,
    /// How long the frame occupies the link from its dispatch instant on: lateness of its start, preamble, frame, gap,
    /// and the margin for clocks and corrections.
    pub window: Duration,
    /// From the dispatch instant to the last bit at the other end, by a clock at either end, without
    /// the difference of the two clocks.
    pub arrival: DelayRange,
    /// From the dispatch instant of the hop before until the frame can be dispatched here, without the
    /// difference of the two clocks; zero at the talker.
    pub ready: DelayRange,
    /// The queue in which it must be alone, if it must.
    pub queue: Option<InQueue>,
}

impl Problem {
    /// Stops at a problem that makes no sense: a fault of the caller.
    ///
    /// # Panics
    /// If a period or a window is zero, starts are a period apart or more, a hop names a link, a queue or a hop that is
    /// not there or comes later, a flow passes a link twice, or a room is longer than its cycle.
    pub fn assert_sound(&self) {
        for link in &self.links {
            if let Some(room) = link.room {
                assert!(!room.cycle.is_zero() && room.length <= room.cycle, "{}: room", link.name);
            }
        }
        for flow in &self.flows {
            assert!(!flow.period.is_zero(), "{}: a period is above zero", flow.name);
            let start = flow.start;
            let fits = start.min <= start.max && start.max - start.min < flow.period;
            assert!(fits, "{}: range of its start", flow.name);
            for (index, hop) in flow.hops.iter().enumerate() {
                assert!(hop.link < self.links.len(), "{}: a hop's link is there", flow.name);
                assert!(!hop.window.is_zero(), "{}: a window is above zero", flow.name);
                let queue = hop.queue.is_none_or(|queue| {
                    queue.queue < self.queues && !queue.until.is_zero() && queue.before <= flow.period
                });
                assert!(queue, "{}: a hop's queue", flow.name);
                assert!(hop.previous.is_none_or(|previous| previous < index), "{}: order of hops", flow.name);
                let twice = flow.hops[..index].iter().any(|other| other.link == hop.link);
                assert!(hop.ready.min <= hop.ready.max, "{}: a least is not above its most", flow.name);
                assert!(!twice, "{}: passes {} twice", flow.name, self.links[hop.link].name);
            }
        }
    }

    /// Share of a link that its time-triggered windows take, in parts per million, rounded up.
    #[must_use]
    pub fn load_ppm(&self, link: usize) -> u64 {
        let hops = self.flows.iter().flat_map(|flow| flow.hops.iter().map(move |hop| (flow.period, hop)));
        let share = |(period, hop): (Duration, &Hop)| {
            let ppm = (u128::from(hop.window.as_ps()) * 1_000_000).div_ceil(u128::from(period.as_ps()));
            u64::try_from(ppm).unwrap_or(u64::MAX)
        };
        hops.filter(|(_, hop)| hop.link == link).map(share).fold(0, u64::saturating_add)
    }
}

impl Flow {
    /// How much later than that of the hop before the dispatch at `hop` may be, both included; none at the talker.
    ///
    /// The frame is there, whatever the two clocks read, and the next one is not, which would take its place.
    #[must_use]
    pub fn after(&self, hop: usize, precision: Duration) -> Option<DelayRange> {
        let at = &self.hops[hop];
        at.previous?;
        let until = at.queue.map_or(Duration::ZERO, |queue| queue.until);
        let max = (at.ready.min + self.period).saturating_sub(precision + until);
        Some(DelayRange { min: at.ready.max + precision, max })
    }

    /// Begin, counted from a period before zero, and length of the stay of a hop's frame in a queue where it is alone.
    pub(crate) fn stay(
        &self,
        hop: usize,
        precision: Duration,
        dispatch: &[u64],
    ) -> Option<(usize, u64, u64)> {
        let at = &self.hops[hop];
        let queue = at.queue?;
        let end = dispatch[hop] + queue.until.as_ps() + self.period.as_ps();
        let begin = match at.previous {
            Some(previous) => {
                dispatch[previous] + at.ready.min.as_ps() + self.period.as_ps() - precision.as_ps()
            }
            None => dispatch[hop] + self.period.as_ps() - queue.before.as_ps(),
        };
        Some((queue.queue, begin, end - begin))
    }

    /// Whether any instant of the period may be its start.
    pub(crate) fn starts_anywhere(&self) -> bool {
        self.start.max - self.start.min + Duration::from_ps(1) == self.period
    }

    /// The latency of a listener behind `hop`, less the difference of the dispatch instants here and at the talker.
    #[must_use]
    pub(crate) fn tail(&self, hop: usize, precision: Duration) -> Duration {
        let clocks = if self.hops[hop].previous.is_some() { precision } else { Duration::ZERO };
        self.hops[hop].arrival.max + clocks
    }

    /// The talker's hop on the route of `hop`.
    #[must_use]
    pub fn root(&self, mut hop: usize) -> usize {
        while let Some(previous) = self.hops[hop].previous {
            hop = previous;
        }
        hop
    }
}
