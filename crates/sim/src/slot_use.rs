//! What becomes of the slots of a TDMA cycle in a run: used, passed empty, missed by a frame that was on its way.
//!
//! A slot is missed by a frame that leaves its station later, though it was created, or the request that it answers had
//! left, when the slot passed empty. Every passing is missed once at most. Not here: who acts in a slot (`tautwire-core`, `tdma.rs`).

use std::collections::{BTreeMap, VecDeque};

use tautwire_model::Network;
use tautwire_model::network::NodeIndex;

use crate::clock::SimTime;
use crate::engine::Engine;
use crate::recorder::{MissedSlot, Recorder};
use crate::result::SlotObservation;
use tautwire_units::Duration;

/// Passings of a station that are remembered.
const PASSINGS: usize = 256;
/// Responses of a stream that may wait.
const ANSWERS: u32 = 64;

/// The slots of a run.
pub(crate) struct SlotUse {
    pub(crate) seen: Vec<SlotObservation>,
    /// Per node: its slots, in order, as places of the network's.
    own: Vec<Vec<usize>>,
    /// Per node: slots that passed empty, when and in which cycle, and missed by none yet.
    passings: Vec<VecDeque<(SimTime, u32, usize)>>,
    /// The cycle that was opened last.
    open: Option<u32>,
    /// By whose synchronisation frames it was, and when.
    opener: Option<(u32, SimTime)>,
    /// The longest time from the last cycle that the master opened to the first one of the standby.
    pub(crate) takeover: Option<Duration>,
    /// Per stream: when its last frame left its station.
    left: Vec<SimTime>,
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
            own: (0..network.nodes.len()).map(of).collect(),
            passings: vec![VecDeque::new(); network.nodes.len()],
            open: None,
            opener: None,
            takeover: None,
            left: vec![SimTime::ZERO; network.streams.len()],
            asked: BTreeMap::new(),
        }
    }

    /// A response to `to` is created.
    pub(crate) fn answers(&mut self, stream: u32, number: u32, to: u32) {
        let left = self.left[to as usize];
        let past = self.asked.range((stream, 0)..(stream, number.saturating_sub(ANSWERS)));
        let past: Vec<(u32, u32)> = past.map(|(key, _)| *key).collect();
        for key in &past {
            self.asked.remove(key);
        }
        self.asked.insert((stream, number), left);
    }

    /// A cycle is opened by a frame of `stream`: the slots of the one before are over.
    pub(crate) fn opened(&mut self, network: &Network, cycle: u32, (stream, now): (u32, SimTime)) {
        let standby = network.tdma.as_ref().and_then(|tdma| tdma.standby);
        let of_standby = standby.is_some_and(|standby| standby.synchronisation.0 == stream);
        if let Some((before, since)) = self.opener.replace((stream, now))
            && of_standby
            && before != stream
        {
            self.takeover = self.takeover.max(Some(now.since_start() - since.since_start()));
        }
        let slots = network.tdma.as_ref().map_or(&[][..], |tdma| &tdma.slots);
        if let Some(before) = self.open.replace(cycle).filter(|before| *before != cycle) {
            for (seen, slot) in self.seen.iter_mut().zip(slots) {
                seen.opened += u64::from(before % slot.slot.period == slot.slot.phase);
            }
        }
    }
}

impl<R: Recorder> Engine<'_, R> {
    /// A station's slot passes empty now.
    pub(crate) fn slot_passed(&mut self, node: usize, (cycle, place): (u32, usize)) {
        let now = self.now;
        let slots = &mut self.driven().slots;
        let slot = slots.own[node][place];
        slots.seen[slot].empty += 1;
        let passings = &mut slots.passings[node];
        if passings.len() == PASSINGS {
            passings.pop_front();
        }
        passings.push_back((now, cycle, slot));
    }

    /// Something leaves in a station's slot now; if it is a frame, it is one that was created at `since`.
    pub(crate) fn slot_used(
        &mut self,
        node: usize,
        (_, place): (u32, usize),
        frame: Option<(u32, u32, SimTime)>,
    ) {
        let (now, network) = (self.now, self.network);
        let slots = &mut self.driven().slots;
        let slot = slots.own[node][place];
        slots.seen[slot].used += 1;
        let Some((stream, number, created)) = frame else { return };
        slots.left[stream as usize] = now;
        let since = slots.asked.remove(&(stream, number)).unwrap_or(created);
        let owned = &network.tdma.as_ref().expect("slots are those of TDMA").slots;
        let missed = |(at, _, slot): &(SimTime, u32, usize)| {
            *at >= since && network.is_carried(&owned[*slot], tautwire_model::network::StreamIndex(stream))
        };
        let passings = std::mem::take(&mut slots.passings[node]);
        let (late, other): (VecDeque<_>, VecDeque<_>) = passings.into_iter().partition(missed);
        slots.passings[node] = other;
        for (at, cycle, slot) in late {
            self.driven().slots.seen[slot].missed += 1;
            self.recorder.slot_missed(&MissedSlot { time: at, cycle, slot, stream, number });
        }
    }
}
