//! Bounds by hand, by laws, by a second analysis, and in sessions.

mod by_hand;
mod gates;
mod properties;
mod session;
mod total_flow;
