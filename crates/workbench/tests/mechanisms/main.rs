//! Single mechanisms in descriptions of their own, and their results.

#[path = "../common/mod.rs"]
mod common;

mod avb_profile;
mod avb_profile_seven_links;
mod central;
mod elementary_cycles;
mod explained;
mod harts_admission;
mod harts_consumers;
mod harts_derived;
mod harts_links;
mod harts_multi_switch;
mod harts_synchronous_admission;
mod scenarios;
mod scheduled_runs;
mod schedules;
mod start_up;
mod story;
mod tdma_cycles;
mod test_bed;
