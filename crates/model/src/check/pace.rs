//! Paces that no run can carry out: frames far beyond what a line takes, and more of them, or of cycles, than a run ends with.
//!
//! A description that passes the check is run in finite time and memory. So a talker's frames come at most [`BEYOND`] times as
//! fast as its line takes them (what is allowed to overload a port is below that by far), at most [`AT_ONCE`] of them at once,
//! and what the description makes happen in a run is at most [`MOST`]. Not here: loads of ports (`loads.rs`).

use tautwire_core::gptp::peer_delay;
use tautwire_units::{BitRate, Duration};

use crate::frame::wire_bits;
use crate::network::{ArrivalCurve, RunSettings, Stream, TimelineAction, Traffic};
use crate::parse::Draft;
use crate::resolve::Mechanisms;
use crate::resolve::events::Event;
use crate::resolve::streams::Streams;
use crate::resolve::topology::Topology;
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

/// Checks the paces of a whole description.
pub(crate) fn check(
    input: &Draft<'_>,
    topology: &Topology<'_>,
    (run, events): (&RunSettings, &[Event]),
    streams: &Streams<'_, '_>,
    cycles: &Mechanisms,
    faults: &mut Faults,
) {
    let mut all = of_cycles(input, topology, run, cycles);
    for draft in &streams.list {
        let stream = &draft.stream;
        let place = draft.place("traffic");
        all.extend(of_traffic(stream, (&stream.traffic, stream.arrival), (topology, run), place, faults));
    }
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
            _ => {}
        }
    }
    let sum: u128 = all.iter().map(|paced| paced.count).sum();
    let Some(most) = all.into_iter().max_by_key(|paced| paced.count).filter(|_| sum > MOST) else { return };
    let message = format!(
        "{}, {} times in a run of {}: with all else {sum} events, more than a run carries out",
        most.what, most.count, run.duration
    );
    faults.error(codes::PACE, most.place, message, "make `duration` of `run` shorter, or what happens rarer");
}

/// How often something happens in a run; what has no period at all is told where it is read.
fn times(run: &RunSettings, period: Duration) -> u128 {
    u128::from(run.duration.as_ps()).checked_div(u128::from(period.as_ps())).map_or(0, |times| times + 1)
}

/// The frames of a talker in a run. Says what its line is never given.
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
        let whole = frame * PS_PER_S / u128::from(rate.as_bps().max(1));
        (at_once.max(1), Duration::from_ps(u64::try_from(whole).unwrap_or(u64::MAX).max(1)))
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
        let message = format!("`{name}` makes {at_once} frames at once, and {AT_ONCE} are the most");
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
            let message = format!(
                "`{name}` makes a frame each {period}: its line of {rate} takes less than one in {BEYOND} of them"
            );
            faults.error(codes::TRAFFIC, place, message, "make its frames come less often");
            return None;
        }
    }
    let periods = match traffic {
        Traffic::OnOff { on, off, .. } => {
            let (on, whole) = (u128::from(on.as_ps()), u128::from(on.as_ps()) + u128::from(off.as_ps()));
            (duration / whole.max(1) + 1) * (on / u128::from(period.as_ps().max(1)) + 1)
        }
        _ => times(run, period),
    };
    let count = periods.saturating_mul(each).saturating_add(at_once);
    Some(Paced { what: format!("`{name}` sends a frame"), count, place })
}

/// What machines do again and again.
fn of_cycles(
    input: &Draft<'_>,
    topology: &Topology<'_>,
    run: &RunSettings,
    cycles: &Mechanisms,
) -> Vec<Paced> {
    let mut all = Vec::new();
    let mut add = |section: &str, what: &str, period: Duration, each: usize| {
        let Some(node) = input.root.get(section) else { return };
        let count = times(run, period).saturating_mul(each.max(1) as u128);
        all.push(Paced { what: what.to_owned(), count, place: node.anchor() });
    };
    let (nodes, ports) = (topology.nodes.len(), topology.ports.len());
    if let Some(tdma) = &cycles.tdma {
        add("tdma", "a slot of `tdma` begins", tdma.cycle, tdma.slots.len() + 2);
        if let Some(start_up) = &tdma.start_up {
            let stations = start_up.stations.len();
            add("tdma", "a start-up of `tdma` invites a station", start_up.interval, stations);
            if let Some(heartbeat) = start_up.heartbeat {
                add("tdma", "a station of `tdma` says that it lives", heartbeat, stations);
            }
        }
    }
    if let Some(harts) = &cycles.harts {
        let triggers = harts.ftt.triggers.iter().flatten().count();
        add("harts", "an elementary cycle of `harts` begins at a port", harts.cycle, triggers);
        if let Some(admission) = &harts.admission {
            add("harts", "who asks in `harts` says so again", admission.patience, nodes);
            add("harts", "an ACMaster of `harts` says that it lives", admission.alive, nodes);
        }
    }
    if let Some(gptp) = &cycles.gptp {
        for log in [gptp.log_sync, gptp.log_announce, gptp.log_pdelay] {
            add("gptp", "a port sends a message of `gptp`", peer_delay::interval(log), ports);
        }
        add("gptp", "the offsets of `gptp` are looked at", gptp.sample_interval, nodes);
    }
    if let Some(reservation) = &cycles.srp {
        for node in &reservation.nodes {
            if let Some(tick) = node.tick {
                add("stream-reservation", "a node looks at its timers", tick.period, 1);
            }
            add("stream-reservation", "a port may send an MRPDU", node.timing.join, 1);
            add("stream-reservation", "a port asks for all registrations", node.timing.leave_all, 1);
            if let Some(periodic) = node.timing.periodic {
                add("stream-reservation", "a port says what it has said", periodic, 1);
            }
        }
        if let Some(central) = &reservation.central {
            add("stream-reservation", "a channel says again what it said", central.timing.retry, nodes);
        }
    }
    if let Some(clocks) = cycles.test_bed.as_ref().and_then(|test| test.clocks.as_ref()) {
        add(
            "test",
            "a station of the test corrects its clock",
            clocks.interval,
            nodes * usize::from(clocks.readings),
        );
    }
    if let Some(timed) = cycles.time_triggered {
        add("time-triggered", "a clock is corrected", timed.integration_cycle, nodes);
        if let Some(raster) = timed.raster {
            add("time-triggered", "a cycle of the raster begins", raster.cycle, ports);
        }
    }
    all
}
