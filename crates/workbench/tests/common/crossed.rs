//! Reservations that crossed a refusal: why a talker may stop although its stream is offered and requested.
//!
//! A bridge declares to a listener that its stream fails. Before the answer arrives another stream leaves, and the
//! bridge, which still has the earlier ready registered, reserves (IEEE Std 802.1Q-2022, 35.2.4.3): it cannot
//! distinguish it from a newer ready. The answer, asking failed, removes the reservation. Any other existing
//! reservation is never removed.

use tautwire_sim::{Declaration, ReservationObservation, RungEvent};
use tautwire_units::Duration;
use tautwire_workbench::network::{PortIndex, Stream};
use tautwire_workbench::{Bounds, Network, bounds};

/// Whether a stream was taken from all its listeners by a crossing, in the part of its ladder before its talker stops.
pub(crate) fn was_crossed(network: &Network, observed: &ReservationObservation, before: usize) -> bool {
    let bounds = bounds(network);
    let way = Way { network, bounds, stream: &network.streams[observed.stream.index()], observed };
    way.lost(0, before) == Some(true)
}

struct Way<'a> {
    network: &'a Network,
    bounds: Bounds,
    stream: &'a Stream,
    observed: &'a ReservationObservation,
}

impl Way<'_> {
    /// Whether what was reserved behind a hop was taken back by crossings alone; none if nothing was reserved there.
    fn lost(&self, hop: usize, before: usize) -> Option<bool> {
        let next = (0..self.stream.hops.len())
            .filter(|next| self.stream.hops[*next].previous.is_some_and(|of| of as usize == hop));
        let mut all = None;
        for next in next {
            let port = self.stream.hops[next].port;
            let Some(reserved) = self.last(before, |event| event == RungEvent::Reserved(port)) else {
                continue;
            };
            let released = self.last(before, |event| event == RungEvent::Released(port));
            let lost = released.filter(|released| *released > reserved).is_some_and(|released| {
                self.crossed(port, reserved, released) || self.lost(next, released) == Some(true)
            });
            all = Some(all.unwrap_or(true) && lost);
        }
        all
    }

    /// The last declaration of the talker at a port, before it released the reservation, is a refusal from before the
    /// reservation, and the listeners behind it answered that.
    fn crossed(&self, port: PortIndex, reserved: usize, released: usize) -> bool {
        let talks = |event| matches!(event, RungEvent::Sent(of, declaration) if of == port && declaration.is_talker());
        let Some(refused) = self.last(released, talks) else { return false };
        let ladder = &self.observed.ladder;
        let failed = matches!(ladder[refused].event, RungEvent::Sent(_, Declaration::TalkerFailed(_)));
        let asking_failed = RungEvent::Received(port, Declaration::ListenerAskingFailed);
        let answered = self.last(released, |event| event == asking_failed).is_some_and(|at| at > refused);
        // It waits at the port for as long as an MRPDU may.
        let composed_by = self.pdu_delay(port).map(|waits| ladder[reserved].at + waits);
        failed && answered && composed_by.is_some_and(|latest| ladder[refused].at <= latest)
    }

    fn last(&self, before: usize, is: impl Fn(RungEvent) -> bool) -> Option<usize> {
        self.observed.ladder[..before].iter().rposition(|rung| is(rung.event))
    }

    fn pdu_delay(&self, port: PortIndex) -> Option<Duration> {
        let pdus = self.network.srp.as_ref()?.pdus[port.index()]?;
        self.bounds.streams[pdus.index()].hops[0].delay.as_ref().ok().copied()
    }
}
