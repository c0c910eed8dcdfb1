//! A bridge of MSRP: what it declares on every port, and what it promises (IEEE Std 802.1Q-2022, 35.2.4).
//!
//! A talker that one port has registered is declared on all others, as failed where the stream cannot go. A
//! listener is declared on the talker's port alone, merged over the others. Bandwidth is tested when the talker is
//! declared and again when a listener is ready, which locks it: streams are served by rank, then by the age
//! of their reservation, then by the order in which they came. An emergency stream takes the place of others.
//!
//! Of two talkers of one stream on two ports the one that was first counts; the other is not passed on.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use tautwire_units::{BitRate, Duration, Instant};
use tautwire_wire::mrp::{
    FailureCode, FailureInformation, ListenerDeclaration, MrpPdu, MsrpValue, Rank, StreamId, TalkerValue,
};

use super::bandwidth::PortBandwidth;
use super::class::{SrClass, hop_latency_ns, idle_slope};
use super::talkers::{Declarations, Talkers, Told, declare};
use crate::mrp::{MrpTiming, Participant};

/// A port of a bridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PortConfig {
    /// Rate of its link.
    pub rate: BitRate,
    /// Longest MSDU.
    pub frame_size_max: u16,
    /// Latency of the device before the port, beside that of waiting and sending.
    pub device: Duration,
}

/// A bridge: its classes, ports and limits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BridgeConfig {
    /// Bridge identifier, told with failures.
    pub id: u64,
    /// Classes, highest first.
    pub classes: Vec<SrClass>,
    /// Ports.
    pub ports: Vec<PortConfig>,
    /// Times of MRP.
    pub timing: MrpTiming,
    /// Most streams that the table of talkers holds (others fail with code 10).
    pub streams_max: usize,
    /// Most reservations of the bridge, counted per egress port (others fail with code 2).
    pub reservations_max: usize,
    /// Most ports that bring streams (others fail with code 15).
    pub fan_in_max: usize,
    /// What VLANs do to streams at ports.
    pub vlans: VlanLimits,
}

/// Ports at which streams of a VLAN cannot leave.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct VlanLimits {
    /// Ports and VLANs that cannot be registered there (they fail with code 17).
    pub forbidden: BTreeSet<(usize, u16)>,
    /// Ports and VLANs whose frames leave without a tag, and so without a priority (they fail with code 18).
    pub untagged: BTreeSet<(usize, u16)>,
}

/// A talker in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Entry {
    port: usize,
    /// Its place in the order of arrival.
    arrived: u64,
}

/// A bridge.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SrpBridge {
    config: BridgeConfig,
    ports: Vec<Participant<MsrpValue>>,
    talkers: Vec<Talkers>,
    table: BTreeMap<StreamId, Entry>,
    arrivals: u64,
    /// Reservations by egress port, with the time since which they stand.
    reserved: BTreeMap<(usize, StreamId), Instant>,
    /// Streams that had to give way on a port, until they are served again.
    preempted: BTreeSet<(usize, StreamId)>,
    bandwidth: Vec<PortBandwidth>,
}

impl SrpBridge {
    /// A bridge that begins at `now`. The seed draws the leave-all times of its ports.
    #[must_use]
    pub fn new(config: BridgeConfig, seed: u64, now: Instant) -> Self {
        let seeds = (0_u64..).map(|port| seed.wrapping_mul(1_000).wrapping_add(port));
        let ports: Vec<_> = config
            .ports
            .iter()
            .zip(seeds)
            .map(|(_, seed)| Participant::new(config.timing, seed, now))
            .collect();
        let bandwidth =
            config.ports.iter().map(|port| PortBandwidth::new(port.rate, &config.classes)).collect();
        let talkers = alloc::vec![Talkers::default(); ports.len()];
        let (table, reserved, preempted) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        let mut bridge = Self { config, ports, talkers, table, arrivals: 0, reserved, preempted, bandwidth };
        bridge.settle(now);
        bridge
    }

    /// An MRPDU comes in; gives whether a registration changed.
    pub fn receive(&mut self, now: Instant, port: usize, pdu: &MrpPdu<MsrpValue>) -> bool {
        self.ports[port].receive(now, pdu);
        self.hear(now)
    }

    /// Lets time pass; gives whether a registration changed.
    pub fn advance(&mut self, now: Instant) -> bool {
        for port in &mut self.ports {
            port.advance(now);
        }
        self.hear(now)
    }

    /// The MRPDU that a port sends at `now`.
    pub fn poll_transmit(&mut self, now: Instant, port: usize) -> Option<MrpPdu<MsrpValue>> {
        self.ports[port].poll_transmit(now)
    }

    /// When something is to be done next.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.ports.iter().map(Participant::deadline).min().unwrap_or(Instant::MAX)
    }

    /// The link of a port goes down: all that it registered is forgotten.
    pub fn link_down(&mut self, now: Instant, port: usize) -> bool {
        self.ports[port].flush(now);
        self.hear(now)
    }

    /// The link of a port is up again: the port declares anew.
    pub fn link_up(&mut self, now: Instant, port: usize) {
        self.ports[port].redeclare(now);
    }

    /// A port's participant.
    #[must_use]
    pub fn port(&self, port: usize) -> &Participant<MsrpValue> {
        &self.ports[port]
    }

    /// Reservations by egress port and stream, with the time since which they stand.
    pub fn reservations(&self) -> impl Iterator<Item = (usize, StreamId, Instant)> {
        self.reserved.iter().map(|((port, stream), since)| (*port, *stream, *since))
    }

    /// Since when a stream is reserved on an egress port.
    #[must_use]
    pub fn reserved_since(&self, port: usize, stream: StreamId) -> Option<Instant> {
        self.reserved.get(&(port, stream)).copied()
    }

    /// What the classes of a port hold.
    #[must_use]
    pub fn bandwidth(&self, port: usize) -> &PortBandwidth {
        &self.bandwidth[port]
    }

    /// Whether a port is at the boundary of a class's domain: its neighbour does not declare the class with this priority.
    #[must_use]
    pub fn is_boundary(&self, port: usize, class: &SrClass) -> bool {
        let same = |value: &MsrpValue| {
            matches!(value, MsrpValue::Domain(domain)
                if (domain.class, domain.priority) == (class.domain.class, class.domain.priority))
        };
        !self.ports[port].registered().any(|(value, _)| same(&value))
    }

    fn hear(&mut self, now: Instant) -> bool {
        let mut changed = false;
        for (talkers, port) in self.talkers.iter_mut().zip(&mut self.ports) {
            changed |= talkers.hear(port);
        }
        if changed {
            self.settle(now);
        }
        changed
    }

    /// Declares what follows from what is registered.
    fn settle(&mut self, now: Instant) {
        self.arrange();
        let refused = self.refused();
        let domains: Declarations =
            self.config.classes.iter().map(|class| (MsrpValue::Domain(class.domain), None)).collect();
        let mut wanted = alloc::vec![domains; self.ports.len()];
        let mut said: BTreeMap<StreamId, ListenerDeclaration> = BTreeMap::new();
        for (egress, wanted) in wanted.iter_mut().enumerate() {
            let listeners = self.listeners(egress);
            let verdicts = self.decide(now, egress, &refused, &listeners);
            for (stream, verdict) in verdicts {
                wanted.insert(self.passed_on(egress, stream, verdict), None);
                if let Some(listener) = listeners.get(&stream) {
                    let listener =
                        if verdict.is_ok() { *listener } else { ListenerDeclaration::AskingFailed };
                    let merged = said.get(&stream).map_or(listener, |other| merge(*other, listener));
                    said.insert(stream, merged);
                }
            }
        }
        for (stream, listener) in said {
            wanted[self.table[&stream].port].insert(MsrpValue::Listener(stream), Some(listener));
        }
        for (port, wanted) in self.ports.iter_mut().zip(&wanted) {
            declare(port, now, wanted);
        }
    }

    /// Brings the table of talkers in line with what the ports have registered.
    fn arrange(&mut self) {
        let talkers = &self.talkers;
        self.table.retain(|stream, entry| talkers[entry.port].get(stream).is_some());
        self.preempted.retain(|(_, stream)| self.table.contains_key(stream));
        for (port, talkers) in talkers.iter().enumerate() {
            for (stream, _) in talkers.iter() {
                let arrived = self.arrivals;
                let entry = self.table.entry(*stream).or_insert(Entry { port, arrived });
                self.arrivals += u64::from(entry.arrived == arrived);
            }
        }
    }

    /// Streams that the bridge takes on no port, and why; in the order of their arrival, so that those that came
    /// first keep their places.
    fn refused(&self) -> BTreeMap<StreamId, FailureCode> {
        let mut refused = BTreeMap::new();
        let (mut ports, mut destinations) = (BTreeSet::new(), BTreeSet::new());
        let mut taken = 0;
        let mut arrived: Vec<_> = self.table.iter().collect();
        arrived.sort_by_key(|(_, entry)| entry.arrived);
        for (stream, entry) in arrived {
            let told = self.told(*stream);
            let destination = (told.talker.destination, told.talker.vlan);
            let known = ports.contains(&entry.port);
            let code = if taken == self.config.streams_max {
                Some(FailureCode::MSRP_RESOURCES)
            } else if !known && ports.len() == self.config.fan_in_max {
                Some(FailureCode::FAN_IN)
            } else if destinations.contains(&destination) {
                Some(FailureCode::DESTINATION_IN_USE)
            } else if told.changed {
                Some(FailureCode::VALUE_CHANGED)
            } else if self.class(&told.talker).is_none() {
                Some(FailureCode::NOT_A_CLASS_PRIORITY)
            } else {
                None
            };
            if let Some(code) = code {
                refused.insert(*stream, code);
            } else {
                taken += 1;
                ports.insert(entry.port);
                destinations.insert(destination);
            }
        }
        refused
    }

    /// Which streams can go out of a port; locks the bandwidth of those with ready listeners.
    fn decide(
        &mut self,
        now: Instant,
        egress: usize,
        refused: &BTreeMap<StreamId, FailureCode>,
        listeners: &BTreeMap<StreamId, ListenerDeclaration>,
    ) -> BTreeMap<StreamId, Result<(), FailureCode>> {
        let mut verdicts = BTreeMap::new();
        let mut candidates = Vec::new();
        for (stream, entry) in self.table.iter().filter(|(_, entry)| entry.port != egress) {
            let told = self.told(*stream);
            // Failed upstream: the verdict is not this bridge's.
            if told.failure.is_some() {
                verdicts.insert(*stream, Err(FailureCode(0)));
            } else if let Some(code) =
                refused.get(stream).copied().or_else(|| self.blocked(egress, &told.talker))
            {
                verdicts.insert(*stream, Err(code));
            } else {
                let since = self.reserved_since(egress, *stream);
                let asked =
                    listeners.get(stream).is_some_and(|said| *said != ListenerDeclaration::AskingFailed);
                // Streams that ask first, among them by rank, age and arrival.
                let key = (!asked, told.talker.rank, since.is_none(), since, entry.arrived, *stream);
                candidates.push((key, told.talker));
            }
        }
        candidates.sort_by_key(|(key, _)| *key);
        let elsewhere = self.reserved.keys().filter(|(port, _)| *port != egress).count();
        let before: BTreeMap<StreamId, Instant> = self.take_reserved(egress);
        let mut bandwidth = PortBandwidth::new(self.config.ports[egress].rate, &self.config.classes);
        // What streams that cannot be displaced hold, for those that displace others.
        let mut urgent = bandwidth.clone();
        let mut count = elsewhere;
        for ((idle, ..), talker) in candidates {
            let class = self.class(&talker).expect("others were refused");
            let slope = idle_slope(&talker, &self.config.classes[class]);
            let emergency = talker.rank == Rank::Emergency;
            let old = before.get(&talker.stream);
            let verdict = if idle {
                let held = if emergency { &urgent } else { &bandwidth };
                let free = count < self.config.reservations_max;
                held.test(class, slope).and(if free { Ok(()) } else { Err(FailureCode::BRIDGE_RESOURCES) })
            } else if count >= self.config.reservations_max {
                Err(FailureCode::BRIDGE_RESOURCES)
            } else if planted!(ReadyNotLocked) {
                bandwidth.test(class, slope)
            } else {
                bandwidth.reserve(class, slope)
            };
            if verdict.is_ok() && !idle {
                count += 1;
                self.reserved.insert((egress, talker.stream), old.copied().unwrap_or(now));
                if emergency {
                    urgent = bandwidth.clone();
                }
            }
            let verdict = self.mark_preempted((egress, talker.stream), old.is_some(), verdict);
            verdicts.insert(talker.stream, verdict);
        }
        self.bandwidth[egress] = bandwidth;
        verdicts
    }

    /// A reservation that does not hold any more gave way: its reason stays until it is served again.
    fn mark_preempted(
        &mut self,
        place: (usize, StreamId),
        was_reserved: bool,
        verdict: Result<(), FailureCode>,
    ) -> Result<(), FailureCode> {
        if verdict.is_ok() {
            self.preempted.remove(&place);
        } else if was_reserved {
            self.preempted.insert(place);
        }
        verdict.map_err(|code| if self.preempted.contains(&place) { FailureCode::PREEMPTED } else { code })
    }

    fn take_reserved(&mut self, egress: usize) -> BTreeMap<StreamId, Instant> {
        let mut taken = BTreeMap::new();
        self.reserved.retain(|(port, stream), since| {
            if *port == egress {
                taken.insert(*stream, *since);
            }
            *port != egress
        });
        taken
    }

    /// Why a stream cannot go out of a port, whatever else goes there.
    fn blocked(&self, egress: usize, talker: &TalkerValue) -> Option<FailureCode> {
        let class = self.class(talker)?;
        if self.is_boundary(egress, &self.config.classes[class]) {
            Some(FailureCode::PORT_NOT_CAPABLE)
        } else if self.config.vlans.forbidden.contains(&(egress, talker.vlan)) {
            Some(FailureCode::VLAN_BLOCKED)
        } else if self.config.vlans.untagged.contains(&(egress, talker.vlan)) {
            Some(FailureCode::VLAN_UNTAGGED)
        } else if talker.frame_size_max > self.config.ports[egress].frame_size_max {
            Some(FailureCode::FRAME_TOO_LONG)
        } else {
            None
        }
    }

    /// What a port declares of a talker.
    fn passed_on(&self, egress: usize, stream: StreamId, verdict: Result<(), FailureCode>) -> MsrpValue {
        let Told { mut talker, failure, .. } = *self.told(stream);
        if let Some(class) = self.class(&talker) {
            let port = &self.config.ports[egress];
            let percent: u64 =
                self.config.classes[..=class].iter().map(|class| u64::from(class.delta_percent)).sum();
            let class = &self.config.classes[class];
            let hop = hop_latency_ns(port.device, port.rate, class, percent.min(100), &talker);
            talker.accumulated_latency_ns = talker.accumulated_latency_ns.saturating_add(hop);
        }
        match (failure, verdict) {
            (Some(failure), _) => MsrpValue::TalkerFailed(talker, failure),
            (None, Ok(())) => MsrpValue::TalkerAdvertise(talker),
            (None, Err(code)) => {
                MsrpValue::TalkerFailed(talker, FailureInformation { bridge: self.config.id, code })
            }
        }
    }

    fn listeners(&self, port: usize) -> BTreeMap<StreamId, ListenerDeclaration> {
        let registered = self.ports[port].registered();
        let listener = |(value, said): (MsrpValue, Option<ListenerDeclaration>)| match value {
            MsrpValue::Listener(stream) => said.map(|said| (stream, said)),
            MsrpValue::TalkerAdvertise(_) | MsrpValue::TalkerFailed(..) | MsrpValue::Domain(_) => None,
        };
        registered.filter_map(listener).collect()
    }

    fn told(&self, stream: StreamId) -> &Told {
        self.talkers[self.table[&stream].port].get(&stream).expect("the table holds what is registered")
    }

    fn class(&self, talker: &TalkerValue) -> Option<usize> {
        self.config.classes.iter().position(|class| class.domain.priority == talker.priority)
    }
}

/// Two listener declarations as one (Table 35-15).
fn merge(one: ListenerDeclaration, other: ListenerDeclaration) -> ListenerDeclaration {
    if one == other { one } else { ListenerDeclaration::ReadyFailed }
}
