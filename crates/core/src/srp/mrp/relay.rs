//! Propagation of attributes in a bridge (IEEE Std 802.1Q-2022, 10.3): what a port has registered, every other port of
//! the context declares. For MVRP and MMRP; streams follow rules of their own.
//!
//! The administrative control of a registrar (10.7.2) can forbid a registration at a port: declarations there are
//! neither registered nor passed on.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use tautwire_units::Instant;
use tautwire_wire::srp::{AttributeValue, MrpPdu};

use super::participant::{Notice, Participant};

/// The participants of a bridge's ports and the connection of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Relay<V> {
    ports: Vec<Participant<V>>,
    /// Whether a port takes part: it forwards.
    forwarding: Vec<bool>,
    /// What cannot be registered, by port (Registration Forbidden).
    forbidden: BTreeSet<(usize, V)>,
}

impl<V: AttributeValue> Relay<V> {
    /// A bridge of these ports, all forwarding.
    #[must_use]
    pub fn new(ports: Vec<Participant<V>>) -> Self {
        let forwarding = alloc::vec![true; ports.len()];
        Self { ports, forwarding, forbidden: BTreeSet::new() }
    }

    /// Forbids the registration of an attribute at a port. To be called before anything is received.
    pub fn forbid(&mut self, port: usize, value: V) {
        self.forbidden.insert((port, value));
    }

    /// Whether an attribute is registered at a port.
    #[must_use]
    pub fn is_registered(&self, port: usize, value: &V) -> bool {
        !self.forbidden.contains(&(port, *value)) && self.ports[port].is_registered(value)
    }

    /// A port's participant.
    #[must_use]
    pub fn port(&self, port: usize) -> &Participant<V> {
        &self.ports[port]
    }

    /// An MRPDU comes in; gives whether a registration changed.
    pub fn receive(&mut self, now: Instant, port: usize, pdu: &MrpPdu<V>) -> bool {
        self.ports[port].receive(now, pdu);
        self.propagate(now)
    }

    /// Lets time pass; gives whether a registration changed.
    pub fn advance(&mut self, now: Instant) -> bool {
        for port in &mut self.ports {
            port.advance(now);
        }
        self.propagate(now)
    }

    /// The link of a port goes down: all that it registered is forgotten; gives whether that was anything.
    pub fn link_down(&mut self, now: Instant, port: usize) -> bool {
        self.ports[port].flush(now);
        self.propagate(now)
    }

    /// The link of a port is up again: the port declares anew.
    pub fn link_up(&mut self, now: Instant, port: usize) {
        self.ports[port].redeclare(now);
    }

    /// The MRPDU that a port sends at `now`.
    pub fn poll_transmit(&mut self, now: Instant, port: usize) -> Option<MrpPdu<V>> {
        self.ports[port].poll_transmit(now)
    }

    /// When something is to be done next.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.ports.iter().map(Participant::deadline).min().unwrap_or(Instant::MAX)
    }

    /// A port begins or ends to forward: its registrations come to the others, or go.
    pub fn set_forwarding(&mut self, now: Instant, port: usize, forwards: bool) {
        self.propagate(now);
        self.forwarding[port] = forwards;
        let mut values: Vec<V> = Vec::new();
        for port in &self.ports {
            values.extend(port.registered().chain(port.declared()).map(|(value, _)| value));
        }
        values.sort_unstable();
        values.dedup();
        for value in values {
            for to in 0..self.ports.len() {
                self.settle(now, to, value, false);
            }
        }
    }

    fn propagate(&mut self, now: Instant) -> bool {
        let mut changed = false;
        for from in 0..self.ports.len() {
            while let Some(indication) = self.ports[from].poll_indication() {
                changed = true;
                let new = indication.notice == Notice::Join(true);
                let others = (0..self.ports.len()).filter(|to| *to != from);
                let few = if planted!(PassedOnOnce) { 1 } else { usize::MAX };
                for to in others.take(few) {
                    self.settle(now, to, indication.value, new);
                }
            }
        }
        changed
    }

    /// A port declares what another port of the context has registered, and nothing else.
    fn settle(&mut self, now: Instant, to: usize, value: V, new: bool) {
        let registered =
            |from: usize| from != to && self.forwarding[from] && self.is_registered(from, &value);
        let declares = self.forwarding[to] && (0..self.ports.len()).any(registered);
        let before = self.ports[to].declared().any(|(declared, _)| declared == value);
        if declares && (new || !before) {
            self.ports[to].join(now, value, None, new);
        } else if !declares && before && !planted!(WithdrawalNotPassedOn) {
            self.ports[to].leave(now, value);
        }
    }
}
