//! Requests of the applications of a run, in order of time.

use tautwire_model::Network;
use tautwire_model::network::NodeIndex;
use tautwire_units::Duration;

use super::reservation::RungEvent;
use crate::clock::SimTime;
use crate::plan::index;

/// The request of an application.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    at: SimTime,
    pub(crate) node: NodeIndex,
    /// The reserved stream.
    pub(crate) stream: u32,
    pub(crate) event: RungEvent,
}

/// All requests of a run.
pub(crate) struct Requests {
    all: Vec<Request>,
    /// How many of them are done.
    done: usize,
}

impl Requests {
    /// Those of a description with stream reservation.
    pub(super) fn new(network: &Network) -> Self {
        let reservation = network.srp.as_ref().expect("stream reservation");
        let mut all = Vec::new();
        for (number, reserved) in reservation.streams.iter().enumerate() {
            let stream = &network.streams[reserved.stream.index()];
            let mut ask = |at: Option<Duration>, node: NodeIndex, event: RungEvent| {
                let at = at.map(|at| SimTime::ZERO + at);
                all.extend(at.map(|at| Request { at, node, stream: index(number), event }));
            };
            ask(Some(reserved.advertise_at), stream.talker, RungEvent::Offered);
            ask(reserved.withdraw_at, stream.talker, RungEvent::Withdrawn);
            for ((listener, from), until) in
                stream.listeners.iter().zip(&reserved.attach_at).zip(&reserved.detach_at)
            {
                ask(Some(*from), *listener, RungEvent::Asked);
                ask(*until, *listener, RungEvent::Detached);
            }
        }
        all.sort_by_key(|request| request.at);
        Self { all, done: 0 }
    }

    /// When the next one is due, and where.
    pub(crate) fn next(&self) -> Option<(SimTime, NodeIndex)> {
        self.all.get(self.done).map(|request| (request.at, request.node))
    }

    /// The next one, which is done from now on.
    pub(crate) fn take(&mut self) -> Request {
        self.done += 1;
        self.all[self.done - 1]
    }

    /// Those of a node that are done.
    pub(crate) fn done_at(&self, node: NodeIndex) -> Vec<Request> {
        self.all[..self.done].iter().filter(|request| request.node == node).copied().collect()
    }
}
