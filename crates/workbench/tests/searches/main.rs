//! Searches for what contradicts a bound or a promise: random networks of every kind, scenarios, values at their limits; and that
//! the searches find the faults that are planted in machines and bounds.
//!
//! `TAUTWIRE_CASES` sets how many networks a search draws, `TAUTWIRE_TIMES` multiplies its own number, `TAUTWIRE_SEED` draws one. One
//! target for all: a core that one search leaves goes to the next.

#[path = "../common/mod.rs"]
mod common;

mod admission_bounds;
mod adversary_holds;
mod answers_hold;
mod as6802_cliques;
mod as6802_clusters;
mod as6802_halves;
mod as6802_hold;
mod as6802_integrity;
mod as6802_thirds;
mod bounds_hold;
mod bounds_hold_varied;
mod classes_of_links_hold;
mod corrected_clocks_hold;
mod cycles_hold;
mod every_scenario;
mod extreme_values;
mod filters_hold;
mod gate_bounds_hold;
mod gate_schedules_hold;
mod gates_hold;
mod harts_admission_holds;
mod harts_holds;
mod held;
mod host_stacks_hold;
mod instants_hold;
mod losses_hold;
mod machines_keep_their_contract;
mod mechanisms_hold;
mod no_bound_is_said;
mod one_port_reached;
mod paths_hold;
mod planted_faults;
mod preemption_hold;
mod protocols_hold;
mod replication_holds;
mod reservation_holds;
mod reserved_ats;
mod reserved_shaping_holds;
mod runs_by_ports_hold;
mod second_copies;
mod slot_plans_hold;
mod tdma_holds;
mod tdma_takeover;
mod time_triggered_hold;
mod time_triggered_redundancy;
mod traffic_holds;
mod tuned_hold;
mod virtual_links_hold;
mod vlan_registration_holds;
