//! The freedom of a description: the choices of an adversary, and no more.
//!
//! Not here: stated values. An offset, a replayed trace, a schedule and the frames of control machines stay as they are.

use tautwire_model::Network;
use tautwire_model::network::{Distribution, NodeIndex, Stream, StreamIndex, TimelineAction, Traffic};
use tautwire_units::{Bytes, Duration};

/// The open choices of each stream and each clock.
#[derive(Clone, Debug)]
pub(crate) struct Freedom {
    pub(crate) streams: Vec<StreamFreedom>,
    /// Per node: whether its clock is independent of others, so that after some time its phase is arbitrary.
    pub(crate) clocks: Vec<bool>,
    /// Whether a delay of a host, a device or a cable is drawn from a range.
    pub(crate) delays: bool,
    /// Whether the seed draws anything that is not chosen: rates of clocks, deviations of schedulers, what machines wait for.
    pub(crate) seed: bool,
}

/// The open choices of a stream.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StreamFreedom {
    /// When it begins, if it is open.
    pub(crate) phase: Option<Phase>,
    /// Most that a frame comes later than it is due, if that is chosen frame by frame.
    pub(crate) jitter: Duration,
    /// Least and most payload, if they differ.
    pub(crate) payload: Option<(Bytes, Bytes)>,
}

/// By how much traffic may begin later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// By less than this period.
    Within(Duration),
    /// By any time.
    Any,
}

impl StreamFreedom {
    /// Whether anything is.
    pub(crate) fn is_any(&self) -> bool {
        self.phase.is_some() || !self.jitter.is_zero() || self.payload.is_some()
    }
}

impl Freedom {
    pub(crate) fn of(network: &Network) -> Self {
        let is_tied = is_synchronised(network);
        let drifts = |node: &tautwire_model::network::Node| {
            node.clock.tolerance_ppb > 0 || node.clock.drift_ppb.is_some_and(|ppb| ppb != 0)
        };
        let plain = tautwire_sim::is_plain(network);
        Self {
            streams: (0..)
                .map(StreamIndex)
                .zip(&network.streams)
                .map(|(number, stream)| {
                    let own = of_stream(stream, is_tied);
                    // A file is cut into the largest frames.
                    let payload = own.payload.filter(|_| !sends_files(network, number));
                    StreamFreedom { payload, ..own }
                })
                .collect(),
            clocks: network.nodes.iter().map(|node| !is_tied && drifts(node)).collect(),
            delays: has_drawn_delays(network),
            seed: !plain
                || network
                    .nodes
                    .iter()
                    .any(|node| node.clock.tolerance_ppb > 0 && node.clock.drift_ppb.is_none())
                || network.schedulers.iter().any(|scheduler| scheduler.clock_rate_deviation_max_ppb > 0)
                || network.links.iter().any(|link| link.bit_error_rate > 0)
                || network.devices.iter().any(|device| !device.ats.clock_offset_variation_max.is_zero()),
        }
    }

    /// What may shift a stream: itself, or the clock of its talker with all that it sends.
    pub(crate) fn moves(&self, network: &Network, stream: StreamIndex) -> bool {
        let NodeIndex(talker) = network.streams[stream.index()].talker;
        self.streams[stream.index()].phase.is_some() || self.clocks[talker as usize]
    }
}

/// Whether a stream sends a file, at first or from a change on.
fn sends_files(network: &Network, number: StreamIndex) -> bool {
    let changed = network.events.iter().filter_map(|event| match &event.action {
        TimelineAction::ChangeTraffic(stream, traffic, _) if *stream == number => Some(traffic),
        _ => None,
    });
    let own = std::iter::once(&network.streams[number.index()].traffic);
    own.chain(changed).any(|traffic| matches!(traffic, Traffic::File { .. }))
}

/// Whether mechanisms tie clocks of nodes to one another, or frames to their time.
fn is_synchronised(network: &Network) -> bool {
    network.gptp.is_some()
        || network.as6802.is_some()
        || network.time_triggered.is_some()
        || network.tdma.is_some()
        || network.harts.is_some()
        || network.test_bed.is_some()
}

fn of_stream(stream: &Stream, is_tied: bool) -> StreamFreedom {
    let (least, most) = stream.drawn();
    let is_cut = stream.datagrams.is_some();
    let payload = (least < most && !is_cut && !stream.traffic.is_control()).then_some((least, most));
    let span = |span: Duration| (span > Duration::from_ps(1)).then_some(Phase::Within(span));
    let (phase, jitter) = match &stream.traffic {
        Traffic::Periodic { interval, jitter, .. } => {
            // Frames of corrected clocks and dispatch points follow the grid of the period: their jitter stays drawn.
            let jitter = if is_tied || is_cut { Duration::ZERO } else { *jitter };
            (span(*interval).filter(|_| stream.open_phase), jitter)
        }
        Traffic::OnOff { on, off, .. } => {
            (span(on.saturating_add(*off)).filter(|_| stream.open_phase), Duration::ZERO)
        }
        Traffic::ConstantRate { .. } | Traffic::Greedy { .. } => {
            (stream.open_phase.then_some(Phase::Any), Duration::ZERO)
        }
        Traffic::Poisson { mean_interval } => (span(*mean_interval).filter(|_| !is_tied), Duration::ZERO),
        Traffic::Injected { .. } => {
            (span(sleep(&stream.traffic)).filter(|_| !is_tied && !is_cut), Duration::ZERO)
        }
        _ => (None, Duration::ZERO),
    };
    StreamFreedom { phase, jitter, payload }
}

/// From one burst of a thread of injected traffic to the next, except for what it sleeps too long.
pub(crate) fn sleep(traffic: &Traffic) -> Duration {
    match traffic {
        Traffic::Injected { threads, burst, interval, .. } => {
            *interval * (u64::from(*threads) * u64::from(*burst))
        }
        _ => Duration::ZERO,
    }
}

fn has_drawn_delays(network: &Network) -> bool {
    let is_drawn = |random: &Distribution| *random != Distribution::Zero;
    network.hosts.iter().any(|host| is_drawn(&host.transmit.random))
        || network.links.iter().any(|link| link.phy_delay.min < link.phy_delay.max)
        || network
            .devices
            .iter()
            .flat_map(|device| &device.stages)
            .any(|stage| is_drawn(&stage.latency.random) || is_drawn(&stage.occupancy.random))
}
