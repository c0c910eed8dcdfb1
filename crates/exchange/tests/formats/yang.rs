//! YANG: what documents of bridges say comes back, what is wrong in them is said, and what they leave out is listed.

use std::path::Path;

use serde_json::Value;
use tautwire_exchange::Text;
use tautwire_model::network::Network;

use crate::common::{network, networks};

/// The documents of all bridges; none of a network without a bridge.
pub(crate) fn documents(form: &str, network: &Network) -> Vec<Text> {
    tautwire_exchange::export(form).unwrap().write(network, None).unwrap_or_default()
}

/// A number, which is a text if it has 64 bits.
pub(crate) fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| value.as_str().unwrap().parse().unwrap())
}

/// Entries of a list; none if it is not there.
pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The network of documents, and what is listed.
fn imported(documents: &[Text]) -> Result<tautwire_exchange::Converted, String> {
    let inputs: Vec<tautwire_exchange::Input> = documents
        .iter()
        .map(|text| tautwire_exchange::Input {
            name: text.file.clone().unwrap().trim_end_matches(".json").trim_end_matches(".xml").to_owned(),
            text: text.converted.text.clone(),
        })
        .collect();
    tautwire_exchange::import("yang").unwrap().read(&inputs, None).map_err(|faults| faults.join("\n"))
}

/// What an import takes of a document.
fn taken(text: &Text) -> Value {
    let document: Value = serde_json::from_str(&text.converted.text).unwrap();
    serde_json::json!({
        "ports": document["ietf-interfaces:interfaces"]["interface"].clone(),
        "name": document["ieee802-dot1q-bridge:bridges"]["bridge"][0]["name"].clone(),
        "vlans": database_of(&document)["vlan-registration-entry"].clone(),
        "ageing": database_of(&document)["aging-time"].clone(),
        "gates": table(&document, "stream-gates", "stream-gate-instance-table"),
        "meters": table(&document, "flow-meters", "flow-meter-instance-table"),
    })
}

/// The rows of a table of filters, gates or meters; gates that are not enabled are always open.
fn table(document: &Value, name: &str, rows: &str) -> Vec<Value> {
    let component = &document["ieee802-dot1q-bridge:bridges"]["bridge"][0]["component"][0];
    let rows = list(&component[&format!("ieee802-dot1q-psfp-bridge:{name}")][rows]);
    rows.iter().filter(|row| row["gate-enable"] != false).cloned().collect()
}

fn database_of(document: &Value) -> &Value {
    &document["ieee802-dot1q-bridge:bridges"]["bridge"][0]["component"][0]["filtering-database"]
}

#[test]
fn bridges_come_back_from_their_documents() {
    let (mut compared, mut tables) = (0, 0);
    let mut faults = Vec::new();
    for (name, own) in networks(3) {
        let texts = documents("yang", &own);
        // Slopes that reservations set are zero at first, and no description states them.
        if texts.is_empty() || !own.reserved_classes.is_empty() {
            continue;
        }
        let found = imported(&texts).unwrap_or_else(|why| panic!("{name}: {why}"));
        let loaded = tautwire_workbench::load_text("net.yaml", &found.text);
        let Some(back) = loaded.network else {
            faults.push(format!("{name}: {:?}", loaded.diagnostics.first()));
            continue;
        };
        // XML says the same as JSON.
        let xml = documents("yang-xml", &own);
        assert_eq!(imported(&xml).unwrap_or_else(|why| panic!("{name}: {why}")).text, found.text, "{name}");
        let again = documents("yang", &back);
        assert_eq!(texts.len(), again.len(), "{name}");
        for (text, other) in texts.iter().zip(&again) {
            let is_rounded =
                text.converted.left_out.iter().any(|line| line.contains("no fraction of 32 bits"));
            let (one, other) = (taken(text), taken(other));
            tables += other["meters"].as_array().map_or(0, Vec::len)
                + other["gates"].as_array().map_or(0, Vec::len);
            for key in ["name", "ageing", "vlans", "ports", "gates", "meters"] {
                if one[key] != other[key] && !(is_rounded && ["ports", "gates"].contains(&key)) {
                    faults.push(format!("{name} {key}: {} {}", one[key], other[key]));
                }
            }
            compared += 1;
        }
        // Streams' parts are listed where they are.
        for text in &texts {
            for module in ["stream-filters", "stream-identity", "frer", "filtering-entry"] {
                let is_there = text.converted.text.contains(&format!("{module}\": "));
                let is_listed = found.left_out.iter().any(|line| line.contains(module));
                assert!(!is_there || is_listed, "{name}: {module}\n{:#?}", found.left_out);
            }
        }
    }
    let first: Vec<String> = faults.iter().take(12).map(|fault| fault.chars().take(900).collect()).collect();
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), first.join("\n"));
    assert!(compared > 100 && tables > 50, "{compared} {tables}");
}

#[test]
fn what_is_wrong_in_a_document_is_said() {
    let document = r#"{"ietf-interfaces:interfaces": {"interface": [{"name": "p1", "ieee802-dot1q-bridge:bridge-port": {"pvid": 3, "colour": 1}}]},
        "ieee802-dot1q-bridge:bridges": {"bridge": [{"name": "b", "component": [{"name": "c"}]}]}}"#;
    let read = |text: &str| {
        tautwire_exchange::import("yang")
            .unwrap()
            .read(&[tautwire_exchange::Input { name: "b".to_owned(), text: text.to_owned() }], None)
            .map_err(|faults| faults.join("\n"))
    };
    let found = read(document).unwrap();
    assert!(found.text.contains("\"p1\": {pvid: 3}"), "{}", found.text);
    assert_eq!(found.left_out, ["b/interfaces/interface[0]/bridge-port: `colour`"]);
    for (from, to, why) in [
        ("\"pvid\": 3", "\"pvid\": 5000", "b/interfaces/interface[0]/bridge-port/pvid: 5000 is above 4094"),
        ("\"pvid\": 3", "\"pvid\": {}", "no whole number"),
        ("ieee802-dot1q-bridge:bridges", "x", "no `ieee802-dot1q-bridge:bridges`"),
        ("{\"bridge\": [", "{\"bridge\": [{}, ", "2 bridges"),
        ("{\"interface\": [", "{\"interface\": [{\"name\": \"p1\"}, ", "two interfaces"),
        ("\"ietf", "ietf", "no JSON"),
    ] {
        let text = document.replacen(from, to, 1);
        assert!(read(&text).unwrap_err().contains(why), "{why}: {:?}", read(&text));
    }
    // All at once.
    let text = document
        .replace("\"pvid\": 3", "\"pvid\": 5000, \"default-priority\": 9, \"enable-ingress-filtering\": 1");
    let faults = read(&text.replace("\"name\": \"c\"", "\"filtering-database\": {\"aging-time\": \"x\"}"))
        .unwrap_err();
    assert_eq!(faults.lines().count(), 4, "{faults}");
}

/// Filters of streams are comments, which name what is missing; a message of NETCONF around a document is none of its own.
#[test]
fn filters_gates_and_meters_are_read() {
    let file = "../../scenarios/filtering-and-policing.yaml";
    let own = tautwire_workbench::load(Path::new(file)).unwrap().network.unwrap();
    let mut texts = documents("yang-xml", &own);
    let xml = &mut texts[0].converted.text;
    *xml = format!(
        "<?xml version=\"1.0\"?>\n<rpc-reply xmlns=\"urn:ietf:params:xml:ns:netconf:base:1.0\"><data>{xml}</data></rpc-reply>"
    );
    let found = imported(&texts[..1]).unwrap();
    insta::assert_snapshot!("policed", format!("{}\n{}\n", found.text, found.left_out.join("\n")));
    network(&found.text);
}

#[test]
fn what_documents_leave_out_is_listed_and_what_they_are_not_of_is_refused() {
    let network = network(
        "name: net
nodes: {a: {type: end-station}, b: {type: end-station}, s: {type: bridge}}
links: [{between: [a, s], rate: 1 Gbit/s}, {between: [s, b], rate: 100 Mbit/s}]
streams: [{name: x, talker: a, listeners: b, payload: 100 B, traffic: {type: periodic, interval: 1 ms}}]
gptp: {}",
    );
    let yang = tautwire_exchange::export("yang").unwrap();
    let written = yang.write(&network, Some("s")).unwrap();
    assert_eq!(written[0].file.as_deref(), Some("s.json"));
    for line in
        ["cables: rates, lengths and delays", "`gptp`", "streams: traffic, deadlines, talkers and listeners"]
    {
        let lines = &written[0].converted.left_out;
        assert!(lines.iter().any(|lacks| lacks == line), "{line}: {lines:?}");
    }
    assert_eq!(yang.write(&network, Some("a")).unwrap_err(), "yang is of bridges, and `a` is none");
    assert_eq!(yang.write(&network, Some("z")).unwrap_err(), "the network has no node `z`");
    let dot = tautwire_exchange::export("dot").unwrap();
    let why = dot.write(&network, Some("s")).unwrap_err();
    assert_eq!(why, "dot is of the network as a whole: it takes no node");
}
