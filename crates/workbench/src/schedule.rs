//! Schedules of time-triggered virtual links, as the command and the Python package give them out.

use serde_json::{Value, json};
use tautwire_model::Network;
use tautwire_model::network::{PortIndex, StreamIndex};
use tautwire_synthesis::{NetworkSchedule, Search, Verdict, schedule, schedule_by};
use tautwire_units::Duration;

/// A network with its schedule, and remarks about it.
#[derive(Clone, Debug)]
pub struct Scheduled {
    /// The network, its links with the dispatch points found; links that were left out have none.
    pub network: Network,
    /// How the search ended.
    pub verdict: Verdict,
    /// Per time-triggered link, in order.
    pub links: Vec<ScheduledLink>,
    /// Per port that such links leave from: the share of its time that their slots take, in parts per million.
    pub loads: Vec<(PortIndex, u64)>,
}

/// One time-triggered link of a schedule.
#[derive(Clone, Debug)]
pub struct ScheduledLink {
    /// The stream.
    pub stream: StreamIndex,
    /// Dispatch points of its hops; none if it was left out.
    pub offsets: Option<Vec<Duration>>,
    /// From the dispatch at the talker to the last bit at the last listener, at most.
    pub latency_max: Option<Duration>,
}

impl Scheduled {
    /// Finds a schedule of the network's time-triggered links, whatever points they have; none if it has none.
    ///
    /// # Errors
    /// Why the network does not take the schedule that was found, each a sentence.
    pub fn find(network: &Network) -> Option<Result<Self, Vec<String>>> {
        Some(Self::of(network, &schedule(network)?))
    }

    /// The same by a search outside of the workbench.
    ///
    /// # Errors
    /// As [`Self::find`]; or why what the search found is no schedule.
    pub fn find_by(network: &Network, search: &mut Search<'_>) -> Option<Result<Self, Vec<String>>> {
        let found = schedule_by(network, search)?;
        Some(found.map_err(|why| vec![why]).and_then(|found| Self::of(network, &found)))
    }

    fn of(network: &Network, found: &NetworkSchedule) -> Result<Self, Vec<String>> {
        let (described, schedule) = (&found.described, &found.schedule);
        let bare = network.without_dispatch_points();
        let scheduled = bare
            .with_dispatch_offsets(&described.offsets(schedule))
            .map_err(|faults| faults.iter().map(|fault| fault.words(&bare)).collect::<Vec<_>>())?;
        let links = described.streams.iter().enumerate().map(|(flow, stream)| {
            let hops = 0..described.problem.flows[flow].hops.len();
            ScheduledLink {
                stream: *stream,
                offsets: schedule.dispatch[flow].clone(),
                latency_max: hops.filter_map(|hop| schedule.latency_max(&described.problem, flow, hop)).max(),
            }
        });
        let loads = described.ports.iter().enumerate();
        let loads = loads.map(|(link, port)| (*port, described.problem.load_ppm(link)));
        Ok(Self {
            network: scheduled,
            verdict: found.verdict,
            links: links.collect(),
            loads: loads.collect(),
        })
    }

    /// The schedule as JSON: keys in snake_case, units in their names.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let port = |port: PortIndex| {
            let port = &self.network.ports[port.index()];
            format!("{}:{}", self.network.nodes[port.node.index()].name, port.name)
        };
        let links = self.links.iter().map(|link| {
            let stream = &self.network.streams[link.stream.index()];
            let timed = stream.time_triggered.as_ref().expect("a time-triggered link");
            let points = stream.hops.iter().zip(&timed.points).map(|(hop, point)| {
                json!({
                    "port": port(hop.port),
                    "offset_ps": point.offset.as_ps(),
                    "window_opens_ps": point.window.opens.as_ps(),
                    "window_length_ps": point.window.length.as_ps(),
                })
            });
            json!({
                "name": stream.name,
                "period_ps": timed.period.as_ps(),
                "scheduled": link.offsets.is_some(),
                "latency_max_ps": link.latency_max.map(Duration::as_ps),
                "points": points.collect::<Vec<_>>(),
            })
        });
        let loads = self.loads.iter().map(|(at, ppm)| json!({"port": port(*at), "slots_ppm": ppm}));
        json!({
            "verdict": match self.verdict {
                Verdict::Scheduled => "scheduled",
                Verdict::Impossible => "impossible",
                Verdict::LeftOut => "left out",
            },
            "links": links.collect::<Vec<_>>(),
            "ports": loads.collect::<Vec<_>>(),
        })
    }
}
