//! A node of HaRTES at the level of frames: all its entities, and the addresses of messages.
//!
//! A node may contain the master of its elementary cycles, the master of a switch, one or two ACMasters, and the
//! entity that requests streams. A control message has the address of its entity; a node without that entity sends it
//! on. Messages for this node are [taken](Station::take_arrived) and [processed](Station::process) when the driver has
//! time for them. Invariants: octets that cannot be parsed change nothing, and are not sent on; a message that is sent
//! on has no padding. Each time that an ACMaster becomes the active one, whatever caused it, the driver is notified.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use tautwire_units::{Duration, Instant};
use tautwire_wire::MacAddress;
use tautwire_wire::harts::{FTT, FttMessage, FttStream, Polled};

use super::{AcAction, AcMaster, FttNode, SwitchMaster, SynchronousScheduler};
use crate::control::{Addresses, Event, Machine, Output};

/// The address of an entity: locally administered, with its identifier behind "FTT".
#[must_use]
pub const fn address_of(entity: u16) -> MacAddress {
    let [high, low] = entity.to_be_bytes();
    MacAddress([0x02, 0x46, 0x54, 0x54, high, low])
}

/// The entity that has an address.
#[must_use]
pub fn entity_of(address: MacAddress) -> Option<u16> {
    let [.., high, low] = address.0;
    let entity = u16::from_be_bytes([high, low]);
    (address_of(entity) == address).then_some(entity)
}

/// The master of a switch's elementary cycles: it opens one after the other by its clock.
#[derive(Clone, Debug)]
pub struct CycleMaster {
    /// The schedule of its polls.
    pub scheduler: SynchronousScheduler,
    /// Length of a cycle.
    cycle: Duration,
    /// The first one begins here.
    base: Instant,
    /// The next one does.
    next: Instant,
}

impl CycleMaster {
    /// A master whose first cycle is the first one that begins at `now` or later.
    #[must_use]
    pub const fn new(scheduler: SynchronousScheduler, cycle: Duration, now: Instant) -> Self {
        let base = Instant::from_ps(now.as_ps().div_ceil(cycle.as_ps()) * cycle.as_ps());
        Self { scheduler, cycle, base, next: base }
    }

    /// When a cycle begins.
    #[must_use]
    pub fn begin(&self, cycle: u32) -> Instant {
        self.base + self.cycle * u64::from(cycle)
    }

    fn open(&mut self) -> (Opened, Vec<Polled>) {
        let cycle = self.scheduler.cycle();
        let polled = self.scheduler.next_cycle();
        self.next += self.cycle;
        let opened = Opened {
            cycle,
            is_announced: true,
            released: self.scheduler.released().to_vec(),
            relayed: self.scheduler.relayed().to_vec(),
            missed: self.scheduler.missed(),
            taken: self.scheduler.taken(),
        };
        (opened, polled)
    }
}

/// A cycle that a master has opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// Its number.
    pub cycle: u32,
    /// Whether nodes are sent it; not while the switch is stopped.
    pub is_announced: bool,
    /// What it polls, message by message: the stream, and the cycle in which that was released.
    pub released: Vec<(u16, u32)>,
    /// The streams of which a message leaves its pool, message by message.
    pub relayed: Vec<u16>,
    /// Messages so far that were not polled before the next of their stream came.
    pub missed: u32,
    /// The total time of these.
    pub taken: Duration,
}

/// Events in a node that others may need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happened {
    /// Its master has opened a cycle.
    Opened(Opened),
    /// It was polled by a master in a cycle: it sends this.
    Polled(u16, u32, Vec<Polled>),
    /// An entity of it has a message for another.
    Sent {
        /// The sender.
        from: u16,
        /// The recipient.
        to: u16,
        /// The message.
        message: FttMessage,
    },
    /// Its switch saw that the link to a neighbour went down or came up.
    Link(u16, bool),
    /// An ACMaster has become the active one.
    TookOver,
    /// An ACMaster wants a stream tested to a consumer.
    Test(u16, FttStream, u16),
}

/// A message that has come for an entity of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Came {
    /// The recipient.
    pub to: u16,
    /// The sender.
    pub from: u16,
    /// The message.
    pub message: FttMessage,
}

/// A node's ports.
#[derive(Clone, Debug, Default)]
pub struct Ports {
    /// Per port the node at the other end.
    pub neighbours: Vec<u16>,
    /// Those that send trigger messages.
    pub triggers: Vec<usize>,
    /// The port towards an entity of another node.
    pub towards: BTreeMap<u16, usize>,
}

/// All entities of a node.
#[derive(Clone, Debug)]
pub struct Station {
    /// Its identifier.
    me: u16,
    ports: Ports,
    /// The master of its cycles.
    pub cycles: Option<CycleMaster>,
    /// The entity that requests streams.
    pub node: Option<FttNode>,
    /// The master of its switch.
    pub switch: Option<SwitchMaster>,
    /// ACMasters by their identifiers, and whether each was known to be the active one.
    acmasters: BTreeMap<u16, (AcMaster, bool)>,
    arrived: VecDeque<Came>,
    happened: VecDeque<Happened>,
    out: VecDeque<Output>,
}

impl Station {
    /// A node with nothing in it.
    #[must_use]
    pub const fn new(me: u16, ports: Ports) -> Self {
        Self {
            me,
            ports,
            cycles: None,
            node: None,
            switch: None,
            acmasters: BTreeMap::new(),
            arrived: VecDeque::new(),
            happened: VecDeque::new(),
            out: VecDeque::new(),
        }
    }

    /// Installs an ACMaster, in place of one with the same identifier.
    pub fn install(&mut self, id: u16, master: AcMaster) {
        let is_active = master.is_active();
        self.acmasters.insert(id, (master, is_active));
    }

    /// An ACMaster of it.
    #[must_use]
    pub fn acmaster(&self, id: u16) -> Option<&AcMaster> {
        self.acmasters.get(&id).map(|(master, _)| master)
    }

    /// The node was stopped: unprocessed messages are lost, and no node received the triggers of cycles that began before `now`.
    pub fn come_back(&mut self, now: Instant) {
        self.arrived.clear();
        self.out.clear();
        while let Some(master) = self.cycles.as_mut().filter(|master| master.next < now) {
            let (opened, _) = master.open();
            self.happened.push_back(Happened::Opened(Opened { is_announced: false, ..opened }));
        }
    }

    /// The next message that has come for an entity of it.
    pub fn take_arrived(&mut self) -> Option<Came> {
        self.arrived.pop_front()
    }

    /// The next thing that has happened.
    pub fn take_happened(&mut self) -> Option<Happened> {
        self.happened.pop_front()
    }

    /// An entity of it processes a message.
    pub fn process(&mut self, now: Instant, to: u16, message: &FttMessage) {
        if let Some((master, _)) = self.acmasters.get_mut(&to) {
            master.receive(now, message);
            self.note_active();
        } else if let Some(switch) = &mut self.switch {
            switch.receive(now, message);
        } else if let Some(node) = &mut self.node {
            let polled = node.receive(now, message);
            if let FttMessage::Trigger { master, cycle, .. } = *message {
                self.happened.push_back(Happened::Polled(master, cycle, polled));
            }
        }
    }

    /// An ACMaster of this node receives the result of a test.
    pub fn tested(&mut self, now: Instant, id: u16, stream: u16, result: Result<(), u16>) {
        if let Some((master, _)) = self.acmasters.get_mut(&id) {
            master.tested(now, stream, result);
        }
    }

    /// Records which ACMasters have become the active one.
    fn note_active(&mut self) {
        for (master, was_active) in self.acmasters.values_mut() {
            let is_active = master.is_active();
            if is_active && !*was_active {
                self.happened.push_back(Happened::TookOver);
            }
            *was_active = is_active;
        }
    }

    fn receive(&mut self, addresses: Addresses, octets: &[u8]) {
        let Ok((message, padding)) = FttMessage::parse(octets) else { return };
        if let FttMessage::Trigger { master: from, .. } = message {
            self.arrived.push_back(Came { to: self.me, from, message });
            return;
        }
        let (Some(to), Some(from)) = (entity_of(addresses.destination), entity_of(addresses.source)) else {
            return;
        };
        if let Some(port) = self.ports.towards.get(&to) {
            let octets = &octets[..octets.len() - padding.len()];
            self.out.push_back(output(*port, octets.to_vec(), Some(addresses)));
        } else if self.is_here(to) {
            self.arrived.push_back(Came { to, from, message });
        }
    }

    fn is_here(&self, entity: u16) -> bool {
        entity == self.me || self.acmasters.contains_key(&entity)
    }

    fn open_cycles(&mut self, now: Instant) {
        while let Some(master) = self.cycles.as_mut().filter(|master| master.next <= now) {
            let (opened, polled) = master.open();
            let message = FttMessage::Trigger { master: self.me, cycle: opened.cycle, polled };
            let mut octets = Vec::new();
            message.emit(&mut octets);
            for port in &self.ports.triggers {
                self.out.push_back(output(*port, octets.clone(), None));
            }
            self.happened.push_back(Happened::Opened(opened));
        }
    }

    /// Time passes.
    fn advance(&mut self, now: Instant) {
        self.open_cycles(now);
        for (master, _) in self.acmasters.values_mut() {
            if master.deadline().is_some_and(|at| at <= now) {
                master.advance(now);
            }
        }
        self.note_active();
        if let Some(switch) = &mut self.switch {
            switch.advance(now);
        }
        if let Some(node) = &mut self.node {
            node.advance(now);
        }
    }

    fn link(&mut self, now: Instant, port: usize, up: bool) {
        let (Some(switch), Some(neighbour)) = (&mut self.switch, self.ports.neighbours.get(port)) else {
            return;
        };
        let was_up = switch.links().any(|link| link.neighbour == *neighbour && link.up);
        switch.link(now, *neighbour, up);
        if was_up != up {
            self.happened.push_back(Happened::Link(*neighbour, up));
        }
    }

    /// Collects the messages of its entities; polling does that, too.
    pub fn collect_messages(&mut self) {
        let me = self.me;
        let mut sent: Vec<(u16, u16, FttMessage)> = Vec::new();
        let node = self.node.as_mut();
        sent.extend(
            node.into_iter()
                .flat_map(|node| core::iter::from_fn(|| node.poll()))
                .map(|(to, message)| (me, to, message)),
        );
        let switch = self.switch.as_mut();
        sent.extend(
            switch
                .into_iter()
                .flat_map(|switch| core::iter::from_fn(|| switch.poll()))
                .map(|(to, message)| (me, to, message)),
        );
        for (id, (master, _)) in &mut self.acmasters {
            while let Some(action) = master.poll() {
                match action {
                    AcAction::Send { to, message } => sent.push((*id, to, message)),
                    AcAction::Test { stream, consumer } => {
                        self.happened.push_back(Happened::Test(*id, stream, consumer));
                    }
                }
            }
        }
        for (from, to, message) in sent {
            let addresses = Addresses { destination: address_of(to), source: address_of(from) };
            if self.is_here(to) {
                self.arrived.push_back(Came { to, from, message });
                continue;
            }
            if let Some(port) = self.ports.towards.get(&to) {
                let mut octets = Vec::new();
                message.emit(&mut octets);
                self.out.push_back(output(*port, octets, Some(addresses)));
            }
            self.happened.push_back(Happened::Sent { from, to, message });
        }
    }
}

impl Machine for Station {
    fn handle(&mut self, now: Instant, event: Event<'_>) {
        match event {
            Event::Received { source, destination, ether_type: FTT, octets, .. } => {
                self.receive(Addresses { destination, source }, octets);
            }
            Event::Link { port, up } => self.link(now, port, up),
            Event::Due => self.advance(now),
            Event::Received { .. } | Event::Sent { .. } => {}
        }
    }

    fn poll(&mut self) -> Option<Output> {
        self.collect_messages();
        self.out.pop_front()
    }

    fn deadline(&self) -> Option<Instant> {
        let opens = self.cycles.as_ref().map(|master| master.next);
        let asks = self.node.as_ref().and_then(FttNode::deadline);
        let switch = self.switch.as_ref().and_then(SwitchMaster::deadline);
        let masters = self.acmasters.values().filter_map(|(master, _)| master.deadline());
        masters.chain(opens).chain(asks).chain(switch).min()
    }
}

fn output(port: usize, octets: Vec<u8>, addresses: Option<Addresses>) -> Output {
    Output { port, ether_type: FTT, octets, addresses }
}

#[cfg(test)]
mod tests {
    use super::super::{AcConfig, Topology};
    use super::*;

    fn received(station: &mut Station, addresses: Addresses, octets: &[u8]) {
        let Addresses { destination, source } = addresses;
        let stamp = Instant::ZERO;
        let event = Event::Received { port: 0, source, destination, ether_type: FTT, octets, stamp };
        station.handle(Instant::ZERO, event);
    }

    fn octets(message: &FttMessage) -> Vec<u8> {
        let mut octets = Vec::new();
        message.emit(&mut octets);
        octets
    }

    /// Node 1 with nodes 2 and 3 behind its ports 0 and 1.
    fn station() -> Station {
        let towards = BTreeMap::from([(2, 0), (3, 1)]);
        Station::new(1, Ports { neighbours: Vec::from([2, 3]), triggers: Vec::from([1]), towards })
    }

    #[test]
    fn addresses_name_entities() {
        assert_eq!(entity_of(address_of(0xfff0)), Some(0xfff0));
        assert_eq!(entity_of(MacAddress::BROADCAST), None);
    }

    #[test]
    fn a_message_is_taken_by_whom_it_is_for_and_sent_on_by_others() {
        let mut station = station();
        let message = FttMessage::Invite { stream: 7 };
        let to = |entity| Addresses { destination: address_of(entity), source: address_of(2) };
        received(&mut station, to(3), &octets(&message));
        assert_eq!(station.poll(), Some(output(1, octets(&message), Some(to(3)))));
        let padded = [octets(&message), Vec::from([0x55; 30])].concat();
        received(&mut station, to(3), &padded);
        assert_eq!(station.poll(), Some(output(1, octets(&message), Some(to(3)))), "padding does not go on");
        received(&mut station, to(9), &octets(&message));
        received(&mut station, to(1), &[0xff; 46]);
        received(&mut station, to(3), &[0xff; 46]);
        assert_eq!((station.poll(), station.take_arrived()), (None, None), "to nobody, and not to be read");
        received(&mut station, to(1), &octets(&message));
        assert_eq!(station.take_arrived(), Some(Came { to: 1, from: 2, message }));
    }

    #[test]
    fn a_standby_that_is_asked_for_all_granted_streams_has_taken_over_and_replies() {
        let config = AcConfig {
            me: 9,
            other: Some(8),
            active: false,
            life: 0,
            patience: Duration::from_ms(10),
            alive: Duration::from_ms(1),
            topology: Topology::default(),
            size_max: 1_542,
        };
        let mut station = station();
        station.install(9, AcMaster::new(config, Instant::ZERO));
        let receive_at = |station: &mut Station, ms, message| {
            station.process(Instant::ZERO + Duration::from_ms(ms), 9, &message);
            core::iter::from_fn(|| station.take_happened()).filter(|it| *it == Happened::TookOver).count()
        };
        // The other one was gone for less than it takes to be missed.
        let came_back = FttMessage::Recall { master: 8, life: 1, attempt: 0 };
        assert_eq!(receive_at(&mut station, 1, came_back.clone()), 1);
        assert!(station.acmaster(9).is_some_and(AcMaster::is_active));
        assert_eq!(receive_at(&mut station, 2, came_back), 0, "it is told once");
        assert_eq!(receive_at(&mut station, 3, FttMessage::Alive { master: 8, life: 1, number: 0 }), 0);
        assert!(!station.acmaster(9).is_some_and(AcMaster::is_active), "the lower identifier stays it");
        assert_eq!(receive_at(&mut station, 4, FttMessage::Recall { master: 8, life: 2, attempt: 0 }), 1);
    }

    #[test]
    fn cycles_are_opened_by_the_clock_and_counted_on_while_the_node_is_stopped() {
        use crate::harts::SchedulerPolicy;
        let us = |us| Instant::ZERO + Duration::from_us(us);
        let scheduler = SynchronousScheduler::new(SchedulerPolicy::RateMonotonic, Duration::ZERO);
        let mut station = station();
        station.cycles = Some(CycleMaster::new(scheduler, Duration::from_us(100), us(50)));
        assert_eq!(station.deadline(), Some(us(100)));
        station.handle(us(100), Event::Due);
        let trigger = station.poll().map(|output| (output.port, output.addresses));
        assert_eq!((trigger, station.poll()), (Some((1, None)), None));
        station.come_back(us(400));
        assert_eq!((station.poll(), station.deadline()), (None, Some(us(400))));
        let cycles = core::iter::from_fn(|| station.take_happened());
        let announced: Vec<(u32, bool)> = cycles
            .filter_map(|happened| match happened {
                Happened::Opened(opened) => Some((opened.cycle, opened.is_announced)),
                _ => None,
            })
            .collect();
        assert_eq!(announced, [(0, true), (1, false), (2, false)]);
    }
}
