//! Which value of a talker counts on a port: the one heard last (IEEE Std 802.1Q-2022, 35.2.6).
//!
//! Advertise, failed, and an advertise with other figures are different attributes to MRP. The one heard last takes the place
//! of the others at once, without waiting for their leave timers.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use tautwire_wire::mrp::{FailureInformation, ListenerDeclaration, MsrpValue, StreamId, TalkerValue};

use crate::mrp::{Notice, Participant};

/// What a talker says on a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Told {
    pub(super) talker: TalkerValue,
    pub(super) failure: Option<FailureInformation>,
    /// Whether its figures changed while they were declared.
    pub(super) changed: bool,
}

/// The talkers that a port has registered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Talkers(BTreeMap<StreamId, Told>);

impl Talkers {
    /// Hears what a participant has to tell; gives whether anything did change.
    pub(super) fn hear(&mut self, participant: &mut Participant<MsrpValue>) -> bool {
        let mut changed = false;
        while let Some(indication) = participant.poll_indication() {
            changed = true;
            match (told(&indication.value), indication.notice) {
                (Some(told), Notice::Join(_)) => self.replace(participant, indication.value, told),
                (Some((talker, failure)), Notice::Leave) => {
                    let stream = talker.stream;
                    let same = |old: &Told| (old.talker, old.failure) == (talker, failure);
                    if self.0.get(&stream).is_some_and(same) {
                        self.0.remove(&stream);
                    }
                }
                (None, _) => {}
            }
        }
        changed
    }

    fn replace(
        &mut self,
        participant: &mut Participant<MsrpValue>,
        value: MsrpValue,
        (talker, failure): (TalkerValue, Option<FailureInformation>),
    ) {
        let others: Vec<MsrpValue> = participant
            .registered()
            .map(|(other, _)| other)
            .filter(|other| {
                *other != value && told(other).is_some_and(|(old, _)| old.stream == talker.stream)
            })
            .collect();
        let mut changed = self.0.get(&talker.stream).is_some_and(|old| old.changed);
        for other in others {
            let figures = told(&other).is_some_and(|(old, _)| old != talker);
            changed |= figures && !participant.is_leaving(&other);
            participant.drop_registration(other);
        }
        self.0.insert(talker.stream, Told { talker, failure, changed });
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&StreamId, &Told)> {
        self.0.iter()
    }

    pub(super) fn get(&self, stream: &StreamId) -> Option<&Told> {
        self.0.get(stream)
    }
}

fn told(value: &MsrpValue) -> Option<(TalkerValue, Option<FailureInformation>)> {
    match value {
        MsrpValue::TalkerAdvertise(talker) => Some((*talker, None)),
        MsrpValue::TalkerFailed(talker, failure) => Some((*talker, Some(*failure))),
        MsrpValue::Listener(_) | MsrpValue::Domain(_) => None,
    }
}

/// Declarations of a port: what is to be declared, by value.
pub(super) type Declarations = BTreeMap<MsrpValue, Option<ListenerDeclaration>>;

/// Makes a participant declare exactly this.
pub(super) fn declare(
    participant: &mut Participant<MsrpValue>,
    now: tautwire_units::Instant,
    wanted: &Declarations,
) {
    let declared: Declarations = participant.declared().collect();
    for value in declared.keys().filter(|value| !wanted.contains_key(value)) {
        participant.leave(now, *value);
    }
    for (value, declaration) in wanted.iter().filter(|(value, wanted)| declared.get(value) != Some(wanted)) {
        let new = !declared.contains_key(value) && !matches!(value, MsrpValue::Domain(_));
        participant.join(now, *value, *declaration, new);
    }
}
