//! Start-up of an RTnet as by RTcfg: the stations that take part, their addresses, and when all are ready.
//!
//! In: received messages, the node's own clock, the end of calibration. Out: messages to send, and the time from which
//! the applications run. One station is the server (the master), which has the list of its clients. It invites each
//! (stage 1) until the client announces itself; an invited client calibrates (`mod.rs`), announces itself to all until
//! it is configured, and every station that has announced itself answers. So each station has all addresses before any
//! application runs, and needs no request at run time. The server sends a client its configuration (stage 2) in
//! fragments, a limited number until they are acknowledged. A station that is configured and has all addresses
//! announces that it is ready, repeatedly, until it has received the same of all; a station whose applications run
//! already answers that it is ready.
//!
//! With heartbeats every client sends one in each interval. If so many of a client's heartbeats are missing, the
//! server declares it dead to all, removes it from the table and invites it again. A node that comes back is silent
//! until it is invited, and then starts up as at first; the others run on. A server that comes back invites all, and
//! stations that run announce themselves as ready. So does a station that was declared dead by mistake. Invariants: a
//! lost message delays the start-up and never prevents it; applications start only when all stations are ready; only
//! the server removes addresses from the table.
//!
//! Not here: messages on the wire (`tautwire-wire`, `tdma/start_up.rs`), slots (`mod.rs`).

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use tautwire_units::{Duration, Instant};

/// Messages of the start-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StartUpMessage {
    /// Stage 1: a client is invited.
    Invitation,
    /// A station has come.
    Announcement {
        /// Whether it is ready.
        ready: bool,
    },
    /// A station that is there answers one that has come, or that waits until all are ready.
    Reply {
        /// Whether it is ready.
        ready: bool,
    },
    /// Stage 2: a piece of the client's configuration.
    Configuration {
        /// Its offset in the configuration.
        offset: u32,
        /// Octets.
        length: u32,
    },
    /// The client has so many octets of its configuration.
    Acknowledgement {
        /// Octets, from the beginning.
        received: u32,
    },
    /// The station is ready.
    Ready,
    /// The client lives.
    Heartbeat,
    /// The server has received nothing of a station for too long.
    Dead {
        /// Its number.
        station: u32,
    },
}

/// Addressee of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Addressee {
    /// All stations.
    All,
    /// One of them, by its number.
    Station(u32),
}

/// How far a station is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StartUpPhase {
    /// Not yet invited: silent.
    Silent,
    /// Learns how long frames travel.
    Calibrating,
    /// Has announced itself and is not yet configured, or does not know all.
    Announced,
    /// Ready, and waits for others.
    Ready,
    /// Applications run.
    Running,
}

/// A station's settings. Stations are numbered from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartUpConfig {
    /// How many there are.
    pub stations: u32,
    /// Its own number.
    pub own: u32,
    /// The server's.
    pub server: u32,
    /// The time after which a message without effect is repeated.
    pub interval: Duration,
    /// Octets of a client's configuration.
    pub configuration: u32,
    /// Most octets of a piece of it; not zero.
    pub piece: u32,
    /// Pieces that are sent before an acknowledgement is waited for; not zero.
    pub burst: u32,
    /// The interval of the clients' heartbeats; none: no heartbeats.
    pub heartbeat: Option<Duration>,
    /// After so many of them without a sign the server takes a client for dead; not zero.
    pub silent_heartbeats: u32,
}

/// The server's state of a client.
#[derive(Clone, Copy, Debug, Default)]
struct Client {
    /// Octets that it has acknowledged; none before it has announced itself.
    acknowledged: Option<u32>,
    /// When pieces were last sent to it.
    sent_at: Option<Instant>,
    /// When its last message came.
    heard: Instant,
}

/// One station at start-up.
#[derive(Clone, Debug)]
pub struct StartUp {
    config: StartUpConfig,
    phase: StartUpPhase,
    /// The stations whose addresses it has, and which are ready.
    known: Vec<bool>,
    ready: Vec<bool>,
    /// Stations that the server declared dead: no other waits for them.
    absent: Vec<bool>,
    /// Of the server: by station.
    clients: Vec<Client>,
    /// Of a client: octets of its configuration that it has, and of a burst.
    received: u32,
    pieces: u32,
    next: Instant,
    next_heartbeat: Instant,
    out: VecDeque<(Addressee, StartUpMessage)>,
}

impl StartUp {
    /// A station whose clock reads `now`. A server begins at once, a client when it is invited.
    ///
    /// # Panics
    /// If pieces or bursts are empty, or a number is none of a station.
    #[must_use]
    pub fn new(config: StartUpConfig, now: Instant) -> Self {
        assert!(config.piece > 0 && config.burst > 0, "pieces of a configuration");
        assert!(config.silent_heartbeats > 0, "a patience");
        assert!(config.own < config.stations && config.server < config.stations, "numbers of stations");
        let count = config.stations as usize;
        let is_server = config.own == config.server;
        let mut known = alloc::vec![false; count];
        known[config.own as usize] = true;
        Self {
            phase: if is_server { StartUpPhase::Announced } else { StartUpPhase::Silent },
            known,
            ready: alloc::vec![false; count],
            absent: alloc::vec![false; count],
            clients: alloc::vec![Client::default(); count],
            received: 0,
            pieces: 0,
            next: now,
            next_heartbeat: config.heartbeat.map_or(now, |heartbeat| now + heartbeat),
            out: VecDeque::new(),
            config,
        }
    }

    /// The node is back at `now`: it knows nothing, and starts up as at first.
    pub fn restart(&mut self, now: Instant) {
        *self = Self::new(self.config, now);
    }

    /// How far it is.
    #[must_use]
    pub const fn phase(&self) -> StartUpPhase {
        self.phase
    }

    /// How many stations it knows, itself among them.
    #[must_use]
    pub fn known(&self) -> usize {
        self.known.iter().filter(|known| **known).count()
    }

    /// It has measured the travel time of frames, at `now`.
    pub fn calibrated(&mut self, now: Instant) {
        if self.phase == StartUpPhase::Calibrating {
            self.phase = StartUpPhase::Announced;
            self.next_heartbeat = self.config.heartbeat.map_or(now, |heartbeat| now + heartbeat);
            self.announce(now);
        }
    }

    /// A message of station `from` has come at `now`.
    pub fn hear(&mut self, now: Instant, from: u32, message: StartUpMessage) {
        if from >= self.config.stations || from == self.config.own {
            return;
        }
        if self.is_server() {
            self.clients[from as usize].heard = now;
        }
        match message {
            StartUpMessage::Invitation if from == self.config.server => self.invited(from),
            StartUpMessage::Invitation | StartUpMessage::Heartbeat => {}
            StartUpMessage::Announcement { ready } => self.meet(now, from, ready),
            StartUpMessage::Reply { ready } => {
                (self.known[from as usize], self.absent[from as usize]) = (true, false);
                self.ready[from as usize] |= ready;
            }
            StartUpMessage::Configuration { offset, length } => self.take_piece(offset, length),
            StartUpMessage::Acknowledgement { received } => {
                let known = &mut self.clients[from as usize].acknowledged;
                if self.config.own == self.config.server && known.is_some_and(|known| known < received) {
                    *known = Some(received.min(self.config.configuration));
                    self.clients[from as usize].sent_at = None;
                    self.configure(now, from);
                }
            }
            StartUpMessage::Ready => {
                self.ready[from as usize] = true;
                if self.phase == StartUpPhase::Running {
                    // It waits for others; an answer is not answered.
                    let answer = StartUpMessage::Reply { ready: true };
                    self.out.push_back((Addressee::Station(from), answer));
                }
            }
            StartUpMessage::Dead { station } => {
                let other = station < self.config.stations && station != self.config.own;
                if from == self.config.server && other {
                    self.bury(station);
                }
            }
        }
        self.go_on(now);
    }

    /// When it acts next by itself.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let again = self.repeats().then_some(self.next);
        let beats = self.phase >= StartUpPhase::Announced && self.config.heartbeat.is_some();
        again.into_iter().chain(beats.then_some(self.next_heartbeat)).min()
    }

    /// Repeats messages without effect, and sends heartbeats; the server looks for missing ones.
    pub fn act(&mut self, now: Instant) {
        if self.deadline().is_none_or(|due| now < due) {
            return;
        }
        if let Some(heartbeat) = self.config.heartbeat
            && self.phase >= StartUpPhase::Announced
            && now >= self.next_heartbeat
        {
            self.next_heartbeat = now + heartbeat;
            self.beat(now, heartbeat);
        }
        if self.repeats() && now >= self.next {
            self.next = now + self.config.interval;
            self.repeat(now);
        }
        self.go_on(now);
    }

    /// The next message to send.
    pub fn poll(&mut self) -> Option<(Addressee, StartUpMessage)> {
        self.out.pop_front()
    }

    fn is_server(&self) -> bool {
        self.config.own == self.config.server
    }

    /// Whether a message that it sent may have had no effect.
    fn repeats(&self) -> bool {
        let waits = matches!(self.phase, StartUpPhase::Announced | StartUpPhase::Ready);
        waits || self.is_server() && !self.is_configured()
    }

    fn repeat(&mut self, now: Instant) {
        if self.is_server() {
            let own = self.config.own;
            for station in (0..self.config.stations).filter(|station| *station != own) {
                if self.clients[station as usize].acknowledged.is_none() {
                    self.out.push_back((Addressee::Station(station), StartUpMessage::Invitation));
                } else {
                    self.configure(now, station);
                }
            }
        } else if self.phase == StartUpPhase::Announced {
            self.announce(now);
        }
        if self.phase == StartUpPhase::Ready {
            self.out.push_back((Addressee::All, StartUpMessage::Ready));
        }
    }

    /// A client sends a heartbeat; the server declares dead those whose heartbeats are missing.
    fn beat(&mut self, now: Instant, heartbeat: Duration) {
        if !self.is_server() {
            self.out.push_back((Addressee::Station(self.config.server), StartUpMessage::Heartbeat));
            return;
        }
        let patience = heartbeat * u64::from(self.config.silent_heartbeats);
        for station in 0..self.config.stations {
            let client = &mut self.clients[station as usize];
            if client.acknowledged.is_some() && now > client.heard + patience {
                *client = Client::default();
                self.bury(station);
                self.out.push_back((Addressee::All, StartUpMessage::Dead { station }));
            }
        }
    }

    fn bury(&mut self, station: u32) {
        let station = station as usize;
        (self.known[station], self.ready[station], self.absent[station]) = (false, false, true);
    }

    /// The server invites: a station that has announced itself already does so again.
    fn invited(&mut self, server: u32) {
        self.known[server as usize] = true;
        match self.phase {
            StartUpPhase::Silent => self.phase = StartUpPhase::Calibrating,
            StartUpPhase::Calibrating | StartUpPhase::Announced => {}
            StartUpPhase::Ready | StartUpPhase::Running => {
                self.out.push_back((Addressee::All, StartUpMessage::Announcement { ready: true }));
            }
        }
    }

    /// A station has come; one that is not ready though it was starts up anew.
    fn meet(&mut self, now: Instant, from: u32, ready: bool) {
        let was_ready = self.ready[from as usize];
        (self.known[from as usize], self.absent[from as usize]) = (true, false);
        self.ready[from as usize] = ready;
        if self.phase >= StartUpPhase::Announced {
            let own = self.ready[self.config.own as usize];
            self.out.push_back((Addressee::Station(from), StartUpMessage::Reply { ready: own }));
        }
        if self.is_server() {
            for station in (0..self.config.stations).filter(|station| self.absent[*station as usize]) {
                self.out.push_back((Addressee::Station(from), StartUpMessage::Dead { station }));
            }
            let client = &mut self.clients[from as usize];
            if was_ready && !ready {
                (client.acknowledged, client.sent_at) = (None, None);
            }
            client.acknowledged.get_or_insert(0);
            self.configure(now, from);
        }
    }

    fn announce(&mut self, now: Instant) {
        self.out.push_back((Addressee::All, StartUpMessage::Announcement { ready: false }));
        self.next = now + self.config.interval;
    }

    /// Sends a client the next pieces, unless those before are still under way.
    fn configure(&mut self, now: Instant, station: u32) {
        let client = &mut self.clients[station as usize];
        let Some(mut offset) = client.acknowledged else { return };
        let under_way = client.sent_at.is_some_and(|sent_at| now < sent_at + self.config.interval);
        if under_way || offset >= self.config.configuration {
            return;
        }
        client.sent_at = Some(now);
        for _ in 0..self.config.burst {
            let length = self.config.piece.min(self.config.configuration - offset);
            if length == 0 {
                break;
            }
            self.out
                .push_back((Addressee::Station(station), StartUpMessage::Configuration { offset, length }));
            offset += length;
        }
    }

    /// A piece of its configuration; pieces behind a lost one are not taken.
    fn take_piece(&mut self, offset: u32, length: u32) {
        if offset == self.received {
            self.received = self.received.saturating_add(length).min(self.config.configuration);
            self.pieces += 1;
        }
        let is_complete = self.received == self.config.configuration;
        if is_complete
            || offset != self.received - length.min(self.received)
            || self.pieces == self.config.burst
        {
            self.pieces = 0;
            let acknowledgement = StartUpMessage::Acknowledgement { received: self.received };
            self.out.push_back((Addressee::Station(self.config.server), acknowledgement));
        }
    }

    fn is_configured(&self) -> bool {
        if self.config.own != self.config.server {
            return self.received == self.config.configuration;
        }
        let own = self.config.own as usize;
        let done = |client: &Client| client.acknowledged == Some(self.config.configuration);
        self.clients.iter().enumerate().all(|(station, client)| station == own || done(client))
    }

    fn all_ready(&self) -> bool {
        self.ready.iter().zip(&self.absent).all(|(ready, absent)| *ready || *absent)
    }

    /// To the next phase, if it has what that needs.
    fn go_on(&mut self, now: Instant) {
        if self.phase == StartUpPhase::Announced
            && self.known.iter().zip(&self.absent).all(|(known, absent)| *known || *absent)
            && self.is_configured()
        {
            self.phase = StartUpPhase::Ready;
            self.ready[self.config.own as usize] = true;
            self.out.push_back((Addressee::All, StartUpMessage::Ready));
            self.next = now + self.config.interval;
        }
        if self.phase == StartUpPhase::Ready && self.all_ready() {
            self.phase = StartUpPhase::Running;
        }
    }
}

#[cfg(test)]
#[path = "start_up_tests.rs"]
mod tests;
