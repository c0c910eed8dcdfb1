//! A network of bridges and stations of MSRP, deterministic: MRPDUs go through octets and take a microsecond.

use std::collections::BTreeMap;

use tautwire_core::srp::mrp::MrpTiming;
use tautwire_core::srp::{
    AddressTable, BridgeConfig, PortConfig, SrClass, SrpBridge, SrpStation, VlanLimits,
};
use tautwire_units::{BitRate, Duration, Instant};
use tautwire_wire::MacAddress;
use tautwire_wire::srp::{MrpPdu, MsrpValue, Rank, StreamId, TalkerValue};

pub(crate) const FRAME_DELAY: Duration = Duration::from_us(1);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    Bridge(Box<SrpBridge>),
    Station(Box<SrpStation>),
}

/// An MRPDU on its way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Flying {
    pub(crate) at: Instant,
    pub(crate) to: (usize, usize),
    pub(crate) pdu: MrpPdu<MsrpValue>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Network {
    pub(crate) now: Instant,
    pub(crate) nodes: Vec<Node>,
    /// Both ends of every link, each way.
    peers: BTreeMap<(usize, usize), (usize, usize)>,
    pub(crate) flying: Vec<Flying>,
}

pub(crate) fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_ms(ms)
}

pub(crate) fn stream(unique: u16) -> StreamId {
    StreamId { source: MacAddress([2, 0, 0, 0, 0, 1]), unique }
}

pub(crate) fn talker(unique: u16, frame_size_max: u16) -> TalkerValue {
    TalkerValue {
        stream: stream(unique),
        destination: MacAddress([0x91, 0xe0, 0xf0, 0, 1, unique.to_be_bytes()[1]]),
        vlan: 2,
        frame_size_max,
        interval_frames_max: 1,
        priority: 3,
        rank: Rank::NonEmergency,
        accumulated_latency_ns: 0,
    }
}

pub(crate) fn config(id: u64, ports: usize) -> BridgeConfig {
    let rate = BitRate::from_bps(100_000_000);
    let port = PortConfig { rate, frame_size_max: 1_500, device: Duration::from_us(5) };
    BridgeConfig {
        id,
        classes: vec![SrClass::a(), SrClass::b()],
        ports: vec![port; ports],
        timing: MrpTiming::default(),
        streams_max: 100,
        reservations_max: 100,
        fan_in_max: 100,
        vlans: VlanLimits::default(),
        addresses: AddressTable::default(),
    }
}

impl Network {
    pub(crate) fn new() -> Self {
        Self { now: Instant::ZERO, nodes: Vec::new(), peers: BTreeMap::new(), flying: Vec::new() }
    }

    pub(crate) fn bridge(&mut self, config: BridgeConfig) -> usize {
        let seed = 100 + self.nodes.len() as u64;
        self.nodes.push(Node::Bridge(Box::new(SrpBridge::new(config, seed, self.now))));
        self.nodes.len() - 1
    }

    pub(crate) fn station(&mut self, classes: &[SrClass]) -> usize {
        let seed = 200 + self.nodes.len() as u64;
        let station = SrpStation::new(MrpTiming::default(), seed, classes, self.now);
        self.nodes.push(Node::Station(Box::new(station)));
        self.nodes.len() - 1
    }

    pub(crate) fn connect(&mut self, one: (usize, usize), other: (usize, usize)) {
        self.peers.insert(one, other);
        self.peers.insert(other, one);
    }

    pub(crate) fn disconnect(&mut self, one: (usize, usize)) {
        let other = self.peers.remove(&one).expect("connected");
        self.peers.remove(&other);
        self.flying.retain(|flying| flying.to != one && flying.to != other);
        for (node, port) in [one, other] {
            if let Node::Bridge(bridge) = &mut self.nodes[node] {
                bridge.link_down(self.now, port);
            }
        }
    }

    pub(crate) fn at_station(&mut self, node: usize) -> &mut SrpStation {
        match &mut self.nodes[node] {
            Node::Station(station) => station,
            Node::Bridge(_) => panic!("a bridge"),
        }
    }

    pub(crate) fn at_bridge(&self, node: usize) -> &SrpBridge {
        match &self.nodes[node] {
            Node::Bridge(bridge) => bridge,
            Node::Station(_) => panic!("a station"),
        }
    }

    /// Takes what the nodes have to send now.
    pub(crate) fn collect(&mut self) {
        let now = self.now;
        for (number, node) in self.nodes.iter_mut().enumerate() {
            let ports = match node {
                Node::Bridge(_) => 16,
                Node::Station(_) => 1,
            };
            for port in 0..ports {
                let Some(to) = self.peers.get(&(number, port)) else { continue };
                loop {
                    let pdu = match node {
                        Node::Bridge(bridge) => bridge.poll_transmit(now, port),
                        Node::Station(station) => station.poll_transmit(now),
                    };
                    let Some(pdu) = pdu else { break };
                    let mut octets = Vec::new();
                    pdu.emit(&mut octets);
                    let (pdu, rest) = MrpPdu::parse(&octets).expect("what is written is read");
                    assert!(rest.is_empty());
                    self.flying.push(Flying { at: now + FRAME_DELAY, to: *to, pdu });
                }
            }
        }
    }

    /// The MRPDU that arrives next, if nothing comes before it; otherwise goes on to what comes before, which is at most `until`.
    pub(crate) fn next(&mut self, until: Instant) -> Next {
        self.collect();
        // Ports without a link never send: their deadlines would not advance.
        let deadline = |(number, node): (usize, &Node)| match node {
            Node::Bridge(bridge) => (0..16)
                .filter(|port| self.peers.contains_key(&(number, *port)))
                .map(|port| bridge.port(port).deadline())
                .min(),
            Node::Station(station) => Some(station.deadline()),
        };
        let timer = self.nodes.iter().enumerate().filter_map(deadline).min().unwrap_or(Instant::MAX);
        let first = (0..self.flying.len()).min_by_key(|place| self.flying[*place].at);
        let arrival = first.map_or(Instant::MAX, |place| self.flying[place].at);
        if timer.min(arrival) > until {
            self.now = until;
            return Next::End;
        }
        self.now = timer.min(arrival).max(self.now);
        match first {
            Some(place) if arrival <= timer => Next::Arrival(place),
            _ => {
                for node in &mut self.nodes {
                    match node {
                        Node::Bridge(bridge) => bridge.advance(self.now),
                        Node::Station(station) => station.advance(self.now),
                    };
                }
                Next::Timer
            }
        }
    }

    pub(crate) fn deliver(&mut self, flying: &Flying) {
        match &mut self.nodes[flying.to.0] {
            Node::Bridge(bridge) => bridge.receive(self.now, flying.to.1, &flying.pdu),
            Node::Station(station) => station.receive(self.now, &flying.pdu),
        };
    }

    /// Runs up to a time without faults.
    pub(crate) fn run(&mut self, until: Instant) {
        self.run_with(until, |_, _| true);
    }

    /// Runs up to a time; every MRPDU is shown, and lost if it should not arrive.
    pub(crate) fn run_with(&mut self, until: Instant, mut arrives: impl FnMut(&Self, &Flying) -> bool) {
        loop {
            match self.next(until) {
                Next::End => return,
                Next::Timer => {}
                Next::Arrival(place) => {
                    let flying = self.flying.remove(place);
                    if arrives(self, &flying) {
                        self.deliver(&flying);
                    }
                }
            }
        }
    }
}

pub(crate) enum Next {
    End,
    Timer,
    Arrival(usize),
}
