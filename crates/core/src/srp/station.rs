//! An end station of MSRP: talks, listens, or both (IEEE Std 802.1Q-2022, 35.2.3).
//!
//! A listener requests a stream whether or not a talker has offered it: without an offer, with a failed one or with
//! one that is too late it declares asking failed.

use alloc::collections::BTreeMap;

use tautwire_units::Instant;
use tautwire_wire::srp::{FailureCode, ListenerDeclaration, MrpPdu, MsrpValue, StreamId, TalkerValue};

use super::class::SrClass;
use super::mrp::{MrpTiming, Participant};
use super::talkers::{Declarations, Talkers, declare};

/// The state of a stream for its listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Offer {
    /// No talker is known.
    None,
    /// It can be had, with this latency in nanoseconds.
    Advertised(u32),
    /// It can be had, but comes later than the listener allows.
    Late(u32),
    /// It cannot be had.
    Failed(FailureCode),
}

/// An end station.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SrpStation {
    participant: Participant<MsrpValue>,
    domains: Declarations,
    talks: BTreeMap<StreamId, TalkerValue>,
    /// Streams that it wants, with the latest that they may come, in nanoseconds.
    wants: BTreeMap<StreamId, u32>,
    talkers: Talkers,
}

impl SrpStation {
    /// A station of these classes that begins at `now`.
    #[must_use]
    pub fn new(timing: MrpTiming, seed: u64, classes: &[SrClass], now: Instant) -> Self {
        let domains = classes.iter().map(|class| (MsrpValue::Domain(class.domain), None)).collect();
        let participant = Participant::new(timing, seed, now);
        let mut station = Self {
            participant,
            domains,
            talks: BTreeMap::new(),
            wants: BTreeMap::new(),
            talkers: Talkers::default(),
        };
        station.settle(now);
        station
    }

    /// Offers a stream. Other figures than before are declared in place of them.
    pub fn advertise(&mut self, now: Instant, talker: TalkerValue) {
        self.talks.insert(talker.stream, talker);
        self.settle(now);
    }

    /// Offers a stream no more.
    pub fn withdraw(&mut self, now: Instant, stream: StreamId) {
        self.talks.remove(&stream);
        self.settle(now);
    }

    /// Wants a stream that comes at most `latency_max_ns` after it was sent.
    pub fn attach(&mut self, now: Instant, stream: StreamId, latency_max_ns: u32) {
        self.wants.insert(stream, latency_max_ns);
        self.settle(now);
    }

    /// Wants a stream no more.
    pub fn detach(&mut self, now: Instant, stream: StreamId) {
        self.wants.remove(&stream);
        self.settle(now);
    }

    /// An MRPDU comes in; gives whether a registration changed.
    pub fn receive(&mut self, now: Instant, pdu: &MrpPdu<MsrpValue>) -> bool {
        self.participant.receive(now, pdu);
        self.hear(now)
    }

    /// Lets time pass; gives whether a registration changed.
    pub fn advance(&mut self, now: Instant) -> bool {
        self.participant.advance(now);
        self.hear(now)
    }

    /// The link goes down: all that was registered is forgotten.
    pub fn link_down(&mut self, now: Instant) -> bool {
        self.participant.flush(now);
        self.hear(now)
    }

    /// The link is up again: all is declared anew.
    pub fn link_up(&mut self, now: Instant) {
        self.participant.redeclare(now);
    }

    /// The MRPDU that the station sends at `now`.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<MrpPdu<MsrpValue>> {
        self.participant.poll_transmit(now)
    }

    /// When something is to be done next.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.participant.deadline()
    }

    /// The merged declaration of a stream's listeners, for its talker: it may send at ready and ready failed.
    #[must_use]
    pub fn listeners(&self, stream: StreamId) -> Option<ListenerDeclaration> {
        self.talks.get(&stream)?;
        self.participant.registration(&MsrpValue::Listener(stream)).flatten()
    }

    /// The state of a stream, for its listener.
    #[must_use]
    pub fn offer(&self, stream: StreamId) -> Offer {
        let Some(registration) = self.talkers.get(&stream) else { return Offer::None };
        let latency = registration.talker.accumulated_latency_ns;
        match (registration.failure, self.wants.get(&stream)) {
            (Some(failure), _) => Offer::Failed(failure.code),
            (None, Some(max)) if latency > *max => Offer::Late(latency),
            (None, _) => Offer::Advertised(latency),
        }
    }

    fn hear(&mut self, now: Instant) -> bool {
        let changed = self.talkers.hear(&mut self.participant, |_| ());
        if changed {
            self.settle(now);
        }
        changed
    }

    fn settle(&mut self, now: Instant) {
        let mut wanted = self.domains.clone();
        wanted.extend(self.talks.values().map(|talker| (MsrpValue::TalkerAdvertise(*talker), None)));
        for stream in self.wants.keys() {
            let declaration = match self.offer(*stream) {
                Offer::Advertised(_) => ListenerDeclaration::Ready,
                Offer::None | Offer::Late(_) | Offer::Failed(_) => ListenerDeclaration::AskingFailed,
            };
            wanted.insert(MsrpValue::Listener(*stream), Some(declaration));
        }
        declare(&mut self.participant, now, &wanted);
    }
}
