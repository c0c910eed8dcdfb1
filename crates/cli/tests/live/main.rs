//! Networks, bridges and stations on interfaces of this machine, in namespaces of the tests' own.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod agents;
mod bridge;
mod channel;
#[path = "../common/mod.rs"]
mod common;
mod control;
mod gptp;
mod processes;
mod runs;
mod watched;
