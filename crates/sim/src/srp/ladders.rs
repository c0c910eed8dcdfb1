//! The streams' declarations in an MRPDU, and which of them are changes: ladders contain changes alone.

use std::collections::BTreeMap;

use tautwire_model::network::{NodeIndex, PortIndex};
use tautwire_model::srp::StreamReservation;
use tautwire_wire::srp::{AttributeEvent, Declared, ListenerDeclaration, MrpPdu, MsrpValue, StreamId};

use super::reservation::{Declaration, ReservationObservation, Rung, RungEvent};
use crate::clock::SimTime;

/// Which attribute type of a stream is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Advertise,
    Failed,
    Listener,
    /// Left already.
    None,
}

impl Value {
    const fn of(change: Declaration) -> Self {
        match change {
            Declaration::TalkerAdvertise => Self::Advertise,
            Declaration::TalkerFailed(_) => Self::Failed,
            Declaration::ListenerReady
            | Declaration::ListenerReadyFailed
            | Declaration::ListenerAskingFailed => Self::Listener,
            Declaration::TalkerLeave | Declaration::ListenerLeave => Self::None,
        }
    }
}

/// A change of a stream: it is declared, or a value is left.
#[derive(Clone, Copy, Debug)]
enum Change {
    Declared(Declaration),
    Left(Value),
}

impl Change {
    /// The value that is left.
    const fn value(self) -> Option<Value> {
        match self {
            Self::Declared(_) => None,
            Self::Left(value) => Some(value),
        }
    }

    const fn declaration(self) -> Declaration {
        match self {
            Self::Declared(change) => change,
            Self::Left(Value::Listener) => Declaration::ListenerLeave,
            Self::Left(_) => Declaration::TalkerLeave,
        }
    }
}

/// The change of a stream; none if an event only carries a registrar's state.
fn change(declared: &Declared<MsrpValue>) -> Option<(StreamId, Change)> {
    let stream = declared.value.stream()?;
    let leaves = declared.event == AttributeEvent::Lv;
    if matches!(declared.event, AttributeEvent::In | AttributeEvent::Mt) {
        return None;
    }
    let change = match (declared.value, declared.declaration) {
        (MsrpValue::TalkerAdvertise(_), _) if leaves => Change::Left(Value::Advertise),
        (MsrpValue::TalkerFailed(..), _) if leaves => Change::Left(Value::Failed),
        (MsrpValue::Listener(_), _) if leaves => Change::Left(Value::Listener),
        (MsrpValue::TalkerAdvertise(_), _) => Change::Declared(Declaration::TalkerAdvertise),
        (MsrpValue::TalkerFailed(_, failure), _) => {
            Change::Declared(Declaration::TalkerFailed(failure.code.0))
        }
        (MsrpValue::Listener(_), change) => Change::Declared(match change? {
            ListenerDeclaration::Ready => Declaration::ListenerReady,
            ListenerDeclaration::ReadyFailed => Declaration::ListenerReadyFailed,
            ListenerDeclaration::AskingFailed => Declaration::ListenerAskingFailed,
            ListenerDeclaration::Ignore => return None,
        }),
        (MsrpValue::Domain(_), _) => return None,
    };
    Some((stream, change))
}

/// Whether an MRPDU declares talkers, and listeners.
pub(super) fn declares(pdu: &MrpPdu<MsrpValue>) -> [bool; 2] {
    [true, false].map(|talker| {
        let change = pdu.declarations().filter_map(|declared| change(&declared));
        change.map(|(_, change)| change.declaration()).any(|change| change.is_talker() == talker)
    })
}

/// The ladders of all reserved streams.
pub(super) struct Ladders {
    /// Reserved streams by identifier.
    known: BTreeMap<StreamId, u32>,
    ladders: Vec<Vec<Rung>>,
    /// The last declaration of a stream at a port: reserved stream, port, whether sent, whether of the talker.
    declared: BTreeMap<(u32, PortIndex, bool, bool), Declaration>,
}

impl Ladders {
    pub(super) fn new(settings: &StreamReservation) -> Self {
        let numbered = settings.streams.iter().zip(0..);
        Self {
            known: numbered.map(|(reserved, number)| (reserved.talker.stream, number)).collect(),
            ladders: vec![Vec::new(); settings.streams.len()],
            declared: BTreeMap::new(),
        }
    }

    /// The reserved stream of an identifier.
    pub(super) fn known(&self, stream: StreamId) -> Option<u32> {
        self.known.get(&stream).copied()
    }

    pub(super) fn push(&mut self, stream: u32, at: SimTime, node: NodeIndex, event: RungEvent) {
        self.ladders[stream as usize].push(Rung { at: at.since_start(), node, event });
    }

    /// Records the declarations in an MRPDU that differ from the earlier ones at its port. A value that is left counts
    /// only if it is the last one declared, and no other replaces it.
    pub(super) fn record(
        &mut self,
        pdu: &MrpPdu<MsrpValue>,
        at: SimTime,
        place: (NodeIndex, PortIndex),
        sent: bool,
    ) {
        let all = || pdu.declarations().filter_map(|declared| change(&declared));
        for (stream, change) in all().filter(|(_, change)| change.value().is_none()) {
            self.record_change(stream, change, at, place, sent);
        }
        for (stream, change) in all() {
            let Some(known) = self.known(stream) else { continue };
            let before = self.declared.get(&(known, place.1, sent, change.declaration().is_talker()));
            if change.value().is_some() && change.value() == before.map(|before| Value::of(*before)) {
                self.record_change(stream, change, at, place, sent);
            }
        }
    }

    fn record_change(
        &mut self,
        stream: StreamId,
        change: Change,
        at: SimTime,
        (node, port): (NodeIndex, PortIndex),
        sent: bool,
    ) {
        let Some(stream) = self.known(stream) else { return };
        let change = change.declaration();
        if self.declared.insert((stream, port, sent, change.is_talker()), change) != Some(change) {
            let event = if sent { RungEvent::Sent(port, change) } else { RungEvent::Received(port, change) };
            self.push(stream, at, node, event);
        }
    }

    /// Forgets all events; what is declared stays known.
    pub(super) fn forget(&mut self) {
        self.ladders.iter_mut().for_each(Vec::clear);
    }

    pub(super) fn observations(self, settings: &StreamReservation) -> Vec<ReservationObservation> {
        let all = settings.streams.iter().zip(self.ladders);
        all.map(|(reserved, ladder)| ReservationObservation { stream: reserved.stream, ladder }).collect()
    }
}
