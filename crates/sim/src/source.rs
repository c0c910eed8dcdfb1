//! Talkers: when the next frame of a stream comes, and how large it is.
//!
//! Times are readings of the talker's own clock. The times of a source never decrease. Its frames keep within the
//! stream's arrival curve.

use tautwire_model::network::{ArrivalCurve, Stream, Traffic, frame_length};
use tautwire_units::{BitRate, Bytes, Duration, Instant};

use crate::random::Random;

/// The state of one talker.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    traffic: Traffic,
    arrival: Option<ArrivalCurve>,
    payload_min: u64,
    payload_max: u64,
    tagged: bool,
    /// Rate of the link of the talker's port, used by a file.
    line: BitRate,
    /// Only where the traffic or the payload is random.
    random: Option<Box<Random>>,
    /// Start of the traffic on the talker's clock.
    start: Instant,
    /// Frames given so far.
    count: u64,
    /// The frame to come.
    next: Option<(Instant, Bytes)>,
    /// Token bucket of a greedy source: when it would be empty.
    empty: i128,
    /// When each thread of injected traffic sends next.
    threads: Vec<Instant>,
    /// By how much periodic traffic is later than its offset.
    phase: Duration,
}

impl Source {
    /// A source whose traffic begins at `start` on the talker's clock.
    pub(crate) fn new(
        stream: &Stream,
        line: BitRate,
        start: Instant,
        random: impl FnOnce() -> Random,
    ) -> Self {
        let (payload_min, payload_max) = stream.drawn();
        let needs_random = payload_min != payload_max
            || match &stream.traffic {
                Traffic::Poisson { .. } | Traffic::Injected { .. } => true,
                Traffic::Periodic { jitter, drawn, .. } => *drawn || !jitter.is_zero(),
                _ => false,
            };
        let mut source = Self {
            traffic: stream.traffic.clone(),
            arrival: stream.arrival,
            payload_min: payload_min.get(),
            payload_max: payload_max.get(),
            tagged: stream.tagged,
            line,
            random: needs_random.then(|| Box::new(random())),
            start,
            count: 0,
            next: None,
            empty: 0,
            threads: Vec::new(),
            phase: Duration::ZERO,
        };
        source.restart(start);
        source
    }

    /// Time and payload of the frame to come; none if there are no more.
    #[inline]
    pub(crate) fn peek(&self) -> Option<(Instant, Bytes)> {
        self.next
    }

    /// Begins again at `start`.
    pub(crate) fn restart(&mut self, start: Instant) {
        self.start = start;
        self.count = 0;
        self.empty = match self.arrival {
            Some(curve) if curve.rate > BitRate::ZERO => -filling_time(curve),
            _ => 0,
        };
        self.next = None;
        self.threads.clear();
        if let (Traffic::Injected { threads, burst, interval, .. }, Some(random)) =
            (&self.traffic, &mut self.random)
        {
            let sleep = *interval * (u64::from(*threads) * u64::from(*burst));
            self.threads.extend((0..*threads).map(|_| start + random.span_up_to(sleep)));
        }
        self.phase = match (&self.traffic, &mut self.random) {
            (Traffic::Periodic { interval, drawn: true, .. }, Some(random)) => {
                random.span_up_to(interval.saturating_sub(Duration::from_ps(1)))
            }
            _ => Duration::ZERO,
        };
        self.next = self.following(start);
    }

    /// Takes other traffic from `start` on.
    pub(crate) fn change(
        &mut self,
        traffic: Traffic,
        arrival: Option<ArrivalCurve>,
        start: Instant,
        random: Random,
    ) {
        self.random = Some(Box::new(random));
        self.traffic = traffic;
        self.arrival = arrival;
        self.restart(start);
    }

    /// Leaves out the frames before `time`.
    pub(crate) fn skip_to(&mut self, time: Instant) {
        while self.next.is_some_and(|(next, _)| next < time) {
            self.advance();
        }
    }

    /// Goes on to the frame after the one to come.
    #[inline]
    pub(crate) fn advance(&mut self) {
        let Some((time, _)) = self.next else { return };
        self.count += 1;
        self.next = self.following(time);
    }

    /// The frame number `count`, not before `last`.
    fn following(&mut self, last: Instant) -> Option<(Instant, Bytes)> {
        let payload = self.payload();
        let wire = (frame_length(Bytes::new(payload), self.tagged) + Bytes::MEDIA_OVERHEAD).bits();
        let start = self.start;
        let time = match &self.traffic {
            Traffic::Periodic { interval, offset, jitter, burst, .. } => {
                let burst = u64::from(*burst);
                let period = start.saturating_add(*offset + self.phase + *interval * (self.count / burst));
                // The frames of one burst come at once: one delay for all of them.
                let drawn = match &mut self.random {
                    Some(random) if !jitter.is_zero() && self.count.is_multiple_of(burst) => {
                        random.span_up_to(*jitter)
                    }
                    _ => Duration::ZERO,
                };
                if self.count.is_multiple_of(burst) { period + drawn } else { last }
            }
            Traffic::ConstantRate { rate, offset } => {
                if self.count == 0 {
                    start + *offset
                } else {
                    last + self.spacing(*rate)
                }
            }
            Traffic::Poisson { mean_interval } => {
                let random = self.random.as_mut().expect("Poisson traffic has a random stream");
                last + Duration::from_ps(random.exponential(mean_interval.as_ps()))
            }
            Traffic::OnOff { on, off, interval, offset } => {
                let per_burst = on.as_ps().div_ceil(interval.as_ps()).max(1);
                let (round, within) = (self.count / per_burst, self.count % per_burst);
                start + *offset + (*on + *off) * round + *interval * within
            }
            Traffic::Greedy { offset } => {
                let curve = self.arrival.filter(|curve| curve.rate > BitRate::ZERO)?;
                if wire > curve.burst {
                    return None;
                }
                let begin = start + *offset;
                let earliest = i128::from(last.max(begin).since(begin).as_ps());
                let recovery = i128::from(curve.rate.duration_ceil(wire).as_ps());
                let time = earliest.max(self.empty + recovery);
                let full = self.empty + filling_time(curve);
                self.empty += recovery + (time - full).max(0);
                begin + Duration::from_ps(u64::try_from(time).expect("not before the start"))
            }
            Traffic::Injected { threads, burst, interval, overhead } => {
                if !self.count.is_multiple_of(u64::from(*burst)) {
                    return Some((last, Bytes::new(payload)));
                }
                let random = self.random.as_mut().expect("injected traffic has a random stream");
                let sleep = *interval * (u64::from(*threads) * u64::from(*burst));
                let late = overhead.0 + random.span_up_to(overhead.1.saturating_sub(overhead.0));
                let thread = self.threads.iter_mut().min().expect("at least one thread");
                let at = *thread;
                *thread = at + sleep + late;
                at
            }
            Traffic::Replay { frames } => {
                let (at, octets) = frames.get(usize::try_from(self.count).ok()?)?;
                return Some(((start + *at).max(last), *octets));
            }
            // Their frames are made by machines and by what is received.
            Traffic::Synchronisation { .. } | Traffic::Response { .. } => return None,
            Traffic::Protocol | Traffic::Polled => return None,
            Traffic::File { octets, at } => {
                let sent = self.count.checked_mul(self.payload_max)?;
                let left = octets.get().checked_sub(sent).filter(|left| *left > 0)?;
                let time = if self.count == 0 { start + *at } else { last + self.spacing(self.line) };
                return Some((time, Bytes::new(left.min(self.payload_max))));
            }
        };
        Some((time.max(last), Bytes::new(payload)))
    }

    /// The distance from the frame before at `rate`: what that frame takes.
    fn spacing(&self, rate: BitRate) -> Duration {
        let payload = self.next.map_or(Bytes::new(self.payload_max), |(_, payload)| payload);
        rate.duration_ceil((frame_length(payload, self.tagged) + Bytes::MEDIA_OVERHEAD).bits())
    }

    fn payload(&mut self) -> u64 {
        match &mut self.random {
            Some(random) if self.payload_max > self.payload_min => {
                self.payload_min + random.up_to(self.payload_max - self.payload_min)
            }
            _ => self.payload_max,
        }
    }
}

/// In which time an empty bucket is full, in ps, rounded down; it may be years.
fn filling_time(curve: ArrivalCurve) -> i128 {
    i128::from(curve.burst.get()) * 1_000_000_000_000 / i128::from(curve.rate.as_bps())
}
