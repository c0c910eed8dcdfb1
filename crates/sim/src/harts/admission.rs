//! Central admission in a run: requests of applications, effects of entities' completed work, tests.
//!
//! The recipient of a control message takes time to process it, one message after the other; the ACMaster's test is
//! such work too, and the caller gives its result ([`Options`](crate::Options)). Invariant: a talker sends nothing of
//! a stream that it was not granted. Not here: the resources at a switch's ports (`configured.rs`).

use std::collections::BTreeSet;

use tautwire_core::harts::{Came, Happened, RequestState, Station};
use tautwire_model::network::{NodeIndex, StreamIndex};
use tautwire_model::test_growth::TestGrowth;
use tautwire_wire::harts::{FttMessage, FttStream};

use super::Run;
use super::entities::{OCTETS, Work, delay_of};
use super::observed::{AdmissionEvent, AdmissionRung};
use super::stations::{MASTER, short};
use crate::clock::SimTime;
use crate::control::Plane;
use crate::options::StreamPart;
use crate::plan::NONE;
use crate::refusal::{Limit, Refusal};

/// An action of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asking {
    Request,
    Release,
}

impl Run<'_> {
    pub(super) fn rung(&mut self, at: SimTime, node: NodeIndex, stream: u32, event: AdmissionEvent) {
        let stream = StreamIndex(stream);
        self.ladder.push(AdmissionRung { at: at.since_start(), node, stream, event });
    }

    /// Notes that a message leaves its node, or has come to the one that it is for.
    fn note(&mut self, at: SimTime, (from, to): (u16, u16), message: &FttMessage, leaves: bool) {
        let Some((stream, message)) = about(message) else { return };
        let node_of = |id| self.entities.node_of(id).map(NodeIndex);
        let (Some(from), Some(to)) = (node_of(from), node_of(to)) else { return };
        if to == from {
            return;
        }
        let (node, event) = if leaves {
            (from, AdmissionEvent::Sent { message, to })
        } else {
            (to, AdmissionEvent::Received { message, from })
        };
        self.rung(at, node, u32::from(stream), event);
    }

    /// Takes what has come for entities of a node.
    pub(super) fn take_arrived(&mut self, node: NodeIndex, station: &mut Station, now: SimTime) {
        while let Some(Came { to, from, message }) = station.take_arrived() {
            if let FttMessage::Trigger { .. } = message {
                self.decode(node, message, now);
                continue;
            }
            self.note(now, (from, to), &message, false);
            self.entities.arrive(to, message);
            self.begin(to, station, now);
        }
    }

    fn begin(&mut self, id: u16, station: &Station, now: SimTime) {
        let Some(settings) = &self.harts.admission else { return };
        let (random, links) = (&mut self.admission_delays, &self.links);
        let standing = self.standing_links;
        self.entities.begin(id, now, |work| {
            let per_mille = match work {
                Work::Test(stream, _) => {
                    let tested = looked_at(station, id, stream, links);
                    settings.test_growth.per_mille(standing + tested)
                }
                Work::Message(_) => 1_000,
            };
            let delay = delay_of(settings, id >= MASTER, station.switch.is_some(), work);
            TestGrowth::scaled(random.delay(delay, OCTETS), per_mille)
        });
    }

    /// An application sends a request, or a release.
    pub(super) fn ask(&mut self, station: Option<&mut Station>, plane: &mut dyn Plane) {
        let Some((_, node, stream, asking)) = self.agenda.get(self.asked).copied() else { return };
        self.asked += 1;
        let (now, local) = (plane.now(), plane.reading(node, plane.now()));
        let Some(machine) = station.and_then(|station| station.node.as_mut()) else { return };
        match asking {
            Asking::Request => {
                let asked =
                    self.network.harts_request(stream).expect("what is asked for is reserved or synchronous");
                machine.request(local, asked);
                self.rung(now, node, stream.0, AdmissionEvent::Asked);
                let request = self.requests.iter_mut().find(|request| {
                    request.stream == stream && request.node == node && request.asked_at.is_none()
                });
                if let Some(request) = request {
                    request.asked_at = Some(now.since_start());
                }
            }
            Asking::Release => {
                machine.release(local, short(stream.index()));
                if self.network.streams[stream.index()].talker == node {
                    plane.stop_stream(stream);
                }
                self.rung(now, node, stream.0, AdmissionEvent::Released);
            }
        }
    }

    /// Entities of a node that are through with what they worked at.
    pub(super) fn finish_work(&mut self, node: NodeIndex, station: &mut Station, plane: &mut dyn Plane) {
        let now = plane.now();
        let local = plane.reading(node, now);
        while let Some((id, work)) = self.entities.take_done(node.0, now) {
            match work {
                Work::Test(stream, consumer) => self.test(id, (node, station), (stream, consumer), plane),
                Work::Message(message) if id < MASTER && station.switch.is_some() => {
                    station.process(local, id, &message);
                    if let FttMessage::Config { stream, .. } = &message {
                        self.configured(node, stream.id, station, plane);
                    }
                }
                Work::Message(message) if id < MASTER => self.answered(node, station, &message, plane),
                Work::Message(message) => station.process(local, id, &message),
            }
            // Tests that it wants come before what waits.
            station.collect_messages();
            self.heed_events(node, station, plane);
            self.take_arrived(node, station, now);
            self.begin(id, station, now);
        }
    }

    /// The ACMaster's test of a stream ends: the stream is tested together with those that passed before.
    fn test(
        &mut self,
        id: u16,
        (node, station): (NodeIndex, &mut Station),
        (stream, consumer): (FttStream, u16),
        plane: &dyn Plane,
    ) {
        let (now, network) = (plane.now(), self.network);
        let Some(master) = station.acmaster(id) else { return };
        let new = StreamIndex(u32::from(stream.id));
        let mut admitted = master.admitted();
        let node_of = |consumer: u16| NodeIndex(u32::from(consumer));
        let part = |consumers: &BTreeSet<u16>| consumers.iter().copied().map(node_of).collect();
        let mut listeners: Vec<NodeIndex> =
            admitted.remove(&stream.id).as_ref().map(part).unwrap_or_default();
        let listener = node_of(consumer);
        listeners.push(listener);
        // Streams that exist from the start have their servers whatever is admitted.
        let standing = network.reserved_from_the_start();
        let standing = standing.map(|stream| (stream, network.streams[stream.index()].listeners.clone()));
        let others = admitted.iter().map(|(id, consumers)| (StreamIndex(u32::from(*id)), part(consumers)));
        let others: Vec<StreamPart> = standing.chain(others).collect();
        let result = self.harts_test.map_or(Ok(()), |test| test(network, &(new, listeners), &others));
        *self.tests.entry(id).or_default() += 1;
        let verdict = result.map_err(|late| short(late.stream.index()));
        station.tested(plane.reading(node, now), id, stream.id, verdict);
        self.rung(now, node, new.0, AdmissionEvent::Tested { passed: result.is_ok() });
        self.refusals.extend(result.err().map(|late| Refusal {
            at: now.since_start(),
            node,
            stream: new,
            listener,
            limit: Limit::Late(late),
        }));
    }

    /// A node has an answer: its talker begins, or knows why not.
    fn answered(
        &mut self,
        node: NodeIndex,
        station: &mut Station,
        message: &FttMessage,
        plane: &mut dyn Plane,
    ) {
        let now = plane.now();
        let me = short(node.index());
        let (id, subject) = match message {
            FttMessage::Ack { stream, subject, .. } => (*stream, *subject),
            FttMessage::Pause { stream, .. } => (*stream, *stream),
            // That a stream is removed, or that a consumer requests it.
            _ => return station.process(plane.reading(node, now), me, message),
        };
        let stream = StreamIndex(u32::from(id));
        let state_of = |station: &Station| station.node.as_ref().and_then(|node| node.state(id));
        let before = state_of(station);
        station.process(plane.reading(node, now), me, message);
        let Some(state) = state_of(station).filter(|state| before != Some(*state)) else { return };
        let cut = match state {
            RequestState::Offered => {
                plane.stop_stream(stream);
                return self.rung(now, node, stream.0, AdmissionEvent::Paused);
            }
            RequestState::Asked => return,
            RequestState::Cut(link) => Some(link.map(|node| NodeIndex(u32::from(node)))),
            RequestState::Granted | RequestState::Refused(_) => None,
        };
        if cut.is_some() && self.network.streams[stream.index()].talker == node {
            plane.stop_stream(stream);
        }
        let granted = state == RequestState::Granted;
        let mut requests = self.requests.iter_mut();
        let Some(request) = requests.find(|request| request.stream == stream && request.node == node) else {
            return;
        };
        request.answers += 1;
        request.granted = granted;
        request.answered_at.get_or_insert(now.since_start());
        request.subject = (!granted && cut.is_none()).then_some(StreamIndex(u32::from(subject)));
        request.cut = cut;
        let produces = request.is_talker;
        let event = match (granted, cut) {
            (true, _) => AdmissionEvent::Acknowledged,
            (_, Some(_)) => AdmissionEvent::CutOff,
            _ => AdmissionEvent::Refused,
        };
        self.rung(now, node, stream.0, event);
        if granted && produces && !plane.is_sending(stream) {
            plane.start_stream(stream, None);
        }
    }

    /// Notes what has happened in a node, and does what follows.
    pub(super) fn heed_events(&mut self, node: NodeIndex, station: &mut Station, plane: &mut dyn Plane) {
        let now = plane.now();
        while let Some(happened) = station.take_happened() {
            match happened {
                Happened::Opened(opened) => self.opened(node, station, opened, plane),
                Happened::Polled(master, cycle, polled) => {
                    self.polled(node, (master, cycle), &polled, plane);
                }
                Happened::Sent { from, to, message } => self.note(now, (from, to), &message, true),
                Happened::Link(neighbour, up) => {
                    let to = NodeIndex(u32::from(neighbour));
                    self.rung(now, node, NONE, AdmissionEvent::Link { up, to });
                }
                Happened::TookOver => self.rung(now, node, NONE, AdmissionEvent::TookOver),
                Happened::Test(id, stream, consumer) => {
                    self.entities.test(id, stream, consumer);
                    self.begin(id, station, now);
                }
            }
        }
    }
}

/// Links of the streams that an ACMaster's test looks at: of the new one, and of those that it has admitted.
fn looked_at(station: &Station, id: u16, new: &FttStream, links: &[u64]) -> u64 {
    let of = |stream: u16| links.get(usize::from(stream)).copied().unwrap_or(0);
    let admitted = station.acmaster(id).map(|master| master.admitted());
    let others = admitted.into_iter().flatten().map(|(stream, _)| stream).filter(|stream| *stream != new.id);
    of(new.id) + others.map(of).sum::<u64>()
}

/// The stream that a control message is about, and its content.
fn about(message: &FttMessage) -> Option<(u16, &'static str)> {
    let either = |is: &bool, one, other| if *is { one } else { other };
    match message {
        FttMessage::Trigger { .. }
        | FttMessage::Alive { .. }
        | FttMessage::Recall { .. }
        | FttMessage::Survey { .. }
        | FttMessage::Surveyed { .. }
        | FttMessage::Link { .. }
        | FttMessage::Linked { .. }
        | FttMessage::Complete { .. } => None,
        FttMessage::Record { stream, .. } => Some((stream.id, "record")),
        FttMessage::Carries { stream, .. } => Some((stream.id, "carries")),
        FttMessage::Add { stream, .. } => Some((stream.id, "add")),
        FttMessage::Invite { stream } => Some((*stream, "invite")),
        FttMessage::Pause { stream, cut, .. } => Some((*stream, either(&cut.is_some(), "cut off", "pause"))),
        FttMessage::Broken { stream, .. } => Some((stream.id, "broken")),
        FttMessage::Unable { stream, .. } => Some((*stream, "unable")),
        FttMessage::Paused { stream, .. } => Some((*stream, "paused")),
        FttMessage::Remove { stream, .. } => Some((*stream, "remove")),
        FttMessage::Config { stream, between, .. } => {
            Some((stream.id, either(&between.is_some(), "config", "config gone")))
        }
        FttMessage::Reply { stream, installed, .. } => {
            Some((*stream, either(installed, "reply", "reply gone")))
        }
        FttMessage::Ack { stream, granted, .. } => Some((*stream, either(granted, "ack", "refusal"))),
        FttMessage::Replicate { stream, installed, .. } => {
            Some((stream.id, either(installed, "replicate", "replicate gone")))
        }
        FttMessage::Replicated { stream, installed, .. } => {
            Some((*stream, either(installed, "replicated", "replicated gone")))
        }
    }
}
