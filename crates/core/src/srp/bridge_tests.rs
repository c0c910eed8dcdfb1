//! The full recomputation of a bridge, as a reference for the incremental one.
//!
//! It shares with `bridge.rs` the participants and the talkers that they register, and nothing else.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec;
use alloc::vec::Vec;

use tautwire_units::{BitRate, Duration, Instant};
use tautwire_wire::srp::{
    FailureCode, FailureInformation, ListenerDeclaration, MrpPdu, MsrpValue, Rank, StreamId, TalkerValue,
};

use super::bandwidth::PortBandwidth;
use super::bridge::{AddressTable, BridgeConfig, PortConfig, SrpBridge, VlanLimits};
use super::class::{SrClass, hop_latency_ns, idle_slope};
use super::mrp::{MrpTiming, Participant};
use super::talkers::{Declarations, TalkerRegistration, Talkers, declare};

/// A talker in the table.
#[derive(Clone, Copy)]
struct Entry {
    port: usize,
    /// Its place in the order of arrival.
    arrived: u64,
}

/// A bridge that computes all anew.
struct Recomputed {
    config: BridgeConfig,
    ports: Vec<Participant<MsrpValue>>,
    talkers: Vec<Talkers>,
    table: BTreeMap<StreamId, Entry>,
    arrivals: u64,
    /// Reservations by egress port, with the time of their creation.
    reserved: BTreeMap<(usize, StreamId), Instant>,
    /// Streams that were preempted on a port, until they are served again.
    preempted: BTreeSet<(usize, StreamId)>,
    bandwidth: Vec<PortBandwidth>,
}

impl Recomputed {
    /// A bridge that begins at `now`. The seed draws the leave-all times of its ports.
    fn new(config: BridgeConfig, seed: u64, now: Instant) -> Self {
        let seeds = (0_u64..).map(|port| seed.wrapping_mul(1_000).wrapping_add(port));
        let ports: Vec<_> = config
            .ports
            .iter()
            .zip(seeds)
            .map(|(_, seed)| Participant::new(config.timing, seed, now))
            .collect();
        let bandwidth =
            config.ports.iter().map(|port| PortBandwidth::new(port.rate, &config.classes)).collect();
        let talkers = vec![Talkers::default(); ports.len()];
        let (table, reserved, preempted) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        let mut bridge = Self { config, ports, talkers, table, arrivals: 0, reserved, preempted, bandwidth };
        bridge.settle(now);
        bridge
    }

    /// An MRPDU comes in; gives whether a registration changed.
    fn receive(&mut self, now: Instant, port: usize, pdu: &MrpPdu<MsrpValue>) -> bool {
        self.ports[port].receive(now, pdu);
        self.hear(now)
    }

    /// Lets time pass; gives whether a registration changed.
    fn advance(&mut self, now: Instant) -> bool {
        for port in &mut self.ports {
            port.advance(now);
        }
        self.hear(now)
    }

    /// The link of a port goes down: all that it registered is forgotten.
    fn link_down(&mut self, now: Instant, port: usize) -> bool {
        self.ports[port].flush(now);
        self.hear(now)
    }

    /// Since when a stream is reserved on an egress port.
    fn reserved_since(&self, port: usize, stream: StreamId) -> Option<Instant> {
        self.reserved.get(&(port, stream)).copied()
    }

    /// Whether a port is at the boundary of a class's domain: its neighbour does not declare the class with this priority.
    fn is_boundary(&self, port: usize, class: &SrClass) -> bool {
        let same = |value: &MsrpValue| {
            matches!(value, MsrpValue::Domain(domain)
                if (domain.class, domain.priority) == (class.domain.class, class.domain.priority))
        };
        !self.ports[port].registered().any(|(value, _)| same(&value))
    }

    fn hear(&mut self, now: Instant) -> bool {
        let mut changed = false;
        for (talkers, port) in self.talkers.iter_mut().zip(&mut self.ports) {
            changed |= talkers.hear(port, |_| ());
        }
        if changed {
            self.settle(now);
        }
        changed
    }

    /// Declares what follows from the registrations; repeatedly until no reservation changes any more, because one
    /// port may take what another releases.
    fn settle(&mut self, now: Instant) {
        self.arrange();
        let refused = self.refused();
        loop {
            let before = self.reserved.clone();
            let wanted = self.round(now, &refused);
            if self.reserved == before {
                for (port, wanted) in self.ports.iter_mut().zip(&wanted) {
                    declare(port, now, wanted);
                }
                return;
            }
        }
    }

    fn round(&mut self, now: Instant, refused: &BTreeMap<StreamId, FailureCode>) -> Vec<Declarations> {
        let domains: Declarations =
            self.config.classes.iter().map(|class| (MsrpValue::Domain(class.domain), None)).collect();
        let mut wanted = vec![domains; self.ports.len()];
        let mut declared: BTreeMap<StreamId, ListenerDeclaration> = BTreeMap::new();
        for (egress, wanted) in wanted.iter_mut().enumerate() {
            let listeners = self.listeners(egress);
            let verdicts = self.decide(now, egress, refused, &listeners);
            for (stream, verdict) in verdicts {
                wanted.insert(self.passed_on(egress, stream, verdict), None);
                if let Some(listener) = listeners.get(&stream) {
                    let listener =
                        if verdict.is_ok() { *listener } else { ListenerDeclaration::AskingFailed };
                    let merged = declared.get(&stream).map_or(listener, |other| merge(*other, listener));
                    declared.insert(stream, merged);
                }
            }
        }
        for (stream, listener) in declared {
            wanted[self.table[&stream].port].insert(MsrpValue::Listener(stream), Some(listener));
        }
        wanted
    }

    /// Updates the table of talkers to the registrations of the ports.
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
            let registration = self.registration(*stream);
            let destination = (registration.talker.destination, registration.talker.vlan);
            let known = ports.contains(&entry.port);
            let addresses = &self.config.addresses;
            let bucket = addresses.bucket(destination);
            let held = destinations.iter().filter(|other| addresses.bucket(**other) == bucket).count();
            let code = if taken == self.config.streams_max {
                Some(FailureCode::MSRP_RESOURCES)
            } else if !known && ports.len() == self.config.fan_in_max {
                Some(FailureCode::FAN_IN)
            } else if destinations.contains(&destination) {
                Some(FailureCode::DESTINATION_IN_USE)
            } else if destinations.len() >= addresses.addresses_max {
                Some(FailureCode::DESTINATION_NOT_STORED)
            } else if held >= addresses.depth {
                Some(FailureCode::OTHER_DESTINATION)
            } else if registration.changed.is_some() {
                registration.changed
            } else if self.class(&registration.talker).is_none() {
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
            let registration = self.registration(*stream);
            // Failed upstream: the verdict is not this bridge's.
            if registration.failure.is_some() {
                verdicts.insert(*stream, Err(FailureCode(0)));
            } else if let Some(code) =
                refused.get(stream).copied().or_else(|| self.blocked(egress, &registration.talker))
            {
                verdicts.insert(*stream, Err(code));
            } else {
                let since = self.reserved_since(egress, *stream);
                let asked = listeners
                    .get(stream)
                    .is_some_and(|declared| *declared != ListenerDeclaration::AskingFailed);
                // Requested streams first, among them by rank, age and arrival.
                let key = (!asked, registration.talker.rank, since.is_none(), since, entry.arrived, *stream);
                candidates.push((key, registration.talker));
            }
        }
        candidates.sort_by_key(|(key, _)| *key);
        let elsewhere = self.reserved.keys().filter(|(port, _)| *port != egress).count();
        let before: BTreeMap<StreamId, Instant> = self.take_reserved(egress);
        let mut bandwidth = PortBandwidth::new(self.config.ports[egress].rate, &self.config.classes);
        // Bandwidth of streams that cannot be displaced, for those that displace others.
        let mut urgent = bandwidth.clone();
        let mut count = elsewhere;
        for ((idle, ..), talker) in &candidates {
            let class = self.class(talker).expect("others were refused");
            let slope = idle_slope(talker, &self.config.classes[class]);
            if *idle || count >= self.config.reservations_max || bandwidth.reserve(class, slope).is_err() {
                continue;
            }
            count += 1;
            let since = before.get(&talker.stream).copied().unwrap_or(now);
            self.reserved.insert((egress, talker.stream), since);
            if talker.rank == Rank::Emergency {
                urgent = bandwidth.clone();
            }
        }
        // Why the others are not served, or could not be, with all that is held in the end.
        let free =
            if count < self.config.reservations_max { Ok(()) } else { Err(FailureCode::BRIDGE_RESOURCES) };
        for ((idle, ..), talker) in candidates {
            let class = self.class(&talker).expect("others were refused");
            let slope = idle_slope(&talker, &self.config.classes[class]);
            let verdict = if self.reserved.contains_key(&(egress, talker.stream)) {
                Ok(())
            } else if idle {
                let held = if talker.rank == Rank::Emergency { &urgent } else { &bandwidth };
                held.test(class, slope).and(free)
            } else {
                free.and_then(|()| bandwidth.test(class, slope))
            };
            let was_reserved = before.contains_key(&talker.stream);
            let verdict = self.mark_preempted((egress, talker.stream), was_reserved, verdict);
            verdicts.insert(talker.stream, verdict);
        }
        self.bandwidth[egress] = bandwidth;
        verdicts
    }

    /// A reservation that is lost was preempted: its failure reason stays until it is served again.
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
        let class = &self.config.classes[self.class(talker)?];
        if self.talkers[egress].get(&talker.stream).is_some() {
            Some(FailureCode::STREAM_IN_USE)
        } else if self.is_boundary(egress, class) {
            let other = |value: &MsrpValue| matches!(value, MsrpValue::Domain(domain) if domain.class == class.domain.class);
            let known = self.ports[egress].registered().any(|(value, _)| other(&value));
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
    fn passed_on(&self, egress: usize, stream: StreamId, verdict: Result<(), FailureCode>) -> MsrpValue {
        let TalkerRegistration { mut talker, failure, .. } = *self.registration(stream);
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
        let listener = |(value, declared): (MsrpValue, Option<ListenerDeclaration>)| match value {
            MsrpValue::Listener(stream) => declared.map(|declared| (stream, declared)),
            MsrpValue::TalkerAdvertise(_) | MsrpValue::TalkerFailed(..) | MsrpValue::Domain(_) => None,
        };
        registered.filter_map(listener).collect()
    }

    fn registration(&self, stream: StreamId) -> &TalkerRegistration {
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

use proptest::prelude::*;
use tautwire_wire::MacAddress;
use tautwire_wire::srp::{AttributeEvent, DomainValue, Entry as PduEntry, pack};

const STREAMS: u16 = 8;
const PORTS: usize = 3;

/// What a neighbour declares on a port, or what happens to the port.
#[derive(Clone, Copy, Debug)]
enum Event {
    Talker { stream: u16, size: u16, class: usize, emergency: bool, failed: bool, shared: bool, leaves: bool },
    Listener { stream: u16, declaration: ListenerDeclaration, leaves: bool },
    Domain { class: usize, other: bool, leaves: bool },
    Down,
    Wait(u64),
}

fn talker(stream: u16, size: u16, priority: u8, rank: Rank, shared: bool) -> TalkerValue {
    let last = if shared { 0 } else { stream.to_be_bytes()[1] };
    TalkerValue {
        stream: StreamId { source: MacAddress([2, 0, 0, 0, 0, 1]), unique: stream },
        destination: MacAddress([0x91, 0xe0, 0xf0, 0, 1, last]),
        vlan: 2 + u16::from(size == 1_500),
        frame_size_max: size,
        interval_frames_max: 1,
        priority,
        rank,
        accumulated_latency_ns: 0,
    }
}

fn entry(event: Event) -> Option<PduEntry<MsrpValue>> {
    let declared = |leaves: bool| if leaves { AttributeEvent::Lv } else { AttributeEvent::JoinIn };
    let (value, event, declaration) = match event {
        Event::Talker { stream, size, class, emergency, failed, shared, leaves } => {
            let rank = if emergency { Rank::Emergency } else { Rank::NonEmergency };
            let talker = talker(stream, size, [3, 2, 5][class], rank, shared);
            let failure = FailureInformation { bridge: 7, code: FailureCode::BANDWIDTH };
            let value = match failed {
                true => MsrpValue::TalkerFailed(talker, failure),
                false => MsrpValue::TalkerAdvertise(talker),
            };
            (value, declared(leaves), None)
        }
        Event::Listener { stream, declaration, leaves } => {
            let stream = StreamId { source: MacAddress([2, 0, 0, 0, 0, 1]), unique: stream };
            (MsrpValue::Listener(stream), declared(leaves), Some(declaration))
        }
        Event::Domain { class, other, leaves } => {
            let domain = [SrClass::a(), SrClass::b()][class % 2].domain;
            let priority = domain.priority + 2 * u8::from(other);
            (MsrpValue::Domain(DomainValue { priority, ..domain }), declared(leaves), None)
        }
        Event::Down | Event::Wait(_) => return None,
    };
    Some(PduEntry { value, event, declaration, optional: false })
}

fn events() -> impl Strategy<Value = Vec<(usize, Event)>> {
    let sizes = prop::sample::select(vec![100_u16, 300, 500, 700, 1_500, 1_501]);
    let of_talker = (0..STREAMS, sizes, 0..7_usize, 0..6_u8, 0..8_u8, 0..6_u8, 0..3_u8).prop_map(
        |(stream, size, class, emergency, failed, shared, leaves)| Event::Talker {
            stream,
            size,
            class: [0, 0, 0, 1, 1, 1, 2][class],
            emergency: emergency == 0,
            failed: failed == 0,
            shared: shared == 0,
            leaves: leaves == 0,
        },
    );
    let declarations = prop::sample::select(vec![
        ListenerDeclaration::Ready,
        ListenerDeclaration::Ready,
        ListenerDeclaration::ReadyFailed,
        ListenerDeclaration::AskingFailed,
    ]);
    let of_listener = (0..STREAMS, declarations, 0..3_u8).prop_map(|(stream, declaration, leaves)| {
        Event::Listener { stream, declaration, leaves: leaves == 0 }
    });
    let of_domain = (0..2_usize, any::<bool>(), 0..3_u8).prop_map(|(class, other, leaves)| Event::Domain {
        class,
        other,
        leaves: leaves == 0,
    });
    let event = prop_oneof![
        8 => of_talker,
        10 => of_listener,
        1 => of_domain,
        1 => Just(Event::Down),
        4 => (1_u64..1_500).prop_map(Event::Wait),
    ];
    prop::collection::vec((0..PORTS, event), 1..80)
}

fn config(streams_max: usize, reservations_max: usize, fan_in_max: usize) -> BridgeConfig {
    let port =
        PortConfig { rate: BitRate::from_mbps(100), frame_size_max: 1_500, device: Duration::from_us(5) };
    let vlans = VlanLimits { forbidden: BTreeSet::from([(2, 3)]), untagged: BTreeSet::from([(1, 3)]) };
    BridgeConfig {
        id: 7,
        classes: vec![
            SrClass { delta_percent: 50, ..SrClass::a() },
            SrClass { delta_percent: 20, ..SrClass::b() },
        ],
        ports: vec![port; PORTS],
        timing: MrpTiming::default(),
        streams_max,
        reservations_max,
        fan_in_max,
        vlans,
        addresses: AddressTable::default(),
    }
}

/// The incremental bridge and the recomputing one agree after any events.
fn hold(config: BridgeConfig, events: &[(usize, Event)]) -> Result<(), TestCaseError> {
    let mut now = Instant::ZERO;
    let mut bridge = SrpBridge::new(config.clone(), 1, now);
    let mut recomputed = Recomputed::new(config, 1, now);
    let hear =
        |bridge: &mut SrpBridge, recomputed: &mut Recomputed, now: Instant, port: usize, event: Event| {
            if let Event::Wait(ms) = event {
                return (
                    bridge.advance(now + Duration::from_ms(ms)),
                    recomputed.advance(now + Duration::from_ms(ms)),
                );
            }
            match entry(event) {
                Some(entry) => {
                    let pdu = &pack(&[entry], &[])[0];
                    (bridge.receive(now, port, pdu), recomputed.receive(now, port, pdu))
                }
                None => (bridge.link_down(now, port), recomputed.link_down(now, port)),
            }
        };
    let domains = (0..PORTS)
        .flat_map(|port| [0, 1].map(|class| (port, Event::Domain { class, other: false, leaves: false })));
    for (port, event) in domains.chain(events.iter().copied()) {
        let (one, other) = hear(&mut bridge, &mut recomputed, now, port, event);
        prop_assert_eq!(one, other);
        if let Event::Wait(ms) = event {
            now += Duration::from_ms(ms);
        }
        prop_assert!(
            bridge
                .reservations()
                .eq(recomputed.reserved.iter().map(|((port, stream), since)| (*port, *stream, *since)))
        );
        for port in 0..PORTS {
            prop_assert_eq!(bridge.bandwidth(port), &recomputed.bandwidth[port]);
            let declared: Vec<_> = bridge.port(port).declared().collect();
            prop_assert_eq!(
                declared,
                recomputed.ports[port].declared().collect::<Vec<_>>(),
                "port {} after {:?}",
                port,
                event
            );
            prop_assert_eq!(bridge.port(port), &recomputed.ports[port]);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_state_of_changed_streams_alone_is_that_of_all_streams(events in events()) {
        hold(config(100, 100, 100), &events)?;
    }

    #[test]
    fn so_does_it_at_the_limits(
        events in events(),
        streams_max in 1_usize..6,
        reservations_max in 0_usize..5,
        fan_in_max in 1_usize..3,
        addresses_max in 1_usize..9,
        buckets in 1_u32..4,
    ) {
        let addresses = AddressTable { addresses_max, buckets, depth: 2 };
        hold(BridgeConfig { addresses, ..config(streams_max, reservations_max, fan_in_max) }, &events)?;
    }
}
