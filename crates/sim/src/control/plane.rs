//! What a mechanism's attachment may do to the data plane of a run, and where the event loop meets the hosts.

use std::rc::Rc;

use tautwire_core::gptp::{Adjustment, DisciplinedClock};
use tautwire_model::network::{LinkIndex, NodeIndex, PortIndex, StreamIndex};
use tautwire_units::{Bytes, Duration, Instant};
use tautwire_wire::EtherType;

use super::contents::{Arrived, Frame};
use super::host::{Departure, Hosted};
use crate::clock::{LocalClock, SimTime};
use crate::engine::Engine;
use crate::recorder::Recorder;

/// Octets before the time-stamp point: preamble and start delimiter.
const PREAMBLE: Bytes = Bytes::new(8);

/// What a mechanism may do to the data plane.
pub trait Plane {
    /// True time.
    fn now(&self) -> SimTime;

    /// What a node's clock reads at a true time.
    fn reading(&self, node: NodeIndex, at: SimTime) -> Instant;

    /// The first true time at which a node's clock reads at least `reading`.
    fn true_at(&self, node: NodeIndex, reading: Instant) -> SimTime;

    /// Whether the cable of a port is whole and the nodes at both of its ends run.
    fn is_up(&self, port: PortIndex) -> bool;

    /// Hands a frame to the port of its stream; `octets` stand behind its type, without padding.
    fn send(&mut self, stream: StreamIndex, ether_type: EtherType, octets: Vec<u8>);

    /// The clock that a node's applications see was corrected: what they send has new instants.
    fn correct_clock(&mut self, node: NodeIndex, clock: DisciplinedClock, adjustment: Adjustment);
}

impl<R: Recorder + ?Sized, const PLUGGED: bool> Plane for Engine<'_, R, PLUGGED> {
    fn now(&self) -> SimTime {
        self.now
    }

    fn reading(&self, node: NodeIndex, at: SimTime) -> Instant {
        self.nodes[node.index()].clock.local(at)
    }

    fn true_at(&self, node: NodeIndex, reading: Instant) -> SimTime {
        self.nodes[node.index()].clock.true_at(reading)
    }

    fn is_up(&self, port: PortIndex) -> bool {
        let Some(links) = self.network.ports[port.index()].links else { return false };
        let link = &self.network.links[links.egress.index()];
        let ends = [link.from, link.to].map(|end| self.network.ports[end.index()].node);
        self.links[links.egress.index()].up && ends.iter().all(|node| self.nodes[node.index()].up)
    }

    fn send(&mut self, stream: StreamIndex, ether_type: EtherType, octets: Vec<u8>) {
        let payload = Bytes::new(octets.len() as u64);
        self.send_frame(stream.0, Frame::new(ether_type, octets), payload);
    }

    fn correct_clock(&mut self, node: NodeIndex, clock: DisciplinedClock, adjustment: Adjustment) {
        self.driven().controls.corrected[node.index()] = Some(clock);
        self.recorder.disciplined(node.0, clock);
        self.offer_by_corrected_clock(node, clock, adjustment);
    }
}

/// The hosts of a run.
pub(crate) struct Controls<'n> {
    /// One for each mechanism; taken out while it acts.
    hosts: Vec<Option<Box<dyn Hosted + 'n>>>,
    /// Per stream: the host whose frames it carries.
    carried: Vec<Option<u8>>,
    /// Frames that began to leave while their host acted.
    departures: Vec<Departure>,
    /// Per node: the corrected clock that its applications see.
    pub(crate) corrected: Vec<Option<DisciplinedClock>>,
}

impl<'n> Controls<'n> {
    pub(crate) fn new(
        attached: Vec<super::Attached<'n>>,
        clocks: &[LocalClock],
        seed: u64,
        streams: usize,
    ) -> Self {
        let hosts: Vec<_> = attached.into_iter().map(|attached| attached.0.make(clocks, seed)).collect();
        let mut carried = vec![None; streams];
        let mut corrected = vec![None; clocks.len()];
        for (number, host) in (0_u8..).zip(&hosts) {
            for stream in host.streams() {
                carried[stream as usize] = Some(number);
            }
            for (clock, own) in corrected.iter_mut().zip(host.corrected(clocks)) {
                *clock = clock.or(own);
            }
        }
        Self { hosts: hosts.into_iter().map(Some).collect(), carried, departures: Vec::new(), corrected }
    }

    /// When something is to be done next.
    pub(crate) fn next(&self) -> Option<SimTime> {
        self.hosts.iter().flatten().filter_map(|host| host.next()).min()
    }

    /// The run has ended: the hosts, to tell what was observed.
    pub(crate) fn into_hosts(self) -> impl Iterator<Item = Box<dyn Hosted + 'n>> {
        self.hosts.into_iter().flatten()
    }
}

impl<'run, R: Recorder + ?Sized, const PLUGGED: bool> Engine<'run, R, PLUGGED> {
    /// Lets one host act, while the data plane is there for it.
    fn with_host<T>(
        &mut self,
        number: usize,
        act: impl FnOnce(&mut (dyn Hosted + 'run), &mut Self) -> T,
    ) -> T {
        let mut host = self.driven().controls.hosts[number].take().expect("a host acts once at a time");
        let result = act(&mut *host, self);
        let controls = &mut self.driven().controls;
        let carried = &controls.carried;
        let is_own = |departure: &mut Departure| {
            carried[departure.stream as usize].is_some_and(|host| usize::from(host) == number)
        };
        let departures: Vec<Departure> = controls.departures.extract_if(.., is_own).collect();
        for departure in departures {
            host.left(departure, self);
        }
        self.driven().controls.hosts[number] = Some(host);
        result
    }

    /// Does all that the mechanisms have to do now.
    #[cold]
    pub(crate) fn drive_controls(&mut self) {
        for number in 0..self.driven().controls.hosts.len() {
            self.with_host(number, |host, engine| host.drive(engine));
        }
    }

    /// Whether a host has the frames of a stream.
    #[inline]
    pub(crate) fn is_hosted(&self, stream: u32) -> bool {
        let driven = self.driven.as_ref();
        driven.is_some_and(|driven| driven.controls.carried[stream as usize].is_some())
    }

    /// A control frame begins to leave, to fly so long: its stamps are known.
    pub(crate) fn control_frame_leaves(
        &mut self,
        (stream, number, frame): (u32, u32, Rc<Frame>),
        link: u32,
        start: SimTime,
        flight: Duration,
    ) {
        let Some(host) = self.driven().controls.carried[stream as usize] else { return };
        let left = start + self.network.links[link as usize].rate.duration_ceil(PREAMBLE.bits());
        self.driven().contents.comes(stream, number, left + flight);
        let departure = Departure { stream, frame, left };
        let controls = &mut self.driven().controls;
        if controls.hosts[usize::from(host)].is_none() {
            return controls.departures.push(departure);
        }
        self.with_host(host.into(), |host, engine| host.left(departure, engine));
        self.arm_timeline();
    }

    /// A control frame was delivered: its node has it to process.
    pub(crate) fn take_into_host(&mut self, stream: u32, arrived: Arrived) {
        let Some(host) = self.driven().controls.carried[stream as usize] else { return };
        self.with_host(host.into(), |host, engine| host.received(stream, arrived, engine));
        self.arm_timeline();
    }

    /// A cable is cut or mended.
    #[cold]
    pub(crate) fn controls_link(&mut self, cable: u32) {
        for number in 0..self.driven().controls.hosts.len() {
            for link in [cable * 2, cable * 2 + 1] {
                let port = self.network.links[LinkIndex(link).index()].from;
                self.with_host(number, |host, engine| host.link(port, engine));
            }
        }
        self.arm_timeline();
    }

    /// A node stops, or comes back anew.
    #[cold]
    pub(crate) fn controls_node(&mut self, node: NodeIndex, up: bool) {
        for number in 0..self.driven().controls.hosts.len() {
            self.with_host(number, |host, engine| host.node(node, up, engine));
        }
        self.arm_timeline();
    }

    /// What a node's oscillator reads when its corrected clock first reads `wanted`; none without one.
    pub(crate) fn oscillator_at(&self, node: usize, wanted: Instant) -> Option<Instant> {
        Some(self.corrected_clock(node)?.first_at(wanted))
    }

    /// A node's corrected clock, if it has one.
    pub(crate) fn corrected_clock(&self, node: usize) -> Option<DisciplinedClock> {
        self.driven.as_ref()?.controls.corrected[node]
    }
}
