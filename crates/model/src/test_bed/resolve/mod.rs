//! `test:`: the tasks of end systems, and the clocks by which they log.
//!
//! `tasks.rs` checks that a task fits its station and stream, and that tasks fit one another. Routes are found, so all
//! listeners of a broadcast are known.

mod tasks;

use tautwire_units::Duration;
use tautwire_wire::PayloadType;

use crate::network::{Delay, Distribution, PortIndex, RunSettings, Task, TaskKind, Test, TestClocks};
use crate::parse::Draft;
use crate::resolve::events::Event;
use crate::resolve::models::{delay, delay_max};
use crate::resolve::streams::Streams;
use crate::resolve::topology::Topology;
use crate::test_bed::codes;
use crate::text::faults::Faults;
use crate::text::scalar;
use crate::text::tree::Node;

/// A thousandth of a chance.
const THOUSANDTH: u64 = 1_000_000_000_000_000;

/// Reads `test:`; streams, routes and events are known.
pub(crate) fn test(
    input: &Draft<'_>,
    topology: &Topology<'_>,
    streams: &Streams<'_, '_>,
    events: &[Event],
    run: &RunSettings,
    faults: &mut Faults,
) -> Option<Test> {
    let node = input.root.get("test")?;
    let outliers_above: Option<Duration> = node.parsed("outliers-above");
    if outliers_above.is_some_and(Duration::is_zero) {
        let place = node.get("outliers-above").map_or(node.anchor(), |node| node.place);
        let message = "with a limit of 0 s every message is an outlier".to_owned();
        faults.error(codes::TEST_SETTINGS, place, message, "raise `outliers-above`, or leave it out");
    }
    let listed = node.get("tasks").map_or(&[][..], Node::items);
    let tasks = listed.iter().filter_map(|node| task(node, topology, streams, faults)).collect::<Vec<_>>();
    let clocks = node.get("clocks").map(|clocks| discipline(clocks, faults));
    let test = Test { tasks, outliers_above, clocks };
    for (place, task) in listed.iter().zip(&test.tasks).filter(|_| test.tasks.len() == listed.len()) {
        if let TaskKind::Capture { quantum, .. } = task.kind
            && quantum >= run.duration
        {
            let named = place.get("quantum").map_or(place.anchor(), |node| node.place);
            let message = format!("the run of {} is shorter than a stamp's step of {quantum}", run.duration);
            faults.error(codes::TASK, named, message, "lower `quantum`; a common tap has `quantum: 8 ns`");
        }
    }
    if test.tasks.len() == listed.len() {
        tasks::check_all(listed, &test, streams, faults);
        tasks::check_events(&test, streams, events, faults);
        if ["reservation", "harts"].iter().all(|key| input.root.get(key).is_none()) {
            tasks::check_started(listed, &test, streams, events, faults);
        }
    }
    Some(test)
}

/// How system clocks are disciplined: phc2sys as in the MAPS test bed by default.
fn discipline(node: &Node<'_>, faults: &mut Faults) -> TestClocks {
    let place = |key: &str| node.get(key).map_or(node.anchor(), Node::anchor);
    let mut share = |key: &str, otherwise: u16| {
        let chance = node.get(key).and_then(|node| scalar::chance(node.text()?).ok());
        let Some(chance) = chance else { return otherwise };
        if !chance.is_multiple_of(THOUSANDTH) {
            let message = format!("`{key}` is finer than the servo's steps of a thousandth");
            faults.error(codes::TEST_SETTINGS, place(key), message, "write at most three decimals");
        }
        u16::try_from(chance / THOUSANDTH).expect("at most a thousand")
    };
    let (proportional, integral) = (share("proportional", 350), share("integral", 150));
    let reading = Distribution::Uniform { min: Duration::from_us(4), max: Duration::from_us(5) };
    let clocks = TestClocks {
        tolerance_ppb: node
            .get("tolerance")
            .and_then(|node| scalar::deviation(node.text()?).ok())
            .unwrap_or(50_000),
        interval: node.parsed("interval").unwrap_or(Duration::from_s(1)),
        proportional,
        integral,
        readings: node.parsed("readings").unwrap_or(5),
        reading: match node.get("reading") {
            Some(node) => delay(node, faults),
            None => Delay { random: reading, ..Delay::default() },
        },
    };
    let reading = clocks.reading;
    let longest = reading.constant.saturating_add(delay_max(reading.random));
    let all = Duration::from_ps(longest.as_ps().saturating_mul(u64::from(clocks.readings)));
    if !reading.per_octet.is_zero() {
        let message = "the time of a reading cannot depend on octets: a reading has none".to_owned();
        faults.error(codes::TEST_SETTINGS, place("reading"), message, "remove `per-octet` and `less`");
    } else if all >= clocks.interval {
        let at = if node.get("interval").is_some() { "interval" } else { "reading" };
        let message = format!(
            "{} readings of up to {longest} take longer than the interval of {}",
            clocks.readings, clocks.interval
        );
        let help = "lengthen `interval` beyond the readings of a correction";
        faults.error(codes::TEST_SETTINGS, place(at), message, help);
    }
    // An interval of zero was reported before.
    let interval = if clocks.interval.is_zero() { Duration::from_s(1) } else { clocks.interval };
    TestClocks { interval, ..clocks }
}

fn task(
    node: &Node<'_>,
    topology: &Topology<'_>,
    streams: &Streams<'_, '_>,
    faults: &mut Faults,
) -> Option<Task> {
    let named = node.get("station")?;
    let (station, port) = topology.reference(named, faults)?;
    let mut stream = |key: &str| streams.find(node.get(key)?, faults);
    let kind = match node.get("type")?.text()? {
        "transmit" => TaskKind::Transmit {
            route: stream("route")?,
            payload_type: match node.get("payload-type").and_then(Node::text) {
                Some("random") => PayloadType::Random,
                _ => PayloadType::Sequential,
            },
        },
        "receive" => TaskKind::Receive { route: stream("route")? },
        "relay" => TaskKind::Relay { route: stream("route")?, by: stream("by")? },
        "inject" => TaskKind::Inject { route: stream("route")? },
        "corrupt" => TaskKind::Corrupt {
            route: stream("route")?,
            chance: node.get("chance").and_then(|node| scalar::chance(node.text()?).ok())?,
        },
        _ => TaskKind::Capture {
            port: port.unwrap_or(PortIndex(topology.nodes[station.index()].ports.start)),
            quantum: node.parsed("quantum").unwrap_or(Duration::ZERO),
        },
    };
    if topology.is_bridge(station) {
        let message = format!("`{}` is a bridge and cannot have tasks", topology.nodes[station.index()].name);
        faults.error(codes::NODE_TYPE, named.place, message, "name an end station");
        return None;
    }
    tasks::check(node, station, kind, streams, faults);
    Some(Task { station, kind })
}
