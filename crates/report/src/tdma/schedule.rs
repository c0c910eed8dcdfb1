//! The slots of a TDMA cycle in the timetable, a row for each station.

use tautwire_core::tdma::Carries;
use tautwire_model::network::{Network, StreamIndex, frame_length};
use tautwire_units::{Bytes, Duration};

use crate::name;
use crate::schedule::{self, ScheduleDocument, ScheduleRow, ScheduleSlot};

/// The timetable of a network with TDMA; none without.
pub(crate) fn document(network: &Network) -> Option<ScheduleDocument> {
    let tdma = network.tdma.as_ref()?;
    let cycle = tdma.cycle;
    let mut rows: Vec<ScheduleRow> = Vec::new();
    let mut place = |owner: &str, slot: ScheduleSlot| {
        match rows.iter_mut().find(|row| row.name == owner) {
            Some(row) => row.slots.push(slot),
            None => rows.push(ScheduleRow { name: owner.to_owned(), slots: vec![slot] }),
        };
    };
    let opening = |kind: &str, stream: StreamIndex, offset: Duration| {
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
        all = schedule::common(all, period);
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
    Some(schedule::document("tdma", all, cycle, rows))
}
