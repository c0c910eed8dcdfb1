//! What the applications of a run ask for, in order of time.

use tautwire_model::Network;
use tautwire_model::network::NodeIndex;
use tautwire_units::Duration;

use crate::clock::SimTime;
use crate::plan::index;
use crate::reservation::RungEvent;

/// What an application asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) at: SimTime,
    pub(super) node: u32,
    /// The reserved stream.
    pub(super) stream: u32,
    pub(super) event: RungEvent,
}

/// All requests of a description with stream reservation.
pub(super) fn requests(network: &Network) -> Vec<Request> {
    let reservation = network.srp.as_ref().expect("stream reservation");
    let mut requests = Vec::new();
    for (number, reserved) in reservation.streams.iter().enumerate() {
        let stream = &network.streams[reserved.stream.index()];
        let mut ask = |at: Option<Duration>, node: NodeIndex, event: RungEvent| {
            let at = at.map(|at| SimTime::ZERO + at);
            requests.extend(at.map(|at| Request { at, node: node.0, stream: index(number), event }));
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
    requests.sort_by_key(|request| request.at);
    requests
}
