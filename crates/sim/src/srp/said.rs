//! What an MRPDU says of streams, and which of it is news: the ladders hold changes alone.

use tautwire_model::network::PortIndex;
use tautwire_wire::srp::{AttributeEvent, Declared, ListenerDeclaration, MrpPdu, MsrpValue, StreamId};

use super::Srp;
use crate::clock::SimTime;
use crate::reservation::{Declaration, RungEvent};

/// Which attribute type of a stream is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Advertise,
    Failed,
    Listener,
    /// Left already.
    None,
}

impl Value {
    const fn of(said: Declaration) -> Self {
        match said {
            Declaration::TalkerAdvertise => Self::Advertise,
            Declaration::TalkerFailed(_) => Self::Failed,
            Declaration::ListenerReady
            | Declaration::ListenerReadyFailed
            | Declaration::ListenerAskingFailed => Self::Listener,
            Declaration::TalkerLeave | Declaration::ListenerLeave => Self::None,
        }
    }
}

/// What is said of a stream: that it is declared, or that a value is left.
#[derive(Clone, Copy, Debug)]
pub(super) enum Said {
    Declared(Declaration),
    Left(Value),
}

impl Said {
    /// The value that is left.
    const fn value(self) -> Option<Value> {
        match self {
            Self::Declared(_) => None,
            Self::Left(value) => Some(value),
        }
    }

    pub(super) const fn declaration(self) -> Declaration {
        match self {
            Self::Declared(said) => said,
            Self::Left(Value::Listener) => Declaration::ListenerLeave,
            Self::Left(_) => Declaration::TalkerLeave,
        }
    }
}

/// What is said of a stream; nothing if only a registrar's state is told.
pub(super) fn said(declared: &Declared<MsrpValue>) -> Option<(StreamId, Said)> {
    let stream = declared.value.stream()?;
    let leaves = declared.event == AttributeEvent::Lv;
    if matches!(declared.event, AttributeEvent::In | AttributeEvent::Mt) {
        return None;
    }
    let said = match (declared.value, declared.declaration) {
        (MsrpValue::TalkerAdvertise(_), _) if leaves => Said::Left(Value::Advertise),
        (MsrpValue::TalkerFailed(..), _) if leaves => Said::Left(Value::Failed),
        (MsrpValue::Listener(_), _) if leaves => Said::Left(Value::Listener),
        (MsrpValue::TalkerAdvertise(_), _) => Said::Declared(Declaration::TalkerAdvertise),
        (MsrpValue::TalkerFailed(_, failure), _) => Said::Declared(Declaration::TalkerFailed(failure.code.0)),
        (MsrpValue::Listener(_), said) => Said::Declared(match said? {
            ListenerDeclaration::Ready => Declaration::ListenerReady,
            ListenerDeclaration::ReadyFailed => Declaration::ListenerReadyFailed,
            ListenerDeclaration::AskingFailed => Declaration::ListenerAskingFailed,
            ListenerDeclaration::Ignore => return None,
        }),
        (MsrpValue::Domain(_), _) => return None,
    };
    Some((stream, said))
}

impl Srp {
    /// Writes what an MRPDU says that is not what the one before it said there. A value that is left counts only
    /// if it is the one said last, and nothing else takes its place.
    pub(super) fn say(&mut self, pdu: &MrpPdu<MsrpValue>, at: SimTime, node: u32, port: u32, sent: bool) {
        let all = || pdu.declarations().filter_map(|declared| said(&declared));
        for (stream, said) in all().filter(|(_, said)| said.value().is_none()) {
            self.say_of(stream, said, at, node, port, sent);
        }
        for (stream, said) in all() {
            let Some(known) = self.known.get(&stream) else { continue };
            let before = self.said.get(&(*known, port, sent, said.declaration().is_talker()));
            if said.value().is_some() && said.value() == before.map(|before| Value::of(*before)) {
                self.say_of(stream, said, at, node, port, sent);
            }
        }
    }

    fn say_of(&mut self, stream: StreamId, said: Said, at: SimTime, node: u32, port: u32, sent: bool) {
        let Some(stream) = self.known.get(&stream).copied() else { return };
        let said = said.declaration();
        if self.said.insert((stream, port, sent, said.is_talker()), said) != Some(said) {
            let port = PortIndex(port);
            let event = if sent { RungEvent::Sent(port, said) } else { RungEvent::Received(port, said) };
            self.rung(stream, at, node, event);
        }
    }
}
