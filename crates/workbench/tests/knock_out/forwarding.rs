//! Forwarding: learning, static routes, multicast registration, VLANs, and the priorities on the way.

use tautwire_workbench::{Options, load_text, simulate};

use super::{hold, two_talkers};

#[test]
fn learned_forwarding() {
    // Once an answer has taught the bridge where the sink is, frames for it leave the other line alone.
    let text = "name: knock-out
network-control: none
defaults: {rate: 100 Mbit/s, traffic-class-table: identity}
nodes:
  one: {type: end-station}
  two: {type: end-station}
  bridge: {type: bridge, learning: {table-size: 16}}
  sink: {type: end-station}
links:
  - {between: [one, bridge]}
  - {between: [two, bridge]}
  - {between: [bridge, sink]}
streams:
  - {name: answer, talker: sink, listeners: one, payload: 46 B, traffic: {type: periodic, interval: 1 ms}, route: learned}
  - {name: data, talker: one, listeners: sink, payload: 1000 B, traffic: {type: periodic, interval: 100 us, offset: 1 ms}, route: learned}
run: {duration: 100 ms}
";
    let consumed = |text: &str| {
        let network = load_text("learned", text).network.expect("no errors");
        simulate(&network, &mut Options::default()).streams[1].consumed
    };
    assert_eq!(consumed(text), 0, "nobody else is bothered");
    let deaf = text.replace("table-size: 16", "table-size: 16, ageing-time: 1 us");
    assert!(consumed(&deaf) > 900, "an address that is forgotten at once is flooded for");
    let small = text
        .replace("table-size: 16", "table-size: 1")
        // The first learned address takes the only place.
        .replace("offset: 1 ms", "offset: 0 ms")
        .replace(
            "traffic: {type: periodic, interval: 1 ms}",
            "traffic: {type: periodic, interval: 1 ms, offset: 1 ms}",
        );
    assert!(consumed(&small) > 900, "an address without a place in the table is flooded for");
}

/// A line of two bridges: a control stream along it, and a stray that is flooded for a silent listener.
fn flooded(vlan: &str) -> String {
    format!(
        "name: knock-out
network-control: none
defaults: {{rate: 100 Mbit/s, traffic-class-table: identity}}
nodes:
  one: {{type: end-station}}
  two: {{type: end-station}}
  near: {{type: end-station}}
  left: {{type: bridge, learning: {{}}}}
  right: {{type: bridge, ingress-filtering: true, learning: {{}}}}
  sink: {{type: end-station}}
links:
  - {{between: [one, \"left:one\"], rate: 1 Gbit/s}}
  - {{between: [two, \"left:two\"], rate: 1 Gbit/s, name: two}}
  - {{between: [near, \"left:near\"], rate: 1 Gbit/s, name: near}}
  - {{between: [\"left:right\", \"right:left\"], rate: 1 Gbit/s, name: trunk}}
  - {{between: [\"right:sink\", sink], name: sink}}
vlans:
  10: {{tagged: [left, right]}}
  20: {{{vlan}}}
streams:
  - {{name: control, talker: one, listeners: sink, vlan: 10, priority: 6, payload: 64 B, traffic: {{type: periodic, interval: 1 ms, offset: 300 us}}, deadline: 200 us}}
  - {{name: stray, talker: two, listeners: near, vlan: 20, priority: 6, payload: 1000 B, traffic: {{type: periodic, interval: 10 ms, burst: 10}}, route: learned}}
run: {{duration: 100 ms}}
"
    )
}

#[test]
fn ingress_filtering() {
    // The stray leaves the left bridge for the right one, whose port there is no member of its VLAN.
    let text = flooded("tagged: [left, \"right:sink\"], active-topology: [two, near, trunk, sink]");
    hold(&text, "ingress-filtering: true", "ingress-filtering: false");
}

#[test]
fn member_sets() {
    // The trunk is no member of the stray's VLAN.
    let text = flooded("tagged: [\"left:two\", \"left:near\"]");
    hold(&text, "tagged: [\"left:two\", \"left:near\"]", "tagged: [left, right]");
}

#[test]
fn active_topology() {
    // A VLAN is not flooded over a link that is not of its active topology.
    let text = flooded("tagged: [left, right], active-topology: [two, near]");
    hold(&text, "[two, near]", "[two, near, trunk, sink]");
}

#[test]
fn spanning_tree() {
    let ring = "name: ring
defaults: {rate: 100 Mbit/s}
nodes:
  one: {type: end-station}
  a: {type: bridge}
  b: {type: bridge}
  c: {type: bridge}
  two: {type: end-station}
links:
  - {between: [one, a]}
  - {between: [a, b]}
  - {between: [b, c]}
  - {between: [c, a]}
  - {between: [c, two]}
vlans: {1: {active-topology: spanning-tree}}
streams:
  - {name: call, talker: one, listeners: all, payload: 46 B, traffic: {type: periodic, interval: 1 ms}, deadline: 1 ms}
run: {duration: 10 ms}
";
    assert_eq!(super::answers(ring), (true, true));
    let loaded = load_text("ring", &ring.replace("spanning-tree", "all"));
    assert!(loaded.network.is_none(), "frames would circle");
}

#[test]
fn stated_routes() {
    // Two routes of equal length; the first is taken unless the stream's key leaves it to the burst.
    let text = "name: knock-out
network-control: none
vlans: {1: {tagged: all}}
defaults: {rate: 100 Mbit/s, traffic-class-table: identity}
nodes:
  one: {type: end-station}
  two: {type: end-station}
  first: {type: bridge}
  upper: {type: bridge}
  lower: {type: bridge}
  last: {type: bridge}
  sink: {type: end-station}
links:
  - {between: [one, first]}
  - {between: [two, first], rate: 1 Gbit/s}
  - {between: [first, upper]}
  - {between: [first, lower]}
  - {between: [upper, last]}
  - {between: [lower, last]}
  - {between: [last, sink], rate: 1 Gbit/s}
streams:
  - {name: control, talker: one, listeners: sink, priority: 6, payload: 64 B, traffic: {type: periodic, interval: 1 ms}, deadline: 300 us, route: [first, lower, last]}
  - {name: burst, talker: two, listeners: sink, priority: 6, payload: 1000 B, traffic: {type: periodic, interval: 10 ms, burst: 20}}
run: {duration: 100 ms}
";
    hold(text, ", route: [first, lower, last]", "");
}

#[test]
fn registered_multicast() {
    // A group's frames go to its listeners alone; unregistered, they are flooded.
    let text = two_talkers(
        "learning: {}",
        "priority: 6, payload: 64 B, traffic: {type: periodic, interval: 1 ms}, deadline: 300 us",
        "priority: 6, payload: 1000 B, traffic: {type: periodic, interval: 10 ms, burst: 20}, route: shortest",
    )
    .replace("[two, bridge]", "[two, bridge], rate: 1 Gbit/s")
    .replace("[bridge, sink]}", "[bridge, sink]}\n  - {between: [bridge, third], rate: 1 Gbit/s}\n  - {between: [bridge, fourth], rate: 1 Gbit/s}")
    .replace("  sink:", "  third: {type: end-station}\n  fourth: {type: end-station}\n  sink:")
    .replace("name: second, talker: two, listeners: sink", "name: second, talker: two, listeners: [third, fourth]");
    hold(&text, "route: shortest", "route: learned");
}

#[test]
fn priority_regeneration() {
    // What calls itself urgent at an untrusted port is not.
    let text = two_talkers(
        "ports: {one: {}, two: {priority-regeneration: [0, 1, 2, 3, 4, 5, 0, 0]}, sink: {}}",
        "priority: 6, payload: 64 B, traffic: {type: periodic, interval: 500 us}, deadline: 250 us",
        "priority: 7, payload: 1500 B, traffic: {type: periodic, interval: 5 ms, burst: 20}",
    )
    .replace("[one, bridge]", "[one, \"bridge:one\"]")
    .replace("[two, bridge]", "[two, \"bridge:two\"], rate: 1 Gbit/s")
    .replace("[bridge, sink]", "[\"bridge:sink\", sink]");
    hold(&text, "priority-regeneration: [0, 1, 2, 3, 4, 5, 0, 0]", "pvid: 1");
}

#[test]
fn traffic_class_table() {
    let text = two_talkers(
        "traffic-class-table: [0, 1, 2, 3, 4, 5, 6, 7]",
        "priority: 6, payload: 64 B, traffic: {type: periodic, interval: 500 us}, deadline: 250 us",
        "priority: 0, payload: 1500 B, traffic: {type: periodic, interval: 5 ms, burst: 20}",
    )
    .replace("[two, bridge]", "[two, bridge], rate: 1 Gbit/s");
    hold(&text, "[0, 1, 2, 3, 4, 5, 6, 7]", "[3, 3, 3, 3, 3, 3, 3, 3]");
}

/// An urgent stream whose talker knows no tags.
fn untagged(bridge: &str) -> String {
    two_talkers(
        bridge,
        "tagged: false, payload: 64 B, traffic: {type: periodic, interval: 500 us}, deadline: 250 us",
        "priority: 3, payload: 1500 B, traffic: {type: periodic, interval: 5 ms, burst: 20}",
    )
    .replace("[two, bridge]", "[two, bridge], rate: 1 Gbit/s")
}

#[test]
fn class_of_untagged_frames() {
    hold(&untagged("untagged-class: 5"), "untagged-class: 5", "untagged-class: 0");
}

#[test]
fn priority_of_untagged_frames() {
    hold(&untagged("default-priority: 5"), "default-priority: 5", "default-priority: 0");
}
