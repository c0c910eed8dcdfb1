//! Offsets of time-aware talkers and lists of gates, as the command and the Python package give them out: each schedule with
//! the bounds that prove it.

use serde_json::{Value, json};
use tautwire_model::Network;
use tautwire_model::network::{PortIndex, StreamIndex, Traffic};
use tautwire_report::{Verdict, judge};
use tautwire_synthesis::{GateOptions, GateSchedule, Verdict as ScheduleVerdict, schedule_gates};
use tautwire_units::Duration;

/// A network with offsets and gates, and what they prove.
#[derive(Clone, Debug)]
pub struct ScheduledGates {
    /// The network with them; streams that were left out keep the offset that they had.
    pub network: Network,
    /// How the search ended.
    pub verdict: ScheduleVerdict,
    /// The time-aware streams, in order.
    pub streams: Vec<ScheduledStream>,
    /// The ports that have gates for them.
    pub ports: Vec<ScheduledPort>,
    /// A least set of streams that the search did not place together, if one was left out, and whether that is proven impossible.
    pub conflict: Option<(Vec<StreamIndex>, bool)>,
    /// Other streams with a deadline that is not proven with these gates.
    pub others: Vec<StreamIndex>,
}

/// A time-aware stream of a schedule.
#[derive(Clone, Debug)]
pub struct ScheduledStream {
    /// The stream.
    pub stream: StreamIndex,
    /// When its talker releases the first frame; none if it was left out.
    pub offset: Option<Duration>,
    /// Greatest bound of its listeners.
    pub bound: Option<Duration>,
    /// Greatest difference of the greatest and the least delay at a listener.
    pub jitter: Option<Duration>,
    /// Whether its deadline is proven; of a stream without one, whether it has a bound.
    pub is_proven: bool,
}

/// A port whose gates a schedule opens and closes.
#[derive(Clone, Debug)]
pub struct ScheduledPort {
    /// The port.
    pub port: PortIndex,
    /// Its cycle.
    pub cycle: Duration,
    /// Entries of its list.
    pub entries: usize,
    /// The share of its line that scheduled frames take, parts per million.
    pub ppm: u64,
}

impl ScheduledGates {
    /// Finds offsets and gates for the time-aware streams of a network, whatever it states of them; none if it has none.
    ///
    /// # Errors
    /// Why the network can have no such schedule, each a sentence.
    pub fn find(network: &Network, options: &GateOptions) -> Option<Result<Self, Vec<String>>> {
        Some(schedule_gates(network, options)?.map(|found| Self::of(&found, &found.network)))
    }

    /// With the proof by a network that comes to the found lists in its run: a stream that may lose frames is not proven.
    pub(crate) fn over(found: &GateSchedule, network: &Network) -> Self {
        let mut made = Self::of(found, network);
        let lost = crate::losses(network, &crate::bounds(network));
        for one in &mut made.streams {
            let listeners = network.streams[one.stream.index()].listeners.len();
            one.is_proven &= !(0..listeners).any(|listener| lost.may_be_lost(one.stream, listener));
        }
        made
    }

    /// With the proof by a network.
    fn of(found: &GateSchedule, network: &Network) -> Self {
        let bounds = crate::bounds(network);
        let judged = judge(network, Some(&bounds), None);
        let is_proven = |number: usize| {
            judged.streams[number].listeners.iter().all(|listener| listener.verdict == Verdict::Proven)
        };
        let streams = found.offsets().into_iter().map(|(stream, offset)| {
            let listeners = &bounds.streams[stream.index()].listeners;
            let delays: Option<Vec<Duration>> =
                listeners.iter().map(|listener| listener.delay.as_ref().ok().copied()).collect();
            let jitters = listeners.iter().zip(delays.iter().flatten());
            let has_deadline = network.streams[stream.index()].deadline.is_some();
            ScheduledStream {
                stream,
                offset,
                bound: delays.as_ref().and_then(|delays| delays.iter().copied().max()),
                jitter: jitters.map(|(listener, most)| most.saturating_sub(listener.delay_min)).max(),
                is_proven: delays.is_some() && (!has_deadline || is_proven(stream.index())),
            }
        });
        let ports = found.described.ports.iter().enumerate();
        let ports = ports.filter_map(|(link, port)| {
            let gates = found.network.gates(*port)?;
            Some(ScheduledPort {
                port: *port,
                cycle: gates.parameters.cycle_time.floor(),
                entries: gates.parameters.control_list.len(),
                ppm: found.described.problem.load_ppm(link),
            })
        });
        let is_other = |number: &usize| {
            let stream = &network.streams[*number];
            stream.time_aware.is_none() && stream.deadline.is_some() && !is_proven(*number)
        };
        Self {
            verdict: found.verdict,
            conflict: found.conflict.as_ref().map(|conflict| {
                let stream = |flow: &usize| found.described.streams[*flow];
                (conflict.flows.iter().map(stream).collect(), conflict.is_proven)
            }),
            streams: streams.collect(),
            ports: ports.collect(),
            others: (0..network.streams.len()).filter(is_other).map(StreamIndex::at).collect(),
            network: found.network.clone(),
        }
    }

    /// Whether all streams are scheduled, and all deadlines proven.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.verdict == ScheduleVerdict::Scheduled
            && self.streams.iter().all(|stream| stream.is_proven)
            && self.others.is_empty()
    }

    /// The description `text`, whose path is `name`, with these offsets and gates. None if it cannot be rewritten.
    #[must_use]
    pub fn written(&self, name: &str, text: &str) -> Option<String> {
        crate::grammar().with_gates(name, text, &self.network)
    }

    /// The schedule as JSON: keys in snake_case, units in their names.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let network = &self.network;
        let ps = |time: Option<Duration>| time.map(Duration::as_ps);
        let streams = self.streams.iter().map(|one| {
            let stream = &network.streams[one.stream.index()];
            let interval = match stream.traffic {
                Traffic::Periodic { interval, .. } => Some(interval),
                _ => None,
            };
            json!({
                "name": stream.name,
                "interval_ps": ps(interval),
                "offset_ps": ps(one.offset),
                "delay_max_ps": ps(one.bound),
                "jitter_ps": ps(one.jitter),
                "deadline_ps": ps(stream.deadline),
                "proven": one.is_proven,
            })
        });
        let ports = self.ports.iter().map(|one| {
            let gates = network.gates(one.port).expect("a scheduled port");
            let entries = gates.parameters.control_list.iter().map(|entry| {
                json!({"gate_states": entry.gate_states, "time_interval_ps": entry.time_interval.as_ps()})
            });
            json!({
                "port": self.port_name(one.port),
                "cycle_ps": one.cycle.as_ps(),
                "scheduled_ppm": one.ppm,
                "control_list": entries.collect::<Vec<_>>(),
            })
        });
        let name = |stream: &StreamIndex| network.streams[stream.index()].name.clone();
        let others = self.others.iter().map(name);
        let conflict = self.conflict.as_ref().map(|(streams, is_proven)| {
            json!({"streams": streams.iter().map(name).collect::<Vec<_>>(), "proven": is_proven})
        });
        json!({
            "verdict": match self.verdict {
                ScheduleVerdict::Scheduled => "scheduled",
                ScheduleVerdict::Impossible => "impossible",
                ScheduleVerdict::LeftOut => "left out",
            },
            "streams": streams.collect::<Vec<_>>(),
            "ports": ports.collect::<Vec<_>>(),
            "conflict": conflict,
            "not_proven": others.collect::<Vec<_>>(),
        })
    }

    /// A port as `node:port`.
    #[must_use]
    pub fn port_name(&self, port: PortIndex) -> String {
        let port = &self.network.ports[port.index()];
        format!("{}:{}", self.network.nodes[port.node.index()].name, port.name)
    }
}
