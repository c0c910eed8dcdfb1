//! The bandwidth test of stream reservation (IEEE Std 802.1Q-2022, 34.3 and 35.2.4.2), at every bridge.
//!
//! A stream needs its largest frame, of 64 octets at least, with 42 octets of header and medium and one for the difference of
//! clocks, as often as frames of it may come in one class measurement interval. Where the description has stream reservation, classes,
//! declared frames and shares are its own, and the test is the one that its bridges do. Where it has none, a class of a port has
//! its idleSlope, and all classes together the sum that the standard's deltaBandwidth gives by default,
//! 75 % of the line; ports of end stations that do not shape are not tested. This is what SRP checks, and no proof that a
//! deadline is kept.

use tautwire_core::srp::{PortBandwidth, idle_slope, slope_of};
use tautwire_model::Network;
use tautwire_model::network::{Hop, NodeKind, PortIndex, Stream, StreamIndex, TransmissionSelection};
use tautwire_model::srp::{ReservedStream, StreamReservation};
use tautwire_units::{BitRate, Duration};

use crate::decision::RefusalReason;
use crate::test::{AdmissionTest, TestSession};

/// The test, with its parameters where the description has no stream reservation.
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
        let mut session = self.session(network);
        streams.iter().find_map(|stream| session.join(network, *stream))
    }

    fn begin<'network>(self: Box<Self>, network: &'network Network) -> Box<dyn TestSession + 'network>
    where
        Self: 'network,
    {
        self.session(network)
    }
}

impl Bandwidth {
    fn session(&self, network: &Network) -> Box<dyn TestSession> {
        match &network.srp {
            Some(reservation) => Box::new(Domain::new(network, reservation)),
            None => Box::new(Slopes { test: *self, reserved: vec![[0; 8]; network.ports.len()] }),
        }
    }
}

/// What is reserved of the shares of a domain's classes.
struct Domain {
    /// Per port; none where nothing is tested: at end stations, and without a cable.
    ports: Vec<Option<PortBandwidth>>,
}

impl Domain {
    fn new(network: &Network, reservation: &StreamReservation) -> Self {
        let port = |port: &tautwire_model::network::Port| {
            let is_bridge = matches!(network.nodes[port.node.index()].kind, NodeKind::Bridge { .. });
            let link = port.links.filter(|_| is_bridge)?.egress;
            Some(PortBandwidth::new(network.links[link.index()].rate, &reservation.classes))
        };
        Self { ports: network.ports.iter().map(port).collect() }
    }

    /// The class of a stream, and its slope, if it is reserved.
    fn wanted(network: &Network, stream: StreamIndex) -> Option<(usize, u64)> {
        let reservation = network.srp.as_ref()?;
        let place = reservation.streams.binary_search_by_key(&stream, |reserved| reserved.stream).ok()?;
        let ReservedStream { talker, .. } = &reservation.streams[place];
        let class = reservation.classes.iter().position(|class| class.domain.priority == talker.priority)?;
        Some((class, idle_slope(talker, &reservation.classes[class])))
    }
}

impl TestSession for Domain {
    fn join(&mut self, network: &Network, stream: StreamIndex) -> Option<RefusalReason> {
        let Some((class, wanted_bps)) = Self::wanted(network, stream) else {
            return Some(RefusalReason::NotReserved);
        };
        for hop in &network.streams[stream.index()].hops {
            let Some(port) = &self.ports[hop.port.index()] else { continue };
            if port.test(class, wanted_bps).is_err() {
                let (at, left_bps) = (tautwire_report::port_name(network, hop.port), port.room(class));
                let class = hop.class.number();
                return Some(RefusalReason::Bandwidth { port: at, class, wanted_bps, left_bps });
            }
        }
        self.rejoin(network, &[stream]);
        None
    }

    fn leave(&mut self, network: &Network, stream: StreamIndex) {
        let Some((class, slope)) = Self::wanted(network, stream) else { return };
        for hop in &network.streams[stream.index()].hops {
            if let Some(port) = &mut self.ports[hop.port.index()] {
                port.release(class, slope);
            }
        }
    }

    fn rejoin(&mut self, network: &Network, streams: &[StreamIndex]) {
        for stream in streams {
            let Some((class, slope)) = Self::wanted(network, *stream) else { continue };
            for hop in &network.streams[stream.index()].hops {
                if let Some(port) = &mut self.ports[hop.port.index()] {
                    port.hold(class, slope);
                }
            }
        }
    }
}

/// What is reserved of the idleSlopes of ports.
struct Slopes {
    test: Bandwidth,
    /// Per port and class, bits per second.
    reserved: Vec<[u64; 8]>,
}

impl TestSession for Slopes {
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

impl Slopes {
    /// Why a stream cannot be reserved at one of its hops.
    fn refuse_at(&self, network: &Network, stream: &Stream, hop: &Hop) -> Option<RefusalReason> {
        let class = hop.class.number();
        let name = || tautwire_report::port_name(network, hop.port);
        let port = &network.ports[hop.port.index()];
        let TransmissionSelection::CreditBased { idle_slope } = port.classes[hop.class.index()].selection
        else {
            let is_bridge = matches!(network.nodes[port.node.index()].kind, NodeKind::Bridge { .. });
            return is_bridge.then(|| RefusalReason::NoReservation { port: name(), class });
        };
        let reserved = &self.reserved[hop.port.index()];
        let (in_class, in_all) = (reserved[hop.class.index()], reserved.iter().sum());
        let line = network.links[port.links?.egress.index()].rate;
        let reservable = line.as_bps() / 100 * self.test.reservable_percent;
        let left_bps = idle_slope.as_bps().saturating_sub(in_class).min(reservable.saturating_sub(in_all));
        let wanted_bps = self.test.needed(network, stream, hop.port, class);
        let refused = || RefusalReason::Bandwidth { port: name(), class, wanted_bps, left_bps };
        (wanted_bps > left_bps).then(refused)
    }
}

impl Bandwidth {
    /// What a stream needs in a class of a port, bits per second, rounded up; none for one that promises
    /// nothing, and where nothing is reserved.
    fn needed(&self, network: &Network, stream: &Stream, port: PortIndex, class: u8) -> u64 {
        let Some(arrival) = stream.arrival else { return 0 };
        let classes = &network.ports[port.index()].classes;
        let is_shaped =
            |number: usize| matches!(classes[number].selection, TransmissionSelection::CreditBased { .. });
        let class = usize::from(class);
        if !is_shaped(class) {
            return 0;
        }
        let is_highest = !(class + 1..8).any(is_shaped);
        let interval = if is_highest { self.interval_highest } else { self.interval_others };
        // Declared, or those that the arrival curve lets begin within one interval, its end not counted.
        let frames = stream.interval_frames(interval).unwrap_or_else(|| {
            let wire = tautwire_model::wire_bits(stream.payload_max, stream.tagged);
            let came = arrival.burst.get() + bits_in(arrival.rate, interval - Duration::from_ps(1));
            came / wire.get()
        });
        slope_of(stream.payload_max.get(), frames.max(1), interval)
    }
}

/// Bits that come at a rate, rounded down.
fn bits_in(rate: BitRate, time: Duration) -> u64 {
    let bits = u128::from(rate.as_bps()) * u128::from(time.as_ps()) / 1_000_000_000_000;
    u64::try_from(bits).unwrap_or(u64::MAX)
}
