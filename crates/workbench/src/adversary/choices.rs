//! The choices of an adversary for a run, in the form of a file, and the network that sends by them.
//!
//! A choice is checked against the freedom that the description leaves: a file cannot demand more. The resulting
//! network differs in traffic only, so a run of it needs nothing of its own.

use serde::{Deserialize, Serialize};
use tautwire_model::Network;
use tautwire_model::network::{Delay, Distribution, Stream, Traffic};
use tautwire_units::{Bytes, Duration};

use super::freedom::{Freedom, Phase, StreamFreedom, sleep};

/// Most frames of a stream whose times are written out for a run.
const FRAMES_MAX: u64 = 200_000;

/// All that is chosen for a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choices {
    /// Seed of what stays drawn.
    pub seed: u64,
    /// Simulated time.
    pub duration_ps: u64,
    /// Whether every delay that is drawn from a range is the greatest of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub longest_delays: bool,
    /// Clocks whose phase is chosen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clocks: Vec<ClockChoice>,
    /// Streams of which something is chosen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<StreamChoice>,
}

/// The phase of a node's clock: by how much all that it sends comes later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockChoice {
    /// The node.
    pub node: String,
    /// The additional time.
    pub later_ps: u64,
}

/// The choices for a stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamChoice {
    /// The stream.
    pub stream: String,
    /// By how much its traffic begins later than stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub later_ps: Option<u64>,
    /// Frames that are due up to then come as late as their jitter allows, those behind as early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_until_ps: Option<u64>,
    /// Payload of all its frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload_octets: Option<u64>,
}

/// The same by numbers: what a search works on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) seed: u64,
    pub(crate) duration: Duration,
    pub(crate) longest: bool,
    /// Per node.
    pub(crate) clocks: Vec<Duration>,
    /// Per stream.
    pub(crate) streams: Vec<ChosenStream>,
}

/// The choices for a stream, where they are open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChosenStream {
    pub(crate) later: Duration,
    /// Due times up to here come late; none: all come early.
    pub(crate) late_until: Option<Duration>,
    /// None: the greatest.
    pub(crate) payload: Option<Bytes>,
}

impl Choices {
    /// The network that sends as chosen.
    ///
    /// # Errors
    /// What is chosen that the description does not leave open, as a sentence.
    pub fn apply(&self, network: &Network) -> Result<Network, String> {
        let freedom = Freedom::of(network);
        self.numbered(network, &freedom).map(|chosen| chosen.apply(network, &freedom))
    }

    fn numbered(&self, network: &Network, freedom: &Freedom) -> Result<Chosen, String> {
        let mut chosen = Chosen::none(network);
        chosen.seed = self.seed;
        chosen.duration = Duration::from_ps(self.duration_ps);
        if chosen.duration.is_zero() {
            return Err("a run of no time".to_owned());
        }
        chosen.longest = self.longest_delays;
        for choice in &self.clocks {
            let node = network.nodes.iter().position(|node| node.name == choice.node);
            let node = node.ok_or_else(|| format!("there is no node `{}`", choice.node))?;
            if !freedom.clocks[node] {
                return Err(format!("the clock of `{}` does not drift freely", choice.node));
            }
            chosen.clocks[node] = Duration::from_ps(choice.later_ps).min(chosen.duration);
        }
        for choice in &self.streams {
            let stream = network.streams.iter().position(|stream| stream.name == choice.stream);
            let stream = stream.ok_or_else(|| format!("there is no stream `{}`", choice.stream))?;
            chosen.streams[stream] = choice.numbered(&freedom.streams[stream])?;
        }
        Ok(chosen)
    }
}

impl StreamChoice {
    fn numbered(&self, freedom: &StreamFreedom) -> Result<ChosenStream, String> {
        let name = &self.stream;
        let later = Duration::from_ps(self.later_ps.unwrap_or(0));
        match freedom.phase {
            None if self.later_ps.is_some() => return Err(format!("when `{name}` begins is stated")),
            Some(Phase::Within(span)) if later >= span => {
                return Err(format!("`{name}` may begin later by less than {span}, and not by {later}"));
            }
            _ => {}
        }
        if self.late_until_ps.is_some() && freedom.jitter.is_zero() {
            return Err(format!("`{name}` has no jitter that could be chosen"));
        }
        let payload = self.payload_octets.map(Bytes::new);
        match (payload, freedom.payload) {
            (Some(_), None) => return Err(format!("the payload of `{name}` is stated")),
            (Some(size), Some((least, most))) if size < least || size > most => {
                return Err(format!("the payload of `{name}` is {least} to {most}, and not {size}"));
            }
            _ => {}
        }
        Ok(ChosenStream { later, late_until: self.late_until_ps.map(Duration::from_ps), payload })
    }
}

impl Chosen {
    /// All at once: no phase, no delay, the largest frames.
    pub(crate) fn none(network: &Network) -> Self {
        Self {
            seed: network.run.seed,
            duration: network.run.duration,
            longest: false,
            clocks: vec![Duration::ZERO; network.nodes.len()],
            streams: vec![ChosenStream::default(); network.streams.len()],
        }
    }

    /// The same by names, as far as the description leaves it open.
    pub(crate) fn named(&self, network: &Network, freedom: &Freedom) -> Choices {
        let clocks = network.nodes.iter().zip(&self.clocks).zip(&freedom.clocks);
        let clocks = clocks.filter(|((_, later), open)| **open && !later.is_zero());
        let clocks =
            clocks.map(|((node, later), _)| ClockChoice { node: node.name.clone(), later_ps: later.as_ps() });
        let streams = network.streams.iter().zip(&self.streams).zip(&freedom.streams);
        let streams = streams.filter(|(_, open)| open.is_any()).map(|((stream, chosen), open)| {
            let late = chosen.late_until.filter(|_| !open.jitter.is_zero());
            StreamChoice {
                stream: stream.name.clone(),
                later_ps: open.phase.map(|_| chosen.later.as_ps()),
                late_until_ps: late.map(Duration::as_ps),
                payload_octets: open.payload.map(|(_, most)| chosen.payload.unwrap_or(most).get()),
            }
        });
        Choices {
            seed: self.seed,
            duration_ps: self.duration.as_ps(),
            longest_delays: self.longest && freedom.delays,
            clocks: clocks.collect(),
            streams: streams.collect(),
        }
    }

    /// The network that sends so.
    pub(crate) fn apply(&self, network: &Network, freedom: &Freedom) -> Network {
        network.clone().altered(|parts| {
            parts.run.seed = self.seed;
            parts.run.duration = self.duration;
            parts.run.warm_up = Duration::ZERO;
            parts.run.stop_after_frames = None;
            for (number, stream) in parts.streams.iter_mut().enumerate() {
                let talker = stream.talker.index();
                let open = &freedom.streams[number];
                let shift = if freedom.clocks[talker] { self.clocks[talker] } else { Duration::ZERO };
                send(stream, open, &self.streams[number], shift, self.duration);
            }
            if self.longest {
                parts.hosts.iter_mut().for_each(|host| longest(&mut host.transmit));
                for stage in parts.devices.iter_mut().flat_map(|device| &mut device.stages) {
                    longest(&mut stage.latency);
                    longest(&mut stage.occupancy);
                }
                parts.links.iter_mut().for_each(|link| link.phy_delay.min = link.phy_delay.max);
            }
        })
    }
}

/// The greatest delay of a range, always.
fn longest(delay: &mut Delay) {
    if let Distribution::Uniform { max, .. } | Distribution::Normal { max, .. } = delay.random {
        delay.random = Distribution::Uniform { min: max, max };
    }
}

/// Makes a stream send as chosen; `shift` is that of its talker's clock.
fn send(stream: &mut Stream, open: &StreamFreedom, chosen: &ChosenStream, shift: Duration, end: Duration) {
    let later = shift.saturating_add(if open.phase.is_some() { chosen.later } else { Duration::ZERO });
    let size = open.payload.map(|(_, most)| chosen.payload.unwrap_or(most));
    if let Some(size) = size {
        stream.payload_drawn = Some((size, size));
    }
    let size = size.unwrap_or(stream.drawn().1);
    let is_open = open.phase.is_some();
    let asleep = sleep(&stream.traffic);
    let due = match &mut stream.traffic {
        Traffic::Periodic { interval, offset, jitter, burst, drawn } => {
            *offset = offset.saturating_add(later);
            if is_open {
                *drawn = false;
            }
            if open.jitter.is_zero() || *drawn {
                return;
            }
            Due { first: *offset, interval: *interval, burst: u64::from(*burst), jitter: *jitter }
        }
        Traffic::ConstantRate { offset, .. } | Traffic::OnOff { offset, .. } | Traffic::Greedy { offset } => {
            *offset = offset.saturating_add(later);
            return;
        }
        Traffic::Poisson { mean_interval } if is_open => {
            Due { first: later, interval: *mean_interval, burst: 1, jitter: Duration::ZERO }
        }
        Traffic::Injected { threads, burst, overhead, .. } if is_open => {
            let burst = u64::from(*threads) * u64::from(*burst);
            let interval = asleep + overhead.0;
            Due { first: later, interval, burst, jitter: Duration::ZERO }
        }
        _ => return,
    };
    stream.traffic = Traffic::Replay { frames: due.frames(chosen.late_until, size, end) };
}

/// Frames that are due again and again.
struct Due {
    first: Duration,
    interval: Duration,
    burst: u64,
    jitter: Duration,
}

impl Due {
    fn frames(&self, late_until: Option<Duration>, size: Bytes, end: Duration) -> Vec<(Duration, Bytes)> {
        let mut frames = Vec::new();
        let (mut due, mut last) = (self.first, Duration::ZERO);
        while due <= end && (frames.len() as u64) < FRAMES_MAX {
            let is_late = late_until.is_some_and(|until| due <= until);
            last = last.max(if is_late { due.saturating_add(self.jitter) } else { due });
            frames.extend((0..self.burst).map(|_| (last, size)));
            due = due.saturating_add(self.interval);
            if due == Duration::MAX {
                break;
            }
        }
        frames
    }
}
