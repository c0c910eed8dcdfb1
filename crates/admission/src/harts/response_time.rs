//! Response times in reduced-buffering mode (equation 3 of the published comparison of HaRTES and AVB; after Ashjaei
//! et al.): `rt(x) = C/a + I(x) + B + SD`, until it converges or exceeds the deadline.
//!
//! `C/a`: the frame's time on the line, widened to the share of the elementary cycle (EC) that the asynchronous window
//! leaves, with the time at its end in which no frame may begin any more. `I(x)`: frames of higher or equal priority
//! that share a link with the stream, each counted once for the complete route, because in this mode a frame passes
//! several switches in one EC. `B`: per link the longest frame of lower priority. `SD`: every switch's delay, and the
//! frame stored there. The paper prints no term for servers: here the output of a server in a time `x` is at most its
//! capacity for every replenishment, and one more, and a stream whose servers cannot serve it and its peers in one
//! period waits for a further one.
//!
//! Rounded up everywhere; integers alone. Invariant: a greater set never has a lesser response time.

use tautwire_units::{BitRate, Bytes, Duration};

/// Steps of the iteration after which it is given up.
const STEPS_MAX: u32 = 100_000;

/// A time that nothing comes to.
const NEVER: Duration = Duration::from_ps(u64::MAX);

/// The elementary cycle, and the parameters of the equation in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElementaryCycle {
    /// Its length.
    pub length: Duration,
    /// Windows of the trigger message, of the nodes' turn-around and of synchronous traffic, together.
    pub before: Duration,
    /// Guard window at its end.
    pub guard: Duration,
    /// From the last bit received in a switch to its queue.
    pub switch_delay: Duration,
    /// Whether frames without a reservation count in blocking and in the time that is left over at the end
    /// of a window.
    pub counts_unreserved: bool,
    /// Wire octets of the longest frame without a reservation.
    pub unreserved: Bytes,
    /// Rate of all links.
    pub rate: BitRate,
}

/// A server that streams share: a capacity for every period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Server {
    /// Its parent server, as an index; lower than its own.
    pub parent: Option<usize>,
    /// Replenishment period.
    pub period: Duration,
    /// Wire octets in a period.
    pub capacity: Bytes,
}

/// A stream of the set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reserved {
    /// Period, or least distance of its frames.
    pub period: Duration,
    /// Wire octets of its longest frame, everything from the preamble to the gap.
    pub wire: Bytes,
    /// Priority; a greater number goes first.
    pub priority: u8,
    /// From ready to received.
    pub deadline: Duration,
    /// Links of its route, in order (of a stream with several listeners: to one of them).
    pub links: Vec<u32>,
    /// The server that contains its own.
    pub server: Option<usize>,
}

/// What is tested: streams that are in place, in their order, and what is common to them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HartsSet {
    /// The cycle.
    pub cycle: ElementaryCycle,
    /// Servers that streams share.
    pub servers: Vec<Server>,
    /// The streams.
    pub streams: Vec<Reserved>,
}

/// A response time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseTime {
    /// From ready to received.
    pub time: Duration,
    /// Terms of interference that were computed: the test's work.
    pub terms: u64,
}

/// The terms of a response time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// `C/a`.
    pub own: Duration,
    /// `I`.
    pub interference: Duration,
    /// `B`.
    pub blocking: Duration,
    /// `SD`.
    pub switching: Duration,
    /// Further replenishments of shared servers.
    pub server: Duration,
    /// Of `C/a` and `I`: what the line takes, without what the windows add.
    pub line: Duration,
    /// The share of an elementary cycle in which nothing may begin, on the tightest link: what `a` spreads over the line's time.
    pub dead: Duration,
}

/// A stream that would be late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Its place in the set; the new stream is last.
    pub stream: usize,
    /// Its response time, a deadline that would have fitted; none if it has none.
    pub would_fit: Option<Duration>,
}

/// The result of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The violation that causes a refusal.
    pub violation: Option<Violation>,
    /// Terms of interference that were computed.
    pub terms: u64,
}

impl HartsSet {
    /// Whether a stream may join: its own response time is tested first, then that of every other, until one exceeds
    /// its deadline. The set is unchanged.
    #[must_use]
    pub fn admits(&self, new: &Reserved) -> Verdict {
        let mut with = self.clone();
        with.streams.push(new.clone());
        let last = with.streams.len() - 1;
        let mut terms = 0;
        for stream in core::iter::once(last).chain(0..last) {
            let response = with.response_time(stream, with.streams[stream].deadline);
            terms += response.terms;
            if response.time > with.streams[stream].deadline {
                let response = with.response_time(stream, NEVER);
                terms += response.terms;
                let would_fit = Some(response.time).filter(|time| *time < NEVER);
                return Verdict { violation: Some(Violation { stream, would_fit }), terms };
            }
        }
        Verdict { violation: None, terms }
    }

    /// Equation 3 for one stream, as far as `limit`: a time above it means that the stream is later than that.
    #[must_use]
    pub fn response_time(&self, stream: usize, limit: Duration) -> ResponseTime {
        let own = &self.streams[stream];
        let mut terms = 0;
        let Some(own_time) = self.widened(own, self.line(own.wire)) else {
            return ResponseTime { time: NEVER, terms };
        };
        let rivals: Vec<&Reserved> = self.rivals(stream).collect();
        let fixed = own_time.saturating_add(self.blocking(stream)).saturating_add(self.switching_delay(own));
        let mut time = own_time;
        for _ in 0..STEPS_MAX {
            terms += 1 + rivals.len() as u64;
            let interference = self.interference(own, &rivals, time);
            let next =
                fixed.saturating_add(interference).saturating_add(self.server_wait(own, &rivals, time));
            if next == time || next > limit || next == NEVER {
                return ResponseTime { time: next, terms };
            }
            time = next;
        }
        ResponseTime { time: NEVER, terms }
    }

    /// The terms of a stream's response time; none if it does not converge.
    #[must_use]
    pub fn terms(&self, stream: usize) -> Option<Terms> {
        let time = self.response_time(stream, NEVER).time;
        if time == NEVER {
            return None;
        }
        let own = &self.streams[stream];
        let rivals: Vec<&Reserved> = self.rivals(stream).collect();
        let octets = self.interfering(&rivals, time);
        Some(Terms {
            own: self.widened(own, self.line(own.wire))?,
            interference: self.interference(own, &rivals, time),
            blocking: self.blocking(stream),
            switching: self.switching_delay(own),
            server: self.server_wait(own, &rivals, time),
            line: self.line(own.wire).saturating_add(self.line(Bytes::new(octets))),
            dead: self.cycle.length.saturating_sub(self.window(own)?),
        })
    }

    /// Streams of higher or equal priority that share a link.
    fn rivals(&self, stream: usize) -> impl Iterator<Item = &Reserved> {
        let own = &self.streams[stream];
        let others = self.streams.iter().enumerate().filter(move |(place, _)| *place != stream);
        others
            .map(|(_, other)| other)
            .filter(move |other| other.priority >= own.priority && shares(own, other))
    }

    /// `I(x)`: per server what comes out of it, and what comes of streams that share none.
    fn interference(&self, own: &Reserved, rivals: &[&Reserved], span: Duration) -> Duration {
        let octets = self.interfering(rivals, span);
        self.widened(own, self.line(Bytes::new(octets))).unwrap_or(NEVER)
    }

    /// Octets that `I(x)` counts.
    fn interfering(&self, rivals: &[&Reserved], span: Duration) -> u64 {
        let mut octets_in: Vec<u64> = vec![0; self.servers.len()];
        let mut free: u64 = 0;
        for rival in rivals {
            let came = rival.wire.get().saturating_mul(span.as_ps().div_ceil(rival.period.as_ps()));
            match rival.server {
                Some(server) => octets_in[server] = octets_in[server].saturating_add(came),
                None => free = free.saturating_add(came),
            }
        }
        // Children come after their parents.
        for place in (0..self.servers.len()).rev() {
            let server = &self.servers[place];
            let times = span.as_ps().div_ceil(server.period.as_ps()) + 1;
            let out = octets_in[place].min(server.capacity.get().saturating_mul(times));
            match server.parent {
                Some(parent) => octets_in[parent] = octets_in[parent].saturating_add(out),
                None => free = free.saturating_add(out),
            }
        }
        free
    }

    /// The wait of a stream for further replenishments of its servers: as many as it and the streams before it there
    /// need beyond the first.
    fn server_wait(&self, own: &Reserved, rivals: &[&Reserved], span: Duration) -> Duration {
        let mut wait = Duration::ZERO;
        let mut next = own.server;
        while let Some(place) = next {
            let server = &self.servers[place];
            let inside = |rival: &&&Reserved| self.is_inside(rival.server, place);
            let peers = rivals.iter().filter(inside).fold(0_u64, |all, rival| {
                all.saturating_add(
                    rival.wire.get().saturating_mul(span.as_ps().div_ceil(rival.period.as_ps())),
                )
            });
            if server.capacity < own.wire {
                return NEVER;
            }
            let further = (peers + own.wire.get() - 1) / server.capacity.get();
            let further = Duration::from_ps(server.period.as_ps().saturating_mul(further));
            wait = wait.saturating_add(further);
            next = server.parent;
        }
        wait
    }

    fn is_inside(&self, server: Option<usize>, outer: usize) -> bool {
        let mut next = server;
        while let Some(place) = next {
            if place == outer {
                return true;
            }
            next = self.servers[place].parent;
        }
        false
    }

    /// `B`: per link the longest frame of lower priority.
    fn blocking(&self, stream: usize) -> Duration {
        let own = &self.streams[stream];
        let on_link = |link: &u32| {
            let lower = self.streams.iter().filter(|other| other.priority < own.priority);
            let longest = lower.filter(|other| other.links.contains(link)).map(|other| other.wire).max();
            self.line(longest.unwrap_or(Bytes::ZERO).max(self.unreserved()))
        };
        own.links.iter().map(on_link).fold(Duration::ZERO, Duration::saturating_add)
    }

    /// `SD`: at every switch between two links its delay and the frame's reception.
    fn switching_delay(&self, own: &Reserved) -> Duration {
        let switches = own.links.len().saturating_sub(1) as u64;
        let each = self.cycle.switch_delay.saturating_add(self.line(own.wire));
        Duration::from_ps(each.as_ps().saturating_mul(switches))
    }

    /// A time on the line, as long as the windows make it: `C/a`, of the tightest link of the route. None if the
    /// window leaves nothing.
    fn widened(&self, own: &Reserved, time: Duration) -> Option<Duration> {
        let window = self.window(own)?.as_ps();
        if window == 0 {
            return None;
        }
        let product = u128::from(time.as_ps()) * u128::from(self.cycle.length.as_ps());
        Some(Duration::from_ps(u64::try_from(product.div_ceil(u128::from(window))).unwrap_or(u64::MAX)))
    }

    /// What of a cycle frames find for certain, on the tightest link of the route; none without links.
    fn window(&self, own: &Reserved) -> Option<Duration> {
        let left = |link: &u32| {
            let on_it = self.streams.iter().filter(|other| other.links.contains(link));
            let longest = on_it.map(|other| other.wire).max().unwrap_or(Bytes::ZERO).max(self.unreserved());
            // A guard window may hold what is left over at the end.
            let idle = self.line(longest).max(self.cycle.guard);
            self.cycle.length.saturating_sub(self.cycle.before).saturating_sub(idle)
        };
        own.links.iter().map(left).min()
    }

    fn unreserved(&self) -> Bytes {
        if self.cycle.counts_unreserved { self.cycle.unreserved } else { Bytes::ZERO }
    }

    /// Time on the line, rounded up.
    fn line(&self, wire: Bytes) -> Duration {
        let picoseconds = u128::from(wire.get()) * 8 * 1_000_000_000_000;
        let time = picoseconds.div_ceil(u128::from(self.cycle.rate.as_bps().max(1)));
        Duration::from_ps(u64::try_from(time).unwrap_or(u64::MAX))
    }
}

/// Whether two routes share a link.
fn shares(one: &Reserved, other: &Reserved) -> bool {
    one.links.iter().any(|link| other.links.contains(link))
}

#[cfg(test)]
#[path = "response_time_tests.rs"]
mod tests;
