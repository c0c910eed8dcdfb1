//! IEEE Std 802.1DP-2025, SAE AS6675: aerospace onboard Ethernet communications.
//!
//! Its public texts are the scope and announcement of the standard, and the contents of the collection of use cases and requirements
//! of March 2021. They name the fields of the requirements, and state no values.

use super::requirement::Requirement::{self, Unknown};
use super::{Profile, Rule, Source, SourceKind};

const fn scope(id: &'static str, says: &'static str, requires: Requirement) -> Rule {
    let text = "IEEE 802.1, announcement of IEEE Std 802.1DP-2025 / SAE AS6675 (1.ieee802.org)";
    Rule { id, says, source: Source { kind: SourceKind::Contribution, text }, requires }
}

const fn unknown(id: &'static str, says: &'static str, text: &'static str) -> Rule {
    let source = Source { kind: SourceKind::Contribution, text };
    Rule { id, says, source, requires: Unknown("its text is not public, only that there is one") }
}

pub(super) static PROFILE: Profile = Profile {
    name: "802.1DP",
    about: "aerospace onboard Ethernet communications (IEEE Std 802.1DP-2025, SAE AS6675)",
    rules: &[
        scope("802.1DP::bridged", "the network is a bridged IEEE 802.3 network", Requirement::Bridged),
        scope(
            "802.1DP::deterministic",
            "the network is deterministic: the latency of every stream with a deadline is bounded",
            Requirement::Bounded,
        ),
        unknown(
            "802.1DP::bridge",
            "general requirements on bridges",
            "Aerospace TSN use cases and requirements 0.6 (2021), 5.5",
        ),
        unknown(
            "802.1DP::operation",
            "modes of operation",
            "Aerospace TSN use cases and requirements 0.6 (2021), 5.2",
        ),
        unknown(
            "802.1DP::configuration",
            "configuration",
            "Aerospace TSN use cases and requirements 0.6 (2021), 5.3",
        ),
        unknown(
            "802.1DP::availability",
            "availability of the network, redundancy",
            "Aerospace TSN use cases and requirements 0.6 (2021), 5.4",
        ),
        unknown(
            "802.1DP::synchronisation",
            "time synchronisation",
            "Aerospace TSN use cases and requirements 0.6 (2021), 5.6",
        ),
        unknown(
            "802.1DP::shaping",
            "traffic shaping",
            "Aerospace TSN use cases and requirements 0.6 (2021), 5.7",
        ),
        unknown(
            "802.1DP::policing",
            "filtering and policing",
            "Aerospace TSN use cases and requirements 0.6 (2021), 5.8",
        ),
    ],
};
