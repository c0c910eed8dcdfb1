//! IEEE Std 802.1BA: audio video bridging systems.
//!
//! The standard selects from 802.1Q (forwarding and queuing for time-sensitive streams, stream reservation) and 802.1AS. What its
//! conformance tables add to that is in no public text. The latencies of its classes are targets, not guarantees: the rules hold the
//! proven bounds against them.

use tautwire_units::{BitRate, Duration};

use super::requirement::Requirement::{self, Unknown};
use super::requirement::SrClass::{A, B};
use super::{Profile, Rule, Source, SourceKind};

const fn standard(id: &'static str, says: &'static str, text: &'static str, requires: Requirement) -> Rule {
    Rule { id, says, source: Source { kind: SourceKind::Standard, text }, requires }
}

pub(super) static PROFILE: Profile = Profile {
    name: "802.1BA",
    about: "audio video bridging systems (IEEE Std 802.1BA-2011 and -2021)",
    rules: &[
        standard(
            "802.1BA::link",
            "every link is full duplex and has at least 100 Mbit/s",
            "IEEE Std 802.1BA-2011, whose latencies are for seven links of 100 Mbit/s",
            Requirement::LinkRate { min: BitRate::from_mbps(100), max: None },
        ),
        standard(
            "802.1BA::class-priority",
            "SR class A has priority 3, SR class B priority 2",
            "IEEE Std 802.1Q-2022, Table 6-5 and 34.5",
            Requirement::ClassPriorities(&[(A, 3), (B, 2)]),
        ),
        standard(
            "802.1BA::credit-based",
            "bridges shape every SR class by the credit-based shaper on all ports",
            "IEEE Std 802.1Qav-2009, 5.4.1.5 b); IEEE Std 802.1Q-2022, 8.6.8.2",
            Requirement::CreditBased,
        ),
        standard(
            "802.1BA::measurement-interval",
            "SR class A is measured in 125 us, SR class B in 250 us",
            "IEEE Std 802.1Q-2022, clause 34",
            Requirement::MeasurementIntervals(&[(A, Duration::from_us(125)), (B, Duration::from_us(250))]),
        ),
        standard(
            "802.1BA::reserved-share",
            "SR classes have at most 75 % of a port's rate together",
            "IEEE Std 802.1Q-2022, 34.3.1 (deltaBandwidth); repeated by AMD PG051",
            Requirement::ReservedShare(75),
        ),
        standard(
            "802.1BA::reserved-alone",
            "only reserved streams use the priorities of SR classes; frames of others get priority 0 at the boundary of the domain",
            "IEEE Std 802.1Q-2022, 6.9.4 and Table 6-5",
            Requirement::ReservedAlone,
        ),
        standard(
            "802.1BA::path-links",
            "the path of a stream of an SR class has at most seven links",
            "IEEE Std 802.1BA-2011; repeated by Texas Instruments SPRUIE9D",
            Requirement::PathLinks(7),
        ),
        standard(
            "802.1BA::latency-a",
            "a frame of SR class A arrives within 2 ms",
            "IEEE Std 802.1BA-2011; repeated by Texas Instruments SPRUIE9D",
            Requirement::Latency(A, Duration::from_ms(2)),
        ),
        standard(
            "802.1BA::latency-b",
            "a frame of SR class B arrives within 50 ms",
            "IEEE Std 802.1BA-2011; tutorials repeat it, and some have 20 ms",
            Requirement::Latency(B, Duration::from_ms(50)),
        ),
        standard(
            "802.1BA::gptp",
            "all nodes are time-aware systems of gPTP",
            "IEEE Std 802.1BA-2011, 1.3 b); IEEE Std 802.1AS-2011",
            Requirement::Gptp,
        ),
        standard(
            "802.1BA::gptp-domain",
            "both ends of every link are in one gPTP domain",
            "IEEE Std 802.1AS-2011, 10.2.4.1 (asCapable)",
            Requirement::OneDomain,
        ),
        standard(
            "802.1BA::link-delay",
            "the mean propagation delay of a link is at most 800 ns, so that its ports are asCapable",
            "IEEE Std 802.1AS-2011, clause 11 (neighborPropDelayThresh, copper); gPTP.cfg of linuxptp",
            Requirement::LinkDelay(Duration::from_ns(800)),
        ),
        standard(
            "802.1BA::residence-time",
            "the residence time of a bridge is at most 10 ms",
            "IEEE Std 802.1AS-2011, B.2.2",
            Requirement::ResidenceTime(Duration::from_ms(10)),
        ),
        standard(
            "802.1BA::turnaround-time",
            "a node answers a peer delay request within 10 ms",
            "IEEE Std 802.1AS-2011, B.2.3",
            Requirement::TurnaroundTime(Duration::from_ms(10)),
        ),
        standard(
            "802.1BA::clock-tolerance",
            "the rate of a clock deviates by at most 100 ppm",
            "IEEE Std 802.1AS-2011, B.1.1",
            Requirement::ClockTolerance(100_000),
        ),
        standard(
            "802.1BA::stamp-step",
            "time stamps have steps of at most 40 ns",
            "IEEE Std 802.1AS-2011, B.1.2",
            Requirement::StampStep(Duration::from_ns(40)),
        ),
        standard(
            "802.1BA::synchronised-links",
            "two nodes are at most seven links apart, for which 1 us of precision is specified",
            "IEEE Std 802.1AS-2011, B.3",
            Requirement::SynchronisedLinks(7),
        ),
        standard(
            "802.1BA::conformance-tables",
            "conformance requirements of AVB bridges, talkers and listeners beyond 802.1Q and 802.1AS",
            "IEEE Std 802.1BA-2021, clause 7 and the conformance statement",
            Unknown("not in a public text"),
        ),
        standard(
            "802.1BA::other-media",
            "profiles of other media than full-duplex Ethernet: 802.11, MoCA, G.hn, Ethernet PON",
            "IEEE Std 802.1BA-2011, clause 7",
            Unknown("not in a public text, and a description has full-duplex Ethernet alone"),
        ),
        standard(
            "802.1BA::energy-and-pause",
            "how far Energy-Efficient Ethernet and PAUSE frames may delay streams",
            "IEEE Std 802.1BA-2011",
            Unknown("not in a public text, and a description has neither"),
        ),
    ],
};
