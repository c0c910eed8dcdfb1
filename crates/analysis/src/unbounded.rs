//! Why there is no bound, and the text of each reason, which all results use.

use tautwire_core::TrafficClass;
use tautwire_model::Network;
use tautwire_model::network::{PortIndex, StreamIndex};

/// Why there is no bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unbounded {
    /// The stream promises nothing.
    NoArrivalCurve {
        /// The stream that promises nothing: this one, or one that it meets at `port`.
        stream: StreamIndex,
        /// Where they meet.
        port: PortIndex,
    },
    /// More comes than can leave.
    Overload {
        /// Where.
        port: PortIndex,
        /// In which class.
        class: TrafficClass,
    },
    /// A clock whose readings step: each frame waits for the next step, and so more comes than can leave.
    ClockTooCoarse {
        /// Where.
        port: PortIndex,
        /// In which class.
        class: TrafficClass,
    },
    /// The way to the next node may take longer than bounds reach: 1000 s.
    TooLong {
        /// Where it begins.
        port: PortIndex,
    },
    /// Bounds of a cyclic dependency did not converge.
    NoFixedPoint {
        /// A port of the cycle.
        port: PortIndex,
    },
    /// An ATS shaper does not cover its stream: its slowest clock may pass less than comes.
    ShaperTooSlow {
        /// Where.
        port: PortIndex,
    },
    /// An ATS scheduler that several streams share may pass less than their common arrivals.
    SharedShaper {
        /// Where.
        port: PortIndex,
        /// Those that share it.
        streams: Vec<StreamIndex>,
    },
    /// More messages may come to a virtual link than its regulator lets through, or it is not known how often they come.
    RegulatorTooSlow {
        /// Where.
        port: PortIndex,
    },
    /// An ATS shaper comes after something that does not keep the order of its group.
    NotFifoUpstream {
        /// Where.
        port: PortIndex,
    },
    /// A stage of a device is slower than what comes to it: at this port, of reception or of egress.
    StageTooSlow {
        /// Where.
        port: PortIndex,
    },
    /// A server in the host of its talker or listener may have more to do than it can, or serves frames of
    /// which nothing is known.
    Host {
        /// The talker's port.
        port: PortIndex,
    },
    /// A service that carries it has no bound, with a reason of its own.
    OfService {
        /// The reason.
        why: &'static Why,
        /// Where.
        port: PortIndex,
        /// Of which class, if it is of one: perhaps another than that of the stream.
        class: Option<TrafficClass>,
    },
    /// The network does not grant it.
    NotGranted {
        /// Its talker's.
        port: PortIndex,
    },
    /// Its own frames may be discarded by the shaper's MaxResidenceTime or size.
    MayBeDiscarded {
        /// Where.
        port: PortIndex,
    },
}

/// Why a service has no bound, in its own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Why {
    /// Its name in results: `slots-meet`.
    pub name: &'static str,
    /// A part of a sentence, with `{port}` in place of the port, and `{class}` where it is of a class.
    pub text: &'static str,
}

impl Why {
    /// As a reason.
    pub(crate) const fn at(&'static self, port: PortIndex) -> Unbounded {
        Unbounded::OfService { why: self, port, class: None }
    }

    /// As a reason of a class.
    pub(crate) fn of_class(&'static self, port: PortIndex, class: usize) -> Unbounded {
        let class = u8::try_from(class).ok().and_then(TrafficClass::new);
        Unbounded::OfService { why: self, port, class }
    }
}

impl Unbounded {
    /// As a sentence's part: `class 5 of port b1.p2 is overloaded`.
    #[must_use]
    pub fn text(&self, network: &Network) -> String {
        let port = |at: PortIndex| {
            let port = &network.ports[at.index()];
            format!("{}.{}", network.nodes[port.node.index()].name, port.name)
        };
        match self {
            Self::NoArrivalCurve { stream, port: at } => {
                let stream = &network.streams[stream.index()].name;
                format!("stream {stream} has no arrival curve at port {}", port(*at))
            }
            Self::Overload { port: at, class } => {
                format!("class {class} of port {} is overloaded", port(*at))
            }
            Self::ClockTooCoarse { port: at, class } => {
                let clock = &network.nodes[network.ports[at.index()].node.index()].clock;
                format!(
                    "each frame waits for a clock step of {}, which overloads class {class} of port {}",
                    clock.granularity,
                    port(*at)
                )
            }
            Self::TooLong { port: at } => {
                format!("the delay after port {} may exceed 1000 s, the longest bound", port(*at))
            }
            Self::NoFixedPoint { port: at } => {
                format!("the bounds of the cyclic dependency through port {} do not converge", port(*at))
            }
            Self::ShaperTooSlow { port: at } => {
                format!("the ATS shaper before port {} may be slower than its stream", port(*at))
            }
            Self::SharedShaper { port: at, streams } => {
                let names: Vec<_> =
                    streams.iter().map(|stream| network.streams[stream.index()].name.as_str()).collect();
                format!(
                    "the ATS scheduler before port {} may be slower than the streams that share it: {}",
                    port(*at),
                    names.join(", ")
                )
            }
            Self::RegulatorTooSlow { port: at } => {
                format!(
                    "its virtual link may get more than one message per BAG at port {}, or messages without a period",
                    port(*at)
                )
            }
            Self::NotFifoUpstream { port: at } => {
                format!("frames of an ATS group may change their order before port {}", port(*at))
            }
            Self::StageTooSlow { port: at } => {
                format!("a stage of the device at port {} may be slower than the arriving frames", port(*at))
            }
            Self::Host { port: at } => {
                format!("a host of the stream from port {} may delay frames without limit", port(*at))
            }
            Self::OfService { why, port: at, class } => {
                let text = why.text.replace("{port}", &port(*at));
                class.map_or_else(|| text.clone(), |class| text.replace("{class}", &class.to_string()))
            }
            Self::NotGranted { port: at } => {
                format!("it is not granted, so port {} does not send it", port(*at))
            }
            Self::MayBeDiscarded { port: at } => {
                format!("frames may be discarded at port {}, by a shaper or an acceptance window", port(*at))
            }
        }
    }

    /// Its name in results.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::NoArrivalCurve { .. } => "no-arrival-curve",
            Self::Overload { .. } => "overload",
            Self::ClockTooCoarse { .. } => "clock-too-coarse",
            Self::TooLong { .. } => "too-long",
            Self::NoFixedPoint { .. } => "no-fixed-point",
            Self::ShaperTooSlow { .. } => "shaper-too-slow",
            Self::SharedShaper { .. } => "shared-shaper",
            Self::RegulatorTooSlow { .. } => "regulator-too-slow",
            Self::NotFifoUpstream { .. } => "not-fifo-upstream",
            Self::StageTooSlow { .. } => "stage-too-slow",
            Self::Host { .. } => "host",
            Self::OfService { why, .. } => why.name,
            Self::NotGranted { .. } => "not-granted",
            Self::MayBeDiscarded { .. } => "may-be-discarded",
        }
    }

    /// The port that it is due to.
    #[must_use]
    pub const fn port(&self) -> PortIndex {
        match self {
            Self::NoArrivalCurve { port, .. }
            | Self::Overload { port, .. }
            | Self::ClockTooCoarse { port, .. }
            | Self::TooLong { port }
            | Self::NoFixedPoint { port }
            | Self::ShaperTooSlow { port }
            | Self::SharedShaper { port, .. }
            | Self::RegulatorTooSlow { port }
            | Self::NotFifoUpstream { port }
            | Self::StageTooSlow { port }
            | Self::Host { port }
            | Self::OfService { port, .. }
            | Self::NotGranted { port }
            | Self::MayBeDiscarded { port } => *port,
        }
    }
}
