//! All kinds of networks that are drawn, by name: what mutations take parts from, and what results are compared over.

use crate::{
    As6802Failures, ClusterRelation, TdmaFailure, random_admission, random_as6802, random_as6802_clusters,
    random_as6802_halves, random_as6802_thirds, random_cycles, random_gates, random_gptp, random_gptp_servo,
    random_harts, random_harts_admission, random_host_stacks, random_network, random_policed_replication,
    random_preemption, random_replication, random_responses, random_scheduled, random_stream_filters,
    random_stream_reservation, random_tdma, random_tdma_slot_pairs, random_time_aware, random_time_triggered,
    random_time_triggered_resets, random_traffic, random_verification, random_virtual_links,
    random_vlan_registration,
};

/// A kind of network: its name, and what draws one by a seed.
pub type Kind = (&'static str, fn(u64) -> String);

/// All of them.
pub const KINDS: [Kind; 29] = [
    ("admission", random_admission),
    ("answers", random_responses),
    ("as6802", |seed| random_as6802(seed, As6802Failures::None)),
    ("avionics", random_virtual_links),
    ("clusters", |seed| random_as6802_clusters(seed, ClusterRelation::Domains, false)),
    ("gptp", |seed| random_gptp(seed).0),
    ("halves", random_as6802_halves),
    ("harts", random_harts),
    ("harts-admission", random_harts_admission),
    ("host-stacks", random_host_stacks),
    ("network", random_network),
    ("reserved", random_stream_reservation),
    ("resets", random_time_triggered_resets),
    ("servo", |seed| random_gptp_servo(seed, false)),
    ("slot-pairs", random_tdma_slot_pairs),
    ("tdma", |seed| random_tdma(seed, TdmaFailure::ALL[usize::try_from(seed % 14).expect("small")])),
    ("thirds", random_as6802_thirds),
    ("time-triggered", |seed| random_time_triggered(seed, false)),
    ("traffic", |seed| random_traffic(seed, &[])),
    ("vlans", random_vlan_registration),
    ("gates", random_gates),
    ("scheduled", random_scheduled),
    ("time-aware", random_time_aware),
    ("preemption", random_preemption),
    ("verification", random_verification),
    ("stream-filters", random_stream_filters),
    ("cycles", random_cycles),
    ("replication", random_replication),
    ("policed-replication", random_policed_replication),
];
