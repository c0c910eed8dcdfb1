//! One traffic class of a port: its frames, its shaper, its limits, and what it has counted.
//!
//! Invariant: of a class with one lane the first frame is in this struct and those behind it in the lane; a class with
//! several lanes, or with a frame to commit, keeps all of them in lanes (`in_lanes`). Frames that wait in a server's
//! queue or for a dispatch point are counted here, but stored elsewhere. The fields that every frame touches fill one
//! cache line. Not here: the order between classes (`port.rs`).

use alloc::boxed::Box;

use tautwire_units::{BitRate, Credit, Instant};

use crate::buffer::QueueLimit;
use crate::cbs::CreditBasedShaper;
use crate::port::{ClassConfig, ClassCounters};
use crate::queue::{LaneOrder, Lanes, Waiting};

/// A traffic class.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Class<F> {
    /// The first frame, unless frames are in lanes.
    head: Option<Waiting<F>>,
    /// Octets that the limit still lets in, and the least of them so far.
    room: u64,
    room_min: u64,
    sent: u64,
    frames: u32,
    frames_limit: u32,
    rest: Box<Rest<F>>,
}

/// The fields that only waiting frames touch.
#[derive(Clone, Debug)]
struct Rest<F> {
    lanes: Lanes<F>,
    shaper: Option<CreditBasedShaper>,
    octets_limit: u64,
    /// Most frames of one lane.
    lane_limit: u32,
    /// Whether a full queue gives up its oldest frame for a new one.
    discards_oldest: bool,
    /// Most frames that waited, where that is more than one.
    frames_max: u32,
    discarded: u64,
    /// The frame that the class has committed to send next, if the port has two stages.
    committed: Option<Waiting<F>>,
}

impl<F: Copy> Class<F> {
    pub(crate) fn new(config: ClassConfig, rate: BitRate) -> Self {
        let QueueLimit { frames, octets } = config.limit;
        let rest = Rest {
            lanes: Lanes::new(config.order, config.lanes),
            shaper: config.idle_slope.map(|slope| CreditBasedShaper::new(slope, rate)),
            octets_limit: octets,
            lane_limit: config.lane_limit,
            discards_oldest: config.discards_oldest,
            frames_max: 0,
            discarded: 0,
            committed: None,
        };
        Self {
            head: None,
            room: octets,
            room_min: octets,
            sent: 0,
            frames: 0,
            frames_limit: frames,
            rest: Box::new(rest),
        }
    }

    /// Frames that wait.
    #[inline]
    pub(crate) const fn frames(&self) -> u32 {
        self.frames
    }

    /// Whether the limits let one more frame in.
    #[inline]
    pub(crate) fn has_room(&self, octets: u32) -> bool {
        self.frames < self.frames_limit && u64::from(octets) <= self.room
    }

    /// Whether the limits let a frame in that takes the place of one of so many octets, if of any.
    pub(crate) fn has_room_instead(&self, octets: u32, older: Option<u32>) -> bool {
        let frames = self.frames - u32::from(older.is_some());
        frames < self.frames_limit && u64::from(octets) <= self.room + u64::from(older.unwrap_or(0))
    }

    /// Whether the limit of a lane lets one more frame in; of a class with frames in lanes.
    pub(crate) fn has_room_in_lane(&self, lane: u16) -> bool {
        self.rest.lane_limit == u32::MAX || self.rest.lanes.waiting_in(lane) < self.rest.lane_limit as usize
    }

    /// Whether room can be made for a frame of so many octets.
    pub(crate) fn may_make_room(&self, octets: u32) -> bool {
        self.rest.discards_oldest && u64::from(octets) <= self.rest.octets_limit
    }

    /// Takes the frame at the head of a lane out for a newer one; not one that is committed.
    #[cold]
    pub(crate) fn evict(&mut self, lane: u16, in_lanes: bool, idle: u64) -> Option<Waiting<F>> {
        if in_lanes { self.rest.lanes.evict(lane, idle) } else { self.head.is_some().then(|| self.pop(idle)) }
    }

    /// Counts a frame that was not taken.
    #[cold]
    pub(crate) fn discard(&mut self) {
        self.rest.discarded += 1;
    }

    /// Its credit-based shaper, and whether frames wait.
    #[inline]
    pub(crate) fn shaper(&mut self) -> (&mut CreditBasedShaper, bool) {
        (self.rest.shaper.as_mut().expect("a credit-based class"), self.frames > 0)
    }

    /// Counts a frame in.
    #[inline]
    pub(crate) fn count_in(&mut self, octets: u32) {
        self.frames += 1;
        self.room -= u64::from(octets);
        self.room_min = self.room_min.min(self.room);
        if self.frames > 1 {
            self.rest.frames_max = self.rest.frames_max.max(self.frames);
        }
    }

    /// Counts a frame out.
    #[inline]
    pub(crate) fn count_out(&mut self, octets: u32) {
        self.frames -= 1;
        self.room += u64::from(octets);
        self.sent += 1;
    }

    /// Counts a frame in and out.
    #[inline]
    pub(crate) fn count_through(&mut self, octets: u32) {
        self.room_min = self.room_min.min(self.room - u64::from(octets));
        self.sent += 1;
    }

    /// Adds a frame, of a class with one lane.
    #[inline]
    pub(crate) fn push(&mut self, frame: Waiting<F>) {
        match &mut self.head {
            None => self.head = Some(frame),
            Some(head) => {
                let overtakes =
                    frame.eligible < head.eligible && self.rest.lanes.order() == LaneOrder::Eligibility;
                if overtakes {
                    // It came before all that wait behind it, those of the same eligibility time too.
                    let overtaken = core::mem::replace(head, frame);
                    self.rest.lanes.push_front(0, overtaken);
                } else {
                    self.rest.lanes.push(0, frame);
                }
            }
        }
    }

    /// Adds a frame to its lane.
    pub(crate) fn push_to_lane(&mut self, lane: u16, frame: Waiting<F>) {
        self.rest.lanes.push(lane, frame);
    }

    /// When the first frame may go, of a class with one lane.
    #[inline]
    pub(crate) fn head_eligible(&self) -> Instant {
        self.head.as_ref().expect("an occupied class has a head").eligible
    }

    /// The lane that may send at `now`, or when one may; of a class with frames in lanes.
    pub(crate) fn choose_lane(&self, now: Instant) -> Result<usize, Instant> {
        match self.rest.committed {
            Some(_) => Ok(0),
            None => self.rest.lanes.choose(now).expect("an occupied class has a head"),
        }
    }

    /// Takes the first frame, of a class with one lane; `idle` is the line's idle time now.
    #[inline]
    pub(crate) fn pop(&mut self, idle: u64) -> Waiting<F> {
        let taken = self.head.take().expect("an occupied class has a head");
        // Frames that are counted here may be stored elsewhere: those that wait for a dispatch point.
        if self.frames > 1
            && let Some(next) = self.rest.lanes.take_first()
        {
            self.head = Some(Waiting { idle_at_head: idle, ..next });
        }
        taken
    }

    /// Takes the committed frame, or the first of a lane.
    pub(crate) fn pop_from_lane(&mut self, lane: usize, idle: u64) -> Waiting<F> {
        match self.rest.committed.take() {
            Some(committed) => committed,
            None => self.rest.lanes.pop(lane, idle),
        }
    }

    /// First stage: moves the first frame that became eligible to the class's output.
    pub(crate) fn commit(&mut self, now: Instant, idle: u64) {
        if self.rest.committed.is_none()
            && let Some(Ok(lane)) = self.rest.lanes.choose(now)
        {
            self.rest.committed = Some(self.rest.lanes.pop(lane, idle));
        }
    }

    /// Counts out a frame that another has taken the place of.
    pub(crate) fn forget(&mut self, octets: u32) {
        self.frames -= 1;
        self.room += u64::from(octets);
    }

    /// The frame that is sent next from a lane that may send.
    pub(crate) fn peek(&self, lane: usize) -> &Waiting<F> {
        let first = self.head.as_ref().or(self.rest.committed.as_ref());
        first.or(self.rest.lanes.head(lane)).expect("an occupied class has a head")
    }

    /// Puts a frame back whose transmission was cut: it goes before all others of its lane.
    pub(crate) fn put_back(&mut self, lane: usize, frame: Waiting<F>, octets: u32, in_lanes: bool) {
        if in_lanes {
            self.rest.lanes.push_front(lane, frame);
        } else if let Some(head) = self.head.replace(frame) {
            self.rest.lanes.push_front(0, head);
        }
        self.frames += 1;
        self.sent -= 1;
        self.room = self.room.saturating_sub(u64::from(octets));
        self.rest.frames_max = self.rest.frames_max.max(self.frames);
    }

    /// The waiting frames.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Waiting<F>> {
        self.head.iter().chain(&self.rest.committed).chain(self.rest.lanes.iter())
    }

    /// Throws the waiting frames away.
    pub(crate) fn clear(&mut self) {
        self.head = None;
        self.rest.committed = None;
        self.rest.lanes.clear();
        self.rest.frames_max = self.rest.frames_max.max(self.frames);
        self.frames = 0;
        self.room = self.rest.octets_limit;
    }

    pub(crate) fn counters(&self) -> ClassCounters {
        let has_held = self.sent > 0 || self.frames > 0;
        ClassCounters {
            sent: self.sent,
            discarded: self.rest.discarded,
            frames_max: self.rest.frames_max.max(u32::from(has_held)),
            octets_max: self.rest.octets_limit - self.room_min,
        }
    }

    /// Greatest and least credit of its shaper, if it has one.
    pub(crate) fn credit_range(&self) -> Option<(Credit, Credit)> {
        let shaper = self.rest.shaper.as_ref()?;
        Some((shaper.hi_credit(), shaper.lo_credit()))
    }
}
