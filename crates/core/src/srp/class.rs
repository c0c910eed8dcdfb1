//! Stream reservation classes, and what a stream costs a port (IEEE Std 802.1Q-2022, 34.3 to 34.5 and 35.2.4.2).

use tautwire_units::{BitRate, Duration};
use tautwire_wire::srp::{DomainValue, TalkerValue};

/// Preamble, start of frame and gap: what a frame costs in addition to its octets.
const MEDIA_OCTETS: u64 = 20;
/// Addresses and type 14, tag 4, FCS 4: 42 with the media's 20.
const FRAME_OCTETS: u64 = 22;
/// An octet for a talker whose clock is fast.
const CLOCK_OCTETS: u64 = 1;
/// The shortest frame.
const FRAME_OCTETS_MIN: u64 = 64;
/// The longest frame, with what it costs the medium.
const WIRE_OCTETS_MAX: u64 = 1_542;
/// Gap between frames.
const GAP_OCTETS: u64 = 12;

/// A stream reservation class, as the bridges of a domain agree on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SrClass {
    /// Class, its priority and its default VLAN, as they are declared.
    pub domain: DomainValue,
    /// Class measurement interval.
    pub interval: Duration,
    /// deltaBandwidth: percent of the port's rate that the class adds to what it may use.
    pub delta_percent: u8,
}

impl SrClass {
    /// Class A by default: priority 3, 125 us, 75 %.
    #[must_use]
    pub const fn a() -> Self {
        let domain = DomainValue { class: 6, priority: 3, vlan: 2 };
        Self { domain, interval: Duration::from_us(125), delta_percent: 75 }
    }

    /// Class B by default: priority 2, 250 us, no bandwidth beyond what class A leaves.
    #[must_use]
    pub const fn b() -> Self {
        let domain = DomainValue { class: 5, priority: 2, vlan: 2 };
        Self { domain, interval: Duration::from_us(250), delta_percent: 0 }
    }
}

/// Bits in a second that a stream needs of a port, rounded up; the maximum on overflow.
#[must_use]
pub fn idle_slope(talker: &TalkerValue, class: &SrClass) -> u64 {
    slope_of(u64::from(talker.frame_size_max), u64::from(talker.interval_frames_max), class.interval)
}

/// Bits in a second that so many frames in a class measurement interval need, with payloads of at most so many octets:
/// rounded up; the maximum on overflow.
#[must_use]
pub fn slope_of(payload: u64, frames: u64, interval: Duration) -> u64 {
    let frame = payload.saturating_add(FRAME_OCTETS + CLOCK_OCTETS).max(FRAME_OCTETS_MIN);
    let bits = 8 * u128::from(frames) * (u128::from(frame) + u128::from(MEDIA_OCTETS));
    let second = u128::from(Duration::from_s(1).as_ps());
    let slope = bits.saturating_mul(second).div_ceil(u128::from(interval.as_ps().max(1)));
    u64::try_from(slope).unwrap_or(u64::MAX)
}

/// Nanoseconds that a port adds to a stream's accumulated latency, rounded up: the published estimate for a class
/// with the highest priority, `device + t_max + (t_all - t_stream - t_gap) / share + t_stream`, where `t_max` is the longest
/// frame that may have begun, `t_all` what all streams of the class may send in an interval, `t_stream` a frame of
/// this stream and `share` the part of the rate that the class may use. It assumes that no stream comes in bursts of
/// more than an interval's frames: it is no proof.
#[must_use]
pub fn hop_latency_ns(
    device: Duration,
    rate: BitRate,
    class: &SrClass,
    percent: u64,
    talker: &TalkerValue,
) -> u32 {
    let bps = u128::from(rate.as_bps().max(1));
    let octets_ps = |octets: u64| (u128::from(octets) * 8_000_000_000_000).div_ceil(bps);
    let all = u128::from(class.interval.as_ps()) * u128::from(percent) / 100;
    // Rounded to the safe side: the interval's part down would make it shorter by less than a picosecond; one is added.
    let stream = octets_ps(u64::from(talker.frame_size_max) + FRAME_OCTETS + 8);
    let others = (all + 1).saturating_sub(stream + octets_ps(GAP_OCTETS));
    let others = (others * 100).div_ceil(u128::from(percent.max(1)));
    let ps = u128::from(device.as_ps()) + octets_ps(WIRE_OCTETS_MAX) + others + stream;
    u32::try_from(ps.div_ceil(1_000)).unwrap_or(u32::MAX)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use tautwire_wire::MacAddress;
    use tautwire_wire::srp::{Rank, StreamId};

    pub(crate) fn talker(unique: u16, frame_size_max: u16) -> TalkerValue {
        TalkerValue {
            stream: StreamId { source: MacAddress([2, 0, 0, 0, 0, 1]), unique },
            destination: MacAddress([0x91, 0xe0, 0xf0, 0, 1, unique.to_be_bytes()[1]]),
            vlan: 2,
            frame_size_max,
            interval_frames_max: 1,
            priority: 3,
            rank: Rank::NonEmergency,
            accumulated_latency_ns: 0,
        }
    }

    #[test]
    fn a_stream_costs_43_octets_besides_its_payload() {
        assert_eq!(idle_slope(&talker(1, 500), &SrClass::a()), 34_752_000, "8 x (500 + 43) x 8000");
        assert_eq!(idle_slope(&talker(1, 900), &SrClass::a()), 60_352_000);
        assert_eq!(idle_slope(&talker(1, 500), &SrClass::b()), 34_752_000 / 2);
        assert_eq!(idle_slope(&talker(1, 1), &SrClass::a()), 8 * 84 * 8_000, "the shortest frame");
    }

    #[test]
    fn the_estimate_of_a_hop_is_the_published_one() {
        // 123.36 + (93.75 - 42.4 - 0.96) / 0.75 + 42.4 us.
        let rate = BitRate::from_bps(100_000_000);
        let ns = hop_latency_ns(Duration::ZERO, rate, &SrClass::a(), 75, &talker(1, 500));
        assert_eq!(ns, 232_947);
    }
}
