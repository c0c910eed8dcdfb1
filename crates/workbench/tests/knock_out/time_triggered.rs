//! Time-triggered virtual links: points, integration, release by network time.

use super::{hold, two_talkers};

/// An order every two milliseconds of network time, a log that drifts past it on the same line.
fn order() -> String {
    two_talkers(
        "learning: {}",
        "payload: 100 B, deadline: 60 us, traffic: {type: periodic, interval: 2 ms, offset: 102 us}, \
         time-triggered: {id: 1, period: 2 ms, offset: 105 us, release: locked}",
        "priority: 1, tagged: false, payload: 1500 B, traffic: {type: periodic, interval: 190 us}",
    )
    .replace(
        "network-control: none\n",
        "network-control: none\ntime-triggered: {precision: 1 us, integration-cycle: 2 ms, integration: timely-block}\n",
    )
    .replace("{rate: 100", "{clock: {tolerance: 50 ppm, drift: -50 ppm}, rate: 100")
}

#[test]
fn the_guard_before_a_slot() {
    hold(&order(), "integration: timely-block", "integration: shuffling");
}

#[test]
fn the_cut_of_the_frame_under_way() {
    let text = order().replace("timely-block", "preemption");
    hold(&text, "integration: preemption", "integration: shuffling");
}

#[test]
fn release_by_network_time() {
    // A slow clock comes too late for its point in the end, and waits for the next.
    hold(&order(), "release: locked", "release: free");
}

#[test]
fn the_schedule_itself() {
    let text = order();
    let plain = "time-triggered: {id: 1, period: 2 ms, offset: 105 us, release: locked}";
    hold(&text, plain, "priority: 7, tagged: false");
}
