//! The agent of a node: transmit, transmit timer and receive machines of all its ports (IEEE Std 802.1AB-2016, 9.2).
//!
//! Its timers count seconds of the node's clock, all ports together, from its start. A port sends when it starts, when
//! a neighbour is new, then `fast_init` times every `fast` seconds, then every `interval` seconds; a frame costs a
//! credit, of which a second gives one and a port keeps `credit_max`: so a port sends at most that many at once, and
//! one a second in the long run. A neighbour expires when the time in its last frame has passed.

use std::collections::VecDeque;

use tautwire_core::control::{Event, Machine, Output};
use tautwire_units::{Duration, Instant};

use crate::pdu::{ETHER_TYPE, Lldpdu};

/// Neighbours that a port remembers; a further one is counted and not learned.
const NEIGHBOURS_MAX: usize = 8;

/// Parameters of all ports (802.1AB-2016, 9.2.5), in seconds and frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Seconds between frames: msgTxInterval.
    pub interval: u16,
    /// For how many intervals the information is valid: msgTxHold.
    pub hold: u16,
    /// Seconds between frames while a neighbour is new: msgFastTx.
    pub fast: u16,
    /// Frames in that time: txFastInit.
    pub fast_init: u16,
    /// Frames that a port may send at once: txCreditMax.
    pub credit_max: u16,
}

impl Default for Settings {
    /// Those that the standard recommends.
    fn default() -> Self {
        Self { interval: 30, hold: 4, fast: 1, fast_init: 4, credit_max: 5 }
    }
}

impl Settings {
    /// The lifetime in a frame, in seconds: txTTL.
    #[must_use]
    pub fn time_to_live(&self) -> u16 {
        self.interval.saturating_mul(self.hold).saturating_add(1)
    }
}

/// The status of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AdminStatus {
    /// It sends and learns nothing.
    TxOnly,
    /// It learns and sends nothing.
    RxOnly,
    /// It does both.
    #[default]
    TxAndRx,
    /// It does nothing.
    Disabled,
}

impl AdminStatus {
    /// Whether it sends.
    #[must_use]
    pub const fn sends(self) -> bool {
        matches!(self, Self::TxOnly | Self::TxAndRx)
    }

    /// Whether it learns.
    #[must_use]
    pub const fn learns(self) -> bool {
        matches!(self, Self::RxOnly | Self::TxAndRx)
    }
}

/// A port as it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortConfig {
    /// Its status.
    pub status: AdminStatus,
    /// What it sends.
    pub local: Lldpdu,
}

/// A neighbour at a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// Its last frame.
    pub remote: Lldpdu,
    /// Seconds until it is forgotten.
    pub seconds: u16,
}

/// Counters of a port (802.1AB-2016, 9.2.6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Frames sent: statsFramesOutTotal.
    pub sent: u64,
    /// Frames that came in: statsFramesInTotal.
    pub received: u64,
    /// Those of them that could not be read: statsFramesDiscardedTotal.
    pub discarded: u64,
    /// Neighbours forgotten because their time had passed: statsAgeoutsTotal.
    pub aged_out: u64,
    /// Neighbours for which there was no room: remote-drops.
    pub dropped: u64,
}

/// All ports of a node.
#[derive(Clone, Debug)]
pub struct Agent {
    settings: Settings,
    ports: Vec<Port>,
    out: VecDeque<Output>,
    next_second: Instant,
}

#[derive(Clone, Debug)]
struct Port {
    config: PortConfig,
    up: bool,
    neighbours: Vec<Neighbour>,
    statistics: Statistics,
    /// Seconds until the next frame: txTTR.
    until_next: u16,
    /// Frames that are still to come fast: txFast.
    fast: u16,
    credit: u16,
    /// Whether a frame waits for a credit: txNow.
    wants_to_send: bool,
}

impl Agent {
    /// An agent that begins at `now`, all links up.
    #[must_use]
    pub fn new(settings: Settings, ports: Vec<PortConfig>, now: Instant) -> Self {
        let port = |config| Port {
            config,
            up: true,
            neighbours: Vec::new(),
            statistics: Statistics::default(),
            until_next: 0,
            fast: 0,
            credit: settings.credit_max,
            wants_to_send: false,
        };
        let ports = ports.into_iter().map(port).collect();
        let mut agent = Self { settings, ports, out: VecDeque::new(), next_second: now + SECOND };
        for port in 0..agent.ports.len() {
            agent.begin(port);
        }
        agent
    }

    /// The neighbours at a port, in the order of their first frames.
    #[must_use]
    pub fn neighbours(&self, port: usize) -> &[Neighbour] {
        &self.ports[port].neighbours
    }

    /// The counters of a port.
    #[must_use]
    pub fn statistics(&self, port: usize) -> Statistics {
        self.ports[port].statistics
    }

    /// A port starts to send.
    fn begin(&mut self, number: usize) {
        let port = &mut self.ports[number];
        (port.until_next, port.fast, port.wants_to_send) = (0, 0, false);
        if port.config.status.sends() {
            self.signal(number);
        }
    }

    /// The time until the next frame is over, whatever ended it.
    fn signal(&mut self, number: usize) {
        let port = &mut self.ports[number];
        port.fast = port.fast.saturating_sub(1);
        port.until_next = if port.fast > 0 { self.settings.fast } else { self.settings.interval };
        port.wants_to_send = true;
        self.send(number);
    }

    fn send(&mut self, number: usize) {
        let port = &mut self.ports[number];
        if !port.wants_to_send || port.credit == 0 || !port.up {
            return;
        }
        port.wants_to_send = false;
        port.credit -= 1;
        port.statistics.sent += 1;
        let octets = port.config.local.emit();
        self.out.push_back(Output { port: number, ether_type: ETHER_TYPE, octets, addresses: None });
    }

    /// A second has passed.
    fn tick(&mut self) {
        for number in 0..self.ports.len() {
            let port = &mut self.ports[number];
            let known = port.neighbours.len();
            port.neighbours.retain_mut(|neighbour| {
                neighbour.seconds -= 1;
                neighbour.seconds > 0
            });
            port.statistics.aged_out += (known - port.neighbours.len()) as u64;
            port.credit = (port.credit + 1).min(self.settings.credit_max);
            if !port.up || !port.config.status.sends() {
                continue;
            }
            port.until_next = port.until_next.saturating_sub(1);
            if port.until_next == 0 {
                self.signal(number);
            } else {
                self.send(number);
            }
        }
    }

    fn receive(&mut self, number: usize, octets: &[u8]) {
        let port = &mut self.ports[number];
        if !port.config.status.learns() || !port.up {
            return;
        }
        port.statistics.received += 1;
        let Ok(remote) = Lldpdu::parse(octets) else {
            port.statistics.discarded += 1;
            return;
        };
        let same = |known: &Neighbour| {
            (&known.remote.chassis, &known.remote.port) == (&remote.chassis, &remote.port)
        };
        let place = port.neighbours.iter().position(same);
        let seconds = remote.time_to_live;
        match (place, seconds) {
            (Some(place), 0) => {
                port.neighbours.remove(place);
            }
            (None, 0) => {}
            (Some(place), _) => port.neighbours[place] = Neighbour { remote, seconds },
            (None, _) if port.neighbours.len() == NEIGHBOURS_MAX => port.statistics.dropped += 1,
            (None, _) => {
                port.neighbours.push(Neighbour { remote, seconds });
                if port.config.status.sends() {
                    // It is sent at once, and again soon.
                    if port.fast == 0 {
                        port.fast = self.settings.fast_init;
                    }
                    self.signal(number);
                }
            }
        }
    }
}

const SECOND: Duration = Duration::from_s(1);

impl Machine for Agent {
    fn handle(&mut self, now: Instant, event: Event<'_>) {
        match event {
            Event::Received { port, ether_type: ETHER_TYPE, octets, .. } => self.receive(port, octets),
            Event::Received { .. } | Event::Sent { .. } => {}
            Event::Link { port, up } => {
                let was_up = std::mem::replace(&mut self.ports[port].up, up);
                if up && !was_up {
                    self.begin(port);
                }
            }
            Event::Due => {
                while self.next_second <= now {
                    self.next_second += SECOND;
                    self.tick();
                }
            }
        }
    }

    fn poll(&mut self) -> Option<Output> {
        self.out.pop_front()
    }

    fn deadline(&self) -> Option<Instant> {
        let is_idle = self.ports.iter().all(|port| port.config.status == AdminStatus::Disabled);
        (!is_idle).then_some(self.next_second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdu::Identifier;
    use tautwire_wire::MacAddress;

    fn local(number: u8) -> Lldpdu {
        Lldpdu {
            chassis: Identifier::chassis(MacAddress([2, 0, 0, 0, 0, number])),
            port: Identifier::interface("p"),
            time_to_live: 3,
            system_name: None,
            capabilities: None,
        }
    }

    fn agent(settings: Settings, status: AdminStatus) -> Agent {
        Agent::new(settings, vec![PortConfig { status, local: local(1) }], Instant::ZERO)
    }

    fn second(number: u64) -> Instant {
        Instant::ZERO + SECOND * number
    }

    /// The seconds in which it sends, and the number of frames, if it receives `hears` of each second.
    fn sent(agent: &mut Agent, seconds: u64, hears: impl Fn(u64) -> Option<Lldpdu>) -> Vec<(u64, usize)> {
        let mut sent = Vec::new();
        for at in 0..=seconds {
            if agent.deadline().is_some_and(|deadline| deadline <= second(at)) {
                agent.handle(second(at), Event::Due);
            }
            if let Some(pdu) = hears(at) {
                let (octets, stamp) = (pdu.emit(), second(at));
                let ether_type = ETHER_TYPE;
                agent.handle(
                    second(at),
                    Event::Received {
                        port: 0,
                        destination: MacAddress::default(),
                        source: MacAddress::default(),
                        ether_type,
                        octets: &octets,
                        stamp,
                    },
                );
            }
            let frames = std::iter::from_fn(|| agent.poll()).count();
            sent.extend((frames > 0).then_some((at, frames)));
        }
        sent
    }

    #[test]
    fn a_port_alone_sends_at_once_and_then_every_interval() {
        let mut agent = agent(Settings { interval: 7, ..Settings::default() }, AdminStatus::TxAndRx);
        assert_eq!(sent(&mut agent, 22, |_| None), [(0, 1), (7, 1), (14, 1), (21, 1)]);
    }

    #[test]
    fn a_new_neighbour_gets_a_frame_at_once_and_fast_ones_until_it_knows() {
        let mut agent = agent(Settings::default(), AdminStatus::TxAndRx);
        let hears = |at| (at >= 2).then(|| local(2));
        // Four of them, the first at once; then an interval.
        assert_eq!(sent(&mut agent, 36, hears), [(0, 1), (2, 1), (3, 1), (4, 1), (5, 1), (35, 1)]);
        assert_eq!(agent.neighbours(0).len(), 1);
        assert_eq!(agent.statistics(0).received, 35);
    }

    #[test]
    fn a_neighbour_that_falls_silent_is_forgotten_when_its_time_has_passed_and_one_that_leaves_at_once() {
        let mut agent = agent(Settings::default(), AdminStatus::RxOnly);
        assert_eq!(sent(&mut agent, 4, |at| (at == 2).then(|| local(2))), []);
        assert_eq!((agent.neighbours(0).len(), agent.statistics(0).aged_out), (1, 0));
        agent.handle(second(5), Event::Due);
        assert_eq!((agent.neighbours(0).len(), agent.statistics(0).aged_out), (0, 1));
        sent(&mut agent, 0, |_| Some(local(2)));
        assert_eq!(agent.neighbours(0).len(), 1);
        sent(&mut agent, 0, |_| Some(Lldpdu { time_to_live: 0, ..local(2) }));
        assert_eq!((agent.neighbours(0).len(), agent.statistics(0).aged_out), (0, 1));
    }

    #[test]
    fn never_more_than_its_credit_at_once_and_one_a_second() {
        let mut agent = agent(Settings { credit_max: 3, ..Settings::default() }, AdminStatus::TxAndRx);
        // Another neighbour every second: each is new, and the one before it is still there.
        let hears = |at| u8::try_from(at + 2).ok().map(|number| Lldpdu { time_to_live: 2, ..local(number) });
        let mut sent = sent(&mut agent, 30, hears);
        assert_eq!(sent.remove(0), (0, 2));
        assert!(sent.iter().all(|(_, frames)| *frames <= 2), "{sent:?}");
        let all: usize = sent.iter().map(|(_, frames)| frames).sum();
        assert!(all <= 31, "{all}");
    }

    #[test]
    fn a_disabled_port_neither_sends_nor_learns() {
        for (status, frames, known) in
            [(AdminStatus::TxOnly, 1, 0), (AdminStatus::RxOnly, 0, 1), (AdminStatus::Disabled, 0, 0)]
        {
            let mut agent = agent(Settings::default(), status);
            let all: usize = sent(&mut agent, 2, |_| Some(local(2))).iter().map(|(_, frames)| frames).sum();
            assert_eq!((all, agent.neighbours(0).len()), (frames, known), "{status:?}");
            assert_eq!(agent.deadline().is_none(), status == AdminStatus::Disabled);
        }
    }

    #[test]
    fn a_link_that_is_back_gets_a_frame_at_once() {
        let mut agent = agent(Settings::default(), AdminStatus::TxAndRx);
        sent(&mut agent, 3, |_| None);
        agent.handle(second(4), Event::Link { port: 0, up: false });
        assert_eq!(agent.poll(), None);
        agent.handle(second(5), Event::Link { port: 0, up: true });
        assert!(agent.poll().is_some());
    }
}
