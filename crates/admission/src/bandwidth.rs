//! The bandwidth test of stream reservation (IEEE Std 802.1Q-2022, 34.3 and 35.2.4.2), at every port.
//!
//! A stream needs its largest frame with 42 octets of header and medium and one for the difference of
//! clocks, as often as frames of it may come in one class measurement interval. A class of a port has
//! its idleSlope, and all classes together the sum that the standard's deltaBandwidth gives by default,
//! 75 % of the line. This is what SRP checks, and no proof that a deadline is kept.

use tautwire_model::Network;
use tautwire_model::network::{Hop, PortIndex, Stream, StreamIndex, TransmissionSelection};
use tautwire_units::{BitRate, Bits, Bytes, Duration};

use crate::decision::RefusalReason;
use crate::test::{AdmissionTest, Standing};

/// Octets that are reckoned with every frame's payload: preamble, header with tag, FCS and gap (42), and
/// one for the difference of clocks.
const OVERHEAD: u64 = 43;

/// The test, with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bandwidth {
    /// Class measurement interval of the highest credit-based class of a port (class A).
    pub interval_highest: Duration,
    /// Class measurement interval of the others (class B).
    pub interval_others: Duration,
    /// Part of a line that may be reserved in all, percent.
    pub reservable_percent: u64,
}

impl Default for Bandwidth {
    fn default() -> Self {
        Self {
            interval_highest: Duration::from_us(125),
            interval_others: Duration::from_us(250),
            reservable_percent: 75,
        }
    }
}

impl AdmissionTest for Bandwidth {
    fn refuse(&self, network: &Network, streams: &[StreamIndex]) -> Option<RefusalReason> {
        let (new, before) = streams.split_last()?;
        let mut standing = self.standing(network);
        standing.rejoin(network, before);
        standing.join(network, *new)
    }

    fn begin<'network>(self: Box<Self>, network: &'network Network) -> Box<dyn Standing + 'network>
    where
        Self: 'network,
    {
        Box::new(self.standing(network))
    }
}

/// What is reserved, kept from one decision to the next.
struct StandingBandwidth {
    test: Bandwidth,
    /// Per port and class, bits per second.
    reserved: Vec<[u64; 8]>,
}

impl Standing for StandingBandwidth {
    fn join(&mut self, network: &Network, stream: StreamIndex) -> Option<RefusalReason> {
        let new = &network.streams[stream.index()];
        if new.arrival.is_none() {
            return Some(RefusalReason::NoArrivalCurve);
        }
        let reason = new.hops.iter().find_map(|hop| self.refuse_at(network, new, hop));
        if reason.is_none() {
            self.rejoin(network, &[stream]);
        }
        reason
    }

    fn leave(&mut self, network: &Network, stream: StreamIndex) {
        let stream = &network.streams[stream.index()];
        for hop in &stream.hops {
            let rate = self.test.needed(network, stream, hop.port, hop.class.number());
            self.reserved[hop.port.index()][hop.class.index()] -= rate;
        }
    }

    fn rejoin(&mut self, network: &Network, streams: &[StreamIndex]) {
        for stream in streams.iter().map(|index| &network.streams[index.index()]) {
            for hop in &stream.hops {
                let rate = self.test.needed(network, stream, hop.port, hop.class.number());
                self.reserved[hop.port.index()][hop.class.index()] += rate;
            }
        }
    }
}

impl StandingBandwidth {
    /// Why a stream cannot be reserved at one of its hops.
    fn refuse_at(&self, network: &Network, stream: &Stream, hop: &Hop) -> Option<RefusalReason> {
        let class = hop.class.number();
        let port = || tautwire_report::port_name(network, hop.port);
        let TransmissionSelection::CreditBased { idle_slope } =
            network.ports[hop.port.index()].classes[hop.class.index()].selection
        else {
            return Some(RefusalReason::NoReservation { port: port(), class });
        };
        let reserved = &self.reserved[hop.port.index()];
        let (in_class, in_all) = (reserved[hop.class.index()], reserved.iter().sum());
        let line = network.links[network.ports[hop.port.index()].links?.egress.index()].rate;
        let reservable = line.as_bps() / 100 * self.test.reservable_percent;
        let left_bps = idle_slope.as_bps().saturating_sub(in_class).min(reservable.saturating_sub(in_all));
        let wanted_bps = self.test.needed(network, stream, hop.port, class);
        let refused = || RefusalReason::Bandwidth { port: port(), class, wanted_bps, left_bps };
        (wanted_bps > left_bps).then(refused)
    }
}

impl Bandwidth {
    fn standing(&self, network: &Network) -> StandingBandwidth {
        StandingBandwidth { test: *self, reserved: vec![[0; 8]; network.ports.len()] }
    }

    /// What a stream needs in a class of a port, bits per second, rounded up; none for one that promises
    /// nothing.
    fn needed(&self, network: &Network, stream: &Stream, port: PortIndex, class: u8) -> u64 {
        let Some(arrival) = stream.arrival else { return 0 };
        let classes = &network.ports[port.index()].classes;
        let is_higher = |number: usize| {
            number > usize::from(class)
                && matches!(classes[number].selection, TransmissionSelection::CreditBased { .. })
        };
        let interval = if (0..8).any(is_higher) { self.interval_others } else { self.interval_highest };
        // Frames that may begin within one interval, its end not counted.
        let wire = tautwire_model::wire_bits(stream.payload_max, stream.tagged);
        let came = arrival.burst.get() + bits_in(arrival.rate, interval - Duration::from_ps(1));
        let frames = (came / wire.get()).max(1);
        let bits = Bits::new(frames * Bytes::new(stream.payload_max.get() + OVERHEAD).bits().get());
        per_second(bits, interval)
    }
}

/// Bits that come at a rate, rounded down.
fn bits_in(rate: BitRate, time: Duration) -> u64 {
    let bits = u128::from(rate.as_bps()) * u128::from(time.as_ps()) / 1_000_000_000_000;
    u64::try_from(bits).unwrap_or(u64::MAX)
}

/// Bits per second, rounded up.
fn per_second(bits: Bits, time: Duration) -> u64 {
    let rate = (u128::from(bits.get()) * 1_000_000_000_000).div_ceil(u128::from(time.as_ps().max(1)));
    u64::try_from(rate).unwrap_or(u64::MAX)
}
