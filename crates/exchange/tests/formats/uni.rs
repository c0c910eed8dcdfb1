//! Requests for streams (802.1Qcc): what is written and read into its description leaves it as it is, what is changed in requests is there behind that or listed,
//! and new ones become streams.

use serde_json::{Value, json};
use tautwire_exchange::{Base, Converted, Input};
use tautwire_workbench::Network;

use crate::common::{descriptions, network, written};

fn read(text: &str, base: (&str, &Network)) -> Result<Converted, String> {
    let inputs = [Input { name: "requests".to_owned(), text: text.to_owned() }];
    let base = Base { text: base.0, network: base.1 };
    tautwire_exchange::import("uni").unwrap().read_into(&inputs, &base).map_err(|faults| faults.join("\n"))
}

/// The requests of a document.
fn requests(document: &mut Value) -> &mut Vec<Value> {
    document["ieee802-dot1q-cnc-config:cnc-config"]["domain"][0]["cuc"][0]["stream"].as_array_mut().unwrap()
}

#[test]
fn requests_leave_their_own_network_as_it_is() {
    let mut count = 0;
    for (name, text, own) in descriptions(2) {
        let document = written("uni", &own).text;
        count += requests(&mut serde_json::from_str(&document).unwrap()).len();
        for document in [document, written("uni-xml", &own).text] {
            let found = read(&document, (&text, &own)).unwrap_or_else(|why| panic!("{name}: {why}"));
            assert_eq!(found.text, text, "{name}");
            // Those that are not written are listed, here and there.
            let left_out =
                written("uni", &own).left_out.iter().filter(|line| line.contains("it is left out")).count();
            let stays = found.left_out.iter().filter(|line| line.contains("it stays as it is")).count();
            assert_eq!((stays, found.left_out.len()), (left_out, left_out), "{name}: {:#?}", found.left_out);
        }
    }
    assert!(count > 200, "{count}");
}

/// Changes a request in one of several ways.
fn change(request: &mut Value, way: usize) -> &'static str {
    let talker = &mut request["talker"];
    let traffic = &mut talker["traffic-specification"];
    match way {
        0 => {
            traffic["interval"] = json!({ "numerator": 3, "denominator": 125 });
            "interval"
        }
        1 => {
            traffic["max-frames-per-interval"] = 2.into();
            "frames"
        }
        2 => {
            traffic["max-frame-size"] = 60.into();
            "size"
        }
        3 => {
            let listeners = request["listener"].as_array_mut().unwrap();
            for listener in listeners {
                listener["user-to-network-requirements"]["max-latency"] = 7_654_321.into();
            }
            request["talker"]["user-to-network-requirements"]["max-latency"] = 7_654_321.into();
            "latency"
        }
        4 => {
            let frames = talker["data-frame-specification"].as_array_mut().unwrap();
            for frame in frames.iter_mut().filter(|frame| frame.get("ieee802-vlan-tag").is_some()) {
                frame["ieee802-vlan-tag"]["priority-code-point"] = 2.into();
            }
            "priority"
        }
        _ => {
            talker["data-frame-specification"][0]["ieee802-mac-addresses"]["destination-mac-address"] =
                "91-e0-f0-00-12-34".into();
            "destination"
        }
    }
}

#[test]
fn what_is_changed_is_in_the_description_or_listed() {
    let mut seen = std::collections::BTreeMap::<&str, usize>::new();
    for (number, (name, text, own)) in descriptions(2).into_iter().enumerate() {
        let mut document: Value = serde_json::from_str(&written("uni", &own).text).unwrap();
        let count = requests(&mut document).len();
        if count == 0 {
            continue;
        }
        let (place, way) = (number % count, number % 6);
        let what = change(&mut requests(&mut document)[place], way);
        // A stream in a table, or behind an anchor, is no text that can be changed: it is said.
        let Ok(found) = read(&document.to_string(), (&text, &own)) else { continue };
        let Some(back) = tautwire_workbench::load_text("net.yaml", &found.text).network else { continue };
        let mut again: Value = serde_json::from_str(&written("uni", &back).text).unwrap();
        let (one, other) = (&requests(&mut document)[place], &requests(&mut again)[place]);
        // Latencies of several listeners are of one deadline, and those of all are rounded.
        let with_times = |request: &Value| {
            let mut request = request.clone();
            let times: Vec<u64> = request["listener"]
                .as_array_mut()
                .unwrap()
                .iter_mut()
                .filter_map(|listener| {
                    listener["user-to-network-requirements"]
                        .as_object_mut()
                        .unwrap()
                        .remove("max-latency")?
                        .as_u64()
                })
                .collect();
            request["talker"]["user-to-network-requirements"].as_object_mut().unwrap().remove("max-latency");
            (request, times)
        };
        let ((one, times), (other, times_back)) = (with_times(one), with_times(other));
        let is_listed = found.left_out.iter().any(|line| line.contains(&format!("stream[{place}]")));
        if is_listed {
            continue;
        }
        assert_eq!(one, other, "{name} {what}\n{}\n{:#?}", found.text, found.left_out);
        if what == "latency" || what != "size" {
            assert_eq!(times.len(), times_back.len(), "{name} {what}");
            for (one, other) in times.iter().zip(times_back) {
                assert!(one.abs_diff(other) <= 1_000 || times.len() > 1, "{name} {what}: {one} {other}");
            }
        }
        *seen.entry(what).or_default() += 1;
    }
    assert!(seen.len() == 6 && seen.values().all(|count| *count > 3), "{seen:?}");
}

const PLANT: &str = "# A plant.
name: plant
vlans: {1: {}, 10: {tagged: all}}
nodes:
  a: {type: end-station, ports: {eth0: {address: \"02:00:00:00:01:01\"}}}
  b: {type: end-station, ports: {eth0: {address: \"02:00:00:00:02:01\"}}}
  s: {type: bridge}
links: [{between: [a, s], rate: 100 Mbit/s}, {between: [s, b], rate: 100 Mbit/s}]
";

/// A request as a CUC makes it, with all that a description has.
fn request() -> Value {
    json!({
        "stream-id": "02-00-00-00-01-01:00-01",
        "talker": {
            "stream-rank": { "rank": 1 },
            "end-station-interfaces": [{ "mac-address": "02-00-00-00-01-01", "interface-name": "eth0" }],
            "data-frame-specification": [
                { "index": 0, "ieee802-mac-addresses": {
                    "destination-mac-address": "91-E0-F0-00-00-01", "source-mac-address": "02-00-00-00-01-01" } },
                { "index": 1, "ieee802-vlan-tag": { "priority-code-point": 5, "vlan-id": 10 } },
            ],
            "traffic-specification": {
                "interval": { "numerator": 1, "denominator": 2000 },
                "max-frames-per-interval": 2,
                "max-frame-size": 1000,
                "transmission-selection": 0,
                "time-aware": { "earliest-transmit-offset": 0, "latest-transmit-offset": 10000, "jitter": 0 },
            },
            "user-to-network-requirements": { "num-seamless-trees": 1, "max-latency": 300_000 },
            "interface-capabilities": { "vlan-tag-capable": true },
        },
        "listener": [{
            "index": 0,
            "end-station-interfaces": [{ "mac-address": "02-00-00-00-02-01", "interface-name": "eth0" }],
            "user-to-network-requirements": { "num-seamless-trees": 1, "max-latency": 300_000 },
        }],
    })
}

fn document(requests: &[Value]) -> String {
    json!({ "ieee802-dot1q-cnc-config:cnc-config": { "domain": [{
        "domain-id": "plant", "cnc-enabled": true, "cuc": [{ "cuc-id": "cuc-1", "stream": requests }],
    }] } })
    .to_string()
}

#[test]
fn new_requests_become_streams_that_write_the_same_requests() {
    let base = network(PLANT);
    let mut second = request();
    second["stream-id"] = "02-00-00-00-01-01:00-02".into();
    second["talker"]["data-frame-specification"] = json!([
        { "index": 0, "ieee802-mac-addresses": {
            "destination-mac-address": "91-E0-F0-00-00-02", "source-mac-address": "02-00-00-00-01-01" } },
        { "index": 1, "ipv4-tuple": { "source-ip-address": "10.0.0.1", "destination-ip-address": "10.0.0.2",
            "dscp": 46, "protocol": 17, "source-port": 5000, "destination-port": 5001 } },
    ]);
    second["talker"]["traffic-specification"].as_object_mut().unwrap().remove("time-aware");
    second["talker"]["interface-capabilities"]["vlan-tag-capable"] = false.into();
    let asked = document(&[request(), second]);
    let found = read(&asked, (PLANT, &base)).unwrap();
    assert_eq!(found.left_out.len(), 2, "{:#?}", found.left_out);
    // A new key is behind the name.
    let others = found.text.split_inclusive('\n').filter(|line| !line.starts_with("streams: ["));
    assert_eq!(others.collect::<String>(), PLANT);
    let own = network(&found.text);
    // 8 octets of preamble at the talker, and 1022 of the frame at the listener, at 100 Mbit/s; the offset of the first is 0 at least.
    let deadlines: Vec<u64> =
        own.streams.iter().map(|stream| stream.deadline.unwrap().as_ps() / 1_000).collect();
    assert_eq!(deadlines, [300_000 + 640 + 81_760, 300_000 + 640 + 81_440]);
    let mut again: Value = serde_json::from_str(&written("uni", &own).text).unwrap();
    let mut asked: Value = serde_json::from_str(&asked).unwrap();
    let upper = |requests: &[Value]| serde_json::to_string(requests).unwrap().to_uppercase();
    assert_eq!(upper(requests(&mut again)), upper(requests(&mut asked)));
    // With them in the base nothing is to be done.
    let once = read(&asked.to_string(), (&found.text, &own)).unwrap();
    assert_eq!((once.text, once.left_out), (found.text, Vec::new()));
}

#[test]
fn what_is_wrong_or_not_expressed_in_a_request_is_said() {
    let base = network(PLANT);
    let with = |path: &str, value: Value| {
        let mut request = request();
        *request.pointer_mut(path).unwrap_or_else(|| panic!("{path}")) = value;
        read(&document(&[request]), (PLANT, &base))
    };
    for (path, value, why) in [
        ("/stream-id", json!("x"), "stream[0]/stream-id: an address and a number"),
        (
            "/talker/end-station-interfaces/0/mac-address",
            json!("02-00-00-00-09-09"),
            "no interface with the address 02:00:00:00:09:09",
        ),
        ("/talker/end-station-interfaces/0/mac-address", json!("eth0"), "`eth0` is no address"),
        (
            "/talker/traffic-specification/interval",
            json!({ "numerator": 1, "denominator": 0 }),
            "a fraction of a second",
        ),
        ("/talker/traffic-specification/max-frame-size", json!(70_000), "70000 is above 65535"),
        ("/talker/traffic-specification/max-frames-per-interval", json!(0), "a number from 1 to 65535"),
        ("/talker/data-frame-specification/1/ieee802-vlan-tag/priority-code-point", json!(8), "8 is above 7"),
        ("/talker/stream-rank/rank", json!(2), "2 is above 1"),
        ("/talker/traffic-specification", json!(1), "it is no object"),
        ("/listener", json!([]), "no listener"),
        (
            "/listener/0/end-station-interfaces",
            json!([]),
            "listener[0]/end-station-interfaces: one is expected",
        ),
    ] {
        let found = with(path, value).unwrap_err();
        assert!(found.contains(why) && found.starts_with("requests/cnc-config"), "{path}: {found}");
    }
    for (path, value, why) in [
        ("/talker/stream-rank/rank", json!(0), "talker/stream-rank: rank 0"),
        (
            "/talker/user-to-network-requirements/num-seamless-trees",
            json!(2),
            "num-seamless-trees: 2; state `frer`",
        ),
        ("/talker/traffic-specification/time-aware/jitter", json!(5), "time-aware/jitter: 5 ns"),
        (
            "/listener/0/end-station-interfaces/0/interface-name",
            json!("p9"),
            "the name p9 of its interface, which is eth0",
        ),
        ("/talker/interface-capabilities", json!({ "colour": 1 }), "interface-capabilities: `colour`"),
        (
            "/talker/data-frame-specification/1",
            json!({ "index": 1, "ipv6-tuple": { "dscp": 1 } }),
            "data-frame-specification[1]: `ipv6-tuple`",
        ),
    ] {
        let found = with(path, value).unwrap();
        assert!(found.left_out.iter().any(|line| line.contains(why)), "{path}: {:#?}", found.left_out);
        network(&found.text);
    }
    // All at once; the same identifier twice; without a base.
    let mut other = request();
    other["talker"]["traffic-specification"]["max-frame-size"] = 70_000.into();
    let why = read(&document(&[request(), request(), other]), (PLANT, &base)).unwrap_err();
    assert!(why.contains("a second request 02-00-00-00-01-01:00-01") && why.contains("70000"), "{why}");
    let uni = tautwire_exchange::import("uni").unwrap();
    let inputs = [Input { name: "requests".to_owned(), text: document(&[request()]) }];
    assert!(uni.read(&inputs, None).unwrap_err()[0].contains("--base"));
}
