//! The timetable of a network for the report: slots of a TDMA cycle, of time-triggered virtual links, or the windows of HaRTES.
//!
//! A slot is given once, with its period: whoever draws it repeats it. Not here: what happened in a run.

use serde::{Deserialize, Serialize};
use tautwire_core::tdma::Carries;
use tautwire_model::as6802::SyncRole;
use tautwire_model::harts::Harts;
use tautwire_model::network::{Network, NodeIndex, NodeKind, PortIndex, frame_length};
use tautwire_model::time_triggered::Timing;
use tautwire_units::{Bytes, Duration};

use crate::name;

/// Longest cycle that is drawn; beyond it the beginning is.
const CYCLE_MAX: Duration = Duration::from_s(10);

/// When who may send.
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
        tdma(network).or_else(|| time_triggered(network)).or_else(|| elementary(network))
    }
}

fn tdma(network: &Network) -> Option<ScheduleDocument> {
    let tdma = network.tdma.as_ref()?;
    let cycle = tdma.cycle;
    let mut rows: Vec<ScheduleRow> = Vec::new();
    let mut place = |owner: &str, slot: ScheduleSlot| {
        match rows.iter_mut().find(|row| row.name == owner) {
            Some(row) => row.slots.push(slot),
            None => rows.push(ScheduleRow { name: owner.to_owned(), slots: vec![slot] }),
        };
    };
    let opening = |kind: &str, stream: tautwire_model::network::StreamIndex, offset: Duration| {
        let stream = &network.streams[stream.index()];
        let octets = frame_length(stream.payload_max, stream.tagged) + Bytes::new(8);
        let links = stream.hops.first().and_then(|hop| network.ports[hop.port.index()].links);
        let length = links.map(|links| network.links[links.egress.index()].rate.duration_ceil(octets.bits()));
        let slot = ScheduleSlot {
            label: stream.name.clone(),
            kind: kind.to_owned(),
            offset_ps: offset.as_ps(),
            length_ps: length.unwrap_or_default().as_ps(),
            period_ps: cycle.as_ps(),
        };
        (name::node(network, stream.talker).to_owned(), slot)
    };
    let (owner, slot) = opening("synchronisation", tdma.synchronisation, Duration::ZERO);
    place(&owner, slot);
    if let Some(standby) = tdma.standby {
        let (owner, slot) = opening("standby", standby.synchronisation, standby.offset);
        place(&owner, slot);
    }
    let mut all = cycle;
    for slot in &tdma.slots {
        let period = cycle * u64::from(slot.slot.period);
        all = common(all, period);
        let kind = match slot.slot.carries {
            Carries::Ordinary => "ordinary",
            Carries::RealTime | Carries::Both => "real-time",
        };
        let drawn = ScheduleSlot {
            label: kind.replace('-', " "),
            kind: kind.to_owned(),
            offset_ps: (cycle * u64::from(slot.slot.phase) + slot.slot.offset).as_ps() % period.as_ps(),
            length_ps: slot.length.as_ps(),
            period_ps: period.as_ps(),
        };
        place(name::node(network, slot.owner), drawn);
    }
    Some(document("tdma", all, cycle, rows))
}

/// The windows of an elementary cycle with their names, empty ones left out.
pub(crate) fn windows(harts: &Harts) -> Vec<(&'static str, Duration, Duration)> {
    let all = [
        ("trigger", Duration::ZERO, harts.trigger),
        ("turn-around", harts.trigger, harts.synchronous),
        ("synchronous", harts.synchronous, harts.open),
        ("asynchronous", harts.open, harts.close),
        ("guard", harts.close, harts.cycle),
    ];
    all.into_iter().filter(|(_, from, to)| from < to).collect()
}

/// The cycle of HaRTES at both ends of every cable of a switch: the windows are the switch's.
fn elementary(network: &Network) -> Option<ScheduleDocument> {
    let harts = network.harts.as_ref()?;
    let slot = |(window, from, to): (&str, Duration, Duration)| ScheduleSlot {
        label: window.replace('-', " "),
        kind: window.to_owned(),
        offset_ps: from.as_ps(),
        length_ps: (to - from).as_ps(),
        period_ps: harts.cycle.as_ps(),
    };
    let is_switch = |port: PortIndex| {
        let node = network.ports[port.index()].node;
        matches!(network.nodes[node.index()].kind, NodeKind::Bridge { .. })
    };
    let has_cycle = |port: &PortIndex| {
        let links = network.ports[port.index()].links;
        links.is_some_and(|links| is_switch(*port) || is_switch(network.links[links.egress.index()].to))
    };
    let ports = (0..network.ports.len()).map(PortIndex::at).filter(has_cycle);
    let row = |port: PortIndex| ScheduleRow {
        name: name::port(network, port),
        slots: windows(harts).into_iter().map(slot).collect(),
    };
    Some(document("harts", harts.cycle * tautwire_sim::CYCLES, harts.cycle, ports.map(row).collect()))
}

fn time_triggered(network: &Network) -> Option<ScheduleDocument> {
    let timing = Timing::new(network)?;
    let mut rows: Vec<ScheduleRow> = Vec::new();
    let (mut all, mut shortest) = (Duration::from_ps(1), Duration::MAX);
    for port in (0..network.ports.len()).map(PortIndex::at) {
        let mut slots = Vec::new();
        for (stream, hop) in network.time_triggered_links(port) {
            let Some(link) = &stream.time_triggered else { continue };
            let Some(point) = link.points.get(hop) else { continue };
            (all, shortest) = (common(all, link.period), shortest.min(link.period));
            slots.push(ScheduleSlot {
                label: in_cluster(network, network.ports[port.index()].node, &stream.name),
                kind: "time-triggered".to_owned(),
                offset_ps: (point.offset % link.period).as_ps(),
                length_ps: timing.slot_length(stream, hop).as_ps(),
                period_ps: link.period.as_ps(),
            });
        }
        if let Some(slot) = control_frames(network, port) {
            all = common(all, Duration::from_ps(slot.period_ps));
            slots.push(slot);
        }
        if !slots.is_empty() {
            let node = name::node(network, network.ports[port.index()].node);
            let name = format!("{node}.{}", network.ports[port.index()].name);
            rows.push(ScheduleRow { name, slots });
        }
    }
    if rows.is_empty() || shortest == Duration::MAX {
        return None;
    }
    let basic = network.time_triggered.and_then(|settings| settings.raster);
    let basic = basic.map_or(shortest, |raster| raster.cycle);
    Some(document("time-triggered", all, basic, rows))
}

/// What leaves a port whose node has the time of a cluster, if there are several.
fn in_cluster(network: &Network, node: NodeIndex, what: &str) -> String {
    match network.as6802.as_ref().filter(|made| made.clusters.len() > 1) {
        Some(made) => format!("{what} (cluster {})", made.cluster(node).name),
        None => what.to_owned(),
    }
}

/// When a master's own integration frame, or a compressed one, leaves by a port of its maker: at the start of the
/// integration cycle, or as long behind it as the way of the masters' frames and their compression take.
fn control_frames(network: &Network, port: PortIndex) -> Option<ScheduleSlot> {
    let (settings, made) = (network.time_triggered?, network.as6802.as_ref()?);
    let node = network.ports[port.index()].node;
    let stream = &network.streams[made.frames[node.index()]?.index()];
    stream.hops.iter().find(|hop| hop.port == port && hop.previous.is_none())?;
    let cluster = made.cluster(node);
    let offset = match made.roles[node.index()] {
        SyncRole::Master(_) => Duration::ZERO,
        _ => cluster.delay_max + cluster.compression_delay(settings.precision),
    };
    let links = network.ports[port.index()].links?;
    let octets = frame_length(stream.payload_max, false) + Bytes::new(8);
    Some(ScheduleSlot {
        label: in_cluster(network, node, &stream.name),
        kind: "synchronisation".to_owned(),
        offset_ps: (offset % settings.integration_cycle).as_ps(),
        length_ps: network.links[links.egress.index()].rate.duration_ceil(octets.bits()).as_ps(),
        period_ps: settings.integration_cycle.as_ps(),
    })
}

fn document(kind: &str, cycle: Duration, basic: Duration, mut rows: Vec<ScheduleRow>) -> ScheduleDocument {
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
fn common(a: Duration, b: Duration) -> Duration {
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
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
        let loaded = tautwire_model::load(&folder.join(scenario)).expect("a scenario");
        ScheduleDocument::new(&loaded.network.expect("no errors"))
    }

    #[test]
    fn the_slots_of_a_tdma_cycle_stand_by_owner() {
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
    fn links_of_several_clusters_and_control_frames_stand_by_port() {
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
    fn slots_of_time_triggered_links_stand_by_port() {
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
