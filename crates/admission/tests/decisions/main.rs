//! Decisions about requests, held against bounds and runs.

mod bandwidth_of_bridges;
mod come_and_go;
mod common;
mod equation_3;
mod random;
mod requests;
mod scenarios;
