//! MVRP of a node (IEEE Std 802.1Q-2022, clause 11 and 35.1.2.2): a bridge passes registrations on, an end station
//! declares the VLANs that it needs, each as long as it has a reason.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};

use tautwire_units::Instant;
use tautwire_wire::srp::{MrpPdu, MvrpValue};

use super::mrp::{MrpTiming, Participant, Relay};

/// Why a station needs a VLAN: a stream, and whether as its talker; none: it listens to streams without a reservation.
pub type VlanReason = Option<(u32, bool)>;

/// MVRP of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VlanNode {
    part: Part,
    wanted: BTreeMap<MvrpValue, BTreeSet<VlanReason>>,
    /// Whether a registration changed since the last call.
    changed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Bridge(Relay<MvrpValue>),
    /// An end station takes part with its first port.
    Station(Box<Participant<MvrpValue>>),
    None,
}

impl VlanNode {
    /// Of a node that takes no part.
    #[must_use]
    pub const fn none() -> Self {
        Self::of(Part::None)
    }

    /// Of a bridge of so many ports that begins at `now`; `forbidden` cannot be registered. The seed draws its leave-all times.
    #[must_use]
    pub fn bridge(
        ports: usize,
        forbidden: impl Iterator<Item = (usize, MvrpValue)>,
        timing: MrpTiming,
        seed: u64,
        now: Instant,
    ) -> Self {
        let places = (0_u64..).take(ports);
        let mut relay = Relay::new(places.map(|place| participant(timing, seed, place, now)).collect());
        for (place, value) in forbidden {
            relay.forbid(place, value);
        }
        Self::of(Part::Bridge(relay))
    }

    /// Of an end station that begins at `now`.
    #[must_use]
    pub fn station(timing: MrpTiming, seed: u64, now: Instant) -> Self {
        Self::of(Part::Station(Box::new(participant(timing, seed, 0, now))))
    }

    const fn of(part: Part) -> Self {
        Self { part, wanted: BTreeMap::new(), changed: true }
    }

    /// A station wants a VLAN for a reason, or for that one no more.
    pub fn want(&mut self, now: Instant, value: MvrpValue, reason: VlanReason, wants: bool) {
        let Part::Station(participant) = &mut self.part else { return };
        let reasons = self.wanted.entry(value).or_default();
        let before = !reasons.is_empty();
        if wants {
            reasons.insert(reason);
        } else {
            reasons.remove(&reason);
        }
        match (before, !reasons.is_empty()) {
            (false, true) => participant.join(now, value, None, true),
            (true, false) => participant.leave(now, value),
            _ => {}
        }
    }

    /// When its timers are to be looked at next.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        match &self.part {
            Part::Bridge(relay) => Some(relay.deadline()),
            Part::Station(participant) => Some(participant.deadline()),
            Part::None => None,
        }
    }

    /// An MRPDU comes in.
    pub fn receive(&mut self, now: Instant, port: usize, pdu: &MrpPdu<MvrpValue>) {
        match &mut self.part {
            Part::Bridge(relay) => self.changed |= relay.receive(now, port, pdu),
            Part::Station(participant) if port == 0 => {
                participant.receive(now, pdu);
                heed(participant);
            }
            Part::Station(_) | Part::None => {}
        }
    }

    /// Lets time pass.
    pub fn advance(&mut self, now: Instant) {
        match &mut self.part {
            Part::Bridge(relay) => self.changed |= relay.advance(now),
            Part::Station(participant) => {
                participant.advance(now);
                heed(participant);
            }
            Part::None => {}
        }
    }

    /// The MRPDU that a port sends at `now`.
    pub fn poll_transmit(&mut self, now: Instant, port: usize) -> Option<MrpPdu<MvrpValue>> {
        match &mut self.part {
            Part::Bridge(relay) => relay.poll_transmit(now, port),
            Part::Station(participant) if port == 0 => participant.poll_transmit(now),
            Part::Station(_) | Part::None => None,
        }
    }

    /// The link of a port goes down, or comes up.
    pub fn link(&mut self, now: Instant, port: usize, up: bool) {
        match &mut self.part {
            Part::Bridge(relay) if up => relay.link_up(now, port),
            Part::Bridge(relay) => self.changed |= relay.link_down(now, port),
            Part::Station(participant) if port == 0 && up => participant.redeclare(now),
            Part::Station(participant) if port == 0 => {
                participant.flush(now);
                heed(participant);
            }
            Part::Station(_) | Part::None => {}
        }
    }

    /// Whether a bridge has a VLAN registered at a port.
    #[must_use]
    pub fn is_registered(&self, port: usize, value: MvrpValue) -> bool {
        match &self.part {
            Part::Bridge(relay) => relay.is_registered(port, &value),
            Part::Station(_) | Part::None => false,
        }
    }

    /// Whether a registration may have changed since the last call; true for a new node.
    pub const fn take_changed(&mut self) -> bool {
        core::mem::replace(&mut self.changed, false)
    }
}

fn participant(timing: MrpTiming, seed: u64, place: u64, now: Instant) -> Participant<MvrpValue> {
    // Participants of streams have the numbers before.
    Participant::new(timing, seed.wrapping_mul(1_000).wrapping_add(500 + place), now)
}

/// A station ignores its indications.
fn heed(participant: &mut Participant<MvrpValue>) {
    while participant.poll_indication().is_some() {}
}
