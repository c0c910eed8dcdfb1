//! Which value of a talker is valid on a port: the one received last (IEEE Std 802.1Q-2022, 35.2.6).
//!
//! Advertise, failed, and an advertise with other figures are different attributes to MRP. The one received last
//! replaces the others at once, without waiting for their leave timers.

use alloc::collections::{BTreeMap, BTreeSet};

use tautwire_wire::srp::{
    FailureCode, FailureInformation, ListenerDeclaration, MsrpValue, StreamId, TalkerValue,
};

use super::mrp::{Notice, Participant};

/// What a talker declares on a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct TalkerRegistration {
    pub(super) talker: TalkerValue,
    pub(super) failure: Option<FailureInformation>,
    /// Whether its figures changed while they were declared: its latency alone (7), or others (16).
    pub(super) changed: Option<FailureCode>,
}

/// The talkers that a port has registered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Talkers {
    registration: BTreeMap<StreamId, TalkerRegistration>,
    /// All values of a stream that are registered.
    values: BTreeMap<StreamId, BTreeSet<MsrpValue>>,
}

impl Talkers {
    /// Takes a participant's indications, and passes on the values concerned; true if any changed.
    pub(super) fn hear(
        &mut self,
        participant: &mut Participant<MsrpValue>,
        mut heard: impl FnMut(&MsrpValue),
    ) -> bool {
        let mut changed = false;
        while let Some(indication) = participant.poll_indication() {
            changed = true;
            heard(&indication.value);
            match (registration(&indication.value), indication.notice) {
                (Some(registration), Notice::Join(_)) => {
                    self.replace(participant, indication.value, registration)
                }
                (Some((talker, failure)), Notice::Leave) => {
                    let stream = talker.stream;
                    let same = |old: &TalkerRegistration| (old.talker, old.failure) == (talker, failure);
                    if self.registration.get(&stream).is_some_and(same) {
                        self.registration.remove(&stream);
                    }
                    if let Some(values) = self.values.get_mut(&stream) {
                        values.remove(&indication.value);
                        if values.is_empty() {
                            self.values.remove(&stream);
                        }
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
        let others =
            core::mem::replace(self.values.entry(talker.stream).or_default(), BTreeSet::from([value]));
        let mut changed = self.registration.get(&talker.stream).and_then(|old| old.changed);
        for other in others.into_iter().filter(|other| *other != value) {
            if let Some((old, _)) = registration(&other).filter(|_| !participant.is_leaving(&other)) {
                changed = changed.or_else(|| difference(&old, &talker));
            }
            participant.drop_registration(other);
        }
        self.registration.insert(talker.stream, TalkerRegistration { talker, failure, changed });
    }

    #[cfg(test)]
    pub(super) fn iter(&self) -> impl Iterator<Item = (&StreamId, &TalkerRegistration)> {
        self.registration.iter()
    }

    pub(super) fn get(&self, stream: &StreamId) -> Option<&TalkerRegistration> {
        self.registration.get(stream)
    }
}

fn registration(value: &MsrpValue) -> Option<(TalkerValue, Option<FailureInformation>)> {
    match value {
        MsrpValue::TalkerAdvertise(talker) => Some((*talker, None)),
        MsrpValue::TalkerFailed(talker, failure) => Some((*talker, Some(*failure))),
        MsrpValue::Listener(_) | MsrpValue::Domain(_) => None,
    }
}

/// How other figures of a stream differ from those before, if they do.
fn difference(before: &TalkerValue, after: &TalkerValue) -> Option<FailureCode> {
    let at = TalkerValue { accumulated_latency_ns: before.accumulated_latency_ns, ..*after };
    if before == after {
        None
    } else if *before == at {
        Some(FailureCode::LATENCY_CHANGED)
    } else {
        Some(FailureCode::VALUE_CHANGED)
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
