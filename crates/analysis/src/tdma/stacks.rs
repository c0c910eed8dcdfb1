//! Protocol stacks of hosts in a network with TDMA, with threads that serve both what they receive and what they send.
//!
//! What a thread receives delays what it sends. So it affects when frames come to their station's queue, how many of
//! them wait there, and when they come to other hosts. So times through stacks are assumed, the waits and paths of the
//! network follow from them, and these give new times, starting from zero, until they converge or are at most the
//! assumed ones. Such times hold: no first frame can exceed them (Thomas, Le Boudec and Mifdaoui, RTSS 2019, theorem
//! 1). Times that do not converge have no bound. Slots do not depend on any of it: a frame on a line starts with its
//! slot. In: bounds at ports. Out: from application to station queue, and from port to application. Not here: how a
//! host serves its streams (`host_stacks`).

use tautwire_model::network::{StreamIndex, Traffic};
use tautwire_units::Duration;

use super::Cycle;
use super::way::Range;
use crate::accuracy::Accuracy;
use crate::answers::{Learned, Response};
#[cfg(feature = "planted-faults")]
use crate::fault::PlantedFault;
use crate::host_stacks::{self, Sending};
use crate::result::{Bounds, ListenerBounds};
use crate::service::bounds_of;
use crate::timeline::Timeline;

/// Rounds until what still grows is given up.
const ROUNDS_MAX: u32 = 40;
/// A time beyond this is none: about a quarter of an hour.
const TIME_CAP: u64 = 1_000_000_000_000_000;

/// Times through the stacks of hosts.
#[derive(Clone, Debug, Default)]
pub(super) struct Stacks {
    /// Per stream, if its talker has stacks: from its application to its station's queue.
    pub(super) sending: Vec<Option<Sending>>,
    /// Per stream, per listener: from its port to its application, if it has stacks and that is known.
    pub(super) receiving: Vec<Vec<Option<Range>>>,
}

impl Stacks {
    /// The values assumed at first: zero.
    fn nothing(cycle: &Cycle<'_>) -> Self {
        let network = cycle.network;
        let has = |node| network.has_stacks(node);
        let nothing = Sending { min: 0, max: Some(0), task_frames: Some(0), socket_octets: Some(0) };
        let sends = |talker| has(talker).then_some(nothing);
        let receives = |node| has(node).then_some(Range::default());
        Self {
            sending: network.streams.iter().map(|stream| sends(stream.talker)).collect(),
            receiving: network
                .streams
                .iter()
                .map(|stream| stream.listeners.iter().map(|node| receives(*node)).collect())
                .collect(),
        }
    }

    /// Greatest times, in a fixed order; none: no bound, or no stacks.
    fn times(&self) -> impl Iterator<Item = Option<u64>> + '_ {
        let sending = self.sending.iter().map(|sending| sending.and_then(|one| one.max));
        let receiving = self.receiving.iter().flatten().map(|range| range.map(|one| one.max));
        sending.chain(receiving)
    }

    /// Whether all that it allows is allowed by `known`. Least times depend on nothing.
    fn is_within(&self, known: &Self) -> bool {
        let least = |one: &Self| -> Vec<u64> {
            let sending = one.sending.iter().map(|sending| sending.map_or(0, |one| one.min));
            let receiving = one.receiving.iter().flatten().map(|range| range.map_or(0, |one| one.min));
            sending.chain(receiving).collect()
        };
        let open = |stacks: &Self| -> Vec<bool> { stacks.times().map(|time| time.is_none()).collect() };
        let later = self.times().zip(known.times()).all(|(found, known)| match (found, known) {
            (Some(found), Some(known)) => found <= known,
            (_, known) => known.is_none(),
        });
        later
            && least(self)
                .iter()
                .zip(least(known))
                .zip(open(known))
                .all(|((found, known), open)| open || *found >= known)
    }

    /// The same with other greatest times, from those of a round before.
    fn changed(&self, before: &Self, time: impl Fn(u64, u64) -> Option<u64>) -> Self {
        let mut changed = self.clone();
        let of = |now: Option<u64>, before: Option<u64>| now.and_then(|now| time(now, before?));
        let capped = |most: Option<u64>| most.filter(|most| *most <= TIME_CAP);
        for (now, before) in changed.sending.iter_mut().zip(&before.sending) {
            if let Some(now) = now {
                now.max = capped(of(now.max, before.and_then(|one| one.max)));
            }
        }
        for (now, before) in changed.receiving.iter_mut().flatten().zip(before.receiving.iter().flatten()) {
            let most = capped(of(now.map(|one| one.max), before.map(|one| one.max)));
            *now = now.zip(most).map(|(now, max)| Range { max, ..now });
        }
        changed
    }
}

impl Cycle<'_> {
    /// Takes times through the stacks of hosts as known that reproduce themselves.
    pub(super) fn settle_stacks(&mut self) {
        self.stacks = Stacks::nothing(self);
        for round in 0..2 * ROUNDS_MAX {
            let found = self.step();
            if found.is_within(&self.stacks) {
                return;
            }
            let before = std::mem::replace(&mut self.stacks, found);
            if round % 4 == 3 {
                // Somewhat above what grows, it may reproduce less.
                let higher = self
                    .stacks
                    .changed(&before, |now, before| now.checked_add(8 * now.saturating_sub(before) + 1_000));
                let here = std::mem::replace(&mut self.stacks, higher);
                let found = self.step();
                if found.is_within(&self.stacks) {
                    return;
                }
                self.stacks = here;
            }
            if round >= ROUNDS_MAX {
                self.stacks = self.stacks.changed(&before, |now, before| (now <= before).then_some(now));
            }
        }
        let here = self.stacks.clone();
        self.stacks = here.changed(&here, |_, _| None);
        self.settle_waits();
    }

    /// What follows from the times that are taken as known: the same times anew.
    fn step(&mut self) -> Stacks {
        self.settle_waits();
        let streams = self.network.streams.iter().zip(0..);
        let of = |(stream, number)| bounds_of(self.network, stream, &self.carried(StreamIndex(number)));
        let mut bounds = Bounds {
            streams: streams.map(of).collect(),
            ports: Vec::new(),
            overflows: Vec::new(),
            recoveries: Vec::new(),
            accuracy: Accuracy::default(),
        };
        let all = || (0..self.network.streams.len()).map(StreamIndex::at);
        let responses: Vec<_> = all().map(|number| self.response_handed(number)).collect();
        let learned = Learned {
            responses: responses
                .iter()
                .map(|handed| handed.map(|handed| Response { handed, period: None }))
                .collect(),
            ports: Some(host_stacks::ports(self.network, &bounds)),
            deaf: self.is_deaf(),
            ..Learned::default()
        };
        let sending = host_stacks::sending(self.network, &Timeline::of(self.network), &learned);
        host_stacks::add_receiving(self.network, &mut bounds, &responses);
        let range = |listener: &ListenerBounds| {
            let (least, most) = listener.application.as_ref()?;
            let (most, at_port) = (most.as_ref().ok()?, listener.delay.as_ref().ok()?);
            let min = least.saturating_sub(listener.delay_min).as_ps();
            let max = most.saturating_sub(*at_port);
            (max <= Duration::from_ps(TIME_CAP)).then_some(Range { min, max: max.as_ps() })
        };
        let receiving =
            bounds.streams.iter().map(|stream| stream.listeners.iter().map(range).collect()).collect();
        Stacks { sending, receiving }
    }

    /// By how much more the messages of a response are spread when they are handed over than what its chain begins with.
    pub(super) fn spread_of_chain(&self, number: StreamIndex) -> Option<u64> {
        let mut origin = number;
        while let Traffic::Response { to, .. } = self.network.streams[origin.index()].traffic {
            origin = to;
        }
        let (_, own, _) = self.handed_over(number)?;
        Some(own.saturating_sub(self.handed_over(origin)?.1))
    }

    /// Whether what is received is left out where it is served with what is sent.
    fn is_deaf(&self) -> bool {
        #[cfg(feature = "planted-faults")]
        return self.fault == Some(PlantedFault::ReceptionsForgotten);
        #[cfg(not(feature = "planted-faults"))]
        false
    }
}
