//! The tree of servers of an egress port, and the elementary cycle in which it sends (HaRTES, FTT).
//!
//! In: frames, each for the queue of one server, and polls. Out: a frame, or the time to poll again. A server has a
//! capacity in octets on the wire, which is replenished after a period of elementary cycles (EC); a frame is sent when
//! its server and all above it have enough capacity left, and is charged to all of them. Of several servers the one
//! goes first whose path from the root has the higher priorities. Nothing is sent before the asynchronous window of an
//! EC opens; a frame that would not end before the window closes waits for the next EC, and with it all others, so
//! that nothing runs over into the next EC. Trigger messages and synchronous frames wait in lanes of their own, each
//! for its own window of the EC, by the same rules.
//!
//! Kinds: a *deferrable* server keeps its capacity to the end of its period; a *polling* one loses it when nothing
//! waits; a *sporadic* one gets consumed capacity back a period later. Invariants: no server serves more than its
//! capacity in one period; the cycle follows the port's clock, and the first one begins at zero. Not here: which
//! stream has which server (`tautwire-model`).

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use tautwire_units::{Duration, Instant};

use crate::queue::Waiting;

/// The fate of unused capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ServerKind {
    /// It stays until the end of the period.
    Deferrable,
    /// It is lost as soon as nothing waits.
    Polling,
    /// What is taken comes back a period later, at the start of an EC.
    Sporadic,
}

/// The part of the EC in which a server's frames go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ServerWindow {
    /// The trigger message's, from the start of the EC.
    Trigger = 0,
    /// The synchronous one.
    Synchronous = 1,
    /// The asynchronous one.
    #[default]
    Asynchronous = 2,
}

/// A server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ServerConfig {
    /// The server above, by its number, which is lower; none: the root.
    pub parent: Option<u16>,
    /// The fate of unused capacity.
    pub kind: ServerKind,
    /// Octets of the wire in a period; none: as many as the line takes.
    pub capacity: Option<u32>,
    /// Replenishment period in ECs; at least one.
    pub period: u32,
    /// Priority among those below the same server; a greater number goes first, among equals the one with the lower number.
    pub priority: u8,
    /// When its frames go.
    pub window: ServerWindow,
}

/// The servers of a port, and its cycle. A frame's lane is the number of its server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServersConfig {
    /// Length of the EC.
    pub cycle: Duration,
    /// End of the window of the trigger message, which begins with the EC.
    pub trigger: Duration,
    /// Start of the synchronous window, which ends where the asynchronous one opens.
    pub synchronous: Duration,
    /// Start of the asynchronous window in it.
    pub open: Duration,
    /// Its end: frames are through by then.
    pub close: Duration,
    /// The servers.
    pub servers: Vec<ServerConfig>,
}

/// The state of a server.
#[derive(Clone, Debug)]
struct Server<F> {
    config: ServerConfig,
    /// Octets left.
    left: u32,
    /// Number of the period to which `left` belongs.
    period: u64,
    /// Sporadic: what comes back, and in which EC; an entry per EC.
    back: VecDeque<(u64, u32)>,
    /// Frames that wait in it and below.
    frames: u32,
    /// Octets of the wire that wait in it, and as many as may.
    held: u32,
    pool: u32,
    queue: VecDeque<Waiting<F>>,
}

/// The queues and servers of a port.
#[derive(Clone, Debug)]
pub(crate) struct Servers<F> {
    cycle: u64,
    /// Start and end of each window, by [`ServerWindow`].
    windows: [(u64, u64); 3],
    servers: Vec<Server<F>>,
    /// Servers in the order in which they are examined.
    order: Box<[u16]>,
}

/// The answer of the servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// The first frame of this server.
    Send(u16),
    /// Poll again then.
    Wait(Instant),
}

impl<F: Copy> Servers<F> {
    pub(crate) fn new(config: ServersConfig) -> Self {
        assert!(config.open < config.close && config.close <= config.cycle, "a window within the cycle");
        let in_turn = config.trigger <= config.synchronous && config.synchronous <= config.open;
        assert!(in_turn, "windows one behind the other");
        assert!(config.servers.iter().all(|server| server.period > 0), "a period");
        let sorted = config.servers.iter().enumerate();
        let in_order =
            sorted.clone().all(|(place, server)| server.parent.is_none_or(|up| usize::from(up) < place));
        assert!(in_order, "servers behind those above them");
        let server = |config: &ServerConfig| Server {
            config: *config,
            left: config.capacity.unwrap_or(u32::MAX),
            period: 0,
            back: VecDeque::new(),
            frames: 0,
            held: 0,
            pool: u32::MAX,
            queue: VecDeque::new(),
        };
        Self {
            cycle: config.cycle.as_ps(),
            windows: [
                (0, config.trigger.as_ps()),
                (config.synchronous.as_ps(), config.open.as_ps()),
                (config.open.as_ps(), config.close.as_ps()),
            ],
            servers: config.servers.iter().map(server).collect(),
            order: order(&config.servers),
        }
    }

    /// Replaces a server from now on, with a memory pool of so many octets on the wire; an unchanged one continues.
    /// Its capacity is full: no more than its capacity in a period, whatever it was before.
    pub(crate) fn install(&mut self, now: Instant, lane: u16, config: ServerConfig, pool: Option<u32>) {
        assert!(config.period > 0 && config.parent.is_none_or(|up| up < lane), "a place in the tree");
        self.settle(now);
        let place = usize::from(lane);
        self.servers[place].pool = pool.unwrap_or(u32::MAX);
        if self.servers[place].config == config {
            return;
        }
        let waiting = self.servers[place].frames;
        self.count(lane, |frames| *frames -= waiting);
        let server = &mut self.servers[place];
        server.config = config;
        server.left = config.capacity.unwrap_or(u32::MAX);
        server.period = now.as_ps() / self.cycle / u64::from(config.period);
        server.back.clear();
        self.count(lane, |frames| *frames += waiting);
        let configs: Vec<ServerConfig> = self.servers.iter().map(|server| server.config).collect();
        self.order = order(&configs);
    }

    /// Whether the memory pool of a server has room for so many octets of the wire.
    pub(crate) fn has_room(&self, lane: u16, octets: u32) -> bool {
        let server = &self.servers[usize::from(lane)];
        server.held.saturating_add(octets) <= server.pool
    }

    /// Takes a frame of so many octets of the wire.
    pub(crate) fn push(&mut self, now: Instant, lane: u16, waiting: Waiting<F>, octets: u32) {
        self.settle(now);
        let server = &mut self.servers[usize::from(lane)];
        server.held = server.held.saturating_add(octets);
        server.queue.push_back(waiting);
        self.count(lane, |frames| *frames += 1);
    }

    /// What to do at `now`, with the line free; `wire` is the time that so many octets take it. None if
    /// nothing waits.
    pub(crate) fn choose(
        &mut self,
        now: Instant,
        octets: impl Fn(F) -> u32,
        wire: impl Fn(u32) -> Duration,
    ) -> Option<Choice> {
        self.settle(now);
        let begin = now.as_ps() - now.as_ps() % self.cycle;
        // Per window: whether frames wait for it, and the first that has the capacity.
        let mut waits = [false; 3];
        let mut first = [None; 3];
        for place in &self.order {
            let server = &self.servers[usize::from(*place)];
            let Some(head) = server.queue.front() else { continue };
            let window = server.config.window as usize;
            waits[window] = true;
            if first[window].is_none() {
                let taken = octets(head.frame);
                first[window] = self.has(*place, taken).then_some((*place, taken));
            }
        }
        let mut again = None;
        for (window, (open, close)) in
            self.windows.into_iter().enumerate().filter(|(window, _)| waits[*window])
        {
            let at = match first[window] {
                Some(_) if now.as_ps() < begin + open => begin + open,
                Some((place, taken))
                    if (now + wire(taken)).as_ps() <= begin + close || planted!(WindowOverrun) =>
                {
                    return Some(Choice::Send(place));
                }
                _ => begin + self.cycle + open,
            };
            again = Some(again.map_or(at, |known: u64| known.min(at)));
        }
        again.map(|at| Choice::Wait(Instant::from_ps(at)))
    }

    /// Takes the first frame of a server, whose `octets` are those of the wire; the frame behind it becomes the
    /// head when the line was idle for `idle`.
    pub(crate) fn pop(
        &mut self,
        now: Instant,
        lane: u16,
        octets: impl Fn(F) -> u32,
        idle: u64,
    ) -> Waiting<F> {
        let server = &mut self.servers[usize::from(lane)];
        let taken = server.queue.pop_front().expect("a chosen server has a frame");
        let octets = octets(taken.frame);
        server.held = server.held.saturating_sub(octets);
        if let Some(head) = server.queue.front_mut() {
            head.idle_at_head = idle;
        }
        let cycle = now.as_ps() / self.cycle;
        let mut next = Some(lane);
        while let Some(place) = next {
            let server = &mut self.servers[usize::from(place)];
            if server.config.capacity.is_some() && !planted!(CapacityNotTaken) {
                server.left = server.left.saturating_sub(octets);
                if server.config.kind == ServerKind::Sporadic {
                    let at = cycle + u64::from(server.config.period);
                    match server.back.back_mut() {
                        Some((known, more)) if *known == at => *more += octets,
                        _ => server.back.push_back((at, octets)),
                    }
                }
            }
            next = server.config.parent;
        }
        self.count(lane, |frames| *frames -= 1);
        self.forget_unused();
        taken
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Waiting<F>> {
        self.servers.iter().flat_map(|server| &server.queue)
    }

    /// Throws away frames of a server, whose `octets` are those of the wire, and gives them back.
    pub(crate) fn withdraw(
        &mut self,
        now: Instant,
        lane: u16,
        is_meant: impl Fn(&F) -> bool,
        octets: impl Fn(F) -> u32,
    ) -> Vec<F> {
        self.settle(now);
        let server = &mut self.servers[usize::from(lane)];
        let mut taken = Vec::new();
        server.queue.retain(|waiting| {
            let goes = is_meant(&waiting.frame);
            if goes {
                taken.push(waiting.frame);
            }
            !goes
        });
        let held: u32 = taken.iter().map(|frame| octets(*frame)).sum();
        server.held = server.held.saturating_sub(held);
        let count = u32::try_from(taken.len()).expect("as many as were counted");
        self.count(lane, |frames| *frames -= count);
        taken
    }

    pub(crate) fn clear(&mut self) {
        for server in &mut self.servers {
            server.queue.clear();
            (server.frames, server.held) = (0, 0);
        }
    }

    /// Whether a server and all above it have that many octets.
    fn has(&self, lane: u16, octets: u32) -> bool {
        let mut next = Some(lane);
        while let Some(place) = next {
            let server = &self.servers[usize::from(place)];
            if server.config.capacity.is_some() && server.left < octets {
                return false;
            }
            next = server.config.parent;
        }
        true
    }

    fn count(&mut self, lane: u16, change: impl Fn(&mut u32)) {
        let mut next = Some(lane);
        while let Some(place) = next {
            let server = &mut self.servers[usize::from(place)];
            change(&mut server.frames);
            next = server.config.parent;
        }
    }

    /// Fills up what is due by `now`.
    fn settle(&mut self, now: Instant) {
        let cycle = now.as_ps() / self.cycle;
        for server in &mut self.servers {
            let Some(capacity) = server.config.capacity else { continue };
            if server.config.kind == ServerKind::Sporadic {
                while let Some((at, octets)) = server.back.front().copied()
                    && at <= cycle
                {
                    server.left = (server.left + octets).min(capacity);
                    server.back.pop_front();
                }
                continue;
            }
            let period = cycle / u64::from(server.config.period);
            if period > server.period {
                server.period = period;
                let lost = server.config.kind == ServerKind::Polling && server.frames == 0;
                server.left = if lost { 0 } else { capacity };
            }
        }
    }

    /// A polling server that has nothing more to send loses what is left.
    fn forget_unused(&mut self) {
        for server in &mut self.servers {
            if server.config.kind == ServerKind::Polling && server.frames == 0 {
                server.left = 0;
            }
        }
    }
}

/// Servers in the order in which they are examined.
fn order(servers: &[ServerConfig]) -> Box<[u16]> {
    let mut order: Vec<u16> = (0..servers.len()).filter_map(|place| u16::try_from(place).ok()).collect();
    order.sort_by_key(|place| way(servers, *place));
    order.into_boxed_slice()
}

/// The path from the root to a server; a smaller value is examined first.
fn way(servers: &[ServerConfig], place: u16) -> Vec<(u8, u16)> {
    let mut way = Vec::new();
    let mut next = Some(place);
    while let Some(place) = next {
        let server = &servers[usize::from(place)];
        way.push((u8::MAX - server.priority, place));
        next = server.parent;
    }
    way.reverse();
    way
}

#[cfg(test)]
#[path = "servers_tests.rs"]
mod tests;
