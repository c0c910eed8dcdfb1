//! How long a frame of a TDMA station may wait for a slot, derived where the description does not state it.
//!
//! In: a network. Out: a time that is enough while nothing fails, and for one slot that a lost cycle costs. It is the
//! longest distance of a station's slots, once for every frame that may be queued before and once more, increased by
//! the tolerance of the clocks, and by how much a slot may begin too late: its margin, its length less that of its
//! frame. A frame that waits longer is lost and not late, so bounds exist in spite of failures that cost slots. It is
//! derived only for these: a network that loses nothing keeps every frame. Not here: the bounds (`tautwire-analysis`).

use tautwire_core::tdma::Carries;
use tautwire_units::{Bytes, Duration};

use crate::frame::{frame_length, wire_bits};
use crate::network::{Network, NodeIndex, NodeKind, StreamIndex, TimelineAction, Traffic};
use crate::tdma::{OwnedSlot, Tdma};

/// Frames before which nothing is derived: a station that is given more than it has slots.
const FRAMES_MAX: u64 = 10_000;
/// Cycles after which slots repeat at most.
const CYCLES_MAX: u64 = 1_000;

impl Network {
    /// The derived lifetime; none without TDMA, or if a station is promised more than its slots take.
    #[must_use]
    pub fn derived_lifetime(&self) -> Option<Duration> {
        let tdma = self.tdma.as_ref()?;
        let talks = |number: &StreamIndex| {
            let traffic = &self.streams[number.index()].traffic;
            !traffic.is_control()
        };
        let streams = (0..self.streams.len()).map(StreamIndex::at).filter(talks);
        let waits: Option<Vec<Duration>> =
            streams.map(|number| self.wait_at_most(tdma, number, None)).collect();
        let wait = waits?.into_iter().max()?;
        let margins = tdma.slots.iter().map(|slot| self.margin(slot));
        let tolerance = self.nodes.iter().map(|node| u128::from(node.clock.tolerance_ppb)).max().unwrap_or(0);
        let stretch = (u128::from(wait.as_ps()) * 2 * tolerance).div_ceil(1_000_000_000);
        let stretch = Duration::from_ps(u64::try_from(stretch).ok()?);
        Some(wait + stretch + margins.max().unwrap_or_default())
    }

    /// Whether an event may cost a station slots for a limited time, so that frames would wait through it, and a
    /// lifetime bounds that: a cable, a bridge, and bit errors, with a standby only if the description limits their
    /// effect; or a talker that babbles.
    pub(crate) fn costs_slots(&self) -> bool {
        let Some(tdma) = &self.tdma else { return false };
        if self.events.iter().any(|event| self.is_babbling(&event.action)) {
            return true;
        }
        let is_alone = tdma.standby.is_none();
        let of = [Some(tdma.synchronisation), tdma.standby.map(|standby| standby.synchronisation)];
        let opens = |node: NodeIndex| {
            of.into_iter().flatten().any(|stream| self.streams[stream.index()].talker == node)
        };
        let is_slave = |node: NodeIndex| {
            matches!(self.nodes[node.index()].kind, NodeKind::EndStation { .. }) && !opens(node)
        };
        let errors = is_alone || tdma.standby.is_some_and(|standby| standby.lost_in_a_row.is_some());
        let errs = errors && self.links.iter().any(|link| link.bit_error_rate > 0);
        let comes_back = |action: &TimelineAction| match action {
            TimelineAction::MendCable(_) => true,
            TimelineAction::ChangeBitErrorRate(_, rate) => errors && *rate > 0,
            TimelineAction::StartNode(node) => {
                is_alone && !is_slave(*node)
                    || matches!(self.nodes[node.index()].kind, NodeKind::Bridge { .. })
            }
            _ => false,
        };
        errs || self.events.iter().any(|event| comes_back(&event.action))
    }

    /// Whether an event makes a talker of a network with TDMA send more than its station's slots take, which took what it sent
    /// before.
    #[must_use]
    pub fn is_babbling(&self, action: &TimelineAction) -> bool {
        let (Some(tdma), TimelineAction::ChangeTraffic(number, traffic, _)) = (&self.tdma, action) else {
            return false;
        };
        let finds_slots = |changed| self.wait_at_most(tdma, *number, changed).is_some();
        finds_slots(None) && !finds_slots(Some((*number, traffic)))
    }

    /// How much longer a slot is than the frames that it carries.
    fn margin(&self, slot: &OwnedSlot) -> Duration {
        let length = |number: usize| {
            let (stream, rate) = (&self.streams[number], self.first_line(StreamIndex::at(number))?);
            Some(rate.duration_ceil(wire_bits(stream.payload_max, stream.tagged)))
        };
        let own = (0..self.streams.len()).filter(|number| self.is_carried(slot, StreamIndex::at(*number)));
        let longest = own.filter_map(length).max().unwrap_or_default();
        slot.length.saturating_sub(longest)
    }

    /// The longest distance of a stream's slots for every frame that may be queued before, itself, and one lost cycle;
    /// with other traffic of a stream, if given.
    fn wait_at_most(
        &self,
        tdma: &Tdma,
        number: StreamIndex,
        changed: Option<(StreamIndex, &Traffic)>,
    ) -> Option<Duration> {
        let talker = self.streams[number.index()].talker;
        let distance = self.slots_apart(tdma, number)?;
        let both = |slot: &OwnedSlot| slot.slot.carries == Carries::Both && self.is_carried(slot, number);
        let behind = !self.is_real_time(number) && tdma.slots.iter().any(both);
        let before: Vec<StreamIndex> = (0..self.streams.len())
            .map(StreamIndex::at)
            .filter(|other| self.streams[other.index()].talker == talker)
            .filter(|other| behind || self.is_real_time(*other) == self.is_real_time(number))
            .collect();
        let mut frames = 1;
        loop {
            let span = distance * frames;
            let waiting: Option<Vec<u64>> =
                before.iter().map(|other| self.frames_within(*other, span, changed)).collect();
            let waiting = waiting?.into_iter().sum::<u64>().max(1);
            if waiting <= frames {
                return Some(distance * (frames + 1));
            }
            if waiting > FRAMES_MAX {
                return None;
            }
            frames = waiting;
        }
    }

    /// The longest distance of two slots that carry a stream.
    fn slots_apart(&self, tdma: &Tdma, number: StreamIndex) -> Option<Duration> {
        let own: Vec<&OwnedSlot> = tdma.slots.iter().filter(|slot| self.is_carried(slot, number)).collect();
        let round = own.iter().fold(1, |all, slot| common(all, u64::from(slot.slot.period))).min(CYCLES_MAX);
        let mut starts: Vec<Duration> = (0..2 * round)
            .flat_map(|cycle| {
                let used = own
                    .iter()
                    .filter(move |one| cycle % u64::from(one.slot.period) == u64::from(one.slot.phase));
                used.map(move |one| tdma.cycle * cycle + one.slot.offset)
            })
            .collect();
        starts.sort_unstable();
        starts.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).max()
    }

    /// Frames of a stream that come within a span at most, answers with a spread of one interval of their requests.
    fn frames_within(
        &self,
        number: StreamIndex,
        span: Duration,
        changed: Option<(StreamIndex, &Traffic)>,
    ) -> Option<u64> {
        let stream = &self.streams[number.index()];
        let traffic = |of: StreamIndex| match changed {
            Some((other, traffic)) if other == of => traffic,
            _ => &self.streams[of.index()].traffic,
        };
        let of = |of: StreamIndex, spread: bool| match traffic(of) {
            Traffic::Periodic { interval, jitter, burst, .. } => {
                let more = if spread { interval.as_ps() } else { 0 };
                let window = span.as_ps().saturating_add(jitter.as_ps()).saturating_add(more);
                Some((window / interval.as_ps().max(1) + 1) * u64::from(*burst))
            }
            _ => None,
        };
        match traffic(number) {
            Traffic::Synchronisation { .. } | Traffic::Protocol => Some(0),
            Traffic::Response { to, .. } => {
                let messages = of(*to, true)? / u64::from(self.frames_a_message(*to)).max(1);
                Some(messages.max(1) * u64::from(self.frames_a_message(number)))
            }
            Traffic::Periodic { .. } => of(number, false),
            _ => {
                let curve = stream.arrival?;
                let earned = u128::from(curve.rate.as_bps()) * u128::from(span.as_ps());
                let earned = earned.div_ceil(1_000_000_000_000) + u128::from(curve.burst.get());
                let least = frame_length(stream.payload_min, stream.tagged) + Bytes::MEDIA_OVERHEAD;
                u64::try_from(earned / u128::from(least.bits().get().max(1))).ok()
            }
        }
    }

    /// Where a cable's ends are.
    #[must_use]
    pub fn cable_ends(&self, cable: u32) -> [NodeIndex; 2] {
        let link = &self.links[cable as usize * 2];
        [link.from, link.to].map(|port| self.ports[port.index()].node)
    }
}

/// The least common multiple.
pub(crate) fn common(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    (a / x.max(1)).saturating_mul(b)
}
