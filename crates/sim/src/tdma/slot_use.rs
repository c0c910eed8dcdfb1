//! What becomes of the slots of a TDMA cycle in a run: used, passed empty, cycle not received, missed by a late frame.
//!
//! A slot is missed by a frame that leaves its station later or is discarded there, although it was created, or the
//! request that it answers had left, when the slot passed without use: empty, or because its owner did not receive the
//! opening of the cycle. Every passing is missed once at most. Not here: which station acts in a slot
//! (`tautwire-core`, `tdma/mod.rs`), which cycles are kept (`cycles.rs`).

use std::collections::{BTreeMap, VecDeque};

use tautwire_core::tdma::Synchronisation;
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, StreamIndex};
use tautwire_model::tdma::OwnedSlot;

use super::cycles::{Cycles, CyclesObservation, RECENT, SlotFate};
use crate::clock::SimTime;
use crate::control::{HandedDown, Plane};
use crate::result::SlotObservation;
use tautwire_units::Duration;

/// Passings of a station that are remembered.
const PASSINGS: usize = RECENT;
/// Responses of a stream that may wait.
const ANSWERS: u32 = 64;

/// A slot of a TDMA cycle that passed without use, and a frame that came too late for it: a recorder's note about the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissedSlot {
    /// When it began.
    pub time: SimTime,
    /// Number of the cycle.
    pub cycle: u32,
    /// The slot, as a place of the network's.
    pub slot: usize,
    /// The frame's stream.
    pub stream: u32,
    /// The frame's number.
    pub number: u32,
    /// Whether it leaves in another slot; if not it was given up at its station.
    pub is_sent: bool,
}

/// The slots of a run.
#[derive(Debug)]
pub(crate) struct SlotUse {
    seen: Vec<SlotObservation>,
    /// The cycles, with what became of each slot.
    cycles: Cycles,
    /// Per node: its slots, in order, as places of the network's.
    own: Vec<Vec<usize>>,
    /// Per node: slots that passed without use, when and in which cycle, and missed by none yet.
    passings: Vec<VecDeque<(SimTime, u32, usize)>>,
    /// The station that opened it, and when.
    opener: Option<(u32, SimTime)>,
    /// The longest time from the last cycle that the master opened to the first one of the standby.
    pub(crate) takeover: Option<Duration>,
    /// Per stream: when its last frame left its station.
    left_at: Vec<SimTime>,
    /// When the requests of responses left, by stream and number.
    asked: BTreeMap<(u32, u32), SimTime>,
}

impl SlotUse {
    pub(crate) fn new(network: &Network) -> Self {
        let slots = network.tdma.as_ref().map_or(&[][..], |tdma| &tdma.slots);
        let of = |node: usize| {
            let own = slots.iter().enumerate().filter(|(_, slot)| slot.owner == NodeIndex::at(node));
            own.map(|(place, _)| place).collect()
        };
        Self {
            seen: vec![SlotObservation::default(); slots.len()],
            cycles: Cycles::new(network.tdma.as_ref().map_or(Duration::ZERO, |tdma| tdma.cycle)),
            own: (0..network.nodes.len()).map(of).collect(),
            passings: vec![VecDeque::new(); network.nodes.len()],
            opener: None,
            takeover: None,
            left_at: vec![SimTime::ZERO; network.streams.len()],
            asked: BTreeMap::new(),
        }
    }

    /// A response to `to` is created.
    pub(crate) fn answers(&mut self, stream: u32, number: u32, to: u32) {
        let left = self.left_at[to as usize];
        let past = self.asked.range((stream, 0)..(stream, number.saturating_sub(ANSWERS)));
        let past: Vec<(u32, u32)> = past.map(|(key, _)| *key).collect();
        for key in &past {
            self.asked.remove(key);
        }
        self.asked.insert((stream, number), left);
    }

    /// A cycle is opened by a frame of `stream`: the slots of the one before are over.
    pub(crate) fn opened(
        &mut self,
        network: &Network,
        opening: Synchronisation,
        (stream, now): (u32, SimTime),
    ) {
        let standby = network.tdma.as_ref().and_then(|tdma| tdma.standby);
        let of_standby = standby.is_some_and(|standby| standby.synchronisation.0 == stream);
        if let Some((before, since)) = self.opener.replace((stream, now))
            && of_standby
            && before != stream
        {
            self.takeover = self.takeover.max(Some(now.since_start() - since.since_start()));
        }
        if !self.cycles.is_open(opening.cycle, now) {
            self.end_cycle(network);
            let late = opening.transmitted.saturating_since(opening.scheduled);
            let began = SimTime::ZERO + now.since_start().saturating_sub(late);
            let slots = network.tdma.iter().flat_map(|tdma| &tdma.slots);
            self.cycles.open(opening.cycle, began, slots.map(|owned| due(owned, opening.cycle)));
        }
        let open = self.cycles.last().expect("one was opened");
        let by = if of_standby { &mut open.by_standby } else { &mut open.by_master };
        by.get_or_insert(now.since_start());
    }

    /// The slots of the last opened cycle are over: an owner that did nothing in its slot did not receive the opening.
    fn end_cycle(&mut self, network: &Network) {
        let Some(open) = self.cycles.last() else { return };
        let (number, began) = (open.number, SimTime::ZERO + open.began);
        let slots = network.tdma.as_ref().map_or(&[][..], |tdma| &tdma.slots);
        let mut unheard = Vec::new();
        for (place, fate) in
            open.slots.iter_mut().enumerate().filter(|(_, fate)| **fate != SlotFate::Elsewhere)
        {
            self.seen[place].opened += 1;
            if *fate == SlotFate::Unknown {
                *fate = SlotFate::Unheard;
                unheard.push(place);
            }
        }
        for place in unheard {
            let owned = &slots[place];
            self.remember(owned.owner.index(), (began + owned.slot.offset, number, place));
        }
    }

    /// A station's slot passes empty now.
    pub(crate) fn passed(&mut self, node: usize, (cycle, place): (u32, usize), now: SimTime) {
        let slot = self.own[node][place];
        self.seen[slot].empty += 1;
        self.know(node, (now, cycle, slot), SlotFate::Empty);
        self.remember(node, (now, cycle, slot));
    }

    /// Something leaves in a station's slot now.
    pub(crate) fn used(&mut self, node: usize, (cycle, place): (u32, usize), now: SimTime) {
        let slot = self.own[node][place];
        self.seen[slot].used += 1;
        self.know(node, (now, cycle, slot), SlotFate::Used);
    }

    /// A frame leaves its station now.
    pub(crate) fn left(&mut self, frame: HandedDown, of: (&Network, usize), plane: &mut dyn Plane) {
        self.left_at[frame.stream.index()] = plane.now();
        self.note_missed(frame, of, true, plane);
    }

    /// A frame is given up at its station.
    pub(crate) fn given_up(&mut self, frame: HandedDown, of: (&Network, usize), plane: &mut dyn Plane) {
        self.note_missed(frame, of, false, plane);
    }

    /// The slots that a frame came too late for.
    fn note_missed(
        &mut self,
        HandedDown { stream, number, created, .. }: HandedDown,
        of: (&Network, usize),
        is_sent: bool,
        plane: &mut dyn Plane,
    ) {
        let since = self.asked.remove(&(stream.0, number)).unwrap_or(created);
        for (time, cycle, slot) in self.take_missed(of, (stream.0, since)) {
            let missed = MissedSlot { time, cycle, slot, stream: stream.0, number, is_sent };
            plane.note(stream, Some(number), Box::new(missed));
        }
    }

    /// What was seen, when the run is over. Of the last cycle slots count of which it is known what became of them.
    pub(crate) fn finish(&mut self) -> (Vec<SlotObservation>, CyclesObservation) {
        if let Some(open) = self.cycles.last() {
            for (seen, fate) in self.seen.iter_mut().zip(&open.slots) {
                seen.opened += u64::from(!matches!(fate, SlotFate::Elsewhere | SlotFate::Unknown));
            }
        }
        (std::mem::take(&mut self.seen), self.cycles.finish())
    }

    /// A slot of a node has passed without use.
    fn remember(&mut self, node: usize, passing: (SimTime, u32, usize)) {
        let passings = &mut self.passings[node];
        if passings.len() == PASSINGS {
            passings.pop_front();
        }
        passings.push_back(passing);
    }

    /// What became of a slot is known; one that comes behind the opening of the next cycle had been taken for unheard.
    fn know(&mut self, node: usize, (at, cycle, slot): (SimTime, u32, usize), fate: SlotFate) {
        let was = self.cycles.put((cycle, at), slot, fate);
        if was.is_some_and(|was| was != SlotFate::Unknown) {
            self.passings[node].retain(|(_, past, place)| (*past, *place) != (cycle, slot));
        }
        if was == Some(SlotFate::UnheardMissed) {
            self.seen[slot].missed -= 1;
        }
    }

    /// Takes the slots that a frame missed that waited since `since` at its station: those that carry its stream.
    fn take_missed(
        &mut self,
        (network, node): (&Network, usize),
        (stream, since): (u32, SimTime),
    ) -> VecDeque<(SimTime, u32, usize)> {
        let owned = &network.tdma.as_ref().expect("slots are those of TDMA").slots;
        let missed = |(at, _, slot): &(SimTime, u32, usize)| {
            *at >= since && network.is_carried(&owned[*slot], StreamIndex(stream))
        };
        let passings = std::mem::take(&mut self.passings[node]);
        let (late, other): (VecDeque<_>, VecDeque<_>) = passings.into_iter().partition(missed);
        self.passings[node] = other;
        for (at, cycle, slot) in &late {
            self.seen[*slot].missed += 1;
            self.cycles.miss((*cycle, *at), *slot);
        }
        late
    }
}

/// The state of a slot when a cycle begins.
fn due(owned: &OwnedSlot, cycle: u32) -> SlotFate {
    let is_due = cycle % owned.slot.period == owned.slot.phase;
    if is_due { SlotFate::Unknown } else { SlotFate::Elsewhere }
}
