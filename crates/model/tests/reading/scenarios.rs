//! Scenarios resolve to the network that their text describes.

use std::path::PathBuf;

use tautwire_model::network::{NodeKind, Stream, TransmissionSelection};
use tautwire_model::{Network, load};
use tautwire_units::{BitRate, Bits, Duration};

fn folder() -> PathBuf {
    PathBuf::from("../../scenarios")
}

fn scenario(name: &str) -> Network {
    let loaded = load(&folder().join(name)).expect("a file");
    assert!(!loaded.has_errors(), "{name}: {:#?}", loaded.diagnostics);
    loaded.network.expect("a network without errors")
}

fn stream<'n>(network: &'n Network, name: &str) -> &'n Stream {
    network.streams.iter().find(|stream| stream.name == name).expect("a stream")
}

/// The hops of a stream as `node:class`.
fn way(network: &Network, stream: &Stream) -> Vec<String> {
    stream
        .hops
        .iter()
        .map(|hop| {
            let node = network.ports[hop.port.index()].node;
            format!("{}:{}", network.nodes[node.index()].name, hop.class)
        })
        .collect()
}

#[test]
fn strict_priority_is_resolved() {
    let network = scenario("strict-priority.yaml");
    assert_eq!(network.links.len(), 12);
    let alarm = stream(&network, "alarm");
    assert_eq!(way(&network, alarm), ["controller:7", "left:7", "right:7", "right:7"]);
    assert_eq!(alarm.hops[3].previous, Some(1));
    assert_eq!(alarm.hops.iter().filter_map(|hop| hop.listener).collect::<Vec<_>>(), [0, 1]);
    assert!(alarm.destination.is_group());
    let control = stream(&network, "control");
    assert_eq!(control.deadline, Some(Duration::from_us(600)));
    let arrival = control.arrival.expect("periodic traffic promises");
    assert_eq!(arrival.burst, Bits::new((64 + 22 + 20) * 8));
    assert_eq!(arrival.rate, BitRate::from_bps((64 + 22 + 20) * 8 * 2_000));
    assert_eq!(network.links[0].propagation, Duration::from_ns(25));
}

#[test]
fn shapers_are_assigned_at_bridges_only() {
    let network = scenario("shaped-line.yaml");
    let lidar = stream(&network, "lidar");
    assert_eq!(way(&network, lidar), ["a:6", "s1:6", "s2:6", "s3:6"]);
    let schedulers: Vec<bool> = lidar.hops.iter().map(|hop| hop.scheduler.is_some()).collect();
    assert_eq!(schedulers, [false, true, true, true]);
    assert_eq!(network.schedulers.len(), 3);
    let s1 = network.nodes.iter().find(|node| node.name == "s1").expect("a node");
    assert!(matches!(s1.kind, NodeKind::Bridge { .. }));
    let port = &network.ports[s1.ports.start as usize];
    assert_eq!(
        port.classes[5].selection,
        TransmissionSelection::CreditBased { idle_slope: BitRate::from_mbps(20) }
    );
    assert_eq!(stream(&network, "rest").arrival, None, "Poisson traffic promises nothing");
}

#[test]
fn every_description_of_the_guide_loads() {
    let page = folder().join("../docs/guide/first-network.md");
    let text = std::fs::read_to_string(page).expect("the guide");
    let blocks: Vec<&str> = text.split("```yaml\n").skip(1).collect();
    assert!(blocks.len() >= 3);
    for block in blocks {
        let description = &block[..block.find("```").expect("a closed block")];
        let loaded = tautwire_model::load_text("guide.yaml", description);
        assert!(loaded.diagnostics.is_empty(), "{description}\n{:#?}", loaded.diagnostics);
    }
}

#[test]
fn identified_streams_have_schedulers_of_their_own() {
    let network = scenario("identification.yaml");
    let scheduler = |name: &str| {
        let found: Vec<_> = stream(&network, name).hops.iter().filter_map(|hop| hop.scheduler).collect();
        assert_eq!(found.len(), 1, "{name}: {found:?}");
        found[0].index()
    };
    let all = ["state", "alarm", "picture", "sound"].map(scheduler);
    assert_eq!(all, [0, 1, 2, 3]);
    assert_eq!(network.schedulers.len(), 4);
    assert_eq!(network.schedulers[3].committed_information_rate, BitRate::from_mbps(5));
}
