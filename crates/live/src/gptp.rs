//! gPTP of a node on its interfaces: the machine of `core` between sockets that the kernel stamps (IEEE Std 802.1AS-2020).
//!
//! The node's clock is a reading of this machine's with the described drift and offset; nothing ever sets the machine's own. Stamps are those
//! of the kernel, by software. Messages do not pass the queues of the ports.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use tautwire_core::control::{Event, Machine, Output};
use tautwire_core::gptp::peer_delay::reading_ps;
use tautwire_core::gptp::{GptpNode, PortRole};
use tautwire_linux::{Clock, FramePort as _, PacketSocket, Waiter};
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, PortIndex};
use tautwire_observe::SignedMoments;
use tautwire_sim::ClockObservation;
use tautwire_units::{Duration, Instant};
use tautwire_wire::gptp::{GPTP_ADDRESS, PTP_ETHER_TYPE};
use tautwire_wire::{EthernetHeader, MacAddress};

use crate::bridge_run::is_down;
use crate::bridge_status::{TimePort, TimeStatus};
use crate::watch::{ClockNow, give_clock};

/// Longest wait.
const LOOK: u64 = 5_000_000;
/// Frames without a stamp that are remembered: more are those that never left.
const UNSTAMPED_MAX: usize = 64;

/// A node's clock: readings of this machine's, drifted and ahead as described.
#[derive(Clone, Copy, Debug)]
struct Oscillator {
    drift_ppb: i64,
    ahead_ps: u64,
}

impl Oscillator {
    fn new(network: &Network, node: NodeIndex) -> Self {
        let clock = &network.nodes[node.index()].clock;
        let ahead_ps = u64::try_from(clock.offset.as_ps()).unwrap_or(0);
        Self { drift_ppb: clock.drift_ppb.unwrap_or(0).into(), ahead_ps }
    }

    /// Its reading when this machine's clock reads so many nanoseconds, rounded down.
    fn reading(self, nanoseconds: u64) -> Instant {
        let ps = i128::from(nanoseconds) * (1_000_000_000 + i128::from(self.drift_ppb)) / 1_000_000;
        Instant::from_ps(u64::try_from(ps).unwrap_or(0) + self.ahead_ps)
    }

    /// How long this machine's clock takes until it reads `until`, in nanoseconds, rounded up; its drift is far below the greatest wait.
    fn wait(self, now: Instant, until: Instant) -> u64 {
        until.saturating_since(now).as_ps().div_ceil(1000)
    }
}

/// A port: its socket, and frames that have no stamp yet, with their octets.
struct Port {
    socket: PacketSocket,
    address: MacAddress,
    unstamped: VecDeque<(Vec<u8>, Output)>,
}

/// gPTP of a node.
pub(crate) struct PrecisionTime<'n> {
    network: &'n Network,
    node: NodeIndex,
    ports: Vec<Port>,
}

impl<'n> PrecisionTime<'n> {
    /// On the interfaces of its ports; none if the network has no gPTP.
    pub(crate) fn open(network: &'n Network, node: NodeIndex) -> io::Result<Option<Self>> {
        let interface = |port: PortIndex| network.ports[port.index()].interface.clone().unwrap_or_default();
        Self::open_on(network, node, interface)
    }

    /// The same on interfaces of these names.
    pub(crate) fn open_on(
        network: &'n Network,
        node: NodeIndex,
        interface: impl Fn(PortIndex) -> String,
    ) -> io::Result<Option<Self>> {
        if network.gptp.is_none() {
            return Ok(None);
        }
        let port = |port: PortIndex| {
            let address = network.ports[port.index()].address;
            let socket = PacketSocket::stamped(&interface(port), PTP_ETHER_TYPE.0)?;
            Ok(Port { socket, address, unstamped: VecDeque::new() })
        };
        let ports = network.gptp_ports(node).into_iter().map(port).collect::<io::Result<Vec<_>>>()?;
        Ok(Some(Self { network, node, ports }))
    }

    /// Runs until it is stopped; its state is in `given` from time to time.
    pub(crate) fn run(self, stop: &AtomicBool, given: &Mutex<TimeStatus>) -> io::Result<()> {
        let ports = self.ports.len();
        let (machine, now) = self.go_on(Clock::starting_in(0), stop, |machine, _, now| {
            if let Ok(mut room) = given.try_lock() {
                *room = status(machine, now, ports);
            }
        })?;
        *given.lock().unwrap_or_else(PoisonError::into_inner) = status(&machine, now, ports);
        Ok(())
    }

    /// Runs by a clock that all nodes have until it is stopped: how far its time is off from that of its grandmaster, in samples as in a
    /// simulated run. What was observed up to now is in `given`, if there is one.
    pub(crate) fn observe(
        self,
        clock: Clock,
        stop: &AtomicBool,
        given: Option<&Mutex<Option<ClockNow>>>,
    ) -> io::Result<ClockObservation> {
        let (network, node, ports) = (self.network, self.node, self.ports.len());
        let every = network.gptp.as_ref().map_or(1, |gptp| gptp.sample_interval.as_ps() / 1000).max(1);
        let mut next = network.run.warm_up.as_ps().div_ceil(1000).max(every);
        let end = network.run.duration.as_ps() / 1000;
        let mut seen = ClockObservation {
            node,
            grandmaster: None,
            capable_ports: 0,
            offset: SignedMoments::default(),
            without: 0,
            synchronised_at: None,
            corrected: None,
        };
        let (machine, _) = self.go_on(clock, stop, |machine, at, now| {
            let time = machine.grandmaster_time(now);
            if time.is_some() {
                seen.synchronised_at.get_or_insert(Duration::from_ns(at));
            }
            if at < next || at > end {
                return;
            }
            next = at + every;
            let mut last_ps = None;
            match time.zip(grandmaster(network, machine)) {
                Some((time, master)) => {
                    let true_time = reading_ps(Oscillator::new(network, master).reading(at));
                    let offset = i64::try_from(time - true_time).unwrap_or(i64::MAX);
                    seen.offset.add(offset);
                    last_ps = Some(offset);
                }
                None => seen.without += 1,
            }
            seen.grandmaster = grandmaster(network, machine);
            give_clock(given, &seen, last_ps);
        })?;
        let capable = (0..ports).filter(|port| machine.peer_delay(*port).is_capable()).count();
        seen.grandmaster = grandmaster(network, &machine);
        seen.capable_ports = u32::try_from(capable).unwrap_or(u32::MAX);
        Ok(seen)
    }

    /// Runs until it is stopped; `seen` gets the machine, the reading of `clock` and that of the node's own. The last of both are given.
    fn go_on(
        mut self,
        clock: Clock,
        stop: &AtomicBool,
        mut seen: impl FnMut(&GptpNode, u64, Instant),
    ) -> io::Result<(GptpNode, Instant)> {
        let oscillator = Oscillator::new(self.network, self.node);
        let mut machine = GptpNode::new(self.network.gptp_node(self.node), oscillator.reading(clock.now()));
        let mut waiter = Waiter::new(self.ports.iter().map(|port| port.socket.descriptor()));
        let mut buffer = vec![0; 2048];
        while !stop.load(Ordering::Relaxed) {
            for number in 0..self.ports.len() {
                self.take(number, &mut machine, (clock, oscillator), &mut buffer)?;
            }
            let at = clock.now();
            let now = oscillator.reading(at);
            if GptpNode::deadline(&machine) <= now {
                machine.handle(now, Event::Due);
            }
            while let Some(output) = Machine::poll(&mut machine) {
                self.send(output)?;
            }
            seen(&machine, at, now);
            let wait = oscillator.wait(oscillator.reading(clock.now()), GptpNode::deadline(&machine));
            waiter.wait(clock, clock.now() + wait.min(LOOK))?;
        }
        let now = oscillator.reading(clock.now());
        Ok((machine, now))
    }

    /// Stamps and messages of a port.
    fn take(
        &mut self,
        number: usize,
        machine: &mut GptpNode,
        (clock, oscillator): (Clock, Oscillator),
        buffer: &mut [u8],
    ) -> io::Result<()> {
        let port = &mut self.ports[number];
        while let Some((frame, stamp)) = port.socket.left(buffer)? {
            // An interface through which a frame passes further ones stamps it again: the first counts.
            let sent = port.unstamped.iter().position(|(sent, _)| sent == frame);
            let Some((_, output)) = sent.and_then(|sent| port.unstamped.remove(sent)) else { continue };
            let stamp = oscillator.reading(clock.of_stamp(stamp));
            let now = oscillator.reading(clock.now());
            let (ether_type, octets) = (output.ether_type, &output.octets[..]);
            machine.handle(now, Event::Sent { port: number, ether_type, octets, stamp });
        }
        loop {
            let received = match port.socket.receive(buffer) {
                Ok(Some(received)) => received,
                // It goes on when the interface is up again.
                Err(error) if is_down(&error) => break,
                Ok(None) => break,
                Err(error) => return Err(error),
            };
            let Ok((header, octets)) = EthernetHeader::parse(received.octets) else { continue };
            let stamp = received.stamp.map_or_else(|| clock.now(), |stamp| clock.of_stamp(stamp));
            let (stamp, now) = (oscillator.reading(stamp), oscillator.reading(clock.now()));
            let EthernetHeader { source, destination, ether_type, .. } = header;
            machine.handle(
                now,
                Event::Received { port: number, source, destination, ether_type, octets, stamp },
            );
        }
        Ok(())
    }

    fn send(&mut self, output: Output) -> io::Result<()> {
        let port = &mut self.ports[output.port];
        let mut frame = Vec::new();
        let header = EthernetHeader {
            destination: GPTP_ADDRESS,
            source: port.address,
            tag: None,
            ether_type: output.ether_type,
        };
        header.emit(&mut frame);
        frame.extend_from_slice(&output.octets);
        frame.resize(frame.len().max(60), 0);
        match port.socket.send(&frame) {
            Ok(true) => {
                if port.unstamped.len() == UNSTAMPED_MAX {
                    port.unstamped.pop_front();
                }
                port.unstamped.push_back((frame, output));
                Ok(())
            }
            // It is lost, as on a line that is cut.
            Ok(false) => Ok(()),
            Err(error) if is_down(&error) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// The node whose clock a machine follows.
fn grandmaster(network: &Network, machine: &GptpNode) -> Option<NodeIndex> {
    let identity = machine.grandmaster()?.identity;
    (0..network.nodes.len()).map(NodeIndex::at).find(|node| network.gptp_identity(*node) == identity)
}

fn status(machine: &GptpNode, now: Instant, ports: usize) -> TimeStatus {
    let roles = machine.roles();
    let port = |port: usize| {
        let delay = machine.peer_delay(port);
        TimePort {
            role: match roles[port] {
                PortRole::Master => "master",
                PortRole::Slave => "slave",
                PortRole::Passive => "passive",
                PortRole::Disabled => "disabled",
            },
            is_capable: delay.is_capable(),
            delay: delay.delay(),
            neighbour_ppb: delay.neighbor_rate().map(tautwire_core::gptp::RateOffset::as_ppb),
        }
    };
    TimeStatus {
        grandmaster: machine.grandmaster().map(|system| system.identity.0),
        is_grandmaster: machine.is_grandmaster(),
        reading_ps: now.as_ps(),
        grandmaster_ps: machine.grandmaster_time(now),
        ports: (0..ports).map(port).collect(),
    }
}
