//! IEC/IEEE 60802: industrial automation.
//!
//! Public are the contents of its committee drafts of 2023, contributions to its time synchronisation, and the specifications OPC
//! 10000-82 and 10000-84 (UAFX), which select for industrial automation from the same standards and state quantities. A rule
//! whose source is of these is marked so; what the drafts themselves require of the classes ccA and ccB is unknown.

use tautwire_units::BitRate;

use super::requirement::Requirement::{self, Unknown};
use super::{Profile, Rule, Source, SourceKind};

const fn companion(id: &'static str, says: &'static str, text: &'static str, requires: Requirement) -> Rule {
    Rule { id, says, source: Source { kind: SourceKind::Companion, text }, requires }
}

const fn unknown(id: &'static str, says: &'static str, text: &'static str) -> Rule {
    let source = Source { kind: SourceKind::Draft, text };
    Rule { id, says, source, requires: Unknown("of the draft only the contents are public") }
}

pub(super) static PROFILE: Profile = Profile {
    name: "60802",
    about: "industrial automation (IEC/IEEE 60802, with OPC UA FX)",
    rules: &[
        companion(
            "60802::link",
            "every link has 10 Mbit/s to 10 Gbit/s, full duplex",
            "OPC 10000-82 (UAFX networking), 6.2.1",
            Requirement::LinkRate { min: BitRate::from_mbps(10), max: Some(BitRate::from_gbps(10)) },
        ),
        companion(
            "60802::queues",
            "every port of a bridge has at least four queues",
            "OPC 10000-84, 6.6.3.2 (base bridge component: Queue 4)",
            Requirement::TrafficClasses(4),
        ),
        companion(
            "60802::queues-preemption",
            "every port of a bridge that preempts has eight queues",
            "OPC 10000-84, 6.6.3.3 (advanced bridge component: Queue 8)",
            Requirement::TrafficClassesWithPreemption(8),
        ),
        companion(
            "60802::fragments",
            "a port that preempts sends fragments of 64 octets",
            "OPC 10000-84, 5.3.3 and 6.6.3.3 (minimum non-final fragment size 64)",
            Requirement::FragmentOctets(64),
        ),
        companion(
            "60802::control-list",
            "a port has room for 16 gate control entries up to 100 Mbit/s, and for 64 from 1 Gbit/s on",
            "OPC 10000-84, 5.3.3 (scheduled traffic GCL 16/64)",
            Requirement::ControlListRoom { slow: 16, fast: 64 },
        ),
        companion(
            "60802::working-clock",
            "gates follow a synchronised working clock",
            "OPC 10000-82, 6.2.2 (note on enhancements for scheduled traffic)",
            Requirement::GatesSynchronised,
        ),
        companion(
            "60802::vlans",
            "streams use at most the eight VLANs that every bridge has room for",
            "OPC 10000-84, 6.6.3.2 (base bridge component: C-VLAN 8)",
            Requirement::Vlans(8),
        ),
        companion(
            "60802::topology-discovery",
            "every node discovers its neighbours by LLDP",
            "OPC 10000-82, 6.4.2 and 7.3 (topology discovery)",
            Requirement::Section("lldp", "topology discovery"),
        ),
        Rule {
            id: "60802::synchronised-links",
            says: "two nodes are at most 100 links apart, for which 1 us of the working clock is aimed at",
            source: Source {
                kind: SourceKind::Contribution,
                text: "McCall et al., contributions to IEC/IEEE 60802 on time synchronisation (2021, 2022)",
            },
            requires: Requirement::SynchronisedLinks(100),
        },
        unknown(
            "60802::classes-a-and-b",
            "features and quantities of conformance classes ccA and ccB",
            "IEC/IEEE 60802, committee draft 5 (2023)",
        ),
        unknown(
            "60802::traffic-types",
            "traffic classes of isochronous, cyclic, alarm, configuration, network control and best-effort traffic",
            "IEC/IEEE 60802, committee draft 5 (2023), 4.7.4.9",
        ),
        unknown(
            "60802::clock-errors",
            "errors of oscillators, stamps, residence and relayed time that a station may have",
            "IEC/IEEE 60802, committee draft 5 (2023)",
        ),
        unknown(
            "60802::bridge-delay",
            "delay of a bridge, and buffers of a port",
            "OPC 10000-84, 5.3.3 (Interference 500/200), and IEC/IEEE 60802",
        ),
        unknown(
            "60802::management",
            "YANG modules, engineering and security",
            "IEC/IEEE 60802, committee draft 5 (2023), 4.8",
        ),
    ],
};
