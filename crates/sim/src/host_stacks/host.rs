//! A host of a run: servicing threads, the parts of its stacks, and the frames that wait in its sockets.
//!
//! All of them are servers that take frames as they come: when a frame reaches one, the time at which it is served is
//! known. Not here: the interfaces (`interface.rs`), the path from one to the next (`way.rs`).

use std::collections::{BTreeMap, VecDeque};

use tautwire_model::network::{self as model, Delay, HostModel, StackPart, Tail};
use tautwire_units::Duration;

use super::interface::Interface;
use crate::clock::SimTime;
use crate::random::Random;

/// A chance of one.
const CERTAIN: u64 = 1_000_000_000_000_000_000;

/// A host.
pub(super) struct Host {
    clock_read: Delay,
    pub(super) threads: Vec<Thread>,
    pub(super) interfaces: Vec<Interface>,
    pub(super) stacks: Vec<Stack>,
    /// Per stream: frames that wait for the thread to send them, for the interface, and for the thread to receive them.
    pub(super) sockets: BTreeMap<u32, [Waiting; 3]>,
    /// Per stream that is sent from here: when the clock has been read for the last of its frames.
    has_read: BTreeMap<u32, SimTime>,
    pub(super) random: Random,
}

/// Octets that wait, each until a known time.
#[derive(Default)]
pub(super) struct Waiting {
    pub(super) held: VecDeque<(SimTime, u64)>,
    pub(super) octets: u64,
}

pub(super) struct Thread {
    pub(super) model: model::ServicingThread,
    pub(super) free_at: SimTime,
}

pub(super) struct Stack {
    pub(super) model: model::ProtocolStack,
    pub(super) sending: Vec<PartState>,
    pub(super) receiving: Vec<PartState>,
}

#[derive(Clone, Copy, Default)]
pub(super) struct PartState {
    pub(super) free_at: SimTime,
    pub(super) last_out: SimTime,
}

impl Host {
    pub(super) fn new(host: &HostModel, mut random: Random) -> Self {
        let stacks = &host.stacks;
        Self {
            clock_read: stacks.clock_read,
            interfaces: stacks.interfaces.iter().map(|model| Interface::new(model, &mut random)).collect(),
            threads: stacks
                .threads
                .iter()
                .map(|model| Thread { model: model.clone(), free_at: SimTime::ZERO })
                .collect(),
            stacks: stacks
                .stacks
                .iter()
                .map(|model| Stack {
                    sending: vec![PartState::default(); model.transmit.len()],
                    receiving: vec![PartState::default(); model.receive.len()],
                    model: model.clone(),
                })
                .collect(),
            sockets: BTreeMap::new(),
            has_read: BTreeMap::new(),
            random,
        }
    }

    /// When an application that creates a frame at `now` has read the clock for it: after the stream's frame before.
    ///
    /// That frame was created no later, so neither is done later than the longest reading after its own creation.
    pub(super) fn read_clock(&mut self, stream: u32, now: SimTime, octets: u64) -> SimTime {
        let at = now + self.read_time(octets);
        let last = self.has_read.entry(stream).or_insert(at);
        *last = at.max(*last);
        *last
    }

    /// How long a reading of the clock takes now.
    pub(super) fn read_time(&mut self, octets: u64) -> Duration {
        self.random.delay(&self.clock_read, octets)
    }

    /// A thread serves a frame that reaches it at `now`: when it begins, and when it is done.
    pub(super) fn serve(&mut self, thread: u32, now: SimTime, octets: u64) -> (SimTime, SimTime) {
        let thread = &mut self.threads[thread as usize];
        let mut start = now.max(thread.free_at);
        if thread.free_at <= now {
            start = start + self.random.delay(&thread.model.wake_up, octets);
            start = start + drawn_tail(&mut self.random, thread.model.tail, octets);
        }
        thread.free_at = start + self.random.delay(&thread.model.service, octets);
        (start, thread.free_at)
    }

    /// A frame passes the parts of a stack on the way out.
    pub(super) fn pass_out(&mut self, stack: u32, time: SimTime, octets: u64) -> SimTime {
        let stack = &mut self.stacks[stack as usize];
        pass(&stack.model.transmit, &mut stack.sending, time, octets, &mut self.random).0
    }

    /// A frame passes the parts of a stack on the way in: when it is out, and when the stack is free.
    pub(super) fn pass_in(&mut self, stack: u32, time: SimTime, octets: u64) -> (SimTime, SimTime) {
        let stack = &mut self.stacks[stack as usize];
        pass(&stack.model.receive, &mut stack.receiving, time, octets, &mut self.random)
    }
}

impl Waiting {
    /// Forgets what no longer waits.
    pub(super) fn settle(&mut self, now: SimTime) {
        while let Some((_, octets)) = self.held.pop_front_if(|(until, _)| *until <= now) {
            self.octets -= octets;
        }
    }

    pub(super) fn hold(&mut self, until: SimTime, octets: u64) {
        self.held.push_back((until, octets));
        self.octets += octets;
    }
}

/// When a frame has passed parts, and when the last of them is free again.
fn pass(
    parts: &[StackPart],
    states: &mut [PartState],
    mut time: SimTime,
    octets: u64,
    random: &mut Random,
) -> (SimTime, SimTime) {
    let mut free = time;
    for (part, state) in parts.iter().zip(states) {
        let start = time.max(state.free_at);
        state.free_at = start + random.delay(&part.occupancy, octets);
        time = (start + random.delay(&part.latency, octets)).max(state.last_out);
        state.last_out = time;
        free = free.max(state.free_at);
    }
    (time, free)
}

pub(super) fn drawn_tail(random: &mut Random, tail: Option<Tail>, octets: u64) -> Duration {
    match tail {
        Some(tail) if random.up_to(CERTAIN - 1) < tail.chance => random.delay(&tail.delay, octets),
        _ => Duration::ZERO,
    }
}
