//! Forms of other tools hold what the network has.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod capture;
mod common;
mod gptp;
mod inet;
mod inet_traffic;
mod linuxptp;
mod lldp;
mod saihu;
mod tc;
#[cfg(target_os = "linux")]
mod tc_accepts;
mod topologies;
mod tsnkit;
mod uni;
mod yang;
mod yang_accepted;
mod yang_base;
mod yang_holds;
