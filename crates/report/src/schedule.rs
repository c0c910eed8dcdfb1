//! The timetable of a network for the report: slots of a TDMA cycle, of time-triggered virtual links, or the windows of HaRTES.
//!
//! A slot is given once, with its period: whoever draws it repeats it. The slots of each mechanism are in its folder
//! (`tdma/schedule.rs`, `harts/schedule.rs`, `time_triggered.rs`). Not here: what happened in a run.

use serde::{Deserialize, Serialize};
use tautwire_model::network::Network;
use tautwire_units::Duration;

use crate::{harts, tdma, time_triggered};

/// Longest cycle that is drawn; beyond it the beginning is.
const CYCLE_MAX: Duration = Duration::from_s(10);

/// The transmission windows of nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduleDocument {
    /// `tdma`, `time-triggered` or `harts`.
    pub kind: String,
    /// After which all repeats.
    pub cycle_ps: u64,
    /// Shortest cycle within it: the basic cycle of TDMA, the raster's, or the shortest period.
    pub basic_cycle_ps: u64,
    /// Per station of TDMA, per port that time-triggered frames leave from (or control frames of its own node), or per port
    /// at a cable of a HaRTES switch.
    pub rows: Vec<ScheduleRow>,
}

/// The slots of one station or port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduleRow {
    /// Station, or `node.port`.
    pub name: String,
    /// Its slots, in order of offset.
    pub slots: Vec<ScheduleSlot>,
}

/// A slot and its repetitions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduleSlot {
    /// Stream, or what it carries.
    pub label: String,
    /// `synchronisation`, `standby`, `real-time`, `ordinary` or `time-triggered`; of an elementary cycle its windows: `trigger`,
    /// `turn-around`, `synchronous`, `asynchronous` or `guard`.
    pub kind: String,
    /// Of the first one, within its period.
    pub offset_ps: u64,
    /// How long the line is taken at most, or the slot is.
    pub length_ps: u64,
    /// Distance of two of them.
    pub period_ps: u64,
}

impl ScheduleDocument {
    /// The timetable of a network; none if it has none.
    #[must_use]
    pub fn new(network: &Network) -> Option<Self> {
        tdma::schedule::document(network)
            .or_else(|| time_triggered::document(network))
            .or_else(|| harts::schedule::document(network))
    }
}

/// A timetable with the slots of every row in order, and its cycles as far as they are drawn.
pub(crate) fn document(
    kind: &str,
    cycle: Duration,
    basic: Duration,
    mut rows: Vec<ScheduleRow>,
) -> ScheduleDocument {
    for row in &mut rows {
        row.slots.sort_by(|a, b| (a.offset_ps, &a.label).cmp(&(b.offset_ps, &b.label)));
    }
    ScheduleDocument {
        kind: kind.to_owned(),
        cycle_ps: cycle.min(CYCLE_MAX).as_ps(),
        basic_cycle_ps: basic.min(CYCLE_MAX).as_ps(),
        rows,
    }
}

/// The least common multiple, or more than is drawn.
pub(crate) fn common(a: Duration, b: Duration) -> Duration {
    let (mut x, mut y) = (a.as_ps(), b.as_ps());
    while y != 0 {
        (x, y) = (y, x % y);
    }
    let multiple = (a.as_ps() / x.max(1)).checked_mul(b.as_ps());
    multiple.map_or(Duration::MAX, Duration::from_ps)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(scenario: &str) -> Option<ScheduleDocument> {
        let folder = std::path::Path::new("../../scenarios");
        let loaded = tautwire_model::load(&folder.join(scenario)).expect("a scenario");
        ScheduleDocument::new(&loaded.network.expect("no errors"))
    }

    #[test]
    fn the_slots_of_a_tdma_cycle_are_listed_by_owner() {
        let schedule = of("tdma.yaml").expect("slots");
        assert_eq!((schedule.cycle_ps, schedule.basic_cycle_ps), (2_000_000_000, 1_000_000_000));
        let names: Vec<&str> = schedule.rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["master", "standby", "slave-a", "slave-c"]);
        let kinds = |row: usize| schedule.rows[row].slots.iter().map(|slot| slot.kind.as_str());
        assert_eq!(kinds(0).collect::<Vec<_>>(), ["synchronisation", "real-time"]);
        assert_eq!(kinds(1).collect::<Vec<_>>(), ["standby", "real-time"]);
        let log = &schedule.rows[3].slots[0];
        assert_eq!(log.kind, "ordinary");
        assert_eq!(
            (log.offset_ps, log.length_ps, log.period_ps),
            (1_500_000_000, 200_000_000, 2_000_000_000)
        );
    }

    #[test]
    fn without_offsets_there_is_nothing_to_draw() {
        assert_eq!(of("to-be-scheduled.yaml"), None);
        assert_eq!(of("in-vehicle.yaml"), None);
    }

    #[test]
    fn links_of_several_clusters_and_control_frames_are_listed_by_port() {
        let schedule = of("as6802-clusters.yaml").expect("links with points");
        assert_eq!((schedule.cycle_ps, schedule.basic_cycle_ps), (4_000_000_000, 2_000_000_000));
        let slots = |row: &str| {
            let row = schedule.rows.iter().find(|one| one.name.starts_with(row)).expect("a row");
            row.slots.iter().map(|slot| (slot.label.as_str(), slot.kind.as_str())).collect::<Vec<_>>()
        };
        let engine = [
            ("pcf:engine (cluster tractor)", "synchronisation"),
            ("torque (cluster tractor)", "time-triggered"),
        ];
        assert_eq!(slots("engine."), engine);
        assert_eq!(slots("camera-1."), [("pcf:camera-1 (cluster cameras)", "synchronisation")]);
        let compressed = schedule.rows.iter().find(|row| row.name.starts_with("trailer-switch."));
        let frame = compressed.and_then(|row| row.slots.iter().find(|slot| slot.kind == "synchronisation"));
        // The greatest transmission delay, and one window of the precision.
        assert_eq!(frame.map(|slot| (slot.offset_ps, slot.period_ps)), Some((602_000_000, 4_000_000_000)));
    }

    #[test]
    fn slots_of_time_triggered_links_are_listed_by_port() {
        let text = "nodes: {a: {type: end-station}, b: {type: end-station}, s: {type: bridge}}
network-control: none
vlans:
  1:
    tagged: all
links: [{between: [a, s], rate: 100 Mbit/s}, {between: [s, b], rate: 100 Mbit/s}]
time-triggered: {precision: 1 us}
streams:
  - {name: x, talker: a, listeners: b, payload: 100 B, traffic: {type: periodic, interval: 2 ms},
     time-triggered: {period: 2 ms, offset: 1900 us, points: [{at: s, offset: 2050 us}]}}
";
        let network = tautwire_model::load_text("x", text).network.expect("no errors");
        let schedule = ScheduleDocument::new(&network).expect("a link with points");
        let slots: Vec<(&str, u64)> =
            schedule.rows.iter().map(|row| (row.name.as_str(), row.slots[0].offset_ps)).collect();
        assert_eq!(slots, [("a.p1", 1_900_000_000), ("s.p2", 50_000_000)]);
        // 118 octets, preamble and gap, and a microsecond for the precision at the least.
        assert!(schedule.rows[0].slots[0].length_ps >= 138 * 80_000 + 1_000_000);
    }
}
