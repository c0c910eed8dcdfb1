//! Stream reservation, HaRTES and gPTP: what descriptions set is what the network has, and what is no fault is not taken for one.

use tautwire_model::network::{NodeIndex, TimelineAction};
use tautwire_model::{Network, Severity, load_text};
use tautwire_units::Duration;

fn network(text: &str) -> Network {
    let loaded = load_text("test.yaml", text);
    let errors: Vec<_> = loaded.diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    loaded.network.expect("a network")
}

fn node(network: &Network, name: &str) -> NodeIndex {
    NodeIndex::at(network.nodes.iter().position(|node| node.name == name).expect("a node"))
}

/// A talker, two bridges in a row, a listener.
const ROW: &str = "
vlans: {1: {tagged: all}}
defaults: {rate: 100 Mbit/s, traffic-class-table: stream-reservation}
nodes: {talker: {type: end-station}, s: {type: bridge}, t: {type: bridge}, listener: {type: end-station}}
links: [{between: [talker, s]}, {between: [s, t]}, {between: [t, listener]}]
";

fn row(rest: &str) -> Network {
    network(&format!("{ROW}{rest}"))
}

#[test]
fn limits_and_times_of_msrp_are_those_of_the_node_then_of_its_kind() {
    let network = row(
        "stream-reservation:
  bridges: {streams-max: 7, reservations-max: 5, fan-in-max: 3, addresses-max: 9, address-buckets: 4, address-depth: 2, device-latency: 12 us}
  end-stations: {periodic-time: 2 s}
  nodes:
    t: {streams-max: 0, address-buckets: 8, periodic-time: 1 s, device-latency: 3 us}\n",
    );
    let (s, ports) = network.srp_bridge(node(&network, "s"));
    assert_eq!((s.streams_max, s.reservations_max, s.fan_in_max), (7, 5, 3));
    assert_eq!((s.addresses.addresses_max, s.addresses.buckets, s.addresses.depth), (9, 4, 2));
    assert_eq!(s.timing.periodic, None);
    assert_eq!(ports.len(), 2);
    assert!(s.ports.iter().all(|port| port.device == Duration::from_us(12)), "{:?}", s.ports);
    let (t, _) = network.srp_bridge(node(&network, "t"));
    assert_eq!((t.streams_max, t.reservations_max, t.fan_in_max), (0, 5, 3));
    assert_eq!((t.addresses.addresses_max, t.addresses.buckets, t.addresses.depth), (9, 8, 2));
    assert_eq!(t.timing.periodic, Some(Duration::from_s(1)));
    assert!(t.ports.iter().all(|port| port.device == Duration::from_us(3)), "{:?}", t.ports);
    let nodes = &network.srp.as_ref().expect("stream reservation").nodes;
    let periodic = |name: &str| nodes[node(&network, name).index()].timing.periodic;
    assert_eq!(["talker", "listener"].map(periodic), [Some(Duration::from_s(2)); 2]);
}

#[test]
fn without_limits_msrp_has_the_greatest() {
    let network = row("stream-reservation: {}\n");
    let (s, _) = network.srp_bridge(node(&network, "s"));
    assert_eq!((s.streams_max, s.reservations_max, s.fan_in_max), (65_535, 65_535, 65_535));
    assert_eq!((s.addresses.addresses_max, s.addresses.buckets, s.addresses.depth), (65_535, 1, 65_535));
    assert_eq!(s.timing.periodic, None);
    assert!(s.ports.iter().all(|port| port.device == Duration::ZERO));
}

#[test]
fn lost_requests_of_gptp_are_those_of_the_node_then_of_its_kind() {
    let network = row("gptp: {bridges: {lost-max: 3}, nodes: {t: {lost-max: 0}, talker: {lost-max: 255}}}\n");
    let lost = |name: &str| network.gptp_node(node(&network, name)).lost_max;
    assert_eq!(["s", "t", "talker", "listener"].map(lost), [3, 0, 255, 9]);
}

/// One node that may be grandmaster is enough, and stamps may be as coarse as the interval of syncs.
#[test]
fn a_single_node_may_be_grandmaster() {
    let network = row(
        "gptp: {log-sync-interval: -2, bridges: {priority1: 255, stamp-quantum: 250 ms}, end-stations: {priority1: 255}, nodes: {s: {priority1: 254}}}\n",
    );
    let first = |name: &str| network.gptp_node(node(&network, name)).system.priority1;
    assert_eq!(["s", "t", "talker"].map(first), [254, 255, 255]);
}

/// By the recommended table for SR classes priority 3 is above 5.
#[test]
fn classes_are_in_the_order_of_traffic_classes_not_of_priorities() {
    let network = row(
        "stream-reservation: {classes: [{class: A, priority: 3, interval: 125 us}, {class: B, priority: 5, interval: 250 us}]}\n",
    );
    let priorities = network.srp.as_ref().expect("stream reservation").classes.clone();
    assert_eq!(priorities.iter().map(|class| class.domain.priority).collect::<Vec<_>>(), [3, 5]);
}

#[test]
fn an_application_may_stop_and_send_less_than_is_reserved() {
    let network = row("stream-reservation: {}
streams:
  - name: x
    talker: talker
    listeners: listener
    priority: 3
    payload: 100 B
    traffic: {type: periodic, interval: 250 us}
    reservation: {advertise-at: 1 ms, withdraw-at: 1001 us, attach-at: 5 ms, detach-at: 5001 us}
events:
  - {at: 20 ms, change-traffic: {stream: x, traffic: {type: periodic, interval: 125 us}}}
  - {at: 30 ms, change-traffic: {stream: x, traffic: {type: periodic, interval: 250 us, burst: 2}}}
  - {at: 40 ms, stop-stream: x}\n");
    let stops = |action: &TimelineAction| matches!(action, TimelineAction::StopStream(_));
    assert_eq!(
        network.events.iter().map(|event| stops(&event.action)).collect::<Vec<_>>(),
        [false, false, true]
    );
}

/// A grant starts a stream again, without an event: an event that stops it twice is allowed.
#[test]
fn what_is_granted_may_be_stopped_again() {
    let warnings = |reservation: &str| {
        let text = format!(
            "{ROW}stream-reservation: {{}}
streams:
  - name: x
    talker: talker
    listeners: listener
    priority: 3
    payload: 100 B
    traffic: {{type: periodic, interval: 250 us}}{reservation}
events: [{{at: 40 ms, stop-stream: x}}, {{at: 60 ms, stop-stream: x}}]\n"
        );
        load_text("test.yaml", &text).diagnostics.iter().filter(|one| one.code == "event::impossible").count()
    };
    assert_eq!(warnings("\n    reservation: {advertise-at: 1 ms, attach-at: 5 ms, detach-at: 50 ms}"), 0);
    assert_eq!(warnings(""), 1);
}

/// A stream that is not requested starts by the timeline, and a policed one may send too often.
#[test]
fn events_of_harts_that_are_no_fault() {
    let network = network(
        "network-control: none
vlans: {1: {tagged: all}}
defaults: {rate: 100 Mbit/s}
nodes: {a: {type: end-station}, b: {type: end-station}, s: {type: bridge}, t: {type: bridge}}
links: [{between: [a, s]}, {between: [s, t]}, {between: [b, t]}]
harts:
  elementary-cycle: 1 ms
  trigger: 10 us
  turn-around: 10 us
  reserve: [{stream: stands}, {stream: policed, police: {}}, {stream: rare, every: 1}]
  admission:
    master: s
    standby: t
    patience: 7 ms
    alive: 3 ms
    requests: [{stream: policed}, {stream: rare, release-at: 1 us}]
streams:
  - {name: stands, talker: a, listeners: b, started: false, payload: 46 B, traffic: {type: periodic, interval: 2 ms}}
  - {name: policed, talker: a, listeners: b, payload: 46 B, traffic: {type: periodic, interval: 2 ms}}
  - {name: rare, talker: a, listeners: b, payload: 46 B, traffic: {type: periodic, interval: 2 ms}}
events:
  - {at: 5 ms, start-stream: stands}
  - {at: 6 ms, change-traffic: {stream: stands, traffic: {type: periodic, interval: 1 ms}}}
  - {at: 7 ms, change-traffic: {stream: policed, traffic: {type: periodic, interval: 1 ms}}}
  - {at: 8 ms, change-traffic: {stream: rare, traffic: {type: periodic, interval: 1 ms}}}\n",
    );
    assert_eq!(network.events.len(), 4);
    let admission = network.harts.as_ref().and_then(|harts| harts.admission.as_ref()).expect("admission");
    assert_eq!(admission.standby, Some(node(&network, "t")));
    assert_eq!((admission.patience, admission.alive), (Duration::from_ms(7), Duration::from_ms(3)));
}
