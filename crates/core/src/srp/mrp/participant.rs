//! An MRP participant: one application on one port (IEEE Std 802.1Q-2022, 10.7).
//!
//! Its user joins and leaves attributes and receives indications; its driver gives MRPDUs and time, and takes MRPDUs
//! when an opportunity has come. One opportunity sends one MRPDU: what does not fit waits for the next, in turn. A
//! received leave-all is processed before the events in the same MRPDU. The registrars process an own leave-all before
//! its events are written, so these events carry the state "not registered".
//!
//! **Reminders.** A lost leave-all leaves its sender with registrations that the other end does not renew: the
//! sender's own declarations were sent once in the same MRPDU. The tables let an applicant send its state at any
//! opportunity. So for a LeaveTime after a leave-all, every JoinTime, a participant sends its state of all attributes
//! that are still leaving: the other end receives that they are not registered, and declares them again. Nothing is
//! sent if all were renewed.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;

use tautwire_units::{Duration, Instant};
use tautwire_wire::srp::{AttributeEvent, AttributeValue, Entry, ListenerDeclaration, MrpPdu, pack};

use super::applicant::{Applicant, ApplicantEvent, ApplicantStep, Sent};
use super::leave_all::{LeaveAll, LeaveAllEvent, Periodic, PeriodicEvent};
use super::registrar::{LeaveTimer, Registrar, RegistrarAction, RegistrarEvent};
use super::timing::{JoinRule, MrpTiming, Opportunities, draw};

/// Most attributes that a participant keeps; further attributes of others are not registered.
pub const ATTRIBUTES_MAX: usize = 65_536;

/// A change of a registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Notice {
    /// Registered, or registered with another value; the flag is set if the other end declares it as new.
    Join(bool),
    /// Not registered any more.
    Leave,
}

/// What a participant's user receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Indication<V> {
    /// The attribute.
    pub value: V,
    /// The change.
    pub notice: Notice,
}

/// An attribute of a participant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Attribute {
    applicant: Applicant,
    registrar: Registrar,
    /// End of the leave timer.
    leave_at: Option<Instant>,
    /// What the user declares of a listener.
    declared: Option<ListenerDeclaration>,
    /// What is registered of a listener.
    registered: Option<ListenerDeclaration>,
    /// The participant declares it again by itself, so the other end has registered the earlier declaration, and nothing is withdrawn.
    redeclared: bool,
}

/// One application on one port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Participant<V> {
    timing: MrpTiming,
    attributes: BTreeMap<V, Attribute>,
    /// Attributes whose applicants request an opportunity.
    anxious: BTreeSet<V>,
    /// Attributes whose leave timers run, by the end of it.
    leaving: BTreeSet<(Instant, V)>,
    leave_all: LeaveAll,
    leave_all_at: Instant,
    periodic: Periodic,
    periodic_at: Option<Instant>,
    /// When it looks next for what was not renewed after its leave-all, and until when.
    remind: Option<(Instant, Instant)>,
    /// Whether the next MRPDU carries the state of all attributes that are leaving.
    reminds: bool,
    opportunity: Option<Instant>,
    opportunities: Opportunities,
    indications: VecDeque<Indication<V>>,
    /// The last value that found room when not all did.
    turn: Option<V>,
    random: u64,
}

impl<V: AttributeValue> Participant<V> {
    /// A participant that begins at `now`. The seed draws its leave-all times.
    #[must_use]
    pub fn new(timing: MrpTiming, seed: u64, now: Instant) -> Self {
        let mut participant = Self {
            timing,
            attributes: BTreeMap::new(),
            anxious: BTreeSet::new(),
            leaving: BTreeSet::new(),
            leave_all: LeaveAll::Passive,
            leave_all_at: now,
            periodic: Periodic::Passive,
            periodic_at: None,
            remind: None,
            reminds: false,
            opportunity: None,
            opportunities: Opportunities::default(),
            indications: VecDeque::new(),
            turn: None,
            // Zero would stay zero.
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
        };
        participant.leave_all(now, LeaveAllEvent::Begin);
        if timing.periodic.is_some() {
            participant.periodic(now, PeriodicEvent::Begin);
        }
        participant
    }

    /// Declares an attribute. A listener's declaration may differ from the one before: it is declared again.
    ///
    /// # Panics
    /// If a listener comes without its declaration, or another attribute with one.
    pub fn join(&mut self, now: Instant, value: V, declaration: Option<ListenerDeclaration>, new: bool) {
        let has_declaration = V::has_declarations(value.attribute_type());
        assert_eq!(declaration.is_some(), has_declaration, "a declaration per listener");
        let attribute = self.attributes.entry(value).or_default();
        let changed = attribute.applicant.is_declared() && attribute.declared != declaration;
        attribute.declared = declaration;
        self.apply(value, if new { ApplicantEvent::New } else { ApplicantEvent::Join });
        if changed {
            let transmitted = matches!(self.attributes[&value].applicant, Applicant::Aa | Applicant::Qa);
            self.apply(value, ApplicantEvent::RLv);
            self.attributes.entry(value).or_default().redeclared |= transmitted;
        }
        self.ask(now);
    }

    /// Withdraws an attribute.
    pub fn leave(&mut self, now: Instant, value: V) {
        if let Some(attribute) = self.attributes.get(&value) {
            // The table's VP withdraws nothing: there it follows a leave that the other end received, or sent.
            if attribute.redeclared {
                self.set_applicant(value, Applicant::Aa);
            }
            self.apply(value, ApplicantEvent::Lv);
            self.forget_idle(value);
            self.ask(now);
        }
    }

    /// Ends a registration at once, without an indication: another took its place.
    pub fn drop_registration(&mut self, value: V) {
        if let Some(attribute) = self.attributes.get_mut(&value) {
            attribute.registrar = Registrar::Mt;
            if let Some(at) = attribute.leave_at.take() {
                self.leaving.remove(&(at, value));
            }
            self.forget_idle(value);
        }
    }

    /// Receives an MRPDU.
    pub fn receive(&mut self, now: Instant, pdu: &MrpPdu<V>) {
        let left: Vec<u8> = V::TYPES.iter().copied().filter(|of| pdu.leaves_all(*of)).collect();
        if !left.is_empty() {
            self.leave_all(now, LeaveAllEvent::RLa);
            for value in self.values() {
                if left.contains(&value.attribute_type()) {
                    if !planted!(LeaveAllNotAnswered) {
                        self.apply(value, ApplicantEvent::RLv);
                    }
                    self.register(now, value, RegistrarEvent::Leave);
                }
            }
        }
        for declared in pdu.declarations() {
            self.hear(now, declared.value, declared.event, declared.declaration);
        }
        self.ask(now);
    }

    fn hear(
        &mut self,
        now: Instant,
        value: V,
        event: AttributeEvent,
        declaration: Option<ListenerDeclaration>,
    ) {
        let registers =
            matches!(event, AttributeEvent::New | AttributeEvent::JoinIn | AttributeEvent::JoinMt);
        if !self.attributes.contains_key(&value) && (!registers || self.attributes.len() >= ATTRIBUTES_MAX) {
            return;
        }
        let (applicant, registrar) = match event {
            AttributeEvent::New => (ApplicantEvent::RNew, Some(RegistrarEvent::RNew)),
            AttributeEvent::JoinIn => (ApplicantEvent::RJoinIn, Some(RegistrarEvent::RJoin)),
            AttributeEvent::JoinMt => (ApplicantEvent::RMt, Some(RegistrarEvent::RJoin)),
            AttributeEvent::In => (ApplicantEvent::RIn, None),
            AttributeEvent::Mt if planted!(LeaveAllNotAnswered) => (ApplicantEvent::RIn, None),
            AttributeEvent::Mt => (ApplicantEvent::RMt, None),
            AttributeEvent::Lv if planted!(LeaveNotHeard) => (ApplicantEvent::RLv, None),
            AttributeEvent::Lv => (ApplicantEvent::RLv, Some(RegistrarEvent::Leave)),
        };
        let attribute = self.attributes.entry(value).or_default();
        let before = attribute.registrar;
        let changed = registers && before != Registrar::Mt && attribute.registered != declaration;
        if registers {
            attribute.registered = declaration;
        }
        self.apply(value, applicant);
        if let Some(event) = registrar {
            self.register(now, value, event);
        }
        // Another declaration of a listener takes the place of the one before at once.
        if changed && event != AttributeEvent::New {
            self.indications.push_back(Indication { value, notice: Notice::Join(false) });
        }
        self.forget_idle(value);
    }

    /// Lets time pass: timers that have ended by `now`.
    pub fn advance(&mut self, now: Instant) {
        if self.leave_all_at <= now {
            self.leave_all(now, LeaveAllEvent::Timer);
        }
        if self.periodic_at.is_some_and(|at| at <= now) {
            self.periodic(now, PeriodicEvent::Timer);
        }
        if let Some((at, until)) = self.remind
            && at <= now
        {
            self.reminds = !self.leaving.is_empty();
            let next = now + self.timing.join;
            self.remind = (self.reminds && next < until).then_some((next, until));
        }
        let mut left: Vec<V> =
            self.leaving.iter().take_while(|(at, _)| *at <= now).map(|(_, value)| *value).collect();
        // In the order of the attributes, however long their timers ran.
        left.sort_unstable();
        for value in left {
            self.register(now, value, RegistrarEvent::LeaveTimer);
            self.forget_idle(value);
        }
        self.ask(now);
    }

    /// The MRPDU of an opportunity that has come by `now`.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<MrpPdu<V>> {
        if self.opportunity.is_none_or(|at| at > now) {
            return None;
        }
        self.opportunity = None;
        let leaves = self.leave_all == LeaveAll::Active;
        self.leave_all(now, LeaveAllEvent::Tx);
        if leaves {
            for value in self.values() {
                self.register(now, value, RegistrarEvent::Leave);
            }
            let (first, until) = (now + self.timing.join, now + self.timing.leave);
            self.remind = (first < until).then_some((first, until));
        }
        let pdu = self.transmit(leaves);
        self.reminds = false;
        if pdu.is_some() {
            self.opportunities.used(now);
        }
        self.ask(now);
        pdu
    }

    /// The next indication that the user has not received yet.
    pub fn poll_indication(&mut self) -> Option<Indication<V>> {
        self.indications.pop_front()
    }

    /// When to call [`Self::advance`] and [`Self::poll_transmit`] again.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        let leave = self.leaving.first().map(|(at, _)| *at);
        let remind = self.remind.map(|(at, _)| at);
        let timers = [self.opportunity, self.periodic_at, leave, remind];
        timers.into_iter().flatten().fold(self.leave_all_at, Instant::min)
    }

    /// Whether an attribute is registered; being left counts until it is.
    #[must_use]
    pub fn is_registered(&self, value: &V) -> bool {
        self.attributes.get(value).is_some_and(|attribute| attribute.registrar != Registrar::Mt)
    }

    /// What is registered of an attribute, with the declaration of a listener; none if it is not.
    #[must_use]
    pub fn registration(&self, value: &V) -> Option<Option<ListenerDeclaration>> {
        let attribute = self.attributes.get(value)?;
        (attribute.registrar != Registrar::Mt).then_some(attribute.registered)
    }

    /// Whether an attribute is registered and its leave timer runs.
    #[must_use]
    pub fn is_leaving(&self, value: &V) -> bool {
        self.attributes.get(value).is_some_and(|attribute| attribute.registrar == Registrar::Lv)
    }

    /// Registered attributes in their order, with the declarations of listeners.
    pub fn registered(&self) -> impl Iterator<Item = (V, Option<ListenerDeclaration>)> {
        let registered = self.attributes.iter().filter(|(_, attribute)| attribute.registrar != Registrar::Mt);
        registered.map(|(value, attribute)| (*value, attribute.registered))
    }

    /// Declared attributes in their order, with the declarations of listeners.
    pub fn declared(&self) -> impl Iterator<Item = (V, Option<ListenerDeclaration>)> {
        let declared = self.attributes.iter().filter(|(_, attribute)| attribute.applicant.is_declared());
        declared.map(|(value, attribute)| (*value, attribute.declared))
    }

    /// Forgets all registrations (Flush!): the topology changed.
    pub fn flush(&mut self, now: Instant) {
        for value in self.values() {
            self.register(now, value, RegistrarEvent::Flush);
            self.forget_idle(value);
        }
    }

    /// Declares all again (Re-declare!): the topology changed.
    pub fn redeclare(&mut self, now: Instant) {
        for value in self.values() {
            self.apply(value, ApplicantEvent::RLv);
            self.register(now, value, RegistrarEvent::Leave);
        }
        self.ask(now);
    }

    fn values(&self) -> Vec<V> {
        self.attributes.keys().copied().collect()
    }

    fn point_to_point(&self) -> bool {
        self.timing.rule != JoinRule::Random
    }

    fn apply(&mut self, value: V, event: ApplicantEvent) {
        let point_to_point = self.point_to_point();
        if let Some(attribute) = self.attributes.get(&value) {
            let registered = attribute.registrar == Registrar::In;
            let next = attribute.applicant.step(event, point_to_point, registered).next;
            self.set_applicant(value, next);
        }
    }

    fn set_applicant(&mut self, value: V, next: Applicant) {
        let attribute = self.attributes.get_mut(&value).expect("it is there");
        if attribute.applicant.wants_to_send() != next.wants_to_send() {
            if next.wants_to_send() {
                self.anxious.insert(value);
            } else {
                self.anxious.remove(&value);
            }
        }
        attribute.applicant = next;
        attribute.redeclared &= next == Applicant::Vp;
    }

    fn register(&mut self, now: Instant, value: V, event: RegistrarEvent) {
        let Some(attribute) = self.attributes.get_mut(&value) else { return };
        let (next, action, timer) = attribute.registrar.step(event);
        attribute.registrar = next;
        if timer != LeaveTimer::Keep {
            if let Some(at) = attribute.leave_at.take() {
                self.leaving.remove(&(at, value));
            }
            if timer == LeaveTimer::Start {
                let at = now + self.timing.leave;
                attribute.leave_at = Some(at);
                self.leaving.insert((at, value));
            }
        }
        let notice = match action {
            None => return,
            Some(RegistrarAction::New) => Notice::Join(true),
            Some(RegistrarAction::Join) => Notice::Join(false),
            Some(RegistrarAction::Leave) => Notice::Leave,
        };
        self.indications.push_back(Indication { value, notice });
    }

    /// An attribute without a declaration is not kept.
    fn forget_idle(&mut self, value: V) {
        let idle =
            |attribute: &Attribute| attribute.applicant.is_idle() && attribute.registrar == Registrar::Mt;
        if self.attributes.get(&value).is_some_and(idle) {
            let gone = self.attributes.remove(&value);
            debug_assert!(gone.is_some_and(|gone| gone.leave_at.is_none()), "no timer runs");
        }
    }

    fn leave_all(&mut self, now: Instant, event: LeaveAllEvent) {
        let (next, starts, _) = self.leave_all.step(event);
        self.leave_all = next;
        if starts {
            let span = self.timing.leave_all.as_ps();
            // Half of it, rounded up; the remainder of a division by zero must not be computed.
            let more = draw(&mut self.random) % span.div_ceil(2).max(1);
            self.leave_all_at = now + Duration::from_ps(span + more);
        }
    }

    fn periodic(&mut self, now: Instant, event: PeriodicEvent) {
        let (next, starts, periodic) = self.periodic.step(event);
        self.periodic = next;
        if starts {
            self.periodic_at = self.timing.periodic.map(|period| now + period);
        }
        if periodic {
            for value in self.values() {
                self.apply(value, ApplicantEvent::Periodic);
            }
        }
    }

    /// Requests an opportunity if there is something to send and none is requested.
    fn ask(&mut self, now: Instant) {
        let has_to = self.leave_all == LeaveAll::Active || self.reminds || !self.anxious.is_empty();
        if has_to && self.point_to_point() && self.timing.repeat > Duration::ZERO {
            let earliest = self.opportunities.next(&self.timing, now, 0);
            let again = self.opportunities.last().map_or(now, |last| last + self.timing.repeat);
            let at = if self.repeats_alone() { earliest.max(again) } else { earliest };
            self.opportunity = Some(self.opportunity.map_or(at, |before| before.min(at)));
        } else if has_to && self.opportunity.is_none() {
            let number = if self.point_to_point() { 0 } else { draw(&mut self.random) };
            self.opportunity = Some(self.opportunities.next(&self.timing, now, number));
        }
    }

    /// Whether all that is to be sent was sent before.
    fn repeats_alone(&self) -> bool {
        let transmitted =
            |value: &V| matches!(self.attributes[value].applicant, Applicant::An | Applicant::Aa);
        self.leave_all != LeaveAll::Active && !self.reminds && self.anxious.iter().all(transmitted)
    }

    /// One MRPDU of as many attributes as have room, beginning behind the last that had.
    fn transmit(&mut self, leaves: bool) -> Option<MrpPdu<V>> {
        let event = if leaves { ApplicantEvent::TxLa } else { ApplicantEvent::Tx };
        let types: &[u8] = if leaves { V::TYPES } else { &[] };
        let mut values = self.values();
        if let Some(turn) = self.turn.take() {
            let behind = values.partition_point(|value| *value <= turn);
            values.rotate_left(behind);
        }
        let mut transmitted: Vec<(Entry<V>, Applicant)> = Vec::with_capacity(values.len());
        for value in values {
            let attribute = &self.attributes[&value];
            let registered = attribute.registrar == Registrar::In;
            let mut step = attribute.applicant.step(event, self.point_to_point(), registered);
            step.optional &= !(self.reminds && attribute.registrar == Registrar::Lv);
            transmitted.push((entry(value, attribute, step, registered), step.next));
        }
        let all: Vec<Entry<V>> = transmitted.iter().map(|(entry, _)| *entry).collect();
        let mut pdus = pack(&all, types);
        let mut fits = transmitted.len();
        if pdus.len() > 1 {
            // The most that one MRPDU holds: more entries never take fewer octets.
            let (mut low, mut high) = (0, all.len());
            while low < high {
                let middle = (low + high).div_ceil(2);
                if pack(&all[..middle], types).len() > 1 { high = middle - 1 } else { low = middle }
            }
            fits = low;
            pdus = pack(&all[..fits], types);
            self.turn = fits.checked_sub(1).map(|last| all[last].value);
        }
        for (place, (entry, next)) in transmitted.into_iter().enumerate() {
            if place < fits {
                self.set_applicant(entry.value, next);
                self.forget_idle(entry.value);
            } else if leaves {
                self.apply(entry.value, ApplicantEvent::TxLaf);
            }
        }
        pdus.into_iter().next()
    }
}

/// The entry of an attribute in an MRPDU.
fn entry<V>(value: V, attribute: &Attribute, step: ApplicantStep, registered: bool) -> Entry<V> {
    let sent = step.sent.expect("every transmission has a message");
    let event = match (sent, registered) {
        (Sent::New, _) => AttributeEvent::New,
        (Sent::Leave, _) => AttributeEvent::Lv,
        (Sent::Join, true) => AttributeEvent::JoinIn,
        (Sent::Join, false) => AttributeEvent::JoinMt,
        (Sent::State, true) => AttributeEvent::In,
        (Sent::State, false) => AttributeEvent::Mt,
    };
    // Without a declaration of its own it repeats the received one.
    let declaration = if sent == Sent::State { attribute.registered } else { attribute.declared };
    let declaration = declaration.or(attribute.declared).or(attribute.registered);
    Entry { value, event, declaration, optional: step.optional }
}
