//! Octets of frames: read, written, mutated, and decoded by others.

mod as6802_decoded;
mod common;
mod gptp;
mod mutations;
mod srp;
mod tdma_decoded;
