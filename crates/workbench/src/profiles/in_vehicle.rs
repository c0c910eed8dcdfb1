//! IEEE Std 802.1DG-2025: automotive in-vehicle Ethernet communications.
//!
//! Its public texts are the scope and the announcement of the standard. They say for what networks it is, and name the fields in which
//! it selects features; they state no values.

use super::requirement::Requirement::{self, Unknown};
use super::{Profile, Rule, Source, SourceKind};

const fn scope(id: &'static str, says: &'static str, requires: Requirement) -> Rule {
    let text = "IEEE 802.1, announcement of IEEE Std 802.1DG-2025 (1.ieee802.org)";
    Rule { id, says, source: Source { kind: SourceKind::Contribution, text }, requires }
}

const fn unknown(id: &'static str, says: &'static str) -> Rule {
    let source = Source { kind: SourceKind::Standard, text: "IEEE Std 802.1DG-2025" };
    Rule { id, says, source, requires: Unknown("not in a public text") }
}

pub(super) static PROFILE: Profile = Profile {
    name: "802.1DG",
    about: "automotive in-vehicle Ethernet communications (IEEE Std 802.1DG-2025)",
    rules: &[
        scope("802.1DG::bridged", "the network is a bridged IEEE 802.3 network", Requirement::Bridged),
        scope(
            "802.1DG::bounded-latency",
            "the latency of every stream with a deadline is bounded",
            Requirement::Bounded,
        ),
        unknown("802.1DG::synchronisation", "features, domains and accuracy of gPTP, and their start-up"),
        unknown(
            "802.1DG::selection",
            "which transmission selection algorithms a bridge and an end station have",
        ),
        unknown(
            "802.1DG::scheduled-traffic",
            "whether gates and frame preemption are required, and their limits",
        ),
        unknown("802.1DG::policing", "stream filters, gates and meters that a bridge has"),
        unknown("802.1DG::redundancy", "use of frame replication and elimination"),
        unknown("802.1DG::classes", "number of traffic classes, and the priorities of kinds of traffic"),
        unknown("802.1DG::parameters", "recommended values of optional parameters"),
        unknown("802.1DG::management", "configuration, monitoring, start-up and security"),
    ],
};
