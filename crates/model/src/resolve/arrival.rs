//! Promises of traffic: the token bucket that follows from it, in bits on the wire.
//!
//! Every burst and every rate is rounded up. With L the bits of the largest frame on the wire:
//!
//! * n frames every T with jitter J: in a window of length t at most n ((t + J)/T + 1) frames come, so
//!   rate nL/T and burst nL (1 + J/T) hold them (Le Boudec and Thiran 2001, 1.2.2);
//! * constant rate r: the next frame comes when this one is paid for, so rate r and burst L hold them;
//! * on/off: m = ⌈on/T⌉ frames every on + off; rate mL/(on + off), burst mL less what the rate earns
//!   from the first to the last of them where these fit the period, else mL;
//! * m threads with bursts of n every S at least: rate mnL/S, burst mnL, for a thread has n (t/S + 1) in t;
//! * a trace or file is finite: its mean rate, and the largest excess of any stretch over it.
//!
//! A stated promise need not be that bucket: a greater rate needs less of a burst. The burst that it needs at its own
//! rate is the largest excess of any stretch of the traffic over that rate ([`least_burst`]).

use tautwire_units::{BitRate, Bits, Bytes, Duration};

use crate::frame::{frame_length, wire_bits};
use crate::network::{ArrivalCurve, Traffic};

const PS_PER_S: u128 = 1_000_000_000_000;

/// The token bucket of `traffic` with payloads up to `payload_max`; none if it promises nothing.
pub(crate) fn curve(traffic: &Traffic, payload_max: Bytes, tagged: bool) -> Option<ArrivalCurve> {
    let frame = wire_bits(payload_max, tagged);
    match traffic {
        Traffic::Periodic { interval, jitter, burst, .. } => {
            let bits = frame * u64::from(*burst);
            let rate = BitRate::per_period_ceil(bits, *interval).ok()?;
            Some(ArrivalCurve { rate, burst: bits.saturating_add(share_ceil(bits, *jitter, *interval)) })
        }
        Traffic::ConstantRate { rate, .. } => Some(ArrivalCurve { rate: *rate, burst: frame }),
        Traffic::OnOff { on, off, interval, .. } => on_off(frame, *on, *off, *interval),
        Traffic::Replay { frames } => {
            Some(finite(frames.iter().map(|(at, size)| (*at, wire_bits(*size, tagged)))))
        }
        Traffic::Injected { threads, burst, interval, overhead } => {
            let frames = u64::from(*threads) * u64::from(*burst);
            let sleep = (*interval * frames).saturating_add(overhead.0);
            let bits = frame * frames;
            let rate = BitRate::per_period_ceil(bits, sleep).ok()?;
            Some(ArrivalCurve { rate, burst: bits })
        }
        Traffic::File { octets, .. } => {
            let full = octets.get() / payload_max.get().max(1);
            let rest = octets.get() % payload_max.get().max(1);
            let rest = if rest == 0 { Bits::ZERO } else { wire_bits(Bytes::new(rest), tagged) };
            Some(ArrivalCurve { rate: BitRate::ZERO, burst: frame * full + rest })
        }
        Traffic::Poisson { .. }
        | Traffic::Greedy { .. }
        | Traffic::Synchronisation { .. }
        | Traffic::Protocol
        | Traffic::Polled
        | Traffic::Response { .. } => None,
    }
}

/// The least burst that holds `traffic` at `rate`; none if no burst does.
pub(crate) fn least_burst(
    traffic: &Traffic,
    rate: BitRate,
    payload_max: Bytes,
    tagged: bool,
) -> Option<Bits> {
    let derived = curve(traffic, payload_max, tagged)?;
    if let Traffic::Replay { frames } = traffic {
        return Some(excess(frames.iter().map(|(at, size)| (*at, wire_bits(*size, tagged))), rate));
    }
    if rate < derived.rate {
        return None;
    }
    let frame = wire_bits(payload_max, tagged);
    Some(match traffic {
        // n intervals of jitter gather n bursts and one at once; the next stretch ends one interval on.
        Traffic::Periodic { interval, jitter, burst, .. } => {
            let bits = frame * u64::from(*burst);
            let gathered = jitter.as_ps() / interval.as_ps() + 1;
            let next = (*interval * gathered).saturating_sub(*jitter);
            (bits * gathered).max(over(bits * (gathered + 1), rate, next))
        }
        // Stretches within a round, and those from its end into the next; between two of a kind the excess is linear.
        Traffic::OnOff { on, off, interval, .. } => {
            let count = on.as_ps().div_ceil(interval.as_ps());
            let (bits, spread) = (frame * count, *interval * (count - 1));
            let mut most = frame.max(over(bits, rate, spread));
            if count > 1 {
                let round = on.saturating_add(*off);
                most = most.max(over(bits, rate, round.saturating_sub(*interval)));
                most = most.max(over(frame * 2, rate, round.saturating_sub(spread)));
            }
            most
        }
        _ => derived.burst,
    })
}

/// The excess of `bits` in `span` over `rate`, rounded up.
fn over(bits: Bits, rate: BitRate, span: Duration) -> Bits {
    let earned = u128::from(rate.as_bps()) * u128::from(span.as_ps()) / PS_PER_S;
    bits.saturating_sub(Bits::new(u64::try_from(earned).unwrap_or(u64::MAX)))
}

/// `bits · span / period`, rounded up.
fn share_ceil(bits: Bits, span: Duration, period: Duration) -> Bits {
    let share = (u128::from(bits.get()) * u128::from(span.as_ps())).div_ceil(u128::from(period.as_ps()));
    Bits::new(u64::try_from(share).unwrap_or(u64::MAX))
}

fn on_off(frame: Bits, on: Duration, off: Duration, interval: Duration) -> Option<ArrivalCurve> {
    let count = on.as_ps().div_ceil(interval.as_ps());
    let bits = frame * count;
    let period = on.saturating_add(off);
    let rate = BitRate::per_period_ceil(bits, period).ok()?;
    let spread = interval * (count - 1);
    let fits = interval * count <= period;
    // What the exact rate earns in that time, rounded down: the burst is then not too small.
    let earned = (u128::from(bits.get()) * u128::from(spread.as_ps())) / u128::from(period.as_ps());
    let earned = Bits::new(u64::try_from(earned).unwrap_or(u64::MAX));
    let burst = if fits { bits.saturating_sub(earned).max(frame) } else { bits };
    Some(ArrivalCurve { rate, burst })
}

/// The mean rate of a finite trace, and the largest excess of a stretch of it over that rate.
fn finite(frames: impl Iterator<Item = (Duration, Bits)> + Clone) -> ArrivalCurve {
    let total: Bits = frames.clone().map(|(_, bits)| bits).sum();
    let first = frames.clone().next().map_or(Duration::ZERO, |(at, _)| at);
    let last = frames.clone().last().map_or(Duration::ZERO, |(at, _)| at);
    let rate = BitRate::per_period_ceil(total, last.saturating_sub(first)).unwrap_or(BitRate::ZERO);
    ArrivalCurve { rate, burst: excess(frames, rate) }
}

/// The largest excess of a stretch of a trace over a rate.
fn excess(frames: impl Iterator<Item = (Duration, Bits)>, rate: BitRate) -> Bits {
    // In units of 10⁻¹² bit, exactly: sum before each frame less rate times its time, least so far.
    let (mut sum, mut least, mut excess) = (0_i128, i128::MAX, 0_i128);
    for (at, bits) in frames {
        let paid = i128::from(rate.as_bps()) * i128::from(at.as_ps());
        least = least.min(sum - paid);
        sum += i128::from(bits.get()) * 1_000_000_000_000;
        excess = excess.max(sum - paid - least);
    }
    Bits::new(u64::try_from(excess.unsigned_abs().div_ceil(PS_PER_S)).unwrap_or(u64::MAX))
}

/// Mean bits of the wire per second, of traffic that promises nothing too; rounded up.
pub(crate) fn mean_rate(
    traffic: &Traffic,
    arrival: Option<ArrivalCurve>,
    payload_max: Bytes,
    tagged: bool,
) -> BitRate {
    match (arrival, traffic) {
        (Some(arrival), _) => arrival.rate,
        (None, Traffic::Poisson { mean_interval }) => {
            let bits = (frame_length(payload_max, tagged) + Bytes::MEDIA_OVERHEAD).bits();
            BitRate::per_period_ceil(bits, *mean_interval).unwrap_or(BitRate::ZERO)
        }
        (None, _) => BitRate::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: Bytes = Bytes::new(1_500);

    fn of(traffic: &Traffic) -> ArrivalCurve {
        curve(traffic, FULL, true).expect("a curve")
    }

    #[test]
    fn jitter_adds_to_the_burst_and_not_to_the_rate() {
        let periodic = |jitter| Traffic::Periodic {
            interval: Duration::from_us(125),
            offset: Duration::ZERO,
            jitter,
            burst: 2,
            drawn: false,
        };
        let calm = of(&periodic(Duration::ZERO));
        assert_eq!(calm.rate, BitRate::from_bps(2 * 12_336 * 8_000));
        assert_eq!(calm.burst, Bits::new(2 * 12_336));
        let late = of(&periodic(Duration::from_us(25)));
        assert_eq!(late.rate, calm.rate);
        assert_eq!(late.burst, Bits::new(2 * 12_336 + 4_935), "a fifth, rounded up");
    }

    /// Whether every window between two frames is held by the curve.
    fn is_held(arrival: ArrivalCurve, frames: &[(Duration, Bits)]) -> bool {
        frames.iter().enumerate().all(|(i, (from, _))| {
            let mut sum = Bits::ZERO;
            frames[i..].iter().all(|(to, bits)| {
                sum += *bits;
                sum <= arrival.burst + arrival.rate.bits_ceil(to.saturating_sub(*from))
            })
        })
    }

    /// Every window of a long run is held by the curve.
    fn holds(arrival: ArrivalCurve, frames: &[(Duration, Bits)]) {
        assert!(is_held(arrival, frames), "{arrival:?}");
    }

    /// Frames of six rounds of on-off traffic.
    fn on_off(on: Duration, off: Duration, interval: Duration) -> Vec<(Duration, Bits)> {
        let mut frames = Vec::new();
        for period in 0..6 {
            let mut at = Duration::ZERO;
            while at < on {
                frames.push(((on + off) * period + at, wire_bits(FULL, true)));
                at += interval;
            }
        }
        frames
    }

    #[test]
    fn an_on_off_curve_holds_its_frames_tightly() {
        for (on, off, interval) in [(100, 900, 10), (95, 5, 10), (100, 3, 10), (10, 0, 10), (7, 100, 10)] {
            let [on, off, interval] = [on, off, interval].map(Duration::from_us);
            let arrival = of(&Traffic::OnOff { on, off, interval, offset: Duration::ZERO });
            holds(arrival, &on_off(on, off, interval));
        }
    }

    /// The least burst of `traffic` holds these frames at `rate`, and a smaller one does not.
    fn is_least(traffic: &Traffic, rate: u64, frames: &[(Duration, Bits)]) {
        let rate = BitRate::from_bps(rate);
        let burst = least_burst(traffic, rate, FULL, true).expect("a rate that is enough");
        holds(ArrivalCurve { rate, burst }, frames);
        let less = ArrivalCurve { rate, burst: burst - Bits::new(2) };
        assert!(!is_held(less, frames), "{burst} are more than {traffic:?} needs at {rate}");
    }

    #[test]
    fn the_least_burst_of_on_off_traffic_is_exact_at_every_rate() {
        for (on, off, interval) in [(100, 900, 10), (95, 5, 10), (100, 3, 10), (10, 0, 10), (7, 100, 10)] {
            let [on, off, interval] = [on, off, interval].map(Duration::from_us);
            let traffic = Traffic::OnOff { on, off, interval, offset: Duration::ZERO };
            let mean = of(&traffic).rate.as_bps();
            let frames = on_off(on, off, interval);
            for rate in [mean, mean + mean / 10, mean * 2, mean * 20] {
                is_least(&traffic, rate, &frames);
            }
            assert_eq!(least_burst(&traffic, BitRate::from_bps(mean - 1), FULL, true), None);
        }
    }

    #[test]
    fn the_least_burst_of_periodic_traffic_is_exact_at_every_rate() {
        for (jitter, count) in [(0, 1), (40, 1), (100, 2), (130, 1), (250, 3)] {
            let [interval, jitter] = [100, jitter].map(Duration::from_us);
            let traffic =
                Traffic::Periodic { interval, offset: Duration::ZERO, jitter, burst: count, drawn: false };
            let mean = of(&traffic).rate.as_bps();
            // The worst: as late as can be up to a time, and not late at all from there on.
            let at = |number: u64| (interval * number).max((interval * 10).min(interval * number + jitter));
            let frames: Vec<_> = (0..40)
                .flat_map(|number| (0..count).map(move |_| (at(number), wire_bits(FULL, true))))
                .collect();
            for rate in [mean, mean + mean / 10, mean * 2] {
                is_least(&traffic, rate, &frames);
            }
            assert!(least_burst(&traffic, BitRate::from_bps(mean), FULL, true) <= Some(of(&traffic).burst));
        }
    }

    #[test]
    fn a_trace_is_held_by_its_curve_and_by_no_smaller_burst() {
        let times = [0, 5, 6, 7, 50, 51, 90, 100];
        let frames: Vec<_> = times.iter().map(|at| (Duration::from_us(*at), Bytes::new(100 + at))).collect();
        let arrival = of(&Traffic::Replay { frames: frames.clone() });
        let wire: Vec<_> = frames.iter().map(|(at, size)| (*at, wire_bits(*size, true))).collect();
        holds(arrival, &wire);
        let smaller = Bits::new(arrival.burst.get() - 2);
        assert!(!is_held(ArrivalCurve { burst: smaller, ..arrival }, &wire));
        let traffic = Traffic::Replay { frames };
        // The traffic is finite: a rate below its mean is possible with a larger burst.
        for rate in [1, arrival.rate.as_bps() / 2, arrival.rate.as_bps() * 2] {
            is_least(&traffic, rate, &wire);
        }
    }
}
