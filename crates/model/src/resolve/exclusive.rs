//! Classes of a port that one mechanism keeps for its own frames: no protocol of another may send in them.
//!
//! In: the keys of the description, and streams with their routes. The frames of every protocol between neighbours are
//! checked against these classes ([`Resolving::send_to_neighbour`](super::Resolving::send_to_neighbour)), so a
//! protocol needs to know none of these mechanisms.

use tautwire_core::TrafficClass;

use super::streams::Streams;
use super::topology::Topology;
use crate::parse::Draft;

/// Mechanisms whose ports send nothing of others.
const ALONE: [&str; 2] = ["tdma", "harts"];

/// The classes that a port keeps, and the mechanism that owns them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Exclusive {
    /// A bit for each class.
    classes: u8,
    /// The key of the mechanism.
    pub(crate) owner: &'static str,
}

impl Exclusive {
    /// Whether frames of others may take this class.
    pub(crate) const fn is_free(self, class: TrafficClass) -> bool {
        self.classes >> class.number() & 1 == 0
    }

    /// Whether frames of others may take any class.
    pub(crate) const fn has_free(self) -> bool {
        self.classes != u8::MAX
    }
}

/// The classes that each port keeps.
pub(crate) fn of_ports(
    input: &Draft<'_>,
    topology: &Topology<'_>,
    streams: &Streams<'_, '_>,
) -> Vec<Exclusive> {
    let alone = ALONE.into_iter().find(|key| input.root.get(key).is_some());
    let of_all = alone.map_or(Exclusive::default(), |owner| Exclusive { classes: u8::MAX, owner });
    let mut ports = vec![of_all; topology.ports.len()];
    let timed = streams.list.iter().map(|draft| &draft.stream).filter(|one| one.time_triggered.is_some());
    for hop in timed.flat_map(|stream| &stream.hops) {
        // Theirs is above those of all others.
        let port = &mut ports[hop.port.index()];
        *port = Exclusive { classes: port.classes | u8::MAX << hop.class.number(), owner: "time-triggered" };
    }
    ports
}
