//! A CNC that tests bounds, in a run: a session of bounds that knows which reserved streams are admitted.

use std::collections::BTreeSet;

use tautwire_admission::{RefusalReason, may_be_lost, missed, wanted};
use tautwire_analysis::Session;
use tautwire_model::Network;
use tautwire_model::central::CentralTest;
use tautwire_model::network::{Stream, StreamIndex};
use tautwire_sim::{AdmissionControl, Late, Options};
use tautwire_units::Duration;

use crate::late::late;

/// Gives a run what its CNC tests with, if it tests bounds.
pub(crate) fn give_admission(network: &Network, options: &mut Options<'_>) {
    let central = network.srp.as_ref().and_then(|reservation| reservation.central.as_ref());
    if central.is_some_and(|central| central.test == CentralTest::Bounds) && options.admission.is_none() {
        options.admission = Some(Box::new(Bounded::new(network.clone())));
    }
}

/// Which reserved streams are admitted, as a network of which the session is made anew for every decision.
struct Bounded {
    network: Network,
    admitted: Vec<StreamIndex>,
    /// Streams that run whatever is reserved.
    always: Vec<StreamIndex>,
    /// Those of them whose deadlines hold while nothing is reserved: a stream that is late anyway causes no refusal.
    protected: Vec<StreamIndex>,
    /// Those of them of which frames may be lost while nothing is reserved: they cause no refusal, either.
    lossy: BTreeSet<StreamIndex>,
}

impl Bounded {
    fn new(network: Network) -> Self {
        let reserved = &network.srp.as_ref().expect("stream reservation").streams;
        let reserved: Vec<StreamIndex> = reserved.iter().map(|reserved| reserved.stream).collect();
        let always = (0..network.streams.len()).map(StreamIndex::at);
        let always: Vec<StreamIndex> = always.filter(|stream| !reserved.contains(stream)).collect();
        let mut session = Session::new(&network);
        session.start_all(&always);
        // Frames of protocols follow their standards, and have no requests.
        let asks = |index: &StreamIndex| {
            let stream = &network.streams[index.index()];
            stream.deadline.is_some() && !stream.traffic.is_control()
        };
        let protected: Vec<StreamIndex> = always.iter().copied().filter(asks).collect();
        let protected: Vec<StreamIndex> =
            protected.into_iter().filter(|stream| holds(&network, &mut session, *stream)).collect();
        let mut lossy = BTreeSet::new();
        while let Some((stream, ..)) =
            session.may_be_lost(|one| asks_of(&network, one, protected.iter(), &lossy))
        {
            lossy.insert(stream);
        }
        drop(session);
        Self { network, admitted: Vec::new(), always, protected, lossy }
    }

    /// What would be late or may be lost if a stream joined, if something would; a reserved stream without a deadline must be bounded.
    fn refuse(&self, new: StreamIndex) -> Option<RefusalReason> {
        let network = &self.network;
        let mut session = Session::new(network);
        let all: Vec<StreamIndex> = self.always.iter().chain(&self.admitted).copied().chain([new]).collect();
        session.start_all(&all);
        let asks = || self.protected.iter().chain(&self.admitted).chain([&new]);
        let Some(late) = asks().find(|stream| !holds(network, &mut session, **stream)).copied() else {
            let found = session.may_be_lost(|one| asks_of(network, one, asks(), &self.lossy));
            let (stream, listener, limit) = found?;
            return Some(may_be_lost(network, &network.streams[stream.index()], listener, &limit));
        };
        let with = session.stream(late);
        let without = (late != new).then(|| {
            session.stop(new);
            session.stream(late)
        });
        let stream = &network.streams[late.index()];
        let bounded = Duration::from_ps(u64::MAX);
        missed(network, stream, stream.deadline.unwrap_or(bounded), &with, without.as_ref())
    }
}

/// Whether a stream is one of those with a deadline, and of which no frame is lost anyway.
fn asks_of<'a>(
    network: &Network,
    stream: &Stream,
    mut all: impl Iterator<Item = &'a StreamIndex>,
    lossy: &BTreeSet<StreamIndex>,
) -> bool {
    let is_it = |index: &StreamIndex| network.streams[index.index()].name == stream.name;
    wanted(stream).is_some() && all.any(|index| is_it(index) && !lossy.contains(index))
}

/// Whether the deadline of a stream holds, or it has none and is bounded.
fn holds(network: &Network, session: &mut Session<'_>, index: StreamIndex) -> bool {
    let most = session.delay_max(index);
    most.is_some_and(|most| network.streams[index.index()].deadline.is_none_or(|deadline| most <= deadline))
}

impl AdmissionControl for Bounded {
    fn admit(&mut self, stream: StreamIndex) -> Result<(), Late> {
        if let Some(reason) = self.refuse(stream) {
            let asked_by = self.network.streams[stream.index()].listeners[0];
            return Err(late(&self.network, &reason, stream, asked_by));
        }
        self.admitted.push(stream);
        Ok(())
    }

    fn release(&mut self, stream: StreamIndex) {
        self.admitted.retain(|admitted| *admitted != stream);
    }
}
