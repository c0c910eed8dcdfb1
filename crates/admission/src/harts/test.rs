//! Equation 3 for the streams of a description with `harts:`.

use tautwire_model::Network;
use tautwire_model::harts::ResponseTimeTest;
use tautwire_model::network::{Hop, Stream, StreamIndex, Traffic};
use tautwire_model::wire_bits;
use tautwire_report::port_name;
use tautwire_units::{BitRate, Bytes, Duration};

use super::response_time::{ElementaryCycle, HartsSet, Reserved, Server};
use super::synchronous::{self, is_synchronous};
use crate::decision::RefusalReason;
use crate::test::AdmissionTest;

/// The test, with what the paper leaves open as parameters; of synchronous streams, that of the windows of their
/// switches. A description without `harts:` is refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HartsResponseTime {
    /// The parameters of the equation.
    pub parameters: ResponseTimeTest,
}

impl HartsResponseTime {
    /// The test with the parameters of a description.
    #[must_use]
    pub fn of(network: &Network) -> Self {
        Self { parameters: network.harts.as_ref().map(|harts| harts.response_time).unwrap_or_default() }
    }
}

impl AdmissionTest for HartsResponseTime {
    fn refuse(&self, network: &Network, streams: &[StreamIndex]) -> Option<RefusalReason> {
        let (new, before) = streams.split_last()?;
        let (is_polled, nowhere_else) = is_synchronous(network, *new);
        let refusal = is_polled.then(|| synchronous::refuse(network, streams)).flatten();
        if refusal.is_some() || nowhere_else {
            return refusal;
        }
        let Some(mut set) = self.set(network) else {
            return Some(self.unbounded(network, *new, 0, "the description has no `harts`"));
        };
        // A stream with several listeners is tested on the way to each.
        let mut owners = Vec::new();
        for index in before.iter().filter(|index| !is_synchronous(network, **index).1) {
            for (listener, route) in self.routes(network, *index)?.into_iter().enumerate() {
                set.streams.push(route);
                owners.push((*index, listener));
            }
        }
        let Some(routes) = self.routes(network, *new) else { return Some(RefusalReason::NoArrivalCurve) };
        for (listener, route) in routes.into_iter().enumerate() {
            if let Some(violation) = set.admits(&route).violation {
                let (late, listener) = owners.get(violation.stream).copied().unwrap_or((*new, listener));
                return Some(match violation.would_fit {
                    Some(bound) => {
                        let deadline = set.streams.get(violation.stream).unwrap_or(&route).deadline;
                        let stream = &network.streams[late.index()];
                        let node = stream.listeners[listener];
                        // Where the two meet first.
                        let asked = &network.streams[new.index()].hops;
                        let meets = |hop: &&Hop| asked.iter().any(|own| own.port == hop.port);
                        let port = stream.hops.iter().find(meets).map(|hop| port_name(network, hop.port));
                        RefusalReason::Deadline {
                            stream: stream.name.clone(),
                            listener: network.nodes[node.index()].name.clone(),
                            port: port.unwrap_or_default(),
                            deadline_ps: deadline.as_ps(),
                            bound_ps: bound.as_ps(),
                        }
                    }
                    None => self.unbounded(
                        network,
                        late,
                        listener,
                        "the iteration of its response time does not converge",
                    ),
                });
            }
        }
        None
    }
}

impl HartsResponseTime {
    /// The cycle and the shared servers of a description, without streams; none if it has no `harts:`.
    #[must_use]
    pub fn set(&self, network: &Network) -> Option<HartsSet> {
        let harts = network.harts.as_ref()?;
        let reserved =
            |index: usize| harts.reservations.iter().any(|reservation| reservation.stream.index() == index);
        // Trigger messages and what they poll have windows of their own.
        let apart = |stream: &Stream| matches!(stream.traffic, Traffic::Protocol | Traffic::Polled);
        let unreserved = network.streams.iter().enumerate();
        let unreserved = unreserved.filter(|(index, stream)| !reserved(*index) && !apart(stream));
        let unreserved = unreserved.map(|(_, stream)| wire(stream)).max().unwrap_or(Bytes::ZERO);
        let rate = network.links.iter().map(|link| link.rate).min().unwrap_or(BitRate::from_mbps(100));
        let period = |cycles: u32| Duration::from_ps(harts.cycle.as_ps().saturating_mul(u64::from(cycles)));
        let server = |shared: &tautwire_model::harts::SharedServer| Server {
            parent: shared.config.parent.map(usize::from),
            period: period(shared.config.period),
            capacity: Bytes::new(shared.config.capacity.map_or(u64::from(u32::MAX), u64::from)),
        };
        Some(HartsSet {
            cycle: ElementaryCycle {
                length: harts.cycle,
                before: harts.open,
                guard: self.parameters.guard.unwrap_or(harts.cycle - harts.close),
                switch_delay: self.parameters.switch_delay,
                counts_unreserved: self.parameters.counts_unreserved,
                unreserved,
                rate,
            },
            servers: harts.shared.iter().map(server).collect(),
            streams: Vec::new(),
        })
    }

    /// A stream as equation 3 sees it, once per listener; none if it promises nothing.
    #[must_use]
    pub fn routes(&self, network: &Network, index: StreamIndex) -> Option<Vec<Reserved>> {
        let stream = &network.streams[index.index()];
        let harts = network.harts.as_ref()?;
        let period = period(stream)?;
        let own = harts.reservations.iter().find(|reservation| reservation.stream == index);
        let deadline = match self.parameters.deadline_periods {
            None => stream.deadline.unwrap_or(Duration::from_ps(u64::MAX)),
            Some(count) => Duration::from_ps(period.as_ps().saturating_mul(u64::from(count))),
        };
        let server = own.and_then(|own| own.server.parent).map(usize::from);
        // Priorities of shared servers come before those within.
        let above = server.and_then(|place| harts.shared.get(place)).map(|shared| shared.config.priority);
        let within = own.map_or(stream.priority.number(), |own| own.server.priority);
        let priority = above.map_or(within * 9, |above| above * 9 + within + 1);
        let route = |listener: usize| {
            let mut links = Vec::new();
            let mut next =
                stream.hops.iter().find(|hop| hop.listener.is_some_and(|one| one as usize == listener));
            while let Some(hop) = next {
                links.extend(network.ports[hop.port.index()].links.map(|links| links.egress.0));
                next = hop.previous.map(|previous| &stream.hops[previous as usize]);
            }
            links.reverse();
            Reserved { period, wire: wire(stream), priority, deadline, links, server }
        };
        Some((0..stream.listeners.len()).map(route).collect())
    }

    fn unbounded(&self, network: &Network, late: StreamIndex, listener: usize, why: &str) -> RefusalReason {
        let stream = &network.streams[late.index()];
        let listener = stream.listeners.get(listener).map(|node| network.nodes[node.index()].name.clone());
        RefusalReason::Unbounded {
            stream: stream.name.clone(),
            listener: listener.unwrap_or_default(),
            why: why.to_owned(),
        }
    }
}

/// Octets of the wire of a stream's longest frame.
fn wire(stream: &Stream) -> Bytes {
    let tagged = stream.tagged || stream.hops.iter().any(|hop| hop.tagged.vlan);
    wire_bits(stream.payload_max, tagged).bytes_ceil()
}

/// The period of a stream, or the least distance that its arrival curve leaves its longest frames.
fn period(stream: &Stream) -> Option<Duration> {
    if let Traffic::Periodic { interval, burst, .. } = &stream.traffic {
        return Some(Duration::from_ps(interval.as_ps() / u64::from((*burst).max(1))));
    }
    let curve = stream.arrival?;
    if curve.rate.as_bps() == 0 {
        return None;
    }
    Some(curve.rate.duration_floor(wire(stream).bits()))
}
