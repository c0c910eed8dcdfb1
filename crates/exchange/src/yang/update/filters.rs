//! Stream filters, gates and meters: a table that differs is written anew.

use tautwire_model::network::StreamIndex;

use super::super::read::{Filter, Settings, Tables};
use super::{Edits, Sides};
use crate::{Converted, quoted};

/// Whose frames a filter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taken {
    All,
    Of(StreamIndex),
    /// Of a handle that no function identifies.
    Unknown(u64),
}

pub(super) fn change(sides: &Sides<'_>, edits: &mut Edits, converted: &mut Converted) {
    let (theirs, ours) = (&sides.theirs.filters, &sides.ours.filters);
    let table = |rows: &[(u64, Settings)]| -> String {
        let rows: Vec<String> =
            rows.iter().map(|(number, settings)| format!("{number}: {}", settings.text())).collect();
        format!("{{{}}}", rows.join(", "))
    };
    if theirs.gates != ours.gates {
        let text = table(&theirs.gates);
        let keys = ["nodes", sides.name, "stream-gates", "stream-gate-instance-table"];
        edits.set(&keys, &text, converted);
        edits.set_sdu(&keys[..3], converted);
    }
    for (key, value) in &theirs.limits.0 {
        if ours.limits.get(key) != Some(value) {
            edits.set(&["nodes", sides.name, "stream-gates", key], value, converted);
        }
    }
    if theirs.meters != ours.meters {
        let text = table(&theirs.meters);
        edits.set(&["nodes", sides.name, "flow-meters", "flow-meter-instance-table"], &text, converted);
    }
    filters(sides, theirs, ours, edits, converted);
}

fn filters(sides: &Sides<'_>, theirs: &Tables, ours: &Tables, edits: &mut Edits, converted: &mut Converted) {
    if let Some(most) = theirs.filters_max.filter(|most| ours.filters_max != Some(*most)) {
        let keys = ["nodes", sides.name, "stream-filters", "max-stream-filter-instances"];
        edits.set(&keys, &most.to_string(), converted);
    }
    let rows = |tables: &Tables, is_theirs: bool| -> Vec<(Taken, Settings)> {
        let streams = if is_theirs { &sides.their_streams } else { &sides.our_streams };
        let taken = |filter: &Filter| match filter.handle {
            None => Taken::All,
            Some(handle) => streams.get(&handle).map_or(Taken::Unknown(handle), |stream| Taken::Of(*stream)),
        };
        tables.filters.iter().map(|filter| (taken(filter), filter.settings.clone())).collect()
    };
    let (all, known) = (rows(theirs, true), rows(ours, false));
    if all == known {
        return;
    }
    for ((taken, _), filter) in all.iter().zip(&theirs.filters) {
        if let Taken::Unknown(handle) = taken {
            converted.lacks(format!(
                "{}: filter {} of handle {handle}, which no function identifies",
                filter.place, filter.number
            ));
        }
    }
    let mut lines = Vec::new();
    for ((taken, settings), filter) in all.iter().zip(&theirs.filters) {
        let mut own = Settings::default();
        match taken {
            Taken::All => {}
            Taken::Of(stream) => own.add("stream-handle", quoted(sides.stream(*stream))),
            Taken::Unknown(_) => continue,
        }
        own.0.extend(settings.0.iter().cloned());
        lines.push(format!("{}: {}", filter.number, own.text()));
    }
    let keys = ["nodes", sides.name, "stream-filters", "stream-filter-instance-table"];
    edits.set(&keys, &format!("{{{}}}", lines.join(", ")), converted);
    edits.set_sdu(&keys[..3], converted);
}
