//! Peer delay (IEEE Std 802.1AS-2020, 11.2.19 and 11.2.20): how long a link is, how fast the neighbour's clock runs, and
//! whether it can be used at all (asCapable).

use alloc::collections::VecDeque;

use tautwire_units::{Duration, Instant};
use tautwire_wire::gptp::{PortIdentity, PtpBody, PtpHeader, PtpMessage, PtpTimestamp, RespBody, flags};

use super::rate::RateOffset;

/// Exchanges that the rate ratio is taken over.
const WINDOW: usize = 8;
const NO_INTERVAL: i8 = 127;

/// A port's peer delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PeerDelayConfig {
    /// The port.
    pub port: PortIdentity,
    /// Domain.
    pub domain: u8,
    /// Logarithm to the base 2 of the interval in seconds, from -10 to 10.
    pub log_interval: i8,
    /// The longest delay of a link that all nodes of understand gPTP.
    pub delay_max: Duration,
    /// Unanswered requests that are put up with.
    pub lost_max: u32,
    /// How much longer than the mean the way to here takes, in picoseconds (8.3): added to the mean.
    pub asymmetry: i64,
}

/// A request and what came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Exchange {
    sent: Option<Instant>,
    /// When the request came to the neighbour, by its clock; when the answer came here.
    answered: Option<(i128, Instant)>,
    answerer: Option<PortIdentity>,
    done: bool,
}

/// Requests of a port to its neighbour.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PeerDelay {
    config: PeerDelayConfig,
    sequence: u16,
    next: Instant,
    exchange: Exchange,
    /// When answers left the neighbour, by its clock, and came here.
    answers: VecDeque<(i128, Instant)>,
    rate: Option<RateOffset>,
    delay: Option<Duration>,
    lost: u32,
    capable: bool,
}

/// Picoseconds of a time and its correction, rounded down.
#[must_use]
pub fn time_ps(time: PtpTimestamp, correction: i64) -> i128 {
    let ns = i128::try_from(time.as_ns()).expect("80 bits");
    ns * 1_000 + ((i128::from(correction) * 1_000) >> 16)
}

/// A time in picoseconds as nanoseconds and a correction, rounded down to 2⁻¹⁶ ns.
///
/// # Panics
/// If the time is before the epoch, or after 2⁴⁸ s.
#[must_use]
pub fn time_fields(ps: i128) -> (PtpTimestamp, i64) {
    let ns = ps.div_euclid(1_000);
    let correction = i64::try_from((ps.rem_euclid(1_000) << 16) / 1_000).expect("less than a nanosecond");
    let seconds = u64::try_from(ns / 1_000_000_000).expect("not before the epoch");
    let nanoseconds = u32::try_from(ns % 1_000_000_000).expect("within a second");
    (PtpTimestamp::new(seconds, nanoseconds).expect("within 48 bits"), correction)
}

/// A reading of the own clock as a time since its own epoch.
#[must_use]
pub fn reading_ps(reading: Instant) -> i128 {
    i128::from(reading.as_ps())
}

impl PeerDelay {
    /// A port that sends requests from `now` on.
    #[must_use]
    pub fn new(config: PeerDelayConfig, now: Instant) -> Self {
        Self {
            config,
            sequence: 0,
            next: now,
            exchange: Exchange { done: true, ..Exchange::default() },
            answers: VecDeque::new(),
            rate: None,
            delay: None,
            lost: 0,
            capable: false,
        }
    }

    /// When the next request is due.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.next
    }

    /// The request that is due at `now`. Its driver reports when it left ([`Self::sent`]).
    pub fn poll(&mut self, now: Instant) -> Option<PtpMessage> {
        if now < self.next {
            return None;
        }
        if !self.exchange.done {
            self.lost += 1;
            if self.lost > self.config.lost_max {
                self.reset();
            }
        }
        self.next = now + interval(self.config.log_interval);
        self.sequence = self.sequence.wrapping_add(1);
        self.exchange = Exchange::default();
        let header = header(&self.config, self.sequence, 0, self.config.log_interval, 0);
        let body = PtpBody::PdelayReq(PtpTimestamp::default());
        Some(PtpMessage { header, body, tlvs: alloc::vec![] })
    }

    /// The request left at `at`.
    pub fn sent(&mut self, at: Instant) {
        self.exchange.sent = Some(at);
    }

    /// An answer, or its follow-up, came in at `at`. Those of another domain, or to another's request, do nothing.
    pub fn receive(&mut self, message: &PtpMessage, at: Instant) {
        let header = &message.header;
        let ours = |body: &RespBody| {
            body.requester == self.config.port
                && header.sequence == self.sequence
                && (header.domain, header.major_sdo) == (self.config.domain, 1)
        };
        match &message.body {
            PtpBody::PdelayResp(body) if ours(body) => {
                // Its own answer comes back, or a second neighbour answers: no link between two.
                let own = header.source.clock == self.config.port.clock;
                if own || self.exchange.answered.is_some() {
                    self.reset();
                    return;
                }
                self.exchange.answered = Some((time_ps(body.time, header.correction), at));
                self.exchange.answerer = Some(header.source);
            }
            PtpBody::PdelayRespFollowUp(body)
                if ours(body) && self.exchange.answerer == Some(header.source) =>
            {
                self.finish(time_ps(body.time, header.correction));
            }
            _ => {}
        }
    }

    /// Mean link delay by the neighbour's clock, rounded down, the asymmetry added.
    #[must_use]
    pub fn delay(&self) -> Option<Duration> {
        self.delay
    }

    /// The neighbour's rate to that of this clock.
    #[must_use]
    pub fn neighbor_rate(&self) -> Option<RateOffset> {
        self.rate
    }

    /// asCapable: the neighbour answers, and the link is short enough.
    #[must_use]
    pub fn is_capable(&self) -> bool {
        self.capable
    }

    fn finish(&mut self, answer_left: i128) {
        let (Some(sent), Some((request_came, came))) = (self.exchange.sent, self.exchange.answered) else {
            return;
        };
        if self.exchange.done {
            return;
        }
        self.exchange.done = true;
        self.lost = 0;
        self.answers.push_back((answer_left, came));
        if self.answers.len() > WINDOW {
            self.answers.pop_front();
        }
        let (first_left, first_came) = self.answers[0];
        self.rate = RateOffset::of(answer_left - first_left, came.saturating_since(first_came)).or(self.rate);
        if planted!(NeighborRateIgnored) {
            self.rate = Some(RateOffset::default());
        }
        let Some(rate) = self.rate else { return };
        let turn = rate.there(i128::from(came.saturating_since(sent).as_ps()));
        let mean = (turn - (answer_left - request_came)).div_euclid(2);
        let one_way = (mean + i128::from(self.config.asymmetry)).max(0);
        let delay = Duration::from_ps(u64::try_from(one_way).unwrap_or(u64::MAX));
        self.delay = Some(delay);
        self.capable = delay <= self.config.delay_max;
    }

    fn reset(&mut self) {
        self.answers.clear();
        self.rate = None;
        self.delay = None;
        self.capable = false;
        self.exchange.done = true;
    }
}

/// The answer to a request that came at `came`, by this clock.
#[must_use]
pub fn answer(config: &PeerDelayConfig, request: &PtpMessage, came: Instant) -> PtpMessage {
    let (time, correction) = time_fields(reading_ps(came));
    let header = header(config, request.header.sequence, flags::TWO_STEP, NO_INTERVAL, correction);
    let body = PtpBody::PdelayResp(RespBody { time, requester: request.header.source });
    PtpMessage { header, body, tlvs: alloc::vec![] }
}

/// The measurement by an answer that left at `left`, by this clock.
#[must_use]
pub fn answer_follow_up(config: &PeerDelayConfig, request: &PtpMessage, left: Instant) -> PtpMessage {
    let (time, correction) = time_fields(reading_ps(left));
    let header = header(config, request.header.sequence, 0, NO_INTERVAL, correction);
    let body = PtpBody::PdelayRespFollowUp(RespBody { time, requester: request.header.source });
    PtpMessage { header, body, tlvs: alloc::vec![] }
}

/// Two to the power of `log` seconds.
#[must_use]
pub fn interval(log: i8) -> Duration {
    let second = Duration::from_s(1).as_ps();
    let log = log.clamp(-10, 10);
    let shift = u32::from(log.unsigned_abs());
    Duration::from_ps(if log < 0 { second >> shift } else { second << shift })
}

fn header(
    config: &PeerDelayConfig,
    sequence: u16,
    flags: u16,
    log_interval: i8,
    correction: i64,
) -> PtpHeader {
    PtpHeader {
        major_sdo: 1,
        minor_version: 1,
        domain: config.domain,
        minor_sdo: 0,
        flags,
        correction,
        specific: 0,
        source: config.port,
        sequence,
        control: 0,
        log_interval,
    }
}
