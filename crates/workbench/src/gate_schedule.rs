//! Offsets of time-aware talkers and lists of gates, as the command and the Python package give them out: each schedule with
//! the bounds that prove it.

use serde_json::{Value, json};
use tautwire_model::Network;
use tautwire_model::network::{NodeIndex, PortIndex, StreamIndex, Traffic};
use tautwire_report::{ListenerVerification, Verdict, judge};
use tautwire_synthesis::{
    GateOptions, GateSchedule, Search, Verdict as ScheduleVerdict, schedule_gates, schedule_gates_by,
};
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
    /// Other streams with a deadline that is not proven with these gates, and of a change time-aware ones that have ended and were not.
    pub others: Vec<StreamIndex>,
    /// Why streams are not proven, at each listener, in their order.
    pub unproven: Vec<Unproven>,
}

/// Why a stream is not proven at a listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unproven {
    /// The stream.
    pub stream: StreamIndex,
    /// Its listener.
    pub listener: NodeIndex,
    /// `deadline`, `no-bound`, `may-be-lost`, `taken-twice` or `not-served`.
    pub reason: &'static str,
    /// The bound of its delay, if there is one.
    pub bound: Option<Duration>,
    /// The same in words, without the names of both.
    pub text: String,
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
        Some(schedule_gates(network, options)?.map(|found| Self::of(&found, &found.network, false)))
    }

    /// The same by a search outside of the workbench.
    ///
    /// # Errors
    /// As [`Self::find`]; or why what the search found is no schedule.
    pub fn find_by(
        network: &Network,
        options: &GateOptions,
        search: &mut Search<'_>,
    ) -> Option<Result<Self, Vec<String>>> {
        Some(
            schedule_gates_by(network, options, search)?.map(|found| Self::of(&found, &found.network, false)),
        )
    }

    /// With the proof by a network. With `asks_loss` a scheduled stream without a deadline that may lose frames is not proven either, as
    /// one that has a deadline.
    pub(crate) fn of(found: &GateSchedule, network: &Network, asks_loss: bool) -> Self {
        let bounds = crate::bounds(network);
        let judged = judge(network, Some(&bounds), None);
        let why = |stream: StreamIndex, asks_loss: bool| {
            let listeners = judged.streams[stream.index()].listeners.iter();
            listeners.flat_map(|listener| unproven(network, stream, listener, asks_loss)).collect::<Vec<_>>()
        };
        let is_judged = |stream: StreamIndex| {
            let mut listeners = judged.streams[stream.index()].listeners.iter();
            let has_deadline = network.streams[stream.index()].deadline.is_some();
            !has_deadline || listeners.all(|listener| listener.verdict == Verdict::Proven)
        };
        let mut reasons = Vec::new();
        let streams = found.offsets().into_iter().map(|(stream, offset)| {
            let listeners = &bounds.streams[stream.index()].listeners;
            let delays: Option<Vec<Duration>> =
                listeners.iter().map(|listener| listener.delay.as_ref().ok().copied()).collect();
            let jitters = listeners.iter().zip(delays.iter().flatten());
            let why = why(stream, asks_loss);
            let is_proven = is_judged(stream) && why.is_empty();
            // What was left out needs no other reason.
            reasons.extend(why.into_iter().filter(|_| offset.is_some()));
            ScheduledStream {
                stream,
                offset,
                bound: delays.as_ref().and_then(|delays| delays.iter().copied().max()),
                jitter: jitters.map(|(listener, most)| most.saturating_sub(listener.delay_min)).max(),
                is_proven,
            }
        });
        let streams = streams.collect();
        let (mut others, described) = (Vec::new(), &found.described.streams);
        for (number, stream) in network.streams.iter().enumerate() {
            let (is_planned, number) =
                (described.contains(&StreamIndex::at(number)), StreamIndex::at(number));
            // A time-aware stream that has ended is proven like those that run.
            let asks_loss = asks_loss && stream.time_aware.is_some();
            let why = || why(number, asks_loss);
            if !is_planned && (!is_judged(number) || asks_loss && !why().is_empty()) {
                others.push(number);
                reasons.extend(why());
            }
        }
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
        Self {
            verdict: found.verdict,
            conflict: found.conflict.as_ref().map(|conflict| {
                let stream = |flow: &usize| found.described.streams[*flow];
                (conflict.flows.iter().map(stream).collect(), conflict.is_proven)
            }),
            streams,
            ports: ports.collect(),
            others,
            unproven: reasons,
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
        let unproven = self.unproven.iter().map(|one| {
            json!({
                "stream": name(&one.stream),
                "listener": network.nodes[one.listener.index()].name,
                "reason": one.reason,
                "bound_ps": ps(one.bound),
                "deadline_ps": ps(network.streams[one.stream.index()].deadline),
                "text": one.text,
            })
        });
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
            "unproven": unproven.collect::<Vec<_>>(),
        })
    }

    /// A port as `node:port`.
    #[must_use]
    pub fn port_name(&self, port: PortIndex) -> String {
        let port = &self.network.ports[port.index()];
        format!("{}:{}", self.network.nodes[port.node.index()].name, port.name)
    }
}

/// Why a stream is not proven at a listener, nothing if it is; of one without a deadline, why it has no bound, and if asked where it may
/// be lost.
fn unproven(
    network: &Network,
    stream: StreamIndex,
    listener: &ListenerVerification,
    asks_loss: bool,
) -> Vec<Unproven> {
    let bound = listener.bound.as_ref().and_then(|bound| bound.as_ref().ok().copied());
    let because = |reason, text| Unproven { stream, listener: listener.listener, reason, bound, text };
    let mut found = Vec::new();
    if let Some(Err(why)) = &listener.bound {
        found.push(because("no-bound", format!("no bound: {}", why.text(network))));
    }
    if let (Some(bound), Some(deadline)) = (bound, listener.deadline)
        && bound > deadline
    {
        found.push(because("deadline", format!("up to {bound}, deadline {deadline}")));
    }
    if listener.deadline.is_some() || asks_loss {
        // Without a bound no limit is known to be enough: that is no reason of its own.
        let is_own = |limit: &&tautwire_analysis::Limit| bound.is_some() || limit.needed.is_some();
        let limits = listener.may_be_lost.iter().filter(|limit| !limit.is_meant()).filter(is_own);
        let lost = |limit: &tautwire_analysis::Limit| format!("may be lost at {}", limit.text(network));
        found.extend(limits.map(|limit| because("may-be-lost", lost(limit))));
    }
    if listener.deadline.is_some() {
        if listener.taken_twice {
            found.push(because("taken-twice", "two copies of a frame may be taken".to_owned()));
        }
        if let Some(why) = listener.not_served {
            found.push(because("not-served", why.text()));
        }
    }
    found
}
