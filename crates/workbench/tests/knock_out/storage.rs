//! What a port stores and what it turns away: limits of queues, the shared buffer, the largest frame.

use super::{hold_observed, two_talkers};

/// A burst of class 0 that fills what there is, and single frames of class 6.
fn crowded(bridge: &str) -> String {
    two_talkers(
        bridge,
        "priority: 6, payload: 1000 B, traffic: {type: periodic, interval: 1 ms, offset: 300 us}, deadline: 500 us",
        "priority: 0, payload: 1000 B, traffic: {type: periodic, interval: 20 ms, burst: 60}",
    )
    .replace("[two, bridge]", "[two, bridge], rate: 1 Gbit/s")
}

#[test]
fn cells_set_aside() {
    let text = crowded("shared-buffer: {cell: 128 B, cells: 104, reserved: {6: 8}}");
    hold_observed(&text, "reserved: {6: 8}", "reserved: {}");
}

#[test]
fn shared_cells() {
    // A reservation alone is too small; the shared cells take what comes at once.
    let text = crowded("shared-buffer: {cell: 128 B, cells: 96, reserved: {0: 8, 6: 8}}")
        .replace(
            "traffic: {type: periodic, interval: 1 ms, offset: 300 us}",
            "traffic: {type: periodic, interval: 10 ms, offset: 9 ms, burst: 10}",
        )
        .replace("deadline: 500 us", "deadline: 2 ms")
        .replace("[one, bridge]", "[one, bridge], rate: 1 Gbit/s");
    hold_observed(&text, "cells: 96", "cells: 16");
}

#[test]
fn limit_of_a_queue() {
    // The limit of class 0 leaves cells to the others.
    let text = crowded("shared-buffer: {cell: 128 B, cells: 104}, classes: {0: {queue-limit: {frames: 8}}}");
    hold_observed(&text, "queue-limit: {frames: 8}", "transmission-selection: strict-priority");
}

#[test]
fn largest_frame() {
    // A frame that is too large for the bridge's port is dropped there, and delays no other.
    let text = two_talkers(
        "mtu: 500 B",
        "priority: 6, payload: 64 B, traffic: {type: periodic, interval: 500 us, offset: 50 us}, deadline: 60 us",
        "priority: 0, payload: 1500 B, traffic: {type: periodic, interval: 5 ms, burst: 20}",
    )
    .replace("network-control", "allow: [\"stream::mtu\"]\nnetwork-control")
    .replace("[two, bridge]", "[two, bridge], rate: 1 Gbit/s");
    hold_observed(&text, "mtu: 500 B", "mtu: 1500 B");
}
