//! Active stream identification: what copies have on their ways, and where a node puts the stream's own values back.

use tautwire_model::{Network, load_text};

/// Two ways from s1 to s4, the first by s2; behind s4 the motor. Priorities are classes.
fn network(identification: &str, recovery: &str) -> Network {
    let text = format!(
        "vlans: {{1: {{tagged: all}}, 2: {{tagged: [\"s1:p2\", \"s2:p1\", \"s2:p2\", \"s4:p1\"]}}, 3: {{tagged: all}}}}\n\
         defaults: {{rate: 100 Mbit/s, traffic-class-table: identity}}\n\
         nodes: {{controller: {{type: end-station}}, motor: {{type: end-station}}, s1: {{type: bridge}}, s2: {{type: bridge}}, s3: {{type: bridge}}, s4: {{type: bridge}}}}\n\
         links: [{{between: [controller, s1]}}, {{between: [s1, s2]}}, {{between: [s2, s4]}}, {{between: [s1, s3]}}, {{between: [s3, s4]}}, {{between: [s4, motor]}}]\n\
         streams:\n  - name: orders\n    talker: controller\n    listeners: motor\n    priority: 4\n    payload: 200 B\n    destination: \"03:00:00:00:00:01\"\n    \
         traffic: {{type: periodic, interval: 500 us}}\n    frer:\n      paths: [[s1, s2, s4], [s1, s3, s4]]\n      \
         dmac-vlan-stream-identification: {identification}\n      sequence-recovery: [{{{recovery}history-length: 16, reset-timeout: 20 ms}}]\n"
    );
    let loaded = load_text("members.yaml", &text);
    assert!(!loaded.has_errors(), "{:#?}\n{text}", loaded.diagnostics);
    loaded.network.expect("a network")
}

/// Per hop: the sending node, class, and on the wire priority, VLAN and the last octet of the destination.
fn hops(network: &Network) -> Vec<(&str, u8, u8, u16, u8)> {
    let stream = &network.streams[0];
    let of = |hop: &tautwire_model::network::Hop| {
        let node = network.ports[hop.port.index()].node;
        let address = stream.destination_at(hop).0[5];
        let vlan = stream.vlan_at(hop).number();
        (&network.nodes[node.index()].name[..], hop.class.number(), hop.priority.number(), vlan, address)
    };
    stream.hops.iter().map(of).collect()
}

#[test]
fn copies_have_the_identification_of_their_path_up_to_the_recovery_function() {
    let both = "[{vlan: 2, priority: 6, destination-mac: \"03:00:00:00:00:02\"}, {vlan: 3, priority: 2}]";
    let found = network(both, "");
    // The class where it is written is that of the stream.
    let expected = [
        ("controller", 4, 4, 1, 1),
        ("s1", 4, 6, 2, 2),
        ("s2", 6, 6, 2, 2),
        ("s4", 4, 4, 1, 1),
        ("s1", 4, 2, 3, 1),
        ("s3", 2, 2, 3, 1),
        ("s4", 4, 4, 1, 1),
    ];
    assert_eq!(hops(&found), expected);
}

#[test]
fn a_listener_with_the_function_gets_the_copies_as_they_are() {
    // Only the second path has another identification, and the copies meet at the listener.
    let found = network("[{}, {priority: 7}]", "node: motor, ");
    let expected = [
        ("controller", 4, 4, 1, 1),
        ("s1", 4, 4, 1, 1),
        ("s2", 4, 4, 1, 1),
        ("s4", 4, 4, 1, 1),
        ("s1", 4, 7, 1, 1),
        ("s3", 7, 7, 1, 1),
        ("s4", 7, 7, 1, 1),
    ];
    assert_eq!(hops(&found), expected);
}
