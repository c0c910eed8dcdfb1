//! Configurations of ptp4l, with a topology by LLDP.

use tautwire_exchange::{Converted, Input};

use crate::common::network;

/// As an example of linuxptp has it, with a slave-only interface of a longer way there.
const BRIDGE: &str = "\
#
# 802.1AS
[global]
gmCapable\t\t1
priority1\t\t248
priority2 247
logAnnounceInterval 0
logSyncInterval -3
syncReceiptTimeout 3
neighborPropDelayThresh 800
transportSpecific 0x1
ptp_dst_mac 01:80:C2:00:00:0E
network_transport L2
delay_mechanism P2P
step_threshold 0.00002
[eth0]
delayAsymmetry 40
[eth1]
";

const STATION: &str = "[global]\ngmCapable 0\nlogAnnounceInterval 0\nlogSyncInterval -3\ntransportSpecific 1\nnetwork_transport L2\ndelay_mechanism P2P\n[eth0]\n";

const LLDP: &str = r#"{"lldp": [{"interface": [{"name": "eth0", "chassis": [{"id": [{"type": "mac", "value": "02:00:00:00:00:01"}], "name": [{"value": "station"}]}],
    "port": [{"id": [{"type": "ifname", "value": "eth0"}]}]}]}]}"#;

fn input(name: &str, text: &str) -> Input {
    Input { name: name.to_owned(), text: text.to_owned() }
}

fn read(inputs: &[Input]) -> Result<Converted, Vec<String>> {
    tautwire_exchange::import("linuxptp").unwrap().read(inputs, None)
}

#[test]
fn configurations_become_gptp_of_their_nodes() {
    let files = [input("bridge", BRIDGE), input("station", STATION), input("bridge", LLDP)];
    let found = read(&files).unwrap();
    insta::assert_snapshot!("linuxptp", format!("{}\n{}\n", found.text, found.left_out.join("\n")));
    let network = network(&found.text);
    assert!(network.gptp.is_some() && network.links.len() == 2);
}

#[test]
fn what_is_no_gptp_or_cannot_be_read_is_said_with_its_line() {
    let text = BRIDGE
        .replace("delay_mechanism P2P", "")
        .replace("network_transport L2", "network_transport UDPv4")
        .replace("priority2 247", "priority2 300")
        .replace("# 802.1AS", "verbose 1")
        .replace("delayAsymmetry 40", "delayAsymmetry");
    let faults = read(&[input("bridge", &text)]).unwrap_err();
    assert_eq!(
        faults,
        [
            "bridge:2: `verbose` is before `[global]`",
            "bridge:17: `delayAsymmetry`: a key and its value are expected",
            "bridge: `delay_mechanism` is `E2E`, so it is another profile of IEEE 1588 and no gPTP: `P2P` would be",
            "bridge:13: `network_transport` is `UDPv4`, so it is another profile of IEEE 1588 and no gPTP: `L2` would be",
            "bridge:6: `priority2` is `300`: a whole number from 0 to 255 is expected",
        ]
    );
    assert_eq!(read(&[input("bridge", LLDP)]).unwrap_err(), ["no file is a configuration of ptp4l"]);
}

/// An interface has its own value in place of that for all.
#[test]
fn what_interfaces_state_counts_for_them() {
    let own = "network_transport L2\ndelay_mechanism P2P\nlogSyncInterval -4\n";
    let text = format!(
        "[global]\ntransportSpecific 1\nlogSyncInterval 9\n[eth0]\n{own}[eth1]\n{own}allowedLostResponses 7\n"
    );
    let found = read(&[input("bridge", &text)]).unwrap();
    assert!(
        found.text.contains("log-sync-interval: -4") && found.text.contains("lost-max: 3"),
        "{}",
        found.text
    );
    assert!(
        found.left_out.contains(&"bridge:12: `allowedLostResponses 7` of eth1".to_owned()),
        "{:?}",
        found.left_out
    );
    let text = "[global]\nnetwork_transport L2\ndelay_mechanism P2P\ntransportSpecific 1\n[eth0]\n[eth1]\ndelay_mechanism E2E\nlogSyncInterval x\n";
    let faults = read(&[input("bridge", text)]).unwrap_err();
    let why = "`delay_mechanism` is `E2E`, so it is another profile of IEEE 1588 and no gPTP: `P2P` would be";
    assert_eq!(
        faults,
        [
            format!("bridge:7: {why}"),
            "bridge:8: `logSyncInterval` is `x`: a whole number is expected".to_owned()
        ]
    );
}

/// Whatever a file has, reading it ends with a description or with sentences.
#[test]
fn no_file_is_too_strange() {
    for cut in 0..BRIDGE.len() {
        let _ = read(&[input("bridge", &BRIDGE[..cut]), input("bridge", &LLDP[..cut.min(LLDP.len())])]);
        let other = BRIDGE.replacen(&BRIDGE[cut..=cut], "é", 1);
        let _ = read(&[input("bridge", &other)]);
    }
}
