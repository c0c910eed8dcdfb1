//! A time-aware system: the machines of all its ports with their timers (IEEE Std 802.1AS-2020, clauses 10 and 11).
//!
//! The driver gives messages with the reading at which their time-stamp point passed, and time; it takes messages, and
//! reports when each left. Two-step: a follow-up carries what a sync or a response could not contain yet. A bridge
//! sends a sync on at once when its follow-up has come; the residence time is in the correction. A master is lost
//! after three intervals without a sync, or three without an announce.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use tautwire_units::{Duration, Instant};
use tautwire_wire::gptp::{
    FollowUpInformation, PTP_ETHER_TYPE, PortIdentity, PtpBody, PtpHeader, PtpMessage, PtpTimestamp, PtpTlv,
    flags,
};

use super::best_master::{BestMaster, PortRole, SystemIdentity};
use super::peer_delay::{
    PeerDelay, PeerDelayConfig, answer, answer_follow_up, interval, reading_ps, time_fields,
};
use super::sync::SyncReceived;
use crate::control::{Event, Machine, Output};

/// A time-aware system.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GptpConfig {
    /// What it is to best master selection; with priority1 of 255 it is never grandmaster.
    pub system: SystemIdentity,
    /// Domain.
    pub domain: u8,
    /// Logarithm to the base 2 of the interval of peer delay in seconds; 0 by default of the standard.
    pub log_pdelay: i8,
    /// The same of syncs; -3.
    pub log_sync: i8,
    /// The same of announces; 0.
    pub log_announce: i8,
    /// Longest mean link delay of a capable port.
    pub delay_max: Duration,
    /// Most requests without an answer that leave a port capable.
    pub lost_max: u32,
    /// Per port: the configured delay asymmetry, in picoseconds of the neighbour's clock.
    pub asymmetries: Vec<i64>,
}

/// A port's part.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Port {
    config: PeerDelayConfig,
    delay: PeerDelay,
    up: bool,
    sequence: u16,
    /// Requests of the neighbour whose answer has not left.
    requests: VecDeque<PtpMessage>,
    /// A sync that waits for its follow-up, and when it came.
    sync: Option<(PtpMessage, Instant)>,
}

/// The machines of a time-aware system.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GptpNode {
    config: GptpConfig,
    ports: Vec<Port>,
    best: BestMaster,
    /// What the slave port received, which port it is, and until when it is valid.
    time: Option<(SyncReceived, usize, Instant)>,
    out: VecDeque<(usize, PtpMessage)>,
    next_sync: Instant,
    next_announce: Instant,
}

impl GptpNode {
    /// A system that begins at `now`, all links up.
    #[must_use]
    pub fn new(config: GptpConfig, now: Instant) -> Self {
        let port = |(number, asymmetry): (u16, &i64)| {
            let config = PeerDelayConfig {
                port: PortIdentity { clock: config.system.identity, port: number },
                domain: config.domain,
                log_interval: config.log_pdelay,
                delay_max: config.delay_max,
                lost_max: config.lost_max,
                asymmetry: *asymmetry,
            };
            let (requests, sync) = (VecDeque::new(), None);
            Port { config, delay: PeerDelay::new(config, now), up: true, sequence: 0, requests, sync }
        };
        let ports: Vec<Port> = (1..).zip(&config.asymmetries).map(port).collect();
        let best = BestMaster::new(config.system, config.domain, ports.len());
        let (time, out) = (None, VecDeque::new());
        Self { config, ports, best, time, out, next_sync: now, next_announce: now }
    }

    /// Lets time pass.
    pub fn advance(&mut self, now: Instant) {
        for number in 0..self.ports.len() {
            let port = &mut self.ports[number];
            if let Some(request) = port.delay.poll(now).filter(|_| port.up) {
                self.out.push_back((number, request));
            }
            self.look_at(number);
        }
        if let Some((_, port, until)) = self.time
            && until <= now
        {
            // Sync receipt timeout.
            self.best.lose(port);
            self.time = None;
        }
        self.best.advance(now);
        self.follow(now);
        let roles = self.best.roles();
        if self.next_announce <= now {
            self.next_announce = now + interval(self.config.log_announce);
            for port in (0..roles.len()).filter(|port| roles[*port] == PortRole::Master) {
                self.announce(port);
            }
        }
        if self.next_sync <= now {
            self.next_sync = now + interval(self.config.log_sync);
            if self.is_grandmaster() {
                self.sync_all(&roles);
            }
        }
    }

    /// A message comes in at `now`; its time-stamp point passed when the clock read `came`.
    pub fn receive(&mut self, now: Instant, port: usize, message: &PtpMessage, came: Instant) {
        let header = &message.header;
        if (header.domain, header.major_sdo) != (self.config.domain, 1) || !self.ports[port].up {
            return;
        }
        match &message.body {
            PtpBody::PdelayReq(_) => {
                let own = &mut self.ports[port];
                own.requests.push_back(message.clone());
                self.out.push_back((port, answer(&own.config, message, came)));
            }
            PtpBody::PdelayResp(_) | PtpBody::PdelayRespFollowUp(_) => {
                self.ports[port].delay.receive(message, came);
                self.look_at(port);
            }
            PtpBody::Announce(_) => {
                let before = self.best.grandmaster();
                self.best.receive(now, port, message);
                if self.best.grandmaster() != before {
                    // The change is announced at once.
                    self.next_announce = now;
                }
            }
            PtpBody::Sync(_) => self.ports[port].sync = Some((message.clone(), came)),
            PtpBody::FollowUp(_) => self.follow_up(now, port, message),
            PtpBody::Signaling(_) | PtpBody::Other { .. } => {}
        }
        self.follow(now);
    }

    /// The next message to send, and the port.
    pub fn poll(&mut self) -> Option<(usize, PtpMessage)> {
        self.out.pop_front()
    }

    /// A message has left when the clock read `left`.
    pub fn sent(&mut self, port: usize, message: &PtpMessage, left: Instant) {
        match &message.body {
            PtpBody::PdelayReq(_) => self.ports[port].delay.sent(left),
            PtpBody::PdelayResp(times) => {
                let own = &mut self.ports[port];
                let answered = |request: &PtpMessage| {
                    (request.header.source, request.header.sequence)
                        == (times.requester, message.header.sequence)
                };
                if let Some(place) = own.requests.iter().position(answered) {
                    let request = own.requests.remove(place).expect("it was found");
                    self.out.push_back((port, answer_follow_up(&own.config, &request, left)));
                }
            }
            PtpBody::Sync(_) => {
                let times = if self.is_grandmaster() {
                    let (origin, correction) = time_fields(reading_ps(left));
                    Some((origin, correction, FollowUpInformation::default()))
                } else {
                    self.time.as_ref().and_then(|(time, ..)| time.relayed(left))
                };
                if let Some((origin, correction, information)) = times {
                    let header = PtpHeader { flags: 0, correction, ..message.header };
                    let tlvs = alloc::vec![PtpTlv::FollowUpInformation(information)];
                    self.out.push_back((port, PtpMessage { header, body: PtpBody::FollowUp(origin), tlvs }));
                }
            }
            _ => {}
        }
    }

    /// When to call [`Self::advance`] again.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        let delays = self.ports.iter().map(|port| port.delay.deadline());
        let heard = self.best.deadline().into_iter().chain(self.time.as_ref().map(|(.., until)| *until));
        delays.chain(heard).fold(self.next_sync.min(self.next_announce), Instant::min)
    }

    /// The link of a port goes down or comes up.
    pub fn set_up(&mut self, now: Instant, port: usize, up: bool) {
        let own = &mut self.ports[port];
        own.up = up;
        own.delay = PeerDelay::new(own.config, now);
        own.requests.clear();
        own.sync = None;
        self.best.set_capable(port, false);
        self.follow(now);
    }

    /// The grandmaster that it follows, or is; none if there is none.
    #[must_use]
    pub fn grandmaster(&self) -> Option<SystemIdentity> {
        self.best.grandmaster()
    }

    /// Whether it is the grandmaster.
    #[must_use]
    pub fn is_grandmaster(&self) -> bool {
        self.grandmaster().is_some_and(|system| system.identity == self.config.system.identity)
    }

    /// The grandmaster's time in picoseconds when its own clock reads `reading`; none if it does not know.
    #[must_use]
    pub fn grandmaster_time(&self, reading: Instant) -> Option<i128> {
        if self.is_grandmaster() {
            return Some(reading_ps(reading));
        }
        self.time.as_ref().map(|(time, ..)| time.grandmaster_time(reading))
    }

    /// Roles of the ports.
    #[must_use]
    pub fn roles(&self) -> Vec<PortRole> {
        self.best.roles()
    }

    /// A port's peer delay.
    #[must_use]
    pub fn peer_delay(&self, port: usize) -> &PeerDelay {
        &self.ports[port].delay
    }

    /// Best master selection is notified whether a port is capable.
    fn look_at(&mut self, port: usize) {
        let capable = self.ports[port].up && self.ports[port].delay.is_capable();
        self.best.set_capable(port, capable);
    }

    /// Time of a port that is not the slave any more does not count.
    fn follow(&mut self, now: Instant) {
        let roles = self.best.roles();
        if self.time.as_ref().is_some_and(|(_, port, _)| roles[*port] != PortRole::Slave) {
            self.time = None;
            if self.is_grandmaster() {
                // A new grandmaster does not let the others wait.
                self.next_sync = self.next_sync.min(now + interval(self.config.log_sync));
            }
        }
    }

    fn follow_up(&mut self, now: Instant, port: usize, message: &PtpMessage) {
        let roles = self.best.roles();
        let Some((sync, came)) = self.ports[port].sync.take() else { return };
        if roles[port] != PortRole::Slave {
            return;
        }
        let link = &self.ports[port].delay;
        if let Some(time) = SyncReceived::new(&sync, message, came, link, self.config.domain) {
            let until = now + SyncReceived::receipt_timeout(interval(sync.header.log_interval));
            self.time = Some((time, port, until));
            self.sync_all(&roles);
        }
    }

    fn sync_all(&mut self, roles: &[PortRole]) {
        for port in (0..roles.len()).filter(|port| roles[*port] == PortRole::Master) {
            let header = self.header(port, flags::TWO_STEP, self.config.log_sync);
            let body = PtpBody::Sync(PtpTimestamp::default());
            self.out.push_back((port, PtpMessage { header, body, tlvs: Vec::new() }));
        }
    }

    fn announce(&mut self, port: usize) {
        let (body, path) = self.best.announce();
        let header = self.header(port, 0, self.config.log_announce);
        let message = PtpMessage { header, body: PtpBody::Announce(body), tlvs: alloc::vec![path] };
        self.out.push_back((port, message));
    }

    fn header(&mut self, port: usize, flags: u16, log_interval: i8) -> PtpHeader {
        let own = &mut self.ports[port];
        own.sequence = own.sequence.wrapping_add(1);
        PtpHeader {
            major_sdo: 1,
            minor_version: 1,
            domain: self.config.domain,
            minor_sdo: 0,
            flags: flags | flags::PTP_TIMESCALE,
            correction: 0,
            specific: 0,
            source: own.config.port,
            sequence: own.sequence,
            control: 0,
            log_interval,
        }
    }
}

impl Machine for GptpNode {
    fn handle(&mut self, now: Instant, event: Event<'_>) {
        let read = |octets| PtpMessage::parse(octets).ok().map(|(message, _)| message);
        match event {
            Event::Received { port, ether_type: PTP_ETHER_TYPE, octets, stamp, .. } => {
                if let Some(message) = read(octets) {
                    self.receive(now, port, &message, stamp);
                }
            }
            Event::Sent { port, octets, stamp, .. } => {
                let message = read(octets).expect("a message of its own");
                self.sent(port, &message, stamp);
            }
            Event::Received { .. } => {}
            Event::Link { port, up } => self.set_up(now, port, up),
            Event::Due => self.advance(now),
        }
    }

    fn poll(&mut self) -> Option<Output> {
        let (port, message) = Self::poll(self)?;
        let mut octets = Vec::new();
        message.emit(&mut octets);
        Some(Output { port, ether_type: PTP_ETHER_TYPE, octets, addresses: None })
    }

    fn deadline(&self) -> Option<Instant> {
        Some(Self::deadline(self))
    }
}
