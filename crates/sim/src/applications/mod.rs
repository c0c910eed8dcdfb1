//! Applications of end stations that react to received frames: they reassemble datagrams, and answer requests.
//!
//! A host without stacks has one step between its port and the application, if that takes time. An answer is created a
//! turn-around after the complete request has come; its delay counts from the request's creation. Not here: stacks of
//! hosts (`host_stacks/`), applications that send by themselves (`talker.rs`).

mod datagrams;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, Traffic};

use crate::clock::SimTime;
use crate::engine::Engine;
use crate::frame::{Slot, octets_of};
use crate::plan::index;
use crate::random::{Purpose, Random};
use crate::recorder::Recorder;
use crate::result::Observation;
use datagrams::Datagrams;

/// What applications of a run have received.
pub(crate) struct Applications {
    /// Per stream: the streams that answer it.
    answers: Vec<Vec<u32>>,
    /// Answers to come: when, of which stream, since when their requests are under way, and their numbers.
    due: BinaryHeap<Reverse<(SimTime, u32, SimTime, u32)>>,
    /// Draws of the delays of hosts without stacks for requests, and for streams without answers.
    requests: Random,
    receptions: Random,
    datagrams: Datagrams,
}

impl Applications {
    pub(crate) fn new(network: &Network, seed: u64) -> Self {
        let mut answers = vec![Vec::new(); network.streams.len()];
        for (number, stream) in network.streams.iter().enumerate() {
            if let Traffic::Response { to, .. } = stream.traffic {
                answers[to.index()].push(index(number));
            }
        }
        Self {
            answers,
            due: BinaryHeap::new(),
            requests: Random::new(seed, Purpose::Driven, 0),
            receptions: Random::new(seed, Purpose::Reception, 0),
            datagrams: Datagrams::new(network),
        }
    }

    /// When an answer is due next.
    pub(crate) fn next(&self) -> Option<SimTime> {
        self.due.peek().map(|Reverse((time, ..))| *time)
    }

    /// A node has failed: what was put together there is forgotten.
    pub(crate) fn forget(&mut self, node: usize) {
        self.datagrams.forget(node);
    }

    /// Puts what was observed to the rest.
    pub(crate) fn finish(self, network: &Network, observation: &mut Observation) {
        self.datagrams.finish(network, observation);
    }
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Engine<'_, R, PLUGGED> {
    fn applications(&mut self) -> &mut Applications {
        &mut self.plugged().applications
    }

    /// Applications answer that have to now.
    pub(crate) fn answer_due(&mut self) {
        let now = self.now;
        while let Some(Reverse((_, stream, since, request))) =
            self.applications().due.peek().copied().filter(|Reverse((time, ..))| *time <= now)
        {
            self.applications().due.pop();
            let running = self.talkers[stream as usize].running;
            self.recorder.answering(stream, request, running);
            if running {
                self.create_next(stream, since);
            }
            self.drive_stacks();
        }
    }

    /// The application of a listener without stacks takes a frame that the port received.
    pub(crate) fn take_into_application(
        &mut self,
        slot: &Slot,
        node: NodeIndex,
        listener: u32,
        time: SimTime,
    ) {
        let network = self.network;
        let is_complete = self.reassemble(slot.stream, listener, slot.number, slot.created, time);
        let overhead = self.plan.hops[slot.hop as usize].overhead;
        let applications = self.applications();
        let mut answers = applications.answers[slot.stream as usize].iter();
        let is_answered =
            is_complete && answers.any(|answer| network.streams[*answer as usize].talker == node);
        if let Some(receive) = network.reception(node) {
            let octets = u64::from(octets_of(slot.payload, overhead).get());
            let random = if is_answered { &mut applications.requests } else { &mut applications.receptions };
            let at = time + random.delay(receive, octets);
            self.take_from_port(slot, (node, listener), at, is_answered);
            self.arm_timeline();
        } else if is_answered {
            self.answer(slot.stream, node, slot.created, slot.number);
            self.arm_timeline();
        }
    }

    /// An application has received a frame, or the last one of a datagram, that was created at `created`.
    pub(crate) fn answer(&mut self, stream: u32, node: NodeIndex, created: SimTime, number: u32) {
        let (network, now) = (self.network, self.now);
        let applications = self.applications();
        for answer in &applications.answers[stream as usize] {
            let answering = &network.streams[*answer as usize];
            let Traffic::Response { turn_around, .. } = answering.traffic else { continue };
            if answering.talker == node {
                applications.due.push(Reverse((now + turn_around, *answer, created, number)));
            }
        }
    }
}
