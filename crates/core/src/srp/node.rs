//! A node of stream reservation at the level of frames: MSRP and MVRP of a bridge or an end station, MRPDUs in and out as octets.
//!
//! Its timers run on its clock, in steps if its software polls them in steps; it sends after it has polled them.
//! Octets that cannot be parsed change nothing. Not here: the requests of its applications (the driver makes them at
//! the station), what a registration means for the data plane.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use tautwire_units::{Duration, Instant};
use tautwire_wire::srp::{AttributeValue, MrpPdu, MsrpValue, MvrpValue};

use super::vlans::VlanNode;
use super::{SrpBridge, SrpStation};
use crate::central::EdgeBridge;
use crate::control::{Event, Machine, Output};

/// The part of a node in MSRP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SrpPart {
    /// A bridge that decides.
    Bridge(Box<SrpBridge>),
    /// An end station; it takes part with its first port.
    Station(Box<SrpStation>),
    /// A bridge that is configured centrally.
    Edge(Box<EdgeBridge>),
    /// Nothing.
    None,
}

/// Steps in which a node's software looks at its timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerSteps {
    /// Length of a step.
    pub period: Duration,
    /// Where the first begins.
    pub from: Instant,
    /// Whether they count from the last MRPDU that was received.
    pub restart: bool,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SrpNode {
    part: SrpPart,
    vlans: VlanNode,
    /// Ports that take part.
    ports: usize,
    steps: Option<TimerSteps>,
    /// Whether a registration of MSRP changed since the last call.
    changed: bool,
    out: VecDeque<Output>,
}

impl SrpNode {
    /// A node of so many ports; `steps` if it looks at its timers in steps.
    #[must_use]
    pub const fn new(part: SrpPart, vlans: VlanNode, ports: usize, steps: Option<TimerSteps>) -> Self {
        Self { part, vlans, ports, steps, changed: false, out: VecDeque::new() }
    }

    /// Its part in MSRP.
    #[must_use]
    pub const fn part(&self) -> &SrpPart {
        &self.part
    }

    /// As [`Self::part`], mutable: to request at a station, or to declare at an edge bridge.
    pub const fn part_mut(&mut self) -> &mut SrpPart {
        &mut self.part
    }

    /// Its MVRP.
    pub const fn vlans_mut(&mut self) -> &mut VlanNode {
        &mut self.vlans
    }

    /// Whether a registration of MSRP may have changed since the last call.
    pub const fn take_changed(&mut self) -> bool {
        core::mem::replace(&mut self.changed, false)
    }

    fn receive(&mut self, now: Instant, port: usize, pdu: &MrpPdu<MsrpValue>) {
        self.changed |= match &mut self.part {
            SrpPart::Bridge(bridge) => bridge.receive(now, port, pdu),
            SrpPart::Station(station) => port == 0 && station.receive(now, pdu),
            SrpPart::Edge(edge) => {
                edge.receive(now, port, pdu);
                true
            }
            SrpPart::None => false,
        };
    }

    fn heard(&mut self, now: Instant) {
        if let Some(steps) = self.steps.as_mut().filter(|steps| steps.restart) {
            steps.from = now;
        }
    }

    fn advance(&mut self, now: Instant) {
        self.vlans.advance(now);
        self.changed |= match &mut self.part {
            SrpPart::Bridge(bridge) => bridge.advance(now),
            SrpPart::Station(station) => station.advance(now),
            SrpPart::Edge(edge) => {
                edge.advance(now);
                true
            }
            SrpPart::None => false,
        };
        for port in 0..self.ports {
            let streams = match &mut self.part {
                SrpPart::Bridge(bridge) => bridge.poll_transmit(now, port),
                SrpPart::Station(station) if port == 0 => station.poll_transmit(now),
                SrpPart::Edge(edge) => edge.poll_transmit(now, port),
                SrpPart::Station(_) | SrpPart::None => None,
            };
            self.out.extend(streams.map(|pdu| output(port, &pdu)));
            self.out.extend(self.vlans.poll_transmit(now, port).map(|pdu| output(port, &pdu)));
        }
    }

    fn link(&mut self, now: Instant, port: usize, up: bool) {
        self.vlans.link(now, port, up);
        match &mut self.part {
            SrpPart::Bridge(bridge) if up => bridge.link_up(now, port),
            SrpPart::Bridge(bridge) => self.changed |= bridge.link_down(now, port),
            SrpPart::Station(station) if up && port == 0 => station.link_up(now),
            SrpPart::Station(station) if port == 0 => self.changed |= station.link_down(now),
            SrpPart::Edge(edge) if up => edge.link_up(now, port),
            SrpPart::Edge(edge) => {
                edge.link_down(now, port);
                self.changed = true;
            }
            SrpPart::Station(_) | SrpPart::None => {}
        }
    }
}

fn output<V: AttributeValue>(port: usize, pdu: &MrpPdu<V>) -> Output {
    let mut octets = Vec::new();
    pdu.emit(&mut octets);
    Output { port, ether_type: V::ETHER_TYPE, octets, addresses: None }
}

impl Machine for SrpNode {
    fn handle(&mut self, now: Instant, event: Event<'_>) {
        match event {
            Event::Received { port, ether_type: MsrpValue::ETHER_TYPE, octets, .. } => {
                if let Ok((pdu, _)) = MrpPdu::parse(octets) {
                    self.receive(now, port, &pdu);
                    self.heard(now);
                }
            }
            Event::Received { port, ether_type: MvrpValue::ETHER_TYPE, octets, .. } => {
                if let Ok((pdu, _)) = MrpPdu::parse(octets) {
                    self.vlans.receive(now, port, &pdu);
                    self.heard(now);
                }
            }
            // Its software looks at its timers in steps: in between none has run out for it.
            Event::Due if self.deadline().is_some_and(|due| due <= now) => self.advance(now),
            Event::Due => {}
            Event::Link { port, up } => self.link(now, port, up),
            Event::Received { .. } | Event::Sent { .. } => {}
        }
    }

    fn poll(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    fn deadline(&self) -> Option<Instant> {
        let streams = match &self.part {
            SrpPart::Bridge(bridge) => Some(bridge.deadline()),
            SrpPart::Station(station) => Some(station.deadline()),
            SrpPart::Edge(edge) => Some(edge.deadline()),
            SrpPart::None => None,
        };
        // An edge bridge without users has nothing to wait for.
        let due = streams.into_iter().chain(self.vlans.deadline()).filter(|due| *due < Instant::MAX);
        let deadline = due.min()?;
        let Some(TimerSteps { period, from, restart }) = self.steps else { return Some(deadline) };
        // After an MRPDU a full step passes first.
        let from = if restart { from + period } else { from };
        if deadline <= from {
            return Some(from);
        }
        Some(from + period * deadline.since(from).as_ps().div_ceil(period.as_ps()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::srp::class::tests::talker;
    use crate::srp::mrp::MrpTiming;
    use crate::srp::{Offer, SrClass};
    use tautwire_wire::{EtherType, MacAddress};

    fn station(seed: u64, steps: Option<TimerSteps>) -> SrpNode {
        let station = SrpStation::new(MrpTiming::default(), seed, &[SrClass::a()], Instant::ZERO);
        let vlans = VlanNode::station(MrpTiming::default(), seed, Instant::ZERO);
        SrpNode::new(SrpPart::Station(Box::new(station)), vlans, 1, steps)
    }

    fn bring(to: &mut SrpNode, now: Instant, output: &Output) {
        let Output { ether_type, octets, .. } = output;
        let (source, destination) = (MacAddress::default(), MacAddress::default());
        let (ether_type, stamp) = (*ether_type, now);
        to.handle(now, Event::Received { port: 0, source, destination, ether_type, octets, stamp });
    }

    #[test]
    fn octets_carry_what_stations_declare() {
        let (mut one, mut other) = (station(1, None), station(2, None));
        let offered = talker(1, 500);
        let SrpPart::Station(part) = one.part_mut() else { unreachable!() };
        part.advertise(Instant::ZERO, offered);
        let due = one.deadline().expect("it declares");
        one.handle(due, Event::Due);
        let outputs: Vec<Output> = core::iter::from_fn(|| one.poll()).collect();
        assert!(outputs.iter().any(|output| output.ether_type == MsrpValue::ETHER_TYPE), "{outputs:?}");
        for output in &outputs {
            bring(&mut other, due, output);
        }
        assert!(other.take_changed() && !other.take_changed());
        let SrpPart::Station(part) = other.part() else { unreachable!() };
        assert!(matches!(part.offer(offered.stream), Offer::Advertised(_)));
        let before = other.clone();
        let noise =
            Output { port: 0, ether_type: EtherType(0x22ea), octets: alloc::vec![1, 2, 3], addresses: None };
        bring(&mut other, due, &noise);
        assert_eq!(other, before, "octets that cannot be read");
    }

    #[test]
    fn timers_are_looked_at_in_steps() {
        let period = Duration::from_ms(7);
        let from = Instant::ZERO + Duration::from_ms(3);
        let plain = station(1, None).deadline().expect("leave-all");
        let stepped = station(1, Some(TimerSteps { period, from, restart: false }));
        let at = stepped.deadline().expect("the same, in steps");
        assert!(at >= plain && at.since(plain) < period);
        assert!(at.since(from).as_ps().is_multiple_of(period.as_ps()));
    }
}
