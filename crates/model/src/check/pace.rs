//! Paces that no run can carry out: frames far beyond what a line takes, and more of them, or of cycles, than a run ends with.
//!
//! A description that passes the check is run in finite time and memory. So a talker's frames come at most [`BEYOND`]
//! times as fast as its line takes them (a permitted overload of a port is far below that), at most [`AT_ONCE`] of
//! them at once, and the events that the description causes in a run are at most [`MOST`]. Not here: loads of ports
//! (`loads.rs`), the recurring events of a mechanism (`recurring` in its folder).

use tautwire_units::{BitRate, Duration};

use crate::frame::wire_bits;
use crate::gates;
use crate::network::{ArrivalCurve, RunSettings, Stream, TimelineAction, Traffic};
use crate::parse::Draft;
use crate::resolve::Mechanisms;
use crate::resolve::events::Event;
use crate::resolve::streams::Streams;
use crate::resolve::topology::Topology;
use crate::tdma::Tdma;
use crate::text::codes;
use crate::text::faults::Faults;
use crate::text::tree::Place;

/// How many times as fast as a line takes them frames may come to it.
const BEYOND: u128 = 100;
/// Most frames that a talker makes at one instant.
const AT_ONCE: u128 = 1_000_000;
/// Most frames and cycles of a run.
const MOST: u128 = 10_000_000_000;
const PS_PER_S: u128 = 1_000_000_000_000;

/// Something that happens again and again: how often in a run, and where that is described.
struct Paced {
    what: String,
    count: u128,
    place: Place,
}

/// What a mechanism does again and again: `what`, `each` times in every `period`.
pub(crate) struct Recurring {
    pub(crate) what: &'static str,
    pub(crate) period: Duration,
    pub(crate) each: usize,
}

impl Recurring {
    pub(crate) const fn new(what: &'static str, period: Duration, each: usize) -> Self {
        Self { what, period, each }
    }
}

/// Checks the paces of a description.
pub(crate) fn check(
    input: &Draft<'_>,
    topology: &Topology<'_>,
    (run, events): (&RunSettings, &[Event]),
    streams: &Streams<'_, '_>,
    mechanisms: &Mechanisms,
    faults: &mut Faults,
) {
    let mut all = of_mechanisms(input, topology, run, mechanisms);
    for draft in &streams.list {
        let stream = &draft.stream;
        let place = draft.place("traffic");
        all.extend(of_traffic(stream, (&stream.traffic, stream.arrival), (topology, run), place, faults));
    }
    all.extend(gates::check::paces(topology).map(|(cycle, entries, place)| Paced {
        what: "a port executes an entry of its gates".to_owned(),
        count: times(run, cycle).saturating_mul(entries),
        place,
    }));
    for event in events {
        let place = event.place;
        match &event.timeline.action {
            TimelineAction::ChangeTraffic(number, traffic, curve) => {
                let stream = &streams.list[number.index()].stream;
                all.extend(of_traffic(stream, (traffic, *curve), (topology, run), place, faults));
            }
            TimelineAction::Babble(node, every) => {
                let what = format!("`{}` babbles", topology.nodes[node.index()].name);
                all.push(Paced { what, count: times(run, *every), place });
            }
            TimelineAction::RepeatFrame(node, _, every) => {
                let what = format!("`{}` repeats a frame", topology.nodes[node.index()].name);
                all.push(Paced { what, count: times(run, *every), place });
            }
            _ => {}
        }
    }
    let sum: u128 = all.iter().map(|paced| paced.count).sum();
    let Some(most) = all.into_iter().max_by_key(|paced| paced.count).filter(|_| sum > MOST) else { return };
    let message = format!(
        "{} {} times in a run of {}, which has {sum} events in all, more than a run can carry out",
        most.what, most.count, run.duration
    );
    faults.error(
        codes::PACE,
        most.place,
        message,
        "shorten `duration` of `run`, or lengthen the intervals of frequent events",
    );
}

/// How often something happens in a run; a missing period is reported where it is read.
fn times(run: &RunSettings, period: Duration) -> u128 {
    u128::from(run.duration.as_ps()).checked_div(u128::from(period.as_ps())).map_or(0, |times| times + 1)
}

/// The frames of a talker in a run. Reports frames that can never get the line.
fn of_traffic(
    stream: &Stream,
    (traffic, curve): (&Traffic, Option<ArrivalCurve>),
    (topology, run): (&Topology<'_>, &RunSettings),
    place: Place,
    faults: &mut Faults,
) -> Option<Paced> {
    let frame = u128::from(wire_bits(stream.payload_min, stream.tagged).get());
    let duration = u128::from(run.duration.as_ps());
    // Frames at once, and the time until as many come again.
    let by_rate = |rate: BitRate, at_once: u128| {
        let period = frame * PS_PER_S / u128::from(rate.as_bps().max(1));
        (at_once.max(1), Duration::from_ps(u64::try_from(period).unwrap_or(u64::MAX).max(1)))
    };
    let (at_once, each, period) = match traffic {
        Traffic::Periodic { interval, burst, .. } => (u128::from(*burst), u128::from(*burst), *interval),
        Traffic::ConstantRate { rate, .. } => {
            let (each, period) = by_rate(*rate, 1);
            (1, each, period)
        }
        Traffic::Poisson { mean_interval } => (1, 1, *mean_interval),
        Traffic::OnOff { interval, .. } => (1, 1, *interval),
        Traffic::Injected { threads, burst, interval, .. } => {
            (u128::from(*threads) * u128::from(*burst), 1, *interval)
        }
        Traffic::Greedy { .. } => {
            let curve = curve?;
            let (each, period) = by_rate(curve.rate, 1);
            (u128::from(curve.burst.get()) / frame, each, period)
        }
        Traffic::Replay { .. }
        | Traffic::File { .. }
        | Traffic::Synchronisation { .. }
        | Traffic::Response { .. }
        | Traffic::Protocol
        | Traffic::Polled => return None,
    };
    let name = &stream.name;
    if at_once > AT_ONCE {
        let message = format!("`{name}` makes {at_once} frames at once, more than {AT_ONCE}");
        faults.error(codes::TRAFFIC, place, message, "make its bursts smaller");
        return None;
    }
    let links = stream.hops.first().and_then(|hop| topology.ports[hop.port.index()].links);
    if let Some(links) = links {
        let rate = topology.links[links.egress.index()].rate;
        // Picoseconds of the line that are wanted in a period, times bits a second.
        let wanted = each * frame * PS_PER_S;
        let taken = u128::from(period.as_ps()) * u128::from(rate.as_bps());
        if wanted > taken.saturating_mul(BEYOND) {
            let frames = if each == 1 { "a frame".to_owned() } else { format!("{each} frames") };
            let message = format!(
                "`{name}` makes {frames} every {period}, of which its line of {rate} carries fewer than one in {BEYOND}"
            );
            faults.error(codes::TRAFFIC, place, message, "lengthen the interval of its frames");
            return None;
        }
    }
    let periods = match traffic {
        Traffic::OnOff { on, off, .. } => {
            let (on, alternation) =
                (u128::from(on.as_ps()), u128::from(on.as_ps()) + u128::from(off.as_ps()));
            (duration / alternation.max(1) + 1) * (on / u128::from(period.as_ps().max(1)) + 1)
        }
        _ => times(run, period),
    };
    let count = periods.saturating_mul(each).saturating_add(at_once);
    Some(Paced { what: format!("`{name}` sends a frame"), count, place })
}

/// The recurring events of the mechanisms.
fn of_mechanisms(
    input: &Draft<'_>,
    topology: &Topology<'_>,
    run: &RunSettings,
    mechanisms: &Mechanisms,
) -> Vec<Paced> {
    let (nodes, ports) = (topology.nodes.len(), topology.ports.len());
    let clocks = mechanisms.test_bed.as_ref().and_then(|test| test.clocks.as_ref());
    let of = [
        ("tdma", mechanisms.tdma.as_ref().map(Tdma::recurring)),
        ("harts", mechanisms.harts.as_ref().map(|harts| harts.recurring(nodes))),
        ("gptp", mechanisms.gptp.as_ref().map(|gptp| gptp.recurring(nodes, ports))),
        ("stream-reservation", mechanisms.srp.as_ref().map(|srp| srp.recurring(nodes))),
        ("test", clocks.map(|clocks| clocks.recurring(nodes))),
        ("time-triggered", mechanisms.time_triggered.map(|timed| timed.recurring(nodes, ports))),
    ];
    let paced = |(section, all): (&str, Option<Vec<Recurring>>)| {
        let place = input.root.get(section)?.anchor();
        let one = move |recurring: Recurring| Paced {
            what: recurring.what.to_owned(),
            count: times(run, recurring.period).saturating_mul(recurring.each.max(1) as u128),
            place,
        };
        Some(all?.into_iter().map(one))
    };
    of.into_iter().filter_map(paced).flatten().collect()
}
