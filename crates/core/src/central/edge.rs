//! An edge bridge of a centrally configured network whose users speak MSRP: it forwards what users declare to the CNC,
//! declares what the CNC decides, and decides nothing itself. Ports to other bridges take no part.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use tautwire_units::Instant;
use tautwire_wire::srp::{FailureInformation, ListenerDeclaration, MrpPdu, MsrpValue, StreamId, TalkerValue};

use crate::srp::SrClass;
use crate::srp::mrp::{MrpTiming, Notice, Participant};

/// What a user declares by MSRP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EdgeNote {
    /// A talker offers a stream, or does not any more.
    Talker(StreamId, bool),
    /// The declaration of a listener; none if it is withdrawn.
    Listener(StreamId, Option<ListenerDeclaration>),
}

/// An edge bridge.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EdgeBridge {
    /// Per port; none where another bridge is.
    ports: Vec<Option<Participant<MsrpValue>>>,
    /// What each port declares of talkers.
    talkers: BTreeMap<(usize, StreamId), MsrpValue>,
    notes: VecDeque<(usize, EdgeNote)>,
}

impl EdgeBridge {
    /// One that begins at `now`; of its ports those to end stations take part.
    #[must_use]
    pub fn new(
        to_stations: &[bool],
        timing: MrpTiming,
        seed: u64,
        classes: &[SrClass],
        now: Instant,
    ) -> Self {
        let mut ports = Vec::new();
        for (port, takes_part) in (0_u64..).zip(to_stations) {
            let mut participant = Participant::new(timing, seed.wrapping_mul(1_000).wrapping_add(port), now);
            for class in classes {
                participant.join(now, MsrpValue::Domain(class.domain), None, false);
            }
            ports.push(takes_part.then_some(participant));
        }
        Self { ports, talkers: BTreeMap::new(), notes: VecDeque::new() }
    }

    /// An MRPDU comes in.
    pub fn receive(&mut self, now: Instant, port: usize, pdu: &MrpPdu<MsrpValue>) {
        if let Some(participant) = &mut self.ports[port] {
            participant.receive(now, pdu);
        }
        self.note();
    }

    /// Lets time pass.
    pub fn advance(&mut self, now: Instant) {
        for participant in self.ports.iter_mut().flatten() {
            participant.advance(now);
        }
        self.note();
    }

    /// The MRPDU that a port sends at `now`.
    pub fn poll_transmit(&mut self, now: Instant, port: usize) -> Option<MrpPdu<MsrpValue>> {
        self.ports[port].as_mut()?.poll_transmit(now)
    }

    /// When something is to be done next.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.ports.iter().flatten().map(Participant::deadline).min().unwrap_or(Instant::MAX)
    }

    /// The next declaration of a user, and the port to which the user is connected.
    pub fn poll_note(&mut self) -> Option<(usize, EdgeNote)> {
        self.notes.pop_front()
    }

    /// The link of a port goes down: all that it registered is forgotten.
    pub fn link_down(&mut self, now: Instant, port: usize) {
        if let Some(participant) = &mut self.ports[port] {
            participant.flush(now);
        }
        self.note();
    }

    /// The link of a port is up again: the port declares anew.
    pub fn link_up(&mut self, now: Instant, port: usize) {
        if let Some(participant) = &mut self.ports[port] {
            participant.redeclare(now);
        }
    }

    /// Declares a talker on a port, as failed with a reason; or not any more.
    pub fn declare_talker(
        &mut self,
        now: Instant,
        port: usize,
        stream: StreamId,
        talker: Option<(TalkerValue, Option<FailureInformation>)>,
    ) {
        let value = talker.map(|(talker, failure)| match failure {
            None => MsrpValue::TalkerAdvertise(talker),
            Some(failure) => MsrpValue::TalkerFailed(talker, failure),
        });
        let before = self.talkers.get(&(port, stream)).copied();
        let Some(participant) = self.ports[port].as_mut().filter(|_| before != value) else { return };
        if let Some(before) = before {
            participant.leave(now, before);
            self.talkers.remove(&(port, stream));
        }
        if let Some(value) = value {
            participant.join(now, value, None, true);
            self.talkers.insert((port, stream), value);
        }
    }

    /// Declares the merged state of a stream's listeners on its talker's port; none withdraws it.
    pub fn declare_listeners(
        &mut self,
        now: Instant,
        port: usize,
        stream: StreamId,
        declaration: Option<ListenerDeclaration>,
    ) {
        let value = MsrpValue::Listener(stream);
        let Some(participant) = &mut self.ports[port] else { return };
        let before = participant.declared().find(|(declared, _)| *declared == value);
        match declaration {
            Some(declaration) if before.is_none_or(|(_, before)| before != Some(declaration)) => {
                participant.join(now, value, Some(declaration), before.is_none());
            }
            None if before.is_some() => participant.leave(now, value),
            _ => {}
        }
    }

    /// Whether a port declares a talker as one that can be had; none if it declares nothing of it.
    #[must_use]
    pub fn declares(&self, port: usize, stream: StreamId) -> Option<bool> {
        let declared = self.talkers.get(&(port, stream))?;
        Some(matches!(declared, MsrpValue::TalkerAdvertise(_)))
    }

    /// Sends again all that the users declare: the CNC has restarted.
    pub fn repeat_notes(&mut self) {
        for (port, participant) in self.ports.iter().enumerate() {
            for (value, declaration) in participant.iter().flat_map(Participant::registered) {
                let note = match value {
                    MsrpValue::TalkerAdvertise(talker) => EdgeNote::Talker(talker.stream, true),
                    MsrpValue::Listener(stream) => EdgeNote::Listener(stream, declaration),
                    MsrpValue::TalkerFailed(..) | MsrpValue::Domain(_) => continue,
                };
                self.notes.push_back((port, note));
            }
        }
    }

    fn note(&mut self) {
        for (port, participant) in self.ports.iter_mut().enumerate() {
            let Some(participant) = participant else { continue };
            while let Some(indication) = participant.poll_indication() {
                let joins = matches!(indication.notice, Notice::Join(_));
                let note = match indication.value {
                    MsrpValue::TalkerAdvertise(talker) => EdgeNote::Talker(talker.stream, joins),
                    MsrpValue::Listener(stream) => {
                        EdgeNote::Listener(stream, participant.registration(&indication.value).flatten())
                    }
                    // A user that fails itself offers nothing.
                    MsrpValue::TalkerFailed(..) | MsrpValue::Domain(_) => continue,
                };
                self.notes.push_back((port, note));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::srp::SrpStation;
    use crate::srp::class::tests::talker;
    use crate::srp::station::Offer;
    use tautwire_units::Duration;

    /// Carries MRPDUs between a station and port 0 of an edge bridge until nothing is sent for a while.
    fn exchange(edge: &mut EdgeBridge, station: &mut SrpStation, now: &mut Instant) {
        for _ in 0..40 {
            *now += Duration::from_ms(50);
            edge.advance(*now);
            station.advance(*now);
            if let Some(pdu) = edge.poll_transmit(*now, 0) {
                station.receive(*now, &pdu);
            }
            if let Some(pdu) = station.poll_transmit(*now) {
                edge.receive(*now, 0, &pdu);
            }
        }
    }

    #[test]
    fn an_edge_bridge_declares_what_it_is_configured_to_and_nothing_else() {
        let mut now = Instant::ZERO;
        let classes = [SrClass::a()];
        let mut edge = EdgeBridge::new(&[true, false], MrpTiming::default(), 1, &classes, now);
        let mut station = SrpStation::new(MrpTiming::default(), 2, &classes, now);
        let own = talker(1, 500);
        station.advertise(now, own);
        station.attach(now, talker(2, 500).stream, u32::MAX);
        exchange(&mut edge, &mut station, &mut now);
        let notes: vec::Vec<_> = core::iter::from_fn(|| edge.poll_note()).collect();
        assert!(notes.contains(&(0, EdgeNote::Talker(own.stream, true))));
        let asks = EdgeNote::Listener(talker(2, 500).stream, Some(ListenerDeclaration::AskingFailed));
        assert!(notes.contains(&(0, asks)), "{notes:?}");
        assert_eq!(station.listeners(own.stream), None);

        let other = talker(2, 500);
        edge.declare_listeners(now, 0, own.stream, Some(ListenerDeclaration::Ready));
        edge.declare_talker(now, 0, other.stream, Some((other, None)));
        exchange(&mut edge, &mut station, &mut now);
        assert_eq!(station.listeners(own.stream), Some(ListenerDeclaration::Ready));
        assert_eq!(station.offer(other.stream), Offer::Advertised(0));
        let notes: vec::Vec<_> = core::iter::from_fn(|| edge.poll_note()).collect();
        assert!(notes.contains(&(0, EdgeNote::Listener(other.stream, Some(ListenerDeclaration::Ready)))));

        edge.declare_talker(now, 0, other.stream, None);
        edge.declare_listeners(now, 0, own.stream, None);
        station.withdraw(now, own.stream);
        exchange(&mut edge, &mut station, &mut now);
        assert_eq!(station.offer(other.stream), Offer::None);
        assert_eq!(station.listeners(own.stream), None);
        let notes: vec::Vec<_> = core::iter::from_fn(|| edge.poll_note()).collect();
        assert!(notes.contains(&(0, EdgeNote::Talker(own.stream, false))));
    }
}
