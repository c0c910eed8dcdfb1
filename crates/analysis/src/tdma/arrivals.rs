//! How frames come to the queue of a TDMA station.
//!
//! In: a stream and its talker's host. Out: most frames in a window of any length. A response is created when its
//! request was received, so it has the request's arrivals with the variation of wait and path as jitter. Stations may
//! send requests to each other, and then waits depend on themselves: they are assumed (`wait.rs`). Not here: how long
//! they wait (`wait.rs`).

use tautwire_model::frame_length;
use tautwire_model::network::{StreamIndex, TimelineAction, Traffic};
use tautwire_units::{Bytes, Duration};

use super::Cycle;
use crate::clock::PS_PER_S;
use crate::host_stacks::Handed;

/// How frames come to a station's queue.
#[derive(Clone, Copy, Debug)]
pub(super) enum Arrivals {
    /// `burst` at once, at least `interval` apart with a jitter of `jitter`.
    Periodic { interval: u64, jitter: u64, burst: u64 },
    /// As many of `least` bits as a token bucket holds.
    Bucket { bps: u64, burst: u64, least: u64 },
}

impl Arrivals {
    /// Most frames in a closed window of `span`.
    pub(super) fn frames(self, span: u64) -> u64 {
        match self {
            Self::Periodic { interval, jitter, burst } => {
                burst.saturating_mul((span.saturating_add(jitter)) / interval + 1)
            }
            Self::Bucket { bps, burst, least } => {
                let earned = (u128::from(bps) * u128::from(span)).div_ceil(PS_PER_S);
                u64::try_from((u128::from(burst) + earned) / u128::from(least)).unwrap_or(u64::MAX)
            }
        }
    }

    /// Frames in the long run, in a window of `unit` picoseconds, rounded down.
    pub(super) fn rate(self, unit: u128) -> u128 {
        match self {
            Self::Periodic { interval, burst, .. } => {
                u128::from(burst).saturating_mul(unit) / u128::from(interval)
            }
            Self::Bucket { bps, least, .. } => {
                u128::from(bps).saturating_mul(unit) / PS_PER_S.saturating_mul(u128::from(least))
            }
        }
    }

    /// The least window that may hold more frames than one of `span`.
    pub(super) fn next(self, span: u64) -> u64 {
        match self {
            Self::Periodic { interval, jitter, .. } => {
                let number = span.saturating_add(jitter) / interval + 1;
                number.saturating_mul(interval).saturating_sub(jitter).max(span + 1)
            }
            Self::Bucket { bps: 0, .. } => u64::MAX,
            Self::Bucket { bps, burst, least } => {
                let wanted = u128::from(self.frames(span) + 1) * u128::from(least);
                let missing = wanted.saturating_sub(u128::from(burst));
                // Rounded down: an earlier look costs nothing.
                let at = missing.saturating_sub(1) * PS_PER_S / u128::from(bps);
                u64::try_from(at).unwrap_or(u64::MAX).max(span + 1)
            }
        }
    }
}

impl Cycle<'_> {
    /// How a stream's frames come to its station's queue.
    pub(super) fn arrivals(&self, number: StreamIndex) -> Option<Arrivals> {
        let stream = &self.network.streams[number.index()];
        let spread = self.transmit(number)?.spread() + self.grain + 2;
        if let Some((interval, jitter, burst)) = self.handed_over(number) {
            return Some(Arrivals::Periodic { interval, jitter: jitter.checked_add(spread)?, burst });
        }
        if matches!(stream.traffic, Traffic::Response { .. }) {
            return None;
        }
        let curve = stream.arrival?;
        let bits = |payload| (frame_length(payload, stream.tagged) + Bytes::MEDIA_OVERHEAD).bits().get();
        let bps = self.deviation.fastest(curve.rate.as_bps());
        let earned = (u128::from(bps) * u128::from(spread)).div_ceil(PS_PER_S);
        Some(Arrivals::Bucket {
            bps,
            burst: curve.burst.get() + u64::try_from(earned).unwrap_or(u64::MAX),
            least: bits(stream.payload_min).max(1),
        })
    }

    /// Interval, jitter and burst with which an application hands a stream's frames over; none if they have no such.
    pub(super) fn handed_over(&self, number: StreamIndex) -> Option<(u64, u64, u64)> {
        let interval = |span: Duration| self.deviation.shrink(span.as_ps()).max(1);
        match &self.network.streams[number.index()].traffic {
            Traffic::Periodic { interval: span, jitter, burst, .. } => {
                // Of each beginning one frame more than of its part of a window.
                let again = self.begins_again(number)?;
                let (apart, jitter) = (interval(*span), self.deviation.stretch(jitter.as_ps()));
                let jitter = jitter.checked_mul(again + 1)?.checked_add(apart.checked_mul(again)?)?;
                Some((apart, jitter, u64::from(*burst)))
            }
            Traffic::Response { to, turn_around } => {
                let Some(Arrivals::Periodic { interval, jitter, burst }) = self.arrivals(*to) else {
                    return None;
                };
                // A response for each of its messages, in so many frames.
                let (asked, answered) =
                    (self.network.frames_a_message(*to), self.network.frames_a_message(number));
                let burst = (burst / u64::from(asked)).checked_mul(u64::from(answered))?;
                let request = &self.network.streams[to.index()];
                let talker = self.network.streams[number.index()].talker;
                let listener = request.listeners.iter().position(|node| *node == talker)?;
                let way = self.way(request, listener)?.1;
                let spread = way.plus(self.turn(*to, listener, *turn_around)?).spread();
                Some((interval, jitter.checked_add(self.waits[to.index()]?)?.checked_add(spread)?, burst))
            }
            _ => None,
        }
    }

    /// A response as its application hands it over; the spread of its round trip is in that of its delay.
    pub(super) fn response_handed(&self, number: StreamIndex) -> Option<Handed> {
        let stream = &self.network.streams[number.index()];
        let Traffic::Response { .. } = stream.traffic else { return None };
        let (interval, jitter, burst) = self.handed_over(number)?;
        let octets = frame_length(stream.payload_max, stream.tagged) + Bytes::MEDIA_OVERHEAD;
        let bits = u128::from(octets.bits().get()) * u128::from(burst);
        let rate = (bits * PS_PER_S).div_ceil(u128::from(interval));
        let at_once = bits + (bits * u128::from(jitter)).div_ceil(u128::from(interval));
        let bucket = (u64::try_from(rate).ok()?, u64::try_from(at_once).ok()?);
        // What of its spread is in the bucket already.
        Some(Handed { bucket, since: (0, self.spread_of_chain(number)?) })
    }

    /// How often a stream restarts its traffic, like the streams of a node that comes back when it has started up;
    /// none if it is another traffic, or begins at another time.
    fn begins_again(&self, number: StreamIndex) -> Option<u64> {
        let talker = self.network.streams[number.index()].talker;
        let starts_up = self.tdma.start_up.is_some();
        let mut again = 0;
        for event in &self.network.events {
            match &event.action {
                TimelineAction::StartStream(stream) | TimelineAction::ChangeTraffic(stream, ..)
                    if *stream == number =>
                {
                    return None;
                }
                TimelineAction::StartNode(node) if starts_up && *node == talker => again += 1,
                _ => {}
            }
        }
        Some(again)
    }
}
