//! A bridge of MSRP: its declarations on every port, and its reservations (IEEE Std 802.1Q-2022, 35.2.4).
//!
//! A talker that one port has registered is declared on all others, as failed where the stream cannot go. A listener
//! is declared on the talker's port alone, merged over the others. Bandwidth is tested when the talker is declared and
//! again when a listener is ready, which reserves it: streams are served by rank, then by the age of their
//! reservation, then by the order of arrival. An emergency stream preempts others. Declarations follow from
//! registrations and from these ages alone; after a change only the affected parts are recomputed (`table.rs`,
//! `egress.rs`), with the same result as a full recomputation (`bridge_tests.rs`).
//!
//! Of two talkers of one stream on two ports the earlier one is valid; behind the port of the other it is declared as failed.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use tautwire_units::{BitRate, Duration, Instant};
use tautwire_wire::MacAddress;
use tautwire_wire::srp::{
    DomainValue, FailureCode, FailureInformation, ListenerDeclaration, MrpPdu, MsrpValue, StreamId,
    TalkerValue,
};

use super::bandwidth::PortBandwidth;
use super::class::{SrClass, hop_latency_ns, idle_slope};
use super::egress::{Candidate, Egress, News, Pool};
use super::mrp::{MrpTiming, Participant};
use super::table::Table;
use super::talkers::{TalkerRegistration, Talkers};

/// A port of a bridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PortConfig {
    /// Rate of its link.
    pub rate: BitRate,
    /// Longest MSDU.
    pub frame_size_max: u16,
    /// Latency of the device before the port, in addition to waiting and transmission.
    pub device: Duration,
}

/// A bridge: its classes, ports and limits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BridgeConfig {
    /// Bridge identifier, sent with failures.
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
    /// Most ports on which streams are registered (others fail with code 15).
    pub fan_in_max: usize,
    /// The effects of VLANs on streams at ports.
    pub vlans: VlanLimits,
    /// Where destinations are stored.
    pub addresses: AddressTable,
}

/// Where a bridge stores the destinations of streams: buckets of a hash of address and VLAN, as forwarding tables in hardware have them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AddressTable {
    /// Most destinations (others fail with code 12).
    pub addresses_max: usize,
    /// Buckets, at least one.
    pub buckets: u32,
    /// Most destinations of a bucket (others fail with code 9).
    pub depth: usize,
}

impl Default for AddressTable {
    /// One bucket without an end.
    fn default() -> Self {
        Self { addresses_max: usize::MAX, buckets: 1, depth: usize::MAX }
    }
}

impl AddressTable {
    /// The bucket of a destination: its last four octets and the VLAN, multiplied by 2654435761; the upper 16 of 32 bits, modulo the
    /// number of buckets.
    #[must_use]
    pub fn bucket(&self, destination: (MacAddress, u16)) -> u32 {
        let [.., a, b, c, d] = destination.0.0;
        let key = u32::from_be_bytes([a, b, c, d]) ^ u32::from(destination.1);
        (key.wrapping_mul(2_654_435_761) >> 16) % self.buckets.max(1)
    }
}

/// Ports at which streams of a VLAN cannot leave.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct VlanLimits {
    /// Ports and VLANs that cannot be registered there (they fail with code 17).
    pub forbidden: BTreeSet<(usize, u16)>,
    /// Ports and VLANs whose frames leave without a tag, and so without a priority (they fail with code 18).
    pub untagged: BTreeSet<(usize, u16)>,
}

/// A bridge.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SrpBridge {
    config: BridgeConfig,
    ports: Vec<Participant<MsrpValue>>,
    talkers: Vec<Talkers>,
    /// Domains that the ports have registered.
    domains: Vec<BTreeSet<DomainValue>>,
    table: Table,
    egress: Vec<Egress>,
    pool: Pool,
    declared: Vec<Declared>,
}

/// The declarations of a port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Declared {
    talkers: BTreeMap<StreamId, MsrpValue>,
    listeners: BTreeMap<StreamId, ListenerDeclaration>,
}

/// Changes that are not settled.
struct Heard {
    /// Streams whose talkers changed at a port.
    talkers: BTreeSet<StreamId>,
    /// Per port: streams whose listeners changed there.
    listeners: Vec<BTreeSet<StreamId>>,
    /// Per port: whether a domain changed there.
    domains: Vec<bool>,
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
        let talkers = alloc::vec![Talkers::default(); ports.len()];
        let egress = |port: &PortConfig| Egress::new(PortBandwidth::new(port.rate, &config.classes));
        let mut bridge = Self {
            domains: alloc::vec![BTreeSet::new(); ports.len()],
            table: Table::default(),
            egress: config.ports.iter().map(egress).collect(),
            pool: Pool { count: 0, max: config.reservations_max },
            declared: alloc::vec![Declared::default(); ports.len()],
            config,
            ports,
            talkers,
        };
        for port in &mut bridge.ports {
            for class in &bridge.config.classes {
                port.join(now, MsrpValue::Domain(class.domain), None, false);
            }
        }
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

    /// Reservations by egress port and stream, with the time of their creation.
    pub fn reservations(&self) -> impl Iterator<Item = (usize, StreamId, Instant)> {
        let ports = self.egress.iter().enumerate();
        ports.flat_map(|(port, egress)| egress.reserved().map(move |(stream, since)| (port, stream, since)))
    }

    /// Since when a stream is reserved on an egress port.
    #[must_use]
    pub fn reserved_since(&self, port: usize, stream: StreamId) -> Option<Instant> {
        self.egress[port].since(&stream)
    }

    /// The reserved bandwidth of a port's classes.
    #[must_use]
    pub fn bandwidth(&self, port: usize) -> &PortBandwidth {
        self.egress[port].bandwidth()
    }

    /// Whether a port is at the boundary of a class's domain: its neighbour does not declare the class with this priority.
    #[must_use]
    pub fn is_boundary(&self, port: usize, class: &SrClass) -> bool {
        let same = |domain: &DomainValue| {
            (domain.class, domain.priority) == (class.domain.class, class.domain.priority)
        };
        !self.domains[port].iter().any(same)
    }

    fn hear(&mut self, now: Instant) -> bool {
        let ports = self.ports.len();
        let mut heard = Heard {
            talkers: BTreeSet::new(),
            listeners: alloc::vec![BTreeSet::new(); ports],
            domains: alloc::vec![false; ports],
        };
        let mut changed = false;
        for (number, port) in self.ports.iter_mut().enumerate() {
            let listeners = &mut heard.listeners[number];
            let domains = &mut heard.domains[number];
            changed |= self.talkers[number].hear(port, |value| match value {
                MsrpValue::TalkerAdvertise(talker) | MsrpValue::TalkerFailed(talker, _) => {
                    heard.talkers.insert(talker.stream);
                }
                MsrpValue::Listener(stream) => {
                    listeners.insert(*stream);
                }
                MsrpValue::Domain(_) => *domains = true,
            });
            if *domains {
                let registered = port.registered().filter_map(|(value, _)| match value {
                    MsrpValue::Domain(domain) => Some(domain),
                    _ => None,
                });
                self.domains[number] = registered.collect();
            }
        }
        if changed {
            self.settle(now, &heard);
        }
        changed
    }

    /// Declares what follows from the registrations, as far as the received changes can have affected it.
    fn settle(&mut self, now: Instant, heard: &Heard) {
        let (mut changed, gone) = self.table.update(&self.config, &self.talkers, &heard.talkers);
        for stream in &gone {
            self.egress.iter_mut().for_each(|egress| egress.forget(stream));
        }
        changed.extend(&heard.talkers);
        let mut declares = self.decide(now, &changed, heard);
        let mut listens = changed.clone();
        for (port, declares) in declares.iter_mut().enumerate() {
            listens.extend(heard.listeners[port].iter().chain(&*declares));
            declares.extend(&changed);
        }
        let mut joins: Vec<Vec<(MsrpValue, Option<ListenerDeclaration>, bool)>> =
            alloc::vec![Vec::new(); self.ports.len()];
        // Leaves before joins, as other figures of a stream take the place of those before.
        for (port, declares) in declares.iter().enumerate() {
            for stream in declares {
                let wanted = self.passed_on(port, *stream);
                let before = match wanted {
                    Some(wanted) => self.declared[port].talkers.insert(*stream, wanted),
                    None => self.declared[port].talkers.remove(stream),
                };
                if before != wanted {
                    before.into_iter().for_each(|before| self.ports[port].leave(now, before));
                    joins[port].extend(wanted.map(|wanted| (wanted, None, true)));
                }
            }
        }
        for stream in listens {
            let at = self.table.get(&stream).map(|entry| entry.port);
            let merged = self.merged(&stream);
            for (port, joins) in joins.iter_mut().enumerate() {
                let wanted = merged.filter(|_| at == Some(port));
                let before = match wanted {
                    Some(wanted) => self.declared[port].listeners.insert(stream, wanted),
                    None => self.declared[port].listeners.remove(&stream),
                };
                let value = MsrpValue::Listener(stream);
                match (before, wanted) {
                    (Some(_), None) => self.ports[port].leave(now, value),
                    (before, Some(wanted)) if before != Some(wanted) => {
                        joins.push((value, Some(wanted), before.is_none()));
                    }
                    _ => {}
                }
            }
        }
        for (port, joins) in self.ports.iter_mut().zip(joins) {
            for (value, declaration, new) in joins {
                port.join(now, value, declaration, new);
            }
        }
    }

    /// Has the ports take what became of streams; gives for each port the streams whose verdict changed.
    fn decide(
        &mut self,
        now: Instant,
        changed: &BTreeSet<StreamId>,
        heard: &Heard,
    ) -> Vec<BTreeSet<StreamId>> {
        let ports = self.ports.len();
        let mut declares = alloc::vec![BTreeSet::new(); ports];
        // Ports to recompute, and whether all requested streams there are to be tested again.
        let mut dirty: BTreeMap<usize, bool> = (0..ports).map(|port| (port, false)).collect();
        let mut first = alloc::vec![true; ports];
        let mut from = 0;
        while let Some((&port, &again)) = dirty.range(from..).next().or_else(|| dirty.iter().next()) {
            dirty.remove(&port);
            from = port + 1;
            let mut streams = BTreeSet::new();
            if core::mem::replace(&mut first[port], false) {
                streams.extend(changed.iter().chain(&heard.listeners[port]).copied());
                if heard.domains[port] {
                    streams.extend(self.table.streams().copied());
                }
            }
            if streams.is_empty() && !again {
                continue;
            }
            let news: Vec<_> = streams.iter().map(|stream| (*stream, self.news(port, stream))).collect();
            let was_free = self.pool.is_free();
            let verdicts = self.egress[port].update(now, news.into_iter(), again, &mut self.pool);
            declares[port].extend(verdicts);
            if was_free != self.pool.is_free() {
                dirty.extend((0..ports).map(|port| (port, true)));
            }
        }
        declares
    }

    /// The state of a stream at a port.
    fn news(&self, egress: usize, stream: &StreamId) -> News {
        let entry = self.table.get(stream).filter(|entry| entry.port != egress)?;
        let registration = self.registration(stream)?;
        // Failed upstream: the verdict is not this bridge's.
        if registration.failure.is_some() {
            return Some(Err(FailureCode(0)));
        }
        let refusal = self.table.refusal(stream);
        if let Some(code) = refusal.or_else(|| self.blocked(egress, &registration.talker)) {
            return Some(Err(code));
        }
        let class = self.class(&registration.talker).expect("others were refused");
        let slope = idle_slope(&registration.talker, &self.config.classes[class]);
        let asked = self
            .listener(egress, stream)
            .is_some_and(|declaration| declaration != ListenerDeclaration::AskingFailed);
        let (rank, arrived) = (registration.talker.rank, entry.arrived);
        Some(Ok(Candidate { class, slope, rank, asked, arrived }))
    }

    /// Why a stream cannot go out of a port, whatever else goes there.
    fn blocked(&self, egress: usize, talker: &TalkerValue) -> Option<FailureCode> {
        let class = &self.config.classes[self.class(talker)?];
        if self.talkers[egress].get(&talker.stream).is_some() {
            // Another talker offers the stream behind this port.
            Some(FailureCode::STREAM_IN_USE)
        } else if self.is_boundary(egress, class) {
            let known = self.domains[egress].iter().any(|domain| domain.class == class.domain.class);
            Some(if known { FailureCode::PRIORITY_MISMATCH } else { FailureCode::PORT_NOT_CAPABLE })
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
    fn passed_on(&self, egress: usize, stream: StreamId) -> Option<MsrpValue> {
        let verdict = self.egress[egress].verdict(&stream)?;
        let TalkerRegistration { mut talker, failure, .. } = *self.registration(&stream)?;
        if let Some(class) = self.class(&talker) {
            let port = &self.config.ports[egress];
            let percent: u64 =
                self.config.classes[..=class].iter().map(|class| u64::from(class.delta_percent)).sum();
            let class = &self.config.classes[class];
            let hop = hop_latency_ns(port.device, port.rate, class, percent.min(100), &talker);
            talker.accumulated_latency_ns = talker.accumulated_latency_ns.saturating_add(hop);
        }
        Some(match (failure, verdict) {
            (Some(failure), _) => MsrpValue::TalkerFailed(talker, failure),
            (None, Ok(())) => MsrpValue::TalkerAdvertise(talker),
            (None, Err(code)) => {
                MsrpValue::TalkerFailed(talker, FailureInformation { bridge: self.config.id, code })
            }
        })
    }

    /// The merged declaration of a stream's listeners, on the ports where it can be forwarded.
    fn merged(&self, stream: &StreamId) -> Option<ListenerDeclaration> {
        let at = |port: usize| {
            let verdict = self.egress[port].verdict(stream)?;
            let declaration = self.listener(port, stream)?;
            Some(if verdict.is_ok() { declaration } else { ListenerDeclaration::AskingFailed })
        };
        (0..self.ports.len()).filter_map(at).reduce(merge)
    }

    fn listener(&self, port: usize, stream: &StreamId) -> Option<ListenerDeclaration> {
        self.ports[port].registration(&MsrpValue::Listener(*stream)).flatten()
    }

    fn registration(&self, stream: &StreamId) -> Option<&TalkerRegistration> {
        self.talkers[self.table.get(stream)?.port].get(stream)
    }

    fn class(&self, talker: &TalkerValue) -> Option<usize> {
        self.config.classes.iter().position(|class| class.domain.priority == talker.priority)
    }
}

/// Two listener declarations as one (Table 35-15).
fn merge(one: ListenerDeclaration, other: ListenerDeclaration) -> ListenerDeclaration {
    if one == other { one } else { ListenerDeclaration::ReadyFailed }
}
