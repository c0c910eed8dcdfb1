//! gPTP in YANG: what is written and read into its description leaves it as it is; what is changed is there behind that; and published modules take it.

use serde_json::{Value, json};
use tautwire_exchange::{Base, Converted, Input, Text};
use tautwire_workbench::Network;

use crate::common::{descriptions, network};

fn written(form: &str, network: &Network) -> Vec<Text> {
    tautwire_exchange::export(form).unwrap().write(network, None).unwrap()
}

fn read(texts: &[Text], base: (&str, &Network)) -> Result<Converted, String> {
    let name = |text: &Text| text.file.clone().unwrap().rsplit_once('.').unwrap().0.to_owned();
    let inputs: Vec<Input> =
        texts.iter().map(|text| Input { name: name(text), text: text.converted.text.clone() }).collect();
    let base = Base { text: base.0, network: base.1 };
    tautwire_exchange::import("gptp").unwrap().read_into(&inputs, &base).map_err(|faults| faults.join("\n"))
}

#[test]
fn documents_leave_their_own_network_as_it_is() {
    let mut count = 0;
    for (name, text, own) in descriptions(2) {
        if own.gptp.is_none() {
            let why = tautwire_exchange::export("gptp").unwrap().write(&own, None).unwrap_err();
            assert_eq!(why, "the network has nothing of gptp");
            continue;
        }
        for form in ["gptp", "gptp-xml"] {
            let texts = written(form, &own);
            assert_eq!(texts.len(), own.nodes.len());
            let found = read(&texts, (&text, &own)).unwrap_or_else(|why| panic!("{name}: {why}"));
            assert_eq!((&found.text, &found.left_out), (&text, &Vec::new()), "{name}");
        }
        count += 1;
    }
    assert!(count > 5, "{count}");
}

const PLANT: &str = "name: plant
nodes:
  a: {type: end-station, ports: {eth0: {}}}
  b: {type: end-station}
  s: {type: bridge}
links: [{between: [\"a:eth0\", s], rate: 1 Gbit/s}, {between: [s, b], rate: 1 Gbit/s}]
gptp: {nodes: {a: {priority1: 100}}}   # the clocks
";

/// The documents, one of them changed at a place of its instance.
fn changed(texts: &[Text], node: usize, path: &str, value: Value) -> Vec<Text> {
    let mut texts = texts.to_vec();
    let mut document: Value = serde_json::from_str(&texts[node].converted.text).unwrap();
    let path = format!("/ieee1588-ptp-tt:ptp/instances/instance/0/{path}");
    let (parent, leaf) = path.rsplit_once('/').unwrap();
    document.pointer_mut(parent).unwrap_or_else(|| panic!("{path}"))[leaf] = value;
    texts[node].converted.text = document.to_string();
    texts
}

#[test]
fn what_is_changed_is_in_the_description_or_listed() {
    let own = network(PLANT);
    let texts = written("gptp", &own);
    for (node, path, value, expected) in [
        (0, "default-ds/priority1", json!(7), "a: {priority1: 7}"),
        (1, "default-ds/priority2", json!(9), "b: {priority2: 9}"),
        (2, "default-ds/domain-number", json!(1), "s: {domain: 1}"),
        (1, "default-ds/time-receiver-only", json!(true), "b: {priority1: 255}"),
        (0, "ports/port/0/port-ds/delay-asymmetry", json!("-196608"), "asymmetries: {eth0: -3 ns}"),
        (
            0,
            "ports/port/0/port-ds/ieee802-dot1as-gptp:mean-link-delay-thresh",
            json!("65536"),
            "delay-max: 1 ns",
        ),
        (0, "ports/port/0/port-ds/ieee802-dot1as-gptp:allowed-lost-responses", json!(3), "lost-max: 3"),
    ] {
        let texts = changed(&texts, node, path, value);
        let found = read(&texts, (PLANT, &own)).unwrap_or_else(|why| panic!("{path}: {why}"));
        assert!(
            found.text.contains(expected) && found.text.contains("# the clocks"),
            "{path}: {}",
            found.text
        );
        assert_eq!(found.left_out, [""; 0], "{path}");
        // What comes out of it again is what was changed, but for an instance that only receives.
        let again = written("gptp", &network(&found.text));
        let of = |text: &Text| serde_json::from_str::<Value>(&text.converted.text).unwrap();
        if !path.contains("receiver") {
            assert_eq!(of(&again[node]), of(&texts[node]), "{path}");
        }
    }
    // One interval for all: of all ports it is taken, of one it is listed.
    let path = "ports/port/0/port-ds/log-sync-interval";
    let one = read(&changed(&texts, 0, path, json!(-5)), (PLANT, &own)).unwrap();
    assert_eq!((&*one.text, one.left_out.len()), (PLANT, 1));
    assert!(
        one.left_out[0].contains("port[0]/log-sync-interval: -5; a description has one for all, -3"),
        "{:?}",
        one.left_out
    );
    let mut all = texts.clone();
    for (node, ports) in [(0, 1), (1, 1), (2, 2)] {
        for port in 0..ports {
            all = changed(&all, node, &format!("ports/port/{port}/port-ds/log-sync-interval"), json!(-5));
        }
    }
    let found = read(&all, (PLANT, &own)).unwrap();
    assert_eq!(network(&found.text).gptp.as_ref().unwrap().log_sync, -5);
    // Into a network without gPTP.
    let without = PLANT.replace("gptp: {nodes: {a: {priority1: 100}}}   # the clocks\n", "");
    let found = read(&texts, (&without, &network(&without))).unwrap();
    assert_eq!(network(&found.text).gptp, own.gptp, "{}", found.text);
}

#[test]
fn what_is_wrong_is_said() {
    let own = network(PLANT);
    let texts = written("gptp", &own);
    for (path, value, why) in [
        ("default-ds/sdo-id", json!(0), "default-ds/sdo-id: 0: that of gPTP is 256"),
        ("default-ds/priority1", json!(256), "256 is above 255"),
        ("ports/port/0/port-ds/delay-mechanism", json!("e2e"), "`e2e`: that of gPTP is p2p"),
        ("ports/port/0/port-ds/log-sync-interval", json!(9), "`9`: a number from -7 to 5"),
        ("ports/port/0/underlying-interface", json!("p9"), "no port with a cable and the interface `p9`"),
        ("ports", json!(1), "it is no object"),
    ] {
        let found = read(&changed(&texts, 0, path, value), (PLANT, &own)).unwrap_err();
        assert!(found.starts_with("a/ptp/instances/instance[0]/") && found.contains(why), "{path}: {found}");
    }
    let found = read(&changed(&texts, 0, "default-ds/colour", json!(1)), (PLANT, &own)).unwrap();
    assert_eq!(found.left_out, ["a/ptp/instances/instance[0]/default-ds: `colour`"]);
    let mut other = texts[..1].to_vec();
    other[0].file = Some("x.json".to_owned());
    let why = read(&[other, texts.clone(), texts[..1].to_vec()].concat(), (PLANT, &own)).unwrap_err();
    assert!(
        why.contains("x: the base has no node of this name") && why.contains("a: a second document"),
        "{why}"
    );
    let found = read(&texts[..1], (PLANT, &own)).unwrap();
    assert_eq!(found.left_out, ["node b: it has no document", "node s: it has no document"]);
}
