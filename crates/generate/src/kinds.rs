//! All kinds of networks that are drawn, by name: what mutations take parts from, and what results are compared over.

use crate::{
    Failures, Relation, TdmaFailure, random_admission, random_answers, random_as6802, random_avionics,
    random_clusters, random_gptp, random_halves, random_harts, random_harts_admission, random_host_stacks,
    random_network, random_reserved, random_resets, random_servo, random_slot_pairs, random_tdma,
    random_thirds, random_time_triggered, random_traffic, random_vlans,
};

/// A kind of network: its name, and what draws one by a seed.
pub type Kind = (&'static str, fn(u64) -> String);

/// All of them.
pub const KINDS: [Kind; 20] = [
    ("admission", random_admission),
    ("answers", random_answers),
    ("as6802", |seed| random_as6802(seed, Failures::None)),
    ("avionics", random_avionics),
    ("clusters", |seed| random_clusters(seed, Relation::Domains, false)),
    ("gptp", |seed| random_gptp(seed).0),
    ("halves", random_halves),
    ("harts", random_harts),
    ("harts-admission", random_harts_admission),
    ("host-stacks", random_host_stacks),
    ("network", random_network),
    ("reserved", random_reserved),
    ("resets", random_resets),
    ("servo", |seed| random_servo(seed, false)),
    ("slot-pairs", random_slot_pairs),
    ("tdma", |seed| random_tdma(seed, TdmaFailure::ALL[usize::try_from(seed % 14).expect("small")])),
    ("thirds", random_thirds),
    ("time-triggered", |seed| random_time_triggered(seed, false)),
    ("traffic", |seed| random_traffic(seed, &[])),
    ("vlans", random_vlans),
];
