//! The backlog before a talker's port, and the frames that shapers and policers may discard by design.
//!
//! A frame is in its host's queue from its creation until the host hands it to the port; with a talker's own shaper
//! until that releases it. A shaper discards frames that do not fit into its bucket or would stay too long, a policer
//! those that come with more jitter than it allows. Not here: hosts with protocol stacks, messages of virtual links
//! (`newest.rs`).

use tautwire_model::network::{NodeIndex, PortIndex, StreamIndex};

use super::queues::frames_of;
use super::{Limit, LimitKind, LimitPlace, Overflow, Whose};
use crate::analysis::Analysis;
use crate::plan::{NONE, index};
use crate::unbounded::Unbounded;

/// Picoseconds of jitter that the policer of virtual links behind a reception port grants.
const POLICED_JITTER: LimitKind = LimitKind::new("policed-jitter", "ps", "policing at {place}, jitter");

impl Analysis<'_> {
    /// Limits before the ports of talkers, and of shapers and policers, that may be too small.
    pub(super) fn host_overflows(&self, found: &mut Vec<Overflow>) {
        if !self.plan.services.iter().any(|service| service.hosts().is_some()) {
            for node in 0..index(self.plan.network.nodes.len()) {
                self.host_overflow(node, found);
            }
            super::sending_overflows(self.plan.network, self.plan.sendings(), found);
        }
        for port in 0..index(self.plan.ports.len()) {
            self.discards(port, found);
        }
    }

    /// The queue of a host without stacks.
    pub(crate) fn host_overflow(&self, node: u32, found: &mut Vec<Overflow>) {
        let at = NodeIndex(node);
        let Some(host) = self.plan.network.host(at).filter(|host| host.stacks.stacks.is_empty()) else {
            return;
        };
        let limit = u64::from(host.queue_limit);
        let mut needed = Some(0_u64);
        for stream in self.plan.talks(node) {
            if self.plan.stream(*stream).traffic.is_control() {
                continue;
            }
            let frames = self.in_host(*stream);
            needed = needed.zip(frames).map(|(sum, frames)| sum.saturating_add(frames));
        }
        if needed.is_none_or(|needed| needed > limit) {
            let limit = Limit { kind: LimitKind::HOST_QUEUE, at: LimitPlace::Node(at), limit, needed };
            found.push(Overflow { whose: Whose::Talker(at), limit });
        }
    }

    /// Most frames of a stream between its application and its port.
    fn in_host(&self, stream: u32) -> Option<u64> {
        let Some(number) = self.plan.entries_of(stream).next() else { return Some(0) };
        let entry = &self.plan.entries[number as usize];
        let shaped = self.plan.talker_shapers[stream as usize].is_some();
        let most = if shaped { self.arrivals[number as usize].ready_max } else { Some(entry.own_latency.1) };
        // What passes at once is in no queue; but it is not taken if the queue is full.
        if most == Some(0) {
            return Some(1);
        }
        let promise = entry.promise?;
        let promise = promise.after_jitter(promise.rate, entry.talker_slack);
        Some(frames_of(promise, most?, entry.wire_min()))
    }

    /// Limits that may discard frames on their way to the queues of a port.
    pub(crate) fn discards(&self, port: u32, found: &mut Vec<Overflow>) {
        for number in self.plan.at_port(port) {
            if self.plan.carried(*number).is_none() {
                self.discards_of(*number, found);
            }
        }
    }

    /// What may discard frames of an entry on their way to its queue.
    fn discards_of(&self, number: u32, found: &mut Vec<Overflow>) {
        let (entry, arriving) = (&self.plan.entries[number as usize], &self.arrivals[number as usize]);
        let place = number - self.plan.first_entry[entry.stream as usize];
        let stream = StreamIndex(entry.stream);
        let mut hold = |whose, (kind, at), limit, needed| {
            found.push(Overflow { whose, limit: Limit { kind, at, limit, needed } });
        };
        if entry.previous == NONE {
            self.link_queue(stream, &mut hold);
        }
        if arriving.policed.is_some()
            && let Some((granted, jitter)) = self.policed_jitter(number, entry)
        {
            let at = LimitPlace::Port(PortIndex(entry.reception));
            hold(Whose::Hop(stream, place), (POLICED_JITTER, at), granted, jitter);
        }
        for limit in self.filter_limits(entry) {
            hold(Whose::Hop(stream, place), (limit.kind, limit.at), limit.limit, limit.needed);
        }
        let port = PortIndex(entry.port);
        if self.reasons.get(arriving.reason) != Some(Unbounded::MayBeDiscarded { port }) {
            return;
        }
        let (whose, at) = (Whose::Hop(stream, place), LimitPlace::Port(port));
        let (burst, charged) = if arriving.scheduled {
            let node = self.plan.network.ports[entry.port as usize].node;
            let ats = &self.plan.network.device(node).expect("only bridges have schedulers").ats;
            let frame = self.plan.entries[entry.previous as usize].frame_max;
            let burst = self.plan.schedulers[entry.scheduler as usize].burst_min;
            (burst, (frame + ats.charged_overhead).bits().get())
        } else if let Some(range) = self.plan.talker_shapers[entry.stream as usize] {
            (range.burst_min, entry.wire_max())
        } else {
            return;
        };
        if charged > burst {
            return hold(whose, (LimitKind::SHAPER_BURST, at), burst, Some(charged));
        }
        if let Some((residence, staying)) = self.residence_of(entry) {
            hold(whose, (LimitKind::RESIDENCE_TIME, at), residence, staying);
        }
    }

    /// MaxResidenceTime of an entry's group, and how long its frames may stay.
    fn residence_of(&self, entry: &crate::plan::Entry) -> Option<(u64, Option<u64>)> {
        let residence = self.plan.groups.get(entry.group as usize)?.residence_max?;
        Some((residence, self.staying_max(entry)))
    }
}
