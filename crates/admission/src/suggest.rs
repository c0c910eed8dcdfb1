//! Suggestions: parameters with which a refused stream would have fitted.
//!
//! Each figure holds by itself, was tried with the test, and is found by bisection: a test that admits a smaller,
//! slower or later stream may in principle refuse one between, so it need not be the very best. The arrival curve of a
//! smaller or slower stream is that of the refused one in proportion.

use tautwire_model::Network;
use tautwire_model::network::{ArrivalCurve, Stream, StreamIndex, Traffic};
use tautwire_units::{BitRate, Bits, Bytes, Duration};

use crate::decision::Fits;
use crate::test::AdmissionTest;

/// Least payload that is tried, octets.
const PAYLOAD_LEAST: u64 = 46;
/// At most so many times slower, in steps of a thousandth.
const SLOWER_MOST: u64 = 1_000;
const MILLE: u64 = 1_000;
/// The longest deadline that is tried.
const DEADLINE_MOST: Duration = Duration::from_s(10);

/// The variants of the last of `streams`, which `test` refuses together with the others, that would have fitted.
pub(crate) fn fits(test: &dyn AdmissionTest, network: &Network, streams: &[StreamIndex]) -> Fits {
    let Some(last) = streams.last().copied() else { return Fits::default() };
    let refused = network.streams[last.index()].clone();
    let mut tried = network.clone();
    let mut admits = |stream: Stream| {
        tried.replace_stream(last, stream);
        test.refuse(&tried, streams).is_none()
    };
    let payload = refused.payload_max.get();
    let less = greatest(PAYLOAD_LEAST, payload, &mut |octets| admits(smaller(&refused, octets)));
    let slower = least(MILLE, SLOWER_MOST * MILLE, &mut |mille| admits(slower(&refused, mille)));
    let deadline = refused.deadline.and_then(|deadline| {
        let most = DEADLINE_MOST.as_ps().max(deadline.as_ps());
        let later = |ps: u64| Stream { deadline: Some(Duration::from_ps(ps)), ..refused.clone() };
        least(deadline.as_ps(), most, &mut |ps| admits(later(ps)))
    });
    let slowed = slower.map(|mille| self::slower(&refused, mille));
    Fits {
        payload_bytes: less,
        interval_ps: slowed.as_ref().and_then(|slowed| match slowed.traffic {
            Traffic::Periodic { interval, .. } => Some(interval.as_ps()),
            _ => None,
        }),
        rate_bps: slowed.and_then(|slowed| Some(slowed.arrival?.rate.as_bps())),
        deadline_ps: deadline,
    }
}

/// A stream with frames of at most so much payload, as many as before.
fn smaller(stream: &Stream, octets: u64) -> Stream {
    let payload_max = Bytes::new(octets);
    let bits = |payload| tautwire_model::wire_bits(payload, stream.tagged).get();
    let (now, before) = (bits(payload_max), bits(stream.payload_max));
    let arrival = stream.arrival.map(|curve| ArrivalCurve {
        rate: BitRate::from_bps(part(curve.rate.as_bps(), now, before)),
        burst: Bits::new(part(curve.burst.get(), now, before).max(now)),
    });
    Stream {
        payload_max,
        payload_min: stream.payload_min.min(payload_max),
        payload_drawn: None,
        arrival,
        ..stream.clone()
    }
}

/// A stream that sends its frames in so many thousandths of the time.
fn slower(stream: &Stream, mille: u64) -> Stream {
    let mut slower = stream.clone();
    if let Traffic::Periodic { interval, .. } = &mut slower.traffic {
        *interval = Duration::from_ps(part(interval.as_ps(), mille, MILLE));
    }
    slower.arrival = stream.arrival.map(|curve| ArrivalCurve {
        rate: BitRate::from_bps(part(curve.rate.as_bps(), MILLE, mille)),
        ..curve
    });
    slower
}

/// `value · num / den`, rounded up.
fn part(value: u64, num: u64, den: u64) -> u64 {
    let quotient = (u128::from(value) * u128::from(num)).div_ceil(u128::from(den.max(1)));
    u64::try_from(quotient).unwrap_or(u64::MAX)
}

/// The greatest number below `high`, which does not hold, that holds; none if `low` does not.
fn greatest(low: u64, high: u64, holds: &mut dyn FnMut(u64) -> bool) -> Option<u64> {
    if low >= high || !holds(low) {
        return None;
    }
    let (mut good, mut bad) = (low, high);
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if holds(middle) { good = middle } else { bad = middle }
    }
    Some(good)
}

/// The least number above `low`, which does not hold, that holds, to a thousandth; none if `high` does not.
fn least(low: u64, high: u64, holds: &mut dyn FnMut(u64) -> bool) -> Option<u64> {
    if low >= high || !holds(high) {
        return None;
    }
    let (mut bad, mut good) = (low, high);
    while good - bad > 1 + bad / MILLE {
        let middle = bad + (good - bad) / 2;
        if holds(middle) { good = middle } else { bad = middle }
    }
    Some(good)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edge_is_found() {
        assert_eq!(greatest(46, 1_500, &mut |octets| octets <= 777), Some(777));
        assert_eq!(greatest(46, 1_500, &mut |_| false), None);
        assert_eq!(least(1_000, 1_000_000, &mut |mille| mille >= 1_500).map(|mille| mille / 10), Some(150));
        assert_eq!(least(5, 10, &mut |_| false), None);
        assert_eq!(least(10, 10, &mut |_| true), None, "nothing between");
    }
}
