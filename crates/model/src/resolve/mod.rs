//! From the tree to the network: names to indices, defaults filled in, routes found, shapers assigned.
//!
//! The stages run in the order of their needs. A stage reports what is wrong in what it reads and goes
//! on with the rest, so that one run shows all faults; what a fault would only entail (a listener that
//! cannot be reached because its link is wrong) is not reported beside it. Faults of form are already
//! reported: here a value that cannot be read is left out in silence.

pub(crate) mod arrival;
pub(crate) mod ats;
pub(crate) mod control_frames;
pub(crate) mod covering;
pub(crate) mod datagrams;
pub(crate) mod draft;
pub(crate) mod events;
pub(crate) mod identification;
pub(crate) mod links;
pub(crate) mod models;
pub(crate) mod nodes;
pub(crate) mod ports;
pub(crate) mod routes;
pub(crate) mod streams;
pub(crate) mod topology;
pub(crate) mod traffic;
pub(crate) mod vlans;

use std::path::Path;

use tautwire_core::Priority;
use tautwire_units::{BitRate, Bits, Bytes, Duration};

use crate::check;
use crate::frame::FRAME_MIN;
use crate::grammar::Grammar;
use crate::network::{ArrivalCurve, Network, NetworkControl, RunSettings};
use crate::section::Sections;
use crate::text::codes;
use crate::text::faults::Faults;
use crate::text::tree::Node;
use crate::{as6802, gptp, harts, host_stacks, srp, tdma, test_bed, time_triggered, virtual_link};
pub(crate) use control_frames::ControlFrames;
pub use draft::Draft;
pub(crate) use traffic::read_trace;

/// What a network is made from.
pub(crate) struct Input<'t, 'a> {
    /// What it may say.
    pub(crate) grammar: &'static Grammar,
    /// The description.
    pub(crate) root: &'a Node<'t>,
    /// Streams of its tables.
    pub(crate) rows: &'a [Node<'t>],
    /// Where files that it names are found.
    pub(crate) directory: &'a Path,
    /// Name of its file.
    pub(crate) stem: Option<&'a str>,
}

/// Builds the network; none if there is an error.
pub(crate) fn build(input: &Input<'_, '_>, faults: &mut Faults) -> Option<Network> {
    let root = input.root;
    let builtin = models::builtin();
    let mut models = models::Models::new(root, &builtin);
    let drafts = nodes::drafts(root, &mut models, faults);
    let cables = links::cables(root, &drafts, faults);
    let mut topology = topology::assemble(root, drafts, cables, &models, faults);
    let cut_at_start = topology.take_up(root);
    let run = run_settings(root, faults);
    let network_control = network_control(root, faults);
    let vlans = vlans::vlans(input, &topology, faults);
    let mut streams = streams::streams(input, &topology, &vlans, faults);
    datagrams::cut(input, &topology, &mut streams, faults);
    tdma::resolve::start_up::drafts(input, &topology, &mut streams, faults);
    tdma::resolve::responses(&mut streams, faults);
    host_stacks::resolve::check_streams(&topology, &models, &streams, faults);
    let events = events::events(input, &topology, &cut_at_start, &mut streams, faults);
    virtual_link::resolve::measure(&mut streams);
    virtual_link::resolve::check_alike(&streams, faults);
    // Routes are found only in a network that is whole: a missing link would make a fault of each stream.
    if faults.errors() == 0 {
        routes::find(&topology, &vlans, &mut streams, faults);
        check::flooding::check(&topology, &streams, faults);
        tdma::resolve::check_heard(&streams, faults);
    }
    let test = test_bed::resolve::test(input, &topology, &streams, &events, &run, faults);
    let tdma = tdma::resolve::tdma(input, &topology, &models, &mut streams, faults);
    let (mut reservation, mut gptp) = (None, None);
    let mut sections = Sections::default();
    if faults.errors() == 0 {
        reservation = srp::resolve::reservation(input, &topology, &mut streams, faults);
        gptp = gptp::resolve::gptp(input, &topology, &mut streams, faults);
        sections = draft::sections(input, &topology, &events, &mut streams, faults);
    }
    let harts = harts::resolve::harts(input, &topology, &models, &mut streams, faults);
    check::granted::check(&events, &streams, reservation.as_ref(), harts.as_ref(), faults);
    let starts_up = tdma.as_ref().is_some_and(|tdma| tdma.start_up.is_some());
    let asked_for = (reservation.as_ref(), harts.as_ref());
    check::idle_events::check(&events, (&topology, &streams), asked_for, (run.duration, starts_up), faults);
    let mut assigned = ats::Assigned::default();
    let mut reserved_classes = Vec::new();
    if faults.errors() == 0 {
        srp::resolve::reserved_class::shapers(input, reservation.as_ref(), &mut streams);
        let servo = gptp.as_ref().and_then(|gptp| gptp.servo);
        let shaped = streams.list.iter().map(|draft| &draft.stream).filter(|stream| stream.shaper.is_some());
        let payload_min = shaped.map(|stream| stream.payload_min).min().unwrap_or_default();
        let covering = covering::Covering {
            topology: &topology,
            models: &models,
            faster_ppb: servo.map_or(0, |servo| u64::from(servo.rate_max_ppb)),
            changes: !events.is_empty() || gptp.is_some(),
            payload_min,
            tick_max: None,
        };
        covering.choose(&mut streams, faults);
        assigned = ats::assign(&covering, &mut streams, faults);
        check::loads::check(&covering, &streams, faults);
        check::loads::control_frames_fit(input, &topology, &streams, faults);
        host_stacks::resolve::check_buffers(&topology, &models, &streams, faults);
        virtual_link::resolve::check_routed(&topology, &models, &streams, faults);
        srp::avb_profile::check(input, &topology, &streams, reservation.as_ref(), gptp.as_ref(), faults);
        // Behind the check of loads: a bridge refuses what a class has no room for.
        reserved_classes = srp::resolve::reserved_class::resolve(
            input,
            &mut topology,
            &streams,
            reservation.as_ref(),
            faults,
        );
    }
    let time_triggered = time_triggered::resolve::settings(input, &topology, &streams, faults);
    let synchronisation = if !faults.forbids() {
        as6802::resolve::synchronisation(input, &topology, time_triggered.as_ref(), &mut streams, faults)
    } else {
        None
    };
    let cycles = check::pace::Cycles {
        test: test.as_ref(),
        tdma: tdma.as_ref(),
        harts: harts.as_ref(),
        gptp: gptp.as_ref(),
        reservation: reservation.as_ref(),
        time_triggered: time_triggered.as_ref(),
    };
    check::pace::check(input, &topology, (&run, &events), &streams, &cycles, faults);
    let drafts = time_triggered::resolve::drafts(&topology, &models, &streams, faults);
    let name = root.get("name").and_then(Node::text).or(input.stem).unwrap_or("network").to_owned();
    let (devices, hosts) = models.finish();
    let mut network = Network {
        name,
        nodes: std::mem::take(&mut topology.nodes),
        ports: std::mem::take(&mut topology.ports),
        links: std::mem::take(&mut topology.links),
        vlans: vlans.finish(),
        streams: streams.finish(),
        devices,
        hosts,
        schedulers: assigned.schedulers,
        scheduler_groups: assigned.groups,
        events: events.into_iter().map(|event| event.timeline).collect(),
        run,
        test_bed: test,
        network_control,
        tdma,
        time_triggered,
        as6802: synchronisation,
        srp: reservation,
        reserved_classes,
        gptp,
        harts,
        sections,
    };
    if faults.errors() == 0 && network.costs_slots() {
        let derived = network.derived_lifetime();
        if let Some(tdma) = &mut network.tdma {
            tdma.lifetime = tdma.lifetime.or(derived);
        }
    }
    let allowed: Vec<&str> =
        input.root.get("allow").map_or(&[][..], Node::items).iter().filter_map(Node::text).collect();
    faults.allow(&allowed);
    if faults.errors() == 0 {
        as6802::resolve::resolve(&mut network, input, faults);
        time_triggered::resolve::resolve(&mut network, &drafts, faults);
        tdma::resolve::tell_beside(&network, input, faults);
    }
    Some(network)
}

fn run_settings(root: &Node<'_>, faults: &mut Faults) -> RunSettings {
    let default = RunSettings {
        duration: Duration::from_s(1),
        warm_up: Duration::ZERO,
        stop_after_frames: None,
        seed: 1,
    };
    let Some(node) = root.get("run") else { return default };
    let settings = RunSettings {
        duration: node.parsed("duration").unwrap_or(default.duration),
        warm_up: node.parsed("warm-up").unwrap_or(default.warm_up),
        stop_after_frames: node.parsed("stop-after-frames"),
        seed: node.parsed("seed").unwrap_or(default.seed),
    };
    if settings.warm_up >= settings.duration {
        let place = node.get("duration").or(node.get("warm-up")).map_or(node.anchor(), |node| node.place);
        let message =
            format!("a run of {} with a warm-up of {} observes nothing", settings.duration, settings.warm_up);
        faults.error(codes::RUN, place, message, "make `duration` longer than `warm-up`");
    }
    settings
}

/// Of protocols that the description does not have; those that it has are streams of their own. None unless stated.
/// A stated one that says nothing else: gPTP (802.1AS-2020: Sync and Follow_Up every 125 ms, Pdelay and Announce every
/// second), MRP (every 200 ms) and link layer discovery (every 30 s), one frame of each at once, with PDUs of the latter two up to
/// 300 octets; 9 824 bits of the wire at once and 100 kbit/s of them hold that.
fn network_control(root: &Node<'_>, faults: &mut Faults) -> Option<NetworkControl> {
    let node = root.get("network-control").filter(|node| node.text() != Some("none"))?;
    // Time-triggered frames have a class of their own above all others.
    let usual = if root.get("time-triggered").is_some() { 6 } else { 7 };
    let usual = Priority::new(usual).expect("below eight");
    let mut control = NetworkControl {
        priority: usual,
        arrival: ArrivalCurve { rate: BitRate::from_bps(100_000), burst: Bytes::new(1228).bits() },
        frame_max: Bytes::new(300),
    };
    control.priority = priority(node, "priority").unwrap_or(usual);
    control.arrival.rate = node.parsed("rate").unwrap_or(control.arrival.rate);
    control.arrival.burst = node.parsed("burst").unwrap_or(control.arrival.burst);
    control.frame_max = node.parsed("frame-max").unwrap_or(control.frame_max);
    let wire: Bits = (control.frame_max + Bytes::MEDIA_OVERHEAD).bits();
    if control.frame_max < FRAME_MIN || wire > control.arrival.burst {
        let place = node.get("frame-max").or(node.get("burst")).map_or(node.anchor(), |node| node.place);
        let message = format!(
            "a largest frame of {} ({wire} on the wire) with a burst of {}",
            control.frame_max, control.arrival.burst
        );
        let help = "make `frame-max` at least 64 B, and `burst` hold it with its 20 B of media overhead";
        faults.error(codes::ARRIVAL_CURVE, place, message, help);
    }
    Some(control)
}

/// The priority under `key`.
pub(crate) fn priority(node: &Node<'_>, key: &str) -> Option<Priority> {
    node.parsed::<u8>(key).and_then(Priority::new)
}

/// The value of the first layer that has `key`.
pub(crate) fn layered<'t, 'a>(layers: &[&'a Node<'t>], key: &str) -> Option<&'a Node<'t>> {
    layers.iter().find_map(|layer| layer.get(key))
}
