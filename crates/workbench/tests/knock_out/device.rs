//! What a device does between its ports: cut-through, order between ports, committed frames.

use super::{hold_observed, two_talkers};

#[test]
fn cut_through() {
    let text = include_str!("../../../../scenarios/cut-through.yaml");
    // Five links of 300 octets: a bridge that stores them holds each of the fast ones 2.6 us longer. The
    // bounds do not count on it, for behind another frame nothing is cut through.
    let text = text.replace("offset: 100 us}, deadline: 400 us", "offset: 100 us}, deadline: 36 us");
    let device = "devices: {mine: {based-on: cut-through, switching: cut-through}}\ndefaults:";
    let text = text.replace("defaults:", device).replace("device: cut-through}", "device: mine}");
    hold_observed(&text, "switching: cut-through", "switching: store-and-forward");
    // Of a credit-based class all may be cut through, or none.
    let classes =
        "device: mine, classes: {7: {transmission-selection: credit-based, idle-slope: 75 Mbit/s}}}";
    let text = text.replace("switching: cut-through", "switching: cut-through, cut-through-frames: all");
    let text = text.replace("device: mine}", classes);
    hold_observed(&text, "cut-through-frames: all", "cut-through-frames: strict-priority-to-one-port");
}

/// A burst by the first port and single frames by the second, in one class.
fn between_ports(device: &str) -> String {
    two_talkers(
        "device: mine",
        "priority: 3, payload: 1000 B, traffic: {type: periodic, interval: 20 ms, offset: 1 ms, burst: 40}",
        "priority: 3, payload: 200 B, traffic: {type: periodic, interval: 20 ms, offset: 1100 us}, deadline: 2 ms",
    )
    .replace("[one, bridge]", "[one, bridge], rate: 1 Gbit/s")
    .replace("nodes:", &format!("devices: {{mine: {{{device}}}}}\nnodes:"))
}

#[test]
fn round_robin_between_ports() {
    hold_observed(&between_ports("tie-rule: round-robin"), "round-robin", "lowest-port");
}

#[test]
fn order_of_arrival_between_ports() {
    // The burst is still coming in when the single frame has arrived.
    let text = between_ports("tie-rule: arrival-order");
    let text = text.replace("offset: 1100 us", "offset: 1 ms");
    hold_observed(&text, "arrival-order", "lowest-port");
}

#[test]
fn two_stages() {
    // While class 7 has the line, the single frame is committed; the burst by the lower port comes later.
    let text = between_ports("tie-rule: lowest-port, two-stage: true")
        .replace("offset: 1100 us", "offset: 500 us")
        .replace("  sink:", "  third: {type: end-station}\n  sink:")
        .replace("  - {between: [bridge, sink]}", "  - {between: [bridge, sink]}\n  - {between: [third, bridge], rate: 1 Gbit/s}")
        .replace("streams:", "streams:\n  - {name: urgent, talker: third, listeners: sink, priority: 7, payload: 1500 B, traffic: {type: periodic, interval: 20 ms, burst: 12}}");
    hold_observed(&text, "two-stage: true", "two-stage: false");
}
