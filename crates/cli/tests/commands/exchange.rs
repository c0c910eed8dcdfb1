//! Networks in the forms of other tools.

use std::fs;

use crate::common::{folder, tautwire};
use crate::small;

#[test]
fn a_network_is_written_in_other_forms_and_what_they_lack_is_listed() {
    let folder = folder("export");
    small(&folder, "500 us");
    let ended = tautwire(&folder, &["export", "tc", "small.yaml"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.starts_with("#!/bin/sh\n") && ended.stdout.contains("\n'bridge')\n  tc qdisc"));
    assert_eq!(ended.stderr, "tautwire: not in tc: VLAN 1: its members are set up by `bridge vlan`\n");
    let ended = tautwire(&folder, &["export", "dot", "small.yaml", "--to", "small.dot", "--quiet"]);
    assert_eq!((ended.code, &*ended.stdout, &*ended.stderr), (0, "", ""));
    let text = fs::read_to_string(folder.join("small.dot")).unwrap();
    assert!(text.contains("\"sensor\" -- \"bridge\""), "{text}");
    let ended = tautwire(&folder, &["export", "graphml", "small.yaml", "--to", "nowhere/small.graphml"]);
    assert_eq!(ended.code, 3, "{}", ended.stderr);
    assert_eq!(tautwire(&folder, &["export", "svg", "small.yaml"]).code, 2);
    // A document for each bridge.
    let ended = tautwire(&folder, &["export", "yang", "small.yaml", "--to", "yang"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let document = fs::read_to_string(folder.join("yang/bridge.json")).unwrap();
    assert!(
        ended.stderr.contains("tautwire: not in yang: cables: rates, lengths and delays\n"),
        "{}",
        ended.stderr
    );
    assert_eq!(tautwire(&folder, &["export", "yang", "small.yaml"]).stdout, document);
    let ended =
        tautwire(&folder, &["export", "yang-xml", "small.yaml", "--node", "bridge", "--to", "one.xml"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(fs::read_to_string(folder.join("one.xml")).unwrap().starts_with("<interfaces xmlns="));
    let ended = tautwire(&folder, &["export", "yang", "small.yaml", "--node", "sensor"]);
    assert_eq!((ended.code, &*ended.stderr), (2, "tautwire: yang is of bridges, and `sensor` is none\n"));
}

#[test]
fn neighbours_of_hosts_become_a_description() {
    let folder = folder("import");
    let file = |name: &str, own: &str, far: &str, port: &str| {
        let text = format!(
            r#"{{"lldp": {{"interface": {{"{own}": {{"chassis": {{"{far}": {{"id": {{"type": "mac", "value": "x"}},
                "capability": [{{"type": "Bridge", "enabled": {}}}]}}}},
                "port": {{"id": {{"type": "ifname", "value": "{port}"}},
                "auto-negotiation": {{"current": "100BaseTXFD - full duplex mode"}}}}}}}}}}}}"#,
            far == "bridge"
        );
        fs::write(folder.join(name), text).unwrap();
    };
    file("sensor.json", "eth0", "bridge", "swp1");
    file("bridge.json", "swp1", "sensor", "eth0");
    let ended = tautwire(&folder, &["import", "lldp", "sensor.json", "bridge.json", "--to", "lab.yaml"]);
    assert_eq!((ended.code, &*ended.stdout, &*ended.stderr), (0, "", ""));
    assert_eq!(
        tautwire(&folder, &["check", "lab.yaml"]).stdout,
        "lab.yaml: 2 nodes, 1 link, 0 streams; no faults\n"
    );
    let text = fs::read_to_string(folder.join("lab.yaml")).unwrap();
    assert!(text.contains("between: [\"sensor:eth0\", \"bridge:swp1\"], rate: 100 Mbit/s"), "{text}");
    let again = tautwire(&folder, &["import", "lldp", "sensor.json", "--to", "lab.yaml"]);
    assert_eq!(again.code, 2, "{}", again.stderr);
    let one = tautwire(&folder, &["import", "lldp", "sensor.json"]);
    assert!(one.stderr.starts_with("tautwire: not from lldp: sensor: whether it bridges"), "{}", one.stderr);
    fs::write(folder.join("none.json"), "{}").unwrap();
    assert_eq!(tautwire(&folder, &["import", "lldp", "none.json"]).code, 2);
    assert_eq!(tautwire(&folder, &["import", "lldp", "missing.json"]).code, 2);
}
