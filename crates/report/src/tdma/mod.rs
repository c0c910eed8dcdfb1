//! TDMA and its start-up in results.
//!
//! Cycles one by one (`cycles.rs`), sums over all cycles for each slot (`slots.rs`), start-up of the stations (`start_up.rs`),
//! takeover of the standby and what failures cost (`takeover.rs`), the slots in the timetable (`schedule.rs`).

pub mod cycles;
pub(crate) mod schedule;
pub mod slots;
pub mod start_up;
pub mod takeover;
