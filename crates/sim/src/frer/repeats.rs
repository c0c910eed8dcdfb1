//! Stuck senders in a run: nodes that send their last frame of a stream again.
//!
//! The last frame that came to a port for the stream is kept, as it was before its queue. A repeat is a copy of it in the stream of repeats
//! (`tautwire_model::frer::Repeats`), with the same number; it goes into the queue of its class at once, whatever scheduler the stream has. A
//! node that stops forgets its frames.

use tautwire_model::Network;
use tautwire_model::frer::Repeats;
use tautwire_model::network::{NodeIndex, StreamIndex};
use tautwire_observe::{Cell, Table};
use tautwire_units::Duration;

use super::{RepeatsObservation, column};
use crate::clock::SimTime;
use crate::engine::Engine;
use crate::frame::{Aim, Slot};
use crate::plan::{HopFlags, NONE, index};
use crate::recorder::Recorder;
use crate::result::{DropReason, Observation};

/// All nodes that repeat frames in a run, by port.
#[derive(Debug, Default)]
pub(crate) struct Repeaters(Vec<Repeater>);

#[derive(Debug)]
struct Repeater {
    node: NodeIndex,
    /// The stream with copies, and that of the repeats.
    of: StreamIndex,
    stream: StreamIndex,
    /// The hops by which frames of the stream leave by the port, in a run's tables: several where copies have met before.
    hops: Vec<u32>,
    /// The first hop of the repeats.
    first: u32,
    last: Option<Slot>,
    /// The distance of repeats, and when the next is due, while it repeats.
    repeats: Option<(Duration, SimTime)>,
}

impl Repeaters {
    pub(crate) fn new(network: &Network) -> Self {
        let first_hop = |stream: StreamIndex| {
            let before = &network.streams[..stream.index()];
            index(before.iter().map(|stream| stream.hops.len()).sum())
        };
        let repeater = |repeats: &Repeats| Repeater {
            node: repeats.node,
            of: repeats.of,
            stream: repeats.stream,
            hops: passages(network, repeats).map(|hop| first_hop(repeats.of) + hop).collect(),
            first: first_hop(repeats.stream),
            last: None,
            repeats: None,
        };
        Self(network.repeats.iter().map(repeater).collect())
    }

    /// When the next repeat is due.
    pub(crate) fn next(&self) -> Option<SimTime> {
        self.0.iter().filter_map(|one| Some(one.repeats?.1)).min()
    }

    /// A node has stopped.
    pub(crate) fn forget(&mut self, node: NodeIndex) {
        self.0.iter_mut().filter(|one| one.node == node).for_each(|one| one.last = None);
    }

    /// The hops before which frames are kept.
    fn hops(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().flat_map(|one| &one.hops).copied()
    }
}

/// The hops of a stream that are one passage, from which the repeats begin.
fn passages(network: &Network, repeats: &Repeats) -> impl Iterator<Item = u32> {
    let replication =
        network.streams[repeats.of.index()].replication.as_deref().expect("a stream with copies");
    let root = repeats.hops[0];
    (0_u32..).zip(&replication.merged).filter(move |(_, merged)| **merged == root).map(|(hop, _)| hop)
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    /// The run begins: frames that may be repeated are kept.
    pub(crate) fn begin_repeaters(&mut self) {
        let hops: Vec<u32> = self.plugged().repeaters.hops().collect();
        for hop in hops {
            self.plan.hops[hop as usize].flags.add(HopFlags::REPEATED, true);
        }
    }

    /// A node begins to repeat frames of a stream, or ends it.
    #[cold]
    pub(crate) fn set_repeating(&mut self, (node, of): (NodeIndex, StreamIndex), interval: Option<Duration>) {
        let now = self.now;
        if PLUGGED {
            let all = &mut self.plugged().repeaters.0;
            for one in all.iter_mut().filter(|one| (one.node, one.of) == (node, of)) {
                one.repeats = interval.map(|interval| (interval, now + interval));
            }
            self.arm_timeline();
        }
    }

    /// A frame that may be repeated comes to its port.
    #[cold]
    pub(crate) fn remember(&mut self, place: u32, hop: u32) {
        let slot = *self.slab.get(place);
        let own = self.plugged().repeaters.0.iter_mut().filter(|one| one.hops.contains(&hop));
        own.for_each(|one| one.last = Some(slot));
    }

    /// Sends all repeats that are due.
    pub(crate) fn repeat_due(&mut self) {
        let now = self.now;
        for number in 0..self.plugged().repeaters.0.len() {
            let one = &mut self.plugged().repeaters.0[number];
            let Some((interval, due)) = one.repeats.filter(|(_, due)| *due <= now) else { continue };
            one.repeats = Some((interval, due + interval));
            let (stream, hop, last) = (one.stream, one.first, one.last);
            if let Some(last) = last {
                self.repeat(last, stream, hop);
            }
        }
    }

    fn repeat(&mut self, last: Slot, stream: StreamIndex, hop: u32) {
        let now = self.now;
        self.talkers[stream.index()].number += 1;
        self.recorder.created(now, stream.0, last.number, u32::from(last.payload));
        let place = self.slab.insert(Slot {
            created: now,
            received: now,
            arrival: now,
            queued: now,
            held_before: Duration::ZERO,
            stream: stream.0,
            hop,
            aim: Aim::DELIVERY,
            behind: NONE,
            ..last
        });
        self.enqueue(place, hop);
    }

    /// The stream, and its listener, whose frame a listener of repeats has got.
    pub(crate) fn repeated_to(&mut self, stream: u32, listener: u32) -> Option<(u32, u32)> {
        let of = self.plugged().repeaters.0.iter().find(|one| one.stream.0 == stream)?.of;
        let streams = &self.network.streams;
        let node = streams[stream as usize].listeners[listener as usize];
        let own = streams[of.index()].listeners.iter().position(|other| *other == node);
        Some((of.0, index(own.expect("a listener of the repeated stream"))))
    }
}

/// What became of repeats.
pub(super) fn observed(stream: StreamIndex, name: &str, observation: &Observation) -> RepeatsObservation {
    let seen = &observation.streams[stream.index()];
    let by_functions = |(reason, _): &&(DropReason, u64)| {
        matches!(reason, DropReason::Eliminated | DropReason::IntegrityCheck)
    };
    RepeatsObservation {
        stream,
        name: name.to_owned(),
        sent: seen.created,
        discarded: seen.dropped.iter().filter(by_functions).map(|(_, count)| count).sum(),
        taken: seen.delivered,
    }
}

/// Repeats as a table.
pub(super) fn table(all: &[RepeatsObservation]) -> Table {
    let row = |seen: &RepeatsObservation| {
        let counts = [seen.sent, seen.discarded, seen.taken].map(Cell::Number);
        std::iter::once(Cell::Text(seen.name.clone())).chain(counts).collect()
    };
    Table {
        name: "repeats",
        title: "Repeated frames",
        about: "Frames that a stuck sender repeats at a port. Each may go on as several copies, so recovery functions may have discarded, and listeners taken, more of these than repeats were sent.",
        columns: vec![
            column("repeats", "repeats"),
            column("sent", "sent"),
            column("discarded", "copies discarded"),
            column("taken", "copies taken"),
        ],
        rows: all.iter().map(row).collect(),
    }
}
