//! Forms of other tools hold what the network has.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod common;
mod inet;
mod linuxptp;
mod lldp;
mod saihu;
mod tc;
#[cfg(target_os = "linux")]
mod tc_accepts;
mod topologies;
mod tsnkit;
mod yang;
mod yang_base;
