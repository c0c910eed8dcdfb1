//! Time-triggered virtual links in the timetable, a row for each port that their frames leave from, with the protocol control
//! frames of AS6802.
//!
//! Not here: network time (`as6802.rs`).

use tautwire_model::as6802::SyncRole;
use tautwire_model::network::{Network, NodeIndex, PortIndex, frame_length};
use tautwire_model::time_triggered::Timing;
use tautwire_units::{Bytes, Duration};

use crate::name;
use crate::schedule::{self, ScheduleDocument, ScheduleRow, ScheduleSlot};

/// The timetable of a network with time-triggered links; none without.
pub(crate) fn document(network: &Network) -> Option<ScheduleDocument> {
    let timing = Timing::new(network)?;
    let mut rows: Vec<ScheduleRow> = Vec::new();
    let (mut all, mut shortest) = (Duration::from_ps(1), Duration::MAX);
    for port in (0..network.ports.len()).map(PortIndex::at) {
        let mut slots = Vec::new();
        for (stream, hop) in network.time_triggered_links(port) {
            let Some(link) = &stream.time_triggered else { continue };
            let Some(point) = link.points.get(hop) else { continue };
            (all, shortest) = (schedule::common(all, link.period), shortest.min(link.period));
            slots.push(ScheduleSlot {
                label: in_cluster(network, network.ports[port.index()].node, &stream.name),
                kind: "time-triggered".to_owned(),
                offset_ps: (point.offset % link.period).as_ps(),
                length_ps: timing.slot_length(stream, hop).as_ps(),
                period_ps: link.period.as_ps(),
            });
        }
        if let Some(slot) = control_frames(network, port) {
            all = schedule::common(all, Duration::from_ps(slot.period_ps));
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
    Some(schedule::document("time-triggered", all, basic, rows))
}

/// What leaves a port whose node has the time of a cluster, if there are several.
fn in_cluster(network: &Network, node: NodeIndex, what: &str) -> String {
    match network.as6802.as_ref().filter(|made| made.clusters.len() > 1) {
        Some(made) => format!("{what} (cluster {})", made.cluster(node).name),
        None => what.to_owned(),
    }
}

/// When a master's own integration frame, or a compressed one, leaves by a port of its maker: at the start of the
/// integration cycle, or later by the path of the masters' frames and their compression.
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
