//! What is proven.
//!
//! Lists have the order of the network's: `streams[i]` is stream *i*, its `hops[j]` hop *j*.

use tautwire_model::Network;
use tautwire_model::network::{Stream, StreamIndex};
use tautwire_units::{Bits, Duration};

use crate::accuracy::Accuracy;
use crate::frer::RecoveryBounds;
use crate::host_stacks;
use crate::loss::Overflow;
use crate::unbounded::Unbounded;

/// Everything that is proven about a network.
#[derive(Clone, Debug, PartialEq)]
pub struct Bounds {
    /// Per stream.
    pub streams: Vec<StreamBounds>,
    /// Per port, and class 0 to 7 of it.
    pub ports: Vec<[ClassBounds; 8]>,
    /// Limits that what waits does not surely fit into: see [`losses`](crate::losses).
    pub overflows: Vec<Overflow>,
    /// Per sequence recovery function of a stream, in the order of streams.
    pub recoveries: Vec<RecoveryBounds>,
    /// Their accuracy.
    pub accuracy: Accuracy,
}

impl Bounds {
    /// Numbers streams in reasons and limits as in a network of which this one has only `streams`, in this order.
    ///
    /// # Panics
    /// If `streams` are fewer than those of these bounds.
    pub fn number_anew(&mut self, streams: &[StreamIndex]) {
        let number = |reason: &mut Unbounded| match reason {
            Unbounded::NoArrivalCurve { stream, .. } => *stream = streams[stream.index()],
            Unbounded::SharedShaper { streams: sharers, .. } => {
                sharers.iter_mut().for_each(|stream| *stream = streams[stream.index()]);
            }
            _ => {}
        };
        self.overflows.iter_mut().for_each(|overflow| overflow.number_anew(streams));
        self.recoveries.iter_mut().for_each(|one| one.stream = streams[one.stream.index()]);
        for stream in &mut self.streams {
            let hops = stream.hops.iter_mut().filter_map(|hop| hop.delay.as_mut().err());
            hops.for_each(number);
            for listener in &mut stream.listeners {
                let at_port = listener.delay.as_mut().err();
                let at_application = listener.application.as_mut().and_then(|(_, most)| most.as_mut().err());
                at_port.into_iter().chain(at_application).for_each(number);
            }
        }
    }
}

/// The bounds of one stream.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamBounds {
    /// Per listener.
    pub listeners: Vec<ListenerBounds>,
    /// Per hop.
    pub hops: Vec<HopBounds>,
}

/// What is proven of a stream at one listener: from the talker's application to the last bit at the
/// listener's MAC, in true time, rounded up.
#[derive(Clone, Debug, PartialEq)]
pub struct ListenerBounds {
    /// Greatest delay, or why there is none.
    pub delay: Result<Duration, Unbounded>,
    /// Least delay, rounded down.
    pub delay_min: Duration,
    /// Greatest distance of the two copies of a frame that goes over two networks, on the listener's
    /// clock; none for others, and without a bound of both.
    pub skew: Option<Duration>,
    /// Least and greatest delay from the talker's application to the listener's, behind its protocol stack or its host's
    /// `receive`; none for a listener whose host takes no time there.
    pub application: Option<(Duration, Result<Duration, Unbounded>)>,
    /// The method that gave the greatest delay, the tightest of those that hold for the path.
    pub method: Method,
}

impl StreamBounds {
    /// Adds the bounds at the applications of listeners without stacks.
    pub(crate) fn add_receptions(&mut self, network: &Network, stream: &Stream) {
        for (number, listener) in self.listeners.iter_mut().enumerate() {
            let at_port = (listener.delay_min, &listener.delay);
            if let Some(bounds) = host_stacks::behind_port(network, stream, number, at_port) {
                listener.application = Some(bounds);
            }
        }
    }
}

impl ListenerBounds {
    /// Greatest difference of two delays.
    #[must_use]
    pub fn jitter(&self) -> Option<Duration> {
        self.delay.as_ref().ok().map(|delay| delay.saturating_sub(self.delay_min))
    }
}

/// What is proven of a stream at one hop: from the last bit at this node's reception (the
/// application, at the talker) to the last bit at the next node.
#[derive(Clone, Debug, PartialEq)]
pub struct HopBounds {
    /// Greatest delay, or why there is none.
    pub delay: Result<Duration, Unbounded>,
    /// Least delay.
    pub delay_min: Duration,
    /// The method that gave the greatest delay, the tightest of those that hold here.
    pub method: Method,
}

/// The bounds of a class of an egress port.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ClassBounds {
    /// Whether a stream uses it.
    pub used: bool,
    /// Most bits of frames (destination to FCS) that wait or are being sent; none: no bound.
    pub backlog: Option<Bits>,
    /// Greatest credit, bits rounded up, of a credit-based shaper.
    pub hi_credit_bits: Option<i64>,
    /// Least credit, bits rounded down, of a credit-based shaper.
    pub lo_credit_bits: Option<i64>,
    /// Sustained rate of the class in parts per million of the line's.
    pub utilisation_ppm: Option<u32>,
}

/// How the bound of a hop, or of a path, was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// Strict priority, FIFO in the class, token buckets, the last frame at line rate (frame-accurate).
    StrictPriorityTokenBucket,
    /// The same with the aggregates of the incoming links shaped by these (Lmax + C·t).
    StrictPriorityLineShaping,
    /// Strict priority, FIFO in the class, frame by frame: all frames of the busy period.
    ResponseTime,
    /// Busy period of the class: no order within the class is assumed.
    BusyPeriod,
    /// Credit-based shaper, rate-latency service.
    CreditBased,
    /// The same with line shaping.
    CreditBasedLineShaping,
    /// The same, frame by frame.
    CreditBasedFrameByFrame,
    /// Eq. (1) of the published switch (Annex V of 802.1Q; eq. 9 of Specht and Samii 2016).
    AtsContention,
    /// The same, frame by frame.
    AtsFrameByFrame,
    /// Strict priority, with the frames of all classes that come by one link counted together.
    StrictPriorityByLinks,
    /// Of a path: the sum of its hops, each by its method.
    HopByHop,
    /// Of a path: the linear program of its queues, in which a burst counts once.
    PathProgram,
    /// That of a service: which carries the frames, or knows their instants, by its name.
    Carried(&'static str),
    /// No method: nothing is proven.
    None,
}

impl Method {
    /// Its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::StrictPriorityTokenBucket => "strict-priority-token-bucket",
            Self::StrictPriorityLineShaping => "strict-priority-line-shaping",
            Self::ResponseTime => "strict-priority-response-time",
            Self::BusyPeriod => "busy-period",
            Self::CreditBased => "credit-based",
            Self::CreditBasedLineShaping => "credit-based-line-shaping",
            Self::CreditBasedFrameByFrame => "credit-based-frame-by-frame",
            Self::AtsContention => "ats-contention",
            Self::AtsFrameByFrame => "ats-frame-by-frame",
            Self::StrictPriorityByLinks => "strict-priority-by-links",
            Self::HopByHop => "hop-by-hop",
            Self::PathProgram => "path-program",
            Self::Carried(name) => name,
            Self::None => "none",
        }
    }
}
