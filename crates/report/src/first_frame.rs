//! When a run may send the first frame of a stream, by the description: offsets, events that start it or change its
//! traffic, and the requests of talker and listener.
//!
//! Invariant: a frame is never sent earlier, so a stream that may be sent only after the end of a run is not sent in
//! it. Stops of streams and nodes are not counted here: `served.rs`.

use tautwire_model::network::{Network, Stream, StreamIndex, TimelineAction, Traffic};
use tautwire_units::Duration;

/// How far a clock of the network may be ahead.
#[derive(Clone, Copy)]
pub(crate) struct Ahead {
    /// The greatest tolerance.
    ppb: u128,
    /// The greatest step of readings.
    step: Duration,
}

impl Ahead {
    /// Of all clocks.
    pub(crate) fn of(network: &Network) -> Self {
        let clocks = || network.nodes.iter().map(|node| &node.clock);
        Self {
            ppb: clocks().map(|clock| u128::from(clock.tolerance_ppb)).max().unwrap_or(0),
            step: clocks().map(|clock| clock.step()).max().unwrap_or_default(),
        }
    }

    /// The least true time in which a clock counts a time.
    fn elapsed(self, counted: Duration) -> Duration {
        let gained = (u128::from(counted.as_ps()) * self.ppb).div_ceil(1_000_000_000);
        let gained = Duration::from_ps(u64::try_from(gained).unwrap_or(u64::MAX));
        counted.saturating_sub(gained).saturating_sub(self.step)
    }
}

/// The earliest time of a frame of a stream for a listener, true time since the start; none if nothing starts the stream.
pub(crate) fn earliest(
    network: &Network,
    ahead: Ahead,
    number: StreamIndex,
    listener: usize,
) -> Option<Duration> {
    let stream = &network.streams[number.index()];
    let begins = begins(network, number, listener);
    let first = begins.iter().copied().min()?;
    if let Traffic::Response { to, turn_around } = stream.traffic {
        let asked = &network.streams[to.index()];
        let place = asked.listeners.iter().position(|node| *node == stream.talker)?;
        let request = earliest(network, ahead, to, place)?;
        return Some(first.max(request.saturating_add(ahead.elapsed(turn_around))));
    }
    let changes: Vec<(Duration, &Traffic)> = network
        .events
        .iter()
        .filter_map(|event| match &event.action {
            TimelineAction::ChangeTraffic(changed, traffic, _) if *changed == number => {
                Some((event.at, traffic))
            }
            _ => None,
        })
        .collect();
    let in_force = |at: Duration| {
        let before = changes.iter().take_while(|(change, _)| *change < at);
        before.last().map_or(&stream.traffic, |(_, traffic)| *traffic)
    };
    let started = begins.iter().map(|at| (*at, in_force(*at)));
    let changed = changes.iter().copied().filter(|(at, _)| *at >= first);
    let frames = started.chain(changed);
    frames.filter_map(|(at, traffic)| Some(at.saturating_add(offset(network, ahead, number, traffic)?))).min()
}

/// When the traffic of a stream may begin for a listener, true time since the start.
fn begins(network: &Network, number: StreamIndex, listener: usize) -> Vec<Duration> {
    let stream = &network.streams[number.index()];
    let reserved = network.srp.as_ref().and_then(|all| all.streams.iter().find(|one| one.stream == number));
    if let Some(reserved) = reserved {
        return vec![reserved.advertise_at.max(reserved.attach_at[listener])];
    }
    let admission = network.harts.as_ref().and_then(|harts| harts.admission.as_ref());
    if let Some((admission, request)) = admission.and_then(|all| Some((all, all.request(number)?))) {
        let node = stream.listeners[listener];
        let asks = admission.consumers(number).filter(|consumer| consumer.node == node);
        return asks.map(|consumer| request.at.max(consumer.at)).collect();
    }
    let starts = network.events.iter().filter(|event| event.action == TimelineAction::StartStream(number));
    let at_once = stream.started.then_some(Duration::ZERO);
    at_once.into_iter().chain(starts.map(|event| event.at)).collect()
}

/// The least time from the start of traffic to its first frame; none if it has no frame.
fn offset(network: &Network, ahead: Ahead, number: StreamIndex, traffic: &Traffic) -> Option<Duration> {
    let stated = match traffic {
        Traffic::Periodic { offset, .. }
        | Traffic::ConstantRate { offset, .. }
        | Traffic::OnOff { offset, .. }
        | Traffic::Greedy { offset } => *offset,
        Traffic::Replay { frames } => frames.first()?.0,
        Traffic::File { at, .. } => *at,
        Traffic::Poisson { .. }
        | Traffic::Injected { .. }
        | Traffic::Response { .. }
        | Traffic::Polled
        | Traffic::Synchronisation { .. }
        | Traffic::Protocol => Duration::ZERO,
    };
    let stream = &network.streams[number.index()];
    Some(if is_corrected(network, stream) { Duration::ZERO } else { ahead.elapsed(stated) })
}

/// Whether the application sees a clock that is corrected, which may pass over an offset.
fn is_corrected(network: &Network, stream: &Stream) -> bool {
    network.gptp.as_ref().is_some_and(|gptp| gptp.servo.is_some())
        || stream.time_triggered.is_some() && network.as6802.is_some()
}
