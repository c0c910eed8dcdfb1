//! From a network, its bounds and a run to a [`Summary`].

use tautwire_analysis::{Bounds, ClassBounds, ListenerBounds, Method, StreamBounds, Unbounded};
use tautwire_core::TrafficClass;
use tautwire_model::network::{Hop, Network, Port, StreamIndex, TransmissionSelection};
use tautwire_observe::{DelayParts, Histogram, Moments, Part};
use tautwire_sim::{
    ApplicationObservation, ClassObservation, HopObservation, ListenerObservation, Observation,
    PortObservation, StampedObservation, StreamObservation,
};
use tautwire_units::Duration;

use crate::as6802;
use crate::datagrams;
use crate::gptp;
use crate::listener_frames::ListenerFrames;
use crate::name;
use crate::proviso;
use crate::served::NotServed;
use crate::srp::reservation;
use crate::summary::LateSummary;
use crate::summary::{
    ApplicationDelays, ApplicationSummary, BoundSummary, ClassBoundSummary, ClassSummary,
    ClassTrafficSummary, DelayMoments, DelaySummary, FORMAT, FrameCounts, HopDelaySummary, HopSummary,
    IntervalSummary, ListenerSummary, PartsSummary, PortSummary, PortTrafficSummary, Quantiles,
    ReceptionSummary, RunSummary, StampedSummary, StreamSummary, Summary, UnboundedSummary,
    VerificationSummary, WorstFrameSummary,
};
use crate::tdma::slots;
use crate::tdma::start_up;
use crate::test_bed;
use crate::verdict::{self, StreamVerification, Verdict, judge};

impl Summary {
    /// Sums up what there is: bounds, an observation, or both and the verdicts.
    ///
    /// # Panics
    /// If `bounds` or `observation` are not those of `network`.
    #[must_use]
    pub fn new(network: &Network, bounds: Option<&Bounds>, observation: Option<&Observation>) -> Self {
        let verification = judge(network, bounds, observation);
        let streams = verification
            .streams
            .iter()
            .enumerate()
            .map(|(index, verification)| stream(network, index, bounds, observation, verification))
            .collect();
        let ports = network
            .ports
            .iter()
            .enumerate()
            .filter_map(|(index, port)| port_summary(network, index, port, bounds, observation))
            .collect();
        let verdicts = bounds.map(|_| VerificationSummary {
            verdict: verification.verdict,
            streams: Verdict::ALL
                .into_iter()
                .map(|verdict| {
                    (verdict, verification.streams.iter().filter(|s| s.verdict == verdict).count())
                })
                .filter(|(_, count)| *count > 0)
                .map(|(verdict, count)| (name::kebab(&format!("{verdict:?}")), count as u64))
                .collect(),
            contradictions: verification.contradictions.iter().map(ToString::to_string).collect(),
        });
        Self {
            format: FORMAT,
            network: network.name.clone(),
            run: observation.map(|observation| run(network, observation)),
            test: observation.and_then(|seen| Some(test_bed::summary(network, seen.test.as_deref()?))),
            verification: verdicts,
            adversary: None,
            streams,
            ports,
            slots: observation.map_or_else(Vec::new, |seen| slots::summaries(network, seen)),
            tdma_cycles: observation.and_then(|seen| crate::tdma::cycles::summary(network, seen)),
            takeover: crate::tdma::takeover::summary(network, bounds.is_some(), observation),
            failures: crate::tdma::takeover::failures(network, bounds.is_some(), observation),
            start_up: observation.map_or_else(Vec::new, |seen| start_up::summaries(network, seen)),
            clocks: observation.map_or_else(Vec::new, |seen| gptp::summaries(network, bounds, seen)),
            harts: observation.and_then(|seen| crate::harts::summary(network, seen)),
            network_time: as6802::summary(network, bounds, observation),
            virtual_links: crate::virtual_link::summaries(network, bounds, observation),
            reservations: observation
                .map_or_else(Vec::new, |seen| reservation::summaries(network, bounds, seen)),
            refusals: observation
                .map_or_else(Vec::new, |seen| crate::admission::refusal::summaries(network, seen)),
            vlan_registrations: observation
                .map_or_else(Vec::new, |seen| crate::srp::vlan_registration::summaries(network, seen)),
            mechanisms: observation
                .map_or_else(Vec::new, |seen| crate::mechanism_tables::summaries(network, seen)),
        }
    }
}

fn run(network: &Network, observation: &Observation) -> RunSummary {
    RunSummary {
        seed: observation.seed,
        duration_ps: observation.end.as_ps(),
        warm_up_ps: network.run.warm_up.as_ps(),
        frame_hops: observation.frame_hops,
        trace_hash: format!("{:016x}", observation.trace_hash),
    }
}

fn stream(
    network: &Network,
    index: usize,
    bounds: Option<&Bounds>,
    observation: Option<&Observation>,
    verification: &StreamVerification,
) -> StreamSummary {
    let stream = &network.streams[index];
    let bounds = bounds.map(|bounds| &bounds.streams[index]);
    let observed = observation.map(|observation| &observation.streams[index]);
    let listeners = (0..stream.listeners.len())
        .map(|listener| {
            let verification = &verification.listeners[listener];
            let bound = bounds.map(|bounds| &bounds.listeners[listener]);
            ListenerSummary {
                listener: name::node(network, stream.listeners[listener]).to_owned(),
                verdict: bound.map(|_| verification.verdict),
                bound: bound.map(|bound| bound_summary(network, &bound.delay, bound.delay_min)),
                method: bound
                    .filter(|bound| bound.method == Method::PathProgram)
                    .map(|bound| bound.method.name().to_owned()),
                margin_ps: verification.margin_ps,
                skew_bound_ps: bound.and_then(|bound| bound.skew).map(Duration::as_ps),
                taken_twice: verification.taken_twice,
                proviso: bound.and(verification.proviso),
                apart_from: bound.map_or_else(Vec::new, |_| {
                    proviso::reasons(network, StreamIndex::at(index), verification)
                }),
                may_be_lost: verification
                    .may_be_lost
                    .iter()
                    .map(|one| crate::loss::summary(network, one))
                    .collect(),
                lost: observed.and_then(|observed| observed.listeners[listener].lost),
                frames: observed.map(|seen| {
                    ListenerFrames::of(&seen.listeners[listener], seen.created, verification.causes)
                }),
                not_served: verification.not_served.map(NotServed::summary),
                observed: observed.map(|observed| delays(&observed.listeners[listener])),
                adversary: None,
                stamped: observed
                    .and_then(|observed| observed.listeners[listener].stamped.as_deref())
                    .map(stamped),
                application: application(
                    network,
                    bound,
                    observed.and_then(|observed| observed.listeners[listener].application.as_deref()),
                ),
                datagrams: datagrams::summary(
                    stream,
                    observed.and_then(|observed| observed.listeners[listener].datagrams.as_deref()),
                ),
            }
        })
        .collect();
    StreamSummary {
        name: stream.name.clone(),
        talker: name::node(network, stream.talker).to_owned(),
        traffic_class: stream.hops.first().map_or(0, |hop| hop.class.number()),
        deadline_ps: stream.deadline.map(Duration::as_ps),
        skew_max_ps: stream.virtual_link.and_then(|link| link.skew_max).map(Duration::as_ps),
        verdict: bounds.map(|_| verification.verdict),
        proviso: bounds.and(verification.proviso),
        frames: observed.map(frames),
        listeners,
        hops: (0..stream.hops.len())
            .map(|hop| {
                let observed = observed.and_then(|observed| observed.hops.get(hop));
                hop_summary(network, &stream.hops[hop], hop, bounds, observed)
            })
            .collect(),
    }
}

fn frames(observed: &StreamObservation) -> FrameCounts {
    let of_listener = |seen: &ListenerObservation| seen.lost.map(|lost| (lost, observed.created));
    let (lost, all) = match observed.listeners.iter().map(of_listener).collect::<Option<Vec<_>>>() {
        Some(each) if !each.is_empty() => {
            each.iter().fold((0, 0), |(lost, all), each| (lost + each.0, all + each.1))
        }
        _ => (verdict::lost(observed), observed.created + observed.replicated),
    };
    let loss_ppm = parts_per_million(lost, all);
    FrameCounts {
        created: observed.created,
        replicated: observed.replicated,
        delivered: observed.delivered,
        consumed: observed.consumed,
        in_flight: observed.in_flight,
        dropped: observed.dropped.iter().map(|(reason, n)| (reason.name().to_owned(), *n)).collect(),
        loss_ppm,
    }
}

/// Rounded up; none of nothing.
pub(crate) fn parts_per_million(part: u64, all: u64) -> u64 {
    let share = (u128::from(part) * 1_000_000).div_ceil(u128::from(all.max(1)));
    u64::try_from(share).unwrap_or(u64::MAX)
}

fn delay_moments(delay: &Moments, histogram: Option<&Histogram>, arrivals: &Moments) -> DelayMoments {
    let ps = |span: Option<Duration>| span.map(Duration::as_ps);
    DelayMoments {
        count: delay.count(),
        delay_min_ps: ps(delay.min()),
        delay_mean_ps: ps(delay.mean()),
        delay_max_ps: ps(delay.max()),
        delay_sd_ps: ps(delay.standard_deviation()),
        quantiles: histogram.and_then(|histogram| quantiles(histogram, delay)),
        interval: interval(arrivals),
    }
}

fn delays(seen: &ListenerObservation) -> DelaySummary {
    let moments = &seen.delay;
    DelaySummary {
        delays: delay_moments(moments, seen.histogram.as_ref(), &seen.interval),
        delay_mean_ci95_ps: moments.confidence_95().map(Duration::as_ps),
        jitter_ps: moments.max().zip(moments.min()).map(|(max, min)| (max - min).as_ps()),
        delay_sum_ps: moments.sum_ps().to_string(),
        delay_sum_squares_ps2: moments.sum_squares_ps2().to_string(),
        observed_max_ps: verdict::observed_delay(seen).map(|delay| delay.max.as_ps()),
        late: seen.late,
        late_at: seen
            .late_at
            .iter()
            .map(|(span, late)| LateSummary { deadline_ps: span.as_ps(), late: *late })
            .collect(),
        worst: seen.worst.map(|worst| WorstFrameSummary {
            number: worst.number,
            created_ps: worst.created.as_ps(),
            delay_ps: worst.delay.as_ps(),
        }),
    }
}

/// What is proven and observed at an application; none for a listener whose host takes no time behind its port.
fn application(
    network: &Network,
    bound: Option<&ListenerBounds>,
    seen: Option<&ApplicationObservation>,
) -> Option<ApplicationSummary> {
    let bound = bound.and_then(|bound| bound.application.as_ref());
    let bound = bound.map(|(least, most)| bound_summary(network, most, *least));
    let observed = seen.map(|seen| ApplicationDelays {
        received: seen.received,
        in_flight: seen.in_flight,
        dropped: seen.dropped.iter().map(|(reason, n)| (reason.name().to_owned(), *n)).collect(),
        observed_max_ps: (seen.received > 0).then_some(seen.max.as_ps()),
        delays: delay_moments(&seen.delay, seen.histogram.as_ref(), &seen.interval),
        processing: reception(seen),
    });
    (bound.is_some() || observed.is_some()).then_some(ApplicationSummary { bound, observed })
}

fn reception(seen: &ApplicationObservation) -> ReceptionSummary {
    let (sum, count) = (seen.processing.as_ps(), seen.delay.count().max(1));
    ReceptionSummary { sum_ps: sum, mean_ps: (sum + count / 2) / count, max_ps: seen.processing_max.as_ps() }
}

fn stamped(seen: &StampedObservation) -> StampedSummary {
    let (latency, interval) = (&seen.latency, &seen.interval);
    StampedSummary {
        count: latency.count(),
        latency_min_ps: latency.min_ps(),
        latency_mean_ps: latency.mean_ps(),
        latency_max_ps: latency.max_ps(),
        latency_sd_ps: latency.standard_deviation_ps(),
        interval_count: interval.count(),
        interval_min_ps: interval.min_ps(),
        interval_mean_ps: interval.mean_ps(),
        interval_max_ps: interval.max_ps(),
        interval_sd_ps: interval.standard_deviation_ps(),
    }
}

fn quantiles(histogram: &Histogram, moments: &Moments) -> Option<Quantiles> {
    let max = moments.max()?;
    let quantile = |ppm| histogram.quantile(ppm).map(|delay| delay.min(max).as_ps());
    Some(Quantiles {
        delay_p50_ps: quantile(500_000)?,
        delay_p90_ps: quantile(900_000)?,
        delay_p99_ps: quantile(990_000)?,
        delay_p99_9_ps: quantile(999_000)?,
        delay_p99_99_ps: quantile(999_900)?,
    })
}

fn interval(moments: &Moments) -> Option<IntervalSummary> {
    Some(IntervalSummary {
        count: moments.count(),
        interval_min_ps: moments.min()?.as_ps(),
        interval_mean_ps: moments.mean()?.as_ps(),
        interval_max_ps: moments.max()?.as_ps(),
        interval_sd_ps: moments.standard_deviation().map(Duration::as_ps),
    })
}

/// Why there is no bound.
pub(crate) fn unbounded_summary(network: &Network, unbounded: &Unbounded) -> UnboundedSummary {
    UnboundedSummary {
        reason: unbounded.name().to_owned(),
        port: name::port(network, unbounded.port()),
        text: unbounded.text(network),
    }
}

fn bound_summary(network: &Network, max: &Result<Duration, Unbounded>, min: Duration) -> BoundSummary {
    BoundSummary {
        delay_max_ps: max.as_ref().ok().map(|max| max.as_ps()),
        delay_min_ps: min.as_ps(),
        jitter_ps: max.as_ref().ok().map(|max| max.saturating_sub(min).as_ps()),
        unbounded: max.as_ref().err().map(|unbounded| unbounded_summary(network, unbounded)),
    }
}

fn hop_summary(
    network: &Network,
    hop: &Hop,
    index: usize,
    bounds: Option<&StreamBounds>,
    observed: Option<&HopObservation>,
) -> HopSummary {
    let bound = bounds.and_then(|bounds| bounds.hops.get(index));
    HopSummary {
        port: name::port(network, hop.port),
        to: far_end(network, &network.ports[hop.port.index()]).unwrap_or_default().to_owned(),
        previous: hop.previous,
        traffic_class: hop.class.number(),
        observed: observed.map(|observed| HopDelaySummary {
            count: observed.frames,
            delay_max_ps: observed.max.as_ps(),
            sum: parts(&observed.sums, 1),
            mean: parts(&observed.sums, observed.frames.max(1)),
        }),
        bound: bound.map(|bound| bound_summary(network, &bound.delay, bound.delay_min)),
        method: bound.map(|bound| bound.method.name().to_owned()),
    }
}

/// Each part over `count`, to the nearest.
fn parts(sums: &DelayParts, count: u64) -> PartsSummary {
    let mean = |part| {
        let sum = u128::from(sums.part(part).as_ps());
        u64::try_from((sum + u128::from(count) / 2) / u128::from(count)).expect("at most the sum")
    };
    PartsSummary {
        processing_ps: mean(Part::Processing),
        shaping_ps: mean(Part::Shaping),
        queueing_ps: mean(Part::Queueing),
        transmission_ps: mean(Part::Transmission),
        propagation_ps: mean(Part::Propagation),
    }
}

/// The node at the other end of the cable at a port.
pub(crate) fn far_end<'a>(network: &'a Network, port: &Port) -> Option<&'a str> {
    let link = &network.links[port.links?.egress.index()];
    Some(name::node(network, network.ports[link.to.index()].node))
}

fn port_summary(
    network: &Network,
    index: usize,
    port: &Port,
    bounds: Option<&Bounds>,
    observation: Option<&Observation>,
) -> Option<PortSummary> {
    let link = &network.links[port.links?.egress.index()];
    let observed = observation.map(|observation| (&observation.ports[index], observation.end));
    let classes = TrafficClass::all()
        .rev()
        .filter_map(|class| {
            let bound = bounds.map(|bounds| &bounds.ports[index][class.index()]);
            let observed = observed.map(|(observed, _)| &observed.classes[class.index()]);
            class_summary(port, class, bound, observed)
        })
        .collect();
    Some(PortSummary {
        port: format!("{}.{}", name::node(network, port.node), port.name),
        to: name::node(network, network.ports[link.to.index()].node).to_owned(),
        rate_bps: link.rate.as_bps(),
        observed: observed.map(|(observed, end)| port_traffic(observed, end)),
        classes,
    })
}

fn port_traffic(observed: &PortObservation, end: Duration) -> PortTrafficSummary {
    let (busy, end) = (u128::from(observed.busy.as_ps()), u128::from(end.as_ps().max(1)));
    PortTrafficSummary {
        frames: observed.frames,
        octets: observed.octets.get(),
        busy_ps: observed.busy.as_ps(),
        utilisation_ppm: u64::try_from((busy * 1_000_000 + end / 2) / end).unwrap_or(u64::MAX),
        dropped: observed.classes.iter().map(|class| class.dropped).sum(),
        scheduler_discarded: observed.scheduler_discarded,
    }
}

/// A class of a port; none if nothing uses it.
fn class_summary(
    port: &Port,
    class: TrafficClass,
    bound: Option<&ClassBounds>,
    observed: Option<&ClassObservation>,
) -> Option<ClassSummary> {
    let settings = &port.classes[class.index()];
    let is_used = bound.is_some_and(|bound| bound.used)
        || observed.is_some_and(|observed| observed.frames > 0 || observed.dropped > 0);
    let idle_slope_bps = match settings.selection {
        TransmissionSelection::CreditBased { idle_slope } => Some(idle_slope.as_bps()),
        TransmissionSelection::StrictPriority | TransmissionSelection::Ats => None,
    };
    is_used.then(|| ClassSummary {
        traffic_class: class.number(),
        selection: name::selection(settings.selection).to_owned(),
        idle_slope_bps,
        observed: observed.map(|observed| ClassTrafficSummary {
            frames: observed.frames,
            dropped: observed.dropped,
            backlog_max_frames: observed.backlog_frames_max,
            backlog_max_octets: observed.backlog_octets_max.get(),
            hi_credit_bits: idle_slope_bps.map(|_| observed.hi_credit_bits),
            lo_credit_bits: idle_slope_bps.map(|_| observed.lo_credit_bits),
        }),
        bound: bound.filter(|bound| bound.used).map(|bound| ClassBoundSummary {
            backlog_max_octets: bound.backlog.map(|bits| bits.bytes_ceil().get()),
            hi_credit_bits: bound.hi_credit_bits,
            lo_credit_bits: bound.lo_credit_bits,
            utilisation_ppm: bound.utilisation_ppm,
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn a_summary_is_read_as_it_is_written() {
        let (network, bounds, observation) = fixture::line();
        for (bounds, observation) in
            [(Some(&bounds), Some(&observation)), (None, Some(&observation)), (Some(&bounds), None)]
        {
            let summary = Summary::new(&network, bounds, observation);
            let text = summary.to_json();
            assert_eq!(Summary::from_json(&text).expect("our own text"), summary);
            assert_eq!(summary.run.is_some(), observation.is_some());
            assert_eq!(summary.verification.is_some(), bounds.is_some());
            assert_eq!(text, Summary::new(&network, bounds, observation).to_json());
        }
    }

    #[test]
    fn every_summary_obeys_the_schema() {
        let (network, bounds, observation) = fixture::line();
        let schema = serde_json::from_str(&Summary::schema()).expect("JSON");
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        let summary = Summary::new(&network, Some(&bounds), Some(&observation)).to_json();
        let value = serde_json::from_str(&summary).expect("JSON");
        let errors: Vec<_> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert_eq!(errors, [""; 0]);
        let wrong = serde_json::json!({ "format": "one" });
        assert!(!validator.is_valid(&wrong));
    }

    #[test]
    fn the_published_schema_is_that_of_the_code() {
        let path = "../../docs/schema/summary.schema.json";
        if std::env::var_os("TAUTWIRE_UPDATE_SCHEMA").is_some() {
            std::fs::create_dir_all("../../docs/schema").expect("docs");
            std::fs::write(path, Summary::schema()).expect("docs can be written");
        }
        let published = std::fs::read_to_string(path).expect("the schema is published");
        assert_eq!(published, Summary::schema(), "run the tests with TAUTWIRE_UPDATE_SCHEMA=1");
    }

    #[test]
    fn means_of_parts_are_of_their_sums() {
        let (network, bounds, observation) = fixture::line();
        let summary = Summary::new(&network, Some(&bounds), Some(&observation));
        let hop = summary.streams[0].hops[0].observed.as_ref().expect("observed");
        let sums = &observation.streams[0].hops[0];
        assert_eq!(hop.sum.queueing_ps, sums.sums.queueing.as_ps());
        assert!(hop.mean.queueing_ps.abs_diff(hop.sum.queueing_ps / hop.count) <= 1);
    }
}
